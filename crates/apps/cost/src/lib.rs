//! What fences, atomics and barriers cost on a device, alone and beside other launches.
//!
//! A cost is a difference: a loop with the operation, less the same loop without it, in turns. Here live the kernels of
//! these loops, written as any user would write them; the statistics; the tables, the JSON and the pictures of what was
//! measured; and the comparison of two reports. `wattle cost` prints them. What never will live here: a figure that was
//! not measured, and the reading of arguments.
//!
//! ```no_run
//! use wattle::Device;
//! use wattle_cost::{Effort, Watch, fences};
//!
//! # fn main() -> wattle::Result<()> {
//! let report = fences(&Device::host(), &Effort::Full, &Watch::default())?;
//! println!("{report}");
//! # Ok(())
//! # }
//! ```

mod case;
mod columns;
mod compare;
mod cuda;
mod fences;
mod interference;
mod kernels;
mod machine;
mod measure;
mod operation;
mod operation_kind;
mod plot;
mod report;
mod samples;
mod statistics;
mod table;

pub use compare::Comparison;
pub use fences::fences;
pub use interference::interference;
pub use machine::{ClockUnit, Machine};
pub use measure::{Effort, Watch};
pub use operation::Operation;
pub use operation_kind::OperationKind;
pub use report::{Beside, Cost, Memory, Question, Report, Row};
pub use statistics::Figure;
