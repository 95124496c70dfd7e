//! Calls in kernels: of methods, mathematical functions and device functions; and what a `for` goes over.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::Result;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;

use super::absent::{Called, absent};
use super::names::{ALSO_USERS, ELSEWHERE, SHARED, SHARED_ATOMIC, instead, nearest};
use super::{Parser, error, markers, without_parentheses, words};
use crate::ast::{Callee, Expr, ExprKind, Local, Owner, View};
use crate::names::{is_method, is_of_acc};
use crate::numbers::{is_number, math};
use crate::source;

impl Parser {
    pub(super) fn method(&mut self, call: &syn::ExprMethodCall, shared_allowed: bool) -> Result<ExprKind> {
        let name = call.method.to_string();
        if [&SHARED[..], &SHARED_ATOMIC].iter().any(|known| known.contains(&name.as_str())) && !shared_allowed {
            return error(
                &call.method,
                "block shared memory is declared by a `let` at the top of a kernel: `let tile = acc.shared::<f32, 64>();` \
                 (pass it to device functions by value)",
            );
        }
        // Of these names some are the library's too, of other things.
        let is_elsewhere = !is_of_acc(&call.method) && self.is_acc(&call.receiver);
        if let Some(message) = absent(&name, Called::OnAcc).filter(|_| is_elsewhere) {
            return error(&call.method, &message);
        }
        if let Some(own) = self.own_method(call)? {
            return Ok(own);
        }
        if let Some(own) = self.named_alike(call)? {
            return Ok(own);
        }
        if let Some(method) = math(&name) {
            let arguments = method.operands.len();
            if call.args.len() != arguments {
                let message = format!("`{name}` takes {arguments} arguments here, besides what it is called on");
                return error(&call.method, &message);
            }
            let mut operands = vec![self.receiver(&call.receiver)?];
            operands.extend(self.exprs(&call.args)?);
            self.adapt_all(&mut operands);
            let name = if name == "mul_add" { Ident::new("fma", call.method.span()) } else { call.method.clone() };
            return Ok(ExprKind::Math { name, operands });
        }
        if let Some((_, instead)) = ELSEWHERE.iter().find(|(known, _)| *known == name) {
            let by_path = match ALSO_USERS.contains(&&*name) && self.type_of(&call.receiver).is_none() {
                true => format!("; that of a type of yours is called by its path, `Type::{name}(…)`"),
                false => String::new(),
            };
            return error(&call.method, &format!("a kernel cannot call `{name}`; {instead}{by_path}"));
        }
        if let Some(message) = absent(&name, Called::Method).filter(|_| !is_method(&name)) {
            return error(&call.method, &message);
        }
        if !is_method(&name) {
            return match self.unknown_method(call, &name) {
                Some(message) => error(&call.method, &message),
                None => self.call_on(call, Owner::Inferred),
            };
        }
        if matches!(name.as_str(), "step_by" | "rev")
            && !matches!(without_parentheses(&call.receiver), syn::Expr::Range(_))
        {
            let message = format!("`{name}` is for a range itself, `(0..n).{name}(…)`; work out the rest in the body");
            return match stepped_backwards(call) {
                Some(message) => error(call, &message),
                None => error(&call.method, &message),
            };
        }
        if name == "indices" && call.args.len() != 2 {
            return error(
                &call.method,
                "`indices` goes over a range by some workers: write `acc.indices(THREADS_IN_GRID, 0..n)`, or `THREADS_IN_BLOCK` and \
                 its like in the place of that",
            );
        }
        markers::check_arguments(call)?;
        if let Some(message) = misgiven(call, &name) {
            return error(&call.method, &message);
        }
        let receiver = Box::new(self.base(&call.receiver)?);
        let (mut name, generics) = (call.method.clone(), call.turbofish.clone());
        if name == "shared_nd" {
            name = by_extents(call)?;
        }
        let arguments = if name == "items" { self.items_of(&call.args)? } else { self.exprs(&call.args)? };
        Ok(ExprKind::Method { receiver, name, generics, arguments })
    }

    /// The message about a method that kernels do not know, where it cannot be one of the user's types.
    fn unknown_method(&self, call: &syn::ExprMethodCall, name: &str) -> Option<String> {
        let known = "it can call the methods of `Acc` and of views, mathematical functions, and functions that are marked \
                     `#[device_fn]`";
        let is_of_library = self.is_librarys(&call.receiver);
        let is_number = || self.has_number_type(&call.receiver) && !source::may_define(name, call.method.span());
        match nearest(name).filter(|_| instead(name).is_none()) {
            Some(nearest) if is_of_library || is_number() => {
                Some(format!("a kernel cannot call `{name}` (did you mean `{nearest}`?); {known}"))
            }
            _ => is_of_library.then(|| format!("a kernel cannot call `{name}`; {known}")),
        }
    }

    /// What `items` goes over: `&mut out`, or several at once, `(&mut x, &mut y)`.
    fn items_of(&mut self, arguments: &Punctuated<syn::Expr, syn::Token![,]>) -> Result<Vec<Expr>> {
        let several = |x: &syn::Expr| match without_parentheses(x) {
            syn::Expr::Tuple(all) => Some((all.elems.clone(), x.span())),
            _ => None,
        };
        match arguments.first().and_then(several) {
            Some((views, span)) => Ok(vec![Expr { kind: ExprKind::Tuple(self.arguments(&views)?), span }]),
            None => self.arguments(arguments),
        }
    }

    pub(super) fn call(&mut self, call: &syn::ExprCall) -> Result<ExprKind> {
        let syn::Expr::Path(function) = without_parentheses(&call.func) else {
            return error(&call.func, "a kernel can call functions that are marked `#[device_fn]`, by their path");
        };
        let path = &function.path;
        let segments = &path.segments;
        if let Some(name) = path.get_ident()
            && let Some(local) = self.find(name)
        {
            if !local.is_function {
                let message = format!(
                    "`{name}` is a variable and no function; a parameter that is one has the type \
                     `impl DeviceFn<(f32,), Output = f32>`"
                );
                return error(path, &message);
            }
            let given = call.args.len();
            if let Some(&count) = self.counts.get(&local.number).filter(|count| **count != given) {
                let plural = if count == 1 { "" } else { "s" };
                let message =
                    format!("`{name}` takes {count} argument{plural}, as its `DeviceFn<…>` says, and is given {given}");
                return error(call, &message);
            }
            let callee = Callee::Parameter(Local { name: name.clone(), ..local });
            return self.call_of(callee, None, &call.args, call.span());
        }
        self.check_captured(path, false)?;
        if let Some(last) = segments.last() {
            let name = last.ident.to_string();
            if name == "from_bits" && segments.len() > 1 && call.args.len() == 1 {
                let mut ty = path.clone();
                ty.segments.pop();
                ty.segments.pop_punct();
                let bits = self.boxed(&call.args[0])?;
                return Ok(ExprKind::FromBits { ty, bits });
            }
            let owner = segments.iter().rev().nth(1).filter(|owner| self.is_type_of_numbers(&owner.ident));
            if let (Some(owner), "from_f64" | "from_f32", 1) = (owner, name.as_str(), call.args.len()) {
                let ty = syn::Path::from(owner.clone());
                let ty = syn::Type::Path(syn::TypePath { attrs: Vec::new(), qself: None, path: ty });
                return self.cast(&call.args[0], ty);
            }
            if let Some(message) = absent(&name, Called::Function) {
                return error(path, &message);
            }
            if path.get_ident().is_some() && source::is_kernel(&name, path.span()) {
                let message = format!(
                    "a kernel cannot call a kernel, which `{name}` is: put what both do into a function with `#[device_fn]`, which \
                     both call; or launch one after the other on a queue"
                );
                return error(path, &message);
            }
            if let Some(message) = self.as_function(path, &name) {
                return error(path, &message);
            }
            if name.starts_with(char::is_uppercase) {
                return self.tuple_structure(path, &call.args);
            }
        }
        let callee = match function.qself.is_some() || is_of_type(path) {
            true => Callee::Associated(function.clone()),
            false => Callee::Function(path.clone()),
        };
        self.call_of(callee, None, &call.args, call.span())
    }

    /// Whether the name is that of a type of numbers, or of a type parameter that is one.
    pub(super) fn is_type_of_numbers(&self, name: &Ident) -> bool {
        self.numbers.contains(name) || is_number(&name.to_string())
    }

    /// The message about a function that is a method in kernels, or has another name there.
    fn as_function(&self, path: &syn::Path, name: &str) -> Option<String> {
        let Some(owner) = path.segments.iter().rev().nth(1).map(|owner| &owner.ident) else {
            return words::function(name, path.span());
        };
        let is_of_numbers = self.is_type_of_numbers(owner);
        if is_of_numbers && name == "from" {
            return Some(format!("a conversion in kernels is `x as {owner}`"));
        }
        if owner == "mem" && name == "swap" {
            return Some("write `(a, b) = (b, a)` in kernels".to_owned());
        }
        let method = words::method(name).filter(|_| is_of_numbers || owner == "cmp")?;
        Some(format!("mathematical functions are methods in kernels: write {method}"))
    }
}

/// The message about a range that goes backwards in steps: as it is written, from its last index on or to its first.
fn stepped_backwards(call: &syn::ExprMethodCall) -> Option<String> {
    let syn::Expr::MethodCall(inner) = without_parentheses(&call.receiver) else { return None };
    let syn::Expr::Range(syn::ExprRange {
        start: Some(begin),
        end: Some(end),
        limits: syn::RangeLimits::HalfOpen(_),
        ..
    }) = without_parentheses(&inner.receiver)
    else {
        return None;
    };
    let text = |x: &syn::Expr| match x {
        syn::Expr::Path(_) | syn::Expr::Lit(_) => x.to_token_stream().to_string(),
        _ => format!("({})", x.to_token_stream()),
    };
    let (begin, end) = (text(begin), text(end));
    match (inner.method.to_string().as_str(), inner.args.first(), call.args.first()) {
        ("rev", None, Some(step)) => {
            let step = step.to_token_stream();
            let index = if begin == "0" { format!("{end} - 1 - n") } else { format!("{begin} + {end} - 1 - n") };
            Some(format!(
                "a range goes backwards or in steps; write `for n in ({begin}..{end}).step_by({step}) {{ let i = {index}; … }}`"
            ))
        }
        ("step_by", Some(step), None) => {
            let step = text(step);
            let (count, index) = match begin.as_str() {
                "0" => (end, format!("n * {step}")),
                _ => (format!("({end} - {begin})"), format!("{begin} + n * {step}")),
            };
            Some(format!(
                "a range goes backwards or in steps; write `for n in (0..{count}.div_ceil({step})).rev() {{ let i = {index}; … }}`"
            ))
        }
        _ => None,
    }
}

/// The message about a length or orders that are given as they are elsewhere.
fn misgiven(call: &syn::ExprMethodCall, name: &str) -> Option<String> {
    let text = |x: &dyn ToTokens| x.to_token_stream().to_string();
    match (name, call.args.len()) {
        ("shared" | "shared_atomic", 1..) => {
            let element = call.turbofish.as_ref().and_then(|generics| generics.args.first());
            let (element, len) = (element.map_or("f32".to_owned(), |element| text(element)), text(&call.args[0]));
            Some(format!(
                "the length is a constant among the types: `acc.{name}::<{element}, {len}>()`; one that the launch gives is \
                 `acc.{name}_at_launch::<{element}>()`"
            ))
        }
        ("compare_exchange", 4..) => {
            let [of, index, old, new] = [&*call.receiver, &call.args[0], &call.args[1], &call.args[2]].map(|x| text(x));
            Some(format!(
                "a scope and one order, which is that of success, are given to \
                 `{of}.compare_exchange_with({index}, {old}, {new}, Scope::Device, Order::AcqRel)`"
            ))
        }
        _ => None,
    }
}

/// The method for as many extents as are written, of an array in shared memory.
fn by_extents(call: &syn::ExprMethodCall) -> Result<Ident> {
    let written = call.turbofish.as_ref().map_or(0, |generics| generics.args.len());
    let name = match written {
        3 => "shared_nd",
        4 => "shared_3d",
        5 => "shared_4d",
        _ => {
            let message = "`shared_nd` takes the type of the elements and two to four extents: \
                           `acc.shared_nd::<f32, 16, 17>()`; an array of one dimension is `acc.shared::<f32, 64>()`";
            return error(&call.method, message);
        }
    };
    Ok(Ident::new(name, call.method.span()))
}

/// Whether the path names a function of a type or trait, `Sphere::area`: types have names in upper case.
fn is_of_type(path: &syn::Path) -> bool {
    let Some(owner) = path.segments.iter().rev().nth(1) else { return false };
    let name = owner.ident.to_string();
    name.starts_with(char::is_uppercase) || is_number(&name)
}

impl Parser {
    /// What a `for` goes over.
    pub(super) fn source(&mut self, source: &syn::Expr) -> Result<Box<Expr>> {
        if let syn::Expr::Reference(reference) = without_parentheses(source) {
            let of = reference.expr.to_token_stream();
            let message = match reference.mutability {
                None => format!("values are copied in kernels: write `for x in {of}`"),
                Some(_) => {
                    format!("a loop that writes to an array goes over its indices: `for i in 0..{of}.len() {{ … }}`")
                }
            };
            return error(source, &message);
        }
        let parsed = self.boxed(source)?;
        if let Some(view) = self.view(&parsed) {
            let of = source.to_token_stream();
            return error(
                source,
                &match view {
                    View::PerItem => {
                        format!("write `for (i, x) in acc.items(&mut {of})`, which goes over this thread's share")
                    }
                    View::ReadLine | View::Read | View::Shared | View::Atomic => format!(
                        "a view is gone over by its indices: all of them in each thread, `for i in 0..{of}.len()`, or this thread's \
                     share, `for i in acc.indices(THREADS_IN_GRID, {of}.extent())`"
                    ),
                },
            );
        }
        Ok(parsed)
    }
}
