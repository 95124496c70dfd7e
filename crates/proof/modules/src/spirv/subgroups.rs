//! Whether a module can tell one size of subgroups from another, judged from its instructions alone: where in doubt, it
//! can.

use std::collections::HashSet;

use rspirv::grammar::OperandKind;
use rspirv::spirv::{BuiltIn, Decoration, Op, Scope};

use super::instruction::{Id, Instruction, operand_kinds};
use super::module::Spirv;

impl Spirv {
    /// Whether some kernel may read how many invocations a subgroup has.
    pub fn asks_size_of_subgroups(&self) -> bool {
        self.listing.instructions.iter().filter_map(built_in).any(|which| {
            use BuiltIn::*;
            matches!(which, SubgroupSize | SubgroupMaxSize | NumSubgroups | NumEnqueuedSubgroups)
        })
    }

    /// Whether it may matter to some kernel which invocations are in a subgroup with which: it has operations or
    /// built-in variables of subgroups, or an operand that can be their scope.
    pub fn uses_subgroups(&self) -> bool {
        let is_scope = |instruction: &&Instruction| match instruction.op {
            Op::Constant => instruction.operands.first() == Some(&(Scope::Subgroup as u32)),
            // A launch may give it any number.
            Op::SpecConstant | Op::SpecConstantOp => true,
            _ => false,
        };
        let scopes = self.listing.instructions.iter().filter(is_scope);
        let scopes: HashSet<Id> = scopes.filter_map(|instruction| instruction.result).collect();
        self.listing.instructions.iter().any(|instruction| {
            let is_of_them = |name: String| name.contains("Subgroup") || name.contains("GroupNonUniform");
            is_of_them(instruction.name())
                || built_in(instruction).is_some_and(|which| is_of_them(format!("{which:?}")))
                || may_be_scopes(instruction).iter().any(|operand| scopes.contains(operand))
        })
    }
}

/// The operands of an instruction that are scopes, or among which its scopes are.
fn may_be_scopes(instruction: &Instruction) -> Vec<u32> {
    match instruction.op {
        // Behind the pointer, the object and the mask of the memory operands.
        Op::Load => instruction.rest(2).to_vec(),
        Op::Store | Op::CopyMemory => instruction.rest(3).to_vec(),
        _ => {
            let kinds = operand_kinds(instruction).zip(&instruction.operands);
            kinds.filter(|(kind, _)| *kind == OperandKind::IdScope).map(|(_, &operand)| operand).collect()
        }
    }
}

/// The built-in variable that an instruction declares.
fn built_in(instruction: &Instruction) -> Option<BuiltIn> {
    let from = match instruction.op {
        Op::Decorate => 1,
        Op::MemberDecorate => 2,
        _ => return None,
    };
    match instruction.rest(from) {
        [decoration, which] if *decoration == Decoration::BuiltIn as u32 => BuiltIn::from_u32(*which),
        _ => None,
    }
}
