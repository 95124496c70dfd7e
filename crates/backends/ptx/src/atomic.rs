//! Atomic operations: one instruction each, which carries its order and scope.
//!
//! Source: PTX ISA 8.8, 9.7.13.5 "atom", 9.7.9.8 "ld", 9.7.9.11 "st".

use wattle_ir::{AtomicOp, ExprId, Place, SlotId, Type, illegal};
use wattle_memory::Label;

use crate::access::Address;
use crate::assemble::{Class, Value, ins};
use crate::emit::{Emitter, memory_type};
use crate::expr::bits_type;
use crate::ordering::ordering;

impl Emitter<'_> {
    pub(crate) fn atomic_load(&mut self, dst: SlotId, place: Place, index: &[ExprId], label: Label) {
        let (at, to, ty) = (self.element(place, index), self.slot(dst), self.kernel.element_of(place));
        ins!(self, "ld.{}.{}.{} {to}, {at}", ordering(&[label]), at.space, memory_type(ty));
    }

    pub(crate) fn atomic_store(&mut self, place: Place, index: &[ExprId], value: ExprId, label: Label) {
        let (value, ty) = (self.value(value), self.kernel.element_of(place));
        let at = self.element(place, index);
        ins!(self, "st.{}.{}.{} {at}, {value}", ordering(&[label]), at.space, memory_type(ty));
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
        let (operand, at) = (self.value(operand), self.element(place, index));
        let ty = self.kernel.element_of(place);
        let (name, of) = instruction(op, ty).unwrap_or_else(|| illegal(&(op, ty)));
        self.update(dst, name, of, ty, &at, operand, &ordering(&[read, write]));
    }

    /// Emits a compare-exchange. PTX has one form: where it fails it writes the old value back, with the same order.
    pub(crate) fn compare_exchange(
        &mut self,
        dst: SlotId,
        place: Place,
        index: &[ExprId],
        [expected, desired]: [ExprId; 2],
        (read, write): (Label, Label),
    ) {
        let ordering = ordering(&[read, write]);
        let (expected, desired, at) = (self.value(expected), self.value(desired), self.element(place, index));
        let ty = self.kernel.element_of(place);
        let of = bits_type(ty);
        if !ty.is_float() {
            let to = self.slot(dst);
            ins!(self, "atom.{ordering}.{}.cas.{of} {to}, {at}, {expected}, {desired}", at.space);
            return;
        }
        // Floats are exchanged as bits.
        let [expected, desired] = [expected, desired].map(|value| self.bits(ty, ty.bits_type(), value));
        let to = self.asm.fresh(ty.bits_type());
        ins!(self, "atom.{ordering}.{}.cas.{of} {to}, {at}, {expected}, {desired}", at.space);
        let old = self.bits(ty.bits_type(), ty, to);
        self.set_slot(dst, old);
    }

    fn element(&mut self, place: Place, index: &[ExprId]) -> Address {
        let index = self.index(index);
        self.pointer(place, &index)
    }

    /// Emits an update that is one instruction. It is `atom` where nothing reads the old value too: the read of `red`
    /// begins no acquire pattern with a fence behind it (PTX ISA 8.8), and ptxas makes a reduction of `atom` where no
    /// fence follows.
    #[allow(clippy::too_many_arguments)]
    fn update(&mut self, dst: SlotId, name: &str, of: &str, ty: Type, at: &Address, operand: Value, ordering: &str) {
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
}

/// The instruction of an update and its type, if there is one. Additions of signed integers are those of unsigned ones.
pub fn instruction(op: AtomicOp, ty: Type) -> Option<(&'static str, &'static str)> {
    let unsigned = if ty.size() == 8 { "u64" } else { "u32" };
    Some(match op {
        AtomicOp::Exchange => ("exch", bits_type(ty)),
        AtomicOp::Add if ty.is_float() => ("add", memory_type(ty)),
        AtomicOp::Add => ("add", unsigned),
        AtomicOp::Sub => ("sub", unsigned),
        // There is none for floats (table 9.7.13.5-1).
        AtomicOp::Min | AtomicOp::Max if ty.is_float() => return None,
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
