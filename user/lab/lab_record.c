// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labs that stay: a record file each, <state directory>/labs/ID. See lab.h.
 *
 * The file is text, one "key=value" a line, complete or not there (written aside, synced, renamed). Order is what
 * keeps a lab from being owned by nobody: lab_keep writes the record before it drops the undo records, lab_remove
 * deletes the namespaces before the record.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/undo.h"
#include "base/units.h"
#include "lab/lab.h"
#include "lab/lab_guest.h"
#include "lab/lab_names.h"
#include "sys/netns.h"

#define DEFAULT_STATE_DIRECTORY "/run/hopcap"
#define MAX_RECORD_BYTES 8192

const char *lab_netns_name(const char *id, const char *role, char buffer[RUN_NAME_BYTES])
{
	snprintf(buffer, RUN_NAME_BYTES, LAB_NETNS_PREFIX "%s-%s", id, role);
	return buffer;
}

int lab_id_is_valid(const char *id)
{
	size_t length = strlen(id);

	return length >= 4 && length <= 6 && strspn(id, "0123456789abcdef") == length;
}

const char *lab_record_directory(char buffer[PATH_MAX])
{
	const char *state = getenv("HOPCAP_STATE_DIR");

	snprintf(buffer, PATH_MAX, "%s/labs", state && *state ? state : DEFAULT_STATE_DIRECTORY);
	return buffer;
}

static int record_path(const char *id, char path[PATH_MAX])
{
	char directory[PATH_MAX];

	if (!lab_id_is_valid(id))
		return error_set(EINVAL, "'%s' is no id of a lab: those are 4 to 6 hex digits, see 'hopcap lab list'",
				 id);
	if (snprintf(path, PATH_MAX, "%s/%s", lab_record_directory(directory), id) >= PATH_MAX)
		return error_set(ENAMETOOLONG, "HOPCAP_STATE_DIR is too long");
	return 0;
}

int lab_netns_list(const char *id, char ***names)
{
	char prefix[RUN_NAME_BYTES];

	return netns_list(lab_netns_name(id, "", prefix), names);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static int print_record(const struct lab *lab, char *text, size_t size)
{
	int length =
		snprintf(text, size,
			 "scenario=%s\nmtu_bytes=%u\ndedicated=%d\nsegmentation_off=%d\npath_cpu=%d\nsource_cpu=%d\n",
			 lab->scenario, lab->options.mtu_bytes, lab->options.dedicated, lab->options.segmentation_off,
			 lab->path_cpu, lab->source_cpu);

	if (lab->guest_count && length < (int)size)
		length += snprintf(text + length, size - (size_t)length, "accelerator=%s\nkernel=%s\n",
				   lab->accelerator, lab->options.kernel);
	for (int i = 0; i < lab->guest_count && length < (int)size; i++)
		length += snprintf(text + length, size - (size_t)length, "guest=%s\n", lab->guests[i]);
	for (int i = 0; i < lab->point_count && length < (int)size; i++)
		length += snprintf(text + length, size - (size_t)length, "point=%s %s %s %s\n",
				   run_direction_name(lab->points[i].direction), lab->points[i].interface,
				   lab->points[i].netns, lab->points[i].name);
	return length < (int)size ? length : error_set(EFAULT, "lab %s: its record is too long", lab->id);
}

static int make_directory(const char *path)
{
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return error_set(errno, "cannot make %s, which remembers labs: %s", path, strerror(errno));
	return 0;
}

static int make_record_directory(void)
{
	char path[PATH_MAX], *slash;
	int result;

	lab_record_directory(path);
	slash = strrchr(path, '/');
	*slash = '\0';
	result = make_directory(path);
	*slash = '/';
	return result < 0 ? result : make_directory(path);
}

/* Writes and syncs; the file is removed again when that fails. */
static int write_file(const char *path, const char *text, size_t length)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644), result = 0;

	if (fd < 0)
		return error_set(errno, "cannot write %s: %s", path, strerror(errno));
	while (length > 0 && !result) {
		ssize_t written = write(fd, text, length);

		if (written >= 0) {
			text += written;
			length -= (size_t)written;
		} else if (errno != EINTR) {
			result = error_set(errno, "cannot write %s: %s", path, strerror(errno));
		}
	}
	if (!result && fsync(fd) < 0)
		result = error_set(errno, "cannot write %s: %s", path, strerror(errno));
	if (close(fd) < 0 && !result)
		result = error_set(errno, "cannot write %s: %s", path, strerror(errno));
	if (result < 0)
		unlink(path);
	return result;
}

int lab_keep(const struct lab *lab)
{
	char path[PATH_MAX], aside[PATH_MAX], directory[PATH_MAX], text[MAX_RECORD_BYTES];
	int length, result = record_path(lab->id, path);

	if (!result)
		result = make_record_directory();
	if (result < 0)
		return result;
	length = print_record(lab, text, sizeof(text));
	if (length < 0)
		return length;
	if (snprintf(aside, sizeof(aside), "%s/.%s", lab_record_directory(directory), lab->id) >= (int)sizeof(aside))
		return error_set(ENAMETOOLONG, "HOPCAP_STATE_DIR is too long");
	result = write_file(aside, text, (size_t)length);
	if (result < 0)
		return result;
	if (rename(aside, path) < 0) {
		result = error_set(errno, "cannot write %s: %s", path, strerror(errno));
		unlink(aside);
		return result;
	}
	undo_forget_to(lab->undo_mark);
	return 0;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static int parse_point(const char *value, struct lab *lab)
{
	struct lab_point *point = &lab->points[lab->point_count];
	char direction[4];
	int end = 0;

	_Static_assert(sizeof(point->interface) == 16 && RUN_NAME_BYTES == 64, "field widths below");
	if (lab->point_count == LAB_MAX_POINTS ||
	    sscanf(value, "%3s %15s %63s %63s%n", direction, point->interface, point->netns, point->name, &end) != 4 ||
	    value[end])
		return -EBADMSG;
	if (!strcmp(direction, "in"))
		point->direction = RUN_DIRECTION_IN;
	else if (!strcmp(direction, "out"))
		point->direction = RUN_DIRECTION_OUT;
	else
		return -EBADMSG;
	lab->point_count++;
	for (int i = 0; i < lab->guest_count; i++) {
		const char *at = strchr(point->name, '@');

		if (at && !strcmp(at + 1, lab->guests[i]))
			snprintf(point->guest, sizeof(point->guest), "%s", lab->guests[i]);
	}
	return 0;
}

static int parse_guest(const char *value, struct lab *lab)
{
	if (lab->guest_count == LAB_MAX_GUESTS || !*value || strlen(value) >= sizeof(lab->guests[0]) ||
	    strchr(value, '/'))
		return -EBADMSG;
	strcpy(lab->guests[lab->guest_count++], value);
	return 0;
}

static int parse_number(const char *value, long min, long max, int *number)
{
	long parsed;

	if (units_parse_integer(value, min, max, &parsed) < 0)
		return -EBADMSG;
	*number = (int)parsed;
	return 0;
}

static int parse_line(const char *key, const char *value, struct lab *lab)
{
	int number, result;

	if (!strcmp(key, "scenario")) {
		snprintf(lab->scenario, sizeof(lab->scenario), "%s", value);
		return *value ? 0 : -EBADMSG;
	}
	if (!strcmp(key, "mtu_bytes")) {
		result = parse_number(value, LAB_MIN_MTU_BYTES, LAB_MAX_MTU_BYTES, &number);
		lab->options.mtu_bytes = result ? 0 : (unsigned int)number;
		return result;
	}
	if (!strcmp(key, "dedicated"))
		return parse_number(value, 0, 1, &lab->options.dedicated);
	if (!strcmp(key, "segmentation_off"))
		return parse_number(value, 0, 1, &lab->options.segmentation_off);
	if (!strcmp(key, "path_cpu"))
		return parse_number(value, -1, INT_MAX, &lab->path_cpu);
	if (!strcmp(key, "source_cpu"))
		return parse_number(value, -1, INT_MAX, &lab->source_cpu);
	if (!strcmp(key, "accelerator") || !strcmp(key, "kernel")) {
		snprintf(*key == 'a' ? lab->accelerator : lab->options.kernel,
			 *key == 'a' ? sizeof(lab->accelerator) : sizeof(lab->options.kernel), "%s", value);
		return 0;
	}
	if (!strcmp(key, "guest")) /* before the points */
		return parse_guest(value, lab);
	if (!strcmp(key, "point"))
		return parse_point(value, lab);
	return 0; /* of a newer version */
}

static int parse_record(char *text, struct lab *lab)
{
	char *line;

	lab->path_cpu = lab->source_cpu = -1;
	while ((line = strsep(&text, "\n"))) {
		char *equals = strchr(line, '=');

		if (!*line)
			continue;
		if (!equals)
			return -EBADMSG;
		*equals = '\0';
		if (parse_line(line, equals + 1, lab) < 0)
			return -EBADMSG;
	}
	return lab->scenario[0] && lab->options.mtu_bytes && lab->point_count >= 2 ? 0 : -EBADMSG;
}

/* The whole file with a zero behind it; -EFBIG when it does not fit. */
static int read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	size_t used = 0;

	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t length = read(fd, text + used, size - used);

		if (length < 0 && errno == EINTR)
			continue;
		if (length <= 0 || used + (size_t)length == size) {
			int result = length < 0 ? -errno : length > 0 ? -EFBIG : (int)used;

			close(fd);
			text[length == 0 ? used : 0] = '\0';
			return result;
		}
		used += (size_t)length;
	}
}

int lab_load(const char *id, struct lab *lab)
{
	char path[PATH_MAX], text[MAX_RECORD_BYTES];
	int result = record_path(id, path);

	if (result < 0)
		return result;
	memset(lab, 0, sizeof(*lab));
	snprintf(lab->id, sizeof(lab->id), "%s", id);
	result = read_file(path, text, sizeof(text));
	if (result == -ENOENT)
		return error_set(EINVAL, "there is no lab %s; 'hopcap lab list' lists those that are", id);
	if (result < 0 && result != -EFBIG)
		return error_set(-result, "cannot read %s: %s", path, strerror(-result));
	if (result < 0 || strlen(text) != (size_t)result || parse_record(text, lab) < 0)
		return error_set(EBADMSG, "the record of lab %s (%s) is damaged; 'hopcap cleanup' removes the lab", id,
				 path);
	return 0;
}

int lab_is_recorded(const char *id)
{
	struct lab lab;
	int result;

	if (!lab_id_is_valid(id))
		return 0;
	result = lab_load(id, &lab);
	return result != -EINVAL && result != -EBADMSG; /* a record that cannot be read just now is still one */
}

static int is_record_name(const struct dirent *entry)
{
	return lab_id_is_valid(entry->d_name);
}

int lab_list(struct lab **labs)
{
	char directory[PATH_MAX];
	struct dirent **entries;
	int count, kept = 0, result = 0;

	*labs = NULL;
	count = scandir(lab_record_directory(directory), &entries, is_record_name, alphasort);
	if (count < 0)
		return errno == ENOENT ? 0 : error_set(errno, "cannot read %s: %s", directory, strerror(errno));
	if (count > 0) {
		*labs = calloc((size_t)count, sizeof(**labs));
		if (!*labs)
			result = error_set(ENOMEM, "out of memory for a list of labs");
	}
	for (int i = 0; i < count; i++) {
		if (!result) {
			result = lab_load(entries[i]->d_name, &(*labs)[kept]);
			if (!result)
				kept++;
			else if (result == -EINVAL) /* removed meanwhile */
				result = 0;
		}
		free(entries[i]);
	}
	free(entries);
	if (result < 0) {
		free(*labs);
		*labs = NULL;
	}
	return result < 0 ? result : kept;
}

/* --- removing ----------------------------------------------------------------------------------------------------- */

int lab_remove(const char *id)
{
	char path[PATH_MAX], **names;
	struct lab lab;
	int count, result = record_path(id, path);

	if (!result)
		result = lab_load(id, &lab);
	if (result < 0)
		return result;
	result = lab_guest_end_all(id);
	if (result < 0)
		return result;
	count = lab_netns_list(id, &names);
	if (count < 0)
		return count;
	for (int i = 0; i < count; i++) {
		int one = netns_delete(names[i]);

		result = result ? result : one;
	}
	netns_list_free(names, count);
	if (result < 0)
		return result;
	if (unlink(path) < 0 && errno != ENOENT)
		return error_set(errno, "cannot remove %s: %s", path, strerror(errno));
	return 0;
}
