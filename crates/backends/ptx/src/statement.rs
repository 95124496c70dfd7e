//! Statements: which part of the generator each kind goes to.

use wattle_ir::visit::Jump;
use wattle_ir::{DivOp, ExprId, SlotId, Stmt, illegal};

use crate::Lacking;
use crate::assemble::{Class, ins};
use crate::emit::Emitter;
use crate::expr::int_type;

impl Emitter<'_> {
    /// Emits a statement.
    ///
    /// # Errors
    /// The target lacks what the statement needs.
    pub(crate) fn stmt(&mut self, stmt: &Stmt) -> Result<(), Lacking> {
        if let Some(site) = stmt.site() {
            self.asm.site(site);
        }
        match stmt {
            Stmt::Assign { slot, value } => {
                let value = self.value(*value);
                self.set_slot(*slot, value);
            }
            Stmt::Divide { dst, op, left, right, .. } => self.divide(*dst, *op, *left, *right),
            Stmt::Load { dst, place, index, .. } => self.load(*dst, *place, index),
            Stmt::LoadLanes { dst, place, index, .. } => self.load_lanes(*dst, *place, *index),
            Stmt::Store { place, index, value, .. } => self.store(*place, index, *value),
            Stmt::StoreLanes { place, index, values, .. } => self.store_lanes(*place, *index, values),
            Stmt::AtomicLoad { dst, place, index, order, scope, site } => {
                let label = self.lowering.atomic_read(*order, *scope, place.memory_class());
                self.atomic_load(*dst, *place, index, label.map_err(|_| self.no_scope(*site))?);
            }
            Stmt::AtomicStore { place, index, value, order, scope, site } => {
                let label = self.lowering.atomic_write(*order, *scope, place.memory_class());
                self.atomic_store(*place, index, *value, label.map_err(|_| self.no_scope(*site))?);
            }
            Stmt::AtomicUpdate { dst, op, place, index, operand, order, scope, site } => {
                let labels = self.lowering.update(*order, *scope, place.memory_class());
                self.atomic_update(*dst, *op, *place, index, *operand, labels.map_err(|_| self.no_scope(*site))?);
            }
            Stmt::CompareExchange { dst, place, index, expected, desired, order, scope, site } => {
                let labels = self.lowering.update(*order, *scope, place.memory_class());
                let labels = labels.map_err(|_| self.no_scope(*site))?;
                self.compare_exchange(*dst, *place, index, [*expected, *desired], labels);
            }
            Stmt::Fence { order, scope, site } => self.fence(*order, *scope, *site)?,
            Stmt::Barrier { .. } => self.barrier(),
            Stmt::Warp { dst, op, value, operand, .. } => self.warp(*dst, *op, *value, *operand),
            Stmt::WarpBarrier { .. } => self.warp_barrier(),
            Stmt::If { condition, then, otherwise } => match stmt.check() {
                Some(check) => self.check(&check)?,
                None => self.if_else(*condition, then, otherwise)?,
            },
            Stmt::Loop { label, body, continuing, bounded, site } => {
                self.loop_over(*label, body, continuing, *bounded, *site)?;
            }
            Stmt::Block { label, body } => self.labelled(*label, body)?,
            Stmt::Break(label) => self.exit(Jump::Break(*label)),
            Stmt::Continue(label) => self.exit(Jump::Continue(*label)),
            Stmt::Return => self.exit(Jump::Return),
            Stmt::Fault { fault, index, site } => {
                let index = self.index(index);
                self.fault(*site, fault.clone(), &index);
            }
            // The counter of the multiprocessor's cycles; a thread that reads it again reads it anew (10.25
            // "%clock64").
            Stmt::Clock { dst, .. } => {
                let ticks = self.asm.register(Class::Long);
                ins!(self, "mov.u64 {ticks}, %clock64");
                self.set_slot(*dst, ticks);
            }
            // Legal kernels have faults and records instead.
            Stmt::Assert { .. } | Stmt::Print { .. } => illegal(stmt),
        }
        // A slot may have another value in the next statement. In the first one of a side of a branch it has that which
        // the condition has seen.
        self.known.clear();
        Ok(())
    }

    /// Divides by what is not zero.
    fn divide(&mut self, dst: SlotId, op: DivOp, left: ExprId, right: ExprId) {
        let ty = self.types[left.index()];
        let (x, y) = (self.value(left), self.value(right));
        let name = if op == DivOp::Div { "div" } else { "rem" };
        let result = self.op(&format!("{name}.{}", int_type(ty)), Class::of(ty), &[x, y]);
        let result = self.wrapped(ty, result);
        self.set_slot(dst, result);
    }
}
