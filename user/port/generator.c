// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps of the generators in the kernel; see generator.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/libbpf.h>

#include "base/error.h"
#include "port/generator.h"

static void *map_memory(const struct bpf_map *map, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

int generator_open(struct generator *generator, const char *interface, int ifindex, const struct bpf_map *control,
		   const struct bpf_map *state)
{
	generator->ifindex = ifindex;
	generator->control = map_memory(control, sizeof(*generator->control));
	generator->state = map_memory(state, sizeof(*generator->state));
	if (generator->control && generator->state)
		return 0;
	return error_set(ENOMEM, "%s: cannot map the generator's memory", interface);
}

void generator_close(struct generator *generator)
{
	if (generator->control)
		munmap(generator->control, sizeof(*generator->control));
	if (generator->state)
		munmap(generator->state, sizeof(*generator->state));
	generator->control = NULL;
	generator->state = NULL;
}

void generator_start(struct generator *generator, const struct port_stream *stream)
{
	struct source_control *control = generator->control;
	unsigned int copied = stream->templates->frame_bytes < HOPCAP_TEMPLATE_BYTES ? stream->templates->frame_bytes : HOPCAP_TEMPLATE_BYTES;

	memset(generator->state, 0, sizeof(*generator->state));
	memset(control, 0, sizeof(*control));
	memcpy(control->template_bytes, stream->templates->frame, copied);
	control->interval_fp = (__u64)(stream->interval_ns * (double)(1 << HOPCAP_PACE_SHIFT));
	control->ifindex = (__u32)generator->ifindex;
	control->stamp_mask = stream->stamp_interval ? stream->stamp_interval - 1 : HOPCAP_STAMP_NONE;
	control->header_offset = stream->templates->header_offset;
	control->slip_ns = PORT_SLIP_NS;
	control->frame_bytes = stream->templates->frame_bytes;
	control->frames = stream->frames;
}

uint64_t generator_frames(const struct generator *generator)
{
	return __atomic_load_n(&generator->state->sent, __ATOMIC_RELAXED);
}

void generator_result(const struct generator *generator, struct port_sent *sent)
{
	const struct source_state *state = generator->state;

	*sent = (struct port_sent){ .frames = generator_frames(generator),
				    .late_sum_ns = state->late_sum_ns,
				    .late_max_ns = state->late_max_ns,
				    .slips = state->slips,
				    .slipped_ns = state->slipped_ns };
}
