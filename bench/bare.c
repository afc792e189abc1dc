// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench-bare: the baselines of tools/bench that no package has, and its eyes on the interfaces.
 *
 * Owns: loading bare.bpf.c; one live-frame loop, one dropping counter, reading an interface's counters. Leaves to
 * others: namespaces and CPUs (the caller enters and pins), what is compared with what (tools/bench). Links with
 * nothing of user/: a baseline must not share what it is the baseline of.
 *
 *   bench-bare live INTERFACE BATCH BYTES  sends until SIGTERM; says nothing
 *   bench-bare drop INTERFACE              counts and drops until standard input ends
 *   bench-bare redirect FROM TO            hands what comes in at FROM to TO until standard input ends
 *   bench-bare watch INTERFACE             reads the interface's counters until standard input ends
 *
 * drop and watch answer each line of their standard input with one line: CLOCK_MONOTONIC in ns, then the counters: of
 * drop the frames dropped so far; of watch tx_packets, tx_dropped, rx_packets, rx_dropped. A first line, "ready",
 * says that the program is attached.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <linux/if_link.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bare.skel.h"

#define REPEAT_LIMIT 2000000000u
#define MAX_BYTES 3408
#define COUNTERS 4

static volatile sig_atomic_t stopped;

/* Repeats itself: a signal that comes between the test of `stopped` and the system call would be lost. */
static void stop(int number)
{
	const struct itimerval again = { .it_value.tv_usec = 1000, .it_interval.tv_usec = 1000 };

	(void)number;
	if (!stopped)
		setitimer(ITIMER_REAL, &again, NULL);
	stopped = 1;
}

static int fail(const char *what, const char *interface, int error)
{
	fprintf(stderr, "bench-bare: %s: %s: %s\n", interface, what, strerror(error));
	return 1;
}

static unsigned long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec;
}

static void catch_end(void)
{
	struct sigaction action = { .sa_handler = stop };

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
}

static int live(const char *interface, unsigned int batch, unsigned int bytes)
{
	static unsigned char frame[MAX_BYTES] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5 };
	unsigned int ifindex = if_nametoindex(interface);
	struct xdp_md context = { .data_end = bytes, .ingress_ifindex = ifindex };
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = bytes, .ctx_in = &context,
		    .ctx_size_in = sizeof(context), .repeat = (int)REPEAT_LIMIT, .flags = BPF_F_TEST_XDP_LIVE_FRAMES,
		    .batch_size = batch);
	struct bare_bpf *program;
	int code = 0;

	if (!ifindex || bytes < 14 || bytes > MAX_BYTES || !batch || batch > 256)
		return fail("no such interface, or not 1 to 256 frames a batch of 14 to 3408 bytes", interface, EINVAL);
	program = bare_bpf__open();
	if (!program)
		return fail("cannot open the program", interface, errno);
	program->rodata->target_ifindex = ifindex;
	if (bare_bpf__load(program)) {
		bare_bpf__destroy(program);
		return fail("cannot load the program", interface, errno);
	}
	while (!stopped && (!code || code == -EINTR || code == -EAGAIN))
		code = bpf_prog_test_run_opts(bpf_program__fd(program->progs.bare_live), &options);
	bare_bpf__destroy(program);
	return stopped ? 0 : fail("cannot run the program", interface, -code);
}

static unsigned long long sum_dropped(const struct bpf_map *map)
{
	int cpus = libbpf_num_possible_cpus();
	unsigned long long sum = 0;
	__u64 values[cpus > 0 ? cpus : 1];
	__u32 zero = 0;

	if (cpus <= 0 || bpf_map_lookup_elem(bpf_map__fd(map), &zero, values))
		return 0;
	for (int i = 0; i < cpus; i++)
		sum += values[i];
	return sum;
}

/* One answer for each line that comes. */
static int asked(void)
{
	char line[16];

	return fgets(line, sizeof(line), stdin) && !stopped;
}

static int drop(const char *interface)
{
	int ifindex = (int)if_nametoindex(interface);
	struct bpf_link *link = NULL;
	struct bare_bpf *program;

	program = ifindex ? bare_bpf__open_and_load() : NULL;
	if (!program)
		return fail("cannot load the counter", interface, errno);
	link = bpf_program__attach_xdp(program->progs.bare_drop, ifindex);
	if (!link) {
		bare_bpf__destroy(program);
		return fail("cannot attach the counter", interface, errno);
	}
	puts("ready");
	while (asked())
		printf("%llu %llu\n", now_ns(), sum_dropped(program->maps.dropped));
	bpf_link__destroy(link);
	bare_bpf__destroy(program);
	return 0;
}

static int redirect(const char *from, const char *to)
{
	unsigned int from_index = if_nametoindex(from), to_index = if_nametoindex(to);
	struct bare_bpf *program = from_index && to_index ? bare_bpf__open_and_load() : NULL;
	struct bpf_link *link = NULL;
	__u32 zero = 0;

	if (!program)
		return fail("cannot load the redirect", from, errno);
	if (!bpf_map_update_elem(bpf_map__fd(program->maps.target), &zero, &to_index, BPF_ANY))
		link = bpf_program__attach_xdp(program->progs.bare_redirect, (int)from_index);
	if (!link) {
		bare_bpf__destroy(program);
		return fail("cannot attach the redirect", from, errno);
	}
	puts("ready");
	while (asked())
		puts("redirecting");
	bpf_link__destroy(link);
	bare_bpf__destroy(program);
	return 0;
}

/* The kernel's file of one counter, opened once: it is read a hundred times. */
static int open_counter(const char *interface, const char *counter)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/%s", interface, counter);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int watch(const char *interface)
{
	static const char *const names[COUNTERS] = { "tx_packets", "tx_dropped", "rx_packets", "rx_dropped" };
	int files[COUNTERS];

	for (int i = 0; i < COUNTERS; i++) {
		files[i] = open_counter(interface, names[i]);
		if (files[i] < 0)
			return fail(names[i], interface, errno);
	}
	puts("ready");
	while (asked()) {
		printf("%llu", now_ns());
		for (int i = 0; i < COUNTERS; i++) {
			char text[32] = "";

			if (pread(files[i], text, sizeof(text) - 1, 0) <= 0)
				return fail("the interface is gone", interface, errno);
			text[strcspn(text, "\n")] = '\0';
			printf(" %s", text);
		}
		putchar('\n');
	}
	return 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	catch_end();
	if (argc == 5 && !strcmp(argv[1], "live"))
		return live(argv[2], (unsigned int)atoi(argv[3]), (unsigned int)atoi(argv[4]));
	if (argc == 3 && !strcmp(argv[1], "drop"))
		return drop(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "redirect"))
		return redirect(argv[2], argv[3]);
	if (argc == 3 && !strcmp(argv[1], "watch"))
		return watch(argv[2]);
	fputs("usage: bench-bare live INTERFACE BATCH BYTES | drop INTERFACE | redirect FROM TO | watch INTERFACE\n", stderr);
	return 2;
}
