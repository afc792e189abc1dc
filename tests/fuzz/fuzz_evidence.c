// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as pasted vendor text. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "doctor/evidence.h"
#include "targets.h"

static void check_claim(const struct facts_claim *claim)
{
	FUZZ_PROMISE(claim->kind[0] && claim->key[0] && claim->line_number > 0);
	FUZZ_PROMISE(strspn(claim->key, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(claim->key));
	FUZZ_PROMISE(claim->value && claim->line && claim->line[0]);
	FUZZ_PROMISE(fuzz_is_text(claim->source) && fuzz_is_text(claim->object));
	FUZZ_PROMISE(fuzz_is_text(claim->value) && fuzz_is_text(claim->line));
	FUZZ_PROMISE(evidence_number(claim) >= FACTS_UNKNOWN);
}

int fuzz_evidence(const uint8_t *data, size_t size)
{
	struct facts *facts = facts_new();
	int result;

	if (!facts)
		return 0;
	result = evidence_parse("dir/fuzz\x80.txt", (const char *)data, size, facts);
	FUZZ_PROMISE(result == 0 || result == -EINVAL || result == -ENOMEM);
	FUZZ_PROMISE((result == 0) == (facts->claim_count > 0));
	FUZZ_PROMISE(result == 0 || error_text()[0]);
	for (int i = 0; i < facts->claim_count; i++)
		check_claim(&facts->claims[i]);
	facts_sort(facts);
	fuzz_examine(facts);
	facts_free(facts);
	return 0;
}
