//! What `make bench` makes of numbers, how it runs programs, and what it leaves out of kernels to tell apart what the parts of checks cost.

#[path = "support/emulated_gpu.rs"]
mod emulated_gpu;

use emulated_gpu::EmulatedGpu;
use std::path::Path;
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// What a command prints; it has to end well.
fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {} {said}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn measurements_are_counted_and_run_as_they_should_be() {
    printed(Command::new("python3").arg(Path::new(ROOT).join("benches/test_bench.py")));
}

/// Kernels of saxpy, and of the loops that make its input, without each part of the checks: all of them run, and none of them stores elsewhere, which would end or
/// change the program, though nobody uses their results. With a table that wasn't there for kernels without logs, one did.
#[test]
fn kernels_without_parts_of_the_checks_run_and_hurt_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let source = |name: &str| Path::new(ROOT).join(name);
    let gpu = EmulatedGpu::build(&source("c-tests/emulated_gpu"), &at("emulated GPU"));
    std::fs::create_dir(at("without")).unwrap();
    let mut library = Command::new("c++");
    library.args(["-std=c++17", "-O2", "-fPIC", "-shared", "-o"]).arg(at("without/libnvrtc.so.13"));
    printed(library.arg(source("benches/without.cpp")).arg("-ldl"));
    let mut compiler = Command::new(env!("CARGO_BIN_EXE_paragon-cc"));
    compiler.args(["-O2", "-fparagon-threshold=1", "-include"]).arg(source("benches/repetitions.h"));
    printed(compiler.arg(source("c-tests/chapter/saxpy.c")).arg("-o").arg(at("saxpy")).arg("-lm"));

    // Lines of results; those of repetitions have times.
    let results = |said: String| {
        said.lines().filter(|line| line.starts_with("bits")).map(String::from).collect::<Vec<_>>()
    };
    let program = || {
        let mut program = Command::new(at("saxpy"));
        program.args(["--size", "3001", "--input", "clean", "--repeat", "2"]);
        program
    };
    let expected = results(printed(program().env("PARAGON_DEVICE", "off")));
    assert_eq!(expected.len(), 3);
    for without in ["", "tables", "read-log", "read-log,write-log", "read-log,write-log,range-check"] {
        let mut run = program();
        gpu.apply(&mut run);
        run.env("BENCH_NVRTC", at("emulated GPU/libnvrtc.so.13")).env("PARAGON_NVRTC", at("without"));
        run.env("BENCH_WITHOUT", without).env("XDG_CACHE_HOME", at(&format!("cache-{without}")));
        run.envs([("PARAGON_DEVICE", "cuda"), ("PARAGON_RACE", "worker"), ("PARAGON_MONITOR", "off")]);
        run.envs([("PARAGON_LOG", "bitmap"), ("PARAGON_PATIENCE", "600000")])
            .env("PARAGON_TRACE", at("trace"));
        assert_eq!(results(printed(&mut run)), expected, "without {without:?}");
        let trace = std::fs::read_to_string(at("trace")).unwrap();
        let ran =
            |line: &&str| line.contains(r#""function":"saxpy""#) && !line.contains(r#""execute_ns":0,"#);
        assert_eq!(trace.lines().filter(ran).count(), 2, "without {without:?}: {trace}");
        std::fs::remove_file(at("trace")).unwrap();
    }
}
