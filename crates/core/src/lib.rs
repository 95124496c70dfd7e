//! What a kernel and a device are to each other.
//!
//! Here live a kernel's view of the world ([`Acc`], [`Read`], [`PerItem`], [`Shared`], [`Atomic`]), the shapes of
//! launches, buffers, queues, events, the clocks that keep them safe, the traits that every device implements, and the
//! host devices, which need nothing else. What never will: a target's code, a driver, a memory model.

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
mod error;
mod extent;
mod fault;
mod fence;
mod host;
mod indices;
pub mod interrupt;
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
pub mod queue;
mod rows;
mod scenario;
mod spec;
#[doc(hidden)]
pub mod support;
mod sync;
mod this_device;
mod thread;
mod together;
pub mod view;
mod warp;
#[doc(hidden)]
pub mod wide;

pub use acc::Acc;
pub use argument::{Arg, Argument, ArgumentValue, Arguments, Bound, IntoArg, ViewArgument};
pub use backend::{Backend, BackendQueue, Decided, LaunchRequest, Mover};
pub use buffer::{Buffer, Destination, MapGuard, MapGuardMut, RawBuffer, Source, View, ViewMut};
pub use bundle::{Bundle, Draft};
pub use device::{Device, DeviceKind, Found, Missing, PROVIDERS, Properties, Provider};
pub use device_fn::DeviceFn;
pub use divergence::Divergence;
pub use domain::{SyncDomain, SyncDomainMap};
pub use error::{Error, ErrorClass, ErrorKind, Limit, Result, ThreadLine, system};
pub use extent::{Extent, ToExtent};
pub use fault::{Fault, FaultKind};
pub use host::run_beside;
#[doc(hidden)]
pub use host::{Vectors, vectors};
pub use indices::{Dimension, IndexRange, Indices, Items, Range, Walk, range};
pub use kernel::{Kernel, KernelIdentity, KernelInfo, Launch};
pub use memory::{Allocation, HostMemory, Memory, MemoryKind};
pub use module::{
    Given, ModuleArgument, ModuleArguments, ModuleCall, ModuleCode, ModuleEntry, ModuleKernel, ModuleLanguage,
    ModuleNumber, ModuleParam, ModuleVariable, SeenOfWarps, lasting,
};
pub use observe::{Observer, OptionsFor};
pub use panics::{caught, panicked};
pub use printing::{Printed, PrintedLine, print_to_stderr, printed};
pub use queue::{
    Event, EventState, HostSource, HostTarget, Operation, Queue, RawPart, Timestamp, Transfer, TransferSource,
    host_part_shape, paired,
};
pub use scenario::{Ending, Expectation, Launched, Registration, SCENARIOS, Scenario, Sizes, Summary, Work};
pub use spec::{FrameSpec, LaunchOptions, Shape, ShapeKind, Spec, ThreadSpec};
pub use sync::lock;
pub use this_device::ThisDevice;
pub use thread::Thread;
pub use together::{Elements, ItemsTogether, Views};
pub use view::{Atomic, PerItem, Read, Shared};
pub use warp::Warp;
pub use wattle_ir::WarpMask;
