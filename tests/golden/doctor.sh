#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hopcap doctor and plan without a system: lists, explanations, the manual, saved facts, mistakes on the command line.

. "$(dirname "$0")/../lib/harness.sh"

# expect NAME STATUS PATTERN ARGUMENT…: standard output and errors together match the shell pattern.
expect() {
	local name=$1 wanted=$2 pattern=$3 text status
	shift 3
	text=$("$HOPCAP" "$@" 2>&1 </dev/null)
	status=$?
	# shellcheck disable=SC2053 # a pattern is wanted
	if [[ $status == "$wanted" && $text == $pattern ]]; then
		ok "$name"
	else
		not_ok "$name" "status $status: $text"
	fi
}

"$HOPCAP" doctor --list --markdown >"$TMP/checks.md"
check "docs/checks.md is current (make docs)" diff "$ROOT/docs/checks.md" "$TMP/checks.md"
ids=$("$HOPCAP" doctor --list | awk '/^  / { print $1 }')
check "at least 80 checks are listed" test "$(wc -l <<<"$ids")" -ge 80
explained() {
	local id
	for id in $ids; do
		"$HOPCAP" doctor --explain "$id" | grep -q "^what to do  " || { echo "$id"; return 1; }
	done
}
check "each of them is explained" explained

# Ids stand in texts and in the plan as words: each must be that of a check.
named() {
	awk '/(ids|obstacles)\[\] = \{/ { is_in = 1 } is_in { print } /\};/ { is_in = 0 }' "$ROOT/user/doctor/plan.c" | grep -oE '"[a-z0-9-]+"' | tr -d '"'
	grep -ohE -- '--explain [a-z0-9]+-[a-z0-9-]+' "$ROOT"/README.md "$ROOT"/ARCHITECTURE.md "$ROOT"/user/*/*.c | awk '{ print $2 }'
	jq -r '.[].check' "$ROOT"/tests/unit/doctor_cases/*.json
	grep -ohE '(found|cycle|says) [a-z0-9]+-[a-z0-9-]+ (fail|warn|info|unknown)' "$ROOT"/tests/lab/*.sh | awk '{ print $2 }'
	jq -r '.findings[].id' "$ROOT"/tests/golden/sea_*.json
	grep -ohE 'sizeof\(finding->id\), "[a-z0-9-]+"' "$ROOT"/user/measure/*.c | grep -o '"[^"]*"' | tr -d '"'
}
check "ids are named in many places" test "$(named | sort -u | wc -l)" -ge 100
check_equal "each id that is named is a check's" "" "$(comm -23 <(named | sort -u) <(sort -u <<<"$ids"))"

# A file that a check reads must be one that is collected (by these rows; processes and interrupts have collectors of their own).
collected() {
	sed -nE 's|^\tMACHINE\(CPU "([^"]*)".*|/sys/devices/system/cpu/\1|p; s|^\t(MACHINE\|NETNS)\("([^"]*)".*|\2|p
		s|^\tLINK\("([^"]*)".*|/sys/class/net/*/\1|p; s|^\tPCI\("([^"]*)".*|/sys/bus/pci/devices/*/\1|p
		s|^\t\{ COLLECT_FILE_MACHINE, "([^"]*)".*|\1|p' "$ROOT/user/sys/collect_file_rows.c"
}
mapfile -t patterns < <(collected)
check "there are patterns of files" test "${#patterns[@]}" -ge 120
not_collected() {
	local path pattern
	grep -ohE '"/(proc|sys)/[^" :]*' "$ROOT"/user/doctor/*.[ch] | sed -E 's/"//; s/;$//; s/%l?[sd]/X/g; s/cpu0/cpuX/; /^\/proc\/(X|irq|…)/d' | sort -u | while read -r path; do
		for pattern in "${patterns[@]}"; do
			# shellcheck disable=SC2053 # patterns are wanted
			[[ $path == $pattern || $pattern == ${path//X/\*} || $pattern == ${path//X/\*}/* || ($path == */ && $pattern == ${path//X/\*}*) ]] && continue 2
		done
		echo "$path"
	done
}
check_equal "each file that a check names is collected" "" "$(not_collected)"

expect explain 0 'mtu-step: A smaller MTU*why *what to do *then *' doctor --explain mtu-step
expect explain_near 2 "hopcap doctor: there is no check 'mtu-stepp'; did you mean 'mtu-step'?" doctor --explain mtu-stepp
expect markdown_alone 2 'hopcap doctor: --markdown goes with --list*' doctor --markdown
expect path_of_one 2 'hopcap doctor: --path takes two points*' doctor --path a0
expect plan_of_one 2 'hopcap plan: plan takes two points*' plan a0
expect seconds_of_a_file 2 'hopcap doctor: --seconds looks at this machine*' doctor --seconds 1 --facts x.json
expect goal_without_number 2 "*--goal: 'fast' is no rate*" doctor --goal fast
expect goal_below_zero 2 "*--goal: '-1' is no rate*" doctor --goal=-1
expect facts_that_are_not_there 3 'hopcap doctor: *' doctor --facts /nonexistent/facts.json

facts=$TMP/facts.json
printf '%s' '{"schema": "hopcap.facts/1", "netns": [{"name": ""}], "links": [
	{"ifindex": 2, "name": "good0", "flags": "0x1", "mtu_bytes": 1500},
	{"ifindex": 3, "name": "slow0", "flags": "0x1", "mtu_bytes": 1500, "duplex": 0, "bus": "pci", "bus_address": "0000:01:00.0"}],
	"files": [{"path": "/proc/stat", "text": "cpu  1 0 0 9 0 0 0 0"}, {"path": "/proc/net/softnet_stat", "text": "00000000 00000000 00000000"}]}' >"$facts"
expect saved_facts 1 '*1  FAIL    nic-duplex: slow0*read    duplex of slow0: half*do      ethtool -s slow0 autoneg on*' \
	doctor --facts "$facts"
expect one_interface 0 'nothing found that caps or costs*' doctor --facts "$facts" good0
expect unknown_interface 3 'hopcap doctor: gone0: there is no interface gone0' doctor --facts "$facts" gone0
expect unknown_namespace 3 'hopcap doctor: *there is no namespace far' doctor --facts "$facts" good0@ns:far
"$HOPCAP" doctor --facts "$facts" --json >"$TMP/one.json"
"$HOPCAP" doctor --json --facts - <"$facts" >"$TMP/two.json"
check "the standard input tells the same as a file" cmp "$TMP/one.json" "$TMP/two.json"
check "findings as JSON" jq -e '.schema == "hopcap.findings/1" and .findings[0].id == "nic-duplex" and .findings[0].severity == "fail"' \
	"$TMP/one.json"
"$HOPCAP" doctor --facts "$facts" >/dev/full 2>"$TMP/errors"
check_equal "full disk" 3 $?
