//! Arrays of the thread's own, and arrays of constants, while a kernel is built.

use std::marker::PhantomData;

use super::element::{constant_ids, hold, part};
use super::{Builder, Element, Extents, Get, IrValue, Iterate, LoopHandle, Set, Val, Variable};
use crate::{ExprId, Site};

/// The longest array that `let` keeps as values; a longer one becomes memory at once, since a dynamic index needs it
/// there and would put it there each time.
const FEW: usize = 4;

/// `[P; N]` in the kernel that is being built.
///
/// An array that is never assigned to stays the values it was made of, so that one indexed by constants costs nothing;
/// a variable is a [`crate::LocalArray`]. Of an array of arrays that is memory, each row is a part of its memory.
pub struct Array<'b, P: Element, const N: usize> {
    builder: &'b Builder,
    form: Form<P, N>,
    ty: PhantomData<fn() -> P>,
}

enum Form<P: Element, const N: usize> {
    Values([P::Ids; N]),
    Memory(P::Memory),
}

impl<P: Element, const N: usize> Clone for Form<P, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Element, const N: usize> Copy for Form<P, N> {}

impl<P: Element, const N: usize> Clone for Array<'_, P, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Element, const N: usize> Copy for Array<'_, P, N> {}

impl<'b, P: Element, const N: usize> Array<'b, P, N> {
    fn new(builder: &'b Builder, form: Form<P, N>) -> Self {
        Array { builder, form, ty: PhantomData }
    }

    pub(crate) fn of_ids(builder: &'b Builder, ids: [P::Ids; N]) -> Self {
        Array::new(builder, Form::Values(ids))
    }

    pub(super) fn of_memory(builder: &'b Builder, memory: P::Memory) -> Self {
        Array::new(builder, Form::Memory(memory))
    }

    /// Whether arrays of this length are kept as values, without memory.
    fn is_short() -> bool {
        let mut numbers = 0;
        P::make(&mut |_| {
            numbers += 1;
            ExprId(0)
        });
        N * numbers <= FEW
    }

    /// The memory of the element at a constant index.
    fn behind(builder: &Builder, memory: P::Memory, index: usize) -> P::Memory {
        P::behind(memory, builder, builder.lit(index as u32), None)
    }

    /// Declares an array of these constants.
    pub(super) fn of_constants(builder: &'b Builder, constants: [P; N]) -> Self {
        if Self::is_short() {
            return Self::of_ids(builder, constants.map(|constant| constant_ids(builder, &constant)));
        }
        Self::of_memory(builder, P::declare_constants(builder, &constants))
    }

    /// The part at a constant index below `N`.
    #[track_caller]
    pub(crate) fn element(&self, index: usize) -> P::Built<'b> {
        self.element_at(index, Site::caller())
    }

    fn element_at(&self, index: usize, site: Site) -> P::Built<'b> {
        match self.form {
            Form::Values(ids) => P::of_ids(self.builder, ids[index]),
            Form::Memory(memory) => P::read(self.builder, Self::behind(self.builder, memory, index), site),
        }
    }

    /// The values of all parts at this point of the kernel.
    #[track_caller]
    pub fn elements(&self) -> [P::Built<'b>; N] {
        let site = Site::caller();
        std::array::from_fn(|index| self.element_at(index, site))
    }

    /// What `combine` makes of each two parts.
    #[track_caller]
    pub(crate) fn zip(self, other: Self, mut combine: impl FnMut(P::Built<'b>, P::Built<'b>) -> P::Built<'b>) -> Self {
        let (mut left, mut right) = (self.elements().into_iter(), other.elements().into_iter());
        Array::of_ids(
            self.builder,
            std::array::from_fn(|_| match (left.next(), right.next()) {
                (Some(x), Some(y)) => P::ids(combine(x, y)),
                _ => constant_ids(self.builder, &P::zero()),
            }),
        )
    }

    /// The values that it is made of; those in memory are loaded.
    #[track_caller]
    pub(crate) fn ids(&self) -> [P::Ids; N] {
        match self.form {
            Form::Values(ids) => ids,
            Form::Memory(_) => self.elements().map(P::ids),
        }
    }

    /// Stores all parts of `value`, which does not depend on this memory.
    #[track_caller]
    pub(super) fn store(builder: &'b Builder, memory: P::Memory, value: Self) {
        for (index, element) in value.elements().into_iter().enumerate() {
            P::write(builder, Self::behind(builder, memory, index), element, Site::caller());
        }
    }

    #[track_caller]
    fn in_memory(&self) -> P::Memory {
        match self.form {
            Form::Memory(memory) => memory,
            Form::Values(_) => {
                let memory = P::declare(self.builder, N);
                Self::store(self.builder, memory, *self);
                memory
            }
        }
    }
}

/// The elements, one after another, as they are where the loop begins.
impl<'b, P: Element, const N: usize> Iterate<'b> for Array<'b, P, N> {
    type Item = P::Built<'b>;
    #[track_caller]
    fn begin(self, builder: &'b Builder) -> (LoopHandle<'b>, P::Built<'b>) {
        let memory = match self.form {
            Form::Memory(memory) => memory,
            Form::Values(ids) => P::declare_ids(builder, &ids, Site::caller()),
        };
        let (handle, index) = builder.range(builder.lit(0u32), builder.lit(N as u32)).begin(builder);
        (handle, P::read(builder, P::behind(memory, builder, index, None), Site::caller()))
    }
}

impl<'b, P: Element, const N: usize> Extents<'b> for Array<'b, P, N> {
    type Extent = Val<'b, u32>;
    fn extent(&self) -> Val<'b, u32> {
        self.builder.lit(N as u32)
    }
    fn count(&self) -> Val<'b, u32> {
        self.extent()
    }
}

impl<'b, P: Element, const N: usize> Get<'b> for Array<'b, P, N> {
    type Index = Val<'b, u32>;
    type Value = P::Built<'b>;
    #[track_caller]
    fn get(&self, index: Val<'b, u32>) -> P::Built<'b> {
        let builder = self.builder;
        if let Form::Values(ids) = self.form {
            match builder.constant(index.id) {
                Some(constant) if (constant.raw as usize) < N => {
                    return P::of_ids(builder, ids[constant.raw as usize]);
                }
                _ => {}
            }
        }
        let site = Site::caller();
        P::read(builder, part::<P>(self.in_memory(), builder, index, N, site), site)
    }
}

impl<'b, P: Element, const N: usize> Set<'b> for Array<'b, P, N> {
    #[track_caller]
    fn set(&self, index: Val<'b, u32>, value: P::Built<'b>) {
        let site = Site::caller();
        P::write(self.builder, part::<P>(self.in_memory(), self.builder, index, N, site), value, site);
    }
}

impl<'b, P: Element, const N: usize> Variable<'b> for Array<'b, P, N> {
    type Value = Self;
    fn get(&self) -> Self {
        *self
    }
    #[track_caller]
    fn snapshot(&self) -> Self {
        Array::of_ids(self.builder, hold::<[P; N]>(self.builder, self.ids(), None))
    }
    #[track_caller]
    fn set(&self, value: Self) {
        // All are read before one is written: the value may be this very array, permuted.
        Self::store(self.builder, self.in_memory(), value.snapshot());
    }
}

impl<'b, P: Element, const N: usize> IrValue<'b> for Array<'b, P, N> {
    type Var = Self;
    #[track_caller]
    fn bind(self, builder: &'b Builder, name: Option<&'static str>) -> Self {
        match self.form {
            Form::Values(ids) if Self::is_short() => Array::of_ids(builder, hold::<[P; N]>(builder, ids, name)),
            // Nothing writes to constants, so a copy would be the same.
            Form::Memory(memory) if P::first(memory).is_constant(builder) => self,
            _ => self.variable(builder, name),
        }
    }
    #[track_caller]
    fn variable(self, builder: &'b Builder, _: Option<&'static str>) -> Self {
        let memory = P::declare(builder, N);
        Self::store(builder, memory, self);
        Array::of_memory(builder, memory)
    }
    fn unreachable(builder: &'b Builder) -> Self {
        Array::of_ids(builder, [constant_ids(builder, &P::zero()); N])
    }
}
