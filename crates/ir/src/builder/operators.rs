//! Arithmetic, comparisons and functions of values that are built.

use wattle_operations::operations;

use super::Builder;
use super::value::Val;
use crate::arithmetic::BuiltArithmetic;
use crate::bits::BuiltBits;
use crate::comparison::BuiltComparable;
use crate::{
    BinaryOp, Const, DivOp, Expr, Float, Int, Number, Scalar, Signed, Site, Stmt, TernaryOp, Type, UnaryOp, Word, eval,
};

/// Whether the operation compares numbers of one type.
fn is_comparison(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge)
}

/// Whether the result on two numbers of 64 bits that 32 hold is that on 32 bits.
fn is_closed(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Min | BinaryOp::Max | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor)
}

impl<'b, T: Scalar> Val<'b, T> {
    pub(crate) fn unary<U: Scalar>(self, op: UnaryOp) -> Val<'b, U> {
        match self.builder.constant(self.id) {
            Some(x) => self.builder.lit(U::from_raw(eval::unary(op, x.ty, x.raw))),
            None => self.builder.val(Expr::Unary(op, self.id)),
        }
    }

    pub(crate) fn binary<U: Scalar, V: Scalar>(self, op: BinaryOp, other: Val<'b, V>) -> Val<'b, U> {
        let builder = self.builder;
        let (x, y) = (builder.constant(self.id), builder.constant(other.id));
        if let (Some(x), Some(y)) = (x, y) {
            return builder.lit(U::from_raw(eval::binary(op, x.ty, x.raw, y.raw)));
        }
        if let (Some(x), Some(y)) = (builder.as_word(self.id), builder.as_word(other.id)) {
            let [x, y] = [x, y].map(|word| Val::<u32>::new(builder, word));
            if is_comparison(op) {
                return x.binary(op, y);
            }
            if is_closed(op) {
                return Val::new(builder, x.binary::<u32, u32>(op, y).cast::<u64>().id);
            }
        }
        // Operations with a neutral element, of which index arithmetic is full, are left out.
        let neutral = |constant: Option<Const>, element: u64| {
            T::TYPE.is_int() && constant.is_some_and(|constant| constant.raw == element)
        };
        match op {
            BinaryOp::Add | BinaryOp::Or if neutral(y, 0) => return Val::new(builder, self.id),
            BinaryOp::Add | BinaryOp::Or if neutral(x, 0) => return Val::new(builder, other.id),
            BinaryOp::Sub if neutral(y, 0) => return Val::new(builder, self.id),
            BinaryOp::Mul if neutral(y, 1) => return Val::new(builder, self.id),
            BinaryOp::Mul if neutral(x, 1) => return Val::new(builder, other.id),
            _ => {}
        }
        builder.val(Expr::Binary(op, self.id, other.id))
    }

    fn ternary<U: Scalar>(self, op: TernaryOp, second: Self, third: Self) -> Val<'b, U> {
        let builder = self.builder;
        let constant = |value: Self| builder.constant(value.id).map(|constant| constant.raw);
        match (constant(self), constant(second), constant(third)) {
            (Some(x), Some(y), Some(z)) => builder.lit(U::from_raw(eval::ternary(op, T::TYPE, x, y, z))),
            _ => builder.val(Expr::Ternary(op, self.id, second.id, third.id)),
        }
    }

    /// Conversion, as Rust's `as` does it.
    pub fn cast<U: Scalar>(self) -> Val<'b, U> {
        if T::TYPE == U::TYPE {
            return Val::new(self.builder, self.id);
        }
        if let Some(word) = self.builder.as_word(self.id)
            && self.builder.constant(self.id).is_none()
        {
            return Val::<u32>::new(self.builder, word).cast();
        }
        match self.builder.constant(self.id) {
            Some(x) => self.builder.lit(U::from_raw(eval::cast(x.ty, U::TYPE, x.raw))),
            None => self.builder.val(Expr::Cast(U::TYPE, self.id)),
        }
    }

    fn reinterpret<U: Scalar>(self) -> Val<'b, U> {
        match self.builder.constant(self.id) {
            Some(x) => self.builder.lit(U::from_raw(x.raw)),
            None => self.builder.val(Expr::Bits(U::TYPE, self.id)),
        }
    }

    /// `self` where `condition` holds, else `other`; both are evaluated.
    pub(crate) fn select(condition: Val<'b, bool>, x: Self, y: Self) -> Self {
        match x.builder.constant(condition.id) {
            Some(constant) if constant.raw != 0 => x,
            Some(_) => y,
            None => x.builder.val(Expr::Select(condition.id, x.id, y.id)),
        }
    }
}

/// The operators, called by name: the kernel macro writes `a + b` as `builder.add(a, b)`.
macro_rules! operators {
    ($($bound:ident: $($name:ident $op:ident -> $out:ty),+;)+) => {
        impl Builder {$($(
            #[doc = concat!("`", stringify!($op), "`, see [`BinaryOp`].")]
            pub fn $name<'b, T: $bound>(&'b self, x: Val<'b, T>, y: Val<'b, T>) -> Val<'b, $out> {
                x.binary(BinaryOp::$op, y)
            }
        )+)+}
    };
}
operators! {
    Number: lt Lt -> bool, le Le -> bool, gt Gt -> bool, ge Ge -> bool;
}

impl Builder {
    /// `==`, of parts too: see [`crate::Comparable`].
    #[track_caller]
    pub fn eq<'b, V: BuiltComparable<'b>>(&'b self, x: V, y: V) -> Val<'b, bool> {
        x.equals(self, y)
    }

    /// `!=`, of parts too.
    #[track_caller]
    pub fn ne<'b, V: BuiltComparable<'b>>(&'b self, x: V, y: V) -> Val<'b, bool> {
        x.differs(self, y)
    }

    /// `&`, of masks too: see [`crate::Bits`].
    pub fn bit_and<'b, V: BuiltBits<'b>>(&'b self, x: V, y: V) -> V {
        x.zip_bits(self, BinaryOp::And, y)
    }

    /// `|`, of masks too.
    pub fn bit_or<'b, V: BuiltBits<'b>>(&'b self, x: V, y: V) -> V {
        x.zip_bits(self, BinaryOp::Or, y)
    }

    /// `^`, of masks too.
    pub fn bit_xor<'b, V: BuiltBits<'b>>(&'b self, x: V, y: V) -> V {
        x.zip_bits(self, BinaryOp::Xor, y)
    }
}

/// The operators that apply to arrays too, element by element.
macro_rules! arithmetic {
    ($($name:ident $op:ident),+) => {
        impl Builder {$(
            #[doc = concat!("`", stringify!($op), "`, see [`BinaryOp`].")]
            #[track_caller]
            pub fn $name<'b, V: BuiltArithmetic<'b>>(&'b self, x: V, y: V) -> V {
                x.zip(self, y, |x, y| x.binary(BinaryOp::$op, y))
            }
        )+}
    };
}
arithmetic!(add Add, sub Sub, mul Mul);

impl<'b, T: Number> Val<'b, T> {
    /// `self * y + z`, of floats rounded once.
    fn fused(self, y: Self, z: Self) -> Self {
        if T::TYPE.is_float() {
            return self.ternary(TernaryOp::Fma, y, z);
        }
        self.builder.add(self.builder.mul(self, y), z)
    }

    fn negated(self) -> Self {
        if T::TYPE.is_float() { self.unary(UnaryOp::Neg) } else { self.builder.sub(self.builder.lit(T::ZERO), self) }
    }
}

/// Products and sums that a kernel permits to contract, in the order in which their operands are written.
impl Builder {
    /// `x * y + z`.
    pub fn mul_add<'b, V: BuiltArithmetic<'b>>(&'b self, x: V, y: V, z: V) -> V {
        x.zip3(self, y, z, |x, y, z| x.fused(y, z))
    }

    /// `z + x * y`.
    pub fn add_mul<'b, V: BuiltArithmetic<'b>>(&'b self, z: V, x: V, y: V) -> V {
        self.mul_add(x, y, z)
    }

    /// `x * y - z`.
    pub fn mul_sub<'b, V: BuiltArithmetic<'b>>(&'b self, x: V, y: V, z: V) -> V {
        x.zip3(self, y, z, |x, y, z| x.fused(y, z.negated()))
    }

    /// `z - x * y`.
    pub fn sub_mul<'b, V: BuiltArithmetic<'b>>(&'b self, z: V, x: V, y: V) -> V {
        x.zip3(self, y, z, |x, y, z| x.negated().fused(y, z))
    }
}

/// The numbers and truth values that `& | ^ !` apply to: the integers and `bool`.
#[diagnostic::on_unimplemented(message = "`& | ^ !` apply to integers and bool, not to `{Self}`")]
pub trait Logic: Scalar {}
impl<T: Int> Logic for T {}
impl Logic for bool {}

impl Builder {
    /// Division: of floats an expression, of integers a statement, since it can fault.
    #[track_caller]
    pub fn div<'b, V: BuiltArithmetic<'b>>(&'b self, x: V, y: V) -> V {
        let site = Site::caller();
        x.zip(self, y, |x, y| self.div_at(x, y, site))
    }

    /// The remainder: of floats an expression, of integers a statement.
    #[track_caller]
    pub fn rem<'b, V: BuiltArithmetic<'b>>(&'b self, x: V, y: V) -> V {
        let site = Site::caller();
        x.zip(self, y, |x, y| self.rem_at(x, y, site))
    }

    /// The quotient of two numbers, which is computed at `site`.
    pub fn div_at<'b, T: Number>(&'b self, x: Val<'b, T>, y: Val<'b, T>, site: Site) -> Val<'b, T> {
        match T::TYPE.is_float() {
            true => x.binary(BinaryOp::Div, y),
            false => self.divide(DivOp::Div, x, y, site),
        }
    }

    /// The remainder of two numbers, which is computed at `site`.
    pub fn rem_at<'b, T: Number>(&'b self, x: Val<'b, T>, y: Val<'b, T>, site: Site) -> Val<'b, T> {
        match T::TYPE.is_float() {
            true => x.binary(BinaryOp::Fmod, y),
            false => self.divide(DivOp::Rem, x, y, site),
        }
    }

    pub(super) fn divide<'b, T: Number>(&'b self, op: DivOp, x: Val<'b, T>, y: Val<'b, T>, site: Site) -> Val<'b, T> {
        if let (Some(x), Some(y)) = (self.constant(x.id), self.constant(y.id))
            && let Some(raw) = eval::divide(op, T::TYPE, x.raw, y.raw)
        {
            return self.lit(T::from_raw(raw));
        }
        if let (Some(left), Some(right)) = (self.as_word(x.id), self.as_word(y.id)) {
            let result = self.divide::<u32>(op, Val::new(self, left), Val::new(self, right), site);
            return Val::new(self, result.cast::<u64>().id);
        }
        let dst = self.temporary::<T>();
        self.push(Stmt::Divide { dst, op, left: x.id, right: y.id, site });
        self.read_slot(dst)
    }

    /// Shift left by a count of any integer type, taken modulo the width.
    pub fn shl<'b, T: Int, C: Int>(&'b self, x: Val<'b, T>, count: Val<'b, C>) -> Val<'b, T> {
        x.binary(BinaryOp::Shl, count.cast::<u32>())
    }

    /// Shift right by a count of any integer type, taken modulo the width.
    pub fn shr<'b, T: Int, C: Int>(&'b self, x: Val<'b, T>, count: Val<'b, C>) -> Val<'b, T> {
        x.binary(BinaryOp::Shr, count.cast::<u32>())
    }

    /// The negative of `x`: of a number, or of each of an array's.
    pub fn neg<'b, V: BuiltArithmetic<'b, Number: Signed>>(&'b self, x: V) -> V {
        x.zip(self, x, |x, _| x.unary(UnaryOp::Neg))
    }

    /// The complement of `x`: of all its bits, of a truth value, or of a mask.
    pub fn not<'b, V: BuiltBits<'b>>(&'b self, x: V) -> V {
        x.complement(self)
    }

    /// `x` converted to type `U`, as Rust's `as` does it.
    pub fn cast<'b, T: Scalar, U: Number>(&'b self, x: Val<'b, T>) -> Val<'b, U> {
        x.cast()
    }

    /// The float of these bits.
    pub fn from_bits<'b, T: Float>(&'b self, bits: Val<'b, T::Bits>) -> Val<'b, T> {
        bits.reinterpret()
    }
}

/// The type of an operand or result in the builder.
macro_rules! built {
    () => { Val<'b, T> };
    (Self) => { Val<'b, T> };
    ($of:ident) => { Val<'b, $of> };
}

/// A method of numbers that kernels write as one; operators are functions of the builder.
macro_rules! method {
    (op $($rest:tt)*) => {};
    ($how:ident $(#[$doc:meta])* $class:ident $apply:ident($op:expr) $method:ident($($y:ident $(: $of:ident)?),*)
        -> $out:ident) => {
        impl<'b, T: $class> Val<'b, T> {
            $(#[$doc])*
            pub fn $method(self, $($y: built!($($of)?)),*) -> built!($out) {
                self.$apply($op, $($y),*)
            }
        }
    };
}

macro_rules! methods {
    ($($arity:ident {$(
        $(#[$doc:meta])* $how:ident $class:ident $op:ident $text:literal
        $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*) -> $out:ident, $precision:ident {$($meaning:tt)+}
    )+})+) => {
        $($(method!($how $(#[$doc])* $class $arity(operation!($arity $op)) $method($($y $(: $of)?),*) -> $out);)+)+
    };
}

/// The operation of that name, by its number of operands.
macro_rules! operation {
    (unary $op:ident) => {
        UnaryOp::$op
    };
    (binary $op:ident) => {
        BinaryOp::$op
    };
    (ternary $op:ident) => {
        TernaryOp::$op
    };
}
operations!(methods);

impl<'b, T: Number> Val<'b, T> {
    /// Computes `self.max(low).min(high)`.
    pub fn clamp(self, low: Self, high: Self) -> Self {
        self.max(low).min(high)
    }
}

impl<'b, T: Float> Val<'b, T> {
    /// The bits as an integer.
    pub fn to_bits(self) -> Val<'b, T::Bits> {
        self.reinterpret()
    }
}

impl<T: Scalar> Val<'_, T> {
    /// The type of the value, as data.
    pub fn ty(&self) -> Type {
        T::TYPE
    }
}
