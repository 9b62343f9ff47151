//! Runs hand-written loops (`programs`, in the form of generated code) through the library, in every mode, each in
//! a process of its own, because the environment is read once. The program compares memory; the trace says what happened.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

fn library() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let candidates = [folder.join("libparagon_rt.so"), folder.parent().unwrap().join("libparagon_rt.so")];
    candidates.into_iter().find(|p| p.exists()).expect("libparagon_rt.so is built with this test")
}

/// The compiled program.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("loops-{}", std::process::id()));
        let status = Command::new("cc")
            .args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wno-int-to-pointer-cast", "-pthread", "-I"])
            .arg(root.join("include"))
            .arg(root.join("tests/programs/loops.c"))
            .args(["-ldl", "-lm", "-o"])
            .arg(&target)
            .status()
            .unwrap();
        assert!(status.success());
        target
    })
}

struct Run {
    records: Vec<Value>,
    output: String,
}

/// Runs a scenario with these settings (besides four threads); it must end with equal memory.
fn run(scenario: &[&str], settings: &[(&str, &str)]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let mut command = Command::new(program());
    command.arg(library()).args(scenario).env("PARAGON_TRACE", &trace);
    command.env("PARAGON_THREADS", "4").env("PARAGON_AT_ONCE", "on");
    for name in ["DEVICE", "LOG", "MEMORY", "RACE", "MONITOR"] {
        command.env_remove(format!("PARAGON_{name}"));
    }
    let output = command.envs(settings.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{scenario:?} {settings:?}: {:?} {text}", output.status);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let records = std::fs::read_to_string(trace).unwrap_or_default();
    let records = records.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    Run { records, output: text }
}

const ADD: u64 = 1;
const SAXPY: u64 = 2;
const MIX: u64 = 3;
const PLANTED: u64 = 4;
const SUMS: u64 = 5;
const STENCIL: u64 = 6;
const SOME: u64 = 7;
const ROWS: u64 = 8;
const BOUND: u64 = 9;
const DIVIDE: u64 = 10;
const TWO: u64 = 11;
const TWICE: u64 = 12;
const GATHER: u64 = 13;
const SLOW: u64 = 14;

impl Run {
    fn of(&self, line: u64) -> Vec<&Value> {
        self.records.iter().filter(|r| r["line"] == line).collect()
    }
    /// What was decided at each entry of a loop.
    fn decisions(&self, line: u64) -> Vec<&str> {
        self.of(line).iter().map(|r| r["decision"].as_str().unwrap()).collect()
    }
    /// Whether each entry of a loop failed its check.
    fn failures(&self, line: u64) -> Vec<bool> {
        self.of(line).iter().map(|r| !r["fail"].as_array().unwrap().is_empty()).collect()
    }
}

#[test]
fn every_mode_gives_the_sequential_results() {
    for memory in ["shared", "separate"] {
        for log in ["auto", "atomic", "reduction", "bitmap", "stamp"] {
            for race in ["auto", "device", "worker"] {
                for device in ["threads", "auto"] {
                    let settings = [
                        ("PARAGON_MEMORY", memory),
                        ("PARAGON_LOG", log),
                        ("PARAGON_RACE", race),
                        ("PARAGON_DEVICE", device),
                    ];
                    run(&["all", "2"], &settings);
                }
            }
        }
    }
}

#[test]
fn the_device_runs_what_it_should_and_its_checks_fail_where_they_should() {
    for log in ["auto", "atomic", "reduction"] {
        let settings = [
            ("PARAGON_DEVICE", "threads"),
            ("PARAGON_MEMORY", "separate"),
            ("PARAGON_RACE", "device"),
            ("PARAGON_LOG", log),
        ];
        let run = run(&["all"], &settings);
        let auto = log == "auto";
        // Overlapping arrays: a predicate refuses, a log finds out.
        let conflict = if auto { "sequential" } else { "worker" };
        assert_eq!(run.decisions(ADD), ["threads", conflict, conflict, conflict], "{log}");
        assert_eq!(run.decisions(SAXPY), ["threads", "worker", "worker"], "{log}");
        assert_eq!(run.of(SAXPY)[2]["fail"][0], "out of range", "{log}");
        assert_eq!(run.decisions(MIX), ["threads"], "{log}");
        assert_eq!(run.decisions(PLANTED), ["worker"], "{log}");
        assert_eq!(run.decisions(SUMS), ["threads"]);
        assert_eq!(run.decisions(STENCIL), ["threads"]);
        assert_eq!(run.decisions(ROWS), ["threads", "worker", "worker"], "{log}");
        assert_eq!(run.of(ROWS)[2]["fail"][0], "no array", "{log}");
        assert_eq!(run.decisions(BOUND), ["threads", "worker"], "{log}");
        assert_eq!(run.decisions(DIVIDE), ["threads", "worker"], "{log}");
        assert_eq!(run.of(DIVIDE)[1]["fail"][0], "arithmetic", "{log}");
        assert_eq!(run.decisions(TWO), ["threads"]);
        assert_eq!(run.decisions(TWICE), ["threads"]);
        assert_eq!(run.decisions(GATHER), ["threads", "worker"], "{log}");
        // The hole: memory that is not there.
        assert_eq!(run.decisions(SOME), ["threads", "worker"], "{log}");
        let method = |line: u64| run.of(line)[0]["log"].as_str().unwrap().to_string();
        assert_eq!(method(SUMS), "none");
        assert_eq!(method(TWICE), "none");
        if auto {
            assert_eq!([ADD, STENCIL, SOME, GATHER].map(method), ["none", "none", "mark", "none"]);
            assert_eq!([SAXPY, MIX].map(method), ["reduction", "atomic"]);
        } else {
            assert!([ADD, STENCIL, SOME, GATHER, SAXPY, MIX].iter().all(|l| method(*l) == log));
        }
    }
}

#[test]
fn each_entry_runs_under_all_logs_that_are_asked_for() {
    let settings = [
        ("PARAGON_DEVICE", "threads"),
        ("PARAGON_MEMORY", "separate"),
        ("PARAGON_RACE", "device"),
        ("PARAGON_LOG", "all"),
    ];
    let run = run(&["all"], &settings);
    let logs = |line: u64| -> Vec<&str> { run.of(line).iter().map(|r| r["log"].as_str().unwrap()).collect() };
    // Its one entry, from the same memory each time.
    let decisions = ["threads"; 5];
    assert_eq!(
        (logs(MIX), run.decisions(MIX)),
        (vec!["atomic", "atomic", "reduction", "atomic", "stamp"], decisions.to_vec())
    );
    // Nothing would be logged.
    assert_eq!(logs(SUMS), ["none"]);
    // What has found a conflict under one method is asked again by the next, as if it hadn't.
    let saxpy: Vec<&str> = logs(SAXPY).into_iter().filter(|log| *log == "reduction").collect();
    assert_eq!(saxpy.len(), 5, "{:?}", logs(SAXPY));
}

#[test]
fn proven_loops_run_in_place() {
    let run = run(&["all"], &[("PARAGON_DEVICE", "threads"), ("PARAGON_RACE", "device")]);
    for line in [ADD, SUMS, STENCIL, TWO, TWICE] {
        assert_eq!(run.of(line)[0]["why"], "proven parallel, in place");
    }
    assert_eq!(run.of(DIVIDE)[0]["why"], "the device was waited for");
}

#[test]
fn every_planted_conflict_is_found() {
    for log in ["atomic", "reduction"] {
        let settings = [
            ("PARAGON_DEVICE", "threads"),
            ("PARAGON_MEMORY", "separate"),
            ("PARAGON_RACE", "device"),
            ("PARAGON_LOG", log),
        ];
        let planted = run(&["planted", "1000", "7"], &settings);
        assert_eq!(planted.failures(PLANTED).len(), 1000);
        assert!(planted.failures(PLANTED).iter().all(|f| *f), "{log}");
        let clean = run(&["clean", "200", "7"], &settings);
        assert_eq!(clean.failures(MIX).len(), 200);
        assert!(!clean.failures(MIX).iter().any(|f| *f), "{log}");
    }
}

#[test]
fn races_on_large_arrays_have_one_result() {
    for race in ["auto", "device", "worker"] {
        for memory in ["shared", "separate"] {
            run(
                &["large", "3"],
                &[("PARAGON_RACE", race), ("PARAGON_MEMORY", memory), ("PARAGON_DEVICE", "threads")],
            );
        }
    }
}

#[test]
fn a_device_overtakes_a_worker_that_has_begun() {
    let run = run(&["slow", "5"], &[("PARAGON_DEVICE", "threads")]);
    let overtaken = |r: &&&Value| r["decision"] == "threads" && r["worker_iterations"].as_u64() > Some(0);
    assert!(run.of(SLOW).iter().filter(overtaken).count() > 0, "{:?}", run.records);
}

#[test]
fn conflicts_make_a_loop_sequential_for_a_while() {
    // Time between the entries, because the monitored run's report comes when it comes. A log that is asked for is not doubted.
    let run = run(&["patient", "20"], &[("PARAGON_DEVICE", "threads"), ("PARAGON_LOG", "atomic")]);
    let whys: Vec<&str> = run.of(PLANTED).iter().map(|r| r["why"].as_str().unwrap()).collect();
    // On a busy machine the device's thread may still be starting.
    let first = whys.iter().find(|why| **why != "the device's thread is not ready");
    assert!(first.is_some_and(|why| why.starts_with("monitored")), "{whys:?}");
    assert!(whys.contains(&"conflicts were found before"), "{whys:?}");
}

#[test]
fn what_logs_have_found_is_looked_at_by_a_better_one() {
    // What the store covers is read before it: only stamps are told.
    let settings =
        [("PARAGON_DEVICE", "threads"), ("PARAGON_MEMORY", "separate"), ("PARAGON_RACE", "device")];
    let run = run(&["all", "2"], &settings);
    let logs: Vec<&str> = run.of(SAXPY).iter().map(|r| r["log"].as_str().unwrap()).collect();
    assert_eq!(logs, ["reduction", "reduction", "stamp", "stamp", "stamp", "stamp"]);
    assert_eq!(run.decisions(SAXPY), ["threads", "worker", "worker", "threads", "worker", "worker"]);
}

#[test]
fn nobody_watches_what_could_not_pay() {
    let run = run(&["clean", "5"], &[("PARAGON_DEVICE", "threads")]);
    let whys: Vec<&str> = run.of(MIX).iter().map(|r| r["why"].as_str().unwrap()).collect();
    let stays = |why: &&str| {
        ["the sequential loop is expected to be fastest", "it has not paid before"].contains(why)
    };
    assert!(whys.len() >= 3 && whys.iter().all(stays), "{whys:?}");
}

#[test]
fn a_good_guest() {
    for race in ["auto", "device"] {
        run(&["situations"], &[("PARAGON_DEVICE", "threads"), ("PARAGON_RACE", race)]);
    }
}

#[test]
fn switched_off() {
    assert_eq!(run(&["all"], &[("PARAGON_DEVICE", "off")]).output, "switched off\n");
}
