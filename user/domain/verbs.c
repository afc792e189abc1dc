// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of verbs; see verbs.h. */
#include <limits.h>
#include <string.h>

#include "domain/verbs.h"

/* A row is a line. */
/* clang-format off */

/* The offset of a member; does not compile when the member is not of that type. */
#define MEMBER(type, member, expected)                                                                          \
	(offsetof(type, member) +                                                                               \
	 0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((type *)0)->member), expected) ? 1 : -1]))
#define BYTES(type, member) sizeof(((type *)0)->member)

#define INT(type, member, low, high, json)  { (json), ROW_INT, MEMBER(type, member, int), sizeof(int), (low), (high), NULL, 0, 0 }
#define FLAG(type, member, json) INT(type, member, 0, 1, json)
#define U8(type, member, json) { (json), ROW_U8, MEMBER(type, member, uint8_t), 1, 0, UINT8_MAX, NULL, 0, 0 }
#define U16(type, member, json) { (json), ROW_U16, MEMBER(type, member, uint16_t), 2, 0, UINT16_MAX, NULL, 0, 0 }
#define UINT(type, member, json) { (json), ROW_UINT, MEMBER(type, member, unsigned int), 4, 0, UINT_MAX, NULL, 0, 0 }
#define U64(type, member, json) { (json), ROW_U64, MEMBER(type, member, uint64_t), 8, 0, INT64_MAX, NULL, 0, 0 }
#define S64(type, member, json) { (json), ROW_S64, MEMBER(type, member, int64_t), 8, -(1ll << 60), 1ll << 60, NULL, 0, 0 }
#define NUMBER(type, member, json) { (json), ROW_NUMBER, MEMBER(type, member, double), 8, 0, 0, NULL, 0, 0 }
#define TEXT(type, member, json) { (json), ROW_TEXT, offsetof(type, member), BYTES(type, member), 0, 0, NULL, 0, 0 }
#define HEX(type, member, json) { (json), ROW_HEX, offsetof(type, member), BYTES(type, member), 0, 0, NULL, 0, 0 }
#define WORDS(type, member, json) { (json), ROW_WORDS, offsetof(type, member), BYTES(type, member), 0, INT64_MAX, NULL, 0, 0 }
#define BUCKETS(type, member, json) { (json), ROW_BUCKETS, MEMBER(type, member, struct histogram), 0, 0, INT64_MAX, NULL, 0, 0 }
#define ARRAY(type, member, count, element, json)                                                        \
	{ (json), ROW_ARRAY, offsetof(type, member), BYTES(type, member[0]), 0, 0, (element),            \
	  MEMBER(type, count, int), (int)(BYTES(type, member) / BYTES(type, member[0])) }
#define PLACE(type, member)                                       \
	TEXT(type, member.name, "name"), TEXT(type, member.interface, "interface"), TEXT(type, member.netns, "netns")
#define HANDLE(type) INT(type, handle, 0, DOMAIN_MAX_PROBES - 1, "handle")
#define END { NULL, ROW_INT, 0, 0, 0, 0, NULL, 0, 0 }

#define MOST_CPU (1 << 20)

static const struct verb_row nothing[] = { END };

static const struct verb_row hello[] = {
	INT(struct verb_hello, protocol, 0, INT_MAX, "protocol"),
	TEXT(struct verb_hello, version, "version"),
	TEXT(struct verb_hello, nonce, "nonce"),
	END
};

static const struct verb_row hello_reply[] = {
	INT(struct verb_hello_reply, protocol, 0, INT_MAX, "protocol"),
	TEXT(struct verb_hello_reply, version, "version"),
	TEXT(struct verb_hello_reply, nonce, "nonce"),
	TEXT(struct verb_hello_reply, kernel, "kernel"),
	TEXT(struct verb_hello_reply, machine, "machine"),
	TEXT(struct verb_hello_reply, boot, "boot"),
	INT(struct verb_hello_reply, cpus, 1, MOST_CPU, "cpus"),
	END
};

static const struct verb_row clock_reply[] = {
	S64(struct verb_clock_reply, arrived_ns, "arrived_ns"),
	S64(struct verb_clock_reply, returned_ns, "returned_ns"),
	END
};

static const struct verb_row place[] = {
	TEXT(struct verb_place, name, "name"),
	TEXT(struct verb_place, interface, "interface"),
	TEXT(struct verb_place, netns, "netns"),
	END
};

static const struct verb_row link_reply[] = {
	INT(struct domain_link, ifindex, 0, INT_MAX, "ifindex"),
	TEXT(struct domain_link, kind, "kind"),
	TEXT(struct domain_link, driver, "driver"),
	HEX(struct domain_link, address, "address"),
	UINT(struct domain_link, mtu_bytes, "mtu_bytes"),
	UINT(struct domain_link, flags, "flags"),
	INT(struct domain_link, master_ifindex, 0, INT_MAX, "master_ifindex"),
	INT(struct domain_link, peer_ifindex, 0, INT_MAX, "peer_ifindex"),
	INT(struct domain_link, peer_netnsid, INT_MIN, INT_MAX, "peer_netnsid"),
	TEXT(struct domain_link, master, "master"),
	TEXT(struct domain_link, xdp, "xdp"),
	UINT(struct domain_link, netns_inode, "netns_inode"),
	INT(struct domain_link, uplink, 0, 4095, "uplink"),
	TEXT(struct domain_link, uplink_text, "uplink_text"),
	U64(struct domain_link, rx_dropped, "rx_dropped"),
	U64(struct domain_link, tx_dropped, "tx_dropped"),
	END
};

static const struct verb_row queue[] = {
	INT(struct rtnl_qdisc, ifindex, 0, INT_MAX, "ifindex"),
	TEXT(struct rtnl_qdisc, kind, "kind"),
	UINT(struct rtnl_qdisc, handle, "handle"),
	UINT(struct rtnl_qdisc, parent, "parent"),
	U64(struct rtnl_qdisc, rate_bytes_per_s, "rate_bytes_per_s"),
	U64(struct rtnl_qdisc, bytes, "bytes"),
	U64(struct rtnl_qdisc, frames, "frames"),
	UINT(struct rtnl_qdisc, drops, "drops"),
	UINT(struct rtnl_qdisc, overlimits, "overlimits"),
	UINT(struct rtnl_qdisc, requeues, "requeues"),
	UINT(struct rtnl_qdisc, backlog_bytes, "backlog_bytes"),
	UINT(struct rtnl_qdisc, backlog_frames, "backlog_frames"),
	END
};

static const struct verb_row queues_reply[] = { ARRAY(struct verb_queues_reply, list, count, queue, "queues"), END };

static const struct verb_row cpu[] = {
	INT(struct verb_cpu, wanted, -1, MOST_CPU, "wanted"),
	INT(struct verb_cpu, avoid, -1, MOST_CPU, "avoid"),
	END
};

static const struct verb_row cpu_reply[] = {
	FLAG(struct verb_cpu_reply, usable, "usable"),
	INT(struct verb_cpu_reply, other, -1, MOST_CPU, "other"),
	END
};

static const struct verb_row announce[] = {
	PLACE(struct verb_announce, place),
	HEX(struct verb_announce, own, "own"),
	HEX(struct verb_announce, other, "other"),
	END
};

static const struct verb_row probe_open[] = {
	PLACE(struct verb_probe_open, place),
	TEXT(struct verb_probe_open, mode, "mode"),
	INT(struct verb_probe_open, direction, RUN_DIRECTION_IN, RUN_DIRECTION_OUT, "direction"),
	END
};

static const struct verb_row handle[] = { HANDLE(struct verb_handle), END };
static const struct verb_row attach_reply[] = { TEXT(struct verb_attach_reply, mode, "mode"), END };

static const struct verb_row arm[] = {
	HANDLE(struct verb_arm),
	U16(struct verb_arm, arming.run_tag, "run_tag"),
	U8(struct verb_arm, arming.first_stream, "first_stream"),
	INT(struct verb_arm, arming.streams, 1, LEDGER_MAX_STREAMS, "streams"),
	FLAG(struct verb_arm, arming.sink, "sink"),
	FLAG(struct verb_arm, arming.drop, "drop"),
	FLAG(struct verb_arm, arming.verify, "verify"),
	FLAG(struct verb_arm, arming.learn, "learn"),
	S64(struct verb_arm, arming.clock_offset_ns, "clock_offset_ns"),
	END
};

static const struct verb_row frames[] = { U64(struct verb_frames, frames, "frames"), END };

static const struct verb_row reading[] = {
	WORDS(struct hop_reading, total, "total"),
	WORDS(struct hop_reading, streams, "streams"),
	BUCKETS(struct hop_reading, hop_ns, "hop_ns"),
	BUCKETS(struct hop_reading, path_ns, "path_ns"),
	BUCKETS(struct hop_reading, gap_ns, "gap_ns"),
	U64(struct hop_reading, jitter_sum_ns, "jitter_sum_ns"),
	U64(struct hop_reading, jitter_count, "jitter_count"),
	WORDS(struct hop_reading, cpu_frames, "cpu_frames"),
	U16(struct hop_reading, run_tag, "run_tag"),
	U64(struct hop_reading, first_ns, "first_ns"),
	U64(struct hop_reading, last_ns, "last_ns"),
	INT(struct hop_reading, cpu, -1, MOST_CPU, "cpu"),
	NUMBER(struct hop_reading, cpu_share, "cpu_share"),
	END
};

static const struct verb_row source_place[] = {
	TEXT(struct source_place, interface, "interface"),
	TEXT(struct source_place, netns, "netns"),
	INT(struct source_place, cpu, -1, MOST_CPU, "cpu"),
	HEX(struct source_place, source_mac, "source_mac"),
	HEX(struct source_place, destination_mac, "destination_mac"),
	U16(struct source_place, run_tag, "run_tag"),
	FLAG(struct source_place, no_clones, "no_clones"),
	END
};

static const struct verb_row usable[] = {
	INT(struct verb_usable, port, RUN_PORT_LIVE, RUN_PORT_PACKET, "port"),
	UINT(struct verb_usable, frame_bytes, "frame_bytes"),
	END
};

static const struct verb_row usable_reply[] = {
	FLAG(struct verb_usable_reply, usable, "usable"),
	TEXT(struct verb_usable_reply, why_not, "why_not"),
	END
};

static const struct verb_row number[] = { INT(struct verb_number, number, INT_MIN, INT_MAX, "number"), END };

static const struct verb_row stream[] = {
	{ "port", ROW_INT, MEMBER(struct source_stream, port, enum run_port), 4, RUN_PORT_LIVE, RUN_PORT_PACKET, NULL, 0, 0 },
	{ "frame_bytes", ROW_UINT, MEMBER(struct source_stream, frame_bytes, unsigned int), 4, HOPCAP_MIN_FRAME_BYTES,
	  HOPCAP_MAX_FRAME_BYTES, NULL, 0, 0 },
	U8(struct source_stream, stream, "stream"),
	NUMBER(struct source_stream, pps, "pps"),
	NUMBER(struct source_stream, duration_s, "duration_s"),
	U64(struct source_stream, frames, "frames"),
	UINT(struct source_stream, stamp_interval, "stamp_interval"),
	END
};

static const struct verb_row send_reply[] = {
	U64(struct verb_send_reply, sent.frames, "frames"),
	U64(struct verb_send_reply, sent.bytes, "bytes"),
	U64(struct verb_send_reply, sent.refused, "refused"),
	U64(struct verb_send_reply, sent.first_ns, "first_ns"),
	U64(struct verb_send_reply, sent.last_ns, "last_ns"),
	U64(struct verb_send_reply, sent.late_sum_ns, "late_sum_ns"),
	U64(struct verb_send_reply, sent.late_max_ns, "late_max_ns"),
	U64(struct verb_send_reply, sent.slips, "slips"),
	U64(struct verb_send_reply, sent.slipped_ns, "slipped_ns"),
	BUCKETS(struct verb_send_reply, sent.lateness_ns, "lateness_ns"),
	NUMBER(struct verb_send_reply, elapsed_s, "elapsed_s"),
	END
};

static const struct verb_row cpu_share[] = {
	INT(struct run_cpu, cpu, 0, MOST_CPU, "cpu"),
	NUMBER(struct run_cpu, busy, "busy"),
	NUMBER(struct run_cpu, softirq, "softirq"),
	NUMBER(struct run_cpu, system, "system"),
	NUMBER(struct run_cpu, user, "user"),
	NUMBER(struct run_cpu, steal, "steal"),
	END
};

static const struct verb_row hog[] = {
	INT(struct run_hog, cpu, 0, MOST_CPU, "cpu"),
	INT(struct run_hog, pid, 0, INT_MAX, "pid"),
	TEXT(struct run_hog, command, "command"),
	NUMBER(struct run_hog, share, "share"),
	END
};

static const struct verb_row machine[] = {
	ARRAY(struct domain_machine, cpus, cpu_count, cpu_share, "cpus"),
	ARRAY(struct domain_machine, hogs, hog_count, hog, "hogs"),
	END
};

static const struct verb_row drops_begin[] = {
	U16(struct verb_drops_begin, run_tag, "run_tag"),
	U8(struct verb_drops_begin, stream, "stream"),
	END
};

static const struct verb_row drop[] = {
	TEXT(struct drop_count, reason, "reason"),
	UINT(struct drop_count, ifindex, "ifindex"),
	UINT(struct drop_count, netns_inode, "netns_inode"),
	U64(struct drop_count, count, "count"),
	END
};

static const struct verb_row drops_reply[] = { ARRAY(struct verb_drops_reply, list, count, drop, "drops"), END };

static const struct verb_row load[] = {
	PLACE(struct verb_load, place),
	TEXT(struct verb_load, mode, "mode"),
	INT(struct verb_load, direction, RUN_DIRECTION_IN, RUN_DIRECTION_OUT, "direction"),
	END
};

static const struct verb_row pinned[] = {
	TEXT(struct domain_pinned, interface, "interface"),
	TEXT(struct domain_pinned, netns, "netns"),
	TEXT(struct domain_pinned, mode, "mode"),
	TEXT(struct domain_pinned, direction, "direction"),
	FLAG(struct domain_pinned, attached, "attached"),
	S64(struct domain_pinned, age_ns, "age_ns"),
	U64(struct domain_pinned, test_frames, "test_frames"),
	U64(struct domain_pinned, test_bytes, "test_bytes"),
	U64(struct domain_pinned, other_frames, "other_frames"),
	U64(struct domain_pinned, other_bytes, "other_bytes"),
	U64(struct domain_pinned, other_segments, "other_segments"),
	U64(struct domain_pinned, stamped, "stamped"),
	U64(struct domain_pinned, stamp_errors, "stamp_errors"),
	U64(struct domain_pinned, p50_ns, "p50_ns"),
	U64(struct domain_pinned, p99_ns, "p99_ns"),
	U64(struct domain_pinned, max_ns, "max_ns"),
	U64(struct domain_pinned, path_p50_ns, "path_p50_ns"),
	U64(struct domain_pinned, path_p99_ns, "path_p99_ns"),
	END
};

static const struct verb_row stat_reply[] = { ARRAY(struct verb_stat_reply, list, count, pinned, "probes"), END };

static const struct verb_row unload[] = {
	TEXT(struct verb_unload, interface, "interface"),
	TEXT(struct verb_unload, netns, "netns"),
	END
};

const struct verb_form verb_forms[VERB_COUNT] = {
	[VERB_HELLO] = { "hello", hello, hello_reply },
	[VERB_PING] = { "ping", nothing, nothing },
	[VERB_CLOCK] = { "clock", nothing, clock_reply },
	[VERB_LINK] = { "link", place, link_reply },
	[VERB_QUEUES] = { "queues", place, queues_reply },
	[VERB_CPU] = { "cpu", cpu, cpu_reply },
	[VERB_ANNOUNCE] = { "announce", announce, nothing },
	[VERB_PROBE_OPEN] = { "probe-open", probe_open, handle },
	[VERB_PROBE_ATTACH] = { "probe-attach", handle, attach_reply },
	[VERB_PROBE_DETACH] = { "probe-detach", handle, nothing },
	[VERB_PROBE_ARM] = { "probe-arm", arm, nothing },
	[VERB_PROBE_COUNT] = { "probe-count", handle, frames },
	[VERB_PROBE_READ] = { "probe-read", handle, reading },
	[VERB_PROBE_CLOSE] = { "probe-close", handle, nothing },
	[VERB_SOURCE_OPEN] = { "source-open", source_place, nothing },
	[VERB_SOURCE_USABLE] = { "source-usable", usable, usable_reply },
	[VERB_SOURCE_CPU] = { "source-cpu", number, nothing },
	[VERB_SOURCE_SEND] = { "source-send", stream, send_reply },
	[VERB_SOURCE_STOP] = { "source-stop", nothing, nothing },
	[VERB_SOURCE_CLOSE] = { "source-close", nothing, nothing },
	[VERB_WATCH_BEGIN] = { "watch-begin", nothing, nothing },
	[VERB_WATCH_END] = { "watch-end", nothing, machine },
	[VERB_DROPS_BEGIN] = { "drops-begin", drops_begin, nothing },
	[VERB_DROPS_END] = { "drops-end", nothing, drops_reply },
	[VERB_LOAD] = { "load", load, nothing },
	[VERB_STAT] = { "stat", nothing, stat_reply },
	[VERB_UNLOAD] = { "unload", unload, number },
	[VERB_RESTORE] = { "restore", nothing, nothing },
	[VERB_BYE] = { "bye", nothing, nothing },
};

/* clang-format on */

int verb_find(const char *name)
{
	for (int verb = 0; verb < VERB_COUNT; verb++)
		if (!strcmp(verb_forms[verb].name, name))
			return verb;
	return -1;
}
