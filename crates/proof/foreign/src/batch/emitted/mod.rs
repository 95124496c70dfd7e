//! Wattle's own kernels as devices get them: emitted as PTX or SPIR-V, and read back.
//!
//! The code is that of [`wattle_ptx`] and [`wattle_spirv`], but for what passes between the launch and a host that
//! watches it. The words in which threads report faults are ranges of their own.

mod ptx;
mod spirv;

use wattle_check::checker::Batch;
use wattle_check::program::LaunchWorld;
use wattle_check::search::Address;
use wattle_core::{Error, Result};
use wattle_ir::control;
use wattle_ir::fault::{Fault, FaultSite};
use wattle_machine::Argument as Given;
use wattle_machine::View;
use wattle_memory::CodeLanguage;

use super::images::Images;
use crate::number::Number;
use crate::range::Range;
use crate::world::Part;

/// The emitted kernel of a launch.
pub(super) struct Emitted {
    code: Code,
    /// The range of the words in which it reports faults.
    control: usize,
}

/// The emitted code of a kernel, by its language.
enum Code {
    Ptx(ptx::Code),
    Spirv(spirv::Code),
}

/// The ranges of a batch: the buffers, and behind them what emitted kernels have besides.
pub(super) struct Ranges {
    pub all: Vec<Range>,
    /// The hidden word of each device, by the device's number.
    hidden: Vec<(u32, usize)>,
}

impl Ranges {
    pub fn new(buffers: Vec<Range>) -> Ranges {
        Ranges { all: buffers, hidden: Vec::new() }
    }

    /// Adds a range of words; returns its number.
    fn words(&mut self, name: String, words: &[u32]) -> usize {
        let initial: Vec<_> = words.iter().flat_map(|word| word.to_le_bytes()).map(Some).collect();
        self.all.push(Range {
            name,
            item: Some(Number::U32),
            bytes: initial.len() as u64,
            initial,
            parts: None,
            member: None,
        });
        self.all.len() - 1
    }

    /// The word that stands for sequentially consistent fences on a device.
    fn hidden(&mut self, device: u32) -> usize {
        if let Some(&(_, range)) = self.hidden.iter().find(|(of, _)| *of == device) {
            return range;
        }
        let range = self.words("the word of sequentially consistent fences".into(), &[0]);
        self.hidden.push((device, range));
        range
    }
}

impl Emitted {
    /// Emits the kernel of a launch on a device, and adds the ranges in which it reports.
    ///
    /// # Errors
    /// The target lacks something that the kernel uses.
    pub fn of(
        own: &LaunchWorld,
        (number, device): (usize, u32),
        batch: &Batch,
        ranges: &mut Ranges,
    ) -> Result<Emitted> {
        let (code, control) = match batch.target.code() {
            CodeLanguage::Ptx { sm } => {
                let code = ptx::Code::of(own, (number, sm), ranges)?;
                let control = code.control;
                (Code::Ptx(code), control)
            }
            CodeLanguage::Spirv => {
                let code = spirv::Code::of(own, (number, device), batch, ranges)?;
                let control = code.control;
                (Code::Spirv(code), control)
            }
        };
        Ok(Emitted { code, control })
    }

    /// The launch of the kernel as it was read back.
    ///
    /// # Errors
    /// The reader refuses what was emitted.
    pub fn part(&self, own: &LaunchWorld, batch: &Batch, images: &Images) -> Result<Part> {
        match &self.code {
            Code::Ptx(code) => code.part(own, batch, images),
            Code::Spirv(code) => code.part(own, batch, images),
        }
    }

    /// The cells that say whether a fault was reported, and which.
    pub fn words(&self) -> [Address; 2] {
        let word = |word: u32| Address { memory: self.control as u32, element: u64::from(word) * 4 };
        [word(control::CLAIMED), word(control::SITE)]
    }

    /// The fault that was reported, if one was, by the final values of cells in ascending order.
    pub fn reported(&self, cells: &[(Address, u64)]) -> Option<String> {
        let [claimed, site] = self
            .words()
            .map(|word| cells.binary_search_by_key(&word, |(address, _)| *address).map_or(0, |at| cells[at].1));
        (claimed != 0).then(|| self.fault(site))
    }

    /// The fault of that number.
    pub fn fault(&self, site: u64) -> String {
        let sites = match &self.code {
            Code::Ptx(code) => &code.module.sites,
            Code::Spirv(code) => &code.module.sites,
        };
        match sites.get(site as usize) {
            Some(FaultSite { site, fault }) => format!("{}, at {site}", fault_text(fault)),
            None => format!("a fault of number {site}"),
        }
    }
}

/// The view that an argument of a launch is.
fn view(own: &LaunchWorld, number: usize) -> Option<View> {
    own.environment.arguments.get(number).and_then(Given::view).copied()
}

/// The bits of the number that an argument of a launch is.
fn scalar(own: &LaunchWorld, number: usize) -> u64 {
    match own.environment.arguments.get(number) {
        Some(Given::Scalar(bits)) => *bits,
        Some(Given::View(_)) | None => 0,
    }
}

/// The error for a kernel that uses what a target lacks.
fn lacking(what: impl std::fmt::Display, instead: &str) -> Error {
    Error::capability("checker", format!("judge this launch: {what}"), instead)
}

/// What a fault of a thread is, in words.
fn fault_text(fault: &Fault) -> &'static str {
    match fault {
        Fault::OutOfBounds { .. } => "an index out of bounds",
        Fault::DivisionByZero => "a division by zero",
        Fault::Assertion { .. } => "an assertion does not hold",
        Fault::LoopCut | Fault::Loop => "a loop that was ended",
    }
}
