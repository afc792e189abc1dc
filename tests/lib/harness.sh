# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For test scripts (golden, lab): . "$(dirname "$0")/../lib/harness.sh"
#
# Sets ROOT, HOPCAP (the binary under test) and TMP (a directory of the test's own), all removed or undone at exit,
# whichever way the script ends. The exit status is 1 when not_ok was called.

set -u

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
HOPCAP=${HOPCAP:-$ROOT/build/hopcap}
TMP=$(mktemp -d)
harness_failed=0
harness_undo=("rm -rf $(printf '%q' "$TMP")")

# defer COMMAND…: runs COMMAND at exit; the last one deferred runs first. Its failure is ignored.
defer() {
	harness_undo+=("$(printf '%q ' "$@")")
}

harness_finish() {
	local status=$? index
	trap '' INT TERM HUP
	for ((index = ${#harness_undo[@]} - 1; index >= 0; index--)); do
		eval "${harness_undo[index]}" >/dev/null 2>&1
	done
	((status == 0 && harness_failed)) && status=1
	exit "$status"
}
trap harness_finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# ok NAME
ok() {
	printf 'ok %s\n' "$1"
}

# not_ok NAME [DETAIL…]
not_ok() {
	printf 'not ok %s\n' "$1"
	shift
	(($# == 0)) || printf '%s\n' "$*" | sed 's/^/# /'
	harness_failed=1
}

# check NAME COMMAND…: ok when COMMAND succeeds, else not_ok with its output.
check() {
	local name=$1 text
	shift
	if text=$("$@" 2>&1); then
		ok "$name"
	else
		not_ok "$name" "failed: $*"$'\n'"$text"
	fi
}

# check_equal NAME WANTED GOT
check_equal() {
	if [[ $2 == "$3" ]]; then
		ok "$1"
	else
		not_ok "$1" "wanted: $2"$'\n'"got:    $3"
	fi
}

# skip REASON…: ends the script; skip_case NAME REASON…: skips one case of it.
skip() {
	printf '%s\n' "$*"
	exit 77
}

skip_case() {
	local name=$1
	shift
	printf 'skip %s: %s\n' "$name" "$*"
}

require_root() {
	((EUID == 0)) || skip "needs root"
}

# require_command NAME…
require_command() {
	local name
	for name; do
		command -v "$name" >/dev/null || skip "needs $name; run tools/install-deps --test"
	done
}

# wait_until SECONDS COMMAND…: 0 as soon as COMMAND succeeds, 1 when it has not after SECONDS.
wait_until() {
	local limit=$1 start=${EPOCHREALTIME/[.,]/}
	shift
	until "$@" >/dev/null 2>&1; do
		((${EPOCHREALTIME/[.,]/} - start < limit * 1000000)) || return 1
		sleep 0.05
	done
}

# json FILE EXPRESSION: what jq says, strings without quotes. Fails when the file or the value is not there.
json() {
	jq -er "$2" "$1"
}
