#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The three field reports that hopcap answers, as saved facts and pasted text in tests/golden/seeds: hopcap doctor names the cause of
# each first and quotes where it stands. All made up: layouts as the tools print them, numbers of our own.
#
#   sea  a Linux partition behind a Shared Ethernet Adapter without large send and jumbo frames
#   kvm  a guest on QEMU's old -net options, and the same guest as it should be
#   esx  two hypervisors, one of which has a virtual switch at MTU 1500

. "$(dirname "$0")/../lib/harness.sh"
require_command jq

seeds=$ROOT/tests/golden/seeds

# doctor STATUS ARGUMENT…: findings as JSON in $TMP/findings.json; fails with another exit status.
doctor() {
	local wanted=$1 got
	shift
	"$HOPCAP" doctor --json "$@" >"$TMP/findings.json" 2>"$TMP/stderr"
	got=$?
	((got == wanted)) || { echo "exit status $got, not $wanted: $(cat "$TMP/stderr")"; return 1; }
}

# expect NAME PLACE ID QUOTED: the finding at PLACE (0 the first) fails, has that id and quotes that text.
expect() {
	local name=$1 place=$2 id=$3 quoted=$4
	if jq -e --argjson place "$place" --arg id "$id" --arg quoted "$quoted" \
		'.findings[$place] | .id == $id and .severity == "fail" and (.evidence | contains($quoted)) and .fix != ""' \
		"$TMP/findings.json" >/dev/null; then
		ok "$name"
	else
		not_ok "$name" "$(jq -c ".findings[$place]" "$TMP/findings.json")"
	fi
}

# fails: ids of all findings that fail, in order.
fails() {
	jq -r '[.findings[] | select(.severity == "fail") | .id] | join(" ")' "$TMP/findings.json"
}

check sea-runs doctor 1 --facts "$seeds/sea.json" --evidence "$seeds/sea_entstat.txt"
expect sea-cause 0 sea-large-send 'sea_entstat.txt:8: SEA Flags: 00000001, no LARGESEND'
check_equal sea-nothing-else "sea-large-send" "$(fails)"
check_equal sea-second sea-jumbo "$(json "$TMP/findings.json" '.findings[1].id')"
check sea-attributes doctor 1 --facts "$seeds/sea.json" --evidence "$seeds/sea_lsdev.txt"
expect sea-cause-by-attributes 0 sea-large-send 'sea_lsdev.txt:12: largesend'
check sea-unseen doctor 0 --facts "$seeds/sea.json"

check kvm-bad doctor 1 --facts "$seeds/kvm_bad.json"
expect kvm-hub 0 qemu-hub '"-net nic,model=virtio,macaddr=52:54:00:5d:20:11" and "-net tap,ifname=tap0,'
expect kvm-vnet-header 1 qemu-vnet-header '"-net tap,ifname=tap0,script=no,downscript=no": behind hub 0'
expect kvm-vhost 2 qemu-vhost '"-net tap,ifname=tap0,script=no,downscript=no": no vhost=on'
check_equal kvm-three-findings "qemu-hub qemu-vnet-header qemu-vhost" "$(fails)"
doctor 1 --facts "$seeds/kvm_good.json" >"$TMP/message" # a guest of two CPUs with one queue is a warning
check_equal kvm-good-has-none "" "$(fails)"

check esx-both doctor 1 --facts "$seeds/esx.json" --evidence "$seeds/esx_a.txt" --evidence "$seeds/esx_b.txt"
expect esx-cause 0 vswitch-mtu 'esx_b.txt:esx-south:53: vSwitch1: MTU: 1500'
check_equal esx-nothing-else vswitch-mtu "$(fails)"
check_equal esx-about 'vSwitch1 (esx_b.txt:esx-south)' "$(json "$TMP/findings.json" '.findings[0].interface')"
check esx-one-side doctor 0 --facts "$seeds/esx.json" --evidence "$seeds/esx_a.txt"
cat "$seeds/esx_a.txt" "$seeds/esx_b.txt" >"$TMP/both.txt"
check esx-one-file doctor 1 --facts "$seeds/esx.json" --evidence "$TMP/both.txt"
expect esx-cause-in-one-file 0 vswitch-mtu 'both.txt:esx-south:124: vSwitch1: MTU: 1500'

# What is no evidence is refused in one line that says what is.
refused() {
	local name=$1 file=$2 text=$3
	"$HOPCAP" doctor --facts "$seeds/sea.json" --evidence "$file" >"$TMP/stdout" 2>"$TMP/stderr" </dev/null
	local status=$?
	if ((status == 2)) && [[ ! -s $TMP/stdout && $(wc -l <"$TMP/stderr") == 1 ]] && grep -qF -- "$text" "$TMP/stderr"; then
		ok "$name"
	else
		not_ok "$name" "status $status: $(head -c 400 "$TMP/stderr")"
	fi
}
head -c 300000 /dev/urandom >"$TMP/random"
head -c 17000000 /dev/zero >"$TMP/huge"
printf 'the network is slow\n' >"$TMP/letter"
refused evidence-binary "$TMP/random" 'entstat -all'
refused evidence-huge "$TMP/huge" 'more than 16 MB'
refused evidence-letter "$TMP/letter" 'esxcli network nic get'
refused evidence-empty /dev/null 'nothing in it is recognised'
