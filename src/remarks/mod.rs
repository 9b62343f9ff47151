//! What the compiler tells about loops, in words and as JSON, and the table of what the runtime did with them.
//!
//! Not here: deciding anything (`verdict`) and writing the trace (the runtime does).

use crate::loops::plan::{Check, LoopReport, Verdict};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// One loop as `explain --format=json` prints it.
#[derive(Serialize)]
struct Record<'a> {
    file: &'a str,
    line: u32,
    function: &'a str,
    verdict: &'static str,
    check: &'static str,
    reason: &'a str,
}

fn record(report: &LoopReport) -> Record<'_> {
    Record {
        file: &report.file,
        line: report.line,
        function: &report.function,
        verdict: match report.verdict {
            Verdict::Parallel => "parallel",
            Verdict::PossiblyParallel => "possibly-parallel",
            Verdict::Sequential => "sequential",
        },
        check: match report.check {
            Check::None => "none",
            Check::Predicate => "predicate",
            Check::Inspector => "inspector",
            Check::Logs => "logs",
        },
        reason: &report.reason,
    }
}

/// All reports, one line each, or as one JSON array.
pub fn render(reports: &[LoopReport], json: bool) -> String {
    let records: Vec<Record> = reports.iter().map(record).collect();
    if json {
        // Strings and numbers always have a JSON form.
        return serde_json::to_string_pretty(&records).unwrap_or_default() + "\n";
    }
    let mut text = String::new();
    for Record { file, line, function, verdict, check, reason } in records {
        let check = if check == "none" { String::new() } else { format!(" (checked by {check})") };
        let _ = writeln!(text, "{file}:{line}: in {function}: {verdict}{check}: {reason}");
    }
    text
}

#[derive(Default)]
struct Row {
    verdict: String,
    check: String,
    decisions: BTreeMap<String, u64>,
    entries: u64,
    conflicts: u64,
    nanoseconds: u64,
}

/// The table of a trace (JSON lines): a row for each loop. The error names the line that can't be read.
pub fn table(trace: &str) -> Result<String, String> {
    let mut rows: BTreeMap<(String, u64, String), Row> = BTreeMap::new();
    for (number, line) in trace.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let entry: Value =
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", number + 1))?;
        let text = |name: &str| entry[name].as_str().unwrap_or_default().to_string();
        let count = |name: &str| entry[name].as_u64().unwrap_or_default();
        if entry["line"].is_null() {
            continue;
        }
        let row = rows.entry((text("file"), count("line"), text("function"))).or_default();
        row.verdict = text("verdict");
        row.check = text("check");
        *row.decisions.entry(text("decision")).or_default() += 1;
        row.entries += 1;
        row.conflicts += count("conflicts");
        row.nanoseconds += count("total_ns");
    }
    let mut lines =
        vec![["loop", "verdict", "check", "where it ran", "entries", "conflicts", "ms"].map(String::from)];
    for ((file, line, function), row) in rows {
        let ran: Vec<String> =
            row.decisions.iter().map(|(place, times)| format!("{place} {times}")).collect();
        lines.push([
            format!("{file}:{line} {function}"),
            row.verdict,
            row.check,
            ran.join(", "),
            row.entries.to_string(),
            row.conflicts.to_string(),
            format!("{:.3}", row.nanoseconds as f64 / 1e6),
        ]);
    }
    let widths: Vec<usize> = (0..7)
        .map(|column| lines.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for cells in lines {
        let padded: Vec<String> = cells
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:<width$}", width = *width))
            .collect();
        let _ = writeln!(text, "{}", padded.join("  ").trim_end());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    #[test]
    fn table_adds_up() {
        let trace = r#"{"file":"a.c","line":3,"function":"f","verdict":"parallel","check":"none","decision":"gpu","total_ns":1000000,"conflicts":0}
{"file":"a.c","line":3,"function":"f","verdict":"parallel","check":"none","decision":"cpu","total_ns":500000,"conflicts":2}"#;
        let table = super::table(trace).unwrap();
        let row = table.lines().nth(1).unwrap();
        assert!(row.contains("cpu 1, gpu 1") && row.contains("1.500"), "{table}");
        assert!(super::table("{").unwrap_err().starts_with("line 1"));
    }
}
