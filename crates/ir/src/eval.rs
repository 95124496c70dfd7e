//! The operators on values held as raw words, for interpreters and for folding constants.
//!
//! A raw word holds a value's bits in its low end and zeros above ([`Scalar::to_raw`]). Each function takes the type
//! that the verifier has checked; for a type that the operator does not apply to, the result is 0.

use crate::{AtomicOp, BinaryOp, DivOp, Float, Int, Scalar, Signed, Type, UnaryOp};

macro_rules! for_int {
    ($ty:expr, $f:ident($($arg:expr),*), $($rest:tt)*) => {
        match $ty {
            Type::U8 => $f::<u8>($($arg),*),
            Type::I8 => $f::<i8>($($arg),*),
            Type::U16 => $f::<u16>($($arg),*),
            Type::I16 => $f::<i16>($($arg),*),
            Type::U32 => $f::<u32>($($arg),*),
            Type::I32 => $f::<i32>($($arg),*),
            Type::U64 => $f::<u64>($($arg),*),
            Type::I64 => $f::<i64>($($arg),*),
            $($rest)*
        }
    };
}

macro_rules! for_scalar {
    ($ty:expr, $f:ident($($arg:expr),*)) => {
        for_int!($ty, $f($($arg),*),
            Type::F32 => $f::<f32>($($arg),*),
            Type::F64 => $f::<f64>($($arg),*),
            Type::Bool => $f::<bool>($($arg),*),
        )
    };
}

/// `op` on a value of type `ty`.
pub fn unary(op: UnaryOp, ty: Type, x: u64) -> u64 {
    match ty {
        Type::Bool => (op == UnaryOp::Not && x & 1 == 0) as u64,
        Type::F32 => unary_float::<f32>(op, x),
        Type::F64 => unary_float::<f64>(op, x),
        Type::I8 => unary_signed::<i8>(op, x),
        Type::I16 => unary_signed::<i16>(op, x),
        Type::I32 => unary_signed::<i32>(op, x),
        Type::I64 => unary_signed::<i64>(op, x),
        Type::U8 => unary_int::<u8>(op, x),
        Type::U16 => unary_int::<u16>(op, x),
        Type::U32 => unary_int::<u32>(op, x),
        Type::U64 => unary_int::<u64>(op, x),
    }
}

/// `op` on two values of type `ty` (the second one is `u32` for shifts).
pub fn binary(op: BinaryOp, ty: Type, x: u64, y: u64) -> u64 {
    for_int!(ty, binary_int(op, x, y),
        Type::F32 => binary_float::<f32>(op, x, y),
        Type::F64 => binary_float::<f64>(op, x, y),
        Type::Bool => binary_bool(op, x & 1 != 0, y & 1 != 0) as u64,
    )
}

/// Integer division or remainder; `None` for a divisor of zero.
pub fn divide(op: DivOp, ty: Type, x: u64, y: u64) -> Option<u64> {
    fn divide<T: Int>(op: DivOp, x: u64, y: u64) -> Option<u64> {
        let (x, y) = (T::from_raw(x), T::from_raw(y));
        match op {
            DivOp::Div => x.div(y),
            DivOp::Rem => x.rem(y),
        }
        .map(T::to_raw)
    }
    for_int!(ty, divide(op, x, y),
        Type::F32 | Type::F64 | Type::Bool => None,
    )
}

/// `x * y + z` rounded once.
pub fn fma(ty: Type, x: u64, y: u64, z: u64) -> u64 {
    fn fma<T: Float>(x: u64, y: u64, z: u64) -> u64 {
        T::from_raw(x).fma(T::from_raw(y), T::from_raw(z)).to_raw()
    }
    match ty {
        Type::F32 => fma::<f32>(x, y, z),
        Type::F64 => fma::<f64>(x, y, z),
        _ => 0,
    }
}

/// The value of `x`, of type `from`, in type `to`, as Rust's `as` converts.
pub fn cast(from: Type, to: Type, x: u64) -> u64 {
    fn source<S: Scalar>(to: Type, x: u64) -> u64 {
        fn target<T: Scalar, S: Scalar>(x: S) -> u64 {
            T::cast_from(x).to_raw()
        }
        let x = S::from_raw(x);
        match to {
            Type::Bool => target::<bool, S>(x),
            Type::U8 => target::<u8, S>(x),
            Type::I8 => target::<i8, S>(x),
            Type::U16 => target::<u16, S>(x),
            Type::I16 => target::<i16, S>(x),
            Type::U32 => target::<u32, S>(x),
            Type::I32 => target::<i32, S>(x),
            Type::U64 => target::<u64, S>(x),
            Type::I64 => target::<i64, S>(x),
            Type::F32 => target::<f32, S>(x),
            Type::F64 => target::<f64, S>(x),
        }
    }
    for_scalar!(from, source(to, x))
}

/// What an atomic read-modify-write leaves in a place that held `old`.
pub fn atomic(op: AtomicOp, ty: Type, old: u64, operand: u64) -> u64 {
    let binary = |op| binary(op, ty, old, operand);
    match op {
        AtomicOp::Exchange => operand,
        AtomicOp::Add => binary(BinaryOp::Add),
        AtomicOp::Sub => binary(BinaryOp::Sub),
        AtomicOp::Min => binary(BinaryOp::Min),
        AtomicOp::Max => binary(BinaryOp::Max),
        AtomicOp::And => binary(BinaryOp::And),
        AtomicOp::Or => binary(BinaryOp::Or),
        AtomicOp::Xor => binary(BinaryOp::Xor),
        AtomicOp::Inc => for_int!(ty, inc(old, operand), _ => 0),
        AtomicOp::Dec => for_int!(ty, dec(old, operand), _ => 0),
    }
}

fn inc<T: Int>(old: u64, bound: u64) -> u64 {
    wrapping_inc(T::from_raw(old), T::from_raw(bound)).to_raw()
}

fn dec<T: Int>(old: u64, bound: u64) -> u64 {
    wrapping_dec(T::from_raw(old), T::from_raw(bound)).to_raw()
}

/// `old + 1`, or 0 once `old` has reached `bound` (CUDA's `atomicInc`).
pub fn wrapping_inc<T: Int>(old: T, bound: T) -> T {
    if old >= bound { T::ZERO } else { old.add(T::ONE) }
}

/// `old - 1`, or `bound` where `old` is 0 or beyond `bound` (CUDA's `atomicDec`).
pub fn wrapping_dec<T: Int>(old: T, bound: T) -> T {
    if old == T::ZERO || old > bound { bound } else { old.sub(T::ONE) }
}

fn unary_int<T: Int>(op: UnaryOp, x: u64) -> u64 {
    let x = T::from_raw(x);
    match op {
        UnaryOp::Not => x.not().to_raw(),
        UnaryOp::CountOnes => x.count_ones() as u64,
        UnaryOp::LeadingZeros => x.leading_zeros() as u64,
        UnaryOp::TrailingZeros => x.trailing_zeros() as u64,
        _ => 0,
    }
}

fn unary_signed<T: Int + Signed>(op: UnaryOp, x: u64) -> u64 {
    match op {
        UnaryOp::Neg => T::from_raw(x).neg().to_raw(),
        UnaryOp::Abs => T::from_raw(x).abs().to_raw(),
        _ => unary_int::<T>(op, x),
    }
}

fn unary_float<T: Float>(op: UnaryOp, x: u64) -> u64 {
    let x = T::from_raw(x);
    match op {
        UnaryOp::Neg => x.neg(),
        UnaryOp::Abs => x.abs(),
        UnaryOp::Sqrt => x.sqrt(),
        UnaryOp::Rsqrt => x.rsqrt(),
        UnaryOp::Exp => x.exp(),
        UnaryOp::Ln => x.ln(),
        UnaryOp::Sin => x.sin(),
        UnaryOp::Cos => x.cos(),
        UnaryOp::Tanh => x.tanh(),
        UnaryOp::Floor => x.floor(),
        UnaryOp::Ceil => x.ceil(),
        UnaryOp::Round => x.round(),
        UnaryOp::IsNan => return x.is_nan() as u64,
        UnaryOp::Not | UnaryOp::CountOnes | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros => return 0,
    }
    .to_raw()
}

fn compare<T: PartialOrd>(op: BinaryOp, x: T, y: T) -> Option<bool> {
    Some(match op {
        BinaryOp::Eq => x == y,
        BinaryOp::Ne => x != y,
        BinaryOp::Lt => x < y,
        BinaryOp::Le => x <= y,
        BinaryOp::Gt => x > y,
        BinaryOp::Ge => x >= y,
        _ => return None,
    })
}

fn binary_int<T: Int>(op: BinaryOp, x: u64, y: u64) -> u64 {
    let (count, x, y) = (y as u32, T::from_raw(x), T::from_raw(y));
    if let Some(truth) = compare(op, x, y) {
        return truth as u64;
    }
    match op {
        BinaryOp::Add => x.add(y),
        BinaryOp::Sub => x.sub(y),
        BinaryOp::Mul => x.mul(y),
        BinaryOp::Min => x.min(y),
        BinaryOp::Max => x.max(y),
        BinaryOp::And => x.and(y),
        BinaryOp::Or => x.or(y),
        BinaryOp::Xor => x.xor(y),
        BinaryOp::Shl => x.shl(count),
        BinaryOp::Shr => x.shr(count),
        _ => T::ZERO,
    }
    .to_raw()
}

fn binary_float<T: Float>(op: BinaryOp, x: u64, y: u64) -> u64 {
    let (x, y) = (T::from_raw(x), T::from_raw(y));
    if let Some(truth) = compare(op, x, y) {
        return truth as u64;
    }
    match op {
        BinaryOp::Add => x.add(y),
        BinaryOp::Sub => x.sub(y),
        BinaryOp::Mul => x.mul(y),
        BinaryOp::Div => x.div(y).unwrap_or_default(),
        BinaryOp::Min => x.min(y),
        BinaryOp::Max => x.max(y),
        BinaryOp::Pow => x.pow(y),
        _ => T::ZERO,
    }
    .to_raw()
}

fn binary_bool(op: BinaryOp, x: bool, y: bool) -> bool {
    match op {
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor | BinaryOp::Ne => x != y,
        BinaryOp::Eq => x == y,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn inc_and_dec_wrap_at_their_bound() {
        assert_eq!(atomic(AtomicOp::Inc, Type::U32, 3, 3), 0);
        assert_eq!(atomic(AtomicOp::Inc, Type::U32, 2, 3), 3);
        assert_eq!(atomic(AtomicOp::Dec, Type::U32, 0, 3), 3);
        assert_eq!(atomic(AtomicOp::Dec, Type::U32, 9, 3), 3);
    }
}
