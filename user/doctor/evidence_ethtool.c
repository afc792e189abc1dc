// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What `ethtool` printed on another machine. Rows for evidence.c; claims in evidence.h. Headings name the interface, but for
 * -S and -i, where only a command line in front can.
 */
#include <stdio.h>
#include <string.h>

#include "doctor/evidence_section.h"

static int begins_with(const struct evidence *evidence, const char *heading)
{
	return evidence_starts(evidence->line.text, heading);
}

static int statistics_begins(const struct evidence *evidence)
{
	return begins_with(evidence, "NIC statistics:");
}

static int features_begins(const struct evidence *evidence)
{
	return begins_with(evidence, "Features for ") || begins_with(evidence, "Offload parameters for ");
}

static int rings_begins(const struct evidence *evidence)
{
	return begins_with(evidence, "Ring parameters for ");
}

static int channels_begins(const struct evidence *evidence)
{
	return begins_with(evidence, "Channel parameters for ");
}

static int settings_begins(const struct evidence *evidence)
{
	return begins_with(evidence, "Settings for ");
}

static int driver_begins(const struct evidence *evidence)
{
	return begins_with(evidence, "driver:") && evidence_starts(evidence_peek(evidence, 1), "version:");
}

/* "… for eth0:" names the interface. 1 when it was that line. */
static int take_heading(struct evidence *evidence)
{
	const char *text = evidence->line.text, *name = strstr(text, " for ");

	if (!evidence->format->begins(evidence))
		return 0;
	if (name)
		evidence_name_object(evidence, name + 5, (int)strcspn(name + 5, ": "));
	return 1;
}

/* Some drivers print a heading a queue ("Rx Queue#: 0") and the same names below each. */
static int statistics_take(struct evidence *evidence)
{
	const char *text = evidence->line.text, *queue = strstr(text, "Queue#:");

	if (take_heading(evidence))
		return 0;
	if (queue && (evidence_starts(text, "Rx ") || evidence_starts(text, "Tx ")) && queue == text + 3) {
		const char *number = evidence_skip_blanks(queue + strlen("Queue#:"));
		int length = (int)strspn(number, "0123456789");

		snprintf(evidence->prefix, sizeof(evidence->prefix), "%cx_queue_%.*s_", *text, length < 8 ? length : 8,
			 number);
		return 0;
	}
	if (evidence->prefix[0] && evidence_starts(text, "tx timeout count"))
		evidence->prefix[0] = 0;
	return evidence_add_pairs(evidence, evidence->prefix);
}

static int pairs_take(struct evidence *evidence)
{
	return take_heading(evidence) ? 0 : evidence_add_pairs(evidence, "");
}

static int driver_take(struct evidence *evidence) /* has no heading */
{
	return evidence_add_pairs(evidence, "");
}

/* Two parts with the same names: what could be, and what is. */
static int limits_take(struct evidence *evidence)
{
	if (take_heading(evidence))
		return 0;
	if (begins_with(evidence, "Pre-set maximums")) {
		strcpy(evidence->prefix, "max_");
		return 0;
	}
	if (begins_with(evidence, "Current hardware settings")) {
		strcpy(evidence->prefix, "current_");
		return 0;
	}
	return evidence->prefix[0] ? evidence_add_pairs(evidence, evidence->prefix) : 0;
}

static const struct evidence_format formats[] = {
	{ "ethtool_statistics", "`ethtool -S`, -k, -g, -l, -i and without option", statistics_begins, statistics_take },
	{ "ethtool_features", NULL, features_begins, pairs_take },
	{ "ethtool_rings", NULL, rings_begins, limits_take },
	{ "ethtool_channels", NULL, channels_begins, limits_take },
	{ "ethtool_driver", NULL, driver_begins, driver_take },
	{ "ethtool_settings", NULL, settings_begins, pairs_take },
};

const struct evidence_formats evidence_ethtool = { formats, sizeof(formats) / sizeof(formats[0]) };
