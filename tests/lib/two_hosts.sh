# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For lab scripts, after harness.sh: hosts in namespaces of their own, one behind each port p0, p1, … of a namespace in the middle.
# The script sets ns, a prefix of its own. Host i has 10.9.0.(i+1) on e$i.

: "${ns:=}"

in_ns() {
	local name=$1
	shift
	ip netns exec "$ns-$name" "$@"
}

# build_hosts COUNT [BRIDGE]: with the ports in a bridge of that name, or none.
build_hosts() {
	local name i names=(b)
	for ((i = 0; i < $1; i++)); do
		names+=("h$i")
	done
	for name in "${names[@]}"; do
		ip netns add "$ns-$name" || return 1
		in_ns "$name" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6; echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6' 2>/dev/null
	done
	in_ns b sh -c 'for file in /proc/sys/net/bridge/bridge-nf-call-*tables; do echo 0 >$file; done' 2>/dev/null
	[[ -z ${2-} ]] || ip -n "$ns-b" link add "$2" up type bridge forward_delay 0 mcast_snooping 0
	for ((i = 0; i < $1; i++)); do
		ip -n "$ns-b" link add "p$i" numrxqueues 1 numtxqueues 1 type veth peer name "e$i" numrxqueues 1 numtxqueues 1 netns "$ns-h$i" || return 1
		[[ -z ${2-} ]] || ip -n "$ns-b" link set "p$i" master "$2"
		ip -n "$ns-b" link set "p$i" up
		ip -n "$ns-h$i" link set "e$i" up
		ip -n "$ns-h$i" address add "10.9.0.$((i + 1))/24" dev "e$i"
	done
}

raze_hosts() {
	local name
	for name in b h0 h1 h2; do
		ip netns del "$ns-$name" 2>/dev/null
	done
}

mac() {
	ip -n "$ns-h$1" -j link show "e$1" | jq -r '.[0].address'
}

# What the middle has attached, by name of the program.
attached() {
	ip -n "$ns-b" -j link show | jq -r '[.[] | select(.xdp != null)] | length'
}

# checksum_offload HOST: on or off.
checksum_offload() {
	in_ns "h$1" ethtool -k "e$1" | awk '/^tx-checksumming/ { print $2 }'
}

# transfer FROM TO STREAMS MEBIBYTES: both sides must agree on every byte; retransmits go to $TMP/again.
transfer() {
	local from=$1 to=$2 streams=$3 bytes=$(($4 << 20)) server code
	: >"$TMP/served"
	in_ns "h$to" python3 "$ROOT/tests/lib/tcp_transfer.py" serve 5001 "$streams" >"$TMP/served" 2>&1 &
	server=$!
	if ! wait_until 30 grep -q ready "$TMP/served"; then
		printf 'the receiver is not ready after 30 s\n'
		return 1
	fi
	in_ns "h$from" python3 "$ROOT/tests/lib/tcp_transfer.py" send "10.9.0.$((to + 1))" 5001 "$streams" "$bytes" >"$TMP/sent" 2>"$TMP/again"
	code=$?
	wait "$server"
	((code == 0)) && ! grep failed "$TMP/sent" "$TMP/served" && diff <(grep -v ready "$TMP/served") "$TMP/sent"
}

# flood FROM TO COUNT BYTES: pings as fast as answers come, every byte of them looked at.
flood() {
	in_ns "h$1" python3 "$ROOT/tests/lib/ping_flood.py" "10.9.0.$(($2 + 1))" "$3" "$4"
}

# iperf FROM TO STREAMS SECONDS: says rate and retransmits, and leaves that in $TMP/iperf.text.
iperf() {
	local server code
	in_ns "h$2" iperf3 --server --one-off --port 5002 >"$TMP/iperf.server" 2>&1 &
	server=$!
	wait_until 10 in_ns "h$2" sh -c 'grep -q ":138A " /proc/net/tcp /proc/net/tcp6 2>/dev/null' || return 1
	in_ns "h$1" iperf3 --client "10.9.0.$(($2 + 1))" --port 5002 --parallel "$3" --time "$4" --json >"$TMP/iperf.json"
	code=$?
	wait "$server"
	((code == 0)) && jq -r '"# iperf3, \(.end.streams | length) streams: \(.end.sum_received.bits_per_second / 1e9 * 100 | round / 100) Gbit/s, \(.end.sum_sent.retransmits) retransmits"' "$TMP/iperf.json" | tee "$TMP/iperf.text" &&
		jq -e '.end.sum_received.bytes > 1000000' "$TMP/iperf.json" >/dev/null
}
