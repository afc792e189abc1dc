// SPDX-License-Identifier: GPL-2.0-or-later
/* An interface of the user-space forwarder; see forward_port.h. Called by forward.c. */
#include "accel/forward_port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if.h>
#include <xdp/xsk.h>

#include "base/error.h"
#include "forward_xdp.skel.h"
#include "port/xsk_pair.h"
#include "sys/link_channels.h"
#include "sys/netdev_features.h"
#include "sys/netns.h"
#include "sys/uplink.h"

#define MOST_MTU 3400u /* native XDP without several buffers, on veth; xsk_pair_mtu() is more */

static int find_link(struct forward_port *port, const struct bridge_link *links, int count)
{
	const struct bridge_link *found = NULL;

	for (int i = 0; i < count; i++)
		if (!strcmp(links[i].link.name, port->interface))
			found = &links[i];
	if (!found)
		return error_set(ENODEV, "there is no interface '%s'%s%s", port->interface,
				 port->netns[0] ? " in namespace " : "", port->netns);
	port->link = *found;
	memcpy(port->own[0], found->link.address, 6);
	for (int i = 0; i < count && found->is_port; i++) {
		if (links[i].is_port && links[i].link.master_ifindex == found->link.master_ifindex)
			port->bridge_ports++;
		if (links[i].link.ifindex != found->link.master_ifindex)
			continue;
		snprintf(port->bridge, sizeof(port->bridge), "%s", links[i].link.name);
		memcpy(port->own[1], links[i].link.address, 6);
	}
	return 0;
}

static int judge(struct forward_port *port, const struct bridge_link *links, int count, const struct port_place *place,
		 int set_offloads)
{
	struct accel_port_facts facts = { .is_asked = 1 };
	enum accel_refusal refusal;
	struct veth_peer peer;
	int code;

	port_facts_of_link(links, count, &port->link, port->link.link.master_ifindex, 0, &facts);
	code = port_facts_ask(place, &port->link, &facts, &peer);
	if (!code && set_offloads) {
		facts.peer_gro = 1; /* sockets need none */
		code = port_facts_set_offloads(place, &port->link, &peer, &facts);
		if (!code)
			code = port_facts_ask(place, &port->link, &facts, &peer);
	}
	if (code)
		return code;
	refusal = accel_policy_forward(&facts, MOST_MTU < xsk_pair_mtu() ? MOST_MTU : xsk_pair_mtu());
	return refusal == ACCEL_FINE ? 0 : error_set(EOPNOTSUPP, "%s: %s", port->interface, accel_policy_text(refusal));
}

static int load(struct forward_port *port)
{
	int code;

	port->program = forward_xdp_bpf__open();
	for (int i = 0; port->program && i < HOPCAP_FORWARD_OWN; i++) {
		memcpy((void *)&port->program->rodata->own_head[i], port->own[i], 4);
		memcpy((void *)&port->program->rodata->own_tail[i], port->own[i] + 4, 2);
	}
	if (port->program && !forward_xdp_bpf__load(port->program))
		return 0;
	code = errno;
	return error_set(code, "%s: the kernel refuses the program that gives frames to the forwarder: %s%s",
			 port->interface, strerror(code),
			 code == EPERM ? "; CAP_BPF and CAP_NET_ADMIN are needed" : "");
}

static int inspect(struct forward_port *port, const struct port_place *place, int set_offloads, int force_uplink)
{
	struct netdev_features features = { 0 };
	struct bridge_link *links;
	int count = bridge_links_list(&links), code;

	if (count < 0)
		return count;
	code = find_link(port, links, count);
	if (!code && !force_uplink)
		code = uplink_guard(port->interface, &port->link.link);
	if (!code)
		code = judge(port, links, count, place, set_offloads);
	free(links);
	if (!code)
		code = link_channels(port->interface, &port->receive_queues, &port->transmit_queues);
	if (!code && !netdev_features_get(port->interface, port->link.link.ifindex, &features))
		port->zero_copy = (features.xdp & NETDEV_XDP_ZERO_COPY) != 0;
	return code ? code : load(port);
}

int forward_port_open(struct forward_port *port, int set_offloads, int force_uplink)
{
	struct netns_token token;
	int code = netns_enter(port->netns, &token);

	if (code)
		return code;
	code = inspect(port, &(struct port_place){ port->netns, token.home_fd }, set_offloads, force_uplink);
	netns_leave(&token);
	return code;
}

int forward_port_attach(struct forward_port *port)
{
	struct netns_token token;
	int code = netns_enter(port->netns, &token);

	if (code)
		return code;
	code = bpf_attach_xdp(bpf_program__fd(port->program->progs.forward_xdp), port->interface,
			      port->link.link.ifindex, 1, &port->attachment);
	netns_leave(&token);
	return code;
}

int forward_port_steer(struct forward_port *port, struct xsk_socket *socket, unsigned int queue)
{
	const int fd = xsk_socket__fd(socket);

	if (bpf_map_update_elem(bpf_map__fd(port->program->maps.forward_sockets), &queue, &fd, BPF_ANY))
		return error_set(errno, "%s: cannot give frames of queue %u to its AF_XDP socket: %s", port->interface,
				 queue, strerror(errno));
	return 0;
}

void forward_port_close(struct forward_port *port)
{
	bpf_detach(&port->attachment);
	forward_xdp_bpf__destroy(port->program);
	port->program = NULL;
}

void forward_port_passed(const struct forward_port *port, uint64_t counts[FORWARD_PASSED_COUNT])
{
	int fd = bpf_map__fd(port->program->maps.forward_passed), cpus = libbpf_num_possible_cpus();
	uint64_t *each = cpus > 0 ? calloc((size_t)cpus, sizeof(*each)) : NULL;

	memset(counts, 0, FORWARD_PASSED_COUNT * sizeof(*counts));
	for (uint32_t why = 0; each && why < FORWARD_PASSED_COUNT; why++)
		if (!bpf_map_lookup_elem(fd, &why, each))
			for (int cpu = 0; cpu < cpus; cpu++)
				counts[why] += each[cpu];
	free(each);
}

int forward_port_check(const struct forward_port *port, unsigned int *max_bytes)
{
	struct netns_token token;
	struct rtnl_link link;
	int code = netns_enter(port->netns, &token);

	if (code)
		return code;
	code = rtnl_link_get_index(port->link.link.ifindex, &link);
	netns_leave(&token);
	if (code == -ENODEV)
		return error_set(ENODEV, "%s: the interface is gone", port->interface);
	if (!code && !(link.flags & IFF_UP))
		return error_set(ENETDOWN, "%s: the interface went down", port->interface);
	if (!code)
		*max_bytes = accel_policy_max_bytes(link.mtu_bytes);
	return code;
}
