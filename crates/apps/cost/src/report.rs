//! What was measured: rows, for people and for programs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::machine::Machine;
use crate::statistics::{Figure, Spread};

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// What each operation costs.
    Fences,
    /// What a fence costs beside another launch.
    Interference,
}

/// The kind of memory that writes go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Memory {
    /// The shared memory of the block.
    Shared,
    /// Memory of the device.
    Device,
    /// Memory of the host, which the device writes in place.
    HostMapped,
    /// Memory of another device, which the device writes in place.
    Peer,
    /// Lines that the measured launch writes too.
    Lines,
}

impl Memory {
    /// The memory's name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Memory::Shared => "shared",
            Memory::Device => "device",
            Memory::HostMapped => "host-mapped",
            Memory::Peer => "another device's",
            Memory::Lines => "the same lines",
        }
    }
}

/// The launch beside which an operation was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// The memory that the other launch writes to.
    pub memory: Memory,
    /// The writes that each of its threads has in flight at the most; `None` where it never waits for them.
    pub writes: Option<u32>,
    /// Whether it is in a memory synchronization domain of its own.
    pub is_remote: bool,
}

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = self.memory.name();
        match self.writes {
            Some(writes) => write!(f, "{writes} writes to {memory}")?,
            None => write!(f, "writes to {memory} at full speed")?,
        }
        if self.is_remote { write!(f, ", its own domain") } else { Ok(()) }
    }
}

/// What an operation costs; a figure that is below the resolution is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Nanoseconds per operation.
    pub nanoseconds: Option<Figure>,
    /// Cycles of the clock that kernels read, where its rate is not a number of nanoseconds.
    pub cycles: Option<Figure>,
    /// The resolution: costs up to this many nanoseconds cannot be distinguished from none.
    pub resolution: f64,
    /// The resolution in cycles: costs up to this many cycles cannot be distinguished from none.
    pub resolution_cycles: Option<f64>,
    /// The pairs of samples.
    pub samples: u32,
    /// The pairs that are far from the others.
    pub outliers: u32,
    /// The medians of the rounds in which the samples were taken, in cycles where there are cycles, else in nanoseconds.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub rounds: Vec<f64>,
}

impl Cost {
    /// The cost by samples in nanoseconds, of which up to `least` are none, and in cycles.
    pub(crate) fn new(nanoseconds: Option<Spread>, least: f64, cycles: Option<Spread>, samples: u32) -> Cost {
        let seen = |spread: Option<Spread>, resolution: f64| {
            spread.map(|spread| spread.figure).filter(|figure| figure.median > resolution)
        };
        let resolution = nanoseconds.map_or(least, |spread| spread.uncertainty.max(least));
        let resolution_cycles = cycles.map(|spread| spread.uncertainty);
        Cost {
            nanoseconds: seen(nanoseconds, resolution),
            cycles: seen(cycles, resolution_cycles.unwrap_or(0.0)),
            resolution,
            resolution_cycles,
            samples,
            outliers: nanoseconds.map_or(0, |spread| spread.outliers),
            rounds: Vec::new(),
        }
    }

    /// Whether the rounds agree: each within 15 % of the median, or within the resolution.
    pub fn is_steady(&self) -> bool {
        const WITHIN: f64 = 0.15;
        let resolution = self.resolution_cycles.unwrap_or(self.resolution);
        let is_near = |median: f64, round: f64| (round - median).abs() <= (WITHIN * median).max(resolution);
        self.median().is_none_or(|median| self.rounds.iter().all(|&round| is_near(median, round)))
    }

    /// The median in cycles where there are cycles, else in nanoseconds.
    pub fn median(&self) -> Option<f64> {
        if self.resolution_cycles.is_some() { self.cycles } else { self.nanoseconds }.map(|figure| figure.median)
    }
}

/// An operation measured in one situation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The operation, its order and its scope.
    pub operation: String,
    /// The memory that the thread's own writes before the operation go to.
    pub memory: Option<Memory>,
    /// How many they are.
    pub writes: u32,
    /// The blocks that do the same at once.
    pub blocks: u32,
    /// The threads of a block.
    pub threads: u32,
    /// What was done at the same time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub beside: Option<Beside>,
    /// What the operation costs.
    pub cost: Cost,
    /// The nanoseconds of a whole launch with the writes and without the operation, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub launch: Option<Figure>,
    /// The cost by that of the same operation alone, beside another launch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cost_ratio: Option<f64>,
    /// The whole launch's time by that of the same launch alone, beside another.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub launch_ratio: Option<f64>,
}

impl Row {
    /// Whether two rows are of the same case.
    pub fn is_like(&self, other: &Row) -> bool {
        let case = |row: &Row| (row.operation.clone(), row.memory, row.writes, row.blocks, row.beside.clone());
        case(self) == case(other)
    }
}

/// What was measured on a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What was asked.
    pub question: Question,
    /// The machine that the report was measured on.
    pub machine: Machine,
    /// What was measured.
    pub rows: Vec<Row>,
    /// What has to be known besides.
    pub notes: Vec<String>,
    /// Whether it was stopped before its end.
    pub is_partial: bool,
}

impl Report {
    /// The unit of the figures in tables and pictures.
    pub fn unit(&self) -> &'static str {
        let has_clock = self.rows.iter().any(|row| row.cost.resolution_cycles.is_some());
        if has_clock { self.machine.clock_unit().name() } else { "ns" }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines().iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
