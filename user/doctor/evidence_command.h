/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command lines among pasted text: "[root@esx-a:~] esxcli network nic get -n vmnic2". They say which host and which object an
 * output is about that does not say so itself. Pure; called by evidence.c.
 */
#ifndef DOCTOR_EVIDENCE_COMMAND_H
#define DOCTOR_EVIDENCE_COMMAND_H

#include "doctor/evidence_section.h"

struct evidence_command {
	char object[EVIDENCE_NAME_BYTES]; /* that the command names; "" none */
	char host[EVIDENCE_NAME_BYTES];	  /* of the prompt; "" none */
	const char *opens;		  /* kind of an output that begins without a heading; NULL */
};

/* 1 when the line is a known command, or a prompt of the form "[user@host:directory]" or "user@host:directory$". */
int evidence_command_parse(const char *line, struct evidence_command *command);

#endif
