//! What the types of a kernel's parameters and variables become while it is built.

use crate::builder::{Array, Builder, Element, IrValue, Val};
use crate::{ElementLayout, Scalar, Type};

/// A type that a parameter of a kernel or of a device function can have.
///
/// # Safety
/// `Built` does nothing but build what the type stands for: devices pass arguments for the parameters that a kernel
/// declares itself, and no others.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter or result inside a kernel",
    note = "kernels know bool, the numbers that `wattle::prelude::Number` lists, tuples, fixed arrays, structs with \
            `#[derive(Clone, Copy, Element)] #[repr(C)]`, and the views Read, PerItem, Shared, Atomic"
)]
pub unsafe trait KernelType {
    /// What stands for it while a kernel is built.
    type Built<'b>: IrValue<'b>;
}

/// A type that a device function can return.
#[diagnostic::on_unimplemented(
    message = "a device function cannot return `{Self}`",
    note = "it can return numbers, bool, tuples, fixed arrays, and structs with `#[derive(Element)]`"
)]
pub trait KernelValue: KernelType {
    /// Zero, all through: what a function that is stopped returns.
    fn zero() -> Self;
}

// SAFETY: a number is a value.
#[diagnostic::do_not_recommend]
unsafe impl<T: Scalar> KernelType for T {
    type Built<'b> = Val<'b, T>;
}

#[diagnostic::do_not_recommend]
impl<T: Scalar> KernelValue for T {
    fn zero() -> T {
        T::default()
    }
}

/// A value that a launch gives a kernel: a number, a truth value, or an element of memory.
///
/// # Safety
/// `declare_parameters` declares as many parameters as `NUMBERS` says, which are those of `number`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given to a kernel by value",
    label = "not a type of a kernel's parameters",
    note = "a kernel's parameters are views, numbers, bool, arrays of numbers, and structs with \
            `#[derive(Clone, Copy, Element)] #[repr(C)]`"
)]
pub unsafe trait ByValue: KernelType + Copy + Send + Sync + 'static {
    /// The number of the value's parameters: each of its numbers is one.
    const NUMBERS: usize;
    /// A number's type and bytes, and the layout of which it is a number, where there are several.
    fn number(&self, number: usize) -> (Type, &[u8], Option<&'static ElementLayout>);
    /// Declares the value's parameters, one for each of its numbers, and returns the value that they make.
    fn declare_parameters<'b>(builder: &'b Builder, name: &'static str) -> Self::Built<'b>;
}

// SAFETY: it is one parameter.
#[diagnostic::do_not_recommend]
unsafe impl<T: Scalar> ByValue for T {
    const NUMBERS: usize = 1;
    #[inline]
    fn number(&self, _: usize) -> (Type, &[u8], Option<&'static ElementLayout>) {
        // SAFETY: a scalar has no padding, so all its bytes are initialized.
        let bytes = unsafe { std::slice::from_raw_parts(std::ptr::from_ref(self).cast(), size_of::<T>()) };
        (T::TYPE, bytes, None)
    }
    fn declare_parameters<'b>(builder: &'b Builder, name: &'static str) -> Val<'b, T> {
        builder.scalar(name)
    }
}

// SAFETY: each number of an element is a parameter.
unsafe impl<P: Element, const N: usize> ByValue for [P; N] {
    const NUMBERS: usize = <[P; N] as Element>::LAYOUT.count();
    #[inline]
    fn number(&self, number: usize) -> (Type, &[u8], Option<&'static ElementLayout>) {
        number_of(self, number)
    }
    fn declare_parameters<'b>(builder: &'b Builder, name: &'static str) -> Array<'b, P, N> {
        builder.value::<[P; N]>(name)
    }
}

/// A number of an element: see [`ByValue::number`].
#[doc(hidden)]
#[inline]
pub fn number_of<T: Element>(value: &T, number: usize) -> (Type, &[u8], Option<&'static ElementLayout>) {
    let leaf = &T::LAYOUT.numbers()[number];
    // SAFETY: an element has no padding, so all its bytes are initialized.
    let bytes = unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast::<u8>(), size_of::<T>()) };
    let from = leaf.offset as usize;
    (leaf.value_type(), &bytes[from..from + leaf.ty.size()], Some(T::LAYOUT))
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
tuples!(
    ()(A)(A, B)(A, B, C)(A, B, C, D)(A, B, C, D, E)(A, B, C, D, E, F)(A, B, C, D, E, F, G)(A, B, C, D, E, F, G, H)(
        A, B, C, D, E, F, G, H, I
    )(A, B, C, D, E, F, G, H, I, J)(A, B, C, D, E, F, G, H, I, J, K)(A, B, C, D, E, F, G, H, I, J, K, L)
);
