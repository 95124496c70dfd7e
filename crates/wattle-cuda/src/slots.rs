//! Control blocks and alarms of queues. They are allocated many at a time, since an allocation may wait for all that the
//! device does.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use wattle_ptx::control;

use crate::driver::{Address, Pattern, Said, Stream, fill, new_device, new_host};
use crate::wait;

/// How many queues' are allocated at a time.
const AT_ONCE: usize = 64;
/// The distance of control blocks, and that of alarms, in bytes.
const BLOCK: usize = (control::WORDS as usize * 4).next_multiple_of(256);
const ALARM: usize = 64;

/// The control block and the alarm of a queue. While nobody has it, it is as for a queue that has done nothing.
#[derive(Debug)]
pub(crate) struct Slot {
    /// Where the control block is.
    pub(crate) control: Address,
    /// Where launches find the alarm.
    pub(crate) alarm: Address,
    /// Where the host does.
    heard: NonNull<u32>,
}

// SAFETY: the memory stays as long as the process, and is only used for atomic accesses.
unsafe impl Send for Slot {}

impl Slot {
    /// The same slot, of a queue that ends.
    pub(crate) fn taken(&self) -> Slot {
        Slot { ..*self }
    }

    /// Where a word of the control block is.
    pub(crate) fn word(&self, word: u32) -> Address {
        self.control + u64::from(word) * 4
    }

    fn alarm(&self) -> &AtomicU32 {
        // SAFETY: the memory stays, is aligned, and is only used so by the host.
        unsafe { AtomicU32::from_ptr(self.heard.as_ptr()) }
    }

    /// Whether a launch that has ended had something to tell.
    pub(crate) fn is_alarmed(&self) -> bool {
        self.alarm().load(Ordering::Acquire) != 0
    }

    /// Nobody is alarmed any more; no launch uses it.
    pub(crate) fn calm(&self) {
        self.alarm().store(0, Ordering::Release);
    }
}

/// Clears control blocks and opens their gates.
fn clear(control: Address, count: usize, stream: &Stream) -> Said {
    let gate = control + u64::from(control::GATE) * 4;
    // SAFETY: so many control blocks are there, and nothing uses them.
    unsafe {
        fill(control, Pattern::Byte(0), (count * BLOCK, 1, 0), stream)?;
        fill(gate, Pattern::Word(control::OPEN), (4, count, BLOCK), stream)?;
    }
    wait::until(Duration::MAX, || stream.is_done()).map(drop)
}

/// Those that no queue has.
pub(crate) struct Slots {
    free: Vec<Slot>,
    stream: Stream,
}

impl Slots {
    pub(crate) fn new() -> Said<Slots> {
        let mut slots = Slots { free: Vec::new(), stream: Stream::new()? };
        slots.grow()?;
        Ok(slots)
    }

    fn grow(&mut self) -> Said {
        let control = new_device(AT_ONCE * BLOCK)?;
        let (heard, alarm) = new_host(AT_ONCE * ALARM)?;
        // SAFETY: it is all there, and nobody has it.
        unsafe { heard.write_bytes(0, AT_ONCE * ALARM) };
        clear(control, AT_ONCE, &self.stream)?;
        let slot = |number: usize| Slot {
            control: control + (number * BLOCK) as u64,
            alarm: alarm + (number * ALARM) as u64,
            // SAFETY: so many alarms are there.
            heard: unsafe { heard.add(number * ALARM) }.cast(),
        };
        self.free.extend((0..AT_ONCE).rev().map(slot));
        Ok(())
    }

    /// One for a new queue.
    pub(crate) fn take(&mut self) -> Said<Slot> {
        loop {
            if let Some(slot) = self.free.pop() {
                return Ok(slot);
            }
            self.grow()?;
        }
    }

    /// The queue is gone, and has reset it.
    pub(crate) fn give_back(&mut self, slot: Slot) {
        self.free.push(slot);
    }
}
