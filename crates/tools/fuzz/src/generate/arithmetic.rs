//! Random expressions, whose values are the same on every device.
//!
//! Every float that they give is clean: it is no subnormal, and the sign of a zero is known. It may be infinite or no
//! number.

use wattle_ir::{
    BinaryOp, Builtin, Expr, ExprId, Place, Precision, SharedId, TernaryOp, Type, TypeKind, UnaryOp, eval,
};

use super::{Generator, MOST_SHARED};

const BUILTINS: [Builtin; 6] = [
    Builtin::ThreadInBlock,
    Builtin::BlockInGrid,
    Builtin::BlockExtent,
    Builtin::GridExtent,
    Builtin::FrameCount,
    Builtin::FrameExtent,
];

const WARP_BUILTINS: [Builtin; 3] = [Builtin::WarpSize, Builtin::Lane, Builtin::WarpInBlock];

impl Generator<'_> {
    /// Picks a type of memory elements.
    pub(super) fn element(&mut self) -> Type {
        self.random.pick(&self.profile.types)
    }

    /// Picks a type of values.
    pub(super) fn any_type(&mut self) -> Type {
        if self.random.one_in(8) { Type::Bool } else { self.element() }
    }

    fn int_type(&mut self) -> Type {
        let ints: Vec<Type> = self.profile.types.iter().copied().filter(|ty| ty.is_int()).collect();
        self.random.choose(&ints).unwrap_or(Type::U32)
    }

    fn float_type(&mut self) -> Option<Type> {
        let floats: Vec<Type> = self.profile.types.iter().copied().filter(|ty| ty.is_float()).collect();
        self.random.choose(&floats)
    }

    /// Makes a value of that type, with at most `depth` operators on the way to a leaf.
    pub(super) fn value(&mut self, ty: Type, depth: u32) -> ExprId {
        let place = self.random.place();
        let value = self.any_value(ty, depth);
        self.random.mark(place);
        value
    }

    fn any_value(&mut self, ty: Type, depth: u32) -> ExprId {
        let choice = if depth == 0 { 0 } else { self.random.below(24) };
        if choice == 0 {
            return self.leaf(ty);
        }
        if choice > 20
            && let Some(known) = self.known_value(ty)
        {
            return known;
        }
        let value = match ty.kind() {
            TypeKind::Bool => self.truth(depth - 1),
            TypeKind::Float => self.real(ty, depth - 1),
            TypeKind::Unsigned | TypeKind::Signed => self.integer(ty, depth - 1),
        };
        if self.sizes[value.index()] <= MOST_SHARED {
            self.pool.push(value);
        }
        value
    }

    fn known_value(&mut self, ty: Type) -> Option<ExprId> {
        let fits = |id: &&ExprId| self.ty(**id) == ty && (!self.uniform_only || self.uniform[id.index()]);
        let known: Vec<ExprId> = self.pool.iter().filter(fits).copied().collect();
        self.random.choose(&known)
    }

    fn leaf(&mut self, ty: Type) -> ExprId {
        let mut slots = self.of_type(&self.uniform_slots, ty);
        if !self.uniform_only {
            slots.extend(self.of_type(&self.vars, ty));
            slots.extend(self.of_type(&self.readable, ty));
        }
        let scalars: Vec<_> = self.scalars.iter().filter(|(of, _)| *of == ty).map(|(_, id)| *id).collect();
        match self.random.below(9) {
            0 => self.zero(ty),
            1..=4 if !slots.is_empty() => {
                let slot = self.random.pick(&slots);
                self.value_of(slot)
            }
            5 if !scalars.is_empty() => {
                let scalar = self.random.pick(&scalars);
                self.push(ty, Expr::Param(scalar))
            }
            6 | 7 if ty == Type::U32 => self.place_in_launch(),
            _ => self.constant(ty),
        }
    }

    /// Makes a part of the thread's place, or of the extent of something.
    fn place_in_launch(&mut self) -> ExprId {
        let from = if self.uniform_only { 1 } else { 0 };
        if self.random.one_in(3) {
            let mut places: Vec<(Place, usize)> =
                self.commons.iter().map(|common| (common.place, common.extent.len())).collect();
            places.extend(self.regions.iter().map(|region| (region.place, region.extent.len())));
            let arrays = self.locals.iter().chain(&self.constants);
            places.extend(arrays.map(|(id, ..)| (Place::Local(*id), 1)));
            places.extend((0..self.kernel.shared.len()).map(|id| (Place::Shared(SharedId(id as u32)), 1)));
            if let Some((place, rank)) = self.random.choose(&places) {
                let dimension = self.random.below(rank as u32) as u8;
                return self.push(Type::U32, Expr::Extent(place, dimension));
            }
        }
        if self.warps && self.random.one_in(4) {
            let builtin = self.random.pick(&WARP_BUILTINS[..if self.uniform_only { 1 } else { 3 }]);
            return self.push(Type::U32, Expr::Builtin(builtin, 0));
        }
        let builtin = self.random.pick(&BUILTINS[from..]);
        let dimension = self.random.below(self.kernel.rank as u32) as u8;
        self.push(Type::U32, Expr::Builtin(builtin, dimension))
    }

    /// The operations with one operand of type `from` that give a `to` with the same bits everywhere.
    fn unary_ops(&self, from: Type, to: Type) -> Vec<UnaryOp> {
        let permitted = |op: UnaryOp| !op.is_fast() && (op != UnaryOp::Sqrt || self.profile.division_and_root);
        let fits = |op: &UnaryOp| op.result(from) == Some(to);
        UnaryOp::ALL.iter().copied().filter(fits).filter(|op| permitted(*op)).collect()
    }

    /// The operations with operands of types `left` and `right` that give a `to` with the same bits everywhere.
    fn binary_ops(&self, [left, right]: [Type; 2], to: Type) -> Vec<BinaryOp> {
        let permitted = |op: BinaryOp| op != BinaryOp::Div || self.profile.division_and_root;
        let fits = |op: &BinaryOp| op.result(left, right) == Some(to);
        BinaryOp::ALL.iter().copied().filter(fits).filter(|op| permitted(*op)).collect()
    }

    /// The operations with three operands of type `ty` that give one with the same bits everywhere.
    fn ternary_ops(&self, ty: Type) -> Vec<TernaryOp> {
        let permitted = |op: TernaryOp| op != TernaryOp::Fma || self.profile.fma;
        let fits = |op: &TernaryOp| op.result(ty, ty, ty) == Some(ty);
        TernaryOp::ALL.iter().copied().filter(fits).filter(|op| permitted(*op)).collect()
    }

    fn truth(&mut self, depth: u32) -> ExprId {
        match self.random.below(10) {
            choice @ 0..=6 => {
                let ty = if choice < 5 { self.element() } else { Type::Bool };
                let op = self.random.pick(&self.binary_ops([ty, ty], Type::Bool));
                let (x, y) = (self.value(ty, depth), self.value(ty, depth));
                self.binary(op, x, y)
            }
            choice @ (7 | 8) => {
                let from = if choice == 7 { Some(Type::Bool) } else { self.float_type() };
                match from.and_then(|from| Some((from, self.random.choose(&self.unary_ops(from, Type::Bool))?))) {
                    Some((from, op)) => {
                        let x = self.value(from, depth);
                        self.unary(op, x)
                    }
                    None => self.leaf(Type::Bool),
                }
            }
            _ if self.random.one_in(4) => {
                let x = self.value(Type::Bool, depth);
                self.cast(Type::Bool, x)
            }
            _ => self.choice(Type::Bool, depth),
        }
    }

    fn choice(&mut self, ty: Type, depth: u32) -> ExprId {
        let condition = self.value(Type::Bool, depth);
        let (x, y) = (self.value(ty, depth), self.value(ty, depth));
        self.select(condition, x, y)
    }

    fn integer(&mut self, ty: Type, depth: u32) -> ExprId {
        match self.random.below(14) {
            choice @ 0..=6 => {
                // Shifts have a count of another type.
                let right = if choice < 5 { ty } else { Type::U32 };
                let ops = self.binary_ops([ty, right], ty);
                let (op, right) = match self.random.choose(&ops) {
                    Some(op) => (op, right),
                    None => (BinaryOp::Add, ty),
                };
                let (x, y) = (self.value(ty, depth), self.value(right, depth));
                self.binary(op, x, y)
            }
            choice @ 7..=9 => {
                let from = if choice == 7 { ty } else { self.int_type() };
                match self.random.choose(&self.unary_ops(from, ty)) {
                    Some(op) => {
                        let x = self.value(from, depth);
                        self.unary(op, x)
                    }
                    None => self.leaf(ty),
                }
            }
            10 => self.choice(ty, depth),
            11 => self.bits(ty, depth),
            _ => {
                let from = self.any_type();
                let x = self.value(from, depth);
                self.cast(ty, x)
            }
        }
    }

    /// Makes a value from the bits of another type that is as wide.
    fn bits(&mut self, ty: Type, depth: u32) -> ExprId {
        let wide: Vec<Type> = self.profile.types.iter().copied().filter(|of| of.size() == ty.size()).collect();
        let from = self.random.choose(&wide).unwrap_or(ty);
        let mut x = self.value(from, depth);
        if from.is_float() {
            x = self.number(x);
        }
        let bits = self.push(ty, Expr::Bits(ty, x));
        if !ty.is_float() || from.is_float() {
            return bits;
        }
        let clean = self.clean(bits);
        self.number(clean)
    }

    fn real(&mut self, ty: Type, depth: u32) -> ExprId {
        match self.random.below(14) {
            0..=3 => {
                // The product is not cleaned: a subnormal one would not change what is added to it, which is much
                // greater or zero. So a device that contracts the two is found.
                let op = self.random.pick(&[BinaryOp::Add, BinaryOp::Sub]);
                let [x, y] = [(); 2].map(|()| {
                    if self.random.one_in(3) {
                        let (x, y) = (self.value(ty, depth.saturating_sub(1)), self.value(ty, depth.saturating_sub(1)));
                        self.binary(BinaryOp::Mul, x, y)
                    } else {
                        self.value(ty, depth)
                    }
                });
                let sum = self.binary(op, x, y);
                self.clean(sum)
            }
            4..=6 => {
                let op = self.random.pick(&self.binary_ops([ty, ty], ty));
                let (x, y) = (self.value(ty, depth), self.value(ty, depth));
                let result = self.binary(op, x, y);
                self.cleaned(op.precision(), result)
            }
            7 => match self.random.choose(&self.ternary_ops(ty)) {
                Some(op) => {
                    let [x, y, z] = [(); 3].map(|()| self.value(ty, depth));
                    let result = self.push(ty, Expr::Ternary(op, x, y, z));
                    self.cleaned(op.precision(), result)
                }
                None => self.leaf(ty),
            },
            8 | 9 => {
                let op = self.random.pick(&self.unary_ops(ty, ty));
                let x = self.value(ty, depth);
                let result = self.unary(op, x);
                self.cleaned(op.precision(), result)
            }
            10 => self.choice(ty, depth),
            11 => self.bits(ty, depth),
            _ => {
                let from = self.any_type();
                let x = self.value(from, depth);
                let result = self.cast(ty, x);
                // To a type of a lesser range.
                let shrinks = from.is_float() && ty.is_float() && from.bits() >= ty.bits() && from != ty;
                if shrinks { self.clean(result) } else { result }
            }
        }
    }

    /// Cleans the result of an operation: a rounded one may be subnormal.
    fn cleaned(&mut self, precision: Precision, result: ExprId) -> ExprId {
        match precision {
            Precision::Exact => self.zero_sign(result),
            Precision::Rounded | Precision::Bounded | Precision::Near => self.clean(result),
        }
    }

    /// Zero in place of what is nearly zero, a negative zero included: subnormals are not promised. The bound is far
    /// enough from the subnormals that one more or less does not change a sum with what is beyond it.
    pub(super) fn clean(&mut self, x: ExprId) -> ExprId {
        let ty = self.ty(x);
        let size = self.unary(UnaryOp::Abs, x);
        let (tiny, zero) = (self.tiny(ty), self.zero(ty));
        if self.random.coin() {
            let small = self.binary(BinaryOp::Lt, size, tiny);
            self.select(small, zero, x)
        } else {
            let large = self.binary(BinaryOp::Ge, size, tiny);
            self.select(large, x, zero)
        }
    }

    /// The least normal number, times 2 to the width of the fraction and 3: of `f32` 2 to -100. Of `f16`, whose
    /// subnormal numbers are promised, the least number.
    fn tiny(&mut self, ty: Type) -> ExprId {
        if ty == Type::F16 {
            return self.raw(ty, 1);
        }
        let fraction = eval::one(ty).trailing_zeros();
        self.raw(ty, u64::from(fraction + 4) << fraction)
    }

    /// Returns the value, without the sign of a zero where that does not count.
    fn zero_sign(&mut self, x: ExprId) -> ExprId {
        if self.profile.signed_zeros { x } else { self.clean(x) }
    }

    /// The float, or zero where it is no number: the bits of a NaN are not promised.
    pub(super) fn number(&mut self, x: ExprId) -> ExprId {
        let zero = self.zero(self.ty(x));
        if self.random.coin() {
            let nan = self.unary(UnaryOp::IsNan, x);
            self.select(nan, zero, x)
        } else {
            let number = self.binary(BinaryOp::Eq, x, x);
            self.select(number, x, zero)
        }
    }

    /// Makes a value for memory, in which a float is a number.
    pub(super) fn storable(&mut self, ty: Type, depth: u32) -> ExprId {
        let value = self.value(ty, depth);
        if ty.is_float() { self.number(value) } else { value }
    }

    /// Makes a small whole number: sums of few of them are exact.
    pub(super) fn whole(&mut self, ty: Type) -> ExprId {
        if self.random.coin() {
            let raw = self.raw_whole(ty);
            return self.raw(ty, raw);
        }
        let value = self.value(Type::U32, 2);
        let seven = self.u32(7);
        let small = self.binary(BinaryOp::And, value, seven);
        self.cast(ty, small)
    }
}
