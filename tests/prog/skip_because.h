/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Skipping with a reason: a test that cannot be done on this kernel says why. tests/run and tests/guest/kernels.sh show the line that begins
 * with "# skip: "; cmocka itself takes no reason.
 */
#ifndef SKIP_BECAUSE_H
#define SKIP_BECAUSE_H

#include <stdio.h>
#include <sys/utsname.h>

/* Whether the kernel is older than that: what it then lacks is no failure. */
static inline int kernel_is_before(int major, int minor)
{
	struct utsname name;
	int is_major = 0, is_minor = 0;

	if (uname(&name) || sscanf(name.release, "%d.%d", &is_major, &is_minor) != 2)
		return 0;
	return is_major < major || (is_major == major && is_minor < minor);
}

#define SKIP_BECAUSE(...)                         \
	do {                                      \
		print_message("# skip: " __VA_ARGS__); \
		print_message("\n");              \
		skip();                           \
	} while (0)

#endif
