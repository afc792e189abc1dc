#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Paths over several domains. Agents in other namespaces stand in for guests: their kernel is ours, so their clock is, too, and whatever a
# run says of it must contain 0. Who dies in mid-run is in agent_deaths.sh.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
# shellcheck source=tests/lib/domain.sh
. "$(dirname "$0")/../lib/domain.sh"
require_root
require_command jq ip tc bpftool unshare python3

tag=agent$$
domain_path "$tag" || exit 1
domain_agent
run=("$HOPCAP" run --quick)
mid=(--domain "mid=$TMP/agent ${tag}b")
path=("a0@ns:${tag}a" b0@mid b1@mid "c0@ns:${tag}c")

# refused NAME PATTERN COMMAND…: exit status 2 or 3, and one line that says PATTERN.
refused() {
	local name=$1 pattern=$2
	shift 2
	"$@" >"$TMP/out" 2>"$TMP/error"
	if (($? >= 2)) && grep -qE "$pattern" "$TMP/error"; then
		ok "$name"
	else
		not_ok "$name" "$(head -c 2000 "$TMP/error")"
	fi
}

# Two seconds are promised; looking takes its time as well, and a machine with more to do than it has CPUs for is slow at both.
SOON=3
read -r load _ </proc/loadavg
((${load%.*} > 2 * $(nproc))) && SOON=20

# --- what a run says ---

# book FILE: verdict, losses and domains as they must be, whatever the machine does.
book() {
	check "$1: losses add up across domains" losses_add_up "$2"
	check "$1: run.json keeps its contract" "$ROOT/tools/validate-run-json" "$2"
	check "$1: a verdict with its evidence" jq -e '(.verdict.kind | IN("capped", "source_limited", "none")) and
		(.verdict.sentence | length > 20) and (.verdict.evidence | length > 0)' "$2"
	check "$1: the clock's bound contains the truth, which is 0" jq -e '[.domains[] | select(.clock_bound_ns != null)] |
		length == 1 and all(.[]; (.clock_offset_ns | fabs) <= .clock_bound_ns and .clock_steps == 0 and .clock_exchanges > 50)' "$2"
	check "$1: test frames through the path are exchanges, too" jq -e '[.domains[] | select(.name != "local")] | length == 1 and
		all(.[]; .frame_exchanges > 0 and .frames_note == "" and .crossing_half_min_ns > 0 and .crossing_out_hop > 0)' "$2"
	check "$1: what crosses domains carries the bound, what does not has none" jq -e '.path.points as $p | .latency | length > 0 and
		all(.[].hops[]; ($p[.hop].domain == $p[.hop - 1].domain) == (.bound_ns == 0))' "$2"
}

check "middle points behind a pipe" "${run[@]}" --json "$TMP/mid.json" "${mid[@]}" "${path[@]}"
book "middle points" "$TMP/mid.json"
check "points are named with their domain" jq -e '[.path.points[].domain] == ["local", "mid", "mid", "local"] and
	.path.points[1].name == "b0@mid"' "$TMP/mid.json"
check "the bridge is known as one" jq -e '.path.hops[1].kind == "bridge"' "$TMP/mid.json"
"$HOPCAP" report "$TMP/mid.json" >"$TMP/text"
check "the report tells the clock's bound" grep -qE 'clock +of mid: known to \+-' "$TMP/text"
check "and what is below it, or beyond it" grep -qE '(<|\+-)[0-9]+\.[0-9]' "$TMP/text"
check "and half of there and back, with the hops it is of" grep -qE 'go to mid over hop 1 and come back over hop 3' "$TMP/text"

# One connection of a socket is one agent's life, as with a guest's virtio-serial port.
cat >"$TMP/serve.py" <<'PY'
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
connection, _ = listener.accept()
os.dup2(connection.fileno(), 0)
os.dup2(connection.fileno(), 1)
os.execv(sys.argv[2], sys.argv[2:])
PY
python3 "$TMP/serve.py" "$TMP/socket" "$TMP/agent" "${tag}a" 2>"$TMP/serve.error" &
defer kill $!
wait_until 60 test -S "$TMP/socket" || { not_ok "a socket to serve" "$(cat "$TMP/serve.error")"; exit 1; }
check "source and sink behind a socket, another namespace there" "${run[@]}" --json "$TMP/ends.json" --domain "far=unix:$TMP/socket" \
	a0@far "b0@ns:${tag}b" "b1@ns:${tag}b" "c0@far:ns=${tag}c"
wait
book "source and sink" "$TMP/ends.json"
check "a delay from one clock to the same one is known well" jq -e '[.latency[].path.bound_ns] | all(. < 100000)' "$TMP/ends.json"
check "nothing is left" wait_until "$SOON" domain_is_clean "$tag"

# An agent that is served by our own kernel (a container) shares its clock: there is no bound to speak of.
check "an agent on the same kernel" "${run[@]}" --rfc2544=LATENCY --trial-seconds 0.1 --size 60 --json "$TMP/same.json" \
	--domain "box=ip netns exec ${tag}c $HOPCAP agent --stdio" "a0@ns:${tag}a" c0@box
check "is known to share the clock" jq -e 'all(.domains[]; .clock_bound_ns == null)' "$TMP/same.json"

# --push, over what behaves as ssh does: the words after the host are a command line for a shell there.
if [[ -x $HOPCAP.static ]]; then
	printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >"$TMP/ssh"
	chmod +x "$TMP/ssh"
	check "the program is pushed and runs there" "$HOPCAP" stat --json --push --domain "vm=$TMP/ssh root@vm hopcap agent --stdio"
	check_equal "and its copy is gone" "" "$(find /tmp -maxdepth 1 -name 'hopcap-??????' -newer "$TMP/ssh")"
else
	skip_case "--push" "make static has not been run"
fi

# --- what is refused ---

refused "unknown domain" "unknown domain 'mars'.*--domain mars=" "${run[@]}" "a0@mars" "c0@ns:${tag}c"
refused "domain without a name" "a domain is NAME=" "${run[@]}" --domain "$TMP/agent" "${path[@]}"
refused "domain given twice" "twice" "${run[@]}" "${mid[@]}" "${mid[@]}" "${path[@]}"
refused "interface that is not there" "nosuch0@mid.*no such interface" "${run[@]}" "${mid[@]}" "a0@ns:${tag}a" nosuch0@mid "c0@ns:${tag}c"
refused "namespace that is not there" "nosuchns" "${run[@]}" "${mid[@]}" "a0@ns:${tag}a" b0@mid:ns=nosuchns "c0@ns:${tag}c"
refused "command that fails" "domain mid.*not-a-program" "${run[@]}" --domain "mid=not-a-program" "${path[@]}"
refused "command that is no agent" "nonsense" "${run[@]}" --domain "mid=yes" "${path[@]}"
refused "socket that is not there" "cannot connect" "${run[@]}" --domain "mid=unix:$TMP/none" "${path[@]}"
refused "latency by RFC 2544 between two clocks" "in one kernel" "${run[@]}" --rfc2544 --domain "far=$TMP/agent ${tag}c" \
	"a0@ns:${tag}a" c0@far
cat >"$TMP/garbled" <<SCRIPT
#!/bin/sh
"$TMP/agent" ${tag}b | sed -u '40,\$s/.*/garbage/'
SCRIPT
chmod +x "$TMP/garbled"
refused "agent that talks nonsense in mid-run" "domain mid.*nonsense" "${run[@]}" --domain "mid=$TMP/garbled" "${path[@]}"
check "and is undone" wait_until "$SOON" domain_is_clean "$tag"
