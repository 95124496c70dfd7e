//! The distribution of the search: one worker alone at first, then as many as there are cores.
//!
//! A small search is over before a second worker would have begun, and always takes the same course, so its first
//! finding is the same each time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;
use wattle_core::lock;
use wattle_memory::stop;

use super::limit::asks;
use super::searcher::{Global, Halt, Open, Search};
use super::share::Stack;
use super::state::MixedCells;
use super::{End, Sample, Setup, Statistics, Visitor};

/// The number of steps that one worker does alone.
const ALONE: u32 = 2048;

/// Searches all executions; again from the beginning while it finds that more cells are mixed ([`super::failed`]).
pub(super) fn search(setup: &Setup<'_>, visitor: &mut dyn Visitor) -> (End, Statistics) {
    let mut mixed = MixedCells::default();
    loop {
        let more = Arc::default();
        let global = Global::new(&mut *visitor, mixed.clone(), Arc::clone(&more));
        let (end, statistics) = stop::watched(asks(setup.limits.clone()), || {
            let one = Search::new(setup, &global).one_interleaving();
            if one.complete > 0 { (End::BrokenOff, one) } else { alone(setup, &global) }
        });
        let found = lock(&more);
        if end != End::Exhausted {
            return (end, statistics);
        }
        if found.is_subset(&mixed) {
            let is_asked =
                setup.failed_iterations && setup.sample.is_none() && statistics.bounded + statistics.endless > 0;
            let breaks_off = is_asked && is_wrong_before_bounds(setup, visitor, &mixed);
            return (if breaks_off { End::BrokenOff } else { end }, statistics);
        }
        mixed = Arc::new(found.union(&mixed).copied().collect());
        visitor.begin_again();
    }
}

/// The most events that the steps of the search of executions that are cut off look at: nothing holds any more, so it
/// only looks for what is wrong.
const MOST_CUT_OFF: u32 = 1 << 20;

/// Whether the visitor breaks off at an execution that is cut off where its threads are at the bounds of their loops.
fn is_wrong_before_bounds(setup: &Setup<'_>, visitor: &mut dyn Visitor, mixed: &MixedCells) -> bool {
    let global = Global::new(visitor, mixed.clone(), Arc::default()).of_cut_off(MOST_CUT_OFF);
    let (end, _) = stop::watched(asks(setup.limits.clone()), || alone(setup, &global));
    end == End::BrokenOff
}

fn alone<'s>(setup: &'s Setup<'_>, global: &'s Global<'s>) -> (End, Statistics) {
    if let Some(sample) = setup.sample {
        return draw(setup, global, sample);
    }
    let mut stack = Stack::new([(Open::root(setup, global), 1.0)]);
    let mut search = Search::new(setup, global);
    let mut ended = Ok(());
    for _ in 0..ALONE {
        let Some(open) = stack.pop() else { break };
        ended = stack.step(&mut search, open);
        if ended.is_err() {
            break;
        }
    }
    let mut statistics = search.statistics;
    if ended.is_ok() && stack.len() > 0 {
        ended = together(setup, global, stack.into_open(), &mut statistics);
    }
    (end(ended), statistics)
}

/// The maximum number of failed draws for each execution that is wanted.
const VAIN: u64 = 64;

/// Draws executions: at each branch one at random. Each draw is an execution of the model, weak or not; a failed draw
/// is repeated.
fn draw<'s>(setup: &'s Setup<'_>, global: &'s Global<'s>, sample: Sample) -> (End, Statistics) {
    let mut random = Pcg64Mcg::new(((sample.seed as u128) << 64) | 0x5eed);
    let mut search = Search::new(setup, global);
    for _ in 0..sample.executions.saturating_mul(VAIN) {
        let done = search.statistics.complete + search.statistics.stuck + search.statistics.bounded;
        if done >= sample.executions {
            break;
        }
        let mut next = Some(Open::root(setup, global));
        while let Some(open) = next.take() {
            let mut branches = Vec::new();
            if let Err(halt) = search.step(open, &mut branches) {
                return (end(Err(halt)), search.statistics);
            }
            if !branches.is_empty() {
                let chosen = (random.next_u64() % branches.len() as u64) as usize;
                next = Some(branches.swap_remove(chosen));
            }
        }
    }
    (End::Exhausted, search.statistics)
}

fn end(ended: Result<(), Halt>) -> End {
    match ended {
        Ok(()) => End::Exhausted,
        Err(Halt::BrokenOff) => End::BrokenOff,
        Err(Halt::Stopped(limit)) => End::Stopped(limit),
        Err(Halt::Problem(problem)) => End::Problem(problem),
    }
}

/// The state that workers share.
struct Shared<'w> {
    open: Mutex<Vec<(Open<'w>, f64)>>,
    changed: Condvar,
    /// The number of idle workers.
    idle: AtomicUsize,
    stop: Arc<AtomicBool>,
    halt: Mutex<Option<Halt>>,
}

fn together<'s, 'w>(
    setup: &'s Setup<'w>,
    global: &'s Global<'s>,
    open: Vec<(Open<'w>, f64)>,
    statistics: &mut Statistics,
) -> Result<(), Halt> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let shared = Shared {
        open: Mutex::new(open),
        changed: Condvar::new(),
        idle: AtomicUsize::new(0),
        stop: Arc::default(),
        halt: Mutex::new(None),
    };
    let counted = std::thread::scope(|scope| {
        let work = || {
            let (mut limit, stopped) = (asks(setup.limits.clone()), Arc::clone(&shared.stop));
            // A step of one worker may be long, and worthless once another one has found what is wrong.
            let asks = move || stopped.load(Ordering::Relaxed) || limit();
            stop::watched(asks, || worker(setup, global, &shared, workers))
        };
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let mut counted = vec![work()];
        counted.extend(others.into_iter().filter_map(|worker| worker.join().ok()));
        counted
    });
    counted.iter().for_each(|counted| statistics.add(counted));
    shared.halt.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

fn worker<'s, 'w>(setup: &'s Setup<'w>, global: &'s Global<'s>, shared: &Shared<'w>, workers: usize) -> Statistics {
    let mut own = Stack::new([]);
    let mut search = Search::new(setup, global);
    while let Some(open) = own.pop().or_else(|| wait(shared, workers)) {
        if shared.stop.load(Ordering::Relaxed) {
            break;
        }
        if let Err(halt) = own.step(&mut search, open) {
            lock(&shared.halt).get_or_insert(halt);
            shared.stop.store(true, Ordering::Relaxed);
            shared.changed.notify_all();
            break;
        }
        if own.len() > 1 && shared.idle.load(Ordering::Relaxed) > 0 {
            let mut open = lock(&shared.open);
            if open.is_empty() {
                open.push(own.take_oldest());
                shared.changed.notify_one();
            }
        }
    }
    search.statistics
}

/// Takes a state from another worker; `None` once all are idle.
fn wait<'w>(shared: &Shared<'w>, workers: usize) -> Option<(Open<'w>, f64)> {
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
