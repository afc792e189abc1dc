// SPDX-License-Identifier: GPL-2.0-or-later
/* See mutate.h. */
#include "mutate.h"

#include <string.h>

static size_t roll(uint64_t *random, size_t limit)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return limit ? (size_t)(*random % limit) : 0;
}

/* Replaces `removed` bytes at `at` by others, as far as there is room. */
static size_t splice(uint8_t *out, size_t size, size_t room, size_t at, size_t removed, const uint8_t *data,
		     size_t length)
{
	if (removed > size - at)
		removed = size - at;
	if (length > room - (size - removed))
		length = room - (size - removed);
	memmove(out + at + length, out + at + removed, size - at - removed);
	memcpy(out + at, data, length);
	return size - removed + length;
}

static size_t change_once(const struct mutate_sample *sample, uint64_t *random, uint8_t *out, size_t size, size_t room)
{
	static const uint8_t odd[] = { 0,   0x1b, '\n', '\r', ' ',  ':',  ',',	'=',
				       '{', '"',  '-',	'9',  0x7f, 0x80, 0xc3, 0xff };
	uint8_t copy[64];
	size_t at = roll(random, size + 1), length = 1 + roll(random, sizeof(copy)), from = roll(random, sample->size);

	switch (roll(random, 7)) {
	case 0:
		if (at < size)
			out[at] ^= (uint8_t)(1u << roll(random, 8));
		return size;
	case 1:
		return splice(out, size, room, at, roll(random, 2), &odd[roll(random, sizeof(odd))], 1);
	case 2: /* gone */
		return splice(out, size, room, at, length, odd, 0);
	case 3: /* cut off */
		return at;
	case 4: /* a piece of a sample */
		if (length > sample->size - from)
			length = sample->size - from;
		return splice(out, size, room, at, roll(random, 2) ? length : 0, sample->data + from, length);
	case 5: /* twice */
		if (length > size - at)
			length = size - at;
		memcpy(copy, out + at, length);
		return splice(out, size, room, at, 0, copy, length);
	default: /* a number */
		while (at < size && (out[at] < '0' || out[at] > '9'))
			at++;
		return splice(out, size, room, at, 1, (const uint8_t *)"99999999999999999999", 1 + roll(random, 20));
	}
}

size_t mutate(const struct mutate_sample *samples, int count, uint64_t *random, uint8_t *out, size_t room)
{
	const struct mutate_sample *sample = &samples[roll(random, (size_t)count)];
	size_t size = sample->size < room ? sample->size : room, changes = 1 + roll(random, 1 + roll(random, 24));

	if (!roll(random, 20)) {
		size = roll(random, room < 400 ? room : 400);
		for (size_t i = 0; i < size; i++)
			out[i] = (uint8_t)roll(random, 256);
		return size;
	}
	memcpy(out, sample->data, size);
	for (size_t i = 0; i < changes; i++)
		size = change_once(&samples[roll(random, (size_t)count)], random, out, size, room);
	return size;
}
