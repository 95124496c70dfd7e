//! Decodes `setp`, `set`, `selp`, `slct`, `testp` and `cvt`: PTX ISA 9.7.6 and 9.7.9.21.

use super::super::parse::Parsed;
use super::super::statement::Operand;
use super::modifiers::Modifiers;
use super::names::Names;
use super::operands;
use crate::code::{Convert, Integral, Join, NO_REG, Op, TestJoin};
use crate::meaning::compare::test;
use crate::types::{Sort, Type};

/// Decodes `setp.cmp{.join}{.ftz}.type p{|q}, a, b{, {!}c}`.
pub fn setp(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let Some(comparison) = m.peek() else { return m.illegal() };
    m.has(comparison);
    let join: Option<Join> = m.maybe(|word| match word {
        "and" => Some((|t, c| t & c) as Join),
        "or" => Some(|t, c| t | c),
        "xor" => Some(|t, c| t ^ c),
        _ => None,
    });
    let ty = m.ty(|ty| ty.bits >= 16)?;
    m.end()?;
    let Some(f) = test(comparison, ty) else {
        return m.fail(format!("Illegal comparison '.{comparison}' for type {ty}"));
    };
    let count = if join.is_some() { 4 } else { 3 };
    if list.len() != count {
        return m.fail(format!("Incorrect number of operands: {} instead of {count}", list.len()));
    }
    let (a, b) = (names.src(&list[1], ty)?, names.src(&list[2], ty)?);
    let (d, q) = match &list[0] {
        Operand::Pair(p, q) => {
            let name = |name: &String| Operand::Name(name.clone());
            (names.discardable(&name(p), Type::PRED)?, names.discardable(&name(q), Type::PRED)?)
        }
        one => (names.destination(one, Type::PRED)?, NO_REG),
    };
    let Some(join) = join else {
        if q == NO_REG {
            return Ok(Op::Test { f, d, a, b });
        }
        let test = TestJoin { f, join: |t, _| t, d, q, a, b, c: NO_REG, negated: false };
        return Ok(Op::TestJoin(Box::new(test)));
    };
    let (c, negated) = match &list[3] {
        Operand::Not(name) => (names.reg(&Operand::Name(name.clone()), Type::PRED)?, true),
        other => (names.reg(other, Type::PRED)?, false),
    };
    Ok(Op::TestJoin(Box::new(TestJoin { f, join, d, q, a, b, c, negated })))
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
    Ok(Op::Un { f, a: names.src(a, ty)?, d: names.destination(d, Type::PRED)? })
}

/// Decodes `cvt{.rounding}{.ftz}{.sat}.to.from d, a`.
pub fn cvt(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let round = m.maybe(|word| match word {
        "rni" => Some(Integral::Nearest),
        "rzi" => Some(Integral::Zero),
        "rmi" => Some(Integral::Down),
        "rpi" => Some(Integral::Up),
        _ => None,
    });
    if matches!(m.peek(), Some("rz" | "rm" | "rp" | "rna")) {
        return m.fail("only rounding to the nearest is known here");
    }
    let nearest = m.has("rn");
    let flush = m.has("ftz");
    let saturate = m.has("sat");
    let known = |ty: Type| ty.is_integer() || ty.is_float();
    let (to, from) = (m.ty(known)?, m.ty(known)?);
    m.end()?;
    let integral = round.is_some();
    let legal = match (from.is_float(), to.is_float()) {
        (false, false) => !integral && !nearest,
        (true, false) => integral && !nearest,
        (false, true) => !integral && nearest,
        (true, true) if from.bits == to.bits => !nearest,
        (true, true) if from.bits > to.bits => nearest && !integral,
        (true, true) => !nearest && !integral,
    };
    if !legal {
        return m.fail(format!("Rounding modifier of 'cvt' missing or illegal for {to} from {from}"));
    }
    let short = |ty: Type| ty.is_float() && ty.bits == 16;
    if (short(from) && !to.is_float()) || (short(to) && !from.is_float()) || (short(to) && (integral || saturate)) {
        return m.fail(format!("'cvt' to {to} from {from} is not known here"));
    }
    if flush && ![from, to].contains(&Type { sort: Sort::Float, bits: 32 }) {
        return m.fail("Modifier '.ftz' requires a type .f32");
    }
    let [d, a] = operands(names, list)?;
    let a = names.wide_src(a, from)?;
    if matches!(d, Operand::Name(name) if name == "_") {
        return m.fail("Result discard mode is not allowed for instruction 'cvt'");
    }
    let (d, register) = names.wide_destination(d, to)?;
    Ok(Op::Convert { d, a, how: Box::new(Convert { from, to, round, saturate, flush, register }) })
}
