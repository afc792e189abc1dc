#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tools/bench without measuring: its options, and what it makes of pairs: ratios, goals, the document.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
require_command python3

bench=$ROOT/tools/bench

status_of() {
	"$@" >"$TMP/out" 2>&1
	echo $?
}

check_equal "no pairs is wrong usage" 2 "$(status_of "$bench" --pairs 0)"
check_equal "an unknown row is wrong usage" 2 "$(status_of "$bench" --rows no-such-row)"
check "and says where the names are" grep -q -- --list "$TMP/out"
check_equal "a hopcap that is not there is an environment error" 3 "$(HOPCAP=$TMP/none status_of "$bench" --rows live)"
check "every row of the issue is listed" bash -c '
	list=$("$1" --list)
	for row in live-testpmd live-bare64 live-stamped-bare64 af_xdp-testpmd sink-bare af_xdp-sink-testpmd live-trafgen \
		live-iperf3 accel-bridge-64 accel-redirect-1514 forward-bridge-64 accel-idle-64 accel-idle-1514 forward-idle-64 pace-live-1000000 pace-packet-1000; do
		grep -q "^$row" <<<"$list" || { echo "$row is missing"; exit 1; }
	done' - "$bench"

# A median of ratios, not a ratio of medians: pairs of slow minutes count as much as those of fast ones.
cat >"$TMP/judge.py" <<'END'
import sys
sys.path.insert(0, sys.argv[1] + "/bench")
sys.dont_write_bytecode = True
import pacing, result
from rows import Row, Sample, result_of, testpmd_received
from place import BenchError

def row(goal):
    return Row("r", "sent", "a", "b", None, None, goal)

def pairs(*values):
    return [(Sample(ours), Sample(theirs)) for ours, theirs in values]

three = pairs((10, 10), (1, 2), (90, 100))
got = result.row_result(row(0.9), three, 1)
assert got["ratio"] == {"median": 0.9, "low": 0.5, "high": 1.0}, got["ratio"]
assert got["met"] is True and got["pairs"] == 3 and got["disturbed"] == 1
assert got["ours"]["median"] == 10 and got["theirs"]["low"] == 2
assert result.row_result(row(0.91), three, 0)["met"] is False
assert result.row_result(row(None), three, 0)["met"] is None

# Of delays less is better: the ratio says how many times ours is better, whatever the unit.
delay = Row("d", "idle", "a", "b", None, None, 1.0, unit="ns")
got_delay = result.row_result(delay, pairs((500, 1000), (400, 1000), (1000, 1000)), 0)
assert got_delay["ratio"]["median"] == 2.0 and got_delay["met"] is True and got_delay["unit"] == "ns"
assert result.row_cells(got_delay)[3:5] == ["500 ns", "1000 ns"]
assert result.row_result(delay, pairs((1100, 1000)), 0)["met"] is False

failed = result.row_failure(row(1), "no such thing")
assert failed["met"] is False and failed["ratio"] is None # what cannot be measured is not met
document = {"rows": [got, failed, result.row_failure(row(None), "x")],
            "pacing": [{"name": "p", "goals": {"rate": True, "gap": False}}]}
assert result.missed(document) == ["r", "p (gap)"], result.missed(document)
result.print_table(result.ROW_HEAD, [result.row_cells(entry) for entry in document["rows"]])

def judge(port, rate, ceiling, error, mean, gap):
    return pacing.judge(port, rate, ceiling, error, mean, gap)

assert judge("live", 1000000, 5e6, 0.0005, 900, 1020) == {
    "rate within 0.1 %": True, "mean lateness <= 1 us": True, "sink's gap agrees": True}
assert not any(judge("live", 1000000, 5e6, 0.002, 1100, 1100).values())
assert not any(judge("live", 1000000, 5e6, 0.002, None, None).values()) # what was not told is not kept
assert judge("packet", 1000000, 1.5e6, 0.3, 5000, None) == {} # the source is the limit

assert result_of('{"event":"second"}\n{"event":"result","sent":5}\nbye\n', "x")["sent"] == 5
assert testpmd_received("RX-packets: 3 x RX-packets: 41   RX-dropped: 0") == 41
for broken in (lambda: result_of("[1]\n", "x"), lambda: testpmd_received("")):
    try:
        broken()
    except BenchError:
        continue
    raise AssertionError("took nothing for something")
END
check "pairs, goals and documents" python3 "$TMP/judge.py" "$ROOT"
