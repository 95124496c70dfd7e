//! The layout of a launch: the bindings, the arguments and the constants that a module expects.
//!
//! - Descriptor set 0 is the queue's: binding 0 the launch's control block ([`crate::control`]), a storage buffer with
//!   a dynamic offset; binding 1 the device's hidden word; binding 2 the queue's gate.
//! - Descriptor set 1 holds the kernel's views, one storage buffer each, in the order of [`LaunchLayout::views`]; views
//!   of one buffer have one, which is the first's ([`crate::build_for`]).
//! - The argument words are push constants, or stand in the control block where there are too many for that.
//! - [`SpecConstant`]s give the block's extents and the length of the shared array that is sized at launch.
//! - A launch is dispatched in x and, where that is not enough, y: a block's number is `x + y * the extent in x`, and
//!   numbers from [`ArgumentWord::Blocks`] on do nothing. Blocks are numbered row-major, dimension 0 slowest, and so
//!   are threads in their blocks, which are workgroups of one dimension.

use wattle_ir::fault::FaultSite;
use wattle_ir::{LaunchValue, ParamId};

/// The words of a module, and what is needed to launch it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// SPIR-V, version 1.5. The entry point is `main`.
    pub words: Vec<u32>,
    /// The layout of a launch of the module.
    pub layout: LaunchLayout,
    /// The fault sites that the numbers in the control block stand for.
    pub sites: Vec<FaultSite>,
    /// Whether a thread may wait for others outside its block: whether a loop without a bound reads a view.
    pub waits: bool,
    /// Whether a fence, or an atomic operation with an order, stands in a loop
    /// ([`crate::Workarounds::fences_in_loops_end_blocks`]).
    pub orders_in_loops: bool,
    /// Whether the kernel uses its warp: its pipeline requires full subgroups, and its blocks are multiples of them.
    pub uses_warps: bool,
}

/// The layout of a launch: the arguments, the views and the shared memory that a module expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchLayout {
    /// The 32-bit words of the arguments, in order.
    pub arguments: Vec<ArgumentWord>,
    /// Whether the arguments are push constants, from byte 0; else they stand in the control block, from word
    /// [`crate::control::ARGUMENTS`].
    pub in_push_constants: bool,
    /// The views of the kernel, of those of one buffer the first: the binding of each in set 1 is its position.
    pub views: Vec<ViewBinding>,
    /// The bytes of shared memory of a block, without the array that is sized at launch.
    pub shared_bytes: u32,
    /// The bytes of one element of the shared array that is sized at launch, if there is one.
    pub launch_sized_element: Option<u32>,
}

/// A view among a kernel's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ViewBinding {
    /// The number of the parameter.
    pub param: ParamId,
    /// Whether the kernel may write it, by this view or another one of the same buffer.
    pub writable: bool,
}

/// One 32-bit word of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArgumentWord {
    /// The number of blocks of the launch.
    Blocks,
    /// The launch's number on its queue, from 1, less than [`crate::control::OPEN`]; it grows while any launch has not
    /// ended, and may restart when all have.
    Number,
    /// Zero, which only the host knows ([`crate::Workarounds`]).
    Zero,
    /// The distance from the descriptor's start to the view's first element, in elements.
    Offset(ParamId),
    /// The low 32 bits of a scalar ([`wattle_ir::Scalar::to_raw`]).
    Low(ParamId),
    /// The high 32 bits of a scalar.
    High(ParamId),
    /// A number of the launch; threads per block and the length of a shared array are [`SpecConstant`]s instead.
    Launch(LaunchValue),
}

/// The specialization constants: each has its position here as its `SpecId`, and all are 32-bit unsigned integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecConstant {
    /// Threads per block.
    Threads = 0,
    /// Threads per block in dimension 0.
    Extent0 = 1,
    /// Threads per block in dimension 1.
    Extent1 = 2,
    /// Threads per block in dimension 2.
    Extent2 = 3,
    /// Threads per block in dimension 3.
    Extent3 = 4,
    /// The length of the shared array that is sized at launch, in elements; at least 1.
    SharedLen = 5,
    /// The size of the workgroup: threads per block, or the next multiple of the subgroup's size
    /// ([`crate::Workarounds::pads_blocks`]); threads beyond those of the block do nothing.
    Workgroup = 6,
}

impl SpecConstant {
    /// All specialization constants, in order.
    pub const ALL: [SpecConstant; 7] = [
        SpecConstant::Threads,
        SpecConstant::Extent0,
        SpecConstant::Extent1,
        SpecConstant::Extent2,
        SpecConstant::Extent3,
        SpecConstant::SharedLen,
        SpecConstant::Workgroup,
    ];
}
