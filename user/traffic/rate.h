/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Offered rates as users write them: frames or bits per second, or a part of the line's rate. Pure.
 */
#ifndef TRAFFIC_RATE_H
#define TRAFFIC_RATE_H

enum rate_unit {
	RATE_FULL, /* as fast as it goes */
	RATE_PPS,
	RATE_BPS,  /* layer 2 without FCS, as everywhere in hopcap */
	RATE_LINE, /* part of the line's rate, at layer 1: FCS, preamble and gap included */
};

struct rate {
	enum rate_unit unit;
	double value; /* frames/s, bits/s, or a fraction of the line (0…1) */
};

/* "10000", "1.5M", "10kpps"; "400Mbit/s", "2.5Gbit", "10Gbps"; "50%", "12.5 %". 0, or -EINVAL with error text. */
int rate_parse(const char *text, struct rate *rate);
/* Frames per second for frames of that mean size; 0 for RATE_FULL. -EINVAL with error text when a part of the line is asked for
 * and line_bps is 0 (not known). */
int rate_to_pps(const struct rate *rate, double mean_frame_bytes, double line_bps, double *pps);

#endif
