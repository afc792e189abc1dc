/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Points as users write them: INTERFACE[@ns:NAMESPACE][:in|:out][:tc|:xdp|:generic]. Pure.
 */
#ifndef MODEL_POINT_SYNTAX_H
#define MODEL_POINT_SYNTAX_H

#include "model/run.h"

struct point_text {
	char interface[16];
	char netns[RUN_NAME_BYTES];	  /* "" = the caller's */
	int direction_given, hook_given;  /* 1: the user said so, do not derive */
	enum run_direction direction;
	char mode[16];			  /* with hook_given: "tcx" for :tc, "native" for :xdp, "generic" */
};

/* 0, or -EINVAL with error text that quotes the point and shows the syntax. */
int point_parse(const char *text, struct point_text *point);

#endif
