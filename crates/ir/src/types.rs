//! The types of values, one row each.

use std::fmt;

/// What the values of a type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// Truth values.
    Bool,
    /// Integers from 0.
    Unsigned,
    /// Integers in two's complement.
    Signed,
    /// IEEE 754 binary floats.
    Float,
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
    /// Whether atomic operations exist on it.
    pub atomic: bool,
    /// The unsigned integer type as wide as this one, which its bits can be read as.
    pub bits_type: Type,
}

/// Hands the types to another macro: the variant, the type in Rust, its bits, kind and bits as an integer, the name that
/// the tables of operations have for the kind, and whether there are atomics of it. `Bool` is the first one.
macro_rules! types {
    ($then:ident $($with:tt)*) => { $then! { $($with)*
        /// A truth value. It lives in slots and never in memory.
        Bool bool 8 Bool U8 bool;
        /// Unsigned, 8 bits.
        U8 u8 8 Unsigned U8 unsigned;
        /// Signed, 8 bits, two's complement.
        I8 i8 8 Signed U8 signed;
        /// Unsigned, 16 bits.
        U16 u16 16 Unsigned U16 unsigned;
        /// Signed, 16 bits.
        I16 i16 16 Signed U16 signed;
        /// Unsigned, 32 bits.
        U32 u32 32 Unsigned U32 word atomic;
        /// Signed, 32 bits.
        I32 i32 32 Signed U32 signed atomic;
        /// Unsigned, 64 bits.
        U64 u64 64 Unsigned U64 word atomic;
        /// Signed, 64 bits.
        I64 i64 64 Signed U64 signed atomic;
        /// IEEE 754 binary32.
        F32 f32 32 Float U32 float atomic;
        /// IEEE 754 binary64.
        F64 f64 64 Float U64 float atomic;
    } };
}
pub(crate) use types;

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
            pub const fn info(self) -> TypeInfo {
                match self {$(
                    Type::$variant => TypeInfo {
                        name: stringify!($rust),
                        bits: $bits,
                        kind: TypeKind::$kind,
                        atomic: matches!(stringify!($($atomic)?).as_bytes(), b"atomic"),
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
    /// The types that memory can hold: all but `Bool`.
    pub const ELEMENTS: [Type; ELEMENTS] = {
        let (mut elements, mut at) = ([Type::U8; ELEMENTS], 0);
        while at < ELEMENTS {
            elements[at] = Type::ALL[at + 1];
            at += 1;
        }
        elements
    };

    /// What its values are.
    pub const fn kind(self) -> TypeKind {
        self.info().kind
    }

    /// The size of one value in memory, in bytes.
    pub const fn size(self) -> usize {
        self.bits() as usize / 8
    }

    /// The size of one value in memory, in bits.
    pub const fn bits(self) -> u32 {
        self.info().bits
    }

    /// Whether it is an integer type.
    pub const fn is_int(self) -> bool {
        matches!(self.kind(), TypeKind::Unsigned | TypeKind::Signed)
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), TypeKind::Float)
    }

    /// Whether it has negative values.
    pub const fn is_signed(self) -> bool {
        matches!(self.kind(), TypeKind::Signed | TypeKind::Float)
    }

    /// Whether atomic operations exist on it: 32 and 64 bits, integers and floats.
    pub const fn is_atomic(self) -> bool {
        self.info().atomic
    }

    /// The name in Rust.
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
