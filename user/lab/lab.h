/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lab scenarios: networks made of namespaces, to try hopcap without a NIC and to test it.
 *
 * Owns: scenarios as data (scenario.c), building them (lab_build.c), the record of labs that stay (lab_record.c),
 * telling what is left over (lab_stray.c). Leaves to others: measuring.
 *
 * A lab's namespaces are called hopcap-<id>-<role>; deleting them removes all of it. So a lab is owned either by a
 * process, which has a "netns-delete" record for each on its undo stack, or by its record file, or for a moment by
 * both; never by nobody.
 */
#ifndef LAB_LAB_H
#define LAB_LAB_H

#include "model/run.h"

struct lab_options {
	unsigned int mtu_bytes; /* 1500…9000 */
	int dedicated;		/* no SEA, no switch: one wire */
	int segmentation_off;	/* no TSO/GSO at any end: every unit that passes a hop is a frame of at most the MTU */
	char kernel[16];	/* of guests: "6.18"; "" LAB_DEFAULT_KERNEL */
};

#define LAB_MIN_MTU_BYTES 1500
#define LAB_MAX_MTU_BYTES 9000
#define LAB_DEFAULT_KERNEL "6.18" /* zero-copy on virtio_net and igb */

struct lab_point {
	char name[RUN_NAME_BYTES]; /* "ent0@ns:lpar": what reports print */
	char interface[16];
	char netns[RUN_NAME_BYTES]; /* "hopcap-1f3a-lpar"; of a guest's point the one that QEMU runs in */
	char guest[16];		    /* "": in that namespace */
	enum run_direction direction;
};

#define LAB_MAX_POINTS 8
#define LAB_MAX_GUESTS 2
struct lab {
	char scenario[16]; /* "sea" */
	char id[16];	   /* run-safe: random hex */
	struct lab_options options;
	int point_count;
	struct lab_point points[LAB_MAX_POINTS]; /* source first, sink last */
	int guest_count;
	char guests[LAB_MAX_GUESTS][16]; /* names; lab_guest_domain() tells how their agents are reached */
	char accelerator[8];		 /* of guests: "kvm" or "tcg" */
	int path_cpu;			 /* CPU that the path's threaded NAPI is pinned to; -1 not pinned */
	int source_cpu;			 /* where a source should run; -1 anywhere */
	int undo_mark;			 /* height of the undo stack before the first record of this lab */
};

/* Builds a lab; each step is registered on the undo stack before it is made, so undo_run_to() removes it. Waits until
 * all ports forward. 0, or -errno with error text; then nothing is left of it. */
int lab_build(const char *scenario, const struct lab_options *options, struct lab *lab);

/* Labs that stay after the process: `lab up` records, `lab down` removes. lab_keep drops the undo records of the lab
 * and all later ones, so it comes directly after lab_build. */
int lab_keep(const struct lab *lab);
int lab_list(struct lab **labs);	       /* by id; number or -errno; malloc'ed */
int lab_load(const char *id, struct lab *lab); /* one of them; EINVAL with error text when there is none */
int lab_remove(const char *id);

/* "guest=unix:PATH", as --domain takes it. Returns buffer. */
#define LAB_DOMAIN_BYTES 160
const char *lab_guest_domain(const struct lab *lab, int guest, char buffer[LAB_DOMAIN_BYTES]);

/* Namespaces of a lab that exist. Number or -errno; *names is for netns_list_free. */
int lab_netns_list(const char *id, char ***names);

/* For `hopcap cleanup`: namespaces hopcap-<id>-<role> that neither a record nor a living process owns, and records
 * whose namespaces are gone. Removes them, or with dry_run only tells. report(what, name, result) for each; returns
 * their number, or -errno when it cannot look. */
int lab_remove_strays(int dry_run, void (*report)(const char *what, const char *name, int result));

/* Names and summaries of scenarios; NULL past the end. */
const char *lab_scenario_name(int index);
const char *lab_scenario_summary(int index);

#endif
