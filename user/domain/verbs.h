/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The verbs that a kernel can be asked: what each takes and gives. One table, used by whoever asks, by the kernel at hand and by the agent.
 *
 * Owns: requests and replies as structs, and the rows that turn them into JSON and back (message.c). Leaves to others: doing it (local.c),
 * asking for it (domain.c, remote.c).
 *
 * A verb = a name, rows for its request, rows for its reply: a line in verbs.c. Handles number what was opened in one domain, from 0.
 */
#ifndef DOMAIN_VERBS_H
#define DOMAIN_VERBS_H

#include <stddef.h>
#include <stdint.h>

#include "model/run.h"
#include "port/port.h"
#include "probe/drop_trace.h"
#include "probe/hop_probe.h"
#include "sys/rtnl.h"
#include "traffic/source.h"

#define DOMAIN_PROTOCOL 1
#define DOMAIN_MAX_PROBES (3 * RUN_MAX_POINTS) /* of a point: by tc or as asked, by XDP, the other way */
#define DOMAIN_MAX_QUEUES 16
#define DOMAIN_MAX_DROPS 32

enum verb {
	VERB_HELLO, /* first of all: versions, and what kernel this is */
	VERB_PING,  /* the host lives */
	VERB_CLOCK, /* when the question arrived, and when the answer left */
	VERB_LINK,
	VERB_QUEUES,
	VERB_CPU,
	VERB_ANNOUNCE,
	VERB_PROBE_OPEN,
	VERB_PROBE_ATTACH,
	VERB_PROBE_DETACH,
	VERB_PROBE_ARM,
	VERB_PROBE_COUNT,
	VERB_PROBE_READ,
	VERB_PROBE_CLOSE,
	VERB_SOURCE_OPEN,
	VERB_SOURCE_USABLE,
	VERB_SOURCE_CPU,
	VERB_SOURCE_SEND, /* answered when the stream is over; other verbs are served meanwhile */
	VERB_SOURCE_STOP,
	VERB_SOURCE_CLOSE,
	VERB_WATCH_BEGIN,
	VERB_WATCH_END,
	VERB_DROPS_BEGIN,
	VERB_DROPS_END,
	VERB_LOAD,
	VERB_STAT,
	VERB_UNLOAD,
	VERB_RESTORE, /* undo all, stay */
	VERB_BYE,     /* undo all, go */
	VERB_COUNT
};

struct verb_hello {
	int protocol;
	char version[32], nonce[24];
};

struct verb_hello_reply {
	int protocol;
	char version[32], nonce[24]; /* the nonce of the request */
	char kernel[80], machine[80];
	char boot[40]; /* a number of this boot of this kernel: agents that say the same serve one kernel */
	int cpus;      /* that the kernel can have: CPU numbers are below */
};

struct verb_clock_reply {
	int64_t arrived_ns, returned_ns; /* CLOCK_MONOTONIC */
};

/* An interface: where it is, and what the user calls it (for messages). */
struct verb_place {
	char name[RUN_NAME_BYTES], interface[16], netns[RUN_NAME_BYTES];
};

/* What is known of an interface; asked anew each time. */
struct domain_link {
	int ifindex;
	char kind[32], driver[32]; /* kind of rtnetlink; the driver, or the kind where there is one */
	unsigned char address[6];
	unsigned int mtu_bytes, flags;
	int master_ifindex, peer_ifindex, peer_netnsid; /* as in struct rtnl_link */
	char master[16];				/* name of the bridge or bond that it is a port of; "" none */
	char xdp[96];					/* label of the XDP program there; "" none */
	unsigned int netns_inode;			/* of its namespace */
	int uplink;			  /* 0, or the errno with which uplink_guard() refuses to generate here … */
	char uplink_text[RUN_TEXT_BYTES]; /* … and its text */
	uint64_t rx_dropped, tx_dropped;
};

struct verb_queues_reply {
	int count;
	struct rtnl_qdisc list[DOMAIN_MAX_QUEUES];
};

struct verb_cpu {
	int wanted, avoid; /* -1: none */
};

struct verb_cpu_reply {
	int usable; /* 1: `wanted` can be used */
	int other;  /* a CPU that can be used and is not `avoid`; -1 none */
};

struct verb_announce {
	struct verb_place place;
	unsigned char own[6], other[6];
};

struct verb_probe_open {
	struct verb_place place;
	char mode[16];
	int direction; /* enum run_direction */
};

struct verb_handle {
	int handle;
};

struct verb_attach_reply {
	char mode[16];
};

struct verb_arm {
	int handle;
	struct hop_arming arming;
};

struct verb_frames {
	uint64_t frames;
};

struct verb_usable {
	int port; /* enum run_port */
	unsigned int frame_bytes;
};

struct verb_usable_reply {
	int usable;
	char why_not[RUN_TEXT_BYTES];
};

struct verb_number {
	int number;
};

struct verb_send_reply {
	struct port_sent sent;
	double elapsed_s;
};

/* What a machine did between two moments. */
struct domain_machine {
	int cpu_count;
	struct run_cpu cpus[RUN_MAX_CPUS];
	int hog_count;
	struct run_hog hogs[RUN_MAX_HOGS]; /* threads that are neither ours nor the path's */
};

struct verb_drops_begin {
	uint16_t run_tag;
	uint8_t stream;
};

struct verb_drops_reply {
	int count;
	struct drop_count list[DOMAIN_MAX_DROPS];
};

struct verb_load {
	struct verb_place place;
	char mode[16];
	int direction; /* enum run_direction */
};

/* What a pinned probe has counted since it was loaded. */
struct domain_pinned {
	char interface[16], netns[RUN_NAME_BYTES], mode[16], direction[8];
	int attached;	/* 0: the interface is gone, or the program was taken off */
	int64_t age_ns; /* since it was loaded */
	uint64_t test_frames, test_bytes, other_frames, other_bytes, other_segments, stamped, stamp_errors;
	uint64_t p50_ns, p99_ns, max_ns; /* of stamped frames: since the last point that stamped */
	uint64_t path_p50_ns, path_p99_ns;
};

#define DOMAIN_MAX_PINNED 64

struct verb_stat_reply {
	int count;
	struct domain_pinned list[DOMAIN_MAX_PINNED];
};

struct verb_unload {
	char interface[16], netns[RUN_NAME_BYTES]; /* "": all */
};

/* The largest request and reply, for a buffer that takes any. */
union verb_request {
	struct verb_hello hello;
	struct verb_place place;
	struct verb_cpu cpu;
	struct verb_announce announce;
	struct verb_probe_open probe_open;
	struct verb_handle handle;
	struct verb_arm arm;
	struct source_place source;
	struct verb_usable usable;
	struct verb_number number;
	struct source_stream stream;
	struct verb_drops_begin drops;
	struct verb_load load;
	struct verb_unload unload;
};

union verb_reply {
	struct verb_hello_reply hello;
	struct verb_clock_reply clock;
	struct domain_link link;
	struct verb_queues_reply queues;
	struct verb_cpu_reply cpu;
	struct verb_handle handle;
	struct verb_attach_reply attach;
	struct verb_frames frames;
	struct hop_reading reading;
	struct verb_usable_reply usable;
	struct verb_send_reply send;
	struct domain_machine machine;
	struct verb_drops_reply drops;
	struct verb_stat_reply stat;
	struct verb_number number;
};

enum verb_row_kind {
	ROW_INT, /* int, min…max */
	ROW_U8,
	ROW_U16,
	ROW_UINT,    /* unsigned int */
	ROW_U64,     /* at most INT64_MAX */
	ROW_S64,     /* ±2^60: times and offsets whose differences do not overflow */
	ROW_NUMBER,  /* double; null: not finite */
	ROW_TEXT,    /* char[size]; control characters become '?' */
	ROW_HEX,     /* unsigned char[size], two digits each */
	ROW_WORDS,   /* uint64_t[size / 8]; zeros at the end are left out */
	ROW_BUCKETS, /* struct histogram: number and count of each bucket that is not empty */
	ROW_ARRAY,   /* elements of `size` bytes with `rows`; as many as the int at count_offset says */
};

struct verb_row {
	const char *name; /* NULL ends the rows */
	enum verb_row_kind kind;
	size_t offset, size;
	int64_t min, max;
	const struct verb_row *rows;
	size_t count_offset;
	int capacity;
};

struct verb_form {
	const char *name;
	const struct verb_row *request, *reply; /* never NULL */
};

extern const struct verb_form verb_forms[VERB_COUNT];

/* The verb of this name; -1: there is none. */
int verb_find(const char *name);

#endif
