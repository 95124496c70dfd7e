//! Streams and events.

use std::ptr::NonNull;

use cudarc::driver::sys;

use super::{Refusal, Said, functions, is_done, said};

/// A stream that does not synchronize with the default stream.
#[derive(Debug)]
pub(crate) struct Stream(NonNull<sys::CUstream_st>);

// SAFETY: a stream is an object of the driver, which all threads may use.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    /// A new stream of the current context.
    pub(crate) fn new() -> Said<Stream> {
        let mut stream = std::ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: the driver is loaded, and the place is there.
        said(unsafe { (functions::STREAM_CREATE.get())(&raw mut stream, flags) })?;
        NonNull::new(stream).map(Stream).ok_or(Refusal::of(sys::CUresult::CUDA_ERROR_UNKNOWN))
    }

    /// Whether all operations submitted to the stream are done.
    pub(crate) fn is_done(&self) -> Said<bool> {
        // SAFETY: the stream lives.
        is_done(unsafe { (functions::STREAM_QUERY.get())(self.raw()) })
    }

    /// Makes operations submitted from now on wait for the event, if that was recorded.
    pub(crate) fn wait_for(&self, event: &Event) -> Said {
        // SAFETY: both live.
        said(unsafe { (functions::STREAM_WAIT_EVENT.get())(self.raw(), event.raw(), 0) })
    }

    pub(super) fn raw(&self) -> sys::CUstream {
        self.0.as_ptr()
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // The driver completes submitted operations first; of a lost context nothing is left to destroy.
        // SAFETY: it is destroyed once.
        let _ = unsafe { (functions::STREAM_DESTROY.get())(self.raw()) };
    }
}

/// A point in a stream.
#[derive(Debug)]
pub(crate) struct Event(NonNull<sys::CUevent_st>);

// SAFETY: an event is an object of the driver, which all threads may use.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    /// A new event of the current context: one that records the time, or a cheaper one that does not.
    pub(crate) fn new(timed: bool) -> Said<Event> {
        let kind =
            if timed { sys::CUevent_flags::CU_EVENT_DEFAULT } else { sys::CUevent_flags::CU_EVENT_DISABLE_TIMING };
        let mut event = std::ptr::null_mut();
        // SAFETY: the driver is loaded, and the place is there.
        said(unsafe { (functions::EVENT_CREATE.get())(&raw mut event, kind as u32) })?;
        NonNull::new(event).map(Event).ok_or(Refusal::of(sys::CUresult::CUDA_ERROR_UNKNOWN))
    }

    /// Records the event behind all operations submitted to the stream so far.
    pub(crate) fn record(&self, stream: &Stream) -> Said {
        // SAFETY: both live.
        said(unsafe { (functions::EVENT_RECORD.get())(self.raw(), stream.raw()) })
    }

    /// Whether the event has been reached.
    pub(crate) fn is_done(&self) -> Said<bool> {
        // SAFETY: the event lives.
        is_done(unsafe { (functions::EVENT_QUERY.get())(self.raw()) })
    }

    /// How many milliseconds after `earlier` the event was reached; both have been reached, and record the time.
    pub(crate) fn milliseconds_since(&self, earlier: &Event) -> Said<f32> {
        let mut elapsed = 0.0;
        // SAFETY: both live, and the place is there.
        said(unsafe { (functions::EVENT_ELAPSED_TIME.get())(&raw mut elapsed, earlier.raw(), self.raw()) })?;
        Ok(elapsed)
    }

    fn raw(&self) -> sys::CUevent {
        self.0.as_ptr()
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: it is destroyed once; the driver keeps what it still needs of it.
        let _ = unsafe { (functions::EVENT_DESTROY.get())(self.raw()) };
    }
}
