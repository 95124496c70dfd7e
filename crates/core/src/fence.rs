//! The host's fences: the lowering table's last column, resolved when this is compiled. `tests/fences.rs` compiles this
//! file by itself and reads what comes out.

use std::sync::atomic::{Ordering, compiler_fence, fence};

use wattle_memory::{FenceOrder, Level, Lowered, Lowering, Scope, Target};

const ORDERS: [FenceOrder; 4] = [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::SeqCst];

/// The instruction that each fence is, by scope and order; `None` where a fence is for the compiler alone.
const FENCES: [[Option<Ordering>; ORDERS.len()]; Scope::ALL.len()] = {
    let mut fences = [[None; ORDERS.len()]; Scope::ALL.len()];
    let mut cell = 0;
    while cell < ORDERS.len() * Scope::ALL.len() {
        let (scope, order) = (Scope::ALL[cell / ORDERS.len()], ORDERS[cell % ORDERS.len()]);
        fences[scope as usize][order as usize] = instruction(scope, order);
        cell += 1;
    }
    fences
};

/// What the table says of a fence. The host lacks no scope, and each fence is one instruction at most.
const fn instruction(scope: Scope, order: FenceOrder) -> Option<Ordering> {
    match Lowering::new(Target::Host, Scope::System).fence(order, scope) {
        Ok(steps) => match steps.0 {
            // A block's threads take turns on one worker: the compiler alone must keep their order.
            [Some(Lowered::Fence(label)), None, None] if matches!(label.level, Level::Block) => None,
            [Some(Lowered::Fence(label)), None, None] => Some(match (label.sc, label.acquire, label.release) {
                (true, _, _) => Ordering::SeqCst,
                (false, true, true) => Ordering::AcqRel,
                (false, true, false) => Ordering::Acquire,
                (false, false, true) => Ordering::Release,
                (false, false, false) => panic!("a fence of the host orders nothing"),
            }),
            _ => panic!("a fence of the host is several instructions"),
        },
        Err(_) => panic!("the host lacks a scope"),
    }
}

/// A fence of the host, as the lowering table says. Where that has no instruction it keeps the compiler from moving
/// accesses.
#[inline(always)]
pub(crate) fn host_fence(scope: Scope, order: FenceOrder) {
    match FENCES[scope as usize][order as usize] {
        Some(order) => fence(order),
        None => compiler_fence(match order {
            FenceOrder::Acquire => Ordering::Acquire,
            FenceOrder::Release => Ordering::Release,
            FenceOrder::AcqRel => Ordering::AcqRel,
            FenceOrder::SeqCst => Ordering::SeqCst,
        }),
    }
}
