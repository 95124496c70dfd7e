//! The numbers of kernels: their types and their methods, as the tables of operations have them.

use wattle_operations::{compositions, faulting, operations, types};

macro_rules! type_rows {
    ($($(#[$doc:meta])* $variant:ident $t:ident $bits:literal $kind:ident $bits_type:ident $row:ident $($atomic:ident)?;)+) => {
        &[$((stringify!($t), stringify!($row), !stringify!($($atomic)?).is_empty())),+]
    };
}

/// The types of the table: the name, the kind, and whether there are atomic operations on it.
pub const TYPES: &[(&str, &str, bool)] = types!(type_rows);

/// Whether the name is that of a type of numbers, or `bool`.
pub fn is_number(name: &str) -> bool {
    TYPES.iter().any(|(known, ..)| *known == name)
}

/// Whether the name is that of an integer type.
pub fn is_int(name: &str) -> bool {
    TYPES.iter().any(|(known, row, _)| *known == name && matches!(*row, "unsigned" | "word" | "signed"))
}

/// Whether the name is that of a float of 16 bits.
pub fn is_half(name: &str) -> bool {
    TYPES.iter().any(|(known, row, _)| *known == name && *row == "half")
}

/// A method of numbers, as the tables say it.
pub struct OfNumbers {
    /// `fn` and its like where kernels write it as a method, `op` where they write it with a sign of Rust's.
    how: &'static str,
    pub name: &'static str,
    /// The trait of the numbers that have it.
    pub class: &'static str,
    /// The types of the operands behind the first one: `Self`, of which nothing is written too, is that one's.
    pub operands: &'static [&'static str],
    pub result: &'static str,
}

macro_rules! operation_rows {
    ($($arity:ident {$(
        $(#[$doc:meta])* $how:ident $class:ident $op:ident $text:literal
        $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*) -> $out:ident, $precision:ident {$($meaning:tt)+}
    )+})+) => {
        &[$($(OfNumbers {
            how: stringify!($how),
            name: stringify!($method),
            class: stringify!($class),
            operands: &[$(concat!($(stringify!($of))?)),*],
            result: stringify!($out),
        },)+)+]
    };
}

/// The operations of the table.
const OPERATIONS: &[OfNumbers] = operations!(operation_rows);
/// The methods that are built of them.
const COMPOSITIONS: &[OfNumbers] = compositions!(operation_rows);

macro_rules! faulting_rows {
    ($($(#[$doc:meta])* $class:ident $fault:ident $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*)
        {$($meaning:tt)+})+) => {
        &[$(OfNumbers {
            how: "fn",
            name: stringify!($method),
            class: stringify!($class),
            operands: &[$(concat!($(stringify!($of))?)),*],
            result: "Self",
        },)+]
    };
}

/// The methods that can fail.
const FAULTING: &[OfNumbers] = faulting!(faulting_rows);

/// The methods of no table.
const OTHERS: &[OfNumbers] = &[
    OfNumbers { how: "fn", name: "clamp", class: "Number", operands: &["", ""], result: "Self" },
    OfNumbers { how: "fn", name: "to_bits", class: "Float", operands: &[], result: "Self::Bits" },
    OfNumbers { how: "fn", name: "sin_cos", class: "Float", operands: &[], result: "(Self, Self)" },
    OfNumbers { how: "fn", name: "pow", class: "Number", operands: &["Self::Exponent"], result: "Self" },
    OfNumbers { how: "fn", name: "mul_add", class: "Float", operands: &["", ""], result: "Self" },
];

/// The operations on numbers that kernels call as methods or functions.
pub fn of_numbers() -> impl Iterator<Item = &'static OfNumbers> {
    [OPERATIONS, COMPOSITIONS, FAULTING, OTHERS].into_iter().flatten().filter(|known| known.how != "op")
}

/// The method of numbers of this name.
pub fn math(name: &str) -> Option<&'static OfNumbers> {
    of_numbers().find(|known| known.name == name)
}

/// Whether a method of numbers can fail, so that it needs to know its thread.
pub fn is_faulting(name: &str) -> bool {
    FAULTING.iter().any(|known| known.name == name)
}
