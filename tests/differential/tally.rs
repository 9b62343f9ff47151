//! What a run's trace says, counted for the line at a test's end.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// What happened in a test, for the line at its end.
#[derive(Default)]
pub struct Tally {
    pub runs: AtomicUsize,
    pub entries: AtomicUsize,
    pub on_device: AtomicUsize,
    pub with_conflict: AtomicUsize,
    /// Runs in which the runtime decides by itself, and those of them in which it had anything run elsewhere, whoever won.
    pub deciding: AtomicUsize,
    pub decided_elsewhere: AtomicUsize,
    pub expectations: AtomicUsize,
    /// Entries that ran without logs because of what runs under logs had shown.
    pub learnt: AtomicUsize,
    /// Entries whose accesses a GPU didn't check, because it had seen them before.
    pub unchecked: AtomicUsize,
    /// Entries by the iterations that a thread of a GPU ran together.
    pub groups: Mutex<BTreeMap<String, usize>>,
}

pub fn is_conflict(record: &Value) -> bool {
    record["conflicts"].as_u64().unwrap_or(0) > 0
        && record["fail"].as_array().is_some_and(|words| !words.is_empty())
}

pub fn on_device(record: &Value) -> bool {
    record["decision"] == "threads" || record["decision"] == "cuda"
}

/// Whether it wasn't thought about, because the program had just begun.
pub fn is_put_off(record: &Value) -> bool {
    record["why"].as_str().is_some_and(|why| why.contains("so early in the program"))
}

/// Whether a GPU would give other bits.
pub fn is_for_hosts(record: &Value) -> bool {
    let is_nan = record["fail"].as_array().is_some_and(|fail| fail.iter().any(|what| what == "NaN"));
    is_nan || record["why"].as_str().is_some_and(|why| why.contains("the same bits"))
}

/// Whether an inspection has seen iterations that depend on each other.
pub fn inspection_objects(record: &Value) -> bool {
    record["inspection"] == "levels" || record["inspection"] == "chain"
}

/// Whether accesses were recorded to be checked.
pub fn is_logged(record: &Value) -> bool {
    ["atomic", "reduction", "bitmap", "stamp"].iter().any(|log| record["log"] == *log)
}

/// On the device, all iterations independently of each other.
pub fn at_once(record: &Value) -> bool {
    on_device(record) && !inspection_objects(record)
}

impl Tally {
    pub fn count(&self, trace: &[Value]) {
        let add = |counter: &AtomicUsize, n: usize| counter.fetch_add(n, Ordering::Relaxed);
        add(&self.runs, 1);
        add(&self.entries, trace.len());
        add(&self.on_device, trace.iter().filter(|r| on_device(r)).count());
        add(&self.with_conflict, trace.iter().filter(|r| is_conflict(r)).count());
    }
    /// Of a run in which the runtime decides by itself.
    pub fn count_decisions(&self, trace: &[Value]) {
        self.deciding.fetch_add(1, Ordering::Relaxed);
        let is_elsewhere = trace.iter().any(|record| record["decision"] != "sequential");
        self.decided_elsewhere.fetch_add(usize::from(is_elsewhere), Ordering::Relaxed);
    }
    /// Where the runtime decides by itself, most loops of tests are too short for anything; but not in each run. It was 34 of 97 runs, and in parts of
    /// them 18 and 21 of 48: it depends on what else the machine does.
    pub fn decides_enough(&self) -> bool {
        let get = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        get(&self.decided_elsewhere) * 6 >= get(&self.deciding)
    }
    pub fn text(&self) -> String {
        let get = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        format!(
            "{} runs compared byte by byte, {} loop entries, {} carried out by the device, {} with a conflict, {} by what \
             logs had shown, {} of {} runs that decide had something elsewhere, {} expectations checked",
            get(&self.runs),
            get(&self.entries),
            get(&self.on_device),
            get(&self.with_conflict),
            get(&self.learnt),
            get(&self.decided_elsewhere),
            get(&self.deciding),
            get(&self.expectations)
        )
    }
}

/// Tells the person at the terminal, past the test harness's capture.
pub fn announce(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

pub fn conclude(name: &str, started: Instant, text: &str, failures: Vec<String>) {
    announce(&format!(
        "{name}: {text}, {} failures, {:.0} s",
        failures.len(),
        started.elapsed().as_secs_f64()
    ));
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
