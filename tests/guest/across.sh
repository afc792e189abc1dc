#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs whose path crosses kernels: guest - tap - bridge - veth - another namespace, out of the guest and into it. The guest's agent is
# reached through a virtio-serial port. GUEST_KERNELS chooses (default: the stable one, with GUEST_QUICK
# that alone, and one with zero-copy).
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../lib/guest.sh"
require_root
require_command jq ip tc bpftool python3

host=across$$h far=across$$f
for ns in "$host" "$far"; do
	ip netns add "$ns" || exit 1
	defer ip netns del "$ns"
	ip netns exec "$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
done
ip -n "$host" link add br0 type bridge forward_delay 0 mcast_snooping 0
ip -n "$host" tuntap add tap0 mode tap
ip -n "$host" link add vh type veth peer name vp netns "$far"
for link in tap0 vh; do
	ip -n "$host" link set "$link" master br0
	ip -n "$host" link set "$link" up
done
ip -n "$host" link set br0 up
ip -n "$far" link set vp up

# leftovers: what hopcap attached on the host's side of the path.
leftovers() {
	local ns
	for ns in "$host" "$far"; do
		ip netns exec "$ns" bpftool net 2>/dev/null | grep -E 'hop_|source_'
		tc -n "$ns" qdisc show | grep clsact
	done
	find /sys/fs/bpf/hopcap /run/hopcap -mindepth 1 ! -type d ! -path '*/labs/*' 2>/dev/null
}

# And on the guest's: programs at interfaces, pins, undo records. What reads the programs is seen to work.
guest_leftovers() {
	in_guest guest 'hopcap facts --json >/tmp/facts; grep -q eth0 /tmp/facts || echo "no facts"; grep -oE "(hop|source|steer)_[a-z]+" /tmp/facts
		find /sys/fs/bpf -mindepth 1; find /run -name "*.undo"'
}

# measure FILE POINT…: a run. An emulated guest that its host lets run for no part of 4 s is silent, and the run rightly ends: then once more.
measure() {
	local file=$1 attempt
	shift
	for attempt in 1 2 3; do
		"$HOPCAP" run --quick --json "$file" --domain "guest=unix:$TMP/guest.agent" "$@" >"$TMP/text" 2>"$TMP/error" && return
		grep -q 'has been silent' "$TMP/error" || return
		echo "# attempt $attempt: $(cat "$TMP/error")"
	done
	return 1
}

# crossing NAME VIRTIO_HOP POINT…: one run, and what must be true of it.
crossing() {
	local name=$1 hop=$2 file=$TMP/run.json
	shift 2
	if ! measure "$file" "$@"; then
		not_ok "$name: runs" "$(cat "$TMP/error" "$TMP/text")"
		return
	fi
	ok "$name: runs"
	check "$name: losses add up across kernels, to the frame" losses_add_up "$file"
	check "$name: run.json keeps its contract" "$ROOT/tools/validate-run-json" "$file"
	check "$name: the table has the guest's hop" grep -qE "^[> ] $hop +opaque virtio (eth0..tap0|tap0..eth0) +[a-z0-9]+ -> [a-z0-9]+ +[0-9]" "$TMP/text"
	check "$name: rates of all hops" jq -e '[.services[] | select(.pps > 1000) | .point] | unique == [1, 2, 3]' "$file"
	check "$name: the guest's kernel is told" jq -e --arg kernel "$kernel" \
		'any(.domains[]; .name == "guest" and (.kernel | startswith($kernel)))' "$file"
	check "$name: the clock's bound is printed" grep -qE 'clock +of (guest|local): known to \+-[0-9.]+ us of the source' "$TMP/text"
	check "$name: delays across kernels carry it, others do not" jq -e '.path.points as $p | .latency | length > 0 and
		all(.[].hops[]; ($p[.hop].domain == $p[.hop - 1].domain) == (.bound_ns == 0))' "$file"
	# Out of the guest, virtio slows the source down instead of losing frames: then it is told from the source by no cut.
	check "$name: the verdict is about virtio and tap, or the source" jq -e --argjson hop "$hop" '.verdict |
		(.kind == "capped" and .hop == $hop) or .kind == "source_limited" or
		($hop == 1 and (.sentence | contains("hop 1 cannot be told from the sink")))' "$file"
	check_equal "$name: nothing is left on the host" "" "$(leftovers)"
	check_equal "$name: nothing is left in the guest" "" "$(guest_leftovers | tr -d '\n')"
	grep -E '^ +(source|clock) ' "$TMP/text" | sed 's/^/# /'
	sed -n '/^verdict/,/^    -/p' "$TMP/text" | sed '/^    -/d; s/^/# /'
}

quick && : "${GUEST_KERNELS:=6.12}"
for kernel in ${GUEST_KERNELS:-6.12 6.18}; do
	fetch_guest "$kernel" "across with kernel $kernel" || continue
	start_guest guest "$kernel" "$host" -netdev tap,id=n,ifname=tap0,script=no,downscript=no,vhost=off -device "$GUEST_NIC" ||
		{ not_ok "$kernel: the guest starts"; continue; }
	crossing "$kernel out of the guest" 1 eth0@guest "tap0@ns:$host" "vh@ns:$host" "vp@ns:$far"
	crossing "$kernel into the guest" 3 "vp@ns:$far" "vh@ns:$host" "tap0@ns:$host" eth0@guest
	check "into the guest: the cause is its back end" jq -e '.verdict.kind == "capped" and .verdict.hop == 3 and
		(.verdict.cause | IN("queue", "cpu"))' "$TMP/run.json"
	end_guest guest
done
exit 0
