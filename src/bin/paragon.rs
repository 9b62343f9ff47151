//! The tool beside the compiler: what it thinks of a program's loops, and what became of them at run time.

use clap::{Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(about = "Explains what Paragon makes of the loops of a C program")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Format {
    Text,
    Json,
}

#[derive(Subcommand)]
enum Command {
    /// Every loop of a C file by line, with its verdict and the reason.
    Explain {
        /// The C file.
        file: PathBuf,
        /// How to print.
        #[arg(long, value_enum, default_value = "text")]
        format: Format,
        /// The compiler's flags.
        #[arg(last = true)]
        flags: Vec<OsString>,
    },
    /// A table of what PARAGON_TRACE wrote: a row for each loop.
    Table {
        /// The trace.
        trace: PathBuf,
    },
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Explain { file, format, flags } => {
            let mut command = flags;
            command.extend(["-fparagon".into(), "-c".into(), file.into_os_string()]);
            paragon::compile::explain(&command, paragon::compile::STAGES)
                .map(|reports| paragon::remarks::render(&reports, format == Format::Json))
        }
        Command::Table { trace } => std::fs::read_to_string(&trace)
            .map_err(|error| format!("{}: {error}", trace.display()))
            .and_then(|text| paragon::remarks::table(&text)),
    };
    match result {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("paragon: error: {error}");
            ExitCode::FAILURE
        }
    }
}
