/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The benchmarks of RFC 2544 by its own rules: throughput, latency, frame loss rate, back-to-back frames. Pure: trials
 * come through a function pointer, and so do the pauses between them.
 */
#ifndef MEASURE_RFC2544_H
#define MEASURE_RFC2544_H

#include <stdint.h>

#define RFC2544_TRIAL_S 60.0	  /* 24: at least, when the result is determined */
#define RFC2544_STREAM_S 120.0	  /* 26.2: at least */
#define RFC2544_BURST_S 2.0	  /* 26.4: longest burst that is tried */
#define RFC2544_SETTLE_S 2.0	  /* 23: for frames that are still on their way */
#define RFC2544_PAUSE_S 5.0	  /* 23: for the device to settle */
#define RFC2544_REPETITIONS 20	  /* 26.2 */
#define RFC2544_BURSTS 50	  /* 26.4 */
#define RFC2544_MAX_STEPS 10	  /* 26.3: 100 % down to 10 % */
#define RFC2544_TAGGED_FRAMES 500 /* RFC 8219, 7.2: for median and 99.9th percentile */

struct rfc2544_plan {
	double max_pps;	   /* 100 %: the most that the source or the medium offers at this frame size */
	double resolution; /* of the throughput: (lowest rate with loss - throughput) / that rate */
	double trial_s;	   /* of throughput and frame loss rate */
	double stream_s;   /* of latency */
	double burst_s;	   /* longest burst that is tried, at max_pps */
	int repetitions;   /* streams of latency */
	int bursts;	   /* searches for the longest burst */
};

/* What one trial is asked for. */
struct rfc2544_load {
	double pps;	   /* 0: as fast as the source goes (bursts) */
	double duration_s; /* 0: `frames` decide */
	uint64_t frames;
	int with_latency; /* 1: the result's latency is wanted */
};

struct rfc2544_trial {
	uint64_t sent, received;
	double duration_s; /* of sending */
	/* Of the frames that were stamped, when asked for. */
	uint64_t stamped;
	double mean_ns, median_ns, p999_ns, min_ns, max_ns;
};

/* One trial, with all pauses that the RFC wants around it. 0 or -errno with error text. */
typedef int (*rfc2544_trial_function)(void *context, const struct rfc2544_load *load, struct rfc2544_trial *trial);

struct rfc2544_throughput {
	double pps;	   /* highest rate that lost nothing, as achieved; 0: none did */
	double asked_pps;  /* the same as asked for */
	double lossy_pps;  /* lowest rate that was seen to lose; 0: none was (then max_pps passes) */
	double loss_ratio; /* there */
	int trials;
	double trial_s; /* in all */
};

/* 26.1, by binary search with trials of the full length throughout. `allowed_loss` is 0 by the RFC. */
int rfc2544_throughput(const struct rfc2544_plan *plan, double allowed_loss, rfc2544_trial_function run_trial,
		       void *context, struct rfc2544_throughput *result);

struct rfc2544_latency {
	int repetitions;
	uint64_t stamped;	   /* frames in all streams */
	double mean_ns;		   /* RFC 2544: average of the repetitions */
	double median_ns, p999_ns; /* RFC 8219: medians of those of the repetitions */
	double min_ns, max_ns;
	uint64_t lost; /* frames in all streams: not 0, when throughput is not what it was */
};

/* 26.2 at `pps`. */
int rfc2544_latency(const struct rfc2544_plan *plan, double pps, rfc2544_trial_function run_trial, void *context,
		    struct rfc2544_latency *result);

struct rfc2544_step {
	double percent;	    /* of max_pps */
	double offered_pps; /* achieved */
	double loss_ratio;  /* (sent - received) / sent */
};

struct rfc2544_loss {
	int count;
	struct rfc2544_step steps[RFC2544_MAX_STEPS];
	int is_clean; /* 1: ended with two successive trials without loss; 0: with the last step */
};

/* 26.3: from 100 % down in steps of 10 %. */
int rfc2544_loss_rate(const struct rfc2544_plan *plan, rfc2544_trial_function run_trial, void *context,
		      struct rfc2544_loss *result);

struct rfc2544_bursts {
	int count;						      /* searches */
	double mean_frames, min_frames, max_frames, deviation_frames; /* of the longest burst without loss */
	int is_unbounded; /* 1: the longest burst that was tried passed in most searches: no buffer ever filled */
	double rate_pps;  /* in bursts: max_pps (a burst is too short to be timed from outside) */
	/* RFC 9004: how long the buffer lasts at that rate, less what was forwarded meanwhile; NAN when unknown or
	 * unbounded. */
	double buffer_ns;
	int trials;
};

/* 26.4 with the search and correction of RFC 9004; throughput_pps 0: not known. */
int rfc2544_back_to_back(const struct rfc2544_plan *plan, double throughput_pps, rfc2544_trial_function run_trial,
			 void *context, struct rfc2544_bursts *result);

#endif
