#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# AF_XDP zero-copy in a guest: bound, used and faster than copy mode where kernel and device have it, and where they do not, refused with the
# reason. One guest has all kinds of NIC; what is compared is compared in one boot, in turns.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../lib/guest.sh"
require_root
require_command jq ip

quick && : "${PAIRS:=5}"
PAIRS=${PAIRS:-9}
FASTER=1.2 # zero-copy against copy mode of the same driver

# The NICs' frames end at taps that nobody reads, in a namespace of their own.
netns=zerocopy$$
ip netns add "$netns" || exit 1
defer ip netns del "$netns"
for tap in tap0 tap1 tap2; do
	ip -n "$netns" tuntap add "$tap" mode tap
	ip -n "$netns" link set "$tap" addrgenmode none up
done

# nic NUMBER OPTIONS: words for QEMU.
nic() {
	echo "-netdev tap,id=n$1,ifname=tap$1,script=no,downscript=no,vhost=off -device virtio-net-pci,netdev=n$1${2:-}"
}

# send INTERFACE PORT: "STATUS {result}", then what it complained about.
send() {
	in_guest guest "hopcap send $1 --port $2 --to-mac 02:00:00:00:00:09 --seconds 0.6 --json-lines >/tmp/output 2>/tmp/errors
		echo \"\$? \$(tail -n 1 /tmp/output)\"; cat /tmp/errors"
}

# refused NAME INTERFACE WORDS
refused() {
	local text
	text=$(send "$2" af_xdp_zc)
	check_equal "$1: refused" 3 "${text%% *}"
	check "$1: says why" grep -qiE "$3" <<<"$text"
	grep -v '^3 *$' <<<"$text" | sed 's/^/# /'
	text=$(send "$2" af_xdp_copy)
	check_equal "$1: copy mode works" 0 "${text%% *}"
}

# rate_of PORT: frames a second; fails without.
rate_of() {
	local text
	text=$(send eth0 "$1")
	if [[ $text != "0 "* ]]; then
		echo "$text" >&2
		return 1
	fi
	jq -e .pps <<<"$(sed -n '1s/^0 //p' <<<"$text")"
}

# Ratios of pairs of streams, each kind first in half of them; the median is what counts, since the machine is not ours alone.
compare() {
	local i copy zero_copy
	for ((i = 0; i < PAIRS; i++)); do
		((i % 2)) && { copy=$(rate_of af_xdp_copy) || return; }
		zero_copy=$(rate_of af_xdp_zc) || return
		((i % 2)) || { copy=$(rate_of af_xdp_copy) || return; }
		echo "$zero_copy $copy"
	done
}

good=,iommu_platform=on,disable-legacy=on
if fetch_guest 6.12 "zero-copy refused by 6.12"; then
	# shellcheck disable=SC2046 # words
	if start_guest guest 6.12 "$netns" $(nic 0 "$good"); then
		refused "6.12 has no zero-copy for virtio" eth0 'does not declare XSK_ZEROCOPY'
	else
		not_ok "6.12: the guest starts"
	fi
	end_guest guest
fi
fetch_guest "${ZERO_COPY_KERNEL:=6.18}" "zero-copy on $ZERO_COPY_KERNEL" || exit 0
# shellcheck disable=SC2046 # words
start_guest guest "$ZERO_COPY_KERNEL" "$netns" $(nic 0 "$good") $(nic 1) $(nic 2 "$good,queue_reset=off") ||
	{ not_ok "$ZERO_COPY_KERNEL: the guest starts"; exit 1; }
refused "virtio without iommu_platform" eth1 iommu_platform
refused "virtio without ring reset" eth2 'queue_reset|ring reset'
if compare >"$TMP/pairs" 2>"$TMP/error"; then
	ok "$ZERO_COPY_KERNEL: zero-copy is bound and frames leave"
	ratio=$(awk '{ print $1 / $2 }' "$TMP/pairs" | sort -g | sed -n "$((PAIRS / 2 + 1))p")
	check "$ZERO_COPY_KERNEL: zero-copy sends at least $FASTER times what copy mode sends" jq -ne "$ratio >= $FASTER"
	awk '{ printf "# zero-copy %.1f kpps, copy %.1f kpps: %.2f\n", $1 / 1000, $2 / 1000, $1 / $2 }' "$TMP/pairs"
else
	not_ok "$ZERO_COPY_KERNEL: zero-copy is bound and frames leave" "$(cat "$TMP/error")"
fi
exit 0
