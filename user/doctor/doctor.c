// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The engine: who is examined, who is asked, what comes first.
 *
 * Rank. A fault that stops or cuts traffic comes before one that costs CPU, one on the path before one beside it, and a limit that is
 * known as a rate before one that is not, the lower the earlier: `severity x (0.2 + 0.8 x weight) x place + limit`. Weight is the
 * row's: how often that fault is the cap when it is there. Called by cmd/.
 */
#include "doctor/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/shell_quote.h"

#define FLAG_UP 0x1
#define FLAG_LOOPBACK 0x8
#define REFERENCE_GBPS 100 /* without a goal */

struct examination {
	const struct doctor_request *request;
	struct check_context base; /* what all subjects share */
	int *links, *hop_of;	   /* as in check_context; owned */
	char *chosen;		   /* by index in facts->links */
};

static void choose(struct examination *examination, int netns, int ifindex, int hop)
{
	const struct facts *facts = examination->request->facts;
	const struct facts_link *link = ifindex ? facts_link_at(facts, netns, ifindex) : NULL;
	ptrdiff_t index;

	if (!link)
		return;
	index = link - facts->links;
	examination->chosen[index] = 1;
	if (hop && (!examination->hop_of[index] || hop < examination->hop_of[index]))
		examination->hop_of[index] = hop;
}

static void choose_path(struct examination *examination, const struct facts_path *path)
{
	int count = path->point_count < FACTS_PATH_MAX_POINTS ? path->point_count : FACTS_PATH_MAX_POINTS;

	for (int i = 0; i < count; i++)
		choose(examination, path->points[i].netns, path->points[i].ifindex, i > 0 ? i : 1);
	for (int i = 0; i + 1 < count; i++)
		choose(examination, path->hops[i].netns, path->hops[i].ifindex, i + 1);
}

/* A VF's limits are set at its PF. */
static void choose_physical_functions(struct examination *examination)
{
	const struct facts *facts = examination->request->facts;

	for (int i = 0; i < facts->link_count; i++) {
		if (!examination->chosen[i] || !facts->links[i].physfn_address[0])
			continue;
		for (int j = 0; j < facts->link_count; j++)
			if (!strcmp(facts->links[j].bus_address, facts->links[i].physfn_address))
				choose(examination, facts->links[j].netns, facts->links[j].ifindex,
				       examination->hop_of[i]);
	}
}

static int choose_targets(struct examination *examination)
{
	const struct doctor_request *request = examination->request;

	for (int i = 0; i < request->target_count; i++) {
		const struct doctor_target *target = &request->targets[i];

		if (!facts_link_at(request->facts, target->netns, target->ifindex))
			return error_set(ENOENT, "interface %d of namespace %d is not among the facts", target->ifindex,
					 target->netns);
		choose(examination, target->netns, target->ifindex, 0);
	}
	return 0;
}

static int choose_links(struct examination *examination)
{
	const struct doctor_request *request = examination->request;
	const struct facts *facts = request->facts;
	int result = choose_targets(examination);

	if (result)
		return result;
	if (request->path)
		choose_path(examination, request->path);
	if (!request->path && !request->target_count)
		for (int i = 0; i < facts->link_count; i++)
			examination->chosen[i] = (facts->links[i].flags & FLAG_UP) &&
						 !(facts->links[i].flags & FLAG_LOOPBACK);
	else
		choose_physical_functions(examination);
	for (int i = 0; i < facts->link_count; i++)
		if (examination->chosen[i])
			examination->links[examination->base.link_count++] = i;
	return 0;
}

static int prepare(struct examination *examination)
{
	const struct doctor_request *request = examination->request;
	size_t count = (size_t)request->facts->link_count + 1;

	examination->links = calloc(count, sizeof(*examination->links));
	examination->hop_of = calloc(count, sizeof(*examination->hop_of));
	examination->chosen = calloc(count, 1);
	if (!examination->links || !examination->hop_of || !examination->chosen)
		return -ENOMEM;
	examination->base = (struct check_context){
		.facts = request->facts,
		.earlier = request->earlier,
		.path = request->path,
		.sizes = request->sizes,
		.goal_gbps = request->goal_gbps,
		.has_odd_names = shell_needs_quotes(request->facts),
		.links = examination->links,
		.hop_of = request->path ? examination->hop_of : NULL,
	};
	return choose_links(examination);
}

/* --- asking ------------------------------------------------------------------------------------------------------- */

static int judge(const struct check *check, struct check_context context)
{
	context.check = check;
	if (!check->applies || check->applies(&context))
		check->judge(&context);
	return context.error;
}

/* The first hop of an examined link that the process holds; -1 when it holds none. */
static int hop_of_process(const struct examination *examination, const struct facts_process *process)
{
	const struct facts *facts = examination->request->facts;
	int found = -1;

	for (int i = 0; i < process->tun_count; i++) {
		const struct facts_tun_holder *tun = &process->tuns[i];

		for (int netns = 0; netns < facts->netns_count; netns++) {
			const struct facts_link *link;

			if (tun->netns >= 0 && tun->netns != netns)
				continue;
			link = facts_link_named(facts, netns, tun->interface);
			if (link && examination->chosen[link - facts->links] && found <= 0)
				found = examination->hop_of[link - facts->links];
		}
	}
	return found;
}

static int judge_links(const struct examination *examination, const struct check *check)
{
	struct check_context context = examination->base;
	int result = 0;

	for (int i = 0; i < context.link_count && !result; i++) {
		context.link = &examination->request->facts->links[examination->links[i]];
		context.hop = examination->hop_of[examination->links[i]];
		result = judge(check, context);
	}
	return result;
}

static int judge_hops(const struct examination *examination, const struct check *check)
{
	struct check_context context = examination->base;
	int result = 0;

	for (int hop = 1; context.path && hop < context.path->point_count && !result; hop++) {
		context.hop = hop;
		result = judge(check, context);
	}
	return result;
}

static int judge_processes(const struct examination *examination, const struct check *check)
{
	const struct doctor_request *request = examination->request;
	struct check_context context = examination->base;
	int all = !request->path && !request->target_count, result = 0;

	for (int i = 0; i < request->facts->process_count && !result; i++) {
		int hop = hop_of_process(examination, &request->facts->processes[i]);

		if (hop < 0 && !all)
			continue;
		context.process = &request->facts->processes[i];
		context.hop = hop > 0 ? hop : 0;
		result = judge(check, context);
	}
	return result;
}

static int judge_one(const struct examination *examination, const struct check *check)
{
	switch (check->subject) {
	case CHECK_MACHINE:
		return judge(check, examination->base);
	case CHECK_LINK:
		return judge_links(examination, check);
	case CHECK_HOP:
		return judge_hops(examination, check);
	case CHECK_PROCESS:
		return judge_processes(examination, check);
	case CHECK_CLAIMS:
		return examination->request->facts->claim_count ? judge(check, examination->base) : 0;
	}
	return 0;
}

/* --- ranking ------------------------------------------------------------------------------------------------------ */

static double place_of(const struct examination *examination, const struct check *check, const struct finding *finding)
{
	if (!examination->request->path || finding->hop > 0)
		return 1;
	if (check->subject == CHECK_CLAIMS) /* it was pasted because the path goes there */
		return 0.9;
	return finding->ifindex ? 0.4 : 0.8;
}

static double reference_gbps(const struct examination *examination)
{
	double goal = check_goal_gbps(&examination->base);

	return goal > 0 ? goal : REFERENCE_GBPS;
}

static void rank(const struct examination *examination, const struct check *check, struct finding *finding)
{
	static const double severities[] = {
		[FINDING_FAIL] = 1, [FINDING_WARN] = 0.55, [FINDING_INFO] = 0.12, [FINDING_UNKNOWN] = 0.08
	};
	double place = place_of(examination, check, finding), reference = reference_gbps(examination);

	finding->rank = severities[finding->severity] * (0.2 + 0.8 * check->weight) * place;
	if (finding->severity <= FINDING_WARN && finding->cap_gbps > 0 && finding->cap_gbps < reference)
		finding->rank += 0.5 * place * (1 - finding->cap_gbps / reference);
}

static int compare_findings(const void *left, const void *right)
{
	const struct finding *a = left, *b = right;
	int order;

	if (a->rank != b->rank)
		return a->rank < b->rank ? 1 : -1;
	if (a->hop != b->hop)
		return (a->hop ? a->hop : FACTS_PATH_MAX_POINTS) < (b->hop ? b->hop : FACTS_PATH_MAX_POINTS) ? -1 : 1;
	order = strcmp(a->id, b->id);
	order = order ? order : (a->netns > b->netns) - (a->netns < b->netns);
	order = order ? order : (a->ifindex > b->ifindex) - (a->ifindex < b->ifindex);
	order = order ? order : strcmp(a->interface, b->interface);
	return order ? order : strcmp(a->evidence, b->evidence);
}

/* Two hops that share a link may say the same of it. */
static int is_same(const struct finding *a, const struct finding *b)
{
	return !strcmp(a->id, b->id) && a->netns == b->netns && a->ifindex == b->ifindex &&
	       !strcmp(a->interface, b->interface) && !strcmp(a->evidence, b->evidence) && !strcmp(a->rule, b->rule);
}

static void sort_and_thin(struct finding_list *list)
{
	int kept = 0;

	if (!list->count)
		return;
	qsort(list->findings, (size_t)list->count, sizeof(list->findings[0]), compare_findings);
	for (int i = 0; i < list->count; i++) {
		struct finding *finding = &list->findings[i];

		if (kept && is_same(&list->findings[kept - 1], finding)) {
			free(finding->evidence);
			free(finding->rule);
			free(finding->fix);
			free(finding->effect);
			continue;
		}
		list->findings[kept++] = *finding;
	}
	list->count = kept;
}

int doctor_examine(const struct doctor_request *request, struct finding_list *findings)
{
	struct examination examination = { .request = request };
	int table_count, result = prepare(&examination);
	const struct check_table *const *tables = doctor_tables(&table_count);

	examination.base.findings = findings;
	for (int i = 0; i < table_count && !result; i++) {
		for (int j = 0; j < tables[i]->count && !result; j++) {
			int before = findings->count;

			result = judge_one(&examination, &tables[i]->checks[j]);
			for (int k = before; k < findings->count; k++)
				rank(&examination, &tables[i]->checks[j], &findings->findings[k]);
		}
	}
	sort_and_thin(findings);
	free(examination.links);
	free(examination.hop_of);
	free(examination.chosen);
	return result;
}

const struct check *doctor_check_find(const char *id)
{
	int table_count;
	const struct check_table *const *tables = doctor_tables(&table_count);

	for (int i = 0; i < table_count; i++)
		for (int j = 0; j < tables[i]->count; j++)
			if (!strcmp(tables[i]->checks[j].id, id))
				return &tables[i]->checks[j];
	return NULL;
}
