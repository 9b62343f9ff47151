#!/usr/bin/env python3
"""How good Paragon's choice of a place is: the time that its default takes, in times of the best of those that were forced (the program's thread alone, all threads, the GPU), in the same call, over
the applications of benches/bench.py at ten sizes each, from 1 KiB to 1 GiB of arrays, whose sequential run takes less than five seconds; after the first five repetitions, each of which enters
the loops. The regret of all is what was chosen together, divided by the best ones together.

Writes regret.json, after each size of an application, and regret.md into the folder that OUT names (build/bench-results); benches/bench_plot.py draws. Small sizes come first, of all applications; `--continue FILE` makes up for
what --seconds have left out.

In regret.json, by application and size: `wanted` bytes, and those that its arrays take, `bytes`; `ways`, each with `ms`, the median after the first repetitions (bench_session.settled), `first_ms`, `repetitions`, `same_bits` (as those of
the program's thread alone), `where` (Paragon's records) and `problem`; `too_long` where the size was left out because of its sequential time.
"""

from __future__ import annotations

import argparse
import collections
import re
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import cell, of_computation, read_records, rounded, table
from bench_applications import APPLICATIONS, BUILT, BY_NAME, MEMORY, Application, on_cuda
from bench_session import Session, add_options, geometric_mean, head, median

Record = dict[str, Any]
MEMORY_LINE = re.compile(r"^memory_bytes ([0-9]+)$", re.MULTILINE)
LEAST_BYTES, MOST_BYTES = 1 << 10, 1 << 30
# What a sequential repetition may take.
MOST_MS = 5000.0
# The sizes' programs take no smaller number.
LEAST_SIZE = 8
# What is asked of the regret.
BOUND = 1.15
WORST = 20
# Programs that are under way at a time: one computes, the others make their inputs.
PREPARING = 3


@dataclass(frozen=True)
class Way:
    """A way to run an application."""

    name: str
    environment: dict[str, str]
    repetitions: int
    least: int
    # No repetition begins after so many seconds once there are the least.
    seconds: float
    timeout: float = 60.0

    @property
    def needs_gpu(self) -> bool:
        """Whether there is nothing to measure without a GPU."""
        return self.environment.get("PARAGON_DEVICE") == "cuda"


SEQUENTIAL = Way("sequential", {"PARAGON_DEVICE": "off"}, 100, 2, 0.2, timeout=30.0)
CHOSEN = Way("chosen", {}, 400, 7, 0.4)
FORCED = [SEQUENTIAL, Way("threads", {"PARAGON_DEVICE": "threads"}, 100, 5, 0.2), Way("GPU", on_cuda("auto"), 100, 5, 0.2)]
WAYS = [SEQUENTIAL, CHOSEN, *FORCED[1:]]


@dataclass(frozen=True)
class Size:
    """What is known of an application at a size."""

    name: str
    size: int
    bytes: int
    chosen_ms: float
    # The best of those that were forced.
    best: str
    best_ms: float
    where: dict[str, int] = field(default_factory=dict)

    @property
    def regret(self) -> float:
        """The time chosen, in times of the best."""
        return self.chosen_ms / self.best_ms


def wanted_bytes(count: int, least: float, most: float) -> list[int]:
    """So many numbers from the least to the most, each as many times the one before."""
    return [round(least * (most / least) ** (number / max(count - 1, 1))) for number in range(count)]


def sizes_of(application: Application, count: int, most: int = MOST_BYTES) -> list[tuple[int, int]]:
    """So many of the application's sizes, with the bytes that were wanted; none of them twice. An application whose least size takes more than a KiB begins there."""
    factor, power = MEMORY[application.name]
    least = max(LEAST_BYTES, factor * LEAST_SIZE**power)
    sizes = {max(LEAST_SIZE, round((wanted / factor) ** (1.0 / power))): wanted for wanted in wanted_bytes(count, least, max(least, most))}
    return list(sizes.items())


def expected_ms(known: dict[str, Record]) -> float:
    """What the next size's sequential repetition takes, if it is as many times the last one's as that was of the one before; for ever, once one took too long."""
    if any(size.get("too_long") for size in known.values()):
        return float("inf")
    times = [size["ways"]["sequential"]["ms"] for _, size in sorted(known.items(), key=lambda item: int(item[0]))]
    if len(times) < 2:
        return 0.0
    return times[-1] * max(1.0, times[-1] / times[-2])


def known_size(name: str, size: int, record: Record) -> Size | None:
    """What there is to say of a size, if all ways of it were measured, or took too long: by those that a budget has left out none can be the best."""
    ways = record.get("ways", {})
    forced = {way.name: ways[way.name]["ms"] for way in FORCED if ways.get(way.name, {}).get("ms")}
    chosen = ways.get(CHOSEN.name, {})
    if not chosen.get("ms") or len(forced) < 2 or any(way.name not in ways for way in FORCED):
        return None
    best = min(forced, key=forced.__getitem__)
    return Size(name, size, record["bytes"], chosen["ms"], best, forced[best], chosen.get("where", {}))


def known_sizes(sizes: dict[str, Record], name: str = "") -> list[Size]:
    """The same of an application's sizes, in their order."""
    known = [known_size(name, int(size), record) for size, record in sizes.items()]
    return sorted((size for size in known if size is not None), key=lambda size: size.size)


def summed(sizes: list[Size]) -> float | None:
    """What was chosen together, divided by the best ones together."""
    return sum(size.chosen_ms for size in sizes) / sum(size.best_ms for size in sizes) if sizes else None


class Regret:
    """Measures, in a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.known = session.results.setdefault("regret", {})

    def wanted_ways(self) -> list[Way]:
        """Those that can be measured here."""
        return [way for way in WAYS if self.session.gpu or not way.needs_gpu]

    def is_due(self, job: tuple[Application, int, int]) -> bool:
        """Whether something is missing of an application at a size."""
        record = self.known.get(job[0].name, {}).get(str(job[1]), {})
        return not record.get("too_long") and any(way.name not in record.get("ways", {}) for way in self.wanted_ways())

    def measured(self, job: tuple[Application, int, int], turn: threading.Lock) -> Record | None:
        """Runs an application at a size in all ways, the sequential one first; what is known of it then. None: there was no time for it."""
        application, size, wanted = job
        sizes = dict(self.known.get(application.name, {}))
        # What is expected isn't sure.
        if expected_ms({key: record for key, record in sizes.items() if int(key) < size}) > 2 * MOST_MS:
            return {"wanted": wanted, "too_long": True}
        record = {"wanted": wanted, "bytes": 0, "ways": {}} | sizes.get(str(size), {})
        record["ways"] = dict(record["ways"])
        for way in self.wanted_ways():
            if way.name not in record["ways"] and self.run(application, size, way, record, turn) is None:
                break
            if (record["ways"]["sequential"]["ms"] or MOST_MS) >= MOST_MS:
                record["too_long"] = True
                break
        return record if record["ways"] else None

    def keep(self, job: tuple[Application, int, int], record: Record) -> str:
        """Adds a size's results to those that there are; what is to be said of them."""
        application, size, _ = job
        self.known.setdefault(application.name, {})[str(size)] = record
        return words(application.name, size, record)

    def run(self, application: Application, size: int, way: Way, record: Record, turn: threading.Lock) -> Record | None:
        """Runs an application at a size in one way. None: there was no time for it."""
        trace = self.session.work / f"{application.name}.{size}.{way.name}.trace"
        environment = way.environment | {"BENCH_SECONDS": str(way.seconds), "BENCH_LEAST": str(way.least), "BENCH_MEMORY": "1", "PARAGON_TRACE": str(trace)}
        command = [self.session.program(f"{application.name}.paragon"), "--size", str(size), "--input", "clean", "--repeat", str(way.repetitions)]
        run = self.session.run(command, environment, way.timeout, turn)
        repetitions = run.repetitions()
        if run.problem is not None and (run.problem.startswith("skipped") or self.session.left() <= 0):
            return None
        memory = MEMORY_LINE.search(run.output)
        record["bytes"] = int(memory[1]) if memory else record["bytes"]
        found: Record = {"ms": None, "repetitions": len(repetitions), "seconds": run.seconds, "problem": run.problem}
        if repetitions and (run.problem is None or len(repetitions) >= way.least):
            found |= {"ms": rounded(median(repetitions)), "first_ms": repetitions[0]}
        if run.problem is None:
            found["bits"] = MEMORY_LINE.sub("", run.results()).split()
            reference = record["ways"].get("sequential", {}).get("bits")
            found["same_bits"] = found["bits"] == reference if reference is not None else None
        records = of_computation(application, read_records(trace))
        trace.unlink(missing_ok=True)
        found["where"] = dict(collections.Counter(r["decision"] for r in records))
        record["ways"][way.name] = found
        return found


def words(name: str, size: int, record: Record) -> str:
    """What is printed of an application at a size."""
    if not record.get("ways"):
        return f"{name}, {size}: would take too long"
    times = [f"{way} {cell(found['ms'])}" for way, found in record["ways"].items()]
    known = known_size(name, size, record)
    others = [way for way, found in record["ways"].items() if found.get("same_bits") is False]
    text = f"{name}, {size} ({record['bytes']} bytes): {', '.join(times)} ms"
    text += f"; regret {known.regret:.3f}" if known is not None else ""
    return text + ("; too long" if record.get("too_long") else "") + (f"; OTHER BITS: {', '.join(others)}" if others else "")


# ---- tables


def row_of(size: Size) -> list[str]:
    """A row of the table of the worst ones."""
    where = ", ".join(f"{place} {count}" for place, count in size.where.items()) or "-"
    lost = size.chosen_ms - size.best_ms
    return [size.name, str(size.size), f"{size.bytes / 1024:.4g}", cell(size.chosen_ms), size.best, cell(size.best_ms), f"{size.regret:.3f}", cell(lost), where]


def tables(results: Record) -> str:
    """All of it in Markdown."""
    by_name = {name: known_sizes(sizes, name) for name, sizes in results["regret"].items()}
    every = [size for sizes in by_name.values() for size in sizes]
    text = [head(results), "Milliseconds."]
    others = [f"{name}, {size}, {way}" for name, sizes in results["regret"].items() for size, r in sizes.items() for way, found in r.get("ways", {}).items() if found.get("same_bits") is False]
    if every:
        mean = geometric_mean([size.regret for size in every]) or 0.0
        text.append(
            f"**Regret {summed(every):.3f}** (asked for: {BOUND}): {sum(s.chosen_ms for s in every):.5g} ms chosen, {sum(s.best_ms for s in every):.5g} ms the best, of {len(every)} sizes of {sum(map(bool, by_name.values()))} applications. "
            f"Geometric mean of the sizes' regrets {mean:.3f}; {sum(s.regret <= BOUND for s in every)} of them are within {BOUND}."
        )
    text.append(f"**Other bits: {'; '.join(others)}.**" if others else "All had the bits of the program's thread alone.")
    heads = ["application", "sizes", "left out: too long", "chosen together", "best together", "regret", "geometric mean", "chosen best within 1.15"]
    rows = []
    for name, sizes in by_name.items():
        long = sum(bool(record.get("too_long")) for record in results["regret"][name].values())
        together = [cell(sum(values)) for values in [[s.chosen_ms for s in sizes], [s.best_ms for s in sizes]]]
        rows.append([name, str(len(sizes)), str(long), *together, cell(summed(sizes)), cell(geometric_mean([s.regret for s in sizes])), str(sum(s.regret <= BOUND for s in sizes))])
    text += ["## By application", table(heads, rows)]
    heads = ["application", "size", "KiB", "chosen", "best", "best, ms", "regret", "lost, ms", "chosen ran on"]
    for what, key in [("What loses most time", lambda s: s.chosen_ms - s.best_ms), ("The largest regrets", lambda s: s.regret)]:
        text += [f"## {what}", table(heads, [row_of(size) for size in sorted(every, key=key, reverse=True)[:WORST]])]
    return "\n\n".join(text) + "\n"


def main() -> int:
    """Reads the command line and measures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    add_options(parser, 500.0)
    parser.add_argument("--sizes", type=int, default=10, help="of each application, from 1 KiB to 1 GiB (default %(default)s)")
    parser.add_argument("--most", type=int, default=MOST_BYTES, help="bytes of the largest one")
    parser.add_argument("applications", nargs="*", metavar="APPLICATION")
    arguments = parser.parse_args()
    if not (BUILT / "build.json").exists():
        print("nothing is built: run benches/bench-prepare.py first")
        return 1
    applications = [BY_NAME[name] for name in arguments.applications] or APPLICATIONS
    with tempfile.TemporaryDirectory() as work:
        session = Session("regret", arguments, Path(work), tables)
        regret = Regret(session)
        # All applications at their smallest size, and so on.
        sizes = [sizes_of(application, arguments.sizes, arguments.most) for application in applications]
        places = range(max(map(len, sizes)))
        jobs = [(application, *own[place]) for place in places for application, own in zip(applications, sizes) if place < len(own)]
        session.measure([job for job in jobs if regret.is_due(job)], PREPARING, regret.measured, regret.keep)
        session.save()
    print((session.out / "regret.md").read_text(encoding="utf-8").split("## ")[0] + ("" if session.gpu else "No GPU: the best of the thread alone and all threads."))
    return 0


if __name__ == "__main__":
    sys.exit(main())
