//! The blocks of launches: how they start, and how blocks and launches end.

use super::clock::Clock;
use super::machine::Code;
use super::memory::{Address, Init};
use super::running::{Block, Meetings, READS, RunState, Running};
use super::simulator::Simulator;
use super::sync::{Member, ThreadSync};

impl Simulator {
    /// Starts blocks in index order, as many as may be resident.
    pub(super) fn start_blocks(&mut self, launch: usize) {
        loop {
            let Some(state) = self.launches.get(launch) else { return };
            let running = state.running.len() as u64;
            let full = running > 0 && (running + 1) * state.threads_per_block as u64 > state.resident;
            if state.done || state.next_block == state.blocks || full {
                return;
            }
            self.start_block(launch);
        }
    }

    fn start_block(&mut self, number_of_launch: usize) {
        let key = self.free_blocks.pop().unwrap_or_else(|| {
            self.blocks.push(None);
            self.blocks.len() as u32 - 1
        });
        let Some(launch) = self.launches.get_mut(number_of_launch) else { return };
        let number = launch.next_block;
        launch.next_block += 1;
        launch.running.push(key);
        let shared = match &launch.code {
            Code::Own(program, environment) => {
                let arrays = program.kernel().shared.iter().map(|array| {
                    let len = array.len.in_launch(environment.shared_len);
                    self.memories.allocate(array.element, len as usize, Init::Unwritten)
                });
                arrays.collect()
            }
            Code::Module(run) => run.allocate_shared(&mut self.memories),
        };
        let per_block = launch.threads_per_block;
        let warps = per_block.div_ceil(launch.shape.warp_size);
        let first = launch.base + number as u32 * per_block;
        let mut threads = Vec::with_capacity(per_block as usize);
        for number_in_block in 0..per_block {
            let position = launch.shape.position(number, number_in_block as u64);
            let member =
                Member { thread: first + number_in_block, block: first, device: launch.device, alone: per_block == 1 };
            let thread = self.free_threads.pop().unwrap_or_else(|| {
                self.threads.push(None);
                self.threads.len() as u32 - 1
            });
            self.threads[thread as usize] = Some(Box::new(Running {
                machine: launch.code.thread(position, number, number_in_block),
                sync: ThreadSync::new(member, launch.start.clone()),
                block_sync: launch
                    .code
                    .separates_classes()
                    .then(|| Box::new(ThreadSync::new(member, launch.start.clone()))),
                launch: number_of_launch,
                block: key,
                number: number_in_block,
                state: RunState::Runnable(self.runnable.len()),
                loops: Vec::new(),
                reads: [Address { memory: 0, element: 0 }; READS],
                read_count: 0,
            }));
            self.runnable.push(thread);
            threads.push(Some(thread));
        }
        self.blocks[key as usize] = Some(Block {
            launch: number_of_launch,
            number,
            live: threads.len(),
            threads,
            arrived: Vec::new(),
            at_warp: vec![Vec::new(); warps as usize],
            gates: Vec::new(),
            met_at_barrier: Meetings::default(),
            met_in_warp: (0..warps).map(|_| Meetings::default()).collect(),
            ended: None,
            left: Vec::new(),
            shared,
        });
    }

    /// Ends a launch: removes its threads and keeps its findings.
    pub(super) fn end_launch(&mut self, launch: usize) {
        let Some(state) = self.launches.get_mut(launch) else { return };
        state.done = true;
        let running = std::mem::take(&mut state.running);
        if let Code::Module(run) = &state.code {
            run.free(&mut self.memories);
        }
        self.results.insert(state.id, std::mem::take(&mut state.findings));
        self.finished.join(&state.known);
        self.finished.cover(state.base, state.end());
        for key in running {
            self.forget_block(key);
        }
        if !self.in_flight() {
            self.launches.clear();
            self.finished = Clock::default();
            self.fences.clear();
            self.waiters.clear();
            self.waiters_for_any.clear();
            self.next_number = 0;
            self.generation += 1;
        }
    }

    pub(super) fn forget_block(&mut self, key: u32) {
        let Some(block) = self.blocks.get_mut(key as usize).and_then(Option::take) else { return };
        self.free_blocks.push(key);
        for thread in block.threads.into_iter().flatten() {
            self.forget_thread(thread);
        }
        for memory in block.shared {
            self.memories.free(memory);
        }
    }

    pub(super) fn forget_thread(&mut self, key: u32) {
        self.suspend(key);
        if self.threads.get_mut(key as usize).and_then(Option::take).is_some() {
            self.free_threads.push(key);
        }
    }
}
