//! A thread of a module as a process of the search.

mod accesses;
mod cells;
mod copies;
mod effects;
mod lanes;
mod matching;
mod meeting;
mod open;
mod run;
mod threads;
mod unwritten;
mod vulkan;

use wattle_check::search::{Action, Address, FROM_NOBODY, Process};
use wattle_modules::code::{Exchange, NO_REG, Op, Reg, Special, Transfer, Vote};
use wattle_modules::types::Space;
use wattle_modules::{Cursor, Deferred, Value};

use crate::operations::spread;
use crate::subnormal;
use crate::world::{Part, World, statement};
use crate::wrong::Wrong;
use copies::Copies;
use meeting::UNWRITTEN;
pub(crate) use meeting::takes_all;
use open::{Open, Stage};
use unwritten::is_shuffle;

/// The resources of the block's barriers are their numbers, 0 to 15; behind them each warp's own.
const WARP_BARRIERS: u64 = 16;

/// The resource of what the block's barriers gather: a block has at most 32 warps.
const GATHERINGS: u64 = WARP_BARRIERS + 1024;

/// The resources of what lanes find out about each other at instructions, by these.
const ACTIVE: u64 = GATHERINGS + 1;

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
    /// How often the thread has come to each barrier, by the mask of the lanes where it is one of a warp.
    arrivals: Vec<((u64, u64), u32)>,
    /// The iterations that it has begun since it entered each loop with a barrier in it, by the loop's first
    /// instruction.
    iterations: Vec<(u32, u32)>,
    /// The copies that it has begun and not waited for.
    copies: Copies,
    /// The access of which some cells are not done yet.
    open: Option<Open>,
    /// Whether the head of the loop that begins at the cursor has been reported.
    announced: bool,
    ended: bool,
    /// Whether the thread has accessed memory, where others come from a barrier, since its way parted last.
    behind: bool,
    /// Whether it has loaded or updated at a place that it does not know yet, which may be none: it would have ended
    /// there, so that it is not known whether it goes round. (A store has an effect, and its iteration is built
    /// anyhow.)
    unplaced: bool,
    /// The number of writes before it is never scheduled again, if it is stopped.
    halts_after: Option<u32>,
    writes: u32,
    /// The cells in which it has left values that nothing fixes.
    left: Vec<Address>,
    /// The last mark of a value that is not chosen yet.
    marks: u32,
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
            copies: Copies::default(),
            open: None,
            announced: false,
            ended: false,
            behind: false,
            unplaced: false,
            halts_after: None,
            writes: 0,
            left: Vec::new(),
            marks: 0,
        }
    }

    /// Has the thread never scheduled again after its first `writes` writes.
    pub(crate) fn halting_after(self, writes: u32) -> ModuleThread {
        ModuleThread { halts_after: Some(writes), ..self }
    }

    /// The launch that the thread belongs to.
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

    fn set(&mut self, register: Reg, value: Deferred) {
        if register != NO_REG {
            self.registers[register as usize] = value;
        }
    }

    /// The values that it holds.
    fn values(&self) -> impl Iterator<Item = Deferred> {
        self.registers.iter().chain(&self.local).chain([&self.cursor.flag]).copied()
    }

    /// Whether something in the midst of an access, or a copy, waits for a value.
    fn has_open_parts(&self) -> bool {
        let is_pending = |value: &Deferred| value.is_pending();
        let open = match &self.open {
            Some(Open::Load { address, read, .. }) => is_pending(address) || read.iter().any(is_pending),
            Some(Open::Store { address, values, .. }) => is_pending(address) || values.iter().any(is_pending),
            Some(Open::Gathering { holds, .. }) => is_pending(holds),
            Some(Open::Matching(matching)) => matching.any_pending(),
            Some(Open::Nothing { .. } | Open::Update { .. } | Open::Meeting { .. } | Open::Copy { .. }) | None => false,
        };
        open || self.copies.any_pending()
    }

    /// Clears the registers that nobody reads any more, so that threads with equal futures are equal.
    fn forget(&mut self, dead: &[Reg]) {
        dead.iter().for_each(|&register| self.set(register, Deferred::Known(0)));
    }

    /// The number of the instruction at which it is, among those of all launches.
    pub(crate) fn source(&self) -> usize {
        self.statement(self.cursor.at) as usize
    }

    /// Whether it has ended behind a barrier to which another thread of its block has come, and it has not: it has gone
    /// on where the other would go on, and has not left early.
    pub(crate) fn has_gone_past(&self, other: &ModuleThread) -> bool {
        self.ended && self.behind && (self.part, self.block) == (other.part, other.block)
    }

    /// Whether the thread has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Whether it will do what it did from an earlier time on, in a run in which other threads are as they were then.
    /// How often it has come to its barriers, and in which iterations of the loops around them it is, says which
    /// arrivals belong together; all of them are as many further on.
    pub(crate) fn goes_round(&self, earlier: &ModuleThread) -> bool {
        self.cursor == earlier.cursor
            && self.registers == earlier.registers
            && self.local == earlier.local
            && (self.part, self.block, self.thread) == (earlier.part, earlier.block, earlier.thread)
            && self.copies == earlier.copies
            && self.open == earlier.open
            && (self.announced, self.ended) == (earlier.announced, earlier.ended)
    }

    fn end(&mut self) -> Action {
        self.ended = true;
        self.copies = Copies::default();
        self.registers.fill(Deferred::Known(0));
        self.local.fill(Deferred::Known(0));
        Action::Done
    }

    /// The fault of an instruction, behind which the thread does nothing: nothing says what it would do. Where
    /// addresses are sums, as for the claims of a corpus, it goes on.
    fn fault(&mut self, world: &World, at: u32, wrong: Wrong) -> Action {
        let fault = Action::Fault { fault: world.number_of(wrong), source: self.statement(at) };
        if self.ends_at_faults(world) {
            self.end();
        }
        fault
    }

    fn ends_at_faults(&self, world: &World) -> bool {
        self.part(world).spirv.as_ref().is_none_or(|spirv| spirv.checks_indices())
    }
}

impl ModuleThread {
    /// Runs to the next action, up to the write before which it is never scheduled again.
    fn next_scheduled(&mut self, world: &World) -> Action {
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
}

impl Process for ModuleThread {
    type World = World;

    fn next(&mut self, world: &World) -> Action {
        let action = self.next_scheduled(world);
        world.turns.note(&action);
        action
    }

    fn comes_round(&self, _: &World, earlier: &ModuleThread) -> bool {
        self.goes_round(earlier) && (self.halts_after, self.writes) == (earlier.halts_after, earlier.writes)
    }

    fn answer(&mut self, world: &World, value: Option<u64>) {
        if self.part(world).copies {
            let looks = matches!(self.open, Some(Open::Copy { stage: Stage::Look, .. }));
            world.copies.note(value, looks);
        }
        let value = value.map_or(Deferred::PENDING, Deferred::Known);
        let kernel = self.part(world).kernel();
        let of_nobody = match &self.open {
            Some(Open::Meeting { mask, from: Some(lane), .. }) => {
                !self.lanes(world, *mask).iter().any(|(other, _)| other == lane)
            }
            _ => false,
        };
        match &mut self.open {
            Some(Open::Load { read, any, .. }) => read.push(value.any_if(*any)),
            Some(Open::Update { at, any, flushed }) => {
                let (at, any, to, flushed) = (*at, *any, set_by(&kernel.steps[*at as usize].op), *flushed);
                if flushed.zip(value.known()).is_some_and(|(added, old)| subnormal::is_about(old as u32, added)) {
                    world.refuse(self.statement(at) as usize, subnormal::FLUSHED);
                }
                self.open = None;
                self.set(to, value.any_if(any));
            }
            Some(Open::Meeting { at, mask, .. })
                if matches!(kernel.steps[*at as usize].op, Op::Exchange { how: Exchange::Elect, .. }) =>
            {
                let (at, mask) = (*at, *mask);
                self.open = None;
                self.elect(world, at, mask, value);
            }
            Some(Open::Meeting { at, from: Some(lane), .. }) if of_nobody || value == Deferred::Known(FROM_NOBODY) => {
                let (at, lane) = (*at, *lane);
                self.open = None;
                if let Op::Exchange { d, .. } = kernel.steps[at as usize].op {
                    self.set(d, Deferred::Unwritten(self.first_lane(kernel) + lane));
                }
            }
            Some(Open::Meeting { at, mask, any, .. }) => {
                let (d, vote) = match kernel.steps[*at as usize].op {
                    Op::Exchange { d, how: Exchange::Vote(vote), .. } => (d, Some(vote)),
                    Op::Special { which: Special::Active, d } => (d, Some(Vote::Ballot)),
                    Op::Exchange { d, .. } | Op::BarrierReduce { d, .. } => (d, None),
                    _ => return,
                };
                let (mask, any) = (*mask, *any);
                // What another lane of PTX has not written, it has given away as such.
                let shuffles = is_shuffle(&kernel.steps[*at as usize].op);
                self.open = None;
                if let (Deferred::Known(marked @ UNWRITTEN..), true) = (value, shuffles)
                    && self.part(world).spirv.is_none()
                {
                    self.set(d, Deferred::Unwritten(marked as u32));
                    return;
                }
                // The bits of a ballot are those of the lanes in the mask, one behind the other.
                let value = match vote {
                    Some(Vote::Ballot) if self.part(world).spirv.is_some() => value,
                    Some(Vote::Ballot) => value.map(|bits| spread(bits, mask)),
                    Some(Vote::Same) => value.map(|bits| (bits == 0 || spread(bits, mask) == mask).into()),
                    Some(Vote::Any | Vote::All) | None => value,
                };
                self.set(d, value.any_if(any));
            }
            Some(Open::Matching(matching)) => matching.answer(value),
            Some(Open::Copy { stage, .. }) => self.copies.answer(*stage, value),
            Some(Open::Store { .. } | Open::Nothing { .. } | Open::Gathering { .. }) | None => {}
        }
    }

    fn answer_unwritten(&mut self, world: &World, word: u64) {
        self.answer_unwritten_bytes(world, word, u8::MAX);
    }

    /// Compilers load early what only some paths need, and more bytes than they need, where that is no fault. What
    /// Wattle emits loads nothing in vain.
    fn carries_unwritten(&self, world: &World) -> bool {
        matches!(self.open, Some(Open::Load { .. })) && self.part(world).spirv.is_none() && !world.is_compiled
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
            && self.copies == other.copies
            && self.local == other.local
            && self.arrivals == other.arrivals
            && self.iterations == other.iterations
            && (self.announced, self.ended, self.behind, self.halts_after, self.writes)
                == (other.announced, other.ended, other.behind, other.halts_after, other.writes)
            && same_registers()
    }

    /// The dependencies of a module are those of its instructions, so both outcomes of a branch are never explored;
    /// those of what Wattle emits are those that a compiler of it keeps.
    fn ways(&self, world: &World) -> Option<Vec<ModuleThread>> {
        let guard = self.part(world).kernel().steps.get(self.cursor.at as usize)?.guard;
        let is_open = guard.reg != NO_REG && self.registers[guard.reg as usize].is_pending();
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
        self.has_open_parts() || self.values().any(|value| value.is_pending())
    }

    fn any_unmarked(&self) -> bool {
        self.has_open_parts() || self.values().any(|value| value == Deferred::PENDING)
    }

    fn mark_pending(&mut self) {
        let ModuleThread { registers, local, cursor, marks, .. } = self;
        let values = registers.iter_mut().chain(local).chain([&mut cursor.flag]);
        for value in values.filter(|value| **value == Deferred::PENDING) {
            *marks += 1;
            *value = Deferred::Pending(*marks);
        }
    }

    fn forget_dead(&mut self, world: &World) {
        let Some(live) = self.part(world).flow.live(self.cursor.at as usize) else { return };
        let dead = (0..self.registers.len()).filter(|&register| !live.contains(register));
        dead.for_each(|register| self.registers[register] = Deferred::Known(0));
        // The answer sets this one.
        if let Some(Open::Update { at, .. }) = self.open {
            let answered = set_by(&self.part(world).kernel().steps[at as usize].op);
            if let Some(register) = self.registers.get_mut(answered as usize) {
                *register = Deferred::Known(0);
            }
        }
    }

    fn widen(&mut self, _: &World, other: &ModuleThread, together: bool) -> bool {
        let mut same = ModuleThread {
            registers: other.registers.clone(),
            local: other.local.clone(),
            marks: other.marks,
            ..self.clone()
        };
        if together {
            same.arrivals.clone_from(&other.arrivals);
            same.iterations.clone_from(&other.iterations);
        }
        self.marks = self.marks.max(other.marks);
        same == *other && widen(&mut self.registers, &other.registers) && widen(&mut self.local, &other.local)
    }

    fn may_reach(&self, world: &World, source: u32, address: Address) -> bool {
        let (part, at) = world.instruction_of(source as usize);
        let Some(Transfer::Store(access, _)) = part.kernel().steps.get(at).and_then(|step| step.op.transfer()) else {
            return true;
        };
        let memory = address.memory as usize;
        let of_block = memory >= world.ranges().len();
        match access.space {
            Space::Shared => address.memory == self.shared_memory(world),
            Space::Global => !of_block && part.pointers.as_ref().is_none_or(|known| known.writes(at, memory)),
            Space::Generic | Space::Local | Space::Param | Space::Const => true,
        }
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
        matches!(self.open, Some(Open::Store { .. } | Open::Copy { .. }))
            || if shared { own && writes.shared } else { writes.global && reaches() }
    }
}

/// The register that an operation sets, or [`NO_REG`].
fn set_by(op: &Op) -> Reg {
    let mut set = NO_REG;
    op.outline(|_| {}, |register| set = register);
    set
}

/// Takes for unknown what differs from other values; `false` where one of these comes from what nobody has written.
fn widen(values: &mut [Deferred], others: &[Deferred]) -> bool {
    let is_plain = |value: Deferred| matches!(value, Deferred::Known(_) | Deferred::Pending(_));
    let mut differing = values.iter_mut().zip(others).filter(|(value, other)| value != other);
    differing.all(|(value, other)| {
        let both_plain = is_plain(*value) && is_plain(*other);
        *value = Deferred::PENDING;
        both_plain
    })
}
