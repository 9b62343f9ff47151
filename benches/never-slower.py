#!/usr/bin/env python3
"""Is a program that paragon-cc built ever slower than the one that cc built? Default settings, as a user has them.

usage: benches/never-slower.py [--pairs N] [--level -O2] [--size-divisor N] [--only-build | --built] [--folder F] [NAME...]

Short programs (benches/short) are timed as processes, from start to end: loops that are called millions of times, that never pay, and
nothing at all. Of applications (the chapter's, benches/programs) only the computation is timed, six times in one process, because
making their input would hide what it costs. A machine without a compiler gets the folder that another one left with --only-build (the
runtime's library is in it), and runs --built. Both builds run in turn; printed is the median of the pairs' ratios, with quartiles. Only
ratios mean something, and only on a quiet machine. The exit status says whether every median is within its bound: 1.02, short programs
1.05, and 0.5 ms for the empty one.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_applications import APPLICATIONS, ROOT

OURS = Path(os.environ.get("BENCH_PARAGON_CC", ROOT / "target/release/paragon-cc"))
RUNTIME = OURS.with_name("libparagon_rt.so")
REPETITIONS = re.compile(r"^repetition_ms ([0-9.]+)$", re.MULTILINE)
SHORT_BOUND, BOUND, START_MS = 1.05, 1.02, 0.5


def build(compiler, level, source, output, more):
    """A program, or an error that says what failed."""
    command = [str(compiler), level, "-std=gnu11", "-w", *more, "-o", str(output), str(source), "-lm"]
    subprocess.run(command, check=True)


def whole(command):
    """Milliseconds of a process, and what it printed."""
    start = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return (time.perf_counter() - start) * 1e3, done.stdout


def computation(command):
    """Milliseconds of all of an application's repetitions, and its results."""
    done = subprocess.run([*command, "--repeat", "6"], check=True, capture_output=True, text=True)
    return sum(map(float, REPETITIONS.findall(done.stdout))), REPETITIONS.sub("", done.stdout).strip()


def compare(name, measure, theirs, ours, pairs, bound):
    """Prints a line; whether the program is within its bound."""
    ratios, times = [], []
    for pair in range(pairs):
        # The first of a pair is not always the same one.
        order = [theirs, ours] if pair % 2 == 0 else [ours, theirs]
        found = {id(command): measure(command) for command in order}
        (their_ms, their_text), (our_ms, our_text) = found[id(theirs)], found[id(ours)]
        if their_text != our_text:
            print(f"| {name} | OTHER RESULTS |", flush=True)
            return False
        ratios.append(our_ms / their_ms)
        times.append((their_ms, our_ms))
    median = statistics.median(ratios)
    low, _, high = statistics.quantiles(ratios, n=4)
    their_ms, our_ms = (statistics.median(column) for column in zip(*times))
    good = our_ms - their_ms <= START_MS if name == "empty" else median <= bound
    mark = "" if good else " slower"
    print(f"| {name} | {their_ms:.2f} | {our_ms:.2f} | {median:.3f} | {low:.3f} to {high:.3f} |{mark}", flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--level", default="-O2")
    parser.add_argument("--size-divisor", type=int, default=1, help="applications get a smaller size")
    parser.add_argument("--folder", type=Path, help="where the programs are; else they are removed afterwards")
    steps = parser.add_mutually_exclusive_group()
    steps.add_argument("--only-build", action="store_true", help="leave the programs in --folder, and run none")
    steps.add_argument("--built", action="store_true", help="run the programs that are in --folder")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    is_wanted = lambda name: not arguments.names or name in arguments.names
    if (arguments.only_build or arguments.built) and not arguments.folder:
        parser.error("--only-build and --built need --folder")
    failed = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if arguments.only_build:
            # Its symbols for debuggers are most of it.
            subprocess.run(["strip", "-o", str(folder / RUNTIME.name), str(RUNTIME)], check=True)
        else:
            print("| program | cc, ms | paragon-cc, ms | times | quartiles |\n| --- | --- | --- | --- | --- |", flush=True)
        if arguments.built:
            os.environ["PARAGON_RT"] = str((folder / RUNTIME.name).resolve())
        programs = [(source.stem, source, None) for source in sorted((ROOT / "benches/short").glob("*.c"))]
        programs += [(application.name, application.source, application) for application in APPLICATIONS]
        for name, source, application in filter(lambda program: is_wanted(program[0]), programs):
            more = [] if application is None else ["-include", str(ROOT / "benches/repetitions.h")]
            theirs, ours = ([str(folder / f"{name}.{which}")] for which in ["cc", "paragon"])
            if not arguments.built:
                build("cc", arguments.level, source, theirs[0], more)
                build(OURS, arguments.level, source, ours[0], more)
            if arguments.only_build:
                continue
            if application is None:
                good = compare(name, whole, theirs, ours, arguments.pairs, SHORT_BOUND)
            else:
                size = ["--size", str(max(application.size // arguments.size_divisor, 1))]
                good = compare(name, computation, theirs + size, ours + size, arguments.pairs, BOUND)
            if not good:
                failed.append(name)
    if not arguments.only_build:
        print(f"{len(failed)} slower than they may be" + (": " + ", ".join(failed) if failed else ""))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
