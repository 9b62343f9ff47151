//! Compiles device bodies, as `paragon-cc --paragon-save-temps=DIR` keeps them, to machine code: with every log method, and for all
//! that a kernel may be compiled for.
//! It needs NVIDIA's run-time compiler (`PARAGON_NVRTC`), but no GPU: so kernels are checked where no GPU is.

use paragon_rt::device::cuda::nvrtc;
use paragon_rt::device::{LARGEST, LogMethod, Specialisation};
use std::process::ExitCode;

fn main() -> ExitCode {
    let (mut passed, mut failed) = (0, 0);
    for file in std::env::args().skip(1) {
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
        for (kernel, far) in [
            (none(LogMethod::None), false),
            (none(LogMethod::Atomic), false),
            (Specialisation { narrow: true, ..none(LogMethod::Reduction) }, false),
            (Specialisation { narrow: true, ordered: true, bounded: all, ..none(LogMethod::Mark) }, false),
            (
                Specialisation {
                    narrow: true,
                    bounded: all,
                    constant: all,
                    tile: Some((1, 0)),
                    group: LARGEST,
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
        ] {
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
