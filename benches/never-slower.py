#!/usr/bin/env python3
"""Is a program that paragon-cc built ever slower than the one that cc built? Default settings, as a user has them.

usage: benches/never-slower.py [--pairs N] [--seconds S] [--share [--jobs N]] [--level -O2] [--size-divisor N] [--input I] [--instructions] [--only-build | --built] [--folder F] [NAME...]

Short programs (benches/short) are timed as processes, from start to end: loops that are called millions of times, that never pay, and
nothing at all. So are real programs (real_programs.py): libraries that many others are made of, each with a driver that uses it as a user
would (benches/real), and that are built where cargo has their sources; where it hasn't, that is said and they are left out. Of
applications (the chapter's, benches/programs) only the computation is timed, six times in one process, because making their input would
hide what it costs. A machine without a compiler gets the folder that another one left with --only-build (the runtime's library is in it,
and no symbols), and runs --built, which is what is in the folder. Both builds run in turn; printed is the median of the pairs' ratios,
with quartiles. Only ratios mean something, and only on a quiet machine. The exit status says whether every median is within its bound:
1.02, short programs 1.05, and 0.5 ms for the empty one. Processes of one program differ by more than these, so a median of few pairs says little: the
last column has the interval that holds the median of all such pairs (95%, from the order of the ratios), and with --seconds more pairs are made, for so long a program, until
that interval is on one side of the bound, or all of them are far below it. With --share the builds of a pair run at once, and their first threads share a processor, which
takes away nearly all that a busy machine adds (pairs.py); the empty program is measured alone all the same. That is for
programs whose loops stay: one whose loops run elsewhere has its other build for a neighbour. With --jobs so many programs are measured at a time, each on a processor of its own. With --input, only applications are run, those that have an input of that name: with `one` two iterations of their loops
meet, so that what was speculated is in vain.

Processor time is printed as well, in times of cc's: where a busy machine makes the clock lie, it says what a program did by itself. Of applications it is
that of the calling thread: a program whose loops run elsewhere has less of it; one that waits has not. Of processes it is that of all threads, and the
system's for them.

With --instructions nothing is timed: the instructions of a repetition are counted (valgrind), or of the whole process where a program is no application,
cc's and ours, where every loop stays because there is one thread and no GPU. That is the same on every machine, and tells worse code of loops that stay,
and what their entries cost, from everything else. Programs and sizes are those of STAYING, unless some are named.
"""

import argparse
import os
import queue
import re
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench_applications import APPLICATIONS, ROOT
from pairs import Pairs, Run, Sharing, is_settled, run, run_pair
from real_programs import REAL_PROGRAMS, Absent

OURS = Path(os.environ.get("BENCH_PARAGON_CC", ROOT / "target/release/paragon-cc"))
RUNTIME = OURS.with_name("libparagon_rt.so")
REPETITIONS = re.compile(r"^repetition_ms ([0-9.]+)$", re.MULTILINE)
PROCESSOR = re.compile(r"^processor_ms ([0-9.]+)$", re.MULTILINE)
DELAYED = re.compile(r"^delayed_ms ([0-9.]+)$", re.MULTILINE)
# Applications whose loops stay, or did, and sizes that are counted in seconds.
STAYING = {"ger": 8192, "fwd": 16384, "csr_forward": 16384, "sor": 4096, "lattice": 28, "convolution": 512, "spmv": 32768, "heat": 48, "seidel": 1024}
# Repetitions of the two runs whose difference is counted: making the input is not a part of it.
FEW, MORE = 4, 7
SHORT_BOUND, BOUND, START_MS = 1.05, 1.02, 0.5
LANGUAGE = ["-std=gnu11", "-w"]


def build(compiler, level, source, output, more):
    """A program, or an error that says what failed."""
    command = [str(compiler), level, *LANGUAGE, *more, "-o", str(output), str(source), "-lm"]
    subprocess.run(command, check=True)


def build_real(program, level, theirs, ours):
    """Both builds of a real program, file by file as its users' build systems do it; two compilers at once."""
    sources, options = program.sources(), program.compiler_options()
    builds = [("cc", theirs), (str(OURS), ours)]
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(2) as jobs:
        objects = {output: [f"{temporary}/{which}-{n}-{source.stem}.o" for n, source in enumerate(sources)] for which, (_, output) in enumerate(builds)}
        commands = [
            [compiler, level, *LANGUAGE, *options, "-c", "-o", made, str(source)]
            for compiler, output in builds
            for source, made in zip(sources, objects[output])
        ]
        for done in [jobs.submit(subprocess.run, command, check=True) for command in commands]:
            done.result()
        for compiler, output in builds:
            subprocess.run([compiler, level, "-o", output, *objects[output], *program.libraries], check=True)


def whole(command, sharing):
    """All of a process."""
    return run(command, {}, sharing)


def computation(command, sharing):
    """All of an application's repetitions, with the calling thread's processor time, and its results."""
    done = run([*command, "--repeat", "6"], {"BENCH_PROCESSOR": "1"}, sharing)
    clock, processor, delayed = (sum(map(float, pattern.findall(done.printed))) for pattern in [REPETITIONS, PROCESSOR, DELAYED])
    results = done.printed
    for pattern in [REPETITIONS, PROCESSOR, DELAYED]:
        results = pattern.sub("", results)
    return Run(clock - delayed, processor, results.strip())


def instructions(command):
    """Instructions of a process, and what it printed. With one thread every loop stays."""
    environment = os.environ | {"PARAGON_THREADS": "1", "PARAGON_DEVICE": "threads", "PARAGON_HISTORY": "off"}
    with tempfile.TemporaryDirectory() as folder:
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]
        done = subprocess.run([*tool, *command], check=True, capture_output=True, text=True, env=environment)
        return int(re.search(r"^(?:summary|totals): ([0-9]+)", (Path(folder) / "out").read_text(), re.MULTILINE)[1]), done.stdout


def repetition_instructions(command):
    """Instructions of one repetition of an application, and its results."""
    (few, _), (more, text) = (instructions([*command, "--repeat", str(repetitions)]) for repetitions in [FEW, MORE])
    return (more - few) / (MORE - FEW), REPETITIONS.sub("", text).strip()


def count(name, measure, theirs, ours):
    """Prints a line; whether no more instructions than the bound are needed where everything stays."""
    (their_count, their_text), (our_count, our_text) = measure(theirs), measure(ours)
    if their_text != our_text:
        print(f"| {name} | OTHER RESULTS |", flush=True)
        return False
    times = our_count / their_count
    print(f"| {name} | {their_count:.0f} | {our_count:.0f} | {times:.3f} |{'' if times <= BOUND else ' more'}", flush=True)
    return times <= BOUND


def compare(name, measure, theirs, ours, bound, arguments, sharing):
    """Prints a line; whether the program is within its bound."""
    found = Pairs()
    begun = time.monotonic()

    def is_enough():
        pairs = len(found.times)
        if pairs < arguments.pairs or time.monotonic() - begun >= arguments.seconds:
            return pairs >= arguments.pairs
        return is_settled(found.differences(), START_MS) if name == "empty" else is_settled(found.ratios(), bound)

    while not is_enough():
        # The first of a pair is not always the same one.
        is_turned = len(found.times) % 2 == 1
        their_run, our_run = run_pair(measure, theirs, ours, is_turned, None if name == "empty" else sharing)
        if their_run.printed != our_run.printed:
            print(f"| {name} | OTHER RESULTS |", flush=True)
            return False
        found.add(their_run, our_run)
    good = statistics.median(found.differences()) <= START_MS if name == "empty" else statistics.median(found.ratios()) <= bound
    print(f"| {name} | {' | '.join(found.cells())} |{'' if good else ' slower'}", flush=True)
    return good


def absent(programs, folder, is_built):
    """The names of programs that can't be measured, after saying why: those that aren't in the folder, or real ones whose sources aren't here."""
    reasons = {}
    for name, real in programs.items():
        if is_built and not all((folder / f"{name}.{which}").is_file() for which in ["cc", "paragon"]):
            reasons.setdefault(f"not in {folder}", []).append(name)
        elif real and not is_built:
            try:
                real.sources()
            except Absent as reason:
                reasons.setdefault(str(reason), []).append(name)
    for reason, names in reasons.items():
        print(f"without {', '.join(names)}: {reason}", file=sys.stderr, flush=True)
    return {name for names in reasons.values() for name in names}


def build_both(name, source, application, real, level, theirs, ours):
    """cc's program, and ours."""
    if real:
        build_real(real, level, theirs, ours)
        return
    more = [] if application is None else ["-include", str(ROOT / "benches/repetitions.h")]
    build("cc", level, source, theirs, more)
    build(OURS, level, source, ours, more)


def is_good(name, application, real, theirs, ours, arguments, sharing):
    """Measures both builds of a program, and prints a line; whether ours is within its bound."""
    if arguments.instructions and application is None:
        return count(name, instructions, theirs, ours)
    if arguments.instructions:
        size = ["--size", str(STAYING.get(name, application.test_size())), "--input", arguments.input]
        return count(name, repetition_instructions, theirs + size, ours + size)
    if application is None:
        return compare(name, whole, theirs, ours, BOUND if real else SHORT_BOUND, arguments, sharing)
    size = ["--size", str(max(application.size // arguments.size_divisor, 1)), "--input", arguments.input]
    return compare(name, computation, theirs + size, ours + size, BOUND, arguments, sharing)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=9, help="fewest pairs of a program")
    parser.add_argument("--seconds", type=float, default=0, help="for which more pairs of a program are made while its bound is in doubt")
    parser.add_argument("--share", action="store_true", help="both builds of a pair at once, on one processor")
    parser.add_argument("--jobs", type=int, default=1, help="programs that are measured at a time, with --share")
    parser.add_argument("--level", default="-O2")
    parser.add_argument("--size-divisor", type=int, default=1, help="applications get a smaller size")
    parser.add_argument("--input", default="clean", help="what applications compute with")
    parser.add_argument("--instructions", action="store_true", help="count instructions where every loop stays, instead of timing anything")
    parser.add_argument("--folder", type=Path, help="where the programs are; else they are removed afterwards")
    steps = parser.add_mutually_exclusive_group()
    steps.add_argument("--only-build", action="store_true", help="leave the programs in --folder, and run none")
    steps.add_argument("--built", action="store_true", help="run the programs that are in --folder")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    named = arguments.names or (list(STAYING) if arguments.instructions else [])
    is_wanted = lambda name: not named or name in named
    if (arguments.only_build or arguments.built) and not arguments.folder:
        parser.error("--only-build and --built need --folder")
    if arguments.jobs > 1 and not arguments.share:
        parser.error("--jobs needs --share: what is measured by the clock has no neighbours")
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if arguments.only_build:
            # Its symbols for debuggers are most of it.
            subprocess.run(["strip", "-o", str(folder / RUNTIME.name), str(RUNTIME)], check=True)
        if arguments.built:
            os.environ["PARAGON_RT"] = str((folder / RUNTIME.name).resolve())
        programs = [(source.stem, source, None, None) for source in sorted((ROOT / "benches/short").glob("*.c"))]
        programs += [(real.name, real.driver, None, real) for real in REAL_PROGRAMS]
        programs += [(application.name, application.source, application, None) for application in APPLICATIONS]
        has_input = lambda application: f'"{arguments.input}"' in application.text()
        if arguments.input != "clean":
            programs = [program for program in programs if program[2] and has_input(program[2])]
        programs = [program for program in programs if is_wanted(program[0])]
        left_out = absent({name: real for name, _, _, real in programs}, folder, arguments.built)
        programs = [program for program in programs if program[0] not in left_out]
        if not arguments.only_build:
            head = ["program", "cc, ms", "paragon-cc, ms", "times", "quartiles", "processor", "pairs", "interval"]
            if arguments.instructions:
                head = ["program", "cc, instructions", "paragon-cc, instructions", "times"]
            print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}", flush=True)
        # With as much room between them as there is.
        there_are = sorted(os.sched_getaffinity(0))
        processors = queue.SimpleQueue()
        for job in range(arguments.jobs):
            processors.put(there_are[-1 - job * len(there_are) // arguments.jobs])

        def judge(program):
            """The name of a program that is slower than it may be."""
            name, source, application, real = program
            theirs, ours = ([str((folder / f"{name}.{which}").resolve())] for which in ["cc", "paragon"])
            if not arguments.built:
                build_both(name, source, application, real, arguments.level, theirs[0], ours[0])
            if arguments.only_build:
                subprocess.run(["strip", theirs[0], ours[0]], check=True)
                return None
            processor = processors.get()
            try:
                sharing = Sharing(processor) if arguments.share else None
                return None if is_good(name, application, real, theirs, ours, arguments, sharing) else name
            finally:
                processors.put(processor)

        with ThreadPoolExecutor(arguments.jobs) as jobs:
            failed = [name for name in jobs.map(judge, programs) if name]
    if not arguments.only_build:
        print(f"{len(failed)} slower than they may be" + (": " + ", ".join(failed) if failed else ""))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
