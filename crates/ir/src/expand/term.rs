//! The terms that expansions are written in: [`Val`]s with Rust's own operators, and the two float formats as numbers.

use std::marker::PhantomData;
use std::ops;

use crate::builder::{Builder, Logic, Val};
use crate::{Element, Float, Int, Scalar, SlotId, Stmt};

/// A float format, as numbers.
pub(super) trait Real: Float {
    /// Bits of the significand, with the hidden one.
    const PRECISION: u32;
    /// The exponent of the greatest power of two; what is added to exponents in the bits.
    const BIAS: i32;
    /// Bits of the fraction as it is stored.
    const FRACTION: u32 = Self::PRECISION - 1;
    /// Bits of the exponent.
    const EXPONENT: u32 = Self::BIAS.ilog2() + 2;
    /// Bits of the whole format.
    const WIDTH: u32 = 1 + Self::EXPONENT + Self::FRACTION;
}

impl Real for f32 {
    const PRECISION: u32 = f32::MANTISSA_DIGITS;
    const BIAS: i32 = f32::MAX_EXP - 1;
}

impl Real for f64 {
    const PRECISION: u32 = f64::MANTISSA_DIGITS;
    const BIAS: i32 = f64::MAX_EXP - 1;
}

/// An expression of type `T`.
pub(super) struct Term<'b, T>(pub(super) Val<'b, T>);

impl<T> Clone for Term<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Term<'_, T> {}

/// What can stand on an operator's right: a term, or a constant.
pub(super) trait Operand<'b, T> {
    fn term(self, builder: &'b Builder) -> Term<'b, T>;
}

impl<'b, T> Operand<'b, T> for Term<'b, T> {
    fn term(self, _: &'b Builder) -> Term<'b, T> {
        self
    }
}

impl<'b, T: Float> Operand<'b, T> for f64 {
    fn term(self, builder: &'b Builder) -> Term<'b, T> {
        Term(builder.lit(T::cast_from(self)))
    }
}

/// An integer constant by its bits: those beyond the type are dropped.
impl<'b, T: Int> Operand<'b, T> for i64 {
    fn term(self, builder: &'b Builder) -> Term<'b, T> {
        Term(builder.lit(T::cast_from(self)))
    }
}

macro_rules! operators {
    ($($bound:ident: $operator:ident $name:ident $build:ident),+) => {$(
        impl<'b, T: $bound, R: Operand<'b, T>> ops::$operator<R> for Term<'b, T> {
            type Output = Term<'b, T>;
            fn $name(self, other: R) -> Term<'b, T> {
                let builder = self.0.builder;
                Term(builder.$build(self.0, other.term(builder).0))
            }
        }
    )+};
}
operators!(Element: Add add add, Element: Sub sub sub, Element: Mul mul mul, Float: Div div div);
operators!(Logic: BitAnd bitand bit_and, Logic: BitOr bitor bit_or, Logic: BitXor bitxor bit_xor);

impl<'b, T: Float> ops::Neg for Term<'b, T> {
    type Output = Term<'b, T>;
    fn neg(self) -> Term<'b, T> {
        Term(self.0.builder.neg(self.0))
    }
}

impl<'b, T: Logic> ops::Not for Term<'b, T> {
    type Output = Term<'b, T>;
    fn not(self) -> Term<'b, T> {
        Term(self.0.builder.not(self.0))
    }
}

macro_rules! comparisons {
    ($($name:ident),+) => {
        impl<'b, T: Element> Term<'b, T> {$(
            pub(super) fn $name(self, other: impl Operand<'b, T>) -> Term<'b, bool> {
                let builder = self.0.builder;
                Term(builder.$name(self.0, other.term(builder).0))
            }
        )+}
    };
}
comparisons!(eq, ne, lt, gt, ge);

impl<'b, T: Scalar> Term<'b, T> {
    /// A constant in the same expansion.
    pub(super) fn constant<U: Scalar>(self, value: impl Operand<'b, U>) -> Term<'b, U> {
        value.term(self.0.builder)
    }

    pub(super) fn cast<U: Scalar>(self) -> Term<'b, U> {
        Term(self.0.cast())
    }
}

/// A variable of an expansion: what it holds is set by statements that are done before the expansion's value is used.
pub(super) struct Variable<'b, T> {
    slot: SlotId,
    builder: &'b Builder,
    ty: PhantomData<fn() -> T>,
}

impl<'b, T: Scalar> Variable<'b, T> {
    /// A variable in the same expansion as `other`.
    pub(super) fn new<U>(other: Term<'b, U>) -> Variable<'b, T> {
        let builder = other.0.builder;
        Variable { slot: builder.temporary::<T>(), builder, ty: PhantomData }
    }

    pub(super) fn set(&self, value: Term<'b, T>) {
        self.builder.push(Stmt::Assign { slot: self.slot, value: value.0.id });
    }

    pub(super) fn get(&self) -> Term<'b, T> {
        Term(self.builder.read_slot(self.slot))
    }
}

impl<'b> Term<'b, bool> {
    /// Does one of two things, by statements.
    pub(super) fn branch(self, then: impl FnOnce(), otherwise: impl FnOnce()) {
        let builder = self.0.builder;
        builder.if_begin(self.0);
        then();
        builder.if_else();
        otherwise();
        builder.if_end();
    }

    /// `x` where the condition holds, else `y`.
    pub(super) fn select<T: Scalar>(self, x: impl Operand<'b, T>, y: impl Operand<'b, T>) -> Term<'b, T> {
        let builder = self.0.builder;
        Term(Val::select(self.0, x.term(builder).0, y.term(builder).0))
    }

    /// Whether both conditions hold, or neither.
    pub(super) fn same(self, other: Term<'b, bool>) -> Term<'b, bool> {
        Term(self.0.builder.eq(self.0, other.0))
    }
}

impl<'b, T: Int> Term<'b, T> {
    pub(super) fn shl(self, count: u32) -> Term<'b, T> {
        let builder = self.0.builder;
        Term(builder.shl(self.0, builder.lit(count)))
    }

    pub(super) fn shr(self, count: u32) -> Term<'b, T> {
        let builder = self.0.builder;
        Term(builder.shr(self.0, builder.lit(count)))
    }

    pub(super) fn shl_by(self, count: Term<'b, u32>) -> Term<'b, T> {
        Term(self.0.builder.shl(self.0, count.0))
    }

    pub(super) fn shr_by(self, count: Term<'b, u32>) -> Term<'b, T> {
        Term(self.0.builder.shr(self.0, count.0))
    }
}

impl<'b> Term<'b, i32> {
    pub(super) fn clamp(self, low: i32, high: i32) -> Term<'b, i32> {
        let builder = self.0.builder;
        Term(self.0.clamp(builder.lit(low), builder.lit(high)))
    }

    /// 2 to this power, which is a normal number's exponent.
    pub(super) fn exp2<T: Real>(self) -> Term<'b, T> {
        Term::from_bits((self + i64::from(T::BIAS)).cast::<T::Bits>().shl(T::FRACTION))
    }
}

impl<'b, T: Real> Term<'b, T> {
    pub(super) fn abs(self) -> Term<'b, T> {
        Term(self.0.abs())
    }

    pub(super) fn floor(self) -> Term<'b, T> {
        Term(self.0.floor())
    }

    pub(super) fn sqrt(self) -> Term<'b, T> {
        Term(self.0.sqrt())
    }

    pub(super) fn fma(self, factor: Term<'b, T>, addend: Term<'b, T>) -> Term<'b, T> {
        Term(self.0.fma(factor.0, addend.0))
    }

    pub(super) fn bits(self) -> Term<'b, T::Bits> {
        Term(self.0.to_bits())
    }

    pub(super) fn from_bits(bits: Term<'b, T::Bits>) -> Term<'b, T> {
        Term(bits.0.builder.from_bits(bits.0))
    }

    /// The sign bit, in its place.
    pub(super) fn sign(self) -> Term<'b, T::Bits> {
        self.bits() & (1 << (T::EXPONENT + T::FRACTION))
    }

    /// The number with its sign turned where `sign` has its bit: a negation that a zero keeps too.
    pub(super) fn turned(self, sign: Term<'b, T::Bits>) -> Term<'b, T> {
        Term::from_bits(self.bits() ^ sign)
    }

    /// Whether it is neither infinite nor NaN. By the bits: targets may assume in float comparisons that they are not.
    pub(super) fn is_finite(self) -> Term<'b, bool> {
        (self.bits() & infinity_bits::<T>()).ne(infinity_bits::<T>())
    }

    /// Whether it is neither zero, nor infinite, nor NaN; by the bits too.
    pub(super) fn is_regular(self) -> Term<'b, bool> {
        // The sign is shifted out, and zero wraps to above infinity.
        (self.bits().shl(1) - 1).lt((infinity_bits::<T>() << 1) - 1)
    }

    pub(super) fn is_nan(self) -> Term<'b, bool> {
        (self.bits() & (infinity_bits::<T>() | fraction_mask::<T>())).gt(infinity_bits::<T>())
    }

    /// This number by 2 to the power of `exponent`, which is at most twice a normal number's. It goes in two steps, so
    /// that a normal result comes from a normal intermediate one.
    pub(super) fn scale(self, exponent: Term<'b, i32>) -> Term<'b, T> {
        let half = exponent.shr(1);
        self * half.exp2() * (exponent - half).exp2()
    }

    /// The polynomial in this number with these coefficients, the constant one first.
    pub(super) fn polynomial(self, coefficients: &[f64]) -> Term<'b, T> {
        let (last, rest) = coefficients.split_last().unwrap_or((&0.0, &[]));
        rest.iter().rev().fold(self.constant(*last), |sum, &coefficient| sum * self + coefficient)
    }
}

/// The bits of infinity, which are also the mask of the exponent.
pub(super) fn infinity_bits<T: Real>() -> i64 {
    i64::from(2 * T::BIAS + 1) << T::FRACTION
}

/// The mask of the fraction.
pub(super) fn fraction_mask<T: Real>() -> i64 {
    (1 << T::FRACTION) - 1
}

/// The coefficients of a power series, up to the first whose term at `bound` is below 2^-(precision + 6): in all the
/// series here each term is less than a quarter of the one before, so that what is left out is below a hundredth of an
/// ulp of a result near 1.
pub(super) fn coefficients<T: Real>(bound: f64, coefficient: impl Fn(u32) -> f64) -> Vec<f64> {
    let negligible = 2f64.powi(-(T::PRECISION as i32) - 6);
    let mut all = Vec::new();
    for k in 0.. {
        let next = coefficient(k);
        all.push(next);
        if next.abs() * bound.powi(k as i32) < negligible {
            break;
        }
    }
    all
}

/// 1 / n!, correctly rounded for the few n that are needed (n! is exact up to 22).
pub(super) fn inverse_factorial(n: u32) -> f64 {
    1.0 / (1..=n).map(f64::from).product::<f64>()
}
