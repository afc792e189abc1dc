#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hopcap accel: refusals, TCP through the fast path, entries that stay alive, order, and everything that can go away under it.
# CYCLES: starts and stops under traffic (default 30); MEBIBYTES: of each checked TCP transfer (default 32).
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/two_hosts.sh
. "$(dirname "$0")/../lib/two_hosts.sh"
require_root
require_command jq ip ethtool bridge bpftool python3 iperf3

CYCLES=${CYCLES:-30} MEBIBYTES=${MEBIBYTES:-32}
ns=hopcap-acc-$$
bridge=br0@ns:$ns-b

# A bridge with ports p0, p1, p2; behind each a host in a namespace of its own.
build() {
	build_hosts 3 br0
}

raze() {
	"$HOPCAP" accel stop "$bridge" >/dev/null 2>&1
	raze_hosts
}
defer raze

# What of ours is loaded: programs and maps by name.
loaded() {
	bpftool prog show 2>/dev/null | grep -cE 'name bridge_(xdp|poll_end)'
	bpftool map show 2>/dev/null | grep -cE 'name bridge_(stations|ports|targets|lanes|cpus|control)'
}

status() {
	"$HOPCAP" accel status --json "$bridge" >"$TMP/status.json" 2>"$TMP/status.error" && jq -e "$1" "$TMP/status.json"
}

# refused NAME PATTERN OPTION…: start must fail with status 3 and one line that says this.
refused() {
	local name=$1 pattern=$2 code
	shift 2
	"$HOPCAP" accel start "$bridge" "$@" >"$TMP/out" 2>"$TMP/error"
	code=$?
	if ((code == 3)) && grep -qE "$pattern" "$TMP/error" && (($(wc -l <"$TMP/error") == 1)) && [[ $(attached) == 0 ]]; then
		ok "refused: $name"
	else
		not_ok "refused: $name" "status $code: $(cat "$TMP/error" "$TMP/out")"
		"$HOPCAP" accel stop "$bridge" >/dev/null 2>&1
	fi
}

check "the bridge is built" build

# --- refusals ---
refused "checksums left to the device" 'p[0-2]: its other end leaves checksums.*--set-offloads'
refused "a port that is none" "there is no interface 'nope'" --set-offloads --ports p0,nope
in_ns b sh -c 'echo 1 >/proc/sys/net/bridge/bridge-nf-call-iptables' 2>/dev/null &&
	refused "bridged frames go through iptables" 'br0: bridged frames go through iptables.*sysctl' --set-offloads
in_ns b sh -c 'echo 0 >/proc/sys/net/bridge/bridge-nf-call-iptables' 2>/dev/null
if ip -n "$ns-b" link set br0 type bridge vlan_filtering 1 2>/dev/null; then
	refused "VLAN filtering" 'br0: the bridge filters by VLAN' --set-offloads
	ip -n "$ns-b" link set br0 type bridge vlan_filtering 0
fi
ip -n "$ns-b" link add mv0 link br0 type macvlan mode bridge && ip -n "$ns-b" link set mv0 up
refused "a macvlan on the bridge" 'br0: somebody wants to see all frames' --set-offloads
ip -n "$ns-b" link del mv0
ip -n "$ns-b" link set br0 type bridge ageing_time 200
refused "stations are forgotten at once" 'br0: the bridge forgets stations' --set-offloads
ip -n "$ns-b" link set br0 type bridge ageing_time 30000
in_ns b tc qdisc add dev p1 clsact
in_ns b tc filter add dev p1 egress protocol all prio 1 u32 match u32 0 0
refused "tc filters at a port that is named" 'p1: tc filters' --set-offloads --ports p0,p1
in_ns b tc qdisc del dev p1 clsact
in_ns b tc qdisc add dev p1 root tbf rate 1gbit burst 100k limit 1m
refused "a shaper at a port that is named" 'p1: its queueing discipline' --set-offloads --ports p0,p1
in_ns b tc qdisc del dev p1 root
"$HOPCAP" reflect "p1@ns:$ns-b" >"$TMP/reflect" 2>&1 &
reflect=$!
wait_until 10 test -s "$TMP/reflect"
"$HOPCAP" accel start "$bridge" --set-offloads --ports p0,p1 >"$TMP/out" 2>"$TMP/error"
check_equal "refused: an XDP program of somebody else: status" 3 $?
check "refused: an XDP program of somebody else: stays" grep -q 'p1: an XDP program of somebody else' "$TMP/error"
kill -INT "$reflect" && wait "$reflect"
check_equal "refusals leave no file" "" "$(find /run/hopcap -name "*$ns*")"
check_equal "refusals undo offloads" on "$(in_ns h0 ethtool -k e0 | awk '/^tx-checksumming/ { print $2 }')"
"$HOPCAP" accel start "e0@ns:$ns-h0" >"$TMP/out" 2>&1
check_equal "no bridge: status" 2 $?

# --- it works ---
check "start" "$HOPCAP" accel start "$bridge" --set-offloads
"$HOPCAP" accel start "$bridge" >"$TMP/out" 2>&1
check_equal "a second start: status" 3 $?
check "all ports in both roles" status '.[0] | .bridge_refused == null and ([.ports[] | .source_refused == null and .target_refused == null] | all) and (.ports | length) == 3'
check "TCP, one stream, every byte" transfer 0 1 1 "$MEBIBYTES"
check "TCP, four streams, every byte" transfer 1 2 4 $((MEBIBYTES / 4))
printf '# of %s MiB: %s\n' "$MEBIBYTES" "$(cat "$TMP/again")"
for streams in 1 4; do
	check "iperf3, $streams streams" iperf 0 1 "$streams" 2
	grep iperf3 "$TMP/iperf.text"
done
check "ping as fast as answers come, every byte" flood 0 1 20000 56
check "ping, large frames" flood 2 1 5000 1400
check "nearly all of it past the bridge" status '.[0] | ([.ports[].frames] | add) > 20 * ([.ports[].to_bridge] | add)'
check "status for people" bash -c '"$1" accel status | grep -q "fast path, process"' - "$HOPCAP"
ip -n "$ns-b" link set p1 mtu 1400
check "a changed MTU is heard of" wait_until 5 status '.[0].ports[] | select(.name == "p1") | .mtu == 1400'
ip -n "$ns-b" link set p1 mtu 1500
in_ns b tc qdisc add dev p2 clsact
in_ns b tc filter add dev p2 ingress protocol all prio 1 u32 match u32 0 0
check "a tc filter that comes later is heard of" wait_until 5 status '.[0].ports[] | select(.name == "p2") | .source_refused.id == "ingress_tc"'
check "TCP beside it" transfer 0 2 1 4
in_ns b tc filter del dev p2 ingress
check "and that it went, though not the empty qdisc" wait_until 5 status '.[0].ports[] | select(.name == "p2") | .source_refused == null'
in_ns b tc qdisc del dev p2 clsact
check "stop" "$HOPCAP" accel stop "$bridge"
check_equal "stop detaches" 0 "$(attached)"
check_equal "stop undoes offloads" on "$(in_ns h1 ethtool -k e1 | awk '/^tx-checksumming/ { print $2 }')"
check_equal "stop undoes GRO" off "$(in_ns h1 ethtool -k e1 | awk '/^generic-receive-offload/ { print $2 }')"
check "TCP through the bridge again" transfer 0 1 1 4

# --- a guest behind a tap ---
# guest VNET_HDR: a tap in the bridge, held by a process that answers; h0 exchanges 200 frames with it. Its words go to $TMP/guest.
guest() {
	local other=020000000099 near body
	near=$(mac 0 | tr -d :)
	body=88b5$(printf '%02x' {0..99})
	rm -f "$TMP/hold"
	mkfifo "$TMP/hold"
	# shellcheck disable=SC2086 # nothing, or one word
	in_ns b python3 "$ROOT/tests/lib/tap_hold.py" tap0 "$other" "$near" $1 <"$TMP/hold" >"$TMP/guest" 2>&1 &
	local holder=$!
	exec 9>"$TMP/hold"
	wait_until 10 grep -q ready "$TMP/guest" || return 1
	ip -n "$ns-b" link set tap0 master br0 up
	wait_until 10 sh -c "bridge -n $ns-b fdb show br br0 | grep -q '02:00:00:00:00:99 dev tap0'" || return 1
	wait_until 10 status '.[0].ports[] | select(.name == "tap0") | .target_refused == null' || return 1
	in_ns h0 python3 "$ROOT/tests/lib/raw_frames.py" hear e0 "$near$other$body" 10 >"$TMP/heard" 2>&1 &
	local hearer=$! code
	wait_until 10 grep -q ready "$TMP/heard"
	in_ns h0 python3 "$ROOT/tests/lib/raw_frames.py" send e0 "$other$near$body" 200
	wait "$hearer"
	code=$?
	wait_until 5 status '.[0].ports[] | select(.name == "p0") | .frames >= 190'
	cp "$TMP/status.json" "$TMP/tap.json"
	exec 9>&-
	wait "$holder"
	return "$code"
}
for header in "" vnet_hdr; do
	"$HOPCAP" accel start "$bridge" --set-offloads >"$TMP/out" 2>&1
	check "a tap as target: frames and answers${header:+, with virtio header}" guest "$header"
	check_equal "a tap as target: every byte${header:+, with virtio header}" "got 200 wrong 0" "$(tail -n 1 "$TMP/guest")"
	check "a tap as target: past the bridge${header:+, with virtio header}" jq -e '.[0].ports[] | select(.name == "p0") | .frames >= 190' "$TMP/tap.json"
	if [[ $header ]]; then
		check "a guest that may leave checksums to the host is no source" jq -e '.[0].ports[] | select(.name == "tap0") | .source_refused.id == "tap_header"' "$TMP/tap.json"
	else
		check "a tap without virtio header is a source" jq -e '.[0].ports[] | select(.name == "tap0") | .source_refused == null and .frames >= 100' "$TMP/tap.json"
	fi
	"$HOPCAP" accel stop "$bridge" >"$TMP/out" 2>&1
done

# --- entries that are used stay alive; a flow is in order while its way changes ---
learn() { # both ends of the flow 1 -> 2
	"$HOPCAP" send --port packet --frames 2 --rate 1000 --to-mac "$(mac 1)" "e2@ns:$ns-h2" >/dev/null 2>&1
	"$HOPCAP" send --port packet --frames 2 --rate 1000 --to-mac "$(mac 2)" "e1@ns:$ns-h1" >/dev/null 2>&1
}
entry() {
	bridge -n "$ns-b" -j fdb show br br0 | jq -e --arg mac "$(mac "$1")" --arg port "p$1" '[.[] | select(.mac == $mac and .ifname == $port)] | length == 1'
}
# As fast as frames go, so that polls are full: only then is there something to be put out of order.
# Moves the sender's and the receiver's entries out of the table and in again, as fast as commands go.
churn() {
	local one two
	one=$(mac 1) two=$(mac 2)
	while :; do
		bridge -n "$ns-b" fdb del "$two" dev p2 master
		bridge -n "$ns-b" fdb replace "$two" dev p2 master dynamic
		bridge -n "$ns-b" fdb del "$one" dev p1 master
	done
}
ip -n "$ns-b" link set br0 type bridge ageing_time 400
"$HOPCAP" accel start "$bridge" --set-offloads >"$TMP/out" 2>&1
learn
refreshed() { status '.[0].table.refreshes >= 3'; }
"$HOPCAP" send --json-lines --port live --rate 20000 --seconds 30 --to-mac "$(mac 2)" "e1@ns:$ns-h1" "e2@ns:$ns-h2" >"$TMP/alive.lines" 2>&1 &
sender=$!
check "entries in use are refreshed" wait_until 20 refreshed
check "the sender's entry outlives the ageing time" entry 1
kill -INT "$sender" && wait "$sender"
ip -n "$ns-b" link set br0 type bridge ageing_time 30000
learn
churn >/dev/null 2>&1 &
churner=$!
"$HOPCAP" send --json-lines --port live --seconds 3 --to-mac "$(mac 2)" "e1@ns:$ns-h1" "e2@ns:$ns-h2" >"$TMP/order.lines" 2>&1
kill "$churner" && wait "$churner" 2>/dev/null
tail -n 1 "$TMP/order.lines" >"$TMP/order.json"
check "a flow whose way changes all the time is in order, none doubled" jq -e '.streams[0] | .frames > 3000 and .reordered == 0 and .duplicates == 0' "$TMP/order.json"
check "and took both ways" status '.[0].ports[] | select(.name == "p1") | .frames > 500 and .reasons.unknown + .reasons.source_unknown > 100'

# --- everything that can go away ---
pid=$(jq -r '.[0].pid' "$TMP/status.json")
transfer 0 1 2 "$MEBIBYTES" &
moving=$!
wait_until 30 test -s "$TMP/served"
kill -9 "$pid"
gone() { [[ $(attached) == 0 ]]; }
check "killed: its programs are gone within a second" wait_until 1 gone
wait "$moving"
check_equal "killed: TCP goes on, every byte" 0 $?
check "killed: cleanup" "$HOPCAP" cleanup
check_equal "killed: cleanup undid offloads" on "$(in_ns h0 ethtool -k e0 | awk '/^tx-checksumming/ { print $2 }')"
check_equal "killed: cleanup left no file" "" "$(find /run/hopcap -name "*$ns*")"

before=$(loaded)
traffic() { # until there has been enough
	while [[ ! -e $TMP/enough ]]; do
		transfer 0 1 2 "$MEBIBYTES" || return 1
	done
}
traffic &
moving=$!
wait_until 30 test -s "$TMP/served"
failures=0
for ((i = 0; i < CYCLES; i++)); do
	if ! { "$HOPCAP" accel start "$bridge" --set-offloads && "$HOPCAP" accel stop "$bridge"; } >"$TMP/out" 2>&1; then
		((failures++))
	fi
done
touch "$TMP/enough"
check_equal "$CYCLES starts and stops under traffic: none failed" 0 "$failures"
wait "$moving"
check_equal "$CYCLES starts and stops: TCP goes on, every byte" 0 $?
same() { [[ $(loaded) == "$before" ]]; }
check "$CYCLES starts and stops: no program, no map is left" wait_until 5 same

"$HOPCAP" accel start "$bridge" --set-offloads >"$TMP/out" 2>&1
ip -n "$ns-b" link set p2 netns "$ns-h0"
check "a port that moves to another namespace leaves" wait_until 5 status '.[0].ports | length == 2'
check_equal "and runs no program of ours" 0 "$(ip -n "$ns-h0" -j link show p2 | jq '[.[] | select(.xdp != null)] | length')"
check "the others go on" transfer 0 1 1 4
ended() { ! "$HOPCAP" accel status "$bridge"; }
ip -n "$ns-b" link del br0
check "the bridge is deleted: it ends by itself" wait_until 5 ended
check_equal "the bridge is deleted: nothing is attached" 0 "$(attached)"
check_equal "the bridge is deleted: offloads are as they were" on "$(in_ns h0 ethtool -k e0 | awk '/^tx-checksumming/ { print $2 }')"

raze
check "the bridge is built again" build
"$HOPCAP" accel start "$bridge" --set-offloads >"$TMP/out" 2>&1
ip netns del "$ns-b"
check "its namespace is deleted: it ends by itself" wait_until 5 ended
check "and leaves no program" wait_until 5 same
check_equal "and no file" "" "$(find /run/hopcap -name "*$ns*")"
