#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The engine without a kernel in it: millions of frames through the pair in memory, its ledger, its tests, under valgrind.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
require_command valgrind
program=$ROOT/build/tests/plain-memory_pair
[[ -x $program ]] || skip "build/tests/plain-memory_pair is not built; run tools/test"
check "no error, no leak" valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=all "$program"
