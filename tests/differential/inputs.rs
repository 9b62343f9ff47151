//! The inputs themselves: whether the order of iterations shows on those, and only those, that are said to have a conflict.

use super::ROOT;
use super::building::{in_parallel, plain, scratch, succeed};
use super::programs::{Event, Program, programs_in};
use super::running::run;
use super::tally::conclude;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// The program with every named loop running backwards.
fn backwards(program: &Program) -> String {
    let mut text = String::new();
    for line in program.text.lines() {
        let reversed = line.contains("/* loop ").then(|| reverse(line)).flatten();
        assert!(
            reversed.is_some() || !line.contains("/* loop "),
            "{}: can't turn round: {line}",
            program.name
        );
        text += &reversed.unwrap_or_else(|| line.to_string());
        text.push('\n');
    }
    text.replace("\"../support/", &format!("\"{ROOT}/c-tests/support/"))
}

/// `for (T i = a; i < b; i++)` as a loop over the same values from the last to the first.
fn reverse(line: &str) -> Option<String> {
    let (indent, rest) = line.split_once("for (")?;
    let (first, rest) = rest.split_once("; ")?;
    let (condition, rest) = rest.split_once("; ")?;
    let (step, rest) = rest.split_once(')')?;
    let (declared, from) = first.split_once(" = ")?;
    let (variable, to) = condition.split_once(" < ")?;
    let kind = declared.strip_suffix(variable)?.trim();
    (step == format!("{variable}++")).then_some(())?;
    let value = format!("{variable} = ({from}) + ({to}) - 1 - up_{variable}");
    let up = format!("up_{variable}");
    Some(if kind.is_empty() {
        format!(
            "{indent}for (int {up} = ({value0}, {from}); {up} < ({to}); {up}++, {value}){rest}",
            value0 = format_args!("{variable} = ({to}) - 1")
        )
    } else {
        format!("{indent}for ({kind} {up} = ({from}), {value}; {up} < ({to}); {up}++, {value}){rest}")
    })
}

/// Tests are worth something only if their inputs are what they say: on clean inputs the named loops may run in any order,
/// on conflicting ones they may not.
#[test]
fn conflicting_inputs_depend_on_the_order() {
    let started = Instant::now();
    let folder = scratch("backwards");
    let programs: Vec<Program> = programs_in("chapter");
    let runs = AtomicUsize::new(0);
    let failures = in_parallel(&programs, |program| {
        let source = folder.join(format!("{}.c", program.name));
        fs::write(&source, backwards(program)).unwrap();
        let (forwards, backwards) =
            (folder.join(&program.name), folder.join(format!("{}.back", program.name)));
        for (from, to) in [(&program.source, &forwards), (&source, &backwards)] {
            succeed(plain("cc").args(["-std=gnu11", "-O2", "-o"]).arg(to).arg(from).arg("-lm"));
        }
        let list = succeed(plain(&forwards).arg("--list"));
        let mut failures = Vec::new();
        for input in String::from_utf8(list.stdout).unwrap().lines() {
            runs.fetch_add(1, Ordering::Relaxed);
            let [there, back] =
                [&forwards, &backwards].map(|executable| run(executable, &program.size, input, "1", |_| ()));
            let shows = there.difference(&back).is_some();
            let conflict = program
                .expectations
                .iter()
                .any(|e| e.event != Event::Runs && e.inputs.iter().any(|i| i == input));
            let commutes = program.commuting.iter().any(|i| i == input);
            assert!(conflict || input == "clean", "{}: nothing is expected of {input}", program.name);
            if shows != (conflict && !commutes) {
                failures.push(format!("{} {input}: order shows: {shows}", program.name));
            }
        }
        failures
    });
    let text = format!("{} inputs run forwards and backwards", runs.into_inner());
    conclude("inputs", started, &text, failures);
}
