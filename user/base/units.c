// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Numbers with units. hopcap never calls setlocale(), so strtod() and printf() use the C locale's point.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"

#define MAX_PPS 1e12
#define MAX_SECONDS 1e9
#define FCS_BYTES 4
#define PREAMBLE_AND_GAP_BYTES 20
#define MIN_WIRE_FRAME_BYTES 64

/* A plain decimal number at the start of text: no sign, space, hexadecimal, "inf" or exponent. NULL when there is none. */
static const char *parse_decimal(const char *text, double *value)
{
	size_t length = strspn(text, "0123456789.");
	char digits[32];
	char *end;

	if (!length || length >= sizeof(digits))
		return NULL;
	memcpy(digits, text, length);
	digits[length] = '\0';
	*value = strtod(digits, &end);
	return *end ? NULL : text + length;
}

static double decimal_factor(const char **text)
{
	switch (**text) {
	case 'k':
	case 'K':
		++*text;
		return 1e3;
	case 'M':
		++*text;
		return 1e6;
	case 'G':
		++*text;
		return 1e9;
	default:
		return 1;
	}
}

int units_parse_pps(const char *text, double *pps)
{
	const char *rest;
	double value;

	rest = parse_decimal(text, &value);
	if (rest)
		value *= decimal_factor(&rest);
	if (!rest || (*rest && strcmp(rest, "pps")) || !(value > 0) || value > MAX_PPS)
		return error_set(
			EINVAL, "'%s' is not a rate; give frames per second above 0, such as 10000, 10k or 1.5M", text);
	*pps = value;
	return 0;
}

int units_parse_integer(const char *text, long min, long max, long *value)
{
	const char *digits = *text == '-' ? text + 1 : text;
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (!isdigit((unsigned char)*digits) || *end || errno || number < min || number > max)
		return error_set(EINVAL, "'%s' is not a whole number from %ld to %ld", text, min, max);
	*value = number;
	return 0;
}

int units_parse_bytes(const char *text, unsigned int min, unsigned int max, unsigned int *bytes)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || number < min || number > max)
		return error_set(EINVAL, "'%s' is not a size from %u to %u bytes", text, min, max);
	*bytes = (unsigned int)number;
	return 0;
}

int units_parse_seconds(const char *text, double *seconds)
{
	const char *rest;
	double value;

	rest = parse_decimal(text, &value);
	if (rest && !strcmp(rest, "ms"))
		value /= 1e3;
	else if (rest && *rest && strcmp(rest, "s"))
		rest = NULL;
	if (!rest || !(value > 0) || value > MAX_SECONDS)
		return error_set(EINVAL, "'%s' is not a duration; give seconds above 0, such as 5, 0.5, 5s or 200ms",
				 text);
	*seconds = value;
	return 0;
}

/* Three significant digits (two decimals at most) in the largest unit that leaves at least 1 before the point. Steps of 1000. */
static const char *print_scaled(char *buffer, size_t size, double value, const char *const *units)
{
	int decimals;

	if (!(value >= 0) || isinf(value)) {
		snprintf(buffer, size, "-");
		return buffer;
	}
	/* 999.5 prints as 1000: it belongs to the next unit. */
	while (value >= 999.5 && units[1]) {
		value /= 1000;
		units++;
	}
	decimals = value == 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	snprintf(buffer, size, "%.*f %s", decimals, fabs(value), *units);
	return buffer;
}

const char *units_print_pps(char *buffer, size_t size, double pps)
{
	static const char *const units[] = { "pps", "kpps", "Mpps", "Gpps", NULL };

	return print_scaled(buffer, size, pps, units);
}

const char *units_print_ns(char *buffer, size_t size, double ns)
{
	static const char *const units[] = { "ns", "µs", "ms", "s", NULL };

	return print_scaled(buffer, size, ns, units);
}

const char *units_print_gbps(char *buffer, size_t size, double gbps)
{
	static const char *const units[] = { "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", NULL };

	return print_scaled(buffer, size, gbps * 1e9, units);
}

const char *units_print_count(char *buffer, size_t size, uint64_t count)
{
	char digits[24], grouped[32];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count), used = 0;

	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			grouped[used++] = ' ';
		grouped[used++] = digits[i];
	}
	grouped[used] = '\0';
	snprintf(buffer, size, "%s", grouped);
	return buffer;
}

double units_gbps(double pps, unsigned int frame_bytes)
{
	return pps * frame_bytes * 8 / 1e9;
}

double units_gbps_l1(double pps, unsigned int frame_bytes)
{
	double wire_bytes = fmax((double)frame_bytes + FCS_BYTES, MIN_WIRE_FRAME_BYTES) + PREAMBLE_AND_GAP_BYTES;

	return pps * wire_bytes * 8 / 1e9;
}
