#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What `hopcap facts` says of links that this test builds in three namespaces, live from the kernel: kinds and what they have of
# their own, peers across namespaces, forwarding tables, shapers, filters, programs, holders; as root and as nobody.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
require_root
require_command jq ip tc bridge perl setpriv unshare

PREFIX=hopcap-facts-$$
FACTS=$TMP/facts.json

# Of the links of a namespace of this test (a, b, c).
DEFINITIONS='
def netns($name): [.netns[] | .name // ""] | index("'$PREFIX'-" + $name);
def link($netns; $name): netns($netns) as $i | .links[] | select((.netns // 0) == $i and .name == $name);
def lower($link): .links[] | select((.netns // 0) == ($link.lower_netns // $link.netns // 0) and .ifindex == $link.lower_ifindex);
def number($name): [.counters[]? | select(.name == $name) | .value] | first // 0;
'

collect() {
	"$HOPCAP" facts --json >"$FACTS" 2>"$TMP/error" || { not_ok "hopcap facts" "$(cat "$TMP/error")"; exit 1; }
}

# is NAME EXPRESSION: holds for the facts collected last.
is() {
	check "$1" jq -e "$DEFINITIONS ($2)" "$FACTS"
}

# in_ns a COMMAND…
in_ns() {
	local name=$PREFIX-$1
	shift
	ip netns exec "$name" "$@"
}

# end_process PID: and waits until it is gone.
end_process() {
	kill "$1" && tail --pid="$1" -f /dev/null
}

for name in a b c; do
	ip netns add "$PREFIX-$name" || skip "cannot make network namespaces"
	defer ip netns del "$PREFIX-$name"
done

# a: va — vb :b: br0 — p1 — p1x :c, with what c has on top of p1x
build() {
	set -e
	in_ns a ip link add va type veth peer name vb netns "$PREFIX-b"
	in_ns b ip link add br0 type bridge ageing_time 12300
	in_ns b ip link add p1 type veth peer name p1x netns "$PREFIX-c"
	in_ns b ip link add p2 type veth peer name p2x
	for port in vb p1 p2; do in_ns b ip link set "$port" master br0; done
	in_ns b bridge link set dev p2 learning off flood off hairpin on isolated on
	in_ns a ip link set va up
	for link in vb p1 br0; do in_ns b ip link set "$link" up; done
	in_ns b bridge fdb add 02:00:00:00:00:99 dev p1 master static
	in_ns c ip link set p1x mtu 1400 up
	in_ns c ip addr add 10.9.0.1/24 dev p1x
	in_ns c ip route add 10.77.0.0/16 via 10.9.0.254 metric 50
	in_ns c ip neigh add 10.9.0.3 lladdr 02:00:00:00:00:03 dev p1x
	in_ns c ip link add link p1x mv0 type macvlan mode vepa
	in_ns c ip link add vx0 type vxlan id 77 remote 10.9.0.2 dev p1x dstport 4789
	in_ns c bridge fdb append 02:00:00:00:00:77 dev vx0 dst 10.9.0.3
	in_ns c ip link add ifbx type ifb
	in_ns a tc qdisc add dev va root tbf rate 800mbit burst 64k limit 1m
	in_ns a tc qdisc add dev va clsact
	in_ns a tc filter add dev va ingress protocol all u32 match u32 0 0
	in_ns b tc qdisc add dev p2x clsact
	in_ns b tc filter add dev p2x egress protocol all u32 match u32 0 0
	in_ns c tc qdisc add dev p1x root handle 1: htb default 10
	in_ns c tc class add dev p1x parent 1: classid 1:10 htb rate 100mbit ceil 200mbit
	set +e
}
(build) >"$TMP/build" 2>&1 || { not_ok "the lab is built" "$(cat "$TMP/build")"; exit 1; }

# A tap that a process holds two queues of; it is gone with the process.
ip netns exec "$PREFIX-c" perl -e '
	for my $i (1, 2) {
		my $request = pack("a16 S x22", "tap0", 0x2 | 0x1000 | 0x4000 | 0x100); # tap, no_pi, vnet_hdr, multi_queue
		open($queue[$i], "+<", "/dev/net/tun") or die "tun: $!";
		ioctl($queue[$i], 0x400454ca, $request) or die "TUNSETIFF: $!";
	}
	$| = 1; print "ready\n"; sleep 300' >"$TMP/tap" 2>&1 &
tap_holder=$!
defer kill "$tap_holder"
wait_until 10 grep -q ready "$TMP/tap" || { not_ok "a tap is held" "$(cat "$TMP/tap")"; exit 1; }

# A namespace without a name, and a name that is no namespace.
unshare --net sleep 300 &
nameless=$!
defer kill "$nameless"
differs() { [[ $(readlink "/proc/$1/ns/net") != "$(readlink /proc/self/ns/net)" ]]; }
wait_until 10 differs "$nameless"
touch "/run/netns/$PREFIX-stale"
defer rm -f "/run/netns/$PREFIX-stale"

# Programs of our own: XDP at b's end of the first wire, tc at p1x.
"$HOPCAP" sink --kind xdp --seconds 300 "vb@ns:$PREFIX-b" >"$TMP/sink_xdp" 2>&1 &
defer kill $!
"$HOPCAP" sink --kind tc --seconds 300 "p1x@ns:$PREFIX-c" >"$TMP/sink_tc" 2>&1 &
defer kill $!
are_attached() {
	collect && jq -e "$DEFINITIONS (link(\"b\"; \"vb\").xdp_program_id > 0) and
		(link(\"c\"; \"p1x\").filters | any(.kind == \"tcx\" or .kind == \"bpf\"))" "$FACTS"
}
wait_until 20 are_attached || not_ok "sinks are attached" "$(cat "$TMP/sink_xdp" "$TMP/sink_tc")"
in_ns a ping -c 1 -W 1 -b 255.255.255.255 >/dev/null 2>&1 # frames for the counters; the address leads nowhere
collect

# --- namespaces ---
is "the caller's namespace comes first" '.netns[0].name == null and .netns[0].inode > 0 and (.netns[0].could_enter != false)'
is "three namespaces with names" '[netns("a", "b", "c")] | all(. > 0)'
is "each namespace once" '[.netns[].inode] | length == (unique | length)'
is "a namespace without a name is found by its process" \
	'.links as $links | [.netns[].name] | index("pid:'"$nameless"'") as $i | $links | any(.netns == $i and .name == "lo")'
is "a file that is no namespace says so" \
	'.netns[] | select(.name == "'"$PREFIX"'-stale") | .could_enter == false and (.why_not | test("is a file"))'

# --- links ---
is "veth: kind, driver, up" 'link("a"; "va") | .kind == "veth" and .driver == "veth" and .carrier'
is "veth: peer in another namespace" 'lower(link("a"; "va")) == link("b"; "vb")'
is "veth: and back" 'lower(link("b"; "vb")) == link("a"; "va")'
is "veth: second wire" 'lower(link("c"; "p1x")) == link("b"; "p1") and lower(link("b"; "p1")) == link("c"; "p1x")'
is "veth: peer in the same namespace" 'lower(link("b"; "p2")) == link("b"; "p2x")'
is "MTU and its bounds" 'link("c"; "p1x") | .mtu_bytes == 1400 and .min_mtu_bytes == 68 and .max_mtu_bytes > 9000'
is "queues" 'link("a"; "va") | .rx_queues >= 1 and .tx_queues >= 1'
is "software links have no line speed" '[link("a"; "va"), link("b"; "br0")] | all(.speed_mbit_per_s == null)'
is "offloads by the kernel's names" 'link("a"; "va").features | any(.name == "tx-generic-segmentation" and .on) and
	any(.name == "vlan-challenged" and .fixed)'
is "counters of the kernel and of the driver" 'link("a"; "va") | number("tx_packets") > 0 and
	(.counters | any(.name == "peer_ifindex" or .name == "rx_queue_0_xdp_packets"))'
is "no counter twice" '[.links[].counters // [] | [.[].name] | length == (unique | length)] | all'
is "macvlan" 'link("c"; "mv0") as $m | $m.macvlan_mode == "vepa" and lower($m) == link("c"; "p1x")'
is "vxlan" 'link("c"; "vx0") as $v | $v.vxlan_id == 77 and $v.vxlan_remote == "10.9.0.2" and $v.vxlan_port == 4789 and
	lower($v) == link("c"; "p1x")'
is "ifb" 'link("c"; "ifbx").kind == "ifb"'
is "tap: kind and flags" 'link("c"; "tap0") | .kind == "tun" and .tun_flags == "0x5102" and .tx_queues == 2'
is "tap: who holds it" 'netns("c") as $i | .processes | any(.pid == '"$tap_holder"' and
	(.tuns | any(.interface == "tap0" and .descriptors == 2 and .netns == $i)))'

# --- bridge ---
is "bridge" 'link("b"; "br0") | .kind == "bridge" and .bridge.stp == 0 and .bridge.ageing_ms == 123000'
is "bridge ports" 'link("b"; "br0").ifindex as $br | [link("b"; "vb", "p1", "p2")] | all(.master_ifindex == $br)'
is "a port that forwards" 'link("b"; "vb").port | .state == 3 and .learning and .unicast_flood and .isolated == false'
is "a port's own settings" 'link("b"; "p2").port | .learning == false and .unicast_flood == false and .hairpin and .isolated'
is "static entry" 'link("b"; "p1").ifindex as $p1 | link("b"; "br0").ifindex as $br | netns("b") as $i | .fdb |
	any(.netns == $i and .address == "02:00:00:00:00:99" and .is_static and .port_ifindex == $p1 and .bridge_ifindex == $br)'
is "own addresses of ports are local" 'link("b"; "vb") as $vb | netns("b") as $i | .fdb |
	any(.netns == $i and .address == $vb.address and .is_local and .port_ifindex == $vb.ifindex)'
is "vxlan entry" 'link("c"; "vx0").ifindex as $vx | netns("c") as $i | .fdb |
	any(.netns == $i and .address == "02:00:00:00:00:77" and .vxlan_remote == "10.9.0.3" and .port_ifindex == $vx)'
is "addresses that a device listens to are no entries" '[.fdb[] | select(.address // "" | startswith("33:33:"))] == []'

# --- addresses, routes, neighbours ---
is "address" 'netns("c") as $i | link("c"; "p1x").ifindex as $n | .addresses |
	any(.netns == $i and .ifindex == $n and .address == "10.9.0.1" and .prefix_length == 24)'
is "route" 'netns("c") as $i | link("c"; "p1x").ifindex as $n | .routes | any(.netns == $i and .out_ifindex == $n and
	.destination == "10.77.0.0" and .prefix_length == 16 and .gateway == "10.9.0.254" and .metric == 50)'
is "only routes of the main table" '[.routes[] | select(.destination // "" | startswith("127.") or . == "ff00::")] == []'
is "neighbour" 'netns("c") as $i | .neighbours |
	any(.netns == $i and .address == "10.9.0.3" and .mac == "02:00:00:00:00:03")'

# --- qdiscs, filters, programs ---
is "tbf" 'link("a"; "va").qdiscs | any(.kind == "tbf" and .rate_bytes_per_s == 100000000 and .limit == 1048576 and .frames > 0)'
is "htb: the ceiling of its class" 'link("c"; "p1x").qdiscs |
	any(.kind == "htb" and .is_class and .handle == "0x10010" and .rate_bytes_per_s == 25000000)'
is "clsact, a filter at ingress" 'link("a"; "va") | (.qdiscs | any(.kind == "clsact")) and
	(.filters | length == 1 and all(.kind == "u32" and .ingress))'
is "a filter at egress" 'link("b"; "p2x").filters | length == 1 and all(.kind == "u32" and .ingress != true)'
is "XDP program: mode, number, name" 'link("b"; "vb") | .xdp_mode == 1 and .xdp_program_id > 0 and (.xdp_program_name | length > 0)'
is "no XDP program elsewhere" 'link("a"; "va") | .xdp_program_id == null and .xdp_program_name == null'
is "tc program by name" 'link("c"; "p1x").filters |
	any((.kind == "tcx" or .kind == "bpf") and .ingress and (.name // "" | length > 0))'
if jq -e '[.links[].xdp_features // empty] | length > 0' "$FACTS" >/dev/null; then
	is "what XDP a driver declares" 'link("b"; "vb").xdp_features % 2 == 1'
else
	skip_case "what XDP a driver declares" "the kernel does not say (before 6.3)"
fi

# --- as nobody: what is open to anybody, and what is not ---
install -m 755 "$HOPCAP" "$TMP/hopcap" && chmod 711 "$TMP"
nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$TMP/hopcap" facts --json >"$FACTS"
}
check "as nobody" nobody
is "nobody: own links and their drivers" '.links | length > 0 and all((.netns // 0) == 0) and any(.name == "lo")'
is "nobody: namespaces that are closed" '.netns[netns("a")] | .could_enter == false and (.why_not | test("permitted|denied"))'
is "nobody: gaps are told" '.gaps | length > 0 and any(test("run as root"))'

# --- namespaces that go away meanwhile: no failure, no hang ---
churn() {
	local i
	for ((i = 0; i < 15; i++)); do
		ip netns add "$PREFIX-churn" && ip -n "$PREFIX-churn" link add x type veth peer name y
		ip netns del "$PREFIX-churn"
	done
}
churn >/dev/null 2>&1 &
churning=$!
failed=0
while kill -0 "$churning" 2>/dev/null; do
	"$HOPCAP" facts --json >"$FACTS" 2>"$TMP/error" || failed=1
done
check_equal "namespaces that come and go" 0 "$failed"
[[ ! -e /run/netns/$PREFIX-churn ]] || ip netns del "$PREFIX-churn"

end_process "$tap_holder"
collect
is "the tap goes with its holder" '[link("c"; "tap0")] == []'
