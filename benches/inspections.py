#!/usr/bin/env python3
"""What inspections cost: the first entry of a loop whose addresses come out of memory, and the later ones, which compare what the finding
followed from.

usage: benches/inspections.py [NAME...]     (BENCH_PARAGON_CC: another paragon-cc)

Applications whose loops are inspected run on all cores in place, because they are told to. Of the loop that takes the longest to be
inspected, printed are milliseconds of cc's whole computation, of the first inspection, of the comparison at the next entry of the same loop, and
of what then runs on all cores. Only ratios mean something.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_applications import APPLICATIONS, ROOT

OURS = os.environ.get("BENCH_PARAGON_CC", str(ROOT / "target/release/paragon-cc"))


def main():
    wanted = sys.argv[1:] or [a.name for a in APPLICATIONS if a.inspected]
    print("| application | cc | first inspection | comparison | loop, in place |\n| --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for application in (a for a in APPLICATIONS if a.name in wanted):
            programs = []
            for compiler in ["cc", OURS]:
                programs.append(str(Path(folder) / f"{application.name}.{len(programs)}"))
                more = ["-include", str(ROOT / "benches/repetitions.h"), "-o", programs[-1], str(application.source), "-lm"]
                subprocess.run([compiler, "-O3", "-std=gnu11", "-w", *more], check=True)
            size = ["--size", str(application.size)]
            theirs = subprocess.run([programs[0], *size, "--repeat", "3"], check=True, capture_output=True, text=True).stdout
            trace = Path(folder) / "trace"
            trace.unlink(missing_ok=True)
            forced = {"PARAGON_DEVICE": "threads", "PARAGON_RACE": "device", "PARAGON_TRACE": str(trace)}
            subprocess.run([programs[1], *size, "--repeat", "3"], check=True, capture_output=True, env={**os.environ, **forced})
            records = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
            first = max(records, key=lambda record: record["inspect_ns"])
            same = [r for r in records[records.index(first) + 1 :] if (r["line"], r["trip"]) == (first["line"], first["trip"])]
            again = min(same, key=lambda record: record["inspect_ns"], default=None)
            cells = [sorted(map(float, re.findall(r"^repetition_ms (.*)$", theirs, re.MULTILINE)))[1]]
            cells += [first["inspect_ns"] / 1e6, again and again["inspect_ns"] / 1e6, again and again["execute_ns"] / 1e6]
            text = " | ".join("-" if cell is None else f"{cell:.1f}" for cell in cells)
            print(f"| {application.name}: {first['inspection'] or 'none'}, {first['trip']} iterations | {text} |", flush=True)


if __name__ == "__main__":
    main()
