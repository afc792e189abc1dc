// SPDX-License-Identifier: GPL-2.0-or-later
/* What a generator in the kernel is told, and what it says; see generator.h. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "port/generator.h"
#include "port/numbering.h"

#define RAMP_MAX_S 14400      /* the plan's clock wraps after 4.9 h */
#define RAMP_MAX_STEP_NS 20e9 /* bpf/source_body.bpf.h */

_Static_assert(HOPCAP_SOURCE_TEMPLATES == PORT_MAX_TEMPLATES, "a generator takes as many templates as any port");

const struct port_template *generator_longest(const struct port_stream *stream)
{
	const struct port_template *longest = stream->templates;

	for (unsigned int i = 1; i < stream->template_count; i++)
		if (stream->templates[i].frame_bytes > longest->frame_bytes)
			longest = &stream->templates[i];
	return longest;
}

/* All frames are cut from copies of the longest one, with the first bytes of their own template. */
static int shares_payload(const struct port_template *template, const struct port_template *longest)
{
	return template->frame_bytes <= HOPCAP_TEMPLATE_BYTES ||
	       !memcmp(template->frame + HOPCAP_TEMPLATE_BYTES, longest->frame + HOPCAP_TEMPLATE_BYTES,
		       template->frame_bytes - HOPCAP_TEMPLATE_BYTES);
}

int generator_check(const struct port_stream *stream, const char *interface)
{
	const struct port_template *longest;

	if (!stream->template_count || stream->template_count > PORT_MAX_TEMPLATES)
		return error_set(EINVAL,
				 "%s: %u kinds of frames; this port takes 1 to %d. Captures are sent with port packet",
				 interface, stream->template_count, PORT_MAX_TEMPLATES);
	if (stream->departures_ns)
		return error_set(EINVAL, "%s: this port keeps a rate, not the times of a capture; use port packet",
				 interface);
	if (stream->ramp_s > 0 &&
	    (stream->ramp_s > RAMP_MAX_S || stream->interval_ns * stream->burst > RAMP_MAX_STEP_NS ||
	     stream->interval_ns > RAMP_MAX_STEP_NS))
		return error_set(EINVAL,
				 "%s: a ramp of this port takes at most %d s, with departures every 20 s or more often",
				 interface, RAMP_MAX_S);
	longest = generator_longest(stream);
	for (unsigned int i = 0; i < stream->template_count; i++) {
		const struct port_template *template = &stream->templates[i];

		if (template->header_offset == PORT_NO_HEADER)
			return error_set(EINVAL, "%s: this port sends test frames only; use port packet for others",
					 interface);
		if (template->header_offset < NUMBERING_PORT_BEHIND ||
		    template->header_offset > HOPCAP_TEMPLATE_BYTES - HOPCAP_TEST_HEADER_BYTES ||
		    template->frame_bytes < template->header_offset + HOPCAP_TEST_HEADER_BYTES)
			return error_set(EINVAL, "%s: a test header at byte %u of a frame of %u does not fit this port",
					 interface, template->header_offset, template->frame_bytes);
		if (!shares_payload(template, longest))
			return error_set(EINVAL, "%s: frames of this port share one payload, and these differ",
					 interface);
	}
	return 0;
}

static void set_template(struct source_template *to, const struct port_template *from)
{
	const struct numbering numbering = numbering_of(from);

	memset(to, 0, sizeof(*to));
	memcpy(to->bytes, from->frame,
	       from->frame_bytes < HOPCAP_TEMPLATE_BYTES ? from->frame_bytes : HOPCAP_TEMPLATE_BYTES);
	to->frame_bytes = from->frame_bytes;
	to->header_offset = from->header_offset;
	to->checksum_base = numbering.checksum_base;
	to->source_port = numbering.source_port;
}

void generator_start(struct generator *generator, const struct port_stream *stream, uint32_t smooth_ns)
{
	struct source_control *control = generator->control;
	unsigned int burst = stream->burst ? stream->burst : 1;

	memset(generator->state, 0, sizeof(*generator->state));
	memset(generator->lateness, 0, sizeof(*generator->lateness) * HOPCAP_HISTOGRAM_BUCKETS);
	memset(control, 0, sizeof(*control));
	for (unsigned int i = 0; i < stream->template_count; i++)
		set_template(&control->templates[i], &stream->templates[i]);
	if (stream->interval_ns > 0)
		control->interval_fp = (__u64)(stream->interval_ns * burst * (double)(1 << HOPCAP_PACE_SHIFT));
	if (stream->interval_ns > 0 && stream->ramp_s > 0)
		control->ramp_ns = (__u64)(stream->ramp_s * 1e9);
	control->ifindex = (__u32)generator->ifindex;
	control->stamp_mask = stream->stamp_interval ? stream->stamp_interval - 1 : HOPCAP_STAMP_NONE;
	control->slip_ns = PORT_SLIP_NS;
	control->catch_up = stream->catch_up ? 1 : 0;
	control->smooth_ns = smooth_ns;
	control->burst = burst;
	control->template_count = stream->template_count;
	control->flows = stream->flows;
	control->frames = stream->frames;
}

uint64_t generator_frames(const struct generator *generator)
{
	return __atomic_load_n(&generator->state->sent, __ATOMIC_RELAXED);
}

void generator_result(const struct generator *generator, const struct port_stream *stream, struct port_sent *sent)
{
	const struct source_state *state = generator->state;
	uint64_t frames = generator_frames(generator);

	*sent = (struct port_sent){ .frames = frames,
				    .bytes = numbering_stream_bytes(stream, frames),
				    .refused = state->refused,
				    .late_sum_ns = state->late_sum_ns,
				    .late_max_ns = state->late_max_ns,
				    .slips = state->slips,
				    .slipped_ns = state->slipped_ns,
				    .behind_sum_ns = state->behind_sum_ns };
	if (stream->interval_ns <= 0)
		return;
	sent->first_ns = state->first_ns;
	sent->last_ns = state->last_ns;
	memcpy(sent->lateness_ns.buckets, generator->lateness, sizeof(sent->lateness_ns.buckets));
}
