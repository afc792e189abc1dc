// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What AIX and VIOS print about adapters: entstat, seastat, lsdev -attr and lsattr. Rows for evidence.c; claims in evidence.h.
 *
 * `entstat -all` of a Shared Ethernet Adapter first tells the bridge (flags, sides), then each adapter in full. "Transmit Statistics"
 * and "Receive Statistics" stand side by side; many names stand on both sides, so each gets its side in front. The receive buffers of a
 * virtual adapter are a table with a column a buffer size.
 */
#include <string.h>

#include "doctor/evidence_section.h"

#define RIGHT_SIDE_INDENT 16 /* a lone entry that far to the right is one of the receive side */

/* --- entstat ----------------------------------------------------------------------------------------------------- */

static int entstat_begins(const struct evidence *evidence)
{
	const char *text = evidence->line.text;

	return evidence_starts(text, "ETHERNET STATISTICS (") ||
	       evidence_starts(text, "Statistics for adapters in the Shared Ethernet Adapter ") ||
	       (evidence_starts(text, "SEA Flags:") &&
		!(evidence->format && !strcmp(evidence->format->kind, "entstat")));
}

/* "Real Adapter: ent0" within an SEA: a claim of the SEA about which adapters it bridges. */
static int take_member(struct evidence *evidence, int *is_taken)
{
	static const char *const roles[] = { "Real Adapter:", "Virtual Adapter:", "Control Adapter:",
					     "Control Channel Adapter:" };

	*is_taken = 0;
	for (unsigned int i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		const char *name;

		if (!evidence_starts(evidence->line.text, roles[i]) || !evidence->outer[0])
			continue;
		name = evidence_skip_blanks(evidence->line.text + strlen(roles[i]));
		memcpy(evidence->object, evidence->outer, sizeof(evidence->object));
		*is_taken = 1;
		evidence->two_sides = 0;
		return evidence_add(evidence, "", roles[i], -1, name, evidence_word(name));
	}
	return 0;
}

/* Headings: which adapter, which side. 1 when the line was one. */
static int take_heading(struct evidence *evidence)
{
	static const struct {
		const char *heading, *prefix;
	} sections[] = {
		{ "Real Side Statistics:", "real_side_" },
		{ "Virtual Side Statistics:", "virtual_side_" },
		{ "Other Statistics:", "other_" },
		{ "High Availability Statistics:", "ha_" },
		{ "General Statistics:", "" },
	};
	static const char sea[] = "Statistics for adapters in the Shared Ethernet Adapter ",
			  adapter[] = "ETHERNET STATISTICS (";
	const char *text = evidence->line.text;
	size_t length = strlen(text);

	if (evidence_starts(text, sea)) {
		evidence_name_object(evidence, text + strlen(sea), evidence_word(text + strlen(sea)));
		memcpy(evidence->outer, evidence->object, sizeof(evidence->outer));
		return 1;
	}
	if (evidence_starts(text, adapter)) {
		evidence_name_object(evidence, text + strlen(adapter), (int)strcspn(text + strlen(adapter), ") "));
		return 1;
	}
	if (evidence_starts(text, "Transmit Statistics:")) {
		evidence->two_sides = 1;
		return 1;
	}
	for (unsigned int i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (!evidence_starts(text, sections[i].heading))
			continue;
		strcpy(evidence->prefix, sections[i].prefix);
		evidence->two_sides = 0;
		return 1;
	}
	if (length > 20 && evidence_starts(text + length - 20, "Specific Statistics:")) {
		evidence->prefix[0] = 0;
		evidence->two_sides = 0;
		return 1;
	}
	return 0;
}

/* "Packets: 12     Packets: 34", with as few blanks as mail may have left of them: values are single words here. */
static int take_two_sides(struct evidence *evidence)
{
	const char *at = evidence->line.text;
	int is_right = evidence->line.indent >= RIGHT_SIDE_INDENT, result = 0;

	for (int side = is_right; *at && side < 2 && !result; side++) {
		const char *colon = strchr(at, ':'), *value;
		int length;

		if (!colon)
			break;
		value = evidence_skip_blanks(colon + 1);
		length = evidence_word(value);
		if (evidence_is_number(value, length))
			result = evidence_add(evidence, side ? "receive_" : "transmit_", at, (int)(colon - at), value,
					      length);
		at = evidence_skip_blanks(value + length);
	}
	return result;
}

/* "< THREAD > < LARGESEND >" */
static int take_flags(struct evidence *evidence)
{
	const char *at = evidence->line.text;
	int result = 0;

	while (!result && (at = strchr(at, '<'))) {
		const char *end = strchr(++at, '>');

		if (!end)
			break;
		result = evidence_add(evidence, "sea_flag_", at, (int)(end - at), "1", -1);
		at = end;
	}
	return result;
}

/* "Buffer Type   Tiny  Small …": remembers the columns. */
static void take_columns(struct evidence *evidence, const char *text)
{
	evidence->column_count = 0;
	for (text = evidence_skip_blanks(text); *text && evidence->column_count < EVIDENCE_MAX_COLUMNS;
	     text = evidence_after_word(text)) {
		char *column = evidence->columns[evidence->column_count++];
		int length = evidence_word(text), limit = (int)sizeof(evidence->columns[0]) - 1;

		length = length < limit ? length : limit;
		memcpy(column, text, (size_t)length);
		column[length] = 0;
	}
}

/* A row of numbers behind a name: one a column, or a single one. */
static int take_row(struct evidence *evidence)
{
	const char *text = evidence->line.text, *numbers[EVIDENCE_MAX_COLUMNS], *name_end = text;
	int count = 0, result = 0;

	for (const char *word = text; *word; word = evidence_after_word(word)) {
		if (!evidence_is_number(word, evidence_word(word))) {
			count = 0;
			name_end = word + evidence_word(word);
		} else if (count < EVIDENCE_MAX_COLUMNS) {
			numbers[count++] = word;
		}
	}
	if (!count || name_end == text || (count > 1 && count != evidence->column_count))
		return 0;
	for (int i = 0; i < count && !result; i++) {
		char name[EVIDENCE_NAME_BYTES];

		if (count == 1)
			evidence_copy_name(name, text, (int)(name_end - text));
		else
			evidence_join_name(name, text, (int)(name_end - text), '_', evidence->columns[i],
					   (int)strlen(evidence->columns[i]));
		result = evidence_add(evidence, "", name, -1, numbers[i], evidence_word(numbers[i]));
	}
	return result;
}

/* "Driver Flags: Up Running", and the lines behind it that are more of them. */
static int take_driver_flags(struct evidence *evidence, int *is_taken)
{
	const char *text = evidence->line.text;

	*is_taken = 1;
	if (evidence_starts(text, "Driver Flags:")) {
		evidence->value_column = 1;
		return evidence_add_pairs(evidence, "");
	}
	if (evidence->value_column && !strchr(text, ':') && *text != '-')
		return evidence_add(evidence, "", "driver_flags", -1, text, -1);
	evidence->value_column = 0;
	*is_taken = 0;
	return 0;
}

static int entstat_take(struct evidence *evidence)
{
	const char *text = evidence->line.text;
	int is_taken, result;

	if (*text == '-' || take_heading(evidence))
		return 0;
	if (*text == '<')
		return take_flags(evidence);
	result = take_member(evidence, &is_taken);
	if (result || is_taken)
		return result;
	if (evidence->two_sides)
		return take_two_sides(evidence);
	result = take_driver_flags(evidence, &is_taken);
	if (result || is_taken)
		return result;
	if (evidence_starts(text, "Buffer Type ")) {
		take_columns(evidence, text + strlen("Buffer Type "));
		return 0;
	}
	return strchr(text, ':') ? evidence_add_pairs(evidence, evidence->prefix) : take_row(evidence);
}

/* --- seastat ----------------------------------------------------------------------------------------------------- */

static int seastat_begins(const struct evidence *evidence)
{
	return evidence_starts(evidence->line.text, "Advanced Statistics for SEA");
}

static int seastat_take(struct evidence *evidence)
{
	static const char device[] = "Device Name:", client[] = "MAC:";
	const char *text = evidence->line.text;

	if (seastat_begins(evidence)) {
		memcpy(evidence->outer, evidence->hint, sizeof(evidence->outer));
		return 0;
	}
	if (evidence_starts(text, device)) {
		evidence_copy_name(evidence->outer, text + strlen(device), -1);
		return 0;
	}
	if (evidence_starts(text, client)) {
		const char *mac = evidence_skip_blanks(text + strlen(client));

		evidence->two_sides = 0;
		evidence_join_name(evidence->object, evidence->outer, (int)strlen(evidence->outer), ' ', mac,
				   evidence_word(mac));
		return evidence_add(evidence, "", "mac", -1, mac, -1);
	}
	if (evidence_starts(text, "Transmit Statistics:")) {
		evidence->two_sides = 1;
		return 0;
	}
	if (*text == '-' || *text == '=')
		return 0;
	return evidence->two_sides ? take_two_sides(evidence) : evidence_add_pairs(evidence, "");
}

/* --- lsdev -attr, lsattr ------------------------------------------------------------------------------------------ */

static int lsattr_begins(const struct evidence *evidence)
{
	const char *text = evidence->line.text;

	return evidence_starts(text, "attribute ") && evidence_starts(evidence_after_word(text), "value ") &&
	       evidence_starts(evidence_after_word(evidence_after_word(text)), "description");
}

/* "jumbo_frames  yes  Enable Gigabit Ethernet Jumbo Frames  True". A value may be missing: then the description stands further
 * to the right than values do. */
static int lsattr_take(struct evidence *evidence)
{
	const char *text = evidence->line.text, *value = evidence_after_word(text), *last = strrchr(text, ' ');
	int name_length = evidence_word(text), column = (int)(value - text), gap = column - name_length;

	if (lsattr_begins(evidence)) {
		evidence->value_column = column;
		return 0;
	}
	if (!*value || !last || !(evidence_starts(last + 1, "True") || evidence_starts(last + 1, "False")) ||
	    (int)strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") != name_length)
		return 0;
	if (!evidence->value_column)
		evidence->value_column = column;
	if (column > evidence->value_column && gap > 3)
		return evidence_add(evidence, "", text, name_length, "", 0);
	return evidence_add(evidence, "", text, name_length, value, evidence_word(value));
}

static const struct evidence_format formats[] = {
	{ "entstat", "VIOS/AIX `entstat -all` and `entstat -d`", entstat_begins, entstat_take },
	{ "seastat", "VIOS `seastat -d`", seastat_begins, seastat_take },
	{ "lsattr", "`lsdev -dev X -attr` and `lsattr -El X`", lsattr_begins, lsattr_take },
};

const struct evidence_formats evidence_vios = { formats, sizeof(formats) / sizeof(formats[0]) };
