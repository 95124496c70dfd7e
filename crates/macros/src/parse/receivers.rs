//! Methods of the user's own types, `op.apply(x, y)`. rustc finds them by the receiver's type. Such a method may have
//! the name of one of the library's where its type is written, at a parameter, a view or a `let`, and where its source
//! is in the same file.

use syn::spanned::Spanned;
use syn::{GenericArgument, PathArguments, Result, Type};

use super::names::SHARED;
use super::{Parser, check_type, without_parentheses};
use crate::ast::{Callee, ExprKind, Local, Method, Owner};
use crate::names::{is_method, is_of_values, is_type_of_library, may_have, trait_of};
use crate::numbers::{is_number, math};
use crate::source;
use crate::trait_bounds::{bounds, is_bound_of_library, is_bound_of_numbers};

/// The type parameters of a function that may have functions of the user's.
pub(super) struct OwnGenerics {
    /// The generic types that are no numbers: whatever is called on them is the user's.
    values: Vec<String>,
    /// The generic types that are numbers and have no trait of the user's.
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
            syn::Expr::MethodCall(call) if SHARED.iter().any(|name| call.method == name) => {
                match call.turbofish.as_ref()?.args.first()? {
                    GenericArgument::Type(ty) => Some(syn::parse_quote!(Shared<#ty>)),
                    _ => None,
                }
            }
            syn::Expr::Struct(literal) => {
                Some(Type::Path(syn::TypePath { attrs: Vec::new(), qself: None, path: literal.path.clone() }))
            }
            _ => None,
        }
    }

    /// A call of a function of the receiver's type, where that is written and is the user's own.
    pub(super) fn own_method(&mut self, call: &syn::ExprMethodCall) -> Result<Option<ExprKind>> {
        let name = call.method.to_string();
        let Some(Type::Path(ty)) = self.type_of(&call.receiver) else { return Ok(None) };
        let (None, Some(last)) = (&ty.qself, ty.path.segments.last()) else { return Ok(None) };
        let of = last.ident.to_string();
        let is_plain = matches!(last.arguments, PathArguments::None) && !is_number(&of);
        let is_generic = |all: &[String]| ty.path.is_ident(&of) && all.contains(&of);
        let is_librarys = !is_generic(&self.own_generics.values) && (math(&name).is_some() || may_have(&of, &name));
        // A name of a type that is none of the user's own is a number's, as a rule.
        if !is_plain || is_librarys || check_type(&Type::Path(ty.clone())).is_err() {
            return Ok(None);
        }
        if is_generic(&self.own_generics.numbers) {
            return Ok(None);
        }
        self.call_on(call, Owner::Written(ty.path)).map(Some)
    }

    /// A call of a method that the library has too, where it may be one of the user's: the file has a method of that
    /// name, and what it is called on does not show to be the library's.
    pub(super) fn named_alike(&mut self, call: &syn::ExprMethodCall) -> Result<Option<ExprKind>> {
        let name = call.method.to_string();
        if !source::has_method(&name, call.method.span()) || self.is_number(&call.receiver) {
            return Ok(None);
        }
        let ty = self.type_of(&call.receiver);
        let path = match &ty {
            Some(Type::Path(ty)) if ty.qself.is_none() => ty.path.get_ident(),
            Some(_) => return Ok(None),
            None => None,
        };
        if let Some(of) = path.filter(|of| source::has_struct(&of.to_string(), call.method.span())) {
            return self.call_on(call, Owner::Written(of.clone().into())).map(Some);
        }
        match math(&name) {
            Some(of_numbers) => self.call_on(call, Owner::OrNumbers(of_numbers)).map(Some),
            None if is_of_values(&name) || is_method(&name) && !self.is_users(&call.receiver) => Ok(None),
            None if self.is_librarys(&call.receiver) => Ok(None),
            None => self.call_on(call, Owner::Inferred).map(Some),
        }
    }

    /// The variable, where it is one.
    fn local(&self, x: &syn::Expr) -> Option<Local> {
        match without_parentheses(x) {
            syn::Expr::Path(path) => path.path.get_ident().and_then(|name| self.find(name)),
            _ => None,
        }
    }

    /// Whether an expression is the `Acc`.
    pub(super) fn is_acc(&self, x: &syn::Expr) -> bool {
        self.local(x).is_some_and(|local| self.accs.contains(&local.number))
    }

    /// Whether an expression is the warp that the thread is in.
    pub(super) fn is_warp(&self, x: &syn::Expr) -> bool {
        match without_parentheses(x) {
            syn::Expr::MethodCall(call) => call.method == "warp" && self.is_acc(&call.receiver),
            _ => self.local(x).is_some_and(|local| self.warps.contains(&local.number)),
        }
    }

    /// Whether an expression is a view or the `Acc`.
    pub(super) fn is_librarys(&self, x: &syn::Expr) -> bool {
        self.is_acc(x) || self.local(x).is_some_and(|local| self.views.contains_key(&local.number))
    }

    /// Whether it shows that it is nothing that the library gives: a field, an element, what a method of the user's
    /// gives.
    pub(super) fn is_users(&self, x: &syn::Expr) -> bool {
        let has_own_type = || match self.type_of(x) {
            Some(Type::Path(ty)) => {
                ty.path.segments.last().is_some_and(|last| !is_type_of_library(&last.ident.to_string()))
            }
            _ => false,
        };
        match without_parentheses(x) {
            syn::Expr::Path(path) => {
                let local = path.path.get_ident().and_then(|name| self.find(name));
                local.is_some_and(|local| self.users.contains(&local.number)) || has_own_type()
            }
            syn::Expr::Field(field) => matches!(field.member, syn::Member::Named(_)),
            syn::Expr::Index(_) | syn::Expr::Struct(_) => true,
            syn::Expr::MethodCall(call) => !is_method(&call.method.to_string()) || self.is_users(&call.receiver),
            _ => false,
        }
    }

    /// Whether the type of an expression is written, and is one of numbers.
    pub(super) fn has_number_type(&self, x: &syn::Expr) -> bool {
        match self.type_of(x) {
            Some(Type::Path(ty)) => ty.path.get_ident().is_some_and(|ty| self.is_type_of_numbers(ty)),
            _ => false,
        }
    }

    /// Whether an expression is a number, a truth value or a mask, as far as its form shows.
    pub(super) fn is_number(&self, x: &syn::Expr) -> bool {
        match without_parentheses(x) {
            syn::Expr::Lit(_) | syn::Expr::Cast(_) => true,
            syn::Expr::Binary(binary) => {
                trait_of(&binary.op).is_none() || self.is_number(&binary.left) && self.is_number(&binary.right)
            }
            syn::Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => self.is_number(&unary.expr),
            syn::Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Not(_)) => true,
            syn::Expr::Path(path) => {
                let local = path.path.get_ident().and_then(|name| self.find(name));
                local.is_some_and(|local| self.known_numbers.contains(&local.number)) || self.has_number_type(x)
            }
            syn::Expr::MethodCall(call) => {
                let name = call.method.to_string();
                let is_of_number = || !source::has_method(&name, call.method.span()) || self.is_number(&call.receiver);
                math(&name).is_some() && is_of_number()
            }
            _ => self.has_number_type(x),
        }
    }

    /// A call of a function of the receiver's type.
    pub(super) fn call_on(&mut self, call: &syn::ExprMethodCall, of: Owner) -> Result<ExprKind> {
        let method = Method { name: call.method.clone(), generics: call.turbofish.clone(), of };
        self.call_of(Callee::Method(method), Some(&call.receiver), &call.args, call.span())
    }
}
