//! What an optimizer would leave out of a module: numbers kept in variables, results that nothing uses, and those that
//! the same block has already.

use std::collections::HashSet;

use rspirv::dr::{Instruction, Operand, load_words};
use rspirv::spirv::{Op, StorageClass};

/// Instructions that do nothing but give a result; enough of them to see whether any are left out.
const GIVERS: [Op; 14] = [
    Op::AccessChain,
    Op::Bitcast,
    Op::BitwiseAnd,
    Op::CompositeExtract,
    Op::FAdd,
    Op::FMul,
    Op::IAdd,
    Op::IEqual,
    Op::IMul,
    Op::ISub,
    Op::LogicalAnd,
    Op::Phi,
    Op::Select,
    Op::ULessThan,
];

/// Describes what is redundant in a module.
pub fn redundant(words: &[u32]) -> Vec<String> {
    let module = load_words(words).expect("it has been built");
    let types = &module.types_global_values;
    let is_array = |pointer: Option<u32>| {
        let of = types.iter().find(|ty| ty.result_id == pointer).map(|ty| ty.operands[1].clone());
        types.iter().any(|ty| ty.class.opcode == Op::TypeArray && Some(Operand::IdRef(ty.result_id.unwrap_or(0))) == of)
    };
    let mut found = Vec::new();
    let text = |instruction: &Instruction| rspirv::binary::Disassemble::disassemble(instruction);
    for function in &module.functions {
        let all = || function.blocks.iter().flat_map(|block| &block.instructions);
        let used: HashSet<u32> = all().flat_map(|x| &x.operands).filter_map(Operand::id_ref_any).collect();
        for instruction in all() {
            let is_variable = instruction.class.opcode == Op::Variable;
            assert!(!is_variable || instruction.operands[0] == Operand::StorageClass(StorageClass::Function));
            if is_variable && !is_array(instruction.result_type) {
                found.push(format!("a number in a variable: {}", text(instruction)));
            }
            let gives = GIVERS.contains(&instruction.class.opcode);
            if gives && instruction.result_id.is_some_and(|id| !used.contains(&id)) {
                found.push(format!("a result that nothing uses: {}", text(instruction)));
            }
        }
        for block in &function.blocks {
            let mut seen = HashSet::new();
            let givers = block.instructions.iter().filter(|x| GIVERS.contains(&x.class.opcode));
            for instruction in givers.filter(|x| x.class.opcode != Op::Phi) {
                let what =
                    format!("{:?} {:?} {:?}", instruction.class.opcode, instruction.result_type, instruction.operands);
                if !seen.insert(what) {
                    found.push(format!("a result that is there already: {}", text(instruction)));
                }
            }
        }
    }
    found
}
