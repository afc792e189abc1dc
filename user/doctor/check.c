// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What judges use: reporting a finding, rotating text buffers, growth of counters, neighbours on the path. Rank is decided in
 * doctor.c. Called by doctor/checks_*.c.
 */
#include "doctor/check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/shell_quote.h"

#define TEXT_BUFFERS 8
#define TEXT_BYTES 1024

const char *check_text(const char *format, ...)
{
	static _Thread_local char buffers[TEXT_BUFFERS][TEXT_BYTES];
	static _Thread_local unsigned int next;
	char line[TEXT_BYTES]; /* arguments may point into the buffer that is about to be reused */
	char *buffer;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	buffer = buffers[next++ % TEXT_BUFFERS];
	memcpy(buffer, line, sizeof(line));
	return buffer;
}

static const char *netns_name(const struct facts *facts, int netns)
{
	return netns > 0 && netns < facts->netns_count ? facts->netns[netns].name : "";
}

const char *check_link_name(const struct check_context *context, const struct facts_link *link)
{
	const char *name = netns_name(context->facts, link->netns);

	if (!*name)
		return check_text("%s", link->name);
	return check_text("%s@ns:%s", link->name, name);
}

const char *check_enter(const struct check_context *context, int netns)
{
	const char *name = netns_name(context->facts, netns);

	if (!*name)
		return "";
	return strncmp(name, "pid:", 4) ? check_text("ip netns exec %s ", name)
					: check_text("nsenter -t %s -n ", name + 4);
}

const char *check_file_line(const struct check_context *context, int netns, const char *path)
{
	const struct facts_file *file = facts_file_at(context->facts, netns, path);

	if (!file)
		return check_text("%s: not among the facts", path);
	return check_text("%s: %s", path, file->error ? strerror(file->error) : file->text);
}

static char *copy(struct check_context *context, const char *text)
{
	char *copied = strdup(text ? text : "");

	if (!copied)
		context->error = -ENOMEM;
	return copied;
}

/* A command to paste; one that was cut short may have lost the end of a name, and with it the quotes. */
static char *copy_command(struct check_context *context, const char *text)
{
	char *quoted;

	if (!context->has_odd_names)
		return copy(context, text);
	quoted = shell_quote_names(context->facts, text ? text : "");
	if (!quoted)
		context->error = -ENOMEM;
	else if (strlen(text ? text : "") >= TEXT_BYTES - 1 && strcmp(quoted, text))
		quoted[0] = '\0';
	return quoted;
}

static void report(struct check_context *context, const struct facts_link *link, const char *name,
		   enum finding_severity severity, double gbps, const char *const texts[3])
{
	struct finding *finding = finding_list_add(context->findings);

	if (!finding) {
		context->error = -ENOMEM;
		return;
	}
	finding->severity = severity;
	finding->cap_gbps = gbps;
	finding->reference = context->check->reference;
	finding->explains = context->check->explains;
	finding->is_tcp_only = context->check->is_tcp_only;
	finding->hop = link ? check_hop_of(context, link) : 0;
	if (!finding->hop)
		finding->hop = context->hop;
	snprintf(finding->id, sizeof(finding->id), "%s", context->check->id);
	snprintf(finding->interface, sizeof(finding->interface), "%s", name);
	if (link) {
		finding->netns = link->netns;
		finding->ifindex = link->ifindex;
	}
	finding->evidence = copy(context, texts[0]);
	finding->rule = copy(context, texts[1]);
	finding->fix = copy_command(context, texts[2]);
	finding->effect = copy(context, context->check->effect);
	if (!finding->evidence || !finding->rule || !finding->fix || !finding->effect) { /* half a finding is none */
		free(finding->evidence);
		free(finding->rule);
		free(finding->fix);
		free(finding->effect);
		context->findings->count--;
	}
}

/* What the subject is called. */
static const char *subject_name(const struct check_context *context)
{
	if (context->link)
		return check_link_name(context, context->link);
	if (context->process)
		return check_text("%s %d", context->process->is_qemu ? "qemu" : context->process->name,
				  context->process->pid);
	if (context->check->subject == CHECK_HOP && context->path && context->hop > 0)
		return context->path->hops[context->hop - 1].name;
	return "";
}

void check_report(struct check_context *context, enum finding_severity severity, const char *evidence, const char *rule,
		  const char *fix)
{
	check_report_cap(context, severity, 0, evidence, rule, fix);
}

void check_report_cap(struct check_context *context, enum finding_severity severity, double gbps, const char *evidence,
		      const char *rule, const char *fix)
{
	const char *const texts[] = { evidence, rule, fix };

	report(context, context->link, subject_name(context), severity, gbps, texts);
}

void check_report_about(struct check_context *context, const struct facts_link *link, enum finding_severity severity,
			const char *evidence, const char *rule, const char *fix)
{
	const char *const texts[] = { evidence, rule, fix };

	report(context, link, link ? check_link_name(context, link) : "", severity, 0, texts);
}

void check_report_named(struct check_context *context, const char *name, enum finding_severity severity,
			const char *evidence, const char *rule, const char *fix)
{
	const char *const texts[] = { evidence, rule, fix };

	report(context, NULL, name, severity, 0, texts);
}

int64_t check_growth_of(const struct check_context *context, const struct facts_link *link, const char *counter,
			int *since_boot)
{
	const struct facts_link *before = NULL;
	int64_t now = facts_counter_of(link, counter), then = FACTS_UNKNOWN;
	int netns;

	*since_boot = !context->earlier;
	if (!context->earlier || now < 0)
		return now;
	netns = facts_netns_named(context->earlier, netns_name(context->facts, link->netns));
	if (netns >= 0)
		before = facts_link_at(context->earlier, netns, link->ifindex);
	/* An index is used again, and a driver may start its counters anew: then all that is known is what it counts now. */
	if (before && !strcmp(before->name, link->name))
		then = facts_counter_of(before, counter);
	if (then < 0 || then > now) {
		*since_boot = 1;
		return now;
	}
	return now - then;
}

int64_t check_counter_growth(const struct check_context *context, const char *counter, int *since_boot)
{
	*since_boot = !context->earlier;
	return context->link ? check_growth_of(context, context->link, counter, since_boot) : FACTS_UNKNOWN;
}

const char *check_growth_text(const char *counter, int64_t growth, int since_boot)
{
	if (growth < 0)
		return check_text("%s: not reported", counter);
	return since_boot ? check_text("%s: %lld since boot", counter, (long long)growth)
			  : check_text("%s: grew by %lld while we looked", counter, (long long)growth);
}

enum finding_severity check_growth_severity(enum finding_severity severity, int since_boot)
{
	return since_boot && severity < FINDING_INFO ? FINDING_INFO : severity;
}

const struct facts_link *check_point_link(const struct check_context *context, int index)
{
	const struct facts_path_point *point;

	if (!context->path || index < 0 || index >= context->path->point_count)
		return NULL;
	point = &context->path->points[index];
	return point->ifindex ? facts_link_at(context->facts, point->netns, point->ifindex) : NULL;
}

int check_hop_of(const struct check_context *context, const struct facts_link *link)
{
	ptrdiff_t index = link - context->facts->links;

	if (!context->hop_of || index < 0 || index >= context->facts->link_count)
		return 0;
	return context->hop_of[index];
}

static int compare_int(const void *left, const void *right)
{
	int a = *(const int *)left, b = *(const int *)right;

	return (a > b) - (a < b);
}

int check_is_examined(const struct check_context *context, const struct facts_link *link)
{
	int index = (int)(link - context->facts->links);

	return context->link_count > 0 &&
	       bsearch(&index, context->links, (size_t)context->link_count, sizeof(index), compare_int) != NULL;
}

double check_goal_gbps(const struct check_context *context)
{
	int64_t slowest = 0;

	if (context->goal_gbps > 0)
		return context->goal_gbps;
	for (int i = 0; context->path && i < context->path->point_count; i++) {
		const struct facts_link *link = check_point_link(context, i);

		if (link && link->speed_mbit_per_s > 0 && (!slowest || link->speed_mbit_per_s < slowest))
			slowest = link->speed_mbit_per_s;
	}
	if (!slowest && context->link && context->link->speed_mbit_per_s > 0)
		slowest = context->link->speed_mbit_per_s;
	return (double)slowest / 1e3;
}
