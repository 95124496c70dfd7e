//! Conversions, as Rust's `as` does them.

use wattle_ir::{Scalar, Type, TypeKind, eval};

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
        let kinds = (from.kind(), to.kind());
        match (from, to) {
            (Type::Bool, _) => self.select(to, x, Value::Constant(to, eval::one(to)), Value::Constant(to, 0)),
            // The verifier refuses such a cast.
            (_, Type::Bool) => self.compare("ne", from, x, Value::Constant(from, 0)),
            (Type::F16, Type::F32) => self.op("cvt.f32.f16", class, &[x]),
            (Type::F32, Type::F16 | Type::BF16) => self.op(&format!("cvt.rn.{}.f32", number_type(to)), class, &[x]),
            // It is the upper half.
            (Type::BF16, Type::F32) => {
                let low = self.op("cvt.u32.u16", Class::Word, &[x]);
                let high = self.op("shl.b32", Class::Word, &[low, Value::word(16)]);
                self.op("mov.b32", class, &[high])
            }
            (Type::F32, Type::F64) => self.op("cvt.f64.f32", class, &[x]),
            (Type::F64, Type::F32) => self.op("cvt.rn.f32.f64", class, &[x]),
            // The other floats are converted through `F32` (`expand::halves`, which rounds once).
            _ if kinds == (TypeKind::Float, TypeKind::Float) => {
                let single = self.cast(from, Type::F32, x);
                self.cast(Type::F32, to, single)
            }
            _ if from.is_float() => self.saturate(from, to, x),
            // Small integers are extended as 32 bits.
            _ if to.is_float() => self.op(&format!("cvt.rn.{}.{}", number_type(to), int_type(from)), class, &[x]),
            _ if to.size() == 8 && from.size() == 8 => x,
            _ if to.size() == 8 => {
                let name = if from.is_signed() { "cvt.s64.s32" } else { "cvt.u64.u32" };
                self.op(name, class, &[x])
            }
            _ if from.size() == 8 => {
                let low = self.op("cvt.u32.u64", class, &[x]);
                self.wrapped(to, low)
            }
            _ => self.wrapped(to, x),
        }
    }

    /// Converts a float to an integer: a value beyond the type becomes the type's bound.
    ///
    /// The instruction clamps to its own type (PTX ISA 8.8, 9.7.9.21 "cvt").
    fn saturate(&mut self, from: Type, to: Type, x: Value) -> Value {
        let class = Class::of(to);
        let (float, int) = (number_type(from), int_type(to));
        let whole = self.op(&format!("cvt.rzi.{int}.{float}"), class, &[x]);
        match to {
            Type::U8 | Type::U16 => {
                let most = Value::word(if to == Type::U8 { 0xff } else { 0xffff });
                self.op("min.u32", class, &[whole, most])
            }
            Type::I8 | Type::I16 => {
                let (least, most) = if to == Type::I8 { (-128, 127) } else { (-32_768, 32_767) };
                let bound = |value: i32| Value::Constant(Type::I32, value.to_raw());
                let whole = self.op("min.s32", class, &[whole, bound(most)]);
                self.op("max.s32", class, &[whole, bound(least)])
            }
            Type::Bool
            | Type::U32
            | Type::I32
            | Type::U64
            | Type::I64
            | Type::F16
            | Type::BF16
            | Type::F32
            | Type::F64 => whole,
        }
    }
}
