// SPDX-License-Identifier: GPL-2.0-or-later
/* Wishes of an AF_XDP socket; see xsk_socket.h. */
#include "port/xsk_socket.h"

#include <errno.h>
#include <sys/socket.h>

/* Newer than the oldest supported headers. */
#ifndef XDP_MAX_TX_SKB_BUDGET
#define XDP_MAX_TX_SKB_BUDGET 9 /* Linux 6.17; older ones answer ENOPROTOOPT and keep 32 */
#endif
#ifndef SO_PREFER_BUSY_POLL
#define SO_PREFER_BUSY_POLL 69
#define SO_BUSY_POLL_BUDGET 70
#endif

#define BUFFER_OVERHEAD_BYTES 1024
#define BUSY_POLL_US 20
#define BUSY_POLL_FRAMES 64

unsigned int xsk_socket_set_copy_limits(int fd, unsigned int entries, unsigned int chunk_bytes)
{
	const int bytes = (int)(entries * (chunk_bytes + BUFFER_OVERHEAD_BYTES)), wanted = (int)entries;
	int all = !setsockopt(fd, SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &wanted, sizeof(wanted));

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)))
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	return all ? entries : XSK_COPY_BUDGET;
}

int xsk_socket_set_busy_poll(int fd)
{
	const int on = 1, microseconds = BUSY_POLL_US, frames = BUSY_POLL_FRAMES;

	return setsockopt(fd, SOL_SOCKET, SO_PREFER_BUSY_POLL, &on, sizeof(on)) ||
			       setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &microseconds, sizeof(microseconds)) ||
			       setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL_BUDGET, &frames, sizeof(frames))
		       ? -errno
		       : 0;
}
