//! What the macros' code names. Not for users.

use std::marker::PhantomData;

pub use wattle_core::{Acc, Bundle, IntoArg, KernelInfo, Launch, Parameter, Thread, range, support};
pub use wattle_ir::build::{self, Variable};
pub use wattle_ir::{KernelType, Site};

/// `let x: T = value` in a builder.
pub fn typed<'b, T: KernelType>(_: &'b build::Builder, value: T::Built<'b>) -> T::Built<'b> {
    value
}

/// What a device function is given where a kernel calls it, and nobody else has.
pub struct OnlyInKernels(());

/// A function that `#[device_fn]` has made: of this signature, and giving the type that has the function's bodies.
#[diagnostic::on_unimplemented(
    message = "a kernel can call no function but those that are marked `#[device_fn]`",
    label = "not marked `#[device_fn]`",
    note = "write `#[device_fn]` above the function `{Self}`, if it is yours; mathematical functions are methods: `x.sqrt()`"
)]
pub trait DeviceFunction {
    /// The type that has the bodies.
    type Bodies;
    /// That.
    fn bodies(self) -> Self::Bodies;
}

#[diagnostic::do_not_recommend]
impl<F: FnOnce(OnlyInKernels) -> B, B> DeviceFunction for F {
    type Bodies = B;
    #[inline(always)]
    fn bodies(self) -> B {
        self(OnlyInKernels(()))
    }
}

/// The bodies of the device function `function`.
#[inline(always)]
pub fn device_function<F: DeviceFunction>(function: F) -> F::Bodies {
    function.bodies()
}

/// `T`, but erroneous for rustc where `N` is.
///
/// The builder repeats the host's function, so each of the user's mistakes would be reported twice, the second time in
/// terms of the builder. All types in the builder's signature are therefore `Once<T, N>::Type` with `N` from
/// [`after`]: if the host's function has an error, they have, and rustc is silent about what follows from that.
pub struct Once<T: ?Sized, const N: usize>(PhantomData<T>);

/// See [`Once`].
pub trait AfterHost {
    /// `T`.
    type Type: ?Sized;
}
impl<T: ?Sized> AfterHost for Once<T, 0> {
    type Type = T;
}

/// 0. Working that out needs the result's layout, and with it that the function's body has no error, if the result is
/// an `impl Sized`.
pub const fn after<F: Function<A>, A>(_: &F) -> usize {
    (size_of::<F::Result>() == usize::MAX) as usize
}

/// A function with parameters `A`.
pub trait Function<A> {
    /// What it returns.
    type Result;
}

macro_rules! functions {
    ($($first:ident $($name:ident)*)?) => {
        impl<F: Fn($($first, $($name),*)?) -> R, R, $($first, $($name),*)?> Function<($($first, $($name),*)?)> for F {
            type Result = R;
        }
        $(functions!($($name)*);)?
    };
}
functions!(P0 P1 P2 P3 P4 P5 P6 P7 P8 P9 P10 P11 P12 P13 P14 P15);
