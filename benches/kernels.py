#!/usr/bin/env python3
"""Kernels and their checks against hand-written unsafe CUDA, on a machine with an NVIDIA GPU and nvcc.

Over the programs that benches/prepare.sh built, in one run: for each application the median time that its loops' kernels and
checks take on the device, with the log that Paragon chooses, and the kernels of benches/cuda/unsafe.cu, which have neither
logs nor range checks (-fmad=false, so that both compute the same bits): again and again on the same data (resident), and once
after copies (fresh), as Paragon runs its own. With --logs also with each log method
forced, which takes minutes where a loop has many accesses. Only the loops of the computation count; medians are benches/bench.py's. With --side N the 2-D stencils alone, on grids of that side. Shares
are of a copy on the device, in the same run: what has to be moved, each byte once. Writes kernels.json into the folder that OUT names
(build/gpu-results) and prints a table.

Usage: benches/kernels.py [--logs] [--side N] [APPLICATION ...]
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

from bench import device_times, of_computation, read_records
from bench_applications import BY_NAME

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = os.path.join(ROOT, "build/gpu")
OUT = os.environ.get("OUT", os.path.join(ROOT, "build/gpu-results"))
STENCILS = "fdtd seidel jacobi2d".split()
APPLICATIONS = "fdtd seidel jacobi1d jacobi2d gemm tmv saxpy house ipvec ger gemver fwd sor".split()
# What differs from the program's own size: the same as the hand-written kernel's.
SIZES = {"gemm": 4096}
REPEATS = 3


def environment(log):
    """Paragon's settings: everything on the GPU, measured there."""
    settings = {
        "PARAGON_RT": os.path.join(PROGRAMS, "libparagon_rt.so"),
        "PARAGON_DEVICE": "cuda",
        "PARAGON_RACE": "device",
        "PARAGON_MONITOR": "off",
        "PARAGON_LOG": log,
    }
    for folder in ["/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib"]:
        if os.path.exists(os.path.join(folder, "libnvrtc.so")):
            settings.setdefault("PARAGON_NVRTC", folder)
    return {**os.environ, **settings}


def unsafe(names, side, folder):
    """What the hand-written kernels take and use, by application."""
    program = os.path.join(folder, "unsafe")
    source = os.path.join(ROOT, "benches/cuda/unsafe.cu")
    subprocess.run(["nvcc", "-O3", "-arch=native", "-fmad=false", "-o", program, source], check=True)
    sides = ["--side", str(side)] if side else []
    output = subprocess.run([program, *sides, *names], check=True, capture_output=True, text=True).stdout
    return {r["application"]: r for r in map(json.loads, output.splitlines())}


def ours(name, log, side, folder):
    """What one application's loops did on the device: for each repetition the sum of their times, in milliseconds."""
    trace = os.path.join(folder, "trace.json")
    if os.path.exists(trace):
        os.remove(trace)
    own = side or SIZES.get(name)
    size = ["--size", str(own)] if own else []
    command = [os.path.join(PROGRAMS, name + ".o3.paragon"), *size, "--input", "clean"]
    command += ["--dump", "/dev/null", "--repeat", str(REPEATS)]
    try:
        subprocess.run(
            command, env={**environment(log), "PARAGON_TRACE": trace}, timeout=60, capture_output=True, check=True
        )
    except (OSError, subprocess.SubprocessError) as problem:
        return {"problem": str(problem)[:80]}
    records = of_computation(BY_NAME[name], read_records(pathlib.Path(trace)))
    times = device_times(records, REPEATS) if records else {"kernels_ms": 0.0, "checks_ms": 0.0, "logs": [], "where": []}
    # Where nothing ran on the GPU there are no times of kernels.
    total = times["kernels_ms"] + times["checks_ms"] if "cuda" in times["where"] else 0.0
    return {"ms": total, "checks_ms": times["checks_ms"], "logs": times["logs"], "where": sorted(times["where"])}


def cell(value):
    """A number of the table."""
    return "-" if not value else f"{value:.3g}"


def main():
    """Measures and prints, row by row."""
    parser = argparse.ArgumentParser(description="Kernels and their checks against hand-written ones.")
    parser.add_argument("--logs", action="store_true", help="with each log method forced, too")
    parser.add_argument("--side", type=int, help="of grids: the 2-D stencils alone")
    parser.add_argument("applications", nargs="*", metavar="APPLICATION")
    chosen = parser.parse_args()
    logs = ["atomic", "reduction", "bitmap", "stamp"] if chosen.logs else []
    names = chosen.applications or (STENCILS if chosen.side else APPLICATIONS)
    os.makedirs(OUT, exist_ok=True)
    heads = ["application", "unsafe CUDA resident ms", "fresh ms", "Paragon ms", "of it checks", "times fresh", "log", "where"]
    heads += ["unsafe CUDA, share of a copy", "Paragon, share of a copy", "unsafe CUDA, share of the peak"]
    heads += [f"all logged, {log} ms" for log in logs]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads), flush=True)
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        by_hand = unsafe(names, chosen.side, folder)
        for name in names:
            resident, hand = (by_hand.get(name, {}).get(what) for what in ["resident_ms", "fresh_ms"])
            auto = ours(name, "auto", chosen.side, folder)
            forced = {log: ours(name, log, chosen.side, folder) for log in logs}
            results[name] = {"unsafe": by_hand.get(name, {}), "auto": auto, **forced}
            ratio = auto["ms"] / hand if hand and auto.get("ms") else None
            cells = [name, cell(resident), cell(hand), cell(auto.get("ms")), cell(auto.get("checks_ms")), cell(ratio)]
            cells += ["+".join(auto.get("logs", [])), "+".join(auto.get("where", [])) or auto.get("problem", "")]
            share = by_hand.get(name, {}).get("copy_share")
            cells += [cell(share), cell(share * resident / auto["ms"] if share and auto.get("ms") else None)]
            cells += [cell(by_hand.get(name, {}).get("peak_share"))]
            cells += [cell(forced[log].get("ms")) for log in logs]
            print("| " + " | ".join(cells) + " |", flush=True)
            with open(os.path.join(OUT, "kernels.json"), "w", encoding="utf-8") as file:
                json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
