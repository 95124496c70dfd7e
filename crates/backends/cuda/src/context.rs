//! An opened device: its context, what all its queues share, and whether it can still be used.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, RwLock, RwLockWriteGuard, TryLockError, Weak};
use std::time::Duration;

use wattle_core::{Error, ErrorKind, Result, system};
use wattle_gpu::{Health, WhenLost};

use crate::clock::Clock;
use crate::deferred_free::DeferredFree;
use crate::driver::{Event, PrimaryContext, Refusal, Said, Stream};
use crate::exit;
use crate::helper::Helper;
use crate::modules::Modules;
use crate::peers::Peers;
use crate::physical::Physical;
use crate::slots::Slots;
use crate::staging::{PIECE, Staging};
use crate::wait;

/// How long to wait until nothing is in flight, before a call that may wait for all that the device does.
const PATIENCE: Duration = Duration::from_secs(2);

/// About how many bytes opening a device takes, on the host and on the device, besides what the driver needs.
const NEEDS: u64 = 2 * PIECE as u64;

/// An opened device. Its driver objects are kept as long as the process.
pub(crate) struct Context {
    pub(crate) physical: Arc<Physical>,
    pub(crate) primary: PrimaryContext,
    pub(crate) modules: Modules,
    pub(crate) slots: Mutex<Slots>,
    pub(crate) helper: Mutex<Helper>,
    pub(crate) staging: Mutex<Staging>,
    pub(crate) peers: Peers,
    pub(crate) clock: Clock,
    /// How many operations of all queues are in flight.
    pub(crate) in_flight: AtomicU64,
    /// Locked for reading while a launch is submitted, and for writing to keep launches from beginning.
    pub(crate) launching: RwLock<()>,
    /// The memory to be freed when nothing is in flight.
    pub(crate) deferred: Mutex<Vec<DeferredFree>>,
    /// Whether the device is lost or stuck.
    health: Health<GivenUp>,
}

/// A launch that is waited for no longer. It has ended when its stream is done.
struct GivenUp {
    stream: Arc<Stream>,
    context: Weak<Context>,
}

impl GivenUp {
    fn has_ended(&self, asked_by: &Context) -> Result<bool> {
        let Some(context) = self.context.upgrade() else { return Ok(true) };
        let ended = context.check("looking for a launch's end", self.stream.is_done());
        // Another device that is lost runs nothing any more.
        if !std::ptr::eq(&raw const *context, asked_by) && context.is_lost() { Ok(true) } else { ended }
    }
}

impl Context {
    /// Opens a device: makes its primary context current and prepares what its queues share.
    pub(crate) fn open(physical: Arc<Physical>) -> Result<Arc<Context>> {
        let name = physical.properties.name.clone();
        let opened = |step: &str, refusal: Refusal| {
            if refusal.is_out_of_memory() {
                let (bytes, why) = (NEEDS, format!("it could not be opened for lack of memory ({step}): {refusal}"));
                return ErrorKind::OutOfMemory { device: name.clone(), bytes, why }.into();
            }
            system(format!("opening device `{name}`: {step}"), refusal)
        };
        let primary = PrimaryContext::retain(physical.ordinal).map_err(|r| opened("its primary context", r))?;
        primary.set_current().map_err(|r| opened("making its context current", r))?;
        let slots = Slots::new().map_err(|r| opened("memory for what launches tell", r))?;
        let helper = Helper::new(primary).map_err(|r| opened("a stream beside the launches", r))?;
        let staging = Staging::new().map_err(|r| opened("a buffer for copies", r))?;
        let clock = Clock::new(&helper).map_err(|r| opened("its clock", r))?;
        // The driver has registered more functions for the end of the process.
        exit::before_the_driver();
        Ok(Arc::new(Context {
            primary,
            modules: Modules::default(),
            slots: Mutex::new(slots),
            helper: Mutex::new(helper),
            staging: Mutex::new(staging),
            peers: Peers::default(),
            clock,
            in_flight: AtomicU64::new(0),
            launching: RwLock::default(),
            deferred: Mutex::default(),
            health: Health::new(
                &name,
                WhenLost {
                    why: |why| format!(" in this process: {why}"),
                    instead: "start the program again; data that were copied to the host before are whole",
                },
            ),
            physical,
        }))
    }

    pub(crate) fn name(&self) -> &str {
        &self.physical.properties.name
    }

    /// Makes the device's context the calling thread's current one, unless this crate made it current there last.
    ///
    /// A context that other parts of the program make current on the same thread is not seen here: calls to the driver
    /// other than launches use [`Context::enter`], and a launch that was refused is tried again after that.
    pub(crate) fn stay(&self) -> Result<()> {
        if self.primary.was_made_current() { self.alive() } else { self.enter() }
    }

    /// Makes the device's context the calling thread's current one.
    pub(crate) fn enter(&self) -> Result<()> {
        self.alive()?;
        self.check("making its context current", self.primary.set_current())
    }

    /// The result of a call to the driver as a result of this crate; a device that is lost is remembered.
    pub(crate) fn check<T>(&self, what: &str, said: Said<T>) -> Result<T> {
        said.map_err(|refusal| self.refused(what, refusal))
    }

    #[cold]
    fn refused(&self, what: &str, refusal: Refusal) -> Error {
        if refusal.ends_context() {
            self.health.lose(refusal.to_string());
            return self.health.lost();
        }
        system(format!("{what} on device `{}`", self.name()), refusal)
    }

    /// Whether the device is lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.health.is_lost()
    }

    /// Fails if the device is lost.
    pub(crate) fn alive(&self) -> Result<()> {
        self.health.alive()
    }

    /// Fails if the device is lost, or kept by a launch that was given up.
    pub(crate) fn usable(&self) -> Result<()> {
        self.health.usable(|launch| launch.has_ended(self))
    }

    /// Records that a stream is not waited for any more, and that the device cannot be used until the stream is done,
    /// nor another one whose memory its kernels reach.
    pub(crate) fn give_up(self: &Arc<Self>, stream: &Arc<Stream>, kernel: &'static str) {
        let launch = || GivenUp { stream: stream.clone(), context: Arc::downgrade(self) };
        self.health.give_up(launch(), kernel);
        self.reached_by_kernels().iter().for_each(|peer| peer.health.give_up(launch(), kernel));
    }

    /// The error of launches in flight, one of which has ended the context.
    pub(crate) fn ended_by(&self, kernels: &[&'static str], refusal: Refusal) -> Error {
        let mut names: Vec<&str> = Vec::new();
        for &kernel in kernels {
            if !names.contains(&kernel) {
                names.push(kernel);
            }
        }
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        let who = match &names[..] {
            [] if refusal.ends_context() => return self.refused("waiting for its work", refusal),
            [] => "what was in flight".to_owned(),
            [one] if kernels.len() == 1 => format!("kernel {one}"),
            [one] => format!("one of {} launches of kernel {one} that were in flight", kernels.len()),
            several => format!("one of the kernels {} that were in flight", several.join(", ")),
        };
        let hint = if kernels.len() > 1 {
            "; with WATTLE_CUDA_SYNC=1 in the environment each launch is waited for, which tells which it is"
        } else {
            ""
        };
        self.health.lose(format!("{who}: {refusal}"));
        let message = format!("{refusal}; device `{}` cannot be used any more in this process{hint}", self.name());
        ErrorKind::System { what: who, message }.into()
    }

    /// Keeps launches from beginning; `None` if something is in flight.
    pub(crate) fn alone(&self) -> Option<RwLockWriteGuard<'_, ()>> {
        let alone = match self.launching.try_write() {
            Ok(alone) => alone,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        (self.in_flight.load(Ordering::Acquire) == 0).then_some(alone)
    }

    /// Keeps launches from beginning, after waiting a while for what is in flight; `None` if something still is.
    pub(crate) fn await_alone(&self) -> Option<RwLockWriteGuard<'_, ()>> {
        let mut alone = None;
        let _ = wait::until::<()>(PATIENCE, || {
            alone = self.alone();
            Ok(alone.is_some())
        });
        alone
    }

    /// Whether each launch is waited for, so that an error shows which launch caused it.
    pub(crate) fn is_synchronous() -> bool {
        static SYNCHRONOUS: OnceLock<bool> = OnceLock::new();
        *SYNCHRONOUS
            .get_or_init(|| std::env::var_os("WATTLE_CUDA_SYNC").is_some_and(|value| !value.is_empty() && value != "0"))
    }

    /// A new event of this context, which records the time if `timed`.
    pub(crate) fn event(&self, timed: bool) -> Result<Event> {
        self.enter()?;
        self.check("making an event", Event::new(timed))
    }
}
