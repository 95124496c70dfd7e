//! What the types of a kernel's parameters and variables become while it is built.

use crate::Scalar;
use crate::builder::{Array, Element, IrValue, Val};

/// A type that a parameter of a kernel or of a device function can have.
///
/// # Safety
/// `Built` does nothing but build what the type stands for: devices pass arguments for the parameters that a kernel
/// declares itself, and no others.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter or result inside a kernel",
    note = "kernels know numbers, bool, tuples and fixed arrays of numbers, and the views Read, PerItem, Shared, Atomic"
)]
pub unsafe trait KernelType {
    /// What stands for it while a kernel is built.
    type Built<'b>: IrValue<'b>;
}

/// A type that a device function can return.
#[diagnostic::on_unimplemented(
    message = "a device function cannot return `{Self}`",
    note = "it can return numbers, bool, tuples and fixed arrays of numbers"
)]
pub trait KernelValue: KernelType {
    /// Zero, all through: what a function that is stopped returns.
    fn zero() -> Self;
}

// SAFETY: a number is a value.
unsafe impl<T: Scalar> KernelType for T {
    type Built<'b> = Val<'b, T>;
}

impl<T: Scalar> KernelValue for T {
    fn zero() -> T {
        T::default()
    }
}

// SAFETY: an array is values, or local memory.
unsafe impl<P: Element, const N: usize> KernelType for [P; N] {
    type Built<'b> = Array<'b, P, N>;
}

impl<P: Element, const N: usize> KernelValue for [P; N] {
    fn zero() -> Self {
        [P::zero(); N]
    }
}

macro_rules! tuples {
    ($(($($name:ident),*))+) => {$(
        // SAFETY: so are its parts.
        unsafe impl<$($name: KernelType),*> KernelType for ($($name,)*) {
            type Built<'b> = ($($name::Built<'b>,)*);
        }
        impl<$($name: KernelValue),*> KernelValue for ($($name,)*) {
            #[allow(clippy::unused_unit, reason = "the empty tuple is one of them")]
            fn zero() -> Self { ($($name::zero(),)*) }
        }
    )+};
}
tuples!(()(A)(A, B)(A, B, C)(A, B, C, D)(A, B, C, D, E)(A, B, C, D, E, F));
