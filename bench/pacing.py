# SPDX-License-Identifier: GPL-2.0-or-later
"""How well each port keeps a rate: what it says of itself, and what a kernel sink saw arrive.

Owns: the trials and their goals. A port that cannot send twice the rate is not asked to keep it ("source is the
limit").
"""

import signal
import statistics
import time
from dataclasses import asdict, dataclass
from typing import Optional

from place import BenchError, group_times
from rows import result_of

PORTS = ("live", "af_xdp_copy", "packet")
RATES = (1_000, 10_000, 100_000, 1_000_000)
RATE_ERROR = 0.001          # of the asked rate, at up to half of the ceiling
LIVE_LATENESS_NS = 1_000    # mean, of the live port at 1 Mpps
GAP_ERROR = 0.05            # of the planned interval, median at the sink; its histogram is good to 1/64


@dataclass
class Paced:
    name: str
    port: str
    asked_pps: int
    ceiling_pps: float
    achieved_pps: float
    rate_error: float              # of the asked rate; the median of the trials
    rate_error_worst: float
    lateness_mean_ns: float        # the medians of the trials
    lateness_p99_ns: float
    gap_p50_ns: Optional[float]    # at the sink
    trials: int
    disturbed: int                 # of these: others had the sender's CPU for a while
    goals: dict                    # name: met
    failure: Optional[str] = None

    def as_dict(self):
        return asdict(self)


def one_trial(contest, port, rate):
    place = contest.place
    sink = place.start("here", *contest.hopcap_sink("xdp"))
    try:
        place.wait_for_xdp(sink)
        sender = place.start("here", *contest.hopcap_send(port, 1, "--rate", str(rate), "--seconds",
                                                        str(contest.seconds)))
        waited = waited_share(sender, contest.seconds)
        if not sender.wait(contest.seconds + 30):
            raise BenchError("hopcap send did not end in time")
        sent = result_of(sender.end(), "hopcap send")
    finally:
        text = sink.end(number=signal.SIGINT)
        place.clear_xdp()
    return sent, result_of(text, "hopcap sink"), waited


def waited_share(sender, seconds):
    """Of the middle of a trial: how long the sender was ready and somebody else had its CPU."""
    time.sleep(seconds * 0.2)
    before = group_times(sender.process.pid)
    time.sleep(seconds * 0.6)
    return max(0, group_times(sender.process.pid)[1] - before[1]) / 1e9 / (seconds * 0.6)


def number(result, name, *keys):
    """A percentile by any of its spellings, or None."""
    group = result.get(name) or {}
    return next((float(group[key]) for key in keys if group.get(key) is not None), None)


def median_known(values):
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def judge(port, rate, ceiling, error, mean_ns, gap_ns):
    goals = {}
    if rate <= ceiling / 2:
        goals["rate within 0.1 %"] = error <= RATE_ERROR
    if port == "live" and rate == 1_000_000:
        goals["mean lateness <= 1 us"] = mean_ns is not None and mean_ns <= LIVE_LATENESS_NS
    if port == "live" and rate <= ceiling / 2:
        goals["sink's gap agrees"] = gap_ns is not None and abs(gap_ns * rate / 1e9 - 1) <= GAP_ERROR
    return goals


def measure(contest, port, rate, ceiling, trials, quiet, waited):
    """quiet() waits for a quiet machine; a trial in which others had more than the share `waited` is made again."""
    done, repeats = [], 2 * trials
    while len(done) < trials:
        quiet()
        trial = one_trial(contest, port, rate)
        if trial[2] > waited and repeats > 0:
            repeats -= 1
        else:
            done.append(trial)
    sent = [trial[0] for trial in done]
    achieved = statistics.median(result["pps"] for result in sent)
    errors = [abs(result["pps"] / rate - 1) for result in sent]
    error = statistics.median(errors)
    mean_ns = median_known([number(result, "lateness_ns", "mean", "mean_ns") for result in sent])
    p99_ns = median_known([number(result, "lateness_ns", "p99", "p99_ns") for result in sent])
    gap_ns = median_known([number(result, "gap_ns", "p50", "p50_ns", "median") for _, result, _ in done])
    return Paced(f"pace-{port}-{rate}", port, rate, ceiling, achieved, error, max(errors), mean_ns, p99_ns, gap_ns,
                 trials, sum(trial[2] > waited for trial in done), judge(port, rate, ceiling, error, mean_ns, gap_ns))
