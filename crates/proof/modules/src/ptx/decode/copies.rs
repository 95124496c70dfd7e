//! Decodes copies that a thread begins and waits for later: PTX ISA 9.7.9.25.3 "Non-bulk copy".

use super::super::Parsed;
use super::super::statement::Operand;
use super::DeclaredTarget;
use super::memory::{cache, without_policy};
use super::modifiers::Modifiers;
use super::names::Names;
use super::operands;
use super::refused;
use crate::code::{AtObject, Copied, NO_REG, Op};
use crate::types::{Space, Type};

/// The bytes of an item of a copy.
const ITEM: u64 = 4;

/// Decodes `cp.async.{ca,cg}.shared.global [to], [from], bytes{, read | , ignore}{, policy}`, `.commit_group`,
/// `.wait_group n`, `.wait_all`.
pub fn copy(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand], target: &DeclaredTarget) -> Parsed<Op> {
    if !m.has("async") || m.peek() == Some("bulk") {
        return m.fail(refused::why(m.name));
    }
    target.needs(m, 80, (7, 0), "The instruction")?;
    if m.has("mbarrier") {
        m.must(|word| (word == "arrive").then_some(()))?;
        if m.has("noinc") {
            return m.fail("copies that arrive by themselves, '.noinc', are not known here: leave it out, and count the threads alone");
        }
        return at_object(m, names, list, AtObject::Tracks);
    }
    if let Some(word @ ("commit_group" | "wait_all")) = m.peek() {
        m.has(word);
        m.end()?;
        let [] = operands(names, list)?;
        return Ok(if word == "commit_group" { Op::CopyGroup } else { Op::CopyWait { but: None } });
    }
    if m.has("wait_group") {
        m.end()?;
        return match list {
            [Operand::Int(but, false)] if *but <= u64::from(u32::MAX) => Ok(Op::CopyWait { but: Some(*but as u32) }),
            _ => m.fail("'cp.async.wait_group' needs a number"),
        };
    }
    let Some(whole @ ("ca" | "cg")) = m.peek() else { return m.illegal() };
    m.has(whole);
    for space in [Space::Shared, Space::Global] {
        m.must(|word| Space::named(word).filter(|&named| named == space))?;
    }
    let policy = cache(m, &[]);
    m.end()?;
    let [to, from, bytes, rest @ ..] = without_policy(names, list, policy)? else {
        return m.fail(format!("Incorrect number of operands: {} instead of 3", list.len()));
    };
    let bytes = match (bytes, whole) {
        (Operand::Int(bytes @ (4 | 8 | 16), false), "ca") | (Operand::Int(bytes @ 16, false), _) => *bytes,
        _ => return m.fail("'cp.async.ca' copies 4, 8 or 16 bytes, and 'cp.async.cg' 16"),
    };
    let (mut read, mut ignore) = (None, NO_REG);
    match rest {
        [] => {}
        [Operand::Name(name)] if names.register(name)?.1 == Type::PRED => ignore = names.register(name)?.0,
        [size] => read = Some(names.src(size, Type::U32)?),
        _ => return m.fail("'cp.async' has a number of bytes to read, or a predicate, as its last operand"),
    }
    let to = names.address(to, Space::Shared, ITEM)?;
    let from = names.address(from, Space::Global, ITEM)?;
    Ok(Op::Copy(Box::new(Copied { from, to, items: (bytes / ITEM) as u8, read, ignore })))
}

/// Decodes what is done at a barrier object.
pub fn at_object(m: &mut Modifiers<'_>, names: &mut Names, list: &[Operand], does: AtObject) -> Parsed<Op> {
    let space = m.maybe(Space::named).unwrap_or(Space::Generic);
    m.must(|word| (word == "b64").then_some(()))?;
    m.end()?;
    let [object] = operands(names, list)?;
    Ok(Op::CopyObject { access: names.address(object, space, 8)?, does })
}
