//! Floats of 16 bits for targets that lack them, or some of their operations.
//!
//! A target without the type holds the bits as `U16`; its values are `U32` here, with the upper half zero. What a
//! target lacks is done in `F32` between two conversions, as the host does it, so that the results have the same bits.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use wattle_math::{self as math, HalfFormat};
use wattle_operations::floats;

use super::Arena;
use super::setup::Setups;
use super::template::Template;
use super::term::{Construction, Term};
use crate::half::formats;
use crate::rename::{drop_unused, renamed};
use crate::visit::walk_mut;
use crate::{
    BinaryOp, Const, Expr, ExprId, FloatFormat, HalfFloat, Kernel, ParamKind, TernaryOp, Type, TypeKind, UnaryOp,
};

/// What a target does by itself with a floating-point type of 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halves {
    /// Whether the target has the type: memory and registers hold it, it is converted to and from `F32`, rounded once,
    /// its sign bit is changed, and subnormal numbers stay what they are.
    pub values: bool,
    /// Whether `+`, `-` and `*` are rounded once.
    pub sums: bool,
    /// Whether `fma` is rounded once.
    pub fma: bool,
}

impl Halves {
    /// What a target has that does nothing of these types by itself.
    pub const NONE: Halves = Halves { values: false, sums: false, fma: false };
}

/// Lowers a kernel to what the target has of the floating-point types of 16 bits. It must be one that
/// [`verify`](crate::verify()) accepts; the new one is so too.
pub(crate) fn lower_halves<'k>(kernel: &'k Kernel, native: &dyn Fn(Type) -> Halves) -> Cow<'k, Kernel> {
    let types = kernel.expr_types();
    let in_memory = kernel.params.iter().map(|param| match param.kind {
        ParamKind::Scalar(ty) | ParamKind::View { element: ty, .. } => ty,
    });
    let in_memory = in_memory.chain(kernel.shared.iter().map(|array| array.element));
    let in_memory = in_memory.chain(kernel.locals.iter().map(|array| array.element));
    let mut used = types.iter().copied().chain(in_memory).chain(kernel.slots.iter().map(|slot| slot.ty));
    if !used.any(Type::is_half) {
        return Cow::Borrowed(kernel);
    }
    let mut lowering = Lowering {
        types: &types,
        native,
        arena: Arena::default(),
        setups: Setups::new(&[]),
        parts: FxHashMap::default(),
        ids: Vec::new(),
    };
    for expr in &kernel.exprs {
        let id = lowering.expr(expr);
        lowering.ids.push(id);
    }
    let mut lowered = Kernel { exprs: Vec::new(), ..kernel.clone() };
    walk_mut(&mut lowered.body, &mut |stmt| stmt.operands_mut().for_each(|id| *id = lowering.stored(*id)));
    let stored = |ty: &mut Type| {
        if ty.is_half() && !native(*ty).values {
            *ty = Type::U16;
        }
    };
    lowered.params.iter_mut().for_each(|param| match &mut param.kind {
        ParamKind::Scalar(ty) | ParamKind::View { element: ty, .. } => stored(ty),
    });
    lowered.shared.iter_mut().for_each(|array| stored(&mut array.element));
    lowered.locals.iter_mut().for_each(|array| stored(&mut array.element));
    lowered.slots.iter_mut().for_each(|slot| stored(&mut slot.ty));
    lowered.exprs = lowering.arena.exprs;
    drop_unused(&mut lowered);
    Cow::Owned(lowered)
}

/// A part of what stands for an operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    /// Converts the bits to `F32`.
    Widen,
    /// Converts `F32` to the bits.
    Narrow,
    /// Converts `F64` to the bits.
    NarrowDouble,
    /// An integer that `F32` has exactly, from a `U32`.
    Sticky,
    /// An integer that `F32` has exactly, from a `U64`.
    StickyLong,
    /// The fused multiply-add of three `F32`, to be rounded.
    Fused,
}

impl Part {
    fn template<H: HalfFormat>(self) -> Template {
        Template::build(|target| match self {
            Part::Widen => math::widen::<H, Term<'_, f32>>(target.param(0)).val.id,
            Part::Narrow => math::narrow::<H, Term<'_, f32>>(target.param(0)).val.id,
            Part::NarrowDouble => {
                target.builder.cast::<u64, u32>(math::narrow::<H, Term<'_, f64>>(target.param(0)).val).id
            }
            Part::Sticky => math::sticky::<Term<'_, u32>>(target.param(0), u32::BITS).val.id,
            Part::StickyLong => math::sticky::<Term<'_, u64>>(target.param(0), u64::BITS).val.id,
            Part::Fused => math::fused::<H, Term<'_, f32>>(target.param(0), target.param(1), target.param(2)).val.id,
        })
    }
}

impl Construction {
    fn param<'b, T: crate::Scalar>(&'b self, number: u32) -> Term<'b, T> {
        Term { val: self.builder.val(Expr::Param(crate::ParamId(number))), target: self }
    }
}

/// The sign bit, and all others.
const SIGN: u64 = 0x8000;
const SIZE: u64 = 0x7fff;

/// What the lowering needs of a format of 16 bits.
struct Format {
    /// The bits of infinity.
    infinity: u64,
    /// The bits of 1.
    one: u64,
    /// What stands for a part of an operation on numbers of the format.
    template: fn(Part) -> Template,
}

impl Format {
    const fn new<H: HalfFormat>() -> Format {
        Format { infinity: H::INFINITY, one: H::ONE, template: Part::template::<H> }
    }

    /// The format of a floating-point type of 16 bits.
    fn of(ty: Type) -> Format {
        macro_rules! by_format {
            ($format:ident {$($variant:ident $rust:ident;)+} $wide:tt) => {
                match $format {
                    $(HalfFloat::$variant => Format::new::<formats::$variant>(),)+
                }
            };
        }
        match ty.float_format() {
            Some(FloatFormat::Half(format)) => floats!(by_format format),
            Some(FloatFormat::F32 | FloatFormat::F64) | None => unreachable!("only floats of 16 bits are lowered"),
        }
    }
}

struct Lowering<'k> {
    /// The types of the kernel's expressions.
    types: &'k [Type],
    native: &'k dyn Fn(Type) -> Halves,
    arena: Arena,
    /// The statements that parts need before the expression: none, since no part has statements.
    setups: Setups,
    parts: FxHashMap<(Part, Type), Template>,
    /// What stands for the kernel's expressions: of a type that the target lacks, its bits as `U32`.
    ids: Vec<ExprId>,
}

impl Lowering<'_> {
    fn ty(&self, old: ExprId) -> Type {
        self.types.get(old.index()).copied().unwrap_or(Type::Bool)
    }

    fn new_of(&self, old: ExprId) -> ExprId {
        renamed(&self.ids, old)
    }

    fn add(&mut self, expr: Expr) -> ExprId {
        self.arena.intern(expr)
    }

    fn word(&mut self, raw: u64) -> ExprId {
        self.add(Expr::Const(Const { ty: Type::U32, raw }))
    }

    fn is_native(&self, ty: Type) -> bool {
        (self.native)(ty).values
    }

    fn part(&mut self, part: Part, ty: Type, operands: &[ExprId]) -> ExprId {
        let template = self.parts.entry((part, ty)).or_insert_with(|| (Format::of(ty).template)(part));
        template.apply(operands, &mut self.arena, &mut self.setups)
    }

    /// A number of type `ty`, of 16 bits, as an `F32`; exact.
    fn widen(&mut self, ty: Type, x: ExprId) -> ExprId {
        if self.is_native(ty) { self.add(Expr::Cast(Type::F32, x)) } else { self.part(Part::Widen, ty, &[x]) }
    }

    /// The nearest number to an `F32`.
    fn narrow(&mut self, ty: Type, x: ExprId) -> ExprId {
        if self.is_native(ty) { self.add(Expr::Cast(ty, x)) } else { self.part(Part::Narrow, ty, &[x]) }
    }

    /// The number of these bits, a `U32`.
    fn of_bits(&mut self, ty: Type, bits: ExprId) -> ExprId {
        if !self.is_native(ty) {
            return bits;
        }
        let bits = self.add(Expr::Cast(Type::U16, bits));
        self.add(Expr::Bits(ty, bits))
    }

    /// The bits of a number of type `ty`, of 16 bits, as a `U16`.
    fn short(&mut self, ty: Type, x: ExprId) -> ExprId {
        if self.is_native(ty) { self.add(Expr::Bits(Type::U16, x)) } else { self.add(Expr::Cast(Type::U16, x)) }
    }

    /// What a statement takes in place of an old expression.
    fn stored(&mut self, old: ExprId) -> ExprId {
        let (ty, new) = (self.ty(old), self.new_of(old));
        if ty.is_half() && !self.is_native(ty) { self.short(ty, new) } else { new }
    }

    /// An operand as it is computed with.
    fn operand(&mut self, old: ExprId) -> ExprId {
        let (ty, new) = (self.ty(old), self.new_of(old));
        if ty.is_half() { self.widen(ty, new) } else { new }
    }

    fn expr(&mut self, expr: &Expr) -> ExprId {
        let here = expr.operands().next().map(|id| self.ty(*id)).filter(|ty| ty.is_half());
        match (*expr, here) {
            (Expr::Const(Const { ty, raw }), _) if ty.is_half() && !self.is_native(ty) => self.word(raw),
            (Expr::Cast(to, x), _) if to.is_half() || here.is_some() => self.cast(to, x),
            (Expr::Bits(to, x), _) if to.is_half() || here.is_some() => self.bits(to, x),
            (Expr::Unary(op, x), Some(ty)) => self.unary(op, ty, x),
            (Expr::Binary(op, x, y), Some(ty)) => self.binary(op, ty, x, y),
            (Expr::Ternary(op, x, y, z), Some(ty)) => match op {
                TernaryOp::Fma if (self.native)(ty).fma => self.same(expr),
                TernaryOp::Fma => {
                    let operands = [x, y, z].map(|old| self.operand(old));
                    let sum = self.part(Part::Fused, ty, &operands);
                    self.narrow(ty, sum)
                }
            },
            (Expr::Slot(_) | Expr::Param(_), _) => {
                let new = self.same(expr);
                let ty = self.types.get(self.ids.len()).copied().unwrap_or(Type::Bool);
                if ty.is_half() && !self.is_native(ty) { self.add(Expr::Cast(Type::U32, new)) } else { new }
            }
            (
                Expr::Const(_)
                | Expr::Extent(..)
                | Expr::Builtin(..)
                | Expr::Unary(..)
                | Expr::Binary(..)
                | Expr::Ternary(..)
                | Expr::Select(..)
                | Expr::Cast(..)
                | Expr::Bits(..),
                _,
            ) => self.same(expr),
        }
    }

    /// Adds the operation with its operands renamed to the new ones.
    fn same(&mut self, expr: &Expr) -> ExprId {
        let mut new = *expr;
        new.operands_mut().for_each(|id| *id = renamed(&self.ids, *id));
        self.add(new)
    }

    fn unary(&mut self, op: UnaryOp, ty: Type, x: ExprId) -> ExprId {
        let new = self.new_of(x);
        let on_bits = |op, mask| (op, mask);
        let sign = match op {
            UnaryOp::Neg => Some(on_bits(BinaryOp::Xor, SIGN)),
            UnaryOp::Abs => Some(on_bits(BinaryOp::And, SIZE)),
            _ => None,
        };
        match sign {
            Some(_) if self.is_native(ty) => self.add(Expr::Unary(op, new)),
            Some((op, mask)) => {
                let mask = self.word(mask);
                self.add(Expr::Binary(op, new, mask))
            }
            None if op == UnaryOp::IsNan && !self.is_native(ty) => {
                let (mask, infinity) = (self.word(SIZE), self.word(Format::of(ty).infinity));
                let size = self.add(Expr::Binary(BinaryOp::And, new, mask));
                self.add(Expr::Binary(BinaryOp::Lt, infinity, size))
            }
            None => {
                let x = self.widen(ty, new);
                let value = self.add(Expr::Unary(op, x));
                if op.result(ty) == Some(ty) { self.narrow(ty, value) } else { value }
            }
        }
    }

    fn binary(&mut self, op: BinaryOp, ty: Type, x: ExprId, y: ExprId) -> ExprId {
        if matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) && (self.native)(ty).sums {
            let (x, y) = (self.new_of(x), self.new_of(y));
            return self.add(Expr::Binary(op, x, y));
        }
        let result = op.result(ty, self.ty(y));
        let (x, y) = (self.operand(x), self.operand(y));
        let value = self.add(Expr::Binary(op, x, y));
        if result == Some(ty) { self.narrow(ty, value) } else { value }
    }

    fn cast(&mut self, to: Type, old: ExprId) -> ExprId {
        let (from, x) = (self.ty(old), self.new_of(old));
        if from == to {
            return x;
        }
        if from.is_half() {
            let wide = self.widen(from, x);
            return match to {
                Type::F32 => wide,
                _ if to.is_half() => self.narrow(to, wide),
                _ => self.add(Expr::Cast(to, wide)),
            };
        }
        match from.kind() {
            TypeKind::Bool => {
                let (one, zero) = (self.word(Format::of(to).one), self.word(0));
                let bits = self.add(Expr::Select(x, one, zero));
                self.of_bits(to, bits)
            }
            TypeKind::Float if from == Type::F32 => self.narrow(to, x),
            TypeKind::Float => {
                let bits = self.part(Part::NarrowDouble, to, &[x]);
                self.of_bits(to, bits)
            }
            TypeKind::Unsigned | TypeKind::Signed if from.bits() < 32 => {
                let exact = self.add(Expr::Cast(Type::F32, x));
                self.narrow(to, exact)
            }
            TypeKind::Unsigned => {
                let exact = self.exact(from, x);
                self.narrow(to, exact)
            }
            TypeKind::Signed => {
                let zero = self.add(Expr::Const(Const { ty: from, raw: 0 }));
                let is_negative = self.add(Expr::Binary(BinaryOp::Lt, x, zero));
                let size = self.add(Expr::Unary(UnaryOp::Abs, x));
                let size = self.add(Expr::Bits(from.bits_type(), size));
                let exact = self.exact(from.bits_type(), size);
                let negated = self.add(Expr::Unary(UnaryOp::Neg, exact));
                let signed = self.add(Expr::Select(is_negative, negated, exact));
                self.narrow(to, signed)
            }
        }
    }

    /// An `F32` that rounds as this unsigned integer.
    fn exact(&mut self, from: Type, x: ExprId) -> ExprId {
        let part = if from.bits() == 64 { Part::StickyLong } else { Part::Sticky };
        let sticky = self.part(part, Type::F16, &[x]);
        self.add(Expr::Cast(Type::F32, sticky))
    }

    fn bits(&mut self, to: Type, old: ExprId) -> ExprId {
        let (from, x) = (self.ty(old), self.new_of(old));
        if from == to {
            return x;
        }
        let short = match from.is_half() {
            true => self.short(from, x),
            false if from == Type::U16 => x,
            false => self.add(Expr::Bits(Type::U16, x)),
        };
        if !to.is_half() {
            return if to == Type::U16 { short } else { self.add(Expr::Bits(to, short)) };
        }
        if self.is_native(to) { self.add(Expr::Bits(to, short)) } else { self.add(Expr::Cast(Type::U32, short)) }
    }
}
