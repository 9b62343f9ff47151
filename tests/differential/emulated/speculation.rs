//! What only speculation comes to, on an emulated GPU: conflicts that were planted, guesses that no longer hold, and, on threads too, addresses and operations that the program
//! never comes to, which must hurt nobody.

use super::super::building::{build_with_reference, built, in_parallel, limited, scratch};
use super::super::running::{Setting, read_trace, run};
use super::super::selection::selected;
use super::super::tally::{conclude, is_conflict, on_device};
use serde_json::Value;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Lanes that share a row note what they load for each other, as a range first, and as bits where something is stored in it.
#[test]
fn planted_conflicts_of_rows_show_on_an_emulated_gpu() {
    let all_runs = selected(3, 8) as usize;
    let started = Instant::now();
    let executable = build_with_reference("planted", &scratch("planted rows"));
    let kinds = ["waw", "raw", "war", "mixed-width"];
    let cases: Vec<(&str, &str)> =
        ["bitmap bits", "bitmap off"].iter().flat_map(|log| kinds.map(|kind| (*log, kind))).collect();
    let failures = in_parallel(&cases, |&(log, kind)| {
        let folder = tempfile::tempdir().unwrap();
        // Two writers are a conflict whatever is guessed; what is read between writers says nothing yet.
        let guess = if log == "bitmap bits" && kind != "waw" { "refuted" } else { "" };
        let mut failures = Vec::new();
        // A process for each: after a conflict there would be another log.
        for run in 0..all_runs {
            let trace = folder.path().join(format!("trace{run}"));
            let mut command = limited();
            command.arg(&executable);
            command.args([
                "--runs",
                "1",
                "--kind",
                kind,
                "--loop",
                "rows",
                "--seed",
                &(31 + run).to_string(),
            ]);
            Setting { device: "cuda", groups: "always", ..Setting::on_threads(log) }.apply(&mut command);
            let output = command.env("PARAGON_TRACE", &trace).output().unwrap();
            // More lanes where a row is long, and its length has been counted.
            let is_shared = |r: &Value| [4, 16].map(Value::from).contains(&r["spread"]);
            let shows = |r: &&Value| is_conflict(r) && is_shared(r) && r["guess"] == guess;
            let found = read_trace(&trace).iter().filter(shows).count();
            if !output.status.success() || found != 1 {
                failures.push(format!("planted rows {kind} {log} {run}: {found} detected, {output:?}"));
            }
        }
        failures
    });
    let text = format!("{} planted conflicts of rows", all_runs * cases.len());
    conclude("on an emulated GPU", started, &text, failures);
}

/// A GPU's lanes that meet in a place update it once for all, and note it once: what else meets it shows all the same.
#[test]
fn planted_conflicts_of_updates_show_on_an_emulated_gpu() {
    let runs = selected(2, 6) as usize;
    let started = Instant::now();
    let executable = build_with_reference("planted", &scratch("planted updates"));
    let kinds = ["waw", "raw", "war", "mixed-width"];
    let cases: Vec<(&str, &str)> =
        ["atomic", "reduction"].iter().flat_map(|log| kinds.map(|kind| (*log, kind))).collect();
    let failures = in_parallel(&cases, |&(log, kind)| {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("trace");
        let mut command = limited();
        command.arg(&executable);
        command.args(["--runs", &runs.to_string(), "--kind", kind, "--loop", "updates", "--seed", "31"]);
        Setting { device: "cuda", groups: "always", ..Setting::on_threads(log) }.apply(&mut command);
        let output = command.env("PARAGON_TRACE", &trace).output().unwrap();
        let is_found = |r: &&Value| is_conflict(r) && r["device"] == "cuda" && r["log"] == log;
        let found = read_trace(&trace).iter().filter(is_found).count();
        let is_right = output.status.success() && found == runs;
        if is_right {
            Vec::new()
        } else {
            vec![format!("planted updates {kind} {log}: {found} detected, {output:?}")]
        }
    });
    let text = format!("{} planted conflicts of updates", runs * cases.len());
    conclude("on an emulated GPU", started, &text, failures);
}

/// An order that an entry has shown is relied on in the next one, which notices that it is gone: then cells have their own numbers again.
#[test]
fn an_order_that_is_gone_is_no_longer_relied_on() {
    let started = Instant::now();
    let Some(built) = built().iter().find(|built| built.program.name == "in_order") else { return };
    let trace = built.folder.join("in_order.trace");
    let _ = fs::remove_file(&trace);
    let of_cc = run(&built.reference(), "3001", "shuffled", "4", |_| {});
    let outcome = run(&built.paragon(), "3001", "shuffled", "4", |command| {
        Setting { device: "cuda", groups: "always", ..Setting::on_threads("stamp auto") }.apply(command);
        command.env("PARAGON_TRACE", &trace);
    });
    let mut failures: Vec<String> = outcome.difference(&of_cc).into_iter().collect();
    let entries = read_trace(&trace);
    for function in ["floats", "doubles", "bytes"] {
        let guesses: Vec<_> =
            entries.iter().filter(|r| r["function"] == function).map(|r| r["guess"].clone()).collect();
        if guesses != ["refuted", "held", "", ""] {
            failures.push(format!("{function}: {guesses:?}"));
        }
    }
    conclude("an order that is gone", started, "3 loops", failures);
}

/// What a run has shown of how far apart iterations are is wrong in the next one, by one.
#[test]
fn launches_are_as_large_as_they_were_until_iterations_meet() {
    let started = Instant::now();
    let Some(built) = built().iter().find(|built| built.program.name == "far_apart") else { return };
    let mut failures = Vec::new();
    for (input, wanted) in [("turns", ["held"; 3]), ("closer", ["held", "refuted", ""])] {
        let trace = built.folder.join("far_apart.trace");
        let _ = fs::remove_file(&trace);
        let of_cc = run(&built.reference(), "3200", input, "3", |_| {});
        let outcome = run(&built.paragon(), "3200", input, "3", |command| {
            Setting { device: "cuda", groups: "always", ..Setting::on_threads("stamp launches") }
                .apply(command);
            command.env("PARAGON_TRACE", &trace).env("PARAGON_HISTORY", "off");
        });
        failures.extend(outcome.difference(&of_cc));
        let entries = read_trace(&trace);
        for function in ["doubles", "nested"] {
            let guesses: Vec<_> =
                entries.iter().filter(|r| r["function"] == function).map(|r| r["guess"].clone()).collect();
            if guesses != wanted {
                failures.push(format!("{function} {input}: {guesses:?}"));
            }
        }
    }
    conclude("launches of as many iterations as were apart", started, "2 loops", failures);
}

/// How many writers cells have is what the last run has counted, without those that leave their store to a neighbour.
#[test]
fn the_last_iterations_come_first_as_long_as_cells_have_many_writers() {
    let started = Instant::now();
    let Some(built) = built().iter().find(|built| built.program.name == "many_writers") else { return };
    let mut failures = Vec::new();
    for (input, guesses, wanted) in [
        ("turns", "stamp joined", [true, true, true]),
        ("changing", "stamp joined", [true, false, false]),
        ("changing", "stamp off", [false, true, false]),
        ("clusters", "stamp off", [false, false, false]),
        ("few", "stamp off", [false, false, false]),
    ] {
        let trace = built.folder.join("many_writers.trace");
        let _ = fs::remove_file(&trace);
        let of_cc = run(&built.reference(), "3210", input, "3", |_| {});
        let outcome = run(&built.paragon(), "3210", input, "3", |command| {
            Setting { device: "cuda", groups: "always", ..Setting::on_threads(guesses) }.apply(command);
            command.env("PARAGON_TRACE", &trace).env("PARAGON_HISTORY", "off");
        });
        failures.extend(outcome.difference(&of_cc));
        let entries = read_trace(&trace);
        for function in ["floats", "doubles", "bytes", "nested"] {
            let are: Vec<_> = entries
                .iter()
                .filter(|r| r["function"] == function)
                .map(|r| r["backwards"].clone())
                .collect();
            if are != wanted {
                failures.push(format!("{function} {input} {guesses}: {are:?}"));
            }
        }
    }
    conclude("the last iterations first", started, "4 loops", failures);
}

/// A range needs a copy of the array, which bits do without.
#[test]
fn where_there_is_no_room_for_a_copy_rows_note_bits() {
    let started = Instant::now();
    let executable = build_with_reference("planted", &scratch("planted narrow"));
    let mut failures = Vec::new();
    let mut detects = |room: u32, guess: &str| {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("trace");
        let mut command = limited();
        command.arg(&executable);
        command.args(["--runs", "1", "--kind", "war", "--loop", "rows", "--seed", "1"]);
        Setting { device: "cuda", groups: "always", ..Setting::on_threads("bitmap auto") }
            .apply(&mut command);
        command.env("EMULATED_MEMORY", room.to_string()).env("PARAGON_TRACE", &trace);
        let output = command.output().unwrap();
        if !output.status.success() {
            failures.push(format!("planted rows in {room} bytes: {output:?}"));
        }
        read_trace(&trace).iter().filter(|r| is_conflict(r) && r["guess"] == guess).count() == 1
    };
    // Between what has no room for the loop and what has room for the copy, too, which are a tenth of a mebibyte apart.
    let by_bits = (900_000..1_300_000).step_by(10_000).any(|room| detects(room, ""));
    let by_range = detects(16_000_000, "refuted");
    if !by_bits || !by_range {
        failures.push(format!("planted rows: by bits {by_bits}, by a range {by_range}"));
    }
    conclude("in little memory", started, "2 planted conflicts of rows", failures);
}

#[test]
fn faults_of_speculation_hurt_nobody() {
    let started = Instant::now();
    let executable = build_with_reference("faults", &scratch("faults"));
    let listed = limited().arg(&executable).arg("--list").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let kinds: Vec<&str> = listed.lines().collect();
    assert!(kinds.len() > 40, "{listed}");
    let settings: Vec<(&str, &str)> = ["atomic", "reduction", "bitmap", "stamp"]
        .map(|log| ("threads", log))
        .into_iter()
        .chain([("threads", "auto"), ("cuda", "bitmap")])
        .collect();
    let cases: Vec<(&str, &str, &str)> = settings
        .iter()
        .flat_map(|(device, log)| kinds.iter().map(move |kind| (*device, *log, *kind)))
        .collect();
    let (speculated, faults, runs) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let failures = in_parallel(&cases, |&(device, log, kind)| {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("trace");
        // Each run of a crash has a process of its own, which begins with opening the GPU.
        let count = if device == "cuda" { selected(2, 8) } else { selected(5, 20) };
        let mut command = limited();
        command.arg(&executable).args(["--runs", &count.to_string(), "--kind", kind, "--seed", "3"]);
        Setting { device, ..Setting::on_threads(log) }.apply(&mut command);
        // What never ends is given up; so is little else, where a processor is a GPU.
        command.env(
            "PARAGON_PATIENCE",
            if kind.starts_with("endless") || kind.starts_with("row-length") { "50" } else { "20000" },
        );
        let output = command.env("PARAGON_TRACE", &trace).output().unwrap();
        runs.fetch_add(count as usize, Ordering::Relaxed);
        for record in read_trace(&trace) {
            speculated.fetch_add(usize::from(on_device(&record) || is_conflict(&record)), Ordering::Relaxed);
            let hurt = ["out of range", "no array", "misaligned", "arithmetic", "NaN", "too long"];
            let fail = record["fail"].as_array().cloned().unwrap_or_default();
            let is_hurt = fail.iter().any(|word| hurt.iter().any(|hurt| word == hurt));
            faults.fetch_add(usize::from(is_hurt), Ordering::Relaxed);
        }
        if output.status.success() { Vec::new() } else { vec![format!("{kind} {device} {log}: {output:?}")] }
    });
    let (speculated, faults) = (speculated.into_inner(), faults.into_inner());
    let text = format!(
        "{} runs with the reference's memory or its signal, {speculated} loops were guesses, {faults} came to an address, an \
         operation or a loop that the program never comes to",
        runs.into_inner()
    );
    // A quarter of the runs, of which most come to something.
    assert!(speculated > selected(250, 1000) as usize && faults > selected(25, 100) as usize, "{text}");
    conclude("faults of speculation", started, &text, failures);
}
