//! Detects spinning threads, and wakes them.
//!
//! An iteration of a loop is a function of the thread's state and of what it reads. When the state at the back edge is
//! what it was one iteration before, and no value has changed meanwhile, every further iteration does the same until
//! one of the elements read changes. Such a thread is set aside until then: spinning costs nothing, and when all
//! threads are set aside nothing will ever change.

use wattle_ir::Label;

use super::memory::Address;
use super::running::{READS, Running, Snapshot, State};
use super::simulator::Simulator;

/// The maximum number of words of a thread that is checked: comparing larger ones at each back edge would cost too
/// much.
const MAX_WORDS: usize = 1 << 12;

impl Simulator {
    /// Handles a back edge: returns the elements that the thread waits for, if it is spinning.
    pub(super) fn spins(&self, thread: &mut Running, label: Label) -> Option<Vec<Address>> {
        let words = self.launches.get(thread.launch).map_or(0, |launch| launch.program.words());
        if words > MAX_WORDS {
            return None;
        }
        let (changes, read_count) = (self.changes, thread.read_count);
        let Some(last) = thread.loops.iter_mut().find(|snapshot| snapshot.label == label) else {
            thread.loops.push(Snapshot { label, machine: thread.machine.clone(), changes, read_count });
            return None;
        };
        if last.changes == changes && last.machine == thread.machine {
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

    /// Removes a thread from the lists that it is in.
    pub(super) fn suspend(&mut self, key: u32) {
        let Some(Some(thread)) = self.threads.get_mut(key as usize) else { return };
        match &thread.state {
            State::Runnable(position) => {
                let position = *position;
                self.runnable.swap_remove(position);
                if let Some(&moved) = self.runnable.get(position)
                    && let Some(Some(moved)) = self.threads.get_mut(moved as usize)
                {
                    moved.state = State::Runnable(position);
                }
            }
            State::Barrier(..) | State::Warp(_) => {}
            State::Spinning(addresses) if addresses.is_empty() => self.waiters_for_any.retain(|&other| other != key),
            State::Spinning(addresses) => {
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
    pub(super) fn set_aside(&mut self, key: u32, state: State) {
        self.suspend(key);
        if let State::Spinning(addresses) = &state {
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
            thread.state = State::Runnable(self.runnable.len());
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
