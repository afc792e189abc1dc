// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Findings as text: what fails first and whole, what only limits in a line a check. Called by cmd/doctor.c.
 */
#include "report/findings_text.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "report/page.h"

#define INDENT 12
#define NAMES_SHOWN 3

static int check_stream(FILE *stream)
{
	return fflush(stream) || ferror(stream) ? error_set(EIO, "cannot write the findings: %s", strerror(errno)) : 0;
}

static struct page page_for(FILE *stream, const struct report_style *style)
{
	return (struct page){ .stream = stream,
			      .width = style->width > 0 ? style->width : 100,
			      .colour = style->colour };
}

static int count_of(const struct finding_list *list, enum finding_severity severity)
{
	int count = 0;

	for (int i = 0; i < list->count; i++)
		count += list->findings[i].severity == severity;
	return count;
}

/* A command stays on one line, so that it can be copied. */
static void print_command(const struct page *page, const char *command)
{
	char plain[PAGE_TEXT_BYTES];

	if (command[0])
		fprintf(page->stream, "%-*s%s\n", INDENT, "    do", page_plain(plain, sizeof(plain), command));
}

static void print_whole(const struct page *page, const struct finding *finding, int number)
{
	static const char *const words[] = { "FAIL", "WARN", "info", "unknown" };
	char title[512], plain[512], hop[32] = "";

	if (finding->hop > 0)
		snprintf(hop, sizeof(hop), ", hop %d", finding->hop);
	snprintf(title, sizeof(title), "%2d  %-8s%s%s%s%s", number, words[finding->severity], finding->id,
		 finding->interface[0] ? ": " : "", finding->interface, hop);
	page_ink(page, finding->severity == FINDING_FAIL   ? INK_ALARM
		       : finding->severity == FINDING_WARN ? INK_BOLD
							   : INK_DIM);
	fprintf(page->stream, "\n%s\n", page_plain(plain, sizeof(plain), title));
	page_ink(page, INK_PLAIN);
	page_paragraph(page, INDENT, "    read", "%s", finding->evidence);
	page_paragraph(page, INDENT, "    rule", "%s", finding->rule);
	print_command(page, finding->fix);
	page_paragraph(page, INDENT, "    then", "%s", finding->effect);
}

/* "  info    xdp-target         tap0, tap1, tap2 and 4 more", once for all findings of a check and severity. */
static void print_brief(const struct page *page, const struct finding_list *list, int first)
{
	const struct finding *finding = &list->findings[first];
	char names[400] = "", label[64], plain[PAGE_TEXT_BYTES];
	int count = 0;

	for (int i = 0; i < list->count; i++) {
		const struct finding *other = &list->findings[i];

		if (other->severity != finding->severity || strcmp(other->id, finding->id))
			continue;
		if (i < first)
			return; /* printed already */
		if (count++ >= NAMES_SHOWN || !other->interface[0])
			continue;
		strncat(names, names[0] ? ", " : "", sizeof(names) - strlen(names) - 1);
		strncat(names, other->interface, sizeof(names) - strlen(names) - 1);
	}
	snprintf(label, sizeof(label), "  %-8s%s", finding_severity_name(finding->severity), finding->id);
	fprintf(page->stream, "%-31s ", label);
	if (count == 1) {
		/* One line is enough to recognise it. */
		snprintf(names, sizeof(names), "%.*s", (int)strcspn(finding->evidence, "\n"), finding->evidence);
		page_plain(plain, sizeof(plain), names);
		fprintf(page->stream, "%.*s\n", page_bytes(plain, page->width - 32), plain);
	} else if (count > NAMES_SHOWN) {
		fprintf(page->stream, "%s and %d more\n", page_plain(plain, sizeof(plain), names), count - NAMES_SHOWN);
	} else {
		fprintf(page->stream, "%s\n", page_plain(plain, sizeof(plain), names));
	}
}

int findings_text(const struct finding_list *list, FILE *stream, const struct report_style *style, int is_all)
{
	struct page page = page_for(stream, style);
	int fails = count_of(list, FINDING_FAIL), warns = count_of(list, FINDING_WARN), number = 0, briefs = 0;

	if (fails + warns)
		fprintf(stream, "%d finding%s: %d fail, %d warn; first what is likely to cap\n", fails + warns,
			fails + warns == 1 ? "" : "s", fails, warns);
	else
		fprintf(stream, "nothing found that caps or costs\n");
	for (int i = 0; i < list->count; i++)
		if (is_all || list->findings[i].severity <= FINDING_WARN)
			print_whole(&page, &list->findings[i], ++number);
	for (int i = 0; i < list->count && !is_all; i++) {
		if (list->findings[i].severity <= FINDING_WARN)
			continue;
		if (!briefs++)
			fprintf(stream, "\nlimits, and what could not be judged (--all shows them whole)\n");
		print_brief(&page, list, i);
	}
	if (list->count)
		fprintf(stream, "\nhopcap doctor --explain ID tells more of each.\n");
	return check_stream(stream);
}

/* --- checks ------------------------------------------------------------------------------------------------------- */

int check_text_explain(const struct check_texts *check, FILE *stream, const struct report_style *style)
{
	struct page page = page_for(stream, style);

	page_ink(&page, INK_BOLD);
	fprintf(stream, "%s: %s\n", check->id, check->title);
	page_ink(&page, INK_PLAIN);
	fputc('\n', stream);
	page_paragraph(&page, INDENT, "why", "%s", check->why);
	fputc('\n', stream);
	page_paragraph(&page, INDENT, "what to do", "%s", check->remedy);
	fputc('\n', stream);
	page_paragraph(&page, INDENT, "then", "%s", check->effect);
	return check_stream(stream);
}

/* Calls print for each reference once, in the order of their first check. */
static void by_reference(const struct check_texts *checks, int count, FILE *stream,
			 void (*print)(const struct check_texts *checks, int count, const char *reference,
				       FILE *stream))
{
	for (int i = 0; i < count; i++) {
		int is_first = 1;

		for (int j = 0; j < i; j++)
			is_first &= strcmp(checks[j].reference, checks[i].reference) != 0;
		if (is_first)
			print(checks, count, checks[i].reference, stream);
	}
}

static void list_reference(const struct check_texts *checks, int count, const char *reference, FILE *stream)
{
	fprintf(stream, "%s\n", reference);
	for (int i = 0; i < count; i++)
		if (!strcmp(checks[i].reference, reference))
			fprintf(stream, "  %-30s %s\n", checks[i].id, checks[i].title);
}

int check_text_list(const struct check_texts *checks, int count, FILE *stream)
{
	by_reference(checks, count, stream, list_reference);
	return check_stream(stream);
}

static void manual_reference(const struct check_texts *checks, int count, const char *reference, FILE *stream)
{
	fprintf(stream, "\n## %s\n", reference);
	for (int i = 0; i < count; i++)
		if (!strcmp(checks[i].reference, reference))
			fprintf(stream, "\n### %s\n**%s.** %s\n\n*What to do:* %s\n\n*Then:* %s.\n", checks[i].id,
				checks[i].title, checks[i].why, checks[i].remedy, checks[i].effect);
}

int check_text_manual(const struct check_texts *checks, int count, FILE *stream)
{
	fprintf(stream,
		"# What the doctor checks\n\n"
		"Made by `hopcap doctor --list --markdown` from the tables of checks: change those, not this file.\n\n"
		"%d checks. A finding quotes what was read, the rule, a command, and what should change when it was given;\n"
		"the doctor itself changes nothing. Counters are judged by how much they grew between two looks (`--seconds`,\n"
		"`--earlier`); with one look they are a note. What cannot be read is reported as unknown, never as fine.\n",
		count);
	by_reference(checks, count, stream, manual_reference);
	return check_stream(stream);
}
