//! Plain accesses to memory, and the bounds check of every index.

use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass, Word};
use wattle_ir::fault::Fault;
use wattle_ir::{DivOp, ExprId, LocalId, ParamKind, Place, Site, SlotId, Stmt, Type};

use crate::Lacking;
use crate::emit::Emitter;
use crate::interface::{self, Variable};
use crate::layout::ArgumentWord;

impl Emitter<'_> {
    pub(crate) fn stmt(&mut self, stmt: &Stmt) -> Result<(), Lacking> {
        // A slot may have another value than in the statement before.
        self.known.clear();
        if let Some(site) = stmt.site() {
            self.asm.line(site.file, site.line, site.column);
        }
        match stmt {
            Stmt::Assign { slot, value } => {
                let value = self.value(*value);
                self.set_slot(*slot, value);
            }
            Stmt::Divide { dst, op, left, right, site } => self.divide(*dst, *op, *left, *right, *site),
            Stmt::Load { dst, place, index, site } => self.load(*dst, *place, index, *site),
            Stmt::LoadLanes { dst, place, index, site } => self.load_lanes(*dst, *place, *index, *site),
            Stmt::Store { place, index, value, site } => self.store(*place, index, *value, *site),
            Stmt::AtomicLoad { .. }
            | Stmt::AtomicStore { .. }
            | Stmt::AtomicUpdate { .. }
            | Stmt::CompareExchange { .. } => return self.atomic(stmt),
            Stmt::Fence { order, scope, site } => return self.fence(*order, *scope, *site),
            Stmt::Barrier { .. } => self.barrier(),
            Stmt::If { condition, then, otherwise } => return self.if_else(*condition, then, otherwise),
            Stmt::Loop { label, body, continuing, bounded, site } => {
                return self.loop_over(*label, body, continuing, *bounded, *site);
            }
            Stmt::Block { label, body } => return self.labelled(*label, body),
            Stmt::Break(label) => self.break_from(*label),
            Stmt::Continue(label) => self.continue_at(*label),
            Stmt::Return => self.end_thread(),
            Stmt::Assert { condition, message, site } => {
                let holds = self.value(*condition);
                let bool = self.asm.ty(Type::Bool);
                let fails = self.asm.of(Op::LogicalNot, bool, &[holds]);
                self.when(fails, |emitter| emitter.fault(*site, Fault::Assertion(message.clone()), &[]));
            }
        }
        Ok(())
    }

    fn divide(&mut self, dst: SlotId, op: DivOp, left: ExprId, right: ExprId, site: Site) {
        let ty = self.types[left.index()];
        let (of, bool) = (self.asm.ty(ty), self.asm.ty(Type::Bool));
        let (x, y) = (self.value(left), self.value(right));
        let (zero, one) = (self.asm.constant(ty, 0), self.asm.constant(ty, 1));
        let by_zero = self.compare(Op::IEqual, y, zero);
        self.when(by_zero, |emitter| emitter.fault(site, Fault::DivisionByZero, &[]));
        let (quotient, divisor) = if ty.is_signed() {
            // The least value divided by -1 overflows, which the instruction does not define: what is divided by -1 is
            // negated.
            let minus_one = self.asm.constant(ty, u64::MAX >> (64 - 8 * ty.size()));
            let negates = self.compare(Op::IEqual, y, minus_one);
            let unsafe_divisor = self.asm.of(Op::LogicalOr, bool, &[by_zero, negates]);
            let divisor = self.asm.of(Op::Select, of, &[unsafe_divisor, one, y]);
            let (quotient, negated) = (self.asm.of(Op::SDiv, of, &[x, divisor]), self.asm.of(Op::SNegate, of, &[x]));
            (self.asm.of(Op::Select, of, &[negates, negated, quotient]), y)
        } else {
            let divisor = self.asm.of(Op::Select, of, &[by_zero, one, y]);
            (self.asm.of(Op::UDiv, of, &[x, divisor]), y)
        };
        let result = match op {
            DivOp::Div => quotient,
            // Vulkan leaves the remainder of negative numbers open, but not their quotient.
            DivOp::Rem => {
                let whole = self.asm.of(Op::IMul, of, &[quotient, divisor]);
                self.asm.of(Op::ISub, of, &[x, whole])
            }
        };
        let result = self.asm.of(Op::Select, of, &[by_zero, zero, result]);
        self.set_slot(dst, result);
    }

    pub(crate) fn variable(&self, place: Place) -> Variable {
        match place {
            Place::Shared(id) => self.interface.shared[id.index()],
            Place::Local(id) => Variable {
                id: self.locals[id.index()],
                class: StorageClass::Function,
                stored: self.kernel.locals[id.index()].element,
            },
            Place::Param(id) => match self.interface.views.get(&id) {
                Some(view) => *view,
                // The verifier has seen that it is a view.
                None => Variable { id: self.entry.block, class: StorageClass::StorageBuffer, stored: Type::U32 },
            },
        }
    }

    /// Emits `within` for an index that is in bounds, and `beyond` for one that is not, which is a fault.
    pub(crate) fn checked(
        &mut self,
        place: Place,
        index: &[ExprId],
        lanes: u32,
        site: Site,
        within: impl FnOnce(&mut Self, &[Word]),
        beyond: impl FnOnce(&mut Self),
    ) {
        let constants: Vec<_> = index.iter().map(|id| self.constant_of(*id)).collect();
        let index: Vec<_> = index.iter().map(|id| self.value(*id)).collect();
        if let ([Some(constant)], Some(len)) = (constants.as_slice(), self.kernel.known_len(place))
            && u64::from(*constant) + u64::from(lanes) <= u64::from(len)
        {
            return within(self, &index);
        }
        let bool = self.asm.ty(Type::Bool);
        let mut fits = None;
        for (d, &at) in index.iter().enumerate() {
            let extent = self.extent(place, d as u8);
            let this = if lanes == 1 {
                self.compare(Op::ULessThan, at, extent)
            } else {
                // The last lane is in bounds if `at <= extent - lanes`, where the extent is at least `lanes`.
                let (word, lanes) = (self.asm.u32(), self.asm.word(lanes));
                let enough = self.compare(Op::UGreaterThanEqual, extent, lanes);
                let last = self.asm.of(Op::ISub, word, &[extent, lanes]);
                let below = self.compare(Op::ULessThanEqual, at, last);
                self.asm.of(Op::LogicalAnd, bool, &[enough, below])
            };
            fits = Some(match fits {
                None => this,
                Some(before) => self.asm.of(Op::LogicalAnd, bool, &[before, this]),
            });
        }
        let Some(fits) = fits else { return };
        let (yes, no, end) = (self.asm.id(), self.asm.id(), self.asm.id());
        let none = Operand::SelectionControl(rspirv::spirv::SelectionControl::NONE);
        self.asm.act(Op::SelectionMerge, vec![Operand::IdRef(end), none]);
        self.asm.terminate(Op::BranchConditional, [fits, yes, no].map(Operand::IdRef).to_vec());
        let known = self.known.clone();
        self.asm.label(yes);
        within(self, &index);
        self.asm.terminate(Op::Branch, vec![Operand::IdRef(end)]);
        self.known = known.clone();
        self.asm.label(no);
        let rank = index.len();
        let told = if lanes == 1 { index } else { vec![self.last_lane(index[0], lanes)] };
        self.fault(site, Fault::OutOfBounds { place, rank }, &told);
        beyond(self);
        self.asm.terminate(Op::Branch, vec![Operand::IdRef(end)]);
        self.known = known;
        self.asm.label(end);
    }

    /// Returns `index + lanes - 1`, or the greatest number of 32 bits if that is beyond it.
    fn last_lane(&mut self, index: Word, lanes: u32) -> Word {
        let (word, more) = (self.asm.u32(), self.asm.word(lanes - 1));
        let last = self.asm.of(Op::IAdd, word, &[index, more]);
        let wrapped = self.compare(Op::ULessThan, last, index);
        let greatest = self.asm.word(u32::MAX);
        self.asm.of(Op::Select, word, &[wrapped, greatest, last])
    }

    fn constant_of(&self, id: ExprId) -> Option<u32> {
        match self.kernel.exprs[id.index()] {
            wattle_ir::Expr::Const(constant) => Some(constant.raw as u32),
            _ => None,
        }
    }

    /// A pointer to an element that is within bounds.
    pub(crate) fn pointer(&mut self, place: Place, index: &[Word]) -> Word {
        let variable = self.variable(place);
        let (word, of) = (self.asm.u32(), self.asm.ty(variable.stored));
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

    fn read(&mut self, place: Place, index: &[Word]) -> Word {
        let (at, of) = (self.pointer(place, index), self.asm.ty(self.kernel.element_of(place)));
        match place {
            Place::Local(_) => self.asm.of(Op::Load, of, &[at]),
            _ => interface::load(&mut self.asm, of, at),
        }
    }

    fn load(&mut self, dst: SlotId, place: Place, index: &[ExprId], site: Site) {
        let ty = self.kernel.element_of(place);
        let zero = self.asm.constant(ty, 0);
        self.checked(
            place,
            index,
            1,
            site,
            |emitter, index| {
                let value = emitter.read(place, index);
                emitter.set_slot(dst, value);
            },
            |emitter| emitter.set_slot(dst, zero),
        );
    }

    fn load_lanes(&mut self, dst: LocalId, place: Place, index: ExprId, site: Site) {
        let (lanes, into) = (self.kernel.locals[dst.index()].len, Place::Local(dst));
        let (word, zero) = (self.asm.u32(), self.asm.constant(self.kernel.element_of(into), 0));
        let put = |emitter: &mut Self, lane: Word, value: Word| {
            let to = emitter.pointer(into, &[lane]);
            emitter.asm.act(Op::Store, [to, value].map(Operand::IdRef).to_vec());
        };
        self.checked(
            place,
            &[index],
            lanes,
            site,
            |emitter, index| {
                for lane in 0..lanes {
                    let lane = emitter.asm.word(lane);
                    let at = emitter.asm.of(Op::IAdd, word, &[index[0], lane]);
                    let value = emitter.read(place, &[at]);
                    put(emitter, lane, value);
                }
            },
            |emitter| {
                for lane in 0..lanes {
                    let lane = emitter.asm.word(lane);
                    put(emitter, lane, zero);
                }
            },
        );
    }

    fn store(&mut self, place: Place, index: &[ExprId], value: ExprId, site: Site) {
        let value = self.value(value);
        self.checked(
            place,
            index,
            1,
            site,
            |emitter, index| {
                let at = emitter.pointer(place, index);
                match place {
                    Place::Local(_) => emitter.asm.act(Op::Store, [at, value].map(Operand::IdRef).to_vec()),
                    _ => interface::store(&mut emitter.asm, at, value),
                }
            },
            |_| {},
        );
    }
}
