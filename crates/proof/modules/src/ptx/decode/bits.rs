//! Decodes instructions on bytes, bits and fields: PTX ISA 9.7.1, 9.7.8 and 9.7.9.7.

use super::super::Parsed;
use super::super::statement::Operand;
use super::DeclaredTarget;
use super::arithmetic::{bin, tern, un};
use super::compare;
use super::modifiers::Modifiers;
use super::names::Names;
use super::operands;
use crate::code::{Bitwise, NO_REG, Op, TableJoin};
use crate::meaning::bits::{self, Packing};
use crate::meaning::int;
use crate::types::{Sort, Type};

const S32: Type = Type { sort: Sort::Signed, bits: 32 };

/// Takes `yes` or `no`, one of which is written.
fn either(m: &mut Modifiers<'_>, yes: &str, no: &str) -> Parsed<bool> {
    m.must(|word| (word == yes).then_some(true).or((word == no).then_some(false)))
}

fn is_word(ty: Type) -> bool {
    ty.bits == 32 && ty.is_integer()
}

/// Decodes `popc`, `clz`, `brev`, `bfind{.shiftamt}`.
pub fn count(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let find = m.name == "bfind";
    let shift_amount = find && m.has("shiftamt");
    let ty = m.ty(|ty| ty.bits >= 32 && if find { ty.is_integer() } else { ty.sort == Sort::Bits })?;
    m.end()?;
    let to = if m.name == "brev" { ty } else { Type::U32 };
    match if shift_amount { Some(bits::shift_amount(ty)) } else { int::count(m.name, ty) } {
        Some(f) => un(names, list, ty, to, f),
        None => m.illegal(),
    }
}

/// Decodes `bfe`.
pub fn extract(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let ty = m.ty(|ty| ty.is_integer() && ty.bits >= 32)?;
    m.end()?;
    tern(names, list, [ty, Type::U32, Type::U32], ty, int::bfe(ty)).map(|op| op.bit_by_bit(1))
}

/// Decodes `bfi`.
pub fn insert(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let ty = m.ty(|ty| ty.sort == Sort::Bits && ty.bits >= 32)?;
    m.end()?;
    let [d, a, b, position, length] = operands(names, list)?;
    Ok(Op::Quad {
        f: bits::insert(ty.bits),
        bitwise: Bitwise(2),
        a: names.src(a, ty)?,
        b: names.src(b, ty)?,
        c: names.src(position, Type::U32)?,
        e: names.src(length, Type::U32)?,
        d: names.destination(d, ty)?,
    })
}

/// Decodes `shf.{l,r}.{clamp,wrap}.b32`.
pub fn funnel(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let left = either(m, "l", "r")?;
    let wrap = either(m, "wrap", "clamp")?;
    m.ty(|ty| ty == Type::B32)?;
    m.end()?;
    tern(names, list, [Type::B32, Type::B32, Type::U32], Type::B32, bits::funnel(left, wrap)).map(|op| op.bit_by_bit(2))
}

/// Decodes `lop3.b32 d, a, b, c, table` and `lop3.{or,and}.b32 d|p, a, b, c, table, {!}q`.
pub fn lop3(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let joins = matches!(m.peek(), Some("or" | "and"));
    let join = if joins { m.maybe(compare::join) } else { None };
    m.ty(|ty| ty == Type::B32)?;
    m.end()?;
    let (list, joined) = match list {
        [inner @ .., q] if joins => (inner, Some(q)),
        _ => (list, None),
    };
    let [d, a, b, c, table] = operands(names, list)?;
    let Operand::Int(table @ 0..=255, false) = table else {
        return m.fail("the table of 'lop3' is a constant from 0 to 255");
    };
    let mut source = |operand| names.src(operand, Type::B32);
    let [a, b, c] = [source(a)?, source(b)?, source(c)?];
    let Some((join, q)) = join.zip(joined) else {
        let d = names.destination(d, Type::B32)?;
        return Ok(Op::Quad { f: bits::lop3, bitwise: Bitwise(3), a, b, c, e: names.constant(*table), d });
    };
    let Operand::Pair(d, p) = d else {
        return m.fail("'lop3' with a predicate needs a predicate to write: 'd|p'");
    };
    let (q, negated) = match q {
        Operand::Not(name) => (names.src(&Operand::Name(name.clone()), Type::PRED)?, true),
        q => (names.src(q, Type::PRED)?, false),
    };
    let d = if d == "_" { NO_REG } else { names.destination(&Operand::Name(d.clone()), Type::B32)? };
    let p = names.destination(&Operand::Name(p.clone()), Type::PRED)?;
    Ok(Op::TableJoin(Box::new(TableJoin { table: *table, join, d, p, operands: [a, b, c], q, negated })))
}

/// Decodes `cvt.pack.sat.to.s32 d, a, b` for results of 16 bits, and `cvt.pack.sat.to.s32.b32 d, a, b, c` for smaller
/// ones.
pub fn pack(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand], target: &DeclaredTarget) -> Parsed<Op> {
    m.has("pack");
    target.needs(m, 72, (6, 5), "'.pack'")?;
    m.must(|word| (word == "sat").then_some(()))?;
    let to = m.must(bits::packing)?;
    m.ty(|ty| ty == S32)?;
    match to {
        Packing::Word(f) => {
            m.end()?;
            bin(names, list, S32, Type::B32, f)
        }
        Packing::Below { bits, f } => {
            if bits < 8 {
                target.needs(m, 75, (6, 5), "A type of less than 8 bits")?;
            }
            m.ty(|ty| ty == Type::B32)?;
            m.end()?;
            tern(names, list, [S32, S32, Type::B32], Type::B32, f)
        }
    }
}

/// Decodes `prmt.b32{.mode}`.
pub fn permute(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    m.ty(|ty| ty == Type::B32)?;
    let mode = m.peek();
    mode.map(|mode| m.has(mode));
    m.end()?;
    match bits::permute(mode) {
        Some(f) => tern(names, list, [Type::B32; 3], Type::B32, f).map(|op| op.bit_by_bit(2)),
        None => m.fail(format!("Illegal modifier '.{}' for instruction 'prmt'", mode.unwrap_or_default())),
    }
}

/// Decodes `dp4a.atype.btype`, `dp2a.mode.atype.btype`.
pub fn dot(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let high = if m.name == "dp2a" { Some(either(m, "hi", "lo")?) } else { None };
    let (a, b) = (m.ty(is_word)?, m.ty(is_word)?);
    m.end()?;
    let signed = [a, b].map(|ty| ty.sort == Sort::Signed);
    let f = match high {
        None => bits::dot4(signed[0], signed[1]),
        Some(high) => bits::dot2(signed[0], signed[1], high),
    };
    tern(names, list, [a, b, Type::B32], Type::B32, f)
}

/// Decodes `mul24`, `mad24`.
pub fn product24(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let high = either(m, "hi", "lo")?;
    let saturate = m.has("sat");
    let ty = m.ty(is_word)?;
    m.end()?;
    let signed = ty.sort == Sort::Signed;
    match (m.name, saturate) {
        ("mul24", false) => bin(names, list, ty, ty, bits::mul24(signed, high)),
        ("mad24", _) => match bits::mad24(signed, high, saturate) {
            Some(f) => tern(names, list, [ty; 3], ty, f),
            None => m.fail("Illegal modifier '.sat' for instruction 'mad24'"),
        },
        _ => m.fail("Illegal modifier '.sat' for instruction 'mul24'"),
    }
}

/// Decodes `sad`, whose third operand and result have no sign.
pub fn distance(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let ty = m.ty(|ty| ty.bits >= 16 && ty.is_integer())?;
    m.end()?;
    tern(names, list, [ty; 3], ty, bits::distance(ty))
}

/// Decodes `bmsk.{clamp,wrap}.b32`.
pub fn mask(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let wrap = either(m, "wrap", "clamp")?;
    m.ty(|ty| ty == Type::B32)?;
    m.end()?;
    bin(names, list, Type::U32, Type::B32, bits::mask(wrap))
}

/// Decodes `szext.{clamp,wrap}.{u32,s32}`.
pub fn extend(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let wrap = either(m, "wrap", "clamp")?;
    let ty = m.ty(is_word)?;
    m.end()?;
    bin(names, list, ty, ty, bits::extend(ty.sort == Sort::Signed, wrap))
}

/// Decodes `fns.b32 d, mask, base, offset`.
pub fn nth(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    m.ty(|ty| ty == Type::B32)?;
    m.end()?;
    tern(names, list, [Type::B32; 3], Type::B32, bits::nth)
}
