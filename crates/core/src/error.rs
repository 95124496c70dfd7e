//! What can go wrong, as values that say what happened, where, and what to do.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use wattle_ir::{Site, VerifyError};

use crate::fault::{Fault, FaultKind};

/// The result of everything here that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error; [`Error::kind`] says which one.
#[doc(alias("cudaError_t", "cudaGetLastError"))]
#[derive(Clone)]
pub struct Error(Box<ErrorKind>, Option<Arc<BTreeMap<String, u64>>>);

impl Error {
    /// The kind of error, with its details.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// An error of a scenario's own: an assertion that did not hold.
    pub fn check(message: impl Into<String>) -> Error {
        ErrorKind::Check(message.into()).into()
    }

    /// A device that cannot do what was asked: "device `device` cannot `what`; `instead`".
    pub fn capability(device: impl Into<String>, what: impl Into<String>, instead: impl Into<String>) -> Error {
        ErrorKind::Capability { device: device.into(), what: what.into(), instead: instead.into(), limit: None }.into()
    }

    /// Adds the numbers of a limit that was exceeded; changes only an [`ErrorKind::Capability`].
    #[must_use]
    pub fn limited(mut self, requested: impl Into<u64>, available: impl Into<u64>) -> Error {
        if let ErrorKind::Capability { limit, .. } = &mut *self.0 {
            *limit = Some(Limit { requested: requested.into(), available: available.into() });
        }
        self
    }

    /// Adds what the scenario had observed before the error ([`Summary::outcomes`](crate::Summary)).
    #[must_use]
    pub fn after(self, observed: &BTreeMap<String, u64>) -> Error {
        Error(self.0, (!observed.is_empty()).then(|| Arc::new(observed.clone())))
    }

    /// What the scenario had observed before the error, and how often; `None` if nothing.
    pub fn observed(&self) -> Option<&BTreeMap<String, u64>> {
        self.1.as_deref()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Error {
        Error(Box::new(kind), None)
    }
}

impl From<VerifyError> for Error {
    fn from(error: VerifyError) -> Error {
        ErrorKind::Kernel(error).into()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

// `main` prints the error that it returns with Debug, for the user to read.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl std::error::Error for Error {
    /// The error that this one reports: a queue's earlier error, a kernel's fault, a mistake in a kernel. Its text is
    /// part of this one's.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &*self.0 {
            ErrorKind::Fault(fault) => Some(&**fault),
            ErrorKind::QueueStopped { first } => Some(&**first),
            ErrorKind::Kernel(error) => Some(error),
            ErrorKind::UnknownDevice { .. }
            | ErrorKind::DuplicateScenario { .. }
            | ErrorKind::Extent { .. }
            | ErrorKind::OutOfMemory { .. }
            | ErrorKind::SharedLen { .. }
            | ErrorKind::ItemsExtent { .. }
            | ErrorKind::LongLaunch { .. }
            | ErrorKind::ModuleArguments { .. }
            | ErrorKind::CopyShape { .. }
            | ErrorKind::ViewRange { .. }
            | ErrorKind::Capability { .. }
            | ErrorKind::DeviceUnusable { .. }
            | ErrorKind::WrongDevice { .. }
            | ErrorKind::Conflict { .. }
            | ErrorKind::TimeLimit { .. }
            | ErrorKind::Interrupted { .. }
            | ErrorKind::Panic { .. }
            | ErrorKind::Finding(_)
            | ErrorKind::Check(_)
            | ErrorKind::System { .. } => None,
        }
    }
}

/// What went wrong.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no device of the name that was asked for.
    #[error("there is no device `{wanted}`\n{}", list(.known))]
    UnknownDevice {
        /// The name that was asked for.
        wanted: String,
        /// What there is, and why the others are not there: name and remark.
        known: Vec<(String, String)>,
    },
    /// Two scenarios of one name.
    #[error(
        "two scenarios are called `{name}`: one at {first}, another at {second}; give one of them another name with \
         `#[scenario(name = \"…\")]`"
    )]
    DuplicateScenario {
        /// The name that both have.
        name: &'static str,
        /// The source line of one registration.
        first: Site,
        /// The source line of the other registration.
        second: Site,
    },
    /// An extent that is too large, or zero where something has to be.
    #[error("{what} of {extent}: {why}")]
    Extent {
        /// The object whose extent it is, in words.
        what: &'static str,
        /// The extent, as it was written.
        extent: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// An allocation asks for more memory than the device has left.
    #[error(
        "device `{device}` cannot hold {bytes} bytes more: {why}; allocate less, or free buffers first (a buffer is \
         freed when its last owner, a queued launch included, is gone)"
    )]
    OutOfMemory {
        /// The device.
        device: String,
        /// The number of bytes that were asked for.
        bytes: u64,
        /// Why they are not available: what the device has.
        why: String,
    },
    /// A launch that does not say how long a shared array is.
    #[error(
        "kernel `{kernel}`: the launch gives the length of its shared array `{array}`, and this one gives none; launch it \
         with `LaunchOptions::new().shared_len(n)`, n at least 1\n  at {site}"
    )]
    SharedLen {
        /// The kernel.
        kernel: String,
        /// The array.
        array: String,
        /// The source line that declares the array.
        site: Site,
    },
    /// Views of different extents, of which a kernel goes over the items together.
    #[error(
        "kernel `{kernel}` goes over the items of `{}` and `{}` together, which have the extents {} and {}; pass views of one \
         extent\n  at {site}",
        .first.0, .second.0, .first.1, .second.1
    )]
    ItemsExtent {
        /// The kernel.
        kernel: String,
        /// The source line of the launch.
        site: Site,
        /// The name and the extent of one parameter.
        first: (String, String),
        /// The name and the extent of the other.
        second: (String, String),
    },
    /// A launch of 2³² elements or threads or more, of a kernel whose indices are `u32`.
    #[error(
        "kernel `{kernel}`: {what}, and its indices are `u32`; write `#[kernel(wide)]`, in which indices are `u64`, or split the \
         work into several buffers and launches\n  at {site}"
    )]
    LongLaunch {
        /// The kernel.
        kernel: String,
        /// What there are 2³² or more of, in words: threads, or the elements of a parameter.
        what: String,
        /// The source line of the launch.
        site: Site,
    },
    /// Arguments that do not fit the parameters of a module's kernel.
    #[error("kernel `{kernel}` of {file}: {why}\n  it is declared as `{signature}`")]
    ModuleArguments {
        /// The kernel.
        kernel: String,
        /// The module's file.
        file: String,
        /// What does not fit.
        why: String,
        /// The kernel with its parameters.
        signature: String,
    },
    /// Source and destination of a copy differ in shape.
    #[error(
        "copy at {site}: the source has extent {source_extent} and the destination {destination_extent}; \
             take subviews of one shape"
    )]
    CopyShape {
        /// The source line that enqueued the copy.
        site: Site,
        /// The source's extent.
        source_extent: String,
        /// The destination's extent.
        destination_extent: String,
    },
    /// A range that its buffer does not have.
    #[error("range {range} of a buffer of extent {extent}, at {site}")]
    ViewRange {
        /// The source line that made the view.
        site: Site,
        /// The range.
        range: String,
        /// The extent of the buffer.
        extent: String,
    },
    /// A device cannot do what was asked.
    #[error("device `{device}` cannot {what}; {instead}")]
    Capability {
        /// The device.
        device: String,
        /// What the device cannot do, with the reason.
        what: String,
        /// What to do instead.
        instead: String,
        /// The number that was asked for and the most that there is, where the capability has a limit.
        limit: Option<Limit>,
    },
    /// A device that was there cannot be used: it was lost, or a launch does not let go of it.
    #[error("device `{device}` cannot be used {why}; {instead}")]
    DeviceUnusable {
        /// The device.
        device: String,
        /// The duration and the reason, in words: `any more: …`, `at the moment: …`.
        why: String,
        /// What to do.
        instead: String,
    },
    /// A buffer of one device given to another.
    #[error(
        "{what} at {site} uses a buffer of device `{owner}` on device `{device}`; copy it there first, or let kernels reach it \
             (`Device::enable_peer_access`)"
    )]
    WrongDevice {
        /// The operation that uses it.
        what: String,
        /// The source line that enqueued the operation.
        site: Site,
        /// The buffer's device.
        owner: String,
        /// The queue's device.
        device: String,
    },
    /// Two uses of a buffer that nothing orders.
    #[error("{second}\n  conflicts with {first}, and nothing orders the two\n  help: {help}")]
    Conflict {
        /// The use that came first.
        first: String,
        /// The use that was refused.
        second: String,
        /// What to do.
        help: &'static str,
    },
    /// A kernel did what it must not; the first fault of the launch.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// A launch went past its time limit; where its blocks were.
    #[error("kernel `{kernel}` did not end within {limit:?}\n{}", overdue(.lines))]
    TimeLimit {
        /// The kernel.
        kernel: String,
        /// The limit.
        limit: Duration,
        /// The lines at which threads were stopped; empty if no thread reported one.
        lines: Vec<ThreadLine>,
    },
    /// The work was interrupted, by Ctrl-C or by [`crate::interrupt::request`].
    #[error("interrupted while `{kernel}` was running\n{}", threads(.lines))]
    Interrupted {
        /// The kernel or task.
        kernel: String,
        /// The lines at which threads were stopped; empty if no thread reported one.
        lines: Vec<ThreadLine>,
    },
    /// A kernel's function or a host task panicked.
    #[error("{what} panicked: {message}")]
    Panic {
        /// What panicked.
        what: String,
        /// The panic's message.
        message: String,
    },
    /// A queue that met an error is used again before the error was taken.
    #[error("the queue stopped at an earlier error; `queue.wait()` takes it, and the queue can be used again\n{first}")]
    QueueStopped {
        /// The earlier error.
        first: Box<Error>,
    },
    /// A kernel that cannot be built.
    #[error("{0}")]
    Kernel(VerifyError),
    /// What a simulation or a checker found.
    #[error("{0}")]
    Finding(String),
    /// A scenario's assertion did not hold.
    #[error("{0}")]
    Check(String),
    /// What the operating system or a driver said.
    #[error("{what}: {message}")]
    System {
        /// What was being done.
        what: String,
        /// The reason that was given.
        message: String,
    },
}

impl ErrorKind {
    /// The kind of error as one word, for programs. The words do not change.
    pub fn name(&self) -> &'static str {
        match self {
            ErrorKind::UnknownDevice { .. } => "unknown_device",
            ErrorKind::DuplicateScenario { .. } => "duplicate_scenario",
            ErrorKind::Extent { .. } => "extent",
            ErrorKind::OutOfMemory { .. } => "out_of_memory",
            ErrorKind::SharedLen { .. } => "shared_len",
            ErrorKind::ItemsExtent { .. } => "items_extent",
            ErrorKind::LongLaunch { .. } => "long_launch",
            ErrorKind::ModuleArguments { .. } => "module_arguments",
            ErrorKind::CopyShape { .. } => "copy_shape",
            ErrorKind::ViewRange { .. } => "view_range",
            ErrorKind::Capability { .. } => "capability",
            ErrorKind::DeviceUnusable { .. } => "device_unusable",
            ErrorKind::WrongDevice { .. } => "wrong_device",
            ErrorKind::Conflict { .. } => "conflict",
            ErrorKind::Fault(_) => "fault",
            ErrorKind::TimeLimit { .. } => "time_limit",
            ErrorKind::Interrupted { .. } => "interrupted",
            ErrorKind::Panic { .. } => "panic",
            ErrorKind::QueueStopped { .. } => "queue_stopped",
            ErrorKind::Kernel(_) => "kernel",
            ErrorKind::Finding(_) => "finding",
            ErrorKind::Check(_) => "check",
            ErrorKind::System { .. } => "system",
        }
    }
}

/// What an error says of the program that met it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// The program ran and did what it must not: a check failed, a kernel had a fault or did not end, a device found
    /// something.
    Wrong,
    /// The program asked for what no device does: a launch, a buffer or a use of one that is refused before it begins.
    Refused,
    /// The device or the machine lacks what the program needs, or failed: the error says nothing of the program.
    Lacking,
    /// The work was interrupted: the error says nothing of the program.
    Interrupted,
}

impl ErrorKind {
    /// What the error says of the program.
    pub fn class(&self) -> ErrorClass {
        match self {
            // Devices that see it as a kernel begins say so as they say a thread's faults.
            ErrorKind::Fault(fault) if matches!(fault.what, FaultKind::SharedMemory { .. }) => ErrorClass::Lacking,
            ErrorKind::Fault(_)
            | ErrorKind::TimeLimit { .. }
            | ErrorKind::Panic { .. }
            | ErrorKind::Finding(_)
            | ErrorKind::Check(_) => ErrorClass::Wrong,
            ErrorKind::DuplicateScenario { .. }
            | ErrorKind::Extent { .. }
            | ErrorKind::SharedLen { .. }
            | ErrorKind::ItemsExtent { .. }
            | ErrorKind::LongLaunch { .. }
            | ErrorKind::ModuleArguments { .. }
            | ErrorKind::CopyShape { .. }
            | ErrorKind::ViewRange { .. }
            | ErrorKind::WrongDevice { .. }
            | ErrorKind::Conflict { .. }
            | ErrorKind::Kernel(_) => ErrorClass::Refused,
            ErrorKind::UnknownDevice { .. }
            | ErrorKind::OutOfMemory { .. }
            | ErrorKind::Capability { .. }
            | ErrorKind::DeviceUnusable { .. }
            | ErrorKind::System { .. } => ErrorClass::Lacking,
            ErrorKind::Interrupted { .. } => ErrorClass::Interrupted,
            ErrorKind::QueueStopped { first } => first.kind().class(),
        }
    }
}

/// A capability that has a limit, in the unit that the error names: threads, blocks, queues, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The number that was asked for.
    pub requested: u64,
    /// The most that there is.
    pub available: u64,
}

/// The line at which a thread was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadLine {
    /// The thread's block.
    pub block: String,
    /// The last line that it passed.
    pub site: Site,
}

fn list(known: &[(String, String)]) -> String {
    let lines: Vec<_> = known.iter().map(|(name, remark)| format!("  {name:<14} {remark}")).collect();
    lines.join("\n")
}

fn threads(lines: &[ThreadLine]) -> String {
    const SHOWN: usize = 8;
    let mut text: Vec<_> =
        lines.iter().take(SHOWN).map(|line| format!("  block {} was at {}", line.block, line.site)).collect();
    if lines.len() > SHOWN {
        text.push(format!("  and {} more", lines.len() - SHOWN));
    }
    text.join("\n")
}

/// The text on a launch that did not end in time: the lines at which threads were stopped, and what to do.
fn overdue(lines: &[ThreadLine]) -> String {
    if lines.is_empty() {
        return "  no thread reported where it was: threads do so now and then, on a GPU not in a loop with a bound, and there the \
                launch may still run\n  help: give it less work, or raise the limit with `LaunchOptions::time_limit`"
            .to_owned();
    }
    let help = "if it only takes longer, raise the limit with `LaunchOptions::time_limit`, or a command's with `--time`; if a \
                thread waits, another one has to end that, and blocks that wait for each other, as at a barrier of the whole \
                grid, have to run at once: launch them with `LaunchOptions::new().cooperative()`";
    format!("{}\n  help: {help}", threads(lines))
}

/// An error of a driver's or the operating system's: what was being done, and the reason that was given.
pub fn system(what: impl Into<String>, message: impl fmt::Display) -> Error {
    ErrorKind::System { what: what.into(), message: message.to_string() }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_past_its_limit_tells_where_it_was_or_why_it_does_not() {
        let said = |lines| {
            let limit = Duration::from_secs(1);
            Error::from(ErrorKind::TimeLimit { kernel: "k".into(), limit, lines }).to_string()
        };
        let told = said(vec![ThreadLine { block: "3".into(), site: Site::caller() }]);
        assert!(
            told.contains("block 3 was at") && told.contains("if a thread waits, another one has to end that"),
            "{told}"
        );
        let untold = said(Vec::new());
        assert!(untold.contains("no thread reported where it was") && untold.contains("less work"), "{untold}");
        assert!(!untold.contains("\n\n") && !untold.contains("if a thread waits"), "{untold}");
    }
}
