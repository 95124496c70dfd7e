//! Runs of checked accesses under one branch: where no check fails, all accesses follow each other; where one does, the
//! run stands once more behind the kernel's end, each access behind its own check, so that faults come as they are
//! written.
//!
//! Nothing shows of when a check is made: its condition is computed from values that nothing in the run sets.

use wattle_ir::{Check, ExprId, Place, SlotId, Stmt};

use crate::Lacking;
use crate::assemble::{Class, Value, ins};
use crate::emit::Emitter;

/// The most statements of a run.
const MOST: usize = 64;

/// Whether a statement is an access that orders nothing, or an assignment.
fn is_plain(stmt: &Stmt) -> bool {
    let parts = stmt.parts();
    matches!(stmt, Stmt::Assign { .. }) || parts.place.is_some() && parts.order.is_none()
}

impl Emitter<'_> {
    /// How many statements the block begins with that are a run: at least two checks, the last statement one of them.
    pub(crate) fn run(&self, block: &[Stmt]) -> Option<usize> {
        let (mut set, mut checks, mut length) = (Vec::<SlotId>::new(), 0, 0);
        block.first()?.check()?;
        for (number, stmt) in block.iter().enumerate().take(MOST) {
            match stmt.check() {
                Some(check) => {
                    let reads = |id| self.reads_any(id, &set);
                    if !check.within.iter().all(is_plain)
                        || reads(check.condition)
                        || self.constant(check.condition).is_some()
                        || self.hoisted.contains(&check.condition)
                    {
                        break;
                    }
                    set.extend(check.within.iter().filter_map(Stmt::assigned));
                    (checks, length) = (checks + 1, number + 1);
                }
                None if is_plain(stmt) => set.extend(stmt.assigned()),
                None => break,
            }
        }
        (checks > 1).then_some(length)
    }

    fn reads_any(&self, id: ExprId, slots: &[SlotId]) -> bool {
        let (mut seen, mut found) = (rustc_hash::FxHashSet::default(), false);
        self.kernel.walk_expr(id, &mut |id, expr| {
            found |= expr.parts().slot.is_some_and(|slot| slots.contains(slot));
            !found && seen.insert(id)
        });
        found
    }

    /// Emits a run of checked accesses ([`Emitter::run`]) under one branch, and the run with its checks behind the end.
    pub(crate) fn together(&mut self, run: &[Stmt]) -> Result<(), Lacking> {
        let (slow, end) = (self.asm.target(), self.asm.target());
        let mut fails = None;
        let (mut aligned, mut asked) = (Vec::new(), Vec::new());
        for check in run.iter().filter_map(Stmt::check) {
            if !asked.contains(&(check.condition, check.fails_if)) {
                asked.push((check.condition, check.fails_if));
                let condition = self.value(check.condition);
                let failed =
                    if check.fails_if { condition } else { self.op("not.pred", Class::Predicate, &[condition]) };
                fails = Some(self.either(fails, failed));
            }
            for apart in self.apart_in(&check) {
                // A view is asked once.
                if !self.is_aligned && !aligned.contains(&apart) {
                    aligned.push(apart);
                    fails = Some(self.either(fails, apart));
                }
            }
        }
        if let Some(fails) = fails {
            ins!(self, "@{fails} bra {slow}");
        }
        for stmt in run {
            let Some(check) = stmt.check() else {
                self.stmt(stmt)?;
                continue;
            };
            let outside = std::mem::replace(&mut self.is_aligned, true);
            let made = self.block(check.within);
            self.is_aligned = outside;
            made?;
        }
        self.asm.place(end);
        let mut made = Ok(());
        self.apart(slow, end, |emitter| made = run.iter().try_for_each(|stmt| emitter.stmt(stmt)));
        self.known.clear();
        made
    }

    /// Whether one of two conditions holds, or the only one.
    pub(crate) fn either(&mut self, before: Option<Value>, condition: Value) -> Value {
        match before {
            Some(before) => self.op("or.pred", Class::Predicate, &[before, condition]),
            None => condition,
        }
    }

    /// Whether accesses to several elements behind the check are to views that begin where they are not aligned.
    fn apart_in(&mut self, check: &Check<'_>) -> Vec<Value> {
        let mut apart = Vec::new();
        for stmt in check.within {
            if let (Some(Place::Param(id)), Some(([index], lanes @ 2..))) = (stmt.place(), stmt.accessed(self.kernel)) {
                apart.extend(self.lanes_apart(id, *index, lanes as usize));
            }
        }
        apart
    }
}
