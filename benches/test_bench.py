#!/usr/bin/env python3
"""What benches/bench.py and its companions compute and how they run programs, without a GPU and without anything built."""

from __future__ import annotations

import concurrent.futures
import contextlib
import importlib.util
import io
import math
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position
import bench
import bench_session
import regret
import scenarios
from bench_applications import APPLICATIONS, BY_NAME, CHAPTER, MEMORY, OF_BREAKDOWN, OF_SCENARIOS, ROOT
from bench_breakdown import parts_of, read_replays, spread_of_median
from bench_runs import Run
from pairs import Sharing, interval, is_settled, run, run_pair


def prepare():
    """benches/bench-prepare.py, whose name is none of a module."""
    specification = importlib.util.spec_from_file_location("bench_prepare", ROOT / "benches/bench-prepare.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def entry(line: int, execute_ns: int, **other) -> dict:
    """A record of a loop's entry, as far as it is read."""
    return {"line": line, "distributed": False, "trip": 8, "device": "cuda", "execute_ns": execute_ns, "check_ns": 1000} | other


class PairsOfRuns(unittest.TestCase):
    """How two builds are compared, and how sure that is."""

    # Computes for so many milliseconds of its own.
    SPINS = "import sys, time\nwhile time.process_time() < float(sys.argv[1]) / 1e3: pass"

    def test_the_interval_of_a_median_holds_it_as_often_as_it_says(self):
        self.assertIsNone(interval([1.0, 2.0, 3.0, 4.0, 5.0]))
        # Of six values the median lies between the ends, but for 2 in 64 times.
        self.assertEqual(interval([3.0, 1.0, 2.0, 6.0, 5.0, 4.0]), (1.0, 6.0))
        generator = random.Random(1)
        samples = [[generator.expovariate(1.0) for _ in range(25)] for _ in range(2000)]
        held = sum(low <= math.log(2) <= high for low, high in map(interval, samples))
        self.assertTrue(0.95 <= held / 2000 <= 0.98, held)

    def test_what_is_settled(self):
        self.assertTrue(is_settled([0.5, 0.6], 1.02))
        self.assertFalse(is_settled([0.99] * 5, 1.02))
        self.assertTrue(is_settled([0.99] * 6, 1.02))
        self.assertTrue(is_settled([1.05] * 6, 1.02))
        self.assertFalse(is_settled([1.0, 1.05] * 8, 1.02))

    def test_a_pair_keeps_its_order(self):
        order = []

        def measure(command, _):
            order.append(command)
            return command

        self.assertEqual(run_pair(measure, ["theirs"], ["ours"], False, None), (["theirs"], ["ours"]))
        self.assertEqual(run_pair(measure, ["theirs"], ["ours"], True, None), (["theirs"], ["ours"]))
        self.assertEqual(order, [["theirs"], ["ours"], ["ours"], ["theirs"]])

    def test_who_shares_a_processor_is_not_charged_with_the_other(self):
        sharing = Sharing(max(os.sched_getaffinity(0)))
        short, long = ([sys.executable, "-S", "-c", self.SPINS, str(ms)] for ms in [300, 600])
        begun = time.monotonic()
        found = run_pair(lambda command, sharing: run(command, {}, sharing), short, long, True, sharing)
        self.assertGreater(time.monotonic() - begun, 0.9)
        for one, wanted in zip(found, [300, 600]):
            self.assertLess(abs(one.milliseconds - wanted), 150)

    def test_who_shares_a_processor_has_all_others_for_its_threads(self):
        where = "[line.split()[1] for line in open('/proc/thread-self/status') if line.startswith('Cpus_allowed_list')]"
        script = f"import threading, time; t = threading.Thread(target=lambda: (time.sleep(0.2), print({where}))); t.start(); t.join(); print({where})"
        found = run([sys.executable, "-S", "-c", script], {}, Sharing(max(os.sched_getaffinity(0))))
        of_thread, of_first = found.printed.split()
        self.assertEqual(of_first, str([str(max(os.sched_getaffinity(0)))]))
        with open("/proc/self/status", encoding="ascii") as status:
            everything = [line.split()[1] for line in status if line.startswith("Cpus_allowed_list")]
        self.assertEqual(of_thread, str(everything))

    def test_a_run_that_fails_is_no_time(self):
        with self.assertRaises(subprocess.CalledProcessError):
            run(["false"], {})


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

    @staticmethod
    def launch(**changed) -> dict:
        """The times of a launch, as replays.cpp writes them down: whatever a round did to one variant it did to all."""
        drift = [0.0, 0.5, 0.25, 0.75]
        alone = {"whole": 1.5, "finding arrays": 1.75, "as few warps": 1.75, "no read log": 1.0, "no logs": 0.75, "kernel alone": 0.5} | changed
        return {name: [ms + more for more in drift] for name, ms in alone.items()}

    def test_the_times_of_a_round_belong_together(self):
        records = [entry(1, 1, check_ns=ns, fail=[]) for ns in [9_000_000, 2_000_000, 3_000_000, 4_000_000]]
        parts = parts_of([self.launch() for _ in range(4)], records, 2)
        self.assertNotIn("problem", parts)
        exact = {part: parts[part] for part in ["range checks", "write log", "read log", "finding arrays"]}
        self.assertEqual(exact, {"range checks": 0.5, "write log": 0.5, "read log": 1.0, "finding arrays": 0.0})
        self.assertEqual([parts["spread"][part] for part in exact], [0.0] * 4)
        # Two launches in each repetition, and the checks of all repetitions but the first.
        self.assertEqual((parts["kernel alone"], parts["checking"]), (2 * 0.875, 7.0))
        self.assertGreater(parts["spread"]["kernel alone"], 0.1)

    def test_an_early_check_is_what_it_adds_to_the_kernel(self):
        early = {"unchecked": [1.0, 1.5, 1.0], "checked": [1.25, 1.75, 1.25]}
        self.assertEqual(parts_of([self.launch(), early], [entry(1, 1, check_ns=0, fail=[])], 1)["checking"], 0.25)

    def test_nothing_is_told_of_what_failed_or_did_not_run(self):
        self.assertIn("problem", parts_of([self.launch()], [entry(1, 1, fail=["raw"])], 1))
        self.assertIn("problem", parts_of([], [], 2))
        self.assertIn("problem", parts_of([{"whole": [1.0]}], [], 1))

    def test_a_part_may_be_less_than_nothing_or_not_sure(self):
        parts = {"kernel alone": 1.0, "read log": -0.08, "write log": 0.19, "checking": 0.01, "spread": {"kernel alone": 0.0, "read log": 0.05, "write log": 0.03}}
        self.assertEqual([bench.part_cell(parts, part) for part in ["kernel alone", "read log", "write log", "checking"]], ["1 ±0", "(-0.08 ±0.05)", "0.19 ±0.03", "0.01"])

    def test_programs_go_on_until_they_are_sure(self):
        def are(spread: float, kernel: float = 1.0) -> bool:
            return bench.are_sure({"kernel alone": kernel, "spread": {"kernel alone": 0.0, "read log": spread}})

        self.assertEqual([are(0.0019), are(0.0021), are(0.00039, 0.05), are(0.00041, 0.05)], [True, False, True, False])
        self.assertFalse(bench.are_sure({"problem": "nothing ran on the GPU"}))

    def test_a_median_of_equal_numbers_is_sure(self):
        self.assertEqual(spread_of_median([2.0] * 5), 0.0)
        self.assertAlmostEqual(spread_of_median([1.0, 2.0, 3.0, 4.0, 5.0]), 1.2533 * 2 / 1.349 / 5**0.5)

    def test_half_a_line_is_no_launch(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "replays"
            self.assertEqual(read_replays(file), [])
            file.write_text('{"kernel":"0x1","ms":{"again":[1.5,2.5]}}\n{"kernel":"0x1","ms":{"aga', encoding="utf-8")
            self.assertEqual(read_replays(file), [{"again": [1.5, 2.5]}])


class Repetitions(unittest.TestCase):
    """How many there are."""

    def test_no_more_repetitions_than_say_something(self):
        def known(*milliseconds: float) -> bool:
            return bench.kernels_are_known([entry(1, int(ms * 1_000_000)) for ms in milliseconds], len(milliseconds))

        self.assertTrue(known(9.0, 1.0, 1.01))
        self.assertFalse(known(1.0, 1.0))
        self.assertFalse(known(1.0, 1.0, 1.03))
        self.assertFalse(known(1.0, 1.0, 1.0, 1.03))
        self.assertFalse(bench.kernels_are_known([entry(1, 5)] * 4, 3))


class States(unittest.TestCase):
    """What is compared with what."""

    def test_kernels_run_again_and_again_only_where_nothing_is_logged(self):
        def launch(kernel: str, blocks: int, *ms: float, first: int = 0) -> dict:
            return {"kernel": kernel, "blocks": blocks, "first": first, "ms": {"again": list(ms), "cold": [2 * time for time in ms]}}

        # The first repetition of two took the first loop in two portions.
        first = [launch("a", 10, 9.0), launch("a", 90, 9.0, first=1280), launch("b", 50, 9.0)]
        last = [launch("a", 100, 9.0), launch("b", 50, 9.0), launch("a", 100, 1.0, 2.0, 3.0), launch("b", 50, 0.5, 0.5, 0.5)]
        logged, not_logged = ([entry(1, 1, log=log)] * 2 for log in ["bitmap", "none"])
        self.assertEqual(bench.replayed_times(first + last, logged + not_logged * 2, 3), {"again_ms": 2.5, "cold_ms": 5.0})
        self.assertEqual(bench.replayed_times(first + last, not_logged * 2 + logged, 3), {"cold_ms": 5.0})
        self.assertEqual(bench.replayed_times(first + last, [entry(1, 1, device="")] * 6, 3), {})
        # The last one in portions; each in two that are alike.
        self.assertEqual(bench.replayed_times(first[:1] + last[:3] + first, not_logged * 3, 3), {})
        halves = [launch("a", 50, 1.0), launch("a", 50, 1.0, first=6400)] * 3
        self.assertEqual(bench.replayed_times(halves, [entry(1, 1, log="none")] * 3, 3), {})
        # Checks that are made ready meanwhile, of the last repetition.
        check = {"kernel": "c", "blocks": 0, "first": 0, "ms": {"unchecked": [1.0, 2.0, 3.0], "checked": [1.5, 2.25, 4.0]}}
        self.assertEqual(bench.replayed_times([*first, check, *last[:3], check, *last[3:], check], logged * 3, 3), {"cold_ms": 6.0})
        # Kernels that ran in one state only.
        only = [line | {"ms": {"cold": [1.0]}} for line in last]
        self.assertEqual(bench.replayed_times(only, not_logged * 2, 2), {"cold_ms": 2.0})
        # Hand-written kernels in their place.
        only = [line | {"ms": {"in_place": [1.0], "by_hand": [3.0, 2.0, 1.0]}} for line in last]
        self.assertEqual(bench.replayed_times(only, not_logged * 2, 2), {"in_place_ms": 2.0, "by_hand_ms": 4.0})

    def test_numbers_are_divided_by_those_of_their_own_state(self):
        def column(ms: float, **more) -> dict:
            return {"ms": ms, "device": {"where": {"cuda": 5}, "kernels_ms": ms, "checks_ms": 0.0, "first_kernels_ms": 3 * ms, **more}}

        hand = {"ms": 9.0, "resident_ms": 100.0, "fresh_ms": 200.0, "behind_ms": 2.0, "cold_ms": 5.0, "again_ms": 4.0, "same_bits_behind_ms": 1.0}
        replayed = {"paragon-cuda-again": column(7.0, again_ms=3.0, cold_ms=4.0), "paragon-cuda-bitmap-again": column(7.0, cold_ms=5.5)}
        replayed["paragon-cuda-bitmap-again"]["device"]["checks_ms"] = 0.5
        columns = {"unsafe": hand, "paragon-cuda": column(1.0), "paragon-cuda-learnt": column(1.0), **replayed}
        text = bench.equal_states({"measurements": {"fwd": columns}})
        self.assertIn("| fwd | 2 | 1 | 1 | 0.5 | 1 | 3 | 1.5 | 3 | - | - | - | 5 | - | 4 | 0.8 | - | 6 | 1.2 | - | 4 | - | 3 | 0.75 | - |", text)
        self.assertIn("first entry 1.5 (1), Paragon, cold caches 0.8 (1), bitmap log, cold caches 1.2 (1), Paragon, again and again 0.75 (1)", text)
        self.assertNotIn("In place", text)
        replayed["paragon-cuda-again"]["device"] |= {"in_place_ms": 3.0, "by_hand_ms": 4.0}
        self.assertIn("| fwd | 3 | 4 | 0.75 | - | - |", bench.equal_states({"measurements": {"fwd": columns}}))
        replayed["paragon-cuda-again"]["device"] |= {"same_bits_by_hand_ms": 6.0}
        self.assertIn("| fwd | 3 | 4 | 0.75 | 6 | 0.5 |", bench.equal_states({"measurements": {"fwd": columns}}))
        self.assertIn("| 0.005 |", bench.resident({"measurements": {"fwd": columns}}))
        self.assertNotIn("fwd", bench.equal_states({"measurements": {"fwd": {"unsafe": {"fresh_ms": 1.0}}}}))


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


class Settled(unittest.TestCase):
    """Which repetitions count."""

    def test_the_first_ones_do_not(self):
        counted = {n: bench_session.settled([float(i) for i in range(n)])[0] for n in [1, 2, 3, 4, 6, 7, 9, 10, 30]}
        self.assertEqual(counted, {1: 0.0, 2: 1.0, 3: 1.0, 4: 2.0, 6: 4.0, 7: 5.0, 9: 5.0, 10: 5.0, 30: 15.0})
        self.assertEqual(bench_session.median([9.0] * 5 + [1.0, 3.0]), 2.0)


class ASession(bench_session.Session):
    """A session that has so many seconds, and no disk."""

    def __init__(self, seconds: float):  # pylint: disable=super-init-not-called
        self.began, self.seconds = time.monotonic(), seconds
        self.saved: list = []

    def save(self):
        self.saved.append(True)


class Sessions(unittest.TestCase):
    """What comes of jobs."""

    def test_results_are_kept_in_the_order_of_jobs_and_by_one_thread(self):
        session, kept = ASession(60.0), []

        def measured(job: int, turn: threading.Lock) -> int | None:
            time.sleep(0.02 * (job % 3))
            with turn:
                return None if job == 4 else 10 * job

        def keep(job: int, result: int) -> str:
            kept.append((job, result, threading.current_thread()))
            return f"{job}"

        with contextlib.redirect_stdout(io.StringIO()) as said:
            session.measure(range(8), 3, measured, keep)
        self.assertEqual(said.getvalue().split(), ["0", "1", "2", "3", "5", "6", "7"])
        self.assertEqual([(job, result) for job, result, _ in kept], [(job, 10 * job) for job in range(8) if job != 4])
        self.assertEqual({thread for _, _, thread in kept}, {threading.current_thread()})
        self.assertEqual(len(session.saved), 7)

    def test_nothing_begins_when_the_time_is_over(self):
        session = ASession(bench.LEAST_SECONDS - 1.0)
        session.measure(range(8), 2, lambda job, turn: self.fail("it began"), lambda job, result: "")
        self.assertEqual((session.saved, session.timeout(5.0)), ([], None))


def repetition(letter: str, before: float, tau: float, behind: float, bits: str = "") -> str:
    """What scenarios.h prints of one."""
    return f"repetition_ms {tau}\nneighbours_ms {letter} {before} {behind}\n" + (f"after {letter} {bits}\n" if bits else "")


class OfScenarios(unittest.TestCase):
    """The chapter's scenarios."""

    def test_the_times_of_a_scenario_are_its_own(self):
        output = "".join(repetition("a", 1.0, tau, 2.0, bits) for tau, bits in [(9.0, "aa"), (4.0, ""), (5.0, ""), (6.0, "aa")])
        found = scenarios.parse(output + repetition("c", 100.0, 7.5, 10.0, "cc") + "repetition_ms 3.0\n")
        self.assertEqual((found["a"]["tau_ms"], found["a"]["whole_ms"]), (5.5, 8.5))
        self.assertEqual((found["a"]["first_tau_ms"], found["a"]["first_whole_ms"], found["a"]["bits"]), (9.0, 12.0, ["aa", "aa"]))
        self.assertEqual((found["c"]["all_tau_ms"], found["c"]["whole_ms"], [*found]), ([7.5], 117.5, ["a", "c"]))

    def test_records_are_those_of_their_scenario(self):
        records = [entry(number, 1) for number in range(10)]
        parts = scenarios.shares(records, [2, 3])
        self.assertEqual([[r["line"] for r in part] for part in parts], [[0, 1, 2, 3], [4, 5, 6, 7, 8, 9]])
        self.assertEqual(scenarios.shares(records, [2, 2]), [records, []])
        self.assertEqual(scenarios.shares([], [2, 2]), [[], []])

    @staticmethod
    def measured(tau: float, *bits: str) -> dict:
        """A scenario's record."""
        return {"tau_ms": tau, "whole_ms": 2 * tau, "first_tau_ms": tau, "bits": list(bits)}

    def test_other_bits_are_seen(self):
        ours = {"a": self.measured(1.0, "x", "x"), "b": self.measured(1.0, "y", "x"), "c": self.measured(1.0, "y", "y"), "d": {"tau_ms": None}}
        ways = {"cc": {"clean": {letter: self.measured(3.0, "x", "x") for letter in "abcd"}}, "paragon": {"clean": ours}}
        scenarios.mark_bits(ways)
        self.assertEqual([ours[letter].get("same_bits") for letter in "abcd"], [True, False, False, None])
        text = scenarios.bits({"scenarios": {"fdtd": ways}})
        self.assertIn("cc's bits in 1 of 3 scenarios", text)
        self.assertIn("fdtd, paragon, clean, b; fdtd, paragon, clean, c", text)
        # Nor is the same as what differs from itself.
        ways["cc"]["clean"]["b"] = self.measured(3.0, "x", "y")
        scenarios.mark_bits(ways)
        self.assertIs(ours["b"]["same_bits"], False)
        # Not known is not the same.
        del ways["cc"]["clean"]["a"]
        del ours["a"]["same_bits"]
        scenarios.mark_bits(ways)
        self.assertNotIn("same_bits", ours["a"])

    def test_every_scenario_is_divided_by_its_own_sequential_program(self):
        def ways(*ours: float) -> dict:
            known = {"cc": [2.0, 4.0, 6.0, 8.0], "paragon": ours}
            return {way: {"clean": {letter: self.measured(tau) for letter, tau in zip("abcd", taus)}} for way, taus in known.items()}

        results = {"scenarios": {"fdtd": ways(1.0, 1.0, 1.0, 1.0), "saxpy": ways(4.0, 1.0, 6.0, 2.0)}}
        lines = scenarios.figure(results, "clean", "paragon").splitlines()
        self.assertIn("| fdtd | 2 | 4 | 6 | 8 | 1 | 1 | 1 | 1 | 2 | 4 | 6 | 8 | - | - |", lines)
        self.assertIn("| 1 | 4 | 2.45 | 5.66 |", lines[-1])
        self.assertEqual(scenarios.figure(results, "conflict", "paragon"), "")

    def test_a_misspeculation_costs_what_conflicts_cost_beyond_what_they_cost_cc(self):
        def taken(*ms: float) -> dict:
            return {way: {name: {"ms": ms[2 * number + at], "shift_ms": ms[2 * number + at] / 10.0} for at, name in enumerate(["clean", "call"])} for number, way in enumerate(["cc", "paragon"])}

        rounds = [taken(100.0, 110.0, 50.0, 55.0), taken(100.0, 100.0, 50.0, 51.0), {"cc": {}}]
        costs = scenarios.overheads(rounds, "paragon")
        for found, expected in zip(costs["misspeculation"] + costs["against_cc"], [0.0, 0.02, 0.5, 0.51]):
            self.assertAlmostEqual(found, expected)
        for found, expected in zip(costs["entries"], [0.01, 0.002]):
            self.assertAlmostEqual(found, expected)
        self.assertEqual(scenarios.overheads(rounds, "races")["misspeculation"], [])

    def test_processes_come_in_the_order_of_their_importance(self):
        applications = [BY_NAME["fdtd"], BY_NAME["saxpy"]]
        jobs = scenarios.jobs_of(applications, {"cc", "paragon", "stays"}, scenarios.PASSES)
        self.assertEqual([(j.application.name, j.way.name, j.letters) for j in jobs[:3]], [("fdtd", "cc", "abcd"), ("fdtd", "paragon", "a"), ("fdtd", "paragon", "b")])
        # What stays is affine.
        self.assertEqual([j.application.name for j in jobs if j.way.name == "stays"], ["fdtd"])
        self.assertEqual(len(jobs), 2 * 2 * (1 + 4) + 1)

    def test_they_are_the_chapters_thirteen_with_a_conflict_each(self):
        self.assertEqual(len(set(OF_SCENARIOS)), 13)
        for name in OF_SCENARIOS:
            self.assertIn('"one"', BY_NAME[name].text())
        self.assertIn('"call"', BY_NAME["rayleigh"].text())
        # All but calls of the first repetition are counted; every twentieth of those has a conflict.
        calls = range(4, 4 * scenarios.RAYLEIGH_REPETITIONS)
        self.assertEqual(len(calls), 20 * sum(call % 20 == 2 for call in calls))


class OfRegret(unittest.TestCase):
    """The choice of places."""

    @staticmethod
    def size(sequential: float, chosen: float, threads: float, gpu: float | None) -> dict:
        """A size's record."""
        times = {"sequential": sequential, "chosen": chosen, "threads": threads, "GPU": gpu}
        return {"wanted": 1024, "bytes": 1000, "ways": {name: {"ms": ms, "where": {}} for name, ms in times.items()}}

    def test_sizes_go_from_a_kibibyte_to_a_gibibyte(self):
        wanted = regret.wanted_bytes(10, 1 << 10, 1 << 30)
        self.assertEqual((len(wanted), wanted[0], wanted[-1]), (10, 1 << 10, 1 << 30))
        self.assertEqual({name for name, _ in MEMORY.items()}, set(BY_NAME))
        for application in APPLICATIONS:
            sizes = regret.sizes_of(application, 10)
            factor, power = MEMORY[application.name]
            self.assertEqual(len(sizes), 10, application.name)
            self.assertTrue(sizes[0][0] == 8 or sizes[0][1] == 1024, application.name)
            self.assertAlmostEqual(factor * float(sizes[-1][0]) ** power / 2**30, 1.0, 1)

    def test_regret_is_the_sum_chosen_by_the_sum_of_the_best(self):
        sizes = regret.known_sizes({"20": self.size(10.0, 12.0, 8.0, 20.0), "10": self.size(1.0, 1.0, 2.0, 3.0), "30": self.size(9.0, 9.0, 9.0, None)})
        self.assertEqual([(s.size, s.best, s.regret) for s in sizes], [(10, "sequential", 1.0), (20, "threads", 1.5), (30, "sequential", 1.0)])
        self.assertAlmostEqual(regret.summed(sizes) or 0.0, 22.0 / 18.0)
        self.assertIsNone(regret.known_size("x", 1, {"wanted": 1, "too_long": True}))
        self.assertIsNone(regret.summed([]))
        # Who knows what is missing?
        unmeasured = self.size(1.0, 2.0, 3.0, 4.0)
        del unmeasured["ways"]["GPU"]
        self.assertEqual(regret.known_sizes({"10": unmeasured}), [])

    def test_what_takes_too_long_is_not_a_part_of_it(self):
        long = self.size(6000.0, 1.0, 1.0, 1.0)
        del long["ways"]["chosen"]
        self.assertEqual(regret.known_sizes({"10": long | {"too_long": True}}), [])

    def test_what_would_take_too_long_is_foreseen(self):
        known = {"8": self.size(1.0, 1.0, 1.0, 1.0), "128": self.size(1000.0, 1.0, 1.0, 1.0), "32": self.size(10.0, 1.0, 1.0, 1.0)}
        self.assertEqual((regret.expected_ms(known), regret.expected_ms({}), regret.expected_ms({"8": known["8"]})), (100000.0, 0.0, 0.0))
        self.assertEqual(regret.expected_ms({"8": known["8"], "16": {"wanted": 1, "too_long": True}}), float("inf"))

    def test_tables_name_the_worst_and_other_bits(self):
        record = self.size(10.0, 12.0, 8.0, 20.0)
        record["ways"]["GPU"]["same_bits"] = False
        known = {"machine": {"date": "d", "gpu": "g", "cores": 2, "processor": "p"}, "commit": "c", "small": False}
        text = regret.tables(known | {"regret": {"fdtd": {"20": record}, "gemm": {"9": {"wanted": 1, "too_long": True}}}})
        self.assertIn("**Regret 1.500**", text)
        self.assertIn("**Other bits: fdtd, 20, GPU.**", text)
        self.assertIn("| fdtd | 20 | 0.9766 | 12 | threads | 8 | 1.500 | 4 | - |", text)
        self.assertIn("| gemm | 0 | 1 | 0 | 0 | - | - | 0 |", text)


if __name__ == "__main__":
    unittest.main()
