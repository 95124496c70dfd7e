//! Cells and counters, with their accesses against the clocks.

use wattle_ir::{AtomicOp, Type, TypeKind, eval};
use wattle_memory::{Label, Level, Model, ThreadId};

use super::super::process::{Action, Address, Change, Memory, Target};
use super::super::single::Commuting;
use super::clock::{Clock, Epoch, add};
use super::phases::Phases;
use super::{Answers, Runs, State, Thread, is_wide};

/// The maximum number of additions to one counter.
const MOST_ADDITIONS: usize = 1 << 12;

/// An addition to a counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Addition {
    pub op: AtomicOp,
    pub ty: Type,
    pub operand: u64,
}

impl Addition {
    /// A change that adds the same to whatever it finds.
    pub fn of(change: Change) -> Option<Addition> {
        let Change::Apply { op, ty, operand: Some(operand) } = change else { return None };
        let adds = matches!(op, AtomicOp::Add | AtomicOp::Inc) && ty.info().kind == TypeKind::Unsigned;
        adds.then_some(Addition { op, ty, operand })
    }

    /// The value behind another one; `None` where the counter starts again, so that the place does not follow from the value.
    pub fn next(self, value: u64) -> Option<u64> {
        Some(eval::atomic(self.op, self.ty, value, self.operand)).filter(|&next| next > value)
    }
}

/// The additions to a counter since it was last written otherwise.
#[derive(Clone)]
pub struct Chain<'w> {
    pub addition: Addition,
    /// The value before the first addition, and behind each.
    pub values: Vec<u64>,
    /// What their releases have released.
    pub released: Clock,
    /// The addition that is last in the order of writes, where that is known of all so far.
    pub last: Option<Epoch>,
    /// The threads that waited for a value, and the number of additions that let them go.
    pub let_go: Vec<(LoopRead<'w>, usize)>,
}

/// A thread that has come to a read of a loop.
#[derive(Clone)]
pub struct LoopRead<'w> {
    pub process: Thread<'w>,
    pub label: u32,
}

impl LoopRead<'_> {
    /// Whether the loop ends if the read returns the value.
    pub fn ends_at(&self, value: u64) -> bool {
        let mut process = self.process.clone();
        process.answer(Some(value));
        !goes_back(&mut process, self.label)
    }
}

/// Whether a thread begins the loop again next.
pub fn goes_back(process: &mut Thread<'_>, loop_label: u32) -> bool {
    matches!(process.advance(), Action::BackEdge { label, .. } if label == loop_label)
}

impl Chain<'_> {
    /// Whether all threads that waited for a value would have gone on at later ones too.
    pub fn ends_all(&self) -> bool {
        self.let_go.iter().all(|(read, at)| self.values[*at..].iter().all(|&value| read.ends_at(value)))
    }

    pub fn len(&self) -> usize {
        self.values.len() - 1
    }
}

/// A cell, with its last accesses.
#[derive(Clone)]
pub struct Cell<'w> {
    bytes: u8,
    reference: u32,
    pub value: u64,
    unwritten: bool,
    pub is_written: bool,
    /// The last write that is no addition; the clocks order all accesses before it, but for additions.
    writer: Option<Epoch>,
    /// The writes since that commuted, and the additions before them, once something else was done to the cell: behind all of them.
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
    /// The operation of atomic writes and updates that leave the same in whatever order they come; `additions` has these then.
    commuting: Option<Commuting>,
    /// The block whose threads alone have accessed it, or none where several have.
    block: Option<usize>,
    /// Whether atomic accesses that reach no more than its block have been counted on: an access of another block ends the proof.
    is_of_block: bool,
}

impl<'w> Cell<'w> {
    fn new(memory: &dyn Memory, target: Target, block: usize) -> Cell<'w> {
        let initial = memory.initial(target.address);
        Cell {
            bytes: target.bytes,
            reference: target.reference,
            value: initial.value,
            unwritten: initial.unwritten,
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

    /// Whether atomic accesses of a level reach all threads that access the cell. Where they reach no more than its block, no
    /// other block may access it from here on.
    fn claim(&mut self, level: Level) -> bool {
        let is_narrow = !is_wide(level) && level >= Level::Block && self.block.is_some();
        self.is_of_block |= is_narrow;
        is_wide(level) || is_narrow
    }

    /// Whether a point comes after all writes but those that may still have others beside them: additions, and writes that commute.
    pub fn is_after_writer(&self, clock: &Clock) -> bool {
        self.writer.is_none_or(|writer| clock.has(writer)) && clock.has_all(&self.settled)
    }

    /// Whether a write that is no addition comes after all additions: by the clock or, if that is enough, behind the last of
    /// them in the order of writes.
    fn is_after_additions(&self, clock: &Clock, behind_last: bool) -> bool {
        let last = self.chain.as_ref().and_then(|chain| chain.last);
        let is_behind = behind_last && (self.chain.is_none() || last.is_some_and(|last| clock.has(last)));
        is_behind || clock.has_all(&self.additions)
    }

    /// Ends the additions to a cell, or the writes to it that commute, at a point of a thread; `None` if they, or the loops that
    /// have read them, do not all come before it.
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

impl<'w> State<'w> {
    /// The cell that a thread accesses.
    fn cell(&mut self, runs: &Runs<'_, 'w>, thread: ThreadId, target: Target) -> Option<&mut Cell<'w>> {
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

    /// Reads what the clocks determine, and answers the thread.
    pub fn read(&mut self, runs: &Runs<'_, 'w>, thread: ThreadId, target: Target, label: Label) -> Option<()> {
        let carries_unwritten = self.runners[thread].process.carries_unwritten();
        let clock = self.runners[thread].clock.clone();
        let cell = self.cell(runs, thread, target)?;
        let is_error = cell.unwritten && !carries_unwritten;
        if is_error || !cell.is_after_writer(&clock) || !clock.has_all(&cell.additions) {
            return None;
        }
        add(&mut cell.reads, clock.now(thread));
        let (value, unwritten) = (cell.value, cell.unwritten);
        self.note(thread, target.address, false, value, label)?;
        self.runners[thread].answer_read(value, unwritten);
        Some(())
    }

    pub fn write(
        &mut self,
        runs: &Runs<'_, 'w>,
        thread: ThreadId,
        target: Target,
        value: u64,
        label: Label,
    ) -> Option<()> {
        let clock = self.runners[thread].clock.clone();
        // The last addition observes all others, and what a write observes comes before it (PTX ISA 8.8, 8.9.5 "Causality Order").
        let behind_last = (label.atomic && is_wide(label.level)) || runs.setup.model == Model::Ptx;
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
        (cell.value, cell.unwritten, cell.is_written) = (value, label.unwritten, true);
        self.note(thread, target.address, true, value, label)
    }

    /// The addition that a read-modify-write makes; `None` if it is none that takes part in a counter.
    pub fn addition(
        &mut self,
        runs: &Runs<'_, 'w>,
        thread: ThreadId,
        target: Target,
        change: Change,
        [read, write]: [Label; 2],
    ) -> Option<Addition> {
        let addition = Addition::of(change)?;
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

    /// Does one of several atomic writes or updates that leave the same in whatever order they come, and of which no thread looks at
    /// the result.
    pub fn commute(
        &mut self,
        runs: &Runs<'_, 'w>,
        thread: ThreadId,
        target: Target,
        commuting: Commuting,
        [read, write]: [Option<Label>; 2],
        new: impl Fn(u64) -> u64,
    ) -> Option<()> {
        let clock = self.runners[thread].clock.clone();
        let is_quiet = self.quiet.is_some();
        let cell = self.cell(runs, thread, target)?;
        let atomic = [read, write].into_iter().flatten().all(|label| label.atomic && cell.claim(label.level));
        if is_quiet || !atomic || (cell.unwritten && read.is_some()) {
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

    /// Whether nothing but additions and reads of loops can happen to a cell at the same time as what a thread does now.
    pub fn is_open(&self, thread: ThreadId, address: Address) -> bool {
        let clock = &self.runners[thread].clock;
        let is_after = |cell: &Cell<'w>| {
            cell.commuting.is_none() && cell.is_after_writer(clock) && clock.has_all(&cell.reads) && !cell.unwritten
        };
        self.cells.get(&address).is_some_and(is_after)
    }

    /// Whether a read waits in a loop for a counter that other threads may add to.
    pub fn may_wait(&mut self, runs: &Runs<'_, 'w>, thread: ThreadId, target: Target, label: Label) -> Option<bool> {
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
            Answers::Places | Answers::Phases => true,
        }
    }
}
