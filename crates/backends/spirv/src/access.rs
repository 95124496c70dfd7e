//! Plain accesses to memory. The bounds checks stand in the kernel already ([`wattle_ir::legalize()`]).

use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass, Word};
use wattle_ir::{ExprId, LaunchValue, Packed, ParamKind, Place, SlotId, Stmt, Type};

use crate::emit::Emitter;
use crate::interface::{self, Member, Variable};
use crate::layout::ArgumentWord;

impl Emitter<'_> {
    pub(crate) fn index(&mut self, index: &[ExprId]) -> Vec<Word> {
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
                let stride = self.entry.launch_value(LaunchValue::ViewStride(first, d as u8));
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
        // Each number of an element has an array of its own in block shared memory.
        let is_apart = |place: Place| matches!(place, Place::Shared(_));
        let loads = kernel.packed_loads(block).filter(|loads| !is_apart(loads.place));
        let stores = kernel.packed_stores(block).filter(|stores| !is_apart(stores.place));
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

    pub(crate) fn load(&mut self, dst: SlotId, place: Place, index: &[ExprId]) {
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

    pub(crate) fn store(&mut self, place: Place, index: &[ExprId], value: ExprId) {
        let (stored, index) = (self.value(value), self.index(index));
        let (at, ty) = self.pointer(place, &index, 1);
        let value = self.bits(self.kernel.element_of(place), ty, stored);
        match place {
            Place::Local(_) => self.asm.act(Op::Store, [at, value].map(Operand::IdRef).to_vec()),
            Place::Param(_) | Place::Shared(_) => interface::store(&mut self.asm, at, value),
        }
    }
}
