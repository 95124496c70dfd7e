//! The terms that expansions are written in: [`Val`]s with Rust's own operators, which are a float and its bits to
//! `wattle-math`.
//!
//! The quotient and the root that a target lacks are expansions too (`div.rs`), so that file and this one call each
//! other.

use std::marker::PhantomData;
use std::ops;

use wattle_math::{DoubleWord, Flag, Real, Reduced, Word};

use super::div::{moderate_quotient, quotient, root};
use super::{Exact, Format};
use crate::builder::{Builder, Logic, Val};
use crate::{Number, Scalar, SlotId, Stmt};

/// What an expansion is built in, and for.
pub(super) struct Construction {
    pub(super) builder: Builder,
    pub(super) exact: Exact,
}

/// An expression of type `T`.
pub(super) struct Term<'b, T> {
    pub(super) val: Val<'b, T>,
    pub(super) target: &'b Construction,
}

impl<T> Clone for Term<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Term<'_, T> {}

impl<'b, T: Scalar> Term<'b, T> {
    /// A term for another expression in the same expansion.
    fn with<U>(self, val: Val<'b, U>) -> Term<'b, U> {
        Term { val, target: self.target }
    }

    fn constant<U: Scalar>(self, value: U) -> Term<'b, U> {
        self.with(self.target.builder.lit(value))
    }
}

macro_rules! operators {
    ($($bound:ident: $operator:ident $name:ident $build:ident),+) => {$(
        impl<'b, T: $bound> ops::$operator for Term<'b, T> {
            type Output = Term<'b, T>;
            fn $name(self, other: Self) -> Self {
                self.with(self.target.builder.$build(self.val, other.val))
            }
        }
    )+};
}
operators!(Number: Add add add, Number: Sub sub sub, Number: Mul mul mul);
operators!(Logic: BitAnd bitand bit_and, Logic: BitOr bitor bit_or, Logic: BitXor bitxor bit_xor);

impl<'b, T: Format> ops::Div for Term<'b, T> {
    type Output = Term<'b, T>;
    fn div(self, divisor: Self) -> Self {
        if self.target.exact.div { self.rough_quotient(divisor) } else { quotient(self, divisor) }
    }
}

impl<'b, T: Format> ops::Neg for Term<'b, T> {
    type Output = Term<'b, T>;
    fn neg(self) -> Self {
        self.with(self.target.builder.neg(self.val))
    }
}

impl<'b, T: Logic> ops::Not for Term<'b, T> {
    type Output = Term<'b, T>;
    fn not(self) -> Self {
        self.with(self.target.builder.not(self.val))
    }
}

impl Flag for Term<'_, bool> {}

/// What bits and floats have in common.
macro_rules! comparisons {
    ($b:lifetime) => {
        fn lt(self, other: Self) -> Term<$b, bool> {
            self.with(self.target.builder.lt(self.val, other.val))
        }
        fn eq(self, other: Self) -> Term<$b, bool> {
            self.with(self.target.builder.eq(self.val, other.val))
        }
        fn select(condition: Term<$b, bool>, x: Self, y: Self) -> Self {
            condition.with(Val::select(condition.val, x.val, y.val))
        }
    };
}

impl<'b, T: crate::Word> Word for Term<'b, T> {
    type Flag = Term<'b, bool>;

    fn word(self, value: u64) -> Self {
        self.constant(T::from_raw(value))
    }
    fn shl(self, count: u32) -> Self {
        let builder = &self.target.builder;
        self.with(builder.shl(self.val, builder.lit(count)))
    }
    fn shr(self, count: u32) -> Self {
        let builder = &self.target.builder;
        self.with(builder.shr(self.val, builder.lit(count)))
    }
    fn shl_by(self, count: Self) -> Self {
        self.with(self.target.builder.shl(self.val, count.val))
    }
    fn shr_by(self, count: Self) -> Self {
        self.with(self.target.builder.shr(self.val, count.val))
    }
    fn mul_hi(self, other: Self) -> Self {
        self.with(self.val.mul_hi(other.val))
    }
    comparisons!('b);
}

impl<'b, T: Format> Term<'b, T> {
    /// The target's own quotient, which may be only near to the true one.
    pub(super) fn rough_quotient(self, divisor: Self) -> Self {
        self.with(self.target.builder.div(self.val, divisor.val))
    }

    /// The target's own root, which may be only near to the true one.
    pub(super) fn rough_root(self) -> Self {
        self.with(self.val.sqrt())
    }

    fn fma(self, factor: Self, addend: Self) -> Self {
        self.with(self.val.fma(factor.val, addend.val))
    }

    /// `self * factor + addend`, rounded once where the target has that, else twice.
    pub(super) fn step(self, factor: Self, addend: Self) -> Self {
        if self.target.exact.fma { self.fma(factor, addend) } else { self * factor + addend }
    }

    /// `self - x * y`, rounded once, where the product is within a factor of 2 of it, while nothing over- or
    /// underflows.
    pub(super) fn residual(self, x: Self, y: Self) -> Self {
        if self.target.exact.fma {
            return x.fma(-y, self);
        }
        let product = x.product(y);
        (self - product.hi) - product.lo
    }
}

impl<'b, T: Format> Real for Term<'b, T> {
    type Bits = Term<'b, T::Bits>;
    type Flag = Term<'b, bool>;
    type Integer = Term<'b, i32>;

    const PRECISION: u32 = T::PRECISION;
    const BIAS: u32 = T::BIAS;

    fn real(self, value: f64) -> Self {
        self.constant(T::cast_from(value))
    }
    fn bits(self) -> Term<'b, T::Bits> {
        self.with(self.val.to_bits())
    }
    fn from_bits(bits: Term<'b, T::Bits>) -> Self {
        bits.with(bits.target.builder.from_bits(bits.val))
    }
    fn integer(integer: Term<'b, i32>) -> Term<'b, T::Bits> {
        integer.with(integer.val.cast())
    }
    fn sqrt(self) -> Self {
        if self.target.exact.sqrt { self.rough_root() } else { root(self) }
    }
    comparisons!('b);

    fn product(self, other: Self) -> DoubleWord<Self> {
        if !self.target.exact.fma {
            return wattle_math::dekker_product(self, other);
        }
        let hi = self * other;
        DoubleWord { hi, lo: self.fma(other, -hi) }
    }

    fn near_quotient(self, divisor: Self) -> Self {
        moderate_quotient(self, divisor)
    }
    fn rough_quotient(self, divisor: Self) -> Self {
        Term::rough_quotient(self, divisor)
    }
    fn rough_root(self) -> Self {
        Term::rough_root(self)
    }

    fn rarely(
        condition: Term<'b, bool>,
        then: impl FnOnce() -> Reduced<Self>,
        otherwise: impl FnOnce() -> Reduced<Self>,
    ) -> Reduced<Self> {
        let (n, r, c) = (Variable::new(condition), Variable::new(condition), Variable::new(condition));
        let set = |reduced: Reduced<Self>| {
            n.set(reduced.n);
            r.set(reduced.r);
            c.set(reduced.c);
        };
        let builder = &condition.target.builder;
        builder.if_begin(condition.val);
        set(then());
        builder.if_else();
        set(otherwise());
        builder.if_end();
        Reduced { n: n.get(), r: r.get(), c: c.get() }
    }
}

/// A variable of an expansion: what it holds is set by statements that are done before the expansion's value is used.
struct Variable<'b, T> {
    slot: SlotId,
    target: &'b Construction,
    ty: PhantomData<fn() -> T>,
}

impl<'b, T: Scalar> Variable<'b, T> {
    /// A variable in the same expansion as `other`.
    fn new<U>(other: Term<'b, U>) -> Variable<'b, T> {
        Variable { slot: other.target.builder.temporary::<T>(), target: other.target, ty: PhantomData }
    }

    fn set(&self, value: Term<'b, T>) {
        self.target.builder.push(Stmt::Assign { slot: self.slot, value: value.val.id });
    }

    fn get(&self) -> Term<'b, T> {
        Term { val: self.target.builder.read_slot(self.slot), target: self.target }
    }
}
