//! Decodes arithmetic, logic and shifts: PTX ISA 9.7.1 to 9.7.3 and 9.7.8.

use super::super::parse::Parsed;
use super::super::statement::Operand;
use super::modifiers::Modifiers;
use super::names::Names;
use super::operands;
use crate::code::{Bin, Carry, Op, Tern, Un};
use crate::meaning::float::{self, Modes};
use crate::meaning::half;
use crate::meaning::int;
use crate::types::{Sort, Type};

fn numeric(ty: Type) -> bool {
    ty.bits >= 16 && (ty.is_integer() || ty.is_float())
}

fn un(names: &mut Names, list: &[Operand], ty: Type, to: Type, f: Un) -> Parsed<Op> {
    let [d, a] = operands(names, list)?;
    Ok(Op::Un { f, a: names.src(a, ty)?, d: names.destination(d, to)? })
}

fn bin(names: &mut Names, list: &[Operand], ty: Type, to: Type, f: Bin) -> Parsed<Op> {
    let [d, a, b] = operands(names, list)?;
    Ok(Op::Bin { f, a: names.src(a, ty)?, b: names.src(b, ty)?, d: names.destination(d, to)? })
}

fn tern(names: &mut Names, list: &[Operand], tys: [Type; 3], to: Type, f: Tern) -> Parsed<Op> {
    let [d, a, b, c] = operands(names, list)?;
    let [ta, tb, tc] = tys;
    Ok(Op::Tern { f, a: names.src(a, ta)?, b: names.src(b, tb)?, c: names.src(c, tc)?, d: names.destination(d, to)? })
}

fn twice(ty: Type) -> Type {
    Type { bits: ty.bits * 2, ..ty }
}

/// Takes `.rn`, the only supported rounding; returns whether it is written.
fn rounding(m: &mut Modifiers<'_>) -> Parsed<bool> {
    if matches!(m.peek(), Some("rz" | "rm" | "rp")) {
        return m.fail(format!("only rounding to the nearest is known here, not .{}", m.peek().unwrap_or_default()));
    }
    Ok(m.has("rn"))
}

/// Decodes `add`, `sub`, `mul`, `div`, `rem`, `min`, `max`.
pub fn two(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    if matches!(m.name, "add" | "sub") && m.has("cc") {
        return carry(m, names, list, true);
    }
    let approximate = m.name == "div" && (m.has("approx") || m.has("full"));
    let rounded = rounding(m)?;
    let half = if m.name == "mul" { m.maybe(product) } else { None };
    let flush = m.has("ftz");
    let nan = matches!(m.name, "min" | "max") && m.has("NaN");
    let saturate = m.has("sat");
    let ty = m.ty(numeric)?;
    m.end()?;
    if ty.is_float() {
        let which = match m.name {
            "add" => float::Two::Add,
            "sub" => float::Two::Sub,
            "mul" => float::Two::Mul,
            "div" => float::Two::Div,
            "min" => {
                if nan {
                    float::Two::MinNan
                } else {
                    float::Two::Min
                }
            }
            "max" => {
                if nan {
                    float::Two::MaxNan
                } else {
                    float::Two::Max
                }
            }
            _ => return m.fail(format!("Illegal type {ty} for instruction '{}'", m.name)),
        };
        if ty.bits == 16 {
            return short(m, names, list, which, ty, half.is_some() || flush || saturate || nan || approximate);
        }
        let single = ty.bits == 32;
        let legal = half.is_none()
            && (single || !(flush || saturate || nan || approximate))
            && !(matches!(m.name, "min" | "max") && (saturate || rounded))
            && (m.name != "div" || approximate != rounded);
        if !legal {
            return m.fail(format!("Illegal modifiers for instruction '{}' of type {ty}", m.name));
        }
        let f = if single { float::two32(which, Modes { flush, saturate }) } else { float::two64(which) };
        return bin(names, list, ty, ty, f);
    }
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
    if flush || rounded || approximate || nan || !saturates || which == int::Two::MulWide && ty.bits == 64 {
        return m.fail(format!("Illegal modifiers for instruction '{}' of type {ty}", m.name));
    }
    let to = if which == int::Two::MulWide { twice(ty) } else { ty };
    bin(names, list, ty, to, int::two(which, ty))
}

/// Decodes `add`, `sub`, `mul` of 16 bits (9.7.4 "Half Precision Floating-Point Instructions").
fn short(
    m: &Modifiers<'_>,
    names: &mut Names,
    list: &[Operand],
    which: float::Two,
    ty: Type,
    modified: bool,
) -> Parsed<Op> {
    match half::two(which, ty).filter(|_| !modified) {
        Some(f) => bin(names, list, ty, ty, f),
        None => m.fail(format!("Illegal modifiers for instruction '{}' of type {ty}", m.name)),
    }
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
    let rounded = rounding(m)?;
    let half = if m.name == "mad" { m.maybe(product) } else { None };
    let modes = Modes { flush: m.has("ftz"), saturate: m.has("sat") };
    let ty = m.ty(numeric)?;
    m.end()?;
    if ty.is_float() && ty.bits == 16 {
        if !rounded || half.is_some() || modes != Modes::default() || m.name != "fma" {
            return m.fail(format!("Illegal modifiers for instruction '{}' of type {ty}", m.name));
        }
        return tern(names, list, [ty; 3], ty, half::fma(ty));
    }
    if ty.is_float() {
        if !rounded || half.is_some() || ty.bits == 64 && modes != Modes::default() {
            return m.fail(format!("Rounding modifier required for instruction '{}'", m.name));
        }
        let f = if ty.bits == 32 { float::fma32(modes) } else { float::fma64 };
        return tern(names, list, [ty; 3], ty, f);
    }
    match half {
        Some(half) if !rounded && modes == Modes::default() && m.name == "mad" => {
            if half == int::Two::MulWide && ty.bits == 64 {
                return m.fail("Illegal type for instruction 'mad.wide'");
            }
            let to = if half == int::Two::MulWide { twice(ty) } else { ty };
            tern(names, list, [ty, ty, to], to, int::mad(half, ty))
        }
        _ => m.fail(format!("Illegal modifiers for instruction '{}' of type {ty}", m.name)),
    }
}

/// Decodes `neg`, `abs`, and the roots and powers of floats.
pub fn one(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let approximate = m.has("approx");
    let rounded = rounding(m)?;
    let flush = m.has("ftz");
    let ty = m.ty(numeric)?;
    m.end()?;
    let legal = match m.name {
        "neg" | "abs" => !approximate && !rounded && (ty.sort == Sort::Signed || ty.is_float()),
        "sqrt" | "rcp" => approximate != rounded && ty.is_float() && !(approximate && ty.bits == 64),
        "rsqrt" => approximate && !rounded && ty.is_float(),
        _ => approximate && !rounded && ty == Type { sort: Sort::Float, bits: 32 },
    };
    if !legal || flush && ty.bits != 32 || flush && !ty.is_float() {
        return m.fail(format!("Illegal modifiers for instruction '{}' of type {ty}", m.name));
    }
    let f = match (ty.is_float(), ty.bits) {
        (false, _) => Some(int::one(m.name == "neg", ty)),
        (true, 16) => None,
        (true, 32) => float::one32(m.name, flush),
        (true, _) => float::one64(m.name),
    };
    match f {
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
        "and" => bin(names, list, ty, ty, |a, b| a & b),
        "or" => bin(names, list, ty, ty, |a, b| a | b),
        "xor" => bin(names, list, ty, ty, |a, b| a ^ b),
        "not" => un(names, list, ty, ty, int::not(ty.bits)),
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
    Ok(Op::Bin { f, a: names.src(a, ty)?, b: names.src(b, Type::U32)?, d: names.destination(d, ty)? })
}

/// Decodes `popc`, `clz`, `brev`, `bfind`.
pub fn count(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let find = m.name == "bfind";
    let ty = m.ty(|ty| ty.bits >= 32 && if find { ty.is_integer() } else { ty.sort == Sort::Bits })?;
    m.end()?;
    let to = if m.name == "brev" { ty } else { Type::U32 };
    match int::count(m.name, ty) {
        Some(f) => un(names, list, ty, to, f),
        None => m.illegal(),
    }
}

/// Decodes `bfe`.
pub fn extract(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let ty = m.ty(|ty| ty.is_integer() && ty.bits >= 32)?;
    m.end()?;
    tern(names, list, [ty, Type::U32, Type::U32], ty, int::bfe(ty))
}

/// Decodes `bfi`, whose position and length are constants here, or are packed by two instructions.
pub fn insert(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let ty = m.ty(|ty| ty.sort == Sort::Bits && ty.bits >= 32)?;
    m.end()?;
    let [d, a, b, pos, len] = operands(names, list)?;
    if !matches!((pos, len), (Operand::Int(..), Operand::Int(..))) {
        return m.fail("bfi is known here with a constant position and length only");
    }
    let place = names.immediate(pos, Type::U32)? & 0xFF | (names.immediate(len, Type::U32)? & 0xFF) << 8;
    Ok(Op::Tern {
        f: int::bfi(ty.bits),
        a: names.src(a, ty)?,
        b: names.src(b, ty)?,
        c: names.constant(place),
        d: names.destination(d, ty)?,
    })
}
