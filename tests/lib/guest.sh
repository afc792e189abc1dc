# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests/guest: boots a kernel under QEMU (emulated, so it runs everywhere and slowly) with the static binary and given files in its
# root, runs one command there and returns what it wrote. Sourced after harness.sh.
#
# What cannot be fetched ends a test as a skip with the reason (fetch_guest), what does not boot as a failure.

# shellcheck disable=SC2153 # of harness.sh
GUEST=$ROOT/build/guest
GUEST_NIC=virtio-net-pci,netdev=n,iommu_platform=on,disable-legacy=on

# fetch_guest KERNEL
fetch_guest() {
	local why
	why=$("$ROOT/tools/guest-packages" --qemu 2>&1 && "$ROOT/tools/guest-packages" "$1" 2>&1) && return
	echo "skip guest with kernel $1: $(tail -n 1 <<<"$why")"
	exit 77
}

# run_guest KERNEL SECONDS COMMAND [FILE…]: output of COMMAND on stdout; its exit status, 125 when the guest did not end by itself.
# A NIC GUEST_NIC stands alone on a network of its own.
run_guest() {
	local kernel=$1 seconds=$2 command=$3 root=$TMP/initramfs console=$TMP/console
	shift 3
	"$ROOT/tools/build-initramfs" "$kernel" "$root" "$@" >"$TMP/initramfs.log" 2>&1 || { cat "$TMP/initramfs.log"; return 125; }
	rm -f "$console"
	timeout -k 5 "$seconds" "$GUEST/qemu/start" -M q35 -accel tcg,thread=multi -cpu max -smp 2 -m 1024 -nodefaults -display none \
		-no-reboot -kernel "$GUEST/kernel-$kernel/vmlinuz" -initrd "$root" -serial "file:$console" \
		-append "console=ttyS0 panic=-1 quiet hopcap.run=\"$command\"" \
		-netdev socket,id=n,udp=127.0.0.1:1,localaddr=127.0.0.1:0 -device "$GUEST_NIC" >"$TMP/qemu.log" 2>&1 </dev/null
	cat "$TMP/qemu.log" "$console" 2>/dev/null | tr -d '\r' | sed 's/\x1b\[[0-9;]*[A-Za-z]//g'
	return "$(sed -n 's/^guest: exit status \([0-9]*\).*/\1/p' <(tr -d '\r' <"$console") | grep . || echo 125)"
}
