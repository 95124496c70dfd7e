//! The layout of a launch: the parameters, the shape and the shared memory that a module expects.
//!
//! - The parameters of the entry are those of [`LaunchLayout::arguments`], in that order: what `cuLaunchKernel` takes
//!   an array of pointers to.
//! - Blocks and threads are numbered row-major, dimension 0 slowest, and launched in x alone: the grid is
//!   `(blocks, 1, 1)` and a block `(threads, 1, 1)`. A launch of more than 2^31 - 1 blocks is none.
//! - Arrays in shared memory are the module's own, but for the one that is sized at launch and where all of them are
//!   larger than [`MOST_STATIC_SHARED`]: then the launch gives [`LaunchLayout::shared_bytes_at_launch`] bytes and those
//!   of the array that is sized at launch behind them.

use wattle_ir::fault::FaultSite;
use wattle_ir::{LaunchValue, ParamId};

/// The most bytes of shared memory that a module can have of its own (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability": more must be given by the launch).
pub const MOST_STATIC_SHARED: u32 = 48 * 1024;
/// The most bytes of parameters on all devices and in all versions of PTX (PTX ISA 8.8, 5.1.6.1 "Kernel function
/// parameters").
pub const MOST_PARAMETER_BYTES: u32 = 4352;

/// A module's text, and what is needed to launch it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The directives that begin a module. Modules of one target can stand together under one header.
    pub header: String,
    /// The entry, and what it needs outside itself.
    pub body: String,
    /// The entry's name: the kernel's, with all that PTX cannot write in a name replaced.
    pub entry: String,
    /// The layout of a launch of the module.
    pub layout: LaunchLayout,
    /// The fault sites that the numbers in the control block stand for.
    pub sites: Vec<FaultSite>,
    /// Whether a thread may wait for others outside its block: whether there is a loop without a bound.
    pub waits: bool,
}

impl Module {
    /// Returns the module's whole text: the header and the body.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.header, self.body)
    }
}

/// The layout of a launch: the parameters and the shared memory that a module expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchLayout {
    /// The parameters of the entry, in order.
    pub arguments: Vec<Parameter>,
    /// The bytes of shared memory of a block, without the array that is sized at launch.
    pub shared_bytes: u32,
    /// How many of these bytes the launch must give, before the array that is sized at launch; all or none.
    pub shared_bytes_at_launch: u32,
    /// The bytes of one element of the shared array that is sized at launch, if there is one.
    pub launch_sized_element: Option<u32>,
}

impl LaunchLayout {
    /// The bytes of all parameters, each at a multiple of its size.
    pub fn parameter_bytes(&self) -> u32 {
        self.arguments.last().map_or(0, |last| last.offset + last.size)
    }
}

/// A parameter of the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// What the parameter holds.
    pub what: Argument,
    /// The parameter's offset among the bytes of all parameters.
    pub offset: u32,
    /// The parameter's size in bytes: 1, 2, 4 or 8.
    pub size: u32,
}

/// What a parameter of the entry holds: a 32-bit unsigned integer where nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    /// The address of the queue's control block ([`crate::control`]); 64 bits.
    Control,
    /// The address of the queue's words in host memory that the device reaches ([`crate::control::host`]); 64 bits.
    Host,
    /// The launch's number on its queue, from 1, less than [`crate::control::OPEN`]; it grows while any launch has not
    /// ended, and may restart when all have.
    Number,
    /// The address of the view's first element; 64 bits.
    Base(ParamId),
    /// A scalar, in its own size ([`wattle_ir::Scalar::to_raw`]).
    Scalar(ParamId),
    /// A number of the launch; 64 bits if it is of a view in a kernel that is wide. In any other kernel the number of
    /// each element of a view, counted from the first one by the strides, is below 2³².
    Launch(LaunchValue),
}
