//! Whether a device can still be used.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};

use wattle_core::{Error, ErrorKind, Result, lock};

/// Whether a device is lost, or kept busy by launches that did not end when requested to. `S` is what shows a driver
/// that such a launch has ended after all.
#[derive(Debug)]
pub struct Health<S> {
    device: String,
    lost: OnceLock<String>,
    when_lost: WhenLost,
    stuck: Mutex<Vec<Stuck<S>>>,
    is_stuck: AtomicBool,
}

/// The text of a lost device's error.
#[derive(Clone, Copy, Debug)]
pub struct WhenLost {
    /// The words after "device `x` cannot be used any more", given the reason.
    pub why: fn(&str) -> String,
    /// What the user can do.
    pub instead: &'static str,
}

/// A launch that did not end when it was requested to.
#[derive(Debug)]
struct Stuck<S> {
    until: S,
    kernel: String,
}

impl<S> Health<S> {
    /// A device with this name, which can be used.
    pub fn new(device: &str, when_lost: WhenLost) -> Health<S> {
        let (stuck, is_stuck) = (Mutex::new(Vec::new()), AtomicBool::new(false));
        Health { device: device.to_owned(), lost: OnceLock::new(), when_lost, stuck, is_stuck }
    }

    /// Records that the device cannot be used any more. Of several reasons the first is kept.
    pub fn lose(&self, why: String) {
        let _ = self.lost.set(why);
    }

    /// Whether the device is lost.
    pub fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// The error of a device that is lost.
    #[cold]
    pub fn lost(&self) -> Error {
        let why = self.lost.get().map_or("no reason was given", String::as_str);
        let (why, instead) = (format!("any more{}", (self.when_lost.why)(why)), self.when_lost.instead.to_owned());
        ErrorKind::DeviceUnusable { device: self.device.clone(), why, instead }.into()
    }

    /// Fails if the device is lost.
    ///
    /// # Errors
    /// The device is lost; the error gives the reason.
    pub fn alive(&self) -> Result<()> {
        if self.is_lost() { Err(self.lost()) } else { Ok(()) }
    }

    /// Fails if the device is lost, or kept by a launch that was given up. `has_ended` checks whether such a launch has
    /// ended after all.
    ///
    /// # Errors
    /// The device is lost, or a kernel keeps it, which the error names; or `has_ended` fails.
    pub fn usable(&self, mut has_ended: impl FnMut(&S) -> Result<bool>) -> Result<()> {
        self.alive()?;
        if !self.is_stuck.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut stuck = lock(&self.stuck);
        let mut failed = Ok(());
        stuck.retain(|one| match has_ended(&one.until) {
            Ok(ended) => !ended,
            Err(error) => {
                failed = Err(error);
                true
            }
        });
        failed?;
        let Some(first) = stuck.first() else {
            self.is_stuck.store(false, Ordering::Release);
            return Ok(());
        };
        Err(self.hung(&first.kernel))
    }

    /// The error of a launch that was given up and has not ended.
    #[cold]
    fn hung(&self, kernel: &str) -> Error {
        let instead = "wait until it has ended, or use another device; give each launch less work".to_owned();
        let why = format!("at the moment: kernel `{kernel}` was asked to end and still runs");
        ErrorKind::DeviceUnusable { device: self.device.clone(), why, instead }.into()
    }

    /// Records that a launch is not waited for any more, and that the device cannot be used until it has ended.
    pub fn give_up(&self, until: S, kernel: &str) {
        lock(&self.stuck).push(Stuck { until, kernel: kernel.to_owned() });
        self.is_stuck.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn health() -> Health<u32> {
        Health::new("x", WhenLost { why: |why| format!(": it was lost ({why})"), instead: "use another device" })
    }

    #[test]
    fn a_device_is_refused_until_what_was_given_up_has_ended() {
        let health = health();
        let ended = |until: u32| move |one: &u32| Ok(*one < until);
        health.usable(ended(0)).unwrap();
        health.give_up(3, "k");
        health.give_up(5, "l");
        let error = health.usable(ended(1)).unwrap_err().to_string();
        assert!(error.contains("kernel `k` was asked to end and still runs"), "{error}");
        assert!(health.usable(ended(4)).unwrap_err().to_string().contains("`l`"));
        health.usable(ended(6)).unwrap();
        assert!(health.alive().is_ok() && !health.is_lost());
    }

    #[test]
    fn a_lost_device_stays_lost_for_the_first_reason() {
        let health = health();
        health.lose("first".into());
        health.lose("second".into());
        let error = health.usable(|_| Ok(true)).unwrap_err().to_string();
        assert!(error.contains("any more: it was lost (first)") && error.contains("use another device"), "{error}");
    }
}
