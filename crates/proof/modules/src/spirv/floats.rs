//! Floats as texts write them: in decimal digits, or as `spirv-dis` writes those of 16 bits, infinities and what is no
//! number.

use crate::meaning::half;
use crate::types::{Sort, Type};

/// The bits of the float that a text denotes, in the format of this width; `None` where the text denotes no float.
pub fn bits(text: &str, bits: u32) -> Option<u64> {
    let value = match text.contains(['x', 'X']) {
        true => hexadecimal(text)?,
        false if bits == 32 => return text.parse::<f32>().ok().map(|value| value.to_bits().into()),
        false => text.parse().ok()?,
    };
    match bits {
        16 => Some(
            beyond(value, 10, 15)
                .unwrap_or_else(|| half::Format::of(Type { sort: Sort::Float, bits: 16 }).nearest(value)),
        ),
        32 => Some(beyond(value, 23, 127).unwrap_or_else(|| (value as f32).to_bits().into())),
        64 => Some(value.to_bits()),
        _ => None,
    }
}

/// A number as `-0x1.8p+3`: hexadecimal digits, and a power of two in decimal ones.
fn hexadecimal(text: &str) -> Option<f64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |digits| (-1.0, digits));
    let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"))?;
    let (digits, exponent) = digits.split_once(['p', 'P']).unwrap_or((digits, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let value = u64::from_str_radix(&format!("{whole}{fraction}"), 16).ok()?;
    let exponent = exponent.parse::<i32>().ok().filter(|exponent| exponent.unsigned_abs() < 1 << 12)?;
    let places = i32::try_from(fraction.len()).ok()?;
    Some(sign * value as f64 * 2f64.powi(exponent - 4 * places))
}

/// The bits of what a format has no number for: its greatest exponent and one more, for an infinity or what is no
/// number.
fn beyond(value: f64, fraction: u32, greatest: i32) -> Option<u64> {
    let part = value.abs() / 2f64.powi(greatest + 1) - 1.0;
    let is_beyond = (0.0..1.0).contains(&part);
    let sign = u64::from(value.is_sign_negative()) << (fraction + u32::BITS - (greatest as u32).leading_zeros() + 1);
    let exponent = (2 * greatest as u64 + 1) << fraction;
    is_beyond.then(|| sign | exponent | (part * f64::from(1u32 << fraction)) as u64)
}

#[cfg(test)]
mod tests {
    use super::bits;

    #[test]
    fn hexadecimal_digits_and_what_is_no_number() {
        for (text, size, expected) in [
            ("0x1p+0", 16, 0x3c00),
            ("-0x1.8p+1", 16, 0xc200),
            ("0x1p-24", 16, 1),
            ("0x1p+16", 16, 0x7c00),
            ("-0x1.8p+16", 16, 0xfe00),
            ("0x1p+128", 32, 0x7f80_0000),
            ("-0x1.8p+128", 32, 0xffc0_0000),
            ("0x1.8p+1", 64, 0x4008_0000_0000_0000),
            ("0.5", 16, 0x3800),
            ("0.5", 32, 0x3f00_0000),
        ] {
            assert_eq!(bits(text, size), Some(expected), "{text}");
        }
        assert_eq!((bits("0x", 16), bits("0x1p", 32), bits("1.5", 8)), (None, None, None));
    }
}
