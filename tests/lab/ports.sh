#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every port keeps its books: no frame is counted twice or out of order, what is sent is lost or received, a paced stream
# keeps its rate, and a port is never charged with what cannot be told from its source or sink.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
require_root
require_command jq

keeps_books() {
	jq -e '[.trials[] | select(.duplicates != 0 or .reordered != 0)] | length == 0' "$1"
}

# Idle trials ask for 10000 frames a second; a machine that lends its CPUs out makes the plan slip, which counts apart.
keeps_rate() {
	jq -e '[.trials[] | select(.purpose == "idle_latency") | .offered_pps] | first | . > 5000 and . < 10300' "$1"
}

for port in live af_xdp_copy packet; do
	check "run --port $port" "$HOPCAP" run --lab sea --quick --port "$port" --json "$TMP/$port.json"
	check "$port: losses add up in every trial" losses_add_up "$TMP/$port.json"
	check "$port: nothing doubled or reordered" keeps_books "$TMP/$port.json"
	check "$port: keeps the rate" keeps_rate "$TMP/$port.json"
	check_equal "$port is what was used" "$port" "$(json "$TMP/$port.json" .source.port)"
done
check "zero-copy, which nobody asked for, is no part of the reason" jq -e '.source.why | contains("zero") | not' "$TMP/live.json"
check "large frames by packet" "$HOPCAP" run --lab sea --mtu 9000 --size 9014 --quick --json "$TMP/jumbo.json"
check "large frames: losses add up" losses_add_up "$TMP/jumbo.json"
check "large frames: nothing doubled or reordered" keeps_books "$TMP/jumbo.json"
check "hop 1 is not accused of the sink's cost" jq -e '.verdict.hop != 1' "$TMP/jumbo.json"
