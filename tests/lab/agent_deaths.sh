#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Everything that can go wrong between host and agent in mid-run: one of them killed or stopped, garbage, half lines, in both directions.
# Nothing of ours may be left on either side, and soon.
#   AGENT_ROUNDS=N        each so often (default 1; 20 is what is promised)
#   AGENT_DEATHS=LIST     only these: agent-killed agent-stopped host-killed host-stopped garbage half-line to-agent interrupted
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/lab.sh
. "$(dirname "$0")/../lib/lab.sh"
# shellcheck source=tests/lib/domain.sh
. "$(dirname "$0")/../lib/domain.sh"
require_root
require_command jq ip tc bpftool unshare python3

rounds=${AGENT_ROUNDS:-1}
tag=death$$
domain_path "$tag" || exit 1
domain_agent
run=("$HOPCAP" run --quick)
path=("a0@ns:${tag}a" b0@mid b1@mid "c0@ns:${tag}c")

# Two seconds are promised to who loses its host: AGENT_PROMISE_MS=2000 asks for them, on a machine that is left alone. A machine
# with more to do than it has CPUs for is slow at that, so what is always asked is that it happens at all.
PROMISE_MS=${AGENT_PROMISE_MS:-15000}

now_ms() {
	echo $((${EPOCHREALTIME/[.,]/} / 1000))
}

# What went wrong in this round, and the longest time from a death to the end of who survived.
wrong=() slowest_ms=0
must() {
	local what=$1
	shift
	"$@" >"$TMP/why" 2>&1 || wrong+=("$what: $(head -c 300 "$TMP/why")")
}
since() {
	local ms=$(($(now_ms) - $1))
	((ms <= slowest_ms)) || slowest_ms=$ms
	LAST_MS=$ms
}

received() {
	ip netns exec "${tag}c" cat /sys/class/net/c0/statistics/rx_packets
}
more_received() {
	(($(received) > $1))
}
has_ended() {
	! kill -0 "$1" 2>/dev/null
}
agent_is_gone() {
	! agent_runs 2>/dev/null
}

# start_run AGENT: sets RUN to the pid of a run that has sent its first frames and PID to its agent's.
start_run() {
	local before
	rm -f "$TMP/part.json"
	before=$(received)
	"${run[@]}" --json "$TMP/part.json" --domain "mid=$1 ${tag}b" "${path[@]}" >"$TMP/out" 2>"$TMP/error" &
	RUN=$!
	wait_until 30 more_received $((before + 2000)) || wrong+=("the run does not begin: $(cat "$TMP/error")")
	PID=$(cat "$TMP/agent.pid")
}

# host_ends SECONDS SINCE STATUS PATTERN: the run ends within that time with that status, saying that.
host_ends() {
	local status
	must "the run ends" wait_until "$1" has_ended "$RUN"
	since "$2"
	wait "$RUN"
	status=$?
	((status == $3)) || wrong+=("exit status $status instead of $3")
	grep -qE "$4" "$TMP/error" || wrong+=("it should say '$4' and says: $(head -c 500 "$TMP/error")")
}
agent_ends() {
	must "the agent ends" wait_until 20 agent_is_gone
	since "$1"
	((LAST_MS <= PROMISE_MS)) || wrong+=("the agent took $LAST_MS ms")
}
part_is_kept() {
	must "what was measured is kept" jq -e '(.trials | length > 0) and ([.findings[].id] | index("domain-lost")) != null' "$TMP/part.json"
	must "its losses add up" losses_add_up "$TMP/part.json"
}

agent-killed() {
	start_run "$TMP/agent"
	local begin
	begin=$(now_ms)
	kill -KILL "$PID"
	host_ends 20 "$begin" 3 'domain mid: the agent is gone'
	part_is_kept
}

agent-stopped() {
	start_run "$TMP/agent"
	local begin
	begin=$(now_ms)
	kill -STOP "$PID"
	host_ends 40 "$begin" 3 'domain mid: the agent has been silent'
	part_is_kept
	kill -CONT "$PID" 2>/dev/null
	must "the agent ends when it goes on" wait_until 20 agent_is_gone
}

host-killed() {
	start_run "$TMP/agent"
	local begin
	begin=$(now_ms)
	{
		kill -KILL "$RUN"
		agent_ends "$begin"
		wait "$RUN"
	} 2>/dev/null
	must "nothing needs cleaning up but what cleanup finds" "$HOPCAP" cleanup
}

host-stopped() {
	start_run "$TMP/agent"
	local begin
	begin=$(now_ms)
	kill -STOP "$RUN"
	agent_ends "$begin"
	kill -CONT "$RUN"
	host_ends 20 "$(now_ms)" 3 'domain mid: '
}

# Between the agent and the host: garbage from the Nth line on; or the first bytes, and then nothing more, within a line.
cat >"$TMP/garbled" <<-SCRIPT
	#!/bin/sh
	"$TMP/agent" "\$1" | sed -u '120,\$s/.*/garbage {"id":1/'
SCRIPT
cat >"$TMP/halved" <<-SCRIPT
	#!/bin/sh
	"$TMP/agent" "\$1" | python3 -u -c '
	import sys
	for number, line in enumerate(sys.stdin.buffer):
	    sys.stdout.buffer.write(line if number < 120 else line[:len(line) // 2])
	    sys.stdout.buffer.flush()
	    if number == 120:
	        break
	'
SCRIPT
sed -i 's/^\t//' "$TMP/halved"
chmod +x "$TMP/garbled" "$TMP/halved"

from_agent() {
	local before begin
	before=$(received)
	"${run[@]}" --json "$TMP/part.json" --domain "mid=$1 ${tag}b" "${path[@]}" >"$TMP/out" 2>"$TMP/error" &
	RUN=$!
	begin=$(now_ms)
	host_ends 60 "$begin" 3 "$2"
	slowest_ms=0 # the run's own time is in it
	begin=$(now_ms)
	agent_ends "$begin"
	must "it had begun" more_received "$before"
}
garbage() {
	from_agent "$TMP/garbled" 'domain mid: the agent talks nonsense'
}
half-line() {
	from_agent "$TMP/halved" 'domain mid: the agent (is gone|has been silent)'
}

# A host that greets, attaches a probe, says nonsense and half a line, and is then silent, or gone.
cat >"$TMP/host.py" <<'PY'
import json, subprocess, sys, time
agent = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
def ask(text):
    agent.stdin.write(text.encode() + b"\n")
    agent.stdin.flush()
    return json.loads(agent.stdout.readline())
assert "error" not in ask('{"id":1,"verb":"hello","protocol":1,"version":"x","nonce":"n"}')
opened = ask('{"id":2,"verb":"probe-open","name":"b0","interface":"b0","netns":"","mode":"tcx","direction":0}')
assert "error" not in opened, opened
attached = ask('{"id":3,"verb":"probe-attach","handle":%d}' % opened["handle"])
assert "error" not in attached, attached
for nonsense in ("", "garbage", "{}", '{"id":4}', '{"id":4,"verb":"reboot"}', "[" * 1000, '"' + "x" * 100000, "\x00\x01\xff"):
    assert "error" in ask(nonsense), nonsense
agent.stdin.write(b'{"id":5,"verb":"pi')
agent.stdin.flush()
begin = time.monotonic()
if sys.argv[1] == "gone":
    agent.stdin.close()
agent.wait(20)
print(int((time.monotonic() - begin) * 1000))
PY
to-agent() {
	local how
	for how in gone silent; do
		must "garbage and half a line to the agent, then $how" python3 "$TMP/host.py" "$how" "$TMP/agent" "${tag}b"
		LAST_MS=$(cat "$TMP/why")
		[[ $LAST_MS =~ ^[0-9]+$ ]] || { wrong+=("no time: $LAST_MS"); return; }
		((LAST_MS <= slowest_ms)) || slowest_ms=$LAST_MS
		((LAST_MS <= PROMISE_MS)) || wrong+=("the agent took $LAST_MS ms")
	done
}

interrupted() {
	start_run "$TMP/agent"
	local begin
	begin=$(now_ms)
	kill -INT "$RUN"
	host_ends 20 "$begin" 1 'interrupted'
	must "the agent ends" wait_until 5 agent_is_gone
}

for death in ${AGENT_DEATHS:-agent-killed agent-stopped host-killed host-stopped garbage half-line to-agent interrupted}; do
	good=0 slowest_ms=0
	for ((round = 1; round <= rounds; round++)); do
		wrong=()
		"$death"
		must "nothing is left" wait_until 5 domain_is_clean "$tag"
		if ((${#wrong[@]})); then
			printf "# round $round of $death: %s\\n" "${wrong[@]}"
		else
			((good++))
		fi
	done
	if ((good == rounds)); then
		ok "$death: $good of $rounds, at most $slowest_ms ms"
	else
		not_ok "$death: $good of $rounds"
	fi
done
