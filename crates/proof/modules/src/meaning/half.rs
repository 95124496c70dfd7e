//! Floats of 16 bits (PTX ISA 9.7.4 "Half precision floating-point instructions", 5.2.3 "Alternate floating-point data
//! formats"). Each is a double exactly; the only rounding is to the nearest, ties to even. A NaN comes out as 0x7FFF.

use super::float::Two;
use crate::functions::{Bin, Tern, Test, Un};
use crate::types::{Sort, Type};

const NAN: u64 = 0x7FFF;

/// A format of 16 bits.
pub struct Format {
    /// Bits of the fraction.
    fraction: i32,
    /// The exponent of the least normal number.
    least: i32,
}

const HALF: Format = Format { fraction: 10, least: -14 };
const BRAIN: Format = Format { fraction: 7, least: -126 };

/// 2 to the power of the exponent of a normal double.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

impl Format {
    /// The format of a type of 16 bits.
    pub fn of(ty: Type) -> Format {
        if ty.sort == Sort::Brain { BRAIN } else { HALF }
    }

    /// The number with these bits.
    pub fn number(&self, bits: u64) -> f64 {
        let fraction = (bits & ((1 << self.fraction) - 1)) as f64 * power(-self.fraction);
        let exponent = (bits & 0x7FFF) as i32 >> self.fraction;
        let size = match exponent {
            0 => fraction * power(self.least),
            _ if exponent == 3 - 2 * self.least && fraction == 0.0 => f64::INFINITY,
            _ if exponent == 3 - 2 * self.least => f64::NAN,
            _ => (1.0 + fraction) * power(exponent + self.least - 1),
        };
        if bits & 0x8000 == 0 { size } else { -size }
    }

    /// The bits of the number that is nearest. A zero or a subnormal number keeps its sign.
    pub fn nearest(&self, value: f64) -> u64 {
        if value.is_nan() {
            return NAN;
        }
        let sign = u64::from(value.is_sign_negative()) << 15;
        let infinity = ((3 - 2 * self.least) as u64) << self.fraction;
        if value.is_infinite() {
            return sign | infinity;
        }
        // The last place of numbers of this size, in which the number is then counted.
        let exponent = (((value.to_bits() >> 52) & 0x7FF) as i32 - 1023).max(self.least);
        let count = (value.abs() * power(self.fraction - exponent)).round_ties_even() as u64;
        // A count beyond the fraction's bits carries into the exponent, as it should; from there on up it is infinity.
        let bits = (((exponent - self.least) as u64) << self.fraction) + count;
        sign | bits.min(infinity)
    }
}

/// What happens to a result once it is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The rounded result stays as it is.
    None,
    /// The rounded result is clamped to [0, 1], and a NaN becomes +0: `.sat`.
    Saturate,
    /// A negative number becomes +0: `.relu`.
    Relu,
}

impl Finish {
    /// The number that a result becomes.
    pub fn of(self, value: f64) -> f64 {
        match self {
            Finish::None => value,
            Finish::Saturate if value.is_nan() || value <= 0.0 => 0.0,
            Finish::Saturate => value.min(1.0),
            Finish::Relu if value <= 0.0 => 0.0,
            Finish::Relu => value,
        }
    }
}

/// A format and what happens to results, as a type: an instruction of each pair is a function of its own.
trait Way {
    const FORMAT: Format;
    const FINISH: Finish;
}

macro_rules! ways {
    ($($name:ident: $format:ident, $finish:ident;)*) => {$(
        struct $name;
        impl Way for $name {
            const FORMAT: Format = $format;
            const FINISH: Finish = Finish::$finish;
        }
    )*};
}

ways! {
    HalfNone: HALF, None;
    HalfSaturate: HALF, Saturate;
    HalfRelu: HALF, Relu;
    BrainNone: BRAIN, None;
    BrainSaturate: BRAIN, Saturate;
    BrainRelu: BRAIN, Relu;
}

/// Chooses the function for a type and what happens to results.
macro_rules! way {
    ($of:ident, $ty:expr, $finish:expr $(, $more:expr)*) => {
        match ($ty.sort == Sort::Brain, $finish) {
            (false, Finish::None) => $of::<HalfNone>($($more)*),
            (false, Finish::Saturate) => $of::<HalfSaturate>($($more)*),
            (false, Finish::Relu) => $of::<HalfRelu>($($more)*),
            (true, Finish::None) => $of::<BrainNone>($($more)*),
            (true, Finish::Saturate) => $of::<BrainSaturate>($($more)*),
            (true, Finish::Relu) => $of::<BrainRelu>($($more)*),
        }
    };
}

fn number<W: Way>(bits: u64) -> f64 {
    W::FORMAT.number(bits)
}

fn finished<W: Way>(value: f64) -> u64 {
    W::FORMAT.nearest(W::FINISH.of(value))
}

/// The least of two numbers: -0 is less than +0; a NaN is passed over, or is the result.
fn least(a: f64, b: f64, nan: bool) -> f64 {
    let is_first = if a == b { a.is_sign_negative() } else { a < b };
    match (a.is_nan(), b.is_nan()) {
        (false, false) if is_first => a,
        (false, false) => b,
        (true, true) => f64::NAN,
        _ if nan => f64::NAN,
        (true, false) => b,
        (false, true) => a,
    }
}

/// What a double rounds of sums and products of so few bits does not change the second rounding.
fn two_of<W: Way>(which: Two) -> Option<Bin> {
    Some(match which {
        Two::Add => |a, b| finished::<W>(number::<W>(a) + number::<W>(b)),
        Two::Sub => |a, b| finished::<W>(number::<W>(a) - number::<W>(b)),
        Two::Mul => |a, b| finished::<W>(number::<W>(a) * number::<W>(b)),
        Two::Min => |a, b| finished::<W>(least(number::<W>(a), number::<W>(b), false)),
        Two::Max => |a, b| finished::<W>(-least(-number::<W>(a), -number::<W>(b), false)),
        Two::MinNan => |a, b| finished::<W>(least(number::<W>(a), number::<W>(b), true)),
        Two::MaxNan => |a, b| finished::<W>(-least(-number::<W>(a), -number::<W>(b), true)),
        Two::Div | Two::CopySign => return None,
    })
}

/// The instruction with two operands, if there is one.
pub fn two(which: Two, ty: Type, finish: Finish) -> Option<Bin> {
    way!(two_of, ty, finish, which)
}

/// The instruction with one operand, if there is one: of `neg` and `abs` the sign alone changes, the others
/// approximate.
pub fn one(name: &str, ty: Type) -> Option<Un> {
    fn of<W: Way>(name: &str) -> Option<Un> {
        Some(match name {
            "neg" => |a| a ^ 0x8000,
            "abs" => |a| a & 0x7FFF,
            "ex2" => |a| finished::<W>(number::<W>(a).exp2()),
            "tanh" => |a| finished::<W>(number::<W>(a).tanh()),
            _ => return None,
        })
    }
    way!(of, ty, Finish::None, name)
}

/// `fma.rn`: the product is exact, and the sum's last bit says whether something was lost.
pub fn fma(ty: Type, finish: Finish) -> Tern {
    fn of<W: Way>() -> Tern {
        |a, b, c| {
            let (product, addend) = (number::<W>(a) * number::<W>(b), number::<W>(c));
            let sum = product + addend;
            if !sum.is_finite() || sum == 0.0 {
                return finished::<W>(sum);
            }
            // Of two numbers, the rest of the sum is exact if the greater one is taken off first.
            let (great, small) = if product.abs() < addend.abs() { (addend, product) } else { (product, addend) };
            let rest = small - (sum - great);
            let odd = if rest == 0.0 || sum.to_bits() & 1 == 1 {
                sum
            } else if (rest > 0.0) == (sum > 0.0) {
                f64::from_bits(sum.to_bits() + 1)
            } else {
                f64::from_bits(sum.to_bits() - 1)
            };
            finished::<W>(odd)
        }
    }
    way!(of, ty, finish)
}

/// The comparison of that name, of numbers that single precision has too.
pub fn test(name: &str, ty: Type) -> Option<Test> {
    fn of<W: Way>(name: &str) -> Option<Test> {
        fn nan<W: Way>(a: u64, b: u64) -> bool {
            number::<W>(a).is_nan() || number::<W>(b).is_nan()
        }
        Some(match name {
            "eq" => |a, b| number::<W>(a) == number::<W>(b),
            "ne" => |a, b| !nan::<W>(a, b) && number::<W>(a) != number::<W>(b),
            "lt" => |a, b| number::<W>(a) < number::<W>(b),
            "le" => |a, b| number::<W>(a) <= number::<W>(b),
            "gt" => |a, b| number::<W>(a) > number::<W>(b),
            "ge" => |a, b| number::<W>(a) >= number::<W>(b),
            "equ" => |a, b| nan::<W>(a, b) || number::<W>(a) == number::<W>(b),
            "neu" => |a, b| number::<W>(a) != number::<W>(b),
            "ltu" => |a, b| nan::<W>(a, b) || number::<W>(a) < number::<W>(b),
            "leu" => |a, b| nan::<W>(a, b) || number::<W>(a) <= number::<W>(b),
            "gtu" => |a, b| nan::<W>(a, b) || number::<W>(a) > number::<W>(b),
            "geu" => |a, b| nan::<W>(a, b) || number::<W>(a) >= number::<W>(b),
            "num" => |a, b| !nan::<W>(a, b),
            "nan" => nan::<W>,
            _ => return None,
        })
    }
    way!(of, ty, Finish::None, name)
}
