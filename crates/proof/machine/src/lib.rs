//! One thread of a kernel as a state machine: it runs until it needs something, returns a request, and is given the
//! answer.
//!
//! A [`Program`] is a verified kernel, flattened to code with jumps. A [`Thread`] is a place in that code and the
//! values of the thread's slots and private arrays: small, cheap to clone, to compare and to hash. [`Thread::run`]
//! returns a [`Request`]; the owner answers a load with [`Thread::answer`] and calls `run` again. An [`Environment`]
//! holds the launch parameters that all threads share.
//!
//! The domain of a thread's values is its [`Value`]: words, or, for a model checker, [`Deferred`] words. Then a load
//! can be answered before its value is chosen, and the thread runs on until control needs it.
//!
//! The machine does the arithmetic (by the rules of [`wattle_ir::eval`]), checks every index, and keeps the private
//! arrays. Memories, schedules and devices do not belong here. Dimension 0 varies slowest everywhere.

mod access;
mod action;
mod ahead;
mod code;
mod endings;
mod environment;
mod exits;
mod live;
mod lower;
mod orders;
mod program;
mod request;
mod thread;
mod timing;
mod value;

pub use action::Action;
pub use ahead::Ahead;
pub use environment::{Argument, Environment, EnvironmentError, View};
pub use orders::Instruction;
pub use program::{MAX_LOCAL_ELEMENTS, Program};
pub use request::{Fault, Location, Request, last_index};
pub use thread::Thread;
pub use timing::Timing;
pub use value::{Deferred, Value};
pub use wattle_ir::{LaunchShape, Position};
