//! The command language of gcc and clang, as data: one sorted table says how each option takes its value and what it
//! means to us. [`parse`] reads a command line with it and says what to do.
//!
//! The user's arguments are never reordered or changed: whatever the table does not hold makes the whole command the
//! real compiler's. Not here: running anything (`driver::toolchain`) and what the stages do (`compile`).

use crate::c::dialect::Dialect;
use crate::loops::options::AnalysisOptions;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// How an option takes its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// It has none.
    None,
    /// In the same argument.
    Joined,
    /// In the next argument.
    Separate,
    /// In the same argument, or in the next when nothing is joined.
    Either,
}

/// What an option means to us.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// Nothing: it is passed on.
    Irrelevant,
    /// `-c`.
    CompileOnly,
    /// `-S`.
    AssemblyOnly,
    /// `-o`.
    Output,
    /// `-MD`, `-MMD`.
    Dependencies,
    /// `-MF`.
    DependencyFile,
    /// `-MT`, `-MQ`.
    DependencyTarget,
    /// `-MP`.
    DependencyDetail,
    /// `-x`.
    Language,
    /// The real compiler's alone, or a switch that asks for code as the user wrote it.
    TooHard,
    /// `-O...`.
    Optimisation,
    /// `-std=`, `-ansi`.
    Standard,
    /// A switch that changes the dialect or what analysis may do; told apart by its whole text.
    Licence,
    /// Ours: never seen by the real compiler.
    Own,
}

use Meaning::*;

/// An option's name, how it takes its value, and what it means.
pub type Entry = (&'static str, Value, Meaning);

/// The options, sorted by name. A joined option matches every argument that starts with its name; the longest wins.
#[rustfmt::skip]
pub static OPTIONS: &[Entry] = &[
    ("--dump-after", Value::Joined, Own),
    ("--paragon-save-temps", Value::Joined, Own),
    ("--sysroot", Value::Either, Irrelevant),
    ("-B", Value::Either, Irrelevant),
    ("-D", Value::Either, Irrelevant),
    ("-I", Value::Either, Irrelevant),
    ("-L", Value::Either, Irrelevant),
    ("-MD", Value::None, Dependencies),
    ("-MF", Value::Either, DependencyFile),
    ("-MMD", Value::None, Dependencies),
    ("-MP", Value::None, DependencyDetail),
    ("-MQ", Value::Either, DependencyTarget),
    ("-MT", Value::Either, DependencyTarget),
    ("-O", Value::Joined, Optimisation),
    ("-S", Value::None, AssemblyOnly),
    ("-T", Value::Either, Irrelevant),
    ("-U", Value::Either, Irrelevant),
    ("-W", Value::Joined, Irrelevant),
    ("-Wa,", Value::Joined, TooHard),
    ("-Wa,--noexecstack", Value::None, Irrelevant),
    ("-Wp,", Value::Joined, TooHard),
    ("-Wunused-macros", Value::None, TooHard),
    ("-Xlinker", Value::Separate, Irrelevant),
    ("-ansi", Value::None, Standard),
    ("-c", Value::None, CompileOnly),
    ("-fPIC", Value::None, Irrelevant),
    ("-fPIE", Value::None, Irrelevant),
    ("-falign-", Value::Joined, Irrelevant),
    ("-fassociative-math", Value::None, Licence),
    ("-fasynchronous-unwind-tables", Value::None, Irrelevant),
    ("-fcf-protection", Value::Joined, Irrelevant),
    ("-fcommon", Value::None, Irrelevant),
    ("-fdata-sections", Value::None, Irrelevant),
    ("-fdiagnostics-", Value::Joined, Irrelevant),
    ("-fexceptions", Value::None, Irrelevant),
    ("-fexcess-precision=", Value::Joined, Irrelevant),
    ("-ffast-math", Value::None, Licence),
    ("-ffinite-math-only", Value::None, Irrelevant),
    ("-ffp-contract=", Value::Joined, Licence),
    ("-ffunction-sections", Value::None, Irrelevant),
    ("-fgnu89-inline", Value::None, Licence),
    ("-finline", Value::Joined, Irrelevant),
    ("-fmax-errors=", Value::Joined, Irrelevant),
    ("-fmessage-length=", Value::Joined, Irrelevant),
    ("-fno-associative-math", Value::None, Licence),
    ("-fno-asynchronous-unwind-tables", Value::None, Irrelevant),
    ("-fno-builtin", Value::Joined, Irrelevant),
    ("-fno-common", Value::None, Irrelevant),
    ("-fno-delete-null-pointer-checks", Value::None, Irrelevant),
    ("-fno-diagnostics-", Value::Joined, Irrelevant),
    ("-fno-exceptions", Value::None, Irrelevant),
    ("-fno-fast-math", Value::None, Licence),
    ("-fno-ident", Value::None, Irrelevant),
    ("-fno-inline", Value::Joined, Irrelevant),
    ("-fno-lto", Value::None, Irrelevant),
    ("-fno-math-errno", Value::None, Irrelevant),
    ("-fno-omit-frame-pointer", Value::None, Irrelevant),
    ("-fno-paragon", Value::None, Own),
    ("-fno-pic", Value::None, Irrelevant),
    ("-fno-pie", Value::None, Irrelevant),
    ("-fno-plt", Value::None, Irrelevant),
    ("-fno-semantic-interposition", Value::None, Irrelevant),
    ("-fno-signed-zeros", Value::None, Irrelevant),
    ("-fno-stack-protector", Value::None, Irrelevant),
    ("-fno-strict-aliasing", Value::None, Licence),
    ("-fno-strict-overflow", Value::None, Licence),
    ("-fno-trapping-math", Value::None, Irrelevant),
    ("-fno-tree-vectorize", Value::None, Irrelevant),
    ("-fno-unroll-loops", Value::None, Irrelevant),
    ("-fno-unsafe-math-optimizations", Value::None, Licence),
    ("-fno-unwind-tables", Value::None, Irrelevant),
    ("-fno-wrapv", Value::None, Licence),
    ("-fomit-frame-pointer", Value::None, Irrelevant),
    ("-fopenmp", Value::None, Irrelevant),
    ("-fparagon", Value::None, Own),
    ("-fparagon-echo", Value::None, Own),
    ("-fparagon-math=device", Value::None, Own),
    ("-fparagon-reassoc", Value::None, Own),
    ("-fparagon-report=", Value::Joined, Own),
    ("-fparagon-threshold=", Value::Joined, Own),
    ("-fpic", Value::None, Irrelevant),
    ("-fpie", Value::None, Irrelevant),
    ("-fshort-enums", Value::None, Licence),
    ("-fsigned-char", Value::None, Licence),
    ("-fstack-clash-protection", Value::None, Irrelevant),
    ("-fstack-protector", Value::Joined, Irrelevant),
    ("-fstrict-aliasing", Value::None, Licence),
    ("-ftree-", Value::Joined, Irrelevant),
    ("-funroll-loops", Value::None, Irrelevant),
    ("-funsafe-math-optimizations", Value::None, Licence),
    ("-funsigned-char", Value::None, Licence),
    ("-funwind-tables", Value::None, Irrelevant),
    ("-fvisibility=", Value::Joined, Irrelevant),
    ("-fwrapv", Value::None, Licence),
    ("-g", Value::None, Irrelevant),
    ("-g0", Value::None, Irrelevant),
    ("-g1", Value::None, Irrelevant),
    ("-g2", Value::None, Irrelevant),
    ("-g3", Value::None, Irrelevant),
    ("-gdwarf", Value::Joined, Irrelevant),
    ("-ggdb", Value::Joined, Irrelevant),
    ("-idirafter", Value::Either, Irrelevant),
    ("-imacros", Value::Either, Irrelevant),
    ("-include", Value::Either, Irrelevant),
    ("-iquote", Value::Either, Irrelevant),
    ("-isysroot", Value::Either, Irrelevant),
    ("-isystem", Value::Either, Irrelevant),
    ("-l", Value::Either, Irrelevant),
    ("-m64", Value::None, Irrelevant),
    ("-maes", Value::None, Irrelevant),
    ("-march=", Value::Joined, Licence),
    ("-mavx", Value::Joined, Irrelevant),
    ("-mavx2", Value::None, Irrelevant),
    ("-mavx512", Value::Joined, Licence),
    ("-mbmi", Value::Joined, Irrelevant),
    ("-mcmodel=", Value::Joined, Irrelevant),
    ("-mfma", Value::None, Licence),
    ("-mfpmath=sse", Value::None, Irrelevant),
    ("-mno-fma", Value::None, Licence),
    ("-mno-red-zone", Value::None, Irrelevant),
    ("-mpclmul", Value::None, Irrelevant),
    ("-mpopcnt", Value::None, Irrelevant),
    ("-msse", Value::Joined, Irrelevant),
    ("-mtune=", Value::Joined, Irrelevant),
    ("-no-pie", Value::None, Irrelevant),
    ("-nodefaultlibs", Value::None, TooHard),
    ("-nostdinc", Value::None, Irrelevant),
    ("-o", Value::Either, Output),
    ("-pedantic", Value::None, Irrelevant),
    ("-pedantic-errors", Value::None, Irrelevant),
    ("-pie", Value::None, Irrelevant),
    ("-pipe", Value::None, Irrelevant),
    ("-pthread", Value::None, Irrelevant),
    ("-rdynamic", Value::None, Irrelevant),
    ("-s", Value::None, Irrelevant),
    ("-shared", Value::None, Irrelevant),
    ("-static", Value::None, Irrelevant),
    ("-static-libgcc", Value::None, Irrelevant),
    ("-std=", Value::Joined, Standard),
    ("-u", Value::Either, Irrelevant),
    ("-w", Value::None, Irrelevant),
    ("-x", Value::Either, Language),
    ("-z", Value::Either, Irrelevant),
];

/// Looks `argument` up: the entry, and the value if it is joined.
fn lookup(argument: &str) -> Option<(&'static Entry, Option<&str>)> {
    if let Ok(index) = OPTIONS.binary_search_by(|option| option.0.cmp(argument)) {
        return Some((&OPTIONS[index], None));
    }
    let entry = OPTIONS
        .iter()
        .filter(|option| matches!(option.1, Value::Joined | Value::Either) && argument.starts_with(option.0))
        .max_by_key(|option| option.0.len())?;
    Some((entry, Some(&argument[entry.0.len()..])))
}

/// What the command makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Mode {
    Object,
    Assembly,
    Link,
}

/// A C file to compile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// Where it stands in [`Invocation::arguments`].
    pub index: usize,
    /// Its path as written.
    pub path: PathBuf,
}

/// What our own options ask for.
#[derive(Clone, PartialEq, Debug, Default)]
#[allow(missing_docs)]
pub struct OwnOptions {
    pub threshold: Option<u64>,
    /// `json` or `text`.
    pub report: Option<String>,
    pub save_temps: Option<PathBuf>,
    pub dump_after: Option<String>,
    /// Compile what the typed tree says instead of the user's text.
    pub echo: bool,
}

/// A command that we handle.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Invocation {
    /// The user's arguments in order, without our own options.
    pub arguments: Vec<OsString>,
    /// The positions in `arguments` that preprocessing must not see (`-c`, `-S`, `-o x`, `-MD`, ...).
    pub not_for_preprocessor: Vec<usize>,
    /// The positions of dependency options.
    pub dependency_options: Vec<usize>,
    pub mode: Mode,
    pub inputs: Vec<Input>,
    pub output: Option<PathBuf>,
    /// `-MD` or `-MMD`, the last one given.
    pub dependencies: Option<OsString>,
    pub dependency_file: Option<PathBuf>,
    pub has_dependency_target: bool,
    pub dialect: Dialect,
    pub analysis: AnalysisOptions,
    pub own: OwnOptions,
}

/// What to do with a command line.
#[derive(Clone, PartialEq, Debug)]
pub enum Decision {
    /// The real compiler gets these arguments (the user's without our own options).
    PassThrough {
        /// The arguments.
        arguments: Vec<OsString>,
        /// Why, for whoever asks.
        reason: String,
    },
    /// We handle it.
    Handle(Box<Invocation>),
}

/// Expands `@file` as gcc does, for reading only. The second member says where in the command line a word stands
/// itself; words from response files have none.
fn expand(arguments: &[OsString], depth: u32) -> Vec<(OsString, Option<usize>)> {
    let mut words = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let text = argument.to_str().and_then(|text| text.strip_prefix('@'));
        match text.and_then(|file| (depth < 16).then(|| std::fs::read_to_string(file).ok())?) {
            Some(content) => {
                let inner: Vec<OsString> = response_words(&content).into_iter().map(OsString::from).collect();
                words.extend(expand(&inner, depth + 1).into_iter().map(|(word, _)| (word, None)));
            }
            None => words.push((argument.clone(), Some(index))),
        }
    }
    words
}

/// The words of a response file: blanks separate, quotes of both kinds group, a backslash takes the next character.
pub fn response_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', _) => word.get_or_insert_default().extend(characters.next()),
            (c, Some(q)) if c == q => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('\'' | '"', None) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (c, None) if c.is_ascii_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Reads the command line (without the program's name).
pub fn parse(command: &[OsString]) -> Decision {
    let is_own =
        |argument: &OsStr| argument.to_str().and_then(lookup).is_some_and(|(option, _)| option.2 == Own);
    // The real compiler must not read our options in a response file: then it gets the words instead of the file.
    let words = expand(command, 0);
    let hidden = words.iter().any(|(word, origin)| origin.is_none() && is_own(word));
    let expanded: Vec<OsString> = words.into_iter().map(|(word, _)| word).collect();
    let command = if hidden { &expanded } else { command };
    let arguments: Vec<OsString> = command.iter().filter(|argument| !is_own(argument)).cloned().collect();
    match read(command, &arguments) {
        Ok(invocation) => Decision::Handle(Box::new(invocation)),
        Err(reason) => Decision::PassThrough { arguments, reason },
    }
}

fn read(command: &[OsString], arguments: &[OsString]) -> Result<Invocation, String> {
    let mut own = OwnOptions::default();
    let mut forced = None;
    for argument in command {
        let Some(argument) = argument.to_str() else { continue };
        let Some((option, value)) = lookup(argument) else { continue };
        if option.2 != Own {
            continue;
        }
        let value = value.unwrap_or_default().trim_start_matches('=');
        match option.0 {
            "-fparagon" => forced = Some(true),
            "-fno-paragon" => forced = Some(false),
            "-fparagon-echo" => {
                own.echo = true;
                forced = Some(true);
            }
            "-fparagon-threshold=" => {
                own.threshold =
                    Some(value.parse().map_err(|_| "-fparagon-threshold needs a number".to_string())?);
            }
            "-fparagon-report=" => own.report = Some(value.to_string()),
            "--paragon-save-temps" => own.save_temps = Some(value.into()),
            "--dump-after" => own.dump_after = Some(value.to_string()),
            _ => {}
        }
    }
    if forced == Some(false) {
        return Err("-fno-paragon".into());
    }
    let mut invocation = Invocation {
        arguments: arguments.to_vec(),
        not_for_preprocessor: Vec::new(),
        dependency_options: Vec::new(),
        mode: Mode::Link,
        inputs: Vec::new(),
        output: None,
        dependencies: None,
        dependency_file: None,
        has_dependency_target: false,
        dialect: Dialect::default(),
        analysis: AnalysisOptions::default(),
        own,
    };
    let owns = |name: &str| command.iter().any(|argument| argument == name);
    invocation.analysis.reassociate = owns("-fparagon-reassoc");
    invocation.analysis.device_math = owns("-fparagon-math=device");
    let mut optimised = false;
    let mut fast_level = false;
    let mut strict_level = false;
    let mut strict_aliasing = None;
    let mut other_inputs = false;
    let mut strict_standard = false;
    let mut contract_off = None;
    let mut fused = false;
    let words = expand(arguments, 0);
    let mut position = 0;
    while position < words.len() {
        let (word, origin) = &words[position];
        position += 1;
        let text = word.to_str().ok_or("an argument that is no UTF-8")?;
        if text == "-" {
            return Err("the input is standard input".into());
        }
        if !text.starts_with('-') {
            if Path::new(text).extension() == Some(OsStr::new("c")) {
                let index = origin.ok_or("an input in a response file")?;
                invocation.inputs.push(Input { index, path: text.into() });
            } else if Path::new(text).extension().is_some_and(|extension| {
                ["o", "a", "so", "lo"].iter().any(|known| extension == *known) || text.contains(".so.")
            }) {
                other_inputs = true;
                invocation.not_for_preprocessor.push(origin.ok_or("an input in a response file")?);
            } else {
                return Err(format!("an input that is neither C nor an object: {text}"));
            }
            continue;
        }
        let (option, joined) = lookup(text).ok_or_else(|| format!("{text} is not in the table"))?;
        let mut places = vec![*origin];
        let value = match (option.1, joined) {
            (_, Some(value)) => Some(value.to_string()),
            (Value::Separate | Value::Either, None) => {
                let (value, origin) = words.get(position).ok_or_else(|| format!("{text} without a value"))?;
                position += 1;
                places.push(*origin);
                Some(value.to_str().ok_or("an argument that is no UTF-8")?.to_string())
            }
            _ => None,
        };
        let value = value.unwrap_or_default();
        let place = |list: &mut Vec<usize>| -> Result<(), String> {
            for origin in &places {
                list.push(origin.ok_or_else(|| format!("{text} in a response file"))?);
            }
            Ok(())
        };
        match option.2 {
            Irrelevant => {}
            TooHard | Own => return Err(format!("{text} is the real compiler's")),
            CompileOnly => {
                place(&mut invocation.not_for_preprocessor)?;
                if invocation.mode == Mode::Link {
                    invocation.mode = Mode::Object;
                }
            }
            AssemblyOnly => {
                place(&mut invocation.not_for_preprocessor)?;
                invocation.mode = Mode::Assembly;
            }
            Output => {
                if value == "-" {
                    return Err("the output is standard output".into());
                }
                place(&mut invocation.not_for_preprocessor)?;
                invocation.output = Some(value.into());
            }
            Dependencies | DependencyFile | DependencyTarget | DependencyDetail => {
                place(&mut invocation.dependency_options)?;
                match option.2 {
                    Dependencies => invocation.dependencies = Some(text.into()),
                    DependencyFile => {
                        if value == "-" {
                            return Err("dependencies on standard output".into());
                        }
                        invocation.dependency_file = Some(value.into());
                    }
                    DependencyTarget => invocation.has_dependency_target = true,
                    _ => {}
                }
            }
            Language => return Err("-x".into()),
            Optimisation => {
                fast_level = value == "fast";
                strict_level = matches!(value.as_str(), "2" | "3" | "s" | "fast");
                optimised = match value.as_str() {
                    "0" | "g" => false,
                    "" | "1" | "2" | "3" | "s" | "z" | "fast" => true,
                    _ => return Err(format!("{text} is not in the table")),
                }
            }
            Standard => {
                strict_standard = !value.starts_with("gnu");
                invocation.dialect.gnu89_inline = text == "-ansi"
                    || ["89", "90"].iter().any(|year| value.ends_with(year))
                    || value.ends_with("199409");
            }
            Licence => match text {
                "-ffast-math" => {
                    invocation.analysis.reassociate = true;
                    invocation.analysis.device_math = true;
                }
                "-fassociative-math" | "-funsafe-math-optimizations" => {
                    invocation.analysis.reassociate = true
                }
                "-fno-fast-math" => {
                    invocation.analysis.reassociate = owns("-fparagon-reassoc");
                    invocation.analysis.device_math = owns("-fparagon-math=device");
                }
                "-fno-associative-math" | "-fno-unsafe-math-optimizations" => {
                    invocation.analysis.reassociate = owns("-fparagon-reassoc");
                }
                "-fgnu89-inline" => invocation.dialect.gnu89_inline = true,
                "-fshort-enums" => invocation.dialect.short_enums = true,
                "-funsigned-char" => invocation.dialect.unsigned_char = true,
                "-fsigned-char" => invocation.dialect.unsigned_char = false,
                "-fwrapv" | "-fno-strict-overflow" => invocation.analysis.wrapping = true,
                "-fno-strict-aliasing" => strict_aliasing = Some(false),
                "-fstrict-aliasing" => strict_aliasing = Some(true),
                "-fno-wrapv" => invocation.analysis.wrapping = false,
                "-mfma" => fused = true,
                "-mno-fma" => {}
                _ if text.starts_with("-mavx512") => fused = true,
                _ if text.starts_with("-march=") => {
                    fused |= !matches!(value.as_str(), "x86-64" | "x86-64-v2")
                }
                _ => contract_off = Some(value == "off"),
            },
        }
    }
    // Of several levels the last one counts, so `-Ofast` grants its licences only here.
    invocation.analysis.reassociate |= fast_level;
    invocation.analysis.device_math |= fast_level;
    invocation.analysis.strict_aliasing = strict_aliasing.unwrap_or(strict_level);
    // gcc's strictly conforming standards contract nothing; its GNU standards do.
    invocation.analysis.contraction = fused && !contract_off.unwrap_or(strict_standard);
    if invocation.inputs.is_empty() {
        return Err("no C input".into());
    }
    if !optimised && forced != Some(true) {
        return Err("no optimisation asked for".into());
    }
    let many = invocation.inputs.len() > 1;
    if invocation.mode == Mode::Link {
        if !invocation.dependency_options.is_empty() {
            return Err("dependencies while linking".into());
        }
    } else if other_inputs {
        return Err("linker inputs that are not used".into());
    }
    if invocation.dependencies.is_none() && !invocation.dependency_options.is_empty() {
        return Err("dependency options without -MD".into());
    }
    if many
        && invocation.mode != Mode::Link
        && (invocation.output.is_some() || invocation.dependencies.is_some())
    {
        return Err("several inputs with one output".into());
    }
    Ok(invocation)
}

impl Invocation {
    /// The arguments without those at `left_out` and with the input `kept` replaced by `replacement`; other C inputs
    /// are left out.
    pub fn for_one(&self, left_out: &[&[usize]], kept: &Input, replacement: Option<&Path>) -> Vec<OsString> {
        let dropped = |index: usize| {
            left_out.iter().any(|list| list.contains(&index))
                || self.inputs.iter().any(|input| input.index == index && index != kept.index)
        };
        let words = self.arguments.iter().enumerate().filter(|(index, _)| !dropped(*index));
        words
            .map(|(index, word)| match replacement {
                Some(path) if index == kept.index => path.as_os_str().to_owned(),
                _ => word.clone(),
            })
            .collect()
    }

    /// The file that `-MD` writes for `input`, and the target that it names there.
    pub fn dependency_names(&self, input: &Path) -> (PathBuf, OsString) {
        let base = PathBuf::from(input.file_name().unwrap_or_default());
        let target = self.output.clone().unwrap_or_else(|| base.with_extension("o"));
        let file = self.dependency_file.clone().unwrap_or_else(|| match &self.output {
            Some(output) => output.with_extension("d"),
            None => base.with_extension("d"),
        });
        (file, target.into_os_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(line: &str) -> Decision {
        parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    fn handled(line: &str) -> Invocation {
        match parse_words(line) {
            Decision::Handle(invocation) => *invocation,
            Decision::PassThrough { reason, .. } => panic!("{line}: {reason}"),
        }
    }

    #[test]
    fn table_is_sorted() {
        assert!(OPTIONS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn the_real_compilers_own() {
        for line in [
            "",
            "--version",
            "-v",
            "-E a.c -O2",
            "-M a.c",
            "-MM a.c -O2",
            "-### -O2 a.c",
            "-O2 -",
            "-O2 -x c++ a.c",
            "-O2 a.s",
            "-c a.c",
            "-O0 -c a.c",
            "-Og -c a.c",
            "-O2 -O0 -c a.c",
            "-O2 -fno-paragon -c a.c",
            "-O2 -fsanitize=address -c a.c",
            "-O2 --coverage -c a.c",
            "-O2 -fprofile-generate -c a.c",
            "-O2 -pg -c a.c",
            "-O2 -flto -c a.c",
            "-O2 -m32 -c a.c",
            "-O2 -ftrapv -c a.c",
            "-O2 -frounding-math -c a.c",
            "-O2 -ffreestanding -c a.c",
            "-O2 -nostdlib a.c",
            "-O2 -save-temps -c a.c",
            "-O2 -fplugin=x -c a.c",
            "-O2 -specs=x -c a.c",
            "-O2 -wrapper x -c a.c",
            "-O2 -fsyntax-only a.c",
            "-O2 -g -gsplit-dwarf -c a.c",
            "-print-search-dirs",
            "-dumpmachine",
            "-O2 -c a.c -o",
            "-O2 -Wp,-MD,x.d -c a.c",
            "-O2 -S a.c -o -",
            "-O2 -MD a.c -o prog",
            "-O2 -MF x -c a.c",
            "-O2 -c a.c b.o",
            "-O2 -unknown a.cc",
        ] {
            assert!(matches!(parse_words(line), Decision::PassThrough { .. }), "{line}");
        }
    }

    #[test]
    fn ours() {
        let one = handled("-O2 -Wall -DX=1 -D Y -I inc -c dir/a.c -o out/x.y.o -MD -MP");
        assert_eq!(one.mode, Mode::Object);
        assert_eq!(one.dependency_names(Path::new("dir/a.c")), ("out/x.y.d".into(), "out/x.y.o".into()));
        assert_eq!(handled("-O2 -c a.c b.c").inputs.len(), 2);
        let link = handled("-O2 a.c b.o -o prog -lm -fparagon-threshold=1");
        assert_eq!((link.mode, link.own.threshold), (Mode::Link, Some(1)));
        assert!(!link.arguments.iter().any(|argument| argument.to_str().unwrap().contains("paragon")));
        assert!(handled("-fparagon -c a.c").inputs.len() == 1);
        assert!(handled("-O2 -march=native -c a.c").analysis.contraction);
        assert!(!handled("-O2 -march=native -std=c99 -c a.c").analysis.contraction);
        assert!(!handled("-O2 -mfma -ffp-contract=off -c a.c").analysis.contraction);
        assert!(handled("-Ofast -c a.c").analysis.reassociate);
        assert!(!handled("-Ofast -O2 -c a.c").analysis.reassociate);
    }

    #[test]
    fn response_file_words() {
        assert_eq!(response_words("a 'b c' \"d\\\"e\" f\\ g ''"), ["a", "b c", "d\"e", "f g", ""]);
    }
}
