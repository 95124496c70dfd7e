//! Devices that run the intermediate representation itself: a simulator and a checker.
//!
//! [`simulate`] runs several threads per block on one core, in a pseudo-random interleaving that a seed repeats, and
//! reports races, reads of unwritten memory and threads that wait for ever. The [`checker`] takes a scenario through
//! every execution that a memory model permits, by the [`search`] over the threads of its launches ([`program`]).
//! Drivers, code generation and the host's own threads never belong here.
//!
//! The folders stand on one another in this order: [`search`]; [`program`] and [`simulate`]; `report`, [`story`] and
//! [`keep`]; the simulated device and the [`checker`]. One circle is meant: where a search has no answer, the checker
//! looks at runs of the simulated device; and the simulated device looks up who runs kernels of modules in the
//! checker's table of judges.
//! Within `checker`, `search` and `simulate` files call each other as the parts of one algorithm over one state: a file
//! there is an idea, and the folder is the unit.

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
