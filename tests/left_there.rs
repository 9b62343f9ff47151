//! Programs that nobody has written, whose loops leave their results on a device, and that want them back in all ways that come to mind: elements, copies, system calls, children,
//! memory that is given back and used for something else. Whatever stays where, and whenever the device is lost, they print what cc's do.
//!
//! `LEFT_THERE_PROGRAMS` says how many, `LEFT_THERE_FIRST` which is the first.

#[path = "support/emulated_gpu.rs"]
mod emulated_gpu;

#[path = "support/numbers.rs"]
mod numbers;

#[path = "support/selection.rs"]
mod selection;

use emulated_gpu::EmulatedGpu;
use numbers::Random;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An array of a program's.
struct Array {
    name: String,
    kind: &'static str,
    count: usize,
    /// How it comes to be; what it says of its own size it says in bytes.
    made: usize,
}

const KINDS: [&str; 4] = ["double", "float", "int32_t", "uint64_t"];
const HEAD: &str = r#"#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define LOOP __attribute__((noinline)) static
static uint64_t hash(const void *memory, size_t bytes)
{
  const unsigned char *at = memory;
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < bytes; i++)
    h = (h ^ at[i]) * 1099511628211u;
  return h;
}
static void through_a_pipe(char *memory, size_t bytes)
{
  int ends[2];
  if (pipe(ends) != 0)
    exit(99);
  while (bytes != 0) {
    size_t some = bytes < 30000 ? bytes : 30000;
    if (write(ends[1], memory, some) != (ssize_t)some)
      exit(98);
    memory[0] = (char)~memory[0];
    if (read(ends[0], memory, some) != (ssize_t)some)
      exit(97);
    memory += some;
    bytes -= some;
  }
  close(ends[0]);
  close(ends[1]);
}
static void in_a_child(void *memory, size_t bytes)
{
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    memset(memory, 1, bytes / 2);
    _exit((int)(hash(memory, bytes) % 200));
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d\n", status);
}
static int by_value(const void *a, const void *b)
{
  unsigned char one = *(const unsigned char *)a, other = *(const unsigned char *)b;
  return (one > other) - (one < other);
}
"#;

/// A program's text.
fn program(seed: u64) -> String {
    let random = &mut Random::new(seed);
    // Such arrays are all on a device, without the ends of their pages: nobody waits for loops on them.
    let in_pages = seed % 2 == 1;
    let arrays: Vec<Array> = (0..3 + random.below(3))
        .map(|number| Array {
            name: format!("a{number}"),
            kind: random.pick::<&str>(&KINDS),
            // From below what stays to some pages more.
            count: if in_pages { 1024 * (16 + random.below(30)) } else { 7000 + random.below(30000) },
            made: if in_pages { 1 } else { *random.pick(&[0, 1, 2, 3, 4, 4]) },
        })
        .collect();
    let mut text = String::from(HEAD);
    let mut calls: Vec<String> = Vec::new();
    for array in arrays.iter().filter(|array| array.made == 0) {
        let _ = writeln!(text, "static {} memory_{}[{}];", array.kind, array.name, array.count);
    }
    for number in 0..4 + random.below(5) {
        let (to, from) = (&arrays[random.below(arrays.len())], { &arrays[random.below(arrays.len())] });
        let call = a_loop(random, &mut text, number, to, from);
        calls.push(call);
    }
    let _ = writeln!(text, "int main(void)\n{{\n  long total = 0;");
    for array in &arrays {
        let Array { name, kind, count, made } = array;
        let make = match made {
            0 => format!("memory_{name}"),
            1 => format!("aligned_alloc(4096, ({count} * sizeof({kind}) + 4095) / 4096 * 4096)"),
            2 => format!("calloc({count}, sizeof({kind}))"),
            // In one piece with something else.
            3 => format!("(({kind} *)malloc(({count} + 24) * sizeof({kind}))) + 16"),
            _ => format!("malloc({count} * sizeof({kind}))"),
        };
        let _ = writeln!(text, "  {kind} *{name} = {make};");
        let _ =
            writeln!(text, "  for (long i = 0; i < {count}; i++)\n    {name}[i] = ({kind})(i % 113 * 3);");
    }
    let steps = 20 + random.below(40);
    let _ = writeln!(text, "  for (long t = 0; t < {steps}; t++) {{");
    for _ in 0..3 + random.below(6) {
        match random.below(5) {
            0..3 => {
                let call = &calls[random.below(calls.len())];
                let when = 1 + random.below(3);
                let _ = writeln!(text, "    if (t % {when} == 0)\n      {call}");
            }
            _ => {
                let array = &arrays[random.below(arrays.len())];
                let other = &arrays[random.below(arrays.len())];
                let when = 1 + random.below(9);
                let what = wanted(random, array, other);
                let _ = writeln!(text, "    if (t % {when} == {}) {{\n      {what}\n    }}", when / 2);
            }
        }
    }
    let _ = writeln!(text, "  }}\n  printf(\"%ld\\n\", total);");
    for Array { name, kind, count, .. } in &arrays {
        let _ = writeln!(
            text,
            "  printf(\"%llx\\n\", (unsigned long long)hash({name}, {count} * sizeof({kind})));"
        );
    }
    text.push_str("  return 0;\n}\n");
    text
}

/// A loop in a function of its own; the statement that calls it.
fn a_loop(random: &mut Random, text: &mut String, number: usize, to: &Array, from: &Array) -> String {
    let (kind, other, least) = (to.kind, from.kind, to.count.min(from.count));
    let is_same = to.name == from.name;
    let (lo, hi) = match random.below(3) {
        0 => (random.below(300), least - random.below(300)),
        _ => (0, least),
    };
    let (name, other_name) = (&to.name, &from.name);
    let head =
        format!("LOOP void loop_{number}(long lo, long hi, {kind} *to, const {other} *from, long t)\n{{\n");
    let call = format!("loop_{number}({lo}, {hi}, {name}, {other_name}, t);");
    let body = match random.below(8) {
        _ if is_same => {
            let _ = write!(
                text,
                "LOOP void loop_{number}(long lo, long hi, {kind} *to, long t)\n{{\n  for (long i = lo; i < hi; i++)\n    to[i] = ({kind})(to[i] * 3 + t + i % 7);\n}}\n"
            );
            return format!("loop_{number}({lo}, {hi}, {name}, t);");
        }
        0 => {
            "  for (long i = lo + 1; i < hi - 1; i++)\n    to[i] = (KIND)((from[i - 1] + from[i] + from[i + 1]) / 4 + t);\n"
        }
        1 => "  for (long i = lo; i < hi; i++)\n    to[i] = (KIND)(to[i] + from[i] / 2);\n",
        2 => "  for (long i = lo; i < hi / 3; i++)\n    to[i * 3 + 1] = (KIND)(from[i] + 1);\n",
        3 => "  (void)from;\n  for (long i = lo; i < hi; i++)\n    to[i] = (KIND)(i % 101 + t);\n",
        4 => "  for (long i = lo; i < hi; i++)\n    if (from[i] > 5)\n      to[i] = (KIND)(from[i] - 5);\n",
        5 => {
            "  for (long i = 1; i < (hi - lo) / 256 - 1; i++)\n    for (long j = 1; j < 255; j++)\n      to[lo + i * 256 + j] = (KIND)(from[lo + i * 256 + j - 1] + from[lo + (i - 1) * 256 + j]);\n"
        }
        6 => "  for (long i = hi - 1; i >= lo; i--)\n    to[i] = (KIND)(from[i] * 2 - to[i]);\n",
        _ => {
            let _ = write!(
                text,
                "LOOP long loop_{number}(long lo, long hi, {kind} *to, const {other} *from)\n{{\n  long sum = 0;\n  for (long i = lo; i < hi; i++) {{\n    to[i] = ({kind})(to[i] / 2 + 1);\n    sum += from[i] > 3;\n  }}\n  return sum;\n}}\n"
            );
            return format!("total += loop_{number}({lo}, {hi}, {name}, {other_name});");
        }
    };
    let _ = writeln!(text, "{head}{}}}", body.replace("KIND", kind));
    call
}

/// What the program does with an array between two loops.
fn wanted(random: &mut Random, array: &Array, other: &Array) -> String {
    let Array { name, kind, count, made } = array;
    let at = random.below(*count);
    let bytes = (count - at).min(1 + random.below(9000));
    let both = (count * size(kind)).min(other.count * size(other.kind));
    match random.below(16) {
        0 => format!("printf(\"%.17g\\n\", (double){name}[{at}]);"),
        1 => format!("{name}[{at}] = ({kind})t;"),
        2 => format!("{name}[0] = {name}[{}];", count - 1),
        3 => format!("for (long i = {at}; i < {}; i++)\n        {name}[i] += ({kind})1;", at + bytes),
        4 => format!("memset({name} + {at}, (int)(t & 3), {bytes});")
            .replace(&format!("{bytes})"), &format!("{bytes} * sizeof({kind}))")),
        5 => format!("memmove({}, {name}, {both});", other.name),
        6 => format!("printf(\"%llx\\n\", (unsigned long long)hash({name}, {count} * sizeof({kind})));"),
        7 => format!("through_a_pipe((char *)({name} + {at}), {bytes} * sizeof({kind}));"),
        8 => format!("in_a_child({name}, {count} * sizeof({kind}));"),
        9 => format!("qsort({name} + {at}, {bytes}, 1, by_value);"),
        10 if array.kind == other.kind && array.count == other.count => {
            format!("{{ {kind} *kept = {name}; {name} = {}; {} = kept; }}", other.name, other.name)
        }
        11 if *made == 4 => format!(
            "free({name});\n      {name} = malloc({count} * sizeof({kind}));\n      memset({name}, 0, {count} * sizeof({kind}));"
        ),
        12 if *made == 4 => format!(
            "char *more = malloc(200000);\n      memset(more, 1, 200000);\n      {name} = realloc({name}, {count} * sizeof({kind}));\n      printf(\"%d\\n\", more[t]);\n      free(more);"
        ),
        13 if *made == 1 => {
            format!("madvise({name}, {} & ~4095ul, MADV_DONTNEED);", count * size(kind))
        }
        14 => format!(
            "static char more_{at}[20];\n      memcpy(more_{at}, {name} + {at} - ({at} > 8 ? 8 : 0), 16);\n      printf(\"%d\\n\", more_{at}[3]);"
        ),
        _ => format!("total += (long)getppid() * 0 + (long){name}[{at}] % 10;"),
    }
}

fn size(kind: &str) -> usize {
    if kind == "double" || kind == "uint64_t" { 8 } else { 4 }
}

fn compile(compiler: &str, more: &[&str], source: &Path, program: &Path) {
    let mut command = Command::new(compiler);
    command.args(["-std=gnu11", "-O2", "-w"]).args(more).arg("-o").arg(program).arg(source);
    let said = command.output().unwrap();
    assert!(said.status.success(), "{command:?}: {said:?}");
}

fn run(program: &Path, tell: impl FnOnce(&mut Command)) -> Output {
    let mut command = Command::new("timeout");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PARAGON_") {
            command.env_remove(name);
        }
    }
    command.args(["--signal=KILL", "300"]).arg(program);
    tell(&mut command);
    command.output().unwrap()
}

#[test]
fn whatever_the_program_wants_is_what_it_gets() {
    let first = selection::number("LEFT_THERE_FIRST", 1);
    let programs = selection::number("LEFT_THERE_PROGRAMS", selection::selected(2, 60));
    let folder = tempfile::tempdir().unwrap();
    let gpu = EmulatedGpu::build(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/emulated_gpu"),
        folder.path(),
    );
    let (mut follows, mut again, mut elsewhere, mut lost, mut entries) = (0, 0, 0, 0, 0);
    for seed in first..first + programs {
        let at = |name: &str| -> PathBuf { folder.path().join(name) };
        let source = at("program.c");
        std::fs::write(&source, program(seed)).unwrap();
        compile("cc", &[], &source, &at("cc"));
        // Threads of ours are known by their names, which no program of one thread may have.
        let ours = at("ours");
        compile(
            env!("CARGO_BIN_EXE_paragon-cc"),
            &["-fparagon-threshold=1", "-fparagon-checked-threads"],
            &source,
            &ours,
        );
        let theirs = run(&at("cc"), |_| ());
        assert!(theirs.status.success(), "{seed}: {theirs:?}");
        let mut numbers = Random::new(seed ^ 0x5eed);
        let dies = [numbers.below(100), numbers.below(400), numbers.below(1500)];
        let settings = [("threads", None, "on"), ("cuda", None, "on"), ("cuda", None, "off")].into_iter();
        let settings = settings.chain(dies.map(|dies| ("cuda", Some(dies), "on")));
        for (device, dies, following) in settings {
            let trace = at("trace");
            let _ = std::fs::remove_file(&trace);
            let output = run(&ours, |command| {
                gpu.apply(command);
                command.env("PARAGON_DEVICE", device).env("PARAGON_MEMORY", "separate");
                command.env("PARAGON_FOLLOWING", following).env("PARAGON_PATIENCE", "600000");
                command.env("PARAGON_STAYING", "on").env("PARAGON_HISTORY", "off");
                command.env("PARAGON_RACE", "device").env("PARAGON_MONITOR", "off");
                command.env("PARAGON_THREADS", "3").env("PARAGON_TRACE", &trace).env("PARAGON_AT_ONCE", "on");
                if let Some(dies) = dies {
                    command.env("EMULATED_DIES", dies.to_string());
                }
            });
            let what = format!("program {seed} on {device}, {following}, lost after {dies:?}");
            if dies.is_some()
                && String::from_utf8_lossy(&output.stderr).starts_with("paragon: results are lost")
            {
                lost += 1;
                println!("{what}: {}", String::from_utf8_lossy(&output.stderr).trim_end());
                continue;
            }
            if output.stdout != theirs.stdout || output.status != theirs.status || !output.stderr.is_empty() {
                let kept = std::env::temp_dir().join(format!("left-there-{seed}.c"));
                std::fs::write(&kept, program(seed)).unwrap();
                panic!(
                    "{what}: {:?} {}; its text is {}",
                    output.status,
                    String::from_utf8_lossy(&output.stderr),
                    kept.display()
                );
            }
            let records = std::fs::read_to_string(&trace).unwrap_or_default();
            for line in records.lines() {
                let record: serde_json::Value = serde_json::from_str(line).unwrap();
                entries += 1;
                follows += u64::from(record["follows"] == true);
                elsewhere += u64::from(record["stays"] == true);
                again += record["run_again"].as_u64().unwrap();
            }
        }
    }
    println!(
        "{programs} programs, {entries} entries, {elsewhere} of which have left results there, {follows} without being waited for; {again} loops run again; {lost} runs lost"
    );
    assert!(
        elsewhere > 20 * programs && follows > programs && again != 0,
        "{elsewhere} of {entries}, {follows}, {again}"
    );
    assert!(lost * 20 <= programs, "{lost} of {programs}");
}
