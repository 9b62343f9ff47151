//! What is tested of the product of programs, inputs and settings: all of it where the whole is asked for (`PARAGON_TESTS_WHOLE=1`); else a
//! selection in which each of them comes up, but not each with each. Programs, inputs and settings take turns by their numbers, and a program's
//! is the same whichever others are tested (`PARAGON_TESTS`): what fails in a run of all of them fails by itself, too.

use super::building::Built;
use super::programs::{Event, Program};
use super::running::{GUESSES, LEARNT, Setting, TOGETHER};
use super::selection::is_whole;

/// So many of threads' settings in which a log is asked for each program has on each input, and of the others, besides the one that all have. What some input
/// is to show only a log can.
const UNDER_LOGS: usize = 2;
const OTHERS: usize = 1;

/// Those of a list whose turn it is: `count` of them, which numbers that follow each other continue.
pub fn in_turn<T: Copy>(all: &[T], number: usize, count: usize) -> Vec<T> {
    let count = if is_whole() { all.len() } else { count.min(all.len()) };
    (0..count).map(|i| all[(number * count + i) % all.len()]).collect()
}

/// What a program is optimised with where several tests share what was built: the whole has -O3 besides.
pub fn level(program: &Program) -> &'static str {
    // Not each second one: settings take turns, too, and each of them is to meet both.
    let is_second = program.number.count_ones() % 2 == 1;
    if is_second && !is_whole() { "-O3" } else { "-O2" }
}

/// In which of these settings threads run a program on an input.
pub fn on_threads(built: &Built<'_>, input: &str, settings: &[Setting]) -> Vec<Setting> {
    let turn = built.turn(input);
    // What programs in place are about, and what most users have.
    let is_first =
        |s: &&Setting| (s.device, s.memory, s.log, s.race) == ("threads", "shared", "auto", "device");
    let (mut due, others): (Vec<Setting>, Vec<Setting>) = settings.iter().partition(is_first);
    let is_logged = |s: &Setting| ["atomic", "reduction", "bitmap", "stamp"].contains(&s.log);
    let (logged, others): (Vec<Setting>, Vec<Setting>) = others.into_iter().partition(is_logged);
    // One of those on the program's own memory with one of those on copies, under another log.
    let (shared, copied): (Vec<Setting>, Vec<Setting>) = logged.iter().partition(|s| s.memory == "shared");
    let by_twos: Vec<Setting> =
        (0..shared.len()).flat_map(|i| [shared[i], copied[(i + 2) % copied.len()]]).collect();
    // All of them may be on copies, where the whole is asked for.
    due.extend(in_turn(if is_whole() { &logged } else { &by_twos }, turn, UNDER_LOGS));
    due.extend(in_turn(&others, turn, OTHERS));
    if built.program.is_about_stamps() {
        let guesses = GUESSES.map(Setting::on_threads);
        due.extend(in_turn(&guesses[1..], turn, 1));
    }
    due
}

const fn of_gpu(log: &'static str, groups: &'static str) -> Setting {
    Setting { device: "cuda", groups, ..Setting::on_threads(log) }
}

/// What the emulated GPU runs every program in: tests have too few iterations for groups otherwise.
const GROUPED: Setting = of_gpu("auto", "always");

/// In which settings it may run a program on an input.
pub fn possible_on_gpu(built: &Built<'_>, input: &str) -> Vec<Setting> {
    let Built { program, .. } = built;
    let mut possible = vec![GROUPED];
    // So few threads that they load ahead are the chapter's programs', too.
    if input == "clean" && program.source.parent().is_some_and(|p| p.ends_with("chapter")) {
        possible.extend(["auto", "atomic", "reduction", "bitmap", "stamp"].map(|log| of_gpu(log, "auto")));
        possible.push(of_gpu("bitmap", "always"));
    }
    if program.has_few_threads {
        possible.push(of_gpu("auto", "auto"));
    }
    // A single conflict, which bits of all lanes together have to show.
    if input == "one" || program.is_about_bitmaps {
        possible.push(of_gpu("bitmap", "auto"));
    }
    // What a bitmap has from the entry is too little to be entered otherwise.
    if program.is_about_bitmaps {
        possible.push(of_gpu("bitmap", "always"));
    }
    if program.is_about_stamps() {
        possible.extend(GUESSES.map(|guesses| of_gpu(guesses, "always")));
    }
    if program.is_about_rows() {
        possible.push(of_gpu("stamp together", "always"));
    }
    // Without inspections nothing but where arrays lie settles them.
    if program.expectations.iter().any(|expectation| expectation.event == Event::Unchecked) {
        possible.push(of_gpu(LEARNT, "auto"));
    }
    possible
}

/// In which of them it runs it: on each third input in one by turns; on the first one besides in what all programs have, and wherever something shows that is expected there first and
/// shows in no other setting. Each one needs kernels of its own, and they are most of the time.
pub fn on_gpu(built: &Built<'_>, input: &str) -> Vec<Setting> {
    let Built { program, inputs, .. } = built;
    let is_first = inputs.first().is_some_and(|first| first == input);
    let is_due = |s: &Setting| is_first && *s == GROUPED || shows_first(program, input, s);
    let (mut due, others): (Vec<Setting>, Vec<Setting>) =
        possible_on_gpu(built, input).into_iter().partition(is_due);
    let turn = built.turn(input);
    due.extend(in_turn(&others, turn / 3, usize::from(is_whole() || turn.is_multiple_of(3))));
    due
}

/// Whether something shows in a setting and in no other one that is expected on this input first.
fn shows_first(program: &Program, input: &str, setting: &Setting) -> bool {
    program.expectations.iter().any(|expectation| {
        expectation.inputs.first().is_some_and(|first| first == input)
            && match expectation.event {
                Event::Joined | Event::Backwards => setting.log() == ("stamp", "joined"),
                Event::Launched => setting.log() == ("stamp", "launches"),
                Event::Left => setting.log() == ("stamp", TOGETHER),
                Event::Sorted => setting.log == "bitmap" && setting.groups == "always",
                Event::Runs if program.is_about_bitmaps => setting.log == "bitmap",
                Event::Runs if program.has_few_threads => setting.log == "auto",
                Event::Unchecked => setting.log == LEARNT,
                _ => false,
            }
    })
}
