// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The fast path in the kernel; see fast_path.h. Called by accel.c, accel_ports.c, fdb_follow.c.
 *
 * One object owns the maps. For each port the object is opened once more with the slot as a constant and the maps of the first: the
 * verifier folds the constant, and a frame needs no look-up to know where it came from.
 */
#include "accel/fast_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/error.h"
#include "bridge_xdp.skel.h"

#define PAGE_BYTES 4096
#define SCANS_OF_REST 2
#define FIRST_SCAN (1u << 20) /* what was learned before has a number, too */

int fast_path_refused(int code)
{
	return error_set(code, "the kernel refuses the bridge fast path: %s%s", strerror(code),
			 code == EPERM			   ? "; CAP_BPF and CAP_NET_ADMIN are needed"
			 : code == EINVAL || code == E2BIG ? "; Linux 6.1 or newer is needed"
							   : "");
}

/* Without the tracepoint changes are adopted a tick later: no reason to fail. */
static void attach_tracepoint(struct fast_path *path)
{
	int fd = bpf_program__fd(path->tables->progs.bridge_poll_end);

	path->poll_link_fd = fd < 0 ? -1 : bpf_raw_tracepoint_open("napi_poll", fd);
}

int fast_path_open(struct fast_path *path)
{
	void *memory;

	memset(path, 0, sizeof(*path));
	path->poll_link_fd = -1;
	path->tables = bridge_xdp_bpf__open();
	if (!path->tables)
		return fast_path_refused(errno);
	bpf_program__set_autoload(path->tables->progs.bridge_xdp, false);
	if (bridge_xdp_bpf__load(path->tables)) {
		int code = errno;

		fast_path_close(path);
		return fast_path_refused(code);
	}
	path->stations_fd = bpf_map__fd(path->tables->maps.bridge_stations);
	path->ports_fd = bpf_map__fd(path->tables->maps.bridge_ports);
	path->targets_fd = bpf_map__fd(path->tables->maps.bridge_targets);
	path->lanes_fd = bpf_map__fd(path->tables->maps.bridge_lanes);
	memory = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		      bpf_map__fd(path->tables->maps.bridge_control), 0);
	if (memory == MAP_FAILED) {
		int code = errno;

		fast_path_close(path);
		return error_set(code, "cannot map the bridge fast path's memory: %s", strerror(code));
	}
	path->control = memory;
	path->control->epoch = 1;
	path->control->scan = FIRST_SCAN;
	attach_tracepoint(path);
	return 0;
}

void fast_path_close(struct fast_path *path)
{
	for (int slot = 0; slot < (int)HOPCAP_BRIDGE_PORTS && path->control; slot++)
		if (path->ports[slot].in_use)
			fast_path_free_slot(path, slot);
	if (path->poll_link_fd >= 0)
		close(path->poll_link_fd);
	if (path->control)
		munmap(path->control, PAGE_BYTES);
	bridge_xdp_bpf__destroy(path->tables);
	memset(path, 0, sizeof(*path));
	path->poll_link_fd = -1;
}

static void clear_lane(struct fast_path *path, uint32_t slot)
{
	int cpus = libbpf_num_possible_cpus();
	struct bridge_lane *lanes = cpus > 0 ? calloc((size_t)cpus, sizeof(*lanes)) : NULL;

	if (lanes)
		bpf_map_update_elem(path->lanes_fd, &slot, lanes, BPF_ANY);
	free(lanes);
}

int fast_path_take_slot(struct fast_path *path, int ifindex)
{
	for (int i = 0; i < (int)HOPCAP_BRIDGE_PORTS; i++) {
		int slot = (path->next_slot + i) % (int)HOPCAP_BRIDGE_PORTS;
		struct fast_path_port *port = &path->ports[slot];

		if (port->in_use || (port->freed_scan && path->control->scan - port->freed_scan < SCANS_OF_REST))
			continue;
		*port = (struct fast_path_port){ .in_use = 1, .ifindex = ifindex, .program_fd = -1 };
		clear_lane(path, (uint32_t)slot);
		path->next_slot = slot + 1;
		return slot;
	}
	return -ENOSPC;
}

void fast_path_free_slot(struct fast_path *path, int slot)
{
	fast_path_set_port(path, slot, 0, 0);
	fast_path_detach(path, slot);
	fast_path_set_target(path, slot, 0);
	if (path->ports[slot].program_fd >= 0)
		close(path->ports[slot].program_fd);
	path->ports[slot].in_use = 0;
	path->ports[slot].freed_scan = path->control->scan;
}

static int share_maps(struct bridge_xdp_bpf *program, const struct bridge_xdp_bpf *tables)
{
	const struct {
		struct bpf_map *own, *shared;
	} maps[] = {
		{ program->maps.bridge_stations, tables->maps.bridge_stations },
		{ program->maps.bridge_ports, tables->maps.bridge_ports },
		{ program->maps.bridge_targets, tables->maps.bridge_targets },
		{ program->maps.bridge_lanes, tables->maps.bridge_lanes },
		{ program->maps.bridge_cpus, tables->maps.bridge_cpus },
		{ program->maps.bridge_control, tables->maps.bridge_control },
	};
	int code = 0;

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]) && !code; i++)
		code = bpf_map__reuse_fd(maps[i].own, bpf_map__fd(maps[i].shared));
	return code;
}

int fast_path_load(struct fast_path *path, int slot)
{
	struct fast_path_port *port = &path->ports[slot];
	struct bridge_xdp_bpf *program;
	int code;

	if (port->program_fd >= 0)
		return 0;
	program = bridge_xdp_bpf__open();
	if (!program)
		return fast_path_refused(errno);
	program->rodata->port_slot = (uint32_t)slot;
	bpf_program__set_autoload(program->progs.bridge_poll_end, false);
	code = share_maps(program, path->tables);
	if (!code && bridge_xdp_bpf__load(program))
		code = -errno;
	if (!code) {
		port->program_fd = dup(bpf_program__fd(program->progs.bridge_xdp));
		code = port->program_fd < 0 ? -errno : 0;
	}
	bridge_xdp_bpf__destroy(program);
	return code ? fast_path_refused(-code) : 0;
}

int fast_path_attach(struct fast_path *path, int slot, const char *interface)
{
	struct fast_path_port *port = &path->ports[slot];
	int code = port->has_program ? 0 : fast_path_load(path, slot);

	if (code || port->has_program)
		return code;
	code = bpf_attach_xdp(port->program_fd, interface, port->ifindex, 1, &port->attachment);
	port->has_program = !code;
	return code;
}

void fast_path_detach(struct fast_path *path, int slot)
{
	struct fast_path_port *port = &path->ports[slot];

	if (port->has_program)
		bpf_detach(&port->attachment);
	port->has_program = 0;
}

int fast_path_set_target(struct fast_path *path, int slot, int on)
{
	struct fast_path_port *port = &path->ports[slot];
	uint32_t key = (uint32_t)slot, ifindex = (uint32_t)port->ifindex;
	int code = 0;

	if (on && !port->is_target)
		code = bpf_map_update_elem(path->targets_fd, &key, &ifindex, BPF_ANY);
	else if (!on)
		bpf_map_delete_elem(path->targets_fd, &key);
	if (code)
		return code < -1 ? code : -errno;
	port->is_target = on;
	return 0;
}

void fast_path_set_port(struct fast_path *path, int slot, uint32_t flags, uint32_t max_bytes)
{
	const struct bridge_port wanted = { .flags = flags, .max_bytes = max_bytes };
	struct bridge_port now = { 0 };
	uint32_t key = (uint32_t)slot;

	if (!bpf_map_lookup_elem(path->ports_fd, &key, &now) && !memcmp(&now, &wanted, sizeof(now)))
		return;
	bpf_map_update_elem(path->ports_fd, &key, &wanted, BPF_ANY);
	__atomic_fetch_add(&path->control->urgent, 1, __ATOMIC_RELEASE);
}

static struct bridge_station_key key_of(const unsigned char address[6])
{
	struct bridge_station_key key = { .vlan = 0 };

	memcpy(key.address, address, sizeof(key.address));
	return key;
}

int fast_path_get_station(const struct fast_path *path, const unsigned char address[6], struct bridge_station *station)
{
	const struct bridge_station_key key = key_of(address);

	return bpf_map_lookup_elem(path->stations_fd, &key, station) ? -ENOENT : 0;
}

/* What is added or moved goes to the bridge until the end of a poll, what is removed goes where it went until then. */
int fast_path_set_station(struct fast_path *path, const unsigned char address[6], uint32_t slot)
{
	const struct bridge_station_key key = key_of(address);
	struct bridge_station now = { .slot = HOPCAP_BRIDGE_NO_PORT }, wanted = { .slot = (uint16_t)slot };
	int is_there = !fast_path_get_station(path, address, &now);

	if ((is_there || slot == HOPCAP_BRIDGE_NO_PORT) && now.slot == slot)
		return 0;
	wanted.slot_before = slot == HOPCAP_BRIDGE_NO_PORT ? now.slot : HOPCAP_BRIDGE_NO_PORT;
	wanted.since = path->control->epoch + 1;
	wanted.seen = now.seen;
	return bpf_map_update_elem(path->stations_fd, &key, &wanted, BPF_ANY) ? -errno : 0;
}

void fast_path_remove_station(struct fast_path *path, const unsigned char address[6])
{
	const struct bridge_station_key key = key_of(address);

	bpf_map_delete_elem(path->stations_fd, &key);
}

void fast_path_commit(struct fast_path *path)
{
	__atomic_fetch_add(&path->control->epoch, 1, __ATOMIC_RELEASE);
}

uint32_t fast_path_next_scan(struct fast_path *path)
{
	uint32_t scan = __atomic_add_fetch(&path->control->scan, 1, __ATOMIC_RELEASE);

	fast_path_commit(path); /* what is remembered is decided, and so marked, anew */
	return scan;
}

void fast_path_read(const struct fast_path *path, int slot, struct fast_path_counts *counts)
{
	int cpus = libbpf_num_possible_cpus();
	struct bridge_lane *lanes = cpus > 0 ? calloc((size_t)cpus, sizeof(*lanes)) : NULL;
	uint32_t key = (uint32_t)slot;

	memset(counts, 0, sizeof(*counts));
	if (lanes && !bpf_map_lookup_elem(path->lanes_fd, &key, lanes)) {
		for (int cpu = 0; cpu < cpus; cpu++) {
			counts->frames += lanes[cpu].frames;
			counts->bytes += lanes[cpu].bytes;
			for (int i = 0; i < BRIDGE_REASONS; i++)
				counts->stack[i] += lanes[cpu].stack[i];
		}
	}
	free(lanes);
}

int fast_path_has_polls(const struct fast_path *path)
{
	return path->poll_link_fd >= 0;
}
