// SPDX-License-Identifier: GPL-2.0-or-later
/* RFC 2544 by its own rules, against ports whose numbers are known. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "measure/rfc2544.h"

/* A queue of so many frames in front of a server; bursts come at line_pps. */
struct device {
	double service_pps, line_pps, queue_frames;
	uint64_t lost_below_100; /* frames that every trial loses besides */
	int trials, fail_at_trial;
	double shortest_s, longest_s;
	double asked_pps[200];
	uint64_t longest_burst;
};

static struct rfc2544_plan plan_of(double max_pps)
{
	return (struct rfc2544_plan){ .max_pps = max_pps,
				      .resolution = 0.01,
				      .trial_s = RFC2544_TRIAL_S,
				      .stream_s = RFC2544_STREAM_S,
				      .burst_s = RFC2544_BURST_S,
				      .repetitions = RFC2544_REPETITIONS,
				      .bursts = RFC2544_BURSTS };
}

static int run_trial(void *context, const struct rfc2544_load *load, struct rfc2544_trial *trial)
{
	struct device *device = context;
	double pps = load->pps > 0 ? load->pps : device->line_pps;
	double duration_s = load->duration_s > 0 ? load->duration_s : (double)load->frames / pps, lost;

	if (device->trials < 200)
		device->asked_pps[device->trials] = load->pps;
	if (++device->trials == device->fail_at_trial)
		return error_set(EIO, "planted");
	device->shortest_s = device->shortest_s > 0 ? fmin(device->shortest_s, duration_s) : duration_s;
	device->longest_s = fmax(device->longest_s, duration_s);
	if (load->frames > device->longest_burst)
		device->longest_burst = load->frames;
	trial->sent = load->frames ? load->frames : (uint64_t)(pps * duration_s);
	trial->duration_s = duration_s;
	lost = fmax(floor((pps - device->service_pps) * duration_s - device->queue_frames), 0) +
	       (double)device->lost_below_100;
	trial->received = trial->sent - (uint64_t)fmin(lost, (double)trial->sent);
	if (load->with_latency) {
		trial->stamped = 1000;
		trial->mean_ns = 5000 + 10 * device->trials;
		trial->median_ns = 4000;
		trial->p999_ns = 9000 + device->trials;
		trial->min_ns = 3000 - device->trials;
		trial->max_ns = 20000 + device->trials;
	}
	return 0;
}

static void test_throughput(void **state)
{
	struct rfc2544_plan plan = plan_of(1e6);
	struct rfc2544_throughput found;

	(void)state;
	for (double service = 1000; service < 1e6; service *= 1.7) {
		struct device device = { .service_pps = service };

		assert_int_equal(rfc2544_throughput(&plan, 0, run_trial, &device, &found), 0);
		assert_true(found.pps <= service + 1 && service <= found.lossy_pps);
		assert_true(found.lossy_pps - found.asked_pps <= 0.01 * found.lossy_pps);
		assert_true(found.loss_ratio > 0);
		assert_true(device.shortest_s == 60 && device.longest_s == 60);
		assert_true(device.asked_pps[0] == 1e6);
		assert_true(found.trial_s == 60 * found.trials && found.trials == device.trials);
	}
	/* The source is the limit: one trial, and no rate that loses. */
	{
		struct device device = { .service_pps = 2e6 };

		assert_int_equal(rfc2544_throughput(&plan, 0, run_trial, &device, &found), 0);
		assert_true(found.trials == 1 && found.pps == 1e6 && found.lossy_pps == 0);
	}
	/* A frame is lost at any rate: no throughput, and it ends. */
	{
		struct device device = { .service_pps = 2e6, .lost_below_100 = 1 };

		assert_int_equal(rfc2544_throughput(&plan, 0, run_trial, &device, &found), 0);
		assert_true(found.pps == 0 && found.lossy_pps <= 2);
	}
}

static void test_latency(void **state)
{
	struct rfc2544_plan plan = plan_of(1e6);
	struct device device = { .service_pps = 1e6, .lost_below_100 = 2 };
	struct rfc2544_latency found;

	(void)state;
	assert_int_equal(rfc2544_latency(&plan, 5e5, run_trial, &device, &found), 0);
	assert_int_equal(found.repetitions, 20);
	assert_true(device.trials == 20 && device.shortest_s == 120 && device.asked_pps[7] == 5e5);
	assert_true(fabs(found.mean_ns - 5105) < 1e-6); /* mean of 5010 … 5200 */
	assert_true(found.median_ns == 4000 && fabs(found.p999_ns - 9010.5) < 1e-6);
	assert_true(found.min_ns == 2980 && found.max_ns == 20020);
	assert_true(found.stamped == 20000 && found.lost == 40);
	assert_int_equal(rfc2544_latency(&plan, 0, run_trial, &device, &found), -EINVAL);
}

static void test_loss_rate(void **state)
{
	struct rfc2544_plan plan = plan_of(1e6);
	struct device device = { .service_pps = 7.2e5 };
	struct rfc2544_loss found;

	(void)state;
	assert_int_equal(rfc2544_loss_rate(&plan, run_trial, &device, &found), 0);
	assert_int_equal(found.count, 5); /* 100, 90, 80 lose; 70 and 60 do not */
	assert_true(found.is_clean);
	for (int i = 0; i < found.count; i++) {
		double offered = 1e6 - 1e5 * i;

		assert_true(fabs(found.steps[i].percent - (100 - 10 * i)) < 1e-9);
		assert_true(fabs(found.steps[i].offered_pps - offered) < 1);
		assert_true(fabs(found.steps[i].loss_ratio - fmax(1 - 7.2e5 / offered, 0)) < 1e-6);
	}
	assert_true(device.shortest_s == 60 && device.longest_s == 60);
	/* No loss at all: two trials. A frame lost at any rate: all ten. */
	device = (struct device){ .service_pps = 2e6 };
	assert_int_equal(rfc2544_loss_rate(&plan, run_trial, &device, &found), 0);
	assert_true(found.count == 2 && found.is_clean);
	device = (struct device){ .service_pps = 2e6, .lost_below_100 = 1 };
	assert_int_equal(rfc2544_loss_rate(&plan, run_trial, &device, &found), 0);
	assert_true(found.count == 10 && !found.is_clean && fabs(found.steps[9].percent - 10) < 1e-9);
}

static void test_back_to_back(void **state)
{
	struct rfc2544_plan plan = plan_of(1e6);
	struct rfc2544_bursts found;

	(void)state;
	for (double queue = 10; queue < 3e5; queue *= 3) {
		struct device device = { .service_pps = 6e5, .line_pps = 1e6, .queue_frames = queue };
		double longest = (queue + 1) / (1 - 0.6); /* service takes frames away meanwhile */

		assert_int_equal(rfc2544_back_to_back(&plan, 6e5, run_trial, &device, &found), 0);
		assert_int_equal(found.count, 50);
		assert_false(found.is_unbounded);
		assert_true(found.mean_frames <= longest + 1 && found.mean_frames >= 0.985 * longest - 2);
		assert_true(found.min_frames <= found.mean_frames && found.mean_frames <= found.max_frames);
		assert_true(fabs(found.rate_pps - 1e6) < 1);
		/* The corrected buffer time is that of the queue at the rate of the burst. */
		assert_true(fabs(found.buffer_ns - queue / 1e6 * 1e9) <= 0.02 * queue / 1e6 * 1e9 + 2000);
		assert_true(found.trials < 50 * 20);
	}
	/* Faster than the line: the longest burst that is tried is two seconds, and it passes. */
	{
		struct device device = { .service_pps = 2e6, .line_pps = 1e6 };

		assert_int_equal(rfc2544_back_to_back(&plan, 1e6, run_trial, &device, &found), 0);
		assert_true(found.is_unbounded && isnan(found.buffer_ns) && found.mean_frames == 2e6);
		assert_true(device.longest_burst == 2000000);
	}
	/* A frame of each burst is lost: there is none without loss. */
	{
		struct device device = { .service_pps = 2e6, .line_pps = 1e6, .lost_below_100 = 1 };

		assert_int_equal(rfc2544_back_to_back(&plan, 1e6, run_trial, &device, &found), 0);
		assert_true(found.count == 50 && found.max_frames == 0 && !found.is_unbounded);
	}
}

static void test_failures(void **state)
{
	struct rfc2544_plan plan = plan_of(1e6), wrong = plan_of(NAN);
	struct device device = { .service_pps = 5e5, .line_pps = 1e6, .queue_frames = 100 };
	struct rfc2544_throughput throughput;
	struct rfc2544_latency latency;
	struct rfc2544_bursts bursts;
	struct rfc2544_loss loss;

	(void)state;
	device.fail_at_trial = 3;
	assert_int_equal(rfc2544_throughput(&plan, 0, run_trial, &device, &throughput), -EIO);
	assert_int_equal(throughput.trials, 2);
	device.trials = 0;
	assert_int_equal(rfc2544_latency(&plan, 1e5, run_trial, &device, &latency), -EIO);
	assert_int_equal(latency.repetitions, 2);
	device.trials = 0;
	assert_int_equal(rfc2544_loss_rate(&plan, run_trial, &device, &loss), -EIO);
	assert_int_equal(loss.count, 2);
	device.trials = 0;
	device.fail_at_trial = 30;
	assert_int_equal(rfc2544_back_to_back(&plan, 0, run_trial, &device, &bursts), -EIO);
	assert_true(bursts.count >= 1 && bursts.trials == 29 && isfinite(bursts.mean_frames));
	assert_int_equal(rfc2544_throughput(&wrong, 0, run_trial, &device, &throughput), -EINVAL);
	assert_int_equal(rfc2544_back_to_back(&wrong, 0, run_trial, &device, &bursts), -EINVAL);
	plan.trial_s = 0;
	assert_int_equal(rfc2544_loss_rate(&plan, run_trial, &device, &loss), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_throughput),   cmocka_unit_test(test_latency),  cmocka_unit_test(test_loss_rate),
		cmocka_unit_test(test_back_to_back), cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests_name("rfc2544", tests, NULL, NULL);
}
