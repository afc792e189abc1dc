#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Planted: a busy loop pinned to the CPU that serves the path. The cause is that CPU, and who takes half of it must be named.
# Which hop costs most is not planted here: wire and bridge are close to each other when both have half a CPU.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
require_root
require_command jq taskset
(($(nproc) >= 2)) || skip "needs two CPUs: one for the source, one for the path"

# shellcheck disable=SC2119
lab_up || exit 1
path_cpu=$(($(nproc) - 1))
printf '#!/bin/sh\nwhile :; do :; done\n' >"$TMP/busyloop"
chmod +x "$TMP/busyloop"
taskset -c "$path_cpu" "$TMP/busyloop" &
hog=$!
defer kill "$hog"
planted "busy loop on CPU $path_cpu" capped "*" cpu
for ((i = 1; i <= RUNS; i++)); do
	check "the hog is named, run $i of $RUNS" jq -e --arg pid "$hog" \
		'([.verdict.evidence[] | select(.name == "cpu_hog") | select(.text | test("busyloop") and test($pid))] | length > 0) and
		 (.verdict.sentence | test("busyloop"))' "$TMP/run$i.json"
	check "a frame's CPU time is less than its time on the wall, run $i of $RUNS" jq -e \
		'[.services[] | select(.cpu_ns != null)] as $known | ($known | length) * 2 > (.services | length) and
		 ($known | all(.cpu_ns > 0 and .cpu_ns < 0.95e9 / .pps))' "$TMP/run$i.json"
done
