// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rows of facts, and what can be done with nothing but rows: making a record unknown, freeing it, growing an array.
 *
 * The order of rows is the order in the file. `netns` comes before whatever holds an index into it.
 */
#include "model/facts_fields.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A row is a line. */
/* clang-format off */

/* The offset of a member; does not compile when the member is not of that type. */
#define MEMBER(type, member, expected)                                                                          \
	(offsetof(type, member) +                                                                               \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((type *)0)->member), expected) ? 1 : -1]))
#define MEMBER_BYTES(type, member) sizeof(((type *)0)->member)

/* INT: 0 when nothing is said; COUNT: -1 then. */
#define INT(type, member, low) \
	{ .name = #member, .kind = FACTS_FIELD_INT, .offset = MEMBER(type, member, int), .min = (low), .max = INT_MAX }
#define COUNT(type, member, high) \
	{ .name = #member, .kind = FACTS_FIELD_INT, .offset = MEMBER(type, member, int), .min = -1, .max = (high), .unknown = -1 }
#define INT64(type, member) \
	{ .name = #member, .kind = FACTS_FIELD_INT64, .offset = MEMBER(type, member, int64_t), .min = -1, .max = INT64_MAX, .unknown = -1 }
#define UINT64(type, member) \
	{ .name = #member, .kind = FACTS_FIELD_UINT64, .offset = MEMBER(type, member, uint64_t) }
#define UINT32(type, member, more) \
	{ .name = #member, .kind = FACTS_FIELD_UINT32, .flags = (more), .offset = MEMBER(type, member, uint32_t) }
#define UINT16(type, member) \
	{ .name = #member, .kind = FACTS_FIELD_UINT16, .flags = FACTS_FIELD_HEX, .offset = MEMBER(type, member, uint16_t) }
#define FLAG(type, member, value) \
	{ .name = #member, .kind = FACTS_FIELD_FLAG, .offset = MEMBER(type, member, int), .unknown = (value) }
#define NETNS(type, more, low, value) \
	{ .name = "netns", .kind = FACTS_FIELD_NETNS, .flags = (more), .offset = MEMBER(type, netns, int), .min = (low), .unknown = (value) }
#define TEXT(type, member)                                                               \
	{ .name = #member, .kind = FACTS_FIELD_TEXT, .offset = offsetof(type, member), \
	  .size = MEMBER_BYTES(type, member) + 0 * sizeof(&((type *)0)->member[0]) }
#define STRING(type, member, limit) \
	{ .name = #member, .kind = FACTS_FIELD_STRING, .offset = MEMBER(type, member, char *), .size = (limit) }
#define ADDRESS(type, member) \
	{ .name = #member, .kind = FACTS_FIELD_ADDRESS, .offset = offsetof(type, member), \
	  .size = 6 * sizeof(char[MEMBER_BYTES(type, member) == 6 ? 1 : -1]) }
#define OBJECT(type, member, rows) \
	{ .name = #member, .kind = FACTS_FIELD_OBJECT, .offset = offsetof(type, member), .fields = (rows) }
#define ARRAY(type, member, count, rows, most)                                                             \
	{ .name = #member, .kind = FACTS_FIELD_ARRAY, .offset = offsetof(type, member),                    \
	  .size = MEMBER_BYTES(type, member[0]), .fields = (rows), .count_offset = MEMBER(type, count, int), .max_count = (most) }
#define REQUIRED(row_kind, at, low) \
	.kind = (row_kind), .flags = FACTS_FIELD_REQUIRED, .offset = (at), .min = (low), .max = INT_MAX
#define END { .name = NULL }

#define LINE_BYTES 65536

const struct facts_field facts_netns_fields[] = {
	TEXT(struct facts_netns, name),
	UINT64(struct facts_netns, inode),
	FLAG(struct facts_netns, could_enter, 1),
	TEXT(struct facts_netns, why_not),
	END
};

const struct facts_field facts_counter_fields[] = {
	TEXT(struct facts_counter, name),
	{ .name = "value", .kind = FACTS_FIELD_UINT64, .flags = FACTS_FIELD_ALWAYS, .offset = MEMBER(struct facts_counter, value, uint64_t) },
	END
};

const struct facts_field facts_feature_fields[] = {
	TEXT(struct facts_feature, name),
	{ .name = "on", .kind = FACTS_FIELD_FLAG, .flags = FACTS_FIELD_ALWAYS, .offset = MEMBER(struct facts_feature, on, int) },
	FLAG(struct facts_feature, fixed, 0),
	END
};

const struct facts_field facts_qdisc_fields[] = {
	TEXT(struct facts_qdisc, kind),
	UINT32(struct facts_qdisc, handle, FACTS_FIELD_HEX),
	UINT32(struct facts_qdisc, parent, FACTS_FIELD_HEX),
	FLAG(struct facts_qdisc, is_class, 0),
	UINT64(struct facts_qdisc, rate_bytes_per_s),
	UINT64(struct facts_qdisc, limit),
	UINT64(struct facts_qdisc, frames),
	UINT64(struct facts_qdisc, bytes),
	UINT64(struct facts_qdisc, drops),
	UINT64(struct facts_qdisc, overlimits),
	UINT64(struct facts_qdisc, requeues),
	UINT64(struct facts_qdisc, backlog_bytes),
	UINT64(struct facts_qdisc, backlog_frames),
	END
};

const struct facts_field facts_filter_fields[] = {
	FLAG(struct facts_filter, ingress, 0),
	TEXT(struct facts_filter, kind),
	TEXT(struct facts_filter, name),
	UINT64(struct facts_filter, police_bytes_per_s),
	END
};

const struct facts_field facts_vf_fields[] = {
	INT(struct facts_vf, index, 0),
	ADDRESS(struct facts_vf, address),
	INT64(struct facts_vf, max_tx_mbit_per_s),
	INT64(struct facts_vf, min_tx_mbit_per_s),
	FLAG(struct facts_vf, spoof_check, -1),
	FLAG(struct facts_vf, trust, -1),
	COUNT(struct facts_vf, link_state, 2),
	INT(struct facts_vf, vlan, 0),
	INT(struct facts_vf, qos, 0),
	FLAG(struct facts_vf, rss_query, -1),
	END
};

const struct facts_field facts_irq_fields[] = {
	INT(struct facts_irq, number, 0),
	TEXT(struct facts_irq, name),
	TEXT(struct facts_irq, affinity),
	TEXT(struct facts_irq, effective),
	UINT64(struct facts_irq, count),
	END
};

static const struct facts_field bridge_fields[] = {
	COUNT(struct facts_bridge, stp, INT_MAX),
	FLAG(struct facts_bridge, vlan_filtering, -1),
	COUNT(struct facts_bridge, vlan_default_pvid, 4095),
	FLAG(struct facts_bridge, multicast_snooping, -1),
	FLAG(struct facts_bridge, multicast_querier, -1),
	FLAG(struct facts_bridge, nf_call_iptables, -1),
	FLAG(struct facts_bridge, nf_call_ip6tables, -1),
	FLAG(struct facts_bridge, nf_call_arptables, -1),
	INT64(struct facts_bridge, ageing_ms),
	INT64(struct facts_bridge, forward_delay_ms),
	END
};

static const struct facts_field bridge_port_fields[] = {
	COUNT(struct facts_bridge_port, state, INT_MAX),
	FLAG(struct facts_bridge_port, learning, -1),
	FLAG(struct facts_bridge_port, unicast_flood, -1),
	FLAG(struct facts_bridge_port, isolated, -1),
	FLAG(struct facts_bridge_port, hairpin, -1),
	FLAG(struct facts_bridge_port, vlan_tunnel, -1),
	COUNT(struct facts_bridge_port, pvid, 4095),
	TEXT(struct facts_bridge_port, vlans),
	TEXT(struct facts_bridge_port, untagged),
	END
};

const struct facts_field facts_link_fields[] = {
	NETNS(struct facts_link, 0, 0, 0),
	{ .name = "ifindex", REQUIRED(FACTS_FIELD_INT, MEMBER(struct facts_link, ifindex, int), 1) },
	TEXT(struct facts_link, name),
	TEXT(struct facts_link, kind),
	TEXT(struct facts_link, driver),
	TEXT(struct facts_link, driver_version),
	TEXT(struct facts_link, firmware),
	TEXT(struct facts_link, bus),
	TEXT(struct facts_link, bus_address),
	TEXT(struct facts_link, bus_parents),
	UINT16(struct facts_link, pci_vendor),
	UINT16(struct facts_link, pci_device),
	ADDRESS(struct facts_link, address),
	ADDRESS(struct facts_link, permanent_address),
	UINT32(struct facts_link, flags, FACTS_FIELD_HEX),
	COUNT(struct facts_link, operstate, INT_MAX),
	FLAG(struct facts_link, carrier, -1),
	INT64(struct facts_link, carrier_changes),
	COUNT(struct facts_link, mtu_bytes, INT_MAX),
	COUNT(struct facts_link, min_mtu_bytes, INT_MAX),
	COUNT(struct facts_link, max_mtu_bytes, INT_MAX),
	COUNT(struct facts_link, tx_queue_len, INT_MAX),
	COUNT(struct facts_link, rx_queues, INT_MAX),
	COUNT(struct facts_link, tx_queues, INT_MAX),
	COUNT(struct facts_link, rx_queues_max, INT_MAX),
	COUNT(struct facts_link, tx_queues_max, INT_MAX),
	COUNT(struct facts_link, rx_ring, INT_MAX),
	COUNT(struct facts_link, rx_ring_max, INT_MAX),
	COUNT(struct facts_link, tx_ring, INT_MAX),
	COUNT(struct facts_link, tx_ring_max, INT_MAX),
	INT64(struct facts_link, speed_mbit_per_s),
	COUNT(struct facts_link, duplex, 1),
	FLAG(struct facts_link, autonegotiation, -1),
	FLAG(struct facts_link, pause_rx, -1),
	FLAG(struct facts_link, pause_tx, -1),
	FLAG(struct facts_link, pause_auto, -1),
	FLAG(struct facts_link, eee, -1),
	COUNT(struct facts_link, rx_usecs, INT_MAX),
	COUNT(struct facts_link, tx_usecs, INT_MAX),
	FLAG(struct facts_link, adaptive_rx, -1),
	FLAG(struct facts_link, adaptive_tx, -1),
	INT64(struct facts_link, gro_flush_timeout_ns),
	COUNT(struct facts_link, napi_defer_hard_irqs, INT_MAX),
	COUNT(struct facts_link, threaded_napi, 2),
	COUNT(struct facts_link, numa_node, INT_MAX),
	FLAG(struct facts_link, udp4_hash_ports, -1),
	INT(struct facts_link, group, INT_MIN),
	INT(struct facts_link, master_ifindex, 0),
	INT(struct facts_link, lower_ifindex, 0),
	{ .name = "lower_netns", .kind = FACTS_FIELD_NETNS, .flags = FACTS_FIELD_SAME_NETNS,
	  .offset = MEMBER(struct facts_link, lower_netns, int), .min = -1, .unknown = -1 },
	OBJECT(struct facts_link, bridge, bridge_fields),
	OBJECT(struct facts_link, port, bridge_port_fields),
	INT(struct facts_link, vlan_id, 0),
	INT(struct facts_link, vlan_protocol, 0),
	TEXT(struct facts_link, macvlan_mode),
	COUNT(struct facts_link, vxlan_id, INT_MAX),
	TEXT(struct facts_link, vxlan_local),
	TEXT(struct facts_link, vxlan_remote),
	INT(struct facts_link, vxlan_port, 0),
	TEXT(struct facts_link, bond_mode),
	TEXT(struct facts_link, bond_hash),
	FLAG(struct facts_link, bond_is_active, -1),
	{ .name = "tun_flags", .kind = FACTS_FIELD_INT, .flags = FACTS_FIELD_HEX,
	  .offset = MEMBER(struct facts_link, tun_flags, int), .min = -1, .max = INT_MAX, .unknown = -1 },
	TEXT(struct facts_link, phys_switch_id),
	TEXT(struct facts_link, phys_port_name),
	TEXT(struct facts_link, physfn_address),
	COUNT(struct facts_link, vf_index, INT_MAX),
	COUNT(struct facts_link, vf_count, INT_MAX),
	COUNT(struct facts_link, vf_total, INT_MAX),
	UINT32(struct facts_link, xdp_program_id, 0),
	TEXT(struct facts_link, xdp_program_name),
	INT(struct facts_link, xdp_mode, 0),
	INT64(struct facts_link, xdp_features),
	INT64(struct facts_link, xdp_rx_metadata),
	INT64(struct facts_link, xsk_features),
	COUNT(struct facts_link, xdp_zc_max_segments, INT_MAX),
	ARRAY(struct facts_link, features, feature_count, facts_feature_fields, 1024),
	ARRAY(struct facts_link, counters, counter_count, facts_counter_fields, 65536),
	ARRAY(struct facts_link, qdiscs, qdisc_count, facts_qdisc_fields, 65536),
	ARRAY(struct facts_link, filters, filter_count, facts_filter_fields, 65536),
	ARRAY(struct facts_link, vfs, vf_info_count, facts_vf_fields, 65536),
	ARRAY(struct facts_link, irqs, irq_count, facts_irq_fields, 65536),
	END
};

const struct facts_field facts_fdb_fields[] = {
	NETNS(struct facts_fdb, 0, 0, 0),
	INT(struct facts_fdb, bridge_ifindex, 0),
	INT(struct facts_fdb, port_ifindex, 0),
	ADDRESS(struct facts_fdb, address),
	INT(struct facts_fdb, vlan, 0),
	FLAG(struct facts_fdb, is_local, 0),
	FLAG(struct facts_fdb, is_static, 0),
	FLAG(struct facts_fdb, is_external, 0),
	TEXT(struct facts_fdb, vxlan_remote),
	END
};

const struct facts_field facts_address_fields[] = {
	NETNS(struct facts_address, 0, 0, 0),
	INT(struct facts_address, ifindex, 0),
	TEXT(struct facts_address, address),
	INT(struct facts_address, prefix_length, 0),
	END
};

const struct facts_field facts_route_fields[] = {
	NETNS(struct facts_route, 0, 0, 0),
	TEXT(struct facts_route, destination),
	INT(struct facts_route, prefix_length, 0),
	TEXT(struct facts_route, gateway),
	INT(struct facts_route, out_ifindex, 0),
	INT(struct facts_route, metric, INT_MIN),
	INT(struct facts_route, mtu_bytes, 0),
	END
};

const struct facts_field facts_neighbour_fields[] = {
	NETNS(struct facts_neighbour, 0, 0, 0),
	INT(struct facts_neighbour, ifindex, 0),
	TEXT(struct facts_neighbour, address),
	ADDRESS(struct facts_neighbour, mac),
	END
};

const struct facts_field facts_thread_fields[] = {
	INT(struct facts_thread, tid, 0),
	TEXT(struct facts_thread, name),
	TEXT(struct facts_thread, cpus_allowed),
	COUNT(struct facts_thread, last_cpu, INT_MAX),
	UINT64(struct facts_thread, cpu_time_ms),
	UINT64(struct facts_thread, wait_ns),
	END
};

const struct facts_field facts_tun_fields[] = {
	NETNS(struct facts_tun_holder, 0, -1, -1),
	TEXT(struct facts_tun_holder, interface),
	INT(struct facts_tun_holder, descriptors, 0),
	END
};

/* Elements are plain text. */
const struct facts_field facts_argument_fields[] = {
	{ .name = "", .kind = FACTS_FIELD_STRING, .size = 131072 }, END
};
const struct facts_field facts_gap_fields[] = {
	{ .name = "", .kind = FACTS_FIELD_STRING, .offset = MEMBER(struct facts_gap, text, char *), .size = LINE_BYTES }, END
};

const struct facts_field facts_process_fields[] = {
	INT(struct facts_process, pid, 0),
	TEXT(struct facts_process, name),
	FLAG(struct facts_process, is_qemu, 0),
	ARRAY(struct facts_process, arguments, argument_count, facts_argument_fields, 65536),
	COUNT(struct facts_process, vhost_net, INT_MAX),
	COUNT(struct facts_process, vhost_vdpa, INT_MAX),
	COUNT(struct facts_process, kvm, INT_MAX),
	COUNT(struct facts_process, vfio, INT_MAX),
	ARRAY(struct facts_process, tuns, tun_count, facts_tun_fields, 65536),
	ARRAY(struct facts_process, threads, thread_count, facts_thread_fields, 65536),
	END
};

const struct facts_field facts_file_fields[] = {
	{ .name = "path", .kind = FACTS_FIELD_STRING, .flags = FACTS_FIELD_REQUIRED,
	  .offset = MEMBER(struct facts_file, path, char *), .size = 4096 },
	NETNS(struct facts_file, 0, 0, 0),
	STRING(struct facts_file, text, FACTS_MAX_FILE_BYTES + 1),
	INT(struct facts_file, error, 0),
	END
};

const struct facts_field facts_claim_fields[] = {
	TEXT(struct facts_claim, kind),
	TEXT(struct facts_claim, source),
	TEXT(struct facts_claim, object),
	TEXT(struct facts_claim, key),
	STRING(struct facts_claim, value, LINE_BYTES),
	INT(struct facts_claim, line_number, 0),
	STRING(struct facts_claim, line, LINE_BYTES),
	END
};

const struct facts_field facts_fields[] = {
	{ .name = "schema", .kind = FACTS_FIELD_CONSTANT, .flags = FACTS_FIELD_REQUIRED },
	TEXT(struct facts, created),
	TEXT(struct facts, version),
	TEXT(struct facts, kernel),
	TEXT(struct facts, machine),
	TEXT(struct facts, hypervisor),
	INT(struct facts, cpu_count, 0),
	FLAG(struct facts, is_root, 0),
	TEXT(struct facts, uplink),
	TEXT(struct facts, ssh_interface),
	ARRAY(struct facts, netns, netns_count, facts_netns_fields, 65536),
	ARRAY(struct facts, links, link_count, facts_link_fields, FACTS_MAX_LINKS),
	ARRAY(struct facts, fdb, fdb_count, facts_fdb_fields, 1 << 20),
	ARRAY(struct facts, addresses, address_count, facts_address_fields, 1 << 20),
	ARRAY(struct facts, routes, route_count, facts_route_fields, 1 << 20),
	ARRAY(struct facts, neighbours, neighbour_count, facts_neighbour_fields, 1 << 20),
	ARRAY(struct facts, processes, process_count, facts_process_fields, 65536),
	ARRAY(struct facts, files, file_count, facts_file_fields, 1 << 20),
	ARRAY(struct facts, claims, claim_count, facts_claim_fields, 1 << 20),
	ARRAY(struct facts, gaps, gap_count, facts_gap_fields, 65536),
	END
};

/* clang-format on */

static void store(const struct facts_field *field, int64_t value, void *record)
{
	char *member = (char *)record + field->offset;
	uint16_t small = (uint16_t)value;
	uint32_t word = (uint32_t)value;

	switch (field->kind) {
	case FACTS_FIELD_INT64:
	case FACTS_FIELD_UINT64:
		memcpy(member, &value, sizeof(value));
		break;
	case FACTS_FIELD_UINT16:
		memcpy(member, &small, sizeof(small));
		break;
	default: /* int and uint32_t */
		memcpy(member, &word, sizeof(word));
		break;
	}
}

int facts_record_init(const struct facts_field *fields, void *record)
{
	int result = 0;

	for (; fields->name; fields++) {
		char *member = (char *)record + fields->offset;
		char *text;
		void *none = NULL;
		int zero = 0;

		switch (fields->kind) {
		case FACTS_FIELD_CONSTANT:
			break;
		case FACTS_FIELD_TEXT:
		case FACTS_FIELD_ADDRESS:
			memset(member, 0, fields->size);
			break;
		case FACTS_FIELD_STRING:
			text = calloc(1, 1);
			if (!text)
				result = -ENOMEM;
			memcpy(member, &text, sizeof(text));
			break;
		case FACTS_FIELD_OBJECT:
			if (facts_record_init(fields->fields, member) < 0)
				result = -ENOMEM;
			break;
		case FACTS_FIELD_ARRAY:
			memcpy(member, &none, sizeof(none));
			memcpy((char *)record + fields->count_offset, &zero, sizeof(zero));
			break;
		default:
			store(fields, fields->unknown, record);
			break;
		}
	}
	return result;
}

void facts_record_free(const struct facts_field *fields, void *record)
{
	for (; fields->name; fields++) {
		char *member = (char *)record + fields->offset;
		char *pointer;
		int count;

		if (fields->kind == FACTS_FIELD_OBJECT)
			facts_record_free(fields->fields, member);
		if (fields->kind != FACTS_FIELD_STRING && fields->kind != FACTS_FIELD_ARRAY)
			continue;
		memcpy(&pointer, member, sizeof(pointer));
		if (fields->kind == FACTS_FIELD_ARRAY) {
			memcpy(&count, (char *)record + fields->count_offset, sizeof(count));
			for (int i = 0; i < count; i++)
				facts_record_free(fields->fields, pointer + (size_t)i * fields->size);
		}
		free(pointer);
	}
}

void *facts_array_add(void *member, int *count, size_t size, const struct facts_field *fields)
{
	char *elements, *element;

	memcpy(&elements, member, sizeof(elements));
	if (*count == INT_MAX)
		return NULL;
	if ((*count & (*count - 1)) == 0) {
		size_t room = *count ? 2 * (size_t)*count : 1;
		char *larger = room > SIZE_MAX / size ? NULL : realloc(elements, room * size);

		if (!larger)
			return NULL;
		elements = larger;
		memcpy(member, &elements, sizeof(elements));
	}
	element = elements + (size_t)*count * size;
	memset(element, 0, size);
	if (facts_record_init(fields, element) < 0) {
		facts_record_free(fields, element);
		return NULL;
	}
	(*count)++;
	return element;
}

int64_t facts_field_value(const struct facts_field *field, const void *record)
{
	const char *member = (const char *)record + field->offset;
	uint16_t small;
	uint32_t word;
	uint64_t large;
	int number;

	switch (field->kind) {
	case FACTS_FIELD_INT64:
	case FACTS_FIELD_UINT64:
		memcpy(&large, member, sizeof(large));
		if (field->kind == FACTS_FIELD_UINT64 && large > INT64_MAX)
			return INT64_MAX;
		return (int64_t)large;
	case FACTS_FIELD_UINT16:
		memcpy(&small, member, sizeof(small));
		return small;
	case FACTS_FIELD_UINT32:
		memcpy(&word, member, sizeof(word));
		return word;
	default:
		memcpy(&number, member, sizeof(number));
		return number;
	}
}
