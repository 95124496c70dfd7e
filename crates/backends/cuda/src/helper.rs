//! A stream beside the launches, for copies to and from control blocks, which the device's copy engines execute.

use std::ptr::NonNull;
use std::time::Duration;

use wattle_ptx::control;

use crate::driver::{Address, PrimaryContext, Said, Stream, copy_from_host, copy_to_host, new_host};
use crate::wait;

/// How long a copy is waited for. It takes microseconds, unless the device does not get to it.
const PATIENCE: Duration = Duration::from_secs(1);

/// The stream, and host memory for the other ends of the copies.
pub(crate) struct Helper {
    pub(crate) stream: Stream,
    primary: PrimaryContext,
    words: NonNull<u32>,
}

// SAFETY: the memory is the helper's own, and is never freed.
unsafe impl Send for Helper {}

impl Helper {
    /// A helper of this context, which is the current one.
    pub(crate) fn new(primary: PrimaryContext) -> Said<Helper> {
        let (start, _) = new_host(control::WORDS as usize * 4)?;
        Ok(Helper { stream: Stream::new()?, primary, words: start.cast() })
    }

    /// Whether the next copy can be made. The context is made current again, since others may have changed it.
    fn is_ready(&self) -> Said<bool> {
        self.primary.set_current()?;
        self.is_free()
    }

    /// Whether all copies so far are done, or are within `PATIENCE`.
    fn is_free(&self) -> Said<bool> {
        wait::until(PATIENCE, || self.stream.is_done())
    }

    /// Reads words of device memory that no launch writes any more; `None` if the device does not get to it in time.
    pub(crate) fn read(&mut self, from: Address, count: u32) -> Said<Option<Vec<u32>>> {
        if !self.is_ready()? {
            return Ok(None);
        }
        // SAFETY: the control block has `count` words, and so has the host's end, which nothing uses.
        unsafe { copy_to_host(self.words.as_ptr().cast(), from, count as usize * 4, &self.stream)? };
        if !self.is_free()? {
            return Ok(None);
        }
        // SAFETY: the words were just written, and nothing writes them any more.
        Ok(Some(unsafe { std::slice::from_raw_parts(self.words.as_ptr(), count as usize) }.to_vec()))
    }

    /// Clears a control block that no launch uses, and opens its gate; false if the device does not get to it in time.
    ///
    /// This is a copy, since a fill may be a launch, and wait for others that fill the device.
    pub(crate) fn clear(&mut self, control: Address) -> Said<bool> {
        if !self.is_ready()? {
            return Ok(false);
        }
        let count = control::WORDS as usize;
        // SAFETY: the host's end has `count` words, which nothing uses, and so has the control block.
        unsafe {
            self.words.write_bytes(0, count);
            self.words.add(control::GATE as usize).write_volatile(control::OPEN);
            copy_from_host(control, self.words.as_ptr().cast(), count * 4, &self.stream)?;
        }
        self.is_free()
    }
}
