//! Wattle's kernels as SPIR-V with the Vulkan memory model.
//!
//! [`build`] makes a [`Module`] of a kernel for a device with certain [`Features`]; what the device lacks is reported
//! before anything is built. [`Layout`] says how a launch gives the module its buffers and values, and [`control`] how
//! the module reports errors. What never will live here: a driver.

mod access;
mod assemble;
mod atomic;
mod cast;
mod check;
pub mod control;
mod emit;
mod expr;
mod features;
mod flow;
mod interface;
mod layout;
pub mod lint;
mod ordering;
mod report;
mod text;

pub use features::{Features, Lacking, Workarounds};
pub use layout::{ArgumentWord, Layout, Module, SpecConstant, ViewBinding};
pub use lint::lint;
pub use text::disassemble;

pub use wattle_ir::fault::{Fault, FaultSite};
use wattle_ir::{Function, Kernel, expand};

/// Makes a module of a verified kernel.
///
/// # Errors
/// The device lacks something that the kernel uses.
pub fn build(kernel: &Kernel, features: &Features) -> Result<Module, Lacking> {
    check::check(kernel, features)?;
    let kernel = expand(kernel, &|function, _| match function {
        // Vulkan's functions are within its own bounds, which are wider than ours, and of 32 bits alone (Vulkan 1.3,
        // appendix "Precision and Operation of SPIR-V Instructions").
        Function::Rsqrt | Function::Exp | Function::Ln | Function::Sin | Function::Cos => true,
        Function::Tanh | Function::Pow | Function::Round => true,
        Function::Fma => features.workarounds.split_fma,
        Function::Div | Function::Sqrt => features.workarounds.rough_division,
    });
    // The expansion of a function may need more than the kernel itself.
    check::check(&kernel, features)?;
    emit::emit(&kernel, features)
}
