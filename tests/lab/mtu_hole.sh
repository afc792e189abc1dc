#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Planted: every interface at MTU 9000 but trunk0, at 1500: large frames end in the wire before it.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
require_root
require_command jq ip

lab_up --mtu 9000 || exit 1
ip -n "hopcap-$LAB_ID-vios" link set trunk0 mtu 1500 || exit 1
planted "trunk0 at MTU 1500 under 9000-byte frames" capped "wire vios0-trunk0" mtu
check "the MTU is evidence" jq -e '[.verdict.evidence[] | select(.name == "mtu") | select(.text | test("1500"))] | length > 0' "$TMP/run1.json"
check "the doctor had found it, and the verdict cites it" jq -e \
	'[.verdict.evidence[] | select(.name == "doctor") | select(.text | test("mtu-step on trunk0"))] | length > 0' "$TMP/run1.json"
