//! The stages in order, each a function from a value to a value: preprocess, lower, find loops and their verdicts,
//! generate, splice, compile. And what happens when one of them gives up: the user's own command, untouched.
//!
//! The analysis stages are handed in as [`Stages`], so that the road can be driven and tested with any of them. Not
//! here: the command language (`driver::arguments`) and running the real compiler (`driver::toolchain`).

use crate::c::dialect::Dialect;
use crate::c::hir::{LoopId, LoopStmt, Stmt, StmtKind, TranslationUnit};
use crate::codegen::{Edit, Generated};
use crate::driver::arguments::{self, Decision, Input, Invocation, Mode};
use crate::driver::splice::{self, TokenEdit};
use crate::driver::toolchain::{self, Toolchain};
use crate::loops::options::{AnalysisOptions, CodegenOptions};
use crate::loops::plan::LoopReport;
use crate::remarks;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The stages between preprocessing and splicing.
#[derive(Clone, Copy)]
pub struct Stages {
    /// Expanded text to typed tree. The error is an internal one.
    pub lower: fn(&str, &Dialect) -> Result<TranslationUnit, String>,
    /// A report for each loop.
    pub classify: fn(&TranslationUnit, &AnalysisOptions) -> Vec<LoopReport>,
    /// Text for the loops that have plans.
    pub generate: fn(&TranslationUnit, &[LoopReport], &CodegenOptions) -> Generated,
}

/// The stages of this build; without them every command is the real compiler's.
pub const STAGES: Option<Stages> = Some(Stages {
    lower: |text, dialect| Ok(crate::c::lower_unit(text, dialect)),
    classify: crate::verdict::classify,
    generate: crate::codegen::generate,
});

/// What became of one input.
enum Outcome {
    /// Nothing to change.
    Untouched,
    /// Compiled; what the compiler said, and the dependency file to write.
    Compiled { messages: Vec<u8>, dependencies: Option<(PathBuf, Vec<u8>)> },
    /// The echo of a text that is right was wrong.
    Misread(String),
    /// The user's own command has to run. A message if the reason is an internal error.
    Declined { internal: Option<String> },
}

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
    };
    let asks_for_dependencies =
        ["DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"].iter().any(|name| std::env::var_os(name).is_some());
    if let Some(stages) = stages
        && !Toolchain::is_nested()
        && !asks_for_dependencies
        && toolchain.is_gcc()
    {
        match handle(&toolchain, &invocation, stages) {
            Ok(Some(finished)) => {
                // Nobody to tell if standard error is closed.
                let _ = std::io::stderr().write_all(&finished.messages);
                return if finished.success { ExitCode::SUCCESS } else { ExitCode::FAILURE };
            }
            Ok(None) => {}
            Err(error) => eprintln!("paragon-cc: warning: {error}; compiled without Paragon"),
        }
    }
    failure(&toolchain.become_real(&invocation.arguments))
}

fn failure(error: &str) -> ExitCode {
    eprintln!("paragon-cc: error: {error}");
    ExitCode::FAILURE
}

/// A command that was carried out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finished {
    /// Whether it did what it was told to.
    pub success: bool,
    /// What is to be said about it.
    pub messages: Vec<u8>,
}

/// Runs the whole command our way; `None`: the user's own command has to run.
pub fn handle(
    toolchain: &Toolchain,
    invocation: &Invocation,
    stages: Stages,
) -> Result<Option<Finished>, String> {
    let folder = tempfile::Builder::new().prefix("paragon-").tempdir().map_err(|error| error.to_string())?;
    // By the input's position: they are said in the order in which the real compiler would.
    let mut said = BTreeMap::new();
    let mut changed = false;
    // These compile as they are, but only once it is certain that the whole command isn't the real compiler's.
    let mut untouched = Vec::new();
    let mut dependency_files = Vec::new();
    let mut linked = invocation.arguments.clone();
    for (number, input) in invocation.inputs.iter().enumerate() {
        let own = folder.path().join(number.to_string());
        fs::create_dir(&own).map_err(|error| error.to_string())?;
        let output = output_of(invocation, input, &own);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            compile_one(toolchain, invocation, input, &own, &output, stages)
        }))
        .map_err(|_| "an internal error".to_string())?;
        match outcome {
            Outcome::Compiled { messages, dependencies } => {
                changed = true;
                said.insert(input.index, messages);
                dependency_files.extend(dependencies);
                linked[input.index] = output.into_os_string();
            }
            Outcome::Declined { internal: Some(error) } => return Err(error),
            Outcome::Misread(error) => return Ok(Some(Finished { success: false, messages: error.into() })),
            Outcome::Declined { internal: None } => return Ok(None),
            Outcome::Untouched => untouched.push(input),
        }
    }
    if !changed {
        return Ok(None);
    }
    for input in untouched.iter().filter(|_| invocation.mode != Mode::Link) {
        let output = toolchain
            .run(&coloured(invocation.for_one(&[], input, None)))
            .map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Ok(None);
        }
        said.insert(input.index, output.stderr);
    }
    let mut messages: Vec<u8> = said.into_values().flatten().collect();
    if invocation.mode == Mode::Link {
        let output = toolchain.run(&coloured(linked)).map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Ok(None);
        }
        messages.extend(output.stderr);
    }
    for (path, content) in dependency_files {
        fs::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(Some(Finished { success: true, messages }))
}

/// Where the rewritten compilation of `input` puts its result.
fn output_of(invocation: &Invocation, input: &Input, folder: &Path) -> PathBuf {
    let base = PathBuf::from(input.path.file_name().unwrap_or_default());
    match invocation.mode {
        Mode::Link => folder.join(base.with_extension("o")),
        Mode::Object => invocation.output.clone().unwrap_or_else(|| base.with_extension("o")),
        Mode::Assembly => invocation.output.clone().unwrap_or_else(|| base.with_extension("s")),
    }
}

/// The compiler's messages are caught, so it can't see that they end on a terminal: we tell it.
fn coloured(mut command: Vec<OsString>) -> Vec<OsString> {
    let chosen = command.iter().any(|word| word.to_string_lossy().contains("diagnostics-color"));
    if std::io::stderr().is_terminal() && !chosen {
        command.push("-fdiagnostics-color=always".into());
    }
    command
}

/// One C file through all stages.
fn compile_one(
    toolchain: &Toolchain,
    invocation: &Invocation,
    input: &Input,
    folder: &Path,
    output: &Path,
    stages: Stages,
) -> Outcome {
    let Ok(text) = toolchain.preprocess(invocation, input, folder) else {
        return Outcome::Declined { internal: None };
    };
    let unit = match (stages.lower)(&text.expanded, &invocation.dialect) {
        Ok(unit) => unit,
        Err(error) => return Outcome::Declined { internal: Some(error) },
    };
    if invocation.own.echo {
        return compile_echo(toolchain, invocation, input, folder, output, &text, &unit);
    }
    let reports = (stages.classify)(&unit, &invocation.analysis);
    if let Some(format) = &invocation.own.report {
        eprint!("{}", remarks::render(&reports, format == "json"));
    }
    let options =
        CodegenOptions { runtime: toolchain::runtime_library(), threshold: invocation.own.threshold };
    let generated = (stages.generate)(&unit, &reports, &options);
    let edits = token_edits(&unit, &generated.edits);
    let spliced = splice::splice(&text.expanded, &text.directives, &generated.prelude, &edits);
    if let Some(stage) = &invocation.own.dump_after {
        dump(stage, &text, &unit, &reports, &generated, &spliced.text);
    }
    if invocation.own.report.as_deref() == Some("text") {
        for (_, reason) in &spliced.declined {
            eprintln!("{}: left as it stood: {reason}", input.path.display());
        }
    }
    if let Some(kept) = &invocation.own.save_temps {
        // A folder that can't be written only loses the copies that somebody wanted to look at.
        let name = input.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let saved = fs::create_dir_all(kept)
            .and_then(|()| fs::write(kept.join(format!("{name}.spliced.c")), &spliced.text))
            .and_then(|()| fs::write(kept.join(format!("{name}.prelude.c")), &generated.prelude))
            .and_then(|()| {
                generated.kernels.iter().enumerate().try_for_each(|(n, (line, text))| {
                    fs::write(kept.join(format!("{name}.{line}.{n}.cu")), text)
                })
            });
        if let Err(error) = saved {
            eprintln!("paragon-cc: warning: {}: {error}", kept.display());
        }
    }
    if spliced.applied == 0 {
        return Outcome::Untouched;
    }
    let path = folder.join("spliced.c");
    if let Err(error) = fs::write(&path, &spliced.text) {
        return Outcome::Declined { internal: Some(error.to_string()) };
    }
    match toolchain.run(&coloured(toolchain.rewritten(invocation, input, &path, output, false))) {
        Ok(said) if said.status.success() => {
            Outcome::Compiled { messages: said.stderr, dependencies: text.dependencies }
        }
        _ => Outcome::Declined { internal: None },
    }
}

/// Compiles what the typed tree says. If that doesn't compile although the user's text does, we have misread it: an error.
fn compile_echo(
    toolchain: &Toolchain,
    invocation: &Invocation,
    input: &Input,
    folder: &Path,
    output: &Path,
    text: &toolchain::Preprocessed,
    unit: &TranslationUnit,
) -> Outcome {
    let echo = crate::codegen::echo::echo(&text.expanded, unit);
    let path = folder.join("echo.c");
    let kept = invocation.own.save_temps.as_ref().map(|kept| {
        let name = input.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        fs::create_dir_all(kept).and_then(|()| fs::write(kept.join(format!("{name}.echo.c")), &echo.text))
    });
    if let Some(Err(error)) = kept {
        eprintln!("paragon-cc: warning: {error}");
    }
    if let Err(error) = fs::write(&path, &echo.text) {
        return Outcome::Declined { internal: Some(error.to_string()) };
    }
    let mut command = toolchain.rewritten(invocation, input, &path, output, true);
    // The tree's casts and parentheses draw warnings that the user's text does not.
    command.push("-w".into());
    match toolchain.run(&command) {
        Ok(said) if said.status.success() => {
            Outcome::Compiled { messages: Vec::new(), dependencies: text.dependencies.clone() }
        }
        Ok(said) => {
            let own = toolchain.run(&invocation.for_one(&[], input, None));
            if own.is_ok_and(|own| own.status.success()) {
                let said = String::from_utf8_lossy(&said.stderr);
                let name = input.path.display();
                Outcome::Misread(format!("paragon-cc: error: the echo of {name} does not compile:\n{said}"))
            } else {
                Outcome::Declined { internal: None }
            }
        }
        Err(error) => Outcome::Declined { internal: Some(error.to_string()) },
    }
}

/// Prints what the named stage gave, for whoever works on it.
fn dump(
    stage: &str,
    text: &toolchain::Preprocessed,
    unit: &TranslationUnit,
    reports: &[LoopReport],
    generated: &Generated,
    spliced: &str,
) {
    match stage {
        "preprocess" => eprintln!("{}", text.expanded),
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
            Edit::BeforeLoop { loop_id, text, wrap_braces } => {
                let (statement, found) = position(*loop_id)?;
                Some(TokenEdit::Before {
                    at: found.keyword_span.start as usize,
                    text: text.clone(),
                    wrap_until: wrap_braces.then_some(statement.span.end as usize),
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
    for_each_unit(command, stages, |unit, _, _| {
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

/// The reports of every loop of the inputs of `command` (for `paragon explain`).
pub fn explain(command: &[OsString], stages: Option<Stages>) -> Result<Vec<LoopReport>, String> {
    let mut reports = Vec::new();
    for_each_unit(command, stages, |unit, stages, invocation| {
        reports.extend((stages.classify)(unit, &invocation.analysis));
    })?;
    Ok(reports)
}

/// Lowers each input of `command`.
fn for_each_unit(
    command: &[OsString],
    stages: Option<Stages>,
    mut visit: impl FnMut(&TranslationUnit, &Stages, &Invocation),
) -> Result<(), String> {
    let stages = stages.ok_or("this build has no analysis")?;
    let toolchain = Toolchain::find()?;
    let invocation = match arguments::parse(command) {
        Decision::Handle(invocation) => invocation,
        Decision::PassThrough { reason, .. } => return Err(format!("compiled without Paragon: {reason}")),
    };
    for input in &invocation.inputs {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let text = toolchain.preprocess(&invocation, input, folder.path())?;
        visit(&(stages.lower)(&text.expanded, &invocation.dialect)?, &stages, &invocation);
    }
    Ok(())
}
