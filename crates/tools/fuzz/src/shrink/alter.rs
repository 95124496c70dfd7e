//! What is simpler than a statement, an expression, an argument.

use wattle_ir::visit::{self, Jump, StmtOrderMut, walk_mut};
use wattle_ir::{Const, Expr, ExprId, Kernel, Label, Stmt, Type, eval};
use wattle_memory::{ReadOrder, UpdateOrder, WriteOrder};

use crate::case::{ArgumentValue, Case, ViewValue};

/// A part of a launch's shape.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Blocks,
    Threads,
}

impl Part {
    pub(super) fn of(self, case: &Case) -> &[u32] {
        match self {
            Part::Blocks => &case.blocks,
            Part::Threads => &case.threads,
        }
    }

    pub(super) fn of_mut(self, case: &mut Case) -> &mut [u32] {
        match self {
            Part::Blocks => &mut case.blocks,
            Part::Threads => &mut case.threads,
        }
    }
}

/// What can stand in place of a statement, the smallest first.
pub(super) fn simpler_statements(stmt: &Stmt) -> Vec<Vec<Stmt>> {
    let mut all = unwrapped(stmt);
    let mut relaxed = stmt.clone();
    match relaxed.parts_mut().order {
        Some(StmtOrderMut::Read(order)) => *order = ReadOrder::Relaxed,
        Some(StmtOrderMut::Write(order)) => *order = WriteOrder::Relaxed,
        Some(StmtOrderMut::Update(order)) => *order = UpdateOrder::Relaxed,
        Some(StmtOrderMut::Fence(_)) | None => {}
    }
    if relaxed != *stmt {
        all.push(vec![relaxed]);
    }
    all
}

/// What can stand in place of a statement that has others within.
fn unwrapped(stmt: &Stmt) -> Vec<Vec<Stmt>> {
    match stmt {
        Stmt::If { then, otherwise, condition } => {
            let mut all = vec![then.clone(), otherwise.clone()];
            if !otherwise.is_empty() {
                let condition = *condition;
                all.push(vec![Stmt::If { condition, then: then.clone(), otherwise: Vec::new() }]);
            }
            all
        }
        Stmt::Block { label, body } if !has_jump(body, *label) => vec![body.clone()],
        Stmt::Loop { label, body, continuing, .. } => {
            let mut once = body.clone();
            walk_mut(&mut once, &mut |stmt| {
                if *stmt == Stmt::Continue(*label) {
                    *stmt = Stmt::Break(*label);
                }
            });
            if has_jump(&once, *label) {
                once = vec![Stmt::Block { label: *label, body: once }];
            }
            let all = once.iter().chain(continuing).cloned().collect();
            if continuing.is_empty() { vec![once] } else { vec![once, all] }
        }
        _ => Vec::new(),
    }
}

fn has_jump(block: &[Stmt], label: Label) -> bool {
    let mut found = false;
    visit::walk(block, &mut |stmt| {
        found |= matches!(stmt.jump(), Some(Jump::Break(to) | Jump::Continue(to)) if to == label);
    });
    found
}

/// 0 and 1 of a type, and a few more.
fn constants(ty: Type) -> Vec<Expr> {
    [0, eval::one(ty)].map(|raw| Expr::Const(Const { ty, raw })).to_vec()
}

/// Simpler expressions of the same type: constants, if it is none, and its parts.
fn simpler(kernel: &Kernel, expr: &Expr) -> Vec<Expr> {
    let types = kernel.expr_types();
    let Ok(ty) = kernel.type_of(expr, &types) else {
        return Vec::new();
    };
    let mut all = constants(ty);
    if let Some(there) = all.iter().position(|constant| constant == expr) {
        all.truncate(there);
        return all;
    }
    let within = expr.operands().filter(|id| types.get(id.index()) == Some(&ty));
    all.extend(within.filter_map(|id| kernel.exprs.get(id.index()).copied()));
    all
}

/// What could stand in a place where the expression is used: something simpler, or what a slot was set to.
pub(super) fn simpler_operands(kernel: &Kernel, used: ExprId) -> Vec<Expr> {
    let Some(expr) = kernel.exprs.get(used.index()) else {
        return Vec::new();
    };
    let mut all = simpler(kernel, expr);
    all.extend(values_of(kernel, expr, kernel.exprs.len()));
    all
}

/// What could stand in place of the expression of that number.
pub(super) fn simpler_expressions(kernel: &Kernel, id: usize) -> Vec<Expr> {
    let Some(expr) = kernel.exprs.get(id) else {
        return Vec::new();
    };
    let mut all = simpler(kernel, expr);
    all.extend(values_of(kernel, expr, id));
    all
}

/// If the expression is a slot, what the slot is set to, where that reads no slot and stands before `end`.
fn values_of(kernel: &Kernel, expr: &Expr, end: usize) -> Vec<Expr> {
    fn reads_slot(kernel: &Kernel, expr: &Expr) -> bool {
        expr.parts().slot.is_some() || expr.operands().any(|id| reads_slot(kernel, &kernel.exprs[id.index()]))
    }
    let Expr::Slot(slot) = *expr else {
        return Vec::new();
    };
    let mut values = Vec::new();
    kernel.walk(&mut |stmt| {
        if let Stmt::Assign { slot: set, value } = *stmt
            && set == slot
            && value.index() < end
        {
            values.push(kernel.exprs[value.index()]);
        }
    });
    values.retain(|value| !reads_slot(kernel, value));
    values
}

/// The number of an expression, which is added if it is not there.
pub(super) fn add(kernel: &mut Kernel, expr: Expr) -> ExprId {
    let there = kernel.exprs.iter().position(|known| *known == expr);
    ExprId(there.unwrap_or_else(|| {
        kernel.exprs.push(expr);
        kernel.exprs.len() - 1
    }) as u32)
}

/// Simpler arguments of the same kind.
pub(super) fn simpler_arguments(argument: &ArgumentValue) -> Vec<ArgumentValue> {
    match argument {
        ArgumentValue::Scalar(value) if value.raw != 0 => {
            vec![ArgumentValue::Scalar(Const { ty: value.ty, raw: 0 })]
        }
        ArgumentValue::Scalar(_) => Vec::new(),
        ArgumentValue::View(view) => {
            let plain = ViewValue { before: Vec::new(), after: Vec::new(), ..view.clone() };
            let most = plain.buffer_extent().iter().product::<u32>() as usize;
            let contents = plain.contents.iter().copied().take(most).collect();
            let plain = ViewValue { contents, ..plain };
            let zeros = ViewValue { contents: Vec::new(), ..view.clone() };
            let nothing = ViewValue { contents: Vec::new(), ..plain.clone() };
            let fewer: Vec<u64> = {
                let used = view.contents.iter().rposition(|&raw| raw != 0).map_or(0, |last| last + 1);
                view.contents.iter().copied().take(used).collect()
            };
            let trimmed = ViewValue { contents: fewer, ..view.clone() };
            [nothing, zeros, plain, trimmed]
                .into_iter()
                .filter(|other| other != view)
                .map(ArgumentValue::View)
                .collect()
        }
    }
}
