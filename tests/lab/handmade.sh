#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Paths that users make by hand: veth pairs as `ip link add` makes them, without GRO, whose ends deliver live frames only while
# an XDP program of ours happens to be there; points left out; a path that is taken apart in mid-run.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
require_root
require_command jq ip

tag=hand$$
for ns in a b c; do
	ip netns add $tag$ns || exit 1
	defer ip netns del $tag$ns
	ip netns exec $tag$ns sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
done
ip -n ${tag}a link add a0 type veth peer name b0 netns ${tag}b
ip -n ${tag}b link add b1 type veth peer name c0 netns ${tag}c
ip -n ${tag}b link add br0 type bridge forward_delay 0 mcast_snooping 0
ip -n ${tag}b link set b0 master br0
ip -n ${tag}b link set b1 master br0
for end in a:a0 b:b0 b:b1 b:br0 c:c0; do
	ip -n "$tag${end%:*}" link set "${end#*:}" up
done
forwards() {
	[[ $(ip -n ${tag}b -d link show b0) == *"state forwarding"* && $(ip -n ${tag}b -d link show b1) == *"state forwarding"* ]]
}
wait_until 10 forwards || exit 1
path=("a0@ns:${tag}a" "b0@ns:${tag}b" "b1@ns:${tag}b" "c0@ns:${tag}c")

check "path without GRO" "$HOPCAP" run --quick --json "$TMP/bridge.json" "${path[@]}"
check "its losses add up" losses_add_up "$TMP/bridge.json"
check "live frames were not taken, with the reason" jq -e '.source.port != "live" and (.source.why | test("GRO"))' "$TMP/bridge.json"
check "hop 1, which holds source or sink, is not accused" jq -e '.verdict.hop != 1' "$TMP/bridge.json"
check "one hop" "$HOPCAP" run --quick --json "$TMP/wire.json" "${path[@]:0:2}"
check "a point left out: the sink takes in" "$HOPCAP" run --quick --json "$TMP/odd.json" "${path[0]}" "${path[1]}" "${path[3]}"
check "what lies between is opaque" jq -e '.path.hops[1].kind == "opaque" and .path.points[2].direction == "in"' "$TMP/odd.json"

# Taken apart once the search has begun: the run says so instead of calling it a rate.
received() {
	ip netns exec ${tag}c cat /sys/class/net/c0/statistics/rx_packets
}
before=$(received)
"$HOPCAP" run --json "$TMP/broken.json" "${path[@]}" >"$TMP/out" 2>"$TMP/error" &
run=$!
# shellcheck disable=SC2317 # called through wait_until
has_sent() {
	(($(received) > before + 200000))
}
wait_until 60 has_sent
ip -n ${tag}b link set b1 nomaster
wait "$run"
check_equal "a path taken apart in mid-run: exit status" 3 $?
check "and one line that says so" grep -q "stopped delivering" "$TMP/error"
