//! What the compiler tells about loops: as text, as remarks in the form that clang's `-Rpass` has, as JSON and as SARIF. And the
//! table of what the runtime did with them.
//!
//! All forms are made from one [`Report`]; `docs/reports.md` describes them. Not here: deciding anything (`verdict`), where a
//! report goes (`compile`) and writing the trace (the runtime does).

mod position;
mod sarif;

use crate::c::hir::{Span, TranslationUnit};
use crate::loops::plan::{Check, LoopReport, Verdict};
use crate::loops::reason::{AccessNote, Kind};
use crate::verdict::PragmaError;
use position::Positions;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::str::FromStr;

/// How a report is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Format {
    Text,
    /// As clang's `-Rpass=paragon`, `-Rpass-missed=paragon` and `-Rpass-analysis=paragon` together.
    Remarks,
    Json,
    Sarif,
}

impl Format {
    /// All formats, by the names that users give them.
    pub const ALL: [(&'static str, Format); 4] = [
        ("text", Format::Text),
        ("remarks", Format::Remarks),
        ("json", Format::Json),
        ("sarif", Format::Sarif),
    ];

    /// The name that users give it.
    pub fn name(self) -> &'static str {
        Format::ALL.iter().find(|(_, format)| *format == self).map_or("", |(name, _)| name)
    }

    /// The ending of files in it.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Text | Format::Remarks => "txt",
            Format::Json => "json",
            Format::Sarif => "sarif",
        }
    }
}

impl FromStr for Format {
    type Err = String;
    fn from_str(name: &str) -> Result<Format, String> {
        let found = Format::ALL.iter().find(|(known, _)| *known == name).map(|(_, format)| *format);
        found.ok_or_else(|| {
            let names = Format::ALL.map(|(name, _)| name).join(", ");
            format!("there is no report format `{name}`; the formats are {names}")
        })
    }
}

/// Which remarks are wanted: clang's three kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RemarkKinds {
    /// `-Rpass`: loops that may run elsewhere.
    pub passed: bool,
    /// `-Rpass-missed`: loops that stay as they stand.
    pub missed: bool,
    /// `-Rpass-analysis`: the accesses that reasons are about, and what would settle them.
    pub analysis: bool,
}

impl RemarkKinds {
    /// All three.
    pub const ALL: RemarkKinds = RemarkKinds { passed: true, missed: true, analysis: true };
    /// Whether any is wanted.
    pub fn any(self) -> bool {
        self.passed || self.missed || self.analysis
    }
}

/// The version of the JSON form: it grows when a field changes its meaning or goes away.
const JSON_VERSION: u32 = 1;

/// A place in the user's text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Location {
    /// The file as line markers spell it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// In characters from 1; none where macros hide it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.column {
            Some(column) => write!(f, ":{column}"),
            None => Ok(()),
        }
    }
}

/// An access that a reason is about.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Access {
    /// `load` or `store`.
    pub kind: &'static str,
    pub text: String,
    #[serde(flatten)]
    pub location: Location,
}

/// A change that would settle a reason.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Advice {
    pub kind: &'static str,
    pub text: String,
}

/// One loop.
#[derive(Clone, Debug, Serialize)]
pub struct Loop {
    /// Its keyword.
    #[serde(flatten)]
    pub location: Location,
    /// The function that it stands in.
    pub function: String,
    /// `parallel`, `possibly-parallel` or `sequential`.
    pub verdict: &'static str,
    /// How a possibly-parallel loop is checked at run time: `none`, `predicate`, `inspector` or `logs`.
    pub check: &'static str,
    /// [`Kind::id`] of the reason.
    pub kind: &'static str,
    /// The reason as a sentence.
    pub reason: String,
    /// What the reason is about.
    pub accesses: Vec<Access>,
    /// What would settle it; any of these.
    pub advice: Vec<Advice>,
    /// Why it has no code although its verdict allows that, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
    #[serde(skip)]
    reason_kind: Kind,
}

/// A pragma that can't apply.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct Error {
    #[serde(flatten)]
    pub location: Location,
    pub message: String,
    pub accesses: Vec<Access>,
}

/// What is told of the files of one command.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Loops by file and line.
    pub loops: Vec<Loop>,
    /// Pragmas that can't apply.
    pub errors: Vec<Error>,
    /// What else keeps code from being used; whole lines.
    pub notes: Vec<String>,
}

/// The JSON form.
#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    generator: String,
    loops: &'a [Loop],
    errors: &'a [Error],
    notes: &'a [String],
}

impl Report {
    /// The report of one unit, whose expanded text is `text`.
    pub fn new(unit: &TranslationUnit, text: &str, reports: &[LoopReport], errors: &[PragmaError]) -> Report {
        let mut positions = Positions::new(text);
        let mut locate = |span: Span| Location {
            file: unit.files.get(span.file as usize).cloned().unwrap_or_default(),
            line: span.line,
            column: positions.column(span),
        };
        let mut report = Report::default();
        for found in reports {
            let reason = &found.reason;
            report.loops.push(Loop {
                location: locate(found.span),
                function: found.function.clone(),
                verdict: match found.verdict {
                    Verdict::Parallel => "parallel",
                    Verdict::PossiblyParallel => "possibly-parallel",
                    Verdict::Sequential => "sequential",
                },
                check: match found.check {
                    Check::None => "none",
                    Check::Predicate => "predicate",
                    Check::Inspector => "inspector",
                    Check::Logs => "logs",
                },
                kind: reason.kind.id(),
                reason: reason.text.clone(),
                accesses: accesses(&reason.accesses, &mut locate),
                advice: reason.advice.iter().map(|a| Advice { kind: a.id(), text: a.to_string() }).collect(),
                left_out: None,
                reason_kind: reason.kind,
            });
        }
        for error in errors {
            let accesses = accesses(&error.accesses, &mut locate);
            report.errors.push(Error {
                location: locate(error.span),
                message: error.message.clone(),
                accesses,
            });
        }
        report
    }

    /// Says why the loop of the report at `number` (of those that this one is made of) has no code.
    pub fn leave_out(&mut self, number: Option<usize>, reason: &str) {
        if let Some(found) = number.and_then(|number| self.loops.get_mut(number)) {
            found.left_out = Some(reason.to_owned());
        }
    }

    /// Adds what is told of another file.
    pub fn extend(&mut self, other: Report) {
        self.loops.extend(other.loops);
        self.errors.extend(other.errors);
        self.notes.extend(other.notes);
    }

    /// In one of the forms.
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Text => self.text(),
            Format::Remarks => self.remarks(RemarkKinds::ALL),
            Format::Json => self.json(),
            Format::Sarif => sarif::render(self),
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for found in &self.loops {
            let Loop { location: Location { file, line, .. }, function, verdict, check, reason, .. } = found;
            let check = if *check == "none" { String::new() } else { format!(" (checked by {check})") };
            let _ = writeln!(text, "{file}:{line}: in {function}: {verdict}{check}: {reason}");
            for access in &found.accesses {
                let _ = writeln!(text, "    {} of {} at {}", access.kind, access.text, access.location);
            }
            for advice in &found.advice {
                let _ = writeln!(text, "    would settle it: {}", advice.text);
            }
        }
        for found in &self.loops {
            if let Some(reason) = &found.left_out {
                let Location { file, line, .. } = &found.location;
                let _ = writeln!(text, "{file}:{line}: left as it stood: {reason}");
            }
        }
        for note in &self.notes {
            let _ = writeln!(text, "{note}");
        }
        text
    }

    /// In the form of clang's remarks.
    pub fn remarks(&self, kinds: RemarkKinds) -> String {
        let mut text = String::new();
        for found in &self.loops {
            let Loop { location, function, reason, .. } = found;
            let runs = match (found.verdict, found.check) {
                ("sequential", _) => None,
                (_, "none") => Some("may run in parallel".to_owned()),
                (_, check) => Some(format!("may run in parallel, checked by {check}")),
            };
            match (&runs, &found.left_out) {
                (Some(how), None) if kinds.passed => {
                    let _ = writeln!(
                        text,
                        "{location}: remark: loop in '{function}' {how}: {reason} [-Rpass=paragon]"
                    );
                }
                (None, _) if kinds.missed => {
                    let _ = writeln!(
                        text,
                        "{location}: remark: loop in '{function}' stays sequential: {reason} [-Rpass-missed=paragon]"
                    );
                }
                (Some(_), Some(why)) if kinds.missed => {
                    let _ = writeln!(
                        text,
                        "{location}: remark: loop in '{function}' is left as it stood: {why} [-Rpass-missed=paragon]"
                    );
                }
                _ => {}
            }
            if !kinds.analysis {
                continue;
            }
            for Access { kind, text: place, location: at } in &found.accesses {
                let _ = writeln!(
                    text,
                    "{at}: remark: {kind} of {place}, for the loop in line {}: {} [-Rpass-analysis=paragon]",
                    location.line, found.kind
                );
            }
            for advice in &found.advice {
                let _ = writeln!(
                    text,
                    "{location}: remark: would settle it ({}): {} [-Rpass-analysis=paragon]",
                    found.kind, advice.text
                );
            }
        }
        text
    }

    fn json(&self) -> String {
        let document = Document {
            version: JSON_VERSION,
            generator: format!("paragon {}", env!("CARGO_PKG_VERSION")),
            loops: &self.loops,
            errors: &self.errors,
            notes: &self.notes,
        };
        // Strings and numbers always have a JSON form.
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }

    /// Pragmas that can't apply, as a compiler's errors.
    pub fn error_messages(&self) -> String {
        let mut text = String::new();
        for Error { location, message, accesses } in &self.errors {
            let _ = writeln!(text, "{location}: error: {message}");
            for Access { kind, text: place, location } in accesses {
                let _ = writeln!(text, "{location}: note: the {kind} of {place}");
            }
        }
        text
    }
}

fn accesses(notes: &[AccessNote], locate: &mut impl FnMut(Span) -> Location) -> Vec<Access> {
    let kind = |note: &AccessNote| if note.is_store { "store" } else { "load" };
    let located = notes.iter().map(|note| Access {
        kind: kind(note),
        text: note.text.clone(),
        location: locate(note.span),
    });
    located.collect()
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
