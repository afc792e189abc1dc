// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attaching programs; see bpf_attach.h. tcx is asked for with a raw system call, since Debian 12's libbpf does not know it
 * and the running kernel decides.
 */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_link.h>

#include "base/error.h"
#include "base/undo.h"
#include "sys/bpf_attach.h"
#include "sys/netns.h"
#include "sys/rtnl.h"

/* include/uapi/linux/bpf.h of kernel 6.6 */
#define ATTACH_TYPE_TCX_INGRESS 46
#define ATTACH_TYPE_TCX_EGRESS 47
#define COMMAND_LINK_CREATE 28

const char *bpf_program_label(uint32_t id, char *buffer, size_t size)
{
	struct bpf_prog_info info = { 0 };
	__u32 length = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &length) && info.name[0])
		snprintf(buffer, size, "program %s (id %u)", info.name, id);
	else
		snprintf(buffer, size, "a program (id %u)", id);
	if (fd >= 0)
		close(fd);
	return buffer;
}

int bpf_attach_xdp(int program_fd, const char *interface, int ifindex, int native, struct bpf_attachment *attachment)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = native ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE);
	struct rtnl_link link;
	char label[96];
	int fd, code;

	attachment->kind = BPF_ATTACH_NONE;
	code = rtnl_link_get_index(ifindex, &link);
	if (code)
		return code;
	if (link.xdp_program_id)
		return error_set(EBUSY, "%s: XDP %s is attached and stays; use :tc at this point, or detach it",
				 interface, bpf_program_label(link.xdp_program_id, label, sizeof(label)));
	fd = bpf_link_create(program_fd, ifindex, BPF_XDP, &options);
	if (fd < 0)
		return error_set(-fd, "%s: cannot attach XDP in %s mode: %s%s", interface,
				 native ? "native" : "generic", strerror(-fd),
				 fd == -EOPNOTSUPP || fd == -ERANGE ? "; use :tc at this point" : "");
	*attachment = (struct bpf_attachment){ .kind = BPF_ATTACH_XDP, .link_fd = fd, .ifindex = ifindex };
	return 0;
}

static int create_tcx_link(int program_fd, int ifindex, int ingress)
{
	struct {
		__u32 program_fd, target_ifindex, attach_type, flags;
		__u64 rest[4]; /* relative_fd 0 and expected_revision 0: at the end, whoever else is there */
	} attributes = { .program_fd = program_fd,
			 .target_ifindex = ifindex,
			 .attach_type = ingress ? ATTACH_TYPE_TCX_INGRESS : ATTACH_TYPE_TCX_EGRESS };
	long fd = syscall(SYS_bpf, COMMAND_LINK_CREATE, &attributes, sizeof(attributes));

	return fd < 0 ? -errno : (int)fd;
}

static int attach_clsact(int program_fd, const char *interface, const char *netns, int ifindex, int ingress,
			 struct bpf_attachment *attachment)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = ifindex, .attach_point = ingress ? BPF_TC_INGRESS : BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, options, .prog_fd = program_fd);
	struct rtnl_qdisc qdiscs[16];
	int code = 0, count = rtnl_qdisc_list(ifindex, qdiscs, 16), is_there = 0;

	for (int i = 0; i < count; i++)
		is_there |= !strcmp(qdiscs[i].kind, "clsact");
	if (count < 0)
		return count;
	if (!is_there) { /* only what we add is ours to delete */
		code = undo_push("clsact-delete", netns[0] ? netns : "-", interface, NULL);
		if (!code)
			code = rtnl_clsact_add(interface);
		if (code)
			return code;
	}
	code = bpf_tc_attach(&hook, &options);
	if (code)
		return error_set(-code, "%s: cannot attach a tc filter: %s", interface, strerror(-code));
	*attachment = (struct bpf_attachment){ .kind = BPF_ATTACH_CLSACT,
					       .link_fd = -1,
					       .ifindex = ifindex,
					       .ingress = ingress,
					       .handle = options.handle,
					       .priority = options.priority };
	return 0;
}

int bpf_attach_tcx(int program_fd, int ifindex, int ingress, struct bpf_attachment *attachment)
{
	int fd = create_tcx_link(program_fd, ifindex, ingress);

	attachment->kind = BPF_ATTACH_NONE;
	if (fd < 0)
		return fd;
	*attachment = (struct bpf_attachment){
		.kind = BPF_ATTACH_TCX, .link_fd = fd, .ifindex = ifindex, .ingress = ingress
	};
	return 0;
}

int bpf_attach_tc(int program_fd, const char *interface, const char *netns, int ifindex, int ingress,
		  struct bpf_attachment *attachment)
{
	int code = bpf_attach_tcx(program_fd, ifindex, ingress, attachment);

	if (code == -EINVAL) /* before 6.6 the attach type is unknown */
		return attach_clsact(program_fd, interface, netns, ifindex, ingress, attachment);
	if (code)
		return error_set(-code, "%s: cannot attach at tc %s: %s", interface, ingress ? "ingress" : "egress",
				 strerror(-code));
	return 0;
}

void bpf_detach(struct bpf_attachment *attachment)
{
	if (attachment->kind == BPF_ATTACH_XDP || attachment->kind == BPF_ATTACH_TCX) {
		close(attachment->link_fd);
	} else if (attachment->kind == BPF_ATTACH_CLSACT) {
		LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = attachment->ifindex,
			    .attach_point = attachment->ingress ? BPF_TC_INGRESS : BPF_TC_EGRESS);
		LIBBPF_OPTS(bpf_tc_opts, options, .handle = attachment->handle, .priority = attachment->priority);

		bpf_tc_detach(&hook, &options);
	}
	attachment->kind = BPF_ATTACH_NONE;
}
