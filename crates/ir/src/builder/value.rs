//! Values and variables while a kernel is built.

use std::cell::OnceCell;
use std::marker::PhantomData;

use wattle_memory::{Scope, marker};

use super::{Builder, Element, ThisDevice, Warp};
use crate::{ExprId, KernelType, Number, Scalar, SlotId, Stmt, worker};

/// An expression of type `T` in the kernel that is being built.
pub struct Val<'b, T> {
    pub(crate) builder: &'b Builder,
    pub(crate) id: ExprId,
    ty: PhantomData<fn() -> T>,
}

impl<'b, T> Val<'b, T> {
    pub(crate) fn new(builder: &'b Builder, id: ExprId) -> Self {
        Val { builder, id, ty: PhantomData }
    }
}

impl<T> Clone for Val<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Val<'_, T> {}

/// A scalar variable of the user's: a slot.
pub struct Var<'b, T> {
    builder: &'b Builder,
    slot: SlotId,
    ty: PhantomData<fn() -> T>,
}

impl<T> Clone for Var<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Var<'_, T> {}

impl<'b, T> Var<'b, T> {
    pub(super) fn new(builder: &'b Builder, slot: SlotId) -> Self {
        Var { builder, slot, ty: PhantomData }
    }
}

/// What a variable of the user's does: `x`, and `x = value`.
pub trait Variable<'b>: Copy {
    /// The type of the value that it holds.
    type Value;
    /// The value that it holds where this is used.
    fn get(&self) -> Self::Value;
    /// The value that it holds now, which later assignments do not change.
    #[track_caller]
    fn snapshot(&self) -> Self::Value;
    /// Assigns. The value does not depend on the variable, or is a snapshot: parts are assigned one after another.
    #[track_caller]
    fn set(&self, value: Self::Value);
}

/// What `let` can bind: scalars, arrays, tuples of these, views.
pub trait IrValue<'b>: Copy {
    /// The type of the variable that `let mut` makes of it.
    type Var: Variable<'b, Value = Self>;
    /// The value as it is now, under the user's name where there is one.
    #[track_caller]
    fn bind(self, builder: &'b Builder, name: Option<&'static str>) -> Self;
    /// The value as it is now, if it has parts, of which one may be assigned to while others are still to be read.
    #[track_caller]
    fn apart(self, _builder: &'b Builder, _name: Option<&'static str>) -> Self {
        self
    }
    /// A variable that starts with this value.
    #[track_caller]
    fn variable(self, builder: &'b Builder, name: Option<&'static str>) -> Self::Var;
    /// An arbitrary value, for code that is never reached.
    fn unreachable(builder: &'b Builder) -> Self;
}

/// What a kernel has one of: all values and variables of it are the same.
macro_rules! only_one {
    ($($name:ident |$builder:ident| $value:expr;)+) => {$(
        impl<'b> IrValue<'b> for $name<'b> {
            type Var = Self;
            fn bind(self, _: &'b Builder, _: Option<&'static str>) -> Self {
                self
            }
            fn variable(self, _: &'b Builder, _: Option<&'static str>) -> Self {
                self
            }
            fn unreachable($builder: &'b Builder) -> Self {
                $value
            }
        }

        impl<'b> Variable<'b> for $name<'b> {
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
only_one! {
    ThisDevice |builder| ThisDevice::new(builder);
    Warp |builder| Warp::new(builder, builder.lit(1));
}

/// What the `break`s out of a loop or block give: a variable that the first of them declares.
pub struct Given<'b, V: IrValue<'b>> {
    builder: &'b Builder,
    variable: OnceCell<V::Var>,
}

impl<'b, V: IrValue<'b>> Given<'b, V> {
    pub(super) fn new(builder: &'b Builder) -> Self {
        Given { builder, variable: OnceCell::new() }
    }

    /// The value of one `break`.
    #[track_caller]
    pub fn give(&self, value: V) {
        match self.variable.get() {
            Some(variable) => variable.set(value),
            None => {
                self.variable.get_or_init(|| value.variable(self.builder, None));
            }
        }
    }

    /// The value behind the loop or block.
    pub fn take(self) -> V {
        self.variable.into_inner().map_or_else(|| V::unreachable(self.builder), |variable| variable.get())
    }
}

impl<'b, T: Scalar> Variable<'b> for Var<'b, T> {
    type Value = Val<'b, T>;
    fn get(&self) -> Val<'b, T> {
        self.builder.read_slot(self.slot)
    }
    fn snapshot(&self) -> Val<'b, T> {
        self.builder.hold(self.get(), None)
    }
    fn set(&self, value: Val<'b, T>) {
        self.builder.push(Stmt::Assign { slot: self.slot, value: value.id });
    }
}

impl<'b, T: Scalar> IrValue<'b> for Val<'b, T> {
    type Var = Var<'b, T>;
    fn bind(self, builder: &'b Builder, name: Option<&'static str>) -> Self {
        builder.hold(self, name)
    }
    fn variable(self, builder: &'b Builder, name: Option<&'static str>) -> Var<'b, T> {
        // Only the user's own variables may be assigned to in several places.
        let slot = builder.declare_slot(T::TYPE, name, name.is_some());
        builder.push(Stmt::Assign { slot, value: self.id });
        Var { builder, slot, ty: PhantomData }
    }
    fn unreachable(builder: &'b Builder) -> Self {
        builder.lit(T::default())
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),*))+) => {$(
        impl<'b, $($name: Variable<'b>),*> Variable<'b> for ($($name,)*) {
            type Value = ($($name::Value,)*);
            #[allow(clippy::unused_unit, reason = "the empty tuple is one of them")]
            fn get(&self) -> Self::Value { ($(self.$index.get(),)*) }
            #[allow(clippy::unused_unit, reason = "the empty tuple is one of them")]
            #[track_caller]
            fn snapshot(&self) -> Self::Value { ($(self.$index.snapshot(),)*) }
            #[track_caller]
            fn set(&self, _value: Self::Value) { $(self.$index.set(_value.$index);)* }
        }
        impl<'b, $($name: IrValue<'b>),*> IrValue<'b> for ($($name,)*) {
            type Var = ($($name::Var,)*);
            #[allow(clippy::unused_unit, reason = "the empty tuple is one of them")]
            #[track_caller]
            fn bind(self, _builder: &'b Builder, _name: Option<&'static str>) -> Self {
                ($(self.$index.bind(_builder, _name),)*)
            }
            #[track_caller]
            fn apart(self, builder: &'b Builder, name: Option<&'static str>) -> Self {
                self.bind(builder, name)
            }
            #[allow(clippy::unused_unit, reason = "the empty tuple is one of them")]
            #[track_caller]
            fn variable(self, _builder: &'b Builder, _name: Option<&'static str>) -> Self::Var {
                ($(self.$index.variable(_builder, _name),)*)
            }
            #[allow(clippy::unused_unit, reason = "the empty tuple is one of them")]
            fn unreachable(_builder: &'b Builder) -> Self { ($($name::unreachable(_builder),)*) }
        }
    )+};
}
with_tuples!(tuples());

/// A constant of the user's crate or of this library that a kernel names by its path. Nothing else implements it, so
/// that no value in a kernel is of a type of the user's.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot use a constant of type `{Self}`",
    note = "kernels know integers of 8 to 64 bits, floats, bool, arrays, and structs with `#[derive(Element)]`; convert where \
            the constant is used: `N as u32`"
)]
pub trait Lift: sealed::Sealed {
    /// The type that stands for it while a kernel is built.
    type Built<'b>;
    /// The constant in the kernel that `builder` builds.
    fn lift(self, builder: &Builder) -> Self::Built<'_>;
}

/// What a constant is on the host. That of a `usize`, which kernels refuse, has the type that it should have: so what
/// it stands in is no second error.
pub trait Constant {
    /// The type on the host.
    type Host;
    /// The constant on the host.
    fn host(self) -> Self::Host;
}

#[diagnostic::do_not_recommend]
impl<T: Lift> Constant for T {
    type Host = T;
    #[inline(always)]
    fn host(self) -> T {
        self
    }
}

impl Constant for usize {
    type Host = u32;
    #[inline(always)]
    fn host(self) -> u32 {
        self as u32
    }
}

/// A constant that converts to each number, as Rust's `as` does it: one of a `usize` too, which kernels know in no
/// other place.
#[diagnostic::on_unimplemented(
    message = "a kernel cannot convert a constant of type `{Self}` to this type",
    note = "numbers, bool and `usize` convert to each number; an enumeration converts to an integer of Rust's first: \
            `(Kind::First as u32) as T`"
)]
pub trait ConstantCast {
    /// The constant in another type.
    fn converted<U: Number>(self) -> U;
}

#[diagnostic::do_not_recommend]
impl<T: Scalar> ConstantCast for T {
    #[inline(always)]
    fn converted<U: Number>(self) -> U {
        U::cast_from(self)
    }
}

impl ConstantCast for usize {
    #[inline(always)]
    fn converted<U: Number>(self) -> U {
        U::cast_from(self as u64)
    }
}

impl ConstantCast for isize {
    #[inline(always)]
    fn converted<U: Number>(self) -> U {
        U::cast_from(self as i64)
    }
}

mod sealed {
    pub trait Sealed {}
}

#[diagnostic::do_not_recommend]
impl<T: Element> sealed::Sealed for T {}

#[diagnostic::do_not_recommend]
impl<T: Element> Lift for T {
    type Built<'b> = <T as KernelType>::Built<'b>;
    fn lift(self, builder: &Builder) -> Self::Built<'_> {
        T::constant(self, builder)
    }
}

macro_rules! lift_as_is {
    ($($t:ty),+) => {$(
        impl sealed::Sealed for $t {}
        impl Lift for $t {
                    type Built<'b> = $t;
            fn lift(self, _: &Builder) -> $t { self }
        }
    )+};
}
lift_as_is!(Scope, marker::Relaxed, marker::Acquire, marker::Release, marker::AcqRel, marker::SeqCst);
lift_as_is!(worker::ThreadsInGrid, worker::ThreadsInBlock, worker::BlocksInGrid, worker::AllThreads);
lift_as_is!(worker::ThreadsInWarp, worker::WarpsInBlock, worker::WarpsInGrid);
lift_as_is!(worker::LinearThreadsInGrid, worker::LinearThreadsInBlock, worker::LinearBlocksInGrid);
