//! Detects spinning threads, and wakes them.
//!
//! An iteration of a loop is a function of the thread's state and of what it reads. When the state at the back edge is
//! what it was one iteration before, and no value has changed meanwhile, every further iteration does the same until
//! one of the elements read changes. Such a thread is set aside until then: spinning costs nothing, and when all
//! threads are set aside nothing will ever change.
//!
//! What one thread does there the threads of a block do together at its barriers, and the lanes of a warp at its
//! operations: when all of them are where they were an earlier time that they met, and no value has changed meanwhile,
//! they will meet so again until one changes. How many meetings lie between is not known, so that the one that is kept
//! is the latest whose number is a power of two (R. P. Brent, "An improved Monte Carlo factorization algorithm", BIT
//! 20, 1980).

use wattle_ir::Label;

use super::machine::Machine;
use super::memory::Address;
use super::running::{Block, Meetings, READS, RunState, Running, Snapshot};
use super::simulator::Simulator;

/// The maximum number of words of a thread that is checked: comparing larger ones at each back edge would cost too
/// much.
const MAX_WORDS: usize = 1 << 12;
/// The maximum number of words of all threads that meet, taken together.
const MAX_WORDS_TOGETHER: usize = 1 << 16;

impl Simulator {
    /// Handles a back edge: returns the elements that the thread waits for, if it is spinning.
    pub(super) fn spins(&self, thread: &mut Running, label: Label) -> Option<Vec<Address>> {
        let code = &self.launches.get(thread.launch)?.code;
        if code.words() > MAX_WORDS {
            return None;
        }
        let (changes, read_count) = (self.changes, thread.read_count);
        let Some(last) = thread.loops.iter_mut().find(|snapshot| snapshot.label == label) else {
            thread.loops.push(Snapshot { label, machine: thread.machine.clone(), changes, read_count });
            return None;
        };
        if last.changes == changes && thread.machine.repeats(&last.machine, code) {
            let reads = read_count - last.read_count;
            // If there were more reads than are kept, any element may be the one that the thread waits for.
            let kept = if reads > READS as u64 { 0 } else { reads };
            let mut addresses: Vec<Address> = Vec::new();
            for number in read_count - kept..read_count {
                let address = thread.reads[number as usize % READS];
                if !addresses.contains(&address) {
                    addresses.push(address);
                }
            }
            return Some(addresses);
        }
        last.machine.clone_from(&thread.machine);
        (last.changes, last.read_count) = (changes, read_count);
        None
    }

    /// Lets the threads continue that have met, at the barrier of their block or, with its number there, at an
    /// operation of their warp. If they do nothing but meet, they are set aside until a value changes.
    pub(super) fn part(&mut self, block: u32, warp: Option<usize>, keys: &[u32]) {
        let spin = self.meet_as_before(block, warp, keys);
        for &key in keys {
            if spin {
                self.set_aside(key, RunState::Spinning(Vec::new()));
            } else {
                self.wake(key);
            }
        }
    }

    /// Whether threads have met as they did before, and no value has changed meanwhile.
    fn meet_as_before(&mut self, block: u32, warp: Option<usize>, keys: &[u32]) -> bool {
        // They arrive in any order.
        let mut keys = keys.to_vec();
        keys.sort_unstable();
        let machine = |key: &u32| Some(&self.threads.get(*key as usize)?.as_ref()?.machine);
        let Some(Some(Block { launch, met_at_barrier, met_in_warp, .. })) = self.blocks.get_mut(block as usize) else {
            return false;
        };
        let Some(code) = self.launches.get(*launch).map(|launch| &launch.code) else { return false };
        let last = match warp {
            Some(warp) => &mut met_in_warp[warp],
            None => {
                // Other warps may have made progress at the barrier that no value shows.
                met_in_warp.iter_mut().for_each(|meetings| *meetings = Meetings::default());
                met_at_barrier
            }
        };
        if last.changes != self.changes || code.words() * keys.len() > MAX_WORDS_TOGETHER {
            *last = Meetings { changes: self.changes, ..Meetings::default() };
            return false;
        }
        let same = |(before, now): (&Machine, Option<&Machine>)| now.is_some_and(|now| now.repeats(before, code));
        let again = last.threads.len() == keys.len() && last.threads.iter().zip(keys.iter().map(machine)).all(same);
        last.count += 1;
        if last.count.is_power_of_two() {
            last.threads = keys.iter().filter_map(machine).cloned().collect();
        }
        again
    }

    /// Removes a thread from the lists that it is in.
    pub(super) fn suspend(&mut self, key: u32) {
        let Some(Some(thread)) = self.threads.get_mut(key as usize) else { return };
        match &thread.state {
            RunState::Runnable(position) => {
                let position = *position;
                self.runnable.swap_remove(position);
                if let Some(&moved) = self.runnable.get(position)
                    && let Some(Some(moved)) = self.threads.get_mut(moved as usize)
                {
                    moved.state = RunState::Runnable(position);
                }
            }
            RunState::Barrier(..) | RunState::Warp(_) | RunState::Gate { .. } => {}
            RunState::Spinning(addresses) if addresses.is_empty() => self.waiters_for_any.retain(|&other| other != key),
            RunState::Spinning(addresses) => {
                for address in addresses {
                    if let Some(waiters) = self.waiters.get_mut(address) {
                        waiters.retain(|&other| other != key);
                        if waiters.is_empty() {
                            self.waiters.remove(address);
                        }
                    }
                }
            }
        }
    }

    /// Sets a thread aside in the given state.
    pub(super) fn set_aside(&mut self, key: u32, state: RunState) {
        self.suspend(key);
        if let RunState::Spinning(addresses) = &state {
            for &address in addresses {
                self.waiters.entry(address).or_default().push(key);
            }
            if addresses.is_empty() {
                self.waiters_for_any.push(key);
            }
        }
        if let Some(Some(thread)) = self.threads.get_mut(key as usize) {
            thread.state = state;
        }
    }

    /// Lets a thread that was set aside run again.
    pub(super) fn wake(&mut self, key: u32) {
        self.suspend(key);
        if let Some(Some(thread)) = self.threads.get_mut(key as usize) {
            thread.state = RunState::Runnable(self.runnable.len());
            self.runnable.push(key);
        }
    }

    /// Wakes the threads that wait for a change of this element, or of any.
    pub(super) fn changed(&mut self, address: Address) {
        self.changes += 1;
        if !self.waiters.is_empty()
            && let Some(waiters) = self.waiters.get(&address)
        {
            for key in waiters.clone() {
                self.wake(key);
            }
        }
        for key in self.waiters_for_any.clone() {
            self.wake(key);
        }
    }
}
