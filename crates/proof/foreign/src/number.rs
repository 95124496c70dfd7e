//! The types of numbers that buffers, arguments and assertions have, as bits and as people write them.

use std::cmp::Ordering;
use std::fmt;
use std::num::ParseFloatError;
use std::str::FromStr;

use wattle_ir::{TypeKind, floats, types};
use wattle_modules::meaning::half::Format;
use wattle_modules::spirv::{Kind, Scalar};
use wattle_modules::types::Type;

macro_rules! define_halves {
    ({$($variant:ident $name:ident;)*} $wide:tt) => {$(
        /// A float of 16 bits, by its bits.
        #[allow(non_camel_case_types, reason = "it stands beside Rust's own types, whose names people write")]
        #[derive(Clone, Copy)]
        struct $name([u8; 2]);

        impl $name {
            fn format() -> Format {
                Format::of(Type::named(stringify!($name)).expect("PTX names them as Rust does"))
            }

            fn number(self) -> f64 {
                Self::format().number(u16::from_le_bytes(self.0).into())
            }

            fn to_le_bytes(self) -> [u8; 2] {
                self.0
            }

            fn from_le_bytes(bytes: [u8; 2]) -> Self {
                $name(bytes)
            }
        }

        impl FromStr for $name {
            type Err = ParseFloatError;

            fn from_str(text: &str) -> Result<Self, ParseFloatError> {
                let [low, high, ..] = Self::format().nearest(text.parse()?).to_le_bytes();
                Ok($name([low, high]))
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.number() == other.number()
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.number().partial_cmp(&other.number())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", self.number())
            }
        }
    )*};
}

floats!(define_halves);

macro_rules! numbers {
    // Truth values are given as numbers.
    ($(#[$bool_doc:meta])* Bool bool 8 Bool U8 bool; $($(#[$doc:meta])* $variant:ident $ty:ident $bits:literal $kind:ident
        $bits_type:ident $row:ident $($atomic:ident)?;)+) => {
        /// A type of numbers.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "they are Rust's types of these names, and the floats of 16 bits")]
        pub enum Number {
            $($variant,)+
        }

        impl Number {
            /// All types of numbers.
            pub const ALL: [Number; [$(Number::$variant),+].len()] = [$(Number::$variant),+];

            /// The name, which is Rust's where it has the type.
            pub fn name(self) -> &'static str {
                match self {
                    $(Number::$variant => stringify!($ty),)+
                }
            }

            /// The kind of the type's values.
            fn kind(self) -> TypeKind {
                match self {
                    $(Number::$variant => TypeKind::$kind,)+
                }
            }

            /// The size of a number of the type in bytes.
            pub fn size(self) -> u8 {
                match self {
                    $(Number::$variant => size_of::<$ty>() as u8,)+
                }
            }

            /// The bits of the number that a text names; `None` where it names none of this type.
            pub fn parse(self, text: &str) -> Option<u64> {
                match self {
                    $(Number::$variant => parse!($kind $ty, text).map(|number| {
                        let mut bytes = [0; 8];
                        bytes[..size_of::<$ty>()].copy_from_slice(&number.to_le_bytes());
                        u64::from_le_bytes(bytes)
                    }),)+
                }
            }

            /// The order of two numbers; `None` where one is none.
            pub fn compare(self, a: u64, b: u64) -> Option<Ordering> {
                match self {
                    $(Number::$variant => of_bits!($ty, a).partial_cmp(&of_bits!($ty, b)),)+
                }
            }
        }

        impl fmt::Display for Shown {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.0 {
                    $(Number::$variant => write!(f, "{:?}", of_bits!($ty, self.1)),)+
                }
            }
        }
    };
}

macro_rules! parse {
    (Float $ty:ident, $text:ident) => {
        $text.parse::<$ty>().ok()
    };
    ($kind:ident $ty:ident, $text:ident) => {
        match $text.strip_prefix("0x") {
            Some(digits) => $ty::from_str_radix(digits, 16).ok(),
            None => $text.parse::<$ty>().ok(),
        }
    };
}

macro_rules! of_bits {
    ($ty:ident, $bits:expr) => {{
        let mut bytes = [0; size_of::<$ty>()];
        bytes.copy_from_slice(&$bits.to_le_bytes()[..size_of::<$ty>()]);
        $ty::from_le_bytes(bytes)
    }};
}

types!(numbers);

impl Number {
    /// Whether the numbers are floats.
    pub(crate) fn is_float(self) -> bool {
        match self.kind() {
            TypeKind::Float => true,
            TypeKind::Bool | TypeKind::Unsigned | TypeKind::Signed => false,
        }
    }

    /// The type of the numbers of a SPIR-V module's scalar type; `None` where there is none.
    pub(crate) fn of_scalar(scalar: Scalar) -> Option<Number> {
        SCALARS.iter().find(|(_, kind, bits)| (*kind, *bits) == (scalar.kind, scalar.bits)).map(|(number, ..)| *number)
    }

    /// The scalar type of SPIR-V whose values these numbers are, if it has one.
    pub(crate) fn scalar(self) -> Option<Scalar> {
        SCALARS.iter().find(|(number, ..)| *number == self).map(|&(_, kind, bits)| Scalar { kind, bits })
    }

    /// Whether the numbers may be negative: they are signed integers or floats.
    pub(crate) fn is_signed(self) -> bool {
        match self.kind() {
            TypeKind::Signed | TypeKind::Float => true,
            TypeKind::Bool | TypeKind::Unsigned => false,
        }
    }
}

/// The types of numbers, and the scalar types of SPIR-V that they are.
const SCALARS: [(Number, Kind, u32); 12] = [
    (Number::U32, Kind::Int(false), 32),
    (Number::U32, Kind::Bool, 1),
    (Number::I32, Kind::Int(true), 32),
    (Number::U8, Kind::Int(false), 8),
    (Number::I8, Kind::Int(true), 8),
    (Number::U16, Kind::Int(false), 16),
    (Number::I16, Kind::Int(true), 16),
    (Number::U64, Kind::Int(false), 64),
    (Number::I64, Kind::Int(true), 64),
    (Number::F16, Kind::Float, 16),
    (Number::F32, Kind::Float, 32),
    (Number::F64, Kind::Float, 64),
];

/// The bits of a number of a type, as people write it.
pub(crate) struct Shown(pub Number, pub u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_and_texts() {
        for (number, text, bits) in [
            (Number::U8, "255", 255),
            (Number::I8, "-1", 0xff),
            (Number::I16, "-300", 0xfed4),
            (Number::U64, "18446744073709551615", u64::MAX),
            (Number::F16, "-1.5", 0xbe00),
            (Number::BF16, "-1.5", 0xbfc0),
            (Number::F32, "-1.5", 0xbfc0_0000),
            (Number::F64, "0.5", 0x3fe0_0000_0000_0000),
        ] {
            assert_eq!((number.parse(text), Shown(number, bits).to_string().as_str()), (Some(bits), text));
        }
        assert_eq!((Number::U8.parse("256"), Number::U32.parse("-1"), Number::I32.parse("1.5")), (None, None, None));
        assert_eq!(Number::U16.parse("0xffff"), Some(0xffff));
        assert_eq!(Number::I8.compare(0xff, 1), Some(Ordering::Less));
        assert_eq!(Number::F32.compare(0x7fc0_0000, 0), None);
        // The nearest number, and a comparison of numbers and not of their bits.
        assert_eq!((Number::F16.parse("0.1"), Number::BF16.parse("1e39")), (Some(0x2e66), Some(0x7f80)));
        assert_eq!(Number::F16.compare(0x8000, 0), Some(Ordering::Equal));
    }
}
