"""What the scripts share that measure other things than benches/bench.py does, over the same programs: a budget of seconds, what programs find in their
environment, and results that are on disk after each measurement, so that another call goes on where one has stopped.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import shutil
import statistics
import threading
import time
from pathlib import Path
from typing import Any, Callable, Iterable, TypeVar

from bench import LEAST_SECONDS, has_gpu, machine
from bench_applications import BUILT, RESULTS
from bench_breakdown import nvrtc_folder
from bench_runs import Run

Record = dict[str, Any]
Job = TypeVar("Job")
Result = TypeVar("Result")
# Repetitions that are not counted: Paragon tries places in them, opens the GPU and compiles kernels. They are fewer where there are few repetitions.
FIRST = 5


def settled(times: list[float]) -> list[float]:
    """The repetitions that count: the second half of them, and none of the first five if there are two others."""
    return times[max(len(times) // 2, min(FIRST, len(times) - 2), 0) :]


def median(times: list[float]) -> float:
    """What a repetition takes after the first ones."""
    return statistics.median(settled(times))


def geometric_mean(ratios: list[float]) -> float | None:
    """Of ratios, if there are any."""
    return statistics.geometric_mean(ratios) if ratios else None


def add_options(parser: argparse.ArgumentParser, seconds: float) -> None:
    """Options that all of them have."""
    parser.add_argument("--seconds", type=float, default=seconds, help="after so many nothing begins any more (default %(default).0f)")
    parser.add_argument("--continue", dest="goes_on", metavar="FILE", help="keep what is in this file of an earlier call, measure what is missing")
    parser.add_argument("--small", action="store_true", help="tests' sizes, every loop however short: to see that everything runs; the numbers mean nothing")


class Session:
    """One call of a script."""

    def __init__(self, name: str, arguments: argparse.Namespace, work: Path, tables: Callable[[Record], str]) -> None:
        self.name, self.small, self.seconds, self.work, self.tables = name, arguments.small, arguments.seconds, work, tables
        self.out = Path(os.environ.get("OUT", RESULTS))
        self.began = time.monotonic()
        self.gpu, self.nvrtc = has_gpu(), nvrtc_folder()
        self.results: Record = {}
        if arguments.goes_on:
            self.results = json.loads(Path(arguments.goes_on).read_text(encoding="utf-8"))
        build = json.loads((BUILT / "build.json").read_text(encoding="utf-8"))
        self.results |= {"machine": machine(), "commit": build["commit"], "small": arguments.small}
        (work / "cache").mkdir(mode=0o700)
        if (BUILT / "kernels/gpu").is_dir():
            shutil.copytree(BUILT / "kernels/gpu", work / "cache", dirs_exist_ok=True)

    def left(self) -> float:
        """Seconds."""
        return self.seconds - (time.monotonic() - self.began)

    def timeout(self, most: float) -> float | None:
        """Seconds that a program may take from now on; none if nothing begins any more."""
        return min(most, self.left()) if self.left() >= LEAST_SECONDS else None

    def save(self) -> None:
        """Writes all results so far, in one piece, and their tables."""
        self.out.mkdir(parents=True, exist_ok=True)
        temporary = self.out / f"{self.name}.json.part"
        temporary.write_text(json.dumps(self.results, indent=1) + "\n", encoding="utf-8")
        temporary.replace(self.out / f"{self.name}.json")
        (self.out / f"{self.name}.md").write_text(self.tables(self.results), encoding="utf-8")

    def environment(self, more: dict[str, str]) -> dict[str, str]:
        """What a program finds. What other runs have measured is none of its business, or results would depend on the order of runs."""
        settings = {"XDG_CACHE_HOME": str(self.work / "cache"), "PARAGON_RT": str(BUILT / "libparagon_rt.so"), "PARAGON_HISTORY": "off"}
        if self.nvrtc is not None:
            settings["PARAGON_NVRTC"] = self.nvrtc
        return {**settings, **more}

    def program(self, name: str) -> str:
        """A program; where everything is small, the one that is built so that loops run elsewhere however short they are."""
        return str(BUILT / (name.replace("paragon", "bits") if self.small else name))

    def run(self, command: list[str], environment: dict[str, str], seconds: float, turn: threading.Lock | None = None) -> Run:
        """Runs a program."""
        return Run(command, self.environment(environment), lambda: self.timeout(seconds), turn)

    def measure(
        self, jobs: Iterable[Job], preparing: int, measured: Callable[[Job, threading.Lock], Result | None], keep: Callable[[Job, Result], str]
    ) -> None:
        """Measures one job after the other: so many programs are under way at a time, one of which computes while the others make their inputs. `keep` adds a
        result to those of the session, and says what has come of it; nothing is kept of what had no time."""
        turn = threading.Lock()
        jobs = list(jobs)
        with concurrent.futures.ThreadPoolExecutor(preparing) as pool:
            for job, result in zip(jobs, pool.map(lambda job: measured(job, turn) if self.left() >= LEAST_SECONDS else None, jobs)):
                if result is not None:
                    said = keep(job, result)
                    self.save()
                    print(said, flush=True)


def head(results: Record) -> str:
    """What numbers depend on, and whether they mean anything."""
    where = results["machine"]
    text = f"{where['date']}, {where['gpu']}, {where['cores']} cores ({where['processor']}), built at {results['commit']}."
    return text + ("\n\n**At the sizes of tests: these numbers mean nothing.**" if results["small"] else "")
