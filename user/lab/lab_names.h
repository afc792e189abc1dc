/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of labs: ids, namespaces, record files. Used within lab/ only.
 */
#ifndef LAB_LAB_NAMES_H
#define LAB_LAB_NAMES_H

#include <limits.h>

#include "model/run.h"

#define LAB_NETNS_PREFIX "hopcap-"

/* "hopcap-1f3a-lpar"; returns buffer. */
const char *lab_netns_name(const char *id, const char *role, char buffer[RUN_NAME_BYTES]);
/* 4 to 6 lower-case hex digits: anything else must not become part of a path. */
int lab_id_is_valid(const char *id);
/* Directory of the record files, <state directory>/labs. Returns buffer. */
const char *lab_record_directory(char buffer[PATH_MAX]);
/* Whether a record of that id is there; a damaged one is none. */
int lab_is_recorded(const char *id);

#endif
