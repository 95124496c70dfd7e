//! The types of values, and the operators on them.

use std::fmt;

/// The type of a value. Every bit pattern of every type but `Bool` is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Type {
    /// A truth value. It lives in slots and never in memory.
    Bool,
    /// Unsigned, 8 bits.
    U8,
    /// Signed, 8 bits, two's complement.
    I8,
    /// Unsigned, 16 bits.
    U16,
    /// Signed, 16 bits.
    I16,
    /// Unsigned, 32 bits.
    U32,
    /// Signed, 32 bits.
    I32,
    /// Unsigned, 64 bits.
    U64,
    /// Signed, 64 bits.
    I64,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
}

impl Type {
    /// The types that memory can hold.
    pub const ELEMENTS: [Type; 10] =
        [Type::U8, Type::I8, Type::U16, Type::I16, Type::U32, Type::I32, Type::U64, Type::I64, Type::F32, Type::F64];

    /// The size of one value in memory, in bytes.
    pub fn size(self) -> usize {
        match self {
            Type::Bool | Type::U8 | Type::I8 => 1,
            Type::U16 | Type::I16 => 2,
            Type::U32 | Type::I32 | Type::F32 => 4,
            Type::U64 | Type::I64 | Type::F64 => 8,
        }
    }

    /// Whether it is one of the eight integer types.
    pub fn is_int(self) -> bool {
        !matches!(self, Type::Bool | Type::F32 | Type::F64)
    }

    /// Whether it is `F32` or `F64`.
    pub fn is_float(self) -> bool {
        matches!(self, Type::F32 | Type::F64)
    }

    /// Whether it has negative values.
    pub fn is_signed(self) -> bool {
        matches!(self, Type::I8 | Type::I16 | Type::I32 | Type::I64 | Type::F32 | Type::F64)
    }

    /// Whether atomic operations exist on it: 32 and 64 bits, integers and floats.
    pub fn is_atomic(self) -> bool {
        matches!(self, Type::U32 | Type::I32 | Type::U64 | Type::I64 | Type::F32 | Type::F64)
    }

    /// The name in Rust.
    pub fn name(self) -> &'static str {
        match self {
            Type::Bool => "bool",
            Type::U8 => "u8",
            Type::I8 => "i8",
            Type::U16 => "u16",
            Type::I16 => "i16",
            Type::U32 => "u32",
            Type::I32 => "i32",
            Type::U64 => "u64",
            Type::I64 => "i64",
            Type::F32 => "f32",
            Type::F64 => "f64",
        }
    }

    /// The unsigned integer type as wide as this one, which its bits can be read as.
    pub fn bits_type(self) -> Type {
        match self.size() {
            1 => Type::U8,
            2 => Type::U16,
            4 => Type::U32,
            _ => Type::U64,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Operators with one operand. None can fail. [`FloatOps`](crate::FloatOps) states the bounds of functions of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum UnaryOp {
    /// Negation; integers wrap. Signed integers and floats.
    Neg,
    /// Complement. Integers and `bool`.
    Not,
    /// Absolute value; integers wrap. Signed integers and floats.
    Abs,
    /// Square root, correctly rounded.
    Sqrt,
    /// Reciprocal square root.
    Rsqrt,
    /// Exponential.
    Exp,
    /// Natural logarithm.
    Ln,
    /// Sine of an angle in radians.
    Sin,
    /// Cosine of an angle in radians.
    Cos,
    /// Hyperbolic tangent.
    Tanh,
    /// The greatest whole number that is not greater.
    Floor,
    /// The least whole number that is not less.
    Ceil,
    /// The nearest whole number, halves away from zero.
    Round,
    /// Whether it is not a number; gives `bool`.
    IsNan,
    /// How many bits are one; gives `u32`.
    CountOnes,
    /// How many bits are zero above the highest one; the width for zero; gives `u32`.
    LeadingZeros,
    /// How many bits are zero below the lowest one; the width for zero; gives `u32`.
    TrailingZeros,
}

/// Operators with two operands of one type. None can fail: integer division, which can, is a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BinaryOp {
    /// Sum; integers wrap.
    Add,
    /// Difference; integers wrap.
    Sub,
    /// Product; integers wrap.
    Mul,
    /// Quotient of floats.
    Div,
    /// The lesser; of floats the one that is a number, and -0 is less than +0.
    Min,
    /// The greater; of floats the one that is a number, and -0 is less than +0.
    Max,
    /// Power of floats.
    Pow,
    /// Bitwise and, on integers and `bool`.
    And,
    /// Bitwise or, on integers and `bool`.
    Or,
    /// Bitwise exclusive or, on integers and `bool`.
    Xor,
    /// Shift left; the second operand is `u32`, taken modulo the width of the first.
    Shl,
    /// Shift right, arithmetic for signed types; the second operand as for `Shl`.
    Shr,
    /// Equality; gives `bool`.
    Eq,
    /// Inequality; gives `bool`.
    Ne,
    /// Less; gives `bool`.
    Lt,
    /// Less or equal; gives `bool`.
    Le,
    /// Greater; gives `bool`.
    Gt,
    /// Greater or equal; gives `bool`.
    Ge,
}

/// Integer division and remainder, truncated towards zero, which fault on a divisor of zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DivOp {
    /// The quotient; `MIN / -1` wraps to `MIN`.
    Div,
    /// The remainder, with the sign of the dividend; `MIN % -1` is 0.
    Rem,
}

impl UnaryOp {
    /// The type of the result for an operand of type `operand`, or `None` if the operator does not apply to it.
    pub fn result(self, operand: Type) -> Option<Type> {
        let (applies, result) = match self {
            UnaryOp::Neg | UnaryOp::Abs => (operand.is_signed(), operand),
            UnaryOp::Not => (!operand.is_float(), operand),
            UnaryOp::CountOnes | UnaryOp::LeadingZeros | UnaryOp::TrailingZeros => (operand.is_int(), Type::U32),
            UnaryOp::IsNan => (operand.is_float(), Type::Bool),
            _ => (operand.is_float(), operand),
        };
        applies.then_some(result)
    }

    /// The name, as the printer writes it.
    pub fn name(self) -> &'static str {
        match self {
            UnaryOp::Neg => "-",
            UnaryOp::Not => "!",
            UnaryOp::Abs => "abs",
            UnaryOp::Sqrt => "sqrt",
            UnaryOp::Rsqrt => "rsqrt",
            UnaryOp::Exp => "exp",
            UnaryOp::Ln => "ln",
            UnaryOp::Sin => "sin",
            UnaryOp::Cos => "cos",
            UnaryOp::Tanh => "tanh",
            UnaryOp::Floor => "floor",
            UnaryOp::Ceil => "ceil",
            UnaryOp::Round => "round",
            UnaryOp::IsNan => "is_nan",
            UnaryOp::CountOnes => "count_ones",
            UnaryOp::LeadingZeros => "leading_zeros",
            UnaryOp::TrailingZeros => "trailing_zeros",
        }
    }
}

impl BinaryOp {
    /// The type of the result for operands of types `left` and `right`, or `None` if the operator does not apply.
    pub fn result(self, left: Type, right: Type) -> Option<Type> {
        use BinaryOp::*;
        let (applies, result) = match self {
            Shl | Shr => return (left.is_int() && right == Type::U32).then_some(left),
            Add | Sub | Mul | Min | Max => (left != Type::Bool, left),
            Div | Pow => (left.is_float(), left),
            And | Or | Xor => (!left.is_float(), left),
            Eq | Ne => (true, Type::Bool),
            Lt | Le | Gt | Ge => (left != Type::Bool, Type::Bool),
        };
        (applies && left == right).then_some(result)
    }

    /// The name, as the printer writes it: an operator's sign, or a function's name.
    pub fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Min => "min",
            BinaryOp::Max => "max",
            BinaryOp::Pow => "pow",
            BinaryOp::And => "&",
            BinaryOp::Or => "|",
            BinaryOp::Xor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
        }
    }
}
