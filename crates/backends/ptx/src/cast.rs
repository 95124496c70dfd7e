//! Conversions, as Rust's `as` does them.

use wattle_ir::FloatFormat::{F32, F64, Half};
use wattle_ir::{HalfFloat, Scalar, Type, eval};

use crate::assemble::{Class, Value};
use crate::emit::{Emitter, memory_type};
use crate::expr::{bits_type, int_type, number_type};

impl Emitter<'_> {
    /// The value that has the same bits in another type.
    pub(crate) fn bits(&mut self, from: Type, to: Type, x: Value) -> Value {
        if let Value::Constant(_, raw) = x {
            return Value::Constant(to, raw);
        }
        match (Class::of(from), Class::of(to)) {
            (Class::Word, Class::Word) if from != to => self.wrapped(to, x),
            (Class::Half, Class::Word) => {
                self.op(&format!("cvt.{}.{}", int_type(to), memory_type(to)), Class::Word, &[x])
            }
            (Class::Word, Class::Half) => self.op("cvt.u16.u32", Class::Half, &[x]),
            (before, after) if before == after => x,
            (_, after) => self.op(&format!("mov.{}", bits_type(to)), after, &[x]),
        }
    }

    pub(crate) fn cast(&mut self, from: Type, to: Type, x: Value) -> Value {
        let class = Class::of(to);
        if from == to {
            return x;
        }
        let x = self.in_register(from, x);
        match (from.float_format(), to.float_format()) {
            _ if from == Type::Bool => self.select(to, x, Value::Constant(to, eval::one(to)), Value::Constant(to, 0)),
            // The verifier refuses such a cast.
            _ if to == Type::Bool => self.compare("ne", from, x, Value::Constant(from, 0)),
            (Some(Half(HalfFloat::F16)), Some(F32)) => self.op("cvt.f32.f16", class, &[x]),
            (Some(F32), Some(Half(_))) => self.op(&format!("cvt.rn.{}.f32", number_type(to)), class, &[x]),
            // It is the upper half.
            (Some(Half(HalfFloat::BF16)), Some(F32)) => {
                let low = self.op("cvt.u32.u16", Class::Word, &[x]);
                let high = self.op("shl.b32", Class::Word, &[low, Value::word(16)]);
                self.op("mov.b32", class, &[high])
            }
            (Some(F32), Some(F64)) => self.op("cvt.f64.f32", class, &[x]),
            (Some(F64), Some(F32)) => self.op("cvt.rn.f32.f64", class, &[x]),
            (Some(F32), Some(F32)) | (Some(F64), Some(F64)) => x,
            // These are converted through `F32` (`expand::halves`, which rounds once).
            (Some(Half(_)), Some(Half(_) | F64)) | (Some(F64), Some(Half(_))) => {
                let single = self.cast(from, Type::F32, x);
                self.cast(Type::F32, to, single)
            }
            (Some(_), None) => self.saturate(from, to, x),
            // Small integers are extended as 32 bits.
            (None, Some(_)) => self.op(&format!("cvt.rn.{}.{}", number_type(to), int_type(from)), class, &[x]),
            (None, None) if to.size() == 8 && from.size() == 8 => x,
            (None, None) if to.size() == 8 => {
                let name = if from.is_signed() { "cvt.s64.s32" } else { "cvt.u64.u32" };
                self.op(name, class, &[x])
            }
            (None, None) if from.size() == 8 => {
                let low = self.op("cvt.u32.u64", class, &[x]);
                self.wrapped(to, low)
            }
            (None, None) => self.wrapped(to, x),
        }
    }

    /// Converts a float to an integer: a value beyond the type becomes the type's bound.
    ///
    /// The instruction clamps to its own type (PTX ISA 8.8, 9.7.9.21 "cvt").
    fn saturate(&mut self, from: Type, to: Type, x: Value) -> Value {
        let class = Class::of(to);
        let (float, int) = (number_type(from), int_type(to));
        let whole = self.op(&format!("cvt.rzi.{int}.{float}"), class, &[x]);
        if to.bits() >= 32 {
            return whole;
        }
        let most = (1 << (to.bits() - u32::from(to.is_signed()))) - 1;
        if !to.is_signed() {
            return self.op("min.u32", class, &[whole, Value::word(most)]);
        }
        let bound = |value: i32| Value::Constant(Type::I32, value.to_raw());
        let whole = self.op("min.s32", class, &[whole, bound(most as i32)]);
        self.op("max.s32", class, &[whole, bound(-1 - most as i32)])
    }
}
