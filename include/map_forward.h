/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What forward_xdp and user space share.
 *
 * Maps: forward_sockets (XSKMAP, key: receive queue), forward_passed (per CPU, key: enum forward_passed, value: frames that went on to
 * the stack).
 */
#ifndef HOPCAP_MAP_FORWARD_H
#define HOPCAP_MAP_FORWARD_H

#define HOPCAP_FORWARD_QUEUES 64
#define HOPCAP_FORWARD_OWN 2 /* addresses of this machine: the interface's, and its bridge's */

enum forward_passed {
	FORWARD_PASSED_OWN,	  /* addressed to this machine */
	FORWARD_PASSED_NO_SOCKET, /* came on a queue that nobody listens on */
	FORWARD_PASSED_COUNT
};

#endif
