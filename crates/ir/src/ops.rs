//! The operations, as data: enumerations with names and typing rules, from the tables of `wattle-operations`.

use wattle_operations::{atomics, operations};

use crate::{Type, TypeKind};

/// How exact the result of an operation on floats is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// The result is one of the operands, perhaps with another sign, or a whole number: the same bits on every device.
    Exact,
    /// The result is rounded once, as IEEE 754 says; a result that would be subnormal is not promised.
    Rounded,
    /// The result is within a bound that the method states, and has the same bits on every device; a result that would
    /// be subnormal is not promised.
    Bounded,
    /// The result is within a bound that the method states, and its bits differ between devices.
    Near,
}

/// Whether a type is of a kind that the tables name.
mod kinds {
    use super::{Type, TypeKind};

    pub(super) fn any(_: Type) -> bool {
        true
    }
    pub(super) fn bool(ty: Type) -> bool {
        ty == Type::Bool
    }
    pub(super) fn int(ty: Type) -> bool {
        ty.is_int()
    }
    pub(super) fn signed(ty: Type) -> bool {
        ty.kind() == TypeKind::Signed
    }
    pub(super) fn word(ty: Type) -> bool {
        ty.kind() == TypeKind::Unsigned && ty.bits() >= 32
    }
    pub(super) fn float(ty: Type) -> bool {
        ty.is_float()
    }
    pub(super) fn half(ty: Type) -> bool {
        ty.is_float() && ty.bits() == 16
    }
}

/// The type of a result or operand, where that of the first operand is `$first`.
macro_rules! type_of {
    ($first:expr, ) => {
        $first
    };
    ($first:expr, Self) => {
        $first
    };
    ($first:expr, bool) => {
        Type::Bool
    };
    ($first:expr, u32) => {
        Type::U32
    };
    ($first:expr, i32) => {
        Type::I32
    };
}

macro_rules! precision {
    (exact) => {
        Precision::Exact
    };
    (rounded) => {
        Precision::Rounded
    };
    (bounded) => {
        Precision::Bounded
    };
    (near) => {
        Precision::Near
    };
}

macro_rules! enumeration {
    ($(#[$about:meta])* $name:ident {$(
        $(#[$doc:meta])* $how:ident $class:ident $op:ident $text:literal
        $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*) -> $out:ident, $precision:ident {$($kind:ident: $body:expr),+}
    )+}) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum $name {
            $($(#[$doc])* $op,)+
        }

        impl $name {
            /// All operations, in the order of the table.
            pub const ALL: &[$name] = &[$($name::$op),+];

            /// The name, as the printer writes it: an operator's sign, or a function's name.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$op => $text,)+
                }
            }

            /// Whether kernels write it as one of Rust's operators.
            pub fn is_sign(self) -> bool {
                match self {
                    $($name::$op => stringify!($how) == "op",)+
                }
            }

            /// Whether the operation is a function of floats that [`expand`](crate::expand()) replaces for every
            /// target.
            pub fn is_function(self) -> bool {
                match self {
                    $($name::$op => stringify!($how) == "by",)+
                }
            }

            /// Whether it is a short form of a function of floats, which [`expand`](crate::expand()) replaces unless
            /// the target has an instruction for it.
            pub fn is_fast(self) -> bool {
                match self {
                    $($name::$op => stringify!($how) == "fast",)+
                }
            }

            /// How exact the result is on floats.
            pub fn precision(self) -> Precision {
                match self {
                    $($name::$op => precision!($precision),)+
                }
            }

            /// The type of the result for operands of these types, the first one and the others; `None` where the
            /// operation does not apply to them.
            fn typed(self, first: Type, others: &[Type]) -> Option<Type> {
                match self {
                    $($name::$op => {
                        let applies = ($(kinds::$kind(first))||+) && *others == [$(type_of!(first, $($of)?).at(stringify!($y))),*];
                        applies.then_some(type_of!(first, $out))
                    })+
                }
            }
        }
    };
}

impl Type {
    /// The type itself, of the operand of that name.
    fn at(self, _: &str) -> Type {
        self
    }
}

macro_rules! enumerations {
    (unary {$($unary:tt)+} binary {$($binary:tt)+} ternary {$($ternary:tt)+}) => {
        enumeration! {
            /// Operations with one operand. None can fail.
            UnaryOp {$($unary)+}
        }
        enumeration! {
            /// Operations with two operands. None can fail: integer division, which can, is a statement.
            BinaryOp {$($binary)+}
        }
        enumeration! {
            /// Operations with three operands. None can fail.
            TernaryOp {$($ternary)+}
        }
    };
}
operations!(enumerations);

/// A pattern of the functions among operations, which code generators never see.
macro_rules! functions {
    ($dollar:tt unary {$($unary:tt)+} binary {$($binary:tt)+} ternary {$($ternary:tt)+}) => {
        functions!(@pick $dollar unary_functions UnaryOp [] {$($unary)+});
        functions!(@pick $dollar binary_functions BinaryOp [] {$($binary)+});
    };
    (@pick $dollar:tt $name:ident $ops:ident [$($picked:ident)*] {}) => {
        functions!(@define $dollar $name $ops [$($picked)*]);
    };
    (@pick $dollar:tt $name:ident $ops:ident [$($picked:ident)*] {
        $(#[$doc:meta])* by $class:ident $op:ident $text:literal
        $method:ident($($operand:tt)+) -> $out:ident, $precision:ident {$($meaning:tt)+}
        $($rest:tt)*
    }) => {
        functions!(@pick $dollar $name $ops [$($picked)* $op] {$($rest)*});
    };
    (@pick $dollar:tt $name:ident $ops:ident [$($picked:ident)*] {
        $(#[$doc:meta])* $how:ident $class:ident $op:ident $text:literal
        $method:ident($($operand:tt)+) -> $out:ident, $precision:ident {$($meaning:tt)+}
        $($rest:tt)*
    }) => {
        functions!(@pick $dollar $name $ops [$($picked)*] {$($rest)*});
    };
    (@define $dollar:tt $name:ident $ops:ident [$first:ident $($other:ident)*]) => {
        /// The pattern of the operations that [`expand`](crate::expand()) replaces for every target.
        #[macro_export]
        macro_rules! $name {
            () => {
                $dollar crate::$ops::$first $(| $dollar crate::$ops::$other)*
            };
        }
    };
}
operations!(functions $);

impl UnaryOp {
    /// The type of the result for an operand of type `operand`, or `None` if the operation does not apply to it.
    pub fn result(self, operand: Type) -> Option<Type> {
        self.typed(operand, &[])
    }
}

impl BinaryOp {
    /// The type of the result for operands of types `left` and `right`, or `None` if the operation does not apply.
    pub fn result(self, left: Type, right: Type) -> Option<Type> {
        self.typed(left, &[right])
    }
}

impl TernaryOp {
    /// The type of the result for operands of these types, or `None` if the operation does not apply.
    pub fn result(self, first: Type, second: Type, third: Type) -> Option<Type> {
        self.typed(first, &[second, third])
    }
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

/// How an atomic read-modify-write changes a value, from which follows what replaces it and which of its order matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicLaw {
    /// The operand replaces the value.
    Replaces,
    /// The operation combines the value and the operand; integers end the same in whatever order several are made.
    Combines(BinaryOp),
    /// The value grows by 1, or becomes 0 once it has reached the operand; the order of several matters unless their
    /// operands are equal.
    CountsUp,
    /// The value shrinks by 1, or becomes the operand where it is 0 or greater than the operand; the order of several
    /// matters unless their operands are equal.
    CountsDown,
}

macro_rules! law {
    (replaces $op:ident) => {
        AtomicLaw::Replaces
    };
    (combines $op:ident) => {
        AtomicLaw::Combines(BinaryOp::$op)
    };
    (counts_up $op:ident) => {
        AtomicLaw::CountsUp
    };
    (counts_down $op:ident) => {
        AtomicLaw::CountsDown
    };
}

macro_rules! atomic_enumeration {
    ($($(#[$doc:meta])* $class:ident $op:ident $method:ident $with:ident $host:ident($old:ident, $operand:ident) $law:ident
        {$($kind:ident: $body:expr),+})+) => {
        /// What an atomic read-modify-write does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum AtomicOp {
            $($(#[$doc])* $op,)+
        }

        impl AtomicOp {
            /// All operations, in the order of the table.
            pub const ALL: &[AtomicOp] = &[$(AtomicOp::$op),+];

            /// The name, as a kernel writes it.
            pub fn name(self) -> &'static str {
                match self {
                    $(AtomicOp::$op => stringify!($method),)+
                }
            }

            /// How the operation changes a value.
            pub fn law(self) -> AtomicLaw {
                match self {
                    $(AtomicOp::$op => law!($law $op),)+
                }
            }

            /// Whether the operation exists on `ty`.
            pub fn applies_to(self, ty: Type) -> bool {
                ty.is_atomic() && match self {
                    $(AtomicOp::$op => $(kinds::$kind(ty))||+,)+
                }
            }
        }
    };
}
atomics!(atomic_enumeration);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_have_one_type_but_for_counts_and_whole_exponents() {
        for &op in BinaryOp::ALL {
            for (left, right) in Type::ALL.into_iter().flat_map(|left| Type::ALL.map(|right| (left, right))) {
                let fits = match op {
                    BinaryOp::Shl | BinaryOp::Shr => right == Type::U32,
                    BinaryOp::Powi => right == Type::I32,
                    _ => left == right,
                };
                assert!(fits || op.result(left, right).is_none(), "{left} {op:?} {right}");
            }
        }
        assert_eq!(TernaryOp::Fma.result(Type::F32, Type::F32, Type::F32), Some(Type::F32));
        assert_eq!(TernaryOp::Fma.result(Type::F32, Type::F32, Type::F64), None);
        assert_eq!(TernaryOp::Fma.result(Type::U32, Type::U32, Type::U32), None);
    }

    #[test]
    fn results_have_the_types_that_the_table_says() {
        assert_eq!(UnaryOp::Not.result(Type::Bool), Some(Type::Bool));
        assert_eq!(UnaryOp::Neg.result(Type::U32), None);
        assert_eq!(UnaryOp::CountOnes.result(Type::I64), Some(Type::U32));
        assert_eq!(UnaryOp::IsNan.result(Type::F64), Some(Type::Bool));
        assert_eq!(BinaryOp::Shl.result(Type::I8, Type::U32), Some(Type::I8));
        assert_eq!(BinaryOp::Lt.result(Type::Bool, Type::Bool), None);
        assert_eq!(BinaryOp::Eq.result(Type::Bool, Type::Bool), Some(Type::Bool));
        assert_eq!(BinaryOp::Div.result(Type::I32, Type::I32), None);
        assert!(
            AtomicOp::Add.applies_to(Type::F32)
                && AtomicOp::Min.applies_to(Type::F32)
                && !AtomicOp::Sub.applies_to(Type::F32)
        );
        assert!(AtomicOp::Inc.applies_to(Type::I64) && !AtomicOp::Add.applies_to(Type::U16));
    }
}
