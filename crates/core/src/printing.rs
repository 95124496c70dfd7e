//! What kernels print: the log of a launch, and where its lines go.
//!
//! A kernel that prints is launched with a log: on the host a list, on every other device a buffer behind the kernel's
//! own arguments, in which each line is a record ([`wattle_ir::printing`]). A kernel that does not print has none, and
//! costs nothing. The checker prints nothing: a line is no event of a memory model.

pub(crate) mod host_log;
mod lines;
mod sink;

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use wattle_ir::builder::IndexLayout;
use wattle_ir::printing::{HEADER, LOG, Line, read, used, with_log};
use wattle_ir::{Access, Scalar, Type};

use crate::argument::{Argument, ArgumentValue, ViewArgument};
use crate::buffer::{Buffer, Part};
use crate::device::Device;
use crate::error::Result;
use crate::kernel::{Kernel, KernelIdentity, KernelInfo, known};
use crate::memory::{MemoryKind, bytes, number_bytes_mut};
use crate::module::ModuleCall;
use crate::properties::DeviceKind;
use crate::spec::LaunchOptions;
use crate::sync::lock;
use crate::thread::Thread;
use host_log::HostLog;
pub use lines::{Printed, PrintedLine};
use sink::Sink;

/// A value as a message takes it: what the host's function of a kernel is written with.
#[doc(hidden)]
pub fn printed<T: Scalar>(value: &T) -> (Type, u64) {
    (T::TYPE, value.to_raw())
}

/// The log that the threads of a launch print into.
enum LogPlace {
    Host(HostLog),
    /// A buffer, and the lines whose numbers the records in it have.
    Device(Part<u32, 1>, Arc<Vec<Line>>),
}

/// The log of a launch that may still run.
pub(crate) struct LaunchLog {
    kernel: &'static str,
    place: LogPlace,
}

/// A kernel with the log that it prints into.
#[derive(Clone)]
struct Printing {
    kernel: Arc<dyn Kernel>,
    log: Arc<LaunchLog>,
    /// The number of arguments of the kernel itself.
    arguments: usize,
}

// SAFETY: everything is the kernel's own but the log, which nothing else uses while the launch runs, and which `run`,
// for the host, does not touch where it is a buffer.
unsafe impl Kernel for Printing {
    fn info(&self) -> &'static KernelInfo {
        self.kernel.info()
    }

    fn rank(&self) -> usize {
        self.kernel.rank()
    }

    fn argument(&self, number: usize) -> Option<Argument<'_>> {
        match &self.log.place {
            LogPlace::Device(log, _) if number == self.arguments => {
                let view =
                    ViewArgument { buffer: &log.raw, region: &log.region, access: Access::Atomic, rank: 1, number: 0 };
                Some(Argument { name: LOG, value: ArgumentValue::View(view), number: None })
            }
            _ => self.kernel.argument(number),
        }
    }

    unsafe fn run(&self, thread: &Thread<'_>) {
        // SAFETY: the caller's promise.
        let run = || unsafe { self.kernel.run(thread) };
        match &self.log.place {
            LogPlace::Host(log) => thread.print_into(log, run),
            LogPlace::Device(..) => run(),
        }
    }

    fn build(&self) -> Result<wattle_ir::Kernel> {
        self.build_with(IndexLayout::Strided)
    }

    fn build_with(&self, layout: IndexLayout) -> Result<wattle_ir::Kernel> {
        let built = self.kernel.build_with(layout)?;
        Ok(match &self.log.place {
            LogPlace::Host(_) => built,
            LogPlace::Device(..) => with_log(&built).map_or(built, |(built, _)| built),
        })
    }

    fn identity(&self) -> KernelIdentity {
        match &self.log.place {
            LogPlace::Host(_) => self.kernel.identity(),
            LogPlace::Device(..) => self.kernel.identity().with_log(),
        }
    }

    fn to_arc(&self) -> Arc<dyn Kernel> {
        Arc::new(self.clone())
    }

    fn module(&self) -> Option<&ModuleCall> {
        self.kernel.module()
    }
}

/// What a queue is to do with the lines of its launches.
#[derive(Default)]
pub(crate) struct QueueLogs {
    sink: Option<Sink>,
    /// The logs of launches whose end nobody has waited for, in their order.
    pending: Vec<Arc<LaunchLog>>,
    /// Logs that are empty, for later launches: an allocation may wait for all that a device does.
    spare: Vec<Part<u32, 1>>,
}

/// A kernel that prints into the log beside it.
pub(crate) type WithLog = (Arc<dyn Kernel>, Arc<LaunchLog>);

impl QueueLogs {
    pub(crate) fn set_sink(&mut self, sink: impl FnMut(&Printed) + Send + 'static) {
        self.sink = Some(Sink::new(sink));
    }

    pub(crate) fn has_sink(&self) -> bool {
        self.sink.is_some()
    }

    /// A kernel with a log for one launch, if it prints.
    ///
    /// # Errors
    /// The kernel cannot be built; the device has no memory for the log; this thread is in the function that the lines
    /// would be handed to.
    pub(crate) fn with_log(
        &mut self,
        device: &Device,
        kernel: &dyn Kernel,
        is_host_part: bool,
        options: &LaunchOptions,
    ) -> Result<Option<WithLog>> {
        if !known(kernel)?.prints || device.properties().kind == DeviceKind::Checker {
            return Ok(None);
        }
        self.sink.as_ref().map_or(Ok(()), Sink::is_not_running_here)?;
        let words = options.print_words;
        // A host part is the host's, but on a simulated device.
        let on_host = match device.properties().kind {
            DeviceKind::Host => true,
            DeviceKind::Simulated | DeviceKind::Checker => false,
            DeviceKind::Gpu | DeviceKind::Software => is_host_part,
        };
        let place = if on_host {
            LogPlace::Host(HostLog::new(words))
        } else {
            let spare = self.spare.iter().position(|log| log.raw.extent[0] == u64::from(words));
            let log = match spare {
                Some(at) => self.spare.swap_remove(at),
                None => Buffer::<u32>::allocate(device, words as usize, MemoryKind::Device, true)?.whole(),
            };
            LogPlace::Device(log, lines_of(kernel)?)
        };
        let log = Arc::new(LaunchLog { kernel: kernel.info().name, place });
        let arguments = kernel.arguments().count();
        Ok(Some((Arc::new(Printing { kernel: kernel.to_arc(), log: log.clone(), arguments }), log)))
    }

    /// Records that a launch prints into a log.
    pub(crate) fn launched(&mut self, log: Arc<LaunchLog>) {
        self.pending.push(log);
    }

    /// The logs of the launches so far.
    pub(crate) fn take(&mut self) -> Vec<Arc<LaunchLog>> {
        std::mem::take(&mut self.pending)
    }

    /// Passes on the lines of launches that have ended.
    ///
    /// # Errors
    /// The device does not let a log be read; the lines are another thread's, and this one is in the function that they
    /// would be handed to.
    pub(crate) fn deliver(this: &Mutex<QueueLogs>, logs: Vec<Arc<LaunchLog>>) -> Result<()> {
        let mut result = Ok(());
        for log in logs {
            let (collected, sink) = {
                let mut this = lock(this);
                (this.collect(&log), this.sink.clone())
            };
            match (collected, sink) {
                (Ok(printed), _) if printed.lines.is_empty() && printed.lost == 0 => {}
                (Ok(printed), Some(sink)) => result = result.and(sink.take(&printed)),
                (Ok(printed), None) => show(&printed),
                (Err(error), _) => result = result.and(Err(error)),
            }
        }
        result
    }

    fn collect(&mut self, log: &LaunchLog) -> Result<Printed> {
        let (part, known) = match &log.place {
            LogPlace::Host(host) => {
                let (lines, lost) = host.take();
                return Ok(Printed { kernel: log.kernel, lines, lost });
            }
            LogPlace::Device(part, known) => (part, known),
        };
        let memory = part.raw.memory();
        memory.usable()?;
        let len = part.raw.extent[0] as usize;
        let mut all = vec![0u32; HEADER as usize];
        // SAFETY: the launch that wrote the log has ended, and nothing else has it; the header and what is used of the
        // log are within it.
        unsafe { memory.read(0, number_bytes_mut(&mut all))? };
        all.resize(used(&all, len), 0);
        // SAFETY: as above.
        unsafe { memory.read(0, number_bytes_mut(&mut all))? };
        let found = read(&all, known);
        all.fill(0);
        // SAFETY: as above.
        unsafe { memory.write(0, bytes(&all))? };
        self.spare.push(part.clone());
        let line = |line: wattle_ir::printing::Printed| PrintedLine {
            block: line.block,
            thread: line.thread,
            site: known[line.line].site,
            text: line.text,
        };
        Ok(Printed { kernel: log.kernel, lines: found.lines.into_iter().map(line).collect(), lost: found.lost })
    }

    /// Gives back the log of a kernel that was not launched.
    pub(crate) fn put_back(&mut self, log: &LaunchLog) {
        if let LogPlace::Device(part, _) = &log.place {
            self.spare.push(part.clone());
        }
    }
}

/// Whether lines without a sink go to the standard error.
static TO_STDERR: AtomicBool = AtomicBool::new(false);

/// Sends what kernels print to the standard error from now on, where no [`Queue::print_to`](crate::Queue::print_to)
/// says otherwise: for a program whose standard output is a document.
pub fn print_to_stderr() {
    TO_STDERR.store(true, Ordering::Relaxed);
}

/// Shows lines that have no sink. A reader that has closed the pipe wants no more.
fn show(printed: &Printed) {
    let _ = match TO_STDERR.load(Ordering::Relaxed) {
        true => write!(std::io::stderr().lock(), "{printed}"),
        false => write!(std::io::stdout().lock(), "{printed}"),
    };
}

/// The lines that a kernel prints, by number. They are found once for each kernel.
fn lines_of(kernel: &dyn Kernel) -> Result<Arc<Vec<Line>>> {
    static KNOWN: Mutex<Option<HashMap<KernelIdentity, Arc<Vec<Line>>>>> = Mutex::new(None);
    let identity = kernel.identity();
    if let Some(lines) = lock(&KNOWN).get_or_insert_default().get(&identity) {
        return Ok(lines.clone());
    }
    let lines = Arc::new(with_log(&kernel.build()?).map_or_else(Vec::new, |(_, lines)| lines));
    lock(&KNOWN).get_or_insert_default().insert(identity, lines.clone());
    Ok(lines)
}
