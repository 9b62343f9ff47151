//! `PARAGON_TRACE`: one JSON object per line for each loop entry, appended as it happens. And the one place that writes to
//! standard error.

use crate::abi::Info;
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

/// What happened at one entry.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Record {
    /// The user's file, line and function.
    pub file: String,
    /// See `file`.
    pub line: u32,
    /// See `file`.
    pub function: String,
    /// `parallel` or `possibly-parallel`.
    pub verdict: &'static str,
    /// `none`, `predicate`, `inspector` or `logs`.
    pub check: &'static str,
    /// Whose result stands: `sequential` (the loop ran as it stood), `worker`, `threads`, `cuda`.
    pub decision: &'static str,
    /// Why.
    pub why: String,
    /// The device that ran, if any.
    pub device: &'static str,
    /// Instrumentation: [`crate::device::LogMethod::NAMES`].
    pub log: &'static str,
    /// Iterations of the merged space.
    pub trip: u64,
    /// Rows and columns of iterations that a thread of the GPU ran together; zeros where none did.
    pub group: (u8, u8),
    /// Whether each of them had as many loads under way as it can, because they were few.
    pub deep: bool,
    /// Threads of the GPU that shared each of their inner loops' turns; 0 where no GPU ran.
    pub spread: u8,
    /// Whether a GPU took the last iterations of a launch first.
    pub backwards: bool,
    /// Whether a GPU took iterations in the order of their numbers of turns.
    pub sorted: bool,
    /// Whether a GPU's accesses weren't checked, because an inspection or an earlier run had seen the same ones.
    pub unchecked: bool,
    /// Bytes copied to and from the device.
    pub bytes_in: u64,
    /// See `bytes_in`.
    pub bytes_out: u64,
    /// Whether arrays stay on the device (`memory::coherence`).
    pub stays: bool,
    /// Bytes that have come back from a device since the last record, because the program or a loop wanted them.
    pub bytes_back: u64,
    /// Whether nobody waited for the device, so that nothing is known of how it went.
    pub follows: bool,
    /// Loops that were run again because the device was lost that had what they had stored.
    pub run_again: u64,
    /// Nanoseconds, all in all and in parts.
    pub total_ns: u64,
    /// See `total_ns`.
    pub execute_ns: u64,
    /// See `total_ns`.
    pub check_ns: u64,
    /// See `total_ns`.
    pub copy_in_ns: u64,
    /// See `total_ns`.
    pub copy_out_ns: u64,
    /// Iterations of dimension 0 that the worker did.
    pub worker_iterations: u64,
    /// Whether the iterations were proven independent, though everything was logged (`-fparagon-doubt`): a conflict then
    /// refutes the proof.
    pub claimed: bool,
    /// Whether loads were made from a copy of what was in memory before the loop.
    pub snapshot: bool,
    /// What an inspection has found, at this entry or at an earlier one that was like it: `independent`, `levels` or
    /// `chain`; otherwise empty, or why there is no finding.
    pub inspection: &'static str,
    /// Nanoseconds of an inspection, or of seeing that an earlier one holds.
    pub inspect_ns: u64,
    /// Of a loop that may be left early: iterations of dimension 0 in front of the one that leaves it, where that was found out. The rest is about these; the program's own
    /// text goes on.
    pub comes_to: Option<u64>,
    /// Nanoseconds of finding it out.
    pub search_ns: u64,
    /// Levels that ran one after the other.
    pub levels: u64,
    /// Whether it goes on from what an earlier run has measured, from this entry on.
    pub remembered: bool,
    /// What failed.
    pub fail: Vec<&'static str>,
    /// Whether the order isn't the program's: an inner loop of its nest is the outermost one.
    pub interchanged: bool,
    /// Whether it is one of the loops that the program's loop is distributed into; they have that one's line.
    pub distributed: bool,
    /// Whether threads had copies of arrays that iterations write before they read them.
    pub privatized: bool,
    /// Log cells in conflict (a lower bound).
    pub conflicts: u64,
    /// Cells that several iterations had stored to, of which the last one's value stands, by stamps.
    pub settled: u64,
    /// What came of the guess of stamps that each cell has one writer: `held`, `refuted`, or empty where there was none.
    pub guess: &'static str,
}

impl Record {
    /// A record of an entry of `info`.
    pub fn new(info: &Info) -> Record {
        Record {
            file: info.file().into_owned(),
            line: info.line,
            function: info.function().into_owned(),
            verdict: if info.verdict == crate::abi::PG_PARALLEL { "parallel" } else { "possibly-parallel" },
            check: ["none", "predicate", "inspector", "logs"][(info.check as usize).min(3)],
            decision: "sequential",
            log: "none",
            interchanged: info.has(crate::abi::PG_LOOP_REORDERED),
            distributed: info.has(crate::abi::PG_LOOP_PART),
            ..Record::default()
        }
    }
}

/// Where records go.
#[derive(Debug, Default)]
pub struct Trace {
    file: Option<Mutex<File>>,
}

impl Trace {
    /// Opens the file for appending; a file that can't be opened is reported once.
    pub fn open(path: Option<&Path>) -> Trace {
        let Some(path) = path else { return Trace::default() };
        match OpenOptions::new().create(true).append(true).open(path) {
            Ok(file) => Trace { file: Some(Mutex::new(file)) },
            Err(error) => {
                complain(&format!("paragon: PARAGON_TRACE={}: {error}", path.display()));
                Trace::default()
            }
        }
    }
    /// Whether anybody wants records.
    pub fn enabled(&self) -> bool {
        self.file.is_some()
    }
    /// Writes one record.
    pub fn write(&self, record: &Record) {
        let Some(file) = &self.file else { return };
        if let Ok(mut line) = serde_json::to_string(record) {
            line.push('\n');
            // A full disk loses records, never results.
            let _ = file.lock().unwrap_or_else(|p| p.into_inner()).write_all(line.as_bytes());
        }
    }
}

/// One line on standard error, for something that the user should mend.
pub fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
