//! The tool beside the compiler: what it thinks of a program's loops, and what became of them at run time.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand};
use paragon::remarks::Format;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(about = "Explains what Paragon makes of the loops of a C program")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Every loop of a C file by line, with its verdict and the reason.
    Explain {
        /// The C file.
        file: PathBuf,
        /// How to print.
        #[arg(long, value_parser = formats(), default_value = "text")]
        format: Format,
        /// The compiler's flags.
        #[arg(last = true)]
        flags: Vec<OsString>,
    },
    /// How many function definitions are understood, and why the others are not. Those of system headers don't count.
    Functions {
        /// C files, each compiled by itself.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// The compiler's flags.
        #[arg(last = true)]
        flags: Vec<OsString>,
    },
    /// Which loops took longest to analyse, and how long.
    Timing {
        /// C files, each compiled by itself.
        #[arg(required = true)]
        files: Vec<PathBuf>,
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

fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(|(name, _)| name)).try_map(|name| name.parse::<Format>())
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Explain { file, format, flags } => {
            let mut command = flags;
            command.extend(["-fparagon".into(), "-c".into(), file.into_os_string()]);
            paragon::compile::explain(&command, paragon::compile::STAGES).map(|report| {
                let errors = report.error_messages();
                eprint!("{errors}");
                (report.render(format), errors.is_empty())
            })
        }
        Command::Functions { files, flags } => functions(&files, &flags).map(|text| (text, true)),
        Command::Timing { files, flags } => timing(&files, &flags).map(|text| (text, true)),
        Command::Table { trace } => std::fs::read_to_string(&trace)
            .map_err(|error| format!("{}: {error}", trace.display()))
            .and_then(|text| paragon::remarks::table(&text))
            .map(|text| (text, true)),
    };
    match result {
        Ok((text, is_fine)) => {
            print!("{text}");
            if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("paragon: error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Loops that [`timing`] names.
const SLOWEST: usize = 10;

fn timing(files: &[PathBuf], flags: &[OsString]) -> Result<String, String> {
    let mut times = Vec::new();
    for file in files {
        let mut command = flags.to_vec();
        command.extend(["-fparagon".into(), "-c".into(), file.clone().into_os_string()]);
        let found = paragon::compile::analysis_times(&command, paragon::compile::STAGES)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        times.extend(found);
    }
    times.sort_by(|a, b| b.cmp(a));
    let milliseconds = |time: std::time::Duration| time.as_secs_f64() * 1e3;
    let slowest = times.iter().take(SLOWEST);
    let mut text: String =
        slowest.map(|(time, place)| format!("{:8.2} ms  {place}\n", milliseconds(*time))).collect();
    let all = times.iter().map(|(time, _)| *time).sum();
    text += &format!("{:8.2} ms  all {} loops\n", milliseconds(all), times.len());
    Ok(text)
}

fn functions(files: &[PathBuf], flags: &[OsString]) -> Result<String, String> {
    let mut reports = Vec::new();
    for file in files {
        let mut command = flags.to_vec();
        command.extend(["-fparagon".into(), "-c".into(), file.clone().into_os_string()]);
        let found = paragon::compile::functions(&command, paragon::compile::STAGES)
            .map_err(|error| format!("{}: {error}", file.display()))?;
        reports.extend(found.into_iter().filter(|report| !report.file.starts_with("/usr/")));
    }
    // Headers define functions in many units.
    reports.sort_by(|a, b| (&a.file, a.line, &a.name).cmp(&(&b.file, b.line, &b.name)));
    reports.dedup();
    let mut text = String::new();
    for report in &reports {
        if let Some(reason) = &report.refused {
            text += &format!("{}:{}: {}: {reason}\n", report.file, report.line, report.name);
        }
    }
    let refused = reports.iter().filter(|report| report.refused.is_some()).count();
    let share = 100.0 * (reports.len() - refused) as f64 / reports.len().max(1) as f64;
    text += &format!("{} of {} functions lowered ({share:.2}%)\n", reports.len() - refused, reports.len());
    Ok(text)
}
