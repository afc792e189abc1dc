# SPDX-License-Identifier: GPL-2.0-or-later
"""What bench compares: the contestants as command lines, how one trial of each is measured, and the rows.

Owns: fairness. Both sides of a row send from the same CPU through the same pair, are counted by the same counters
over the same length of time, and take turns. Leaves to others: statistics and output (result.py), namespaces
(place.py).

One core is what a row gives: receiving runs where the kernel lets it, in softirq on the CPU that sends, so what a source
or a sink costs is in the number. The rows named -threaded receive in a NAPI thread on another CPU: there the frames change
CPUs, and their way through the caches limits whoever sends; they have no goals. Sinks in user space have the other CPU, and
receiving runs there too, as where a queue's interrupt is bound to the CPU of its reader. In the row named -softirq the frames
change CPUs: testpmd never reads them, so they stay where they are, a ledger must (without reading, the same sink takes
twice as many).

What is counted. "sent": frames that the sending interface was handed per second (its tx_packets + tx_dropped; veth
counts what its full ring refuses as tx_dropped). "arrived": frames that the receiving end took per second (the
sender's tx_packets, which veth takes from its peer's receive counters). "delivered": frames that the receiving
application says it got, per second of feeding.
"""

import json
import signal
import time
from dataclasses import dataclass, field
from typing import Callable, Optional

from place import RX_ADDRESS, BenchError, group_times

FRAME_BYTES = 60  # a 64-byte frame of the standards, without its FCS
SETTLE_S = 0.3    # from the first frames to the counted ones
SPARE_S = 30      # programs that end by themselves must not do so while they are measured


@dataclass
class Sample:
    value: float                    # frames per second, by what the row counts; or nanoseconds
    sent: float = 0.0
    arrived: float = 0.0
    receiver_ns: float = 0.0        # CPU time of the receiver's NAPI thread for each arrived frame; 0 in softirq
    waited: float = 0.0             # share of the time that sender or receiver wanted a CPU and others had it


@dataclass
class Row:
    name: str
    counted: str                    # sent, arrived, delivered; idle: median delay at a low rate
    ours: str
    theirs: str
    measure_ours: Callable
    measure_theirs: Callable
    goal: Optional[float] = None    # ours / theirs must reach it; of delays theirs / ours
    needs: list = field(default_factory=list)  # commands
    napi: str = "softirq"           # where the receiving end's NAPI runs: place.py
    unit: str = "pps"               # pps, or ns: less is better


class Contest:
    """One place, one length of trial, and the programs that take turns in it."""

    def __init__(self, place, hopcap, seconds):
        self.place, self.hopcap, self.seconds = place, hopcap, seconds

    # --- command lines ---

    def hopcap_send(self, port, stamp, *more):
        place = self.place
        return [self.hopcap, "send", f"{place.tx}@ns:{place.tx_namespace}", "--port", port, "--size", str(FRAME_BYTES),
                "--stamp", str(stamp), "--cpu", str(place.tx_cpu), "--to-mac", place.rx_mac, "--json-lines", *more]

    def hopcap_sink(self, kind):
        return [self.hopcap, "sink", f"{self.place.rx}@ns:{self.place.rx_namespace}", "--kind", kind, "--json-lines"]

    def pinned(self, cpu, *command):
        return ["taskset", "-c", str(cpu), *command]

    def testpmd(self, interface, cpu, *options):
        # lcore 0 waits for a line on standard input, lcore 1 forwards. The default pool is too large for --no-huge.
        return ["dpdk-testpmd", "--lcores", f"0@{cpu},1@{cpu}", "--no-huge", "-m", "512", "--no-pci", "--no-telemetry",
                "--file-prefix", interface, "--vdev", f"net_af_xdp0,iface={interface}", "--",
                "--total-num-mbufs=16384", "--auto-start", *options]

    # --- one trial each ---

    def over_time(self, program, counted):
        """Counts while a program sends."""
        watch = self.place.watch
        self.place.wait_for_frames(program)
        time.sleep(SETTLE_S)
        before = [group_times(program.process.pid), self.place.napi_times()]
        first = watch.ask()
        time.sleep(self.seconds)
        last = watch.ask()
        if program.ended():
            raise BenchError(program.failure())
        after = [group_times(program.process.pid), self.place.napi_times()]
        elapsed_s = (last[0] - first[0]) / 1e9
        arrived, dropped = last[1] - first[1], last[2] - first[2]
        sent_pps, arrived_pps = (arrived + dropped) / elapsed_s, arrived / elapsed_s
        waited_ns = max(now[1] - then[1] for now, then in zip(after, before))
        return Sample(sent_pps if counted == "sent" else arrived_pps, sent_pps, arrived_pps,
                      (after[1][0] - before[1][0]) / max(1, arrived), waited_ns / 1e9 / elapsed_s)

    def source(self, command, counted, asks=False):
        """A source, with the bare counter at the other end."""
        counter = self.place.answering("rx", self.place.bare, "drop", self.place.rx)
        program = None
        try:
            program = self.place.start("here" if command[0] == self.hopcap else "tx", *command, asks=asks)
            first = counter.ask()[1]
            sample = self.over_time(program, counted)
            if counter.ask()[1] == first:
                raise BenchError(f"{program.name}: nothing reached the other end")
            return sample
        finally:
            if program:
                program.end(line="\n" if asks else None)
            counter.end(line="")
            self.place.clear_xdp()

    def uncounted(self, command):
        """A source of socket buffers, with the receiver's stack at the other end, which drops them."""
        program = self.place.start("here" if command[0] == self.hopcap else "tx", *command)
        try:
            return self.over_time(program, "arrived")
        finally:
            program.end()

    def send_to_stack(self, port, stamp):
        return self.uncounted(self.hopcap_send(port, stamp, "--seconds", str(self.seconds + SPARE_S)))

    def send(self, port, stamp, counted):
        seconds = str(self.seconds + SPARE_S)
        return self.source(self.hopcap_send(port, stamp, "--seconds", seconds), counted)

    def bare_live(self, batch):
        return self.source(self.pinned(self.place.tx_cpu, self.place.bare, "live", self.place.tx, str(batch),
                                       str(FRAME_BYTES)), "sent")

    def testpmd_txonly(self):
        return self.source(self.testpmd(self.place.tx, self.place.tx_cpu, "--forward-mode=txonly",
                                        f"--txpkts={FRAME_BYTES}"), "arrived", asks=True)

    def trafgen(self):
        packet = f"{{ 0x02,0,0,0,0,2, 0x02,0,0,0,0,1, 0x88,0xb5, fill(0, {FRAME_BYTES - 14}) }}"
        # In a namespace trafgen cannot enlarge its socket's memory, and frames that wait for the bare counter use it
        # up: it ends with EAGAIN.
        return self.uncounted(self.pinned(self.place.tx_cpu, "trafgen", "--dev", self.place.tx, "--cpus", "1", packet))

    def iperf3(self):
        """Through both stacks: its server is the sink. The same counters of the same interface."""
        place = self.place
        server = place.start("rx", *self.pinned(place.rx_cpu, "iperf3", "--server", "--one-off"))
        client = None
        try:
            deadline = time.monotonic() + 5
            while "listening" not in server.said() and not server.ended() and time.monotonic() < deadline:
                time.sleep(0.05)
            client = place.start("tx", *self.pinned(
                place.tx_cpu, "iperf3", "--client", RX_ADDRESS, "--udp", "--bitrate", "0", "--length",
                str(FRAME_BYTES - 42), "--time", str(int(self.seconds + SPARE_S))))
            sample = self.over_time(client, "arrived")
            sample.waited = 0 # its server and the receiving softirqs share a CPU
            return sample
        finally:
            for program in (client, server):
                if program:
                    program.end()

    def kernel_sink(self, command, ready):
        """A sink in the kernel, fed by our live source as fast as it goes. ready: how it shows that it is: an XDP
        program is attached, or it answers."""
        sink = self.place.start("here", *command) if ready == "xdp" else self.place.answering("rx", *command)
        feeder = None
        try:
            if ready == "xdp":
                self.place.wait_for_xdp(sink)
            seconds = str(self.seconds + SPARE_S)
            feeder = self.place.start("here", *self.hopcap_send("live", 64, "--seconds", seconds))
            return self.over_time(feeder, "arrived")
        finally:
            if feeder:
                feeder.end()
            sink.end(number=signal.SIGINT, line=None if ready == "xdp" else "")
            self.place.clear_xdp()

    def delivered(self, sink, frames_of, line=None):
        """A sink in user space: it counts, and what it counted is divided by the time it was fed."""
        try:
            self.place.wait_for_xdp(sink)
            feeder = self.place.start("here", *self.hopcap_send("live", 64, "--seconds", str(self.seconds)))
            if not feeder.wait(self.seconds + SPARE_S):
                raise BenchError("hopcap send did not end in time")
            fed = result_of(feeder.end(), "hopcap send")
            time.sleep(SETTLE_S)
        except BaseException:
            sink.end()
            raise
        finally:
            text = sink.end(number=signal.SIGINT, line=line) if not sink.output.closed else ""
            self.place.clear_xdp()
        elapsed_s = fed["sent"] / fed["pps"]
        return Sample(frames_of(text) / elapsed_s, fed["pps"])

    def af_xdp_sink(self):
        sink = self.place.start("here", *self.hopcap_sink("af_xdp_copy"), "--cpu", str(self.place.rx_cpu))
        return self.delivered(sink, lambda text: result_of(text, "hopcap sink")["frames"])

    def testpmd_rxonly(self):
        command = self.testpmd(self.place.rx, self.place.rx_cpu, "--forward-mode=rxonly")
        return self.delivered(self.place.start("rx", *command, asks=True), testpmd_received, line="\n")


def testpmd_received(text):
    """Of the last statistics that it prints when it ends."""
    words = text.split()
    places = [i for i, word in enumerate(words) if word == "RX-packets:"]
    if not places:
        raise BenchError(f"dpdk-testpmd did not say what it received: {text[-200:]!r}")
    return int(words[places[-1] + 1])


def result_of(text, who):
    """The last line of --json-lines."""
    for line in reversed(text.splitlines()):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("event") == "result":
            return event
    raise BenchError(f"{who} gave no result: {'; '.join(text.split(chr(10))[-4:])[:300]!r}")


def live_rows(contest):
    def live(stamp, counted):
        return lambda: contest.send("live", stamp, counted)

    def against_testpmd(name, **more):
        return Row(name, "arrived", "live, stamp 1 of 64", "testpmd txonly, af_xdp", live(64, "arrived"),
                   contest.testpmd_txonly, needs=["dpdk-testpmd"], **more)

    rows = [against_testpmd("live-testpmd", goal=4.0), against_testpmd("live-testpmd-threaded", napi="thread")]
    for batch in (64, 256):
        bare = (lambda size: lambda: contest.bare_live(size))(batch)
        rows += [
            Row(f"live-bare{batch}", "sent", "live, stamp 1 of 64", f"bare live loop, batch {batch}", live(64, "sent"),
                bare, 0.90),
            Row(f"live-stamped-bare{batch}", "sent", "live, all stamped", f"bare live loop, batch {batch}",
                live(1, "sent"), bare, 0.70)]
    return rows


def sink_row(contest, name, **more):
    return Row(name, "arrived", "kernel sink, full ledger", "bare XDP_DROP counter",
               lambda: contest.kernel_sink(contest.hopcap_sink("xdp"), "xdp"),
               lambda: contest.kernel_sink([contest.place.bare, "drop", contest.place.rx], "answers"), **more)


def user_sink_row(contest, name, **more):
    return Row(name, "delivered", "AF_XDP copy sink, full ledger", "testpmd rxonly, af_xdp", contest.af_xdp_sink,
               contest.testpmd_rxonly, needs=["dpdk-testpmd"], **more)


def all_rows(contest):
    return live_rows(contest) + [
        Row("af_xdp-testpmd", "arrived", "AF_XDP copy, stamp 1 of 64", "testpmd txonly, af_xdp",
            lambda: contest.send("af_xdp_copy", 64, "arrived"), contest.testpmd_txonly, 1.0, ["dpdk-testpmd"]),
        sink_row(contest, "sink-bare", goal=0.85),
        sink_row(contest, "sink-bare-threaded", napi="thread"),
        user_sink_row(contest, "af_xdp-sink-testpmd", napi="thread", goal=1.0),
        user_sink_row(contest, "af_xdp-sink-testpmd-softirq", napi="softirq"),
        Row("live-trafgen", "arrived", "live, stamp 1 of 64", "trafgen", lambda: contest.send("live", 64, "arrived"),
            contest.trafgen, None, ["trafgen"]),
        Row("packet-trafgen", "arrived", "AF_PACKET, stamp 1 of 64", "trafgen",
            lambda: contest.send_to_stack("packet", 64), contest.trafgen, None, ["trafgen"]),
        Row("live-iperf3", "arrived", "live, stamp 1 of 64", "iperf3 -u", lambda: contest.send("live", 64, "arrived"),
            contest.iperf3, None, ["iperf3"]),
    ]
