#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Paths and trees of saved facts: tests/golden/facts/NAME.json must give NAME.path, byte for byte: the tree, then for each pair of points
# named there in a line "$ SOURCE SINK" what `hopcap path` says and returns.
#
#   path.sh            HOPCAP=… names the program; build/hopcap otherwise
#   path.sh --accept   makes what is printed now the expected text; look at the difference before you commit it

. "$(dirname "$0")/../lib/harness.sh"
here=$ROOT/tests/golden/facts

# say FILE: tree and paths, for the pairs that FILE's text has.
say() {
	local facts=$1.json source sink
	"$HOPCAP" path --tree --facts "$facts"
	while read -r source sink; do
		printf '\n$ %s %s\n' "$source" "$sink"
		"$HOPCAP" path --facts "$facts" "$source" "$sink" 2>&1
		echo "status $?"
	done < <(sed -n 's/^\$ //p' "$1.path")
}

for text in "$here"/*.path; do
	name=$(basename "$text" .path)
	say "${text%.path}" >"$TMP/$name.path"
	if [[ ${1:-} == --accept ]]; then
		cp "$TMP/$name.path" "$text"
	else
		check "$name" diff -u "$text" "$TMP/$name.path"
	fi
done
[[ ${1:-} == --accept ]] && exit 0

# Help and typing errors.
# refused NAME STATUS TEXT ARGUMENT…
refused() {
	local name=$1 wanted=$2 text=$3 got
	shift 3
	"$HOPCAP" path "$@" >"$TMP/stdout" 2>"$TMP/stderr" </dev/null
	got=$?
	if ((got == wanted)) && [[ ! -s $TMP/stdout ]] && grep -qF -- "$text" "$TMP/stderr"; then
		ok "$name"
	else
		not_ok "$name" "status $got, wanted $wanted; $(<"$TMP/stderr")"
	fi
}

kvm=$here/kvm_bond_vlan.json
check "help" diff -u "$here/path_help" <("$HOPCAP" path --help)
refused no_points 2 "give two points, SOURCE and SINK, or --tree" --facts "$kvm"
refused three_points 2 "give two points" --facts "$kvm" a b c
refused tree_with_points 2 "it takes no points" --facts "$kvm" --tree eno1 eno2
refused tree_as_json 2 "hopcap facts --json" --facts "$kvm" --tree --json
refused two_sources_of_facts 2 "give one of them" --facts "$kvm" --sysroot / --tree
refused no_such_interface 3 "nosuch0: no such interface" --facts "$kvm" nosuch0 eno1
refused no_such_namespace 3 "no network namespace 'nowhere'" --facts "$kvm" eno1 eno1@ns:nowhere
refused one_interface 2 "source and sink are one interface" --facts "$kvm" eno1 eno1
refused bad_point 2 "unknown domain" --facts "$kvm" eno1@mars eno1
refused no_such_file 3 "No such file" --facts "$here/missing.json" eno1 eno2
head -c 500 "$kvm" >"$TMP/short.json"
refused cut_off_facts 2 "short.json" --facts "$TMP/short.json" eno1 eno2
refused sysroot_of_nothing 3 "nowhere" --sysroot "$TMP/nowhere" eno1 eno2
check_equal "quiet: the points alone" "br30 vnet0:out" "$("$HOPCAP" path --quiet --facts "$kvm" br30 vnet0 2>&1)"
"$HOPCAP" path --facts "$kvm" --tree >/dev/full 2>"$TMP/stderr"
check_equal "full disk" 3 $?
if command -v jq >/dev/null; then
	check_equal "JSON" "hopcap.path/1 true br30,vnet0:out,virtio-net-pci of qemu 3000 bridge,guest" \
		"$("$HOPCAP" path --json --facts "$kvm" br30 vnet0 | jq -r '"\(.schema) \(.complete) \([.points[].text] | join(",")) \([.hops[].kind] | join(","))"')"
else
	skip_case "JSON" "jq is not installed"
fi
