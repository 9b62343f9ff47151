//! Declarations of objects, functions and typedef names, at file scope and in blocks, and function definitions.
//!
//! Declarations of one name with linkage are merged to one variable. Not here: how types are spelled (`declarators`).

use tree_sitter::Node;

use super::super::hir::*;
use super::super::view::Attribute;
use super::attributes::{forbidding, has_vector_form, kept, replaceable};
use super::declarators::{Base, Declared, PLAIN, Parameter, Parameters, Specifiers};
use super::names::{Entity, Scope};
use super::source::{field, named, parts};
use super::{FunctionContext, Linked, Lowered, Lowering};

/// A function definition's head.
pub(super) struct Head<'a> {
    var: VarId,
    name: String,
    result: QualType,
    parameters: Parameters,
    specifiers: Specifiers<'a>,
    attributes: Vec<&'a Attribute>,
}

impl<'a> Lowering<'a> {
    /// A declaration; in a block, the statements that it is.
    pub(super) fn declaration(&mut self, node: Node) -> Lowered<Vec<Stmt>> {
        match node.kind() {
            "declaration" => {}
            "type_definition" => return self.type_definition(node).map(|()| Vec::new()),
            "struct_specifier" | "union_specifier" => {
                self.record_alone(node)?;
                return Ok(Vec::new());
            }
            "enum_specifier" => {
                self.enum_specifier(node)?;
                return Ok(Vec::new());
            }
            "expression_statement" if named(node).is_empty() => return Ok(Vec::new()),
            other => return Err(format!("{other} where a declaration should stand").into()),
        }
        let (specifiers, base) = self.specifiers(node)?;
        let mut statements = Vec::new();
        for (name, part) in parts(node) {
            if name != Some("declarator") {
                if part.kind() == "gnu_asm_expression" {
                    return Err("a declarator with asm".into());
                }
                continue;
            }
            let (declarator, value) = match part.kind() {
                "init_declarator" => (field(part, "declarator")?, Some(field(part, "value")?)),
                _ => (part, None),
            };
            statements.extend(self.init_declarator(part, declarator, value, &specifiers, base)?);
        }
        Ok(statements)
    }

    fn type_definition(&mut self, node: Node) -> Lowered<()> {
        let (specifiers, base) = self.specifiers(node)?;
        let Base::Type { ty: base, align } = base else { return Err("an inferred type in a typedef".into()) };
        for (name, part) in parts(node) {
            if name != Some("declarator") {
                continue;
            }
            let declared = self.declarator(part, base)?;
            let name_node = declared.name.ok_or("a typedef without a name")?;
            let attributes = self.declarator_attributes(self.source.token(name_node));
            let ty = self.attributed_type(declared.ty, &attributes)?;
            let own = if self.same_object(ty, base) { align } else { None };
            let align = self.alignment(&attributes)?.or(own);
            if attributes.iter().chain(&specifiers.attributes).any(|a| a.name == "transparent_union")
                && let TypeKind::Record(id) = *self.types().kind(ty.ty)
            {
                self.transparent.insert(id);
            }
            let name = self.source.spelling(name_node);
            if let TypeKind::Record(id) = *self.types().kind(ty.ty)
                && ty.quals == PLAIN
            {
                let record = self.unit.types.record_mut(id);
                if record.tag.is_none() {
                    record.alias.get_or_insert_with(|| name.to_owned());
                }
            }
            self.declare(name, Entity::Typedef { ty, align });
        }
        Ok(())
    }

    /// Whether an alignment asked for `base` is one of objects of type `ty`: the same type, or arrays of it.
    pub(super) fn same_object(&self, ty: QualType, base: QualType) -> bool {
        match self.types().kind(ty.ty) {
            _ if ty.ty == base.ty => true,
            TypeKind::Array(element, _) => self.same_object(*element, base),
            _ => false,
        }
    }

    fn init_declarator(
        &mut self,
        whole: Node,
        declarator: Node,
        value: Option<Node>,
        specifiers: &Specifiers,
        base: Base,
    ) -> Lowered<Vec<Stmt>> {
        let span = self.source.span(whole);
        let inferred = match (base, value) {
            (Base::Type { .. }, _) => None,
            (Base::Inferred, Some(value)) if value.kind() != "initializer_list" => Some(self.value(value)?),
            (Base::Inferred, _) => return Err("an inferred type without an initialiser".into()),
        };
        let base_type = match base {
            Base::Type { ty, .. } => ty,
            Base::Inferred if inferred.as_ref().is_some_and(|value| self.has_unclear_type(value)) => {
                return Err("a type inferred from a bit-field wider than int".into());
            }
            Base::Inferred => QualType { quals: PLAIN, ..inferred.as_ref().ok_or("no initialiser")?.ty },
        };
        let declared = self.declarator(declarator, base_type)?;
        let name_node = declared.name.ok_or("a declaration without a name")?;
        let name = self.source.spelling(name_node);
        let attributes = self.declarator_attributes(self.source.token(name_node));
        let ty = self.attributed_type(declared.ty, &attributes)?;
        let name_span = self.source.span(name_node);
        let all: Vec<&Attribute> = attributes.iter().chain(&specifiers.attributes).copied().collect();
        if matches!(self.types().kind(ty.ty), TypeKind::Function { .. }) {
            let linked = Linked {
                replaceable: replaceable(&all),
                has_vector_form: has_vector_form(&all),
                fixed: forbidding(&all).is_some(),
                internal: specifiers.is_static,
                ..Linked::default()
            };
            let id = self.link(name, ty, Storage::Global, linked, name_span);
            self.declare(name, Entity::Variable(id));
            return Ok(Vec::new());
        }
        let storage = if specifiers.is_thread_local {
            Storage::ThreadLocal
        } else if self.at_file_scope() || specifiers.is_extern {
            Storage::Global
        } else if specifiers.is_static {
            Storage::StaticLocal
        } else {
            Storage::Local
        };
        let linkage = self.at_file_scope() || specifiers.is_extern;
        if !linkage && all.iter().any(|a| a.name == "cleanup") {
            return Err("a variable with a cleanup function".into());
        }
        if storage == Storage::Local && all.iter().any(|a| a.name == "asm_label") {
            return Err("a variable bound to a register".into());
        }
        let id = if linkage {
            let defined = !specifiers.is_extern || value.is_some();
            let linked = Linked {
                defined,
                replaceable: replaceable(&all),
                fixed: forbidding(&all).is_some(),
                internal: specifiers.is_static,
                ..Linked::default()
            };
            self.link(name, ty, storage, linked, name_span)
        } else {
            self.add_variable(name, ty, storage, name_span)
        };
        self.declare(name, Entity::Variable(id));
        let mut init = None;
        if let (Some(expr), Some(value)) = (inferred, value) {
            init = Some(Init::Scalar(expr.spanning(self.source.span(value))));
        } else if let Some(value) = value {
            let (initial, completed) = self.initialiser(value, ty)?;
            self.unit.variables[id.0 as usize].ty = completed;
            init = Some(initial);
        }
        let ty = self.unit.var(id).ty;
        if storage == Storage::Local {
            let variable_length = matches!(self.types().kind(ty.ty), TypeKind::Array(..));
            if self.types().size_of(ty.ty).is_none() && !variable_length {
                return Err(self.incomplete(ty));
            }
            return Ok(vec![Stmt { kind: StmtKind::Declare { var: id, init }, span }]);
        }
        // An object that lives as long as the program has its value before the function runs.
        if let Some(init) = init.filter(|_| linkage) {
            self.unit.initial.insert(id, init);
        }
        Ok(Vec::new())
    }

    /// The variable of a name with linkage: a new one, or the one declared before with what is now known too.
    pub(super) fn link(
        &mut self,
        name: &str,
        ty: QualType,
        storage: Storage,
        linked: Linked,
        span: Span,
    ) -> VarId {
        let Some(id) = self.linkage.get(name).copied() else {
            let id = self.add_variable(name, ty, storage, span);
            self.linkage.insert(name.to_owned(), id);
            self.linked.insert(id, linked);
            return id;
        };
        let known = self.linked.entry(id).or_default();
        let was_implicit = known.implicit;
        known.defined |= linked.defined;
        known.replaceable |= linked.replaceable;
        known.has_vector_form |= linked.has_vector_form;
        known.fixed |= linked.fixed;
        known.kept |= linked.kept;
        known.internal |= linked.internal;
        known.implicit &= linked.implicit;
        let before = self.unit.var(id).ty;
        let after = if was_implicit { ty } else { self.composite(before, ty) };
        let variable = &mut self.unit.variables[id.0 as usize];
        variable.ty = after;
        if storage == Storage::ThreadLocal {
            variable.storage = storage;
        }
        id
    }

    /// The type of an object or function that was declared with two compatible types.
    fn composite(&mut self, before: QualType, after: QualType) -> QualType {
        if before.ty == after.ty {
            return before;
        }
        let pair = (self.types().kind(before.ty).clone(), self.types().kind(after.ty).clone());
        match pair {
            (TypeKind::Array(a, length_a), TypeKind::Array(b, length_b)) => {
                let element = self.composite(a, b);
                let length = if matches!(length_a, ArrayLen::Known(_)) { length_a } else { length_b };
                QualType { quals: before.quals, ..self.intern(TypeKind::Array(element, length)) }
            }
            (TypeKind::Function { prototyped: a, .. }, TypeKind::Function { prototyped: b, .. }) => {
                if !a && b { after } else { before }
            }
            _ => before,
        }
    }

    // ---- Functions.

    /// Declares the function that a definition defines.
    pub(super) fn function_name(&mut self, node: Node) -> Lowered<Head<'a>> {
        let (specifiers, base) = self.specifiers(node)?;
        let Base::Type { ty: base, .. } = base else { return Err("a function of inferred type".into()) };
        let Declared { name, ty, parameters } = self.declarator(field(node, "declarator")?, base)?;
        let name_node = name.ok_or("a function without a name")?;
        let name = self.source.spelling(name_node).to_owned();
        let parameters = parameters.ok_or("a function without parameters")?;
        let TypeKind::Function { ret: result, .. } = *self.types().kind(ty.ty) else {
            return Err("a function body behind something else".into());
        };
        let attributes = self.declarator_attributes(self.source.token(name_node));
        let all: Vec<&Attribute> = attributes.iter().chain(&specifiers.attributes).copied().collect();
        let only_inline = all.iter().any(|a| a.name == "gnu_inline") || self.dialect.gnu89_inline;
        let linked = Linked {
            // `extern inline` in gcc's older sense leaves the definition to somebody else.
            defined: !(only_inline && specifiers.is_inline && specifiers.is_extern),
            replaceable: replaceable(&all),
            has_vector_form: has_vector_form(&all),
            fixed: forbidding(&all).is_some(),
            kept: kept(&all),
            internal: specifiers.is_static,
            ..Linked::default()
        };
        let var = self.link(&name, ty, Storage::Global, linked, self.source.span(name_node));
        self.declare(&name, Entity::Variable(var));
        Ok(Head { var, name, result, parameters, specifiers, attributes: all })
    }

    pub(super) fn function_definition(&mut self, node: Node, pragma: Option<&str>) -> Lowered<()> {
        let head = self.function_name(node)?;
        let fixed = pragma.map(str::to_owned).or_else(|| forbidding(&head.attributes));
        let Head { var, name, result, parameters, specifiers, .. } = head;
        self.function =
            Some(FunctionContext { name, result, switches: Vec::new(), labels: Default::default() });
        let allocations = self.unit.allocations.len();
        let mut parameters = parameters;
        let scope = std::mem::take(&mut parameters.scope);
        let (lowered, _) = self.scoped(scope, |lowering| {
            let list = match parameters.identifiers.as_slice() {
                [] => std::mem::take(&mut parameters.list),
                identifiers => lowering.old_style(node, identifiers)?,
            };
            let mut params = Vec::new();
            for parameter in list {
                let id = lowering.add_variable(&parameter.name, parameter.ty, Storage::Param, parameter.span);
                lowering.declare(&parameter.name, Entity::Variable(id));
                params.push(id);
            }
            lowering.with_lengths(&parameters, &params);
            let body = field(node, "body")?;
            let statements = lowering.block_items(body)?;
            let body = Stmt { kind: StmtKind::Block(statements), span: lowering.source.span(body) };
            Ok::<_, super::Failure>((params, body))
        });
        let (params, body) = lowered?;
        if fixed.is_some() {
            self.forget_allocations(allocations);
        }
        let tokens = self.source.declaration.tokens.clone();
        self.unit.functions.push(Function {
            var,
            params,
            body,
            extern_inline: specifiers.is_inline && !specifiers.is_static,
            is_static: false,
            is_unused: false,
            fixed,
            span: self.tokens.span_of(tokens.start, tokens.end.saturating_sub(1)),
        });
        Ok(())
    }

    /// The parameters of a definition with an identifier list.
    fn old_style(&mut self, node: Node, identifiers: &[String]) -> Lowered<Vec<Parameter>> {
        let int = self.int_type(IntKind::Int);
        let mut list: Vec<Parameter> = identifiers
            .iter()
            .map(|name| Parameter { name: name.clone(), ty: int, span: self.source.span(node) })
            .collect();
        for part in named(node).into_iter().filter(|part| part.kind() == "declaration") {
            let (_, base) = self.specifiers(part)?;
            let Base::Type { ty: base, .. } = base else { return Err("an inferred parameter".into()) };
            for (name, declarator) in parts(part) {
                if name != Some("declarator") {
                    continue;
                }
                let declared = self.declarator(declarator, base)?;
                let name_node = declared.name.ok_or("a parameter without a name")?;
                let ty = self.adjusted(declared.ty)?;
                let (name, span) = (self.source.spelling(name_node), self.source.span(name_node));
                let parameter = list.iter_mut().find(|p| p.name == name).ok_or("a parameter not listed")?;
                parameter.ty = ty;
                parameter.span = span;
            }
        }
        Ok(list)
    }

    /// Declares a function that is called without a declaration.
    pub(super) fn implicit_function(&mut self, name: &str, span: Span) -> VarId {
        let int = self.int_type(IntKind::Int);
        let ty = self.intern(TypeKind::Function {
            ret: int,
            params: Vec::new(),
            variadic: false,
            prototyped: false,
        });
        let linked = Linked { implicit: true, ..Linked::default() };
        let id = self.link(name, ty, Storage::Global, linked, span);
        if let Some(scope) = self.scopes.first_mut() {
            scope.entities.entry(name.to_owned()).or_insert(Entity::Variable(id));
        }
        id
    }

    /// What is wrong with a type whose size is needed and not known.
    pub(super) fn incomplete(&self, ty: QualType) -> super::Failure {
        match self.types().kind(ty.ty) {
            TypeKind::Record(id) => {
                let record = self.types().record(*id);
                let name = record.tag.as_deref().unwrap_or("an unnamed record");
                match self.without_layout.get(id) {
                    Some(reason) => format!("the layout of {name}: {reason}").into(),
                    None => format!("{name} is incomplete").into(),
                }
            }
            TypeKind::Array(element, _) => self.incomplete(*element),
            _ => "an incomplete type".into(),
        }
    }

    /// An empty scope for a block.
    pub(super) fn in_block<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        self.scoped(Scope::default(), body).0
    }
}
