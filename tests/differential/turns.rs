//! What is tested of the product of programs, inputs and settings: all of it where the whole is asked for (`PARAGON_TESTS_WHOLE=1`); else a
//! selection in which each of them comes up, but not each with each. Programs, inputs and settings take turns by their numbers, and a program's
//! is the same whichever others are tested (`PARAGON_TESTS`): what fails in a run of all of them fails by itself, too.

use super::building::Built;
use super::programs::{Event, Program};
use super::running::{GUESSES, LEARNT, Setting, TOGETHER};
use super::selection::is_whole;

/// So many of the settings of threads each program has on each input, besides the one that all have.
const ON_THREADS: usize = 3;

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

/// In which settings threads run a program on an input.
pub fn on_threads(built: &Built<'_>, input: &str, settings: &[Setting]) -> Vec<Setting> {
    let turn = built.turn(input);
    // What programs in place are about, and what most users have.
    let first = |s: &&Setting| {
        s.log == "auto" && s.race == "device" && s.device == "threads" && s.memory == "shared"
    };
    let (mut due, others): (Vec<Setting>, Vec<Setting>) = settings.iter().partition(first);
    due.extend(in_turn(&others, turn, ON_THREADS));
    if built.program.is_about_stamps() {
        let guesses = GUESSES.map(Setting::on_threads);
        due.extend(in_turn(&guesses[1..], turn, 1));
    }
    due
}

/// In which settings the emulated GPU runs a program on an input: on its first one, where most of what is expected holds, as it would be by itself, and in the settings that show
/// what is expected; in one more, and on other inputs in one. Kernels, which are most of the time, are others in each.
pub fn on_gpu(built: &Built<'_>, input: &str) -> Vec<Setting> {
    let Built { program, .. } = built;
    let setting = |log, groups| Setting { device: "cuda", groups, ..Setting::on_threads(log) };
    let is_of_chapter = program.source.parent().is_some_and(|p| p.ends_with("chapter"));
    // Tests have too few iterations for groups otherwise; so few threads that they load ahead are the chapter's programs'.
    let mut due = Vec::new();
    let mut others = vec![setting("auto", "always")];
    if input == "clean" && is_of_chapter {
        others.extend([
            setting("auto", "auto"),
            setting("atomic", "auto"),
            setting("reduction", "auto"),
            setting("bitmap", "auto"),
            setting("bitmap", "always"),
            setting("stamp", "auto"),
        ]);
    }
    // A single conflict, which bits of all lanes together have to show.
    if input == "one" || program.is_about_bitmaps {
        others.push(setting("bitmap", "auto"));
    }
    // What a bitmap has from the entry is too little to be entered otherwise.
    if program.is_about_bitmaps {
        others.push(setting("bitmap", "always"));
    }
    if program.has_few_threads {
        due.push(setting("auto", "auto"));
    }
    if program.is_about_stamps() {
        others.extend(GUESSES.map(|guesses| setting(guesses, "always")));
    }
    if program.is_about_rows() {
        others.push(setting("stamp together", "always"));
    }
    // Without inspections nothing but where arrays lie settles them.
    if program.expectations.iter().any(|expectation| expectation.event == Event::Unchecked) {
        due.push(setting(LEARNT, "auto"));
    }
    // The first input on which something is expected has the setting that shows it.
    let is_first = built.inputs.first().is_some_and(|first| first == input);
    let (shown, others): (Vec<Setting>, Vec<Setting>) = others.into_iter().partition(|other| {
        shows_first(program, input, other) || is_first && *other == setting("auto", "always")
    });
    due.extend(shown);
    due.extend(in_turn(&others, built.turn(input), 1));
    due
}

/// Whether something shows in a setting and in no other one that is expected on this input first.
fn shows_first(program: &Program, input: &str, setting: &Setting) -> bool {
    program.expectations.iter().any(|expectation| {
        expectation.inputs.first().is_some_and(|first| first == input)
            && match expectation.event {
                Event::Joined => setting.log() == ("stamp", "joined"),
                Event::Launched => setting.log() == ("stamp", "launches"),
                Event::Left => setting.log() == ("stamp", TOGETHER),
                Event::Sorted => setting.log == "bitmap" && setting.groups == "always",
                Event::Runs => program.is_about_bitmaps && setting.log == "bitmap",
                _ => false,
            }
    })
}
