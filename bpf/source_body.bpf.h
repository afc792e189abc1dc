/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the generators source_xdp and source_tc share: the plan of departures, the numbering of frames, their global
 * data.
 *
 * Theory. A planned departure is next_fp, advanced by interval_fp a burst: errors do not add up. A frame leaves when
 * now >= planned; lateness = now - planned. Both instants are kept modulo 2^44 ns, which a clock that counts from boot
 * has used up after 4.9 hours: so only their difference means something, up to 2^43 ns. When the program was kept from
 * running for longer than slip_ns, the plan is moved to now and the gap counted: catching up would send a burst that no
 * one asked for and overflow the first queue. The frames of a burst that was asked for are all planned for one instant,
 * and the later ones are late by what the earlier ones took; so a slip is looked for at the start of a burst only.
 *
 * Smooth. A hypervisor takes a CPU away some thousand times a second for 20 to 60 us, which is less than slip_ns: caught
 * up at once, that is a burst of as many frames at 1 Mpps, and it is nearly all of the mean lateness (0.7 us for 900 holes
 * a second). So with smooth_ns the plan moves already after as little, and the debt is paid back in even steps. As long as
 * the debt is small, that is: what an eighth of the time cannot pay back is caught up at once again, for the rate has to be
 * kept.
 *
 * Ramp. At planned time t after the start the rate is r(t) = r * (1/10 + 9/10 * t/T); the step to the next departure is
 * 1/r(t) = interval * T / (T/10 + 9t/10), whose factor (1…10) is computed to 2^-16 and applied to the interval in units
 * of 2^-10 ns. So T may be 2^44 ns and an interval 26 s before 64 bits overflow. From T on the step is interval_fp,
 * exactly.
 *
 * Checksum (RFC 1071). With base = ~checksum of the template, whose changing fields are 0, that of a frame is
 * ~(base + fields) in one's complement arithmetic; what it would make 0 is sent as 0xffff (RFC 768).
 */
#ifndef HOPCAP_SOURCE_BODY_BPF_H
#define HOPCAP_SOURCE_BODY_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "histogram_layout.h"
#include "map_source.h"
#include "wire_test_frame.h"

#define RAMP_SHIFT 16
#define RAMP_INTERVAL_SHIFT 10
#define UDP_CHECKSUM_BEHIND 2 /* the UDP checksum ends where the test header begins */
#define UDP_PORT_BEHIND 8
#define SMOOTH_DEBT_FP (250000ULL << HOPCAP_PACE_SHIFT)

struct source_control source_control;
struct source_state source_state;
/* Lateness of every paced frame, buckets of histogram_layout.h. */
__u64 source_lateness[HOPCAP_HISTOGRAM_BUCKETS];

/* The verifier forgets the bound of a shifted sum; the barrier keeps the compiler from removing the test it needs. */
static __always_inline void record_lateness(struct source_state *state, __u64 late_ns)
{
	__u32 bucket = hopcap_histogram_bucket(late_ns > 0xffffffff ? 0xffffffff : (__u32)late_ns);

	state->late_sum_ns += late_ns;
	if (late_ns > state->late_max_ns)
		state->late_max_ns = late_ns;
	barrier_var(bucket);
	if (bucket < HOPCAP_HISTOGRAM_BUCKETS)
		source_lateness[bucket]++;
}

/* Time from the planned departure next_fp to the one after it. */
static __always_inline __u64 departure_step(const struct source_control *control, struct source_state *state)
{
	__u64 elapsed_ns, factor;

	if (!control->ramp_ns || state->ramped)
		return control->interval_fp;
	elapsed_ns = (state->next_fp - state->start_fp) >> HOPCAP_PACE_SHIFT;
	if (elapsed_ns >= control->ramp_ns) {
		state->ramped = 1;
		return control->interval_fp;
	}
	factor = (control->ramp_ns << RAMP_SHIFT) / (control->ramp_ns / 10 + elapsed_ns * 9 / 10 + 1);
	return (control->interval_fp >> RAMP_INTERVAL_SHIFT) * factor >> (RAMP_SHIFT - RAMP_INTERVAL_SHIFT);
}

/* A step of the plan, shorter by an eighth while there is time to make up for: 8/7 of the rate, never a burst. */
static __always_inline __u64 caught_up(struct source_state *state, __u64 step_fp)
{
	__u64 gain_fp = step_fp >> 3;

	if (!state->debt_fp)
		return step_fp;
	if (gain_fp > state->debt_fp)
		gain_fp = state->debt_fp;
	state->debt_fp -= gain_fp;
	return step_fp - gain_fp;
}

/* How late a departure may be without moving the plan. */
static __always_inline __u64 slip_limit(const struct source_control *control, const struct source_state *state)
{
	return !control->smooth_ns || state->debt_fp > SMOOTH_DEBT_FP ? control->slip_ns : control->smooth_ns;
}

/* 1 when a departure is due at now_ns, with the plan moved to the next one. */
static __always_inline int departure_due(const struct source_control *control, struct source_state *state, __u64 now_ns)
{
	__u64 now_fp = now_ns << HOPCAP_PACE_SHIFT, late_ns;
	__s64 late_fp;

	if (!state->next_fp) /* 0 means that, so a start at 0 is one at -2^-20 ns */
		state->next_fp = state->start_fp = now_fp ? now_fp : ~0ULL;
	late_fp = now_fp - state->next_fp;
	if (late_fp < 0)
		return 0;
	late_ns = late_fp >> HOPCAP_PACE_SHIFT;
	state->behind_sum_ns += late_ns + (state->debt_fp >> HOPCAP_PACE_SHIFT);
	if (late_ns > slip_limit(control, state) && !state->burst_position) {
		state->slips++;
		state->slipped_ns += late_ns;
		state->next_fp += late_ns << HOPCAP_PACE_SHIFT;
		if (control->catch_up)
			state->debt_fp += late_ns << HOPCAP_PACE_SHIFT;
	}
	record_lateness(state, late_ns);
	if (++state->burst_position < control->burst)
		return 1;
	state->burst_position = 0;
	state->next_fp += caught_up(state, departure_step(control, state));
	return 1;
}

/*
 * Whether the next frame leaves now. *now_ns is the time when it had to be read, else 0.
 */
static __always_inline int may_depart(const struct source_control *control, struct source_state *state, __u64 *now_ns)
{
	*now_ns = 0;
	if (state->sent >= control->frames)
		return 0;
	if (!control->interval_fp)
		return 1;
	*now_ns = bpf_ktime_get_ns();
	if (!departure_due(control, state, *now_ns))
		return 0;
	if (!state->sent)
		state->first_ns = *now_ns;
	state->last_ns = *now_ns;
	return 1;
}

/* The origin time that the next frame carries; 0: it is not stamped. */
static __always_inline __u64 stamp_time(const struct source_control *control, struct source_state *state, __u64 now_ns)
{
	if (control->stamp_mask == HOPCAP_STAMP_NONE || (state->sent & control->stamp_mask))
		return 0;
	if (now_ns)
		return now_ns;
	now_ns = bpf_ktime_get_ns();
	if (!state->sent)
		state->first_ns = now_ns;
	state->last_ns = now_ns;
	return now_ns;
}

static __always_inline void write_stamp(void *header, __u64 origin_ns)
{
	*(__u8 *)(header + HOPCAP_OFFSET_FLAGS) = HOPCAP_FRAME_STAMP;
	*(__be16 *)(header + HOPCAP_OFFSET_ORIGIN_HIGH16) = bpf_htons((__u16)(origin_ns >> 32));
	*(__be32 *)(header + HOPCAP_OFFSET_ORIGIN_LOW32) = bpf_htonl((__u32)origin_ns);
}

static __always_inline __be16 checksum_of(__u32 base, __u32 flow, __u32 sequence, __u64 origin_ns)
{
	__u64 sum = (__u64)base + flow + (sequence >> 16) + (sequence & 0xffff);
	__u16 checksum;

	if (origin_ns)
		sum += (HOPCAP_FRAME_STAMP << 8) + (origin_ns >> 32 & 0xffff) + (origin_ns >> 16 & 0xffff) +
		       (origin_ns & 0xffff);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	checksum = ~sum;
	return checksum ? bpf_htons(checksum) : 0xffff;
}

/*
 * Writes what changes from frame to frame into a test header, and the UDP header in front of it, that hold the
 * template's bytes: sequence, stamp, port of the flow, checksum.
 */
static __always_inline void number_frame(void *header, const struct source_template *template,
					 const struct source_control *control, struct source_state *state, __u64 now_ns)
{
	__u64 origin_ns = stamp_time(control, state, now_ns);
	__u32 sequence = state->sent, flow = state->flow_next;

	*(__be32 *)(header + HOPCAP_OFFSET_SEQUENCE) = bpf_htonl(sequence);
	if (origin_ns)
		write_stamp(header, origin_ns);
	*(__be16 *)(header - UDP_PORT_BEHIND) = bpf_htons((__u16)(template->source_port + flow));
	if (template->checksum_base)
		*(__be16 *)(header - UDP_CHECKSUM_BEHIND) =
			checksum_of(template->checksum_base, flow, sequence, origin_ns);
}

/* The frame has left: the next one is another flow, and may be of another template. */
static __always_inline void frame_left(const struct source_control *control, struct source_state *state)
{
	state->sent++;
	if (++state->flow_next >= control->flows)
		state->flow_next = 0;
	if (++state->template_next >= control->template_count)
		state->template_next = 0;
}

#endif
