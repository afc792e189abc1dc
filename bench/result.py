# SPDX-License-Identifier: GPL-2.0-or-later
"""What came out: statistics of pairs, the table, bench.json.

Owns: numbers for people and the schema (described at the head of tools/bench). Pure but for reading what the machine
is.
"""

import os
import platform
import re
import statistics
import subprocess
import time

SCHEMA = "hopcap.bench/1"
PACKAGES = ("dpdk-dev", "netsniff-ng", "iperf3", "clang", "libbpf1", "libxdp1")


def summary(values):
    return {"median": statistics.median(values), "low": min(values), "high": max(values)}


def row_result(row, pairs, disturbed):
    """pairs: (ours, theirs) samples, one a pair. The ratio is that of each pair: what both had in common is gone. It says how many
    times better ours is."""
    ratio = summary([theirs.value / ours.value if row.unit == "ns" else ours.value / theirs.value for ours, theirs in pairs])

    def side(name, index):
        samples = [pair[index] for pair in pairs]
        return {"name": name, **summary([sample.value for sample in samples]),
                "sent_pps": statistics.median(sample.sent for sample in samples),
                "arrived_pps": statistics.median(sample.arrived for sample in samples),
                "receiver_ns_per_frame": statistics.median(sample.receiver_ns for sample in samples)}

    return {"name": row.name, "unit": row.unit, "counted": row.counted, "ours": side(row.ours, 0),
            "theirs": side(row.theirs, 1), "napi": row.napi, "ratio": ratio, "goal": row.goal,
            "met": None if row.goal is None else ratio["median"] >= row.goal, "pairs": len(pairs),
            "disturbed": disturbed,
            "trials": [[round(ours.value), round(theirs.value)] for ours, theirs in pairs], "failure": None}


def row_failure(row, why):
    return {"name": row.name, "unit": row.unit, "counted": row.counted, "ours": {"name": row.ours},
            "theirs": {"name": row.theirs}, "napi": row.napi, "ratio": None,
            "goal": row.goal, "met": None if row.goal is None else False,
            "pairs": 0, "disturbed": 0, "trials": [], "failure": why}


def version_of(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 and done.stdout else None


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        match = re.search(r"^(?:model name|cpu)\s*:\s*(.+)$", file.read(), re.MULTILINE)
    return match[1] if match else platform.machine()


def machine(hopcap):
    done = subprocess.run([hopcap, "--version"], capture_output=True, text=True)
    return {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "hopcap": done.stdout.strip() or None,
            "kernel": platform.release(), "cpu": cpu_model(), "cpus": len(os.sched_getaffinity(0)),
            "virtual": virtual(), "versions": {package: version_of(package) for package in PACKAGES}}


def virtual():
    """Whether another kernel can take this one's CPUs away: then figures of different minutes do not compare."""
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        return bool(re.search(r"^flags\s*:.*\bhypervisor\b", file.read(), re.MULTILINE))


def amount(value, unit):
    if value is None:
        return "-"
    return f"{value / 1e6:.2f}" if unit == "pps" else f"{value:.0f} ns"


def verdict(row):
    if row["met"] is None:
        return "" if row["failure"] is None else "not measured"
    return "met" if row["met"] else "MISSED" if row["failure"] is None else "MISSED: not measured"


def row_cells(row):
    ours, theirs, ratio = row["ours"], row["theirs"], row["ratio"]
    return [row["name"], f"{ours['name']} / {theirs['name']}", row["counted"], amount(ours.get("median"), row["unit"]),
            amount(theirs.get("median"), row["unit"]), f"{ratio['median']:.2f}" if ratio else "-",
            f"{ratio['low']:.2f}-{ratio['high']:.2f}" if ratio else "-", str(row["pairs"]),
            f">= {row['goal']:.2f}" if row["goal"] else "", verdict(row)]


ROW_HEAD = ["row", "ours / theirs", "counted", "ours Mpps", "theirs", "ratio", "low-high", "pairs", "goal", ""]


def paced_cells(paced):
    def ns(value):
        return "-" if value is None else f"{value:.0f}"

    goals = "; ".join(("" if met else "MISSED: ") + name for name, met in paced["goals"].items())
    return [paced["name"], str(paced["asked_pps"]), f"{paced['achieved_pps']:.1f}",
            f"{100 * paced['rate_error']:.3f}", f"{100 * paced['rate_error_worst']:.3f}",
            ns(paced["lateness_mean_ns"]), ns(paced["lateness_p99_ns"]), ns(1e9 / paced["asked_pps"]),
            ns(paced["gap_p50_ns"]), goals or "source is the limit"]


PACED_HEAD = ["row", "asked pps", "achieved", "error %", "worst %", "late mean ns", "late p99 ns", "interval ns",
              "sink's p50", "goals"]


def print_table(head, lines):
    widths = [max(len(line[i]) for line in [head, *lines]) for i in range(len(head))]
    numeric = [all(re.fullmatch(r"[-0-9.]*", line[i]) for line in lines) for i in range(len(head))]
    for line in [head, *lines]:
        cells = [cell.rjust(width) if right else cell.ljust(width)
                 for cell, width, right in zip(line, widths, numeric)]
        print("  ".join(cells).rstrip())


def missed(document):
    """Names of the goals that were not reached."""
    names = [row["name"] for row in document["rows"] if row["met"] is False]
    for paced in document["pacing"]:
        names += [f"{paced['name']} ({name})" for name, met in paced["goals"].items() if not met]
    return names
