//! Random statements that touch memory.

use wattle_ir::{Access, AtomicLaw, AtomicOp, BinaryOp, ExprId, LocalArray, LocalId, ParamKind, Place, Stmt, Type};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

use super::{Common, Generator, Owner, Permission, Region, SumKind};

const READS: [ReadOrder; 2] = [ReadOrder::Relaxed, ReadOrder::Acquire];
const WRITES: [WriteOrder; 2] = [WriteOrder::Relaxed, WriteOrder::Release];
const UPDATES: [UpdateOrder; 4] =
    [UpdateOrder::Relaxed, UpdateOrder::Acquire, UpdateOrder::Release, UpdateOrder::AcqRel];
const FENCES: [FenceOrder; 4] = [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::SeqCst];

/// The place, the index and the scope of an atomic access, without its operation.
struct At {
    place: Place,
    index: Vec<ExprId>,
    element: Type,
    scope: Scope,
}

impl Generator<'_> {
    pub(super) fn fence(&mut self, out: &mut Vec<Stmt>) {
        let (order, scope, site) = (self.random.pick(&FENCES), self.random.pick(&self.profile.scopes), self.site());
        out.push(Stmt::Fence { order, scope, site });
    }

    /// A scope that includes the device's threads, if blocks share the place and there are several.
    fn wide_scope(&mut self) -> Scope {
        let all = self.shape.grid > 1;
        let wide: Vec<Scope> =
            self.profile.scopes.iter().copied().filter(|&scope| !all || scope > Scope::Block).collect();
        self.random.choose(&wide).unwrap_or(Scope::Device)
    }

    /// An access to some part of memory, as its state permits.
    pub(super) fn region_access(&mut self, out: &mut Vec<Stmt>) {
        if self.regions.is_empty() {
            return;
        }
        let number = self.random.below(self.regions.len() as u32) as usize;
        let region = self.regions[number].clone();
        match region.state {
            Permission::Own(_) | Permission::Open if region.group.is_some() && self.random.coin() => {
                self.element_access(&region, out);
            }
            Permission::Own(owner) => self.own_access(&region, owner, out),
            Permission::Open => self.open_access(&region, out),
            Permission::Sum(kind) => {
                let index = self.block_index(&region, out);
                let scope = self.random.pick(&self.profile.scopes);
                self.sum(kind, At { place: region.place, index, element: region.element, scope }, out);
            }
        }
    }

    fn own_access(&mut self, region: &Region, owner: Owner, out: &mut Vec<Stmt>) {
        let (place, element) = (region.place, region.element);
        if region.atomic {
            let index = self.own_index(region, owner, out);
            let scope = self.random.pick(&self.profile.scopes);
            return self.own_atomic(At { place, index, element, scope }, out);
        }
        if region.packed && region.extent.len() == 1 && region.per > 1 && self.random.one_in(4) {
            let lanes = self.random.within(1, region.per);
            let number = self.random.below(region.per - lanes + 1);
            let number = self.u32(number);
            let index = self.own(region, owner, number);
            if self.random.coin() && !self.is_field(place) {
                let values = (0..lanes).map(|_| self.storable(element, 2)).collect();
                let (index, site) = (self.perhaps_beyond(index, region.extent[0]), self.site());
                return out.push(Stmt::StoreLanes { place, index, values, site });
            }
            return self.lanes(place, element, index, lanes, out);
        }
        if self.random.coin() {
            let index = self.own_index(region, owner, out);
            let (dst, site) = (self.var(element), self.site());
            out.push(Stmt::Load { dst, place, index, site });
            return;
        }
        let value = self.storable(element, 3);
        let index = self.own_index(region, owner, out);
        let site = self.site();
        out.push(Stmt::Store { place, index, value, site });
    }

    /// An access to all numbers of an element that are in the same state: to all at one index, one behind the other.
    fn element_access(&mut self, region: &Region, out: &mut Vec<Stmt>) {
        let is_one = |other: &&Region| other.group == region.group && other.state == region.state;
        let numbers: Vec<(Place, Type)> =
            self.regions.iter().filter(is_one).map(|number| (number.place, number.element)).collect();
        let stores = matches!(region.state, Permission::Own(_)) && self.random.coin();
        let values: Vec<ExprId> = match stores {
            true => numbers.iter().map(|&(_, element)| self.storable(element, 2)).collect(),
            false => Vec::new(),
        };
        let index = match region.state {
            Permission::Own(owner) => self.own_index(region, owner, out),
            Permission::Open | Permission::Sum(_) => self.block_index(region, out),
        };
        let site = self.site();
        for (number, (place, element)) in numbers.into_iter().enumerate() {
            let index = index.clone();
            out.push(match values.get(number) {
                Some(&value) => Stmt::Store { place, index, value, site },
                None => Stmt::Load { dst: self.var(element), place, index, site },
            });
        }
    }

    fn open_access(&mut self, region: &Region, out: &mut Vec<Stmt>) {
        let (place, element, len) = (region.place, region.element, region.block_len(&self.shape));
        if !region.atomic && region.extent.len() == 1 && self.random.one_in(4) {
            let lanes = self.random.within(1, len.min(4));
            let number = self.below(len - lanes + 1, 0, out);
            let index = self.in_block(region, number);
            return self.lanes(place, element, index, lanes, out);
        }
        let index = self.block_index(region, out);
        let (dst, site) = (self.var(element), self.site());
        if region.atomic {
            let (order, scope) = (self.random.pick(&READS), self.random.pick(&self.profile.scopes));
            out.push(Stmt::AtomicLoad { dst, place, index, order, scope, site });
        } else {
            out.push(Stmt::Load { dst, place, index, site });
        }
    }

    /// A load of an open element that is the same for the whole block, into a slot that is so too.
    pub(super) fn uniform_load(&mut self, out: &mut Vec<Stmt>) {
        let open = |region: &&Region| region.state == Permission::Open && region.extent.len() == 1;
        let open: Vec<Region> = self.regions.iter().filter(open).cloned().collect();
        if open.is_empty() {
            return;
        }
        let region = open[self.random.below(open.len() as u32) as usize].clone();
        let number = self.uniformly(|this| this.below(region.block_len(&this.shape), 0, out));
        let index = vec![self.in_block(&region, number)];
        let (dst, place, site) = (self.uniform_var(region.element), region.place, self.site());
        if region.atomic {
            let (order, scope) = (self.random.pick(&READS), self.random.pick(&self.profile.scopes));
            out.push(Stmt::AtomicLoad { dst, place, index, order, scope, site });
        } else {
            out.push(Stmt::Load { dst, place, index, site });
        }
    }

    /// Any atomic operation, on an element of the thread's own.
    fn own_atomic(&mut self, at: At, out: &mut Vec<Stmt>) {
        let At { place, index, element, scope } = at;
        let choice = self.random.below(8);
        let (value, dst, site) = (self.storable(element, 2), self.var(element), self.site());
        out.push(match choice {
            0 | 1 => Stmt::AtomicLoad { dst, place, index, order: self.random.pick(&READS), scope, site },
            2 | 3 => Stmt::AtomicStore { place, index, value, order: self.random.pick(&WRITES), scope, site },
            4 => {
                let order = self.random.pick(&UPDATES);
                // What was read or written there before is expected now and then.
                // The bits of a NaN are not promised, and they would be compared.
                let expected = match self.random.coin() {
                    _ if element.is_float() => self.whole(element),
                    true => self.value_of(dst),
                    false => self.value(element, 1),
                };
                Stmt::CompareExchange { dst, place, index, expected, desired: value, order, scope, site }
            }
            _ => {
                let ops: Vec<AtomicOp> = AtomicOp::ALL.iter().copied().filter(|op| op.applies_to(element)).collect();
                let (order, op) = (self.random.pick(&UPDATES), self.random.pick(&ops));
                // A sum of floats of any size may be subnormal, and stays in memory.
                let operand = if element.is_float() && op == AtomicOp::Add { self.whole(element) } else { value };
                Stmt::AtomicUpdate { dst, op, place, index, operand, order, scope, site }
            }
        });
    }

    /// A kind of sum for that type.
    pub(super) fn sum_kind(&mut self, element: Type) -> SumKind {
        let of = |wanted: fn(AtomicLaw) -> bool| -> Vec<AtomicOp> {
            AtomicOp::ALL.iter().copied().filter(|op| op.applies_to(element) && wanted(op.law())).collect()
        };
        // Additions and subtractions are a kind of their own.
        let combining = of(|law| {
            matches!(law, AtomicLaw::Combines(_)) && !matches!(law, AtomicLaw::Combines(BinaryOp::Add | BinaryOp::Sub))
        });
        if element.is_float() {
            return match self.random.below(8) {
                0 | 1 => SumKind::Same(AtomicOp::Exchange, self.raw_whole(element)),
                2 => SumKind::One(self.random.pick(&combining)),
                // The bits of a NaN are not promised.
                3 => SumKind::Exchange(self.raw_whole(element), self.raw_whole(element)),
                _ => SumKind::Add,
            };
        }
        match self.random.below(8) {
            0..=2 => SumKind::Add,
            3..=5 => SumKind::One(self.random.pick(&combining)),
            6 => {
                let others = of(|law| !matches!(law, AtomicLaw::Combines(_)));
                SumKind::Same(self.random.pick(&others), self.raw_value(element))
            }
            _ => {
                let (expected, desired) = (self.raw_whole(element), self.raw_value(element));
                SumKind::Exchange(expected, desired)
            }
        }
    }

    /// An operation of a sum. Its result goes where nothing reads it.
    fn sum(&mut self, kind: SumKind, at: At, out: &mut Vec<Stmt>) {
        let At { place, index, element, scope } = at;
        let (dst, site) = (self.sink(element), self.site());
        if self.random.one_in(8) {
            let order = self.random.pick(&READS);
            out.push(Stmt::AtomicLoad { dst, place, index, order, scope, site });
            return;
        }
        let order = self.random.pick(&UPDATES);
        let (op, operand) = match kind {
            SumKind::Add if element.is_float() => (AtomicOp::Add, self.whole(element)),
            SumKind::Add => (self.random.pick(&[AtomicOp::Add, AtomicOp::Sub]), self.value(element, 2)),
            SumKind::One(op) if element.is_float() => (op, self.whole(element)),
            SumKind::One(op) => (op, self.value(element, 2)),
            SumKind::Same(op, raw) => (op, self.raw(element, raw)),
            SumKind::Exchange(expected, desired) => {
                let (expected, desired) = (self.raw(element, expected), self.raw(element, desired));
                out.push(Stmt::CompareExchange { dst, place, index, expected, desired, order, scope, site });
                return;
            }
        };
        out.push(Stmt::AtomicUpdate { dst, op, place, index, operand, order, scope, site });
    }

    /// An access to a view that all blocks use together.
    pub(super) fn common_access(&mut self, out: &mut Vec<Stmt>) {
        if self.commons.is_empty() {
            return;
        }
        let number = self.random.below(self.commons.len() as u32) as usize;
        let Common { place, element, extent, sum } = self.commons[number].clone();
        if let Some(kind) = sum {
            let index = self.common_index(&extent, out);
            let scope = self.wide_scope();
            return self.sum(kind, At { place, index, element, scope }, out);
        }
        let atomic = matches!(place, Place::Param(id) if self.is_atomic_view(id.index()));
        if extent.len() == 1 && !atomic && self.random.coin() {
            let lanes = self.random.within(1, extent[0].min(4));
            let index = self.any_below(extent[0] - lanes + 1, 0, out);
            return self.lanes(place, element, index, lanes, out);
        }
        let index = self.common_index(&extent, out);
        let (dst, site) = (self.var(element), self.site());
        if atomic {
            let (order, scope) = (self.random.pick(&READS), self.random.pick(&self.profile.scopes));
            out.push(Stmt::AtomicLoad { dst, place, index, order, scope, site });
        } else {
            out.push(Stmt::Load { dst, place, index, site });
        }
    }

    fn is_atomic_view(&self, param: usize) -> bool {
        matches!(self.kernel.params[param].kind, ParamKind::View { access: Access::Atomic, .. })
    }

    /// Whether the place is one number of a view's elements, of which neighbours do not lie side by side.
    fn is_field(&self, place: Place) -> bool {
        matches!(place, Place::Param(id) if self.kernel.params[id.index()].field.is_some())
    }

    fn lanes(&mut self, place: Place, element: Type, index: ExprId, lanes: u32, out: &mut Vec<Stmt>) {
        let site = self.site();
        if self.is_field(place) {
            let dst = self.var(element);
            return out.push(Stmt::Load { dst, place, index: vec![index], site });
        }
        let dst = self.local_of(element, lanes);
        out.push(Stmt::LoadLanes { dst, place, index, site });
    }

    /// An array of the thread's own of that type and length.
    fn local_of(&mut self, element: Type, len: u32) -> LocalId {
        if let Some(&(id, ..)) = self.locals.iter().find(|(_, ty, there)| (*ty, *there) == (element, len)) {
            return id;
        }
        let id = LocalId(self.kernel.locals.len() as u32);
        self.kernel.locals.push(LocalArray::new(element, len));
        self.locals.push((id, element, len));
        id
    }

    /// An access to an array of constants.
    fn constants_access(&mut self, out: &mut Vec<Stmt>) {
        if self.constants.len() < 2 || self.random.one_in(4) {
            let (element, len) = (self.element(), self.random.within(1, 9));
            let constants = (0..len).map(|_| self.raw_value(element)).collect();
            let id = LocalId(self.kernel.locals.len() as u32);
            self.kernel.locals.push(LocalArray { element, len, constants: Some(constants) });
            self.constants.push((id, element, len));
        }
        let (id, element, len) = self.random.pick(&self.constants);
        let place = Place::Local(id);
        if self.random.one_in(4) {
            let lanes = self.random.within(1, len.min(6));
            let index = self.any_below(len - lanes + 1, 0, out);
            return self.lanes(place, element, index, lanes, out);
        }
        let index = vec![self.any_below(len, 0, out)];
        let (dst, site) = (self.var(element), self.site());
        out.push(Stmt::Load { dst, place, index, site });
    }

    /// An access to an array of the thread's own, or of constants.
    pub(super) fn local_access(&mut self, out: &mut Vec<Stmt>) {
        if self.random.below(4) == 3 {
            return self.constants_access(out);
        }
        if self.locals.len() < 2 || self.random.one_in(6) {
            let (element, len) = (self.element(), self.random.within(1, 6));
            self.local_of(element, len);
        }
        let (id, element, len) = self.random.pick(&self.locals);
        let place = Place::Local(id);
        if self.random.one_in(6) {
            let lanes = self.random.within(1, len);
            let index = self.any_below(len - lanes + 1, 0, out);
            return self.lanes(place, element, index, lanes, out);
        }
        if self.random.coin() {
            let index = vec![self.any_below(len, 0, out)];
            let (dst, site) = (self.var(element), self.site());
            out.push(Stmt::Load { dst, place, index, site });
            return;
        }
        // What is stored may be no number: the array is memory of the thread's own, whose bits no other thread sees.
        let value = self.value(element, 3);
        let index = vec![self.any_below(len, 0, out)];
        let site = self.site();
        out.push(Stmt::Store { place, index, value, site });
    }

    /// Sets all of the thread's own elements, to small whole numbers if so wanted.
    pub(super) fn set_own(&mut self, region: &Region, owner: Owner, whole: bool, out: &mut Vec<Stmt>) {
        for number in 0..region.per {
            let element = region.element;
            let value = if whole { self.whole(element) } else { self.storable(element, 1) };
            let number = self.u32(number);
            let own = self.own(region, owner, number);
            let index = self.spread(region.place, &region.extent, own, out);
            let (place, site) = (region.place, self.site());
            out.push(if region.atomic {
                let (order, scope) = (self.random.pick(&WRITES), self.random.pick(&self.profile.scopes));
                Stmt::AtomicStore { place, index, value, order, scope, site }
            } else {
                Stmt::Store { place, index, value, site }
            });
        }
    }

    /// Makes an integer division.
    pub(super) fn division(&mut self, out: &mut Vec<Stmt>) {
        let ints: Vec<Type> = self.profile.types.iter().copied().filter(|ty| ty.is_int()).collect();
        let ty = self.random.choose(&ints).unwrap_or(Type::U32);
        let (left, mut right) = (self.value(ty, 2), self.value(ty, 2));
        if self.wrong() {
            // A value is seldom zero by chance.
            if self.random.coin() {
                right = self.zero(ty);
            }
        } else {
            let one = self.raw(ty, 1);
            right = if self.random.coin() {
                self.binary(BinaryOp::Or, right, one)
            } else {
                let zero = self.zero(ty);
                let none = self.binary(BinaryOp::Eq, right, zero);
                self.select(none, one, right)
            };
        }
        let op = self.random.pick(&[wattle_ir::DivOp::Div, wattle_ir::DivOp::Rem]);
        let (dst, site) = (self.var(ty), self.site());
        out.push(Stmt::Divide { dst, op, left, right, site });
    }
}
