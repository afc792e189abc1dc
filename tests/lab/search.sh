#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the whole path sustains: loss goals that the user sets, and RFC 2544's benchmarks, each with its books right.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
require_root
require_command jq ip

check "run with three goals" "$HOPCAP" run --lab sea --quick --loss-ratio 0,0.1%,0.05 --width 10% --trial-seconds 0.2 \
	--json "$TMP/goals.json"
check "goals: in the order asked for" jq -e '[.throughput.goals[].loss_goal] == [0, 0.001, 0.05]' "$TMP/goals.json"
check "goals: lower <= upper, and both rise with the loss" jq -e '.throughput.goals as $g |
	all($g[]; .lower_pps <= .upper_pps) and
	all(range(1; 3); $g[.].lower_pps >= $g[. - 1].lower_pps and $g[.].upper_pps >= $g[. - 1].upper_pps)' "$TMP/goals.json"
check "goals: the ends are NDR and PDR, and the last cut" jq -e '.throughput | .ndr == .goals[0] and .pdr == .goals[-1]' "$TMP/goals.json"
check "goals: the last cut is the PDR" jq -e '.cuts[-1].upper_pps == .throughput.pdr.upper_pps' "$TMP/goals.json"
check "goals: loss at the lower bound is within the goal" jq -e 'all(.throughput.goals[]; .no_lower or .loss_ratio <= .loss_goal)' \
	"$TMP/goals.json"
check "goals: losses add up" losses_add_up "$TMP/goals.json"
check "goals: the contract holds" "$ROOT/tools/validate-run-json" "$TMP/goals.json"

check "run --rfc2544" "$HOPCAP" run --lab sea --dedicated --rfc2544 --trial-seconds 0.1 --size 508 --json "$TMP/rfc.json"
check "rfc2544: not by the RFC, and it says so" grep -q 'not by the RFC: trials of 0.1 s' <("$HOPCAP" report "$TMP/rfc.json")
check "rfc2544: one size, all benchmarks" jq -e '.rfc2544.sizes | length == 1 and .[0].frame_bytes == 508 and
	.[0].throughput_trials >= 1 and (.[0].steps | length) >= 2 and .[0].bursts == 50' "$TMP/rfc.json"
check "rfc2544: latency of 20 streams where there is a throughput" jq -e '.rfc2544.sizes[0] | .throughput_pps == 0 or
	(.latency_repetitions == 20 and .latency_min_ns <= .latency_median_ns and .latency_median_ns <= .latency_p999_ns and
	 .latency_p999_ns <= .latency_max_ns)' "$TMP/rfc.json"
check "rfc2544: throughput below what lost" jq -e '.rfc2544.sizes[0] | .lossy_pps == 0 or .throughput_pps <= .lossy_pps * 1.001' "$TMP/rfc.json"
check "rfc2544: loads fall by a tenth" jq -e '[.rfc2544.sizes[0].steps[].percent] | . == [range(length) | 100 - 10 * .]' "$TMP/rfc.json"
check "rfc2544: losses add up" losses_add_up "$TMP/rfc.json"
check "rfc2544: the contract holds" "$ROOT/tools/validate-run-json" "$TMP/rfc.json"
check "rfc2544: report again, byte for byte" cmp <("$HOPCAP" report --format json "$TMP/rfc.json") "$TMP/rfc.json"
