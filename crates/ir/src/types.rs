//! The types of values, one row each.

use std::fmt;

use wattle_operations::{floats, types};

use crate::half::names::*;

/// What the values of a type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// Truth values.
    Bool,
    /// Integers from 0.
    Unsigned,
    /// Integers in two's complement.
    Signed,
    /// Binary floats: those of IEEE 754, and bfloat16.
    Float,
}

macro_rules! formats {
    ({$($half:ident $narrow:ident;)+} {$($float:ident $wide:ident;)+}) => {
        /// The format of a floating-point type of 16 bits, which is computed with as `F32`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "they are the types of these names")]
        pub enum HalfFloat {
            $($half,)+
        }

        /// The format of a floating-point type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "they are the types of these names")]
        pub enum FloatFormat {
            /// A format of 16 bits, which is computed with as `F32`.
            Half(HalfFloat),
            $($float,)+
        }

        impl FloatFormat {
            /// The binary digits of a significand, the first one included.
            pub const fn digits(self) -> u32 {
                match self {
                    $(FloatFormat::Half(HalfFloat::$half) => $narrow::MANTISSA_DIGITS,)+
                    $(FloatFormat::$float => $wide::MANTISSA_DIGITS,)+
                }
            }

            /// The exponent of the least normal number, a power of two.
            pub const fn least_exponent(self) -> i32 {
                match self {
                    $(FloatFormat::Half(HalfFloat::$half) => $narrow::MIN_EXP - 1,)+
                    $(FloatFormat::$float => $wide::MIN_EXP - 1,)+
                }
            }

            /// The exponent of the first power of two that is too large.
            pub const fn end_exponent(self) -> i32 {
                match self {
                    $(FloatFormat::Half(HalfFloat::$half) => $narrow::MAX_EXP,)+
                    $(FloatFormat::$float => $wide::MAX_EXP,)+
                }
            }
        }
    };
}
floats!(formats);

/// The format of a type, by its row in the table.
macro_rules! format_of {
    (half $variant:ident) => {
        Some(FloatFormat::Half(HalfFloat::$variant))
    };
    (float $variant:ident) => {
        Some(FloatFormat::$variant)
    };
    ($row:ident $variant:ident) => {
        None
    };
}

/// What there is to know of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeInfo {
    /// The name in Rust.
    pub name: &'static str,
    /// The size of one value in memory, in bits.
    pub bits: u32,
    /// What its values are.
    pub kind: TypeKind,
    /// The format of its values, if they are floats.
    pub float_format: Option<FloatFormat>,
    /// Whether atomic operations exist on it.
    pub atomic: bool,
    /// The unsigned integer type as wide as this one, which its bits can be read as.
    pub bits_type: Type,
}

macro_rules! define {
    ($($(#[$doc:meta])* $variant:ident $rust:ident $bits:literal $kind:ident $bits_type:ident $row:ident $($atomic:ident)?;)+) => {
        /// The type of a value. Every bit pattern of every type but `Bool` is a value.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
        pub enum Type {
            $($(#[$doc])* $variant,)+
        }

        impl Type {
            /// All types, `Bool` first.
            pub const ALL: [Type; [$(Type::$variant),+].len()] = [$(Type::$variant),+];

            /// What there is to know of the type.
            #[inline]
            pub const fn info(self) -> TypeInfo {
                match self {$(
                    Type::$variant => TypeInfo {
                        name: stringify!($rust),
                        bits: $bits,
                        kind: TypeKind::$kind,
                        float_format: format_of!($row $variant),
                        atomic: !stringify!($($atomic)?).is_empty(),
                        bits_type: Type::$bits_type,
                    },
                )+}
            }
        }
    };
}
types!(define);

const ELEMENTS: usize = Type::ALL.len() - 1;

impl Type {
    /// The types of numbers in memory: all but `Bool`, of which memory holds bytes ([`Type::stored`]).
    pub const ELEMENTS: [Type; ELEMENTS] = {
        let (mut elements, mut at) = ([Type::U8; ELEMENTS], 0);
        while at < ELEMENTS {
            elements[at] = Type::ALL[at + 1];
            at += 1;
        }
        elements
    };

    /// The kind of the type's values: truth values, integers with or without a sign, or floats.
    pub const fn kind(self) -> TypeKind {
        self.info().kind
    }

    /// The type of the number in memory that holds such a value: of a truth value a byte, 0 or 1.
    pub const fn stored(self) -> Type {
        match self.kind() {
            TypeKind::Bool => Type::U8,
            TypeKind::Unsigned | TypeKind::Signed | TypeKind::Float => self,
        }
    }

    /// The size of one value in memory, in bytes.
    #[inline]
    pub const fn size(self) -> usize {
        self.bits() as usize / 8
    }

    /// The size of one value in memory, in bits.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.info().bits
    }

    /// Whether the type is one of integers.
    pub const fn is_int(self) -> bool {
        matches!(self.kind(), TypeKind::Unsigned | TypeKind::Signed)
    }

    /// Whether the type is one of floats.
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), TypeKind::Float)
    }

    /// Whether the type is one of floats of 16 bits, which is computed with as `F32`.
    pub const fn is_half(self) -> bool {
        matches!(self.float_format(), Some(FloatFormat::Half(_)))
    }

    /// The format of its values, if they are floats.
    pub const fn float_format(self) -> Option<FloatFormat> {
        self.info().float_format
    }

    /// Whether the type has negative values.
    pub const fn is_signed(self) -> bool {
        matches!(self.kind(), TypeKind::Signed | TypeKind::Float)
    }

    /// Whether atomic operations exist on it: 32 and 64 bits, integers and floats.
    pub const fn is_atomic(self) -> bool {
        self.info().atomic
    }

    /// The type's name in Rust.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// The unsigned integer type as wide as this one, which its bits can be read as.
    pub const fn bits_type(self) -> Type {
        self.info().bits_type
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
