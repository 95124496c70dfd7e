//! What a function becomes for a target has the bits of the function itself, whatever the target has: a fused
//! multiply-add or none, exact or rough quotients and roots, subnormal numbers or none.

use wattle_ir::{BinaryOp, Expr, Scalar, Type, UnaryOp, eval};

use crate::{ALL, Expanded, Random, Target, X, Y, flushed};

/// A raw float of any kind: any bits, moderate numbers, near 1, small whole numbers.
fn operand(random: &mut Random, ty: Type) -> u64 {
    let any = random.next();
    let sign = if any & 1 == 0 { 1.0 } else { -1.0 };
    let value = match any >> 1 & 7 {
        0 | 1 => return random.next() >> (64 - ty.bits()),
        2 => random.sized(-60.0, 60.0),
        3 => random.within(0.0, 1.2),
        4 => random.within(0.0, if ty == Type::F32 { 90.0 } else { 712.0 }),
        5 => 1.0 + random.within(-1e-3, 1e-3),
        6 => random.within(0.0, 40.0).round(),
        _ => [0.0, 1.0, 0.5, f64::INFINITY, f64::NAN][any as usize / 16 % 5],
    };
    eval::cast(Type::F64, ty, (sign * value).to_bits())
}

/// Whether the number is subnormal, or so near that it is rounded from one.
fn is_tiny(ty: Type, raw: u64) -> bool {
    let size = raw & !(1 << (ty.bits() - 1));
    let least = if ty == Type::F32 { f32::MIN_POSITIVE.to_raw() } else { f64::MIN_POSITIVE.to_raw() };
    size <= least
}

fn same(applied: Expr, ty: Type, target: Target, count: u32) {
    let mut random = Random(31);
    let mut expanded = Expanded::new(applied, ty, target);
    for number in 0..count {
        let (x, y) = (operand(&mut random, ty), operand(&mut random, ty));
        let integer = matches!(applied, Expr::Binary(BinaryOp::Powi, ..));
        let y = if integer { eval::cast(ty, Type::I32, y) } else { y };
        // A target without subnormal numbers takes such operands for zero.
        expanded.flushes = number % 2 == 0;
        if expanded.flushes && (flushed(ty, x) != x || (!integer && flushed(ty, y) != y)) {
            continue;
        }
        let wanted = match applied {
            Expr::Unary(op, _) => eval::unary(op, ty, x),
            Expr::Binary(op, ..) => eval::binary(op, ty, x, y),
            _ => panic!("{applied:?}"),
        };
        expanded.run(&expanded.steps.clone(), &[x, y, 0]);
        let found = expanded.slots[0];
        let nan = |raw| eval::unary(UnaryOp::IsNan, ty, raw) != 0;
        let fits = found == wanted || (nan(found) && nan(wanted)) || (is_tiny(ty, found) && is_tiny(ty, wanted));
        let flushes = expanded.flushes;
        let [x, y] = [x, y].map(|raw| eval::display(ty, raw));
        let [found, wanted] = [found, wanted].map(|raw| eval::display(ty, raw));
        assert!(fits, "{applied:?} of {x}, {y}, {target:?}, flushing {flushes}: {found}, not {wanted}");
    }
}

fn all(ty: Type) {
    let unary = UnaryOp::ALL.iter().filter(|op| op.is_function()).map(|&op| Expr::Unary(op, X));
    let binary = BinaryOp::ALL.iter().filter(|op| op.is_function()).map(|&op| Expr::Binary(op, X, Y));
    for applied in unary.chain(binary) {
        ALL.into_iter().for_each(|target| same(applied, ty, target, 5_000));
    }
}

#[test]
fn in_single_precision() {
    all(Type::F32);
}

#[test]
fn in_double_precision() {
    all(Type::F64);
}
