//! Contexts: current ones, primary ones, and the fault that ends one for good.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::config::Config;
use super::handle::Handles;
use super::lock::lock;
use super::status::{Done, Status};
use super::stream::{Signal, Stream};

/// A context of a device, with its streams and its fault.
pub struct Context {
    /// The context's handle.
    pub handle: usize,
    /// The number of the context's device.
    pub device: u32,
    /// The context's default stream.
    pub null: Arc<Stream>,
    streams: Mutex<Vec<Arc<Stream>>>,
    fault: AtomicU32,
    /// The devices whose memory the context's kernels reach, one bit each.
    pub reaches: AtomicU64,
    /// Held while work is added to the default stream, or to a stream that is ordered with it.
    order: Mutex<()>,
    /// The flags that the context was made with.
    pub flags: AtomicU32,
}

static CONTEXTS: Handles<Context> = Handles::new();

/// All streams except the default ones.
static STREAMS: Handles<Stream> = Handles::new();

/// Work on a stream of a context; an error of it ends the context.
pub type Work = Box<dyn FnOnce(&Context) -> Done + Send>;

/// The state of a device's primary context.
#[derive(Default)]
struct Primary {
    context: Option<Arc<Context>>,
    users: u32,
    flags: u32,
}

static PRIMARIES: Mutex<Vec<Primary>> = Mutex::new(Vec::new());
static INITIALIZED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static STACK: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Records that the driver was initialized.
pub fn initialize() {
    INITIALIZED.store(true, Ordering::Release);
}

/// Checks that the driver was initialized.
///
/// # Errors
/// `cuInit` was not called.
pub fn initialized() -> Done {
    if INITIALIZED.load(Ordering::Acquire) { Ok(()) } else { Err(Status::ERROR_NOT_INITIALIZED) }
}

/// Checks a device number.
///
/// # Errors
/// There is no such device, or the driver is not initialized.
pub fn device(ordinal: i32) -> Done<u32> {
    initialized()?;
    match u32::try_from(ordinal) {
        Ok(device) if device < Config::get().devices => Ok(device),
        _ => Err(Status::ERROR_INVALID_DEVICE),
    }
}

impl Context {
    /// Makes a context of a device, with its null stream, and gives it a handle.
    pub fn create(device: u32, flags: u32) -> Arc<Context> {
        let make = |handle| Context {
            handle,
            device,
            null: Arc::new(Stream::new(handle, 0, 0, 0)),
            streams: Mutex::default(),
            fault: AtomicU32::new(0),
            reaches: AtomicU64::new(1 << device),
            order: Mutex::new(()),
            flags: AtomicU32::new(flags),
        };
        let (_, context) = CONTEXTS.add(make);
        lock(&context.streams).push(context.null.clone());
        context
    }

    /// Checks that no fault has ended this context.
    ///
    /// # Errors
    /// The fault that has ended the context.
    pub fn healthy(&self) -> Done {
        match self.fault.load(Ordering::Acquire) {
            0 => Ok(()),
            fault => Err(Status(fault)),
        }
    }

    /// Ends the context with a fault, unless an earlier fault has.
    pub fn fail(&self, fault: Status) {
        let _ = self.fault.compare_exchange(0, fault.0, Ordering::AcqRel, Ordering::Acquire);
    }

    /// The streams of the context.
    pub fn streams(&self) -> Vec<Arc<Stream>> {
        lock(&self.streams).clone()
    }

    /// Adds work to a stream of this context. The default stream waits for the pending work of all streams, and they
    /// wait for it, except for independent streams.
    pub fn enqueue(&self, stream: &Arc<Stream>, work: Work) -> Arc<Signal> {
        self.enqueue_after(stream, Vec::new(), false, work)
    }

    /// Adds work that begins after `before`; if `always`, it is done even in a context that has failed.
    pub fn enqueue_after(
        &self,
        stream: &Arc<Stream>,
        mut before: Vec<Arc<Signal>>,
        always: bool,
        work: Work,
    ) -> Arc<Signal> {
        let handle = self.handle;
        let run = Box::new(move || {
            let Ok(context) = CONTEXTS.get(handle) else { return };
            if always || context.healthy().is_ok() {
                let work = AssertUnwindSafe(|| work(&context));
                if let Err(fault) = catch_unwind(work).unwrap_or(Err(Status::ERROR_UNKNOWN)) {
                    context.fail(fault);
                }
            }
        });
        if stream.independent {
            return stream.push(before, run);
        }
        let _order = lock(&self.order);
        if stream.handle == 0 {
            let others = self.streams();
            let others = others.iter().filter(|other| !other.independent && other.handle != 0);
            before.extend(others.filter_map(|other| other.last()));
        } else {
            before.extend(self.null.last());
        }
        stream.push(before, run)
    }

    /// Waits until the context's streams have no work left.
    pub fn idle(&self) {
        let ends: Vec<Arc<Signal>> = self.streams().iter().filter_map(|stream| stream.last()).collect();
        for end in ends {
            end.wait();
        }
    }
}

/// Waits for all work on a device.
pub fn device_idle(device: u32) {
    for context in CONTEXTS.all() {
        if context.device == device {
            context.idle();
        }
    }
}

/// Removes a context from the live ones.
pub fn forget(context: usize) {
    let _ = CONTEXTS.remove(context);
    STACK.with_borrow_mut(|stack| stack.retain(|&handle| handle != context));
}

/// The context with this handle.
///
/// # Errors
/// There is no such context.
pub fn find(handle: usize) -> Done<Arc<Context>> {
    CONTEXTS.get(handle).map_err(|_| Status::ERROR_INVALID_CONTEXT)
}

/// The context that an object belongs to.
///
/// # Errors
/// The context was destroyed.
pub fn owner(handle: usize) -> Done<Arc<Context>> {
    CONTEXTS.get(handle).map_err(|_| Status::ERROR_CONTEXT_IS_DESTROYED)
}

/// The thread's current context, even if a fault has ended it.
///
/// # Errors
/// The thread has no context, or it was destroyed.
pub fn current_raw() -> Done<Arc<Context>> {
    initialized()?;
    let top = STACK.with_borrow(|stack| stack.last().copied()).filter(|&handle| handle != 0);
    let Some(handle) = top else { return Err(Status::ERROR_INVALID_CONTEXT) };
    owner(handle)
}

/// The thread's current context.
///
/// # Errors
/// The thread has no context, or a fault has ended it.
pub fn current() -> Done<Arc<Context>> {
    let context = current_raw()?;
    context.healthy()?;
    Ok(context)
}

/// The handle of the thread's current context; 0 if there is none.
pub fn current_handle() -> usize {
    STACK.with_borrow(|stack| stack.last().copied().unwrap_or(0))
}

/// Makes a context the thread's current one; 0 leaves the thread without one.
///
/// # Errors
/// There is no such context.
pub fn set_current(handle: usize) -> Done {
    initialized()?;
    if handle != 0 {
        find(handle)?;
    }
    STACK.with_borrow_mut(|stack| {
        stack.pop();
        if handle != 0 {
            stack.push(handle);
        }
    });
    Ok(())
}

/// Pushes a context onto the thread's stack, which makes it current.
///
/// # Errors
/// There is no such context.
pub fn push(handle: usize) -> Done {
    initialized()?;
    find(handle)?;
    STACK.with_borrow_mut(|stack| stack.push(handle));
    Ok(())
}

/// Pops the thread's current context; returns its handle.
///
/// # Errors
/// The thread has no context.
pub fn pop() -> Done<usize> {
    initialized()?;
    STACK.with_borrow_mut(Vec::pop).ok_or(Status::ERROR_INVALID_CONTEXT)
}

fn primary<T>(device: u32, use_it: impl FnOnce(&mut Primary) -> T) -> T {
    let mut primaries = lock(&PRIMARIES);
    primaries.resize_with(Config::get().devices as usize, Primary::default);
    use_it(&mut primaries[device as usize])
}

/// Adds a user to the primary context, which is made if there is none.
pub fn retain_primary(device: u32) -> Arc<Context> {
    primary(device, |primary| {
        primary.users += 1;
        let flags = primary.flags;
        primary.context.get_or_insert_with(|| Context::create(device, flags)).clone()
    })
}

/// Removes a user from the primary context; returns the context if that was the last one, for the caller to end.
///
/// # Errors
/// The primary context has no users.
pub fn release_primary(device: u32) -> Done<Option<Arc<Context>>> {
    primary(device, |primary| {
        primary.users = primary.users.checked_sub(1).ok_or(Status::ERROR_INVALID_CONTEXT)?;
        Ok(if primary.users == 0 { primary.context.take() } else { None })
    })
}

/// Removes the primary context from all its users; returns it, if there is one, for the caller to end.
pub fn take_primary(device: u32) -> Option<Arc<Context>> {
    primary(device, |primary| {
        primary.users = 0;
        primary.context.take()
    })
}

/// The primary context's flags, and whether there is one.
pub fn primary_state(device: u32) -> (u32, bool) {
    primary(device, |primary| (primary.flags, primary.context.is_some()))
}

/// Sets the primary context's flags.
pub fn set_primary_flags(device: u32, flags: u32) {
    primary(device, |primary| {
        primary.flags = flags;
        if let Some(context) = &primary.context {
            context.flags.store(flags, Ordering::Relaxed);
        }
    });
}

/// The stream with this handle, and its context. 0, 1 and 2 are the default stream of the current context; for the
/// driver, 2 is the default stream per thread.
///
/// # Errors
/// There is no such stream, or its context has failed.
pub fn resolve(handle: usize) -> Done<(Arc<Stream>, Arc<Context>)> {
    if handle <= 2 {
        let context = current()?;
        return Ok((context.null.clone(), context));
    }
    initialized()?;
    let stream = STREAMS.get(handle)?;
    let context = owner(stream.context)?;
    context.healthy()?;
    Ok((stream, context))
}

/// Makes a stream in a context; returns its handle.
pub fn create_stream(context: &Context, flags: u32, priority: i32) -> usize {
    let (handle, stream) = STREAMS.add(|handle| Stream::new(context.handle, handle, flags, priority));
    lock(&context.streams).push(stream);
    handle
}

/// Destroys a stream; its pending work is still done.
///
/// # Errors
/// There is no such stream.
pub fn destroy_stream(handle: usize) -> Done {
    let stream = STREAMS.remove(handle)?;
    stream.close();
    // The context still waits for the stream's pending work; a stream without any is removed from it.
    if let Ok(context) = CONTEXTS.get(stream.context)
        && stream.last().is_none()
    {
        lock(&context.streams).retain(|stream| stream.handle != handle);
    }
    Ok(())
}
