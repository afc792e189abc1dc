/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the cuts' service rates to each hop's own service time. Pure.
 *
 * A share comes in three forms:
 *   measured   service_ns and error_ns are numbers: the hop adds service_ns ± error_ns to each frame;
 *   bounded    service_ns is NAN, error_ns a number: the hop takes at most error_ns, and hides behind a slower hop on
 *              another CPU or behind the source;
 *   unknown    both NAN: a cut that it takes was not measured.
 */
#ifndef MEASURE_ATTRIBUTE_H
#define MEASURE_ATTRIBUTE_H

#include "model/run.h"

/* Fills run->shares from run->services at the primary size (all cuts 1…n must be there). 0 or -ENODATA with error text;
 * then share_count is 0. */
int attribute_hops(struct run *run);

/* The same for any size, into shares[0…point_count-2]. Of several ports at that size the one with the most cuts is
 * read, the source's own before others. On -ENODATA the hops whose own cuts are there are filled all the same. */
int attribute_services(const struct run *run, unsigned int frame_bytes, struct run_hop_share *shares);
/* The same for one port. */
int attribute_port_services(const struct run *run, unsigned int frame_bytes, enum run_port port,
			    struct run_hop_share *shares);

/* The service of a cut at a size through a port; NULL when it was not measured (or its rate is no number above 0). */
const struct run_service *attribute_service(const struct run *run, int point, unsigned int frame_bytes,
					    enum run_port port);
/* The port that attribute_services() reads at a size; -1 when nothing was measured there. */
int attribute_port(const struct run *run, unsigned int frame_bytes);

/* Time a frame takes through a cut (1/C), and its error: from the median to the best trial. */
double attribute_frame_ns(const struct run_service *service);
double attribute_frame_error_ns(const struct run_service *service);
/* 1: all that the source offered came through, and the path did not slow it down: the rate is the source's. */
int attribute_source_limited(const struct run_service *service);

#endif
