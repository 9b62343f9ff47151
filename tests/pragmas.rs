//! `#pragma paragon`: where it is an error, that the compiler below never warns of it, and what it makes of loops at run time.
//! That assertions which aren't true change no result is seen by `differential.rs` (`c-tests/features/pragmas.c`).

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const PARAGON: &str = env!("CARGO_BIN_EXE_paragon");
const PARAGON_CC: &str = env!("CARGO_BIN_EXE_paragon-cc");

fn folder(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f.c"), text).unwrap();
    folder
}

fn execute(program: &str, folder: &Path, line: &str) -> Output {
    let mut command = Command::new(program);
    command.args(line.split_whitespace()).current_dir(folder).env_remove("PARAGON_CC").output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The errors and notes for a text, and that there is no object; each without its first words up to the colon behind the line.
fn errors(text: &str) -> Vec<String> {
    let folder = folder(text);
    let output = execute(PARAGON_CC, folder.path(), "-O2 -Wunknown-pragmas -c f.c");
    let lines: Vec<String> = said(&output).lines().map(|line| line.replacen("f.c:", "", 1)).collect();
    assert_eq!(output.status.success(), lines.is_empty(), "{text}: {lines:?}");
    assert_eq!(folder.path().join("f.o").exists(), lines.is_empty());
    let explained = execute(PARAGON, folder.path(), "explain f.c -- -O2");
    assert_eq!((said(&explained), explained.status.success()), (said(&output), output.status.success()));
    // Without us it is a program like any other.
    for flags in ["-O2 -fno-paragon", "-O0"] {
        assert!(execute(PARAGON_CC, folder.path(), &format!("{flags} -c f.c")).status.success(), "{text}");
    }
    lines
}

fn function(body: &str) -> String {
    format!(
        "int g(int);\nint f(int *a, int *b, float *x, int n) {{\nint s = 0; float t = 0;\n{body}\nreturn s + (int)t;\n}}\n"
    )
}

#[test]
fn pragmas_that_cannot_apply_are_errors() {
    let every = "for (int i = 1; i < n; i++)";
    for (pragma, behind, wanted) in [
        ("forbid", "s++;".to_owned(), "stands in front of no loop"),
        ("independent", "{ for (;;) ; }".into(), "stands in front of no loop"),
        ("independent unchecked", "label: s++; if (s < n) goto label;".into(), "stands in front of no loop"),
        (
            "independant",
            format!("{every} a[i] = 1;"),
            "is none of `independent`, `independent unchecked` and `forbid`: `independant`",
        ),
        ("independent maybe", format!("{every} a[i] = 1;"), "is none of"),
        ("forbid it", format!("{every} a[i] = 1;"), "is none of"),
        ("", format!("{every} a[i] = 1;"), "says nothing"),
        ("independent", "while (a[s]) s++;".into(), "not a counted loop"),
        ("independent unchecked", "while (a[s]) s++;".into(), "not a counted loop"),
        (
            "independent",
            format!("{every} a[i] = a[i - 1];"),
            "the iterations are not independent: the store to a[i] in line 5",
        ),
        ("independent unchecked", format!("{every} a[i] = a[i - 1];"), "the iterations are not independent"),
        ("independent unchecked", format!("{every} t += x[i];"), "the iterations are not independent"),
        (
            "independent",
            format!("{every} s = a[i] - s;"),
            "the iterations are not independent: s carries a value",
        ),
        ("independent", format!("{every} a[i] = g(i);"), "it calls g in line 5"),
        ("independent unchecked", format!("{every} a[i] = g(i);"), "it calls g in line 5"),
        ("independent", format!("{every} {{ a[i] = x[i]; if (a[i]) break; }}"), "may be left early"),
        ("independent", format!("{every} {{ __asm__(\"\"); a[i] = 1; }}"), "asm"),
    ] {
        let lines = errors(&function(&format!("#pragma paragon {pragma}\n{behind}")));
        assert!(lines[0].starts_with("4: error: `#pragma paragon"), "{lines:?}");
        assert!(lines[0].contains(wanted), "{wanted}: {lines:?}");
    }
    // The accesses that show it come with it.
    let lines =
        errors(&function("#pragma paragon independent\nfor (int i = 1; i < n; i++)\n\ta[i] =\n\ta[i - 1];"));
    assert_eq!(lines[1..], ["6:2: note: the store of a[i]", "7:2: note: the load of a[i-1]"]);
    // At the end of the file, between functions, and in code that has no loop in the typed tree.
    assert!(errors("int x;\n#pragma paragon forbid\n")[0].starts_with("2: error: "));
    assert!(errors("#pragma paragon forbid\nint x;\n")[0].starts_with("1: error: "));
    let hidden =
        "s = ({ int k = 0;\n#pragma paragon independent\nfor (int i = 0; i < n; i++) k += a[i]; k; });";
    assert!(
        errors(&function(hidden))[0]
            .starts_with("5: error: `#pragma paragon independent`: the loop stands in what")
    );
    // Two that don't go together; and a loop inside that may not be moved.
    let loops =
        "for (int i = 1; i < n; i++)\n#pragma paragon forbid\nfor (int j = 0; j < 9; j++) a[9 * i + j] = i;";
    let lines = errors(&function(&format!("#pragma paragon independent\n{loops}")));
    assert!(
        lines.len() == 1
            && lines[0].starts_with("4: ")
            && lines[0].contains("in front of the loop in line 7")
    );
    let lines = errors(&function(&format!("#pragma paragon forbid\n#pragma paragon independent\n{loops}")));
    assert!(lines.len() == 1 && lines[0].starts_with("5: ") && lines[0].contains("contradicts"));
}

#[test]
fn pragmas_that_apply_are_none() {
    let every = "for (int i = 1; i < n; i++)";
    for body in [
        format!("#pragma paragon independent\n{every} a[b[i]] = i;"),
        format!(
            "#pragma paragon independent\n#pragma omp parallel for\n#pragma GCC ivdep\n{every} a[b[i]] = i;"
        ),
        format!("#pragma paragon independent\n#pragma paragon independent\n{every} a[b[i]] = i;"),
        format!("if (n)\n_Pragma(\"paragon independent unchecked\") {every} a[b[i]] = i; else s++;"),
        format!("#  pragma\tparagon  independent /* why */ // and why\n{every} a[b[i]] = i;"),
        format!("#pragma paragon forbid\n{every} a[i] = g(a[i - 1]);"),
        "#pragma paragon forbid\nwhile (a[s]) s++;".into(),
        "#pragma paragon independent\nwhile (n--) a[n] = b[n];".into(),
        "#pragma paragon independent\ndo *a++ = 1; while (--n);".into(),
        format!("#pragma paragon independent\n{every} ;"),
        format!("s = ({{ int k = 0;\n#pragma paragon forbid\n{every} k += a[i]; k; }});"),
        // Where no check could be made: the store may change the bound for all that is known.
        "struct { int n; int **row; } *p = (void *)a;\n#pragma paragon independent unchecked\n\
         for (int i = 0; i < p->n; i++) *p->row[i] = i;"
            .into(),
        // A namespace that only starts like ours.
        format!(
            "#pragma GCC diagnostic ignored \"-Wunknown-pragmas\"\n#pragma paragons x\n{every} a[i] = 1;"
        ),
    ] {
        let text = function(&body)
            .replace("#pragma omp", "#pragma GCC diagnostic ignored \"-Wunknown-pragmas\"\n#pragma omp");
        assert_eq!(errors(&text), [""; 0], "{text}");
    }
}

/// What is wrong with the text itself is said first, in the compiler's words.
#[test]
fn the_compilers_errors_come_first() {
    let folder = folder("#pragma paragon forbid\nint f(void) { return undeclared; }\n");
    let ours = execute(PARAGON_CC, folder.path(), "-O2 -c f.c");
    let theirs = execute("gcc", folder.path(), "-O2 -c f.c");
    assert_eq!((said(&ours), ours.status.code()), (said(&theirs), theirs.status.code()));
}

/// Every warning is the same as without us, but for those of our pragmas.
#[test]
fn the_compiler_does_not_warn_of_ours() {
    let text = "#define OURS _Pragma(\"paragon independent\")\n#define PRAGMA(x) _Pragma(#x)\n\
        #define BOTH(n) PRAGMA(paragon independent unchecked) for (int i = 0; i < n; i++)\n#pragma other\n\
        int f(int *a, int n) {\n  int unused;\n  OURS for (int i = 0; i < n; i++) a[i] = 1;\n\
          if (n)\n#pragma paragon \\\n  forbid\n    while (n--) a[n] = 2; else\n  PRAGMA(paragon independent)\n\
          for (int i = 0; i < n; i++) a[i] = i;\n  BOTH(n) a[i]++;\n  PRAGMA(other)\n  if (n = 3) ;\n  return n;\n}\n";
    for flags in ["-Wall", "-Wall -Wextra", "-Wunknown-pragmas -g", "-Wall -O3 -fdiagnostics-color=always"] {
        for text in [
            text.to_owned(),
            text.replace("paragon", "harmless"),
            text.replace("for (", "for(; n > 99;) for ("),
        ] {
            let folder =
                folder(&text.replace("independent unchecked", "forbid").replace("independent", "forbid"));
            let line = format!("-O2 {flags} -c f.c");
            let ours = said(&execute(PARAGON_CC, folder.path(), &line));
            let theirs = said(&execute("gcc", folder.path(), &line));
            // A message is a line at the margin with what belongs to it below.
            let mut wanted = String::new();
            let mut keep = true;
            for line in theirs.lines() {
                if line.contains("f.c:") {
                    keep = !line.contains("pragma paragon");
                }
                if keep {
                    wanted += line;
                    wanted.push('\n');
                }
            }
            assert!(theirs.contains("harmless") || theirs.len() > wanted.len());
            assert_eq!(ours, wanted, "{flags}");
        }
    }
    let clean = "void f(int *a, const int *b, int n) {\n#pragma paragon independent\n  for (int i = 0; i < n; i++) a[b[i]] = 1;\n}\n";
    for flags in [
        "-Werror -Wall -Wextra",
        "-Werror=unknown-pragmas",
        "-Wall -Werror -g -MMD",
        "-Wall -Wstack-usage=9999 -S",
    ] {
        for text in [clean.to_owned(), clean.replace("independent", "forbid")] {
            let folder = folder(&text);
            let output = execute(PARAGON_CC, folder.path(), &format!("-O2 {flags} -c f.c"));
            assert!(output.status.success() && output.stderr.is_empty(), "{flags}: {}", said(&output));
        }
    }
}

// ---- at run time

const MAIN: &str = "\nint main(void) {\n  int *out = malloc(4 * N), *to = malloc(4 * N), *from = malloc(4 * N);\n\
      for (int i = 0; i < N; i++) { out[i] = 0; to[i] = (i * 7 + 3) % N; from[i] = i; }\n  run(out, to, from, N);\n\
      unsigned long hash = 0;\n  for (int i = 0; i < N; i++) hash = hash * 31 + (unsigned)out[i];\n\
      __builtin_printf(\"%lu\\n\", hash);\n  return 0;\n}\n";

/// What the program prints when a device has to run what it can, and the entries of the loops in lines of `run`.
fn traced(text: &str, flags: &str) -> (String, Vec<Value>) {
    let head = "enum { N = 5000 };\nvoid *malloc(unsigned long);\n#line 1\n";
    let folder = folder(&format!("{head}{text}\n#line 1000{MAIN}"));
    let options = format!("-O2 -fparagon-threshold=1 -fparagon-checked-threads {flags} f.c -o f");
    let output = execute(PARAGON_CC, folder.path(), &options);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", said(&output));
    let trace = folder.path().join("trace");
    let mut program = Command::new(folder.path().join("f"));
    program
        .env("PARAGON_LOG", "atomic")
        .env("PARAGON_TRACE", &trace)
        .env("PARAGON_DEVICE", "threads")
        .env("PARAGON_RACE", "device");
    let output = program.env("PARAGON_THREADS", "4").env("PARAGON_MONITOR", "off").output().unwrap();
    assert!(output.status.success());
    let entries = fs::read_to_string(trace).unwrap_or_default();
    let entries = entries.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let entries = entries.filter(|entry| entry["line"].as_u64().is_some_and(|line| line < 1000)).collect();
    (String::from_utf8(output.stdout).unwrap(), entries)
}

/// A loop of `run`, behind a pragma.
fn scatter(pragma: &str, index: &str) -> String {
    format!(
        "void run(int *out, const int *to, const int *from, int n) {{\n{pragma}\n  for (int i = 0; i < n; i++)\n    \
         out[{index}] = from[i] + 1;\n}}"
    )
}

#[test]
fn unchecked_runs_without_logs() {
    let (expected, entries) = traced(&scatter("", "to[i]"), "");
    let (log, check) = (&entries[0]["log"], &entries[0]["check"]);
    assert!(entries.len() == 1 && log != "none" && check == "inspector", "{entries:?}");
    let (printed, entries) = traced(&scatter("#pragma paragon independent", "to[i]"), "");
    assert_eq!(printed, expected);
    assert!(entries.len() == 1 && entries[0]["check"] == "inspector" && entries[0]["decision"] == "threads");
    let (printed, entries) = traced(&scatter("#pragma paragon independent unchecked", "to[i]"), "");
    assert_eq!(printed, expected);
    let entry = &entries[0];
    assert!(entry["check"] == "none" && entry["log"] == "none" && entry["decision"] == "threads", "{entry}");
}

/// An assertion that isn't true is found out by logs; where nobody asks for them, by `-fparagon-doubt`.
#[test]
fn wrong_assertions_are_found_out() {
    let (expected, _) = traced(&scatter("#pragma paragon forbid", "to[i / 2]"), "");
    let (printed, entries) = traced(&scatter("#pragma paragon independent", "to[i / 2]"), "");
    assert_eq!(printed, expected);
    assert!(entries.len() == 1 && entries[0]["decision"] != "threads" && entries[0]["conflicts"] != 0);
    let (printed, entries) =
        traced(&scatter("#pragma paragon independent unchecked", "to[i / 2]"), "-fparagon-doubt");
    assert_eq!(printed, expected);
    let entry = &entries[0];
    assert!(entry["claimed"] == true && entry["decision"] != "threads" && entry["conflicts"] != 0, "{entry}");
}

/// Logs take what an iteration updates and accesses otherwise, too, for a conflict. That says nothing about a proof.
#[test]
fn updates_refute_no_proof() {
    let rows = |pragma: &str| {
        format!(
            "void run(int *out, const int *to, const int *from, int n) {{\n  int rows = n / 16;\n{pragma}\n  \
             for (int i = 0; i < rows; i++) {{\n    out[16 * i + (to[i] & 15)] += 1;\n    \
             out[16 * i + 4] += out[16 * i + 7];\n  }}\n}}"
        )
    };
    let (expected, _) = traced(&rows("#pragma paragon forbid"), "");
    let (printed, entries) = traced(&rows(""), "-fparagon-doubt");
    assert_eq!(printed, expected);
    let [entry] = &entries[..] else { panic!("{entries:?}") };
    assert!(entry["inspection"] == "" && entry["conflicts"] != 0 && entry["claimed"] == false, "{entry}");
}

#[test]
fn what_is_forbidden_never_runs_elsewhere() {
    let nest = |pragma: &str| {
        format!(
            "void run(int *out, const int *to, const int *from, int n) {{\n  for (int i = 0; i < n / 50; i++)\n{pragma}\n    \
             for (int j = 0; j < 50; j++)\n      out[50 * i + j] = from[i] + j;\n}}"
        )
    };
    let called = |pragma: &str| {
        format!(
            "static void row(int *out, int first) {{\n{pragma}\n  for (int j = 0; j < 50; j++) out[first + j] = j;\n}}\n\
             void run(int *out, const int *to, const int *from, int n) {{\n  for (int i = 0; i < n / 50; i++)\n    \
             row(out, 50 * i);\n}}"
        )
    };
    let alone = |pragma: &str| scatter(pragma, "i");
    for text in [&nest as &dyn Fn(&str) -> String, &called, &alone] {
        let (expected, entries) = traced(&text(""), "");
        assert!(entries.iter().any(|entry| entry["decision"] == "threads"), "{}: {entries:?}", text(""));
        let (printed, entries) = traced(&text("#pragma paragon forbid"), "");
        assert_eq!((printed, entries.len()), (expected, 0), "{}", text(""));
    }
    // Loops inside a forbidden one are judged by themselves.
    let outer = "void run(int *out, const int *to, const int *from, int n) {\n#pragma paragon forbid\n  for (int i = 0; i < 3; i++)\n    \
        for (int j = 0; j < n; j++)\n      out[j] += from[j] + i;\n}";
    let (_, entries) = traced(outer, "");
    assert_eq!(entries.iter().map(|entry| entry["line"].as_u64().unwrap()).collect::<Vec<_>>(), [4, 4, 4]);
}

/// What hides called functions' loops is tried where the programmer says so, and as the loop that is meant.
#[test]
fn asserted_loops_are_tried() {
    let text = |pragma: &str| {
        format!(
            "static void row(int *out, const int *to, int first, int last) {{\n  for (int j = first; j < last; j++) out[to[j]] = j;\n}}\n\
             void run(int *out, const int *to, const int *from, int n) {{\n{pragma}\n  for (int i = 0; i < n / 50; i++)\n    \
             row(out, to, 50 * i, 50 * i + 50);\n}}"
        )
    };
    let lines = |pragma: &str| {
        let (printed, entries) = traced(&text(pragma), "");
        let mut lines: Vec<u64> = entries.iter().map(|entry| entry["line"].as_u64().unwrap()).collect();
        lines.dedup();
        (printed, lines)
    };
    let (expected, before) = lines("");
    assert_eq!(before, [2]);
    assert_eq!(lines("#pragma paragon independent"), (expected.clone(), vec![6]));
    assert_eq!(lines("#pragma paragon independent unchecked"), (expected, vec![6]));
}

/// Plain loops don't crowd a file; one that is asserted is no plain loop.
#[test]
fn asserted_loops_have_code() {
    let mut text = String::new();
    for number in 0..12 {
        let pragma = if number == 10 { "#pragma paragon independent\n" } else { "" };
        text += &format!("void f{number}(int *p, int n) {{\n{pragma}while (n--) p[n] = {number};\n}}\n");
    }
    let folder = folder(&text);
    let output = execute(PARAGON_CC, folder.path(), "-O2 -fparagon-report=json -c f.c");
    let report: Value = serde_json::from_slice(&output.stderr).unwrap();
    let left_out: Vec<_> =
        report["loops"].as_array().unwrap().iter().filter(|l| !l["left_out"].is_null()).collect();
    assert_eq!(left_out.len(), 5);
    assert!(left_out.iter().all(|found| found["function"] != "f10"));
}

/// The text as it stands is compiled before it is known that it has pragmas. That compiler is told to stop, and removes what it was
/// about to make whenever it gets to it; what is made instead has to stay.
#[test]
fn a_compiler_that_stops_late_removes_only_its_own() {
    let folder = folder(&function("#pragma paragon independent\nfor (int i = 1; i < n; i++) ;"));
    // Both the one that is told and the one after it take their time, so that the first ends within the second.
    let script = "#!/bin/sh\nlast=\nfor word; do\n  [ \"$last\" = -o ] && made=$word\n  [ \"$word\" = f.c ] && asis=1\n  \
                  last=$word\ndone\ncase \" $* \" in *' -c '*) ;; *) exec gcc \"$@\" ;; esac\n\
                  if [ -n \"$asis\" ]; then\n  trap 'sleep 0.3; rm -f \"$made\"; echo told >told; exit 1' TERM\n  \
                  for turn in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done\n  exec gcc \"$@\"\nfi\n\
                  gcc \"$@\" || exit 1\nsleep 1\n";
    let slow = folder.path().join("slow-gcc");
    fs::write(&slow, script).unwrap();
    fs::set_permissions(&slow, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = Command::new(PARAGON_CC);
    command.args(["-O2", "-Wunknown-pragmas", "-c", "f.c"]).current_dir(folder.path());
    let output = command.env("PARAGON_CC", &slow).output().unwrap();
    assert_eq!((said(&output).as_str(), output.status.success()), ("", true));
    assert!(folder.path().join("f.o").exists());
}
