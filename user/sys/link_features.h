/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Features of an interface by the kernel's own names ("tx-checksum-ip-generic"), as `ethtool -k` shows them.
 *
 * Owns: reading and switching one feature, the table of names. Leaves to others: groups of features with a name of their own
 * (link_settings.h). All act in the namespace the calling thread is in.
 */
#ifndef SYS_LINK_FEATURES_H
#define SYS_LINK_FEATURES_H

struct ethtool_gstrings;

/* 1 on, 0 off (or the device has no such feature), or -errno with error text. */
int link_feature_get(const char *name, const char *feature);
/* 0, also when it was so; -EPERM when the device does not let it be changed; -errno with error text. */
int link_feature_set(const char *name, const char *feature, int on);

/* For link_settings.c. Names of all features that this kernel knows, by bit number. malloc'ed; NULL with *result. */
struct ethtool_gstrings *link_feature_names(const char *name, int *result);

#endif
