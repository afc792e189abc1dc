/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A BPF program by its number. */
#ifndef SYS_PROGRAM_NAME_H
#define SYS_PROGRAM_NAME_H

#include <stddef.h>
#include <stdint.h>

/* The name that it was loaded by (15 characters of it). 0; -errno without error text, `name` as it was: EPERM when the caller
 * lacks CAP_SYS_ADMIN, ENOENT when it is gone or has no name. */
int program_name(uint32_t id, char *name, size_t size);

#endif
