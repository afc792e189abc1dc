#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Saved runs, printed again: tests/golden/NAME.json must give tests/golden/NAME.txt, byte for byte, and itself as JSON.
#
#   report.sh            HOPCAP=… names the program; build/hopcap otherwise
#   report.sh --accept   makes what is printed now the expected text; look at the difference before you commit it

set -u
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
hopcap=${HOPCAP:-$here/../../build/hopcap}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
status=0

result() { # result NAME STATUS
	if (($2 == 0)); then
		echo "ok $1"
	else
		echo "not ok $1"
		status=1
	fi
}

# refused NAME STATUS TEXT ARGUMENT…: that exit status, nothing on stdout, one line on stderr that holds the text.
refused() {
	local name=$1 expected=$2 text=$3 got
	shift 3
	"$hopcap" report "$@" >"$scratch/stdout" 2>"$scratch/stderr"
	got=$?
	((got == expected)) && [[ ! -s $scratch/stdout && $(wc -l <"$scratch/stderr") == 1 ]] &&
		grep -qF -- "$text" "$scratch/stderr"
	local good=$?
	((good == 0)) || printf '# exit status %d, expected %d; %s\n' "$got" "$expected" "$(cat "$scratch/stderr")"
	result "$name" "$good"
}

if [[ ${1:-} == --accept ]]; then
	for run in "$here"/*.json; do
		"$hopcap" report "$run" >"${run%.json}.txt" || exit 1
	done
	exit 0
fi

for run in "$here"/*.json; do
	name=$(basename "$run" .json)
	"$hopcap" report "$run" | diff -u "${run%.json}.txt" -
	result "$name-text" "${PIPESTATUS[1]}"
	"$hopcap" report --format json "$run" | diff -u "$run" -
	result "$name-json" "${PIPESTATUS[1]}"
	LC_ALL=C TERM=xterm NO_COLOR='' "$hopcap" report - <"$run" | diff -u "${run%.json}.txt" -
	result "$name-any-locale" "${PIPESTATUS[1]}"
	if command -v jq >/dev/null; then
		"$here"/../../tools/validate-run-json "$run"
		result "$name-contract" $?
	else
		echo "skip $name-contract: jq is not installed"
	fi
done

# Files of before the members of throughput and rfc2544 came are read, and say nothing of them.
if command -v jq >/dev/null; then
	jq 'del(.rfc2544, .throughput.goals, .throughput.search_trials, .throughput.search_trial_s)
	    | .throughput[] |= {lower_pps, upper_pps, loss_ratio, loss_goal, irregular}' "$here/sea_cpu.json" >"$scratch/older.json"
	"$hopcap" report "$scratch/older.json" >"$scratch/older.txt" && grep -q 'NDR, no frame lost  *502.3 - 551.9' "$scratch/older.txt" &&
		! grep -q MLRsearch "$scratch/older.txt"
	result older-file $?
else
	echo "skip older-file: jq is not installed"
fi

run=$here/sea_cpu.json
cp "$run" "$scratch/run.json"
"$hopcap" report "$scratch/run.json" | LC_ALL=C grep -q '[^ -~]'
result plain-ascii $((PIPESTATUS[1] == 0))
"$hopcap" report "$scratch/run.json" | awk 'length > 100 { print; wide = 1 } END { exit wide }'
result hundred-columns "${PIPESTATUS[1]}"

refused no-file 3 'No such file' "$scratch/missing.json"
refused a-directory 3 'Is a directory' "$scratch"
refused no-argument 2 'one FILE'
refused unknown-format 2 'xml' "$run" --format xml
head -c 3000 "$run" >"$scratch/short.json"
refused cut-off 2 'is not JSON: line' "$scratch/short.json"
sed 's|hopcap.run/1|hopcap.run/2|' "$run" >"$scratch/version.json"
refused other-version 2 'schema is not "hopcap.run/1"' "$scratch/version.json"
sed 's|"primary_bytes": 1514|"primary_bytes": "1514"|' "$run" >"$scratch/type.json"
refused wrong-type 2 'primary_bytes is a text instead of an integer' "$scratch/type.json"
printf '[1, \0 2]' >"$scratch/nul.json"
refused nul-byte 2 'is not JSON' "$scratch/nul.json"
printf '%.0s[' {1..5000} >"$scratch/deep.json"
refused deep-nesting 2 'is not JSON' "$scratch/deep.json"
truncate -s 65M "$scratch/large.json"
refused too-large 2 'larger than 64 MiB' "$scratch/large.json"

for format in text json; do
	"$hopcap" report "$run" --format "$format" >/dev/full 2>"$scratch/stderr"
	[[ $? == 3 && $(wc -l <"$scratch/stderr") == 1 ]] && grep -q 'No space left' "$scratch/stderr"
	result "full-disk-$format" $?
done

exit $status
