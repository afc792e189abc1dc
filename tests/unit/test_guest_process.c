// SPDX-License-Identifier: GPL-2.0-or-later
/* Ending a lab's guests: those of the lab, all of them, and nobody else. Scripts stand in for QEMU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/guest_process.h"

static char directory[] = "/tmp/hopcap-test-guest-XXXXXX", script[64], other[64], fifo[64];

static void write_script(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, 0755), 0);
}

static int set_up(void **state)
{
	char path[64];

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/qemu", directory);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(script, sizeof(script), "%s/qemu/start", directory);
	snprintf(other, sizeof(other), "%s/other", directory);
	snprintf(fifo, sizeof(fifo), "%s/fifo", directory);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	/* They wait without children, which would have the same words for a moment. */
	write_script(script, "#!/bin/sh\n[ \"$3\" = stubborn ] && trap '' TERM\nread line <>${0%/qemu/start}/fifo\n");
	write_script(other, "#!/bin/sh\nread line <>${0%/other}/fifo\n");
	return 0;
}

static int tear_down(void **state)
{
	char path[64];

	(void)state;
	unlink(script);
	unlink(other);
	unlink(fifo);
	snprintf(path, sizeof(path), "%s/qemu", directory);
	rmdir(path);
	return rmdir(directory);
}

static pid_t begin(const char *program, const char *name, const char *how)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(program, program, "-name", name, how, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static void wait_for_count(const char *prefix, int wanted)
{
	const struct timespec pause = { .tv_nsec = 5000000 };

	for (int i = 0; i < 2000 && guest_process_count(prefix) != wanted; i++)
		nanosleep(&pause, NULL);
	assert_int_equal(guest_process_count(prefix), wanted);
}

static void only_those_of_the_lab_end(void **state)
{
	pid_t bystander, same_name;

	(void)state;
	begin(script, "hopcap-fedc0a-left", "plain");
	begin(script, "hopcap-fedc0a-right", "stubborn");
	bystander = begin(script, "hopcap-fedc0b-left", "plain");
	same_name = begin(other, "hopcap-fedc0a-left", "plain");
	wait_for_count("hopcap-fedc0a-", 2);
	wait_for_count("hopcap-fedc0b-", 1);
	assert_int_equal(guest_process_end("hopcap-fedc0a-"), 0);
	assert_int_equal(guest_process_count("hopcap-fedc0a-"), 0);
	assert_int_equal(guest_process_count("hopcap-fedc0b-"), 1);
	assert_int_equal(kill(same_name, 0), 0);		  /* it is no QEMU, whatever its words */
	assert_int_equal(guest_process_end("hopcap-fedc0a-"), 0); /* none is left: good */
	kill(same_name, SIGKILL);
	waitpid(same_name, NULL, 0);
	assert_int_equal(guest_process_end("hopcap-fedc0b-left"), 0);
	assert_int_equal(waitpid(bystander, NULL, 0), bystander);
}

static void names_of_others_are_refused(void **state)
{
	(void)state;
	assert_int_equal(guest_process_end(""), -EINVAL);
	assert_int_equal(guest_process_end("hopcap-"), -EINVAL);
	assert_int_equal(guest_process_end("fedora"), -EINVAL);
}

static void files_go_with_their_directory(void **state)
{
	char guests[64], lab[80], path[120];

	(void)state;
	snprintf(guests, sizeof(guests), "%s/guests", directory);
	snprintf(lab, sizeof(lab), "%s/fedc0a", guests);
	assert_int_equal(mkdir(guests, 0755), 0);
	assert_int_equal(mkdir(lab, 0755), 0);
	snprintf(path, sizeof(path), "%s/guest.console", lab);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_int_equal(guest_files_remove(lab), 0);
	assert_int_equal(access(lab, F_OK), -1);
	assert_int_equal(guest_files_remove(lab), 0); /* gone already */
	assert_int_equal(guest_files_remove(guests), -EINVAL);
	assert_int_equal(guest_files_remove("/etc/guests/../passwd"), -EINVAL);
	assert_int_equal(guest_files_remove("guests/fedc0a"), -EINVAL);
	assert_int_equal(guest_files_remove("/etc"), -EINVAL);
	assert_int_equal(rmdir(guests), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_those_of_the_lab_end),
		cmocka_unit_test(names_of_others_are_refused),
		cmocka_unit_test(files_go_with_their_directory),
	};

	return cmocka_run_group_tests_name("guest processes", tests, set_up, tear_down);
}
