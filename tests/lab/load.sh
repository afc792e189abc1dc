#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Probes that stay: loaded here and through an agent, read while frames pass, removed; nothing of them is left. In a mount namespace of the
# test's own, with a bpffs of its own.
# shellcheck source=tests/lib/harness.sh
if [[ ${LOAD_INSIDE:-} != yes ]]; then
	((EUID == 0)) || { echo 'needs root'; exit 77; }
	exec env LOAD_INSIDE=yes unshare -m "$0" "$@"
fi
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/domain.sh
. "$(dirname "$0")/../lib/domain.sh"
require_command jq ip tc bpftool

tag=load$$
mount -t tmpfs none /sys/fs || exit 1
mkdir /sys/fs/bpf
domain_path "$tag" || exit 1
points=("b0@ns:${tag}b" "b1@ns:${tag}b:out" "c0@ns:${tag}c:xdp")

"$HOPCAP" load "${points[0]}" >"$TMP/out" 2>"$TMP/error"
check_equal "without a bpffs: status 3" 3 $?
check "and what to do" grep -q 'mount -t bpf bpf /sys/fs/bpf' "$TMP/error"
mount -t bpf none /sys/fs/bpf || exit 1

# of NAME EXPRESSION: of the probe on this interface, as stat has it.
of() {
	"$HOPCAP" stat --json | jq -e --arg name "$1" "[.probes[] | select(.interface == \$name)][0] | $2"
}

if ! "$HOPCAP" load "${points[0]}" >"$TMP/out" 2>"$TMP/error" && grep -q 'needs tcx' "$TMP/error"; then
	skip "this kernel has no tcx, so only XDP probes can stay"
fi
check "the others" "$HOPCAP" load "${points[@]:1}"
check "three are shown" jq -e '.probes | length == 3 and all(.attached)' <("$HOPCAP" stat --json)
"$HOPCAP" load "${points[0]}" >"$TMP/out" 2>"$TMP/error"
check_equal "a second one at a point is refused" 3 $?
check "in words" grep -q 'loaded there already' "$TMP/error"
"$HOPCAP" load "b0@ns:${tag}b:out:xdp" 2>"$TMP/error"
check_equal "XDP for outgoing frames is a usage error" 2 $?

# A rate that is not kept on a busy machine is a finding, and none of ours.
send_frames() {
	"$HOPCAP" send "a0@ns:${tag}a" "c0@ns:${tag}c" --port packet --rate 20k --frames 2000 --stamp 1 || (($? == 1))
}

# Frames of two runs with tags of their own: each is counted, whichever it is.
for ((i = 1; i <= 2; i++)); do
	check "frames pass, $i" send_frames
done
for point in b0 b1; do
	check_equal "$point has counted every frame" 4000 "$(of $point .test_frames)"
	check "$point has stamped them" of $point '.stamped == 4000 and .stamp_errors == 0 and .hop_p50_ns > 0 and .hop_p99_ns >= .hop_p50_ns'
done
check "other frames are told from them" of b0 '.other_frames < 1000'
ip netns exec "${tag}a" ip addr add 192.0.2.1/24 dev a0
ip netns exec "${tag}c" ip addr add 192.0.2.2/24 dev c0
before=$(of b0 .other_frames)
# shellcheck disable=SC2016 # the inner shell's
datagrams() {
	ip netns exec "${tag}a" bash -c 'for i in {1..20}; do echo "$i" >/dev/udp/192.0.2.2/1234; done'
	of b0 ".other_frames >= $before + 20 and .test_frames == 4000"
}
check "those of others are counted" wait_until 5 datagrams
check "as text" grep -qE 'b0@ns:.*:in tc' <("$HOPCAP" stat)
check "and again and again" timeout --preserve-status -s INT 3 "$HOPCAP" stat --watch --interval 0.2

# Another kernel's are loaded and read there.
domain_agent
domain=(--domain "far=$TMP/agent -")
check "loaded through an agent" "$HOPCAP" load "${domain[@]}" "a0@far:ns=${tag}a"
check "it stays when the agent is gone" of a0 '.attached'
check "read through it" jq -e '[.probes[] | select(.domain == "far" and .interface == "a0" and (.netns | endswith("a")))] | length == 1' \
	<("$HOPCAP" stat --json "${domain[@]}")
check "removed through it" "$HOPCAP" unload "${domain[@]}" "a0@far:ns=${tag}a"

# An interface that goes, and its other end, where another probe is, with it.
ip -n "${tag}c" link del c0
check "an interface that is gone is said to be" of c0 '.attached | not'
check "cleanup removes their probes" "$HOPCAP" cleanup
check "and no other" jq -e '.probes | length == 1' <("$HOPCAP" stat --json)
check "one is unloaded" "$HOPCAP" unload "b0@ns:${tag}b"
"$HOPCAP" unload "b0@ns:${tag}b" 2>"$TMP/error"
check_equal "twice is an error" 3 $?
check "the rest" "$HOPCAP" unload --all
check_equal "no file is left" "" "$(find /sys/fs/bpf/hopcap 2>/dev/null)"
program_is_gone() {
	! ip netns exec "${tag}b" bpftool net | grep -q hop_
}
check "no program is attached" wait_until 5 program_is_gone
