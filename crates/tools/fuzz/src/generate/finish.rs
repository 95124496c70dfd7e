//! The end: what each thread has computed, as one number, and the last thread's reduction of them.

use wattle_ir::{AtomicOp, BinaryOp, Expr, ExprId, Place, SlotId, Stmt, Type};
use wattle_memory::{FenceOrder, Scope, UpdateOrder};

use super::{Generator, Region};

/// The multiplier of the digest (FNV's).
const MULTIPLIER: u32 = 0x0100_0193;

impl Generator<'_> {
    /// Writes the digest of all that the thread knows, and reduces those of all threads.
    pub(super) fn finish(&mut self, out: &mut Vec<Stmt>) {
        let digest = self.slot(Type::U32, Some("digest"));
        for region in self.regions.clone().iter().filter(|region| !region.global) {
            self.digest_shared(digest, region, out);
        }
        for (id, element, len) in self.locals.clone() {
            for number in 0..len {
                let index = vec![self.u32(number)];
                let (dst, site) = (self.fresh(element), self.site());
                out.push(Stmt::Load { dst, place: Place::Local(id), index, site });
                self.mix(digest, dst, out);
            }
        }
        let known: Vec<SlotId> = self.vars.iter().chain(&self.uniform_slots).chain(&self.readable).copied().collect();
        for slot in known {
            self.mix(digest, slot, out);
        }
        let Some((place, extent)) = self.digest.clone() else {
            return;
        };
        let index = self.spread(place, &extent, self.in_grid, out);
        let value = self.value_of(digest);
        let site = self.site();
        out.push(Stmt::Store { place, index, value, site });
        if let Some((counter, total)) = self.last {
            self.reduce(digest, counter, total, out);
        }
    }

    /// Makes a slot for what the digest takes up.
    fn fresh(&mut self, ty: Type) -> SlotId {
        let there = self.kernel.slots.iter().position(|slot| slot.ty == ty && slot.name == Some("taken"));
        there.map_or_else(|| self.slot(ty, Some("taken")), |slot| SlotId(slot as u32))
    }

    fn digest_shared(&mut self, digest: SlotId, region: &Region, out: &mut Vec<Stmt>) {
        let place = region.place;
        for number in 0..region.per {
            let number = self.u32(number);
            let own = self.own(region, super::Owner::Mirrored, number);
            let index = self.spread(place, &region.extent, own, out);
            let (dst, site) = (self.fresh(region.element), self.site());
            out.push(if region.atomic {
                let (order, scope) = (wattle_memory::ReadOrder::Relaxed, self.random.pick(&self.profile.scopes));
                Stmt::AtomicLoad { dst, place, index, order, scope, site }
            } else {
                Stmt::Load { dst, place, index, site }
            });
            self.mix(digest, dst, out);
        }
    }

    /// Mixes a slot's value into the digest.
    fn mix(&mut self, digest: SlotId, slot: SlotId, out: &mut Vec<Stmt>) {
        let value = self.value_of(slot);
        for word in self.words(value) {
            let (before, factor) = (self.value_of(digest), self.u32(MULTIPLIER));
            let mixed = self.binary(BinaryOp::Xor, before, word);
            let mixed = self.binary(BinaryOp::Mul, mixed, factor);
            self.assign(digest, mixed, out);
        }
    }

    /// Splits a value into words of 32 bits.
    fn words(&mut self, value: ExprId) -> Vec<ExprId> {
        let ty = self.ty(value);
        let bits = ty.bits_type();
        if ty == Type::U32 {
            vec![value]
        } else if ty.is_float() && self.profile.types.contains(&bits) {
            let number = self.number(value);
            let value = self.push(bits, Expr::Bits(bits, number));
            self.words(value)
        } else if ty.is_int() && ty.bits() == 64 {
            let half = self.u32(32);
            let high = self.binary(BinaryOp::Shr, value, half);
            vec![self.cast(Type::U32, value), self.cast(Type::U32, high)]
        } else {
            vec![self.cast(Type::U32, value)]
        }
    }

    /// Each thread publishes its digest and counts itself; the last one reads the digests of all. Which thread is the
    /// last depends on scheduling, what it finds does not.
    fn reduce(&mut self, digest: SlotId, counter: Place, total: Place, out: &mut Vec<Stmt>) {
        let all = self.shape.grid * self.shape.block;
        let Some((place, extent)) = self.digest.clone() else {
            return;
        };
        let wide: Vec<Scope> = self.profile.scopes.iter().copied().filter(|&scope| scope > Scope::Block).collect();
        let scope = self.random.choose(&wide).unwrap_or(Scope::Device);
        let fences = self.random.pick(&[
            None,
            Some((FenceOrder::Release, FenceOrder::Acquire)),
            Some((FenceOrder::AcqRel, FenceOrder::AcqRel)),
            Some((FenceOrder::SeqCst, FenceOrder::SeqCst)),
        ]);
        if let Some((order, _)) = fences {
            let site = self.site();
            out.push(Stmt::Fence { order, scope, site });
        }
        let (zero, one, last) = (self.u32(0), self.u32(1), self.u32(all - 1));
        let (before, site) = (self.slot(Type::U32, Some("before")), self.site());
        let order = if fences.is_some() { UpdateOrder::Relaxed } else { UpdateOrder::AcqRel };
        let (op, index) = (AtomicOp::Add, vec![zero]);
        out.push(Stmt::AtomicUpdate { dst: before, op, place: counter, index, operand: one, order, scope, site });
        // Now and then nothing reads them.
        if self.random.below(16) == 0 {
            return;
        }
        let mut then = Vec::new();
        if let Some((_, order)) = fences {
            let site = self.site();
            then.push(Stmt::Fence { order, scope, site });
        }
        let counted = self.value_of(before);
        let condition = self.binary(BinaryOp::Eq, counted, last);
        self.sum_up(digest, place, &extent, &mut then);
        let (value, index, site) = (self.value_of(digest), vec![zero], self.site());
        then.push(Stmt::Store { place: total, index, value, site });
        out.push(Stmt::If { condition, then, otherwise: Vec::new() });
    }

    /// Mixes the digests of all threads into the one slot.
    fn sum_up(&mut self, digest: SlotId, place: Place, extent: &[u32], out: &mut Vec<Stmt>) {
        let (number, label, site) = (self.slot(Type::U32, Some("from")), self.label(), self.site());
        let (zero, all) = (self.u32(0), self.u32(self.shape.grid * self.shape.block));
        self.assign(digest, zero, out);
        self.assign(number, zero, out);
        let (count, next) = (self.value_of(number), self.next(number));
        let condition = self.binary(BinaryOp::Ge, count, all);
        let mut body = vec![Stmt::If { condition, then: vec![Stmt::Break(label)], otherwise: Vec::new() }];
        let index = self.spread(place, extent, count, &mut body);
        let (dst, line) = (self.fresh(Type::U32), self.site());
        body.push(Stmt::Load { dst, place, index, site: line });
        self.mix(digest, dst, &mut body);
        let mut continuing = Vec::new();
        self.assign(number, next, &mut continuing);
        out.push(Stmt::Loop { label, body, continuing, bounded: true, site });
    }
}
