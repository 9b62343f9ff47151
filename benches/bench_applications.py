"""What `make bench` measures: the applications, and the ways of building and running each of them (its columns).

Data for benches/bench-prepare.py, benches/bench.py and benches/bench_plot.py, and what they all have to know about files; nothing is
built, run or drawn here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Where benches/bench-prepare.py puts what it builds, and where results go by default.
BUILT = ROOT / "build/bench"
RESULTS = ROOT / "build/bench-results"
# Log methods: with one of them everything is logged that a predicate could prove.
LOGS = ["bitmap", "stamp", "reduction", "atomic"]
# Words of repetitions.h.
REPETITION = re.compile(r"^repetition_ms ([0-9.]+)$", re.MULTILINE)


def functions_that_compute(text: str) -> set[str]:
    """The functions of a program, or a header, whose loops are its computation."""
    return set(re.findall(r"^COMPUTE static [\w ]+?[ *](\w+)\(", text, re.MULTILINE))


@dataclass(frozen=True)
class Size:
    """A size other than the application's own, because that would take minutes. Times are multiplied, as the number of operations
    grows with this power of the size."""

    size: int
    power: int


@dataclass(frozen=True)
class Application:
    """A C program that prints how long its computation took (benches/repetitions.h)."""

    name: str
    # Its folder, and the number that --size stands for where nothing else is said.
    folder: str
    size: int
    # OpenMP's clauses for its loops: by the name in the comment `loop NAME`, or, where a loop has no name, by what stands in
    # the line after it. Legal for the input `clean`.
    openmp: dict[str, str]
    # Columns that need another size.
    sizes: dict[str, Size] = field(default_factory=dict)
    # Whether Paragon would have to inspect what the loop's addresses come from before it knows that it may run. Where it is told to
    # wait for the GPU, it does so however long that takes.
    inspected: bool = False
    # The size at which the parts of its checks are told apart, if it isn't its own: its kernels have to take long enough, and its input no longer than that.
    breakdown_size: int = 0
    # What one has to know to read its numbers.
    note: str = ""
    # Hand-written kernels that run in its place, too.
    by_hand: str = ""

    @property
    def source(self) -> Path:
        """The C file."""
        return ROOT / self.folder / f"{self.name}.c"

    def text(self) -> str:
        """What is in it."""
        return self.source.read_text(encoding="utf-8")

    def test_size(self) -> int:
        """The size that tests use."""
        found = re.search(r"test size: *([0-9]+)", self.text())
        return int(found[1]) if found else 67

    def compute_functions(self) -> set[str]:
        """The functions whose time is measured."""
        return functions_that_compute(self.text())


CHAPTER = "c-tests/chapter"
# What benches/replays.cpp calls BENCH_IN_PLACE: a kernel of benches/cuda/unsafe.cu in any order and one with the program's bits, or one that has these anyway.
FWD_ARGUMENTS = "5:F9,E9,0/2,1/3,4/4,3/5,2/6"
FWD_BY_HAND = (
    f"by_hand=_Z9eliminateiiPKiS0_S0_PKfPf:32:{FWD_ARGUMENTS} "
    f"same_bits_by_hand=_Z13rows_in_orderIfLi4EEviiPKiS1_S1_PKT_PS2_:8:{FWD_ARGUMENTS}"
)
CSR_FORWARD_BY_HAND = (
    "by_hand=_Z12forward_rowsiiPKiS0_PKdPd:32:4:F8,E8,0/2,3/3,2/4,1/5 "
    "same_bits_by_hand=_Z13rows_in_orderIdLi8EEviiPKiS1_S1_PKT_PS2_:4:4:F8,E8,Z,0/2,3/3,2/4,1/5"
)
GER_BY_HAND = "by_hand=_Z8rank_oneiPKiS0_S0_dPKdS2_Pd:32:6:E9,1/1,2/2,3/3,V4,0/5,4/6,5/7"
MANDELBROT_BY_HAND = "by_hand=_Z10mandelbrotidddiPi:square@0:1:V0,V4,V5,V6,V2,0/3"
MATRICES_BY_HAND = "by_hand=_Z14small_productsmPKfS0_Pf:16@0:3:V0,0/1,1/2,2/3"
OURS = "benches/programs"
# A matrix product of this size takes minutes where nothing runs at the same time. With every log the GPU runs it as it is: at a size that doesn't fill the GPU
# it would be compared with one that does.
GEMM_SIZES = {
    **{column: Size(1024, 3) for column in ["cc", "gcc-parallel"]},
    **{column: Size(2048, 3) for column in ["openmp", "polly", "paragon-threads"]},
}
OTHER_SUM = "OpenMP adds the sums in another order, so its results have other bits; the others may not."

APPLICATIONS = [
    Application("fdtd", CHAPTER, 4096, {loop: "private(j)" for loop in ["ey", "ex", "hz"]}),
    Application("seidel", CHAPTER, 4096, {"rows": ""}),
    Application("jacobi1d", CHAPTER, 16 << 20, {"sweep": ""}, breakdown_size=32 << 20),
    Application("jacobi2d", CHAPTER, 4096, {"rows": "private(j)"}),
    Application("gemm", CHAPTER, 4096, {"rows": ""}, GEMM_SIZES, breakdown_size=2048),
    Application("tmv", CHAPTER, 4096, {"columns": ""}),
    Application("vector_add", CHAPTER, 16 << 20, {"add": ""}, breakdown_size=32 << 20),
    Application("saxpy", CHAPTER, 32 << 20, {"scatter": ""}, inspected=True, breakdown_size=8 << 20),
    Application(
        "house",
        CHAPTER,
        32 << 20,
        {"reflect": "", "dot += v[i] * x[index[i]];": "reduction(+ : dot)"},
        inspected=True,
        breakdown_size=8 << 20,
        note=OTHER_SUM + " The hand-written kernel leaves the sum out.",
    ),
    Application("ipvec", CHAPTER, 32 << 20, {"shuffle": ""}, inspected=True, breakdown_size=8 << 20),
    Application("ger", CHAPTER, 65536, {"rows": ""}, inspected=True, by_hand=GER_BY_HAND),
    Application(
        "gemver",
        CHAPTER,
        65536,
        {loop: "" for loop in ["update", "transposed", "product"]},
        inspected=True,
        note="The hand-written kernels add a transposed product with atomic operations; the program has a list of columns.",
    ),
    Application("fwd", CHAPTER, 65536, {"rows": ""}, inspected=True, by_hand=FWD_BY_HAND),
    Application("csr_forward", CHAPTER, 65536, {"rows": "private(j)"}, inspected=True, by_hand=CSR_FORWARD_BY_HAND),
    Application("sor", CHAPTER, 65536, {"rows": ""}, inspected=True),
    Application("lattice", CHAPTER, 64, {"t": "private(x, y, z) schedule(dynamic)"}, inspected=True),
    Application(
        "rayleigh",
        CHAPTER,
        1 << 20,
        {**{loop: "" for loop in ["product", "copy", "shift", "add", "divide"]}, "sum += x[i] * y[i];": "reduction(+ : sum)"},
        inspected=True,
        breakdown_size=1 << 18,
        note=OTHER_SUM,
    ),
    Application("histogram", OURS, 4096, {"pixels": "reduction(+ : count[ : BINS])"}, inspected=True),
    Application("convolution", OURS, 2048, {"rows": ""}, inspected=True),
    Application("nbody", OURS, 16384, {"bodies": "", "move": ""}),
    Application("mandelbrot", OURS, 2048, {"rows": "schedule(dynamic)"}, by_hand=MANDELBROT_BY_HAND),
    Application("spmv", OURS, 1 << 19, {"rows": ""}, inspected=True),
    Application("heat", OURS, 256, {"planes": "private(j, k)"}),
    Application("matrices", OURS, 1 << 21, {"matrices": ""}, by_hand=MATRICES_BY_HAND),
    Application("search", OURS, 1 << 17, {"reads": ""}, inspected=True),
]
# Those of the chapter's figure 4.11 (breakdown of the overhead), as the text beside it has them; then what else of the chapter there is, and histogram: so many as one
# call tells apart.
OF_BREAKDOWN = ["saxpy", "house", "ipvec", "ger", "gemver", "sor", "fwd", "gemm", "tmv", "jacobi1d", "jacobi2d", "fdtd", "seidel"]
OF_BREAKDOWN += ["vector_add", "csr_forward", "lattice", "rayleigh", "histogram"]
# Those of the chapter's figure 4.12 (scenarios): with pointers, and with indirect accesses.
OF_SCENARIOS = ["fdtd", "seidel", "jacobi1d", "jacobi2d", "gemm", "tmv"]
OF_SCENARIOS += ["saxpy", "house", "ipvec", "ger", "gemver", "fwd", "sor"]
# Bytes that an application's arrays take: so many times a power of its size (where it is large; sparse matrices have a least row).
MEMORY = {
    "fdtd": (12.0, 2),
    "seidel": (24.0, 2),
    "jacobi1d": (12.0, 1),
    "jacobi2d": (12.0, 2),
    "gemm": (16.0, 2),
    "tmv": (4.0, 2),
    "vector_add": (16.0, 1),
    "saxpy": (12.0, 1),
    "house": (20.0, 1),
    "ipvec": (20.0, 1),
    "ger": (0.18, 2),
    "gemver": (0.27, 2),
    "fwd": (0.081, 2),
    "csr_forward": (0.121, 2),
    "sor": (0.121, 2),
    "lattice": (16.0, 4),
    "rayleigh": (149.0, 1),
    "histogram": (2.0, 2),
    "convolution": (2.0, 2),
    "nbody": (80.0, 1),
    "mandelbrot": (4.0, 2),
    "spmv": (500.0, 1),
    "heat": (16.0, 3),
    "matrices": (192.0, 1),
    "search": (412.0, 1),
}
BY_NAME = {application.name: application for application in APPLICATIONS}


@dataclass(frozen=True)
class Column:
    """A way of building an application and of running it."""

    name: str
    # For tables and plots.
    title: str
    # What its program's name ends with in BUILT, and what is set in its environment.
    program: str
    environment: dict[str, str] = field(default_factory=dict)
    # The first repetition starts threads, opens the GPU or compiles kernels: it is told apart, and no part of the median.
    warms_up: bool = True
    repetitions: int = 6
    # So many repetitions are made, however long they take, and no more once so many seconds are over.
    least: int = 4
    seconds: float = 3.0
    timeout: float = 20.0
    # Whether each kernel is run several times where the program launches it, with cold caches and again and again, by benches/replays.cpp, and only that is measured.
    replays: bool = False

    @property
    def is_paragon(self) -> bool:
        """Whether Paragon built it."""
        return self.program == "paragon"

    @property
    def takes_turns(self) -> bool:
        """Whether only the GPU is measured, so that other programs may make their inputs meanwhile."""
        return self.is_paragon and self.needs_gpu

    @property
    def needs_gpu(self) -> bool:
        """Whether there is nothing to measure without a GPU."""
        return self.environment.get("PARAGON_DEVICE") == "cuda" or self.program == "unsafe"


def on_cuda(log: str) -> dict[str, str]:
    """Every loop on the GPU, and what it says stands."""
    return {"PARAGON_DEVICE": "cuda", "PARAGON_RACE": "device", "PARAGON_MONITOR": "off", "PARAGON_LOG": log}


LEARNS = on_cuda("auto") | {"PARAGON_INSPECTIONS": "off"}
COLUMNS = [
    Column("cc", "cc -O3", "cc", warms_up=False, repetitions=5, least=3, seconds=2.0, timeout=40.0),
    Column("openmp", "OpenMP", "openmp"),
    Column("gcc-parallel", "gcc's parallelizer", "gcc-parallel"),
    Column("polly", "Polly", "polly"),
    Column("unsafe", "hand-written CUDA", "unsafe", timeout=40.0),
    # As a user has it: the first entries decide where the later ones run.
    Column("paragon", "Paragon", "paragon", repetitions=8, least=5, seconds=5.0, timeout=40.0),
    Column("paragon-threads", "Paragon, threads only", "paragon", {"PARAGON_DEVICE": "threads"}),
    Column("paragon-cuda", "Paragon, GPU only", "paragon", on_cuda("auto"), repetitions=5, seconds=1.5, timeout=40.0),
    # The first entry is logged where nothing is proven; what it has shown later ones make use of.
    Column("paragon-cuda-learnt", "Paragon, GPU only, no inspections", "paragon", LEARNS, repetitions=5, least=3, seconds=1.0),
    *(
        Column(f"paragon-cuda-{log}", f"Paragon, GPU only, {log} log", "paragon", on_cuda(log), repetitions=5, least=3, seconds=1.0)
        for log in LOGS
    ),
    # What the first two entries have shown makes the third one what all later ones are.
    Column("paragon-cuda-again", "Paragon, GPU only, replayed", "paragon", on_cuda("auto"), repetitions=3, least=3, seconds=1.0, timeout=40.0, replays=True),
    Column("paragon-cuda-bitmap-again", "Paragon, GPU only, bitmap log, replayed", "paragon", on_cuda("bitmap"), repetitions=3, least=3, seconds=1.0, timeout=40.0, replays=True),
]
BY_COLUMN = {column.name: column for column in COLUMNS}
