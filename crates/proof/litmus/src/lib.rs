//! Reads, judges and writes litmus files.
//!
//! A litmus file is a small parallel program with a question about it. [`parse()`] reads the herd-style dialects of PTX
//! and Vulkan, [`print()`] writes a program back in the same dialect, [`LitmusThread`] is a thread of it for the search
//! ([`wattle_check::search::Process`]), [`lasso`] decides whether a thread can be stuck for ever under a progress
//! model, [`judge()`] answers a question about one program and [`run_folder`] about many files with expected answers.
//! [`ends()`] lists the ends of a program; [`emit()`] writes launches of kernels as a litmus program. The memory models
//! and the search for executions do not belong here.

mod ask;
mod condition;
mod cores;
mod divided;
mod emit;
mod ends;
mod error;
mod evidence;
mod flow;
mod folder;
mod ids;
mod judge;
pub mod lasso;
mod lex;
mod parse;
mod print;
mod process;
mod program;
mod progress;
mod words;

pub use ask::{Case, Expected, ExpectedError, Question, UnknownQuestion};
pub use condition::{Claim, Comparison, Condition, Observed, Quantifier, Term};
pub use cores::on_all_cores;
pub use divided::Divided;
pub use emit::{EmitError, EmitOptions, emit, emit_scenario};
pub use ends::{Ends, ends};
pub use error::{ParseError, Place, Problem};
pub use evidence::Evidence;
pub use folder::{CaseError, Judged, Summary, judge_file, read, run_folder};
pub use ids::{LabelId, ReferenceId, RegisterId};
pub use judge::{Answer, JudgeError, Options, Reason, Verdict, judge};
pub use parse::parse;
pub use print::print;
pub use process::{DIVISION_BY_ZERO, LitmusThread, World};
pub use program::{
    Dialect, Instruction, JumpTarget, Operand, Operator, Origin, Program, Reference, Register, Thread, Update,
};
pub use progress::{Rule, Schedule, UnknownSchedule};
pub use wattle_check::checker::Progress;
