//! Conversions, as Rust's `as` does them.

use rspirv::spirv::{Op, Word};
use wattle_ir::{FloatFormat, Scalar, Type, eval};

use crate::emit::Emitter;

impl Emitter<'_> {
    /// Converts an unsigned integer to a wider or narrower one.
    pub(crate) fn resize(&mut self, from: Type, to: Type, x: Word) -> Word {
        let (before, of) = (self.asm.ty(from), self.asm.ty(to));
        if before == of { x } else { self.asm.of(Op::UConvert, of, &[x]) }
    }

    pub(crate) fn cast(&mut self, from: Type, to: Type, x: Word) -> Word {
        let of = self.asm.ty(to);
        match (from.float_format(), to.float_format()) {
            _ if from == to => x,
            _ if from == Type::Bool => {
                let (one, zero) = (self.asm.constant(to, eval::one(to)), self.asm.constant(to, 0));
                self.asm.of(Op::Select, of, &[x, one, zero])
            }
            _ if to == Type::Bool => {
                // The verifier refuses such a cast.
                let zero = self.asm.constant(from, 0);
                self.compare(Op::INotEqual, x, zero)
            }
            (Some(_), Some(_)) => self.asm.of(Op::FConvert, of, &[x]),
            (Some(_), None) if to.is_signed() => self.asm.of(Op::ConvertFToS, of, &[x]),
            (Some(_), None) => self.asm.of(Op::ConvertFToU, of, &[x]),
            (None, Some(FloatFormat::F32)) if from == Type::U32 && self.features.workarounds.rough_conversion => {
                self.in_halves(x)
            }
            (None, Some(_)) if from.is_signed() => self.asm.of(Op::ConvertSToF, of, &[x]),
            (None, Some(_)) => self.asm.of(Op::ConvertUToF, of, &[x]),
            (None, None) => {
                let signed = from.is_signed() && to.size() > from.size();
                let wide = if signed { self.asm.of(Op::SConvert, of, &[x]) } else { self.resize(from, to, x) };
                // Without this, a widened value that is compared with a constant is compared before it is widened, and
                // wrongly.
                self.hidden(to, wide)
            }
        }
    }

    /// A word as a float, from its halves: these and the product are exact, and so the sum is rounded once.
    fn in_halves(&mut self, x: Word) -> Word {
        let (word, float) = (self.asm.u32(), self.asm.ty(Type::F32));
        let (sixteen, mask) = (self.asm.word(16), self.asm.word(0xffff));
        let high = self.asm.of(Op::ShiftRightLogical, word, &[x, sixteen]);
        let low = self.asm.of(Op::BitwiseAnd, word, &[x, mask]);
        let (high, low) = (self.asm.of(Op::ConvertUToF, float, &[high]), self.asm.of(Op::ConvertUToF, float, &[low]));
        let scale = self.asm.constant(Type::F32, 65_536.0f32.to_raw());
        let high = self.exact(Op::FMul, Type::F32, [high, scale]);
        self.exact(Op::FAdd, Type::F32, [high, low])
    }
}
