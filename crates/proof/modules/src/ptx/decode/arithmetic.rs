//! Decodes arithmetic, logic and shifts: PTX ISA 9.7.1 to 9.7.3 and 9.7.8.

use super::super::Parsed;
use super::super::statement::Operand;
use super::modifiers::Modifiers;
use super::names::Names;
use super::operands;
use crate::code::{Bin, Bitwise, Carry, Lanes, Op, Rounded, Rounding, Tern, Un};
use crate::meaning::exact::Which;
use crate::meaning::float::{self, Modes};
use crate::meaning::half::{self, Finish};
use crate::meaning::{bits, int};
use crate::types::{Sort, Type};

fn numeric(ty: Type) -> bool {
    ty.bits >= 16 && (ty.is_integer() || ty.is_float())
}

pub(super) fn un(names: &mut Names, list: &[Operand], ty: Type, to: Type, f: Un) -> Parsed<Op> {
    let [d, a] = operands(names, list)?;
    Ok(Op::Un { f, bitwise: Bitwise::NOT, a: names.src(a, ty)?, d: names.destination(d, to)? })
}

pub(super) fn bin(names: &mut Names, list: &[Operand], ty: Type, to: Type, f: Bin) -> Parsed<Op> {
    let [d, a, b] = operands(names, list)?;
    Ok(Op::Bin { f, bitwise: Bitwise::NOT, a: names.src(a, ty)?, b: names.src(b, ty)?, d: names.destination(d, to)? })
}

pub(super) fn tern(names: &mut Names, list: &[Operand], tys: [Type; 3], to: Type, f: Tern) -> Parsed<Op> {
    let [d, a, b, c] = operands(names, list)?;
    let [ta, tb, tc] = tys;
    Ok(Op::Tern {
        f,
        bitwise: Bitwise::NOT,
        a: names.src(a, ta)?,
        b: names.src(b, tb)?,
        c: names.src(c, tc)?,
        d: names.destination(d, to)?,
    })
}

fn twice(ty: Type) -> Type {
    Type { bits: ty.bits * 2, ..ty }
}

/// Takes a rounding; `None` if none is written, which is to the nearest.
fn rounding(m: &mut Modifiers<'_>) -> Option<Rounding> {
    m.maybe(Rounding::named)
}

/// The floating-point instruction of that name with two operands.
fn float_two(name: &str, nan: bool) -> Option<float::Two> {
    Some(match (name, nan) {
        ("add", false) => float::Two::Add,
        ("sub", false) => float::Two::Sub,
        ("mul", false) => float::Two::Mul,
        ("div", false) => float::Two::Div,
        ("min", false) => float::Two::Min,
        ("min", true) => float::Two::MinNan,
        ("max", false) => float::Two::Max,
        ("max", true) => float::Two::MaxNan,
        _ => return None,
    })
}

/// The instruction that rounds other than to the nearest, if that name has one.
fn rounded(name: &str) -> Option<Which> {
    Some(match name {
        "add" => Which::Add,
        "sub" => Which::Sub,
        "mul" => Which::Mul,
        "div" => Which::Div,
        "fma" | "mad" => Which::Fma,
        "sqrt" => Which::Sqrt,
        "rcp" => Which::Rcp,
        _ => return None,
    })
}

/// An instruction on each half of its operands, which are words.
fn halves(names: &mut Names, list: &[Operand], f: Lanes) -> Parsed<Op> {
    let count = match f {
        Lanes::One(_) => 2,
        Lanes::Two(_) | Lanes::Test(..) => 3,
        Lanes::Three(_) => 4,
    };
    if list.len() != count {
        return names.fail(format!("Incorrect number of operands: {} instead of {count}", list.len()));
    }
    let mut source = |at: usize| names.src(list.get(at).unwrap_or(&list[1]), Type::B32);
    let (a, b, c) = (source(1)?, source(2)?, source(3)?);
    Ok(Op::Halves { f, a, b, c, d: names.destination(&list[0], Type::B32)? })
}

/// The modifiers of an instruction with two operands, and its type.
struct TwoModifiers {
    /// `.approx` or `.full`
    approximate: bool,
    rounding: Option<Rounding>,
    /// The part of the product that `mul` gives.
    half: Option<int::Two>,
    flush: bool,
    /// `.NaN`: the result is a NaN where an operand is.
    nan: bool,
    saturate: bool,
    relu: bool,
    /// Whether the operands are words of two numbers.
    pair: bool,
    ty: Type,
}

impl TwoModifiers {
    fn illegal(&self, m: &Modifiers<'_>) -> Parsed<Op> {
        m.fail(format!("Illegal modifiers for instruction '{}' of type {}", m.name, self.ty))
    }
}

/// Decodes `add`, `sub`, `mul`, `div`, `rem`, `min`, `max`.
pub fn two(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    if matches!(m.name, "add" | "sub") && m.has("cc") {
        return carry(m, names, list, true);
    }
    let approximate = m.name == "div" && (m.has("approx") || m.has("full"));
    let rounding = rounding(m);
    let half = if m.name == "mul" { m.maybe(product) } else { None };
    let flush = m.has("ftz");
    let nan = matches!(m.name, "min" | "max") && m.has("NaN");
    let saturate = m.has("sat");
    if m.peek() == Some("xorsign") {
        return m.fail("'.xorsign.abs' is not known here");
    }
    let relu = m.has("relu");
    let (pair, ty) = m.halves(numeric)?;
    m.end()?;
    let with = TwoModifiers { approximate, rounding, half, flush, nan, saturate, relu, pair, ty };
    if ty.is_float() { two_floats(m, names, list, &with) } else { two_integers(m, names, list, &with) }
}

fn two_floats(m: &Modifiers<'_>, names: &mut Names, list: &[Operand], with: &TwoModifiers) -> Parsed<Op> {
    let &TwoModifiers { approximate, rounding, half, flush, nan, saturate, relu, pair, ty } = with;
    let Some(which) = float_two(m.name, nan) else {
        return m.fail(format!("Illegal type {ty} for instruction '{}'", m.name));
    };
    let picks = matches!(m.name, "min" | "max");
    if ty.bits == 16 {
        let finish = if saturate { Finish::Saturate } else { Finish::None };
        let legal = half.is_none()
            && !(flush || approximate || relu)
            && if picks { !saturate && rounding.is_none() } else { matches!(rounding, None | Some(Rounding::Nearest)) };
        return match half::two(which, ty, finish).filter(|_| legal) {
            Some(f) if pair => halves(names, list, Lanes::Two(f)),
            Some(f) => bin(names, list, ty, ty, f),
            None => with.illegal(m),
        };
    }
    let single = ty.bits == 32;
    let legal = half.is_none()
        && !relu
        && (single || !(flush || saturate || nan || approximate))
        && !(picks && (saturate || rounding.is_some()))
        && (m.name != "div" || approximate != rounding.is_some());
    if !legal {
        return with.illegal(m);
    }
    if let (Some(rounding), Some(which)) = (rounding.filter(|&way| way != Rounding::Nearest), rounded(m.name)) {
        let [d, a, b] = operands(names, list)?;
        let (a, b, d) = (names.src(a, ty)?, names.src(b, ty)?, names.destination(d, ty)?);
        let how = Box::new(Rounded { which, ty, rounding, flush, saturate });
        return Ok(Op::Rounded { how, d, a, b, c: a });
    }
    let f = if single { float::two32(which, Modes { flush, saturate }) } else { float::two64(which) };
    bin(names, list, ty, ty, f)
}

fn two_integers(m: &Modifiers<'_>, names: &mut Names, list: &[Operand], with: &TwoModifiers) -> Parsed<Op> {
    let &TwoModifiers { approximate, rounding, half, flush, nan, saturate, relu, pair, ty } = with;
    let which = match (m.name, half, saturate) {
        ("add", None, false) => int::Two::Add,
        ("sub", None, false) => int::Two::Sub,
        ("add", None, true) => int::Two::AddSaturated,
        ("sub", None, true) => int::Two::SubSaturated,
        ("mul", Some(half), false) => half,
        ("div", None, false) => int::Two::Div,
        ("rem", None, false) => int::Two::Rem,
        ("min", None, false) => int::Two::Min,
        ("max", None, false) => int::Two::Max,
        ("mul", None, _) => return m.fail("Instruction 'mul' requires one of modifiers '.hi', '.lo' or '.wide'"),
        _ => return m.illegal(),
    };
    let saturates = !saturate || ty == Type { sort: Sort::Signed, bits: 32 };
    let plain = !(flush || rounding.is_some() || approximate || nan);
    if pair {
        // 9.7.1.1, 9.7.1.11, 9.7.1.12: of two halves there are `add`, and `min` and `max`, which may end with `.relu`.
        let f = int::two(which, ty);
        let f: Lanes = match m.name {
            "add" if plain && !relu && !saturate => Lanes::Two(f),
            "min" | "max" if plain && !relu => Lanes::Two(f),
            _ => return with.illegal(m),
        };
        return halves(names, list, f);
    }
    if !plain || relu || !saturates || which == int::Two::MulWide && ty.bits == 64 {
        return with.illegal(m);
    }
    if matches!(which, int::Two::Div | int::Two::Rem) {
        return quotient(names, list, which, ty);
    }
    let to = if which == int::Two::MulWide { twice(ty) } else { ty };
    bin(names, list, ty, to, int::two(which, ty))
}

/// An integer division or its remainder, which the ISA leaves open for some operands, unless a constant divisor is none
/// of them.
fn quotient(names: &mut Names, list: &[Operand], which: int::Two, ty: Type) -> Parsed<Op> {
    let [d, a, b] = operands(names, list)?;
    let (a, b, d) = (names.src(a, ty)?, names.src(b, ty)?, names.destination(d, ty)?);
    let (f, is_open) = (int::two(which, ty), int::leaves_open(ty));
    let by = b.as_reg().is_none().then(|| b.get::<u64>(&[], &names.constants));
    let may_be_open = by.is_none_or(|by| is_open(0, by) || ty.sort == Sort::Signed && by & ty.mask() == ty.mask());
    Ok(if may_be_open { Op::Partial { f, d, a, b, is_open } } else { Op::Bin { f, bitwise: Bitwise::NOT, d, a, b } })
}

fn product(word: &str) -> Option<int::Two> {
    match word {
        "lo" => Some(int::Two::MulLo),
        "hi" => Some(int::Two::MulHi),
        "wide" => Some(int::Two::MulWide),
        _ => None,
    }
}

/// Decodes `add.cc`, `addc`, `sub.cc`, `subc` (9.7.2 "Extended-Precision Integer Arithmetic").
pub fn carry(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand], gives: bool) -> Parsed<Op> {
    let takes = matches!(m.name, "addc" | "subc");
    let gives = gives || m.has("cc");
    let ty = m.ty(|ty| ty.is_integer() && ty.bits >= 32)?;
    m.end()?;
    let how = Carry { subtract: m.name.starts_with("sub"), takes, gives, wide: ty.bits == 64 };
    let [d, a, b] = operands(names, list)?;
    Ok(Op::Carry { how, a: names.src(a, ty)?, b: names.src(b, ty)?, d: names.destination(d, ty)? })
}

/// Decodes `mad`, `fma`.
pub fn mad(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let rounding = rounding(m);
    let half = if m.name == "mad" { m.maybe(product) } else { None };
    if half.is_some() && m.has("cc") {
        return carry_product(m, names, list, half, true);
    }
    let modes = Modes { flush: m.has("ftz"), saturate: m.has("sat") };
    let relu = m.has("relu");
    let (pair, ty) = m.halves(numeric)?;
    m.end()?;
    let illegal = || m.fail(format!("Illegal modifiers for instruction '{}' of type {ty}", m.name));
    if ty.is_float() && ty.bits == 16 {
        let finish = match (modes.saturate, relu) {
            (false, false) => Finish::None,
            (true, false) => Finish::Saturate,
            (false, true) => Finish::Relu,
            (true, true) => return illegal(),
        };
        if rounding != Some(Rounding::Nearest) || half.is_some() || modes.flush || m.name != "fma" {
            return illegal();
        }
        let f = half::fma(ty, finish);
        return if pair { halves(names, list, Lanes::Three(f)) } else { tern(names, list, [ty; 3], ty, f) };
    }
    if pair || relu {
        return illegal();
    }
    if ty.is_float() {
        let Some(rounding) = rounding.filter(|_| half.is_none() && (ty.bits == 32 || modes == Modes::default())) else {
            return m.fail(format!("Rounding modifier required for instruction '{}'", m.name));
        };
        if rounding != Rounding::Nearest {
            let [d, a, b, c] = operands(names, list)?;
            let Modes { flush, saturate } = modes;
            let how = Box::new(Rounded { which: Which::Fma, ty, rounding, flush, saturate });
            let (a, b, c) = (names.src(a, ty)?, names.src(b, ty)?, names.src(c, ty)?);
            return Ok(Op::Rounded { how, a, b, c, d: names.destination(d, ty)? });
        }
        let f = if ty.bits == 32 { float::fma32(modes) } else { float::fma64 };
        return tern(names, list, [ty; 3], ty, f);
    }
    let signed_word = ty == Type { sort: Sort::Signed, bits: 32 };
    match half {
        Some(int::Two::MulHi)
            if signed_word && modes == (Modes { flush: false, saturate: true }) && rounding.is_none() =>
        {
            tern(names, list, [ty; 3], ty, bits::mad_high_saturated)
        }
        Some(half) if rounding.is_none() && modes == Modes::default() && m.name == "mad" => {
            if half == int::Two::MulWide && ty.bits == 64 {
                return m.fail("Illegal type for instruction 'mad.wide'");
            }
            let to = if half == int::Two::MulWide { twice(ty) } else { ty };
            tern(names, list, [ty, ty, to], to, int::mad(half, ty))
        }
        _ => illegal(),
    }
}

/// Decodes `madc.{hi,lo}{.cc}`.
pub fn madc(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let half = m.maybe(product);
    let gives = m.has("cc");
    carry_product(m, names, list, half, gives)
}

/// Decodes what stands behind `mad.{hi,lo}.cc`, or behind `madc.{hi,lo}{.cc}` (9.7.2.5, 9.7.2.6).
fn carry_product(
    m: &mut Modifiers<'_>,
    names: &mut Names,
    list: &[Operand],
    half: Option<int::Two>,
    gives: bool,
) -> Parsed<Op> {
    let Some(half) = half.filter(|&half| half != int::Two::MulWide) else { return m.illegal() };
    let ty = m.ty(|ty| ty.is_integer() && ty.bits >= 32)?;
    m.end()?;
    let how = Carry { subtract: false, takes: m.name == "madc", gives, wide: ty.bits == 64 };
    let [d, a, b, c] = operands(names, list)?;
    let (a, b, c) = (names.src(a, ty)?, names.src(b, ty)?, names.src(c, ty)?);
    Ok(Op::CarryProduct { how, f: int::two(half, ty), a, b, c, d: names.destination(d, ty)? })
}

/// Decodes `neg`, `abs`, and the roots and powers of floats.
pub fn one(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let approximate = m.has("approx");
    let rounding = rounding(m);
    let rounded_by = rounding.is_some();
    let flush = m.has("ftz");
    let (pair, ty) = m.halves(numeric)?;
    m.end()?;
    let short = ty.is_float() && ty.bits == 16;
    // The reciprocals of doubles are flushed, and approximate to fewer bits than are computed here (9.7.3.13,
    // 9.7.3.17).
    let flushes_double = matches!(m.name, "rcp" | "rsqrt") && approximate;
    let legal = match m.name {
        "neg" | "abs" => !approximate && !rounded_by && (ty.sort == Sort::Signed || ty.is_float()),
        "ex2" | "tanh" if short => approximate && !rounded_by && !(flush && ty.sort == Sort::Float),
        _ if short => false,
        "sqrt" => approximate != rounded_by && ty.is_float() && !(approximate && ty.bits == 64),
        "rcp" => approximate != rounded_by && ty.is_float() && !(approximate && ty.bits == 64 && !flush),
        "rsqrt" => approximate && !rounded_by && ty.is_float(),
        _ => approximate && !rounded_by && ty == Type { sort: Sort::Float, bits: 32 },
    };
    let flushes = ty.is_float() && (ty.bits == 32 || ty.bits == 64 && flushes_double || ty.sort == Sort::Brain);
    if !legal || flush && !flushes || pair && !short {
        return m.fail(format!("Illegal modifiers for instruction '{}' of type {ty}", m.name));
    }
    if let (Some(rounding), Some(which)) = (rounding.filter(|&way| way != Rounding::Nearest), rounded(m.name)) {
        let [d, a] = operands(names, list)?;
        let (a, d) = (names.src(a, ty)?, names.destination(d, ty)?);
        let how = Box::new(Rounded { which, ty, rounding, flush, saturate: false });
        return Ok(Op::Rounded { how, d, a, b: a, c: a });
    }
    let f = match (ty.is_float(), ty.bits) {
        (false, _) => Some(int::one(m.name == "neg", ty)),
        (true, 16) => half::one(m.name, ty),
        (true, 32) => float::one32(m.name, flush),
        (true, _) if flush => float::one64_flushed(m.name),
        (true, _) => float::one64(m.name),
    };
    match f {
        Some(f) if pair => halves(names, list, Lanes::One(f)),
        Some(f) => un(names, list, ty, ty, f),
        None => m.illegal(),
    }
}

/// Decodes `copysign`, whose result has the first operand's sign.
pub fn copysign(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let ty = m.ty(|ty| ty.is_float() && ty.bits >= 32)?;
    m.end()?;
    let which = float::Two::CopySign;
    let f = if ty.bits == 32 { float::two32(which, Modes::default()) } else { float::two64(which) };
    bin(names, list, ty, ty, f)
}

/// Decodes `and`, `or`, `xor`, `not`, `cnot`.
pub fn logic(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let ty = m.ty(|ty| ty.sort == Sort::Pred || ty.sort == Sort::Bits && ty.bits >= 16)?;
    m.end()?;
    match m.name {
        "and" => bin(names, list, ty, ty, |a, b| a & b).map(|op| op.bit_by_bit(2)),
        "or" => bin(names, list, ty, ty, |a, b| a | b).map(|op| op.bit_by_bit(2)),
        "xor" => bin(names, list, ty, ty, |a, b| a ^ b).map(|op| op.bit_by_bit(2)),
        "not" => un(names, list, ty, ty, int::not(ty.bits)).map(|op| op.bit_by_bit(1)),
        _ if ty == Type::PRED => m.fail("Illegal type .pred for instruction 'cnot'"),
        _ => un(names, list, ty, ty, |a| u64::from(a == 0)),
    }
}

/// Decodes `shl`, `shr`: the amount has 32 bits, whatever the type.
pub fn shift(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let left = m.name == "shl";
    let ty = m.ty(|ty| ty.bits >= 16 && (ty.sort == Sort::Bits || !left && ty.is_integer()))?;
    m.end()?;
    let [d, a, b] = operands(names, list)?;
    let f = if left { int::shl(ty.bits) } else { int::shr(ty) };
    Ok(Op::Bin {
        f,
        bitwise: Bitwise(1),
        a: names.src(a, ty)?,
        b: names.src(b, Type::U32)?,
        d: names.destination(d, ty)?,
    })
}

/// Decodes the sum of products of matrices: `d, a, b`, floats of 32 bits.
pub fn open_sum(names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let ty = Type { sort: Sort::Float, bits: 32 };
    let [d, a, b] = operands(names, list)?;
    let (a, b) = (names.src(a, ty)?, names.src(b, ty)?);
    Ok(Op::Partial { f: float::sum, d: names.destination(d, ty)?, a, b, is_open: float::sum_rounds })
}
