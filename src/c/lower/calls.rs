//! Calls: of functions by name, through pointers, of gcc's builtins, and of the operators on types that the parse view
//! writes as calls.

use tree_sitter::Node;

use super::super::constant;
use super::super::hir::*;
use super::builtins::{self, Result as BuiltinResult};
use super::expressions::Operand;
use super::names::Entity;
use super::source::{field, named};
use super::{Lowered, Lowering};

/// The functions whose calls are recorded, so that they can be routed through our own.
const ALLOCATION_FUNCTIONS: [&str; 6] =
    ["malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign"];

impl Lowering<'_> {
    pub(super) fn call(&mut self, node: Node, span: Span) -> Lowered<Operand> {
        let function = field(node, "function")?;
        let arguments = named(field(node, "arguments")?);
        let value = |kind: ExprKind, ty: QualType| Ok(Operand::Value(Expr { kind, ty, span }));
        if function.kind() == "identifier" {
            let name = self.source.spelling(function);
            // The view's own names can't be told from the user's by their spelling.
            match self.source.text(function) {
                "pg_label" if name == "&&" => {
                    let void = self.void();
                    let pointer = self.intern(TypeKind::Pointer(void));
                    // The label stands behind what the tree has of it.
                    let token = self.source.token(function).ok_or("a label from nowhere")?;
                    let span = self.tokens.span_of(token, token + 1);
                    let kind = ExprKind::Opaque("the address of a label");
                    return Ok(Operand::Value(Expr { kind, ty: pointer, span }));
                }
                "pg_alignof" if name != "pg_alignof" => return self.alignof(&arguments, span),
                _ if self.lookup(name).is_none() => {
                    return self.call_undeclared(name, function, &arguments, span);
                }
                _ => {}
            }
        }
        let (callee, ty) = match self.operand(function)? {
            Operand::Function(id) => {
                self.note_allocation(function, id);
                (Callee::Named(id), self.unit.var(id).ty)
            }
            Operand::Designator(pointer) => {
                let ty = self.types().pointee(pointer.ty.ty).ok_or("a call of no function")?;
                (Callee::Pointer(Box::new(pointer)), ty)
            }
            other => {
                let pointer = self.decayed(other, span)?;
                let ty = self.types().pointee(pointer.ty.ty).ok_or("a call of no function")?;
                match pointer.kind {
                    ExprKind::Function(id) => (Callee::Named(id), ty),
                    _ => (Callee::Pointer(Box::new(pointer)), ty),
                }
            }
        };
        let TypeKind::Function { ret, params, variadic, prototyped } = self.types().kind(ty.ty).clone()
        else {
            return Err("a call of no function".into());
        };
        if prototyped && (arguments.len() < params.len() || (arguments.len() > params.len() && !variadic)) {
            return Err("a call with too few or too many arguments".into());
        }
        let mut args = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            let argument = self.value(*argument)?;
            args.push(match params.get(index).filter(|_| prototyped) {
                Some(param) => self.assigned(argument, *param)?,
                None => self.default_promoted(argument)?,
            });
        }
        if !self.is_void(ret) && self.types().size_of(ret.ty).is_none() {
            return Err(self.incomplete(ret));
        }
        value(ExprKind::Call { callee, args }, ret)
    }

    fn call_undeclared(
        &mut self,
        name: &str,
        function: Node,
        arguments: &[Node],
        span: Span,
    ) -> Lowered<Operand> {
        if name.starts_with("__builtin_") || name.starts_with("__sync_") || name.starts_with("__atomic_") {
            return self.builtin(name, arguments, span);
        }
        if builtins::is_known_to_compiler(name) {
            return Err(format!("{name} is called without a declaration").into());
        }
        let id = self.implicit_function(name, self.source.span(function));
        let mut args = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let argument = self.value(*argument)?;
            args.push(self.default_promoted(argument)?);
        }
        let ty = self.int_type(IntKind::Int);
        Ok(Operand::Value(Expr { kind: ExprKind::Call { callee: Callee::Named(id), args }, ty, span }))
    }

    /// Remembers a call of an allocation function whose name may be replaced.
    fn note_allocation(&mut self, callee: Node, id: VarId) {
        let variable = self.unit.var(id);
        if callee.kind() != "identifier" || !ALLOCATION_FUNCTIONS.contains(&variable.name.as_str()) {
            return;
        }
        let name = variable.name.clone();
        if let Some(token) = self.source.token(callee) {
            let (span, ordinal) = (self.tokens.span(token), self.tokens.ordinal(token));
            self.unit.allocations.push(AllocationCall { name, span, ordinal });
            self.allocation_callees.push(id);
        }
    }

    // ---- Builtins.

    fn builtin(&mut self, name: &str, arguments: &[Node], span: Span) -> Lowered<Operand> {
        let value = |kind: ExprKind, ty: QualType| Ok(Operand::Value(Expr { kind, ty, span }));
        let int = self.int_type(IntKind::Int);
        match (name, arguments) {
            ("__builtin_offsetof", [ty, member]) => {
                return self.offset_of(*ty, *member, span).map(Operand::Value);
            }
            ("__builtin_types_compatible_p", [a, b]) => {
                let (a, b) = (self.operand_type(*a)?, self.operand_type(*b)?);
                let same = self.compatible(a.ty, b.ty)?;
                return value(ExprKind::Int(i128::from(same)), int);
            }
            ("__builtin_va_arg", [list, ty]) => {
                self.operand(*list)?;
                let ty = self.operand_type(*ty)?;
                return value(ExprKind::Opaque("va_arg"), QualType { quals: Quals::default(), ..ty });
            }
            ("__builtin_convertvector", [vector, ty]) => {
                self.value(*vector)?;
                let ty = self.operand_type(*ty)?;
                return value(ExprKind::Opaque("a vector"), ty);
            }
            ("__builtin_choose_expr", [condition, yes, no]) => {
                let condition = self.value(*condition)?;
                let chosen = constant::fold(self.types(), &condition);
                let chosen = chosen.ok_or("a choice that isn't constant")?;
                return self.operand(if chosen != 0 { *yes } else { *no });
            }
            ("__builtin_expect", [expr, expected])
            | ("__builtin_expect_with_probability", [expr, expected, _]) => {
                // Only a hint: the value is that of the first argument.
                let long = self.int_type(IntKind::Long);
                let expected = self.value(*expected)?;
                if self.is_pure(&expected) {
                    let expr = self.value(*expr)?;
                    return self.assigned(expr, long).map(Operand::Value);
                }
            }
            ("__builtin_constant_p", [_]) => {
                // The argument isn't evaluated.
                let allocations = self.unit.allocations.len();
                self.operand(arguments[0])?;
                self.forget_allocations(allocations);
                return value(ExprKind::Opaque("__builtin_constant_p"), int);
            }
            _ => {}
        }
        let signature = builtins::signature(name).ok_or_else(|| format!("the builtin {name} isn't known"))?;
        let mut args = Vec::with_capacity(arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            let argument = self.value(*argument)?;
            args.push(match signature.params.get(index) {
                Some(builtins::Param::Int(kind)) => {
                    let ty = self.int_type(*kind);
                    self.assigned(argument, ty)?
                }
                Some(builtins::Param::Float(kind)) => {
                    let ty = self.float_type(*kind);
                    self.assigned(argument, ty)?
                }
                // Pointers and what the builtin takes as it is.
                Some(builtins::Param::Any) => argument,
                None if signature.variadic => self.default_promoted(argument)?,
                None => return Err(format!("{name} with too many arguments").into()),
            });
        }
        if args.len() < signature.params.len() {
            return Err(format!("{name} with too few arguments").into());
        }
        let ty = match signature.result {
            BuiltinResult::Void => self.void(),
            BuiltinResult::Int(kind) => self.int_type(kind),
            BuiltinResult::Float(kind) => self.float_type(kind),
            BuiltinResult::VoidPointer => {
                let void = self.void();
                self.pointer_to(void)
            }
            BuiltinResult::CharPointer => {
                let char = self.int_type(IntKind::Char);
                self.pointer_to(char)
            }
            BuiltinResult::Pointee => {
                let pointer = args.first().map(|arg| arg.ty.ty).ok_or("a builtin without arguments")?;
                let to = self.types().pointee(pointer).ok_or("a builtin on no pointer")?;
                QualType { quals: Quals::default(), ..to }
            }
        };
        value(ExprKind::Call { callee: Callee::Builtin(name.to_owned()), args }, ty)
    }

    /// Whether two types are compatible as far as the typed tree can tell them apart.
    fn compatible(&self, a: TypeId, b: TypeId) -> Lowered<bool> {
        let kinds = (self.types().kind(a), self.types().kind(b));
        match kinds {
            _ if a == b && !matches!(kinds.0, TypeKind::Enum(_) | TypeKind::Opaque { .. }) => Ok(true),
            (
                TypeKind::Int(_) | TypeKind::Float(_) | TypeKind::Void,
                TypeKind::Int(_) | TypeKind::Float(_) | TypeKind::Void,
            ) => {
                if self.dialect.unsigned_char {
                    Err("compatible types where char is unsigned".into())
                } else {
                    Ok(false)
                }
            }
            (TypeKind::Record(_), TypeKind::Record(_)) => Ok(false),
            (TypeKind::Pointer(a), TypeKind::Pointer(b)) if a.quals == b.quals => self.compatible(a.ty, b.ty),
            (TypeKind::Pointer(_), TypeKind::Pointer(_)) => Ok(false),
            (a, b) if std::mem::discriminant(a) != std::mem::discriminant(b) => match (a, b) {
                (TypeKind::Enum(_), TypeKind::Int(_)) | (TypeKind::Int(_), TypeKind::Enum(_)) => {
                    Err("whether an enumeration is compatible".into())
                }
                _ => Ok(false),
            },
            _ => Err("whether two types are compatible".into()),
        }
    }

    // ---- Operators on types.

    fn alignof(&mut self, arguments: &[Node], span: Span) -> Lowered<Operand> {
        let [operand] = arguments else { return Err("the alignment of nothing".into()) };
        let Some(type_node) = operand.child_by_field_name("type") else {
            return Err("the alignment of an object".into());
        };
        let specifier = field(type_node, "type")?;
        let mut aligned = None;
        if type_node.child_by_field_name("declarator").is_none()
            && let Some(Entity::Typedef { align, .. }) = self.lookup(self.source.spelling(specifier))
        {
            aligned = *align;
        }
        let ty = self.type_name(type_node)?;
        let natural = match self.types().kind(ty.ty) {
            TypeKind::Void | TypeKind::Function { .. } => Some(1),
            _ => self.types().align_of(ty.ty),
        };
        let align = aligned.or(natural).ok_or_else(|| self.incomplete(ty))?;
        let ty = self.int_type(IntKind::ULong);
        Ok(Operand::Value(Expr { kind: ExprKind::Int(i128::from(align)), ty, span }))
    }

    /// `offsetof(T, m.n[3])`: the view gives the type as `sizeof(T)` and the member as one of `pg_root`.
    fn offset_of(&mut self, ty: Node, member: Node, span: Span) -> Lowered<Expr> {
        let ty = self.operand_type(ty)?;
        let size_type = self.int_type(IntKind::ULong);
        let (_, offset) = self.offset_in(ty, member)?;
        let kind = match offset {
            Some(offset) => ExprKind::Int(i128::from(offset)),
            None => ExprKind::Opaque("an offset that isn't constant"),
        };
        Ok(Expr { kind, ty: size_type, span })
    }

    /// The type and offset of a part of an object of type `root`.
    fn offset_in(&mut self, root: QualType, node: Node) -> Lowered<(QualType, Option<u64>)> {
        match node.kind() {
            "identifier" => Ok((root, Some(0))),
            "field_expression" => {
                let (ty, offset) = self.offset_in(root, field(node, "argument")?)?;
                let name = self.source.spelling(field(node, "field")?);
                let TypeKind::Record(record) = *self.types().kind(ty.ty) else {
                    return Err("an offset in something that is no record".into());
                };
                let path = self.path_to(record, name, 0);
                let path = path.ok_or_else(|| format!("there is no member {name}"))?;
                let (mut ty, mut offset) = (ty, offset);
                for (record, index) in path {
                    let fields = self.types().record(record).fields.as_ref();
                    let found = fields.and_then(|fields| fields.get(index)).ok_or("a member that is gone")?;
                    if found.bits.is_some() {
                        return Err("the offset of a bit-field".into());
                    }
                    offset = offset.and_then(|offset| offset.checked_add(found.offset));
                    ty = found.ty;
                }
                Ok((ty, offset))
            }
            "subscript_expression" => {
                let (ty, offset) = self.offset_in(root, field(node, "argument")?)?;
                let TypeKind::Array(element, _) = *self.types().kind(ty.ty) else {
                    return Err("an offset in something that is no array".into());
                };
                let index = self.value(field(node, "index")?)?;
                let index = constant::fold(self.types(), &index).and_then(|i| u64::try_from(i).ok());
                let size = self.types().size_of(element.ty);
                let more = index.zip(size).and_then(|(index, size)| index.checked_mul(size));
                Ok((element, offset.zip(more).and_then(|(a, b)| a.checked_add(b))))
            }
            "parenthesized_expression" => match named(node).as_slice() {
                [inner] => self.offset_in(root, *inner),
                _ => Err("an offset that isn't understood".into()),
            },
            _ => Err("an offset that isn't understood".into()),
        }
    }
}
