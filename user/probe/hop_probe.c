// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hop probes; see hop_probe.h. Counters in the maps only grow: arming takes a snapshot, reading subtracts it, so a frame that
 * is counted while we read is counted in one reading or the next, never in neither.
 */
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/error.h"
#include "hop_tc.skel.h"
#include "hop_xdp.skel.h"
#include "probe/hop_probe.h"
#include "sys/bpf_attach.h"
#include "sys/netns.h"

struct maps {
	struct bpf_map *control, *counters, *seen, *histograms, *ledger, *ledger_state;
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
	struct hop_ledger_state *ledger_state;
	__u64 *ledger;
	int cpu_count;
	struct hop_counters *counters, *armed_counters; /* an element a CPU */
	struct hop_histograms *histograms, *armed_histograms;
	struct hop_seen *seen;
	uint64_t armed_frames;
};

static int uses_xdp(const struct run_point *point)
{
	return !strcmp(point->mode, "native") || !strcmp(point->mode, "generic");
}

#define TAKE_MAPS(skeleton)                                                                                     \
	((struct maps){ (skeleton)->maps.hop_control, (skeleton)->maps.hop_counters, (skeleton)->maps.hop_seen, \
			(skeleton)->maps.hop_histograms, (skeleton)->maps.hop_ledger,                           \
			(skeleton)->maps.hop_ledger_state })

static int load(struct hop_probe *probe)
{
	int code;

	if (uses_xdp(&probe->point)) {
		probe->xdp = hop_xdp_bpf__open();
		if (!probe->xdp)
			return -errno;
		probe->maps = TAKE_MAPS(probe->xdp);
		bpf_map__set_max_entries(probe->maps.ledger, HOPCAP_LEDGER_WORDS);
		code = hop_xdp_bpf__load(probe->xdp);
		probe->program_fd = bpf_program__fd(probe->xdp->progs.hop_xdp);
	} else {
		probe->tc = hop_tc_bpf__open();
		if (!probe->tc)
			return -errno;
		probe->maps = TAKE_MAPS(probe->tc);
		bpf_map__set_max_entries(probe->maps.ledger, HOPCAP_LEDGER_WORDS);
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

static int allocate(struct hop_probe *probe)
{
	size_t cpus = (size_t)probe->cpu_count;

	probe->control = map_memory(probe->maps.control, sizeof(*probe->control));
	probe->ledger_state = map_memory(probe->maps.ledger_state, sizeof(*probe->ledger_state));
	probe->ledger = map_memory(probe->maps.ledger, HOPCAP_LEDGER_WORDS * sizeof(__u64));
	probe->counters = calloc(cpus, sizeof(*probe->counters));
	probe->armed_counters = calloc(cpus, sizeof(*probe->counters));
	probe->seen = calloc(cpus, sizeof(*probe->seen));
	probe->histograms = calloc(cpus, sizeof(*probe->histograms));
	probe->armed_histograms = calloc(cpus, sizeof(*probe->histograms));
	if (!probe->control || !probe->ledger_state || !probe->ledger || !probe->counters || !probe->armed_counters ||
	    !probe->seen || !probe->histograms || !probe->armed_histograms)
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

int hop_probe_open(const struct run_point *point, struct hop_probe **result)
{
	struct hop_probe *probe = calloc(1, sizeof(*probe));
	int code;

	if (!probe)
		return error_set(ENOMEM, "%s: out of memory", point->name);
	probe->point = *point;
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
	if (probe->ledger_state)
		munmap(probe->ledger_state, sizeof(*probe->ledger_state));
	if (probe->ledger)
		munmap(probe->ledger, HOPCAP_LEDGER_WORDS * sizeof(__u64));
	free(probe->counters);
	free(probe->armed_counters);
	free(probe->seen);
	free(probe->histograms);
	free(probe->armed_histograms);
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

static int read_maps(const struct hop_probe *probe, struct hop_counters *counters, struct hop_histograms *histograms)
{
	__u32 zero = 0;
	int code = bpf_map_lookup_elem(bpf_map__fd(probe->maps.counters), &zero, counters);

	if (!code && histograms)
		code = bpf_map_lookup_elem(bpf_map__fd(probe->maps.histograms), &zero, histograms);
	return code ? error_set(errno, "%s: cannot read the probe: %s", probe->point.name, strerror(errno)) : 0;
}

int hop_probe_arm(struct hop_probe *probe, uint16_t run_tag, uint8_t stream, int as_sink)
{
	__u32 zero = 0;
	int code;

	probe->control->run_tag = 0; /* count nothing while the ledger is cleared */
	if (as_sink) {
		size_t words = (probe->ledger_state->highest + 63) / 64;

		memset(probe->ledger, 0, (words < HOPCAP_LEDGER_WORDS ? words : HOPCAP_LEDGER_WORDS) * sizeof(__u64));
		probe->ledger_state->highest = 0;
	}
	code = read_maps(probe, probe->armed_counters, probe->armed_histograms);
	if (code)
		return code;
	memset(probe->seen, 0, (size_t)probe->cpu_count * sizeof(*probe->seen));
	bpf_map_update_elem(bpf_map__fd(probe->maps.seen), &zero, probe->seen, BPF_ANY);
	probe->armed_frames = 0;
	for (int cpu = 0; cpu < probe->cpu_count; cpu++)
		probe->armed_frames += probe->armed_counters[cpu].test_frames;
	probe->control->action = as_sink ? HOPCAP_HOP_DROP : HOPCAP_HOP_PASS;
	probe->control->ledger = as_sink ? 1 : 0;
	probe->control->stream = stream;
	__atomic_store_n(&probe->control->run_tag, run_tag, __ATOMIC_RELEASE);
	return 0;
}

uint64_t hop_probe_count(const struct hop_probe *probe)
{
	uint64_t frames = 0;

	if (read_maps(probe, probe->counters, NULL))
		return 0;
	for (int cpu = 0; cpu < probe->cpu_count; cpu++)
		frames += probe->counters[cpu].test_frames;
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

int hop_probe_read(const struct hop_probe *probe, struct hop_reading *reading)
{
	uint64_t most = 0;
	int code = read_maps(probe, probe->counters, probe->histograms);

	if (code)
		return code;
	memset(reading, 0, sizeof(*reading));
	reading->cpu = -1;
	for (int cpu = 0; cpu < probe->cpu_count; cpu++) {
		uint64_t frames = probe->counters[cpu].test_frames - probe->armed_counters[cpu].test_frames;

		add_growth(&reading->total, &probe->counters[cpu], &probe->armed_counters[cpu]);
		if (frames > most) {
			most = frames;
			reading->cpu = cpu;
		}
		for (unsigned int i = 0; i < HOPCAP_HISTOGRAM_BUCKETS; i++) {
			reading->hop_ns.buckets[i] +=
				probe->histograms[cpu].hop_ns[i] - probe->armed_histograms[cpu].hop_ns[i];
			reading->path_ns.buckets[i] +=
				probe->histograms[cpu].path_ns[i] - probe->armed_histograms[cpu].path_ns[i];
		}
	}
	read_seen(probe, reading);
	if (reading->total.test_frames)
		reading->cpu_share = (double)most / (double)reading->total.test_frames;
	return 0;
}
