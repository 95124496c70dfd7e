//! A thread of a launch on the host: its place, its faults, its wait for others, its block's shared memory.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use wattle_ir::{MAX_RANK, Site};

use crate::error::{Error, ErrorKind, Fault, FaultKind, ThreadLine, format_index};
use crate::interrupt;
use crate::kernel::KernelInfo;
use crate::memory::zeros;
use crate::support::STEPS_PER_LOOK;
use crate::sync::lock;

/// The shape of a launch once the device has chosen its blocks and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// How many dimensions are used; the others have extent 1.
    pub rank: usize,
    /// Blocks in the grid.
    pub blocks: [u32; MAX_RANK],
    /// Threads in a block.
    pub threads: [u32; MAX_RANK],
    /// Frames of the launch.
    pub frames: [u32; MAX_RANK],
    /// The extent of a frame.
    pub frame_extent: [u32; MAX_RANK],
}

impl Grid {
    /// How many blocks there are.
    pub fn block_count(&self) -> u32 {
        self.blocks.iter().product()
    }

    /// The index of the block with this row-major number.
    pub fn block_index(&self, number: u32) -> [u32; MAX_RANK] {
        delinearize(number, self.blocks)
    }
}

/// The index with row-major number `number` in `extent`.
#[inline]
pub(crate) fn delinearize(number: u32, extent: [u32; MAX_RANK]) -> [u32; MAX_RANK] {
    let mut index = [0; MAX_RANK];
    let mut rest = number;
    for d in (1..MAX_RANK).rev() {
        index[d] = rest % extent[d];
        rest /= extent[d];
    }
    index[0] = rest;
    index
}

/// What a launch's threads share on the host.
pub struct LaunchState {
    kernel: &'static KernelInfo,
    grid: Grid,
    shared_elements: u32,
    time_limit: Option<Duration>,
    started: OnceLock<Instant>,
    stop: AtomicU8,
    faulted: AtomicBool,
    fault: Mutex<Option<Fault>>,
    stopped_at: Mutex<Vec<ThreadLine>>,
}

/// Values of [`LaunchState::stop`].
const RUNNING: u8 = 0;
const PAST_LIMIT: u8 = 1;
const INTERRUPTED: u8 = 2;

/// How much shared memory a block can have on the host, in bytes.
pub(crate) const SHARED_MEMORY: u64 = 16 << 20;

impl LaunchState {
    /// The state of a launch that has not begun.
    pub(crate) fn new(
        kernel: &'static KernelInfo,
        grid: Grid,
        shared_elements: u32,
        time_limit: Option<Duration>,
    ) -> Self {
        LaunchState {
            kernel,
            grid,
            shared_elements,
            time_limit,
            started: OnceLock::new(),
            stop: AtomicU8::new(RUNNING),
            faulted: AtomicBool::new(false),
            fault: Mutex::new(None),
            stopped_at: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Whether no further block should start.
    #[inline]
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) != RUNNING || (interrupt::requested() && self.stop_for(INTERRUPTED))
    }

    /// Looks at the clock: whether the launch must end.
    pub(crate) fn look(&self) -> bool {
        let past_limit = self.time_limit.is_some_and(|limit| {
            // The clock starts at the launch's first look, so that launches that never wait never read it.
            self.started.get_or_init(Instant::now).elapsed() > limit
        });
        self.stopped() || (past_limit && self.stop_for(PAST_LIMIT))
    }

    #[cold]
    fn stop_for(&self, reason: u8) -> bool {
        // The first reason stands.
        let _ = self.stop.compare_exchange(RUNNING, reason, Ordering::Relaxed, Ordering::Relaxed);
        true
    }

    /// Ends the threads that wait, and starts no more: not all of them could be started, or one that they may wait for
    /// has panicked.
    pub(crate) fn abandon(&self) {
        self.stop_for(INTERRUPTED);
    }

    #[cold]
    fn keep_fault(&self, block: [u32; MAX_RANK], site: Site, what: FaultKind) {
        if self.faulted.swap(true, Ordering::Relaxed) {
            return;
        }
        *lock(&self.fault) = Some(Fault {
            kernel: self.kernel.name.to_owned(),
            block: format_index(&block[..self.grid.rank]),
            thread: format_index(&[0; MAX_RANK][..self.grid.rank]),
            site,
            what,
        });
    }

    /// How the launch ended.
    #[inline]
    pub(crate) fn outcome(self) -> Result<(), Error> {
        let stop = self.stop.into_inner();
        if stop == RUNNING && !self.faulted.into_inner() {
            return Ok(());
        }
        // What stopped the launch counts, not whether an interruption is requested now: that comes and goes.
        let time_limit = self.time_limit.filter(|_| stop == PAST_LIMIT);
        Err(ending(self.kernel, time_limit, self.fault, self.stopped_at))
    }
}

#[cold]
fn ending(
    kernel: &KernelInfo,
    time_limit: Option<Duration>,
    fault: Mutex<Option<Fault>>,
    stopped_at: Mutex<Vec<ThreadLine>>,
) -> Error {
    let kernel = kernel.name.to_owned();
    // A fault comes first: it is often why the others wait for ever.
    if let Some(fault) = fault.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return ErrorKind::Fault(Box::new(fault)).into();
    }
    let mut lines = stopped_at.into_inner().unwrap_or_else(PoisonError::into_inner);
    lines.sort_by(|x, y| x.block.len().cmp(&y.block.len()).then_with(|| x.block.cmp(&y.block)));
    match time_limit {
        Some(limit) => ErrorKind::TimeLimit { kernel, limit, lines }.into(),
        None => ErrorKind::Interrupted { kernel, lines }.into(),
    }
}

/// An index that was out of bounds, as the access itself records it. A call there would make every loop around it
/// save its registers, so the fault is made only when the thread has ended.
#[derive(Clone, Copy)]
pub(crate) struct BadIndex {
    pub(crate) view: &'static str,
    pub(crate) index: [u32; MAX_RANK],
    pub(crate) extent: [u32; MAX_RANK],
    pub(crate) rank: usize,
    pub(crate) at: &'static std::panic::Location<'static>,
}

/// The payload that unwinds a thread that must end. It is no panic: no hook is called.
pub(crate) struct Stopped;

/// One thread of a launch on the host, which is also a whole block.
pub struct Thread<'l> {
    launch: &'l LaunchState,
    block: [u32; MAX_RANK],
    bad_index: Cell<Option<BadIndex>>,
    polls: Cell<u32>,
    /// Iterations of bounded loops since the last look.
    worked: Cell<u32>,
    /// When the thread last gave its core away, or first looked at the clock.
    yielded: Cell<Option<Instant>>,
    shared_arrays: Cell<usize>,
    shared_bytes: Cell<u64>,
}

/// How many polls pass between two looks at the clock.
const POLLS_PER_LOOK: u32 = 64;
/// From how many polls on a waiting thread gives its core away at each look, where others of this process need one.
const POLLS_BEFORE_YIELD: u32 = 1024;
/// How long a thread that polls has its core where none of this process needs it: other processes may, but what looks
/// like a wait may be a search, which must get on.
const TURN: Duration = Duration::from_millis(1);

/// How many threads of this process are in kernels.
static IN_KERNELS: AtomicUsize = AtomicUsize::new(0);

/// A thread that runs blocks.
pub(crate) struct InKernel(());

impl InKernel {
    #[inline]
    pub(crate) fn enter() -> InKernel {
        IN_KERNELS.fetch_add(1, Ordering::Relaxed);
        InKernel(())
    }

    /// Whether more threads are in kernels than there are cores.
    fn is_crowded() -> bool {
        static CORES: OnceLock<usize> = OnceLock::new();
        let cores = *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, Into::into));
        IN_KERNELS.load(Ordering::Relaxed) > cores
    }
}

impl Drop for InKernel {
    #[inline]
    fn drop(&mut self) {
        IN_KERNELS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether a thread gives its core away after `polls` polls, where it last did so `since` ago.
fn gives_way(polls: u32, is_crowded: bool, since: Duration) -> bool {
    polls >= POLLS_BEFORE_YIELD && (is_crowded || since >= TURN)
}

impl<'l> Thread<'l> {
    pub(crate) fn new(launch: &'l LaunchState, block: u32) -> Self {
        Thread {
            launch,
            block: launch.grid.block_index(block),
            bad_index: Cell::new(None),
            polls: Cell::new(0),
            worked: Cell::new(0),
            yielded: Cell::new(None),
            shared_arrays: Cell::new(0),
            shared_bytes: Cell::new(0),
        }
    }

    #[inline(always)]
    pub(crate) fn grid(&self) -> &Grid {
        &self.launch.grid
    }

    #[inline(always)]
    pub(crate) fn block(&self) -> [u32; MAX_RANK] {
        self.block
    }

    /// Whether the thread must end; called on the back edge of every loop that may be a wait for another thread.
    #[inline]
    #[track_caller]
    pub fn must_stop(&self) -> bool {
        let polls = self.polls.get().wrapping_add(1);
        self.polls.set(polls);
        std::hint::spin_loop();
        polls.is_multiple_of(POLLS_PER_LOOK) && self.poll(polls, Site::caller())
    }

    #[cold]
    fn poll(&self, polls: u32, site: Site) -> bool {
        let now = Instant::now();
        let last = self.yielded.get().unwrap_or(now);
        let gives_way = gives_way(polls, InKernel::is_crowded(), now.saturating_duration_since(last));
        self.yielded.set(Some(if gives_way { now } else { last }));
        if gives_way {
            std::thread::yield_now();
        }
        self.look(site)
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
        self.look(Site::caller())
    }

    #[cold]
    fn look(&self, site: Site) -> bool {
        let launch = self.launch;
        let stop = launch.look();
        if stop {
            let block = format_index(&self.block[..launch.grid.rank]);
            lock(&launch.stopped_at).push(ThreadLine { block, site });
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
        self.fault(Site::caller(), FaultKind::DivisionByZero);
    }

    /// Records a fault unless the assertion holds.
    #[inline]
    #[track_caller]
    pub fn assert(&self, condition: bool, message: &str) {
        if !condition {
            self.fault(Site::caller(), FaultKind::Assertion(message.to_owned()));
        }
    }

    pub(crate) fn shared_elements(&self) -> u32 {
        self.launch.shared_elements
    }

    /// The block's next array in shared memory: `bytes` bytes, aligned to 8, or `None` where memory is lacking.
    ///
    /// The pointer is good until this thread is dropped; a block that this worker runs within it has other arrays.
    pub(crate) fn shared_array(&self, bytes: u64, site: Site) -> Option<*mut u8> {
        let asked = self.shared_bytes.get().saturating_add(bytes);
        self.shared_bytes.set(asked);
        if asked > SHARED_MEMORY {
            let what = FaultKind::SharedMemory { asked, available: SHARED_MEMORY };
            self.fault(site, what);
            return None;
        }
        let words = (bytes as usize).div_ceil(size_of::<u64>()).max(1);
        let number = ARRAYS_IN_USE.replace(ARRAYS_IN_USE.get() + 1);
        self.shared_arrays.set(self.shared_arrays.get() + 1);
        let array = SCRATCH.with_borrow_mut(|scratch| {
            while scratch.len() <= number {
                scratch.push(Scratch::default());
            }
            scratch[number].at_least(words)
        });
        if array.is_none() {
            self.fault(site, FaultKind::SharedMemory { asked, available: 0 });
        }
        array
    }
}

impl Drop for Thread<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.shared_arrays.get() > 0 {
            ARRAYS_IN_USE.set(ARRAYS_IN_USE.get() - self.shared_arrays.get());
        }
        if let Some(bad_index) = self.bad_index.take() {
            self.keep_bad_index(bad_index);
        }
    }
}

impl Thread<'_> {
    #[cold]
    fn fault(&self, site: Site, what: FaultKind) {
        // The bad index that was recorded came first.
        if let Some(bad_index) = self.bad_index.take() {
            self.keep_bad_index(bad_index);
        }
        self.launch.keep_fault(self.block, site, what);
    }

    #[cold]
    fn keep_bad_index(&self, BadIndex { view, index, extent, rank, at }: BadIndex) {
        let (index, extent) = (format_index(&index[..rank]), format_index(&extent[..rank]));
        let what = FaultKind::OutOfBounds { view: view.to_owned(), index, extent };
        self.launch.keep_fault(self.block, at.into(), what);
    }
}

/// Memory for one shared array of a block that runs on this worker. It keeps what the last block left there.
#[derive(Default)]
struct Scratch {
    start: Option<std::ptr::NonNull<u64>>,
    words: usize,
}

thread_local! {
    static SCRATCH: RefCell<Vec<Scratch>> = const { RefCell::new(Vec::new()) };
    /// How many of these arrays belong to blocks that run on this worker now: one block, or blocks within each other.
    static ARRAYS_IN_USE: Cell<usize> = const { Cell::new(0) };
}

impl Scratch {
    /// A pointer to at least `words` words, or `None` where the host has no memory for them.
    fn at_least(&mut self, words: usize) -> Option<*mut u8> {
        if self.words < words || self.start.is_none() {
            self.release();
            let slice = Box::leak(zeros::<u64>(words).ok()?.into_boxed_slice());
            self.start = std::ptr::NonNull::new(slice.as_mut_ptr());
            self.words = words;
        }
        self.start.map(|start| start.as_ptr().cast())
    }

    fn release(&mut self) {
        if let Some(start) = self.start.take() {
            let slice = std::ptr::slice_from_raw_parts_mut(start.as_ptr(), self.words);
            // SAFETY: `at_least` leaked a box of exactly this slice, and `take` sees to it that it is freed once. No
            // view of it is left: see `Thread::shared_array`.
            drop(unsafe { Box::from_raw(slice) });
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static INFO: KernelInfo = KernelInfo::new("k", Site { file: "", line: 0, column: 0 }, &[]);

    fn state() -> LaunchState {
        let one = [1; MAX_RANK];
        let grid = Grid { rank: 1, blocks: one, threads: one, frames: one, frame_extent: one };
        LaunchState::new(&INFO, grid, 0, None)
    }

    #[test]
    fn a_block_within_another_has_shared_memory_of_its_own() {
        let (state, site) = (state(), Site::caller());
        let outer = Thread::new(&state, 0);
        let first = outer.shared_array(64, site).unwrap();
        let inner = Thread::new(&state, 0);
        // Larger, so that it would take the place of the outer block's, which would be freed.
        let others = [inner.shared_array(4096, site).unwrap(), inner.shared_array(8, site).unwrap()];
        assert!(!others.contains(&first) && others[0] != others[1]);
        drop(inner);
        drop(outer);
        // The next block has the first one's memory again.
        assert_eq!(Thread::new(&state, 0).shared_array(64, site), Some(first));
    }

    #[test]
    fn a_thread_gives_its_core_away_where_others_need_it_and_otherwise_seldom() {
        let (soon, later) = (Duration::from_micros(1), TURN);
        assert!(!gives_way(POLLS_BEFORE_YIELD - 1, true, later), "it has just begun");
        assert!(gives_way(POLLS_BEFORE_YIELD, true, soon) && gives_way(POLLS_BEFORE_YIELD, false, later));
        assert!(!gives_way(u32::MAX, false, soon), "nobody of this process waits for a core");
    }

    #[test]
    fn work_is_looked_at_every_so_often() {
        let state = state();
        let thread = Thread::new(&state, 0);
        for _ in 0..STEPS_PER_LOOK - 1 {
            assert!(!thread.worked(1) && state.started.get().is_none());
        }
        // Without a limit the clock is not read; the counter shows that the thread has looked.
        assert!(!thread.worked(1) && thread.worked.get() == 0);
        assert!(!thread.worked(STEPS_PER_LOOK) && thread.worked.get() == 0);
    }
}
