//! A process ends with its last thread, whichever that is, though ours are still there.

#[path = "support/emulated_gpu.rs"]
mod emulated_gpu;

use emulated_gpu::EmulatedGpu;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// How the threads of a program end: `0`: there is one, which isn't what ends the process; `1`: another one has loops after the first has ended; `2`: another one only waits; `3`: by the system call
/// itself, with a code. `4`: it counts how often the lowest descriptor isn't free that it has closed, while another thread is there for the second half of the time.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
enum { COUNT = 200000 };
static double a[COUNT], b[COUNT];
__attribute__((noinline)) static void step(double *restrict to, const double *restrict from)
{
  for (long i = 0; i < COUNT; i++)
    to[i] = from[i] / 3 + 1;
}
static void steps(void)
{
  for (int t = 0; t < 10; t++) {
    step(b, a);
    step(a, b);
  }
}
static void at_exit(void)
{
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  printf("at exit %g, SIGTERM is blocked: %d\n", a[7], sigismember(&blocked, SIGTERM));
}
static void *another(void *loops)
{
  usleep(300000);
  if (loops != NULL)
    steps();
  printf("another one: %g\n", a[7]);
  return NULL;
}
static int not_lowest(void)
{
  int wrong = 0;
  for (time_t begin = time(NULL); time(NULL) - begin < 2;) {
    close(0);
    wrong += open("/dev/null", O_RDONLY) != 0;
  }
  return wrong;
}
static void *not_lowest_behind(void *nothing)
{
  (void)nothing;
  usleep(300000);
  printf("behind: %d\n", not_lowest());
  return NULL;
}
int main(int argc, char **argv)
{
  int how = argc > 1 ? atoi(argv[1]) : 0;
  pthread_t thread;
  atexit(at_exit);
  for (long i = 0; i < COUNT; i++)
    a[i] = (double)(i % 100);
  steps();
  printf("first one: %g\n", a[7]);
  if (how == 3)
    syscall(SYS_exit, 3);
  if (how == 4) {
    printf("not lowest: %d\n", not_lowest());
    if (pthread_create(&thread, NULL, not_lowest_behind, NULL) != 0)
      return 1;
    pthread_exit(NULL);
  }
  if (how != 0 && pthread_create(&thread, NULL, another, how == 1 ? a : NULL) != 0)
    return 1;
  pthread_exit(NULL);
}
"#;

#[test]
fn a_process_ends_with_the_last_thread_of_its_program() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let gpu = EmulatedGpu::build(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/emulated_gpu"),
        folder.path(),
    );
    std::fs::write(at("program.c"), PROGRAM).unwrap();
    let build = |compiler: &str, name: &str, more: &[&str]| {
        let mut command = Command::new(compiler);
        command.args(["-O2", "-pthread", "-o"]).arg(at(name)).args(more).arg(at("program.c"));
        assert!(command.status().unwrap().success());
    };
    build("cc", "theirs", &[]);
    // Its threads are called as one of ours is.
    build(
        env!("CARGO_BIN_EXE_paragon-cc"),
        "paragon",
        &["-fparagon-threshold=1", "-fparagon-checked-threads"],
    );
    let settings: [&[(&str, &str)]; 3] = [
        &[("PARAGON_DEVICE", "threads")],
        &[("PARAGON_DEVICE", "threads"), ("PARAGON_MEMORY", "separate"), ("PARAGON_RACE", "device")],
        &[("PARAGON_DEVICE", "cuda"), ("PARAGON_RACE", "device"), ("PARAGON_STAYING", "on")],
    ];
    for how in ["0", "1", "2", "3", "4"] {
        let theirs = Command::new(at("theirs")).arg(how).output().unwrap();
        assert_eq!(theirs.status.code(), Some(if how == "3" { 3 } else { 0 }));
        // Two of them on the GPU that is none, whose kernels take long to compile.
        let settings = if how < "2" { &settings } else { &settings[..2] };
        for setting in settings {
            let trace = at("trace");
            let _ = std::fs::remove_file(&trace);
            let mut command = Command::new("timeout");
            command.args(["--signal=KILL", "60"]).arg(at("paragon")).arg(how);
            gpu.apply(&mut command);
            command.env("PARAGON_HISTORY", "off").env("PARAGON_AT_ONCE", "on").env("PARAGON_THREADS", "3");
            command
                .env("PARAGON_PATIENCE", "600000")
                .env("PARAGON_TRACE", &trace)
                .envs(setting.iter().copied());
            let started = Instant::now();
            let ours = command.output().unwrap();
            assert_eq!(
                (&ours.stdout, ours.status),
                (&theirs.stdout, theirs.status),
                "{how} {setting:?}: {ours:?}"
            );
            assert!(ours.stderr.is_empty() && started.elapsed() < Duration::from_secs(50), "{ours:?}");
            // There were threads of ours.
            let records = std::fs::read_to_string(&trace).unwrap();
            let is_elsewhere = |line: &str| {
                ["threads", "cuda"].iter().any(|way| line.contains(&format!("\"decision\":\"{way}\"")))
            };
            assert!(records.lines().any(is_elsewhere), "{how} {setting:?}: {records}");
        }
    }
}
