//! What a queue has of the device's: a control block, words in memory of the host's, a stream. Blocks and words are
//! allocated many at a time, since an allocation may wait for all that the device does; and all of it is used again by
//! other queues, so that as few streams as queues live at once share the driver's connections to the device.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use wattle_ptx::control::{self, host};

use crate::driver::{Address, Said, Stream, new_device, new_host};
use crate::helper::Helper;

/// How many queues' are allocated at a time.
const AT_ONCE: usize = 64;
/// The distance of control blocks, and that of the words of queues, in bytes.
const BLOCK: usize = (control::WORDS as usize * 4).next_multiple_of(256);
const WORDS: usize = 128;

const _: () = assert!(host::WORDS as usize * 4 <= WORDS);

/// The words of a queue through which host and launches speak to each other while these run ([`host`]): the host needs
/// no call of the driver's for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    /// Where launches find them.
    pub(crate) address: Address,
    /// Where the host does.
    start: NonNull<u32>,
}

// SAFETY: the memory stays as long as the process, and is only used for atomic accesses.
unsafe impl Send for Words {}
// SAFETY: as above.
unsafe impl Sync for Words {}

impl Words {
    fn word(&self, word: u32) -> &AtomicU32 {
        debug_assert!(word < host::WORDS, "there are only so many");
        // SAFETY: the memory stays, has so many words, is aligned, and is only used so by the host.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(word as usize)) }
    }

    /// The number of the launch that began last; 0 if none has.
    pub(crate) fn started(&self) -> u32 {
        self.word(host::STARTED).load(Ordering::Acquire)
    }

    /// Tells the launches up to this one to end, as soon as they look.
    pub(crate) fn stop(&self, number: u32) {
        self.word(host::STOP).store(number, Ordering::Release);
    }

    /// Whether a launch that has ended had something to tell.
    pub(crate) fn is_alarmed(&self) -> bool {
        self.word(host::ALARM).load(Ordering::Acquire) != 0
    }

    /// Such that no device knows of.
    #[cfg(test)]
    pub(crate) fn of_nobody() -> Words {
        let start: &'static mut [u32] = Box::leak(Box::new([0; host::WORDS as usize]));
        Words { address: 0, start: NonNull::from(start).cast() }
    }

    /// What a launch would do that begins.
    #[cfg(test)]
    pub(crate) fn start(&self, number: u32) {
        self.word(host::STARTED).store(number, Ordering::Release);
    }

    /// Which launches were told to end.
    #[cfg(test)]
    pub(crate) fn stopped(&self) -> u32 {
        self.word(host::STOP).load(Ordering::Acquire)
    }

    /// As for a queue that has done nothing; no launch uses them.
    pub(crate) fn calm(&self) {
        (0..host::WORDS).for_each(|word| self.word(word).store(0, Ordering::Release));
    }
}

/// What a queue has. While nobody has it, it is as for a queue that has done nothing.
#[derive(Debug)]
pub(crate) struct Slot {
    /// Where the control block is.
    pub(crate) control: Address,
    pub(crate) words: Words,
    pub(crate) stream: Arc<Stream>,
}

impl Slot {
    /// The same slot, of a queue that ends.
    pub(crate) fn taken(&self) -> Slot {
        Slot { stream: self.stream.clone(), ..*self }
    }
}

/// Those that no queue has.
pub(crate) struct Slots {
    /// Such that queues had before.
    used: Vec<Slot>,
    /// Control blocks that are not cleared, and words.
    fresh: Vec<(Address, Words)>,
}

impl Slots {
    pub(crate) fn new() -> Said<Slots> {
        let mut slots = Slots { used: Vec::new(), fresh: Vec::new() };
        slots.grow()?;
        Ok(slots)
    }

    fn grow(&mut self) -> Said {
        let control = new_device(AT_ONCE * BLOCK)?;
        let (start, address) = new_host(AT_ONCE * WORDS)?;
        // SAFETY: it is all there, and nobody has it.
        unsafe { start.write_bytes(0, AT_ONCE * WORDS) };
        let fresh = |number: usize| {
            // SAFETY: so many queues' words are there.
            let start = unsafe { start.add(number * WORDS) }.cast();
            (control + (number * BLOCK) as u64, Words { address: address + (number * WORDS) as u64, start })
        };
        self.fresh.extend((0..AT_ONCE).rev().map(fresh));
        Ok(())
    }

    /// One for a new queue; none if the device does not come to clearing it.
    pub(crate) fn take(&mut self, helper: &mut Helper) -> Said<Option<Slot>> {
        if let Some(slot) = self.used.pop() {
            return Ok(Some(slot));
        }
        if self.fresh.is_empty() {
            self.grow()?;
        }
        let stream = Arc::new(Stream::new()?);
        let Some(&(control, words)) = self.fresh.last() else { return Ok(None) };
        if !helper.clear(control)? {
            return Ok(None);
        }
        self.fresh.pop();
        Ok(Some(Slot { control, words, stream }))
    }

    /// The queue is gone, and nothing is in flight on its stream. It has reset what a failure told.
    pub(crate) fn give_back(&mut self, slot: Slot) {
        slot.words.calm();
        self.used.push(slot);
    }
}
