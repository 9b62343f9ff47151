//! What the lanes of a GPU's warp tell each other (`c-tests/emulated_gpu/lanes.cpp`), where no GPU is: the emulated one runs a single
//! lane at a time.

#[path = "support/selection.rs"]
mod selection;

use selection::selected;
use std::path::Path;
use std::process::Command;

#[test]
fn lanes_set_the_bits_of_all_and_count_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let (source, headers) = ("c-tests/emulated_gpu/lanes.cpp", "runtime/include");
    for part in [source, headers] {
        let to = folder.path().join(part);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        assert!(Command::new("cp").arg("-r").arg(root.join(part)).arg(to).status().unwrap().success());
    }
    // scripts/mutation-hunt breaks them.
    if let Some(mutation) = std::env::var_os("EMULATED_MUTATION") {
        let mut sed = Command::new("sed");
        let parts = ["body", "kernel"].map(|part| folder.path().join(headers).join(part));
        let parts = parts.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
        sed.args(["-E", "-i", "-e"]).arg(mutation).args(parts.map(|part| part.unwrap().path()));
        assert!(sed.status().unwrap().success());
    }
    let source = folder.path().join(source);
    // Cells counted in 64 bits, in 32, bits that are gathered first, loads that are noted as a range, and stores that are left to others; beside each other.
    let check = |kind: &str| {
        let program = folder.path().join(format!("lanes{kind}"));
        let mut compiler = Command::new("c++");
        compiler.args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Wno-unused", "-Wno-unused-parameter"]);
        compiler.args(["-pthread", kind, "-o"]);
        let built = compiler.arg(&program).arg(&source).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        // Every mutation of scripts/mutations was noticed within 60 rounds.
        let rounds = selected(200, 600).to_string();
        let done = Command::new(program).arg(rounds).output().unwrap();
        assert!(done.status.success(), "{kind}: {}", String::from_utf8_lossy(&done.stderr));
    };
    std::thread::scope(|scope| {
        for kind in ["-D__PG_WIDE", "-D__PG_NARROW", "-D__PG_GATHERS", "-D__PG_RANGES", "-D__PG_JOINED"] {
            let check = &check;
            scope.spawn(move || check(kind));
        }
    });
}

/// What a row's turns load side by side is looked at where the row begins and ends, if that says where all of it is: not where two operands of
/// an address move, whose numbers of 32 bits may wrap around one after the other.
#[test]
fn ends_tell_where_a_row_is_if_one_operand_moves() {
    let folder = tempfile::tempdir().unwrap();
    let loads = |subscript: &str| {
        let text = format!(
            "void f(int n, const int *begin, const double *value, double *out)\n{{\n  for (int i = 0; i < n; i++) {{\n    \
             double sum = 0;\n    for (int k = begin[i]; k < begin[i + 1]; k++)\n      sum += value[{subscript}] * 0.5;\n    \
             out[i] = sum;\n  }}\n}}\n"
        );
        std::fs::write(folder.path().join("f.c"), text).unwrap();
        let mut compiler = Command::new(env!("CARGO_BIN_EXE_paragon-cc"));
        compiler.args(["-O2", "--dump-after=generate", "-c", "f.c", "-o", "f.o"]).current_dir(folder.path());
        let done = compiler.output().unwrap();
        assert!(done.status.success());
        let said = [done.stdout, done.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        (
            said.contains("__PG_LD_ROW, f64") || said.contains("__PG_LD_ROW(f64"),
            said.contains("__PG_LD_ONCE, f64") || said.contains("__PG_LD_ONCE(f64"),
        )
    };
    assert_eq!(loads("k"), (true, false));
    // Kernels look at four of them; a fifth one would keep lanes from lending each other anything.
    let more = |n: usize| (1..n).fold("k".to_owned(), |all, by| format!("{all}] - value[k + {by}"));
    assert_eq!(loads(&more(4)), (true, false));
    assert_eq!(loads(&more(5)), (true, true));
    assert_eq!(loads("2u * k"), (true, false));
    assert_eq!(loads("(unsigned long)(3u * k) - (unsigned long)(2u * k)"), (false, true));
}
