//! The parameters of a function in kernels.

use quote::format_ident;
use syn::spanned::Spanned;
use syn::{GenericParam, Pat, PatType, Receiver, ReceiverKind, Result};

use super::Standing;
use crate::ast::{Class, Parameter, View};
use crate::parse::{Parser, check_marker_parameter, class, error};
use crate::trait_bounds::{is_function, takes};

/// The most parameters of a kernel behind its first: as many have types in `wattle`.
const MOST_PARAMETERS: usize = 32;

/// The parameters of a function, as far as they have been read. Each is declared to the parser of the body.
pub(super) struct Parameters<'f> {
    standing: Standing,
    generics: &'f syn::Generics,
    parser: &'f mut Parser,
    pub(super) all: Vec<Parameter>,
    /// The type parameters that stand for the types of parameters that are `impl …`.
    pub(super) anonymous: Vec<GenericParam>,
}

impl<'f> Parameters<'f> {
    pub(super) fn new(standing: Standing, generics: &'f syn::Generics, parser: &'f mut Parser) -> Parameters<'f> {
        Parameters { standing, generics, parser, all: Vec::new(), anonymous: Vec::new() }
    }

    /// Adds `self`, which functions of an `impl` or `trait` alone may have.
    pub(super) fn add_receiver(&mut self, receiver: &Receiver) -> Result<()> {
        if !self.standing.is_associated() {
            let what = self.standing.kind();
            return error(receiver, &format!("{what} is a free function; pass what it needs as parameters"));
        }
        let (class, mutable) = match &receiver.kind {
            ReceiverKind::Value => (Class::Value, receiver.mutability),
            ReceiverKind::Reference(_, _, None) => (Class::Value, None),
            ReceiverKind::Reference(_, _, Some(_)) => (Class::Exclusive, None),
            _ => return error(receiver, "a device function takes `self`, `&self` or `&mut self`"),
        };
        let local = self.parser.declare_self(receiver.self_token.span, mutable, class == Class::Exclusive);
        let ty: syn::Type = syn::parse_quote!(Self);
        self.parser.has_type(&local, &ty);
        self.all.push(Parameter { local, written: ty.clone(), ty, class });
        Ok(())
    }

    /// Adds the parameter of this number.
    pub(super) fn add_typed(&mut self, number: usize, typed: &PatType) -> Result<()> {
        let Pat::Ident(name) = &*typed.pat else {
            return error(&typed.pat, "a parameter here is a name; take tuples apart in the body");
        };
        check_marker_parameter(&typed.ty, self.generics)?;
        if self.standing.is_kernel() && number > MOST_PARAMETERS {
            let message = format!(
                "a kernel has at most {MOST_PARAMETERS} parameters behind `acc`; put numbers that belong together into a \
                 buffer, `x: Read<f32>`, or views into one with more dimensions"
            );
            return error(typed, &message);
        }
        let class = match is_function(&typed.ty, self.generics) {
            true => Class::Function,
            false => class(&typed.ty)?,
        };
        check_class(&class, self.standing, number, &typed.ty)?;
        let parser = &mut *self.parser;
        let local = match class {
            Class::Exclusive => parser.declare_reference(&name.ident),
            Class::Function => parser.declare_function(&name.ident, takes(&typed.ty, self.generics)),
            Class::Value => parser.declare(&name.ident, name.mutability.is_some()),
            Class::Acc(_) | Class::View(_) => parser.declare(&name.ident, false),
        };
        match class {
            Class::View(view) => parser.is_view(&local, view),
            Class::Acc(_) => parser.mark_acc(&local),
            Class::Exclusive | Class::Function | Class::Value => {}
        }
        if matches!(class, Class::View(_) | Class::Exclusive | Class::Value) {
            parser.has_type(&local, &typed.ty);
        }
        let written = (*typed.ty).clone();
        let ty = match &written {
            syn::Type::ImplTrait(bounds) => {
                let (name, bounds) = (format_ident!("Function{number}", span = bounds.span()), &bounds.bounds);
                self.anonymous.push(syn::parse_quote!(#name: #bounds));
                syn::parse_quote!(#name)
            }
            written => written.clone(),
        };
        self.all.push(Parameter { local, ty, written, class });
        Ok(())
    }
}

/// Refuses a parameter whose class the function cannot have, or not as its parameter of this number.
fn check_class(class: &Class, standing: Standing, number: usize, ty: &syn::Type) -> Result<()> {
    match (class, standing.is_kernel(), number) {
        (Class::Acc(_), true, 0) => Ok(()),
        (Class::Acc(_), true, _) => error(ty, "`&Acc` is a kernel's first parameter"),
        (_, true, 0) => error(ty, "a kernel's first parameter is `acc: &Acc`, or `acc: &Acc<2>` for launches in 2-D"),
        (Class::View(View::PerItem), false, _) => error(
            ty,
            "a device function cannot take a `PerItem` view; loop over its items in the kernel, and pass values",
        ),
        (Class::Exclusive, true, _) => {
            error(ty, "a kernel's parameters are numbers and views; it writes to `PerItem`, `Shared` or `Atomic`")
        }
        (Class::Value, true, _) if !matches!(ty, syn::Type::Path(_) | syn::Type::Group(_) | syn::Type::Array(_)) => {
            error(
                ty,
                "a kernel's parameters are numbers, arrays of numbers, structs with `#[derive(Element)]`, and views; put \
                 other things into buffers",
            )
        }
        (Class::Acc(_) | Class::Function, false, _) if standing.is_associated() => error(
            ty,
            "a device function of an `impl` or `trait` takes values, `&mut` variables and views; one that takes `&Acc` or \
             functions stands outside of it",
        ),
        (Class::Acc(_), false, _)
        | (Class::View(View::ReadLine | View::Read | View::Shared | View::Atomic), _, _)
        | (Class::View(View::PerItem), true, _)
        | (Class::Exclusive, false, _)
        | (Class::Function | Class::Value, _, _) => Ok(()),
    }
}
