"""Runs the programs that benches/bench.py measures, each in a process group of its own, within a time, one by itself or several that take turns.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Callable, Iterator

from bench_applications import REPETITION

# What a program with BENCH_TURN says (repetitions.h).
READY, DONE = "ready", "done"
# Behind the last repetition a program hashes its results and closes the GPU.
BEHIND_SECONDS = 20.0


class Run:
    """One run of a program: what it printed, and how it ended.

    With `turn`, a lock that such runs share, the program makes its input at once, waits until it has its turn, and gives it back when the last repetition
    is over. `timeout` says how many seconds it may take from then on; it is asked anew for its turn, and for what comes before it. None: it isn't
    worth it any more. `watch` is told after each repetition how many there are; where it says True, the next one is the last, if one has begun.
    """

    def __init__(
        self,
        command: list[str],
        environment: dict[str, str],
        timeout: Callable[[], float | None],
        turn: threading.Lock | None = None,
        watch: Callable[[int], bool] | None = None,
    ) -> None:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PARAGON_", "OMP_", "GOMP_", "BENCH_"))}
        clean |= environment | ({"BENCH_TURN": "1"} if turn is not None else {})
        self.problem: str | None = None
        self.output = ""
        self.timeout = timeout
        self.watch = watch
        self.lines: list[str] = []
        began = time.monotonic()
        # Seconds of the whole process, and of its turn.
        self.seconds = self.turn_seconds = 0.0
        try:
            with tempfile.TemporaryFile("w+") as errors, tempfile.TemporaryDirectory() as folder:
                self.enough = Path(folder) / "enough"
                clean |= {"BENCH_ENOUGH": str(self.enough)} if watch is not None else {}
                # A group of its own, so that nothing of it is left when its time is over.
                with subprocess.Popen(
                    command, env=clean, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
                ) as process:
                    try:
                        self.follow(process, turn)
                    finally:
                        self.output = "".join(self.lines)
                        # What a program that has ended hasn't read is lost.
                        with contextlib.suppress(OSError):
                            process.stdin.close()
                errors.seek(0)
                last = (errors.read().strip().splitlines() or [""])[-1]
        except OSError as error:
            self.problem = self.problem or str(error)
            return
        finally:
            self.seconds = round(time.monotonic() - began, 2)
        if self.problem is None and process.returncode != 0:
            self.problem = f"ended with {process.returncode}: {last}"[:120]

    def follow(self, process: subprocess.Popen[str], turn: threading.Lock | None) -> None:
        """Reads what a program prints, and gives it its turn."""
        if turn is not None:
            with self.killed_in_time(process):
                self.read_to(process.stdout, READY)
            with turn:
                began = time.monotonic()
                # A program that has ended doesn't read.
                with contextlib.suppress(OSError), self.killed_in_time(process):
                    process.stdin.write("\n")
                    process.stdin.flush()
                    self.read_to(process.stdout, DONE)
                self.turn_seconds = round(time.monotonic() - began, 2)
        # What has been measured isn't lost because there is no time for more.
        with self.killed_in_time(process, None if turn is None else BEHIND_SECONDS):
            self.read_to(process.stdout, None)
            process.wait()

    def read_to(self, output: IO[str], word: str | None) -> None:
        """Keeps lines up to one that is a word of repetitions.h, which isn't kept."""
        for line in output:
            if line.strip() == word:
                return
            self.lines.append(line)
            if self.watch is not None and REPETITION.match(line) and self.watch(len(self.repetitions())):
                self.enough.touch()

    @contextlib.contextmanager
    def killed_in_time(self, process: subprocess.Popen[str], given: float | None = None) -> Iterator[None]:
        """Ends a process and its children if what stands below this takes longer than they have, or than they are given."""
        seconds = given if given is not None else self.timeout()

        def kill() -> None:
            if self.problem is None:
                self.problem = f"timed out after {seconds:.0f} s" if seconds is not None else "skipped: the time was over"
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(seconds or 0.0, kill)
        if seconds is None:
            kill()
        else:
            timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def repetitions(self) -> list[float]:
        """Milliseconds of each, so far."""
        return [float(ms) for ms in REPETITION.findall("".join(self.lines))]

    def results(self) -> str:
        """What it printed besides."""
        return REPETITION.sub("", self.output).strip()
