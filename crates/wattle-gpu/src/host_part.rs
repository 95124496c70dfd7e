//! A kernel that runs on a host thread beside a launch.

use wattle_core::{Kernel, LaunchOptions, Result, run_host_part};

use crate::error::{panicked, system};

/// Runs a kernel on a thread of the host's while `launch` launches the other one and waits for its end; waits for both.
///
/// # Errors
/// What went wrong in the host part, or the thread could not be started; then nothing is launched.
pub fn beside(host_part: &dyn Kernel, options: &LaunchOptions, launch: impl FnOnce()) -> Result<()> {
    std::thread::scope(|scope| {
        let beside = std::thread::Builder::new()
            .name("wattle-host-part".into())
            .spawn_scoped(scope, || run_host_part(host_part, options))
            .map_err(|error| system("starting the host part's thread", error))?;
        launch();
        beside.join().unwrap_or_else(|panic| Err(panicked("the host part", panic)))
    })
}
