/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guests of labs: QEMU processes that run in a namespace of the lab. Used within lab/ only.
 */
#ifndef LAB_LAB_GUEST_H
#define LAB_LAB_GUEST_H

#include "lab/lab.h"
#include "lab/scenario.h"

/* Whether QEMU, kernel and root file system are here; ENOENT with error text that says which command makes what is missing. */
int lab_guest_check(const struct lab_options *options);
/* Starts a guest and waits until its agent can be reached; sets lab->accelerator. Its end is on the undo stack before. */
int lab_guest_start(struct lab *lab, const struct scenario_guest *guest);
/* Ends all guests of a lab and removes their files; 0 when there are none. */
int lab_guest_end_all(const char *id);

#endif
