//! A thread as the search holds it: one type for every kind of process, cheap to copy.

use std::any::Any;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use rustc_hash::FxHasher;

use super::own::Own;
use super::process::{Action, Address, Process};

/// A process in its world. Copies share it until one of them runs on: a search keeps many states, and most of their
/// threads stand where they stood in the state before.
#[derive(Clone)]
pub struct Thread<'w>(Arc<dyn Erased + 'w>);

impl<'w> Thread<'w> {
    /// A thread that runs a process in a world.
    pub fn new<P: Process>(process: P, world: &'w P::World) -> Thread<'w> {
        Thread(Arc::new(InWorld { process, world }))
    }

    /// A thread of another kind than a process in its world.
    pub(super) fn erased(thread: Arc<dyn Erased + 'w>) -> Thread<'w> {
        Thread(thread)
    }

    /// The process, if it is of that type.
    pub fn process<P: Process>(&self) -> Option<&P> {
        self.any().downcast_ref()
    }

    /// Runs to the next action.
    pub fn advance(&mut self) -> Action {
        self.own().next()
    }

    /// Answers the last read or update; with `None` where the value is not known yet.
    pub fn answer(&mut self, value: Option<u64>) {
        self.own().answer(value);
    }

    /// Answers the last read; `unwritten` says whether it has found memory that nobody has written.
    pub fn answer_read(&mut self, value: Option<u64>, unwritten: bool) {
        match value.filter(|_| unwritten) {
            Some(word) => self.own().answer_unwritten(word),
            None => self.own().answer(value),
        }
    }

    /// Marks the values that are not known.
    pub fn mark_pending(&mut self) {
        if self.any_pending() {
            self.own().mark_pending();
        }
    }

    /// Forgets values that it will not use again.
    pub fn forget_dead(&mut self) {
        self.own().forget_dead();
    }

    /// Takes for unknown what differs from another thread at the same place; `false` where that is not possible.
    pub fn widen(&mut self, other: &Thread<'_>, together: bool) -> bool {
        self.own().widen(other, together)
    }

    /// The process alone, copied if it is shared.
    fn own(&mut self) -> &mut (dyn Erased + 'w) {
        if Arc::strong_count(&self.0) > 1 {
            self.0 = self.copy();
        }
        Arc::get_mut(&mut self.0).expect("no other thread has this copy, and none has a weak reference to it")
    }
}

/// What does not change a thread is asked of the process itself.
impl<'w> Deref for Thread<'w> {
    type Target = dyn Erased + 'w;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for Thread<'_> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.equals(other)
    }
}

impl Eq for Thread<'_> {}

impl Hash for Thread<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.digest());
    }
}

/// A process in its world, without their types. Processes of different types are unequal.
pub trait Erased: Send + Sync {
    fn any(&self) -> &dyn Any;
    fn copy<'w>(&self) -> Arc<dyn Erased + 'w>
    where
        Self: 'w;
    fn next(&mut self) -> Action;
    fn answer(&mut self, value: Option<u64>);
    fn answer_unwritten(&mut self, word: u64);
    fn carries_unwritten(&self) -> bool;
    fn ways<'w>(&self) -> Option<Vec<Thread<'w>>>
    where
        Self: 'w;
    fn any_pending(&self) -> bool;
    fn any_unmarked(&self) -> bool;
    fn mark_pending(&mut self);
    fn forget_dead(&mut self);
    /// Widens the thread as [`Process::widen`] does; `false` by default, since threads with private cells of their own
    /// are not widened.
    fn widen(&mut self, _other: &Thread<'_>, _together: bool) -> bool {
        false
    }
    fn may_write(&self, address: Address) -> bool;
    fn may_reach(&self, source: u32, address: Address) -> bool;
    fn is_alike(&self, other: &Thread<'_>) -> bool;
    fn repeats(&self, earlier: &Thread<'_>) -> bool;
    fn comes_round(&self, earlier: &Thread<'_>) -> bool;
    fn equals(&self, other: &Thread<'_>) -> bool;
    fn digest(&self) -> u64;
    /// The private cells that the thread keeps, if it keeps any.
    fn private(&self) -> Option<&Own> {
        None
    }
}

struct InWorld<'w, P: Process> {
    process: P,
    world: &'w P::World,
}

impl<P: Process> Erased for InWorld<'_, P> {
    fn any(&self) -> &dyn Any {
        &self.process
    }

    fn copy<'w>(&self) -> Arc<dyn Erased + 'w>
    where
        Self: 'w,
    {
        Arc::new(InWorld { process: self.process.clone(), world: self.world })
    }

    fn next(&mut self) -> Action {
        self.process.next(self.world)
    }

    fn answer(&mut self, value: Option<u64>) {
        self.process.answer(self.world, value);
    }

    fn answer_unwritten(&mut self, word: u64) {
        self.process.answer_unwritten(self.world, word);
    }

    fn carries_unwritten(&self) -> bool {
        self.process.carries_unwritten(self.world)
    }

    fn ways<'w>(&self) -> Option<Vec<Thread<'w>>>
    where
        Self: 'w,
    {
        let ways = self.process.ways(self.world)?;
        Some(ways.into_iter().map(|process| Thread::new(process, self.world)).collect())
    }

    fn any_pending(&self) -> bool {
        self.process.any_pending()
    }

    fn any_unmarked(&self) -> bool {
        self.process.any_unmarked()
    }

    fn mark_pending(&mut self) {
        self.process.mark_pending();
    }

    fn forget_dead(&mut self) {
        self.process.forget_dead(self.world);
    }

    fn widen(&mut self, other: &Thread<'_>, together: bool) -> bool {
        other.process().is_some_and(|other| self.process.widen(self.world, other, together))
    }

    fn may_write(&self, address: Address) -> bool {
        self.process.may_write(self.world, address)
    }

    fn may_reach(&self, source: u32, address: Address) -> bool {
        self.process.may_reach(self.world, source, address)
    }

    fn is_alike(&self, other: &Thread<'_>) -> bool {
        other.process().is_some_and(|other| self.process.is_alike(self.world, other))
    }

    fn repeats(&self, earlier: &Thread<'_>) -> bool {
        earlier.process().is_some_and(|earlier| self.process.repeats(self.world, earlier))
    }

    fn comes_round(&self, earlier: &Thread<'_>) -> bool {
        earlier.process().is_some_and(|earlier| self.process.comes_round(self.world, earlier))
    }

    fn equals(&self, other: &Thread<'_>) -> bool {
        other.process() == Some(&self.process)
    }

    fn digest(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.process.hash(&mut hasher);
        hasher.finish()
    }
}
