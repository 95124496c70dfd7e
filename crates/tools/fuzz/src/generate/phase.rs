//! Phases: control flow that is the same for the whole block, and barriers, at which memory changes hands.

use wattle_ir::{BinaryOp, Label, Stmt, Type};

use super::{Generator, Owner, Permission, SumKind};

/// How often a statement in nested loops may run, at most.
const MOST_REPEATS: u32 = 8;

/// A label that a jump of the whole block may name, and the states that all parts of memory have where it goes.
pub(super) struct UniformJump {
    label: Label,
    is_loop: bool,
    states: Vec<Permission>,
}

impl Generator<'_> {
    /// Makes something that all threads of the block do together.
    pub(super) fn uniform_item(&mut self, depth: u32, jumps: &mut Vec<UniformJump>, out: &mut Vec<Stmt>) {
        let place = self.random.place();
        self.any_uniform_item(depth, jumps, out);
        self.random.mark(place);
    }

    fn any_uniform_item(&mut self, depth: u32, jumps: &mut Vec<UniformJump>, out: &mut Vec<Stmt>) {
        match self.random.below(if depth == 0 { 10 } else { 15 }) {
            0..=3 => {
                let mut count = 0;
                while count == 0 || self.random.more(count, 4) {
                    self.statement(3, &mut Vec::new(), out);
                    count += 1;
                }
            }
            4 | 5 => {
                self.budget = self.budget.saturating_sub(1);
                let wanted = self.other_states();
                self.change(wanted, out);
            }
            6 => {
                self.budget = self.budget.saturating_sub(1);
                let ty = self.any_type();
                let value = self.uniformly(|this| this.value(ty, 2));
                let slot = self.uniform_var(ty);
                self.assign(slot, value, out);
            }
            7 => {
                self.budget = self.budget.saturating_sub(1);
                self.uniform_load(out);
            }
            8 => self.uniform_jump(jumps, out),
            9 if self.warps => self.warp_items(3, 5, out),
            10..=12 if depth > 0 => self.uniform_if(depth, jumps, out),
            13 if depth > 0 && self.repeats < MOST_REPEATS => self.uniform_loop(depth, jumps, out),
            14 => {
                let label = self.label();
                jumps.push(UniformJump { label, is_loop: false, states: self.states() });
                let body = self.uniform_block(depth, jumps);
                jumps.pop();
                out.push(Stmt::Block { label, body });
            }
            _ => self.statement(3, &mut Vec::new(), out),
        }
    }

    /// Makes a block after which all memory is in the states that it has now.
    fn uniform_block(&mut self, depth: u32, jumps: &mut Vec<UniformJump>) -> Vec<Stmt> {
        let (before, mut block) = (self.states(), Vec::new());
        let mut count = 0;
        while count == 0 || self.random.more(count, 3) {
            self.uniform_item(depth - 1, jumps, &mut block);
            count += 1;
        }
        self.restore(before, &mut block);
        block
    }

    fn uniform_if(&mut self, depth: u32, jumps: &mut Vec<UniformJump>, out: &mut Vec<Stmt>) {
        let condition = self.uniformly(|this| this.value(Type::Bool, 2));
        let then = self.uniform_block(depth, jumps);
        let otherwise = if self.random.coin() { Vec::new() } else { self.uniform_block(depth, jumps) };
        out.push(Stmt::If { condition, then, otherwise });
    }

    fn uniform_loop(&mut self, depth: u32, jumps: &mut Vec<UniformJump>, out: &mut Vec<Stmt>) {
        let counter = self.slot(Type::U32, Some("round"));
        self.uniform_slots.push(counter);
        let most = self.random.within(1, 3);
        let limit = if self.random.coin() {
            self.u32(most)
        } else {
            let (value, most) = (self.uniformly(|this| this.value(Type::U32, 1)), self.u32(most));
            let rounds = self.binary(BinaryOp::Min, value, most);
            let limit = self.slot(Type::U32, Some("rounds"));
            self.uniform_slots.push(limit);
            self.assign(limit, rounds, out);
            self.value_of(limit)
        };
        let zero = self.u32(0);
        self.assign(counter, zero, out);
        let (label, site) = (self.label(), self.site());
        let (count, next) = (self.value_of(counter), self.next(counter));
        let condition = self.binary(BinaryOp::Ge, count, limit);
        let mut body = vec![Stmt::If { condition, then: vec![Stmt::Break(label)], otherwise: Vec::new() }];
        let before = self.repeats;
        self.repeats *= most;
        jumps.push(UniformJump { label, is_loop: true, states: self.states() });
        body.extend(self.uniform_block(depth, jumps));
        jumps.pop();
        let mut continuing = Vec::new();
        if self.random.one_in(3) {
            self.simple(&mut continuing);
        }
        self.assign(counter, next, &mut continuing);
        self.repeats = before;
        let bounded = self.random.coin();
        out.push(Stmt::Loop { label, body, continuing, bounded, site });
    }

    /// Makes a jump, or the end, of the whole block.
    fn uniform_jump(&mut self, jumps: &[UniformJump], out: &mut Vec<Stmt>) {
        let states = self.states();
        let there: Vec<_> =
            jumps.iter().filter(|jump| jump.states == states).map(|jump| (jump.label, jump.is_loop)).collect();
        let jump = match self.random.choose(&there) {
            Some((label, true)) if self.random.coin() => Stmt::Continue(label),
            Some((label, _)) => Stmt::Break(label),
            None if self.random.one_in(4) => Stmt::Return,
            None => return,
        };
        let condition = self.uniformly(|this| this.value(Type::Bool, 2));
        let mut then = Vec::new();
        if self.random.coin() {
            self.simple(&mut then);
        }
        then.push(jump);
        out.push(Stmt::If { condition, then, otherwise: Vec::new() });
    }

    fn states(&self) -> Vec<Permission> {
        self.regions.iter().map(|region| region.state).collect()
    }

    /// Picks other states for some parts of memory.
    fn other_states(&mut self) -> Vec<Permission> {
        let mut states = self.states();
        for (number, state) in states.iter_mut().enumerate() {
            let region = &self.regions[number];
            if !region.fixed && self.random.one_in(3) == (*state == Permission::Open) {
                let (atomic, element) = (region.atomic, region.element);
                *state = self.some_state(atomic, element);
            }
        }
        states
    }

    pub(super) fn some_state(&mut self, atomic: bool, element: Type) -> Permission {
        match self.random.below(6) {
            0 => Permission::Own(Owner::Straight),
            1 => Permission::Own(Owner::Mirrored),
            2 => Permission::Own(Owner::Turned(self.random.below(self.shape.block))),
            3 | 4 if atomic => Permission::Sum(self.sum_kind(element)),
            _ => Permission::Open,
        }
    }

    /// Opens all memory with a state that can change.
    pub(super) fn open_all(&mut self, out: &mut Vec<Stmt>) {
        let wanted =
            self.regions.iter().map(|region| if region.fixed { region.state } else { Permission::Open }).collect();
        self.restore(wanted, out);
    }

    fn restore(&mut self, wanted: Vec<Permission>, out: &mut Vec<Stmt>) {
        if self.states() != wanted {
            self.change(wanted, out);
        }
    }

    /// A barrier, after which memory is in these states. What will be a sum of floats gets small whole numbers before,
    /// which takes a barrier more where it was not the threads' own.
    fn change(&mut self, wanted: Vec<Permission>, out: &mut Vec<Stmt>) {
        let exact = |element: Type, state| element.is_float() && state == Permission::Sum(SumKind::Add);
        let begins: Vec<usize> = (0..wanted.len())
            .filter(|&number| {
                let region = &self.regions[number];
                exact(region.element, wanted[number]) && region.state != wanted[number]
            })
            .collect();
        let foreign = |number: &&usize| !matches!(self.regions[**number].state, Permission::Own(_));
        let foreign: Vec<usize> = begins.iter().filter(foreign).copied().collect();
        if !foreign.is_empty() {
            self.barrier(out);
            foreign.iter().for_each(|&number| self.regions[number].state = Permission::Own(Owner::Straight));
        }
        for number in begins {
            let region = self.regions[number].clone();
            if let Permission::Own(owner) = region.state {
                self.set_own(&region, owner, true, out);
            }
        }
        self.barrier(out);
        for (region, state) in self.regions.iter_mut().zip(wanted) {
            region.state = state;
        }
    }

    pub(super) fn barrier(&mut self, out: &mut Vec<Stmt>) {
        let site = self.site();
        out.push(Stmt::Barrier { site });
    }
}
