// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as a point: what is understood fits its fields and can name an interface. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/point_syntax.h"
#include "targets.h"

int fuzz_point(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct point_text point;
	int result;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	result = point_parse(text, &point);
	FUZZ_PROMISE(result == 0 || (result == -EINVAL && error_text()[0]));
	if (!result) {
		FUZZ_PROMISE(point.interface[0] && memchr(point.interface, 0, sizeof(point.interface)));
		FUZZ_PROMISE(memchr(point.netns, 0, sizeof(point.netns)) && memchr(point.mode, 0, sizeof(point.mode)));
		FUZZ_PROMISE(!strpbrk(point.interface, "/ \n@") && !strpbrk(point.netns, "/ \n@"));
		FUZZ_PROMISE(point.hook_given == (point.mode[0] != 0));
	}
	free(text);
	return 0;
}
