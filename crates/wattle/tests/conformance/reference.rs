//! What mathematical functions are measured against: a library of arbitrary precision.

use astro_float_num::{BigFloat, Consts, Exponent, RoundingMode};

/// Bits of the reference: those of an `f64`, and enough that its own error does not count.
const PRECISION: usize = 192;
const MODE: RoundingMode = RoundingMode::ToEven;

/// A float format.
pub trait Format: wattle::prelude::Float + Into<f64> + std::ops::Neg<Output = Self> {
    /// Bits of the significand, with the hidden one.
    const DIGITS: i32;
    /// The least normal number.
    const LEAST: f64;
    /// The greatest finite number.
    const MOST: f64;
    /// The nearest number of this format.
    fn of(x: f64) -> Self;
    /// The next greater number.
    fn above(self) -> Self;
    /// The next lesser number.
    fn below(self) -> Self;
    /// A number with random bits.
    fn any(bits: u64) -> Self;
}

macro_rules! float_format {
    ($t:ident) => {
        impl Format for $t {
            const DIGITS: i32 = $t::MANTISSA_DIGITS as i32;
            const LEAST: f64 = $t::MIN_POSITIVE as f64;
            const MOST: f64 = $t::MAX as f64;
            fn of(x: f64) -> $t {
                x as $t
            }
            fn above(self) -> $t {
                self.next_up()
            }
            fn below(self) -> $t {
                self.next_down()
            }
            fn any(bits: u64) -> $t {
                $t::from_bits(bits as _)
            }
        }
    };
}
float_format!(f32);
float_format!(f64);

/// What is true of a function for some operands.
#[derive(Clone)]
pub enum Truth {
    /// This very value, with its sign; any NaN for a NaN.
    Exactly(f64),
    /// A number that is not zero, as far as the reference's exponents reach: below and above them zero and infinity.
    Near(BigFloat),
    /// About the number, or this very value, where an operand may count as zero.
    Either(BigFloat, f64),
}

/// Functions of arbitrary precision.
pub struct Reference(Consts);

impl Reference {
    pub fn new() -> Reference {
        Reference(Consts::new().expect("room for constants"))
    }

    fn number(x: f64) -> BigFloat {
        // The library takes subnormal numbers for others, so they are scaled.
        let scale = if x.is_subnormal() { 128 } else { 0 };
        let mut number = BigFloat::from_f64(x * 2f64.powi(scale), 64);
        number.set_exponent(number.exponent().unwrap_or(0) - scale);
        number
    }

    /// A function of one finite operand, by its name. Zeros and what is no number are for the caller.
    pub fn unary(&mut self, name: &str, operand: f64) -> Truth {
        let (x, consts) = (Self::number(operand), &mut self.0);
        Truth::Near(match name {
            "sqrt" => x.sqrt(PRECISION, MODE),
            "rsqrt" => x.sqrt(PRECISION, MODE).reciprocal(PRECISION, MODE),
            // Far beyond every range, and not so far that the library loses the sign.
            "exp" => Self::number(operand.clamp(-1e5, 1e5)).exp(PRECISION, MODE, consts),
            "ln" => x.ln(PRECISION, MODE, consts),
            "sin" => x.sin(PRECISION, MODE, consts),
            "cos" => x.cos(PRECISION, MODE, consts),
            "tanh" => x.tanh(PRECISION, MODE, consts),
            _ => panic!("{name}"),
        })
    }

    /// The power of a positive number; by its logarithm, since the library's own does not end where the result is exact.
    pub fn pow(&mut self, x: f64, y: f64) -> Truth {
        let exponent = Self::number(x).ln(2 * PRECISION, MODE, &mut self.0).mul(&Self::number(y), 2 * PRECISION, MODE);
        Truth::Near(exponent.exp(PRECISION, MODE, &mut self.0))
    }

    /// The sine of the sine.
    pub fn sin_of_sin(&mut self, x: f64) -> Truth {
        let inner = Self::number(x).sin(PRECISION, MODE, &mut self.0);
        Truth::Near(inner.sin(PRECISION, MODE, &mut self.0))
    }

    pub fn quotient(&self, x: f64, y: f64) -> Truth {
        Truth::Near(Self::number(x).div(&Self::number(y), PRECISION, MODE))
    }

    /// `x * y + z`, of which the product is exact.
    pub fn fma(&self, x: f64, y: f64, z: f64) -> Truth {
        let product = Self::number(x).mul(&Self::number(y), PRECISION, MODE);
        let sum = product.add(&Self::number(z), PRECISION, MODE);
        if sum.is_zero() { Truth::Exactly(x * y + z) } else { Truth::Near(sum) }
    }
}

impl Truth {
    /// This, or what it is where a subnormal operand counts as zero.
    pub fn or(self, exact: f64) -> Truth {
        match self {
            Truth::Near(x) => Truth::Either(x, exact),
            other => other,
        }
    }

    /// The same truth with its sign turned.
    pub fn negative(self) -> Truth {
        match self {
            Truth::Exactly(x) => Truth::Exactly(-x),
            Truth::Near(x) => Truth::Near(x.neg()),
            Truth::Either(x, exact) => Truth::Either(x.neg(), -exact),
        }
    }

    /// How far `found` is from it in ulp of it, or why it is wrong altogether.
    pub fn error<T: Format>(&self, found: T, bound: f64) -> Result<f64, String> {
        let value: f64 = found.into();
        let truth = match self {
            Truth::Exactly(exact) => {
                let same = value.to_bits() == exact.to_bits() || (value.is_nan() && exact.is_nan());
                return if same { Ok(0.0) } else { Err(format!("{found:?} and not {exact:?}")) };
            }
            Truth::Either(_, exact) if value.to_bits() == exact.to_bits() => return Ok(0.0),
            Truth::Near(truth) | Truth::Either(truth, _) => truth,
        };
        let wrong = |what: &str| Err(format!("{found:?} and not {what} {}", approximately(truth)));
        if value.is_nan() || value.is_sign_negative() != truth.is_negative() {
            return wrong("about");
        }
        let least = BigFloat::from_f64(T::LEAST, 64);
        if truth.abs().cmp(&least).is_none_or(|order| order < 0) {
            return if value.abs() <= T::LEAST { Ok(0.0) } else { wrong("the subnormal") };
        }
        let ulp = |x: &BigFloat| x.exponent().unwrap_or(0) - T::DIGITS;
        if value.is_infinite() {
            let most = BigFloat::from_f64(T::MOST, 64);
            let below = most.sub(&truth.abs(), PRECISION, MODE);
            let far = below.is_positive() && in_units(&below, ulp(&most)) > bound;
            return if far { wrong("about") } else { Ok(0.0) };
        }
        if truth.is_inf() {
            return wrong("what is beyond all numbers,");
        }
        Ok(in_units(&Reference::number(value).sub(truth, PRECISION, MODE), ulp(truth)))
    }
}

/// The size of `x` in units of 2^`exponent`.
fn in_units(x: &BigFloat, exponent: Exponent) -> f64 {
    match x.as_raw_parts() {
        Some((words, _, _, own, _)) if !x.is_zero() => {
            let fraction = words.last().map_or(0.0, |word| *word as f64) * 2f64.powi(-64);
            fraction * f64::from(own - exponent).clamp(-2000.0, 1000.0).exp2()
        }
        Some(_) => 0.0,
        None => f64::INFINITY,
    }
}

fn approximately(x: &BigFloat) -> String {
    let sign = if x.is_negative() { "-" } else { "" };
    format!("{sign}{:e} 2^{}", in_units(x, x.exponent().unwrap_or(0)), x.exponent().unwrap_or(0))
}
