/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splitting one option's argument into a part; for qemu_command.c only. */
#ifndef MODEL_QEMU_COMMAND_PARTS_H
#define MODEL_QEMU_COMMAND_PARTS_H

#include "model/qemu_command.h"

/* Adds a part with everything empty; NULL when out of memory. */
struct qemu_part *qemu_add_part(struct qemu_command *command, enum qemu_part_kind kind, const char *option,
				const char *argument);
/* Adds name=value; 0 or -ENOMEM. value NULL is "". */
int qemu_add_setting(struct qemu_part *part, const char *name, const char *value);
/* Splits "TYPE,name=value,…" or {"KEY": TYPE, …} into part->type and settings; implied: the name that the first word has when it
 * stands without one ("driver", "type"). 0, -EINVAL (not understood), -ENOMEM. */
int qemu_split(struct qemu_part *part, const char *argument, const char *implied);
/* Frees what is there and copies; 0 or -ENOMEM. */
int qemu_set_text(char **text, const char *value);
void qemu_free_part(struct qemu_part *part);
/* The setting in the part itself, of several the last; NULL. */
const char *qemu_own_value(const struct qemu_part *part, const char *name);

#endif
