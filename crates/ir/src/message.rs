//! Messages: what an assertion or a `println!` says, as text with values in it.
//!
//! A device keeps the raw words of the values, and the host makes the text of them, with the rules of Rust's formatter:
//! so a message reads the same on every device, and no device formats.

mod render;

use std::borrow::Cow;
use std::fmt;

use crate::{ExprId, Type};

/// The most values that a message can have.
pub const MOST_ARGUMENTS: usize = 16;

/// A message of a kernel: its text, and the expressions whose values stand in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Message {
    /// The text.
    pub text: Text,
    /// The values, in the order of their numbers in the text; [`MOST_ARGUMENTS`] at the most.
    pub arguments: Vec<ExprId>,
}

/// The text of a message: literal text, and places for values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Text(pub Cow<'static, [Piece]>);

/// A piece of a message's text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Piece {
    /// Text that stands as it is.
    Literal(Cow<'static, str>),
    /// The value of this number, formatted so.
    Value(usize, Spec),
}

/// How a value is formatted: what stands behind the colon in Rust's `{:…}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Spec {
    /// The trait of [`std::fmt`] that formats it.
    pub style: Style,
    /// The character that the value is padded with.
    pub fill: char,
    /// The position of the value in its width; `None` for the default of its type.
    pub align: Option<Align>,
    /// `+`: a sign also where it is not negative.
    pub plus: bool,
    /// `#`: the alternate form.
    pub alternate: bool,
    /// `0`: padded with zeros behind the sign.
    pub zero: bool,
    /// The least number of characters.
    pub width: Option<u16>,
    /// The number of digits behind the point.
    pub precision: Option<u16>,
}

impl Spec {
    /// What `{}` asks for.
    pub const PLAIN: Spec = Spec {
        style: Style::Display,
        fill: ' ',
        align: None,
        plus: false,
        alternate: false,
        zero: false,
        width: None,
        precision: None,
    };
}

/// The position of a value in its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Align {
    /// The value is at the beginning: `<`.
    Left,
    /// The value is in the middle: `^`.
    Center,
    /// The value is at the end: `>`.
    Right,
}

/// A trait of [`std::fmt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Style {
    /// `{}`.
    Display,
    /// `{:?}`.
    Debug,
    /// `{:x}`.
    LowerHex,
    /// `{:X}`.
    UpperHex,
    /// `{:o}`.
    Octal,
    /// `{:b}`.
    Binary,
    /// `{:e}`.
    LowerExp,
    /// `{:E}`.
    UpperExp,
}

impl Text {
    /// The text with these values; one that is `None` is not known, and stands as `?`.
    pub fn with(&self, value: impl Fn(usize) -> Option<(Type, u64)>) -> String {
        let mut text = String::new();
        for piece in self.0.iter() {
            match piece {
                Piece::Literal(literal) => text.push_str(literal),
                Piece::Value(number, spec) => match value(*number) {
                    Some((ty, raw)) => text.push_str(&render::value(spec, ty, raw)),
                    None => text.push('?'),
                },
            }
        }
        text
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(Cow::Owned(vec![Piece::Literal(Cow::Owned(text.to_owned()))]))
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Message {
        Message { text: text.into(), arguments: Vec::new() }
    }
}

/// Writes the text as a format string of the source: `"x = {0}"`.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in self.0.iter() {
            match piece {
                Piece::Literal(literal) => f.write_str(&literal.replace('{', "{{").replace('}', "}}"))?,
                Piece::Value(number, spec) => write!(f, "{{{number}{spec}}}")?,
            }
        }
        Ok(())
    }
}

/// Writes the spec as the source has it, with its colon; for `{}` nothing.
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Spec::PLAIN {
            return Ok(());
        }
        f.write_str(":")?;
        if let Some(align) = self.align {
            let sign = match align {
                Align::Left => '<',
                Align::Center => '^',
                Align::Right => '>',
            };
            write!(f, "{}{sign}", self.fill)?;
        }
        for (is_set, sign) in [(self.plus, "+"), (self.alternate, "#"), (self.zero, "0")] {
            f.write_str(if is_set { sign } else { "" })?;
        }
        if let Some(width) = self.width {
            write!(f, "{width}")?;
        }
        if let Some(precision) = self.precision {
            write!(f, ".{precision}")?;
        }
        f.write_str(match self.style {
            Style::Display => "",
            Style::Debug => "?",
            Style::LowerHex => "x",
            Style::UpperHex => "X",
            Style::Octal => "o",
            Style::Binary => "b",
            Style::LowerExp => "e",
            Style::UpperExp => "E",
        })
    }
}

/// The number of 32-bit words of a value of the type where a device keeps it for the host.
pub const fn words(ty: Type) -> usize {
    if ty.bits() > 32 { 2 } else { 1 }
}

/// Values as the words that a device has kept, one behind the other.
#[derive(Clone, Copy, Debug)]
pub struct Words<'w> {
    /// The types of the values.
    pub types: &'w [Type],
    /// The words.
    pub words: &'w [u32],
}

impl Words<'_> {
    /// The value of this number, with its type; `None` where there is none.
    pub fn value(&self, number: usize) -> Option<(Type, u64)> {
        let ty = *self.types.get(number)?;
        let at: usize = self.types[..number].iter().map(|&ty| words(ty)).sum();
        let low = u64::from(*self.words.get(at)?);
        let high = if words(ty) == 2 { u64::from(*self.words.get(at + 1)?) } else { 0 };
        Some((ty, (low | high << 32) & (u64::MAX >> (64 - ty.bits()))))
    }
}
