//! Wattle's kernels as SPIR-V with the Vulkan memory model.
//!
//! [`build`] makes a [`Module`] of a kernel for a device with certain [`Features`]; what the device lacks is reported
//! before anything is built. [`LaunchLayout`] says how a launch gives the module its buffers and values, and
//! [`control`] how the module reports errors. What never will live here: a driver.
//!
//! The emitter (`emit.rs`) is one state while a kernel becomes a module. Each other file has the part of its work that
//! the file is named after, `statement.rs` what each kind of statement goes to, so these files know one another.

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
mod reuse;
mod rounding;
mod ssa;
mod statement;
mod text;
mod tidy;
mod warp;

pub use features::{Features, Lacking, Subgroups, Workarounds};
pub use layout::{ArgumentWord, LaunchLayout, Module, SpecConstant, ViewBinding};
pub use lint::lint;
pub use text::disassemble;

use rspirv::spirv::Op;
pub use wattle_ir::fault::{Fault, FaultSite};
use wattle_ir::{
    Converts, DivOp, Divides, Exact, Halves, Kernel, Legal, Native, ParamId, Type, Warps, legalize, specialize,
};

/// Makes a module of a verified kernel.
///
/// # Errors
/// The device lacks something that the kernel uses.
///
/// # Panics
/// The kernel is none that [`wattle_ir::verify`] accepts, and legalization has left something that SPIR-V has not.
pub fn build(kernel: &Kernel, features: &Features) -> Result<Module, Lacking> {
    build_for(kernel, features, &[])
}

/// Makes a module of a verified kernel for launches in which some parameters are views of the buffer of another one
/// before them: they have one variable.
///
/// In the Vulkan memory model an access goes through a reference, on the device "the descriptor that a variable is
/// bound to", and what goes through two of them needs availability and visibility operations even within a thread;
/// atomic operations are atomic with regard to each other only through the same one (Vulkan 1.4, appendix "Memory
/// Model": "Reference", "Atomic Operation").
///
/// # Errors
/// It fails where [`build`] does.
///
/// # Panics
/// It panics where [`build`] does.
pub fn build_for(kernel: &Kernel, features: &Features, same: &[[ParamId; 2]]) -> Result<Module, Lacking> {
    let kernel = &*specialize(kernel, &|property| features.answer(property));
    check::check(kernel, features)?;
    warp::check(kernel, features)?;
    let kernel = legal(kernel, features);
    // What an operation becomes may need more than the kernel itself.
    check::check(&kernel, features)?;
    emit::emit(&kernel, features, same)
}

/// The kernel in what a device has by itself.
#[doc(hidden)]
pub fn legal(kernel: &Kernel, features: &Features) -> Legal {
    let sums = emit::sums(kernel, features);
    let native = Native {
        // Vulkan promises roughly 2.5 ulp, and of `Fma` nothing (Vulkan 1.3, appendix "Precision and Operation of
        // SPIR-V Instructions").
        exact: &|_| {
            let exact = !features.workarounds.rough_division;
            Exact { fma: !features.workarounds.split_fma, div: exact, sqrt: exact, fast: &[] }
        },
        // Else only `F32` between conversions in integers gives the same bits. `Fma` may round its product (Vulkan 1.3,
        // appendix "Precision and Operation of SPIR-V Instructions": "inherited from OpFMul followed by OpFAdd").
        halves: &|ty| {
            let has = features.float16 && ty == Type::F16;
            Halves { values: has, sums: has, fma: false }
        },
        // The least value by -1 is not defined, and Vulkan leaves the remainder of negative numbers open.
        divides: &|op, ty| match (op, ty.is_signed()) {
            (_, false) => Divides::Always,
            (DivOp::Div, true) => Divides::ButLeast,
            (DivOp::Rem, true) => Divides::Never,
        },
        divides_by_constants: true,
        // The instruction defines neither what is beyond the type nor NaN.
        converts: &|_, _| Converts::Fitting,
        updates: &|op, place, ty| {
            atomic::instruction(op, ty).is_some_and(|op| op != Op::AtomicFAddEXT || sums.contains(&place))
        },
        floats: &|place, _| sums.contains(&place),
        loads_lanes: false,
        // What a pipeline is made with, behind this.
        most_threads: None,
        warps: Warps {
            size: None,
            are_whole: true,
            shuffles_by_distance: false,
            shuffles: &|ty| ty != Type::Bool && ty.bits() == 32,
            combines: &|op, ty| warp::reduction(op, ty, features).is_some(),
        },
    };
    legalize(kernel, &native)
}
