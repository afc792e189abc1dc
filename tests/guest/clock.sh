#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A guest's clock, whose rate and date are changed on purpose, and which is stopped with its guest: what hopcap says of it must agree with an
# independent exchange at the same time (a second agent, over a port of its own), and a pause must be called a step. GUEST_KERNELS chooses
# (default: the stable one). CLOCK_WINDOWS=N (default 200; with GUEST_QUICK 40).
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../lib/guest.sh"
require_root
require_command jq ip python3

quick && : "${CLOCK_WINDOWS:=40}"
windows=${CLOCK_WINDOWS:-200}
host=gclock$$h
ip netns add "$host" || exit 1
defer ip netns del "$host"

# watch PORT WINDOWS FILE: what hopcap says of the clock of the agent there.
watch() {
	"$HOPCAP" clock --json --windows "$2" --window 0.05 --domain "guest=unix:$TMP/$1" >"$3" 2>"$3.error"
}

# Bounds of the same clock from two exchanges, both carried to the same time at the rate limit: they must meet. Each line is compared with
# the line of the other file whose window is next to it and on the same side of every step.
cat >"$TMP/meet.py" <<'PY'
import json, sys
ours, theirs = ([json.loads(line) for line in open(path)] for path in sys.argv[1:3])
told = [w for w in ours if not w["stepped"]]
wrong = compared = 0
worst = 0.0
for window in told:
    middle = (window["from_ns"] + window["to_ns"]) / 2
    near = [w for w in theirs if not w["stepped"] and w["steps"] == window["steps"] and abs((w["from_ns"] + w["to_ns"]) / 2 - middle) < 5e9]
    if not near:
        continue
    other = min(near, key=lambda w: abs((w["from_ns"] + w["to_ns"]) / 2 - middle))
    apart = max(window["from_ns"], other["from_ns"]) - min(window["to_ns"], other["to_ns"])
    allowed = window["bound_ns"] + other["bound_ns"] + max(apart, 0) * 1e-3
    distance = abs(window["offset_ns"] - other["offset_ns"])
    compared += 1
    worst = max(worst, distance / allowed)
    wrong += distance > allowed
bounds = sorted(w["bound_ns"] for w in told)
print(f"{len(ours)} windows, {compared} compared with the other exchange, {wrong} apart; at most {worst:.2f} of what is allowed; "
      f"bound {bounds[len(bounds) // 2] / 1e3:.0f} us (median); steps {ours[-1]['steps']} and {theirs[-1]['steps']}")
sys.exit(wrong > 0 or compared < len(told) * 0.8)
PY

# monitor COMMAND: QEMU's.
monitor() {
	python3 - "$TMP/guest.monitor" "$1" <<-'PY'
		import socket, sys, time
		port = socket.socket(socket.AF_UNIX)
		port.settimeout(30)
		port.connect(sys.argv[1])
		text = b""
		while b"(qemu)" not in text:
		    text += port.recv(4096)
		port.sendall(sys.argv[2].encode() + b"\n")
		text = b""
		while b"(qemu)" not in text:
		    text += port.recv(4096)
	PY
}

for kernel in ${GUEST_KERNELS:-6.12}; do
	fetch_guest "$kernel" "clock with kernel $kernel" || continue
	start_guest guest "$kernel" "$host" -chardev "socket,id=second,path=$TMP/guest.second,server=on,wait=off" \
		-device virtserialport,chardev=second,bus=vs0.0,name=org.hopcap.second \
		-chardev "socket,id=mon,path=$TMP/guest.monitor,server=on,wait=off" -mon chardev=mon,mode=readline ||
		{ not_ok "$kernel: the guest starts"; continue; }
	in_guest guest '(while :; do (exec 3<>/dev/virtio-ports/org.hopcap.second && exec hopcap agent --stdio <&3 >&3) 2>/dev/null; sleep 0.2; done) &' \
		>/dev/null

	# both FILE WINDOWS: two exchanges at once.
	both() {
		watch guest.second "$2" "$TMP/$1.second" &
		local other=$!
		watch guest.agent "$2" "$TMP/$1"
		wait "$other"
	}
	both still $((windows / 2))
	if text=$(python3 "$TMP/meet.py" "$TMP/still" "$TMP/still.second" 2>&1); then
		ok "$kernel, as it is: $text"
	else
		not_ok "$kernel, as it is" "$text" "$(cat "$TMP/still.error")"
	fi

	# The rate by adjtimex, the date by settime: the first changes the clock that is compared, the second must not.
	both changed $((windows / 2)) &
	watching=$!
	for change in "adjtimex -f 32000000" "date -s @1000000000" "adjtimex -f -32000000" "date -s @1700000000" "adjtimex -f 0"; do
		in_guest guest "$change" >/dev/null || not_ok "$kernel: $change"
	done
	wait "$watching"
	if text=$(python3 "$TMP/meet.py" "$TMP/changed" "$TMP/changed.second" 2>&1) &&
		jq -es 'last.steps == 0' "$TMP/changed" >/dev/null; then
		ok "$kernel, rate and date changed: $text"
	else
		not_ok "$kernel, rate and date changed" "$text" "$(cat "$TMP/changed.error")"
	fi

	# A guest that is stopped: its clock stands, ours goes on.
	watch guest.agent 20 "$TMP/stopped" &
	watching=$!
	wait_until 60 test -s "$TMP/stopped"
	monitor stop
	monitor cont
	wait "$watching"
	check "$kernel, stopped for a moment: one step, or none that can be told from delays" jq -es 'length == 20 and last.steps <= 1' "$TMP/stopped"
	watch guest.agent 20 "$TMP/stopped" &
	watching=$!
	wait_until 60 test -s "$TMP/stopped"
	monitor stop
	sleep 1 # less than the silence that ends an agent, more than any delay
	monitor cont
	wait "$watching"
	check "$kernel, stopped for a second: one step" jq -es 'length == 20 and last.steps == 1' "$TMP/stopped"
	end_guest guest
done
exit 0
