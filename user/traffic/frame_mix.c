// SPDX-License-Identifier: GPL-2.0-or-later
/* Mixes of frame sizes; theory in frame_mix.h. Called by cmd/ and traffic/ before a stream is built. Pure. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "traffic/frame_mix.h"

#define FCS_BYTES 4
#define MAX_WEIGHT 1000000

/* Sizes with FCS, as they were published. */
static const struct named_mix {
	const char *name;
	unsigned int count, sizes[3], weights[3];
} named_mixes[] = {
	{ "imix", 3, { 64, 570, 1518 }, { 7, 4, 1 } },	      /* the simple IMIX of router vendors */
	{ "imix-csit", 3, { 64, 570, 1518 }, { 28, 16, 4 } }, /* FD.io CSIT, IMIX_v4_1 */
	{ "nfvbench", 3, { 64, 594, 1518 }, { 7, 4, 1 } },    /* NFVbench's IMIX */
};

#define NAMED_MIXES (sizeof(named_mixes) / sizeof(named_mixes[0]))

static int add_size(struct frame_mix *mix, unsigned int bytes, unsigned int weight)
{
	for (unsigned int i = 0; i < mix->size_count; i++) {
		if (mix->sizes[i] == bytes) {
			mix->weights[i] += weight;
			return 0;
		}
	}
	if (mix->size_count == FRAME_MIX_MAX_SIZES)
		return error_set(EINVAL, "more than %d different frame sizes in one mix", FRAME_MIX_MAX_SIZES);
	mix->sizes[mix->size_count] = bytes;
	mix->weights[mix->size_count++] = weight;
	return 0;
}

/* A decimal number at *at, which is moved behind it; 0 when there is none or it is over `limit`. */
static unsigned int read_number(const char **at, unsigned long limit)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)**at))
		return 0;
	errno = 0;
	value = strtoul(*at, &end, 10);
	if (errno || value > limit)
		return 0;
	*at = end;
	return (unsigned int)value;
}

static int parse_sizes(const char *text, unsigned int min_bytes, unsigned int max_bytes, struct frame_mix *mix)
{
	const char *at = text;

	for (;;) {
		const char *part = at;
		unsigned int weight = 1, bytes = read_number(&at, UINT32_MAX);
		int length, code;

		if (bytes && *at == ':') {
			at++;
			weight = read_number(&at, MAX_WEIGHT);
		}
		length = (int)strcspn(part, ",");
		if (!bytes || !weight || (*at && *at != ','))
			return error_set(
				EINVAL,
				"\"%.*s\" in the frame sizes \"%s\": write SIZE or SIZE:WEIGHT, with commas between "
				"them "
				"(60,508 or 60:7,566:4,1514:1), or imix, imix-csit, nfvbench",
				length, part, text);
		if (bytes < min_bytes || bytes > max_bytes)
			return error_set(
				EINVAL, "frames of %u bytes: with these headers %u to %u bytes without FCS can be sent",
				bytes, min_bytes, max_bytes);
		code = add_size(mix, bytes, weight);
		if (code)
			return code;
		if (!*at)
			return 0;
		at++;
	}
}

static int use_named(const struct named_mix *named, unsigned int min_bytes, unsigned int max_bytes,
		     struct frame_mix *mix)
{
	snprintf(mix->name, sizeof(mix->name), "%s", named->name);
	for (unsigned int i = 0; i < named->count; i++) {
		unsigned int bytes = named->sizes[i] - FCS_BYTES;

		if (bytes > max_bytes)
			return error_set(EINVAL, "%s has frames of %u bytes without FCS; at most %u can be sent",
					 named->name, bytes, max_bytes);
		add_size(mix, bytes < min_bytes ? min_bytes : bytes, named->weights[i]);
	}
	return 0;
}

static unsigned int greatest_divisor(unsigned int a, unsigned int b)
{
	while (b) {
		unsigned int rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static int make_order(struct frame_mix *mix)
{
	unsigned int divisor = 0, given[FRAME_MIX_MAX_SIZES] = { 0 };
	unsigned long long bytes = 0, period = 0;

	for (unsigned int i = 0; i < mix->size_count; i++)
		divisor = greatest_divisor(mix->weights[i], divisor);
	for (unsigned int i = 0; i < mix->size_count; i++) {
		mix->weights[i] /= divisor;
		period += mix->weights[i];
		bytes += (unsigned long long)mix->weights[i] * mix->sizes[i];
	}
	if (period > PORT_MAX_TEMPLATES)
		return error_set(EINVAL,
				 "the weights of the frame sizes add up to %llu; %d are possible: use smaller ones",
				 period, PORT_MAX_TEMPLATES);
	mix->count = (unsigned int)period;
	mix->mean_bytes = (double)bytes / (double)period;
	for (unsigned int place = 0; place < mix->count; place++) {
		long long most = 0;
		unsigned int chosen = 0;

		for (unsigned int i = 0; i < mix->size_count; i++) {
			long long behind = (long long)mix->weights[i] * (place + 1) - (long long)mix->count * given[i];

			if (behind > most) { /* true of one at least: what they are behind adds up to the period */
				most = behind;
				chosen = i;
			}
		}
		given[chosen]++;
		mix->order[place] = mix->sizes[chosen];
	}
	return 0;
}

int frame_mix_parse(const char *text, unsigned int min_bytes, unsigned int max_bytes, struct frame_mix *mix)
{
	int code = -ENOENT;

	memset(mix, 0, sizeof(*mix));
	for (size_t i = 0; i < NAMED_MIXES && code == -ENOENT; i++)
		if (!strcmp(text, named_mixes[i].name))
			code = use_named(&named_mixes[i], min_bytes, max_bytes, mix);
	if (code == -ENOENT)
		code = parse_sizes(text, min_bytes, max_bytes, mix);
	return code ? code : make_order(mix);
}

static void append(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void append(char *buffer, size_t size, const char *format, ...)
{
	size_t used = strlen(buffer);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(buffer + used, size - used, format, arguments);
	va_end(arguments);
}

const char *frame_mix_describe(const struct frame_mix *mix, char *buffer, size_t size)
{
	if (!size)
		return buffer;
	buffer[0] = 0;
	if (mix->name[0])
		append(buffer, size, "%s: ", mix->name);
	if (mix->size_count == 1) {
		append(buffer, size, "frames of %u bytes (%u with FCS)", mix->sizes[0], mix->sizes[0] + FCS_BYTES);
		return buffer;
	}
	for (unsigned int i = 0; i < mix->size_count; i++)
		append(buffer, size, "%s%u x %u (%u with FCS)", i ? ", " : "", mix->weights[i], mix->sizes[i],
		       mix->sizes[i] + FCS_BYTES);
	append(buffer, size, "; mean %.1f bytes (%.1f with FCS); in the order", mix->mean_bytes,
	       mix->mean_bytes + FCS_BYTES);
	for (unsigned int i = 0; i < mix->count; i++)
		append(buffer, size, " %u", mix->order[i]);
	return buffer;
}
