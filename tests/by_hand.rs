//! Programs that use the runtime without the compiler: `examples/saxpy-by-hand.c`, built as a stranger builds it, from what `make install` has put
//! somewhere, by pkg-config and by CMake. The trace says who has run its loops; what is wrong with a description is refused, and the loop runs as it stood.

#[path = "support/emulated_gpu.rs"]
mod emulated_gpu;

use emulated_gpu::EmulatedGpu;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const EXAMPLE: &str = include_str!("../examples/saxpy-by-hand.c");

/// Loops of the example, in their order.
const ENTRIES: [&str; 7] =
    ["saxpy", "scatter", "saxpy", "scatter", "saxpy", "scatter", "scatter with a conflict"];

fn succeeds(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    output
}

/// What `make install` puts under `destination`, for a prefix.
fn install(destination: &Path, prefix: &Path) {
    let built = Path::new(env!("CARGO_BIN_EXE_paragon-cc")).parent().unwrap();
    let variable = |name: &str, value: &Path| format!("{name}={}", value.display());
    succeeds(Command::new("make").current_dir(ROOT).args(["--no-print-directory", "put"]).args([
        variable("BUILT", built),
        variable("DESTDIR", destination),
        variable("PREFIX", prefix),
    ]));
}

/// A folder in which the runtime is installed, and programs are built.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// Installed by DESTDIR for a prefix that is elsewhere, as packages are made.
    fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        install(&place.at("destination"), Path::new("/opt/paragon"));
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn library(&self) -> PathBuf {
        self.at("destination/opt/paragon/lib/libparagon_rt.so")
    }

    /// Builds a text with what pkg-config says. Of the example's own the compiler has nothing to say.
    fn build(&self, name: &str, text: &str) -> PathBuf {
        let source = self.at(&format!("{name}.c"));
        std::fs::write(&source, text).unwrap();
        let mut shell = Command::new("sh");
        shell.arg("-ec").current_dir(self.folder.path()).arg(
            "cc -std=gnu11 $2 -ffp-contract=off \"$1.c\" $(pkg-config --cflags --libs paragon) -o \"$1\"",
        );
        shell
            .args(["sh", name, if text == EXAMPLE { "-O2 -Wall -Wextra" } else { "-O0" }])
            .env("PKG_CONFIG_SYSROOT_DIR", self.at("destination"));
        shell.env("PKG_CONFIG_PATH", self.at("destination/opt/paragon/lib/pkgconfig"));
        assert!(succeeds(&mut shell).stderr.is_empty(), "{shell:?}");
        self.at(name)
    }

    /// A program that has the runtime of this folder, which does what is asked for instead of what would pay.
    fn program(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PARAGON_"))
        {
            command.env_remove(name);
        }
        command.env("PARAGON_RT", self.library()).env("PARAGON_TRACE", self.at("trace"));
        command.env("PARAGON_THREADS", "4").env("PARAGON_RACE", "device").env("PARAGON_MONITOR", "off");
        command
            .env("PARAGON_MEMORY", "separate")
            .env("PARAGON_HISTORY", "off")
            .env("PARAGON_DEVICE", "threads");
        command
    }
}

/// Runs a program: what it says of each entry, and records of the trace. It ends well, and nothing is said on stderr.
fn run(place: &Place, command: &mut Command) -> (Vec<String>, Vec<Value>) {
    let _ = std::fs::remove_file(place.at("trace"));
    let output = succeeds(command);
    assert!(output.stderr.is_empty(), "{command:?}: {output:?}");
    let lines = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    let trace = std::fs::read_to_string(place.at("trace")).unwrap_or_default();
    (lines, trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// What the example says where each entry is run by the one that `who` names.
fn said(first: &str, who: impl Fn(&str) -> &'static str) -> Vec<String> {
    let entries = ENTRIES.iter().map(|entry| format!("{entry}: {}, right", who(entry)));
    [first.to_owned()].into_iter().chain(entries).collect()
}

/// Whether the device has run all entries but the last, whose conflict was found.
fn is_of_device(records: &[Value], device: &str) -> bool {
    let is = |record: &Value, name: &str, text: &str| record[name] == text;
    let [clean @ .., conflict] = records else { return false };
    clean.len() == 6
        && clean.iter().all(|record| is(record, "decision", device) && is(record, "device", device))
        && is(conflict, "decision", "worker")
        && conflict["why"].as_str().unwrap().contains("conflict")
}

fn has_pkg_config() -> bool {
    let is_there = Command::new("pkg-config").arg("--version").output().is_ok();
    if !is_there {
        eprintln!("skipped: pkg-config is not installed");
    }
    is_there
}

#[test]
fn a_program_by_hand_runs_on_devices_and_without_a_runtime() {
    if !has_pkg_config() {
        return;
    }
    let place = Place::new();
    let program = place.build("saxpy", EXAMPLE);
    let everywhere = said("the runtime is here", |_| "the runtime");
    let nowhere = said("no runtime", |_| "as it stood");

    // On threads, whose memory is their own, so that what they have stored is copied back.
    for log in ["auto", "atomic", "reduction", "bitmap", "stamp"] {
        let (lines, records) = run(&place, place.program(&program).env("PARAGON_LOG", log));
        assert_eq!(lines, everywhere, "{log}");
        assert!(is_of_device(&records, "threads"), "{log}: {records:#?}");
        assert!(records.iter().all(|record| record["bytes_in"].as_u64().unwrap() >= 8 << 20), "{records:#?}");
    }
    // On a GPU, from the same text.
    std::fs::create_dir(place.at("gpu")).unwrap();
    let gpu = EmulatedGpu::build(&Path::new(ROOT).join("c-tests/emulated_gpu"), &place.at("gpu"));
    for log in ["auto", "bitmap", "stamp"] {
        let mut command = place.program(&program);
        gpu.apply(command.arg("20000").env("PARAGON_DEVICE", "cuda").env("PARAGON_LOG", log));
        let (lines, records) = run(&place, &mut command);
        assert_eq!(lines, everywhere, "{log}");
        assert!(is_of_device(&records, "cuda"), "{log}: {records:#?}");
    }
    // By default the runtime has a loop run wherever it is fastest, so anything may happen; but nothing wrong.
    let mut command = place.program(&program);
    for name in ["RACE", "MONITOR", "MEMORY", "DEVICE"] {
        command.env_remove(format!("PARAGON_{name}"));
    }
    let (lines, _) = run(&place, &mut command);
    assert!(lines.iter().skip(1).all(|line| line.ends_with(", right")), "{lines:?}");
    // Short loops don't even ask.
    let (lines, records) = run(&place, place.program(&program).arg("9999"));
    assert_eq!(lines, said("the runtime is here", |_| "as it stood"));
    assert!(records.is_empty(), "{records:#?}");
    // No library, one that is none, one that is switched off.
    std::fs::write(place.at("empty.so"), "").unwrap();
    for (name, value) in [
        ("PARAGON_RT", "/nowhere/libparagon_rt.so"),
        ("PARAGON_RT", place.at("empty.so").to_str().unwrap()),
        ("PARAGON_RT", "libm.so.6"),
        ("PARAGON_DEVICE", "off"),
    ] {
        let (lines, records) = run(&place, place.program(&program).env(name, value));
        assert_eq!(lines, nowhere, "{name}={value}");
        assert!(records.is_empty());
    }
}

/// The example's text with one piece changed, which stands there so many times.
fn planted(piece: &str, instead: &str, times: usize) -> String {
    assert_eq!(EXAMPLE.matches(piece).count(), times, "{piece}");
    EXAMPLE.replacen(piece, instead, 1)
}

#[test]
fn what_is_described_wrongly_is_refused() {
    if !has_pkg_config() {
        return;
    }
    let place = Place::new();
    // Another version is as no runtime.
    for wrong in ["PG_ABI_VERSION + 1", "PG_ABI_VERSION - 1", "0", "0xffffffffu"] {
        let text = planted("attach(PG_ABI_VERSION, 0)", &format!("attach({wrong}, 0)"), 1);
        let (lines, records) = run(&place, place.program(&place.build("version", &text)).arg("20000"));
        assert_eq!(lines, said("no runtime", |_| "as it stood"), "{wrong}");
        assert!(records.is_empty());
    }
    // One loop's description is wrong: that loop is as without a runtime, the other one is not.
    for (piece, instead, times) in [
        (".abi = PG_ABI_VERSION,", ".abi = PG_ABI_VERSION + 1,", 2),
        (".abi = PG_ABI_VERSION,", ".abi = 0,", 2),
        (".verdict = PG_POSSIBLY_PARALLEL,", ".verdict = 3,", 2),
        (".check = PG_CHECK_PREDICATE,", ".check = 4,", 1),
        (".n_dims = 1,", ".n_dims = 0,", 2),
        (".n_dims = 1,", ".n_dims = PG_MAX_DIMS + 1,", 2),
        (
            "{ 1, 4, PG_SITE_LOGGED | AFFINE, __LINE__, 0 },                 /* x[i] */",
            "{ 1, 3, PG_SITE_LOGGED | AFFINE, __LINE__, 0 },",
            1,
        ),
        (
            "{ 1, 4, PG_SITE_LOGGED | AFFINE, __LINE__, 0 },                 /* x[i] */",
            "{ 2, 4, PG_SITE_LOGGED | AFFINE, __LINE__, 0 },",
            1,
        ),
        // It follows a pointer that it loads itself.
        (
            "{ 1, 4, PG_SITE_LOGGED | AFFINE, __LINE__, 0 },                 /* x[i] */",
            "{ 1, 4, PG_SITE_LOGGED | AFFINE, __LINE__, 3 },",
            1,
        ),
        // It is said of it where it lies, and that only what it follows tells.
        (
            "{ 1, 4, PG_SITE_LOGGED | AFFINE, __LINE__, 0 },                 /* x[i] */",
            "{ 1, 4, PG_SITE_LOGGED | AFFINE, __LINE__, 1 },",
            1,
        ),
        ("{ 0, 2, PG_CHECK_PREDICATE }", "{ 0, 3, PG_CHECK_PREDICATE }", 1),
        ("  .sites = saxpy_sites,\n", "", 1),
        ("  .pairs = saxpy_pairs,\n", "  .pairs = saxpy_pairs, .n_results = 1,\n", 1),
        ("  .pairs = saxpy_pairs,\n", "  .pairs = saxpy_pairs, .n_keys = 1,\n", 1),
        (".values = values, ", "", 2),
        (".bases = bases, ", "", 2),
        (", .accesses = accesses };", " };", 2),
        (".trip = { n, 1, 1, 1 }", ".trip = { n, 0, 1, 1 }", 2),
        (".trip = { n, 1, 1, 1 }", ".trip = { -n, 1, 1, 1 }", 2),
    ] {
        let text = planted(piece, instead, times);
        let (lines, records) = run(&place, place.program(&place.build("wrong", &text)).arg("20000"));
        let who = |entry: &str| if entry == "saxpy" { "as it stood" } else { "the runtime" };
        assert_eq!(lines, said("the runtime is here", who), "{instead}");
        let ran = records.iter().filter(|record| record["function"] == "saxpy");
        assert!(ran.into_iter().all(|record| record["decision"] == "sequential"), "{instead}: {records:#?}");
    }
}

/// What is installed is whole: the headers include nothing that isn't, in C and in C++, and CMake finds it where it was put.
#[test]
fn what_is_installed_is_found() {
    let place = Place { folder: tempfile::tempdir().unwrap() };
    let prefix = place.at("prefix");
    install(Path::new(""), &prefix);
    let headers = prefix.join("include/paragon");
    for (compiler, standard, header) in [
        ("cc", "-std=c89", "paragon_rt.h"),
        ("cc", "-std=c17", "paragon_rt.h"),
        ("c++", "-std=c++17", "paragon_rt.h"),
        ("cc", "-std=gnu89", "paragon_body.h"),
        ("cc", "-std=c99", "paragon_loop.h"),
    ] {
        let file = place.at(if compiler == "c++" { "alone.cpp" } else { "alone.c" });
        // Bodies stand on what comes in front of them.
        let first = if header == "paragon_body.h" { "#include \"paragon_rt.h\"\n" } else { "" };
        std::fs::write(&file, format!("{first}#include \"{header}\"\nint unused;\n")).unwrap();
        let mut command = Command::new(compiler);
        command.args([standard, "-Wall", "-Werror", "-fsyntax-only", "-I"]).arg(&headers).arg(&file);
        succeeds(&mut command);
    }
    if Command::new("cmake").arg("--version").output().is_err() {
        eprintln!("skipped: cmake is not installed");
        return;
    }
    std::fs::write(place.at("saxpy.c"), EXAMPLE).unwrap();
    let lists = "cmake_minimum_required(VERSION 3.16)\nproject(saxpy C)\nfind_package(paragon REQUIRED)\n\
                 add_executable(saxpy saxpy.c)\ntarget_compile_options(saxpy PRIVATE -ffp-contract=off)\n\
                 target_link_libraries(saxpy PRIVATE paragon::runtime)\n";
    std::fs::write(place.at("CMakeLists.txt"), lists).unwrap();
    let build = place.at("build");
    succeeds(
        Command::new("cmake")
            .args(["-DCMAKE_BUILD_TYPE=Release", "-S"])
            .arg(place.folder.path())
            .arg("-B")
            .arg(&build)
            .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())),
    );
    succeeds(Command::new("cmake").arg("--build").arg(&build));
    // Nobody says where the runtime is: the program knows.
    let (lines, records) = run(&place, place.program(&build.join("saxpy")).env_remove("PARAGON_RT"));
    assert_eq!(lines, said("the runtime is here", |_| "the runtime"));
    assert!(is_of_device(&records, "threads"), "{records:#?}");
}
