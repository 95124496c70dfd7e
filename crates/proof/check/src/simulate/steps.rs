//! The schedule: a run of steps of one thread, then the next thread.

use std::sync::atomic::Ordering;
use std::time::Instant;

use rand_pcg::rand_core::Rng;
use wattle_machine::Request;

use super::finding::{Finding, StopReason, Waiting, Why};
use super::gate::Arrival;
use super::machine::{Code, Machine};
use super::running::{AtWarp, RunState};
use super::simulator::Simulator;

/// The maximum number of statements in one run of steps.
const FUEL: u64 = 4096;
/// The number of runs of steps between two checks of the flag and the clock.
const LOOK: u64 = 256;
/// The maximum number of threads that a report names.
const NAMED: usize = 8;

/// The reason why a run of steps is over.
pub(super) enum Over {
    Steps,
    Barrier(wattle_ir::Site, Vec<u64>),
    Warp(AtWarp),
    /// A thread of a module has come to a barrier, or to an operation of its warp.
    Gate(Arrival),
    Spinning(Vec<super::memory::Address>),
    Ended,
    /// What a thread of a module does cannot be judged, for this reason.
    Unjudged(String),
}

impl Simulator {
    /// Makes one run of steps; if no thread can run, ends the launches that wait for ever.
    pub(super) fn step(&mut self) {
        self.runs += 1;
        if self.runs.is_multiple_of(LOOK) {
            self.look();
        }
        if self.runnable.is_empty() {
            return self.stuck();
        }
        let pick = self.below(self.runnable.len());
        // Half of the runs of steps have one request, and each doubling is half as likely: races need short runs,
        // spinning long ones.
        let mut requests = 1u32 << (self.rng.next_u32() | 64).trailing_zeros();
        let key = self.runnable[pick];
        let Some(mut thread) = self.threads.get_mut(key as usize).and_then(Option::take) else { return };
        let number = thread.launch;
        let Some(launch) = self.launches.get(number) else { return };
        let mut fuel = FUEL;
        let over = match launch.code.clone() {
            Code::Own(program, environment) => loop {
                let Machine::Own(machine) = &mut thread.machine else { break Over::Steps };
                match machine.run(&program, &environment, &mut fuel) {
                    Request::OutOfFuel => break Over::Steps,
                    Request::Done => break Over::Ended,
                    Request::Barrier { site, iterations } => break Over::Barrier(site, iterations),
                    Request::Warp { op, ty, value, operand, iterations, .. } => {
                        let part = Some((op, ty, value, operand as u32));
                        break Over::Warp(AtWarp { part, iterations });
                    }
                    Request::WarpBarrier { iterations, .. } => break Over::Warp(AtWarp { part: None, iterations }),
                    Request::BackEdge { label, .. } => {
                        if let Some(addresses) = self.spins(&mut thread, label) {
                            break Over::Spinning(addresses);
                        }
                    }
                    request => self.serve(&mut thread, request),
                }
                requests -= 1;
                if requests == 0 {
                    break Over::Steps;
                }
            },
            Code::Module(run) => loop {
                fuel -= 1;
                if let Some(over) = self.act(&mut thread, &run) {
                    break over;
                }
                requests -= 1;
                if requests == 0 || fuel == 0 {
                    break Over::Steps;
                }
            },
        };
        self.mix(thread.sync.member.thread as u64);
        // A write of the thread may have moved others in the list of runnable threads, never the thread within it.
        self.threads[key as usize] = Some(thread);
        match over {
            Over::Steps => {}
            Over::Ended => self.ended(key),
            Over::Barrier(site, iterations) => self.arrive(key, site, iterations),
            Over::Warp(at) => self.arrive_in_warp(key, at),
            Over::Gate(arrival) => self.arrive_at_gate(key, arrival),
            Over::Unjudged(what) => self.give_up(key, what),
            Over::Spinning(addresses) => self.set_aside(key, RunState::Spinning(addresses)),
        }
        // The launch may be over and the list cleared; no new launch can have taken its place within this call.
        let Some(launch) = self.launches.get_mut(number) else { return };
        launch.steps += FUEL - fuel;
        if !launch.done
            && let Some(limit) = launch.step_limit
            && launch.steps > limit
        {
            self.stop(number, StopReason::StepLimit(limit));
        }
    }

    /// Mixes a number into the digest of the schedule.
    pub(super) fn mix(&mut self, number: u64) {
        self.trace = (self.trace ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    }

    /// Ends the launches whose limit is reached or that are interrupted.
    pub(super) fn look(&mut self) {
        let stopped = self.options.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed));
        let timed = self.launches.iter().any(|launch| launch.deadline.is_some());
        if !stopped && !timed {
            return;
        }
        let now = Instant::now();
        // Ending the last launch clears the list, so it is looked up anew each time.
        for number in 0..self.launches.len() {
            let Some(launch) = self.launches.get(number) else { return };
            if launch.done {
                continue;
            }
            if stopped {
                self.stop(number, StopReason::Interrupted);
            } else if launch.deadline.is_some_and(|deadline| deadline <= now) {
                self.stop(number, StopReason::Deadline);
            }
        }
    }

    /// Ends a launch that is still running.
    fn stop(&mut self, number: usize, reason: StopReason) {
        let (threads, more, not_started) = self.lines(number);
        let Some(launch) = self.launches.get_mut(number) else { return };
        let label = launch.label.to_string();
        launch.keep(Finding::Stopped { launch: label, reason, threads, more, not_started });
        self.end_launch(number);
    }

    /// Ends the launch of a thread that does what cannot be judged.
    pub(super) fn give_up(&mut self, key: u32, what: String) {
        let Some(Some(thread)) = self.threads.get(key as usize) else { return };
        let number = thread.launch;
        let Some(launch) = self.launches.get_mut(number) else { return };
        let actor = launch.actor(thread.sync.member.thread);
        launch.keep(Finding::Unjudged { actor, what, site: thread.machine.site(&launch.code) });
        self.end_launch(number);
    }

    /// Ends all launches in flight, which wait for ever because no thread can run.
    fn stuck(&mut self) {
        let unsure = (0..self.launches.len()).find_map(|number| self.may_not_wait(number));
        if let Some((key, what)) = unsure {
            return self.give_up(key, what.to_owned());
        }
        let waiting: Vec<usize> = (0..self.launches.len()).filter(|&number| !self.launches[number].done).collect();
        let found: Vec<_> = waiting.into_iter().map(|number| (number, self.lines(number))).collect();
        for (number, (threads, more, not_started)) in found {
            let Some(launch) = self.launches.get_mut(number) else { return };
            let label = launch.label.to_string();
            launch.keep(Finding::Stuck { launch: label, threads, more, not_started });
            self.end_launch(number);
        }
    }

    /// The positions of a launch's first threads, the number of further ones, and the number of blocks that have not
    /// started.
    fn lines(&self, number: usize) -> (Vec<Waiting>, u64, u64) {
        let Some(launch) = self.launches.get(number) else { return (Vec::new(), 0, 0) };
        let (mut threads, mut count) = (Vec::new(), 0);
        let mut running: Vec<_> =
            launch.running.iter().filter_map(|&key| self.blocks.get(key as usize)?.as_ref()).collect();
        running.sort_unstable_by_key(|block| block.number);
        for key in running.iter().flat_map(|block| block.threads.iter().flatten()) {
            let Some(Some(thread)) = self.threads.get(*key as usize) else { continue };
            count += 1;
            if threads.len() == NAMED {
                continue;
            }
            let why = match thread.state {
                RunState::Runnable(_) => Why::Running,
                RunState::Barrier(..) => Why::Barrier,
                RunState::Warp(_) => Why::Warp,
                RunState::Gate { in_warp } => {
                    if in_warp {
                        Why::Warp
                    } else {
                        Why::Barrier
                    }
                }
                RunState::Spinning(_) => Why::Spinning,
            };
            let (actor, site) = (launch.actor(thread.sync.member.thread), thread.machine.site(&launch.code));
            threads.push(Waiting { actor, site, why });
        }
        let more = count - threads.len() as u64;
        (threads, more, launch.blocks - launch.next_block)
    }
}
