//! What a queue uses of the device: a control block, words in host memory, a stream. Blocks and words are allocated
//! many at a time, since an allocation may wait for everything that runs on the device. Later queues use all of it
//! again, so that no more streams than queues that live at once share the driver's connections to the device.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use wattle_ptx::control::{self, host};

use crate::driver::{Address, Said, Stream, new_device, new_host};
use crate::helper::Helper;

/// For how many queues control blocks and words are allocated at a time.
const AT_ONCE: usize = 64;
/// The distance between neighbouring control blocks, and between the words of neighbouring queues, in bytes.
const BLOCK: usize = (control::WORDS as usize * 4).next_multiple_of(256);
const WORDS: usize = 128;

const _: () = assert!(host::WORDS as usize * 4 <= WORDS);

/// The words of a queue through which the host and running launches communicate ([`host`]); the host accesses them
/// without a call to the driver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    /// The device address of the words.
    pub(crate) address: Address,
    /// The host address of the words.
    start: NonNull<u32>,
}

// SAFETY: the memory is never freed, and is only used for atomic accesses.
unsafe impl Send for Words {}
// SAFETY: as above.
unsafe impl Sync for Words {}

impl Words {
    fn word(&self, word: u32) -> &AtomicU32 {
        debug_assert!(word < host::WORDS, "there are only so many");
        // SAFETY: the memory is never freed, has `host::WORDS` words, is aligned, and the host's accesses are atomic.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(word as usize)) }
    }

    /// The number of the launch that began last; 0 if none has.
    pub(crate) fn started(&self) -> u32 {
        self.word(host::STARTED).load(Ordering::Acquire)
    }

    /// Requests all launches up to this one to end, which they do when they next read the word.
    pub(crate) fn stop(&self, number: u32) {
        self.word(host::STOP).store(number, Ordering::Release);
    }

    /// Whether a launch, which may still run, has something to report.
    pub(crate) fn is_alarmed(&self) -> bool {
        self.word(host::ALARM).load(Ordering::Acquire) != 0
    }

    /// Words in host memory that no device uses.
    #[cfg(test)]
    pub(crate) fn of_nobody() -> Words {
        let start: &'static mut [u32] = Box::leak(Box::new([0; host::WORDS as usize]));
        Words { address: 0, start: NonNull::from(start).cast() }
    }

    /// Stores what a launch stores when it begins.
    #[cfg(test)]
    pub(crate) fn start(&self, number: u32) {
        self.word(host::STARTED).store(number, Ordering::Release);
    }

    /// The number up to which launches were requested to end.
    #[cfg(test)]
    pub(crate) fn stopped(&self) -> u32 {
        self.word(host::STOP).load(Ordering::Acquire)
    }

    /// Resets the words to those of a queue that has done nothing; no launch uses them.
    pub(crate) fn calm(&self) {
        (0..host::WORDS).for_each(|word| self.word(word).store(0, Ordering::Release));
    }
}

/// The control block, words and stream of a queue. Between queues, they are as for a queue that has done nothing.
#[derive(Debug)]
pub(crate) struct Slot {
    /// The device address of the control block.
    pub(crate) control: Address,
    pub(crate) words: Words,
    pub(crate) stream: Arc<Stream>,
}

impl Slot {
    /// Returns another handle to this slot, with which a queue that ends gives it back.
    pub(crate) fn taken(&self) -> Slot {
        Slot { stream: self.stream.clone(), ..*self }
    }
}

/// The slots that no queue uses.
pub(crate) struct Slots {
    /// Slots that earlier queues have given back.
    used: Vec<Slot>,
    /// Control blocks that are not cleared yet, each with its words.
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
        // SAFETY: the memory was just allocated with this size, and nothing else refers to it.
        unsafe { start.write_bytes(0, AT_ONCE * WORDS) };
        let fresh = |number: usize| {
            // SAFETY: the allocation holds the words of `AT_ONCE` queues.
            let start = unsafe { start.add(number * WORDS) }.cast();
            (control + (number * BLOCK) as u64, Words { address: address + (number * WORDS) as u64, start })
        };
        self.fresh.extend((0..AT_ONCE).rev().map(fresh));
        Ok(())
    }

    /// A slot for a new queue; `None` if the device does not clear the control block in time.
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

    /// Takes back the slot of a queue that has ended. Nothing is in flight on its stream; the control block is clear.
    pub(crate) fn give_back(&mut self, slot: Slot) {
        slot.words.calm();
        self.used.push(slot);
    }
}
