//! Atomic operations, each as one instruction or as a loop of compare-exchanges.

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};
use wattle_ir::{AtomicOp, BinaryOp, Place, Site, Stmt, Type};
use wattle_memory::{FenceOrder, Label, UpdateOrder};

use crate::Lacking;
use crate::emit::Emitter;

/// An atomic operation's scope and semantics, as constants.
#[derive(Clone, Copy)]
struct Ordering {
    scope: Word,
    semantics: Word,
}

impl Emitter<'_> {
    pub(crate) fn atomic(&mut self, stmt: &Stmt) -> Result<(), Lacking> {
        match *stmt {
            Stmt::AtomicLoad { dst, place, ref index, order, scope, site } => {
                let label = self.lowering.atomic_read(order, scope, place.memory_class());
                let ordering = self.ordering(&[label.map_err(|_| self.no_system_scope(site))?]);
                let zero = self.asm.constant(self.kernel.element_of(place), 0);
                self.checked(
                    place,
                    index,
                    1,
                    site,
                    |emitter, index| {
                        let at = emitter.pointer(place, index);
                        let value = emitter.atomic_op(Op::AtomicLoad, place, at, ordering, None);
                        let value = emitter.as_element(place, value);
                        emitter.set_slot(dst, value);
                    },
                    |emitter| emitter.set_slot(dst, zero),
                );
            }
            Stmt::AtomicStore { place, ref index, value, order, scope, site } => {
                let label = self.lowering.atomic_write(order, scope, place.memory_class());
                let ordering = self.ordering(&[label.map_err(|_| self.no_system_scope(site))?]);
                let value = self.value(value);
                let value = self.as_stored(place, value);
                self.checked(
                    place,
                    index,
                    1,
                    site,
                    |emitter, index| {
                        let at = emitter.pointer(place, index);
                        let operands = vec![
                            Operand::IdRef(at),
                            Operand::IdScope(ordering.scope),
                            Operand::IdMemorySemantics(ordering.semantics),
                            Operand::IdRef(value),
                        ];
                        emitter.asm.act(Op::AtomicStore, operands);
                    },
                    |_| {},
                );
            }
            Stmt::AtomicUpdate { dst, op, place, ref index, operand, order, scope, site } => {
                let instruction = self.instruction(op, place);
                // An operation without an instruction is a loop with fences around it: an order in the loop would be
                // one in each turn.
                let order_there = if instruction.is_some() { order } else { UpdateOrder::Relaxed };
                let labels = self.lowering.update(order_there, scope, place.memory_class());
                let (read, write) = labels.map_err(|_| self.no_system_scope(site))?;
                let ordering = self.ordering(&[read, write]);
                if instruction.is_none() && order.releases() {
                    self.fence(FenceOrder::Release, scope, site)?;
                }
                let operand = self.value(operand);
                let zero = self.asm.constant(self.kernel.element_of(place), 0);
                self.checked(
                    place,
                    index,
                    1,
                    site,
                    |emitter, index| {
                        let at = emitter.pointer(place, index);
                        let old = match instruction {
                            Some(instruction) => {
                                let operand = emitter.as_stored(place, operand);
                                let old = emitter.atomic_op(instruction, place, at, ordering, Some(operand));
                                emitter.as_element(place, old)
                            }
                            None => emitter.update_by_exchange(op, place, at, operand, ordering, site),
                        };
                        emitter.set_slot(dst, old);
                    },
                    |emitter| emitter.set_slot(dst, zero),
                );
                if instruction.is_none() && order.acquires() {
                    self.fence(FenceOrder::Acquire, scope, site)?;
                }
            }
            Stmt::CompareExchange { dst, place, ref index, expected, desired, order, scope, site } => {
                let class = place.memory_class();
                let labels = self.lowering.update(order, scope, class);
                let (read, write) = labels.map_err(|_| self.no_system_scope(site))?;
                // A failed exchange is a read.
                let (equal, unequal) = (self.ordering(&[read, write]), self.ordering(&[read]));
                let (expected, desired) = (self.value(expected), self.value(desired));
                let zero = self.asm.constant(self.kernel.element_of(place), 0);
                self.checked(
                    place,
                    index,
                    1,
                    site,
                    |emitter, index| {
                        let at = emitter.pointer(place, index);
                        let old = emitter.exchange(place, at, [equal, unequal], expected, desired);
                        emitter.set_slot(dst, old);
                    },
                    |emitter| emitter.set_slot(dst, zero),
                );
            }
            _ => {}
        }
        Ok(())
    }

    fn ordering(&mut self, labels: &[Label]) -> Ordering {
        let scope = labels.first().map_or(0, |label| self.scope_word(label.level));
        Ordering { scope, semantics: self.semantics_word(labels) }
    }

    /// The instruction of an update, if there is one.
    fn instruction(&self, op: AtomicOp, place: Place) -> Option<Op> {
        let ty = self.kernel.element_of(place);
        Some(match op {
            AtomicOp::Exchange => Op::AtomicExchange,
            AtomicOp::Add if ty.is_float() => return self.added.contains(&place).then_some(Op::AtomicFAddEXT),
            AtomicOp::Add => Op::AtomicIAdd,
            AtomicOp::Sub => Op::AtomicISub,
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

    fn atomic_op(&mut self, op: Op, place: Place, at: Word, ordering: Ordering, operand: Option<Word>) -> Word {
        let of = self.variable(place).stored;
        let of = self.asm.ty(of);
        let head =
            [Operand::IdRef(at), Operand::IdScope(ordering.scope), Operand::IdMemorySemantics(ordering.semantics)];
        self.asm.op(op, of, head.into_iter().chain(operand.map(Operand::IdRef)).collect())
    }

    fn exchange(&mut self, place: Place, at: Word, [equal, unequal]: [Ordering; 2], from: Word, to: Word) -> Word {
        let of = self.variable(place).stored;
        let of = self.asm.ty(of);
        self.asm.op(
            Op::AtomicCompareExchange,
            of,
            vec![
                Operand::IdRef(at),
                Operand::IdScope(equal.scope),
                Operand::IdMemorySemantics(equal.semantics),
                Operand::IdMemorySemantics(unequal.semantics),
                Operand::IdRef(to),
                Operand::IdRef(from),
            ],
        )
    }

    fn as_element(&mut self, place: Place, value: Word) -> Word {
        self.bits(self.variable(place).stored, self.kernel.element_of(place), value)
    }

    fn as_stored(&mut self, place: Place, value: Word) -> Word {
        self.bits(self.kernel.element_of(place), self.variable(place).stored, value)
    }

    /// Emits an update that has no instruction: a load, and compare-exchanges until one succeeds. All are relaxed.
    fn update_by_exchange(
        &mut self,
        op: AtomicOp,
        place: Place,
        at: Word,
        operand: Word,
        relaxed: Ordering,
        site: Site,
    ) -> Word {
        let stored = self.variable(place).stored;
        let of = self.asm.ty(stored);
        let seen = self.asm.local(of, "seen");
        let first = self.atomic_op(Op::AtomicLoad, place, at, relaxed, None);
        self.asm.act(Op::Store, [seen, first].map(Operand::IdRef).to_vec());
        self.until(site, |emitter| {
            let old = emitter.asm.of(Op::Load, of, &[seen]);
            let before = emitter.as_element(place, old);
            let after = emitter.updated(op, emitter.kernel.element_of(place), before, operand);
            let after = emitter.as_stored(place, after);
            let found = emitter.exchange(place, at, [relaxed, relaxed], old, after);
            emitter.asm.act(Op::Store, [seen, found].map(Operand::IdRef).to_vec());
            emitter.compare(Op::IEqual, found, old)
        });
        let old = self.asm.of(Op::Load, of, &[seen]);
        self.as_element(place, old)
    }

    /// The value that the update leaves in memory.
    fn updated(&mut self, op: AtomicOp, ty: Type, old: Word, operand: Word) -> Word {
        let (of, bool) = (self.asm.ty(ty), self.asm.ty(Type::Bool));
        match op {
            AtomicOp::Inc => {
                let (zero, one) = (self.asm.constant(ty, 0), self.asm.constant(ty, 1));
                let next = self.asm.of(Op::IAdd, of, &[old, one]);
                let wraps = self.binary(BinaryOp::Ge, ty, old, operand);
                self.asm.of(Op::Select, of, &[wraps, zero, next])
            }
            AtomicOp::Dec => {
                let (zero, one) = (self.asm.constant(ty, 0), self.asm.constant(ty, 1));
                let next = self.asm.of(Op::ISub, of, &[old, one]);
                let is_zero = self.compare(Op::IEqual, old, zero);
                let beyond = self.binary(BinaryOp::Gt, ty, old, operand);
                let wraps = self.asm.of(Op::LogicalOr, bool, &[is_zero, beyond]);
                self.asm.of(Op::Select, of, &[wraps, operand, next])
            }
            AtomicOp::Exchange => operand,
            AtomicOp::Add => self.binary(BinaryOp::Add, ty, old, operand),
            AtomicOp::Sub => self.binary(BinaryOp::Sub, ty, old, operand),
            AtomicOp::Min => self.binary(BinaryOp::Min, ty, old, operand),
            AtomicOp::Max => self.binary(BinaryOp::Max, ty, old, operand),
            AtomicOp::And => self.binary(BinaryOp::And, ty, old, operand),
            AtomicOp::Or => self.binary(BinaryOp::Or, ty, old, operand),
            AtomicOp::Xor => self.binary(BinaryOp::Xor, ty, old, operand),
        }
    }
}
