//! Statements: which part of the generator each kind goes to.

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Scope as SpirvScope};
use wattle_ir::visit::Jump;
use wattle_ir::{DivOp, ExprId, SlotId, Stmt, Type, illegal};

use crate::Lacking;
use crate::emit::Emitter;

impl Emitter<'_> {
    /// Emits a statement.
    ///
    /// # Errors
    /// The target lacks what the statement needs.
    pub(crate) fn stmt(&mut self, stmt: &Stmt) -> Result<(), Lacking> {
        if let Some(site) = stmt.site() {
            self.asm.line(site.file, site.line, site.column);
        }
        match stmt {
            Stmt::Assign { slot, value } => {
                let value = self.value(*value);
                self.set_slot(*slot, value);
            }
            Stmt::Divide { dst, op, left, right, .. } => self.divide(*dst, *op, *left, *right),
            Stmt::Load { dst, place, index, .. } => self.load(*dst, *place, index),
            Stmt::Store { place, index, value, .. } => self.store(*place, index, *value),
            Stmt::AtomicLoad { dst, place, index, order, scope, site } => {
                let label = self.lowering.atomic_read(*order, *scope, place.memory_class());
                self.atomic_load(*dst, *place, index, label.map_err(|_| self.no_system_scope(*site))?);
            }
            Stmt::AtomicStore { place, index, value, order, scope, site } => {
                let label = self.lowering.atomic_write(*order, *scope, place.memory_class());
                self.atomic_store(*place, index, *value, label.map_err(|_| self.no_system_scope(*site))?);
            }
            Stmt::AtomicUpdate { dst, op, place, index, operand, order, scope, site } => {
                let labels = self.lowering.update(*order, *scope, place.memory_class());
                self.atomic_update(
                    *dst,
                    *op,
                    *place,
                    index,
                    *operand,
                    labels.map_err(|_| self.no_system_scope(*site))?,
                );
            }
            Stmt::CompareExchange { dst, place, index, expected, desired, order, scope, site } => {
                let labels = self.lowering.update(*order, *scope, place.memory_class());
                let labels = labels.map_err(|_| self.no_system_scope(*site))?;
                self.compare_exchange(*dst, *place, index, [*expected, *desired], labels);
            }
            Stmt::Fence { order, scope, site } => self.fence(*order, *scope, *site)?,
            Stmt::Barrier { .. } => self.barrier(),
            Stmt::Warp { dst, op, value, operand, .. } => self.warp(*dst, *op, *value, *operand),
            Stmt::WarpBarrier { .. } => self.warp_barrier(),
            Stmt::If { condition, then, otherwise } => self.if_else(*condition, then, otherwise)?,
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
            Stmt::Clock { dst, .. } => self.clock(*dst),
            // Legal kernels have none of them.
            Stmt::Assert { .. } | Stmt::Print { .. } | Stmt::LoadLanes { .. } | Stmt::StoreLanes { .. } => {
                illegal(stmt)
            }
        }
        // A slot may have another value in the next statement. In the first one of a side of a branch it has that which
        // the condition has seen.
        self.known.clear();
        Ok(())
    }

    /// Reads the clock, at the widest scope that the device has.
    fn clock(&mut self, dst: SlotId) {
        let scope = if self.features.device_clock { SpirvScope::Device } else { SpirvScope::Subgroup };
        let (of, scope) = (self.asm.ty(Type::U64), self.asm.word(scope as u32));
        let ticks = self.asm.op(Op::ReadClockKHR, of, vec![Operand::IdScope(scope)]);
        self.set_slot(dst, ticks);
    }

    /// Divides by what is not zero.
    fn divide(&mut self, dst: SlotId, op: DivOp, left: ExprId, right: ExprId) {
        let ty = self.types[left.index()];
        let (of, x, y) = (self.asm.ty(ty), self.value(left), self.value(right));
        let mut two = |op, x, y| self.asm.of(op, of, &[x, y]);
        let result = match (op, ty.is_signed()) {
            (DivOp::Div, true) => two(Op::SDiv, x, y),
            (DivOp::Div, false) => two(Op::UDiv, x, y),
            // "For the OpSRem and OpSMod instructions, if either operand is negative the result is undefined" (Vulkan
            // 1.3, "Precision and Operation of SPIR-V Instructions"); of a quotient it is not.
            (DivOp::Rem, true) => {
                let quotient = two(Op::SDiv, x, y);
                let whole = two(Op::IMul, quotient, y);
                two(Op::ISub, x, whole)
            }
            (DivOp::Rem, false) => two(Op::UMod, x, y),
        };
        self.set_slot(dst, result);
    }
}
