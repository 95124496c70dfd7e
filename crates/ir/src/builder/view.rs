//! Views of memory while a kernel is built.

use std::marker::PhantomData;

use wattle_memory::{FenceOrder, ForLoad, ForRmw, ForStore, Scope, marker};
use wattle_operations::atomics;

use super::{Array, Builder, Extents, Get, IrValue, Set, Val, Variable};
use crate::{AtomicInt, AtomicOp, AtomicScalar, Dim, Element, Index, Place, Rank, Site, Stmt};

macro_rules! views {
    ($($(#[$meta:meta])* $name:ident)+) => {$(
        $(#[$meta])*
        pub struct $name<'b, T, const D: usize = 1> {
            pub(super) builder: &'b Builder,
            pub(super) place: Place,
            ty: PhantomData<fn() -> T>,
        }

        impl<'b, T: Element, const D: usize> $name<'b, T, D>
        where
            Dim<D>: Rank,
        {
            /// The view of `place`.
            pub fn new(builder: &'b Builder, place: Place) -> Self {
                $name { builder, place, ty: PhantomData }
            }

            #[allow(dead_code, reason = "not all views are indexed")]
            fn index(index: <Dim<D> as Rank>::Built<'b>) -> Index {
                Dim::<D>::spread_built(index).into_iter().map(|value| value.id).collect()
            }
        }

        impl<'b, T: Element, const D: usize> Extents<'b> for $name<'b, T, D>
        where
            Dim<D>: Rank,
        {
            type Extent = <Dim<D> as Rank>::Built<'b>;
            fn extent(&self) -> Self::Extent {
                self.builder.extent::<Dim<D>>(self.place, D)
            }
            fn count(&self) -> Val<'b, u32> {
                let extents = Dim::<D>::spread_built(self.extent());
                extents.into_iter().reduce(|x, y| self.builder.mul(x, y)).unwrap_or_else(|| self.builder.lit(1))
            }
        }
    )+};
}
views! {
    /// A view that all threads read and none writes.
    Read
    /// A view whose elements each belong to one thread.
    PerItem
    /// A view with plain accesses.
    Shared
    /// A view with atomic operations alone.
    Atomic
}

macro_rules! copy_views {
    ($($name:ident)+) => {$(
        impl<T, const D: usize> Clone for $name<'_, T, D> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T, const D: usize> Copy for $name<'_, T, D> {}

        /// A view as what `let` binds: it is named, and cannot be assigned to.
        impl<'b, T: Element, const D: usize> IrValue<'b> for $name<'b, T, D>
        where
            Dim<D>: Rank,
        {
            type Var = Self;
            fn bind(self, builder: &'b Builder, name: Option<&'static str>) -> Self {
                builder.name_place(self.place, name.unwrap_or("shared"));
                self
            }
            fn variable(self, builder: &'b Builder, name: Option<&'static str>) -> Self {
                self.bind(builder, name)
            }
            fn unreachable(builder: &'b Builder) -> Self {
                // Nothing loads from it, so any place will do.
                Self::new(builder, Place::Param(crate::ParamId(0)))
            }
        }

        impl<'b, T: Element, const D: usize> Variable<'b> for $name<'b, T, D> {
            type Value = Self;
            fn get(&self) -> Self {
                *self
            }
            fn snapshot(&self) -> Self {
                *self
            }
            fn set(&self, _: Self) {}
        }
    )+};
}
copy_views!(Read Shared Atomic);

#[track_caller]
fn load<'b, T: Element>(builder: &'b Builder, place: Place, index: Index) -> Val<'b, T> {
    let dst = builder.temporary::<T>();
    builder.push(Stmt::Load { dst, place, index, site: Site::caller() });
    builder.read_slot(dst)
}

impl<'b, T: Element, const D: usize> Get<'b> for Read<'b, T, D>
where
    Dim<D>: Rank,
{
    type Index = <Dim<D> as Rank>::Built<'b>;
    type Value = Val<'b, T>;
    #[track_caller]
    fn get(&self, index: Self::Index) -> Val<'b, T> {
        load(self.builder, self.place, Self::index(index))
    }
}

impl<'b, T: Element> Read<'b, T, 1> {
    /// `N` consecutive elements from `index`.
    #[track_caller]
    pub fn lanes<const N: usize>(&self, index: Val<'b, u32>) -> Array<'b, T, N> {
        let dst = self.builder.declare_local(T::TYPE, N);
        self.builder.push(Stmt::LoadLanes { dst, place: self.place, index: index.id, site: Site::caller() });
        Array::of_local(self.builder, dst)
    }
}

impl<'b, T: Element, const D: usize> Get<'b> for Shared<'b, T, D>
where
    Dim<D>: Rank,
{
    type Index = <Dim<D> as Rank>::Built<'b>;
    type Value = Val<'b, T>;
    #[track_caller]
    fn get(&self, index: Self::Index) -> Val<'b, T> {
        load(self.builder, self.place, Self::index(index))
    }
}

impl<'b, T: Element, const D: usize> Set<'b> for Shared<'b, T, D>
where
    Dim<D>: Rank,
{
    #[track_caller]
    fn set(&self, index: Self::Index, value: Val<'b, T>) {
        let (place, index, value, site) = (self.place, Self::index(index), value.id, Site::caller());
        self.builder.push(Stmt::Store { place, index, value, site });
    }
}

/// One element of a [`PerItem`] view: what the loop over the items binds.
pub struct ItemRef<'b, T> {
    builder: &'b Builder,
    place: Place,
    index: Index,
    ty: PhantomData<fn() -> T>,
}

impl<'b, T: Element> ItemRef<'b, T> {
    pub(super) fn new(builder: &'b Builder, place: Place, index: Index) -> Self {
        ItemRef { builder, place, index, ty: PhantomData }
    }

    /// Reads the element: `*self`.
    #[track_caller]
    pub fn __deref(&self) -> Val<'b, T> {
        load(self.builder, self.place, self.index.clone())
    }

    /// Writes the element: `*self = value`.
    #[track_caller]
    pub fn __assign(&self, value: Val<'b, T>) {
        let (place, index, value, site) = (self.place, self.index.clone(), value.id, Site::caller());
        self.builder.push(Stmt::Store { place, index, value, site });
    }
}

type At<'b, const D: usize> = <Dim<D> as Rank>::Built<'b>;

impl<'b, T: AtomicScalar, const D: usize> Atomic<'b, T, D>
where
    Dim<D>: Rank,
{
    /// An atomic load, relaxed at device scope.
    #[track_caller]
    pub fn load(&self, index: At<'b, D>) -> Val<'b, T> {
        self.load_with(index, Scope::Device, marker::Relaxed)
    }

    /// An atomic load of this scope and order.
    #[track_caller]
    pub fn load_with<O: ForLoad>(&self, index: At<'b, D>, scope: Scope, _: O) -> Val<'b, T> {
        let expansion = O::ORDER.expand();
        self.fence_first(expansion.fence_first, scope);
        let (dst, place, order) = (self.builder.temporary::<T>(), self.place, expansion.order);
        let (index, site) = (Self::index(index), Site::caller());
        self.builder.push(Stmt::AtomicLoad { dst, place, index, order, scope, site });
        self.builder.read_slot(dst)
    }

    /// An atomic store, relaxed at device scope.
    #[track_caller]
    pub fn store(&self, index: At<'b, D>, value: Val<'b, T>) {
        self.store_with(index, value, Scope::Device, marker::Relaxed);
    }

    /// An atomic store of this scope and order.
    #[track_caller]
    pub fn store_with<O: ForStore>(&self, index: At<'b, D>, value: Val<'b, T>, scope: Scope, _: O) {
        let expansion = O::ORDER.expand();
        self.fence_first(expansion.fence_first, scope);
        let (place, value, order) = (self.place, value.id, expansion.order);
        let (index, site) = (Self::index(index), Site::caller());
        self.builder.push(Stmt::AtomicStore { place, index, value, order, scope, site });
    }

    #[track_caller]
    fn update<O: ForRmw>(&self, op: AtomicOp, index: At<'b, D>, operand: Val<'b, T>, scope: Scope) -> Val<'b, T> {
        let expansion = O::ORDER.expand();
        self.fence_first(expansion.fence_first, scope);
        let (dst, place, operand, order) = (self.builder.temporary::<T>(), self.place, operand.id, expansion.order);
        let (index, site) = (Self::index(index), Site::caller());
        self.builder.push(Stmt::AtomicUpdate { dst, op, place, index, operand, order, scope, site });
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
    /// Stores `desired` where the bits of `expected` are found; gives what was found. Relaxed at device scope.
    #[track_caller]
    pub fn compare_exchange(&self, index: At<'b, D>, expected: Val<'b, T>, desired: Val<'b, T>) -> Val<'b, T> {
        self.compare_exchange_with(index, expected, desired, Scope::Device, marker::Relaxed)
    }

    /// Stores `desired` where the bits of `expected` are found; gives what was found.
    #[track_caller]
    pub fn compare_exchange_with<O: ForRmw>(
        &self,
        index: At<'b, D>,
        expected: Val<'b, T>,
        desired: Val<'b, T>,
        scope: Scope,
        _: O,
    ) -> Val<'b, T> {
        let expansion = O::ORDER.expand();
        self.fence_first(expansion.fence_first, scope);
        let (dst, place, order) = (self.builder.temporary::<T>(), self.place, expansion.order);
        let (expected, desired, index, site) = (expected.id, desired.id, Self::index(index), Site::caller());
        self.builder.push(Stmt::CompareExchange { dst, place, index, expected, desired, order, scope, site });
        self.builder.read_slot(dst)
    }
}

macro_rules! updates {
    ($($(#[$meta:meta])* $bound:ident $op:ident $name:ident $with:ident $host:ident($old:ident, $operand:ident)
        {$($meaning:tt)+})+) => {$(
        impl<'b, T: $bound, const D: usize> Atomic<'b, T, D>
        where
            Dim<D>: Rank,
        {
            $(#[$meta])*
            /// Gives the old value; relaxed at device scope.
            #[track_caller]
            pub fn $name(&self, index: At<'b, D>, $operand: Val<'b, T>) -> Val<'b, T> {
                self.update::<marker::Relaxed>(AtomicOp::$op, index, $operand, Scope::Device)
            }

            $(#[$meta])*
            /// Gives the old value.
            #[track_caller]
            pub fn $with<O: ForRmw>(&self, index: At<'b, D>, $operand: Val<'b, T>, scope: Scope, _: O) -> Val<'b, T> {
                self.update::<O>(AtomicOp::$op, index, $operand, scope)
            }
        }
    )+};
}
atomics!(updates);
