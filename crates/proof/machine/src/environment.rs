//! The launch parameters that all threads share, and the position of each thread.

use thiserror::Error;
use wattle_ir::{Builtin, Kernel, MAX_RANK, ParamKind, Place};

/// The shape of a launch, in up to four dimensions; those beyond the kernel's rank are 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchShape {
    /// The threads per block in each dimension.
    pub block_extent: [u32; MAX_RANK],
    /// The number of blocks in each dimension.
    pub grid_extent: [u32; MAX_RANK],
    /// The number of frames in each dimension; equal to `grid_extent` if there are none.
    pub frame_count: [u32; MAX_RANK],
    /// The extent of a frame; equal to `block_extent` if there are none.
    pub frame_extent: [u32; MAX_RANK],
    /// The lanes of a warp, a power of two.
    pub warp_size: u32,
}

impl LaunchShape {
    /// A launch of exactly these blocks and threads, without frames of its own.
    pub fn threads(grid_extent: [u32; MAX_RANK], block_extent: [u32; MAX_RANK]) -> LaunchShape {
        LaunchShape { block_extent, grid_extent, frame_count: grid_extent, frame_extent: block_extent, warp_size: 1 }
    }

    /// Sets the number of lanes of a warp.
    pub fn with_warps(self, warp_size: u32) -> LaunchShape {
        LaunchShape { warp_size, ..self }
    }

    /// The numbers in the block of the threads that are in one warp with that thread of a block.
    pub fn lanes(&self, thread: u64) -> std::ops::Range<u64> {
        let first = thread - thread % u64::from(self.warp_size);
        first..(first + u64::from(self.warp_size)).min(self.threads_per_block())
    }

    /// The row-major number of a thread in its block.
    pub fn number_in_block(&self, position: &Position) -> u32 {
        position.thread.iter().zip(self.block_extent).fold(0, |number, (&at, extent)| number * extent + at)
    }

    /// A one-dimensional launch of exactly `blocks` blocks with `threads` threads per block.
    pub fn linear(blocks: u32, threads: u32) -> LaunchShape {
        LaunchShape::threads([blocks, 1, 1, 1], [threads, 1, 1, 1])
    }

    /// The number of threads in a block; saturates.
    pub fn threads_per_block(&self) -> u64 {
        volume(self.block_extent)
    }

    /// The number of blocks; saturates.
    pub fn blocks(&self) -> u64 {
        volume(self.grid_extent)
    }

    /// The position of a thread from the row-major numbers of its block and of itself in the block.
    pub fn position(&self, block: u64, thread: u64) -> Position {
        Position { block: unravel(block, self.grid_extent), thread: unravel(thread, self.block_extent) }
    }
}

fn volume(extent: [u32; MAX_RANK]) -> u64 {
    extent.iter().fold(1, |volume: u64, &extent| volume.saturating_mul(extent as u64))
}

/// The index of the element number `linear` in row-major order; 0 along empty dimensions.
fn unravel(mut linear: u64, extent: [u32; MAX_RANK]) -> [u32; MAX_RANK] {
    let mut index = [0; MAX_RANK];
    for (index, extent) in index.iter_mut().zip(extent).rev() {
        let extent = (extent as u64).max(1);
        *index = (linear % extent) as u32;
        linear /= extent;
    }
    index
}

/// The position of a thread in its launch; 0 beyond the kernel's rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The block's index in the grid.
    pub block: [u32; MAX_RANK],
    /// The thread's index in its block.
    pub thread: [u32; MAX_RANK],
}

/// A launch's argument for one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    /// A value, as a raw word.
    Scalar(u64),
    /// A view of memory.
    View(View),
}

/// A view of memory: the element at index `i` is number `offset + Σ i[d] * strides[d]`. The machine itself needs no
/// more than the extent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct View {
    /// The memory, by the number that the owner has for it.
    pub memory: u64,
    /// The first element of the view.
    pub offset: u64,
    /// The extent in each dimension, in elements; 1 beyond the view's rank.
    pub extent: [u64; MAX_RANK],
    /// The distance between neighbours in each dimension, in elements.
    pub strides: [u64; MAX_RANK],
}

impl Argument {
    /// A view of a memory from its first element on, in row-major order.
    pub fn whole(memory: impl Into<u64>, extent: [u32; MAX_RANK]) -> Argument {
        let extent = extent.map(u64::from);
        let strides = std::array::from_fn(|d| {
            extent[d + 1..].iter().fold(1, |stride: u64, &extent| stride.saturating_mul(extent))
        });
        Argument::View(View { memory: memory.into(), offset: 0, extent, strides })
    }

    /// The view; `None` of a value.
    pub fn view(&self) -> Option<&View> {
        match self {
            Argument::View(view) => Some(view),
            Argument::Scalar(_) => None,
        }
    }
}

impl View {
    /// The number of an element in the memory, from its index; 0 beyond the rank.
    #[inline]
    pub fn element(&self, index: [u64; MAX_RANK]) -> u64 {
        index.iter().zip(self.strides).fold(self.offset, |element, (&i, stride)| element + i * stride)
    }
}

/// The launch parameters that all threads share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Environment {
    /// The blocks, threads and frames of the launch.
    pub shape: LaunchShape,
    /// The arguments, one for each parameter of the kernel, in order.
    pub arguments: Vec<Argument>,
    /// The length, in elements, of the shared array that is sized at launch; 0 where there is none.
    pub shared_len: u32,
}

/// The reason why a kernel cannot be launched in an environment.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EnvironmentError {
    /// The number of arguments is not that of the parameters.
    #[error("kernel `{kernel}` takes {expected} arguments, and was given {found}")]
    Count {
        /// The kernel's name.
        kernel: String,
        /// The number of parameters.
        expected: usize,
        /// The number of arguments.
        found: usize,
    },
    /// A value is given for a view, or the other way round.
    #[error("kernel `{kernel}`: parameter `{param}` takes a {expected}, and was given a {found}")]
    Kind {
        /// The kernel's name.
        kernel: String,
        /// The parameter's name.
        param: &'static str,
        /// The kind of the parameter: `value` or `view`.
        expected: &'static str,
        /// The kind of the argument: `value` or `view`.
        found: &'static str,
    },
}

impl Environment {
    /// Checks that there is an argument of the right kind for each parameter of `kernel`.
    ///
    /// # Errors
    /// The first argument that is missing, superfluous, or of the other kind. A thread that runs nevertheless sees the
    /// value 0 for a missing argument, and an empty view.
    pub fn check(&self, kernel: &Kernel) -> Result<(), EnvironmentError> {
        let (expected, found) = (kernel.params.len(), self.arguments.len());
        if expected != found {
            return Err(EnvironmentError::Count { kernel: kernel.name.clone(), expected, found });
        }
        for (param, argument) in kernel.params.iter().zip(&self.arguments) {
            let expected = if matches!(param.kind, ParamKind::Scalar(_)) { "value" } else { "view" };
            let found = if matches!(argument, Argument::Scalar(_)) { "value" } else { "view" };
            if expected != found {
                let kernel = kernel.name.clone();
                return Err(EnvironmentError::Kind { kernel, param: param.name, expected, found });
            }
        }
        Ok(())
    }

    /// The view that is given for a place; `None` if it is not a parameter that is a view.
    #[inline]
    pub fn view(&self, place: Place) -> Option<&View> {
        match place {
            Place::Param(id) => self.arguments.get(id.index())?.view(),
            Place::Shared(_) | Place::Local(_) => None,
        }
    }

    #[inline]
    pub(crate) fn scalar(&self, param: u32) -> u64 {
        match self.arguments.get(param as usize) {
            Some(&Argument::Scalar(raw)) => raw,
            _ => 0,
        }
    }

    #[inline]
    pub(crate) fn extent(&self, param: u32) -> [u64; MAX_RANK] {
        match self.arguments.get(param as usize) {
            Some(Argument::View(view)) => view.extent,
            _ => [0; MAX_RANK],
        }
    }

    #[inline]
    pub(crate) fn builtin(&self, position: &Position, builtin: Builtin, dimension: u8) -> u64 {
        let values = match builtin {
            Builtin::ThreadInBlock => &position.thread,
            Builtin::BlockInGrid => &position.block,
            Builtin::BlockExtent => &self.shape.block_extent,
            Builtin::GridExtent => &self.shape.grid_extent,
            Builtin::FrameCount => &self.shape.frame_count,
            Builtin::FrameExtent => &self.shape.frame_extent,
            Builtin::Device(property) => &[property.on_host(self.shape.warp_size); MAX_RANK],
            Builtin::WarpSize => &[self.shape.warp_size; MAX_RANK],
            Builtin::Lane => &[self.shape.number_in_block(position) % self.shape.warp_size; MAX_RANK],
            Builtin::WarpInBlock => &[self.shape.number_in_block(position) / self.shape.warp_size; MAX_RANK],
        };
        values.get(dimension as usize).copied().unwrap_or(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_row_major() {
        let shape = LaunchShape::threads([2, 3, 1, 1], [4, 5, 1, 1]);
        assert_eq!((shape.blocks(), shape.threads_per_block()), (6, 20));
        assert_eq!(shape.position(4, 7), Position { block: [1, 1, 0, 0], thread: [1, 2, 0, 0] });
    }
}
