//! Numbers that are given for what a PTX module declares: of its type, as far as the declaration says it.

use wattle_modules::types::{Sort, Type};

use crate::launch::bits;
use crate::number::Number;

/// What a declaration says of its numbers.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Declared {
    Integers,
    Floats,
    /// Bits, as structs are declared; numbers of 16 bits, which are given by them, are so too.
    Bits,
}

impl Declared {
    pub fn of(ty: Type) -> Declared {
        match ty.sort {
            Sort::Unsigned | Sort::Signed => Declared::Integers,
            Sort::Float | Sort::Brain if ty.bits > 16 => Declared::Floats,
            Sort::Float | Sort::Brain | Sort::Bits | Sort::Pred => Declared::Bits,
        }
    }

    /// Whether numbers of a type can be such.
    pub fn takes(self, given: Number) -> bool {
        match self {
            Declared::Integers => !given.is_float(),
            Declared::Floats => given.is_float(),
            Declared::Bits => true,
        }
    }

    /// The number of that many bytes that a text without a type names, and its type; `None` where there are no such
    /// numbers. Where the declaration does not say whether it is a float, the text does.
    pub fn number(self, text: &str, bytes: u64) -> Option<Result<(Number, u64), String>> {
        let is_float = match self {
            Declared::Integers => false,
            Declared::Floats => true,
            Declared::Bits => is_written_as_float(text),
        };
        // Of floats of 16 bits there are two kinds.
        let is_one_kind = |known: &Number| !known.is_float() || known.size() > 2;
        let is_such =
            |known: &Number| u64::from(known.size()) == bytes && known.is_float() == is_float && is_one_kind(known);
        let read = |ty: Number| bits(ty, text).map(|value| (ty, value));
        Number::ALL.into_iter().filter(is_such).map(read).reduce(Result::or)
    }
}

/// Whether a number without a type is written as a float is.
fn is_written_as_float(text: &str) -> bool {
    let is_hexadecimal = text.starts_with("0x");
    !is_hexadecimal && (text.contains(['.', 'e', 'E']) || text.parse::<f64>().is_ok_and(|value| !value.is_finite()))
}
