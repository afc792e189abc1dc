#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every BPF program on other kernels: the tests of tier prog inside guests, then a run. GUEST_KERNELS chooses (default: the oldest that
# is supported, the stable one, a new one).
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/guest.sh
. "$(dirname "$0")/../lib/guest.sh"

cat >"$TMP/programs" <<'END'
#!/bin/busybox sh
export ASAN_OPTIONS=detect_leaks=0 CMOCKA_MESSAGE_OUTPUT=TAP PATH=/:$PATH
for program in /prog-*; do
	"$program" >/tmp/output 2>/tmp/errors
	echo "program ${program#/} $? $(grep -c '^ok [0-9]' /tmp/output) $(grep -c '^not ok [1-9]' /tmp/output)"
	grep -A 6 '^not ok [1-9]' /tmp/output
done
hopcap run --lab sea --quick
echo "program run $? 1 0"
END
chmod +x "$TMP/programs"

programs=()
for source in "$ROOT"/tests/prog/test_*.c; do
	[[ -e ${source%.c}.h ]] || programs+=("$ROOT/build/tests/prog-$(basename "${source%.c}" | sed 's/^test_//')")
done

for kernel in ${GUEST_KERNELS:-6.1 6.12 6.18}; do
	fetch_guest "$kernel"
	run_guest "$kernel" 900 /programs "$TMP/programs" "$(command -v ip)" "${programs[@]}" >"$TMP/output"
	count=0
	while read -r _ name status passed failed; do
		((count++))
		check "$kernel: $name ($passed tests)" test "$status.$failed" = 0.0
	done < <(grep '^program ' "$TMP/output")
	check_equal "$kernel: all programs were there" $((${#programs[@]} + 1)) "$count"
	((harness_failed)) && cat "$TMP/output"
done
exit 0
