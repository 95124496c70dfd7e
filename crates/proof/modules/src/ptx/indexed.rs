//! Indexed branches as comparisons and branches (PTX ISA 8.8, 9.7.12.3 "brx.idx", 11.3.1 ".branchtargets").
//!
//! `brx.idx i, list` becomes a comparison and a branch for each label of the list. Behind them the index is beyond the
//! list, for which the behaviour is undefined: the thread has gone wrong.

use std::borrow::Cow;

use super::Parsed;
use super::expansion::Expansion;
use super::inline::BEYOND_TARGETS;
use super::statement::{Operand, Statement};
use crate::types::Type;

/// The most labels of one list.
const MOST_TARGETS: usize = 4096;

fn is_indexed(statement: &Statement) -> bool {
    matches!(statement, Statement::Instruction(instruction) if instruction.opcode.split('.').next() == Some("brx"))
}

/// A body without indexed branches.
pub fn expanded(body: Cow<'_, [Statement]>) -> Parsed<Cow<'_, [Statement]>> {
    if !body.iter().any(is_indexed) {
        return Ok(body);
    }
    let mut out = Vec::new();
    for (number, statement) in body.iter().enumerate() {
        match statement {
            Statement::Instruction(of) if is_indexed(statement) => {
                expand(Expansion { of, number, registers: 0, out: &mut out }, &body)?;
            }
            Statement::Targets { .. } => {}
            other => out.push(other.clone()),
        }
    }
    Ok(Cow::Owned(out))
}

fn expand(mut expansion: Expansion<'_>, body: &[Statement]) -> Parsed<()> {
    let branch = expansion.of;
    let ("brx.idx" | "brx.idx.uni", [index, Operand::Name(list)]) =
        (branch.opcode.as_str(), branch.operands.as_slice())
    else {
        return expansion.refuse("an indexed branch is 'brx.idx{.uni} index, list'");
    };
    let found = body.iter().find_map(|statement| match statement {
        Statement::Targets { name, labels, .. } if name == list => Some(labels),
        _ => None,
    });
    let Some(labels) = found else {
        return expansion.refuse("the list of an indexed branch is a label of '.branchtargets'");
    };
    if labels.len() > MOST_TARGETS {
        return expansion.refuse("the list of an indexed branch has more labels than are known here");
    }
    let skip = expansion.guarded();
    let chosen = expansion.declared(Type::PRED);
    for (label, place) in labels.iter().zip(0..) {
        expansion.act("setp.eq.u32", vec![Operand::Name(chosen.clone()), index.clone(), Expansion::number(place)]);
        expansion.branch_if(chosen.clone(), label);
    }
    expansion.act(BEYOND_TARGETS, Vec::new());
    expansion.label(skip);
    Ok(())
}
