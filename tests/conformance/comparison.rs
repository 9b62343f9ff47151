//! One command line with both compilers: what has to be the same, and what may differ where a loop was rewritten.

use super::place::{Place, contains, words};
use super::{MARK, PARAGON};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use std::sync::OnceLock;

/// Assembly without the numbers of its local labels; other files as they are.
fn without_label_numbers(text: &[u8]) -> Vec<u8> {
    if text.starts_with(b"\x7fELF") {
        return text.to_vec();
    }
    let mut result: Vec<u8> = Vec::new();
    // Where the word begins that is being read.
    let mut word = 0;
    for byte in text {
        if !(byte.is_ascii_digit() && result[word..].starts_with(b".L")) {
            result.push(*byte);
        }
        if byte.is_ascii_whitespace() {
            word = result.len();
        }
    }
    result
}

/// What a tool of binutils says about `content`, as a set of what `pick` takes of each line.
fn facts(tool: &str, flags: &[&str], content: &[u8], pick: fn(&str) -> Option<String>) -> BTreeSet<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), content).unwrap();
    let output = Command::new(tool).args(flags).arg(file.path()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).lines().filter_map(pick).collect()
}

fn sections(content: &[u8]) -> BTreeSet<String> {
    facts("readelf", &["-SW"], content, |line| {
        let name = line.split_once("] ")?.1.split_whitespace().next()?;
        // Profiles and link-time optimisation number their sections at random.
        Some(name.split_once(".lto").map_or(name, |(start, _)| start).to_string())
    })
}

/// With gcc's plugin, which knows what objects have for link-time optimisation. By itself `nm` asks each plugin that is installed, and LLVM takes ten times
/// as long to be loaded as an object to be read.
fn symbols(content: &[u8]) -> BTreeSet<String> {
    static PLUGIN: OnceLock<String> = OnceLock::new();
    let plugin = PLUGIN.get_or_init(|| {
        let output = Command::new("gcc").arg("-print-file-name=liblto_plugin.so").output().unwrap();
        let path = String::from_utf8(output.stdout).unwrap();
        assert!(path.starts_with('/'), "gcc has no plugin: {path}");
        format!("--plugin={}", path.trim_end())
    });
    facts("nm", &[plugin, "-g", "--defined-only", "-P"], content, |line| {
        let mut words = line.split_whitespace();
        Some(format!("{} {}", words.next()?, words.next()?))
    })
}

/// The same global symbols, the same sections, and beyond those only ones for the added code's own constants. What
/// differs, if anything.
fn difference_in_structure(theirs: &[u8], ours: &[u8]) -> Option<String> {
    if !theirs.starts_with(b"\x7fELF") {
        // Assembly.
        let globals = |text: &[u8]| -> BTreeSet<String> {
            let text = String::from_utf8_lossy(text).into_owned();
            text.lines().filter(|line| line.contains(".globl")).map(str::to_owned).collect()
        };
        return (globals(theirs) != globals(ours)).then(|| "global names".into());
    }
    let names = (symbols(theirs), symbols(ours));
    // A static program also has those parts of the library that the added code calls.
    let is_static = names.0.iter().any(|name| name.starts_with("_exit "));
    if let Some(name) = names.0.difference(&names.1).next() {
        return Some(format!("symbol {name} is lost"));
    }
    if let Some(name) = names.1.difference(&names.0).next().filter(|_| !is_static) {
        return Some(format!("symbol {name} is new"));
    }
    let (theirs, ours) = (sections(theirs), sections(ours));
    if let Some(lost) = theirs.difference(&ours).next() {
        return Some(format!("section {lost} is lost"));
    }
    let added = [
        ".text",
        ".rodata",
        ".data",
        ".bss",
        ".rel",
        ".debug",
        ".got",
        ".plt",
        ".init",
        ".fini",
        ".tm_clone",
        ".gnu.version",
    ];
    let strange = ours.difference(&theirs).find(|name| !added.iter().any(|start| name.starts_with(start)));
    strange.map(|name| format!("section {name} is new"))
}

/// Runs one line with both compilers. Whether something was rewritten, or what differs.
pub fn compare(line: &str, place: &Place, files: &BTreeMap<Vec<u8>, Vec<u8>>) -> Result<bool, String> {
    let words = words(line, place);
    let theirs = place.execute("gcc", &words, files);
    let ours = place.execute(PARAGON, &words, files);
    if (theirs.code, theirs.signal) != (ours.code, ours.signal) {
        return Err(format!("exit code {:?} became {:?}", theirs.code, ours.code));
    }
    for (number, name) in ["standard output", "standard error"].iter().enumerate() {
        let streams = (&theirs.streams[number], &ours.streams[number]);
        let rewritten = contains(streams.1, MARK);
        if streams.0 != streams.1 && !rewritten {
            let show = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
            return Err(format!("{name}:\n{}became\n{}", show(streams.0), show(streams.1)));
        }
    }
    if !theirs.files.keys().eq(ours.files.keys()) {
        return Err(format!("files {:?} became {:?}", theirs.files.keys(), ours.files.keys()));
    }
    let mut rewritten = false;
    let mut again = None;
    for (name, content) in &theirs.files {
        let got = &ours.files[name];
        // The linker's map names temporary objects, gcc's or ours.
        if contains(got, b"/paragon-") && name.as_os_str() != "map" {
            return Err(format!("{} names our folder", name.display()));
        }
        if content == got {
            continue;
        }
        // Where the compiler saw that a loop is too short, the added code is gone again but for its labels' numbers.
        if without_label_numbers(content) == without_label_numbers(got) {
            continue;
        }
        // Where added code is gone because it can't be reached, debugging information still names it.
        if !contains(got, MARK) && !contains(got, b"__pg_") {
            // Only what gcc itself makes differently each time may differ.
            let again = again.get_or_insert_with(|| place.execute("gcc", &words, files));
            if again.files[name] == *content {
                return Err(format!("{} differs", name.display()));
            }
        } else {
            rewritten = true;
        }
        if let Some(difference) = difference_in_structure(content, got) {
            return Err(format!("{}: {difference}", name.display()));
        }
    }
    for (name, program) in &theirs.programs {
        if ours.programs.get(name) != Some(program) {
            return Err(format!("{} does something else: {:?}", name.display(), ours.programs.get(name)));
        }
    }
    Ok(rewritten)
}
