//! The C programs under `c-tests`, each built by `cc` and by `paragon-cc`: whatever the runtime is told to do, they must
//! print the same and leave the same memory behind, byte for byte.
//!
//! A program says in its comments what must happen besides (`c-tests/support/check.h` has the language): which loops a
//! device must have carried out, and in which of them the logs must have found a conflict. So the tests can't pass because
//! nothing was ever run elsewhere. Set `PARAGON_TESTS` to parts of programs' names, with commas between them, to run only the programs that match.
//! Programs, inputs and settings take turns (`turns.rs`), unless `PARAGON_TESTS_WHOLE=1` asks for each with each.
//!
//! What is run on an emulated GPU is a module of its own, and takes as long as all else. `scripts/tests` runs it as one process and all else as another
//! one, beside each other: they share the programs, which one of them builds (`building.rs`), and no other folder.

#[path = "../support/emulated_gpu.rs"]
mod emulated_gpu;
#[path = "../support/selection.rs"]
mod selection;

mod building;
mod comparison;
mod emulated;
mod free_order;
mod inputs;
mod kernels;
mod planted;
mod programs;
mod running;
mod tally;
mod turns;

use building::{Built, build_all, built, copy_program, in_parallel, scratch};
use comparison::compare_all;
use programs::{programs, programs_in};
use running::{Setting, all_settings, run};
use selection::{is_whole, selected};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tally::conclude;

const PARAGON_CC: &str = env!("CARGO_BIN_EXE_paragon-cc");
const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// More than the machine may have, so that chunks of one loop overlap in time.
const DEVICE_THREADS: &str = "4";
/// After which a program is given up: a machine may be busy with other things.
const SECONDS: &str = "900";

#[test]
fn same_results_in_every_setting() {
    compare_all("every setting", built(), &all_settings());
}

#[test]
fn same_results_when_cc_optimises_more() {
    // What is built once has this level by turns.
    if !is_whole() {
        return;
    }
    let settings: Vec<Setting> = all_settings().into_iter().filter(|s| s.memory == "separate").collect();
    let built = build_all(programs(), Path::new(PARAGON_CC), |_| "-O3", &scratch("optimised more"));
    compare_all("optimised more", &built, &settings);
}

#[test]
fn programs_run_without_the_runtime() {
    let started = Instant::now();
    let folder = scratch("without the runtime");
    // A tree of its own, whose runtime can be taken away. How a program looks for it is the same in all.
    let compiler = folder.join("paragon-cc");
    let library = folder.join("libparagon_rt.so");
    copy_program(Path::new(PARAGON_CC), &compiler);
    copy_program(&Path::new(PARAGON_CC).with_file_name("libparagon_rt.so"), &library);
    let chapter = programs_in("chapter");
    let few = chapter.iter().step_by(selected(6, 1) as usize);
    let own = build_all(few, &compiler, |_| "-O2", &folder);
    let runs = AtomicUsize::new(0);
    let setting = Setting::on_threads("atomic");
    // Whether the runtime was there is seen by its trace.
    let check = |built: &[Built<'_>], runtime: Option<&str>, wants_trace: bool| {
        // One input each: nothing depends on them here.
        let cases: Vec<(&Built<'_>, &str)> =
            built.iter().filter_map(|b| b.inputs.first().map(|input| (b, input.as_str()))).collect();
        in_parallel(&cases, |(built, input)| {
            let folder = tempfile::tempdir().unwrap();
            let trace = folder.path().join("trace");
            let size = &built.program.size;
            let wanted = run(&built.reference(), size, input, "1", |_| ());
            let ours = run(&built.paragon(), size, input, "1", |command| {
                setting.apply(command);
                command.env("PARAGON_TRACE", &trace);
                if let Some(runtime) = runtime {
                    command.env("PARAGON_RT", runtime);
                }
            });
            runs.fetch_add(1, Ordering::Relaxed);
            let name = &built.program.name;
            let mut failures = Vec::new();
            if let Some(difference) = ours.difference(&wanted) {
                failures.push(format!("{name} {input} (PARAGON_RT {runtime:?}): {difference}"));
            }
            if trace.exists() != wants_trace {
                failures.push(format!("{name} {input} (PARAGON_RT {runtime:?}): trace: {}", trace.exists()));
            }
            failures
        })
    };
    let mut failures = check(built(), Some("/nonexistent"), false);
    fs::rename(&library, folder.join("moved-away.so")).unwrap();
    failures.extend(check(&own, None, false));
    fs::rename(folder.join("moved-away.so"), &library).unwrap();
    failures.extend(check(&own, None, true));
    let runs = runs.into_inner();
    conclude("without the runtime", started, &format!("{runs} runs compared byte by byte"), failures);
}
