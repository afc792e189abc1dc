/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fast path in the kernel: its programs and maps, one set for a bridge.
 *
 * Owns: loading, attaching, slots, reading counters. Leaves to others: which ports and stations (accel_ports.c, fdb_follow.c).
 * Nothing is pinned: links, programs and maps go with this process, so the bridge is alone again the moment it dies. All functions
 * run in the bridge's namespace: a devmap takes devices of the caller's.
 */
#ifndef ACCEL_FAST_PATH_H
#define ACCEL_FAST_PATH_H

#include <stdint.h>

#include "map_bridge.h"
#include "sys/bpf_attach.h"

struct bridge_xdp_bpf;

struct fast_path_port {
	int in_use, has_program, is_target;
	int ifindex;
	int program_fd;
	uint32_t freed_scan; /* when it was last given back */
	struct bpf_attachment attachment;
};

struct fast_path {
	struct bridge_xdp_bpf *tables;	/* owns the maps and the tracepoint program */
	int poll_link_fd;		/* -1: the tracepoint could not be had; CPUs then adopt changes by the clock */
	struct bridge_control *control; /* memory-mapped */
	int next_slot;
	int stations_fd, ports_fd, targets_fd, lanes_fd;
	struct fast_path_port ports[HOPCAP_BRIDGE_PORTS];
};

struct fast_path_counts {
	uint64_t frames, bytes;
	uint64_t stack[BRIDGE_REASONS];
};

/* 0 or -errno with error text (kernel too old, no privilege). */
int fast_path_open(struct fast_path *path);
void fast_path_close(struct fast_path *path);
/* Error text for an errno with which the kernel refused programs or maps; returns -code. */
int fast_path_refused(int code);

/* A free slot for an interface, its counters at 0; -ENOSPC without error text when there is none. One that was given back rests until no
 * CPU can have an old station of it any more. */
int fast_path_take_slot(struct fast_path *path, int ifindex);
/* Detaches, empties the slot. */
void fast_path_free_slot(struct fast_path *path, int slot);
/* Loads the slot's program; the interface runs it from now on (attach). 0 or -errno with error text. */
int fast_path_load(struct fast_path *path, int slot);
int fast_path_attach(struct fast_path *path, int slot, const char *interface);
void fast_path_detach(struct fast_path *path, int slot);
int fast_path_set_target(struct fast_path *path, int slot, int on); /* 0 or -errno without error text */
/* Flags HOPCAP_BRIDGE_PORT_*; valid at once. */
void fast_path_set_port(struct fast_path *path, int slot, uint32_t flags, uint32_t max_bytes);

/* A station's place: slot or HOPCAP_BRIDGE_NO_PORT; adopted by each CPU after fast_path_commit(). 0 or -errno without error text
 * (ENOSPC, E2BIG: the table is full). */
int fast_path_set_station(struct fast_path *path, const unsigned char address[6], uint32_t slot);
void fast_path_remove_station(struct fast_path *path, const unsigned char address[6]);
/* 0, or -ENOENT. */
int fast_path_get_station(const struct fast_path *path, const unsigned char address[6], struct bridge_station *station);
void fast_path_commit(struct fast_path *path);
/* A new scan: stations that are in use are marked with its number. */
uint32_t fast_path_next_scan(struct fast_path *path);

void fast_path_read(const struct fast_path *path, int slot, struct fast_path_counts *counts);
int fast_path_has_polls(const struct fast_path *path);

#endif
