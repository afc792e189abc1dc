#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hopcap accel forward: refusals, TCP and tagged frames through it, learning, MTUs, and all the ways in which it can end.
# MEBIBYTES: of each checked TCP transfer (default 32).
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/two_hosts.sh
. "$(dirname "$0")/../lib/two_hosts.sh"
require_root
require_command jq ip ethtool python3 iperf3

MEBIBYTES=${MEBIBYTES:-32}
ns=hopcap-fwd-$$
a=p0@ns:$ns-b b=p1@ns:$ns-b
forwarder=
raze() {
	[[ -z $forwarder ]] || kill -9 "$forwarder" 2>/dev/null
	raze_hosts
}
defer raze

# refused NAME STATUS PATTERN ARGUMENT…: one line that says this, nothing attached.
refused() {
	local name=$1 wanted=$2 pattern=$3 code
	shift 3
	timeout 10 "$HOPCAP" accel forward "$@" >"$TMP/out" 2>"$TMP/error"
	code=$?
	if ((code == wanted)) && grep -qE "$pattern" "$TMP/error" && (($(wc -l <"$TMP/error") == 1)) && [[ $(attached) == 0 ]]; then
		ok "refused: $name"
	else
		not_ok "refused: $name" "status $code: $(cat "$TMP/error" "$TMP/out")"
	fi
}

# here NAME COMMAND…: as check, but in this shell, whose variables it sets.
here() {
	local name=$1
	shift
	if "$@"; then
		ok "$name"
	else
		not_ok "$name" "failed: $*"$'\n'"$(cat "$TMP/error")"
	fi
}

start() {
	"$HOPCAP" accel forward --json "$@" "$a" "$b" >"$TMP/result.json" 2>"$TMP/error" &
	forwarder=$!
	wait_until 10 grep -q forwarding "$TMP/error"
}

# stop SIGNAL: its exit status.
stop() {
	local code
	kill "-$1" "$forwarder"
	wait "$forwarder"
	code=$?
	forwarder=
	return "$code"
}

# result SIDE FIELD
result() {
	jq -r ".interfaces[$1].$2" "$TMP/result.json"
}

check "the hosts are there" build_hosts 3

# --- refusals ---
refused "checksums left to the device" 3 'p0: its other end leaves checksums.*--set-offloads' "$a" "$b"
refused "an interface that is none" 3 "there is no interface 'nope'" --set-offloads "nope@ns:$ns-b" "$b"
refused "one interface twice" 2 'two interfaces are needed' --set-offloads "$a" "$a"
refused "one interface" 2 'give the two interfaces' "$a"
in_ns b tc qdisc add dev p1 root tbf rate 1gbit burst 100k limit 1m
refused "a shaper" 3 'p1: its queueing discipline' --set-offloads "$a" "$b"
in_ns b tc qdisc del dev p1 root
ip -n "$ns-b" link set p1 mtu 9000
refused "an MTU of several buffers" 3 'p1: its MTU takes frames of several buffers' --set-offloads "$a" "$b"
ip -n "$ns-b" link set p1 mtu 1500
ip -n "$ns-b" link set p1 down
refused "an interface that is down" 3 'p1: is down' --set-offloads "$a" "$b"
ip -n "$ns-b" link set p1 up
ip -n "$ns-b" link add mv0 link p2 type macvlan mode bridge && ip -n "$ns-b" link set mv0 up
refused "macvlan" 3 'mv0: its driver runs no XDP programs' --set-offloads "mv0@ns:$ns-b" "$b"
refused "what macvlans stand on" 3 'p2: an interface on top of it' --set-offloads "p2@ns:$ns-b" "$b"
ip -n "$ns-b" link del mv0
ip -n "$ns-b" link add br0 type bridge && ip -n "$ns-b" link set p0 master br0
refused "a bridge's port and another interface" 3 'p0: is a port of bridge br0' --set-offloads "$a" "$b"
ip -n "$ns-b" link set p1 master br0 && ip -n "$ns-b" link set p2 master br0
refused "two ports of a bridge of three" 3 'bridge br0 has 3 ports.*accel start' --set-offloads "$a" "$b"
ip -n "$ns-b" link del br0
"$HOPCAP" reflect "$b" >"$TMP/reflect" 2>&1 &
reflect=$!
wait_until 10 test -s "$TMP/reflect"
timeout 10 "$HOPCAP" accel forward --set-offloads "$a" "$b" >"$TMP/out" 2>"$TMP/error"
check_equal "refused: an XDP program of somebody else: status" 3 $?
check "refused: an XDP program of somebody else: stays" grep -q 'p1: an XDP program of somebody else' "$TMP/error"
kill -INT "$reflect" && wait "$reflect"
check_equal "refusals undo offloads" on "$(checksum_offload 0)"

# --- it works ---
here "start" start --set-offloads
check "TCP, one stream, every byte" transfer 0 1 1 "$MEBIBYTES"
check "TCP, four streams, every byte" transfer 1 0 4 $((MEBIBYTES / 4))
printf '# of %s MiB: %s\n' "$MEBIBYTES" "$(cat "$TMP/again")"
for streams in 1 4; do
	here "iperf3, $streams streams" iperf 0 1 "$streams" 1
done
check "ping as fast as answers come, every byte" flood 0 1 10000 56

tag=020000000001$(mac 0 | tr -d :)8100a00788b5abcdef
in_ns h1 python3 "$ROOT/tests/lib/raw_frames.py" hear e1 "$tag" 10 >"$TMP/heard" 2>&1 &
hearer=$!
wait_until 10 grep -q ready "$TMP/heard"
in_ns h0 python3 "$ROOT/tests/lib/raw_frames.py" send e0 "$tag$(printf '00%.0s' {1..60})" 3
wait "$hearer"
check_equal "a VLAN tag arrives as it was" 0 $?

# A station that was heard on the same side: its frames stay there. Frames for the interface itself go to the stack.
other=020000000077 own=$(ip -n "$ns-b" -j link show p0 | jq -r '.[0].address' | tr -d :)
rest=88b5$(printf '00%.0s' {1..60})
in_ns h0 python3 "$ROOT/tests/lib/raw_frames.py" send e0 "ffffffffffff$other$rest" 1
in_ns h0 python3 "$ROOT/tests/lib/raw_frames.py" send e0 "$other$(mac 0 | tr -d :)$rest" 50
in_ns h0 python3 "$ROOT/tests/lib/raw_frames.py" send e0 "$own$(mac 0 | tr -d :)$rest" 20
in_ns h0 python3 "$ROOT/tests/lib/raw_frames.py" send e0 "0180c2000003$(mac 0 | tr -d :)$rest" 10
here "SIGINT ends it" stop INT
check_equal "frames for their own side stay there" 50 "$(result 0 local)"
check_equal "frames for the interface itself go to the stack" 20 "$(result 0 to_stack)"
check_equal "link-local frames stay" 10 "$(result 0 control)"
check "everything is accounted for" jq -e '[.interfaces[] | .received == .forwarded + .local + .control + .too_long + .no_room] | all' "$TMP/result.json"
check "by copy here" jq -e '.mode | startswith("AF_XDP copy, 1 pair of queues")' "$TMP/result.json"
check_equal "nothing is attached" 0 "$(attached)"
check_equal "offloads are as they were" on "$(checksum_offload 1)"
check_equal "no file is left" "" "$(find /run/hopcap -name "*$ns*" 2>/dev/null)"

# --- one right after the other: the kernel lets go of a queue some time after its socket was closed ---
again_and_again() {
	for _ in {1..20}; do
		start --set-offloads || return 1
		stop TERM || return 1
	done
}
here "twenty times in a row" again_and_again

# --- its ends ---
ip -n "$ns-b" link set p1 mtu 1000
here "start, busy polling" start --set-offloads --busy-poll
in_ns h0 python3 "$ROOT/tests/lib/raw_frames.py" send e0 "$(mac 1 | tr -d :)$(mac 0 | tr -d :)88b5$(printf '00%.0s' {1..1300})" 5
ip -n "$ns-b" link set p1 mtu 1500
check "a changed MTU is heard of" wait_until 10 flood 0 1 10 1400
check "TCP with busy polling" transfer 0 1 1 4
here "SIGTERM ends it" stop TERM
check "frames longer than the other side's MTU stayed" jq -e '.interfaces[0].too_long >= 5' "$TMP/result.json"
check "start in a bridge of two ports" bash -c 'ip -n "$1" link add br0 up type bridge && ip -n "$1" link set p0 master br0 && ip -n "$1" link set p1 master br0' - "$ns-b"
here "start again" start --set-offloads
check "TCP past the bridge" transfer 0 1 1 4
kill -9 "$forwarder"
wait "$forwarder" 2>/dev/null
gone() { [[ $(attached) == 0 ]]; }
check "killed: its programs are gone within a second" wait_until 1 gone
check "killed: TCP through the bridge" transfer 0 1 1 4
check "killed: cleanup" "$HOPCAP" cleanup
check_equal "killed: cleanup undid offloads" on "$(checksum_offload 0)"
ip -n "$ns-b" link del br0
here "start once more" start --set-offloads
ip -n "$ns-b" link del p1
wait "$forwarder"
check_equal "an interface is deleted: it ends by itself" 3 $?
forwarder=
check "and says so" grep -qE 'p1: (the interface is gone|AF_XDP stopped)' "$TMP/error"
check_equal "and leaves nothing attached" 0 "$(attached)"
check_equal "and undoes offloads" on "$(checksum_offload 0)"
