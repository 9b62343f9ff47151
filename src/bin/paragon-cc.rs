//! The compiler command: `CC=paragon-cc make`. See `paragon::compile`.

use std::process::ExitCode;

fn main() -> ExitCode {
    paragon::compile::main(std::env::args_os().skip(1).collect())
}
