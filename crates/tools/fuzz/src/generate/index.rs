//! Indices: of which thread's element, in how many dimensions, and within bounds.

use wattle_ir::{BinaryOp, DivOp, Expr, ExprId, Place, Stmt, Type};

use super::{Generator, Owner, Region};

/// How many temporaries a bounded index needs at most, and one of several dimensions.
const BOUND_TEMP: usize = 0;
const DIMENSION_TEMPS: usize = 4;

impl Generator<'_> {
    /// Makes a value below `len`, which is not 0. It may take a statement that sets the temporary of that number.
    pub(super) fn below(&mut self, len: u32, temp: usize, out: &mut Vec<Stmt>) -> ExprId {
        if len == 1 && self.random.coin() {
            return self.u32(0);
        }
        let value = self.value(Type::U32, 1);
        let last = self.u32(len - 1);
        match self.random.below(5) {
            0 => {
                let constant = self.random.below(len);
                self.u32(constant)
            }
            1 | 2 if len.is_power_of_two() => self.binary(BinaryOp::And, value, last),
            1 => self.binary(BinaryOp::Min, value, last),
            2 => {
                let within = self.binary(BinaryOp::Le, value, last);
                let other = self.random.below(len);
                let other = self.u32(other);
                self.select(within, value, other)
            }
            // The temporaries are not known to be the same for the whole block.
            _ if self.uniform_only => self.binary(BinaryOp::Min, value, last),
            _ => {
                let right = self.u32(len);
                let (dst, site) = (self.temp(temp), self.site());
                out.push(Stmt::Divide { dst, op: DivOp::Rem, left: value, right, site });
                self.value_of(dst)
            }
        }
    }

    /// Makes an index that may be out of bounds.
    pub(super) fn perhaps_beyond(&mut self, index: ExprId, len: u32) -> ExprId {
        if !self.wrong() {
            return index;
        }
        let (condition, value) = (self.value(Type::Bool, 2), self.value(Type::U32, 1));
        let len = self.u32(len);
        let beyond = self.binary(BinaryOp::Max, value, len);
        self.select(condition, index, beyond)
    }

    /// As [`Generator::below`], for memory that the thread may read wherever it likes: now and then out of bounds.
    pub(super) fn any_below(&mut self, len: u32, temp: usize, out: &mut Vec<Stmt>) -> ExprId {
        if self.wrong() {
            return self.value(Type::U32, 2);
        }
        self.below(len, temp, out)
    }

    /// The number of the thread that the thread stands for in its block.
    fn owner(&mut self, owner: Owner) -> ExprId {
        let (thread, threads) = (self.thread, self.shape.block);
        match owner {
            Owner::Straight => thread,
            Owner::Mirrored => {
                let last = self.u32(threads - 1);
                self.binary(BinaryOp::Sub, last, thread)
            }
            Owner::Turned(by) => {
                let (by, threads) = (self.u32(by), self.u32(threads));
                let turned = self.binary(BinaryOp::Add, thread, by);
                let over = self.binary(BinaryOp::Ge, turned, threads);
                let round = self.binary(BinaryOp::Sub, turned, threads);
                self.select(over, round, turned)
            }
        }
    }

    /// The index of the first element of the block's part.
    fn base(&mut self, region: &Region) -> Option<ExprId> {
        region.global.then(|| self.times(self.block, region.block_len(&self.shape)))
    }

    /// The place-wide index of the element that has that number in the block's part.
    pub(super) fn in_block(&mut self, region: &Region, number: ExprId) -> ExprId {
        match self.base(region) {
            Some(base) => self.binary(BinaryOp::Add, base, number),
            None => number,
        }
    }

    /// The index of the thread's own element of that number, which is below [`Region::per`].
    pub(super) fn own(&mut self, region: &Region, owner: Owner, number: ExprId) -> ExprId {
        let owner = self.owner(owner);
        let within = if region.per == 1 {
            owner
        } else if region.packed {
            let first = self.times(owner, region.per);
            self.binary(BinaryOp::Add, first, number)
        } else {
            let first = self.times(number, self.shape.block);
            self.binary(BinaryOp::Add, first, owner)
        };
        self.in_block(region, within)
    }

    /// The index, in all dimensions, of the element that has that number in the place.
    pub(super) fn spread(&mut self, place: Place, extent: &[u32], number: ExprId, out: &mut Vec<Stmt>) -> Vec<ExprId> {
        let mut index = vec![number; extent.len()];
        let mut temp = DIMENSION_TEMPS;
        for d in (1..extent.len()).rev() {
            let right = if self.random.coin() {
                self.u32(extent[d])
            } else {
                self.push(Type::U32, Expr::Extent(place, d as u8))
            };
            let left = index[0];
            for (op, at) in [(DivOp::Rem, d), (DivOp::Div, 0)] {
                let (dst, site) = (self.temp(temp), self.site());
                out.push(Stmt::Divide { dst, op, left, right, site });
                index[at] = self.value_of(dst);
                temp += 1;
            }
        }
        index
    }

    /// The index of one of the thread's own elements.
    pub(super) fn own_index(&mut self, region: &Region, owner: Owner, out: &mut Vec<Stmt>) -> Vec<ExprId> {
        let number = self.below(region.per, BOUND_TEMP, out);
        let own = self.own(region, owner, number);
        self.spread_or_beyond(region, own, out)
    }

    /// The index of any element of the block's part.
    pub(super) fn block_index(&mut self, region: &Region, out: &mut Vec<Stmt>) -> Vec<ExprId> {
        let number = self.below(region.block_len(&self.shape), BOUND_TEMP, out);
        let number = self.in_block(region, number);
        self.spread_or_beyond(region, number, out)
    }

    fn spread_or_beyond(&mut self, region: &Region, number: ExprId, out: &mut Vec<Stmt>) -> Vec<ExprId> {
        let mut index = self.spread(region.place, &region.extent, number, out);
        index[0] = self.perhaps_beyond(index[0], region.extent[0]);
        index
    }

    /// The index of any element of a view that all may use.
    pub(super) fn common_index(&mut self, extent: &[u32], out: &mut Vec<Stmt>) -> Vec<ExprId> {
        (0..extent.len()).map(|d| self.any_below(extent[d], BOUND_TEMP + d, out)).collect()
    }
}
