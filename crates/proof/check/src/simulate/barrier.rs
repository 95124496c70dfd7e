//! The block's barrier, and the end of threads and blocks.

use wattle_ir::Site;

use super::finding::Finding;
use super::running::State;
use super::simulator::Simulator;

impl Simulator {
    /// Handles a thread's arrival at a barrier.
    pub(super) fn arrive(&mut self, key: u32, site: Site, iterations: Vec<u64>) {
        self.set_aside(key, State::Barrier(site, iterations));
        let Some(Some(thread)) = self.threads.get_mut(key as usize) else { return };
        // Until the next back edge the thread lets others continue, so it is not spinning.
        thread.loops.clear();
        let Some(Some(block)) = self.blocks.get_mut(thread.block as usize) else { return };
        block.arrived.push(key);
        if block.ended.is_some() {
            self.missed(key);
        } else if block.arrived.len() == block.threads.len() {
            let key = thread.block;
            self.open(key);
        }
    }

    /// Opens the barrier when all threads of a block wait; each then knows what all knew.
    fn open(&mut self, block_key: u32) {
        let Some(Some(block)) = self.blocks.get_mut(block_key as usize) else { return };
        let arrived = std::mem::take(&mut block.arrived);
        // The dynamic instance is the statement and the iterations of the loops around it.
        let mut first: Option<(u32, u32, Vec<u64>)> = None;
        let mut all = super::clock::Clock::default();
        for &key in &arrived {
            let Some(Some(thread)) = self.threads.get_mut(key as usize) else { continue };
            let State::Barrier(_, iterations) = &thread.state else { continue };
            let at = thread.machine.at();
            match &first {
                Some((first, first_at, around)) if *first_at != at || around != iterations => {
                    return self.mismatch(*first, key);
                }
                Some(_) => {}
                None => first = Some((key, at, iterations.clone())),
            }
            all.join(&thread.sync.hand_on());
        }
        for key in arrived {
            if let Some(Some(thread)) = self.threads.get_mut(key as usize) {
                thread.sync.seen = all.clone();
            }
            self.wake(key);
        }
    }

    /// Reports that threads of a block wait at different barriers and can never continue.
    fn mismatch(&mut self, first: u32, second: u32) {
        let (Some(Some(x)), Some(Some(y))) = (self.threads.get(first as usize), self.threads.get(second as usize))
        else {
            return;
        };
        let number = x.launch;
        let Some(launch) = self.launches.get_mut(number) else { return };
        let finding = Finding::BarrierMismatch {
            first: launch.actor(x.sync.member.thread),
            first_site: x.machine.site(&launch.program),
            second: launch.actor(y.sync.member.thread),
            second_site: y.machine.site(&launch.program),
            one_statement: x.machine.at() == y.machine.at(),
        };
        launch.keep(finding);
        self.end_launch(number);
    }

    /// Reports that the thread waits at a barrier after another thread of its block has ended, and can never continue.
    fn missed(&mut self, key: u32) {
        let Some(Some(thread)) = self.threads.get(key as usize) else { return };
        let Some(Some(block)) = self.blocks.get(thread.block as usize) else { return };
        let (Some((ended, last)), number) = (block.ended, thread.launch) else { return };
        let Some(launch) = self.launches.get_mut(number) else { return };
        let finding = Finding::BarrierMissed {
            waiting: launch.actor(thread.sync.member.thread),
            barrier: thread.machine.site(&launch.program),
            ended: launch.actor(ended),
            last,
        };
        launch.keep(finding);
        self.end_launch(number);
    }

    /// Handles the end of a thread.
    pub(super) fn ended(&mut self, key: u32) {
        let Some(Some(thread)) = self.threads.get(key as usize) else { return };
        let (number, block_key, member) = (thread.launch, thread.block, thread.sync.member);
        let Some(launch) = self.launches.get_mut(number) else { return };
        let site = thread.machine.site(&launch.program);
        let Some(Some(block)) = self.blocks.get_mut(block_key as usize) else { return };
        if let Some(slot) = block.threads.get_mut(thread.number as usize) {
            *slot = None;
        }
        block.live -= 1;
        block.ended = Some((member.thread, site));
        let (live, waiting) = (block.live, block.arrived.first().copied());
        self.forget_thread(key);
        if let Some(waiting) = waiting {
            self.missed(waiting);
        } else if live == 0 {
            let Some(launch) = self.launches.get_mut(number) else { return };
            launch.running.retain(|&running| running != block_key);
            let over = launch.running.is_empty() && launch.next_block == launch.blocks;
            self.forget_block(block_key);
            if over {
                self.end_launch(number);
            } else {
                self.start_blocks(number);
            }
        }
    }
}
