//! A function's signature, as it may be in kernels.

mod generics;
mod parameters;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{FnArg, GenericParam, ItemFn, Path, PathArguments, Result, ReturnType, Signature};

use crate::ast::{Block, Function};
use crate::numbers::is_half;
use crate::parse::{Parser, check_type, error};
use crate::recursion;
use crate::rules::Rules;
pub use generics::rank;
use generics::{bound_ranks, leave_out_elements, refuse_unbounded};
use parameters::Parameters;

/// The path of a device function, and the generic arguments of its call.
pub fn callee(path: &Path) -> (Path, Option<TokenStream>) {
    let mut path = path.clone();
    let mut generics = None;
    if let Some(last) = path.segments.last_mut()
        && let PathArguments::AngleBracketed(arguments) = std::mem::take(&mut last.arguments)
    {
        let arguments = arguments.args;
        generics = Some(quote!(::<#arguments>));
    }
    (path, generics)
}

/// Attributes within a function. The compiler has not looked at them when it calls this macro, and what is written in
/// the function's place would be without them.
#[derive(Default)]
struct Attributes(Option<syn::Error>);

impl<'ast> Visit<'ast> for Attributes {
    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("doc") {
            return;
        }
        let what = if attribute.path().is_ident("cfg") {
            "`cfg` does not reach into kernels; put it on the whole function, or choose by a constant: `if FAST { … }`"
        } else {
            "attributes within a kernel are not kept; put it on the whole function"
        };
        let error = syn::Error::new_spanned(attribute, what);
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }
}

/// The attributes of a function that stay on what is written in its place: those that change no code. An attribute
/// macro would be given the host's function, which holds views, and could write anything around it.
const PLAIN: [&str; 11] =
    ["doc", "cfg", "allow", "expect", "warn", "deny", "forbid", "deprecated", "must_use", "inline", "cold"];
/// The tools whose attributes rustc passes over.
const TOOLS: [&str; 3] = ["rustfmt", "clippy", "diagnostic"];

/// `cfg_attr` is not among them: rustc has put what it holds in its place.
fn is_plain(attribute: &syn::Attribute) -> bool {
    let path = attribute.path();
    let is_of_tool = || path.segments.first().is_some_and(|first| TOOLS.iter().any(|tool| first.ident == tool));
    PLAIN.iter().any(|name| path.is_ident(name)) || (path.segments.len() > 1 && is_of_tool())
}

fn refuse_attributes(item: &ItemFn) -> Result<()> {
    if let Some(other) = item.attrs.iter().find(|attribute| !is_plain(attribute)) {
        let name = other.path().to_token_stream().to_string().replace(' ', "");
        let message = format!(
            "`{name}` might change what is written for a kernel: put it above `#[kernel]` or `#[device_fn]`, where it sees the \
             function as you wrote it"
        );
        return error(other, &message);
    }
    let mut attributes = Attributes::default();
    item.sig.inputs.iter().for_each(|input| attributes.visit_fn_arg(input));
    attributes.visit_block(&item.block);
    attributes.0.map_or(Ok(()), Err)
}

/// The place in the program where a function is defined.
#[derive(Clone, Copy, PartialEq)]
pub enum Standing {
    Kernel,
    /// A device function of a module.
    Free,
    /// A device function of an `impl` or `trait`; `is_generic` says whether its types may be type parameters from
    /// there.
    Associated {
        is_generic: bool,
    },
}

impl Standing {
    /// The kind of function, as errors name it.
    fn kind(self) -> &'static str {
        match self {
            Standing::Kernel => "a kernel",
            Standing::Free | Standing::Associated { .. } => "a device function",
        }
    }

    fn is_kernel(self) -> bool {
        self == Standing::Kernel
    }

    fn is_associated(self) -> bool {
        matches!(self, Standing::Associated { .. })
    }
}

/// Whether a float of 16 bits is named.
fn names_half(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => names_half(group.stream()),
        TokenTree::Ident(name) => is_half(&name.to_string()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Refuses what a signature may have before its name, and lifetimes.
fn refuse_qualifiers(signature: &Signature, standing: Standing) -> Result<()> {
    let unsafe_token = match &signature.safety {
        syn::Safety::Unsafe(token) => Some(token),
        _ => None,
    };
    for (found, word) in [
        (signature.asyncness.map(|token| token.span()), "async"),
        (unsafe_token.map(|token| token.span()), "unsafe"),
        (signature.constness.map(|token| token.span()), "const"),
        (signature.abi.as_ref().map(Spanned::span), "extern"),
    ] {
        if let Some(span) = found {
            let what = standing.kind();
            return Err(syn::Error::new(span, format!("{what} is a plain function; leave out `{word}`")));
        }
    }
    for generic in &signature.generics.params {
        if let GenericParam::Lifetime(lifetime) = generic {
            return error(lifetime, "kernels and device functions have no lifetimes; views are written without");
        }
    }
    Ok(())
}

/// The type of a function's result; `None` where it has none, as every kernel.
fn result(signature: &Signature, standing: Standing) -> Result<Option<syn::Type>> {
    match &signature.output {
        ReturnType::Default => Ok(None),
        ReturnType::Type(_, ty) if standing.is_kernel() => {
            error(ty, "a kernel returns nothing; write its results to a buffer")
        }
        ReturnType::Type(_, ty) => {
            check_type(ty)?;
            Ok(Some((**ty).clone()))
        }
    }
}

/// The function, checked. Its body alone may be refused: then it is empty, and the errors are beside it.
pub fn parse(mut item: ItemFn, standing: Standing, rules: Rules) -> Result<Function> {
    let is_kernel = standing.is_kernel();
    refuse_attributes(&item)?;
    let signature = &item.sig;
    refuse_qualifiers(signature, standing)?;
    if !standing.is_associated() {
        signature.generics.type_params().try_for_each(|generic| refuse_unbounded(&signature.generics, generic))?;
    }
    let mut parser = Parser::new(is_kernel, &signature.generics, rules);
    // Rust has no literals of 16 bits, so they take the type that their place decides as in a generic function.
    if standing == (Standing::Associated { is_generic: true }) || names_half(quote!(#item)) {
        parser.assume_generic();
    }
    let mut parameters = Parameters::new(standing, &signature.generics, &mut parser);
    for (number, input) in signature.inputs.iter().enumerate() {
        match input {
            FnArg::Typed(typed) => parameters.add_typed(number, typed)?,
            FnArg::Receiver(receiver) => parameters.add_receiver(receiver)?,
        }
    }
    let Parameters { all: parameters, anonymous, .. } = parameters;
    if is_kernel && parameters.is_empty() {
        return error(&signature.ident, "a kernel's first parameter is `acc: &Acc`");
    }
    let result = result(signature, standing)?;
    let body = parser.body(&item.block).and_then(|body| recursion::refuse(&item.sig.ident, body));
    // A body that is refused leaves the function as it is called, so that its callers are not in error too.
    let (body, refused) = match body {
        Ok(body) => (body, None),
        Err(error) => {
            (Block { statements: Vec::new(), value: None, span: Span::call_site() }, Some(error.into_compile_error()))
        }
    };
    bound_ranks(&mut item.sig.generics, &parameters);
    leave_out_elements(&mut item.sig.generics);
    let anonymous_count = anonymous.len();
    item.sig.generics.params.extend(anonymous);
    Ok(Function {
        attributes: item.attrs,
        visibility: item.vis,
        name: item.sig.ident,
        is_kernel,
        generics: item.sig.generics,
        anonymous: anonymous_count,
        parameters,
        result,
        body,
        returns: parser.returns && refused.is_none(),
        reassociate: rules.reassociate,
        baseline: rules.baseline,
        refused,
    })
}
