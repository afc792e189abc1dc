/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One interface that a command sends from, counts at or reflects on: from the user's text to what is needed to use it.
 */
#ifndef CMD_ENDPOINT_H
#define CMD_ENDPOINT_H

#include "model/point_syntax.h"
#include "model/run.h"

struct endpoint {
	char name[RUN_NAME_BYTES];  /* as written, without suffixes: "ent0@ns:lpar" */
	char interface[16], netns[RUN_NAME_BYTES];
	struct point_text text;
	int ifindex, is_veth;
	unsigned char address[6];
	unsigned int mtu_bytes;
	double line_bps;	    /* 0: the interface does not say */
};

/* generates: frames are made there, so it must not be the machine's uplink unless force_uplink. 0 or -errno with error text:
 * no such interface, down, no carrier. */
int endpoint_open(const char *text, int generates, int force_uplink, struct endpoint *endpoint);

#endif
