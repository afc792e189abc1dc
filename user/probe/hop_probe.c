// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hop probes; see hop_probe.h. Counters in the maps only grow: arming takes a snapshot, reading subtracts it, so a frame that
 * is counted while we read is counted in one reading or the next, never in neither.
 */
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/error.h"
#include "base/undo.h"
#include "hop_tc.skel.h"
#include "hop_xdp.skel.h"
#include "probe/hop_probe.h"
#include "sys/bpf_attach.h"
#include "sys/link_state.h"
#include "sys/netns.h"

struct maps {
	struct bpf_map *control, *counters, *seen, *histograms, *sink, *tracks, *ledger;
};

/* What one CPU has counted. */
struct cpu_counts {
	struct hop_counters *counters; /* an element a CPU */
	struct hop_histograms *histograms;
	struct hop_sink *sink;
	struct ledger_track *tracks; /* streams times CPUs */
};

struct hop_probe {
	struct run_point point;
	int ifindex;
	struct hop_xdp_bpf *xdp; /* one of these two */
	struct hop_tc_bpf *tc;
	struct maps maps;
	int program_fd;
	struct bpf_attachment attachment;
	struct hop_control *control;
	int cpu_count, streams;
	int is_sink;
	struct cpu_counts now, armed;
	struct hop_seen *seen;
	struct ledger_track *later; /* tracks of one stream, read once more */
	uint64_t armed_frames;
};

static int uses_xdp(const struct run_point *point)
{
	return !strcmp(point->mode, "native") || !strcmp(point->mode, "generic");
}

#define TAKE_MAPS(skeleton)                                                                                     \
	((struct maps){ (skeleton)->maps.hop_control, (skeleton)->maps.hop_counters, (skeleton)->maps.hop_seen, \
			(skeleton)->maps.hop_histograms, (skeleton)->maps.hop_sink, (skeleton)->maps.hop_tracks, \
			(skeleton)->maps.hop_ledger })

static void size_maps(const struct hop_probe *probe)
{
	bpf_map__set_max_entries(probe->maps.tracks, (__u32)probe->streams);
	bpf_map__set_max_entries(probe->maps.ledger, (__u32)probe->streams * LEDGER_WORDS);
}

static int load(struct hop_probe *probe)
{
	int code;

	if (uses_xdp(&probe->point)) {
		probe->xdp = hop_xdp_bpf__open();
		if (!probe->xdp)
			return -errno;
		probe->maps = TAKE_MAPS(probe->xdp);
		size_maps(probe);
		code = hop_xdp_bpf__load(probe->xdp);
		probe->program_fd = bpf_program__fd(probe->xdp->progs.hop_xdp);
	} else {
		probe->tc = hop_tc_bpf__open();
		if (!probe->tc)
			return -errno;
		probe->maps = TAKE_MAPS(probe->tc);
		size_maps(probe);
		code = hop_tc_bpf__load(probe->tc);
		probe->program_fd = bpf_program__fd(probe->tc->progs.hop_tc);
	}
	return code;
}

static void *map_memory(const struct bpf_map *map, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static int allocate_counts(struct cpu_counts *counts, size_t cpus, size_t streams)
{
	counts->counters = calloc(cpus, sizeof(*counts->counters));
	counts->histograms = calloc(cpus, sizeof(*counts->histograms));
	counts->sink = calloc(cpus, sizeof(*counts->sink));
	counts->tracks = calloc(cpus * streams, sizeof(*counts->tracks));
	return counts->counters && counts->histograms && counts->sink && counts->tracks;
}

static void free_counts(struct cpu_counts *counts)
{
	free(counts->counters);
	free(counts->histograms);
	free(counts->sink);
	free(counts->tracks);
}

static int allocate(struct hop_probe *probe)
{
	size_t cpus = (size_t)probe->cpu_count, streams = (size_t)probe->streams;

	probe->control = map_memory(probe->maps.control, sizeof(*probe->control));
	probe->seen = calloc(cpus, sizeof(*probe->seen));
	probe->later = calloc(cpus, sizeof(*probe->later));
	if (!allocate_counts(&probe->now, cpus, streams) || !allocate_counts(&probe->armed, cpus, streams) ||
	    !probe->control || !probe->seen || !probe->later)
		return error_set(ENOMEM, "%s: out of memory for the probe's counters", probe->point.name);
	return 0;
}

static int find_interface(struct hop_probe *probe)
{
	struct netns_token token;
	int code = netns_enter(probe->point.netns, &token);

	if (code)
		return code;
	probe->ifindex = (int)if_nametoindex(probe->point.interface);
	netns_leave(&token);
	return probe->ifindex ? 0 : error_set(ENODEV, "%s: no such interface", probe->point.name);
}

int hop_probe_open(const struct run_point *point, struct hop_probe **probe)
{
	return hop_probe_open_streams(point, 1, probe);
}

int hop_probe_open_streams(const struct run_point *point, int streams, struct hop_probe **result)
{
	struct hop_probe *probe;
	int code;

	if (streams < 1 || streams > LEDGER_MAX_STREAMS)
		return error_set(EINVAL, "%s: a sink takes 1 to %d streams, not %d", point->name, LEDGER_MAX_STREAMS, streams);
	probe = calloc(1, sizeof(*probe));
	if (!probe)
		return error_set(ENOMEM, "%s: out of memory", point->name);
	probe->point = *point;
	probe->streams = streams;
	probe->cpu_count = libbpf_num_possible_cpus();
	code = find_interface(probe);
	if (!code) {
		code = load(probe);
		if (code)
			code = error_set(-code,
					 "%s: cannot load the hop probe: %s; root (CAP_BPF, CAP_NET_ADMIN) is needed",
					 point->name, strerror(-code));
	}
	if (!code)
		code = allocate(probe);
	if (code) {
		hop_probe_close(probe);
		return code;
	}
	*result = probe;
	return 0;
}

void hop_probe_close(struct hop_probe *probe)
{
	if (!probe)
		return;
	hop_probe_detach(probe);
	if (probe->control)
		munmap(probe->control, sizeof(*probe->control));
	free_counts(&probe->now);
	free_counts(&probe->armed);
	free(probe->seen);
	free(probe->later);
	hop_xdp_bpf__destroy(probe->xdp);
	hop_tc_bpf__destroy(probe->tc);
	free(probe);
}

int hop_probe_attach(struct hop_probe *probe, const char **mode_name)
{
	const struct run_point *point = &probe->point;
	struct netns_token token;
	int code;

	if (probe->attachment.kind == BPF_ATTACH_NONE) {
		code = netns_enter(point->netns, &token);
		if (code)
			return code;
		if (uses_xdp(point))
			code = bpf_attach_xdp(probe->program_fd, point->interface, probe->ifindex,
					      !strcmp(point->mode, "native"), &probe->attachment);
		else
			code = bpf_attach_tc(probe->program_fd, point->interface, point->netns, probe->ifindex,
					     point->direction == RUN_DIRECTION_IN, &probe->attachment);
		netns_leave(&token);
		if (code)
			return code;
	}
	if (mode_name)
		*mode_name = probe->attachment.kind == BPF_ATTACH_TCX	   ? "tcx"
			     : probe->attachment.kind == BPF_ATTACH_CLSACT ? "clsact"
									   : point->mode;
	return 0;
}

void hop_probe_detach(struct hop_probe *probe)
{
	struct netns_token token;

	if (probe->attachment.kind == BPF_ATTACH_NONE)
		return;
	if (netns_enter(probe->point.netns, &token))
		return;
	bpf_detach(&probe->attachment);
	netns_leave(&token);
}

static int read_counters(const struct hop_probe *probe, struct hop_counters *counters)
{
	__u32 zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(probe->maps.counters), &zero, counters))
		return error_set(errno, "%s: cannot read the probe: %s", probe->point.name, strerror(errno));
	return 0;
}

/* What only sinks count is read of sinks only. */
static int read_maps(const struct hop_probe *probe, int is_sink, const struct cpu_counts *counts)
{
	__u32 zero = 0;
	int code = read_counters(probe, counts->counters);

	if (code)
		return code;
	code = bpf_map_lookup_elem(bpf_map__fd(probe->maps.histograms), &zero, counts->histograms);
	if (!code && is_sink)
		code = bpf_map_lookup_elem(bpf_map__fd(probe->maps.sink), &zero, counts->sink);
	for (__u32 stream = 0; !code && is_sink && stream < (__u32)probe->streams; stream++)
		code = bpf_map_lookup_elem(bpf_map__fd(probe->maps.tracks), &stream,
					   counts->tracks + stream * (size_t)probe->cpu_count);
	return code ? error_set(errno, "%s: cannot read the probe: %s", probe->point.name, strerror(errno)) : 0;
}

/* Above every place that any CPU has marked in any stream: then all that stands in the ledger is old, and nothing need be cleared. */
static uint64_t next_base(const struct hop_probe *probe)
{
	uint64_t highest = probe->control->ledger_base;

	for (size_t i = 0; i < (size_t)probe->streams * (size_t)probe->cpu_count; i++)
		if (probe->armed.tracks[i].next > highest)
			highest = probe->armed.tracks[i].next;
	return ledger_next_base(highest);
}

int hop_probe_arm_as(struct hop_probe *probe, const struct hop_arming *arming)
{
	struct hop_control *control = probe->control;
	__u32 zero = 0;
	int code;

	if (arming->streams < 1 || arming->streams > probe->streams)
		return error_set(EINVAL, "%s: the probe was opened for %d streams, not %d", probe->point.name, probe->streams,
				 arming->streams);
	control->learn = 0;
	control->begun_tag = 0;
	__atomic_store_n(&control->run_tag, 0, __ATOMIC_SEQ_CST); /* count nothing meanwhile */
	code = read_maps(probe, arming->sink, &probe->armed);
	if (code)
		return code;
	memset(probe->seen, 0, (size_t)probe->cpu_count * sizeof(*probe->seen));
	bpf_map_update_elem(bpf_map__fd(probe->maps.seen), &zero, probe->seen, BPF_ANY);
	probe->armed_frames = 0;
	for (int cpu = 0; cpu < probe->cpu_count; cpu++)
		probe->armed_frames += probe->armed.counters[cpu].test_frames;
	probe->is_sink = arming->sink;
	if (arming->sink)
		control->ledger_base = next_base(probe);
	control->action = arming->drop ? HOPCAP_HOP_DROP : HOPCAP_HOP_PASS;
	control->sink = arming->sink ? 1 : 0;
	control->verify = arming->verify ? 1 : 0;
	control->stream = arming->first_stream;
	control->stream_count = (__u8)arming->streams;
	control->clock_offset_ns = arming->clock_offset_ns;
	__atomic_store_n(&control->run_tag, arming->run_tag, __ATOMIC_RELEASE);
	__atomic_store_n(&control->learn, arming->learn && !arming->run_tag ? 1 : 0, __ATOMIC_RELEASE);
	return 0;
}

int hop_probe_arm(struct hop_probe *probe, uint16_t run_tag, uint8_t stream, int as_sink)
{
	const struct hop_arming arming = {
		.run_tag = run_tag, .first_stream = stream, .streams = 1, .sink = as_sink, .drop = as_sink
	};

	return hop_probe_arm_as(probe, &arming);
}

uint64_t hop_probe_count(const struct hop_probe *probe)
{
	uint64_t frames = 0;

	if (read_counters(probe, probe->now.counters))
		return 0;
	for (int cpu = 0; cpu < probe->cpu_count; cpu++)
		frames += probe->now.counters[cpu].test_frames;
	return frames - probe->armed_frames;
}

/* All counters are u64, so one CPU's growth is a subtraction word by word. */
static void add_growth(struct hop_counters *total, const struct hop_counters *now, const struct hop_counters *armed)
{
	const __u64 *after = (const __u64 *)now, *before = (const __u64 *)armed;
	__u64 *sum = (__u64 *)total;

	for (unsigned int i = 0; i < sizeof(*total) / sizeof(__u64); i++)
		sum[i] += after[i] - before[i];
}

static void add_buckets(struct histogram *histogram, const __u64 *now, const __u64 *armed)
{
	for (unsigned int i = 0; i < HOPCAP_HISTOGRAM_BUCKETS; i++)
		histogram->buckets[i] += now[i] - armed[i];
}

static void read_seen(const struct hop_probe *probe, struct hop_reading *reading)
{
	__u32 zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(probe->maps.seen), &zero, probe->seen))
		return;
	for (int cpu = 0; cpu < probe->cpu_count; cpu++) {
		const struct hop_seen *seen = &probe->seen[cpu];

		if (seen->first_ns && (!reading->first_ns || seen->first_ns < reading->first_ns))
			reading->first_ns = seen->first_ns;
		if (seen->last_ns > reading->last_ns)
			reading->last_ns = seen->last_ns;
	}
}

struct stream_words {
	const struct hop_probe *probe;
	uint32_t stream;
};

static uint64_t word_at(void *context, uint32_t index)
{
	const struct stream_words *words = context;
	__u32 key = words->stream * LEDGER_WORDS + index;
	uint64_t word = 0;

	bpf_map_lookup_elem(bpf_map__fd(words->probe->maps.ledger), &key, &word);
	return word;
}

/*
 * Frames that a CPU has not marked yet may turn out to be duplicates of another CPU's. Only once the frames have stopped: words
 * that are read while CPUs are marking them would say so of frames that are their own.
 */
static void settle_streams(const struct hop_probe *probe, struct hop_reading *reading)
{
	size_t cpus = (size_t)probe->cpu_count, bytes = cpus * sizeof(struct ledger_track);

	for (uint32_t stream = 0; stream < (uint32_t)probe->streams; stream++) {
		struct ledger_track *tracks = probe->now.tracks + stream * cpus, *later = probe->later;
		struct ledger_counts settled = reading->streams[stream];
		struct stream_words words = { probe, stream };

		ledger_counts_settle(&settled, tracks, probe->cpu_count, probe->control->ledger_base, word_at, &words);
		if (!memcmp(&settled, &reading->streams[stream], sizeof(settled)))
			continue;
		if (!bpf_map_lookup_elem(bpf_map__fd(probe->maps.tracks), &stream, later) && !memcmp(tracks, later, bytes))
			reading->streams[stream] = settled;
	}
}

static void add_sink(const struct hop_probe *probe, int cpu, struct hop_reading *reading)
{
	const struct hop_sink *now = &probe->now.sink[cpu], *armed = &probe->armed.sink[cpu];

	add_buckets(&reading->gap_ns, now->gap_ns, armed->gap_ns);
	reading->jitter_sum_ns += now->jitter_sum_ns - armed->jitter_sum_ns;
	reading->jitter_count += now->jitter_count - armed->jitter_count;
	for (int stream = 0; stream < probe->streams; stream++) {
		size_t index = (size_t)stream * (size_t)probe->cpu_count + (size_t)cpu;

		ledger_counts_add(&reading->streams[stream], &probe->now.tracks[index], &probe->armed.tracks[index],
				  probe->control->ledger_base);
	}
}

int hop_probe_read(const struct hop_probe *probe, struct hop_reading *reading)
{
	uint64_t most = 0;
	int code = read_maps(probe, probe->is_sink, &probe->now);

	if (code)
		return code;
	memset(reading, 0, sizeof(*reading));
	reading->cpu = -1;
	reading->run_tag = (uint16_t)__atomic_load_n(&probe->control->run_tag, __ATOMIC_RELAXED);
	if (reading->run_tag && probe->control->begun_tag == reading->run_tag)
		reading->begun_streams = probe->control->begun_streams;
	for (int cpu = 0; cpu < probe->cpu_count; cpu++) {
		const struct hop_histograms *now = &probe->now.histograms[cpu], *armed = &probe->armed.histograms[cpu];
		uint64_t frames = probe->now.counters[cpu].test_frames - probe->armed.counters[cpu].test_frames;

		add_growth(&reading->total, &probe->now.counters[cpu], &probe->armed.counters[cpu]);
		reading->cpu_frames[cpu < RUN_MAX_CPUS ? cpu : RUN_MAX_CPUS - 1] += frames;
		if (frames > most) {
			most = frames;
			reading->cpu = cpu;
		}
		add_buckets(&reading->hop_ns, now->hop_ns, armed->hop_ns);
		add_buckets(&reading->path_ns, now->path_ns, armed->path_ns);
		if (probe->is_sink)
			add_sink(probe, cpu, reading);
	}
	if (probe->is_sink)
		settle_streams(probe, reading);
	read_seen(probe, reading);
	if (reading->total.test_frames)
		reading->cpu_share = (double)most / (double)reading->total.test_frames;
	return 0;
}

int hop_probe_alive(const struct hop_probe *probe)
{
	return link_state_check(probe->point.interface, probe->point.netns, probe->ifindex);
}

static int pin(const struct hop_probe *probe, const char *directory, const char *name, int fd)
{
	char path[PATH_MAX];
	int code;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	code = undo_push("file-remove", path, NULL);
	if (code)
		return code;
	if (bpf_obj_pin(fd, path))
		return error_set(errno, "%s: cannot pin %s: %s", probe->point.name, path, strerror(errno));
	return 0;
}

int hop_probe_pin(struct hop_probe *probe, const char *directory)
{
	int code;

	if (probe->attachment.kind != BPF_ATTACH_XDP && probe->attachment.kind != BPF_ATTACH_TCX)
		return error_set(EOPNOTSUPP, "%s: a tc probe that stays needs tcx (Linux 6.6); --xdp works here as well",
				 probe->point.name);
	probe->control->any = 1;
	code = pin(probe, directory, HOP_PIN_COUNTERS, bpf_map__fd(probe->maps.counters));
	if (!code)
		code = pin(probe, directory, HOP_PIN_HISTOGRAMS, bpf_map__fd(probe->maps.histograms));
	return code ? code : pin(probe, directory, HOP_PIN_LINK, probe->attachment.link_fd);
}
