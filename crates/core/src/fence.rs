//! The fence of the lowering table's last column. `tests/fences.rs` compiles this file by itself and reads what comes out.

use std::sync::atomic::{Ordering, compiler_fence, fence};

use wattle_memory::{FenceOrder, Scope};

/// A fence of the host's: for the compiler alone at block scope, since a block is one thread.
#[inline(always)]
pub(crate) fn host_fence(scope: Scope, order: FenceOrder) {
    let order = match order {
        FenceOrder::Acquire => Ordering::Acquire,
        FenceOrder::Release => Ordering::Release,
        FenceOrder::AcqRel => Ordering::AcqRel,
        FenceOrder::SeqCst => Ordering::SeqCst,
    };
    match scope {
        Scope::Block => compiler_fence(order),
        Scope::Device | Scope::System => fence(order),
    }
}
