"""Real programs that `benches/never-slower.py` builds: widely used C libraries, each with a driver of ours (benches/real/NAME.c).

Their sources are those that c-tests/crates builds, in cargo's registry. How each is compiled is what its crate's build.rs does on Linux for
x86-64, but for the level and the language, which are the measurement's own. Data, and what finds the files; nothing is built or run here.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench_applications import ROOT

DRIVERS = ROOT / "benches/real"
MANIFEST = ROOT / "c-tests/crates/Cargo.toml"


class Absent(Exception):
    """What says why a program can't be built here."""


@dataclass(frozen=True)
class Part:
    """C sources of one crate; paths are those in its folder."""

    crate: str
    # Patterns; files that any of `left_out` matches are none of them.
    sources: tuple[str, ...]
    includes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class RealProgram:
    """A library, and the driver that uses it."""

    name: str
    parts: tuple[Part, ...]
    # As on a command line, without -D.
    defines: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ("-lm",)

    @property
    def driver(self) -> Path:
        """The C file with `main`."""
        return DRIVERS / f"{self.name}.c"

    def sources(self) -> list[Path]:
        """All of its files, the driver first."""
        found = [self.driver]
        for part in self.parts:
            folder = crate_folder(part.crate)
            left_out = {path for pattern in part.left_out for path in folder.glob(pattern)}
            for pattern in part.sources:
                paths = sorted(path for path in folder.glob(pattern) if path not in left_out)
                if not paths:
                    raise Absent(f"{folder} has no {pattern}")
                found += paths
        return found

    def compiler_options(self) -> list[str]:
        """What each of its files is compiled with."""
        folders = [str(crate_folder(part.crate) / include) for part in self.parts for include in part.includes]
        # A configuration that the crate's build.rs writes.
        folders += [str(folder) for folder in [DRIVERS / self.name] if folder.is_dir()]
        return [*self.options, *(f"-D{define}" for define in self.defines), *(f"-I{folder}" for folder in folders)]


@cache
def crates() -> dict[str, Path] | str:
    """The folders of all crates that c-tests/crates needs, or why nobody knows."""
    command = ["cargo", "metadata", "--manifest-path", str(MANIFEST), "--locked", "--offline", "--format-version", "1"]
    # Crates of other platforms, which a build here never fetches, would be missing.
    command += ["--filter-platform", "x86_64-unknown-linux-gnu"]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        return "there is no cargo"
    except subprocess.CalledProcessError as error:
        return f"cargo metadata: {' '.join(error.stderr.split())}"
    return {package["name"]: Path(package["manifest_path"]).parent for package in json.loads(done.stdout)["packages"]}


def crate_folder(crate: str) -> Path:
    """Where a crate's files are."""
    known = crates()
    if isinstance(known, str):
        raise Absent(known)
    if crate not in known or not known[crate].is_dir():
        raise Absent(f"the crate {crate} isn't here")
    return known[crate]


def files(folder: str, names: str) -> tuple[str, ...]:
    """C files of a folder by their names."""
    return tuple(f"{folder}/{name}.c" for name in names.split())


SQLITE_DEFINES = """
    SQLITE_CORE SQLITE_DEFAULT_FOREIGN_KEYS=1 SQLITE_ENABLE_API_ARMOR SQLITE_ENABLE_COLUMN_METADATA SQLITE_ENABLE_DBSTAT_VTAB SQLITE_ENABLE_FTS3
    SQLITE_ENABLE_FTS3_PARENTHESIS SQLITE_ENABLE_FTS5 SQLITE_ENABLE_JSON1 SQLITE_ENABLE_LOAD_EXTENSION=1 SQLITE_ENABLE_MEMORY_MANAGEMENT SQLITE_ENABLE_RTREE
    SQLITE_ENABLE_STAT4 SQLITE_SOUNDEX SQLITE_THREADSAFE=1 SQLITE_USE_URI HAVE_USLEEP=1 HAVE_ISNAN _POSIX_THREAD_SAFE_FUNCTIONS
"""
SECP256K1_DEFINES = """
    ENABLE_MODULE_ECDH=1 ENABLE_MODULE_SCHNORRSIG=1 ENABLE_MODULE_EXTRAKEYS=1 ENABLE_MODULE_ELLSWIFT=1 ECMULT_GEN_PREC_BITS=4 ECMULT_WINDOW_SIZE=15
    USE_EXTERNAL_DEFAULT_CALLBACKS=1
"""
XZ_FOLDERS = ["common", "lzma", "lz", "check", "delta", "rangecoder", "simple"]
ZSTD_OPTIONS = ("-ffunction-sections", "-fdata-sections", "-fmerge-all-constants", "-fvisibility=hidden")

REAL_PROGRAMS = [
    RealProgram(
        "zlib",
        (
            Part(
                "libz-sys",
                files("src/zlib", "adler32 compress crc32 deflate infback inffast inflate inftrees trees uncompr zutil gzclose gzlib gzread gzwrite"),
                ("src/zlib",),
            ),
        ),
        ("STDC", "_LARGEFILE64_SOURCE"),
        ("-fvisibility=hidden",),
    ),
    # Without the older formats, which the driver doesn't use.
    RealProgram(
        "zstd",
        (
            Part(
                "zstd-sys",
                (*(f"zstd/lib/{folder}/*.c" for folder in ["common", "compress", "decompress", "dictBuilder"]), "zstd/lib/decompress/huf_decompress_amd64.S"),
                ("zstd/lib", "zstd/lib/common"),
                ("zstd/lib/common/xxhash*.c",),
            ),
        ),
        ("ZSTD_LIB_DEPRECATED=0", "XXH_PRIVATE_API=", "ZSTDLIB_VISIBILITY=", "ZDICTLIB_VISIBILITY=", "ZSTDERRORLIB_VISIBILITY="),
        ZSTD_OPTIONS,
    ),
    # The seed of its hashes, which is made from the clock and from addresses: two processes would have other collisions, and other times.
    RealProgram(
        "lua",
        (Part("lua-src", ("lua-5.4.7/*.c",), ("lua-5.4.7",)),),
        ("LUA_USE_LINUX", "LUA_COMPAT_5_3", "luai_makeseed(state)=42u"),
        ("-fno-common",),
        ("-lm", "-ldl"),
    ),
    RealProgram(
        "sqlite",
        (Part("libsqlite3-sys", ("sqlite3/sqlite3.c",), ("sqlite3",)),),
        tuple(SQLITE_DEFINES.split()),
        (),
        ("-lm", "-lpthread", "-ldl"),
    ),
    RealProgram("lz4", (Part("lz4-sys", files("liblz4/lib", "lz4 lz4frame lz4hc xxhash"), ("liblz4/lib",)),)),
    RealProgram(
        "bzip2",
        (Part("bzip2-sys", files("bzip2-1.0.8", "blocksort huffman crctable randtable compress decompress bzlib"), ("bzip2-1.0.8",)),),
        ("_FILE_OFFSET_BITS=64", "BZ_NO_STDIO"),
    ),
    RealProgram(
        "xz",
        (
            Part(
                "lzma-sys",
                (*(f"xz-5.2/src/liblzma/{folder}/*.c" for folder in XZ_FOLDERS), *files("xz-5.2/src/common", "tuklib_cpucores tuklib_physmem")),
                ("xz-5.2/src/liblzma/api", *(f"xz-5.2/src/liblzma/{folder}" for folder in XZ_FOLDERS), "xz-5.2/src/common", "."),
                ("xz-5.2/src/liblzma/**/*tablegen.c", "xz-5.2/src/liblzma/check/crc*_small.c"),
            ),
        ),
        ("HAVE_CONFIG_H=1",),
        ("-pthread",),
        ("-lpthread",),
    ),
    # Left out is what its crate leaves out: what other files include, what makes tables, and the POSIX interface.
    RealProgram(
        "oniguruma",
        (
            Part(
                "onig_sys",
                ("oniguruma/src/*.c",),
                ("oniguruma/src",),
                tuple(f"oniguruma/src/{name}.c" for name in ["koi8", "mktable", "regposerr", "regposix", "unicode_*_data", "unicode_property_data_posix"]),
            ),
        ),
        ("HAVE_UNISTD_H=1", "HAVE_SYS_TYPES_H=1", "HAVE_SYS_TIME_H=1", "HAVE_ALLOCA_H=1"),
    ),
    RealProgram(
        "libdeflate",
        (Part("libdeflate-sys", ("libdeflate/lib/*.c", *files("libdeflate/lib", "arm/cpu_features x86/cpu_features")), ("libdeflate",)),),
    ),
    # Its crate defines `printf` and SECP256K1_API as nothing, for machines without the one and users that aren't C: the driver needs both.
    RealProgram(
        "secp256k1",
        (
            Part(
                "secp256k1-sys",
                files("depend/secp256k1", "contrib/lax_der_parsing src/precomputed_ecmult_gen src/precomputed_ecmult src/secp256k1"),
                ("depend/secp256k1", "depend/secp256k1/include", "depend/secp256k1/src"),
            ),
        ),
        tuple(SECP256K1_DEFINES.split()),
    ),
    RealProgram(
        "tree-sitter",
        (
            Part("tree-sitter", ("src/lib.c",), ("src", "src/wasm", "include")),
            Part("tree-sitter-c", ("src/parser.c",), ("src",)),
        ),
        ("_POSIX_C_SOURCE=200112L", "_DEFAULT_SOURCE", "_DARWIN_C_SOURCE"),
        ("-fvisibility=hidden",),
    ),
]
