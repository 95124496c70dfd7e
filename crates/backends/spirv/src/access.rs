//! Plain accesses to memory, and the bounds check of every index.

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Scope as SpirvScope, StorageClass, Word};
use wattle_ir::{DivOp, ExprId, ParamKind, Place, SlotId, Stmt, Type};

use crate::Lacking;
use crate::emit::Emitter;
use crate::interface::{self, Variable};
use crate::layout::ArgumentWord;

impl Emitter<'_> {
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
            Stmt::AtomicLoad { .. }
            | Stmt::AtomicStore { .. }
            | Stmt::AtomicUpdate { .. }
            | Stmt::CompareExchange { .. } => self.atomic(stmt)?,
            Stmt::Fence { order, scope, site } => self.fence(*order, *scope, *site)?,
            Stmt::Barrier { .. } => self.barrier(),
            Stmt::Warp { dst, op, value, operand, .. } => self.warp(*dst, *op, *value, *operand),
            Stmt::WarpBarrier { .. } => self.warp_barrier(),
            Stmt::If { condition, then, otherwise } => self.if_else(*condition, then, otherwise)?,
            Stmt::Loop { label, body, continuing, bounded, site } => {
                self.loop_over(*label, body, continuing, *bounded, *site)?;
            }
            Stmt::Block { label, body } => self.labelled(*label, body)?,
            Stmt::Break(label) => self.break_from(*label),
            Stmt::Continue(label) => self.continue_at(*label),
            Stmt::Return => self.end_thread(),
            Stmt::Fault { fault, index, site } => {
                let index = self.index(index);
                self.fault(*site, fault.clone(), &index);
            }
            Stmt::Clock { dst, .. } => self.clock(*dst),
            // Legal kernels have none of them.
            Stmt::Assert { .. } | Stmt::Print { .. } | Stmt::LoadLanes { .. } => {}
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
        let op = match (op, ty.is_signed()) {
            (DivOp::Div, true) => Op::SDiv,
            (DivOp::Div, false) => Op::UDiv,
            (DivOp::Rem, true) => Op::SRem,
            (DivOp::Rem, false) => Op::UMod,
        };
        let result = self.asm.of(op, of, &[x, y]);
        self.set_slot(dst, result);
    }

    fn index(&mut self, index: &[ExprId]) -> Vec<Word> {
        index.iter().map(|id| self.value(*id)).collect()
    }

    /// A pointer to an element.
    pub(crate) fn element(&mut self, place: Place, index: &[ExprId]) -> Word {
        let index = self.index(index);
        self.pointer(place, &index)
    }

    pub(crate) fn variable(&self, place: Place) -> Variable {
        match place {
            Place::Shared(id) => self.interface.shared[id.index()],
            Place::Local(id) => Variable { id: self.locals[id.index()], class: StorageClass::Function },
            Place::Param(id) => match self.interface.views.get(&id) {
                Some(view) => *view,
                // The verifier has seen that it is a view.
                None => Variable { id: self.entry.block, class: StorageClass::StorageBuffer },
            },
        }
    }

    /// A pointer to an element that is within bounds.
    fn pointer(&mut self, place: Place, index: &[Word]) -> Word {
        let variable = self.variable(place);
        let (word, of) = (self.asm.u32(), self.asm.ty(self.kernel.element_of(place)));
        let pointer = self.asm.pointer(variable.class, of);
        let Place::Param(param) = place else {
            return self.asm.of(Op::AccessChain, pointer, &[variable.id, index[0]]);
        };
        let mut at = self.entry.word(ArgumentWord::Offset(param));
        for (d, &index) in index.iter().enumerate() {
            let step = if d + 1 == self.rank_of(place) {
                index
            } else {
                let stride = self.entry.word(ArgumentWord::Stride(param, d as u8));
                self.asm.of(Op::IMul, word, &[index, stride])
            };
            at = self.asm.of(Op::IAdd, word, &[at, step]);
        }
        let zero = self.asm.word(0);
        self.asm.of(Op::AccessChain, pointer, &[variable.id, zero, at])
    }

    fn rank_of(&self, place: Place) -> usize {
        match place {
            Place::Param(id) => match self.kernel.params[id.index()].kind {
                ParamKind::View { rank, .. } => rank,
                ParamKind::Scalar(_) => 1,
            },
            _ => 1,
        }
    }

    fn load(&mut self, dst: SlotId, place: Place, index: &[ExprId]) {
        let (at, of) = (self.element(place, index), self.asm.ty(self.kernel.element_of(place)));
        let value = match place {
            Place::Local(_) => self.asm.of(Op::Load, of, &[at]),
            Place::Param(_) | Place::Shared(_) => interface::load(&mut self.asm, of, at),
        };
        self.set_slot(dst, value);
    }

    fn store(&mut self, place: Place, index: &[ExprId], value: ExprId) {
        let (value, at) = (self.value(value), self.element(place, index));
        match place {
            Place::Local(_) => self.asm.act(Op::Store, [at, value].map(Operand::IdRef).to_vec()),
            Place::Param(_) | Place::Shared(_) => interface::store(&mut self.asm, at, value),
        }
    }
}
