// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Findings of the doctor on the path of a run; see run_findings.h. Joins sys/collect.h, doctor/ and the model of a run, which do not
 * see each other. Called by cmd/run.c.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cmd/run_findings.h"
#include "cmd/run_path.h"
#include "doctor/doctor.h"
#include "model/utf8.h"
#include "sys/collect.h"

#define MOST_FINDINGS 8 /* of those on the path */

/* One line: the first one of `from`, cut where it does not fit, at a character's border. */
static void copy_line(char *to, size_t size, const char *from)
{
	size_t length = from ? strcspn(from, "\n") : 0;

	snprintf(to, size, "%.*s", (int)length, from ? from : "");
	if (length >= size && size > 4)
		strcpy(to + size - 4, "...");
	utf8_make_valid(to);
}

static void add(struct run *run, const struct facts *facts, const struct finding *from)
{
	struct run_finding *to = &run->findings[run->finding_count++];
	const struct facts_link *link = from->ifindex ? facts_link_at(facts, from->netns, from->ifindex) : NULL;

	memset(to, 0, sizeof(*to));
	copy_line(to->id, sizeof(to->id), from->id);
	copy_line(to->severity, sizeof(to->severity), finding_severity_name(from->severity));
	copy_line(to->interface, sizeof(to->interface), link ? link->name : "");
	copy_line(to->evidence, sizeof(to->evidence), from->evidence);
	copy_line(to->rule, sizeof(to->rule), from->rule);
	copy_line(to->fix, sizeof(to->fix), from->fix);
	copy_line(to->effect, sizeof(to->effect), from->effect);
	if (from->explains != RUN_CAUSE_UNKNOWN)
		copy_line(to->explains, sizeof(to->explains), run_cause_name(from->explains));
}

static void add_unknown(struct run *run)
{
	struct run_finding *to = &run->findings[run->finding_count++];

	memset(to, 0, sizeof(*to));
	snprintf(to->id, sizeof(to->id), "facts");
	snprintf(to->severity, sizeof(to->severity), "unknown");
	copy_line(to->evidence, sizeof(to->evidence), error_text());
	snprintf(to->rule, sizeof(to->rule), "the doctor judges what can be read of the path, and could not read it");
}

/* Who resolved the path may have said it already. */
static int is_known(const struct run *run, const struct finding *finding, const char *interface)
{
	for (int i = 0; i < run->finding_count; i++)
		if (!strcmp(run->findings[i].id, finding->id) && !strcmp(run->findings[i].interface, interface))
			return 1;
	return 0;
}

static int is_wanted(const struct run *run, const struct facts *facts, const struct finding *finding)
{
	const struct facts_link *link = finding->ifindex ? facts_link_at(facts, finding->netns, finding->ifindex)
							 : NULL;

	return finding->severity <= FINDING_WARN && finding->hop > 0 && !finding->is_tcp_only &&
	       !is_known(run, finding, link ? link->name : "");
}

void run_findings_add(struct run *run, const struct path *path)
{
	static struct facts_path described;
	struct finding_list findings = { 0 };
	struct facts *facts = NULL;
	int added = 0, code = collect_facts(&(struct collect_request){ 0 }, &facts);

	if (!code) {
		run_path_describe(run, path, facts, &described);
		code = doctor_examine(&(struct doctor_request){ .facts = facts, .path = &described }, &findings);
	}
	if (code && run->finding_count < RUN_MAX_FINDINGS)
		add_unknown(run);
	for (int i = 0; !code && i < findings.count; i++)
		if (is_wanted(run, facts, &findings.findings[i]) && added < MOST_FINDINGS &&
		    run->finding_count < RUN_MAX_FINDINGS) {
			add(run, facts, &findings.findings[i]);
			added++;
		}
	finding_list_free(&findings);
	facts_free(facts);
}
