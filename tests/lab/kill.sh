#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A run that is killed at any moment leaves nothing that `hopcap cleanup` does not remove; one that is interrupted leaves
# nothing at all.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
require_root
require_command ip bpftool

# What of ours is in this kernel: namespaces, programs and links by name, pins, state.
ours() {
	ip netns list | grep '^hopcap-'
	bpftool prog show 2>/dev/null | grep -oE 'name (hop_xdp|hop_tc|source_live|count_drop)'
	find /sys/fs/bpf/hopcap /run/hopcap -type f 2>/dev/null
	ip -o link show | grep -oE '\b(lpar0|vios0|trunk0|phys0|nic0|ent0)\b'
}

nothing_left() {
	[[ -z $(ours) ]]
}

# The moment is drawn over the length of a quick run; waiting for it is the point of this test, not a wait for readiness.
kill_after() {
	local signal=$1 milliseconds=$2 pid
	"$HOPCAP" run --lab sea --quick >/dev/null 2>&1 &
	pid=$!
	read -rt "$((milliseconds / 1000)).$(printf %03d $((milliseconds % 1000)))" <> <(:)
	kill "-$signal" "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}

RANDOM=${SEED:-$$}
printf 'seed %s\n' "${SEED:-$$}"
for ((i = 1; i <= 10; i++)); do
	moment=$((RANDOM % 14000))
	kill_after KILL "$moment"
	"$HOPCAP" cleanup >"$TMP/cleanup" 2>&1 || not_ok "cleanup after SIGKILL $i" "$(cat "$TMP/cleanup")"
	if wait_until 5 nothing_left; then
		ok "kill -9 after $moment ms, then cleanup: nothing left"
	else
		not_ok "kill -9 after $moment ms, then cleanup" "left: $(ours)"
	fi
done
for signal in INT TERM HUP; do
	kill_after "$signal" $((500 + RANDOM % 6000))
	if wait_until 5 nothing_left; then
		ok "SIG$signal: nothing left"
	else
		not_ok "SIG$signal" "left: $(ours)"
		"$HOPCAP" cleanup
	fi
done
check "cleanup with nothing to do" "$HOPCAP" cleanup
