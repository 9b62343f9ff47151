#!/usr/bin/env python3
"""What benches/bench.py and its companions compute and how they run programs, without a GPU and without anything built."""

from __future__ import annotations

import concurrent.futures
import importlib.util
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
import bench
from bench_applications import APPLICATIONS, BY_NAME, CHAPTER, OF_BREAKDOWN, ROOT
from bench_runs import Run


def prepare():
    """benches/bench-prepare.py, whose name is none of a module."""
    specification = importlib.util.spec_from_file_location("bench_prepare", ROOT / "benches/bench-prepare.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def entry(line: int, execute_ns: int, **other) -> dict:
    """A record of a loop's entry, as far as it is read."""
    return {"line": line, "distributed": False, "trip": 8, "device": "cuda", "execute_ns": execute_ns, "check_ns": 1000, **other}


class Runs(unittest.TestCase):
    """How programs run."""

    # Says that its input is complete, waits, and writes down that its turn begins and ends.
    TURN = 'echo ready; read line; echo begins >>"$0"; sleep 0.1; echo ends >>"$0"; echo "repetition_ms 1.5"; echo done; echo bits x 1'

    def run_in_turn(self, script: str, file: str, turn: threading.Lock, timeout=lambda: 10.0) -> Run:
        """A shell's script as a program."""
        return Run(["bash", "-c", script, file], {}, timeout, turn)

    def test_turns_do_not_overlap(self):
        turn = threading.Lock()
        with tempfile.TemporaryDirectory() as folder:
            file = folder + "/turns"
            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                runs = list(pool.map(lambda _: self.run_in_turn(self.TURN, file, turn), range(6)))
            self.assertEqual(Path(file).read_text(encoding="utf-8").split(), 6 * ["begins", "ends"])
        for run in runs:
            self.assertIsNone(run.problem)
            self.assertEqual((run.repetitions(), run.results()), ([1.5], "bits x 1"))
            self.assertGreaterEqual(run.turn_seconds, 0.1)

    def test_a_run_that_takes_too_long_is_ended_and_gives_its_turn_back(self):
        turn = threading.Lock()
        began = time.monotonic()
        run = self.run_in_turn("echo ready; read line; echo repetition_ms 2.5; sleep 30", "-", turn, lambda: 0.5)
        self.assertEqual((run.problem, run.repetitions()), ("timed out after 0 s", [2.5]))
        self.assertLess(time.monotonic() - began, 10)
        self.assertTrue(turn.acquire(blocking=False))

    def test_what_was_measured_is_kept_when_the_time_is_over(self):
        seconds = iter([10.0, 10.0])
        run = self.run_in_turn(self.TURN, "/dev/null", threading.Lock(), lambda: next(seconds, None))
        self.assertEqual((run.problem, run.results()), (None, "bits x 1"))

    def test_no_more_repetitions_than_are_wanted(self):
        script = 'for i in 1 2 3 4 5 6 7 8 9; do echo "repetition_ms $i"; sleep 0.1; [ ! -e "$BENCH_ENOUGH" ] || break; done'
        run = Run(["bash", "-c", script], {}, lambda: 10.0, None, lambda repetitions: repetitions == 3)
        self.assertEqual((run.problem, run.repetitions()), (None, [1.0, 2.0, 3.0]))
        self.assertEqual(len(Run(["bash", "-c", script], {}, lambda: 10.0).repetitions()), 9)

    def test_nothing_begins_when_the_time_is_over(self):
        run = self.run_in_turn(self.TURN, "/dev/null", threading.Lock(), lambda: None)
        self.assertEqual((run.problem, run.repetitions()), ("skipped: the time was over", []))

    def test_what_ends_before_its_turn_says_how(self):
        run = self.run_in_turn("echo no memory >&2; exit 3", "-", threading.Lock())
        self.assertEqual(run.problem, "ended with 3: no memory")
        self.assertEqual(Run(["/nowhere"], {}, lambda: 1.0).problem, "[Errno 2] No such file or directory: '/nowhere'")


class Parts(unittest.TestCase):
    """The parts of the checks."""

    def test_the_first_repetition_does_not_count(self):
        records = [entry(1, ms * 1_000_000) for ms in [90, 1, 2, 3]] + [entry(2, 1_000_000) for _ in range(8)]
        step = bench.kernels_of_repetitions(records, 4)
        self.assertEqual((step["kernels_ms"], step["all_ms"]), (4.0, [3.0, 4.0, 5.0]))
        self.assertEqual(step["checks_ms"], 0.003)

    def test_a_step_without_all_of_its_kernels_has_no_time(self):
        records = [entry(1, 1_000_000) for _ in range(4)] + [entry(2, 1_000_000) for _ in range(3)]
        self.assertIn("problem", bench.kernels_of_repetitions(records, 4))
        self.assertIn("problem", bench.kernels_of_repetitions([entry(1, 5, device="")] * 4, 4))

    def test_differences_have_an_error(self):
        def step(ms: float, spread: float) -> dict:
            return {"kernels_ms": ms, "checks_ms": 0.01, "spread": spread}

        steps = {"whole": step(1.5, 0.03), "finding arrays": step(1.42, 0.04), "no read log": step(1.2, 0.04)}
        steps |= {"no logs": step(1.19, 0.03), "kernel alone": step(1.0, 0.0)}
        parts = bench.parts_of_steps(steps)
        self.assertEqual([bench.part_cell(parts, part) for part in bench.BREAKDOWN_PARTS], ["1 ±0", "0.19 ±0.03", "(0.01 ±0.05)", "0.3 ±0.05", "0.01", "(-0.08 ±0.05)"])
        self.assertEqual(bench.parts_of_steps(steps | {"no logs": {"problem": "NaN"}}), {"problem": "no logs: NaN"})

    def test_steps_go_on_until_they_are_sure(self):
        self.assertTrue(bench.is_known_well({"kernels_ms": 1.0, "spread": 0.0019}))
        self.assertFalse(bench.is_known_well({"kernels_ms": 1.0, "spread": 0.0021}))
        self.assertTrue(bench.is_known_well({"kernels_ms": 0.05, "spread": 0.00039}))
        self.assertFalse(bench.is_known_well({"problem": "nothing ran on the GPU"}))

    def test_a_median_of_equal_numbers_is_sure(self):
        self.assertEqual(bench.spread_of_median([2.0] * 5), 0.0)
        self.assertAlmostEqual(bench.spread_of_median([1.0, 2.0, 3.0, 4.0, 5.0]), 1.2533 * 2 / 1.349 / 5**0.5)


class Tables(unittest.TestCase):
    """What tables say."""

    def test_methods_that_are_missing_are_no_faster_ones(self):
        def column(ms: float) -> dict:
            return {"ms": ms, "device": {"where": {"cuda": 5}, "kernels_ms": ms, "checks_ms": 0.0}}

        ours, chapters = ["paragon-cuda-bitmap", "paragon-cuda-stamp"], ["paragon-cuda-reduction", "paragon-cuda-atomic"]
        skipped = {"ms": None, "problem": "timed out after 20 s"}
        faster = dict(zip(ours + chapters, map(column, [1.0, 3.0, 2.0, 4.0])))
        slower = dict(zip(ours + chapters, map(column, [3.0, 3.0, 2.0, 4.0])))
        text = bench.methods({"measurements": {"gemm": faster, "sor": slower, "fwd": faster | {chapters[1]: skipped}}})
        self.assertIn("Of 3 applications 1 have a log of ours", text)
        self.assertIn("not sor; not known of fwd.", text)
        self.assertIn("| fwd | - | 1 | 3 | 2 | timed out | 0.5 |", text)
        self.assertIn("- timed out after 20 s: fwd (paragon-cuda-atomic)", bench.without_numbers({"measurements": {"fwd": {chapters[1]: skipped}}}))

    def test_the_breakdown_begins_with_applications_that_there_are(self):
        self.assertTrue(all(name in BY_NAME for name in OF_BREAKDOWN))
        self.assertEqual(len(set(OF_BREAKDOWN)), len(OF_BREAKDOWN))
        chapters = {application.name for application in APPLICATIONS if application.folder == CHAPTER}
        self.assertLessEqual(chapters | {"histogram"}, set(OF_BREAKDOWN))


class Sources(unittest.TestCase):
    """What is measured of a program."""

    def test_only_loops_of_the_computation_are_paragons(self):
        text = "static void fill(int n)\n{\n  for (int i = 0; i < n; i++)\n    ;\n}\n"
        text += "COMPUTE static void add(int n)\n{\n  for (int i = 0; i < n; i++)\n    ;\n}\n#define M \\\n  for (;;)\n"
        lines = prepare().only_computation(text, {"add"}).splitlines()
        self.assertEqual(lines.count("#pragma paragon forbid"), 1)
        self.assertEqual(lines[2:5], ["#pragma paragon forbid", "#line 3", "  for (int i = 0; i < n; i++)"])

    def test_every_application_has_functions_that_compute(self):
        for application in APPLICATIONS:
            text, functions = application.text(), application.compute_functions()
            left = prepare().only_computation(text, functions)
            self.assertTrue(functions, application.name)
            # More loops than those in front of which the pragma stands.
            self.assertGreater(len([line for line in left.splitlines() if line.strip().startswith(("for (", "while ("))]), left.count("#pragma paragon"), application.name)


if __name__ == "__main__":
    unittest.main()
