// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading below a root that may hold anything: nothing outside is seen, nothing blocks. All of it twice: the kernel finds the place
 * (openat2), and we do.
 */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "made_tree.h"
#include "sys/file_tree.h"

static struct made_tree made;

static int start(void **state)
{
	(void)state;
	made_tree_start(&made);
	return 0;
}

static int end(void **state)
{
	(void)state;
	made_tree_end(&made);
	return 0;
}

/* Runs the body with each way of finding a place. */
#define BOTH_WAYS(tree)                                  \
	for (int way = (open_tree(tree, 0), 0); way < 2; \
	     way++, file_tree_close(tree), way < 2 ? open_tree(tree, way) : (void)0)

static void open_tree(struct file_tree *tree, int walks)
{
	assert_int_equal(file_tree_open(tree, made.root), 0);
	tree->walks |= walks;
}

static void expect_text(const struct file_tree *tree, const char *path, const char *expected)
{
	char text[256];

	assert_int_equal(file_tree_read(tree, path, text, sizeof(text)), strlen(expected));
	assert_string_equal(text, expected);
}

static void expect_error(const struct file_tree *tree, const char *path, int error)
{
	char text[256];

	assert_int_equal(file_tree_read(tree, path, text, sizeof(text)), -error);
	assert_string_equal(text, "");
}

static void test_files(void **state)
{
	struct file_tree tree;
	char text[256], *all;

	(void)state;
	made_tree_file(&made, "/proc/stat", "cpu 1 2\n");
	made_tree_bytes(&made, "/proc/binary", "a\0b\xff", 4);
	made_tree_file(&made, "/proc/empty", "");
	BOTH_WAYS(&tree)
	{
		expect_text(&tree, "/proc/stat", "cpu 1 2\n");
		expect_text(&tree, "//proc/./../proc//stat", "cpu 1 2\n");
		expect_text(&tree, "/../../proc/stat", "cpu 1 2\n");
		expect_text(&tree, "/proc/empty", "");
		assert_int_equal(file_tree_read(&tree, "/proc/binary", text, sizeof(text)), 4);
		assert_memory_equal(text, "a\0b\xff", 5);
		assert_int_equal(file_tree_read(&tree, "/proc/stat", text, 4), 3);
		assert_string_equal(text, "cpu");
		expect_error(&tree, "/proc", EINVAL);
		expect_error(&tree, "/", EINVAL);
		expect_error(&tree, "/proc/nothing", ENOENT);
		expect_error(&tree, "/proc/stat/x", ENOTDIR);
		assert_int_equal(file_tree_read_all(&tree, "/proc/stat", 8, &all), 0);
		assert_string_equal(all, "cpu 1 2\n");
		free(all);
		assert_int_equal(file_tree_read_all(&tree, "/proc/stat", 7, &all), -EFBIG);
		assert_null(all);
		assert_int_equal(file_tree_read_all(&tree, "/proc/nothing", 7, &all), -ENOENT);
	}
}

static void test_large_file(void **state)
{
	size_t size = 300001;
	char *bytes = malloc(size), *all;
	struct file_tree tree;

	(void)state;
	memset(bytes, 'x', size);
	made_tree_bytes(&made, "/large", bytes, size);
	open_tree(&tree, 0);
	assert_int_equal(file_tree_read_all(&tree, "/large", size, &all), 0);
	assert_int_equal(strlen(all), size);
	free(all);
	assert_int_equal(file_tree_read_all(&tree, "/large", size - 1, &all), -EFBIG);
	file_tree_close(&tree);
	free(bytes);
}

static void test_links_stay_inside(void **state)
{
	struct file_tree tree;
	char text[256];

	(void)state;
	made_tree_file(&made, "/etc/hostname", "inside");
	made_tree_file(&made, "/sys/devices/eth0/mtu", "1500");
	made_tree_link(&made, "/sys/class/net/eth0", "../../devices/eth0");
	made_tree_link(&made, "/absolute", "/etc/hostname");
	made_tree_link(&made, "/above", "../../../../../../../../etc/hostname");
	made_tree_link(&made, "/passwd", "/etc/passwd");
	made_tree_link(&made, "/up", "..");
	made_tree_link(&made, "/self", "/proc/self/root/etc/passwd");
	made_tree_link(&made, "/loop", "loop");
	made_tree_link(&made, "/ring/a", "b/x");
	made_tree_link(&made, "/ring/b", "a");
	made_tree_link(&made, "/empty", "nothing");
	BOTH_WAYS(&tree)
	{
		expect_text(&tree, "/sys/class/net/eth0/mtu", "1500");
		expect_text(&tree, "/sys/class/net/eth0/../eth0/mtu", "1500"); /* .. is that of the target */
		expect_error(&tree, "/sys/class/net/eth0/../class", ENOENT);
		expect_text(&tree, "/absolute", "inside");
		expect_text(&tree, "/above", "inside");
		expect_text(&tree, "/up/up/etc/hostname", "inside");
		expect_error(&tree, "/passwd", ENOENT);
		expect_error(&tree, "/self", ENOENT);
		expect_error(&tree, "/loop", ELOOP);
		expect_error(&tree, "/ring/a", ELOOP);
		expect_error(&tree, "/empty", ENOENT);
		assert_int_equal(file_tree_link(&tree, "/sys/class/net/eth0", text, sizeof(text)), 0);
		assert_string_equal(text, "../../devices/eth0");
		assert_int_equal(file_tree_link(&tree, "/loop", text, sizeof(text)), 0);
		assert_string_equal(text, "loop");
		assert_int_equal(file_tree_link(&tree, "/loop", text, 4), -ENAMETOOLONG);
		assert_int_equal(file_tree_link(&tree, "/etc/hostname", text, sizeof(text)), -EINVAL);
		assert_int_equal(file_tree_link(&tree, "/etc", text, sizeof(text)), -EINVAL);
		assert_int_equal(file_tree_link(&tree, "/etc/none", text, sizeof(text)), -ENOENT);
	}
}

static void test_long_chains(void **state)
{
	struct file_tree tree;
	char path[PATH_MAX + 16], name[300], *at = path;

	(void)state;
	for (int i = 0; i < 50; i++) {
		char link[16], target[16];

		snprintf(link, sizeof(link), "/chain%d", i);
		snprintf(target, sizeof(target), i ? "chain%d" : "file", i - 1);
		made_tree_link(&made, link, target);
	}
	made_tree_file(&made, "/file", "end");
	for (int i = 0; i < 100; i++)
		at = stpcpy(at, "/d");
	strcpy(at, "/leaf");
	made_tree_file(&made, path, "deep");
	BOTH_WAYS(&tree)
	{
		expect_text(&tree, "/chain10", "end");
		expect_error(&tree, "/chain49", ELOOP);
		if (tree.walks)
			expect_error(&tree, path, ENAMETOOLONG); /* deeper than any sysfs */
		else
			expect_text(&tree, path, "deep");
	}
	memset(name, 'n', sizeof(name));
	name[0] = '/';
	name[299] = '\0';
	for (int i = 0; i + 2 < PATH_MAX; i += 2)
		memcpy(path + i, "/.", 2);
	strcpy(path + PATH_MAX - 2, "/file");
	BOTH_WAYS(&tree)
	{
		expect_error(&tree, name, ENAMETOOLONG);
		expect_error(&tree, path, ENAMETOOLONG);
	}
}

static void test_nothing_blocks(void **state)
{
	struct file_tree tree;
	char device[PATH_MAX];
	int has_device;

	(void)state;
	made_tree_fifo(&made, "/fifo");
	made_tree_link(&made, "/to_fifo", "fifo");
	snprintf(device, sizeof(device), "%s/zero", made.root);
	has_device = mknod(device, S_IFCHR | 0644, makedev(1, 5)) == 0;
	BOTH_WAYS(&tree)
	{
		expect_error(&tree, "/fifo", EINVAL);
		expect_error(&tree, "/to_fifo", EINVAL);
		if (has_device)
			expect_error(&tree, "/zero", EINVAL);
	}
	/* Of this machine, too. */
	assert_int_equal(file_tree_open(&tree, NULL), 0);
	expect_error(&tree, "/dev/zero", EINVAL);
	file_tree_close(&tree);
}

static void test_unreadable(void **state)
{
	struct file_tree tree;
	ssize_t secret[2], closed[2];
	char text[8];

	(void)state;
	made_tree_file(&made, "/secret", "x");
	made_tree_mode(&made, "/secret", 0);
	made_tree_file(&made, "/closed/x", "x");
	made_tree_mode(&made, "/closed", 0);
	made_tree_mode(&made, "/", 0755);
	if (getuid() == 0) /* root may read it all */
		assert_int_equal(seteuid(65534), 0);
	open_tree(&tree, 0);
	for (tree.walks = 0; tree.walks < 2; tree.walks++) {
		secret[tree.walks] = file_tree_read(&tree, "/secret", text, sizeof(text));
		closed[tree.walks] = file_tree_read(&tree, "/closed/x", text, sizeof(text));
	}
	file_tree_close(&tree);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(secret[i], -EACCES);
		assert_int_equal(closed[i], -EACCES);
	}
	made_tree_mode(&made, "/closed", 0700);
}

static char visited[1024];

static int visit(const char *path, void *context)
{
	int *stop_after = context;

	strcat(strcat(visited, path), " ");
	return *stop_after > 0 && --*stop_after == 0 ? 7 : 0;
}

static void expect_glob(const struct file_tree *tree, const char *pattern, const char *name, const char *expected)
{
	int stop_after = 0;

	visited[0] = '\0';
	assert_int_equal(file_tree_glob(tree, pattern, name, visit, &stop_after), 0);
	assert_string_equal(visited, expected);
}

static void test_patterns(void **state)
{
	struct file_tree tree;
	int stop_after = 1;

	(void)state;
	made_tree_file(&made, "/sys/class/net/eth0/queues/rx-0/rps_cpus", "1");
	made_tree_file(&made, "/sys/class/net/eth0/queues/tx-0/xps_cpus", "1");
	made_tree_file(&made, "/sys/class/net/*/mtu", "9000");
	made_tree_file(&made, "/sys/.hidden/x", "1");
	made_tree_link(&made, "/sys/outside", "/");
	made_tree_file(&made, "/only/here", "1");
	BOTH_WAYS(&tree)
	{
		expect_glob(&tree, "/sys/class/net/%/mtu", "eth0", "/sys/class/net/eth0/mtu ");
		expect_glob(&tree, "/sys/class/net/%/mtu", "*", "/sys/class/net/*/mtu ");
		expect_glob(&tree, "/sys/class/net/%/queues/rx-*/rps_cpus", "eth0",
			    "/sys/class/net/eth0/queues/rx-0/rps_cpus ");
		expect_glob(&tree, "/sys/class/net/%/queues/rx-*/rps_cpus", "eth1", "");
		expect_glob(&tree, "/sys/cl*/x", "", "/sys/class/x ");
		expect_glob(&tree, "/sys/out*/on*/*", "", "/sys/outside/only/here ");
		expect_glob(&tree, "/none/*/x", "", "");
		stop_after = 1;
		visited[0] = '\0';
		assert_int_equal(file_tree_glob(&tree, "/sys/class/net/*", "", visit, &stop_after), 7);
	}
}

static void test_no_root(void **state)
{
	struct file_tree tree;

	(void)state;
	made_tree_file(&made, "/file", "");
	assert_int_equal(file_tree_open(&tree, "/nonexistent/tree"), -ENOENT);
	file_tree_close(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_files, start, end),
		cmocka_unit_test_setup_teardown(test_large_file, start, end),
		cmocka_unit_test_setup_teardown(test_links_stay_inside, start, end),
		cmocka_unit_test_setup_teardown(test_long_chains, start, end),
		cmocka_unit_test_setup_teardown(test_nothing_blocks, start, end),
		cmocka_unit_test_setup_teardown(test_unreadable, start, end),
		cmocka_unit_test_setup_teardown(test_patterns, start, end),
		cmocka_unit_test_setup_teardown(test_no_root, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
