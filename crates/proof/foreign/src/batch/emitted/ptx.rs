//! Kernels as CUDA devices get them.

use std::collections::HashMap;

use wattle_check::checker::Batch;
use wattle_check::program::LaunchWorld;
use wattle_core::Result;
use wattle_ptx::{Argument, Module, control};

use super::super::images::Images;
use super::super::refused;
use super::{Ranges, lacking, scalar, view};
use crate::launch::Launch;
use crate::prepare::chosen;
use crate::range::address_of;
use crate::world::{Part, Source, read};

/// The PTX of a kernel, and the ranges of the words in which it reports faults: of those on the device, and of those in
/// the host's memory.
pub(super) struct Code {
    pub module: Module,
    pub control: usize,
    host: usize,
}

/// The threads per block that code is made for at the least and at the most.
const THREADS: (u32, u32) = (128, 1024);

impl Code {
    /// Makes the code of the launch with this number for a compute capability, and its memory.
    pub fn of(own: &LaunchWorld, (number, sm): (usize, u32), ranges: &mut Ranges) -> Result<Code> {
        let threads = own.environment.shape.threads_per_block() as u32;
        let threads = threads.next_power_of_two().clamp(THREADS.0, THREADS.1);
        let target = wattle_ptx::PtxTarget::new(sm).with_max_threads(threads).unwatched();
        let module = wattle_ptx::build(own.program.kernel(), &target);
        let module = module.map_err(|what| lacking(&what, what.instead()))?;
        let mut words = [0; control::WORDS as usize];
        words[control::GATE as usize] = u32::MAX;
        let control = ranges.words(format!("the control block of launch {number}"), &words);
        let host = [0; control::host::WORDS as usize];
        let host = ranges.words(format!("the host's words of launch {number}"), &host);
        Ok(Code { module, control, host })
    }

    pub fn part(&self, own: &LaunchWorld, batch: &Batch, images: &Images) -> Result<Part> {
        let name = &own.program.kernel().name;
        let source = Source { file: format!("{name}.ptx"), text: self.module.text() };
        let module = read(&source, &HashMap::new(), None).map_err(refused)?;
        let kernel = chosen(&source, &module, Some(&self.module.entry)).map_err(refused)?;
        let (shape, shared_len) = (own.environment.shape, own.environment.shared_len);
        let layout = &self.module.layout;
        let mut params = vec![0; module.kernels[kernel].packed_bytes()];
        for parameter in &layout.arguments {
            let value: u64 = match parameter.what {
                Argument::Control => address_of(self.control),
                Argument::Host => address_of(self.host),
                Argument::Number => 1,
                Argument::Base(id) => view(own, id.index()).map_or(0, |view| {
                    let buffer = images.buffer(view.memory as u32).unwrap_or_default();
                    address_of(buffer) + view.offset * batch.buffers[buffer].layout.size() as u64
                }),
                Argument::Scalar(id) => scalar(own, id.index()),
                Argument::Launch(value) => own.environment.launch_value(value),
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
        let params = module.kernels[kernel].parameter_space(&params);
        Ok(Part::of_emitted(source, (module, kernel), launch, params))
    }
}
