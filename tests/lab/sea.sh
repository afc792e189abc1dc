#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The main job: the lab, whole, names a bridge as its cap; the books are right; the file is the run.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
require_root
require_command jq ip

check "run --lab sea" "$HOPCAP" run --lab sea --json "$TMP/run.json"
check "a bridge is the cap, cause cpu" verdict_is "$TMP/run.json" capped "bridge *" cpu
check "losses add up in every trial" losses_add_up "$TMP/run.json"
check "all six points are measured" jq -e '.path.points | length == 6' "$TMP/run.json"
check "the contract holds" "$ROOT/tools/validate-run-json" "$TMP/run.json"
check "at most 60 s of measuring" jq -e '.measuring_s <= 60' "$TMP/run.json"
check "observer cost was measured in pairs" jq -e '.observer.throughput_ratio > 0 and .observer.pairs >= 3' "$TMP/run.json"
check "every hop has a cost with r2" jq -e '[.cost[] | select(.ns_per_frame != null)] | length >= 1' "$TMP/run.json"

# The text of a run in a pipe and of its file are the same bytes.
"$HOPCAP" run --lab sea --quick --json "$TMP/quick.json" >"$TMP/text" 2>"$TMP/error"
check_equal "nothing on stderr in a pipe" "" "$(cat "$TMP/error")"
"$HOPCAP" report "$TMP/quick.json" >"$TMP/again"
check "report prints the run's text, byte for byte" cmp "$TMP/text" "$TMP/again"

# One wire, no bridge.
check "run --lab sea --dedicated" "$HOPCAP" run --lab sea --dedicated --quick --json "$TMP/dedicated.json"
check "dedicated: two points, books right" jq -e '.path.points | length == 2' "$TMP/dedicated.json"
check "dedicated: losses add up" losses_add_up "$TMP/dedicated.json"
check_equal "no lab is left" "" "$(ip netns list | grep '^hopcap-' || true)"
