//! Atomic operations: one instruction each where there is one, which carries its order and scope.
//!
//! Source: PTX ISA 8.8, 9.7.13.5 "atom" and 9.7.13.6 "red", 9.7.9.8 "ld", 9.7.9.11 "st".

use wattle_ir::{AtomicOp, BinaryOp, SlotId, Stmt, Type};
use wattle_memory::{FenceOrder, UpdateOrder};

use crate::Lacking;
use crate::access::Address;
use crate::assemble::{Class, Value, ins};
use crate::emit::{Emitter, memory_type};
use crate::expr::bits_type;
use crate::ordering::ordering;

impl Emitter<'_> {
    pub(crate) fn atomic(&mut self, stmt: &Stmt) -> Result<(), Lacking> {
        match *stmt {
            Stmt::AtomicLoad { dst, place, ref index, order, scope, site } => {
                let label = self.lowering.atomic_read(order, scope, place.memory_class());
                let ordering = ordering(&[label.map_err(|_| self.no_scope(site))?]);
                let ty = self.kernel.element_of(place);
                self.checked(
                    place,
                    index,
                    1,
                    site,
                    |emitter, index| {
                        let (at, to) = (emitter.pointer(place, index), emitter.slot(dst));
                        ins!(emitter, "ld.{ordering}.{}.{} {to}, {at}", at.space, memory_type(ty));
                    },
                    |emitter| emitter.set_slot(dst, Value::Constant(ty, 0)),
                );
            }
            Stmt::AtomicStore { place, ref index, value, order, scope, site } => {
                let label = self.lowering.atomic_write(order, scope, place.memory_class());
                let ordering = ordering(&[label.map_err(|_| self.no_scope(site))?]);
                let ty = self.kernel.element_of(place);
                let value = self.value(value);
                self.checked(
                    place,
                    index,
                    1,
                    site,
                    |emitter, index| {
                        let at = emitter.pointer(place, index);
                        ins!(emitter, "st.{ordering}.{}.{} {at}, {value}", at.space, memory_type(ty));
                    },
                    |_| {},
                );
            }
            Stmt::AtomicUpdate { dst, op, place, ref index, operand, order, scope, site } => {
                let ty = self.kernel.element_of(place);
                let instruction = instruction(op, ty);
                // An operation without an instruction is a loop with fences around it: an order in the loop would be
                // one in each turn.
                let order_there = if instruction.is_some() { order } else { UpdateOrder::Relaxed };
                let labels = self.lowering.update(order_there, scope, place.memory_class());
                let (read, write) = labels.map_err(|_| self.no_scope(site))?;
                let ordering = ordering(&[read, write]);
                let operand = self.value(operand);
                let used = self.read.contains(&dst);
                let update = |emitter: &mut Self, index: &[Value]| -> Result<(), Lacking> {
                    let at = emitter.pointer(place, index);
                    if let Some((name, of)) = instruction {
                        emitter.update(dst, name, of, ty, &at, operand, &ordering, used);
                        return Ok(());
                    }
                    if order.releases() {
                        emitter.fence(FenceOrder::Release, scope, site)?;
                    }
                    emitter.update_by_exchange(dst, op, ty, &at, operand, &ordering);
                    if order.acquires() {
                        emitter.fence(FenceOrder::Acquire, scope, site)?;
                    }
                    Ok(())
                };
                let mut made = Ok(());
                let told = &mut made;
                self.checked(
                    place,
                    index,
                    1,
                    site,
                    |emitter, index| *told = update(emitter, index),
                    |emitter| emitter.set_slot(dst, Value::Constant(ty, 0)),
                );
                return made;
            }
            Stmt::CompareExchange { dst, place, ref index, expected, desired, order, scope, site } => {
                // A failed exchange is a read that acquires as a successful one does: PTX has no other.
                let labels = self.lowering.update(order, scope, place.memory_class());
                let (read, write) = labels.map_err(|_| self.no_scope(site))?;
                let ordering = ordering(&[read, write]);
                let ty = self.kernel.element_of(place);
                let (expected, desired) = (self.value(expected), self.value(desired));
                self.checked(
                    place,
                    index,
                    1,
                    site,
                    |emitter, index| {
                        let (at, to, of) = (emitter.pointer(place, index), emitter.slot(dst), bits_type(ty));
                        ins!(emitter, "atom.{ordering}.{}.cas.{of} {to}, {at}, {expected}, {desired}", at.space);
                    },
                    |emitter| emitter.set_slot(dst, Value::Constant(ty, 0)),
                );
            }
            _ => {}
        }
        Ok(())
    }

    /// Emits an update that is one instruction. Where nothing reads the old value it is a reduction, unless it
    /// acquires, which reductions cannot, or exchanges.
    #[allow(clippy::too_many_arguments)]
    fn update(
        &mut self,
        dst: SlotId,
        name: &str,
        of: &str,
        ty: Type,
        at: &Address,
        operand: Value,
        ordering: &str,
        used: bool,
    ) {
        let space = at.space;
        // There is no subtraction: the negated operand is added.
        let (name, operand) = match (name, operand) {
            ("sub", Value::Constant(_, raw)) => {
                let mask = u64::MAX >> (64 - 8 * ty.size());
                ("add", Value::Constant(ty, raw.wrapping_neg() & mask))
            }
            ("sub", operand) => {
                let signed = if ty.size() == 8 { "neg.s64" } else { "neg.s32" };
                ("add", self.op(signed, Class::of(ty), &[operand]))
            }
            same => same,
        };
        let acquires = ordering.starts_with("acq");
        if !used && !acquires && name != "exch" {
            ins!(self, "red.{ordering}.{space}.{name}.{of} {at}, {operand}");
            return;
        }
        let to = self.slot(dst);
        if name != "exch" || !ty.is_float() {
            ins!(self, "atom.{ordering}.{space}.{name}.{of} {to}, {at}, {operand}");
            return;
        }
        // Floats are exchanged as bits.
        let operand = self.bits(ty, ty.bits_type(), operand);
        let old = self.op_at(&format!("atom.{ordering}.{space}.{name}.{of}"), ty.bits_type(), at, operand);
        let old = self.bits(ty.bits_type(), ty, old);
        self.set_slot(dst, old);
    }

    fn op_at(&mut self, name: &str, ty: Type, at: &Address, operand: Value) -> Value {
        let to = self.asm.fresh(ty);
        ins!(self, "{name} {to}, {at}, {operand}");
        to
    }

    /// Emits an update that has no instruction: a load, and compare-exchanges until one succeeds. All are relaxed.
    fn update_by_exchange(
        &mut self,
        dst: SlotId,
        op: AtomicOp,
        ty: Type,
        at: &Address,
        operand: Value,
        ordering: &str,
    ) {
        let (space, of) = (at.space, bits_type(ty));
        let (seen, old) = (self.asm.fresh(ty), self.asm.fresh(ty));
        ins!(self, "ld.{ordering}.{space}.{of} {seen}, {at}");
        let again = self.asm.target();
        self.asm.place(again);
        self.copy(old, seen);
        let after = self.updated(op, ty, old, operand);
        ins!(self, "atom.{ordering}.{space}.cas.{of} {seen}, {at}, {old}, {after}");
        let lost = self.compare(BinaryOp::Ne, ty, seen, old);
        ins!(self, "@{lost} bra {again}");
        self.set_slot(dst, old);
    }

    /// The value that the update leaves in memory.
    fn updated(&mut self, op: AtomicOp, ty: Type, old: Value, operand: Value) -> Value {
        let (zero, one) = (Value::Constant(ty, 0), Value::Constant(ty, 1));
        match op {
            AtomicOp::Inc => {
                let next = self.binary(BinaryOp::Add, ty, old, one);
                let wraps = self.compare(BinaryOp::Ge, ty, old, operand);
                self.select(ty, wraps, zero, next)
            }
            AtomicOp::Dec => {
                let next = self.binary(BinaryOp::Sub, ty, old, one);
                let is_zero = self.compare(BinaryOp::Eq, ty, old, zero);
                let beyond = self.compare(BinaryOp::Gt, ty, old, operand);
                let wraps = self.op("or.pred", Class::Predicate, &[is_zero, beyond]);
                self.select(ty, wraps, operand, next)
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

/// The instruction of an update and its type, if there is one. Additions of signed integers are those of unsigned ones.
fn instruction(op: AtomicOp, ty: Type) -> Option<(&'static str, &'static str)> {
    let unsigned = if ty.size() == 8 { "u64" } else { "u32" };
    Some(match op {
        AtomicOp::Exchange => ("exch", bits_type(ty)),
        AtomicOp::Add if ty.is_float() => ("add", memory_type(ty)),
        AtomicOp::Add => ("add", unsigned),
        AtomicOp::Sub => ("sub", unsigned),
        AtomicOp::Min => ("min", memory_type(ty)),
        AtomicOp::Max => ("max", memory_type(ty)),
        AtomicOp::And => ("and", bits_type(ty)),
        AtomicOp::Or => ("or", bits_type(ty)),
        AtomicOp::Xor => ("xor", bits_type(ty)),
        AtomicOp::Inc if ty == Type::U32 => ("inc", "u32"),
        AtomicOp::Dec if ty == Type::U32 => ("dec", "u32"),
        AtomicOp::Inc | AtomicOp::Dec => return None,
    })
}
