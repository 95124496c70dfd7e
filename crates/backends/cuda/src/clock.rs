//! The device's clock: when events were reached, in nanoseconds.
//!
//! The driver reports how long one event was reached after another, as a 32-bit float of milliseconds, which is exact
//! to 0.1 µs for a second and to no more than 0.2 ms for an hour. So times are measured from a reference that moves.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use wattle_core::{Timestamp, lock};

use crate::driver::{Event, Said};
use crate::helper::Helper;
use crate::wait;

/// The numbers of the clocks of this crate's devices begin here, apart from those of other crates'.
const FIRST_CLOCK: u64 = u64::from_be_bytes(*b"cuda\0\0\0\0");
/// The time assigned to the first reference event, so that events before it have positive times.
const BEGINNING: u64 = 1 << 60;
/// How far from the reference event a time must be for its event to become the reference, in nanoseconds.
const FAR: u64 = 1_000_000_000;

/// A device's clock.
pub(crate) struct Clock {
    number: u64,
    reference: Mutex<(Arc<Event>, u64)>,
}

impl Clock {
    pub(crate) fn new(helper: &Helper) -> Said<Clock> {
        static NEXT: AtomicU64 = AtomicU64::new(FIRST_CLOCK);
        let event = Event::new(true)?;
        event.record(&helper.stream)?;
        wait::until(std::time::Duration::MAX, || event.is_done())?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Clock { number, reference: Mutex::new((Arc::new(event), BEGINNING)) })
    }

    /// When an event that records the time was reached; `None` if the driver does not report it.
    pub(crate) fn time(&self, event: &Arc<Event>) -> Option<Timestamp> {
        let mut reference = lock(&self.reference);
        let elapsed = event.milliseconds_since(&reference.0).ok()?;
        let elapsed = (f64::from(elapsed) * 1e6) as i64;
        let nanoseconds = reference.1.checked_add_signed(elapsed)?;
        if elapsed > FAR as i64 {
            *reference = (event.clone(), nanoseconds);
        }
        Some(Timestamp { clock: self.number, nanoseconds })
    }
}
