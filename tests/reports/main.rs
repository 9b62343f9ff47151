//! What is told about loops: that every form says the same, that the forms are what tools read, that reports of several
//! compilations don't get in each other's way, and that advice is true: `c-tests/advice` has a program for each kind, whose
//! comments say what is advised of the loop at `here`; followed (`-DADVISED`, or the flags behind `apply:`), it makes the
//! verdict of that loop, or of the one at `then`, better.

mod json_schema;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const PARAGON: &str = env!("CARGO_BIN_EXE_paragon");
const PARAGON_CC: &str = env!("CARGO_BIN_EXE_paragon-cc");

/// A loop that is proven, one that is checked, one with a pair of lines, one that is too short for code, and one in a macro.
const LOOPS: &str = "#define EACH(i, n) for (int i = 0; i < n; i++)\n\
    static int own[16];\n\
    void f(int *a, const int *b, int n) {\n\
    \tfor (int i = 0; i < n; i++) a[i] = 1;\n\
    \tfor (int i = 0; i < n; i++)\n\
    \t\ta[b[i]] += 1;\n\
    \tfor (int i = 1; i < n; i++) a[i] = a[i - 1];\n\
    \tfor (int i = 0; i < 16; i++) own[i] = 1;\n\
    \tEACH(i, n) a[i] = 2;\n\
    }\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f.c"), LOOPS).unwrap();
    folder
}

fn execute(program: &str, folder: &Path, line: &str) -> Output {
    let mut command = Command::new(program);
    command.args(line.split_whitespace()).current_dir(folder).env_remove("PARAGON_CC").output().unwrap()
}

fn told(program: &str, folder: &Path, line: &str) -> String {
    let output = execute(program, folder, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

fn explained(file: &Path, flags: &str) -> Value {
    let line = format!("explain --format json {} -- -O2 {flags}", file.display());
    serde_json::from_str(&told(PARAGON, Path::new(ROOT), &line)).unwrap()
}

// ---- advice

/// From the best verdict to the worst.
fn rank(found: &Value) -> usize {
    let order = [
        ("parallel", "none"),
        ("possibly-parallel", "predicate"),
        ("possibly-parallel", "inspector"),
        ("possibly-parallel", "logs"),
    ];
    let place =
        order.iter().position(|(verdict, check)| found["verdict"] == *verdict && found["check"] == *check);
    place.unwrap_or_else(|| {
        assert_eq!(found["verdict"], "sequential");
        order.len()
    })
}

fn loop_in_line(report: &Value, line: usize) -> &Value {
    let mut of_line = report["loops"].as_array().unwrap().iter().filter(|found| found["line"] == line);
    of_line.next().unwrap_or_else(|| panic!("no loop in line {line} of {report}"))
}

#[test]
fn advice_makes_verdicts_better() {
    let mut given = BTreeSet::new();
    for entry in fs::read_dir(Path::new(ROOT).join("c-tests/advice")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let word = |name: &str| {
            let line = text.lines().find_map(|line| line.split_once(&format!(" {name}: ")));
            line.map(|(_, value)| value.to_owned())
        };
        let line_of = |mark: &str| text.lines().position(|line| line.contains(mark)).map(|line| line + 1);
        let here = line_of("/* here */").unwrap();
        let then = line_of("/* then */").unwrap_or(here);
        let flags = word("flags").unwrap_or_default();
        let apply = word("apply").unwrap_or("-DADVISED".into());
        let (before, after) = (explained(&path, &flags), explained(&path, &format!("{flags} {apply}")));
        let (before, after) = (loop_in_line(&before, here), loop_in_line(&after, then));
        let name = path.display();
        assert_eq!(before["kind"], word("kind").unwrap().as_str(), "{name}");
        let advice = before["advice"].as_array().unwrap();
        let wanted = word("advice").unwrap();
        assert!(advice.iter().any(|advice| advice["kind"] == wanted.as_str()), "{name}: {before}");
        assert!(rank(after) < rank(before), "{name}: before {before}, after {after}");
        given.insert(wanted);
    }
    // Every kind of advice that there is, by its line in the table of identifiers.
    let source = fs::read_to_string(Path::new(ROOT).join("src/loops/reason.rs")).unwrap();
    let lines = source.lines().filter(|line| line.trim_start().starts_with("Advice::"));
    let known: BTreeSet<String> =
        lines.filter_map(|line| line.split_once("=> \"")?.1.split('"').next().map(str::to_owned)).collect();
    assert!(known.len() > 10);
    assert_eq!(given, known);
}

/// Pragmas and flags are advice that can be followed without a person: in every program that there is.
#[test]
fn advice_is_true_of_every_program() {
    let in_folder = |name: &str| fs::read_dir(Path::new(ROOT).join("c-tests").join(name)).unwrap();
    let entries = ["chapter", "features", "regressions", "advice"].into_iter().flat_map(in_folder);
    let sources: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    let (next, followed) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for kind in follow_advice(source) {
                        *followed.lock().unwrap().entry(kind).or_insert(0) += 1;
                    }
                }
            });
        }
    });
    let followed = followed.into_inner().unwrap();
    assert!(followed.len() == 4 && followed["assert-unchecked"] > 30, "{followed:?}");
    eprintln!("advice that was followed: {followed:?}");
}

/// Sees of each advice of such a kind that it makes a verdict better; the kinds, as often as they were advised.
fn follow_advice(source: &Path) -> Vec<&'static str> {
    let text = fs::read_to_string(source).unwrap();
    // What says something already would contradict itself.
    if text.contains("paragon independent") {
        return Vec::new();
    }
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join(source.file_name().unwrap());
    let include = format!("-I {}", source.parent().unwrap().display());
    let [usual, fused] = ["", "-mfma"].map(|flags| explained(source, &format!("{flags} {include}")));
    let mut followed = Vec::new();
    for (kind, pragma, before, flags) in [
        ("assert-independent", Some("independent"), &usual, ""),
        ("assert-unchecked", Some("independent unchecked"), &usual, ""),
        ("reassociate", None, &usual, "-fparagon-reassoc"),
        ("no-contraction", None, &fused, "-mfma -ffp-contract=off"),
    ] {
        let own: Vec<&Value> = (before["loops"].as_array().unwrap().iter())
            .filter(|found| found["file"] == source.to_str().unwrap() && !found["column"].is_null())
            .collect();
        let advised = |found: &&&Value| {
            let advice = found["advice"].as_array().unwrap();
            advice.iter().any(|advice| advice["kind"] == kind)
        };
        let advised: Vec<&&Value> = own.iter().filter(advised).collect();
        if advised.is_empty() {
            continue;
        }
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        // From the right to the left, so that columns stay what they are.
        for found in advised.iter().rev() {
            let (line, column) = (found["line"].as_u64().unwrap(), found["column"].as_u64().unwrap());
            let line = &mut lines[line as usize - 1];
            let at = line.char_indices().nth(column as usize - 1).unwrap().0;
            if let Some(words) = pragma {
                line.insert_str(at, &format!("_Pragma(\"paragon {words}\") "));
            }
        }
        fs::write(&copy, lines.join("\n")).unwrap();
        let after = explained(&copy, &format!("{flags} {include}"));
        let after: Vec<&Value> = after["loops"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|l| l["file"] == copy.to_str().unwrap())
            .collect();
        for found in advised {
            let place =
                |l: &Value| (l["line"].as_u64(), own.iter().filter(|o| o["line"] == l["line"]).count());
            let same_line = own.iter().filter(|o| o["line"] == found["line"]);
            let number = same_line.clone().position(|o| std::ptr::eq(*o, *found)).unwrap();
            let then = after.iter().filter(|l| l["line"] == found["line"]).nth(number).unwrap();
            assert!(place(then).1 == same_line.count() && rank(then) < rank(found), "{kind}: {found} {then}");
            followed.push(kind);
        }
    }
    followed
}

/// The page for people who read reports by program names every identifier.
#[test]
fn identifiers_are_documented() {
    let page = fs::read_to_string(Path::new(ROOT).join("docs/reports.md")).unwrap();
    let source = fs::read_to_string(Path::new(ROOT).join("src/loops/reason.rs")).unwrap();
    let quoted = source.split('"').skip(1).step_by(2);
    let is_identifier =
        |text: &&str| text.contains('-') && text.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let identifiers: BTreeSet<&str> = quoted.filter(is_identifier).collect();
    assert!(identifiers.len() > 30, "{identifiers:?}");
    for identifier in identifiers {
        assert!(page.contains(&format!("`{identifier}`")), "{identifier}");
    }
}

// ---- forms

#[test]
fn json_has_everything() {
    let folder = folder();
    let text = told(PARAGON_CC, folder.path(), "-O2 -fparagon-report=json -c f.c");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["version"], 1);
    let loops = report["loops"].as_array().unwrap();
    let verdicts: Vec<_> =
        loops.iter().map(|l| (l["line"].as_u64().unwrap(), l["verdict"].as_str().unwrap())).collect();
    let wanted =
        [(4, "parallel"), (5, "possibly-parallel"), (7, "sequential"), (8, "parallel"), (9, "parallel")];
    assert_eq!(verdicts, wanted);
    // A tab is one column; a loop that a macro makes has none.
    let columns: Vec<_> = loops.iter().map(|l| l["column"].as_u64()).collect();
    assert_eq!(columns, [Some(2), Some(2), Some(2), Some(2), None]);
    assert_eq!(loops[1]["check"], "inspector");
    assert_eq!(
        (&loops[1]["kind"], &loops[2]["kind"]),
        (&"unresolved-pair".into(), &"carried-dependence".into())
    );
    let place = |access: &Value| {
        let number = |name: &str| access[name].as_u64().unwrap();
        (access["kind"].as_str().unwrap().to_owned(), number("line"), number("column"))
    };
    let accesses: Vec<_> = loops[2]["accesses"].as_array().unwrap().iter().map(place).collect();
    assert_eq!(accesses, [("store".into(), 7, 30), ("load".into(), 7, 37)]);
    assert_eq!(loops[3]["left_out"], "it is never long enough to be entered");
    assert!(loops[0]["left_out"].is_null());
}

#[test]
fn remarks_are_those_that_were_asked_for() {
    let folder = folder();
    let all = told(PARAGON_CC, folder.path(), "-O2 -fparagon-report=remarks -c f.c");
    let asked = |flags: &str| told(PARAGON_CC, folder.path(), &format!("-O2 {flags} -c f.c"));
    let lines = |ending: &str| {
        let lines = all.lines().filter(|line| line.ends_with(ending));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    for option in ["-Rpass=paragon", "-Rpass-missed=paragon", "-Rpass-analysis=paragon"] {
        let wanted = lines(&format!(" [{option}]"));
        assert!(!wanted.is_empty(), "{option}: {all}");
        assert_eq!(asked(option), wanted);
    }
    assert_eq!(asked("-Rpass=paragon -Rpass-missed=paragon -Rpass-analysis=paragon"), all);
    assert_eq!(asked(""), "");
    let first = all.lines().next().unwrap();
    assert!(first.starts_with("f.c:4:2: remark: loop in 'f' may run in parallel: "), "{first}");
    assert!(all.contains("f.c:7:2: remark: loop in 'f' stays sequential: "), "{all}");
    assert!(all.contains("f.c:7:37: remark: load of a[i-1], for the loop in line 7: "), "{all}");
    assert!(all.contains("f.c:8:2: remark: loop in 'f' is left as it stood: "), "{all}");
    // Other passes' names are the real compiler's business.
    let other = execute(PARAGON_CC, folder.path(), "-O2 -Rpass=loop-vectorize -Wl,-Rpass f.c");
    let theirs = execute("gcc", folder.path(), "-O2 -Rpass=loop-vectorize -Wl,-Rpass f.c");
    let seen =
        |output: Output| (output.status.code(), String::from_utf8(output.stderr).unwrap().contains("remark"));
    assert_eq!(seen(other), seen(theirs));
}

/// The official schema (of the OASIS committee, `oasis-tcs/sarif-spec`) has nothing to say against the log, and all of it is known there.
#[test]
fn sarif_is_what_the_schema_says() {
    let schema: Value = serde_json::from_str(include_str!("sarif-schema-2.1.0.json")).unwrap();
    let folder = folder();
    let wrong = "#pragma paragon forbid\nint x;\n";
    fs::write(folder.path().join("g.c"), format!("{LOOPS}{wrong}")).unwrap();
    for (file, fails) in [("f.c", false), ("g.c", true)] {
        let output = execute(PARAGON, folder.path(), &format!("explain --format sarif {file} -- -O2"));
        assert_eq!(output.status.success(), !fails);
        let log: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json_schema::differences(&schema, &log), Vec::<String>::new());
        if !fails {
            what_is_broken_is_noticed(&schema, &log);
        }
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), 5 + usize::from(fails));
        for result in results {
            assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize]["id"], result["ruleId"]);
            let (kind, level) = (result["kind"].as_str().unwrap(), result["level"].as_str().unwrap());
            // What is no failure has no level.
            assert!(matches!((kind, level), ("pass", "none") | ("fail", "note" | "error")), "{kind} {level}");
            assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], file);
        }
        let errors = results.iter().filter(|result| result["level"] == "error").count();
        assert_eq!(errors, usize::from(fails));
        let carried = results.iter().find(|result| result["ruleId"] == "carried-dependence").unwrap();
        let region = &carried["relatedLocations"][1]["physicalLocation"]["region"];
        assert_eq!((&region["startLine"], &region["startColumn"]), (&7.into(), &37.into()));
    }
}

/// The schema is really asked: each of these has something against it.
fn what_is_broken_is_noticed(schema: &Value, log: &Value) {
    for (at, wrong) in [
        ("/$schema", "no URI".into()),
        ("/version", "2.0".into()),
        ("/runs", Value::Null),
        ("/runs/0/tool", serde_json::json!({})),
        ("/runs/0/tool/driver/version", 1.into()),
        ("/runs/0/columnKind", "bytes".into()),
        ("/runs/0/tool/driver/rules/1", log["runs"][0]["tool"]["driver"]["rules"][0].clone()),
        ("/runs/0/results/0/kind", "failed".into()),
        ("/runs/0/results/0/ruleIndex", (-2).into()),
        ("/runs/0/results/0/message", serde_json::json!({})),
        ("/runs/0/results/0/locations/0/physicalLocation", serde_json::json!({ "region": {} })),
        ("/runs/0/results/0/locations/0/physicalLocation/region/startLine", 0.into()),
        ("/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri", "a b.c".into()),
        ("/runs/0/results/0/locations/0/logicalLocations/0", serde_json::json!({ "line": 1 })),
    ] {
        let mut broken = log.clone();
        *broken.pointer_mut(at).expect(at) = wrong;
        assert!(!json_schema::differences(schema, &broken).is_empty(), "{at}");
    }
}

#[test]
fn an_unknown_form_is_an_error() {
    let folder = folder();
    for value in ["xml", "", "json:", "JSON"] {
        let output =
            execute(PARAGON_CC, folder.path(), &format!("-O2 -fparagon-report={value} -c f.c -o x.o"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && !folder.path().join("x.o").exists(), "{value}");
        assert!(
            said.starts_with("paragon-cc: error: -fparagon-report: ") && said.lines().count() == 1,
            "{said}"
        );
    }
    assert!(!execute(PARAGON, folder.path(), "explain --format xml f.c").status.success());
}

// ---- files

fn read_json(path: PathBuf) -> Value {
    serde_json::from_slice(&fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
        .unwrap()
}

#[test]
fn a_command_with_several_inputs_makes_one_report() {
    let folder = folder();
    fs::write(folder.path().join("g.c"), LOOPS.replace("void f", "int main(void) { return 0; }\nvoid g"))
        .unwrap();
    let said =
        told(PARAGON_CC, folder.path(), "-O2 -fparagon-report=json:all.json -fparagon-report=text f.c g.c");
    let report = read_json(folder.path().join("all.json"));
    let files: Vec<_> =
        report["loops"].as_array().unwrap().iter().map(|l| l["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["f.c"; 5].into_iter().chain(["g.c"; 5]).collect::<Vec<_>>());
    assert!(said.contains("f.c:4: in f: parallel") && said.contains("g.c:5: in g: parallel"), "{said}");
}

/// Many at once: a file is always one compilation's, and in a folder nothing gets lost.
#[test]
fn compilations_at_the_same_time() {
    let folder = folder();
    let at = folder.path();
    fs::create_dir(at.join("sub")).unwrap();
    let mut children = Vec::new();
    for number in 0..12 {
        let place = if number % 2 == 0 { "" } else { "sub/" };
        let name = format!("{place}x{}.c", number / 2);
        fs::write(at.join(&name), LOOPS.replace("void f", &format!("void f{number}"))).unwrap();
        let object = name.replace(".c", ".o");
        let line =
            format!("-O2 -fparagon-report=json:one.json -fparagon-report=sarif:all/ -c {name} -o {object}");
        children.push(Command::new(PARAGON_CC).args(line.split(' ')).current_dir(at).spawn().unwrap());
    }
    // Whoever looks while they write sees a whole report, too.
    let (mut seen, mut running) = (0, true);
    while running {
        running = children.iter_mut().any(|child| child.try_wait().unwrap().is_none());
        if let Ok(text) = fs::read_to_string(at.join("one.json")) {
            assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
            seen += 1;
        }
    }
    assert!(seen > 0);
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(read_json(at.join("one.json"))["loops"].as_array().unwrap().len(), 5);
    let names: BTreeSet<String> = fs::read_dir(at.join("all"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    let prefix = fs::canonicalize(at).unwrap().display().to_string().replace('/', "#");
    let wanted: BTreeSet<String> = (0..6)
        .flat_map(|n| [format!("{prefix}#x{n}.o.sarif"), format!("{prefix}#sub#x{n}.o.sarif")])
        .collect();
    assert_eq!(names, wanted);
    for name in names {
        assert_eq!(read_json(at.join("all").join(name))["runs"][0]["results"].as_array().unwrap().len(), 5);
    }
}

/// A report that can't be written costs a warning; what is no file is written to, and not replaced.
#[test]
fn files_that_are_none() {
    let folder = folder();
    let said = told(PARAGON_CC, folder.path(), "-O2 -fparagon-report=text:nowhere/x.txt -c f.c");
    assert!(
        said.starts_with("paragon-cc: warning: nowhere/x.txt: ") && folder.path().join("f.o").exists(),
        "{said}"
    );
    let said = told(PARAGON_CC, folder.path(), "-O2 -fparagon-report=text:/proc/self/fd/2 -c f.c");
    assert!(said.contains("f.c:4: in f: parallel"), "{said}");
    std::os::unix::fs::symlink("real.txt", folder.path().join("link.txt")).unwrap();
    fs::write(folder.path().join("real.txt"), "old").unwrap();
    told(PARAGON_CC, folder.path(), "-O2 -fparagon-report=text:link.txt -c f.c");
    assert!(fs::read_to_string(folder.path().join("real.txt")).unwrap().contains("f.c:4: in f: parallel"));
    assert!(fs::symlink_metadata(folder.path().join("link.txt")).unwrap().is_symlink());
}

#[test]
fn interchanged_nests_are_told() {
    let folder = folder();
    let text = "double c[999], a[999][999];\n\
        void g(const double *x, int n, int m) {\n\
        \tfor (int i = 0; i < n; i++)\n\
        \t\tfor (int j = 0; j < m; j++)\n\
        \t\t\tc[j] += a[i][j] * 0.5;\n\
        \tfor (int i = 0; i < n; i++)\n\
        \t\tfor (int j = 0; j < m; j++)\n\
        \t\t\tc[j] += c[j + 1] * 0.5;\n\
        \tfor (int i = 0; i < n; i++)\n\
        \t\tfor (int j = 0; j < 400; j++) {\n\
        \t\t\ta[i][j + 1] = a[i][j] + 1;\n\
        \t\t\tc[j] = c[j] * 3 + 1;\n\
        \t\t}\n\
        }\n";
    let file = folder.path().join("g.c");
    fs::write(&file, text).unwrap();
    let report = explained(&file, "");
    let outer = loop_in_line(&report, 3);
    assert_eq!((&outer["verdict"], &outer["kind"]), (&"parallel".into(), &"interchanged".into()));
    assert!(outer["reason"].as_str().unwrap().starts_with("with the loop in line 4 outermost: "), "{outer}");
    // The loop inside is told of as it stands.
    assert_eq!(loop_in_line(&report, 4)["kind"], "independent");
    // Its iterations meet, in whichever order.
    let reason = loop_in_line(&report, 6)["reason"].as_str().unwrap();
    assert!(!reason.contains("outermost"), "{reason}");
    // The first statement keeps the columns in order, the second one the rows: no order of the whole nest will do.
    assert_eq!(loop_in_line(&report, 9)["kind"], "distributed", "{}", loop_in_line(&report, 9));
}
