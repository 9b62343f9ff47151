#!/usr/bin/env python3
"""Measures what benches/bench-prepare.py built, on the machine that it runs on: every application in every column
(bench_applications.py), hand-written CUDA among them. With --breakdown instead: what the parts of Paragon's checks cost on a GPU.

Where only the GPU is measured, programs make their inputs side by side and take turns to compute (bench_runs.py), and what has to be compiled for the GPU was compiled
by runs before, of many at a time: otherwise most of the time would go into both.

Writes bench.json, after each measurement, and bench.md into the folder that OUT names (build/bench-results). What a machine lacks, a
GPU or nvcc, leaves out columns, and says so. Nothing is compiled here but benches/cuda/unsafe.cu; benches/bench_plot.py draws.

The most important comes first, and when --budget seconds are over, nothing begins any more: what was skipped says so, and
`--continue bench.json` makes up for it.

In bench.json, by application and column: `ms`, the median of the repetitions (without the first one, where the column warms up), as
measured by the program itself around its computation; `first_ms`; `all_ms`; `seconds`, of the whole process, and, of programs that take turns, `turn_seconds`. Where the size is not the application's own, `ms` and
`first_ms` are multiplied (`size`, `times`), `all_ms` is not. `same_bits`: whether results are those of cc at the same size, bit for
bit; `same_bits_small`: the same at the size of the tests, with every loop considered, where all bytes are compared. `problem`: why
there is no number, or why there are fewer repetitions. `device`, from Paragon's own records: for each repetition the milliseconds of
its kernels and of their checks (together what hand-written CUDA calls resident), of copies, inspections and everything else; where
loops ran, and why.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import ctypes
import itertools
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import bench_breakdown
from bench_applications import (
    APPLICATIONS,
    BUILT,
    BY_COLUMN,
    BY_NAME,
    COLUMNS,
    LOGS,
    OF_BREAKDOWN,
    RESULTS,
    ROOT,
    Application,
    Column,
    on_cuda,
)
from bench_breakdown import Instruments, are_sure, nvrtc_folder, parts_of, read_launches, read_replays
from bench_runs import Run

Record = dict[str, Any]
# Kernels that differ by less than this are as fast as each other: of two in which nothing is logged one is always a little faster.
AS_FAST = 1.02
# Repetitions from which on no more are made once all but the first take as long on the GPU, up to such a part of it.
LEAST_KNOWN, KNOWN_PART = 3, 0.02
# Runs of a kernel with cold caches, and again and again; and how the trace calls it where nothing has a log.
COLD, AGAIN = 7, 8
NOT_LOGGED = ("none", "mark")
# With cold caches in turn: the program's kernel, and hand-written ones in its place.
IN_PLACE = ("in_place", "by_hand", "same_bits_by_hand")
# Less time than this isn't worth beginning with anything.
LEAST_SECONDS = 3.0
# Programs that make their inputs while another one is measured; more of them would take it memory's bandwidth away.
PREPARING = 5
# Programs that have their kernels compiled at a time, at most; their repetitions: the second one may rely on what the first one has found; and the most
# seconds that one of them takes. What it has compiled by then counts.
WARMING = 14
WARM_REPETITIONS = 2
WARM_SECONDS = 15.0
# Programs that make their inputs while another one's kernels are timed, by the GPU's own clock.
PREPARING_BREAKDOWN = 8


def has_gpu() -> bool:
    """Whether NVIDIA's driver opens a GPU."""
    for name in ["libcuda.so.1", "libcuda.so"]:
        try:
            return ctypes.CDLL(name).cuInit(0) == 0
        except OSError:
            continue
    return False


def printed(command: list[str]) -> str:
    """What a command prints, empty if it can't be run."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def machine() -> dict[str, Any]:
    """What the numbers depend on."""
    processor = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return {
        "gpu": printed(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]) or "none",
        "processor": processor[1] if processor else platform.machine(),
        "cores": os.cpu_count(),
        "nvcc": (re.findall(r"release [0-9.]+", printed(["nvcc", "--version"])) or ["none"])[0],
        "date": time.strftime("%Y-%m-%d"),
    }


def rounded(milliseconds: float) -> float:
    """No more digits than a clock gives."""
    return float(f"{milliseconds:.5g}")


def read_records(trace: Path) -> list[Record]:
    """Paragon's records of loop entries; the last line may be cut off."""
    records = []
    try:
        lines = trace.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    for line in lines:
        try:
            records.append(json.loads(line))
        except ValueError:
            pass
    return records


def of_computation(application: Application, records: list[Record]) -> list[Record]:
    """Without the entries of loops that make the input."""
    functions = application.compute_functions()
    return [r for r in records if r["file"].endswith(f"{application.name}.c") and r["function"] in functions]


def by_loop(records: list[Record]) -> list[list[Record]]:
    """The entries of each loop, and of each part of a loop that was taken apart."""
    loops = collections.defaultdict(list)
    for record in records:
        loops[(record["line"], record["distributed"], record["trip"])].append(record)
    return list(loops.values())


def device_times(records: list[Record], repetitions: int) -> dict[str, Any]:
    """What the entries took, for each repetition: medians of entries. Where each repetition enters a loop as often, its first entries, its second ones and so on
    have a median each: they may do quite different things (a level of rows that have no elements)."""
    parts = {"kernels_ms": "execute_ns", "checks_ms": "check_ns", "copy_in_ms": "copy_in_ns", "copy_out_ms": "copy_out_ns"}
    parts = {**parts, "inspections_ms": "inspect_ns", "entries_ms": "total_ns"}
    result: dict[str, Any] = dict.fromkeys(parts, 0.0)
    for entries in by_loop(records):
        times = len(entries) // repetitions
        alike = [entries[place::times] for place in range(times)] if len(entries) == times * repetitions else [entries]
        for places in alike:
            ran = [r for r in places if r["device"] != ""] or places
            for part, field in parts.items():
                result[part] += len(places) / repetitions * statistics.median(r[field] for r in ran) / 1e6
    known = sum(result[part] for part in parts if part != "entries_ms")
    firsts = [r for entries in by_loop(records) for r in entries[: max(1, len(entries) // repetitions)]]
    result["first_kernels_ms"] = sum(r["execute_ns"] + r["check_ns"] for r in firsts if r["decision"] == "cuda") / 1e6
    result["rest_ms"] = max(0.0, result["entries_ms"] - known)
    result = {part: rounded(ms) for part, ms in result.items()}
    result["where"] = dict(collections.Counter(r["decision"] for r in records))
    result["logs"] = sorted({r["log"] for r in records if r["device"] != ""})
    result["why"] = dict(collections.Counter(r["why"] for r in records).most_common(4))
    result["failures"] = sorted({failure for r in records for failure in r["fail"]})
    return result


def kernels_are_known(records: list[Record], repetitions: int) -> bool:
    """Whether more repetitions would say little more of what kernels and their checks take, of which the first one's may differ."""
    if repetitions < LEAST_KNOWN or not records or len(records) % repetitions != 0:
        return False
    each = len(records) // repetitions
    sums = [sum(r["execute_ns"] + r["check_ns"] for r in records[at : at + each]) for at in range(0, len(records), each)]
    return max(sums[1:]) - min(sums[1:]) <= KNOWN_PART * min(sums[1:])


def replayed_times(lines: list[Record], records: list[Record], repetitions: int) -> Record:
    """What kernels take in the last repetition, in milliseconds: with cold caches, the checks included that are made ready meanwhile; and if each runs again and again,
    where nothing is logged then: a log that nobody clears says something else the second time. Only where the last two repetitions have one launch for each
    entry, the same ones: the first one's may be several, as long as nobody knows how long they take. What comes behind the first of its entry doesn't begin with 0."""
    on_device = [record for record in records if record["device"] == "cuda"]
    each = len(on_device) // repetitions
    launches = [(at, line) for at, line in enumerate(lines) if "checked" not in line["ms"]]
    if each == 0 or len(on_device) % repetitions != 0 or len(launches) < 2 * each:
        return {}
    which = [(launch["kernel"], launch["blocks"]) for _, launch in launches]
    if which[-each:] != which[-2 * each : -each] or any(launch["first"] != 0 for _, launch in launches[-2 * each :]):
        return {}
    is_logged = any(record["log"] not in NOT_LOGGED for record in on_device[-each:])
    result = {}
    for state in ["cold", *IN_PLACE] if is_logged else ["cold", "again", *IN_PLACE]:
        times = [launch["ms"].get(state) for _, launch in launches[-each:]]
        if all(times):
            result[f"{state}_ms"] = sum(statistics.median(its) for its in times)
    if "cold_ms" in result:
        pairs = [line["ms"] for line in lines[launches[-each][0] :] if "checked" in line["ms"]]
        checks = sum(statistics.median(b - a for a, b in zip(pair["unchecked"], pair["checked"])) for pair in pairs)
        result |= {name: result[name] + checks for name in ["cold_ms", "in_place_ms"] if name in result}
    return {state: rounded(ms) for state, ms in result.items()}


class Bench:
    """Measures, and keeps the results on disk."""

    def __init__(self, arguments: argparse.Namespace, work: Path) -> None:
        self.arguments = arguments
        self.work = work
        self.out = Path(os.environ.get("OUT", RESULTS))
        self.started = time.monotonic()
        self.gpu = has_gpu()
        self.nvrtc = nvrtc_folder()
        # What nvcc makes of hand-written kernels that run in a program's place.
        self.in_place = work / "unsafe.cubin"
        self.in_place_compilation: subprocess.Popen[bytes] | None = None
        self.build = json.loads((BUILT / "build.json").read_text(encoding="utf-8"))
        self.unsafe_problem: str | None = None
        self.unsafe_compilation: subprocess.Popen[bytes] | None = None
        self.results: dict[str, Any] = {"measurements": {}, "breakdown": {}}
        if arguments.goes_on:
            self.results = json.loads(Path(arguments.goes_on).read_text(encoding="utf-8"))
        self.results |= {"machine": machine(), "build": self.build, "small": arguments.small}
        # Kernels that were compiled where the programs were (bench-prepare.py --kernels), found as if they had been here.
        for kind in ["gpu", "variants"]:
            if (BUILT / "kernels" / kind).is_dir():
                shutil.copytree(BUILT / "kernels" / kind, work / f"cache-{kind}")
        self.results["columns"] = {c.name: {"title": c.title, "environment": c.environment} for c in COLUMNS}
        self.results["notes"] = {a.name: a.note for a in APPLICATIONS if a.note}

    # ---- what is kept

    def left(self) -> float:
        """Seconds of the budget."""
        return self.arguments.budget - (time.monotonic() - self.started)

    def save(self) -> None:
        """Writes all results so far, in one piece."""
        self.out.mkdir(parents=True, exist_ok=True)
        self.results["seconds"] = round(time.monotonic() - self.started, 1)
        temporary = self.out / "bench.json.part"
        temporary.write_text(json.dumps(self.results, indent=1) + "\n", encoding="utf-8")
        temporary.replace(self.out / "bench.json")
        (self.out / "bench.md").write_text(tables(self.results), encoding="utf-8")

    def keep(self, application: Application, column: Column, measurement: Record) -> None:
        """A measurement is done."""
        self.results["measurements"].setdefault(application.name, {})[column.name] = measurement
        self.save()
        what = f"{measurement['ms']:.4g} ms" if measurement.get("ms") is not None else ""
        bits = "" if measurement.get("same_bits") is not False else "other bits"
        words = [what, bits, measurement.get("problem") or ""]
        print(f"{application.name}, {column.title}: {', '.join(w for w in words if w)}", flush=True)

    # ---- one application in one column

    def program(self, column: Column) -> str:
        """What the name of a column's programs ends with. At small sizes loops are only entered where all of them are."""
        return "bits" if self.arguments.small and column.is_paragon else column.program

    def environment(self, column: Column) -> dict[str, str]:
        """What a program finds in its environment."""
        # What a user's first run takes isn't shortened by runs that only had kernels compiled.
        cache = "cache-gpu" if column.takes_turns else "cache"
        settings = {"XDG_CACHE_HOME": str(self.work / cache), "PARAGON_RT": str(BUILT / "libparagon_rt.so")}
        if self.nvrtc is not None:
            settings["PARAGON_NVRTC"] = self.nvrtc
        return {**settings, **column.environment}

    def obstacle(self, application: Application, column: Column) -> str | None:
        """Why there can be no measurement."""
        if column.needs_gpu and not self.gpu:
            return "no GPU"
        if column.is_paragon and column.needs_gpu and self.nvrtc is None:
            return "no run-time compiler (libnvrtc)"
        if column.program == "unsafe":
            return self.unsafe_problem
        if not (BUILT / f"{application.name}.{column.program}").exists():
            return self.build["missing"].get(column.name, "not built")
        return None

    def is_due(self, application: Application, column: Column) -> bool:
        """Whether there is no measurement yet."""
        return self.results["measurements"].get(application.name, {}).get(column.name, {}).get("ms") is None

    def measured(self, application: Application, column: Column, turn: threading.Lock | None = None) -> Record:
        """Runs one application in one column, or says why that can't be. Programs that take turns run at the same time; this changes nothing of the results."""
        problem = self.obstacle(application, column)
        if problem is None and self.left() < LEAST_SECONDS:
            problem = "skipped: the time was over"
        if problem is not None:
            return {"ms": None, "problem": problem}
        if column.program == "unsafe":
            return self.measure_unsafe(application, column)
        return self.measure_program(application, column, turn)

    def timeout(self, column: Column) -> float | None:
        """Seconds that a program may take from now on; none if nothing begins any more."""
        return min(column.timeout, self.left()) if self.left() >= LEAST_SECONDS else None

    def command(self, application: Application, column: Column, size: int, repetitions: int) -> list[str]:
        """A run of one of our programs."""
        program = BUILT / f"{application.name}.{self.program(column)}"
        return [str(program), "--size", str(size), "--input", "clean", "--repeat", str(repetitions)]

    def size(self, application: Application, column: Column) -> tuple[int, float]:
        """The size of a measurement, and what its times are multiplied with."""
        other = application.sizes.get(column.name)
        if self.arguments.small:
            return application.test_size(), 1.0
        return (other.size, float(application.size / other.size) ** other.power) if other else (application.size, 1.0)

    def measure_program(self, application: Application, column: Column, turn: threading.Lock | None) -> Record:
        """A run of one of our programs."""
        size, times = self.size(application, column)
        trace = self.work / f"{application.name}.{column.name}.trace"
        trace.unlink(missing_ok=True)
        environment = self.environment(column) | {"BENCH_SECONDS": str(column.seconds), "BENCH_LEAST": str(column.least)}
        if column.is_paragon:
            environment["PARAGON_TRACE"] = str(trace)
        replays = trace.with_suffix(".replays")
        if column.replays:
            replays.unlink(missing_ok=True)
            in_place = {}
            if application.by_hand and self.in_place_compilation is not None and self.in_place_compilation.wait() == 0:
                in_place = {"BENCH_IN_PLACE": f"{self.in_place} {application.by_hand}"}
                if column.environment["PARAGON_LOG"] != "auto":
                    in_place["BENCH_LOGGED"] = "1"
            environment |= self.instruments().timing(replays, {"BENCH_COLD": str(COLD), "BENCH_AGAIN": str(AGAIN), **in_place})
        command = self.command(application, column, size, column.repetitions)
        # Where it is the GPU's own clock that counts, a few repetitions may say all.
        are_known = (lambda done: kernels_are_known(of_computation(application, read_records(trace)), done)) if column.takes_turns else None
        run = Run(command, environment, lambda: self.timeout(column), turn, are_known)
        repetitions = run.repetitions()
        measurement: Record = {"ms": None, "size": size, "times": times, "all_ms": repetitions, "problem": run.problem, "seconds": run.seconds}
        if turn is not None:
            measurement["turn_seconds"] = run.turn_seconds
        if repetitions:
            counted = repetitions[1:] if column.warms_up and len(repetitions) > 1 else repetitions
            measurement["ms"] = rounded(times * statistics.median(counted))
            measurement["first_ms"] = rounded(times * repetitions[0])
        if run.problem is None:
            measurement["results"] = run.results()
        measurement["same_bits"] = self.is_same(application, column, measurement)
        # The trace of a run that was stopped ends within a repetition.
        if column.is_paragon and repetitions:
            records = of_computation(application, read_records(trace))
            measurement["device"] = device_times(records, len(repetitions) + (run.problem is not None))
            if column.replays:
                measurement["device"] |= replayed_times(read_launches(replays), records, len(repetitions))
        return measurement

    # ---- what has to be compiled

    def runs_before(self, jobs: list[tuple[Application, Column]]) -> list[tuple[list[str], dict[str, str]]]:
        """The runs that have the kernels of some measurements compiled: where they are several of an application, one in which each entry has every log."""
        runs = []
        for application, group in itertools.groupby(sorted(jobs, key=lambda job: job[0].name), lambda job: job[0]):
            columns = [column for _, column in group]
            learns = [column for column in columns if "PARAGON_INSPECTIONS" in column.environment]
            others = [column for column in columns if column not in learns]
            for column in learns + others[:1]:
                every_log = {"PARAGON_LOG": "all"} if len(others) > 1 and column not in learns else {}
                size = self.size(application, column)[0]
                runs.append((self.command(application, column, size, WARM_REPETITIONS), self.environment(column) | every_log))
        return runs

    def warm(self, runs: list[tuple[list[str], dict[str, str]]]) -> None:
        """Runs programs, many at a time, so that their kernels are in Paragon's cache. A fresh machine compiles several times slower for half a minute, and one
        program after the other would have one processor compile. A third of the budget at most; what isn't done by then is compiled where it is measured."""
        began, end = time.monotonic(), self.left() * 2 / 3

        def left() -> float | None:
            return min(WARM_SECONDS, self.left() - end) if self.left() > end else None

        def warm_one(run: tuple[list[str], dict[str, str]]) -> bool:
            return left() is not None and Run(*run, left).problem is None

        if not runs or (BUILT / "kernels").is_dir():
            return
        with concurrent.futures.ThreadPoolExecutor(max(1, min(WARMING, (os.cpu_count() or 1) - 2))) as pool:
            done = sum(pool.map(warm_one, runs))
        seconds = time.monotonic() - began
        self.results.setdefault("warmed", []).append({"runs": len(runs), "done": done, "seconds": round(seconds, 1)})
        print(f"kernels compiled by {done} of {len(runs)} runs in {seconds:.1f} s", flush=True)

    def is_same(self, application: Application, column: Column, measurement: Record) -> bool | None:
        """Whether a program's results are those of cc. None: there is nothing to compare with."""
        reference = self.results["measurements"].get(application.name, {}).get("cc", {})
        if column.name == "cc" or "results" not in measurement or reference.get("size") != measurement["size"]:
            return None
        return reference.get("results") == measurement["results"]

    # ---- hand-written CUDA

    def compile_unsafe(self) -> None:
        """Starts nvcc; measurements of programs that use one core go on meanwhile."""
        if not self.gpu or shutil.which("nvcc") is None:
            self.unsafe_problem = "no GPU" if not self.gpu else "no nvcc"
            return
        source, program = ROOT / "benches/cuda/unsafe.cu", self.work / "unsafe"
        command = ["nvcc", "-O3", "-arch=native", "-fmad=false", "-o", str(program), str(source)]
        # pylint: disable-next=consider-using-with
        self.unsafe_compilation = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        command = [*command[:-3], "-cubin", "-o", str(self.in_place), str(source)]
        # pylint: disable-next=consider-using-with
        self.in_place_compilation = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def await_unsafe(self) -> None:
        """Waits for nvcc."""
        if self.unsafe_compilation is not None and self.unsafe_compilation.wait() != 0:
            self.unsafe_problem = "nvcc failed"
        self.unsafe_compilation = None

    def measure_unsafe(self, application: Application, column: Column) -> Record:
        """The kernels of benches/cuda/unsafe.cu, at their own sizes, which are those of the programs."""
        if f'wanted("{application.name}")' not in (ROOT / "benches/cuda/unsafe.cu").read_text(encoding="utf-8"):
            return {"ms": None, "problem": "not written"}
        run = Run([str(self.work / "unsafe"), application.name], {}, lambda: self.timeout(column))
        try:
            numbers = json.loads(run.output)
        except ValueError:
            return {"ms": None, "problem": run.problem or "it printed nothing"}
        states = ["resident_ms", "fresh_ms", "behind_ms", "cold_ms", "again_ms"]
        kinds = [*states, *(f"same_bits_{state}" for state in states)]
        times = {key: rounded(numbers[key]) for key in kinds if key in numbers}
        other = {"size": application.size, "times": 1.0, "problem": run.problem, "seconds": run.seconds}
        return {"ms": rounded(numbers["end_to_end_ms"]), **times, **other}

    # ---- the same bytes at a small size

    def compare_small(self, applications: list[Application]) -> None:
        """Every application in every column at the size that tests use; several at once, because nothing is timed."""
        columns = [c for c in COLUMNS if c.program not in ("cc", "unsafe")]
        with concurrent.futures.ThreadPoolExecutor(max(1, min(WARMING, (os.cpu_count() or 1) - 2))) as pool:
            for _ in pool.map(lambda a: self.compare_one(a, columns), applications):
                self.save()

    def compare_one(self, application: Application, columns: list[Column]) -> None:
        """One application."""
        reference = self.dumped(application, "cc", {}) if self.left() > LEAST_SECONDS else None
        for column in columns:
            measurement = self.results["measurements"].get(application.name, {}).get(column.name)
            if reference is None or measurement is None or self.left() < LEAST_SECONDS:
                continue
            if self.obstacle(application, column) is None and measurement.get("same_bits_small") is None:
                program = "bits" if column.is_paragon else column.program
                measurement["same_bits_small"] = self.dumped(application, program, self.environment(column)) == reference
                if measurement["same_bits_small"] is False:
                    print(f"{application.name}, {column.title}, small: other bits", flush=True)

    def dumped(self, application: Application, program: str, environment: dict[str, str]) -> tuple[str, bytes] | None:
        """All bytes of a program's results, and what it prints. None: it didn't end well."""
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            dump = Path(folder) / "dump"
            command = [str(BUILT / f"{application.name}.{program}"), "--size", str(application.test_size())]
            run = Run([*command, "--input", "clean", "--dump", str(dump)], environment, lambda: 20.0)
            return (run.results(), dump.read_bytes()) if run.problem is None else None

    # ---- parts of the checks

    def break_down(self, application: Application, log: str, parts: Record) -> None:
        """What each part of the checks costs in one application's kernels, with one log method."""
        kept = self.results["breakdown"].setdefault(application.name, {})
        kept[log] = {"size": self.breakdown_size(application)} | parts
        self.save()
        known = ", ".join(f"{part} {part_cell(parts, part)}" for part in bench_breakdown.PARTS if part in parts)
        print(f"{application.name}, {log}: {known or parts['problem']}", flush=True)

    def breakdown_size(self, application: Application) -> int:
        """The size at which parts of the checks are told apart."""
        return application.test_size() if self.arguments.small else application.breakdown_size or application.size

    def breakdown_run(self, application: Application, log: str, repetitions: int, rounds: int) -> tuple[list[str], dict[str, str], Path]:
        """The command, and its environment, that runs an application's kernels in all variants, and the file that their times are in. The GPU's result
        stands: an application's worker may take many times as long as its kernels; nobody looks at the results."""
        column = BY_COLUMN["paragon-cuda"]
        replays = self.work / f"{application.name}.{log}.replays"
        environment = self.environment(column) | on_cuda(log) | self.instruments().environment(replays, rounds)
        # In the place of machine code it has that of all variants.
        environment["XDG_CACHE_HOME"] = str(self.work / "cache-variants")
        return self.command(application, column, self.breakdown_size(application), repetitions), environment, replays

    def parts(self, application: Application, log: str, turn: threading.Lock) -> Record:
        """What the parts of the checks cost in an application's kernels: one run of the program."""
        if self.left() < LEAST_SECONDS:
            return {"problem": "skipped: the time was over"}
        trace = self.work / f"{application.name}.{log}.trace"
        command, environment, replays = self.breakdown_run(application, log, bench_breakdown.MOST, bench_breakdown.ROUNDS)
        for file in [trace, replays]:
            file.unlink(missing_ok=True)

        def found(repetitions: int) -> Record:
            return parts_of(read_replays(replays), of_computation(application, read_records(trace)), repetitions)

        def is_sure(repetitions: int) -> bool:
            return repetitions >= bench_breakdown.LEAST and are_sure(found(repetitions))

        run = Run(command, environment | {"PARAGON_TRACE": str(trace)}, lambda: self.timeout(BY_COLUMN["paragon-cuda"]), turn, is_sure)
        if run.problem:
            return {"problem": run.problem}
        return found(len(run.repetitions())) | {"seconds": run.seconds, "turn_seconds": run.turn_seconds}

    def instruments(self) -> Instruments:
        """The libraries that measure."""
        return Instruments(self.work / "instruments", self.nvrtc or "")

    # ---- everything

    def passes(self) -> list[tuple[str, bool]]:
        """Columns in the order of their importance; false: only applications whose loops need no inspection and which an automatic
        parallelizer did something for, true: the others."""
        first = ["cc", "unsafe", "paragon", "paragon-cuda", "openmp", "paragon-threads", "gcc-parallel", "polly"]
        first += ["paragon-cuda-learnt", *(f"paragon-cuda-{log}" for log in LOGS)]
        last = ["paragon-cuda", "gcc-parallel", "polly"]
        return [(column, False) for column in first] + [(column, True) for column in last] + [(f"paragon-cuda{log}-again", False) for log in ["", "-bitmap"]]

    def is_second(self, application: Application, column: str) -> bool:
        """Whether a measurement takes long, or says little."""
        if column == "paragon-cuda":
            return application.inspected
        if column in ("gcc-parallel", "polly"):
            return not self.build["parallelized"][column].get(application.name)
        return False

    def measure_all(self, applications: list[Application], columns: set[str]) -> None:
        """Everything that is asked for."""
        self.compile_unsafe()
        jobs = [
            (second, application, BY_COLUMN[column])
            for column, second in self.passes()
            for application in applications
            if column in columns and self.is_second(application, column) == second
        ]
        jobs = [job for job in jobs if self.is_due(*job[1:])]
        runs = self.runs_before([job[1:] for job in jobs if job[2].takes_turns and self.obstacle(*job[1:]) is None])
        # Columns that use the processors come first; then nothing else may run.
        if not any(not job[2].needs_gpu for job in jobs):
            self.warm(runs)
            runs = []
        compared = False
        for (second, column), group in itertools.groupby(jobs, lambda job: (job[0], None if job[2].takes_turns else job[2])):
            if column is not None and column.program == "unsafe":
                self.await_unsafe()
            if second and not compared:
                self.compare_small(applications)
                compared = True
            if column is None:
                self.warm(runs)
                runs = []
            self.measure_some([job[1:] for job in group], takes_turns=column is None)
        self.await_unsafe()
        self.compare_small(applications)

    def measure_some(self, jobs: list[tuple[Application, Column]], takes_turns: bool) -> None:
        """Some measurements, one after the other as far as they are measured."""
        turn = threading.Lock() if takes_turns else None
        with concurrent.futures.ThreadPoolExecutor(PREPARING if takes_turns else 1) as pool:
            for job, measurement in zip(jobs, pool.map(lambda job: self.measured(*job, turn), jobs)):
                self.keep(*job, measurement)

    def break_all_down(self, applications: list[Application], logs: list[str]) -> None:
        """What the parts of the checks cost, of the chapter's applications first."""
        missing = None if self.gpu and self.nvrtc else "no GPU with its run-time compiler"
        if missing is None and not (BUILT / "without/libcuda.so").exists():
            missing = "benches/without.cpp and replays.cpp were not built"
        if missing is not None:
            print(f"no breakdown: {missing}")
            return
        place = {name: number for number, name in enumerate(OF_BREAKDOWN)}
        applications = sorted(applications, key=lambda application: place.get(application.name, len(place)))
        known = self.results["breakdown"]
        wanted = [(log, a) for log in logs for a in applications if "kernel alone" not in known.get(a.name, {}).get(log, {})]
        # What one call is to reach comes first, with all that is compiled for it.
        first = [(log, a) for log, a in wanted if a.name in place]
        for some in [first, [job for job in wanted if job not in first]]:
            self.break_some_down(some, logs)

    def break_some_down(self, wanted: list[tuple[str, Application]], logs: list[str]) -> None:
        """The same of some applications."""
        if not wanted:
            return
        every = {application.name: application for _, application in wanted}.values()
        self.warm([self.breakdown_run(a, "all" if len(logs) > 1 else logs[0], WARM_REPETITIONS, 0)[:2] for a in every])
        turn = threading.Lock()
        with concurrent.futures.ThreadPoolExecutor(PREPARING_BREAKDOWN) as pool:
            for (log, application), parts in zip(wanted, pool.map(lambda job: self.parts(job[1], job[0], turn), wanted)):
                self.break_down(application, log, parts)


# ---- tables


def cell(value: float | None) -> str:
    """A number of a table."""
    return "-" if value is None else f"{value:.3g}"


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in [heads, ["---"] * len(heads), *rows]) + "\n"


def flagged(measurement: Record) -> str:
    """A time, or why there is none. `*`: scaled from another size; `!`: other bits than cc's."""
    problem = measurement.get("problem") or ""
    if measurement.get("ms") is None:
        return next((short for short in ["timed out", "skipped", "not written"] if problem.startswith(short)), "-")
    other = False in (measurement.get("same_bits"), measurement.get("same_bits_small"))
    return cell(measurement["ms"]) + ("*" if measurement.get("times", 1.0) != 1.0 else "") + (" !" if other else "")


def on_gpu(measurement: Record) -> str:
    """The same for what is to run on the GPU, where it did."""
    stays = measurement.get("ms") is not None and "cuda" not in measurement["device"]["where"]
    return "stays" if stays else flagged(measurement)


def automatic(results: Record, application: str, column: str) -> str:
    """The same for an automatic parallelizer; in brackets where it made nothing parallel."""
    text = flagged(results["measurements"][application].get(column, {}))
    found = results["build"]["parallelized"].get(column, {}).get(application)
    return text if found or text == "-" else f"({text})"


def end_to_end(results: Record) -> str:
    """The table of whole computations."""
    heads = ["application", "cc -O3", "OpenMP", "gcc's parallelizer", "Polly", "hand-written CUDA", "Paragon", "first time"]
    heads += ["threads only", "GPU only", *(f"GPU, {log} log" for log in LOGS), "ran on"]
    rows = []
    for name, columns in results["measurements"].items():
        paragon = columns.get("paragon", {})
        row = [name, flagged(columns.get("cc", {})), flagged(columns.get("openmp", {}))]
        row += [automatic(results, name, "gcc-parallel"), automatic(results, name, "polly")]
        row += [flagged(columns.get("unsafe", {})), flagged(paragon), cell(paragon.get("first_ms"))]
        row.append(flagged(columns.get("paragon-threads", {})))
        row += [on_gpu(columns.get(f"paragon-cuda{log}", {})) for log in ["", *(f"-{log}" for log in LOGS)]]
        where = paragon.get("device", {}).get("where", {})
        rows.append([*row, ", ".join(f"{place} {count}" for place, count in where.items()) or "-"])
    return table(heads, rows)


def resident(results: Record) -> str:
    """The table of kernels."""
    heads = ["application", "hand-written, again and again", "the same, once after copies", "Paragon", "of it checks", "times hand-written"]
    heads += ["hand-written, same bits", "times hand-written, same bits"]
    heads += ["no inspections, first entry", "times hand-written", "later entries", "times hand-written"]
    for log in LOGS:
        heads += [f"{log} log", "of it checks"]
    heads += ["log", "ran on"]
    rows = []
    for name, columns in results["measurements"].items():
        hand = columns.get("unsafe", {})
        row = [name, cell(hand.get("resident_ms")), cell(hand.get("fresh_ms"))]
        whole, auto = kernels_of(columns, "paragon-cuda")
        row += [cell(whole), cell(auto.get("checks_ms") or None)]
        fresh = hand.get("fresh_ms")
        later, learnt = kernels_of(columns, "paragon-cuda-learnt")
        first = learnt.get("first_kernels_ms") if later else None
        row.append(cell(whole / fresh if whole and fresh else None))
        # Where the other one adds in an order of its own.
        same = hand.get("same_bits_fresh_ms")
        row += [cell(same), cell(whole / same if whole and same else None)]
        for ms in [first, later]:
            row += [cell(ms), cell(ms / fresh if ms and fresh else None)]
        for log in LOGS:
            logged, device = kernels_of(columns, f"paragon-cuda-{log}")
            row += [cell(logged), cell(device.get("checks_ms") if logged else None)]
        where = "+".join(auto.get("where", {})) or columns.get("paragon-cuda", {}).get("problem") or "-"
        rows.append([*row, "+".join(auto.get("logs", [])) or "-", where])
    return table(heads, rows)


# What is compared with hand-written kernels in a state: how it is called in the table, the column, and what is taken of it.
COMPARED = [
    ("Paragon", "paragon-cuda", "later"),
    ("first entry", "paragon-cuda-learnt", "first"),
    ("bitmap log", "paragon-cuda-bitmap", "later"),
]
# The same of kernels that are run several times where the program launches them.
REPLAYED = {
    "cold caches": [("Paragon, cold caches", "paragon-cuda-again"), ("bitmap log, cold caches", "paragon-cuda-bitmap-again")],
    "again and again": [("Paragon, again and again", "paragon-cuda-again")],
}
KEY_OF = {"cold caches": "cold_ms", "again and again": "again_ms"}


def equal_states(results: Record) -> str:
    """The table of kernels in the state of those that they are compared with."""
    heads = ["application", "hand-written, behind copies", "same bits"]
    for what, _, _ in COMPARED:
        heads += [what, "times", "times same bits"]
    for state, whats in REPLAYED.items():
        heads += [f"hand-written, {state}", "same bits"]
        for what, _ in whats:
            heads += [what, "times", "times same bits"]
    rows, ratios = [], collections.defaultdict(list)

    def against(name: str, ms: float | None, hand: Record, state: str) -> list[str]:
        known = [hand.get(state), hand.get(f"same_bits_{state}")]
        if ms and known[0]:
            ratios[name].append(ms / known[0])
        return [cell(ms), *(cell(ms / other if ms and other else None) for other in known)]

    for name, columns in results["measurements"].items():
        hand = columns.get("unsafe", {})
        if hand.get("behind_ms") is None:
            continue
        row = [name, cell(hand["behind_ms"]), cell(hand.get("same_bits_behind_ms"))]
        for what, column, entry in COMPARED:
            ms, device = kernels_of(columns, column)
            row += against(what, device.get("first_kernels_ms") if ms and entry == "first" else ms, hand, "behind_ms")
        for state, whats in REPLAYED.items():
            key = KEY_OF[state]
            row += [cell(hand.get(key)), cell(hand.get(f"same_bits_{key}"))]
            for what, column in whats:
                device = columns.get(column, {}).get("device", {})
                ms = device.get(key)
                # What is looked at behind the kernel has been made once, where the program wanted it.
                row += against(what, ms + device["checks_ms"] if ms is not None else None, hand, key)
        rows.append(row)
    means = [f"{name} {statistics.geometric_mean(each):.3g} ({len(each)})" for name, each in ratios.items()]
    if not rows:
        return "No hand-written kernel was measured in these states."
    return table(heads, rows) + f"\nTimes hand-written, geometric means (of so many): {', '.join(means)}." + in_place(results)


def in_place(results: Record) -> str:
    """The table of kernels in whose place hand-written ones ran."""
    heads = ["application", "Paragon, in turn with the others", "hand-written, in its place", "times", "same bits", "times same bits"]
    rows = []
    kernels = {"paragon-cuda-again": "", "paragon-cuda-bitmap-again": ", bitmap log"}
    for (name, columns), (column, log) in itertools.product(results["measurements"].items(), kernels.items()):
        device = columns.get(column, {}).get("device", {})
        own, *others = [device.get(f"{state}_ms") for state in IN_PLACE]
        if own and others[0]:
            rows.append([name + log, cell(own), *(cell(number) for ms in others for number in [ms, own / ms if ms else None])])
    return "\n\n" + IN_THEIR_PLACE + "\n\n" + table(heads, rows) if rows else ""


IN_THEIR_PLACE = """*In place*: hand-written kernels in the process of Paragon's program, on its memory, in turn with its own, with cold caches. In processes of their own they, and
Paragon's as well, take up to 3% more or less, by where in the GPU's memory their arrays come to lie."""


STATES = """Each number is compared with hand-written kernels in its own state. *Behind copies*: each loop's kernel once, behind copies of that loop's arrays into
the GPU's memory; so Paragon's entries run, as far as they copy. *Cold caches*: each loop's kernel by itself, behind a copy of other memory, so that the GPU's caches hold
nothing of its data, of both sides; what checks a log behind the kernel is added as an entry took it. *Again and again*: each loop's kernel many times, by itself, nothing copied in between; only where
nothing is logged. In the table above hand-written kernels ran again and again, all loops in turn, or once behind copies of all arrays before the first
loop: not the state of the others where an application has several loops."""


def kernels_of(columns: Record, column: str) -> tuple[float | None, Record]:
    """Milliseconds of kernels and checks, at the application's own size, where there were any; and all that is known."""
    measurement = columns.get(column, {})
    device = measurement.get("device", {})
    times = measurement.get("times", 1.0)
    if "cuda" not in device.get("where", {}):
        return None, device
    parts = [part for part in ["kernels_ms", "checks_ms", "first_kernels_ms"] if part in device]
    device = device | {part: times * device[part] for part in parts}
    return device["kernels_ms"] + device["checks_ms"], device


def transfers(results: Record) -> str:
    """The table of what an entry's time goes into."""
    parts = ["copy_in_ms", "kernels_ms", "checks_ms", "copy_out_ms", "inspections_ms", "rest_ms", "entries_ms"]
    heads = ["application", "copies in", "kernels", "checks", "copies out", "inspections", "the rest", "all of it"]
    rows = []
    for name, columns in results["measurements"].items():
        device = columns.get("paragon-cuda", {}).get("device")
        if device is not None:
            rows.append([name, *(cell(device[part]) for part in parts)])
    return table(heads, rows)


def part_cell(parts: Record, part: str) -> str:
    """What a part of the checks takes. In brackets: less than twice what it may be wrong by, so it may be nothing. A negative number that isn't in brackets
    is one: without that part the compiler made a slower kernel."""
    value, spread = parts.get(part), parts.get("spread", {}).get(part)
    if value is None or spread is None:
        return cell(value)
    text = f"{value:.3g} ±{spread:.1g}"
    return f"({text})" if abs(value) < 2 * spread else text


def breakdown(results: Record) -> str:
    """The table of the parts of the checks."""
    rows = []
    for name, logs in results["breakdown"].items():
        for log, parts in logs.items():
            numbers = [part_cell(parts, part) for part in bench_breakdown.PARTS]
            rows.append([name, log, str(parts["size"]), *numbers, parts.get("problem", "")])
    return table(["application", "log", "size", *bench_breakdown.PARTS, ""], rows)


def methods(results: Record) -> str:
    """The table of log methods: kernels and checks, and whether ours are as fast as the chapter's two."""
    ours, chapters = ["bitmap", "stamp"], ["reduction", "atomic"]
    rows, slower, incomplete = [], [], []
    for name, columns in results["measurements"].items():
        known = {log: kernels_of(columns, f"paragon-cuda-{log}")[0] for log in LOGS}
        if not any(known.values()):
            continue
        cells = [cell(known[log]) if known[log] else why_not(columns.get(f"paragon-cuda-{log}", {})) for log in LOGS]
        own = min((ms for log in ours if (ms := known[log])), default=None)
        others = [known[log] for log in chapters]
        least = min((ms for ms in others if ms), default=None)
        times = own / least if own and least else None
        if None in others or own is None:
            incomplete.append(name)
        elif times is not None and times > AS_FAST:
            slower.append(name)
        rows.append([name, cell(columns.get("unsafe", {}).get("fresh_ms")), *cells, cell(times)])
    heads = ["application", "hand-written, once after copies", *LOGS, "the faster of ours / the faster of the chapter's"]
    text = f"Of {len(rows)} applications {len(rows) - len(slower) - len(incomplete)} have a log of ours that is as fast as both of the chapter's methods (atomic, reduction), or faster"
    text += f"; not {', '.join(slower)}" if slower else ""
    text += f"; not known of {', '.join(incomplete)}" if incomplete else ""
    return table(heads, rows) + f"\n{text}." if rows else "No log was measured."


def why_not(measurement: Record) -> str:
    """Why there is no time of a kernel, in a word or two."""
    problem = measurement.get("problem") or ("stays" if measurement.get("ms") is not None else "")
    return next((short for short in ["timed out", "skipped", "not written", "stays"] if problem.startswith(short)), "-")


def without_numbers(results: Record) -> str:
    """What has no number, or fewer repetitions than it was to have, and why."""
    found: dict[str, list[str]] = {}
    for name, columns in results["measurements"].items():
        for column, measurement in columns.items():
            if measurement.get("problem"):
                found.setdefault(measurement["problem"], []).append(f"{name} ({column})")
    return "\n".join(f"- {problem}: {', '.join(places)}" for problem, places in found.items())


def same_bits(results: Record) -> str:
    """How many of Paragon's measurements had cc's results."""
    seen = collections.Counter()
    others = []
    for name, columns in results["measurements"].items():
        for column in [c for c in COLUMNS if c.is_paragon and c.name in columns]:
            found = [columns[column.name].get(key) for key in ["same_bits", "same_bits_small"]]
            seen.update(key for key, same in zip(["measured", "small"], found) if same)
            others += [f"{name} ({column.title})"] if False in found else []
    text = f"Paragon's results had cc's bits in {seen['measured']} measurements and in {seen['small']} runs at the tests' sizes"
    return f"{text}; **other bits: {', '.join(others)}**." if others else f"{text}, and other bits in none."


WHY_NOT = "`timed out` or `skipped`: there was no time left for it; `stays`: no loop ran on the GPU."


def tables(results: Record) -> str:
    """All of it in Markdown."""
    where, build = results["machine"], results["build"]
    text = [f"{where['date']}, {where['gpu']}, {where['cores']} cores ({where['processor']}), built at {build['commit']}."]
    legend = "`*`: computed from a smaller size. `!`: other bits than cc's. In brackets: nothing was made parallel. "
    legend += "`stays`: no loop ran on the GPU."
    text += [f"Milliseconds, medians. {legend}", same_bits(results)]
    if results["small"]:
        text.append("**At the sizes of tests: these numbers mean nothing.**")
    if results["measurements"]:
        text += ["## Whole computations", end_to_end(results), "## Kernels", resident(results)]
        text += ["## Kernels in equal states", STATES, equal_states(results)]
        text += ["## Log methods", f"Kernels and checks. {WHY_NOT}", methods(results)]
        text += ["## What the entries of loops take on the GPU", transfers(results)]
        if missing := without_numbers(results):
            text += ["## Without numbers, or with fewer repetitions", missing]
    if results["breakdown"]:
        legend = "Milliseconds, medians and their standard errors. In brackets: less than twice its error."
        text += ["## Parts of the checks", legend, breakdown(results)]
    text += [f"{name}: {note}" for name, note in results["notes"].items()]
    return "\n\n".join(text) + "\n"


def main() -> int:
    """Reads the command line and measures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--budget", type=float, default=340.0, help="seconds after which nothing begins any more")
    parser.add_argument("--columns", default=",".join(c.name for c in COLUMNS), help="names between commas")
    parser.add_argument("--breakdown", action="store_true", help="only tell apart what the parts of the checks cost")
    parser.add_argument("--logs", default=",".join(LOGS), help="for which logs, with --breakdown")
    parser.add_argument("--continue", dest="goes_on", metavar="FILE", help="keep what is in this bench.json, measure what is missing")
    parser.add_argument("--small", action="store_true", help="tests' sizes, to see that everything runs")
    parser.add_argument("applications", nargs="*", metavar="APPLICATION")
    arguments = parser.parse_args()
    applications = [BY_NAME[name] for name in arguments.applications] or APPLICATIONS
    if not (BUILT / "build.json").exists():
        print("nothing is built: run benches/bench-prepare.py first")
        return 1
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(arguments, Path(work))
        if arguments.breakdown:
            bench.break_all_down(applications, arguments.logs.split(","))
        else:
            bench.measure_all(applications, set(arguments.columns.split(",")))
        bench.save()
    if not bench.gpu:
        print("no GPU: the columns of CUDA are missing")
    print((bench.out / "bench.md").read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
