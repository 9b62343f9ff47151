//! One program, on one input, in many settings: the same bits as cc's everywhere, and what its comments expect.

use super::building::{Built, cases, in_parallel};
use super::programs::Event;
use super::running::{LEARNT, Outcome, Setting, TOGETHER, read_trace, run};
use super::tally::{
    Tally, at_once, conclude, inspection_objects, is_conflict, is_for_hosts, is_logged, is_put_off, on_device,
};
use super::turns::on_threads;
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Runs one program on one input in every setting. The messages say what differs from cc, and which expectation failed.
pub fn compare(built: &Built<'_>, input: &str, settings: &[Setting], tally: &Tally) -> Vec<String> {
    let Built { program, .. } = built;
    // What cc made doesn't look at the variable.
    let off = |command: &mut Command| {
        command.env("PARAGON_DEVICE", "off");
    };
    let reference = |repeat| run(&built.reference(), &program.size, input, repeat, off);
    let mut references: BTreeMap<&str, Outcome> = BTreeMap::new();
    let mut failures = Vec::new();
    for &setting in settings {
        let folder = tempfile::tempdir().unwrap();
        let trace_path = folder.path().join("trace");
        let wanted = references.entry(setting.repeat()).or_insert_with(|| reference(setting.repeat()));
        assert_eq!(wanted.status, Some(0), "{} {input} as cc built it", program.name);
        let ours = run(&built.paragon(), &program.size, input, setting.repeat(), |command| {
            setting.apply(command);
            command.env("PARAGON_TRACE", &trace_path);
        });
        let trace = read_trace(&trace_path);
        tally.count(&trace);
        if setting.race == "auto" {
            tally.count_decisions(&trace);
        }
        let mut fail = |what: String| failures.push(format!("{} {input} {setting:?}: {what}", program.name));
        if let Some(difference) = ours.difference(wanted) {
            fail(difference);
        }
        // All settings ask for that: a program of a test is over before it would think otherwise.
        if trace.iter().any(is_put_off) {
            fail("a loop stayed because it was early in the program".into());
        }
        if setting.device == "off" {
            if trace.iter().any(on_device) {
                fail("a device ran although it is off".into());
            }
            continue;
        }
        if setting.log == LEARNT {
            let learnt = trace.iter().filter(|r| r["inspection"] == "independent" && on_device(r)).count();
            tally.learnt.fetch_add(learnt, Ordering::Relaxed);
        }
        if setting.race != "device" || setting.log == LEARNT && setting.device != "cuda" {
            continue;
        }
        let unchecked = trace.iter().filter(|r| r["unchecked"] == true && r["decision"] == "cuda").count();
        tally.unchecked.fetch_add(unchecked, Ordering::Relaxed);
        let groups = trace.iter().filter(|r| r["decision"] == "cuda").map(|r| {
            let deep = if r["deep"] == true { " deep" } else { "" };
            let sorted = if r["sorted"] == true { " sorted" } else { "" };
            format!("{}{deep}{sorted}", r["group"])
        });
        groups.for_each(|group| *tally.groups.lock().unwrap().entry(group).or_default() += 1);
        for expectation in program.expectations.iter().filter(|e| e.inputs.iter().any(|i| i == input)) {
            tally.expectations.fetch_add(1, Ordering::Relaxed);
            let source = program.source.file_name().unwrap().to_string_lossy();
            let entries: Vec<&Value> = trace
                .iter()
                .filter(|r| r["file"].as_str().is_some_and(|f| f.ends_with(source.as_ref())))
                .filter(|r| r["line"].as_u64().is_some_and(|line| expectation.lines.contains(&line)))
                .collect();
            let met = match (expectation.event, setting.log().0) {
                // What the host's libm answers a GPU doesn't, and NaNs have another sign there.
                (Event::Runs | Event::Levels, _)
                    if setting.device == "cuda" && entries.iter().any(|r| is_for_hosts(r)) =>
                {
                    true
                }
                // The applications of the chapter need no log where nothing conflicts: that is what proofs are for.
                (Event::Runs, "auto") if program.source.parent().is_some_and(|p| p.ends_with("chapter")) => {
                    entries.iter().any(|r| at_once(r)) && !entries.iter().any(|r| is_logged(r))
                }
                // A conflict that is none costs time only, so nothing but this tells that bits are where they belong.
                (Event::Runs, "bitmap") if program.is_about_bitmaps => {
                    entries.iter().any(|r| at_once(r) && r["log"] == "bitmap")
                        && !entries.iter().any(|r| is_conflict(r))
                }
                // To a bitmap an iteration that meets itself looks like two.
                (Event::Runs, "bitmap")
                    if !program.source.parent().is_some_and(|p| p.ends_with("chapter")) =>
                {
                    entries.iter().any(|r| at_once(r) || is_conflict(r) && r["log"] == "bitmap")
                }
                // To the chapter's reduction method what an iteration loads before it stores there is another one's.
                (Event::Runs, "reduction") if program.loads_its_own => {
                    entries.iter().any(|r| at_once(r) || is_conflict(r) && r["log"] == "reduction")
                }
                (Event::Sorted, "bitmap") if setting.device == "cuda" && setting.groups == "always" => {
                    entries.iter().any(|r| r["log"] == "bitmap" && r["sorted"] == true)
                }
                (Event::Runs | Event::Sorted, _) => entries.iter().any(|r| at_once(r)),
                (Event::UncheckedAtFirst, log) => {
                    setting.device != "cuda"
                        || log != "auto"
                        || entries.first().is_some_and(|r| r["unchecked"] == true)
                }
                // Logs that are asked for look at everything.
                (Event::UncheckedAtLast, log) => {
                    setting.device != "cuda"
                        || log != "auto"
                        || entries.last().is_some_and(|r| r["unchecked"] == true)
                }
                (Event::InPlace, "auto") if setting.memory == "shared" => {
                    entries.iter().any(|r| at_once(r)) && !entries.iter().any(|r| is_logged(r))
                }
                (Event::InPlace, _) => !entries.is_empty() && !entries.iter().any(|r| on_device(r)),
                (Event::Unchecked, _) => {
                    let is_unchecked = |r: &Value| r["unchecked"] == true && r["decision"] == "cuda";
                    setting.device != "cuda" || entries.iter().any(|r| is_unchecked(r))
                }
                (Event::Stays, _) => !entries.iter().any(|r| on_device(r)),
                // Without forced logs a predicate or an inspection may already have seen the conflict.
                (Event::Conflicts, "auto") => entries.iter().any(|r| !at_once(r)),
                (Event::Levels, "auto") => entries.iter().any(|r| on_device(r) && inspection_objects(r)),
                (
                    Event::Stamps | Event::Joined | Event::Left | Event::Launched | Event::Backwards,
                    "auto",
                ) => true,
                (Event::Backwards, "stamp") if setting.device == "cuda" && setting.log().1 == "joined" => {
                    entries.iter().any(|r| on_device(r) && r["backwards"] == true)
                }
                (Event::Joined, "stamp") if setting.device == "cuda" && setting.log().1 == "joined" => {
                    entries.iter().any(|r| on_device(r) && r["guess"] == "held")
                }
                (Event::Launched, "stamp") => {
                    let is_launched = setting.device == "cuda" && setting.log().1 == "launches";
                    !is_launched || entries.iter().any(|r| on_device(r) && r["guess"] == "held")
                }
                (Event::Joined | Event::Left, "stamp") if setting.log().1 == TOGETHER => {
                    entries.iter().any(|r| on_device(r) && r["guess"] == "held")
                }
                (Event::Stamps | Event::Joined | Event::Left | Event::Backwards, "stamp") => {
                    entries.iter().any(|r| at_once(r)) && !entries.iter().any(|r| is_conflict(r))
                }
                // What meets in one launch doesn't in two.
                (Event::Conflicts, "stamp")
                    if setting.device == "cuda"
                        && setting.log().1 == "launches"
                        && entries.iter().any(|r| on_device(r) && r["guess"] == "held") =>
                {
                    true
                }
                // What others take for a conflict may be an anti or output dependence to stamps.
                (Event::Conflicts | Event::Levels, "stamp")
                    if entries.iter().any(|r| at_once(r) && r["log"] == "stamp") =>
                {
                    !program.is_about_stamps()
                }
                // Neighbours that store apart meet nobody.
                (Event::Joined | Event::Left, _) => true,
                (
                    Event::Conflicts | Event::Levels | Event::Stamps | Event::Launched | Event::Backwards,
                    log,
                ) => {
                    // Not every loop can have bitmaps.
                    let is_other = |r: &Value| ["bitmap", "stamp"].contains(&log) && r["log"] == "atomic";
                    let is_asked = |r: &Value| r["log"] == log || is_other(r);
                    entries.iter().any(|r| is_conflict(r) && !on_device(r) && is_asked(r))
                }
            };
            if !met {
                let what: Vec<String> = entries
                    .iter()
                    .take(4)
                    .map(|r| format!("{} {} {} {}", r["line"], r["decision"], r["why"], r["fail"]))
                    .collect();
                fail(format!("expected: {}; seen: [{}]", expectation.text, what.join("; ")));
            }
        }
    }
    failures
}

pub fn compare_all(name: &str, built: &[Built<'_>], settings: &[Setting]) {
    let started = Instant::now();
    let cases = cases(built);
    let tally = Tally::default();
    let failures = in_parallel(&cases, |(built, input)| {
        compare(built, input, &on_threads(built, input, settings), &tally)
    });
    let met: Vec<Setting> =
        cases.iter().flat_map(|(built, input)| on_threads(built, input, settings)).collect();
    let is_all = std::env::var_os("PARAGON_TESTS").is_none();
    let missing: Vec<&Setting> = settings.iter().filter(|setting| !met.contains(setting)).collect();
    assert!(missing.is_empty() || !is_all, "no turn: {missing:?}");
    // A few programs may well have nothing that is worth it.
    assert!(tally.decides_enough() || !is_all, "nearly all stays: {}", tally.text());
    conclude(&format!("{name} ({} programs)", built.len()), started, &tally.text(), failures);
}
