/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One network namespace while it is being read: the thread is in it. Shared by the collectors of links, which each add what
 * their source says of its links.
 */
#ifndef SYS_COLLECT_SCOPE_H
#define SYS_COLLECT_SCOPE_H

#include <string.h>

#include "model/facts.h"

struct collect_scope {
	struct facts *facts;
	int netns;		    /* index into facts->netns */
	int first_link, link_count; /* its links in facts->links, sorted by ifindex */
};

/* NULL: no such link. Pointers to links stay valid: while a scope is read, none is added. */
struct facts_link *collect_scope_link(const struct collect_scope *scope, int ifindex);
/* "" for the caller's, " in namespace NAME" for others: the end of a gap. */
const char *collect_scope_label(const struct collect_scope *scope, char *buffer, size_t size);

/* A port of a NIC's switch in front of a virtual function ("pf0vf3"): the device below it is the PF's, and counts for that. */
static inline int collect_is_representor(const struct facts_link *link)
{
	return link->phys_switch_id[0] && !strncmp(link->phys_port_name, "pf", 2) &&
	       (strstr(link->phys_port_name, "vf") || strstr(link->phys_port_name, "sf"));
}

/*
 * What each source adds to the links of the scope. Sources that this kernel, driver or user does not have leave things unknown;
 * what more rights would show becomes a gap. 0 or -ENOMEM with error text.
 */
int collect_tables(const struct collect_scope *scope);	 /* fdb, neighbours, addresses, routes: collect_tables.c */
int collect_qdiscs(const struct collect_scope *scope);	 /* qdiscs, classes, filters: collect_qdisc.c */
int collect_programs(const struct collect_scope *scope); /* names of XDP programs, tcx programs: collect_programs.c */
int collect_ethtool(const struct collect_scope *scope);	 /* collect_ethtool.c */
int collect_devices(const struct collect_scope *scope);	 /* sysfs: collect_device.c */

#endif
