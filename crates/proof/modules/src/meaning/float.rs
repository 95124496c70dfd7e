//! Floating-point instructions (PTX ISA 9.7.3). The only rounding is to the nearest, ties to even. A NaN of 32 bits
//! comes out as the canonical one, 0x7FFFFFFF.

use crate::functions::{Bin, Tern, Un};

const NAN: u64 = 0x7FFF_FFFF;

/// A subnormal number as zero with its sign.
pub fn flushed(a: f32) -> f32 {
    if a.is_subnormal() { 0.0f32.copysign(a) } else { a }
}

/// The nearest number of the format of matrices, whose last 13 bits are zero here; ties go away from zero.
pub fn to_tf32(bits: u64) -> u64 {
    let word = bits as u32;
    match f32::from_bits(word) {
        a if a.is_nan() => NAN,
        a if a.is_infinite() => u64::from(word),
        _ => u64::from((word + 0x1000) & !0x1fff),
    }
}

fn take<const FLUSH: bool>(bits: u64) -> f32 {
    let a = f32::from_bits(bits as u32);
    if FLUSH { flushed(a) } else { a }
}

fn give<const FLUSH: bool, const SATURATE: bool>(a: f32) -> u64 {
    let a = if FLUSH { flushed(a) } else { a };
    if SATURATE {
        // The result is clamped to [0, 1]; a NaN becomes +0.
        let a = if a.is_nan() || a <= 0.0 { 0.0 } else { a.min(1.0) };
        return u64::from(a.to_bits());
    }
    if a.is_nan() { NAN } else { u64::from(a.to_bits()) }
}

fn double(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// Floating-point instructions with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are the instructions' names")]
pub enum Two {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    /// `min.NaN`: a NaN if one operand is
    MinNan,
    MaxNan,
    CopySign,
}

/// Modifiers of 32-bit instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// Whether subnormal numbers are flushed to zero: `.ftz`.
    pub flush: bool,
    /// Whether the result is clamped to [0, 1]: `.sat`.
    pub saturate: bool,
}

/// The minimum of two numbers; -0 is less than +0, and a NaN is ignored.
fn least(a: f64, b: f64) -> f64 {
    let is_first = if a == b { a.is_sign_negative() } else { a < b };
    if !a.is_nan() && (b.is_nan() || is_first) { a } else { b }
}

fn greatest(a: f64, b: f64) -> f64 {
    -least(-a, -b)
}

fn single<const F: bool, const S: bool>(which: Two) -> Bin {
    match which {
        Two::Add => |a, b| give::<F, S>(take::<F>(a) + take::<F>(b)),
        Two::Sub => |a, b| give::<F, S>(take::<F>(a) - take::<F>(b)),
        Two::Mul => |a, b| give::<F, S>(take::<F>(a) * take::<F>(b)),
        Two::Div => |a, b| give::<F, S>(take::<F>(a) / take::<F>(b)),
        Two::Min => |a, b| give::<F, S>(least(f64::from(take::<F>(a)), f64::from(take::<F>(b))) as f32),
        Two::Max => |a, b| give::<F, S>(greatest(f64::from(take::<F>(a)), f64::from(take::<F>(b))) as f32),
        Two::MinNan => |a, b| {
            let (a, b) = (take::<F>(a), take::<F>(b));
            if a.is_nan() || b.is_nan() { NAN } else { give::<F, S>(least(f64::from(a), f64::from(b)) as f32) }
        },
        Two::MaxNan => |a, b| {
            let (a, b) = (take::<F>(a), take::<F>(b));
            if a.is_nan() || b.is_nan() { NAN } else { give::<F, S>(greatest(f64::from(a), f64::from(b)) as f32) }
        },
        // The result has the first operand's sign and the second one's magnitude.
        Two::CopySign => |a, b| (a & 0x8000_0000) | (b & 0x7FFF_FFFF),
    }
}

/// An `.f32` instruction with two operands.
pub fn two32(which: Two, modes: Modes) -> Bin {
    match (modes.flush, modes.saturate) {
        (false, false) => single::<false, false>(which),
        (true, false) => single::<true, false>(which),
        (false, true) => single::<false, true>(which),
        (true, true) => single::<true, true>(which),
    }
}

/// An `.f64` instruction with two operands; there is no `.NaN` form.
pub fn two64(which: Two) -> Bin {
    match which {
        Two::Add => |a, b| (double(a) + double(b)).to_bits(),
        Two::Sub => |a, b| (double(a) - double(b)).to_bits(),
        Two::Mul => |a, b| (double(a) * double(b)).to_bits(),
        Two::Div => |a, b| (double(a) / double(b)).to_bits(),
        Two::Min | Two::MinNan => |a, b| least(double(a), double(b)).to_bits(),
        Two::Max | Two::MaxNan => |a, b| greatest(double(a), double(b)).to_bits(),
        Two::CopySign => |a, b| (a & (1 << 63)) | (b & !(1 << 63)),
    }
}

/// The function of `fma.rn.f32`.
pub fn fma32(modes: Modes) -> Tern {
    fn of<const F: bool, const S: bool>(a: u64, b: u64, c: u64) -> u64 {
        give::<F, S>(take::<F>(a).mul_add(take::<F>(b), take::<F>(c)))
    }
    match (modes.flush, modes.saturate) {
        (false, false) => of::<false, false>,
        (true, false) => of::<true, false>,
        (false, true) => of::<false, true>,
        (true, true) => of::<true, true>,
    }
}

/// The function of `fma.rn.f64`.
pub fn fma64(a: u64, b: u64, c: u64) -> u64 {
    double(a).mul_add(double(b), double(c)).to_bits()
}

fn one_single<const F: bool>(name: &str) -> Option<Un> {
    Some(match name {
        "neg" => |a| u64::from((-take::<F>(a)).to_bits()),
        "abs" => |a| u64::from(take::<F>(a).abs().to_bits()),
        "sqrt" => |a| give::<F, false>(take::<F>(a).sqrt()),
        "rcp" => |a| give::<F, false>(1.0 / take::<F>(a)),
        "rsqrt" => |a| give::<F, false>((1.0 / f64::from(take::<F>(a)).sqrt()) as f32),
        "sin" => |a| give::<F, false>(f64::from(take::<F>(a)).sin() as f32),
        "cos" => |a| give::<F, false>(f64::from(take::<F>(a)).cos() as f32),
        "lg2" => |a| give::<F, false>(f64::from(take::<F>(a)).log2() as f32),
        "ex2" => |a| give::<F, false>(f64::from(take::<F>(a)).exp2() as f32),
        "tanh" => |a| give::<F, false>(f64::from(take::<F>(a)).tanh() as f32),
        _ => return None,
    })
}

/// An `.f32` instruction with one operand.
pub fn one32(name: &str, flush: bool) -> Option<Un> {
    if flush { one_single::<true>(name) } else { one_single::<false>(name) }
}

/// An `.f64` instruction with one operand.
pub fn one64(name: &str) -> Option<Un> {
    Some(match name {
        "neg" => |a| a ^ (1 << 63),
        "abs" => |a| a & !(1 << 63),
        "sqrt" => |a| double(a).sqrt().to_bits(),
        "rcp" => |a| (1.0 / double(a)).to_bits(),
        "rsqrt" => |a| (1.0 / double(a).sqrt()).to_bits(),
        _ => return None,
    })
}

/// `rcp.approx.ftz.f64`, `rsqrt.approx.ftz.f64`: of a double they take and give the high 32 bits, the low ones being
/// zero (9.7.3.14, 9.7.3.18), which is one of the results that an approximation permits.
pub fn one64_flushed(name: &str) -> Option<Un> {
    fn high(value: f64) -> u64 {
        let value = if value.is_subnormal() { 0.0f64.copysign(value) } else { value };
        value.to_bits() & !0xFFFF_FFFF
    }
    fn flushed(bits: u64) -> f64 {
        f64::from_bits(high(double(bits)))
    }
    Some(match name {
        "rcp" => |a| high(1.0 / flushed(a)),
        "rsqrt" => |a| high(1.0 / flushed(a).sqrt()),
        _ => return None,
    })
}

/// The sum of two floats of 32 bits, rounded to the nearest.
pub fn sum(a: u64, b: u64) -> u64 {
    (f32::from_bits(a as u32) + f32::from_bits(b as u32)).to_bits().into()
}

/// Whether the sum of two floats of 32 bits is not exact: the error of a sum is a float, which follows from it (Knuth,
/// The Art of Computer Programming, 4.2.2, theorem B).
pub fn sum_rounds(a: u64, b: u64) -> bool {
    let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
    let sum = a + b;
    let of_b = sum - a;
    (a - (sum - of_b)) + (b - of_b) != 0.0
}
