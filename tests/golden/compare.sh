#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Saved runs side by side: the table and the JSON are tests/golden/compare/*, byte for byte; wrong arguments are refused. Needs no root.
#
#   compare.sh --accept   makes what is printed now the expected text; look at the difference before you commit it
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
cd "$ROOT/tests/golden" || exit 1

runs=(sea_cpu.json sea_tbf.json sea_mtu.json)
# Of other machines, kernels, frame sizes: what differs is said, and what is not known is no number.
odd=(sea_cpu.json sea_rate.json sea_rfc2544.json two_clocks.json "$TMP/moved.json")
sed 's/"kernel": "6.18.0"/"kernel": "6.12.1"/; s/"machine": "x86_64, 2 CPUs"/"machine": "ppc64le, 8 CPUs"/; s/"version": "0.1.0"/"version": "0.0.9"/
	s/"primary_bytes": 1514/"primary_bytes": 60/; s/"port": "live"/"port": "packet"/' sea_cpu.json >"$TMP/moved.json"

if [[ ${1:-} == --accept ]]; then
	mkdir -p compare
	"$HOPCAP" compare "${runs[@]}" >compare/alike.txt
	"$HOPCAP" compare --json "${runs[@]}" >compare/alike.json
	"$HOPCAP" compare "${odd[@]}" >compare/odd.txt
	"$HOPCAP" compare --json "${odd[@]}" >compare/odd.json
	exit
fi

same() { # same FILE ARGUMENT…: the output is that file
	local file=$1
	shift
	"$HOPCAP" compare "$@" | diff -u "compare/$file" -
}
check "alike-text" same alike.txt "${runs[@]}"
check "alike-json" same alike.json --json "${runs[@]}"
check "odd-text" same odd.txt "${odd[@]}"
check "odd-json" same odd.json --json "${odd[@]}"
check "standard input" diff <("$HOPCAP" compare --json - <sea_cpu.json | sed 's/standard input/sea_cpu/') <("$HOPCAP" compare --json sea_cpu.json)
check "any locale" diff <(LC_ALL=C "$HOPCAP" compare "${odd[@]}") compare/odd.txt
check_equal "plain ASCII, a hundred columns" "" "$(LC_ALL=C grep -nE '[^ -~]|.{101}' compare/odd.txt)"

refused() { # refused NAME STATUS PATTERN ARGUMENT…: that exit status, nothing on stdout, one line on stderr
	local name=$1 wanted=$2 pattern=$3 got
	shift 3
	"$HOPCAP" compare "$@" >"$TMP/out" 2>"$TMP/error" </dev/null
	got=$?
	if ((got == wanted)) && [[ ! -s $TMP/out && $(wc -l <"$TMP/error") == 1 ]] && grep -qE -- "$pattern" "$TMP/error"; then
		ok "$name"
	else
		not_ok "$name" "status $got: $(cat "$TMP/error")"
	fi
}
refused "nothing to compare" 2 'give the runs'
refused "no such file" 3 'No such file' sea_cpu.json "$TMP/missing.json"
refused "no run" 2 'odd.txt' compare/odd.txt
refused "standard input twice" 2 'once' - -
refused "too many" 2 'at most 16' sea_cpu.json sea_cpu.json sea_cpu.json sea_cpu.json sea_cpu.json sea_cpu.json sea_cpu.json sea_cpu.json \
	sea_cpu.json sea_cpu.json sea_cpu.json sea_cpu.json sea_cpu.json sea_cpu.json sea_cpu.json sea_cpu.json sea_cpu.json
refused "how to measure, but nothing is" 2 'for runs that are made' --quick sea_cpu.json
if ((EUID == 0)); then
	refused "no such lab" 2 'lab:nosuch.*nosuch' lab:nosuch
	refused "no such point" 3 'nosuch0\.\.nosuch1.*no such interface' nosuch0..nosuch1
else
	refused "measuring without root" 3 'needs root' lab:sea
fi
