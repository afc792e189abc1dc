#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tests/run counts rightly: a tree with planted scripts, and the closing line and exit status it must give.

. "$(dirname "$0")/../lib/harness.sh"

unset REQUIRE TESTS
mkdir -p "$TMP/tests/golden" "$TMP/tests/lab" "$TMP/build"
cp "$ROOT/tests/run" "$TMP/tests/run"

# plant TIER/NAME BODY
plant() {
	printf '#!/bin/bash\n%s\n' "$2" >"$TMP/tests/$1.sh"
	chmod +x "$TMP/tests/$1.sh"
}

# expect NAME STATUS LAST_LINE TIER…: what tests/run must say about what is planted; then removes that.
expect() {
	local name=$1 status=$2 last=$3 got_status
	shift 3
	"$TMP/tests/run" "$@" >"$TMP/output" 2>&1
	got_status=$?
	check_equal "$name" "$status $last" "$got_status $(tail -n 1 "$TMP/output")"
	rm -f "$TMP"/tests/*/*.sh
}

plant golden/one 'exit 0'
plant golden/two 'echo "ok a"; echo "ok b"'
expect all_pass 0 '3 passed, 0 failed, 0 skipped'

plant golden/one 'exit 3'
plant golden/two 'echo "ok a"; echo "not ok b"; exit 1'
expect failures_count 1 '1 passed, 2 failed, 0 skipped' golden

plant golden/one 'echo "ok a"; echo "not ok b"; exit 0'
expect failed_line_counts_without_status 1 '1 passed, 1 failed, 0 skipped' golden

plant golden/one 'echo "ok a"; exit 5'
expect crash_after_ok_counts 1 '1 passed, 1 failed, 0 skipped' golden

plant golden/one 'echo "ok a"; echo "skip b: no reason"'
plant golden/two 'echo "because"; exit 77'
expect skips_count 0 '1 passed, 0 failed, 2 skipped' golden

# cmocka's way to say that a test was skipped, and the reason that ours give before it.
plant golden/one 'echo "ok 1 - a"; echo "# skip: no such kernel"; echo "not ok 2 # SKIP b"; echo "ok 3 # SKIP c"'
"$TMP/tests/run" golden >"$TMP/output" 2>&1
check "a skip has its test and its reason" grep -qx '  skipped: golden-one b: no such kernel' "$TMP/output"
check "and no other's reason" grep -qx '  skipped: golden-one c' "$TMP/output"
expect skips_of_cmocka_are_skips 0 '1 passed, 0 failed, 2 skipped' golden

plant golden/one 'exit 77'
expect only_skips_is_no_success 1 '0 passed, 0 failed, 1 skipped' golden

plant golden/one 'echo "ok a"; exit 77'
export REQUIRE=golden
expect required_tier_must_not_skip 1 '1 passed, 1 failed, 0 skipped' golden
expect required_tier_must_have_tests 1 '0 passed, 1 failed, 0 skipped' golden
REQUIRE=unit
plant golden/one 'echo "ok a"; exit 77'
expect other_tiers_may_skip 0 '1 passed, 0 failed, 1 skipped' golden
unset REQUIRE

expect no_tests_is_no_success 1 '0 passed, 0 failed, 0 skipped' golden

plant golden/one 'exit 0'
chmod -x "$TMP/tests/golden/one.sh"
expect script_that_cannot_run_fails 1 '0 passed, 1 failed, 0 skipped' golden

mkdir "$TMP/tests/unit"
: >"$TMP/tests/unit/test_gone.c"
expect program_that_was_not_built_fails 1 '0 passed, 1 failed, 0 skipped' unit

if ((EUID == 0)); then
	left=/run/hopcap/test-runner-$$
	defer rm -f "$left"
	defer rmdir --ignore-fail-on-non-empty /run/hopcap
	plant lab/one "mkdir -p /run/hopcap; touch $left"
	expect leftovers_fail 1 '1 passed, 1 failed, 0 skipped' lab
	touch "$left"
	plant lab/one 'exit 0'
	expect leftovers_of_others_do_not 0 '1 passed, 0 failed, 0 skipped' lab
else
	skip_case leftovers_fail "needs root"
fi

"$TMP/tests/run" nothing >/dev/null 2>&1
check_equal unknown_tier_is_usage 2 $?
