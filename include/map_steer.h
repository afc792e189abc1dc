/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What steer_xdp and user space share.
 *
 * Maps: steer_sockets (XSKMAP, key: receive queue, value: AF_XDP socket), steer_unbound (per CPU, key: receive queue,
 * value: test frames that came on it while there was no socket).
 */
#ifndef HOPCAP_MAP_STEER_H
#define HOPCAP_MAP_STEER_H

#define HOPCAP_STEER_QUEUES 256 /* frames of a higher queue go to the stack and are counted for the last one */

#endif
