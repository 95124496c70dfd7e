//! How far a search is: what it has counted so far, and the share of its tree that it has been through.

use std::sync::atomic::{AtomicU64, Ordering};

use super::searcher::{Halt, Open, Search};

/// What a search has counted so far, for whoever watches it from another thread.
#[derive(Debug, Default)]
pub struct Meter {
    executions: AtomicU64,
    abandoned: AtomicU64,
    events: AtomicU64,
    /// The bits of the share.
    share: AtomicU64,
}

/// A reading of a [`Meter`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// The number of finished executions, of all searches.
    pub executions: u64,
    /// The number of candidate executions that turned out not to exist, of all searches.
    pub abandoned: u64,
    /// The number of events of the finished executions together.
    pub events: u64,
    /// The share of the present search's tree that has been searched, from 0 to 1: at each branching, every branch
    /// counts for as much as the others (Knuth, "Estimating the efficiency of backtrack programs", 1975).
    pub share: f64,
}

impl Meter {
    /// What the meter shows now.
    pub fn read(&self) -> Reading {
        Reading {
            executions: self.executions.load(Ordering::Relaxed),
            abandoned: self.abandoned.load(Ordering::Relaxed),
            events: self.events.load(Ordering::Relaxed),
            share: f64::from_bits(self.share.load(Ordering::Relaxed)).min(1.0),
        }
    }

    /// Begins another search: the counts go on, the share is 0.
    pub fn begin(&self) {
        self.share.store(0, Ordering::Relaxed);
    }

    /// Counts a finished execution, and its events.
    pub fn count_execution(&self, events: usize) {
        self.executions.fetch_add(1, Ordering::Relaxed);
        self.events.fetch_add(events as u64, Ordering::Relaxed);
    }

    /// Adds a part of the tree that was searched to the end.
    pub(crate) fn count_share(&self, share: f64) {
        let more = |bits| Some((f64::from_bits(bits) + share).to_bits());
        let _ = self.share.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }
}

/// The open states of a worker, each with the share of the tree that is below it.
pub(super) struct Stack<'w> {
    states: Vec<Open<'w>>,
    shares: Vec<f64>,
}

impl<'w> Stack<'w> {
    pub fn new(open: impl IntoIterator<Item = (Open<'w>, f64)>) -> Self {
        let (states, shares) = open.into_iter().unzip();
        Stack { states, shares }
    }

    pub fn len(&self) -> usize {
        self.states.len()
    }

    pub fn pop(&mut self) -> Option<(Open<'w>, f64)> {
        Some((self.states.pop()?, self.shares.pop()?))
    }

    /// Takes the oldest state, which has the largest subtree.
    pub fn take_oldest(&mut self) -> (Open<'w>, f64) {
        (self.states.remove(0), self.shares.remove(0))
    }

    pub fn into_open(self) -> Vec<(Open<'w>, f64)> {
        self.states.into_iter().zip(self.shares).collect()
    }

    /// Searches from a state on until it branches, and keeps the branches.
    pub fn step(&mut self, search: &mut Search<'_, 'w>, (open, share): (Open<'w>, f64)) -> Result<(), Halt> {
        let (before, abandoned) = (self.len(), search.statistics.abandoned);
        let ended = search.step(open, &mut self.states);
        let branches = self.len() - before;
        self.shares.resize(self.len(), share / branches.max(1) as f64);
        if let Some(meter) = search.setup.meter.as_ref().filter(|_| !search.cuts_off()) {
            meter.abandoned.fetch_add(search.statistics.abandoned.saturating_sub(abandoned), Ordering::Relaxed);
            if branches == 0 && ended.is_ok() {
                meter.count_share(share);
            }
        }
        ended
    }
}
