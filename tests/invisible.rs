//! What Paragon adds to a translation unit must be invisible: no warning, no exported symbol, no trace under options that
//! ask for code as it was written; and it must survive whatever the linker is told.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PARAGON_CC: &str = env!("CARGO_BIN_EXE_paragon-cc");

/// Clean under every warning of gcc, in C89, with loops of each kind of check, an unbraced one, and one in a header's macro.
const SOURCE: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#define SQUARE(x) ((x) * (x))

void scale(int n, double *to, const double *from);
void scatter(int n, float *x, const int *index, const float *v);
int total(int n, const int *v);

void scale(int n, double *to, const double *from)
{
  int i;
  if (n > 3)
    for (i = 0; i < n; i++)
      to[i] = SQUARE(from[i]) + 0.5;
  else
    for (i = 0; i < n; i++)
      to[i] = from[i];
}

void scatter(int n, float *x, const int *index, const float *v)
{
  int i;
  for (i = 0; i < n; i++)
    x[index[i]] += v[i];
}

int total(int n, const int *v)
{
  int i, sum = 0;
  for (i = 0; i < n; i++) {
    sum += v[i] & 0xff;
  }
  return sum;
}

int main(void)
{
  enum { N = 500 };
  double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b), sum = 0;
  float *x = malloc(N * sizeof *x), *v = malloc(N * sizeof *v);
  int *index = malloc(N * sizeof *index), i;
  if (a == NULL || b == NULL || x == NULL || v == NULL || index == NULL)
    return 1;
  for (i = 0; i < N; i++) {
    a[i] = i;
    x[i] = (float)i;
    v[i] = 0.25F;
    index[i] = (i * 7) % N;
  }
  scale(N, b, a);
  scatter(N, x, index, v);
  for (i = 0; i < N; i++)
    sum += b[i] + (double)x[i];
  printf("%.17g %d\n", sum, total(N, index));
  free(a);
  free(b);
  free(x);
  free(v);
  free(index);
  return 0;
}
"#;

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("clean.c"), SOURCE).unwrap();
        Place { folder }
    }
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
    fn compile(&self, compiler: &str, flags: &str) -> Output {
        Command::new(compiler)
            .args(flags.split_whitespace())
            .args(["-fparagon-threshold=1"].iter().filter(|_| compiler == PARAGON_CC))
            .current_dir(self.folder.path())
            .output()
            .unwrap()
    }
    /// Compiles without a word.
    fn clean(&self, flags: &str) {
        let output = self.compile(PARAGON_CC, flags);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "{flags}: {said}");
    }
    fn symbols(&self, options: &[&str], file: &str) -> String {
        let output = Command::new("nm").args(options).arg(self.path(file)).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
    fn prints(&self, program: &str, device: &str) -> String {
        let output = Command::new(self.path(program))
            .env("PARAGON_DEVICE", device)
            .env("PARAGON_RACE", "device")
            .env("PARAGON_MONITOR", "off")
            .output()
            .unwrap();
        assert!(output.status.success(), "{program}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

fn has_loops(symbols: &str) -> bool {
    symbols.contains("__pg_loop_")
}

const WARNINGS: &str = "-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-align=strict -Wcast-qual -Wundef \
    -Wstrict-prototypes -Wmissing-prototypes -Wmissing-declarations -Wredundant-decls -Wnested-externs -Winline \
    -Wdeclaration-after-statement -Wold-style-definition -Wpointer-arith -Wwrite-strings -Wbad-function-cast -Wfloat-equal \
    -Wformat=2 -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wnull-dereference -Wdouble-promotion -Wswitch-enum \
    -Wswitch-default -Waggregate-return -Wpadded -Wpacked -Wvla -Wtraditional-conversion -Wlong-long \
    -Wstack-usage=100000 -Wdate-time -Wjump-misses-init -Wunsafe-loop-optimizations -Wsuggest-attribute=pure \
    -Wsuggest-attribute=const -Wsuggest-attribute=cold -Wunsuffixed-float-constants";

/// Those that gcc has no reason for in the source. It names most of them in what it says of all together; where it doesn't, each is asked for alone.
fn warnings_that_are_not_drawn(place: &Place, standard: &str) -> Vec<&'static str> {
    let said_of = |warnings: &[&str]| {
        let flags = format!("-O2 {standard} {} -c clean.c -o alone.o", warnings.join(" "));
        let output = place.compile("gcc", &flags);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (!output.status.success() || !said.is_empty()).then_some(said)
    };
    let mut free: Vec<&str> = WARNINGS.split_whitespace().collect();
    while let Some(said) = said_of(&free) {
        let before = free.len();
        free.retain(|warning| !said.contains(&format!("[{warning}]")));
        if free.len() == before {
            free.retain(|warning| said_of(&[warning]).is_none());
            break;
        }
    }
    free
}

#[test]
fn no_warning_points_into_it() {
    let place = Place::new();
    for standard in
        ["-std=c89 -pedantic-errors", "-std=c99 -pedantic-errors", "-std=c11", "-std=gnu17", "-ansi"]
    {
        // What gcc itself says of the source is not ours: only warnings that the source is free of count.
        let free = warnings_that_are_not_drawn(&place, standard);
        assert!(free.len() > 35, "{standard}: the source draws too many warnings");
        for level in ["-O1", "-O2", "-O3"] {
            let flags = format!("{level} {standard} {} -Werror", free.join(" "));
            place.clean(&format!("{flags} --paragon-save-temps=. -c clean.c -o o.o"));
            assert!(has_loops(&place.symbols(&[], "o.o")), "{level} {standard}: nothing was prepared");
            // What users read is said of their own text, so the rewritten one is asked itself.
            let said =
                place.compile("gcc", &format!("{flags} -fpreprocessed -fdirectives-only -c clean.spliced.c"));
            let text = String::from_utf8_lossy(&said.stderr);
            assert!(said.status.success() && text.is_empty(), "{level} {standard}: {text}");
        }
    }
}

#[test]
fn nothing_is_exported() {
    let place = Place::new();
    for flags in ["", "-fvisibility=hidden", "-ffunction-sections -fdata-sections", "-fPIC", "-fcommon"] {
        place.clean(&format!("-O2 {flags} -c clean.c -o o.o"));
        assert!(has_loops(&place.symbols(&[], "o.o")), "{flags}");
        let global = place.symbols(&["-g"], "o.o");
        assert!(
            !global.lines().any(|line| line.contains("__pg") || line.contains("paragon")),
            "{flags}: {global}"
        );
    }
    std::fs::write(place.path("map"), "V1 { global: scale; local: *; };\n").unwrap();
    place.clean("-O2 -fPIC -shared -Wl,--version-script=map clean.c -o lib.so");
    let dynamic = place.symbols(&["-D", "--defined-only"], "lib.so");
    assert!(
        dynamic.contains("scale") && !dynamic.contains("total") && !dynamic.contains("__pg"),
        "{dynamic}"
    );
}

#[test]
fn every_way_of_linking() {
    let place = Place::new();
    assert!(place.compile("gcc", "-O2 clean.c -o reference").status.success());
    let wanted = place.prints("reference", "off");
    for flags in [
        "",
        "-pie -fPIE",
        "-no-pie",
        "-static",
        "-static-pie -fPIE",
        "-flto",
        "-flto -O3",
        "-ffunction-sections -fdata-sections -Wl,--gc-sections",
        "-Wl,-z,now -Wl,-z,relro",
        "-s",
        "-pthread",
        "-g3",
        "-Wl,--as-needed",
    ] {
        // A toolchain without static libraries can't link statically, with or without us.
        if !place.compile("gcc", &format!("-O2 {flags} clean.c -o other")).status.success() {
            continue;
        }
        let output = place.compile(PARAGON_CC, &format!("-O2 {flags} clean.c -o ours"));
        assert!(output.status.success(), "{flags}: {}", String::from_utf8_lossy(&output.stderr));
        for device in ["off", "threads", "auto"] {
            assert_eq!(place.prints("ours", device), wanted, "{flags} {device}");
        }
    }
}

/// Where code is asked for as it was written, the object is the real compiler's, byte for byte.
#[test]
fn untouched_unless_asked() {
    let place = Place::new();
    for flags in [
        "",
        "-O0",
        "-Og",
        "-O2 -fsanitize=address",
        "-O2 -fsanitize=undefined",
        "-O2 -fsanitize=thread",
        "-O2 --coverage",
        "-O2 -fprofile-generate",
        "-O2 -ffreestanding",
        "-O2 -m32",
        "-O2 -fno-paragon",
    ] {
        let own = flags.replace("-fno-paragon", "");
        let theirs = place.compile("gcc", &format!("{own} -c clean.c -o same.o"));
        let expected = std::fs::read(place.path("same.o")).unwrap_or_default();
        let _ = std::fs::remove_file(place.path("same.o"));
        place.compile("gcc", &format!("{own} -c clean.c -o same.o"));
        let again = std::fs::read(place.path("same.o")).unwrap_or_default();
        let _ = std::fs::remove_file(place.path("same.o"));
        let ours = place.compile(PARAGON_CC, &format!("{flags} -c clean.c -o same.o"));
        assert_eq!(ours.status.code(), theirs.status.code(), "{flags}");
        let got = std::fs::read(place.path("same.o")).unwrap_or_default();
        let _ = std::fs::remove_file(place.path("same.o"));
        // Objects that are to be profiled carry a random stamp.
        if again == expected {
            assert!(got == expected, "{flags}: another object");
        }
        assert!(!got.windows(10).any(|window| window == b"__pg_loop_"), "{flags}: loops were prepared");
    }
}

/// Breakpoints and profiles name the user's lines: the line table has the very lines that `cc`'s has in the user's file.
#[test]
fn lines_are_the_users() {
    let place = Place::new();
    let lines = |compiler: &str| -> std::collections::BTreeSet<u32> {
        let output = place.compile(compiler, "-O1 -g -c clean.c -o lines.o");
        assert!(output.status.success());
        let table = Command::new("objdump")
            .args(["--dwarf=decodedline"])
            .arg(place.path("lines.o"))
            .output()
            .unwrap();
        String::from_utf8_lossy(&table.stdout)
            .lines()
            .filter(|line| line.starts_with("clean.c "))
            .filter_map(|line| line.split_whitespace().nth(1)?.parse().ok())
            .collect()
    };
    let (theirs, ours) = (lines("gcc"), lines(PARAGON_CC));
    let last = SOURCE.lines().count() as u32;
    assert!(ours.iter().all(|line| *line >= 1 && *line <= last), "{ours:?}");
    // A declaration may lose its code to the optimiser; what a loop does may not.
    for (text, line) in SOURCE.lines().zip(1..) {
        let works = ["to[i] =", "x[index[i]]", "sum += v[i]"].iter().any(|part| text.contains(part));
        assert!(!works || theirs.contains(&line) == ours.contains(&line), "line {line}: {text}");
    }
}

/// The same input gives the same object, also when several compilations run at once.
#[test]
fn reproducible() {
    let place = Place::new();
    let objects: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..6)
            .map(|n| {
                let place = &place;
                scope.spawn(move || {
                    place.clean(&format!("-O2 -g -c clean.c -o n{n}.o"));
                    read_without_name(&place.path(&format!("n{n}.o")), n)
                })
            })
            .collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(objects.iter().all(|object| *object == objects[0]));
}

/// An object whose debug information records the command's output name is compared without it.
fn read_without_name(path: &Path, n: usize) -> Vec<u8> {
    let text = std::fs::read(path).unwrap();
    let name = format!("n{n}.o").into_bytes();
    let mut out = Vec::with_capacity(text.len());
    let mut rest = &text[..];
    while let Some(at) = rest.windows(name.len()).position(|w| w == name) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(b"n.o");
        rest = &rest[at + name.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// What only a function and its loops know stays so: nobody else can change it, and no store through a pointer can meet it. Else an inner loop that
/// works on it is compiled as if each of them did.
#[test]
fn local_arrays_are_nobody_elses() {
    let place = Place::new();
    let text = "void unknown(void);\nvoid changed(void);\nTYPE f(int n, const TYPE *b);\n\
                TYPE f(int n, const TYPE *b)\n{\n  TYPE a[64], sum = 0;\n  int i;\n\
                  for (i = 0; i < n; i++)\n    a[i] = b[i] * 2;\n  sum = a[n - 1];\n  a[0] = 1;\n  unknown();\n\
                  if (a[0] != 1)\n    changed();\n  return sum + a[1];\n}\n";
    std::fs::write(place.path("local.c"), text).unwrap();
    for kind in ["double", "float", "int", "unsigned"] {
        place.clean(&format!("-O2 -Wall -Wextra -DTYPE={kind} -c local.c -o local.o"));
        assert!(has_loops(&place.symbols(&[], "local.o")));
        let needed = place.symbols(&["-u"], "local.o");
        assert!(needed.contains("unknown") && !needed.contains("changed"), "{kind}: {needed}");
    }
}
