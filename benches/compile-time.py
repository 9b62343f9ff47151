#!/usr/bin/env python3
"""Compile time of paragon-cc against cc at -O2, summed over the C files of each project in a folder (as for
scripts/functions-lowered): usage benches/compile-time.py FOLDER [ROUNDS]

Each file is compiled by both in turn, and the better of the rounds counts. Time is the elapsed one and, because builds keep all
cores busy, the processors'. Files in which a loop is rewritten and files in which none is are summed up separately, too. Only
ratios mean something, and only those of elapsed time on a quiet machine.
"""

import glob
import os
import resource
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OURS = os.path.join(ROOT, "target/release/paragon-cc")
MARK = b"libparagon_rt.so"

PROJECTS = {
    "zlib": (["zlib/*.c"], ["-DHAVE_UNISTD_H"]),
    "lua": (["lua/*.c"], ["-DLUA_USE_LINUX"]),
    "lz4": (["lz4/lib/*.c"], []),
    "cJSON": (["cJSON/cJSON*.c"], []),
    "libpng": (["libpng/png*.c"], ["-Izlib"]),
    "zstd": (["zstd/lib/**/*.c"], ["-DZSTD_MULTITHREAD", "-Izstd/lib", "-Izstd/lib/common"]),
    "sqlite": (["sqlite/sqlite3.c"], []),
}


def compile_once(compiler, flags, path, output):
    """Elapsed and processor seconds of one compilation; none if it fails."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([compiler, "-O2", "-w", *flags, "-c", path, "-o", output], stderr=subprocess.DEVNULL)
    elapsed, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return (elapsed, used) if done.returncode == 0 else None


def row(name, measured):
    """One line of the table: (ours, theirs) of each file."""
    sums = [sum(pair[side][kind] for pair in measured) for side in (1, 0) for kind in (0, 1)]
    theirs, their_use, ours, our_use = sums
    extra = (ours - theirs) / len(measured) * 1000
    print(
        f"| {name} | {len(measured)} | {theirs:.2f} | {ours:.2f} | {ours / theirs:.2f} | {our_use / their_use:.2f} | {extra:.1f} |",
        flush=True,
    )


def main():
    os.chdir(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    print("| files | number | cc s | paragon-cc s | ratio | ratio of processor time | more, ms per file |")
    print("|---|---|---|---|---|---|---|")
    everything = {True: [], False: []}
    with tempfile.TemporaryDirectory() as folder:
        for project, (patterns, flags) in PROJECTS.items():
            paths = sorted(path for pattern in patterns for path in glob.glob(pattern, recursive=True))
            measured = {True: [], False: []}
            for path in paths:
                output = os.path.join(folder, "o.o")
                best = []
                for compiler in (OURS, "cc") * rounds:
                    best.append(compile_once(compiler, flags, path, output))
                    if best[0] is None:
                        break
                    if compiler == OURS:
                        with open(output, "rb") as made:
                            is_rewritten = MARK in made.read()
                if None not in best:
                    measured[is_rewritten].append((min(best[0::2]), min(best[1::2])))
            if measured[True] or measured[False]:
                row(project, measured[True] + measured[False])
                for kind in measured:
                    everything[kind] += measured[kind]
    for kind, name in ((False, "all without rewritten loops"), (True, "all with rewritten loops")):
        if everything[kind]:
            row(name, everything[kind])


main()
