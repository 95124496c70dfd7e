//! Decodes `setp`, `set`, `selp`, `slct`, `testp` and `cvt`: PTX ISA 9.7.6, 9.7.7 and 9.7.9.21.

use super::super::Parsed;
use super::super::statement::Operand;
use super::modifiers::Modifiers;
use super::names::Names;
use super::operands;
use crate::code::{Bitwise, Convert, Integral, Join, Lanes, NO_REG, Op, Reg, Rounding, Test, TestJoin};
use crate::meaning::compare::{self, test};
use crate::meaning::{bits, float};
use crate::types::{Sort, Type};

/// The join of a comparison with a predicate.
pub(super) fn join(word: &str) -> Option<Join> {
    Some(match word {
        "and" => |t, c| t & c,
        "or" => |t, c| t | c,
        "xor" => |t, c| t ^ c,
        _ => return None,
    })
}

/// Decodes `setp.cmp{.join}{.ftz}.type p{|q}, a, b{, {!}c}`.
pub fn setp(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let Some(comparison) = m.peek() else { return m.illegal() };
    m.has(comparison);
    let join = m.maybe(join);
    let flush = m.has("ftz");
    let ty = m.ty(|ty| ty.bits >= 16)?;
    m.end()?;
    let f = comparison_of(m, comparison, ty, flush)?;
    let (d, q) = match list.first() {
        Some(Operand::Pair(p, q)) => {
            let name = |name: &String| Operand::Name(name.clone());
            (names.discardable(&name(p), Type::PRED)?, names.discardable(&name(q), Type::PRED)?)
        }
        Some(one) => (names.destination(one, Type::PRED)?, NO_REG),
        None => (NO_REG, NO_REG),
    };
    let test = joined(names, list, join, (f, ty), (d, q), 1)?;
    if test.c == NO_REG && q == NO_REG {
        let orders = ty.bits == 64 && ty.sort != Sort::Float && !matches!(comparison, "eq" | "ne");
        return Ok(Op::Test { f, orders, d, a: test.a, b: test.b });
    }
    Ok(Op::TestJoin(Box::new(test)))
}

fn comparison_of(m: &Modifiers<'_>, name: &str, ty: Type, flush: bool) -> Parsed<Test> {
    let single = ty == Type { sort: Sort::Float, bits: 32 };
    match test(name, ty) {
        Some(_) if flush && !single => m.fail("'.ftz' is known here for comparisons of .f32 alone"),
        Some(f) if !flush => Ok(f),
        Some(_) => compare::flushed(name).map_or_else(|| m.illegal(), Ok),
        None => m.fail(format!("Illegal comparison '.{name}' for type {ty}")),
    }
}

/// A comparison of the second and the third operand, which the fourth one joins.
fn joined(
    names: &mut Names,
    list: &[Operand],
    join: Option<Join>,
    (f, ty): (Test, Type),
    (d, q): (Reg, Reg),
    yes: u64,
) -> Parsed<TestJoin> {
    let count = if join.is_some() { 4 } else { 3 };
    if list.len() != count {
        return names.fail(format!("Incorrect number of operands: {} instead of {count}", list.len()));
    }
    let (a, b) = (names.src(&list[1], ty)?, names.src(&list[2], ty)?);
    let (c, negated) = match list.get(3) {
        None => (NO_REG, false),
        Some(Operand::Not(name)) => (names.reg(&Operand::Name(name.clone()), Type::PRED)?, true),
        Some(other) => (names.reg(other, Type::PRED)?, false),
    };
    Ok(TestJoin { f, join: join.unwrap_or(|t, _| t), yes, d, q, a, b, c, negated })
}

/// Decodes `set.cmp{.join}{.ftz}.to.type d, a, b{, {!}c}`, whose result is all ones or 1.0 where the comparison holds
/// (9.7.6.2), and the forms of two halves (9.7.7.1).
pub fn set(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let Some(comparison) = m.peek() else { return m.illegal() };
    m.has(comparison);
    let join = m.maybe(join);
    let flush = m.has("ftz");
    let (to_pair, to) = m.halves(|ty| ty.bits == 32 || ty.bits == 16)?;
    let (pair, ty) = m.halves(|ty| ty.bits >= 16)?;
    m.end()?;
    let f = comparison_of(m, comparison, ty, flush)?;
    let yes = match (to.sort, to.bits) {
        (Sort::Float, 32) => u64::from(1.0f32.to_bits()),
        (Sort::Float, _) => 0x3C00,
        (Sort::Brain, _) => 0x3F80,
        (Sort::Unsigned | Sort::Signed, bits) => u64::MAX >> (64 - bits),
        (Sort::Pred | Sort::Bits, _) => return m.fail(format!("Illegal type {to} for instruction 'set'")),
    };
    if pair {
        // `set.gt.u32.f16x2` gives each half all ones.
        let yes = match (to_pair, to.bits) {
            (true, _) => yes,
            (false, 32) if to.is_integer() => 0xFFFF,
            (false, _) => return m.fail(format!("Illegal type {to} for instruction 'set'")),
        };
        if join.is_some() {
            return m.fail("'set' of two halves is known here without a predicate to join");
        }
        let [d, a, b] = operands(names, list)?;
        let (a, b) = (names.src(a, Type::B32)?, names.src(b, Type::B32)?);
        return Ok(Op::Halves { f: Lanes::Test(f, yes), a, b, c: a, d: names.destination(d, Type::B32)? });
    }
    let Some(d) = list.first() else { return names.fail("Incorrect number of operands: 0 instead of 3") };
    let d = names.destination(d, to)?;
    Ok(Op::TestJoin(Box::new(joined(names, list, join, (f, ty), (d, NO_REG), yes)?)))
}

/// Decodes `slct{.ftz}.type.by d, a, b, c` (9.7.6.4).
pub fn slct(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let flush = m.has("ftz");
    let ty = m.ty(|ty| ty.bits >= 16)?;
    let by = m.ty(|ty| ty.bits == 32 && matches!(ty.sort, Sort::Signed | Sort::Float))?;
    m.end()?;
    if flush && !by.is_float() {
        return m.fail("Modifier '.ftz' requires a type .f32");
    }
    let [d, a, b, c] = operands(names, list)?;
    Ok(Op::Tern {
        bitwise: Bitwise::NOT,
        f: bits::choose(by, flush),
        a: names.src(a, ty)?,
        b: names.src(b, ty)?,
        c: names.src(c, by)?,
        d: names.destination(d, ty)?,
    })
}

/// Decodes `selp.type d, a, b, p`.
pub fn selp(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let ty = m.ty(|ty| ty.bits >= 16)?;
    m.end()?;
    let [d, a, b, p] = operands(names, list)?;
    Ok(Op::Select {
        a: names.src(a, ty)?,
        b: names.src(b, ty)?,
        p: names.reg(p, Type::PRED)?,
        d: names.destination(d, ty)?,
    })
}

/// Decodes `testp.kind.type p, a`.
pub fn testp(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let Some(kind) = m.peek() else { return m.illegal() };
    m.has(kind);
    let ty = m.ty(|ty| ty.is_float() && ty.bits >= 32)?;
    m.end()?;
    let [d, a] = operands(names, list)?;
    let f: fn(u64) -> u64 = match (kind, ty.bits) {
        ("finite", 32) => |a| u64::from(f32::from_bits(a as u32).is_finite()),
        ("infinite", 32) => |a| u64::from(f32::from_bits(a as u32).is_infinite()),
        ("number", 32) => |a| u64::from(!f32::from_bits(a as u32).is_nan()),
        ("notanumber", 32) => |a| u64::from(f32::from_bits(a as u32).is_nan()),
        ("normal", 32) => |a| u64::from(f32::from_bits(a as u32).is_normal()),
        ("subnormal", 32) => |a| u64::from(f32::from_bits(a as u32).is_subnormal()),
        ("finite", _) => |a| u64::from(f64::from_bits(a).is_finite()),
        ("infinite", _) => |a| u64::from(f64::from_bits(a).is_infinite()),
        ("number", _) => |a| u64::from(!f64::from_bits(a).is_nan()),
        ("notanumber", _) => |a| u64::from(f64::from_bits(a).is_nan()),
        ("normal", _) => |a| u64::from(f64::from_bits(a).is_normal()),
        ("subnormal", _) => |a| u64::from(f64::from_bits(a).is_subnormal()),
        _ => return m.fail(format!("Illegal modifier '.{kind}' for instruction 'testp'")),
    };
    Ok(Op::Un { f, bitwise: Bitwise::NOT, a: names.src(a, ty)?, d: names.destination(d, Type::PRED)? })
}

/// Decodes `cvt{.rounding}{.relu}{.ftz}{.sat}.to.from d, a`, and `cvt{.rounding}{.relu}.f16x2.f32 d, a, b` (9.7.9.21).
pub fn cvt(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let round = m.maybe(|word| match word {
        "rni" => Some(Integral::Nearest),
        "rzi" => Some(Integral::Zero),
        "rmi" => Some(Integral::Down),
        "rpi" => Some(Integral::Up),
        _ => None,
    });
    let written = m.maybe(Rounding::named);
    if m.has("rna") {
        return rounded_for_matrices(m, names, list);
    }
    if let Some("rs") = m.peek() {
        return m.fail("'cvt' with '.rs' is not known here");
    }
    let relu = m.has("relu");
    let flush = m.has("ftz");
    let saturate = m.has("sat");
    let relu = relu || m.has("relu");
    let known = |ty: Type| ty.is_integer() || ty.is_float();
    let (pair, to) = m.halves(known)?;
    let from = m.ty(known)?;
    m.end()?;
    let (integral, rounded) = (round.is_some(), written.is_some());
    let short = |ty: Type| ty.is_float() && ty.bits == 16;
    // Neither 16-bit format has all numbers of the other one.
    let narrows = from.bits > to.bits || short(from) && short(to) && from != to;
    let legal = match (from.is_float(), to.is_float()) {
        (false, false) => !integral && !rounded,
        (true, false) => integral && !rounded,
        (false, true) => !integral && rounded,
        (true, true) if narrows => rounded && !integral,
        (true, true) if from.bits == to.bits => !rounded,
        (true, true) => !rounded && !integral,
    };
    let single = Type { sort: Sort::Float, bits: 32 };
    if !legal || pair && from != single {
        return m.fail(format!("Rounding modifier of 'cvt' missing or illegal for {to} from {from}"));
    }
    if relu && !(short(to) && from == single) {
        return m.fail(format!("Modifier '.relu' is illegal for {to} from {from}"));
    }
    if flush && ![from, to].contains(&single) {
        return m.fail("Modifier '.ftz' requires a type .f32");
    }
    let rounding = written.unwrap_or_default();
    let how = |register| Box::new(Convert { from, to, round, rounding, saturate, relu, flush, register });
    if pair {
        let [d, a, b] = operands(names, list)?;
        let (a, b) = (names.src(a, from)?, names.src(b, from)?);
        return Ok(Op::ConvertTwo { a, b, how: how(16), d: names.destination(d, Type::B32)? });
    }
    let [d, a] = operands(names, list)?;
    let a = names.wide_src(a, from)?;
    if matches!(d, Operand::Name(name) if name == "_") {
        return m.fail("Result discard mode is not allowed for instruction 'cvt'");
    }
    let (d, register) = names.wide_destination(d, to)?;
    Ok(Op::Convert { d, a, how: how(register) })
}

/// Decodes `cvt.rna.tf32.f32`, whose result is a register of bits (PTX ISA 8.8, 9.7.9.21 "cvt").
fn rounded_for_matrices(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let single = Type { sort: Sort::Float, bits: 32 };
    if !m.has("tf32") || m.ty(|ty| ty == single)? != single {
        return m.fail("'cvt' with '.rna' is for '.tf32.f32'");
    }
    m.end()?;
    let [d, a] = operands(names, list)?;
    let (a, d) = (names.src(a, single)?, names.destination(d, Type::B32)?);
    Ok(Op::Un { f: float::to_tf32, bitwise: Bitwise::NOT, a, d })
}
