//! Several consecutive elements of a view at once.

use wattle_ir::{IndexWord, KernelValue, Number};

use crate::support;
use crate::view::{Read, Shared, Strided, shared_load, shared_store};

impl<T: Number> Strided<T> {
    /// The first of `N` elements from `index` on, or `None` and a fault where they are not all in bounds.
    #[inline(always)]
    #[track_caller]
    fn first_of<W: IndexWord, const N: usize>(&self, index: W) -> Option<*mut T> {
        let (index, most): (u64, u64) = (index.into(), W::truncated(u64::MAX).into());
        if N as u64 <= self.length() && index <= self.length() - N as u64 {
            // SAFETY: the elements are in bounds, so they are some of the allocation.
            return Some(unsafe { self.start().add(index as usize) });
        }
        self.fault([index.saturating_add(N as u64 - (N > 0) as u64).min(most), 0, 0, 0], 1);
        None
    }
}

impl<T: Number> Read<T, 1> {
    /// The `N` elements from `index` on, under one check; zeros and a fault where they are not all in bounds. On a
    /// GPU it is one load of up to 16 bytes (CUDA's `float4`) where `index` is a multiple of `N`.
    #[doc(alias("float4", "make_float4", "int4"))]
    #[inline(always)]
    #[track_caller]
    pub fn lanes<const N: usize>(&self, index: u32) -> [T; N] {
        self.lanes_at(index)
    }

    #[inline(always)]
    #[track_caller]
    pub(crate) fn lanes_at<W: IndexWord, const N: usize>(&self, index: W) -> [T; N] {
        match self.0.first_of::<_, N>(index) {
            // SAFETY: the elements are in bounds, and nothing writes to them (see the module `view`).
            Some(first) => unsafe { first.cast::<[T; N]>().read() },
            None => [T::zero(); N],
        }
    }
}

impl<T: Number> Shared<T, 1> {
    /// The `N` elements from `index` on, as [`Read::lanes`]; each is a plain load of its own for other threads.
    #[inline(always)]
    #[track_caller]
    pub fn lanes<const N: usize>(&self, index: u32) -> [T; N] {
        self.lanes_at(index)
    }

    #[inline(always)]
    #[track_caller]
    pub(crate) fn lanes_at<W: IndexWord, const N: usize>(&self, index: W) -> [T; N] {
        match self.0.first_of::<_, N>(index) {
            // SAFETY: the elements are in bounds, and touched as their view says (see `shared_load`).
            Some(first) => std::array::from_fn(|lane| unsafe { shared_load(first.add(lane), self.0.is_of_block()) }),
            None => [T::zero(); N],
        }
    }

    /// Writes `values` to the elements from `index` on, under one check: `out.store_lanes(4 * i, [a, b, c, d])`. A
    /// fault and nothing written where they are not all in bounds. On a GPU it is one store of up to 16 bytes where
    /// `index` is a multiple of `N`; each element is a plain store of its own for other threads.
    #[inline(always)]
    #[track_caller]
    pub fn store_lanes<const N: usize>(&self, index: u32, values: [T; N]) {
        self.store_lanes_at(index, values);
    }

    #[inline(always)]
    #[track_caller]
    pub(crate) fn store_lanes_at<W: IndexWord, const N: usize>(&self, index: W, values: [T; N]) {
        let Some(first) = self.0.first_of::<_, N>(index) else { return };
        for (lane, value) in values.into_iter().enumerate() {
            // SAFETY: the elements are in bounds, and touched as their view says (see `shared_load`).
            unsafe { shared_store(first.add(lane), value, self.0.is_of_block()) }
        }
    }
}

macro_rules! lanes {
    ($($view:ident)+) => {$(
        impl<T: Number, const N: usize> support::Lanes<N> for $view<T, 1> {
            type Lanes = [T; N];
            #[inline(always)]
            #[track_caller]
            fn lanes(&self, index: u32) -> [T; N] {
                $view::lanes(self, index)
            }
        }
    )+};
}
lanes!(Read Shared);
