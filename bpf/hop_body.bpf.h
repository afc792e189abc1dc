/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one body of a hop probe; hop_xdp and hop_tc differ only in how they get at the frame.
 *
 * Owns: the maps of a probe, counting, stamping, the sequence ledger of a sink. Leaves to others: finding the header
 * (parse.bpf.h), reading the maps (user/probe/hop_probe.c).
 *
 * Theory.
 * - Every frame is counted, on its CPU, without atomics: a program of one hook is not re-entered on one CPU (XDP and tc
 *   run with bottom halves off).
 * - Only frames with HOPCAP_FRAME_STAMP cost a clock read. since = now - origin (mod 2^48); the hop's delay is
 *   since - last, and last := since. So every point has its own full histogram without an event leaving the kernel.
 * - Invariant: last never decreases along a path inside one clock domain. A stamp that does, or that is over 2^32 ns old,
 *   is counted in stamp_errors and enters no histogram.
 * - Conservation: a test frame that is dropped here (action drop) was counted here first; so frames counted at two
 *   neighbouring points differ by just what the hop between them lost.
 * - Ledger: bit s of the array is set when sequence s was seen. Setting it is atomic, since two CPUs may serve one sink;
 *   so "duplicate" is exact. "Reordered" compares with the highest sequence seen, which is exact when one CPU serves the
 *   sink and may miss, never invent more than there are, when several do.
 */
#ifndef HOPCAP_HOP_BODY_BPF_H
#define HOPCAP_HOP_BODY_BPF_H

#include <stddef.h>

#include "map_hop.h"
#include "parse.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hop_control);
} hop_control SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hop_counters);
} hop_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hop_seen);
} hop_seen SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hop_histograms);
} hop_histograms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* user space makes it HOPCAP_LEDGER_WORDS for a sink */
	__type(key, __u32);
	__type(value, __u64);
} hop_ledger SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hop_ledger_state);
} hop_ledger_state SEC(".maps");

static __always_inline void count_other(struct hop_counters *counters, __u32 bytes, __u32 segments)
{
	static const __u32 bounds[HOPCAP_SIZE_BUCKETS] = HOPCAP_SIZE_BOUNDS;
	__u32 bucket = 0;

	counters->other_frames++;
	counters->other_bytes += bytes;
	counters->other_segments += segments;
#pragma unroll
	for (int i = 0; i < HOPCAP_SIZE_BUCKETS - 1; i++)
		bucket += bytes > bounds[i];
	counters->other_sizes.frames[bucket & (HOPCAP_SIZE_BUCKETS - 1)]++;
}

static __always_inline void count_sequence(struct hop_counters *counters, __u32 sequence)
{
	struct hop_ledger_state *state;
	__u32 zero = 0, word_index = sequence / 64;
	__u64 bit = 1ULL << (sequence & 63);
	__u64 *word;

	state = bpf_map_lookup_elem(&hop_ledger_state, &zero);
	if (!state)
		return;
	if (sequence + 1 < state->highest)
		counters->reordered++;
	else
		state->highest = sequence + 1;
	word = bpf_map_lookup_elem(&hop_ledger, &word_index);
	if (!word)
		counters->beyond++;
	else if (__sync_fetch_and_or(word, bit) & bit)
		counters->duplicates++;
}

/* A UDP checksum in use (always, over IPv6) stays right when a 32-bit field on a 16-bit boundary changes (RFC 1624, eq. 3). */
static __always_inline void update_checksum(struct udphdr *udp, __be32 before, __be32 after)
{
	__u64 sum = (__u16)~udp->check;

	sum += (__u16) ~(before & 0xffff);
	sum += (__u16) ~(before >> 16);
	sum += (after & 0xffff) + (after >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	udp->check = (__u16)~sum ? (__u16)~sum : 0xffff;
}

/* The verifier forgets the bound of a shifted sum; the barrier keeps the compiler from removing the test it needs. */
static __always_inline void histogram_add(__u64 *buckets, __u32 value_ns)
{
	__u32 bucket = hopcap_histogram_bucket(value_ns);

	barrier_var(bucket);
	if (bucket < HOPCAP_HISTOGRAM_BUCKETS)
		buckets[bucket]++;
}

static __always_inline void stamp(struct hop_counters *counters, struct test_frame *frame)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 since = (now - header_origin_ns(frame->header)) & 0xffffffffffffULL;
	__be32 *last_field = header_last(frame->header);
	__be32 before = *last_field, after;
	struct hop_histograms *histograms;
	struct hop_seen *seen;
	__u32 zero = 0, last = bpf_ntohl(before);

	seen = bpf_map_lookup_elem(&hop_seen, &zero);
	histograms = bpf_map_lookup_elem(&hop_histograms, &zero);
	if (!seen || !histograms)
		return;
	if (!seen->first_ns)
		seen->first_ns = now;
	seen->last_ns = now;
	if (since > 0xffffffffULL || since < last) {
		counters->stamp_errors++;
		return;
	}
	histogram_add(histograms->hop_ns, since - last);
	histogram_add(histograms->path_ns, since);
	counters->stamped++;
	after = bpf_htonl((__u32)since);
	*last_field = after;
	if (frame->udp->check) /* 0: the sender computed none */
		update_checksum(frame->udp, before, after);
}

/* Whether data…data_end starts with a frame of the stream that this probe was told to count; *frame is filled then. */
static __always_inline int is_counted(const struct hop_control *control, void *data, void *data_end,
				      struct test_frame *frame)
{
	if (unlikely(!parse_plain_test_frame(data, data_end, frame)) && !parse_test_frame(data, data_end, frame))
		return 0;
	return control->run_tag && header_run_tag(frame->header) == control->run_tag &&
	       header_stream(frame->header) == control->stream;
}

/*
 * Counts a test frame of `bytes`, of which data…data_end can be read, and stamps it when it is flagged. Returns
 * HOPCAP_HOP_PASS or HOPCAP_HOP_DROP. A frame of somebody else's is not counted yet: *other is set, and the caller passes it
 * to count_other() with what its hook knows of the frame. All that is rare stands out of line, since a probe runs in caches
 * that the path has just filled.
 */
static __always_inline __u32 hop_frame(void *data, void *data_end, __u32 bytes, struct hop_counters **other)
{
	struct hop_counters *counters;
	struct hop_control *control;
	struct test_frame frame;
	__u32 zero = 0;

	*other = NULL;
	control = bpf_map_lookup_elem(&hop_control, &zero);
	counters = bpf_map_lookup_elem(&hop_counters, &zero);
	if (!counters || !control)
		return HOPCAP_HOP_PASS;
	if (unlikely(!is_counted(control, data, data_end, &frame))) {
		*other = counters;
		return HOPCAP_HOP_PASS;
	}
	counters->test_frames++;
	counters->test_bytes += bytes;
	if (unlikely(control->ledger))
		count_sequence(counters, header_sequence(frame.header));
	if (unlikely(header_flags(frame.header) & HOPCAP_FRAME_STAMP))
		stamp(counters, &frame);
	return control->action;
}

#endif
