//! Cells that take part in no choice: those that one thread alone touches, and those that nobody writes.
//!
//! What a thread does with a cell of its own, no other thread can see, and nothing that another thread does changes
//! what it reads there. So such a cell is a part of the thread's state, as its local arrays are, and its accesses are
//! no events of the graph: under every model a thread reads what it has written last, since all models keep a thread's
//! accesses of one place in order, and races need two threads. A cell that is only read gives its initial value. The
//! order that the accesses would have to others, by their places in the thread, orders nothing but themselves.
//!
//! Which cells are such is not known before: a search assumes it of each cell until a second thread comes to it in any
//! way of any execution, and so contradicts it. Then the search is worthless and begins again, with that cell in the
//! graph. A search that comes to its end has seen all executions, and in none of them is the assumption wrong. That
//! threads also run on values that turn out to be impossible can only contradict it more often.
//!
//! A value that is not known yet may be in such a cell, and a thread that writes to an unknown place may write to any
//! of its cells; a read then gives an unknown value, and the thread is run again from where it knows more, with the
//! cells as they were there.

use std::any::Any;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use rustc_hash::{FxBuildHasher, FxHashMap};
use wattle_core::lock;
use wattle_memory::{Label, ThreadId};

use super::own::Own;
use super::process::{AccessTarget, Action, Address, Memory};
use super::thread::{Erased, Thread};

/// The number of cells of one memory that turn out to be shared before all of it counts as shared.
const MOST_CELLS: usize = 8;

/// The cells that are known to be shared.
#[derive(Clone, Debug, Default)]
pub struct SharedCells {
    cells: HashSet<Address, FxBuildHasher>,
    memories: HashMap<u32, usize>,
}

impl SharedCells {
    fn has(&self, address: Address) -> bool {
        self.memories.get(&address.memory).is_some_and(|&cells| cells > MOST_CELLS) || self.cells.contains(&address)
    }

    fn add(&mut self, address: Address) {
        if self.cells.insert(address) {
            *self.memories.entry(address.memory).or_default() += 1;
        }
    }
}

/// What is known of the cells that are taken to be private, shared by the threads of one search.
pub struct PrivateCells<'w> {
    memory: &'w dyn Memory,
    state: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    shared: SharedCells,
    /// Whether an assumption was wrong.
    contradicted: bool,
    touched: FxHashMap<Address, Touched>,
    /// The statements that have touched private cells.
    executed: BTreeSet<u32>,
}

#[derive(Clone, Copy)]
struct Touched {
    /// The thread that came first.
    by: ThreadId,
    bytes: u8,
    written: bool,
    /// Whether other threads have read it.
    several: bool,
}

impl<'w> PrivateCells<'w> {
    /// All cells but these are taken to be private.
    pub fn new(memory: &'w dyn Memory, shared: SharedCells) -> PrivateCells<'w> {
        PrivateCells { memory, state: Mutex::new(Known { shared, ..Known::default() }) }
    }

    /// The cells known to be shared, if the search has contradicted that others are private; it is to begin again.
    pub fn contradicted(&self) -> Option<SharedCells> {
        let known = self.lock();
        known.contradicted.then(|| known.shared.clone())
    }

    /// Whether the search has contradicted that some cell is private.
    pub fn is_contradicted(&self) -> bool {
        self.lock().contradicted
    }

    /// The statements that have touched private cells.
    pub fn executed(&self) -> BTreeSet<u32> {
        self.lock().executed.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        lock(&self.state)
    }

    /// Records an access; returns whether its cell is private.
    fn touch(&self, thread: ThreadId, target: AccessTarget, label: Label, writes: bool, source: u32) -> bool {
        let known = &mut *self.lock();
        if known.shared.has(target.address) {
            return false;
        }
        let unwritten = || self.memory.initial(target.address).unwritten;
        let fits = match known.touched.get_mut(&target.address) {
            _ if label.atomic || label.unwritten => false,
            None => {
                let touched = Touched { by: thread, bytes: target.bytes, written: writes, several: false };
                // A read of memory that was never written is an error, and is shown by the graph.
                let is_read = writes || !unwritten();
                known.touched.insert(target.address, touched);
                is_read
            }
            Some(touched) => {
                touched.several |= touched.by != thread;
                touched.written |= writes;
                touched.bytes == target.bytes && !(touched.several && touched.written)
            }
        };
        if fits {
            known.executed.insert(source);
        } else {
            known.shared.add(target.address);
            known.contradicted = true;
        }
        fits
    }
}

/// A thread that keeps private cells in its own state.
struct Keeping<'w> {
    inner: Thread<'w>,
    thread: ThreadId,
    cells: &'w PrivateCells<'w>,
    own: Arc<Own>,
}

/// Wraps a thread so that its private cells are in its own state, and its accesses of them are no actions.
pub fn keeping<'w>(inner: Thread<'w>, thread: ThreadId, cells: &'w PrivateCells<'w>) -> Thread<'w> {
    Thread::erased(Arc::new(Keeping { inner, thread, cells, own: Arc::default() }))
}

impl Keeping<'_> {
    /// Whether a cell of its own may hold a value that is not known.
    fn keeps_pending(&self) -> bool {
        self.own.clouded || self.own.cells.values().any(Option::is_none)
    }
}

impl Erased for Keeping<'_> {
    fn any(&self) -> &dyn Any {
        self.inner.any()
    }

    fn copy<'w>(&self) -> Arc<dyn Erased + 'w>
    where
        Self: 'w,
    {
        Arc::new(Keeping { inner: self.inner.clone(), thread: self.thread, cells: self.cells, own: self.own.clone() })
    }

    fn next(&mut self) -> Action {
        loop {
            let action = self.inner.advance();
            match &action {
                Action::Read { target: Some(target), label, source } => {
                    if !self.cells.touch(self.thread, *target, *label, false, *source) {
                        return action;
                    }
                    if !self.own.read.contains(&target.address) {
                        Arc::make_mut(&mut self.own).read.insert(target.address);
                    }
                    let own = self.own.cells.get(&target.address).copied();
                    let value = own.unwrap_or_else(|| Some(self.cells.memory.initial(target.address).value));
                    self.inner.answer(value.filter(|_| !self.own.clouded));
                }
                Action::Write { target: Some(target), value, label, source } => {
                    if !self.cells.touch(self.thread, *target, *label, true, *source) {
                        return action;
                    }
                    let own = Arc::make_mut(&mut self.own);
                    own.cells.insert(target.address, *value);
                    own.writes += 1;
                }
                Action::Update { target: Some(target), write, source, .. } => {
                    self.cells.touch(self.thread, *target, *write, true, *source);
                    return action;
                }
                Action::Write { target: None, label, .. } => {
                    if !label.atomic {
                        Arc::make_mut(&mut self.own).clouded = true;
                    }
                    return action;
                }
                Action::Read { target: None, .. }
                | Action::Update { target: None, .. }
                | Action::Exchange { .. }
                | Action::Fence { .. }
                | Action::Barrier { .. }
                | Action::LoopHead { .. }
                | Action::BackEdge { .. }
                | Action::NeedsValue
                | Action::Fault { .. }
                | Action::Halt
                | Action::Done => return action,
            }
        }
    }

    fn answer(&mut self, value: Option<u64>) {
        self.inner.answer(value);
    }

    fn answer_unwritten(&mut self, word: u64) {
        self.inner.answer_read(Some(word), true);
    }

    fn carries_unwritten(&self) -> bool {
        self.inner.carries_unwritten()
    }

    fn ways<'w>(&self) -> Option<Vec<Thread<'w>>>
    where
        Self: 'w,
    {
        let ways = self.inner.ways()?.into_iter();
        let (thread, cells) = (self.thread, self.cells);
        let with = |inner| Thread::erased(Arc::new(Keeping { inner, thread, cells, own: self.own.clone() }));
        Some(ways.map(with).collect())
    }

    fn any_pending(&self) -> bool {
        self.inner.any_pending() || self.keeps_pending()
    }

    fn any_unmarked(&self) -> bool {
        self.inner.any_unmarked() || self.keeps_pending()
    }

    fn mark_pending(&mut self) {
        self.inner.mark_pending();
    }

    fn forget_dead(&mut self) {
        self.inner.forget_dead();
    }

    fn may_write(&self, address: Address) -> bool {
        self.inner.may_write(address)
    }

    fn may_reach(&self, source: u32, address: Address) -> bool {
        self.inner.may_reach(source, address)
    }

    fn is_alike(&self, other: &Thread<'_>) -> bool {
        let alike = |own: &Own| own.is_same(&self.own) && own.read == self.own.read;
        self.inner.is_alike(other) && other.private().is_some_and(alike)
    }

    fn repeats(&self, earlier: &Thread<'_>) -> bool {
        self.inner.repeats(earlier) && earlier.private().is_some_and(|own| own.is_same(&self.own))
    }

    fn comes_round(&self, earlier: &Thread<'_>) -> bool {
        self.inner.comes_round(earlier) && earlier.private().is_some_and(|own| own.is_same(&self.own))
    }

    fn equals(&self, other: &Thread<'_>) -> bool {
        self.inner.equals(other) && other.private().is_some_and(|own| own.is_same(&self.own))
    }

    fn digest(&self) -> u64 {
        // Equal threads have equal digests; those with different cells may have equal ones too.
        self.inner.digest()
    }

    fn private(&self) -> Option<&Own> {
        Some(&self.own)
    }
}
