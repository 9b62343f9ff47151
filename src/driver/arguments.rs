//! What a command line in gcc's or clang's language asks for: [`parse`] reads it with the tables in `driver::options`
//! and says what to do.
//!
//! The user's arguments are never reordered or changed: whatever the tables don't hold makes the whole command the
//! real compiler's. Arguments and response files are bytes, as they are to the compiler. Not here: the options
//! themselves (`driver::options`), running anything (`driver::toolchain`) and what the stages do (`compile`).

use super::options::{Meaning::*, Value, lookup};
use crate::c::dialect::Dialect;
use crate::loops::options::AnalysisOptions;
use crate::remarks::{Format, RemarkKinds};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

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
    /// Whether only `-x c` in front of it makes it C.
    pub language_given: bool,
}

/// `-fparagon-report=FORMAT` or `-fparagon-report=FORMAT:FILE`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportRequest {
    /// How it is written.
    pub format: Format,
    /// Where to; none: standard error.
    pub to: Option<PathBuf>,
}

impl ReportRequest {
    /// Reads what follows `-fparagon-report=`.
    fn read(value: &[u8]) -> Result<ReportRequest, String> {
        let mut parts = value.splitn(2, |byte| *byte == b':');
        let format = String::from_utf8_lossy(parts.next().unwrap_or_default()).parse();
        let to = parts.next().map(|path| PathBuf::from(OsStr::from_bytes(path)));
        let format = format.map_err(|problem| format!("-fparagon-report: {problem}"))?;
        match to {
            Some(path) if path.as_os_str().is_empty() => {
                Err("-fparagon-report: no file behind the colon".into())
            }
            to => Ok(ReportRequest { format, to }),
        }
    }
}

/// What our own options ask for.
#[derive(Clone, PartialEq, Debug, Default)]
#[allow(missing_docs)]
pub struct OwnOptions {
    pub threshold: Option<u64>,
    pub reports: Vec<ReportRequest>,
    /// `-Rpass=paragon` and the like.
    pub remarks: RemarkKinds,
    pub save_temps: Option<PathBuf>,
    pub dump_after: Option<String>,
    /// Compile what the typed tree says instead of the user's text.
    pub echo: bool,
    /// Log every access of every loop, to see proofs refuted.
    pub doubt: bool,
    /// `-fparagon-checked-threads`.
    pub checked_threads: bool,
}

impl OwnOptions {
    /// Whether nobody wants to know or to see anything but what the compiler makes.
    pub fn only_compiles(&self) -> bool {
        !self.wants_report() && !self.echo && self.dump_after.is_none() && self.save_temps.is_none()
    }

    /// Whether somebody wants to know what becomes of loops.
    pub fn wants_report(&self) -> bool {
        !self.reports.is_empty() || self.remarks.any()
    }
}

/// A command that we handle.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)]
pub struct Invocation {
    /// What the real compiler gets if we leave the command to it: the user's arguments without our own options.
    pub untouched: Vec<OsString>,
    /// The same with the words of response files in the files' places.
    pub arguments: Vec<OsString>,
    /// Whether there were response files: the words may then be too many for a command line.
    pub from_files: bool,
    /// The positions in `arguments` of `-c`, `-S` and `-o x`.
    pub mode_options: Vec<usize>,
    /// The positions of dependency options.
    pub dependency_options: Vec<usize>,
    /// The positions of `-x x`.
    pub language_options: Vec<usize>,
    /// The positions of inputs that aren't C: objects, libraries, assembly.
    pub other_inputs: Vec<usize>,
    /// Files that are read besides the inputs: `-include`, `-imacros`.
    pub included: Vec<PathBuf>,
    pub mode: Mode,
    pub inputs: Vec<Input>,
    pub output: Option<PathBuf>,
    /// `-MD` or `-MMD`, the last one given.
    pub dependencies: Option<OsString>,
    pub dependency_file: Option<PathBuf>,
    pub has_dependency_target: bool,
    /// Whether a warning asks for messages that are those of the text as it was written, whatever the rewritten one draws.
    pub exact_messages: bool,
    /// The level of optimisation is one at which the compiler aligns loops.
    pub aligns_loops: bool,
    /// Whether the object tells how stacks are walked.
    pub describes_frames: bool,
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
    /// One of our own options can't be read: what to say.
    Invalid(String),
}

/// How many response files one command may read; beyond that they read themselves.
const MOST_RESPONSE_FILES: u32 = 1000;

/// A command line with the words of its response files.
struct Words {
    words: Vec<OsString>,
    /// Whether each comes out of a file.
    from_file: Vec<bool>,
    files: u32,
}

impl Words {
    /// Expands `@file` as gcc does. What can't be read twice (a pipe) isn't expanded there either.
    fn expand(&mut self, argument: OsString, from_file: bool) {
        let content = argument.as_bytes().strip_prefix(b"@").and_then(|name| {
            let path = Path::new(OsStr::from_bytes(name));
            (self.files < MOST_RESPONSE_FILES && path.is_file()).then(|| std::fs::read(path).ok())?
        });
        match content {
            Some(content) => {
                self.files += 1;
                for word in response_words(&content) {
                    self.expand(OsString::from_vec(word), true);
                }
            }
            None => {
                self.words.push(argument);
                self.from_file.push(from_file);
            }
        }
    }
}

/// The words of a response file: blanks separate, quotes of both kinds group, a backslash takes the next character.
pub fn response_words(text: &[u8]) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (b, Some(q)) if b == q => quote = None,
            (b, Some(_)) => word.get_or_insert_default().push(b),
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c, None) => words.extend(word.take()),
            (b, None) => word.get_or_insert_default().push(b),
        }
    }
    words.extend(word);
    words
}

/// The text of a response file that holds `words`.
pub fn response_text(words: &[OsString]) -> Vec<u8> {
    let mut text = Vec::new();
    for word in words {
        text.push(b'"');
        for byte in word.as_bytes() {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(*byte);
        }
        text.extend(b"\"\n");
    }
    text
}

/// Reads the command line (without the program's name).
pub fn parse(command: &[OsString]) -> Decision {
    let is_own = |argument: &OsStr| lookup(argument.as_bytes()).is_some_and(|(option, _)| option.2 == Own);
    let mut expanded = Words { words: Vec::new(), from_file: Vec::new(), files: 0 };
    for argument in command {
        expanded.expand(argument.clone(), false);
    }
    // The real compiler must not read our options in a response file: then it gets the words instead of the file.
    let hidden =
        expanded.words.iter().zip(&expanded.from_file).any(|(word, from_file)| *from_file && is_own(word));
    let without_own = |words: &[OsString]| -> Vec<OsString> {
        words.iter().filter(|word| !is_own(word)).cloned().collect()
    };
    let untouched = without_own(if hidden { &expanded.words } else { command });
    let mut invocation = Invocation {
        untouched,
        arguments: without_own(&expanded.words),
        from_files: expanded.files > 0,
        mode_options: Vec::new(),
        dependency_options: Vec::new(),
        language_options: Vec::new(),
        other_inputs: Vec::new(),
        included: Vec::new(),
        mode: Mode::Link,
        inputs: Vec::new(),
        output: None,
        dependencies: None,
        dependency_file: None,
        has_dependency_target: false,
        exact_messages: false,
        aligns_loops: false,
        describes_frames: true,
        dialect: Dialect::default(),
        analysis: AnalysisOptions::default(),
        own: OwnOptions::default(),
    };
    for word in &expanded.words {
        let value = word.as_bytes().strip_prefix(b"-fparagon-report=");
        match value.map(ReportRequest::read) {
            Some(Ok(request)) => invocation.own.reports.push(request),
            Some(Err(problem)) => return Decision::Invalid(problem),
            None => {}
        }
    }
    match read(&expanded.words, &mut invocation) {
        Ok(()) => Decision::Handle(Box::new(invocation)),
        Err(reason) => Decision::PassThrough { arguments: invocation.untouched, reason },
    }
}

/// What a file that isn't C is to the compiler.
enum Kind {
    /// The linker reads it.
    Linker,
    /// The assembler does.
    Assembly,
    /// Another language, or a header to precompile.
    Language,
}

/// What the name of an input says about it. gcc links what it doesn't know.
fn kind(path: &Path) -> Kind {
    match path.extension().and_then(OsStr::to_str) {
        Some("s" | "S" | "sx") => Kind::Assembly,
        Some(
            "i" | "ii" | "m" | "mi" | "mm" | "M" | "mii" | "h" | "hh" | "H" | "hp" | "hxx" | "hpp" | "HPP"
            | "h++" | "tcc" | "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "f" | "for" | "ftn" | "F"
            | "FOR" | "fpp" | "FPP" | "FTN" | "f90" | "f95" | "f03" | "f08" | "F90" | "F95" | "F03" | "F08"
            | "go" | "d" | "di" | "dd" | "ads" | "adb",
        ) => Kind::Language,
        Some(_) => Kind::Linker,
        // A name that is only an ending, or has none.
        None if path.file_name().is_some_and(|name| name.as_bytes().starts_with(b".")) => Kind::Language,
        None => Kind::Linker,
    }
}

/// Whether the words of `-Wp,` are such that they could stand on the command line as well.
fn plain_definitions(words: &[u8]) -> bool {
    words.split(|byte| *byte == b',').all(|word| {
        word.len() > 2 && [b"-D", b"-U", b"-I"].iter().any(|start| word.starts_with(start.as_slice()))
    })
}

/// Reads what our own options among `words` ask for, and whether they force or forbid our work.
fn read_own(words: &[OsString], own: &mut OwnOptions) -> Result<Option<bool>, String> {
    let mut forced = None;
    for argument in words {
        let Some((option, value)) = lookup(argument.as_bytes()) else { continue };
        if option.2 != Own {
            continue;
        }
        let value = value.unwrap_or_default();
        let value = OsStr::from_bytes(value.strip_prefix(b"=").unwrap_or(value));
        let text = value.to_string_lossy();
        match option.0 {
            "-fparagon" => forced = Some(true),
            "-fno-paragon" => forced = Some(false),
            "-fparagon-doubt" => own.doubt = true,
            "-fparagon-checked-threads" => own.checked_threads = true,
            "-fparagon-echo" => {
                own.echo = true;
                forced = Some(true);
            }
            "-fparagon-threshold=" => {
                own.threshold =
                    Some(text.parse().map_err(|_| "-fparagon-threshold needs a number".to_string())?);
            }
            "-Rpass=paragon" => own.remarks.passed = true,
            "-Rpass-missed=paragon" => own.remarks.missed = true,
            "-Rpass-analysis=paragon" => own.remarks.analysis = true,
            "--paragon-save-temps" => own.save_temps = Some(value.into()),
            "--dump-after" => own.dump_after = Some(text.into_owned()),
            _ => {}
        }
    }
    Ok(forced)
}

fn read(command: &[OsString], invocation: &mut Invocation) -> Result<(), String> {
    let forced = read_own(command, &mut invocation.own)?;
    if forced == Some(false) {
        return Err("-fno-paragon".into());
    }
    let owns = |name: &str| command.iter().any(|argument| argument == name);
    // What options say about the order of sums and about calls of libm: more than the level does, in whatever order.
    let (mut reassociate, mut free_calls) = (None, None);
    invocation.analysis.explains = invocation.own.wants_report();
    invocation.analysis.interposable = owns("-fPIC") || owns("-fpic");
    let mut optimised = false;
    let mut fast_level = false;
    let mut strict_level = false;
    let (mut walked_anywhere, mut walked_at_calls, mut exceptions) = (true, false, false);
    let mut strict_aliasing = None;
    let mut strict_standard = false;
    let mut contract_off = None;
    let mut fused = false;
    let mut language_given = false;
    let mut language_unused = false;
    let mut assembly = false;
    let words = std::mem::take(&mut invocation.arguments);
    let mut position = 0;
    while position < words.len() {
        let at = position;
        let word = &words[at];
        position += 1;
        let bytes = word.as_bytes();
        // Only for messages and for comparison with what is ASCII.
        let text = &*word.to_string_lossy();
        if bytes == b"-" {
            return Err("the input is standard input".into());
        }
        if bytes.starts_with(b"@") {
            return Err(format!("{text} can't be read"));
        }
        if !bytes.starts_with(b"-") {
            let path = Path::new(word);
            language_unused = false;
            if language_given || path.extension() == Some(OsStr::new("c")) {
                let language_given = language_given && path.extension() != Some(OsStr::new("c"));
                invocation.inputs.push(Input { index: at, path: path.into(), language_given });
                continue;
            }
            match kind(path) {
                Kind::Language => return Err(format!("an input that is neither C nor an object: {text}")),
                Kind::Assembly => {
                    assembly = true;
                    invocation.other_inputs.push(at);
                }
                Kind::Linker => invocation.other_inputs.push(at),
            }
            continue;
        }
        let (option, joined) = lookup(bytes).ok_or_else(|| format!("{text} is not in the table"))?;
        let mut places = vec![at];
        let value = match (option.1, joined) {
            (_, Some(value)) => OsStr::from_bytes(value),
            (Value::Separate | Value::Either, None) => {
                places.push(position);
                let value = words.get(position).ok_or_else(|| format!("{text} without a value"))?;
                position += 1;
                value
            }
            _ => OsStr::new(""),
        };
        let plain_value = &*value.to_string_lossy();
        match option.2 {
            Irrelevant => {}
            Warning => invocation.exact_messages = true,
            PreprocessorWords if plain_definitions(&bytes[4..]) => {}
            TooHard | Own | PreprocessorWords => return Err(format!("{text} is the real compiler's")),
            CompileOnly => {
                invocation.mode_options.extend(places);
                if invocation.mode == Mode::Link {
                    invocation.mode = Mode::Object;
                }
            }
            AssemblyOnly => {
                invocation.mode_options.extend(places);
                invocation.mode = Mode::Assembly;
            }
            Output => {
                if value == "-" {
                    return Err("the output is standard output".into());
                }
                invocation.mode_options.extend(places);
                invocation.output = Some(value.into());
            }
            Dependencies | DependencyFile | DependencyTarget | DependencyDetail => {
                invocation.dependency_options.extend(places);
                match option.2 {
                    Dependencies => invocation.dependencies = Some(word.clone()),
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
            Language => {
                invocation.language_options.extend(places);
                language_unused = plain_value != "none";
                language_given = match plain_value {
                    "c" => true,
                    "none" => false,
                    _ => return Err(format!("-x {plain_value}")),
                };
            }
            Included => invocation.included.push(value.into()),
            Optimisation => {
                fast_level = plain_value == "fast";
                strict_level = matches!(plain_value, "2" | "3" | "s" | "fast");
                invocation.aligns_loops = matches!(plain_value, "2" | "3" | "fast");
                optimised = match plain_value {
                    "0" | "g" => false,
                    "" | "1" | "2" | "3" | "s" | "z" | "fast" => true,
                    _ => return Err(format!("{text} is not in the table")),
                }
            }
            Frames => {
                let is_on = !text.starts_with("-fno-");
                match text.trim_start_matches("-f").trim_start_matches("no-") {
                    "asynchronous-unwind-tables" => walked_anywhere = is_on,
                    "unwind-tables" => walked_at_calls = is_on,
                    _ => exceptions = is_on,
                }
            }
            Standard => {
                strict_standard = !plain_value.starts_with("gnu");
                invocation.dialect.gnu89_inline = text == "-ansi"
                    || ["89", "90"].iter().any(|year| plain_value.ends_with(year))
                    || plain_value.ends_with("199409");
            }
            Licence => match text {
                _ if text.starts_with("-fno-builtin") => {
                    let name = plain_value.trim_start_matches('-');
                    invocation.analysis.not_builtin.push(name.to_owned());
                }
                "-ffinite-math-only" => invocation.analysis.approximates = true,
                "-ffast-math" => {
                    invocation.analysis.approximates = true;
                    (reassociate, free_calls) = (Some(true), Some(true));
                }
                "-fassociative-math" | "-funsafe-math-optimizations" => {
                    invocation.analysis.approximates = true;
                    reassociate = Some(true);
                }
                "-fno-fast-math" | "-fno-unsafe-math-optimizations" => {
                    (reassociate, free_calls) = (Some(false), Some(false));
                }
                "-fno-associative-math" => reassociate = Some(false),
                "-fgnu89-inline" => invocation.dialect.gnu89_inline = true,
                "-fno-gnu89-inline" => invocation.dialect.gnu89_inline = false,
                "-fshort-enums" => invocation.dialect.short_enums = true,
                "-fno-short-enums" => invocation.dialect.short_enums = false,
                "-funsigned-char" | "-fno-signed-char" => invocation.dialect.unsigned_char = true,
                "-fsigned-char" | "-fno-unsigned-char" => invocation.dialect.unsigned_char = false,
                "-fwrapv" | "-fno-strict-overflow" => invocation.analysis.wrapping = true,
                "-fno-strict-aliasing" => strict_aliasing = Some(false),
                "-fstrict-aliasing" => strict_aliasing = Some(true),
                "-fno-wrapv" | "-fstrict-overflow" => invocation.analysis.wrapping = false,
                "-mfma" | "-mfma4" => fused = true,
                "-mno-fma" | "-mno-fma4" => {}
                _ if text.starts_with("-mavx512") => fused = true,
                _ if text.starts_with("-march=") => fused |= !matches!(plain_value, "x86-64" | "x86-64-v2"),
                _ => contract_off = Some(plain_value == "off"),
            },
        }
    }
    invocation.arguments = words;
    invocation.describes_frames = walked_anywhere || walked_at_calls || exceptions;
    // Of several levels the last one counts, so `-Ofast` grants its licences only here.
    invocation.analysis.reassociate = reassociate.unwrap_or(fast_level) || owns("-fparagon-reassoc");
    invocation.analysis.device_math = free_calls.unwrap_or(fast_level) || owns("-fparagon-math=device");
    invocation.analysis.approximates |= fast_level;
    invocation.analysis.strict_c90 = strict_standard && invocation.dialect.gnu89_inline;
    invocation.analysis.strict_aliasing = strict_aliasing.unwrap_or(strict_level);
    // gcc's strictly conforming standards contract nothing; its GNU standards do.
    invocation.analysis.contraction = fused && !contract_off.unwrap_or(strict_standard);
    if invocation.inputs.is_empty() {
        return Err("no C input".into());
    }
    if !optimised && forced != Some(true) {
        return Err("no optimisation asked for".into());
    }
    if language_unused {
        return Err("-x without an input".into());
    }
    if invocation.dependencies.is_none() && !invocation.dependency_options.is_empty() {
        return Err("dependency options without -MD".into());
    }
    if invocation.mode != Mode::Link && assembly {
        return Err("assembly that isn't linked".into());
    }
    if invocation.mode != Mode::Link && invocation.output.is_some() {
        let inputs = invocation.inputs.len() + invocation.other_inputs.len();
        if inputs > 1 {
            return Err("several inputs with one output".into());
        }
    }
    Ok(())
}

impl Invocation {
    /// What compiling `input` makes, unless the user gives a name or links it.
    pub fn output_name(&self, input: &Input) -> PathBuf {
        let ending = if self.mode == Mode::Assembly { "s" } else { "o" };
        PathBuf::from(input.path.file_name().unwrap_or_default()).with_extension(ending)
    }

    /// Whether somebody may see which macros the text was written with, in debug information, warnings or coverage. If not,
    /// it may as well be compiled with its macros expanded, which is faster.
    pub fn shows_macros(&self) -> bool {
        self.arguments.iter().any(|word| {
            let word = word.as_bytes();
            let handed_on = word.get(2..4).is_some_and(|rest| rest[1] == b',');
            let debugs = word.starts_with(b"-g") && word != b"-g0";
            let warns = word.starts_with(b"-W") && !handed_on || word.starts_with(b"-pedantic");
            debugs
                || warns
                || word.starts_with(b"-fdiag")
                || word.ends_with(b"coverage")
                || word.starts_with(b"-fprofile")
        })
    }

    /// The arguments without those at `left_out`, without inputs other than `kept`, and with that replaced by
    /// `replacement`.
    pub fn for_one(&self, left_out: &[&[usize]], kept: &Input, replacement: Option<&Path>) -> Vec<OsString> {
        let mut words = Vec::new();
        for (index, word) in self.arguments.iter().enumerate() {
            let dropped = left_out.iter().any(|list| list.contains(&index))
                || self.language_options.contains(&index)
                || self.other_inputs.contains(&index)
                || self.inputs.iter().any(|input| input.index == index && index != kept.index);
            if dropped {
                continue;
            }
            match replacement {
                Some(path) if index == kept.index => words.push(path.as_os_str().to_owned()),
                None if index == kept.index && kept.language_given => {
                    words.extend(["-x".into(), "c".into(), word.clone(), "-x".into(), "none".into()]);
                }
                _ => words.push(word.clone()),
            }
        }
        words
    }

    /// The linking command: the arguments with each C input replaced by its object.
    pub fn for_linking(&self, objects: &[PathBuf]) -> Vec<OsString> {
        let mut words = Vec::new();
        for (index, word) in self.arguments.iter().enumerate() {
            if self.language_options.contains(&index) || self.dependency_options.contains(&index) {
                continue;
            }
            match self.inputs.iter().position(|input| input.index == index) {
                Some(number) => words.push(objects[number].clone().into_os_string()),
                None => words.push(word.clone()),
            }
        }
        words
    }

    /// The command without its C inputs, for what the compiler says about the others.
    pub fn for_others(&self) -> Vec<OsString> {
        let dropped = |index: &usize| {
            self.language_options.contains(index)
                || self.dependency_options.contains(index)
                || self.inputs.iter().any(|input| input.index == *index)
        };
        let words = self.arguments.iter().enumerate().filter(|(index, _)| !dropped(index));
        words.map(|(_, word)| word.clone()).collect()
    }

    /// The file that `-MD` writes for `input`, and the target that it names there.
    pub fn dependency_names(&self, input: &Path) -> (PathBuf, OsString) {
        let base = PathBuf::from(input.file_name().unwrap_or_default());
        let target = self.output.clone().unwrap_or_else(|| base.with_extension("o"));
        let file = self.dependency_file.clone().unwrap_or_else(|| match (&self.output, self.mode) {
            (Some(output), _) => output.with_extension("d"),
            // As if the program were named: files beside `a.out` start with its name.
            (None, Mode::Link) => {
                let mut name = OsString::from("a-");
                name.push(base.with_extension("d"));
                name.into()
            }
            (None, _) => base.with_extension("d"),
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
            Decision::PassThrough { reason, .. } | Decision::Invalid(reason) => panic!("{line}: {reason}"),
        }
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
            "-O2 -MF x -c a.c",
            "-O2 -c a.c b.o -o x.o",
            "-O2 -c a.c b.s",
            "-O2 -c a.c -x c",
            "-O2 -c -x c-header a.h",
            "-O2 -mcmodel=kernel -c a.c",
            "-O2 -mcmodel=large -c a.c",
            "-O2 -Wp,-DX,-MD,x.d -c a.c",
            "-O2 -fdiagnostics-format=json -c a.c",
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
        assert_eq!(handled("-O2 -c a.c b.o").other_inputs, [3]);
        let text = handled("-O2 -c -x c a.txt -x none");
        assert_eq!(text.for_one(&[], &text.inputs[0], None), ["-O2", "-c", "-x", "c", "a.txt", "-x", "none"]);
        assert_eq!(
            handled("-O2 -MD a.c").dependency_names(Path::new("d/a.c")),
            ("a-a.d".into(), "a.o".into())
        );
        assert!(handled("-fparagon -c a.c").inputs.len() == 1);
        assert!(handled("-O2 -march=native -c a.c").analysis.contraction);
        assert!(!handled("-O2 -march=native -std=c99 -c a.c").analysis.contraction);
        assert!(!handled("-O2 -mfma -ffp-contract=off -c a.c").analysis.contraction);
        assert!(handled("-Ofast -c a.c").analysis.reassociate);
        for flag in [
            "-Ofast",
            "-ffast-math",
            "-funsafe-math-optimizations",
            "-ffinite-math-only",
            "-fassociative-math",
        ] {
            assert!(handled(&format!("-O2 {flag} -c a.c")).analysis.approximates, "{flag}");
        }
        assert!(!handled("-O2 -fparagon-reassoc -fno-math-errno -c a.c").analysis.approximates);
        assert_eq!(handled("-O2 -fno-builtin-sin -c a.c").analysis.not_builtin, ["sin"]);
        assert_eq!(handled("-O2 -fno-builtin -c a.c").analysis.not_builtin, [""]);
        assert!(handled("-O2 -std=c89 -c a.c").analysis.strict_c90);
        assert!(!handled("-O2 -std=gnu89 -c a.c").analysis.strict_c90);
        assert!(!handled("-O2 -std=c99 -c a.c").analysis.strict_c90);
        assert!(!handled("-Ofast -O2 -c a.c").analysis.reassociate);
        // Of a call's bits only all of -ffast-math says that they are free; who takes it back has them again.
        let free = |flags: &str| {
            let analysis = handled(&format!("{flags} -c a.c")).analysis;
            (analysis.device_math, analysis.reassociate)
        };
        for flags in ["-Ofast", "-O2 -ffast-math", "-O2 -fno-fast-math -ffast-math", "-Ofast -fmath-errno"] {
            assert_eq!(free(flags), (true, true), "{flags}");
        }
        for flags in ["-O2 -funsafe-math-optimizations", "-O2 -fassociative-math"] {
            assert_eq!(free(flags), (false, true), "{flags}");
        }
        assert_eq!(free("-Ofast -fno-associative-math"), (true, false));
        for flags in [
            "-Ofast -fno-fast-math",
            "-fno-fast-math -Ofast",
            "-O2 -ffast-math -fno-unsafe-math-optimizations",
            "-O2 -ffinite-math-only",
            "-O2 -fno-math-errno -fno-signed-zeros -fno-trapping-math",
        ] {
            assert_eq!(free(flags), (false, false), "{flags}");
        }
    }

    #[test]
    fn response_file_words() {
        let expected = ["a", "b c", "d\"e", "f g", ""];
        assert_eq!(response_words(b"a 'b c' \"d\\\"e\" f\\ g ''"), expected.map(str::as_bytes));
        let words: Vec<OsString> = expected.iter().map(OsString::from).collect();
        assert_eq!(response_words(&response_text(&words)), expected.map(str::as_bytes));
    }
}
