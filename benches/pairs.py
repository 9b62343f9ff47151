"""Two builds of a program, run again and again, and how sure what is found is: what `benches/never-slower.py` measures with.

A pair is one run of each. In turn, a pair is as noisy as the machine is while one of them runs. Where both run at once and share a processor
(`Sharing`), the kernel changes between them every few milliseconds, so that whatever else the machine has to do meanwhile, a neighbour on the same core above all,
is done to both of them. What one waits for the other isn't counted: the kernel keeps account of it.
"""

from __future__ import annotations

import contextlib
import math
import os
import statistics
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

# No pair of a program that is far below its bound has a ratio above this.
FAR_BELOW = 0.8


@dataclass(frozen=True)
class Run:
    """A process that is over."""

    # Milliseconds from its start to its end, less those that its first thread would have run for, but another process had the processor.
    milliseconds: float
    # Milliseconds that all of its threads were on processors for.
    processor: float
    printed: str


class Sharing:
    """A processor that the first threads of both runs of a pair share. What the runtime starts may run on all processors, and it is told how many they are,
    which is what it would find by itself if its first thread were free to go anywhere."""

    # How often the threads of a process are looked at, in seconds.
    OFTEN = 0.003

    def __init__(self, processor: int):
        self.processor = processor
        self.all = os.sched_getaffinity(0)

    def environment(self) -> dict[str, str]:
        """What a process needs to be told."""
        return {"PARAGON_THREADS": str(len(self.all))}

    def keep(self, process: int) -> None:
        """Keeps a process's first thread on the processor, and frees its other threads, which have begun where the one was that made them; returns once the process is over."""
        seen = {process}
        with contextlib.suppress(OSError):
            os.sched_setaffinity(process, {self.processor})
        while os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            # One may be over before it is looked at.
            with contextlib.suppress(OSError):
                for thread in {int(name) for name in os.listdir(f"/proc/{process}/task")} - seen:
                    seen.add(thread)
                    os.sched_setaffinity(thread, self.all)
            time.sleep(self.OFTEN)


def run(command: list[str], environment: dict[str, str], sharing: Sharing | None = None) -> Run:
    """Runs a process to its end, or raises `CalledProcessError`."""
    environment = os.environ | environment | (sharing.environment() if sharing else {})
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, env=environment)
        keeper = threading.Thread(target=sharing.keep, args=[process.pid]) if sharing else None
        if keeper:
            keeper.start()
        # It is over then, but still there to be asked about.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        seconds = time.perf_counter() - start
        if keeper:
            keeper.join()
        _, delayed, _ = Path(f"/proc/{process.pid}/schedstat").read_text(encoding="ascii").split()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, command)
        output.seek(0)
        processor = 1e3 * (usage.ru_utime + usage.ru_stime)
        return Run(1e3 * seconds - int(delayed) / 1e6, processor, output.read().decode())


def run_pair(measure, theirs: list[str], ours: list[str], is_turned: bool, sharing: Sharing | None):
    """What `measure(command, sharing)` says of both. `is_turned`: ours begins."""
    order = [ours, theirs] if is_turned else [theirs, ours]
    with ThreadPoolExecutor(2 if sharing else 1) as at_once:
        found = list(at_once.map(lambda command: measure(command, sharing), order))
    return tuple(reversed(found)) if is_turned else tuple(found)


def interval(values: list[float]) -> tuple[float, float] | None:
    """Between what the median of the population lies, with 95%, whatever its distribution is: order statistics, whose ranks are binomial. None if there are too few."""
    ordered, outside, rank = sorted(values), 0.0, 0
    while rank < len(ordered) // 2:
        outside += 2 * math.comb(len(ordered), rank) / 2 ** len(ordered)
        if outside > 0.05:
            break
        rank += 1
    return (ordered[rank - 1], ordered[-rank]) if rank > 0 else None


def is_settled(values: list[float], bound: float) -> bool:
    """Whether more pairs would say the same about the bound."""
    found = interval(values)
    return max(values) < FAR_BELOW or (found is not None and (found[1] <= bound or found[0] > bound))


@dataclass
class Pairs:
    """What pairs of a program have shown."""

    # Milliseconds, cc's and ours.
    times: list[tuple[float, float]] = field(default_factory=list)
    # Ours in times of cc's.
    processors: list[float] = field(default_factory=list)

    def add(self, theirs: Run, ours: Run) -> None:
        """One more."""
        self.times.append((theirs.milliseconds, ours.milliseconds))
        if theirs.processor:
            self.processors.append(ours.processor / theirs.processor)

    def ratios(self) -> list[float]:
        """Ours in times of cc's."""
        return [ours / theirs for theirs, ours in self.times]

    def differences(self) -> list[float]:
        """What ours takes more, in milliseconds."""
        return [ours - theirs for theirs, ours in self.times]

    def cells(self) -> list[str]:
        """Of a table's line: medians of both, of the ratios, their quartiles, processor time, how many pairs there are, and how sure the median is."""
        low, _, high = statistics.quantiles(self.ratios(), n=4)
        their_ms, our_ms = (statistics.median(column) for column in zip(*self.times))
        sure = interval(self.ratios())
        return [
            f"{their_ms:.2f}",
            f"{our_ms:.2f}",
            f"{statistics.median(self.ratios()):.3f}",
            f"{low:.3f} to {high:.3f}",
            f"{statistics.median(self.processors):.3f}" if self.processors else "-",
            str(len(self.times)),
            f"{sure[0]:.3f} to {sure[1]:.3f}" if sure else "-",
        ]
