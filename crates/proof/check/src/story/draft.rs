//! The content of a story before its columns and edges are laid out.

use wattle_memory::Clause;

use super::diagnose::Reasons;
use super::steps::Cast;

/// The content of a story before it is drawn.
#[derive(Default)]
pub(super) struct Draft {
    pub cast: Cast,
    pub headline: String,
    pub reasons: Reasons,
    /// Additional clauses to quote.
    pub clauses: Vec<Clause>,
}
