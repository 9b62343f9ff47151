//! The stages in order, each a function from a value to a value: preprocess, lower, find loops and their verdicts,
//! generate, splice, compile. And what happens when one of them gives up: the user's own command, untouched.
//!
//! The analysis stages are handed in as [`Stages`], so that the road can be driven and tested with any of them. Not
//! here: the command language (`driver::arguments`) and running the real compiler (`driver::toolchain`).

mod untouchable;

use crate::c::dialect::Dialect;
use crate::c::hir::{LoopId, LoopStmt, Stmt, StmtKind, TranslationUnit};
use crate::c::pragma;
use crate::codegen::{Edit, Generated};
use crate::driver::arguments::{self, Decision, Input, Invocation, Mode};
use crate::driver::interruption::{Cancellation, Folder};
use crate::driver::pragmas;
use crate::driver::reports;
use crate::driver::splice::{self, TokenEdit, Untouched};
use crate::driver::toolchain::{self, Messages, Obstacle, Preprocessed, Rewritten, Toolchain};
use crate::loops::options::{AnalysisOptions, CodegenOptions};
use crate::loops::plan::LoopReport;
use crate::remarks::Report;
use crate::verdict;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::panic;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};
use std::thread::ScopedJoinHandle;

/// The stages between preprocessing and splicing.
#[derive(Clone, Copy)]
pub struct Stages {
    /// Expanded text to typed tree. The error is an internal one.
    pub lower: fn(&str, &Dialect) -> Result<TranslationUnit, String>,
    /// What makes loops easier to classify: values of what nothing changes, rows that can be relied on, what `memcpy` and `memset` do, structs by their members, bit-fields by their containers, conditions instead of jumps, counters for those that have none, bodies instead of calls,
    /// and variables for places that they keep, and for members of structs.
    pub normalize: fn(&mut TranslationUnit, &AnalysisOptions),
    /// A report for each loop.
    pub classify: fn(&TranslationUnit, &AnalysisOptions) -> Vec<LoopReport>,
    /// Text for the loops that have plans.
    pub generate: fn(&TranslationUnit, &[LoopReport], &CodegenOptions) -> Generated,
}

/// The stages of this build; without them every command is the real compiler's.
pub const STAGES: Option<Stages> = Some(Stages {
    lower: |text, dialect| Ok(crate::c::lower_unit(text, dialect)),
    normalize: |unit, options| {
        crate::loops::constants::put_values(unit);
        crate::loops::full_expressions::unfold(unit, options);
        let mut addresses = crate::loops::addresses::Seen::of(unit);
        crate::loops::full_expressions::drop_idle(unit);
        // Compound literals have rows, too.
        crate::loops::whole::spell_out(unit);
        crate::loops::rows::check(unit);
        crate::loops::addresses::copy_bytes(unit, options);
        crate::loops::blocks::spell_out(unit, options);
        addresses.settle(unit);
        crate::loops::structured::structure_jumps(unit);
        crate::loops::counted::add_counters(unit);
        crate::loops::structured::structure_functions(unit);
        crate::loops::inline::inline_calls(unit, options);
        addresses.settle(unit);
        crate::loops::whole::copy(unit);
        crate::loops::bit_fields::spell_out(unit);
        crate::loops::members::find(unit);
        crate::loops::cells::find(unit);
    },
    classify: crate::verdict::classify,
    generate: crate::codegen::generate,
});

/// For tests: a text's unit as its loops are classified, and a report for each of them.
#[cfg(test)]
pub fn judged(text: &str, options: &AnalysisOptions) -> (TranslationUnit, Vec<LoopReport>) {
    let stages = STAGES.unwrap();
    let mut unit = (stages.lower)(text, &Dialect::default()).unwrap();
    (stages.normalize)(&mut unit, options);
    let reports = (stages.classify)(&unit, options);
    (unit, reports)
}

/// What the stages made of one input.
struct Prepared {
    /// The rewritten text; none if there is nothing to change.
    rewritten: Option<Rewritten>,
    /// The text as it was written but for our pragmas, of which the compiler would warn; none if it doesn't have any.
    plain: Option<PathBuf>,
    /// The dependency file to write.
    dependencies: Option<(PathBuf, Vec<u8>)>,
    /// What is told of its loops, where somebody wants to know, and pragmas that can't apply.
    report: Report,
}

/// What compiling one input came to.
enum Compiled {
    /// What the user should read.
    Fine(Vec<u8>),
    /// The echo of a text that is right was wrong: what to say.
    Misread(Vec<u8>),
    /// The user's own command has to run.
    Declined,
}

/// A command that was carried out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finished {
    /// Whether it did what it was told to.
    pub success: bool,
    /// What is to be said about it.
    pub messages: Vec<u8>,
}

/// The stack for the stages, which follow the nesting of the user's text. Only what is used of it is ever there.
const STACK_SIZES: [usize; 2] = [1 << 30, 64 << 20];

/// `paragon-cc` as a function of its arguments.
pub fn main(command: Vec<OsString>) -> ExitCode {
    run(&command, STAGES)
}

/// [`main`] with the given stages.
pub fn run(command: &[OsString], stages: Option<Stages>) -> ExitCode {
    let toolchain = match Toolchain::find() {
        Ok(toolchain) => toolchain,
        Err(error) => return failure(&error),
    };
    let invocation = match arguments::parse(command) {
        Decision::PassThrough { arguments, .. } => return failure(&toolchain.become_real(&arguments)),
        Decision::Handle(invocation) => invocation,
        Decision::Invalid(problem) => return failure(&problem),
    };
    if let Some(stages) = stages
        && !Toolchain::is_nested()
        && toolchain.is_gcc()
        && is_suitable(&invocation)
    {
        // Our mistakes are reported below, in our words.
        panic::set_hook(Box::new(|_| {}));
        match handle(&toolchain, &invocation, stages) {
            Ok(Some(finished)) => {
                // Nobody to tell if standard error is closed.
                let _ = std::io::stderr().write_all(&finished.messages);
                return if finished.success { ExitCode::SUCCESS } else { ExitCode::FAILURE };
            }
            Ok(None) => {}
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "paragon-cc: warning: {error}; compiled without Paragon");
            }
        }
    }
    failure(&toolchain.become_real(&invocation.untouched))
}

/// Whether files and environment are such that compiling in several steps is the same as compiling at once.
fn is_suitable(invocation: &Invocation) -> bool {
    // Dependencies asked for in the environment would be written by every step.
    if ["DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"].iter().any(|name| std::env::var_os(name).is_some()) {
        return false;
    }
    // What can only be read once (a pipe) is for the real compiler.
    let regular = |path: &Path| fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let absent_or_regular = |path: &PathBuf| !path.exists() || regular(path);
    if !invocation.inputs.iter().all(|input| regular(&input.path))
        || !invocation.included.iter().all(absent_or_regular)
    {
        return false;
    }
    // The compiler refuses to write over what it reads. It must not be us who do.
    let identity = |path: &Path| fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    let output = invocation.output.as_deref().and_then(identity);
    let inputs = invocation.inputs.iter().map(|input| input.path.as_path());
    let others = invocation.other_inputs.iter().map(|index| Path::new(&invocation.arguments[*index]));
    output.is_none() || inputs.chain(others).all(|path| identity(path) != output)
}

fn failure(error: &str) -> ExitCode {
    // Nobody to tell if standard error is closed.
    let _ = writeln!(std::io::stderr(), "paragon-cc: error: {error}");
    ExitCode::FAILURE
}

/// What compiling a text came to: whether it worked, and what was said.
type Ran = Result<(ExitStatus, Vec<u8>), String>;

/// A compilation of the text as it was written that began before anything was known.
type Early<'scope> = ScopedJoinHandle<'scope, Ran>;

/// Runs the whole command our way; `None`: the user's own command has to run.
///
/// Most files have no loop for us, and what they would cost is the time that it takes to see that. So a file that is alone
/// is compiled as it was written from the start, beside the stages; where a loop is found, that is given up.
pub fn handle(
    toolchain: &Toolchain,
    invocation: &Invocation,
    stages: Stages,
) -> Result<Option<Finished>, String> {
    let folder = Folder::new().map_err(|error| error.to_string())?;
    let mut folders = Vec::new();
    for number in 0..invocation.inputs.len() {
        let own = folder.path().join(number.to_string());
        for inside in [BESIDE, EARLY] {
            fs::create_dir_all(own.join(inside)).map_err(|error| error.to_string())?;
        }
        folders.push(own);
    }
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let alone = match invocation.inputs.as_slice() {
        [input] if cores > 1 && invocation.mode != Mode::Link && !invocation.own.echo => Some(input),
        _ => None,
    };
    let cancellation = Cancellation::default();
    std::thread::scope(|scope| {
        let (folders, cancellation) = (&folders, &cancellation);
        let early = alone.map(|input| {
            scope.spawn(move || {
                let place = folders[0].join(EARLY);
                compile_original(toolchain, invocation, input, None, &place, cancellation)
            })
        });
        let prepared = invocation
            .inputs
            .iter()
            .zip(folders)
            .map(|(input, own)| with_stack(|| prepare(toolchain, invocation, input, own, stages)))
            .collect::<Result<Option<Vec<Prepared>>, String>>();
        let is_wanted = |prepared: &Prepared| {
            let text = prepared.rewritten.as_ref();
            prepared.plain.is_none() && text.is_none_or(|text| text.messages == Messages::Compiler)
        };
        let early = match &prepared {
            Ok(Some(list)) if list.iter().all(is_wanted) => early,
            _ => {
                cancellation.cancel();
                None
            }
        };
        match prepared? {
            Some(prepared) => {
                let reports = prepared.iter().map(|outcome| outcome.report.clone()).collect();
                reports::deliver(invocation, reports);
                finish(toolchain, invocation, &folder, folders, prepared, early)
            }
            None => Ok(None),
        }
    })
}

/// Compiles, links and puts in place what [`handle`] has prepared.
fn finish(
    toolchain: &Toolchain,
    invocation: &Invocation,
    folder: &Folder,
    folders: &[PathBuf],
    prepared: Vec<Prepared>,
    mut early: Option<Early>,
) -> Result<Option<Finished>, String> {
    let has_pragmas = prepared.iter().any(|outcome| outcome.plain.is_some());
    let errors: String = prepared.iter().map(|outcome| outcome.report.error_messages()).collect();
    if !errors.is_empty() {
        return refuse(toolchain, invocation, folders, &prepared, &errors);
    }
    if early.is_none() && !has_pragmas && prepared.iter().all(|outcome| outcome.rewritten.is_none()) {
        return Ok(None);
    }
    // Everything is made in our folder, and nothing of the user's is written before all of it is there: whatever fails
    // is then tried again by the user's command, which finds things as they were.
    let mut messages = Vec::new();
    let mut made = Vec::new();
    for ((input, outcome), own) in invocation.inputs.iter().zip(&prepared).zip(folders) {
        let output = own.join(invocation.output_name(input));
        match compile_one(toolchain, invocation, input, outcome, own, &output, early.take())? {
            Compiled::Fine(said) => messages.extend(said),
            Compiled::Misread(messages) => return Ok(Some(Finished { success: false, messages })),
            Compiled::Declined => {
                if !invocation.own.reports.is_empty() {
                    // The user's own command says what it says; this is for whoever wonders where the loops are.
                    eprintln!(
                        "paragon-cc: {}: left as it stood: it didn't compile with its loops",
                        input.path.display()
                    );
                }
                return Ok(None);
            }
        }
        made.push(output);
    }
    let run = |command: Vec<OsString>| {
        let outcome = toolchain.run(&command, folder.path(), invocation.from_files);
        let (status, said) = outcome.map_err(|error| error.to_string())?;
        Ok::<_, String>(status.success().then_some(said))
    };
    if invocation.mode != Mode::Link && !invocation.other_inputs.is_empty() {
        // The compiler says that it has no use for objects here.
        match run(invocation.for_others())? {
            Some(said) => messages.extend(said),
            None => return Ok(None),
        }
    }
    let install = || {
        invocation.inputs.iter().zip(&made).try_for_each(|(input, made)| {
            let name = invocation.output_name(input);
            install(made, invocation.output.as_deref().unwrap_or(&name), invocation.mode)
        })
    };
    // The compiler opens its output before it writes dependencies; the assembler and the linker work after that.
    if invocation.mode == Mode::Assembly && install().is_err() {
        return Ok(None);
    }
    for (path, content) in prepared.into_iter().filter_map(|outcome| outcome.dependencies) {
        if fs::write(&path, content).is_err() {
            return Ok(None);
        }
    }
    if invocation.mode == Mode::Object && install().is_err() {
        return Ok(None);
    }
    if invocation.mode == Mode::Link {
        match run(invocation.for_linking(&made))? {
            Some(said) if said.is_empty() => {}
            Some(_) => match link_again(invocation, &made, &folder.path().join("unused"), run)? {
                Some(said) => messages = said,
                None => return Ok(None),
            },
            None => return Ok(None),
        }
    }
    Ok(Some(Finished { success: true, messages }))
}

/// The linker had something to say, and names places in our objects. What the user should read is said of a program that
/// is made of the text as it was written, compiler's messages included; the program itself is then linked once more, in
/// case the linker was asked for other files.
fn link_again(
    invocation: &Invocation,
    objects: &[PathBuf],
    unused: &Path,
    run: impl Fn(Vec<OsString>) -> Result<Option<Vec<u8>>, String>,
) -> Result<Option<Vec<u8>>, String> {
    let all = invocation.arguments.iter().enumerate();
    let kept = all.filter(|(index, _)| {
        !invocation.mode_options.contains(index) && !invocation.dependency_options.contains(index)
    });
    let mut command: Vec<OsString> = kept.map(|(_, word)| word.clone()).collect();
    command.extend(["-o".into(), unused.as_os_str().to_owned()]);
    match run(command)? {
        Some(messages) => Ok(run(invocation.for_linking(objects))?.map(|_| messages)),
        None => Ok(None),
    }
}

/// Puts what was made where the user wants it, as the assembler (which makes a new file) or the compiler (which writes
/// over the old one) would.
fn install(made: &Path, wanted: &Path, mode: Mode) -> std::io::Result<()> {
    let content = fs::read(made)?;
    let has_content = fs::metadata(wanted).is_ok_and(|metadata| metadata.len() > 0);
    if mode == Mode::Object
        && has_content
        && fs::symlink_metadata(wanted).is_ok_and(|entry| entry.is_file() || entry.is_symlink())
    {
        fs::remove_file(wanted)?;
    }
    fs::write(wanted, content)
}

/// Does `work` on a thread with a large stack. The error is a mistake of ours.
fn with_stack<T: Send>(work: impl Fn() -> Result<T, String> + Sync) -> Result<T, String> {
    std::thread::scope(|scope| {
        for size in STACK_SIZES {
            // Where memory is limited there may be none of that size.
            let thread = std::thread::Builder::new().stack_size(size).spawn_scoped(scope, &work);
            if let Ok(thread) = thread {
                return thread.join().unwrap_or_else(|_| Err("an internal error".to_string()));
            }
        }
        Err("there is no memory for a stack".to_string())
    })
}

/// The folder for compilations of the text as it was written, in that of the input.
const BESIDE: &str = "beside";
/// The same for one that began before anything was known. A compiler that is told to stop removes what it has made, sometime: so it
/// has a place of its own.
const EARLY: &str = "early";

/// Ends a command with pragmas of ours that can't apply. What else is wrong with its text comes first: the user's own command
/// says it.
fn refuse(
    toolchain: &Toolchain,
    invocation: &Invocation,
    folders: &[PathBuf],
    prepared: &[Prepared],
    errors: &str,
) -> Result<Option<Finished>, String> {
    let mut messages = Vec::new();
    for ((input, outcome), own) in invocation.inputs.iter().zip(prepared).zip(folders) {
        let plain = outcome.plain.as_deref();
        let (status, said) = compile_original(
            toolchain,
            invocation,
            input,
            plain,
            &own.join(BESIDE),
            &Cancellation::default(),
        )?;
        if !status.success() {
            return Ok(None);
        }
        messages.extend(said);
    }
    messages.extend(errors.as_bytes());
    Ok(Some(Finished { success: false, messages }))
}

/// The text as it was written, as one that is compiled in place of the user's: without pragmas of ours, where it has any.
fn written(plain: Option<&Path>) -> Option<Rewritten> {
    plain.map(|path| Rewritten { path: path.into(), expanded: false, messages: Messages::Alike })
}

/// Compiles the text as it was written, in a folder of ours.
fn compile_original(
    toolchain: &Toolchain,
    invocation: &Invocation,
    input: &Input,
    plain: Option<&Path>,
    folder: &Path,
    cancellation: &Cancellation,
) -> Ran {
    let output = folder.join(invocation.output_name(input));
    let command = toolchain.compilation(invocation, input, written(plain).as_ref(), &output);
    let outcome = toolchain.run_own(&command, folder, invocation.from_files, cancellation);
    outcome.map_err(|error| error.to_string())
}

/// Compiles one input to `output`.
fn compile_one(
    toolchain: &Toolchain,
    invocation: &Invocation,
    input: &Input,
    prepared: &Prepared,
    folder: &Path,
    output: &Path,
    early: Option<Early>,
) -> Result<Compiled, String> {
    let wait = |thread: Early| thread.join().unwrap_or_else(|_| Err("an internal error".to_string()));
    let plain = prepared.plain.as_deref();
    let beside = folder.join(BESIDE);
    let original =
        || compile_original(toolchain, invocation, input, plain, &beside, &Cancellation::default());
    let Some(rewritten) = &prepared.rewritten else {
        let place = if early.is_some() { folder.join(EARLY) } else { beside.clone() };
        let (status, said) = early.map_or_else(original, wait)?;
        let made = place.join(invocation.output_name(input));
        return Ok(match status.success() && fs::rename(made, output).is_ok() {
            true => Compiled::Fine(said),
            false => Compiled::Declined,
        });
    };
    let compile = || {
        let command = toolchain.compilation(invocation, input, Some(rewritten), output);
        toolchain.run(&command, folder, invocation.from_files).map_err(|error| error.to_string())
    };
    let parser_is_silent = || {
        let text = written(plain);
        let mut command = toolchain.compilation(invocation, input, text.as_ref(), &beside.join("unused"));
        command.push("-fsyntax-only".into());
        let outcome = toolchain.run_own(&command, &beside, invocation.from_files, &Cancellation::default());
        outcome.is_ok_and(|(status, said)| status.success() && said.is_empty())
    };
    let (made, original) = std::thread::scope(|scope| {
        let is_asked = rewritten.messages == Messages::Compiler;
        let early = early.or_else(|| is_asked.then(|| scope.spawn(original)));
        let made = compile()?;
        let said_something = !made.0.success() || !made.1.is_empty();
        let original = match (early, rewritten.messages) {
            (Some(thread), _) => Some(wait(thread)?),
            // Whoever has something to read reads what the compiler says of the text as it was written.
            _ if said_something => Some(original()?),
            (None, Messages::Parser) if !parser_is_silent() => Some(original()?),
            _ => None,
        };
        Ok::<_, String>((made, original))
    })?;
    Ok(match original {
        None => Compiled::Fine(Vec::new()),
        Some((status, said)) if status.success() && made.0.success() => Compiled::Fine(said),
        Some((status, _)) if status.success() && rewritten.expanded => {
            let said = String::from_utf8_lossy(&made.1);
            let name = input.path.display();
            let text = format!("paragon-cc: error: the echo of {name} does not compile:\n{said}");
            Compiled::Misread(text.into_bytes())
        }
        Some(_) => Compiled::Declined,
    })
}

/// One C file through all stages up to its rewritten text. The error is an internal one; `None`: the user's own command
/// has to run.
fn prepare(
    toolchain: &Toolchain,
    invocation: &Invocation,
    input: &Input,
    folder: &Path,
    stages: Stages,
) -> Result<Option<Prepared>, String> {
    let text = match toolchain.preprocess(invocation, input, folder) {
        Ok(text) => text,
        // Without its dependencies the file can't go through the stages of a command that writes them.
        Err(Obstacle::Unsuitable(_)) if invocation.dependencies.is_none() => {
            return Ok(Some(Prepared {
                rewritten: None,
                plain: None,
                dependencies: None,
                report: Report::default(),
            }));
        }
        Err(_) => return Ok(None),
    };
    if invocation.own.only_compiles() && !has_loop_words(&text.expanded.text) {
        let dependencies = text.dependencies;
        return Ok(Some(Prepared { rewritten: None, plain: None, dependencies, report: Report::default() }));
    }
    let mut unit = (stages.lower)(&text.expanded.text, &invocation.dialect)?;
    let mut prepared = match invocation.own.echo {
        true => {
            let rewritten = echo(invocation, input, folder, &text, &unit)?;
            Prepared { rewritten, plain: None, dependencies: None, report: Report::default() }
        }
        false => {
            (stages.normalize)(&mut unit, &invocation.analysis);
            rewrite(toolchain, invocation, input, folder, &text, &unit, stages)?
        }
    };
    prepared.dependencies = text.dependencies;
    Ok(Some(prepared))
}

/// Whether there is a word in an expanded text without which it has no loop, or a pragma of ours. Nothing is changed in a
/// text without loops, so nobody has to understand it.
fn has_loop_words(text: &str) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii();
    let mut words = text.as_bytes().split(|byte| !is_word(byte));
    words.any(|word| matches!(word, b"for" | b"while" | b"do" | b"goto"))
        || text.lines().any(|line| pragma::own_words(line.trim_start()).is_some())
}

/// Finds loops, and writes the text with what was generated for them, if there is one to change.
fn rewrite(
    toolchain: &Toolchain,
    invocation: &Invocation,
    input: &Input,
    folder: &Path,
    text: &Preprocessed,
    unit: &TranslationUnit,
    stages: Stages,
) -> Result<Prepared, String> {
    let reports = (stages.classify)(unit, &invocation.analysis);
    let options = CodegenOptions {
        runtime: toolchain::runtime_library(),
        threshold: invocation.own.threshold,
        doubt: invocation.own.doubt,
        checked_threads: invocation.own.checked_threads,
        describes_frames: invocation.describes_frames,
    };
    let generated = (stages.generate)(unit, &reports, &options);
    let errors = verdict::misplaced_pragmas(unit, &reports);
    let is_told = invocation.own.wants_report() || !errors.is_empty();
    let mut report = match is_told {
        true => Report::new(unit, &text.expanded.text, &reports, &errors),
        false => Report::default(),
    };
    for (id, reason) in &generated.left_out {
        report.leave_out(reports.iter().position(|found| found.id == Some(*id)), reason);
    }
    let mut edits = token_edits(unit, &generated.edits);
    let mut spliced = None;
    let mut plain = None;
    let name = input.path.display();
    if let Some(reason) = untouchable::untouchable(unit, &text.expanded.text).filter(|_| !edits.is_empty()) {
        report.notes.push(format!("{name}: left as it stood: {reason}"));
        edits.clear();
    }
    let misleads = generated.edits.iter().any(|edit| match edit {
        Edit::BeforeLoop { loop_id, .. } => may_mislead(unit, &text.expanded.text, *loop_id),
        Edit::ReplaceIdentifier { .. } => false,
    });
    let braces = edits.iter().any(|edit| matches!(edit, TokenEdit::Before { wrap_until: Some(_), .. }));
    let mut spoke = text.spoke;
    // Only somebody who sees macros may hear of pragmas.
    let shows_macros = invocation.shows_macros();
    // Most files have no loop for us: for them this is all.
    if !edits.is_empty() || shows_macros && !unit.pragmas.is_empty() {
        let target = match shows_macros {
            true => toolchain.directives(invocation, input, folder).and_then(|(directives, said)| {
                match pragmas::missing(&text.expanded.text, &directives.text) {
                    Some(word) => Err(Obstacle::Unsuitable(format!(
                        "`#pragma {word}` would be lost, as the preprocessor leaves it out where macros aren't expanded (without options for warnings they are)"
                    ))),
                    None => Ok((directives, said)),
                }
            }),
            false => Ok((text.expanded.clone(), false)),
        };
        match target {
            Ok((mut directives, said)) => {
                if shows_macros
                    && !unit.pragmas.is_empty()
                    && let Some(without) = pragmas::without_own(&directives.text)
                {
                    directives.text = without;
                    let path = folder.join("plain.c");
                    fs::write(&path, directives.restore(&directives.text))
                        .map_err(|error| error.to_string())?;
                    plain = Some(path);
                }
                let result =
                    splice::splice(&text.expanded.text, &directives.text, &generated.prelude, &edits);
                let declined = result.declined.iter();
                report
                    .notes
                    .extend(declined.map(|(_, reason)| format!("{name}: left as it stood: {reason}")));
                spliced = Some((directives, result));
                spoke |= said;
            }
            Err(obstacle) => report.notes.push(format!("{name}: left as it stood: {obstacle}")),
        }
    }
    if let Some(stage) = &invocation.own.dump_after {
        let result = spliced.as_ref().map(|(_, result)| result.text.as_str());
        dump(stage, &text.expanded.text, unit, &reports, &generated, result.unwrap_or_default());
    }
    let mut prepared = Prepared { rewritten: None, plain, dependencies: None, report };
    let Some((directives, result)) = spliced else { return Ok(prepared) };
    let rewritten = directives.restore(&result.text);
    let prelude = generated.prelude.into_bytes();
    let kernels = generated.kernels.into_iter().enumerate();
    let kernels = kernels.map(|(n, (line, text))| (format!("{line}.{n}.cu"), text.into_bytes()));
    let kept = [("spliced.c".into(), rewritten.clone()), ("prelude.c".into(), prelude)];
    keep(invocation, input, kept.into_iter().chain(kernels));
    if result.applied == 0 {
        return Ok(prepared);
    }
    let path = folder.join("spliced.c");
    fs::write(&path, &rewritten).map_err(|error| error.to_string())?;
    let messages = match invocation.arguments.iter().any(|word| word == "-w") {
        true => Messages::Alike,
        false if invocation.exact_messages || spoke => Messages::Compiler,
        false if braces || misleads => Messages::Parser,
        false => Messages::Alike,
    };
    prepared.rewritten = Some(Rewritten { path, expanded: false, messages });
    Ok(prepared)
}

/// Whether a loop without braces is followed by something that looks as if it belonged to it: by what stands in its body's line, or begins in its body's column. The compiler warns of that only
/// if nothing stands in front of the loop.
fn may_mislead(unit: &TranslationUnit, expanded: &str, id: LoopId) -> bool {
    let Some((statement, found)) = unit.functions.iter().find_map(|function| find_loop(&function.body, id))
    else {
        return false;
    };
    if matches!(found.body.kind, StmtKind::Block(_)) {
        return false;
    }
    let column =
        |at: usize| expanded.get(..at).map(|before| at - before.rfind('\n').map_or(0, |end| end + 1));
    let (end, body) = (statement.span.end as usize, found.body.span.start as usize);
    let Some(behind) = expanded.get(end..) else { return true };
    let next = end + behind.len() - behind.trim_start().len();
    let is_same_line = !expanded.get(end..next).is_some_and(|between| between.contains('\n'));
    !behind.trim_start().starts_with('}') && (is_same_line || column(next) >= column(body))
}

/// Writes the text that the typed tree stands for. What isn't text as a whole compiles as it is.
fn echo(
    invocation: &Invocation,
    input: &Input,
    folder: &Path,
    text: &Preprocessed,
    unit: &TranslationUnit,
) -> Result<Option<Rewritten>, String> {
    if !text.expanded.is_complete() {
        return Ok(None);
    }
    let echo = crate::codegen::echo::echo(&text.expanded.text, unit);
    keep(invocation, input, [("echo.c".to_string(), echo.text.clone().into_bytes())]);
    let path = folder.join("echo.c");
    fs::write(&path, &echo.text).map_err(|error| error.to_string())?;
    // The tree's casts and parentheses draw warnings that the user's text does not; what an echo is for is seen in tests.
    Ok(Some(Rewritten { path, expanded: true, messages: Messages::Unheard }))
}

/// Keeps texts that somebody wants to look at, under the input's name with their endings.
fn keep(invocation: &Invocation, input: &Input, texts: impl IntoIterator<Item = (String, Vec<u8>)>) {
    let Some(folder) = &invocation.own.save_temps else { return };
    let name = input.path.file_stem().unwrap_or_default().to_string_lossy();
    let saved = fs::create_dir_all(folder).and_then(|()| {
        texts
            .into_iter()
            .try_for_each(|(ending, text)| fs::write(folder.join(format!("{name}.{ending}")), text))
    });
    // A folder that can't be written only loses these copies.
    if let Err(error) = saved {
        let _ = writeln!(std::io::stderr(), "paragon-cc: warning: {}: {error}", folder.display());
    }
}

/// Prints what the named stage gave, for whoever works on it.
fn dump(
    stage: &str,
    expanded: &str,
    unit: &TranslationUnit,
    reports: &[LoopReport],
    generated: &Generated,
    spliced: &str,
) {
    match stage {
        "preprocess" => eprintln!("{expanded}"),
        "lower" => eprintln!("{}", crate::c::dump::dump(unit)),
        "classify" => eprintln!("{reports:#?}"),
        "generate" => eprintln!("{generated:#?}"),
        "splice" => eprintln!("{spliced}"),
        _ => eprintln!("paragon-cc: warning: stages are preprocess, lower, classify, generate, splice"),
    }
}

/// Edits by loop become edits by token. An edit of a loop that isn't in the tree is dropped.
pub fn token_edits(unit: &TranslationUnit, edits: &[Edit]) -> Vec<TokenEdit> {
    let position =
        |wanted: LoopId| unit.functions.iter().find_map(|function| find_loop(&function.body, wanted));
    edits
        .iter()
        .filter_map(|edit| match edit {
            Edit::BeforeLoop { loop_id, text, wrap_braces, untouched_if, goes_on } => {
                let (statement, found) = position(*loop_id)?;
                Some(TokenEdit::Before {
                    at: found.keyword_span.start as usize,
                    text: text.clone(),
                    wrap_until: wrap_braces.then_some(statement.span.end as usize),
                    untouched: untouched_if.as_ref().map(|condition| Untouched {
                        condition: condition.clone(),
                        end: statement.span.end as usize,
                    }),
                    goes_on: goes_on.clone().map(|how| (how, statement.span.end as usize)),
                })
            }
            Edit::ReplaceIdentifier { span, text } => {
                Some(TokenEdit::Replace { token: span.start as usize..span.end as usize, text: text.clone() })
            }
        })
        .collect()
}

/// The loop `wanted` inside `statement`, with the statement that it is.
fn find_loop(statement: &Stmt, wanted: LoopId) -> Option<(&Stmt, &LoopStmt)> {
    match &statement.kind {
        StmtKind::Loop(found) if found.id == wanted => Some((statement, found)),
        StmtKind::Loop(outer) => find_loop(&outer.body, wanted),
        StmtKind::Block(list) => list.iter().find_map(|inner| find_loop(inner, wanted)),
        StmtKind::If { then, otherwise, .. } => find_loop(then, wanted)
            .or_else(|| otherwise.as_ref().and_then(|otherwise| find_loop(otherwise, wanted))),
        StmtKind::Switch { body, .. } | StmtKind::Case { body, .. } | StmtKind::Label { body, .. } => {
            find_loop(body, wanted)
        }
        _ => None,
    }
}

/// What became of one function definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionReport {
    /// The file that it stands in, as line markers spell it.
    pub file: String,
    /// Its first line.
    pub line: u32,
    /// Its name.
    pub name: String,
    /// Why it was not lowered, if it wasn't.
    pub refused: Option<String>,
}

/// Every function definition of the inputs of `command` (for `paragon functions`).
pub fn functions(command: &[OsString], stages: Option<Stages>) -> Result<Vec<FunctionReport>, String> {
    let mut reports = Vec::new();
    for_each_unit(command, stages, |unit, _, _, _| {
        let file =
            |span: crate::c::hir::Span| unit.files.get(span.file as usize).cloned().unwrap_or_default();
        reports.extend(unit.functions.iter().map(|function| FunctionReport {
            file: file(function.span),
            line: function.span.line,
            name: unit.var(function.var).name.clone(),
            refused: None,
        }));
        reports.extend(unit.refused.iter().map(|refused| FunctionReport {
            file: file(refused.span),
            line: refused.span.line,
            name: refused.name.clone(),
            refused: Some(refused.reason.clone()),
        }));
    })?;
    Ok(reports)
}

/// The report on every loop of the inputs of `command` (for `paragon explain`).
pub fn explain(command: &[OsString], stages: Option<Stages>) -> Result<Report, String> {
    let mut report = Report::default();
    for_each_unit(command, stages, |unit, text, stages, invocation| {
        let options = AnalysisOptions { explains: true, ..invocation.analysis.clone() };
        (stages.normalize)(unit, &options);
        let loops = (stages.classify)(unit, &options);
        let errors = verdict::misplaced_pragmas(unit, &loops);
        report.extend(Report::new(unit, text, &loops, &errors));
    })?;
    Ok(report)
}

/// How long the analysis of each loop of the inputs of `command` took, with its place and function.
pub fn analysis_times(
    command: &[OsString],
    stages: Option<Stages>,
) -> Result<Vec<(std::time::Duration, String)>, String> {
    let mut times = Vec::new();
    for_each_unit(command, stages, |unit, _, stages, invocation| {
        (stages.normalize)(unit, &invocation.analysis);
        let loops = (stages.classify)(unit, &invocation.analysis);
        times.extend(loops.into_iter().map(|l| (l.took, format!("{}:{}: {}", l.file, l.line, l.function))));
    })?;
    Ok(times)
}

/// Lowers each input of `command`.
fn for_each_unit(
    command: &[OsString],
    stages: Option<Stages>,
    mut visit: impl FnMut(&mut TranslationUnit, &str, &Stages, &Invocation),
) -> Result<(), String> {
    let stages = stages.ok_or("this build has no analysis")?;
    let toolchain = Toolchain::find()?;
    let invocation = match arguments::parse(command) {
        Decision::Handle(invocation) => invocation,
        Decision::PassThrough { reason, .. } => return Err(format!("compiled without Paragon: {reason}")),
        Decision::Invalid(problem) => return Err(problem),
    };
    for input in &invocation.inputs {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let text = toolchain
            .preprocess(&invocation, input, folder.path())
            .map_err(|obstacle| obstacle.to_string())?;
        let text = &text.expanded.text;
        visit(&mut (stages.lower)(text, &invocation.dialect)?, text, &stages, &invocation);
    }
    Ok(())
}
