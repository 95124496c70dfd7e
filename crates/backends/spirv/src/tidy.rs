//! What is left out of a function when it is done: instructions whose results nothing uses.

use rspirv::dr::{Block, Instruction, Operand};
use rspirv::spirv::{Op, Word};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::reuse::is_pure;

/// The identifiers that an instruction uses.
fn uses(instruction: &Instruction) -> impl Iterator<Item = Word> + '_ {
    instruction.operands.iter().filter_map(|operand| match operand {
        Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id) => Some(*id),
        _ => None,
    })
}

/// Whether an instruction does nothing but give its result. A load that says nothing of other threads is one of what
/// the thread alone has, or of what nobody changes; all other accesses stay, used or not: they may race.
fn only_gives(instruction: &Instruction) -> bool {
    match instruction.class.opcode {
        Op::Phi => true,
        Op::Load => instruction.operands.len() == 1,
        op => is_pure(op),
    }
}

/// Leaves out what has no effect, and gives the identifiers that are gone.
pub fn tidy(blocks: &mut [Block]) -> FxHashSet<Word> {
    let mut open = Vec::new();
    let mut givers: FxHashMap<Word, &Instruction> = FxHashMap::default();
    for instruction in blocks.iter().flat_map(|block| &block.instructions) {
        match instruction.result_id.filter(|_| only_gives(instruction)) {
            Some(id) => {
                givers.insert(id, instruction);
            }
            None => open.extend(uses(instruction)),
        }
    }
    let mut used = FxHashSet::default();
    while let Some(id) = open.pop() {
        if let Some(giver) = givers.get(&id)
            && used.insert(id)
        {
            open.extend(uses(giver));
        }
    }
    let gone: FxHashSet<Word> = givers.into_keys().filter(|id| !used.contains(id)).collect();
    for block in blocks {
        let mut kept: Vec<Instruction> = Vec::with_capacity(block.instructions.len());
        for instruction in block.instructions.drain(..).rev() {
            // A place in the source is that of what follows it.
            let says_nothing =
                instruction.class.opcode == Op::Line && kept.last().is_none_or(|next| next.class.opcode == Op::Line);
            if !says_nothing && instruction.result_id.is_none_or(|id| !gone.contains(&id)) {
                kept.push(instruction);
            }
        }
        kept.reverse();
        block.instructions = kept;
    }
    gone
}
