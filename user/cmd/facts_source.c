// SPDX-License-Identifier: GPL-2.0-or-later
/* Where facts come from; see facts_source.h. */
#include "cmd/facts_source.h"

#include <errno.h>
#include <stddef.h>

#include "base/error.h"
#include "doctor/evidence.h"
#include "model/facts_json.h"
#include "sys/collect.h"

int facts_source_add_evidence(struct facts_source *source, const char *file)
{
	if (source->evidence_count == FACTS_SOURCE_MAX_EVIDENCE)
		return error_set(EINVAL, "--evidence: more than %d files", FACTS_SOURCE_MAX_EVIDENCE);
	source->evidence[source->evidence_count++] = file;
	return 0;
}

int facts_source_check(const struct facts_source *source)
{
	return source->file && source->sysroot ? error_set(EINVAL, "--facts and --sysroot: give one of them") : 0;
}

int facts_source_load(const struct facts_source *source, struct facts **facts)
{
	struct collect_request request = { .sysroot = source->sysroot };
	int result;

	*facts = NULL;
	result = source->file ? facts_json_load(source->file, facts) : collect_facts(&request, facts);
	for (int i = 0; i < source->evidence_count && result == 0; i++)
		result = evidence_read(source->evidence[i], *facts);
	if (result < 0) {
		facts_free(*facts);
		*facts = NULL;
	}
	return result;
}
