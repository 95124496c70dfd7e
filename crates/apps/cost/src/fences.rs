//! What each operation costs: alone, with the thread's own writes in flight, and with more blocks that do the same.

use wattle::memory::Scope;
use wattle::{Device, ModuleLanguage, Result};

use crate::case::{Case, Measured};
use crate::cuda;
use crate::machine::Machine;
use crate::measure::{Effort, Plan, Rig, Setting, Watch, memories};
use crate::operation::Operation;
use crate::operation_kind::OperationKind;
use crate::report::{Question, Report, Row};
use crate::samples::cost;

/// The writes in flight that are measured.
pub const WRITES: [u32; 4] = [1, 4, 16, 64];
/// The writes in flight where the number of blocks is what changes.
pub const WRITES_OF_BLOCKS: u32 = 16;

/// Measures what each operation of a device costs.
///
/// # Errors
/// The device has no time, or a launch fails.
pub fn fences(device: &Device, effort: &Effort, watch: &Watch<'_>) -> Result<Report> {
    let (properties, machine) = (device.properties(), Machine::of(device));
    let threads = |operation: &Operation| operation.kind.threads(properties);
    let most = Operation::all(&properties.scopes).iter().map(threads).max().unwrap_or(1);
    let rounds = Plan::of(device, *effort)?.rounds;
    let cases = cases(device, &machine, *effort);
    let rig = || Rig::new(device, *effort, properties.workers, most);
    let measured = Measured::in_rounds(&cases, rounds, watch, rig, |rig, case, before| {
        rig.samples(&case.operation, &case.setting, before)
    })?;
    let rows = measured.rows().map(|(Case { operation, setting, .. }, rounds)| {
        row(operation, setting, threads(operation), cost(rounds, measured.floor(setting, &machine)))
    });
    let (rows, notes) = (rows.collect(), notes(&machine));
    Ok(Report { question: Question::Fences, machine, rows, notes, is_partial: measured.is_partial })
}

/// All cases, from setting to setting, so that a measurement which is stopped has all operations in the settings that
/// it came to; in each those first that show what loops differ by.
fn cases(device: &Device, machine: &Machine, effort: Effort) -> Vec<Case> {
    let properties = device.properties();
    let all = Operation::all(&properties.scopes);
    let asked = operations(&all, effort);
    let is_asked = |operation: &Operation| asked.iter().any(|asked| asked.to_string() == operation.to_string());
    let is_fence = |operation: &Operation| operation.kind == OperationKind::Fence;
    let case = |operation: &Operation, setting: &Setting, is_asked| Case {
        operation: *operation,
        setting: *setting,
        beside: None,
        is_asked,
    };
    let settings = settings(device, effort, properties.workers).into_iter().map(|setting| (setting, false));
    let between = match effort {
        Effort::Full => between(properties.workers),
        Effort::Small => Vec::new(),
    };
    let mut cases = Vec::new();
    for (setting, of_fences) in settings.chain(between.into_iter().map(|setting| (setting, true))) {
        let of_setting = all
            .iter()
            .map(|operation| case(operation, &setting, is_asked(operation) && (is_fence(operation) || !of_fences)));
        let of_setting = of_setting.filter(|case| case.is_asked || case.is_idle(machine));
        let (idle, others): (Vec<_>, Vec<_>) = of_setting.partition(|case| case.is_idle(machine));
        let with_cuda = properties.modules.contains(&ModuleLanguage::Ptx) && is_beside_cuda(&setting, effort);
        let cuda = cuda::operations().filter(|_| with_cuda).map(|operation| case(&operation, &setting, true));
        cases.extend(idle.into_iter().chain(others).chain(cuda));
    }
    cases
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

/// Whether CUDA's own operations are measured in a setting too: alone, and behind one number of writes of one block.
fn is_beside_cuda(setting: &Setting, effort: Effort) -> bool {
    let writes = match effort {
        Effort::Full => setting.writes == 0 || setting.writes == WRITES_OF_BLOCKS,
        Effort::Small => setting.memory.is_none(),
    };
    writes && (setting.blocks == 1 || effort == Effort::Small)
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

fn settings(device: &Device, effort: Effort, workers: u32) -> Vec<Setting> {
    let alone = Setting { memory: None, writes: 0, blocks: 1, slots: None, works: true };
    let (writes, crowds): (&[u32], Vec<u32>) = match effort {
        Effort::Full if workers > 1 => (&WRITES, vec![1, workers]),
        Effort::Full => (&WRITES, vec![1]),
        Effort::Small => (&WRITES[1..2], vec![workers.min(2)]),
    };
    let mut settings = Vec::new();
    for blocks in crowds {
        settings.push(Setting { blocks, ..alone });
        for memory in memories(device) {
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
