//! Views: a kernel's parameters, as the host's function sees them.
//!
//! Their extents have 64 bits, and kernels ask for them as `u32`, or as `u64` in `#[kernel(wide)]`; a launch with views
//! of 2³² elements or more is one of the latter.
//!
//! # Why launching is safe
//!
//! A view is a pointer with an extent and no lifetime. What makes it sound:
//!
//! * **Where it exists.** Views are made when a thread starts and are given to the kernel's function alone. The subset
//!   of `#[kernel]` has no way to keep one: no statics, no closures, no calls but of device functions. No method or
//!   operator is looked up by name where a user's trait could be found: what the macro writes names each by its path.
//! * **That its memory lives.** The launch owns the buffers that its bundle names until it has ended.
//! * **That nothing else touches it.** Before a launch is enqueued, the [clocks](crate::clock) have refused it if any
//!   use of the buffer that conflicts is not ordered with it. So `Read` memory is not written while it is viewed, and
//!   `PerItem` memory is touched by this launch alone, through one view. `Shared` and `Atomic` memory is touched by
//!   atomic instructions only, on the host; that of a block, which one thread of the operating system touches alone,
//!   plainly.
//! * **That indices are in bounds.** Every access is checked, by itself or with the others of a row of a loop.
//! * **That there is a value.** Buffers are initialized when they are allocated, and every bit pattern of a number is a
//!   value. A byte of the host's memory that is a `bool` is 0 or 1: it is zero at first, and what comes from other
//!   devices is settled on the way. Shared memory of blocks holds what other kernels have left there, so `shared_load`
//!   settles what it reads.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::panic::Location;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

use wattle_ir::{Axes, Dim, Element, Idx, IndexWord, MAX_RANK, Number, Rank};

use crate::support::access;
use crate::thread::{BadIndex, Thread};

/// The memory of a view: its address, extent and strides, and the thread that it belongs to.
pub(crate) struct Strided<T> {
    start: *mut T,
    extent: [u64; MAX_RANK],
    /// The distance of neighbours in each dimension, in elements; ignored for one-dimensional views, which are
    /// contiguous.
    strides: [u64; MAX_RANK],
    name: &'static str,
    thread: *const Thread<'static>,
    /// Whether the memory is that of the thread's block, which no other thread of the operating system can reach.
    is_of_block: bool,
    element: PhantomData<T>,
}

impl<T: Element> Strided<T> {
    /// A view for `thread`.
    ///
    /// # Safety
    /// For as long as the thread runs, every element at `start` + Σ index·stride, for all indices below `extent`, is
    /// one of a live allocation of initialized memory, aligned for `T`, and the access that the kind of the view
    /// stands for is allowed (see the module's documentation). The stride of the last dimension is 1.
    pub(crate) unsafe fn new(
        start: *mut T,
        extent: [u64; MAX_RANK],
        strides: [u64; MAX_RANK],
        name: &'static str,
        thread: &Thread<'_>,
    ) -> Self {
        let thread = std::ptr::from_ref(thread).cast();
        Strided { start, extent, strides, name, thread, is_of_block: false, element: PhantomData }
    }

    /// Marks the memory as that of the thread's block, whose accesses are plain.
    ///
    /// # Safety
    /// While the thread runs, the memory is touched by threads of its block alone, all of which are on one thread of
    /// the operating system.
    #[inline(always)]
    pub(crate) unsafe fn of_block(self) -> Self {
        Strided { is_of_block: true, ..self }
    }

    /// Whether the memory is that of the thread's block.
    #[inline(always)]
    pub(crate) fn is_of_block(&self) -> bool {
        self.is_of_block
    }

    #[inline(always)]
    fn thread(&self) -> &Thread<'static> {
        // SAFETY: views exist only while their thread's kernel function runs, and the thread outlives that.
        unsafe { &*self.thread }
    }

    /// The element at `index`. This is the host's bounds check: an index beyond the extent is `None`, and a fault of the
    /// thread.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn at<R: Axes>(&self, index: R::Index) -> Option<*mut T> {
        let index: [u64; MAX_RANK] = R::spread(index, R::Word::truncated(0)).map(Into::into);
        if R::RANK == 1 {
            if index[0] < self.extent[0] {
                // SAFETY: the index is in bounds, so the element is one of the allocation.
                return Some(unsafe { self.start.add(index[0] as usize) });
            }
        } else if (0..R::RANK).all(|d| index[d] < self.extent[d]) {
            let offset: usize = (0..R::RANK).map(|d| index[d] as usize * self.strides[d] as usize).sum();
            // SAFETY: as above.
            return Some(unsafe { self.start.add(offset) });
        }
        self.fault(index, R::RANK);
        None
    }

    /// The address of the first element of a view of one dimension.
    #[inline(always)]
    pub(crate) fn start(&self) -> *mut T {
        self.start
    }

    #[inline(always)]
    pub(crate) fn extents(&self) -> [u64; MAX_RANK] {
        self.extent
    }

    /// The extent, in numbers of an index. Only kernels whose indices are `u64` are launched with views of more.
    #[inline(always)]
    pub(crate) fn extent_in<R: Axes>(&self) -> R::Index {
        R::gather(self.extent.map(R::Word::truncated))
    }

    /// The number of elements, as an index has it. Only kernels whose indices are `u64` are launched with views of
    /// more.
    #[inline(always)]
    pub(crate) fn count_in<R: Axes>(&self) -> R::Word {
        R::Word::truncated(self.extent[..R::RANK].iter().product())
    }

    #[inline(always)]
    pub(crate) fn strides(&self) -> [u64; MAX_RANK] {
        self.strides
    }

    /// The number of elements of a view of one dimension.
    #[inline(always)]
    pub(crate) fn length(&self) -> u64 {
        self.extent[0]
    }

    #[inline(always)]
    #[track_caller]
    pub(crate) fn fault(&self, index: [u64; MAX_RANK], rank: usize) {
        let at = Location::caller();
        self.thread().out_of_bounds(BadIndex { view: self.name, index, extent: self.extent, rank, at });
    }
}

macro_rules! views {
    ($($(#[$meta:meta])* $name:ident)+) => {$(
        $(#[$meta])*
        pub struct $name<T, const D: usize = 1>(pub(crate) Strided<T>);

        impl<T: Element, const D: usize> $name<T, D>
        where
            Dim<D>: Rank,
        {
            /// The extent, in elements; of `u64` in `#[kernel(wide)]`.
            #[inline(always)]
            pub fn extent(&self) -> Idx<D> {
                self.0.extent_in::<Dim<D>>()
            }

            /// The number of elements; a `u64` in `#[kernel(wide)]`.
            #[inline(always)]
            pub fn len(&self) -> u32 {
                self.0.count_in::<Dim<D>>()
            }

            /// Whether there is no element.
            #[inline(always)]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        impl<T: Element, const D: usize> access::Extents for $name<T, D>
        where
            Dim<D>: Rank,
        {
            type Extent = Idx<D>;
            #[inline(always)]
            fn extent(&self) -> Idx<D> {
                $name::extent(self)
            }
            #[inline(always)]
            fn count(&self) -> u32 {
                $name::len(self)
            }
        }
    )+};
}

views! {
    /// A parameter that all threads read and none writes: `x[i]`, or `x.lanes::<N>(i)` for `N` elements at once.
    ///
    /// On the host it is a plain load, which vectorizes. While a launch has a `Read` of a buffer, everything that may
    /// write there is refused at enqueue, so there is no race.
    #[doc(alias("__restrict__", "__ldg", "texture"))]
    Read

    /// A parameter whose elements each belong to the one thread that the launch's map gives it to:
    /// `for (i, x) in acc.items(&mut out) { *x = … }`.
    ///
    /// On the host `x` is a plain `&mut T`. It is the only one: the map gives each element to one thread, the handle
    /// is one per thread and cannot be copied, the loop borrows it, and no other use of the buffer runs meanwhile.
    PerItem

    /// A parameter that threads read and write as they like, with plain accesses: `x[i]` and `x[i] = value`.
    ///
    /// A plain access is safe only where causality (a barrier, a fence and an atomic, the end of a launch) separates
    /// it from every conflicting one. On the host each is a relaxed atomic, so that a racy kernel is wrong, never
    /// undefined behaviour; in the block's shared memory, which one thread of the host touches alone, it is plain.
    Shared

    /// A parameter that threads touch with atomic operations alone; see [`Atomic::load`] and its like.
    ///
    /// Each operation has a short form, relaxed at device scope, and a form `…_with(…, scope, order)`. A `SeqCst`
    /// operation is `mem_fence(scope, SeqCst)` followed by the acquire load, relaxed store or acquire
    /// read-modify-write.
    #[doc(alias("cuda::atomic_ref", "volatile"))]
    Atomic
}

macro_rules! copy_views {
    ($($name:ident)+) => {$(
        impl<T, const D: usize> Clone for $name<T, D> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T, const D: usize> Copy for $name<T, D> {}

        // SAFETY: it is the builder's own view.
        unsafe impl<T: Element, const D: usize> wattle_ir::KernelType for $name<T, D>
        where
            Dim<D>: Rank,
        {
            type Built<'b> = wattle_ir::builder::$name<'b, T, D>;
        }

        impl<T, const D: usize> access::Named for $name<T, D> {
            #[inline(always)]
            fn named(mut self, name: &'static str) -> Self {
                self.0.name = name;
                self
            }
        }
    )+};
}
copy_views!(Read Shared Atomic);

impl<T> Clone for Strided<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Strided<T> {}

// SAFETY: nothing in it needs to be dropped, and it does not call the thread.
unsafe impl<T: Element, const D: usize> access::Get for Read<T, D>
where
    Dim<D>: Rank,
{
    type Index = Idx<D>;
    type Value = T;
    #[inline(always)]
    #[track_caller]
    fn get(&self, index: Idx<D>, _: &Thread<'_>) -> T {
        match self.0.at::<Dim<D>>(index) {
            // SAFETY: the element is in bounds, and nothing writes to it (see the module's documentation).
            Some(element) => unsafe { element.read() },
            None => T::zero(),
        }
    }
}

impl<T: Element, const D: usize> PerItem<T, D>
where
    Dim<D>: Rank,
{
    /// The place of the element with row-major number `number`, below the number of elements.
    #[inline(always)]
    pub(crate) fn start(&self) -> *mut T {
        self.0.start
    }

    #[inline(always)]
    pub(crate) fn extents(&self) -> [u64; MAX_RANK] {
        self.0.extent
    }

    #[inline(always)]
    pub(crate) fn strides(&self) -> [u64; MAX_RANK] {
        self.0.strides
    }
}

// SAFETY: nothing in it needs to be dropped, and it does not call the thread.
unsafe impl<T: Element, const D: usize> access::Get for Shared<T, D>
where
    Dim<D>: Rank,
{
    type Index = Idx<D>;
    type Value = T;
    #[inline(always)]
    #[track_caller]
    fn get(&self, index: Idx<D>, _: &Thread<'_>) -> T {
        match self.0.at::<Dim<D>>(index) {
            // SAFETY: the element is in bounds, and all threads touch it by atomic instructions.
            Some(element) => unsafe { shared_load(element, self.0.is_of_block) },
            None => T::zero(),
        }
    }
}

macro_rules! set_shared {
    ($($shared:ty),+) => {$(
        // SAFETY: nothing in it needs to be dropped, and it does not call the thread.
        unsafe impl<T: Element, const D: usize> access::Set for $shared
        where
            Dim<D>: Rank,
        {
            type Index = Idx<D>;
            type Value = T;
            #[inline(always)]
            #[track_caller]
            fn set(self, index: Idx<D>, value: T, _: &Thread<'_>) {
                if let Some(element) = self.0.at::<Dim<D>>(index) {
                    // SAFETY: the element is in bounds, and all threads touch it by atomic instructions.
                    unsafe { shared_store(element, value, self.0.is_of_block) }
                }
            }
        }
    )+};
}
// A view is written through whether or not its variable is `mut`.
set_shared!(&Shared<T, D>, &mut Shared<T, D>);

impl<T: Element, const D: usize> Atomic<T, D>
where
    Dim<D>: Rank,
{
    #[inline(always)]
    #[track_caller]
    pub(crate) fn element<R: Axes>(&self, index: R::Index) -> Option<*mut T> {
        self.0.at::<R>(index)
    }

    #[inline(always)]
    pub(crate) fn is_of_block(&self) -> bool {
        self.0.is_of_block
    }
}

/// A load of an element that the threads of a launch share: plain, if it `is_of_block`, and else by relaxed atomics.
///
/// Memory of a block is touched by one thread of the operating system, so a plain access races with nothing, whatever
/// the kernel does: the block's threads are its fibers, which switch in calls that the compiler knows nothing of. No
/// reference is made, so none is alive at a switch. A truth value is made of its byte, which can be what another kernel
/// left there.
///
/// # Safety
/// `element` is valid and aligned for `T`. While this runs, it is touched by atomic instructions alone, or, if it
/// `is_of_block`, by this thread of the operating system alone.
#[inline(always)]
pub(crate) unsafe fn shared_load<T: Element>(element: *mut T, is_of_block: bool) -> T {
    // SAFETY: the caller's promise; where there are no truth values, every bit pattern is a value.
    unsafe { if is_of_block && const { !T::LAYOUT.has_bools() } { element.read() } else { relaxed_load(element) } }
}

/// A store of an element that the threads of a launch share; see [`shared_load`].
///
/// # Safety
/// The requirements are those of [`shared_load`].
#[inline(always)]
pub(crate) unsafe fn shared_store<T: Element>(element: *mut T, value: T, is_of_block: bool) {
    // SAFETY: the caller's promise.
    unsafe { if is_of_block { element.write(value) } else { relaxed_store(element, value) } }
}

/// A load of an element by relaxed atomics, one for each of its numbers.
///
/// # Safety
/// `element` is valid and aligned for `T`, and while this runs it is touched by atomic instructions alone.
#[inline(always)]
pub(crate) unsafe fn relaxed_load<T: Element>(element: *mut T) -> T {
    let mut value = MaybeUninit::<T>::uninit();
    for leaf in T::LAYOUT.numbers() {
        // SAFETY: the caller's promise; the number is within the element, at a multiple of its size.
        unsafe {
            let (from, to) =
                (element.byte_add(leaf.offset as usize), value.as_mut_ptr().byte_add(leaf.offset as usize));
            match leaf.ty.size() {
                1 => {
                    let byte = AtomicU8::from_ptr(from.cast()).load(Ordering::Relaxed);
                    to.cast::<u8>().write(if leaf.is_bool { u8::from(byte != 0) } else { byte });
                }
                2 => to.cast::<u16>().write(AtomicU16::from_ptr(from.cast()).load(Ordering::Relaxed)),
                4 => to.cast::<u32>().write(AtomicU32::from_ptr(from.cast()).load(Ordering::Relaxed)),
                _ => to.cast::<u64>().write(AtomicU64::from_ptr(from.cast()).load(Ordering::Relaxed)),
            }
        }
    }
    // SAFETY: the numbers fill the element, every bit pattern of a number is a value, and each truth value is 0 or 1.
    unsafe { value.assume_init() }
}

/// A store of an element by relaxed atomics, one for each of its numbers.
///
/// # Safety
/// The requirements are those of [`relaxed_load`].
#[inline(always)]
pub(crate) unsafe fn relaxed_store<T: Element>(element: *mut T, value: T) {
    for leaf in T::LAYOUT.numbers() {
        // SAFETY: as in `relaxed_load`; the value's bytes are initialized.
        unsafe {
            let (to, from) =
                (element.byte_add(leaf.offset as usize), (&raw const value).byte_add(leaf.offset as usize));
            match leaf.ty.size() {
                1 => AtomicU8::from_ptr(to.cast()).store(from.cast::<u8>().read(), Ordering::Relaxed),
                2 => AtomicU16::from_ptr(to.cast()).store(from.cast::<u16>().read(), Ordering::Relaxed),
                4 => AtomicU32::from_ptr(to.cast()).store(from.cast::<u32>().read(), Ordering::Relaxed),
                _ => AtomicU64::from_ptr(to.cast()).store(from.cast::<u64>().read(), Ordering::Relaxed),
            }
        }
    }
}

// A field of 64 bits is aligned for atomic instructions. Where it is not (32-bit x86) Wattle does not compile.
const _: () = assert!(
    align_of::<u64>() == align_of::<AtomicU64>(),
    "on this host numbers of 64 bits are not aligned for atomics"
);

/// An atomic load of a number of any size.
///
/// # Safety
/// `element` is valid and aligned for `T`, and while this runs it is touched by atomic instructions alone.
#[inline(always)]
pub(crate) unsafe fn atomic_load<T: Number>(element: *mut T, order: Ordering) -> T {
    // SAFETY: the caller's promise; the atomic type has the size of `T`, and its alignment, as is asserted above.
    unsafe {
        T::from_raw(match size_of::<T>() {
            1 => AtomicU8::from_ptr(element.cast()).load(order) as u64,
            2 => AtomicU16::from_ptr(element.cast()).load(order) as u64,
            4 => AtomicU32::from_ptr(element.cast()).load(order) as u64,
            _ => AtomicU64::from_ptr(element.cast()).load(order),
        })
    }
}

/// An atomic store of a number of any size.
///
/// # Safety
/// The requirements are those of [`atomic_load`].
#[inline(always)]
pub(crate) unsafe fn atomic_store<T: Number>(element: *mut T, value: T, order: Ordering) {
    let raw = value.to_raw();
    // SAFETY: as in `atomic_load`.
    unsafe {
        match size_of::<T>() {
            1 => AtomicU8::from_ptr(element.cast()).store(raw as u8, order),
            2 => AtomicU16::from_ptr(element.cast()).store(raw as u16, order),
            4 => AtomicU32::from_ptr(element.cast()).store(raw as u32, order),
            _ => AtomicU64::from_ptr(element.cast()).store(raw, order),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_is_no_bool_is_read_as_true() {
        let mut bytes = [0x80u8, 2, 0, 1];
        for is_of_block in [false, true] {
            // SAFETY: the bytes are this test's alone, and aligned for a `bool`.
            let read = |at: &mut u8| unsafe { shared_load::<bool>(std::ptr::from_mut(at).cast(), is_of_block) };
            assert_eq!(bytes.each_mut().map(|at| u8::from(read(at))), [1, 1, 0, 1], "of a block: {is_of_block}");
            // SAFETY: as above.
            let all = unsafe { shared_load::<[bool; 4]>(bytes.as_mut_ptr().cast(), is_of_block) };
            assert_eq!(all.map(u8::from), [1, 1, 0, 1], "of a block: {is_of_block}");
        }
    }
}
