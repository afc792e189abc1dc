/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bridge fast path's maps, and what is asked of them: the snapshot that a CPU works on, and what is beyond doubt of a frame's
 * addresses. Included by bridge_xdp.bpf.c, whose head says why.
 */
#ifndef HOPCAP_BRIDGE_TABLES_BPF_H
#define HOPCAP_BRIDGE_TABLES_BPF_H

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "map_bridge.h"

#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define ALL_GO (-1)

#define ETHERTYPE_RARP 0x8035
#define ETHERTYPE_PAUSE 0x8808
#define ETHERTYPE_MACSEC 0x88e5
#define ETHERTYPE_MRP 0x88e3
#define ETHERTYPE_CFM 0x8902

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, HOPCAP_BRIDGE_STATIONS);
	__type(key, struct bridge_station_key);
	__type(value, struct bridge_station);
} bridge_stations SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HOPCAP_BRIDGE_PORTS);
	__type(key, __u32);
	__type(value, struct bridge_port);
} bridge_ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, HOPCAP_BRIDGE_PORTS);
	__type(key, __u32);
	__type(value, __u32);
} bridge_targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, HOPCAP_BRIDGE_PORTS);
	__type(key, __u32);
	__type(value, struct bridge_lane);
} bridge_lanes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bridge_cpu);
} bridge_cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bridge_control);
} bridge_control SEC(".maps");

/* What user space and other CPUs write is read once. */
#define READ_ONCE(x) (*(volatile typeof(x) *)&(x))

static __always_inline void adopt_epoch(struct bridge_cpu *cpu, struct bridge_control *control)
{
	__u32 jiffies;

	if (likely(cpu->polls == cpu->polls_seen)) {
		jiffies = (__u32)bpf_jiffies64();
		if (likely(jiffies - cpu->jiffies < 2))
			return;
	} else {
		cpu->polls_seen = cpu->polls;
		jiffies = (__u32)bpf_jiffies64();
	}
	cpu->jiffies = jiffies;
	cpu->epoch = READ_ONCE(control->epoch);
}

/* Slot of a station in this CPU's snapshot. */
static __always_inline __u32 slot_of(struct bridge_station *station, __u32 epoch)
{
	return (__s32)(station->since - epoch) > 0 ? READ_ONCE(station->slot_before) : READ_ONCE(station->slot);
}

static __always_inline int is_control(__be16 protocol)
{
	return protocol == bpf_htons(ETH_P_ARP) || protocol == bpf_htons(ETHERTYPE_RARP) ||
	       protocol == bpf_htons(ETHERTYPE_PAUSE) || protocol == bpf_htons(ETHERTYPE_MACSEC) ||
	       protocol == bpf_htons(ETHERTYPE_MRP) || protocol == bpf_htons(ETHERTYPE_CFM);
}

static __always_inline int check_source_address(const struct ethhdr *ethernet)
{
	const __u16 *source = (const __u16 *)ethernet->h_source;

	return ethernet->h_source[0] & 1 || !(source[0] | source[1] | source[2]) ? BRIDGE_REASON_BAD_SOURCE : ALL_GO;
}

static __always_inline int check_destination(const struct ethhdr *ethernet)
{
	const __u16 *dest = (const __u16 *)ethernet->h_dest;

	if (likely(!(ethernet->h_dest[0] & 1)))
		return is_control(ethernet->h_proto) ? BRIDGE_REASON_CONTROL : ALL_GO;
	return dest[0] == bpf_htons(0x0180) && dest[1] == bpf_htons(0xc200) ? BRIDGE_REASON_CONTROL
									    : BRIDGE_REASON_MULTICAST;
}

static __always_inline struct bridge_station *find_station(const __u8 *address)
{
	struct bridge_station_key key = { .vlan = 0 };

	__builtin_memcpy(key.address, address, sizeof(key.address));
	return bpf_map_lookup_elem(&bridge_stations, &key);
}

/* The sender must be where the bridge thinks it is. */
static __always_inline int check_source(const struct ethhdr *ethernet, __u32 own, struct bridge_cpu *cpu,
					struct bridge_control *control)
{
	struct bridge_station *station = find_station(ethernet->h_source);
	__u32 slot, newest;

	if (!station)
		return BRIDGE_REASON_SOURCE_UNKNOWN;
	newest = READ_ONCE(station->slot);
	slot = slot_of(station, cpu->epoch);
	if (newest != own && newest != HOPCAP_BRIDGE_NO_PORT) {
		station->slot = station->slot_before = HOPCAP_BRIDGE_NO_PORT;
		__sync_fetch_and_add(&control->urgent, 1);
		return BRIDGE_REASON_SOURCE_MOVED;
	}
	if (slot != own)
		return BRIDGE_REASON_SOURCE_UNKNOWN;
	if (station->seen != READ_ONCE(control->scan))
		station->seen = READ_ONCE(control->scan);
	return ALL_GO;
}

#endif
