/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mixes of frame sizes: a list, a list with weights, or a named IMIX, as an order in which the sizes leave. Pure.
 *
 * Theory. Standards and names count 4 bytes of FCS; hopcap's sizes do not. So "64:7,570:4" are bytes without FCS, as
 * they are for --size, and a named mix is converted (64 is 60 here). Proportions are exact: the order is one period of
 * the mix, as long as the sum of its weights in lowest terms, and it repeats. Within the period the sizes are spread
 * evenly: at place p = 1, 2 … comes the size that is furthest behind its share (largest weight * p - period * given;
 * the earlier one of the list among equals). So it is deterministic, and runs of one size are as short as the
 * proportions allow: 7:4:1 of 60, 566 and 1514 bytes leave as 60 566 60 60 566 60 1514 60 566 60 566 60.
 */
#ifndef TRAFFIC_FRAME_MIX_H
#define TRAFFIC_FRAME_MIX_H

#include <stddef.h>

#include "port/port.h"

#define FRAME_MIX_MAX_SIZES 16

struct frame_mix {
	char name[16];				   /* of a named mix, else "" */
	unsigned int size_count;		   /* distinct sizes, as the user listed them */
	unsigned int sizes[FRAME_MIX_MAX_SIZES];   /* bytes without FCS */
	unsigned int weights[FRAME_MIX_MAX_SIZES]; /* in lowest terms */
	unsigned int count;			   /* of order, 1…PORT_MAX_TEMPLATES: the sum of weights */
	unsigned int order[PORT_MAX_TEMPLATES];	   /* bytes without FCS of the frames of one period */
	double mean_bytes;			   /* without FCS */
};

/*
 * "64", "64,512,1518", "64:7,570:4,1518:1", "imix", "imix-csit", "nfvbench". min_bytes and max_bytes are those of the
 * headers that the frames will have (frame_min_bytes). 0 or -EINVAL with error text that names the part that is wrong,
 * and why. A named mix whose smallest frame is too small for its headers (64 with IPv6) has it raised to min_bytes; the
 * text says so.
 */
int frame_mix_parse(const char *text, unsigned int min_bytes, unsigned int max_bytes, struct frame_mix *mix);
/* One line for people: names, exact sizes with and without FCS, weights, order and mean. Returns buffer. */
const char *frame_mix_describe(const struct frame_mix *mix, char *buffer, size_t size);

#endif
