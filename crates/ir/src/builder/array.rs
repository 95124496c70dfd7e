//! Arrays of the thread's own while a kernel is built.

use std::marker::PhantomData;

use super::{Builder, Extents, Get, IrValue, Set, Val, Variable};
use crate::{Element, ExprId, LocalId, Place, Site, Stmt};

/// The longest array that `let` keeps as values; a longer one becomes memory at once, since a dynamic index needs it
/// there and would put it there each time.
const FEW: usize = 4;

/// `[T; N]` in the kernel that is being built.
///
/// An array that is never assigned to stays the values it was made of, so that one indexed by constants costs nothing;
/// a variable is a [`crate::LocalArray`].
pub struct Array<'b, T, const N: usize> {
    builder: &'b Builder,
    form: Form<N>,
    ty: PhantomData<fn() -> T>,
}

#[derive(Clone, Copy)]
enum Form<const N: usize> {
    Values([ExprId; N]),
    Local(LocalId),
}

impl<T, const N: usize> Clone for Array<'_, T, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const N: usize> Copy for Array<'_, T, N> {}

impl<'b, T: Element, const N: usize> Array<'b, T, N> {
    pub(crate) fn of_values(builder: &'b Builder, values: [Val<'b, T>; N]) -> Self {
        Array { builder, form: Form::Values(values.map(|value| value.id)), ty: PhantomData }
    }

    pub(crate) fn of_local(builder: &'b Builder, local: LocalId) -> Self {
        Array { builder, form: Form::Local(local), ty: PhantomData }
    }

    /// The element at a constant index below `N`.
    #[track_caller]
    pub(crate) fn element(&self, index: usize) -> Val<'b, T> {
        self.element_at(index, Site::caller())
    }

    fn element_at(&self, index: usize, site: Site) -> Val<'b, T> {
        match self.form {
            Form::Values(values) => Val::new(self.builder, values[index]),
            Form::Local(local) => self.load(local, self.builder.lit(index as u32), site),
        }
    }

    /// All elements as they are now.
    #[track_caller]
    pub fn elements(&self) -> [Val<'b, T>; N] {
        let site = Site::caller();
        std::array::from_fn(|index| self.element_at(index, site))
    }

    fn load(&self, local: LocalId, index: Val<'b, u32>, site: Site) -> Val<'b, T> {
        let (dst, place) = (self.builder.temporary::<T>(), Place::Local(local));
        self.builder.push(Stmt::Load { dst, place, index: vec![index.id], site });
        self.builder.read_slot(dst)
    }

    #[track_caller]
    fn in_memory(&self) -> LocalId {
        match self.form {
            Form::Local(local) => local,
            Form::Values(values) => {
                let local = self.builder.declare_local(T::TYPE, N);
                for (index, value) in values.into_iter().enumerate() {
                    store(self.builder, local, self.builder.lit(index as u32), Val::<T>::new(self.builder, value));
                }
                local
            }
        }
    }
}

impl<'b, T: Element, const N: usize> Extents<'b> for Array<'b, T, N> {
    type Extent = Val<'b, u32>;
    fn extent(&self) -> Val<'b, u32> {
        self.builder.lit(N as u32)
    }
    fn count(&self) -> Val<'b, u32> {
        self.extent()
    }
}

impl<'b, T: Element, const N: usize> Get<'b> for Array<'b, T, N> {
    type Index = Val<'b, u32>;
    type Value = Val<'b, T>;
    #[track_caller]
    fn get(&self, index: Val<'b, u32>) -> Val<'b, T> {
        let builder = self.builder;
        if let Form::Values(values) = self.form {
            match builder.constant(index.id) {
                Some(constant) if (constant.raw as usize) < N => {
                    return Val::new(builder, values[constant.raw as usize]);
                }
                _ => {}
            }
        }
        self.load(self.in_memory(), index, Site::caller())
    }
}

impl<'b, T: Element, const N: usize> Set<'b> for Array<'b, T, N> {
    #[track_caller]
    fn set(&self, index: Val<'b, u32>, value: Val<'b, T>) {
        store(self.builder, self.in_memory(), index, value);
    }
}

#[track_caller]
fn store<'b, T: Element>(builder: &'b Builder, local: LocalId, index: Val<'b, u32>, value: Val<'b, T>) {
    let place = Place::Local(local);
    builder.push(Stmt::Store { place, index: vec![index.id], value: value.id, site: Site::caller() });
}

impl<'b, T: Element, const N: usize> Variable<'b> for Array<'b, T, N> {
    type Value = Self;
    fn get(&self) -> Self {
        *self
    }
    #[track_caller]
    fn snapshot(&self) -> Self {
        Array::of_values(self.builder, self.elements().map(|value| self.builder.hold(value, None)))
    }
    #[track_caller]
    fn set(&self, value: Self) {
        // All are read before one is written: the value may be this very array, permuted.
        let elements = value.snapshot().elements();
        for (index, element) in elements.into_iter().enumerate() {
            Set::set(self, self.builder.lit(index as u32), element);
        }
    }
}

impl<'b, T: Element, const N: usize> IrValue<'b> for Array<'b, T, N> {
    type Var = Self;
    #[track_caller]
    fn bind(self, builder: &'b Builder, name: &'static str) -> Self {
        match self.form {
            Form::Values(values) if N <= FEW => {
                Array::of_values(builder, values.map(|id| builder.hold(Val::<T>::new(builder, id), Some(name))))
            }
            _ => self.variable(builder, Some(name)),
        }
    }
    #[track_caller]
    fn variable(self, builder: &'b Builder, _: Option<&'static str>) -> Self {
        let variable = Array::of_local(builder, builder.declare_local(T::TYPE, N));
        for (index, element) in self.elements().into_iter().enumerate() {
            Set::set(&variable, builder.lit(index as u32), element);
        }
        variable
    }
    fn unreachable(builder: &'b Builder) -> Self {
        Array::of_values(builder, [builder.lit(T::ZERO); N])
    }
}
