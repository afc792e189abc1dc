/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TRAFFIC_ANNOUNCE_H
#define TRAFFIC_ANNOUNCE_H

/*
 * Sends a few frames from the sink's interface to the source's address, so that bridges and switches between them learn where
 * the sink is: unlearned, each test frame would be flooded to every port. EtherType 0x88b5 (local experiments, IEEE 802).
 * 0 or -errno with error text.
 */
int announce(const char *interface, const char *netns, int ifindex, const unsigned char own[6], const unsigned char other[6]);

#endif
