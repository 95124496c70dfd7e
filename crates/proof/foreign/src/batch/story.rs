//! The story of what is wrong with an execution, as the checker's reports show it.

use wattle_check::story::{Access, Column, Part, Story};
use wattle_memory::{Model, ThreadId};

use crate::violation::{Step, Violation};
use crate::world::World;

/// The story of a violation and the steps of its threads.
pub(super) fn of(world: &World, model: Model, violation: &Violation, steps: &[Step]) -> (&'static str, Story) {
    let mut columns: Vec<Column> = Vec::new();
    for (row, step) in steps.iter().enumerate() {
        let shown = wattle_check::story::Step {
            events: Vec::new(),
            row,
            line: None,
            text: format!("{}  {}", step.at, step.instruction),
            accesses: Vec::<Access>::new(),
            notes: step.value.iter().cloned().collect(),
            part: if is_wrong(violation, step) { Part::Wrong } else { Part::Other },
            skipped: 0,
        };
        match columns.iter_mut().find(|column| column.thread == step.thread) {
            Some(column) => column.steps.push(shown),
            None => columns.push(column(world, step.thread, shown)),
        }
    }
    let clauses = violation.clauses(model, steps);
    (violation.kind(), Story { columns, headline: violation.sentence(world), clauses, ..Story::default() })
}

fn column(world: &World, thread: ThreadId, first: wattle_check::story::Step) -> Column {
    let of_module = || world.part_of(thread).kernel().name.clone();
    let kernel = if world.is_beside(thread) { "host part".to_owned() } else { of_module() };
    Column { thread, name: world.thread_name(thread), kernel, steps: vec![first] }
}

fn is_wrong(violation: &Violation, step: &Step) -> bool {
    match violation {
        Violation::Race { accesses, .. }
        | Violation::ReadOnly { accesses, .. }
        | Violation::Copying { accesses, .. } => accesses.contains(step),
        Violation::Unwritten { read, .. } | Violation::Unassigned { read, .. } => read == step,
        Violation::Assertion { .. } | Violation::Fault { .. } | Violation::Stuck(_) => false,
    }
}

/// The story of a fault that an emitted kernel has reported.
pub(super) fn of_fault(what: String) -> Story {
    Story { headline: what, ..Story::default() }
}
