//! The files that command lines name. What is asked of compilers with them is in `lines.rs`.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

pub const LOOP: &str = "#include \"b.h\"\n\nvoid f(int *a, const int *b, int n)\n{\n\tint i;\n\tfor (i = 0; i < n; i++)\n\t\ta[i] = b[i] * X + i;\n}\n";

/// Texts whose warnings depend on what the compiler makes of a loop, or stand close to one: `m0.c` and so on.
pub const WITH_MESSAGES: &[&str] = &[
    "void m(int *p, int n) { int start; for (int i = start; i < n; i++) p[i] = i; }",
    "void m(int *p, int n) { int stop; for (int i = 0; i < n; i++) p[i] += stop; }",
    "int t[8]; void m(int *p, int n) { for (int i = 0; i <= 8; i++) t[i] = p[i]; for (int i = 0; i < n; i++) p[i] = t[0]; }",
    "int m(int *p, int n) { int last; for (int i = 0; i < n; i++) { p[i] = i; last = i; } return last; }",
    "#include <stdlib.h>\nvoid m(int n) { int *p = malloc(4); for (int i = 0; i < 2000; i++) p[i] = i; free(p); for (int i = 0; i < n; i++) p[i] = i; }",
    "int m(int n) { int a[100]; int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }",
    "static void unused(int *p, int n) { for (int i = 0; i < n; i++) p[i] = i; }",
    "void m(int *p, unsigned n) { for (int i = 0; i < n; i++) p[i] = i; }",
    "void m(int *p, int n) {\n#pragma GCC unroll 4\nfor (int i = 0; i < n; i++) p[i] = i;\n#pragma GCC ivdep\nfor (int i = 0; i < n; i++) p[i] *= i; }",
    "void m(int *p, int n) {\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) p[i] = i; }",
    "void m(int *p, int n) { if (n)\n for (int i = 0; i < n; i++) p[i] = i;\n  p[1] = 2; }",
    "void m(int *p, int n) {\n  for (int i = 0; i < n; i++)\n    p[i] = i;\n    p[1] = 2;\n}",
    "void m(int *p, int n) { if (n) for (int i = 0; i < n; i++) if (p[i]) p[i] = i; else p[i] = 2; }",
    "extern void *dlsym(void *, const char *);\nextern void *malloc(unsigned long);\nvoid m(int *p, int n) { for (int i = 0; i < n; i++) p[i] = i; }",
    "void m(int *p, int n) {\n#pragma GCC diagnostic error \"-Wunused\"\n for (int i = 0; i < n; i++) { int u; p[i] = i; } }",
];

/// The files of a fresh folder.
pub fn sources() -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut add = |name: &[u8], text: &[u8]| {
        files.insert(name.to_vec(), text.to_vec());
    };
    for (number, text) in WITH_MESSAGES.iter().enumerate() {
        add(format!("m{number}.c").as_bytes(), text.as_bytes());
    }
    add(b"loop.c", LOOP.as_bytes());
    add(b"b.h", b"#ifndef X\n#define X 3\n#endif\n#define N 7000\nvoid f(int *, const int *, int);\n");
    add(
        b"main.c",
        b"#include <stdio.h>\n#include \"b.h\"\nstatic int a[N], b[N];\nint main(void)\n{\n  for (int i = 0; i < N; i++) b[i] = i * 5;\n  f(a, b, N);\n  printf(\"%d\\n\", a[N - 1]);\n  return 0;\n}\n",
    );
    add(b"plain.c", b"int g(int x) { return x + 1; }\n");
    add(
        b"warns.c",
        b"void g(unsigned u, int *p, int n)\n{\n  int unused; int late;\n  for (int i = 0; i < n; i++) p[i] = i + 1;\n  if (n > 3) late = 1;\n  p[0] = late;\n  if (u == n) p[1] = \"text\";\n}\n",
    );
    add(
        b"warning.c",
        b"#include <string.h>\n#warning \"said by the preprocessor\"\nvoid h(int *p, int n)\n{\n  for (int i = 0; i < n; i++) p[i] *= 3;\n}\n",
    );
    add(
        b"middle.c",
        b"int table[8];\nvoid m(int *p, int n)\n{\n  int start, stop;\n  for (int i = start; i < n; i++) p[i] = i;\n  for (int i = 0; i < n; i++) p[i] += stop;\n  for (int i = 0; i <= 8; i++) table[i] = i * p[0];\n  __builtin_memset(table, 0, 64);\n}\n",
    );
    add(
        b"error.c",
        b"int e(int *p, int n)\n{\n  for (int i = 0; i < n; i++) p[i] = undeclared;\n  return 0\n}\n",
    );
    add(
        b"latin.c",
        &[
            LOOP.as_bytes(),
            b"/* \xe4\xf6\xfc */ const char *text = \"\xe4\"; int size = sizeof \"\xe4\xf6\"; // \xdf\n",
        ]
        .concat(),
    );
    add(b"latin_char.c", &[LOOP.as_bytes(), b"int c = '\xe4';\n"].concat());
    add(b"utf8.c", &[LOOP.as_bytes(), "const char *text = \"äö→\"; /* é */\n".as_bytes()].concat());
    add(b"bom.c", &[b"\xef\xbb\xbf".as_slice(), LOOP.as_bytes()].concat());
    add(b"crlf.c", LOOP.replace('\n', "\r\n").as_bytes());
    add(b"open.c", LOOP.trim_end().as_bytes());
    add(b"empty.c", b"");
    add(b"with space.c", LOOP.as_bytes());
    add(b"quo\"te.c", LOOP.as_bytes());
    add(b"dollar$.c", LOOP.as_bytes());
    add(b"b\xe4.c", LOOP.as_bytes());
    add(b"text.txt", LOOP.as_bytes());
    add(b"-dash.c", LOOP.as_bytes());
    add(
        b"names.c",
        &[LOOP.as_bytes(), b"#include <stdio.h>\nint main(void) { puts(__BASE_FILE__ \" \" __FILE__ \" \" __TIMESTAMP__); printf(\"%d %d\\n\", __INCLUDE_LEVEL__, __LINE__); return 0; }\n"].concat(),
    );
    add(b"assembly.s", b"\t.globl from_s\nfrom_s:\n\tret\n\t.section .note.GNU-stack,\"\",@progbits\n");
    add(b"preprocessed.S", b"#include \"b.h\"\n#ifdef N\n\t.globl from_big_s\nfrom_big_s:\n\tret\n#endif\n\t.section .note.GNU-stack,\"\",@progbits\n");
    add(b"plus.cc", b"int plus() { return 1; }\n");
    add(b"ready.i", b"# 1 \"ready.c\"\nint ready;\n");
    add(b"flags", b"-O2 -Wall\n");
    add(b"input", b"loop.c\n-O2");
    add(b"nested", b"-c @flags 'loop.c'\n");
    add(b"quoted", b"-O2 \"-DX=(1 + 2)\" -c with\\ space.c -o 'an object.o'");
    add(b"circle", b"@circle -c");
    add(b"version", b"{ global: f; local: *; };\n");
    add(b"force.h", b"#define X 9\n");
    add(b"twice.c", b"#include \"t.h\"\n#define SECOND\n#include \"t.h\"\n#include \"b.h\"\nvoid k(int *a, int n) { for (int i = 0; i < n; i++) a[i]++; }\n");
    add(b"t.h", b"#ifdef SECOND\nstatic void second(int *a, int n) { for (int i = 0; i < n; i++) a[i] = 2; }\nvoid two(int *a, int n) { second(a, n); }\n#else\nstatic inline void first(int *a, int n) { for (int i = 0; i < n; i++) a[i] = 1; }\nvoid one(int *a, int n) { first(a, n); }\n#endif\n");
    add(
        b"old.c",
        b"void old(a, n) int *a; int n; { int i; for (i = 0; i < n; i++) a[i] = i; }\nasm(\"\");\n",
    );
    add(
        b"linker.c",
        b"#include <stdio.h>\nchar *tmpnam(char *);\nint a[9000];\nint main(int c, char **v)\n{\n  int unused;\n  for (int i = 0; i < c * 8000; i++) a[i] = i;\n  if (c > 9) puts(tmpnam(0));\n  return 0;\n}\n",
    );
    files
}

/// Objects that inputs refer to, made once.
pub fn objects() -> BTreeMap<Vec<u8>, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("plain.c"), "int g(int x) { return x + 1; }\n").unwrap();
    let run = |command: &str, words: &[&str]| {
        assert!(Command::new(command).args(words).current_dir(folder.path()).status().unwrap().success());
    };
    run("gcc", &["-O2", "-c", "plain.c"]);
    run("ar", &["rcsD", "libplain.a", "plain.o"]);
    let read = |name: &str| (name.as_bytes().to_vec(), fs::read(folder.path().join(name)).unwrap());
    [read("plain.o"), read("libplain.a")].into()
}
