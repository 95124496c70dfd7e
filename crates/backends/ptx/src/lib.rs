//! Wattle's kernels as PTX.
//!
//! [`build`] makes a [`Module`] of a kernel for a [`PtxTarget`], a compute capability and a version of PTX; what that
//! lacks is reported before anything is built. [`LaunchLayout`] says how a launch gives the module its buffers and
//! values, and [`control`] how the module reports errors. Fences, orders and scopes are those of the lowering table
//! ([`wattle_memory::Lowering`]), which the checker reads too. What never will live here: a driver.
//!
//! The emitter (`emit.rs`) is one state while a kernel becomes an entry. Each other file has the part of its work that
//! the file is named after, `statement.rs` what each kind of statement goes to, so these files know one another.
//!
//! The source is the PTX ISA, version 8.8; the parts that matter are named where they do.

mod access;
mod assemble;
mod atomic;
mod batching;
mod cast;
pub mod control;
mod emit;
mod expr;
mod flow;
mod hoisting;
mod lanes;
mod layout;
mod locals;
mod ordering;
mod parameters;
mod report;
mod statement;
mod target;
mod together;
mod unroll;
mod warp;

pub use layout::{Argument, LaunchLayout, MOST_PARAMETER_BYTES, MOST_STATIC_SHARED, Module, Parameter};
pub use target::{CAPABILITIES, GREATEST_SM, LEAST_SM, Lacking, PtxTarget, least_version};

pub use wattle_ir::fault::{Fault, FaultSite};
use wattle_ir::{Converts, Divides, Exact, Halves, Kernel, Legal, NO_WARPS, Native, Type, Warps, legalize, specialize};

/// Makes a module of a verified kernel.
///
/// # Errors
/// The target lacks something that the kernel uses.
///
/// # Panics
/// The kernel is none that [`wattle_ir::verify`] accepts, and legalization has left something that PTX has not.
pub fn build(kernel: &Kernel, target: &PtxTarget) -> Result<Module, Lacking> {
    target.check(&kernel.name)?;
    emit::emit(&legal(kernel, target), target)
}

/// The kernel in what a target has by itself.
#[doc(hidden)]
pub fn legal(kernel: &Kernel, target: &PtxTarget) -> Legal {
    let warps = Warps {
        size: Some(warp::WARP_SIZE),
        are_whole: false,
        shuffles_by_distance: true,
        shuffles: &|ty| ty != Type::Bool && ty.bits() == 32,
        combines: &|op, ty| warp::reduction(op, ty, target.sm).is_some(),
    };
    let exact = |ty| Exact { fast: target.fast(ty), ..Exact::ALL };
    let kernel = &*specialize(kernel, &|property| Some(property.on_cuda(target.sm)));
    let most_threads = target.max_threads.or(Some(MOST_THREADS));
    legalize(kernel, &Native { halves: &|ty| target.halves(ty), exact: &exact, warps, most_threads, ..NATIVE })
}

/// The most threads per block on every target (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
const MOST_THREADS: u32 = 1024;

/// What PTX has by itself on every target.
const NATIVE: Native<'_> = Native {
    halves: &|_| Halves::NONE,
    // Rounded correctly in both sizes (PTX ISA 8.8, 9.7.3 "Floating point instructions").
    exact: &|_| Exact::ALL,
    // The ISA does not define the overflow of the least value by -1 (9.7.1.7 "div"). Small integers have room for it.
    divides: &|_, ty| if ty.is_signed() && ty.bits() >= 32 { Divides::ButLeast } else { Divides::Always },
    // ptxas 12.9 and 13.5 divide by them.
    divides_by_constants: false,
    // NaN becomes 0 from 32 to 32 bits, and the least value where one of both has 64 (9.7.9.21 "cvt").
    converts: &|from, to| if from == Type::F32 && to.bits() <= 32 { Converts::All } else { Converts::Numbers },
    updates: &|op, _, ty| atomic::instruction(op, ty).is_some(),
    floats: &|_, _| true,
    loads_lanes: true,
    most_threads: Some(MOST_THREADS),
    warps: NO_WARPS,
};
