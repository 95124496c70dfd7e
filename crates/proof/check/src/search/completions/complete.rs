//! Running one completion: each action of the thread is added to the path, and a read that may return several values
//! splits it.

use std::collections::VecDeque;

use wattle_memory::{EventId, Label, stop};

use super::super::agreement::Act;
use super::super::forwarding::{Forwarded, synchronizes};
use super::super::process::{AccessTarget, Action, Address, Change, Exchange, Written};
use super::listed::without_dead;
use super::{CompletionPath, Completions, Given, MOST, MOST_TURNS};

/// The outcome of running a completion.
pub(super) enum Outcome {
    /// The completion ran to its end, or to where the thread may wait for ever.
    Ended,
    /// The completion is longer than the limit.
    Cut,
    /// The completion needs a value that cannot be determined.
    Unknown,
}

impl<'w> Completions<'_, 'w> {
    /// Runs a path to the end of the completion, and keeps the alternatives for later.
    pub(super) fn complete(
        &mut self,
        path: &mut CompletionPath<'w>,
        open: &mut VecDeque<CompletionPath<'w>>,
    ) -> Outcome {
        loop {
            let Some(left) = self.left.checked_sub(1) else { return Outcome::Cut };
            self.left = left;
            if left.is_multiple_of(256) && stop::requested() {
                return Outcome::Cut;
            }
            let ended = match path.process.advance() {
                Action::Read { target, label, source } => {
                    self.read(path, open, target, label, source);
                    None
                }
                Action::Update { target, change, read, write, source } => {
                    self.update(path, open, target, change, [read, write], source);
                    None
                }
                Action::Write { target, value, label, source } => {
                    self.write(path, target, value, label, source);
                    None
                }
                Action::Fence { label, source } => {
                    self.fence(path, label, source);
                    None
                }
                Action::Barrier { source, .. } => self.barrier(path, source),
                Action::Exchange { exchange, source, .. } => self.exchange(path, exchange, source),
                Action::LoopHead { label } => {
                    self.enter_loop(path, label);
                    None
                }
                Action::BackEdge { label, ends, .. } => self.turn(path, label, ends),
                Action::NeedsValue => self.take_ways(path, open),
                Action::Fault { .. } => None,
                Action::Halt | Action::Done => Some(Outcome::Ended),
            };
            if let Some(outcome) = ended {
                return outcome;
            }
        }
    }

    /// Adds a read to the path, and answers it.
    fn read(
        &mut self,
        path: &mut CompletionPath<'w>,
        open: &mut VecDeque<CompletionPath<'w>>,
        target: Option<AccessTarget>,
        label: Label,
        source: u32,
    ) {
        let event = self.event(path, source);
        let known = |event: EventId| self.state.graph.event(event).location.is_some();
        let act = if event.is_some_and(known) { Act::Other { events: 1 } } else { Act::Read { target, label, source } };
        self.act(path, act);
        let promised = event.is_none().then(|| self.promised(path)).flatten();
        let id = event.or(promised).unwrap_or(usize::MAX);
        self.answer(path, id, target.map(|target| target.address), label, open);
        path.loops.iter_mut().for_each(|(_, looked)| *looked |= label.atomic);
    }

    /// Adds a read-modify-write to the path, and answers its read.
    fn update(
        &mut self,
        path: &mut CompletionPath<'w>,
        open: &mut VecDeque<CompletionPath<'w>>,
        target: Option<AccessTarget>,
        change: Change,
        [read, write]: [Label; 2],
        source: u32,
    ) {
        let (first, second) = (self.event(path, source), self.event(path, source));
        let known = |event: EventId| self.state.graph.event(event).value.is_some();
        let act = if first.is_none() || second.is_some_and(|write| !known(write)) {
            Act::Update { target, change, read, write, source }
        } else {
            Act::Other { events: 2 }
        };
        self.act(path, act);
        let promised = first.is_none().then(|| self.promised(path)).flatten();
        let address = target.map(|target| target.address);
        path.reads.retain(|(at, ..)| Some(*at) != address);
        path.stored.store(address, None);
        // Nobody knows yet whether it succeeds.
        let label = change.strongest_label(read);
        path.changing = Some(change);
        self.answer(path, first.or(promised).unwrap_or(usize::MAX), address, label, open);
        path.reads.retain(|(at, ..)| Some(*at) != address);
        path.loops.iter_mut().for_each(|(_, looked)| *looked = true);
    }

    /// Adds a store to the path, whose value later reads of the thread may get.
    fn write(
        &self,
        path: &mut CompletionPath<'w>,
        target: Option<AccessTarget>,
        value: Option<u64>,
        label: Label,
        source: u32,
    ) {
        path.writes += 1;
        let event = self.event(path, source);
        let done = event.is_some_and(|event| self.state.graph.event(event).value.is_some());
        let act = if done { Act::Other { events: 1 } } else { Act::Store { target, value, label, source } };
        self.act(path, act);
        if event.is_none() {
            self.promised(path);
        }
        let address = target.map(|target| target.address);
        path.reads.retain(|(at, ..)| address.is_some_and(|address| address != *at));
        let plain = value.filter(|_| !label.atomic && !label.unwritten);
        path.stored.store(address, plain.map(|value| Forwarded { value, event }));
    }

    /// Adds a fence to the path.
    fn fence(&self, path: &mut CompletionPath<'w>, label: Label, source: u32) {
        let event = self.event(path, source);
        let act = if event.is_some() { Act::Other { events: 1 } } else { Act::Fence { label, source } };
        self.act(path, act);
        if event.is_none() {
            self.promised(path);
        }
        if synchronizes(label) {
            path.reads.clear();
            path.stored.synchronize();
        }
    }

    /// Passes a barrier, or ends the path there: a barrier that the thread has not passed may never open.
    fn barrier(&self, path: &mut CompletionPath<'w>, source: u32) -> Option<Outcome> {
        let event = self.event(path, source);
        let passed = |event| self.state.gate_of(event).is_none_or(|gate| self.state.passed(gate, event));
        if !event.is_some_and(passed) {
            path.is_open = true;
            return Some(Outcome::Ended);
        }
        self.act(path, Act::Other { events: 1 });
        path.reads.clear();
        path.stored.synchronize();
        None
    }

    /// Answers an operation of the thread's warp, or ends the path there: nothing is known of a result to which the
    /// thread has not run ahead, nor whether all lanes come.
    fn exchange(&self, path: &mut CompletionPath<'w>, exchange: Exchange, source: u32) -> Option<Outcome> {
        path.is_open = true;
        let Some(event) = self.event(path, source) else {
            path.met = true;
            return Some(Outcome::Ended);
        };
        let Some(gate) = self.state.gate_of(event) else { return Some(Outcome::Ended) };
        let is_known = self.state.has_brought(gate, event);
        let act = if is_known { Act::Other { events: 1 } } else { Act::Exchange { exchange } };
        self.act(path, act);
        if !self.state.passed(gate, event) {
            return Some(Outcome::Ended);
        }
        path.process.answer(self.state.graph.event(event).value);
        path.is_open = false;
        None
    }

    /// Enters a loop that may go on for ever.
    fn enter_loop(&self, path: &mut CompletionPath<'w>, label: u32) {
        if matches!(self.given, Given::Each { .. }) {
            path.heads.retain(|(open, ..)| *open != label);
            path.heads.push((label, without_dead(&path.process), path.writes));
        }
        path.loops.retain(|(open, _)| *open != label);
        if path.at >= self.runner.trail.len() {
            path.loops.push((label, false));
        }
    }

    /// Begins a loop again, or ends the path there, if the thread may wait in the loop for ever.
    fn turn(&self, path: &mut CompletionPath<'w>, label: u32, ends: bool) -> Option<Outcome> {
        if path.at < self.runner.trail.len() {
            return None;
        }
        path.turns += u32::from(ends);
        if ends && path.turns <= MOST_TURNS {
            return None;
        }
        path.is_open = !self.is_as_before(path, label);
        // A loop entered before may have read anything.
        let Some(at) = path.loops.iter().position(|(open, _)| *open == label) else {
            return Some(Outcome::Ended);
        };
        path.loops.truncate(at + 1);
        if path.loops[at].1 {
            return Some(Outcome::Ended);
        }
        path.is_open = false;
        None
    }

    /// Takes one way on from where control needs a value that is not known, and keeps the others for later.
    fn take_ways(&self, path: &mut CompletionPath<'w>, open: &mut VecDeque<CompletionPath<'w>>) -> Option<Outcome> {
        let Some(mut ways) = path.process.ways() else { return Some(Outcome::Unknown) };
        let Some(first) = ways.pop() else { return Some(Outcome::Unknown) };
        let most = (MOST + 1).saturating_sub(open.len());
        open.extend(ways.into_iter().take(most).map(|process| CompletionPath { process, ..path.clone() }));
        path.process = first;
        None
    }

    /// The event to which the thread has run ahead, if it has. An access that is out of bounds in this completion has
    /// none.
    fn event(&self, path: &mut CompletionPath<'w>, source: u32) -> Option<EventId> {
        loop {
            let event = self.runner.trail.get(path.at).copied();
            path.at += 1;
            if event.is_none_or(|event| self.state.graph.event(event).source == source) {
                break event;
            }
            self.act(path, Act::Other { events: 1 });
        }
    }

    /// Adds an action, whose events have been taken. Its place counts at once: the alternatives of a read are copies of
    /// the path as it is then.
    fn act(&self, path: &mut CompletionPath<'w>, act: Act) {
        path.acts.push(act);
        if path.at <= self.runner.trail.len() {
            path.ahead = path.acts.len();
        }
    }

    /// The event as which the path's last action was promised, if it was.
    fn promised(&self, path: &mut CompletionPath<'w>) -> Option<EventId> {
        let event = self.runner.promised.get(path.kept).copied()?;
        let found = path.acts.last().is_some_and(|act| act.is(self.setup.model, self.state, event));
        path.kept += usize::from(found);
        found.then_some(event)
    }

    /// Answers a read with its first value, and keeps the alternatives for later.
    pub(super) fn answer(
        &mut self,
        path: &mut CompletionPath<'w>,
        event: EventId,
        address: Option<Address>,
        label: Label,
        open: &mut VecDeque<CompletionPath<'w>>,
    ) {
        let graph = &self.state.graph;
        let known = (event < graph.len()).then(|| graph.event(event).value).flatten();
        let tied = path.reads.iter().find(|(at, ..)| Some(*at) == address).map(|&(_, earlier, value)| (earlier, value));
        let merged = self.state.ties.iter().find(|&&(_, later)| later == event);
        let known = known.or_else(|| graph.event(merged?.0).value);
        let may_tie = known.is_none();
        let stored = address.filter(|_| !label.atomic).and_then(|address| path.stored.at(address));
        let answers: Vec<Option<u64>> = match (known, self.given, address) {
            (Some(value), ..) => vec![Some(value)],
            // A read that the thread has not reached returns the same value, or the thread does not do what is promised
            // here.
            (None, Given::Present | Given::Merged(_) | Given::Each { .. }, _) if stored.is_some() => {
                let store = stored.and_then(|stored| stored.event).filter(|_| event < graph.len());
                path.ties.extend(store.map(|store| (store, event)));
                vec![stored.map(|stored| stored.value)]
            }
            (None, Given::Present | Given::Merged(_) | Given::Each { merged: true, .. }, _)
                if may_tie && tied.is_some() =>
            {
                let there = |(earlier, _): &(EventId, u64)| *earlier < graph.len() && event < graph.len();
                path.ties.extend(tied.filter(there).map(|(earlier, _)| (earlier, event)));
                vec![tied.map(|(_, value)| value)]
            }
            (None, Given::Anything, _) | (None, _, None) => vec![None],
            (None, Given::Present, Some(address)) => self.present(address),
            (None, Given::Possible(values), Some(address)) => {
                values.all(address).map_or_else(|| vec![None], |values| values.iter().copied().map(Some).collect())
            }
            (None, Given::Merged(values) | Given::Each { values, .. }, Some(address)) => {
                let mut all = self.present(address);
                all.extend(values.some(address).iter().copied().map(Some));
                all.sort_unstable();
                all.dedup();
                all
            }
        };
        // An acquire orders what comes after it.
        if label.acquire {
            path.reads.clear();
            path.stored.synchronize();
        }
        let take = |path: &mut CompletionPath<'w>, answer: Option<u64>| {
            path.process.answer(answer);
            let written = path.changing.take().map(|change| change.written(answer));
            path.writes += usize::from(written.is_some_and(|written| !matches!(written, Written::Nothing)));
            if let (Some(value), Some(address), true, false) = (answer, address, may_tie, label.acquire) {
                path.reads.retain(|(at, ..)| *at != address);
                path.reads.push((address, event, value));
            }
        };
        for &answer in &answers[1..] {
            // Further completions are not compared.
            if open.len() > MOST {
                break;
            }
            let mut other = path.clone();
            take(&mut other, answer);
            if self.is_new(&mut other) {
                open.push_back(other);
            }
        }
        take(path, answers[0]);
        self.is_new(path);
    }

    /// The values of the present writes of a place.
    fn present(&self, address: Address) -> Vec<Option<u64>> {
        let Some(cell) = self.state.cells.get(&address) else {
            return vec![Some(self.setup.memory.initial(address).value)];
        };
        let mut values: Vec<Option<u64>> =
            self.state.writes[cell.location].iter().map(|&write| self.state.graph.event(write).value).collect();
        values.sort_unstable();
        values.dedup();
        values
    }
}
