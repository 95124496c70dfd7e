//! Devices that run the intermediate representation itself: a simulator and a checker.
//!
//! [`simulate`] runs several threads per block on one core, in a pseudo-random interleaving that a seed repeats, and
//! reports races, reads of unwritten memory and threads that wait for ever. The [`checker`] takes a scenario through
//! every execution that a memory model permits, by the [`search`] over the threads of its launches ([`program`]).
//! Drivers, code generation and the host's own threads never belong here.

mod arguments;
pub mod checker;
mod device;
pub mod keep;
mod peers;
pub mod program;
mod report;
pub mod search;
pub mod simulate;
pub mod story;
mod wrap;

pub use device::Simulated;
