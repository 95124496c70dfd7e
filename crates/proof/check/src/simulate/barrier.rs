//! The block's barrier, the operations of warps, and the end of threads and blocks.

use wattle_ir::warp::evaluate;
use wattle_ir::{Site, Type, WarpOp};

use super::finding::Finding;
use super::machine::Code;
use super::running::{AtWarp, RunState};
use super::simulator::Simulator;

impl Simulator {
    /// Handles a thread's arrival at a barrier.
    pub(super) fn arrive(&mut self, key: u32, site: Site, iterations: Vec<u64>) {
        self.set_aside(key, RunState::Barrier(site, iterations));
        let Some(Some(thread)) = self.threads.get_mut(key as usize) else { return };
        // Until the next back edge the thread lets others continue, so it is not spinning.
        thread.loops.clear();
        let Some(Some(block)) = self.blocks.get_mut(thread.block as usize) else { return };
        let (number, size) = (thread.number, self.launches[thread.launch].shape.warp_size);
        block.arrived.push(key);
        if let Some(&other) = block.at_warp[(number / size) as usize].first() {
            // The barrier needs the lanes that wait for this one.
            return self.mismatch(other, key, true);
        }
        if block.ended.is_some() {
            self.missed(key, false);
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
            let RunState::Barrier(_, iterations) = &thread.state else { continue };
            let at = thread.machine.at();
            match &first {
                Some((first, first_at, around)) if *first_at != at || around != iterations => {
                    return self.mismatch(*first, key, false);
                }
                Some(_) => {}
                None => first = Some((key, at, iterations.clone())),
            }
            all.join(&thread.sync.seen);
        }
        self.share(&arrived, all);
        self.part(block_key, None, &arrived);
    }

    /// Handles a thread's arrival at an operation of its warp, which is done once all lanes are at it.
    pub(super) fn arrive_in_warp(&mut self, key: u32, at: AtWarp) {
        self.set_aside(key, RunState::Warp(at));
        let Some(Some(thread)) = self.threads.get_mut(key as usize) else { return };
        thread.loops.clear();
        let (lane, block_key) = (thread.number, thread.block);
        let Some(Some(block)) = self.blocks.get_mut(block_key as usize) else { return };
        let shape = &self.launches[thread.launch].shape;
        let (warp, lanes) = ((lane / shape.warp_size) as usize, shape.lanes(lane.into()));
        block.at_warp[warp].push(key);
        let lanes = &block.threads[lanes.start as usize..lanes.end as usize];
        if block.ended.is_some() && lanes.contains(&None) {
            return self.missed(key, true);
        }
        let at_barrier = block.arrived.iter().find(|&&key| lanes.contains(&Some(key)));
        if let Some(&other) = at_barrier {
            return self.mismatch(key, other, true);
        }
        if block.at_warp[warp].len() == lanes.len() {
            let lanes: Vec<u32> = lanes.iter().flatten().copied().collect();
            block.at_warp[warp].clear();
            self.meet(block_key, warp, &lanes);
        }
    }

    /// Executes the operation of a warp at which all its lanes have arrived.
    fn meet(&mut self, block: u32, warp: usize, lanes: &[u32]) {
        let (mut first, mut parts) = (None, Vec::with_capacity(lanes.len()));
        for &key in lanes {
            let Some(Some(thread)) = self.threads.get(key as usize) else { continue };
            let RunState::Warp(at) = &thread.state else { continue };
            let place = (thread.machine.at(), &at.iterations);
            if *first.get_or_insert(place) != place {
                return self.mismatch(lanes[0], key, true);
            }
            parts.push(at.part);
        }
        match parts.into_iter().collect::<Option<Vec<_>>>() {
            Some(parts) => self.exchange(lanes, &parts),
            None => self.open_warp(lanes),
        }
        self.part(block, Some(warp), lanes);
    }

    /// Gives each lane its result of an operation, from the operation and the operands of all.
    fn exchange(&mut self, lanes: &[u32], parts: &[(WarpOp, Type, u64, u32)]) {
        let Some(&(op, ty, ..)) = parts.first() else { return };
        let values: Vec<u64> = parts.iter().map(|part| part.2).collect();
        let operands: Vec<u32> = parts.iter().map(|part| part.3).collect();
        for (&key, result) in lanes.iter().zip(evaluate(op, ty, &values, &operands)) {
            if let Some(Some(thread)) = self.threads.get_mut(key as usize) {
                thread.machine.answer(result);
            }
        }
    }

    /// Opens a warp's barrier: each lane then knows what all knew.
    fn open_warp(&mut self, lanes: &[u32]) {
        let mut all = super::clock::Clock::default();
        for &key in lanes {
            if let Some(Some(thread)) = self.threads.get(key as usize) {
                all.join(&thread.sync.seen);
            }
        }
        self.share(lanes, all);
    }

    /// Has threads that meet know what all of them knew, which is `all`, and what all of them did.
    fn share(&mut self, keys: &[u32], mut all: super::clock::Clock) {
        for &key in keys {
            if let Some(Some(thread)) = self.threads.get_mut(key as usize) {
                thread.sync.join_into(&mut all);
            }
        }
        for &key in keys {
            if let Some(Some(thread)) = self.threads.get_mut(key as usize) {
                thread.sync.seen = all.clone();
            }
        }
    }

    /// Reports that threads of a block wait at different barriers, or lanes of a warp at different operations, and can
    /// never continue.
    fn mismatch(&mut self, first: u32, second: u32, in_warp: bool) {
        let (Some(Some(x)), Some(Some(y))) = (self.threads.get(first as usize), self.threads.get(second as usize))
        else {
            return;
        };
        let number = x.launch;
        let Some(launch) = self.launches.get_mut(number) else { return };
        let finding = Finding::BarrierMismatch {
            first: launch.actor(x.sync.member.thread),
            first_site: x.machine.site(&launch.code),
            second: launch.actor(y.sync.member.thread),
            second_site: y.machine.site(&launch.code),
            one_statement: x.machine.at() == y.machine.at(),
            in_warp,
        };
        launch.keep(finding);
        self.end_launch(number);
    }

    /// Reports that the thread waits at a barrier or an operation of its warp after another thread that it waits for
    /// has ended, and can never continue.
    fn missed(&mut self, key: u32, in_warp: bool) {
        let Some(Some(thread)) = self.threads.get(key as usize) else { return };
        let Some(Some(block)) = self.blocks.get(thread.block as usize) else { return };
        let (Some((ended, last)), number) = (block.ended, thread.launch) else { return };
        let Some(launch) = self.launches.get_mut(number) else { return };
        let finding = Finding::BarrierMissed {
            waiting: launch.actor(thread.sync.member.thread),
            barrier: thread.machine.site(&launch.code),
            ended: launch.actor(ended),
            last,
            in_warp,
        };
        launch.keep(finding);
        self.end_launch(number);
    }

    /// Handles the end of a thread.
    pub(super) fn ended(&mut self, key: u32) {
        let beside = self.launches.iter().filter(|launch| !launch.done).count() > 1;
        let Some(Some(thread)) = self.threads.get(key as usize) else { return };
        let (number, block_key, member, lane) = (thread.launch, thread.block, thread.sync.member, thread.number);
        let Some(launch) = self.launches.get_mut(number) else { return };
        if beside {
            launch.known.join(&thread.sync.seen);
        }
        let site = thread.machine.site(&launch.code);
        let Some(Some(block)) = self.blocks.get_mut(block_key as usize) else { return };
        if let Some(slot) = block.threads.get_mut(thread.number as usize) {
            *slot = None;
        }
        block.live -= 1;
        block.ended = Some((member.thread, site));
        if let Code::Module(_) = launch.code {
            block.left.push((lane, site));
        }
        let (live, waiting) = (block.live, block.arrived.first().copied());
        let in_warp = block.at_warp[(lane / launch.shape.warp_size) as usize].first().copied();
        self.forget_thread(key);
        if let Some(waiting) = in_warp {
            self.missed(waiting, true);
        } else if let Some(waiting) = waiting {
            self.missed(waiting, false);
        } else if live > 0 {
            self.look_at_gates(block_key);
        } else {
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
