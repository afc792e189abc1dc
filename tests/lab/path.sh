#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hopcap path on live networks: the points in the right order, what decides at each hop, what is said where a path is cut; and
# that what it prints is what run takes.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
require_root
require_command jq ip bridge perl unshare nsenter

tag=path$$

# netns NAME…: namespaces of this test.
netns() {
	local name
	for name; do
		ip netns add "$tag$name" || exit 1
		defer ip netns del "$tag$name"
		ip netns exec "$tag$name" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
	done
}

# pair A@NS B@NS: a veth pair, up.
pair() {
	ip -n "$tag${1#*@}" link add "${1%@*}" type veth peer name "${2%@*}" netns "$tag${2#*@}" || exit 1
	ip -n "$tag${1#*@}" link set "${1%@*}" up
	ip -n "$tag${2#*@}" link set "${2%@*}" up
}

# switch NAME@NS PORT…: a bridge that forwards at once.
switch() {
	local ns=$tag${1#*@} name=${1%@*} port
	shift
	ip -n "$ns" link add "$name" type bridge forward_delay 0 mcast_snooping 0 || exit 1
	ip -n "$ns" link set "$name" up
	for port; do
		ip -n "$ns" link set "$port" master "$name" || exit 1
	done
}

# shellcheck disable=SC2317 # called through wait_until
forwards() { # NS PORT…
	local ns=$tag$1 port
	shift
	for port; do
		[[ $(ip -n "$ns" -d link show "$port") == *"state forwarding"* ]] || return 1
	done
}

mac_of() { # NAME@NS
	ip -n "$tag${1#*@}" -j link show "${1%@*}" | jq -r '.[0].address'
}

# points POINT…: NAME@NS[:in|:out] as hopcap writes it.
points() {
	local point line=
	for point; do
		line+=" ${point%%@*}@ns:$tag${point#*@}"
	done
	echo "${line# }"
}

# finds NAME STATUS SOURCE SINK POINT…: the points in this order and that exit status; what was said stays in $TMP/said.
finds() {
	local name=$1 status=$2 from to got
	from=$(points "$3") to=$(points "$4")
	shift 4
	got="$("$HOPCAP" path "$from" "$to" 2>"$TMP/said") $?"
	if [[ $got == "$(points "$@") $status" ]]; then
		ok "$name"
	else
		not_ok "$name" "wanted: $(points "$@") $status"$'\n'"got:    $got"$'\n'"$(<"$TMP/said")"
	fi
}

says() { # NAME PATTERN
	check "$1" grep -qE -- "$2" <(tr -s '\n ' ' ' <"$TMP/said")
}

# --- a chain over three namespaces; a bridge in the middle one ---
netns a b c d e
pair a0@a b0@b
pair b1@b c0@c
switch br0@b b0 b1
wait_until 10 forwards b b0 b1 || exit 1
finds "one wire" 0 a0@a b0@b a0@a b0@b
finds "a chain over three namespaces" 0 a0@a c0@c a0@a b0@b b1@b c0@c
says "the bridge is named" "bridge br0"
finds "a bridge's own device as sink" 0 a0@a br0@b a0@a b0@b br0@b
finds "a bridge's own device as source" 0 br0@b c0@c br0@b b1@b:out c0@c

# --- run takes what path prints ---
mapfile -t printed < <("$HOPCAP" path --quiet "a0@ns:${tag}a" "c0@ns:${tag}c")
check_equal "one line for run" 1 "${#printed[@]}"
# shellcheck disable=SC2046 # one argument a point
check "hopcap run \$(hopcap path A B)" "$HOPCAP" run --quick --rate 20k --json "$TMP/run.json" \
	$("$HOPCAP" path --quiet "a0@ns:${tag}a" "c0@ns:${tag}c")
check_equal "and measures those hops" "wire a0-b0,bridge br0,wire b1-c0" "$(json "$TMP/run.json" '[.path.hops[].name] | join(",")')"
check "the doctor looks when the bridge knows both ends" jq -e 'all(.findings[]; .id != "bridge-fdb-miss")' "$TMP/run.json"

# A namespace without a name is that of a process, for path and run alike.
unshare --net sleep 300 &
holder=$!
defer kill "$holder"
# shellcheck disable=SC2317 # called through wait_until
is_apart() {
	[[ $(readlink "/proc/$holder/ns/net") != "$(readlink /proc/self/ns/net)" ]]
}
wait_until 10 is_apart || exit 1
ip -n "${tag}a" link add n0 type veth peer name n1 netns "$holder"
ip -n "${tag}a" link set n0 up
nsenter --net="/proc/$holder/ns/net" ip link set n1 up
# The lowest process in it names it; here there is one.
check_equal "a namespace without a name" "n0@ns:${tag}a n1@ns:pid:$holder" \
	"$("$HOPCAP" path --quiet "n0@ns:${tag}a" "n1@ns:pid:$holder")"
# shellcheck disable=SC2046 # one argument a point
check "hopcap run through it" "$HOPCAP" run --quick --rate 20k --json "$TMP/run.json" \
	$("$HOPCAP" path --quiet "n1@ns:pid:$holder" "n0@ns:${tag}a")
check_equal "and that hop" "wire n1-n0" "$(json "$TMP/run.json" '[.path.hops[].name] | join(",")')"
check_equal "what a process is not, is no namespace" 3 "$("$HOPCAP" run n0@ns:pid:4194305 n1 >"$TMP/text" 2>&1; echo $?)"
ip -n "${tag}a" link del n0

# --- four ports: the FDB decides ---
pair d0@d b2@b
pair e0@e b3@b
ip -n "${tag}b" link set b2 master br0
ip -n "${tag}b" link set b3 master br0
wait_until 10 forwards b b2 b3 || exit 1
finds "an unknown address is flooded" 0 a0@a d0@d a0@a b0@b b2@b d0@d
says "and that is said" "not in its FDB: flooded to 3 ports"
bridge -n "${tag}b" fdb add "$(mac_of d0@d)" dev b2 master static
finds "a known address" 0 a0@a d0@d a0@a b0@b b2@b d0@d
says "is known at its port" "its FDB knows $(mac_of d0@d) at b2"
bridge -n "${tag}b" fdb replace "$(mac_of d0@d)" dev b3 master static
finds "an address at another port cuts the path" 1 a0@a d0@d a0@a b0@b b2@b d0@d
says "and the port is named" "CUT: bridge br0: the FDB says that the sink's address is behind b3@ns:${tag}b, not here"
bridge -n "${tag}b" fdb del "$(mac_of d0@d)" dev b3 master

# --- a bridge behind a bridge ---
netns f
pair b4@b f0@f
pair f1@f c1@c
ip -n "${tag}b" link set b4 master br0
switch br1@f f0 f1
wait_until 10 forwards f f0 f1 || exit 1
wait_until 10 forwards b b4 || exit 1
finds "a bridge behind a bridge" 0 a0@a c1@c a0@a b0@b b4@b f0@f f1@f c1@c

# --- cuts ---
ip -n "${tag}f" link set f0 nomaster
finds "a port that was taken out" 1 a0@a c1@c a0@a b0@b c1@c
says "none of the ways leads there" "CUT: .*none of the 4 ways on from br0 leads to the sink"
ip -n "${tag}f" link set f0 master br1
wait_until 10 forwards f f0 || exit 1
ip -n "${tag}f" link set f1 down
finds "a link that is down" 1 a0@a c1@c a0@a b0@b b4@b f0@f f1@f c1@c
says "it is named, with what to do" "f1@ns:${tag}f is down; ip -n ${tag}f link set f1 up"
ip -n "${tag}f" link set f1 up
wait_until 10 forwards f f1 || exit 1

# --- a loop: told, and no hang ---
pair b5@b f2@f
ip -n "${tag}b" link set b5 down
ip -n "${tag}b" link set b5 master br0
ip -n "${tag}f" link set f2 master br1
finds "no loop while one of its wires is down" 0 a0@a c1@c a0@a b0@b b4@b f0@f f1@f c1@c
ip -n "${tag}b" link set b5 up
wait_until 10 forwards b b5 || exit 1
wait_until 10 forwards f f2 || exit 1
finds "a loop of bridges" 1 a0@a c1@c a0@a b0@b b4@b f0@f f1@f c1@c
says "both are named" "bridges br0@ns:${tag}b and br1@ns:${tag}f are joined in a loop"
says "ways as good are counted" "2 ways are equally good"
ip -n "${tag}b" link set br0 type bridge stp_state 1
ip -n "${tag}f" link set br1 type bridge stp_state 1
# shellcheck disable=SC2317 # called through wait_until
blocks_one() {
	[[ $(ip -n "${tag}b" -d link show; ip -n "${tag}f" -d link show) == *"state blocking"* ]] &&
		forwards b b0 && forwards f f1
}
wait_until 30 blocks_one || exit 1
check "STP blocks one of the wires, and there is no loop" "$HOPCAP" path "a0@ns:${tag}a" "c1@ns:${tag}c"
ip -n "${tag}b" link set br0 type bridge stp_state 0
ip -n "${tag}b" link del b5
wait_until 10 forwards b b0 b1 || exit 1

# --- a tap that a process holds ---
hold='open(F, "+<", "/dev/net/tun") or die; my $r = pack("a16Sx22", "tap0", 0x1002); ioctl(F, 0x400454ca, $r) or die; $| = 1; print "held\n"; sleep 600'
ip netns exec "${tag}b" perl -e "$hold" >"$TMP/holder" &
holder=$!
defer kill "$holder"
wait_until 10 grep -q held "$TMP/holder" || exit 1
ip -n "${tag}b" link set tap0 up master br0
wait_until 10 forwards b tap0 || exit 1
finds "to a tap" 0 a0@a tap0@b a0@a b0@b tap0@b:out
says "and its holder" "process perl $holder: holds tap0"
finds "from a tap: its frames come in" 1 tap0@b c0@c tap0@b:in b1@b c0@c
kill "$holder"
wait "$holder" 2>/dev/null

# --- macvlan ---
netns g h
pair up0@g far0@h
for i in 1 2; do
	ip -n "${tag}g" link add mv$i link up0 type macvlan mode bridge || exit 1
done
ip -n "${tag}g" link set mv2 netns "${tag}h"
ip -n "${tag}g" link set mv1 up
ip -n "${tag}h" link set mv2 up
finds "macvlan to its sibling in another namespace" 0 mv1@g mv2@h mv1@g mv2@h
finds "macvlan to what is behind its device" 0 mv1@g far0@h mv1@g up0@g:out far0@h
finds "and back" 0 far0@h mv2@h far0@h up0@g mv2@h

# --- vxlan over veth ---
netns i j
pair u0@i w0@j
ip -n "${tag}i" addr add 10.77.0.1/24 dev u0
ip -n "${tag}j" addr add 10.77.0.2/24 dev w0
ip -n "${tag}i" link add vx0 type vxlan id 42 remote 10.77.0.2 dev u0 dstport 4789 || exit 1
ip -n "${tag}j" link add vx0 type vxlan id 42 remote 10.77.0.1 dev w0 dstport 4789 || exit 1
ip -n "${tag}i" link set vx0 up
ip -n "${tag}j" link set vx0 up
finds "vxlan: run gets its two ends" 0 vx0@i vx0@j vx0@i vx0@j
says "the underlay is shown" "u0@ns:${tag}i .*wire u0-w0 in w0@ns:${tag}j"
check_equal "all points in JSON" "vx0 u0 w0 vx0" \
	"$("$HOPCAP" path --json "vx0@ns:${tag}i" "vx0@ns:${tag}j" | jq -r '[.points[].text | split("@")[0]] | join(" ")')"
ip -n "${tag}j" link set w0 down
finds "a cut underlay" 1 vx0@i vx0@j vx0@i vx0@j
says "is told" "w0@ns:${tag}j is down"

# --- routed ---
netns k l
pair k0@k r0@l
netns m
pair m0@m r1@l
ip -n "${tag}k" addr add 10.78.1.2/24 dev k0
ip -n "${tag}l" addr add 10.78.1.1/24 dev r0
ip -n "${tag}l" addr add 10.78.2.1/24 dev r1
ip -n "${tag}m" addr add 10.78.2.2/24 dev m0
finds "no route" 1 k0@k m0@m k0@k r0@l m0@m
says "is said" "no route to 10.78.2.2 in namespace ${tag}k"
ip -n "${tag}k" route add default via 10.78.1.1
ip netns exec "${tag}l" sysctl -qw net.ipv4.ip_forward=1
finds "a router between" 1 k0@k m0@m k0@k r0@l r1@l m0@m
says "is said" "router ${tag}l: routed: to 10.78.2.2 by r1"

# --- the tree, saved facts, refusals ---
"$HOPCAP" path --tree >"$TMP/tree"
check "the tree shows ports below their bridge" grep -A 3 -E '^  br0 +bridge +[0-9]+ ports' "$TMP/tree"
check "and peers by name" grep -qE "^    b0 +veth +peer a0@ns:${tag}a" "$TMP/tree"
"$HOPCAP" facts --json >"$TMP/facts.json"
check_equal "saved facts give the same path" "$("$HOPCAP" path -q "a0@ns:${tag}a" "c0@ns:${tag}c")" \
	"$("$HOPCAP" path -q --facts "$TMP/facts.json" "a0@ns:${tag}a" "c0@ns:${tag}c")"
"$HOPCAP" path "a0@ns:${tag}a" "nosuch0@ns:${tag}c" 2>"$TMP/said"
check_equal "no such interface: exit status" 3 $?
says "and its name" "nosuch0@ns:${tag}c: no such interface in namespace ${tag}c"
"$HOPCAP" path "a0@ns:${tag}a" 2>"$TMP/said"
check_equal "one point: exit status" 2 $?
