/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wishes of an AF_XDP socket that libxdp 1.3.1 does not know, by bare calls. Used by xsk_queue.c and xsk_pair.c. */
#ifndef PORT_XSK_SOCKET_H
#define PORT_XSK_SOCKET_H

#ifndef SOL_XDP
#define SOL_XDP 283
#endif

/* The kernel lets go of a queue some time after its socket was closed (xp_put_pool() leaves it to a work item); until then bind()
 * says EBUSY, as it does when somebody else holds the queue. So it is tried again for half a second. */
#define XSK_RELEASE_TRIES 50
#define XSK_RELEASE_PAUSE_NS 10000000

#define XSK_COPY_BUDGET 32 /* descriptors a sendto() takes in copy mode, where XDP_MAX_TX_SKB_BUDGET is not known */

/* Copy mode: without them sending takes more calls, or waits for the path where it should offer it more. Every frame with the driver
 * counts against the send buffer as a socket buffer. Returns how many descriptors one sendto() takes. */
unsigned int xsk_socket_set_copy_limits(int fd, unsigned int entries, unsigned int chunk_bytes);
/* Preferred busy polling. 0 or -errno, without error text. */
int xsk_socket_set_busy_poll(int fd);

#endif
