# SPDX-License-Identifier: GPL-2.0-or-later
"""Where bench measures: one veth pair between two namespaces, and the processes in them.

Owns: making and removing the pair, the receiver's NAPI thread and its CPU, starting and ending programs in the
namespaces, reading counters. Leaves to others: which programs (rows.py), what the numbers mean (result.py).

The pair has one queue, and GRO is on at the receiving end, without which veth has no NAPI there. Where that NAPI runs is
a row's choice. "softirq", the kernel's own: on the CPU that sends, right after the frames were handed over, so that
receiving costs the sender time and finds the frames in its cache. "thread", as in hopcap's labs: threaded and pinned to the
last CPU, while the sender has the first; each frame then changes CPUs, which on many machines costs more than all else.
All is removed at the end; what a killed run left is removed by the next one.
"""

import ctypes
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

PREFIX = "hbench-"
TX_ADDRESS, RX_ADDRESS = "192.0.2.1", "192.0.2.2"
START_LIMIT_S = 20.0
PR_SET_PDEATHSIG = 1


class BenchError(Exception):
    """One line for people: what could not be done and why."""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise BenchError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip() or 'failed'}")
    return done.stdout


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Program:
    """A program, in one of the namespaces or (None) in our own. What it says goes to a file: a pipe that nobody reads
    would stop it."""

    def __init__(self, namespace, command, asks=False):
        self.name = os.path.basename(command[0]) if command[0] != "taskset" else os.path.basename(command[3])
        self.command = command
        self.output = tempfile.TemporaryFile("w+", prefix="bench-")
        prefix = ["ip", "netns", "exec", namespace] if namespace else []
        self.process = subprocess.Popen(
            [*prefix, *command], text=True, bufsize=1, stdin=subprocess.PIPE if asks else subprocess.DEVNULL,
            stdout=subprocess.PIPE if asks == "answers" else self.output, stderr=self.output,
            start_new_session=True, preexec_fn=die_with_parent)

    def said(self):
        self.output.flush()
        return os.pread(self.output.fileno(), 1 << 20, 0).decode(errors="replace")

    def ended(self):
        return self.process.poll() is not None

    def wait(self, limit_s):
        try:
            self.process.wait(limit_s)
            return True
        except subprocess.TimeoutExpired:
            return False

    def end(self, number=signal.SIGTERM, line=None):
        """Ends it and returns what it said: by a line on its standard input, a signal, and at last by force."""
        if line is not None and not self.ended():
            try:
                self.process.stdin.write(line)
                self.process.stdin.close()
            except (BrokenPipeError, ValueError):
                pass
            self.wait(5)
        for again in (number, number, signal.SIGKILL):
            if self.ended():
                break
            self.signal(again)
            self.wait(5)
        self.signal(signal.SIGKILL)
        text = self.said()
        self.output.close()
        return text

    def signal(self, number):
        """To its children as well: trafgen's would go on sending."""
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def failure(self):
        lines = [line for line in self.said().splitlines() if line.strip()]
        return f"{self.name} ended with status {self.process.returncode}: {'; '.join(lines[-3:])[:300] or 'silent'}"


class Asked(Program):
    """bench-bare drop or watch: a line of numbers for each line that it gets."""

    def __init__(self, namespace, command):
        super().__init__(namespace, command, asks="answers")
        if self.process.stdout.readline() != "ready\n":
            self.wait(5)
            raise BenchError(self.failure())

    def ask(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        numbers = self.process.stdout.readline().split()
        if not numbers:
            raise BenchError(self.failure())
        return [int(number) for number in numbers]


class Place:
    def __init__(self, bare):
        self.bare = bare
        self.programs = []
        self.more_namespaces = []  # that rows have made; removed with the others
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            raise BenchError("bench needs two CPUs: one sends, one receives")
        self.tx_cpu, self.rx_cpu = cpus[0], cpus[-1]
        base = f"{PREFIX}{os.getpid()}"
        self.tx_namespace, self.rx_namespace = base + "-tx", base + "-rx"
        self.tx, self.rx = f"hb{os.getpid()}t", f"hb{os.getpid()}r"
        self.watch = None
        self.napi_thread = 0

    def __enter__(self):
        remove_left_behind()
        try:
            self.build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for program in self.programs:
            if not program.ended():
                program.end()
        self.programs = []
        for namespace in (self.tx_namespace, self.rx_namespace, *self.more_namespaces):
            subprocess.run(["ip", "netns", "del", namespace], capture_output=True)
        for interface in (self.tx, self.rx): # testpmd's, named after its --file-prefix
            shutil.rmtree(f"/var/run/dpdk/{interface}", ignore_errors=True)

    def build(self):
        for namespace in (self.tx_namespace, self.rx_namespace):
            run("ip", "netns", "add", namespace)
            run("ip", "netns", "exec", namespace, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
        run("ip", "-n", self.tx_namespace, "link", "add", self.tx, "numrxqueues", "1", "numtxqueues", "1", "type",
            "veth", "peer", "name", self.rx, "numrxqueues", "1", "numtxqueues", "1", "netns", self.rx_namespace)
        for namespace, interface, address in ((self.tx_namespace, self.tx, TX_ADDRESS),
                                              (self.rx_namespace, self.rx, RX_ADDRESS)):
            run("ip", "-n", namespace, "address", "add", address + "/24", "dev", interface)
            run("ip", "-n", namespace, "link", "set", interface, "up")
            run("ip", "-n", namespace, "link", "set", "lo", "up")
        run("ip", "netns", "exec", self.rx_namespace, "ethtool", "-K", self.rx, "gro", "on")
        self.rx_mac = re.search(r"link/ether (\S+)", run("ip", "-n", self.rx_namespace, "link", "show", self.rx))[1]
        self.watch = self.answering("tx", self.bare, "watch", self.tx)

    def receive_in(self, napi):
        """napi: "softirq" or "thread", see above."""
        threaded = int(napi == "thread")
        if threaded == bool(self.napi_thread):
            return
        run("ip", "netns", "exec", self.rx_namespace, "sh", "-c",
            f"echo {threaded} >/sys/class/net/{self.rx}/threaded")
        self.napi_thread = self.find_napi_thread(self.rx) if threaded else 0
        if threaded:
            os.sched_setaffinity(self.napi_thread, {self.rx_cpu})

    def find_napi_thread(self, interface):
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            for entry in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{entry}/comm", encoding="ascii", errors="replace") as file:
                        if file.read().startswith(f"napi/{interface}-"):
                            return int(entry)
                except OSError:
                    continue
            time.sleep(0.02)
        raise BenchError(f"{interface} got no NAPI thread; Linux 5.12 is needed")

    def namespace(self, side):
        return {"tx": self.tx_namespace, "rx": self.rx_namespace, "here": None}.get(side, side)

    def start(self, side, *command, asks=False):
        program = Program(self.namespace(side), command, asks)
        self.programs.append(program)
        return program

    def answering(self, side, *command):
        program = Asked(self.namespace(side), command)
        self.programs.append(program)
        return program

    def napi_times(self):
        """In softirq they are the sender's."""
        return thread_times(self.napi_thread) if self.napi_thread else (0, 0)

    def wait_for_frames(self, program, frames=1000):
        """Until the sending interface has taken so many more frames."""
        first, deadline = self.watch.ask(), time.monotonic() + START_LIMIT_S
        while True:
            now = self.watch.ask()
            if now[1] + now[2] - first[1] - first[2] >= frames:
                return
            if program.ended():
                raise BenchError(program.failure())
            if time.monotonic() > deadline:
                raise BenchError(f"{program.name} sent nothing in {START_LIMIT_S:.0f} s: {program.said()[-300:]!r}")
            time.sleep(0.02)

    def wait_for_xdp(self, program, side="rx"):
        """Until an XDP program is attached: the receiver is ready."""
        deadline = time.monotonic() + START_LIMIT_S
        interface = self.rx if side == "rx" else self.tx
        while "xdp" not in run("ip", "-n", self.namespace(side), "link", "show", interface):
            if program.ended():
                raise BenchError(program.failure())
            if time.monotonic() > deadline:
                raise BenchError(f"{program.name} attached nothing to {interface} in {START_LIMIT_S:.0f} s")
            time.sleep(0.05)

    def clear_xdp(self):
        """A program that was ended by force leaves its XDP program behind."""
        for side, interface in (("tx", self.tx), ("rx", self.rx)):
            for mode in ("xdpdrv", "xdpgeneric"):
                subprocess.run(["ip", "-n", self.namespace(side), "link", "set", interface, mode, "off"],
                               capture_output=True)


def thread_times(process):
    """Of all its threads: ns that they ran, and ns that they were ready to run and others had the CPU."""
    run_ns = wait_ns = 0
    for thread in os.listdir(f"/proc/{process}/task"):
        try:
            with open(f"/proc/{process}/task/{thread}/schedstat", encoding="ascii") as file:
                ran, waited, _ = file.read().split()
        except OSError:
            continue
        run_ns, wait_ns = run_ns + int(ran), wait_ns + int(waited)
    return run_ns, wait_ns


def group_times(leader):
    """The same of a program and its children, which share its process group."""
    run_ns = wait_ns = 0
    for process in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            if os.getpgid(process) == leader:
                ran, waited = thread_times(process)
                run_ns, wait_ns = run_ns + ran, wait_ns + waited
        except OSError:
            continue # it has ended
    return run_ns, wait_ns


def remove_left_behind():
    for line in run("ip", "netns", "list").splitlines():
        match = re.match(rf"({PREFIX}(\d+)-(?:b?[tr]x|br))\b", line)
        if match and not os.path.exists(f"/proc/{match[2]}"):
            subprocess.run(["ip", "netns", "del", match[1]], capture_output=True)


def busy_share(interval_s=0.2):
    """Of all CPUs: neither idle nor waiting for a disk."""
    def read():
        with open("/proc/stat", encoding="ascii") as file:
            values = [int(value) for value in file.readline().split()[1:9]]
        return sum(values), values[3] + values[4]

    total, idle = read()
    time.sleep(interval_s)
    total_after, idle_after = read()
    return 1 - (idle_after - idle) / max(1, total_after - total)


class Patience:
    """Waits until others leave the machine alone, all in all not longer than it was given."""

    def __init__(self, limit_s, share=0.10):
        self.left_s, self.share = limit_s, share

    def wait(self):
        begin = time.monotonic()
        while self.left_s > 0 and (busy_share() > self.share or busy_share() > self.share):
            time.sleep(0.1)
            now = time.monotonic()
            begin, self.left_s = now, self.left_s - (now - begin)
