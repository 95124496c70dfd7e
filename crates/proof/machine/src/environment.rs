//! The launch parameters that all threads share.

use thiserror::Error;
use wattle_ir::{Builtin, Kernel, LaunchShape, LaunchValue, MAX_RANK, ParamKind, Place, Position};

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

    /// A number that emitted code takes from the launch; 0 of a view that is missing.
    pub fn launch_value(&self, value: LaunchValue) -> u64 {
        let view = |param| {
            let view = self.view(Place::Param(param));
            Ok::<_, std::convert::Infallible>(view.map_or([[0; MAX_RANK]; 2], |view| [view.extent, view.strides]))
        };
        let Ok(value) = value.get(&self.shape, self.shared_len, view);
        value
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
