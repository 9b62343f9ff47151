//! What the GPU's driver is asked to do for an entry of a loop, by the emulated one's notes: each call takes the host some microseconds, in
//! which the GPU has nothing to do.

#[path = "support/emulated_gpu.rs"]
mod emulated_gpu;

use emulated_gpu::EmulatedGpu;
use std::path::Path;
use std::process::Command;

/// Four entries of a loop that stores to an array and reads its parameters only; in the second one a NaN, which no GPU may store. Few enough iterations for one launch.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static __attribute__((noinline)) void fill(int n, double *to, double first)
{
  for (int i = 0; i < n; i++)
    to[i] = first / (i + 1);
}
int main(void)
{
  volatile double zero = 0.0;
  double *to = malloc(300 * sizeof *to);
  for (int entry = 0; entry < 4; entry++) {
    fill(300, to, entry == 1 ? zero / zero : entry + 1.0);
    printf("%g %g\n", to[0] * 0.0 == 0.0 ? to[0] : -1.0, to[299] * 0.0 == 0.0 ? to[299] : -1.0);
  }
  free(to);
  return 0;
}
"#;

/// One entry of a loop whose rows need rows in front of all of them.
const ROWS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static __attribute__((noinline)) void rows(int first, int n, const int *start, const int *column, double *x)
{
  for (int i = first; i < n; i++)
    for (int j = start[i]; j < start[i + 1]; j++)
      x[i] = x[i] - x[column[j]];
}
int main(void)
{
  enum { N = 600, EACH = 20 };
  int *start = malloc((N + 1) * sizeof *start), *column = malloc(N * EACH * sizeof *column);
  double *x = malloc(N * sizeof *x);
  for (int i = 0; i < N; i++) {
    start[i] = i * EACH;
    x[i] = i;
    for (int k = 0; k < EACH; k++)
      column[i * EACH + k] = (i * 7 + k) % 64;
  }
  start[N] = N * EACH;
  rows(64, N, start, column, x);
  double sum = 0;
  for (int i = 0; i < N; i++)
    sum += x[i];
  printf("%g\n", sum);
  return 0;
}
"#;

/// A program in a folder, built with these options of the compiler, whose loops the emulated GPU runs.
fn built(folder: &Path, text: &str, options: &[&str]) -> Command {
    let at = |name: &str| folder.join(name);
    let gpu = EmulatedGpu::build(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/emulated_gpu"),
        &at("emulated GPU"),
    );
    std::fs::write(at("fill.c"), text).unwrap();
    let mut compiler = Command::new(env!("CARGO_BIN_EXE_paragon-cc"));
    compiler.args(options).args(["-O2", "-fparagon-threshold=1", "-o"]).arg(at("fill")).arg(at("fill.c"));
    let output = compiler.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut program = Command::new(at("fill"));
    gpu.apply(&mut program);
    program
        .envs([("PARAGON_DEVICE", "cuda"), ("PARAGON_RACE", "device"), ("PARAGON_MONITOR", "off")])
        .env("PARAGON_PATIENCE", "600000");
    program
}

/// What the first program's entries have asked for.
fn calls(options: &[&str], settings: &[(&str, &str)]) -> String {
    calls_of(PROGRAM, "1 0.00333333\n-1 -1\n3 0.01\n4 0.0133333\n", options, settings)
}

/// What a program's entries have asked for, one call a line, with these options of the compiler and settings besides.
fn calls_of(text: &str, says: &str, options: &[&str], settings: &[(&str, &str)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let calls = folder.path().join("calls");
    let mut program = built(folder.path(), text, options);
    program.env("EMULATED_CALLS", &calls).envs(settings.iter().copied());
    let done = program.output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success());
    assert_eq!(said, says);
    std::fs::read_to_string(calls).unwrap()
}

#[test]
fn a_launch_that_reads_its_parameters_only_is_all_that_is_asked_for() {
    let calls = calls(&[], &[]);
    let clearing = ["cuMemsetD32Async 40"];
    let launch = ["cuEventRecord 0", "cuLaunchKernel 0", "cuEventRecord 0", "cuMemcpyDtoHAsync_v2 40"];
    let array = ["cuMemcpyDtoHAsync_v2 2400", "cuEventRecord 0"];
    // What a launch that failed has said is cleared in front of the next one.
    let expected: [&[&str]; 9] =
        [&clearing, &launch, &array, &launch, &clearing, &launch, &array, &launch, &array];
    assert_eq!(calls.lines().collect::<Vec<_>>(), expected.concat());
}

#[test]
fn nothing_is_asked_for_between_a_loop_and_the_check_of_a_short_log() {
    let checked = [
        "cuEventRecord 0",
        "cuLaunchKernel 0",
        "cuLaunchKernelEx 0",
        "cuEventRecord 0",
        "cuMemcpyDtoHAsync_v2 40",
    ];
    for log in ["bitmap", "atomic"] {
        let calls = calls(&["-fparagon-doubt"], &[("PARAGON_LOG", log)]);
        let calls: Vec<_> = calls.lines().collect();
        let times = calls.windows(checked.len()).filter(|some| *some == checked).count();
        assert_eq!(times, 4, "{log}: {calls:?}");
    }
}

#[test]
fn the_host_looks_at_short_logs_with_a_range_itself() {
    let settings = [("PARAGON_LOG", "bitmap"), ("PARAGON_GROUPS", "always")];
    let calls = calls_of(ROWS, "-157324\n", &[], &settings);
    let names: Vec<_> = calls.lines().map(|call| call.split(' ').next().unwrap()).collect();
    // What prepares the rows runs before them, logged without a range.
    let of_rows = names.iter().rposition(|name| *name == "cuMemsetD32Async").expect("a log that is cleared");
    let names = &names[of_rows..];
    let looked = ["cuLaunchKernel", "cuEventRecord", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoHAsync_v2"];
    // What they count is cleared behind the last copy.
    let cleared = ["cuMemcpyHtoDAsync_v2", "cuMemsetD32Async", "cuEventRecord", "cuLaunchKernel"];
    let all: Vec<_> = calls.lines().map(|call| call.split(' ').next().unwrap()).collect();
    assert!(all.windows(cleared.len()).any(|some| some == cleared), "{calls}");
    assert!(names.windows(looked.len()).any(|some| some == looked), "{calls}");
    assert!(!names.contains(&"cuLaunchKernelEx"), "{calls}");
}

/// Which GPU a process asks the driver for, of three; and what it says.
fn chosen(settings: &[(&str, &str)]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let chosen = folder.path().join("chosen");
    let mut program = built(folder.path(), PROGRAM, &[]);
    program.env("EMULATED_DEVICES", "3").env("EMULATED_CHOSEN", &chosen).envs(settings.iter().copied());
    let done = program.output().unwrap();
    assert!(done.status.success());
    assert_eq!(String::from_utf8_lossy(&done.stdout), "1 0.00333333\n-1 -1\n3 0.01\n4 0.0133333\n");
    let asked = std::fs::read_to_string(chosen).unwrap_or_default();
    (asked, String::from_utf8_lossy(&done.stderr).into_owned())
}

#[test]
fn a_process_uses_the_gpu_whose_turn_it_is() {
    for (settings, wanted) in [
        (&[][..], "0\n"),
        (&[("OMPI_COMM_WORLD_LOCAL_RANK", "4")][..], "1\n"),
        (&[("SLURM_LOCALID", "0"), ("MPI_LOCALRANKID", "2")], "2\n"),
        (&[("SLURM_LOCALID", "1"), ("PARAGON_GPU", "2")], "2\n"),
    ] {
        assert_eq!(chosen(settings), (wanted.into(), String::new()), "{settings:?}");
    }
    // One that isn't there: none is used, and the user hears of it once.
    let (asked, said) = chosen(&[("PARAGON_GPU", "3")]);
    assert_eq!((asked.as_str(), said.lines().count()), ("", 1), "{said}");
    assert!(said.starts_with("paragon: PARAGON_GPU=3"), "{said}");
}

/// Rows of four levels, each of which needs rows of earlier ones only, in arrays with room for more: the levels of one matrix, twice; once with its values in another place
/// of their array; and those of a copy of it somewhere else, when the first one is gone.
const LEVELS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { ROWS = 4000, EACH = 64, LEVELS = 4, ROOM = 1 << 20 };
static __attribute__((noinline)) void level(int first, int end, const int *start, const int *column, const float *a, float *x)
{
  for (int i = first; i < end; i++)
    for (int k = start[i]; k < start[i + 1]; k++)
      x[i] = x[i] - a[k] * x[column[k]];
}
static void *moved(void *from, size_t bytes)
{
  void *to = malloc(bytes);
  memcpy(to, from, bytes);
  memset(from, 0xff, bytes);
  free(from);
  return to;
}
int main(void)
{
  int *start = malloc((ROWS + 1) * sizeof *start), *column = malloc(ROOM * sizeof *column);
  float *values = malloc(2 * ROOM * sizeof *values), *a = values, *x = malloc(ROWS * sizeof *x);
  memset(column, 0x7f, ROOM * sizeof *column);
  memset(values, 0x7f, 2 * ROOM * sizeof *values);
  int next = 0;
  for (int i = 0; i < ROWS; i++) {
    int before = i / (ROWS / LEVELS) * (ROWS / LEVELS);
    start[i] = next;
    for (int k = 0; k < EACH && before; k++) {
      column[next] = (i * 131 + k * 17) % before;
      a[next++] = (float)((i + k) % 7 - 3) / 512;
    }
  }
  start[ROWS] = next;
  for (int pass = 0; pass < 4; pass++) {
    if (pass == 2) {
      a = values + ROOM;
      memcpy(a, values, ROOM * sizeof *a);
      memset(values, 0xff, ROOM * sizeof *a);
    }
    if (pass == 3) {
      column = moved(column, ROOM * sizeof *column);
      values = moved(values, 2 * ROOM * sizeof *values);
      a = values + ROOM;
    }
    for (int i = 0; i < ROWS; i++)
      x[i] = (float)(i % 100 + pass);
    for (int l = 0; l < LEVELS; l++)
      level(l * (ROWS / LEVELS), (l + 1) * (ROWS / LEVELS), start, column, a, x);
    double sum = 0;
    for (int i = 0; i < ROWS; i++)
      sum += x[i];
    printf("%.9g %.9g\n", sum, x[ROWS - 1]);
  }
  return 0;
}
"#;

/// Of arrays that an inspection has seen a part of a GPU gets that part, wherever they are by then.
#[test]
fn what_a_level_does_not_reach_is_not_copied() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut program = built(folder.path(), LEVELS, &[]);
    let run = |program: &mut Command| {
        let done = program.output().unwrap();
        assert!(done.status.success());
        String::from_utf8(done.stdout).unwrap()
    };
    let compiled = Command::new("cc").args(["-O2", "-o"]).arg(at("cc")).arg(at("fill.c")).status();
    assert!(compiled.unwrap().success());
    let expected = run(&mut Command::new(at("cc")));
    assert_eq!(run(program.env("PARAGON_TRACE", at("trace"))), expected);
    let trace = std::fs::read_to_string(at("trace")).unwrap();
    let levels = trace.lines().filter(|line| line.contains(r#""function":"level""#));
    let number = |line: &str, name: &str| {
        let rest = line.split(&format!("\"{name}\":")).nth(1).unwrap_or_else(|| panic!("{line}"));
        rest.split([',', '}']).next().unwrap().parse::<u64>().unwrap()
    };
    // 256,000 bytes of each of two arrays, in pieces of 64 KiB, and what else there is; the first level's rows have nothing.
    let copied: Vec<u64> = levels
        .clone()
        .inspect(|line| {
            assert!(line.contains(r#""device":"cuda""#) && line.contains(r#""fail":[]"#), "{line}")
        })
        .map(|line| number(line, "bytes_in"))
        .collect();
    assert_eq!(copied.len(), 16, "{trace}");
    for (number, bytes) in copied.iter().enumerate() {
        let expected = if number % 4 == 0 { 0..100_000 } else { 500_000..900_000 };
        assert!(expected.contains(bytes), "{copied:?}");
    }
}
