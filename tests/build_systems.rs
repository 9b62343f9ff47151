//! Whole projects built by build systems that know nothing of Paragon: they take it for gcc, their checks give what they
//! give with gcc, and the programs' loops are rewritten. A test whose tool is not installed says so and passes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const PARAGON: &str = env!("CARGO_BIN_EXE_paragon-cc");
/// What rewritten files contain and others don't.
const MARK: &[u8] = b"libparagon_rt.so";

const SCALE: &str = "#include \"scale.h\"\nvoid scale(double *a, const double *b, double factor, int n)\n{\n  for (int i = 0; i < n; i++)\n    a[i] = factor * b[i];\n}\n";
const HEADER: &str = "void scale(double *, const double *, double, int);\n";
const MAIN: &str = "#include <stdio.h>\n#include \"scale.h\"\nstatic double a[9999], b[9999];\nint main(void)\n{\n  for (int i = 0; i < 9999; i++)\n    b[i] = i;\n  scale(a, b, 0.5, 9999);\n  printf(\"%g\\n\", a[9998]);\n  return 0;\n}\n";

/// A fresh project with the C files and `files`.
fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("scale.c", SCALE), ("scale.h", HEADER), ("main.c", MAIN)].iter().chain(files) {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn missing(tools: &[&str]) -> bool {
    let absent = tools.iter().find(|tool| Command::new(tool).arg("--version").output().is_err());
    if let Some(tool) = absent {
        eprintln!("skipped: {tool} is not installed");
    }
    absent.is_some()
}

fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } =
        command.env_remove("CFLAGS").env_remove("PARAGON_CC").output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert!(status.success(), "{command:?}: {status}\n{said}\n{errors}");
    said.into_owned()
}

fn is_rewritten(path: &Path) -> bool {
    fs::read(path).unwrap().windows(MARK.len()).any(|window| window == MARK)
}

#[test]
fn cmake() {
    if missing(&["cmake", "make"]) {
        return;
    }
    let lists = "cmake_minimum_required(VERSION 3.16)\nproject(scale C)\ninclude(CheckCSourceCompiles)\ninclude(CheckIPOSupported)\ncheck_c_source_compiles(\"int main(void) { return 0; }\" WORKS)\ncheck_c_source_compiles(\"#error no\" FAILS)\nif(NOT WORKS OR FAILS OR NOT CMAKE_C_COMPILER_ID STREQUAL GNU)\n  message(FATAL_ERROR \"${CMAKE_C_COMPILER_ID} ${WORKS} ${FAILS}\")\nendif()\nadd_library(scale SHARED scale.c)\nadd_library(fixed STATIC scale.c)\nadd_executable(dynamic main.c)\ntarget_link_libraries(dynamic scale)\nadd_executable(static main.c)\ntarget_link_libraries(static fixed)\n";
    let folder = project(&[("CMakeLists.txt", lists)]);
    let build = folder.path().join("build");
    let toolchain = concat!(env!("CARGO_MANIFEST_DIR"), "/cmake/paragon-toolchain.cmake");
    run(Command::new("cmake").arg("-S").arg(folder.path()).arg("-B").arg(&build).args([
        "-DCMAKE_BUILD_TYPE=Release".to_string(),
        format!("-DCMAKE_TOOLCHAIN_FILE={toolchain}"),
        format!("-DPARAGON_COMPILER={PARAGON}"),
    ]));
    run(Command::new("cmake").arg("--build").arg(&build).args(["--parallel", "2"]));
    for (program, library) in [("dynamic", "libscale.so"), ("static", "libfixed.a")] {
        assert_eq!(run(&mut Command::new(build.join(program))), "4999\n");
        assert!(is_rewritten(&build.join(library)), "{library}");
    }
    // A touched header is noticed: dependencies were written where they are expected.
    fs::write(folder.path().join("scale.h"), format!("{HEADER}/* changed */\n")).unwrap();
    let said = run(Command::new("cmake").arg("--build").arg(&build));
    assert!(said.contains("scale.c.o"), "{said}");
}

#[test]
fn autotools() {
    if missing(&["autoreconf", "automake", "make"]) {
        return;
    }
    let folder = project(&[
        (
            "configure.ac",
            "AC_INIT([scale], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAC_CHECK_HEADERS([math.h nonsense.h])\nAC_CHECK_FUNCS([printf nonsense])\nAC_CHECK_SIZEOF([long])\nAC_C_INLINE\nAC_C_RESTRICT\nAC_CONFIG_HEADERS([config.h])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
        ),
        ("Makefile.am", "bin_PROGRAMS = scale\nscale_SOURCES = main.c scale.c scale.h\n"),
    ]);
    run(Command::new("autoreconf").arg("-i").current_dir(folder.path()));
    let configured = |compiler: &str, name: &str| {
        let build = folder.path().join(name);
        fs::create_dir(&build).unwrap();
        run(Command::new("../configure").env("CC", compiler).current_dir(&build));
        build
    };
    let build = configured(PARAGON, "build");
    let reference = configured("gcc", "reference");
    let header = |build: &Path| fs::read_to_string(build.join("config.h")).unwrap();
    assert_eq!(header(&build), header(&reference));
    run(Command::new("make").arg("-j2").current_dir(&build));
    assert_eq!(run(&mut Command::new(build.join("scale"))), "4999\n");
    assert!(is_rewritten(&build.join("scale.o")));
}

#[test]
fn meson() {
    if missing(&["meson", "ninja"]) {
        return;
    }
    let description = "project('scale', 'c', default_options: ['buildtype=release', 'warning_level=3'])\ncompiler = meson.get_compiler('c')\nassert(compiler.get_id() == 'gcc')\nassert(compiler.has_header('math.h') and not compiler.has_header('nonsense.h'))\nassert(compiler.sizeof('long') == 8)\nassert(not compiler.has_argument('-fnonsense'))\nexecutable('scale', 'main.c', 'scale.c')\n";
    let folder = project(&[("meson.build", description)]);
    let build = folder.path().join("build");
    run(Command::new("meson").arg("setup").args([&build, folder.path()]).env("CC", PARAGON));
    run(Command::new("ninja").arg("-C").arg(&build));
    assert_eq!(run(&mut Command::new(build.join("scale"))), "4999\n");
    assert!(is_rewritten(&build.join("scale.p/scale.c.o")));
}

#[test]
fn ccache() {
    if missing(&["ccache"]) {
        return;
    }
    let folder = project(&[]);
    let ccache = || {
        let mut command = Command::new("ccache");
        command.current_dir(folder.path()).env("CCACHE_DIR", folder.path().join("cache"));
        command
    };
    let compile = || {
        run(ccache().args([PARAGON, "-O2", "-MD", "-c", "scale.c", "-o", "scale.o"]));
        assert!(is_rewritten(&folder.path().join("scale.o")));
        (fs::read(folder.path().join("scale.o")).unwrap(), fs::read(folder.path().join("scale.d")).unwrap())
    };
    let first = compile();
    fs::remove_file(folder.path().join("scale.o")).unwrap();
    assert!(first == compile(), "the cache gives something else");
    let statistics = run(ccache().arg("--print-stats"));
    let hits = |name: &str| statistics.lines().any(|line| line == format!("{name}\t1"));
    assert!(hits("direct_cache_hit") || hits("preprocessed_cache_hit"), "{statistics}");
}

#[test]
fn wrapper_of_openmpi() {
    if missing(&["mpicc"]) {
        return;
    }
    let folder = project(&[]);
    let mut mpicc = Command::new("mpicc");
    run(mpicc.args(["-O2", "-c", "scale.c"]).current_dir(folder.path()).env("OMPI_CC", PARAGON));
    assert!(is_rewritten(&folder.path().join("scale.o")));
    let mut mpicc = Command::new("mpicc");
    run(mpicc
        .args(["-O2", "main.c", "scale.o", "-o", "scale"])
        .current_dir(folder.path())
        .env("OMPI_CC", PARAGON));
    assert_eq!(run(&mut Command::new(folder.path().join("scale"))), "4999\n");
}
