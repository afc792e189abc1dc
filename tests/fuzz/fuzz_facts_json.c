// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as saved facts: what is read must survive being written and read again. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/error.h"
#include "model/facts_json.h"
#include "targets.h"

int fuzz_facts_json(const uint8_t *data, size_t size)
{
	struct facts *facts = NULL, *again = NULL;
	int result = facts_json_parse((const char *)data, size, "fuzz", &facts);
	json_t *first, *second;

	FUZZ_PROMISE(result <= 0 && (result == 0) == (facts != NULL));
	if (result) {
		FUZZ_PROMISE(error_text()[0]);
		return 0;
	}
	first = facts_to_json(facts);
	FUZZ_PROMISE(first && facts_from_json(first, &again) == 0);
	second = facts_to_json(again);
	FUZZ_PROMISE(second && json_equal(first, second));
	json_decref(first);
	json_decref(second);
	fuzz_examine(facts);
	facts_free(facts);
	facts_free(again);
	return 0;
}
