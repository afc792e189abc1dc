#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Planted: a token bucket of 400 Mbit/s on phys0. The bridges before it can do many times that.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
require_root
require_command jq tc ip

# shellcheck disable=SC2119
lab_up || exit 1
in_ns vios tc qdisc add dev phys0 root tbf rate 400mbit burst 20k limit 100k || exit 1
planted "tbf on phys0" capped "wire phys0-nic0" rate_limit
check "its drops or backlog are evidence" jq -e \
	'[.verdict.evidence[] | select(.name == "queue_counters") | select(.text | test("phys0"))] | length > 0' "$TMP/run1.json"
check "the path carries about 400 Mbit/s" jq -e \
	'[.services[] | select(.point == 5 and .frame_bytes == 1514) | .pps * 1514 * 8] | first | . > 3e8 and . < 4.6e8' "$TMP/run1.json"
check "the doctor had found it, and the verdict cites it" jq -e \
	'[.verdict.evidence[] | select(.name == "doctor") | select(.text | test("rate-shaper on phys0"))] | length > 0' "$TMP/run1.json"
