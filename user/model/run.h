/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model of a run: everything that was measured and concluded, and nothing else. run.json is this struct, whole.
 *
 * Owns: the structs, their creation and freeing. Leaves to others: filling them (measure/), turning them into JSON and back
 * (model/model_json.c), showing them (report/). No I/O, no system calls.
 *
 * Conventions: points are numbered 0…point_count-1 from source (0) to sink; hop h (1…point_count-1) lies between points h-1
 * and h, and stands at hops[h-1]. Rates are frames per second (_pps); gbps is layer 2 without FCS; frame_bytes are without
 * FCS. A number that was not measured is RUN_UNKNOWN (double: NAN; counts: -1) and null in JSON.
 */
#ifndef MODEL_RUN_H
#define MODEL_RUN_H

#include <math.h>
#include <stdint.h>

#define RUN_MAX_POINTS 16
#define RUN_MAX_HOPS (RUN_MAX_POINTS - 1)
#define RUN_MAX_SIZES 12
#define RUN_MAX_CPUS 256
#define RUN_NAME_BYTES 64
#define RUN_TEXT_BYTES 512
#define RUN_UNKNOWN_COUNT (-1)
#define RUN_UNKNOWN ((double)NAN)

enum run_hook { RUN_HOOK_SOURCE, RUN_HOOK_XDP, RUN_HOOK_TC, RUN_HOOK_SINK };
enum run_direction { RUN_DIRECTION_IN, RUN_DIRECTION_OUT };
enum run_hop_kind { RUN_HOP_WIRE, RUN_HOP_BRIDGE, RUN_HOP_OPAQUE };
enum run_port { RUN_PORT_LIVE, RUN_PORT_AF_XDP_COPY, RUN_PORT_AF_XDP_ZC, RUN_PORT_PACKET };
enum run_limit { RUN_LIMIT_PATH, RUN_LIMIT_SOURCE };
enum run_verdict_kind { RUN_VERDICT_NONE, RUN_VERDICT_CAPPED, RUN_VERDICT_SOURCE_LIMITED };
enum run_cause { RUN_CAUSE_UNKNOWN, RUN_CAUSE_CPU, RUN_CAUSE_RATE_LIMIT, RUN_CAUSE_QUEUE, RUN_CAUSE_MTU, RUN_CAUSE_SOURCE };
enum run_purpose {
	RUN_PURPOSE_DELIVERY,	    /* a few frames: do they arrive at all, point by point */
	RUN_PURPOSE_IDLE_LATENCY,
	RUN_PURPOSE_SERVICE,	    /* more offered than fits: the rate that comes through is the service rate */
	RUN_PURPOSE_CAPACITY,	    /* a step of a search */
	RUN_PURPOSE_LOADED_LATENCY,
	RUN_PURPOSE_PRESSURE,	    /* just above capacity, all points probed: where frames are lost and why */
	RUN_PURPOSE_OBSERVER,	    /* paired, with and without middle probes */
	RUN_PURPOSE_RFC2544,	    /* a trial by RFC 2544's rules */
	RUN_PURPOSE_BYPASS,	    /* paired, with the hop that caps and with it replaced */
};

/* Names of enum values as they stand in run.json; "unknown" past the end. */
const char *run_hook_name(enum run_hook hook);			/* source xdp tc sink */
const char *run_direction_name(enum run_direction direction);	/* in out */
const char *run_hop_kind_name(enum run_hop_kind kind);		/* wire bridge opaque */
const char *run_port_name(enum run_port port);			/* live af_xdp_copy af_xdp_zc packet */
const char *run_limit_name(enum run_limit limit);		/* path source */
const char *run_verdict_kind_name(enum run_verdict_kind kind);	/* none capped source_limited */
const char *run_cause_name(enum run_cause cause);		/* unknown cpu rate_limit queue mtu source */
const char *run_purpose_name(enum run_purpose purpose);		/* delivery … rfc2544 bypass */

struct run_point {
	char name[RUN_NAME_BYTES];	/* as the user says it: "ent0@ns:lpar" */
	char interface[16];
	char domain[RUN_NAME_BYTES];	/* "local", or a name in run->domains */
	char netns[RUN_NAME_BYTES];	/* real name; "" = the caller's */
	enum run_hook hook;
	char mode[16];			/* live, packet, af_xdp_copy; native, generic; tcx, clsact */
	enum run_direction direction;
	unsigned int mtu_bytes;		/* of the interface when the run began */
	char driver[32];		/* link kind or driver: veth, virtio_net; "" unknown */
};

struct run_hop {
	enum run_hop_kind kind;
	char name[RUN_NAME_BYTES]; /* "bridge sea0", "wire vp1-trunk0" */
};

struct run_source {
	enum run_port port;	    /* of the primary frame size */
	char why[RUN_TEXT_BYTES];   /* why this port and no faster one */
	double ceiling_pps;	    /* highest rate the source itself offered at the primary size */
	int cpu;		    /* that it was pinned to; -1 none */
	int self_clocked;	    /* 1: source and path share a CPU, so the source slows down instead of losing frames */
};

/* What a cut passes, by search. Cut k has its sink at point k (1…n). Primary frame size. */
struct run_cut {
	int point;
	double lower_pps, upper_pps; /* capacity lies between (loss goal of the run) */
	double gbps;		     /* at lower_pps */
	enum run_limit limited_by;
};

/* What a cut passes when more is offered than fits: service rate. Trials of all cuts and sizes alternate in rounds; numbers
 * are over the half of the rounds that are most alike, the same ones for all; where frame sizes are compared through one port,
 * over all rounds, brought to the speed of that half (measure/services.c). */
struct run_service {
	int point;
	unsigned int frame_bytes;
	enum run_port port;
	double pps;		/* median */
	double low_pps, high_pps; /* lowest and highest of the trials */
	double offered_pps;	/* median of what the source sent */
	double source_ns;	/* CPU time the source itself needs a frame; 0 when it has a CPU of its own */
	/* CPU time a frame takes, median and lowest of the trials, where others share the CPU and the time that they leave is
	 * known (the path is served by a kernel thread); unknown: the same as 1/pps. */
	double cpu_ns, cpu_low_ns;
	int trials;
	int cpu;		/* that served the sink's point (most frames); -1 unknown */
	int self_clocked;	/* 1: nothing lost although the source went as fast as it could */
};

struct run_percentiles {
	uint64_t count;
	double min_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
	double bound_ns; /* error bound of clock alignment; 0 inside one kernel. Bucket error 1/64 comes on top */
};

struct run_latency {
	char load[16];	 /* "idle", "50%", "90%", "110%" */
	double rate_pps; /* achieved */
	unsigned int frame_bytes;
	struct run_percentiles hops[RUN_MAX_HOPS];
	struct run_percentiles path;
};

struct run_cost {
	int hop;
	double ns_per_frame, ns_per_byte, r2;
	double ns_per_frame_error, ns_per_byte_error; /* standard errors */
};

/* What the whole path sustains for one loss goal, by search. The loss goal, exceed ratio, durations and width are what was asked
 * for; unknown in runs that were saved before there were any. */
struct run_throughput_bounds {
	double lower_pps, upper_pps; /* relevant bounds; lower 0: no load meets the goal */
	double loss_ratio;	     /* measured at lower_pps */
	double loss_goal;
	double conditional_pps;	     /* what came through at the lower bound but for the worst trials (conditional throughput) */
	double exceed_ratio, width, final_trial_s, duration_sum_s;
	int irregular;		     /* 1: one of the following; bounds are then wide on purpose */
	int no_lower;		     /* no load meets the goal for certain */
	int no_upper;		     /* no load fails for certain: upper_pps is the highest that was or could be tried */
	int wide;		     /* wider than asked when the time was up: more was not certain */
	int contradiction;	     /* a lower load failed, or a higher one passed */
	int source_limited;	     /* the highest load meets the goal; no irregularity */
};

#define RUN_MAX_GOALS 8

/* RFC 2544, end to end, at one frame size. Numbers that were not asked for are unknown, counts 0. */
struct run_rfc2544_step {
	double percent;		     /* of max_pps */
	double offered_pps, loss_ratio;
};

#define RUN_MAX_RFC2544_STEPS 10

struct run_rfc2544_size {
	unsigned int frame_bytes;
	enum run_port port;
	double max_pps;		     /* 100 %: what the source offers, or --rate */
	double throughput_pps;	     /* highest rate without loss; 0: none */
	double lossy_pps;	     /* lowest rate that lost; 0: none did */
	int throughput_trials;
	int latency_repetitions;     /* 0: not measured */
	double latency_pps;
	uint64_t latency_frames, latency_lost; /* stamped; lost in all streams */
	double latency_mean_ns, latency_median_ns, latency_p999_ns, latency_min_ns, latency_max_ns;
	int step_count;
	struct run_rfc2544_step steps[RUN_MAX_RFC2544_STEPS];
	int loss_clean;		     /* 1: the two last steps lost nothing */
	int bursts;		     /* searches for the longest burst; 0: not measured */
	double burst_frames, burst_min_frames, burst_max_frames, burst_deviation_frames;
	double burst_pps;	     /* rate in bursts */
	double buffer_ns;	     /* RFC 9004: corrected buffer time */
	int burst_unbounded;	     /* 1: the longest burst that is tried passes */
};

#define RUN_MAX_RFC2544_SIZES 7

struct run_rfc2544 {
	double trial_s, stream_s, burst_s, settle_s, pause_s; /* as used */
	double resolution;	     /* of throughput */
	int by_the_rfc;		     /* 0: trials are shorter than it wants */
	int size_count;
	struct run_rfc2544_size sizes[RUN_MAX_RFC2544_SIZES];
};

struct run_drop {
	char reason[40]; /* kernel's name of the reason, or "interface counter" … */
	char interface[16];
	uint64_t count;
};

#define RUN_MAX_DROPS 8

struct run_trial {
	enum run_purpose purpose;
	int sink_point;		  /* where this trial's frames end */
	double asked_pps;	  /* 0: as fast as the source goes */
	double offered_pps;	  /* achieved: sent / duration */
	double duration_s;
	unsigned int frame_bytes;
	enum run_port port;
	int stamp_interval;	  /* 1 in N frames stamped; 0 none */
	int64_t sent;
	int64_t points[RUN_MAX_POINTS]; /* test frames counted at each point; -1: no probe there in this trial */
	/* Lost between neighbours; -1 where the hop ends at an unprobed point, and then the next known number holds the loss
	 * of the whole stretch. sent = sum of the known + received. */
	int64_t lost[RUN_MAX_HOPS];
	int64_t received;	  /* = points[sink_point] */
	int64_t duplicates, reordered;
	int drop_count;
	struct run_drop drops[RUN_MAX_DROPS];
	double lateness_mean_ns, lateness_max_ns; /* of departures against the plan; NAN when unpaced */
	int64_t slips;		  /* times the plan was moved because the source was kept from running */
};

/* What was seen around the pressure trial: the evidence that rules are judged on. */
struct run_queue {
	int point;		/* whose interface carries the queue */
	char interface[16];
	char kind[16];		/* qdisc kind */
	uint64_t rate_bytes_per_s; /* of a shaper; 0 unknown or none */
	uint64_t drops, overlimits; /* during the trial */
	uint64_t backlog_bytes;	/* most that was seen */
	uint64_t backlog_frames;
};

struct run_cpu {
	int cpu;
	double busy;	/* 0…1, all but idle and iowait */
	double softirq, system, user, steal;
};

struct run_hog {
	int cpu;
	int pid;	/* thread id */
	char command[20];
	double share;	/* of that CPU, 0…1 */
};

#define RUN_MAX_HOGS 8

struct run_pressure {
	int trial;		/* index in trials; -1: there was none */
	int queue_count;
	struct run_queue queues[RUN_MAX_POINTS];
	int cpu_count;
	struct run_cpu cpus[RUN_MAX_CPUS];
	int hog_count;
	struct run_hog hogs[RUN_MAX_HOGS]; /* threads that are neither ours nor the path's */
	int serving_cpu[RUN_MAX_POINTS];   /* CPU that counted most frames at each point; -1 unknown */
};

/* A frame size that was tried: does it get through at all? */
struct run_size {
	unsigned int frame_bytes;
	enum run_port port;
	int last_seen_point;	/* = last point when it arrives */
	int delivered;
};

struct run_observer {
	double throughput_ratio; /* at full load, with the probes of the pressure trial / without middle probes; median of pairs */
	double low_ratio, high_ratio; /* between which the middle half of the pairs lies */
	double ns_per_frame;	 /* from the ratio and the service time */
	int pairs;
};

/*
 * The hop that caps, replaced by something else, in paired trials of the whole path: each pair with the hop and without it, one right
 * after the other. Primary frame size. Numbers are unknown when there are none, and why_not then says why.
 */
struct run_bypass {
	int hop;		/* that was to be replaced; 0: none caps */
	char way[24];		/* by what: "the fast path" */
	char why_not[RUN_TEXT_BYTES]; /* "": it was measured */
	double capacity_pps;	/* passed without the hop, when more is offered than fits; median */
	double with_hop_pps;	/* passed with it; median */
	double ratio;		/* of the two; median of the pairs' ratios … */
	double low_ratio, high_ratio; /* … between which their middle half lies */
	int pairs;
	enum run_limit limited_by; /* source: without the hop the path passes all that is offered; what stands here is the least */
	double cpu_saved_s;	/* of the path's CPU, per million frames; unknown unless that CPU is the cause */
	double idle_ns, with_hop_idle_ns; /* latency of the path at a low rate, medians, without the hop and with it; of pairs, too */
};

/* Larger frames: what they give, measured and by the fitted model. */
struct run_mtu_gain {
	unsigned int small_bytes, large_bytes;	/* frames, without FCS */
	double measured_ratio;			/* Gbit/s large / small; NAN when the path does not take the large ones */
	double model_ratio;
	double model_gbps;			/* at large_bytes */
};

#define RUN_MAX_FINDINGS 16
struct run_finding {
	char id[32], severity[8], interface[16];
	char explains[16]; /* the cause of a verdict that it may be behind, by name; "" none in particular, or saved before there was this */
	char evidence[RUN_TEXT_BYTES], rule[256], fix[256], effect[256];
};

#define RUN_MAX_EVIDENCE 12
struct run_evidence {
	char name[32]; /* capacity_step, loss_at_hop, latency_growth, cpu_saturation, cpu_hog, queue_counters, mtu, source_ceiling, bypass,
			  doctor */
	int hop;       /* 0: none in particular */
	char text[RUN_TEXT_BYTES];
};

struct run_hop_share { /* what attribute.c makes of the services at the primary size */
	double service_ns;	 /* time the hop adds to each frame */
	double error_ns;	 /* of service_ns; when that is unknown, the most it can be */
	int cpu;		 /* that serves it; -1 unknown */
	int same_cpu_as_previous;
};

struct run_verdict {
	enum run_verdict_kind kind;
	int hop;		/* 1…n; 0 none */
	int second_hop;		/* within the error of the first, so named as well; 0 none */
	enum run_cause cause;
	double confidence;	/* 0…1 */
	char sentence[2 * RUN_TEXT_BYTES];
	int evidence_count;
	struct run_evidence evidence[RUN_MAX_EVIDENCE];
};

#define RUN_MAX_DOMAINS 8

/* A kernel that the path lies in. A run inside the local one alone lists none. */
struct run_domain {
	char name[RUN_NAME_BYTES];
	char kernel[80], machine[80];
	int first_cpu, cpu_count;    /* its CPU n is CPU first_cpu + n of the run */
	/* Its clock against the source's; unknown for the source's own. Over all latency trials: the widest bounds. */
	double clock_offset_ns;	     /* its clock less the source's: the middle of what is guaranteed … */
	double clock_bound_ns;	     /* … and half of its width */
	double clock_linear_ns;	     /* if both clocks ran evenly; unknown: they did not */
	double clock_spread_ns;	     /* how well the fastest exchanges agree, if both ways take equally long */
	double clock_drift_ppm;	     /* of its clock against the local one */
	double round_trip_ns;	     /* of the fastest exchange */
	int clock_steps;
	uint64_t clock_exchanges;    /* all of them, … */
	uint64_t frame_exchanges;    /* … and those of them that were test frames through the path */
	char frames_note[RUN_TEXT_BYTES]; /* why there are none; "": there are, or the domain is the local one */
	/* Half of what test frames took from the local kernel there and back, on an idle path: over crossing_out_hop and back over
	 * crossing_back_hop (the same hop where the path was driven both ways). Hops 0 and numbers unknown: not measured. */
	int crossing_out_hop, crossing_back_hop;
	double crossing_half_min_ns, crossing_half_ns; /* least; median */
	double crossing_bound_ns;    /* how far the clocks' rates can have taken that */
};

struct run {
	char created[32];	/* RFC 3339, UTC */
	char version[32];
	char kernel[80], machine[80];
	char lab[32];		/* scenario, "" when on the user's own interfaces */
	unsigned int primary_bytes; /* frame size of cuts, throughput and verdict */
	double loss_goal;	/* of cuts: 0.005 */
	double rate_limit_asked_pps; /* --rate; 0 none: the source may go as fast as it can */
	double measuring_s;	/* wall time from first to last trial */

	int point_count;
	struct run_point points[RUN_MAX_POINTS];
	struct run_hop hops[RUN_MAX_HOPS];
	int domain_count;
	struct run_domain domains[RUN_MAX_DOMAINS];
	struct run_source source;
	int size_count;
	struct run_size sizes[RUN_MAX_SIZES];
	int cut_count;
	struct run_cut cuts[RUN_MAX_POINTS];
	int service_count;
	struct run_service services[RUN_MAX_POINTS * RUN_MAX_SIZES + 3];
	struct run_hop_share shares[RUN_MAX_HOPS];
	int share_count;	/* 0 or point_count-1 */
	int has_throughput;
	struct run_throughput_bounds ndr, pdr; /* of the goals: least loss, most loss */
	int goal_count;
	struct run_throughput_bounds goals[RUN_MAX_GOALS];
	int search_trials;	/* of the search for these, all goals together */
	double search_trial_s;
	int has_rfc2544;
	struct run_rfc2544 rfc2544;
	int latency_count;
	struct run_latency latency[4];
	int cost_count;
	struct run_cost cost[RUN_MAX_HOPS];
	struct run_cost path_cost; /* hop 0: the whole path */
	int has_observer;
	struct run_observer observer;
	int has_bypass;		/* it was asked for */
	struct run_bypass bypass;
	int has_mtu_gain;
	struct run_mtu_gain mtu_gain;
	struct run_pressure pressure;
	int finding_count;
	struct run_finding findings[RUN_MAX_FINDINGS];
	struct run_verdict verdict;
	int trial_count, trial_capacity;
	struct run_trial *trials;
};

/* A run with every number unknown; NULL when out of memory. */
struct run *run_new(void);
void run_free(struct run *run);
/* A new trial at the end, all counts unknown; NULL when out of memory. Pointers to earlier trials become invalid. */
struct run_trial *run_add_trial(struct run *run);
/* Fills received and lost from sent and points. 0, or -ERANGE with error text when more frames were counted at a point than
 * at the one before (a wrong path, or duplicates). */
int run_trial_conserve(const struct run *run, struct run_trial *trial);
/* "hop 2, bridge sea0 (trunk0 → phys0)". Returns buffer. */
const char *run_hop_label(const struct run *run, int hop, char *buffer, unsigned long size);

/* "1", or "1 of guest" for a CPU of another domain than the local one. */
struct run_cpu_name {
	char text[RUN_NAME_BYTES + 32];
};
struct run_cpu_name run_cpu_name(const struct run *run, int cpu);

#endif
