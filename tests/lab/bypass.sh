#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hopcap run --bypass: the bridge that caps replaced by the fast path and by the forwarder, refusals, and interruption in the midst of it.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/two_hosts.sh
. "$(dirname "$0")/../lib/two_hosts.sh"
require_root
require_command jq ip ethtool pgrep taskset

TRIES=${TRIES:-4} # a machine that others use may name another hop now and then
ns=hopcap-byp-$$
points=("e0@ns:$ns-h0" "p0@ns:$ns-b" "p1@ns:$ns-b" "e1@ns:$ns-h1")
defer raze_hosts

run() {
	"$HOPCAP" run --quick --size 60 --cpu 0 --json "$TMP/run.json" "$@" "${points[@]}" >"$TMP/text" 2>"$TMP/error"
}

# measured OPTION…: a run whose cap is the bridge.
measured() {
	local try
	for ((try = 0; try < TRIES; try++)); do
		run "$@" || return 1
		jq -e '.bypass.hop == 2' "$TMP/run.json" >/dev/null && return 0
		printf '# %s\n' "$(jq -r .verdict.sentence "$TMP/run.json")"
	done
	return 1
}

is_clean() {
	[[ $(attached) == 0 && $(checksum_offload 0) == on && $(checksum_offload 1) == on ]]
}

bypassed() { # the program that stands at the bridge's port
	ip -n "$ns-b" -j link show p0 | jq -e '.[0].xdp.prog.name == "bridge_xdp"'
}

# interrupted SIGNAL: while a frame could take the fast path. Leaves the exit status in $code.
interrupted() {
	local pid try
	for ((try = 0; try < TRIES; try++)); do
		run --bypass --set-offloads &
		pid=$!
		until bypassed >/dev/null 2>&1; do
			if ! kill -0 "$pid" 2>/dev/null; then # it named another hop
				printf '# %s %s\n' "$(jq -r .verdict.sentence "$TMP/run.json")" "$(cat "$TMP/error")"
				continue 2
			fi
			sleep 0.02
		done
		kill "-$1" "$(pgrep -P "$pid" -x hopcap || echo "$pid")"
		wait "$pid"
		code=$?
		return 0
	done
	return 1
}

# A CPU of its own for the path, as labs have it: with the source on the path's CPU that would be the limit.
own_cpu() {
	local cpus thread
	cpus=$(nproc)
	in_ns b ethtool -K p0 gro on && in_ns h1 ethtool -K e1 gro on || return 1
	in_ns b sh -c 'echo 1 >/sys/class/net/p0/threaded' || return 1
	thread=$(pgrep -f "^\\[napi/p0-")
	[[ -n $thread ]] || thread=$(pgrep "^napi/p0-")
	((cpus < 2)) || taskset -cp $((cpus - 1)) "$thread" >/dev/null
}

check "the path is built" build_hosts 2 br0
check "it has a CPU of its own" own_cpu

check "run --bypass names the bridge" measured --bypass --set-offloads
# How much it is is what bench asks; a machine that others use may slow down one half of a pair.
check "with the fast path it can pass more" jq -e '.bypass | .why_not == "" and .ratio > 0 and .high_ratio > 1 and .low_ratio <= .ratio and .ratio <= .high_ratio and .pairs >= 3' "$TMP/run.json"
check "CPU time is told, or the cause is another" jq -e '.bypass.cpu_saved_s != null or .verdict.cause != "cpu"' "$TMP/run.json"
check "latency when idle of both" jq -e '.bypass | .idle_ns > 0 and .with_hop_idle_ns > 0' "$TMP/run.json"
check "the verdict says so" jq -e '.verdict | (.sentence | test("with the fast path in its place the path passes (at least )?[0-9.]+ times")) and ([.evidence[].name] | index("bypass"))' "$TMP/run.json"
check "the report says so" grep -q '^  bypassed with the fast path in place of hop 2' "$TMP/text"
check "the contract holds" "$ROOT/tools/validate-run-json" "$TMP/run.json"
printf '# %s\n' "$(jq -c .bypass "$TMP/run.json")"
check "all is undone" is_clean

check "run --bypass=forward" measured --bypass=forward --set-offloads
check "with the forwarder there is a ratio" jq -e '.bypass | .way == "the forwarder" and .why_not == "" and .ratio > 0' "$TMP/run.json"
printf '# %s\n' "$(jq -c .bypass "$TMP/run.json")"
check "all is undone again" is_clean

check "run --bypass without --set-offloads" measured --bypass
check "refused: why, and no number" jq -e '.bypass | (.why_not | test("leaves checksums to the device")) and .ratio == null and .capacity_pps == null and .cpu_saved_s == null' "$TMP/run.json"
check "refused: the report says so" grep -q '^  bypass   no number: hop 2 (bridge br0): p0: its other end leaves' "$TMP/text"
check "refused: all is as it was" is_clean

code=
interrupted INT || not_ok "interrupted in the midst of it" "no run got so far"
check_equal "interrupted: status" 1 "$code"
check "interrupted: all is undone" is_clean
interrupted KILL || not_ok "killed in the midst of it" "no run got so far"
gone() { [[ $(attached) == 0 ]]; }
check "killed: the programs are gone" wait_until 1 gone
check "killed: cleanup" "$HOPCAP" cleanup
check "killed: cleanup undid the rest" is_clean

"$HOPCAP" run --lab sea --dedicated --quick --bypass --json "$TMP/wire.json" >"$TMP/text" 2>&1
check "no bridge: why, and no number" jq -e '.bypass | .ratio == null and (.why_not | test("no hop is named|no bridge"))' "$TMP/wire.json"
for wrong in "--bypass=other" "--set-offloads" "--bypass --rfc2544"; do
	# shellcheck disable=SC2086 # words on purpose
	timeout 60 "$HOPCAP" run $wrong "${points[@]}" >"$TMP/text" 2>&1
	check_equal "usage: $wrong" 2 $?
done
