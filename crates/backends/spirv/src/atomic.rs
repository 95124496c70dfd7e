//! Atomic operations, each as one instruction.

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};
use wattle_ir::{AtomicOp, ExprId, Place, SlotId, Type, illegal};
use wattle_memory::Label;

use crate::emit::Emitter;

/// An atomic operation's scope and semantics, as constants.
#[derive(Clone, Copy)]
struct Ordering {
    scope: Word,
    semantics: Word,
}

impl Emitter<'_> {
    pub(crate) fn atomic_load(&mut self, dst: SlotId, place: Place, index: &[ExprId], label: Label) {
        let ordering = self.ordering(&[label]);
        let at = self.element(place, index);
        let value = self.atomic_op(Op::AtomicLoad, place, at, ordering, None);
        self.set_slot(dst, value);
    }

    pub(crate) fn atomic_store(&mut self, place: Place, index: &[ExprId], value: ExprId, label: Label) {
        let ordering = self.ordering(&[label]);
        let (value, at) = (self.value(value), self.element(place, index));
        let operands = vec![
            Operand::IdRef(at),
            Operand::IdScope(ordering.scope),
            Operand::IdMemorySemantics(ordering.semantics),
            Operand::IdRef(value),
        ];
        self.asm.act(Op::AtomicStore, operands);
    }

    pub(crate) fn atomic_update(
        &mut self,
        dst: SlotId,
        op: AtomicOp,
        place: Place,
        index: &[ExprId],
        operand: ExprId,
        (read, write): (Label, Label),
    ) {
        let ordering = self.ordering(&[read, write]);
        let ty = self.kernel.element_of(place);
        let instruction = instruction(op, ty).unwrap_or_else(|| illegal(&(op, ty)));
        let (operand, at) = (self.value(operand), self.element(place, index));
        let old = self.atomic_op(instruction, place, at, ordering, Some(operand));
        self.set_slot(dst, old);
    }

    /// A failed exchange is a read.
    pub(crate) fn compare_exchange(
        &mut self,
        dst: SlotId,
        place: Place,
        index: &[ExprId],
        values: [ExprId; 2],
        (read, write): (Label, Label),
    ) {
        let (equal, unequal) = (self.ordering(&[read, write]), self.ordering(&[read]));
        let [from, to] = values.map(|id| self.value(id));
        let (at, of) = (self.element(place, index), self.asm.ty(self.kernel.element_of(place)));
        let operands = vec![
            Operand::IdRef(at),
            Operand::IdScope(equal.scope),
            Operand::IdMemorySemantics(equal.semantics),
            Operand::IdMemorySemantics(unequal.semantics),
            Operand::IdRef(to),
            Operand::IdRef(from),
        ];
        let old = self.asm.op(Op::AtomicCompareExchange, of, operands);
        self.set_slot(dst, old);
    }

    fn ordering(&mut self, labels: &[Label]) -> Ordering {
        let scope = labels.first().map_or(0, |label| self.scope_word(label.level));
        Ordering { scope, semantics: self.semantics_word(labels) }
    }

    fn atomic_op(&mut self, op: Op, place: Place, at: Word, ordering: Ordering, operand: Option<Word>) -> Word {
        let of = self.asm.ty(self.kernel.element_of(place));
        let head =
            [Operand::IdRef(at), Operand::IdScope(ordering.scope), Operand::IdMemorySemantics(ordering.semantics)];
        self.asm.op(op, of, head.into_iter().chain(operand.map(Operand::IdRef)).collect())
    }
}

/// The instruction of an update, if there is one. That of a sum of floats is an extension's.
pub fn instruction(op: AtomicOp, ty: Type) -> Option<Op> {
    Some(match op {
        AtomicOp::Exchange => Op::AtomicExchange,
        AtomicOp::Add if ty.is_float() => Op::AtomicFAddEXT,
        AtomicOp::Add => Op::AtomicIAdd,
        AtomicOp::Sub => Op::AtomicISub,
        AtomicOp::Min | AtomicOp::Max if ty.is_float() => return None,
        AtomicOp::Min if ty.is_signed() => Op::AtomicSMin,
        AtomicOp::Min => Op::AtomicUMin,
        AtomicOp::Max if ty.is_signed() => Op::AtomicSMax,
        AtomicOp::Max => Op::AtomicUMax,
        AtomicOp::And => Op::AtomicAnd,
        AtomicOp::Or => Op::AtomicOr,
        AtomicOp::Xor => Op::AtomicXor,
        AtomicOp::Inc | AtomicOp::Dec => return None,
    })
}
