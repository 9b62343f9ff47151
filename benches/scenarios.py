#!/usr/bin/env python3
"""The chapter's four scenarios (figures 4.8 and 4.12), and its Rayleigh program (4.6.4), measured on this machine with what benches/bench-prepare.py built.

Each of the chapter's thirteen applications is the second of three loops (benches/scenarios.h): in scenario a both neighbours are sequential, in b both are
do-all, in c Loop3 is, in d Loop1 is. Each with an input without a conflict, and with one in which exactly two iterations meet. Ways to run it are those of WAYS; `cc` is
the sequential program that the chapter divides by. Results have to be cc's bit for bit, Loop3's among them, behind the first repetition and the last one.

The Rayleigh program has a conflict in every twentieth call of the loop that is speculated. Its runs come in fours, cc's and Paragon's with and without those: what a misspeculation costs is what conflicts
make of Paragon's time, divided by what they make of cc's.

Writes scenarios.json, after each measurement, and scenarios.md into the folder that OUT names (build/bench-results); benches/bench_plot.py draws. The most important comes first; `--continue FILE` makes up for what
--seconds have left out.

In scenarios.json, by application, way, input and scenario: `tau_ms` from the end of Loop1 to the start of Loop3, `whole_ms` of all three loops, medians after the first repetitions (bench_session.settled);
`first_tau_ms`, `first_whole_ms`; `all_tau_ms`; `bits` as printed, `same_bits`; `where`, `logs`, `failures`, `why` of Loop2's entries and `neighbours` of the others', by Paragon's records (of scenarios
that have a process together, the first one may have those of all).
"""

from __future__ import annotations

import argparse
import collections
import re
import statistics
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import LEAST_SECONDS, cell, of_computation, read_records, rounded, table
from bench_applications import BUILT, BY_NAME, LEARNS, OF_SCENARIOS, Application
from bench_session import Session, add_options, geometric_mean, head, median

Record = dict[str, Any]
LETTERS = "abcd"
NEIGHBOURS = {"a": "both sequential", "b": "both do-all", "c": "Loop3 do-all", "d": "Loop1 do-all"}
# Inputs of the programs, by what they are here.
INPUTS = {"clean": "clean", "conflict": "one"}
# Pointers, and then indirect accesses: the chapter's two parts of the figure.
POINTERS = OF_SCENARIOS[:6]
# A matrix product of the chapter's size takes minutes where it stays.
SIZES = {"gemm": 768}
# Programs that are under way at a time: what computes shares memory with one that makes its input.
PREPARING = 2
NEIGHBOURS_LINE = re.compile(r"^repetition_ms ([0-9.]+)\nneighbours_ms ([abcd]) ([0-9.]+) ([0-9.]+)$", re.MULTILINE)
BITS_LINE = re.compile(r"^after ([abcd]) ([0-9a-f]+)$", re.MULTILINE)


@dataclass(frozen=True)
class Way:
    """A way to run the applications."""

    name: str
    title: str
    program: str
    environment: dict[str, str] = field(default_factory=dict)
    # Whether each scenario has a process to itself, as what is learnt in one counts in the next.
    apart: bool = True
    # At most so many repetitions of each scenario, at least so many, and none begins after so many seconds once there are those.
    repetitions: int = 60
    least: int = 4
    seconds: float = 1.2
    timeout: float = 40.0


# The GPU runs Loop2 though nothing is known of its addresses. The worker beside it takes over where they meet.
SPECULATES = LEARNS
RACES = {key: value for key, value in LEARNS.items() if key != "PARAGON_RACE"}
WAYS = [
    Way("cc", "cc -O3", "scenarios-cc", apart=False, repetitions=3, least=2, seconds=1.0, timeout=60.0),
    Way("paragon", "Paragon", "scenarios-paragon"),
    Way("speculates", "GPU, speculating", "scenarios-paragon", SPECULATES, apart=False, repetitions=5, least=3, seconds=1.0),
    Way("races", "GPU, speculating, with the worker", "scenarios-paragon", RACES, apart=False, repetitions=5, least=3, seconds=1.0),
    Way("stays", "GPU, speculating, results stay", "scenarios-paragon", SPECULATES | {"PARAGON_STAYING": "on"}, False, 5, 3, 1.0),
]
BY_WAY = {way.name: way for way in WAYS}
# In the order of their importance; in the second half of them everything is on the GPU.
PASSES = [("clean", ["cc", "paragon"]), ("conflict", ["cc", "paragon"]), ("clean", ["speculates", "stays"]), ("conflict", ["races", "speculates"])]

# The Rayleigh program: its size; repetitions of four calls each, of which the first one isn't counted: two calls of the other forty have a conflict; its ways.
RAYLEIGH_SIZE, RAYLEIGH_REPETITIONS, RAYLEIGH_SECONDS = 1 << 18, 11, 60.0
RAYLEIGH_WAYS = {"paragon": {}, "races": RACES, "speculates": SPECULATES}
RAYLEIGH_INPUTS = ["clean", "call"]


@dataclass(frozen=True)
class Job:
    """A process: some scenarios of an application in one way."""

    application: Application
    way: Way
    input: str
    letters: str


def jobs_of(applications: list[Application], ways: set[str], passes: list[tuple[str, list[str]]]) -> list[Job]:
    """All processes that are asked for, in their order."""
    jobs = []
    for input_name, names in passes:
        for application in applications:
            for way in [BY_WAY[name] for name in names if name in ways]:
                # What stays has to be proven and affine; nothing of the others does.
                if way.name == "stays" and application.name not in POINTERS:
                    continue
                jobs += [Job(application, way, input_name, letters) for letters in (LETTERS if way.apart else [LETTERS])]
    return jobs


def parse(output: str) -> dict[str, Record]:
    """The times of each scenario, as printed."""
    found: dict[str, Record] = {}
    for tau, letter, before, behind in NEIGHBOURS_LINE.findall(output):
        record = found.setdefault(letter, {"all_tau_ms": [], "all_whole_ms": [], "bits": []})
        record["all_tau_ms"].append(float(tau))
        record["all_whole_ms"].append(rounded(float(tau) + float(before) + float(behind)))
    for letter, bits in BITS_LINE.findall(output):
        found[letter]["bits"].append(bits)
    for record in found.values():
        for what in ["tau", "whole"]:
            record[f"{what}_ms"] = rounded(median(record[f"all_{what}_ms"]))
            record[f"first_{what}_ms"] = record[f"all_{what}_ms"][0]
    return found


def shares(records: list[Record], counts: list[int]) -> list[list[Record]]:
    """Records of a process by its scenarios, which have so many repetitions each, of as many entries each. Where that can't be, because short entries have no records as long
    as there is nothing to gain, the first one has them all."""
    each, rest = divmod(len(records), sum(counts) or 1)
    if rest != 0:
        return [records, *([] for _ in counts[1:])]
    ends = [each * sum(counts[: number + 1]) for number in range(len(counts))]
    return [records[end - each * count : end] for end, count in zip(ends, counts)]


def of_entries(entries: list[Record]) -> Record:
    """What Paragon's records say of Loop2."""
    return {
        "where": dict(collections.Counter(r["decision"] for r in entries)),
        "logs": sorted({r["log"] for r in entries if r["device"] != ""}),
        "failures": dict(collections.Counter(failure for r in entries for failure in r["fail"])),
        "why": dict(collections.Counter(r["why"] for r in entries).most_common(3)),
    }


def add_records(application: Application, found: dict[str, Record], records: list[Record]) -> None:
    """Adds what Paragon's records say of each scenario."""
    counts = [len(record["all_tau_ms"]) for record in found.values()]
    computed = shares(of_computation(application, records), counts)
    for record, own in zip(found.values(), computed):
        record |= of_entries(own)
    if len(found) == 1:
        record["neighbours"] = of_entries([r for r in records if r["file"].endswith("scenarios.h")])["where"]


class Scenarios:
    """Measures, in a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.known = session.results.setdefault("scenarios", {})
        self.rayleigh = session.results.setdefault("rayleigh", {"rounds": []})

    def is_due(self, job: Job) -> bool:
        """Whether something of it is missing, and can be measured here."""
        needs_gpu = job.way.environment.get("PARAGON_DEVICE") == "cuda"
        known = self.known.get(job.application.name, {}).get(job.way.name, {}).get(job.input, {})
        missing = any(known.get(letter, {}).get("tau_ms") is None for letter in job.letters)
        return missing and (not needs_gpu or self.session.gpu)

    def measured(self, job: Job, turn: threading.Lock) -> dict[str, Record] | None:
        """Runs a job; what is known of its scenarios then, by their letters. None: there was no time for it."""
        name, way = job.application.name, job.way
        size = job.application.test_size() if self.session.small else SIZES.get(name, job.application.size)
        trace = self.session.work / f"{name}.{way.name}.{job.input}.{job.letters}.trace"
        environment = way.environment | {"BENCH_SCENARIOS": job.letters, "BENCH_SECONDS": str(way.seconds), "BENCH_LEAST": str(way.least)}
        if way.name != "cc":
            environment["PARAGON_TRACE"] = str(trace)
        command = [self.session.program(f"{name}.{way.program}"), "--size", str(size), "--input", INPUTS[job.input]]
        run = self.session.run([*command, "--repeat", str(way.repetitions)], environment, way.timeout, turn)
        found = parse(run.output)
        if run.problem is not None and (run.problem.startswith("skipped") or self.session.left() <= 0):
            return None
        add_records(job.application, found, read_records(trace))
        trace.unlink(missing_ok=True)
        other = {"size": size, "problem": run.problem, "seconds": run.seconds}
        return {letter: found.get(letter, {"tau_ms": None}) | other for letter in job.letters}

    def keep(self, job: Job, found: dict[str, Record]) -> str:
        """Adds a job's results to those that there are; what is to be said of them."""
        name, way = job.application.name, job.way
        self.known.setdefault(name, {}).setdefault(way.name, {}).setdefault(job.input, {}).update(found)
        mark_bits(self.known[name])
        return f"{name}, {way.title}, {job.input}: " + "; ".join(self.words(letter, record) for letter, record in found.items())

    @staticmethod
    def words(letter: str, record: Record) -> str:
        """What is printed of a scenario."""
        if record["tau_ms"] is None:
            return f"{letter} {record['problem']}"
        where = ", ".join(f"{place} {count}" for place, count in record.get("where", {}).items())
        failures = " ".join(record.get("failures", {}))
        other = " OTHER BITS" if record.get("same_bits") is False else ""
        return f"{letter} {record['tau_ms']:.4g} ms of {record['whole_ms']:.4g}" + (f" ({where}{', failed: ' + failures if failures else ''})" if where else "") + other

    # ---- the Rayleigh program

    def rayleigh_round(self) -> Record | None:
        """Runs cc's and Paragon's programs with and without conflicts, in turn; milliseconds by way and input. None: there was no time for it."""
        application = BY_NAME["rayleigh"]
        size = application.test_size() if self.session.small else RAYLEIGH_SIZE
        ways = {"cc": {}} | {name: more for name, more in RAYLEIGH_WAYS.items() if name == "paragon" or self.session.gpu}
        # Each round begins with another way, so that none of them is always the first.
        begin = len(self.rayleigh["rounds"]) % len(ways)
        taken: Record = {}
        for name in [*ways][begin:] + [*ways][:begin]:
            for input_name in RAYLEIGH_INPUTS:
                trace = self.session.work / "rayleigh.trace"
                trace.unlink(missing_ok=True)
                program = self.session.program(f"rayleigh.{'cc' if name == 'cc' else 'paragon'}")
                command = [program, "--size", str(size), "--input", input_name, "--repeat", str(RAYLEIGH_REPETITIONS)]
                run = self.session.run(command, ways[name] | {"PARAGON_TRACE": str(trace)}, RAYLEIGH_SECONDS)
                if run.problem is not None:
                    print(f"rayleigh, {name}, {input_name}: {run.problem}", flush=True)
                    return None
                repetitions = run.repetitions()
                record = {"ms": rounded(sum(repetitions[1:])), "first_ms": repetitions[0], "bits": run.results()}
                shifts = [r for r in of_computation(application, read_records(trace)) if r["function"] == "shift" and r["check"] != "none"]
                # The first repetition isn't counted here, either.
                counted_shifts = shifts[len(shifts) // RAYLEIGH_REPETITIONS :]
                record["shift_ms"] = rounded(sum(r["total_ns"] for r in counted_shifts) / 1e6)
                taken.setdefault(name, {})[input_name] = record | of_entries(shifts)
        for way in taken.values():
            for input_name, record in way.items():
                record["same_bits"] = record["bits"] == taken["cc"][input_name]["bits"]
        return taken

    def measure_rayleigh(self, rounds: int) -> None:
        """The same several times."""
        while len(self.rayleigh["rounds"]) < rounds and self.session.left() >= LEAST_SECONDS:
            taken = self.rayleigh_round()
            if taken is None:
                return
            self.rayleigh["rounds"].append(taken)
            self.session.save()
            times = [f"{name}, {key} {record['ms']:.4g} ms" for name, way in taken.items() for key, record in way.items()]
            print("rayleigh: " + "; ".join(times), flush=True)


def mark_bits(ways: Record) -> None:
    """Says of each scenario of an application whether its bits are cc's, all of them."""
    for name, inputs in ways.items():
        for input_name, letters in inputs.items():
            for letter, record in letters.items():
                expected = ways.get("cc", {}).get(input_name, {}).get(letter, {}).get("bits")
                if record.get("bits") and expected:
                    record["same_bits"] = set(record["bits"]) == set(expected) and len(set(expected)) == 1


# ---- tables


def times_faster(ways: Record, way: str, input_name: str, letter: str, what: str = "tau_ms") -> float | None:
    """How many times as fast as cc's program a scenario is."""
    ours, theirs = (ways.get(name, {}).get(input_name, {}).get(letter, {}).get(what) for name in [way, "cc"])
    return theirs / ours if ours and theirs else None


def figure(results: Record, input_name: str, way: str, what: str = "tau_ms") -> str:
    """The chapter's figure 4.12 as a table: one way against cc."""
    heads = ["application", *(f"cc, {letter}" for letter in LETTERS), *(f"Paragon, {letter}" for letter in LETTERS)]
    heads += [*(f"times as fast, {letter}" for letter in LETTERS), "failures", "Loop2 ran on"]
    rows = []
    ratios: dict[str, list[float]] = {letter: [] for letter in LETTERS}
    for name, ways in results["scenarios"].items():
        theirs, ours = (ways.get(w, {}).get(input_name, {}) for w in ["cc", way])
        if not ours:
            continue
        others = [times_faster(ways, way, input_name, letter, what) for letter in LETTERS]
        for letter, ratio in zip(LETTERS, others):
            ratios[letter] += [ratio] if ratio else []
        row = [name, *(cell(theirs.get(letter, {}).get(what)) for letter in LETTERS)]
        row += [cell(ours.get(letter, {}).get(what)) + (" !" if ours.get(letter, {}).get("same_bits") is False else "") for letter in LETTERS]
        where, failed = collections.Counter(), collections.Counter()
        for record in ours.values():
            where.update(record.get("where", {}))
            failed.update(record.get("failures", {}))
        row += [cell(ratio) for ratio in others] + [counted(failed), counted(where)]
        rows.append(row)
    if rows:
        rows.append(["geometric mean", *[""] * 8, *(cell(geometric_mean(ratios[letter])) for letter in LETTERS), "", ""])
    return table(heads, rows) if rows else ""


def counted(counter: dict[str, int]) -> str:
    """What there is how often."""
    return ", ".join(f"{what} {count}" for what, count in counter.items()) or "-"


def first_entries(results: Record) -> str:
    """What the first repetition of Paragon's default takes, in times of cc's first one."""
    heads = ["application", *(f"{input_name}, {letter}" for input_name in INPUTS for letter in LETTERS)]
    rows = []
    for name, ways in results["scenarios"].items():
        row = [times_faster(ways, "paragon", i, letter, "first_tau_ms") for i in INPUTS for letter in LETTERS]
        if any(row):
            rows.append([name, *(cell(1 / ratio if ratio else None) for ratio in row)])
    return table(heads, rows) if rows else ""


def overheads(rounds: list[Record], way: str) -> dict[str, list[float]]:
    """Of each round: what conflicts cost Paragon, in parts of its own time, beyond what they cost cc, and what they cost by what the entries of the speculated loop have taken; and its
    time with conflicts in times of cc's."""
    known = [taken for taken in rounds if way in taken]
    made = {name: [taken[name]["call"]["ms"] / taken[name]["clean"]["ms"] for taken in known] for name in ["cc", way]}
    against = [taken[way]["call"]["ms"] / taken["cc"]["call"]["ms"] for taken in known]
    entries = [(taken[way]["call"]["shift_ms"] - taken[way]["clean"]["shift_ms"]) / taken[way]["clean"]["ms"] for taken in known]
    return {"misspeculation": [ours / theirs - 1.0 for ours, theirs in zip(made[way], made["cc"])], "entries": entries, "against_cc": against}


def rayleigh_table(rounds: list[Record]) -> str:
    """What a conflict in every twentieth call costs."""
    heads = ["way", "rounds", "without, ms", "with conflicts, ms", "cc, without", "cc, with", "a misspeculation's overhead, %", "in rounds", "by the loop's entries, %", "in rounds", "with conflicts, in times of cc's", "failures", "where", "other bits"]
    rows = []
    for way in RAYLEIGH_WAYS:
        known = [taken for taken in rounds if way in taken]
        if not known:
            continue
        costs = overheads(known, way)
        middle = [statistics.median(taken[name][i]["ms"] for taken in known) for name in [way, "cc"] for i in RAYLEIGH_INPUTS]
        failed, where = collections.Counter(), collections.Counter()
        for taken in known:
            failed.update(taken[way]["call"]["failures"])
            where.update(taken[way]["call"]["where"])
        others = sum(not record["same_bits"] for taken in known for record in taken[way].values())
        row = [way, str(len(known)), *map(cell, middle)]
        for what in ["misspeculation", "entries"]:
            row += [f"{100 * statistics.median(costs[what]):.2f}", " ".join(f"{100 * cost:.2f}" for cost in costs[what])]
        rows.append([*row, cell(statistics.median(costs["against_cc"])), counted(failed), counted(where), str(others)])
    return table(heads, rows) if rows else ""


def bits(results: Record) -> str:
    """How many scenarios had cc's bits."""
    every = [
        (f"{name}, {way}, {i}, {letter}", record.get("same_bits"))
        for name, ways in results["scenarios"].items()
        for way, inputs in ways.items()
        for i, letters in inputs.items()
        for letter, record in letters.items()
        if way != "cc" and record.get("tau_ms") is not None
    ]
    others = [what for what, same in every if same is False]
    text = f"Results had cc's bits in {sum(same is True for _, same in every)} of {len(every)} scenarios"
    return text + (f"; **other bits: {'; '.join(others)}**." if others else ", other bits in none.")


def tables(results: Record) -> str:
    """All of it in Markdown."""
    text = [head(results), "Milliseconds. a: both neighbours sequential; b: both do-all; c: Loop3 do-all; d: Loop1 do-all. `!`: other bits than cc's.", bits(results)]
    for input_name, what in [("clean", "Without a conflict"), ("conflict", "With a conflict of two iterations")]:
        for way in WAYS[1:]:
            found = figure(results, input_name, way.name)
            text += [f"## {what}: {way.title}, tau", found] if found else []
        found = figure(results, input_name, "paragon", "whole_ms")
        text += [f"## {what}: Paragon, all three loops", found] if found else []
    found = first_entries(results)
    text += ["## First entries: tau of Paragon in times of cc's", found] if found else []
    found = rayleigh_table(results["rayleigh"]["rounds"])
    text += ["## The Rayleigh program, with a conflict in every twentieth call", found] if found else []
    return "\n\n".join(text) + "\n"


def main() -> int:
    """Reads the command line and measures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    add_options(parser, 400.0)
    parser.add_argument("--ways", default=",".join(way.name for way in WAYS), help="names between commas")
    parser.add_argument("--rounds", type=int, default=2, help="of the Rayleigh program (default %(default)s); 0: none")
    parser.add_argument("applications", nargs="*", metavar="APPLICATION")
    arguments = parser.parse_args()
    if not (BUILT / "build.json").exists():
        print("nothing is built: run benches/bench-prepare.py first")
        return 1
    applications = [BY_NAME[name] for name in arguments.applications or OF_SCENARIOS]
    with tempfile.TemporaryDirectory() as work:
        session = Session("scenarios", arguments, Path(work), tables)
        scenarios = Scenarios(session)
        for part in [PASSES[:2], PASSES[2:]]:
            jobs = [job for job in jobs_of(applications, set(arguments.ways.split(",")), part) if scenarios.is_due(job)]
            session.measure(jobs, PREPARING, scenarios.measured, scenarios.keep)
            # What is asked of the Rayleigh program comes before what explains the rest.
            scenarios.measure_rayleigh(arguments.rounds)
        session.save()
    print(f"{session.out / 'scenarios.md'}: {bits(session.results)}" + ("" if session.gpu else " No GPU: only what needs none."))
    return 0


if __name__ == "__main__":
    sys.exit(main())
