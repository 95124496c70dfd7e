//! Decodes what the lanes of a warp do together: `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`,
//! `bar.warp.sync`, and `activemask`.

use super::super::Parsed;
use super::super::statement::Operand;
use super::DeclaredTarget;
use super::modifiers::Modifiers;
use super::names::Names;
use super::operands;
use crate::code::{Combine, CombinedLanes, Combiner, Exchange, Match, NO_REG, Op, Special, Src, Vote};
use crate::types::{Sort, Type};

/// An instruction with the value `a`, the result `d` and the member mask.
fn exchange(how: Exchange, d: u32, a: Src, mask: Src, none: Src) -> Op {
    Op::Exchange { how, negated: false, d, p: NO_REG, a, b: none, c: none, mask }
}

/// Decodes `shfl.sync.mode.b32 d{|p}, a, b, c, membermask`.
pub fn shfl(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    if !m.has("sync") {
        return m.illegal();
    }
    let how = m.must(|word| match word {
        "up" => Some(Exchange::Up),
        "down" => Some(Exchange::Down),
        "bfly" => Some(Exchange::Butterfly),
        "idx" => Some(Exchange::Index),
        _ => None,
    })?;
    m.ty(|ty| ty == Type::B32)?;
    m.end()?;
    let [d, a, b, c, mask] = operands(names, list)?;
    let (d, p) = match d {
        Operand::Pair(d, p) => {
            let name = |name: &String| Operand::Name(name.clone());
            (names.destination(&name(d), Type::B32)?, names.destination(&name(p), Type::PRED)?)
        }
        d => (names.destination(d, Type::B32)?, NO_REG),
    };
    let a = names.src(a, Type::B32)?;
    let [b, c, mask] = [b, c, mask].map(|operand| names.src(operand, Type::B32));
    Ok(Op::Exchange { how, negated: false, d, p, a, b: b?, c: c?, mask: mask? })
}

/// Decodes `vote.sync.{all,any,uni}.pred d, {!}a, membermask` and `vote.sync.ballot.b32`.
pub fn vote(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    if !m.has("sync") {
        return m.illegal();
    }
    let vote = m.must(|word| match word {
        "all" => Some(Vote::All),
        "any" => Some(Vote::Any),
        "uni" => Some(Vote::Same),
        "ballot" => Some(Vote::Ballot),
        _ => None,
    })?;
    let ty = if vote == Vote::Ballot { Type::B32 } else { Type::PRED };
    m.ty(|found| found == ty)?;
    m.end()?;
    let [d, a, mask] = operands(names, list)?;
    let (a, negated) = match a {
        Operand::Not(name) => (Src::reg(names.reg(&Operand::Name(name.clone()), Type::PRED)?), true),
        a => (names.src(a, Type::PRED)?, false),
    };
    let (d, how) = (names.destination(d, ty)?, Exchange::Vote(vote));
    let (mask, none) = (names.src(mask, Type::B32)?, names.constant(0));
    Ok(Op::Exchange { how, negated, d, p: NO_REG, a, b: none, c: none, mask })
}

/// Decodes `match.any.sync.{b32,b64} d, a, membermask` and `match.all.sync.{b32,b64} d{|p}, a, membermask`.
pub fn matching(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand], target: &DeclaredTarget) -> Parsed<Op> {
    target.needs(m, 70, (6, 0), "The instruction")?;
    let how = m.must(|word| match word {
        "any" => Some(Match::Any),
        "all" => Some(Match::All),
        _ => None,
    })?;
    if !m.has("sync") {
        return m.illegal();
    }
    let ty = m.ty(|ty| ty.sort == Sort::Bits && ty.bits >= 32)?;
    m.end()?;
    let [d, a, mask] = operands(names, list)?;
    let (d, p) = match d {
        Operand::Pair(d, p) if how == Match::All => {
            let name = |name: &String| Operand::Name(name.clone());
            (names.destination(&name(d), Type::B32)?, names.destination(&name(p), Type::PRED)?)
        }
        d => (names.destination(d, Type::B32)?, NO_REG),
    };
    let (a, mask, none) = (names.src(a, ty)?, names.src(mask, Type::B32)?, names.constant(0));
    Ok(Op::Exchange { how: Exchange::Match(how), negated: false, d, p, a, b: none, c: none, mask })
}

/// Decodes `elect.sync d|p, membermask`.
pub fn elect(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand], target: &DeclaredTarget) -> Parsed<Op> {
    target.needs(m, 90, (8, 0), "The instruction")?;
    if !m.has("sync") {
        return m.illegal();
    }
    m.end()?;
    let [to, mask] = operands(names, list)?;
    let Operand::Pair(d, p) = to else {
        return m.fail("'elect.sync' has two results, d|p: the lane that is elected, and whether it is this one");
    };
    let name = |name: &String| Operand::Name(name.clone());
    let (d, p) = (names.discardable(&name(d), Type::B32)?, names.destination(&name(p), Type::PRED)?);
    let (mask, none) = (names.src(mask, Type::B32)?, names.constant(0));
    Ok(Op::Exchange { how: Exchange::Elect, negated: false, d, p, a: none, b: none, c: none, mask })
}

/// Decodes `activemask.b32 d`.
pub fn active(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand], target: &DeclaredTarget) -> Parsed<Op> {
    target.needs(m, 30, (6, 2), "The instruction")?;
    m.ty(|ty| ty == Type::B32)?;
    m.end()?;
    let [d] = operands(names, list)?;
    Ok(Op::Special { which: Special::Active, d: names.destination(d, Type::B32)? })
}

/// Decodes `redux.sync.op.type dst, src, membermask`.
pub fn redux(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand], target: &DeclaredTarget) -> Parsed<Op> {
    target.needs(m, 80, (7, 0), "The instruction")?;
    if !m.has("sync") {
        return m.illegal();
    }
    let op = m.peek().unwrap_or_default();
    m.has(op);
    let ty = m.peek().unwrap_or_default();
    m.ty(|ty| ty.bits == 32)?;
    m.end()?;
    let by = match (op, ty) {
        ("add", "u32" | "s32") => Combiner::Add,
        ("min", "u32") => Combiner::MinUnsigned,
        ("max", "u32") => Combiner::MaxUnsigned,
        ("min", "s32") => Combiner::MinSigned,
        ("max", "s32") => Combiner::MaxSigned,
        ("and", "b32") => Combiner::And,
        ("or", "b32") => Combiner::Or,
        ("xor", "b32") => Combiner::Xor,
        ("min" | "max", "f32") => {
            return m.fail("The instruction 'redux' of floats is not supported: reduce by 'shfl.sync'");
        }
        _ => return m.fail(format!("Illegal operation '.{op}' for type .{ty} of instruction 'redux'")),
    };
    let [d, a, mask] = operands(names, list)?;
    let (d, a) = (names.destination(d, Type::B32)?, names.src(a, Type::B32)?);
    let (mask, none) = (names.src(mask, Type::B32)?, names.constant(0));
    let how = Combine { by, bits: 32, of: CombinedLanes::All };
    Ok(exchange(Exchange::Combine(how), d, a, mask, none))
}

/// Decodes `bar.warp.sync membermask`.
pub fn barrier(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand]) -> Parsed<Op> {
    if !m.has("sync") {
        return m.illegal();
    }
    m.end()?;
    let [mask] = operands(names, list)?;
    let (mask, none) = (names.src(mask, Type::B32)?, names.constant(0));
    Ok(exchange(Exchange::Barrier, NO_REG, none, mask, none))
}
