//! Launches of modules' kernels on the simulated device.
//!
//! What a module's threads do is known to the crate that reads modules, which the simulated device finds as the checker
//! finds it ([`MODULE_JUDGES`]). Each buffer that a module's kernel is given gets a range of addresses of its own,
//! which it keeps: so addresses may stand in memory from one launch to the next. So does each variable of a module,
//! whose values are kept too.

use std::sync::Arc;

use wattle_core::queue::QueuedLaunch;
use wattle_core::{Error, ModuleCall, ModuleCode, Result, ViewArgument, lock};
use wattle_ir::{Element as _, Type};
use wattle_machine::LaunchShape;

use super::DeviceState;
use super::memory::SimulatedMemory;
use crate::checker::{BatchBuffer, BatchKernel, BatchLaunch, MODULE_JUDGES};
use crate::simulate::{Agent, Init, MemoryId, ModuleBuffer, ModuleRequest, Simulator};

/// The size of the elements that hold a variable.
const WORD: usize = 4;

/// The memory that kernels of modules can reach.
#[derive(Default)]
pub(super) struct Reachable {
    /// The buffers and variables, by the numbers of their ranges of addresses.
    buffers: Vec<Known>,
    /// The numbers of each module's variables.
    variables: Vec<(Arc<ModuleCode>, Vec<usize>)>,
}

/// A buffer that a module's kernel has been given, or a variable.
struct Known {
    buffer: BatchBuffer,
    /// The memory of each number of its elements, with the number's offset in an element.
    memories: Vec<(MemoryId, u32)>,
    /// The distance in bytes of two elements of these memories.
    stride: u64,
}

impl Reachable {
    /// The number of a buffer. It gets the name of the parameter that it is given for first.
    fn number(&mut self, view: &ViewArgument<'_>, name: &str, state: &DeviceState) -> Result<usize> {
        let of_state =
            |memory: &SimulatedMemory| std::ptr::eq(&*memory.state, state).then(|| (memory.ids.clone(), memory.layout));
        let (ids, layout) = view.place(of_state)?;
        let is_it = |known: &Known| known.memories.iter().map(|(id, _)| id).eq(&ids);
        if let Some(number) = self.buffers.iter().position(is_it) {
            return Ok(number);
        }
        let len = ids.first().and_then(|&id| lock(&state.simulator).elements(id).ok()).unwrap_or(0);
        let memories = ids.into_iter().zip(layout.numbers()).map(|(id, leaf)| (id, leaf.offset)).collect();
        let buffer = BatchBuffer { name: name.to_owned(), first: 0, layout, len };
        self.buffers.push(Known { buffer, memories, stride: layout.size() as u64 });
        Ok(self.buffers.len() - 1)
    }

    /// The numbers of a module's variables. They come into being with the first launch of one of its kernels.
    fn variables(&mut self, code: &Arc<ModuleCode>, simulator: &mut Simulator) -> Result<Vec<usize>> {
        if let Some((_, numbers)) = self.variables.iter().find(|(known, _)| Arc::ptr_eq(known, code)) {
            return Ok(numbers.clone());
        }
        let mut numbers = Vec::new();
        for variable in &code.variables {
            let mut bytes = variable.initial.clone();
            bytes.resize((variable.bytes as usize).next_multiple_of(WORD), 0);
            let words: Vec<u64> = bytes
                .chunks_exact(WORD)
                .map(|word| word.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)))
                .collect();
            let failed = |error| wattle_core::system(format!("allocating `{}` of {}", variable.name, code.file), error);
            let id = simulator.allocate(Type::U32, words.len(), Init::Zero).map_err(failed)?;
            simulator.write(id, 0, &words).map_err(failed)?;
            let (name, len) = (variable.name.clone(), variable.bytes as usize);
            let buffer = BatchBuffer { name, first: 0, layout: u8::LAYOUT, len };
            self.buffers.push(Known { buffer, memories: vec![(id, 0)], stride: WORD as u64 });
            numbers.push(self.buffers.len() - 1);
        }
        self.variables.push((code.clone(), numbers.clone()));
        Ok(numbers)
    }

    /// Takes their bytes from the buffers that have been freed; their ranges of addresses stay taken.
    fn forget_freed(&mut self, simulator: &Simulator) {
        for known in &mut self.buffers {
            if known.memories.iter().any(|(id, _)| simulator.elements(*id).is_err()) {
                known.memories.clear();
                known.buffer.len = 0;
                known.buffer.name += " (freed)";
            }
        }
    }

    fn ranges(&self) -> Vec<ModuleBuffer> {
        let range = |known: &Known| ModuleBuffer { memories: known.memories.clone(), stride: known.stride };
        self.buffers.iter().map(range).collect()
    }
}

impl DeviceState {
    /// The request for a launch of a module's kernel.
    pub(super) fn module_request(
        &self,
        call: &ModuleCall,
        launch: &QueuedLaunch,
        shape: LaunchShape,
        device: u32,
    ) -> Result<ModuleRequest> {
        let Some(judge) = MODULE_JUDGES.first() else {
            let what = "run a module's kernel: no reader of modules is linked";
            return Err(Error::capability(
                &self.properties.name,
                what,
                "link the crate that reads them, `wattle-foreign`",
            ));
        };
        let mut reachable = lock(&self.reachable);
        let variables = {
            let mut simulator = lock(&self.simulator);
            reachable.forget_freed(&simulator);
            reachable.variables(&call.entry().code, &mut simulator)?
        };
        let buffer = |view: &ViewArgument<'_>, name: &str| reachable.number(view, name, self);
        let kernel = BatchKernel::of_module(call, launch, shape.warp_size, buffer, variables)?;
        let cooperative = launch.options.is_cooperative();
        let prepared = BatchLaunch { kernel, device, after: Vec::new(), cooperative };
        let buffers: Vec<BatchBuffer> = reachable.buffers.iter().map(|known| known.buffer.clone()).collect();
        Ok(ModuleRequest {
            module: judge.simulated(&prepared, &buffers, self.seed)?,
            kernel: call.entry().name().into(),
            rank: launch.shape.rank,
            shape,
            buffers: reachable.ranges(),
            agent: Agent::Device(device),
            cooperative,
            step_limit: self.patience.map(|patience| patience.steps),
            deadline: self.deadline(&launch.options),
        })
    }
}
