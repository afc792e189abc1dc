/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Points as users write them. Pure.
 *
 *   INTERFACE[@WHERE][:in|:out][:tc|:xdp|:generic]
 *   WHERE: ns:NAMESPACE            a named network namespace of this kernel
 *          local                   this kernel; the same as nothing
 *          DOMAIN[:ns=NAMESPACE]   another kernel, called so by --domain, there perhaps in a named namespace
 */
#ifndef MODEL_POINT_SYNTAX_H
#define MODEL_POINT_SYNTAX_H

#include <stddef.h>

#include "model/run.h"

struct point_text {
	char interface[16];
	char domain[RUN_NAME_BYTES];	 /* "" = this kernel */
	char netns[RUN_NAME_BYTES];	 /* "" = the caller's, or the agent's */
	int direction_given, hook_given; /* 1: the user said so, do not derive */
	enum run_direction direction;
	char mode[16]; /* with hook_given: "tcx" for :tc, "native" for :xdp, "generic" */
};

/* 0, or -EINVAL with error text that quotes the point and shows the syntax. */
int point_parse(const char *text, struct point_text *point);
/* The same for who can ask other kernels: with a DOMAIN, whose name is not checked. point_parse() refuses it. */
int point_parse_in_domains(const char *text, struct point_text *point);
/* "eth0@guest:ns=blue": how a point is called in reports, without direction and hook. 0, or -EINVAL with error text: too long. */
int point_print(const struct point_text *point, char *name, size_t size);
/* How `ip` is called for a namespace: "ip", "ip -n blue", and "nsenter -t 4711 -n ip" for "pid:4711". */
struct point_ip {
	char text[RUN_NAME_BYTES + 24];
};
struct point_ip point_ip(const char *netns);

#endif
