//! Runs the threads as far as nothing is to be decided.

use std::collections::HashMap;

use wattle_ir::{AtomicLaw, BinaryOp};
use wattle_memory::{Label, ThreadId};

use super::super::process::{AccessTarget, Action, Barrier, Change, Members};
use super::super::run::MOST_BACK_EDGES;
use super::super::single::{Commuting, Meeting, converge};
use super::chain::Addition;
use super::tickets::looks_at_result;
use super::{Adding, Answers, CountedState, Head, Runs, Status, Waiting, is_wide, orders_all};

/// The maximum number of iterations of a loop whose exit depends on memory, and of all loops from one ticket to the
/// next.
pub const MOST_ITERATIONS: u64 = 1 << 16;

/// The number of actions between two looks at the limits.
const ACTIONS_PER_LOOK: u64 = 4096;

/// The operation and the operand of an update that commutes with others of its kind.
pub fn commuting(change: Change, [read, write]: [Label; 2]) -> Option<(Commuting, u64)> {
    let Change::Apply { op, ty, operand: Some(operand) } = change else { return None };
    let is_exact = match op.law() {
        // Sums of floats are rounded, in whatever order they are made.
        AtomicLaw::Combines(BinaryOp::Min | BinaryOp::Max) | AtomicLaw::Replaces => true,
        AtomicLaw::Combines(_) | AtomicLaw::CountsUp | AtomicLaw::CountsDown => ty.is_int(),
    };
    let commuting = Commuting::of(change, write.level)?;
    (is_exact && read.level == write.level).then_some((commuting, operand))
}

impl<'w> Runs<'_, 'w> {
    /// Runs the threads, of one block or of all, until none can go on.
    pub fn settle(&mut self, state: &mut CountedState<'w>, only: Option<usize>) -> Option<()> {
        loop {
            let mut moved = false;
            let threads = only.map_or_else(|| (0..state.runners.len()).collect(), |block| self.blocks[block].clone());
            for thread in threads {
                if state.runners[thread].status == Status::Ready {
                    self.run_thread(state, thread)?;
                    moved = true;
                }
            }
            let blocks = only.map_or(0..self.blocks.len(), |block| block..block + 1);
            for block in blocks {
                moved |= self.open_barrier(state, block)?;
            }
            if only.is_none() {
                moved |= self.start_threads(state);
            }
            if !moved {
                return Some(());
            }
        }
    }

    fn run_thread(&mut self, state: &mut CountedState<'w>, thread: ThreadId) -> Option<()> {
        loop {
            self.act()?;
            let action = state.runners[thread].advance()?;
            if self.setup.model.has_classes() && !action.parts().labels.into_iter().flatten().all(orders_all) {
                return None;
            }
            match action {
                Action::Read { target, label, source } => {
                    self.executes(state, source);
                    let target = target?;
                    if state.may_wait(self, thread, target, label)? {
                        self.waits = true;
                        state.runners[thread].status = Status::Waits(Waiting { target, label });
                        return Some(());
                    }
                    self.read(state, thread, target, label)?;
                }
                Action::Write { target, value, label, source } => {
                    self.executes(state, source);
                    self.write(state, thread, target?, value?, label)?;
                }
                Action::Update { target, change, read, write, source } => {
                    self.executes(state, source);
                    if let Some(adding) = self.update(state, thread, target?, change, [read, write])? {
                        state.runners[thread].status = Status::Adds(adding);
                        return Some(());
                    }
                }
                Action::Fence { label, source } => {
                    self.executes(state, source);
                    state.fence(thread, label);
                }
                Action::Barrier { barrier, label, source } => {
                    self.executes(state, source);
                    return self.arrive(state, thread, barrier, label);
                }
                Action::LoopHead { label } => {
                    let heads = &mut state.runners[thread].heads;
                    if let Some(at) = heads.iter().position(|head| head.label == label) {
                        heads.truncate(at);
                    }
                    state.enter(thread, label);
                }
                Action::BackEdge { label, waits, .. } => state.repeat(thread, label, waits)?,
                Action::Done => {
                    state.runners[thread].status = Status::Done;
                    return Some(());
                }
                // The lanes of a warp meet in a search.
                Action::Exchange { .. } | Action::NeedsValue | Action::Fault { .. } | Action::Halt => return None,
            }
        }
    }

    /// Does a store; one that may commute with others of its cell is done as an update of that kind.
    fn write(
        &mut self,
        state: &mut CountedState<'w>,
        thread: ThreadId,
        target: AccessTarget,
        value: u64,
        label: Label,
    ) -> Option<()> {
        if label.atomic && !label.unwritten && state.may_commute(target.address) {
            let stores = Commuting::sets(value, label.level);
            state.commute(self, thread, target, stores, [None, Some(label)], |_| value)?;
        } else {
            state.write(self, thread, target, value, label)?;
        }
        state.has_effect(thread);
        Some(())
    }

    /// Does an update: one that commutes with others of its cell, or an addition to a counter, which is returned if its
    /// thread is to be given the result.
    fn update(
        &mut self,
        state: &mut CountedState<'w>,
        thread: ThreadId,
        target: AccessTarget,
        change: Change,
        labels: [Label; 2],
    ) -> Option<Option<Adding>> {
        let [read, write] = labels;
        let is_ticket = || {
            let is_addition = self.answers == Answers::Tickets && Addition::of_any(change).is_some();
            is_addition && looks_at_result(&state.runners[thread].process)
        };
        if Addition::of(change).is_none() && !is_ticket() {
            let (commuting, operand) = commuting(change, labels)?;
            let new = |old| commuting.applied(old, operand);
            state.commute(self, thread, target, commuting, [Some(read), Some(write)], new)?;
            state.has_effect(thread);
            state.runners[thread].leave_open();
            return Some(None);
        }
        let addition = state.addition(self, thread, target, change, labels)?;
        state.has_effect(thread);
        let (acquire, release) = (read.acquire, write.release);
        if self.answers.are_given() {
            let (address, reduces) = (target.address, read.reduces);
            return Some(Some(Adding { address, addition, acquire, release, reduces }));
        }
        state.add(thread, target.address, addition, release)?;
        state.runners[thread].process.answer(None);
        Some(None)
    }

    /// Counts an action; `None` where a limit is reached.
    pub fn act(&mut self) -> Option<()> {
        self.actions += 1;
        let ends = self.actions.is_multiple_of(ACTIONS_PER_LOOK) && self.watch.check().is_some();
        (!ends).then_some(())
    }

    /// A read whose value the clocks determine.
    pub fn read(
        &mut self,
        state: &mut CountedState<'w>,
        thread: ThreadId,
        target: AccessTarget,
        label: Label,
    ) -> Option<()> {
        state.read(self, thread, target, label)?;
        let runner = &mut state.runners[thread];
        runner.heads.iter_mut().for_each(|head| head.busy = true);
        Some(())
    }

    pub fn executes(&mut self, state: &mut CountedState<'w>, source: u32) {
        state.events += 1;
        if source != self.last_source {
            self.executed.insert(source);
            self.last_source = source;
        }
    }

    /// Lets a thread arrive at the barrier of its block; other barriers are not treated.
    fn arrive(&mut self, state: &mut CountedState<'w>, thread: ThreadId, barrier: Barrier, label: Label) -> Option<()> {
        if !self.is_of_whole_block(thread, &barrier, label) {
            return None;
        }
        state.has_effect(thread);
        let runner = &mut state.runners[thread];
        runner.status = Status::AtBarrier;
        runner.arrival = Some(barrier);
        Some(())
    }

    /// Whether all threads of a thread's block wait at a barrier, which orders all that they do.
    pub fn is_of_whole_block(&self, thread: ThreadId, barrier: &Barrier, label: Label) -> bool {
        let (Members::Threads(members) | Members::Remaining(members)) = &barrier.members else { return false };
        let whole = **members == *self.blocks[self.block_of[thread]];
        let orders_all = label == Label::barrier(label.level) && label.level >= wattle_memory::Level::Block;
        whole && orders_all && barrier.waits && barrier.resource == 0
    }

    /// Opens the barrier of a block if all threads stand there; `None` where they stand at different ones.
    fn open_barrier(&self, state: &mut CountedState<'w>, block: usize) -> Option<bool> {
        let threads = &self.blocks[block];
        if !threads.iter().all(|&thread| state.runners[thread].status == Status::AtBarrier) {
            return Some(false);
        }
        let arrivals: Vec<Barrier> =
            threads.iter().filter_map(|&thread| state.runners[thread].arrival.take()).collect();
        // Where groups meet at different statements, the search says that it rests on their size.
        let together = converge(&arrivals) == Some(Meeting::Together);
        if arrivals.iter().any(|arrival| arrival.instance != arrivals[0].instance) || !together {
            return None;
        }
        let mut clock = state.runners[threads[0]].clock.clone();
        threads.iter().for_each(|&thread| clock.join(&state.runners[thread].clock));
        for &thread in threads {
            let runner = &mut state.runners[thread];
            runner.clock = clock.clone();
            runner.clock.tick(thread);
            runner.status = Status::Ready;
        }
        Some(true)
    }

    /// Starts the threads whose predecessors have all ended.
    fn start_threads(&self, state: &mut CountedState<'w>) -> bool {
        let mut clocks = HashMap::new();
        let mut moved = false;
        for (thread, spawn) in self.setup.threads.iter().enumerate() {
            let ended = |earlier: &ThreadId| state.runners[*earlier].status == Status::Done;
            if state.runners[thread].status != Status::NotStarted || !spawn.after.iter().all(ended) {
                continue;
            }
            let before = clocks.entry(spawn.after.clone()).or_insert_with(|| {
                let mut clock = super::Clock::new(state.runners.len());
                spawn.after.iter().for_each(|&earlier| clock.join(&state.runners[earlier].clock));
                clock
            });
            let runner = &mut state.runners[thread];
            runner.clock.join(before);
            runner.status = Status::Ready;
            moved = true;
        }
        moved
    }
}

impl CountedState<'_> {
    /// A fence that reaches all threads acquires what its thread has observed, and releases what comes before.
    fn fence(&mut self, thread: ThreadId, label: Label) {
        let runner = &mut self.runners[thread];
        runner.heads.iter_mut().for_each(|head| head.busy = true);
        if !is_wide(label.level) {
            return;
        }
        if label.acquire {
            let observed = runner.observed.clone();
            runner.clock.join(&observed);
        }
        if label.release {
            runner.released = Some(runner.clock.clone());
            runner.clock.tick(thread);
        }
    }

    fn has_effect(&mut self, thread: ThreadId) {
        self.runners[thread].heads.iter_mut().for_each(|head| head.effect = true);
    }

    /// Begins the first iteration of a loop.
    fn enter(&mut self, thread: ThreadId, label: u32) {
        let runner = &mut self.runners[thread];
        let (process, others) = (runner.process.clone(), runner.others.clone());
        runner.heads.push(Head { label, process, others, iterations: 0, effect: false, busy: false });
    }

    /// Begins another iteration of a loop; `None` where the loop may go on for ever.
    fn repeat(&mut self, thread: ThreadId, label: u32, waits: bool) -> Option<()> {
        let runner = &mut self.runners[thread];
        let Some(at) = runner.heads.iter().position(|head| head.label == label) else {
            // The first one began in the middle.
            self.enter(thread, label);
            return Some(());
        };
        runner.heads.truncate(at + 1);
        let head = &mut runner.heads[at];
        head.iterations += 1;
        let most = if waits { MOST_ITERATIONS } else { u64::from(MOST_BACK_EDGES) };
        if head.iterations > most || (!head.effect && runner.process.repeats(&head.process)) {
            return None;
        }
        (head.effect, head.busy) = (false, false);
        (head.process, head.others) = (runner.process.clone(), runner.others.clone());
        Some(())
    }
}
