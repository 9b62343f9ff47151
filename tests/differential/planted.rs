//! Conflicts that were planted, all of which threads' logs have to find. `emulated/speculation.rs` has those for a GPU's lanes.

use super::building::{build_with_reference, in_parallel, limited, scratch};
use super::running::{GUESSES, Setting, read_trace};
use super::selection::selected;
use super::tally::{at_once, conclude, inspection_objects, is_conflict, on_device};
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

#[test]
fn every_planted_conflict_is_detected() {
    let started = Instant::now();
    let executable = build_with_reference("planted", &scratch("planted"));
    // Rows are long.
    let runs_of = |form: &str| if form == "rows" { selected(30, 100) } else { selected(160, 1000) } as usize;
    let mut cases = Vec::new();
    for log in ["atomic", "reduction", "bitmap", "auto"].into_iter().chain(GUESSES) {
        for kind in ["waw", "raw", "war", "mixed-width"] {
            for form in ["indirect", "pointer", "rows"] {
                cases.push((log, kind, form));
            }
            // Updates that meet others have no other logs.
            if ["atomic", "reduction", "auto"].contains(&log) {
                cases.push((log, kind, "updates"));
            }
        }
    }
    let detected = AtomicUsize::new(0);
    let failures = in_parallel(&cases, |&(log, kind, form)| {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("trace");
        let mut command = limited();
        command.arg(&executable);
        let runs: usize = runs_of(form);
        command.args(["--runs", &runs.to_string(), "--kind", kind, "--loop", form, "--seed", "20"]);
        let setting = Setting::on_threads(log);
        setting.apply(&mut command);
        let (log, guesses) = setting.log();
        let output = command.env("PARAGON_TRACE", &trace).output().unwrap();
        let mut failures = Vec::new();
        let mut fail = |what: String| failures.push(format!("planted {form} {kind} {log}: {what}"));
        if !output.status.success() {
            fail(format!("{output:?}"));
        }
        let entries: Vec<Value> = read_trace(&trace)
            .into_iter()
            .filter(|r| r["function"].as_str().is_some_and(|f| f.starts_with(form)))
            .collect();
        // Without forced logs, a predicate sees that pointers overlap and keeps the loop where it is, and an inspection sees
        // which iterations meet.
        let refused = |r: &Value| log == "auto" && r["check"] == "predicate" && r["decision"] == "sequential";
        // Anti dependences between pointers are no conflict to loads from a snapshot, and to stamps only flow dependences are.
        let settled = |r: &Value| {
            let by_snapshot = (kind, form) == ("war", "pointer") && r["snapshot"] == true;
            on_device(r) && (by_snapshot || r["log"] == "stamp" && kind != "raw")
        };
        let found = entries
            .iter()
            .filter(|r| is_conflict(r) || refused(r) || inspection_objects(r) || settled(r))
            .count();
        detected.fetch_add(found, Ordering::Relaxed);
        // Two writers refute a guess, whatever else there is; readers alone don't.
        let guess = match (guesses, kind) {
            // Threads don't rely on an order, nor have they neighbours.
            ("auto" | "off" | "twice" | "order" | "joined" | "launches", _) => None,
            // There are readers whom bits would take for a conflict.
            (_, "raw" | "war") => Some("held"),
            // Of rows it is the reader that is narrower.
            (_, "mixed-width") if form == "rows" => Some("held"),
            _ => Some("refuted"),
        };
        // A reader behind the only writer is a conflict, so that nothing holds.
        let told = |r: &Value| if is_conflict(r) && guess == Some("held") { "" } else { guess.unwrap_or("") };
        let is_stamped = |r: &&Value| r["log"] == "stamp" && guesses != "auto";
        if let Some(other) = entries.iter().filter(is_stamped).find(|r| r["guess"] != told(r)) {
            fail(format!("a guess {} instead of {:?}", other["guess"], told(other)));
        }
        if entries.len() != runs || found != runs || entries.iter().any(|r| at_once(r) && !settled(r)) {
            fail(format!("{found} of {runs} detected, in {} entries", entries.len()));
        }
        failures
    });
    let planted: usize = cases.iter().map(|(.., form)| runs_of(form)).sum();
    let text = format!("{} of {planted} planted conflicts detected", detected.into_inner());
    conclude("planted conflicts", started, &text, failures);
}
