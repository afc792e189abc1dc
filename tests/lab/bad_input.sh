#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What users get wrong: one clear line, the right exit status, nothing left behind.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
require_root
require_command jq ip bpftool setpriv

# refused NAME STATUS PATTERN COMMAND…: ends with STATUS and one line on stderr that matches PATTERN.
refused() {
	local name=$1 status=$2 pattern=$3 got
	shift 3
	"$@" >"$TMP/out" 2>"$TMP/error"
	got=$?
	if ((got == status)) && (($(wc -l <"$TMP/error") <= 2)) && grep -qE "$pattern" "$TMP/error"; then
		ok "$name"
	else
		not_ok "$name" "status $got (wanted $status), wanted line: $pattern"$'\n'"$(head -c 2000 "$TMP/error")"
	fi
}

# shellcheck disable=SC2119
lab_up || exit 1
lpar=hopcap-$LAB_ID-lpar phyp=hopcap-$LAB_ID-phyp vios=hopcap-$LAB_ID-vios ext=hopcap-$LAB_ID-ext
run=("$HOPCAP" run --quick)

refused "no points" 2 "give the points" "${run[@]}"
refused "one point" 2 "at least two points" "${run[@]}" "ent0@ns:$lpar"
refused "unknown interface" 3 "nosuch0.*no such interface" "${run[@]}" "ent0@ns:$lpar" "nosuch0@ns:$ext"
refused "unknown namespace" 3 "nosuchns" "${run[@]}" "ent0@ns:nosuchns" "nic0@ns:$ext"
refused "point repeated" 2 "twice" "${run[@]}" "ent0@ns:$lpar" "trunk0@ns:$vios" "trunk0@ns:$vios" "nic0@ns:$ext"
refused "bad syntax" 2 "a point is" "${run[@]}" "ent0@ns:" "nic0@ns:$ext"
refused "unknown domain" 2 "unknown domain" "${run[@]}" "ent0@mars" "nic0@ns:$ext"
refused "unknown lab" 2 "nolab" "${run[@]}" --lab nolab
refused "points and lab" 2 "not both" "${run[@]}" --lab sea "ent0@ns:$lpar" "nic0@ns:$ext"
refused "rate zero" 2 "rate" "${run[@]}" --rate 0 "${LAB_POINTS[@]}"
refused "rate that cannot be kept" 2 "below 100 pps" "${run[@]}" --rate 0.5 "${LAB_POINTS[@]}"
refused "rate nonsense" 2 "rate" "${run[@]}" --rate fast "${LAB_POINTS[@]}"
refused "size too small" 2 "size" "${run[@]}" --size 20 "${LAB_POINTS[@]}"
refused "size over the MTU" 2 "MTU" "${run[@]}" --size 9000 "${LAB_POINTS[@]}"
refused "unknown port" 2 "unknown port" "${run[@]}" --port carrier-pigeon "${LAB_POINTS[@]}"
refused "zero-copy that veth has not" 3 "zero-copy" "${run[@]}" --port af_xdp_zc "${LAB_POINTS[@]}"
refused "CPU that is not there" 2 "CPU 4000" "${run[@]}" --cpu 4000 "${LAB_POINTS[@]}"
refused "unknown option" 2 "bogus" "${run[@]}" --bogus
refused "unknown command" 2 "rnu" "$HOPCAP" rnu
refused "lab MTU out of range" 2 "mtu" "$HOPCAP" run --lab sea --mtu 100
refused "no root" 3 "root" setpriv --reuid 65534 --regid 65534 --clear-groups "${run[@]}" "${LAB_POINTS[@]}"
refused "report of no file" 3 "nosuchfile" "$HOPCAP" report "$TMP/nosuchfile"
printf '{"schema": "other"}' >"$TMP/other.json"
refused "report of another schema" 2 "schema" "$HOPCAP" report "$TMP/other.json"

# Full disk: found out before the run where it can be (no such directory), and after it where it cannot.
refused "json into no directory" 3 "cannot write" "${run[@]}" --json "$TMP/none/run.json" "${LAB_POINTS[@]}"
refused "json into a directory" 3 "is a directory" "${run[@]}" --json "$TMP" "${LAB_POINTS[@]}"
refused "json without a name" 2 "empty" "${run[@]}" --json "" "${LAB_POINTS[@]}"
mkdir "$TMP/small" && mount -t tmpfs -o size=16k none "$TMP/small" && defer umount "$TMP/small"
refused "full disk for --json" 3 "small.*(space|full)" "${run[@]}" --json "$TMP/small/run.json" "${LAB_POINTS[@]}"
check_equal "no half file is left" "" "$(ls "$TMP/small")"
check "the report was printed all the same" grep -q "$(printf 'nic0')" "$TMP/out"

# A path that ends on the way: the last point that saw a frame is named.
ip -n "$phyp" link set vios0 nomaster
refused "frames never arrive" 3 "last seen at lpar0" "${run[@]}" "${LAB_POINTS[@]}"
ip -n "$phyp" link set vios0 master vswitch

ip -n "$vios" link set trunk0 down
refused "interface down" 3 "trunk0.*down" "${run[@]}" "${LAB_POINTS[@]}"
ip -n "$vios" link set trunk0 up
wait_until 10 sh -c "ip -n $vios -d link show trunk0 | grep -q 'state forwarding'"

# A program of somebody else: never displaced. Where XDP was asked for it is named and the run refused; where tc will do, the
# run goes on beside it and the report says so.
cat >"$TMP/pass.c" <<'C'
__attribute__((section("xdp"), used)) int somebody_else(void *ctx) { return 2; }
char _license[] __attribute__((section("license"), used)) = "GPL";
C
clang -O2 -g -target bpf -c "$TMP/pass.c" -o "$TMP/pass.o" || exit 1
ip -n "$vios" link set dev trunk0 xdp obj "$TMP/pass.o" sec xdp || exit 1
id=$(ip -n "$vios" -j link show trunk0 | jq -r '.[0].xdp.prog.id')
refused "XDP program of somebody else, XDP asked for" 3 "trunk0.*(somebody_else|id $id)" \
	"${run[@]}" "ent0@ns:$lpar" "trunk0@ns:$vios:xdp" "phys0@ns:$vios" "nic0@ns:$ext"
check "beside it by tc" "${run[@]}" --json "$TMP/foreign.json" "${LAB_POINTS[@]}"
check "and the report says so" jq -e '[.findings[] | select(.id == "xdp-foreign-program" and .interface == "trunk0")] | length == 1' "$TMP/foreign.json"
check_equal "it is still attached" "$id" "$(ip -n "$vios" -j link show trunk0 | jq -r '.[0].xdp.prog.id')"
ip -n "$vios" link set dev trunk0 xdp off

check_equal "no program of ours is left" "" "$(bpftool prog show | grep -oE 'name (hop_xdp|hop_tc|source_live|count_drop)')"
check_equal "no clsact of ours is left" "" "$(tc -n "$vios" qdisc show | grep clsact)"
