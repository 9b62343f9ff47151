"""What the parts of Paragon's checks cost in an application's kernels on the GPU, for benches/bench.py: which variants of a kernel are compared, what a
program is told so that they run (benches/without.cpp compiles them, benches/replays.cpp runs and times them), and what their times say. Which
applications are measured, and for how long, is bench.py's.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import statistics
from pathlib import Path
from typing import Any

from bench_applications import BUILT

Record = dict[str, Any]
# The variants of a kernel, and what each is without or has besides (without.cpp). The first one is the kernel as it is.
VARIANTS = {
    "whole": "",
    "finding arrays": "tables,widest",
    "as few warps": "widest",
    "no read log": "read-log",
    "no logs": "read-log,write-log",
    "kernel alone": "read-log,write-log,range-check",
}
# Parts: what one variant takes more than another one.
DIFFERENCES = {
    "range checks": ("no logs", "kernel alone"),
    "write log": ("no read log", "no logs"),
    "read log": ("whole", "no read log"),
    "finding arrays": ("finding arrays", "as few warps"),
}
PARTS = ["kernel alone", "range checks", "write log", "read log", "checking", "finding arrays"]
# Runs of each variant for each launch of the program's, until a kernel was launched often; repetitions of the program, at least and at most; no more of them
# once so many seconds are over, or once each
# part's standard error is less than so much of the kernel, or than so many milliseconds.
ROUNDS = 8
LEAST, MOST = 2, 6
SECONDS = 1.5
SURE_PART, SURE_MS = 0.002, 0.0004


def wanted() -> str:
    """The variants, as without.cpp wants to be told."""
    return ";".join(f"{name}:{words}" for name, words in VARIANTS.items())


def driver() -> str | None:
    """Where the driver is that this process has loaded."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return next((line.split(maxsplit=5)[5] for line in maps if "/libcuda.so" in line), None)


def nvrtc_folder() -> str | None:
    """Where NVIDIA's run-time compiler is."""
    folders = [os.environ.get("PARAGON_NVRTC", ""), os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "lib64")]
    folders += ["/usr/local/cuda/targets/x86_64-linux/lib"]
    return next((folder for folder in folders if folder and glob.glob(os.path.join(folder, "libnvrtc.so.1[23]"))), None)


class Instruments:
    """The compiler and the driver that measure, in a folder of their own in front of the real ones."""

    def __init__(self, folder: Path, nvrtc: str) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.compiler = os.path.realpath(sorted(glob.glob(os.path.join(nvrtc, "libnvrtc.so.1[23]")))[-1])
        self.link(sorted(glob.glob(os.path.join(nvrtc, "libnvrtc.so.1[23]")))[-1], BUILT / "without/libnvrtc.so.13")
        if not (folder / "libcuda.so").exists():
            self.link("libcuda.so", BUILT / "without/libcuda.so")
        for builtins in glob.glob(os.path.join(nvrtc, "libnvrtc-builtins.so.*")):
            self.link(builtins, Path(os.path.realpath(builtins)))

    def link(self, name: str, target: Path) -> None:
        """Another library under the name of one, which somebody else may be doing at the same time."""
        with contextlib.suppress(FileExistsError):
            (self.folder / os.path.basename(name)).symlink_to(target)

    def timing(self, replays: Path, settings: dict[str, str]) -> dict[str, str]:
        """What a program is told whose launches are timed by replays.cpp."""
        return {"LD_LIBRARY_PATH": str(self.folder), "BENCH_CUDA": driver() or "", "BENCH_REPLAYS": str(replays), **settings}

    def compiling(self) -> dict[str, str]:
        """What a program is told whose kernels are compiled in variants."""
        return {"PARAGON_NVRTC": str(self.folder), "BENCH_NVRTC": self.compiler, "BENCH_VARIANTS": wanted()}

    def environment(self, replays: Path, rounds: int) -> dict[str, str]:
        """What a program is told whose kernels come in variants."""
        return self.timing(replays, {**self.compiling(), "BENCH_ROUNDS": str(rounds), "BENCH_SECONDS": str(SECONDS), "BENCH_LEAST": str(LEAST)})


def read_launches(file: Path) -> list[dict[str, Any]]:
    """What benches/replays.cpp says of each launch; the last line may be cut off."""
    launches = []
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        try:
            launches.append(json.loads(line))
        except ValueError:
            pass
    return launches


def read_replays(file: Path) -> list[dict[str, list[float]]]:
    """The times of each launch's variants, by their names."""
    return [launch["ms"] for launch in read_launches(file)]


def spread_of_median(values: list[float]) -> float:
    """The standard error of a median, estimated from the quartiles as if the values were normally distributed: (upper - lower) / 1.349 is their
    standard deviation, whose 1.2533 / sqrt(n) is the median's."""
    lower, _, upper = statistics.quantiles(values, n=4, method="inclusive")
    return 1.2533 * (upper - lower) / 1.349 / len(values) ** 0.5


def of_launches(launches: list[list[float]], repetitions: int) -> tuple[float, float]:
    """What launches take in a repetition, by the median of each, and its standard error."""
    error = sum(spread_of_median(times) ** 2 for times in launches) ** 0.5
    return sum(map(statistics.median, launches)) / repetitions, error / repetitions


def checks_of(records: list[Record], repetitions: int) -> float:
    """Milliseconds of the checks behind kernels that have a time of their own, in a repetition: the median of those behind the first one."""
    records = [record for record in records if record["device"] == "cuda"]
    if not records or len(records) % repetitions != 0:
        return sum(record["check_ns"] for record in records) / 1e6 / repetitions
    each = len(records) // repetitions
    sums = [sum(record["check_ns"] for record in records[at : at + each]) / 1e6 for at in range(0, len(records), each)]
    return statistics.median(sums[1:] or sums)


def parts_of(launches: list[dict[str, list[float]]], records: list[Record], repetitions: int) -> Record:
    """The parts of the checks in a repetition, in milliseconds, and how sure each of them is (`spread`). The times of a round belong together: a part is the
    median of its rounds' differences. Or `problem`: why there are none."""
    kernels = [launch for launch in launches if set(VARIANTS) <= set(launch)]
    failures = [failure for record in records for failure in record["fail"]]
    if failures or not kernels or repetitions == 0:
        return {"problem": failures[0] if failures else "nothing ran on the GPU"}

    def differences(among: list[dict[str, list[float]]], more: str, less: str) -> list[list[float]]:
        return [[a - b for a, b in zip(launch[more], launch[less])] for launch in among]

    found = {part: of_launches(differences(kernels, *pair), repetitions) for part, pair in DIFFERENCES.items()}
    found["kernel alone"] = of_launches([launch["kernel alone"] for launch in kernels], repetitions)
    # A check that is made ready early is there with and without its kernel; another one has a time.
    early = [launch for launch in launches if "checked" in launch]
    took, error = of_launches(differences(early, "checked", "unchecked"), repetitions) if early else (0.0, 0.0)
    found["checking"] = (took + checks_of(records, repetitions), error)
    parts: Record = {part: float(f"{found[part][0]:.5g}") for part in PARTS}
    variants = {name: float(f"{of_launches([launch[name] for launch in kernels], repetitions)[0]:.5g}") for name in VARIANTS}
    parts |= {"spread": {part: float(f"{found[part][1]:.2g}") for part in PARTS}, "variants": variants}
    return parts | {"launches": len(kernels), "repetitions": repetitions}


def are_sure(parts: Record) -> bool:
    """Whether more repetitions would say little more."""
    return "problem" not in parts and max(parts["spread"].values()) <= max(SURE_PART * parts["kernel alone"], SURE_MS)
