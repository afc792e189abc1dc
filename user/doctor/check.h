/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The doctor's checks: tables of rows, and what a judge may use.
 *
 * A check is one row: what it is about, when it applies, a judge, and the texts that `doctor --explain` and the manual print. A
 * judge is pure: it reads facts (and the path, if one was asked for), and reports through check_report(); it calls that once for each
 * thing that is wrong, or that it cannot know (FINDING_UNKNOWN with the reason), and never for what is fine.
 *
 * Adding a check: a row in a table doctor/checks_*.c; adding a table: its name in doctor/tables.c. Called by doctor/doctor.c.
 */
#ifndef DOCTOR_CHECK_H
#define DOCTOR_CHECK_H

#include "model/facts.h"
#include "model/facts_path.h"
#include "model/finding.h"
#include "model/path_sizes.h"

enum check_subject {
	CHECK_MACHINE, /* once */
	CHECK_LINK,    /* each link that is examined: those on the path, or named, or all that are up but loopback */
	CHECK_HOP,     /* each hop of the path; not without one */
	CHECK_PROCESS, /* each process of the facts (QEMU and other holders of taps) that serves an examined link; all without a path */
	CHECK_CLAIMS, /* once, when there is pasted vendor text */
};

struct check_context {
	const struct facts *facts;
	const struct facts *
		earlier; /* of the same machine, some time ago: counters are judged by difference; NULL: since boot, and then a
				      * counter that is not 0 is at most FINDING_INFO */
	const struct facts_path *path; /* NULL: none asked for */
	const struct path_sizes
		*sizes;	  /* what came through of the frame sizes that were sent along `path`; NULL: nobody asked */
	double goal_gbps; /* what the user wants to carry; 0 unknown: then link speed decides */
	/* The subject, by kind; the others are NULL or 0. */
	const struct facts_link *link;
	const struct facts_process *process;
	int hop; /* 1…: path->hops[hop - 1]; for a link: the first hop it takes part in, 0 none */
	/* For check_report(). */
	const struct check *check;
	struct finding_list *findings;
	int has_odd_names; /* shell_needs_quotes() of the facts */
	int error;	   /* -ENOMEM: a finding is missing; the engine looks after each judge */
	int link_count;	   /* links that are examined, and */
	const int
		*links; /* their indices in facts->links, ascending (for checks that weigh links against each other) */
	const int *hop_of; /* by index in facts->links: the first hop it takes part in, 0 none; NULL without a path */
};

struct check {
	const char *id; /* "mtu-step"; never changed once released */
	enum check_subject subject;
	int (*applies)(const struct check_context *context); /* NULL: always */
	void (*judge)(struct check_context *context);
	const char *title; /* "A smaller MTU in the middle of the path" */
	const char *
		why; /* a paragraph for --explain: mechanism, and what it costs (with figures where there is a source) */
	const char *remedy;	 /* a paragraph: how to mend it, how to see that it worked */
	const char *effect;	 /* one line: what should change */
	const char *reference;	 /* section of the manual: "mtu" */
	double weight;		 /* 0…1: how often, when it fails, it is what caps a path */
	enum run_cause explains; /* which cause of a verdict it may be behind; RUN_CAUSE_UNKNOWN: none in particular */
	int is_tcp_only;	 /* 1: it costs who cuts and merges segments, and says nothing of a run's frames */
};

struct check_table {
	const struct check *checks;
	int count;
};

/*
 * Reports a finding of context->check about the context's subject. evidence: the line read and where ("/sys/class/net/tap0/tun_flags:
 * 0x1002"); rule: what was expected; fix: a command or where to change it, "" none; all are formatted by the caller (see
 * check_text()). Copies them. Running out of memory is remembered in the list's owner (doctor.c) and reported at the end.
 */
void check_report(struct check_context *context, enum finding_severity severity, const char *evidence, const char *rule,
		  const char *fix);
/* As check_report(), for what limits a path to a rate that is known (a shaper, a VF's limit, a PCIe link): Gbit/s that can pass.
 * The lower it is, the higher it ranks; above the goal (or, without one, 100 Gbit/s) it makes no difference. */
void check_report_cap(struct check_context *context, enum finding_severity severity, double gbps, const char *evidence,
		      const char *rule, const char *fix);
/* As check_report(), about another link than the context's (NULL: the machine), or about something with a name ("qemu 4711"). */
void check_report_about(struct check_context *context, const struct facts_link *link, enum finding_severity severity,
			const char *evidence, const char *rule, const char *fix);
void check_report_named(struct check_context *context, const char *name, enum finding_severity severity,
			const char *evidence, const char *rule, const char *fix);
/* printf into one of eight rotating buffers of 1024 bytes: for the arguments of check_report(). */
const char *check_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "tap0@ns:host", "eth0" in the caller's namespace. Into a rotating buffer as check_text(). */
const char *check_link_name(const struct check_context *context, const struct facts_link *link);
/* How much a counter grew since context->earlier, or all of it without; -1 unknown. *since_boot tells which. */
int64_t check_counter_growth(const struct check_context *context, const char *counter, int *since_boot);
/* The same of any link. */
int64_t check_growth_of(const struct check_context *context, const struct facts_link *link, const char *counter,
			int *since_boot);
/* For a counter that must not grow: what was read, as text ("rx_missed_errors: grew by 12", "… 12 since boot"), and the
 * severity: `severity` when it is a difference, at most FINDING_INFO when it is since boot. */
const char *check_growth_text(const char *counter, int64_t growth, int since_boot);
enum finding_severity check_growth_severity(enum finding_severity severity, int since_boot);
/* "ip netns exec vios " in front of a command that must run in the link's namespace, "" in the caller's. Rotating buffer. */
const char *check_enter(const struct check_context *context, int netns);
/* A file's line as evidence: "/proc/…: text", "/proc/…: Permission denied", "/proc/…: not among the facts". Rotating buffer. */
const char *check_file_line(const struct check_context *context, int netns, const char *path);
/* Neighbours on the path: the link of point `index` (0…), NULL when it is not in these facts. */
const struct facts_link *check_point_link(const struct check_context *context, int index);
/* What is to be carried: the user's goal, else the speed of the slowest link of the path or of the subject; 0 unknown. */
double check_goal_gbps(const struct check_context *context);
/* 1 when the link is one of those that are examined. */
int check_is_examined(const struct check_context *context, const struct facts_link *link);
/* Hop of a link on the path, 0 none. */
int check_hop_of(const struct check_context *context, const struct facts_link *link);

#endif
