//! A thread of a launch on the host: its place, its faults, its wait for others.
//!
//! It stands on what it shares: with its block (`thread/block.rs`), with the whole launch (`thread/launch_state.rs`), and
//! with the worker that runs it (`thread/turns.rs`, `thread/patience.rs`).

mod block;
mod lane_part;
mod launch_state;
mod patience;
mod row_major;
mod turns;

use std::cell::Cell;
use std::ops::Range;
use std::panic::Location;
use std::ptr::NonNull;
use wattle_ir::format_index;

use wattle_ir::message::Text;
use wattle_ir::{IndexWord, LaunchShape, MAX_RANK, Site, Type};

use crate::fault::FaultKind;
use crate::printing::host_log::HostLog;

pub(crate) use block::{Block, NoMemory, SHARED_MEMORY};
pub(crate) use lane_part::LanePart;
pub(crate) use launch_state::LaunchState;
pub use patience::STEPS_PER_LOOK;
pub(crate) use patience::{InKernel, POLLS_PER_LOOK, Patience};
pub(crate) use row_major::delinearize;
use row_major::linearize;
pub(crate) use turns::{Turns, Wait};

/// An index that was out of bounds, as the access itself records it. A call there would make every loop around it
/// save its registers, so the fault is made only when the thread has ended.
#[derive(Clone, Copy)]
pub(crate) struct BadIndex {
    pub(crate) view: &'static str,
    pub(crate) index: [u64; MAX_RANK],
    pub(crate) extent: [u64; MAX_RANK],
    pub(crate) rank: usize,
    pub(crate) at: &'static std::panic::Location<'static>,
}

/// The payload that unwinds a thread that must end. It is no panic: no hook is called.
pub(crate) struct Stopped;

/// The polls of a thread after which the others of its block run: a loop that exchanges until it succeeds mostly
/// succeeds at once, and a switch costs more than a load.
const POLLS_PER_TURN: u32 = 4;

/// A thread of a launch on the host, or the threads of a block that never wait for each other, one after another.
pub struct Thread<'l> {
    block: &'l Block<'l>,
    in_block: Cell<[u32; MAX_RANK]>,
    /// The thread's row-major number in the block.
    number: Cell<u32>,
    /// The end of the thread's numbers: it is each of the block's threads from the first number up to here, in turn.
    end: Cell<u32>,
    bad_index: Cell<Option<BadIndex>>,
    patience: Patience,
    /// Iterations of bounded loops since the last look at the clock.
    worked: Cell<u32>,
    /// The number of the block's shared arrays that the thread has asked for.
    arrays: Cell<usize>,
    /// The fiber's yielder, by which the thread lets others of its block run; `None` where there are none.
    turns: Cell<Option<NonNull<Turns>>>,
    /// The source line at which the thread last let others run.
    at: Cell<Option<&'static Location<'static>>>,
    /// The thread's part in the warp operation at which it waits.
    part: Cell<Option<LanePart>>,
    /// The result of the thread's last warp operation.
    result: Cell<u64>,
    /// The log that the thread prints into; `None` where the kernel does not print.
    log: Cell<Option<NonNull<HostLog>>>,
}

impl<'l> Thread<'l> {
    /// The thread of a block with this row-major number.
    #[inline]
    pub(crate) fn new(block: &'l Block<'l>, number: u32) -> Self {
        Thread::of(block, number..number + 1)
    }

    /// The block's first thread, and then each other one ([`Thread::next`]).
    #[inline]
    pub(crate) fn each(block: &'l Block<'l>) -> Self {
        Thread::of(block, 0..block.launch().threads_in_block())
    }

    #[inline]
    fn of(block: &'l Block<'l>, numbers: Range<u32>) -> Self {
        let first = numbers.start;
        let in_block = if first == 0 { [0; MAX_RANK] } else { delinearize(first, block.launch().shape().block_extent) };
        Thread {
            block,
            in_block: Cell::new(in_block),
            number: Cell::new(first),
            end: Cell::new(numbers.end),
            bad_index: Cell::new(None),
            patience: Patience::default(),
            worked: Cell::new(0),
            arrays: Cell::new(0),
            turns: Cell::new(None),
            at: Cell::new(None),
            part: Cell::new(None),
            result: Cell::new(0),
            log: Cell::new(None),
        }
    }

    #[inline(always)]
    pub(crate) fn launch(&self) -> &LaunchState {
        self.block.launch()
    }

    #[inline(always)]
    pub(crate) fn shape(&self) -> &LaunchShape {
        self.launch().shape()
    }

    /// The number of threads in the grid, per dimension.
    #[inline(always)]
    pub(crate) fn threads_in_grid<W: IndexWord>(&self) -> [W; MAX_RANK] {
        let LaunchShape { grid_extent, block_extent, .. } = *self.shape();
        std::array::from_fn(|d| W::truncated(grid_extent[d].into()) * W::truncated(block_extent[d].into()))
    }

    /// The index of the thread's block in the grid.
    #[inline(always)]
    pub(crate) fn block(&self) -> [u32; MAX_RANK] {
        self.block.index()
    }

    /// The thread's index in its block.
    #[inline(always)]
    pub(crate) fn in_block(&self) -> [u32; MAX_RANK] {
        self.in_block.get()
    }

    /// The thread's row-major number in the block.
    #[inline(always)]
    pub(crate) fn number_in_block(&self) -> u32 {
        self.number.get()
    }

    /// Ends the thread and becomes the next one of its block, if it runs them one after another and there is one.
    /// `rank` is that of the launch. What it has worked since the last look stays.
    #[inline(always)]
    pub(crate) fn next(&self, rank: usize) -> bool {
        let next = self.number.get() + 1;
        if next == self.end.get() {
            return false;
        }
        self.finish();
        self.number.set(next);
        self.arrays.set(0);
        let (mut in_block, extent) = (self.in_block.get(), self.shape().block_extent);
        for d in (0..rank).rev() {
            in_block[d] += 1;
            if in_block[d] < extent[d] {
                break;
            }
            in_block[d] = 0;
        }
        self.in_block.set(in_block);
        true
    }

    /// The thread's index in the grid.
    #[inline(always)]
    pub(crate) fn in_grid<W: IndexWord>(&self) -> [W; MAX_RANK] {
        let (block, threads) = (self.block(), self.shape().block_extent);
        let word = |number: u32| W::truncated(number.into());
        let in_block = self.in_block();
        std::array::from_fn(|d| word(block[d]) * word(threads[d]) + word(in_block[d]))
    }

    /// Makes the thread one of several of its block, which share a worker.
    ///
    /// # Safety
    /// The thread's methods are called within the fiber that `turns` belongs to alone.
    pub(crate) unsafe fn share_worker(&self, turns: &Turns) {
        self.turns.set(Some(NonNull::from(turns)));
    }

    /// The source line at which the thread last let others of its block run.
    pub(crate) fn waits_at(&self) -> Option<&'static Location<'static>> {
        self.at.get()
    }

    /// The thread's name, as errors have it.
    pub(crate) fn name(&self) -> String {
        self.launch().name(self.block(), self.in_block())
    }

    /// Lets the other threads of the block run, until it is this one's turn again.
    #[cold]
    fn give_turn(&self, turns: NonNull<Turns>, wait: Wait, at: &'static Location<'static>) {
        self.at.set(Some(at));
        // SAFETY: this is called within the fiber that it belongs to, by the promise of `share_worker`, so it lives.
        unsafe { turns.as_ref() }.suspend(wait);
    }

    /// What the thread shares its worker by; `None` where it is alone.
    #[inline(always)]
    pub(crate) fn turns(&self) -> Option<NonNull<Turns>> {
        self.turns.get()
    }

    /// Waits at the block's barrier until all threads of the block are there.
    #[cold]
    #[track_caller]
    pub(crate) fn wait_at_barrier(&self, turns: NonNull<Turns>) {
        self.give_turn(turns, Wait::Barrier, Location::caller());
    }

    /// Takes part in an operation of the warp, once all its lanes have come to it.
    #[cold]
    pub(crate) fn take_part(&self, turns: NonNull<Turns>, part: LanePart, at: &'static Location<'static>) -> u64 {
        self.part.set(Some(part));
        self.give_turn(turns, Wait::Warp, at);
        self.result.get()
    }

    /// The thread's part in the warp operation at which it waits; `None` if it waits at none.
    pub(crate) fn part(&self) -> Option<LanePart> {
        self.part.get()
    }

    /// Ends its wait at an operation of its warp.
    pub(crate) fn give_result(&self, result: u64) {
        self.part.set(None);
        self.result.set(result);
    }

    /// Whether the thread must end; called on the back edge of every loop that may be a wait for another thread.
    #[inline]
    #[track_caller]
    pub fn must_stop(&self) -> bool {
        let polls = self.patience.poll();
        if let Some(turns) = self.turns.get() {
            // Whoever runs the block looks at the clock.
            if polls.is_multiple_of(POLLS_PER_TURN) {
                self.give_turn(turns, Wait::Turn, Location::caller());
            }
            return false;
        }
        std::hint::spin_loop();
        polls.is_multiple_of(POLLS_PER_LOOK) && self.poll(Location::caller())
    }

    #[cold]
    fn poll(&self, at: &'static Location<'static>) -> bool {
        self.patience.give_way();
        self.look(at)
    }

    /// Whether the thread must end; called by every other loop, with the iterations that it does next.
    #[inline(always)]
    #[track_caller]
    pub fn worked(&self, iterations: u32) -> bool {
        let worked = self.worked.get().saturating_add(iterations);
        if worked < STEPS_PER_LOOK {
            self.worked.set(worked);
            return false;
        }
        self.worked.set(0);
        self.look(Location::caller())
    }

    #[cold]
    fn look(&self, at: &'static Location<'static>) -> bool {
        let stop = self.launch().look();
        if stop {
            if let Some(turns) = self.turns.get() {
                // It is nobody's turn any more, so this does not return.
                self.give_turn(turns, Wait::Stopped, at);
            }
            self.launch().keep_lines(self.block(), [at.into()]);
            self.end.set(self.number.get() + 1);
            if cfg!(panic = "unwind") {
                // The functions that called this one end too. Where panics abort, this one returns, and they go on
                // with a zero until they wait themselves.
                std::panic::resume_unwind(Box::new(Stopped));
            }
        }
        stop
    }

    /// Keeps the thread's first bad index.
    #[inline(always)]
    pub(crate) fn out_of_bounds(&self, bad_index: BadIndex) {
        if self.bad_index.get().is_none() {
            self.bad_index.set(Some(bad_index));
        }
    }

    /// Records the fault of a division by zero.
    #[cold]
    #[track_caller]
    pub fn division_by_zero(&self) {
        self.division_by_zero_at(Site::caller());
    }

    /// Records the fault of a division by zero at a place.
    #[cold]
    pub(crate) fn division_by_zero_at(&self, at: Site) {
        self.fault(at, FaultKind::DivisionByZero);
    }

    /// Records a fault unless the assertion holds.
    #[inline]
    #[track_caller]
    pub fn assert(&self, condition: bool, message: &str) {
        if !condition {
            self.fault(Site::caller(), FaultKind::Assertion(message.to_owned()));
        }
    }

    /// Records the fault of an assertion that does not hold.
    #[cold]
    #[track_caller]
    pub fn fail(&self, text: &Text, values: &[(Type, u64)]) {
        let message = text.with(|number| values.get(number).copied());
        self.fault(Site::caller(), FaultKind::Assertion(message));
    }

    /// Prints a line into the launch's log.
    #[cold]
    #[track_caller]
    pub fn print(&self, text: &Text, values: &[(Type, u64)]) {
        // What has no log was not launched by a queue.
        let Some(log) = self.log.get() else { return };
        let shape = self.shape();
        let [block, thread] = [(self.block(), shape.grid_extent), (self.in_block(), shape.block_extent)]
            .map(|(index, extent)| linearize(index, extent));
        // SAFETY: the log was set for this call of the kernel's function, which lasts, by `print_into`.
        unsafe { log.as_ref() }.print(block, thread, Site::caller(), text, values);
    }

    /// Runs `run` with a log for what the thread prints.
    pub(crate) fn print_into(&self, log: &HostLog, run: impl FnOnce()) {
        self.log.set(Some(NonNull::from(log)));
        run();
        self.log.set(None);
    }

    pub(crate) fn shared_elements(&self) -> u32 {
        self.launch().shared_elements()
    }

    /// The block's next array in shared memory: `bytes` bytes, aligned to 64, or `None` where memory is lacking. It is
    /// good until the block has ended.
    pub(crate) fn shared_array(&self, bytes: u64, site: Site) -> Option<*mut u8> {
        let number = self.arrays.replace(self.arrays.get() + 1);
        match self.block.array(number, bytes) {
            Ok(start) => Some(start),
            Err(NoMemory { asked, available }) => {
                self.fault(site, FaultKind::SharedMemory { asked, available });
                None
            }
        }
    }
}

impl Drop for Thread<'_> {
    #[inline]
    fn drop(&mut self) {
        self.finish();
    }
}

impl Thread<'_> {
    /// Reports what the thread has recorded.
    #[inline(always)]
    fn finish(&self) {
        if let Some(bad_index) = self.bad_index.take() {
            self.keep_bad_index(bad_index);
        }
    }

    #[cold]
    fn fault(&self, site: Site, what: FaultKind) {
        // The bad index that was recorded came first.
        self.finish();
        self.launch().keep_fault(self.block(), self.in_block(), site, what);
    }

    #[cold]
    fn keep_bad_index(&self, BadIndex { view, index, extent, rank, at }: BadIndex) {
        let (index, extent) = (format_index(&index[..rank]), format_index(&extent[..rank]));
        let what = FaultKind::OutOfBounds { view: view.to_owned(), index, extent };
        self.launch().keep_fault(self.block(), self.in_block(), at.into(), what);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The state of a launch of one block with `threads` threads.
    pub(crate) fn state(threads: u32) -> LaunchState {
        LaunchState::new("k", 1, LaunchShape::linear(1, threads), 0, None)
    }

    #[test]
    fn work_is_looked_at_every_so_often() {
        let state = state(1);
        let block = Block::new(&state, 0);
        let thread = Thread::new(&block, 0);
        for _ in 0..STEPS_PER_LOOK - 1 {
            assert!(!thread.worked(1) && thread.worked.get() != 0);
        }
        // The counter shows that the thread has looked.
        assert!(!thread.worked(1) && thread.worked.get() == 0);
        assert!(!thread.worked(STEPS_PER_LOOK) && thread.worked.get() == 0);
    }

    #[test]
    fn threads_one_after_another_have_each_its_place_and_its_arrays_and_look_together() {
        let state = LaunchState::new("k", 2, LaunchShape::threads([1; MAX_RANK], [2, 3, 1, 1]), 0, None);
        let block = Block::new(&state, 0);
        let (thread, site) = (Thread::each(&block), Site { file: "", line: 0, column: 0 });
        let (mut places, mut arrays) = (Vec::new(), Vec::new());
        loop {
            let worked = thread.worked.get();
            assert!(!thread.worked(1) && thread.worked.get() == worked + 1);
            places.push((thread.number_in_block(), thread.in_block()));
            arrays.push([8, 16].map(|bytes| thread.shared_array(bytes, site)));
            if !thread.next(2) {
                break;
            }
        }
        let expected = (0..6).map(|number| (number, [number / 3, number % 3, 0, 0]));
        assert_eq!(places, Vec::from_iter(expected));
        assert!(arrays.iter().all(|both| *both == arrays[0]) && arrays[0][0] != arrays[0][1]);
    }
}
