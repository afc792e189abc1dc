// SPDX-License-Identifier: GPL-2.0-or-later
/* A BPF program by its number; see program_name.h. Called by bpf_attach.c, collect_programs.c, collect_qdisc.c. */
#include "sys/program_name.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <bpf/bpf.h>

int program_name(uint32_t id, char *name, size_t size)
{
	struct bpf_prog_info info = { 0 };
	__u32 length = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id), code;

	if (fd < 0)
		return fd;
	code = bpf_obj_get_info_by_fd(fd, &info, &length);
	close(fd);
	if (code)
		return code < 0 ? code : -EIO;
	if (!info.name[0])
		return -ENOENT;
	snprintf(name, size, "%.*s", (int)sizeof(info.name), info.name);
	return 0;
}
