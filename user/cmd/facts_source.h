/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts as a command's options ask for them: of this machine, of a captured tree, or saved; with pasted text added. Used by doctor and
 * plan.
 */
#ifndef CMD_FACTS_SOURCE_H
#define CMD_FACTS_SOURCE_H

#include "model/facts.h"

#define FACTS_SOURCE_MAX_EVIDENCE 64

struct facts_source {
	const char *file;    /* of hopcap facts --json; NULL: collect */
	const char *sysroot; /* NULL: this machine */
	const char *evidence[FACTS_SOURCE_MAX_EVIDENCE];
	int evidence_count;
};

/* 0, or -EINVAL with error text. */
int facts_source_add_evidence(struct facts_source *source, const char *file);
int facts_source_check(const struct facts_source *source);
/* 0 or -errno with error text; *facts is NULL then. The caller frees. */
int facts_source_load(const struct facts_source *source, struct facts **facts);

#endif
