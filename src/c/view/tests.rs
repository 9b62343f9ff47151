//! Texts whose views tree-sitter-c must read in one way, and the headers of the system.

use super::super::lexer::lex;
use super::*;

fn accepted(text: &str) -> Vec<ExternalDeclaration> {
    let tokens = lex(text);
    let all = view(&tokens);
    for declaration in &all {
        if let DeclKind::Refused(reason) = &declaration.kind {
            panic!("{reason} in {text}");
        }
        if let Err(problem) = parse_checked(declaration) {
            let at = declaration.map.source_token(problem.view_byte).unwrap_or(0);
            panic!("{} at `{}` in {text}\n{}", problem.reason, tokens.spelling(at), declaration.view);
        }
    }
    all
}

fn shape(text: &str) -> String {
    let all = accepted(text);
    parse(&all.last().unwrap().view).unwrap().root_node().to_sexp()
}

#[test]
fn typedef_names_decide() {
    assert!(shape("typedef int T; int f(int x) { return (T)(x); }").contains("cast_expression"));
    assert!(shape("typedef int T; int f(int x) { return (T)-x; }").contains("cast_expression"));
    assert!(shape("int T; int f(int x) { return (T)-x; }").contains("binary_expression"));
    assert!(shape("int T(int); int f(int x) { return (T)(x); }").contains("call_expression"));
    assert!(shape("typedef int T; void f(void) { T (x); x = 1; }").contains("parenthesized_declarator"));
    assert!(shape("typedef int T; int f(int T) { return T * T; }").contains("binary_expression"));
    assert!(shape("typedef int T; void f(int x) { T * y; }").contains("pointer_declarator"));
    assert!(shape("int T, y; void f(int x) { T * y; }").contains("binary_expression"));
    assert!(
        shape("typedef int T; void f(void) { { int T = 2; T * T; } T * x; }").contains("pointer_declarator")
    );
    assert!(
        shape(
            "typedef int T; int f(int x) { for (int T = 0; T < x; T++) x += (T) * x; return sizeof(T) * 2; }"
        )
        .contains("right: (number_literal)")
    );
    assert!(
        shape("int f(int *a, int i, int b) { return (a[i]) * b + (i * (b)) - b; }")
            .contains("binary_expression")
    );
    let doubled = shape(
        "int f(float y, int M, int n) { return y > ((M)) && ((y)) > 1 || (((M))) * ((f)(y, (M), n)); }",
    );
    assert!(!doubled.contains("cast_expression") && !doubled.contains("type_identifier"), "{doubled}");
}

#[test]
fn snippets() {
    for text in [
        "typedef struct S S; struct S { S *S; int T; }; int f(S *p) { return p->T + p->S->T; }",
        "typedef int T; struct U { T T; unsigned : 3; T : 4; int a : 2, : 1, b; }; unsigned f(void) { unsigned T; T = 3; return T; }",
        "typedef int (*F)(int, char *); F table[3]; F g(F), *h; int (*(*k)(int a))(F);",
        "typedef unsigned char bool; bool size_t; int f(void) { return size_t + 1; }",
        "typedef enum { false, true } bool; bool f(void) { return true; }",
        "int f(a, b) int a; char *b; { return a + *b; }",
        "static __inline__ __attribute__((always_inline)) int f(int x) { return x; }",
        "extern int g(int) __asm__(\"h\") __attribute__((nothrow, pure)); int x __attribute__((aligned(16))) = 3, y;",
        "struct __attribute__((packed)) P { char a; int b; } __attribute__((aligned(4))) p;",
        "typedef int T; int f(__builtin_va_list ap) { return *__builtin_va_arg(ap, T *) + __builtin_va_arg(ap, int); }",
        "struct S { int a[4]; }; unsigned long f(void) { return __builtin_offsetof(struct S, a[2]); }",
        "double _Complex c; _Complex float d; __int128 big; unsigned __int128 ubig; _Float128 q; long double l; int long unsigned m;",
        "_Atomic(int) a; _Atomic int b; _Alignas(16) char c[3]; _Alignas(double) char d; _Thread_local int t; static __thread int u;",
        "_Static_assert(1, \"x\"); struct S { int a; _Static_assert(1, \"y\"); int b; }; void f(void) { _Static_assert(1, \"z\"); }",
        "int f(int x) { switch (x) { case 1 ... 3: return 1; case 4: { int y; } default: ; } return _Generic(x, int: 1, char *: 2, default: 3); }",
        "int f(int x) { return ({ int y = x; y * y; }) + (x ?: 2) + __extension__ 3 + __alignof__(x) + _Alignof(int); }",
        "int f(void *p) { void *q = p ? p : &&x; static void *t[] = { &&x, &&y + 0 }; goto *q; x: goto *(t[1]); y: return 1; }",
        "void f(int *p) { __asm__ __volatile__(\"a\" \"b\" : \"=r\"(*p), [q] \"+m\"(p[1]) : : \"memory\", \"cc\"); l: __attribute__((unused)); __label__ z; }",
        "__typeof__(1 + 2) x; __auto_type y = 3; int f(void) { typeof(x) z = 2; return z; }",
        "int a[] = { [0] = 1, [2 ... 4] = 5 }; struct S { int x, y; } s = { .x = 1, y: 2 }, t = (struct S){ 1, 2 };",
        "typedef int T; int f(void) { T: return 1; } int g(const T, register T, T (*)(T), T[static 3]);",
        "void f(int n, int a[n][n], int b[const *]) { a[n][1] = 2; f(n, a, 0); if (n) ; else if (n > 1) n--; else { } }",
        "struct S; union U; enum E { A = 1, B, }; static struct V { int x; } ; enum E e; extern struct S *sp; const struct W { int q; };",
        "char *f(void) { const char *s = \"a\" \"b\" L\"c\"; return (char *)s + sizeof \"x\" + 'x' + 1.5e3f + 0x1p3 + 10ull + sizeof(char){0}; }",
        "void *p; int f(void) { return !*(int *)p && ((int (*)(void))p)() + (*(int (*)[3])p)[1] && ~-+1 - -1; }",
        "typedef int T; void f(void) { int i = sizeof(T), T = 3; T++; enum { q = sizeof(int) }; typedef char T2; T2 c = (T2)i; (void)c; }",
        "void f(int i) { do i--; while (i); for (;;) { if (i) break; else continue; } for (i; i; i) ; for (f(i), i = 0; ; ) goto e; e: ; }",
        "int main() { return 0; } main2() { return 1; } static x; [[nodiscard]] int g(void);",
        "[[gnu::noinline]] static int f(int a) { [[maybe_unused]] int b = a; switch (b) { case 1: a++; [[fallthrough]]; case 2: break; } return b; }",
        "void (*signal(int sig, void (*handler)(int)))(int); int printf(const char *restrict, ...); ;",
        "# 1 \"a.c\"\nint f(\n# 3 \"a.c\"\nint x)\n#pragma GCC ivdep\n{ return x\n# 9 \"b.c\"\n; }",
    ] {
        accepted(text);
    }
}

#[test]
fn refused_alone() {
    for (text, reason) in [
        ("int a; int f(void) { int g(void) { return 1; } return g(); } int b;", "nested function"),
        ("int a; int f(void) { return 1 ` 2; } int b;", "no token"),
    ] {
        let all = view(&lex(text));
        assert_eq!(all.len(), 3, "{text}");
        assert!(matches!(&all[1].kind, DeclKind::Refused(r) if r.contains(reason)), "{:?}", all[1].kind);
        assert_eq!(all[2].kind, DeclKind::Declaration);
    }
    for text in [
        "{",
        "}",
        "(",
        "int f(",
        "typedef",
        "struct {",
        "int x = ",
        "a b c",
        "__attribute__",
        "_Alignas",
        "[[",
        ")",
        "case",
    ] {
        view(&lex(text));
    }
    view(&lex(&"(".repeat(50_000)));
    view(&lex(&format!("int x = {}1{};", "(".repeat(5000), ")".repeat(5000))));
}

#[test]
fn attributes_are_kept() {
    let text = "#pragma pack(push, 2)\nstruct __attribute__((packed)) S { int a; int b __attribute__((aligned(8))); };\n#pragma pack(pop)\n\
                struct T { int x; }; int v __attribute__((weak)), w; typedef float V __attribute__((vector_size(16)));";
    let all = accepted(text);
    let names = |d: &ExternalDeclaration| {
        d.attributes.iter().map(|a| (a.name.clone(), a.text.clone())).collect::<Vec<_>>()
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(names(&all[0]), [pair("packed", ""), pair("aligned", "8"), pair("pragma_pack", "2")]);
    assert!(names(&all[1]).is_empty());
    let tokens = lex(text);
    let v = (0..tokens.len()).find(|&i| tokens.spelling(i) == "v").unwrap();
    assert_eq!(all[2].attributes_of(AttributeTarget::Declarator(v)).count(), 1);
    assert_eq!(names(&all[3]), [pair("vector_size", "16")]);
}

#[test]
fn map_leads_back() {
    let text = "typedef int T; T f(T x) { return (T)x; }";
    let tokens = lex(text);
    let all = accepted(text);
    let d = &all[1];
    let tree = parse(&d.view).unwrap();
    let body = tree.root_node().child(0).unwrap().child_by_field_name("body").unwrap();
    let span = d.map.source_span(&tokens, body.byte_range());
    assert_eq!(&text[span.start as usize..span.end as usize], "{ return (T)x; }");
    let base = tree.root_node().child(0).unwrap().child_by_field_name("type").unwrap();
    let token = d.map.source_token(base.start_byte()).unwrap();
    assert_eq!((tokens.spelling(token), &d.special.types[&token]), ("T", &BaseType::Typedef));
}

#[test]
fn system_headers() {
    let headers = ["stdio.h", "stdlib.h", "string.h", "math.h", "stdint.h", "complex.h", "pthread.h"];
    let source: String = headers.iter().map(|h| format!("#include <{h}>\n")).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("headers.c");
    std::fs::write(&path, source).unwrap();
    let Ok(output) = std::process::Command::new("cc").args(["-E", "-O2"]).arg(&path).output() else {
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let all = accepted(&text);
    assert!(all.len() > 500, "{}", all.len());
}
