//! What words are: the keywords of C and of gcc in all their spellings, and names that tree-sitter-c reads as something else.

pub(super) fn is_attribute(word: &str) -> bool {
    matches!(word, "__attribute__" | "__attribute" | "__declspec")
}

pub(super) fn is_asm(word: &str) -> bool {
    matches!(word, "asm" | "__asm__" | "__asm")
}

pub(super) fn is_typeof(word: &str) -> bool {
    matches!(
        word,
        "typeof" | "__typeof__" | "__typeof" | "typeof_unqual" | "__typeof_unqual__" | "__typeof_unqual"
    )
}

pub(super) fn is_alignof(word: &str) -> bool {
    matches!(word, "_Alignof" | "alignof" | "__alignof__" | "__alignof")
}

pub(super) fn is_alignas(word: &str) -> bool {
    matches!(word, "_Alignas" | "alignas")
}

pub(super) fn is_static_assert(word: &str) -> bool {
    matches!(word, "_Static_assert" | "static_assert")
}

/// The one spelling of a qualifier in the view.
pub(super) fn qualifier(word: &str) -> Option<&'static str> {
    Some(match word {
        "const" | "__const" | "__const__" => "const",
        "volatile" | "__volatile" | "__volatile__" => "volatile",
        "restrict" | "__restrict" | "__restrict__" => "restrict",
        "_Atomic" => "_Atomic",
        _ => return None,
    })
}

/// The one spelling of a storage class or function specifier in the view.
pub(super) fn storage_class(word: &str) -> Option<&'static str> {
    Some(match word {
        "typedef" => "typedef",
        "extern" => "extern",
        "static" => "static",
        "auto" => "auto",
        "register" => "register",
        "inline" | "__inline" | "__inline__" => "inline",
        "__thread" | "_Thread_local" | "thread_local" => "__thread",
        _ => return None,
    })
}

/// Words that, several together, name a type without a tag or typedef.
pub(super) fn is_type_word(word: &str) -> bool {
    matches!(
        word,
        "void"
            | "char"
            | "short"
            | "int"
            | "long"
            | "float"
            | "double"
            | "signed"
            | "__signed"
            | "__signed__"
            | "unsigned"
            | "_Bool"
            | "bool"
            | "_Complex"
            | "__complex__"
            | "__complex"
            | "__int128"
            | "__int128_t"
            | "__uint128_t"
            | "__builtin_va_list"
            | "__auto_type"
            | "_Float16"
            | "_Float32"
            | "_Float64"
            | "_Float128"
            | "_Float32x"
            | "_Float64x"
            | "__float128"
            | "__float80"
            | "__bf16"
            | "_Decimal32"
            | "_Decimal64"
            | "_Decimal128"
            | "_BitInt"
            | "_Imaginary"
            | "__ibm128"
            | "__fp16"
    )
}

/// Words of C23 that were ordinary identifiers before: keywords here unless declared.
pub(super) fn is_soft_keyword(word: &str) -> bool {
    matches!(
        word,
        "bool"
            | "alignas"
            | "alignof"
            | "static_assert"
            | "thread_local"
            | "typeof"
            | "typeof_unqual"
            | "asm"
            | "inline"
    )
}

pub(super) fn is_keyword(word: &str) -> bool {
    is_type_word(word)
        || qualifier(word).is_some()
        || storage_class(word).is_some()
        || is_attribute(word)
        || is_asm(word)
        || is_typeof(word)
        || is_alignof(word)
        || is_alignas(word)
        || is_static_assert(word)
        || matches!(
            word,
            "struct"
                | "union"
                | "enum"
                | "if"
                | "else"
                | "for"
                | "while"
                | "do"
                | "switch"
                | "case"
                | "default"
                | "break"
                | "continue"
                | "return"
                | "goto"
                | "sizeof"
                | "_Generic"
                | "_Noreturn"
                | "__extension__"
                | "__label__"
        )
}

/// Identifiers that the grammar reads as something else.
pub(super) fn is_special_to_grammar(word: &str) -> bool {
    let sized = ["int", "uint", "char"].iter().find_map(|p| word.strip_prefix(p));
    matches!(sized, Some("8_t" | "16_t" | "32_t" | "64_t"))
        || matches!(
            word,
            "bool"
                | "size_t"
                | "ssize_t"
                | "ptrdiff_t"
                | "intptr_t"
                | "uintptr_t"
                | "charptr_t"
                | "nullptr_t"
                | "max_align_t"
                | "TRUE"
                | "FALSE"
                | "true"
                | "false"
                | "NULL"
                | "nullptr"
                | "offsetof"
                | "noreturn"
                | "alignas"
                | "alignof"
                | "_alignof"
                | "constexpr"
                | "thread_local"
                | "_Nonnull"
                | "__based"
                | "__cdecl"
                | "__clrcall"
                | "__stdcall"
                | "__fastcall"
                | "__thiscall"
                | "__vectorcall"
                | "__uptr"
                | "__sptr"
                | "_unaligned"
                | "__unaligned"
                | "__forceinline"
                | "__try"
                | "__except"
                | "__finally"
                | "__leave"
                | "defined"
                | "asm"
                | "inline"
                | "typeof"
        )
}

/// Whether the grammar reads this number in one piece: digits, and suffixes of C11.
pub(super) fn is_plain_number(text: &str) -> bool {
    let body = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let hexadecimal = body.strip_prefix("0x").or_else(|| body.strip_prefix("0X"));
    match hexadecimal {
        Some(digits) => !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit()),
        None => !body.is_empty() && body.bytes().all(|b| b.is_ascii_digit()),
    }
}
