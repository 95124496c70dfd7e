//! The launch's shape, parameters, arguments, and the block's own memory.

use wattle_ir::{
    Access, ArrayExtents, BinaryOp, Builtin, Const, ElementLayout, Expr, ExprId, Field, Param, ParamId, ParamKind,
    Place, SharedArray, SharedId, SharedLen, Stmt, Type,
};
use wattle_memory::Scope;

use super::{Common, Generator, Owner, Permission, Region, Shape, SumKind};
use crate::case::{ArgumentValue, ViewValue};
use crate::elements::LAYOUTS;

/// A parameter or a shared array that is to be made.
#[derive(Clone, Copy)]
enum Wish {
    Scalar,
    /// A view of which each thread of a block owns a part.
    Part(Access),
    /// A view that all blocks use together.
    Common(Access),
    Digest,
    /// The counter, and the total, of the last thread's reduction.
    Counter,
    Total,
}

const NAMES: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "k", "m", "n", "p"];

impl Generator<'_> {
    /// Chooses the shape, the parameters and the arguments.
    pub(super) fn set_up(&mut self) {
        self.shape = self.random_shape();
        self.random.turn_page();
        let mut wishes = vec![Wish::Digest];
        wishes.extend((0..self.random.within(2, 5)).map(|_| Wish::Scalar));
        let parts = [Access::PerItem, Access::Shared, Access::Shared, Access::Atomic];
        wishes.extend((0..self.random.within(1, 3)).map(|_| Wish::Part(self.random.pick(&parts))));
        let commons = [Access::Read, Access::Read, Access::Shared, Access::Atomic, Access::Atomic];
        wishes.extend((0..self.random.within(1, 2)).map(|_| Wish::Common(self.random.pick(&commons))));
        let reduces = self.profile.scopes.iter().any(|&scope| scope > Scope::Block) && self.random.coin();
        if reduces {
            wishes.extend([Wish::Counter, Wish::Total]);
        }
        let (mut counter, mut total) = (None, None);
        while !wishes.is_empty() {
            let wish = wishes.swap_remove(self.random.below(wishes.len() as u32) as usize);
            match wish {
                Wish::Scalar => self.scalar(),
                Wish::Part(access) => self.part(access),
                Wish::Common(access) => self.common(access),
                Wish::Digest => {
                    let extent = self.extent_for(self.shape.grid * self.shape.block);
                    // The last thread's reduction reads what others wrote.
                    let access = if reduces || self.random.coin() { Access::Shared } else { Access::PerItem };
                    let place = self.view(access, Type::U32, &extent, 1, |this| this.random.below(100) as u64);
                    self.digest = Some((place, extent));
                }
                Wish::Counter => counter = Some(self.view(Access::Atomic, Type::U32, &[1], 1, |_| 0)),
                Wish::Total => total = Some(self.view(Access::Shared, Type::U32, &[1], 1, |_| 0)),
            }
        }
        self.last = counter.zip(total);
        for _ in 0..self.random.below(3) {
            self.shared_array();
        }
    }

    fn random_shape(&mut self) -> Shape {
        let rank = self.random.within(1, 4) as usize;
        self.kernel.rank = rank;
        let most = self.profile.most_threads.clamp(1, 64);
        let largest = most.min(self.random.pick(&[1, 4, 8, 8, 16, 32]));
        let size = self.profile.warp_size;
        self.warps = size > 0 && self.random.coin() && !(self.profile.whole_warps && size > most);
        let block = if self.warps && self.profile.whole_warps {
            size * self.random.within(1, (largest / size).max(1))
        } else {
            self.random.within(1, largest)
        };
        let grid = self.random.within(1, (most / block).clamp(1, 8)).min(self.random.pick(&[1, 2, 3, 4, 8]));
        let (blocks, threads) = (self.factors(grid, rank), self.factors(block, rank));
        Shape { blocks, threads, block, grid }
    }

    /// Picks numbers whose product is `number`, one for each dimension.
    fn factors(&mut self, mut number: u32, rank: usize) -> Vec<u32> {
        let (mut factors, mut random) = (vec![1; rank], self.random.branch());
        let mut divisor = 2;
        while number > 1 {
            if number.is_multiple_of(divisor) {
                number /= divisor;
                factors[random.below(rank as u32) as usize] *= divisor;
            } else {
                divisor += 1;
            }
        }
        factors
    }

    fn name(&self, letter: usize) -> &'static str {
        NAMES[letter % NAMES.len()]
    }

    fn param(&mut self, kind: ParamKind, argument: ArgumentValue) -> ParamId {
        let id = ParamId(self.kernel.params.len() as u32);
        self.kernel.params.push(Param { name: self.name(id.index()), kind, field: None });
        self.arguments.push(argument);
        id
    }

    fn scalar(&mut self) {
        let ty = self.any_type();
        let raw = self.raw_value(ty);
        let id = self.param(ParamKind::Scalar(ty), ArgumentValue::Scalar(Const { ty, raw }));
        self.scalars.push((ty, id));
    }

    /// Makes a view with a buffer that holds what `content` gives; `numbers` is the count of numbers in an element.
    fn view(
        &mut self,
        access: Access,
        element: Type,
        extent: &[u32],
        numbers: u32,
        mut content: impl FnMut(&mut Self) -> u64,
    ) -> Place {
        let rank = extent.len();
        let margins = self.random.one_in(3);
        let [before, after] = [(); 2].map(|()| {
            let margin: Vec<u32> = (0..rank).map(|_| if margins { self.random.below(3) } else { 0 }).collect();
            if margin.iter().all(|&elements| elements == 0) { Vec::new() } else { margin }
        });
        let mut value = ViewValue { extent: extent.to_vec(), before, after, contents: Vec::new() };
        let count = value.buffer_extent().iter().product::<u32>() * numbers;
        let branch = self.random.branch();
        let outer = std::mem::replace(&mut self.random, branch);
        value.contents = (0..count).map(|_| content(self)).collect();
        self.random = outer;
        Place::Param(self.param(ParamKind::View { access, element, rank }, ArgumentValue::View(value)))
    }

    /// Picks an extent, in some dimensions, of at least `elements` elements.
    fn extent_for(&mut self, elements: u32) -> Vec<u32> {
        let rank = self.random.pick(&[1, 1, 1, 2, 2, 3, 4]);
        let mut extent: Vec<u32> = (0..rank).map(|_| self.random.within(1, 3)).collect();
        let rest: u32 = extent[1..].iter().product();
        extent[0] = elements.div_ceil(rest) + self.random.pick(&[0, 0, 0, 1]);
        extent
    }

    fn element_for(&mut self, access: Access) -> Option<Type> {
        if access == Access::Atomic { self.random.choose(&self.profile.atomics) } else { Some(self.element()) }
    }

    /// The layout of elements of several numbers that the device has.
    fn layout(&mut self) -> Option<&'static ElementLayout> {
        let has =
            |layout: &&ElementLayout| layout.numbers().iter().all(|number| self.profile.types.contains(&number.ty));
        let layouts: Vec<&ElementLayout> = LAYOUTS.iter().copied().filter(has).collect();
        self.random.choose(&layouts)
    }

    /// Makes a view of elements of several numbers; gives the place and the type of each.
    fn view_of(&mut self, access: Access, layout: &ElementLayout, extent: &[u32]) -> Vec<(Place, Type)> {
        let types: Vec<Type> = layout.numbers().iter().map(|number| number.ty).collect();
        let before = self.kernel.params.len();
        let mut at = 0;
        let first = self.view(access, types[0], extent, types.len() as u32, |this| {
            at += 1;
            this.raw_value(types[(at - 1) % types.len()])
        });
        let first_id = ParamId(before as u32);
        self.kernel.params[before].field = Field::of(first_id, layout, 0);
        let mut places = vec![(first, types[0])];
        for (number, &element) in types.iter().enumerate().skip(1) {
            let kind = ParamKind::View { access, element, rank: extent.len() };
            let id = self.param(kind, ArgumentValue::Number);
            let (name, field) = (self.kernel.params[before].name, Field::of(first_id, layout, number));
            self.kernel.params[id.index()] = Param { name, kind, field };
            places.push((Place::Param(id), element));
        }
        places
    }

    /// Makes a view of elements of several numbers of which each thread of a block owns a part: each number is memory
    /// of its own.
    fn part_of_elements(&mut self, access: Access, layout: &ElementLayout) {
        let per = self.random.within(1, 3);
        let extent = self.extent_for(self.shape.grid * self.shape.block * per);
        let fixed = access == Access::PerItem;
        let state =
            if fixed { Permission::Own(Owner::Straight) } else { self.some_state(false, layout.numbers()[0].ty) };
        let (group, packed) = (Some(ParamId(self.kernel.params.len() as u32)), self.random.coin());
        for (place, element) in self.view_of(access, layout, &extent) {
            let extent = extent.clone();
            let (atomic, global) = (false, true);
            self.regions.push(Region { place, element, extent, atomic, global, per, packed, fixed, group, state });
        }
    }

    fn part(&mut self, access: Access) {
        if access != Access::Atomic
            && self.random.one_in(4)
            && let Some(layout) = self.layout()
        {
            return self.part_of_elements(access, layout);
        }
        let Some(element) = self.element_for(access) else {
            return;
        };
        let per = self.random.within(1, 3);
        let extent = self.extent_for(self.shape.grid * self.shape.block * per);
        let atomic = access == Access::Atomic;
        let fixed = access == Access::PerItem;
        let state = if fixed { Permission::Own(Owner::Straight) } else { self.some_state(atomic, element) };
        let place = self.contents_for(access, element, &extent, state);
        let packed = self.random.coin();
        self.regions.push(Region {
            place,
            element,
            extent,
            atomic,
            global: true,
            per,
            packed,
            fixed,
            group: None,
            state,
        });
    }

    /// Makes a view with contents that suit the state.
    fn contents_for(&mut self, access: Access, element: Type, extent: &[u32], state: Permission) -> Place {
        if element.is_float() && state == Permission::Sum(SumKind::Add) {
            self.view(access, element, extent, 1, |this| this.raw_whole(element))
        } else {
            self.view(access, element, extent, 1, |this| this.raw_value(element))
        }
    }

    fn common(&mut self, access: Access) {
        if access != Access::Atomic
            && self.random.one_in(6)
            && let Some(layout) = self.layout()
        {
            let elements = self.random.within(1, 12);
            let extent = self.extent_for(elements);
            for (place, element) in self.view_of(access, layout, &extent) {
                self.commons.push(Common { place, element, extent: extent.clone(), sum: None });
            }
            return;
        }
        let Some(element) = self.element_for(access) else {
            return;
        };
        let elements = self.random.within(1, 12);
        let extent = self.extent_for(elements);
        // Blocks share no memory where there is no scope that includes them.
        let alone = self.shape.grid > 1 && self.profile.scopes.iter().all(|&scope| scope == Scope::Block);
        let sum = (access == Access::Atomic && !alone && !self.random.one_in(4)).then(|| self.sum_kind(element));
        let state = sum.map_or(Permission::Open, Permission::Sum);
        let place = self.contents_for(access, element, &extent, state);
        self.commons.push(Common { place, element, extent, sum });
    }

    fn shared_array(&mut self) {
        let atomic = self.random.one_in(3);
        let Some(element) = self.element_for(if atomic { Access::Atomic } else { Access::Shared }) else {
            return;
        };
        let per = self.random.within(1, 3);
        let least = per * self.shape.block;
        let at_launch = self.shared_len == 0 && self.random.one_in(3);
        let extent = if at_launch { vec![least] } else { self.extent_for(least) };
        let len = match extent.len() {
            _ if at_launch => {
                self.shared_len = least;
                SharedLen::AtLaunch
            }
            1 => SharedLen::Static(extent[0]),
            _ => SharedLen::Grid(ArrayExtents::new(&extent)),
        };
        let place = Place::Shared(SharedId(self.kernel.shared.len() as u32));
        let site = self.site();
        self.kernel.shared.push(SharedArray { name: "tile", element, len, atomic, site, field: None });
        let (packed, state) = (self.random.coin(), Permission::Own(Owner::Straight));
        let region =
            Region { place, element, extent, atomic, global: false, per, packed, fixed: false, group: None, state };
        self.regions.push(region);
    }

    /// Makes the first statements: the thread's place, and values for the block's own memory.
    pub(super) fn begin(&mut self, out: &mut Vec<Stmt>) {
        let (threads, blocks) = (self.shape.threads.clone(), self.shape.blocks.clone());
        let outer = self.random.pick(&[Builtin::GridExtent, Builtin::FrameCount]);
        let inner = self.random.pick(&[Builtin::BlockExtent, Builtin::FrameExtent]);
        self.thread = self.linear(Builtin::ThreadInBlock, inner, &threads);
        self.block = self.linear(Builtin::BlockInGrid, outer, &blocks);
        if self.random.coin() {
            self.thread = self.kept("thread", self.thread, false, out);
        }
        if self.random.coin() {
            self.block = self.kept("block", self.block, true, out);
        }
        let before = self.times(self.block, self.shape.block);
        self.in_grid = self.binary(BinaryOp::Add, before, self.thread);
        if self.random.coin() {
            self.in_grid = self.kept("in_grid", self.in_grid, false, out);
        }
        for region in self.regions.clone().iter().filter(|region| !region.global) {
            self.set_own(region, Owner::Straight, false, out);
        }
    }

    fn kept(&mut self, name: &'static str, value: ExprId, same: bool, out: &mut Vec<Stmt>) -> ExprId {
        let slot = self.slot(Type::U32, Some(name));
        if same {
            self.uniform_slots.push(slot);
        } else {
            self.readable.push(slot);
        }
        self.assign(slot, value, out);
        self.value_of(slot)
    }

    /// Makes one number of an index in several dimensions.
    fn linear(&mut self, index: Builtin, extent: Builtin, known: &[u32]) -> ExprId {
        let mut number = self.push(Type::U32, Expr::Builtin(index, 0));
        for (d, &known) in known.iter().enumerate().skip(1) {
            let dimension = d as u8;
            let extent = if self.random.coin() {
                self.u32(known)
            } else {
                self.push(Type::U32, Expr::Builtin(extent, dimension))
            };
            let before = self.binary(BinaryOp::Mul, number, extent);
            let at = self.push(Type::U32, Expr::Builtin(index, dimension));
            number = self.binary(BinaryOp::Add, before, at);
        }
        number
    }
}
