#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `hopcap facts` of a tree that was captured: the text to the byte, and what is refused. Needs no root.

. "$(dirname "$0")/../lib/harness.sh"

TREE=$TMP/tree

# put PATH TEXT: a file of the tree.
put() {
	mkdir -p "$TREE/$(dirname "$1")" && printf '%s\n' "$2" >"$TREE/$1"
}

# put_link NAME IFINDEX DIRECTORY: its directory among the devices, its name in class/net.
put_link() {
	mkdir -p "$TREE/sys/class/net"
	ln -s "../../devices/$3/net/$1" "$TREE/sys/class/net/$1"
	put "sys/devices/$3/net/$1/ifindex" "$2"
	put "sys/devices/$3/net/$1/mtu" 1500
	put "sys/devices/$3/net/$1/flags" 0x1003
}

card=pci0000:00/0000:00:1c.0/0000:03:00.0
put_link eth0 2 $card
ln -s ../../../0000:03:00.0 "$TREE/sys/devices/$card/net/eth0/device"
ln -s ../../../../bus/pci/drivers/mlx5_core "$TREE/sys/devices/$card/driver"
ln -s ../../../../bus/pci "$TREE/sys/devices/$card/subsystem"
put sys/devices/$card/net/eth0/speed 25000
put sys/devices/$card/net/eth0/carrier 1
put_link br0 3 virtual
put sys/devices/virtual/net/br0/bridge/bridge_id 8000.000000000000
put sys/devices/virtual/net/br0/carrier 0
ln -s ../../../../../virtual/net/br0 "$TREE/sys/devices/$card/net/eth0/master"
put_link tap0 4 virtual
put sys/devices/virtual/net/tap0/tun_flags 0x1002
put sys/devices/virtual/net/tap0/flags 0x1002
put sys/devices/system/cpu/online 0-7
put sys/class/dmi/id/sys_vendor 'VMware, Inc.'
put proc/sys/kernel/osrelease 5.14.0
put proc/4711/stat '4711 (qemu-kvm) S 1 1 1 0 -1 0 0 0 0 0 9 9 0 0 20 0 1 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0'
mkdir -p "$TREE/proc/4711/fd"
ln -s /dev/net/tun "$TREE/proc/4711/fd/5"
ln -s /dev/vhost-net "$TREE/proc/4711/fd/6"
put proc/4711/fdinfo/5 $'pos:\t0\niff:\ttap0'

"$HOPCAP" facts --sysroot "$TREE" >"$TMP/text" 2>"$TMP/error"
check_equal status 0 "$?"
check_equal text "$(<"$ROOT/tests/golden/facts/tree.txt")" "$(<"$TMP/text")"
check_equal nothing_on_stderr '' "$(<"$TMP/error")"

"$HOPCAP" facts --json --sysroot "$TREE" >"$TMP/one.json"
check_equal json_status 0 "$?"
check_equal json_schema '"schema": "hopcap.facts/1",' "$(sed -n 's/^ //;2p' "$TMP/one.json")"

# Twice the same, but for the moment.
"$HOPCAP" facts --json --sysroot "$TREE" | grep -v '^ "created"' >"$TMP/two.json"
check_equal same_again "$(grep -v '^ "created"' "$TMP/one.json")" "$(<"$TMP/two.json")"

# refuses NAME STATUS MESSAGE ARGUMENT…
refuses() {
	local name=$1 status=$2 message=$3
	shift 3
	"$HOPCAP" facts "$@" >"$TMP/out" 2>"$TMP/error" </dev/null
	check_equal "$name" "$status $message" "$? $(head -n 1 "$TMP/error")"
}
refuses argument 2 "hopcap facts: facts takes no argument 'eth0'" eth0
refuses no_sysroot 3 "hopcap facts: cannot open the sysroot $TMP/none: No such file or directory; name a directory with sys/ and proc/ of a machine" --sysroot "$TMP/none"
refuses sysroot_is_file 3 "hopcap facts: cannot open the sysroot $TMP/text: Not a directory; name a directory with sys/ and proc/ of a machine" --sysroot "$TMP/text"
refuses no_evidence 3 "hopcap facts: evidence '$TMP/none': cannot be opened: No such file or directory" --sysroot "$TREE" --evidence "$TMP/none"

printf 'Name:          vmnic2\n   MTU: 1500\n' >"$TMP/nothing"
"$HOPCAP" facts --sysroot "$TREE" --evidence "$TMP/nothing" >"$TMP/out" 2>"$TMP/error"
check_equal evidence_without_kind 2 "$?"

# This machine, whoever runs it.
"$HOPCAP" facts >"$TMP/out" 2>"$TMP/error"
check_equal live_status 0 "$?"
check_equal live_namespace 1 "$(grep -c '^Own namespace, ' "$TMP/out")"
