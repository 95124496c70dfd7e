//! Memory of the host's program that is lent to a copy.

use std::sync::{Arc, Mutex};

use crate::error::{Result, system};
use crate::sync::lock;

/// Bytes that a copy reads, while their lender waits for it.
pub type HostSource = Lent<*const [u8]>;

/// Bytes that a copy writes, while their lender waits for it.
pub type HostTarget = Lent<*mut [u8]>;

/// Bytes of the host's program. They are there until the copy is done, or the lender waits no longer, by a panic for
/// example: a copy that comes later does nothing, and one that is under way then is waited for.
pub struct Lent<P>(Arc<Mutex<Option<Place<P>>>>);

#[derive(Clone, Copy)]
struct Place<P>(P);

// SAFETY: what is lent outlives the place, and bytes may be used from any thread.
unsafe impl Send for Place<*const [u8]> {}
// SAFETY: as above; while the place is there, nobody else uses the bytes.
unsafe impl Send for Place<*mut [u8]> {}

/// Takes the place away from the copy at the end, however that comes.
struct Lender<'l, P>(&'l Mutex<Option<Place<P>>>);

impl<P> Lender<'_, P> {
    /// Whether the copy was done.
    fn end(&self) -> bool {
        lock(self.0).take().is_none()
    }
}

impl<P> Drop for Lender<'_, P> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<P: Copy> Lent<P> {
    /// Lends the bytes while `work` runs; says whether the copy was done.
    fn lend<R>(place: P, work: impl FnOnce(Lent<P>) -> R) -> (R, bool) {
        let lent = Arc::new(Mutex::new(Some(Place(place))));
        let lender = Lender(&lent);
        let result = work(Lent(lent.clone()));
        (result, lender.end())
    }

    /// Does the copy, which then is done unless it fails.
    fn copy(&self, work: impl FnOnce(P) -> Result<()>) -> Result<()> {
        let mut place = lock(&self.0);
        let Some(Place(bytes)) = *place else {
            return Err(system("a copy", "the thread that waited for it waits no longer"));
        };
        work(bytes)?;
        *place = None;
        Ok(())
    }
}

impl HostSource {
    /// Lends `bytes` to a copy that reads them, while `work` runs.
    pub(super) fn of<R>(bytes: &[u8], work: impl FnOnce(HostSource) -> R) -> R {
        Lent::lend(std::ptr::from_ref(bytes), work).0
    }

    /// Does the copy.
    ///
    /// # Errors
    /// Those of `work`; the lender waits no longer.
    pub(super) fn read(&self, work: impl FnOnce(&[u8]) -> Result<()>) -> Result<()> {
        // SAFETY: the bytes are borrowed until the place is taken away, for which the lock is needed that is held now.
        self.copy(|bytes| work(unsafe { &*bytes }))
    }
}

impl HostTarget {
    /// Lends `bytes` to a copy that writes them, while `work` runs; says whether it was done.
    pub(super) fn of<R>(bytes: &mut [u8], work: impl FnOnce(HostTarget) -> R) -> (R, bool) {
        Lent::lend(std::ptr::from_mut(bytes), work)
    }

    /// Does the copy.
    ///
    /// # Errors
    /// Those of `work`; the lender waits no longer.
    pub(super) fn write(&self, work: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
        // SAFETY: as for a source; and the lender has borrowed the bytes exclusively.
        self.copy(|bytes| work(unsafe { &mut *bytes }))
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    use super::*;

    #[test]
    fn a_copy_without_a_lender_does_nothing() {
        let mut bytes = [0; 2];
        let (late, done) = HostTarget::of(&mut bytes, |target| target);
        assert!(!done);
        assert!(late.write(|_| unreachable!("the lender is gone")).is_err());
        let mut late = None;
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            HostTarget::of(&mut bytes, |target| {
                late = Some(target);
                resume_unwind(Box::new(()));
            })
        }));
        assert!(unwound.is_err());
        assert!(late.unwrap().write(|_| unreachable!("the lender is gone")).is_err());
    }

    #[test]
    fn a_copy_is_done_once_it_has_succeeded() {
        let mut bytes = [0; 2];
        let failed = |target: HostTarget| target.write(|_| Err(system("a copy", "fails")));
        assert!(matches!(HostTarget::of(&mut bytes, failed), (Err(_), false)));
        let fills = |bytes: &mut [u8]| {
            bytes.fill(7);
            Ok(())
        };
        assert!(matches!(HostTarget::of(&mut bytes, |target| target.write(fills)), (Ok(()), true)));
        let mut seen: Vec<u8> = Vec::new();
        let takes = |bytes: &[u8]| {
            seen.extend(bytes);
            Ok(())
        };
        HostSource::of(&bytes, |source| source.read(takes)).unwrap();
        assert_eq!(seen, [7; 2]);
    }
}
