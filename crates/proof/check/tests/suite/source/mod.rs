//! Programs in Wattle's own terms, and their lowering for each target.

#![allow(dead_code, reason = "each test uses its part")]

use wattle_memory::{
    Classes, FenceOrder, Label, LoadOrder, Lowered, Lowering, Placement, RmwOrder, Scope, StoreOrder, Target,
};

use crate::script::{Op, Program, constant, register};

/// A statement. Cells are `Shared` (plain accesses) or `Atomic`, never both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Statement {
    PlainLoad {
        cell: u64,
    },
    PlainStore {
        cell: u64,
        value: u64,
    },
    Load {
        cell: u64,
        order: LoadOrder,
        scope: Scope,
    },
    Store {
        cell: u64,
        value: u64,
        order: StoreOrder,
        scope: Scope,
    },
    FetchAdd {
        cell: u64,
        value: u64,
        order: RmwOrder,
        scope: Scope,
    },
    Exchange {
        cell: u64,
        value: u64,
        order: RmwOrder,
        scope: Scope,
    },
    /// A compare-exchange from the expected value to the desired one.
    CompareExchange {
        cell: u64,
        expected: u64,
        desired: u64,
        order: RmwOrder,
        scope: Scope,
    },
    /// A compare-exchange that fails whatever it reads: an update if the target writes the old value back, otherwise a
    /// load.
    FailedExchange {
        cell: u64,
        order: RmwOrder,
        scope: Scope,
    },
    Fence {
        order: FenceOrder,
        scope: Scope,
    },
    /// Ends the thread here unless the statement with that number read that value.
    Guard {
        statement: usize,
        value: u64,
    },
}

/// The word that Vulkan's sequentially consistent fences update, one per device.
pub const HIDDEN: u64 = 1000;

impl Statement {
    pub fn scope(&self) -> Option<Scope> {
        match *self {
            Statement::PlainLoad { .. } | Statement::PlainStore { .. } | Statement::Guard { .. } => None,
            Statement::Load { scope, .. }
            | Statement::Store { scope, .. }
            | Statement::FetchAdd { scope, .. }
            | Statement::Exchange { scope, .. }
            | Statement::CompareExchange { scope, .. }
            | Statement::FailedExchange { scope, .. }
            | Statement::Fence { scope, .. } => Some(scope),
        }
    }
}

/// The threads as a target runs them; `None` if the target lacks a scope. The read of statement `i` goes to register
/// `i`.
pub fn lower(threads: &[Vec<Statement>], target: Target) -> Option<Program> {
    let scopes = threads.iter().flatten().filter_map(Statement::scope);
    let lowering = Lowering::new(target, scopes.max().unwrap_or(Scope::Block));
    threads.iter().map(|statements| thread(&lowering, statements)).collect()
}

/// Load buffering whose one thread does the one or the other behind its load of the first cell, which it compares with 1; the
/// other thread copies the second cell to the first.
pub fn lower_arms(arms: [&[Statement]; 2], target: Target) -> Option<Program> {
    let scopes = arms.into_iter().flatten().filter_map(Statement::scope);
    let lowering = Lowering::new(target, scopes.max().unwrap_or(Scope::Block).max(Scope::Device));
    let load = |cell| thread(&lowering, &[Statement::Load { cell, order: LoadOrder::Relaxed, scope: Scope::Device }]);
    let (mut first, mut second) = (load(0)?, load(1)?);
    for (arm, equal) in arms.into_iter().zip([true, false]) {
        let arm = thread(&lowering, arm)?;
        first.push(Op::SkipUnless { register: 0, value: 1, equal, count: arm.len() });
        first.extend(arm);
    }
    let label = lowering.atomic_write(StoreOrder::Relaxed.expand().order, Scope::Device, Classes::BUFFER).ok()?;
    second.push(Op::Store { cell: 0, value: register(0), label });
    Some(vec![first, second])
}

fn thread(lowering: &Lowering, statements: &[Statement]) -> Option<Vec<Op>> {
    let mut ops = Vec::new();
    for (to, statement) in statements.iter().enumerate() {
        let fence_first = match *statement {
            Statement::Load { order, .. } => order.expand().fence_first,
            Statement::Store { order, .. } => order.expand().fence_first,
            Statement::FetchAdd { order, .. }
            | Statement::Exchange { order, .. }
            | Statement::CompareExchange { order, .. }
            | Statement::FailedExchange { order, .. } => order.expand().fence_first,
            _ => false,
        };
        if fence_first {
            ops.extend(fence(lowering, FenceOrder::SeqCst, statement.scope()?)?);
        }
        let update = |order: RmwOrder, scope| lowering.update(order.expand().order, scope, Classes::BUFFER).ok();
        match *statement {
            Statement::PlainLoad { cell } => {
                ops.push(Op::Load { to, cell, label: lowering.read(Classes::BUFFER, true) });
            }
            Statement::PlainStore { cell, value } => {
                let label = lowering.write(Classes::BUFFER, true);
                ops.push(Op::Store { cell, value: constant(value), label });
            }
            Statement::Load { cell, order, scope } => {
                let label = lowering.atomic_read(order.expand().order, scope, Classes::BUFFER).ok()?;
                ops.push(Op::Load { to, cell, label });
            }
            Statement::Store { cell, value, order, scope } => {
                let label = lowering.atomic_write(order.expand().order, scope, Classes::BUFFER).ok()?;
                ops.push(Op::Store { cell, value: constant(value), label });
            }
            Statement::FetchAdd { cell, value, order, scope } => {
                let (read, write) = update(order, scope)?;
                ops.push(Op::Add { to, cell, value: constant(value), read, write });
            }
            Statement::Exchange { cell, value, order, scope } => {
                let (read, write) = update(order, scope)?;
                ops.push(Op::Exchange { to, cell, value: constant(value), read, write });
            }
            Statement::CompareExchange { cell, expected, desired, order, scope } => {
                let (read, write) = update(order, scope)?;
                ops.push(Op::CompareExchange { to, cell, expected, desired, read, write, succeeded: None });
            }
            Statement::FailedExchange { cell, order, scope } => {
                let (read, write) = update(order, scope)?;
                ops.push(if lowering.failed_exchange_writes() {
                    Op::Add { to, cell, value: constant(0), read, write }
                } else {
                    Op::Load { to, cell, label: read }
                });
            }
            Statement::Guard { statement, value } => ops.push(Op::Require { register: statement, value }),
            Statement::Fence { order, scope } => ops.extend(fence(lowering, order, scope)?),
        }
    }
    Some(ops)
}

fn fence(lowering: &Lowering, order: FenceOrder, scope: Scope) -> Option<Vec<Op>> {
    let steps = lowering.fence(order, scope).ok()?;
    let step = |step| match step {
        Lowered::Fence(label) => Op::Fence { label },
        Lowered::HiddenUpdate { read, write } => hidden(read, write),
    };
    Some(steps.into_iter().map(step).collect())
}

/// A read-modify-write of the hidden word; register 7 takes values that are not observed.
fn hidden(read: Label, write: Label) -> Op {
    Op::Add { to: 7, cell: HIDDEN, value: constant(1), read, write }
}

/// The possible placements of threads: every division into blocks, in which each thread is a subgroup of its own.
pub fn placements(threads: usize) -> Vec<Vec<Placement>> {
    (0..threads).fold(vec![Vec::new()], |divisions, _| {
        let with_another = |division: &Vec<Placement>| {
            let blocks = division.iter().map(|place| place.block + 1).max().unwrap_or(0);
            let placed = |block: u32| {
                let number = division.iter().filter(|place| place.block == block).count() as u32;
                [division.clone(), vec![Placement { subgroup: number, ..Placement::new(block, number) }]].concat()
            };
            (0..=blocks).map(placed).collect::<Vec<_>>()
        };
        divisions.iter().flat_map(with_another).collect()
    })
}
