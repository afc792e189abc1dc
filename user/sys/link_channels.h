/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many queues an interface really has in each direction, at this moment.
 *
 * Not what rtnetlink says (IFLA_NUM_RX_QUEUES): that is how many it could have. The number changes with `ethtool -L`,
 * and with some drivers (virtio_net) when an XDP program is attached: ask anew after that.
 */
#ifndef SYS_LINK_CHANNELS_H
#define SYS_LINK_CHANNELS_H

/* In the caller's namespace. A device that cannot be asked counts as having all it could have. 0 or -errno with error
 * text. */
int link_channels(const char *name, unsigned int *receive, unsigned int *transmit);

#endif
