//! Results that the user lets differ from cc's: they are the same wherever a loop runs, with any number of threads.

use super::PARAGON_CC;
use super::building::{Built, copy_program, in_parallel, plain, scratch, succeed};
use super::comparison::compare;
use super::programs::programs_in;
use super::running::{Setting, all_settings, run};
use super::tally::{Tally, conclude};
use super::turns::in_turn;
use std::time::Instant;

/// Where the user gives the order of sums and products free, the results are not cc's; but they are the same wherever a loop
/// runs, and with any number of threads. What they are compared with is the same program where nothing may run elsewhere.
#[test]
fn sums_in_free_order_are_the_same_everywhere() {
    let flags = [
        &["-O2", "-fparagon-reassoc"][..],
        &["-O3", "-ffast-math"],
        &["-O3", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"],
        &["-O3", "-march=native", "-fparagon-reassoc", "-ffp-contract=off"],
    ];
    // A program that was linked so flushes denormal numbers, which only threads on its own memory can, too.
    let everywhere = |flags: &[&str], s: &Setting| {
        !flags.contains(&"-ffast-math") || s.race == "auto" || s.device == "off"
    };
    same_everywhere("sums in free order", "licence", &flags, everywhere);
}

/// The same of calls of libm whose bits the user gives free; in place, the only way in which they run.
#[test]
fn calls_with_free_bits_are_the_same_everywhere() {
    let flags = [&["-O3", "-ffast-math"][..], &["-Ofast", "-fmath-errno", "-fno-finite-math-only"]];
    let in_place = |_: &[&str], s: &Setting| s.device == "off" || s.memory == "shared" && s.log == "auto";
    same_everywhere("calls with free bits", "free_calls", &flags, in_place);
}

/// Compares the programs of a folder with themselves, in the settings that are wanted and with any number of threads.
fn same_everywhere(name: &str, programs: &str, flags: &[&[&str]], wants: impl Fn(&[&str], &Setting) -> bool) {
    let (tally, started) = (Tally::default(), Instant::now());
    let mut failures = Vec::new();
    for (number, flags) in flags.iter().enumerate() {
        let folder = scratch(&format!("{programs}{}", flags.concat()));
        for program in &programs_in(programs) {
            let mut built = Built { program, folder: folder.clone(), inputs: Vec::new() };
            let said = succeed(
                plain(PARAGON_CC)
                    .args(["-std=gnu11", "-Wall", "-Wextra"])
                    .args(*flags)
                    .args(["-fparagon-threshold=1", "-fparagon-checked-threads", "-o"])
                    .arg(built.paragon())
                    .arg(&program.source)
                    .arg("-lm"),
            );
            assert!(said.stderr.is_empty(), "{}", String::from_utf8_lossy(&said.stderr));
            copy_program(&built.paragon(), &built.reference());
            let list = succeed(plain(built.reference()).arg("--list"));
            built.inputs = String::from_utf8(list.stdout).unwrap().lines().map(String::from).collect();
            let mut settings = all_settings();
            settings.retain(|s| wants(flags, s));
            let by_threads: Vec<(&str, &str)> = ["1", "2", "3", "7"]
                .iter()
                .flat_map(|threads| ["device", "worker", "auto"].map(|race| (*threads, race)))
                .collect();
            failures.extend(in_parallel(&built.inputs, |input| {
                let turn = number + built.turn(input);
                let mut failures = compare(&built, input, &in_turn(&settings, turn, 4), &tally);
                let wanted = run(&built.reference(), &program.size, input, "1", |_| ());
                if String::from_utf8_lossy(&wanted.stdout).contains("WRONG") {
                    failures.push(format!(
                        "{} {input}: {}",
                        program.name,
                        String::from_utf8_lossy(&wanted.stdout)
                    ));
                }
                for (threads, race) in in_turn(&by_threads, turn, 5) {
                    let ours = run(&built.paragon(), &program.size, input, "1", |command| {
                        command.env("PARAGON_DEVICE", "threads").env("PARAGON_RACE", race);
                        command.env("PARAGON_THREADS", threads).env("PARAGON_AT_ONCE", "on");
                    });
                    if let Some(difference) = ours.difference(&wanted) {
                        failures.push(format!("{} {input} {threads} {race}: {difference}", program.name));
                    }
                }
                failures.iter().map(|failure| format!("{flags:?} {failure}")).collect()
            }));
        }
    }
    conclude(name, started, &tally.text(), failures);
}
