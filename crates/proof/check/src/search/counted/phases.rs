//! Counters of which threads see phases alone.
//!
//! A barrier object (`cuda::barrier`, `mbarrier`) and a grid that waits for itself (`grid.sync()` of cooperative groups) have a
//! word to which each thread adds, and which tells it by some of its bits which phase is under way. In which order they come
//! does not matter to any of them: whatever an addition returns, its thread does the same, up to the loop that waits until the
//! phase is over.
//!
//! What a thread may have read is this, in any execution. An addition *before* the read, by the clocks, is in its value; one
//! *behind* it is not; of those that are neither, any may be. So the values are the sum of those before, and all sums of some of
//! the others.
//!
//! - **An addition** lets its thread go on if the thread does the same next, whatever of these values it has read. The threads
//!   that it can be then, [`Runner::others`] among them, go on side by side, as long as they do the same, until they differ by
//!   nothing but what they will not use again.
//! - **A loop** goes on, without an effect, at each of these values but that of all additions so far, which is none of the
//!   others; with that it ends. Then a thread that the loop has let go has read behind all of them. Nothing adds to the counter
//!   meanwhile.
//! - **An addition later on** is behind all those that have let some loop go: its clock has them. Where it is not behind a read,
//!   that may have found it too: with all values that it brings, that thread too does the same next, and is then one of those
//!   that it was known to be. An addition that its clock
//!   does not have, of the phase under way, may be before it or behind it: it has this one among its values, and that one
//!   this.
//!
//! So what happens in the run happens in every execution. Take the first event, in the order in which a search builds it, that
//! does otherwise than in the run: it is an addition or a loop's read with a value that the run does not know of it. But all
//! additions that were built before it are those of the run, with what comes before them; they are no ones behind it; and
//! where one that comes later in the run is among them, it is not behind it, and its values were looked at.

use std::collections::BTreeSet;

use wattle_ir::{AtomicOp, Type, eval};
use wattle_memory::ThreadId;

use super::super::process::{Action, Address};
use super::cells::goes_back;
use super::clock::{self, Clock, Epoch};
use super::{Adding, Runner, Runs, State, Status, Thread, Waiting};

/// The maximum number of values that one read may have found.
const MOST_VALUES: usize = 4096;

/// The maximum number of reads of one counter.
const MOST_READS: usize = 1 << 14;

/// A counter with its additions since it was last written otherwise.
#[derive(Clone)]
pub struct Phases<'w> {
    ty: Type,
    /// The value before the first addition.
    first: u64,
    additions: Vec<(Epoch, u64)>,
    /// The number of additions so far when a loop was let go last.
    counted: usize,
    /// What the additions' releases have released.
    released: Clock,
    reads: Vec<Read<'w>>,
}

/// A read of a counter that has been answered.
#[derive(Clone)]
struct Read<'w> {
    at: Epoch,
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
    /// The threads that it can be then, without what they will not use again, each with the same one before it did that.
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

    /// The values that some of them make of a value, the one that all of them make, and whether some others make that one too;
    /// `None` where they are too many.
    fn values(&self, ty: Type, from: u64) -> Option<(BTreeSet<u64>, u64, bool)> {
        let ways = self.0.iter().try_fold(1usize, |ways, &(_, count)| ways.checked_mul(count as usize + 1));
        let ways = ways.filter(|&ways| ways <= MOST_VALUES)?;
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
        let &all = values.last()?;
        let again = values.iter().filter(|&&value| value == all).count() > 1;
        debug_assert_eq!(values.len(), ways, "there is one value for each way");
        Some((values.into_iter().collect(), all, again))
    }
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
                next.threads.push((after, before));
            }
        }
        next.filter(|next| next.threads.len() <= MOST_VALUES)
    }

    /// Whether another one does the same, and its threads are among these.
    fn has(&self, other: &Next<'w>) -> bool {
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

    /// Answers the last read, whose value is certain.
    pub fn answer_read(&mut self, value: u64, unwritten: bool) {
        self.process.answer_read(Some(value), unwritten);
        self.others.iter_mut().for_each(|other| other.answer_read(Some(value), unwritten));
    }
}

impl<'w> Phases<'w> {
    fn new(ty: Type, first: u64, threads: usize) -> Phases<'w> {
        let released = Clock::new(threads);
        Phases { ty, first, additions: Vec::new(), counted: 0, released, reads: Vec::new() }
    }

    /// The sum of the additions before a point, and the operands of the others, but for its own.
    fn before(&self, clock: &Clock, own: Option<usize>) -> (u64, Operands) {
        let (mut sum, mut open) = (self.first, Operands::default());
        for (number, &(at, operand)) in self.additions.iter().enumerate() {
            if own == Some(number) {
            } else if clock.has(at) {
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
        state: &mut State<'w>,
        adding: &[(ThreadId, Adding)],
        waiting: &[(ThreadId, Waiting)],
    ) -> Option<()> {
        let added: BTreeSet<Address> = adding.iter().map(|(_, adding)| adding.address).collect();
        let mut moved = false;
        for &(thread, what) in waiting {
            let address = what.target.address;
            if !added.contains(&address) && state.sees_phases(thread, address) {
                moved |= let_go(state, thread, what)?;
            }
        }
        if moved {
            return Some(());
        }
        for &address in &added {
            let adding: Vec<_> = adding.iter().filter(|(_, adding)| adding.address == address).copied().collect();
            add_all(state, address, &adding)?;
            moved = true;
        }
        if moved {
            return Some(());
        }
        // A cell to which nobody adds has the one value that the clocks determine.
        for &(thread, Waiting { target, label }) in waiting {
            if !state.sees_phases(thread, target.address) {
                self.read(state, thread, target, label)?;
                state.runners[thread].status = Status::Ready;
                moved = true;
            }
        }
        moved.then_some(())
    }
}

/// Lets a thread go on whose loop ends with all additions so far; whether it does.
fn let_go(state: &mut State<'_>, thread: ThreadId, Waiting { target, label }: Waiting) -> Option<bool> {
    let runner = &state.runners[thread];
    let phases = state.cells.get(&target.address)?.phases.as_ref()?;
    let head = runner.heads.last()?;
    let (sum, open) = phases.before(&runner.clock, None);
    let (values, all, again) = open.values(phases.ty, sum)?;
    let threads = runner.threads();
    let goes_on = |value: u64| {
        threads.iter().all(|thread| {
            let mut thread = thread.clone();
            thread.answer(Some(value));
            goes_back(&mut thread, head.label) && (thread == head.process || head.others.contains(&thread))
        })
    };
    if head.effect || head.busy || !values.iter().all(|&value| value == all || goes_on(value)) {
        return None;
    }
    let Some(next) = Next::of(&threads, &BTreeSet::from([all]), Some(head.label)) else {
        return goes_on(all).then_some(false);
    };
    let at = runner.clock.now(thread);
    let cell = state.cells.get_mut(&target.address)?;
    let phases = cell.phases.as_mut().filter(|phases| !again && phases.reads.len() < MOST_READS)?;
    phases.counted = phases.additions.len();
    let runner = &mut state.runners[thread];
    runner.observed.join(&phases.released);
    if label.acquire {
        runner.clock.join(&phases.released);
    }
    clock::add(&mut cell.waits, at);
    next.begin(runner);
    let leaves = runner.heads.last().map(|head| head.label);
    runner.heads.iter_mut().for_each(|head| head.busy = true);
    phases.reads.push(Read { at, threads, leaves, next, sum: all, open: Operands::default() });
    Some(true)
}

/// Lets all threads add that have come to a counter.
fn add_all(state: &mut State<'_>, address: Address, adding: &[(ThreadId, Adding)]) -> Option<()> {
    let threads = state.runners.len();
    if !adding.iter().all(|&(thread, _)| state.is_open(thread, address)) {
        return None;
    }
    let ty = adding.first()?.1.addition.ty;
    let cell = state.cells.get_mut(&address)?;
    let phases = cell.phases.get_or_insert_with(|| Phases::new(ty, cell.value, threads));
    let clocks: Vec<Clock> = adding.iter().map(|&(thread, _)| state.runners[thread].clock.clone()).collect();
    let first = phases.additions.len();
    let counted: Vec<Epoch> = phases.additions[..phases.counted].iter().map(|&(at, _)| at).collect();
    for (&(thread, Adding { addition, release, .. }), clock) in adding.iter().zip(&clocks) {
        if addition.op != AtomicOp::Add || addition.ty != phases.ty || !clock.has_all(&counted) {
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
        for (&(_, Adding { addition, .. }), _) in adding.iter().zip(&clocks).filter(|(_, clock)| !clock.has(read.at)) {
            read.open.add(addition.operand);
            more = true;
        }
        if more {
            let (values, ..) = read.open.values(phases.ty, read.sum)?;
            let next = Next::of(&read.threads, &values, read.leaves)?;
            if !read.next.has(&next) {
                return None;
            }
        }
    }
    for (number, (&(thread, _), clock)) in (first..).zip(adding.iter().zip(&clocks)) {
        let (sum, open) = phases.before(clock, Some(number));
        let (values, ..) = open.values(phases.ty, sum)?;
        let runner = &mut state.runners[thread];
        let threads = runner.threads();
        let next = Next::of(&threads, &values, None).filter(|_| phases.reads.len() < MOST_READS)?;
        next.begin(runner);
        phases.reads.push(Read { at: clock.now(thread), threads, leaves: None, next, sum, open });
    }
    Some(())
}

impl State<'_> {
    /// Whether the reads of a waiting loop return a sum of additions to a counter.
    fn sees_phases(&self, thread: ThreadId, address: Address) -> bool {
        let clock = &self.runners[thread].clock;
        self.cells.get(&address).is_some_and(|cell| cell.phases.is_some() && cell.is_after_writer(clock))
    }
}
