// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * run.json: every member of the model goes through a file and comes back bit for bit; a file is there whole or not at
 * all.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "model/model_json.h"
#include "random_run.h"

static char directory[64];
static const char *in_directory(const char *name)
{
	static char path[4][128];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", directory, name);
	return path[turn];
}

static int exists(const char *name)
{
	struct stat status;

	return lstat(in_directory(name), &status) == 0;
}

/* Bit for bit. -NaN is unknown as well, and written as such. */
static void forget_sign_of_nan(void *memory, size_t size)
{
	const uint64_t minus = 0xfff8000000000000u, plus = 0x7ff8000000000000u;

	for (size_t at = 0; at + 8 <= size; at += 8) {
		if (memcmp((char *)memory + at, &minus, 8) == 0)
			memcpy((char *)memory + at, &plus, 8);
	}
}

static void assert_same_run(struct run *left, struct run *right)
{
	struct run_trial *trials[2] = { left->trials, right->trials };
	int capacities[2] = { left->trial_capacity, right->trial_capacity };
	size_t size = (size_t)left->trial_count * sizeof(struct run_trial);

	assert_int_equal(left->trial_count, right->trial_count);
	forget_sign_of_nan(left, sizeof(*left));
	forget_sign_of_nan(right, sizeof(*right));
	left->trials = right->trials = NULL;
	left->trial_capacity = right->trial_capacity = 0;
	assert_memory_equal(left, right, sizeof(*left));
	left->trials = trials[0];
	right->trials = trials[1];
	left->trial_capacity = capacities[0];
	right->trial_capacity = capacities[1];
	if (size == 0)
		return;
	forget_sign_of_nan(left->trials, size);
	forget_sign_of_nan(right->trials, size);
	assert_memory_equal(left->trials, right->trials, size);
}

static void assert_same_text(const struct run *left, const struct run *right)
{
	static const int widths[] = { 0, 1, 80, 100, 160, 100000 };

	for (int i = 0; i < 6; i++) {
		char *texts[2] = { printed(left, widths[i], i % 2), printed(right, widths[i], i % 2) };

		assert_string_equal(texts[0], texts[1]);
		free(texts[0]);
		free(texts[1]);
	}
}

static void test_round_trip(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 100; i++) {
		struct run *run = random_run(i), *back;

		if (run_json_save(run, in_directory("run.json")) < 0)
			fail_msg("seed %d: %s", (int)i, error_text());
		back = run_json_load(in_directory("run.json"));
		if (!back)
			fail_msg("seed %d: %s", (int)i, error_text());
		assert_same_run(run, back);
		if (i % 10 == 0)
			assert_same_text(run, back);
		run_free(run);
		run_free(back);
	}
	assert_false(exists("run.json.tmp"));
}

/* Texts that are not UTF-8 are repaired, and what is printed is the same before and after. */
static void test_broken_utf8(void **state)
{
	static const char *const broken[] = { "\xff",	  "a\xc2",	  "\xe2\x86",
					      "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
					      "\x80" };
	struct run *run = random_run(7), *back;
	char *text;

	(void)state;
	for (int i = 0; i < 7; i++) {
		strcpy(run->points[1].name, broken[i]);
		strcpy(run->verdict.sentence, broken[i]);
		text = run_json_print(run);
		assert_non_null(text);
		back = run_json_parse(text, strlen(text), "text");
		assert_non_null(back);
		assert_int_equal(strlen(back->points[1].name), strlen(broken[i]));
		assert_int_equal(back->points[1].name[strlen(broken[i]) - 1], '?');
		assert_same_text(run, back);
		run_free(back);
		free(text);
	}
	memset(run->points[1].name, 'x', sizeof(run->points[1].name)); /* no 0 at the end */
	text = run_json_print(run);
	assert_non_null(text);
	free(text);
	run_free(run);
}

/* What the model must not hold is refused when it is saved, so that what is saved can be read. */
static void test_refused_models(void **state)
{
	struct run *run = random_run(3);

	(void)state;
	run->verdict.confidence = 1.5;
	assert_int_equal(run_json_save(run, in_directory("bad.json")), -EFAULT);
	assert_string_equal(error_text(),
			    "internal error: verdict.confidence of the run is larger than 1, so it cannot be saved");
	run->verdict.confidence = INFINITY;
	run->points[1].hook = (enum run_hook)17;
	assert_int_equal(run_json_save(run, in_directory("bad.json")), -EFAULT);
	assert_non_null(strstr(error_text(), "path.points[1].hook"));
	run->points[1].hook = RUN_HOOK_XDP;
	run->cut_count = RUN_MAX_POINTS + 1;
	assert_int_equal(run_json_save(run, in_directory("bad.json")), -EFAULT);
	run->cut_count = -1;
	assert_int_equal(run_json_save(run, in_directory("bad.json")), -EFAULT);
	run->cut_count = 0;
	run->point_count = 1;
	assert_int_equal(run_json_save(run, in_directory("bad.json")), -EFAULT);
	assert_false(exists("bad.json"));
	assert_false(exists("bad.json.tmp"));
	run_free(run);
}

static void assert_refused_file(const char *name, const char *message)
{
	errno = 0;
	assert_null(run_json_load(in_directory(name)));
	assert_int_not_equal(errno, 0);
	if (!strstr(error_text(), message))
		fail_msg("\"%s\" does not say \"%s\"", error_text(), message);
	assert_one_line(error_text());
}

static void test_unreadable(void **state)
{
	FILE *file = fopen(in_directory("large.json"), "w");

	(void)state;
	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), (off_t)RUN_JSON_MAX_BYTES + 1), 0);
	fclose(file);
	assert_refused_file("large.json", "is larger than 64 MiB");
	assert_refused_file("missing.json", "No such file or directory");
	assert_refused_file(".", "Is a directory");
}

static void test_full_disk(void **state)
{
	struct rlimit limit, small;
	struct run *run = small_run(), *back;

	(void)state;
	assert_int_equal(run_json_save(run, "/dev/full"), -ENOSPC);
	assert_string_equal(error_text(),
			    "cannot write /dev/full: No space left on device; free some space or name a file on "
			    "another disk");
	assert_int_equal(access("/dev/full", F_OK), 0);

	/* A limit on the size of files fails in the middle of a file, as a full disk does. The older file stays. */
	assert_int_equal(run_json_save(run, in_directory("old.json")), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 1000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	run->primary_bytes = 60;
	assert_int_equal(run_json_save(run, in_directory("new.json")), -EFBIG);
	assert_int_equal(run_json_save(run, in_directory("old.json")), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_false(exists("new.json"));
	assert_false(exists("new.json.tmp"));
	assert_false(exists("old.json.tmp"));
	back = run_json_load(in_directory("old.json"));
	assert_non_null(back);
	assert_int_equal(back->primary_bytes, 1514);
	run_free(back);
	run_free(run);
}

static void test_saving(void **state)
{
	struct run *run = small_run(), *back;
	struct stat status;
	int file;

	(void)state;
	assert_int_equal(run_json_save(run, in_directory("none/run.json")), -ENOENT);
	assert_one_line(error_text());
	assert_int_equal(run_json_save(run, directory), -EISDIR);
	assert_int_equal(run_json_save(run, "/dev/null"), 0);

	/* What a killed process left is replaced; a link is followed, and what it points at is replaced. */
	file = open(in_directory("real.json.tmp"), O_CREAT | O_WRONLY, 0600);
	assert_true(file >= 0 && write(file, "left over", 9) == 9);
	close(file);
	file = open(in_directory("real.json"), O_CREAT | O_WRONLY, 0600);
	close(file);
	assert_int_equal(symlink("real.json", in_directory("link.json")), 0);
	assert_int_equal(run_json_save(run, in_directory("link.json")), 0);
	assert_int_equal(lstat(in_directory("link.json"), &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	assert_false(exists("real.json.tmp"));
	back = run_json_load(in_directory("real.json"));
	assert_non_null(back);
	run_free(back);

	/* Nothing is written through a link that somebody put in the place of the temporary file. */
	assert_int_equal(symlink("victim", in_directory("trap.json.tmp")), 0);
	assert_int_equal(run_json_save(run, in_directory("trap.json")), -EEXIST);
	assert_false(exists("victim"));
	assert_true(exists("trap.json.tmp"));
	run_free(run);
}

static void test_standard_output(void **state)
{
	struct run *run = small_run(), *back;
	int saved = dup(STDOUT_FILENO), file = open(in_directory("stdout.json"), O_CREAT | O_RDWR | O_TRUNC, 0600);

	(void)state;
	assert_true(saved >= 0 && file >= 0);
	fflush(stdout);
	dup2(file, STDOUT_FILENO);
	assert_int_equal(run_json_save(run, "-"), 0);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(file);
	back = run_json_load(in_directory("stdout.json"));
	assert_non_null(back);
	assert_same_run(run, back);
	run_free(back);
	run_free(run);
}

static int make_directory(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/hopcap-test-XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	static const char *const names[] = { "run.json",      "old.json",    "real.json", "link.json",
					     "trap.json.tmp", "stdout.json", "large.json" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(in_directory(names[i]));
	return rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),	cmocka_unit_test(test_broken_utf8),
		cmocka_unit_test(test_refused_models),	cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_full_disk),	cmocka_unit_test(test_saving),
		cmocka_unit_test(test_standard_output),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
