// SPDX-License-Identifier: GPL-2.0-or-later
/* What libFuzzer calls: the target that the Makefile names. */
#include "targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return FUZZ_TARGET(data, size);
}
