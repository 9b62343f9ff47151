//! What a program takes of the machine beside what `cc`'s takes: memory for what is remembered of its loops, and threads.

use std::path::Path;
use std::process::Command;

/// Twelve loops go by one index array, in which something changes before each pass. Prints the most memory that it had, in megabytes.
const MEMORY: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
enum { COUNT = 1000000, PASSES = 20 };
#define SCATTER(NAME, ADDED) \
  __attribute__((noinline)) static void NAME(double *x, const double *y, const int *index, int n) \
  { \
    for (int i = 0; i < n; i++) \
      x[index[i]] = y[i] * 0.5 + ADDED; \
  }
SCATTER(scatter0, 0.25) SCATTER(scatter1, 1.25) SCATTER(scatter2, 2.25) SCATTER(scatter3, 3.25)
SCATTER(scatter4, 4.25) SCATTER(scatter5, 5.25) SCATTER(scatter6, 6.25) SCATTER(scatter7, 7.25)
SCATTER(scatter8, 8.25) SCATTER(scatter9, 9.25) SCATTER(scatter10, 10.25) SCATTER(scatter11, 11.25)
int main(void)
{
  double *x = calloc(COUNT, sizeof *x), *y = malloc(COUNT * sizeof *y), sum = 0;
  int *index = malloc(COUNT * sizeof *index);
  struct rusage usage;
  for (int i = 0; i < COUNT; i++) {
    y[i] = i % 10;
    index[i] = COUNT - 1 - i;
  }
  for (int pass = 0; pass < PASSES; pass++) {
    int a = pass * 7919 % COUNT, b = (pass * 104729 + 1) % COUNT, other = index[a];
    index[a] = index[b];
    index[b] = other;
    scatter0(x, y, index, COUNT), scatter1(x, y, index, COUNT), scatter2(x, y, index, COUNT);
    scatter3(x, y, index, COUNT), scatter4(x, y, index, COUNT), scatter5(x, y, index, COUNT);
    scatter6(x, y, index, COUNT), scatter7(x, y, index, COUNT), scatter8(x, y, index, COUNT);
    scatter9(x, y, index, COUNT), scatter10(x, y, index, COUNT), scatter11(x, y, index, COUNT);
  }
  for (int i = 0; i < COUNT; i++)
    sum += x[i] * (i % 3);
  printf("%g\n", sum);
  getrusage(RUSAGE_SELF, &usage);
  fprintf(stderr, "%ld\n", usage.ru_maxrss / 1024);
  return 0;
}
"#;

/// Short loops, the first of which are over before a thread has begun. Prints the most threads that it had.
const THREADS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { COUNT = 1000, STEPS = 4000 };
static double a[COUNT], b[COUNT];
__attribute__((noinline)) static void step(double *to, const double *from, double factor)
{
  for (int i = 0; i < COUNT; i++) {
    double t = 0;
    for (int j = 0; j < 20; j++)
      t = t * factor + from[(i + j) % COUNT];
    to[i] = t;
  }
}
static int threads(void)
{
  char line[256];
  int count = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL)
    if (strncmp(line, "Threads:", 8) == 0)
      count = atoi(line + 8);
  fclose(status);
  return count;
}
int main(void)
{
  int most = 0;
  for (int i = 0; i < COUNT; i++)
    b[i] = i;
  for (int i = 0; i < STEPS; i++) {
    step(a, b, 0.5);
    if (i % 50 == 0 && threads() > most)
      most = threads();
  }
  printf("%g\n", a[77]);
  fprintf(stderr, "%d\n", most);
  return 0;
}
"#;

/// What the program prints built by `cc`, and by us with loops on so many threads: a number each on stderr, and the same otherwise.
fn measured(program: &str, threads: &str, settings: &[(&str, &str)]) -> [u64; 2] {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("program.c");
    std::fs::write(&source, program).unwrap();
    let run = |compiler: &str, flags: &[&str]| {
        let executable = folder.path().join(Path::new(compiler).file_name().unwrap()).with_extension("run");
        let built =
            Command::new(compiler).arg("-O2").args(flags).arg("-o").arg(&executable).arg(&source).status();
        assert!(built.unwrap().success());
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", "120"]).arg(&executable);
        command.env("PARAGON_DEVICE", "threads").env("PARAGON_RACE", "device").env("PARAGON_AT_ONCE", "on");
        command.env("PARAGON_HISTORY", "off").env("PARAGON_THREADS", threads).envs(settings.iter().copied());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let number = String::from_utf8_lossy(&output.stderr).trim().parse().unwrap();
        (output.stdout, number)
    };
    let (theirs, ours) = (run("cc", &[]), run(env!("CARGO_BIN_EXE_paragon-cc"), &["-fparagon-threshold=1"]));
    assert_eq!(theirs.0, ours.0);
    [theirs.1, ours.1]
}

#[test]
fn what_is_remembered_of_many_loops_is_little_beside_the_program() {
    // By inspections, and by runs under logs that found no conflict. Copies of arrays, logs and threads' stacks are in it, too.
    for setting in [("PARAGON_INSPECTIONS", "on"), ("PARAGON_INSPECTIONS", "off")] {
        let [theirs, ours] = measured(MEMORY, "4", &[setting]);
        assert!(ours < theirs * 5, "{theirs} MB by cc, {ours} MB by us with {setting:?}");
    }
}

#[test]
fn short_loops_have_no_more_threads_than_they_ask_for() {
    for threads in [2, 3, 16] {
        let [theirs, ours] = measured(THREADS, &threads.to_string(), &[]);
        // One that a device has for itself may be there, too.
        assert!(theirs == 1 && ours <= threads + 1, "{ours} threads of {threads}");
    }
}
