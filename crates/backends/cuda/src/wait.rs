//! Waiting for the device: polling for a moment, then sleeping longer and longer.

use std::time::{Duration, Instant};

/// How long a wait polls before it sleeps.
const SPIN: Duration = Duration::from_micros(50);
/// How long a wait sleeps: at first, and at most.
const FIRST_SLEEP: Duration = Duration::from_micros(20);
const LAST_SLEEP: Duration = Duration::from_millis(2);

/// A wait that has begun.
pub(crate) struct Wait {
    began: Instant,
    sleep: Duration,
}

impl Wait {
    pub(crate) fn begin() -> Wait {
        Wait { began: Instant::now(), sleep: FIRST_SLEEP }
    }

    /// How long the wait has lasted.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Lets a moment go by, at most `most`.
    pub(crate) fn pause(&mut self, most: Duration) {
        if self.began.elapsed() < SPIN {
            // The driver's functions take longer than one turn of this loop.
            std::hint::spin_loop();
            return;
        }
        std::thread::sleep(self.sleep.min(most));
        self.sleep = (self.sleep * 2).min(LAST_SLEEP);
    }
}

/// Asks until the answer is yes or an error; returns false if `patience` is over before.
pub(crate) fn until<E>(patience: Duration, mut is_done: impl FnMut() -> Result<bool, E>) -> Result<bool, E> {
    let mut wait = Wait::begin();
    loop {
        if is_done()? {
            return Ok(true);
        }
        if wait.elapsed() >= patience {
            return Ok(false);
        }
        wait.pause(LAST_SLEEP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_until_it_is_so() {
        let mut asked = 0;
        let done = until::<()>(Duration::from_secs(60), || {
            asked += 1;
            Ok(asked == 5)
        });
        assert_eq!((done, asked), (Ok(true), 5));
        assert_eq!(until::<()>(Duration::from_millis(1), || Ok(false)), Ok(false));
        assert_eq!(until(Duration::from_secs(60), || Err("no")), Err("no"));
    }
}
