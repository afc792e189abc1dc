# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes the clock of an agent (skewed_clock.c) while `hopcap clock --json` watches it, and compares each window with the truth.

    skewed_clock.py set FILE OFFSET_NS PPM          writes a clock that stays as it is
    skewed_clock.py watch FILE PIDFILE WINDOWS SEED COMMAND...
        COMMAND prints one line of JSON a window. PIDFILE names the agent: to put its clock back, it is stopped for as long as its clock
        is put back, as a guest is that is paused; so it never sees its clock run backwards, and no more does a kernel.

`watch` prints what it found and exits with 1 when a window or a step was reported wrongly.
"""
import bisect
import json
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import threading
import time

MOST_ENTRIES = 4096
ENTRY = struct.Struct("qqd")
MOST_PPM = 450  # of ours and theirs together a kernel's limit allows 1000
AHEAD_NS = 5_000_000


class Clock:
    """The file, and the same list for the truth."""

    def __init__(self, path):
        with open(path, "wb") as file:
            file.truncate(8 + MOST_ENTRIES * ENTRY.size)
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)
        self.bases, self.entries = [], []

    def put(self, base, offset, rate):
        at = 8 + len(self.bases) * ENTRY.size
        self.map[at:at + ENTRY.size] = ENTRY.pack(base, offset, rate)
        self.bases.append(base)
        self.entries.append((base, offset, rate))
        self.map[0:8] = struct.pack("Q", len(self.bases))

    def theta(self, when):
        base, offset, rate = self.entries[bisect.bisect_right(self.bases, when) - 1]
        return offset + rate * (when - base)

    def change(self, step_ns, ppm):
        base = time.monotonic_ns() + AHEAD_NS
        self.put(base, int(self.theta(base)) + step_ns, ppm * 1e-6)


def disturb(clock, pid_file, chance, over, steps):
    while not over.wait(chance.uniform(0.05, 0.4)):
        ppm = chance.uniform(-MOST_PPM, MOST_PPM)
        kind = chance.random()
        if kind < 0.8:
            clock.change(0, ppm)
            continue
        size = int(chance.uniform(5e6, 300e6))
        if kind < 0.9:
            steps.append((time.monotonic_ns(), size))
            clock.change(size, ppm)
        else:
            with open(pid_file, encoding="ascii") as file:
                pid = int(file.read())
            steps.append((time.monotonic_ns(), -size))
            os.kill(pid, signal.SIGSTOP)
            time.sleep(2e-3)
            clock.change(-size, ppm)
            time.sleep(size / 1e9 + AHEAD_NS / 1e9)
            os.kill(pid, signal.SIGCONT)
        over.wait(0.5)  # two steps in one window are reported as one


def watch(path, pid_file, windows, seed, command):
    chance = random.Random(seed)
    clock = Clock(path)
    clock.put(time.monotonic_ns(), int(chance.uniform(-1e9, 1e12)), chance.uniform(-MOST_PPM, MOST_PPM) * 1e-6)
    over, steps, lines = threading.Event(), [], []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        thread = None
        for line in process.stdout:
            lines.append(json.loads(line))
            if not thread:  # the agent is there
                thread = threading.Thread(target=disturb, args=(clock, pid_file, chance, over, steps))
                thread.start()
            if len(lines) == windows - 10:  # a step is found by the exchanges after it
                over.set()
        over.set()
        if thread:
            thread.join()
    wrong = told = 0
    worst = 0.0
    for window in lines:
        if window["stepped"]:
            continue
        told += 1
        for when in (window["from_ns"], (window["from_ns"] + window["to_ns"]) // 2, window["to_ns"]):
            error = abs(clock.theta(when) - window["offset_ns"])
            worst = max(worst, error / window["bound_ns"])
            if error > window["bound_ns"]:
                wrong += 1
                print(f"at {when}: truth {clock.theta(when):.0f}, said {window['offset_ns']} +- {window['bound_ns']:.0f}")
    bounds = sorted(window["bound_ns"] for window in lines if not window["stepped"])
    found = lines[-1]["steps"] if lines else -1
    print(f"{len(lines)} windows, {told} with a bound (median {bounds[len(bounds) // 2] / 1e3:.1f} us), {wrong} wrong; "
          f"the truth was at most {worst:.2f} bounds away; {len(clock.bases)} changes, {len(steps)} steps, {found} found")
    return process.returncode != 0 or len(lines) != windows or wrong or not steps or found != len(steps)


def main():
    if sys.argv[1] == "set":
        Clock(sys.argv[2]).put(time.monotonic_ns(), int(sys.argv[3]), float(sys.argv[4]) * 1e-6)
        return 0
    return int(bool(watch(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), sys.argv[6:])))


sys.exit(main())
