//! Wattle's kernels as PTX.
//!
//! [`build`] makes a [`Module`] of a kernel for a [`Target`], a compute capability and a version of PTX; what that
//! lacks is reported before anything is built. [`Layout`] says how a launch gives the module its buffers and values,
//! and [`control`] how the module reports errors. Fences, orders and scopes are those of the lowering table
//! ([`wattle_memory::Lowering`]), which the checker reads too. What never will live here: a driver.
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
mod facts;
mod flow;
mod lanes;
mod layout;
mod locals;
mod ordering;
mod parameters;
mod report;
mod target;
mod unroll;

pub use layout::{Argument, Layout, MOST_PARAMETER_BYTES, MOST_STATIC_SHARED, Module, Parameter};
pub use target::{GREATEST_SM, LEAST_SM, Lacking, Target, least_version};

pub use wattle_ir::fault::{Fault, FaultSite};
use wattle_ir::{Function, Kernel, expand};

/// Makes a module of a verified kernel.
///
/// # Errors
/// The target lacks something that the kernel uses.
pub fn build(kernel: &Kernel, target: &Target) -> Result<Module, Lacking> {
    target.check(&kernel.name)?;
    // PTX has these approximately, in 32 bits alone, or not at all. Fused products, quotients and roots it rounds
    // correctly in both sizes (PTX ISA 8.8, 9.7.3 "Floating point instructions").
    let kernel = expand(kernel, &|function, _| !matches!(function, Function::Fma | Function::Div | Function::Sqrt));
    emit::emit(&kernel, target)
}
