//! Instructions for expressions.

use rspirv::dr::Operand;
use rspirv::spirv::{GlslStd450Op, Op, Word};
use wattle_ir::{BinaryOp, Builtin, Expr, ExprId, LaunchValue, Place, TernaryOp, Type, UnaryOp, illegal};

use crate::emit::Emitter;
use crate::layout::{ArgumentWord, SpecConstant};
use crate::rounding::Rounding;

impl Emitter<'_> {
    /// Computes the value of an expression at this point.
    pub(crate) fn value(&mut self, id: ExprId) -> Word {
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let kernel = self.kernel;
        let ty = self.types[id.index()];
        let value = match kernel.exprs[id.index()] {
            Expr::Const(constant) => self.asm.constant(constant.ty, constant.raw),
            Expr::Slot(slot) => self.slot(slot),
            Expr::Param(param) => self.scalar(param, ty),
            Expr::Extent(place, dimension) => self.extent(place, dimension),
            Expr::Builtin(builtin, dimension) => self.builtin(builtin, dimension),
            Expr::Unary(op, x) => {
                let from = self.types[x.index()];
                let x = self.value(x);
                self.unary(op, from, x)
            }
            Expr::Binary(op, x, y) => {
                let from = self.types[x.index()];
                let is_sum = op == BinaryOp::Add && from.is_float();
                let [x, y] = [x, y].map(|id| {
                    let value = self.value(id);
                    if is_sum && self.may_be_known(id) { self.hidden(from, value) } else { value }
                });
                self.binary(op, from, x, y)
            }
            Expr::Ternary(op, x, y, z) => {
                let operands = [x, y, z].map(|id| self.value(id));
                let of = self.asm.ty(ty);
                match op {
                    TernaryOp::Fma => {
                        let fused = self.asm.extended(GlslStd450Op::Fma, of, &operands);
                        self.asm.never_contracted(fused);
                        fused
                    }
                }
            }
            Expr::Select(condition, x, y) => {
                let [condition, x, y] = [condition, x, y].map(|id| self.value(id));
                self.select(ty, condition, x, y)
            }
            Expr::Cast(to, x) => {
                let from = self.types[x.index()];
                let x = self.value(x);
                self.cast(from, to, x)
            }
            Expr::Bits(to, x) => {
                let from = self.types[x.index()];
                let x = self.value(x);
                self.bits(from, to, x)
            }
        };
        self.known.insert(id, value);
        value
    }

    /// The value that has the same bits in another type.
    pub(crate) fn bits(&mut self, from: Type, to: Type, x: Word) -> Word {
        let (of, before) = (self.asm.ty(to), self.asm.ty(from));
        if of == before { x } else { self.asm.of(Op::Bitcast, of, &[x]) }
    }

    fn scalar(&mut self, param: wattle_ir::ParamId, ty: Type) -> Word {
        let low = self.entry.word(ArgumentWord::Low(param));
        match ty {
            Type::Bool => {
                let (bool, zero) = (self.asm.ty(Type::Bool), self.asm.word(0));
                self.asm.of(Op::INotEqual, bool, &[low, zero])
            }
            _ if ty.size() == 8 => {
                let word = self.asm.u32();
                let (pair, of) = (self.asm.vector(word, 2), self.asm.ty(ty));
                let high = self.entry.word(ArgumentWord::High(param));
                let both = self.asm.of(Op::CompositeConstruct, pair, &[low, high]);
                self.asm.of(Op::Bitcast, of, &[both])
            }
            _ if ty.size() == 4 => self.bits(Type::U32, ty, low),
            _ => {
                let short = self.resize(Type::U32, ty.bits_type(), low);
                self.bits(ty.bits_type(), ty, short)
            }
        }
    }

    pub(crate) fn extent(&mut self, place: Place, dimension: u8) -> Word {
        match (place, self.kernel.known_extent(place, dimension)) {
            (_, Some(len)) => self.asm.word(len),
            (Place::Param(param), None) => {
                self.entry.launch_value(LaunchValue::ViewExtent(self.kernel.first_of(param), dimension))
            }
            _ => self.interface.spec(SpecConstant::SharedLen),
        }
    }

    fn builtin(&mut self, builtin: Builtin, dimension: u8) -> Word {
        match builtin {
            Builtin::BlockExtent => self.block_extent(dimension),
            Builtin::GridExtent => self.entry.launch_value(LaunchValue::GridExtent(dimension)),
            Builtin::FrameCount => self.entry.launch_value(LaunchValue::FrameCount(dimension)),
            Builtin::FrameExtent => self.entry.launch_value(LaunchValue::FrameExtent(dimension)),
            Builtin::ThreadInBlock => {
                let thread = self.entry.thread;
                self.part(thread, dimension, |emitter, d| emitter.block_extent(d))
            }
            Builtin::WarpInBlock => self.interface.warp(&mut self.asm)[0],
            // A kernel that is made for a device has constants instead.
            Builtin::Device(_) => self.asm.word(0),
            Builtin::WarpSize => self.interface.warp(&mut self.asm)[1],
            Builtin::Lane => self.interface.warp(&mut self.asm)[2],
            Builtin::BlockInGrid => {
                let block = self.entry.block;
                self.part(block, dimension, |emitter, d| emitter.entry.launch_value(LaunchValue::GridExtent(d)))
            }
        }
    }

    fn block_extent(&self, dimension: u8) -> Word {
        let extents = [SpecConstant::Extent0, SpecConstant::Extent1, SpecConstant::Extent2, SpecConstant::Extent3];
        self.interface.spec(extents[dimension as usize & 3])
    }

    /// Computes one dimension of a row-major number.
    fn part(&mut self, number: Word, dimension: u8, extent: impl Fn(&Self, u8) -> Word) -> Word {
        let word = self.asm.u32();
        let mut rest = number;
        for d in (dimension + 1..self.kernel.rank as u8).rev() {
            let by = extent(self, d);
            rest = self.asm.of(Op::UDiv, word, &[rest, by]);
        }
        if dimension == 0 {
            return rest;
        }
        let by = extent(self, dimension);
        self.asm.of(Op::UMod, word, &[rest, by])
    }

    pub(crate) fn unary(&mut self, op: UnaryOp, ty: Type, x: Word) -> Word {
        let of = self.asm.ty(ty);
        match op {
            UnaryOp::Neg if ty.is_float() => self.asm.of(Op::FNegate, of, &[x]),
            UnaryOp::Neg => self.asm.of(Op::SNegate, of, &[x]),
            UnaryOp::Not if ty == Type::Bool => self.asm.of(Op::LogicalNot, of, &[x]),
            UnaryOp::Not => self.asm.of(Op::Not, of, &[x]),
            UnaryOp::Abs if ty.is_float() => self.asm.extended(GlslStd450Op::FAbs, of, &[x]),
            UnaryOp::Abs => {
                // SAbs says nothing of the least value, and what a comparison and a selection become on lavapipe is
                // wrong for 64 bits.
                let top = self.asm.constant(Type::U32, ty.size() as u64 * 8 - 1);
                let top = self.resize(Type::U32, ty, top);
                let sign = self.asm.of(Op::ShiftRightArithmetic, of, &[x, top]);
                let flipped = self.asm.of(Op::BitwiseXor, of, &[x, sign]);
                self.asm.of(Op::ISub, of, &[flipped, sign])
            }
            UnaryOp::IsNan => {
                let bool = self.asm.ty(Type::Bool);
                self.asm.of(Op::IsNan, bool, &[x])
            }
            UnaryOp::CountOnes => self.count_ones(ty, x),
            UnaryOp::ReverseBits => self.reverse_bits(ty, x),
            UnaryOp::LeadingZeros => self.leading_zeros(ty, x),
            UnaryOp::TrailingZeros => self.trailing_zeros(ty, x),
            UnaryOp::Sqrt => {
                let x = if self.features.workarounds.loses_roots { self.behind_zero(ty, x) } else { x };
                self.asm.extended(GlslStd450Op::Sqrt, of, &[x])
            }
            UnaryOp::Floor => self.rounded(Rounding::Down, ty, x),
            UnaryOp::Ceil => self.rounded(Rounding::Up, ty, x),
            UnaryOp::RoundTiesEven => self.rounded(Rounding::ToNearest, ty, x),
            UnaryOp::Trunc => self.rounded(Rounding::TowardsZero, ty, x),
            // `wattle_ir::expand` has replaced these.
            UnaryOp::RecipFast
            | UnaryOp::SqrtFast
            | UnaryOp::RsqrtFast
            | UnaryOp::Exp2Fast
            | UnaryOp::Log2Fast
            | UnaryOp::SinFast
            | UnaryOp::CosFast
            | UnaryOp::TanhFast => illegal(&op),
            wattle_ir::unary_functions!() => illegal(&op),
        }
    }

    pub(crate) fn compare(&mut self, op: Op, x: Word, y: Word) -> Word {
        let bool = self.asm.ty(Type::Bool);
        self.asm.of(op, bool, &[x, y])
    }

    /// Whether a compiler may find an operand of a sum to be a known zero. What comes from memory, a variable or an
    /// operation on hidden operands, it does not know.
    fn may_be_known(&self, id: ExprId) -> bool {
        match self.kernel.exprs[id.index()] {
            Expr::Const(_)
            | Expr::Extent(..)
            | Expr::Builtin(..)
            | Expr::Unary(..)
            | Expr::Ternary(..)
            | Expr::Cast(..)
            | Expr::Bits(..) => true,
            // All operands but those of sums are hidden; a sum of what is known is one of hidden ones.
            Expr::Binary(..) | Expr::Select(..) => false,
            Expr::Slot(_) | Expr::Param(_) => false,
        }
    }

    /// Emits float arithmetic that is never contracted.
    pub(crate) fn exact(&mut self, op: Op, ty: Type, operands: [Word; 2]) -> Word {
        let of = self.asm.ty(ty);
        let operands = if op == Op::FAdd { operands } else { operands.map(|operand| self.hidden(ty, operand)) };
        let id = self.asm.of(op, of, &operands);
        self.asm.never_contracted(id);
        id
    }

    pub(crate) fn select(&mut self, ty: Type, condition: Word, x: Word, y: Word) -> Word {
        let operands = [x, y].map(|operand| self.hidden(ty, operand));
        let of = self.asm.ty(ty);
        self.asm.of(Op::Select, of, &[condition, operands[0], operands[1]])
    }

    /// Hides the value from a compiler that folds wrongly; only floats and 64-bit integers need it.
    pub(crate) fn hidden(&mut self, ty: Type, x: Word) -> Word {
        if !self.features.workarounds.folds_wrongly || !(ty.is_float() || ty.size() == 8) {
            return x;
        }
        self.behind_zero(ty, x)
    }

    fn behind_zero(&mut self, ty: Type, x: Word) -> Word {
        let bits = ty.bits_type();
        let zero = self.entry.word(ArgumentWord::Zero);
        let (of, zero) = (self.asm.ty(bits), self.resize(Type::U32, bits, zero));
        let x = self.bits(ty, bits, x);
        let x = self.asm.of(Op::BitwiseOr, of, &[x, zero]);
        self.bits(bits, ty, x)
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, ty: Type, x: Word, y: Word) -> Word {
        let of = self.asm.ty(ty);
        let (float, signed) = (ty.is_float(), ty.is_signed());
        let arithmetic = |on_floats, on_ints| if float { on_floats } else { on_ints };
        let compares = |on_floats, on_signed, on_unsigned| match (float, signed) {
            (true, _) => on_floats,
            (_, true) => on_signed,
            _ => on_unsigned,
        };
        let less = compares(Op::FOrdLessThan, Op::SLessThan, Op::ULessThan);
        let greater = compares(Op::FOrdGreaterThan, Op::SGreaterThan, Op::UGreaterThan);
        match op {
            BinaryOp::Add if float => self.exact(Op::FAdd, ty, [x, y]),
            BinaryOp::Sub if float => self.exact(Op::FSub, ty, [x, y]),
            BinaryOp::Mul if float => self.exact(Op::FMul, ty, [x, y]),
            BinaryOp::Add => self.asm.of(Op::IAdd, of, &[x, y]),
            BinaryOp::Sub => self.asm.of(Op::ISub, of, &[x, y]),
            BinaryOp::Mul => self.asm.of(Op::IMul, of, &[x, y]),
            BinaryOp::Div => self.exact(Op::FDiv, ty, [x, y]),
            BinaryOp::Min | BinaryOp::Max => {
                let first = self.compare(if op == BinaryOp::Min { less } else { greater }, x, y);
                let first = if float { self.prefers(op, ty, first, x, y) } else { first };
                self.select(ty, first, x, y)
            }
            BinaryOp::MulHi if ty.size() < 8 => self.full_product(x, y).1,
            BinaryOp::MulHi => self.high_product(x, y),
            // `wattle_ir::expand` has replaced these.
            wattle_ir::binary_functions!() => illegal(&op),
            BinaryOp::And if ty == Type::Bool => self.asm.of(Op::LogicalAnd, of, &[x, y]),
            BinaryOp::Or if ty == Type::Bool => self.asm.of(Op::LogicalOr, of, &[x, y]),
            BinaryOp::Xor if ty == Type::Bool => self.asm.of(Op::LogicalNotEqual, of, &[x, y]),
            BinaryOp::And => self.asm.of(Op::BitwiseAnd, of, &[x, y]),
            BinaryOp::Or => self.asm.of(Op::BitwiseOr, of, &[x, y]),
            BinaryOp::Xor => self.asm.of(Op::BitwiseXor, of, &[x, y]),
            BinaryOp::Shl | BinaryOp::Shr => {
                // Some drivers want the count to be as wide as what is shifted.
                let count = self.resize(Type::U32, ty, y);
                let op = match (op, signed) {
                    (BinaryOp::Shl, _) => Op::ShiftLeftLogical,
                    (_, true) => Op::ShiftRightArithmetic,
                    (_, false) => Op::ShiftRightLogical,
                };
                self.asm.of(op, of, &[x, count])
            }
            BinaryOp::Eq if ty == Type::Bool => self.compare(Op::LogicalEqual, x, y),
            BinaryOp::Ne if ty == Type::Bool => self.compare(Op::LogicalNotEqual, x, y),
            BinaryOp::Eq => self.compare(arithmetic(Op::FOrdEqual, Op::IEqual), x, y),
            BinaryOp::Ne => self.compare(arithmetic(Op::FUnordNotEqual, Op::INotEqual), x, y),
            BinaryOp::Lt => self.compare(less, x, y),
            BinaryOp::Gt => self.compare(greater, x, y),
            BinaryOp::Le => self.compare(compares(Op::FOrdLessThanEqual, Op::SLessThanEqual, Op::ULessThanEqual), x, y),
            BinaryOp::Ge => {
                let op = compares(Op::FOrdGreaterThanEqual, Op::SGreaterThanEqual, Op::UGreaterThanEqual);
                self.compare(op, x, y)
            }
        }
    }

    /// Whether the lesser or greater of two floats is the first, if it is `beyond` the other, as a comparison says.
    /// That takes zeros for equal, of which -0 is the lesser, and NaN for nothing, where the other one is the result.
    ///
    /// `FMin` and `NMin` leave zeros open (SPIR-V, extended instructions for GLSL).
    fn prefers(&mut self, op: BinaryOp, ty: Type, beyond: Word, x: Word, y: Word) -> Word {
        let bool = self.asm.ty(Type::Bool);
        let not_a_number = self.asm.of(Op::IsNan, bool, &[y]);
        let (equal, zero) = (self.compare(Op::FOrdEqual, x, y), self.asm.word(0));
        // Equal numbers differ in their signs at most, and a sign is the highest bit of an integer.
        let signed = if op == BinaryOp::Min { x } else { y };
        let high = if ty.size() == 8 { self.halves(signed).1 } else { self.bits(ty, Type::U32, signed) };
        let negative = self.compare(Op::SLessThan, high, zero);
        let zeros = self.asm.of(Op::LogicalAnd, bool, &[equal, negative]);
        let either = self.asm.of(Op::LogicalOr, bool, &[beyond, not_a_number]);
        self.asm.of(Op::LogicalOr, bool, &[either, zeros])
    }

    /// The low and the high half of 64 bits.
    fn halves(&mut self, x: Word) -> (Word, Word) {
        let word = self.asm.u32();
        let pair = self.asm.vector(word, 2);
        let both = self.asm.of(Op::Bitcast, pair, &[x]);
        let mut part =
            |at| self.asm.op(Op::CompositeExtract, word, vec![Operand::IdRef(both), Operand::LiteralBit32(at)]);
        (part(0), part(1))
    }

    /// The low and the high half of the product of two words.
    fn full_product(&mut self, x: Word, y: Word) -> (Word, Word) {
        let word = self.asm.u32();
        let both = self.asm.pair(word);
        let product = self.asm.of(Op::UMulExtended, both, &[x, y]);
        let mut half =
            |at| self.asm.op(Op::CompositeExtract, word, vec![Operand::IdRef(product), Operand::LiteralBit32(at)]);
        (half(0), half(1))
    }

    /// The high half of the product of two numbers of 64 bits, from those of their halves: not every driver has an
    /// extended product of 64 bits.
    fn high_product(&mut self, x: Word, y: Word) -> Word {
        let (of, half) = (self.asm.ty(Type::U64), self.asm.constant(Type::U32, 32));
        let half = self.resize(Type::U32, Type::U64, half);
        let [(x_low, x_high), (y_low, y_high)] = [x, y].map(|number| {
            let (low, high) = self.halves(number);
            (self.resize(Type::U32, Type::U64, low), self.resize(Type::U32, Type::U64, high))
        });
        // No sum here is beyond 64 bits: a product of halves leaves room for two halves more.
        let lowest = self.asm.of(Op::IMul, of, &[x_low, y_low]);
        let carried = self.asm.of(Op::ShiftRightLogical, of, &[lowest, half]);
        let middle = self.asm.of(Op::IMul, of, &[x_high, y_low]);
        let middle = self.asm.of(Op::IAdd, of, &[middle, carried]);
        let (middle_low, middle_high) = self.halves(middle);
        let (middle_low, middle_high) =
            (self.resize(Type::U32, Type::U64, middle_low), self.resize(Type::U32, Type::U64, middle_high));
        let other = self.asm.of(Op::IMul, of, &[x_low, y_high]);
        let other = self.asm.of(Op::IAdd, of, &[other, middle_low]);
        let other = self.asm.of(Op::ShiftRightLogical, of, &[other, half]);
        let highest = self.asm.of(Op::IMul, of, &[x_high, y_high]);
        let highest = self.asm.of(Op::IAdd, of, &[highest, middle_high]);
        self.asm.of(Op::IAdd, of, &[highest, other])
    }

    fn count_ones(&mut self, ty: Type, x: Word) -> Word {
        let word = self.asm.u32();
        if ty.size() < 8 {
            let x = self.resize(ty.bits_type(), Type::U32, x);
            return self.asm.of(Op::BitCount, word, &[x]);
        }
        let (low, high) = self.halves(x);
        let (low, high) = (self.asm.of(Op::BitCount, word, &[low]), self.asm.of(Op::BitCount, word, &[high]));
        self.asm.of(Op::IAdd, word, &[low, high])
    }

    /// The instruction is for 32 bits.
    fn reverse_bits(&mut self, ty: Type, x: Word) -> Word {
        let word = self.asm.u32();
        if ty.size() < 8 {
            let wide = self.resize(ty.bits_type(), Type::U32, x);
            let wide = self.asm.of(Op::BitReverse, word, &[wide]);
            let above = self.asm.word(32 - ty.size() as u32 * 8);
            let wide = self.asm.of(Op::ShiftRightLogical, word, &[wide, above]);
            let small = self.resize(Type::U32, ty.bits_type(), wide);
            return self.bits(ty.bits_type(), ty, small);
        }
        let (low, high) = self.halves(x);
        let (low, high) = (self.asm.of(Op::BitReverse, word, &[low]), self.asm.of(Op::BitReverse, word, &[high]));
        let (pair, of) = (self.asm.vector(word, 2), self.asm.ty(ty));
        let both = self.asm.of(Op::CompositeConstruct, pair, &[high, low]);
        self.asm.of(Op::Bitcast, of, &[both])
    }

    fn leading_zeros(&mut self, ty: Type, x: Word) -> Word {
        let word = self.asm.u32();
        // The highest bit of zero is bit -1.
        let from = |emitter: &mut Self, top: u32, x: Word| {
            let (top, highest) = (emitter.asm.word(top), emitter.asm.extended(GlslStd450Op::FindUMsb, word, &[x]));
            emitter.asm.of(Op::ISub, word, &[top, highest])
        };
        if ty.size() < 8 {
            let x = self.resize(ty.bits_type(), Type::U32, x);
            return from(self, ty.size() as u32 * 8 - 1, x);
        }
        let (low, high) = self.halves(x);
        let (below, above) = (from(self, 63, low), from(self, 31, high));
        let zero = self.asm.word(0);
        let is_low = self.compare(Op::IEqual, high, zero);
        self.asm.of(Op::Select, word, &[is_low, below, above])
    }

    fn trailing_zeros(&mut self, ty: Type, x: Word) -> Word {
        let word = self.asm.u32();
        let (zero, lowest) = (self.asm.word(0), |emitter: &mut Self, x: Word, none: u32| {
            let (zero, none) = (emitter.asm.word(0), emitter.asm.word(none));
            let at = emitter.asm.extended(GlslStd450Op::FindILsb, word, &[x]);
            let is_zero = emitter.compare(Op::IEqual, x, zero);
            emitter.asm.of(Op::Select, word, &[is_zero, none, at])
        });
        if ty.size() < 8 {
            let x = self.resize(ty.bits_type(), Type::U32, x);
            return lowest(self, x, ty.size() as u32 * 8);
        }
        let (low, high) = self.halves(x);
        let (below, above, half) = (lowest(self, low, 32), lowest(self, high, 32), self.asm.word(32));
        let above = self.asm.of(Op::IAdd, word, &[above, half]);
        let is_high = self.compare(Op::IEqual, low, zero);
        self.asm.of(Op::Select, word, &[is_high, above, below])
    }
}
