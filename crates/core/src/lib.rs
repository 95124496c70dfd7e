//! What a kernel and a device are to each other.
//!
//! Here live a kernel's view of the world ([`Acc`], [`Read`], [`PerItem`], [`Shared`], [`Atomic`]), the shapes of
//! launches, buffers, queues, events, the clocks that keep them safe, the traits that every device implements, and the
//! host devices, which need nothing else. What never will: a target's code, a driver, a memory model.
//!
//! # What stands on what
//!
//! What a kernel's function uses has an order: a thread with its block and its launch (`thread.rs`), what is accessed by
//! index (`support/access.rs`), views (`view.rs`), and the loops over indices and elements (`indices.rs`, `elements.rs`,
//! `rows.rs`, `items.rs`, `together.rs`).
//!
//! Launching has none. A device makes buffers and queues, and each of these holds its device; an argument of a kernel
//! names its buffer; a queue hands kernels over to the back end that made it, and one of the back ends is the host's. So
//! `argument.rs`, `backend.rs`, `buffer.rs`, `device.rs`, `host/`, `kernel.rs`, `module.rs`, `printing.rs` and `queue/`
//! know one another. What they have in common stands below them: `properties.rs`, `spec.rs`, `memory.rs`, `domain.rs`,
//! `error.rs`. The clocks (`clock/`) know nothing of a queue but the event that ends a dropped one's work.

mod acc;
mod argument;
mod atomic;
mod backend;
mod buffer;
mod bundle;
pub mod clock;
mod device;
#[doc(hidden)]
pub mod device_fn;
mod divergence;
mod domain;
mod elements;
mod error;
mod extent;
mod fault;
mod fence;
mod host;
mod indices;
pub mod interrupt;
mod items;
mod kernel;
mod lanes;
mod memory;
#[doc(hidden)]
pub mod methods;
mod module;
mod observe;
#[doc(hidden)]
pub mod operators;
mod panics;
mod plain_closure;
mod printing;
mod properties;
pub mod queue;
mod rows;
mod scenario;
mod spec;
#[doc(hidden)]
pub mod support;
mod sync;
mod this_device;
mod thread;
pub mod view;
mod warp;
#[doc(hidden)]
pub mod wide;

pub use acc::Acc;
pub use argument::{Arg, Argument, ArgumentValue, Arguments, Bound, IntoArg, ViewArgument};
pub use backend::{Backend, BackendQueue, Decided, LaunchRequest, Mover};
pub use buffer::{Buffer, Destination, MapGuard, MapGuardMut, RawBuffer, Source, View, ViewMut};
pub use bundle::{Bundle, Draft};
pub use device::{Device, Found, Missing, PROVIDERS, Provider};
pub use device_fn::DeviceFn;
pub use divergence::Divergence;
pub use domain::{SyncDomain, SyncDomainMap};
pub use elements::Elements;
pub use error::{Error, ErrorClass, ErrorKind, Limit, Result, ThreadLine, system};
pub use extent::{Extent, ToExtent};
pub use fault::{Fault, FaultKind};
pub use host::run_beside;
#[doc(hidden)]
pub use host::{Vectors, vectors};
pub use indices::{Dimension, IndexRange, Indices, Range, Walk, range};
pub use items::{Items, Views};
pub use kernel::{Kernel, KernelIdentity, KernelInfo, Launch};
pub use memory::{Allocation, HostMemory, Memory, MemoryKind};
pub use module::{
    Given, ModuleArgument, ModuleArguments, ModuleCall, ModuleCode, ModuleEntry, ModuleKernel, ModuleLanguage,
    ModuleNumber, ModuleParam, ModuleVariable, SeenOfWarps, lasting,
};
pub use observe::{Observer, OptionsFor};
pub use panics::{caught, panicked};
pub use printing::{Printed, PrintedLine, print_to_stderr, printed};
pub use properties::{DeviceKind, Properties};
pub use queue::{
    Event, EventState, HostSource, HostTarget, Operation, Queue, RawPart, Timestamp, Transfer, TransferSource,
    host_part_shape, paired,
};
pub use scenario::{Ending, Expectation, Launched, Registration, SCENARIOS, Scenario, Sizes, Summary, Work};
pub use spec::{FrameSpec, LaunchOptions, Shape, ShapeKind, Spec, ThreadSpec};
pub use sync::lock;
pub use this_device::ThisDevice;
pub use thread::Thread;
pub use view::{Atomic, PerItem, Read, Shared};
pub use warp::Warp;
pub use wattle_ir::WarpMask;
