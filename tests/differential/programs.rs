//! Programs and what their comments say must happen to their loops. Whether it has is for `comparison.rs` to say.

use super::ROOT;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What must happen to a loop on some inputs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    /// A device carries out an entry.
    Runs,
    /// The logs find a conflict.
    Conflicts,
    /// The logs find a conflict, except stamps, by which a device carries out an entry.
    Stamps,
    /// The same as for `Stamps`; and on a GPU the stores of neighbours are joined, where that is guessed.
    Joined,
    /// The logs find a conflict, except stamps, which may; but on a GPU none is found by the iterations of each of several launches, where these have logs of their own.
    Launched,
    /// The same as for `Stamps`; and a GPU begins with the last iterations.
    Backwards,
    /// The same as for `Joined`; and they are where a cell's writers lie on both sides of a row's end, too, if a warp's lanes stay together.
    Left,
    /// A device carries out an entry; under bitmaps a GPU does so in the order of how many turns iterations have.
    Sorted,
    /// Its iterations depend on each other, and run level by level.
    Levels,
    /// Threads carry out an entry on the program's own memory; where they have to work on copies or are to keep logs, nobody does.
    InPlace,
    /// No entry is carried out by a device.
    Stays,
    /// The last entry comes to a GPU, which doesn't check what earlier entries have shown: whatever becomes of it there.
    UncheckedAtLast,
    /// The same of the first entry, and what its inspection has shown.
    UncheckedAtFirst,
    /// A GPU carries out an entry and checks no address that an earlier one has seen.
    Unchecked,
}

#[derive(Debug)]
pub struct Expectation {
    /// Lines of the loops; one of them is enough.
    pub lines: Vec<u64>,
    pub event: Event,
    pub inputs: Vec<String>,
    pub text: String,
}

#[derive(Debug)]
pub struct Program {
    pub name: String,
    /// Among the programs of its folder, whichever of them are tested: by it the program has its turn.
    pub number: usize,
    pub source: PathBuf,
    pub text: String,
    pub size: String,
    pub expectations: Vec<Expectation>,
    /// Inputs on which the loops' order can't be seen in the result.
    pub commuting: Vec<String>,
    /// Whether it is about kernels of which few threads run.
    pub has_few_threads: bool,
    /// Whether it is about what bitmaps note.
    pub is_about_bitmaps: bool,
    /// Whether iterations load what they store themselves, by other accesses and before that.
    pub loads_its_own: bool,
}

impl Program {
    fn read((number, source): (usize, PathBuf)) -> Program {
        let text = fs::read_to_string(&source).unwrap();
        let name = source.file_stem().unwrap().to_string_lossy().into_owned();
        let mut loops = BTreeMap::new();
        for (line, number) in text.lines().zip(1u64..) {
            if let Some((_, rest)) = line.split_once("/* loop ") {
                loops.insert(rest.trim_end_matches("*/").trim().to_string(), number);
            }
        }
        let comment =
            |line: &str| line.trim_start_matches([' ', '*']).trim_end_matches("*/").trim().to_string();
        let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        let mut program = Program {
            size: String::new(),
            expectations: Vec::new(),
            commuting: Vec::new(),
            has_few_threads: false,
            is_about_bitmaps: false,
            loads_its_own: false,
            name,
            number,
            source,
            text: text.clone(),
        };
        for line in text.lines().map(comment) {
            if let Some(size) = line.strip_prefix("test size: ") {
                program.size = size.to_string();
            } else if line == "few threads" {
                program.has_few_threads = true;
            } else if line == "bitmaps" {
                program.is_about_bitmaps = true;
            } else if line == "loads its own" {
                program.loads_its_own = true;
            } else if let Some(inputs) = line.strip_prefix("order does not show on ") {
                program.commuting = words(inputs);
            } else if let Some(rest) = line.strip_prefix("expect ") {
                let (names, what) = rest.split_once(": ").expect(rest);
                let (event, inputs) = match what.split_once(" on ") {
                    Some(("runs", inputs)) => (Event::Runs, inputs),
                    Some(("conflicts", inputs)) => (Event::Conflicts, inputs),
                    Some(("stamps", inputs)) => (Event::Stamps, inputs),
                    Some(("is joined", inputs)) => (Event::Joined, inputs),
                    Some(("is launched", inputs)) => (Event::Launched, inputs),
                    Some(("runs backwards", inputs)) => (Event::Backwards, inputs),
                    Some(("is left to the next row", inputs)) => (Event::Left, inputs),
                    Some(("is sorted", inputs)) => (Event::Sorted, inputs),
                    Some(("levels", inputs)) => (Event::Levels, inputs),
                    Some(("runs unchecked at last", inputs)) => (Event::UncheckedAtLast, inputs),
                    Some(("runs in place", inputs)) => (Event::InPlace, inputs),
                    Some(("stays", inputs)) => (Event::Stays, inputs),
                    Some(("runs unchecked at first", inputs)) => (Event::UncheckedAtFirst, inputs),
                    Some(("unchecked", inputs)) => (Event::Unchecked, inputs),
                    _ => panic!("{}: unknown expectation: {line}", program.name),
                };
                let lines = names.split(" or ").map(|name| {
                    *loops.get(name).unwrap_or_else(|| panic!("{}: no loop {name}", program.name))
                });
                program.expectations.push(Expectation {
                    lines: lines.collect(),
                    event,
                    inputs: words(inputs),
                    text: line.clone(),
                });
            }
        }
        assert!(!program.size.is_empty(), "{}: no test size", program.name);
        program
    }
    /// Whether its author has thought of what stamps take for a conflict.
    pub fn is_about_stamps(&self) -> bool {
        self.expectations.iter().any(|expectation| {
            [Event::Stamps, Event::Joined, Event::Left, Event::Launched, Event::Backwards]
                .contains(&expectation.event)
        })
    }
    /// Whether it is about what a row's last iteration leaves to the next one's first.
    pub fn is_about_rows(&self) -> bool {
        self.expectations.iter().any(|expectation| expectation.event == Event::Left)
    }
}

/// Whether `PARAGON_TESTS` names a part of this program's name, or isn't set.
fn is_wanted(name: &str) -> bool {
    let parts = std::env::var("PARAGON_TESTS").unwrap_or_default();
    parts.split(',').any(|part| name.contains(part))
}

pub fn programs_in(folder: &str) -> Vec<Program> {
    let mut sources: Vec<PathBuf> = fs::read_dir(Path::new(ROOT).join("c-tests").join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    sources.sort();
    let is_wanted = |(_, path): &(usize, PathBuf)| is_wanted(&path.file_stem().unwrap().to_string_lossy());
    sources.into_iter().enumerate().filter(is_wanted).map(Program::read).collect()
}

pub fn programs() -> &'static [Program] {
    static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let mut all = programs_in("chapter");
        all.extend(programs_in("features"));
        assert!(!all.is_empty(), "PARAGON_TESTS matches no program's name");
        all
    })
}
