//! Runs a thread from one action to the next.

use wattle_check::search::Action;
use wattle_modules::code::{Access, NO_REG, Op, Step};
use wattle_modules::types::Space;
use wattle_modules::{Deferred, Effect, Value, step};

use super::ModuleThread;
use super::effects::Unknown;
use crate::world::{WaitsForEnded, World};

impl ModuleThread {
    /// Runs to the next action, if it is scheduled.
    pub(super) fn run_on(&mut self, world: &World) -> Action {
        loop {
            if self.ended {
                return Action::Done;
            }
            let action = match self.open.take() {
                Some(open) => self.go_on(world, open),
                None => self.instruction(world),
            };
            if let Some(action) = action {
                return action;
            }
        }
    }

    /// Executes the instruction at which it stands: the action that comes of it, if one does.
    fn instruction(&mut self, world: &World) -> Option<Action> {
        let (part, at) = (self.part(world), self.cursor.at);
        let (kernel, flow) = (part.kernel(), &part.flow);
        if let (Some(dead), false) = (flow.loops.dead_at(at as usize), self.announced) {
            self.forget(dead);
            (self.announced, self.behind) = (true, false);
            return Some(Action::LoopHead { label: at });
        }
        let next = kernel.steps.get(at as usize);
        if let Some(step) = next {
            if part.leaves_open() {
                self.note_unfixed(world, at, step);
            }
            if let Some(number) = self.lets_unwritten_matter(world, step) {
                return Some(self.unwritten(world, at, number));
            }
        }
        if let Some(next) = flow.passes_to(at as usize) {
            return self.pass(world, at, next);
        }
        if let Some(step) = next {
            if self.waits_for_space(world, step) {
                return Some(Action::NeedsValue);
            }
            self.note_behind(world, at, step);
            if let Op::Test { orders: true, a, b, .. } = step.op {
                let [a, b] = [a, b].map(|side| side.get(&self.registers, &kernel.constants).known());
                world.compares(self.statement(at), a, b);
            }
        }
        let before = self.cursor;
        let kept = self.unplaced.then(|| (self.announced, self.iterations.clone()));
        let effect = step(kernel, &mut self.cursor, &mut self.registers);
        if self.cursor.at != at {
            self.announced = false;
            flow.structure.go(at, self.cursor.at, &mut self.iterations);
        }
        if matches!(effect, Effect::Back) && flow.loops.goes_round(at as usize) {
            let Some((announced, iterations)) = kept else { return Some(self.go_back(world, at)) };
            self.cursor = before;
            (self.announced, self.iterations) = (announced, iterations);
            return Some(Action::NeedsValue);
        }
        self.perform(world, at, effect).unwrap_or_else(|Unknown| {
            self.cursor = before;
            Some(Action::NeedsValue)
        })
    }

    /// Goes on behind a branch whose two ways are one.
    fn pass(&mut self, world: &World, at: u32, next: u32) -> Option<Action> {
        let flow = &self.part(world).flow;
        let goes_round = next <= at && flow.loops.goes_round(at as usize);
        if goes_round && self.unplaced {
            return Some(Action::NeedsValue);
        }
        self.cursor.at = next;
        self.announced = false;
        flow.structure.go(at, next, &mut self.iterations);
        goes_round.then(|| self.go_back(world, at))
    }

    /// Begins another iteration of the loop at whose head it is, by a jump back from an instruction.
    fn go_back(&mut self, world: &World, from: u32) -> Action {
        let head = self.cursor.at as usize;
        self.forget(self.part(world).flow.loops.dead_at(head).unwrap_or_default());
        (self.announced, self.behind) = (true, false);
        let waits = self.part(world).flow.loops.exits_on_memory(head);
        let ends = self.part(world).flow.loops.ends(head);
        Action::BackEdge { label: head as u32, source: self.statement(from), waits, ends }
    }

    /// Records that it may have ended at a load or update whose place it does not know yet: that may be out of bounds.
    /// What Wattle emits has looked at each index itself.
    pub(super) fn note_place(&mut self, world: &World, address: Deferred) {
        self.unplaced |= address.known().is_none() && !world.is_compiled && self.ends_at_faults(world);
    }

    /// Records whether it has gone on, since its way parted from that of others, where they come from a barrier.
    fn note_behind(&mut self, world: &World, at: u32, step: &Step) {
        if self.part(world).waits == WaitsForEnded::Always {
            return;
        }
        if step.guard.reg != NO_REG && matches!(step.op, Op::Branch { .. } | Op::Exit) {
            self.behind = false;
            return;
        }
        let is_common = |access: &Access| matches!(access.space, Space::Global | Space::Shared | Space::Generic);
        let acts = matches!(step.op, Op::Fence(_)) || step.op.outline(|_| {}, |_| {}).access.is_some_and(is_common);
        self.behind |= acts && self.part(world).flow.is_behind_barriers(at as usize);
    }

    /// Whether a generic address that is still open hides the storage class of an access, which is a part of its label
    /// in SPIR-V.
    fn waits_for_space(&self, world: &World, step: &Step) -> bool {
        let generic = |access: &&Access| access.space == Space::Generic;
        let access = step.op.outline(|_| {}, |_| {}).access.filter(generic);
        let constants = &self.part(world).kernel().constants;
        let is_open = |access: &Access| access.base.get(&self.registers, constants).known().is_none();
        self.part(world).spirv.is_some() && access.is_some_and(is_open)
    }
}
