//! Views of memory while a kernel is built.

use std::marker::PhantomData;

use super::element::checked;
use super::sealed::Sealed;
use super::{Array, Builder, Element, Extents, Family, Get, IrValue, Memory, Places, Set, Val, Variable};
use crate::{Axes, Dim, ExprId, IndexWord, MAX_RANK, Number, Place, Rank, Site, Stmt};

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

            /// The extent, in numbers of an index.
            #[track_caller]
            pub(super) fn extent_in<R: Axes>(&self) -> R::Built<'b> {
                self.builder.extent::<R>(self.place, D)
            }
        }

        impl<'b, T: Element, const D: usize> Extents<'b> for $name<'b, T, D>
        where
            Dim<D>: Rank,
        {
            type Extent = <Dim<D> as Axes>::Built<'b>;
            #[track_caller]
            fn extent(&self) -> Self::Extent {
                self.extent_in::<Dim<D>>()
            }
            #[track_caller]
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

/// The defect of a kernel whose variable would be another view on one way than on another.
const CHOSEN: &str = "a variable, or the value of an `if`, `match`, loop or device function, would be one view on one way and another on \
                      another way, and a kernel's views stay what they are while it runs: choose a number and not a view, or write \
                      the accesses of each way";

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
                builder.name_place(self.place, T::LAYOUT.count(), name.unwrap_or("shared"));
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
            fn set(&self, value: Self) {
                if self.place != value.place {
                    self.builder.defect(CHOSEN);
                }
            }
        }
    )+};
}
copy_views!(Read Shared Atomic);

/// Places in the memory of a kernel that is being built.
#[doc(hidden)]
pub struct Refs<'b>(PhantomData<&'b Builder>);

impl<'b> Family for Refs<'b> {
    type Ref<T: Element> = ElementRef<'b, T>;
}

// SAFETY: what is built of it is verified.
unsafe impl<'b> Places for Refs<'b> {
    unsafe fn part<T: Element, U: Element>(of: &ElementRef<'b, T>, number: usize, _: usize) -> ElementRef<'b, U> {
        ElementRef { place: of.place.field(number), ..ElementRef::new(of.builder, of.place, of.index()) }
    }
}

/// An element of a view, in its place: what the loop over the items of a [`PerItem`] view binds, and a part of it.
pub struct ElementRef<'b, T> {
    builder: &'b Builder,
    /// The memory of its first number.
    place: Place,
    index: [ExprId; MAX_RANK],
    rank: usize,
    ty: PhantomData<fn() -> T>,
}

impl<T> Clone for ElementRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for ElementRef<'_, T> {}

impl<'b, T: Element> ElementRef<'b, T> {
    pub(super) fn new(builder: &'b Builder, place: Place, at: &[ExprId]) -> Self {
        let mut index = [ExprId(0); MAX_RANK];
        index[..at.len()].copy_from_slice(at);
        ElementRef { builder, place, index, rank: at.len(), ty: PhantomData }
    }

    fn index(&self) -> &[ExprId] {
        &self.index[..self.rank]
    }

    /// Reads the element: `*self`.
    #[track_caller]
    pub fn __deref(&self) -> T::Built<'b> {
        let (builder, site, mut number) = (self.builder, Site::caller(), 0);
        let ids = T::make(&mut |ty| {
            let place = self.place.field(number);
            number += 1;
            builder.loaded(ty, |dst| Stmt::Load { dst, place, index: self.index().to_vec(), site })
        });
        T::of_ids(builder, ids)
    }

    /// Writes the element: `*self = value`.
    #[track_caller]
    pub fn __assign(&self, value: T::Built<'b>) {
        let (builder, site) = (self.builder, Site::caller());
        let mut number = 0;
        T::visit(T::ids(value), &mut |value| {
            let (place, index) = (self.place.field(number), self.index().to_vec());
            let value = builder.stored(T::LAYOUT.numbers()[number].value_type(), value);
            number += 1;
            builder.push(Stmt::Store { place, index, value, site });
        });
    }

    /// The fields of a struct, each in its place.
    pub fn __fields(&self) -> T::Fields<Refs<'b>> {
        T::fields::<Refs<'b>>(*self)
    }
}

impl<'b, P: Element, const N: usize> ElementRef<'b, [P; N]> {
    fn part(&self, number: usize) -> ElementRef<'b, P> {
        // SAFETY: the array has an element there, if `number` is less than `N`; what is built is verified.
        unsafe { Refs::part::<[P; N], P>(self, number * P::LAYOUT.count(), number * P::LAYOUT.size()) }
    }

    fn constant(&self, index: Val<'b, u32>) -> Option<ElementRef<'b, P>> {
        let constant = self.builder.constant(index.id)?.raw as usize;
        (constant < N).then(|| self.part(constant))
    }

    /// Builds what `act` builds for the part at an index that may be anything. Numbers of an element are memory of
    /// their own, so that no address is computed of the index. An index beyond is a fault.
    #[track_caller]
    pub fn __each(&self, index: Val<'b, u32>, mut act: impl FnMut(ElementRef<'b, P>)) {
        if let Some(part) = self.constant(index) {
            return act(part);
        }
        let builder = self.builder;
        let (index, _) = checked(builder, index, N, Site::caller());
        for number in 0..N {
            builder.if_begin(builder.eq(index, builder.lit(number as u32)));
            act(self.part(number));
            builder.if_end();
        }
    }
}

impl<'b, P: Element, const N: usize> Extents<'b> for ElementRef<'b, [P; N]> {
    type Extent = Val<'b, u32>;
    fn extent(&self) -> Val<'b, u32> {
        self.builder.lit(N as u32)
    }
    fn count(&self) -> Val<'b, u32> {
        self.extent()
    }
}

impl<'b, P: Element, const N: usize> Get<'b> for ElementRef<'b, [P; N]> {
    type Index = Val<'b, u32>;
    type Value = P::Built<'b>;
    #[track_caller]
    fn get(&self, index: Val<'b, u32>) -> P::Built<'b> {
        match self.constant(index) {
            Some(part) => part.__deref(),
            None => Get::get(&self.__deref(), index),
        }
    }
}

/// A view or an array whose elements can be assigned to in place.
pub trait Elements<'b>: Get<'b> {
    /// The type of the elements.
    type Element: Element;
    /// The element at `index`, in its place.
    fn element(&self, index: Self::Index) -> ElementRef<'b, Self::Element>;
}

/// The element of a view at `index`, in its place.
pub fn element<'b, V: Elements<'b>>(of: &V, index: V::Index) -> ElementRef<'b, V::Element> {
    of.element(index)
}

macro_rules! elements {
    ($($view:ident)+) => {$(
        impl<'b, T: Element, const D: usize> Get<'b> for $view<'b, T, D>
        where
            Dim<D>: Rank,
        {
            type Index = <Dim<D> as Axes>::Built<'b>;
            type Value = T::Built<'b>;
            #[track_caller]
            fn get(&self, index: Self::Index) -> T::Built<'b> {
                self.element(index).__deref()
            }
        }

        impl<'b, T: Element, const D: usize> Elements<'b> for $view<'b, T, D>
        where
            Dim<D>: Rank,
        {
            type Element = T;
            fn element(&self, index: Self::Index) -> ElementRef<'b, T> {
                self.element_in::<Dim<D>>(index)
            }
        }

        impl<'b, T: Element, const D: usize> $view<'b, T, D> {
            /// The element at an index of any width, in its place.
            pub(super) fn element_in<R: Axes>(&self, index: R::Built<'b>) -> ElementRef<'b, T> {
                let index: Vec<_> = R::spread_built(index).into_iter().map(|at| self.builder.index_of(at)).collect();
                ElementRef::new(self.builder, self.place, &index)
            }
        }
    )+};
}
elements!(Read Shared);

/// Views of which several consecutive elements are read at once.
pub trait Lanes<'b>: Sealed {
    /// The type of the elements.
    type Element: Number;
    /// `N` consecutive elements from `index`.
    #[track_caller]
    fn lanes<const N: usize>(&self, index: Val<'b, u32>) -> Array<'b, Self::Element, N>;
}

/// How many lanes a kernel asks for: a value, so that a view that has none is refused once, where it stands.
pub struct LaneCount<const N: usize>;

/// `N` consecutive elements of a view from `index`.
#[track_caller]
pub fn lanes<'b, const N: usize, V: Lanes<'b>>(
    of: &V,
    index: Val<'b, u32>,
    _: LaneCount<N>,
) -> Array<'b, V::Element, N> {
    of.lanes(index)
}

macro_rules! lanes {
    ($($view:ident)+) => {$(
        impl<'b, T: Number> Lanes<'b> for $view<'b, T, 1> {
            type Element = T;
            #[track_caller]
            fn lanes<const N: usize>(&self, index: Val<'b, u32>) -> Array<'b, T, N> {
                self.lanes_at(index)
            }
        }

        impl<'b, T: Number> $view<'b, T, 1> {
            #[track_caller]
            pub(super) fn lanes_at<W: IndexWord, const N: usize>(&self, index: Val<'b, W>) -> Array<'b, T, N> {
                let (dst, index) = (self.builder.declare_local(T::TYPE, N), self.builder.index_of(index));
                self.builder.push(Stmt::LoadLanes { dst, place: self.place, index, site: Site::caller() });
                Array::of_memory(self.builder, Memory::whole(self.builder, dst))
            }
        }
    )+};
}
lanes!(Read Shared);

impl<'b, T: Number> Shared<'b, T, 1> {
    /// Stores consecutive elements from `index` on.
    #[track_caller]
    pub fn store_lanes<const N: usize>(&self, index: Val<'b, u32>, values: Array<'b, T, N>) {
        self.store_lanes_at(index, values);
    }

    #[track_caller]
    pub(super) fn store_lanes_at<W: IndexWord, const N: usize>(&self, index: Val<'b, W>, values: Array<'b, T, N>) {
        let index = self.builder.index_of(index);
        let values = values.elements().map(|value| value.id).to_vec();
        if !values.is_empty() {
            self.builder.push(Stmt::StoreLanes { place: self.place, index, values, site: Site::caller() });
        }
    }
}

impl<'b, T: Element, const D: usize> Set<'b> for Shared<'b, T, D>
where
    Dim<D>: Rank,
{
    #[track_caller]
    fn set(&self, index: Self::Index, value: T::Built<'b>) {
        self.element(index).__assign(value);
    }
}
