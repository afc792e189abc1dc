#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every BPF program on other kernels: the tests of tier prog inside guests, then a run on a path there. GUEST_KERNELS chooses; without it the
# oldest that is supported, the stable one, one with zero-copy and the newest that can be had. GUEST_PROGRAMS is a pattern for names of
# tests (all). What a kernel lacks is a skip with its reason. GUEST_QUICK: the stable kernel, and each BPF program but no long streams.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../lib/guest.sh"

# Output: "program NAME STATUS", "passed NAME TEST", "lacks NAME TEST: REASON", "failed NAME TEST", and what failing programs wrote behind "| ".
# Emulated, a frame takes a hundred times what it takes otherwise: fewer of them. A program that hangs is named, and the next one runs.
cat >"$TMP/programs" <<'END'
#!/bin/busybox sh
export ASAN_OPTIONS=detect_leaks=0 CMOCKA_MESSAGE_OUTPUT=TAP LEDGER_FRAMES=700000
mv /ip /tc /bin/
mv /hostsh /bin/sh # busybox's would take its own ip and tc
for program in /prog-*; do
	[ -x "$program" ] || continue
	timeout -s KILL 300 "$program" >/tmp/output 2>&1
	status=$?
	echo "program ${program#/prog-} $status $(cut -d. -f1 /proc/uptime)"
	awk -v name="${program#/prog-}" '
		/^# skip: / { why = substr($0, 9); next }
		/^not ok [0-9]+ # SKIP / { sub(/^not ok [0-9]+ # SKIP /, ""); print "lacks", name, $0 ": " why; why = ""; next }
		/^not ok [0-9]+ - / { sub(/^not ok [0-9]+ - /, ""); print "failed", name, $0; next }
		/^ok [0-9]+ - / { sub(/^ok [0-9]+ - /, ""); print "passed", name, $0 }' /tmp/output
	[ "$status" = 0 ] || sed 's/^/| /' /tmp/output
done
hopcap run --lab sea --quick >/tmp/output 2>&1
echo "program run $?"
grep -q '^verdict: ' /tmp/output && echo "passed run on a lab" || { echo "failed run on a lab"; sed 's/^/| /' /tmp/output; }
END
chmod +x "$TMP/programs"

quick && : "${GUEST_KERNELS:=6.12}" "${GUEST_PROGRAMS:=@(hop_*|source_frames|source_clone|steer|reflect|tc_hook|bridge_program)}"
programs=()
for source in "$ROOT"/tests/prog/test_*.c; do
	name=$(basename "${source%.c}" | sed 's/^test_//')
	# shellcheck disable=SC2053 # a pattern is wanted
	[[ -e ${source%.c}.h || $name != ${GUEST_PROGRAMS:-*} ]] || programs+=("$ROOT/build/tests/prog-$name")
done

require_command ip tc jq
cp -L "$(command -v ip)" "$(command -v tc)" "$TMP"
cp -L /bin/sh "$TMP/hostsh"

run_kernel() {
	local kernel=$1 count=0 kind name rest
	fetch_guest "$kernel" || return 0
	run_guest "$kernel" 900 /programs "$TMP/programs" "$TMP/hostsh" "$TMP/ip" "$TMP/tc" "${programs[@]}" >"$TMP/output"
	while read -r kind name rest; do
		case $kind in
		program) ((count++, ${rest%% *} == 0)) || not_ok "$kernel $name: exit status $rest" ;;
		passed) ok "$kernel $name $rest" ;;
		lacks) skip_case "$kernel $name ${rest%%: *}" "${rest#*: }" ;;
		failed) not_ok "$kernel $name $rest" ;;
		esac
	done <"$TMP/output"
	check_equal "$kernel: all programs were there" $((${#programs[@]} + 1)) "$count"
}

for kernel in ${GUEST_KERNELS:-6.1 6.12 6.18 $(newest_kernel)}; do
	run_kernel "$kernel"
	((harness_failed)) && cat "$TMP/output"
done
exit 0
