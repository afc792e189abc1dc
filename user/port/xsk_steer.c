// SPDX-License-Identifier: GPL-2.0-or-later
/* The steering program of an interface; see xsk_steer.h. Called by xsk_receive.c and xsk_transmit.c. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/error.h"
#include "map_steer.h"
#include "port/xsk_steer.h"
#include "steer_xdp.skel.h"
#include "sys/bpf_attach.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

struct xsk_steer {
	struct xsk_steer *next;
	uint64_t netns;
	int ifindex, is_native;
	unsigned int users;
	char interface[16];
	struct steer_xdp_bpf *program;
	struct bpf_attachment attachment;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct xsk_steer *steers;

static uint64_t netns_cookie(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t cookie = 0;
	socklen_t length = sizeof(cookie);

	if (fd >= 0) {
		getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &length);
		close(fd);
	}
	return cookie;
}

static void destroy(struct xsk_steer *steer)
{
	if (!steer)
		return;
	bpf_detach(&steer->attachment);
	steer_xdp_bpf__destroy(steer->program);
	free(steer);
}

/* Native where it can be had. */
static int attach(struct xsk_steer *steer, int native)
{
	int fd = bpf_program__fd(steer->program->progs.steer_xdp);
	int code = bpf_attach_xdp(fd, steer->interface, steer->ifindex, 1, &steer->attachment);

	steer->is_native = !code;
	if (code && code != -EBUSY && !native)
		code = bpf_attach_xdp(fd, steer->interface, steer->ifindex, 0, &steer->attachment);
	return code;
}

static int create(const struct port_config *config, int native, uint64_t netns, struct xsk_steer **result)
{
	struct xsk_steer *steer = calloc(1, sizeof(*steer));
	int code;

	if (!steer)
		return error_set(ENOMEM, "%s: out of memory", config->interface);
	strncpy(steer->interface, config->interface, sizeof(steer->interface) - 1);
	steer->ifindex = config->ifindex;
	steer->netns = netns;
	steer->program = steer_xdp_bpf__open_and_load();
	if (!steer->program) {
		code = errno;
		destroy(steer);
		return error_set(code, "%s: the kernel refuses the program that steers test frames to AF_XDP: %s%s",
				 config->interface, strerror(code),
				 code == EPERM ? "; CAP_BPF and CAP_NET_ADMIN are needed" : "");
	}
	code = attach(steer, native);
	if (code) {
		destroy(steer);
		return code;
	}
	*result = steer;
	return 0;
}

int xsk_steer_open(const struct port_config *config, int native, struct xsk_steer **result)
{
	uint64_t netns = netns_cookie();
	struct xsk_steer *steer;
	int code = 0;

	pthread_mutex_lock(&lock);
	for (steer = steers; steer; steer = steer->next)
		if (steer->netns == netns && steer->ifindex == config->ifindex)
			break;
	if (steer && native && !steer->is_native)
		code = error_set(EOPNOTSUPP,
				 "%s: zero-copy needs a native XDP program, and this driver only got a generic one",
				 config->interface);
	if (!steer) {
		code = create(config, native, netns, &steer);
		if (!code) {
			steer->next = steers;
			steers = steer;
		}
	}
	if (!code) {
		steer->users++;
		*result = steer;
	}
	pthread_mutex_unlock(&lock);
	return code;
}

void xsk_steer_close(struct xsk_steer *steer)
{
	pthread_mutex_lock(&lock);
	if (!--steer->users) {
		struct xsk_steer **link = &steers;

		while (*link != steer)
			link = &(*link)->next;
		*link = steer->next;
		destroy(steer);
	}
	pthread_mutex_unlock(&lock);
}

int xsk_steer_bind(struct xsk_steer *steer, struct xsk_socket *socket, unsigned int queue)
{
	int code = xsk_socket__update_xskmap(socket, bpf_map__fd(steer->program->maps.steer_sockets));

	if (code)
		return error_set(errno, "%s: cannot steer frames of queue %u to its AF_XDP socket: %s",
				 steer->interface, queue, strerror(errno));
	return 0;
}

void xsk_steer_release(struct xsk_steer *steer, unsigned int queue)
{
	bpf_map_delete_elem(bpf_map__fd(steer->program->maps.steer_sockets), &queue);
}

int xsk_steer_is_native(const struct xsk_steer *steer)
{
	return steer->is_native;
}

uint64_t xsk_steer_unbound(const struct xsk_steer *steer)
{
	int fd = bpf_map__fd(steer->program->maps.steer_unbound), cpus = libbpf_num_possible_cpus();
	uint64_t *counts = cpus > 0 ? calloc((size_t)cpus, sizeof(*counts)) : NULL, sum = 0;

	for (uint32_t queue = 0; counts && queue < HOPCAP_STEER_QUEUES; queue++)
		if (!bpf_map_lookup_elem(fd, &queue, counts))
			for (int cpu = 0; cpu < cpus; cpu++)
				sum += counts[cpu];
	free(counts);
	return sum;
}
