//! Decides whether a thread can be stuck for ever, by looking for a run that cycles for ever.
//!
//! All interleavings of the threads' memory steps are explored, each step one access, one read-modify-write or one
//! arrival at a barrier, with memory that every thread sees alike. A read-modify-write that a write of another thread
//! can divide ([`Divided`]) is two steps as well, its read and its write, with such writes between. That is exact for
//! programs that use one location and divide no updates, where every model here agrees with it on what can go on for
//! ever; others may have weaker executions that are not explored here.
//!
//! A run that never ends comes to a strongly connected component of the graph of states and stays there. In one, the
//! set of threads that have started and the set of those that have ended do not change, and a thread that takes no step
//! stays as it is. So a component is a way to be stuck when the threads that take steps in it are at least those that
//! the progress model promises steps to. Staying in the whole component satisfies the most promises: a thread that
//! steps in a smaller cycle steps in the whole one too, and the same other threads can run.

use std::collections::HashMap;

use wattle_check::search::{Action, Address, Barrier, Members, Setup, Spawn, Stopped, Thread, Watch, Written};
use wattle_memory::{Level, Placement, ThreadId};

use crate::divided::Divided;
use crate::progress::{Promises, Schedule, Set, members};

/// The way in which a thread is stuck for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// No thread can run: these threads wait at barriers that do not open.
    AtBarriers(Vec<ThreadId>),
    /// The `running` threads cycle for ever while the `waiting` ones wait at barriers or are not scheduled.
    Round {
        /// The threads that take steps.
        running: Vec<ThreadId>,
        /// The threads that have not ended and take no steps.
        waiting: Vec<ThreadId>,
    },
}

/// Whether every run ends, as far as it was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// Every run ends.
    Ends {
        /// The number of states.
        states: usize,
    },
    /// At least one run does not end.
    Stuck(Stuck),
    /// The program has more states than the limit, and those seen do not decide the question.
    Unknown {
        /// The maximum number of states.
        states: usize,
    },
    /// A limit was reached before all states had been seen.
    Stopped {
        /// The limit.
        why: Stopped,
        /// The number of states that had been seen.
        states: usize,
    },
}

/// The reason why the question cannot be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LassoError {
    /// The program has more threads than the sets used here can hold.
    #[error("{0} threads are too many for exploring interleavings (at most 64)")]
    TooManyThreads(usize),
    /// A thread asked for a value although it was given every value.
    #[error("thread {0} asks for a value that it was told already")]
    Unanswered(ThreadId),
}

/// Decides whether every run of the threads ends under a scheduler that keeps a progress model and no other promise.
///
/// # Errors
/// There are too many threads, or one violates the contract of [`Process`](wattle_check::search::Process).
pub fn liveness(
    setup: &Setup<'_>,
    divided: &Divided,
    schedule: impl Into<Schedule>,
    most_states: usize,
) -> Result<Liveness, LassoError> {
    if setup.threads.len() > Set::BITS as usize {
        return Err(LassoError::TooManyThreads(setup.threads.len()));
    }
    let mut watch = Watch::new(&setup.limits);
    let graph = match Graph::explore(setup, divided, most_states, &mut watch)? {
        Ok(graph) => graph,
        Err((why, states)) => return Ok(Liveness::Stopped { why, states }),
    };
    let placements: Vec<Placement> = setup.threads.iter().map(|thread| thread.placement).collect();
    let promises = Promises { placements: &placements, schedule: schedule.into() };
    for component in graph.components() {
        if let Some(why) = watch.check() {
            return Ok(Liveness::Stopped { why, states: graph.states.len() });
        }
        if let Some(stuck) = graph.stuck(&component, &promises) {
            return Ok(Liveness::Stuck(stuck));
        }
    }
    let states = graph.states.len();
    Ok(if graph.complete { Liveness::Ends { states } } else { Liveness::Unknown { states: most_states } })
}

/// A barrier of one block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Gate {
    /// The number of the first thread of the block.
    block: ThreadId,
    instance: u64,
    /// The resource, if it decides which arrivals meet: for barriers with a quorum.
    resource: Option<u64>,
    members: Members,
}

/// The threads at a barrier.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Crowd {
    gate: Gate,
    /// The threads that have arrived since it opened last; with a quorum, all that ever have.
    arrived: Set,
    /// The arrived threads that wait there.
    waiting: Set,
}

/// An update that has read and not yet written. Its thread still stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Half {
    thread: ThreadId,
    address: Address,
    source: u32,
    old: u64,
}

/// A state between two steps. Each thread stands before its next step.
#[derive(Clone, PartialEq, Eq, Hash)]
struct MachineState<'w> {
    threads: Vec<Thread<'w>>,
    memory: Vec<(Address, u64)>,
    started: Set,
    ended: Set,
    /// The barriers at which some thread has arrived.
    crowds: Vec<Crowd>,
    /// The updates between their halves, in the order of the threads.
    halves: Vec<Half>,
}

impl<'w> MachineState<'w> {
    fn can_run(&self) -> Set {
        let all = Set::MAX.checked_shr(Set::BITS - self.threads.len() as u32).unwrap_or(0);
        self.crowds.iter().fold(all & !self.ended, |set, crowd| set & !crowd.waiting)
    }

    /// Runs the local actions of a thread, up to its next step.
    fn settle(&mut self, thread: ThreadId) -> Result<(), LassoError> {
        loop {
            let mut next = self.threads[thread].clone();
            match next.advance() {
                Action::Fence { .. } | Action::LoopHead { .. } | Action::Fault { .. } => self.threads[thread] = next,
                Action::Done => {
                    self.threads[thread] = next;
                    self.ended |= 1 << thread;
                    return Ok(());
                }
                Action::NeedsValue => return Err(LassoError::Unanswered(thread)),
                Action::Read { .. }
                | Action::Write { .. }
                | Action::Update { .. }
                | Action::Barrier { .. }
                | Action::Exchange { .. }
                | Action::BackEdge { .. }
                | Action::Halt => return Ok(()),
            }
        }
    }

    fn load(&self, setup: &Setup<'_>, address: Address) -> u64 {
        match self.memory.binary_search_by_key(&address, |cell| cell.0) {
            Ok(at) => self.memory[at].1,
            Err(_) => setup.memory.initial(address).value,
        }
    }

    fn store(&mut self, address: Address, value: u64) {
        match self.memory.binary_search_by_key(&address, |cell| cell.0) {
            Ok(at) => self.memory[at].1 = value,
            Err(at) => self.memory.insert(at, (address, value)),
        }
    }

    /// Whether a write can be made now: it divides every update of its cell that is between its halves.
    fn is_open(&self, divided: &Divided, address: Address, source: u32) -> bool {
        let is_it = |half: &&Half| half.address == address;
        self.halves.iter().filter(is_it).all(|half| divided.by(half.source, source))
    }

    /// The states after one step of one thread: none where it must wait for another's update, two where its own update
    /// can be divided.
    fn steps(
        &self,
        setup: &Setup<'_>,
        divided: &Divided,
        thread: ThreadId,
    ) -> Result<Vec<MachineState<'w>>, LassoError> {
        let unanswered = LassoError::Unanswered(thread);
        if self.halves.iter().any(|half| half.thread == thread) {
            return Ok(vec![self.step(setup, thread)?]);
        }
        let half = match self.threads[thread].clone().advance() {
            Action::Write { target, source, .. } => {
                if !self.is_open(divided, target.ok_or(unanswered)?.address, source) {
                    return Ok(Vec::new());
                }
                None
            }
            Action::Update { target, source, .. } => {
                let address = target.ok_or(unanswered)?.address;
                if !self.is_open(divided, address, source) {
                    return Ok(Vec::new());
                }
                let half = Half { thread, address, source, old: self.load(setup, address) };
                divided.has(source).then_some(half)
            }
            Action::Read { .. }
            | Action::Fence { .. }
            | Action::Barrier { .. }
            | Action::Exchange { .. }
            | Action::LoopHead { .. }
            | Action::BackEdge { .. }
            | Action::NeedsValue
            | Action::Fault { .. }
            | Action::Halt
            | Action::Done => None,
        };
        let mut states = vec![self.step(setup, thread)?];
        if let Some(half) = half {
            let mut between = self.clone();
            between.started |= 1 << thread;
            between.halves.push(half);
            between.halves.sort_unstable_by_key(|half| half.thread);
            states.push(between);
        }
        Ok(states)
    }

    /// Makes one step of one thread, the whole of an update that has not begun.
    fn step(&self, setup: &Setup<'_>, thread: ThreadId) -> Result<MachineState<'w>, LassoError> {
        let unanswered = LassoError::Unanswered(thread);
        let mut after = self.clone();
        after.started |= 1 << thread;
        match after.threads[thread].advance() {
            Action::Read { target, .. } => {
                let old = after.load(setup, target.ok_or(unanswered)?.address);
                after.threads[thread].answer(Some(old));
            }
            Action::Write { target, value, .. } => {
                after.store(target.ok_or(unanswered)?.address, value.ok_or(unanswered)?);
            }
            Action::Update { target, change, .. } => {
                let address = target.ok_or(unanswered)?.address;
                let begun = after.halves.iter().position(|half| half.thread == thread);
                let old = match begun {
                    Some(at) => after.halves.remove(at).old,
                    None => after.load(setup, address),
                };
                match change.written(Some(old)) {
                    Written::Value(new) => after.store(address, new),
                    Written::Nothing => {}
                    Written::Unknown => return Err(unanswered),
                }
                after.threads[thread].answer(Some(old));
            }
            Action::Barrier { barrier, .. } => {
                let released = after.arrive(setup, thread, barrier);
                members(released).into_iter().try_for_each(|released| after.settle(released))?;
                return Ok(after);
            }
            // A loop iteration without a memory access is a step too, or such a loop would not count as endless.
            Action::BackEdge { .. } => {}
            // No step of a litmus thread, or an action that `settle` has run.
            Action::Fence { .. }
            | Action::Exchange { .. }
            | Action::LoopHead { .. }
            | Action::NeedsValue
            | Action::Fault { .. }
            | Action::Halt
            | Action::Done => return Err(unanswered),
        }
        after.settle(thread)?;
        Ok(after)
    }

    /// Records the arrival of a thread at a barrier, and returns the threads that continue.
    fn arrive(&mut self, setup: &Setup<'_>, thread: ThreadId, barrier: Barrier) -> Set {
        let here = &setup.threads[thread].placement;
        let together = |other: &Spawn<_>| other.placement.shares(here, Level::Block);
        let block = setup.threads.iter().position(together).unwrap_or(thread);
        let resource = matches!(barrier.members, Members::Quorum(_)).then_some(barrier.resource);
        let gate = Gate { block, instance: barrier.instance, resource, members: barrier.members };
        // Barriers are kept in the order of their numbers, so that the order of arrivals does not distinguish states.
        let key = |gate: &Gate| (gate.block, gate.instance, gate.resource);
        let index = self.crowds.iter().position(|crowd| crowd.gate == gate).unwrap_or_else(|| {
            let index = self.crowds.partition_point(|crowd| key(&crowd.gate) <= key(&gate));
            self.crowds.insert(index, Crowd { gate, arrived: 0, waiting: 0 });
            index
        });
        let crowd = &mut self.crowds[index];
        crowd.arrived |= 1 << thread;
        let opens = match &crowd.gate.members {
            Members::Threads(members) | Members::Remaining(members) => {
                members.iter().all(|member| crowd.arrived >> member & 1 == 1)
            }
            Members::Quorum(quorum) => crowd.arrived.count_ones() >= *quorum,
            // Barriers of PTX modules, of which nobody asks for all interleavings: that it stays closed is said of
            // none.
            Members::Groups { .. } => false,
        };
        if !opens && barrier.waits {
            crowd.waiting |= 1 << thread;
            return 0;
        }
        if !opens {
            return 1 << thread;
        }
        let released = std::mem::take(&mut crowd.waiting) | 1 << thread;
        if matches!(crowd.gate.members, Members::Threads(_)) {
            self.crowds.remove(index);
        }
        released
    }
}

/// All reachable states, and the thread whose step leads from one to another.
struct Graph<'w> {
    states: Vec<MachineState<'w>>,
    steps: Vec<Vec<(ThreadId, usize)>>,
    complete: bool,
}

impl<'w> Graph<'w> {
    fn explore(
        setup: &Setup<'w>,
        divided: &Divided,
        most_states: usize,
        watch: &mut Watch<'_>,
    ) -> Result<Result<Graph<'w>, (Stopped, usize)>, LassoError> {
        let threads = setup.threads.iter().map(|thread| thread.process.clone());
        let mut first = MachineState {
            threads: threads.collect(),
            memory: Vec::new(),
            started: 0,
            ended: 0,
            crowds: Vec::new(),
            halves: Vec::new(),
        };
        for thread in 0..setup.threads.len() {
            first.settle(thread)?;
        }
        let mut graph = Graph { states: vec![first.clone()], steps: Vec::new(), complete: true };
        let mut known = HashMap::from([(first, 0)]);
        while let Some(state) = graph.states.get(graph.steps.len()).cloned() {
            if let Some(stopped) = watch.check() {
                return Ok(Err((stopped, graph.states.len())));
            }
            let mut steps = Vec::new();
            for thread in members(state.can_run()) {
                for after in state.steps(setup, divided, thread)? {
                    if let Some(&number) = known.get(&after) {
                        steps.push((thread, number));
                    } else if graph.states.len() < most_states {
                        steps.push((thread, graph.states.len()));
                        known.insert(after.clone(), graph.states.len());
                        graph.states.push(after);
                    } else {
                        graph.complete = false;
                    }
                }
            }
            graph.steps.push(steps);
        }
        Ok(Ok(graph))
    }

    /// The strongly connected components (Tarjan's algorithm, without recursion).
    fn components(&self) -> Vec<Vec<usize>> {
        const UNSEEN: usize = usize::MAX;
        let n = self.states.len();
        let (mut index, mut low, mut on_stack) = (vec![UNSEEN; n], vec![0; n], vec![false; n]);
        let (mut stack, mut components, mut count) = (Vec::new(), Vec::new(), 0);
        for root in 0..n {
            if index[root] != UNSEEN {
                continue;
            }
            // Each entry is a state and how many of its steps have been followed.
            let mut path = vec![(root, 0)];
            while let Some((state, followed)) = path.last_mut() {
                let state = *state;
                if *followed == 0 && index[state] == UNSEEN {
                    (index[state], low[state]) = (count, count);
                    count += 1;
                    stack.push(state);
                    on_stack[state] = true;
                }
                if let Some(&(_, next)) = self.steps[state].get(*followed) {
                    *followed += 1;
                    if index[next] == UNSEEN {
                        path.push((next, 0));
                    } else if on_stack[next] {
                        low[state] = low[state].min(index[next]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(above, _)) = path.last() {
                    low[above] = low[above].min(low[state]);
                }
                if low[state] == index[state] {
                    let start = stack.iter().rposition(|&member| member == state).unwrap_or(0);
                    let component = stack.split_off(start);
                    component.iter().for_each(|&member| on_stack[member] = false);
                    components.push(component);
                }
            }
        }
        components
    }

    /// How threads are stuck in a component, if the promises permit staying in it.
    fn stuck(&self, component: &[usize], promises: &Promises<'_>) -> Option<Stuck> {
        let mut inside: Vec<usize> = component.to_vec();
        inside.sort_unstable();
        let state = &self.states[*component.first()?];
        let all = Set::MAX.checked_shr(Set::BITS - state.threads.len() as u32).unwrap_or(0);
        if state.can_run() == 0 {
            let waiting = all & !state.ended;
            return (waiting != 0).then(|| Stuck::AtBarriers(members(waiting)));
        }
        let mut running: Set = 0;
        for &from in component {
            for &(thread, to) in &self.steps[from] {
                if inside.binary_search(&to).is_ok() {
                    running |= 1 << thread;
                }
            }
        }
        let can_run = running | state.can_run();
        let kept = running != 0 && promises.kept(running, can_run, state.started);
        kept.then(|| Stuck::Round { running: members(running), waiting: members(all & !state.ended & !running) })
    }
}
