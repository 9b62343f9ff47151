//! The report as SARIF 2.1.0, the format that code scanning services and editors read: one run, a rule for each kind of reason, a
//! result for each loop. As much of the format as that needs.

use super::{Access, Error, Location, Loop, Report};
use crate::loops::reason::Kind;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The rule of pragmas that can't apply.
const PRAGMA: (&str, &str) = ("pragma", "A pragma can't apply to the loop behind it.");

#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<Finding>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Message,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding {
    rule_id: &'static str,
    rule_index: usize,
    kind: &'static str,
    level: &'static str,
    message: Message,
    locations: [Place; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    name: String,
    kind: &'static str,
}

/// The report as one log.
pub fn render(report: &Report) -> String {
    let kinds: BTreeSet<Kind> = report.loops.iter().map(|found| found.reason_kind).collect();
    let described = kinds.into_iter().map(Kind::describe);
    let own = (!report.errors.is_empty()).then_some(PRAGMA);
    let rules: Vec<Rule> = described
        .chain(own)
        .map(|(id, meaning)| Rule { id, short_description: Message { text: meaning.to_owned() } })
        .collect();
    let index = |id: &str| rules.iter().position(|rule| rule.id == id).unwrap_or(0);
    let loops = report.loops.iter().map(|found| of_loop(found, index(found.kind)));
    let errors = report.errors.iter().map(|error| of_error(error, index(PRAGMA.0)));
    let results = errors.chain(loops).collect();
    let driver = Driver { name: "paragon", version: env!("CARGO_PKG_VERSION"), rules };
    let run = Run { tool: Tool { driver }, column_kind: "unicodeCodePoints", results };
    let log = Log { schema: SCHEMA, version: "2.1.0", runs: [run] };
    // Strings and numbers always have a JSON form.
    serde_json::to_string_pretty(&log).unwrap_or_default() + "\n"
}

fn of_loop(found: &Loop, rule_index: usize) -> Finding {
    let stays = found.verdict == "sequential" || found.left_out.is_some();
    let mut text = match found.check {
        "none" => format!("{}: {}.", found.verdict, found.reason),
        check => format!("{} (checked by {check}): {}.", found.verdict, found.reason),
    };
    if let Some(why) = &found.left_out {
        let _ = write!(text, " It is left as it stood: {why}.");
    }
    for advice in &found.advice {
        let _ = write!(text, " Would settle it: {}.", advice.text);
    }
    let function = LogicalLocation { name: found.function.clone(), kind: "function" };
    Finding {
        rule_id: found.kind,
        rule_index,
        kind: if stays { "fail" } else { "pass" },
        level: if stays { "note" } else { "none" },
        message: Message { text },
        locations: [Place { logical_locations: vec![function], ..place(&found.location) }],
        related_locations: related(&found.accesses),
        properties: Some(serde_json::json!({ "verdict": found.verdict, "check": found.check })),
    }
}

fn of_error(error: &Error, rule_index: usize) -> Finding {
    Finding {
        rule_id: PRAGMA.0,
        rule_index,
        kind: "fail",
        level: "error",
        message: Message { text: format!("{}.", error.message) },
        locations: [place(&error.location)],
        related_locations: related(&error.accesses),
        properties: None,
    }
}

fn related(accesses: &[Access]) -> Vec<Place> {
    let numbered = accesses.iter().enumerate();
    numbered
        .map(|(number, access)| Place {
            id: Some(number),
            message: Some(Message { text: format!("{} of {}", access.kind, access.text) }),
            ..place(&access.location)
        })
        .collect()
}

fn place(location: &Location) -> Place {
    let region = Region { start_line: location.line.max(1), start_column: location.column };
    let artifact_location = ArtifactLocation { uri: uri(&location.file) };
    let physical_location = PhysicalLocation { artifact_location, region };
    Place { id: None, physical_location, logical_locations: Vec::new(), message: None }
}

/// A file's name as a URI reference: relative ones stay so.
fn uri(file: &str) -> String {
    let mut uri = String::from(if file.starts_with('/') { "file://" } else { "" });
    for byte in file.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into())
            }
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    #[test]
    fn files_as_uris() {
        assert_eq!(super::uri("src/a b.c"), "src/a%20b.c");
        assert_eq!(super::uri("/usr/x:y.c"), "file:///usr/x%3Ay.c");
    }
}
