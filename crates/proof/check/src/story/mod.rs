//! The story of a counterexample: the part that explains why a check failed.
//!
//! [`tell`] makes a [`Story`] of a violation: the threads that matter, their source lines in an order that explains
//! the outcome, and why nothing orders what should be ordered, with the clause that says so. A story is data; it is
//! also text ([`Story::render`]) and a picture ([`svg()`]). [`show`] does the same for an execution in which nothing is
//! wrong: people learn from those too.
//!
//! Judgement never belongs here: a story explains what the checker found.

mod clause;
mod cycle;
mod diagnose;
mod draft;
mod draw;
mod explain;
mod layout;
mod names;
mod path;
mod rows;
mod source;
mod steps;
mod stuck;
mod svg;
mod text;

pub use wattle_memory::Clause;
use wattle_memory::Model;

pub use diagnose::{acquires, releases};
pub use svg::{SvgOptions, svg};
pub use text::Role;
pub(crate) use text::wrapped;

pub use crate::report::{Access, Column, Edge, EdgeKind, End, Initial, Part, Step, Story};
use crate::report::{Report, Violation, Witness};

/// The story of a violation.
pub fn tell(violation: &Violation, report: &Report) -> Story {
    explain::violation(violation, report.model, report.progress)
}

/// The story of an execution in which nothing is wrong under this model.
pub fn show(witness: &Witness, model: Model) -> Story {
    explain::holding(witness, model)
}
