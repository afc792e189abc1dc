// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPU cost from readings that were captured on a machine of two CPUs while live frames crossed a veth pair, with
 * threaded NAPI on CPU 1 and a compiler running beside, and from such readings with one thing changed.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "measure/cpu_cost.h"
#include "report/cpu_cost_text.h"

#define OWN 4435
#define FRAMES 31874880

static const char stat_before[] = "cpu  431558 8949 1049998 1301897 5190 0 154855 0 0 0\n"
				  "cpu0 163235 4260 674985 613315 926 0 20034 0 0 0\n"
				  "cpu1 268322 4688 375013 688582 4263 0 134821 0 0 0\n"
				  "intr 31456081 0 0 0\nctxt 81726182\nbtime 1796049301\nsoftirq 4397181 6 135156\n";
static const char stat_after[] = "cpu  431651 8949 1050301 1301907 5190 0 154855 0 0 0\n"
				 "cpu0 163240 4260 675181 613316 926 0 20034 0 0 0\n"
				 "cpu1 268410 4688 375119 688591 4264 0 134821 0 0 0\n"
				 "intr 31756081 0 0 0\nctxt 81926182\nbtime 1796049301\nsoftirq 4497181 6 135156\n";

static const struct proc_thread threads_before[] = {
	{ 14, 14, 0, 1, 2338418126, 0, "ksoftirqd/0" },
	{ 15, 15, 0, 1, 25084020122, 0, "rcu_preempt" },
	{ 44, 44, 0, 1, 1931915908, 0, "kworker/0:1H-kblock" },
	{ 68, 1, 0, 0, 5602540558, 0, "tokio-rt-worker" },
	{ 74, 1, 0, 0, 49143261769, 0, "tokio-rt-worker" },
	{ 1898, 1898, 1, 1, 740513915, 0, "kworker/1:3-mm_perc" },
	{ 4000, 4000, 1, 0, 5000000000, 0, "gone" },
	{ OWN, OWN, 1, 0, 19834610, 0, "hopcap" },
	{ 32543, 32543, 1, 1, 59257676983, 0, "napi/cdst-1652" },
};
static const struct proc_thread threads_after[] = {
	{ 14, 14, 0, 1, 2338493239, 0, "ksoftirqd/0" },
	{ 15, 15, 0, 1, 25089234759, 0, "rcu_preempt" },
	{ 44, 44, 0, 1, 1931932079, 0, "kworker/0:1H-kblock" },
	{ 68, 1, 0, 0, 5603699494, 0, "tokio-rt-worker" },
	{ 74, 1, 0, 0, 49152140629, 0, "tokio-rt-worker" },
	{ 1898, 1898, 1, 1, 741511124, 0, "kworker/1:3-events" },
	{ OWN, OWN, 1, 0, 38711254, 0, "hopcap" },
	{ 4500, 4500, 1, 0, 154000000, 0, "cc1" },
	{ 32543, 32543, 1, 1, 60238616871, 0, "napi/cdst-1652" },
};

static void take(struct proc_cpu_reading *reading, const char *stat, const struct proc_thread *threads, int count,
		 uint64_t when_ns, uint64_t own_ns)
{
	FILE *file = fmemopen((char *)(uintptr_t)stat, strlen(stat), "r");

	assert_non_null(file);
	memset(reading, 0, sizeof(*reading));
	reading->cpu_total = proc_cpu_parse(file, reading->cpus, RUN_MAX_CPUS, &reading->all);
	fclose(file);
	reading->when_ns = when_ns;
	reading->ticks_per_s = 100;
	reading->own_pid = OWN;
	reading->own_ns = own_ns;
	reading->thread_count = count;
	reading->threads = malloc(sizeof(*threads) * (size_t)count);
	assert_non_null(reading->threads);
	memcpy(reading->threads, threads, sizeof(*threads) * (size_t)count);
}

struct pair {
	struct proc_cpu_reading before, after;
};

static int set_up(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	assert_non_null(pair);
	take(&pair->before, stat_before, threads_before, sizeof(threads_before) / sizeof(threads_before[0]), 1000,
	     18635558);
	take(&pair->after, stat_after, threads_after, sizeof(threads_after) / sizeof(threads_after[0]),
	     1000 + 2010149875, 1919221322);
	*state = pair;
	return 0;
}

static int tear_down(void **state)
{
	struct pair *pair = *state;

	proc_cpu_reading_free(&pair->before);
	proc_cpu_reading_free(&pair->after);
	free(pair);
	return 0;
}

static struct run_cpu_cost computed(const struct pair *pair, uint64_t frames)
{
	struct run_cpu_cost cost;

	assert_int_equal(cpu_cost_compute(&pair->before, &pair->after, frames, &cost), 0);
	return cost;
}

#define assert_about(value, wanted) assert_true(fabs((value) - (wanted)) < 1e-6)

static void parses_stat(void **state)
{
	struct pair *pair = *state;

	assert_int_equal(pair->before.cpu_total, 2);
	assert_int_equal(pair->before.all.user, 431558 + 8949);
	assert_int_equal(pair->before.cpus[1].idle, 688582);
	assert_int_equal(pair->before.cpus[1].softirq, 134821);
	assert_true(pair->before.all.present && pair->before.cpus[0].present && !pair->before.cpus[2].present);
}

static void counts_cpus_beyond_the_last(void **state)
{
	FILE *file = fmemopen((char *)(uintptr_t)stat_before, strlen(stat_before), "r");
	struct proc_cpu_times one;

	(void)state;
	assert_int_equal(proc_cpu_parse(file, &one, 1, NULL), 2);
	assert_int_equal(one.idle, 613315);
	fclose(file);
}

static void total_is_wall_time_less_idle(void **state)
{
	struct run_cpu_cost cost = computed(*state, FRAMES);

	assert_about(cost.elapsed_s, 2.010149875);
	assert_about(cost.cpu_s, 2 * 2.010149875 - 0.10);
	assert_about(cost.cpu_error_s, 0.02); /* idle and iowait; this machine was never robbed */
	assert_about(cost.per_mframes_s, cost.cpu_s / 31.87488);
	assert_about(cost.per_mframes_error_s, 0.02 / 31.87488);
	assert_int_equal(cost.cpu_total, 2);
	assert_int_equal(cost.cpu_count, 2);
	assert_about(cost.cpus[0].busy_s, 2.010149875 - 0.01);
	assert_about(cost.cpus[1].busy_s, 2.010149875 - 0.10);
	assert_about(cost.cpus[1].split.user_s, 0.88);
}

static void contexts_add_up(void **state)
{
	struct run_cpu_cost cost = computed(*state, FRAMES);

	assert_about(cost.split.user_s, 0.93);
	assert_about(cost.split.system_s, 3.03);
	assert_about(cost.split.softirq_s + cost.split.irq_s + cost.split.steal_s, 0);
	assert_about(cost.split.user_s + cost.split.system_s + cost.unsampled_s, cost.cpu_s);
	assert_true(fabs(cost.unsampled_s) < cost.split_error_s);
	assert_about(cost.split_error_s, 0.01 + sqrt(0.01 * 3.03));
}

static void threads_add_up(void **state)
{
	struct run_cpu_cost cost = computed(*state, FRAMES);
	double sum_s = 0;

	assert_about(cost.who_s[RUN_COST_OWN], 1.900585764);
	assert_about(cost.who_s[RUN_COST_NAPI], 0.980939888);
	assert_about(cost.who_s[RUN_COST_KSOFTIRQD], 0.000075113);
	assert_about(cost.who_s[RUN_COST_KWORKER], 0.000016171 + 0.000997209);
	assert_about(cost.who_s[RUN_COST_KERNEL], 0.005214637);
	/* Two threads of one process, and one that was born meanwhile; the one that ended is outside. */
	assert_about(cost.who_s[RUN_COST_OTHER], 0.001158936 + 0.008878860 + 0.154);
	for (int i = 0; i < RUN_COST_WHO_COUNT; i++)
		sum_s += cost.who_s[i];
	assert_about(sum_s + cost.outside_s, cost.cpu_s);
	assert_int_equal(cost.thread_count, 6);
	assert_string_equal(cost.threads[0].name, "napi/cdst-1652");
	assert_string_equal(cost.threads[1].name, "cc1");
	assert_string_equal(cost.threads[2].name, "tokio-rt-worker");
	assert_about(cost.threads[2].cpu_s, 0.001158936 + 0.008878860);
	assert_string_equal(cost.threads[4].name, "kworker");
}

static void a_number_given_to_another_thread_counts_from_its_birth(void **state)
{
	struct pair *pair = *state;

	pair->after.threads[8].run_ns = 300000000; /* less than before */
	assert_about(computed(pair, FRAMES).who_s[RUN_COST_NAPI], 0.3);
	pair->after.threads[8].run_ns = 60238616871;
	pair->after.threads[8].pid = 777; /* of another process */
	assert_about(computed(pair, FRAMES).who_s[RUN_COST_NAPI], 60.238616871);
}

static void names_tell_who(void **state)
{
	struct pair *pair = *state;
	struct run_cpu_cost cost;

	snprintf(pair->after.threads[7].command, sizeof(pair->after.threads[7].command), "vhost-4400");
	snprintf(pair->after.threads[3].command, sizeof(pair->after.threads[3].command), "napi/fake");
	cost = computed(pair, FRAMES);
	assert_about(cost.who_s[RUN_COST_VHOST], 0.154);      /* also as a thread of its owner */
	assert_about(cost.who_s[RUN_COST_NAPI], 0.980939888); /* a process may call itself anything */
}

static void billing_follows_the_irq_column(void **state)
{
	struct pair *pair = *state;

	assert_int_equal(computed(pair, FRAMES).billing, RUN_COST_BILLED_TO_THREAD);
	pair->before.all.irq = pair->after.all.irq = 5000;
	assert_int_equal(computed(pair, FRAMES).billing, RUN_COST_BILLED_APART);
	/* Softirqs are counted by the clock, and still the threads have more than user and system. */
	pair->after.all.system -= 150;
	pair->after.all.softirq += 150;
	pair->after.all.user -= 80;
	assert_int_equal(computed(pair, FRAMES).billing, RUN_COST_BILLED_TO_THREAD);
}

static void stolen_time_is_nobodys(void **state)
{
	struct pair *pair = *state;
	double whole_s = computed(pair, FRAMES).cpu_s;
	struct run_cpu_cost cost;

	pair->after.all.steal += 50;
	pair->after.cpus[0].steal += 50;
	cost = computed(pair, FRAMES);
	assert_about(cost.cpu_s, whole_s - 0.5);
	assert_about(cost.split.steal_s, 0.5);
	assert_about(cost.cpus[0].busy_s, 2.010149875 - 0.51);
	assert_about(cost.cpu_error_s, 0.03);
}

static void counters_that_step_back_do_no_harm(void **state)
{
	struct pair *pair = *state;
	struct run_cpu_cost cost;

	pair->after.all.iowait = pair->before.all.iowait - 3;
	pair->after.all.idle = pair->before.all.idle - 7;
	cost = computed(pair, FRAMES);
	assert_about(cost.cpu_s, 2 * 2.010149875);
	pair->after.all.idle = pair->before.all.idle + 10000; /* more than there was time for */
	assert_about(computed(pair, FRAMES).cpu_s, 0);
}

static void a_cpu_that_went_off_is_left_out(void **state)
{
	struct pair *pair = *state;
	struct run_cpu_cost cost;

	memset(&pair->after.cpus[1], 0, sizeof(pair->after.cpus[1]));
	pair->after.cpu_total = 1;
	cost = computed(pair, FRAMES);
	assert_int_equal(cost.cpu_count, 1);
	assert_true(cost.cpu_s <= cost.elapsed_s);
}

static void idle_use_is_shown_beside(void **state)
{
	struct run_cpu_cost cost = computed(*state, FRAMES), idle = computed(*state, 0);

	assert_false(cost.has_idle);
	assert_true(isnan(cost.above_idle_s) && isnan(idle.per_mframes_s));
	idle.elapsed_s = 1;
	idle.cpu_s = 0.3;
	idle.cpu_error_s = 0.02;
	cpu_cost_set_idle(&cost, &idle);
	assert_true(cost.has_idle);
	assert_about(cost.idle_s, 0.3 * 2.010149875);
	assert_about(cost.above_idle_s, cost.cpu_s - cost.idle_s);
	assert_about(cost.above_idle_error_s, 0.02 + 0.02 * 2.010149875);
	assert_about(cost.above_idle_per_mframes_s, cost.above_idle_s / 31.87488);
	assert_about(cost.per_mframes_s, cost.cpu_s / 31.87488); /* as it was */
}

static void no_time_is_an_error(void **state)
{
	struct pair *pair = *state;
	struct run_cpu_cost cost;

	assert_int_equal(cpu_cost_compute(&pair->after, &pair->after, FRAMES, &cost), -EINVAL);
	assert_true(*error_text() && isnan(cost.per_mframes_s));
}

static char *text_of(const struct run_cpu_cost *cost)
{
	struct page page = { .width = 100 };
	char *text = NULL;
	size_t size;

	page.stream = open_memstream(&text, &size);
	assert_non_null(page.stream);
	cpu_cost_text(&page, cost);
	fclose(page.stream);
	return text;
}

static void text_says_it(void **state)
{
	struct pair *pair = *state;
	struct run_cpu_cost cost = computed(pair, FRAMES);
	char *text = text_of(&cost);

	assert_non_null(strstr(text, "0.123 s of CPU time per million frames"));
	assert_non_null(strstr(text, "was not measured"));
	assert_non_null(strstr(text, "this process 1.901 s, NAPI threads 0.981 s"));
	assert_non_null(strstr(text, "napi/cdst-1652 0.981 s"));
	free(text);
	cost = computed(pair, 0);
	snprintf(cost.threads[0].name, sizeof(cost.threads[0].name), "a\033[31mb"); /* names are other people's */
	text = text_of(&cost);
	assert_null(strchr(text, '\033'));
	assert_null(strstr(text, "nan"));
	assert_non_null(strstr(text, "and no frame"));
	free(text);
}

/* More CPUs than a table has rows: the busiest are shown, the others summed. */
static void text_of_a_large_machine(void **state)
{
	struct run_cpu_cost cost = computed(*state, FRAMES);
	char *text;

	cost.cpu_count = cost.cpu_total = 40;
	for (int i = 0; i < 40; i++)
		cost.cpus[i] = (struct run_cost_cpu){ .cpu = i, .busy_s = i == 39 ? 2 : 0.25 };
	text = text_of(&cost);
	assert_non_null(strstr(text, "24 further CPUs: 6.00 s"));
	assert_non_null(strstr(text, "\n 39"));
	free(text);
}

/* What this machine says of a second in which this process does nothing but count. */
static void a_busy_second_is_seen(void **state)
{
	struct proc_cpu_reading *before = calloc(1, sizeof(*before)), *after = calloc(1, sizeof(*after));
	struct run_cpu_cost cost;

	(void)state;
	assert_non_null(before);
	assert_non_null(after);
	assert_int_equal(proc_cpu_read(before), 0);
	do {
		proc_cpu_reading_free(after);
		assert_int_equal(proc_cpu_read(after), 0);
	} while (after->own_ns - before->own_ns < 200000000);
	assert_int_equal(cpu_cost_compute(before, after, 0, &cost), 0);
	assert_true(cost.who_s[RUN_COST_OWN] >= 0.2);
	assert_true(cost.cpu_s >= 0.2 - cost.cpu_error_s - cost.split.steal_s);
	assert_true(cost.cpu_s <= cost.elapsed_s * cost.cpu_total + 1e-9);
	assert_true(cost.cpu_count >= 1 && before->thread_count >= 1);
	proc_cpu_reading_free(before);
	proc_cpu_reading_free(after);
	free(before);
	free(after);
}

#define with_pair(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_pair(parses_stat),
		cmocka_unit_test(counts_cpus_beyond_the_last),
		with_pair(total_is_wall_time_less_idle),
		with_pair(contexts_add_up),
		with_pair(threads_add_up),
		with_pair(a_number_given_to_another_thread_counts_from_its_birth),
		with_pair(names_tell_who),
		with_pair(billing_follows_the_irq_column),
		with_pair(stolen_time_is_nobodys),
		with_pair(counters_that_step_back_do_no_harm),
		with_pair(a_cpu_that_went_off_is_left_out),
		with_pair(idle_use_is_shown_beside),
		with_pair(no_time_is_an_error),
		with_pair(text_says_it),
		with_pair(text_of_a_large_machine),
		cmocka_unit_test(a_busy_second_is_seen),
	};

	return cmocka_run_group_tests_name("cpu_cost", tests, NULL, NULL);
}
