//! Calls in kernels: of methods, mathematical functions and device functions; and what a `for` goes over.

use proc_macro2::Ident;
use quote::ToTokens;
use syn::Result;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;

use super::absent::{Called, absent};
use super::names::{ALSO_USERS, ELSEWHERE, SHARED, SHARED_ATOMIC, instead, nearest, nearest_of_warps};
use super::{Parser, error, markers, without_parentheses, words};
use crate::ast::{Callee, Expr, ExprKind, Local, Owner, View};
use crate::names::{arguments, is_atomic, is_method, is_of_acc, methods_of_warps};
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
        if self.is_warp(&call.receiver) && methods_of_warps().all(|known| known != name) {
            let message = absent(&name, Called::Method).unwrap_or_else(|| not_of_warps(&name));
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
        let message = misgiven(call, &name).or_else(|| self.not_constant(call)).or_else(|| miscounted(call, &name));
        if let Some(message) = message {
            return error(&call.method, &message);
        }
        let receiver = Box::new(self.base(&call.receiver)?);
        if let Some(view) = self.view(&receiver).filter(|view| is_atomic(&call.method) && *view != View::Atomic) {
            let of = call.receiver.to_token_stream();
            return error(&call.method, &not_atomic(&name, &of.to_string(), view));
        }
        let (mut name, generics) = (call.method.clone(), call.turbofish.clone());
        if name == "shared_nd" {
            name = by_extents(call)?;
        }
        let arguments = if name == "items" { self.items_of(&call.args)? } else { self.exprs(&call.args)? };
        Ok(ExprKind::Method { receiver, name, generics, arguments })
    }

    /// The message about the length of an array in shared memory that is a variable.
    fn not_constant(&self, call: &syn::ExprMethodCall) -> Option<String> {
        let name = call.method.to_string();
        if ![&SHARED[..], &SHARED_ATOMIC].iter().any(|known| known.contains(&name.as_str())) {
            return None;
        }
        let lengths = call.turbofish.iter().flat_map(|generics| generics.args.iter().skip(1));
        let variable = lengths.filter_map(|length| match length {
            syn::GenericArgument::Type(syn::Type::Path(path)) => path.path.get_ident(),
            _ => None,
        });
        let variable = variable.into_iter().find(|name| self.find(name).is_some())?;
        let at_launch = if SHARED_ATOMIC.contains(&name.as_str()) { SHARED_ATOMIC[1] } else { SHARED[4] };
        Some(format!(
            "`{variable}` is a variable, and the length of an array in shared memory is a constant, `const N: usize = 64;`; a \
             length that the launch gives is that of `acc.{at_launch}::<f32>()`"
        ))
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
            Some((views, span)) => Ok(vec![Expr { kind: ExprKind::Tuple(self.views_of_items(&views)?), span }]),
            None => self.views_of_items(arguments),
        }
    }

    /// Views that `items` goes over: those of which each element belongs to one thread, to be changed.
    fn views_of_items<'e>(&mut self, all: impl IntoIterator<Item = &'e syn::Expr>) -> Result<Vec<Expr>> {
        let views = self.arguments(all)?;
        for view in &views {
            let (of, is_borrowed) = match &view.kind {
                ExprKind::Exclusive(of) => (&**of, true),
                _ => (view, false),
            };
            let ExprKind::Local(local) = &of.kind else { continue };
            let name = &local.name;
            let message = match self.views.get(&local.number) {
                Some(View::PerItem) if is_borrowed => continue,
                Some(View::PerItem) => format!("a view that `items` goes over is borrowed: write `&mut {name}`"),
                Some(View::ReadLine | View::Read | View::Shared | View::Atomic) => format!(
                    "`items` goes over `PerItem` views, each element of which belongs to one thread; of `{name}` go over \
                     the indices: `for i in acc.indices(THREADS_IN_GRID, {name}.extent())`"
                ),
                None => continue,
            };
            return error(name, &message);
        }
        Ok(views)
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

/// The message about a method that a warp does not have.
fn not_of_warps(name: &str) -> String {
    let meant = nearest_of_warps(name).map(|nearest| format!(" (did you mean `{nearest}`?)")).unwrap_or_default();
    let all: Vec<_> = methods_of_warps().filter(|method| *method != "ballot_word").collect();
    format!("a warp has no `{name}`{meant}; it has {}", all.join(", "))
}

/// The message about an atomic operation on a view that is none of atomics.
fn not_atomic(name: &str, of: &str, view: View) -> String {
    let kind = match view {
        View::ReadLine | View::Read => "Read",
        View::PerItem => "PerItem",
        View::Shared => "Shared",
        View::Atomic => "Atomic",
    };
    format!(
        "`{name}` is an operation on atomic memory, and `{of}` is a `{kind}` view: take it as `{of}: Atomic<u32>`, or declare it \
         by `acc.shared_atomic::<u32, 64>()` in block shared memory"
    )
}

/// The message about a method of the library that is given too few arguments or too many.
fn miscounted(call: &syn::ExprMethodCall, name: &str) -> Option<String> {
    let count = arguments(name).filter(|count| *count != call.args.len())?;
    let of = call.receiver.to_token_stream();
    let plural = if count == 1 { "" } else { "s" };
    let order = match name {
        "load_with" => "Acquire",
        "store_with" => "Release",
        _ => "AcqRel",
    };
    let last = match name {
        "mem_fence" => format!(": `{of}.mem_fence(Scope::Device, Order::Release)`"),
        _ if name.ends_with("_with") => {
            format!(", the last two a scope and an order: `{of}.{name}(…, Scope::Device, Order::{order})`")
        }
        _ => String::new(),
    };
    let count = if count == 0 { "no".to_owned() } else { count.to_string() };
    Some(format!("`{name}` takes {count} argument{plural}{last}"))
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
