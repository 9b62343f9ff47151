//! The rewriting road with stages that insert harmless text before every `for` of a file. What users see of whole command
//! lines is in `conformance.rs`.

#[path = "support/selection.rs"]
mod selection;

use paragon::c::dialect::Dialect;
use paragon::c::hir::{
    Function, LoopId, LoopKeyword, LoopStmt, QualType, Quals, Span, Stmt, StmtKind, Storage, TranslationUnit,
    TypeId, VarId, Variable,
};
use paragon::codegen::{Edit, Generated};
use paragon::compile::{Stages, handle};
use paragon::driver::arguments::{self, Decision, Invocation};
use paragon::driver::toolchain::Toolchain;
use paragon::loops::options::{AnalysisOptions, CodegenOptions};
use paragon::loops::plan::LoopReport;
use selection::is_tested;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

const LOOP: &str =
    "int f(int *a, int n)\n{\n\tint s = 0;\n\tfor (int i = 0; i < n; i++)\n\t\ts += a[i];\n\treturn s;\n}\n";
const MAIN: &str = "#include <stdio.h>\n#include \"b.h\"\nint main(void) { int a[N] = {1, 2}; printf(\"%d\\n\", f(a, N)); return 0; }\n";
const HEADER: &str = "#define N 7\nint f(int *, int);\n";
const WARNS: &str = "int g(unsigned u, int n)\n{\n  int unused; if (n) for (;;) { if (u == n) break; }\n  return undeclared;\n}\n";
const WARNS_ONLY: &str =
    "int g(unsigned u, int n)\n{\n  int unused; if (n) for (;;) { if (u == n) break; }\n  return 0;\n}\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("f.c", LOOP);
    write("main.c", MAIN);
    write("b.h", HEADER);
    write("warns.c", WARNS);
    write("warns_only.c", WARNS_ONLY);
    write("crlf.c", &LOOP.replace('\n', "\r\n"));
    write("open.c", LOOP.trim_end());
    write("flags", "-O2 -Wall");
    fs::create_dir(folder.path().join("sub")).unwrap();
    folder
}

fn execute(compiler: &str, folder: &Path, line: &str) -> Output {
    let mut command = Command::new(compiler);
    command.args(line.split_whitespace()).current_dir(folder).env_remove("PARAGON_CC").output().unwrap()
}

#[test]
fn our_own_options_are_never_passed_on() {
    let folder = folder();
    let line = "-O2 -fno-paragon -fparagon-threshold=1 -fparagon-math=device -fparagon-report=json -c f.c";
    assert!(execute(env!("CARGO_BIN_EXE_paragon-cc"), folder.path(), line).status.success());
}

/// Finds every `for` by its spelling; enough of a tree for splicing to work on.
fn lower(text: &str, _: &Dialect) -> Result<TranslationUnit, String> {
    let mut unit = TranslationUnit::default();
    let void = QualType { ty: TypeId(0), quals: Quals::default() };
    let span = Span::default();
    unit.variables.push(Variable {
        name: "f".into(),
        ty: void,
        storage: Storage::Global,
        address_taken: false,
        is_extern: false,
        is_internal: false,
        span,
    });
    let loops = text.match_indices("for (").enumerate().map(|(number, (at, _))| Stmt {
        kind: StmtKind::Loop(LoopStmt {
            id: LoopId(number as u32),
            keyword: LoopKeyword::For,
            init: Vec::new(),
            cond: None,
            step: None,
            body: Box::new(Stmt { kind: StmtKind::Empty, span }),
            keyword_span: Span { start: at as u32, end: at as u32 + 3, ..span },
            keyword_ordinal: (0, 1),
            unbraced_body: text[..at].ends_with("if (n) "),
            is_copy: false,
            is_block: false,
            counter: None,
        }),
        span: Span { end: (at + text[at..].find('}').map_or(0, |found| found + 1)) as u32, ..span },
    });
    let body = Stmt { kind: StmtKind::Block(loops.collect()), span };
    unit.functions.push(Function {
        var: VarId(0),
        params: Vec::new(),
        body,
        extern_inline: false,
        is_static: false,
        is_unused: false,
        fixed: None,
        span,
    });
    Ok(unit)
}

fn classify(_: &TranslationUnit, _: &AnalysisOptions) -> Vec<LoopReport> {
    Vec::new()
}

fn generate(unit: &TranslationUnit, _: &[LoopReport], _: &CodegenOptions) -> Generated {
    let StmtKind::Block(loops) = &unit.functions[0].body.kind else { unreachable!() };
    let edits = loops.iter().filter_map(|statement| match &statement.kind {
        StmtKind::Loop(found) => {
            let text = "if (__pg_off) {} else".into();
            Some(Edit::BeforeLoop {
                loop_id: found.id,
                text,
                wrap_braces: found.unbraced_body,
                untouched_if: None,
                goes_on: None,
            })
        }
        _ => None,
    });
    Generated {
        prelude: "static const int __pg_off = 0;".into(),
        edits: edits.collect(),
        ..Default::default()
    }
}

fn broken(_: &str, _: &Dialect) -> Result<TranslationUnit, String> {
    panic!("a bug of ours")
}

const STAGES: Stages = Stages { lower, normalize: |_, _| {}, classify, generate };

fn invocation(line: &str) -> Invocation {
    match arguments::parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>()) {
        Decision::Handle(invocation) => *invocation,
        Decision::PassThrough { reason, .. } | Decision::Invalid(reason) => panic!("{line}: {reason}"),
    }
}

fn rewrite(line: &str) -> Option<String> {
    let finished = handle(&Toolchain::find().unwrap(), &invocation(line), STAGES).unwrap()?;
    Some(String::from_utf8(finished.messages).unwrap())
}

#[test]
fn rewritten_objects_name_the_users_file_only() {
    let folder = folder();
    let at = folder.path().display();
    for flags in ["", "-g"] {
        let object = folder.path().join("x.o");
        let mut copies = Vec::new();
        for _ in 0..2 {
            let said = rewrite(&format!("-O2 {flags} -c {at}/f.c -o {}", object.display())).unwrap();
            assert_eq!(said, "");
            copies.push(fs::read(&object).unwrap());
        }
        assert_eq!(copies[0], copies[1], "reproducible");
        let text = String::from_utf8_lossy(&copies[0]).into_owned();
        assert!(
            text.contains("f.c") && !text.contains("spliced.c") && !text.contains("/paragon-"),
            "{flags}"
        );
    }
}

#[test]
fn rewritten_warnings_are_the_same() {
    let folder = folder();
    let at = folder.path().display();
    let flags = "-O2 -Wall -Wextra -Wpedantic -Wshadow -c";
    let said = rewrite(&format!("{flags} {at}/warns_only.c -o {at}/x.o")).unwrap();
    let expected = execute("gcc", folder.path(), &format!("{flags} {at}/warns_only.c -o {at}/y.o"));
    assert_eq!(said, String::from_utf8(expected.stderr).unwrap());
    assert!(said.contains("unused"));
}

#[test]
fn errors_are_left_to_the_users_command() {
    let folder = folder();
    let at = folder.path().display();
    assert_eq!(rewrite(&format!("-O2 -c {at}/warns.c -o {at}/x.o")), None);
    let strict = "-O2 -Wall -Wextra -Werror -std=c89 -pedantic-errors";
    assert_eq!(rewrite(&format!("{strict} -c {at}/warns_only.c -o {at}/x.o")), None);
}

#[test]
fn rewritten_dependencies_and_links() {
    let folder = folder();
    let at = folder.path().display();
    fs::write(folder.path().join("loop.c"), format!("#include \"b.h\"\n{LOOP}")).unwrap();
    for kind in ["-MD", "-MMD", "-MMD -MP", "-MMD -MT x$y", "-MD -MQ x$y"] {
        let line = format!("-O2 {kind} -c {at}/loop.c -o {at}/loop.o");
        assert!(execute("gcc", folder.path(), &line).status.success());
        let expected = fs::read(folder.path().join("loop.d")).unwrap();
        fs::remove_file(folder.path().join("loop.d")).unwrap();
        assert!(rewrite(&line).is_some());
        assert_eq!(expected, fs::read(folder.path().join("loop.d")).unwrap(), "{kind}");
    }
    assert!(rewrite(&format!("-O2 {at}/main.c {at}/loop.o -o {at}/prog -lm")).is_none());
    assert!(
        rewrite(
            &format!("-O2 {at}/main.c {at}/crlf.c {at}/b.h -o {at}/prog").replace(&format!(" {at}/b.h"), "")
        )
        .is_some()
    );
    assert_eq!(Command::new(folder.path().join("prog")).output().unwrap().stdout, b"3\n");
}

#[test]
fn a_panic_of_ours_is_reported() {
    let folder = folder();
    let line = format!("-O2 -c {}/f.c", folder.path().display());
    let stages = Stages { lower: broken, ..STAGES };
    assert!(handle(&Toolchain::find().unwrap(), &invocation(&line), stages).is_err());
}

/// Programs under `c-tests/echo` print the same when what the typed tree says of them is compiled.
#[test]
fn echoes_do_the_same() {
    let programs = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/c-tests/echo")).unwrap();
    for program in programs.map(|entry| entry.unwrap().path()) {
        let folder = folder();
        let prints = |compiler: &str, options: &str| {
            let line = format!("-O2 -w {options} {} -o program", program.display());
            assert!(execute(compiler, folder.path(), &line).status.success(), "{}", program.display());
            Command::new(folder.path().join("program")).output().unwrap().stdout
        };
        let theirs = prints("gcc", "");
        assert_eq!(
            theirs,
            prints(env!("CARGO_BIN_EXE_paragon-cc"), "-fparagon-echo"),
            "{}",
            program.display()
        );
        assert!(!theirs.is_empty());
    }
}

/// Programs that once had another result, with every loop forced onto threads. Loops with the
/// comment "entered" have to be, however the program is compiled ("not forced": only as the runtime decides); behind "flags:" in its first comment stands what it is
/// compiled with besides.
#[test]
fn what_was_wrong_once_is_right() {
    let programs = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/c-tests/regressions")).unwrap();
    let mut programs: Vec<PathBuf> = programs.map(|entry| entry.unwrap().path()).collect();
    programs.sort();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(program) = programs.get(number) else { return };
                    for (other, flags) in ["", "-g -Wall"].into_iter().enumerate() {
                        if is_tested(number, other, 2) {
                            is_right_in_every_memory(program, flags);
                        }
                    }
                }
            });
        }
    });
}

/// A program that is compiled with these flags, too, prints what gcc's prints, wherever its loops run, and enters those that it says it enters.
fn is_right_in_every_memory(program: &Path, more: &str) {
    let text = fs::read_to_string(program).unwrap();
    let is_asked = |line: &str| line.contains("/* entered */");
    let loops: Vec<u64> = (1..).zip(text.lines()).filter(|(_, l)| is_asked(l)).map(|(n, _)| n).collect();
    let flags = text.lines().find_map(|line| line.split_once("flags: ")?.1.strip_suffix("*/")).unwrap_or("");
    let more = format!("{more} {flags}");
    let folder = folder();
    let trace = folder.path().join("trace");
    let build = |compiler: &str, options: &str, name: &str| {
        let line = format!("-O2 {more} {options} {} -o {name}", program.display());
        assert!(execute(compiler, folder.path(), &line).status.success(), "{}", program.display());
    };
    let prints = |name: &str, memory: &str| {
        let mut command = Command::new(folder.path().join(name));
        if memory != "any" {
            command.env("PARAGON_RACE", "device").env("PARAGON_MEMORY", memory);
        }
        command.env("PARAGON_DEVICE", "threads").env("PARAGON_THREADS", "4").env("PARAGON_TRACE", &trace);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    build("gcc", "", "theirs");
    let theirs = prints("theirs", "shared");
    assert!(!theirs.is_empty());
    build(env!("CARGO_BIN_EXE_paragon-cc"), "-fparagon-threshold=1 -fparagon-checked-threads", "ours");
    // As the runtime decides, too.
    let is_free = |memory: &&str| *memory == "any" || !text.contains("(not forced:");
    for memory in ["shared", "separate", "any"].into_iter().filter(is_free) {
        let _ = fs::remove_file(&trace);
        let ours = prints("ours", memory);
        assert_eq!(theirs, ours, "{} {more} {memory}", program.display());
        let entered = fs::read_to_string(&trace).unwrap_or_default();
        let missed = loops.iter().filter(|line| !entered.contains(&format!("\"line\":{line},")));
        assert_eq!(missed.count(), 0, "{} {more} {memory}: {entered}", program.display());
    }
}

/// What the stub asks of the C library it asks only where there is one, and where the process is far enough for that.
#[test]
fn programs_need_no_c_library_for_their_loops() {
    let folder = folder();
    let body = "static double z[100000], x[100000];\n\
        __attribute__((noinline)) static void f(int n) { for (int i = 0; i < n; i++) z[i] = x[i] * 2 + 1; }\n";
    let alone = "__attribute__((force_align_arg_pointer)) void _start(void)\n{\n  f(100000);\n\
        __asm__ volatile(\"syscall\" : : \"a\"(60), \"D\"((int)z[99999] + 41));\n  __builtin_unreachable();\n}\n";
    // Resolvers run before a static program has any memory for threads.
    let resolver = "static int one(void) { return 1; }\nstatic int two(void) { return 2; }\n\
        static int (*resolve(void))(void) { f(100000); return z[77] > 2 ? two : one; }\n\
        int chosen(void) __attribute__((ifunc(\"resolve\")));\nint main(void) { return 41 + chosen(); }\n";
    for (name, text, options) in [
        ("alone.c", alone, &["-nostdlib", "-nostdlib -static"][..]),
        ("resolver.c", resolver, &["", "-static", "-static-pie"]),
    ] {
        fs::write(folder.path().join(name), format!("{body}{text}")).unwrap();
        for option in options {
            for compiler in ["gcc", env!("CARGO_BIN_EXE_paragon-cc")] {
                // The commands that compile don't say what the ones that link will.
                let compiled = execute(compiler, folder.path(), &format!("-O2 -c {name} -o program.o"));
                let linked = execute(compiler, folder.path(), &format!("{option} program.o -o program"));
                assert!(compiled.status.success() && linked.status.success(), "{option} {name} {linked:?}");
                let status = Command::new(folder.path().join("program")).status().unwrap();
                assert_eq!(status.code(), Some(42), "{compiler} {option} {name}");
            }
        }
    }
}

/// The compiler takes a precompiled header, which may be older than the header, and a program that moves the end of its memory itself may have no allocator beside it: such files
/// are compiled as they stand.
#[test]
fn what_only_the_compiler_itself_compiles_alike_is_left_to_it() {
    let folder = folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let main = "int main(void)\n{\n  for (int i = 0; i < 90000; i++)\n    a[i] = STEP * i;\n  printf(\"%d\\n\", a[77]);\n";
    write("old.h", "#include <stdio.h>\n#define STEP 3\nstatic int a[90000];\n");
    write("main.c", &format!("#include \"old.h\"\n{main}  return 0;\n}}\n"));
    write(
        "ends.c",
        &format!(
            "#define _DEFAULT_SOURCE\n#include <unistd.h>\n#include \"old.h\"\n{main}  char *end = sbrk(64);\n  return brk(end);\n}}\n"
        ),
    );
    let ours = env!("CARGO_BIN_EXE_paragon-cc");
    let prints = |compiler: &str, line: &str| {
        assert!(execute(compiler, folder.path(), &format!("{line} -o program")).status.success(), "{line}");
        let program = fs::read(folder.path().join("program")).unwrap();
        let is_rewritten = program.windows(16).any(|window| window == b"libparagon_rt.so");
        (String::from_utf8(execute("./program", folder.path(), "").stdout).unwrap(), is_rewritten)
    };
    assert_eq!(prints(ours, "-O2 -fparagon-threshold=1 main.c"), ("231\n".into(), true));
    assert_eq!(prints(ours, "-O2 -fparagon-threshold=1 ends.c"), ("231\n".into(), false));
    // Functions of the program's own by which the runtime would be found, callers that would notice it, and handlers that it can't know for such.
    let others = [
        ("static int dlsym(int x)\n{\n  return x + 1;\n}\n", "dlsym(2) != 3"),
        ("static int dlsym(void)\n{\n  return 0;\n}\n", "dlsym()"),
        ("void *aligned_alloc(unsigned long a, unsigned long b)\n{\n  return (void *)(a + b);\n}\n", "0"),
        ("#define _GNU_SOURCE\n#include <signal.h>\n", "signal(SIGUSR1, SIG_IGN) != SIG_DFL"),
    ];
    for (index, (before, after)) in others.into_iter().enumerate() {
        let text = format!("{before}#include \"old.h\"\n{main}  return {after};\n}}\n");
        write("other.c", &text.replace("#define _GNU_SOURCE\n", ""));
        let line = "-O2 -std=c11 -w -fno-builtin -fparagon-threshold=1 other.c -ldl";
        assert_eq!(prints(ours, line), ("231\n".into(), false), "{before}");
        // By default that is the function which blocks the handler's signal.
        if index == 3 {
            write("other.c", &text);
            assert_eq!(prints(ours, line), ("231\n".into(), true), "{before}");
        }
    }
    let deferred = "#define _GNU_SOURCE\n#include <signal.h>\n#include \"old.h\"\n";
    for (flags, is_rewritten) in [("SA_RESTART", true), ("SA_RESTART | SA_NODEFER", false)] {
        let set = format!(
            "  struct sigaction a = {{ .sa_flags = {flags} }};\n  return sigaction(SIGUSR1, &a, 0);\n}}\n"
        );
        write("other.c", &format!("{deferred}{main}{set}"));
        assert_eq!(
            prints(ours, "-O2 -fparagon-threshold=1 other.c"),
            ("231\n".into(), is_rewritten),
            "{flags}"
        );
    }
    assert!(execute("gcc", folder.path(), "-O2 -x c-header old.h -o old.h.gch").status.success());
    write("old.h", "#include <stdio.h>\n#define STEP 5\nstatic int a[90000];\n");
    assert_eq!(prints("gcc", "-O2 main.c"), ("231\n".into(), false));
    assert_eq!(prints(ours, "-O2 -fparagon-threshold=1 main.c"), ("231\n".into(), false));
    let said = execute(ours, folder.path(), "-O2 -fparagon-threshold=1 -fparagon-report=text -c main.c");
    let said = String::from_utf8(said.stdout).unwrap() + &String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("left as it stood: old.h is there as a precompiled header, too"), "{said}");
}

/// A library that is loaded where another one was is another one: nothing that is known of that one's loops holds.
#[test]
fn loops_of_other_libraries_are_other_loops() {
    let folder = folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "plug.c",
        "void work(unsigned *restrict x, const int *at, const unsigned *restrict y, int n)\n{\n\
         for (int i = 0; i < n; i++)\n    x[at[i] & MASK] = x[at[i] & MASK] * 3u + y[i];\n}\n",
    );
    write(
        "main.c",
        "#include <dlfcn.h>\n#include <stdio.h>\n#include <stdlib.h>\nenum { N = 200003 };\n\
         int main(int argc, char **argv)\n{\n\
         unsigned *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);\n  int *at = malloc(N * sizeof *at);\n\
         for (int i = 0; i < N; i++) {\n    x[i] = i;\n    y[i] = i * 2654435761u;\n    at[i] = (int)(i * 7919LL % N);\n  }\n\
         for (int k = 0; k < 6; k++) {\n    void *plug = dlopen(argv[1 + k % 2], RTLD_NOW);\n    unsigned sum = 0;\n\
         if (argc != 3 || !plug)\n      return 1;\n\
         ((void (*)(unsigned *, const int *, const unsigned *, int))dlsym(plug, \"work\"))(x, at, y, N);\n    dlclose(plug);\n\
         for (int i = 0; i < N; i++)\n      sum += x[i] * (i % 13);\n    printf(\"%u\\n\", sum);\n  }\n  return 0;\n}\n",
    );
    let forced = "-O2 -shared -fPIC -fparagon-threshold=1 -fparagon-checked-threads";
    let run = |compiler: &str, options: &str, memory: Option<&str>| {
        for (name, mask) in [("all.so", "-1"), ("some.so", "7")] {
            let line = format!("{options} -DMASK={mask} plug.c -o {name}");
            assert!(execute(compiler, folder.path(), &line).status.success());
        }
        let mut command = Command::new(folder.path().join("program"));
        command.args(["./all.so", "./some.so"]).current_dir(folder.path());
        command.env("PARAGON_DEVICE", "threads").env("PARAGON_THREADS", "4");
        if let Some(memory) = memory {
            command.env("PARAGON_RACE", "device").env("PARAGON_MEMORY", memory);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let ours = env!("CARGO_BIN_EXE_paragon-cc");
    assert!(execute(ours, folder.path(), "-O2 main.c -o program -ldl").status.success());
    let wanted = run("gcc", "-O2 -shared -fPIC", None);
    for memory in [Some("shared"), Some("separate"), None] {
        assert_eq!(run(ours, forced, memory), wanted, "{memory:?}");
    }
}

/// Accesses of a nest need no check on a device where their arrays are placed as what they reach, unless they go through a
/// pointer that an inner loop moves: a device that gives up leaves that loop early, and the pointer behind.
#[test]
fn what_an_inner_loop_moves_stays_checked() {
    let head = "(const double *a, const double *x, double *y, long n, long m) { ";
    let nest = |before: &str, value: &str, after: &str| {
        format!(
            "void f{head}{before} for (long i = 0; i < n; i++) {{ double s = 0; \
             for (long j = 0; j < m; j++) s += {value} * x[j]; {after} y[i] = s; }} }}\n"
        )
    };
    for (text, unchecked) in [
        (nest("", "a[i * m + j]", ""), 3),
        (nest("const double *p = a;", "*p++", ""), 0),
        (nest("const double *p = a;", "*p++", "p -= m; s += *p; p += m;"), 0),
        // Bytes: moved by other than multiples of the width.
        (nest("const char *p = (const char *)a;", "*(const double *)(p + i * m + j)", ""), 2),
    ] {
        let folder = folder();
        fs::write(folder.path().join("nest.c"), &text).unwrap();
        let line = "-O2 -fno-strict-aliasing --paragon-save-temps=kept -c nest.c";
        assert!(execute(env!("CARGO_BIN_EXE_paragon-cc"), folder.path(), line).status.success(), "{text}");
        let generated = fs::read_to_string(folder.path().join("kept/nest.spliced.c")).unwrap();
        // The outer loop's table comes first.
        let sites = generated.lines().find(|line| line.contains("struct __pg_site __pg_sites_")).unwrap();
        assert_eq!(
            sites.matches("PG_SITE_HAS_AFFINE").count(),
            sites.matches("PG_SITE_LOGGED").count(),
            "{text}"
        );
        assert_eq!(sites.matches("PG_SITE_WHOLE_STEPS").count(), unchecked, "{text}{sites}");
    }
}

/// The strides of a group's rows and columns are those of iterations, whichever way and however far a loop goes; what is under a
/// condition keeps its own address.
#[test]
fn kernels_walk_from_iteration_to_iteration() {
    let head =
        "void f(double (*restrict a)[64], double (*restrict b)[64], double (*restrict c)[64], int n) { ";
    let nest = |outer: &str, inner: &str, value: &str| {
        format!(
            "{head} for ({outer}) for ({inner}) {{ double s = 0; for (int k = 0; k < 64; k++) s += {value}; c[i][j] = s; }} }}\n"
        )
    };
    let literal = |n: i32| format!("(__extension__ {n}LL)");
    let walk = |[row, column]: [i32; 2], turn: i32| [row, column, 0, 0, turn].map(literal).join(", ");
    for (text, expected) in [
        (
            nest("int i = 0; i < n; i++", "int j = 0; j < 64; j++", "a[i][k] * b[k][j]"),
            vec![walk([512, 0], 8), walk([0, 8], 512)],
        ),
        (
            nest("int i = n - 1; i >= 0; i--", "int j = 0; j < 64; j += 2", "a[i][k] * b[k][j]"),
            vec![walk([-512, 0], 8), walk([0, 16], 512)],
        ),
        (
            nest("int i = 0; i < n; i += 3", "int j = 63; j > 0; j -= 4", "a[i][k] * b[k][63 - j]"),
            vec![walk([1536, 0], 8), walk([0, 32], 512)],
        ),
        (nest("int i = 0; i < n; i++", "int j = 0; j < 64; j++", "k > j ? a[i][k] : b[k][j]"), vec![]),
    ] {
        let kernels = kernels_of(&text);
        // That of the whole nest.
        let kernel = kernels.iter().find(|kernel| kernel.contains("__pg_k1")).unwrap();
        let found: Vec<&str> = kernel
            .lines()
            .filter_map(|line| line.strip_prefix("__PG_WALK(")?.strip_suffix(')'))
            .filter_map(|arguments| arguments.splitn(5, ", ").nth(4))
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}

/// The texts of a C file's kernels.
fn kernels_of(text: &str) -> Vec<String> {
    let folder = folder();
    fs::write(folder.path().join("nest.c"), text).unwrap();
    let line = "-O2 --paragon-save-temps=kept -c nest.c";
    assert!(execute(env!("CARGO_BIN_EXE_paragon-cc"), folder.path(), line).status.success(), "{text}");
    let kernels = fs::read_dir(folder.path().join("kept")).unwrap().map(|entry| entry.unwrap().path());
    let kernels = kernels.filter(|path| path.extension().is_some_and(|extension| extension == "cu"));
    kernels.map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// What a kernel says of its inner loops that are run some turns at once.
fn ends_of_turns(kernel: &str) -> Vec<String> {
    kernel.lines().filter(|line| line.starts_with("__PG_TURNS_END(")).map(str::to_owned).collect()
}

/// Where a log may note what turns do, fewer of them are run at once; what stands outside of them doesn't count.
#[test]
fn kernels_know_which_turns_are_logged() {
    let nest = |turn: &str, after: &str| {
        format!(
            "void f(double (*a)[64], double *restrict c, int n) {{ for (int i = 0; i < n; i++) {{ \
             double s = 0; for (int k = 0; k < 64; k++) {{ {turn} }} {after} }} }}\n"
        )
    };
    for (text, expected) in [
        // A kernel knows whether that is an array which nothing stores to.
        (
            nest("s += a[i][k];", "c[i] = s;"),
            ", !(__PG_HOW(0) & (__PG_IS_CONSTANT | __PG_HAS_NO_STORES)) || 0, ",
        ),
        (nest("s += a[i][k]; c[i] = s;", ""), ", 1 || "),
        (nest("s += k;", "c[i] = s;"), "(int)64, 0, "),
    ] {
        let ends: Vec<String> = kernels_of(&text).iter().flat_map(|kernel| ends_of_turns(kernel)).collect();
        assert!(!ends.is_empty() && ends.iter().all(|end| end.contains(expected)), "{text}{ends:?}");
    }
}

/// What a bitmap notes of a group's stores comes ahead of all loads of the group, where a store's place follows from the iteration alone and every
/// iteration stores there; each store that is noted ahead is stored without a note, and no other.
#[test]
fn kernels_note_stores_ahead_of_values() {
    for (body, ahead) in [
        ("c[i] = a[i] + a[i + 1];", 1),
        ("c[i] += a[i]; b[i] = c[i];", 2),
        ("if (a[i] > 0) c[i] = a[i];", 0),
        ("c[w[i]] = a[i];", 0),
        ("c[i] = a[i]; if (a[i] > 0) b[i] = 1;", 1),
    ] {
        let text = format!(
            "void f(double *restrict a, double *restrict b, double *restrict c, const int *restrict w, int n) {{ \
             for (int i = 0; i < n; i++) {{ {body} }} }}\n"
        );
        let kernels = kernels_of(&text);
        let lines: Vec<&str> = kernels.iter().flat_map(|kernel| kernel.lines()).collect();
        let notes: Vec<usize> = (0..lines.len()).filter(|n| lines[*n].starts_with("__PG_NOTE(")).collect();
        assert_eq!(notes.len(), ahead, "{text}");
        assert_eq!(lines.iter().filter(|line| line.starts_with("__PG_STN(")).count(), ahead, "{text}");
        for note in notes {
            let group = &lines[note + 1..note + 4];
            assert!(group[0] == "}" && group[1].starts_with("__PG_EACH {"), "{text}{group:?}");
            assert!(group[2].starts_with("__pg_t") && group[2].contains(" = "), "{text}{group:?}");
        }
    }
}

/// A block's threads come together to a loop that stands in no other one, and only there: others may be left at different times.
#[test]
fn kernels_stage_what_outermost_inner_loops_load() {
    let inner = |limit: &str| format!("for (int k = 0; k < {limit}; k++) s += a[i * n + k] * b[k * n + j];");
    for (loops, expected) in [
        (inner("n"), vec!["1"]),
        (format!("{} {}", inner("n"), inner("t")), vec!["1", "1"]),
        (format!("for (int l = 0; l < t; l++) {{ {} }}", inner("n")), vec!["0"]),
        // Each iteration has its own.
        (inner("i"), vec!["0"]),
        // What doesn't walk would be checked in each of many turns that are printed one after the other.
        ("for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * k];".to_string(), vec!["0"]),
    ] {
        let text = format!(
            "void f(double *restrict a, double *restrict b, double *restrict c, int n, int t) {{ for (int i = 0; i < n; i++) \
             for (int j = 0; j < n; j++) {{ double s = 0; {loops} c[i * n + j] = s; }} }}\n"
        );
        let kernels = kernels_of(&text);
        let ends = ends_of_turns(kernels.iter().find(|kernel| kernel.contains("__pg_k1")).unwrap());
        let found: Vec<&str> = ends.iter().filter_map(|line| line.split(", ").nth(7)).collect();
        assert_eq!(found, expected, "{text}");
    }
}

/// Lines of the loops of `short.c` that have no code for a reason.
fn left_out(folder: &Path, options: &str, reason: &str) -> Vec<u32> {
    let line = format!("-O2 -fparagon-report=text {options} -c short.c");
    let output = execute(env!("CARGO_BIN_EXE_paragon-cc"), folder, &line);
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    let lines = said.lines().filter(|line| line.ends_with(reason));
    lines.filter_map(|line| line.split(':').nth(1)?.parse().ok()).collect()
}

/// A file with many plain loops over integers has code for some of them, the cheapest to check first; nests and loops that
/// compute floating-point values have it all the same.
#[test]
fn loops_that_are_everywhere_are_not_all_generated() {
    let simple =
        |number: usize| format!("void f{number}(int *p, int n) {{ while (n--) p[n] = {number}; }}\n");
    let checked = "void g(int *p, int *q, int n) { while (n--) *p++ = *q++; }\n";
    let float = "void h(float *p, int n) { while (n--) *p++ *= 2; }\n";
    let nest = "void k(int *p, int n) { for (int i = 0; i < n; i++) for (int j = 0; j < 8; j++) p[8 * i + j] = i; }\n";
    let text: String =
        (0..12).map(|number| if number == 3 { checked.into() } else { simple(number) }).collect();
    let folder = folder();
    fs::write(folder.path().join("short.c"), text + float + nest).unwrap();
    let left_out = |options: &str| {
        left_out(folder.path(), options, "code for more loops of its kind would take the compiler too long")
    };
    assert_eq!(left_out(""), [4, 8, 9, 10, 11, 12]);
    assert!(left_out("-fparagon-threshold=1").is_empty());
}

/// One plain loop over integers in a large file without any other is not worth compiling the file anew; in a small one it is.
#[test]
fn a_large_file_is_not_compiled_anew_for_a_plain_loop() {
    let folder = folder();
    let left_out = |functions: usize| {
        let mut text = String::from("void f(int *p, int n) { while (n--) p[n] = 1; }\n");
        for number in 0..functions {
            text += &format!("int g{number}(int a, int b) {{ return a * b + (a ^ {number}) - (b & a); }}\n");
        }
        fs::write(folder.path().join("short.c"), text).unwrap();
        left_out(folder.path(), "", "hardly a part of its file is loops")
    };
    assert!(left_out(10).is_empty());
    assert_eq!(left_out(400), [1]);
}

/// The same of a file that is a table with a loop behind it, and nobody's values are in its tree.
#[test]
fn a_table_is_not_compiled_anew_for_a_plain_loop() {
    let folder = folder();
    let left_out = |numbers: usize| {
        let table = "7, ".repeat(numbers);
        let text = format!("int t[] = {{ {table}}};\nvoid f(int *p, int n) {{ while (n--) p[n] = t[n]; }}\n");
        fs::write(folder.path().join("short.c"), text).unwrap();
        left_out(folder.path(), "", "hardly a part of its file is loops")
    };
    assert!(left_out(1000).is_empty());
    assert_eq!(left_out(100_000), [2]);
}

/// What the compiler leaves out because nothing calls it, as it does with most functions of headers, is no reason to compile
/// anything anew.
#[test]
fn functions_that_nothing_calls_are_left_out() {
    let body = "{ for (int i = 0; i < n; i++) p[i] = i; }";
    let text = format!(
        "static inline void unused(int *p, int n) {body}\n\
         static void called(int *p, int n) {body}\n\
         void visible(int *p, int n) {body}\n\
         static void __attribute__((used)) kept(int *p, int n) {body}\n\
         static void other(int *p, int n) {body}\n\
         void alias(int *p, int n) __attribute__((alias(\"other\")));\n\
         static void assembly(int *p, int n) {body}\n\
         void g(int *p, int n) {{ called(p, n); __asm__(\"call assembly\"); }}\n"
    );
    let folder = folder();
    fs::write(folder.path().join("short.c"), text).unwrap();
    assert_eq!(left_out(folder.path(), "", "nothing in this file calls its function"), [1]);
}

static ASKED: AtomicUsize = AtomicUsize::new(0);

/// A text without loops is the compiler's as soon as that is known: nobody has to understand a table of constants. Where somebody
/// wants to see something of it, or it has a pragma of ours, it is understood like any other.
#[test]
fn a_table_without_loops_is_not_understood() {
    let counted: fn(&str, &Dialect) -> Result<TranslationUnit, String> = |text, dialect| {
        ASKED.fetch_add(1, Ordering::Relaxed);
        lower(text, dialect)
    };
    let stages = Stages { lower: counted, ..STAGES };
    let folder = folder();
    let asked = |options: &str, more: &str| {
        let path = folder.path().join("table.c");
        let text = format!("int format, dot, forty[] = {{ {}}};\n{more}\n", "'f', 0x40, ".repeat(300));
        fs::write(&path, text).unwrap();
        let object = folder.path().join("table.o");
        let line = format!("-O2 {options} -c {} -o {}", path.display(), object.display());
        let before = ASKED.load(Ordering::Relaxed);
        // What the tree of these tests is worth to an echo doesn't matter here.
        let finished = handle(&Toolchain::find().unwrap(), &invocation(&line), stages);
        let asked = ASKED.load(Ordering::Relaxed) > before;
        assert!(asked || finished.unwrap().is_none_or(|finished| finished.success));
        asked
    };
    assert!(!asked("", ""));
    assert!(!asked("-g -Wall -MD", "int f(int n) { return forty[n] ? dot : format; }"));
    let dependencies = fs::read_to_string(folder.path().join("table.d")).unwrap();
    assert!(dependencies.starts_with(&format!("{}/table.o: ", folder.path().display())), "{dependencies}");
    for text in [
        "void f(int n) { for (; n; n--) ; }",
        "void f(int n) { while (n) n--; }",
        "void f(int n) { do n--; whil\\\ne (n); }",
        "void f(int n) { again: if (n--) goto again; }",
        "#define LOOP(x, y) x ## y\nvoid f(int n) { LOOP(f, or) (; n; n--) ; }",
        "#pragma paragon forbid",
        "_Pragma(\"paragon forbid\")",
    ] {
        assert!(asked("", text), "{text}");
    }
    for options in ["-fparagon-echo", "-fparagon-report=text", "--dump-after=lower"] {
        assert!(asked(options, ""), "{options}");
    }
}

/// A guard knows how long a loop is wherever the loop looks at its bounds first thing, and looks at nothing that the loop may never look at.
#[test]
fn guards_look_at_what_loops_look_at_first() {
    let text = "struct sizes { int n; struct { long inner; }; int ends[9]; };\n\
        void own(double *p, struct sizes s) { for (int i = 0; i < s.n; i++) p[i] = i; }\n\
        void others(double *p, struct sizes *s) { for (int i = 0; i < s->inner; i++) p[i] = i; }\n\
        void rows(double *p, struct sizes **s, int r) { for (int i = s[r]->ends[r]; i < s[r]->ends[r + 1]; i++) p[i] = i; }\n\
        void ends(double *p, const struct sizes *s) { for (double *q = p; q != p + s->n; q++) *q = 1; }\n\
        void steps(double *p, int n, int by) { for (int i = 0; i < n; i += by) p[i] = i; }\n\
        void last(double *p, struct sizes *s) { int i = 0; do p[i] = i; while (++i < s->n); }\n\
        void either(double *p, struct sizes *s) { for (int i = 0; i < (s ? s->n : 0); i++) p[i] = i; }\n\
        void brought(double (*restrict p)[64], double (*restrict q)[64], struct sizes *restrict s, int n) {\n\
        for (int j = 1; j < n; j++) for (int i = 0; i < s->n; i++) p[i][j] = p[i][j - 1] + q[i][j]; }\n";
    let folder = folder();
    fs::write(folder.path().join("bounds.c"), text).unwrap();
    let line = "-O2 --paragon-save-temps=kept -c bounds.c";
    assert!(execute(env!("CARGO_BIN_EXE_paragon-cc"), folder.path(), line).status.success());
    let spliced = fs::read_to_string(folder.path().join("kept/bounds.spliced.c")).unwrap();
    // What stands in front of the function for entries.
    let guard = |function: &str| {
        let body = spliced.split_once(&format!("void {function}(")).expect(function).1;
        let guard = body.lines().find(|line| line.contains("__pg_threshold")).expect(function);
        guard.split("__extension__ ({").next().unwrap_or_default().to_owned()
    };
    let unknown = i64::MAX - 1;
    for (function, bounds) in [
        ("own", &["(s.n)"][..]),
        ("others", &["((*s).inner)"]),
        ("rows", &["(*(*(s + r))).ends + (r + ((int)(1)))", "(*(*(s + r))).ends + r)"]),
        ("ends", &["(p)", "((*s).n)"]),
        ("steps", &["(by) > 0 && ", "* (__pg_u64)(__pg_i64)(by)", "/ (__pg_i64)(by) >= "]),
    ] {
        let guard = guard(function);
        assert!(bounds.iter().all(|bound| guard.contains(bound)), "{function}: {guard}");
        assert!(!guard.contains(&unknown.to_string()), "{guard}");
    }
    // Where the loop is not entered at all, that is all that is asked.
    for (function, test) in [
        ("own", "if (((int)(0)) < s.n && "),
        ("others", "if (((int)(0)) < (*s).inner && "),
        ("last", "if (__builtin_expect("),
    ] {
        assert!(guard(function).starts_with(test), "{}", guard(function));
    }
    for function in ["last", "either", "brought"] {
        let guard = guard(function);
        assert!(guard.contains(&unknown.to_string()) && !guard.contains("(*s)"), "{guard}");
    }
}

/// Of a loop that may be left early, a guard asks whether the first iteration leaves it, too, where the loop asks that first and the names for it mean the same in front of it.
#[test]
fn guards_ask_what_leaves_loops_at_once() {
    let head = "static int table[256]; struct text { int n; char *bytes; };\n\
        static int is_in_table(unsigned char c) { return table[c]; }\n";
    let text = "\
        long skip(const char *p, const char *end) { const char *q = p; while (q < end && (*q == ' ' || *q == '\\t')) q++; return q - p; }\n\
        long back(const unsigned char *p, const unsigned char *s) { const unsigned char *q = p; while ((*q & 0xc0) == 0x80 && q > s) q--; return p - q; }\n\
        long from(const int *a, long k, int n, int x) { int i; for (i = k; i < n; i++) if (a[i] == x) break; return i; }\n\
        long word(const unsigned char *s, long n) { long i = 0; while (i < n && table[s[i]]) i++; return i; }\n\
        long member(struct text *t) { for (int i = 0; i < t->n; i++) { if (t->bytes[i] == 'x') return i; } return 0; }\n\
        long behind(const int *a, int n) { int i; for (i = 0; i < n; i++) { int v = a[i]; if (v == 3) break; } return i; }\n\
        long two(const int *a, int n, int k) { for (int i = 0, j = k; i < n; i++, j++) if (a[j]) return j; return 0; }\n\
        long set(const int *a, int n, int k) { int i, j = 0; for (i = 0, j = k; i < n; i++, j++) if (a[j]) break; return i; }\n\
        long called(const unsigned char *s, long n) { long i; for (i = 0; i < n; i++) { if (is_in_table(s[i])) break; } return i; }\n\
        long divides(const int *a, int n, int by) { int i; for (i = 0; i < n; i++) if (a[i] / by) break; return i; }\n";
    let folder = folder();
    let guard = |function: &str| {
        // One at a time: a file gets code for a few loops of a kind.
        let own = text.lines().find(|line| line.contains(&format!("long {function}("))).expect(function);
        fs::write(folder.path().join("left.c"), format!("{head}{own}\n")).unwrap();
        let line = "-O2 --paragon-save-temps=kept -c left.c";
        assert!(execute(env!("CARGO_BIN_EXE_paragon-cc"), folder.path(), line).status.success());
        let spliced = fs::read_to_string(folder.path().join("kept/left.spliced.c")).unwrap();
        let body = spliced.split_once(&format!("long {function}(")).expect(function).1;
        let guard = body.lines().find(|line| line.contains("__pg_threshold")).expect(function);
        guard
            .split_once("if (")
            .and_then(|(_, guard)| guard.split_once(" && __builtin_expect"))
            .expect(function)
            .0
            .to_owned()
    };
    for (function, asked) in [
        ("skip", "q < end && (((((int)((*q))) == ((int)(32))) || (((int)((*q))) == ((int)(9)))))"),
        ("back", "q > s && (((((int)((*q))) & ((int)(192))) == ((int)(128))))"),
        ("from", "((int)(k)) < n && !(((*(a + ((int)(((int)(k)))))) == x))"),
        ("word", "i < n && ((*(table + ((int)((*(s + i)))))))"),
        (
            "member",
            "((int)(0)) < (*t).n && !((((int)((*((*t).bytes + ((int)(((int)(0)))))))) == ((int)(120))))",
        ),
        ("behind", "((int)(0)) < n"),
        ("two", "((int)(0)) < n"),
        ("set", "((int)(0)) < n"),
        ("called", "((long)(0)) < n"),
        ("divides", "((int)(0)) < n"),
    ] {
        assert_eq!(guard(function), asked, "{function}");
    }
}

/// Loops whose text says that they are short get no code, and only those.
#[test]
fn loops_that_are_never_long_are_left_out() {
    let text = "static int small[64], large[9000000];\n\
        void constant(int *p) { for (int i = 0; i < 256; i++) p[i] = i; }\n\
        void narrow(int *p, int n) { for (unsigned char i = 0; i < n; i++) p[i] = i; }\n\
        void array(int n) { for (int i = n - 1; i >= 0; i--) small[i] = i; }\n\
        void many(int *p) { for (int i = 0; i < 3000000; i++) p[i] = i; }\n\
        void down(int *p) { for (int i = 3000000; i > 0; i -= 2) p[i] = i; }\n\
        void wide(int n) { for (int i = 0; i < n; i += 4) large[i] = i; }\n\
        void seldom(int *p, int n) { for (int i = 0; i < n; i++) if (p[i]) small[p[i] & 63] = p[i]; else p[i] = 1; }\n\
        void any(int *p, int n) { for (int i = 0; i < n; i++) p[i] = i; }\n";
    let folder = folder();
    fs::write(folder.path().join("short.c"), text).unwrap();
    let left_out = |options: &str| left_out(folder.path(), options, "it is never long enough to be entered");
    assert_eq!(left_out(""), [2, 3, 4]);
    assert!(left_out("-fparagon-threshold=1").is_empty());
}
