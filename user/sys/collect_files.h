/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files of sysfs and procfs are facts. A new check that needs a file = one row in collect_file_rows.c.
 */
#ifndef SYS_COLLECT_FILES_H
#define SYS_COLLECT_FILES_H

enum collect_file_scope {
	COLLECT_FILE_MACHINE, /* once */
	COLLECT_FILE_NETNS,   /* once in each namespace that can be entered */
	COLLECT_FILE_LINK,    /* for each link: "%" is its name */
	COLLECT_FILE_PCI, /* for each PCI device on the way from the root complex to a link's device: "%" is its address */
};

struct collect_file_row {
	enum collect_file_scope scope;
	const char *pattern; /* of file_tree_glob() */
	int max_bytes;	     /* 0: 64 KB */
};

/* Ends with pattern NULL. */
extern const struct collect_file_row collect_file_rows[];

#endif
