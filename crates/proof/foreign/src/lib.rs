//! Judges GPU programs that were not written with Wattle.
//!
//! [`World::new`] reads a PTX module ([`wattle_modules`]) and prepares a [`Launch`] of one of its kernels, and
//! [`judge`] searches all executions of it that the PTX memory model permits ([`wattle_check::search`]): for data
//! races, faults, threads that wait for ever, reads of memory that nobody wrote, and ends at which an assertion does
//! not hold. [`spirv::launch`] prepares a launch of a SPIR-V module, [`spirv::answer`] answers one question about it
//! under the Vulkan model, and [`corpus::run`] judges many with expected answers. In a scenario, a [`Module`]'s kernels
//! are launched like Wattle's own. The checker has such launches judged here, and the simulated device gets their
//! threads from here: both find this crate by its being linked ([`wattle_check::checker::ModuleJudge`]). Wattle's own
//! kernels are judged here too as what is emitted for them
//! ([`Checker::emitted`](wattle_check::checker::Checker::emitted)).
//!
//! A [`ModuleThread`] is a thread of the module as a process of that search. The models, the search, and the meaning of
//! the instructions do not belong here.
//!
//! ```
//! use wattle_foreign::{Condition, Launch, Options, Source, Verdict, World, judge};
//!
//! let text = ".version 8.6\n.target sm_90\n.entry count(.param .u64 counter)\n{ .reg .u64 %a; .reg .u32 %x;\n\
//!             ld.param.u64 %a, [counter];\n atom.relaxed.gpu.global.add.u32 %x, [%a], 1;\n ret; }";
//! let source = Source { file: "count.ptx".into(), text: text.into() };
//! let arguments = vec!["counter=u32[1]:0".parse()?];
//! let launch = Launch { grid: [2, 1, 1], block: [2, 1, 1], arguments, dynamic_shared: 0 };
//! let mut world = World::new(source, None, launch)?;
//! let all_counted = Condition::parse("counter == 4", world.ranges())?;
//! assert_eq!(judge(&mut world, &[all_counted], &Options::default())?.verdict, Verdict::Holds);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is assumed and refused
//! All threads are scheduled fairly. Dependencies are those of the instructions as they stand in the text (PTX ISA 8.8,
//! 8.10.4 "No-Thin-Air"). A generic address that waits for a read is taken for one of global memory until it is known.
//! Clocks, shuffles whose mask has lanes that have ended, and what the reader refuses are refused by line.

mod advice;
mod batch;
mod beside;
mod claim;
mod claimed;
mod condition;
mod copies;
pub mod corpus;
mod decisions;
mod declared;
mod described;
mod elected;
mod endings;
mod flow;
mod gap;
mod given_variables;
mod header;
mod judge;
mod launch;
mod liveness;
mod loops;
mod module;
mod number;
mod open_addresses;
mod opencl;
mod operations;
mod operator;
mod pointers;
mod prepare;
mod process;
mod range;
mod read_only;
mod reason;
mod shape;
pub mod spirv;
mod steps;
mod structure;
mod subnormal;
mod turns;
mod unfixed;
mod unsupported;
mod verdict;
mod violation;
mod world;
mod wrong;

pub use advice::{Advice, Change, advise};
pub use claim::{Claim, Quantifier};
pub use claimed::judge_claimed;
pub use condition::{Condition, Item, WrongCondition};
pub use described::Described;
pub use header::{Header, Input, WrongHeader};
pub use judge::judge;
pub use launch::{Argument, Buffer, Given, Launch, WrongArgument};
pub use module::{LoadedKernel, Module};
pub use number::Number;
pub use process::ModuleThread;
pub use range::Range;
pub use reason::Reason;
pub use unsupported::Unsupported;
pub use verdict::{Options, Report, Verdict};
pub use violation::{Sizes, Step, StuckThread, Violation};
pub use world::{Source, World};
pub use wrong::Wrong;
