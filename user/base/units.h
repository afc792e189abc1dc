/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers with units: parsing what users type, printing what users read. Pure.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* "10000", "10k", "1.5M", "2G" (decimal factors, optional "pps") → frames per second. 0 or -EINVAL with error text. */
int units_parse_pps(const char *text, double *pps);
/* "64", "9014": bytes, min…max. 0 or -EINVAL with error text. */
int units_parse_bytes(const char *text, unsigned int min, unsigned int max, unsigned int *bytes);
/* "5", "0.5", "5s", "200ms" → seconds, > 0. */
int units_parse_seconds(const char *text, double *seconds);
int units_parse_integer(const char *text, long min, long max, long *value);

/* All return `buffer`. Three significant digits: "812 kpps", "4.51 Mpps", "1.20 µs", "9.21 Gbit/s". Negative or NaN → "-". */
const char *units_print_pps(char *buffer, size_t size, double pps);
const char *units_print_ns(char *buffer, size_t size, double ns);
const char *units_print_gbps(char *buffer, size_t size, double gbps);
/* "1 234 567": grouped with thin separators (plain ASCII space). */
const char *units_print_count(char *buffer, size_t size, uint64_t count);

/* Gbit/s at layer 2 without FCS of `pps` frames of `frame_bytes`. */
double units_gbps(double pps, unsigned int frame_bytes);
/* The same on the wire: + FCS 4 + preamble and gap 20, and at least 64 + 20 bytes a frame. */
double units_gbps_l1(double pps, unsigned int frame_bytes);

#endif
