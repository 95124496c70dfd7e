//! The actions of a module's threads on memory: by bytes, where those of Wattle's own kernels are by elements.

use wattle_memory::{Classes, FenceOrder, Label, Level, Scope};

use super::bytes::{Piece, Pieces};
use super::finding::{ElementName, Finding};
use super::gate::{Arrival, Meets};
use super::history::{Event, Extent};
use super::machine::Machine;
use super::module::{ModuleRun, Role};
use super::running::Running;
use super::shadow::Passing;
use super::simulator::Simulator;
use super::steps::Over;
use crate::search::{AccessTarget, Action, Change, Written};

/// An access to memory by a thread of a module.
#[derive(Clone, Copy)]
struct ByteAccess<'r> {
    run: &'r ModuleRun,
    target: AccessTarget,
    pieces: Pieces,
    source: u32,
    role: Role,
}

impl Simulator {
    /// Runs a thread of a module to its next action, and does that; returns why the run of steps is over, if it is.
    pub(super) fn act(&mut self, thread: &mut Running, run: &ModuleRun) -> Option<Over> {
        let Machine::Module(machine) = &mut thread.machine else { return Some(Over::Steps) };
        let action = machine.next();
        if let Some(why) = machine.why_not_judged() {
            return Some(Over::Unjudged(why));
        }
        match action {
            Action::Read { target: Some(target), label, source } => {
                let access = self.access(thread, run, target, source);
                let (value, unwritten) = self.value_of(thread, &access);
                self.look_for_copies(thread, &access, false);
                self.take_part(thread, &access, label, None, false);
                let Machine::Module(machine) = &mut thread.machine else { return Some(Over::Steps) };
                if unwritten == 0 {
                    machine.answer(value);
                } else if !machine.answer_unwritten(value, unwritten) {
                    self.report_unwritten(thread, &access);
                }
                self.mix(target.address.element ^ value);
            }
            Action::Write { target: Some(target), value: Some(value), label, source } => {
                let access = self.access(thread, run, target, source);
                self.take_part(thread, &access, label, None, true);
                self.set_value(&access, value, !label.unwritten);
                self.mix(target.address.element ^ value ^ 1 << 32);
            }
            Action::Update { target: Some(target), change, read, write, source } => {
                let access = self.access(thread, run, target, source);
                return self.update(thread, &access, change, [read, write]);
            }
            Action::Fence { label, .. } => self.pass_fence(thread, &label),
            Action::Barrier { barrier, label, source } => {
                return Some(Over::Gate(Arrival::new(thread, barrier, Meets::Barrier(label), run.module.site(source))));
            }
            Action::Exchange { barrier, exchange, source } => {
                return Some(match (exchange.value, exchange.operand) {
                    (Some(value), Some(operand)) => {
                        let meets =
                            Meets::Exchange { op: exchange.op, ty: exchange.ty, value, operand: operand as u32 };
                        Over::Gate(Arrival::new(thread, barrier, meets, run.module.site(source)))
                    }
                    (None, _) | (_, None) => Over::Unjudged(NOT_KNOWN.into()),
                });
            }
            Action::LoopHead { .. } => {}
            Action::BackEdge { label, .. } => {
                if let Some(addresses) = self.spins(thread, wattle_ir::Label(label)) {
                    return Some(Over::Spinning(addresses));
                }
            }
            Action::Fault { fault, source } => {
                let (what, site) = (run.module.fault(fault), run.module.site(source));
                self.wrong(thread, what, site);
            }
            Action::Done => return Some(Over::Ended),
            Action::Read { target: None, .. }
            | Action::Write { .. }
            | Action::Update { target: None, .. }
            | Action::NeedsValue
            | Action::Halt => return Some(Over::Unjudged(NOT_KNOWN.into())),
        }
        None
    }

    /// Does a read-modify-write, and answers it with the old value; returns why the run of steps is over, if it is.
    fn update(
        &mut self,
        thread: &mut Running,
        access: &ByteAccess<'_>,
        change: Change,
        [read, write]: [Label; 2],
    ) -> Option<Over> {
        let (old, unwritten) = self.value_of(thread, access);
        if unwritten != 0 {
            self.report_unwritten(thread, access);
        }
        self.look_for_copies(thread, access, true);
        let new = match change.written(Some(old)) {
            Written::Value(new) => Some(new),
            Written::Nothing => None,
            Written::Unknown => return Some(Over::Unjudged(NOT_KNOWN.into())),
        };
        self.take_part(thread, access, change.read_label(read, Some(old)), Some(write), new.is_some());
        if let Some(new) = new {
            self.set_value(access, new, true);
        }
        thread.machine.answer(old);
        let element = access.target.address.element;
        self.mix(element ^ old ^ new.map_or(2 << 32, |new| new.rotate_left(7) ^ 3 << 32));
        None
    }

    /// Passes a fence, in each class of memory that it orders.
    fn pass_fence(&mut self, thread: &mut Running, label: &Label) {
        self.mix(1);
        let Some(order) = fence_order(label) else { return };
        let Running { sync, block_sync, .. } = thread;
        if block_sync.is_none() || label.semantics.includes(Classes::BUFFER) {
            sync.fence(order, scope(label.level), &mut self.fences);
        }
        if let Some(sync) = block_sync.as_mut().filter(|_| label.semantics.includes(Classes::BLOCK)) {
            sync.fence(order, scope(label.level), &mut self.fences);
        }
    }

    fn access<'r>(&self, thread: &Running, run: &'r ModuleRun, target: AccessTarget, source: u32) -> ByteAccess<'r> {
        let block = self.blocks.get(thread.block as usize).and_then(Option::as_ref);
        let pieces = run.pieces(target, block.map_or(&[], |block| &block.shared));
        ByteAccess { run, target, pieces, source, role: run.module.role(source) }
    }

    fn wrong(&mut self, thread: &Running, what: String, site: wattle_ir::Site) {
        if let Some(launch) = self.launches.get_mut(thread.launch) {
            let actor = launch.actor(thread.sync.member.thread);
            launch.keep(Finding::Wrong { actor, what, site });
        }
    }

    /// The value that an access reads, and which of its bytes nobody has written: the lowest bit is the lowest byte's,
    /// and all bits are set where none of them is written.
    fn value_of(&mut self, thread: &mut Running, access: &ByteAccess<'_>) -> (u64, u8) {
        // Bytes that are none of an element's are padding of a struct.
        let all = u8::MAX >> (8 - access.target.bytes.min(8));
        let (mut unwritten, mut value) = (all, 0);
        for piece in access.pieces.iter() {
            let Some(allocation) = self.memories.at(piece.address) else { continue };
            let element = piece.address.element as usize;
            let (held, written) = (allocation.values.get(element), allocation.written.get(element));
            value |= piece.of_element(held.copied().unwrap_or(0));
            for byte in piece.extent.within(piece.size.into()) {
                if written.is_some_and(|written| written.has(byte..byte + 1)) {
                    unwritten &= !(1 << (byte as i32 - i32::from(piece.extent.first)));
                }
            }
            thread.log_read(piece.address);
        }
        (value, if unwritten == all { u8::MAX } else { unwritten })
    }

    /// Reports an access that has found unwritten memory.
    fn report_unwritten(&mut self, thread: &Running, access: &ByteAccess<'_>) {
        if let Some(launch) = self.launches.get_mut(thread.launch) {
            let finding = Finding::Unwritten {
                actor: launch.actor(thread.sync.member.thread),
                element: access.element(),
                shared: access.run.is_shared(access.target.address.memory),
                site: access.site(),
            };
            launch.keep(finding);
        }
    }

    fn set_value(&mut self, access: &ByteAccess<'_>, value: u64, is_written: bool) {
        for piece in access.pieces.iter() {
            let Some(allocation) = self.memories.at(piece.address) else { continue };
            let element = piece.address.element as usize;
            let (Some(held), Some(written)) = (allocation.values.get_mut(element), allocation.written.get_mut(element))
            else {
                continue;
            };
            let new = piece.into_element(*held, value);
            let changed = *held != new;
            *held = new;
            let bytes = piece.extent.within(piece.size.into());
            if is_written {
                written.add(bytes, piece.size.into())
            } else {
                written.remove(bytes)
            }
            if changed {
                self.changed(piece.address);
            }
        }
    }

    /// Passes on, records and keeps what an access does to the shadows of its elements. A read-modify-write has a
    /// second label, that of its write.
    fn take_part(
        &mut self,
        thread: &mut Running,
        access: &ByteAccess<'_>,
        label: Label,
        update: Option<Label>,
        writes: bool,
    ) {
        let ByteAccess { run, pieces, .. } = *access;
        let in_block = run.is_shared(access.target.address.memory);
        if in_block {
            thread.exchange_classes();
        }
        let reads = !writes || update.is_some();
        let release = update.unwrap_or(label);
        // A class of memory is ordered by the operations whose semantics have it.
        let (own, other) = if in_block { (Classes::BLOCK, Classes::BUFFER) } else { (Classes::BUFFER, Classes::BLOCK) };
        let acquires = |class| reads && label.acquire && label.semantics.includes(class);
        let releases = |class| writes && release.release && release.semantics.includes(class);
        // An atomic operation of the thread's own scope is one for nobody.
        let passing = (label.atomic && label.level != Level::Thread).then(|| Passing {
            scope: scope(label.level),
            reads,
            writes,
            acquires: acquires(own),
            releases: releases(own),
            extent: Extent::whole(access.target.bytes.into()),
            extends: run.extends_patterns,
            reduces: label.reduces,
        });
        let of = |piece: &Piece, passing: Passing| Passing { extent: piece.extent, ..passing };
        let mut linked = false;
        if let Some(passing) = passing.filter(|passing| passing.reads) {
            linked = pieces.iter().all(|piece| {
                let shadow = self.memories.shadow(piece.address, self.generation);
                let mut tracks = shadow.map(|shadow| shadow.tracks(piece.extent, piece.size.into()).iter());
                tracks.as_mut().is_some_and(|all| all.all(|track| track.links(&thread.sync, of(piece, passing))))
            });
            if let Some(piece) = pieces.first()
                && let Some(shadow) = self.memories.shadow(piece.address, self.generation)
                && let Some(track) = shadow.tracks(piece.extent, piece.size.into()).first_mut()
            {
                if linked {
                    track.observe(&mut thread.sync, of(piece, passing));
                    if let Some(sync) = &mut thread.block_sync {
                        track.observe_other(sync, passing.scope, acquires(other));
                    }
                }
                track.acquire_observed(&mut thread.sync, of(piece, passing));
            }
        }
        self.record_access(thread, access, label, passing.map(|passing| passing.scope), writes);
        for piece in pieces.iter().filter(|_| writes) {
            let Some(shadow) = self.memories.shadow(piece.address, self.generation) else { continue };
            let is_mark = access.role == Role::BeginsCopy;
            for track in shadow.tracks(piece.extent, piece.size.into()) {
                match passing {
                    Some(passing) => {
                        track.publish(&mut thread.sync, of(piece, passing), linked);
                        if let Some(sync) = &mut thread.block_sync {
                            track.publish_other(sync, passing.scope, releases(other));
                        }
                    }
                    None => track.store(&thread.sync, piece.extent, is_mark),
                }
            }
        }
        if in_block {
            thread.exchange_classes();
        }
    }

    /// Records an access, and adds a finding if it races, or if memory that has to be read-only is written.
    fn record_access(
        &mut self,
        thread: &Running,
        access: &ByteAccess<'_>,
        label: Label,
        scope: Option<Scope>,
        write: bool,
    ) {
        let Some(launch) = self.launches.get(thread.launch) else { return };
        let (first, end) = (launch.base, launch.end());
        let (mut race, mut uncached) = (None, None);
        for piece in access.pieces.iter() {
            let event = Event {
                member: thread.sync.member,
                epoch: thread.sync.now,
                site: access.site(),
                scope,
                write,
                extent: piece.extent,
                private: label.private,
            };
            let Some(shadow) = self.memories.shadow(piece.address, self.generation) else { continue };
            for track in shadow.tracks(piece.extent, piece.size.into()) {
                let found = track.record(event, &thread.sync);
                race = race.or(found.map(|first| (first, event)));
                if access.role == Role::ReadsReadOnly && !write {
                    let by_launch = |write: &super::shadow::Write| (first..end).contains(&write.member.thread);
                    uncached = uncached.or(track.last().filter(by_launch).map(|_| access.site()));
                    track.read_uncached(first, event);
                }
                if write {
                    uncached = uncached.or(track.uncached(first).map(|read| read.site));
                }
            }
        }
        if let Some((first, event)) = race {
            self.race(thread.launch, first, event, access.element());
        }
        if let Some(read) = uncached {
            let what = format!(
                "`{}` is read at {read} with `ld.global.nc`, for which it has to be read-only while the kernel runs, and the same \
                 launch writes it",
                access.place()
            );
            self.wrong(thread, what, access.site());
        }
    }

    /// Adds a finding where an access meets an asynchronous copy that is not complete: the target of one may be
    /// accessed again only after the wait that completes it.
    fn look_for_copies(&mut self, thread: &Running, access: &ByteAccess<'_>, writes: bool) {
        if !access.run.is_shared(access.target.address.memory) || access.role == Role::BeginsCopy {
            return;
        }
        let looks = access.role == Role::EndsCopy && !writes;
        let own = thread.sync.member.thread;
        let meets_copy = access.pieces.iter().any(|piece| {
            let Some(shadow) = self.memories.shadow(piece.address, self.generation) else { return false };
            let mut last = shadow.tracks(piece.extent, piece.size.into()).iter().map(|track| track.last());
            if looks {
                // It finds its own mark, unless somebody has written since.
                !last.all(|last| last.is_some_and(|write| write.is_mark && write.member.thread == own))
            } else {
                last.any(|last| last.is_some_and(|write| write.is_mark))
            }
        });
        if meets_copy {
            let what = format!(
                "`{}` is accessed between an asynchronous copy to it and the wait that completes the copy",
                access.place()
            );
            self.wrong(thread, what, access.site());
        }
    }
}

/// What a thread would need to go on, where that is not known.
const NOT_KNOWN: &str = "it depends on a value that is not known";

impl ByteAccess<'_> {
    fn place(&self) -> String {
        let AccessTarget { address, .. } = self.target;
        self.run.module.place(address.memory, address.element)
    }

    fn element(&self) -> ElementName {
        ElementName { place: self.place(), index: Vec::new(), path: "" }
    }

    fn site(&self) -> wattle_ir::Site {
        self.run.module.site(self.source)
    }
}

/// The scope of a level. That of a subgroup is taken for its block's, so that races of what only a subgroup orders are
/// not all found.
fn scope(level: Level) -> Scope {
    match level {
        Level::Thread | Level::Subgroup | Level::Block => Scope::Block,
        Level::QueueFamily | Level::Device => Scope::Device,
        Level::System => Scope::System,
    }
}

/// The order of a fence, if it has one.
fn fence_order(label: &Label) -> Option<FenceOrder> {
    match (label.acquire, label.release) {
        _ if label.sc => Some(FenceOrder::SeqCst),
        (true, true) => Some(FenceOrder::AcqRel),
        (true, false) => Some(FenceOrder::Acquire),
        (false, true) => Some(FenceOrder::Release),
        (false, false) => None,
    }
}
