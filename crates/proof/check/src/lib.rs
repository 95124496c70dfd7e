//! The devices that are made of intermediate representation and memory.
//!
//! Here lives [`simulate`]: really several threads per block, on one core, in a pseudo-random interleaving that a
//! seed repeats, which tells of races, of reads that nobody wrote and of threads that wait for ever. And the
//! [`checker`]: a scenario through every execution that a memory model permits, by the [`search`] over the threads of
//! its launches ([`program`]). What never will: drivers, code generation, and the host's own threads.

pub mod checker;
mod device;
pub mod program;
pub mod search;
pub mod simulate;
pub mod story;

pub use device::Simulated;
