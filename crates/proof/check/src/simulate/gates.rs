//! The barriers of modules, and the operations of their warps: arrivals, and whom they let pass.
//!
//! A block of a module has several barriers, for all of its threads or for some, at which a thread may arrive without
//! waiting; the lanes of a warp meet by any mask. So arrivals are gathered here by what the reader of modules says of
//! each: who must come to it, and which arrivals belong together.

use wattle_ir::{Site, Type, WarpOp};
use wattle_memory::{Classes, Label};

use super::clock::Clock;
use super::finding::Finding;
use super::gate::{Arrival, Gate, Meets};
use super::machine::Code;
use super::running::{Block, RunState, Running};
use super::simulator::Simulator;
use crate::search::{Barrier, Convergence, Members, of_remaining};

/// What has come of the arrivals at a gate.
enum GateState {
    /// The gate waits for further arrivals.
    Waits,
    /// The gate opens, and these arrivals pass.
    Opens(Vec<usize>),
    /// The first arrival waits for a thread of that number, which has ended.
    Missed(u32),
    /// Two arrivals are at different statements, or in different iterations.
    Apart(usize, usize),
}

impl Arrival {
    pub fn new(thread: &mut Running, barrier: Barrier, meets: Meets, site: Site) -> Arrival {
        let gives = match meets {
            Meets::Barrier(label) => {
                let of_block = thread.block_sync.as_mut();
                let of_block =
                    of_block.map(|sync| sync.arrive(label.release && label.semantics.includes(Classes::BLOCK)));
                let of_buffers = thread.sync.arrive(label.release && label.semantics.includes(Classes::BUFFER));
                [of_buffers, of_block.unwrap_or_default()]
            }
            Meets::Exchange { .. } => Default::default(),
        };
        Arrival { number: thread.number, site, barrier, meets, gives }
    }

    /// Why lanes may miss the operation, if they may: then nothing is known of who waits for them.
    fn why_may_miss(&self, code: &Code, have_ended: bool) -> Option<&'static str> {
        match (self.meets, code) {
            (Meets::Exchange { .. }, Code::Module(run)) => run.module.why_lanes_may_miss(have_ended),
            (Meets::Barrier(_) | Meets::Exchange { .. }, _) => None,
        }
    }

    fn in_warp(&self) -> bool {
        match (self.meets, &self.barrier.members) {
            (Meets::Exchange { .. }, _) => true,
            (Meets::Barrier(_), _) => self.barrier.resource >= FIRST_OF_WARPS,
        }
    }
}

/// The resources below are those of a block's barriers, whose numbers PTX has from 0 to 15.
const FIRST_OF_WARPS: u64 = 16;

impl Gate {
    /// What has come of the arrivals. `first` is the number of the block's first thread among those of its launch, and
    /// `lives` says whether a thread of the block has not ended.
    fn look(&self, first: usize, lives: &dyn Fn(u32) -> bool) -> GateState {
        let in_block = |thread: &usize| (thread - first) as u32;
        let has_come = |thread: u32| self.arrivals.iter().any(|arrival| arrival.number == thread);
        match &self.members {
            Members::Threads(of) => {
                if self.arrivals.len() == of.len() {
                    return self.converge((0..self.arrivals.len()).collect());
                }
                let mut missing = of.iter().map(in_block).filter(|&thread| !has_come(thread));
                missing.find(|&thread| !lives(thread)).map_or(GateState::Waits, GateState::Missed)
            }
            Members::Remaining(of) => {
                let is_missing = |&thread: &u32| lives(thread) && !has_come(thread);
                if of.iter().map(in_block).any(|thread| is_missing(&thread)) {
                    GateState::Waits
                } else {
                    self.converge((0..self.arrivals.len()).collect())
                }
            }
            Members::Quorum(quorum) => {
                if self.arrivals.len() >= *quorum as usize {
                    self.converge((0..self.arrivals.len()).collect())
                } else {
                    GateState::Waits
                }
            }
            Members::Groups { of, size, count } => {
                let groups = of.chunks((*size).max(1) as usize).map(|group| {
                    let numbers: Vec<u32> = group.iter().map(in_block).collect();
                    self.arrivals_of(&numbers, lives)
                });
                let mut arrived: Vec<Vec<usize>> = groups.flatten().collect();
                if arrived.len() < *count as usize {
                    return GateState::Waits;
                }
                arrived.truncate(*count as usize);
                GateState::Opens(arrived.concat())
            }
        }
    }

    /// The arrivals of a group, one behind the other, each as the arrivals of its threads that have not ended.
    fn arrivals_of(&self, group: &[u32], lives: &dyn Fn(u32) -> bool) -> Vec<Vec<usize>> {
        let of = |&thread: &u32| -> Vec<usize> {
            (0..self.arrivals.len()).filter(|&number| self.arrivals[number].number == thread).collect()
        };
        let each: Vec<Vec<usize>> = group.iter().map(of).collect();
        let left = group.iter().zip(&each).filter(|(thread, _)| lives(**thread)).map(|(_, own)| own.len()).min();
        let whole = left.unwrap_or_else(|| each.iter().map(Vec::len).max().unwrap_or(0));
        let nth = |number: usize| -> Vec<usize> { each.iter().filter_map(|own| own.get(number).copied()).collect() };
        (0..whole).map(nth).take_while(|who| self.apart(who).is_none()).collect()
    }

    fn converge(&self, who: Vec<usize>) -> GateState {
        match self.apart(&who) {
            Some((one, other)) => GateState::Apart(one, other),
            None => GateState::Opens(who),
        }
    }

    /// Two of these arrivals of one group that are not at the same instance of the same statement.
    fn apart(&self, who: &[usize]) -> Option<(usize, usize)> {
        let mut seen: Vec<(Convergence, usize)> = Vec::new();
        for &number in who {
            let Some(convergence) = self.arrivals[number].barrier.converges else { continue };
            match seen.iter().find(|(known, _)| known.group == convergence.group) {
                Some((known, first)) if known.instance != convergence.instance => return Some((*first, number)),
                Some(_) => {}
                None => seen.push((convergence, number)),
            }
        }
        None
    }
}

impl Simulator {
    /// Handles the arrival of a module's thread at a barrier, or at an operation of lanes of its warp.
    pub(super) fn arrive_at_gate(&mut self, key: u32, arrival: Arrival) {
        if arrival.barrier.waits {
            self.set_aside(key, RunState::Gate { in_warp: arrival.in_warp() });
        }
        let Some(Some(thread)) = self.threads.get_mut(key as usize) else { return };
        // Until the next back edge the thread lets others continue, so it is not spinning.
        thread.loops.clear();
        let block_key = thread.block;
        let Some(Some(block)) = self.blocks.get_mut(block_key as usize) else { return };
        let is_it = |gate: &Gate| gate.instance == arrival.barrier.instance && gate.members == arrival.barrier.members;
        let place = block.gates.iter().position(is_it).unwrap_or_else(|| {
            let (instance, members) = (arrival.barrier.instance, arrival.barrier.members.clone());
            block.gates.push(Gate { instance, members, arrivals: Vec::new(), passed: None });
            block.gates.len() - 1
        });
        let gate = &mut block.gates[place];
        if let Some(passed) = &gate.passed {
            // It is open: who comes later passes at once.
            if let Meets::Barrier(label) = arrival.meets {
                pass(thread, passed, &label);
            }
            if arrival.barrier.waits {
                self.wake(key);
            }
            return;
        }
        gate.arrivals.push(arrival);
        self.look_at_gate(block_key, place);
    }

    /// A thread of a launch that waits at an operation which lanes may miss, and why: it may be that it does not wait
    /// at all.
    pub(super) fn may_not_wait(&self, launch: usize) -> Option<(u32, &'static str)> {
        let launch = self.launches.get(launch)?;
        let blocks = launch.running.iter().filter_map(|&key| self.blocks.get(key as usize)?.as_ref());
        blocks.into_iter().find_map(|block| {
            let arrivals = block.gates.iter().flat_map(|gate| &gate.arrivals);
            arrivals.into_iter().find_map(|arrival| {
                let why = arrival.why_may_miss(&launch.code, false)?;
                Some((block.threads.get(arrival.number as usize).copied().flatten()?, why))
            })
        })
    }

    /// Looks at all gates of a block again, after the end of one of its threads.
    pub(super) fn look_at_gates(&mut self, block_key: u32) {
        let count = self.blocks.get(block_key as usize).and_then(Option::as_ref).map_or(0, |block| block.gates.len());
        // Gates that open go.
        (0..count).rev().for_each(|place| self.look_at_gate(block_key, place));
    }

    fn look_at_gate(&mut self, block_key: u32, place: usize) {
        let Some(Some(block)) = self.blocks.get(block_key as usize) else { return };
        let Some(gate) = block.gates.get(place) else { return };
        let first = block.number as usize * block.threads.len();
        let lives = |thread: u32| block.threads.get(thread as usize).is_some_and(Option::is_some);
        match gate.look(first, &lives) {
            GateState::Waits => {}
            GateState::Opens(who) => {
                let is_of_groups = matches!(gate.members, Members::Groups { .. });
                self.open_gate(block_key, place, &who);
                if is_of_groups {
                    // Groups that have arrived again may open it again.
                    self.look_at_gate(block_key, place);
                }
            }
            GateState::Missed(ended) => self.miss_gate(block_key, place, ended),
            GateState::Apart(one, other) => self.meet_apart(block_key, place, [one, other]),
        }
    }

    /// Lets these arrivals pass, each after all of them.
    fn open_gate(&mut self, block_key: u32, place: usize, who: &[usize]) {
        let Some(Some(block)) = self.blocks.get_mut(block_key as usize) else { return };
        let gate = &mut block.gates[place];
        let arrivals = std::mem::take(&mut gate.arrivals).into_iter().enumerate();
        let (passing, others): (Vec<_>, Vec<_>) = arrivals.partition(|(number, _)| who.contains(number));
        let mut passing: Vec<Arrival> = passing.into_iter().map(|(_, arrival)| arrival).collect();
        gate.arrivals = others.into_iter().map(|(_, arrival)| arrival).collect();
        // The lanes of an operation stand in the order of the members.
        passing.sort_by_key(|arrival| arrival.number);
        let mut all: [Clock; 2] = Default::default();
        for arrival in &passing {
            all.iter_mut().zip(&arrival.gives).for_each(|(all, given)| all.join(given));
        }
        // The lanes of an operation, with those that have ended.
        let first = block.number as usize * block.threads.len();
        let lanes: Vec<u32> = match &gate.members {
            Members::Threads(of) | Members::Remaining(of) => of.iter().map(|&thread| (thread - first) as u32).collect(),
            Members::Quorum(_) | Members::Groups { .. } => Vec::new(),
        };
        let meet_again = matches!(gate.members, Members::Threads(_) | Members::Remaining(_));
        match gate.members {
            Members::Quorum(_) => gate.passed = Some(all.clone()),
            Members::Groups { .. } if !gate.arrivals.is_empty() => {}
            Members::Threads(_) | Members::Remaining(_) | Members::Groups { .. } => {
                block.gates.swap_remove(place);
            }
        }
        let waiting = passing.iter().filter(|arrival| arrival.barrier.waits);
        let keys: Vec<u32> = waiting
            .clone()
            .filter_map(|arrival| block.threads.get(arrival.number as usize).copied().flatten())
            .collect();
        for (arrival, &key) in waiting.zip(&keys) {
            let Some(Some(thread)) = self.threads.get_mut(key as usize) else { continue };
            match arrival.meets {
                Meets::Barrier(label) => pass(thread, &all, &label),
                Meets::Exchange { op, ty, .. } => {
                    thread.machine.answer(result(op, ty, &lanes, &passing, arrival.number))
                }
            }
        }
        let warp = passing.first().filter(|arrival| arrival.in_warp()).map(|arrival| arrival.number);
        if meet_again {
            let size = self.warp_size(block_key);
            self.part(block_key, warp.map(|number| (number / size) as usize), &keys);
        } else {
            keys.into_iter().for_each(|key| self.wake(key));
        }
    }

    fn warp_size(&self, block_key: u32) -> u32 {
        let block = self.blocks.get(block_key as usize).and_then(Option::as_ref);
        block.and_then(|block| self.launches.get(block.launch)).map_or(1, |launch| launch.shape.warp_size)
    }

    /// Reports that a thread waits for one that has ended.
    fn miss_gate(&mut self, block_key: u32, place: usize, ended: u32) {
        let Some(Some(Block { gates, launch: number, threads, number: of, left, .. })) =
            self.blocks.get(block_key as usize)
        else {
            return;
        };
        let Some(launch) = self.launches.get_mut(*number) else { return };
        // Nobody waits who has only arrived.
        let Some(waiting) = gates[place].arrivals.iter().find(|arrival| arrival.barrier.waits) else { return };
        let first = launch.base + *of as u32 * threads.len() as u32;
        let (actor, site) = (launch.actor(first + waiting.number), waiting.site);
        let finding = match waiting.why_may_miss(&launch.code, true) {
            Some(what) => Finding::Unjudged { actor, what: what.to_owned(), site },
            None => Finding::BarrierMissed {
                waiting: actor,
                barrier: site,
                in_warp: waiting.in_warp(),
                ended: launch.actor(first + ended),
                last: left.iter().find(|(thread, _)| *thread == ended).map_or(site, |&(_, last)| last),
            },
        };
        launch.keep(finding);
        let number = *number;
        self.end_launch(number);
    }

    /// Reports that threads have met that are at different statements, or in different iterations.
    fn meet_apart(&mut self, block_key: u32, place: usize, [one, other]: [usize; 2]) {
        let Some(Some(Block { gates, launch: number, threads, number: of, .. })) = self.blocks.get(block_key as usize)
        else {
            return;
        };
        let Some(launch) = self.launches.get_mut(*number) else { return };
        let first = launch.base + *of as u32 * threads.len() as u32;
        let (one, other) = (&gates[place].arrivals[one], &gates[place].arrivals[other]);
        let actor = launch.actor(first + one.number);
        let finding = match one.why_may_miss(&launch.code, false) {
            Some(what) => Finding::Unjudged { actor, what: what.to_owned(), site: one.site },
            None => Finding::BarrierMismatch {
                first: actor,
                first_site: one.site,
                second: launch.actor(first + other.number),
                second_site: other.site,
                one_statement: one.site == other.site,
                in_warp: one.in_warp(),
            },
        };
        launch.keep(finding);
        let number = *number;
        self.end_launch(number);
    }
}

/// Lets a thread take what was passed on at a barrier.
fn pass(thread: &mut Running, [of_buffers, of_block]: &[Clock; 2], label: &Label) {
    thread.sync.pass(of_buffers, label.acquire && label.semantics.includes(Classes::BUFFER));
    if let Some(sync) = &mut thread.block_sync {
        sync.pass(of_block, label.acquire && label.semantics.includes(Classes::BLOCK));
    }
}

/// The result of a lane of an operation, from what those of its lanes bring that have come.
fn result(op: WarpOp, ty: Type, lanes: &[u32], come: &[Arrival], number: u32) -> u64 {
    let part = |lane: &u32| match come.iter().find(|arrival| arrival.number == *lane)?.meets {
        Meets::Exchange { value, operand, .. } => Some((value, operand)),
        Meets::Barrier(_) => None,
    };
    let values: Vec<Option<u64>> = lanes.iter().map(|lane| Some(part(lane)?.0)).collect();
    match (part(&number), lanes.iter().position(|&lane| lane == number)) {
        (Some((_, operand)), Some(place)) => of_remaining(op, ty, &values, operand, place),
        (None, _) | (_, None) => 0,
    }
}
