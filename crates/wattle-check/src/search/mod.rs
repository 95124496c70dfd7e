//! Every execution that a memory model permits, each once.

mod process;

pub use process::{Action, Address, Barrier, Change, Initial, Members, Process, Target, Written};
