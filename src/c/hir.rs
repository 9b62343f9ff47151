//! The typed tree: what a C function means, with nothing left implicit.
//!
//! Lowering (`c::lower`) turns a parsed function into this form; loops, analysis and code generation read nothing
//! else. Every implicit conversion of C (promotions, usual arithmetic conversions, array and function decay,
//! assignment conversions) is an explicit [`ExprKind::Cast`] or place operation, every `typedef` is resolved, every
//! constant expression that C requires to be constant is folded, every subscript `a[i]` is
//! `Deref(PtrAdd(a, i))` and every member access is a byte offset. So a consumer needs no rule of C's grammar or
//! type system, only arithmetic on explicitly typed values.
//!
//! What this is not: it is no faithful copy of the user's text. The text that `cc` compiles is always the user's own,
//! edited by `driver::splice`; spans lead back to it. A function that lowering does not understand completely is not
//! here at all: it is listed in [`TranslationUnit::refused`] with the reason and compiled as it stood.

use super::pragma::{Pragma, Wish};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Index of a [`TypeKind`] in [`Types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TypeId(pub u32);
/// Index of a [`Record`] in [`Types`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct RecordId(pub u32);
/// Index of a [`Variable`] in [`TranslationUnit::variables`]. Shadowed names have distinct ids.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct VarId(pub u32);
/// Identifies one place expression (lvalue occurrence) in a translation unit; accesses are keyed by it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PlaceId(pub u32);
/// Identifies one `for`, `while` or `do` statement in a translation unit, in source order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LoopId(pub u32);

/// Index of a [`Length`] in [`TranslationUnit::lengths`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LengthId(pub u32);

/// The integer types of C on 64-bit x86 Linux, kept apart even where two have the same width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum IntKind {
    Bool,
    Char,
    SChar,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    LongLong,
    ULongLong,
    Int128,
    UInt128,
}

impl IntKind {
    /// Width in bytes.
    pub fn size(self) -> u64 {
        use IntKind::*;
        match self {
            Bool | Char | SChar | UChar => 1,
            Short | UShort => 2,
            Int | UInt => 4,
            Long | ULong | LongLong | ULongLong => 8,
            Int128 | UInt128 => 16,
        }
    }
    /// Whether values may be negative. Plain `char` is signed on this target unless `-funsigned-char`, which
    /// lowering resolves by mapping `char` to [`IntKind::UChar`].
    pub fn signed(self) -> bool {
        use IntKind::*;
        matches!(self, Char | SChar | Short | Int | Long | LongLong | Int128)
    }
    /// Spelling in C.
    pub fn c_name(self) -> &'static str {
        use IntKind::*;
        match self {
            Bool => "_Bool",
            Char => "char",
            SChar => "signed char",
            UChar => "unsigned char",
            Short => "short",
            UShort => "unsigned short",
            Int => "int",
            UInt => "unsigned int",
            Long => "long",
            ULong => "unsigned long",
            LongLong => "long long",
            ULongLong => "unsigned long long",
            Int128 => "__int128",
            UInt128 => "unsigned __int128",
        }
    }
}

/// The real floating types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum FloatKind {
    Float,
    Double,
    LongDouble,
    Float128,
}

/// Type qualifiers that a loop must know of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[allow(missing_docs)]
pub struct Quals {
    pub is_const: bool,
    pub is_volatile: bool,
    pub is_restrict: bool,
    pub is_atomic: bool,
}

/// A type with its qualifiers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub struct QualType {
    pub ty: TypeId,
    pub quals: Quals,
}

/// Length of an array type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArrayLen {
    /// A constant number of elements.
    Known(u64),
    /// `[]`, completed elsewhere or never (flexible array members have this too).
    Unknown,
    /// A number that is computed where the type is written: each such place is a length of its own.
    Variable(LengthId),
}

/// How many elements the arrays of a type of variable length have.
#[derive(Clone, Debug)]
pub struct Length {
    /// The number, as a `long`; `None` where the tree doesn't have it.
    pub count: Option<Expr>,
    /// The byte of the preprocessed text where it was computed. Variables that are assigned behind it may have other values since.
    pub computed_at: u32,
}

/// What a type is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum TypeKind {
    Void,
    Int(IntKind),
    /// An enumeration: its compatible integer type.
    Enum(IntKind),
    Float(FloatKind),
    Pointer(QualType),
    Array(QualType, ArrayLen),
    Record(RecordId),
    Function {
        ret: QualType,
        params: Vec<QualType>,
        variadic: bool,
        prototyped: bool,
    },
    /// A type that exists in C but that no loop of ours may touch (`_Complex`, vectors, `va_list`); size and
    /// alignment in bytes where known.
    Opaque {
        size: Option<u64>,
        align: u64,
        what: &'static str,
    },
}

/// One member of a struct or union.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// `None` for anonymous members.
    pub name: Option<String>,
    /// Declared type.
    pub ty: QualType,
    /// Byte offset from the start of the record. For a bit-field, of its storage unit.
    pub offset: u64,
    /// For a bit-field: first bit within the storage unit and width in bits.
    pub bits: Option<(u32, u32)>,
}

/// A struct or union.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// `struct tag` or `union tag`; `None` without a tag.
    pub tag: Option<String>,
    /// Without a tag: the first typedef name that it was given.
    pub alias: Option<String>,
    /// Whether it is a union.
    pub is_union: bool,
    /// Members in order; `None` while incomplete.
    pub fields: Option<Vec<Field>>,
    /// Size in bytes (meaningful once complete).
    pub size: u64,
    /// Alignment in bytes (meaningful once complete).
    pub align: u64,
}

/// All types of a translation unit, interned: equal types have equal ids.
#[derive(Default, Debug)]
pub struct Types {
    kinds: Vec<TypeKind>,
    index: std::collections::HashMap<TypeKind, TypeId>,
    records: Vec<Record>,
}

impl Types {
    /// The id of `kind`, adding it when it is new.
    pub fn intern(&mut self, kind: TypeKind) -> TypeId {
        if let Some(&id) = self.index.get(&kind) {
            return id;
        }
        let id = TypeId(self.kinds.len() as u32);
        self.kinds.push(kind.clone());
        self.index.insert(kind, id);
        id
    }
    /// The id of an integer type, if the unit has it.
    pub fn find_int(&self, kind: IntKind) -> Option<TypeId> {
        self.index.get(&TypeKind::Int(kind)).copied()
    }
    /// Adds a record (records are nominal: never merged).
    pub fn add_record(&mut self, record: Record) -> RecordId {
        self.records.push(record);
        RecordId(self.records.len() as u32 - 1)
    }
    /// What `id` is.
    pub fn kind(&self, id: TypeId) -> &TypeKind {
        &self.kinds[id.0 as usize]
    }
    /// All records.
    pub fn record_ids(&self) -> impl Iterator<Item = RecordId> {
        (0..self.records.len() as u32).map(RecordId)
    }
    /// The record `id`.
    pub fn record(&self, id: RecordId) -> &Record {
        &self.records[id.0 as usize]
    }
    /// The record `id`, to complete it.
    pub fn record_mut(&mut self, id: RecordId) -> &mut Record {
        &mut self.records[id.0 as usize]
    }
    /// Size in bytes; `None` for incomplete, function and variable-length types.
    pub fn size_of(&self, id: TypeId) -> Option<u64> {
        match self.kind(id) {
            TypeKind::Void | TypeKind::Function { .. } => None,
            TypeKind::Int(k) | TypeKind::Enum(k) => Some(k.size()),
            TypeKind::Float(FloatKind::Float) => Some(4),
            TypeKind::Float(FloatKind::Double) => Some(8),
            TypeKind::Float(_) => Some(16),
            TypeKind::Pointer(_) => Some(8),
            TypeKind::Array(e, ArrayLen::Known(n)) => self.size_of(e.ty)?.checked_mul(*n),
            TypeKind::Array(..) => None,
            TypeKind::Record(r) => self.record(*r).fields.as_ref().map(|_| self.record(*r).size),
            TypeKind::Opaque { size, .. } => *size,
        }
    }
    /// Whether a type is an array whose size isn't constant.
    pub fn is_of_variable_length(&self, id: TypeId) -> bool {
        match self.kind(id) {
            TypeKind::Array(_, ArrayLen::Variable(_)) => true,
            TypeKind::Array(element, _) => self.is_of_variable_length(element.ty),
            _ => false,
        }
    }
    /// Alignment in bytes, where the type is complete (arrays: of the element).
    pub fn align_of(&self, id: TypeId) -> Option<u64> {
        match self.kind(id) {
            TypeKind::Array(e, _) => self.align_of(e.ty),
            TypeKind::Record(r) => self.record(*r).fields.as_ref().map(|_| self.record(*r).align),
            TypeKind::Opaque { align, .. } => Some(*align),
            _ => self.size_of(id),
        }
    }
    /// The integer kind of an integer or enumeration type.
    pub fn as_int(&self, id: TypeId) -> Option<IntKind> {
        match self.kind(id) {
            TypeKind::Int(k) | TypeKind::Enum(k) => Some(*k),
            _ => None,
        }
    }
    /// The kind of a real floating type.
    pub fn as_float(&self, id: TypeId) -> Option<FloatKind> {
        match self.kind(id) {
            TypeKind::Float(k) => Some(*k),
            _ => None,
        }
    }
    /// The pointee of a pointer type.
    pub fn pointee(&self, id: TypeId) -> Option<QualType> {
        match self.kind(id) {
            TypeKind::Pointer(q) => Some(*q),
            _ => None,
        }
    }
}

/// Where something stands: bytes of the preprocessed text, and the user's file and line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Span {
    /// First byte in the preprocessed text.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Index into [`TranslationUnit::files`].
    pub file: u32,
    /// Line in that file, from 1.
    pub line: u32,
}

/// How long a variable lives and who can see it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Storage {
    Local,
    Param,
    StaticLocal,
    /// File scope, whatever its linkage.
    Global,
    ThreadLocal,
}

/// A variable or function name.
#[derive(Clone, Debug)]
pub struct Variable {
    /// As the user wrote it.
    pub name: String,
    /// Declared type (parameters: after decay).
    pub ty: QualType,
    /// Storage duration.
    pub storage: Storage,
    /// Whether its address is taken explicitly by `&` anywhere in the unit (array decay does not count).
    pub address_taken: bool,
    /// Whether another object may stand in for it: `extern`, weak, or an alias.
    pub is_extern: bool,
    /// Whether nobody outside of this file can name it, and the assembler knows it by its own name: `static` at file scope, and nothing that gives it another symbol.
    pub is_internal: bool,
    /// Declaration.
    pub span: Span,
}

/// Arithmetic and bitwise operators on two operands of one type (shifts: the left operand's).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl BinOp {
    /// Spelling in C.
    pub fn c_name(self) -> &'static str {
        match self {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::Div => "/",
            BinOp::Rem => "%",
            BinOp::And => "&",
            BinOp::Or => "|",
            BinOp::Xor => "^",
            BinOp::Shl => "<<",
            BinOp::Shr => ">>",
            BinOp::Lt => "<",
            BinOp::Le => "<=",
            BinOp::Gt => ">",
            BinOp::Ge => ">=",
            BinOp::Eq => "==",
            BinOp::Ne => "!=",
        }
    }
}

/// Operators on one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum UnOp {
    Neg,
    BitNot,
    /// `!x`: int 0 or 1.
    Not,
}

/// A value.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What is computed.
    pub kind: ExprKind,
    /// Its type; never an array or function (those have decayed).
    pub ty: QualType,
    /// Where it stands.
    pub span: Span,
}

impl Expr {
    /// The same value, with more of the text around it. A statement expression is known by where it stands, and stays there.
    pub fn spanning(self, span: Span) -> Expr {
        match self.kind {
            ExprKind::Opaque(STATEMENT_EXPRESSION) => self,
            _ => Expr { span, ..self },
        }
    }
}

/// What is said of a statement expression, which is an opaque one until `loops::full_expressions` takes it apart.
pub const STATEMENT_EXPRESSION: &str = "a statement expression";

/// How a value is computed. Operands are evaluated with C's sequencing: only [`ExprKind::LogicalAnd`],
/// [`ExprKind::LogicalOr`], [`ExprKind::Conditional`] and [`ExprKind::Comma`] fix an order.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ExprKind {
    /// An integer constant (also enumerators, character constants, folded `sizeof`); the value as the type holds it.
    Int(i128),
    /// A floating constant, as its C spelling without suffix, already rounded by the type of the expression.
    Float(String),
    /// A string literal's address (array decayed); its bytes without the terminator.
    Str(Vec<u8>),
    /// The value of a place (lvalue conversion).
    Load(Place),
    /// The address of a place, also of decayed arrays.
    AddressOf(Place),
    /// A function's address.
    Function(VarId),
    /// Operand has the type of the expression, except for `Not`.
    Unary(UnOp, Box<Expr>),
    /// Both operands have one type (shifts excepted); comparisons yield `int`. Pointers appear in comparisons only.
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// Pointer plus index, in elements of `stride` bytes. The index has an integer type of at most 64 bits and is
    /// sign- or zero-extended by it. Subtraction has been negated into the index after conversion to `long`. Of rows of
    /// variable length the index counts elements of these, or of what they consist of.
    PtrAdd { pointer: Box<Expr>, index: Box<Expr>, stride: u64 },
    /// Difference of two pointers, in elements of `stride` bytes, as `long`.
    PtrDiff { left: Box<Expr>, right: Box<Expr>, stride: u64 },
    /// A conversion to the expression's type (arithmetic, pointer, to `_Bool`, to `void`).
    Cast(Box<Expr>),
    /// `c ? a : b`, arms converted to the expression's type. The condition is any scalar.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `a && b`: int 0 or 1.
    LogicalAnd(Box<Expr>, Box<Expr>),
    /// `a || b`: int 0 or 1.
    LogicalOr(Box<Expr>, Box<Expr>),
    /// `a, b`.
    Comma(Box<Expr>, Box<Expr>),
    /// `place = value`; the value is converted to the place's type already.
    Assign(Place, Box<Expr>),
    /// `place op= value`: the place is read, cast to `compute`, combined with the value (which has type `compute`,
    /// shifts excepted), cast back, stored. Pointer `p += n` is `PtrAssign`.
    AssignOp { op: BinOp, place: Place, value: Box<Expr>, compute: QualType },
    /// `p += n` and `p -= n` (index negated), in elements of `stride` bytes.
    PtrAssign { place: Place, index: Box<Expr>, stride: u64 },
    /// `++` and `--`. `amount` is 1 or -1, for pointers times the element size in bytes. `post` yields the old value.
    IncDec { place: Place, amount: i64, post: bool },
    /// A call. Arguments are converted to parameter types or promoted.
    Call { callee: Callee, args: Vec<Expr> },
    /// Something that has a type but that loops may not contain (statement expressions, `va_arg`, compound
    /// literals, vector operations ...); the reason, for remarks. It may do anything.
    Opaque(&'static str),
}

/// Who is called.
#[derive(Clone, Debug)]
pub enum Callee {
    /// A function by name.
    Named(VarId),
    /// A gcc builtin by name, `__builtin_sqrt` say.
    Builtin(String),
    /// Through a pointer.
    Pointer(Box<Expr>),
}

/// An lvalue occurrence.
#[derive(Clone, Debug)]
pub struct Place {
    /// Identity of this occurrence.
    pub id: PlaceId,
    /// How the object is found.
    pub kind: PlaceKind,
    /// Type of the object, arrays not decayed.
    pub ty: QualType,
    /// Where it stands.
    pub span: Span,
}

/// In place of a member's number: bytes that no member has.
pub const NO_FIELD: u32 = u32::MAX;

/// How an object is found.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum PlaceKind {
    /// A variable.
    Var(VarId),
    /// What a pointer points to.
    Deref(Box<Expr>),
    /// A member: `offset` bytes into `base`; `bits` as in [`Field::bits`]. `record` and `field` name it, if it isn't [`NO_FIELD`].
    Field { base: Box<Place>, record: RecordId, field: u32, offset: u64, bits: Option<(u32, u32)> },
    /// Not understood; see [`ExprKind::Opaque`].
    Opaque(&'static str),
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// What a local declaration starts with.
#[derive(Clone, Debug)]
pub enum Init {
    /// The initial value of a scalar, converted to its type, or of a struct or union as a whole.
    Scalar(Expr),
    /// Braces that give values to parts of an aggregate: byte offsets, and values converted to the types of these parts, which are scalars, or structs
    /// or unions as a whole. All other scalars are zero. In which order the values are evaluated, C doesn't say.
    Members(Vec<(u64, Expr)>),
    /// Another braced or string initialiser of an aggregate. It may evaluate anything.
    Aggregate,
}

/// One `for`, `while` or `do` statement.
#[derive(Clone, Debug)]
pub struct LoopStmt {
    /// Identity.
    pub id: LoopId,
    /// Which keyword it is.
    pub keyword: LoopKeyword,
    /// `for` only: what stands in the first clause.
    pub init: Vec<Stmt>,
    /// `None`: forever.
    pub cond: Option<Expr>,
    /// `for` only.
    pub step: Option<Expr>,
    /// The body.
    pub body: Box<Stmt>,
    /// The keyword's position.
    pub keyword_span: Span,
    /// Which of the tokens `for`, `while`, `do` on this line of the preprocessed text it is, from 0, and how many
    /// there are: `driver::splice` finds the same token in the unexpanded text by it.
    pub keyword_ordinal: (u32, u32),
    /// Whether the loop is, without braces, the whole body of an `if`, `else` or other statement (an inserted
    /// `if ... else` could then bind a following `else` or draw a warning).
    pub unbraced_body: bool,
    /// Whether it was copied with a function's body to where that is called, so that its text stands elsewhere, or stands for a call itself, so that it has none.
    pub is_copy: bool,
    /// Whether it stands for a call that fills or copies memory as a whole (`loops::blocks`): element by element, of which none that is stored is
    /// loaded by another one.
    pub is_block: bool,
    /// A variable that the program doesn't have, for loops that are not counted by one of theirs (`loops::counted`).
    pub counter: Option<VarId>,
}

/// A place in memory that a loop may keep in a variable while it runs.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The variable, which the program doesn't have.
    pub var: VarId,
    /// The place, as it stands somewhere in the loop.
    pub place: Place,
}

/// The loop keywords.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum LoopKeyword {
    For,
    While,
    Do,
}

/// What a statement does.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum StmtKind {
    Empty,
    Expr(Expr),
    /// An automatic variable comes into being. Those of one declaration follow each other and share its span.
    Declare {
        var: VarId,
        init: Option<Init>,
    },
    /// A declaration that makes no automatic variable: of types, of static and external objects. Nothing happens.
    Declaration,
    Block(Vec<Stmt>),
    If {
        cond: Expr,
        then: Box<Stmt>,
        otherwise: Option<Box<Stmt>>,
    },
    Loop(LoopStmt),
    Switch {
        cond: Expr,
        body: Box<Stmt>,
    },
    /// `case` and `default` labels (value `None`) in front of a statement.
    Case {
        value: Option<(i128, i128)>,
        body: Box<Stmt>,
    },
    Label {
        name: String,
        body: Box<Stmt>,
    },
    Break,
    Continue,
    Return(Option<Expr>),
    Goto(Option<String>),
    /// The loop that is looked at is left, by what is given: only in forms of loops that are made for that (`loops::leaving`). Whoever walks
    /// the tree sees nothing inside of it: no iteration that runs elsewhere comes here.
    Leave(Box<Stmt>),
    /// Not understood (asm, nested functions ...); the reason.
    Opaque(&'static str),
}

/// A function definition.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub var: VarId,
    /// Parameters in order.
    pub params: Vec<VarId>,
    /// Its body, a block.
    pub body: Stmt,
    /// Whether it is C99 `inline` without `static` (its body may not refer to our static helpers).
    pub extern_inline: bool,
    /// Whether it has internal linkage.
    pub is_static: bool,
    /// Whether nothing in the file can call it, so that the compiler leaves it out; most functions of headers are like that.
    pub is_unused: bool,
    /// Why its loops must stay as they are, if so: its code is generated under other rules than ours would be.
    pub fixed: Option<String>,
    /// From its first token to its closing brace.
    pub span: Span,
}

/// A function that was not lowered.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Refused {
    pub name: String,
    pub reason: String,
    pub span: Span,
    /// Loop keywords inside, so that `explain` still has a record for each.
    pub loops: Vec<Span>,
}

/// A call by name of one of the tracked allocation functions, whose callee token may be replaced.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct AllocationCall {
    /// malloc, calloc, realloc, free, aligned_alloc, posix_memalign.
    pub name: String,
    /// The callee token.
    pub span: Span,
    /// Which occurrence of that identifier on its line of the preprocessed text, from 0, and how many there are.
    pub ordinal: (u32, u32),
}

/// One preprocessed C file, as far as it was understood.
#[derive(Debug, Default)]
pub struct TranslationUnit {
    /// All types.
    pub types: Types,
    /// All variables and functions named anywhere.
    pub variables: Vec<Variable>,
    /// Tokens in long lists of constants at file scope, which nothing else of the tree tells of.
    pub in_tables: usize,
    /// Function definitions that were lowered, in source order.
    pub functions: Vec<Function>,
    /// Function definitions that were not.
    pub refused: Vec<Refused>,
    /// Calls of allocation functions in lowered functions.
    pub allocations: Vec<AllocationCall>,
    /// File names that line markers gave, as they were spelled.
    pub files: Vec<String>,
    /// The main file's index in `files`.
    pub main_file: u32,
    /// Whether some type has the attribute `may_alias`: then no two types are known to be apart.
    pub has_may_alias: bool,
    /// Unions of one member of this type (`loops::blocks`).
    pub unions_of_one: BTreeMap<TypeId, RecordId>,
    /// What the text says of its loops.
    pub pragmas: Vec<Pragma>,
    /// Bodies of functions in which nothing follows a return, where they stand otherwise in the text (`loops::structured`).
    pub structured: BTreeMap<VarId, Stmt>,
    /// Of each loop: places in memory at addresses that it doesn't change, and that it assigns (`loops::cells`).
    pub cells: BTreeMap<LoopId, Vec<Cell>>,
    /// Calls that stand where the bodies of their functions could not (`loops::inline`), by where they begin, and why.
    pub left_calls: BTreeMap<u32, String>,
    /// Loops with variables in place of members of structs (`loops::members`).
    pub by_members: BTreeMap<LoopId, LoopStmt>,
    /// Of those variables: what they are parts of, where that is read or assigned as a whole somewhere, too. Whoever reads it reads them.
    pub members: BTreeMap<VarId, VarId>,
    /// Bodies of functions with these variables in place of all others: what happens to them there.
    pub bodies_by_members: BTreeMap<VarId, Stmt>,
    /// Functions and objects for which something else may stand in: declared as weak, an alias, or with a name for the linker.
    pub replaceable: BTreeSet<VarId>,
    /// Those of them that are so only because they are declared with vector forms (`simd`), as the C library's headers declare
    /// some of libm's functions under `-ffast-math`.
    pub with_vector_forms: BTreeSet<VarId>,
    /// See [`super::pragma::bound_keywords`].
    pub bound_keywords: Vec<u32>,
    /// Where the text takes the address of a variable, or of a part of it: the first bytes of these expressions.
    pub addresses: BTreeMap<VarId, BTreeSet<u32>>,
    /// Variables that text mentions which isn't lowered, such as `asm`.
    pub unseen: BTreeSet<VarId>,
    /// What the file's own objects start with (those that [are internal](Variable::is_internal)), if it was lowered.
    pub initial: BTreeMap<VarId, Init>,
    /// How often the text has the names of these objects, whatever they mean there.
    pub mentions: BTreeMap<VarId, u32>,
    /// The byte of the preprocessed text where a variable is assigned last. Initial values are no assignments.
    pub last_assigned: BTreeMap<VarId, u32>,
    /// The lengths of arrays of variable length.
    pub lengths: Vec<Length>,
    /// Loads of variables that lengths consist of, where a row is found by its length, and that length (`loops::rows`).
    pub lengths_read: BTreeMap<PlaceId, LengthId>,
    /// What the braces of compound literals give whose values are opaque expressions with this first and last byte: of structs, where that is as simple
    /// as [`Init::Members`] says.
    pub literals: BTreeMap<(u32, u32), Vec<(u64, Expr)>>,
    /// What stands in the statement expressions that are opaque expressions with this first and last byte. Loops in there
    /// have numbers that others have, too.
    pub statement_expressions: BTreeMap<(u32, u32), Vec<Stmt>>,
    /// Identities of places and loops from these numbers on are free.
    pub n_places: u32,
    /// See `n_places`.
    pub n_loops: u32,
}

impl TranslationUnit {
    /// What is wished for a loop, or for the one that it is a copy of.
    pub fn wish(&self, l: &LoopStmt) -> Option<Wish> {
        let of_loop = self.pragmas.iter().filter(|pragma| pragma.before == l.keyword_span.start);
        of_loop.filter_map(|pragma| pragma.wish.clone().ok()).next()
    }
    /// The places that a loop may keep in variables.
    pub fn cells(&self, of: LoopId) -> &[Cell] {
        self.cells.get(&of).map_or(&[], Vec::as_slice)
    }
    /// A variable that the program doesn't have: of this type, without qualifiers.
    pub fn new_variable(&mut self, name: &str, ty: QualType, span: Span) -> VarId {
        self.variables.push(Variable {
            name: name.to_owned(),
            ty: QualType { quals: Quals::default(), ..ty },
            storage: Storage::Local,
            address_taken: false,
            is_extern: false,
            is_internal: false,
            span,
        });
        VarId(self.variables.len() as u32 - 1)
    }
    /// A place with an identity of its own.
    pub fn new_place(&mut self, kind: PlaceKind, ty: QualType, span: Span) -> Place {
        self.n_places += 1;
        Place { id: PlaceId(self.n_places - 1), kind, ty, span }
    }
    /// The variable `id`.
    pub fn var(&self, id: VarId) -> &Variable {
        &self.variables[id.0 as usize]
    }
}

impl fmt::Display for LoopKeyword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LoopKeyword::For => "for",
            LoopKeyword::While => "while",
            LoopKeyword::Do => "do",
        })
    }
}
