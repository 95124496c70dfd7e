//! Cells and counters, with their accesses against the clocks.

use wattle_memory::{Label, Level, ThreadId};

use super::super::process::{AccessTarget, Address, Change, Memory};
use super::super::single::Commuting;
use super::chain::{Addition, Chain};
use super::clock::{Clock, Epoch, add};
use super::phases::Phases;
use super::varying::{Left, Values};
use super::{Answers, CountedState, Runs, is_wide};

/// The maximum number of additions to one counter.
const MOST_ADDITIONS: usize = 1 << 12;

/// A cell, with its last accesses.
#[derive(Clone)]
pub struct Cell<'w> {
    bytes: u8,
    reference: u32,
    pub value: u64,
    unwritten: bool,
    /// The values that executions leave in the cell, if they differ: a thread that reads it ends the proof.
    pub varies: Option<Values>,
    pub is_written: bool,
    /// The last write that is no addition; the clocks order all accesses before it, but for additions.
    writer: Option<Epoch>,
    /// The writes since that commuted, and the additions before them, once something else was done to the cell: behind
    /// all of them.
    settled: Vec<Epoch>,
    /// The reads since, of which the value is known.
    pub reads: Vec<Epoch>,
    /// The reads of loops that waited.
    pub waits: Vec<Epoch>,
    /// The additions that some plain access may race with.
    pub additions: Vec<Epoch>,
    pub chain: Option<Chain<'w>>,
    /// The additions under [`Answers::Phases`].
    pub phases: Option<Phases<'w>>,
    /// The operation of atomic writes and updates that leave the same in whatever order they come; `additions` has
    /// these then.
    commuting: Option<Commuting>,
    /// The block whose threads alone have accessed it, or none where several have.
    block: Option<usize>,
    /// Whether atomic accesses that reach no more than its block have been counted on: an access of another block ends
    /// the proof.
    is_of_block: bool,
}

impl<'w> Cell<'w> {
    fn new(memory: &dyn Memory, target: AccessTarget, block: usize) -> Cell<'w> {
        let initial = memory.initial(target.address);
        Cell {
            bytes: target.bytes,
            reference: target.reference,
            value: initial.value,
            unwritten: initial.unwritten,
            varies: None,
            is_written: false,
            writer: None,
            settled: Vec::new(),
            reads: Vec::new(),
            waits: Vec::new(),
            additions: Vec::new(),
            chain: None,
            phases: None,
            commuting: None,
            block: Some(block),
            is_of_block: false,
        }
    }

    /// Whether atomic accesses of a level reach all threads that access the cell. Where they reach no more than its
    /// block, no other block may access it from here on.
    fn claim(&mut self, level: Level) -> bool {
        let is_narrow = !is_wide(level) && level >= Level::Block && self.block.is_some();
        self.is_of_block |= is_narrow;
        is_wide(level) || is_narrow
    }

    /// Whether a point comes after all writes but those that may still have others beside them: additions, and writes
    /// that commute.
    pub fn is_after_writer(&self, clock: &Clock) -> bool {
        self.writer.is_none_or(|writer| clock.has(writer)) && clock.has_all(&self.settled)
    }

    /// Whether a point comes after all accesses.
    fn is_after_all(&self, clock: &Clock) -> bool {
        let others = [&self.reads, &self.waits, &self.additions];
        self.is_after_writer(clock) && others.iter().all(|accesses| clock.has_all(accesses))
    }

    /// Takes what one of several threads leaves that have accessed the cell, each behind all accesses so far: one
    /// value, or others than that in other executions.
    pub fn leave(&mut self, left: Left, writers: &[Epoch], readers: &[Epoch]) -> Option<()> {
        let ends_all = self.chain.take().is_none_or(|chain| chain.ends_all());
        (self.phases, self.commuting) = (None, None);
        if !writers.is_empty() {
            (self.value, self.unwritten, self.varies) = match left {
                Left::One(value, unwritten) => (value, unwritten, None),
                Left::Several(values) => (0, false, Some(values)),
                Left::Perhaps(_) if self.unwritten => (0, false, Some(Values::default())),
                Left::Perhaps(mut values) => {
                    match self.varies.take() {
                        Some(before) => values.join(&before),
                        None => values.extend([self.value]),
                    }
                    (0, false, Some(values))
                }
            };
            self.is_written = true;
            self.settled.append(&mut self.additions);
            writers.iter().for_each(|&writer| add(&mut self.settled, writer));
        }
        readers.iter().for_each(|&reader| add(&mut self.reads, reader));
        ends_all.then_some(())
    }

    /// Takes what updates that commute leave, which several threads have made; `None` for the value where executions
    /// differ.
    pub fn change(&mut self, commuting: Commuting, value: Option<u64>, writers: &[Epoch]) -> Option<()> {
        if self.commuting != Some(commuting) {
            self.leave(Left::Several(Values::default()), &[], &[])?;
            self.settled.append(&mut self.additions);
            self.commuting = Some(commuting);
        }
        self.varies = value.is_none().then(Values::default);
        self.is_written = true;
        self.value = value.unwrap_or_default();
        writers.iter().for_each(|&writer| add(&mut self.additions, writer));
        Some(())
    }

    /// Whether a write that is no addition comes after all additions: by the clock or, if that is enough, behind the
    /// last of them in the order of writes.
    fn is_after_additions(&self, clock: &Clock, behind_last: bool) -> bool {
        let last = self.chain.as_ref().and_then(|chain| chain.last);
        let is_behind = behind_last && (self.chain.is_none() || last.is_some_and(|last| clock.has(last)));
        is_behind || clock.has_all(&self.additions)
    }

    /// Ends the additions to a cell, or the writes to it that commute, at a point of a thread; `None` if they, or the
    /// loops that have read them, do not all come before it.
    fn end_batch(&mut self, clock: &Clock) -> Option<()> {
        let has_all = clock.has_all(&self.additions) && clock.has_all(&self.waits);
        let ends_all = self.chain.take().is_none_or(|chain| chain.ends_all());
        (self.phases, self.commuting) = (None, None);
        self.settled.append(&mut self.additions);
        (has_all && ends_all).then_some(())
    }

    /// Adds one to the chain of additions, and its release; `None` where that is not possible.
    pub fn extend(&mut self, addition: Addition, at: Epoch, release: Option<&Clock>, threads: usize) -> Option<()> {
        let chain = self.chain.get_or_insert_with(|| Chain {
            addition,
            values: vec![self.value],
            released: Clock::new(threads),
            last: None,
            let_go: Vec::new(),
        });
        if chain.addition != addition || chain.len() >= MOST_ADDITIONS {
            return None;
        }
        self.value = addition.next(self.value)?;
        chain.values.push(self.value);
        chain.last = None;
        release.into_iter().for_each(|release| chain.released.join(release));
        add(&mut self.additions, at);
        self.is_written = true;
        Some(())
    }
}

impl<'w> CountedState<'w> {
    /// The cell that a thread accesses.
    fn cell(&mut self, runs: &Runs<'_, 'w>, thread: ThreadId, target: AccessTarget) -> Option<&mut Cell<'w>> {
        let block = runs.block_of[thread];
        let cell = self.cells.entry(target.address).or_insert_with(|| Cell::new(runs.setup.memory, target, block));
        cell.block = cell.block.filter(|&known| known == block);
        let is_same = cell.reference == target.reference || !runs.setup.model.has_references();
        (is_same && cell.bytes == target.bytes && (cell.block.is_some() || !cell.is_of_block)).then_some(cell)
    }

    /// Records an access of a quiet block, which may not be atomic.
    fn note(&mut self, thread: ThreadId, address: Address, writes: bool, value: u64, label: Label) -> Option<()> {
        if let Some(accesses) = &mut self.quiet {
            if label.atomic {
                return None;
            }
            accesses.push((thread, address, writes, value));
        }
        Some(())
    }

    /// What a thread finds in a cell at a point, if the clock of that point determines it.
    pub fn find(
        &mut self,
        runs: &Runs<'_, 'w>,
        thread: ThreadId,
        target: AccessTarget,
        clock: &Clock,
    ) -> Option<(u64, bool)> {
        let carries_unwritten = self.runners[thread].process.carries_unwritten();
        let cell = self.cell(runs, thread, target)?;
        let is_error = cell.varies.is_some() || (cell.unwritten && !carries_unwritten);
        let is_after = cell.is_after_writer(clock) && clock.has_all(&cell.additions);
        (!is_error && is_after).then_some((cell.value, cell.unwritten))
    }

    /// Reads what the clocks determine, and answers the thread.
    pub fn read(&mut self, runs: &Runs<'_, 'w>, thread: ThreadId, target: AccessTarget, label: Label) -> Option<()> {
        let clock = self.runners[thread].clock.clone();
        let (value, unwritten) = self.find(runs, thread, target, &clock)?;
        add(&mut self.cells.get_mut(&target.address)?.reads, clock.now(thread));
        self.note(thread, target.address, false, value, label)?;
        self.runners[thread].answer_read(value, unwritten);
        Some(())
    }

    pub fn write(
        &mut self,
        runs: &Runs<'_, 'w>,
        thread: ThreadId,
        target: AccessTarget,
        value: u64,
        label: Label,
    ) -> Option<()> {
        let clock = self.runners[thread].clock.clone();
        let behind_last = (label.atomic && is_wide(label.level)) || runs.setup.model.orders_observed_additions();
        let cell = self.cell(runs, thread, target)?;
        let is_after = cell.is_after_writer(&clock) && clock.has_all(&cell.reads) && clock.has_all(&cell.waits);
        if !is_after || !cell.is_after_additions(&clock, behind_last) {
            return None;
        }
        // What threads have seen of its phases was read before: the clock has those reads.
        let (phases, commuting) = (cell.phases.take(), cell.commuting.take());
        if (phases.is_some() || commuting.is_some()) && !clock.has_all(&cell.additions) {
            return None;
        }
        // Nobody waits for the counter any more.
        if cell.chain.take().is_some_and(|chain| !chain.ends_all()) {
            return None;
        }
        cell.reads.clear();
        cell.waits.clear();
        cell.settled.clear();
        if clock.has_all(&cell.additions) {
            cell.additions.clear();
        }
        cell.writer = Some(clock.now(thread));
        (cell.value, cell.unwritten, cell.varies, cell.is_written) = (value, label.unwritten, None, true);
        self.note(thread, target.address, true, value, label)
    }

    /// The addition that a read-modify-write makes; `None` if it is none that takes part in a counter.
    pub fn addition(
        &mut self,
        runs: &Runs<'_, 'w>,
        thread: ThreadId,
        target: AccessTarget,
        change: Change,
        [read, write]: [Label; 2],
    ) -> Option<Addition> {
        let addition = Addition::of_any(change)?;
        let clock = self.runners[thread].clock.clone();
        let cell = self.cell(runs, thread, target)?;
        if cell.commuting.is_some() {
            cell.end_batch(&clock)?;
        }
        let atomic = [read, write].iter().all(|label| label.atomic && cell.claim(label.level));
        (atomic && self.quiet.is_none() && self.is_open(thread, target.address)).then_some(addition)
    }

    /// Whether atomic writes of a cell may leave the same in whatever order they come: nobody counts there.
    pub fn may_commute(&self, address: Address) -> bool {
        self.cells.get(&address).is_none_or(|cell| cell.chain.is_none() && cell.phases.is_none())
    }

    /// Does one of several atomic writes or updates that leave the same in whatever order they come, and of which no
    /// thread looks at the result.
    pub fn commute(
        &mut self,
        runs: &Runs<'_, 'w>,
        thread: ThreadId,
        target: AccessTarget,
        commuting: Commuting,
        [read, write]: [Option<Label>; 2],
        new: impl Fn(u64) -> u64,
    ) -> Option<()> {
        let clock = self.runners[thread].clock.clone();
        let is_quiet = self.quiet.is_some();
        let cell = self.cell(runs, thread, target)?;
        let atomic = [read, write].into_iter().flatten().all(|label| label.atomic && cell.claim(label.level));
        if is_quiet || !atomic || cell.varies.is_some() || (cell.unwritten && read.is_some()) {
            return None;
        }
        if cell.commuting != Some(commuting) {
            cell.end_batch(&clock)?;
            cell.commuting = Some(commuting);
        }
        if !cell.is_after_writer(&clock) || !clock.has_all(&cell.reads) || !clock.has_all(&cell.waits) {
            return None;
        }
        add(&mut cell.additions, clock.now(thread));
        (cell.value, cell.unwritten, cell.is_written) = (new(cell.value), false, true);
        Some(())
    }

    /// Whether an access is of a cell's size and by its name, and may be made by a thread of this block.
    pub fn is_of_one_kind(&mut self, runs: &Runs<'_, 'w>, thread: ThreadId, target: AccessTarget) -> bool {
        self.cell(runs, thread, target).is_some()
    }

    /// Whether a thread may write a cell at a point: by the clock of that point all accesses so far come before it.
    pub fn may_write(
        &mut self,
        runs: &Runs<'_, 'w>,
        thread: ThreadId,
        target: AccessTarget,
        clock: &Clock,
    ) -> Option<()> {
        self.cell(runs, thread, target).is_some_and(|cell| cell.is_after_all(clock)).then_some(())
    }

    /// Whether a thread may make an update at a point that commutes with others: by the clock of that point all other
    /// accesses so far come before it.
    pub fn may_change(
        &mut self,
        runs: &Runs<'_, 'w>,
        thread: ThreadId,
        target: AccessTarget,
        commuting: Commuting,
        labels: [Label; 2],
        clock: &Clock,
    ) -> Option<()> {
        let cell = self.cell(runs, thread, target)?;
        let atomic = labels.iter().all(|label| label.atomic && cell.claim(label.level));
        let is_after = match cell.commuting {
            Some(known) if known == commuting => {
                cell.is_after_writer(clock) && clock.has_all(&cell.reads) && clock.has_all(&cell.waits)
            }
            Some(_) | None => cell.is_after_all(clock),
        };
        (atomic && is_after && cell.varies.is_none() && !cell.unwritten).then_some(())
    }

    /// The value of a counter before the additions of threads that stand at them: by the clock of one of them all
    /// accesses so far come before it.
    pub fn before_tickets(&mut self, thread: ThreadId, address: Address) -> Option<u64> {
        let is_open = self.is_open(thread, address);
        let cell = self.cells.get_mut(&address)?;
        (is_open && cell.is_after_all(&self.runners[thread].clock)).then_some(cell.value)
    }

    /// Whether nothing but additions and reads of loops can happen to a cell at the same time as what a thread does
    /// now.
    pub fn is_open(&self, thread: ThreadId, address: Address) -> bool {
        let clock = &self.runners[thread].clock;
        let is_after = |cell: &Cell<'w>| {
            let is_known = cell.varies.is_none() && !cell.unwritten && cell.commuting.is_none();
            is_known && cell.is_after_writer(clock) && clock.has_all(&cell.reads)
        };
        self.cells.get(&address).is_some_and(is_after)
    }

    /// Whether a read waits in a loop for a counter that other threads may add to.
    pub fn may_wait(
        &mut self,
        runs: &Runs<'_, 'w>,
        thread: ThreadId,
        target: AccessTarget,
        label: Label,
    ) -> Option<bool> {
        let in_loop = !self.runners[thread].heads.is_empty();
        let is_read = !in_loop || !label.atomic || self.quiet.is_some();
        let cell = self.cell(runs, thread, target)?;
        Some(!is_read && cell.claim(label.level))
    }

    /// Whether the reads of a waiting loop return a value of the counter's chain.
    pub fn sees_chain(&self, thread: ThreadId, address: Address) -> bool {
        let clock = &self.runners[thread].clock;
        let sees = |cell: &Cell<'w>| cell.chain.is_some() && cell.is_after_writer(clock);
        self.cells.get(&address).is_some_and(sees)
    }

    /// Adds to a counter, in no order to other additions.
    pub fn add(&mut self, thread: ThreadId, address: Address, addition: Addition, release: bool) -> Option<()> {
        if !self.is_open(thread, address) {
            return None;
        }
        let threads = self.runners.len();
        let runner = &mut self.runners[thread];
        let now = runner.clock.now(thread);
        let released = if release { Some(runner.clock.clone()) } else { runner.released.clone() };
        runner.clock.tick(thread);
        self.cells.get_mut(&address)?.extend(addition, now, released.as_ref(), threads)
    }
}

impl Answers {
    /// Whether an addition returns a value to its thread.
    pub fn are_given(self) -> bool {
        match self {
            Answers::Nothing => false,
            Answers::Places | Answers::Phases | Answers::Tickets => true,
        }
    }
}
