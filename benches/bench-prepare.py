#!/usr/bin/env python3
"""Builds into build/bench everything that benches/bench.py measures on a machine that may have no compiler: each application by cc,
by cc with OpenMP, by gcc's and Polly's automatic parallelization and by Paragon, the libraries that they need, and build.json, which
says how, by what, and which loops the automatic parallelizers took. Run it after `make all`. It runs nothing but compilers.

A compiler that isn't there leaves out its column, and build.json and the last lines say so; only without cc's or Paragon's programs this
fails.

Usage: benches/bench-prepare.py [--cores N] [--paragon-cc PATH] [APPLICATION ...]
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from bench_applications import APPLICATIONS, BUILT, BY_NAME, LEARNS, OF_SCENARIOS, ROOT, Application, functions_that_compute, on_cuda
from bench_breakdown import Instruments, nvrtc_folder

# Compared with each other, so all of them get the same.
OPTIMIZED = ["-O3"]
REPETITIONS = ["-include", str(ROOT / "benches/repetitions.h")]
SCENARIOS = ["-include", str(ROOT / "benches/scenarios.h")]
# Programs as Paragon gets them where it is measured.
SOURCES = BUILT / "sources"
# Seconds that a program may take to have its kernels compiled.
KERNELS_SECONDS = 300.0
LINKED = ["-lm", "-Wl,-rpath,$ORIGIN"]


def said(command: list[str]) -> str:
    """What a command prints, empty if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()


def with_pragmas(application: Application) -> str:
    """The program's text with OpenMP's pragma in front of its loops. Lines keep their numbers in messages."""
    lines = application.text().splitlines()
    result = []
    left = dict(application.openmp)
    for number, line in enumerate(lines):
        following = lines[number + 1].strip() if number + 1 < len(lines) else ""
        named = re.search(r"/\* loop (\S+) \*/", line)
        key = named[1] if named else following if line.strip().startswith("for") else ""
        if key in left:
            result += [f"#pragma omp parallel for {left.pop(key)}".rstrip(), f"#line {number + 1}"]
        result.append(line)
    if left:
        raise ValueError(f"{application.name}: no such loops: {', '.join(left)}")
    return "\n".join(result) + "\n"


def only_computation(text: str, functions: set[str]) -> str:
    """A program's text with Paragon's pragma that leaves a loop alone in front of every loop that isn't in one of these functions. Lines keep their numbers in
    messages. What a program does before and after its computation isn't measured: so it takes no time for kernels of its own, and
    leaves the GPU alone while another program is measured."""
    result = []
    inside = False
    for number, line in enumerate(text.splitlines()):
        begun = re.match(r"COMPUTE static [\w ]+?[ *](\w+)\(", line)
        inside = line != "}" and (inside or bool(begun and begun[1] in functions))
        # What stands in a macro stays as it is: a directive can't stand there, and it is no loop to Paragon unless the macro is used.
        continued = bool(result) and result[-1].endswith("\\")
        if not inside and not continued and re.match(r"\s*(for|while) \(", line):
            result += ["#pragma paragon forbid", f"#line {number + 1}"]
        result.append(line)
    return "\n".join(result) + "\n"


def parallelized(program: Path, functions: set[str]) -> list[str]:
    """The measured functions out of which an automatic parallelizer has made functions for threads, by their names."""
    found = set()
    for symbol in re.findall(r" [tT] (\S+)$", said(["nm", str(program)]), re.MULTILINE):
        made_of = re.match(r"(\w+?)(?:\.\w+)*?(?:\._loopfn|_polly_(?:par_)?subfn)", symbol)
        if made_of and made_of[1] in functions:
            found.add(made_of[1])
    return sorted(found)


class Builder:
    """Builds one application after the other, and remembers what went wrong."""

    def __init__(self, cores: int, paragon_cc: str) -> None:
        self.cores = cores
        self.paragon_cc = paragon_cc
        self.problems: list[str] = []
        self.built: list[str] = []
        self.manifest: dict = {
            "cores": cores,
            "commit": said(["git", "describe", "--always", "--dirty"]),
            "compilers": {
                "cc": said(["gcc", "--version"]).splitlines()[:1],
                "polly": said(["clang", "--version"]).splitlines()[:1],
                "paragon": ["of the commit above"],
            },
            "commands": {},
            "parallelized": {"gcc-parallel": {}, "polly": {}},
            "missing": {},
        }
        self.polly = self.polly_options()

    def polly_options(self) -> list[str] | None:
        """What makes clang use Polly: built in (Debian), or a plugin."""
        for plugin in [[], ["-fplugin=LLVMPolly.so"]]:
            options = [*plugin, *(word for o in ["-polly", "-polly-parallel"] for word in ["-mllvm", o])]
            try:
                command = ["clang", "-O3", *options, "-x", "c", "-c", "-o", "/dev/null", "-"]
                if subprocess.run(command, input="int x;", capture_output=True, text=True, check=False).returncode == 0:
                    return options
            except OSError:
                break
        self.manifest["missing"]["polly"] = "no clang with Polly (Debian: clang)"
        return None

    def build(self, application: Application, column: str, command: list[str], source: Path) -> Path | None:
        """One program of one application; `column` is what its name ends with."""
        output = BUILT / f"{application.name}.{column}"
        whole = [*command, str(source), "-o", str(output), *LINKED]
        if column == "polly":
            whole.append("-lgomp")
        words = [Path(command[0]).name, *(word.replace(str(ROOT) + "/", "") for word in command[1:])]
        self.manifest["commands"][column] = " ".join(words)
        try:
            done = subprocess.run(whole, capture_output=True, text=True, check=False)
            problem = done.stderr.strip().splitlines()[:1] if done.returncode != 0 else []
        except OSError as error:
            problem = [str(error)]
        if problem:
            self.problems.append(f"{application.name}, {column}: {problem[0]}")
            return None
        return output

    def build_all(self, application: Application) -> None:
        """Every program of an application."""
        self.built.append(application.name)
        source, functions = application.source, application.compute_functions()
        cc = ["gcc", *OPTIMIZED, *REPETITIONS]
        self.build(application, "cc", cc, source)

        # What a program includes is looked for where it stands, too.
        generated = BUILT / "openmp" / source.name
        generated.write_text(with_pragmas(application), encoding="utf-8")
        self.build(application, "openmp", [*cc, "-fopenmp", f"-I{source.parent}"], generated)

        threads = [f"-ftree-parallelize-loops={self.cores}", "-floop-parallelize-all"]
        automatic = [("gcc-parallel", [*cc, *threads])]
        if self.polly is not None:
            automatic.append(("polly", ["clang", *OPTIMIZED, *self.polly, *REPETITIONS]))
        for column, command in automatic:
            program = self.build(application, column, command, source)
            if program is not None:
                self.manifest["parallelized"][column][application.name] = parallelized(program, functions)

        self.build_paragon(application)
        if application.name in OF_SCENARIOS:
            self.build(application, "scenarios-cc", ["gcc", *OPTIMIZED, *SCENARIOS], source)

    def build_paragon(self, application: Application) -> None:
        """By Paragon: only the loops that are measured; and, for comparing results at the size that tests use, every loop, however short."""
        source = self.measured_source(application)
        included = ["-include", str(SOURCES / "benches/repetitions.h")]
        self.build(application, "paragon", [self.paragon_cc, *OPTIMIZED, *included], source)
        short = ["-fparagon-threshold=1", "-fparagon-checked-threads"]
        self.build(application, "bits", [self.paragon_cc, *OPTIMIZED, *REPETITIONS, *short], application.source)
        if application.name in OF_SCENARIOS:
            included = ["-include", str(SOURCES / "benches/scenarios.h")]
            self.build(application, "scenarios-paragon", [self.paragon_cc, *OPTIMIZED, *included], source)
            self.build(application, "scenarios-bits", [self.paragon_cc, *OPTIMIZED, *included, *short], source)

    def measured_source(self, application: Application) -> Path:
        """A program's source as `only_computation` makes it."""
        copy = SOURCES / application.source.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(only_computation(application.text(), application.compute_functions()), encoding="utf-8")
        return copy

    def add_headers(self) -> None:
        """The headers of all programs, of which only scenarios.h computes something, where `measured_source` needs them."""
        for path in [*(ROOT / "c-tests/support").glob("*.h"), ROOT / "benches/repetitions.h", ROOT / "benches/scenarios.h"]:
            copy = SOURCES / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text(encoding="utf-8")
            copy.write_text(only_computation(text, functions_that_compute(text)), encoding="utf-8")

    def add_libraries(self) -> None:
        """What the programs load besides the C library."""
        runtime = Path(self.paragon_cc).resolve().parent / "libparagon_rt.so"
        openmp = Path(said(["gcc", "-print-file-name=libgomp.so.1"]))
        for library in [runtime, openmp]:
            if library.is_file():
                shutil.copy(library.resolve(), BUILT / library.name)
            else:
                self.problems.append(f"{library.name} was not found")

    def add_instruments(self) -> None:
        """The run-time compiler and the driver that tell parts of the checks apart (bench.py --breakdown)."""
        folder = BUILT / "without"
        folder.mkdir()
        for source, library in [("without.cpp", "libnvrtc.so.13"), ("replays.cpp", "libcuda.so")]:
            self.build_library(source, folder / library)

    def build_library(self, source: str, library: Path) -> None:
        """A library that stands in the place of another one."""
        command = ["g++", "-std=c++17", "-O2", "-fPIC", "-shared", "-static-libstdc++", "-static-libgcc"]
        command += ["-o", str(library), str(ROOT / "benches" / source), "-ldl"]
        if shutil.which("g++") is None or subprocess.run(command, check=False).returncode != 0:
            self.problems.append(f"benches/{source} was not built: no breakdown of checks")

    def compile_kernels(self, application: Application, nvrtc: str, instruments: Instruments) -> None:
        """Has the kernels compiled that a program asks for where it is measured, as far as a GPU that does nothing shows which these are (idle.cpp): at its
        size with every log, and without inspections; all variants of them, for the breakdown; and with every loop, at the size of tests."""
        own = {k: v for k, v in os.environ.items() if not k.startswith(("PARAGON_", "BENCH_"))}
        own |= {"LD_LIBRARY_PATH": str(BUILT / "idle"), "PARAGON_RT": str(BUILT / "libparagon_rt.so"), "IDLE_SAYS": "done"}
        measured, variants = BUILT / "kernels/gpu", BUILT / "kernels/variants"
        plain = own | {"PARAGON_NVRTC": nvrtc, "XDG_CACHE_HOME": str(measured)}
        several = own | instruments.compiling() | {"XDG_CACHE_HOME": str(variants)}
        runs = [
            ("paragon", application.size, plain | on_cuda("all")),
            ("paragon", application.size, plain | LEARNS),
            ("paragon", application.breakdown_size or application.size, several | on_cuda("bitmap")),
            ("bits", application.test_size(), plain | on_cuda("all")),
        ]
        for program, size, environment in runs:
            command = [str(BUILT / f"{application.name}.{program}"), "--size", str(size), "--input", "clean", "--repeat", "2"]
            try:
                subprocess.run(command, env=environment, capture_output=True, check=True, timeout=KERNELS_SECONDS)
            except (OSError, subprocess.SubprocessError) as error:
                self.problems.append(f"{application.name}: not all kernels were compiled ({error})"[:200])

    def compile_all_kernels(self, wanted: list[Application]) -> None:
        """The same of all programs."""
        nvrtc = nvrtc_folder()
        if nvrtc is None:
            self.problems.append("no kernels were compiled: no run-time compiler (PARAGON_NVRTC)")
            return
        for folder in ["idle", "kernels/gpu", "kernels/variants"]:
            (BUILT / folder).mkdir(mode=0o700, parents=True)
        self.build_library("idle.cpp", BUILT / "idle/libcuda.so")
        instruments = Instruments(BUILT / "idle", nvrtc)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            for _ in pool.map(lambda application: self.compile_kernels(application, nvrtc, instruments), wanted):
                pass
        shutil.rmtree(BUILT / "idle")

    def finish(self) -> int:
        """Strips what was built, writes build.json, and says what is missing. Not 0: there is nothing to compare."""
        programs = [str(p) for p in BUILT.rglob("*") if p.is_file() and p.suffix not in (".c", ".h", ".json", ".cubin")]
        subprocess.run(["strip", *programs], check=False)
        self.manifest["problems"] = self.problems
        (BUILT / "build.json").write_text(json.dumps(self.manifest, indent=1) + "\n", encoding="utf-8")
        size = sum(p.stat().st_size for p in BUILT.rglob("*") if p.is_file())
        for column, why in self.manifest["missing"].items():
            print(f"left out: {column}: {why}")
        for problem in self.problems:
            print(f"problem: {problem}")
        print(f"{BUILT.relative_to(ROOT)}: {len(programs)} programs and libraries, {size / 2**20:.1f} MiB, for {self.cores} cores")
        return 0 if all((BUILT / f"{name}.{needed}").exists() for name in self.built for needed in ["cc", "paragon"]) else 1


def main() -> int:
    """Reads the command line and builds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="of the machine that will measure: gcc wants to know")
    parser.add_argument("--paragon-cc", default=os.environ.get("BENCH_PARAGON_CC", str(ROOT / "target/release/paragon-cc")))
    parser.add_argument("--kernels", action="store_true", help="compile the GPU's kernels, too (a minute or more; for an H100 or H200)")
    parser.add_argument("applications", nargs="*", metavar="APPLICATION")
    arguments = parser.parse_args()
    wanted = [BY_NAME[name] for name in arguments.applications] or APPLICATIONS
    if not shutil.which(arguments.paragon_cc):
        print(f"{arguments.paragon_cc} is not there: run `make all` first, or name one by --paragon-cc")
        return 1
    shutil.rmtree(BUILT, ignore_errors=True)
    (BUILT / "openmp").mkdir(parents=True)
    builder = Builder(arguments.cores, arguments.paragon_cc)
    builder.add_headers()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for _ in pool.map(builder.build_all, wanted):
            pass
    builder.add_libraries()
    builder.add_instruments()
    if arguments.kernels:
        builder.compile_all_kernels(wanted)
    return builder.finish()


if __name__ == "__main__":
    sys.exit(main())
