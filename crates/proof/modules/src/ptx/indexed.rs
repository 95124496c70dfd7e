//! Indexed branches as comparisons and branches (PTX ISA 8.8, 9.7.12.3 "brx.idx", 11.3.1 ".branchtargets").
//!
//! `brx.idx i, list` becomes a comparison and a branch for each label of the list. Behind them the index is beyond the list,
//! for which the behaviour is undefined: the thread has gone wrong.

use std::borrow::Cow;

use super::inline::BEYOND_TARGETS;
use super::parse::Parsed;
use super::statement::{Instruction, Operand, Statement};
use crate::Refused;
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
            Statement::Instruction(branch) if is_indexed(statement) => expand(branch, number, &body, &mut out)?,
            Statement::Targets { .. } => {}
            other => out.push(other.clone()),
        }
    }
    Ok(Cow::Owned(out))
}

fn expand(branch: &Instruction, number: usize, body: &[Statement], out: &mut Vec<Statement>) -> Parsed<()> {
    let refuse = |why: &str| Err(Refused { instruction: branch.text.clone(), ..Refused::new(branch.line, why) });
    let ("brx.idx" | "brx.idx.uni", [index, Operand::Name(list)]) =
        (branch.opcode.as_str(), branch.operands.as_slice())
    else {
        return refuse("an indexed branch is 'brx.idx{.uni} index, list'");
    };
    let found = body.iter().find_map(|statement| match statement {
        Statement::Targets { name, labels, .. } if name == list => Some(labels),
        _ => None,
    });
    let Some(labels) = found else { return refuse("the list of an indexed branch is a label of '.branchtargets'") };
    if labels.len() > MOST_TARGETS {
        return refuse("the list of an indexed branch has more labels than are known here");
    }
    let instruction = |guard: Option<(String, bool)>, opcode: &str, operands| {
        let (opcode, text) = (opcode.to_owned(), branch.text.clone());
        Statement::Instruction(Instruction { guard, opcode, operands, line: branch.line, text })
    };
    let (chosen, skip) = (format!("brx#{number}"), format!("brx#{number}.skip"));
    out.push(Statement::Register { ty: Type::PRED, name: chosen.clone(), count: None, line: branch.line });
    if let Some((guard, negated)) = &branch.guard {
        out.push(instruction(Some((guard.clone(), !negated)), "bra", vec![Operand::Name(skip.clone())]));
    }
    for (label, place) in labels.iter().zip(0..) {
        let compared = vec![Operand::Name(chosen.clone()), index.clone(), Operand::Int(place, false)];
        out.push(instruction(None, "setp.eq.u32", compared));
        out.push(instruction(Some((chosen.clone(), false)), "bra", vec![Operand::Name(label.clone())]));
    }
    out.push(instruction(None, BEYOND_TARGETS, Vec::new()));
    out.push(Statement::Label(skip, branch.line));
    Ok(())
}
