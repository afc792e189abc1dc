// SPDX-License-Identifier: GPL-2.0-or-later
/* Alternatives as text: commands that can be copied, what is missing, what should change. Called by cmd/plan.c. */
#include "report/plan_text.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "report/page.h"

#define INDENT 12

static void print_alternative(const struct page *page, const struct plan_alternative *one)
{
	char plain[PAGE_TEXT_BYTES];

	page_ink(page, one->missing.count ? INK_DIM : INK_BOLD);
	fprintf(page->stream, "\n%s: %s%s\n", one->id, one->title, one->missing.count ? " (something is missing)" : "");
	page_ink(page, INK_PLAIN);
	for (int i = 0; i < one->missing.count; i++)
		page_paragraph(page, INDENT, "  missing", "%s", one->missing.lines[i]);
	for (int i = 0; i < one->commands.count; i++)
		fprintf(page->stream, "%-*s%s\n", INDENT, i ? "" : "  set up",
			page_plain(plain, sizeof(plain), one->commands.lines[i]));
	page_paragraph(page, INDENT, "  then", "%s", one->effect);
}

int plan_text(const struct plan *plan, FILE *stream, const struct report_style *style)
{
	struct page page = { .stream = stream,
			     .width = style->width > 0 ? style->width : 100,
			     .colour = style->colour };

	if (plan->count)
		fprintf(stream, "%d other way%s; none of the commands was executed\n", plan->count,
			plan->count == 1 ? "" : "s");
	else
		fprintf(stream, "no other way is known for this path\n");
	for (int i = 0; i < plan->count; i++)
		print_alternative(&page, &plan->alternatives[i]);
	return fflush(stream) || ferror(stream) ? error_set(EIO, "cannot write the plan: %s", strerror(errno)) : 0;
}
