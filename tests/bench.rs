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

/// Kernels of saxpy, and of the loops that make its input, in all variants, run and put back in front of each launch: the program has its results all the
//same, and each
/// launch has a time for each. With a table that isn't there for kernels without logs, a variant would store elsewhere; with memory that isn't put back, a
//log would
/// have entries of another run, and the array other values. The same where a kernel runs with cold caches, and again and again.
#[test]
fn kernels_are_timed_in_all_variants_and_leave_what_the_program_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let source = |name: &str| Path::new(ROOT).join(name);
    let gpu = EmulatedGpu::build(&source("c-tests/emulated_gpu"), &at("emulated GPU"));
    std::fs::create_dir(at("instruments")).unwrap();
    for (file, library) in [("without.cpp", "libnvrtc.so.13"), ("replays.cpp", "libcuda.so")] {
        let mut command = Command::new("c++");
        command.args(["-std=c++17", "-O2", "-fPIC", "-shared", "-o"]).arg(at("instruments").join(library));
        printed(command.arg(source("benches").join(file)).arg("-ldl"));
    }
    let mut compiler = Command::new(env!("CARGO_BIN_EXE_paragon-cc"));
    compiler.args(["-O2", "-fparagon-threshold=1", "-include"]).arg(source("benches/repetitions.h"));
    printed(compiler.arg(source("c-tests/chapter/saxpy.c")).arg("-o").arg(at("saxpy")).arg("-lm"));

    // Lines of results; those of repetitions have times.
    let results = |said: String| {
        said.lines().filter(|line| line.starts_with("bits")).map(String::from).collect::<Vec<_>>()
    };
    let program = || {
        let mut program = Command::new(at("saxpy"));
        program.args(["--size", "301", "--input", "clean", "--repeat", "2"]);
        program
    };
    let expected = results(printed(program().env("PARAGON_DEVICE", "off")));
    assert_eq!(expected.len(), 3);
    let variants = "whole:;finding arrays:tables,widest;as few warps:widest;no read log:read-log;no logs:read-log,write-log;\
                    kernel alone:read-log,write-log,range-check";
    let names = ["whole", "finding arrays", "as few warps", "no read log", "no logs", "kernel alone"];
    for (variants, log, again, names) in [
        (variants, "bitmap", "0", &names[..]),
        ("", "auto", "3", &["cold", "again"]),
        ("", "bitmap", "0", &["cold"]),
    ] {
        let mut run = program();
        gpu.apply(&mut run);
        run.env("BENCH_NVRTC", at("emulated GPU/libnvrtc.so.13"))
            .env("BENCH_CUDA", at("emulated GPU/libcuda.so"))
            .env("PARAGON_NVRTC", at("instruments"))
            .env("LD_LIBRARY_PATH", at("instruments"))
            .env("BENCH_REPLAYS", at("replays"))
            .env("EMULATED_CALLS", at("calls"))
            .env("XDG_CACHE_HOME", at(&format!("cache-{}", names.len())));
        run.envs([
            ("BENCH_VARIANTS", variants),
            ("BENCH_ROUNDS", "2"),
            ("BENCH_AGAIN", again),
            ("BENCH_COLD", "2"),
        ]);
        run.envs([("PARAGON_DEVICE", "cuda"), ("PARAGON_RACE", "device"), ("PARAGON_MONITOR", "off")]);
        run.envs([("PARAGON_LOG", log), ("PARAGON_PATIENCE", "600000"), ("BENCH_LEAST_COPIED", "0")])
            .env("PARAGON_TRACE", at("trace"));
        assert_eq!(results(printed(&mut run)), expected, "{log}");
        let trace = std::fs::read_to_string(at("trace")).unwrap();
        let on_gpu = trace.lines().filter(|line| line.contains(r#""decision":"cuda""#));
        let of_saxpy = on_gpu.clone().filter(|line| line.contains(r#""function":"saxpy""#));
        assert_eq!(of_saxpy.clone().count(), 2, "{log}: {trace}");
        assert!(of_saxpy.clone().all(|line| line.contains(r#""fail":[]"#)), "{log}: {trace}");
        let replays = std::fs::read_to_string(at("replays")).unwrap();
        assert!(replays.lines().count() >= on_gpu.count(), "{log}");
        for line in replays.lines() {
            let has = |name: &&str| line.contains(&format!("\"{name}\":["));
            assert!(names.iter().all(has), "{log}: {line}");
        }
        // Variants run behind copies of memory, each of them, as what runs with cold caches does; what runs again and again runs behind itself.
        let calls = std::fs::read_to_string(at("calls")).unwrap();
        let calls: Vec<&str> = calls.lines().filter(|call| !call.starts_with("cuEvent")).collect();
        let behind = |what: &str| {
            calls
                .windows(2)
                .filter(|two| two[0].starts_with(what) && two[1].starts_with("cuLaunchKernel "))
                .count()
        };
        let mut least =
            vec![(2 * names.iter().filter(|name| **name != "again").count(), "cuMemcpyDtoDAsync")];
        least.extend((again == "3").then_some((3, "cuLaunchKernel ")));
        for (least, what) in least {
            assert!(behind(what) >= least * replays.lines().count(), "{log}: {}", behind(what));
        }
        for file in ["trace", "replays", "calls"] {
            std::fs::remove_file(at(file)).unwrap();
        }
    }
}

/// Has benches/bench-prepare.py write saxpy and its headers as they are measured, in a folder: loops that make inputs or hash results are left alone. Prints where it is.
const MEASURED_SAXPY: &str = r#"
import importlib.util, pathlib, sys
root, folder = sys.argv[1:]
sys.path.insert(0, root + "/benches")
specification = importlib.util.spec_from_file_location("prepare", root + "/benches/bench-prepare.py")
prepare = importlib.util.module_from_spec(specification)
specification.loader.exec_module(prepare)
prepare.SOURCES = pathlib.Path(folder)
builder = prepare.Builder(1, "")
builder.add_headers()
print(builder.measured_source(prepare.BY_NAME["saxpy"]), end="")
"#;

/// saxpy between two loops, on the emulated GPU, which speculates: what cc's program prints behind each scenario, without a conflict and with one. Loop2 runs on the GPU unless there is a
/// conflict, which its logs find; the neighbours do where a scenario has them do-all, and nowhere else. What stays on the GPU is seen by neighbours that are sequential.
#[test]
fn scenarios_have_the_results_of_cc_and_are_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let source = |name: &str| Path::new(ROOT).join(name);
    let gpu = EmulatedGpu::build(&source("c-tests/emulated_gpu"), &at("emulated GPU"));
    let sources = at("sources");
    let saxpy = printed(Command::new("python3").args(["-c", MEASURED_SAXPY, ROOT]).arg(&sources));
    let compilers = [
        (Command::new("cc"), "cc", &[][..]),
        (Command::new(env!("CARGO_BIN_EXE_paragon-cc")), "paragon", &["-fparagon-threshold=1"][..]),
    ];
    for (mut compiler, program, options) in compilers {
        compiler.arg("-O2").args(options).arg("-include").arg(sources.join("benches/scenarios.h"));
        printed(compiler.arg(&saxpy).arg("-o").arg(at(program)).arg("-lm"));
    }
    let program = |name: &str, input: &str, scenarios: &str| {
        let mut program = Command::new(at(name));
        program.args(["--size", "3001", "--repeat", "3", "--input", input]);
        program.env("BENCH_SCENARIOS", scenarios).env("PARAGON_HISTORY", "off");
        program
    };
    let hashes = |said: String| {
        said.lines().filter(|line| line.starts_with("after")).map(String::from).collect::<Vec<_>>()
    };
    for input in ["clean", "one"] {
        let expected = hashes(printed(&mut program("cc", input, "abcd")));
        // Behind the first repetition and the last one of each; Loop3's form shows, Loop1's doesn't.
        assert_eq!(expected.len(), 8, "{expected:?}");
        let of = |number: usize| &expected[number]["after a ".len()..];
        let same = [(0, 1), (0, 6), (0, 7), (2, 3), (2, 4), (2, 5)].map(|(one, other)| of(one) == of(other));
        assert_eq!((same, of(0) == of(2)), ([true; 6], false), "{expected:?}");
        for (number, letter) in ["a", "b", "c", "d"].into_iter().enumerate() {
            for staying in ["off", "on"] {
                let mut run = program("paragon", input, letter);
                gpu.apply(&mut run);
                run.envs([
                    ("PARAGON_DEVICE", "cuda"),
                    ("PARAGON_RACE", "device"),
                    ("PARAGON_MONITOR", "off"),
                ]);
                run.envs([("PARAGON_INSPECTIONS", "off"), ("PARAGON_STAYING", staying)]);
                run.env("PARAGON_PATIENCE", "600000").env("PARAGON_TRACE", at("trace"));
                let said = hashes(printed(&mut run));
                assert_eq!(said, expected[2 * number..2 * number + 2], "{input}, {letter}, {staying}");
                let trace = std::fs::read_to_string(at("trace")).unwrap();
                std::fs::remove_file(at("trace")).unwrap();
                let entries = |function: &str, word: &str| {
                    let of = format!(r#""function":"{function}""#);
                    trace.lines().filter(|line| line.contains(&of) && line.contains(word)).count()
                };
                let on_gpu = r#""decision":"cuda""#;
                let (ran, failed) = if input == "clean" { (3, 0) } else { (0, 3) };
                assert_eq!(entries("saxpy", on_gpu), ran, "{input}, {letter}: {trace}");
                assert_eq!(entries("saxpy", r#""fail":[""#), failed, "{input}, {letter}: {trace}");
                // Two arrays of values.
                let neighbours = 2 * 3 * [0, 2, 1, 1][number];
                assert_eq!(entries("scenario_scale_floats", on_gpu), neighbours, "{letter}: {trace}");
                assert_eq!(entries("scenario_filter_floats", on_gpu), 0, "{letter}: {trace}");
            }
        }
    }
}
