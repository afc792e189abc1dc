// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What is left over of labs: namespaces that nobody owns, records without namespaces. See lab.h; called by
 * cmd/cleanup.c.
 *
 * A namespace is looked up on the undo stacks first and in the records second: lab_keep writes the record before it
 * drops the undo record, so a lab that is being kept at this moment is found in one of the two.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/undo.h"
#include "lab/lab.h"
#include "lab/lab_guest.h"
#include "lab/lab_names.h"
#include "sys/netns.h"

typedef void (*stray_report)(const char *what, const char *name, int result);

struct strays {
	int dry_run;
	stray_report report;
	int count;
};

static void account(struct strays *strays, const char *what, const char *name, int result)
{
	strays->report(what, name, result);
	strays->count++;
}

/* The id in "hopcap-<id>-<role>"; "" when the name has another shape. */
static void id_of_netns(const char *name, char id[16])
{
	const char *start = name + strlen(LAB_NETNS_PREFIX), *dash = strchr(start, '-');

	id[0] = '\0';
	if (dash && dash - start < 16)
		snprintf(id, 16, "%.*s", (int)(dash - start), start);
	if (!lab_id_is_valid(id))
		id[0] = '\0';
}

static int remove_namespace(const char *id, const char *name)
{
	int result = lab_guest_end_all(id);

	return result < 0 ? result : netns_delete(name);
}

/* Names are the same for all, whereas records are in a directory that the environment may choose: with another
 * directory than the usual one, namespaces that it knows nothing about may well be owned. */
static int remove_stray_namespaces(struct strays *strays)
{
	const char *directory = getenv("HOPCAP_STATE_DIR");
	char **names, id[16];
	int count;

	if (directory && *directory)
		return 0;
	count = netns_list(LAB_NETNS_PREFIX, &names);
	if (count < 0)
		return count;
	for (int i = 0; i < count; i++) {
		int claim;

		id_of_netns(names[i], id);
		if (!id[0]) /* not of a lab: somebody else's */
			continue;
		claim = undo_claim("netns-delete", names[i]);
		if (claim < 0) {
			netns_list_free(names, count);
			return claim;
		}
		/* What a dead process claims was told before, by undo_list_dead. */
		if (claim == UNDO_CLAIM_LIVING || (claim == UNDO_CLAIM_DEAD && strays->dry_run) ||
		    lab_is_recorded(id) || !netns_exists(names[i]))
			continue;
		account(strays, "namespace", names[i], strays->dry_run ? 0 : remove_namespace(id, names[i]));
	}
	netns_list_free(names, count);
	return 0;
}

/* Record files, and those that were being written when their process was killed (".ID"). */
static int is_record_file(const struct dirent *entry)
{
	return lab_id_is_valid(entry->d_name) || (entry->d_name[0] == '.' && lab_id_is_valid(entry->d_name + 1));
}

static int remove_record(const char *directory, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return error_set(ENAMETOOLONG, "HOPCAP_STATE_DIR is too long");
	if (unlink(path) < 0 && errno != ENOENT)
		return error_set(errno, "cannot remove %s: %s", path, strerror(errno));
	return 0;
}

static int remove_empty_records(struct strays *strays)
{
	char directory[PATH_MAX];
	struct dirent **entries;
	int count = scandir(lab_record_directory(directory), &entries, is_record_file, alphasort);

	if (count < 0)
		return errno == ENOENT ? 0 : error_set(errno, "cannot read %s: %s", directory, strerror(errno));
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char **names;
		int left = lab_netns_list(name[0] == '.' ? name + 1 : name, &names);

		if (left >= 0)
			netns_list_free(names, left);
		if (left == 0)
			account(strays, "record", name, strays->dry_run ? 0 : remove_record(directory, name));
		free(entries[i]);
	}
	free(entries);
	return 0;
}

int lab_remove_strays(int dry_run, stray_report report)
{
	struct strays strays = { .dry_run = dry_run, .report = report };
	int result = remove_stray_namespaces(&strays);

	if (!result)
		result = remove_empty_records(&strays);
	return result < 0 ? result : strays.count;
}
