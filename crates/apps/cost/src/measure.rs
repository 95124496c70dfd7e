//! One cost: the loop with the operation, less the same loop without it, in turns.

use std::time::{Duration, Instant};

use wattle::{Buffer, Device, DeviceKind, Error, ErrorKind, Queue, Result, ThreadSpec};

use crate::kernels::{Buffers, Loop, SHARED_SLOTS};
use crate::machine;
use crate::operation::{LoopCode, Operation};
use crate::report::Memory;
use crate::samples::Samples;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Every row, with as many samples as the device's kind is worth.
    Full,
    /// A few rows with a few samples: whether it works at all.
    Small,
}

/// How a measurement is watched: it can be stopped, and reports how far it is.
pub struct Watch<'w> {
    /// Whether to stop, with what was measured so far.
    pub stop: Box<dyn Fn() -> bool + 'w>,
    /// Called after each row with the number of rows that are done, and of all.
    pub step: Box<dyn Fn(usize, usize) + 'w>,
}

impl Watch<'_> {
    /// What is measured; `None` where it is to stop, which may end a launch within.
    pub(crate) fn unless_stopped<T>(&self, measure: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
        if (self.stop)() {
            return Ok(None);
        }
        match measure() {
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted { .. }) => Ok(None),
            measured => measured.map(Some),
        }
    }
}

impl Default for Watch<'_> {
    fn default() -> Self {
        Watch { stop: Box::new(|| false), step: Box::new(|_, _| {}) }
    }
}

/// What is done beside the operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// The memory that the thread's own writes go to; `None` without such writes.
    pub memory: Option<Memory>,
    /// The writes before each operation.
    pub writes: u32,
    /// The blocks that do the same at once.
    pub blocks: u32,
    /// The lines that are written, where that is not the plan's number; see [`Loop::slots`].
    pub slots: Option<u32>,
    /// Whether work without memory stands behind the operation, during which writes leave that nobody waited for. A
    /// loop that is to write as fast as it can has none.
    pub works: bool,
}

/// How a kind of device is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The rounds: how often all rows are measured, each time with memory of its own.
    pub rounds: u32,
    /// Pairs of samples in a round, one with the operation and one without.
    pub pairs: u32,
    /// How long the timed loop shall take. Long enough for the clock, and on the host short enough to be rarely
    /// interrupted.
    pub sample: Duration,
    /// The most writes and operations of a thread in a launch that is measured.
    pub most: u32,
    /// The most of a launch beside it, which must not end first.
    pub most_beside: u32,
    /// The steps of work behind an operation with writes before it, and those for each of the writes: more than the
    /// writes take to leave.
    pub work: (u32, u32),
    /// Whether a core does what follows an operation while that waits; see [`Loop::runs_ahead`].
    pub runs_ahead: bool,
    /// The value of [`Loop::slots`]. On the host more than the second-level cache holds, so that the writes stay in
    /// flight.
    pub slots: u32,
    /// The value of [`Loop::patience`].
    pub patience: u32,
}

impl Plan {
    /// The plan for a device.
    ///
    /// # Errors
    /// Time has no meaning on the device.
    pub fn of(device: &Device, effort: Effort) -> Result<Plan> {
        let micros = Duration::from_micros;
        let plan = match device.properties().kind {
            DeviceKind::Host => Plan {
                rounds: 3,
                pairs: 9,
                sample: micros(50),
                most: 1 << 20,
                most_beside: 1 << 23,
                work: (8, 2),
                runs_ahead: true,
                slots: lines_beyond_cache(),
                patience: 1 << 16,
            },
            DeviceKind::Gpu => Plan {
                rounds: 3,
                pairs: 4,
                sample: micros(200),
                most: 1 << 20,
                most_beside: 1 << 23,
                work: (32, 2),
                runs_ahead: false,
                slots: 1 << 10,
                patience: 1 << 14,
            },
            // lavapipe stops a thread after 65,535 turns of its loops.
            DeviceKind::Software => Plan {
                rounds: 1,
                pairs: 3,
                sample: micros(500),
                most: 1 << 12,
                most_beside: 1 << 15,
                work: (0, 0),
                runs_ahead: false,
                slots: 1 << 6,
                patience: 1 << 8,
            },
            _ => {
                let why = "it has no time: choose the host, a GPU, or a driver that computes on the host";
                return Err(Error::capability(device.name(), "measure what an operation costs", why));
            }
        };
        Ok(match effort {
            Effort::Full => plan,
            Effort::Small => Plan { rounds: 2, pairs: 2, most: plan.most.min(1 << 8), ..plan },
        })
    }
}

/// The time of one launch.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// The ticks of the mean thread, by the clock that kernels read.
    ticks: Option<f64>,
    /// The seconds by that clock where its rate is known, else those of the whole launch by the device's events.
    seconds: f64,
    /// The seconds of the whole launch.
    launch: f64,
}

/// A device with what is needed to measure on it.
pub struct Rig {
    pub device: Device,
    pub plan: Plan,
    queue: Queue,
    /// The device's memory that `near` writes.
    pub data: Buffer<u32>,
    near: Buffers,
    /// With host-mapped memory for the writes, where that is another kind of memory.
    far: Option<Buffers>,
}

impl Rig {
    /// Allocates what loops of at most `blocks` blocks of `threads` threads need.
    ///
    /// # Errors
    /// The device cannot be measured, or has too little memory.
    pub fn new(device: &Device, effort: Effort, blocks: u32, threads: u32) -> Result<Rig> {
        let plan = Plan::of(device, effort)?;
        let words = blocks as usize * plan.slots as usize * pitch(threads) as usize;
        let threads = (blocks * threads) as usize;
        let data = device.alloc_zeroed::<u32>(words)?;
        let near = Buffers::new(device, data.view(), threads)?;
        let far = match memories(device).contains(&Memory::HostMapped) {
            true => Some(Buffers::new(device, device.alloc_host_mapped::<u32, 1>(words)?.view(), threads)?),
            false => None,
        };
        let is_host = device.properties().kind == DeviceKind::Host;
        // The host's clock is in the kernel; others' events need a queue that runs on.
        let queue = if is_host { device.queue()? } else { device.queue_non_blocking()? };
        Ok(Rig { device: device.clone(), plan, queue, data, near, far })
    }

    /// Takes the samples of one round of an operation in a setting; `before` are those of the round before.
    ///
    /// # Errors
    /// A launch fails.
    pub fn samples(&self, operation: &Operation, setting: &Setting, before: Option<&Samples>) -> Result<Samples> {
        let mut pairs = Pairs::new(self, operation, setting, before.map(|samples| samples.turns))?;
        for _ in 0..self.plan.pairs {
            pairs.take()?;
        }
        Ok(pairs.samples())
    }

    /// The numbers of a launch in a setting.
    pub(crate) fn numbers(&self, setting: &Setting, threads: u32, turns: u32) -> Loop {
        let (in_shared, in_data) = match setting.memory {
            None => (0, 0),
            Some(Memory::Shared) => (setting.writes, 0),
            Some(Memory::Device | Memory::HostMapped | Memory::Peer | Memory::Lines) => (0, setting.writes),
        };
        let slots = setting.slots.unwrap_or(self.plan.slots);
        let works = setting.works && setting.writes > 0;
        let work = if works { self.plan.work.0 + self.plan.work.1 * setting.writes } else { 0 };
        let runs_ahead = u32::from(self.plan.runs_ahead && work > 0);
        Loop {
            turns,
            in_shared,
            in_data,
            work,
            runs_ahead,
            slots,
            step: 67,
            pitch: pitch(threads),
            goal: 0,
            patience: 0,
        }
    }

    /// Launches a loop, and returns what it takes for its end.
    ///
    /// # Errors
    /// The launch is refused.
    pub fn launch(
        &self,
        queue: &Queue,
        code: LoopCode,
        buffers: &Buffers,
        setting: &Setting,
        threads: u32,
        turns: u32,
    ) -> Result<()> {
        let mut numbers = self.numbers(setting, threads, turns);
        if setting.blocks > 1 {
            buffers.arrivals.set(buffers.arrivals.get().wrapping_add(setting.blocks));
            (numbers.goal, numbers.patience) = (buffers.arrivals.get(), self.plan.patience);
        }
        code.launch(queue, SHARED_SLOTS * numbers.pitch, ThreadSpec::new(setting.blocks, threads), &numbers, buffers)
    }

    fn sample(&self, code: LoopCode, setting: &Setting, threads: u32, turns: u32) -> Result<Sample> {
        let buffers = match setting.memory {
            Some(Memory::HostMapped) => self.far.as_ref().unwrap_or(&self.near),
            Some(Memory::Shared | Memory::Device | Memory::Peer | Memory::Lines) | None => &self.near,
        };
        let (began, from) = (Instant::now(), self.queue.record()?);
        self.launch(&self.queue, code, buffers, setting, threads, turns)?;
        let to = self.queue.record()?;
        to.wait()?;
        let launch = to.elapsed_since(&from).unwrap_or_else(|| began.elapsed()).as_secs_f64();
        let all = (setting.blocks * threads) as usize;
        let ticks = buffers.ticks.slice(0..all)?.read(&self.queue)?;
        let mean = ticks.iter().map(|&ticks| f64::from(ticks)).sum::<f64>() / all as f64;
        let ticks = (mean > 0.0).then_some(mean);
        let rate = self.device.properties().clock_ticks_per_second;
        let by_clock = ticks.zip(rate).map(|(ticks, rate)| ticks / rate as f64);
        Ok(Sample { ticks, seconds: by_clock.unwrap_or(launch), launch })
    }
}

/// Samples of a loop with an operation and of the loop without it, in turns.
pub struct Pairs<'r> {
    rig: &'r Rig,
    with: LoopCode,
    without: LoopCode,
    setting: Setting,
    threads: u32,
    turns: u32,
    taken: Vec<(Sample, Sample)>,
}

impl<'r> Pairs<'r> {
    /// Finds how many turns take as long as a sample shall, where they are not `known`, and warms up.
    ///
    /// # Errors
    /// A launch fails.
    pub fn new(rig: &'r Rig, operation: &Operation, setting: &Setting, known: Option<u32>) -> Result<Pairs<'r>> {
        let threads = operation.kind.threads(rig.device.properties());
        let (with, without, setting) = (operation.code, operation.without(&rig.device), *setting);
        let most = (rig.plan.most / (1 + setting.writes)).max(1);
        let wanted = rig.plan.sample.as_secs_f64();
        let mut turns = known.unwrap_or(16).min(most);
        loop {
            let took = rig.sample(with, &setting, threads, turns)?.seconds.max(1e-9);
            if known.is_some() || turns >= most || took >= wanted / 2.0 {
                break;
            }
            let factor = (wanted / took).clamp(2.0, 16.0);
            turns = ((f64::from(turns) * factor) as u32).min(most);
        }
        rig.sample(without, &setting, threads, turns)?;
        Ok(Pairs { rig, with, without, setting, threads, turns, taken: Vec::new() })
    }

    /// Takes a pair.
    ///
    /// # Errors
    /// A launch fails.
    pub fn take(&mut self) -> Result<()> {
        let sample = |code| self.rig.sample(code, &self.setting, self.threads, self.turns);
        // Neither is always the first.
        let pair = if self.taken.len().is_multiple_of(2) {
            let with = sample(self.with)?;
            (with, sample(self.without)?)
        } else {
            let without = sample(self.without)?;
            (sample(self.with)?, without)
        };
        self.taken.push(pair);
        Ok(())
    }

    /// Removes the pair that was added last.
    pub fn discard(&mut self) {
        self.taken.pop();
    }

    /// The number of pairs that were added.
    pub fn len(&self) -> u32 {
        self.taken.len() as u32
    }

    /// What the pairs show.
    pub fn samples(&self) -> Samples {
        let turns = f64::from(self.turns);
        let each = |with: f64, without: f64| (with - without) / turns;
        let nanoseconds = self.taken.iter().map(|(with, without)| each(with.seconds, without.seconds) * 1e9).collect();
        let ticks = self.taken.iter().filter_map(|(with, without)| Some(each(with.ticks?, without.ticks?)));
        // A clock whose rate is known gives the nanoseconds; one whose rate is not counts cycles.
        let rate = self.rig.device.properties().clock_ticks_per_second;
        let cycles = if rate.is_none() { ticks.collect() } else { Vec::new() };
        let tick = rate.map_or(0.0, |rate| 1e9 / rate as f64) / turns;
        let launches = self.taken.iter().map(|(_, without)| without.launch * 1e9).collect();
        Samples { nanoseconds, cycles, launches, tick, turns: self.turns }
    }
}

/// The kinds of memory that a device's writes can go to: of the host, where that is another kind.
pub fn memories(device: &Device) -> Vec<Memory> {
    let is_apart = matches!(device.properties().kind, DeviceKind::Gpu | DeviceKind::Software);
    let far = is_apart.then_some(Memory::HostMapped);
    [Memory::Shared, Memory::Device].into_iter().chain(far).collect()
}

/// The elements from a written line to the next: each lane has its own, and each line is one of the host's cache.
pub fn pitch(threads: u32) -> u32 {
    threads.max(16)
}

/// The cache lines of 64 bytes that are twice what the host's second-level cache holds, as a power of two; those of 4
/// MiB where its size is not known.
fn lines_beyond_cache() -> u32 {
    const LINE: u64 = 64;
    let lines = machine::second_level_cache().map_or(1 << 16, |bytes| (2 * bytes / LINE).next_power_of_two());
    lines.clamp(1 << 14, 1 << 18) as u32
}
