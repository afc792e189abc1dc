/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the verdict share: the case, that is, the facts of a run that rules, evidence and sentence are
 * about.
 *
 * verdict.c makes the case, judges and weighs; verdict_facts.c looks facts up; verdict_evidence.c writes the named
 * evidence; verdict_sentence.c writes the one sentence. Nobody else includes this.
 */
#ifndef MEASURE_VERDICT_CASE_H
#define MEASURE_VERDICT_CASE_H

#include <stddef.h>

#include "model/run.h"

#define VERDICT_BUSY 0.9 /* of a CPU: saturated */
#define VERDICT_HOG 0.1	 /* of a CPU: worth naming */

enum verdict_cpu_state {
	VERDICT_CPU_UNSEEN,   /* nothing is known about the CPU of that hop */
	VERDICT_CPU_IDLE,     /* less busy than its service times explain */
	VERDICT_CPU_INFERRED, /* not seen full, but what was seen fits a CPU that was full in the flood trials */
	VERDICT_CPU_BUSY,
};

struct verdict_case {
	struct run *run;
	int hop_count;
	struct run_hop_share shares[RUN_MAX_HOPS];
	const struct run_service *services[RUN_MAX_POINTS]; /* of the cut at each point, primary size; NULL unknown */
	const struct run_trial *pressure;		    /* NULL: there was none */

	/* The CPU with the largest sum of service times (-1 unknown), and the hops that take most of it (0 none). */
	int cpu;
	int top, second;
	/* Service time of the largest hop that the verdict does not name. */
	double rival_ns, rival_error_ns;
	/* Pieces of evidence beside the step that agree with the verdict. */
	int agreeing;

	const struct run_size *lost_size, *passed_size; /* of the MTU rule */
	const struct run_queue *queue;			/* of the shaper rule */
	const struct run_drop *ring;			/* of the ring rule */
	enum verdict_cpu_state cpu_state;		/* of the cap's CPU */
	int first_is_hidden;				/* hop 1 with the sink takes most, and cannot be told from it */
};

/* verdict_facts.c: what is known of a point, a hop, a CPU; NULL or -1 when nothing is. */
const struct run_cut *verdict_cut(const struct run *run, int point);
const struct run_cost *verdict_cost(const struct run *run, int hop);
const struct run_cpu *verdict_cpu(const struct run *run, int cpu);
int verdict_hop_cpu(const struct verdict_case *facts, int hop);
double verdict_cpu_load_ns(const struct verdict_case *facts, int cpu);
enum verdict_cpu_state verdict_cpu_state(const struct verdict_case *facts, int hop);
int verdict_queue_moved(const struct run_queue *queue);
const struct run_queue *verdict_hop_queue(const struct verdict_case *facts, int hop);
/* What found the ring full from which a process (QEMU) or vhost takes the frames that enter a hop at its first point, a tap. */
const struct run_drop *verdict_full_ring(const struct verdict_case *facts, int hop);
int verdict_queue_sets_rate(const struct verdict_case *facts, const struct run_queue *queue, int hop);
int verdict_one_cpu(const struct verdict_case *facts);
/* Smallest size that was lost although a smaller one arrived; 0 when there is none. Sets lost_size and passed_size. */
int verdict_find_mtu_hole(struct verdict_case *facts);
/* 1: an interface beside the hop has an MTU below this frame size. */
int verdict_mtu_too_small(const struct run *run, int point, unsigned int frame_bytes);

/* verdict_evidence.c: fills run->verdict.evidence and counts what agrees. */
void verdict_collect_evidence(struct verdict_case *facts);
/* verdict_sentence.c: fills run->verdict.sentence. */
void verdict_write_sentence(struct verdict_case *facts);

/* Text that grows in a fixed buffer and stays terminated. */
struct verdict_text {
	char *bytes;
	size_t size, used;
};

void verdict_add(struct verdict_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Numbers with units, as values: verdict_pps(rate).text lives as long as the expression it stands in. */
struct verdict_number {
	char text[24];
};

struct verdict_number verdict_pps(double pps);
struct verdict_number verdict_gbps(double gbps);
struct verdict_number verdict_ns(double ns); /* plain ASCII: "us" */

#endif
