//! Launches of which some are of modules, as they are given to whoever judges these, and what that finds.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use wattle_core::queue::QueuedLaunch;
use wattle_core::{ArgumentValue, ModuleCall, ModuleEntry, Result, ViewArgument};
use wattle_ir::ElementLayout;
use wattle_memory::{Model, Target};

use super::frames::{shape_text, text};
use crate::program::{Image, LaunchWorld};
use crate::report::{Progress, Story, Unknown};
use crate::search::{Address, Limits, Meter, Statistics};

/// Launches that run at the same time, some of them of modules.
#[derive(Debug)]
pub struct Batch {
    /// The launches.
    pub launches: Vec<BatchLaunch>,
    /// The buffers of the device, and the variables of modules.
    pub buffers: Vec<BatchBuffer>,
    /// The memories before the launches: the value of each element, `None` for one that has never been written.
    pub memories: Vec<Image>,
    /// What Wattle's own kernels are emitted for.
    pub target: Target,
    /// The features of the device that SPIR-V is emitted for.
    pub profile: Profile,
    /// The memory model.
    pub model: Model,
    /// The progress model.
    pub progress: Progress,
    /// The maximum number of iterations of a loop that may go on for ever and that changes something each time.
    pub loop_bound: u32,
    /// Whether executions that differ only by exchanging equal threads may be built once.
    pub symmetry: bool,
    /// The limits of the search.
    pub limits: Limits,
    /// The meter on which the search shows how far it is, if anyone watches.
    pub meter: Option<Arc<Meter>>,
    /// What is changed in modules, for advice.
    pub variant: Option<ModuleVariant>,
}

/// A launch of a batch.
#[derive(Debug)]
pub struct BatchLaunch {
    /// The kernel with its shape and arguments.
    pub kernel: BatchKernel,
    /// The number of the device that it runs on, if that is not the host.
    pub device: u32,
    /// The launches of the batch that must have ended before it begins.
    pub after: Vec<usize>,
    /// Whether all its blocks run at once.
    pub cooperative: bool,
}

/// A kernel with its shape and its arguments.
#[derive(Debug)]
pub enum BatchKernel {
    /// A kernel of Wattle's own, or a host part.
    Own(LaunchWorld),
    /// A kernel of a module.
    Module {
        /// The kernel.
        entry: Arc<ModuleEntry>,
        /// The blocks, in x, y and z.
        grid: [u32; 3],
        /// The threads of a block, in x, y and z.
        block: [u32; 3],
        /// The size in bytes of the shared memory that is sized at launch.
        shared_bytes: u32,
        /// The lanes of a warp, of a module whose language leaves them open.
        warp_size: u32,
        /// The arguments, by their places among the parameters' bytes.
        arguments: Vec<(Range<usize>, BatchArgument)>,
        /// The numbers of the module's variables among the buffers.
        variables: Vec<usize>,
    },
}

/// An argument of a module's kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BatchArgument {
    /// A number.
    Bytes(Vec<u8>),
    /// An address: the number of the buffer, and the offset in bytes.
    Address(usize, u64),
}

/// A buffer of the checker's device, or of a simulated one.
#[derive(Clone, Debug)]
pub struct BatchBuffer {
    /// The name: the parameter's that it was first given for; empty where it has been given for none.
    pub name: String,
    /// The number of the memory that holds the first number of its elements; those of the others stand behind.
    pub first: u32,
    /// The layout of an element.
    pub layout: &'static ElementLayout,
    /// The number of elements.
    pub len: usize,
}

/// What a search of a batch has found.
#[derive(Debug, Default)]
pub struct Judged {
    /// The memories that the launches can leave, as the elements that have changed.
    pub outcomes: BTreeSet<Vec<(Address, u64)>>,
    /// What is wrong, by its kind in a word or two, and its story.
    pub violations: Vec<(&'static str, Story)>,
    /// The reasons why the search was incomplete.
    pub unknown: Vec<Unknown>,
    /// What the verdict rests on that the modules' languages do not promise.
    pub notes: Vec<String>,
    /// The size of the search.
    pub statistics: Statistics,
    /// The number of events of the finished executions.
    pub events: u64,
}

/// What advice changes in modules, which their judge alone knows: it makes variants, and finds them in the batches of
/// their trials.
#[derive(Clone)]
pub struct ModuleVariant(pub Arc<dyn Any + Send + Sync>);

impl fmt::Debug for ModuleVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModuleVariant")
    }
}

/// The features of a device that SPIR-V is emitted for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// All features that code can use.
    #[default]
    Best,
    /// The features that every device has.
    Least,
}

impl BatchKernel {
    /// A launch of a module's kernel. `buffer` is the number of the buffer that an argument is a view of.
    pub(crate) fn of_module(
        call: &ModuleCall,
        enqueued: &QueuedLaunch,
        warp_size: u32,
        mut buffer: impl FnMut(&ViewArgument<'_>, &str) -> Result<usize>,
        variables: Vec<usize>,
    ) -> Result<BatchKernel> {
        let arguments = enqueued.kernel.arguments().zip(call.places()).map(|(argument, place)| {
            let argument = match argument.value {
                ArgumentValue::Scalar { bytes, .. } => BatchArgument::Bytes(bytes.to_vec()),
                ArgumentValue::View(view) => {
                    let offset = (view.offset() * view.element_bytes()) as u64;
                    BatchArgument::Address(buffer(&view, argument.name)?, offset)
                }
            };
            Ok((place, argument))
        });
        let arguments = arguments.collect::<Result<_>>()?;
        let axes = |extent: [u32; 4]| {
            // The last dimension varies fastest, and is x (CUDA C++ Programming Guide, "Thread Hierarchy").
            let last = enqueued.shape.rank.saturating_sub(1);
            std::array::from_fn(|axis| last.checked_sub(axis).map_or(1, |dimension| extent[dimension]))
        };
        Ok(BatchKernel::Module {
            entry: call.entry().clone(),
            grid: axes(enqueued.shape.outer),
            block: axes(enqueued.shape.inner),
            shared_bytes: enqueued.options.get_shared_len(),
            warp_size,
            arguments,
            variables,
        })
    }

    /// The number of blocks, and of threads per block.
    pub fn extents(&self) -> (usize, usize) {
        match self {
            BatchKernel::Own(launch) => {
                let shape = launch.environment.shape;
                (shape.blocks() as usize, shape.threads_per_block() as usize)
            }
            BatchKernel::Module { grid, block, .. } => {
                let count = |extent: &[u32; 3]| extent.iter().map(|&extent| extent as usize).product();
                (count(grid), count(block))
            }
        }
    }

    /// Whether the launch runs on the host.
    pub fn is_host_part(&self) -> bool {
        match self {
            BatchKernel::Own(launch) => launch.host,
            BatchKernel::Module { .. } => false,
        }
    }

    /// Whether the launch is of a module that was not written with Wattle.
    pub fn is_module(&self) -> bool {
        match self {
            BatchKernel::Own(_) => false,
            BatchKernel::Module { .. } => true,
        }
    }

    pub(crate) fn name(&self) -> &str {
        match self {
            BatchKernel::Own(launch) => &launch.program.kernel().name,
            BatchKernel::Module { entry, .. } => entry.name(),
        }
    }

    pub(crate) fn shape_text(&self) -> String {
        match self {
            BatchKernel::Own(launch) => shape_text(launch),
            BatchKernel::Module { grid: [x, y, z], block: [a, b, c], .. } => text(([*x, *y, *z, 1], [*a, *b, *c, 1])),
        }
    }
}
