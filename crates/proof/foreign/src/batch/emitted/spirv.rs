//! Kernels as Vulkan devices get them.

use wattle_check::checker::{Batch, Profile};
use wattle_check::program::LaunchWorld;
use wattle_core::Result;
use wattle_ir::ParamId;
use wattle_modules::spirv::{Bound, BoundMemory, Setting, binary};
use wattle_spirv::{ArgumentWord, Features, Module, SpecConstant, control};

use super::super::images::Images;
use super::super::refused;
use super::{Ranges, lacking, scalar, view};
use crate::range::address_of;
use crate::spirv;
use crate::world::{Part, Source};

/// The SPIR-V of a kernel, and the ranges of what its launch gives it besides its views: the control block with the
/// arguments, the device's hidden word, and the queue's gate.
pub(super) struct Code {
    pub module: Module,
    pub control: usize,
    hidden: usize,
    gate: usize,
    words: Vec<u32>,
}

/// The descriptor sets of the queue and of the views ([`wattle_spirv::Layout`]).
const OF_QUEUE: u32 = 0;
const OF_VIEWS: u32 = 1;

impl Code {
    pub fn of(own: &LaunchWorld, (number, device): (usize, u32), batch: &Batch, ranges: &mut Ranges) -> Result<Code> {
        let features = match batch.profile {
            Profile::Best => Features::all(),
            Profile::Least => Features::least(),
        };
        let module = wattle_spirv::build_for(own.program.kernel(), &features.unwatched(), &views_of_one_buffer(own));
        let module = module.map_err(|what| lacking(&what, what.instead()))?;
        let words: Vec<u32> = module.layout.arguments.iter().map(|&word| argument(own, word)).collect();
        let mut block = vec![0; control::WORDS as usize];
        if !module.layout.in_push_constants {
            block[control::ARGUMENTS as usize..][..words.len()].copy_from_slice(&words);
        }
        let control = ranges.words(format!("the control block of launch {number}"), &block);
        let gate = ranges.words(format!("the gate of launch {number}"), &[control::OPEN]);
        Ok(Code { module, control, hidden: ranges.hidden(device), gate, words })
    }

    pub fn part(&self, own: &LaunchWorld, batch: &Batch, images: &Images) -> Result<Part> {
        let name = &own.program.kernel().name;
        let file = format!("{name}.spv");
        let bytes: Vec<u8> = self.module.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let module = binary(&file, &bytes).map_err(|why| refused(why.into()))?;
        let shape = own.environment.shape;
        let layout = &self.module.layout;
        let mut memories = std::collections::HashMap::new();
        let queue = [(self.control, u64::from(control::WORDS) * 4), (self.hidden, 4), (self.gate, 4)];
        for (binding, (buffer, bytes)) in (0..).zip(queue) {
            memories.insert((OF_QUEUE, binding), BoundMemory { buffer, address: address_of(buffer), bytes });
        }
        for (binding, bound) in (0..).zip(&layout.views) {
            let memory = view(own, bound.param.index()).map_or(0, |view| view.memory as u32);
            let buffer = images.buffer(memory).unwrap_or_default();
            let bytes = batch.buffers[buffer].layout.size() * batch.buffers[buffer].len;
            let memory = BoundMemory { buffer, address: address_of(buffer), bytes: bytes as u64 };
            memories.insert((OF_VIEWS, binding), memory);
        }
        let threads = shape.threads_per_block();
        let constant = |which: SpecConstant| match which {
            SpecConstant::Threads | SpecConstant::Workgroup => threads,
            SpecConstant::Extent0 => shape.block_extent[0].into(),
            SpecConstant::Extent1 => shape.block_extent[1].into(),
            SpecConstant::Extent2 => shape.block_extent[2].into(),
            SpecConstant::Extent3 => shape.block_extent[3].into(),
            SpecConstant::SharedLen => own.environment.shared_len.max(1).into(),
        };
        let push = if layout.in_push_constants { &self.words[..] } else { &[] };
        let setting = Setting {
            local_size: Some([threads as u32, 1, 1]),
            workgroups: [shape.blocks() as u32, 1, 1],
            subgroup: Some(shape.warp_size),
            checks_indices: true,
            inputs: std::collections::HashMap::new(),
            bound: Some(Bound {
                workgroup_bytes: 0,
                memories,
                constants: SpecConstant::ALL.map(|which| (which as u32, constant(which))).into(),
                push: push.iter().flat_map(|word| word.to_le_bytes()).collect(),
            }),
        };
        let lowered = module.lower(None, &setting).map_err(|why| refused(why.with_text(&file, &module.text).into()))?;
        let mut part = spirv::part(lowered, Source { file, text: module.text }).map_err(refused)?;
        part.call(name);
        part.hidden = Some(self.hidden as u32);
        Ok(part)
    }
}

/// The parameters that are views of the buffer of another one before them, each with the first of those.
fn views_of_one_buffer(own: &LaunchWorld) -> Vec<[ParamId; 2]> {
    let params = &own.program.kernel().params;
    let is_first = |number: usize| params[number].field.is_none_or(|field| field.first.index() == number);
    let memory = |number: usize| view(own, number).filter(|_| is_first(number)).map(|view| view.memory);
    wattle_ir::views_of_one_memory(params.len(), memory)
}

/// A word of the arguments.
fn argument(own: &LaunchWorld, word: ArgumentWord) -> u32 {
    match word {
        ArgumentWord::Blocks => own.environment.shape.blocks() as u32,
        ArgumentWord::Number => 1,
        ArgumentWord::Zero => 0,
        ArgumentWord::Offset(id) => view(own, id.index()).map_or(0, |view| view.offset as u32),
        ArgumentWord::Low(id) => scalar(own, id.index()) as u32,
        ArgumentWord::High(id) => (scalar(own, id.index()) >> 32) as u32,
        ArgumentWord::Launch(value) => own.environment.launch_value(value) as u32,
    }
}
