/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings of one interface that are not rtnetlink: offloads and driver name (ethtool ioctl, link_settings.c),
 * threaded NAPI (sysfs and the netdev generic netlink family, link_napi.c).
 *
 * All act in the namespace the calling thread is in. 0 or -errno with error text.
 */
#ifndef SYS_LINK_SETTINGS_H
#define SYS_LINK_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

int link_set_gro(const char *name, int on);
int link_get_gro(const char *name);		     /* 1, 0 or -errno */
int link_set_segmentation(const char *name, int on); /* TSO, GSO and, on veth, their relatives */
/* Speed of the line in Mbit/s; 0 when the device does not say (no link, or none to speak of). No error text. */
double link_speed_mbps(const char *name);
int link_driver(const char *name, char *driver, size_t size); /* "" for a device that has none to name */
/* Feature bits of a virtio device as driver and device agreed on them (bit 33: VIRTIO_F_ACCESS_PLATFORM). 0, or -ENODEV when it is
 * none, or is not seen in the sysfs that is mounted here; without error text. */
int link_virtio_features(const char *name, int ifindex, uint64_t *features);

/* Threaded NAPI on or off. sysfs shows the namespace that it was mounted in, so it is mounted anew, but on no path:
 * nobody else sees this mount. */
int link_set_threaded_napi(const char *name, int on);
int link_get_threaded_napi(const char *name); /* 1, 0 or -errno */

/* Pins the kernel threads "napi/<name>-*" of this interface (which must be up) to one CPU; returns their number.
 * Threads of an interface of the same name in another namespace are not touched: the kernel is asked for the thread
 * ids (netdev generic netlink, Linux >= 6.8); on an older one they are those that appeared when this process last
 * switched threading on, so there link_set_threaded_napi(name, 1) must come directly before. */
int link_pin_napi_threads(const char *name, int cpu);

#endif
