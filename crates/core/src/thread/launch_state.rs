//! What a launch's threads share on the host: its shape, whether it must end, what went wrong.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use wattle_ir::format_index;

use wattle_ir::{LaunchShape, MAX_RANK, Site};

use super::row_major::delinearize;
use crate::divergence::Divergence;
use crate::error::{Error, ErrorKind, ThreadLine};
use crate::fault::{Fault, FaultKind};
use crate::interrupt;
use crate::sync::lock;

/// What a launch's threads share on the host.
pub struct LaunchState {
    /// The kernel's name.
    kernel: &'static str,
    rank: usize,
    shape: LaunchShape,
    threads_in_block: u32,
    shared_elements: u32,
    time_limit: Option<Duration>,
    started: OnceLock<Instant>,
    stop: AtomicU8,
    faulted: AtomicBool,
    problems: Mutex<Option<Box<Problems>>>,
}

/// What went wrong in a launch.
#[derive(Default)]
struct Problems {
    fault: Option<Fault>,
    divergence: Option<Divergence<String>>,
    /// The lines at which threads were stopped.
    lines: Vec<ThreadLine>,
}

/// Values of [`LaunchState::stop`].
const RUNNING: u8 = 0;
const PAST_LIMIT: u8 = 1;
const INTERRUPTED: u8 = 2;

impl LaunchState {
    /// The state of a launch of the kernel of this name and rank, which has not begun.
    pub(crate) fn new(
        kernel: &'static str,
        rank: usize,
        shape: LaunchShape,
        shared_elements: u32,
        time_limit: Option<Duration>,
    ) -> Self {
        LaunchState {
            kernel,
            rank,
            shape,
            threads_in_block: shape.block_extent.iter().product(),
            shared_elements,
            time_limit,
            started: OnceLock::new(),
            stop: AtomicU8::new(RUNNING),
            faulted: AtomicBool::new(false),
            problems: Mutex::new(None),
        }
    }

    #[inline(always)]
    pub(crate) fn shape(&self) -> &LaunchShape {
        &self.shape
    }

    /// The rank of the kernel: how many of the shape's dimensions it knows.
    #[inline(always)]
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// How many blocks there are.
    #[inline(always)]
    pub(crate) fn block_count(&self) -> u32 {
        self.shape.grid_extent.iter().product()
    }

    /// The index of the block with this row-major number.
    #[inline]
    pub(crate) fn block_index(&self, number: u32) -> [u32; MAX_RANK] {
        delinearize(number, self.shape.grid_extent)
    }

    /// The number of threads per block.
    #[inline(always)]
    pub(crate) fn threads_in_block(&self) -> u32 {
        self.threads_in_block
    }

    /// The length of the shared array that is sized at launch, in elements.
    pub(crate) fn shared_elements(&self) -> u32 {
        self.shared_elements
    }

    /// Whether no further block should start.
    #[inline]
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) != RUNNING || (interrupt::requested() && self.stop_for(INTERRUPTED))
    }

    /// Reads the clock, and returns whether the launch must end.
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

    /// Stops the threads that wait, and starts no further block: a thread could not be started, or one that others may
    /// wait for has panicked.
    pub(crate) fn abandon(&self) {
        self.stop_for(INTERRUPTED);
    }

    /// Keeps the lines at which the threads of a block were stopped, each once.
    #[cold]
    pub(crate) fn keep_lines(&self, block: [u32; MAX_RANK], sites: impl IntoIterator<Item = Site>) {
        let block = format_index(&block[..self.rank]);
        let mut lines: Vec<_> = sites.into_iter().map(|site| ThreadLine { block: block.clone(), site }).collect();
        lines.dedup();
        lock(&self.problems).get_or_insert_default().lines.append(&mut lines);
    }

    /// Ends the launch with the error that threads of a block wait at a barrier that can never open.
    #[cold]
    pub(crate) fn diverged(&self, divergence: Divergence<String>) {
        lock(&self.problems).get_or_insert_default().divergence.get_or_insert(divergence);
        self.abandon();
    }

    /// The name of a thread, as [`Divergence`] has it.
    pub(crate) fn name(&self, block: [u32; MAX_RANK], thread: [u32; MAX_RANK]) -> String {
        let [thread, block] = [thread, block].map(|index| format_index(&index[..self.rank]));
        format!("thread {thread} of block {block} of kernel `{}`", self.kernel)
    }

    #[cold]
    pub(crate) fn keep_fault(&self, block: [u32; MAX_RANK], thread: [u32; MAX_RANK], site: Site, what: FaultKind) {
        if self.faulted.swap(true, Ordering::Relaxed) {
            return;
        }
        lock(&self.problems).get_or_insert_default().fault = Some(Fault {
            kernel: self.kernel.to_owned(),
            block: format_index(&block[..self.rank]),
            thread: format_index(&thread[..self.rank]),
            site,
            what,
        });
    }

    /// The result of the launch, once all its threads have ended: of what went wrong a fault comes first, then a
    /// divergence, then the time limit or the interruption.
    #[inline]
    pub(crate) fn outcome(mut self) -> Result<(), Error> {
        let stop = *self.stop.get_mut();
        if stop == RUNNING && !*self.faulted.get_mut() {
            return Ok(());
        }
        // What stopped the launch counts, not whether an interruption is requested now: that comes and goes.
        let time_limit = self.time_limit.filter(|_| stop == PAST_LIMIT);
        Err(self.ending(time_limit))
    }

    #[cold]
    fn ending(self, time_limit: Option<Duration>) -> Error {
        let kernel = self.kernel.to_owned();
        let Problems { fault, divergence, mut lines } = self
            .problems
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .map_or_else(Problems::default, |problems| *problems);
        // A fault comes first: it is often why the others wait for ever.
        if let Some(fault) = fault {
            return ErrorKind::Fault(Box::new(fault)).into();
        }
        if let Some(divergence) = divergence {
            return ErrorKind::Finding(divergence.to_string()).into();
        }
        lines.sort_by(|x, y| x.block.len().cmp(&y.block.len()).then_with(|| x.block.cmp(&y.block)));
        match time_limit {
            Some(limit) => ErrorKind::TimeLimit { kernel, limit, lines }.into(),
            None => ErrorKind::Interrupted { kernel, lines }.into(),
        }
    }
}
