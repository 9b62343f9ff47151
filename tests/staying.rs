//! What stands in front of a loop, where the loop stays and where it is complete: the compiler is told that asking changes nothing, so whatever a loop
//! that is complete has changed has to be found all the same; and nests that stay ask once.

#[path = "support/emulated_gpu.rs"]
mod emulated_gpu;

use emulated_gpu::EmulatedGpu;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
struct layout { int n, m, size[2]; };
struct site { int index; short parity; };
static double table[512];
static long counted;

/* An array that nobody else sees: only the loop changes it, and what it had in front of the loop is known. */
__attribute__((noinline)) static double local(int n)
{
  double own[512], sum = 0;
  for (int i = 0; i < 512; i++)
    own[i] = 1;
  own[7] = 3;
  for (int i = 0; i < n; i++) /* local */
    own[i] = own[i] * 2 + i;
  for (int i = 0; i < 512; i++)
    sum += own[i] * (i + 1);
  return sum + own[7];
}

/* The same behind a pointer and at file scope, with a value that was loaded in front of the loop. */
__attribute__((noinline)) static double reached(int n, double *a, const struct layout *l)
{
  double before = a[3] + table[5];
  for (int i = 0; i < n; i++) { /* reached */
    a[i] = a[i] + l->n;
    table[i] = table[i] - a[i];
  }
  return before - a[3] - table[5];
}

/* Results in variables; the loop is entered again with everything as it was. */
__attribute__((noinline)) static long sums(int n, const int *a)
{
  long all = 0;
  for (int r = 0; r < 5; r++) {
    long sum = 0;
    int last = -1;
    for (int i = 0; i < n; i++) { /* sums */
      sum += a[i];
      last = i;
    }
    all = all * 3 + sum + last;
  }
  return all;
}

/* A nest whose divisions the compiler shares with those in front of it. */
__attribute__((noinline)) static void sites(const struct layout *l, struct site *s)
{
  const int n = l->n, m = l->m, size = l->size[0];
  for (int z = 0; z < n; z++)   /* sites z */
    for (int y = 0; y < n; y++) /* sites y */
      for (int x = 0; x < m; x++) /* sites x */
        if (x / l->size[0] + 2 * (y / l->size[1]) == 1) {
          int i = x % size + size * (y + n * z);
          s[i].index = x + m * (y + n * z);
          s[i].parity = (short)(x + y + z);
        }
}

/* Where the two overlap, rows depend on those before them, and only what is inside can run elsewhere. */
__attribute__((noinline)) static void chain(int rows, int n, double *a, const double *b)
{
  for (int i = 0; i < rows; i++) { /* chain i */
    for (int j = 0; j < n; j++)    /* chain j */
      a[(long)i * n + j] = b[(long)i * n + j] * 0.5 + j;
  }
}

int main(void)
{
  struct layout l = {60, 64, {32, 20}};
  struct site *s = calloc(60 * 60 * 64, sizeof *s);
  int numbers[512];
  double *a = malloc(120 * 8192 * sizeof *a);
  for (int i = 0; i < 120 * 8192; i++)
    a[i] = i % 97;
  for (int i = 0; i < 512; i++)
    numbers[i] = i * 7 % 31, table[i] = i;
  for (int r = 0; r < 6; r++) {
    printf("%.17g %.17g %ld\n", local(500 + r), reached(500, a, &l), sums(500, numbers));
    sites(&l, s);
    chain(119, 8192, a + 8192, a);
    for (int i = 0; i < 60 * 60 * 64; i++)
      counted = counted * 31 + s[i].index + s[i].parity;
    l.size[1] = 20 + r;
  }
  double sum = 0;
  for (int i = 0; i < 120 * 8192; i++)
    sum = sum * 0.999 + a[i];
  printf("%.17g %ld\n", sum, counted);
  return 0;
}
"#;

fn build(compiler: &str, folder: &Path, flags: &[&str]) -> PathBuf {
    let source = folder.join("staying.c");
    std::fs::write(&source, SOURCE).unwrap();
    let executable =
        folder.join(format!("{}{}", Path::new(compiler).file_name().unwrap().display(), flags.concat()));
    let mut command = Command::new(compiler);
    command.args(["-std=gnu11", "-Wall", "-Wextra"]).args(flags).arg("-o").arg(&executable).arg(&source);
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    executable
}

fn run(program: &Path, settings: &[(&str, &str)]) -> String {
    let mut command = Command::new(program);
    // What is asked doesn't depend on how much time has passed.
    command.env("PARAGON_HISTORY", "off").env("PARAGON_AT_ONCE", "on").envs(settings.iter().copied());
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{settings:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The records of the loops of a function, as `(line, decision)`.
fn entries(trace: &Path, function: &str) -> Vec<(u64, String)> {
    let text = std::fs::read_to_string(trace).unwrap_or_default();
    let records = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    records
        .filter(|record| record["function"] == function)
        .map(|record| (record["line"].as_u64().unwrap(), record["decision"].as_str().unwrap().to_owned()))
        .collect()
}

fn line(comment: &str) -> u64 {
    SOURCE.lines().position(|line| line.contains(&format!("/* {comment} */"))).unwrap() as u64 + 1
}

#[test]
fn a_loop_that_is_complete_has_changed_what_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = run(&build("cc", folder.path(), &["-O2"]), &[]);
    for level in ["-O1", "-O2", "-O3"] {
        let ours = build(
            env!("CARGO_BIN_EXE_paragon-cc"),
            folder.path(),
            &[level, "-fparagon-threshold=1", "-fparagon-checked-threads"],
        );
        for memory in ["shared", "separate"] {
            let trace = folder.path().join(format!("trace{level}{memory}"));
            let settings = [
                ("PARAGON_DEVICE", "threads"),
                ("PARAGON_RACE", "device"),
                ("PARAGON_THREADS", "3"),
                ("PARAGON_MEMORY", memory),
                ("PARAGON_TRACE", trace.to_str().unwrap()),
            ];
            assert_eq!(run(&ours, &settings), wanted, "{level} {memory}");
            if memory == "shared" {
                for name in ["local", "reached", "sums"] {
                    assert!(
                        entries(&trace, name).iter().any(|(_, decision)| decision == "threads"),
                        "{level} {name}"
                    );
                }
            }
        }
    }
}

/// What has been found of small entries is not said of large ones, whose outermost loop is short.
#[test]
fn loops_inside_are_asked_where_they_have_become_long() {
    const GROWN: &str = r#"
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static void grown(long n, long m, double *restrict a, const double *restrict b)
{
  for (long i = 0; i < n; i++)
    for (long j = 0; j < m; j++)
      a[i * m + j] = a[i * m + j] * 0.5 + b[j] / (b[i] + 3.0);
}
int main(void)
{
  double *a = calloc(1000 * 10000, sizeof *a), *b = calloc(10000, sizeof *b), sum = 0;
  for (int r = 0; r < 20; r++)
    grown(2000, 1, a, b);
  grown(1000, 10000, a, b);
  for (long i = 0; i < 1000 * 10000; i++)
    sum += a[i];
  printf("%.17g\n", sum);
  return 0;
}
"#;
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("grown.c");
    std::fs::write(&source, GROWN).unwrap();
    let program = folder.path().join("grown");
    let mut command = Command::new(env!("CARGO_BIN_EXE_paragon-cc"));
    assert!(command.arg("-O2").arg("-o").arg(&program).arg(&source).status().unwrap().success());
    let trace = folder.path().join("trace");
    let settings =
        [("PARAGON_DEVICE", "threads"), ("PARAGON_THREADS", "2"), ("PARAGON_TRACE", trace.to_str().unwrap())];
    run(&program, &settings);
    let found = entries(&trace, "grown");
    assert!(found.iter().any(|(at, _)| *at == 7), "{found:?}");
}

/// Numbers that the preprocessor counts are the same in a nest that stands twice, and behind it.
#[test]
fn counted_numbers_are_counted_once() {
    const COUNTED: &str = r#"
#include <stdio.h>
#define NUMBER __COUNTER__
static double a[200][200];
__attribute__((noinline)) static void counted(int n, int m)
{
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = a[i][j] * 2 + NUMBER + i + j;
}
int main(void)
{
  counted(200, 200);
  printf("%d %g\n", NUMBER, a[3][4]);
  return 0;
}
"#;
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("counted.c");
    std::fs::write(&source, COUNTED).unwrap();
    for warnings in ["-w", "-Wall"] {
        let program = folder.path().join("counted");
        let mut command = Command::new(env!("CARGO_BIN_EXE_paragon-cc"));
        command.args(["-O2", warnings, "-o"]).arg(&program).arg(&source);
        assert!(command.status().unwrap().success());
        assert_eq!(run(&program, &[]), "1 7\n", "{warnings}");
    }
}

#[test]
fn a_nest_that_stays_asks_once_and_a_chain_asks_for_what_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = run(&build("cc", folder.path(), &["-O2"]), &[]);
    for level in ["-O2", "-O3"] {
        let ours = build(env!("CARGO_BIN_EXE_paragon-cc"), folder.path(), &[level]);
        let trace = folder.path().join(format!("trace{level}"));
        // Two threads don't make up for logs.
        let settings = [
            ("PARAGON_DEVICE", "threads"),
            ("PARAGON_THREADS", "2"),
            ("PARAGON_TRACE", trace.to_str().unwrap()),
        ];
        assert_eq!(run(&ours, &settings), wanted, "{level}");
        let found = entries(&trace, "sites");
        assert!(found.iter().all(|(_, decision)| decision == "sequential"), "{found:?}");
        let of = |comment: &str| found.iter().filter(|(at, _)| *at == line(comment)).count();
        // Once it isn't asked any more, those inside are, until they aren't, either.
        assert!((1..=3).contains(&of("sites z")), "{found:?}");
        assert!(of("sites y") <= 3 && of("sites x") <= 3, "{found:?}");
        let found = entries(&trace, "chain");
        assert!(found.iter().any(|(at, _)| *at == line("chain j")), "{found:?}");
    }
}

/// While the driver is being opened, nothing is decided for good; but a nest that is over sooner than that stays with all that is in it.
#[test]
fn a_short_nest_asks_once_while_the_driver_is_being_opened() {
    const WAITING: &str = r#"
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static void rows(long n, double (*restrict a)[10000], const double *restrict b)
{
  for (long i = 0; i < n; i++)
    for (long j = 0; j < 10000; j++) {
      double x = a[i][j] * 0.5 + b[j], y = b[j] + 1;
      x = x * x + y * 0.5 + (x - y) * (x + y) + (x * 3 - y) * (y * 2 + x);
      a[i][j] = x - y * x + (x + 1) * (y + 2) * 0.25 - (x - 3) * y;
    }
}
int main(void)
{
  double (*a)[10000] = calloc(200, sizeof *a), *b = calloc(10000, sizeof *b), sum = 0;
  for (int r = 0; r < 8; r++)
    rows(200, a, b);
  for (long i = 0; i < 200; i++)
    sum += a[i][i * 40];
  printf("%.17g\n", sum);
  return 0;
}
"#;
    let folder = tempfile::tempdir().unwrap();
    let gpu = EmulatedGpu::build(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/emulated_gpu"),
        folder.path(),
    );
    let (source, program) = (folder.path().join("waiting.c"), folder.path().join("waiting"));
    std::fs::write(&source, WAITING).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_paragon-cc"));
    assert!(command.arg("-O2").arg("-o").arg(&program).arg(&source).status().unwrap().success());
    let trace = folder.path().join("trace");
    let mut command = Command::new(&program);
    gpu.apply(&mut command);
    let settings = [
        ("PARAGON_HISTORY", "off"),
        ("PARAGON_AT_ONCE", "on"),
        ("PARAGON_DEVICE", "cuda"),
        ("PARAGON_TRACE", trace.to_str().unwrap()),
        // Milliseconds: far longer than the program takes.
        ("EMULATED_OPENING", "5000"),
    ];
    let output = command.envs(settings).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let found = entries(&trace, "rows");
    let of = |line: u64| found.iter().filter(|(at, _)| *at == line).count();
    assert!(found.iter().all(|(_, decision)| decision == "sequential"));
    assert_eq!(of(6), 8);
    // Nobody knows how long the first entry takes.
    assert!(of(7) <= 200, "{} times", of(7));
}

/// Short loops are not thought about while a program has just begun, whatever they could be; longer ones are.
#[test]
fn short_loops_stay_early_in_a_program() {
    const EARLY: &str = r#"
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static void halves(long n, double *restrict a)
{
  for (long i = 0; i < n; i++)
    a[i] = a[i] * 0.5 + 1;
}
int main(int argc, char **argv)
{
  long n = atol(argv[1]), times = atol(argv[argc - 1]);
  double *a = calloc(n, sizeof *a);
  for (long r = 0; r < times; r++)
    halves(n, a);
  printf("%.17g\n", a[n / 2]);
  return 0;
}
"#;
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("early.c"), folder.path().join("early"));
    std::fs::write(&source, EARLY).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_paragon-cc"));
    assert!(command.arg("-O2").arg("-o").arg(&program).arg(&source).status().unwrap().success());
    let decisions = |n: &str, times: &str, at_once: &str| -> Vec<String> {
        let trace = folder.path().join(format!("trace {n} {times} {at_once}"));
        let mut command = Command::new(&program);
        command.args([n, times]).env("PARAGON_HISTORY", "off").env("PARAGON_DEVICE", "threads");
        command.env("PARAGON_THREADS", "2").env("PARAGON_AT_ONCE", at_once).env("PARAGON_TRACE", &trace);
        assert!(command.status().unwrap().success());
        entries(&trace, "halves").into_iter().map(|(_, decision)| decision).collect()
    };
    // It is the clock that says what is early: where others have the processors meanwhile it isn't any more, so that one time of ten will do.
    let is_early = |times: &str| {
        (0..10).any(|_| {
            decisions("500000", times, "off").starts_with(&["sequential".into(), "sequential".into()])
        })
    };
    // A millisecond; a tenth of a second, by the compiler's estimate; and a millisecond again and again.
    assert!(is_early("2"));
    assert_ne!(decisions("500000", "2", "on"), ["sequential"; 2]);
    assert_ne!(decisions("60000000", "1", "off"), ["sequential"]);
    // What is too short to be worth anything doesn't ask again and again meanwhile.
    assert!(decisions("20000", "300", "off").len() < 10);
    assert!(is_early("1000"));
    let again = decisions("500000", "1000", "off");
    assert!(again.iter().any(|decision| decision != "sequential"));
}

/// A loop of which nobody can say how much there is to do in an iteration, and which would stay for ever by a guess, is timed once, when so much time has passed between
/// two of its entries that it may be long.
#[test]
fn a_loop_that_may_be_long_is_timed_once() {
    const BODIES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
typedef struct { double x, y, z; } vector;
typedef struct { vector place, speed; } body;
__attribute__((noinline)) static void pull(int n, const body *b, vector *pulled)
{
  for (int i = 0; i < n; i++) {
    vector sum = { 0, 0, 0 };
    for (int j = 0; j < n; j++) {
      double x = b[j].place.x - b[i].place.x, y = b[j].place.y - b[i].place.y, near = 1 / (x * x + y * y + 0.01);
      sum.x += x * near;
      sum.y += y * near;
      sum.z += near;
    }
    pulled[i].x = sum.x;
    pulled[i].y = sum.y;
    pulled[i].z = sum.z;
  }
}
int main(void)
{
  enum { COUNT = 8000 };
  body *b = calloc(COUNT, sizeof *b);
  vector *pulled = calloc(COUNT, sizeof *pulled);
  double all = 0;
  for (int i = 0; i < COUNT; i++)
    b[i].place = (vector){ i * 7919 % 1000 * 0.001, i * 31 % 777 * 0.002, 0 };
  for (int r = 0; r < 4; r++) {
    pull(COUNT, b, pulled);
    b[r].place.x += pulled[r * 50].y;
  }
  for (int i = 0; i < COUNT; i++)
    all = all * 0.99 + pulled[i].x - pulled[i].y * pulled[i].z;
  printf("%.17g\n", all);
  return 0;
}
"#;
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("bodies.c");
    std::fs::write(&source, BODIES).unwrap();
    let build = |compiler: &str, name: &str| {
        let program = folder.path().join(name);
        let mut command = Command::new(compiler);
        assert!(command.arg("-O2").arg("-o").arg(&program).arg(&source).status().unwrap().success());
        program
    };
    let theirs = run(&build("cc", "theirs"), &[]);
    let program = build(env!("CARGO_BIN_EXE_paragon-cc"), "ours");
    let trace = folder.path().join("trace");
    // In place a sample would say it.
    let settings = [("PARAGON_TRACE", trace.to_str().unwrap()), ("PARAGON_MEMORY", "separate")];
    assert_eq!(run(&program, &settings), theirs);
    let decisions: Vec<String> = entries(&trace, "pull").into_iter().map(|(_, decision)| decision).collect();
    // What came between the first two says that it may take long.
    assert_eq!(decisions[..2], ["sequential", "worker"], "{decisions:?}");
    let said = std::fs::read_to_string(&trace).unwrap();
    assert_eq!(said.matches("measured on the calling thread").count(), 1, "{said}");
}
