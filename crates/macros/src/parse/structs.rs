//! Structs in kernels: their fields, literals and patterns; and the items of views, whose fields are read and written
//! in their places.

use syn::punctuated::Punctuated;
use syn::{Member, Result, Token};

use super::scope::Name;
use super::{Parser, error};
use crate::ast::{Expr, ExprKind, Pattern, Step, View};

/// The message about the variants of enums.
pub(super) const ENUMS: &str = "there are no enums in kernels, so no `Option` and no `Result`; use numbers and `bool`";

impl Parser {
    /// Parses a field access `of.field`.
    pub(super) fn field(&mut self, field: &syn::ExprField) -> Result<ExprKind> {
        let base = self.base(&field.base)?;
        let member = field.member.clone();
        Ok(match base.kind {
            ExprKind::Element(of, mut fields) => {
                fields.push(member);
                ExprKind::Element(of, fields)
            }
            kind => {
                let base = Expr { kind, span: base.span };
                match self.is_element(&base) {
                    true => ExprKind::Element(Box::new(base), vec![member]),
                    false => ExprKind::Field(Box::new(base), member),
                }
            }
        })
    }

    /// The element of which it is a part in its place, and the way to it; else the expression itself.
    pub(super) fn steps(&self, x: Expr) -> std::result::Result<(Expr, Vec<Step>), Box<Expr>> {
        if self.is_element(&x) {
            return Ok((x, Vec::new()));
        }
        let span = x.span;
        match x.kind {
            ExprKind::Element(of, fields) => Ok((*of, fields.into_iter().map(Step::Field).collect())),
            ExprKind::Field(of, field) => match self.steps(*of) {
                Ok((of, mut steps)) => {
                    steps.push(Step::Field(field));
                    Ok((of, steps))
                }
                Err(of) => Err(Box::new(Expr { kind: ExprKind::Field(of, field), span })),
            },
            ExprKind::Index(of, index) => match self.steps(*of) {
                Ok((of, mut steps)) => {
                    steps.push(Step::Index(*index));
                    Ok((of, steps))
                }
                Err(of) => Err(Box::new(Expr { kind: ExprKind::Index(of, index), span })),
            },
            kind => Err(Box::new(Expr { kind, span })),
        }
    }

    /// Whether an expression is an element in its place: of a view, by its index, or an item.
    fn is_element(&self, x: &Expr) -> bool {
        match &x.kind {
            ExprKind::Local(local) => local.is_item,
            ExprKind::Deref(item) => matches!(&item.kind, ExprKind::Local(local) if local.is_item),
            ExprKind::Index(view, _) => matches!(self.view(view), Some(View::Read | View::ReadLine | View::Shared)),
            _ => false,
        }
    }

    /// `Body { mass, ..other }`.
    pub(super) fn structure(&mut self, literal: &syn::ExprStruct) -> Result<ExprKind> {
        if literal.qself.is_some() {
            return error(literal, "qualified paths are not for kernels; name the struct");
        }
        let field = |field: &syn::FieldValue| {
            let mut value = self.expr(&field.expr)?;
            self.adapt(&mut value);
            Ok((field.member.clone(), value))
        };
        let fields = literal.fields.iter().map(field).collect::<Result<_>>()?;
        let rest = literal.rest.as_ref().map(|rest| self.expr(rest).map(Box::new)).transpose()?;
        Ok(ExprKind::Struct { path: literal.path.clone(), fields, rest })
    }

    /// `Pair(x, y)`, of a struct whose fields have numbers.
    pub(super) fn tuple_structure(
        &mut self,
        path: &syn::Path,
        values: &Punctuated<syn::Expr, Token![,]>,
    ) -> Result<ExprKind> {
        if !is_structs(path) {
            return error(path, ENUMS);
        }
        let mut values = self.exprs(values)?;
        self.adapt_all(&mut values);
        Ok(ExprKind::Struct { path: path.clone(), fields: numbered(values).collect(), rest: None })
    }

    /// `Body { mass, .. }` as a pattern.
    pub(super) fn struct_pattern(&mut self, pattern: &syn::PatStruct, refutable: bool) -> Result<Pattern> {
        let field = |field: &syn::FieldPat| Ok((field.member.clone(), self.pattern(&field.pat, refutable)?));
        let fields: Vec<(Member, Pattern)> = pattern.fields.iter().map(field).collect::<Result<_>>()?;
        Ok(Pattern::Struct { path: pattern.path.clone(), fields, rest: pattern.rest.is_some() })
    }

    /// Notes which variables of a loop's pattern are items.
    pub(super) fn mark_items(&mut self, source: &Expr, pattern: &Pattern) {
        let ExprKind::Method { name, arguments, .. } = &source.kind else { return };
        if name != "items" {
            return;
        }
        let Pattern::Tuple(both, _) = pattern else { return };
        let views = arguments.first().map(views_of).unwrap_or_default();
        let items: &[Pattern] = match both.get(1) {
            Some(Pattern::Tuple(items, _)) => items,
            Some(item) => std::slice::from_ref(item),
            None => return,
        };
        for (number, item) in items.iter().enumerate() {
            if let (Pattern::Local(local), Some(view)) = (item, views.get(number))
                && let Some(element) = self.types.get(view).and_then(Parser::element_of)
            {
                self.has_type(local, &element);
            }
            if let Pattern::Local(local) = item
                && let Some(known) = self.scopes.last_mut().and_then(|scope| scope.get_mut(&Name::of(&local.name)))
            {
                known.is_item = true;
            }
        }
    }
}

/// The fields of a struct in which they have numbers.
pub(super) fn numbered<T>(fields: Vec<T>) -> impl Iterator<Item = (Member, T)> {
    (0..).map(syn::Index::from).map(Member::Unnamed).zip(fields)
}

/// Whether a path in upper case may name a struct: behind a type it is a variant's.
pub(super) fn is_structs(path: &syn::Path) -> bool {
    let mut names = path.segments.iter().rev().map(|segment| segment.ident.to_string());
    let is_variants = |name: String| matches!(&*name, "Some" | "None" | "Ok" | "Err");
    !names.next().is_some_and(is_variants) && !names.next().is_some_and(|owner| owner.starts_with(char::is_uppercase))
}

/// The numbers of the views that a loop goes over the items of: `&mut x`, or `(&mut x, &mut y)`.
fn views_of(argument: &Expr) -> Vec<usize> {
    match &argument.kind {
        ExprKind::Tuple(all) => all.iter().flat_map(views_of).collect(),
        ExprKind::Exclusive(view) => views_of(view),
        ExprKind::Local(local) => vec![local.number],
        _ => Vec::new(),
    }
}
