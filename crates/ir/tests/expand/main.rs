//! The expansions of mathematical functions: what they compute, and what they are made of.
//!
//! How far the functions are from the true ones is tested where they are written, in `wattle-math`.

mod bits;
mod fused;
mod rounded;
mod structure;

use std::rc::Rc;

use wattle_ir::{
    BinaryOp, Exact, Expr, ExprId, Kernel, Param, ParamId, ParamKind, Scalar, Site, Slot, SlotId, Stmt, TernaryOp,
    Type, UnaryOp, eval, expand, verify,
};

const AT: Site = Site { file: "kernel.rs", line: 1, column: 1 };
const NAMES: [&str; 3] = ["x", "y", "z"];

const X: ExprId = ExprId(0);
const Y: ExprId = ExprId(1);
const FMA: Expr = Expr::Ternary(TernaryOp::Fma, X, Y, ExprId(2));
const DIV: Expr = Expr::Binary(BinaryOp::Div, X, Y);
const SQRT: Expr = Expr::Unary(UnaryOp::Sqrt, X);

/// A kernel that assigns an expression over its three parameters.
fn applying(applied: Expr, ty: Type) -> Kernel {
    let mut exprs: Vec<Expr> = (0..3).map(|number| Expr::Param(ParamId(number))).collect();
    exprs.push(applied);
    Kernel {
        params: NAMES
            .map(|name| {
                let is_integer = name == "y" && matches!(applied, Expr::Binary(BinaryOp::Powi, ..));
                Param { name, kind: ParamKind::Scalar(if is_integer { Type::I32 } else { ty }), field: None }
            })
            .to_vec(),
        slots: vec![Slot { ty, name: None }],
        exprs,
        body: vec![Stmt::Assign { slot: SlotId(0), value: ExprId(3) }],
        ..Kernel::new(format!("{applied:?}"), AT, 1)
    }
}

/// The types of a kernel's expressions, where they cannot be anything but numbers and truth values.
fn types(kernel: &Kernel) -> Vec<Type> {
    let mut types: Vec<Type> = Vec::new();
    for expr in &kernel.exprs {
        let ty = |id: ExprId| types[id.index()];
        types.push(match *expr {
            Expr::Const(constant) => constant.ty,
            Expr::Param(param) => match kernel.params[param.index()].kind {
                ParamKind::Scalar(ty) => ty,
                ParamKind::View { .. } => panic!("a view"),
            },
            Expr::Unary(op, x) => op.result(ty(x)).unwrap(),
            Expr::Binary(op, x, y) => op.result(ty(x), ty(y)).unwrap(),
            Expr::Ternary(_, x, ..) | Expr::Select(_, x, _) => ty(x),
            Expr::Cast(to, _) | Expr::Bits(to, _) => to,
            Expr::Slot(slot) => kernel.slots[slot.index()].ty,
            Expr::Extent(..) | Expr::Builtin(..) => panic!("{expr:?}"),
        });
    }
    types
}

/// The operations that a target has.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Target {
    /// A fused multiply-add.
    fused: bool,
    /// A division and a square root that are only near to the true ones.
    rough: bool,
}

const PLAIN: Target = Target { fused: false, rough: false };
const FUSED: Target = Target { fused: true, rough: false };
const ROUGH: Target = Target { fused: false, rough: true };
const ROUGH_FUSED: Target = Target { fused: true, rough: true };

const ALL: [Target; 4] = [PLAIN, FUSED, ROUGH, ROUGH_FUSED];

impl Target {
    fn exact(self) -> Exact {
        Exact { fma: self.fused, div: !self.rough, sqrt: !self.rough, fast: &[] }
    }
}

/// The error of a rough division or square root: the numbers of ulps that are added to the rounded results.
struct Errors {
    random: Random,
    /// The greatest error.
    most: u64,
}

impl Errors {
    /// A result with an error; where the target promises nothing about these operands, the last of which divides or
    /// is the root's, anything.
    fn add(&mut self, ty: Type, operands: &[u64], result: u64) -> u64 {
        // The exponents' field, and those of 2^126 (f32) or 2^1022 and its inverse.
        let (shift, mask, most) = if ty == Type::F32 { (23, 0xff, 0xfd) } else { (52, 0x7ff, 0x7fd) };
        let field = |raw: u64| raw >> shift & mask;
        let divisor = operands.last().map_or(0, |raw| field(*raw));
        let negative_root = operands.len() == 1 && operands[0] >> (8 * ty.size() - 1) != 0;
        if !(1..=most).contains(&divisor) || operands.iter().any(|raw| field(*raw) == mask) || negative_root {
            return self.random.next() >> (64 - 8 * ty.size());
        }
        let moved = result.wrapping_add(self.random.next() % (2 * self.most + 1)).wrapping_sub(self.most);
        if field(result) > 1 && field(moved) < mask { moved } else { result }
    }
}

/// What is done to evaluate a function.
enum Step {
    /// The values of these expressions, in this order.
    Evaluate(Vec<usize>),
    Set(SlotId, ExprId),
    Branch(ExprId, Vec<Step>, Vec<Step>),
}

/// The steps of a block. Expressions that are `done` have their values.
fn steps(kernel: &Kernel, block: &[Stmt], done: &mut [bool]) -> Vec<Step> {
    let mut all = Vec::new();
    for stmt in block {
        let (Stmt::Assign { value: id, .. } | Stmt::If { condition: id, .. }) = stmt else { panic!("{stmt:?}") };
        let mut needed = vec![false; id.index() + 1];
        needed[id.index()] = true;
        for number in (0..needed.len()).rev().filter(|&number| !done[number]) {
            let is_needed = needed[number];
            let mut need = |id: ExprId| needed[id.index()] = true;
            match (is_needed, kernel.exprs[number]) {
                (true, Expr::Unary(_, x) | Expr::Cast(_, x) | Expr::Bits(_, x)) => need(x),
                (true, Expr::Binary(_, x, y)) => [x, y].into_iter().for_each(need),
                (true, Expr::Ternary(_, x, y, z) | Expr::Select(x, y, z)) => [x, y, z].into_iter().for_each(need),
                _ => {}
            }
        }
        let missing: Vec<usize> = (0..needed.len()).filter(|&number| needed[number] && !done[number]).collect();
        missing.iter().for_each(|&number| done[number] = true);
        all.push(Step::Evaluate(missing));
        match stmt {
            Stmt::If { then, otherwise, .. } => {
                let [then, otherwise] = [then, otherwise].map(|block| steps(kernel, block, &mut done.to_vec()));
                all.push(Step::Branch(*id, then, otherwise));
            }
            Stmt::Assign { slot, .. } => {
                let stale = |(expr, done): (&Expr, &bool)| *expr == Expr::Slot(*slot) && *done;
                assert!(!kernel.exprs.iter().zip(&*done).any(stale), "{slot:?} is set after it is read");
                all.push(Step::Set(*slot, *id));
            }
            _ => panic!("{stmt:?}"),
        }
    }
    all
}

/// Whether it is a function, or a fused multiply-add that the target has not.
fn is_replaced(expr: &Expr, target: Target) -> bool {
    match *expr {
        Expr::Unary(op, _) => op.is_function(),
        Expr::Binary(op, ..) => op.is_function(),
        Expr::Ternary(TernaryOp::Fma, ..) => !target.fused,
        _ => false,
    }
}

/// An expanded function that can be evaluated.
struct Expanded {
    /// Each with the type that its operator works on, and its own.
    exprs: Vec<(Expr, Type, Type)>,
    values: Vec<u64>,
    slots: Vec<u64>,
    steps: Rc<Vec<Step>>,
    /// How many expressions have been evaluated.
    evaluated: usize,
    /// Whether the target takes subnormal floats for zero, where it computes with them and where it makes them.
    flushes: bool,
    errors: Option<Errors>,
}

/// A value of this type, or zero for it.
fn flushed(ty: Type, raw: u64) -> u64 {
    let (exponent, sign) = match ty {
        Type::F32 => (0x7f80_0000, 1 << 31),
        Type::F64 => (0x7ff0 << 48, 1 << 63),
        _ => return raw,
    };
    if raw & exponent == 0 { raw & sign } else { raw }
}

impl Expanded {
    fn new(applied: Expr, ty: Type, target: Target) -> Expanded {
        let original = applying(applied, ty);
        let kernel = expand(&original, &|_| target.exact());
        verify(&kernel).unwrap();
        assert!(!kernel.exprs.iter().any(|expr| is_replaced(expr, target)), "{kernel}");
        let types = types(&kernel);
        let narrow = [Type::Bool, Type::U32, Type::I32, Type::F32];
        let wide = [Type::Bool, Type::U64, Type::I32, Type::F64, Type::U32];
        let allowed = if ty == Type::F32 { &narrow[..] } else { &wide };
        assert!(types.iter().all(|ty| allowed.contains(ty)), "{applied:?} of {ty}: {types:?}");
        println!("{applied:?} of {ty}, {target:?}: {} expressions", types.len());
        // What an operator works on is the type of its first operand.
        let first = |expr: &Expr| match *expr {
            Expr::Unary(_, x) | Expr::Binary(_, x, _) | Expr::Ternary(_, x, ..) | Expr::Cast(_, x) => types[x.index()],
            _ => Type::Bool,
        };
        let exprs: Vec<_> = kernel.exprs.iter().zip(&types).map(|(expr, ty)| (*expr, first(expr), *ty)).collect();
        let errors = target.rough.then_some(Errors { random: Random(7), most: 3 });
        let (values, slots) = (vec![0; exprs.len()], vec![0; kernel.slots.len()]);
        let steps = Rc::new(steps(&kernel, &kernel.body, &mut vec![false; exprs.len()]));
        Expanded { exprs, values, slots, steps, evaluated: 0, flushes: false, errors }
    }

    fn apply<T: Scalar, const N: usize>(&mut self, operands: [T; N]) -> T {
        self.run(&self.steps.clone(), &operands.map(T::to_raw));
        T::from_raw(self.slots[0])
    }

    fn run(&mut self, steps: &[Step], operands: &[u64]) {
        for step in steps {
            match step {
                Step::Evaluate(exprs) => {
                    exprs.iter().for_each(|&number| self.values[number] = self.value(number, operands));
                    self.evaluated += exprs.len();
                }
                Step::Set(slot, value) => self.slots[slot.index()] = self.values[value.index()],
                Step::Branch(condition, then, otherwise) => {
                    self.run(if self.values[condition.index()] != 0 { then } else { otherwise }, operands);
                }
            }
        }
    }

    fn value(&mut self, number: usize, operands: &[u64]) -> u64 {
        let (expr, ty, result) = self.exprs[number];
        let value = |id: ExprId| self.values[id.index()];
        let flush = |ty, raw| if self.flushes { flushed(ty, raw) } else { raw };
        let input = |id| flush(ty, value(id));
        match expr {
            Expr::Const(constant) => constant.raw,
            Expr::Param(param) => operands[param.index()],
            Expr::Slot(slot) => self.slots[slot.index()],
            Expr::Unary(op, x) => {
                let exact = eval::unary(op, ty, input(x));
                let rough = self.errors.as_mut().filter(|_| op == UnaryOp::Sqrt);
                flush(result, rough.map_or(exact, |errors| errors.add(ty, &[input(x)], exact)))
            }
            Expr::Binary(op, x, y) => {
                let exact = eval::binary(op, ty, input(x), input(y));
                let rough = self.errors.as_mut().filter(|_| op == BinaryOp::Div);
                flush(result, rough.map_or(exact, |errors| errors.add(ty, &[input(x), input(y)], exact)))
            }
            Expr::Ternary(op, x, y, z) => eval::ternary(op, ty, value(x), value(y), value(z)),
            Expr::Select(condition, x, y) => value(if value(condition) != 0 { x } else { y }),
            Expr::Cast(to, x) => eval::cast(ty, to, value(x)),
            Expr::Bits(_, x) => value(x),
            Expr::Extent(..) | Expr::Builtin(..) => panic!("{expr:?}"),
        }
    }
}

/// A repeatable generator (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number from `low` to `high`.
    fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 * 2f64.powi(-53)
    }

    /// A number of any size from 2^low to 2^high.
    fn sized(&mut self, low: f64, high: f64) -> f64 {
        self.within(low, high).exp2() * self.within(1.0, 1.0 + 1e-9)
    }
}
