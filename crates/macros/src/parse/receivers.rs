//! Methods of the user's own types, `op.apply(x, y)`: they are functions of the type, `O::apply(op, x, y)`, so the type is
//! found in what is written: at a parameter, a view, a `let` or a struct.

use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, Result, Type};

use super::bounds::{is_bound_of_library, is_bound_of_numbers};
use super::calls::without_parentheses;
use super::names::math;
use super::types::is_number;
use super::{Parser, check_type};
use crate::ast::{Callee, ExprKind, Local};
use crate::names::is_method;
use crate::signature::bounds;

/// The type parameters of a function that may have functions of the user's.
pub(super) struct OwnGenerics {
    /// Those that are no numbers: whatever is called on them is the user's.
    values: Vec<String>,
    /// Those that are numbers, and have no trait of the user's.
    numbers: Vec<String>,
}

impl OwnGenerics {
    pub(super) fn of(generics: &syn::Generics) -> OwnGenerics {
        let (numbers, values): (Vec<_>, Vec<_>) =
            generics.type_params().partition(|generic| bounds(generics, generic).any(is_bound_of_numbers));
        let names = |all: Vec<&syn::TypeParam>| all.into_iter().map(|generic| generic.ident.to_string()).collect();
        let has_more = |generic: &&syn::TypeParam| !bounds(generics, generic).all(is_bound_of_library);
        let numbers = numbers.into_iter().filter(|generic| !has_more(generic)).collect();
        OwnGenerics { values: names(values), numbers: names(numbers) }
    }
}

impl Parser {
    /// Notes the type of a variable, as it is written: of a view that of its elements is what counts.
    pub fn has_type(&mut self, local: &Local, ty: &Type) {
        let ty = match ty {
            Type::Reference(reference) => &*reference.elem,
            ty => ty,
        };
        self.types.insert(local.number, ty.clone());
    }

    /// The type of the elements of what has this type: a view, or an array.
    pub(super) fn element_of(ty: &Type) -> Option<Type> {
        match ty {
            Type::Group(inner) => Self::element_of(&inner.elem),
            Type::Array(array) => Some((*array.elem).clone()),
            Type::Path(path) => match &path.path.segments.last()?.arguments {
                PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
                    GenericArgument::Type(ty) => Some(ty.clone()),
                    _ => None,
                },
                PathArguments::None | PathArguments::Parenthesized(_) => None,
            },
            _ => None,
        }
    }

    /// The type of an expression, where it shows.
    pub(super) fn type_of(&self, x: &syn::Expr) -> Option<Type> {
        match without_parentheses(x) {
            syn::Expr::Path(path) => {
                let local = self.find(path.path.get_ident()?)?;
                self.types.get(&local.number).cloned()
            }
            syn::Expr::Index(index) => Self::element_of(&self.type_of(&index.expr)?),
            syn::Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => self.type_of(&unary.expr),
            syn::Expr::Struct(literal) => {
                Some(Type::Path(syn::TypePath { attrs: Vec::new(), qself: None, path: literal.path.clone() }))
            }
            syn::Expr::Array(array) => {
                let (element, len) = (self.type_of(array.elems.first()?)?, array.elems.len());
                Some(syn::parse_quote!([#element; #len]))
            }
            syn::Expr::Repeat(repeat) => {
                let (element, len) = (self.type_of(&repeat.expr)?, &repeat.len);
                Some(syn::parse_quote!([#element; #len]))
            }
            syn::Expr::Call(call) => match without_parentheses(&call.func) {
                syn::Expr::Path(function) => made_by(&function.path),
                _ => None,
            },
            _ => None,
        }
    }

    /// A call of a function of the receiver's type, where that is the user's own and the library has no such method for it.
    pub(super) fn own_method(&mut self, call: &syn::ExprMethodCall) -> Result<Option<ExprKind>> {
        let name = call.method.to_string();
        let Some(Type::Path(ty)) = self.type_of(&call.receiver) else { return Ok(None) };
        let (None, Some(last)) = (&ty.qself, ty.path.segments.last()) else { return Ok(None) };
        let of = last.ident.to_string();
        let is_plain = matches!(last.arguments, PathArguments::None) && !is_number(&of);
        let is_generic = |all: &[String]| ty.path.is_ident(&of) && all.contains(&of);
        let is_librarys = !is_generic(&self.own_generics.values) && (math(&name).is_some() || is_method(&name));
        // A name of a type that is none of the user's own is a number's, as a rule.
        if !is_plain || is_librarys || check_type(&Type::Path(ty.clone())).is_err() {
            return Ok(None);
        }
        if is_generic(&self.own_generics.numbers) {
            return Ok(None);
        }
        let mut path = ty.path;
        let mut function = syn::PathSegment::from(call.method.clone());
        if let Some(generics) = &call.turbofish {
            function.arguments = PathArguments::AngleBracketed(generics.clone());
        }
        path.segments.push(function);
        self.call_of(Callee::Method(path), Some(&call.receiver), &call.args, call.span()).map(Some)
    }
}

/// The type that a function makes a value of, by its name: constructors are `new`, `default`, `from_…` and `with_…` (Rust API
/// Guidelines, C-CTOR).
fn made_by(function: &syn::Path) -> Option<Type> {
    let mut path = function.clone();
    let name = path.segments.pop()?.ident.to_string();
    path.segments.pop_punct();
    let owner = &path.segments.last()?.ident;
    let is_constructor = matches!(&*name, "new" | "default") || name.starts_with("from_") || name.starts_with("with_");
    let is_type = owner.to_string().starts_with(char::is_uppercase);
    (is_constructor && is_type).then(|| Type::Path(syn::TypePath { attrs: Vec::new(), qself: None, path }))
}
