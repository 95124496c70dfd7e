#![doc = include_str!("stress.md")]
//!
//! # In this crate
//!
//! A test is a [`Program`]: a short list of operations for each thread, [lifted](lift()) from a litmus file, or from
//! the launches of a scenario ([`Sources`]). The models say which [outcomes](allowed) it may have on a target. A
//! [`Bench`] runs it in many instances, each with words of its own, in an [`Environment`]; a [test](test()) tunes that,
//! runs the program and its [mutants], and a [`Report`] holds what came. What never will live here: a memory model, a
//! device.

mod campaign;
mod environment;
mod generated;
mod html;
mod interpreted;
mod lift;
mod lower;
mod mutant;
mod program;
mod report;
mod run;
mod shard;
mod source;
mod text;
mod tso;

pub use campaign::{Options, test};
pub use environment::{Environment, NoEnvironment, Space};
pub use html::html;
pub use lift::{NoKernel, lift};
pub use lower::{Allowed, NotJudged, allowed, lowered};
pub use mutant::{Mutant, mutants};
pub use program::{Op, Operand, Program, Thread, Word};
pub use report::{
    First, Judgement, MergeError, MutantReport, MutationScore, Outcome, Refused, Report, TestReport, Written, merge,
};
pub use run::{Bench, Counts, Prepared};
pub use shard::Shard;
pub use source::{Source, Sources, litmus_files, written};
