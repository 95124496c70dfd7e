//! Runs one thread as far as it goes without a choice.

use wattle_memory::{EventId, Label, Level, ThreadId, stop};

use super::contents::{locate, provide, write_half};
use super::head::Head;
use super::process::{AccessTarget, Action, Address, Barrier, Change, Exchange};
use super::promises::{take_back, take_early, take_or_insert};
use super::rounds::{MOST_ROUNDS, comes_round, meet, note};
use super::state::{Fault, SearchState, Status};
use super::{Problem, Setup, Thread};

/// The most iterations of loops that end, whatever memory holds, before they count as those of others do.
const MOST_ENDING_ITERATIONS: u32 = 256;

/// The maximum number of back edges that a thread may take without a choice: a loop that counts by itself and never
/// reads memory would occupy the search for ever.
pub const MOST_BACK_EDGES: u32 = 1 << 26;

/// The maximum number of iterations in a row of a loop whose exit depends on memory in which the thread neither looks
/// at memory nor does anything that others see: such a loop never ends. A lane that is alone in its warp has one where
/// a vote was to bring it what another lane reads.
const MOST_IDLE_ITERATIONS: u32 = 1 << 16;

/// The part of a run that may still change: everything past the first read whose value is not known.
pub(super) struct Run<'w> {
    process: Thread<'w>,
    heads: Vec<Head<'w>>,
    /// The index of the next event of the trail.
    at: usize,
    back_edges: u32,
    speculative: bool,
    /// The operation of its warp at which the thread stands.
    stands: Option<usize>,
}

/// What [`settle`](super::settle) keeps between its runs of threads.
#[derive(Default)]
pub(super) struct Runs<'w> {
    /// For some threads at a barrier, the run that came there with a read behind it whose value is not known. No read
    /// gets a value while threads settle, so such a run goes on where it stopped: repeating it from the read for each
    /// barrier takes time quadratic in the number of barriers.
    pub at_barrier: Vec<(ThreadId, Run<'w>)>,
    /// The number of actions of all runs.
    actions: u32,
}

/// The number of actions after which a run asks whether it is to end early.
const ACTIONS_PER_LOOK: u32 = 256;

/// Begins to run a thread, from the first read whose value is not known.
fn begin<'w>(state: &mut SearchState<'w>, thread: ThreadId) -> Run<'w> {
    let runner = &mut state.runners[thread];
    let mut run = Run {
        process: runner.process.clone(),
        heads: std::mem::take(&mut runner.heads),
        at: 0,
        back_edges: 0,
        speculative: false,
        stands: None,
    };
    runner.faults.clear();
    runner.returns.borrow_mut().clear();
    if let Some(read) = runner.waiting {
        match state.graph.event(read).value {
            Some(value) => {
                state.runners[thread].waiting = None;
                if let (Some((write, change)), Some(location)) =
                    (state.runners[thread].update.take(), state.graph.event(read).location)
                {
                    write_half(state, read, write, change, location);
                }
                run.process.answer_read(Some(value), state.graph.finds_unwritten(read));
                changed(&mut run, state, read);
            }
            None => {
                state.runners[thread].heads = run.heads.clone();
                run.speculative = true;
                run.stands = state.gate_of(read).filter(|&gate| !state.passed(gate, read));
                run.process.answer(None);
                changed(&mut run, state, read);
            }
        }
    }
    run
}

/// Runs a thread to its end, or to where it stops, and records its status.
pub(super) fn run<'w>(
    setup: &Setup<'_>,
    state: &mut SearchState<'w>,
    thread: ThreadId,
    runs: &mut Runs<'w>,
) -> Result<(), Problem> {
    state.runners[thread].compared = false;
    let stopped = runs.at_barrier.iter().position(|&(of, _)| of == thread).map(|at| runs.at_barrier.swap_remove(at).1);
    // The events of a stopped run have other numbers once some have been inserted.
    let run = stopped.filter(|_| !state.renumbered).unwrap_or_else(|| begin(state, thread));
    let mut turn = Turn { setup, state, thread, run };
    let status = loop {
        runs.actions += 1;
        if runs.actions.is_multiple_of(ACTIONS_PER_LOOK) && stop::requested() {
            break Status::Bounded;
        }
        if let Some(status) = turn.action()? {
            break status;
        }
    };
    turn.skip_rest(status);
    let run = turn.run;
    if status == Status::Spins {
        take_back(state, thread);
    }
    let runner = &mut state.runners[thread];
    runner.status = status;
    // If the thread spins, this is the beginning of the reads that it repeats.
    runner.spins_since = run.heads.last().filter(|_| status == Status::Spins).and_then(|head| head.first);
    if !run.speculative {
        runner.trail.clear();
        runner.process = run.process.clone();
        runner.heads = run.heads;
        runner.ahead = run.process;
    } else {
        runner.ahead = run.process.clone();
        if matches!(status, Status::AtBarrier(_)) && run.stands.is_none() {
            runs.at_barrier.push((thread, run));
        }
    }
    Ok(())
}

/// A thread that is being run, within the search that runs it.
struct Turn<'t, 's, 'w> {
    setup: &'t Setup<'s>,
    state: &'t mut SearchState<'w>,
    thread: ThreadId,
    run: Run<'w>,
}

/// What an action of a thread comes to: the status in which its run ends there, or nothing, and it goes on.
type Ends = Result<Option<Status>, Problem>;

impl<'w> Turn<'_, '_, 'w> {
    /// Performs the thread's next action.
    fn action(&mut self) -> Ends {
        if let Some(gate) = self.run.stands {
            return Ok(Some(Status::AtBarrier(gate)));
        }
        let before = (!self.state.runners[self.thread].promised.is_empty()).then(|| self.run.process.clone());
        let action = self.run.process.advance();
        // A promised access is recognized by its target and value.
        if let (Some(before), true) = (before, self.may_be_promised(&action)) {
            self.run.process = before;
            return Ok(Some(Status::Needs));
        }
        match action {
            Action::Read { target, label, source } => self.read(target, label, source),
            Action::Write { target, value, label, source } => self.write(target, value, label, source),
            Action::Update { target, change, read, write, source } => {
                self.update(target, change, [read, write], source)
            }
            Action::Fence { label, source } => {
                self.fence(label, source);
                Ok(None)
            }
            Action::Barrier { barrier, label, source } => Ok(self.barrier(&barrier, label, source)),
            Action::Exchange { barrier, exchange, source } => {
                self.exchange(&barrier, exchange, source);
                Ok(None)
            }
            Action::LoopHead { label } => {
                if let Some(at) = self.run.heads.iter().position(|head| head.label == label) {
                    self.run.heads.truncate(at);
                }
                self.enter(label);
                Ok(None)
            }
            Action::BackEdge { label, waits, source, ends } => Ok(self.back_edge(label, source, waits, ends)),
            Action::NeedsValue => Ok(Some(Status::Needs)),
            Action::Fault { fault, source } => {
                let fault = Fault { thread: self.thread, fault, source };
                let runner = &mut self.state.runners[self.thread];
                if self.run.speculative {
                    runner.faults.push(fault)
                } else {
                    runner.certain_faults.push(fault)
                }
                Ok(None)
            }
            Action::Halt => Ok(Some(Status::Halted)),
            Action::Done => Ok(Some(Status::Done)),
        }
    }

    /// Whether it is open if the action is one that was promised, since its target or its value is not known.
    fn may_be_promised(&self, action: &Action) -> bool {
        match action {
            Action::Read { target, .. } => target.is_none(),
            Action::Write { target, value, .. } => target.is_none() || value.is_none(),
            Action::Update { target, change, .. } => self.is_new() && (target.is_none() || !change.is_known()),
            Action::Fence { .. }
            | Action::Barrier { .. }
            | Action::Exchange { .. }
            | Action::LoopHead { .. }
            | Action::BackEdge { .. }
            | Action::NeedsValue
            | Action::Fault { .. }
            | Action::Halt
            | Action::Done => false,
        }
    }

    /// Whether the next event is none that an earlier run has added.
    fn is_new(&self) -> bool {
        self.run.at >= self.state.runners[self.thread].trail.len()
    }

    fn read(&mut self, target: Option<AccessTarget>, label: Label, source: u32) -> Ends {
        let (event, _) = self.event(label, source, target.map(|target| (target.address, None)));
        locate(self.setup, self.state, event, target, source)?;
        // The head is updated before the answer: heads are kept in this state if the thread is run from here again.
        self.run.heads.iter_mut().for_each(|head| head.looked |= label.atomic);
        note(&mut self.run.heads, |round| round.reads.push(event));
        self.answer(event);
        Ok(None)
    }

    fn write(&mut self, target: Option<AccessTarget>, value: Option<u64>, label: Label, source: u32) -> Ends {
        let (event, _) = self.event(label, source, target.map(|target| (target.address, value)));
        // Whether anybody has written its value may be known by now.
        if self.state.graph.event(event).label.unwritten != label.unwritten {
            self.state.graph.replace(event, label, source);
        }
        locate(self.setup, self.state, event, target, source)?;
        provide(self.state, event, value);
        self.run.heads.iter_mut().for_each(|head| head.effect = true);
        if label.atomic {
            self.run.heads.iter_mut().for_each(|head| head.round = None);
        }
        note(&mut self.run.heads, |round| round.writes.push(event));
        Ok(None)
    }

    fn update(&mut self, target: Option<AccessTarget>, change: Change, labels: [Label; 2], source: u32) -> Ends {
        let [first, second] = self.halves(target, change, labels, source);
        locate(self.setup, self.state, first, target, source)?;
        self.state.changes(first, change);
        // In a loop that may only wait, it depends on the value read whether the update happens at all.
        let certain = self.run.heads.is_empty() || self.state.graph.event(first).value.is_some();
        if let (Some(location), true) = (self.state.graph.event(first).location, certain) {
            write_half(self.state, first, second, change, location);
        }
        self.run.heads.iter_mut().for_each(|head| head.looked = true);
        note(&mut self.run.heads, |round| round.reads.push(first));
        let waits = self.run.speculative;
        self.answer(first);
        if self.run.speculative && !waits {
            self.state.runners[self.thread].update = Some((second, change));
        }
        Ok(None)
    }

    /// The two events of an update: those that it was promised, or others.
    fn halves(
        &mut self,
        target: Option<AccessTarget>,
        change: Change,
        [read, write]: [Label; 2],
        source: u32,
    ) -> [EventId; 2] {
        let target = target.filter(|_| self.is_new());
        let promised =
            target.and_then(|target| take_early(self.setup, self.state, self.thread, target, change, [read, write]));
        let Some([first, second]) = promised else {
            let (first, _) = self.event(read, source, None);
            let (second, new) = self.event(write, source, None);
            if new {
                // The halves of an update whose write is cancelled are not joined again.
                self.state.graph.join_halves(first, second);
            }
            return [first, second];
        };
        let read = change.read_label(read, self.state.graph.event(first).value);
        self.state.graph.replace(first, read, source);
        // What it was promised to write may have been cancelled.
        let promised = self.state.graph.event(second).label;
        let label = if promised.kind == write.kind { write } else { promised };
        self.state.graph.replace(second, label, source);
        self.state.runners[self.thread].trail.extend([first, second]);
        self.run.at += 2;
        self.run.heads.iter_mut().for_each(|head| head.first = head.first.or(Some(first)));
        [first, second]
    }

    fn fence(&mut self, label: Label, source: u32) {
        let (event, _) = self.event(label, source, None);
        // An access that was to have more cells than it has stands for nothing.
        if self.state.graph.event(event).label != label {
            self.state.graph.replace(event, label, source);
        }
    }

    /// Brings the thread to a barrier: its gate, and the event.
    fn arrive(&mut self, barrier: &Barrier, label: Label, source: u32, may_wait: bool) -> (EventId, Option<usize>) {
        let (event, new) = self.event(label, source, None);
        self.run.heads.iter_mut().for_each(|head| head.effect = true);
        let state = &mut *self.state;
        let gate = if new { Some(state.arrive(self.thread, event, barrier)) } else { state.gate_of(event) };
        meet(&mut self.run.heads, event, gate.filter(|_| may_wait), &barrier.members);
        (event, gate)
    }

    fn barrier(&mut self, barrier: &Barrier, label: Label, source: u32) -> Option<Status> {
        let (event, gate) = self.arrive(barrier, label, source, barrier.waits);
        // Where the thread stands at the barrier, the event is done, except for passing.
        gate.filter(|&gate| barrier.waits && !self.state.passed(gate, event)).map(Status::AtBarrier)
    }

    fn exchange(&mut self, barrier: &Barrier, exchange: Exchange, source: u32) {
        let (event, gate) = self.arrive(barrier, Label::fence(Level::Thread), source, true);
        if let Some(gate) = gate {
            self.state.gates[gate].bring(self.thread, exchange);
            self.run.stands = Some(gate).filter(|&gate| !self.state.passed(gate, event));
        }
        self.answer(event);
    }

    /// Begins the first iteration of a loop.
    fn enter(&mut self, label: u32) {
        self.state.runners[self.thread].loops = true;
        self.run.process.mark_pending();
        self.run.heads.push(Head::new(label, self.run.process.clone()));
    }

    /// Begins another iteration of a loop, if the search is to follow it.
    fn back_edge(&mut self, label: u32, source: u32, waits: bool, ends: bool) -> Option<Status> {
        let run = &mut self.run;
        let Some(at) = run.heads.iter().position(|head| head.label == label) else {
            // Compilers turn loops round: the first iteration may begin in the middle.
            self.enter(label);
            return None;
        };
        run.heads.truncate(at + 1);
        let comes_round = !run.speculative && comes_round(self.state, self.thread, &run.heads[at], &run.process);
        let rounds = if comes_round { run.heads[at].rounds + 1 } else { 0 };
        let head = &mut run.heads[at];
        // What is still to be read is the same in both states where it bears the mark that it had.
        let repeats = !head.effect && !run.process.any_unmarked() && run.process.repeats(&head.process);
        if repeats && run.process == head.process {
            return Some(Status::Spins);
        }
        let is_idle = !head.looked && !head.effect;
        let is_kept = (1..=MOST_ROUNDS).contains(&rounds);
        // An iteration that looks at nothing others write, of a loop that ends, is one of a loop with a bound.
        let counts = head.looked || !ends || run.back_edges > MOST_ENDING_ITERATIONS;
        head.iterations += u32::from(waits && !is_idle && !is_kept && counts);
        let idle = if is_idle { head.idle + u32::from(waits) } else { 0 };
        run.back_edges += 1;
        let runner = &mut self.state.runners[self.thread];
        runner.bounded_at = Some(source);
        if run.back_edges > MOST_BACK_EDGES || idle > MOST_IDLE_ITERATIONS {
            return Some(Status::Endless);
        }
        if head.iterations > self.setup.loop_bound {
            // Only the number of the iteration is another one, by which a barrier in the loop would tell it apart from
            // that of other threads: what comes of that has shown by now.
            return Some(if repeats { Status::Spins } else { Status::Bounded });
        }
        run.process.mark_pending();
        let (iterations, round) = (head.iterations, head.round.take());
        *head = Head { iterations, idle, rounds, ..Head::new(label, run.process.clone()) };
        let round = round.filter(|_| rounds > 0)?;
        runner.repeated.extend(round.looks());
        (rounds > MOST_ROUNDS).then(|| {
            runner.round = Some(round);
            Status::GoesRound
        })
    }

    /// Takes back the accesses that an earlier run has added behind the place where the thread ends: they turned out to
    /// be out of bounds, or belong to an iteration that never begins.
    fn skip_rest(&mut self, status: Status) {
        if !matches!(status, Status::Done | Status::Halted | Status::Spins) {
            return;
        }
        let trail = &mut self.state.runners[self.thread].trail;
        for skipped in trail.split_off(self.run.at.min(trail.len())) {
            self.state.graph.replace(skipped, Label::fence(Level::Thread), u32::MAX);
        }
    }

    /// The next event of the thread: the one added by an earlier run, a promised one, or a new one. `what` is the
    /// address of a read or store, and the value that is stored.
    fn event(&mut self, label: Label, source: u32, what: Option<(Address, Option<u64>)>) -> (EventId, bool) {
        let (state, thread, at) = (&mut *self.state, self.thread, self.run.at);
        let mut known = state.runners[thread].trail.get(at).copied();
        // The thread does not perform an access that it ran ahead to with an unknown index which turned out to be out
        // of bounds.
        while let Some(skipped) = known.filter(|&known| state.graph.event(known).source != source) {
            state.graph.replace(skipped, Label::fence(Level::Thread), u32::MAX);
            state.runners[thread].trail.remove(at);
            known = state.runners[thread].trail.get(at).copied();
        }
        let event = known.unwrap_or_else(|| {
            let event = take_or_insert(self.setup, state, thread, label, source, what);
            state.runners[thread].trail.push(event);
            event
        });
        self.run.at += 1;
        self.run.heads.iter_mut().for_each(|head| head.first = head.first.or(Some(event)));
        (event, known.is_none())
    }

    /// Answers a read; the thread will be run again from the first read without a value.
    fn answer(&mut self, read: EventId) {
        let (state, run) = (&mut *self.state, &mut self.run);
        let value = state.graph.event(read).value;
        if value.is_none() && !run.speculative {
            run.speculative = true;
            let runner = &mut state.runners[self.thread];
            runner.process = run.process.clone();
            runner.heads = run.heads.clone();
            runner.waiting = Some(read);
            // Everything that was run before is decided. The write of a waiting update is repeated with its read.
            runner.trail.drain(..run.at);
            run.at = 0;
        }
        run.process.answer_read(value, state.graph.finds_unwritten(read));
        changed(run, state, read);
    }
}

/// Records the effect of an update on the open loops: one that leaves the value unchanged has none.
fn changed(run: &mut Run<'_>, state: &SearchState<'_>, read: EventId) {
    let Some(write) = state.graph.other_half(read) else { return };
    let mixed = state.is_mixed(state.graph.event(read).location);
    let idle = match (state.graph.event(read).value, state.graph.event(write).value) {
        (Some(old), Some(new)) => old == new && state.graph.event(write).label.atomic && !mixed,
        (None, _) | (_, None) => false,
    };
    for head in &mut run.heads {
        head.effect |= !idle;
        match &mut head.round {
            Some(round) if idle => round.idle.push(write),
            round => *round = None,
        }
    }
}
