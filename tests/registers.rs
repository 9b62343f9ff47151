//! Guards change no register that the compiler expects to keep (`codegen::behind`): programs are asked by a runtime that changes all that a function may change, and print what `cc`'s do.
//! And a function whose loop stays has no more to save than `cc`'s.

use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn compile(compiler: &str, flags: &[&str], source: &Path, output: &Path) {
    let mut command = Command::new(compiler);
    command.args(["-std=gnu11", "-w"]).args(flags).arg("-o").arg(output).arg(source).args(["-lm", "-ldl"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{flags:?}: {output:?}");
}

#[test]
fn a_runtime_may_change_what_functions_may_change() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let sources = root().join("c-tests/registers");
    let include = root().join("runtime/include");
    let shared = ["-O1", "-shared", "-fPIC", "-I", include.to_str().unwrap()];
    compile("cc", &shared, &sources.join("runtime.c"), &at("runtime.so"));
    let mut kinds = vec![
        "-O1",
        "-O2",
        "-O3",
        "-Os",
        "-O2 -fno-omit-frame-pointer",
        "-O2 -fPIC",
        "-O2 -fno-pic -no-pie",
        "-O2 -fexceptions",
        "-O2 -fno-asynchronous-unwind-tables -fexceptions",
        "-O2 -fno-ipa-ra",
        "-O2 -fstack-protector-all",
        "-O2 -fcf-protection=full",
        "-O2 -ffunction-sections -Wl,--gc-sections",
    ];
    if std::arch::is_x86_feature_detected!("avx2") {
        kinds.push("-O2 -mavx2");
    }
    if std::arch::is_x86_feature_detected!("avx512f") {
        kinds.extend([
            "-O2 -ffp-contract=off -mavx512f",
            "-O3 -ffp-contract=off -mavx512f -mprefer-vector-width=512",
        ]);
    }
    for kind in kinds {
        let flags: Vec<&str> = kind.split(' ').chain(["-rdynamic"]).collect();
        let source = sources.join("program.c");
        compile("cc", &flags, &source, &at("theirs"));
        let ours: Vec<&str> = flags.iter().copied().chain(["-fparagon-threshold=1"]).collect();
        compile(env!("CARGO_BIN_EXE_paragon-cc"), &ours, &source, &at("ours"));
        let theirs = Command::new(at("theirs")).output().unwrap();
        let ours = Command::new(at("ours")).env("PARAGON_RT", at("runtime.so")).output().unwrap();
        assert!(theirs.status.success() && ours.status.success(), "{kind}: {ours:?}");
        assert!(theirs.stdout == ours.stdout, "{kind}: {}", String::from_utf8_lossy(&ours.stdout));
        let said = String::from_utf8(ours.stderr).unwrap();
        let counts: Vec<u32> = said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        assert!(counts.len() == 3 && counts[0] >= 300, "{kind}: {said}");
        assert!(counts[1] == counts[0] && counts[2] == counts[0], "{kind}: {said}");
    }
}

/// What a function puts away for its caller, by its assembler text.
fn saved(assembler: &str, function: &str) -> usize {
    let body = assembler.split(&format!("\n{function}:\n")).nth(1).unwrap();
    let body = body.split(".cfi_endproc").next().unwrap();
    body.lines().filter(|line| line.trim_start().starts_with("pushq")).count()
}

#[test]
fn a_function_whose_loop_stays_saves_nothing_more() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("a.c");
    let text = "unsigned long sum(const unsigned long *a, unsigned long n, unsigned long p, unsigned long q)\n\
                { unsigned long s = p; for (unsigned long i = 0; i < n; i++) s += a[i] * q; return s + p * q + n; }\n\
                void count(unsigned *counts, const unsigned short *a, unsigned long n)\n\
                { for (unsigned long i = 0; i < n; i++) counts[a[i] >> 4]++; }\n";
    std::fs::write(&source, text).unwrap();
    let assembler = |compiler: &str| {
        let output = folder.path().join("a.s");
        let mut command = Command::new(compiler);
        let done = command.args(["-S", "-O2", "-o"]).arg(&output).arg(&source).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        std::fs::read_to_string(output).unwrap()
    };
    let (theirs, ours) = (assembler("cc"), assembler(env!("CARGO_BIN_EXE_paragon-cc")));
    assert!(ours.contains("__pg_try_0"), "{ours}");
    for function in ["sum", "count"] {
        assert_eq!(saved(&theirs, function), saved(&ours, function), "{function}: {ours}");
    }
}
