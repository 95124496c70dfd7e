//! Results that are used again: of instructions that depend on their operands alone, wherever the code before has come
//! through one.

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};
use rustc_hash::FxHashMap;

/// An instruction: what it does, the type of its result, and its operands with their kinds.
type Key = (u32, Word, Vec<(u8, Word)>);

/// The instructions whose results are known at a point of the code.
#[derive(Default)]
pub struct Made {
    results: FxHashMap<Key, Word>,
    /// In which order they were made.
    order: Vec<Key>,
}

impl Made {
    /// The key of an instruction that can be left out where its result is known; `None` for all others.
    pub fn key(op: Op, of: Word, operands: &[Operand]) -> Option<Key> {
        let parts = operands.iter().map(|operand| match *operand {
            Operand::IdRef(id) => Some((0, id)),
            Operand::LiteralBit32(number) => Some((1, number)),
            Operand::LiteralExtInstInteger(number) => Some((2, number)),
            _ => None,
        });
        Some((op as u32, of, parts.collect::<Option<_>>()?)).filter(|_| is_pure(op))
    }

    pub fn result(&self, key: &Key) -> Option<Word> {
        self.results.get(key).copied()
    }

    pub fn add(&mut self, key: Key, result: Word) {
        self.order.push(key.clone());
        self.results.insert(key, result);
    }

    /// The point that [`Made::forget`] goes back to.
    pub fn mark(&self) -> usize {
        self.order.len()
    }

    /// Forgets what was made since a point: other code does not come through it.
    pub fn forget(&mut self, mark: usize) {
        for key in self.order.drain(mark..) {
            self.results.remove(&key);
        }
    }
}

/// Whether the result of an instruction depends on its operands alone, and nothing else does.
pub fn is_pure(op: Op) -> bool {
    matches!(
        op,
        Op::AccessChain
            | Op::Bitcast
            | Op::BitReverse
            | Op::BitwiseAnd
            | Op::BitwiseOr
            | Op::BitwiseXor
            | Op::CompositeConstruct
            | Op::CompositeExtract
            | Op::ConvertFToS
            | Op::ConvertFToU
            | Op::ConvertSToF
            | Op::ConvertUToF
            | Op::ExtInst
            | Op::FAdd
            | Op::FConvert
            | Op::FDiv
            | Op::FMul
            | Op::FNegate
            | Op::FOrdEqual
            | Op::FOrdGreaterThan
            | Op::FOrdGreaterThanEqual
            | Op::FOrdLessThan
            | Op::FOrdLessThanEqual
            | Op::FSub
            | Op::FUnordNotEqual
            | Op::IAdd
            | Op::IAddCarry
            | Op::IEqual
            | Op::IMul
            | Op::INotEqual
            | Op::ISub
            | Op::ISubBorrow
            | Op::IsInf
            | Op::IsNan
            | Op::LogicalAnd
            | Op::LogicalEqual
            | Op::LogicalNot
            | Op::LogicalNotEqual
            | Op::LogicalOr
            | Op::Not
            | Op::SConvert
            | Op::SDiv
            | Op::SGreaterThan
            | Op::SGreaterThanEqual
            | Op::SLessThan
            | Op::SLessThanEqual
            | Op::SMulExtended
            | Op::SNegate
            | Op::Select
            | Op::ShiftLeftLogical
            | Op::ShiftRightArithmetic
            | Op::ShiftRightLogical
            | Op::UConvert
            | Op::UDiv
            | Op::UGreaterThan
            | Op::UGreaterThanEqual
            | Op::ULessThan
            | Op::ULessThanEqual
            | Op::UMod
            | Op::UMulExtended
            | Op::VectorExtractDynamic
            | Op::BitCount
    )
}
