//! Who searches what: one worker alone at first, then as many as there are cores.
//!
//! A small search is over before a second worker would have begun, and always goes the same way; what it finds first
//! is the same each time.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::choose::{Halt, Open, Search};
use super::limit::Watch;
use super::process::Process;
use super::{End, Execution, Setup, Statistics, Visitor};

/// How many steps one worker does alone.
const ALONE: u32 = 2048;

/// Searches all executions.
pub(super) fn search<P: Process, V: Visitor<P> + Send>(setup: &Setup<'_, P>, visitor: &mut V) -> (End, Statistics) {
    let mut stack = vec![Open::root(setup)];
    let mut search =
        Search { setup, visitor, statistics: Statistics::default(), watch: Watch::new(&setup.limits) };
    let mut ended = Ok(());
    for _ in 0..ALONE {
        let Some(open) = stack.pop() else { break };
        ended = search.step(open, &mut stack);
        if ended.is_err() {
            break;
        }
    }
    let mut statistics = search.statistics;
    if ended.is_ok() && !stack.is_empty() {
        ended = together(setup, visitor, stack, &mut statistics);
    }
    (end(ended), statistics)
}

fn end(ended: Result<(), Halt>) -> End {
    match ended {
        Ok(()) => End::Exhausted,
        Err(Halt::BrokenOff) => End::BrokenOff,
        Err(Halt::Stopped(limit)) => End::Stopped(limit),
        Err(Halt::Problem(problem)) => End::Problem(problem),
    }
}

/// What workers share.
struct Shared<P> {
    open: Mutex<Vec<Open<P>>>,
    changed: Condvar,
    /// How many workers have nothing to do.
    idle: AtomicUsize,
    stop: AtomicBool,
    halt: Mutex<Option<Halt>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn together<P: Process, V: Visitor<P> + Send>(
    setup: &Setup<'_, P>,
    visitor: &mut V,
    open: Vec<Open<P>>,
    statistics: &mut Statistics,
) -> Result<(), Halt> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let shared = Shared {
        open: Mutex::new(open),
        changed: Condvar::new(),
        idle: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        halt: Mutex::new(None),
    };
    let visitor = Mutex::new(visitor);
    let counted = std::thread::scope(|scope| {
        let work = || worker(setup, &shared, &visitor, workers);
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let mut counted = vec![work()];
        counted.extend(others.into_iter().filter_map(|worker| worker.join().ok()));
        counted
    });
    counted.iter().for_each(|counted| statistics.add(counted));
    shared.halt.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

fn worker<P: Process, V: Visitor<P> + Send>(
    setup: &Setup<'_, P>,
    shared: &Shared<P>,
    visitor: &Mutex<&mut V>,
    workers: usize,
) -> Statistics {
    let mut own = Vec::new();
    let mut visitor = Locked(visitor);
    let mut search =
        Search { setup, visitor: &mut visitor, statistics: Statistics::default(), watch: Watch::new(&setup.limits) };
    while let Some(open) = own.pop().or_else(|| wait(shared, workers)) {
        if shared.stop.load(Ordering::Relaxed) {
            break;
        }
        if let Err(halt) = search.step(open, &mut own) {
            lock(&shared.halt).get_or_insert(halt);
            shared.stop.store(true, Ordering::Relaxed);
            shared.changed.notify_all();
            break;
        }
        // The oldest state has the most below it.
        if own.len() > 1 && shared.idle.load(Ordering::Relaxed) > 0 {
            let mut open = lock(&shared.open);
            if open.is_empty() {
                open.push(own.remove(0));
                shared.changed.notify_one();
            }
        }
    }
    search.statistics
}

/// A state from another worker; none once all have nothing to do.
fn wait<P>(shared: &Shared<P>, workers: usize) -> Option<Open<P>> {
    let mut open = lock(&shared.open);
    if let Some(next) = open.pop() {
        return Some(next);
    }
    if shared.idle.fetch_add(1, Ordering::Relaxed) + 1 == workers {
        shared.stop.store(true, Ordering::Relaxed);
        shared.changed.notify_all();
        return None;
    }
    loop {
        if shared.stop.load(Ordering::Relaxed) {
            return None;
        }
        if let Some(next) = open.pop() {
            shared.idle.fetch_sub(1, Ordering::Relaxed);
            return Some(next);
        }
        open = shared.changed.wait(open).unwrap_or_else(PoisonError::into_inner);
    }
}

/// A visitor that several workers call, one at a time.
struct Locked<'v, 'm, V>(&'m Mutex<&'v mut V>);

impl<P, V: Visitor<P>> Visitor<P> for Locked<'_, '_, V> {
    fn complete(&mut self, execution: &Execution<'_, P>) -> ControlFlow<()> {
        lock(self.0).complete(execution)
    }

    fn stuck(&mut self, execution: &Execution<'_, P>) -> ControlFlow<()> {
        lock(self.0).stuck(execution)
    }

    fn waits_in_vain(&mut self, graph: &Execution<'_, P>) -> ControlFlow<()> {
        lock(self.0).waits_in_vain(graph)
    }
}
