//! Broken input: C files that were cut, spliced, sprinkled with random tokens, nested too deeply, blown up. The compiler must
//! neither crash nor hang on any, and the user must see what `cc` says.
//!
//! `PARAGON_MUTATED=N` sets the number of inputs (600 otherwise, or 1,000 where all is tested), `PARAGON_SEED` where they begin.

#[path = "support/numbers.rs"]
mod numbers;
#[path = "support/selection.rs"]
mod selection;

use numbers::Random;
use paragon::c::dialect::Dialect;
use paragon::codegen;
use paragon::compile::token_edits;
use paragon::driver::splice::splice;
use paragon::loops::options::{AnalysisOptions, CodegenOptions};
use paragon::{c, verdict};
use selection::{number, selected};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// Far more than any input needs of a processor, however busy that is.
const PATIENCE: Duration = Duration::from_secs(20);
/// One of so many inputs also goes through the whole compiler.
const WHOLE: u64 = 20;

/// Tokens and fragments that mean something somewhere.
const FRAGMENTS: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    "*",
    "&&",
    "...",
    "?:",
    "for (;;)",
    "while",
    "do",
    "if (",
    "else",
    "switch (1) {",
    "case 1 ... 3:",
    "default:",
    "goto *",
    "&&label",
    "({",
    "})",
    "__extension__",
    "typeof(",
    "__auto_type x =",
    "_Generic(1,",
    "struct {",
    "union",
    "enum { A,",
    "__attribute__((aligned(",
    "((",
    "))",
    "asm volatile (\"\"",
    "_Static_assert(",
    "0x",
    "1e",
    "'",
    "\"",
    "L\"x\"",
    "\\",
    "#pragma GCC push_options\n",
    "\n# 7 \"other.c\" 2\n",
    "\n#",
    "static",
    "inline",
    "_Alignas(16)",
    "__int128",
    "_Complex",
    "_Atomic(int)",
    "__builtin_va_arg(ap,",
    "__builtin_offsetof(",
    "sizeof",
    "int (*(*",
    "typedef",
    "return",
    "= { [0 ... 9] = ",
    ".x =",
    "->",
    "%:",
    "??=",
    "$",
    "@",
    "`",
    "\u{e9}",
    "\u{0}",
    "\t",
    "-1 >> 99",
    "1 / 0",
];

/// Constructs that the front end reads in many places, all of them once.
const CONSTRUCTS: &str = r#"
typedef int T; struct s { int a : 3, b; union { float f; char c[4]; }; int tail[]; };
static int table[] = { [2] = 1, [4 ... 6] = 7, 9 }; enum e { A, B = 5, C };
int f(n, p) int n; double *p; { for (T i = 0; i < n; i++) p[i] = p[i] * 2.0 + (T)(i); return ({ int y = n; y ?: 1; }); }
void g(int n, int a[n][n], struct s *s) { switch (n) { case 1 ... 3: a[0][n - 1] = s->b; break; default: do { n--; } while (n > 0); } }
void h(float *restrict x, const float *y, const int *k, unsigned n) { for (unsigned i = 0; i < n; i++) x[k[i]] += y[i]; while (n--) *x++ = *y++; }
void l(void *p) { static void *t[] = { &&a, &&b }; goto *t[p != 0]; a: __asm__ volatile ("nop" : : "r"(p) : "memory"); b: return; }
"#;

impl Random {
    /// A place between two characters, rather at the end of a word than inside.
    fn place(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        if self.below(4) != 0 {
            at = text[at..].find([' ', ';', '(', ')', '\n']).map_or(at, |further| at + further);
        }
        at
    }
}

fn preprocessed() -> Vec<String> {
    let mut texts = vec![CONSTRUCTS.to_string()];
    for folder in ["features", "chapter"] {
        let mut files: Vec<_> = std::fs::read_dir(Path::new(ROOT).join("c-tests").join(folder))
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect();
        files.sort();
        for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "c")).step_by(3) {
            let output = Command::new("cc").args(["-E", "-O2"]).arg(file).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            // Without most of the system's headers, which are the same each time.
            let own = text.find("c-tests").unwrap_or(0);
            let start = text[own..].find("struct check").map_or(0, |at| own + at);
            texts.push(text[text[..start].rfind('\n').map_or(0, |at| at + 1)..].to_string());
            texts.push(std::fs::read_to_string(file).unwrap());
        }
    }
    texts
}

/// A broken variant of some text.
fn mutate(random: &mut Random, texts: &[String]) -> String {
    let mut text = random.pick(texts).clone();
    for _ in 0..1 + random.below(4) {
        let (a, b) = (random.place(&text), random.place(&text));
        let (from, to) = (a.min(b), a.max(b));
        match random.below(9) {
            0 => text.truncate(from),
            1 => text.replace_range(from..to.min(from + 200).max(from), ""),
            2 => text.insert_str(from, random.pick::<&str>(FRAGMENTS)),
            3 => {
                let piece = text[from..].chars().take(300).collect::<String>();
                let at = random.place(&text);
                text.insert_str(at, &piece);
            }
            4 => {
                let other = random.pick(texts);
                let at = random.place(other);
                let piece: String = other[at..].chars().take(500).collect();
                text.insert_str(from, &piece);
            }
            5 => {
                for _ in 0..20 {
                    let at = random.place(&text);
                    text.insert_str(at, random.pick::<&str>(FRAGMENTS));
                }
            }
            6 => {
                let depth = 1 << random.below(16);
                let (open, close) = *random.pick(&[
                    ("(", ")"),
                    ("{", "}"),
                    ("[", "]"),
                    ("if (1) ", ""),
                    ("*", ""),
                    ("-", ""),
                    ("a ? b : ", ""),
                ]);
                let nested = format!("{}1{}", open.repeat(depth), close.repeat(depth));
                text.insert_str(from, &nested);
            }
            7 => {
                let mut list = String::from("\nstatic const int big[] = {");
                for n in 0..1 << random.below(17) {
                    let _ = write!(list, "{n},");
                }
                list.push_str("};\n");
                text.insert_str(text[..from].rfind('\n').map_or(0, |at| at + 1), &list);
            }
            _ => {
                let sign = *random.pick(&["+", "-", "<", "unsigned", "float", "0", "i", "n"]);
                text.replace_range(from..from + text[from..].chars().next().map_or(0, char::len_utf8), sign);
            }
        }
    }
    text
}

/// All stages but the real compiler's.
fn through_the_stages(text: &str) {
    let unit = c::lower_unit(text, &Dialect::default());
    let reports = verdict::classify(&unit, &AnalysisOptions::default());
    let generated = codegen::generate(&unit, &reports, &CodegenOptions::default());
    let _ = codegen::echo::echo(text, &unit);
    let edits = token_edits(&unit, &generated.edits);
    let _ = splice(text, text, &generated.prelude, &edits);
}

/// What this thread has had of a processor.
fn time_of_thread() -> Duration {
    // SAFETY: zero bytes are a time.
    let mut time: libc::timespec = unsafe { std::mem::zeroed() };
    // SAFETY: a plain call, which writes to what it is given.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) }, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn compile(compiler: &str, folder: &Path) -> Output {
    let mut command = Command::new("timeout");
    command
        .arg("600")
        .arg(compiler)
        .args(["-O2", "-Wall", "-S", "-o", "out.s", "broken.c"])
        .current_dir(folder);
    command.env("LC_ALL", "C").output().unwrap()
}

/// The real compiler's own crashes don't count, but ours must not hide behind them.
fn same_as_cc(text: &[u8]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("broken.c"), text).unwrap();
    let wanted = compile("gcc", folder.path());
    let ours = compile(env!("CARGO_BIN_EXE_paragon-cc"), folder.path());
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    (ours.status.code() != wanted.status.code() || said(&ours) != said(&wanted))
        .then(|| format!("{:?} {}\nfrom cc: {:?} {}", ours.status, said(&ours), wanted.status, said(&wanted)))
}

#[test]
fn nothing_crashes_or_hangs() {
    let (count, seed) = (number("PARAGON_MUTATED", selected(600, 1000)), number("PARAGON_SEED", 1));
    let texts = preprocessed();
    let next = AtomicU64::new(0);
    let (whole, slowest) = (AtomicUsize::new(0), AtomicU64::new(0));
    let failures = std::sync::Mutex::new(Vec::new());
    std::panic::set_hook(Box::new(|_| ()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count {
                        return;
                    }
                    let mut random = Random::new(seed + n);
                    random.below(1);
                    let text = mutate(&mut random, &texts);
                    let started = time_of_thread();
                    let crashed = catch_unwind(AssertUnwindSafe(|| through_the_stages(&text))).is_err();
                    let took = time_of_thread() - started;
                    slowest.fetch_max(took.as_millis() as u64, Ordering::Relaxed);
                    let fail = |what: &str| {
                        let kept =
                            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mutated-{}.c", seed + n));
                        std::fs::write(&kept, &text).unwrap();
                        failures.lock().unwrap().push(format!("{}: {what}", kept.display()));
                    };
                    if crashed {
                        fail("an internal error");
                    }
                    if took > PATIENCE {
                        fail(&format!("{took:?}"));
                    }
                    if n.is_multiple_of(WHOLE) {
                        whole.fetch_add(1, Ordering::Relaxed);
                        let mut bytes = text.clone().into_bytes();
                        if n.is_multiple_of(2 * WHOLE) {
                            let at = random.below(bytes.len() + 1);
                            bytes.splice(at..at, [0xff, 0xc3]);
                        }
                        if let Some(difference) = same_as_cc(&bytes) {
                            fail(&difference);
                        }
                    }
                }
            });
        }
    });
    let _ = std::panic::take_hook();
    let failures = failures.into_inner().unwrap();
    eprintln!(
        "mutated: {count} inputs, {} of them through the whole compiler, slowest {} ms, {} failures",
        whole.into_inner(),
        slowest.into_inner(),
        failures.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
