// SPDX-License-Identifier: GPL-2.0-or-later
/* What a path is expected to be; see path_expect.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "discover/path_follow.h"
#include "path_expect.h"

struct facts_path path;

/* "a0 >wire> b0:in": points and kinds, in order. */
static void print_path(char *text, size_t size)
{
	text[0] = 0;
	for (int i = 0; i < path.point_count; i++) {
		size_t used = strlen(text);

		snprintf(text + used, size - used, "%s%s%s", path.points[i].text, i + 1 < path.point_count ? " >" : "",
			 i + 1 < path.point_count ? facts_hop_kind_name(path.hops[i].kind) : "");
		used = strlen(text);
		if (i + 1 < path.point_count)
			snprintf(text + used, size - used, "> ");
	}
}

void expect(struct facts *facts, const char *source, const char *sink, const char *wanted)
{
	char text[8192];

	facts_sort(facts);
	if (path_follow(facts, source, sink, &path))
		fail_msg("%s", error_text());
	print_path(text, sizeof(text));
	assert_string_equal(text, wanted);
}

void expect_incomplete(struct facts *facts, const char *source, const char *sink, const char *wanted, const char *why)
{
	expect(facts, source, sink, wanted);
	assert_false(path.is_complete);
	if (!strstr(path.why_incomplete, why))
		fail_msg("'%s' is not in '%s'", why, path.why_incomplete);
}

void expect_complete(struct facts *facts, const char *source, const char *sink, const char *wanted)
{
	expect(facts, source, sink, wanted);
	if (!path.is_complete)
		fail_msg("%s", path.why_incomplete);
	assert_string_equal(path.why_incomplete, "");
}

/* Says that a hop's note holds a text. */
void expect_note(int hop, const char *text)
{
	if (!strstr(path.hops[hop - 1].note, text))
		fail_msg("hop %d: '%s' is not in '%s'", hop, text, path.hops[hop - 1].note);
}
