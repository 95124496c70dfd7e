//! The parameters of a launch, and the reasons for which it may be refused.

use std::sync::Arc;
use std::time::Instant;

use thiserror::Error;
use wattle_ir::{Kernel, MAX_RANK, ParamKind, Type};
use wattle_machine::{Argument, Environment, EnvironmentError, LaunchShape, Program, View};

use super::memory::{Memories, MemoryError};

/// The maximum number of threads of a launch.
pub(super) const MAX_THREADS: u64 = 1 << 20;
/// The maximum number of threads of a block.
pub(crate) const MAX_BLOCK: u64 = 1 << 12;
/// The maximum number of resident threads, as a cooperative launch needs them.
pub(crate) const MAX_RESIDENT: u64 = 1 << 17;
/// The maximum number of words, of slots and private arrays, of the threads of a block together.
pub(crate) const MAX_WORDS: u64 = 1 << 26;
/// The maximum number of elements of a block's shared memory.
pub(super) const MAX_SHARED: u64 = 1 << 20;

/// The place where a launch's threads run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Agent {
    /// On the device of this number: device scope includes its threads, and not those of another one.
    Device(u32),
    /// On the host: one thread, which system scope includes and device scope does not.
    Host,
}

/// The identifier of a launch of a simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LaunchId(pub(super) u64);

/// A launch request.
#[derive(Clone, Debug)]
pub struct LaunchRequest {
    /// The kernel.
    pub program: Arc<Program>,
    /// The blocks and threads of the launch.
    pub shape: LaunchShape,
    /// The arguments, one for each parameter.
    pub arguments: Vec<Argument>,
    /// The length of the shared array that is sized at launch.
    pub shared_len: u32,
    /// The name of the launch in reports.
    pub label: Arc<str>,
    /// The place where it runs.
    pub agent: Agent,
    /// Whether all blocks must be resident at once.
    pub cooperative: bool,
    /// The maximum number of statements of its threads together, after which it is ended.
    pub step_limit: Option<u64>,
    /// The time at which it is ended.
    pub deadline: Option<Instant>,
}

impl LaunchRequest {
    /// A launch on the device, named like its kernel, without limits.
    pub fn new(program: Arc<Program>, shape: LaunchShape, arguments: Vec<Argument>) -> LaunchRequest {
        let label = program.kernel().name.as_str().into();
        LaunchRequest {
            program,
            shape,
            arguments,
            shared_len: 0,
            label,
            agent: Agent::Device(0),
            cooperative: false,
            step_limit: None,
            deadline: None,
        }
    }
}

/// The reason why a launch is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The arguments do not fit the parameters.
    #[error(transparent)]
    Arguments(#[from] EnvironmentError),
    /// A part of an argument's memory does not exist.
    #[error("kernel `{kernel}`, parameter `{param}`: {error}")]
    Memory {
        /// The kernel's name.
        kernel: String,
        /// The parameter's name.
        param: &'static str,
        /// The error of the memory.
        error: MemoryError,
    },
    /// A buffer that a module's kernel can reach does not exist.
    #[error("kernel `{kernel}`: {error}")]
    Buffer {
        /// The kernel's name.
        kernel: String,
        /// The error of the memory.
        error: MemoryError,
    },
    /// The element type of a view does not match.
    #[error("kernel `{kernel}`, parameter `{param}` is of {expected}, and was given memory of {found}")]
    Element {
        /// The kernel's name.
        kernel: String,
        /// The parameter's name.
        param: &'static str,
        /// The element type of the parameter.
        expected: Type,
        /// The element type of the memory.
        found: Type,
    },
    /// The launch has dimensions that the kernel or the parameter does not have.
    #[error("kernel `{kernel}`: {what} has extents beyond its {rank} dimensions; they must be 1")]
    Rank {
        /// The kernel's name.
        kernel: String,
        /// The launch, or a parameter, in words.
        what: String,
        /// The number of dimensions.
        rank: usize,
    },
    /// The launch exceeds a limit of the simulated device.
    #[error("kernel `{kernel}`: {found} {what}, and the simulated device has at most {max}: launch a smaller size")]
    TooLarge {
        /// The kernel's name.
        kernel: String,
        /// The quantity that is too large.
        what: &'static str,
        /// The requested amount.
        found: u64,
        /// The maximum.
        max: u64,
    },
    /// A launch on the host has several threads.
    #[error("kernel `{kernel}`: a launch on the host has one thread, not {threads}")]
    Host {
        /// The kernel's name.
        kernel: String,
        /// The requested number of threads.
        threads: u64,
    },
    /// Too many launches have overlapped without a moment at which no launch was in flight.
    #[error("too many threads have overlapped without a pause: wait for the launches in flight, then launch again")]
    Overlap,
}

/// Checks a request; returns the threads' environment.
pub(super) fn bind(request: &LaunchRequest, memories: &Memories) -> Result<Environment, LaunchError> {
    let LaunchRequest { shape, shared_len, .. } = *request;
    let environment = Environment { shape, arguments: request.arguments.clone(), shared_len };
    let kernel = request.program.kernel();
    environment.check(kernel)?;
    size(request, kernel)?;
    for (argument, param) in environment.arguments.iter().zip(&kernel.params) {
        if let (Argument::View(view), ParamKind::View { element, rank, .. }) = (argument, param.kind) {
            check_view(view, element, rank, kernel, param.name, memories)?;
        }
    }
    Ok(environment)
}

fn size(request: &LaunchRequest, kernel: &Kernel) -> Result<(), LaunchError> {
    let name = || kernel.name.clone();
    let shape = &request.shape;
    let beyond = |extent: &[u32; MAX_RANK]| extent.iter().skip(kernel.rank).any(|&extent| extent != 1);
    if beyond(&shape.grid_extent) || beyond(&shape.block_extent) {
        return Err(LaunchError::Rank { kernel: name(), what: "the launch".into(), rank: kernel.rank });
    }
    let (blocks, per_block) = (shape.blocks(), shape.threads_per_block());
    let threads = blocks.saturating_mul(per_block);
    if request.agent == Agent::Host && threads != 1 {
        return Err(LaunchError::Host { kernel: name(), threads });
    }
    let shared = kernel
        .shared
        .iter()
        .fold(0u64, |sum, array| sum.saturating_add(array.len.in_launch(request.shared_len) as u64));
    let words = per_block.saturating_mul(request.program.words() as u64);
    let limits = [
        ("threads", threads, MAX_THREADS),
        ("threads in a block", per_block, MAX_BLOCK),
        ("elements of shared memory in a block", shared, MAX_SHARED),
        ("words of variables in a block", words, MAX_WORDS),
    ];
    match limits.into_iter().find(|(_, found, max)| found > max) {
        Some((what, found, max)) => Err(LaunchError::TooLarge { kernel: name(), what, found, max }),
        None => Ok(()),
    }
}

fn check_view(
    view: &View,
    element: Type,
    rank: usize,
    kernel: &Kernel,
    param: &'static str,
    memories: &Memories,
) -> Result<(), LaunchError> {
    let View { memory, offset, extent, strides } = *view;
    let name = || kernel.name.clone();
    let failed = |error| LaunchError::Memory { kernel: name(), param, error };
    let allocation = memories.get(memory.into()).map_err(failed)?;
    if allocation.element != element {
        return Err(LaunchError::Element { kernel: name(), param, expected: element, found: allocation.element });
    }
    if extent.iter().skip(rank).any(|&extent| extent != 1) {
        return Err(LaunchError::Rank { kernel: name(), what: format!("the view for parameter `{param}`"), rank });
    }
    // The index beyond the last element, in words wide enough for any extent and stride.
    let empty = extent.contains(&0);
    let reach: u128 =
        extent.iter().zip(strides).map(|(&extent, stride)| extent.saturating_sub(1) as u128 * stride as u128).sum();
    let end = offset as u128 + if empty { 0 } else { reach + 1 };
    let len = allocation.values.len();
    if end > len as u128 {
        let (start, end) = (offset as usize, end.min(usize::MAX as u128) as usize);
        return Err(failed(MemoryError::Range { start, end, len }));
    }
    Ok(())
}
