//! Runs one interleaving of a launch's threads, chosen by a seed, and judges it by the portable model.
//!
//! A [`Simulator`] holds memory and runs launches: it picks a thread, runs it for a few requests, and picks another.
//! All launches in flight are interleaved together. Every read sees the latest write, so the values are sequentially
//! consistent; whether the kernel may rely on them is judged separately, by vector clocks over the synchronization that
//! fences, atomics and barriers promise within their scopes. Two conflicting accesses that these do not order are a
//! data race, even if this run shows no wrong value.
//!
//! Kernels that are read from modules run beside Wattle's own ([`Simulator::launch_module`]). Their threads address
//! bytes; an element of which some access covers only a part is judged byte by byte from then on. What their reader
//! calls private or atomic, and at which scope, is judged as it is of Wattle's own. Of Vulkan's model this knows scopes
//! and storage classes; it does not follow availability and visibility operations, and a subgroup's scope is taken for
//! its workgroup's. So a module of SPIR-V may have races that no seed shows.
//!
//! ```
//! use std::sync::Arc;
//! use wattle_check::simulate::{Argument, Init, LaunchRequest, Options, Simulator};
//! use wattle_ir::{Access, AtomicOp, Const, Expr, ExprId, Kernel, Param, ParamId, ParamKind, Place, Site, Slot, SlotId};
//! use wattle_ir::{Stmt, Type};
//! use wattle_machine::{LaunchShape, Program};
//! use wattle_memory::{Scope, UpdateOrder};
//!
//! // Each thread adds 1 to the only element of `count`.
//! let site = Site::caller();
//! let kernel = Kernel {
//!     params: vec![Param {
//!         name: "count",
//!         kind: ParamKind::View { access: Access::Atomic, element: Type::U32, rank: 1 },
//!         field: None,
//!     }],
//!     slots: vec![Slot { ty: Type::U32, name: None }],
//!     exprs: vec![Expr::Const(Const::of(0u32)), Expr::Const(Const::of(1u32))],
//!     body: vec![Stmt::AtomicUpdate {
//!         dst: SlotId(0),
//!         op: AtomicOp::Add,
//!         place: Place::Param(ParamId(0)),
//!         index: vec![ExprId(0)],
//!         operand: ExprId(1),
//!         order: UpdateOrder::Relaxed,
//!         scope: Scope::Device,
//!         site,
//!     }],
//!     ..Kernel::new("count", site, 1)
//! };
//! let program = Arc::new(Program::compile(Arc::new(kernel))?);
//!
//! let mut simulator = Simulator::new(Options::seeded(1));
//! let count = simulator.allocate(Type::U32, 1, Init::Zero)?;
//! let launch = LaunchRequest::new(program, LaunchShape::linear(4, 32), vec![Argument::whole(count, [1, 1, 1, 1])]);
//! let launch = simulator.launch(launch)?;
//! simulator.finish(launch)?;
//! assert_eq!(simulator.read(count, 0..1)?.values, [128]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod actions;
mod barrier;
mod blocks;
mod bytes;
mod clock;
mod finding;
mod gate;
mod gates;
mod history;
mod launch;
mod machine;
mod memory;
mod module;
#[cfg(test)]
mod oracle;
mod running;
mod serve;
mod shadow;
mod simulator;
mod spin;
mod steps;
mod sync;

pub use bytes::ModuleBuffer;
pub use finding::{AccessSite, Actor, ElementName, Finding, Findings, Race, StopReason, Waiting, Why};
pub use launch::{Agent, LaunchError, LaunchId, LaunchRequest};
pub(crate) use launch::{MAX_BLOCK, MAX_RESIDENT, MAX_WORDS};
pub use memory::{Contents, Init, MemoryError, MemoryId};
pub use module::{ModuleRequest, Role, SharedVariable, SimulatedModule, SimulatedThread};
pub use simulator::{Options, Simulator};
pub use wattle_machine::{Argument, View};
