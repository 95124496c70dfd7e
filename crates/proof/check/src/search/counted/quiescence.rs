//! What can happen once no thread can go on: threads that have waited for a counter go on, or one of those that add to
//! it is the last.

use wattle_memory::ThreadId;

use super::super::process::{Action, Address};
use super::chain::{LoopRead, goes_back};
use super::{Adding, Answers, CountedState, LoggedAccess, Runs, Status, Waiting};

/// The maximum number of threads that add to a counter at a time.
const MOST_ADDING: usize = 64;

impl<'w> Runs<'_, 'w> {
    /// Runs a state to its end, which gives no branches, or to where one of several threads is the last.
    pub fn run(&mut self, state: &mut CountedState<'w>) -> Option<Vec<CountedState<'w>>> {
        loop {
            self.settle(state, None)?;
            let mut adding = Vec::new();
            let mut waiting = Vec::new();
            for (thread, runner) in state.runners.iter().enumerate() {
                match runner.status {
                    Status::Adds(what) => adding.push((thread, what)),
                    Status::Waits(what) => waiting.push((thread, what)),
                    Status::NotStarted | Status::Ready | Status::AtBarrier | Status::Done => {}
                }
            }
            match (&adding[..], &waiting[..]) {
                ([], []) => {
                    let ended = state.runners.iter().all(|runner| runner.status == Status::Done);
                    return ended.then(Vec::new);
                }
                (adding, waiting) if self.answers == Answers::Phases => {
                    self.go_on_in_phases(state, adding, waiting)?;
                }
                ([], waiting) => self.let_go(state, waiting)?,
                (adding, []) if self.answers == Answers::Tickets => self.take_tickets(state, adding)?,
                (adding, []) => return self.branch(state, adding),
                // The two ways to go on are not treated together.
                _ => return None,
            }
        }
    }

    /// Lets threads go on whose loops end at the last value of their counter; `None` if there is none.
    fn let_go(&mut self, state: &mut CountedState<'w>, waiting: &[(ThreadId, Waiting)]) -> Option<()> {
        // A cell to which nobody adds has the one value that the clocks determine, so this is no choice.
        let mut known = false;
        for &(thread, Waiting { target, label }) in waiting {
            if !state.sees_chain(thread, target.address) {
                self.read(state, thread, target, label)?;
                state.runners[thread].status = Status::Ready;
                known = true;
            }
        }
        if known {
            return Some(());
        }
        let mut of = None;
        for &(thread, Waiting { target, label }) in waiting {
            let Some((exit, read)) = exit(state, thread, target.address)? else { continue };
            // A thread that one counter lets go may add to another one, before those that have been counted there.
            if *of.get_or_insert(target.address) != target.address {
                return None;
            }
            let runner = &mut state.runners[thread];
            let cell = state.cells.get_mut(&target.address)?;
            let chain = cell.chain.as_mut()?;
            chain.let_go.push((read, chain.len()));
            runner.observed.join(&chain.released);
            if label.acquire {
                runner.clock.join(&chain.released);
            }
            super::clock::add(&mut cell.waits, runner.clock.now(thread));
            runner.process = exit;
            runner.status = Status::Ready;
        }
        of.map(|_| ())
    }

    /// The ways to go on where threads add to a counter: one for each of them that can be the last.
    fn branch(&mut self, state: &CountedState<'w>, adding: &[(ThreadId, Adding)]) -> Option<Vec<CountedState<'w>>> {
        let (address, addition) = (adding[0].1.address, adding[0].1.addition);
        let together = adding.iter().all(|(_, one)| one.address == address && one.addition == addition);
        if !together || adding.len() > MOST_ADDING {
            return None;
        }
        let mut after = state.clone();
        for &(thread, Adding { release, .. }) in adding {
            after.add(thread, address, addition, release)?;
        }
        let values = after.cells.get(&address)?.chain.as_ref()?.values.clone();
        // The last of them is the value behind all.
        let places = &values[values.len() - 1 - adding.len()..values.len() - 1];
        let (&last, earlier) = places.split_last()?;
        for &(thread, _) in adding {
            self.is_quiet(&after, thread, earlier)?;
        }
        let ways = adding.iter().map(|&(winner, Adding { acquire, reduces, .. })| {
            let mut state = after.clone();
            for &(thread, _) in adding.iter().filter(|&&(thread, _)| thread != winner) {
                self.end_quietly(&mut state, thread, *earlier.first()?)?;
            }
            let now = state.runners[winner].clock.now(winner);
            let chain = state.cells.get_mut(&address)?.chain.as_mut()?;
            chain.last = Some(now);
            let runner = &mut state.runners[winner];
            if !reduces {
                runner.observed.join(&chain.released);
            }
            if acquire {
                runner.clock.join(&chain.released);
            }
            runner.process.answer(Some(last));
            runner.status = Status::Ready;
            Some(state)
        });
        ways.collect()
    }

    /// Whether a thread's block runs to one end, with the same accesses, whichever of the values its addition returns.
    fn is_quiet(&mut self, state: &CountedState<'w>, thread: ThreadId, values: &[u64]) -> Option<()> {
        let mut known = None;
        for &value in values {
            let accesses = self.end_quietly(&mut state.clone(), thread, value)?;
            if *known.get_or_insert_with(|| accesses.clone()) != accesses {
                return None;
            }
        }
        Some(())
    }

    /// Runs the block of a thread to its end, with this result of the thread's addition; returns its accesses.
    fn end_quietly(&mut self, state: &mut CountedState<'w>, thread: ThreadId, value: u64) -> Option<Vec<LoggedAccess>> {
        let runner = &mut state.runners[thread];
        runner.process.answer(Some(value));
        runner.status = Status::Ready;
        state.quiet = Some(Vec::new());
        let block = self.block_of[thread];
        self.settle(state, Some(block))?;
        let ended = self.blocks[block].iter().all(|&thread| state.runners[thread].status == Status::Done);
        state.quiet.take().filter(|_| ended)
    }
}

/// The process of a waiting thread behind its loop, if the loop ends at the last value of its counter and goes on at
/// all others so far. `None` if it does something else than that.
fn exit<'w>(
    state: &CountedState<'w>,
    thread: ThreadId,
    address: Address,
) -> Option<Option<(super::Thread<'w>, LoopRead<'w>)>> {
    let runner = &state.runners[thread];
    let (head, chain) = (runner.heads.last()?, state.cells.get(&address)?.chain.as_ref()?);
    let read = LoopRead { process: runner.process.clone(), label: head.label };
    let goes_on = |value: u64| {
        let mut process = read.process.clone();
        process.answer(Some(value));
        !head.effect && !head.busy && goes_back(&mut process, head.label) && process == head.process
    };
    let (&last, earlier) = chain.values.split_last()?;
    if !earlier.iter().all(|&value| goes_on(value)) {
        return None;
    }
    if !read.ends_at(last) {
        return goes_on(last).then_some(None);
    }
    let mut unknown = read.process.clone();
    unknown.answer(None);
    if unknown.advance() != Action::NeedsValue {
        return None;
    }
    let mut ways = unknown.ways()?;
    ways.retain(|way| !goes_back(&mut way.clone(), head.label));
    let [exit] = ways.try_into().ok()?;
    Some(Some((exit, read)))
}
