//! Lowering of each kind of thing in C, seen in the dump.

use std::process::Command;

use crate::c::constant;
use crate::c::dialect::Dialect;
use crate::c::dump::{dump, type_text};
use crate::c::hir::*;
use crate::c::lower_unit;

fn lower(text: &str) -> TranslationUnit {
    let unit = lower_unit(text, &Dialect::default());
    if let Some(violation) = super::verify::violation(&unit) {
        panic!("{violation}\n{}", dump(&unit));
    }
    unit
}

/// The dump of `text`, of which nothing may be refused.
fn dumped(text: &str) -> String {
    let unit = lower(text);
    assert!(unit.refused.is_empty(), "{:?}", unit.refused);
    dump(&unit)
}

/// What the statements of `int f() { ... }` behind some declarations are lowered to, a line each.
fn body(declarations: &str, statements: &str) -> Vec<String> {
    let text = dumped(&format!("{declarations}\nvoid f(void) {{ {statements} }}"));
    let from = text.find("fn f(").unwrap_or(0);
    text[from..].lines().skip(1).map(str::to_owned).collect()
}

/// Checks one expression statement after another.
fn expressions(declarations: &str, cases: &[(&str, &str)]) {
    for (text, wanted) in cases {
        let lines = body(declarations, &format!("{text};"));
        assert_eq!(lines.join("\n").trim(), *wanted, "{text}");
    }
}

fn refusal(text: &str) -> String {
    let unit = lower(text);
    assert_eq!(unit.refused.len(), 1, "{text}\n{}", dump(&unit));
    unit.refused[0].reason.clone()
}

#[test]
fn ordinary_c_is_lowered() {
    let unit = lower(
        "typedef struct site { short x, y; int index; double *row; } site;\n\
         enum direction { UP, DOWN = 5 };\n\
         static site lattice[100]; extern int n; unsigned char bytes[] = \"abc\";\n\
         void *malloc(unsigned long); double sqrt(double);\n\
         static double f(double **a, const float *restrict b, unsigned m, site *s) {\n\
           double sum = 0; int i, *q = (int *)b;\n\
           for (i = 0; i < n; i++) { if (a[i][m] > (float)i) continue; sum += sqrt(a[i][1]) * b[i + DOWN]; }\n\
           for (unsigned k = m; k-- > 0;) *q++ = s->index, lattice[k].x = (short)k;\n\
           do { n -= 2; } while (n > 0);\n\
           switch (n) { case 1: sum++; break; default: sum--; }\n\
           s->row = malloc(n * sizeof *s->row);\n\
           return sum ? sum : -1;\n\
         }\n",
    );
    assert!(unit.refused.is_empty(), "{:?}", unit.refused);
    assert_eq!((unit.functions.len(), unit.allocations.len()), (1, 1));
    let size = |name: &str| {
        let variable = unit.variables.iter().find(|v| v.name == name)?;
        unit.types.size_of(variable.ty.ty)
    };
    assert_eq!((size("bytes"), size("lattice")), (Some(4), Some(1600)));
}

#[test]
fn arithmetic_conversions() {
    expressions(
        "char c; short s; int i; unsigned u; long l; unsigned long ul; float x; double d; _Bool b; enum { A, B = 7 } e;",
        &[
            ("i = c + s", "i = ((int)c + (int)s)"),
            ("c = c + 1", "c = (char)((int)c + 1)"),
            ("u = i + u", "u = ((unsigned int)i + u)"),
            ("l = u + l", "l = ((long)u + l)"),
            ("ul = l * ul", "ul = ((unsigned long)l * ul)"),
            ("x = x * i", "x = (x * (float)i)"),
            ("d = x * 2.5", "d = ((double)x * 2.5e0)"),
            ("x = 0.1f", "x = 1.0000000149011612e-1f"),
            ("l = i << l", "l = (long)(i << l)"),
            ("i = -c", "i = -(int)c"),
            ("i = ~c++", "i = ~(int)c post+= 1"),
            ("i = !d", "i = !d"),
            ("b = i", "b = (_Bool)i"),
            ("b = 0.5", "b = (_Bool)5e-1"),
            ("i = u > i", "i = (u > (unsigned int)i)"),
            ("i = e == B", "i = ((unsigned int)e == 7u)"),
            ("i = c && d", "i = (c && d)"),
            ("x += d", "x += d in double"),
            ("c += 1", "c += 1 in int"),
            ("c <<= l", "c <<= l in int"),
            ("i = 2 * 3 + 1", "i = 7"),
            ("i = 2147483647 + 1", "i = (2147483647 + 1)"),
            ("ul = sizeof(int) * i", "ul = (4ul * (unsigned long)i)"),
            ("d = i ? x : d", "d = (i ? (double)x : d)"),
            ("i = (c, s)", "i = (int)(c , s)"),
            ("(void)i", "(void)i"),
            ("u = (unsigned char)300", "u = 44u"),
            ("i = 'a' + '\\n'", "i = 107"),
            ("i = 0x80000000 > 0", "i = 1"),
            ("i = c ?: s", "i = (c ? (int)c : (int)s)"),
        ],
    );
}

#[test]
fn pointers_and_arrays() {
    expressions(
        "double *p, *q, m[3][4]; int i; unsigned u; long l; char *s; void *v; int (*row)[5]; const char *t; int f1(int); int (*g)(int);",
        &[
            ("p[i] = 1", "*(p +8* i) = (double)1"),
            ("i[p] = 1", "*(p +8* i) = (double)1"),
            ("m[i][2] = *p", "*(&*(&m +32* i) +8* 2) = *p"),
            ("p = p + u", "p = (p +8* u)"),
            ("p = p - i", "p = (p +8* -(long)i)"),
            ("p -= u", "p +8*= -(long)u"),
            ("p += 3", "p +8*= 3"),
            ("l = p - q", "l = (p -/8 q)"),
            ("*p++ = *--q", "*p post+= 8 = *q pre+= -8"),
            ("p = &m[1][2]", "p = (&*(&m +32* 1) +8* 2)"),
            ("p = *m", "p = &*&m"),
            ("v = p", "v = (*void)p"),
            ("v = v + 1", "v = (v +1* 1)"),
            ("row++", "row post+= 20"),
            ("i = p == 0", "i = (p == (*double)0)"),
            ("i = p < q && !s", "i = ((p < q) && !s)"),
            ("s = i ? \"a\" \"b\" : 0", "s = (i ? \"ab\" : (*char)0)"),
            ("t = s", "t = (*const char)s"),
            (
                "i = f1(2.5) + g(i) + (*g)(i) + (&f1)(i)",
                "i = (((f1((int)2.5e0) + (*g)(i)) + (*g)(i)) + f1(i))",
            ),
            ("g = f1", "g = &f1"),
            ("g = &f1", "g = &f1"),
            ("i = sizeof m / sizeof *m + sizeof \"abc\"", "i = 7"),
        ],
    );
}

#[test]
fn records() {
    expressions(
        "struct S { char c; struct { int x; union { float y; int z; }; } in; unsigned a : 3, b : 30; struct S *next; double v[2]; } s, *p; \
         volatile struct S w; int i; unsigned u; unsigned long wide(struct S *);",
        &[
            ("s.in.x = 1", "s.in@4.x@0 = 1"),
            ("p->in.z = s.in.y", "*p.in@4.@4.z@0 = (int)s.in@4.@4.y@0"),
            ("i = s.a - 1", "i = ((int)s.a@12:0+3 - 1)"),
            ("u = s.b + 1u", "u = ((unsigned int)(int)s.b@16:0+30 + 1u)"),
            ("p->next->v[1] = 2", "*(&**p.next@24.v@32 +8* 1) = (double)2"),
            ("s = *p", "s = *p"),
            ("w.c++", "volatile w.c@0 post+= 1"),
            ("i = (int)__builtin_offsetof(struct S, v[1])", "i = 40"),
            ("i = (int)(long)&((struct S *)0)->next", "i = (int)(long)&*(*struct S)0.next@24"),
        ],
    );
    let unit = lower("struct S { int a; int b; } s; int *f(void) { return &s.b; }");
    assert!(unit.variables.iter().any(|v| v.name == "s" && v.address_taken));
}

#[test]
fn statements() {
    let text = dumped(
        "int n; void g(int);\n\
         void f(int k) {\n\
           for (int i = 0, j = 1; i < n; i++, j--) g(i);\n\
           while (k) { if (k == 3) break; else continue; }\n\
           do k--; while (k > 0); while (n) ;\n\
           switch (k) { case 1: case 2: g(1); g(2); break; case 'a' ... 'c': default: ; }\n\
           again: for (;;) if (k) goto again; else for (;;) return;\n\
         }",
    );
    let wanted = "\
fn f(k: int) void
  let i: int = 0
  let j: int = 1
  for#0 while (i < n) step (i post+= 1 , j post+= -1)
    g(i)
  while#1 while k
    if (k == 3)
      break
    else
      continue
  do#2 (0 of 3) while (k > 0)
    k post+= -1
  while#3 (2 of 3) while n
    ;
  switch k
    case 1:
      ;
    case 2:
      g(1)
    g(2)
    break
    case 97..99:
      ;
    default:
      ;
  again:
    for#4 (0 of 2)
      if k
        goto again
      else
        for#5 (1 of 2) unbraced
          return
";
    assert_eq!(text, wanted);
}

#[test]
fn a_label_takes_one_statement() {
    let lines = body(
        "int n; void g(int);",
        "switch (n) { case 1: if (n) case 2: g(1); g(2); while (n) case 3: g(3); L: case 4: g(4); g(5); }",
    );
    let wanted = [
        "  switch n",
        "    case 1:",
        "      if n",
        "        case 2:",
        "          g(1)",
        "    g(2)",
        "    while#0 unbraced while n",
        "      case 3:",
        "        g(3)",
        "    L:",
        "      case 4:",
        "        g(4)",
        "    g(5)",
    ];
    assert_eq!(lines, wanted);
}

#[test]
fn declarations() {
    let unit = lower(
        "typedef double row[4]; typedef int fn(int, char *); fn callee; extern int later[]; int later[7];\n\
         static int tentative; static int tentative = 3; static row *rows; const volatile unsigned reg;\n\
         char text[] = \"abc\"; int list[] = { 1, [5] = 2, 3 }; struct P { int x, y; } points[] = { 1, 2, { 3 }, 4, 5 };\n\
         int old(a, b) float b; { return a + b; }\n\
         int (*table[2])(void); extern double elsewhere; __thread int own; int (*ret(int))[3];\n\
         void f(row a, int n, double b[n][n], double c[static 3], int d(int)) { extern int inside; static int kept = 2; int vla[n]; inside = kept + vla[1]; }",
    );
    assert!(unit.refused.is_empty(), "{:?}", unit.refused);
    let of = |name: &str| {
        let variable = unit.variables.iter().find(|v| v.name == name).unwrap_or_else(|| panic!("{name}"));
        let external = if variable.is_extern { " extern" } else { "" };
        format!("{:?} {}{external}", variable.storage, type_text(&unit.types, variable.ty))
    };
    for (name, wanted) in [
        ("callee", "Global fn(int, *char) int extern"),
        ("later", "Global [7]int"),
        ("tentative", "Global int"),
        ("rows", "Global *[4]double"),
        ("reg", "Global const volatile unsigned int"),
        ("text", "Global [4]char"),
        ("list", "Global [7]int"),
        ("points", "Global [3]struct P"),
        ("old", "Global fn(?) int"),
        ("b", "Param float"),
        ("table", "Global [2]*fn() int"),
        ("elsewhere", "Global double extern"),
        ("own", "ThreadLocal int"),
        ("ret", "Global fn(int) *[3]int extern"),
        ("a", "Param int"),
        ("c", "Param *double"),
        ("d", "Param *fn(int) int"),
        ("inside", "Global int extern"),
        ("kept", "StaticLocal int"),
        ("vla", "Local [?]int"),
    ] {
        assert_eq!(of(name), wanted, "{name}");
    }
    assert_eq!(unit.variables.iter().filter(|v| v.name == "later" || v.name == "tentative").count(), 2);
}

#[test]
fn scopes() {
    let text = dumped(
        "int x; void f(int x) { x = 1; { double x = 2; x++; { extern int x; x = 3; } } for (int x = 4; x; ) ; }\n\
         typedef int T; int g(T T) { return T + sizeof(T); } enum { K = 3 }; int h(void) { int K = K; return K; }\n\
         struct S { int a; }; int k(void) { struct S { char c[9]; }; return sizeof(struct S); } int l(void) { return sizeof(struct S); }",
    );
    assert!(text.contains("let x: double = (double)2"), "{text}");
    assert!(text.contains("let K: int = K"), "{text}");
    assert!(text.contains("fn k() int\n  return 9\nfn l() int\n  return 4"), "{text}");
    let unit = lower("int x; void f(int x) { x = 1; { double x = 2; { extern int x; x = 3; } } }");
    assert_eq!(unit.variables.iter().filter(|v| v.name == "x").count(), 3);
}

#[test]
fn calls() {
    expressions(
        "typedef unsigned long size_t; void *malloc(size_t); int printf(const char *, ...); int old(); float x; char c; \
         void *p; struct S { int a; } make(void); static void free(void *q) { (void)q; }",
        &[
            ("p = malloc(c)", "p = malloc((unsigned long)c)"),
            ("printf(\"%f\", x, c)", "printf((*const char)\"%f\", (double)x, (int)c)"),
            ("old(x, c)", "old((double)x, (int)c)"),
            ("x = __builtin_sqrtf(c)", "x = __builtin_sqrtf((float)c)"),
            ("if (__builtin_expect(!!c, 0)) ;", "if (long)!!c\n    ;\n  ;"),
            ("c = make().a", "c = (char)<a member of a value: int>"),
            ("undeclared(x)", "undeclared((double)x)"),
            ("free(p)", "free(p)"),
        ],
    );
    let names = |text: &str| lower(text).allocations.iter().map(|a| a.name.clone()).collect::<Vec<_>>();
    let declared = "void *malloc(unsigned long); void free(void *);";
    assert_eq!(names(&format!("{declared} void f(void) {{ free(malloc(3)); }}")), ["free", "malloc"]);
    assert!(names(&format!("{declared} int f(void) {{ return sizeof(malloc(3)); }}")).is_empty());
    assert!(names("void f(void *(*malloc)(int)) { malloc(3); }").is_empty());
    assert_eq!(
        names(&format!("{declared} void f(void *p) {{ free(p); }} void free(void *p) {{ }}")).len(),
        0
    );
}

#[test]
fn extensions() {
    expressions(
        "int i; double d; int n; typedef float vec __attribute__((vector_size(16))); vec a; double _Complex z; \
         typedef int word __attribute__((mode(DI))); word w; __builtin_va_list ap;",
        &[
            ("i = ({ int k = i; k; })", "i = <a statement expression: int>"),
            (
                "i = (short)32767.5 + (unsigned char)-0.5",
                "i = ((int)(short)3.27675e4 + (int)(unsigned char)-5e-1)",
            ),
            ("i = (short)32768.0", "i = (int)<a floating constant that its type has no room for: short>"),
            (
                "n = (unsigned)-1.0",
                "n = (int)<a floating constant that its type has no room for: unsigned int>",
            ),
            ("i = 1e10 * 2", "i = <a floating constant that its type has no room for: int>"),
            ("i = d * 1e10", "i = (int)(d * 1e10)"),
            ("d = __builtin_va_arg(ap, double)", "d = <va_arg: double>"),
            ("i = sizeof(vec) + sizeof(z) + sizeof w", "i = 40"),
            ("i = _Generic(d, int: 1, double: 2, default: 3)", "i = 2"),
            ("i = _Alignof(double) + __alignof__(short)", "i = 10"),
            ("__typeof__(d) k = i", "let k: double = (double)i"),
            ("__typeof__(&d) k = 0", "let k: *double = (*double)0"),
            ("__auto_type k = d * 2", "let k: double = (d * (double)2)"),
            ("__asm__ volatile(\"\" : \"+m\"(i))", "<asm>"),
            ("i = __builtin_types_compatible_p(int, long) + __builtin_choose_expr(1, 2, d)", "i = 2"),
        ],
    );
}

#[test]
fn code_under_other_rules_stays_as_it_is() {
    for (text, wanted) in [
        ("__attribute__((optimize(\"O0\"))) int f(void) { return 1; }", Some("the attribute optimize")),
        ("__attribute__((target(\"avx2\"))) int f(void) { return 1; }", Some("the attribute target")),
        (
            "#pragma GCC optimize (\"fast-math\")\nint f(void) { return 1; }",
            Some("`#pragma GCC optimize` or `target`"),
        ),
        ("int f(void) { return 1; }", None),
    ] {
        let unit = lower(text);
        assert_eq!(unit.functions[0].fixed.as_deref(), wanted, "{text}");
    }
}

#[test]
fn labels_have_addresses() {
    let lines = body("int n;", "static void *to[] = { &&a, &&b }; goto *to[n]; a: n = 1; b: n = 2;");
    assert_eq!(lines, ["  goto *", "  a:", "    n = 1", "  b:", "    n = 2"]);
}

#[test]
fn doubts_are_refusals() {
    for (text, reason) in [
        ("int f(void) { return undeclared; }", "undeclared isn't declared (line 1)"),
        ("struct S; int f(struct S *p) { return p->a; }", "struct S is incomplete (line 1)"),
        (
            "struct S { int a : 70; }; int f(struct S *p) { return p->a; }",
            "the layout of struct S: a bit-field wider than its type (line 1)",
        ),
        (
            "int f(int n) { switch (n) { case 1: for (;;) case 2: n++; n--; } return n; }",
            "a case label without a block in a for statement (line 1)",
        ),
        (
            "void f(void) { int x __attribute__((cleanup(g))); }",
            "a variable with a cleanup function (line 1)",
        ),
        ("double f(double x) { return sqrt(x); }", "sqrt is called without a declaration (line 1)"),
        (
            "int f(int x) { return __builtin_strange(x); }",
            "the builtin __builtin_strange isn't known (line 1)",
        ),
        ("int f(int *p, double d) { return p & d; }", "arithmetic on pointers (line 1)"),
    ] {
        assert_eq!(refusal(text), reason, "{text}");
    }
    let unit = lower(
        "int strange[](int); int known; int f(void) { for (;;) { strange[1](2); do known++; while (1); } }\n\
         int g(void) { return known; } static int h(void) { return f(); }",
    );
    assert_eq!(unit.functions.len(), 2);
    assert_eq!(unit.refused[0].name, "f");
    let loops: Vec<_> = unit.refused[0].loops.iter().map(|span| (span.file, span.line)).collect();
    assert_eq!(loops, [(0, 1), (0, 1)]);
}

#[test]
fn labels_of_inner_scopes_are_not_told_apart() {
    let text = "int f(int n) { { __label__ out; while (n--) { __label__ out; if (n > 3) goto out; n--; out:; } out:; } return n; }";
    assert!(lower(text).refused[0].reason.contains("two labels out"));
}

#[test]
fn what_is_not_read_may_do_anything() {
    let unit =
        lower("static int x, y, z; int f(void) { unknown = &x; return y; } int *g(void) { return &z; }");
    let taken = |name: &str| unit.variables.iter().any(|v| v.name == name && v.address_taken);
    assert!(taken("x") && taken("y") && taken("z"));
}

#[test]
fn ids_are_unique_and_loops_in_order() {
    let text = "void f(int *p) { for (;;) { while (*p) ; } do ; while (p[1]); } void g(void) { for (;;) ; }";
    let unit = lower(text);
    let mut loops = Vec::new();
    fn walk(statement: &Stmt, loops: &mut Vec<u32>) {
        match &statement.kind {
            StmtKind::Loop(found) => {
                loops.push(found.id.0);
                walk(&found.body, loops);
            }
            StmtKind::Block(list) => list.iter().for_each(|inner| walk(inner, loops)),
            _ => {}
        }
    }
    unit.functions.iter().for_each(|function| walk(&function.body, &mut loops));
    assert_eq!(loops, [0, 1, 2, 3]);
}

#[test]
fn no_input_is_a_panic() {
    for text in [
        "",
        "{",
        "int",
        "int f(",
        "struct {",
        "int f(void) { return",
        "a b c d;",
        "int x = {{{;",
        "}",
        "int f(void) { 1 ` 2; }",
    ] {
        lower(text);
    }
    lower(&format!("int f(int x) {{ return {}x{}; }}", "-(".repeat(3000), ")".repeat(3000)));
    lower(&format!("int f(int x) {{ return x{}; }}", " + x".repeat(20_000)));
    lower(&format!("void f(int x) {{ {} ; }}", "if (x) ".repeat(5000)));
}

/// Runs a C program that `cc` has compiled and gives what it printed; nothing without a compiler.
fn printed_by_cc(program: &str) -> Option<String> {
    let folder = tempfile::tempdir().ok()?;
    let (source, binary) = (folder.path().join("p.c"), folder.path().join("p"));
    std::fs::write(&source, program).ok()?;
    let compiled = Command::new("cc").arg("-w").arg(&source).arg("-o").arg(&binary).output().ok()?;
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    Some(String::from_utf8_lossy(&Command::new(&binary).output().ok()?.stdout).into_owned())
}

/// The constants that `unsigned long r[] = {...}`-like functions return, one for each expression.
fn folded(declarations: &str, expressions: &[String]) -> Vec<String> {
    let functions = expressions.iter().enumerate();
    let functions: String =
        functions.map(|(i, e)| format!("long long f{i}(void) {{ return (long long)({e}); }}\n")).collect();
    let unit = lower(&format!("{declarations}\n{functions}"));
    assert!(unit.refused.is_empty(), "{:?}", unit.refused);
    let value = |function: &Function| -> Option<i128> {
        let StmtKind::Block(list) = &function.body.kind else { return None };
        let StmtKind::Return(Some(value)) = &list.first()?.kind else { return None };
        constant::fold(&unit.types, value)
    };
    let show = |function: &Function| value(function).map_or("?".to_owned(), |value| value.to_string());
    unit.functions.iter().map(show).collect()
}

fn same_as_cc(declarations: &str, expressions: &[String]) {
    let prints: String =
        expressions.iter().map(|e| format!("printf(\"%lld\\n\", (long long)({e}));\n")).collect();
    let program = format!("#include <stdio.h>\n{declarations}\nint main(void) {{ {prints} return 0; }}");
    let Some(printed) = printed_by_cc(&program) else { return };
    let ours = folded(declarations, expressions);
    for ((expression, ours), theirs) in expressions.iter().zip(ours).zip(printed.lines()) {
        assert_eq!(ours, theirs, "{expression}\n{declarations}");
    }
}

#[test]
fn layout_is_that_of_cc() {
    let records = [
        "struct R { char c; int i; short s; }",
        "struct R { int a : 3; int b : 30; char c; }",
        "struct R { unsigned long a : 40; unsigned b : 10; char c : 2; }",
        "struct R { char c; int : 0; char d; }",
        "struct R { char c; long : 0; }",
        "struct R { char a : 4; short : 7; char b; }",
        "struct R { char c; union { double d; float f[3]; }; short s[]; }",
        "struct R { struct { char c[3]; } x[2]; long l; _Bool b; }",
        "struct R { short s : 9; char c : 7; char d : 7; long double x; }",
        "struct R { char c; long double x; __int128 y; }",
        "struct __attribute__((packed)) R { char c; int i; double d; short s : 5; int t : 20; }",
        "struct R { char c; int i __attribute__((packed)); long l; }",
        "struct R { char c; int i __attribute__((aligned(16))); char d; } __attribute__((aligned(32)))",
        "struct R { char c; int i __attribute__((aligned(2))); }",
        "struct __attribute__((packed, aligned(4))) R { char c; long l; short s; }",
        "struct __attribute__((packed)) R { char c; int i __attribute__((aligned(4))); struct { char e; long f; } in; }",
        "typedef int A __attribute__((aligned(16))); struct R { char c; A a; A b; }",
        "typedef int A __attribute__((aligned(1))); struct R { char c; A a; A b[3]; }",
        "typedef struct { char c[5]; } A __attribute__((aligned(8))); struct R { char c; A a; }",
        "struct R { char c; _Alignas(double) char d; _Alignas(32) int e; }",
        "struct R { _Bool a : 1, b : 1; unsigned char c : 6; unsigned char d : 3; }",
        "struct R { unsigned long long a : 1; unsigned long long b : 63; unsigned long long c : 2; }",
        "struct R { int a : 16; int : 16; int b : 1; }",
        "struct R { int a : 5; char b; int c : 20; short d : 3; }",
        "union R { int a : 3; char b[5]; short c; }",
        "union R { int i; double d; char c[9]; } __attribute__((packed))",
        "enum E { X, Y } ; struct R { enum E e : 2; enum E f; char c; enum __attribute__((packed)) { P, Q } g; }",
        "#pragma pack(push, 2)\nstruct R { char c; int i; long l; double d; };\n#pragma pack(pop)\n",
        "#pragma pack(1)\nstruct R { char c; int i : 20; int j : 20; long l; };\n#pragma pack()\n",
        "#pragma pack(4)\nstruct R { char c; long l; long double x; struct { short s; double d; } in; };\n#pragma pack()\n",
        "#pragma pack(2)\nstruct R { char c; int i __attribute__((aligned(8))); char e; int f : 9; };\n#pragma pack()\n",
        "struct R { }",
        "struct R { int a[0]; char c; double b[0]; }",
        "struct I { long l; char c; }; struct R { struct I i; char d; struct I *p; void (*f)(struct I); }",
        "struct R { char c; double _Complex z; float _Complex y; }",
        "typedef float V __attribute__((vector_size(16))); struct R { char c; V v; }",
        "typedef int W __attribute__((mode(HI))); struct R { W w; char c; _Float128 q; }",
        "struct R { signed char a : 8; signed char b : 8; int c : 8; long d : 33; }",
        "struct __attribute__((packed)) R { unsigned a : 3; unsigned b : 31; char c; unsigned char d : 7; unsigned char e : 7; }",
    ];
    for record in records {
        let keyword = if record.contains("union R") { "union R" } else { "struct R" };
        let mut expressions = vec![format!("sizeof({keyword})"), format!("_Alignof({keyword})")];
        // The offsets of all members that have one.
        let unit = lower(&format!("{record}; {keyword} r;"));
        let fields = unit.variables.iter().find(|v| v.name == "r").map(|v| unit.types.kind(v.ty.ty));
        let Some(TypeKind::Record(id)) = fields else { panic!("{record}") };
        let fields = unit.types.record(*id).fields.clone().unwrap_or_else(|| panic!("no layout: {record}"));
        for name in fields.iter().filter(|f| f.bits.is_none()).filter_map(|f| f.name.clone()) {
            expressions.push(format!("__builtin_offsetof({keyword}, {name})"));
        }
        same_as_cc(&format!("{record};"), &expressions);
    }
}

/// Bit-fields have no offset: one is set, and the bytes are compared.
#[test]
fn bit_fields_are_where_cc_has_them() {
    let records = [
        "int a : 3; int b : 30; char c; short d : 4;",
        "unsigned long a : 40; unsigned b : 10; char c : 2;",
        "char x; int a : 3; char y; int b : 20; int : 0; int c : 1;",
        "short a : 9; char b : 7; char c : 7; long d : 33;",
        "_Bool a : 1, b : 1; unsigned char c : 6, d : 3; long : 20; int e : 12;",
    ];
    for record in records {
        let unit = lower(&format!("struct R {{ {record} }} r;"));
        let Some(TypeKind::Record(id)) =
            unit.variables.iter().find(|v| v.name == "r").map(|v| unit.types.kind(v.ty.ty))
        else {
            panic!("{record}")
        };
        let fields = unit.types.record(*id).fields.clone().unwrap_or_default();
        let mut program = format!(
            "#include <stdio.h>\n#include <string.h>\nstruct R {{ {record} }};\nint main(void) {{ struct R r; unsigned char b[sizeof r];\n"
        );
        let mut ours = String::new();
        for field in &fields {
            let (Some(name), Some((start, width))) = (&field.name, field.bits) else { continue };
            program += &format!(
                "memset(&r, 0, sizeof r); r.{name} = -1; memcpy(b, &r, sizeof b); for (unsigned i = 0; i < sizeof b; i++) printf(\"%02x\", b[i]); puts(\"\");\n"
            );
            let mut bytes = vec![0u8; unit.types.record(*id).size as usize];
            for bit in 0..width {
                let at = field.offset * 8 + u64::from(start + bit);
                bytes[(at / 8) as usize] |= 1 << (at % 8);
            }
            ours += &bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            ours.push('\n');
        }
        program += "return 0; }";
        if let Some(theirs) = printed_by_cc(&program) {
            assert_eq!(ours, theirs, "{record}");
        }
    }
}

#[test]
fn constants_are_those_of_cc() {
    let declarations = "enum { A, B = 5, C, D = -3, E }; enum big { F = 0x100000000, G }; struct S { char c; int x[4]; struct { short a, b; } in; };";
    let expressions = [
        "1 + 2 * 3 - 4 / 3 % 2",
        "-7 / 2",
        "-7 % 3",
        "7u - 8",
        "(unsigned char)257 + (signed char)200",
        "1 << 30",
        "1u << 31",
        "-1 >> 1",
        "-1u >> 1",
        "0xffffffff + 1",
        "2147483648 > 0",
        "-2147483648",
        "~0",
        "~0u",
        "~(unsigned char)0",
        "-1 < 0u",
        "-1L < 0u",
        "(char)-1 < (unsigned char)1",
        "!5 + !0 + !!7",
        "1 ? 2 : 3u",
        "0 ? -1 : 1u",
        "(1 ? -1 : 1u) > 0",
        "5 > 3 > 1",
        "0 || 2 && 3",
        "1 | 2 ^ 3 & 6",
        "A + B + C + D + E",
        "sizeof(F) + sizeof(A) + sizeof(enum big)",
        "G",
        "'a'",
        "'\\377'",
        "'\\x7f' + '\\0'",
        "'ab'",
        "L'\\u00e9'",
        "sizeof 'a' + sizeof(char) + sizeof \"abc\" + sizeof L\"ab\"",
        "sizeof(int[3][4]) + sizeof(int *) + sizeof(int (*)[7])",
        "sizeof(struct S) + sizeof(((struct S *)0)->x)",
        "__builtin_offsetof(struct S, in.b) + __builtin_offsetof(struct S, x[2])",
        "(unsigned long)&((struct S *)0)->in",
        "(char *)&((struct S *)0)->x[3] - (char *)0",
        "_Alignof(struct S) + _Alignof(long double)",
        "(int)3.99 + (int)-3.99",
        "(long)1e15 + (int)(0.1f * 10) + (int)(0.1 * 10)",
        "(int)(1.0f / 3 * 3e6f)",
        "0.1f == 0.1",
        "0.5f == 0.5",
        "(float)16777217 == 16777216",
        "(unsigned short)-1 * 1",
        "(_Bool)0.3 + (_Bool)8",
        "1.5 > 1 && 2 < 2.5f",
        "0x1p4 + 0x.8p1",
        "1 ? 1 : 1 / 0",
        "0777 + 0b101 + 1ull + 3lu",
        "(unsigned)1 - 2 > 0",
        "sizeof(1 ? (char)1 : (short)2)",
        "sizeof(1.0f + 1) + sizeof(1.0L) + sizeof(1u + 1L)",
        "sizeof((char)1 + (char)1) + sizeof +(char)1 + sizeof((char)1, (char)1)",
        "(long long)(unsigned)-1",
        "(int)0x80000000 / 2",
        "18446744073709551615u > 0",
        "__builtin_types_compatible_p(int, const int) * 0 + 4",
    ];
    same_as_cc(declarations, &expressions.map(str::to_owned));
}

/// Reports on files of your own: `LOWER='-Idir a.c b.c' cargo test --lib lower::tests::files -- --ignored --nocapture`.
#[test]
#[ignore = "a tool, not a test"]
fn files() {
    let words = std::env::var("LOWER").unwrap_or_default();
    let (files, flags): (Vec<&str>, Vec<&str>) =
        words.split_whitespace().partition(|word| !word.starts_with('-'));
    for file in &files {
        let output = Command::new("cc").args(["-E", "-O2"]).args(&flags).arg(file).output();
        let text =
            output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        let unit = lower(&text);
        if files.len() == 1 {
            println!("{}", dump(&unit));
        }
        println!("{file}: {} functions, {} refused", unit.functions.len(), unit.refused.len());
        for refused in &unit.refused {
            println!("  {}: {}", refused.name, refused.reason);
        }
    }
}

/// Long lists of constants aren't read, and arrays are as long as `cc` has them all the same.
#[test]
fn tables_say_how_long_they_are() {
    let types = "typedef unsigned char u8; typedef struct { int a; short b[2]; } rec; typedef int list[]; enum { E = 3 }; int g;";
    let of = |item: &str, times: usize| vec![item; times].join(", ");
    let tables = [
        ("u8 t[]", of("1", 3000), true),
        ("double t[]", of("-1.5e+3, (float) +2", 3000) + ",", true),
        ("const char *const t[]", of("\"a\" \"b,{\", (char *) 0, L'x' + \"c\"", 900), true),
        ("char t[][8]", of("\"abc\"", 3000), true),
        ("char t[][8]", of("\"abc\", {'a', 'b'}", 900), true),
        ("char t[][3]", of("1, (u8)2, 3, {4}", 900), true),
        ("char t[][3]", of("\"abc\"[0], 2, 3", 900), true),
        ("int t[][2][2]", of("1, {2}, 3", 901), true),
        ("rec t[]", of("1, 2, 3", 2001), true),
        ("rec t[]", of("1, 2, 3, 4", 1001), true),
        ("rec t[]", of("{ .b = {[1] = 2}, .a = 'x' }", 500), true),
        ("rec t[]", of("1, {2, 3}", 900), true),
        ("list t", of("(1 + 2) * 3 , ~4 ? 5 : 6", 900), true),
        ("int t[7000]", of("1", 3000), true),
        ("int t[]", of("1", 1500) + ", [5000] = 2, 3", false),
        ("int t[6000]", of("1", 1500) + ", [5000] = 2, 3", true),
        ("int t[]", of("E", 3000), false),
        ("int *t[]", of("&g", 3000), false),
        ("int t[]", of("(int) sizeof(struct new *)", 900), false),
        ("const int *t[]", of("(int[]) {1, 2}", 900), false),
        ("char t[]", vec!["\"abc\""; 3000].join(" "), false),
    ];
    for (declarator, items, is_left_out) in tables {
        let declarations = format!("{types} {declarator} = {{ {items} }};");
        let unit = lower(&declarations);
        let kind = declarator.replace(" t", " ");
        assert_eq!(unit.in_tables > 1000, is_left_out, "{kind} of {}", &items[..20]);
        let ours = folded(&declarations, &["sizeof t".into(), "sizeof t / sizeof *t".into()]);
        let program = format!(
            "int printf(const char *, ...);\n{declarations}\nint main(void) {{ printf(\"%d %d\", (int)sizeof t, (int)(sizeof t / sizeof *t)); }}"
        );
        let Some(theirs) = printed_by_cc(&program) else { return };
        assert_eq!(ours.join(" "), theirs, "{kind} of {}", &items[..20]);
    }
    // What is read all the same says whose address is taken.
    let unit = lower(&format!("{types} int *t[] = {{ {} }};", of("&g", 3000)));
    assert!(unit.variables.iter().any(|variable| variable.name == "g" && variable.address_taken));
}
