// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ports of an accelerated bridge; see accel_ports.h. Called by accel.c.
 *
 * A program stays attached while its port is one of the bridge: a driver may reset its link when one comes or goes. Whether frames
 * take the fast path is a flag.
 */
#include "accel/accel_ports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "sys/uplink.h"

int accel_ports_is_asked(const char *list, const char *name)
{
	size_t length = strlen(name);

	if (!list || !*list)
		return 1;
	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, name, length) && (at[length] == ',' || !at[length]))
			return 1;
	}
	return 0;
}

static struct accel_port *find(const struct accel_ports *ports, int ifindex)
{
	for (int i = 0; i < ports->count; i++)
		if (ports->list[i].ifindex == ifindex)
			return &ports->list[i];
	return NULL;
}

uint32_t accel_ports_slot(const struct accel_ports *ports, int ifindex)
{
	const struct accel_port *port = find(ports, ifindex);

	return port && port->slot >= 0 ? (uint32_t)port->slot : HOPCAP_BRIDGE_NO_PORT;
}

static struct accel_port *add(struct accel_ports *ports, const struct bridge_link *link)
{
	struct accel_port *port;

	if (ports->count == ports->capacity) {
		int capacity = ports->capacity ? 2 * ports->capacity : 16;
		struct accel_port *larger = realloc(ports->list, (size_t)capacity * sizeof(*larger));

		if (!larger) {
			error_set(ENOMEM, "out of memory for the list of ports");
			return NULL;
		}
		ports->list = larger;
		ports->capacity = capacity;
	}
	port = &ports->list[ports->count++];
	memset(port, 0, sizeof(*port));
	port->ifindex = link->link.ifindex;
	port->slot = fast_path_take_slot(ports->path, port->ifindex);
	port->facts.has_slot = port->slot >= 0;
	return port;
}

static void drop(struct accel_ports *ports, int index)
{
	if (ports->list[index].slot >= 0)
		fast_path_free_slot(ports->path, ports->list[index].slot);
	ports->list[index] = ports->list[--ports->count];
}

static int has_program(const struct accel_ports *ports, const struct accel_port *port)
{
	return port->slot >= 0 && ports->path->ports[port->slot].has_program;
}

static void judge(struct accel_ports *ports, struct accel_port *port)
{
	port->verdict = accel_policy_port(&port->facts, ports->bridge_refusal);
	if (port->verdict.source == ACCEL_FINE && port->failed_mtu == port->facts.mtu_bytes)
		port->verdict.source = ACCEL_PORT_FAILED;
}

/* A guarded uplink counts as not asked for. */
static int is_asked(const struct accel_ports *ports, const struct bridge_link *link)
{
	if (!accel_ports_is_asked(ports->request->ports, link->link.name))
		return 0;
	return ports->request->force_uplink || !uplink_guard(link->link.name, &link->link);
}

static int read_port(struct accel_ports *ports, const struct bridge_link *links, int count,
		     const struct bridge_link *link, int ask, int *changed)
{
	struct accel_port *port = find(ports, link->link.ifindex);
	int is_new = !port, code = 0;

	if (!port)
		port = add(ports, link);
	if (!port)
		return -ENOMEM;
	*changed |= is_new;
	port->is_seen = 1;
	snprintf(port->name, sizeof(port->name), "%s", link->link.name);
	if (is_new)
		port->facts.is_asked = is_asked(ports, link);
	port_facts_of_link(links, count, link, ports->bridge_ifindex, has_program(ports, port), &port->facts);
	if ((ask || is_new) && port->facts.is_asked)
		code = port_facts_ask(&ports->place, link, &port->facts, &port->peer);
	if (code == -ENODEV) { /* a notification will say so, too */
		port->facts.is_member = 0;
		code = 0;
	}
	judge(ports, port);
	return code;
}

static void attach(struct accel_ports *ports, struct accel_port *port)
{
	if (port->verdict.source != ACCEL_FINE || has_program(ports, port))
		return;
	if (!fast_path_attach(ports->path, port->slot, port->name))
		return;
	port->failed_mtu = port->facts.mtu_bytes;
	snprintf(port->why, sizeof(port->why), "%s", error_text());
	judge(ports, port);
}

static void tell(struct accel_ports *ports, struct accel_port *port)
{
	uint32_t flags = 0;

	if (port->slot < 0)
		return;
	attach(ports, port);
	if (port->verdict.target == ACCEL_FINE && fast_path_set_target(ports->path, port->slot, 1))
		port->verdict.target = ACCEL_PORT_FAILED;
	if (port->verdict.source == ACCEL_FINE)
		flags |= HOPCAP_BRIDGE_PORT_SOURCE;
	if (port->verdict.target == ACCEL_FINE)
		flags |= HOPCAP_BRIDGE_PORT_TARGET;
	if (port->facts.isolated)
		flags |= HOPCAP_BRIDGE_PORT_ISOLATED;
	if (port->facts.xmit_buffers > 0)
		flags |= HOPCAP_BRIDGE_PORT_BUFFERS;
	fast_path_set_port(ports->path, port->slot, flags, accel_policy_max_bytes(port->facts.mtu_bytes));
	if (port->verdict.target != ACCEL_FINE)
		fast_path_set_target(ports->path, port->slot, 0);
}

static int read_bridge(struct accel_ports *ports, const struct bridge_link *links, int count, int ask)
{
	int code, calls = ports->bridge.nf_call;

	port_facts_of_bridge(links, count, ports->bridge_ifindex, &ports->bridge);
	for (int i = 0; i < count; i++)
		if (links[i].link.ifindex == ports->bridge_ifindex) {
			ports->stp = links[i].stp;
			ports->forward_delay_s = links[i].forward_delay_s;
		}
	if (!ask)
		ports->bridge.nf_call |= calls; /* the namespace's setting, until it is asked for again */
	code = ask ? port_facts_ask_bridge(&ports->bridge) : 0;
	ports->bridge_refusal = accel_policy_bridge(&ports->bridge);
	return code;
}

int accel_ports_update(struct accel_ports *ports, int ask, int *changed)
{
	struct bridge_link *links;
	int count = bridge_links_list(&links), code;

	*changed = 0;
	if (count < 0)
		return count;
	code = read_bridge(ports, links, count, ask);
	for (int i = 0; i < ports->count; i++)
		ports->list[i].is_seen = 0;
	for (int i = 0; i < count && !code; i++)
		if (links[i].is_port && links[i].link.master_ifindex == ports->bridge_ifindex)
			code = read_port(ports, links, count, &links[i], ask, changed);
	free(links);
	if (code)
		return code;
	for (int i = ports->count - 1; i >= 0; i--) {
		if (ports->list[i].is_seen) {
			tell(ports, &ports->list[i]);
			continue;
		}
		drop(ports, i);
		*changed = 1;
	}
	return 0;
}

int accel_ports_set_offloads(struct accel_ports *ports)
{
	struct bridge_link *links;
	int count = bridge_links_list(&links), code = 0;

	if (count < 0)
		return count;
	for (int i = 0; i < count && !code; i++) {
		struct accel_port_facts facts = { 0 };
		struct veth_peer peer;

		if (!links[i].is_port || links[i].link.master_ifindex != ports->bridge_ifindex ||
		    !is_asked(ports, &links[i]))
			continue;
		port_facts_of_link(links, count, &links[i], ports->bridge_ifindex, 0, &facts);
		code = port_facts_ask(&ports->place, &links[i], &facts, &peer);
		if (!code)
			code = port_facts_set_offloads(&ports->place, &links[i], &peer, &facts);
	}
	free(links);
	return code;
}

void accel_ports_shut(struct accel_ports *ports)
{
	for (int i = 0; i < ports->count; i++)
		if (ports->list[i].slot >= 0)
			fast_path_set_port(ports->path, ports->list[i].slot, 0, 0);
}

void accel_ports_shut_one(struct accel_ports *ports, int ifindex)
{
	struct accel_port *port = find(ports, ifindex);

	if (port && port->slot >= 0)
		fast_path_set_port(ports->path, port->slot, 0, 0);
}

void accel_ports_close(struct accel_ports *ports)
{
	while (ports->count)
		drop(ports, ports->count - 1);
	free(ports->list);
	ports->list = NULL;
	ports->capacity = 0;
}
