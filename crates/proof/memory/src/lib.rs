//! The meaning of ordering memory: scopes and orders, as values and as types.
//!
//! Here live [`Scope`], the orders that each kind of operation can have, and the one rule that turns a sequentially
//! consistent atomic into a fence and a weaker atomic; the lowering table ([`Lowering`]), which says what each becomes
//! on each target; execution graphs ([`Graph`]) and the memory models ([`Model`]) that judge them. Kernels, their
//! intermediate representation and devices never belong here.
//!
//! Sources: PTX ISA 8.5, section 8 "Memory Consistency Model"; the Vulkan memory model, SPIR-V 1.6 section 3.32
//! "Memory Semantics"; ISO C++20, [atomics.order].

mod clause;
mod event;
mod graph;
mod lowering;
mod models;
mod order;
mod placement;
mod relation;
mod scope;
pub mod stop;
mod target;

pub use clause::Clause;
pub use event::{Classes, Event, EventId, Kind, Label, LocationId, ThreadId};
pub use graph::Graph;
pub use lowering::{Lowered, Lowering, NoScope, Steps, ptx_fence_name, ptx_scope_name};
pub use models::{Analysis, Broken, Model, Observed, Term, UnknownModel};
pub use order::{
    Expansion, FenceOrder, ForFence, ForLoad, ForRmw, ForStore, LoadOrder, Order, ReadOrder, RmwOrder, StoreOrder,
    UpdateOrder, WriteOrder, marker,
};
pub use placement::{Level, Placement};
pub use relation::{Ones, Relation, Set};
pub use scope::Scope;
pub use target::{CAPABILITIES, CodeLanguage, Target, UnknownTarget};
