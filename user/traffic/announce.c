// SPDX-License-Identifier: GPL-2.0-or-later
/* Teaches bridges where the sink is; see announce.h. Called once a run by measure/run.c. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_packet.h>

#include "base/error.h"
#include "sys/netns.h"
#include "traffic/announce.h"

#define FRAMES 3

int announce(const char *interface, const char *netns, int ifindex, const unsigned char own[6],
	     const unsigned char other[6])
{
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_ifindex = ifindex, .sll_halen = 6 };
	unsigned char frame[60] = { 0 };
	struct netns_token token;
	int fd, code = netns_enter(netns, &token);

	if (code)
		return code;
	memcpy(frame, other, 6);
	memcpy(frame + 6, own, 6);
	frame[12] = 0x88;
	frame[13] = 0xb5;
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		code = error_set(errno, "%s: cannot open a packet socket: %s", interface, strerror(errno));
	for (int i = 0; !code && i < FRAMES; i++)
		if (sendto(fd, frame, sizeof(frame), 0, (struct sockaddr *)&address, sizeof(address)) < 0)
			code = error_set(errno, "%s: cannot send: %s", interface, strerror(errno));
	if (fd >= 0)
		close(fd);
	netns_leave(&token);
	return code;
}
