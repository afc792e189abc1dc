// SPDX-License-Identifier: GPL-2.0-or-later
/* What all targets ask of results; see targets.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/doctor.h"
#include "model/utf8.h"
#include "targets.h"

void fuzz_broken(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: broken: %s\n", file, line, condition);
	abort();
}

int fuzz_is_text(const char *text)
{
	while (*text) {
		uint32_t character;
		int length = utf8_decode(text, &character);

		if (length <= 0 || character < 0x20 || (character >= 0x7f && character < 0xa0))
			return 0;
		text += length;
	}
	return 1;
}

void fuzz_examine(const struct facts *facts)
{
	struct doctor_request request = { .facts = facts };
	struct finding_list list = { 0 };
	int result = doctor_examine(&request, &list);

	FUZZ_PROMISE(result == 0 || result == -ENOMEM);
	for (int i = 0; i < list.count; i++) {
		FUZZ_PROMISE(list.findings[i].id[0] && list.findings[i].evidence && list.findings[i].rule);
		FUZZ_PROMISE(list.findings[i].fix && list.findings[i].effect && list.findings[i].effect[0]);
		FUZZ_PROMISE(doctor_check_find(list.findings[i].id) != NULL);
		FUZZ_PROMISE(!i || list.findings[i - 1].rank >= list.findings[i].rank);
	}
	finding_list_free(&list);
}
