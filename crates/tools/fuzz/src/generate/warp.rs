//! Operations of warps, which all lanes reach: they stand where the control flow is the same for the whole warp.

use wattle_ir::{BinaryOp, Builtin, Expr, ExprId, Stmt, Type, WarpOp};

use super::{Generator, Owner, Permission, Region};

/// How often a statement in nested loops may run, at most.
const MOST_REPEATS: u32 = 8;

impl Generator<'_> {
    /// Makes something that all lanes of each warp do together; blocks nest at most `depth` deep.
    fn warp_item(&mut self, depth: u32, out: &mut Vec<Stmt>) {
        let place = self.random.place();
        self.budget = self.budget.saturating_sub(1);
        match self.random.below(if depth == 0 { 7 } else { 10 }) {
            0..=3 => self.exchange(out),
            4 => self.warp_barrier(out),
            5 => self.read_of_another_lane(out),
            6 => self.statement(2, &mut Vec::new(), out),
            7 | 8 => {
                let condition = self.same_in_warp(out);
                let then = self.warp_block(depth);
                let otherwise = if self.random.coin() { Vec::new() } else { self.warp_block(depth) };
                out.push(Stmt::If { condition, then, otherwise });
            }
            _ if self.repeats < MOST_REPEATS => self.warp_loop(depth, out),
            _ => self.exchange(out),
        }
        self.random.mark(place);
    }

    /// Makes at most `most` statements for a warp.
    pub(super) fn warp_items(&mut self, depth: u32, most: u32, out: &mut Vec<Stmt>) {
        let mut count = 0;
        while count == 0 || self.random.more(count, most) {
            self.warp_item(depth - 1, out);
            count += 1;
        }
    }

    fn warp_block(&mut self, depth: u32) -> Vec<Stmt> {
        let mut block = Vec::new();
        self.warp_items(depth, 3, &mut block);
        block
    }

    fn warp_barrier(&mut self, out: &mut Vec<Stmt>) {
        let site = self.site();
        out.push(Stmt::WarpBarrier { site });
    }

    /// Makes any operation of the warp.
    fn exchange(&mut self, out: &mut Vec<Stmt>) {
        let ty = self.any_type();
        let ops: Vec<WarpOp> = WarpOp::ALL.iter().copied().filter(|op| op.applies_to(ty)).collect();
        let Some(op) = self.random.choose(&ops) else { return };
        let value = self.value(ty, 3);
        let operand = op.has_operand().then(|| self.lanes_away());
        let (dst, site) = (self.var(op.result(ty)), self.site());
        out.push(Stmt::Warp { dst, op, value, operand, site });
    }

    /// Makes a lane's number, a distance, or a mask: mostly one that some lane has.
    fn lanes_away(&mut self) -> ExprId {
        match self.random.below(4) {
            0 => self.value(Type::U32, 2),
            1 => {
                let (value, last) = (self.value(Type::U32, 2), self.u32(self.profile.warp_size - 1));
                self.binary(BinaryOp::And, value, last)
            }
            _ => {
                let lane = self.random.below(self.profile.warp_size + 1);
                self.u32(lane)
            }
        }
    }

    /// Makes a condition that is the same for the whole warp.
    fn same_in_warp(&mut self, out: &mut Vec<Stmt>) -> ExprId {
        match self.random.below(4) {
            0 => self.uniformly(|this| this.value(Type::Bool, 2)),
            1 => {
                let warp = self.push(Type::U32, Expr::Builtin(Builtin::WarpInBlock, 0));
                let other = self.uniformly(|this| this.value(Type::U32, 1));
                let op = self.random.pick(&[BinaryOp::Eq, BinaryOp::Lt, BinaryOp::Ge]);
                self.binary(op, warp, other)
            }
            _ => {
                let (op, value) = (self.random.pick(&[WarpOp::Any, WarpOp::All]), self.value(Type::Bool, 3));
                let (dst, site) = (self.slot(Type::Bool, Some("vote")), self.site());
                out.push(Stmt::Warp { dst, op, value, operand: None, site });
                self.value_of(dst)
            }
        }
    }

    /// Makes a loop whose rounds are as many for all lanes of a warp.
    fn warp_loop(&mut self, depth: u32, out: &mut Vec<Stmt>) {
        let (counter, limit) = (self.slot(Type::U32, Some("turn")), self.slot(Type::U32, Some("turns")));
        let most = self.random.pick(&[1, 3]);
        let (value, mask) = (self.value(Type::U32, 2), self.u32(most));
        let few = self.binary(BinaryOp::And, value, mask);
        let op = self.random.pick(&[WarpOp::ReduceMax, WarpOp::ReduceMin, WarpOp::ReduceOr]);
        let site = self.site();
        out.push(Stmt::Warp { dst: limit, op, value: few, operand: None, site });
        let zero = self.u32(0);
        self.assign(counter, zero, out);
        let (label, site) = (self.label(), self.site());
        let (count, limit, next) = (self.value_of(counter), self.value_of(limit), self.next(counter));
        let condition = self.binary(BinaryOp::Ge, count, limit);
        let mut body = vec![Stmt::If { condition, then: vec![Stmt::Break(label)], otherwise: Vec::new() }];
        let before = self.repeats;
        self.repeats *= most;
        body.extend(self.warp_block(depth));
        self.repeats = before;
        let mut continuing = Vec::new();
        self.assign(counter, next, &mut continuing);
        self.readable.push(counter);
        let bounded = self.random.coin();
        out.push(Stmt::Loop { label, body, continuing, bounded, site });
    }

    /// Makes a read of an element that another lane owns, between two barriers of the warp: they order what that lane
    /// has written before, and what it writes afterwards.
    fn read_of_another_lane(&mut self, out: &mut Vec<Stmt>) {
        let own = |region: &&Region| matches!(region.state, Permission::Own(_)) && !region.fixed;
        let own: Vec<Region> = self.regions.iter().filter(own).cloned().collect();
        if own.is_empty() {
            return self.warp_barrier(out);
        }
        let region = own[self.random.below(own.len() as u32) as usize].clone();
        let Permission::Own(owner) = region.state else { return };
        self.warp_barrier(out);
        self.load_from_lane(&region, owner, out);
        self.warp_barrier(out);
    }

    fn load_from_lane(&mut self, region: &Region, owner: Owner, out: &mut Vec<Stmt>) {
        let lane = self.push(Type::U32, Expr::Builtin(Builtin::Lane, 0));
        let first = self.binary(BinaryOp::Sub, self.thread, lane);
        let away = self.lanes_away();
        let op = self.random.pick(&[BinaryOp::Xor, BinaryOp::Add]);
        let other = self.binary(op, lane, away);
        // The warp's lanes end with the block's threads.
        let size = self.push(Type::U32, Expr::Builtin(Builtin::WarpSize, 0));
        let threads = self.u32(self.shape.block);
        let rest = self.binary(BinaryOp::Sub, threads, first);
        let lanes = self.binary(BinaryOp::Min, rest, size);
        let exists = self.binary(BinaryOp::Lt, other, lanes);
        let other = self.binary(BinaryOp::Add, first, other);
        let other = self.select(exists, other, self.thread);
        let itself = std::mem::replace(&mut self.thread, other);
        let index = self.own_index(region, owner, out);
        self.thread = itself;
        let (dst, place, site) = (self.var(region.element), region.place, self.site());
        out.push(if region.atomic {
            let (order, scope) = (wattle_memory::ReadOrder::Relaxed, self.random.pick(&self.profile.scopes));
            Stmt::AtomicLoad { dst, place, index, order, scope, site }
        } else {
            Stmt::Load { dst, place, index, site }
        });
    }
}
