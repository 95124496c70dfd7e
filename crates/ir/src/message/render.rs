//! Values as text, by Rust's formatter.
//!
//! Flags are part of a format string, which is literal, so each combination of them stands here once; fill and
//! alignment are done by hand, as the formatter does them.

use std::fmt::{Binary, Debug, Display, LowerExp, LowerHex, Octal, UpperExp, UpperHex};

use wattle_operations::types;

use super::{Align, Spec, Style};
use crate::{Scalar, Type, TypeKind, native};

/// The text of a value of type `ty`, formatted as `spec` says.
pub(super) fn value(spec: &Spec, ty: Type, raw: u64) -> String {
    let is_number = ty.kind() != TypeKind::Bool;
    // Zeros stand between sign and digits, and so the formatter places them; a truth value has none.
    let zero = spec.zero && is_number;
    let spec = Spec { zero, ..*spec };
    let text = of_type(&spec, ty, raw);
    let width = usize::from(spec.width.unwrap_or(0));
    let missing = width.saturating_sub(text.chars().count());
    let left = match spec.align.unwrap_or(if is_number { Align::Right } else { Align::Left }) {
        Align::Left => 0,
        Align::Center => missing / 2,
        Align::Right => missing,
    };
    let fill = |count| std::iter::repeat_n(spec.fill, count);
    fill(left).chain(text.chars()).chain(fill(missing - left)).collect()
}

macro_rules! by_type {
    ($($(#[$doc:meta])* $variant:ident $rust:ident $bits:literal $kind:ident $bits_type:ident $row:ident $($atomic:ident)?;)+) => {
        fn of_type(spec: &Spec, ty: Type, raw: u64) -> String {
            match ty {$(
                Type::$variant => by_type!(@$kind spec, native::$variant::from_raw(raw)),
            )+}
        }
    };
    (@Bool $spec:ident, $value:expr) => { neither($spec, &$value) };
    (@Unsigned $spec:ident, $value:expr) => { integer($spec, &$value) };
    (@Signed $spec:ident, $value:expr) => { integer($spec, &$value) };
    (@Float $spec:ident, $value:expr) => { float($spec, &$value) };
}
types!(by_type);

/// What has neither hexadecimal digits nor an exponent. The formats of other types are refused where the kernel is
/// compiled, and stand for `{}` in a kernel that comes from elsewhere.
fn neither<T: Display + Debug>(spec: &Spec, value: &T) -> String {
    match spec.style {
        Style::Debug => debug(spec, value),
        Style::Display
        | Style::LowerHex
        | Style::UpperHex
        | Style::Octal
        | Style::Binary
        | Style::LowerExp
        | Style::UpperExp => display(spec, value),
    }
}

fn float<T: Display + Debug + LowerExp + UpperExp>(spec: &Spec, value: &T) -> String {
    match spec.style {
        Style::LowerExp => lower_exp(spec, value),
        Style::UpperExp => upper_exp(spec, value),
        Style::Display | Style::Debug | Style::LowerHex | Style::UpperHex | Style::Octal | Style::Binary => {
            neither(spec, value)
        }
    }
}

fn integer<T: Display + Debug + LowerHex + UpperHex + Octal + Binary + LowerExp + UpperExp>(
    spec: &Spec,
    value: &T,
) -> String {
    match spec.style {
        Style::LowerHex => lower_hex(spec, value),
        Style::UpperHex => upper_hex(spec, value),
        Style::Octal => octal(spec, value),
        Style::Binary => binary(spec, value),
        Style::Display | Style::Debug | Style::LowerExp | Style::UpperExp => float(spec, value),
    }
}

macro_rules! styles {
    ($($name:ident $trait:ident $sign:literal;)+) => {$(
        /// Formats with the flags of the format, and with its width where zeros fill it.
        fn $name(spec: &Spec, value: &dyn $trait) -> String {
            let width = usize::from(spec.width.filter(|_| spec.zero).unwrap_or(0));
            let digits = usize::from(spec.precision.unwrap_or(0));
            match (spec.plus, spec.alternate, spec.zero, spec.precision.is_some()) {
                (false, false, false, false) => format!(concat!("{:", $sign, "}"), value),
                (false, false, false, true) => format!(concat!("{:.1$", $sign, "}"), value, digits),
                (false, false, true, false) => format!(concat!("{:01$", $sign, "}"), value, width),
                (false, false, true, true) => format!(concat!("{:01$.2$", $sign, "}"), value, width, digits),
                (false, true, false, false) => format!(concat!("{:#", $sign, "}"), value),
                (false, true, false, true) => format!(concat!("{:#.1$", $sign, "}"), value, digits),
                (false, true, true, false) => format!(concat!("{:#01$", $sign, "}"), value, width),
                (false, true, true, true) => format!(concat!("{:#01$.2$", $sign, "}"), value, width, digits),
                (true, false, false, false) => format!(concat!("{:+", $sign, "}"), value),
                (true, false, false, true) => format!(concat!("{:+.1$", $sign, "}"), value, digits),
                (true, false, true, false) => format!(concat!("{:+01$", $sign, "}"), value, width),
                (true, false, true, true) => format!(concat!("{:+01$.2$", $sign, "}"), value, width, digits),
                (true, true, false, false) => format!(concat!("{:+#", $sign, "}"), value),
                (true, true, false, true) => format!(concat!("{:+#.1$", $sign, "}"), value, digits),
                (true, true, true, false) => format!(concat!("{:+#01$", $sign, "}"), value, width),
                (true, true, true, true) => format!(concat!("{:+#01$.2$", $sign, "}"), value, width, digits),
            }
        }
    )+};
}
styles! {
    display Display "";
    debug Debug "?";
    lower_hex LowerHex "x";
    upper_hex UpperHex "X";
    octal Octal "o";
    binary Binary "b";
    lower_exp LowerExp "e";
    upper_exp UpperExp "E";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown<T: Scalar>(spec: Spec, of: T) -> String {
        value(&spec, T::TYPE, of.to_raw())
    }

    /// Rust's own formatter and this one, on the same values.
    macro_rules! same {
        ($($format:literal $spec:expr => $($value:expr),+;)+) => {$($(
            assert_eq!(shown($spec, $value), format!($format, $value), "{} of {:?}", $format, $value);
        )+)+};
    }

    #[test]
    fn values_are_formatted_as_rust_does_it() {
        let plain = Spec::PLAIN;
        let width = |width| Spec { width: Some(width), ..plain };
        let digits = |precision| Spec { precision: Some(precision), ..plain };
        let zero = |width| Spec { zero: true, width: Some(width), ..plain };
        let style = |style| Spec { style, ..plain };
        same! {
            "{}" plain => 7u8, -7i8, 65_535u16, -3i16, u32::MAX, i32::MIN, u64::MAX, i64::MIN, 1.5f32, -0.0f64, true;
            "{}" plain => f32::NAN, f64::NEG_INFINITY, 1e30f32, 1e-30f64, 0.1f32, 1.0f32;
            "{:?}" style(Style::Debug) => 1.0f32, -2i32, false, f64::MIN_POSITIVE, f32::MAX;
            "{:x}" style(Style::LowerHex) => 255u8, -1i32, -1i8, u64::MAX;
            "{:X}" style(Style::UpperHex) => 48879u32;
            "{:o}" style(Style::Octal) => 8u16;
            "{:b}" style(Style::Binary) => 5u32, -1i16;
            "{:e}" style(Style::LowerExp) => 1234.5f32, 1200u32;
            "{:E}" style(Style::UpperExp) => 1e-7f64;
            "{:6}" width(6) => 42u32, -1.5f32, true;
            "{:<6}" Spec { align: Some(Align::Left), ..width(6) } => 42u32, 0.5f64;
            "{:^7}" Spec { align: Some(Align::Center), ..width(7) } => 42u32, true;
            "{:>7}" Spec { align: Some(Align::Right), ..width(7) } => false;
            "{:*^9}" Spec { fill: '*', align: Some(Align::Center), ..width(9) } => -1i32;
            "{:06}" zero(6) => -42i32, 1.5f32, f32::INFINITY, f32::NAN, true;
            "{:.3}" digits(3) => 1.0f32 / 3.0, 2.0f64, true;
            "{:8.2}" Spec { width: Some(8), ..digits(2) } => -1234.567f64;
            "{:08.2}" Spec { precision: Some(2), ..zero(8) } => -1.005f32;
            "{:+}" Spec { plus: true, ..plain } => 1i32, -1i32, 1.0f32;
            "{:+06}" Spec { plus: true, ..zero(6) } => 1u32;
            "{:#x}" Spec { alternate: true, ..style(Style::LowerHex) } => 255u32;
            "{:#010x}" Spec { style: Style::LowerHex, alternate: true, ..zero(10) } => 255u32, -1i32;
            "{:#?}" Spec { alternate: true, ..style(Style::Debug) } => 1.0f32, true;
            "{:.1e}" Spec { style: Style::LowerExp, ..digits(1) } => 1234.5f64;
            "{:5?}" Spec { style: Style::Debug, ..width(5) } => true, 3u8;
        }
    }

    #[test]
    fn a_width_shorter_than_the_text_changes_nothing() {
        assert_eq!(shown(Spec { width: Some(2), ..Spec::PLAIN }, 12345u32), "12345");
    }
}
