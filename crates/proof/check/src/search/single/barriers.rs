//! What orders threads: the barriers of their blocks, and launches that end before theirs begins.

use std::collections::HashMap;
use std::sync::Arc;

use wattle_memory::{Classes, EventId, Label, Level, ThreadId};

use super::super::boundaries::lists;
use super::super::process::{Barrier, Members};
use super::{Families, Runs, Setup, Status};

impl Runs<'_, '_> {
    /// Lets a thread arrive at the barrier of its block, or of one group of its threads; other barriers are not
    /// treated.
    pub(super) fn arrive(&mut self, thread: ThreadId, barrier: Barrier, label: Label, source: u32) -> Option<()> {
        let (Members::Threads(members) | Members::Remaining(members)) = &barrier.members else { return None };
        let whole = **members == *self.blocks[self.runners[thread].block];
        let full = Label::barrier(label.level);
        let about = if self.setup.model.has_classes() { label.semantics } else { full.semantics };
        let orders =
            Label { semantics: about, ..label } == Label { semantics: about, ..full } && label.level >= Level::Block;
        if !orders || !barrier.waits {
            return None;
        }
        let of_block = whole && barrier.resource == 0;
        if !of_block {
            let all = about == full.semantics || !self.setup.model.has_classes();
            self.join_group(thread, members).filter(|()| all)?;
        }
        self.has_effect(thread);
        self.order.barriers = true;
        self.event(thread, label, source, None);
        let runner = &mut self.runners[thread];
        runner.status = if of_block { Status::AtBarrier } else { Status::AtGroupBarrier };
        runner.arrival = Some((barrier, about));
        Some(())
    }

    /// Makes a thread one of a group of threads of its block; `None` where it is one of another group.
    fn join_group(&mut self, thread: ThreadId, members: &Arc<[ThreadId]>) -> Option<()> {
        let block = |thread: ThreadId| self.runners[thread].block;
        if !members.contains(&thread) || members.iter().any(|&member| block(member) != block(thread)) {
            return None;
        }
        let group = match self.runners[thread].group {
            Some(group) => group,
            None => self.groups.iter().position(|known| known == members).unwrap_or_else(|| {
                self.groups.push(members.clone());
                self.groups.len() - 1
            }),
        };
        self.runners[thread].group = Some(group);
        (self.groups[group] == *members).then_some(())
    }

    /// Opens the barriers at which all threads of a group stand; `None` where they stand at different ones.
    pub(super) fn open_group_barriers(&mut self) -> Option<bool> {
        let mut opened = false;
        for threads in self.groups.clone() {
            // Those that have ended would order nothing, though the others pass.
            if threads.iter().all(|&thread| self.runners[thread].status == Status::AtGroupBarrier) {
                self.meet_all(&threads)?;
                threads.iter().for_each(|&thread| self.runners[thread].round += 1);
                opened = true;
            }
        }
        Some(opened)
    }

    /// Lets threads that stand at a barrier pass it together, and returns the storage classes that all of them name;
    /// `None` where they stand at different ones.
    fn meet_all(&mut self, threads: &[ThreadId]) -> Option<Classes> {
        let arrivals = threads.iter().filter_map(|&thread| self.runners[thread].arrival.take());
        let (arrivals, about): (Vec<Barrier>, Vec<Classes>) = arrivals.unzip();
        // What threads that stand at different statements order is what each of them names.
        self.order.other |= about.iter().any(|one| *one != about[0]);
        let about = about.iter().fold(Classes(u8::MAX), |all, one| Classes(all.0 & one.0));
        if arrivals.iter().any(|arrival| arrival.instance != arrivals[0].instance) {
            return None;
        }
        self.apart |= converge(&arrivals)? == Meeting::Apart;
        threads.iter().for_each(|&thread| self.runners[thread].status = Status::Ready);
        if let Some(graph) = &mut self.graph {
            let events = threads.iter().filter_map(|&thread| self.runners[thread].last_event);
            let events: Vec<EventId> = events.collect();
            for (&before, &after) in events.iter().flat_map(|a| events.iter().map(move |b| (a, b))) {
                if before != after {
                    graph.synchronize_barrier(before, after);
                }
            }
        }
        Some(about)
    }

    /// Opens the barriers at which all threads of a block stand; `None` where they stand at different ones.
    pub(super) fn open_barriers(&mut self) -> Option<bool> {
        let mut opened = false;
        for block in 0..self.blocks.len() {
            if !self.blocks[block].iter().all(|&thread| self.runners[thread].status == Status::AtBarrier) {
                continue;
            }
            let threads = self.blocks[block].clone();
            let about = self.meet_all(&threads)?;
            self.pass(block, about);
            opened = true;
        }
        Some(opened)
    }

    /// Starts the threads whose predecessors have all ended.
    pub(super) fn start_threads(&mut self) -> bool {
        let done: Vec<bool> = self.runners.iter().map(|runner| runner.status == Status::Done).collect();
        let mut begins = Vec::new();
        let mut last: Option<(&[ThreadId], bool)> = None;
        for (thread, spawn) in self.setup.threads.iter().enumerate() {
            if self.runners[thread].status != Status::NotStarted {
                continue;
            }
            let ended = match last {
                Some((after, ended)) if std::ptr::eq(after, &*spawn.after) => ended,
                _ => spawn.after.iter().all(|&earlier| done[earlier]),
            };
            last = Some((&spawn.after, ended));
            if ended {
                begins.push(thread);
            }
        }
        for &thread in &begins {
            self.runners[thread].status = Status::Ready;
        }
        if self.graph.is_some() {
            let mut open = &begins[..];
            while let Some(&first) = open.first() {
                let after = &self.setup.threads[first].after;
                let len = open.iter().take_while(|&&thread| self.setup.threads[thread].after == *after).count();
                self.show_launch(after, &open[..len]);
                open = &open[len..];
            }
        }
        !begins.is_empty()
    }
}

/// How the threads of a block meet at a barrier.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::search) enum Meeting {
    /// All at the same instance of the same statement.
    Together,
    /// Each group at one, and some groups at others.
    Apart,
}

/// How the threads meet; `None` where those of one group are at different instances, and never pass.
pub(in crate::search) fn converge(arrivals: &[Barrier]) -> Option<Meeting> {
    let converging = || arrivals.iter().filter_map(|arrival| arrival.converges);
    let mut instances = HashMap::new();
    let together = converging().all(|one| *instances.entry(one.group).or_insert(one.instance) == one.instance);
    let Some(first) = converging().next() else { return Some(Meeting::Together) };
    let apart = converging().any(|one| one.instance != first.instance);
    together.then_some(if apart { Meeting::Apart } else { Meeting::Together })
}

/// The families of the threads, and the family of each.
pub(in crate::search) fn families(setup: &Setup<'_>) -> (Families, Vec<usize>) {
    let (lists, list_of) = lists(setup);
    let mut listed = vec![Vec::new(); setup.threads.len()];
    for (number, list) in lists.iter().enumerate() {
        list.iter().for_each(|&thread| listed[thread].push(number));
    }
    let mut keys: HashMap<(usize, &[usize]), usize> = HashMap::new();
    let mut members: Vec<ThreadId> = Vec::new();
    let of: Vec<usize> = (0..setup.threads.len())
        .map(|thread| {
            *keys.entry((list_of[thread], &listed[thread][..])).or_insert_with(|| {
                members.push(thread);
                members.len() - 1
            })
        })
        .collect();
    // What ends before something that ends before a family ends before it too.
    let mut before = vec![vec![false; members.len()]; members.len()];
    for (family, &member) in members.iter().enumerate() {
        let mut open: Vec<ThreadId> = vec![member];
        while let Some(thread) = open.pop() {
            for &earlier in lists[list_of[thread]] {
                if !std::mem::replace(&mut before[family][of[earlier]], true) {
                    open.push(earlier);
                }
            }
        }
    }
    (Families { before }, of)
}
