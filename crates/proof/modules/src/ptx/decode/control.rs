//! Decodes branches, barriers and ends: PTX ISA 9.7.12, 9.7.13.1 and 9.7.19.

use super::super::parse::Parsed;
use super::super::statement::Operand;
use super::modifiers::Modifiers;
use super::names::Names;
use super::operands;
use crate::code::Op;
use crate::types::Type;

/// Decodes `bar{.cta}.sync a{, b}`, `barrier{.cta}.sync{.aligned}`, `.arrive a, b`, and `bar.warp.sync`.
pub fn barrier(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    if m.name == "bar" && m.has("warp") {
        return super::warp::barrier(m, names, list);
    }
    m.has("cta");
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
    if let Operand::Int(barrier, _) = list[0]
        && barrier > 15
    {
        return m.fail(format!("Barrier {barrier} does not exist: there are 16"));
    }
    if let Some(Operand::Int(threads, _)) = list.get(1)
        && threads % 32 != 0
    {
        return m.fail("Number of threads participating in a barrier must be a multiple of the warp size");
    }
    Ok(Op::Barrier { waits, aligned, a: names.src(&list[0], Type::U32)?, b })
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
