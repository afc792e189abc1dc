#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hopcap doctor on a path that is made wrong in one way after another: the condition is made true and the finding appears, it
# is undone and the finding goes. What this kernel cannot make is tested on facts (tests/unit/doctor_cases).
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
require_root
require_command jq ip tc ethtool bpftool setpriv nsenter

tag=doctor-$$
a=$tag-a b=$tag-b c=$tag-c
for ns in $a $b $c; do
	ip netns add "$ns" || exit 1
	defer ip netns del "$ns"
	ip netns exec "$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
done
ip -n $a link add a0 type veth peer name b0 netns $b
ip -n $b link add b1 type veth peer name c0 netns $c
ip -n $b link add br0 type bridge forward_delay 0 mcast_snooping 0 nf_call_iptables 0
for port in b0 b1; do
	ip -n $b link set $port master br0
done
for end in $a:a0 $b:b0 $b:b1 $b:br0 $c:c0; do
	ip -n "${end%:*}" link set "${end#*:}" up
done
in_a() { ip netns exec $a "$@"; }
in_b() { ip netns exec $b "$@"; }
quiet_netfilter() {
	local file
	for file in iptables ip6tables arptables; do
		[[ ! -e /proc/sys/net/bridge/bridge-nf-call-$file ]] || in_b sysctl -qw net.bridge.bridge-nf-call-$file=0
	done
}
quiet_netfilter
forwards() {
	[[ $(ip -n $b -d link show b0) == *"state forwarding"* && $(ip -n $b -d link show b1) == *"state forwarding"* ]]
}
wait_until 10 forwards || exit 1
path=(--path "a0@ns:$a" "c0@ns:$c")

# found ID SEVERITY INTERFACE ARGUMENT…: the doctor reports it about that interface (- any).
found() {
	local id=$1 severity=$2 about=$3
	shift 3
	"$HOPCAP" doctor --json "$@" 2>"$TMP/errors" >"$TMP/findings.json"
	(($? <= 1)) || { cat "$TMP/errors"; return 2; }
	jq -e --arg id "$id" --arg severity "$severity" --arg about "$about" \
		'any(.findings[]; .id == $id and .severity == $severity and ($about == "-" or .interface == $about))' \
		"$TMP/findings.json" >"$TMP/answer" || { jq -c '.findings[] | [.id, .severity, .interface, .evidence]' "$TMP/findings.json"; return 1; }
}

# not_found ID INTERFACE ARGUMENT…: a doctor that works, and says nothing of it.
not_found() {
	local id=$1 about=$2
	shift 2
	"$HOPCAP" doctor --json "$@" 2>"$TMP/errors" >"$TMP/findings.json"
	(($? <= 1)) || { cat "$TMP/errors"; return 2; }
	jq -e --arg id "$id" --arg about "$about" \
		'all(.findings[]; .id != $id or ($about != "-" and .interface != $about))' "$TMP/findings.json" >"$TMP/answer"
}

# cycle ID SEVERITY INTERFACE MAKE UNDO ARGUMENT…: not there, made, there, undone, gone.
cycle() {
	local id=$1 severity=$2 about=$3 make=$4 undo=$5
	shift 5
	check "$id: not there at first" not_found "$id" "$about" "$@"
	if ! eval "$make" >"$TMP/made" 2>&1; then
		eval "$undo" >/dev/null 2>&1
		not_ok "$id: appears" "cannot be made: $(<"$TMP/made")"
		return
	fi
	check "$id: appears" found "$id" "$severity" "$about" "$@"
	eval "$undo" || not_ok "$id: undone"
	check "$id: goes" not_found "$id" "$about" "$@"
}

# --- frame sizes ---
cycle mtu-step fail "b1@ns:$b" "ip -n $b link set b1 mtu 1400" "ip -n $b link set b1 mtu 1500" "${path[@]}"
cycle mtu-wire-ends fail "b1@ns:$b" "ip -n $b link set b1 mtu 1400" "ip -n $b link set b1 mtu 1500" "b1@ns:$b" "c0@ns:$c"
cycle mtu-bridge-ports warn "br0@ns:$b" "ip -n $b link set b1 mtu 1400" "ip -n $b link set b1 mtu 1500" "br0@ns:$b"
cycle mtu-bridge-lowered warn "br0@ns:$b" "ip -n $b link set br0 mtu 1300" "ip -n $b link set br0 mtu 1500" "br0@ns:$b"
ip -n $a link add vx0 type vxlan id 7 dev a0 remote 192.0.2.1 dstport 4789
ip -n $a link set vx0 mtu 1450 up
cycle mtu-overlay fail "vx0@ns:$a" "ip -n $a link set vx0 mtu 1500 || ip -n $a link set a0 mtu 1480" \
	"ip -n $a link set a0 mtu 1500; ip -n $a link set vx0 mtu 1450" "vx0@ns:$a"
ip -n $a link del vx0
ip -n $a address add 192.0.2.2/24 dev a0
cycle mtu-route warn "a0@ns:$a" "ip -n $a route add 198.51.100.0/24 via 192.0.2.9 mtu 1300" "ip -n $a route del 198.51.100.0/24" \
	"a0@ns:$a"
ip -n $a address del 192.0.2.2/24 dev a0
check "mtu-jumbo-unused on the path" found mtu-jumbo-unused info - "${path[@]}"

# --- switching ---
if [[ -e /proc/sys/net/bridge/bridge-nf-call-iptables ]] || in_b test -e /proc/sys/net/bridge/bridge-nf-call-iptables; then
	cycle bridge-netfilter warn "br0@ns:$b" "in_b sysctl -qw net.bridge.bridge-nf-call-iptables=1" quiet_netfilter "${path[@]}"
else
	skip_case bridge-netfilter "br_netfilter is not in this kernel"
fi
# With spanning tree a port listens first.
listen() {
	ip -n $b link set br0 type bridge stp_state 1 && ip -n $b link set br0 type bridge forward_delay 1000 &&
		ip -n $b link set b1 nomaster && ip -n $b link set b1 master br0
}
stop_listening() {
	ip -n $b link set br0 type bridge stp_state 0
	ip -n $b link set br0 type bridge forward_delay 0
	ip -n $b link set b1 nomaster
	ip -n $b link set b1 master br0
	wait_until 10 forwards
}
cycle bridge-port-state fail "b1@ns:$b" listen stop_listening "b1@ns:$b"
cycle path-cut fail - "ip -n $b link set b1 nomaster" "ip -n $b link set b1 master br0; wait_until 10 forwards" "${path[@]}"
cycle bridge-learning warn "b0@ns:$b" "ip -n $b link set b0 type bridge_slave learning off" \
	"ip -n $b link set b0 type bridge_slave learning on" "b0@ns:$b"
cycle bridge-isolated fail "b1@ns:$b" "for p in b0 b1; do ip -n $b link set \$p type bridge_slave isolated on; done" \
	"for p in b0 b1; do ip -n $b link set \$p type bridge_slave isolated off; done" "${path[@]}"
ip -n $b link add br9 type bridge mcast_snooping 0
cycle bridge-stp info "br9@ns:$b" "ip -n $b link set br9 type bridge stp_state 1" "ip -n $b link set br9 type bridge stp_state 0" \
	"br9@ns:$b"
cycle bridge-multicast info "br9@ns:$b" "ip -n $b link set br9 type bridge mcast_snooping 1" \
	"ip -n $b link set br9 type bridge mcast_snooping 0" "br9@ns:$b"
ip -n $b link del br9
sink=$(ip -n $c -j link show c0 | jq -r '.[0].address')
in_b bridge fdb add "$sink" dev b1 master static
cycle bridge-fdb-miss warn "br0@ns:$b" "in_b bridge fdb del $sink dev b1 master" "in_b bridge fdb add $sink dev b1 master static" \
	"${path[@]}"
ip -n $a link add link a0 name m0 type macvlan mode bridge
cycle macvlan-mode warn "m0@ns:$a" "ip -n $a link del m0; ip -n $a link add link a0 name m0 type macvlan mode vepa" \
	"ip -n $a link del m0; ip -n $a link add link a0 name m0 type macvlan mode bridge" "m0@ns:$a"
ip -n $a link del m0

# --- queueing ---
cycle rate-shaper fail "b1@ns:$b" "tc -n $b qdisc add dev b1 root tbf rate 50mbit burst 32k limit 100k" "tc -n $b qdisc del dev b1 root" \
	"${path[@]}"
cycle rate-class warn "b1@ns:$b" \
	"tc -n $b qdisc add dev b1 root handle 1: htb default 1 && tc -n $b class add dev b1 parent 1: classid 1:1 htb rate 80mbit" \
	"tc -n $b qdisc del dev b1 root" "b1@ns:$b"
cycle tc-filters info "b0@ns:$b" "tc -n $b qdisc add dev b0 clsact && tc -n $b filter add dev b0 ingress u32 match u32 0 0" \
	"tc -n $b qdisc del dev b0 clsact" "b0@ns:$b"
cycle tcp-buffers warn $a "in_a sysctl -qw net.ipv4.tcp_rmem='4096 131072 200000'" \
	"in_a sysctl -qw net.ipv4.tcp_rmem='4096 131072 6291456'" "a0@ns:$a"

# Drops, as a difference between two looks.
tc -n $a qdisc add dev a0 root handle 1: tbf rate 64kbit burst 2000 limit 2000
"$HOPCAP" facts --json >"$TMP/before.json" 2>"$TMP/errors"
check "qdisc-drops: nothing grew yet" not_found qdisc-drops "a0@ns:$a" --earlier "$TMP/before.json" "a0@ns:$a"
timeout 20 "$HOPCAP" send --port packet --qdisc --frames 200 --rate 20000 --to-mac "$sink" "a0@ns:$a" >"$TMP/sent" 2>&1
check "qdisc-drops: a queue overflowed" found qdisc-drops fail "a0@ns:$a" --earlier "$TMP/before.json" "a0@ns:$a"
check "qdisc-drops: since boot it is a note" found qdisc-drops info "a0@ns:$a" "a0@ns:$a"
tc -n $a qdisc del dev a0 root

# --- interfaces ---
cycle nic-down fail "c0@ns:$c" "ip -n $c link set c0 down" "ip -n $c link set c0 up; wait_until 10 forwards" "${path[@]}"
cycle nic-offloads-off warn "a0@ns:$a" "in_a ethtool -K a0 tso off" "in_a ethtool -K a0 tso on" "${path[@]}"
in_b ethtool -K b0 gro on
cycle xdp-target info "a0@ns:$a" "in_b ethtool -K b0 gro off" "in_b ethtool -K b0 gro on" "a0@ns:$a"
ip -n $a link add q0 numtxqueues 4 type veth peer name q1 numrxqueues 4
in_a ethtool -L q0 tx 4 >/dev/null 2>&1
in_a ethtool -L q1 rx 4 >/dev/null 2>&1
cycle xdp-veth-queues warn "q1@ns:$a" "in_a ethtool -L q1 rx 1" "in_a ethtool -L q1 rx 4" "q1@ns:$a"
ip -n $a link del q0
in_a ip tuntap add t0 mode tap vnet_hdr
cycle tap-vnet-header warn "t0@ns:$a" "in_a ip tuntap del t0 mode tap vnet_hdr; in_a ip tuntap add t0 mode tap" \
	"in_a ip tuntap del t0 mode tap; in_a ip tuntap add t0 mode tap vnet_hdr" "t0@ns:$a"

# --- XDP programs ---
pin=/sys/fs/bpf/$tag
if bpftool prog load "$ROOT/build/bpf/hop_xdp.bpf.o" "$pin" type xdp >"$TMP/made" 2>&1; then
	defer rm -f "$pin"
	# Not by ip netns exec, which hides the bpf file system.
	cycle xdp-generic-mode warn "b0@ns:$b" "nsenter --net=/run/netns/$b bpftool net attach xdpgeneric pinned $pin dev b0" \
		"nsenter --net=/run/netns/$b bpftool net detach xdpgeneric dev b0" "b0@ns:$b"
else
	skip_case xdp-generic-mode "no program could be loaded: $(tail -n 1 "$TMP/made")"
fi

# --- as a whole ---
start=${EPOCHREALTIME/[.,]/}
"$HOPCAP" doctor "${path[@]}" >"$TMP/out" 2>"$TMP/errors"
status=$?
took=$(((${EPOCHREALTIME/[.,]/} - start) / 1000))
echo "# the whole doctor took $took ms"
check "it takes no more than 5 s" test "$took" -le 5000
check "exit status without a finding that fails or warns: $status" test "$status" -eq "$(grep -q '^nothing found' "$TMP/out" && echo 0 || echo 1)"
ip -n $b link set b1 mtu 1400
"$HOPCAP" doctor "${path[@]}" >"$TMP/out" 2>"$TMP/errors"
check_equal "exit status with findings" 1 $?
check "the cause comes first" grep -qE '^ 1  FAIL    mtu-' "$TMP/out"
"$HOPCAP" plan "a0@ns:$a" "c0@ns:$c" >"$TMP/plan" 2>"$TMP/errors"
check "plan: MTU 9000, from the sink towards the source" \
	grep -qF "  set up    ip netns exec $c ip link set dev c0 mtu 9000" "$TMP/plan"
check_equal "plan changes nothing" 1500 "$(ip -n $c -j link show c0 | jq '.[0].mtu')"
ip -n $b link set b1 mtu 1500

cp "$HOPCAP" "$TMP/hopcap"
chmod 755 "$TMP" "$TMP/hopcap"
setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$TMP/hopcap" doctor >"$TMP/out" 2>"$TMP/errors"
check "unprivileged: it does what it can" test $? -le 1
check "unprivileged: it says what it could not read" grep -q '^not read: ' "$TMP/errors"
