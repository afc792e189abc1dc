// SPDX-License-Identifier: GPL-2.0-or-later
/* Findings as JSON; see finding.h. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "model/finding.h"
#include "model/utf8.h"

/* Names and files may hold bytes that are no text, and a long line may have been cut inside a character. */
static json_t *text_or_empty(const char *text)
{
	char *copy = strdup(text ? text : "");
	json_t *string = copy ? json_string(utf8_make_valid(copy)) : NULL;

	free(copy);
	return string;
}

static json_t *one_finding(const struct finding *finding)
{
	return json_pack("{s:s, s:s, s:o, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:s, s:s, s:b, s:f, s:f}", "id", finding->id,
			 "severity", finding_severity_name(finding->severity), "interface",
			 text_or_empty(finding->interface), "netns", finding->netns, "ifindex", finding->ifindex, "hop",
			 finding->hop, "evidence", text_or_empty(finding->evidence), "rule",
			 text_or_empty(finding->rule), "fix", text_or_empty(finding->fix), "effect",
			 text_or_empty(finding->effect), "reference", finding->reference ? finding->reference : "",
			 "explains", finding->explains ? run_cause_name(finding->explains) : "", "tcp_only",
			 finding->is_tcp_only, "cap_gbps", finding->cap_gbps, "rank", finding->rank);
}

json_t *finding_list_to_json(const struct finding_list *list)
{
	json_t *findings = json_array(), *document;

	for (int i = 0; findings && i < list->count; i++) {
		if (json_array_append_new(findings, one_finding(&list->findings[i])) < 0) {
			json_decref(findings);
			findings = NULL;
		}
	}
	document = findings ? json_pack("{s:s, s:o}", "schema", "hopcap.findings/1", "findings", findings) : NULL;
	return document;
}
