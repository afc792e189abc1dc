// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State files of the undo stack: see undo_file.h for format and guarantees.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/undo_file.h"

#define DEFAULT_STATE_DIR "/run/hopcap"
#define STRUCK_OUT '#'
#define MAX_FILE_BYTES (16 << 20)

static const char *state_dir(void)
{
	const char *dir = getenv("HOPCAP_STATE_DIR");

	return dir && *dir ? dir : DEFAULT_STATE_DIR;
}

static int set_path(struct undo_file *file, const struct undo_file_name *name)
{
	int length =
		snprintf(file->path, sizeof(file->path), "%s/%d-%llu.undo", state_dir(), name->pid, name->start_time);

	if (length >= (int)sizeof(file->path))
		return error_set(ENAMETOOLONG, "HOPCAP_STATE_DIR is too long");
	return 0;
}

static int make_state_dir(void)
{
	const char *dir = state_dir();

	if (!mkdir(dir, 0755))
		return chmod(dir, 0755) ? error_set(errno, "cannot set the mode of %s: %s", dir, strerror(errno)) : 0;
	if (errno == EEXIST)
		return 0;
	if (errno == EACCES || errno == EPERM)
		return error_set(errno, "cannot make %s: %s; run hopcap as root", dir, strerror(errno));
	return error_set(errno, "cannot make %s, which remembers what to undo: %s", dir, strerror(errno));
}

/* State letter and start time of a process. 0, or -ESRCH when there is none. */
static int process_identity(int pid, char *state, unsigned long long *start_time)
{
	char path[64], line[1024], *after_name;
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -ESRCH;
	length = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (length <= 0)
		return -ESRCH;
	line[length] = '\0';
	after_name = strrchr(line, ')'); /* the name itself may hold spaces and parentheses */
	if (!after_name || sscanf(after_name + 1,
				  " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d"
				  " %*d %*d %llu",
				  state, start_time) != 2)
		return -ESRCH;
	return 0;
}

int undo_file_owner_lives(const struct undo_file_name *name)
{
	unsigned long long start_time;
	char state;

	if (process_identity(name->pid, &state, &start_time))
		return 0;
	/* A zombie has lost all that it held. */
	return start_time == name->start_time && state != 'Z' && state != 'X';
}

/* Cuts a line (its newline gone) into fields. 0, or -EINVAL when it has too many. */
static int split_record(struct undo_record *record)
{
	char *rest = record->line, *field;

	record->field_count = 0;
	while ((field = strsep(&rest, "\t"))) {
		if (record->field_count > UNDO_MAX_ARGUMENTS)
			return -EINVAL;
		record->fields[record->field_count++] = field;
	}
	return 0;
}

/* Takes over `line` (malloc'ed), also on failure. */
static int add_record(struct undo_file *file, char *line, off_t offset)
{
	struct undo_record *record;

	if (file->count == file->capacity) {
		int capacity = file->capacity ? 2 * file->capacity : 32;
		struct undo_record *grown = realloc(file->records, (size_t)capacity * sizeof(*grown));

		if (!grown) {
			free(line);
			return error_set(ENOMEM, "no memory for the undo stack");
		}
		file->records = grown;
		file->capacity = capacity;
	}
	record = &file->records[file->count];
	*record = (struct undo_record){ .line = line, .offset = offset };
	if (split_record(record)) {
		free(line);
		return error_set(EBADMSG, "%s: malformed record at byte %lld", file->path, (long long)offset);
	}
	file->count++;
	return 0;
}

static int read_all(struct undo_file *file, char **text, size_t *length)
{
	struct stat status;
	size_t used = 0;

	if (fstat(file->fd, &status))
		return error_set(errno, "cannot read %s: %s", file->path, strerror(errno));
	if (!S_ISREG(status.st_mode) || status.st_size > MAX_FILE_BYTES)
		return error_set(EBADMSG, "%s is not a state file of hopcap", file->path);
	*text = malloc((size_t)status.st_size + 1);
	if (!*text)
		return error_set(ENOMEM, "no memory to read %s", file->path);
	while (used < (size_t)status.st_size) {
		ssize_t got = pread(file->fd, *text + used, (size_t)status.st_size - used, (off_t)used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(*text);
			return error_set(errno, "cannot read %s: %s", file->path, strerror(errno));
		}
		if (!got)
			break;
		used += (size_t)got;
	}
	*length = used;
	return 0;
}

static int load_records(struct undo_file *file)
{
	size_t length = 0, start = 0;
	char *text = NULL, *newline;
	int result = read_all(file, &text, &length);

	if (result)
		return result;
	while (!result && (newline = memchr(text + start, '\n', length - start))) {
		size_t bytes = (size_t)(newline - (text + start));

		if (bytes && text[start] != STRUCK_OUT) {
			char *line = strndup(text + start, bytes);

			result = line ? add_record(file, line, (off_t)start)
				      : error_set(ENOMEM, "no memory for %s", file->path);
		}
		start += bytes + 1;
	}
	free(text);
	file->end = (off_t)start; /* an unfinished last line is overwritten */
	return result;
}

int undo_file_open_own(struct undo_file *file)
{
	struct undo_file_name own = { .pid = getpid() };
	char state;
	int result;

	if (process_identity(own.pid, &state, &own.start_time))
		return error_set(ENOENT, "cannot read /proc/self/stat; is /proc mounted?");
	result = set_path(file, &own);
	if (!result)
		result = make_state_dir();
	if (result)
		return result;
	file->fd = open(file->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (file->fd < 0)
		return error_set(errno, "cannot record what to undo in %s: %s%s", file->path, strerror(errno),
				 errno == EACCES ? "; run hopcap as root" : "");
	result = load_records(file);
	if (result)
		undo_file_close(file);
	return result;
}

int undo_file_open_dead(struct undo_file *file, const struct undo_file_name *name)
{
	struct stat status;
	int result = set_path(file, name);

	if (result)
		return result;
	file->fd = open(file->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (file->fd < 0)
		return error_set(errno, "cannot open %s: %s", file->path, strerror(errno));
	if (flock(file->fd, LOCK_EX | LOCK_NB))
		result = error_set(errno == EWOULDBLOCK ? EBUSY : errno, "cannot lock %s: %s", file->path,
				   strerror(errno));
	else if (fstat(file->fd, &status) || !status.st_nlink)
		result = error_set(ENOENT, "%s is gone", file->path);
	else
		result = load_records(file);
	if (result)
		undo_file_close(file);
	return result;
}

int undo_file_open_to_read(struct undo_file *file, const struct undo_file_name *name)
{
	int result = set_path(file, name);

	if (result)
		return result;
	file->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (file->fd < 0)
		return error_set(errno, "cannot open %s: %s", file->path, strerror(errno));
	result = load_records(file);
	if (result)
		undo_file_close(file);
	return result;
}

static int write_all(int fd, const char *text, size_t length, off_t offset)
{
	while (length) {
		ssize_t written = pwrite(fd, text, length, offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		text += written;
		length -= (size_t)written;
		offset += written;
	}
	return 0;
}

/* The fields as one line with its newline; NULL with errno set when that cannot be. */
static char *join_fields(const char *const *fields, int count)
{
	size_t length = 0;
	char *line, *cursor;

	for (int i = 0; i < count; i++) {
		if (strpbrk(fields[i], "\t\n") || (i == 0 && (!*fields[i] || *fields[i] == STRUCK_OUT))) {
			errno = EINVAL;
			return NULL;
		}
		length += strlen(fields[i]) + 1;
	}
	line = malloc(length + 1);
	if (!line)
		return NULL;
	cursor = line;
	for (int i = 0; i < count; i++) {
		cursor = stpcpy(cursor, fields[i]);
		*cursor++ = i + 1 < count ? '\t' : '\n';
	}
	*cursor = '\0';
	return line;
}

int undo_file_append(struct undo_file *file, const char *const *fields, int count)
{
	char *line = join_fields(fields, count);
	size_t length;
	int result;

	if (!line)
		return error_set(errno, "cannot record how to undo '%s': %s", fields[0], strerror(errno));
	length = strlen(line);
	/* First what lies behind an unfinished record of a killed predecessor, then the record in one piece. */
	result = ftruncate(file->fd, file->end) ? -errno : write_all(file->fd, line, length, file->end);
	if (!result && fdatasync(file->fd))
		result = -errno;
	if (result) {
		free(line);
		if (ftruncate(file->fd, file->end))
			result = -EIO;
		return error_set(-result, "cannot record what to undo in %s: %s", file->path, strerror(-result));
	}
	line[length - 1] = '\0';
	result = add_record(file, line, file->end);
	if (!result)
		file->end += (off_t)length;
	return result;
}

void undo_file_strike(struct undo_file *file, int index)
{
	struct undo_record *record = &file->records[index];
	const char mark = STRUCK_OUT;

	/* A failure here leaves a record too many, which is safe to undo again. */
	if (index == file->count - 1) {
		if (!ftruncate(file->fd, record->offset))
			file->end = record->offset;
	} else {
		write_all(file->fd, &mark, 1, record->offset);
	}
	free(record->line);
	memmove(record, record + 1, (size_t)(file->count - index - 1) * sizeof(*record));
	file->count--;
}

void undo_file_close(struct undo_file *file)
{
	for (int i = 0; i < file->count; i++)
		free(file->records[i].line);
	free(file->records);
	file->records = NULL;
	file->count = file->capacity = 0;
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

void undo_file_remove(struct undo_file *file)
{
	unlink(file->path);
	undo_file_close(file);
}

static int youngest_first(const void *a, const void *b)
{
	const struct undo_file_name *left = a, *right = b;

	if (left->start_time != right->start_time)
		return left->start_time < right->start_time ? 1 : -1;
	return right->pid - left->pid;
}

/* 1 when the name is just what undo_file_open_own() would make of *parsed. */
static int parse_name(const char *text, struct undo_file_name *parsed)
{
	char again[64];

	if (sscanf(text, "%d-%llu.undo", &parsed->pid, &parsed->start_time) != 2 || parsed->pid <= 0)
		return 0;
	snprintf(again, sizeof(again), "%d-%llu.undo", parsed->pid, parsed->start_time);
	return !strcmp(text, again);
}

int undo_file_list(struct undo_file_name **names)
{
	int count = 0, capacity = 0;
	struct dirent *entry;
	DIR *dir = opendir(state_dir());

	*names = NULL;
	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		return error_set(errno, "cannot read %s: %s", state_dir(), strerror(errno));
	while ((entry = readdir(dir))) {
		struct undo_file_name name, *grown;

		if (!parse_name(entry->d_name, &name))
			continue;
		if (count == capacity) {
			capacity = capacity ? 2 * capacity : 16;
			grown = realloc(*names, (size_t)capacity * sizeof(*grown));
			if (!grown) {
				free(*names);
				closedir(dir);
				return error_set(ENOMEM, "no memory to list %s", state_dir());
			}
			*names = grown;
		}
		(*names)[count++] = name;
	}
	closedir(dir);
	if (count)
		qsort(*names, (size_t)count, sizeof(**names), youngest_first);
	return count;
}
