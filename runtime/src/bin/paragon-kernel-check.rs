//! Compiles device bodies, as `paragon-cc --paragon-save-temps=DIR` keeps them, to machine code: with every log method, and for all
//! that a kernel may be compiled for. With `--in-turn` in front of the files, each one without logs and in one of the other variants,
//! which take turns. With `--generic` in front of them, their generic accesses are counted instead.
//! It needs NVIDIA's run-time compiler (`PARAGON_NVRTC`), but no GPU: so kernels are checked where no GPU is.

use paragon_rt::device::cuda::nvrtc;
use paragon_rt::device::{Guess, LARGE, LogMethod, Specialisation, WIDEST};
use std::process::ExitCode;

/// A kernel's accesses to memory but for its parameters and the thread's own: all, and those that are generic. The state space is a part
/// of an operation's name, unless the compiler doesn't know it.
fn accesses(ptx: &str) -> (usize, usize) {
    const OWN: [&str; 4] = ["param", "local", "shared", "const"];
    let operations =
        ptx.lines().filter_map(|line| line.split_whitespace().find(|word| !word.starts_with('@')));
    let parts = operations.map(|operation| operation.split('.').collect::<Vec<_>>());
    let accesses: Vec<Vec<&str>> = parts
        .filter(|parts| parts.len() > 1 && ["ld", "st", "atom", "red"].contains(&parts[0]))
        .filter(|parts| !parts.iter().any(|part| OWN.contains(part)))
        .collect();
    (accesses.len(), accesses.iter().filter(|parts| !parts.contains(&"global")).count())
}

/// Counts generic accesses, of which the compiler doesn't know that they are of the GPU's memory: they take longer, and loads wait for stores that
/// they can't meet. In what a kernel may be compiled for where an iteration's accesses need no check. Lanes that lend *and* share an iteration are
/// left out: what an earlier run has seen is masked there, because that saves registers (`__pg_place_of`).
fn count_generic(files: impl Iterator<Item = String>) -> ExitCode {
    let (mut kernels, mut all, mut all_generic) = (0, 0, 0);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        for method in [LogMethod::None, LogMethod::Bitmap] {
            for (bounded, inside) in [(u64::MAX, 0), (0, u64::MAX)] {
                for (spread, lends) in [(1, false), (1, true), (WIDEST, false)] {
                    let none = Specialisation::none(method);
                    let kernel = Specialisation { narrow: true, bounded, inside, spread, lends, ..none };
                    let ptx = match nvrtc::ptx_for("compute_90", &text, kernel, false) {
                        Ok(ptx) => ptx,
                        Err(error) => {
                            println!("FAILED {file} ({kernel:?}): {error}");
                            return ExitCode::FAILURE;
                        }
                    };
                    let (found, generic) = accesses(&ptx);
                    if generic != 0 {
                        println!("{file} ({kernel:?}): {generic} of {found} accesses are generic");
                    }
                    kernels += 1;
                    all += found;
                    all_generic += generic;
                }
            }
        }
    }
    println!("{kernels} kernels, {all} accesses, {all_generic} generic");
    ExitCode::SUCCESS
}

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("--generic") {
        return count_generic(std::env::args().skip(2));
    }
    let (mut passed, mut failed) = (0, 0);
    let in_turn = std::env::args().nth(1).is_some_and(|first| first == "--in-turn");
    for (number, file) in std::env::args().skip(1 + usize::from(in_turn)).enumerate() {
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) => {
                println!("FAILED {file}: {error}");
                failed += 1;
                continue;
            }
        };
        let all = u64::MAX;
        let none = Specialisation::none;
        let variants = [
            (none(LogMethod::None), false),
            (none(LogMethod::Atomic), false),
            (Specialisation { narrow: true, ..none(LogMethod::Reduction) }, false),
            (Specialisation { narrow: true, ..none(LogMethod::Stamp) }, false),
            (Specialisation { narrow: true, ordered: true, bounded: all, ..none(LogMethod::Mark) }, false),
            (
                Specialisation {
                    narrow: true,
                    bounded: all,
                    constant: all,
                    tile: Some((1, 0)),
                    group: LARGE[0],
                    shares: true,
                    ..none(LogMethod::None)
                },
                true,
            ),
            (
                Specialisation {
                    narrow: true,
                    bounded: all,
                    constant: all,
                    group: (1, 4),
                    deep: true,
                    ..none(LogMethod::None)
                },
                false,
            ),
            (Specialisation { narrow: true, bounded: all, group: (1, 4), ..none(LogMethod::Bitmap) }, false),
            (Specialisation { narrow: true, gathers: true, ..none(LogMethod::Bitmap) }, false),
            (Specialisation { narrow: true, guess: Guess::Counting, ..none(LogMethod::Stamp) }, false),
            (Specialisation { guess: Guess::Looking, ..none(LogMethod::Stamp) }, false),
            (Specialisation { narrow: true, buffered: 4, ..none(LogMethod::Stamp) }, false),
            (Specialisation { buffered: 8, log_shift: 3, ..none(LogMethod::Stamp) }, false),
            (Specialisation { buffered: 6, apart: true, log_shift: 3, ..none(LogMethod::Stamp) }, false),
            (Specialisation { buffered: 4, apart: true, grouped: true, ..none(LogMethod::Stamp) }, false),
            (Specialisation { narrow: true, kept: all, spread: WIDEST, ..none(LogMethod::Mark) }, false),
        ];
        let others = variants.len() - 1;
        let is_due = |variant: usize| !in_turn || variant == 0 || variant == 1 + number % others;
        for (_, (kernel, far)) in variants.into_iter().enumerate().filter(|(variant, _)| is_due(*variant)) {
            match nvrtc::compile_for("sm_90", &text, kernel, far) {
                Ok(_) => passed += 1,
                Err(error) => {
                    println!("FAILED {file} ({kernel:?}, far tables: {far}): {error}");
                    failed += 1;
                }
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
