//! Patterns of indices: an index in several dimensions is an array, and no tuple.

use quote::ToTokens;
use syn::{Pat, PatTuple, Result};

use super::error;
use crate::ast::{Expr, ExprKind};

/// The methods that give an index or an extent.
const INDICES: [&str; 8] = [
    "thread_in_grid",
    "thread_in_block",
    "block_in_grid",
    "threads_in_grid",
    "threads_in_block",
    "blocks_in_grid",
    "extent",
    "delinearize",
];

/// Refuses a tuple for an index or an extent that a `let` takes apart.
pub(super) fn check_let(pattern: &Pat, value: &Expr) -> Result<()> {
    let (Pat::Tuple(tuple), ExprKind::Method { name, .. }) = (pattern, &value.kind) else { return Ok(()) };
    if !INDICES.iter().any(|known| name == known) {
        return Ok(());
    }
    let message = format!("`{name}` gives an array in several dimensions: write `let {} = …`", array(tuple));
    error(tuple, &message)
}

/// Refuses a tuple for the index of a loop.
pub(super) fn check_for(pattern: &Pat, source: &Expr) -> Result<()> {
    let Pat::Tuple(tuple) = pattern else { return Ok(()) };
    if source.is_range_or_map() && !has_items(source) {
        let message = format!(
            "this loop gives indices, which are arrays in several dimensions: write `for {} in …`; pairs of an index and an \
             element come from `acc.items(&mut out)`",
            array(tuple)
        );
        return error(tuple, &message);
    }
    let Some(Pat::Tuple(index)) = tuple.elems.first().filter(|_| has_items(source)) else { return Ok(()) };
    error(index, &format!("an index is an array in several dimensions: write `{}`", array(index)))
}

/// Whether a loop goes over elements with their indices.
fn has_items(source: &Expr) -> bool {
    let ExprKind::Method { name, receiver, .. } = &source.kind else { return false };
    name == "items" || has_items(receiver)
}

/// The parts of a tuple as an array, as they are written.
fn array(tuple: &PatTuple) -> String {
    let parts = tuple.elems.iter().map(|part| part.to_token_stream().to_string());
    format!("[{}]", parts.collect::<Vec<_>>().join(", "))
}
