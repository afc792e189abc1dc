/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stamping: the delay of the hop and of the path, and at sinks the gaps between frames and their jitter.
 *
 * Owns: the maps of times, the arithmetic of stamps, the UDP checksum of a frame that is stamped. Leaves to others: which
 * frames are stamped (hop_body.bpf.h).
 *
 * Theory.
 * - Only frames with HOPCAP_FRAME_STAMP cost a clock read. since = now - origin (mod 2^48); the hop's delay is
 *   since - last, and last := since. So every point has its own full histogram without an event leaving the kernel.
 * - Points in another kernel than the source's add an offset to their clock (measure/clocks.h), so that `now` is the
 *   source's time at every point.
 * - Invariant: last never decreases along a path inside one clock domain, and not where offsets keep it from it. A stamp that does, or that is over 2^32 ns old,
 *   is counted in stamp_errors and enters no histogram.
 * - Gaps and jitter are those of one CPU's stamped frames, in the order in which it served them: gap = now - now of the
 *   one before; jitter = |latency - latency of the one before|, summed (RFC 3550, A.8, without its smoothing).
 */
#ifndef HOPCAP_HOP_STAMP_BPF_H
#define HOPCAP_HOP_STAMP_BPF_H

#include "map_hop.h"
#include "parse.bpf.h"

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
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hop_sink);
} hop_sink SEC(".maps");

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

/* since_ns: latency of this frame; above 32 bits: not known. */
static __always_inline void count_arrival(const struct hop_seen *seen, __u64 now, __u64 since_ns)
{
	struct hop_sink *sink;
	__u32 zero = 0;
	__u64 gap_ns;

	sink = bpf_map_lookup_elem(&hop_sink, &zero);
	if (!sink)
		return;
	if (seen->first_ns) {
		gap_ns = now - seen->last_ns;
		histogram_add(sink->gap_ns, gap_ns >> 32 ? 0xffffffff : (__u32)gap_ns);
	}
	if (since_ns >> 32) {
		sink->latency_ns = 0;
		return;
	}
	if (seen->first_ns && sink->latency_ns) {
		__u64 before_ns = sink->latency_ns - 1;

		sink->jitter_sum_ns += since_ns > before_ns ? since_ns - before_ns : before_ns - since_ns;
		sink->jitter_count++;
	}
	sink->latency_ns = since_ns + 1;
}

static __always_inline void stamp(const struct hop_control *control, struct hop_counters *counters, struct test_frame *frame,
				  int is_sink)
{
	__u64 now = bpf_ktime_get_ns() + control->clock_offset_ns;
	__u64 since = (now - header_origin_ns(frame->header)) & 0xffffffffffffULL;
	__be32 *last_field = header_last(frame->header);
	__be32 before = *last_field, after;
	struct hop_histograms *histograms;
	struct hop_seen *seen;
	__u32 zero = 0, last = bpf_ntohl(before);
	int is_wrong = since > 0xffffffffULL || since < last;

	seen = bpf_map_lookup_elem(&hop_seen, &zero);
	histograms = bpf_map_lookup_elem(&hop_histograms, &zero);
	if (!seen || !histograms)
		return;
	if (is_sink)
		count_arrival(seen, now, is_wrong ? ~0ULL : since);
	if (!seen->first_ns)
		seen->first_ns = now;
	seen->last_ns = now;
	if (is_wrong) {
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

#endif
