//! What a thread may store, whatever its reads return: more than its completions do, and sooner found.

use rustc_hash::{FxHashMap, FxHashSet};
use wattle_memory::{Label, ThreadId, stop};

use super::super::ignored::Fences;
use super::super::process::{Action, Address, Members};
use super::super::state::SearchState;
use super::super::thread::Thread;
use super::super::values::Values;
use super::MOST_ACTIONS;

/// A store that a thread may make.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct MayStore {
    /// The cell that the store writes, if that does not depend on what the thread reads.
    pub cell: Option<Address>,
    pub label: Label,
    pub source: u32,
    /// The fences between the read, or the thread's start, and the store.
    pub fences: Fences,
}

/// A read that a thread may make.
#[derive(Clone)]
pub(in super::super) struct MayRead<'w> {
    /// The thread as it waits for the answer.
    pub process: Thread<'w>,
    /// The cell that is read, if that does not depend on what the thread reads.
    pub cell: Option<Address>,
    /// The label of the read; for a compare-exchange, the label of one that fails.
    pub label: Label,
    pub source: u32,
    /// The write, if it is a read-modify-write.
    write: Option<Label>,
}

impl MayRead<'_> {
    /// Whether another read, perhaps in another state of the thread, is the same access.
    pub fn is_alike(&self, other: &MayRead<'_>) -> bool {
        (self.source, self.cell, self.label) == (other.source, other.cell, other.label)
    }

    /// The store of a read-modify-write.
    pub fn own_store(&self) -> Option<MayStore> {
        let (cell, source, fences) = (self.cell, self.source, Fences::NONE);
        self.write.map(|label| MayStore { cell, label, source, fences })
    }

    /// What the thread may store behind it; `None` where that is not found out within as many actions as are `left`.
    pub fn stores_behind(&self, values: &Values, left: &mut u32) -> Option<Vec<MayStore>> {
        let mut walk = Walk::new(values);
        walk.answer(&self.process, self.cell, Fences::NONE);
        walk.all(left).map(|found| found.stores)
    }
}

/// What a thread may come to.
#[derive(Default)]
pub(in super::super) struct Reach<'w> {
    pub stores: Vec<MayStore>,
    pub reads: Vec<MayRead<'w>>,
    /// The threads for which it may come to wait, at a barrier or an operation of its warp.
    pub meets: FxHashSet<ThreadId>,
    /// Whether it may come to wait for any threads of its block.
    pub meets_block: bool,
    /// Whether it may come to wait where that orders nothing: at an operation of its warp, or for threads that may end
    /// instead.
    pub unordered: bool,
}

/// What a thread may come to; `None` where that is not found out within as many actions as are `left`.
pub(in super::super) fn reach<'w>(thread: &Thread<'w>, values: &Values, left: &mut u32) -> Option<Reach<'w>> {
    let mut walk = Walk::new(values);
    walk.go_on(thread.clone(), Fences::NONE);
    walk.all(left)
}

/// What a thread that waits for a read may store, wherever it may come to wait for others; `None` where that is not
/// found out within bounds.
pub(in super::super) fn may_store(state: &SearchState<'_>, thread: usize, values: &Values) -> Option<Vec<MayStore>> {
    let runner = &state.runners[thread];
    let location = state.graph.event(runner.waiting?).location?;
    let mut walk = Walk::new(values);
    walk.answer(&runner.process, state.addresses.get(location).copied(), Fences::NONE);
    walk.all(&mut { MOST_ACTIONS }).map(|found| found.stores)
}

/// A walk over the states in which a thread can be, with the fences behind it.
struct Walk<'a, 'w> {
    values: &'a Values,
    /// Threads to be run on.
    open: Vec<(Thread<'w>, Fences)>,
    /// What has been run on already, by the digests of the threads.
    seen: FxHashMap<u64, Vec<(Thread<'w>, Fences)>>,
    found: Reach<'w>,
}

impl<'a, 'w> Walk<'a, 'w> {
    fn new(values: &'a Values) -> Walk<'a, 'w> {
        Walk { values, open: Vec::new(), seen: FxHashMap::default(), found: Reach::default() }
    }

    fn all(mut self, left: &mut u32) -> Option<Reach<'w>> {
        while let Some((process, fences)) = self.open.pop() {
            self.run(process, fences, left)?;
        }
        Some(self.found)
    }

    /// Answers a read with all that it may return.
    fn answer(&mut self, process: &Thread<'w>, cell: Option<Address>, fences: Fences) {
        let all = cell.and_then(|cell| self.values.all(cell));
        let answers = all.map_or_else(|| vec![None], |all| all.iter().copied().map(Some).collect());
        for answer in answers {
            let mut process = process.clone();
            process.answer(answer);
            self.go_on(process, fences);
        }
    }

    fn go_on(&mut self, mut process: Thread<'w>, fences: Fences) {
        process.forget_dead();
        let alike = self.seen.entry(process.digest()).or_default();
        if !alike.iter().any(|(known, behind)| *behind == fences && *known == process) {
            alike.push((process.clone(), fences));
            self.open.push((process, fences));
        }
    }

    fn store(&mut self, cell: Option<Address>, label: Label, source: u32, fences: Fences) {
        let store = MayStore { cell, label, source, fences };
        if !self.found.stores.contains(&store) {
            self.found.stores.push(store);
        }
    }

    fn meet(&mut self, members: &Members) {
        match members {
            Members::Threads(threads) => self.found.meets.extend(threads.iter()),
            Members::Remaining(threads) | Members::Groups { of: threads, .. } => {
                self.found.meets.extend(threads.iter());
                self.found.unordered = true;
            }
            Members::Quorum(_) => self.found.meets_block = true,
        }
    }

    fn read(&mut self, read: MayRead<'w>) {
        let is_same = |known: &MayRead<'_>| known.is_alike(&read) && known.process == read.process;
        if !self.found.reads.iter().any(is_same) {
            self.found.reads.push(read);
        }
    }

    /// Runs a thread to its next read or branch, or to the head of a loop; `None` where that takes too long.
    fn run(&mut self, mut process: Thread<'w>, mut fences: Fences, left: &mut u32) -> Option<()> {
        loop {
            *left = left.checked_sub(1).filter(|left| !left.is_multiple_of(256) || !stop::requested())?;
            match process.advance() {
                Action::Read { target, label, source } => {
                    let cell = target.map(|target| target.address);
                    self.answer(&process, cell, fences);
                    self.read(MayRead { process, cell, label, source, write: None });
                    return Some(());
                }
                Action::Update { target, read, write, source, .. } => {
                    let cell = target.map(|target| target.address);
                    self.store(cell, write, source, fences);
                    self.answer(&process, cell, fences);
                    self.read(MayRead { process, cell, label: read, source, write: Some(write) });
                    return Some(());
                }
                Action::Write { target, label, source, .. } => {
                    self.store(target.map(|target| target.address), label, source, fences);
                }
                Action::Fence { label, .. } => fences.pass(label),
                Action::Exchange { barrier, .. } => {
                    self.meet(&barrier.members);
                    self.found.unordered = true;
                    process.answer(None);
                }
                Action::Barrier { barrier, .. } => self.meet(&barrier.members),
                Action::Fault { .. } => {}
                Action::LoopHead { .. } | Action::BackEdge { .. } => {
                    self.go_on(process, fences);
                    return Some(());
                }
                Action::NeedsValue => {
                    process.ways()?.into_iter().for_each(|way| self.go_on(way, fences));
                    return Some(());
                }
                Action::Halt | Action::Done => return Some(()),
            }
        }
    }
}
