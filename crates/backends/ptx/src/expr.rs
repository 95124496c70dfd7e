//! Instructions for expressions.

use wattle_ir::{BinaryOp, Builtin, Expr, ExprId, LaunchValue, Place, TernaryOp, Type, TypeKind, UnaryOp, illegal};

use crate::assemble::{Class, Value, ins};
use crate::emit::{Emitter, memory_type};
use crate::layout::Argument;
use crate::warp::WARP_SIZE;

/// The type suffix of integer instructions: small integers are computed with as 32 bits.
pub fn int_type(ty: Type) -> &'static str {
    match (ty.size() == 8, ty.is_signed()) {
        (false, false) => "u32",
        (false, true) => "s32",
        (true, false) => "u64",
        (true, true) => "s64",
    }
}

/// The type suffix of instructions on numbers.
pub fn number_type(ty: Type) -> &'static str {
    match ty.kind() {
        TypeKind::Float => ty.name(),
        TypeKind::Bool | TypeKind::Unsigned | TypeKind::Signed => int_type(ty),
    }
}

/// The type suffix of instructions on bits.
pub fn bits_type(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "pred",
        _ if ty.is_half() => "b16",
        _ if ty.size() == 8 => "b64",
        _ => "b32",
    }
}

/// The type suffix of a choice between two values.
pub fn select_type(ty: Type) -> &'static str {
    if ty.is_float() && !ty.is_half() { number_type(ty) } else { bits_type(ty) }
}

/// The name of a comparison of numbers.
fn comparison(op: BinaryOp, of: Type) -> Option<&'static str> {
    match op {
        BinaryOp::Eq => Some("eq"),
        BinaryOp::Ne if of.is_float() => Some("neu"),
        BinaryOp::Ne => Some("ne"),
        BinaryOp::Lt => Some("lt"),
        BinaryOp::Le => Some("le"),
        BinaryOp::Gt => Some("gt"),
        BinaryOp::Ge => Some("ge"),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::MulHi | BinaryOp::Div => None,
        BinaryOp::Min | BinaryOp::Max => None,
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => None,
        wattle_ir::binary_functions!() => None,
    }
}

impl Emitter<'_> {
    /// Computes the value of an expression at this point. Truth values are always in registers.
    pub(crate) fn value(&mut self, id: ExprId) -> Value {
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let ty = self.types[id.index()];
        let value = match self.kernel.exprs[id.index()] {
            Expr::Const(constant) if ty == Type::Bool => {
                let to = self.asm.register(Class::Predicate);
                ins!(self, "mov.pred {to}, {}", constant.raw & 1);
                to
            }
            Expr::Const(constant) => Value::Constant(ty, constant.raw),
            Expr::Slot(slot) => match self.counters.get(&slot) {
                Some(&turn) => Value::word(turn),
                None => self.slot(slot),
            },
            Expr::Param(param) => self.argument(Argument::Scalar(param)),
            Expr::Extent(place, dimension) => self.extent(place, dimension),
            Expr::Builtin(builtin, dimension) => self.builtin(builtin, dimension),
            Expr::Unary(op, x) => {
                let from = self.types[x.index()];
                let x = self.value(x);
                self.unary(op, from, x)
            }
            Expr::Binary(op, x, y) => {
                let constant = if ty == Type::U32 { self.constant(id) } else { None };
                match constant {
                    Some(constant) => Value::Constant(ty, constant),
                    None => self.joined(op, x, y).unwrap_or_else(|| {
                        let from = self.types[x.index()];
                        let (x, y) = (self.float_operand(from, x), self.float_operand(from, y));
                        self.binary(op, from, x, y)
                    }),
                }
            }
            Expr::Ternary(op, x, y, z) => {
                let operands = [x, y, z].map(|id| self.float_operand(ty, id));
                match op {
                    TernaryOp::Fma => self.op(&format!("fma.rn.{}", number_type(ty)), Class::of(ty), &operands),
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

    /// An operand of an instruction on numbers. Those on floats of 16 bits take no constants.
    fn float_operand(&mut self, of: Type, id: ExprId) -> Value {
        let value = self.value(id);
        if of.is_half() { self.in_register(of, value) } else { value }
    }

    /// What an instruction makes of the thread's number in its block.
    fn of_thread(&mut self, name: &str, operand: u32) -> Value {
        let thread = self.special("%tid.x");
        self.in_prologue(|emitter| emitter.op(name, Class::Word, &[thread, Value::word(operand)]))
    }

    pub(crate) fn extent(&mut self, place: Place, dimension: u8) -> Value {
        match (place, self.kernel.known_extent(place, dimension)) {
            (_, Some(len)) => Value::word(len),
            (Place::Param(param), None) => {
                self.launch_value(LaunchValue::ViewExtent(self.kernel.first_of(param), dimension))
            }
            _ => self.launch_value(LaunchValue::SharedLen),
        }
    }

    /// Reads a special register of the machine, in the prologue.
    pub(crate) fn special(&mut self, name: &str) -> Value {
        self.in_prologue(|emitter| {
            let to = emitter.asm.register(Class::Word);
            ins!(emitter, "mov.u32 {to}, {name}");
            to
        })
    }

    fn builtin(&mut self, builtin: Builtin, dimension: u8) -> Value {
        if let Some(&known) = self.builtins.get(&(builtin, dimension)) {
            return known;
        }
        let flat = self.kernel.rank == 1;
        let value = match builtin {
            Builtin::BlockExtent if flat => self.special("%ntid.x"),
            Builtin::GridExtent if flat => self.special("%nctaid.x"),
            Builtin::BlockExtent => self.launch_value(LaunchValue::BlockExtent(dimension)),
            Builtin::GridExtent => self.launch_value(LaunchValue::GridExtent(dimension)),
            Builtin::FrameCount => self.launch_value(LaunchValue::FrameCount(dimension)),
            Builtin::FrameExtent => self.launch_value(LaunchValue::FrameExtent(dimension)),
            Builtin::ThreadInBlock => {
                let thread = self.special("%tid.x");
                self.part(thread, dimension, LaunchValue::BlockExtent)
            }
            Builtin::WarpSize => Value::word(WARP_SIZE),
            // A kernel that is made for a target has constants instead.
            Builtin::Device(_) => Value::word(0),
            Builtin::Lane => self.of_thread("and.b32", WARP_SIZE - 1),
            Builtin::WarpInBlock => self.of_thread("shr.u32", WARP_SIZE.ilog2()),
            Builtin::BlockInGrid => {
                let block = self.special("%ctaid.x");
                self.part(block, dimension, LaunchValue::GridExtent)
            }
        };
        self.builtins.insert((builtin, dimension), value);
        value
    }

    /// Computes one dimension of a row-major number, in the prologue.
    fn part(&mut self, number: Value, dimension: u8, extent: fn(u8) -> LaunchValue) -> Value {
        let mut rest = number;
        for d in (dimension + 1..self.kernel.rank as u8).rev() {
            let by = self.launch_value(extent(d));
            rest = self.in_prologue(|emitter| emitter.op("div.u32", Class::Word, &[rest, by]));
        }
        if dimension == 0 {
            return rest;
        }
        let by = self.launch_value(extent(dimension));
        self.in_prologue(|emitter| emitter.op("rem.u32", Class::Word, &[rest, by]))
    }

    /// The result of a 32-bit operation as a value of the type: small integers wrap here.
    pub(crate) fn wrapped(&mut self, ty: Type, x: Value) -> Value {
        match ty.kind() {
            TypeKind::Unsigned if ty.bits() < 32 => {
                self.op("and.b32", Class::Word, &[x, Value::word((1 << ty.bits()) - 1)])
            }
            TypeKind::Signed if ty.bits() < 32 => self.op(&format!("cvt.s32.{}", memory_type(ty)), Class::Word, &[x]),
            TypeKind::Bool | TypeKind::Unsigned | TypeKind::Signed | TypeKind::Float => x,
        }
    }

    /// The bits of a small integer, extended by zeros.
    fn bare(&mut self, ty: Type, x: Value) -> Value {
        if ty.kind() == TypeKind::Signed && ty.bits() < 32 { self.wrapped(ty.bits_type(), x) } else { x }
    }

    pub(crate) fn unary(&mut self, op: UnaryOp, ty: Type, x: Value) -> Value {
        let class = Class::of(ty);
        let x = self.in_register(ty, x);
        let simple = |name: &str, of: &str| format!("{name}.{of}");
        match op {
            UnaryOp::Neg if ty.is_half() => self.op("xor.b16", class, &[x, Value::word(0x8000)]),
            UnaryOp::Abs if ty.is_half() => self.op("and.b16", class, &[x, Value::word(0x7fff)]),
            UnaryOp::Neg | UnaryOp::Abs if ty.is_float() => {
                let name = if op == UnaryOp::Neg { "neg" } else { "abs" };
                self.op(&simple(name, number_type(ty)), class, &[x])
            }
            UnaryOp::Neg | UnaryOp::Abs => {
                let name = if op == UnaryOp::Neg { "neg" } else { "abs" };
                let x = self.op(&simple(name, int_type(ty)), class, &[x]);
                self.wrapped(ty, x)
            }
            UnaryOp::Not => {
                let x = self.op(&simple("not", bits_type(ty)), class, &[x]);
                self.wrapped(ty, x)
            }
            UnaryOp::IsNan => self.op(&simple("setp.nan", number_type(ty)), Class::Predicate, &[x, x]),
            UnaryOp::CountOnes => {
                let x = self.bare(ty, x);
                self.op(&simple("popc", bits_type(ty)), Class::Word, &[x])
            }
            UnaryOp::LeadingZeros => {
                let x = self.bare(ty, x);
                let count = self.op(&simple("clz", bits_type(ty)), Class::Word, &[x]);
                let above = 32u32.saturating_sub(ty.size() as u32 * 8);
                if above == 0 { count } else { self.op("sub.u32", Class::Word, &[count, Value::word(above)]) }
            }
            UnaryOp::TrailingZeros => {
                // A small integer has a one above its bits, so that they are counted where all are zero.
                let x = match ty.size() {
                    1 | 2 => self.op("or.b32", class, &[x, Value::word(1 << (ty.size() * 8))]),
                    _ => x,
                };
                let x = self.op(&simple("brev", bits_type(ty)), class, &[x]);
                self.op(&simple("clz", bits_type(ty)), Class::Word, &[x])
            }
            UnaryOp::Sqrt => self.op(&simple("sqrt.rn", number_type(ty)), class, &[x]),
            UnaryOp::Floor => self.rounded("rmi", ty, x),
            UnaryOp::Ceil => self.rounded("rpi", ty, x),
            UnaryOp::RoundTiesEven => self.rounded("rni", ty, x),
            UnaryOp::Trunc => self.rounded("rzi", ty, x),
            UnaryOp::ReverseBits => {
                let x = self.op(&simple("brev", bits_type(ty)), class, &[x]);
                match 32u32.saturating_sub(ty.size() as u32 * 8) {
                    0 => x,
                    // The bits of a small integer are at the upper end, and its sign is there.
                    above => self.op(&simple("shr", int_type(ty)), class, &[x, Value::word(above)]),
                }
            }
            // PTX ISA 8.8, 9.7.3: "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh". Those of `f64` are
            // replaced.
            UnaryOp::RecipFast => self.op("rcp.approx.ftz.f32", class, &[x]),
            UnaryOp::SqrtFast => self.op("sqrt.approx.ftz.f32", class, &[x]),
            UnaryOp::RsqrtFast => self.op("rsqrt.approx.ftz.f32", class, &[x]),
            UnaryOp::Exp2Fast => self.op("ex2.approx.ftz.f32", class, &[x]),
            UnaryOp::Log2Fast => self.op("lg2.approx.ftz.f32", class, &[x]),
            UnaryOp::SinFast => self.op("sin.approx.ftz.f32", class, &[x]),
            UnaryOp::CosFast => self.op("cos.approx.ftz.f32", class, &[x]),
            UnaryOp::TanhFast => self.op("tanh.approx.f32", class, &[x]),
            // `wattle_ir::expand` has replaced these.
            wattle_ir::unary_functions!() => illegal(&op),
        }
    }

    /// Rounds a float to a whole number, which stays a float.
    fn rounded(&mut self, mode: &str, ty: Type, x: Value) -> Value {
        let of = number_type(ty);
        self.op(&format!("cvt.{mode}.{of}.{of}"), Class::of(ty), &[x])
    }

    /// Emits a comparison together with what it is joined with by `&`, `|` or `^`: one instruction does both.
    fn joined(&mut self, op: BinaryOp, x: ExprId, y: ExprId) -> Option<Value> {
        let Expr::Binary(test, left, right) = self.kernel.exprs[y.index()] else { return None };
        let how = match op {
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
            BinaryOp::Xor => "xor",
            _ => return None,
        };
        let ty = self.types[left.index()];
        let test = comparison(test, ty)?;
        if ty == Type::Bool || self.known.contains_key(&y) {
            return None;
        }
        let operands = [left, right, x].map(|id| self.value(id));
        let name = format!("setp.{test}.{how}.{}", number_type(ty));
        Some(self.op(&name, Class::Predicate, &operands))
    }

    pub(crate) fn compare(&mut self, name: &str, ty: Type, x: Value, y: Value) -> Value {
        self.op(&format!("setp.{name}.{}", number_type(ty)), Class::Predicate, &[x, y])
    }

    pub(crate) fn select(&mut self, ty: Type, condition: Value, x: Value, y: Value) -> Value {
        if ty != Type::Bool {
            let of = select_type(ty);
            return self.op(&format!("selp.{of}"), Class::of(ty), &[x, y, condition]);
        }
        // Predicates cannot be selected (PTX ISA 8.8, 9.7.6.3 "selp").
        let first = self.op("and.pred", Class::Predicate, &[condition, x]);
        let not = self.op("not.pred", Class::Predicate, &[condition]);
        let second = self.op("and.pred", Class::Predicate, &[not, y]);
        self.op("or.pred", Class::Predicate, &[first, second])
    }

    /// Emits float arithmetic. An operation that names its rounding is never contracted (PTX ISA 8.8, 9.7.3 "add").
    fn exact(&mut self, name: &str, ty: Type, operands: &[Value]) -> Value {
        self.op(&format!("{name}.rn.{}", number_type(ty)), Class::of(ty), operands)
    }

    /// Emits integer arithmetic, and wraps the result to the type's size.
    fn wrapping(&mut self, name: &str, ty: Type, operands: &[Value]) -> Value {
        let result = self.op(&format!("{name}.{}", int_type(ty)), Class::of(ty), operands);
        self.wrapped(ty, result)
    }

    /// Emits an operation on each bit. The result of extended operands is extended as they are.
    fn bitwise(&mut self, name: &str, ty: Type, operands: &[Value]) -> Value {
        self.op(&format!("{name}.{}", bits_type(ty)), Class::of(ty), operands)
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, ty: Type, x: Value, y: Value) -> Value {
        if let Some(name) = comparison(op, ty).filter(|_| ty != Type::Bool) {
            return self.compare(name, ty, x, y);
        }
        let class = Class::of(ty);
        match op {
            BinaryOp::Add if ty.is_float() => self.exact("add", ty, &[x, y]),
            BinaryOp::Sub if ty.is_float() => self.exact("sub", ty, &[x, y]),
            BinaryOp::Mul if ty.is_float() => self.exact("mul", ty, &[x, y]),
            BinaryOp::Add => self.wrapping("add", ty, &[x, y]),
            BinaryOp::Sub => self.wrapping("sub", ty, &[x, y]),
            BinaryOp::Mul => self.wrapping("mul.lo", ty, &[x, y]),
            // Kernels have `MulHi` on 32 and 64 bits alone.
            BinaryOp::MulHi => self.op(&format!("mul.hi.{}", int_type(ty)), class, &[x, y]),
            BinaryOp::Div => self.exact("div", ty, &[x, y]),
            // Of two floats the result is the one that is a number, and -0.0 is less than +0.0 (PTX ISA 8.8, 9.7.3.11
            // "min").
            BinaryOp::Min => self.op(&format!("min.{}", number_type(ty)), class, &[x, y]),
            BinaryOp::Max => self.op(&format!("max.{}", number_type(ty)), class, &[x, y]),
            BinaryOp::And => self.bitwise("and", ty, &[x, y]),
            BinaryOp::Or => self.bitwise("or", ty, &[x, y]),
            BinaryOp::Xor => self.bitwise("xor", ty, &[x, y]),
            BinaryOp::Shr => self.op(&format!("shr.{}", int_type(ty)), class, &[x, y]),
            BinaryOp::Shl => {
                let result = self.op(&format!("shl.{}", bits_type(ty)), class, &[x, y]);
                self.wrapped(ty, result)
            }
            // Of truth values; numbers are compared above.
            BinaryOp::Ne => self.op("xor.pred", class, &[x, y]),
            BinaryOp::Eq => {
                let differ = self.op("xor.pred", class, &[x, y]);
                self.op("not.pred", class, &[differ])
            }
            // The verifier refuses an order of truth values.
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => illegal(&(op, ty)),
            // `wattle_ir::expand` has replaced these.
            wattle_ir::binary_functions!() => illegal(&op),
        }
    }
}
