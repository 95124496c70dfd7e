//! Failing cases become small and stay failing, clean and well typed.

use std::time::Duration;

use wattle_check::Simulated;
use wattle_core::Device;
use wattle_fuzz::{Case, Profile, compare, generate, is_clean, outcome, outcome_within, shrink};
use wattle_ir::{AtomicOp, BinaryOp, Expr, Stmt};

const TIME: Duration = Duration::from_secs(60);

fn has_shift(case: &Case) -> bool {
    let is_shift = |expr: &Expr| matches!(expr, Expr::Binary(BinaryOp::Shl, ..));
    case.kernel.exprs.iter().any(is_shift)
}

fn count(block: &[Stmt]) -> usize {
    let within = |stmt: &Stmt| match stmt {
        Stmt::If { then, otherwise, .. } => count(then) + count(otherwise),
        Stmt::Loop { body, continuing, .. } => count(body) + count(continuing),
        Stmt::Block { body, .. } => count(body),
        _ => 0,
    };
    block.iter().map(|stmt| 1 + within(stmt)).sum()
}

/// A device with a defect: shifts to the left go to the right.
fn with_defect(case: &Case) -> Case {
    let mut case = case.clone();
    for expr in &mut case.kernel.exprs {
        if let Expr::Binary(op @ BinaryOp::Shl, ..) = expr {
            *op = BinaryOp::Shr;
        }
    }
    case
}

fn defect_shows(case: &Case) -> bool {
    let device = Device::simulated(0);
    let Ok(right) = outcome(case, &device) else {
        return false;
    };
    let wrong = outcome_within(&with_defect(case), &device, Duration::from_millis(100));
    wrong.is_ok_and(|wrong| compare(case, &right, &wrong).is_some())
}

#[test]
fn a_case_with_a_shift_becomes_a_shift() {
    let seed = (60..200).find(|&seed| has_shift(&generate(seed, &Profile::full()))).unwrap();
    let small = shrink(seed, &Profile::full(), TIME, |case| {
        let used = case.kernel.exprs.iter().any(|expr| matches!(expr, Expr::Binary(BinaryOp::Shl, ..)));
        used && count(&case.kernel.body) > 0
    });
    println!("{small}");
    assert!(count(&small.kernel.body) <= 3, "{small}");
    assert_eq!(small.thread_count(), 1);
}

#[test]
fn a_defect_of_one_operator_becomes_a_few_lines() {
    let failing = (60..200).filter(|&seed| defect_shows(&generate(seed, &Profile::full()))).take(3);
    for seed in failing {
        let small = shrink(seed, &Profile::full(), TIME, defect_shows);
        println!("{small}\n{}", small.to_json().unwrap());
        assert!(defect_shows(&small));
        is_clean(&small, &[4, 5]).unwrap();
        assert_eq!(outcome(&small, &Device::simulated(0)).unwrap().fault, None);
        assert!(count(&small.kernel.body) <= 12, "{small}");
        assert!(small.to_json().unwrap().lines().count() < 140, "{small}");
    }
}

#[test]
fn what_needs_threads_and_barriers_keeps_them() {
    let needs = |case: &Case| {
        let mut updates = 0;
        let mut blocks = vec![&case.kernel.body];
        while let Some(block) = blocks.pop() {
            for stmt in block {
                match stmt {
                    Stmt::AtomicUpdate { op: AtomicOp::Add, .. } => updates += 1,
                    Stmt::If { then, otherwise, .. } => blocks.extend([then, otherwise]),
                    Stmt::Loop { body, .. } | Stmt::Block { body, .. } => blocks.push(body),
                    _ => {}
                }
            }
        }
        updates > 0 && case.thread_count() >= 4
    };
    let seed = (60..200).find(|&seed| needs(&generate(seed, &Profile::narrow()))).unwrap();
    let small = shrink(seed, &Profile::narrow(), TIME, needs);
    assert!(count(&small.kernel.body) <= 2, "{small}");
    assert!((4..8).contains(&small.thread_count()), "{small}");
}
