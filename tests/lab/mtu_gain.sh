#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What MTU 9000 gives over 1500: measured, and predicted from the costs fitted to the smaller frames.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
require_root
require_command jq

check "run --lab sea --mtu 9000" "$HOPCAP" run --lab sea --mtu 9000 --json "$TMP/run.json"
check "losses add up in every trial" losses_add_up "$TMP/run.json"
check "frames of 9014 bytes arrive" jq -e '[.sizes[] | select(.frame_bytes == 9014)] | first | .delivered' "$TMP/run.json"
check "the source's ceiling is that of its own port" jq -e '.source as $s | .primary_bytes as $b |
	([.services[] | select(.frame_bytes == $b and .port == $s.port) | .offered_pps] | max) == $s.ceiling_pps' "$TMP/run.json"
check "measured and modelled ratio are there" jq -e '.mtu_gain.measured_ratio > 1 and .mtu_gain.model_ratio > 1' "$TMP/run.json"
check "they agree within 15 %" jq -e '.mtu_gain | (.model_ratio / .measured_ratio - 1) | fabs <= 0.15' "$TMP/run.json"
