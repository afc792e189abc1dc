// SPDX-License-Identifier: GPL-2.0-or-later
/* Offered rates; see rate.h. Called by cmd/send.c. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/units.h"
#include "traffic/rate.h"

#define WIRE_OVERHEAD_BYTES 24 /* FCS 4, preamble and start 8, gap 12 */
#define LEAST_WIRE_BYTES 84    /* of the smallest Ethernet frame with all that */

static const struct {
	const char *name;
	double factor;
} bit_units[] = {
	{ "bit", 1 },	 { "bps", 1 },	  { "kbit", 1e3 }, { "kbps", 1e3 }, { "Mbit", 1e6 },
	{ "Mbps", 1e6 }, { "Gbit", 1e9 }, { "Gbps", 1e9 }, { "Tbit", 1e12 }, { "Tbps", 1e12 },
};

static int bad_rate(const char *text)
{
	return error_set(EINVAL, "'%s' is no rate: say frames (10000, 1.5M), bits (400Mbit/s, 10Gbit/s) or a part of the line (50%%)", text);
}

static int parse_bits(const char *text, const char *unit, double number, struct rate *rate)
{
	size_t length = strlen(unit);

	if (length > 2 && !strcasecmp(unit + length - 2, "/s"))
		length -= 2;
	for (unsigned int i = 0; i < sizeof(bit_units) / sizeof(bit_units[0]); i++) {
		if (strlen(bit_units[i].name) != length || strncasecmp(unit, bit_units[i].name, length))
			continue;
		*rate = (struct rate){ RATE_BPS, number * bit_units[i].factor };
		return isfinite(rate->value) ? 0 : bad_rate(text);
	}
	return bad_rate(text);
}

int rate_parse(const char *text, struct rate *rate)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || !isfinite(number) || strpbrk(text, "xXpP") == text + 1)
		return bad_rate(text);
	if (number <= 0)
		return error_set(EINVAL, "'%s': a rate is more than 0", text);
	end += strspn(end, " ");
	if (!strcmp(end, "%")) {
		if (number > 100)
			return error_set(EINVAL, "'%s': the line carries no more than 100 %%", text);
		*rate = (struct rate){ RATE_LINE, number / 100 };
		return 0;
	}
	if (strcasestr(end, "bit") || strcasestr(end, "bps"))
		return parse_bits(text, end, number, rate);
	rate->unit = RATE_PPS;
	return units_parse_pps(text, &rate->value);
}

int rate_to_pps(const struct rate *rate, double mean_frame_bytes, double line_bps, double *pps)
{
	*pps = 0;
	switch (rate->unit) {
	case RATE_FULL:
		break;
	case RATE_PPS:
		*pps = rate->value;
		break;
	case RATE_BPS:
		*pps = rate->value / 8 / mean_frame_bytes;
		break;
	case RATE_LINE:
		if (line_bps <= 0)
			return error_set(EINVAL, "the interface does not say how fast its line is: give the rate in frames or bits per second");
		*pps = rate->value * line_bps / 8 / fmax(mean_frame_bytes + WIRE_OVERHEAD_BYTES, LEAST_WIRE_BYTES);
		break;
	}
	return 0;
}
