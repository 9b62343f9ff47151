//! Compiles device bodies, as `paragon-cc --paragon-save-temps=DIR` keeps them, to machine code: with every log method, and for all
//! that a kernel may be compiled for. With `--in-turn=FIRST` in front of the files, the first of which is the FIRST of a longer list, each one without logs
//! and in one of the other variants, which take turns along that list, and in each that needs what few texts have. With `--once` each one is compiled in one variant only,
//! that of its own which the files before it have had least often. Files in the same variant are compiled together, on all cores. With `--generic` in front of them, their generic accesses are counted instead; with `--generic=NUMBER` in each third of what is counted otherwise,
//! beginning with that number. With `--late-loads` in front of a file, loads are counted that stand behind a sum and in front of the store behind that, where the kernel's turns are taken side by side.
//! It needs NVIDIA's run-time compiler (`PARAGON_NVRTC`), but no GPU: so kernels are checked where no GPU is.

use paragon_rt::device::cuda::{BLOCK_OF_SORTED, Given, nvrtc};
use paragon_rt::device::{Guess, LARGE, LogMethod, Specialisation, WIDEST};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A kernel's accesses to memory but for its parameters and the thread's own: all, and those that are generic. The state space is a part
/// of an operation's name, unless the compiler doesn't know it.
fn accesses(ptx: &str) -> (usize, usize) {
    const OWN: [&str; 4] = ["param", "local", "shared", "const"];
    let operations =
        ptx.lines().filter_map(|line| line.split_whitespace().find(|word| !word.starts_with('@')));
    let parts = operations.map(|operation| operation.split('.').collect::<Vec<_>>());
    let accesses: Vec<Vec<&str>> = parts
        .filter(|parts| parts.len() > 1 && ["ld", "st", "atom", "red"].contains(&parts[0]))
        .filter(|parts| !parts.iter().any(|part| OWN.contains(part)))
        .collect();
    (accesses.len(), accesses.iter().filter(|parts| !parts.contains(&"global")).count())
}

/// Counts generic accesses, of which the compiler doesn't know that they are of the GPU's memory: they take longer, and loads wait for stores that
/// they can't meet. In what a kernel may be compiled for where an iteration's accesses need no check. Lanes that lend *and* share an iteration are
/// left out: what an earlier run has seen is masked there, because that saves registers (`__pg_place_of`).
fn count_generic(files: impl Iterator<Item = String>, turn: Option<usize>) -> ExitCode {
    let (mut kernels, mut all, mut all_generic) = (0, 0, 0);
    let none = Specialisation::none;
    let kernels_of = [LogMethod::None, LogMethod::Bitmap].into_iter().flat_map(|method| {
        [(u64::MAX, 0), (0, u64::MAX)].into_iter().flat_map(move |(bounded, inside)| {
            [(1, false), (1, true), (WIDEST, false)].map(|(spread, lends)| Specialisation {
                narrow: true,
                bounded,
                inside,
                spread,
                lends,
                ..none(method)
            })
        })
    });
    let all_kernels: Vec<Specialisation> = kernels_of.collect();
    // Not each third one, which would have the same spread always: of each of the four rows another one.
    let is_due = |i: &usize| turn.is_none_or(|turn| (i + i / 3 + turn).is_multiple_of(3));
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        for kernel in (0..all_kernels.len()).filter(is_due).map(|i| all_kernels[i]) {
            let ptx = match nvrtc::ptx_for("compute_90", &text, kernel, Given::All) {
                Ok(ptx) => ptx,
                Err(error) => {
                    println!("FAILED {file} ({kernel:?}): {error}");
                    return ExitCode::FAILURE;
                }
            };
            let (found, generic) = accesses(&ptx);
            if generic != 0 {
                println!("{file} ({kernel:?}): {generic} of {found} accesses are generic");
            }
            kernels += 1;
            all += found;
            all_generic += generic;
        }
    }
    println!("{kernels} kernels, {all} accesses, {all_generic} generic");
    ExitCode::SUCCESS
}

/// The machine instructions of a kernel, in their order.
fn instructions(cubin: &[u8]) -> Vec<u64> {
    // An ELF file of 64 bits: the table of its sections, and the one with their names.
    let number = |at: usize, size: usize| {
        cubin[at..at + size].iter().rev().fold(0usize, |all, byte| all << 8 | usize::from(*byte))
    };
    let (table, sections, names) = (number(0x28, 8), number(0x3c, 2), number(0x3e, 2));
    let section = |i: usize| table + 64 * i;
    let offset = |section: usize| number(section + 24, 8);
    let names = offset(section(names));
    let is_text = |section: &usize| cubin[names + number(*section, 4)..].starts_with(b".text.__pg_kernel\0");
    let text = (0..sections).map(section).find(is_text).expect("a kernel without instructions");
    let code = &cubin[offset(text)..offset(text) + number(text + 32, 8)];
    code.chunks_exact(16).map(|word| u64::from_le_bytes(word[..8].try_into().unwrap())).collect()
}

/// Counts loads from the GPU's memory that stand behind the first sum of numbers with double precision, in front of the store behind it: turns that are taken side by side
/// are to have made all of their loads by then. Where the assembler puts one there, three loads wait for each other instead of two, and such a loop takes three times as long.
fn count_late_loads(file: &str) -> ExitCode {
    // As the runtime has ger's rows compiled, of whose arrays an inspection or a predicate has seen everything.
    let kernel = Specialisation {
        narrow: true,
        bounded: 0x7,
        inside: 0x38,
        constant: 0x1f,
        kept: 0x1f,
        spread: WIDEST,
        ..Specialisation::none(LogMethod::None)
    };
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let cubin = match nvrtc::compile_for("sm_90", &text, kernel, Given::Locations) {
        Ok(cubin) => cubin,
        Err(error) => {
            println!("FAILED {file}: {error}");
            return ExitCode::FAILURE;
        }
    };
    // The lowest twelve bits say what an instruction does.
    const LOAD: u64 = 0x981;
    const STORE: u64 = 0x986;
    const SUM: u64 = 0x229;
    let operations: Vec<u64> = instructions(&cubin).iter().map(|word| word & 0xfff).collect();
    let Some(first) = operations.iter().position(|operation| *operation == SUM) else {
        println!("FAILED {file}: no sum");
        return ExitCode::FAILURE;
    };
    let early = operations[..first].iter().filter(|operation| **operation == LOAD).count();
    let before_store = operations[first..].iter().take_while(|operation| **operation != STORE);
    let late = before_store.filter(|operation| **operation == LOAD).count();
    println!("{early} loads, {late} late");
    ExitCode::SUCCESS
}

/// One of the things that a kernel may be compiled for.
struct Variant {
    kernel: Specialisation,
    /// The GPU.
    architecture: &'static str,
    /// How much of its tables it is given, at most.
    given: Given,
    /// What stands in the texts that it is for; all of them where it is empty.
    of: &'static str,
}

fn variants() -> Vec<Variant> {
    let all = u64::MAX;
    let none = Specialisation::none;
    let narrow = |method| Specialisation { narrow: true, ..none(method) };
    let bounded = |method| Specialisation { bounded: all, ..narrow(method) };
    let shares = Specialisation {
        constant: all,
        tile: Some((1, 0)),
        group: LARGE[0],
        shares: true,
        ..bounded(LogMethod::None)
    };
    // Of a tile of rows in planes, rows of a group across the planes.
    let across =
        Specialisation { tile: Some((2, 1)), across: Some(0), group: (4, 1), ..bounded(LogMethod::None) };
    let lends = Specialisation { lends: true, inside: all, ..narrow(LogMethod::None) };
    let of_any = [
        none(LogMethod::None),
        none(LogMethod::Atomic),
        narrow(LogMethod::Reduction),
        narrow(LogMethod::Stamp),
        Specialisation { ordered: true, ..bounded(LogMethod::Mark) },
        shares,
        Specialisation { constant: all, group: (1, 4), deep: true, ..bounded(LogMethod::None) },
        Specialisation { group: (1, 4), ..bounded(LogMethod::Bitmap) },
        Specialisation { gathers: true, ..narrow(LogMethod::Bitmap) },
        Specialisation { joined: true, full: true, ..narrow(LogMethod::Bitmap) },
        Specialisation { joined: true, seams: 2, log_shift: 3, ..narrow(LogMethod::Bitmap) },
        Specialisation { guess: Guess::Counting, ..narrow(LogMethod::Stamp) },
        Specialisation { guess: Guess::Looking, ..none(LogMethod::Stamp) },
        Specialisation { buffered: 4, ..narrow(LogMethod::Stamp) },
        Specialisation { buffered: 8, log_shift: 3, ..none(LogMethod::Stamp) },
        Specialisation { buffered: 6, apart: true, log_shift: 3, ..none(LogMethod::Stamp) },
        Specialisation { buffered: 4, apart: true, grouped: true, ..none(LogMethod::Stamp) },
        Specialisation {
            buffered: 6,
            apart: true,
            grouped: true,
            alone: true,
            log_shift: 3,
            ..narrow(LogMethod::Stamp)
        },
        Specialisation { kept: all, spread: WIDEST, ..narrow(LogMethod::Mark) },
    ];
    // Blocks that collect updates: of whole arrays, and of parts of them.
    let collects = Specialisation {
        updated_alone: all,
        collects: all,
        block: 1024,
        group: (1, 4),
        ..bounded(LogMethod::Mark)
    };
    let of_some = [
        (collects, COLLECTING),
        (
            Specialisation {
                method: LogMethod::Bitmap,
                bounded: 0,
                collects_part: all,
                group: (1, 1),
                ..collects
            },
            COLLECTING,
        ),
        (across, NESTS_OF_THREE),
        (Specialisation { group: (2, 1), method: LogMethod::Bitmap, ..across }, NESTS_OF_THREE),
        (lends, LENDING),
        (Specialisation { spread: WIDEST, ..lends }, LENDING),
        (
            Specialisation { spread: 4, ordered: true, sorted: true, block: BLOCK_OF_SORTED as u16, ..lends },
            LENDING,
        ),
        (
            Specialisation {
                method: LogMethod::Bitmap,
                guess: Guess::Range,
                spread: 4,
                ordered: true,
                sorted: true,
                block: BLOCK_OF_SORTED as u16,
                ..lends
            },
            LENDING,
        ),
    ];
    let of_old = [
        Specialisation { group: (1, 4), ..bounded(LogMethod::Bitmap) },
        Specialisation { gathers: true, ..narrow(LogMethod::Bitmap) },
        Specialisation { guess: Guess::Range, ..narrow(LogMethod::Bitmap) },
        Specialisation { buffered: 6, apart: true, log_shift: 3, ..none(LogMethod::Stamp) },
        Specialisation { buffered: 4, apart: true, grouped: true, ..none(LogMethod::Stamp) },
    ];
    let given = |kernel: &Specialisation| match kernel {
        _ if kernel.shares => Given::Far,
        // The first one, which all texts have, as if each had results, too.
        _ if kernel.method != LogMethod::None || *kernel == none(LogMethod::None) => Given::All,
        _ if kernel.bounded | kernel.inside == all => Given::Divisors,
        _ => Given::Sizes,
    };
    let sorted = Specialisation { ordered: true, sorted: true, block: BLOCK_OF_SORTED as u16, ..lends };
    let of_rows = [
        (Specialisation { spread: 8, ..lends }, "sm_90"),
        (Specialisation { spread: WIDEST, ordered: true, ..lends }, "sm_90"),
        (Specialisation { spread: 4, ..sorted }, "sm_90"),
        (Specialisation { spread: 4, ..sorted }, OLDEST),
    ];
    let of_rows = of_rows.map(|(kernel, architecture)| Variant {
        kernel,
        architecture,
        given: Given::Moves,
        of: LENDING,
    });
    let of_any = of_any.map(|kernel| (kernel, "")).into_iter().chain(of_some).map(|of| (of, "sm_90"));
    let of_old = of_old.into_iter().map(|kernel| ((kernel, ""), OLDEST));
    of_any
        .chain(of_old)
        .map(|((kernel, of), architecture)| Variant { kernel, architecture, given: given(&kernel), of })
        .chain(of_rows)
        .collect()
}

/// The oldest GPU that NVRTC 13 knows: its lanes can't sum up in one instruction what they have.
const OLDEST: &str = "sm_75";

/// Three dimensions, the outermost of which may be a tile's third.
const NESTS_OF_THREE: &str = "__PG_TILE(2, __pg_k2, 1)";
/// Updates that blocks may collect.
const COLLECTING: &str = "__pg_begin_collecting<";
/// An iteration's place along one dimension is its number.
const ONE_DIMENSION: &str = "__pg_q = __pg_k;\n__pg_k0 = __pg_q;";
/// Rows whose lanes lend each other what they load.
const LENDING: &str = "__PG_LENDING(";

/// How many of its variants a text is compiled in.
#[derive(Clone, Copy, PartialEq)]
enum Choice {
    All,
    /// The first one, the one whose turn it is, and those that are not for every text; the first text has this number.
    InTurn(usize),
    /// The one that has come up least.
    Once,
}

impl Choice {
    fn of(argument: &str) -> Option<Choice> {
        match argument.strip_prefix("--in-turn=") {
            Some(first) => first.parse().ok().map(Choice::InTurn),
            None => (argument == "--once").then_some(Choice::Once),
        }
    }
}

/// The variants, by their numbers, that each text is compiled in.
fn due(variants: &[Variant], texts: &[Text], choice: Choice) -> Vec<Vec<usize>> {
    let of_any: Vec<usize> = (0..variants.len()).filter(|i| variants[*i].of.is_empty()).collect();
    let mut met = vec![0; variants.len()];
    let due = texts.iter().enumerate().map(|(number, text)| {
        let is_for = |i: &usize| {
            let Variant { given, of, .. } = variants[*i];
            text.body.contains(of) && (given != Given::Moves || text.may_be_given_moves())
        };
        match choice {
            Choice::All => (0..variants.len()).filter(is_for).collect(),
            Choice::InTurn(first) => {
                let turn = of_any[1 + (first + number) % (of_any.len() - 1)];
                let is_due = |i: &usize| *i == of_any[0] || *i == turn || !variants[*i].of.is_empty();
                (0..variants.len()).filter(is_due).filter(is_for).collect()
            }
            Choice::Once => {
                let least = (0..variants.len()).filter(is_for).min_by_key(|i| met[*i]).unwrap();
                met[least] += 1;
                vec![least]
            }
        }
    });
    due.collect()
}

/// A device body and the file that it is from.
struct Text {
    file: String,
    body: String,
}

impl Text {
    /// Whether a kernel of it may be given how far arrays have moved alone: it has one dimension, no results and no updates.
    fn may_be_given_moves(&self) -> bool {
        let has = |part: &str| self.body.contains(part);
        has(ONE_DIMENSION) && !has("__pg_l->results") && !has("__PG_UP(")
    }
}

/// So many kernels make one program: beyond that little is gained.
const TOGETHER: usize = 16;
/// So many texts of each variant but the first, which all texts have, are compiled with the runtime's own options where variants take turns. Half as many
/// where each text has one variant.
const OPTIMISED: usize = 4;
/// The others with fewer optimisations, which take two thirds of the time: what compilers object to they object to without.
const FAST: &str = "--Ofast-compile=mid";

/// Texts that are compiled as one program.
struct Together<'a> {
    variant: &'a Variant,
    texts: Vec<&'a Text>,
    /// With fewer optimisations.
    fast: bool,
}

/// The programs that compile each text in each of its variants once. Of the first variant, which all texts have, only those are joined whose headers
/// are the same, so that each text is compiled with what it has by itself.
fn programs<'a>(texts: &'a [Text], variants: &'a [Variant], choice: Choice) -> Vec<Together<'a>> {
    let mut by_variant: BTreeMap<(usize, String), Vec<&Text>> = BTreeMap::new();
    for (text, due) in texts.iter().zip(due(variants, texts, choice)) {
        for position in due {
            let headers = if position == 0 { nvrtc::headers(&[&text.body]) } else { String::new() };
            by_variant.entry((position, headers)).or_default().push(text);
        }
    }
    let mut programs = Vec::new();
    for ((position, _), texts) in by_variant {
        let optimised = match choice {
            Choice::Once => OPTIMISED / 2,
            Choice::InTurn(_) if position != 0 => OPTIMISED,
            _ => texts.len(),
        };
        let optimised = optimised.min(texts.len());
        let (optimised, others) = texts.split_at(optimised);
        for (texts, fast) in [(optimised, false), (others, true)] {
            let variant = &variants[position];
            programs.extend(texts.chunks(TOGETHER).map(|texts| Together {
                variant,
                texts: texts.to_vec(),
                // What isn't given is asked for until the compiler sees that nobody needs it.
                fast: fast && variant.given != Given::Moves,
            }));
        }
    }
    programs
}

/// What became of the texts of some programs.
#[derive(Default)]
struct Results {
    passed: usize,
    /// A line for each text that is not run, because its zeros may lose their sign.
    refused: Vec<String>,
    failures: Vec<String>,
}

/// Compiles a program; where that fails each of its texts by itself, as the runtime would, so that it is known which.
fn compile(program: &Together<'_>, results: &Mutex<Results>) {
    let &Variant { kernel, architecture, given, .. } = program.variant;
    let texts = &program.texts;
    let bodies: Vec<&str> = texts.iter().map(|text| text.body.as_str()).collect();
    if texts.len() > 1 {
        let mut options = nvrtc::options(architecture, kernel, given);
        options.extend(program.fast.then(|| FAST.to_owned()));
        match nvrtc::get().and_then(|nvrtc| nvrtc.compile(&nvrtc::joined_source(&bodies), &options)) {
            Ok(_) => {
                results.lock().unwrap().passed += texts.len();
                return;
            }
            Err(error) => println!("not together: {error}"),
        }
    }
    for Text { file, body } in texts {
        let made = nvrtc::compile_for(architecture, body, kernel, given);
        let mut results = results.lock().unwrap();
        match made {
            Ok(_) => results.passed += 1,
            Err(error) if error.starts_with(nvrtc::LOSES_SIGN) => {
                results.refused.push(format!("REFUSED {file}: {error}"))
            }
            Err(error) => results
                .failures
                .push(format!("FAILED {file} ({architecture}, {kernel:?}, {given:?}): {error}")),
        }
    }
}

fn main() -> ExitCode {
    let first = std::env::args().nth(1).unwrap_or_default();
    if let Some(turn) = first.strip_prefix("--generic") {
        let turn = turn.strip_prefix('=').and_then(|number| number.parse().ok());
        return count_generic(std::env::args().skip(2), turn);
    }
    if first == "--late-loads" {
        return count_late_loads(&std::env::args().nth(2).expect("a file"));
    }
    let choice = Choice::of(&first);
    let variants = variants();
    let mut failures = Vec::new();
    let mut texts = Vec::new();
    for file in std::env::args().skip(1 + usize::from(choice.is_some())) {
        // What can't be read keeps its place, so that the others have the turn that they would have.
        let body = std::fs::read_to_string(&file).unwrap_or_else(|error| {
            failures.push(format!("FAILED {file}: {error}"));
            String::new()
        });
        texts.push(Text { file, body });
    }
    let programs = if failures.is_empty() {
        programs(&texts, &variants, choice.unwrap_or(Choice::All))
    } else {
        Vec::new()
    };
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Results { failures, ..Results::default() });
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    compile(program, &results);
                }
            });
        }
    });
    let Results { passed, refused, failures } = results.into_inner().unwrap();
    for line in refused.iter().chain(&failures) {
        println!("{line}");
    }
    println!("{passed} passed, {} failed, {} refused", failures.len(), refused.len());
    if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(body: &str) -> Text {
        Text { file: String::new(), body: body.into() }
    }

    #[test]
    fn all_variants_have_their_turn() {
        let variants = variants();
        let of_any = variants.iter().filter(|variant| variant.of.is_empty()).count();
        let texts: Vec<Text> = (1..of_any).map(|_| text("")).collect();
        let due = due(&variants, &texts, Choice::InTurn(100));
        let met: std::collections::HashSet<_> = due.iter().map(|due| due[1]).collect();
        assert_eq!(met.len(), of_any - 1);
    }

    #[test]
    fn each_text_has_one_variant_and_all_variants_come_up() {
        let variants = variants();
        let rows = format!("{ONE_DIMENSION}{LENDING}");
        let special = [NESTS_OF_THREE, COLLECTING, &rows, &rows];
        let texts: Vec<Text> =
            (0..20 * variants.len()).map(|number| text(special.get(number % 6).unwrap_or(&""))).collect();
        let due = due(&variants, &texts, Choice::Once);
        let mut met = vec![0; variants.len()];
        for (text, due) in texts.iter().zip(due) {
            assert!(due.len() == 1 && text.body.contains(variants[due[0]].of));
            met[due[0]] += 1;
        }
        assert!(met.iter().all(|count| (19..=21).contains(count)), "{met:?}");
        // What has results, several dimensions or updates isn't compiled with less than it is given.
        for other in ["__pg_l->results", "__PG_UP("] {
            assert!(!text(&format!("{rows}{other}")).may_be_given_moves());
        }
        assert!(text(&rows).may_be_given_moves() && !text(LENDING).may_be_given_moves());
    }

    #[test]
    fn each_text_is_compiled_once_in_each_of_its_variants() {
        let variants = variants();
        let numbered = |number: usize| {
            let access =
                if number.is_multiple_of(3) { "__PG_LD(f64, 0, 1, a)" } else { "__PG_LD(i32, 0, 1, a)" };
            let few = if number.is_multiple_of(5) { LENDING } else { "" };
            Text { file: number.to_string(), body: format!("{access} {few}") }
        };
        let texts: Vec<Text> = (0..100).map(numbered).collect();
        let programs = programs(&texts, &variants, Choice::InTurn(0));
        let mut compiled: Vec<(&str, *const Variant)> = programs
            .iter()
            .flat_map(|program| {
                program.texts.iter().map(|text| (text.file.as_str(), std::ptr::from_ref(program.variant)))
            })
            .collect();
        let mut wanted: Vec<(&str, *const Variant)> = texts
            .iter()
            .zip(due(&variants, &texts, Choice::InTurn(0)))
            .flat_map(|(text, due)| {
                due.into_iter().map(|i| (text.file.as_str(), std::ptr::from_ref(&variants[i])))
            })
            .collect();
        compiled.sort();
        wanted.sort();
        assert_eq!(compiled, wanted);
        // By itself a text would have the same in front of it, and be optimised.
        let of_all: Vec<&Together<'_>> =
            programs.iter().filter(|p| std::ptr::eq(p.variant, &variants[0])).collect();
        assert!(of_all.len() < 20 && of_all.iter().all(|program| !program.fast));
        for program in of_all {
            let bodies: Vec<&str> = program.texts.iter().map(|text| text.body.as_str()).collect();
            assert_eq!(nvrtc::headers(&bodies), nvrtc::headers(&bodies[..1]));
        }
        // So is some of every variant.
        for variant in programs.iter().map(|program| program.variant) {
            assert!(programs.iter().any(|program| std::ptr::eq(program.variant, variant) && !program.fast));
        }
    }

    #[test]
    fn what_few_texts_have_is_compiled_whenever_it_is_there() {
        let variants = variants();
        let kernels = |body: &str| {
            let due = due(&variants, &[text(body)], Choice::InTurn(3));
            due[0].iter().map(|i| variants[*i].kernel).collect::<Vec<_>>()
        };
        let plain = kernels("__PG_TILE(1, __pg_k1, 0)");
        assert_eq!(plain.len(), 2);
        assert!(plain.iter().all(|kernel| kernel.across.is_none() && !kernel.lends));
        assert!(kernels(NESTS_OF_THREE)[2..].iter().all(|kernel| kernel.across.is_some()));
        let is_sorted = |kernel: &Specialisation| kernel.method == LogMethod::Bitmap && kernel.sorted;
        let lending = kernels(LENDING);
        assert!(lending[2..].iter().all(|k| k.lends && (k.method == LogMethod::None || is_sorted(k))));
        assert!(lending.iter().any(is_sorted));
    }
}
