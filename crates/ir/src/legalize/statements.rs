//! The statements of a kernel that is being legalized: checks where something may fail, and what a target lacks in
//! parts.

use rustc_hash::FxHashMap;
use wattle_memory::{FenceOrder, ReadOrder, UpdateOrder};

use super::Native;
use super::facts::{Blocks, Facts};
use super::values::Values;
use crate::fault::Fault;
use crate::message::Message;
use crate::visit::walk_mut;
use crate::{
    Access, BinaryOp, Expr, ExprId, Kernel, Label, ParamId, ParamKind, Place, SharedId, Site, SlotId, Stmt, Type,
};

pub(super) struct Legalizer<'t> {
    pub(super) values: Values<'t>,
    pub(super) facts: Facts,
    pub(super) native: &'t Native<'t>,
    /// The first label that no loop or block has.
    next_label: u32,
    /// The statements as they are written.
    body: Vec<Stmt>,
    /// The number of low bits that are surely zero in the index of an access to several elements, the least over all
    /// accesses with this index.
    aligned: FxHashMap<ExprId, u32>,
}

impl<'t> Legalizer<'t> {
    pub(super) fn new(kernel: &Kernel, native: &'t Native<'t>) -> Legalizer<'t> {
        let (mut values, ids) = Values::new(kernel, native);
        hold_bits(&mut values.kernel, native);
        let mut next_label = 0;
        kernel.walk(&mut |stmt| next_label = next_label.max(stmt.parts().label.map_or(0, |label| label.0 + 1)));
        let mut body = std::mem::take(&mut values.kernel.body);
        walk_mut(&mut body, &mut |stmt| stmt.operands_mut().for_each(|id| *id = ids[id.index()]));
        let blocks = Blocks { most_threads: native.most_threads, warp_size: native.warps.size };
        Legalizer { values, facts: Facts::of_blocks(blocks), native, next_label, body, aligned: FxHashMap::default() }
    }

    /// The legal kernel, and for the index of each access to several elements how many of its low bits are zero.
    pub(super) fn kernel(mut self) -> (Kernel, FxHashMap<ExprId, u32>) {
        let body = std::mem::take(&mut self.body);
        let body = self.block(body);
        let mut kernel = Kernel { body, ..self.values.kernel };
        kernel.shared.iter_mut().for_each(|array| array.len = array.len.flat());
        (kernel, self.aligned)
    }

    fn block(&mut self, block: Vec<Stmt>) -> Vec<Stmt> {
        self.facts.enter();
        let mut made = Vec::with_capacity(block.len());
        let mut rest = block.into_iter().peekable();
        while let Some(stmt) = rest.next() {
            let mut together = vec![stmt];
            while let Some(next) = rest.next_if(|next| self.is_of_one_element(&together, next)) {
                together.push(next);
            }
            let slots: Vec<_> = together.iter().filter_map(Stmt::assigned).collect();
            let known = self.facts.of_result(&self.values, &together[0]);
            match <[Stmt; 1]>::try_from(together) {
                Ok([stmt]) => self.stmt(stmt, &mut made),
                Err(together) => self.access(together, &mut made),
            }
            slots.iter().for_each(|&slot| self.facts.forget(&self.values, slot));
            if let [slot] = *slots {
                self.facts.hold(&self.values, slot, known);
            }
        }
        self.facts.leave();
        made
    }

    /// Legalizes a block that runs only where the condition holds, or only where it does not.
    fn block_where(&mut self, condition: ExprId, holds: bool, block: Vec<Stmt>) -> Vec<Stmt> {
        self.facts.enter();
        self.facts.learn(&self.values, condition, holds);
        let made = self.block(block);
        self.facts.leave();
        made
    }

    fn stmt(&mut self, stmt: Stmt, made: &mut Vec<Stmt>) {
        match stmt {
            Stmt::Divide { dst, op, left, right, site } => self.divide(dst, op, left, right, site, made),
            Stmt::Load { .. }
            | Stmt::LoadLanes { .. }
            | Stmt::Store { .. }
            | Stmt::StoreLanes { .. }
            | Stmt::AtomicLoad { .. }
            | Stmt::AtomicStore { .. }
            | Stmt::AtomicUpdate { .. }
            | Stmt::CompareExchange { .. } => self.access(vec![stmt], made),
            Stmt::If { condition, then, otherwise } => {
                let written = [&then, &otherwise].map(|side| side.last().is_some_and(|last| last.jump().is_some()));
                let empty = [then.is_empty(), otherwise.is_empty()];
                let then = self.block_where(condition, true, then);
                let otherwise = self.block_where(condition, false, otherwise);
                made.push(Stmt::If { condition, then, otherwise });
                // A side that leaves was not taken behind the branch.
                for (side, holds) in [(0, false), (1, true)] {
                    if written[side] && empty[1 - side] {
                        self.facts.learn(&self.values, condition, holds);
                    }
                }
            }
            Stmt::Loop { label, body, continuing, bounded, site } => {
                let counter = self.facts.counter(&self.values, label, &body);
                // Only what holds in each turn may be known.
                self.facts.forget_all(&self.values, &body);
                self.facts.forget_all(&self.values, &continuing);
                self.facts.enter();
                if let Some(counter) = counter {
                    self.facts.learn_counter(&self.values, &counter, &body, &continuing);
                }
                let (body, continuing) = (self.block(body), self.block(continuing));
                self.facts.leave();
                made.push(Stmt::Loop { label, body, continuing, bounded, site });
            }
            Stmt::Block { label, body } => {
                let body = self.block(body);
                made.push(Stmt::Block { label, body });
            }
            Stmt::Assert { condition, message: Message { text, arguments }, site } => {
                let types: Vec<_> = arguments.iter().map(|&value| self.values.ty(value)).collect();
                let index = arguments.into_iter().flat_map(|value| self.values.words(value)).collect();
                let fault = Stmt::Fault { fault: Fault::Assertion { text, types }, index, site };
                match self.values.constant(condition) {
                    Some(0) => made.push(fault),
                    _ => made.push(Stmt::If { condition, then: vec![], otherwise: vec![fault] }),
                }
            }
            // Kernels that print are legalized with their log, in which each line is a record.
            Stmt::Print { .. } => {}
            Stmt::Assign { .. }
            | Stmt::Clock { .. }
            | Stmt::Fence { .. }
            | Stmt::Barrier { .. }
            | Stmt::Warp { .. }
            | Stmt::WarpBarrier { .. }
            | Stmt::Break(_)
            | Stmt::Continue(_)
            | Stmt::Return
            | Stmt::Fault { .. } => made.push(stmt),
        }
    }

    pub(super) fn zero(&mut self, slot: SlotId) -> Stmt {
        let value = self.values.of(self.values.kernel.slots[slot.index()].ty, 0);
        Stmt::Assign { slot, value }
    }

    /// Whether a plain access is to another number of the element that those before it access, in the same way.
    fn is_of_one_element(&self, before: &[Stmt], next: &Stmt) -> bool {
        let kernel = &self.values.kernel;
        let (Some(first), Some(last)) = (before.first(), before.last()) else { return false };
        match (first, next) {
            (
                Stmt::Load { place, index, site, .. },
                Stmt::Load { place: other, index: other_index, site: other_site, .. },
            ) => {
                let sets = last.assigned().into_iter().any(|slot| index.iter().any(|&id| self.values.reads(id, slot)));
                kernel.is_field(*place)
                    && kernel.whole(*place) == kernel.whole(*other)
                    && (index, site) == (other_index, other_site)
                    && !sets
            }
            (
                Stmt::Store { place, index, site, .. },
                Stmt::Store { place: other, index: other_index, site: other_site, .. },
            ) => {
                kernel.is_field(*place)
                    && kernel.whole(*place) == kernel.whole(*other)
                    && (index, site) == (other_index, other_site)
            }
            _ => false,
        }
    }

    /// Accesses to memory, all at one index, behind the check of the index where it needs one.
    fn access(&mut self, mut all: Vec<Stmt>, made: &mut Vec<Stmt>) {
        let Some(stmt) = all.first() else { return };
        let parts = stmt.parts();
        let (Some(&place), Some(&site)) = (parts.place, parts.site) else { return made.extend(all) };
        let array = parts.array.copied();
        let Some((index, lanes)) = stmt.accessed(&self.values.kernel) else { return made.extend(all) };
        let index = index.to_vec();
        let fails = self.fails(place, &index, lanes);
        let fitted: Vec<_> = index.iter().map(|&at| self.fitted(place, at)).collect();
        if fitted != index {
            for stmt in &mut all {
                match stmt {
                    Stmt::LoadLanes { index, .. } | Stmt::StoreLanes { index, .. } => *index = fitted[0],
                    stmt => stmt.index_mut().into_iter().for_each(|index| index.clone_from(&fitted)),
                }
            }
        }
        let Some(stmt) = all.first() else { return };
        // What always fails is not there any more, and its index may be nowhere.
        if let Stmt::LoadLanes { index, .. } | Stmt::StoreLanes { index, .. } = stmt
            && !matches!(fails, Fails::Always)
        {
            let zeros = self.facts.range(&self.values, *index).zeros;
            self.aligned.entry(*index).and_modify(|known| *known = zeros.min(*known)).or_insert(zeros);
        }
        let index = if lanes == 1 { index } else { vec![self.last_lane(index[0], lanes)] };
        let (rank, wide) = (index.len(), index.iter().any(|&at| self.values.ty(at) == Type::U64));
        let index = match wide {
            true => index.into_iter().flat_map(|at| self.words_of_wide(at)).collect(),
            false => index,
        };
        let mut beyond = vec![Stmt::Fault { fault: Fault::OutOfBounds { place, rank, wide }, index, site }];
        beyond.extend(all.iter().filter_map(Stmt::assigned).map(|slot| self.zero(slot)));
        if let Some(array) = array {
            let value = self.values.of(self.values.kernel.element_of(place), 0);
            beyond.extend((0..lanes).map(|lane| self.put(array, lane, value, site)));
        }
        match fails {
            Fails::Never => all.into_iter().for_each(|stmt| self.within(stmt, made)),
            Fails::Always => made.extend(beyond),
            Fails::If(condition) => {
                let mut within = Vec::new();
                all.into_iter().for_each(|stmt| self.within(stmt, &mut within));
                made.push(Stmt::If { condition, then: beyond, otherwise: within });
            }
        }
    }

    fn put(&mut self, array: crate::LocalId, lane: u32, value: ExprId, site: Site) -> Stmt {
        Stmt::Store { place: Place::Local(array), index: vec![self.values.word(lane)], value, site }
    }

    /// When an index is out of bounds.
    fn fails(&mut self, place: Place, index: &[ExprId], lanes: u32) -> Fails {
        let mut fails = Fails::Never;
        let place = self.values.kernel.whole(place);
        for (d, &at) in (0..).zip(index) {
            if self.facts.is_within(&self.values, at, place, d, lanes) {
                continue;
            }
            let values = &mut self.values;
            let known = values.kernel.known_extent(place, d);
            if let (Some(_), Some(len)) = (values.constant(at), known) {
                debug_assert!(lanes > len || values.constant(at) > Some(u64::from(len - lanes)));
                return Fails::Always;
            }
            let of_extent = values.kernel.extent_type(place);
            let ty = if of_extent == Type::U64 { Type::U64 } else { values.ty(at) };
            let at = values.cast(ty, at);
            let extent = match known {
                Some(len) => values.of(ty, len.into()),
                None => {
                    let extent = values.add(Expr::Extent(place, d));
                    values.cast(ty, extent)
                }
            };
            let beyond = match (lanes, known) {
                (1, _) => values.binary(BinaryOp::Ge, at, extent),
                (_, Some(len)) if lanes > len => return Fails::Always,
                (_, Some(len)) => {
                    let last = values.of(ty, (len - lanes).into());
                    values.binary(BinaryOp::Gt, at, last)
                }
                // The last lane is in bounds if `at + lanes - 1 < extent`; what is compared with is the same in each
                // turn of a loop, and zero where there are fewer elements than lanes.
                (_, None) => {
                    let others = values.of(ty, (lanes - 1).into());
                    let enough = values.binary(BinaryOp::Max, extent, others);
                    let first_beyond = values.binary(BinaryOp::Sub, enough, others);
                    values.binary(BinaryOp::Ge, at, first_beyond)
                }
            };
            fails = Fails::If(match fails {
                Fails::If(before) => values.binary(BinaryOp::Or, before, beyond),
                Fails::Never | Fails::Always => beyond,
            });
        }
        fails
    }

    /// A number of an index as targets have it: of the type of the place's extents.
    fn fitted(&mut self, place: Place, at: ExprId) -> ExprId {
        let ty = self.values.kernel.extent_type(place);
        self.values.cast(ty, at)
    }

    /// The words of a number of an index in a fault.
    fn words_of_wide(&mut self, at: ExprId) -> Vec<ExprId> {
        let at = self.values.cast(Type::U64, at);
        self.values.words(at)
    }

    /// `index + lanes - 1`, or the greatest number of its type if that is beyond it.
    fn last_lane(&mut self, index: ExprId, lanes: u32) -> ExprId {
        let ty = self.values.ty(index);
        let (more, greatest) =
            (self.values.of(ty, (lanes - 1).into()), self.values.of(ty, u64::MAX >> (64 - ty.bits())));
        let last = self.values.binary(BinaryOp::Add, index, more);
        let wrapped = self.values.binary(BinaryOp::Lt, last, index);
        self.values.select(wrapped, greatest, last)
    }

    /// Lowers an access whose indices are known to be within bounds.
    fn within(&mut self, mut stmt: Stmt, made: &mut Vec<Stmt>) {
        self.flatten(&mut stmt);
        match stmt {
            Stmt::LoadLanes { dst, place, index, site } if !self.native.loads_lanes => {
                let array = &self.values.kernel.locals[dst.index()];
                let (element, len) = (array.element, array.len);
                let element = self.values.slot(element);
                for lane in 0..len {
                    let number = self.values.of(self.values.ty(index), lane.into());
                    let at = self.values.binary(BinaryOp::Add, index, number);
                    made.push(Stmt::Load { dst: element, place, index: vec![at], site });
                    let value = self.values.read(element);
                    made.push(self.put(dst, lane, value, site));
                }
            }
            Stmt::StoreLanes { place, index, values, site } if !self.native.loads_lanes => {
                for (lane, value) in (0u32..).zip(values) {
                    let number = self.values.of(self.values.ty(index), lane.into());
                    let at = self.values.binary(BinaryOp::Add, index, number);
                    made.push(Stmt::Store { place, index: vec![at], value, site });
                }
            }
            Stmt::AtomicUpdate { op, place, operand, .. }
                if !(self.native.updates)(op, place, self.values.ty(operand)) =>
            {
                self.exchanged(stmt, made);
            }
            other => self.on_bits(other, made),
        }
    }

    /// Makes an index of an array with several dimensions the number of the element: targets have arrays of one
    /// dimension.
    fn flatten(&mut self, stmt: &mut Stmt) {
        let Some(extents) = stmt.parts().place.and_then(|&place| self.values.kernel.grid_of(place)) else { return };
        let Some(index) = stmt.index_mut() else { return };
        let values = &mut self.values;
        let number = index.iter().zip(extents.each).fold(None, |before, (&at, extent)| {
            let Some(before) = before else { return Some(at) };
            let extent = values.word(extent);
            let before = values.binary(BinaryOp::Mul, before, extent);
            Some(values.binary(BinaryOp::Add, before, at))
        });
        index.clear();
        index.extend(number);
    }

    /// An access, by bits where the memory holds those of floats.
    fn on_bits(&mut self, mut stmt: Stmt, made: &mut Vec<Stmt>) {
        let Some(place) = stmt.atomic_place() else { return made.push(stmt) };
        let stored = self.values.kernel.element_of(place);
        let (parts, mut read) = (stmt.parts_mut(), None);
        for value in parts.values.into_iter().flatten() {
            *value = self.values.bits(stored, *value);
        }
        if let Some(slot) = parts.slot
            && self.values.kernel.slots[slot.index()].ty != stored
        {
            let dst = std::mem::replace(slot, self.values.slot(stored));
            read = Some((dst, *slot));
        }
        made.push(stmt);
        if let Some((slot, bits)) = read {
            let (ty, bits) = (self.values.kernel.slots[slot.index()].ty, self.values.read(bits));
            made.push(Stmt::Assign { slot, value: self.values.bits(ty, bits) });
        }
    }

    /// An atomic update as a loop: a load, and compare-exchanges until one succeeds. All are relaxed, with fences
    /// around the loop: an order in it would be one in each turn. A turn fails only if another thread's succeeds, so
    /// that the loop counts as bounded.
    fn exchanged(&mut self, update: Stmt, made: &mut Vec<Stmt>) {
        let Stmt::AtomicUpdate { dst, op, place, index, operand, order, scope, site } = update else { return };
        let (stored, ty) = (self.values.kernel.element_of(place), self.values.ty(operand));
        if order.releases() {
            made.push(Stmt::Fence { order: FenceOrder::Release, scope, site });
        }
        let (seen, old) = (self.values.slot(stored), self.values.slot(stored));
        let (found, expected) = (self.values.read(seen), self.values.read(old));
        let before = self.values.bits(ty, expected);
        let desired = self.values.updated(op, before, operand);
        let desired = self.values.bits(stored, desired);
        // Bits are compared: -0 is not +0, and a NaN is equal to itself.
        let bits = stored.bits_type();
        let [found_bits, expected_bits] = [found, expected].map(|value| self.values.bits(bits, value));
        let condition = self.values.binary(BinaryOp::Eq, found_bits, expected_bits);
        let label = Label(self.next_label);
        self.next_label += 1;
        made.push(Stmt::AtomicLoad { dst: seen, place, index: index.clone(), order: ReadOrder::Relaxed, scope, site });
        let relaxed = UpdateOrder::Relaxed;
        let body = vec![
            Stmt::Assign { slot: old, value: found },
            Stmt::CompareExchange { dst: seen, place, index, expected, desired, order: relaxed, scope, site },
            Stmt::If { condition, then: vec![Stmt::Break(label)], otherwise: vec![] },
        ];
        made.push(Stmt::Loop { label, body, continuing: vec![], bounded: true, site });
        if order.acquires() {
            made.push(Stmt::Fence { order: FenceOrder::Acquire, scope, site });
        }
        made.push(Stmt::Assign { slot: dst, value: before });
    }
}

/// Gives memory the types of the bits of floats that the target has no atomic operations on.
fn hold_bits(kernel: &mut Kernel, native: &Native<'_>) {
    let hold = |place, element: &mut Type| {
        if element.is_float() && !(native.floats)(place, *element) {
            *element = element.bits_type();
        }
    };
    for (number, param) in (0..).zip(&mut kernel.params) {
        if let ParamKind::View { access: Access::Atomic, element, .. } = &mut param.kind {
            hold(Place::Param(ParamId(number)), element);
        }
    }
    for (number, array) in (0..).zip(&mut kernel.shared).filter(|(_, array)| array.atomic) {
        hold(Place::Shared(SharedId(number)), &mut array.element);
    }
}

/// When a check fails.
enum Fails {
    Never,
    Always,
    If(ExprId),
}
