# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For tests/guest: boots a kernel under QEMU (emulated, so it runs everywhere and slowly) with the static binary and given files in its
# root, runs one command there and returns what it wrote (run_guest), or leaves it running with an agent and a shell (start_guest).
# Sourced after harness.sh.
#
# What cannot be fetched ends a test as a skip with the reason (fetch_guest), what does not boot as a failure.

# GUEST_QUICK=1 (CI): the stable kernel, and the one with zero-copy where that is what is tested; see each script.

quick() {
	[[ -n ${GUEST_QUICK:-} ]]
}

# shellcheck disable=SC2153 # of harness.sh
GUEST=$ROOT/build/guest
GUEST_NIC=virtio-net-pci,netdev=n,iommu_platform=on,disable-legacy=on

# fetch_guest KERNEL [NAME]: fails, with a skip of NAME that says why, when kernel or QEMU cannot be had here.
fetch_guest() {
	local why
	why=$("$ROOT/tools/guest-packages" --qemu 2>&1 && "$ROOT/tools/guest-packages" "$1" 2>&1) && return
	skip_case "${2:-guest with kernel $1}" "$(tail -n 1 <<<"$why")"
	return 1
}

# The newest kernel that can be had, "7.3", or that was fetched once.
newest_kernel() {
	local list
	list=$("$ROOT/tools/guest-packages" --list 2>/dev/null) || list=$(basename -a "$GUEST"/kernel-* | sed 's/kernel-//')
	sort -V <<<"$list" | tail -n 1 | cut -d. -f1,2
}

# run_guest KERNEL SECONDS COMMAND [FILE…]: output of COMMAND on stdout; its exit status, 125 when the guest did not end by itself.
# A NIC GUEST_NIC stands alone on a network of its own.
run_guest() {
	local kernel=$1 seconds=$2 command=$3 root=$TMP/initramfs console=$TMP/console
	shift 3
	"$ROOT/tools/build-initramfs" "$kernel" "$root" "$@" >"$TMP/initramfs.log" 2>&1 || { cat "$TMP/initramfs.log"; return 125; }
	rm -f "$console"
	echo "the guest was ended after $seconds s" >"$TMP/guest.late"
	timeout -k 5 "$seconds" "$GUEST/qemu/start" -M q35 -accel tcg,thread=multi -cpu max -smp 2 -m 1024 -nodefaults -display none \
		-no-reboot -kernel "$GUEST/kernel-$kernel/vmlinuz" -initrd "$root" -serial "file:$console" \
		-append "console=ttyS0 panic=-1 quiet hopcap.run=\"$command\"" \
		-netdev socket,id=n,udp=127.0.0.1:1,localaddr=127.0.0.1:0 -device "$GUEST_NIC" >"$TMP/qemu.log" 2>&1 </dev/null &
	echo $! >"$TMP/guest.pid" # in the background: a signal to this script then ends it, too
	defer end_guest guest
	wait $! && rm -f "$TMP/guest.late"
	rm -f "$TMP/guest.pid"
	cat "$TMP/qemu.log" "$console" "$TMP/guest.late" 2>/dev/null | tr -d '\r' | sed 's/\x1b\[[0-9;]*[A-Za-z]//g'
	return "$(sed -n 's/^guest: exit status \([0-9]*\).*/\1/p' <(tr -d '\r' <"$console") | grep . || echo 125)"
}

# start_guest NAME KERNEL NETNS QEMU_ARGUMENT…: a guest that runs in a namespace until the script ends, with the agent at $TMP/NAME.agent and a shell for
# in_guest. Its devices are what the QEMU arguments say. Fails when it is not ready within four minutes: seconds are usual, but a machine may have other work.
start_guest() {
	local name=$1 kernel=$2 netns=$3 root=$TMP/initramfs-$2
	shift 3
	[[ -e $root ]] || "$ROOT/tools/build-initramfs" "$kernel" "$root" >"$TMP/initramfs.log" 2>&1 ||
		{ cat "$TMP/initramfs.log"; return 1; }
	ip netns exec "$netns" "$GUEST/qemu/start" -M q35 -accel tcg,thread=multi -cpu max -smp 2 -m 640 -nodefaults -display none -no-reboot \
		-name "$name" -kernel "$GUEST/kernel-$kernel/vmlinuz" -initrd "$root" -append "console=ttyS0 panic=-1 quiet" \
		-serial "file:$TMP/$name.console" -device virtio-serial-pci,id=vs0 \
		-chardev "socket,id=agent,path=$TMP/$name.agent,server=on,wait=off" -device virtserialport,chardev=agent,bus=vs0.0,name=org.hopcap.agent \
		-chardev "socket,id=shell,path=$TMP/$name.shell,server=on,wait=off" -device virtserialport,chardev=shell,bus=vs0.0,name=org.hopcap.shell \
		"$@" >"$TMP/$name.qemu" 2>&1 </dev/null &
	echo $! >"$TMP/$name.pid"
	defer end_guest "$name"
	wait_until 240 grep -q 'guest: ready' "$TMP/$name.console" || { cat "$TMP/$name.qemu" "$TMP/$name.console"; return 1; }
}

end_guest() {
	local pid
	pid=$(cat "$TMP/$1.pid") && rm -f "$TMP/$1.pid" "$TMP/$1.console" || return
	kill "$pid"
	wait "$pid"
}

# in_guest NAME COMMAND: its output; its exit status. What is written to a port that the guest has not opened yet is lost, so the shell is asked until
# it answers.
in_guest() {
	python3 - "$TMP/$1.shell" "$2" <<-'PY'
		import os, socket, sys
		port = socket.socket(socket.AF_UNIX)
		port.connect(sys.argv[1])
		begin = b"begin %d" % os.getpid()
		text = b""
		port.settimeout(0.5)
		for _ in range(360):
		    port.sendall(b"\necho " + begin + b"\n")
		    try:
		        text += port.recv(65536)
		    except TimeoutError:
		        pass
		    if begin + b"\n" in text:
		        break
		port.settimeout(180)
		text = b""
		port.sendall(("( " + sys.argv[2] + "\n) 2>&1 </dev/null; status=$?; echo; echo ended $status\n").encode())
		while b"\nended " not in text or not text.endswith(b"\n"):
		    got = port.recv(65536)
		    if not got:
		        break
		    text += got
		text, _, status = text.decode(errors="replace").rpartition("\nended ")
		lines = [line for line in text.splitlines() if line != begin.decode()]
		print("\n".join(lines))
		sys.exit(int(status or 125))
	PY
}
