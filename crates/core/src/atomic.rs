//! Atomic operations on the host.
//!
//! A block is one thread here, so block scope needs no more than a relaxed operation that the compiler does not move;
//! device and system scope are the processor's own.

use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64, Ordering};

use wattle_ir::eval::{wrapping_dec, wrapping_inc};
use wattle_ir::{AtomicInt, AtomicOp, AtomicScalar, Dim, Idx, Rank, Scalar, Type};
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
unsafe fn update<T: AtomicScalar>(element: *mut T, op: AtomicOp, operand: T, order: Ordering) -> T {
    macro_rules! native {
        ($atomic:ident, $t:ident) => {{
            let x = <$t as Scalar>::from_raw(operand.to_raw());
            // SAFETY: the caller's promise; `T` is `$t`.
            let place = unsafe { $atomic::from_ptr(element.cast()) };
            let old = match op {
                AtomicOp::Exchange => place.swap(x, order),
                AtomicOp::Add => place.fetch_add(x, order),
                AtomicOp::Sub => place.fetch_sub(x, order),
                AtomicOp::Min => place.fetch_min(x, order),
                AtomicOp::Max => place.fetch_max(x, order),
                AtomicOp::And => place.fetch_and(x, order),
                AtomicOp::Or => place.fetch_or(x, order),
                AtomicOp::Xor => place.fetch_xor(x, order),
                AtomicOp::Inc => place.update(order, failure(order), |old| wrapping_inc(old, x)),
                AtomicOp::Dec => place.update(order, failure(order), |old| wrapping_dec(old, x)),
            };
            T::from_raw(old.to_raw())
        }};
    }
    macro_rules! float {
        ($atomic:ident, $bits:ident) => {{
            // SAFETY: the caller's promise; `T` has the size of `$bits`.
            let place = unsafe { $atomic::from_ptr(element.cast()) };
            let old = match op {
                AtomicOp::Add => {
                    place.update(order, failure(order), |old| T::from_raw(old as u64).add(operand).to_raw() as $bits)
                }
                _ => place.swap(operand.to_raw() as $bits, order),
            };
            T::from_raw(old as u64)
        }};
    }
    match T::TYPE {
        Type::U32 => native!(AtomicU32, u32),
        Type::I32 => native!(AtomicI32, i32),
        Type::U64 => native!(AtomicU64, u64),
        Type::I64 => native!(AtomicI64, i64),
        Type::F32 => float!(AtomicU32, u32),
        _ => float!(AtomicU64, u64),
    }
}

/// The order of the loads of a compare-exchange loop, which only its last one needs.
#[inline(always)]
fn failure(order: Ordering) -> Ordering {
    match order {
        Ordering::Acquire | Ordering::AcqRel => Ordering::Acquire,
        _ => Ordering::Relaxed,
    }
}

impl<T: AtomicScalar, const D: usize> Atomic<T, D>
where
    Dim<D>: Rank,
{
    /// An atomic load, relaxed at device scope. 0 and a fault where the index is out of bounds; so for all here.
    #[inline(always)]
    #[track_caller]
    pub fn load(&self, index: Idx<D>) -> T {
        self.load_with(index, Scope::Device, marker::Relaxed)
    }

    /// An atomic load.
    #[inline(always)]
    #[track_caller]
    pub fn load_with<O: ForLoad>(&self, index: Idx<D>, scope: Scope, _: O) -> T {
        let expansion = O::ORDER.expand();
        fence_first(expansion.fence_first, scope);
        let order = match expansion.order {
            ReadOrder::Acquire => Ordering::Acquire,
            ReadOrder::Relaxed => Ordering::Relaxed,
        };
        match self.element(index) {
            // SAFETY: the element is in bounds, and everyone touches it by atomic instructions.
            Some(element) => unsafe { atomic_load(element, order) },
            None => T::ZERO,
        }
    }

    /// An atomic store, relaxed at device scope.
    #[inline(always)]
    #[track_caller]
    pub fn store(&self, index: Idx<D>, value: T) {
        self.store_with(index, value, Scope::Device, marker::Relaxed);
    }

    /// An atomic store.
    #[inline(always)]
    #[track_caller]
    pub fn store_with<O: ForStore>(&self, index: Idx<D>, value: T, scope: Scope, _: O) {
        let expansion = O::ORDER.expand();
        fence_first(expansion.fence_first, scope);
        let order = match expansion.order {
            WriteOrder::Release => Ordering::Release,
            WriteOrder::Relaxed => Ordering::Relaxed,
        };
        if let Some(element) = self.element(index) {
            // SAFETY: as in `load_with`.
            unsafe { atomic_store(element, value, order) }
        }
    }

    #[inline(always)]
    #[track_caller]
    fn update<O: ForRmw>(&self, op: AtomicOp, index: Idx<D>, operand: T, scope: Scope) -> T {
        let expansion = O::ORDER.expand();
        fence_first(expansion.fence_first, scope);
        match self.element(index) {
            // SAFETY: as in `load_with`.
            Some(element) => unsafe { update(element, op, operand, update_ordering(expansion.order)) },
            None => T::ZERO,
        }
    }
}

impl<T: AtomicScalar, const D: usize> Atomic<T, D>
where
    Dim<D>: Rank,
{
    /// Stores `desired` where `expected` is found; gives what was found. Relaxed at device scope. One that fails is a
    /// read.
    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange(&self, index: Idx<D>, expected: T, desired: T) -> T
    where
        T: AtomicInt,
    {
        self.compare_exchange_with(index, expected, desired, Scope::Device, marker::Relaxed)
    }

    /// Stores `desired` where `expected` is found; gives what was found. One that fails is a read.
    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange_with<O: ForRmw>(&self, index: Idx<D>, expected: T, desired: T, scope: Scope, _: O) -> T
    where
        T: AtomicInt,
    {
        let expansion = O::ORDER.expand();
        fence_first(expansion.fence_first, scope);
        let (success, failure) = (update_ordering(expansion.order), failure_ordering(expansion.order));
        let Some(element) = self.element(index) else { return T::ZERO };
        let (old, new) = (expected.to_raw(), desired.to_raw());
        // SAFETY: the element is in bounds and everyone touches it by atomic instructions; atomic integers have 4 or 8
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

macro_rules! updates {
    ($($bound:ident: $($(#[$meta:meta])* $name:ident $with:ident $op:ident),+;)+) => {$(
        impl<T: AtomicScalar, const D: usize> Atomic<T, D>
        where
            Dim<D>: Rank,
        {$(
            $(#[$meta])*
            /// Gives the old value. Relaxed at device scope.
            #[inline(always)]
            #[track_caller]
            pub fn $name(&self, index: Idx<D>, operand: T) -> T
            where
                T: $bound,
            {
                self.update::<marker::Relaxed>(AtomicOp::$op, index, operand, Scope::Device)
            }

            $(#[$meta])*
            /// Gives the old value.
            #[inline(always)]
            #[track_caller]
            pub fn $with<O: ForRmw>(&self, index: Idx<D>, operand: T, scope: Scope, _: O) -> T
            where
                T: $bound,
            {
                self.update::<O>(AtomicOp::$op, index, operand, scope)
            }
        )+}
    )+};
}
updates! {
    AtomicScalar:
        /// Stores the operand.
        exchange exchange_with Exchange,
        /// Adds the operand; integers wrap.
        fetch_add fetch_add_with Add;
    AtomicInt:
        /// Subtracts the operand; integers wrap.
        fetch_sub fetch_sub_with Sub,
        /// Leaves the lesser of the two.
        fetch_min fetch_min_with Min,
        /// Leaves the greater of the two.
        fetch_max fetch_max_with Max,
        /// Bitwise and.
        fetch_and fetch_and_with And,
        /// Bitwise or.
        fetch_or fetch_or_with Or,
        /// Bitwise exclusive or.
        fetch_xor fetch_xor_with Xor,
        /// Adds 1, or leaves 0 once the old value has reached the operand (CUDA's `atomicInc`).
        fetch_inc fetch_inc_with Inc,
        /// Subtracts 1, or leaves the operand where the old value is 0 or beyond it (CUDA's `atomicDec`).
        fetch_dec fetch_dec_with Dec;
}
