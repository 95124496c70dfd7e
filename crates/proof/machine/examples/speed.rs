//! Measures the speed of the machine: `cargo run --release -p wattle-machine --example speed`.

use std::sync::Arc;
use std::time::Instant;

use wattle_ir::{BinaryOp, Const, Expr, ExprId, Kernel, Label, Site, Slot, SlotId, Stmt, Type};
use wattle_machine::{Environment, LaunchShape, Position, Program, Request, Thread};

fn main() {
    // for i in 0..N { x = x * 31 + i; y = y ^ (x >> 3); }
    let count = 10_000_000u32;
    let [i, x, y] = [0, 1, 2].map(SlotId);
    let mut exprs = vec![Expr::Slot(i), Expr::Slot(x), Expr::Slot(y)];
    exprs.extend([count, 31, 3, 1].map(|value| Expr::Const(Const::of(value))));
    let mut push = |op, left, right| {
        exprs.push(Expr::Binary(op, ExprId(left), ExprId(right)));
        exprs.len() as u32 - 1
    };
    let over = push(BinaryOp::Ge, 0, 3);
    let product = push(BinaryOp::Mul, 1, 4);
    let sum = push(BinaryOp::Add, product, 0);
    let shifted = push(BinaryOp::Shr, 1, 5);
    let mixed = push(BinaryOp::Xor, 2, shifted);
    let next = push(BinaryOp::Add, 0, 6);
    let assign = |slot, value| Stmt::Assign { slot, value: ExprId(value) };
    let body = vec![
        Stmt::If { condition: ExprId(over), then: vec![Stmt::Break(Label(0))], otherwise: vec![] },
        assign(x, sum),
        assign(y, mixed),
    ];
    let site = Site::caller();
    let kernel = Kernel {
        slots: vec![Slot { ty: Type::U32, name: None }; 3],
        exprs,
        body: vec![Stmt::Loop { label: Label(0), body, continuing: vec![assign(i, next)], bounded: true, site }],
        ..Kernel::new("speed", site, 1)
    };
    let program = match Program::compile(Arc::new(kernel)) {
        Ok(program) => program,
        Err(error) => return eprintln!("{error}"),
    };
    let environment = Environment { shape: LaunchShape::linear(1, 1), arguments: vec![], shared_len: 0 };
    let mut thread = Thread::new(&program, Position::default());
    let (start, mut fuel) = (Instant::now(), u64::MAX);
    let request = thread.run(&program, &environment, &mut fuel);
    let (steps, seconds) = (u64::MAX - fuel, start.elapsed().as_secs_f64());
    assert_eq!(request, Request::Done);
    println!("{steps} statements in {seconds:.2} s: {:.0} million per second", steps as f64 / seconds / 1e6);
}
