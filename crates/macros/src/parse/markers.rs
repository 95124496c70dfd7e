//! Scopes and orders, which a kernel writes where they are used: no value holds one.

use syn::{Block, Path, Result, Stmt};

use super::{error, without_parentheses};
use crate::source;

/// The types that have them, and their names there.
const MARKERS: [(&str, &[&str]); 2] =
    [("Scope", &["Block", "Device", "System"]), ("Order", &["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"])];

/// Whether a path names a scope or an order.
fn is_marker(path: &Path) -> bool {
    let mut last = path.segments.iter().rev().map(|segment| &segment.ident);
    let (Some(name), Some(owner)) = (last.next(), last.next()) else { return false };
    MARKERS.iter().any(|(ty, names)| owner == ty && names.iter().any(|of_it| name == of_it))
}

/// Whether an expression is a scope or an order, or has one as its value in some case.
fn gives_marker(x: &syn::Expr) -> bool {
    match without_parentheses(x) {
        syn::Expr::Path(path) => is_marker(&path.path),
        syn::Expr::If(branch) => {
            ends_in_marker(&branch.then_branch) || branch.else_branch.iter().any(|(_, x)| gives_marker(x))
        }
        syn::Expr::Match(choice) => choice.arms.iter().any(|arm| gives_marker(&arm.body)),
        syn::Expr::Block(block) => ends_in_marker(&block.block),
        _ => false,
    }
}

fn ends_in_marker(block: &Block) -> bool {
    matches!(block.stmts.last(), Some(Stmt::Expr(x, None)) if gives_marker(x))
}

/// Refuses a variable that would hold a scope or an order.
pub(super) fn check_variable(value: &syn::Expr) -> Result<()> {
    match gives_marker(value) {
        true => error(
            value,
            "a kernel's variables hold no scopes and orders; write it where it is used: `acc.mem_fence(Scope::Device, \
             Order::Release)`, and choose between two by `if`",
        ),
        false => Ok(()),
    }
}

/// Refuses a parameter that would be a scope or an order, unless the name may be that of a type of the user's.
pub fn check_parameter(ty: &syn::Type, generics: &syn::Generics) -> Result<()> {
    let syn::Type::Path(path) = ty else { return Ok(()) };
    let Some(name) = path.path.get_ident() else { return Ok(()) };
    let is_users = || {
        generics.type_params().any(|generic| generic.ident == *name)
            || source::may_have_type(&name.to_string(), name.span())
    };
    match MARKERS.iter().find(|(ty, _)| name == ty) {
        Some((_, names)) if !is_users() => error(
            ty,
            &format!(
                "no value is a scope or an order, so that the fences of a kernel can be proved: write it where it is used, \
                 `{name}::{}`, in a function for each that is needed",
                names[1]
            ),
        ),
        Some(_) | None => Ok(()),
    }
}

/// Refuses arguments of a method that choose between scopes or orders.
pub(super) fn check_arguments(call: &syn::ExprMethodCall) -> Result<()> {
    let is_chosen = |x: &&syn::Expr| !matches!(without_parentheses(x), syn::Expr::Path(_)) && gives_marker(x);
    match call.args.iter().find(is_chosen) {
        Some(chosen) => {
            let name = &call.method;
            let message = format!(
                "a scope or an order is written where it is used, and not chosen as a value: call `{name}` in each arm of the `if` or \
                 `match`, with its own"
            );
            error(chosen, &message)
        }
        None => Ok(()),
    }
}
