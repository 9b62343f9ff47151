//! Compiles device bodies, as `paragon-cc --paragon-save-temps=DIR` keeps them, to machine code: with every log method, and for all
//! that a kernel may be compiled for. With `--in-turn` in front of the files, each one without logs and in one of the other variants,
//! which take turns.
//! It needs NVIDIA's run-time compiler (`PARAGON_NVRTC`), but no GPU: so kernels are checked where no GPU is.

use paragon_rt::device::cuda::nvrtc;
use paragon_rt::device::{Guess, LARGE, LogMethod, Specialisation, WIDEST};
use std::process::ExitCode;

fn main() -> ExitCode {
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
