//! Atomic operations on the host.
//!
//! The threads of a block take turns on one worker, so block scope needs no more than a relaxed operation that the
//! compiler does not move; device and system scope are the processor's own. The memory of a block is touched by that
//! worker alone, whatever the scope: there an operation is a plain load and store, between which no other thread can
//! run.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};

use wattle_ir::{
    AtomicInt, AtomicOp, AtomicScalar, Axes, Dim, Idx, Rank, Scalar, Type, WideIdx, atomics, greater, lesser, types,
};
use wattle_memory::{FenceOrder, ForLoad, ForRmw, ForStore, ReadOrder, Scope, UpdateOrder, WriteOrder, marker};

use crate::fence::host_fence;
use crate::view::{Atomic, atomic_load, atomic_store};

#[inline(always)]
fn fence_first(needed: bool, scope: Scope) {
    if needed {
        host_fence(scope, FenceOrder::SeqCst);
    }
}

#[inline(always)]
fn update_ordering(order: UpdateOrder) -> Ordering {
    match order {
        UpdateOrder::Relaxed => Ordering::Relaxed,
        UpdateOrder::Acquire => Ordering::Acquire,
        UpdateOrder::Release => Ordering::Release,
        UpdateOrder::AcqRel => Ordering::AcqRel,
    }
}

/// A compare-exchange that fails is a read: it acquires where the operation does, and releases nothing.
#[inline(always)]
fn failure_ordering(order: UpdateOrder) -> Ordering {
    if order.acquires() { Ordering::Acquire } else { Ordering::Relaxed }
}

/// An atomic read-modify-write; gives the old value.
///
/// # Safety
/// `element` is valid and aligned for `T`, and while this runs it is touched by atomic instructions alone.
#[inline(always)]
unsafe fn update<T: AtomicScalar>(element: *mut T, op: AtomicOp, operand: T, order: UpdateOrder) -> T {
    let (order, failure) = (update_ordering(order), failure_ordering(order));
    // What the standard library has no method for is a loop of compare-exchanges.
    macro_rules! native {
        (update $place:ident $operand:ident |$old:ident| $left:expr) => {
            $place.update(order, failure, |$old| $left)
        };
        ($method:ident $place:ident $operand:ident |$old:ident| $left:expr) => {
            $place.$method($operand, order)
        };
    }
    macro_rules! int {
        ($atomic:ident $t:ident $($(#[$doc:meta])* $class:ident $op:ident $method:ident $with:ident
            $host:ident($old:ident, $operand:ident) $law:ident {int: $left:expr $(, float: $float:expr)?})+) => {{
            // SAFETY: the caller's promise; `T` is `$t`.
            let place = unsafe { $atomic::from_ptr(element.cast()) };
            let old: $t = match op {
                $(AtomicOp::$op => {
                    let $operand = <$t as Scalar>::from_raw(operand.to_raw());
                    native!($host place $operand |$old| $left)
                })+
            };
            T::from_raw(old.to_raw())
        }};
    }
    // An operation that floats lack, which no kernel can ask for, leaves the old value.
    macro_rules! left {
        ($old:ident) => {
            $old
        };
        ($old:ident $left:expr) => {
            $left
        };
    }
    macro_rules! float {
        ($atomic:ident $t:ident $($(#[$doc:meta])* $class:ident $op:ident $method:ident $with:ident
            $host:ident($old:ident, $operand:ident) $law:ident {int: $left:expr $(, float: $float:expr)?})+) => {{
            // SAFETY: the caller's promise; `T` is `$t`, and `$atomic` as wide.
            let place = unsafe { $atomic::from_ptr(element.cast()) };
            let operand = <$t as Scalar>::from_raw(operand.to_raw());
            if op == AtomicOp::Exchange {
                return T::from_raw(place.swap(operand.to_bits(), order).into());
            }
            let old = place.update(order, failure, |bits| {
                let old = $t::from_bits(bits);
                let left = match op {
                    $(AtomicOp::$op => {
                        let ($old, $operand) = (old, operand);
                        let _ = ($old, $operand);
                        left!($old $($float)?)
                    })+
                };
                left.to_bits()
            });
            T::from_raw(old.into())
        }};
    }
    macro_rules! of_type {
        // No atomic operations.
        ($row:ident $t:ident) => {
            T::ZERO
        };
        (float $t:ident $atomic:ident) => {
            atomics!(float $atomic $t)
        };
        ($row:ident $t:ident $atomic:ident) => {
            atomics!(int $atomic $t)
        };
    }
    macro_rules! of_types {
        ($($(#[$doc:meta])* $variant:ident $t:ident $bits:literal $kind:ident $bits_type:ident $row:ident $($atomic:ident)?;)+) => {
            match T::TYPE {
                $(Type::$variant => of_type!($row $t $($atomic)?),)+
            }
        };
    }
    types!(of_types)
}

/// A read-modify-write of memory of the block; gives the old value.
///
/// # Safety
/// `element` is valid and aligned for `T`, and while this runs nobody else touches it.
#[inline(always)]
unsafe fn update_in_block<T: AtomicScalar>(element: *mut T, op: AtomicOp, operand: T) -> T {
    // SAFETY: the caller's promise.
    let found = unsafe { element.read() };
    macro_rules! left {
        ($old:ident) => {
            $old
        };
        ($old:ident $left:expr) => {
            $left
        };
    }
    macro_rules! int {
        ($t:ident $($(#[$doc:meta])* $class:ident $op:ident $method:ident $with:ident
            $host:ident($old:ident, $operand:ident) $law:ident {int: $left:expr $(, float: $float:expr)?})+) => {{
            let (old, operand) = (<$t as Scalar>::from_raw(found.to_raw()), <$t as Scalar>::from_raw(operand.to_raw()));
            let left: $t = match op {
                $(AtomicOp::$op => {
                    let ($old, $operand) = (old, operand);
                    let _ = ($old, $operand);
                    $left
                })+
            };
            T::from_raw(left.to_raw())
        }};
    }
    macro_rules! float {
        ($t:ident $($(#[$doc:meta])* $class:ident $op:ident $method:ident $with:ident
            $host:ident($old:ident, $operand:ident) $law:ident {int: $left:expr $(, float: $float:expr)?})+) => {{
            let (old, operand) = (<$t as Scalar>::from_raw(found.to_raw()), <$t as Scalar>::from_raw(operand.to_raw()));
            if op == AtomicOp::Exchange {
                // SAFETY: the caller's promise.
                unsafe { element.write(T::from_raw(operand.to_raw())) };
                return found;
            }
            let left: $t = match op {
                $(AtomicOp::$op => {
                    let ($old, $operand) = (old, operand);
                    let _ = ($old, $operand);
                    left!($old $($float)?)
                })+
            };
            T::from_raw(left.to_raw())
        }};
    }
    macro_rules! of_type {
        // No atomic operations.
        ($row:ident $t:ident) => {
            T::ZERO
        };
        (float $t:ident $atomic:ident) => {
            atomics!(float $t)
        };
        ($row:ident $t:ident $atomic:ident) => {
            atomics!(int $t)
        };
    }
    macro_rules! of_types {
        ($($(#[$doc:meta])* $variant:ident $t:ident $bits:literal $kind:ident $bits_type:ident $row:ident $($atomic:ident)?;)+) => {
            match T::TYPE {
                $(Type::$variant => of_type!($row $t $($atomic)?),)+
            }
        };
    }
    let left = types!(of_types);
    // SAFETY: the caller's promise.
    unsafe { element.write(left) };
    found
}

/// An element of an [`Atomic`] view; `None` where the index was out of bounds.
pub(crate) struct AtomicAt<T> {
    element: Option<*mut T>,
    is_of_block: bool,
}

impl<T: AtomicScalar, const D: usize> Atomic<T, D>
where
    Dim<D>: Rank,
{
    #[inline(always)]
    #[track_caller]
    fn at<R: Axes>(&self, index: R::Index) -> AtomicAt<T> {
        AtomicAt { element: self.element::<R>(index), is_of_block: self.is_of_block() }
    }
}

impl<T: AtomicScalar> AtomicAt<T> {
    #[inline(always)]
    fn load<O: ForLoad>(self, scope: Scope) -> T {
        let expansion = O::ORDER.expand();
        fence_first(expansion.fence_first, scope);
        let order = match expansion.order {
            ReadOrder::Acquire => Ordering::Acquire,
            ReadOrder::Relaxed => Ordering::Relaxed,
        };
        match self.element {
            // SAFETY: the element is in bounds, and it is the block's, or all threads touch it by atomic instructions.
            Some(element) if self.is_of_block => unsafe { element.read() },
            // SAFETY: as above.
            Some(element) => unsafe { atomic_load(element, order) },
            None => T::ZERO,
        }
    }

    #[inline(always)]
    fn store<O: ForStore>(self, value: T, scope: Scope) {
        let expansion = O::ORDER.expand();
        fence_first(expansion.fence_first, scope);
        let order = match expansion.order {
            WriteOrder::Release => Ordering::Release,
            WriteOrder::Relaxed => Ordering::Relaxed,
        };
        if let Some(element) = self.element {
            // SAFETY: as in `load`.
            unsafe {
                if self.is_of_block {
                    element.write(value);
                } else {
                    atomic_store(element, value, order);
                }
            }
        }
    }

    #[inline(always)]
    fn update<O: ForRmw>(self, op: AtomicOp, operand: T, scope: Scope) -> T {
        let expansion = O::ORDER.expand();
        fence_first(expansion.fence_first, scope);
        match self.element {
            // SAFETY: as in `load`.
            Some(element) if self.is_of_block => unsafe { update_in_block(element, op, operand) },
            // SAFETY: as in `load`.
            Some(element) => unsafe { update(element, op, operand, expansion.order) },
            None => T::ZERO,
        }
    }

    #[inline(always)]
    fn compare_exchange<O: ForRmw>(self, expected: T, desired: T, scope: Scope) -> T {
        let expansion = O::ORDER.expand();
        fence_first(expansion.fence_first, scope);
        let (success, failure) = (update_ordering(expansion.order), failure_ordering(expansion.order));
        let Some(element) = self.element else { return T::ZERO };
        let (old, new) = (expected.to_raw(), desired.to_raw());
        if self.is_of_block {
            // SAFETY: as in `load`.
            unsafe {
                let found = element.read();
                if found.to_raw() == old {
                    element.write(desired);
                }
                return found;
            }
        }
        // SAFETY: the element is in bounds and all threads touch it by atomic instructions; atomic numbers have 4 or 8
        // bytes.
        let found = unsafe {
            if size_of::<T>() == 4 {
                let place = AtomicU32::from_ptr(element.cast());
                place.compare_exchange(old as u32, new as u32, success, failure).unwrap_or_else(|found| found) as u64
            } else {
                let place = AtomicU64::from_ptr(element.cast());
                place.compare_exchange(old, new, success, failure).unwrap_or_else(|found| found)
            }
        };
        T::from_raw(found)
    }
}

impl<T: AtomicScalar, const D: usize> Atomic<T, D>
where
    Dim<D>: Rank,
{
    /// An atomic load, relaxed at device scope. As in all methods here, an index out of bounds gives 0 and a fault.
    #[doc(alias = "volatile")]
    #[inline(always)]
    #[track_caller]
    pub fn load(&self, index: Idx<D>) -> T {
        self.load_with(index, Scope::Device, marker::Relaxed)
    }

    /// An atomic load of this scope and order.
    #[inline(always)]
    #[track_caller]
    pub fn load_with<O: ForLoad>(&self, index: Idx<D>, scope: Scope, _: O) -> T {
        self.at::<Dim<D>>(index).load::<O>(scope)
    }

    /// An atomic store, relaxed at device scope.
    #[doc(alias = "volatile")]
    #[inline(always)]
    #[track_caller]
    pub fn store(&self, index: Idx<D>, value: T) {
        self.store_with(index, value, Scope::Device, marker::Relaxed);
    }

    /// An atomic store of this scope and order.
    #[inline(always)]
    #[track_caller]
    pub fn store_with<O: ForStore>(&self, index: Idx<D>, value: T, scope: Scope, _: O) {
        self.at::<Dim<D>>(index).store::<O>(value, scope);
    }

    /// Stores `desired` where `expected` is found; gives what was found (CUDA's `atomicCAS`). Relaxed at device scope.
    /// A failed exchange is a read. Bits are compared: of floats, -0 is not +0, and a NaN is the NaN of the same bits.
    #[doc(alias = "atomicCAS")]
    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange(&self, index: Idx<D>, expected: T, desired: T) -> T {
        self.compare_exchange_with(index, expected, desired, Scope::Device, marker::Relaxed)
    }

    /// Stores `desired` where `expected` is found; gives what was found. A failed exchange is a read. Bits are
    /// compared.
    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange_with<O: ForRmw>(&self, index: Idx<D>, expected: T, desired: T, scope: Scope, _: O) -> T {
        self.at::<Dim<D>>(index).compare_exchange::<O>(expected, desired, scope)
    }
}

/// The operations on an [`Atomic`] view in `#[kernel(wide)]`.
#[doc(hidden)]
pub struct WideAtomic<T, const D: usize = 1>(PhantomData<Atomic<T, D>>);

impl<T: AtomicScalar, const D: usize> WideAtomic<T, D>
where
    Dim<D>: Rank,
{
    #[inline(always)]
    #[track_caller]
    pub fn load(view: &Atomic<T, D>, index: WideIdx<D>) -> T {
        Self::load_with(view, index, Scope::Device, marker::Relaxed)
    }

    #[inline(always)]
    #[track_caller]
    pub fn load_with<O: ForLoad>(view: &Atomic<T, D>, index: WideIdx<D>, scope: Scope, _: O) -> T {
        view.at::<Wide<D>>(index).load::<O>(scope)
    }

    #[inline(always)]
    #[track_caller]
    pub fn store(view: &Atomic<T, D>, index: WideIdx<D>, value: T) {
        Self::store_with(view, index, value, Scope::Device, marker::Relaxed);
    }

    #[inline(always)]
    #[track_caller]
    pub fn store_with<O: ForStore>(view: &Atomic<T, D>, index: WideIdx<D>, value: T, scope: Scope, _: O) {
        view.at::<Wide<D>>(index).store::<O>(value, scope);
    }

    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange(view: &Atomic<T, D>, index: WideIdx<D>, expected: T, desired: T) -> T {
        Self::compare_exchange_with(view, index, expected, desired, Scope::Device, marker::Relaxed)
    }

    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange_with<O: ForRmw>(
        view: &Atomic<T, D>,
        index: WideIdx<D>,
        expected: T,
        desired: T,
        scope: Scope,
        _: O,
    ) -> T {
        view.at::<Wide<D>>(index).compare_exchange::<O>(expected, desired, scope)
    }
}

/// The axes of `D` dimensions with indices of `u64`.
type Wide<const D: usize> = <Dim<D> as Axes>::Wide;

macro_rules! updates {
    ($($(#[$meta:meta])* $bound:ident $op:ident $name:ident $with:ident $host:ident($old:ident, $operand:ident) $law:ident
        {$($meaning:tt)+})+) => {$(
        impl<T: $bound, const D: usize> Atomic<T, D>
        where
            Dim<D>: Rank,
        {
            $(#[$meta])*
            /// Gives the old value; relaxed at device scope.
            #[inline(always)]
            #[track_caller]
            pub fn $name(&self, index: Idx<D>, $operand: T) -> T {
                self.$with(index, $operand, Scope::Device, marker::Relaxed)
            }

            $(#[$meta])*
            /// Returns the element's old value.
            #[inline(always)]
            #[track_caller]
            pub fn $with<O: ForRmw>(&self, index: Idx<D>, $operand: T, scope: Scope, _: O) -> T {
                self.at::<Dim<D>>(index).update::<O>(AtomicOp::$op, $operand, scope)
            }
        }

        impl<T: $bound, const D: usize> WideAtomic<T, D>
        where
            Dim<D>: Rank,
        {
            #[inline(always)]
            #[track_caller]
            pub fn $name(view: &Atomic<T, D>, index: WideIdx<D>, $operand: T) -> T {
                Self::$with(view, index, $operand, Scope::Device, marker::Relaxed)
            }

            #[inline(always)]
            #[track_caller]
            pub fn $with<O: ForRmw>(view: &Atomic<T, D>, index: WideIdx<D>, $operand: T, scope: Scope, _: O) -> T {
                view.at::<Wide<D>>(index).update::<O>(AtomicOp::$op, $operand, scope)
            }
        }
    )+};
}
atomics!(updates);
