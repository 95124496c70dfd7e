//! Mistakes that only weak memory shows.

use wattle::DeviceKind;
use wattle::prelude::*;

/// The end of a scenario that is wrong, in which nothing has raced: only a value could show it, and none did. The simulated
/// device runs one interleaving in which memory is always up to date, so there it never will; it is not asked to.
pub fn unseen(device: &Device, summary: Summary) -> Result<Summary> {
    if device.properties().kind != DeviceKind::Simulated {
        return Ok(summary);
    }
    let what = "show this mistake: nothing races in the interleaving that it runs, and its memory is always up to date";
    Err(Error::capability(device.name(), what, "check it, which goes through every execution"))
}
