//! What arrays are made of, and the memory that they are while a kernel is built.
//!
//! An array of arrays is one array of all numbers. The index of a row is checked where the row is taken: what is read
//! from a row that does not exist is 0, and what is written to it is dropped.

use super::{Array, Builder, Val};
use crate::{Const, Element, Expr, ExprId, KernelValue, LocalId, Place, Site, Stmt, Type};

/// What an array can be of: a number, or an array again.
#[diagnostic::on_unimplemented(
    message = "a kernel has no arrays of `{Self}`",
    note = "arrays in kernels are of u8 i8 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64, and of arrays of these"
)]
#[allow(private_interfaces, reason = "its methods are the builder's own")]
pub trait Part: KernelValue + Copy + sealed::Sealed {
    /// The type of the numbers in it, as data.
    #[doc(hidden)]
    const TYPE: Type;
    /// How many numbers it has.
    #[doc(hidden)]
    const LEN: usize;
    /// The expressions of its numbers.
    #[doc(hidden)]
    type Ids: Copy;
    #[doc(hidden)]
    fn ids(value: Self::Built<'_>) -> Self::Ids;
    #[doc(hidden)]
    fn of_ids<'b>(builder: &'b Builder, ids: Self::Ids) -> Self::Built<'b>;
    #[doc(hidden)]
    fn hold(builder: &Builder, ids: Self::Ids, name: Option<&'static str>) -> Self::Ids;
    /// The numbers of a constant.
    #[doc(hidden)]
    fn constant_ids(self, builder: &Builder) -> Self::Ids;
    /// The bits of a constant's numbers, appended.
    #[doc(hidden)]
    fn raw(&self, to: &mut Vec<u64>);
    /// The part that begins at `memory`: a number is loaded, a row stays where it is.
    #[doc(hidden)]
    fn read<'b>(builder: &'b Builder, memory: Memory, site: Site) -> Self::Built<'b>;
    #[doc(hidden)]
    fn write<'b>(builder: &'b Builder, memory: Memory, value: Self::Built<'b>, site: Site);
}

mod sealed {
    pub trait Sealed {}
}

/// A value that can be a part of an array: the reverse of [`Part`].
#[diagnostic::on_unimplemented(message = "a kernel has no arrays of `{Self}`")]
pub trait OfPart<'b> {
    /// What it is a value of.
    type Part: Part;
    #[doc(hidden)]
    fn part_ids(self) -> <Self::Part as Part>::Ids;
}

impl<'b, T: Element> OfPart<'b> for Val<'b, T> {
    type Part = T;
    fn part_ids(self) -> ExprId {
        self.id
    }
}

impl<'b, P: Part, const N: usize> OfPart<'b> for Array<'b, P, N> {
    type Part = [P; N];
    fn part_ids(self) -> [P::Ids; N] {
        self.ids()
    }
}

impl<T: Element> sealed::Sealed for T {}

#[allow(private_interfaces, reason = "its methods are the builder's own")]
impl<T: Element> Part for T {
    const TYPE: Type = T::TYPE;
    const LEN: usize = 1;
    type Ids = ExprId;
    fn ids(value: Val<'_, T>) -> ExprId {
        value.id
    }
    fn of_ids<'b>(builder: &'b Builder, id: ExprId) -> Val<'b, T> {
        Val::new(builder, id)
    }
    fn hold(builder: &Builder, id: ExprId, name: Option<&'static str>) -> ExprId {
        builder.hold(Val::<T>::new(builder, id), name).id
    }
    fn constant_ids(self, builder: &Builder) -> ExprId {
        builder.lit(self).id
    }
    fn raw(&self, to: &mut Vec<u64>) {
        to.push(self.to_raw());
    }
    fn read<'b>(builder: &'b Builder, memory: Memory, site: Site) -> Val<'b, T> {
        if let Some(raw) = memory.constant(builder) {
            return builder.lit(T::from_raw(raw));
        }
        let dst = builder.temporary::<T>();
        let load = Stmt::Load { dst, place: Place::Local(memory.local), index: vec![memory.first], site };
        match memory.exists {
            None => builder.push(load),
            Some(condition) => {
                let nothing = Stmt::Assign { slot: dst, value: builder.lit(T::ZERO).id };
                builder.push(Stmt::If { condition, then: vec![load], otherwise: vec![nothing] });
            }
        }
        builder.read_slot(dst)
    }
    fn write<'b>(builder: &'b Builder, memory: Memory, value: Val<'b, T>, site: Site) {
        let place = Place::Local(memory.local);
        let store = Stmt::Store { place, index: vec![memory.first], value: value.id, site };
        match memory.exists {
            None => builder.push(store),
            Some(condition) => builder.push(Stmt::If { condition, then: vec![store], otherwise: Vec::new() }),
        }
    }
}

impl<P: Part, const N: usize> sealed::Sealed for [P; N] {}

#[allow(private_interfaces, reason = "its methods are the builder's own")]
impl<P: Part, const N: usize> Part for [P; N] {
    const TYPE: Type = P::TYPE;
    const LEN: usize = N * P::LEN;
    type Ids = [P::Ids; N];
    fn ids(value: Array<'_, P, N>) -> Self::Ids {
        value.ids()
    }
    fn of_ids<'b>(builder: &'b Builder, ids: Self::Ids) -> Array<'b, P, N> {
        Array::of_ids(builder, ids)
    }
    fn hold(builder: &Builder, ids: Self::Ids, name: Option<&'static str>) -> Self::Ids {
        ids.map(|ids| P::hold(builder, ids, name))
    }
    fn constant_ids(self, builder: &Builder) -> Self::Ids {
        self.map(|part| part.constant_ids(builder))
    }
    fn raw(&self, to: &mut Vec<u64>) {
        self.iter().for_each(|part| part.raw(to));
    }
    fn read<'b>(builder: &'b Builder, memory: Memory, _: Site) -> Array<'b, P, N> {
        Array::of_memory(builder, memory)
    }
    #[track_caller]
    fn write<'b>(builder: &'b Builder, memory: Memory, value: Array<'b, P, N>, _: Site) {
        // All are read before one is written: the value may be a row of the same array.
        Array::<P, N>::store(builder, memory, Array::of_ids(builder, Self::hold(builder, value.ids(), None)));
    }
}

/// Where an array or a part of one is.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Memory {
    local: LocalId,
    /// The number of its first number in the local array.
    first: ExprId,
    /// Whether it exists, where an index that is not constant has been on the way to it.
    exists: Option<ExprId>,
}

impl Memory {
    pub(super) fn whole(builder: &Builder, local: LocalId) -> Memory {
        Memory { local, first: builder.lit(0u32).id, exists: None }
    }

    pub(super) fn declare(builder: &Builder, element: Type, len: usize) -> Memory {
        Memory::whole(builder, builder.declare_local(element, len))
    }

    pub(super) fn constants(builder: &Builder, element: Type, raw: Vec<u64>) -> Memory {
        Memory::whole(builder, builder.declare_constants(element, raw))
    }

    pub(super) fn is_constant(self, builder: &Builder) -> bool {
        builder.state.borrow().kernel.locals[self.local.index()].constants.is_some()
    }

    /// The bits of the number here, where it is constant.
    fn constant(self, builder: &Builder) -> Option<u64> {
        let Expr::Const(Const { raw, .. }) = builder.expr(self.first) else { return None };
        let exists = self.exists.is_none();
        let state = builder.state.borrow();
        let constants = state.kernel.locals[self.local.index()].constants.as_ref()?;
        constants.get(raw as usize).copied().filter(|_| exists)
    }

    /// What is `count` numbers behind.
    pub(super) fn behind(self, builder: &Builder, count: usize) -> Memory {
        let first = builder.add(Val::<u32>::new(builder, self.first), builder.lit(count as u32));
        Memory { first: first.id, ..self }
    }

    /// The part with this index, of an array of `count` parts of `len` numbers each, which begins here. An index beyond
    /// is a fault.
    pub(super) fn part<'b>(
        self,
        builder: &'b Builder,
        index: Val<'b, u32>,
        count: usize,
        len: usize,
        site: Site,
    ) -> Memory {
        let constant = builder.constant(index.id).map(|constant| constant.raw as usize);
        if let Some(index) = constant.filter(|&index| index < count) {
            return self.behind(builder, index * len);
        }
        let whole = builder.state.borrow().kernel.locals[self.local.index()].len as usize == count;
        if len == 1 && whole && self.exists.is_none() {
            // The access itself checks it.
            return Memory { first: index.id, ..self };
        }
        let index = builder.hold(index, None);
        let inside = builder.hold(builder.lt(index, builder.lit(count as u32)), None);
        // The fault is that of an array of as many elements.
        let rows = Memory::constants(builder, Type::U32, vec![0; count]);
        let fails = Stmt::Load {
            dst: builder.temporary::<u32>(),
            place: Place::Local(rows.local),
            index: vec![index.id],
            site,
        };
        builder.push(Stmt::If { condition: builder.not(inside).id, then: vec![fails], otherwise: Vec::new() });
        let exists = self.exists.map_or(inside, |exists| builder.bit_and(Val::new(builder, exists), inside));
        let first = Val::<u32>::new(builder, self.first);
        let first = builder.add(first, builder.mul(index, builder.lit(len as u32)));
        Memory { local: self.local, first: builder.hold(first, None).id, exists: Some(builder.hold(exists, None).id) }
    }
}
