// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What `vsish -e get` prints of an ESXi host's NICs and ports: "Name:value" lines in braces. Rows for evidence.c; claims in
 * evidence.h. The path on the command line names the object; NIC properties also say it themselves.
 */
#include <string.h>

#include "doctor/evidence_section.h"

static int nic_begins(const struct evidence *evidence)
{
	const char *text = evidence->line.text;
	int is_open = evidence->format && !strcmp(evidence->format->kind, "vsish_nic");

	return !is_open && ((evidence_starts(text, "properties {") &&
			     evidence_starts(evidence_peek(evidence, 1), "Driver Name:")) ||
			    evidence_starts(text, "Driver Name:"));
}

static int nic_take(struct evidence *evidence)
{
	static const char name[] = "System Device Name:";
	const char *text = evidence->line.text;

	if (evidence_starts(text, name))
		evidence_name_object(evidence, text + strlen(name), -1);
	return evidence_add_pairs(evidence, "");
}

static int port_begins(const struct evidence *evidence)
{
	const char *text = evidence->line.text;

	return evidence_starts(text, "stats of a vmxnet3 vNIC ") &&
	       !(evidence->format && !strcmp(evidence->format->kind, "vsish_port"));
}

/* "stats of a vmxnet3 vNIC rx queue {" */
static int port_take(struct evidence *evidence)
{
	const char *text = evidence->line.text;

	if (evidence_starts(text, "stats of a vmxnet3 vNIC ")) {
		strcpy(evidence->prefix, strstr(text, " rx queue") ? "rx_" : strstr(text, " tx queue") ? "tx_" : "");
		return 0;
	}
	return evidence_add_pairs(evidence, evidence->prefix);
}

static const struct evidence_format formats[] = {
	{ "vsish_nic", "`vsish -e get /net/pNics/…`", nic_begins, nic_take },
	{ "vsish_port", "`vsish -e get /net/portsets/…/vmxnet3/…`", port_begins, port_take },
};

const struct evidence_formats evidence_vsish = { formats, sizeof(formats) / sizeof(formats[0]) };
