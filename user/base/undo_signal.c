// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signals and the undo stack.
 *
 * The first signal asks: a flag is set, loops see it, everything is undone in the usual way. The second one must end a
 * process that may hang anywhere: holding a lock, half-way through a change, inside another network namespace. Undoing
 * from a signal handler is not possible (handlers allocate memory), and undoing from another thread would race with the
 * change that is being made. execve() solves both: it is safe in a signal handler, ends all threads, closes all
 * descriptors and keeps pid and start time, by which the new image finds its state file.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/undo.h"
#include "base/undo_file.h"

#define FINISH_VARIABLE "HOPCAP_FINISH_UNDO="

static volatile sig_atomic_t first_signal;
static pid_t catching_pid;
static int home_netns_fd = -1;
static char finish_setting[sizeof(FINISH_VARIABLE) + 8] = FINISH_VARIABLE;
static char **finish_environment;

/* Signal-safe: no allocation, no stdio. */
static void start_anew(int signal_number)
{
	char *const arguments[] = { "hopcap", NULL };
	char *digits = finish_setting + sizeof(FINISH_VARIABLE) - 1;

	if (getpid() != catching_pid) /* a forked child has nothing to undo */
		_exit(128 + signal_number);
	digits[0] = (char)('0' + signal_number / 10);
	digits[1] = (char)('0' + signal_number % 10);
	digits[2] = '\0';
	if (home_netns_fd >= 0)
		setns(home_netns_fd, 0);
	execve("/proc/self/exe", arguments, finish_environment);
	_exit(128 + signal_number); /* the state file is still there, for `hopcap cleanup` */
}

static void handle_signal(int signal_number)
{
	int saved_errno = errno;

	if (first_signal && signal_number != SIGHUP)
		start_anew(signal_number);
	if (!first_signal)
		first_signal = signal_number;
	errno = saved_errno;
}

static int prepare_environment(void)
{
	size_t count = 0, kept = 0;
	char **copy;

	while (environ && environ[count])
		count++;
	copy = calloc(count + 2, sizeof(*copy));
	if (!copy)
		return error_set(ENOMEM, "no memory to prepare for signals");
	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], FINISH_VARIABLE, strlen(FINISH_VARIABLE)))
			copy[kept++] = environ[i];
	copy[kept] = finish_setting;
	free(finish_environment);
	finish_environment = copy;
	return 0;
}

int undo_catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = handle_signal };
	int result = prepare_environment();

	if (result)
		return result;
	catching_pid = getpid();
	if (home_netns_fd < 0)
		home_netns_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	/* One handler at a time, and all three stay blocked in the new image until it has undone everything. */
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(&action.sa_mask, signals[i]);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], &action, NULL))
			return error_set(errno, "cannot catch signal %d: %s", signals[i], strerror(errno));
	return 0;
}

int undo_interrupted(void)
{
	return first_signal;
}

int undo_finish(int *result)
{
	char name[sizeof(FINISH_VARIABLE)] = FINISH_VARIABLE;
	const char *value;
	int signal_number;

	name[strlen(name) - 1] = '\0';
	value = getenv(name);
	if (!value)
		return 0;
	signal_number = atoi(value);
	unsetenv(name);
	if (signal_number <= 0 || signal_number > 64)
		return 0;
	*result = undo_resume_own();
	return signal_number;
}
