//! A thread of a module as a process of the search.

use wattle_check::search::{self, Action, Address, Barrier, Change, Convergence, Members, Process};
use wattle_ir::{Type, WarpOp};
use wattle_memory::{FenceOrder, Label, Level, ThreadId};
use wattle_modules::code::{Access, Exchange, Kernel, NO_REG, Op, Reg, Special, Vote};
use wattle_modules::meaning::warp;
use wattle_modules::types::Space;
use wattle_modules::{Cursor, Deferred, Effect, Value, step};

use crate::access::{Cells, NoCells};
use crate::operations::{label, operator, reduction, spread};
use crate::world::World;
use crate::wrong::Wrong;

/// The lanes of a warp (PTX ISA 8.8, 2.2.1 "Cooperative Thread Arrays").
const WARP: u32 = 32;

/// The resources of the block's barriers are their numbers, 0 to 15; behind them each warp's own.
const WARP_BARRIERS: u64 = 16;

/// A thread of a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModuleThread {
    cursor: Cursor<Deferred>,
    registers: Vec<Deferred>,
    /// The bytes of its local memory.
    local: Vec<Deferred>,
    block: u32,
    thread: u32,
    /// How often it has come to each barrier.
    arrivals: Vec<(u64, u32)>,
    /// The access of which some cells are not done yet.
    open: Option<Open>,
    /// Whether the head of the loop that begins at the cursor has been reported.
    announced: bool,
    ended: bool,
}

/// An access of which some cells are not done yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Open {
    Load { at: u32, address: Deferred, read: Vec<Deferred> },
    Store { at: u32, address: Deferred, values: Vec<Deferred>, written: u32 },
    Update { at: u32 },
    Meeting { at: u32, mask: u64 },
}

impl ModuleThread {
    pub(crate) fn new(kernel: &Kernel, block: u32, thread: u32) -> ModuleThread {
        ModuleThread {
            cursor: Cursor::default(),
            registers: vec![Deferred::Known(0); kernel.registers.len()],
            local: vec![Deferred::Known(0); kernel.local as usize],
            block,
            thread,
            arrivals: Vec::new(),
            open: None,
            announced: false,
            ended: false,
        }
    }

    /// What the cells of an access depend on besides the access.
    fn here(&self, at: u32) -> (u32, u32, u64) {
        (at, self.block, self.local.len() as u64)
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
        Some(Action::Fault { fault: world.number_of(wrong), source: at })
    }

    /// Goes on with an access; `None` if it is done.
    fn go_on(&mut self, world: &World, open: Open) -> Option<Action> {
        let kernel = world.kernel();
        match open {
            Open::Load { at, address, read } => {
                // `at` is the number of a load, since the thread's effect was one.
                let (access, to): (&Access, &[Reg]) = match &kernel.steps[at as usize].op {
                    Op::Load { access, d } => (access, std::slice::from_ref(d)),
                    Op::LoadMany { access, d } => (access, d),
                    _ => return None,
                };
                let cells = match Cells::of(world, self.here(at), access, address, to.len()) {
                    Ok(cells) => cells,
                    Err(NoCells::Spoilt) => return Some(Action::Halt),
                    Err(NoCells::Wrong(wrong)) => {
                        to.iter().for_each(|&register| self.set(register, Deferred::Known(0)));
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
                if read.len() < cells.all.len() {
                    let (target, label) = (cells.target(read.len()), label(world, access, false));
                    self.open = Some(Open::Load { at, address, read });
                    return Some(Action::Read { target, label, source: at });
                }
                self.loaded(access, to, &cells, &read);
                None
            }
            Open::Store { at, address, values, written } => {
                let access = match &kernel.steps[at as usize].op {
                    Op::Store { access, .. } | Op::StoreMany { access, .. } => access,
                    _ => return None,
                };
                let cells = match Cells::of(world, self.here(at), access, address, values.len()) {
                    Ok(cells) => cells,
                    Err(NoCells::Spoilt) => return Some(Action::Halt),
                    Err(NoCells::Wrong(wrong)) => return self.fault(world, at, wrong),
                    Err(NoCells::Local(first)) => {
                        for (byte, place) in (first as usize..).take(values.len() * access.bytes as usize).enumerate() {
                            let (item, part) = (byte / access.bytes as usize, byte % access.bytes as usize);
                            self.local[place] = values[item].map(|value| value >> (8 * part) & 0xff);
                        }
                        return None;
                    }
                };
                let (item, cell, width) = cells.all[written as usize];
                let first = cells.all.iter().find(|(of, ..)| *of == item).map_or(cell, |(_, first, _)| *first);
                let mask = u64::MAX >> (64 - 8 * u32::from(width));
                let value = values[item as usize].map(|value| value >> (8 * (cell - first)) & mask).known();
                let (target, label) = (cells.target(written as usize), label(world, access, true));
                if written as usize + 1 < cells.all.len() {
                    self.open = Some(Open::Store { at, address, values, written: written + 1 });
                }
                Some(Action::Write { target, value, label, source: at })
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
            let value = parts.fold(Deferred::Known(0), |whole, (&(_, _, width), &part)| {
                whole.zip(part, |whole, part| whole.checked_shl(8 * u32::from(width)).unwrap_or(0) | part)
            });
            self.set(register, value.map(|bits| access.extended(bits)));
        }
    }

    /// The action of an atomic operation.
    fn update(&mut self, world: &World, at: u32, access: &Access, address: Deferred, change: Change) -> Option<Action> {
        let cells = match Cells::of(world, self.here(at), access, address, 1) {
            Ok(cells) => cells,
            Err(NoCells::Spoilt) => return Some(Action::Halt),
            Err(NoCells::Wrong(wrong)) => return self.fault(world, at, wrong),
            Err(NoCells::Local(_)) => {
                world.refuse(at as usize, "an atomic operation on local memory");
                return Some(Action::Halt);
            }
        };
        self.open = Some(Open::Update { at });
        let (read, write) = (label(world, access, false), label(world, access, true));
        Some(Action::Update { target: cells.target(0), change, read, write, source: at })
    }

    /// The bytes of a load from parameters or constants.
    fn constant(&mut self, bytes: &[u8], access: &Access, address: u64, to: &[Reg]) -> Result<(), Wrong> {
        for (&register, item) in to.iter().zip(0u64..) {
            let from = address.saturating_add(item * u64::from(access.bytes));
            let there = usize::try_from(from).ok().and_then(|from| bytes.get(from..)?.get(..access.bytes as usize));
            let there = there.ok_or(Wrong::Wild(from))?;
            let value = there.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
            self.set(register, Deferred::Known(access.extended(value)));
        }
        Ok(())
    }

    /// The value of a special register; those that have none here are refused before.
    fn special(&self, world: &World, which: Special) -> u64 {
        let (grid, block) = (world.launch().grid, world.launch().block);
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
            Special::Lane => self.thread % WARP,
            Special::Warp => self.thread / WARP,
            Special::DynamicShared => world.launch().dynamic_shared as u32,
            Special::TotalShared => world.shared_bytes() as u32,
            Special::Warps | Special::Sm | Special::Sms | Special::Grid | Special::Clock | Special::Timer => 0,
        })
    }

    /// The lanes of its warp in a mask, each with its thread. Where the block ends there are no lanes.
    fn lanes(&self, world: &World, mask: u64) -> Vec<(u32, ThreadId)> {
        let all = world.members(self.block);
        let warp = all.iter().skip((self.thread / WARP * WARP) as usize).take(WARP as usize);
        (0..).zip(warp.copied()).filter(|(lane, _)| mask >> lane & 1 == 1).collect()
    }

    fn warp_barrier(&self) -> u64 {
        WARP_BARRIERS + u64::from(self.thread / WARP)
    }

    /// What the lanes of a mask do together: a shuffle, a vote or a reduction.
    #[expect(clippy::too_many_arguments, reason = "they are the instruction's operands")]
    fn exchange(
        &mut self,
        world: &World,
        at: u32,
        how: Exchange,
        value: Deferred,
        [b, c]: [u64; 2],
        mask: u64,
        predicate: Reg,
    ) -> Action {
        let (lanes, own) = (self.lanes(world, mask), self.thread % WARP);
        let (mut op, mut ty, mut operand) = (WarpOp::Shuffle, Type::U32, 0);
        match how {
            Exchange::Up | Exchange::Down | Exchange::Butterfly | Exchange::Index => {
                let (source, within) = warp::source(how, own, b, c);
                let Some(place) = lanes.iter().position(|&(lane, _)| lane == source) else {
                    return Action::Fault { fault: world.number_of(Wrong::NoLane(source)), source: at };
                };
                operand = place as u64;
                self.set(predicate, Deferred::Known(within.into()));
            }
            Exchange::Vote(Vote::Any) => (op, ty) = (WarpOp::Any, Type::Bool),
            Exchange::Vote(Vote::All) => (op, ty) = (WarpOp::All, Type::Bool),
            Exchange::Vote(Vote::Ballot) => (op, ty) = (WarpOp::Ballot, Type::Bool),
            Exchange::Reduce(how) => (op, ty) = reduction(how),
            Exchange::Barrier => {}
        }
        let members = lanes.iter().map(|&(_, thread)| thread).collect();
        let Action::Barrier { barrier, .. } = self.barrier(at, self.warp_barrier(), Members::Threads(members), true)
        else {
            return Action::NeedsValue;
        };
        self.open = Some(Open::Meeting { at, mask });
        let exchange = search::Exchange { op, ty, value: value.known(), operand: Some(operand) };
        Action::Exchange { barrier, exchange, source: at }
    }

    /// The next arrival at a barrier.
    fn barrier(&mut self, at: u32, resource: u64, members: Members, waits: bool) -> Action {
        let arrivals = match self.arrivals.iter_mut().find(|(of, _)| *of == resource) {
            Some((_, count)) => count,
            None => {
                self.arrivals.push((resource, 0));
                &mut self.arrivals.last_mut().expect("it has just been added").1
            }
        };
        *arrivals += 1;
        let arrival = u64::from(*arrivals);
        // All threads of a warp execute the same one (PTX ISA 8.8, 9.7.13.1: `bar.sync` is `barrier.cta.sync.aligned`).
        let converges = Convergence { group: self.thread / WARP, instance: u64::from(at) << 32 | arrival };
        let barrier =
            Barrier { instance: resource << 32 | arrival, resource, members, waits, converges: Some(converges) };
        Action::Barrier { barrier, label: Label::barrier(Level::Block), source: at }
    }
}

impl Process for ModuleThread {
    type World = World;

    fn next(&mut self, world: &World) -> Action {
        let kernel = world.kernel();
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
            if let (Some(dead), false) = (world.flow().loop_at(at as usize), self.announced) {
                self.forget(dead);
                self.announced = true;
                return Action::LoopHead { label: at };
            }
            let before = self.cursor;
            let effect = step(kernel, &mut self.cursor, &mut self.registers);
            if self.cursor.at != at {
                self.announced = false;
            }
            match effect {
                Effect::None | Effect::Yield => {}
                Effect::NeedsValue => return Action::NeedsValue,
                Effect::Back => {
                    let head = self.cursor.at as usize;
                    self.forget(world.flow().loop_at(head).unwrap_or_default());
                    self.announced = true;
                    let waits = world.flow().exits_on_memory(head);
                    return Action::BackEdge { label: head as u32, source: at, waits };
                }
                Effect::Load { access, address, to } => {
                    let bytes = match access.space {
                        Space::Param => world.params(),
                        Space::Const => world.constants(),
                        Space::Generic | Space::Global | Space::Shared | Space::Local => {
                            self.open = Some(Open::Load { at, address, read: Vec::new() });
                            continue;
                        }
                    };
                    let Some(address) = address.known() else {
                        self.cursor = before;
                        return Action::NeedsValue;
                    };
                    if let Err(wrong) = self.constant(bytes, access, address, to)
                        && let Some(action) = self.fault(world, at, wrong)
                    {
                        return action;
                    }
                }
                Effect::Store { access, address, values } => {
                    let unused = 64 - 8 * u32::from(access.bytes);
                    let value = |operand: &wattle_modules::code::Src| {
                        operand.get(&self.registers, &kernel.constants).map(|bits| bits & (u64::MAX >> unused))
                    };
                    let values = values.iter().map(value).collect();
                    self.open = Some(Open::Store { at, address, values, written: 0 });
                }
                Effect::Update { access, address, how, operand, .. } => {
                    let (op, ty) = operator(how, access.bytes);
                    let change = Change::Apply { op, ty, operand: operand.known() };
                    if let Some(action) = self.update(world, at, access, address, change) {
                        return action;
                    }
                }
                Effect::CompareExchange { access, address, expected, new, .. } => {
                    // One that fails writes the old value back: PTX's atom is always a read and a write.
                    let (expected, desired) = (expected.known(), new.known());
                    let change = Change::CompareExchange { expected, desired, writes_back: true };
                    if let Some(action) = self.update(world, at, access, address, change) {
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
                    return Action::Fence { label, source: at };
                }
                Effect::Barrier { waits, barrier, threads } => {
                    let count = threads.map(Value::known);
                    let (Some(barrier), Some(count)) =
                        (barrier.known(), count.map_or(Some(None), |count| count.map(Some)))
                    else {
                        self.cursor = before;
                        return Action::NeedsValue;
                    };
                    let members = match count {
                        Some(count) => Members::Quorum(count as u32),
                        None => Members::Threads(world.members(self.block)),
                    };
                    return self.barrier(at, barrier, members, waits);
                }
                Effect::Exchange { how: Exchange::Barrier, mask, .. } => {
                    let Some(mask) = mask.known() else {
                        self.cursor = before;
                        return Action::NeedsValue;
                    };
                    let lanes = self.lanes(world, mask);
                    let members = lanes.iter().map(|&(_, thread)| thread).collect();
                    return self.barrier(at, self.warp_barrier(), Members::Threads(members), true);
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
                    return Action::Fault { fault: world.number_of(Wrong::Trap), source: at };
                }
            }
        }
    }

    fn answer(&mut self, world: &World, value: Option<u64>) {
        let value = value.map_or(Deferred::Pending, Deferred::Known);
        match &mut self.open {
            Some(Open::Load { read, .. }) => read.push(value),
            Some(Open::Update { at }) => {
                let to = match world.kernel().steps[*at as usize].op {
                    Op::Rmw { d, .. } | Op::Cas { d, .. } => d,
                    _ => NO_REG,
                };
                self.open = None;
                self.set(to, value);
            }
            Some(Open::Meeting { at, mask }) => {
                let Op::Exchange { d, how, .. } = world.kernel().steps[*at as usize].op else { return };
                let mask = *mask;
                self.open = None;
                // The bits of a ballot are those of the lanes in the mask, one behind the other.
                let is_ballot = how == Exchange::Vote(Vote::Ballot);
                self.set(d, if is_ballot { value.map(|bits| spread(bits, mask)) } else { value });
            }
            Some(Open::Store { .. }) | None => {}
        }
    }

    /// The dependencies of PTX are those of its instructions, so both outcomes of a branch are never explored.
    fn ways(&self, _: &World) -> Option<Vec<ModuleThread>> {
        None
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
        let writes = world.flow().writes(self.cursor.at as usize);
        let shared = address.memory as usize >= world.ranges().len();
        let own = address.memory == world.shared_memory(self.block);
        matches!(self.open, Some(Open::Store { .. })) || if shared { own && writes.shared } else { writes.global }
    }
}
