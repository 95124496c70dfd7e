//! Elements of views in their places: what reads and writes a field touches nothing else.

use std::marker::PhantomData;

use wattle_ir::builder::{Element, Family, Places};
use wattle_ir::{Dim, Idx, LOCAL_ARRAY, Rank};

use super::Get;
use crate::thread::{BadIndex, Thread};
use crate::view::{Read, Shared, shared_load, shared_store};

/// How memory is touched: plainly, where nobody writes to it, or by atomic instructions.
pub trait How: Places {
    /// Reads an element.
    ///
    /// # Safety
    /// The element is one of a view of this kind, of the thread that runs; `is_of_block` says whether it is memory of
    /// the block.
    unsafe fn load<T: Element>(from: *mut T, is_of_block: bool) -> T;
}

/// Memory to which nobody writes.
pub enum ReadOnly {}

/// Memory that all threads touch by relaxed atomic instructions, or that of a block.
pub enum Relaxed {}

/// An element of a view, or a part of one, in its place. There is none where the index was out of bounds: then zeros
/// are read, and nothing is written.
pub struct Spot<T, H> {
    at: Option<*mut T>,
    is_of_block: bool,
    how: PhantomData<H>,
}

impl<T, H> Clone for Spot<T, H> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, H> Copy for Spot<T, H> {}

impl<T, H> Spot<T, H> {
    #[inline(always)]
    pub(crate) fn new(at: Option<*mut T>, is_of_block: bool) -> Self {
        Spot { at, is_of_block, how: PhantomData }
    }
}

macro_rules! families {
    ($($how:ident)+) => {$(
        impl Family for $how {
            type Ref<T: Element> = Spot<T, $how>;
        }

        // SAFETY: the part is at its offset.
        unsafe impl Places for $how {
            #[inline(always)]
            unsafe fn part<T: Element, U: Element>(of: &Spot<T, $how>, _: usize, offset: usize) -> Spot<U, $how> {
                // SAFETY: the caller's promise: the part is within the element.
                Spot::new(of.at.map(|at| unsafe { at.byte_add(offset).cast() }), of.is_of_block)
            }
        }
    )+};
}
families!(ReadOnly Relaxed);

impl How for ReadOnly {
    #[inline(always)]
    unsafe fn load<T: Element>(from: *mut T, _: bool) -> T {
        // SAFETY: the caller's promise: nobody writes to it.
        unsafe { from.read() }
    }
}

impl How for Relaxed {
    #[inline(always)]
    unsafe fn load<T: Element>(from: *mut T, is_of_block: bool) -> T {
        // SAFETY: the caller's promise: all threads touch it by atomic instructions, or those of one block alone.
        unsafe { shared_load(from, is_of_block) }
    }
}

/// A view whose elements are read in their places.
pub trait InPlace: Get {
    /// The type of the elements.
    type Element: Element;
    /// How the elements are accessed: plainly, or by atomic instructions.
    type How: How;
    /// The element at `index`; none and a fault where that is out of bounds.
    #[track_caller]
    fn element(&self, index: Self::Index) -> Spot<Self::Element, Self::How>;
}

macro_rules! in_place {
    ($($view:ident $how:ident),+) => {$(
        impl<T: Element, const D: usize> InPlace for $view<T, D>
        where
            Dim<D>: Rank,
        {
            type Element = T;
            type How = $how;
            #[inline(always)]
            #[track_caller]
            fn element(&self, index: Idx<D>) -> Spot<T, $how> {
                Spot::new(self.0.at::<Dim<D>>(index), self.0.is_of_block())
            }
        }
    )+};
}
in_place!(Read ReadOnly, Shared Relaxed);

/// The element of a view at `index`, in its place.
#[inline(always)]
#[track_caller]
pub fn element<V: InPlace>(of: &V, index: V::Index, _: &Thread<'_>) -> Spot<V::Element, V::How> {
    of.element(index)
}

/// The fields of a struct, each in its place.
#[inline(always)]
pub fn fields<T: Element, H: How + Family<Ref<T> = Spot<T, H>>>(of: Spot<T, H>) -> T::Fields<H> {
    T::fields::<H>(of)
}

/// Reads an element or a part of one.
#[inline(always)]
pub fn read<T: Element, H: How>(from: Spot<T, H>) -> T {
    match from.at {
        // SAFETY: a spot is a part of an element of a view of this kind, which is in bounds.
        Some(at) => unsafe { H::load(at, from.is_of_block) },
        None => T::zero(),
    }
}

/// Writes an element or a part of one.
#[inline(always)]
pub fn assign<T: Element>(to: Spot<T, Relaxed>, value: T) {
    if let Some(at) = to.at {
        // SAFETY: as in `read`.
        unsafe { shared_store(at, value, to.is_of_block) }
    }
}

impl<P: Element, H: How, const N: usize> Spot<[P; N], H> {
    /// The element of the array at `index`; none and a fault where that is out of bounds.
    #[inline(always)]
    #[track_caller]
    pub fn part(self, index: u32, thread: &Thread<'_>) -> Spot<P, H> {
        if index as usize >= N {
            let at = std::panic::Location::caller();
            let (index, extent) = ([index.into(), 0, 0, 0], [N as u64, 1, 1, 1]);
            thread.out_of_bounds(BadIndex { view: LOCAL_ARRAY, index, extent, rank: 1, at });
            return Spot::new(None, false);
        }
        // SAFETY: the array has an element there.
        Spot::new(self.at.map(|at| unsafe { at.cast::<P>().add(index as usize) }), self.is_of_block)
    }
}

// SAFETY: nothing in it needs to be dropped.
unsafe impl<P: Element, H: How, const N: usize> Get for Spot<[P; N], H> {
    type Index = u32;
    type Value = P;
    #[inline(always)]
    #[track_caller]
    fn get(&self, index: u32, thread: &Thread<'_>) -> P {
        read(self.part(index, thread))
    }
}

/// A part of an element that may not exist.
#[inline(always)]
pub fn within<T, U>(of: Option<T>, part: impl FnOnce(T) -> U) -> Option<U> {
    of.map(part)
}
