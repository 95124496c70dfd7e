//! The lengths and extents of arrays in shared memory.

use crate::{Kernel, MAX_RANK, Place};

/// The length of an array in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SharedLen {
    /// Known when the kernel is built.
    Static(u32),
    /// Known when the kernel is built, in several dimensions.
    Grid(ArrayExtents),
    /// Given by the launch. At most one array of a kernel is so.
    AtLaunch,
}

/// The extents of an array with 2 to [`MAX_RANK`] dimensions, of which the last varies fastest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ArrayExtents {
    /// The number of dimensions.
    pub rank: usize,
    /// The number of indices in each; 1 beyond the rank.
    pub each: [u32; MAX_RANK],
}

impl ArrayExtents {
    /// The extents of an array with at most [`MAX_RANK`] dimensions.
    pub fn new(extents: &[u32]) -> ArrayExtents {
        let each = std::array::from_fn(|d| extents.get(d).copied().unwrap_or(1));
        ArrayExtents { rank: extents.len().min(MAX_RANK), each }
    }

    /// The number of elements; `None` where 32 bits do not hold it.
    pub fn count(&self) -> Option<u32> {
        self.each.iter().try_fold(1u32, |count, &extent| count.checked_mul(extent))
    }
}

impl SharedLen {
    /// The number of elements, where it is known when the kernel is built.
    pub fn known(self) -> Option<u32> {
        match self {
            SharedLen::Static(len) => Some(len),
            // The verifier has seen that 32 bits hold it.
            SharedLen::Grid(extents) => Some(extents.count().unwrap_or(u32::MAX)),
            SharedLen::AtLaunch => None,
        }
    }

    /// The number of elements in a launch that gives this length.
    pub fn in_launch(self, at_launch: u32) -> u32 {
        self.known().unwrap_or(at_launch)
    }

    /// The length as that of an array of one dimension with the same number of elements.
    #[must_use]
    pub(crate) fn flat(self) -> SharedLen {
        self.known().map_or(self, SharedLen::Static)
    }

    /// The number of dimensions.
    pub fn rank(self) -> usize {
        match self {
            SharedLen::Grid(extents) => extents.rank,
            SharedLen::Static(_) | SharedLen::AtLaunch => 1,
        }
    }

    /// The extent in each dimension, in a launch that gives this length; 1 beyond the rank.
    pub fn extents(self, at_launch: u32) -> [u32; MAX_RANK] {
        match self {
            SharedLen::Grid(extents) => extents.each,
            SharedLen::Static(len) => [len, 1, 1, 1],
            SharedLen::AtLaunch => [at_launch, 1, 1, 1],
        }
    }

    /// The number of the element at an index that is within the extents: row-major.
    pub fn element(self, index: [u64; MAX_RANK]) -> u64 {
        match self {
            SharedLen::Grid(ArrayExtents { rank, each }) => {
                (0..rank).fold(0, |number, d| number * u64::from(each[d]) + index[d])
            }
            SharedLen::Static(_) | SharedLen::AtLaunch => index[0],
        }
    }

    /// The index of the element with that number; 0 beyond the rank.
    pub fn index(self, element: u64) -> [u64; MAX_RANK] {
        let (mut index, mut rest) = ([0; MAX_RANK], element);
        if let SharedLen::Grid(ArrayExtents { rank, each }) = self {
            for d in (1..rank).rev() {
                let extent = u64::from(each[d]).max(1);
                index[d] = rest % extent;
                rest /= extent;
            }
        }
        index[0] = rest;
        index
    }
}

impl Kernel {
    /// The extent of an array in shared memory or of the thread's own in one dimension; `None` where only a launch
    /// knows.
    pub fn known_extent(&self, place: Place, dimension: u8) -> Option<u32> {
        match place {
            Place::Param(_) => None,
            Place::Local(id) => Some(self.locals[id.index()].len),
            Place::Shared(id) => {
                let len = self.shared[id.index()].len;
                len.known().map(|_| len.extents(0)[usize::from(dimension)])
            }
        }
    }

    /// The extents of an array in shared memory with several dimensions.
    pub(crate) fn grid_of(&self, place: Place) -> Option<ArrayExtents> {
        match place {
            Place::Shared(id) => match self.shared[id.index()].len {
                SharedLen::Grid(extents) => Some(extents),
                SharedLen::Static(_) | SharedLen::AtLaunch => None,
            },
            Place::Param(_) | Place::Local(_) => None,
        }
    }
}
