#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Labs of guests: each scenario comes up, is measured and goes away with all that belongs to it; also when hopcap is interrupted or killed
# while a guest starts. GUEST_LABS chooses scenarios; GUEST_QUICK: virtio, with the stable
# kernel.
# shellcheck disable=SC2317 # functions that check and wait_until call
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../lib/guest.sh"
require_root
require_command jq ip

# The usual directory: with another one, `hopcap cleanup` of somebody else would take our namespaces for strays.
unset HOPCAP_STATE_DIR
state=/run/hopcap/guests
quick && : "${GUEST_KERNEL:=6.12}" "${GUEST_LABS:=virtio}"
kernel=${GUEST_KERNEL:-6.18}
fetch_guest "$kernel" "labs of guests with kernel $kernel" || exit 0
# What guests boot is made anew: the agent in it must be of this version.
export HOPCAP_GUEST_DIR=$TMP/guest
mkdir -p "$HOPCAP_GUEST_DIR"
ln -s "$GUEST/qemu" "$GUEST/kernel-$kernel" "$HOPCAP_GUEST_DIR/"
"$ROOT/tools/build-initramfs" "$kernel" "$HOPCAP_GUEST_DIR/initramfs-$kernel" >"$TMP/log" 2>&1 || { not_ok "a guest's root" "$(cat "$TMP/log")"; exit; }

# guests_of ID: processes of QEMU.
guests_of() {
	grep -lF "$state/$1/" /proc/[0-9]*/cmdline 2>/dev/null | while read -r file; do
		[[ $(tr '\0' ' ' <"$file" 2>/dev/null) == *qemu*-name* ]] && echo "$file"
	done
}

is_gone() {
	[[ -n $1 && ! -e $state/$1 && -z $(guests_of "$1") ]] && ! ip netns | grep -q "^hopcap-$1-"
}

# measure POINT…: a run. An emulated guest that its host lets run for no part of 4 s is silent, and the run rightly ends: then once more.
measure() {
	local attempt
	for attempt in 1 2 3; do
		"$HOPCAP" run --quick --json "$TMP/run.json" "$@" 2>"$TMP/error" >/dev/null && return
		cat "$TMP/error"
		grep -q 'has been silent' "$TMP/error" || return 1
		echo "attempt $attempt"
	done
	return 1
}

# try SCENARIO: up, a run, down.
try() {
	local id last
	"$HOPCAP" lab up "$1" --kernel "$kernel" >"$TMP/lab" 2>"$TMP/error" || { not_ok "$1: comes up" "$(cat "$TMP/error")"; return; }
	ok "$1: comes up"
	id=$(sed -n 's/^lab //p' "$TMP/lab")
	defer "$HOPCAP" lab down "$id"
	read -ra last <<<"$(tail -n 1 "$TMP/lab")"
	check "$1: is listed" grep -q "^$id  *$1 " <("$HOPCAP" lab list)
	check "$1: is measured" measure "${last[@]}"
	check "$1: losses add up" losses_add_up "$TMP/run.json"
	jq -r '"# \(.source.port), \([.services[] | select(.point == 3)] | max_by(.frame_bytes) | .pps / 1000 | floor) kpps: \(.verdict.sentence)"' "$TMP/run.json"
	check "$1: goes" "$HOPCAP" lab down "$id"
	check "$1: nothing of it is left" is_gone "$id"
}

for scenario in ${GUEST_LABS:-virtio virtio-poor igb vf two-guests}; do
	try "$scenario"
done

# Interrupted and killed while the guest boots.
begun=$TMP/begun
newest() {
	find "$state" -mindepth 1 -maxdepth 1 -newer "$begun" -printf '%f\n' 2>/dev/null | head -n 1
}
guest_runs() {
	local id
	id=$(newest)
	[[ -n $id && -n $(guests_of "$id") ]]
}
touch "$begun"
"$HOPCAP" lab up virtio --kernel "$kernel" >/dev/null 2>"$TMP/error" &
pid=$!
check "a guest is started" wait_until 60 guest_runs
id=$(newest)
kill -INT "$pid"
wait "$pid"
check "interrupted: nothing is left" is_gone "$id"
touch "$begun"

"$HOPCAP" lab up virtio --kernel "$kernel" >/dev/null 2>"$TMP/error" &
pid=$!
check "a guest is started again" wait_until 60 guest_runs
id=$(newest)
kill -KILL "$pid"
wait "$pid" 2>/dev/null
check "killed: cleanup ends the guest" "$HOPCAP" cleanup
check "killed: nothing is left" is_gone "$id"
exit 0
