//! The completions of a thread one by one, for the search that takes no notice of dependencies.

use rustc_hash::FxHashMap;

use super::super::Setup;
use super::super::agreement::Agreement;
use super::super::state::SearchState;
use super::super::thread::Thread;
use super::super::values::Values;
use super::{CompletionPath, Completions, Given, MOST, MOST_ACTIONS, Outcome};

/// The completions of a thread that waits for a read.
pub(in super::super) struct Ways {
    /// What the thread does, and whether it may do more behind that: it waits for others, or is in a loop of which
    /// another turn may change something.
    pub ways: Vec<(Agreement, bool)>,
    /// Whether these are all.
    pub are_all: bool,
}

/// Each completion of a thread that waits for a read.
pub(in super::super) fn each(setup: &Setup<'_>, state: &SearchState<'_>, thread: usize, values: &Values) -> Ways {
    let mut found = Ways { ways: Vec::new(), are_all: values.are_whole() };
    for merged in [true, false] {
        let (runner, given) = (&state.runners[thread], Given::Each { values, merged });
        let mut completions =
            Completions { setup, state, runner, given, left: MOST_ACTIONS, seen: FxHashMap::default() };
        let mut open = completions.begin().unwrap_or_default();
        for _ in 0..MOST {
            let Some(mut path) = open.pop_front() else { break };
            if let Outcome::Ended = completions.complete(&mut path, &mut open) {
                let is_open = path.is_open;
                let next = completions.alone(path);
                match found.ways.iter_mut().find(|(known, _)| known.is_same(&next)) {
                    Some((_, known)) => *known |= is_open,
                    None => found.ways.push((Agreement { ties: Vec::new(), ..next }, is_open)),
                }
            } else {
                found.are_all = false;
            }
        }
        found.are_all &= merged || open.is_empty();
    }
    found
}

/// A thread without the values that it will not use again.
pub(super) fn without_dead<'w>(thread: &Thread<'w>) -> Thread<'w> {
    let mut thread = thread.clone();
    thread.forget_dead();
    thread
}

impl<'w> Completions<'_, 'w> {
    /// Whether no other path is the same from here on.
    pub(super) fn is_new(&mut self, path: &mut CompletionPath<'w>) -> bool {
        match self.given {
            Given::Anything | Given::Present | Given::Possible(_) | Given::Merged(_) => return true,
            Given::Each { .. } => path.process.forget_dead(),
        }
        let alike = self.seen.entry(path.process.digest()).or_default();
        let is_new = !alike.iter().any(|(process, acts)| *process == path.process && *acts == path.acts);
        if is_new {
            alike.push((path.process.clone(), path.acts.clone()));
        }
        is_new
    }

    /// Whether a thread that goes back to the head of a loop is what it was there, and has written nothing since.
    pub(super) fn is_as_before(&self, path: &CompletionPath<'w>, label: u32) -> bool {
        let before = path.heads.iter().find(|(of, ..)| *of == label).map(|(_, head, writes)| (head.clone(), *writes));
        let earlier = || self.runner.heads.iter().find(|head| head.label == label);
        let before = before.or_else(|| Some((without_dead(&earlier()?.process), 0)));
        let is_same = |(head, writes)| writes == path.writes && without_dead(&path.process) == head;
        matches!(self.given, Given::Each { .. }) && before.is_some_and(is_same)
    }
}
