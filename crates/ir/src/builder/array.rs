//! Arrays of the thread's own, and arrays of constants, while a kernel is built.

use std::marker::PhantomData;

use super::{Builder, Extents, Get, IrValue, Memory, Part, Set, Val, Variable};
use crate::{LocalId, Site};

/// The longest array that `let` keeps as values; a longer one becomes memory at once, since a dynamic index needs it
/// there and would put it there each time.
const FEW: usize = 4;

/// `[P; N]` in the kernel that is being built.
///
/// An array that is never assigned to stays the values it was made of, so that one indexed by constants costs nothing;
/// a variable is a [`crate::LocalArray`]. Of an array of arrays that is memory, each row is a part of its memory.
pub struct Array<'b, P: Part, const N: usize> {
    builder: &'b Builder,
    form: Form<P, N>,
    ty: PhantomData<fn() -> P>,
}

enum Form<P: Part, const N: usize> {
    Values([P::Ids; N]),
    Memory(Memory),
}

impl<P: Part, const N: usize> Clone for Form<P, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Part, const N: usize> Copy for Form<P, N> {}

impl<P: Part, const N: usize> Clone for Array<'_, P, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<P: Part, const N: usize> Copy for Array<'_, P, N> {}

impl<'b, P: Part, const N: usize> Array<'b, P, N> {
    fn new(builder: &'b Builder, form: Form<P, N>) -> Self {
        Array { builder, form, ty: PhantomData }
    }

    pub(super) fn of_ids(builder: &'b Builder, ids: [P::Ids; N]) -> Self {
        Array::new(builder, Form::Values(ids))
    }

    pub(super) fn of_memory(builder: &'b Builder, memory: Memory) -> Self {
        Array::new(builder, Form::Memory(memory))
    }

    pub(crate) fn of_local(builder: &'b Builder, local: LocalId) -> Self {
        Self::of_memory(builder, Memory::whole(builder, local))
    }

    /// An array of constants.
    pub(super) fn of_constants(builder: &'b Builder, constants: [P; N]) -> Self {
        if N * P::LEN <= FEW {
            return Self::of_ids(builder, constants.map(|constant| constant.constant_ids(builder)));
        }
        let mut raw = Vec::with_capacity(N * P::LEN);
        constants.iter().for_each(|constant| constant.raw(&mut raw));
        Self::of_memory(builder, Memory::constants(builder, P::TYPE, raw))
    }

    /// The part at a constant index below `N`.
    #[track_caller]
    pub(crate) fn element(&self, index: usize) -> P::Built<'b> {
        self.element_at(index, Site::caller())
    }

    fn element_at(&self, index: usize, site: Site) -> P::Built<'b> {
        match self.form {
            Form::Values(ids) => P::of_ids(self.builder, ids[index]),
            Form::Memory(memory) => P::read(self.builder, memory.behind(self.builder, index * P::LEN), site),
        }
    }

    /// All parts as they are now.
    #[track_caller]
    pub fn elements(&self) -> [P::Built<'b>; N] {
        let site = Site::caller();
        std::array::from_fn(|index| self.element_at(index, site))
    }

    /// The values that it is made of; those in memory are loaded.
    #[track_caller]
    pub(super) fn ids(&self) -> [P::Ids; N] {
        match self.form {
            Form::Values(ids) => ids,
            Form::Memory(_) => self.elements().map(P::ids),
        }
    }

    /// Stores all parts of `value`, which does not depend on this memory.
    #[track_caller]
    pub(super) fn store(builder: &'b Builder, memory: Memory, value: Self) {
        for (index, element) in value.elements().into_iter().enumerate() {
            P::write(builder, memory.behind(builder, index * P::LEN), element, Site::caller());
        }
    }

    #[track_caller]
    fn in_memory(&self) -> Memory {
        match self.form {
            Form::Memory(memory) => memory,
            Form::Values(_) => {
                let memory = Memory::declare(self.builder, P::TYPE, N * P::LEN);
                Self::store(self.builder, memory, *self);
                memory
            }
        }
    }
}

impl<'b, P: Part, const N: usize> Extents<'b> for Array<'b, P, N> {
    type Extent = Val<'b, u32>;
    fn extent(&self) -> Val<'b, u32> {
        self.builder.lit(N as u32)
    }
    fn count(&self) -> Val<'b, u32> {
        self.extent()
    }
}

impl<'b, P: Part, const N: usize> Get<'b> for Array<'b, P, N> {
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
        P::read(builder, self.in_memory().part(builder, index, N, P::LEN, site), site)
    }
}

impl<'b, P: Part, const N: usize> Set<'b> for Array<'b, P, N> {
    #[track_caller]
    fn set(&self, index: Val<'b, u32>, value: P::Built<'b>) {
        let site = Site::caller();
        P::write(self.builder, self.in_memory().part(self.builder, index, N, P::LEN, site), value, site);
    }
}

impl<'b, P: Part, const N: usize> Variable<'b> for Array<'b, P, N> {
    type Value = Self;
    fn get(&self) -> Self {
        *self
    }
    #[track_caller]
    fn snapshot(&self) -> Self {
        Array::of_ids(self.builder, self.ids().map(|ids| P::hold(self.builder, ids, None)))
    }
    #[track_caller]
    fn set(&self, value: Self) {
        // All are read before one is written: the value may be this very array, permuted.
        Self::store(self.builder, self.in_memory(), value.snapshot());
    }
}

impl<'b, P: Part, const N: usize> IrValue<'b> for Array<'b, P, N> {
    type Var = Self;
    #[track_caller]
    fn bind(self, builder: &'b Builder, name: Option<&'static str>) -> Self {
        match self.form {
            Form::Values(ids) if N * P::LEN <= FEW => {
                Array::of_ids(builder, ids.map(|ids| P::hold(builder, ids, name)))
            }
            // Nothing writes to constants, so a copy would be the same.
            Form::Memory(memory) if memory.is_constant(builder) => self,
            _ => self.variable(builder, name),
        }
    }
    #[track_caller]
    fn variable(self, builder: &'b Builder, _: Option<&'static str>) -> Self {
        let memory = Memory::declare(builder, P::TYPE, N * P::LEN);
        Self::store(builder, memory, self);
        Array::of_memory(builder, memory)
    }
    fn unreachable(builder: &'b Builder) -> Self {
        Array::of_ids(builder, [P::zero().constant_ids(builder); N])
    }
}
