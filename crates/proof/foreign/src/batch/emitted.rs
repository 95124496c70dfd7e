//! Wattle's own kernels as CUDA devices get them: emitted as PTX, and read back.
//!
//! The code is that of [`wattle_ptx`], but for what passes between the launch and a host that watches it.
//! The words in which threads report faults are ranges of their own.

use std::collections::HashMap;

use wattle_check::checker::Batch;
use wattle_check::program::LaunchWorld;
use wattle_check::search::Address;
use wattle_core::{Error, Result};
use wattle_machine::Argument as Given;
use wattle_memory::Target;
use wattle_ptx::{Argument, FaultSite, Module, control};

use super::images::Images;
use super::refused;
use crate::launch::Launch;
use crate::number::Number;
use crate::prepare::chosen;
use crate::world::{Part, Range, Source, address_of, read};

/// The emitted kernel of a launch.
pub(super) struct Emitted {
    module: Module,
    /// The ranges of the words in which it reports faults, and of those in the host's memory.
    control: usize,
    host: usize,
}

/// The threads per block that code is made for at the least and at the most.
const THREADS: (u32, u32) = (128, 1024);

impl Emitted {
    /// Emits the kernel of a launch, and adds the ranges in which it reports.
    ///
    /// # Errors
    /// The target lacks something that the kernel uses.
    pub fn of(own: &LaunchWorld, number: usize, batch: &Batch, ranges: &mut Vec<Range>) -> Result<Emitted> {
        let sm = match batch.target {
            Target::Ptx { sm } => sm,
            Target::Portable | Target::Vulkan | Target::Host => 90,
        };
        let threads = own.environment.shape.threads_per_block() as u32;
        let threads = threads.next_power_of_two().clamp(THREADS.0, THREADS.1);
        let target = wattle_ptx::Target::new(sm).with_max_threads(threads).unwatched();
        let module = wattle_ptx::build(own.program.kernel(), &target).map_err(|lacking| {
            Error::capability("checker", format!("judge this launch: {lacking}"), lacking.instead())
        })?;
        let mut words = |name: &str, count: u32, open: Option<u32>| {
            let mut initial = vec![Some(0); count as usize * 4];
            if let Some(word) = open {
                initial[word as usize * 4..][..4].fill(Some(0xff));
            }
            let (name, item) = (format!("{name} {number}"), Some(Number::U32));
            ranges.push(Range { name, item, bytes: u64::from(count) * 4, initial });
            ranges.len() - 1
        };
        let control = words("the control block of launch", control::WORDS, Some(control::GATE));
        let host = words("the host's words of launch", control::host::WORDS, None);
        Ok(Emitted { module, control, host })
    }

    /// The launch of the kernel as it was read back.
    ///
    /// # Errors
    /// The reader refuses what was emitted.
    pub fn part(&self, own: &LaunchWorld, batch: &Batch, images: &Images) -> Result<Part> {
        let name = &own.program.kernel().name;
        let source = Source { file: format!("{name}.ptx"), text: self.module.text() };
        let module = read(&source, &HashMap::new()).map_err(refused)?;
        let kernel = chosen(&module, Some(&self.module.entry)).map_err(refused)?;
        let (shape, shared_len) = (own.environment.shape, own.environment.shared_len);
        let layout = &self.module.layout;
        let mut params = vec![0; module.kernels[kernel].param_bytes as usize];
        let argument = |number: usize| own.environment.arguments.get(number);
        let view = |number: usize| argument(number).and_then(Given::view).copied();
        for parameter in &layout.arguments {
            let value: u64 = match parameter.what {
                Argument::Control => address_of(self.control),
                Argument::Host => address_of(self.host),
                Argument::Number => 1,
                Argument::Base(id) => view(id.index()).map_or(0, |view| {
                    let buffer = images.buffer(view.memory as u32).unwrap_or_default();
                    address_of(buffer) + view.offset * batch.buffers[buffer].layout.size() as u64
                }),
                Argument::Extent(id, d) => view(id.index()).map_or(0, |view| view.extent[usize::from(d)].into()),
                Argument::Stride(id, d) => view(id.index()).map_or(0, |view| view.strides[usize::from(d)].into()),
                Argument::Scalar(id) => match argument(id.index()) {
                    Some(Given::Scalar(bits)) => *bits,
                    Some(Given::View(_)) | None => 0,
                },
                Argument::SharedLen => shared_len.into(),
                Argument::BlockExtent(d) => shape.block_extent[usize::from(d)].into(),
                Argument::GridExtent(d) => shape.grid_extent[usize::from(d)].into(),
                Argument::FrameCount(d) => shape.frame_count[usize::from(d)].into(),
                Argument::FrameExtent(d) => shape.frame_extent[usize::from(d)].into(),
            };
            let (from, size) = (parameter.offset as usize, parameter.size as usize);
            params[from..from + size].copy_from_slice(&value.to_le_bytes()[..size]);
        }
        let at_launch = layout.launch_sized_element.map_or(0, u64::from) * u64::from(shared_len);
        let launch = Launch {
            grid: [shape.blocks() as u32, 1, 1],
            block: [shape.threads_per_block() as u32, 1, 1],
            arguments: Vec::new(),
            dynamic_shared: u64::from(layout.shared_bytes_at_launch) + at_launch,
        };
        Ok(Part::new(source, (module, kernel), launch, params))
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
        match self.module.sites.get(site as usize) {
            Some(FaultSite { site, fault }) => format!("{}, at {site}", fault_text(fault)),
            None => format!("a fault of number {site}"),
        }
    }
}

/// A fault in words.
fn fault_text(fault: &wattle_ptx::Fault) -> &'static str {
    use wattle_ptx::Fault;
    match fault {
        Fault::OutOfBounds { .. } => "an index out of bounds",
        Fault::DivisionByZero => "a division by zero",
        Fault::Assertion { .. } => "an assertion does not hold",
        Fault::LoopCut | Fault::Loop => "a loop that was ended",
    }
}
