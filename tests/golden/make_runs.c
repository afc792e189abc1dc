// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the saved runs that the golden tests read: five runs over the sea lab as they come out of it, with numbers
 * that hold still. Needed again only when the contract of run.json grows:
 *
 *   make build/tests/golden-make_runs && build/tests/golden-make_runs tests/golden
 *   tests/golden/report.sh --accept
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "model/model_json.h"

#define POINTS 6
#define HOPS 5

static const unsigned int frame_sizes[] = { 60, 256, 512, 1024, 1514 };

#define SET(target, ...) snprintf(target, sizeof(target), __VA_ARGS__)

static void require(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "make_runs: %s: %s\n", what, error_text());
	exit(1);
}

static void add_path(struct run *run, const char *mode)
{
	static const struct {
		const char *interface, *netns;
		enum run_hook hook;
		const char *mode;
		enum run_direction direction;
	} points[POINTS] = {
		{ "ent0", "lpar", RUN_HOOK_SOURCE, NULL, RUN_DIRECTION_OUT },
		{ "vp1", "phyp", RUN_HOOK_XDP, "native", RUN_DIRECTION_IN },
		{ "vp2", "phyp", RUN_HOOK_TC, "tcx", RUN_DIRECTION_OUT },
		{ "trunk0", "vios", RUN_HOOK_XDP, "native", RUN_DIRECTION_IN },
		{ "phys0", "vios", RUN_HOOK_TC, "tcx", RUN_DIRECTION_OUT },
		{ "nic0", "ext", RUN_HOOK_SINK, "native", RUN_DIRECTION_IN },
	};
	static const char *const hops[HOPS] = { "wire ent0-vp1", "bridge vsw0", "wire vp2-trunk0", "bridge sea0",
						"wire phys0-nic0" };

	run->point_count = POINTS;
	for (int i = 0; i < POINTS; i++) {
		struct run_point *point = &run->points[i];

		SET(point->name, "%s@ns:%s", points[i].interface, points[i].netns);
		SET(point->interface, "%s", points[i].interface);
		SET(point->domain, "local");
		SET(point->netns, "hopcap-1f3a-%s", points[i].netns);
		SET(point->mode, "%s", points[i].mode ? points[i].mode : mode);
		SET(point->driver, "veth");
		point->hook = points[i].hook;
		point->direction = points[i].direction;
		point->mtu_bytes = 1500;
	}
	for (int i = 0; i < HOPS; i++) {
		SET(run->hops[i].name, "%s", hops[i]);
		run->hops[i].kind = i % 2 ? RUN_HOP_BRIDGE : RUN_HOP_WIRE;
	}
}

static struct run *new_run(void)
{
	struct run *run = run_new();

	require(run != NULL, "run_new");
	SET(run->created, "2025-11-30T11:42:07Z");
	SET(run->version, "0.1.0");
	SET(run->kernel, "6.18.0");
	SET(run->machine, "x86_64, 2 CPUs");
	SET(run->lab, "sea");
	run->primary_bytes = 1514;
	run->loss_goal = 0.005;
	run->measuring_s = 41.8;
	add_path(run, "live");
	run->source.port = RUN_PORT_LIVE;
	SET(run->source.why,
	    "veth takes no AF_XDP zero-copy, and live frames are faster than AF_XDP copy; delivery was checked");
	run->source.ceiling_pps = 5123400;
	run->source.cpu = 0;
	return run;
}

/* What cut `point` passes at a size: the rate at 1514 bytes, and a byte's cost that grows along the path. */
static double service_at(double primary_pps, int point, unsigned int bytes)
{
	return 1e9 / (1e9 / primary_pps - 0.012 * point * (1514 - (double)bytes));
}

static void add_services(struct run *run, const double primary_pps[HOPS], double offered_pps)
{
	for (int point = 1; point <= HOPS; point++) {
		for (size_t i = 0; i < sizeof(frame_sizes) / sizeof(frame_sizes[0]); i++) {
			struct run_service *service = &run->services[run->service_count++];

			service->point = point;
			service->frame_bytes = frame_sizes[i];
			service->port = RUN_PORT_LIVE;
			service->pps = service_at(primary_pps[point - 1], point, frame_sizes[i]);
			service->low_pps = service->pps * (0.985 - 0.002 * (double)i);
			service->high_pps = service->pps * (1.012 + 0.001 * point);
			service->offered_pps = offered_pps;
			service->source_ns = 0;
			service->trials = 3;
			service->cpu = 1;
		}
	}
	for (size_t i = 0; i < sizeof(frame_sizes) / sizeof(frame_sizes[0]); i++) {
		run->sizes[run->size_count].frame_bytes = frame_sizes[i];
		run->sizes[run->size_count].port = RUN_PORT_LIVE;
		run->sizes[run->size_count].last_seen_point = HOPS;
		run->sizes[run->size_count++].delivered = 1;
	}
}

static void add_shares(struct run *run, const double ns[HOPS], const double error_ns[HOPS])
{
	run->share_count = HOPS;
	for (int i = 0; i < HOPS; i++)
		run->shares[i] = (struct run_hop_share){ ns[i], error_ns[i], 1, i > 0 };
}

static void add_costs(struct run *run)
{
	static const double per_byte[HOPS] = { 0.012, 0.014, 0.003, 0.021, 0.004 };

	for (int i = 0; i < HOPS; i++)
		run->cost[run->cost_count++] =
			(struct run_cost){ i + 1,	run->shares[i].service_ns - per_byte[i] * 1514,
					   per_byte[i], 0.99 - 0.07 * (i % 2),
					   6.5,		0.004 };
	run->path_cost = (struct run_cost){ 0, 1251.3, 0.054, 0.987, 14.2, 0.009 };
}

static void add_latency(struct run *run, const char *load, double rate_pps, const double p50_us[HOPS], double queue_us,
			int queue_hop)
{
	struct run_latency *latency = &run->latency[run->latency_count++];
	double path_us = 0;

	SET(latency->load, "%s", load);
	latency->rate_pps = rate_pps;
	latency->frame_bytes = 1514;
	for (int i = 0; i <= HOPS; i++) {
		struct run_percentiles *to = i < HOPS ? &latency->hops[i] : &latency->path;
		double us = i < HOPS ? p50_us[i] + (i + 1 == queue_hop ? queue_us : 0) : path_us;

		path_us += us;
		*to =
			(struct run_percentiles){ 9984,	     us * 800,	us * 1000, us * 1130,
						  us * 1480, us * 2410, us * 9050, 0 };
	}
}

static void add_throughput(struct run *run, double ndr_low, double ndr_high, double pdr_low, double pdr_high)
{
	run->has_throughput = 1;
	run->ndr = run->goals[0]; /* all unknown */
	run->ndr.lower_pps = run->ndr.conditional_pps = ndr_low;
	run->ndr.upper_pps = ndr_high;
	run->ndr.loss_ratio = run->ndr.loss_goal = 0;
	run->ndr.exceed_ratio = 0.5;
	run->ndr.width = 0.05;
	run->ndr.final_trial_s = run->ndr.duration_sum_s = 0.6;
	run->pdr = run->ndr;
	run->pdr.lower_pps = pdr_low;
	run->pdr.upper_pps = pdr_high;
	run->pdr.loss_ratio = 0.0031;
	run->pdr.loss_goal = 0.005;
	run->pdr.conditional_pps = pdr_low * (1 - 0.0031);
	run->goal_count = 2;
	run->search_trials = 41;
	run->search_trial_s = 4.85;
	run->cuts[run->cut_count++] =
		(struct run_cut){ HOPS, pdr_low, pdr_high, units_gbps(pdr_low, 1514), RUN_LIMIT_PATH };
}

/* A trial that loses `lost` frames at each hop up to the sink. */
static struct run_trial *add_trial(struct run *run, enum run_purpose purpose, double asked_pps, int64_t sent, int sink,
				   const int64_t *lost)
{
	struct run_trial *trial = run_add_trial(run);

	require(trial != NULL, "run_add_trial");
	trial->purpose = purpose;
	trial->sink_point = sink;
	trial->asked_pps = asked_pps;
	trial->duration_s = purpose == RUN_PURPOSE_DELIVERY ? 0.01 : 1;
	trial->offered_pps = (double)sent / trial->duration_s;
	trial->frame_bytes = 1514;
	trial->port = run->source.port;
	trial->stamp_interval = purpose == RUN_PURPOSE_SERVICE ? 0 : 64;
	trial->sent = sent;
	trial->points[0] = -1;
	for (int64_t i = 0, left = sent; i < sink; i++) {
		left -= lost ? lost[i] : 0;
		if (purpose == RUN_PURPOSE_PRESSURE || purpose == RUN_PURPOSE_DELIVERY || i + 1 == sink)
			trial->points[i + 1] = left;
	}
	trial->duplicates = 0;
	trial->reordered = 0;
	trial->slips = 0;
	if (asked_pps > 0) {
		trial->lateness_mean_ns = 142.5;
		trial->lateness_max_ns = 18211;
	}
	require(run_trial_conserve(run, trial) == 0, "run_trial_conserve");
	return trial;
}

static void add_common_trials(struct run *run, const double service_pps[HOPS], double capacity_pps)
{
	add_trial(run, RUN_PURPOSE_DELIVERY, 0, 64, HOPS, NULL);
	add_trial(run, RUN_PURPOSE_IDLE_LATENCY, 10000, 10000, HOPS, NULL);
	for (int point = 1; point <= HOPS; point++) {
		const int64_t lost[HOPS] = { [0] = 5123400 - (int64_t)service_pps[point - 1] };

		add_trial(run, RUN_PURPOSE_SERVICE, 0, 5123400, point, lost);
	}
	for (int step = 0; step < 3; step++) {
		const int64_t lost[HOPS] = { 0, step == 2 ? 4021 : 3 * step, 0, 0, 0 };
		double rate = capacity_pps * (0.8 + 0.15 * step);

		add_trial(run, RUN_PURPOSE_CAPACITY, rate, (int64_t)rate, HOPS, lost);
	}
	run->has_observer = 1;
	run->observer = (struct run_observer){ 0.978, 0.961, 0.99, 29.4, 5 };
}

static void add_cpu(struct run *run, int cpu, double softirq, double system, double user)
{
	run->pressure.cpus[run->pressure.cpu_count++] =
		(struct run_cpu){ cpu, softirq + system + user, softirq, system, user, 0 };
}

static void add_evidence(struct run *run, const char *name, int hop, const char *text)
{
	struct run_evidence *evidence = &run->verdict.evidence[run->verdict.evidence_count++];

	SET(evidence->name, "%s", name);
	SET(evidence->text, "%s", text);
	evidence->hop = hop;
}

static void set_verdict(struct run *run, enum run_verdict_kind kind, int hop, enum run_cause cause, double confidence,
			const char *sentence)
{
	run->verdict.kind = kind;
	run->verdict.hop = hop;
	run->verdict.cause = cause;
	run->verdict.confidence = confidence;
	SET(run->verdict.sentence, "%s", sentence);
}

static void start_pressure(struct run *run, double asked_pps, const int64_t lost[HOPS])
{
	add_trial(run, RUN_PURPOSE_PRESSURE, asked_pps, (int64_t)asked_pps, HOPS, lost);
	run->pressure.trial = run->trial_count - 1;
	for (int i = 0; i < POINTS; i++)
		run->pressure.serving_cpu[i] = i > 0;
}

static const double sea_pps[HOPS] = { 2903120, 981440, 1030870, 712310, 751020 };
static const double idle_us[HOPS] = { 0.8, 2.0, 0.9, 2.0, 0.9 };

static struct run *sea_cpu(void)
{
	static const double shares[HOPS] = { 344.5, 674.4, 0, 433.8, 0 },
			    errors[HOPS] = { 4.2, 21.7, 24.9, 30.6, 41.3 };
	static const int64_t lost[HOPS] = { 41877, 118, 0, 0, 0 };
	struct run *run = new_run();
	struct run_trial *trial;

	add_services(run, sea_pps, 5123400);
	add_shares(run, shares, errors);
	add_costs(run);
	add_throughput(run, 502310, 551890, 601480, 652440);
	run->ndr.irregular = run->ndr.wide = 1;
	add_latency(run, "idle", 10000, idle_us, 0, 0);
	add_latency(run, "50%", 251150, idle_us, 1.4, 1);
	add_latency(run, "90%", 452080, idle_us, 14.6, 1);
	add_latency(run, "110%", 717690, idle_us, 287.3, 1);
	run->has_mtu_gain = 1;
	run->mtu_gain = (struct run_mtu_gain){ 1514, 9014, 4.38, 4.66, 42.4 };
	run->has_bypass = 1;
	run->bypass = (struct run_bypass){ .hop = 2,
					   .capacity_pps = 921430,
					   .with_hop_pps = 748220,
					   .ratio = 1.231,
					   .low_ratio = 1.19,
					   .high_ratio = 1.278,
					   .pairs = 11,
					   .cpu_saved_s = 0.251,
					   .idle_ns = 5890,
					   .with_hop_idle_ns = 6640 };
	SET(run->bypass.way, "%s", "the fast path");
	add_common_trials(run, sea_pps, 601480);
	start_pressure(run, 717690, lost);
	trial = &run->trials[run->pressure.trial];
	trial->drop_count = 1;
	SET(trial->drops[0].reason, "FULL_RING");
	SET(trial->drops[0].interface, "vp1");
	trial->drops[0].count = 41877;
	add_cpu(run, 0, 0.02, 0.97, 0.01);
	add_cpu(run, 1, 0.991, 0.006, 0);
	set_verdict(run, RUN_VERDICT_CAPPED, 2, RUN_CAUSE_CPU, 0.87,
		    "Hop 2, bridge vsw0 (vp1 → vp2), caps the path: of 2.90 Mpps (35.2 Gbit/s) that reach it, 981 kpps "
		    "(11.9 Gbit/s) pass, because CPU 1 is busy; each frame costs 653 ns and each byte 0.014 ns there. "
		    "MTU 9000 would carry 4.7 times as many Gbit/s.");
	add_evidence(run, "capacity_step", 2, "capacity falls from 2.90 Mpps before it to 981 kpps behind it");
	add_evidence(run, "cpu_saturation", 2,
		     "CPU 1 serves it and is 100 % busy, 99 % in softirq, while 41 877 frames are lost");
	add_evidence(run, "loss_at_hop", 1, "41 877 of 717 690 frames are lost in the ring in front of the bridge");
	add_evidence(run, "latency_growth", 1, "p50 grows from 0.80 µs at idle to 15.4 µs at 90 % of NDR");
	add_evidence(run, "bypass", 2,
		     "replaced by the fast path the path passes 921 kpps instead of 748 kpps, 1.23 times (1.19 to 1.28, 11 "
		     "pairs), 0.25 s of CPU time less per million frames");
	return run;
}

static struct run *sea_tbf(void)
{
	static const double pps[HOPS] = { 2903120, 981440, 1030870, 712310, 33024.5 };
	static const double shares[HOPS] = { 344.5, 674.4, 0, 433.8, 28872.1 },
			    errors[HOPS] = { 4.2, 21.7, 24.9, 30.6, 118.4 };
	static const int64_t lost[HOPS] = { 0, 0, 0, 3304, 0 };
	struct run *run = new_run();
	struct run_trial *trial;

	add_services(run, pps, 5123400);
	for (int i = 0; i < run->service_count; i++) { /* a shaper counts bytes */
		struct run_service *service = &run->services[i];

		if (service->point != HOPS)
			continue;
		service->pps = fmin(400e6 / 8 / service->frame_bytes, 748800);
		service->low_pps = service->pps * 0.999;
		service->high_pps = service->pps * 1.001;
	}
	add_shares(run, shares, errors);
	add_costs(run);
	run->cost[4] = (struct run_cost){ 5, 41.2, 19.98, 1, 3.1, 0.002 };
	run->path_cost = (struct run_cost){ 0, 38.9, 20.01, 1, 3.3, 0.002 };
	add_throughput(run, 32870, 33010, 33010, 33190);
	add_latency(run, "idle", 3000, idle_us, 0, 0);
	add_latency(run, "50%", 16430, idle_us, 0.4, 4);
	add_latency(run, "90%", 29580, idle_us, 8.2, 4);
	add_latency(run, "110%", 36310, idle_us, 49120, 4);
	run->has_bypass = 1; /* asked for, refused */
	run->bypass.hop = 5;
	SET(run->bypass.way, "%s", "the fast path");
	SET(run->bypass.why_not, "%s", "it is no bridge, and only bridges have a way past them");
	add_common_trials(run, pps, 33010);
	start_pressure(run, 36310, lost);
	trial = &run->trials[run->pressure.trial];
	trial->drop_count = 1;
	SET(trial->drops[0].reason, "QDISC_DROP");
	SET(trial->drops[0].interface, "phys0");
	trial->drops[0].count = 3304;
	run->pressure.queue_count = 1;
	run->pressure.queues[0] = (struct run_queue){ 4, "phys0", "tbf", 50000000, 3304, 5121, 2497000, 1650 };
	add_cpu(run, 0, 0.01, 0.05, 0.01);
	add_cpu(run, 1, 0.062, 0.003, 0);
	set_verdict(
		run, RUN_VERDICT_CAPPED, 5, RUN_CAUSE_RATE_LIMIT, 0.98,
		"Hop 5, wire phys0-nic0 (phys0 → nic0), caps the path: of 712 kpps (8.63 Gbit/s) that reach it, "
		"33.0 kpps (0.40 Gbit/s) pass, because the tbf queue on phys0 limits it to 400 Mbit/s "
		    "while the CPUs idle.");
	add_evidence(run, "capacity_step", 5, "capacity falls from 712 kpps before it to 33.0 kpps behind it");
	add_evidence(run, "queue_counters", 5, "tbf on phys0 dropped 3 304 frames and held up to 2 497 000 bytes");
	return run;
}

static struct run *sea_rate(void)
{
	static const double pps[HOPS] = { 10000, 10000, 9999, 10000, 9998 };
	struct run *run = new_run();

	run->rate_limit_asked_pps = 10000;
	run->measuring_s = 22.4;
	for (int point = 1; point <= HOPS; point++)
		run->services[run->service_count++] = (struct run_service){
			point, 1514, RUN_PORT_LIVE, pps[point - 1], 9997, 10000, 10000, 0, NAN, NAN, 3, 1, 0
		};
	run->sizes[run->size_count++] = (struct run_size){ 1514, RUN_PORT_LIVE, HOPS, 1 };
	add_throughput(run, 10000, 10000, 10000, 10000);
	run->ndr.no_upper = run->ndr.source_limited = run->pdr.no_upper = run->pdr.source_limited = 1;
	run->pdr.loss_ratio = 0;
	run->pdr.conditional_pps = run->pdr.lower_pps;
	run->cuts[0].limited_by = RUN_LIMIT_SOURCE;
	run->cuts[0].upper_pps = NAN;
	add_latency(run, "idle", 1000, idle_us, 0, 0);
	add_latency(run, "90%", 9000, idle_us, 0.3, 1);
	add_trial(run, RUN_PURPOSE_DELIVERY, 0, 64, HOPS, NULL);
	add_trial(run, RUN_PURPOSE_IDLE_LATENCY, 1000, 1000, HOPS, NULL);
	for (int point = 1; point <= HOPS; point++)
		add_trial(run, RUN_PURPOSE_SERVICE, 10000, 10000, point, NULL);
	start_pressure(run, 10000, NULL);
	add_cpu(run, 0, 0, 0.02, 0.01);
	add_cpu(run, 1, 0.014, 0.002, 0);
	set_verdict(run, RUN_VERDICT_SOURCE_LIMITED, 0, RUN_CAUSE_SOURCE, 0.99,
		    "The source is the limit: it offered 10.0 kpps (0.12 Gbit/s), held by --rate 10000, and all of it "
		    "arrived; what the path can carry lies above. Run again without --rate.");
	add_evidence(run, "source_ceiling", 0, "every cut passes all of the 10.0 kpps that the source offers");
	return run;
}

static struct run *sea_mtu(void)
{
	static const double shares[HOPS] = { 344.5, 674.4, 0, 433.8, 0 },
			    errors[HOPS] = { 4.2, 21.7, 24.9, 30.6, 41.3 };
	static const int64_t lost[HOPS] = { 0, 0, 64, 0, 0 }, none[HOPS] = { 0 };
	struct run *run = new_run();
	struct run_trial *trial;

	for (int i = 0; i < POINTS; i++)
		run->points[i].mtu_bytes = i == 3 ? 1500 : 9000;
	run->measuring_s = 34.2;
	add_services(run, sea_pps, 5123400);
	for (int point = 1; point <= 2; point++)
		run->services[run->service_count++] = (struct run_service){
			point, 9014, RUN_PORT_PACKET, 310480, 305110, 313020, 311200, 0, NAN, NAN, 3, 1, 1
		};
	run->sizes[run->size_count++] = (struct run_size){ 9014, RUN_PORT_PACKET, 2, 0 };
	add_shares(run, shares, errors);
	add_costs(run);
	add_throughput(run, 502310, 551890, 601480, 652440);
	add_latency(run, "idle", 10000, idle_us, 0, 0);
	add_latency(run, "90%", 452080, idle_us, 14.6, 1);
	add_common_trials(run, sea_pps, 601480);
	trial = add_trial(run, RUN_PURPOSE_DELIVERY, 0, 64, HOPS, lost);
	trial->frame_bytes = 9014;
	trial->port = RUN_PORT_PACKET;
	start_pressure(run, 552540, none);
	add_cpu(run, 0, 0.02, 0.97, 0.01);
	add_cpu(run, 1, 0.76, 0.006, 0);
	run->pressure.hog_count = 1;
	run->pressure.hogs[0] = (struct run_hog){ 1, 4711, "md5sum", 0.18 };
	run->finding_count = 1;
	SET(run->findings[0].id, "mtu-step");
	SET(run->findings[0].severity, "fail");
	SET(run->findings[0].interface, "trunk0");
	SET(run->findings[0].evidence, "MTU 1500 between vp2 (MTU 9000) and phys0 (MTU 9000)");
	SET(run->findings[0].rule, "every interface of a path has the same MTU");
	SET(run->findings[0].fix, "ip -n hopcap-1f3a-vios link set trunk0 mtu 9000");
	SET(run->findings[0].effect, "frames of more than 1514 bytes vanish here without a message to the sender");
	SET(run->findings[0].explains, "mtu");
	set_verdict(
		run, RUN_VERDICT_CAPPED, 3, RUN_CAUSE_MTU, 0.97,
		"Hop 3, wire vp2-trunk0 (vp2 → trunk0), caps the path: frames of 9014 bytes reach vp2 and none gets "
		"to trunk0, because trunk0 has MTU 1500; frames of 1514 bytes pass.");
	add_evidence(run, "mtu", 3,
		     "64 of 64 frames of 9014 bytes are lost between vp2 (MTU 9000) and trunk0 (MTU 1500)");
	return run;
}

/* The path as a whole by RFC 2544, with short trials. */
static struct run *sea_rfc2544(void)
{
	static const double service_pps[] = { 1180400, 1098300, 902100 }, source_pps[] = { 5301200, 5290100, 5123400 };
	static const unsigned int sizes[] = { 60, 508, 1514 };
	struct run *run = new_run();

	run->primary_bytes = 1514;
	run->loss_goal = 0.005;
	run->measuring_s = 512.3;
	run->has_rfc2544 = 1;
	run->rfc2544.trial_s = 2;
	run->rfc2544.stream_s = 4;
	run->rfc2544.burst_s = 1 / 15.0;
	run->rfc2544.settle_s = 1 / 15.0;
	run->rfc2544.pause_s = 1 / 6.0;
	run->rfc2544.resolution = 0.005;
	for (int i = 0; i < 3; i++) {
		struct run_rfc2544_size *size = &run->rfc2544.sizes[run->rfc2544.size_count++];

		run->sizes[run->size_count++] = (struct run_size){ sizes[i], RUN_PORT_LIVE, HOPS, 1 };
		size->frame_bytes = sizes[i];
		size->port = RUN_PORT_LIVE;
		size->max_pps = source_pps[i];
		size->throughput_pps = i == 2 ? 0 : service_pps[i] * 0.83;
		size->lossy_pps = i == 2 ? 1 : service_pps[i] * 0.835;
		size->throughput_trials = i == 2 ? 23 : 11;
		if (i < 2) {
			size->latency_repetitions = 20;
			size->latency_pps = size->throughput_pps;
			size->latency_frames = 79680;
			size->latency_lost = (uint64_t)(31 * i);
			size->latency_mean_ns = 9120 + 130 * i;
			size->latency_median_ns = 7310 + 110 * i;
			size->latency_p999_ns = 61440;
			size->latency_min_ns = 5980;
			size->latency_max_ns = 241664;
		}
		for (size->step_count = 0; size->step_count < 10 - 2 * (i < 2); size->step_count++) {
			double rate = source_pps[i] * (1 - 0.1 * size->step_count);

			size->steps[size->step_count] = (struct run_rfc2544_step){
				100 - 10 * size->step_count, rate, rate > service_pps[i] ? 1 - service_pps[i] / rate : 0.00002 * (i == 2)
			};
		}
		size->loss_clean = i < 2;
		size->bursts = 50;
		size->burst_frames = 421.5 - 17 * i;
		size->burst_min_frames = 388;
		size->burst_max_frames = 512;
		size->burst_deviation_frames = 33.1;
		size->burst_pps = source_pps[i] * 0.98;
		size->buffer_ns = i == 2 ? NAN : 66012.5;
	}
	set_verdict(run, RUN_VERDICT_NONE, 0, RUN_CAUSE_UNKNOWN, NAN,
		    "Measured as a whole by RFC 2544: no hop was looked at, so none is named.");
	return run;
}

static void save(struct run *run, const char *directory, const char *name)
{
	char path[4096];

	SET(path, "%s/%s.json", directory, name);
	run->goals[0] = run->ndr;
	run->goals[1] = run->pdr;
	require(run_json_save(run, path) == 0, path);
	run_free(run);
}

/* Source in a guest, sink on a third machine: hops 1 and 5 lie between two clocks, and only the second one is driven backwards. */
static struct run *two_clocks(void)
{
	struct run *run = sea_cpu();
	const struct run_domain unknown = run->domains[0];

	run->lab[0] = 0;
	SET(run->points[0].name, "ent0@guest");
	SET(run->points[0].domain, "guest");
	SET(run->points[5].name, "nic0@far");
	SET(run->points[5].domain, "far");
	for (int i = 0; i < run->latency_count; i++) {
		run->latency[i].hops[0].bound_ns = 1212.4; /* above its idle median, below what it is under load */
		run->latency[i].hops[4].bound_ns = 92.25;
		run->latency[i].path.bound_ns = 1304.6;
	}
	run->domain_count = 3;
	for (int i = 0; i < 3; i++) {
		run->domains[i] = unknown;
		SET(run->domains[i].name, "%s", i == 0 ? "local" : i == 1 ? "guest" : "far");
		SET(run->domains[i].kernel, "%s", i == 1 ? "6.12.30" : "6.18.0");
		SET(run->domains[i].machine, "x86_64, 2 CPUs");
		run->domains[i].first_cpu = 2 * i;
		run->domains[i].cpu_count = 2;
	}
	run->domains[0].clock_offset_ns = -81234567;
	run->domains[0].clock_bound_ns = 1212.4;
	run->domains[0].clock_linear_ns = 804.1;
	run->domains[0].clock_drift_ppm = -12.25;
	run->domains[0].round_trip_ns = 2100;
	run->domains[0].clock_exchanges = 412;
	SET(run->domains[1].frames_note, "no test frame goes from nic0@far to ent0@guest");
	run->domains[2].clock_offset_ns = 5123;
	run->domains[2].clock_bound_ns = 92.25;
	run->domains[2].clock_spread_ns = 14;
	run->domains[2].round_trip_ns = 181;
	run->domains[2].clock_exchanges = 460;
	run->domains[2].frame_exchanges = 48;
	run->domains[2].clock_steps = 1;
	run->domains[2].crossing_out_hop = run->domains[2].crossing_back_hop = 5;
	run->domains[2].crossing_half_min_ns = 81.5;
	run->domains[2].crossing_half_ns = 840.25;
	run->domains[2].crossing_bound_ns = 61.5;
	return run;
}

int main(int argc, char **argv)
{
	const char *directory = argc > 1 ? argv[1] : ".";

	save(sea_cpu(), directory, "sea_cpu");
	save(sea_tbf(), directory, "sea_tbf");
	save(sea_rate(), directory, "sea_rate");
	save(sea_mtu(), directory, "sea_mtu");
	save(sea_rfc2544(), directory, "sea_rfc2544");
	save(two_clocks(), directory, "two_clocks");
	return 0;
}
