//! How soon loops come to run where they are fastest: what they wait for happens at the same time, for all of them, and once. On the GPU that is none, whose
//! driver takes as long to be opened as a test wants, and whose driver and compiler note when they do what.

#[path = "support/emulated_gpu.rs"]
mod emulated_gpu;

use emulated_gpu::EmulatedGpu;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Three loops in each round, until the file that is named has so many lines with a word, then one round less than five. The word `fork` first: a child goes on
/// from there, and ends, before the program does.
const ROUNDS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
enum { COUNT = 1 << 21 };
__attribute__((noinline)) static void first(double *restrict a, const double *restrict b)
{
  for (long i = 0; i < COUNT; i++) { /* first */
    double x = a[i] * 0.25 + b[i], y = b[i] * 0.5 + 1;
    x = x * y + (x - 0.5) * (y - 0.25) + x * 0.125 + (y - x) * (x + 2) * 0.0625;
    y = y * 0.5 + (x + y) * (x - y) * 0.001 + (x + 3) * (y + 4) * 0.002 - x * 0.25;
    a[i] = (x - y) * 0.25 + x * 0.001 + (x * 0.001 - 3) * (y * 0.001 - 5) * 0.001;
  }
}
__attribute__((noinline)) static void second(double *restrict a, const double *restrict b)
{
  for (long i = 0; i < COUNT; i++) { /* second */
    double x = a[i] * 0.125 - b[i], y = b[i] * 0.25 + 2;
    x = x * y + (x - 0.75) * (y - 0.5) + x * 0.25 + (y - x) * (x + 4) * 0.03125;
    y = y * 0.25 + (x + y) * (x - y) * 0.002 + (x + 5) * (y + 6) * 0.001 - x * 0.5;
    a[i] = (x + y) * 0.125 - x * 0.001 + (x * 0.002 - 2) * (y * 0.001 - 7) * 0.001;
  }
}
__attribute__((noinline)) static void third(double *restrict a, const double *restrict b)
{
  for (long i = 0; i < COUNT; i++) { /* third */
    double x = a[i] * 0.5 - b[i] * 2, y = b[i] * 0.125 + 3;
    x = x * y - (x - 0.25) * (y - 0.75) + x * 0.5 + (y - x) * (x + 8) * 0.015625;
    y = y * 0.125 + (x + y) * (x - y) * 0.003 + (x + 7) * (y + 8) * 0.001 - x * 0.125;
    a[i] = (x - y) * 0.0625 + x * 0.002 + (x * 0.001 - 4) * (y * 0.002 - 9) * 0.001;
  }
}
/* Values of which each follows from the one before, so that no loop of this program's own is anybody's to run elsewhere. */
static void fill(double *a, unsigned value)
{
  for (long i = 0; i < COUNT; i++) {
    value = value * 1664525u + 1013904223u;
    a[i] = (value >> 16) * 0x1p-15;
  }
}
static int lines(const char *path, const char *word)
{
  char line[64];
  int count = 0;
  FILE *file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL)
    count += strstr(line, word) != NULL;
  if (file != NULL)
    fclose(file);
  return count;
}
int main(int argc, char **argv)
{
  int forks = strcmp(argv[1], "fork") == 0, least = atoi(argv[3 + forks]);
  const char *path = argv[1 + forks], *word = argv[2 + forks];
  double *a = malloc(COUNT * sizeof *a), *b = malloc(COUNT * sizeof *b), sum = 0;
  fill(a, 1);
  fill(b, 2);
  time_t begin = time(NULL);
  int left = argc > 4 + forks ? atoi(argv[4 + forks]) : 0, child = -1;
  do {
    first(a, b);
    second(a, b);
    third(a, b);
    left -= lines(path, word) >= least;
  } while (left >= 0 && time(NULL) - begin < 60);
  if (forks && (child = fork()) > 0) {
    int status = 1;
    waitpid(child, &status, 0);
    printf("child %d\n", status);
  }
  /* The same for all programs, however many rounds there were. */
  fill(a, 3);
  first(a, b);
  second(a, b);
  third(a, b);
  for (long i = 0; i < COUNT; i++)
    sum = sum * 0.5 + a[i];
  if (child != 0)
    printf("%.17g\n", sum);
  return 0;
}
"#;

struct Built {
    folder: TempDir,
    gpu: EmulatedGpu,
}

impl Built {
    /// A program by `cc` and by us.
    fn of(text: &str) -> Built {
        let folder = tempfile::tempdir().unwrap();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/emulated_gpu");
        let gpu = EmulatedGpu::build(&sources, folder.path());
        let built = Built { folder, gpu };
        std::fs::write(built.at("program.c"), text).unwrap();
        for (compiler, name) in [("cc", "theirs"), (env!("CARGO_BIN_EXE_paragon-cc"), "ours")] {
            let mut command = Command::new(compiler);
            command.args(["-O2", "-o"]).arg(built.at(name)).arg(built.at("program.c")).arg("-lm");
            assert!(command.status().unwrap().success());
        }
        built
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Ours on the GPU that is none, where nothing is known of earlier runs.
    fn run(&self, arguments: &[&str], settings: &[(&str, &str)]) -> Output {
        let mut command = Command::new(self.at("ours"));
        self.gpu.apply(&mut command);
        command
            .args(arguments)
            .env("PARAGON_HISTORY", "off")
            .env("PARAGON_DEVICE", "cuda")
            .env("PARAGON_AHEAD", "on");
        command.env("PARAGON_TRACE", self.at("trace")).env("EMULATED_WORK", self.at("work"));
        let output = command.envs(settings.iter().copied()).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        output
    }

    /// What cc's says, after so many rounds as it takes to find nothing.
    fn theirs(&self) -> Vec<u8> {
        Command::new(self.at("theirs")).args(["/dev/null", "none", "0"]).output().unwrap().stdout
    }

    /// What the driver and the compiler have done, in order.
    fn work(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.at("work")).unwrap_or_default();
        text.lines().filter_map(|line| Some(line.split_once(' ')?.1.to_owned())).collect()
    }

    /// A compiler that takes longer.
    fn slow_compiler(&self) -> String {
        let compiler = self.at("slow");
        std::fs::write(&compiler, "#!/bin/sh\nsleep 2\nexec c++ \"$@\"\n").unwrap();
        std::fs::set_permissions(&compiler, PermissionsExt::from_mode(0o700)).unwrap();
        compiler.to_str().unwrap().to_owned()
    }
}

fn count(work: &[String], what: &str) -> usize {
    work.iter().filter(|done| *done == what).count()
}

/// A loop's kernel is compiled while the driver is still being opened, and so are those of the other loops; then all of them run there, each by the kernel that
/// was made.
#[test]
fn kernels_of_all_loops_are_compiled_while_the_driver_is_opened() {
    let built = Built::of(ROUNDS);
    let work = built.at("work");
    let arguments = [work.to_str().unwrap(), "loaded", "3", "4"];
    // It would take so long if nobody compiled anything meanwhile.
    let output = built.run(&arguments, &[("EMULATED_CONTEXT", "30000"), ("EMULATED_AWAITS", "3")]);
    assert_eq!(output.stdout, built.theirs());
    let work = built.work();
    let open = work.iter().position(|done| done == "context").expect("a context");
    assert!(count(&work[..open], "compiled") >= 3, "{work:?}");
    // Nothing was made twice, and nothing in vain.
    assert_eq!((count(&work, "compiles"), count(&work, "loaded")), (3, 3), "{work:?}");
    let trace = std::fs::read_to_string(built.at("trace")).unwrap();
    for function in ["first", "second", "third"] {
        let of = |line: &&str| line.contains(&format!("\"function\":\"{function}\""));
        // Who wins there is another question.
        let tried = |line: &str| line.contains("\"device\":\"cuda\"");
        assert!(trace.lines().filter(of).any(tried), "{function}: {trace}");
    }
}

/// Who ends while a kernel is compiled waits for it, and for no other one; a child doesn't.
#[test]
fn the_end_waits_for_a_kernel_that_is_compiled_ahead() {
    let built = Built::of(ROUNDS);
    let work = built.at("work");
    let slow = built.slow_compiler();
    let settings = [("EMULATED_CONTEXT", "30000"), ("EMULATED_AWAITS", "1"), ("EMULATED_CXX", &slow)];
    let theirs = built.theirs();
    let output = built.run(&[work.to_str().unwrap(), "compiles", "1"], &settings);
    assert_eq!(output.stdout, theirs);
    let done = built.work();
    assert_eq!(count(&done, "compiles"), count(&done, "compiled"), "{done:?}");
    assert!(count(&done, "compiles") < 3, "{done:?}");

    std::fs::remove_file(&work).unwrap();
    let output = built.run(&["fork", work.to_str().unwrap(), "compiles", "1"], &settings);
    assert_eq!(output.stdout, [b"child 0\n".as_slice(), &theirs].concat());
    let done = built.work();
    assert_eq!(count(&done, "compiles"), count(&done, "compiled"), "{done:?}");
}

/// A GPU is opened for loops that nothing else is faster at: until then they are asked again and again, though they stay.
#[test]
fn loops_that_stay_wait_for_the_gpu() {
    let built = Built::of(ROUNDS);
    let work = built.at("work");
    let settings = [("PARAGON_DEVICE", "auto"), ("PARAGON_THREADS", "1")];
    let output = built.run(&[work.to_str().unwrap(), "loaded", "1"], &settings);
    assert_eq!(output.stdout, built.theirs());
    let trace = std::fs::read_to_string(built.at("trace")).unwrap();
    assert!(count(&built.work(), "loaded") >= 1, "{:?} {trace}", built.work());
}

/// Where the driver turns out not to be there for use, kernels are compiled for nobody, and the program goes on.
#[test]
fn nothing_is_compiled_for_a_gpu_that_nobody_has() {
    let built = Built::of(ROUNDS);
    let work = built.at("work");
    let output = built.run(&[work.to_str().unwrap(), "none", "0", "10"], &[("EMULATED_MEMORY", "0")]);
    assert_eq!(output.stdout, built.theirs());
    assert_eq!(count(&built.work(), "loaded"), 0, "{:?}", built.work());
}

/// A loop that was timed because it may be long has been seen to be: the driver is opened then, and not when the loop comes again.
#[test]
fn the_driver_is_opened_behind_the_entry_that_was_timed() {
    const BODIES: &str = r#"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
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
/* An entry that is short, then one that takes 0.8 s by that, and then time until the file that is named is there. */
int main(int argc, char **argv)
{
  enum { MOST = 100000, FEW = 2000 };
  body *b = calloc(MOST, sizeof *b);
  vector *pulled = calloc(MOST, sizeof *pulled);
  struct timespec begin, end;
  unsigned value = 1;
  for (int i = 0; i < MOST; i++) {
    value = value * 1664525u + 1013904223u;
    b[i].place = (vector){ (value >> 16) * 0x1p-15, (value & 1023) * 0.001, 0 };
  }
  clock_gettime(CLOCK_MONOTONIC, &begin);
  pull(FEW, b, pulled);
  clock_gettime(CLOCK_MONOTONIC, &end);
  int n = FEW * sqrt(0.8 / ((end.tv_sec - begin.tv_sec) + (end.tv_nsec - begin.tv_nsec) * 1e-9));
  n = n < 4 * FEW ? 4 * FEW : n > MOST ? MOST : n;
  pull(n, b, pulled);
  for (int wait = 0; argc > 1 && access(argv[1], F_OK) != 0 && wait < 1000; wait++)
    usleep(10000);
  /* What the last one is pulled by, in the same order. */
  volatile double x = 0;
  for (int j = 0; j < n; j++)
    x = x + (b[j].place.x - b[n - 1].place.x) * (1 / ((b[j].place.x - b[n - 1].place.x) * (b[j].place.x - b[n - 1].place.x)
            + (b[j].place.y - b[n - 1].place.y) * (b[j].place.y - b[n - 1].place.y) + 0.01));
  puts(x == pulled[n - 1].x ? "the same" : "others");
  return 0;
}
"#;
    let built = Built::of(BODIES);
    let opened = built.at("opened");
    let settings = [
        ("PARAGON_DEVICE", "auto"),
        ("PARAGON_MEMORY", "separate"),
        ("EMULATED_OPENED", opened.to_str().unwrap()),
    ];
    let output = built.run(&[opened.to_str().unwrap()], &settings);
    assert_eq!(output.stdout, b"the same\n");
    let trace = std::fs::read_to_string(built.at("trace")).unwrap();
    let entries = trace.lines().filter(|line| line.contains("\"function\":\"pull\"")).count();
    assert_eq!(entries, 2, "{trace}");
    assert!(trace.contains("measured on the calling thread"), "{trace}");
    assert!(opened.exists(), "{trace}");
}

/// To prove that the iterations of a nest with a hundred accesses are independent takes longer than a few of them do, and it is entered at every line of a grid: a million times and more.
/// Its guards see how short it is, though what bounds it is in memory; where they can't, because the program looks there under a condition, they ask, but soon no more.
#[test]
fn nests_that_take_longer_to_look_at_than_to_run_are_left_alone() {
    let folder = TempDir::new().unwrap();
    let known =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/short/systems.c")).unwrap();
    let looked_at = |text: &str| {
        let source = folder.path().join("systems.c");
        std::fs::write(&source, text).unwrap();
        let build = |compiler: &str, name: &str| {
            let program = folder.path().join(name);
            let mut command = Command::new(compiler);
            assert!(command.args(["-O2", "-w", "-o"]).args([&program, &source]).status().unwrap().success());
            program
        };
        let (theirs, ours) = (build("cc", "theirs"), build(env!("CARGO_BIN_EXE_paragon-cc"), "ours"));
        let trace = folder.path().join("trace");
        let mut command = Command::new(ours);
        command.env("PARAGON_DEVICE", "threads").env("PARAGON_THREADS", "2").env("PARAGON_HISTORY", "off");
        let ours = command.env("PARAGON_TRACE", &trace).output().unwrap();
        assert_eq!(ours.stdout, Command::new(theirs).output().unwrap().stdout);
        // Nobody writes one who is never asked.
        std::fs::read_to_string(&trace).map_or(0, |trace| trace.lines().count())
    };
    assert_eq!(looked_at(&known), 0);
    let bound = "k < extent[2] - 1";
    assert!(known.contains(bound));
    let asked = looked_at(&known.replace(bound, "k < (extent ? extent[2] - 1 : 0)"));
    assert!((1..2000).contains(&asked), "{asked}");
}
