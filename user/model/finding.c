// SPDX-License-Identifier: GPL-2.0-or-later
/* Findings of the doctor; see finding.h. */
#include <stdlib.h>

#include "model/finding.h"

const char *finding_severity_name(enum finding_severity severity)
{
	static const char *const names[] = { "fail", "warn", "info", "unknown" };

	return (unsigned int)severity < sizeof(names) / sizeof(names[0]) ? names[severity] : "unknown";
}

struct finding *finding_list_add(struct finding_list *list)
{
	struct finding *grown = list->findings;

	/* Room is for the next power of two, so it is full when the count is one. */
	if ((list->count & (list->count - 1)) == 0) {
		grown = realloc(grown, (list->count ? 2 * (size_t)list->count : 1) * sizeof(*grown));
		if (!grown)
			return NULL;
		list->findings = grown;
	}
	grown[list->count] = (struct finding){ .severity = FINDING_UNKNOWN };
	return &grown[list->count++];
}

void finding_list_free(struct finding_list *list)
{
	for (int i = 0; i < list->count; i++) {
		free(list->findings[i].evidence);
		free(list->findings[i].rule);
		free(list->findings[i].fix);
		free(list->findings[i].effect);
	}
	free(list->findings);
	*list = (struct finding_list){ 0 };
}
