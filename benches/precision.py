#!/usr/bin/env python3
"""How many loops of TSVC and PolyBench/C are found to be parallel: by Paragon, by gcc, by Polly, and in truth.

    git clone https://github.com/UoB-HPC/TSVC_2
    git clone https://github.com/MatthiasJReisinger/PolyBenchC-4.2.1
    benches/precision.py --tsvc TSVC_2 --polybench PolyBenchC-4.2.1 > table.md

Each `for` loop is one row: in TSVC those of each function below the repetition loop (`nl`), in PolyBench those of the
`kernel_` functions. What is found by whom:

- Paragon: it was carried out on threads when the program ran with the device forced. That counts what is decided at loop entry, too,
  and is stricter than the verdict: a predicate that doesn't hold finds nothing. Loops that no one can run in place of the ordinary one
  (short, say) are forced all the same.
- gcc: `-ftree-parallelize-loops` says that it parallelises the loop, however short it is. gcc has no checks at entry but for overlap.
- Polly: the AST that it prints marks the loop as parallel. In LLVM 14 it moves no iteration at run time without `-polly-parallel`;
  this is what it knows.

A loop inside another one that is found isn't looked at for itself. So each suite is compiled once for each depth of nesting, with
the loops further out made uncountable by a volatile variable in their conditions.

The truth stands in `precision/truth.json`, by hand. `--oracle` compares it with what the loops do to memory when they run
(`precision/shadow.c`): a loop without a dependence between its iterations must not be called sequential, one with a flow
dependence must not be called parallel.
"""

import argparse
import collections
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PARAGON_CC = os.path.join(ROOT, "target/release/paragon-cc")
PARAGON = os.path.join(ROOT, "target/release/paragon")
LICENCE = "-ffast-math"
# Iterations of the repetition loops of TSVC, and sizes with which its programs run: much shorter than what is compiled otherwise.
REPETITIONS = 3
RUN_SIZES = {"LEN_1D": 4000, "LEN_2D": 64, "iterations": 4000}
ORACLE_SIZES = {"LEN_1D": 160, "LEN_2D": 16, "iterations": 160}


@dataclasses.dataclass
class Loop:
    """A `for` statement. Positions are offsets into its file's text."""

    function: str
    number: int  # of the function's loops, from 1
    start: int
    header: tuple  # what is between its parentheses: positions
    end: int
    line: int
    last_line: int
    depth: int  # loops around it
    parent: "Loop | None"
    name: str = ""


# --- Sources -----------------------------------------------------------------------------------------------------------------


def blanked(text):
    """The text with comments, strings and preprocessing lines as blanks: positions stay."""
    pattern = r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:\\\n|[^\n])*"
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S | re.M)


def closing(text, at):
    """Position behind the bracket that closes the one at `at`."""
    depth = 0
    for position in range(at, len(text)):
        if text[position] in "([{":
            depth += 1
        elif text[position] in ")]}":
            depth -= 1
            if depth == 0:
                return position + 1
    raise ValueError("a bracket is not closed")


def statement_end(text, at):
    """Position behind the statement that starts at `at` (blanks before it are skipped)."""
    at += re.match(r"\s*", text[at:]).end()
    if text[at] == "{":
        return closing(text, at)
    head = re.match(r"(for|while|if|switch)\s*\(", text[at:])
    if head:
        end = statement_end(text, closing(text, at + head.end() - 1))
        otherwise = head.group(1) == "if" and re.match(r"\s*else\b", text[end:])
        return statement_end(text, end + otherwise.end()) if otherwise else end
    return text.index(";", at) + 1


def loops_of(text, wanted):
    """The loops of the functions whose name matches `wanted`, outermost first."""
    plain = blanked(text)
    found = []
    at = 0
    while (brace := plain.find("{", at)) >= 0:
        end = closing(plain, brace)
        head = re.search(r"(\w+)\s*\([^{};]*$", plain[at:brace])
        name = re.search(r"(\w+)\s*\(", head.group()).group(1) if head else ""
        if re.fullmatch(wanted, name):
            around = []
            for number, match in enumerate(re.finditer(r"\bfor\s*\(", plain[brace:end]), 1):
                start = brace + match.start()
                header_end = closing(plain, brace + match.end() - 1)
                stop = statement_end(plain, start)
                around = [loop for loop in around if loop.end > start]
                loop = Loop(
                    function=name,
                    number=number,
                    start=start,
                    header=(brace + match.end(), header_end - 1),
                    end=stop,
                    line=text.count("\n", 0, start) + 1,
                    last_line=text.count("\n", 0, stop) + 1,
                    depth=len(around),
                    parent=around[-1] if around else None,
                )
                around.append(loop)
                found.append(loop)
        at = end
    return found


def header_parts(text, loop):
    """Positions of a header's condition."""
    first = text.index(";", loop.header[0])
    second = text.index(";", first + 1)
    return first + 1, second


def edited(text, changes):
    """The text with (start, end, new) applied."""
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    return text


class Program:
    """One C file of a suite: how it is read, compiled and run."""

    def __init__(self, suite, path, flags, others, wanted, repetition):
        self.suite, self.path, self.flags, self.others = suite, path, flags, others
        with open(path, encoding="utf-8", errors="replace") as file:
            self.text = file.read()
        every = loops_of(self.text, wanted)
        self.repetitions = [loop for loop in every if repetition and "nl" in self.header(loop)]
        inside = [loop for loop in every if loop not in self.repetitions]
        if repetition:
            # Functions with a repetition loop may have others in front of it, to set data.
            timed = {loop.function for loop in self.repetitions}
            inside = [loop for loop in inside if loop.parent or loop.function not in timed]
        self.loops = inside
        counts = collections.Counter()
        for loop in self.loops:
            loop.depth -= bool(self.repetitions) and loop.function in {r.function for r in self.repetitions}
            counts[loop.function] += 1
            loop.name = f"{loop.function.removeprefix('kernel_')}/{counts[loop.function]}"

    def header(self, loop):
        """What stands between a loop's parentheses."""
        return self.text[slice(*loop.header)]

    def depths(self):
        """Depths of nesting that occur."""
        return sorted({loop.depth for loop in self.loops})

    def rewritten(self, changes=(), declarations=""):
        """The text with short repetition loops, further changes, and declarations in its first line."""
        changes = list(changes)
        for loop in self.repetitions:
            start, end = header_parts(self.text, loop)
            changes.append((start, end, f" nl < {REPETITIONS}"))
        return f"{declarations} {edited(self.text, changes)}"

    def at_depth(self, depth, shorten):
        """The text in which only loops from `depth` on can be counted."""
        changes = []
        for loop in self.loops:
            if loop.depth < depth:
                _, end = header_parts(self.text, loop)
                changes.append((end, end, " && !precision_never"))
        declarations = "static volatile int precision_never;"
        if shorten:
            return self.rewritten(changes, declarations)
        return f"{declarations} {edited(self.text, changes)}"

    def marked(self):
        """The text whose loops tell the oracle of themselves."""
        number = {id(loop): index for index, loop in enumerate(self.loops)}
        changes = []
        for index, loop in enumerate(self.loops):
            parent = number.get(id(loop.parent), -1)
            start, end = header_parts(self.text, loop)
            changes.append((loop.start, loop.start, f"if (precision_enter({index}, {parent})) ; else "))
            changes.append((start, start, f" precision_test({index}, ("))
            changes.append((end, end, "))"))
        return self.rewritten(changes, "int precision_enter(int, int), precision_test(int, int);")

    def loop_at(self, line):
        """The innermost loop that a line belongs to; the one whose header is there, if any."""
        heads = [loop for loop in self.loops if loop.line <= line <= self.header_last_line(loop)]
        inside = [loop for loop in self.loops if loop.line <= line <= loop.last_line]
        chosen = heads or inside
        return max(chosen, key=lambda loop: loop.depth) if chosen else None

    def header_last_line(self, loop):
        return self.text.count("\n", 0, loop.header[1]) + 1


def tsvc(folder):
    """The one file of TSVC_2."""
    source = os.path.join(folder, "src")
    others = ["common.c", "dummy.c"]
    program = Program("TSVC", os.path.join(source, "tsvc.c"), [], others, r"s\d+s?|v[a-z]+|test", True)
    return [program]


def polybench(folder):
    """The 30 programs of PolyBench/C 4.2.1."""
    utilities = os.path.join(folder, "utilities")
    with open(os.path.join(utilities, "benchmark_list"), encoding="utf-8") as file:
        paths = [os.path.join(folder, line.strip()) for line in file if line.strip()]
    flags = ["-I", utilities]
    others = [os.path.join(utilities, "polybench.c")]
    return [Program("PolyBench", path, flags + ["-I", os.path.dirname(path)], others, r"kernel_\w+", False) for path in paths]


# --- What is found -----------------------------------------------------------------------------------------------------------


def output_of(command, folder, **environment):
    """Runs a command; its two outputs as one text. A failure ends the program."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        timeout=600,
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


def prepared(program, folder, text, sizes):
    """Writes a program's text, and what stands beside it with other sizes, to a folder; the flags that find it."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "program.c"), "w", encoding="utf-8") as file:
        file.write(text)
    source = os.path.dirname(program.path)
    for name in os.listdir(source):
        if name.endswith((".c", ".h")):
            with open(os.path.join(source, name), encoding="utf-8") as file:
                beside = file.read()
            for macro, size in sizes.items():
                beside = re.sub(rf"(#define {macro}) \d+", rf"\1 {size}", beside)
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(beside)
    return ["-I", folder, *program.flags, "-DSMALL_DATASET", "-w"]


def verdicts(program, licence):
    """What `paragon explain` says of each loop: (verdict, reason)."""
    flags = ["-O3", *program.flags, *([LICENCE] if licence else [])]
    text = output_of([PARAGON, "explain", program.path, "--", *flags], ".")
    found = {}
    for line in text.splitlines():
        match = re.match(r"(.*?):(\d+): in (\w+): ([^:]+): (.*)", line)
        if match and os.path.basename(match.group(1)) == os.path.basename(program.path):
            found[int(match.group(2))] = (match.group(4), match.group(5))
    return {loop.name: found.get(loop.line, ("not seen", "")) for loop in program.loops}


def found_by_paragon(program, licence, folder):
    """The names of the loops that were carried out on threads, most of their entries, when the program ran."""
    found = set()
    for depth in program.depths():
        place = os.path.join(folder, f"ours-{depth}")
        flags = prepared(program, place, program.at_depth(depth, True), RUN_SIZES)
        forced = ["-O3", "-fparagon-threshold=1", "-fparagon-checked-threads", *([LICENCE] if licence else [])]
        output_of([PARAGON_CC, *forced, *flags, "-c", "program.c"], place)
        # Linking with the licence would have gcc's start-up code set flush-to-zero, with which nothing runs elsewhere.
        output_of(["gcc", "-O2", *flags, "program.o", *program.others, "-o", "program", "-lm"], place)
        trace = os.path.join(place, "trace")
        output_of(
            ["./program"],
            place,
            PARAGON_TRACE=trace,
            PARAGON_DEVICE="threads",
            PARAGON_RACE="device",
            PARAGON_THREADS="4",
        )
        entries = collections.defaultdict(collections.Counter)
        if os.path.exists(trace):
            with open(trace, encoding="utf-8") as file:
                for line in file:
                    record = json.loads(line)
                    # An entry that is only watched says nothing.
                    if record["trip"] > 1 and "monitor" not in record["why"]:
                        entries[record["line"]][record["decision"] == "threads"] += record["trip"]
        for loop in program.loops:
            if loop.depth == depth and entries[loop.line][True] > entries[loop.line][False]:
                found.add(loop.name)
    return found


def written_out(program, licence, folder, name):
    """Each depth, a folder of its own with program.c for it, and the flags to compile that with."""
    flags = ["-I", os.path.dirname(program.path), *program.flags, "-w", *([LICENCE] if licence else [])]
    for depth in program.depths():
        place = os.path.join(folder, f"{name}-{depth}")
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, "program.c"), "w", encoding="utf-8") as file:
            file.write(program.at_depth(depth, False))
        yield depth, place, flags


def found_by_gcc(program, licence, folder):
    """The names of the loops that gcc says it parallelises."""
    found = set()
    for depth, place, flags in written_out(program, licence, folder, "gcc"):
        parallel = ["-ftree-parallelize-loops=4", "--param", "parloops-min-per-thread=2", "-fno-tree-loop-distribute-patterns"]
        text = output_of(["gcc", "-O3", *parallel, "-fopt-info-loop-optimized", *flags, "-c", "program.c"], place)
        for line in re.findall(r"program\.c:(\d+):\d+: optimized: parallelizing", text):
            loop = program.loop_at(int(line))
            if loop and loop.depth == depth:
                found.add(loop.name)
    return found


def found_by_polly(program, licence, folder):
    """The names of the loops that Polly's AST marks as parallel."""
    found = set()
    for depth, place, flags in written_out(program, licence, folder, "polly"):
        no_passes = ["-O3", "-g", "-Xclang", "-disable-llvm-passes", "-fno-discard-value-names", "-emit-llvm"]
        output_of(["clang-14", *no_passes, *flags, "-S", "program.c", "-o", "program.ll"], place)
        canonical = ["-enable-new-pm=0", "-polly-canonicalize", "program.ll"]
        output_of(["opt-14", *canonical, "-S", "-o", "canonical.ll"], place)
        ast = ["-polly-ast", "-polly-ast-detect-parallel", "-polly-process-unprofitable", "-polly-use-llvm-names"]
        alias = ["-basic-aa", "-scoped-noalias-aa", "-tbaa"]
        text = output_of(["opt-14", "-enable-new-pm=0", *alias, *ast, "-analyze", "canonical.ll"], place)
        with open(os.path.join(place, "canonical.ll"), encoding="utf-8") as file:
            lines = lines_of_blocks(file.read())
        for function, statement, chain in parallel_chains(text):
            where = [program.loop_at(line) for line in lines.get((function, statement), [])]
            where = [loop for loop in where if loop]
            if not where:
                continue
            inner = max(where, key=lambda loop: loop.depth)
            # The loops of the AST are the innermost ones around the statement.
            for parallel in reversed(chain):
                if inner is None or inner in program.repetitions:
                    break
                if parallel and inner.depth == depth:
                    found.add(inner.name)
                inner = inner.parent
    return found


def lines_of_blocks(ir):
    """The source lines of each basic block of LLVM's text: {(function, name in Polly): [lines]}."""
    locations = {int(n): int(line) for n, line in re.findall(r"^!(\d+) = !DILocation\(line: (\d+)", ir, re.M)}
    blocks = collections.defaultdict(list)
    function = block = None
    for line in ir.splitlines():
        head = re.match(r"define .*@\"?([\w.]+)\"?\(", line)
        label = re.match(r"\"?([\w.-]+)\"?:", line)
        if head:
            function, block = head.group(1), "entry"
        elif label:
            block = label.group(1)
        elif (place := re.search(r"!dbg !(\d+)", line)) and int(place.group(1)) in locations:
            # Loads and stores say best where a statement stands.
            if re.search(r"\b(load|store)\b", line):
                blocks[(function, re.sub(r"\W", "_", f"Stmt_{block}"))].append(locations[int(place.group(1))])
    return blocks


def parallel_chains(text):
    """Reads Polly's ASTs: (function, statement, whether each loop around it is parallel, outermost first)."""
    function, around, pending = None, [], False
    for line in text.splitlines():
        head = re.match(r":: isl ast :: ([\w.]+) ::", line)
        if head:
            function, around, pending = head.group(1), [], False
        indent = len(line) - len(line.lstrip())
        words = line.strip()
        if words.startswith("#pragma"):
            pending |= "known-parallel" in words or "simd" in words or "omp parallel" in words
        elif words.startswith("for ("):
            around = [entry for entry in around if entry[0] < indent]
            around.append((indent, pending))
            pending = False
        elif words and not words.startswith("//"):
            around = [entry for entry in around if entry[0] < indent]
            for statement in re.findall(r"\b(Stmt_\w+)\(", words):
                yield function, statement, [parallel for _, parallel in around]


def dependences(program, folder):
    """What the oracle saw: {name: (entries, iterations, flow, anti, output)}."""
    place = os.path.join(folder, "oracle")
    flags = prepared(program, place, program.marked(), ORACLE_SIZES)
    output_of(["gcc", "-O0", "-fsanitize=thread", *flags, "-c", "program.c"], place)
    others = [*flags, *program.others, os.path.join(HERE, "precision/shadow.c")]
    output_of(["gcc", "-O1", "program.o", *others, "-o", "program", "-lm"], place)
    seen = os.path.join(place, "seen")
    output_of(["./program"], place, PRECISION_ORACLE=seen)
    with open(seen, encoding="utf-8") as file:
        rows = [[int(field) for field in line.split()] for line in file]
    return {program.loops[number].name: tuple(row) for number, *row in rows}


# --- The table ---------------------------------------------------------------------------------------------------------------

# What a loop is in truth, and whether somebody who has a licence to reorder floating-point arithmetic can run it in parallel.
KINDS = {
    "parallel": "its iterations are independent as they stand",
    "condition": "independent if numbers or addresses known at entry are right, as they are here",
    "indices": "independent if the contents of an index array are right, as they are here",
    "private": "independent once each iteration has its own copy of an array",
    "snapshot": "only anti dependences: independent if loads read what was there before the loop",
    "closed form": "independent once a scalar is computed from the iteration's number or from the iteration before",
    "reduction": "a reduction whose result doesn't depend on the order",
    "float reduction": "a reduction of floating-point values: with a licence to reorder them",
    "restructured": "independent parts after distribution, splitting or reordering of statements",
    "scan": "a recurrence with an associative operation, compaction included",
    "search": "leaves early",
    "sequential": "each iteration needs the one before",
}
# What is not run by whoever runs a loop's iterations side by side, in any order, as they stand.
OTHER_METHODS = {"restructured", "scan", "search", "sequential"}


def check_truth(truth, seen):
    """Where the table by hand and the oracle can't both be right."""
    for name, (entries, iterations, flow, anti, output) in sorted(seen.items()):
        kind = truth.get(name, {}).get("kind")
        if iterations < 2 or kind is None:
            continue
        said = f"{name} is called {kind}, and has flow {flow}, anti {anti}, output {output} dependences"
        if kind in ("parallel", "condition", "indices") and (flow or anti or output):
            yield said
        if kind in ("private", "snapshot") and (flow or not (anti or output)):
            yield said


def write_table(programs, truth, results):
    """Prints the table of one suite after the other, and sums."""
    for suite in dict.fromkeys(program.suite for program in programs):
        loops = [(program, loop) for program in programs if program.suite == suite for loop in program.loops]
        print(f"## {suite}\n")
        write_sums(loops, truth, results)
        print("\n| loop | in truth | Paragon | with licence | gcc | with licence | Polly | with licence | what Paragon says |")
        print("|---|---|---|---|---|---|---|---|---|")
        for program, loop in loops:
            marks = ["yes" if loop.name in results[key] else "" for key in RESULT_KEYS]
            kind = truth.get(loop.name, {}).get("kind", "?")
            verdict, reason = results["verdicts"][loop.name]
            text = verdict if verdict == "parallel" else f"{verdict}: {reason}"
            print(f"| {loop.name} | {kind} | {' | '.join(marks)} | {text.replace('|', '/')} |")
        print()


RESULT_KEYS = [(who, licence) for who in ("paragon", "gcc", "polly") for licence in (False, True)]


def write_sums(loops, truth, results):
    """How many loops of each kind are found, and which ones others find."""
    print("| in truth | loops | Paragon | with licence | gcc | with licence | Polly | with licence |")
    print("|---|---|---|---|---|---|---|---|")
    by_kind = collections.defaultdict(list)
    for _, loop in loops:
        by_kind[truth.get(loop.name, {}).get("kind", "?")].append(loop.name)

    def row(label, names):
        found = [str(sum(name in results[key] for name in names)) for key in RESULT_KEYS]
        print(f"| {label} | {len(names)} | {' | '.join(found)} |")

    for kind in [*KINDS, "?"]:
        if by_kind[kind]:
            row(kind, by_kind[kind])
    row("**parallel in any order**", [n for kind, names in by_kind.items() if kind not in OTHER_METHODS for n in names])
    outermost = [
        loop.name
        for _, loop in loops
        if truth.get(loop.name, {}).get("kind") not in OTHER_METHODS and not any_outer_parallel(loop, truth)
    ]
    row("**outermost of them**", outermost)
    print()
    for who in ("gcc", "polly"):
        better = [
            loop.name
            for _, loop in loops
            if any(loop.name in results[(who, licence)] and loop.name not in results[("paragon", licence)] for licence in (False, True))
        ]
        print(f"Found by {who} and not by Paragon: {', '.join(better) or 'none'}.\n")
    missed = [name for name in outermost if name not in results[("paragon", True)]]
    print(f"Outermost parallel loops that Paragon misses: {', '.join(missed) or 'none'}.\n")
    wrong = [
        f"{name} ({who})"
        for who, licence in RESULT_KEYS
        for name in by_kind["sequential"]
        if name in results[(who, licence)]
    ]
    print(f"Called sequential here and found by somebody: {', '.join(dict.fromkeys(wrong)) or 'none'}.")


def any_outer_parallel(loop, truth):
    """Whether a loop around it is parallel in truth."""
    outer = loop.parent
    while outer is not None:
        if outer.name and truth.get(outer.name, {}).get("kind", "sequential") not in OTHER_METHODS:
            return True
        outer = outer.parent
    return False


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--tsvc", help="folder of TSVC_2")
    arguments.add_argument("--polybench", help="folder of PolyBench/C 4.2.1")
    arguments.add_argument("--only", help="programs whose file name contains this")
    arguments.add_argument("--oracle", action="store_true", help="compare the truth with the oracle instead of measuring")
    arguments.add_argument("--skip-others", action="store_true", help="leave gcc and Polly out")
    arguments.add_argument("--work", help="a folder to keep what is generated in")
    chosen = arguments.parse_args()
    with open(os.path.join(HERE, "precision/truth.json"), encoding="utf-8") as file:
        truth = json.load(file)
    programs = tsvc(os.path.abspath(chosen.tsvc)) if chosen.tsvc else []
    programs += polybench(os.path.abspath(chosen.polybench)) if chosen.polybench else []
    programs = [program for program in programs if not chosen.only or chosen.only in program.path]
    with tempfile.TemporaryDirectory() as temporary:
        work = os.path.abspath(chosen.work) if chosen.work else temporary
        folders = [os.path.join(work, os.path.basename(program.path)) for program in programs]
        if chosen.oracle:
            disagreements = 0
            for program, folder in zip(programs, folders):
                seen = dependences(program, folder)
                for loop in program.loops:
                    print(loop.name, truth.get(loop.name, {}).get("kind", "?"), *seen.get(loop.name, ("not run",)))
                for line in check_truth(truth, seen):
                    print(f"DISAGREEMENT: {line}")
                    disagreements += 1
            sys.exit(disagreements > 0)
        results = collections.defaultdict(set)
        results["verdicts"] = {}
        for program, folder in zip(programs, folders):
            print(f"{program.path} ...", file=sys.stderr)
            results["verdicts"].update(verdicts(program, False))
            for licence in (False, True):
                place = os.path.join(folder, "licence" if licence else "strict")
                results[("paragon", licence)] |= found_by_paragon(program, licence, place)
                if not chosen.skip_others:
                    results[("gcc", licence)] |= found_by_gcc(program, licence, place)
                    results[("polly", licence)] |= found_by_polly(program, licence, place)
        write_table(programs, truth, results)


if __name__ == "__main__":
    main()
