//! Compiles device bodies, as `paragon-cc --paragon-save-temps=DIR` keeps them, to machine code with every log method.
//! It needs NVIDIA's run-time compiler (`PARAGON_NVRTC`), but no GPU: so kernels are checked where no GPU is.

use paragon_rt::device::cuda::nvrtc;
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
        for method in 0..4 {
            match nvrtc::compile_for("sm_90", &text, method) {
                Ok(_) => passed += 1,
                Err(error) => {
                    println!("FAILED {file} (log method {method}): {error}");
                    failed += 1;
                }
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
