//! What a fence costs beside a launch that writes ("memory fence interference").
//!
//! One launch computes in device memory and fences at device scope; another, on another queue, writes: bursts of some
//! writes behind each of which it waits for them, or without ever waiting. On the host, cores take the place of
//! launches.

use std::time::{Duration, Instant};

use wattle::memory::Scope;
use wattle::{Buffer, Device, DeviceKind, Event, Queue, Result, SyncDomain};

use crate::case::{Case, Measured};
use crate::fences::{notes, row};
use crate::kernels::{self, Buffers};
use crate::machine::Machine;
use crate::measure::{Effort, Pairs, Plan, Rig, Setting, Watch, pitch};
use crate::operation::{LoopCode, Operation};
use crate::operation_kind::OperationKind;
use crate::report::{Beside, Memory, Question, Report, Row};
use crate::samples::{cost, launch};

/// The writes of the other launch in a burst; `None` where it never waits for them.
pub const BURSTS: [Option<u32>; 5] = [Some(1), Some(4), Some(16), Some(64), None];
/// The writes before each measured fence, and how many lines they go to.
const OWN: (u32, u32) = (4, 64);
/// What stands where no pair of samples was taken beside the other launch.
const NEVER: &str = "never";
/// A word of a cache line that the measured launch does not write.
const BESIDE: usize = 8;

/// Measures fences of device scope alone and beside a launch that writes.
///
/// # Errors
/// The device has no time, or a launch fails.
pub fn interference(device: &Device, effort: &Effort, watch: &Watch<'_>) -> Result<Report> {
    let properties = device.properties();
    let warp = properties.warp_width;
    let machine = Machine::of(device);
    let mut notes = notes(&machine);
    let setting = Setting { memory: Some(Memory::Device), writes: OWN.0, blocks: 1, slots: Some(OWN.1), works: true };
    let cases = cases(device, *effort, &setting, &machine, &mut notes);
    let rounds = Plan::of(device, *effort)?.rounds;
    let rig = || Rig::new(device, *effort, 1, warp);
    let measured = Measured::in_rounds(&cases, rounds, watch, rig, |rig, case, before| {
        let Some(beside) = &case.beside else { return rig.samples(&case.operation, &setting, before) };
        let mut other = Other::new(rig, beside)?;
        let mut pairs = Pairs::new(rig, &case.operation, &setting, before.map(|round| round.turns))?;
        other.disturb(&mut pairs)?;
        Ok(pairs.samples())
    })?;
    let floor = measured.floor(&setting, &machine);
    let mut rows: Vec<Row> = Vec::new();
    for (case, rounds) in measured.rows() {
        let mut found = row(&case.operation, &setting, warp, cost(rounds, floor));
        (found.beside, found.launch) = (case.beside.clone(), launch(rounds));
        let is_alone = |row: &&Row| row.operation == found.operation && row.beside.is_none();
        if let Some(alone) = rows.iter().find(is_alone) {
            let ratio = |median: fn(&Row) -> Option<f64>| Some(median(&found)? / median(alone)?);
            let cost_ratio = ratio(|row| row.cost.median());
            let launch_ratio = ratio(|row| row.launch.map(|figure| figure.median));
            (found.cost_ratio, found.launch_ratio) = (cost_ratio, launch_ratio);
        }
        rows.push(found);
    }
    Ok(Report { question: Question::Interference, machine, rows, notes, is_partial: measured.is_partial })
}

/// All cases: first those that show what loops differ by, then each operation alone and beside what is there.
fn cases(device: &Device, effort: Effort, setting: &Setting, machine: &Machine, notes: &mut Vec<String>) -> Vec<Case> {
    let beside = besides(device, effort, notes);
    let asked = operations(&device.properties().scopes, effort);
    let others = Operation::all(&device.properties().scopes).into_iter();
    let others = others.filter(|other| asked.iter().all(|asked| asked.to_string() != other.to_string()));
    let others = others.map(|operation| Case { operation, setting: *setting, beside: None, is_asked: false });
    let mut cases: Vec<Case> = others.filter(|case| case.is_idle(machine)).collect();
    for operation in asked {
        let beside = std::iter::once(None).chain(beside.iter().cloned().map(Some));
        cases.extend(beside.map(|beside| Case { operation, setting: *setting, beside, is_asked: true }));
    }
    cases
}

/// The fences of device scope.
fn operations(scopes: &[Scope], effort: Effort) -> Vec<Operation> {
    let is_it = |operation: &Operation| {
        let order = operation.order.unwrap_or_default();
        let is_asked = effort == Effort::Full || order == "SeqCst";
        operation.kind == OperationKind::Fence && operation.scope == Some(Scope::Device) && is_asked
    };
    Operation::all(scopes).into_iter().filter(is_it).collect()
}

/// What the other launch does, in turn; says why where there is none.
fn besides(device: &Device, effort: Effort, notes: &mut Vec<String>) -> Vec<Beside> {
    let properties = device.properties();
    let is_host = properties.kind == DeviceKind::Host;
    if properties.concurrent_queues < 2 || is_host && properties.workers < 2 {
        notes.push(
            "Launches of two queues do not surely run at the same time here: there is nothing to be beside, in one memory \
             synchronization domain or in two."
                .into(),
        );
        return Vec::new();
    }
    let domains: &[bool] = if properties.sync_domains > 1 { &[false, true] } else { &[false] };
    if domains.len() == 1 {
        notes.push("The device has one memory synchronization domain: there is one line for each fence.".into());
    }
    let mut memories = vec![Memory::Device, if is_host { Memory::Lines } else { Memory::HostMapped }];
    if !is_host && device.peers().is_ok() {
        memories.push(Memory::Peer);
    }
    let bursts = if effort == Effort::Full { &BURSTS[..] } else { &BURSTS[2..3] };
    let mut cases = Vec::new();
    for memory in memories {
        for &is_remote in domains {
            cases.extend(bursts.iter().map(|&writes| Beside { memory, writes, is_remote }));
        }
    }
    cases
}

/// The launch that writes.
struct Other<'r> {
    rig: &'r Rig,
    queue: Queue,
    buffers: Buffers,
    code: LoopCode,
    setting: Setting,
    threads: u32,
    turns: u32,
    /// The end of the one that was launched last.
    end: Option<Event>,
}

impl<'r> Other<'r> {
    fn new(rig: &'r Rig, beside: &Beside) -> Result<Other<'r>> {
        let (device, properties) = (&rig.device, rig.device.properties());
        let domain = if beside.is_remote { SyncDomain::Remote } else { SyncDomain::Default };
        let queue = device.queue_non_blocking()?.with_sync_domain(domain);
        let (blocks, threads) = match properties.kind {
            // One warp per multiprocessor: the measured launch shares its own with one, and few writes do not fill the
            // bus.
            DeviceKind::Gpu => (properties.workers.max(1), properties.warp_width),
            _ => (1, properties.warp_width),
        };
        let words = blocks as usize * rig.plan.slots as usize * pitch(threads) as usize;
        let data = match beside.memory {
            Memory::Lines => rig.data.slice(BESIDE..rig.data.len())?,
            Memory::HostMapped => device.alloc_host_mapped::<u32, 1>(words)?.view(),
            Memory::Peer => {
                let peer = device.peers()?.swap_remove(0);
                device.enable_peer_access(&peer)?;
                peer.alloc_zeroed::<u32>(words)?.view()
            }
            Memory::Device | Memory::Shared => {
                let data: Buffer<u32> = device.alloc_zeroed(words)?;
                data.view()
            }
        };
        let buffers = Buffers::new(device, data, (blocks * threads) as usize)?;
        let slots = (beside.memory == Memory::Lines).then_some(OWN.1);
        let writes = beside.writes.unwrap_or(64);
        let setting = Setting { memory: Some(Memory::Device), writes, blocks, slots, works: false };
        let code = match beside.writes {
            Some(_) => LoopCode::Kernel(kernels::fence_seq_cst::code::<{ Scope::Device as u32 }>()),
            None => LoopCode::Kernel(kernels::nothing::code::<1>()),
        };
        let mut other = Other { rig, queue, buffers, code, setting, threads, turns: 16, end: None };
        other.calibrate()?;
        Ok(other)
    }

    /// The most turns of a launch.
    fn most(&self) -> u32 {
        (self.rig.plan.most_beside / (1 + self.setting.writes)).max(1)
    }

    /// Finds the turns that take as long as many samples.
    fn calibrate(&mut self) -> Result<()> {
        let most = self.most();
        let wanted = 200.0 * self.rig.plan.sample.as_secs_f64();
        loop {
            let began = Instant::now();
            self.start()?;
            self.queue.wait()?;
            let took = began.elapsed().max(Duration::from_nanos(1)).as_secs_f64();
            if self.turns >= most || took >= wanted / 2.0 {
                return Ok(());
            }
            let factor = (wanted / took).clamp(2.0, 16.0);
            self.turns = ((f64::from(self.turns) * factor) as u32).min(most);
        }
    }

    fn start(&mut self) -> Result<()> {
        let Other { rig, queue, buffers, code, setting, threads, turns, .. } = self;
        rig.launch(queue, *code, buffers, setting, *threads, *turns)?;
        self.end = Some(self.queue.record()?);
        Ok(())
    }

    fn is_running(&self) -> bool {
        self.end.as_ref().is_some_and(|end| !end.is_complete())
    }

    /// Takes the pairs while this launch runs; one that it did not outlast is forgotten, and the next launch is longer.
    fn disturb(&mut self, pairs: &mut Pairs<'_>) -> Result<()> {
        let wanted = self.rig.plan.pairs;
        for _ in 0..8 * wanted {
            if pairs.len() >= wanted {
                break;
            }
            if !self.is_running() {
                self.start()?;
                // While it begins.
                pairs.take()?;
                pairs.discard();
            }
            pairs.take()?;
            if !self.is_running() {
                pairs.discard();
                self.turns = self.turns.saturating_mul(2).min(self.most());
            }
        }
        self.queue.wait()
    }
}

/// The report's tables, one for each place that the other launch writes to.
pub fn lines(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let mut memories: Vec<Memory> = Vec::new();
    for beside in report.rows.iter().filter_map(|row| row.beside.as_ref()) {
        if !memories.contains(&beside.memory) {
            memories.push(beside.memory);
        }
    }
    let alone: Vec<&Row> = report.rows.iter().filter(|row| row.beside.is_none()).collect();
    let unit = report.unit();
    if memories.is_empty() {
        let table: Vec<_> = alone.iter().map(|row| vec![row.operation.clone(), cell(row)]).collect();
        lines.push(format!("{unit} per fence behind {} writes, alone", OWN.0));
        lines.push(String::new());
        lines.extend(crate::columns::aligned(&table));
        return lines;
    }
    for memory in memories {
        lines.push(format!(
            "{unit} per fence behind {} writes, beside a launch that writes to {}; by the writes that each of its threads has \
             in flight",
            OWN.0,
            place(memory)
        ));
        lines.push(
            "and the nanoseconds of a whole launch that writes as much without a fence; × is by alone".to_owned(),
        );
        lines.push(String::new());
        lines.extend(crate::columns::aligned(&table(report, memory, &alone)));
        lines.push(String::new());
    }
    lines.push(format!("{}: not measurable, which is below the row's resolution", crate::columns::BELOW));
    lines.extend(crate::columns::unsteady(&report.rows));
    if report.rows.iter().any(|row| row.cost.samples == 0) {
        lines.push(format!("{NEVER}: the two launches never ran at the same time for long enough"));
    }
    lines
}

fn place(memory: Memory) -> &'static str {
    match memory {
        Memory::Lines => "the lines that the first one writes",
        Memory::Device => "device memory of its own",
        Memory::HostMapped => "host-mapped memory",
        Memory::Peer => "another device's memory",
        Memory::Shared => "shared memory",
    }
}

fn cell(row: &Row) -> String {
    if row.cost.samples == 0 {
        return NEVER.to_owned();
    }
    crate::columns::cost(&row.cost)
}

fn table(report: &Report, memory: Memory, alone: &[&Row]) -> Vec<Vec<String>> {
    let mut bursts: Vec<Option<u32>> = Vec::new();
    let mut domains: Vec<bool> = Vec::new();
    let there = |row: &&Row| row.beside.as_ref().is_some_and(|beside| beside.memory == memory);
    for beside in report.rows.iter().filter(there).filter_map(|row| row.beside.as_ref()) {
        if !bursts.contains(&beside.writes) {
            bursts.push(beside.writes);
        }
        if !domains.contains(&beside.is_remote) {
            domains.push(beside.is_remote);
        }
    }
    let head = bursts.iter().map(|burst| burst.map_or("no wait".to_owned(), |writes| writes.to_string()));
    let mut table = vec![[String::new(), "alone".to_owned()].into_iter().chain(head).collect::<Vec<_>>()];
    for first in alone {
        for &is_remote in &domains {
            let of = |burst: Option<u32>| {
                report.rows.iter().filter(there).find(|row| {
                    let is_it = |beside: &Beside| beside.writes == burst && beside.is_remote == is_remote;
                    row.operation == first.operation && row.beside.as_ref().is_some_and(is_it)
                })
            };
            let domain = match (domains.len(), is_remote) {
                (1, _) => "",
                (_, false) => ", one domain",
                (_, true) => ", two domains",
            };
            let line = |name: String, alone: String, cell: &dyn Fn(&Row) -> String| {
                let cells = bursts.iter().map(|&burst| of(burst).map_or(String::new(), cell));
                [name, alone].into_iter().chain(cells).collect::<Vec<_>>()
            };
            let times = |ratio: Option<f64>| ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
            let whole = |row: &Row| row.launch.map_or(String::new(), |figure| crate::columns::number(figure.median));
            table.push(line(format!("{}{domain}", first.operation), cell(first), &cell));
            table.push(line("  ×".to_owned(), String::new(), &|row| times(row.cost_ratio)));
            table.push(line("  whole launch".to_owned(), whole(first), &whole));
            table.push(line("  ×".to_owned(), String::new(), &|row| times(row.launch_ratio)));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launch_that_writes_does_nothing_else() -> Result<()> {
        let rig = Rig::new(&Device::host(), Effort::Small, 1, 1)?;
        let memory = Memory::Device;
        for writes in BURSTS {
            let other = Other::new(&rig, &Beside { memory, writes, is_remote: false })?;
            let numbers = rig.numbers(&other.setting, other.threads, other.turns);
            assert!(numbers.work == 0 && numbers.in_data > 0, "{numbers:?}");
        }
        Ok(())
    }
}
