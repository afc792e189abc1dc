// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Owns: the rules of RFC 3629. Called by: model/model_json_write.c and report/, which must agree on what is text.
 */
#include "model/utf8.h"

int utf8_decode(const char *text, uint32_t *character)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *bytes = (const unsigned char *)text;
	int length;
	uint32_t value;

	if (bytes[0] < 0x80) {
		*character = bytes[0];
		return bytes[0] ? 1 : 0;
	}
	if (bytes[0] >= 0xc2 && bytes[0] <= 0xdf)
		length = 2;
	else if (bytes[0] >= 0xe0 && bytes[0] <= 0xef)
		length = 3;
	else if (bytes[0] >= 0xf0 && bytes[0] <= 0xf4)
		length = 4;
	else
		return 0;
	value = bytes[0] & (0x7fu >> length);
	for (int i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0; /* the terminating 0 ends up here, too */
		value = value << 6 | (bytes[i] & 0x3f);
	}
	if (value < smallest[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*character = value;
	return length;
}

char *utf8_make_valid(char *text)
{
	for (char *byte = text; *byte;) {
		uint32_t character;
		int length = utf8_decode(byte, &character);

		if (!length)
			*byte = '?';
		byte += length ? length : 1;
	}
	return text;
}
