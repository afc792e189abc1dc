/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the doctor says: one finding. Pure data; filled by doctor/, shown by report/. */
#ifndef MODEL_FINDING_H
#define MODEL_FINDING_H

#include "model/run.h"

enum finding_severity { FINDING_FAIL, FINDING_WARN, FINDING_INFO, FINDING_UNKNOWN };

struct finding {
	char id[32]; /* of the check: "mtu-step" */
	enum finding_severity severity;
	int netns, ifindex; /* it is about; 0: the machine, a process or pasted text */
	char interface[96]; /* as a point says it: "tap0@ns:host"; or "qemu 4711", "ent6 (entstat)"; "" the machine */
	int hop;	    /* 1…: on the path that was asked for; 0 not on it */
	char *evidence;	    /* the very line or lines read, with where they were read */
	char *rule;	    /* what was expected and why it matters, one sentence */
	char *fix;	    /* one command, or where to change it when it is not a command; "" none */
	char *effect;	    /* what should change when it is done */
	const char *reference; /* manual section */
	double cap_gbps;       /* what can pass at most because of it; 0 unknown */
	enum run_cause explains; /* a cause of a verdict that it may be behind; RUN_CAUSE_UNKNOWN: none in particular */
	int is_tcp_only;       /* 1: it matters to TCP's segments, and says nothing of frames that are sent one by one, as a run's */
	double rank;	       /* higher first: by how likely this caps the path */
};

struct finding_list {
	int count;
	struct finding *findings; /* sorted by rank */
};

const char *finding_severity_name(enum finding_severity severity); /* fail warn info unknown */
struct finding *finding_list_add(struct finding_list *list);	   /* NULL: out of memory */
void finding_list_free(struct finding_list *list);

/* {"schema": "hopcap.findings/1", "findings": […]}: a new reference or NULL. */
struct json_t;
struct json_t *finding_list_to_json(const struct finding_list *list);

#endif
