//! Drops what nothing uses, and numbers the rest anew.

use wattle_ir::visit::walk_mut;
use wattle_ir::{Expr, ExprId, Kernel, LocalId, ParamId, Place, SharedId, SharedLen, SlotId, Stmt};

use crate::case::Case;

/// What is used, of each table.
struct Used {
    exprs: Vec<bool>,
    slots: Vec<bool>,
    params: Vec<bool>,
    shared: Vec<bool>,
    locals: Vec<bool>,
}

fn mark(table: &mut [bool], index: usize) {
    if let Some(used) = table.get_mut(index) {
        *used = true;
    }
}

impl Used {
    fn place(&mut self, place: Place) {
        match place {
            Place::Param(id) => mark(&mut self.params, id.index()),
            Place::Shared(id) => mark(&mut self.shared, id.index()),
            Place::Local(id) => mark(&mut self.locals, id.index()),
        }
    }

    fn of(kernel: &Kernel) -> Used {
        let mut used = Used {
            exprs: vec![false; kernel.exprs.len()],
            slots: vec![false; kernel.slots.len()],
            params: vec![false; kernel.params.len()],
            shared: vec![false; kernel.shared.len()],
            locals: vec![false; kernel.locals.len()],
        };
        kernel.walk(&mut |stmt| {
            stmt.operands().for_each(|id| mark(&mut used.exprs, id.index()));
            let parts = stmt.parts();
            parts.slot.into_iter().for_each(|slot| mark(&mut used.slots, slot.index()));
            parts.array.into_iter().for_each(|array| mark(&mut used.locals, array.index()));
            parts.place.into_iter().for_each(|place| used.place(*place));
        });
        // Expressions refer to earlier ones only.
        for (number, expr) in kernel.exprs.iter().enumerate().rev() {
            if used.exprs[number] {
                expr.operands().for_each(|id| mark(&mut used.exprs, id.index()));
                let parts = expr.parts();
                parts.slot.into_iter().for_each(|slot| mark(&mut used.slots, slot.index()));
                parts.param.into_iter().for_each(|param| mark(&mut used.params, param.index()));
                parts.place.into_iter().for_each(|place| used.place(*place));
            }
        }
        used
    }
}

/// Which expressions statements use, directly or through others.
pub(super) fn used_expressions(kernel: &Kernel) -> Vec<bool> {
    Used::of(kernel).exprs
}

/// For each number its new one.
fn numbers(used: &[bool]) -> Vec<u32> {
    let count = used.iter().scan(0, |next, &used| {
        let number = *next;
        *next += used as u32;
        Some(number)
    });
    count.collect()
}

fn keep<T>(table: &mut Vec<T>, used: &[bool]) {
    let mut used = used.iter();
    table.retain(|_| used.next().copied().unwrap_or(true));
}

struct Renumber {
    exprs: Vec<u32>,
    slots: Vec<u32>,
    params: Vec<u32>,
    shared: Vec<u32>,
    locals: Vec<u32>,
}

fn new(table: &[u32], index: usize) -> u32 {
    table.get(index).copied().unwrap_or(u32::MAX)
}

impl Renumber {
    fn place(&self, place: &mut Place) {
        *place = match *place {
            Place::Param(id) => Place::Param(ParamId(new(&self.params, id.index()))),
            Place::Shared(id) => Place::Shared(SharedId(new(&self.shared, id.index()))),
            Place::Local(id) => Place::Local(LocalId(new(&self.locals, id.index()))),
        };
    }

    fn expr(&self, expr: &mut Expr) {
        expr.operands_mut().for_each(|id| *id = ExprId(new(&self.exprs, id.index())));
        let parts = expr.parts_mut();
        parts.slot.into_iter().for_each(|slot| *slot = SlotId(new(&self.slots, slot.index())));
        parts.param.into_iter().for_each(|param| *param = ParamId(new(&self.params, param.index())));
        parts.place.into_iter().for_each(|place| self.place(place));
    }

    fn stmt(&self, stmt: &mut Stmt) {
        stmt.operands_mut().for_each(|id| *id = ExprId(new(&self.exprs, id.index())));
        let parts = stmt.parts_mut();
        parts.slot.into_iter().for_each(|slot| *slot = SlotId(new(&self.slots, slot.index())));
        parts.array.into_iter().for_each(|array| *array = LocalId(new(&self.locals, array.index())));
        parts.place.into_iter().for_each(|place| self.place(place));
    }
}

/// The case without what nothing uses; with `arguments`, also without the parameters and the shared arrays that nothing
/// uses.
pub(super) fn tidied(case: &Case, arguments: bool) -> Case {
    let mut case = case.clone();
    let mut used = Used::of(&case.kernel);
    if !arguments {
        used.params.fill(true);
        used.shared.fill(true);
    }
    let renumber = Renumber {
        exprs: numbers(&used.exprs),
        slots: numbers(&used.slots),
        params: numbers(&used.params),
        shared: numbers(&used.shared),
        locals: numbers(&used.locals),
    };
    let kernel = &mut case.kernel;
    keep(&mut kernel.exprs, &used.exprs);
    keep(&mut kernel.slots, &used.slots);
    keep(&mut kernel.params, &used.params);
    keep(&mut case.arguments, &used.params);
    keep(&mut kernel.shared, &used.shared);
    keep(&mut kernel.locals, &used.locals);
    kernel.exprs.iter_mut().for_each(|expr| renumber.expr(expr));
    walk_mut(&mut kernel.body, &mut |stmt| renumber.stmt(stmt));
    if kernel.shared.iter().all(|array| array.len != SharedLen::AtLaunch) {
        case.shared_len = 0;
    }
    case
}
