/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The path through a lab, whether it has guests or not.
 */
#ifndef CMD_LAB_PATH_H
#define CMD_LAB_PATH_H

#include "domain/domain.h"
#include "lab/lab.h"
#include "measure/path.h"

/* Fills run and path from a lab that has been built; guests become domains. 0 or -errno with error text. */
int lab_path(struct run *run, struct path *path, struct domains *domains, const struct lab *lab);

#endif
