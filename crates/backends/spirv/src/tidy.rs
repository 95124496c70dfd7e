//! What is left out of a function when it is done: variables that nothing loads, with what is stored in them, and
//! instructions whose results nothing uses.

use rspirv::dr::{Block, Instruction, Operand};
use rspirv::spirv::{Op, Word};
use rustc_hash::FxHashSet;

use crate::reuse::is_pure;

/// The identifiers that an instruction uses.
fn uses(instruction: &Instruction) -> impl Iterator<Item = Word> + '_ {
    instruction.operands.iter().filter_map(|operand| match operand {
        Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id) => Some(*id),
        _ => None,
    })
}

/// Leaves out what has no effect, and gives the identifiers that are gone. Plain accesses to memory that is not the
/// function's own stay, used or not: they may race.
pub fn tidy(variables: &mut Vec<Instruction>, blocks: &mut [Block]) -> FxHashSet<Word> {
    let mut unread: FxHashSet<Word> = variables.iter().filter_map(|variable| variable.result_id).collect();
    for instruction in blocks.iter().flat_map(|block| &block.instructions) {
        let read = match instruction.class.opcode {
            Op::Store => 1,
            _ => 0,
        };
        uses(instruction).skip(read).for_each(|id| {
            unread.remove(&id);
        });
    }
    variables.retain(|variable| variable.result_id.is_none_or(|id| !unread.contains(&id)));
    let mut used = FxHashSet::default();
    let mut gone = unread.clone();
    for block in blocks.iter_mut().rev() {
        let mut kept: Vec<Instruction> = Vec::with_capacity(block.instructions.len());
        for instruction in block.instructions.drain(..).rev() {
            let op = instruction.class.opcode;
            let stores_unread = op == Op::Store && uses(&instruction).next().is_some_and(|to| unread.contains(&to));
            // A load that says nothing of memory is one of what the thread alone has, or of what nobody changes.
            let is_private_load = op == Op::Load && instruction.operands.len() == 1;
            let unused = instruction.result_id.filter(|id| !used.contains(id));
            if stores_unread || unused.is_some_and(|_| is_pure(op) || is_private_load) {
                gone.extend(instruction.result_id);
                continue;
            }
            // A place in the source is that of what follows it.
            if op == Op::Line && kept.last().is_none_or(|next| next.class.opcode == Op::Line) {
                continue;
            }
            used.extend(uses(&instruction));
            kept.push(instruction);
        }
        kept.reverse();
        block.instructions = kept;
    }
    gone
}
