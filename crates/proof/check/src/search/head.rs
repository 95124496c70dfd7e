//! The open loops of a thread: where each began its current iteration, and what it has done in it.

use wattle_memory::EventId;

use super::Thread;

/// An open loop, with the thread as it was when the current iteration began.
#[derive(Clone)]
pub(super) struct Head<'w> {
    pub label: u32,
    pub process: Thread<'w>,
    pub iterations: u32,
    /// The iterations in a row that have neither looked nor done anything that others see.
    pub idle: u32,
    /// The first event of the current iteration.
    pub first: Option<EventId>,
    /// Whether the current iteration has done something that other threads can see.
    pub effect: bool,
    /// Whether the current iteration has read memory that threads race on.
    pub looked: bool,
    /// What the current iteration has done, if threads may repeat it together.
    pub round: Option<Round>,
    /// How often threads have repeated the loop together.
    pub rounds: u32,
}

impl<'w> Head<'w> {
    /// The head of a loop at which this process is.
    pub fn new(label: u32, process: Thread<'w>) -> Self {
        let round = Some(Round::default());
        Head { label, process, iterations: 0, idle: 0, first: None, effect: false, looked: false, round, rounds: 0 }
    }
}

/// What a thread has done in an iteration, if threads may repeat it together.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    /// The gates that it has come to.
    pub gates: Vec<usize>,
    /// The thread's arrival at the last of its gates.
    pub arrival: Option<EventId>,
    /// The reads of the iteration.
    pub reads: Vec<EventId>,
    /// The writes of updates that have written back what they read.
    pub idle: Vec<EventId>,
    /// The stores of the iteration, none of which is atomic.
    pub writes: Vec<EventId>,
}

impl Round {
    /// The numbers of the events of the iteration, to be moved when others are inserted.
    pub fn events(&mut self) -> impl Iterator<Item = &mut EventId> {
        self.reads.iter_mut().chain(&mut self.idle).chain(&mut self.writes).chain(&mut self.arrival)
    }

    /// The reads of the iteration, and the writes of its idle updates.
    pub fn looks(&self) -> impl Iterator<Item = EventId> + '_ {
        self.reads.iter().chain(&self.idle).copied()
    }
}
