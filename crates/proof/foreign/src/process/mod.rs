//! A thread of a module as a process of the search.

mod meeting;
mod unwritten;
mod vulkan;

use wattle_check::search::{Action, Address, Change, Members, Process};
use wattle_memory::{FenceOrder, Label, Level};
use wattle_modules::code::{Access, Exchange, NO_REG, Op, Reg, Special, Vote};
use wattle_modules::types::Space;
use wattle_modules::{Cursor, Deferred, Effect, Value, step};

use crate::access::{Cells, NoCells};
use crate::operations::{label, operator, spread};
use crate::world::{Part, World, statement};
use crate::wrong::Wrong;

/// The resources of the block's barriers are their numbers, 0 to 15; behind them each warp's own.
const WARP_BARRIERS: u64 = 16;

/// A thread of a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModuleThread {
    cursor: Cursor<Deferred>,
    registers: Vec<Deferred>,
    /// The bytes of its local memory.
    local: Vec<Deferred>,
    /// The number of its launch, of its block there, and its own in that.
    part: u32,
    block: u32,
    thread: u32,
    /// How often it has come to each barrier.
    arrivals: Vec<(u64, u32)>,
    /// The iterations that it has begun since it entered each loop with a barrier in it, by the loop's first instruction.
    iterations: Vec<(u32, u32)>,
    /// The access of which some cells are not done yet.
    open: Option<Open>,
    /// Whether the head of the loop that begins at the cursor has been reported.
    announced: bool,
    ended: bool,
    /// The number of writes before it is never scheduled again, if it is stopped.
    halts_after: Option<u32>,
    writes: u32,
}

/// An access of which some cells are not done yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Open {
    Load { at: u32, address: Deferred, read: Vec<Deferred>, any: bool },
    Store { at: u32, address: Deferred, values: Vec<Deferred>, written: u32 },
    Update { at: u32, any: bool },
    Meeting { at: u32, mask: u64 },
}

impl ModuleThread {
    pub(crate) fn new(world: &World, part: u32, block: u32, thread: u32) -> ModuleThread {
        let of = &world.parts[part as usize];
        ModuleThread {
            cursor: Cursor::default(),
            registers: of.registers(),
            local: of.local_bytes(block, thread),
            part,
            block,
            thread,
            arrivals: Vec::new(),
            iterations: Vec::new(),
            open: None,
            announced: false,
            ended: false,
            halts_after: None,
            writes: 0,
        }
    }

    /// The same thread, which is never scheduled again after its first `writes` writes.
    pub(crate) fn halting_after(self, writes: u32) -> ModuleThread {
        ModuleThread { halts_after: Some(writes), ..self }
    }

    /// Its launch.
    pub(crate) fn part<'w>(&self, world: &'w World) -> &'w Part {
        &world.parts[self.part as usize]
    }

    /// The number of an instruction of its kernel among those of all launches.
    pub(crate) fn statement(&self, at: u32) -> u32 {
        statement(self.part, at)
    }

    /// The memory that its block shares.
    pub(crate) fn shared_memory(&self, world: &World) -> u32 {
        world.shared_memory(self.part(world).first_block + self.block)
    }

    /// The size of its own memory in bytes.
    pub(crate) fn local_bytes(&self) -> u64 {
        self.local.len() as u64
    }

    fn set(&mut self, register: Reg, value: Deferred) {
        if register != NO_REG {
            self.registers[register as usize] = value;
        }
    }

    /// Clears the registers that nobody reads any more, so that threads with equal futures are equal.
    fn forget(&mut self, dead: &[Reg]) {
        dead.iter().for_each(|&register| self.set(register, Deferred::Known(0)));
    }

    /// The number of the instruction at which it is, among those of all launches.
    pub(crate) fn source(&self) -> usize {
        self.statement(self.cursor.at) as usize
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    fn end(&mut self) -> Action {
        self.ended = true;
        self.registers.fill(Deferred::Known(0));
        self.local.fill(Deferred::Known(0));
        Action::Done
    }

    fn fault(&mut self, world: &World, at: u32, wrong: Wrong) -> Option<Action> {
        Some(Action::Fault { fault: world.number_of(wrong), source: self.statement(at) })
    }

    /// Goes on with an access; `None` if it is done.
    fn go_on(&mut self, world: &World, open: Open) -> Option<Action> {
        let kernel = self.part(world).kernel();
        match open {
            Open::Load { at, address, read, .. } => {
                // `at` is the number of a load, since the thread's effect was one.
                let (access, to): (&Access, &[Reg]) = match &kernel.steps[at as usize].op {
                    Op::Load { access, d } => (access, std::slice::from_ref(d)),
                    Op::LoadMany { access, d } => (access, d),
                    _ => return None,
                };
                let cells = match Cells::of(world, self, at, access, address, to.len()) {
                    Ok(cells) => cells,
                    Err(NoCells::Spoilt) => return Some(Action::Halt),
                    Err(NoCells::Wrong(wrong)) => {
                        let nothing = Deferred::Known(0).any_if(self.part(world).spirv.is_some());
                        to.iter().for_each(|&register| self.set(register, nothing));
                        return self.fault(world, at, wrong);
                    }
                    Err(NoCells::Local(first)) => {
                        let bytes = first as usize..first as usize + to.len() * access.bytes as usize;
                        let read = self.local[bytes].to_vec();
                        let per_item = access.bytes as usize;
                        let cells = (0..read.len()).map(|byte| ((byte / per_item) as u32, byte as u64, 1));
                        self.loaded(access, to, &Cells { memory: None, all: cells.collect() }, &read);
                        return None;
                    }
                };
                if let (true, Some(memory)) = (access.read_only, cells.memory) {
                    world.read_only.touch(self.part, memory, false);
                }
                if read.len() < cells.all.len() {
                    let (target, label) = (cells.target(read.len()), label(world, access, false));
                    let any = address.is_any() || target.is_some_and(|target| world.unfixed.holds(target.address));
                    self.open = Some(Open::Load { at, address, read, any });
                    return Some(Action::Read { target, label, source: self.statement(at) });
                }
                self.loaded(access, to, &cells, &read);
                None
            }
            Open::Store { at, address, values, written } => {
                let access = match &kernel.steps[at as usize].op {
                    Op::Store { access, .. } | Op::StoreMany { access, .. } => access,
                    _ => return None,
                };
                let cells = match Cells::of(world, self, at, access, address, values.len()) {
                    Ok(cells) => cells,
                    Err(NoCells::Spoilt) => return Some(Action::Halt),
                    Err(NoCells::Wrong(wrong)) => return self.fault(world, at, wrong),
                    Err(NoCells::Local(first)) => {
                        for (byte, place) in (first as usize..).take(values.len() * access.bytes as usize).enumerate() {
                            let (item, part) = (byte / access.bytes as usize, byte % access.bytes as usize);
                            self.local[place] = values[item].part(8 * part as u32, 8);
                        }
                        return None;
                    }
                };
                self.touch_written(world, &cells);
                let (item, cell, width) = cells.all[written as usize];
                let first = cells.all.iter().find(|(of, ..)| *of == item).map_or(cell, |(_, first, _)| *first);
                let value = values[item as usize].part(8 * (cell - first) as u32, 8 * u32::from(width));
                if let Some(number) = value.unwritten() {
                    return Some(self.unwritten(world, at, number));
                }
                if self.leaves_any(world, &cells, written as usize, address, value) {
                    return Some(Action::Halt);
                }
                let value = value.known();
                let (target, mut label) = (cells.target(written as usize), label(world, access, true));
                if let (Some(memory), Some(spirv)) = (cells.memory, &self.part(world).spirv) {
                    label.atomic &= !spirv.is_left_unordered(memory);
                }
                if written as usize + 1 < cells.all.len() {
                    self.open = Some(Open::Store { at, address, values, written: written + 1 });
                }
                Some(Action::Write { target, value, label, source: self.statement(at) })
            }
            // It has no answer yet, so it is asked again.
            Open::Update { .. } | Open::Meeting { .. } => {
                self.open = Some(open);
                Some(Action::NeedsValue)
            }
        }
    }

    /// Sets the registers of a load from what was read of its cells.
    fn loaded(&mut self, access: &Access, to: &[Reg], cells: &Cells, read: &[Deferred]) {
        for (&register, item) in to.iter().zip(0u32..) {
            // The first cell holds the lowest bytes.
            let parts = cells.all.iter().zip(read).filter(|((of, ..), _)| *of == item).rev();
            let joined = |whole: Deferred, (&(_, _, width), &part): (&(u32, u64, u8), &Deferred)| {
                whole.above(8 * u32::from(width), part)
            };
            let value = parts.fold(Deferred::Known(0), joined);
            self.set(register, if access.sign_to == 0 { value } else { value.map(|bits| access.extended(bits)) });
        }
    }

    /// Records the memory that it writes, where some memory must not be written.
    fn touch_written(&self, world: &World, cells: &Cells) {
        if let (true, Some(memory)) = (self.part(world).reads_read_only, cells.memory) {
            world.read_only.touch(self.part, memory, true);
        }
    }

    /// The action of an atomic operation.
    fn update(
        &mut self,
        world: &World,
        at: u32,
        (access, address): (&Access, Deferred),
        operands: [Deferred; 2],
        change: Change,
    ) -> Option<Action> {
        let cells = match Cells::of(world, self, at, access, address, 1) {
            Ok(cells) => cells,
            Err(NoCells::Spoilt) => return Some(Action::Halt),
            Err(NoCells::Wrong(wrong)) => return self.fault(world, at, wrong),
            Err(NoCells::Local(_)) => {
                world.refuse(self.statement(at) as usize, "an atomic operation on local memory");
                return Some(Action::Halt);
            }
        };
        self.touch_written(world, &cells);
        let written = operands[0].zip(operands[1], |a, _| a);
        if self.leaves_any(world, &cells, 0, address, written) {
            return Some(Action::Halt);
        }
        let any = address.is_any() || cells.target(0).is_some_and(|target| world.unfixed.holds(target.address));
        self.open = Some(Open::Update { at, any });
        let (read, write) = (label(world, access, false), label(world, access, true));
        Some(Action::Update { target: cells.target(0), change, read, write, source: self.statement(at) })
    }

    /// The bytes of a load from parameters or constants.
    fn constant(&mut self, world: &World, access: &Access, address: u64, to: &[Reg]) -> Result<(), Wrong> {
        let bytes = if access.space == Space::Param { &self.part(world).params } else { self.part(world).constants() };
        for (&register, item) in to.iter().zip(0u64..) {
            let from = address.saturating_add(item * u64::from(access.bytes));
            let there = usize::try_from(from).ok().and_then(|from| bytes.get(from..)?.get(..access.bytes as usize));
            let there = there.ok_or(Wrong::Wild(from))?;
            let value = there.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
            let is_open = self.part(world).spirv.as_ref().is_some_and(|spirv| spirv.is_open(from));
            self.set(register, Deferred::Known(access.extended(value)).any_if(is_open));
        }
        Ok(())
    }

    /// The value of a special register; those that have none here are refused before.
    fn special(&self, world: &World, which: Special) -> u64 {
        let (grid, block) = (self.part(world).launch.grid, self.part(world).launch.block);
        let part = |linear: u32, of: [u32; 3], d: u8| match d {
            0 => linear % of[0],
            1 => linear / of[0] % of[1],
            _ => linear / of[0] / of[1],
        };
        u64::from(match which {
            Special::Thread(d) => part(self.thread, block, d),
            Special::Threads(d) => block[usize::from(d).min(2)],
            Special::Block(d) => part(self.block, grid, d),
            Special::Blocks(d) => grid[usize::from(d).min(2)],
            Special::Lane => self.thread % self.part(world).warp(),
            Special::Warp => self.thread / self.part(world).warp(),
            Special::DynamicShared => self.part(world).launch.dynamic_shared as u32,
            Special::TotalShared => self.part(world).shared_bytes() as u32,
            Special::Warps | Special::Sm | Special::Sms | Special::Grid | Special::Clock | Special::Timer => 0,
        })
    }
}

impl ModuleThread {
    /// Runs to the next action, if it is scheduled.
    fn run_on(&mut self, world: &World) -> Action {
        let kernel = self.part(world).kernel();
        loop {
            if self.ended {
                return Action::Done;
            }
            if let Some(open) = self.open.take() {
                if let Some(action) = self.go_on(world, open) {
                    return action;
                }
                continue;
            }
            let at = self.cursor.at;
            if let (Some(dead), false) = (self.part(world).flow.loop_at(at as usize), self.announced) {
                self.forget(dead);
                self.announced = true;
                return Action::LoopHead { label: at };
            }
            if let Some(step) = kernel.steps.get(at as usize)
                && self.part(world).spirv.is_some()
            {
                self.note_unfixed(world, at, step);
            }
            if let Some(step) = kernel.steps.get(at as usize)
                && let Some(number) = self.lets_unwritten_matter(kernel, step)
            {
                return self.unwritten(world, at, number);
            }
            let before = self.cursor;
            let effect = step(kernel, &mut self.cursor, &mut self.registers);
            if self.cursor.at != at {
                self.announced = false;
                self.part(world).flow.structure.go(at, self.cursor.at, &mut self.iterations);
            }
            match effect {
                Effect::None | Effect::Yield => {}
                Effect::NeedsValue => return Action::NeedsValue,
                Effect::Back => {
                    let head = self.cursor.at as usize;
                    self.forget(self.part(world).flow.loop_at(head).unwrap_or_default());
                    self.announced = true;
                    let waits = self.part(world).flow.exits_on_memory(head);
                    return Action::BackEdge { label: head as u32, source: self.statement(at), waits };
                }
                Effect::Load { access, address, to } => {
                    if !matches!(access.space, Space::Param | Space::Const) {
                        self.open = Some(Open::Load { at, address, read: Vec::new(), any: false });
                        continue;
                    }
                    let Some(address) = address.known() else {
                        self.cursor = before;
                        return Action::NeedsValue;
                    };
                    if let Err(wrong) = self.constant(world, access, address, to)
                        && let Some(action) = self.fault(world, at, wrong)
                    {
                        return action;
                    }
                }
                Effect::Store { access, address, values } => {
                    let bits = 8 * u32::from(access.bytes);
                    let value = |operand: &wattle_modules::code::Src| {
                        operand.get(&self.registers, &kernel.constants).part(0, bits)
                    };
                    let values = values.iter().map(value).collect();
                    self.open = Some(Open::Store { at, address, values, written: 0 });
                }
                Effect::Update { access, address, how, operand, to } if access.space == Space::Local => {
                    let Some(address) = address.known() else {
                        self.cursor = before;
                        return Action::NeedsValue;
                    };
                    match Cells::of(world, self, at, access, Deferred::Known(address), 1) {
                        Err(NoCells::Local(first)) => self.update_local(access, first, how, operand, to),
                        Err(NoCells::Wrong(wrong)) => {
                            if let Some(action) = self.fault(world, at, wrong) {
                                return action;
                            }
                        }
                        Ok(_) | Err(NoCells::Spoilt) => return Action::Halt,
                    }
                }
                Effect::Update { access, address, how, operand, .. } => {
                    let (op, ty) = operator(how, access.bytes);
                    let change = Change::Apply { op, ty, operand: operand.known() };
                    let operands = [operand, Deferred::Known(0)];
                    if let Some(action) = self.update(world, at, (access, address), operands, change) {
                        return action;
                    }
                }
                Effect::CompareExchange { access, address, expected, new, .. } => {
                    // One that fails writes the old value back in PTX, whose atom is always a read and a write.
                    let operands = [expected, new];
                    let writes_back = self.part(world).spirv.is_none();
                    let (expected, desired) = (expected.known(), new.known());
                    let change = Change::CompareExchange { expected, desired, writes_back };
                    if let Some(action) = self.update(world, at, (access, address), operands, change) {
                        return action;
                    }
                }
                Effect::Fence(fence) => {
                    let label = Label::fence(Level::of(fence.scope));
                    let label = match fence.order {
                        FenceOrder::Acquire => label.acquiring(),
                        FenceOrder::Release => label.releasing(),
                        FenceOrder::AcqRel => label.acquiring().releasing(),
                        FenceOrder::SeqCst => label.sequentially_consistent(),
                    };
                    return Action::Fence { label, source: self.statement(at) };
                }
                Effect::Barrier { waits, aligned, barrier, threads } => {
                    let count = threads.map(Value::known);
                    let (Some(barrier), Some(count)) =
                        (barrier.known(), count.map_or(Some(None), |count| count.map(Some)))
                    else {
                        self.cursor = before;
                        return Action::NeedsValue;
                    };
                    let members = match count {
                        Some(count) => Members::Quorum(count as u32),
                        None if self.part(world).waits_for_ended || !self.part(world).flow.exits_early => {
                            Members::Threads(self.part(world).members(self.block))
                        }
                        // PTX ISA 9.7.13.1: "… wait for non-exited threads of all other warps".
                        None => Members::Remaining(self.part(world).members(self.block)),
                    };
                    let mut barrier = self.barrier(world, at, barrier, members, waits);
                    barrier.converges = barrier.converges.filter(|_| aligned);
                    return Action::Barrier {
                        barrier,
                        label: Label::barrier(Level::Block),
                        source: self.statement(at),
                    };
                }
                Effect::Ordering(ordering) => return self.ordering(world, at, ordering),
                Effect::Exchange { how: Exchange::Barrier, mask, .. } => {
                    let Some(mask) = mask.known() else {
                        self.cursor = before;
                        return Action::NeedsValue;
                    };
                    let lanes = self.lanes(world, mask);
                    if !self.is_among(world, &lanes) {
                        return Action::Fault { fault: world.number_of(Wrong::NotInMask), source: self.statement(at) };
                    }
                    let members = lanes.iter().map(|&(_, thread)| thread).collect();
                    let barrier = self.barrier(world, at, self.warp_barrier(world), Members::Threads(members), true);
                    return Action::Barrier {
                        barrier,
                        label: Label::barrier(Level::Block),
                        source: self.statement(at),
                    };
                }
                Effect::Exchange { how, part, mask, predicate, .. } => {
                    let (Some(b), Some(c), Some(mask)) = (part[1].known(), part[2].known(), mask.known()) else {
                        self.cursor = before;
                        return Action::NeedsValue;
                    };
                    return self.exchange(world, at, how, part[0], [b, c], mask, predicate);
                }
                Effect::Special { which, to } => self.set(to, Deferred::Known(self.special(world, which))),
                Effect::Exit => return self.end(),
                Effect::Trap => {
                    self.end();
                    return Action::Fault { fault: world.number_of(Wrong::Trap), source: self.statement(at) };
                }
            }
        }
    }
}

impl Process for ModuleThread {
    type World = World;

    fn next(&mut self, world: &World) -> Action {
        let Some(most) = self.halts_after else { return self.run_on(world) };
        if most == 0 {
            return Action::Halt;
        }
        let before = self.clone();
        let action = self.run_on(world);
        if matches!(action, Action::Write { .. } | Action::Update { .. }) {
            if self.writes == most {
                // The thread stops before this write, now and whenever it is asked again.
                *self = before;
                return Action::Halt;
            }
            self.writes += 1;
        }
        action
    }

    fn answer(&mut self, world: &World, value: Option<u64>) {
        let value = value.map_or(Deferred::Pending, Deferred::Known);
        let kernel = self.part(world).kernel();
        match &mut self.open {
            Some(Open::Load { read, any, .. }) => read.push(value.any_if(*any)),
            Some(Open::Update { at, any }) => {
                let any = *any;
                let to = match kernel.steps[*at as usize].op {
                    Op::Rmw { d, .. } | Op::Cas { d, .. } => d,
                    _ => NO_REG,
                };
                self.open = None;
                self.set(to, value.any_if(any));
            }
            Some(Open::Meeting { at, mask }) => {
                let Op::Exchange { d, how, .. } = kernel.steps[*at as usize].op else { return };
                let mask = *mask;
                self.open = None;
                // The bits of a ballot are those of the lanes in the mask, one behind the other.
                let is_ballot = how == Exchange::Vote(Vote::Ballot);
                self.set(d, if is_ballot { value.map(|bits| spread(bits, mask)) } else { value });
            }
            Some(Open::Store { .. }) | None => {}
        }
    }

    /// Threads of one launch that stand at one place and read their positions no more do the same if the registers that
    /// they still read are equal.
    fn is_alike(&self, world: &World, other: &ModuleThread) -> bool {
        let (flow, at) = (&self.part(world).flow, self.cursor.at as usize);
        let same_registers = || {
            let live = flow.live(at);
            // The registers that an open access sets are not read before.
            let mut registers = self.registers.iter().zip(&other.registers).enumerate();
            registers.all(|(number, (own, others))| own == others || live.is_some_and(|live| !live.contains(number)))
        };
        self.part == other.part
            && self.cursor == other.cursor
            && !flow.reads_position(at)
            && self.open == other.open
            && self.local == other.local
            && self.arrivals == other.arrivals
            && self.iterations == other.iterations
            && (self.announced, self.ended, self.halts_after, self.writes)
                == (other.announced, other.ended, other.halts_after, other.writes)
            && same_registers()
    }

    /// The dependencies of a module are those of its instructions, so both outcomes of a branch are never explored; those
    /// of what Wattle emits are those that a compiler of it keeps.
    fn ways(&self, world: &World) -> Option<Vec<ModuleThread>> {
        let guard = self.part(world).kernel().steps.get(self.cursor.at as usize)?.guard;
        let is_open = guard.reg != NO_REG && self.registers[guard.reg as usize] == Deferred::Pending;
        if !world.is_compiled || !is_open || self.open.is_some() {
            return None;
        }
        let way = |holds: u64| {
            let mut way = self.clone();
            way.set(guard.reg, Deferred::Known(holds));
            way
        };
        Some(vec![way(0), way(1)])
    }

    fn any_pending(&self) -> bool {
        let is_pending = |value: &Deferred| *value == Deferred::Pending;
        let open = match &self.open {
            Some(Open::Load { address, read, .. }) => is_pending(address) || read.iter().any(is_pending),
            Some(Open::Store { address, values, .. }) => is_pending(address) || values.iter().any(is_pending),
            Some(Open::Update { .. } | Open::Meeting { .. }) | None => false,
        };
        open || self.registers.iter().chain(&self.local).any(is_pending)
    }

    fn may_write(&self, world: &World, address: Address) -> bool {
        if self.ended {
            return false;
        }
        let (part, at) = (self.part(world), self.cursor.at as usize);
        let writes = part.flow.writes(at);
        let reaches = || part.pointers.as_ref().is_none_or(|known| known.may_write(at, address.memory as usize));
        let shared = address.memory as usize >= world.ranges().len();
        let own = address.memory == self.shared_memory(world);
        matches!(self.open, Some(Open::Store { .. }))
            || if shared { own && writes.shared } else { writes.global && reaches() }
    }
}
