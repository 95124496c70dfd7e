//! Plain accesses to memory. The bounds checks stand in the kernel already ([`wattle_ir::legalize()`]).

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Scope as SpirvScope, StorageClass, Word};
use wattle_ir::visit::Jump;
use wattle_ir::{DivOp, ExprId, Packed, ParamKind, Place, SlotId, Stmt, Type, illegal};

use crate::Lacking;
use crate::emit::Emitter;
use crate::interface::{self, Member, Variable};
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

    fn index(&mut self, index: &[ExprId]) -> Vec<Word> {
        index.iter().map(|id| self.value(*id)).collect()
    }

    /// A pointer to an element.
    pub(crate) fn element(&mut self, place: Place, index: &[ExprId]) -> Word {
        let index = self.index(index);
        self.pointer(place, &index, 1).0
    }

    pub(crate) fn variable(&self, place: Place) -> Variable {
        match place {
            Place::Shared(id) => self.interface.shared[id.index()],
            Place::Local(id) => Variable { id: self.locals[id.index()], class: StorageClass::Function },
            Place::Param(id) => match self.interface.views.get(&self.kernel.first_of(id)) {
                Some(view) => *view,
                // The verifier has seen that it is a view.
                None => Variable { id: self.entry.block, class: StorageClass::StorageBuffer },
            },
        }
    }

    /// A pointer to an element that is within bounds, and the type of what it points to. `lanes` is how many numbers of
    /// the element that is, from the place's on.
    fn pointer(&mut self, place: Place, index: &[Word], lanes: u32) -> (Word, Type) {
        let variable = self.variable(place);
        let (word, ty) = (self.asm.u32(), self.kernel.element_of(place));
        let Place::Param(param) = place else {
            let of = self.asm.ty(ty);
            let pointer = self.asm.pointer(variable.class, of);
            return (self.asm.of(Op::AccessChain, pointer, &[variable.id, index[0]]), ty);
        };
        let first = self.kernel.first_of(param);
        let mut at = self.entry.word(ArgumentWord::Offset(first));
        for (d, &index) in index.iter().enumerate() {
            let step = if d + 1 == self.rank_of(place) {
                index
            } else {
                let stride = self.entry.word(ArgumentWord::Stride(first, d as u8));
                self.asm.of(Op::IMul, word, &[index, stride])
            };
            at = self.asm.of(Op::IAdd, word, &[at, step]);
        }
        let mut chain = vec![variable.id, self.asm.word(0), at];
        let member = self.interface.members.get(&param).copied();
        if let Some(Member { number, lane, .. }) = member {
            chain.push(self.asm.word(number));
            chain.extend(lane.filter(|_| lanes == 1).map(|lane| self.asm.word(lane)));
        }
        let ty = member.map_or(ty, |member| member.ty);
        let of = self.asm.ty(ty);
        let of = if lanes == 1 { of } else { self.asm.vector(of, lanes) };
        let pointer = self.asm.pointer(variable.class, of);
        (self.asm.of(Op::AccessChain, pointer, &chain), ty)
    }

    /// Emits the accesses with which the block begins as one, if they are to neighbouring numbers of an element;
    /// returns how many they are.
    pub(crate) fn packed(&mut self, block: &[Stmt]) -> Option<usize> {
        let kernel = self.kernel;
        let (loads, stores) = (kernel.packed_loads(block), kernel.packed_stores(block));
        let is_packed = loads.is_some() || stores.is_some();
        if let Some(site) = block.first().and_then(Stmt::site).filter(|_| is_packed) {
            self.asm.line(site.file, site.line, site.column);
        }
        let count = if let Some(Packed { place, index, values, .. }) = loads {
            let index = self.index(index);
            let (at, ty) = self.pointer(place, &index, values.len() as u32);
            let of = self.asm.ty(ty);
            let vector = self.asm.vector(of, values.len() as u32);
            let all = interface::load(&mut self.asm, vector, at);
            for (&slot, lane) in values.iter().zip(0..) {
                let operands = vec![Operand::IdRef(all), Operand::LiteralBit32(lane)];
                let value = self.asm.op(Op::CompositeExtract, of, operands);
                let value = self.bits(ty, kernel.slots[slot.index()].ty, value);
                self.set_slot(slot, value);
            }
            values.len()
        } else if let Some(Packed { place, index, values, .. }) = stores {
            let index = self.index(index);
            let (at, ty) = self.pointer(place, &index, values.len() as u32);
            let parts = values.iter().map(|&id| {
                let value = self.value(id);
                self.bits(self.types[id.index()], ty, value)
            });
            let parts: Vec<_> = parts.collect();
            let of = self.asm.ty(ty);
            let vector = self.asm.vector(of, parts.len() as u32);
            let all = self.asm.of(Op::CompositeConstruct, vector, &parts);
            interface::store(&mut self.asm, at, all);
            values.len()
        } else {
            return None;
        };
        self.known.clear();
        Some(count)
    }

    fn rank_of(&self, place: Place) -> usize {
        match place {
            Place::Param(id) => match self.kernel.params[id.index()].kind {
                ParamKind::View { rank, .. } => rank,
                ParamKind::Scalar(_) => 1,
            },
            Place::Shared(_) | Place::Local(_) => 1,
        }
    }

    fn load(&mut self, dst: SlotId, place: Place, index: &[ExprId]) {
        let index = self.index(index);
        let (at, ty) = self.pointer(place, &index, 1);
        let of = self.asm.ty(ty);
        let value = match place {
            Place::Local(_) => self.asm.of(Op::Load, of, &[at]),
            Place::Param(_) | Place::Shared(_) => interface::load(&mut self.asm, of, at),
        };
        let value = self.bits(ty, self.kernel.element_of(place), value);
        self.set_slot(dst, value);
    }

    fn store(&mut self, place: Place, index: &[ExprId], value: ExprId) {
        let (stored, index) = (self.value(value), self.index(index));
        let (at, ty) = self.pointer(place, &index, 1);
        let value = self.bits(self.kernel.element_of(place), ty, stored);
        match place {
            Place::Local(_) => self.asm.act(Op::Store, [at, value].map(Operand::IdRef).to_vec()),
            Place::Param(_) | Place::Shared(_) => interface::store(&mut self.asm, at, value),
        }
    }
}
