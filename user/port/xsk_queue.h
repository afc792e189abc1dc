/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One queue of one interface as AF_XDP sees it: registered memory, four rings, a bound socket.
 *
 * Owns: memory, registration, binding, the mode that was got, who of this process uses the queue. Leaves to others:
 * what goes through the rings (xsk_transmit.c, xsk_receive.c), steering frames to the socket (xsk_steer.c).
 *
 * Theory: who shares what.
 * - One port and one receiver of a process may use the same queue: the kernel gives a queue to one socket, so they
 *   share it. That is sound without a lock, since each ring has one writer and one reader: the port owns the transmit
 *   and completion rings and the transmit chunks, the receiver the receive and fill rings and the receive chunks. A
 *   receiver that sends frames back needs the port's two rings: it claims them, and is refused when there is a port
 *   (xsk_queue_claim_transmit).
 * - Queues of one interface share one registration of memory when the first of them was opened with port_config.queues
 *   > 1: one mapping for the device (IOMMU), one run of huge pages, one answer whether the memory may be locked. Each
 *   queue still has chunks, fill and completion rings of its own and never touches those of another. Only the caller
 *   knows how many queues it will open, registered memory cannot grow, and all of it is pinned at once: so nothing is
 *   shared unless asked for. A queue that binds to the memory of another takes over its mode (copy or zero-copy,
 *   wake-up, multi-buffer).
 * - The socket that the memory was registered through holds its queue until the registration ends. So a queue of shared
 *   memory that is closed stays bound, idle, until the last one is closed, and is handed out again when it is asked
 *   for.
 * - Opening and closing take a lock, sending and receiving none.
 *
 * Invariants. transmit chunks: free + on the transmit ring + with the kernel (xsk_frames.h). Receive chunks: on the
 * fill ring + with the kernel + on the receive ring + in the hands of the receiver + being sent back = receive_chunks =
 * size of the fill ring, so that giving a chunk back never finds the fill ring full. The completion ring is as large,
 * and cannot overflow.
 */
#ifndef PORT_XSK_QUEUE_H
#define PORT_XSK_QUEUE_H

#include <stdatomic.h>
#include <stdint.h>

#include <xdp/xsk.h>

#include "port/port.h"
#include "port/xsk_explain.h"
#include "port/xsk_frames.h"
#include "port/xsk_socket.h"

#ifndef XDP_USE_SG
#define XDP_USE_SG (1 << 4) /* Linux 6.6 */
#endif
#ifndef XDP_PKT_CONTD
#define XDP_PKT_CONTD (1 << 0) /* descriptor: the frame goes on in the next one */
#endif

#define XSK_DEFAULT_ENTRIES 2048
#define XSK_MIN_ENTRIES 64
#define XSK_MAX_QUEUES 256 /* as many as the steering program's map has */

enum xsk_side { XSK_SIDE_TRANSMIT, XSK_SIDE_RECEIVE };

struct xsk_memory;

struct xsk_queue {
	char interface[16], driver[32];
	int ifindex;
	uint64_t netns; /* cookie */
	unsigned int queue, receive_queues, transmit_queues;
	/* what was got */
	int zero_copy, multi_buffer, busy_poll;
	unsigned int max_parts; /* chunks that a sent frame may have */
	unsigned int budget;	/* copy mode: descriptors one sendto() takes at most */
	int features_known;
	struct netdev_features features;
	unsigned int entries; /* of the transmit and the receive ring; fill and completion have twice as many */
	unsigned int chunk_bytes, receive_chunks;
	unsigned char *area;	  /* address 0 of the registered memory */
	uint64_t receive_address; /* first receive chunk */
	struct xsk_memory *memory;
	struct xsk_socket *socket;
	int fd;
	struct xsk_ring_prod fill, transmit;
	struct xsk_ring_cons completion, receive;
	struct xsk_frames frames; /* owned by the side that sends */
	int users[2];		  /* by side; under the lock */
	atomic_int transmit_taken;
};

/* 0 or -errno with error text. Zero-copy asked for and not got is an error. */
int xsk_queue_open(const struct port_config *config, int zero_copy, enum xsk_side side, struct xsk_queue **queue);
void xsk_queue_close(struct xsk_queue *queue, enum xsk_side side);
/* For a receiver that sends back: 1, or 0 when a port has the transmit ring of this queue. Any number of times. */
int xsk_queue_claim_transmit(struct xsk_queue *queue);
/* Sets the error text for a failure of this queue and returns -code. */
int xsk_queue_error(const struct xsk_queue *queue, enum xsk_step step, int code);
/* "AF_XDP copy, queue 0 of 1, 2048 + 4096 chunks of 2048 bytes in huge pages, need_wakeup …" Returns buffer. */
const char *xsk_queue_describe(const struct xsk_queue *queue, enum xsk_side side, char *buffer, size_t size);

#endif
