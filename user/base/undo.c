// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The undo stack in memory and its copy on disk, for one process; cleaning up after processes that are gone.
 * Reading and writing the state file: undo_file.c. Signals: undo_signal.c.
 *
 * Invariant: whenever the owner may have made a change that is not undone, its record stands in the file, complete. So the
 * record is written and synced before undo_push() returns, and struck out only after its handler returned 0.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/undo.h"
#include "base/undo_file.h"

static const struct undo_handler *handler_table;
static struct undo_file stack = UNDO_FILE_CLOSED;
static pid_t stack_owner;

void undo_set_handlers(const struct undo_handler *handlers)
{
	handler_table = handlers;
}

static const struct undo_handler *find_handler(const char *kind)
{
	for (const struct undo_handler *handler = handler_table; handler && handler->kind; handler++)
		if (!strcmp(handler->kind, kind))
			return handler;
	return NULL;
}

/* After fork() the child holds a copy of its parent's stack, which is not the child's to undo. */
static void disown_after_fork(void)
{
	if (stack_owner == getpid())
		return;
	undo_file_close(&stack);
	stack_owner = getpid();
}

static int undo_record(const struct undo_record *record)
{
	char *arguments[UNDO_MAX_ARGUMENTS + 1] = { NULL };
	const struct undo_handler *handler = find_handler(record->fields[0]);

	if (!handler)
		return error_set(ENOTSUP, "cannot undo '%s': this version of hopcap does not know how",
				 record->fields[0]);
	for (int i = 1; i < record->field_count; i++)
		arguments[i - 1] = record->fields[i];
	return handler->undo(record->field_count - 1, arguments);
}

int undo_push(const char *kind, ...)
{
	const char *fields[1 + UNDO_MAX_ARGUMENTS] = { kind }, *argument;
	int count = 1, result = 0;
	va_list arguments;

	disown_after_fork();
	va_start(arguments, kind);
	while ((argument = va_arg(arguments, const char *))) {
		if (count > UNDO_MAX_ARGUMENTS) {
			result = error_set(ENOTRECOVERABLE, "undo record '%s' has more than %d arguments", kind,
					   UNDO_MAX_ARGUMENTS);
			break;
		}
		fields[count++] = argument;
	}
	va_end(arguments);
	if (!result && !find_handler(kind))
		result = error_set(ENOTRECOVERABLE, "undo record '%s' has no handler", kind);
	if (!result && stack.fd < 0)
		result = undo_file_open_own(&stack);
	if (!result)
		result = undo_file_append(&stack, fields, count);
	return result;
}

int undo_mark(void)
{
	disown_after_fork();
	return stack.count;
}

int undo_run_to(int mark)
{
	char before[512], first[512];
	int result = 0;

	disown_after_fork();
	snprintf(before, sizeof(before), "%s", error_text());
	for (int i = stack.count - 1; i >= mark && i >= 0; i--) {
		int one = undo_record(&stack.records[i]);

		if (!one) {
			undo_file_strike(&stack, i);
		} else if (!result) {
			result = one;
			snprintf(first, sizeof(first), "%s", error_text());
		}
	}
	if (!stack.count && stack.fd >= 0)
		undo_file_remove(&stack);
	error_set(0, "%s", result ? first : before);
	return result;
}

int undo_run_all(void)
{
	return undo_run_to(0);
}

void undo_forget_to(int mark)
{
	disown_after_fork();
	while (stack.count > mark && stack.count > 0)
		undo_file_strike(&stack, stack.count - 1);
	if (!stack.count && stack.fd >= 0)
		undo_file_remove(&stack);
}

int undo_resume_own(void)
{
	int result;

	disown_after_fork();
	result = stack.fd < 0 ? undo_file_open_own(&stack) : 0;
	return result ? result : undo_run_all();
}

/* One file of a dead process. Returns the number of records undone, or -errno; what failed stays in the file. */
static int clean_file(const struct undo_file_name *name, void (*report)(int, const char *, const char *, int))
{
	struct undo_file file = UNDO_FILE_CLOSED;
	int undone = 0, result = undo_file_open_dead(&file, name);

	if (result == -EBUSY || result == -ENOENT) /* another cleanup has it, or had it */
		return 0;
	if (result)
		return result;
	for (int i = file.count - 1; i >= 0; i--) {
		struct undo_record *record = &file.records[i];
		int one = undo_record(record);

		report(name->pid, record->fields[0], record->field_count > 1 ? record->fields[1] : "", one);
		if (one)
			continue;
		undo_file_strike(&file, i);
		undone++;
	}
	if (!file.count)
		undo_file_remove(&file);
	undo_file_close(&file);
	return undone;
}

int undo_cleanup_dead(void (*report)(int pid, const char *kind, const char *argument, int result))
{
	struct undo_file_name *names;
	int count = undo_file_list(&names), undone = 0, result = 0;
	char first[512];

	if (count < 0)
		return count;
	for (int i = 0; i < count; i++) {
		int one = undo_file_owner_lives(&names[i]) ? 0 : clean_file(&names[i], report);

		if (one > 0)
			undone += one;
		if (one < 0 && !result) {
			result = one;
			snprintf(first, sizeof(first), "%s", error_text());
		}
	}
	free(names);
	return result ? error_set(-result, "%s", first) : undone;
}

/* Calls visit for each record of each state file, newest first. Stops when it returns non-zero, which is returned. */
static int for_each_record(int (*visit)(const struct undo_file_name *name, int lives, struct undo_record *record,
					void *context),
			   void *context)
{
	struct undo_file_name *names;
	int count = undo_file_list(&names), result = 0;

	if (count < 0)
		return count;
	for (int i = 0; i < count && !result; i++) {
		struct undo_file file = UNDO_FILE_CLOSED;
		int lives = undo_file_owner_lives(&names[i]);

		result = undo_file_open_to_read(&file, &names[i]);
		if (result == -ENOENT) {
			result = 0;
			continue;
		}
		for (int k = file.count - 1; k >= 0 && !result; k--)
			result = visit(&names[i], lives, &file.records[k], context);
		undo_file_close(&file);
	}
	free(names);
	return result;
}

struct dead_list {
	void (*report)(int pid, const char *kind, const char *argument, int result);
	int count;
};

static int visit_dead(const struct undo_file_name *name, int lives, struct undo_record *record, void *context)
{
	struct dead_list *list = context;

	if (lives)
		return 0;
	list->report(name->pid, record->fields[0], record->field_count > 1 ? record->fields[1] : "", 0);
	list->count++;
	return 0;
}

int undo_list_dead(void (*report)(int pid, const char *kind, const char *argument, int result))
{
	struct dead_list list = { .report = report };
	int result = for_each_record(visit_dead, &list);

	return result < 0 ? result : list.count;
}

struct claim_search {
	const char *kind, *argument;
	enum undo_claim claim;
};

static int visit_claim(const struct undo_file_name *name, int lives, struct undo_record *record, void *context)
{
	struct claim_search *search = context;

	(void)name;
	if (record->field_count < 2 || strcmp(record->fields[0], search->kind) ||
	    strcmp(record->fields[1], search->argument))
		return 0;
	search->claim = lives ? UNDO_CLAIM_LIVING : UNDO_CLAIM_DEAD;
	return lives; /* a living owner settles it */
}

int undo_claim(const char *kind, const char *argument)
{
	struct claim_search search = { .kind = kind, .argument = argument };
	int result = for_each_record(visit_claim, &search);

	return result < 0 ? result : (int)search.claim;
}
