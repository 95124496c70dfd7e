//! The operations on values held as raw words, for interpreters and for folding constants.
//!
//! A raw word holds a value's bits in its low end and zeros above ([`Scalar::to_raw`]). Each function takes the type
//! that the verifier has checked; for a type that the operation does not apply to, the result is 0.

use wattle_math as math;
use wattle_operations::{atomics, operations, types};

use crate::half::fused;
use crate::scalar::{greater, lesser, meaning, narrowed, native, operand_type, widened};
use crate::{AtomicOp, BinaryOp, DivOp, Int, Scalar, TernaryOp, Type, UnaryOp};

/// A type with all operations; what does not apply to it gives 0.
trait Evaluate: Scalar {
    fn unary(op: UnaryOp, x: Self) -> u64;
    fn binary(op: BinaryOp, x: Self, y: u64) -> u64;
    fn ternary(op: TernaryOp, x: Self, y: u64, z: u64) -> u64;
    fn atomic(op: AtomicOp, old: Self, operand: Self) -> u64;
    fn divide(op: DivOp, x: Self, y: Self) -> Option<u64>;
}

/// Matches over the operations with a given number of operands, for one type.
macro_rules! chosen {
    ($name:ident $row:ident $op:ident($first:ident, $others:expr) {$(
        $(#[$doc:meta])* $how:ident $class:ident $variant:ident $text:literal
        $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*) -> $out:ident, $precision:ident {$($meaning:tt)+}
    )+}) => {
        match $op {
            $($name::$variant => {
                let (mut others, $x) = ($others.into_iter(), widened!($row $first));
                $(let $y = widened!($row <operand_type!($($of)?)>::from_raw(others.next().unwrap_or(0)) $(, $of)?);)*
                Scalar::to_raw(narrowed!($row $out meaning!($row {$($meaning)+,})))
            })+
        }
    };
}

macro_rules! evaluate {
    ($rust:ident $row:ident unary {$($unary:tt)+} binary {$($binary:tt)+} ternary {$($ternary:tt)+}) => {
        #[allow(unused, reason = "operands of what does not apply to the type, and those that some operations have not")]
        fn unary(op: UnaryOp, x: Self) -> u64 {
            chosen!(UnaryOp $row op(x, [0; 0]) {$($unary)+})
        }
        #[allow(unused, reason = "operands of what does not apply to the type, and those that some operations have not")]
        fn binary(op: BinaryOp, x: Self, y: u64) -> u64 {
            chosen!(BinaryOp $row op(x, [y]) {$($binary)+})
        }
        #[allow(unused, reason = "operands of what does not apply to the type, and those that some operations have not")]
        fn ternary(op: TernaryOp, x: Self, y: u64, z: u64) -> u64 {
            chosen!(TernaryOp $row op(x, [y, z]) {$($ternary)+})
        }
    };
}

macro_rules! evaluate_atomics {
    ($row:ident $($(#[$doc:meta])* $class:ident $op:ident $method:ident $with:ident
        $host:ident($old:ident, $operand:ident) $law:ident {$($meaning:tt)+})+) => {
        #[allow(unused, reason = "operands of what does not apply to the type, and those that some operations have not")]
        fn atomic(op: AtomicOp, old: Self, operand: Self) -> u64 {
            match op {
                $(AtomicOp::$op => {
                    let ($old, $operand) = (old, operand);
                    Scalar::to_raw(meaning!($row {$($meaning)+,}))
                })+
            }
        }
    };
}

/// The quotient or the remainder of integers.
fn divided<T: Int>(op: DivOp, x: T, y: T) -> Option<u64> {
    match op {
        DivOp::Div => x.div(y),
        DivOp::Rem => x.rem(y),
    }
    .map(T::to_raw)
}

macro_rules! evaluate_all {
    ($($(#[$doc:meta])* $variant:ident $rust:ident $bits:literal $kind:ident $bits_type:ident $row:ident $($atomic:ident)?;)+) => {$(
        impl Evaluate for native::$variant {
            operations!(evaluate $rust $row);
            atomics!(evaluate_atomics $row);
            #[allow(unused, reason = "operands of what does not apply to the type, and those that some operations have not")]
            fn divide(op: DivOp, x: Self, y: Self) -> Option<u64> {
                meaning!($row {int: divided(op, x, y), any: None,})
            }
        }
    )+};
}
types!(evaluate_all);

/// An expression over the type in Rust that a [`Type`] stands for.
macro_rules! of_type {
    ($ty:ident $name:ident $value:block $($(#[$doc:meta])* $variant:ident $rust:ident $bits:literal $kind:ident
        $bits_type:ident $row:ident $($atomic:ident)?;)+) => {
        match $ty {
            $(Type::$variant => {
                type $name = native::$variant;
                $value
            })+
        }
    };
}

/// `op` on a value of type `ty`.
pub fn unary(op: UnaryOp, ty: Type, x: u64) -> u64 {
    types!(of_type ty T { T::unary(op, T::from_raw(x)) })
}

/// `op` on two values, the first one of type `ty`.
pub fn binary(op: BinaryOp, ty: Type, x: u64, y: u64) -> u64 {
    types!(of_type ty T { T::binary(op, T::from_raw(x), y) })
}

/// `op` on three values, the first one of type `ty`.
pub fn ternary(op: TernaryOp, ty: Type, x: u64, y: u64, z: u64) -> u64 {
    types!(of_type ty T { T::ternary(op, T::from_raw(x), y, z) })
}

/// What an atomic read-modify-write leaves in a place that held `old`.
pub fn atomic(op: AtomicOp, ty: Type, old: u64, operand: u64) -> u64 {
    types!(of_type ty T { T::atomic(op, T::from_raw(old), T::from_raw(operand)) })
}

/// Integer division or remainder; `None` for a divisor of zero.
pub fn divide(op: DivOp, ty: Type, x: u64, y: u64) -> Option<u64> {
    types!(of_type ty T { T::divide(op, T::from_raw(x), T::from_raw(y)) })
}

/// The value as Rust prints it with `{}`.
pub fn display(ty: Type, raw: u64) -> String {
    types!(of_type ty T { T::from_raw(raw).to_string() })
}

/// The value as Rust prints it with `{:?}`: a float has a point.
pub fn debug(ty: Type, raw: u64) -> String {
    types!(of_type ty T { format!("{:?}", T::from_raw(raw)) })
}

/// The raw bits of 1 in type `ty`.
pub fn one(ty: Type) -> u64 {
    cast(Type::Bool, ty, 1)
}

/// The value of `x`, of type `from`, in type `to`, as Rust's `as` converts.
pub fn cast(from: Type, to: Type, x: u64) -> u64 {
    fn source<S: Scalar>(to: Type, x: S) -> u64 {
        types!(of_type to T { T::cast_from(x).to_raw() })
    }
    types!(of_type from S { source(to, S::from_raw(x)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AtomicLaw;

    #[test]
    fn integers_wrap_and_shift_counts_are_masked() {
        assert_eq!(binary(BinaryOp::Add, Type::I8, i8::MAX.to_raw(), 1), i8::MIN.to_raw());
        assert_eq!(binary(BinaryOp::Shl, Type::U8, 1, 9), 2);
        assert_eq!(binary(BinaryOp::Shr, Type::I32, (-8i32).to_raw(), 33), (-4i32).to_raw());
        assert_eq!(unary(UnaryOp::Neg, Type::I32, i32::MIN.to_raw()), i32::MIN.to_raw());
    }

    #[test]
    fn division_by_zero_has_no_result() {
        assert_eq!(divide(DivOp::Div, Type::I32, 7, 0), None);
        assert_eq!(divide(DivOp::Div, Type::I32, i32::MIN.to_raw(), (-1i32).to_raw()), Some(i32::MIN.to_raw()));
        assert_eq!(divide(DivOp::Rem, Type::I16, i16::MIN.to_raw(), (-1i16).to_raw()), Some(0));
    }

    #[test]
    fn casts_saturate_from_float_and_wrap_between_integers() {
        assert_eq!(cast(Type::F32, Type::U8, 300.0f32.to_raw()), 255);
        assert_eq!(cast(Type::F64, Type::I32, f64::NAN.to_raw()), 0);
        assert_eq!(cast(Type::I32, Type::U16, (-1i32).to_raw()), 0xffff);
        assert_eq!(cast(Type::Bool, Type::F32, 1), 1.0f32.to_raw());
    }

    /// What the law of an atomic operation promises is what its row in the table computes.
    #[test]
    fn atomics_keep_their_law() {
        let values = [0, 1, 2, 3, 5, 0x7f, 0x80, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 63, u64::MAX];
        let types = [Type::I32, Type::U32, Type::I64, Type::U64];
        for (&op, ty) in AtomicOp::ALL.iter().flat_map(|op| types.map(|ty| (op, ty))) {
            let values = values.map(|value| cast(Type::U64, ty, value));
            for (old, one, other) in
                values.iter().flat_map(|&x| values.iter().flat_map(move |&y| values.map(|z| (x, y, z))))
            {
                let both = |first, second| atomic(op, ty, atomic(op, ty, old, first), second);
                match op.law() {
                    AtomicLaw::Replaces => assert_eq!(atomic(op, ty, old, one), one, "{op:?} {ty}"),
                    AtomicLaw::Combines(plain) => {
                        assert_eq!(atomic(op, ty, old, one), binary(plain, ty, old, one), "{op:?} {ty}");
                        assert_eq!(both(one, other), both(other, one), "{op:?} {ty} {old} {one} {other}");
                    }
                    AtomicLaw::CountsUp if old < one && !ty.is_signed() => {
                        assert_eq!(atomic(op, ty, old, one), old + 1, "{op:?} {ty}");
                    }
                    AtomicLaw::CountsDown if (1..=one).contains(&old) && !ty.is_signed() => {
                        assert_eq!(atomic(op, ty, old, one), old - 1, "{op:?} {ty}");
                    }
                    AtomicLaw::CountsUp | AtomicLaw::CountsDown => {}
                }
            }
        }
    }

    #[test]
    fn inc_and_dec_wrap_at_their_bound() {
        assert_eq!(atomic(AtomicOp::Inc, Type::U32, 3, 3), 0);
        assert_eq!(atomic(AtomicOp::Inc, Type::U32, 2, 3), 3);
        assert_eq!(atomic(AtomicOp::Dec, Type::U32, 0, 3), 3);
        assert_eq!(atomic(AtomicOp::Dec, Type::U32, 9, 3), 3);
    }
}
