//! The host's function of a kernel, compiled once more for each set of vector instructions that may be chosen when it
//! runs.
//!
//! Each is a function that has the instructions and into which the host's own is inlined. Only kernels with a loop that
//! may be quicker for it have them, since each costs the user's compiler as much as the kernel itself, and only
//! optimized builds; a kernel that is `baseline` has none.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use wattle_operations::vectors;

use super::{generics, host_parameters};
use crate::ast::{Block, Expr, ExprKind, Function};
use crate::names::{is_atomic, is_synchronizing, private};

macro_rules! table {
    ($($(#[$doc:meta])* $name:ident $text:literal [$($feature:literal)+])+) => {
        &[$((stringify!($name), $text, &[$($feature),+])),+]
    };
}

/// The names of the instructions, and the features of the processor that they are.
const VECTORS: &[(&str, &str, &[&str])] = vectors!(table);

/// Whether the kernel has a loop that vector instructions can make quicker: an innermost one over a range or an index
/// map, without an operation that is never done for several indices at once, or one with a function of floats, which
/// fuses or rounds with them. What a device function repeats is not seen here, and may be such a loop.
fn gains(body: &Block) -> bool {
    let computes = |x: &Expr| matches!(x.kind, ExprKind::Math { .. });
    body.any(&|x| match &x.kind {
        ExprKind::Call { .. } => true,
        ExprKind::For { body, .. } => (body.is_innermost() && !body.any(&is_one_by_one)) || body.any(&computes),
        ExprKind::While { body, .. } | ExprKind::Loop { body, .. } => body.any(&computes),
        _ => false,
    })
}

/// Whether an expression is an operation on atomic memory, of the block or of a warp, a fence, or a line that is
/// printed.
fn is_one_by_one(x: &Expr) -> bool {
    match &x.kind {
        ExprKind::Method { name, .. } => is_atomic(name) || is_synchronizing(name),
        ExprKind::Print(_) => true,
        _ => false,
    }
}

/// The functions, and the choice among them with these `arguments`; none where a kernel gains nothing by them.
pub fn of(
    function: &Function,
    known: Option<&TokenStream>,
    arguments: &TokenStream,
) -> Option<(TokenStream, TokenStream)> {
    if function.baseline || !gains(&function.body) {
        return None;
    }
    let (parameters, own_arguments) = generics(function);
    let (host, host_parameters) = (private("host"), host_parameters(function, known));
    let names = function.parameters.iter().map(|parameter| &parameter.local.name);
    let call = quote!(#host::<#(#own_arguments),*>(#(#names),*););
    let where_clause = &function.generics.where_clause;
    let (mut functions, mut choices) = (TokenStream::new(), TokenStream::new());
    for (name, text, features) in VECTORS {
        let (wide, name) = (private(&format!("host_{text}")), format_ident!("{name}"));
        functions.extend(quote! {
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            #[allow(unused_mut, private_interfaces, elided_lifetimes_in_paths, clippy::all, reason = "written by a macro")]
            #[target_feature(#(enable = #features),*)]
            fn #wide<#(#parameters),*>(#(#host_parameters),*) #where_clause {
                #call
            }
        });
        choices.extend(quote! {
            // SAFETY: the processor has the instructions, or they would not have been chosen. The only words of the
            // user's in this block are names of generics and of the variables that the arguments are in.
            ::core::option::Option::Some(::wattle::__private::Vectors::#name) => return unsafe { #wide #arguments },
        });
    }
    let choice = quote! {
        #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
        match ::wattle::__private::vectors() {
            #choices
            ::core::option::Option::None => {}
        }
    };
    Some((functions, choice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rules;
    use crate::signature::{self, Standing};

    /// Whether a kernel with this body has forms for vector instructions.
    fn has_forms(body: TokenStream, baseline: bool) -> bool {
        let item = syn::parse_quote!(fn k(acc: &Acc, x: Read<f32>, sums: Atomic<f32>, mut y: PerItem<f32>) { #body });
        let rules = Rules { baseline, ..Rules::default() };
        let function = signature::parse(item, Standing::Kernel, rules).unwrap_or_else(|error| panic!("{error}"));
        of(&function, None, &quote!(())).is_some()
    }

    #[test]
    fn kernels_with_loops_that_gain_have_forms_unless_they_are_baseline() {
        let gains = quote!(for (i, y) in acc.items(&mut y) {
            *y = x[i] + 1.0;
        });
        assert!(has_forms(gains.clone(), false) && !has_forms(gains, true));
        let one_by_one = quote!(for i in acc.indices(THREADS_IN_GRID, 0..x.len()) {
            sums.fetch_add(0, x[i]);
        });
        assert!(!has_forms(one_by_one, false) && !has_forms(quote!(), false));
    }
}
