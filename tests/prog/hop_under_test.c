// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The two hop programs behind one face: see hop_under_test.h. Used by test_hop_*.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/pkt_cls.h>

#include "hop_tc.skel.h"
#include "hop_under_test.h"
#include "hop_xdp.skel.h"
#include "skip_because.h"

struct hop_under_test *hop;

static void *map_memory(const struct bpf_map *map, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static uint32_t ledger_words(const struct hop_under_test *program)
{
	return program->streams ? program->streams * LEDGER_WORDS : 1;
}

static size_t ledger_bytes(const struct hop_under_test *program)
{
	return ledger_words(program) * sizeof(*program->ledger);
}

/* The skeletons have equal fields, but no common type. */
#define ADOPT(program, skeleton_, program_name)                                                             \
	do {                                                                                                \
		(program)->skeleton = skeleton_;                                                            \
		(program)->program_fd = bpf_program__fd((skeleton_)->progs.program_name);                   \
		(program)->counters_fd = bpf_map__fd((skeleton_)->maps.hop_counters);                       \
		(program)->seen_fd = bpf_map__fd((skeleton_)->maps.hop_seen);                               \
		(program)->histograms_fd = bpf_map__fd((skeleton_)->maps.hop_histograms);                   \
		(program)->control = map_memory((skeleton_)->maps.hop_control, sizeof(struct hop_control)); \
		(program)->ledger = map_memory((skeleton_)->maps.hop_ledger, ledger_bytes(program));        \
		(program)->sink_fd = bpf_map__fd((skeleton_)->maps.hop_sink);                               \
		(program)->tracks_fd = bpf_map__fd((skeleton_)->maps.hop_tracks);                           \
	} while (0)

static int size_maps(const struct hop_under_test *program, struct bpf_map *ledger, struct bpf_map *tracks)
{
	return bpf_map__set_max_entries(ledger, ledger_words(program)) ||
	       bpf_map__set_max_entries(tracks, program->streams ? program->streams : 1);
}

/* 0 or the errno that libbpf reports. */
static int load_xdp(struct hop_under_test *program)
{
	struct hop_xdp_bpf *skeleton = hop_xdp_bpf__open();

	if (!skeleton)
		return errno;
	if (size_maps(program, skeleton->maps.hop_ledger, skeleton->maps.hop_tracks) || hop_xdp_bpf__load(skeleton)) {
		int code = errno;

		hop_xdp_bpf__destroy(skeleton);
		return code;
	}
	ADOPT(program, skeleton, hop_xdp);
	return 0;
}

static int load_tc(struct hop_under_test *program)
{
	struct hop_tc_bpf *skeleton = hop_tc_bpf__open();

	if (!skeleton)
		return errno;
	if (size_maps(program, skeleton->maps.hop_ledger, skeleton->maps.hop_tracks) || hop_tc_bpf__load(skeleton)) {
		int code = errno;

		hop_tc_bpf__destroy(skeleton);
		return code;
	}
	ADOPT(program, skeleton, hop_tc);
	return 0;
}

static void destroy(struct hop_under_test *program)
{
	if (program->control)
		munmap(program->control, sizeof(*program->control));
	if (program->ledger)
		munmap(program->ledger, ledger_bytes(program));
	program->control = NULL;
	program->ledger = NULL;
	if (program->has_segments)
		hop_tc_bpf__destroy(program->skeleton);
	else
		hop_xdp_bpf__destroy(program->skeleton);
	program->skeleton = NULL;
}

static int load_group(void **state)
{
	int code = hop->has_segments ? load_tc(hop) : load_xdp(hop);

	(void)state;
	if (code == EPERM) {
		hop->refused = code;
		return 0;
	}
	if (code) {
		print_error("%s: cannot load: %s\n", hop->name, strerror(code));
		return -1;
	}
	return hop->control && hop->ledger ? 0 : -1;
}

static int unload_group(void **state)
{
	(void)state;
	destroy(hop);
	return 0;
}

static struct hop_under_test programs[] = {
	{ .name = "hop_xdp", .pass = XDP_PASS, .drop = XDP_DROP },
	{ .name = "hop_tc", .pass = (uint32_t)TC_ACT_UNSPEC, .drop = TC_ACT_SHOT, .has_segments = 1 },
};

static int run_group(struct hop_under_test *program, const char *group, const struct CMUnitTest *tests, size_t count,
		     uint32_t streams)
{
	char name[64];

	hop = program;
	hop->refused = 0;
	hop->streams = streams;
	hop->base = 0;
	snprintf(name, sizeof(name), "%s %s", hop->name, group);
	print_message("# %s\n", name);
	return _cmocka_run_group_tests(name, tests, count, load_group, unload_group);
}

int hop_run_groups(const char *group, const struct CMUnitTest *tests, size_t count, uint32_t streams)
{
	return run_group(&programs[0], group, tests, count, streams) +
	       run_group(&programs[1], group, tests, count, streams);
}

int hop_run_tc_group(const char *group, const struct CMUnitTest *tests, size_t count)
{
	return run_group(&programs[1], group, tests, count, 0);
}

void skip_refused(const char *what, int error)
{
	SKIP_BECAUSE("%s: refused by the kernel: %s; run as root", what, strerror(error));
}

static void clear_cpus(int map_fd, uint32_t key, size_t value_bytes)
{
	/* The kernel copies whole values for each possible CPU. */
	void *values = calloc((size_t)libbpf_num_possible_cpus(), value_bytes);

	assert_non_null(values);
	assert_int_equal(bpf_map_update_elem(map_fd, &key, values, BPF_ANY), 0);
	free(values);
}

void hop_ready(void)
{
	if (hop->refused)
		skip_refused(hop->name, hop->refused);
	clear_cpus(hop->counters_fd, 0, sizeof(struct hop_counters));
	clear_cpus(hop->seen_fd, 0, sizeof(struct hop_seen));
	clear_cpus(hop->histograms_fd, 0, sizeof(struct hop_histograms));
	clear_cpus(hop->sink_fd, 0, sizeof(struct hop_sink));
	for (uint32_t stream = 0; stream < (hop->streams ? hop->streams : 1); stream++)
		clear_cpus(hop->tracks_fd, stream, sizeof(struct ledger_track));
	/* No test goes further than ten times around its 32-bit sequence. */
	hop->base = hop->base ? hop->base + 10 * LEDGER_FIRST_BASE : LEDGER_FIRST_BASE;
	memset(hop->control, 0, sizeof(*hop->control));
	hop->control->ledger_base = hop->base;
	hop->control->run_tag = TEST_RUN_TAG;
	hop->control->stream = TEST_STREAM;
	hop->control->stream_count = 1;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int hop_run_segments(const unsigned char *frame, uint32_t bytes, uint32_t gso_segs, uint32_t gso_size,
		     struct hop_result *result)
{
	struct __sk_buff context = { .gso_segs = gso_segs, .gso_size = gso_size };
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = bytes, .data_out = result->frame,
		    .data_size_out = sizeof(result->frame), .repeat = 1);
	int code;

	if (hop->has_segments) {
		options.ctx_in = &context;
		options.ctx_size_in = sizeof(context);
	}
	do {
		result->before_ns = now_ns();
		code = bpf_prog_test_run_opts(hop->program_fd, &options);
		result->after_ns = now_ns();
	} while (code == -EINTR || code == -EAGAIN);
	if (code == -EINVAL)
		return code;
	if (code)
		fail_msg("%s: test run of %u bytes: %s", hop->name, bytes, strerror(-code));
	result->verdict = options.retval;
	result->bytes = options.data_size_out;
	return 0;
}

int hop_run_frame(const unsigned char *frame, uint32_t bytes, struct hop_result *result)
{
	return hop_run_segments(frame, bytes, 0, 0, result);
}

static void add_counters(struct hop_counters *sum, const struct hop_counters *one)
{
	const __u64 *from = (const __u64 *)one;
	__u64 *to = (__u64 *)sum;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

/* All CPUs' values of one element; to be freed. */
static void *read_cpus(int map_fd, uint32_t key, size_t value_bytes, int *cpus)
{
	void *values;

	*cpus = libbpf_num_possible_cpus();
	assert_true(*cpus > 0);
	values = calloc((size_t)*cpus, value_bytes);
	assert_non_null(values);
	assert_int_equal(bpf_map_lookup_elem(map_fd, &key, values), 0);
	return values;
}

void hop_read_counters(struct hop_counters *sum)
{
	int cpus;
	struct hop_counters *values = read_cpus(hop->counters_fd, 0, sizeof(*values), &cpus);

	memset(sum, 0, sizeof(*sum));
	for (int i = 0; i < cpus; i++)
		add_counters(sum, &values[i]);
	free(values);
}

void hop_read_seen(struct hop_seen *seen)
{
	int cpus;
	struct hop_seen *values = read_cpus(hop->seen_fd, 0, sizeof(*values), &cpus);

	memset(seen, 0, sizeof(*seen));
	for (int i = 0; i < cpus; i++) {
		if (values[i].first_ns && (!seen->first_ns || values[i].first_ns < seen->first_ns))
			seen->first_ns = values[i].first_ns;
		if (values[i].last_ns > seen->last_ns)
			seen->last_ns = values[i].last_ns;
	}
	free(values);
}

void hop_read_cpu_counters(unsigned int cpu, struct hop_counters *counters)
{
	int cpus;
	struct hop_counters *values = read_cpus(hop->counters_fd, 0, sizeof(*values), &cpus);

	assert_true(cpu < (unsigned int)cpus);
	*counters = values[cpu];
	free(values);
}

void hop_read_histograms(struct hop_histograms *sum)
{
	int cpus;
	struct hop_histograms *values = read_cpus(hop->histograms_fd, 0, sizeof(*values), &cpus);

	memset(sum, 0, sizeof(*sum));
	for (int i = 0; i < cpus; i++) {
		for (unsigned int bucket = 0; bucket < HOPCAP_HISTOGRAM_BUCKETS; bucket++) {
			sum->hop_ns[bucket] += values[i].hop_ns[bucket];
			sum->path_ns[bucket] += values[i].path_ns[bucket];
		}
	}
	free(values);
}

static uint64_t word_at(void *stream, uint32_t index)
{
	return hop->streams ? hop->ledger[*(uint32_t *)stream * LEDGER_WORDS + index] : hop->ledger[0];
}

void hop_read_stream(uint32_t stream, struct ledger_counts *counts)
{
	int cpus;
	struct ledger_track *tracks = read_cpus(hop->tracks_fd, stream, sizeof(*tracks), &cpus);

	memset(counts, 0, sizeof(*counts));
	for (int i = 0; i < cpus; i++)
		ledger_counts_add(counts, &tracks[i], NULL, hop->base);
	ledger_counts_settle(counts, tracks, cpus, hop->base, word_at, &stream);
	free(tracks);
}

void hop_read_sink(struct hop_sink *sum)
{
	int cpus;
	struct hop_sink *values = read_cpus(hop->sink_fd, 0, sizeof(*values), &cpus);

	memset(sum, 0, sizeof(*sum));
	for (int i = 0; i < cpus; i++) {
		for (unsigned int bucket = 0; bucket < HOPCAP_HISTOGRAM_BUCKETS; bucket++)
			sum->gap_ns[bucket] += values[i].gap_ns[bucket];
		sum->jitter_sum_ns += values[i].jitter_sum_ns;
		sum->jitter_count += values[i].jitter_count;
	}
	free(values);
}

int hop_only_bucket(const __u64 *buckets)
{
	int found = -1;

	for (unsigned int i = 0; i < HOPCAP_HISTOGRAM_BUCKETS; i++) {
		if (!buckets[i])
			continue;
		assert_int_equal(buckets[i], 1);
		assert_int_equal(found, -1);
		found = (int)i;
	}
	return found;
}
