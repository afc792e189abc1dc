// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What `esxcli network` prints on an ESXi host. Rows for evidence.c; claims in evidence.h.
 *
 * Most outputs are blocks of indented "Name: value" lines; which block it is, its first names tell. Two of them name their object in the
 * middle, so the claims before get it afterwards. `nic list` is a table whose headings say which columns there are (they differ
 * between releases).
 */
#include <string.h>

#include "doctor/evidence_section.h"

static int is_open(const struct evidence *evidence, const char *kind)
{
	return evidence->format && !strcmp(evidence->format->kind, kind);
}

/* The value behind "Name:"; NULL when the line is about something else. */
static const char *value_of(const char *text, const char *name)
{
	size_t length = strlen(name);

	if (!evidence_starts(text, name) || text[length] != ':')
		return NULL;
	return evidence_skip_blanks(text + length + 1);
}

/* --- nic get ------------------------------------------------------------------------------------------------------ */

static int nic_begins(const struct evidence *evidence)
{
	const char *text = evidence->line.text;

	return value_of(text, "Advertised Auto Negotiation") ||
	       (value_of(text, "Advertised Link Modes") && !is_open(evidence, "esxcli_nic"));
}

static int nic_take(struct evidence *evidence)
{
	const char *name = value_of(evidence->line.text, "Name");

	if (name && evidence_word(name)) {
		evidence->object[0] = 0;
		for (int i = evidence->first_claim; i < evidence->facts->claim_count; i++)
			evidence->facts->claims[i].object[0] = 0; /* the text knows better than the command before it */
		evidence_name_object(evidence, name, evidence_word(name));
	}
	return evidence_add_pairs(evidence, "");
}

/* --- nic list ----------------------------------------------------------------------------------------------------- */

static const struct {
	const char *heading, *key; /* as the heading says it, and as `nic get` calls the same thing */
} nic_columns[] = {
	{ "Name", "name" },
	{ "PCI Device", "bus_info" },
	{ "PCI", "bus_info" },
	{ "Driver", "driver" },
	{ "Admin Status", "admin_status" },
	{ "Link Status", "link_status" },
	{ "Link", "link_status" },
	{ "Speed", "speed" },
	{ "Duplex", "duplex" },
	{ "MAC Address", "mac_address" },
	{ "MTU", "mtu" },
	{ "Description", "description" },
};

static int nic_list_begins(const struct evidence *evidence)
{
	const char *text = evidence->line.text;

	return evidence_starts(text, "Name ") && evidence_starts(evidence_after_word(text), "PCI") &&
	       strstr(text, " Driver ") && strstr(text, " MTU");
}

/* Reads the headings into `columns` as keys. */
static void take_headings(struct evidence *evidence)
{
	const char *text = evidence->line.text;

	evidence->column_count = 0;
	while (*text && evidence->column_count < EVIDENCE_MAX_COLUMNS) {
		unsigned int i = 0, count = sizeof(nic_columns) / sizeof(nic_columns[0]);

		while (i < count && !evidence_starts(text, nic_columns[i].heading))
			i++;
		if (i == count) {
			text = evidence_after_word(text);
			continue;
		}
		strcpy(evidence->columns[evidence->column_count++], nic_columns[i].key);
		text = evidence_skip_blanks(text + strlen(nic_columns[i].heading));
	}
}

static int nic_list_take(struct evidence *evidence)
{
	const char *word = evidence->line.text;
	int result = 0;

	if (nic_list_begins(evidence)) {
		take_headings(evidence);
		return 0;
	}
	if (!evidence_starts(word, "vmnic") && !evidence_starts(word, "vusb"))
		return 0;
	evidence_copy_name(evidence->object, word, evidence_word(word));
	for (int i = 0; i < evidence->column_count && *word && !result; i++) {
		int is_rest = !strcmp(evidence->columns[i], "description");

		result = evidence_add(evidence, "", evidence->columns[i], -1, word, is_rest ? -1 : evidence_word(word));
		word = is_rest ? "" : evidence_after_word(word);
	}
	return result;
}

/* --- vswitch standard list, vswitch dvs vmware list ----------------------------------------------------------------- */

/* "vSwitch0", then "Name: vSwitch0", then "Class: …" (a vDS has its identifier between). Or the name's line alone, when the first
 * was cut off. */
static int vswitch_begins(const struct evidence *evidence)
{
	const char *name = value_of(evidence->line.text, "Name");

	return name &&
	       (value_of(evidence_peek(evidence, 1), "Class") ||
		(value_of(evidence_peek(evidence, 1), "VDS ID") && value_of(evidence_peek(evidence, 2), "Class")));
}

static int vswitch_take(struct evidence *evidence)
{
	if (vswitch_begins(evidence))
		evidence_name_object(evidence, value_of(evidence->line.text, "Name"), -1);
	return evidence_add_pairs(evidence, "");
}

/* --- statistics of ports and NICs ----------------------------------------------------------------------------------- */

static int port_begins(const struct evidence *evidence)
{
	return evidence_starts(evidence->line.text, "Packet statistics for port ");
}

static int nic_stats_begins(const struct evidence *evidence)
{
	return evidence_starts(evidence->line.text, "NIC statistics for ");
}

/* The last word of the heading is the object. */
static int statistics_take(struct evidence *evidence)
{
	const char *text = evidence->line.text;

	if (port_begins(evidence) || nic_stats_begins(evidence)) {
		const char *last = strrchr(text, ' ') + 1;

		evidence_name_object(evidence, last, (int)strcspn(last, ":"));
		return 0;
	}
	return evidence_add_pairs(evidence, "");
}

/* --- vm port list --------------------------------------------------------------------------------------------------- */

static int vm_port_begins(const struct evidence *evidence)
{
	return value_of(evidence->line.text, "Port ID") && value_of(evidence_peek(evidence, 1), "vSwitch");
}

static int vm_port_take(struct evidence *evidence)
{
	const char *port = value_of(evidence->line.text, "Port ID");

	if (port)
		evidence_name_object(evidence, port, evidence_word(port));
	return evidence_add_pairs(evidence, "");
}

static const struct evidence_format formats[] = {
	{ "esxcli_nic", "`esxcli network nic get -n`", nic_begins, nic_take },
	{ "esxcli_nic", "`… nic list`", nic_list_begins, nic_list_take },
	{ "esxcli_vswitch", "`… vswitch standard list`, `… vswitch dvs vmware list`", vswitch_begins, vswitch_take },
	{ "esxcli_port", "`… port stats get`", port_begins, statistics_take },
	{ "esxcli_nic_stats", "`… nic stats get`", nic_stats_begins, statistics_take },
	{ "esxcli_vm_port", "`… vm port list`", vm_port_begins, vm_port_take },
};

const struct evidence_formats evidence_esxi = { formats, sizeof(formats) / sizeof(formats[0]) };
