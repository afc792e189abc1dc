// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All facts of this machine or of a captured tree; see collect.h.
 *
 * Each collector builds on what those before have found: files and processes need namespaces and links.
 */
#include "sys/collect.h"

#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/collect_irq.h"

static void describe(struct facts *facts, int is_captured)
{
	struct utsname name;
	struct tm utc;
	time_t now = time(NULL);

	if (gmtime_r(&now, &utc))
		strftime(facts->created, sizeof(facts->created), "%Y-%m-%dT%H:%M:%SZ", &utc);
	snprintf(facts->version, sizeof(facts->version), "%s", HOPCAP_VERSION);
	facts->is_root = geteuid() == 0;
	if (!is_captured && uname(&name) == 0)
		snprintf(facts->kernel, sizeof(facts->kernel), "%s", name.release);
}

static int collect_all(const char *sysroot, struct facts *facts)
{
	int result = sysroot ? collect_sysfs_links(sysroot, facts) : collect_links(facts);

	facts_sort(facts);
	if (result == 0 && sysroot)
		result = collect_irqs(sysroot, facts);
	if (result == 0)
		result = collect_files(sysroot, facts);
	if (result == 0)
		result = collect_processes(sysroot, facts);
	facts_sort(facts);
	return result;
}

int collect_facts(const struct collect_request *request, struct facts **facts)
{
	struct facts *filled = facts_new();
	int result;

	*facts = NULL;
	if (!filled)
		return error_set(ENOMEM, "out of memory for facts");
	describe(filled, request->sysroot != NULL);
	result = collect_all(request->sysroot, filled);
	if (result < 0) {
		facts_free(filled);
		return result;
	}
	collect_machine(filled);
	*facts = filled;
	return 0;
}
