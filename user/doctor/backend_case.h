/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A QEMU process as the checks of back ends look at it: each NIC with its back end, tap and hub. Pure; used by doctor/checks_backend*.c.
 */
#ifndef DOCTOR_BACKEND_CASE_H
#define DOCTOR_BACKEND_CASE_H

#include "doctor/check.h"
#include "model/qemu_command.h"

struct backend_case {
	const struct qemu_command *command;
	const struct qemu_part *nic;
	const struct qemu_part *backend; /* NULL: the NIC has none */
	const struct facts_link *tap;	 /* of the back end; NULL: none, or it cannot be told which */
	int hub;			 /* between them; -1 none */
};

typedef void backend_judge(struct check_context *context, const struct backend_case *backend);

/* 1 when the context's process is a QEMU whose command line is known. */
int backend_is_qemu(const struct check_context *context);
/* Calls judge for each NIC on the command line of the context's process. */
void backend_for_each_nic(struct check_context *context, backend_judge *judge);
/* The command line of the context's process, to be freed; NULL (context->error is set then) when out of memory. */
struct qemu_command *backend_command(struct check_context *context);
/* A token of the command line in quotation marks, cut when it is very long. Rotating buffer, as check_text(). */
const char *backend_quote(const struct qemu_part *part);
/* The back end's tap as it should be asked for: "-netdev tap,id=net0,ifname=tap0,script=no,downscript=no,vhost=on -device
 * virtio-net-pci,netdev=net0,mac=…". Rotating buffer. */
const char *backend_remedy(const struct backend_case *backend);
/* 1 when the back end is a tap (of any form) and the NIC virtio. */
int backend_is_virtio_tap(const struct backend_case *backend);
/* The process of these facts that holds the tap; NULL. */
const struct facts_process *backend_holder(const struct facts *facts, const struct facts_link *tap);
/* The same process in the facts of some time ago, and the seconds between (> 0); NULL when there is none. */
const struct facts_process *backend_earlier(const struct check_context *context, double *seconds);

#endif
