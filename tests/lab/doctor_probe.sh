#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hopcap doctor --probe: frames of many sizes through paths with and without a hop that stops the large ones, seen or not seen by MTUs; what
# it refuses, how long it takes, and that nothing stays.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
require_root
require_command jq ip tc setpriv

tag=probe-$$
a=$tag-a b=$tag-b c=$tag-c d=$tag-d
for ns in $a $b $c $d; do
	ip netns add "$ns" || exit 1
	defer ip netns del "$ns"
	ip netns exec "$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
done
ip -n $a link add a0 mtu 9000 type veth peer name b0 mtu 9000 netns $b
ip -n $b link add b1 mtu 9000 type veth peer name c0 mtu 9000 netns $c
ip -n $b link add br0 type bridge forward_delay 0 mcast_snooping 0
for port in b0 b1; do
	ip -n $b link set $port master br0
done
for end in $a:a0 $b:b0 $b:b1 $b:br0 $c:c0; do
	ip -n "${end%:*}" link set "${end#*:}" up
done
# shellcheck disable=SC2317 # called through wait_until
forwards() {
	[[ $(ip -n $b -d link show b0) == *"state forwarding"* && $(ip -n $b -d link show b1) == *"state forwarding"* ]]
}
wait_until 10 forwards || exit 1
path=(--path "a0@ns:$a" "c0@ns:$c")

for file in iptables ip6tables arptables; do # br_netfilter stops frames four bytes earlier
	[[ ! -e /proc/sys/net/bridge/bridge-nf-call-$file ]] || ip netns exec "$b" sysctl -qw net.bridge.bridge-nf-call-$file=0
done

# probe ARGUMENT…: findings into $TMP/findings.json, milliseconds into $took. Again where a starved machine let it send too little in its time.
probe() {
	local start attempt
	for attempt in {1..8}; do
		start=${EPOCHREALTIME/[.,]/}
		"$HOPCAP" doctor --json --probe "$@" >"$TMP/findings.json" 2>"$TMP/errors"
		status=$?
		took=$(((${EPOCHREALTIME/[.,]/} - start) / 1000))
		((status <= 1)) || cat "$TMP/errors"
		grep -q 'then the time was up' "$TMP/findings.json" || return
		echo "# attempt $attempt: the time was up after $took ms"
	done
}

# says ID SEVERITY EVIDENCE [FIX]: a finding, its texts as patterns.
says() {
	jq -e --arg id "$1" --arg severity "$2" --arg evidence "$3" --arg fix "${4:-.*}" \
		'any(.findings[]; .id == $id and .severity == $severity and (.evidence | test($evidence)) and (.fix | test($fix)))' \
		"$TMP/findings.json" >/dev/null || { cat "$TMP/errors"; jq -c '.findings[] | select(.severity != "info") | [.id, .severity, .interface, .evidence, .fix]' "$TMP/findings.json"; return 1; }
}

silent() { # ID…
	local id
	for id; do
		! jq -e --arg id "$id" 'any(.findings[]; .id == $id)' "$TMP/findings.json" >/dev/null || { jq -c '.findings[] | select(.severity != "info")' "$TMP/findings.json"; return 1; }
	done
}

first_is() {
	check_equal "$1" "$2" "$(json "$TMP/findings.json" '.findings[0].id')"
}

# Links of programs go with the process; what else a probe may need is on the undo stack, or visible as these.
nothing_left() {
	local ns
	for ns in $a $b $c; do
		! tc -n "$ns" qdisc show | grep clsact || return 1
		! ip -n "$ns" -j link show | jq -e 'any(.[]; has("xdp"))' || return 1
	done
	! grep -rl "$tag" /run/hopcap 2>/dev/null
}

# --- without a hole, and with one that MTUs show ---
probe "${path[@]}"
check "a path without a hole: no size is stopped" silent mtu-probed mtu-step probe-lost probe-not-made
ip -n $b link set b1 mtu 4000
probe "${path[@]}"
check "a port with MTU 4000: to the byte" says mtu-probed fail 'up to 4018 bytes come through, of 4019 bytes do not \(mtu 9000 before, 4000 behind\)' \
	"^ip netns exec $b ip link set dev b1 mtu 9000\$"
check "with what was counted at each point" says mtu-probed fail "of 4018 bytes 64 sent, 64, 64, 64; of 4019 bytes 128 sent, 128, 0, 0"
first_is "and it comes first" mtu-probed
check "one finding for one cause" silent mtu-step
check_equal "exit status" 1 "$status"
echo "# took $took ms"
check "within its time, but for a busy machine" test "$took" -le 10000
check "nothing stays" nothing_left
check_equal "text names the hop" 1 "$("$HOPCAP" doctor --probe "${path[@]}" 2>/dev/null | grep -c 'FAIL    mtu-probed: bridge br0, hop 2')"
check "--explain knows it" "$HOPCAP" doctor --explain mtu-probed

# --- points in the place of --path; the middle left out, so that no MTU shows ---
probe "a0@ns:$a" "c0@ns:$c"
check "points: a hop that cannot be looked into" says mtu-probed fail 'up to 4018 bytes come through, of 4019 bytes do not \(mtu 9000 before, 9000 behind\)' \
	"^ip netns exec $a ip link set dev a0 mtu 4004"
check "it is hidden no longer" silent mtu-hidden-hop
ip -n $b link set b1 mtu 9000
probe "a0@ns:$a" "b0@ns:$b" "b1@ns:$b" "c0@ns:$c"
check "points: no hole" silent mtu-probed mtu-hidden-hop probe-lost probe-not-made

# --- what no MTU shows: a token bucket that is smaller than a frame; two holes in a row ---
tc -n $b qdisc add dev b1 root tbf rate 10gbit burst 5000 limit 1m
probe "${path[@]}"
check "a bucket of 5000 bytes" says mtu-probed fail 'up to 5000 bytes come through, of 5001 bytes do not \(mtu 9000 before, 9000 behind\)'
ip -n $b link set b0 mtu 7000
probe "${path[@]}"
check "two holes: the first" says mtu-probed fail 'up to 7018 bytes come through, of 7019 bytes do not'
check "two holes: the second" says mtu-probed fail 'up to 5000 bytes come through, of 5001 bytes do not'
ip -n $b link set b0 mtu 9000
tc -n $b qdisc del dev b1 root

# --- beyond what both ends promise it is a note ---
ip -n $c link set c0 mtu 1500
probe "${path[@]}"
check "a sink with a smaller MTU" says mtu-probed info 'up to 1518 bytes come through'
check "is what the MTUs say" says mtu-step fail "mtu of c0@ns:$c is 1500"
ip -n $c link set c0 mtu 9000

# --- lost, whatever the size ---
ip -n $b link set b1 type bridge_slave isolated on
ip -n $b link set b0 type bridge_slave isolated on
probe "a0@ns:$a" "b0@ns:$b" "b1@ns:$b" "c0@ns:$c"
check "isolated ports pass no size" says probe-lost fail "no frame of any size comes through; .*of 64 bytes 64 sent, 64, 0, 0; sizes sent: 64 9014\$"
check "which is no matter of MTU" silent mtu-probed
for port in b0 b1; do
	ip -n $b link set $port type bridge_slave isolated off
done

# --- what cannot or may not be probed ---
ip -n $c link set c0 down
probe "${path[@]}"
check "a cut path: said, and the rest judged" says probe-not-made unknown 'the path is cut at hop 3'
check "on the standard error, too" grep -q '^not probed: ' "$TMP/errors"
check "and what cuts it is found" says path-cut fail .
probe "a0@ns:$a" "c0@ns:$c"
check "points that are down" says probe-not-made unknown 'c0@ns:.* is down'
ip -n $c link set c0 up
wait_until 10 forwards || exit 1
ip -n $a address add 192.0.2.1/24 dev a0
ip -n $a route add default via 192.0.2.9
probe "${path[@]}"
check "the default route's interface is left alone" says probe-not-made unknown 'nothing is generated there without --force-uplink'
probe --force-uplink "${path[@]}"
check "unless told to" silent probe-not-made mtu-probed
ip -n $a address del 192.0.2.1/24 dev a0
for arguments in "a0@ns:$a" "--facts x ${path[*]}" "--sysroot x ${path[*]}" "a0@ns:$a x0@ns:$c@y"; do
	# shellcheck disable=SC2086 # split on purpose
	"$HOPCAP" doctor --probe $arguments >"$TMP/out" 2>"$TMP/errors"
	check_equal "refused: --probe ${arguments//$tag/…}" "2 1" "$? $(wc -l <"$TMP/errors")"
done
cp "$HOPCAP" "$TMP/hopcap"
chmod 755 "$TMP" "$TMP/hopcap"
setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$TMP/hopcap" doctor --probe "${path[@]}" >"$TMP/out" 2>"$TMP/errors"
check_equal "unprivileged" "3 1" "$? $(grep -c 'needs root' "$TMP/errors")"

# --- Ctrl-C in the middle ---
# shellcheck disable=SC2317 # called through wait_until
is_probing() {
	[[ $(readlink "/proc/$child"/fd/*) == *bpf_link* ]] || ! kill -0 "$child"
}
ip -n $b link set b1 mtu 4000 # more to try
for _ in {1..8}; do # it may be over before the signal comes
	"$HOPCAP" doctor --probe "${path[@]}" >"$TMP/out" 2>"$TMP/errors" &
	child=$!
	wait_until 10 is_probing
	kill -INT "$child"
	wait "$child"
	interrupted="$? $(<"$TMP/errors")"
	[[ $interrupted != *interrupted ]] || break
done
check_equal "Ctrl-C" "1 hopcap doctor: interrupted" "$interrupted"
check "and nothing stays" nothing_left

# --- a path of more points than a run takes: thinned, and still within its time ---
mtu=9000
for n in {0..9}; do
	ip -n $d link add "l$n" mtu $mtu type veth peer name "r$n" mtu $mtu
	ip -n $d link set "l$n" up
	ip -n $d link set "r$n" up
	((n == 0)) && continue
	ip -n $d link add "sw$n" type bridge forward_delay 0 mcast_snooping 0
	ip -n $d link set "r$((n - 1))" master "sw$n"
	ip -n $d link set "l$n" master "sw$n"
	ip -n $d link set "sw$n" up
done
# shellcheck disable=SC2317 # called through wait_until
all_forward() {
	! ip -n $d -d link show | grep -qE 'state (listening|learning)'
}
wait_until 10 all_forward || exit 1
check_equal "a path of 20 points" 20 "$("$HOPCAP" path --quiet "l0@ns:$d" "r9@ns:$d" | wc -w)"
ip -n $d link set r5 mtu 2000
probe --path "l0@ns:$d" "r9@ns:$d"
check "20 points: the hole is found" says mtu-probed fail 'up to 2018 bytes come through, of 2019 bytes do not'
echo "# 20 points took $took ms"
check "within its time, but for a busy machine" test "$took" -le 10000
