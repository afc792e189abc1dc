# SPDX-License-Identifier: GPL-2.0-or-later
"""The bridge and what goes past it: a source, a bridge of two ports, a sink, in a namespace each.

Owns: that topology, one trial of each way through it, the rows. All four ways (the kernel's bridge, hopcap accel, the user-space
forwarder, the least program that redirects) are fed by the same live source, served by the same NAPI thread of the incoming port, and counted by the same
dropping program behind the bridge. Offloads are set once, so that no way has others than the next.
"""

import os
import re
import signal
import time

from place import PREFIX, START_LIMIT_S, BenchError, group_times, run, thread_times
from rows import SETTLE_S, SPARE_S, Row, Sample, result_of

IDLE_PPS = 10000
SIZES = ((60, "64"), (1514, "1514"))
OFF = ("tx", "off", "txvlan", "off", "tx-vlan-stag-hw-insert", "off", "gro", "on")


class Bridge:
    def __init__(self, place):
        self.place = place
        base = f"{PREFIX}{os.getpid()}"
        self.source_namespace, self.namespace, self.sink_namespace = base + "-btx", base + "-br", base + "-brx"
        self.source, self.into, self.out, self.sink = (f"hb{os.getpid()}{letter}" for letter in "siok")
        self.name = "hbr0"
        self.build()

    def build(self):
        for namespace in (self.source_namespace, self.namespace, self.sink_namespace):
            self.place.more_namespaces.append(namespace)
            run("ip", "netns", "add", namespace)
            run("ip", "netns", "exec", namespace, "sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
        run("ip", "netns", "exec", self.namespace, "sh", "-c",
            "for file in /proc/sys/net/bridge/bridge-nf-call-*tables; do [ ! -e $file ] || echo 0 >$file; done")
        run("ip", "-n", self.namespace, "link", "add", self.name, "type", "bridge", "forward_delay", "0",
            "mcast_snooping", "0")
        for port, end, namespace in ((self.into, self.source, self.source_namespace),
                                     (self.out, self.sink, self.sink_namespace)):
            run("ip", "-n", self.namespace, "link", "add", port, "numrxqueues", "1", "numtxqueues", "1", "type", "veth", "peer",
                "name", end, "numrxqueues", "1", "numtxqueues", "1", "netns", namespace)
            run("ip", "-n", self.namespace, "link", "set", port, "master", self.name, "up")
            run("ip", "-n", namespace, "link", "set", end, "up")
            run("ip", "netns", "exec", namespace, "ethtool", "-K", end, *OFF)
        run("ip", "-n", self.namespace, "link", "set", self.name, "up")
        run("ip", "netns", "exec", self.namespace, "ethtool", "-K", self.into, "gro", "on")
        run("ip", "netns", "exec", self.namespace, "sh", "-c", f"echo 1 >/sys/class/net/{self.into}/threaded")
        self.napi_thread = self.place.find_napi_thread(self.into)
        os.sched_setaffinity(self.napi_thread, {self.place.rx_cpu})
        self.sink_mac = re.search(r"link/ether (\S+)", run("ip", "-n", self.sink_namespace, "link", "show", self.sink))[1]
        run("bridge", "-n", self.namespace, "fdb", "add", self.sink_mac, "dev", self.out, "master", "static")

    def feeder(self, contest, frame_bytes):
        return self.place.start("here", contest.hopcap, "send", f"{self.source}@ns:{self.source_namespace}", "--port", "live",
                                "--size", str(frame_bytes), "--stamp", "64", "--cpu", str(self.place.tx_cpu), "--to-mac",
                                self.sink_mac, "--json-lines", "--seconds", str(contest.seconds + SPARE_S))

    def count(self, contest, frame_bytes):
        """Frames per second behind the bridge."""
        counter = self.place.answering(self.sink_namespace, self.place.bare, "drop", self.sink)
        feeder = None
        try:
            feeder = self.feeder(contest, frame_bytes)
            deadline = time.monotonic() + START_LIMIT_S
            while counter.ask()[1] < 1000:
                if feeder.ended():
                    raise BenchError(feeder.failure())
                if time.monotonic() > deadline:
                    raise BenchError(f"nothing came through the bridge in {START_LIMIT_S:.0f} s")
                time.sleep(0.02)
            time.sleep(SETTLE_S)
            before, first = [group_times(feeder.process.pid), thread_times(self.napi_thread)], counter.ask()
            time.sleep(contest.seconds)
            last, after = counter.ask(), [group_times(feeder.process.pid), thread_times(self.napi_thread)]
        finally:
            if feeder:
                feeder.end()
            counter.end(line="")
        elapsed_s, arrived = (last[0] - first[0]) / 1e9, last[1] - first[1]
        waited_ns = max(now[1] - then[1] for now, then in zip(after, before))
        return Sample(arrived / elapsed_s, 0.0, arrived / elapsed_s, (after[1][0] - before[1][0]) / max(1, arrived),
                      waited_ns / 1e9 / elapsed_s)


    def delay(self, contest, frame_bytes):
        """Median delay from source to sink at a rate at which nothing waits, every frame stamped."""
        program = self.place.start("here", contest.hopcap, "send", f"{self.source}@ns:{self.source_namespace}",
                                   f"{self.sink}@ns:{self.sink_namespace}", "--port", "live", "--size", str(frame_bytes),
                                   "--stamp", "1", "--rate", str(IDLE_PPS), "--cpu", str(self.place.tx_cpu), "--json-lines",
                                   "--seconds", str(contest.seconds))
        try:
            if not program.wait(contest.seconds + SPARE_S):
                raise BenchError(f"{program.name} does not end")
            result = result_of(program.said(), program.name)
        finally:
            program.end()
        if result.get("stamped", 0) < IDLE_PPS * contest.seconds / 10:
            raise BenchError(f"only {result.get('stamped', 0)} stamped frames came through the bridge")
        return Sample(result["latency_ns"]["p50"])


def bridge_of(contest):
    if not hasattr(contest, "bridge"):
        contest.bridge = Bridge(contest.place)
    return contest.bridge


def through_bridge(contest, measure):
    return measure(bridge_of(contest))


def through_fast_path(contest, measure):
    bridge = bridge_of(contest)
    name = f"{bridge.name}@ns:{bridge.namespace}"
    run(contest.hopcap, "accel", "start", name, "--set-offloads")
    try:
        return measure(bridge)
    finally:
        run(contest.hopcap, "accel", "stop", name)


def through_forwarder(contest, measure):
    bridge = bridge_of(contest)
    program = bridge.place.start("here", contest.hopcap, "accel", "forward", "--set-offloads",
                                 *(f"{port}@ns:{bridge.namespace}" for port in (bridge.into, bridge.out)))
    try:
        deadline = time.monotonic() + START_LIMIT_S
        while "forwarding by" not in program.said():
            if program.ended() or time.monotonic() > deadline:
                raise BenchError(program.failure())
            time.sleep(0.02)
        return measure(bridge)
    finally:
        program.end(number=signal.SIGINT)


def through_redirect(contest, measure):
    bridge = bridge_of(contest)
    program = contest.place.answering(bridge.namespace, contest.place.bare, "redirect", bridge.into, bridge.out)
    try:
        return measure(bridge)
    finally:
        program.end(number=signal.SIGTERM, line="")


def bridge_rows(contest):
    def rate(way, size):
        return lambda: way(contest, lambda bridge: bridge.count(contest, size))

    def idle(way, size):
        return lambda: way(contest, lambda bridge: bridge.delay(contest, size))

    rows = []
    for size, label in SIZES:
        fast, kernel, forwarder = rate(through_fast_path, size), rate(through_bridge, size), rate(through_forwarder, size)
        rows += [Row(f"accel-bridge-{label}", "arrived", "hopcap accel", "kernel bridge", fast, kernel,
                     3.0 if label == "64" else None, ["bridge"], napi="thread"),
                 Row(f"accel-redirect-{label}", "arrived", "hopcap accel", "bare devmap redirect", fast,
                     rate(through_redirect, size), 0.90, napi="thread"),
                 Row(f"forward-bridge-{label}", "arrived", "hopcap accel forward", "kernel bridge", forwarder, kernel, None,
                     ["bridge"], napi="thread"),
                 Row(f"accel-idle-{label}", "idle", "hopcap accel", "kernel bridge", idle(through_fast_path, size),
                     idle(through_bridge, size), 1.0, ["bridge"], "thread", "ns"),
                 Row(f"forward-idle-{label}", "idle", "hopcap accel forward", "kernel bridge", idle(through_forwarder, size),
                     idle(through_bridge, size), None, ["bridge"], "thread", "ns")]
    return rows
