#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# AF_XDP zero-copy in a guest: bound and used where kernel and device have it, and where they do not, refused with the reason.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../lib/guest.sh"

cat >"$TMP/sends" <<'END'
#!/bin/busybox sh
for port in af_xdp_zc af_xdp_copy af_xdp_zc af_xdp_copy af_xdp_zc af_xdp_copy; do
	hopcap send eth0 --port $port --to-mac 02:00:00:00:00:09 --seconds 2 --json-lines >/tmp/output 2>/tmp/errors
	echo "sent $port $? $(tail -n 1 /tmp/output)"
	cat /tmp/errors
done
END
chmod +x "$TMP/sends"

# Achieved rates of one port, the median of them.
median_rate() {
	sed -n "s/^sent $1 0 //p" "$TMP/output" | jq -s 'map(.pps) | sort | .[length / 2 | floor]'
}

# refused_with KERNEL DEVICE WORDS…
refused_with() {
	local name=$1 kernel=$2 words=$4
	GUEST_NIC=$3 run_guest "$kernel" 200 /sends "$TMP/sends" >"$TMP/output"
	check "$name: status 3" grep -q '^sent af_xdp_zc 3' "$TMP/output"
	check "$name: says why" grep -qiE "$words" "$TMP/output"
	check "$name: copy mode works" grep -q '^sent af_xdp_copy 0' "$TMP/output"
	((harness_failed)) && cat "$TMP/output"
}

fetch_guest 6.12
refused_with "6.12 has no zero-copy for virtio" 6.12 "$GUEST_NIC" 'does not declare XSK_ZEROCOPY|zero-copy'
fetch_guest 6.16
refused_with "virtio without iommu_platform" 6.16 virtio-net-pci,netdev=n iommu_platform
refused_with "virtio without ring reset" 6.16 "$GUEST_NIC,queue_reset=off" 'queue_reset|ring reset'
run_guest 6.16 200 /sends "$TMP/sends" >"$TMP/output"
check "6.16: zero-copy is bound" grep -q '^sent af_xdp_zc 0' "$TMP/output"
copy=$(median_rate af_xdp_copy) zero_copy=$(median_rate af_xdp_zc)
check "6.16: frames leave both ways" jq -n -e "$copy > 1000 and $zero_copy > 1000"
echo "# zero-copy $zero_copy, copy $copy frames a second"
exit 0
