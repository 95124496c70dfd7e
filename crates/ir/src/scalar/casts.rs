//! The conversions between numbers, as Rust's `as` has them.

use wattle_operations::types;

use super::Scalar;
use crate::half::Half;
use crate::half::names::*;

/// The conversion to `T`, as Rust's `as` does it.
#[doc(hidden)]
pub trait CastTo<T> {
    fn cast_to(self) -> T;
}

macro_rules! cast {
    ($x:ident half bool $to:ident) => {
        $x.to_raw() != 0
    };
    ($x:ident half $row:ident $to:ident) => {
        <f32 as CastTo<$to>>::cast_to($x.widen())
    };
    ($x:ident float half $to:ident) => {
        crate::half::Narrows::narrowed($x)
    };
    ($x:ident bool half $to:ident) => {
        <$to as Half>::of_size($x.into())
    };
    ($x:ident signed half $to:ident) => {
        <$to as Half>::of_size($x.unsigned_abs().into()).signed($x < 0)
    };
    ($x:ident $from_row:ident half $to:ident) => {
        <$to as Half>::of_size($x.into())
    };
    // Rust has no `as bool`; the kernel macro's types keep this from being asked for, and the verifier refuses it.
    ($x:ident $from_row:ident bool $to:ident) => {
        $x.to_raw() != 0
    };
    ($x:ident bool float $to:ident) => {
        $x as u8 as $to
    };
    ($x:ident $from_row:ident $row:ident $to:ident) => {
        $x as $to
    };
}

macro_rules! casts {
    ($from:ident $from_row:ident $($(#[$doc:meta])* $variant:ident $t:ident $bits:literal $kind:ident $bits_type:ident
        $row:ident $($atomic:ident)?;)+) => {$(
        impl CastTo<$t> for $from {
            #[inline(always)]
            fn cast_to(self) -> $t {
                let x = self;
                cast!(x $from_row $row $t)
            }
        }
    )+};
}

macro_rules! all_casts {
    ($($(#[$doc:meta])* $variant:ident $t:ident $bits:literal $kind:ident $bits_type:ident $row:ident $($atomic:ident)?;)+) => {
        /// The conversions to all types.
        #[doc(hidden)]
        pub trait Casts: Sized $(+ CastTo<$t>)+ {}

        $(
            impl Casts for $t {}
            types!(casts $t $row);
        )+
    };
}
types!(all_casts);
