#!/usr/bin/env python3
"""Is a program that paragon-cc built ever slower than the one that cc built? Default settings, as a user has them.

usage: benches/never-slower.py [--pairs N] [--seconds S] [--level -O2] [--size-divisor N] [--input I] [--instructions] [--only-build | --built] [--folder F] [NAME...]

Short programs (benches/short) are timed as processes, from start to end: loops that are called millions of times, that never pay, and
nothing at all. So are real programs (real_programs.py): libraries that many others are made of, each with a driver that uses it as a user
would (benches/real), and that are built where cargo has their sources; where it hasn't, that is said and they are left out. Of
applications (the chapter's, benches/programs) only the computation is timed, six times in one process, because making their input would
hide what it costs. A machine without a compiler gets the folder that another one left with --only-build (the runtime's library is in it,
and no symbols), and runs --built, which is what is in the folder. Both builds run in turn; printed is the median of the pairs' ratios,
with quartiles. Only ratios mean something, and only on a quiet machine. The exit status says whether every median is within its bound:
1.02, short programs 1.05, and 0.5 ms for the empty one. Processes of one program differ by more than these, so a median of few pairs says little: the
last column has the interval that holds the median of all such pairs (95%, from the order of the ratios), and with --seconds more pairs are made, for so long a program, until
that interval is on one side of the bound, or all of them are far below it. With --input, only applications are run, those that have an input of that name: with `one` two iterations of their loops
meet, so that what was speculated is in vain.

Processor time is printed as well, in times of cc's: where a busy machine makes the clock lie, it says what a program did by itself. Of applications it is
that of the calling thread: a program whose loops run elsewhere has less of it; one that waits has not. Of processes it is that of all threads, and the
system's for them.

With --instructions nothing is timed: the instructions of a repetition are counted (valgrind), or of the whole process where a program is no application,
cc's and ours, where every loop stays because there is one thread and no GPU. That is the same on every machine, and tells worse code of loops that stay,
and what their entries cost, from everything else. Programs and sizes are those of STAYING, unless some are named.
"""

import argparse
import math
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench_applications import APPLICATIONS, ROOT
from real_programs import REAL_PROGRAMS, Absent

OURS = Path(os.environ.get("BENCH_PARAGON_CC", ROOT / "target/release/paragon-cc"))
RUNTIME = OURS.with_name("libparagon_rt.so")
REPETITIONS = re.compile(r"^repetition_ms ([0-9.]+)$", re.MULTILINE)
PROCESSOR = re.compile(r"^processor_ms ([0-9.]+)$", re.MULTILINE)
# Applications whose loops stay, or did, and sizes that are counted in seconds.
STAYING = {"ger": 8192, "fwd": 16384, "csr_forward": 16384, "sor": 4096, "lattice": 28, "convolution": 512, "spmv": 32768, "heat": 48, "seidel": 1024}
# Repetitions of the two runs whose difference is counted: making the input is not a part of it.
FEW, MORE = 4, 7
SHORT_BOUND, BOUND, START_MS = 1.05, 1.02, 0.5
# No pair of a program that is far below its bound has a ratio above this.
FAR_BELOW = 0.8
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


def processor_seconds():
    """What all processes that were waited for were on a processor for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def whole(command):
    """Milliseconds of a process, what it printed, and milliseconds that it was on a processor for."""
    processor, start = processor_seconds(), time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return (time.perf_counter() - start) * 1e3, done.stdout, (processor_seconds() - processor) * 1e3


def computation(command):
    """Milliseconds of all of an application's repetitions, of which the calling thread's processor time, and its results."""
    environment = os.environ | {"BENCH_PROCESSOR": "1"}
    done = subprocess.run([*command, "--repeat", "6"], check=True, capture_output=True, text=True, env=environment)
    clock, processor = (sum(map(float, pattern.findall(done.stdout))) for pattern in [REPETITIONS, PROCESSOR])
    return clock, PROCESSOR.sub("", REPETITIONS.sub("", done.stdout)).strip(), processor


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


def interval(ratios):
    """Between what the median of the population lies, with 95%, whatever its distribution is: order statistics whose ranks are binomial. None if there are too few."""
    ordered, outside, rank = sorted(ratios), 0.0, 0
    while rank < len(ordered) // 2:
        outside += 2 * math.comb(len(ordered), rank) / 2 ** len(ordered)
        if outside > 0.05:
            break
        rank += 1
    return (ordered[rank - 1], ordered[-rank]) if rank > 0 else None


def is_settled(ratios, bound):
    """Whether more pairs would say the same."""
    found = interval(ratios)
    return max(ratios) < FAR_BELOW or (found is not None and (found[1] <= bound or found[0] > bound))


def compare(name, measure, theirs, ours, bound, pairs, seconds):
    """Prints a line; whether the program is within its bound."""
    ratios, differences, times, processors = [], [], [], []
    begun = time.monotonic()

    def is_enough():
        if len(ratios) < pairs or time.monotonic() - begun >= seconds:
            return len(ratios) >= pairs
        return is_settled(differences, START_MS) if name == "empty" else is_settled(ratios, bound)

    while not is_enough():
        pair = len(ratios)
        # The first of a pair is not always the same one.
        order = [theirs, ours] if pair % 2 == 0 else [ours, theirs]
        found = {id(command): measure(command) for command in order}
        (their_ms, their_text, their_processor), (our_ms, our_text, our_processor) = found[id(theirs)], found[id(ours)]
        if their_text != our_text:
            print(f"| {name} | OTHER RESULTS |", flush=True)
            return False
        ratios.append(our_ms / their_ms)
        differences.append(our_ms - their_ms)
        times.append((their_ms, our_ms))
        if their_processor:
            processors.append(our_processor / their_processor)
    median = statistics.median(ratios)
    low, _, high = statistics.quantiles(ratios, n=4)
    their_ms, our_ms = (statistics.median(column) for column in zip(*times))
    good = statistics.median(differences) <= START_MS if name == "empty" else median <= bound
    mark = "" if good else " slower"
    found = interval(ratios)
    sure = f"{found[0]:.3f} to {found[1]:.3f}" if found else "-"
    processor = f"{statistics.median(processors):.3f}" if processors else "-"
    print(f"| {name} | {their_ms:.2f} | {our_ms:.2f} | {median:.3f} | {low:.3f} to {high:.3f} | {processor} | {len(ratios)} | {sure} |{mark}", flush=True)
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=9, help="fewest pairs of a program")
    parser.add_argument("--seconds", type=float, default=0, help="for which more pairs of a program are made while its bound is in doubt")
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
    failed = []
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
        if not arguments.only_build:
            head = ["program", "cc, ms", "paragon-cc, ms", "times", "quartiles", "processor", "pairs", "interval"]
            if arguments.instructions:
                head = ["program", "cc, instructions", "paragon-cc, instructions", "times"]
            print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}", flush=True)
        for name, source, application, real in (program for program in programs if program[0] not in left_out):
            theirs, ours = ([str(folder / f"{name}.{which}")] for which in ["cc", "paragon"])
            if not arguments.built and real:
                build_real(real, arguments.level, theirs[0], ours[0])
            elif not arguments.built:
                more = [] if application is None else ["-include", str(ROOT / "benches/repetitions.h")]
                build("cc", arguments.level, source, theirs[0], more)
                build(OURS, arguments.level, source, ours[0], more)
            if arguments.only_build:
                subprocess.run(["strip", theirs[0], ours[0]], check=True)
                continue
            if arguments.instructions and application is None:
                good = count(name, instructions, theirs, ours)
            elif arguments.instructions:
                size = ["--size", str(STAYING.get(name, application.test_size())), "--input", arguments.input]
                good = count(name, repetition_instructions, theirs + size, ours + size)
            elif application is None:
                good = compare(name, whole, theirs, ours, BOUND if real else SHORT_BOUND, arguments.pairs, arguments.seconds)
            else:
                size = ["--size", str(max(application.size // arguments.size_divisor, 1)), "--input", arguments.input]
                good = compare(name, computation, theirs + size, ours + size, BOUND, arguments.pairs, arguments.seconds)
            if not good:
                failed.append(name)
    if not arguments.only_build:
        print(f"{len(failed)} slower than they may be" + (": " + ", ".join(failed) if failed else ""))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
