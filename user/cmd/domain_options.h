/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --domain and --push: the other kernels that a command asks.
 */
#ifndef CMD_DOMAIN_OPTIONS_H
#define CMD_DOMAIN_OPTIONS_H

#include "base/options.h"
#include "domain/domain.h"

int domain_option_add(const char *definition); /* for OPTION_CALL */
extern int domain_option_push;

/* Rows for a command's table. */
#define DOMAIN_OPTION_ROWS                                                                                                           \
	{ "domain",                                                                                                                  \
	  0,                                                                                                                         \
	  OPTION_CALL,                                                                                                               \
	  "NAME=HOW",                                                                                                                \
	  "another kernel, whose points are INTERFACE@NAME: a command that runs `hopcap agent --stdio` there, or unix:PATH; may be " \
	  "repeated",                                                                                                                \
	  domain_option_add,                                                                                                         \
	  0,                                                                                                                         \
	  0 },                                                                                                                       \
	{                                                                                                                            \
		"push", 0, OPTION_FLAG, NULL,                                                                                        \
			"first copy hopcap (the static one) there through the same command, and remove the copy at its start",       \
			&domain_option_push, 0, 0                                                                                    \
	}

/* Opens the local domain and those that were given. 0 or -errno with error text; domains_close() in either case. */
int domain_options_open(struct domains *domains);

#endif
