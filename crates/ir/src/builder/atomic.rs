//! The operations of views with atomic operations alone, while a kernel is built.

use std::marker::PhantomData;

use wattle_memory::{FenceOrder, ForLoad, ForRmw, ForStore, Scope, marker};
use wattle_operations::atomics;

use super::{Atomic, Builder, Val};
use crate::{AtomicInt, AtomicOp, AtomicScalar, Axes, Dim, Index, Place, Rank, Site, Stmt};

/// What is built for an atomic operation on the element at an index.
struct AtomicAt<'b, T> {
    builder: &'b Builder,
    place: Place,
    index: Index,
    ty: PhantomData<fn() -> T>,
}

impl<'b, T: AtomicScalar> AtomicAt<'b, T> {
    #[track_caller]
    fn load<O: ForLoad>(self, scope: Scope) -> Val<'b, T> {
        let expansion = O::ORDER.expand();
        self.fence_first(expansion.fence_first, scope);
        let (dst, order, site) = (self.builder.temporary::<T>(), expansion.order, Site::caller());
        self.builder.push(Stmt::AtomicLoad { dst, place: self.place, index: self.index, order, scope, site });
        self.builder.read_slot(dst)
    }

    #[track_caller]
    fn store<O: ForStore>(self, value: Val<'b, T>, scope: Scope) {
        let expansion = O::ORDER.expand();
        self.fence_first(expansion.fence_first, scope);
        let (value, order, site) = (value.id, expansion.order, Site::caller());
        self.builder.push(Stmt::AtomicStore { place: self.place, index: self.index, value, order, scope, site });
    }

    #[track_caller]
    fn update<O: ForRmw>(self, op: AtomicOp, operand: Val<'b, T>, scope: Scope) -> Val<'b, T> {
        let expansion = O::ORDER.expand();
        self.fence_first(expansion.fence_first, scope);
        let (dst, operand, order) = (self.builder.temporary::<T>(), operand.id, expansion.order);
        let (place, index, site) = (self.place, self.index, Site::caller());
        self.builder.push(Stmt::AtomicUpdate { dst, op, place, index, operand, order, scope, site });
        self.builder.read_slot(dst)
    }

    #[track_caller]
    fn compare_exchange<O: ForRmw>(self, expected: Val<'b, T>, desired: Val<'b, T>, scope: Scope) -> Val<'b, T> {
        let expansion = O::ORDER.expand();
        self.fence_first(expansion.fence_first, scope);
        let (dst, order, site) = (self.builder.temporary::<T>(), expansion.order, Site::caller());
        let (place, index, expected, desired) = (self.place, self.index, expected.id, desired.id);
        self.builder.push(Stmt::CompareExchange { dst, place, index, expected, desired, order, scope, site });
        self.builder.read_slot(dst)
    }

    #[track_caller]
    fn fence_first(&self, fence_first: bool, scope: Scope) {
        if fence_first {
            self.builder.fence(scope, FenceOrder::SeqCst);
        }
    }
}

impl<'b, T: AtomicScalar, const D: usize> Atomic<'b, T, D>
where
    Dim<D>: Rank,
{
    /// The element at an index.
    fn at<R: Axes>(&self, index: R::Built<'b>) -> AtomicAt<'b, T> {
        let index = R::spread_built(index).into_iter().map(|value| self.builder.index_of(value)).collect();
        AtomicAt { builder: self.builder, place: self.place, index, ty: PhantomData }
    }
}

/// The operations on an element of an [`Atomic`] view, as methods of `$owner`, at indices in `$axes`.
macro_rules! atomic_operations {
    ($owner:ident ($($receiver:tt)*) $view:ident $axes:ty) => {
        impl<'b, T: AtomicScalar, const D: usize> $owner<'b, T, D>
        where
            Dim<D>: Rank,
        {
            /// An atomic load, relaxed at device scope.
            #[track_caller]
            pub fn load($($receiver)*, index: <$axes as Axes>::Built<'b>) -> Val<'b, T> {
                $view.at::<$axes>(index).load::<marker::Relaxed>(Scope::Device)
            }

            /// An atomic load of this scope and order.
            #[track_caller]
            pub fn load_with<O: ForLoad>(
                $($receiver)*,
                index: <$axes as Axes>::Built<'b>,
                scope: Scope,
                _: O,
            ) -> Val<'b, T> {
                $view.at::<$axes>(index).load::<O>(scope)
            }

            /// An atomic store, relaxed at device scope.
            #[track_caller]
            pub fn store($($receiver)*, index: <$axes as Axes>::Built<'b>, value: Val<'b, T>) {
                $view.at::<$axes>(index).store::<marker::Relaxed>(value, Scope::Device);
            }

            /// An atomic store of this scope and order.
            #[track_caller]
            pub fn store_with<O: ForStore>(
                $($receiver)*,
                index: <$axes as Axes>::Built<'b>,
                value: Val<'b, T>,
                scope: Scope,
                _: O,
            ) {
                $view.at::<$axes>(index).store::<O>(value, scope);
            }

            /// Stores `desired` where the bits of `expected` are found; gives what was found. Relaxed at device scope.
            #[track_caller]
            pub fn compare_exchange(
                $($receiver)*,
                index: <$axes as Axes>::Built<'b>,
                expected: Val<'b, T>,
                desired: Val<'b, T>,
            ) -> Val<'b, T> {
                $view.at::<$axes>(index).compare_exchange::<marker::Relaxed>(expected, desired, Scope::Device)
            }

            /// Stores `desired` where the bits of `expected` are found; gives what was found.
            #[track_caller]
            pub fn compare_exchange_with<O: ForRmw>(
                $($receiver)*,
                index: <$axes as Axes>::Built<'b>,
                expected: Val<'b, T>,
                desired: Val<'b, T>,
                scope: Scope,
                _: O,
            ) -> Val<'b, T> {
                $view.at::<$axes>(index).compare_exchange::<O>(expected, desired, scope)
            }
        }

        atomics!(updates $owner ($($receiver)*) $view ($axes));
    };
}

macro_rules! updates {
    ($owner:ident ($($receiver:tt)*) $view:ident ($axes:ty)
        $($(#[$meta:meta])* $bound:ident $op:ident $name:ident $with:ident $host:ident($old:ident, $operand:ident) $law:ident
        {$($meaning:tt)+})+) => {
        updates!(@each ($owner [$($receiver)*] $view [$axes]) $($(#[$meta])* $bound $op $name $with $operand;)+);
    };
    (@each $surface:tt $($(#[$meta:meta])* $bound:ident $op:ident $name:ident $with:ident $operand:ident;)+) => {
        $(updates!(@one $surface $(#[$meta])* $bound $op $name $with $operand);)+
    };
    (@one ($owner:ident [$($receiver:tt)*] $view:ident [$axes:ty])
        $(#[$meta:meta])* $bound:ident $op:ident $name:ident $with:ident $operand:ident) => {
        impl<'b, T: $bound, const D: usize> $owner<'b, T, D>
        where
            Dim<D>: Rank,
        {
            $(#[$meta])*
            /// Gives the old value; relaxed at device scope.
            #[track_caller]
            pub fn $name(
                $($receiver)*,
                index: <$axes as Axes>::Built<'b>,
                $operand: Val<'b, T>,
            ) -> Val<'b, T> {
                $view.at::<$axes>(index).update::<marker::Relaxed>(AtomicOp::$op, $operand, Scope::Device)
            }

            $(#[$meta])*
            /// Returns the element's old value.
            #[track_caller]
            pub fn $with<O: ForRmw>(
                $($receiver)*,
                index: <$axes as Axes>::Built<'b>,
                $operand: Val<'b, T>,
                scope: Scope,
                _: O,
            ) -> Val<'b, T> {
                $view.at::<$axes>(index).update::<O>(AtomicOp::$op, $operand, scope)
            }
        }
    };
}
atomic_operations!(Atomic (&self) self Dim<D>);

/// The operations on an [`Atomic`] view of `#[kernel(wide)]`.
pub struct WideAtomic<'b, T, const D: usize = 1>(PhantomData<Atomic<'b, T, D>>);
atomic_operations!(WideAtomic (view: &Atomic<'b, T, D>) view <Dim<D> as Axes>::Wide);
