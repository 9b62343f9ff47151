//! The command language: some hundred command lines, each run by the real compiler and by `paragon-cc` in a fresh folder. Exit
//! code, output, messages, and the files that are left must be the same; where a loop was rewritten, an object must have
//! the same global symbols and a dependency file the same content.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const LOOP: &str =
    "int f(int *a, int n)\n{\n\tint s = 0;\n\tfor (int i = 0; i < n; i++)\n\t\ts += a[i];\n\treturn s;\n}\n";
const MAIN: &str = "#include <stdio.h>\n#include \"b.h\"\nint main(void) { int a[N] = {1, 2}; printf(\"%d\\n\", f(a, N)); return 0; }\n";
const HEADER: &str = "#define N 7\nint f(int *, int);\n";
const WARNS: &str = "int g(unsigned u, int n)\n{\n  int unused; if (n) for (;;) { if (u == n) break; }\n  return undeclared;\n}\n";
const WARNS_ONLY: &str =
    "int g(unsigned u, int n)\n{\n  int unused; if (n) for (;;) { if (u == n) break; }\n  return 0;\n}\n";
const LOOP_WARNS: &str = "#warning look\nint h(int *a, unsigned n)\n{\n  int k;\n  for (int i = 0; i < n; i++)\n    a[i] = 2 * i;\n  return 0;\n}\n";

/// Command lines of their own.
const LINES: &[&str] = &[
    "",
    "--version",
    "-dumpmachine",
    "-dumpversion",
    "-print-libgcc-file-name",
    "-###",
    "-O2 -c f.c",
    "-O2 -c f.c -o sub/x.o",
    "-O2 -c f.c main.c",
    "-O2 f.c main.c -o prog",
    "-O2 f.c main.c",
    "-O0 -c f.c",
    "-c f.c",
    "-E main.c",
    "-E main.c -o main.i",
    "-M main.c",
    "-MM main.c",
    "-O2 -MD -c main.c",
    "-O2 -MMD -c main.c -o sub/m.o",
    "-O2 -MMD -MP -MF sub/deps -MT target -c main.c",
    "-O2 -S f.c",
    "-O2 -S f.c -o -",
    "-O2 -c f.c -o -",
    "-O2 -c missing.c",
    "-O2 -c f.c missing.c",
    "-O2 -c warns.c",
    "-O2 -Wall -Wextra -Werror -std=c89 -pedantic-errors -c warns.c",
    "-O2 -Wall -Wextra -c warns_only.c",
    "-O2 -c crlf.c",
    "-O2 -c open.c",
    "@flags -c f.c",
    "@missing -O2 -c f.c",
    "-O2 -unknown -c f.c",
    "-O2 --nonsense -c f.c",
    "-O2 -DN=3 -U N -I sub -Isub -c f.c",
    "-O2 -x c f.c -c",
    "-O2 -g -c f.c",
    "-O2 -fsyntax-only warns_only.c",
    "-O2 -c f.c -o",
    "-O2 -save-temps -c f.c",
    "-O2 f.c",
    "-O2 -c -o a.o -o b.o f.c",
    "-O2 -fno-paragon-not-ours -c f.c",
    "-O2 -flto -c f.c -frandom-seed=1",
    "-O2 -c nothing.txt",
    "-O2 -x c text.txt -c",
    "-O2 -x c -c text.txt -x none f.c",
    "-O2 -c -x c -",
    "-O2 -E -",
    "-O2 -c loop_warns.c",
    "-O2 -Wall -Wextra -c loop_warns.c",
    "-O2 -Werror -c loop_warns.c",
    "-O2 -c latin.c",
    "-O2 -c f.c a.o",
    "-O2 f.c main.c -MMD -o prog",
    "-O2 f.c main.c -MD -MF all.d -o prog",
    "-O2 @words",
    "-O2 @nested -c",
    "-O2 -c f.c -o sub",
    "-O2 -c f.c -o missing/f.o",
    "-O2 -c spaced\\ name.c",
    "-O2 main.c -o prog",
    "-O2 f.c -shared -fPIC -o lib.so",
    "-O2 -c f.S",
    "-O2 -c asm.s f.c",
    "-v -O2 -E main.c -o main.i",
    "-### -O2 -c f.c",
    "-print-search-dirs",
    "-print-file-name=libc.so",
    "-print-prog-name=ld",
    "-print-multi-lib",
    "-dumpspecs",
    "-dumpfullversion",
    "--help",
    "--target-help",
    "-Q --help=warnings",
    "-O2 -c f.c -Wl,-z,now",
    "-O2 -fmax-errors=1 -c warns.c",
    "-O2 -fdiagnostics-format=json -c warns.c",
    "-O2 -fdiagnostics-color=always -Wall -c warns_only.c",
    "-O2 -Wfatal-errors -c warns.c",
    "-O2 -c f.c f.c",
    "-O2 -E -dM f.c",
    "-O2 -E -P main.c",
    "-O2 -fdump-tree-optimized=dump.txt -c warns_only.c",
    "-O2 -Wp,-DX=1 -c f.c",
    "-O2 -Wa,--noexecstack -c f.c",
    "-O2 -Xlinker --as-needed f.c main.c -o prog",
    "-O2 -ffile-prefix-map=/x=/y -g -c f.c",
    "-O2 -save-temps=obj -c f.c -o sub/f.o",
    "-O2 -pass-exit-codes -c warns.c",
];

/// What is made, in front of ...
const MODES: &[&str] = &[
    "-c f.c",
    "-c f.c main.c",
    "-c f.c -o sub/x.o",
    "-S f.c -o x.s",
    "-E main.c -o x.i",
    "f.c main.c -o prog",
    "-MMD -c main.c f.c",
    "-MD -MP -MF sub/deps -MT one -MQ two$ -c f.c -o y.o",
    "-Wall -Wextra -c warns_only.c",
];

/// ... how it is made.
const FLAGS: &[&str] = &[
    "-O1",
    "-O2 -g",
    "-O3 -DNDEBUG",
    "-Os",
    "-Ofast",
    "-O2 -O0",
    "-O2 -std=c99",
    "-O2 -std=gnu2x",
    "-O2 -ansi",
    "-O2 -fPIC -fvisibility=hidden",
    "-O2 -fno-strict-aliasing -fwrapv",
    "-O2 -march=x86-64-v3",
    "-O2 -fopenmp",
    "-O2 -pipe -pthread",
    "-O2 -include b.h",
    "-O2 -I sub -isystem sub -iquote . -DX=\"a\"",
    "-O2 -ffunction-sections -fdata-sections -fno-plt",
    "-O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2",
    "-O2 -fno-common -fno-builtin",
    "-O2 -Wno-unused -w",
    "-O2 -fno-unknown-option",
    "-O2 -mno-unknown-option",
    "-O2 -gsplit-dwarf",
    "-O2 -ffast-math",
    "-O2 -fsanitize=undefined",
    "-O2 --coverage",
    "-O2 -fprofile-generate",
    "-O2 -fno-asynchronous-unwind-tables -fomit-frame-pointer",
];

fn fill(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder.join("sub")).unwrap();
    let write = |name: &str, text: &[u8]| fs::write(folder.join(name), text).unwrap();
    write("f.c", LOOP.as_bytes());
    write("main.c", MAIN.as_bytes());
    write("b.h", HEADER.as_bytes());
    write("warns.c", WARNS.as_bytes());
    write("warns_only.c", WARNS_ONLY.as_bytes());
    write("loop_warns.c", LOOP_WARNS.as_bytes());
    write("crlf.c", LOOP.replace('\n', "\r\n").as_bytes());
    write("open.c", LOOP.trim_end().as_bytes());
    write("text.txt", LOOP.as_bytes());
    write("latin.c", &[b"/* \xe9 */ const char *s = \"\xe9\";\n", LOOP.as_bytes()].concat());
    write("f.S", b"#define X 1\n.globl x\nx: .long X\n");
    write("asm.s", b".globl y\ny: .long 2\n");
    write("flags", b"-O2 -Wall");
    write("words", b"-c 'f.c' \"main.c\"");
    write("nested", b"@flags f.c");
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for part in ["", "sub"] {
        for entry in fs::read_dir(folder.join(part)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let name = path.strip_prefix(folder).unwrap().display().to_string();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Runs a command line in a fresh folder of always the same name; debug information has it.
fn execute(compiler: &str, folder: &Path, line: &str) -> (Output, BTreeMap<String, Vec<u8>>) {
    fill(folder);
    let mut command = Command::new(compiler);
    command.args(line.split_whitespace()).current_dir(folder).env_remove("PARAGON_CC").env("LC_ALL", "C");
    let input = folder.parent().unwrap().join("input.c");
    fs::write(&input, LOOP).unwrap();
    let output = command.stdin(Stdio::from(fs::File::open(input).unwrap())).output().unwrap();
    (output, files(folder))
}

/// Names and sections that an object or program defines for others.
fn symbols(bytes: &[u8]) -> Option<Vec<String>> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    let output = Command::new("nm").args(["-g", "--defined-only", "-P"]).arg(file.path()).output().unwrap();
    output.status.success().then(|| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().filter_map(|l| l.split_whitespace().next().map(str::to_owned)).collect()
    })
}

/// Whether a file is what the real compiler makes.
fn same_file(name: &str, expected: &[u8], got: &[u8]) -> bool {
    if expected == got {
        return true;
    }
    let rewritten = got.windows(6).any(|w| w == b"__pg_l");
    match got.starts_with(b"\x7fELF") {
        true => rewritten && symbols(expected) == symbols(got),
        // Assembly and kept temporary files of a rewritten unit.
        false => rewritten && !name.ends_with(".d"),
    }
}

/// Messages without what differs between any two runs: the linker's and assembler's temporary files.
fn messages(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().filter(|l| !l.contains("/tmp/cc")).collect::<Vec<_>>().join("\n")
}

fn compare(line: &str, folder: &Path) -> Vec<String> {
    let (theirs, expected) = execute("gcc", folder, line);
    let (again, repeated) = execute("gcc", folder, line);
    let (ours, got) = execute(env!("CARGO_BIN_EXE_paragon-cc"), folder, line);
    let mut failures = Vec::new();
    let mut check = |same: bool, what: String| {
        if !same {
            failures.push(format!("`{line}`: {what}"));
        }
    };
    let status = |output: &Output| (output.status.code(), output.status.signal());
    check(status(&theirs) == status(&ours), format!("{:?} instead of {:?}", ours.status, theirs.status));
    let stable = theirs.stdout == again.stdout;
    check(!stable || same_file("stdout", &theirs.stdout, &ours.stdout), "another output".into());
    let (a, b) = (messages(&theirs.stderr), messages(&ours.stderr));
    check(messages(&again.stderr) != a || a == b, format!("says\n{b}\ninstead of\n{a}"));
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    check(
        names(&expected) == names(&got),
        format!("leaves {:?} instead of {:?}", names(&got), names(&expected)),
    );
    for (name, content) in &expected {
        // What gcc itself makes differently each time (random names of sections, stamps of profiles) can't be compared.
        if repeated.get(name) == Some(content)
            && let Some(own) = got.get(name)
        {
            check(same_file(name, content, own), format!("another {name}"));
        }
    }
    failures
}

#[test]
fn command_lines_as_the_real_compiler() {
    let mut lines: Vec<String> = LINES.iter().map(|line| (*line).to_owned()).collect();
    for flags in FLAGS {
        lines.extend(MODES.iter().map(|mode| format!("{flags} {mode}")));
    }
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                let own = tempfile::tempdir().unwrap();
                let folder = own.path().join("work");
                while let Some(line) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
                    failures.lock().unwrap().extend(compare(line, &folder));
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    eprintln!("command lines: {} compared, {} differences", lines.len(), failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
