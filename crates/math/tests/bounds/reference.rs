//! What mathematical functions are measured against: a library of arbitrary precision.

use astro_float_num::{BigFloat, Consts, Exponent, RoundingMode};

/// Bits of the reference: those of an `f64`, and enough that its own error does not count.
const PRECISION: usize = 192;
const MODE: RoundingMode = RoundingMode::ToEven;

/// A float format.
pub trait Format: Copy + std::fmt::Debug + Into<f64> {
    /// Its name.
    const NAME: &'static str;
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
}

macro_rules! float_format {
    ($t:ident) => {
        impl Format for $t {
            const NAME: &'static str = stringify!($t);
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

    /// A function by its name, of finite operands that are not zero and for which it is defined.
    pub fn truth(&mut self, name: &str, operand: f64, second: f64) -> Truth {
        let (x, consts) = (Self::number(operand), &mut self.0);
        // Far beyond every range, and not so far that the library loses the sign.
        let near = Self::number(operand.clamp(-1e5, 1e5));
        let one = Self::number(1.0);
        let is_tiny = operand.abs() < 2f64.powi(-100);
        Truth::Near(match name {
            "rsqrt" => x.sqrt(PRECISION, MODE).reciprocal(PRECISION, MODE),
            "cbrt" => x.cbrt(PRECISION, MODE),
            "exp" => near.exp(PRECISION, MODE, consts),
            "exp2" => near.mul(&consts.ln_2(PRECISION, MODE), PRECISION, MODE).exp(PRECISION, MODE, consts),
            // Of tiny numbers two terms of the series.
            "exp_m1" if is_tiny => {
                x.add(&x.mul(&x, PRECISION, MODE).mul(&Self::number(0.5), PRECISION, MODE), PRECISION, MODE)
            }
            "ln_1p" if is_tiny => {
                x.sub(&x.mul(&x, PRECISION, MODE).mul(&Self::number(0.5), PRECISION, MODE), PRECISION, MODE)
            }
            "exp_m1" => near.exp(2 * PRECISION, MODE, consts).sub(&one, PRECISION, MODE),
            "ln_1p" => x.add(&one, 8 * PRECISION, MODE).ln(PRECISION, MODE, consts),
            "ln" => x.ln(PRECISION, MODE, consts),
            "log2" => x.ln(PRECISION, MODE, consts).div(&consts.ln_2(PRECISION, MODE), PRECISION, MODE),
            "log10" => x.ln(PRECISION, MODE, consts).div(&consts.ln_10(PRECISION, MODE), PRECISION, MODE),
            "sin" => x.sin(PRECISION, MODE, consts),
            "cos" => x.cos(PRECISION, MODE, consts),
            "tan" => {
                let cos = x.cos(PRECISION, MODE, consts);
                x.sin(PRECISION, MODE, consts).div(&cos, PRECISION, MODE)
            }
            "asin" => x.asin(PRECISION, MODE, consts),
            "acos" => x.acos(PRECISION, MODE, consts),
            "atan" => x.atan(PRECISION, MODE, consts),
            "sinh" => near.sinh(PRECISION, MODE, consts),
            "cosh" => near.cosh(PRECISION, MODE, consts),
            "tanh" => near.tanh(PRECISION, MODE, consts),
            "asinh" => x.asinh(PRECISION, MODE, consts),
            "acosh" => x.acosh(PRECISION, MODE, consts),
            "atanh" => x.atanh(PRECISION, MODE, consts),
            "pow" | "powi" => return self.pow(operand, second),
            "atan2" => return self.atan2(operand, second),
            "hypot" => {
                let y = Self::number(second);
                let sum = x.mul(&x, PRECISION, MODE).add(&y.mul(&y, PRECISION, MODE), PRECISION, MODE);
                sum.sqrt(PRECISION, MODE)
            }
            _ => panic!("{name}"),
        })
    }

    /// The power; by its logarithm, since the library's own does not end where the result is exact.
    fn pow(&mut self, x: f64, y: f64) -> Truth {
        let log = Self::number(x.abs()).ln(2 * PRECISION, MODE, &mut self.0);
        if log.is_zero() {
            return Truth::Exactly(if x < 0.0 && y % 2.0 != 0.0 { -1.0 } else { 1.0 });
        }
        let exponent = log.mul(&Self::number(y), 2 * PRECISION, MODE);
        let far = exponent.abs().cmp(&Self::number(1e5)).is_some_and(|order| order > 0);
        let exponent = if far {
            Self::number(1e5).mul(&Self::number(if exponent.is_negative() { -1.0 } else { 1.0 }), 64, MODE)
        } else {
            exponent
        };
        let value = exponent.exp(PRECISION, MODE, &mut self.0);
        Truth::Near(if x < 0.0 && y % 2.0 != 0.0 { value.neg() } else { value })
    }

    fn atan2(&mut self, y: f64, x: f64) -> Truth {
        let quotient = Self::number(y.abs()).div(&Self::number(x.abs()), PRECISION, MODE);
        let angle = quotient.atan(PRECISION, MODE, &mut self.0);
        let pi = self.0.pi(PRECISION, MODE);
        let angle = if x < 0.0 { pi.sub(&angle, PRECISION, MODE) } else { angle };
        Truth::Near(if y < 0.0 { angle.neg() } else { angle })
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
