//! Calls that fill or copy memory as a whole (`memset(row, 0, n * sizeof *row)`, `memcpy(to + i * n, from, n * sizeof *to)`) as what they do to its elements: a loop, or some
//! assignments. Whoever comes after sees accesses like any other. In place, where the program would call the function, the loop is printed as that call again ([`block`]), since nothing is faster.
//!
//! What the bytes are is left open, as C leaves it: elements are as wide as both pointers, and the number of bytes, allow, and accesses go through a union, so that no type tells them apart
//! from others (`loops::alias`). Only what is declared as an array, or a variable, is one for certain.
//!
//! Not here: `memmove`, whose two sides may have bytes in common, and calls whose value is used.

use super::hoist::{has_effects, is_stable};
use super::libm;
use super::nest;
use super::options::AnalysisOptions;
use super::whole::by_members;
use crate::c::constant;
use crate::c::hir::*;

/// Elements that are assigned one by one: of an array that is declared, whose elements may be variables then (`loops::members`), and of any other memory.
const FEW_OF_OBJECTS: u64 = 16;
const FEW: u64 = 4;

/// Puts loops and assignments in the place of the calls.
pub fn spell_out(unit: &mut TranslationUnit, options: &AnalysisOptions) {
    nest::replace_everywhere(unit, &|unit, e| called(unit, options, e).is_some(), &mut |unit, e| {
        let call = called(unit, options, e)?;
        Writer::new(unit, options, e.span).replaced(&call)
    });
}

/// A call that fills or copies.
struct Called {
    to: Expr,
    /// The byte that fills, or where it is copied from.
    what: Expr,
    copies: bool,
    /// How many bytes, as an `unsigned long`.
    size: Expr,
}

/// The call that an expression is, perhaps converted.
fn called(unit: &TranslationUnit, options: &AnalysisOptions, e: &Expr) -> Option<Called> {
    let mut call = e;
    while let ExprKind::Cast(inner) = &call.kind {
        call = inner;
    }
    let ExprKind::Call { callee, args } = &call.kind else { return None };
    let [to, what, size] = args.as_slice() else { return None };
    let copies = libm::is_library(unit, options, callee, "memcpy");
    if !copies && !libm::is_library(unit, options, callee, "memset") {
        return None;
    }
    let is_pointer = |e: &Expr| unit.types.pointee(e.ty.ty).is_some();
    let fits = is_pointer(to)
        && is_pointer(what) == copies
        && (copies || unit.types.as_int(what.ty.ty) == Some(IntKind::Int))
        && unit.types.as_int(size.ty.ty) == Some(IntKind::ULong)
        && !args.iter().any(has_effects);
    fits.then(|| Called { to: to.clone(), what: what.clone(), copies, size: size.clone() })
}

/// One side of a call.
#[derive(Clone)]
struct Side {
    /// The pointer as it was before it was converted to `void *`.
    pointer: Expr,
    /// The type of the elements that it leads to, through all dimensions of arrays, where that is a number or pointer.
    element: Option<QualType>,
    /// A multiple of which the address is, in bytes.
    align: u64,
    /// Whether it leads to a declared object that consists of such elements: their type is known then.
    is_object: bool,
    /// The same object, if it is a single element, which is accessed as a whole.
    single: Option<Place>,
    /// What it leads to, if that is a struct or union that can be copied by its members, and the declared object that this is.
    record: Option<(QualType, Option<Place>)>,
}

impl Side {
    /// `None`: nothing may be said of what is there. `bytes`: how many are accessed, if that is known: members of a struct may be filled together from the first one's address on.
    fn of(unit: &TranslationUnit, e: &Expr, bytes: Option<u64>) -> Option<Side> {
        let types = &unit.types;
        let mut e = e;
        while let ExprKind::Cast(inner) = &e.kind
            && types.pointee(inner.ty.ty).is_some()
        {
            e = inner;
        }
        let whole = types.pointee(e.ty.ty)?;
        let mut pointee = whole;
        let is_plain = |ty: QualType| !ty.quals.is_volatile && !ty.quals.is_atomic;
        let mut plain = is_plain(pointee);
        while let TypeKind::Array(element, _) = types.kind(pointee.ty) {
            pointee = *element;
            plain &= is_plain(pointee);
        }
        if !plain {
            return None;
        }
        let element = match types.kind(pointee.ty) {
            TypeKind::Int(kind) | TypeKind::Enum(kind) => kind.size() <= 8,
            TypeKind::Float(kind) => matches!(kind, FloatKind::Float | FloatKind::Double),
            TypeKind::Pointer(_) => true,
            _ => false,
        };
        let element = element.then_some(QualType { quals: Quals::default(), ..pointee });
        let place = match &e.kind {
            ExprKind::AddressOf(place) if !leads_away(place) => Some(place),
            _ => None,
        };
        let size_of = |place: &Place| types.size_of(place.ty.ty);
        let is_array = |place: &Place| matches!(types.kind(place.ty.ty), TypeKind::Array(..));
        // Of a variable there is nothing behind it.
        let holds_all = |place: &Place| match bytes {
            Some(bytes) => size_of(place).is_some_and(|size| bytes <= size),
            None => matches!(place.kind, PlaceKind::Var(_)) && is_array(place),
        };
        let align = types.align_of(pointee.ty).filter(|align| align.is_power_of_two());
        let is_single = |place: &&Place| {
            element.is_some_and(|element| place.ty.ty == element.ty) && size_of(place) == bytes
        };
        let is_record = matches!(types.kind(whole.ty), TypeKind::Record(_)) && by_members(types, whole);
        let object = place.filter(|place| place.ty.ty == whole.ty).cloned();
        Some(Side {
            record: is_record.then_some((QualType { quals: Quals::default(), ..whole }, object)),
            pointer: e.clone(),
            element,
            align: align.unwrap_or(1).min(8),
            is_object: element.is_some()
                && place
                    .is_some_and(|place| holds_all(place) && (is_array(place) || size_of(place) == bytes)),
            single: place.filter(is_single).cloned(),
        })
    }
}

/// Whether a place lies behind a pointer, or may, or is no whole number.
fn leads_away(place: &Place) -> bool {
    match &place.kind {
        PlaceKind::Var(_) => false,
        PlaceKind::Field { base, bits, .. } => bits.is_some() || leads_away(base),
        PlaceKind::Deref(_) | PlaceKind::Opaque(_) => true,
    }
}

/// Makes what stands in the place of one call.
struct Writer<'a> {
    unit: &'a mut TranslationUnit,
    options: &'a AnalysisOptions,
    span: Span,
    before: Vec<Stmt>,
}

impl Writer<'_> {
    fn new<'a>(unit: &'a mut TranslationUnit, options: &'a AnalysisOptions, span: Span) -> Writer<'a> {
        Writer { unit, options, span, before: Vec::new() }
    }

    fn replaced(mut self, call: &Called) -> Option<StmtKind> {
        let known = constant::fold(&self.unit.types, &call.size).and_then(|size| u64::try_from(size).ok());
        let to = Side::of(self.unit, &call.to, known)?;
        let from = if call.copies { Some(Side::of(self.unit, &call.what, known)?) } else { None };
        if let Some(copy) = from.as_ref().and_then(|from| self.copied_struct(&to, from, &call.size)) {
            return Some(copy);
        }
        let sides = [Some(&to), from.as_ref()].into_iter().flatten();
        // A number of the program's is as wide as it is, wherever its bytes come from or go to.
        let whole = sides.clone().find(|side| side.single.is_some()).and(known);
        let byte = constant::fold(&self.unit.types, &call.what).filter(|_| !call.copies);
        let widest = match whole {
            Some(width) => width,
            None => sides.clone().map(|side| side.align).min()?,
        };
        // What fills isn't known before: byte by byte.
        let widest = if call.copies || byte.is_some() { widest } else { 1 };
        let widths =
            [8, 4, 2, 1].into_iter().filter(|width| *width <= widest && whole.is_none_or(|w| w == *width));
        let (width, count) =
            widths.filter_map(|width| Some((width, self.elements(&call.size, width)?))).next()?;
        let ty = self.element(&to, from.as_ref(), byte, width);
        let few = if sides.clone().all(|side| side.is_object) { FEW_OF_OBJECTS } else { FEW };
        let once = known.map(|size| size / width).filter(|count| *count <= few);
        let to = self.held(&to, "destination");
        let from = from.as_ref().map(|from| self.held(from, "source"));
        let filling = match byte {
            _ if call.copies => None,
            Some(byte) => Some(self.filling(byte, ty, width)),
            None => {
                let value = self.kept(call.what.clone(), "byte");
                Some(self.expr(ExprKind::Cast(Box::new(value)), ty))
            }
        };
        let assigned = |writer: &mut Self, index: &Expr| {
            let value = match (&from, &filling) {
                (Some(from), _) => {
                    let place = writer.place(from, ty, width, index);
                    writer.expr(ExprKind::Load(place), ty)
                }
                (None, Some(value)) => writer.again(value),
                (None, None) => return None,
            };
            let place = writer.place(&to, ty, width, index);
            let e = writer.expr(ExprKind::Assign(place, Box::new(value)), ty);
            Some(writer.statement(StmtKind::Expr(e)))
        };
        let count_type = call.size.ty;
        if let Some(count) = once {
            for index in 0..count {
                let index = self.expr(ExprKind::Int(index.into()), count_type);
                let statement = assigned(&mut self, &index)?;
                self.before.push(statement);
            }
            return Some(StmtKind::Block(self.before));
        }
        let count = self.kept(count, "elements");
        let counter = self.unit.new_variable("element", count_type, self.span);
        let index = self.load(counter, count_type);
        let body = assigned(&mut self, &index)?;
        let zero = self.expr(ExprKind::Int(0), count_type);
        let init = self.statement(StmtKind::Declare { var: counter, init: Some(Init::Scalar(zero)) });
        let int =
            QualType { ty: self.unit.types.intern(TypeKind::Int(IntKind::Int)), quals: Quals::default() };
        let (value, place) = (self.load(counter, count_type), self.variable(counter, count_type));
        let cond = self.expr(ExprKind::Binary(BinOp::Lt, Box::new(value), Box::new(count)), int);
        let step = self.expr(ExprKind::IncDec { place, amount: 1, post: false }, count_type);
        self.unit.n_loops += 1;
        let the_loop = StmtKind::Loop(LoopStmt {
            id: LoopId(self.unit.n_loops - 1),
            keyword: LoopKeyword::For,
            init: vec![init],
            cond: Some(cond),
            step: Some(step),
            body: Box::new(body),
            keyword_span: self.span,
            keyword_ordinal: (0, 0),
            unbraced_body: false,
            is_copy: true,
            is_block: true,
            counter: None,
        });
        if self.before.is_empty() {
            return Some(the_loop);
        }
        let the_loop = self.statement(the_loop);
        self.before.push(the_loop);
        Some(StmtKind::Block(self.before))
    }

    /// The assignment that copies a struct to or from a declared one, if the call copies one as a whole. (Of two in memory nothing is known but bytes, which are copied as such.)
    fn copied_struct(&mut self, to: &Side, from: &Side, size: &Expr) -> Option<StmtKind> {
        let ((ty, object), (other, from_object)) = (to.record.as_ref()?, from.record.as_ref()?);
        let bytes = self.unit.types.size_of(ty.ty)?;
        let is_declared = object.is_some() || from_object.is_some();
        if !is_declared || ty.ty != other.ty || constant::fold(&self.unit.types, size) != Some(bytes.into()) {
            return None;
        }
        let mut place = |object: &Option<Place>, side: &Side| match object {
            Some(object) => self.place_again(object),
            None => self.in_union(&side.pointer, None, *ty, bytes),
        };
        let (to, from) = (place(object, to), place(from_object, from));
        let value = self.expr(ExprKind::Load(from), *ty);
        Some(StmtKind::Expr(self.expr(ExprKind::Assign(to, Box::new(value)), *ty)))
    }

    /// The type that elements of this width are accessed as.
    fn element(&mut self, to: &Side, from: Option<&Side>, byte: Option<i128>, width: u64) -> QualType {
        let types = &self.unit.types;
        let fits = |side: &Side| side.element.filter(|element| types.size_of(element.ty) == Some(width));
        // Which bytes a number has that isn't zero is known of integers only, and of what there is no other than 0 and 1 nothing can be said.
        let is_filled = |ty: QualType| match types.kind(ty.ty) {
            TypeKind::Int(IntKind::Bool) => matches!(byte, Some(0 | 1)),
            TypeKind::Int(_) | TypeKind::Enum(_) => true,
            _ => byte == Some(0),
        };
        let is_number = |ty: &QualType| types.as_int(ty.ty).is_some_and(|kind| kind != IntKind::Bool);
        let known = match from {
            None => fits(to).filter(|ty| is_filled(*ty)),
            Some(from) => {
                let object = |side: &Side| fits(side).filter(|_| side.is_object);
                // Bytes that are moved aren't computed with: where nobody has declared them, they are integers.
                let alike = fits(to).filter(|ty| fits(from) == Some(*ty) && is_number(ty));
                object(to).or_else(|| object(from)).or(alike)
            }
        };
        let kind = match width {
            8 => IntKind::ULong,
            4 => IntKind::UInt,
            2 => IntKind::UShort,
            _ => IntKind::UChar,
        };
        known.unwrap_or_else(|| QualType {
            ty: self.unit.types.intern(TypeKind::Int(kind)),
            quals: Quals::default(),
        })
    }

    /// How many elements of this width so many bytes are, if that is a whole number of them.
    fn elements(&mut self, size: &Expr, width: u64) -> Option<Expr> {
        if width == 1 {
            return Some(size.clone());
        }
        let (ty, span) = (size.ty, size.span);
        let int = |value: u64| Expr { kind: ExprKind::Int(value.into()), ty, span };
        if let Some(known) = constant::fold(&self.unit.types, size) {
            let known = u64::try_from(known).ok()?;
            return known.is_multiple_of(width).then(|| int(known / width));
        }
        // Of a product: what each of its factors counts. Of a number that was computed as an `int` and can't have overflowed as well.
        let (product, is_signed) = match &size.kind {
            ExprKind::Cast(inner) => {
                let kind = self.unit.types.as_int(inner.ty.ty)?;
                let exact = kind.signed() && kind.size() >= 4 && !self.options.wrapping;
                (Some(&**inner).filter(|_| exact)?, true)
            }
            _ => (size, false),
        };
        let (factor, times) = match &product.kind {
            ExprKind::Binary(BinOp::Mul, a, b) => {
                let known =
                    |e: &Expr| constant::fold(&self.unit.types, e).and_then(|n| u64::try_from(n).ok());
                match (known(a), known(b)) {
                    (_, Some(times)) => (a, times),
                    (Some(times), _) => (b, times),
                    _ => return None,
                }
            }
            // Where it shifts bits out, a shift of an `int` is no overflow to compilers.
            ExprKind::Binary(BinOp::Shl, a, by) if !is_signed => {
                let by = constant::fold(&self.unit.types, by)?;
                (a, 1u64.checked_shl(u32::try_from(by).ok()?).filter(|_| by < 32)?)
            }
            _ => return None,
        };
        if !times.is_multiple_of(width) {
            return None;
        }
        let times = times / width;
        let within = product.ty;
        let mut count = (**factor).clone();
        if times > 1 {
            let times = Expr { kind: ExprKind::Int(times.into()), ty: within, span };
            count = Expr {
                kind: ExprKind::Binary(BinOp::Mul, Box::new(count), Box::new(times)),
                ty: within,
                span,
            };
        }
        if is_signed {
            return Some(Expr { kind: ExprKind::Cast(Box::new(count)), ty, span });
        }
        // The product is one modulo 2^64, so the number of elements is one modulo as much less. What was an `int` isn't large enough, or so large that nobody has as much memory.
        let is_narrow = match &count.kind {
            ExprKind::Cast(inner) => self.unit.types.as_int(inner.ty.ty).is_some_and(|kind| kind.size() <= 4),
            _ => false,
        };
        if is_narrow {
            return Some(count);
        }
        let most = int(u64::MAX / width);
        Some(Expr { kind: ExprKind::Binary(BinOp::And, Box::new(count), Box::new(most)), ty, span })
    }

    /// An element of which each byte is this one.
    fn filling(&mut self, byte: i128, ty: QualType, width: u64) -> Expr {
        let kind = self.unit.types.as_int(ty.ty);
        let bytes = (0..width).fold(0, |all: i128, _| all << 8 | (byte & 0xff));
        match (kind, self.unit.types.kind(ty.ty)) {
            (Some(kind), _) => self.expr(ExprKind::Int(constant::wrap(bytes, kind).unwrap_or(0)), ty),
            (None, TypeKind::Float(_)) => self.expr(ExprKind::Float("0.0".into()), ty),
            (None, _) => {
                let long = self.unit.types.intern(TypeKind::Int(IntKind::ULong));
                let zero = self.expr(ExprKind::Int(0), QualType { ty: long, quals: Quals::default() });
                self.expr(ExprKind::Cast(Box::new(zero)), ty)
            }
        }
    }

    /// An element of one side.
    fn place(&mut self, side: &Side, ty: QualType, width: u64, index: &Expr) -> Place {
        let is_its_own = side.is_object && side.element.is_some_and(|element| element.ty == ty.ty);
        if is_its_own && let Some(single) = &side.single {
            return self.place_again(single);
        }
        if !is_its_own {
            return self.in_union(&side.pointer, Some(index), ty, width);
        }
        let at = self.at(&side.pointer, Some(index), ty, width);
        let span = self.span;
        self.unit.new_place(PlaceKind::Deref(Box::new(at)), ty, span)
    }

    /// What a pointer leads to, so many elements on, as the member of a union.
    fn in_union(&mut self, pointer: &Expr, index: Option<&Expr>, ty: QualType, width: u64) -> Place {
        let (record, union) = self.union(ty, width);
        let at = self.at(pointer, index, union, width);
        let span = self.span;
        let base = Box::new(self.unit.new_place(PlaceKind::Deref(Box::new(at)), union, span));
        let field = PlaceKind::Field { base, record, field: 0, offset: 0, bits: None };
        self.unit.new_place(field, ty, span)
    }

    /// A pointer as one to elements of this type, so many of these on.
    fn at(&mut self, pointer: &Expr, index: Option<&Expr>, pointed: QualType, width: u64) -> Expr {
        let ty = self.unit.types.intern(TypeKind::Pointer(pointed));
        let ty = QualType { ty, quals: Quals::default() };
        let pointer = self.again(pointer);
        let pointer = match pointer.ty.ty == ty.ty {
            true => pointer,
            false => self.expr(ExprKind::Cast(Box::new(pointer)), ty),
        };
        let Some(index) = index else { return pointer };
        let index = Box::new(self.again(index));
        self.expr(ExprKind::PtrAdd { pointer: Box::new(pointer), index, stride: width }, ty)
    }

    /// A union of this type alone.
    fn union(&mut self, ty: QualType, size: u64) -> (RecordId, QualType) {
        let record = match self.unit.unions_of_one.get(&ty.ty) {
            Some(record) => *record,
            None => {
                let fields = Some(vec![Field { name: None, ty, offset: 0, bits: None }]);
                let align = self.unit.types.align_of(ty.ty).unwrap_or(1);
                let union = Record { tag: None, alias: None, is_union: true, fields, size, align };
                let record = self.unit.types.add_record(union);
                self.unit.unions_of_one.insert(ty.ty, record);
                record
            }
        };
        (record, QualType { ty: self.unit.types.intern(TypeKind::Record(record)), quals: Quals::default() })
    }

    /// The same side, with what something that is assigned may change in variables.
    fn held(&mut self, side: &Side, name: &str) -> Side {
        let mut pointer = side.pointer.clone();
        self.hold(&mut pointer, name);
        Side { pointer, ..side.clone() }
    }

    /// Keeps what leads to an array and what says where in it apart: accesses are to that array then.
    fn hold(&mut self, e: &mut Expr, name: &str) {
        if is_stable(self.unit, e) {
            return;
        }
        match &mut e.kind {
            ExprKind::Cast(inner) if self.unit.types.pointee(inner.ty.ty).is_some() => self.hold(inner, name),
            ExprKind::PtrAdd { pointer, index, .. } => {
                self.hold(pointer, name);
                **index = self.kept((**index).clone(), "position");
            }
            ExprKind::AddressOf(place) => self.hold_place(place, name),
            _ => *e = self.kept(e.clone(), name),
        }
    }

    fn hold_place(&mut self, place: &mut Place, name: &str) {
        match &mut place.kind {
            PlaceKind::Field { base, .. } => self.hold_place(base, name),
            PlaceKind::Deref(pointer) => self.hold(pointer, name),
            PlaceKind::Var(_) | PlaceKind::Opaque(_) => {}
        }
    }

    /// The same value, in a variable if something that is assigned may change it.
    fn kept(&mut self, e: Expr, name: &str) -> Expr {
        if is_stable(self.unit, &e) {
            return e;
        }
        let ty = QualType { quals: Quals::default(), ..e.ty };
        let var = self.unit.new_variable(name, ty, self.span);
        let declared = self.statement(StmtKind::Declare { var, init: Some(Init::Scalar(e)) });
        self.before.push(declared);
        self.load(var, ty)
    }

    /// The same place, with an identity of its own.
    fn place_again(&mut self, place: &Place) -> Place {
        let mut place = place.clone();
        nest::change_place(&mut place, true, &mut nest::Numbered(&mut self.unit.n_places));
        place
    }

    /// The same expression, with places of its own.
    fn again(&mut self, e: &Expr) -> Expr {
        let mut e = e.clone();
        nest::change_expression(&mut e, &mut nest::Numbered(&mut self.unit.n_places));
        e
    }

    fn expr(&self, kind: ExprKind, ty: QualType) -> Expr {
        Expr { kind, ty, span: self.span }
    }

    fn statement(&self, kind: StmtKind) -> Stmt {
        Stmt { kind, span: self.span }
    }

    fn variable(&mut self, var: VarId, ty: QualType) -> Place {
        let span = self.span;
        self.unit.new_place(PlaceKind::Var(var), ty, span)
    }

    fn load(&mut self, var: VarId, ty: QualType) -> Expr {
        let place = self.variable(var, ty);
        self.expr(ExprKind::Load(place), ty)
    }
}

/// What a loop does that stands for such a call.
pub struct Block<'a> {
    /// An element.
    pub to: &'a Place,
    /// Where it is copied from; else it is set to `value`.
    pub from: Option<&'a Place>,
    /// The element's value.
    pub value: &'a Expr,
    /// How many elements.
    pub count: &'a Expr,
}

/// The call that a loop stands for, if it does and still is what [`spell_out`] has made of it.
pub fn block(l: &LoopStmt) -> Option<Block<'_>> {
    let StmtKind::Expr(Expr { kind: ExprKind::Assign(to, value), .. }) = &l.body.kind else { return None };
    let ExprKind::Binary(BinOp::Lt, _, count) = &l.cond.as_ref()?.kind else { return None };
    let from = match &value.kind {
        ExprKind::Load(place) => Some(place),
        _ => None,
    };
    l.is_block.then_some(Block { to, from, value, count })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::judged;
    use crate::loops::alias;
    use crate::loops::plan::{Check, LoopReport};

    const HEAD: &str = "typedef unsigned long size_t; void *memcpy(void *, const void *, size_t); void *memset(void *, int, size_t); void *memmove(void *, const void *, size_t);\n\
        struct s { double x; int k; }; int next(void);\n";

    fn options() -> AnalysisOptions {
        AnalysisOptions { strict_aliasing: true, ..AnalysisOptions::default() }
    }

    fn reported(parameters: &str, body: &str, options: &AnalysisOptions) -> (TranslationUnit, LoopReport) {
        let text = format!("{HEAD}void f({parameters})\n{{ for (int i = 0; i < n; i++) {{ {body} }} }}\n");
        let (unit, reports) = judged(&text, options);
        let report = reports.into_iter().next().unwrap_or_else(|| panic!("{body}"));
        (unit, report)
    }

    const ARRAYS: &str = "int n, int m, size_t z, double *restrict a, double *restrict b, char *restrict c, struct s *restrict p, struct s *restrict q, short *restrict h, const int *restrict v, volatile int *w";

    /// What the loop is checked by, if it may run elsewhere.
    fn check(body: &str) -> Option<Check> {
        let (_, report) = reported(ARRAYS, body, &options());
        report.plan.as_ref().map(|_| report.check)
    }

    #[test]
    fn calls_are_what_they_do() {
        for body in [
            "memcpy(a + i * m, b + i * m, m * sizeof *a);",
            "memset(a + i * m, 0, sizeof(double) * m);",
            "memcpy(a + i * z, b, z * 8);",
            "memset(h + i * m, 255, m << 1);",
            "memset(c + i * m, v[i], (size_t)m);",
            "memcpy(&p[i], &q[i], sizeof *p);",
            "memset(p + i, 0, sizeof(struct s));",
            "double d[4]; memcpy(d, b + 4 * i, sizeof d); a[i] = d[0] + d[3];",
            "int k; memcpy(&k, c + 4 * i, 4); a[i] = k;",
            "(void)__builtin_memset(&a[i], 0, sizeof *a);",
            "int count[300]; memset(count, 0, sizeof count); count[v[i] & 255]++; a[i] = count[3];",
        ] {
            assert!(matches!(check(body), Some(Check::None | Check::Predicate)), "{body}: {:?}", check(body));
        }
    }

    #[test]
    fn other_calls_stay() {
        for body in [
            "memmove(a + i * m, b + i * m, m * sizeof *a);",
            "a[i] = *(double *)memcpy(c + 8 * i, b + i, 8);",
            "memcpy(a + i * m, b + i * m, next());",
            "memset(w + i, 0, sizeof *w);",
            "memset((void *)(w + i), 0, 4);",
        ] {
            assert_eq!(check(body), None, "{body}");
        }
        let disowned = AnalysisOptions { not_builtin: vec!["memset".into()], ..options() };
        let (_, report) = reported(ARRAYS, "memset(a + i, 0, 8);", &disowned);
        assert!(report.plan.is_none());
    }

    /// The limit of the loop that a call becomes, and the width of its elements.
    fn shape(body: &str) -> (ExprKind, u64) {
        let (unit, _) = reported(ARRAYS, body, &options());
        let mut found = None;
        nest::statements(&unit.functions[0].body, &mut |s| {
            if let StmtKind::Loop(l) = &s.kind
                && let Some(block) = block(l)
            {
                found = Some((block.count.kind.clone(), unit.types.size_of(block.to.ty.ty).unwrap()));
            }
        });
        found.unwrap_or_else(|| panic!("{body}"))
    }

    #[test]
    fn sizes_count_elements_modulo_the_largest_size() {
        for (body, wanted) in [
            // What was an `int` is never as large as to wrap around.
            ("memcpy(a, b, m * sizeof *a);", 8),
            ("memcpy(a, b, (size_t)(m * 8));", 8),
            ("memset(h, 0, m * 2);", 2),
        ] {
            let (count, width) = shape(body);
            assert!(matches!(count, ExprKind::Cast(_)) && width == wanted, "{body}: {count:?}");
        }
        for (body, wanted) in [("memcpy(a, b, z * sizeof *a);", 8), ("memset(a, 0, z << 4);", 8)] {
            let (count, width) = shape(body);
            let ExprKind::Binary(BinOp::And, _, most) = count else { panic!("{body}: {count:?}") };
            assert!(
                matches!(most.kind, ExprKind::Int(most) if most == i128::from(u64::MAX / wanted))
                    && width == wanted,
                "{body}"
            );
        }
        // Of these nothing is known but their bytes.
        for body in
            ["memcpy(a, b, z);", "memset(a, 0, z * 3);", "memset(a, v[i], z * 8);", "memcpy(a, c, z * 8);"]
        {
            let (count, width) = shape(body);
            assert!(
                width == 1 && matches!(count, ExprKind::Load(_) | ExprKind::Binary(BinOp::Mul, ..)),
                "{body}: {count:?}"
            );
        }
    }

    #[test]
    fn members_are_filled_together() {
        let head = format!("{HEAD}struct t {{ int first, second; double rest[3]; }};\n");
        for (call, is_one) in [
            ("memset(&t.first, 0, sizeof t.first);", true),
            ("memset(&t.first, 0, 8);", false),
            ("memset(&t.second, 0, sizeof t - 4);", false),
            ("memset(t.rest, 0, sizeof t.rest);", true),
            ("memset(t.rest, 0, z);", false),
        ] {
            let text = format!(
                "{head}void f(int n, size_t z, int *a) {{ for (int i = 0; i < n; i++) {{ struct t t; {call} a[i] = t.second; }} }}"
            );
            let (unit, _) = judged(&text, &options());
            let mut unions = 0;
            nest::all_expressions(&unit.functions[0].body, &mut |e| {
                if let ExprKind::Assign(Place { kind: PlaceKind::Field { record, .. }, .. }, _) = &e.kind {
                    unions += usize::from(unit.types.record(*record).is_union);
                }
            });
            assert_eq!(unions == 0, is_one, "{call}");
        }
    }

    #[test]
    fn shifts_of_ints_lose_bits() {
        let (count, width) = shape("memcpy(a, b, (size_t)(m << 3));");
        assert!(width == 1 && matches!(count, ExprKind::Cast(_)), "{count:?}");
    }

    #[test]
    fn bytes_may_be_those_of_any_type() {
        // By C's rules an element of one type isn't one of the other, unless bytes are copied.
        let may_change = |stores: &str| {
            let body = format!("{stores} a[i] = b[i];");
            let (unit, _) =
                reported("int n, long *x, const long *y, double *a, double *b", &body, &options());
            let (mut stored, mut read) = (None, None);
            nest::all_expressions(&unit.functions[0].body, &mut |e| match &e.kind {
                ExprKind::Assign(place, _)
                    if stored.is_none() && !matches!(place.kind, PlaceKind::Var(_)) =>
                {
                    stored = Some(place)
                }
                ExprKind::Load(place) if matches!(unit.types.kind(place.ty.ty), TypeKind::Float(_)) => {
                    read = Some(place)
                }
                _ => {}
            });
            alias::may_change(&unit, true, stored.unwrap(), read.unwrap())
        };
        assert!(!may_change("x[i + 1] = y[i];"));
        assert!(may_change("memcpy(x + i + 1, y + i, sizeof *x);"));
        assert!(may_change("memset(x + i, 0, n * sizeof *x);"));
    }
}
