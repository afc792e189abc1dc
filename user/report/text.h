/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks of the text report, in the order in which they stand, and what they share. Each prints nothing when the
 * run knows nothing of its matter.
 */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include "model/run.h"
#include "report/page.h"

#define TEXT_INDENT 11
#define TEXT_QUANTITY_BYTES 32
#define TEXT_NAME_BYTES (RUN_NAME_BYTES + 16)

void text_header(const struct page *page, const struct run *run);
void text_hops(const struct page *page, const struct run *run);
void text_throughput(const struct page *page, const struct run *run);
void text_rfc2544(const struct page *page, const struct run *run);
void text_sizes(const struct page *page, const struct run *run);
void text_latency(const struct page *page, const struct run *run);
void text_pressure(const struct page *page, const struct run *run);
void text_costs(const struct page *page, const struct run *run);
void text_findings(const struct page *page, const struct run *run);
void text_verdict(const struct page *page, const struct run *run);

/* Number of hops; 0 when there is no path. */
int text_hop_count(const struct run *run);
/* "bridge sea0": the kind and the name, once. Returns buffer. */
const char *text_hop_name(const struct run *run, int hop, char buffer[TEXT_NAME_BYTES]);
/* "trunk0": the point's name without its place, or the whole name when another point is called the same. Returns
 * buffer. */
const char *text_short_point(const struct run *run, int point, char buffer[RUN_NAME_BYTES]);
/* The port in words: "live frames". */
const char *text_port(enum run_port port);
/* What the whole path (point n) or a cut passes at a frame size; NULL when it was not measured. */
const struct run_service *text_service(const struct run *run, int point, unsigned int frame_bytes);
/* The trial that `pressure` is about; NULL when there was none. */
const struct run_trial *text_pressure_trial(const struct run *run);
/* The smallest speed of Ethernet, Gbit/s, that is not below a rate on the wire. */
double text_ethernet_gbps(double most_l1);
/* "12.3 %", with a digit more for small ones. Returns buffer. */
const char *text_percent(char buffer[TEXT_QUANTITY_BYTES], double ratio);

#endif
