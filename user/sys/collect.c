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
#include "sys/file_tree.h"

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

/* Another directory than was meant would look like a machine without anything. */
static int note_empty(const char *sysroot, struct facts *facts)
{
	struct file_tree tree;
	int result = file_tree_open(&tree, sysroot), is_empty;

	if (result < 0)
		return result;
	is_empty = !file_tree_exists(&tree, "/sys/class/net") && !file_tree_exists(&tree, "/proc/stat");
	file_tree_close(&tree);
	if (is_empty &&
	    facts_add_gap(
		    facts,
		    "%s: neither sys/class/net nor proc/stat is there; name a directory with sys/ and proc/ of a machine",
		    sysroot) < 0)
		return error_set(ENOMEM, "out of memory for a gap");
	return 0;
}

static int collect_all(const char *sysroot, struct facts *facts)
{
	int result = sysroot ? collect_sysfs_links(sysroot, facts) : collect_links(facts);

	if (result == 0 && sysroot)
		result = note_empty(sysroot, facts);
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
