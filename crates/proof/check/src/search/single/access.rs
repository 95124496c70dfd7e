//! Accesses of the cells, against the last ones of other threads.

use wattle_ir::AtomicOp;
use wattle_memory::{Kind, Label, Level, ThreadId};

use super::super::process::{AccessTarget, Change, Written};
use super::commuting::with_sum;
use super::wrong::ReachedAccess;
use super::{Accesses, Cell, Commuting, Epoch, Past, Recent, Runner, Runs, Updates};

impl Runs<'_, '_> {
    /// Whether an earlier access comes before what a thread does now.
    pub(super) fn is_before(&self, earlier: Epoch, thread: ThreadId, class: usize) -> bool {
        if earlier.thread == thread {
            return true;
        }
        let (first, second) = (&self.runners[earlier.thread], &self.runners[thread]);
        self.families.before[second.family][first.family]
            || (first.block == second.block && earlier.phase < second.phases[class])
            || self.passed_since(earlier, thread)
    }

    /// Whether the two threads have passed a barrier of their group since an access of the first one.
    fn passed_since(&self, earlier: Epoch, thread: ThreadId) -> bool {
        self.are_together(earlier.thread, thread) && earlier.round < self.runners[thread].round
    }

    /// Whether two threads are of one group.
    fn are_together(&self, first: ThreadId, second: ThreadId) -> bool {
        let group = self.runners[first].group;
        group.is_some() && group == self.runners[second].group
    }

    /// Whether all accesses come before what a thread does now.
    pub(super) fn are_before(&self, accesses: &Accesses, thread: ThreadId, class: usize) -> bool {
        let own = |recent: &Recent| recent.other.is_none() && recent.last.thread == thread;
        accesses.iter().all(|(block, recent)| {
            own(recent)
                || self.families.before[self.runners[thread].family][self.runners[recent.last.thread].family]
                || (*block == self.runners[thread].block && recent.last.phase < self.runners[thread].phases[class])
                || (recent.together && self.passed_since(recent.last, thread))
        })
    }

    /// Adds an access of a thread to those of its cell. Those before it need not be kept.
    pub(super) fn add(&self, accesses: &mut Accesses, thread: ThreadId, class: usize, atomic: bool) {
        let Runner { block, .. } = self.runners[thread];
        let last = self.epoch(thread, class, atomic);
        let alone = Recent { last, other: None, together: true };
        match accesses.iter_mut().find(|(of, _)| *of == block) {
            Some((_, recent)) if recent.last.phase == last.phase => {
                // The threads of a group pass its barriers together, so the last one of them has passed as many as any.
                let is_own = recent.last.thread == thread;
                let together = recent.together && (is_own || self.are_together(recent.last.thread, thread));
                if together && recent.last.round < last.round {
                    *recent = alone;
                } else {
                    let other = if is_own { recent.other } else { Some(recent.last) };
                    *recent = Recent { last, other, together };
                }
            }
            Some((_, recent)) => *recent = alone,
            None => accesses.push((block, alone)),
        }
    }

    /// What a thread does now.
    fn epoch(&self, thread: ThreadId, class: usize, atomic: bool) -> Epoch {
        let Runner { phases, round, .. } = self.runners[thread];
        Epoch { thread, phase: phases[class], round, source: self.last_source, atomic }
    }

    /// The number of the storage class of an access; `None` where it is of none that barriers are about.
    fn class(&self, label: Label) -> Option<usize> {
        match label.storage.0 {
            _ if !self.setup.model.has_classes() => Some(0),
            one if one.is_power_of_two() => Some(one.trailing_zeros() as usize),
            _ => None,
        }
    }

    /// The cell of an access. The first one adds it.
    pub(super) fn cell(&mut self, thread: ThreadId, target: AccessTarget, label: Label) -> Option<Cell> {
        let class = self.class(label)?;
        self.touch(thread, class)?;
        let mut cell = match self.cells.remove(&target.address) {
            Some(cell) => cell,
            None => {
                let initial = self.setup.memory.initial(target.address);
                let location =
                    self.graph.as_mut().map_or(0, |graph| graph.add_location(initial.value, initial.unwritten));
                Cell {
                    bytes: target.bytes,
                    reference: target.reference,
                    value: initial.value,
                    unwritten: initial.unwritten,
                    class,
                    private: false,
                    owner: Some(thread),
                    apart: false,
                    writer: None,
                    alike: Vec::new(),
                    past: None,
                    reads: Vec::new(),
                    updates: Vec::new(),
                    reads_atomic: true,
                    accessor: None,
                    commuting: None,
                    sum: None,
                    location,
                    written: self.graph.as_ref().map_or(0, |graph| graph.initial(location)),
                }
            }
        };
        cell.private |= label.private;
        let names = cell.reference == target.reference || !self.setup.model.has_references();
        cell.owner = cell.owner.filter(|owner| *owner == thread);
        // What private accesses find is what was there before the launch, as long as nobody writes.
        let is_only_read = label.kind == Kind::Read && cell.writer.is_none() && cell.updates.is_empty();
        cell.apart = cell.private && cell.owner.is_none() && !is_only_read;
        (cell.bytes == target.bytes && cell.class == class && names).then_some(cell)
    }

    /// Reads a cell, and answers the thread.
    pub(super) fn read(&mut self, thread: ThreadId, target: AccessTarget, label: Label, source: u32) -> Option<()> {
        let mut cell = self.cell(thread, target, label)?;
        let ordered = self.are_stores_before(&cell, thread) && self.are_before(&cell.updates, thread, cell.class);
        if cell.apart || !ordered && !self.is_one_of_several(&cell, thread, label) {
            return self.end_at(ReachedAccess { thread, target, label, source, value: cell.value }, &cell);
        }
        self.note_order(&mut cell, thread, label);
        self.add(&mut cell.reads, thread, cell.class, label.atomic);
        if cell.unwritten && !self.runners[thread].process.carries_unwritten() {
            self.cells.insert(target.address, cell);
            return self.end_wrong(thread);
        }
        let value = cell.value;
        if let Some(event) = self.event(thread, label, source, Some((cell.location, target.reference, value))) {
            self.graph.iter_mut().for_each(|graph| graph.set_source(event, cell.written));
        }
        self.runners[thread].process.answer_read(Some(value), cell.unwritten);
        self.cells.insert(target.address, cell);
        Some(())
    }

    pub(super) fn write(
        &mut self,
        thread: ThreadId,
        target: AccessTarget,
        value: u64,
        label: Label,
        source: u32,
    ) -> Option<()> {
        let mut cell = self.cell(thread, target, label)?;
        if !cell.apart && !self.is_exclusive(&cell, thread) && self.is_alike(&cell, thread, value, label, source) {
            self.alike.insert(source);
            self.add(&mut cell.alike, thread, cell.class, false);
            if let Some(event) = self.event(thread, label, source, Some((cell.location, target.reference, value))) {
                cell.written = event;
            }
            self.cells.insert(target.address, cell);
            return Some(());
        }
        if cell.apart || !self.is_exclusive(&cell, thread) && !self.is_one_of_several(&cell, thread, label) {
            return self.end_at(ReachedAccess { thread, target, label, source, value }, &cell);
        }
        self.note_order(&mut cell, thread, label);
        self.overwrite(&mut cell, thread, value, label);
        if let Some(event) = self.event(thread, label, source, Some((cell.location, target.reference, value))) {
            cell.written = event;
        }
        self.cells.insert(target.address, cell);
        Some(())
    }

    /// Whether all accesses of a cell come before what a thread does now.
    pub(super) fn is_exclusive(&self, cell: &Cell, thread: ThreadId) -> bool {
        self.are_stores_before(cell, thread)
            && self.are_before(&cell.reads, thread, cell.class)
            && self.are_before(&cell.updates, thread, cell.class)
    }

    /// Whether the last store of a cell, and those alike, come before what a thread does now.
    fn are_stores_before(&self, cell: &Cell, thread: ThreadId) -> bool {
        cell.writer.is_none_or(|writer| self.is_before(writer, thread, cell.class))
            && self.are_before(&cell.alike, thread, cell.class)
    }

    /// Whether a store writes what the statement has stored for other threads, where nothing orders these stores, and
    /// nobody has read or updated the cell since.
    fn is_alike(&self, cell: &Cell, thread: ThreadId, value: u64, label: Label, source: u32) -> bool {
        let is_past = |past: &Past| {
            past.writer.is_none_or(|writer| self.is_before(writer, thread, cell.class))
                && [&past.alike, &past.reads, &past.updates]
                    .into_iter()
                    .all(|accesses| self.are_before(accesses, thread, cell.class))
        };
        let Some(lanes) = self.setup.same_stores.filter(|lanes| lanes.stores(label)) else { return false };
        let place = |thread: ThreadId| self.setup.threads[thread].placement;
        let by_the_same = |writer: Epoch| {
            !writer.atomic && writer.source == source && lanes.are_together(place(writer.thread), place(thread))
        };
        cell.writer.is_some_and(by_the_same)
            && (cell.value, cell.unwritten, label.unwritten) == (value, false, false)
            && cell.reads.is_empty()
            && cell.updates.is_empty()
            && cell.past.as_deref().is_none_or(is_past)
    }

    /// Whether a run that is one of several goes on at an atomic access: nothing but atomic ones are unordered with it.
    fn is_one_of_several(&mut self, cell: &Cell, thread: ThreadId, label: Label) -> bool {
        let is_so = self.updates == Updates::OneOfSeveral && label.atomic && {
            let is_fine = |epoch: Epoch| epoch.atomic || self.is_before(epoch, thread, cell.class);
            let reads = cell.reads.iter().flat_map(|(_, recent)| [Some(recent.last), recent.other]).flatten();
            // Of the reads of a block the last two stand for all, which need not have been atomic.
            let reads_are = || cell.reads_atomic || self.are_before(&cell.reads, thread, cell.class);
            cell.writer.is_none_or(is_fine)
                && self.are_before(&cell.alike, thread, cell.class)
                && (label.kind == Kind::Read || (reads_are() && reads.into_iter().all(is_fine)))
        };
        self.failed |= is_so;
        is_so
    }

    pub(super) fn overwrite(&self, cell: &mut Cell, thread: ThreadId, value: u64, label: Label) {
        cell.reads_atomic = true;
        if self.setup.same_stores.is_some() {
            let [alike, reads, updates] = [&mut cell.alike, &mut cell.reads, &mut cell.updates].map(std::mem::take);
            cell.past = Some(Box::new(Past { writer: cell.writer, alike, reads, updates }));
        }
        cell.writer = Some(self.epoch(thread, cell.class, label.atomic));
        cell.alike.clear();
        cell.reads.clear();
        cell.updates.clear();
        cell.commuting = None;
        (cell.value, cell.unwritten) = (value, label.unwritten);
    }

    /// Does an update; returns the answer for the thread.
    pub(super) fn update(
        &mut self,
        thread: ThreadId,
        target: AccessTarget,
        change: Change,
        [read, write]: [Label; 2],
        source: u32,
    ) -> Option<Option<u64>> {
        let mut cell = self.cell(thread, target, write)?;
        if cell.unwritten {
            self.note_order(&mut cell, thread, read);
            self.add(&mut cell.reads, thread, cell.class, true);
            self.cells.insert(target.address, cell);
            return self.end_wrong(thread).map(|()| None);
        }
        let old = cell.value;
        if cell.apart {
            return self.end_at(ReachedAccess { thread, target, label: write, source, value: old }, &cell);
        }
        let commuting = match self.updates {
            Updates::Conflict | Updates::OneOfSeveral => None,
            Updates::Commute => {
                let is_store = matches!(change, Change::Apply { op: AtomicOp::Exchange, .. });
                Commuting::of(change, write.level).filter(|_| read.level == write.level && !is_store)
            }
        };
        let (commuting, sum) = with_sum(commuting, change, &cell);
        let written = match change.written(Some(old)) {
            Written::Unknown => return None,
            Written::Nothing => None,
            Written::Value(value) => Some(value),
        };
        let access = ReachedAccess { thread, target, label: write, source, value: written.unwrap_or(old) };
        match (commuting, written) {
            (Some(_), Some(value)) => {
                let alone = self.are_stores_before(&cell, thread) && self.are_before(&cell.reads, thread, cell.class);
                let is_one = cell.commuting == commuting && sum.is_some() == cell.sum.is_some();
                let among = is_one && self.reach_each_other(&cell, thread, write.level);
                if !alone || !(among || self.are_before(&cell.updates, thread, cell.class)) {
                    return self.end_at(access, &cell);
                }
                if cell.commuting != commuting {
                    cell.updates.clear();
                    cell.commuting = commuting;
                }
                self.add(&mut cell.updates, thread, cell.class, true);
                (cell.value, cell.sum) = (value, sum);
            }
            _ if !self.is_exclusive(&cell, thread) && !self.is_one_of_several(&cell, thread, write) => {
                return self.end_at(access, &cell);
            }
            (_, Some(value)) => self.overwrite(&mut cell, thread, value, write),
            (_, None) => self.add(&mut cell.reads, thread, cell.class, true),
        }
        self.note_order(&mut cell, thread, read);
        self.note_order(&mut cell, thread, write);
        let at = |value| Some((cell.location, target.reference, value));
        let first = self.event(thread, change.read_label(read, Some(old)), source, at(old));
        let second = written.and_then(|value| self.event(thread, write, source, at(value)));
        if let (Some(first), Some(graph)) = (first, &mut self.graph) {
            graph.set_source(first, cell.written);
            if let Some(second) = second {
                graph.join_halves(first, second);
                cell.written = second;
            }
        }
        self.cells.insert(target.address, cell);
        Some(commuting.is_none().then_some(old))
    }

    /// Whether the updates of a cell and one of this thread are in each other's scope, as far as nothing orders them.
    /// All have one scope, so one thread stands for those of its block.
    pub(super) fn reach_each_other(&self, cell: &Cell, thread: ThreadId, level: Level) -> bool {
        let place = self.setup.threads[thread].placement;
        cell.updates.iter().all(|(block, recent)| {
            let other = self.setup.threads[recent.last.thread].placement;
            self.families.before[self.runners[thread].family][self.runners[recent.last.thread].family]
                || (place.shares(&other, level) && level >= Level::Block)
                || (*block == self.runners[thread].block && recent.last.phase < self.runners[thread].phases[cell.class])
        })
    }
}
