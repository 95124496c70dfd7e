//! Decodes branches, barriers and ends: PTX ISA 9.7.12, 9.7.13.1 and 9.7.19.

use super::super::Parsed;
use super::super::statement::Operand;
use super::modifiers::Modifiers;
use super::names::Names;
use super::operands;
use crate::code::{Gather, Op};
use crate::types::Type;

/// Decodes `bar{.cta}.sync a{, b}`, `barrier{.cta}.sync{.aligned}`, `.arrive a, b`, and `bar.warp.sync`.
pub fn barrier(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    if m.name == "bar" && m.has("warp") {
        return super::warp::barrier(m, names, list);
    }
    m.has("cta");
    if m.has("red") {
        return reduce(m, names, list);
    }
    let waits = m.has("sync");
    if !waits && !m.has("arrive") {
        return m.illegal();
    }
    // PTX ISA 9.7.13.1: `bar` is `barrier.cta` with `.aligned`.
    let aligned = m.name == "bar" || m.has("aligned");
    m.end()?;
    let b = match list {
        [_] if waits => None,
        [_, b] => Some(names.src(b, Type::U32)?),
        _ => return m.fail(format!("Incorrect number of operands for instruction '{}'", m.name)),
    };
    exists(m, list)?;
    Ok(Op::Barrier { waits, aligned, a: names.src(&list[0], Type::U32)?, b })
}

/// Refuses a barrier, or a number of threads, that no barrier has.
fn exists(m: &Modifiers<'_>, operands: &[Operand]) -> Parsed<()> {
    if let Some(Operand::Int(barrier @ 16.., _)) = operands.first() {
        return m.fail(format!("Barrier {barrier} does not exist: there are 16"));
    }
    match operands.get(1) {
        Some(Operand::Int(threads, _)) if threads % 32 != 0 => {
            m.fail("Number of threads participating in a barrier must be a multiple of the warp size")
        }
        _ => Ok(()),
    }
}

/// Decodes what stands behind `bar.red`: `.popc.u32 d, a{, b}, {!}c`, `.and.pred p, a{, b}, {!}c`, `.or.pred`
/// (9.7.13.1).
fn reduce(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    let how = m.must(|word| match word {
        "popc" => Some(Gather::Count),
        "and" => Some(Gather::All),
        "or" => Some(Gather::Any),
        _ => None,
    })?;
    let aligned = m.has("aligned") || m.name == "bar";
    let to = if how == Gather::Count { Type::U32 } else { Type::PRED };
    m.ty(|ty| ty == to)?;
    m.end()?;
    let ([d, barrier @ .., predicate], 3 | 4) = (list, list.len()) else {
        return m.fail(format!("Incorrect number of operands for instruction '{}'", m.name));
    };
    exists(m, barrier)?;
    let (p, negated) = match predicate {
        Operand::Not(name) => (names.reg(&Operand::Name(name.clone()), Type::PRED)?, true),
        other => (names.reg(other, Type::PRED)?, false),
    };
    let a = names.src(&barrier[0], Type::U32)?;
    let b = barrier.get(1).map(|threads| names.src(threads, Type::U32)).transpose()?;
    Ok(Op::BarrierReduce { how, aligned, a, b, d: names.destination(d, to)?, p, negated })
}

/// Decodes `ret`, `exit`, `trap`, `nanosleep`.
pub fn simple(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    if m.name == "nanosleep" {
        m.ty(|ty| ty == Type::U32)?;
        m.end()?;
        let [a] = operands(names, list)?;
        names.src(a, Type::U32)?;
        return Ok(Op::Yield);
    }
    if m.name == "ret" {
        m.has("uni");
    }
    m.end()?;
    let [] = operands(names, list)?;
    Ok(if m.name == "trap" { Op::Trap("a trap") } else { Op::Exit })
}
