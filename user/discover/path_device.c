// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Edges of NICs: SR-IOV functions and representors of one card, and devices that send through a VF slave of theirs.
 *
 * Theory. In legacy mode the card itself is a switch among PF, VFs and the wire, of which the kernel sees only the ends. In switchdev mode
 * each VF has a representor, the other end of its wire inside the card: what the VF sends the representor receives, unless a flow
 * was offloaded. hv_netvsc and net_failover lend their address to a VF slave, and send through it while it is up.
 */
#include <stdio.h>
#include <string.h>

#include "discover/path_moves.h"

/* phys_port_name of a VF's representor: "pf0vf3", "c1pf0vf3"; of older kernels the bare number. -1: not that of a VF. */
static int represented_vf(const struct facts_link *link)
{
	const char *name = link->phys_port_name, *vf = strstr(name, "vf");
	int number, end = 0;

	if (!link->phys_switch_id[0])
		return -1;
	if (vf && sscanf(vf, "vf%d%n", &number, &end) == 1 && !vf[end])
		return number;
	if (sscanf(name, "%d%n", &number, &end) == 1 && !name[end])
		return number;
	return -1;
}

/* Several PFs may share one switch: their number stands in the name, and is the function of their PCI address. */
static int represented_pf(const struct facts_link *link)
{
	const char *pf = strstr(link->phys_port_name, "pf");
	int number;

	return pf && sscanf(pf, "pf%d", &number) == 1 ? number : -1;
}

static int pci_function(const struct facts_link *link)
{
	const char *dot = strrchr(link->bus_address, '.');
	int number;

	return dot && sscanf(dot, ".%d", &number) == 1 ? number : -1;
}

int path_is_representor(const struct path_graph *graph, int link)
{
	return represented_vf(path_link(graph, link)) >= 0;
}

static int represents(const struct path_graph *graph, int representor, int vf)
{
	const struct facts_link *link = path_link(graph, representor), *function = path_link(graph, vf), *pf;
	int number = represented_pf(link);

	if (graph->pf[vf] < 0 || function->vf_index < 0 || represented_vf(link) != function->vf_index)
		return 0;
	pf = path_link(graph, graph->pf[vf]);
	return !strcmp(pf->phys_switch_id, link->phys_switch_id) && (number < 0 || number == pci_function(pf));
}

/* 1 when there was one. */
static int add_other_side(struct path_moves *moves, const struct path_state *from)
{
	const struct path_graph *graph = moves->graph;
	int is_representor = path_is_representor(graph, from->link);

	if (!is_representor && graph->pf[from->link] < 0)
		return 0;
	for (int i = 0; i < graph->link_count; i++) {
		if (i == from->link || graph->family[i] != PATH_DEVICE)
			continue;
		if (is_representor ? represents(graph, from->link, i) : represents(graph, i, from->link)) {
			path_add_edge(moves, i, 0, from->tags, MOVE_REPRESENTOR,
				      is_representor ? graph->pf[i] : graph->pf[from->link]);
			return 1;
		}
	}
	return 0;
}

static void add_embedded_switch(struct path_moves *moves, const struct path_state *from, int pf)
{
	const struct path_graph *graph = moves->graph;

	if (moves->stays_inside || moves->passes_by_hub)
		return;
	if (pf != from->link)
		path_add_edge(moves, pf, 0, from->tags, MOVE_EMBEDDED_SWITCH, pf);
	for (int i = graph->vfs.first[pf]; i < graph->vfs.first[pf + 1]; i++)
		if (graph->vfs.order[i] != from->link)
			path_add_edge(moves, graph->vfs.order[i], 0, from->tags, MOVE_EMBEDDED_SWITCH, pf);
}

void path_moves_device(struct path_moves *moves, const struct path_state *from)
{
	const struct path_graph *graph = moves->graph;
	int link = from->link;

	for (int i = graph->ports.first[link]; i < graph->ports.first[link + 1]; i++)
		path_add_edge(moves, graph->ports.order[i], 1, from->tags, MOVE_TO_VF_SLAVE, link);
	if (add_other_side(moves, from) || path_is_representor(graph, link))
		return;
	if (graph->pf[link] >= 0)
		add_embedded_switch(moves, from, graph->pf[link]);
	else if (graph->vfs.first[link] < graph->vfs.first[link + 1])
		add_embedded_switch(moves, from, link);
}
