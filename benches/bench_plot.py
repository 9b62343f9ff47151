#!/usr/bin/env python3
"""Draws what benches/bench.py, scenarios.py or regret.py measured, as SVG and PNG. Of bench.json: how many times faster than cc whole computations are, copies included (bench-speedups), how
long Paragon's kernels take in comparison with hand-written ones where data is on the GPU (bench-kernels), the same with each log method (bench-methods), what
the parts of its checks cost (bench-breakdown-*), and what an entry of a loop on the GPU takes its time for (bench-entries). Of scenarios.json: how many times
faster than cc the second of three loops is in each of the chapter's scenarios, by ways to run it (bench-scenarios-*). Of regret.json: the time chosen, in times of the best one (bench-regret). It measures nothing, and needs no GPU.

matplotlib is needed, by `make matplotlib` in .tools or from elsewhere; without it there are no plots, and no error.

Usage: benches/bench_plot.py [RESULTS.JSON [FOLDER]]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bench import kernels_of
from bench_applications import COLUMNS, LOGS, RESULTS, ROOT
from regret import known_sizes
from scenarios import BY_WAY, LETTERS, NEIGHBOURS, times_faster

sys.path.insert(0, str(ROOT / ".tools/matplotlib"))
try:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
except ImportError:
    pyplot = None  # type: ignore[assignment]

Results = dict[str, Any]
# Colours that colour-blind readers tell apart (Okabe and Ito), by column.
COLOURS = {
    "openmp": "#999999",
    "gcc-parallel": "#f0e442",
    "polly": "#cc79a7",
    "unsafe": "#000000",
    "paragon-threads": "#56b4e9",
    "paragon-cuda": "#009e73",
    "paragon": "#0072b2",
    "paragon-cuda-learnt": "#999999",
    "paragon-cuda-bitmap": "#cc79a7",
    "paragon-cuda-stamp": "#56b4e9",
    "paragon-cuda-reduction": "#e69f00",
    "paragon-cuda-atomic": "#d55e00",
}
PARTS = {
    "kernel alone": "#0072b2",
    "range checks": "#56b4e9",
    "finding arrays": "#999999",
    "write log": "#e69f00",
    "read log": "#d55e00",
    "checking": "#009e73",
}
# Paragon's kernels have their arrays at hand; it would cost so much if each thread had to find them.
LABELS = {"finding arrays": "finding arrays (if threads did)"}
ENTRY = {
    "copy_in_ms": ("copies in", "#56b4e9"),
    "kernels_ms": ("kernels", "#0072b2"),
    "checks_ms": ("checks", "#009e73"),
    "copy_out_ms": ("copies out", "#e69f00"),
    "inspections_ms": ("inspections", "#d55e00"),
    "rest_ms": ("the rest", "#999999"),
}

SCENARIOS = {"a": "#d55e00", "b": "#0072b2", "c": "#56b4e9", "d": "#009e73"}


def grouped(axes: Any, names: list[str], series: list[tuple[str, str, list[float | None]]]) -> None:
    """Bars side by side for each application."""
    width = 0.8 / max(len(series), 1)
    for number, (label, colour, values) in enumerate(series):
        places = [place - 0.4 + (number + 0.5) * width for place in range(len(names))]
        known = [(place, value) for place, value in zip(places, values) if value]
        axes.bar([place for place, _ in known], [value for _, value in known], width, label=label, color=colour)
    axes.set_yscale("log")
    axes.axhline(1.0, color="black", linewidth=0.8)
    finish(axes, names)


def stacked(axes: Any, names: list[str], series: list[tuple[str, str, list[float]]]) -> None:
    """Shares of each application's whole, one upon the other."""
    wholes = [sum(values[number] for _, _, values in series) or 1.0 for number in range(len(names))]
    below = [0.0] * len(names)
    for label, colour, values in series:
        shares = [100.0 * value / whole for value, whole in zip(values, wholes)]
        axes.bar(range(len(names)), shares, 0.7, bottom=below, label=label, color=colour)
        below = [low + share for low, share in zip(below, shares)]
    axes.set_ylim(0, 100)
    axes.set_ylabel("per cent of the time")
    finish(axes, names)


def finish(axes: Any, names: list[str]) -> None:
    """What all plots have."""
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right")
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.grid(axis="y", linewidth=0.3)
    axes.set_axisbelow(True)
    if names:
        axes.legend(fontsize="small", ncols=4, loc="lower left", bbox_to_anchor=(0.0, 1.0), frameon=False)


def speedups(axes: Any, results: Results) -> bool:
    """Whole computations, in comparison with cc."""
    by_application = {n: c for n, c in results["measurements"].items() if c.get("cc", {}).get("ms")}
    series = []
    for column in [c for c in COLUMNS if c.name in COLOURS and not c.name.startswith("paragon-cuda-")]:
        values = []
        for name, columns in by_application.items():
            ms = columns.get(column.name, {}).get("ms")
            if column.name == "paragon-cuda" and ms and "cuda" not in columns[column.name]["device"]["where"]:
                ms = None
            parallel = results["build"]["parallelized"].get(column.name)
            # An automatic parallelizer that made nothing parallel has nothing to show.
            values.append(columns["cc"]["ms"] / ms if ms and (parallel is None or parallel.get(name)) else None)
        if any(values):
            series.append((column.title, COLOURS[column.name], values))
    axes.set_ylabel("times faster than cc -O3, copies included")
    if series:
        grouped(axes, list(by_application), series)
    return bool(series)


def against_hand_written(names: list[str]) -> Any:
    """The plot of kernels and checks of some of Paragon's columns, in comparison with hand-written ones."""

    def draw(axes: Any, results: Results) -> bool:
        by_application = {n: c for n, c in results["measurements"].items() if c.get("unsafe", {}).get("fresh_ms")}
        series = []
        for column in [c for c in COLUMNS if c.name in names]:
            values: list[float | None] = []
            for columns in by_application.values():
                whole, _ = kernels_of(columns, column.name)
                values.append(whole / columns["unsafe"]["fresh_ms"] if whole else None)
            if any(values):
                series.append((column.title, COLOURS[column.name], values))
        axes.set_ylabel("time of kernels and checks / hand-written CUDA")
        if series:
            grouped(axes, list(by_application), series)
        return bool(series)

    return draw


def parts_of_checks(log: str) -> Any:
    """The plot of what the parts of the checks cost, with one log method."""

    def draw(axes: Any, results: Results) -> bool:
        logs = {name: logs.get(log, {}) for name, logs in results["breakdown"].items()}
        known = {name: parts for name, parts in logs.items() if "kernel alone" in parts}
        # A share can't be less than nothing; the table has those numbers, and how sure they are.
        series = [(LABELS.get(part, part), colour, [max(0.0, p[part]) for p in known.values()]) for part, colour in PARTS.items()]
        axes.set_title(f"{log} log", loc="right", fontsize="small")
        stacked(axes, list(known), series)
        return bool(known)

    return draw


def entries(axes: Any, results: Results) -> bool:
    """What the entries of loops on the GPU take their time for."""
    devices = {name: columns.get("paragon-cuda", {}).get("device", {}) for name, columns in results["measurements"].items()}
    known = {name: device for name, device in devices.items() if "cuda" in device.get("where", {})}
    stacked(axes, list(known), [(label, colour, [d[part] for d in known.values()]) for part, (label, colour) in ENTRY.items()])
    return bool(known)


def of_scenarios(input_name: str, way: str) -> Any:
    """The plot of the chapter's figure 4.12: each application in four scenarios, run in one way."""

    def draw(axes: Any, results: Results) -> bool:
        known = {name: ways for name, ways in results["scenarios"].items() if ways.get(way, {}).get(input_name)}
        series = []
        for letter in LETTERS:
            values = [times_faster(ways, way, input_name, letter) for ways in known.values()]
            if any(values):
                series.append((f"{letter}: {NEIGHBOURS[letter]}", SCENARIOS[letter], values))
        axes.set_ylabel("times faster than cc -O3, between Loop1 and Loop3")
        axes.set_title(f"{BY_WAY[way].title}, input: {input_name}", loc="right", fontsize="small")
        if series:
            grouped(axes, list(known), series)
        return bool(series)

    return draw


def regret(axes: Any, results: Results) -> bool:
    """The time chosen at each size, in times of the best one."""
    known = {name: known_sizes(sizes) for name, sizes in results["regret"].items()}
    known = {name: sizes for name, sizes in known.items() if sizes}
    for place, sizes in enumerate(known.values()):
        numbers = [0.8 * number / max(len(sizes) - 1, 1) - 0.4 for number in range(len(sizes))]
        axes.scatter([place + number for number in numbers], [size.regret for size in sizes], s=9, color=COLOURS["paragon"])
    axes.set_yscale("log")
    for line in [1.0, 1.15]:
        axes.axhline(line, color="black", linewidth=0.8, linestyle="-" if line == 1.0 else "--")
    axes.set_ylabel("time chosen / best of those forced; sizes grow to the right")
    axes.set_xticks(range(len(known)), list(known), rotation=60, ha="right")
    return bool(known)


PLOTS = {
    "speedups": speedups,
    "kernels": against_hand_written(["paragon-cuda", "paragon-cuda-learnt"]),
    "methods": against_hand_written([f"paragon-cuda-{log}" for log in LOGS]),
    **{f"breakdown-{log}": parts_of_checks(log) for log in LOGS},
    "entries": entries,
    **{f"scenarios-{way}": of_scenarios("clean", way) for way in BY_WAY if way != "cc"},
    **{f"scenarios-{way}-conflict": of_scenarios("conflict", way) for way in BY_WAY if way != "cc"},
    "regret": regret,
}
# What the files of different scripts have.
PARTS_OF_RESULTS = ["measurements", "breakdown", "scenarios", "regret"]


def main() -> int:
    """Reads the command line and draws what there are numbers for."""
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS / "bench.json"
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else source.parent
    if pyplot is None:
        print("no plots: matplotlib is not installed (`make matplotlib`)")
        return 0
    results = dict.fromkeys(PARTS_OF_RESULTS, {}) | json.loads(source.read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    # The same file from the same numbers.
    matplotlib.rcParams["svg.hashsalt"] = "paragon"
    for name, draw in PLOTS.items():
        figure, axes = pyplot.subplots(figsize=(12, 5))
        if draw(axes, results):
            for kind, metadata in [("svg", {"Date": None}), ("png", {"Software": None})]:
                path = folder / f"bench-{name}.{kind}"
                figure.savefig(path, bbox_inches="tight", dpi=120, metadata=metadata)
                print(path)
        pyplot.close(figure)
    return 0


if __name__ == "__main__":
    sys.exit(main())
