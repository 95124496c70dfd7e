//! A kernel that runs on a host thread beside a launch.

use std::sync::Arc;

use wattle_core::{Error, ErrorKind, Kernel, LaunchOptions, Result, Shape, run_host_part};
use wattle_spirv::{Features, Lacking};

use crate::error::{cannot, system};
use crate::executor::Executor;

impl Executor {
    /// Launches a kernel, runs the other one on a thread of the host's, and waits for both.
    ///
    /// The two share memory, and nothing orders their accesses: the Vulkan memory model knows no scope that includes
    /// the host, so a kernel with `Scope::System` is refused.
    pub(crate) fn launch_with_host(
        &mut self,
        kernel: Arc<dyn Kernel>,
        host_part: &dyn Kernel,
        shape: &Shape,
        options: &LaunchOptions,
    ) {
        self.drain();
        if self.has_failed() {
            return;
        }
        let compiled = self.context.compiled(&*kernel, options.shared_elements());
        let ready = compiled.and_then(|_| self.orders_nothing_with_host(host_part));
        if let Err(error) = ready {
            return self.keep(Err(error));
        }
        let beside = std::thread::scope(|scope| {
            let beside = std::thread::Builder::new()
                .name("wattle-host-part".into())
                .spawn_scoped(scope, || run_host_part(host_part, options))
                .map_err(|error| system("starting the host part's thread", error))?;
            self.launch(kernel, shape, options);
            self.drain();
            beside.join().unwrap_or_else(|panic| Err(panicked("the host part", panic)))
        });
        self.keep(beside);
    }

    fn orders_nothing_with_host(&self, host_part: &dyn Kernel) -> Result<()> {
        match wattle_spirv::build(&host_part.build()?, &Features::all()) {
            Err(Lacking::Scope { kernel, site, .. }) => {
                let what = format!(
                    "let kernel `{kernel}` run beside a launch: it uses Scope::System at {site}, and the Vulkan memory \
                     model orders nothing with the host"
                );
                Err(cannot(self.context.name(), what, "use the host's or a CUDA device, or two launches and events"))
            }
            _ => Ok(()),
        }
    }
}

/// A panic as an error.
pub(crate) fn panicked(what: &str, panic: Box<dyn std::any::Any + Send>) -> Error {
    let message = panic
        .downcast_ref::<&str>()
        .map(|message| (*message).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "(no message)".to_owned());
    // What was thrown may throw again when it is dropped.
    std::mem::forget(panic);
    ErrorKind::Panic { what: what.to_owned(), message }.into()
}
