//! Counters of which threads see phases alone.
//!
//! A barrier object (`cuda::barrier`, `mbarrier`) and a grid that waits for itself (`grid.sync()` of cooperative
//! groups) have a word to which each thread adds. Some of its bits are the number of the phase that is under way, which
//! is all that threads look at. In which order they come does not matter to any of them: whatever an addition returns,
//! its thread does the same, up to the loop that waits until the phase is over.
//!
//! A thread may have read these values, in any execution: an addition *before* the read, by the clocks, is in the
//! value; one *behind* it is not; of those that are neither, any may be. So they are the sum of those before, and all
//! sums of that and some of the others.
//!
//! - **An addition** lets its thread go on if the thread does the same next, whatever of these values it has read. The
//!   threads that it can be then, [`Runner::others`] among them, go on side by side, as long as they do the same, until
//!   they differ by nothing but what they will not use again.
//! - **A loop** goes on, without an effect, at each of these values but that of all additions so far; with that it
//!   ends. No sum of some of them is equal to that of all, so that a thread which has left the loop has read behind
//!   each of them, and synchronizes with the release of each. No thread stands at an addition to the counter meanwhile.
//! - **Another read in a loop**, as one of a flag that threads have added to, is one as any read outside of loops is,
//!   if all additions come before it by its clock; whatever is added later comes behind it by its own.
//! - **An addition later on** comes behind all that were there when a loop was left: its clock has them, or its thread
//!   has left a loop behind them. Else it might come in the place of one of them, and end the loop before that one. A
//!   read that it does not come behind may have found it too: with the values that this brings, the thread of that read
//!   does the same next, and is then one of those that it was known to be. Loops that have been left end with these
//!   values, so that nobody waits for ever. Two additions between which nobody has left a loop, and of which neither
//!   clock has the other, may each have found the other.
//! - **A write** that is no addition comes behind all additions and all reads, by its clock: then the phases are over.
//!
//! So what happens in the run happens in every execution. Take the first event, in the order in which a search builds
//! it, that does otherwise than in the run: it is an addition, or the read of a loop, with a value that the run does
//! not know of it. Each addition that was built before it is one of the run. It does not come behind the event; and if
//! it comes later in the run, its values were looked at then. So the run knows the value.

use std::collections::BTreeSet;

use wattle_ir::{AtomicOp, Type, eval};
use wattle_memory::ThreadId;

use super::super::process::{Action, Address};
use super::chain::goes_back;
use super::clock::{self, Clock, Epoch};
use super::{Adding, CountedState, Runner, Runs, Status, Thread, Waiting};

/// The maximum number of values that one read may have found.
const MOST_VALUES: usize = 4096;

/// The maximum number of threads that one thread can be, before they are the same again.
const MOST_THREADS: usize = 256;

/// The maximum number of additions of each thread, on the average, to a counter before a loop is left. Threads that add
/// and wait for nobody see no phases, and each of their additions may have found any of the others.
const MOST_BEFORE: usize = 3;

/// The maximum number of reads of one counter.
const MOST_READS: usize = 1 << 14;

/// A counter with its additions since it was last written otherwise.
#[derive(Clone)]
pub struct Phases<'w> {
    ty: Type,
    /// The value before the first addition.
    first: u64,
    additions: Vec<(Epoch, u64)>,
    /// The number of additions so far when a loop was left last.
    counted: usize,
    /// For each thread the number of additions so far when it left a loop last: it has read behind these.
    found: Vec<usize>,
    /// What the additions' releases have released.
    released: Clock,
    reads: Vec<Read<'w>>,
}

/// A read of a counter that has been answered.
#[derive(Clone)]
struct Read<'w> {
    at: Epoch,
    /// The number of the addition that it is a part of, if it is one.
    addition: Option<usize>,
    /// The threads that it can be, before they are answered.
    threads: Vec<Thread<'w>>,
    /// The loop that it leaves, if it waits.
    leaves: Option<u32>,
    /// What it does next.
    next: Next<'w>,
    /// The sum of the additions that it has found for certain.
    sum: u64,
    /// The operands of those that it may have found.
    open: Operands,
}

/// What a thread does next, whatever it has read.
#[derive(Clone)]
struct Next<'w> {
    action: Action,
    /// The threads that it can be then, without what they will not use again, each with the same one before it did
    /// that.
    threads: Vec<(Thread<'w>, Thread<'w>)>,
}

/// Operands of additions, each with how many have it.
#[derive(Clone, Debug, Default)]
struct Operands(Vec<(u64, u64)>);

impl Operands {
    fn add(&mut self, operand: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == operand) {
            Some((_, count)) => *count += 1,
            None => self.0.push((operand, 1)),
        }
    }

    /// The sums of a value and some of them; `None` where they are too many.
    fn sums(&self, ty: Type, from: u64) -> Option<Sums> {
        let ways = self.0.iter().try_fold(1usize, |ways, &(_, count)| ways.checked_mul(count as usize + 1));
        ways.filter(|&ways| ways <= MOST_VALUES)?;
        let mut values = vec![from];
        for &(operand, count) in &self.0 {
            let multiples = (0..count).scan(0, |sum, _| {
                *sum = eval::atomic(AtomicOp::Add, ty, *sum, operand);
                Some(*sum)
            });
            let multiples: Vec<u64> = std::iter::once(0).chain(multiples).collect();
            let with = |value: u64| multiples.iter().map(move |&more| eval::atomic(AtomicOp::Add, ty, value, more));
            values = values.iter().flat_map(|&value| with(value)).collect();
        }
        let &of_all = values.last()?;
        let is_ambiguous = values.iter().filter(|&&value| value == of_all).count() > 1;
        Some(Sums { values: values.into_iter().collect(), of_all, is_ambiguous })
    }
}

/// The sums of a value and some additions.
struct Sums {
    values: BTreeSet<u64>,
    /// The sum with all of them.
    of_all: u64,
    /// Whether a sum without some of them is equal to that.
    is_ambiguous: bool,
}

impl<'w> Next<'w> {
    /// What threads do next with these values; `None` if it is not one thing, or they go round their loop again.
    fn of(threads: &[Thread<'w>], values: &BTreeSet<u64>, leaves: Option<u32>) -> Option<Next<'w>> {
        let mut next: Option<Next<'w>> = None;
        for (thread, &value) in threads.iter().flat_map(|thread| values.iter().map(move |value| (thread, value))) {
            let mut before = thread.clone();
            before.answer(Some(value));
            let (action, after) = advanced(&before);
            if matches!(action, Action::BackEdge { label, .. } if leaves == Some(label)) {
                return None;
            }
            let next = next.get_or_insert_with(|| Next { action: action.clone(), threads: Vec::new() });
            if next.action != action {
                return None;
            }
            if !next.threads.iter().any(|(known, _)| *known == after) {
                if next.threads.len() == MOST_THREADS {
                    return None;
                }
                next.threads.push((after, before));
            }
        }
        next
    }

    /// Whether another one does the same, and its threads are among these.
    fn includes(&self, other: &Next<'w>) -> bool {
        let is_known = |of: &Thread<'w>| self.threads.iter().any(|(known, _)| known == of);
        self.action == other.action && other.threads.iter().all(|(after, _)| is_known(after))
    }

    /// Lets a thread go on as any of these.
    fn begin(&self, runner: &mut Runner<'w>) {
        let mut threads = self.threads.iter().map(|(_, before)| before.clone());
        if let Some(first) = threads.next() {
            runner.process = first;
        }
        runner.others = threads.collect();
        runner.status = Status::Ready;
    }
}

/// What a thread does next, and the thread then, without what it will not use again.
fn advanced<'w>(thread: &Thread<'w>) -> (Action, Thread<'w>) {
    let mut thread = thread.clone();
    let action = thread.advance();
    thread.forget_dead();
    (action, thread)
}

impl<'w> Runner<'w> {
    /// The threads that it can be.
    fn threads(&self) -> Vec<Thread<'w>> {
        std::iter::once(&self.process).chain(&self.others).cloned().collect()
    }

    /// Runs to the next action; `None` where that is not the same for all threads that it can be.
    pub fn advance(&mut self) -> Option<Action> {
        let action = self.process.advance();
        if self.others.is_empty() {
            return Some(action);
        }
        self.process.forget_dead();
        let mut others: Vec<Thread<'w>> = Vec::new();
        for mut other in std::mem::take(&mut self.others) {
            if other.advance() != action {
                return None;
            }
            other.forget_dead();
            if other != self.process && !others.contains(&other) {
                others.push(other);
            }
        }
        self.others = others;
        Some(action)
    }

    /// Leaves the result of the last update open: who looks at it ends the proof.
    pub fn leave_open(&mut self) {
        self.process.answer(None);
        self.others.iter_mut().for_each(|other| other.answer(None));
    }

    /// Answers the last read, whose value is certain.
    pub fn answer_read(&mut self, value: u64, unwritten: bool) {
        self.process.answer_read(Some(value), unwritten);
        self.others.iter_mut().for_each(|other| other.answer_read(Some(value), unwritten));
    }
}

impl<'w> Phases<'w> {
    fn new(ty: Type, first: u64, threads: usize) -> Phases<'w> {
        let released = Clock::new(threads);
        Phases { ty, first, additions: Vec::new(), counted: 0, found: vec![0; threads], released, reads: Vec::new() }
    }

    /// Whether an addition comes before what a thread does to the counter at a point: by the clock, or since it has
    /// read behind it.
    fn knows(&self, thread: ThreadId, clock: &Clock, addition: usize) -> bool {
        addition < self.found[thread] || self.additions.get(addition).is_some_and(|&(at, _)| clock.has(at))
    }

    /// The sum of the additions before a point of a thread, and the operands of the others, but for its own.
    fn before(&self, thread: ThreadId, clock: &Clock, own: Option<usize>) -> (u64, Operands) {
        let (mut sum, mut open) = (self.first, Operands::default());
        let others = self.additions.iter().enumerate().filter(|&(number, _)| own != Some(number));
        for (number, &(_, operand)) in others {
            if self.knows(thread, clock, number) {
                sum = eval::atomic(AtomicOp::Add, self.ty, sum, operand);
            } else {
                open.add(operand);
            }
        }
        (sum, open)
    }
}

impl<'w> Runs<'_, 'w> {
    /// Lets threads go on that have come to a counter; `None` where that is not the same in all executions.
    pub fn go_on_in_phases(
        &mut self,
        state: &mut CountedState<'w>,
        adding: &[(ThreadId, Adding)],
        waiting: &[(ThreadId, Waiting)],
    ) -> Option<()> {
        let added: BTreeSet<Address> = adding.iter().map(|(_, adding)| adding.address).collect();
        let mut moved = false;
        for &(thread, what) in waiting {
            let address = what.target.address;
            if !added.contains(&address) && state.sees_phases(thread, address) {
                moved |= self.leave_loop(state, thread, what)?;
            }
        }
        if moved {
            return Some(());
        }
        // Threads to which no result matters may be on their way to where others wait for them with theirs.
        let at = |address: Address| adding.iter().copied().filter(move |(_, adding)| adding.address == address);
        let matters_to_none = |&address: &Address| at(address).all(|(thread, what)| !state.matters(thread, what));
        let early: BTreeSet<Address> = added.iter().copied().filter(matters_to_none).collect();
        for &address in if early.is_empty() { &added } else { &early } {
            self.add_all(state, address, &at(address).collect::<Vec<_>>())?;
            moved = true;
        }
        if moved {
            return Some(());
        }
        // A cell to which nobody has added has the one value that the clocks determine. Who does not leave a loop with
        // it waits for somebody who adds.
        for &(thread, Waiting { target, label }) in waiting {
            if !state.sees_phases(thread, target.address) && state.leaves_loop(thread, target.address) {
                self.read(state, thread, target, label)?;
                state.runners[thread].status = Status::Ready;
                moved = true;
            }
        }
        moved.then_some(())
    }

    /// Lets a thread go on whose loop ends with all additions so far; whether it does.
    fn leave_loop(
        &mut self,
        state: &mut CountedState<'w>,
        thread: ThreadId,
        Waiting { target, label }: Waiting,
    ) -> Option<bool> {
        if self.watch.check().is_some() {
            return None;
        }
        let runner = &state.runners[thread];
        let phases = state.cells.get(&target.address)?.phases.as_ref()?;
        let head = runner.heads.last()?;
        let (sum, open) = phases.before(thread, &runner.clock, None);
        let Sums { values, of_all, is_ambiguous } = open.sums(phases.ty, sum)?;
        let threads = runner.threads();
        let goes_on = |value: u64| {
            threads.iter().all(|thread| {
                let mut thread = thread.clone();
                thread.answer(Some(value));
                goes_back(&mut thread, head.label) && (thread == head.process || head.others.contains(&thread))
            })
        };
        if head.effect || head.busy || !values.iter().all(|&value| value == of_all || goes_on(value)) {
            // It does not wait. A read behind all additions, by its clock, is one as others are.
            let known = BTreeSet::from([state.cells.get(&target.address)?.value]);
            Next::of(&threads, &known, Some(head.label))?;
            self.read(state, thread, target, label)?;
            state.runners[thread].status = Status::Ready;
            return Some(true);
        }
        let Some(next) = Next::of(&threads, &BTreeSet::from([of_all]), Some(head.label)) else {
            return goes_on(of_all).then_some(false);
        };
        let at = runner.clock.now(thread);
        let cell = state.cells.get_mut(&target.address)?;
        let phases = cell.phases.as_mut().filter(|phases| !is_ambiguous && phases.reads.len() < MOST_READS)?;
        phases.counted = phases.additions.len();
        phases.found[thread] = phases.additions.len();
        let runner = &mut state.runners[thread];
        runner.observed.join(&phases.released);
        if label.acquire {
            runner.clock.join(&phases.released);
        }
        clock::add(&mut cell.waits, at);
        next.begin(runner);
        let leaves = runner.heads.last().map(|head| head.label);
        runner.heads.iter_mut().for_each(|head| head.busy = true);
        phases.reads.push(Read { at, addition: None, threads, leaves, next, sum: of_all, open: Operands::default() });
        Some(true)
    }

    /// Lets all threads add that have come to a counter.
    fn add_all(&mut self, state: &mut CountedState<'w>, address: Address, adding: &[(ThreadId, Adding)]) -> Option<()> {
        let threads = state.runners.len();
        if !adding.iter().all(|&(thread, _)| state.is_open(thread, address)) {
            return None;
        }
        let ty = adding.first()?.1.addition.ty;
        let cell = state.cells.get_mut(&address)?;
        let phases = cell.phases.get_or_insert_with(|| Phases::new(ty, cell.value, threads));
        let clocks: Vec<Clock> = adding.iter().map(|&(thread, _)| state.runners[thread].clock.clone()).collect();
        let first = phases.additions.len();
        if first + adding.len() - phases.counted > MOST_BEFORE * threads {
            return None;
        }
        for (&(thread, Adding { addition, release, .. }), clock) in adding.iter().zip(&clocks) {
            let knows_all = (0..phases.counted).all(|number| phases.knows(thread, clock, number));
            if addition.op != AtomicOp::Add || addition.ty != phases.ty || !knows_all {
                return None;
            }
            let runner = &mut state.runners[thread];
            let at = clock.now(thread);
            let released = if release { Some(clock.clone()) } else { runner.released.clone() };
            released.iter().for_each(|released| phases.released.join(released));
            runner.clock.tick(thread);
            phases.additions.push((at, addition.operand));
            cell.value = eval::atomic(AtomicOp::Add, phases.ty, cell.value, addition.operand);
            clock::add(&mut cell.additions, at);
        }
        cell.is_written = true;
        for read in &mut phases.reads {
            let mut more = false;
            for (&(thread, Adding { addition, .. }), clock) in adding.iter().zip(&clocks) {
                let is_behind = read.addition.is_some_and(|number| number < phases.found[thread]);
                if !is_behind && !clock.has(read.at) {
                    read.open.add(addition.operand);
                    more = true;
                }
            }
            if more {
                if self.watch.check().is_some() {
                    return None;
                }
                let sums = read.open.sums(phases.ty, read.sum)?;
                let next = Next::of(&read.threads, &sums.values, read.leaves)?;
                if !read.next.includes(&next) {
                    return None;
                }
            }
        }
        for (number, (&(thread, _), clock)) in (first..).zip(adding.iter().zip(&clocks)) {
            let (sum, open) = phases.before(thread, clock, Some(number));
            let sums = open.sums(phases.ty, sum)?;
            if self.watch.check().is_some() {
                return None;
            }
            let runner = &mut state.runners[thread];
            let threads = runner.threads();
            let next = Next::of(&threads, &sums.values, None).filter(|_| phases.reads.len() < MOST_READS)?;
            next.begin(runner);
            phases.reads.push(Read {
                at: clock.now(thread),
                addition: Some(number),
                threads,
                leaves: None,
                next,
                sum,
                open,
            });
        }
        Some(())
    }
}

impl CountedState<'_> {
    /// Whether a thread leaves its loop with the value of a cell, as far as it is there.
    fn leaves_loop(&self, thread: ThreadId, address: Address) -> bool {
        let (runner, cell) = (&self.runners[thread], self.cells.get(&address));
        let values = cell.map(|cell| BTreeSet::from([cell.value]));
        let loop_label = runner.heads.last().map(|head| head.label);
        values.is_none_or(|values| Next::of(&runner.threads(), &values, loop_label).is_some())
    }

    /// Whether a thread is another one for another result of an addition.
    fn matters(&self, thread: ThreadId, Adding { address, addition, .. }: Adding) -> bool {
        let threads = self.runners[thread].threads();
        let value = self.cells.get(&address).map_or(0, |cell| cell.value);
        let values = BTreeSet::from([value, eval::atomic(addition.op, addition.ty, value, addition.operand)]);
        Next::of(&threads, &values, None).is_none_or(|next| next.threads.len() > threads.len())
    }

    /// Whether the reads of a waiting loop return a sum of additions to a counter.
    fn sees_phases(&self, thread: ThreadId, address: Address) -> bool {
        let clock = &self.runners[thread].clock;
        self.cells.get(&address).is_some_and(|cell| cell.phases.is_some() && cell.is_after_writer(clock))
    }
}
