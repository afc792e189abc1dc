/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaching programs to the hooks of an interface, and asking who else is there.
 *
 * Owns: XDP links, tcx links, clsact filters as the fallback before kernel 6.6. Links vanish with the process; a clsact that
 * had to be added is registered on the undo stack. Nothing that somebody else attached is ever displaced. Runs in the
 * namespace of the interface. Leaves to others: which hook a point uses (measure/path.c).
 */
#ifndef SYS_BPF_ATTACH_H
#define SYS_BPF_ATTACH_H

#include <stddef.h>
#include <stdint.h>

enum bpf_attach_kind { BPF_ATTACH_NONE, BPF_ATTACH_XDP, BPF_ATTACH_TCX, BPF_ATTACH_CLSACT };

struct bpf_attachment {
	enum bpf_attach_kind kind;
	int link_fd;	 /* XDP and TCX */
	int ifindex;	 /* CLSACT: the filter's place */
	int ingress;
	uint32_t handle, priority;
};

/* native: 1 driver mode, 0 generic. 0 or -errno with error text (EBUSY names the program that is there). */
int bpf_attach_xdp(int program_fd, const char *interface, int ifindex, int native, struct bpf_attachment *attachment);
/* tcx where the kernel has it, else clsact. 0 or -errno with error text. */
int bpf_attach_tc(int program_fd, const char *interface, const char *netns, int ifindex, int ingress,
		  struct bpf_attachment *attachment);
/* tcx or nothing: 0 or -errno (EINVAL before kernel 6.6), without error text. */
int bpf_attach_tcx(int program_fd, int ifindex, int ingress, struct bpf_attachment *attachment);
void bpf_detach(struct bpf_attachment *attachment);
/* "name (id 12)" of a program; "program id 12" when it cannot be asked. Returns buffer. */
const char *bpf_program_label(uint32_t id, char *buffer, size_t size);

#endif
