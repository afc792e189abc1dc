// SPDX-License-Identifier: GPL-2.0-or-later
/* Frames of one stream in AF_XDP memory; theory in xsk_frames.h. Called by port/xsk_transmit.c. */
#include <errno.h>
#include <string.h>

#include "port/xsk_frames.h"

#define LINE_BYTES 64

void xsk_frames_init(struct xsk_frames *frames, unsigned char *area, uint64_t first_address, unsigned int chunk_bytes,
		     unsigned int chunks)
{
	memset(frames, 0, sizeof(*frames));
	frames->area = area;
	frames->first_address = first_address;
	frames->chunk_bytes = chunk_bytes;
	frames->chunk_shift = (unsigned int)__builtin_ctz(chunk_bytes);
	frames->chunks = chunks;
}

static int set_template(struct xsk_template *own, const struct port_template *given, unsigned int chunk_bytes,
			unsigned int max_parts)
{
	unsigned int header_end = given->header_offset + HOPCAP_TEST_HEADER_BYTES;

	/* Its end is below its start for PORT_NO_HEADER. */
	if (header_end < given->header_offset || header_end > given->frame_bytes ||
	    given->header_offset < NUMBERING_PORT_BEHIND ||
	    given->udp_offset != given->header_offset - NUMBERING_PORT_BEHIND)
		return -EINVAL;
	own->free_count = 0;
	own->frame_bytes = given->frame_bytes;
	own->parts = (given->frame_bytes + chunk_bytes - 1) / chunk_bytes;
	if (own->parts > max_parts || own->parts > XSK_MAX_PARTS)
		return -EMSGSIZE;
	own->numbering = numbering_of(given);
	return 0;
}

/* Where in its chunks a frame starts. */
static uint32_t stagger(const struct xsk_template *own, unsigned int chunk_bytes, unsigned int frame)
{
	unsigned int places;

	if (own->parts > 1)
		return 0;
	places = (chunk_bytes - own->frame_bytes) / LINE_BYTES + 1;
	return frame % places * LINE_BYTES;
}

static void lay_out(struct xsk_frames *frames, const struct port_stream *stream)
{
	uint64_t base = frames->first_address;
	unsigned int chunk = 0;

	for (unsigned int t = 0; t < frames->template_count; t++) {
		struct xsk_template *own = &frames->templates[t];

		own->free_count = frames->per_template;
		for (unsigned int i = 0; i < frames->per_template; i++) {
			unsigned int index = t * frames->per_template + i;
			struct xsk_frame *frame = &frames->frames[index];

			frame->offset = (uint32_t)(base + (uint64_t)chunk * frames->chunk_bytes) +
					stagger(own, frames->chunk_bytes, index);
			frame->template_index = (uint8_t)t;
			frame->missing = 0;
			memcpy(frames->area + frame->offset, stream->templates[t].frame, own->frame_bytes);
			frames->stacks[index] = (uint16_t)index;
			for (unsigned int part = 0; part < own->parts; part++)
				frames->frame_of_chunk[chunk++] = (uint16_t)index;
		}
	}
}

int xsk_frames_prepare(struct xsk_frames *frames, const struct port_stream *stream, unsigned int max_parts)
{
	unsigned int parts = 0;

	if (frames->outstanding)
		return -EBUSY;
	if (!stream->template_count || stream->template_count > PORT_MAX_TEMPLATES)
		return -EINVAL;
	for (unsigned int t = 0; t < stream->template_count; t++) {
		int code = set_template(&frames->templates[t], &stream->templates[t], frames->chunk_bytes, max_parts);

		if (code)
			return code;
		parts += frames->templates[t].parts;
	}
	frames->template_count = stream->template_count;
	frames->per_template = frames->chunks / parts;
	if (!frames->per_template)
		return -EMSGSIZE;
	frames->flows = stream->flows ? stream->flows : 1;
	frames->next_template = frames->next_flow = 0;
	lay_out(frames, stream);
	return 0;
}

unsigned int xsk_frames_next_parts(const struct xsk_frames *frames)
{
	const struct xsk_template *own = &frames->templates[frames->next_template];

	return own->free_count ? own->parts : 0;
}

const struct xsk_frame *xsk_frames_take(struct xsk_frames *frames, uint32_t sequence, uint64_t origin_ns)
{
	struct xsk_template *own = &frames->templates[frames->next_template];
	unsigned int stack = frames->next_template * frames->per_template;
	struct xsk_frame *frame = &frames->frames[frames->stacks[stack + --own->free_count]];

	/* Chunks of one frame lie one behind the other, so a test header across two of them needs no care here. */
	numbering_write(frames->area + frame->offset, &own->numbering, sequence, frames->next_flow, origin_ns);
	if (++frames->next_template == frames->template_count)
		frames->next_template = 0;
	if (++frames->next_flow == frames->flows)
		frames->next_flow = 0;
	frame->missing = (uint8_t)own->parts;
	frames->outstanding += own->parts;
	return frame;
}

int xsk_frames_give_back(struct xsk_frames *frames, uint64_t address)
{
	struct xsk_template *own;
	struct xsk_frame *frame;
	unsigned int index;

	if (!xsk_frames_owns(frames, address))
		return -EINVAL;
	index = frames->frame_of_chunk[(address - frames->first_address) >> frames->chunk_shift];
	frame = &frames->frames[index];
	if (!frame->missing)
		return -EINVAL;
	frames->outstanding--;
	if (--frame->missing)
		return 0;
	own = &frames->templates[frame->template_index];
	frames->stacks[frame->template_index * frames->per_template + own->free_count++] = (uint16_t)index;
	return 0;
}
