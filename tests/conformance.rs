//! `paragon-cc` against gcc, command line by command line: the same exit code, the same output, the same files. Where a
//! loop was rewritten the files' contents can't be the same; there it is the sections, the global symbols, the
//! dependency files and what programs print. Reproducible objects, interruption, and other compilers below it, too.

use paragon::driver::arguments::response_words;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

const PARAGON: &str = env!("CARGO_BIN_EXE_paragon-cc");
/// What files with rewritten loops contain and others don't.
const MARK: &[u8] = b"libparagon_rt.so";

const LOOP: &str = "#include \"b.h\"\n\nvoid f(int *a, const int *b, int n)\n{\n\tint i;\n\tfor (i = 0; i < n; i++)\n\t\ta[i] = b[i] * X + i;\n}\n";

/// Texts whose warnings depend on what the compiler makes of a loop, or stand close to one: `m0.c` and so on.
const WITH_MESSAGES: &[&str] = &[
    "void m(int *p, int n) { int start; for (int i = start; i < n; i++) p[i] = i; }",
    "void m(int *p, int n) { int stop; for (int i = 0; i < n; i++) p[i] += stop; }",
    "int t[8]; void m(int *p, int n) { for (int i = 0; i <= 8; i++) t[i] = p[i]; for (int i = 0; i < n; i++) p[i] = t[0]; }",
    "int m(int *p, int n) { int last; for (int i = 0; i < n; i++) { p[i] = i; last = i; } return last; }",
    "#include <stdlib.h>\nvoid m(int n) { int *p = malloc(4); for (int i = 0; i < 2000; i++) p[i] = i; free(p); for (int i = 0; i < n; i++) p[i] = i; }",
    "int m(int n) { int a[100]; int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }",
    "static void unused(int *p, int n) { for (int i = 0; i < n; i++) p[i] = i; }",
    "void m(int *p, unsigned n) { for (int i = 0; i < n; i++) p[i] = i; }",
    "void m(int *p, int n) {\n#pragma GCC unroll 4\nfor (int i = 0; i < n; i++) p[i] = i;\n#pragma GCC ivdep\nfor (int i = 0; i < n; i++) p[i] *= i; }",
    "void m(int *p, int n) {\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) p[i] = i; }",
    "void m(int *p, int n) { if (n)\n for (int i = 0; i < n; i++) p[i] = i;\n  p[1] = 2; }",
    "void m(int *p, int n) { if (n) for (int i = 0; i < n; i++) if (p[i]) p[i] = i; else p[i] = 2; }",
    "extern void *dlsym(void *, const char *);\nextern void *malloc(unsigned long);\nvoid m(int *p, int n) { for (int i = 0; i < n; i++) p[i] = i; }",
    "void m(int *p, int n) {\n#pragma GCC diagnostic error \"-Wunused\"\n for (int i = 0; i < n; i++) { int u; p[i] = i; } }",
];

/// The files of a fresh folder.
fn sources() -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut add = |name: &[u8], text: &[u8]| {
        files.insert(name.to_vec(), text.to_vec());
    };
    for (number, text) in WITH_MESSAGES.iter().enumerate() {
        add(format!("m{number}.c").as_bytes(), text.as_bytes());
    }
    add(b"loop.c", LOOP.as_bytes());
    add(b"b.h", b"#ifndef X\n#define X 3\n#endif\n#define N 7000\nvoid f(int *, const int *, int);\n");
    add(
        b"main.c",
        b"#include <stdio.h>\n#include \"b.h\"\nstatic int a[N], b[N];\nint main(void)\n{\n  for (int i = 0; i < N; i++) b[i] = i * 5;\n  f(a, b, N);\n  printf(\"%d\\n\", a[N - 1]);\n  return 0;\n}\n",
    );
    add(b"plain.c", b"int g(int x) { return x + 1; }\n");
    add(
        b"warns.c",
        b"void g(unsigned u, int *p, int n)\n{\n  int unused; int late;\n  for (int i = 0; i < n; i++) p[i] = i + 1;\n  if (n > 3) late = 1;\n  p[0] = late;\n  if (u == n) p[1] = \"text\";\n}\n",
    );
    add(
        b"warning.c",
        b"#include <string.h>\n#warning \"said by the preprocessor\"\nvoid h(int *p, int n)\n{\n  for (int i = 0; i < n; i++) p[i] *= 3;\n}\n",
    );
    add(
        b"middle.c",
        b"int table[8];\nvoid m(int *p, int n)\n{\n  int start, stop;\n  for (int i = start; i < n; i++) p[i] = i;\n  for (int i = 0; i < n; i++) p[i] += stop;\n  for (int i = 0; i <= 8; i++) table[i] = i * p[0];\n  __builtin_memset(table, 0, 64);\n}\n",
    );
    add(
        b"error.c",
        b"int e(int *p, int n)\n{\n  for (int i = 0; i < n; i++) p[i] = undeclared;\n  return 0\n}\n",
    );
    add(
        b"latin.c",
        &[
            LOOP.as_bytes(),
            b"/* \xe4\xf6\xfc */ const char *text = \"\xe4\"; int size = sizeof \"\xe4\xf6\"; // \xdf\n",
        ]
        .concat(),
    );
    add(b"latin_char.c", &[LOOP.as_bytes(), b"int c = '\xe4';\n"].concat());
    add(b"utf8.c", &[LOOP.as_bytes(), "const char *text = \"äö→\"; /* é */\n".as_bytes()].concat());
    add(b"bom.c", &[b"\xef\xbb\xbf".as_slice(), LOOP.as_bytes()].concat());
    add(b"crlf.c", LOOP.replace('\n', "\r\n").as_bytes());
    add(b"open.c", LOOP.trim_end().as_bytes());
    add(b"empty.c", b"");
    add(b"with space.c", LOOP.as_bytes());
    add(b"quo\"te.c", LOOP.as_bytes());
    add(b"dollar$.c", LOOP.as_bytes());
    add(b"b\xe4.c", LOOP.as_bytes());
    add(b"text.txt", LOOP.as_bytes());
    add(b"-dash.c", LOOP.as_bytes());
    add(
        b"names.c",
        &[LOOP.as_bytes(), b"#include <stdio.h>\nint main(void) { puts(__BASE_FILE__ \" \" __FILE__ \" \" __TIMESTAMP__); printf(\"%d %d\\n\", __INCLUDE_LEVEL__, __LINE__); return 0; }\n"].concat(),
    );
    add(b"assembly.s", b"\t.globl from_s\nfrom_s:\n\tret\n\t.section .note.GNU-stack,\"\",@progbits\n");
    add(b"preprocessed.S", b"#include \"b.h\"\n#ifdef N\n\t.globl from_big_s\nfrom_big_s:\n\tret\n#endif\n\t.section .note.GNU-stack,\"\",@progbits\n");
    add(b"plus.cc", b"int plus() { return 1; }\n");
    add(b"ready.i", b"# 1 \"ready.c\"\nint ready;\n");
    add(b"flags", b"-O2 -Wall\n");
    add(b"input", b"loop.c\n-O2");
    add(b"nested", b"-c @flags 'loop.c'\n");
    add(b"quoted", b"-O2 \"-DX=(1 + 2)\" -c with\\ space.c -o 'an object.o'");
    add(b"circle", b"@circle -c");
    add(b"version", b"{ global: f; local: *; };\n");
    add(b"force.h", b"#define X 9\n");
    add(b"twice.c", b"#include \"t.h\"\n#define SECOND\n#include \"t.h\"\n#include \"b.h\"\nvoid k(int *a, int n) { for (int i = 0; i < n; i++) a[i]++; }\n");
    add(b"t.h", b"#ifdef SECOND\nstatic void second(int *a, int n) { for (int i = 0; i < n; i++) a[i] = 2; }\nvoid two(int *a, int n) { second(a, n); }\n#else\nstatic inline void first(int *a, int n) { for (int i = 0; i < n; i++) a[i] = 1; }\nvoid one(int *a, int n) { first(a, n); }\n#endif\n");
    add(
        b"old.c",
        b"void old(a, n) int *a; int n; { int i; for (i = 0; i < n; i++) a[i] = i; }\nasm(\"\");\n",
    );
    add(
        b"linker.c",
        b"#include <stdio.h>\nchar *tmpnam(char *);\nint a[9000];\nint main(int c, char **v)\n{\n  int unused;\n  for (int i = 0; i < c * 8000; i++) a[i] = i;\n  if (c > 9) puts(tmpnam(0));\n  return 0;\n}\n",
    );
    files
}

/// Objects that inputs refer to, made once.
fn objects() -> BTreeMap<Vec<u8>, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("plain.c"), "int g(int x) { return x + 1; }\n").unwrap();
    let run = |command: &str, words: &[&str]| {
        assert!(Command::new(command).args(words).current_dir(folder.path()).status().unwrap().success());
    };
    run("gcc", &["-O2", "-c", "plain.c"]);
    run("ar", &["rcsD", "libplain.a", "plain.o"]);
    let read = |name: &str| (name.as_bytes().to_vec(), fs::read(folder.path().join(name)).unwrap());
    [read("plain.o"), read("libplain.a")].into()
}

/// What one command did.
struct Outcome {
    code: Option<i32>,
    signal: Option<i32>,
    streams: [Vec<u8>; 2],
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// What programs that it made print.
    programs: BTreeMap<PathBuf, Output>,
}

/// A place in which one command after the other finds the same folder under the same name.
struct Place {
    folder: PathBuf,
    temporary: PathBuf,
}

impl Place {
    fn fill(&self, files: &BTreeMap<Vec<u8>, Vec<u8>>) {
        let _ = fs::remove_dir_all(&self.folder);
        fs::create_dir_all(self.folder.join("sub")).unwrap();
        fs::create_dir_all(&self.temporary).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        for (name, content) in files {
            let path = self.folder.join(OsStr::from_bytes(name));
            let mut file = fs::File::create(&path).unwrap();
            file.write_all(content).unwrap();
            file.set_modified(time).unwrap();
        }
    }

    fn command(&self, compiler: &str, words: &[OsString]) -> Command {
        let mut command = Command::new(compiler);
        command.args(words).current_dir(&self.folder).env("TMPDIR", &self.temporary);
        for name in ["PARAGON_CC", "CPATH", "LIBRARY_PATH", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"] {
            command.env_remove(name);
        }
        command
    }

    fn execute(&self, compiler: &str, words: &[OsString], files: &BTreeMap<Vec<u8>, Vec<u8>>) -> Outcome {
        self.fill(files);
        let mut command = self.command(compiler, words);
        let input = fs::File::open(self.folder.join("loop.c")).unwrap();
        let output = command.stdin(input).output().unwrap();
        let left: Vec<_> =
            fs::read_dir(&self.temporary).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(left.is_empty(), "{words:?} leaves {left:?}");
        let mut found = BTreeMap::new();
        let mut programs = BTreeMap::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&self.folder).unwrap().to_owned();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.metadata().unwrap().file_type().is_fifo() {
                    let content = fs::read(&path).unwrap();
                    let executable = path.metadata().unwrap().permissions().mode() & 0o100 != 0;
                    if executable && !words.iter().any(|word| word == "-shared") {
                        programs.insert(name.clone(), Command::new(&path).output().unwrap());
                    }
                    found.insert(name, content);
                }
            }
        }
        let streams = [output.stdout, output.stderr].map(|text| without_random_names(&text));
        Outcome {
            code: output.status.code(),
            signal: output.status.signal(),
            streams,
            files: found,
            programs,
        }
    }
}

/// The compiler's temporary files have random names, which its own messages and listings contain.
fn without_random_names(text: &[u8]) -> Vec<u8> {
    let mut result = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let name = text[at..].strip_prefix(b"/cc").and_then(|rest| rest.get(..6));
        if name.is_some_and(|name| name.iter().all(u8::is_ascii_alphanumeric)) {
            result.extend(b"/ccXXXXXX");
            at += 9;
        } else {
            result.push(text[at]);
            at += 1;
        }
    }
    result
}

/// Assembly without the numbers of its local labels; other files as they are.
fn without_label_numbers(text: &[u8]) -> Vec<u8> {
    if text.starts_with(b"\x7fELF") {
        return text.to_vec();
    }
    let mut result: Vec<u8> = Vec::new();
    for byte in text {
        let in_label = result
            .rsplit(|byte| byte.is_ascii_whitespace())
            .next()
            .is_some_and(|word| word.starts_with(b".L"));
        if !(byte.is_ascii_digit() && in_label) {
            result.push(*byte);
        }
    }
    result
}

/// The words of a line; `%E4` is the byte 0xe4, `<folder>` the folder's name.
fn words(line: &str, place: &Place) -> Vec<OsString> {
    let line = line.replace("<folder>", &place.folder.display().to_string());
    let bytes = |word: Vec<u8>| {
        let text = String::from_utf8(word).unwrap();
        let mut parts = text.split("%E4").map(|part| part.as_bytes().to_vec());
        let mut word = parts.next().unwrap();
        for part in parts {
            word.push(0xe4);
            word.extend(part);
        }
        OsString::from_vec(word)
    };
    response_words(line.as_bytes()).into_iter().map(bytes).collect()
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
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

fn symbols(content: &[u8]) -> BTreeSet<String> {
    facts("nm", &["-g", "--defined-only", "-P"], content, |line| {
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
fn compare(line: &str, place: &Place, files: &BTreeMap<Vec<u8>, Vec<u8>>) -> Result<bool, String> {
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

/// Every command line, once.
fn lines() -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    let modes = [
        "",
        "-c",
        "-S",
        "-E",
        "-M",
        "-MM",
        "-fsyntax-only",
        "-c -MD",
        "-c -MMD",
        "-c -MMD -MP",
        "-c -MD -MF deps",
        "-c -MD -MFdeps",
        "-c -MD -MT t -MTu",
        "-c -MMD -MQ 'a$b'",
        "-S -MMD",
        "-MMD",
        "-MD -MF deps -MP",
        "-M -MG",
        "-E -MMD",
        "-E -dM",
        "-E -P -C",
        "-c -MF deps",
        "-c -MP",
        "-MM -MF deps -MT x",
    ];
    for mode in modes {
        for output in ["", "-o out.o", "-oout", "-o sub/x.y", "-o absent/out.o", "-o sub", "-o ''", "-o"] {
            lines.insert(format!("-O2 {mode} loop.c {output}"));
        }
        for inputs in
            ["main.c loop.c", "loop.c plain.o -L. -lplain", "warns.c loop.c", "-x c text.txt", "missing.c"]
        {
            lines.insert(format!("-O2 -Wall {mode} {inputs}"));
        }
    }
    for input in [
        "warning.c",
        "middle.c",
        "error.c",
        "latin.c",
        "latin_char.c",
        "utf8.c",
        "bom.c",
        "crlf.c",
        "open.c",
        "empty.c",
        "'with space.c'",
        "quo\\\"te.c",
        "dollar$.c",
        "b%E4.c",
        "./-dash.c",
        "names.c",
        "assembly.s",
        "preprocessed.S",
        "plus.cc",
        "ready.i",
        "twice.c",
        "old.c",
        "b.h",
        "sub",
        "plain.o",
        "-x c -",
        "-",
        "-x c text.txt -x none",
        "-x none loop.c",
        "-xc text.txt",
        "-x c-header b.h",
        "-x c loop.c -x c",
        "-x assembler assembly.s",
        "-x nonsense loop.c",
        "<folder>/loop.c",
        "sub/../loop.c",
        "/dev/null",
        "-x c /dev/null",
        "-x c /dev/stdin",
        "loop.c loop.c",
        "loop.c error.c main.c",
        "loop.c warns.c warning.c middle.c",
        "loop.c missing.o",
        "loop.c libplain.a",
        "loop.c assembly.s",
        "loop.c plus.cc",
        "main.c loop.c assembly.s preprocessed.S plain.o",
        "loop.c nonsense",
        "names.c -o names",
        "loop.c -o loop.c",
        "main.c loop.c -o main.c",
        "loop.c -o /dev/null",
        "main.c loop.c -lm -o prog",
        "plain.o loop.c",
        "loop.c -Wl,-x main.c",
        "twice.c main.c loop.c -o prog",
    ] {
        for mode in ["-O2 -c", "-O3 -Wall -Wextra -g", "-Os -S -MD"] {
            lines.insert(format!("{mode} {input}"));
        }
    }
    for flags in [
        // Levels, standards, dialects.
        "",
        "-O",
        "-O0",
        "-O1",
        "-Og",
        "-Oz",
        "-Ofast",
        "-O9",
        "-Onone",
        "-O2 -O0",
        "-std=c89 -O2",
        "-std=c99 -O2",
        "-std=gnu17 -O2",
        "-std=c2x -O2",
        "-std=nonsense -O2",
        "-ansi -O2",
        "-O2 -ffreestanding",
        "-O2 -fgnu89-inline",
        "-O2 -funsigned-char",
        "-O2 -fshort-enums",
        "-O2 -fms-extensions",
        "-O2 -fno-asm",
        "-O2 -ftrapv",
        "-O2 -fwrapv",
        "-O2 -ffast-math",
        "-O2 -frounding-math",
        "-O2 -fno-builtin",
        "-O2 -trigraphs",
        "-O2 -traditional",
        // Profiles, sanitizers, other ways of compiling.
        "-O2 --coverage",
        "-O2 -fprofile-generate",
        "-O2 -fprofile-use",
        "-O2 -fprofile-arcs",
        "-O2 -pg",
        "-O2 -flto",
        "-O2 -flto -ffat-lto-objects",
        "-O2 -fno-lto",
        "-O2 -fsanitize=address",
        "-O2 -fsanitize=undefined",
        "-O2 -finstrument-functions",
        "-O2 -fsplit-stack",
        "-O2 -fstack-usage",
        "-O2 -fcallgraph-info",
        "-O2 -fdump-tree-optimized",
        "-O2 -fopt-info",
        "-O2 -fopt-info-vec-all",
        "-O2 -fverbose-asm",
        "-O2 -save-temps",
        "-O2 -save-temps=obj",
        "-O2 -pipe",
        "-O2 -fopenmp",
        "-O2 -fopenacc",
        "-O2 -fanalyzer",
        "-O2 -fplugin=missing",
        "-O2 -specs=missing",
        "-O2 -wrapper true",
        "-O2 -B sub",
        "-O2 -dumpbase x",
        "-O2 -dumpdir sub/",
        "-O2 -da",
        "-O2 -fmem-report -fno-mem-report",
        "-O2 -frecord-gcc-switches",
        // Debugging.
        "-O2 -g",
        "-O2 -g0",
        "-O2 -g1",
        "-O2 -g3",
        "-O2 -ggdb3",
        "-O2 -gdwarf-4",
        "-O2 -gdwarf-5 -gz",
        "-O2 -g -gsplit-dwarf",
        "-O2 -g -gno-column-info",
        "-O2 -g -fdebug-prefix-map=<folder>=.",
        "-O2 -g -ffile-prefix-map=<folder>=/x",
        "-O2 -g -fno-working-directory",
        "-O2 -gstabs",
        "-O2 -gnonsense",
        // Code generation.
        "-O2 -fPIC",
        "-O2 -fPIE",
        "-O2 -fno-pie -no-pie",
        "-O2 -fno-plt",
        "-O2 -fvisibility=hidden",
        "-O2 -ffunction-sections -fdata-sections",
        "-O2 -fstack-protector-strong -fstack-clash-protection -fcf-protection",
        "-O2 -fno-omit-frame-pointer",
        "-O2 -funroll-loops",
        "-O2 -fno-tree-vectorize",
        "-O2 -ftree-parallelize-loops=2",
        "-O2 -fno-strict-aliasing",
        "-O2 -fno-common",
        "-O2 -fexceptions",
        "-O2 -falign-functions=64",
        "-O2 -fno-toplevel-reorder",
        "-O2 -fwhole-program",
        "-O2 -fno-ident",
        "-O2 -fno-asynchronous-unwind-tables",
        "-O2 -march=native",
        "-O2 -march=x86-64-v3",
        "-O2 -march=nonsense",
        "-O2 -mtune=native",
        "-O2 -mavx2 -mno-fma",
        "-O2 -mfma",
        "-O2 -m32",
        "-O2 -m64",
        "-O2 -mno-sse",
        "-O2 -mfpmath=387",
        "-O2 -mgeneral-regs-only",
        "-O2 -mcmodel=large",
        "-O2 -mno-red-zone",
        "-O2 -mnonsense",
        "-O2 -fnonsense",
        "-O2 -fno-nonsense",
        "-O2 -nonsense",
        "-O2 --nonsense",
        "-O2 --param max-unroll-times=4",
        "-O2 --param=nonsense=1",
        "-O2 -masm=intel",
        "-O2 -fno-rtti",
        // Warnings and messages.
        "-O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion",
        "-O2 -Werror",
        "-O2 -Wall -Werror",
        "-O2 -w",
        "-O2 -Wfatal-errors",
        "-O2 -Werror=unused-variable",
        "-O2 -Wnonsense",
        "-O2 -Wall -Wno-nonsense",
        "-O2 -Wsystem-headers -Wall -Wextra",
        "-O2 -Wunused-macros",
        "-O2 -Wstack-usage=10",
        "-O2 -Wframe-larger-than=1",
        "-O2 -Wsuggest-attribute=pure",
        "-O2 -Winline",
        "-O2 -Wall -fdiagnostics-format=json",
        "-O2 -Wall -fdiagnostics-color=always",
        "-O2 -Wall -fdiagnostics-plain-output",
        "-O2 -Wall -fno-diagnostics-show-caret",
        "-O2 -Wall -fmessage-length=40",
        "-O2 -fmax-errors=1",
        "-O2 -pedantic-errors",
        "-O2 -Wall -fdiagnostics-generate-patch",
        "-O2 -H",
        "-O2 -Wdate-time -Wundef -Wmissing-include-dirs -I absent",
        "-O2 -Wpadded",
        // The preprocessor.
        "-O2 -DX=5",
        "-O2 -D X=5",
        "-O2 '-DX=(2 + 1)'",
        "-O2 '-DX=\"a\"[0]'",
        "-O2 -UX -U N",
        "-O2 -D",
        "-O2 -DX=%E4",
        "-O2 -DS=\\\"%E4\\\"",
        "-O2 -I sub -Isub -isystem sub -iquote . -idirafter sub",
        "-O2 -include force.h",
        "-O2 -includeforce.h",
        "-O2 -imacros force.h",
        "-O2 -include missing.h",
        "-O2 -include /dev/null",
        "-O2 -nostdinc",
        "-O2 -undef",
        "-O2 -C",
        "-O2 -P",
        "-O2 -Wp,-DX=4",
        "-O2 -Wp,-DX=4,-UN",
        "-O2 -Wp,-MD,deps",
        "-O2 -Wp,-DX,-MMD,deps",
        "-O2 -Xpreprocessor -DX=4",
        "-O2 -fpreprocessed",
        "-O2 -fdirectives-only",
        "-O2 -no-integrated-cpp",
        "-O2 -A x=y",
        "-O2 -fexec-charset=latin1",
        "-O2 -finput-charset=latin1",
        "-O2 -ftabstop=4",
        "-O2 --sysroot=/",
        "-O2 --sysroot /absent",
        // The assembler and the linker.
        "-O2 -Wa,--noexecstack",
        "-O2 -Wa,-adhln",
        "-O2 -Wa,-L",
        "-O2 -Xassembler -L",
        "-O2 -Wl,-O1 -Wl,--as-needed",
        "-O2 -Xlinker -x",
        "-O2 -lm -lnonsense",
        "-O2 -pthread",
        "-O2 -fuse-ld=bfd",
        "-O2 -fuse-ld=nonsense",
        "-O2 -T version",
        "-O2 -static-libgcc",
        "-O2 -r",
        "-O2 -nostdlib",
        "-O2 -nostartfiles",
        "-O2 -Wl,--nonsense",
        "-O2 -z now",
        "-O2 -u f",
        "-O2 -e f",
        "-O2 -s",
        "-O2 -rdynamic",
        // Response files.
        "@flags",
        "@flags @flags",
        "@missing -O2",
        "@sub -O2",
        "@circle -O2",
        "-O2 @/dev/null",
    ] {
        let input = if flags.contains("-W") || flags.contains("diagnostics") { "warns.c" } else { "loop.c" };
        lines.insert(format!("{flags} -c {input}"));
    }
    for line in [
        "@nested",
        "@nested -MD",
        "@quoted",
        "-c @input",
        "@input main.c -o prog",
        "",
        "-v",
        "-O2 -v",
        "--version",
        "--help",
        "--target-help",
        "--help=common",
        "--help=warnings",
        "-###",
        "-O2 -### -c loop.c",
        "-O2 -v -c loop.c",
        "-O2 -### main.c loop.c",
        "-dumpmachine",
        "-dumpversion",
        "-dumpfullversion",
        "-dumpspecs",
        "-print-search-dirs",
        "-print-libgcc-file-name",
        "-print-file-name=libc.so",
        "-print-prog-name=as",
        "-print-multi-lib",
        "-print-multiarch",
        "-print-sysroot",
        "-print-nonsense",
        "-O2",
        "-c",
        "-o out",
        "-O2 -c -o x.o -o y.o loop.c",
        "-O2 -c -S loop.c",
        "-O2 -S -c loop.c",
        "-O2 -E -c loop.c",
        "-O2 -shared -fPIC loop.c -o lib.so",
        "-O2 -shared -fPIC loop.c -o lib.so.1.2 -Wl,-soname,lib.so.1 -MMD",
        "-O2 -static main.c loop.c",
        "-O2 -static-pie -fPIE main.c loop.c",
        "-O2 -no-pie main.c loop.c",
        "-O2 -pie -fPIE main.c loop.c",
        "-O2 -s main.c loop.c",
        "-O2 -g main.c loop.c -o prog",
        "-O2 -flto main.c loop.c -o prog",
        "-O2 --coverage main.c loop.c -o prog",
        "-O2 -fopenmp main.c loop.c -o prog",
        "-O2 -shared -fPIC loop.c -Wl,--version-script=version -o lib.so",
        "-O2 -Wl,--no-undefined main.c",
        "-O2 -Wall linker.c -o prog",
        "-O2 -Wall linker.c loop.c -Wl,-Map=map",
        "-O2 main.c",
        "-O2 main.c -o absent/prog",
        "-O2 main.c loop.c -o sub",
        "-O2 -Wl,-Map=map main.c loop.c -o /dev/null -Wl,--nonsense",
        "-O2 -save-temps main.c loop.c -o prog",
        "-O2 -MMD main.c loop.c -o prog.exe",
        "-O2 -MMD -MT x loop.c main.c -o sub/prog",
        "-O2 -MD main.c loop.c",
        "-O2 -x c text.txt main.c -o prog",
        "-O2 main.c -x c text.txt -x none plain.o -o prog",
        "-O2 -x c text.txt -x none main.c plain.o -MMD -o prog",
        "-O2 plain.o main.c -Wl,--start-group loop.c -Wl,--end-group -o prog",
        "-O2 -c loop.c main.c -MMD",
        "-O2 -c loop.c main.c -MMD -MF deps",
        "-O2 -c loop.c plain.o libplain.a -lm",
        "-O2 -c loop.c plain.o missing.o",
        "-O2 -c loop.c plain.o -o x.o",
        "-fparagon-not-ours -O2 -c loop.c",
        "-O2 -c loop.c -MD -MF sub",
        "-O2 -c loop.c -MD -MF absent/deps",
        "-O2 -c loop.c -o out -MMD -MF -",
        "-O2 -S loop.c -o -",
        "-O2 -E loop.c -o -",
        "-O2 -c loop.c -o -",
        "-O2 -Wall -Wextra -c warns.c warning.c middle.c",
        "-O2 -Wall -Werror -c warns.c loop.c",
        "-O2 -Wall main.c warns.c loop.c -o prog",
        "-O2 -Wall warning.c middle.c main.c loop.c -o prog",
        "-O2 -D_FORTIFY_SOURCE=2 -Wp,-D_GLIBCXX_ASSERTIONS -fstack-protector-strong -Wformat -Werror=format-security -Wdate-time -g -ffile-prefix-map=<folder>=. main.c loop.c -o prog",
    ] {
        lines.insert(line.to_string());
    }
    for number in 0..WITH_MESSAGES.len() {
        for flags in [
            "-O2 -Wall -Wextra",
            "-O3 -Wall -Werror",
            "-O2 -Wall -Wextra -fopenmp -Wshadow -Wconversion -Wredundant-decls -g",
        ] {
            lines.insert(format!("{flags} -c m{number}.c"));
        }
    }
    lines
}

#[test]
fn command_lines_as_gcc() {
    let lines: Vec<String> = lines().into_iter().collect();
    assert!(lines.len() > 300);
    let mut files = sources();
    files.extend(objects());
    let base = tempfile::tempdir().unwrap();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let rewritten = AtomicUsize::new(0);
    // Some lines wait for disks and processes rather than for a core.
    let threads = std::thread::available_parallelism().map_or(2, usize::from) + 1;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (lines, files, next, failures, rewritten) = (&lines, &files, &next, &failures, &rewritten);
            let place = Place {
                folder: base.path().join(format!("{thread}")),
                temporary: base.path().join(format!("{thread}-temporary")),
            };
            scope.spawn(move || {
                while let Some(line) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match compare(line, &place, files) {
                        Ok(true) => drop(rewritten.fetch_add(1, Ordering::Relaxed)),
                        Ok(false) => {}
                        Err(difference) => failures.lock().unwrap().push(format!("{line}: {difference}")),
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let rewritten = rewritten.into_inner();
    println!("{} command lines, {rewritten} of them rewritten", lines.len());
    assert!(failures.is_empty(), "{} of {} differ:\n{}", failures.len(), lines.len(), failures.join("\n"));
    assert!(rewritten > 150, "only {rewritten} of {} were rewritten", lines.len());
}

/// Executes `line` with our compiler in a fresh place and gives what it did.
fn with_environment(line: &str, place: &Place, environment: &[(&str, &OsStr)]) -> Output {
    let mut command = place.command(PARAGON, &words(line, place));
    command.envs(environment.iter().copied()).stdin(Stdio::null()).output().unwrap()
}

fn single_place(base: &tempfile::TempDir) -> Place {
    let place = Place { folder: base.path().join("folder"), temporary: base.path().join("temporary") };
    place.fill(&sources());
    place
}

#[test]
fn our_own_options_never_reach_gcc() {
    let base = tempfile::tempdir().unwrap();
    let place = single_place(&base);
    fs::write(place.folder.join("own"), "-O2 -fparagon-threshold=10 -c loop.c").unwrap();
    let object = |line: &str| {
        let output = with_environment(line, &place, &[]);
        assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
        fs::read(place.folder.join("loop.o")).unwrap()
    };
    assert!(contains(&object("@own"), MARK));
    assert!(!contains(&object("@own -fno-paragon"), MARK));
    assert!(!contains(
        &object(
            "-O2 -fno-paragon -fparagon-threshold=1 -fparagon-math=device -fparagon-report=json -c loop.c"
        ),
        MARK
    ));
    assert!(!contains(&object("-fparagon-threshold=10 -O0 -c loop.c"), MARK));
    assert!(contains(&object("-fparagon -c loop.c"), MARK));
}

#[test]
fn the_same_object_every_time() {
    let base = tempfile::tempdir().unwrap();
    let place = single_place(&base);
    let compile = |output: &str| {
        let line = format!("-O2 -g -c loop.c -o {output} -frandom-seed=1");
        assert!(with_environment(&line, &place, &[]).status.success());
        fs::read(place.folder.join(output)).unwrap()
    };
    let first = compile("first.o");
    assert!(contains(&first, MARK));
    let others = std::thread::scope(|scope| {
        let jobs: Vec<_> =
            (0..6).map(|number| scope.spawn(move || compile(&format!("{number}.o")))).collect();
        jobs.into_iter().map(|job| job.join().unwrap()).collect::<Vec<_>>()
    });
    for other in others {
        // The debugging information holds the command line's options, but not the output's name.
        assert!(first == other, "an object differs");
    }
}

/// A gcc that reads its input but takes its time, so that there is something to interrupt.
const SLOW: &str = "#!/bin/sh\ncase \"$*\" in *-E*) gcc \"$@\" ; sleep 30 ;; *) exec gcc \"$@\" ;; esac\n";

#[test]
fn interruption_leaves_nothing_behind() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let base = tempfile::tempdir().unwrap();
        let place = single_place(&base);
        let slow = base.path().join("slow-gcc");
        fs::write(&slow, SLOW).unwrap();
        fs::set_permissions(&slow, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = place.command(PARAGON, &words("-O2 -c loop.c", &place));
        // Whoever runs this in the background has it ignored, and the child would inherit that.
        // SAFETY: signal may be called between fork and exec, and touches nothing of ours.
        unsafe {
            command.pre_exec(move || {
                libc::signal(signal, libc::SIG_DFL);
                Ok(())
            });
        }
        let mut child = command.env("PARAGON_CC", &slow).stderr(Stdio::piped()).spawn().unwrap();
        let folders = || fs::read_dir(&place.temporary).unwrap().count();
        let start = Instant::now();
        // The expanded text is there: the child is asleep.
        let asleep = || {
            let folder = fs::read_dir(&place.temporary).unwrap().next().and_then(Result::ok);
            folder.is_some_and(|folder| folder.path().join("0/expanded.i").exists())
        };
        while !asleep() {
            assert!(start.elapsed() < Duration::from_secs(30), "the compiler doesn't start");
            std::thread::sleep(Duration::from_millis(10));
        }
        // SAFETY: a plain call; the child has not been waited for, so its number is its own.
        unsafe { libc::kill(child.id() as libc::pid_t, signal) };
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(signal), "{status:?}");
        assert!(start.elapsed() < Duration::from_secs(25), "it waits for its children");
        assert_eq!(folders(), 0);
        assert!(!place.folder.join("loop.o").exists());
        // Nobody is left who could still write: standard error is closed everywhere.
        let mut said = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
        assert!(start.elapsed() < Duration::from_secs(25), "a child sleeps on");
        assert_eq!(said, "");
    }
}

#[test]
fn an_ignored_signal_stays_ignored() {
    let base = tempfile::tempdir().unwrap();
    let place = single_place(&base);
    let output = Command::new("nohup")
        .args([PARAGON, "-O2", "-c", "loop.c"])
        .current_dir(&place.folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success() && contains(&fs::read(place.folder.join("loop.o")).unwrap(), MARK));
}

/// Says so if a tool isn't installed.
fn is_missing(tool: &str) -> bool {
    let missing = Command::new(tool).arg("--version").output().is_err();
    if missing {
        eprintln!("skipped: {tool} is not installed");
    }
    missing
}

/// What clang does with a line, and what it does below us.
#[test]
fn clang_below() {
    if is_missing("clang") {
        return;
    }
    let base = tempfile::tempdir().unwrap();
    let place = single_place(&base);
    let clang = OsStr::new("clang");
    for line in [
        "-O2 -c loop.c",
        "-O2 -Weverything -c warns.c",
        "-O2 -c error.c",
        "-O2 main.c loop.c -o prog",
        "-O2 -emit-llvm -S loop.c",
        "--version",
        "-O2 -MMD -c loop.c",
        "-O2 -Rpass=loop-vectorize -c loop.c",
        "-O2 -c missing.c",
        "-O2 -fnonsense -c loop.c",
        "-O2 -Xclang -disable-llvm-passes -c loop.c",
        "-O2 -g -flto -c loop.c",
        "-O2 -fcolor-diagnostics -c warns.c",
        "-O2 -mllvm -nonsense -c loop.c",
        "-O2 @input -c",
        "-E loop.c",
        "-O2 --target=aarch64-linux-gnu -S plain.c",
        "-O2 -x c text.txt -c",
        "-O2 -###  -fparagon-threshold=4 -c loop.c",
    ] {
        let line = line.to_string();
        let run = |ours: bool| {
            place.fill(&sources());
            let output = if ours {
                with_environment(&line, &place, &[("PARAGON_CC", clang)])
            } else {
                let line = line.replace("-fparagon-threshold=4", "");
                place.command("clang", &words(&line, &place)).stdin(Stdio::null()).output().unwrap()
            };
            let files: BTreeMap<_, _> = fs::read_dir(&place.folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.is_file())
                .map(|path| (path.clone(), fs::read(path).unwrap()))
                .collect();
            let random = |text: &[u8]| {
                // Its temporary files have names like plain-1a2b3c.o.
                let text = String::from_utf8_lossy(text).into_owned();
                text.split_whitespace()
                    .filter(|word| !word.contains("/temporary/"))
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            (output.status.code(), random(&output.stdout), random(&output.stderr), files)
        };
        let (theirs, ours) = (run(false), run(true));
        assert_eq!((theirs.0, theirs.1, theirs.2), (ours.0, ours.1, ours.2), "{line}");
        assert!(theirs.3 == ours.3, "{line}: files differ");
    }
}

#[test]
fn deep_nesting_and_long_commands() {
    let base = tempfile::tempdir().unwrap();
    let place = single_place(&base);
    let depth = 3000;
    let mut text = LOOP.to_string();
    text.push_str(&format!(
        "int deep(int x) {{ return {}x{}; }}\n",
        "(1 + ".repeat(depth),
        ")".repeat(depth)
    ));
    let chain =
        (0..depth).map(|number| format!("if (x == {number}) return {number} + 7; else ")).collect::<String>();
    text.push_str(&format!("int chain(int x) {{ {chain} return 0; }}\n"));
    text.push_str(&format!(
        "int blocks(int x) {{ {}x++;{} return x; }}\n",
        "{".repeat(depth),
        "}".repeat(depth)
    ));
    fs::write(place.folder.join("deep.c"), text).unwrap();
    let output = with_environment("-O2 -c deep.c", &place, &[]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    // More words than we put on a command line (gcc itself stops at 128 KiB).
    let many: String =
        (0..2_400).map(|number| format!("-DA_RATHER_LONG_NAME_{number}=\"{number} + 1\"\n")).collect();
    fs::write(place.folder.join("many"), many).unwrap();
    let output = with_environment("-O2 @many -c loop.c", &place, &[]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(contains(&fs::read(place.folder.join("loop.o")).unwrap(), MARK));
}

#[test]
fn dependencies_asked_for_in_the_environment() {
    let base = tempfile::tempdir().unwrap();
    let place = single_place(&base);
    let output = with_environment("-O2 -c loop.c", &place, &[("DEPENDENCIES_OUTPUT", OsStr::new("deps"))]);
    assert!(output.status.success());
    assert_eq!(fs::read_to_string(place.folder.join("deps")).unwrap(), "loop.o: loop.c b.h\n");
}

#[test]
fn messages_on_a_terminal() {
    let probe = Command::new("script").args(["-qec", "true", "/dev/null"]).stdin(Stdio::null()).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        eprintln!("skipped: there is no terminal to be had (script, /dev/pts)");
        return;
    }
    let base = tempfile::tempdir().unwrap();
    let place = single_place(&base);
    for terminal in ["xterm-256color", "dumb", "linux"] {
        let said = |compiler: &str| {
            let line = format!("{compiler} -O2 -Wall -c warns.c warning.c loop.c");
            let output = Command::new("script")
                .args(["-qec", &line, "/dev/null"])
                .current_dir(&place.folder)
                .env("TERM", terminal)
                .stdin(Stdio::null())
                .output()
                .unwrap();
            assert!(output.status.success());
            output.stdout
        };
        let (theirs, ours) = (said("gcc"), said(PARAGON));
        assert_eq!(String::from_utf8_lossy(&theirs), String::from_utf8_lossy(&ours), "{terminal}");
        assert!(
            contains(&theirs, b"unused") && contains(&fs::read(place.folder.join("loop.o")).unwrap(), MARK)
        );
    }
}

#[test]
fn a_compiler_cache_below() {
    if is_missing("ccache") {
        return;
    }
    let base = tempfile::tempdir().unwrap();
    let place = single_place(&base);
    let cache = base.path().join("cache");
    let output = with_environment(
        "-O2 main.c loop.c -o prog",
        &place,
        &[("PARAGON_CC", OsStr::new("ccache gcc")), ("CCACHE_DIR", cache.as_os_str())],
    );
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(contains(&fs::read(place.folder.join("prog")).unwrap(), MARK));
    let output = with_environment("-c loop.c", &place, &[("PARAGON_CC", OsStr::new("no such compiler"))]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stderr, b"paragon-cc: error: no C compiler: no such compiler not found\n");
}
