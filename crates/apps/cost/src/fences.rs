//! What each operation costs: alone, with the thread's own writes in flight, and with more blocks that do the same.

use wattle::memory::Scope;
use wattle::{Device, Result};

use crate::machine::Machine;
use crate::measure::{Effort, Rig, Setting, Watch};
use crate::operation::Operation;
use crate::operation_kind::OperationKind;
use crate::report::{Question, Report, Row};

/// The writes in flight that are measured.
pub const WRITES: [u32; 4] = [1, 4, 16, 64];
/// The writes in flight where the number of blocks is what changes.
pub const WRITES_OF_BLOCKS: u32 = 16;

/// Measures what each operation of a device costs.
///
/// # Errors
/// The device has no time, or a launch fails.
pub fn fences(device: &Device, effort: &Effort, watch: &Watch<'_>) -> Result<Report> {
    let properties = device.properties();
    let operations = operations(&Operation::all(&properties.scopes), *effort);
    let threads = operations.iter().map(|operation| operation.kind.threads(properties)).max().unwrap_or(1);
    let rig = Rig::new(device, *effort, properties.workers, threads)?;
    let settings = settings(&rig, *effort, properties.workers);
    let between = between(properties.workers);
    // A measurement that is stopped has all operations in the settings that it came to.
    let is_fence = |operation: &&Operation| operation.kind == OperationKind::Fence;
    let cases: Vec<(&Operation, Setting)> = (settings.iter())
        .flat_map(|setting| operations.iter().map(|operation| (operation, *setting)))
        .chain(
            between
                .iter()
                .flat_map(|setting| operations.iter().filter(is_fence).map(|operation| (operation, *setting))),
        )
        .collect();
    let mut rows = Vec::new();
    for (operation, setting) in &cases {
        let Some(cost) = watch.unless_stopped(|| rig.cost(operation, setting))? else { break };
        rows.push(row(operation, setting, operation.kind.threads(properties), cost));
        (watch.step)(rows.len(), cases.len());
    }
    let is_partial = rows.len() < cases.len();
    let machine = Machine::of(device);
    let notes = notes(&machine);
    Ok(Report { question: Question::Fences, machine, rows, notes, is_partial })
}

/// The row of a measured case.
pub fn row(operation: &Operation, setting: &Setting, threads: u32, cost: crate::Cost) -> Row {
    let Setting { memory, writes, blocks, .. } = *setting;
    Row {
        operation: operation.to_string(),
        memory,
        writes,
        blocks,
        threads,
        beside: None,
        cost,
        launch: None,
        cost_ratio: None,
        launch_ratio: None,
    }
}

fn operations(all: &[Operation], effort: Effort) -> Vec<Operation> {
    match effort {
        Effort::Full => all.to_vec(),
        // One of each kind, of those that pictures show.
        Effort::Small => {
            let mut kinds: Vec<Operation> = Vec::new();
            for operation in all.iter().rev().filter(|operation| operation.scope != Some(Scope::System)) {
                if kinds.iter().all(|known| known.kind != operation.kind) {
                    kinds.insert(0, *operation);
                }
            }
            kinds
        }
    }
}

fn settings(rig: &Rig, effort: Effort, workers: u32) -> Vec<Setting> {
    let alone = Setting { memory: None, writes: 0, blocks: 1, slots: None, works: true };
    let (writes, crowds): (&[u32], Vec<u32>) = match effort {
        Effort::Full if workers > 1 => (&WRITES, vec![1, workers]),
        Effort::Full => (&WRITES, vec![1]),
        Effort::Small => (&WRITES[1..2], vec![workers.min(2)]),
    };
    let mut settings = Vec::new();
    for blocks in crowds {
        settings.push(Setting { blocks, ..alone });
        for memory in rig.memories() {
            settings.extend(writes.iter().map(|&writes| Setting { memory: Some(memory), writes, blocks, ..alone }));
        }
    }
    settings
}

/// Numbers of blocks between one and all, by powers of two.
fn between(workers: u32) -> Vec<Setting> {
    let memory = Some(crate::Memory::Device);
    let setting = |blocks| Setting { memory, writes: WRITES_OF_BLOCKS, blocks, slots: None, works: true };
    (1..32).map(|power| 1 << power).take_while(|&blocks| blocks < workers).map(setting).collect()
}

/// What has to be known of a machine's figures.
pub fn notes(machine: &Machine) -> Vec<String> {
    let mut notes = Vec::new();
    if machine.is_software {
        notes.push(
            "This driver computes on the host's processor: its figures show what its own code does for each operation, \
             and nothing of a GPU's caches and fences. What it lacks the time for is not measurable."
                .to_owned(),
        );
    }
    if machine.is_host {
        notes.push(
            "A block of the host is one thread of one core: block scope is for the compiler alone. Host-mapped memory is \
             the device's own. Writes to device memory go one after the other to lines that are twice what the second-level \
             cache holds; those to shared memory stay in the first. A fence that is no instruction here shows how far two loops \
             differ by chance, which is the resolution. A core runs ahead of a fence that nothing waits for: the work behind \
             it hides what it takes. What follows an atomic update waits for it, and so for the store buffer."
                .to_owned(),
        );
    }
    notes
}
