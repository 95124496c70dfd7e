//! A plain closure where a kernel takes a device function: `map(&x, |x| x * 2.0)`.
//!
//! A device function is called with a type of this crate (`Parameters`), from which it makes one of its bodies. rustc
//! calls a plain closure with that type as well. The operators here let the closure's body compile; what they make of
//! the type is no body, so that the one error is that of [`DeviceFn`](crate::DeviceFn), which says what to write.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Rem, Sub};

use crate::device_fn::Parameters;

/// What a plain closure makes of its argument: no device function's bodies.
pub struct PlainClosure;

macro_rules! binary {
    ($($operator:ident $method:ident)+) => {$(
        impl<Args, Y> $operator<Y> for Parameters<Args> {
            type Output = PlainClosure;
            fn $method(self, _: Y) -> PlainClosure {
                PlainClosure
            }
        }

        impl<Y> $operator<Y> for PlainClosure {
            type Output = PlainClosure;
            fn $method(self, _: Y) -> PlainClosure {
                PlainClosure
            }
        }
    )+};
}
binary!(Add add Sub sub Mul mul Div div Rem rem BitAnd bitand BitOr bitor BitXor bitxor);

macro_rules! unary {
    ($($operator:ident $method:ident)+) => {$(
        impl<Args> $operator for Parameters<Args> {
            type Output = PlainClosure;
            fn $method(self) -> PlainClosure {
                PlainClosure
            }
        }
    )+};
}
unary!(Neg neg Not not);
