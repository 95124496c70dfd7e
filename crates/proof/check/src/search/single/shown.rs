//! The run as a graph, while it is small, and what it leaves.

use wattle_memory::{EventId, Kind, Label, Level, LocationId, ThreadId};

use super::super::boundaries::system_before;
use super::{Cell, MOST_EVENTS, Runs, SingleRun};

impl Runs<'_, '_> {
    /// Adds to the graph what the system does between launches.
    pub(super) fn show_launch(&mut self, ended: &[ThreadId], begins: &[ThreadId]) {
        let system = system_before(self.setup, begins[0]);
        let operation = |kind| Label { kind, ..Label::fence(Level::System) };
        let Some(graph) = self.graph.as_mut().filter(|_| self.shown.is_none()) else { return };
        let available = graph.add(system, operation(Kind::MakeAvailable), u32::MAX);
        let visible = graph.add(system, operation(Kind::MakeVisible), u32::MAX);
        for &thread in ended {
            self.runners[thread].last_event.into_iter().for_each(|last| graph.synchronize_system(last, available));
        }
        for &thread in begins {
            let first = graph.add(thread, Label::fence(Level::Thread), u32::MAX);
            graph.synchronize_system(visible, first);
            self.runners[thread].last_event = Some(first);
        }
    }

    /// Adds an event to the graph, while it is small.
    pub(super) fn event(
        &mut self,
        thread: ThreadId,
        label: Label,
        source: u32,
        access: Option<(LocationId, u32, u64)>,
    ) -> Option<EventId> {
        if self.shown.is_some_and(|shown| shown != thread) {
            return None;
        }
        let graph = self.graph.as_mut()?;
        if graph.len() >= MOST_EVENTS {
            self.graph = None;
            return None;
        }
        let event = graph.add(thread, label, source);
        if let Some((location, reference, value)) = access {
            graph.set_location(event, location, reference);
            graph.set_value(event, value);
        }
        self.runners[thread].last_event = Some(event);
        Some(event)
    }

    pub(super) fn finish(self) -> SingleRun {
        let touched = |cell: &Cell| cell.writer.is_some() || !cell.updates.is_empty();
        let mut memory: Vec<_> =
            self.cells.iter().filter(|(_, cell)| touched(cell)).map(|(&address, cell)| (address, cell.value)).collect();
        memory.sort_unstable();
        let model = self.setup.model;
        let graph = self.graph.and_then(|graph| model.analyse(&graph).ok().map(|analysis| (graph, analysis)));
        let mut cells = Vec::new();
        if graph.is_some() {
            cells.extend(self.cells.iter().map(|(&address, cell)| (address, cell.location)));
            cells.sort_unstable();
        }
        SingleRun {
            memory,
            executed: self.executed,
            events: self.events,
            graph,
            cells,
            apart: self.apart,
            alike: self.alike,
            updates: self.updates,
        }
    }
}
