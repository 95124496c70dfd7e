//! Finds the loops whose exit depends on values that threads read from shared memory.
//!
//! Other threads may prolong such a loop without limit, so a search of it needs a bound. The number of iterations of
//! any other loop depends on its thread's own values alone.

use std::collections::HashSet;

use wattle_ir::{Access, ExprId, Kernel, Label, ParamKind, Place, Stmt};

/// The loops, bounded or not, whose exit depends on memory that several threads use.
pub(crate) fn exits_on_memory(kernel: &Kernel) -> HashSet<Label> {
    let mut flow = Flow {
        kernel,
        slots: vec![false; kernel.slots.len()],
        places: HashSet::new(),
        labels: HashSet::new(),
        open: Vec::new(),
        changed: true,
    };
    while std::mem::take(&mut flow.changed) {
        flow.block(&kernel.body, false);
    }
    flow.labels
}

/// The values known to depend on shared memory.
struct Flow<'k> {
    kernel: &'k Kernel,
    slots: Vec<bool>,
    /// The arrays and views that one thread has to itself.
    places: HashSet<Place>,
    /// The loops and blocks that are left early, or repeated, because of it.
    labels: HashSet<Label>,
    /// The loops and blocks around the current statement, outermost first.
    open: Vec<Label>,
    changed: bool,
}

/// Whether an expression reads a marked slot.
pub(crate) fn depends_on(kernel: &Kernel, slots: &[bool], id: ExprId) -> bool {
    // A graph of shared expressions has more paths than expressions.
    let (mut seen, mut depends) = (HashSet::new(), false);
    kernel.walk_expr(id, &mut |id, expr| {
        depends |= expr.parts().slot.is_some_and(|slot| slots.get(slot.index()).copied().unwrap_or(true));
        !depends && seen.insert(id)
    });
    depends
}

impl Flow<'_> {
    fn depends(&self, id: ExprId) -> bool {
        depends_on(self.kernel, &self.slots, id)
    }

    fn any(&self, ids: &[ExprId]) -> bool {
        ids.iter().any(|&id| self.depends(id))
    }

    /// Whether the value of a place depends on what other threads do.
    fn is_shared(&self, place: Place) -> bool {
        let shared = match place {
            Place::Shared(_) => true,
            Place::Local(_) => false,
            Place::Param(id) => matches!(
                self.kernel.params.get(id.index()).map(|param| param.kind),
                Some(ParamKind::View { access: Access::Shared | Access::Atomic, .. })
            ),
        };
        shared || self.places.contains(&place)
    }

    fn set_slot(&mut self, slot: wattle_ir::SlotId, depends: bool) {
        if let Some(known) = self.slots.get_mut(slot.index()).filter(|known| depends && !**known) {
            *known = true;
            self.changed = true;
        }
    }

    fn set_place(&mut self, place: Place, depends: bool) {
        self.changed |= depends && self.places.insert(place);
    }

    /// Records a jump out of the loops and blocks from that one inwards, or to its beginning.
    fn leave(&mut self, from: usize, depends: bool) {
        for at in from..self.open.len() {
            let label = self.open[at];
            self.changed |= depends && self.labels.insert(label);
        }
    }

    fn block(&mut self, block: &[Stmt], depends: bool) {
        for stmt in block {
            self.stmt(stmt, depends);
        }
    }

    /// Analyses a statement; `depends` says whether it depends on shared memory that the statement is reached.
    fn stmt(&mut self, stmt: &Stmt, depends: bool) {
        match stmt {
            Stmt::Assign { slot, value } => self.set_slot(*slot, depends || self.depends(*value)),
            Stmt::Divide { dst, left, right, .. } => self.set_slot(*dst, depends || self.any(&[*left, *right])),
            Stmt::Load { dst, place, index, .. } => {
                self.set_slot(*dst, depends || self.is_shared(*place) || self.any(index));
            }
            Stmt::LoadLanes { dst, place, index, .. } => {
                self.set_place(Place::Local(*dst), depends || self.is_shared(*place) || self.depends(*index));
            }
            Stmt::Store { place, index, value, .. } => {
                self.set_place(*place, depends || self.any(index) || self.depends(*value));
            }
            Stmt::StoreLanes { place, index, values, .. } => {
                self.set_place(*place, depends || self.depends(*index) || self.any(values));
            }
            Stmt::AtomicLoad { dst, .. } | Stmt::AtomicUpdate { dst, .. } | Stmt::CompareExchange { dst, .. } => {
                self.set_slot(*dst, true);
            }
            // The lanes' values depend on what they have read.
            Stmt::Warp { dst, value, operand, .. } => {
                let depends = depends || self.depends(*value) || operand.is_some_and(|operand| self.depends(operand));
                self.set_slot(*dst, depends);
            }
            // Whoever waits for a time goes round as often as the clock lets it.
            Stmt::Clock { dst, .. } => self.set_slot(*dst, true),
            Stmt::AtomicStore { .. }
            | Stmt::Print { .. }
            | Stmt::Fence { .. }
            | Stmt::Barrier { .. }
            | Stmt::WarpBarrier { .. }
            | Stmt::Assert { .. }
            | Stmt::Fault { .. } => {}
            Stmt::If { condition, then, otherwise } => {
                let depends = depends || self.depends(*condition);
                self.block(then, depends);
                self.block(otherwise, depends);
            }
            Stmt::Loop { label, body, continuing, .. } => {
                self.open.push(*label);
                let depends = depends || self.labels.contains(label);
                self.block(body, depends);
                self.block(continuing, depends);
                self.open.pop();
            }
            Stmt::Block { label, body } => {
                self.open.push(*label);
                self.block(body, depends || self.labels.contains(label));
                self.open.pop();
            }
            Stmt::Break(label) | Stmt::Continue(label) => {
                let from = self.open.iter().position(|open| open == label).unwrap_or(0);
                self.leave(from, depends);
            }
            Stmt::Return => self.leave(0, depends),
        }
    }
}
