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

/// A context.
pub struct Context {
    /// Its handle.
    pub handle: usize,
    /// Its device.
    pub device: u32,
    /// The default stream.
    pub null: Arc<Stream>,
    streams: Mutex<Vec<Arc<Stream>>>,
    fault: AtomicU32,
    /// Devices whose memory its kernels reach, as bits.
    pub reaches: AtomicU64,
    /// What came last on the default stream, held while work is added where the order of streams matters.
    order: Mutex<()>,
    /// Flags that it was made with.
    pub flags: AtomicU32,
}

static CONTEXTS: Handles<Context> = Handles::new();

/// All streams but the default ones.
static STREAMS: Handles<Stream> = Handles::new();

/// What is done on a stream of a context; a fault ends the context.
pub type Work = Box<dyn FnOnce(&Context) -> Done + Send>;

/// A device's primary context.
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

/// Remembers that the driver was initialized.
pub fn initialize() {
    INITIALIZED.store(true, Ordering::Release);
}

/// # Errors
/// `cuInit` was not called.
pub fn initialized() -> Done {
    if INITIALIZED.load(Ordering::Acquire) { Ok(()) } else { Err(Status::ERROR_NOT_INITIALIZED) }
}

/// The device of that number.
///
/// # Errors
/// There is none, or the driver is not initialized.
pub fn device(ordinal: i32) -> Done<u32> {
    initialized()?;
    match u32::try_from(ordinal) {
        Ok(device) if device < Config::get().devices => Ok(device),
        _ => Err(Status::ERROR_INVALID_DEVICE),
    }
}

impl Context {
    /// A new context.
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

    /// The fault that has ended this context, if one has.
    ///
    /// # Errors
    /// That fault.
    pub fn healthy(&self) -> Done {
        match self.fault.load(Ordering::Acquire) {
            0 => Ok(()),
            fault => Err(Status(fault)),
        }
    }

    /// Ends the context; the first fault stays.
    pub fn fail(&self, fault: Status) {
        let _ = self.fault.compare_exchange(0, fault.0, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Its streams.
    pub fn streams(&self) -> Vec<Arc<Stream>> {
        lock(&self.streams).clone()
    }

    /// Adds work to a stream of this context. The default stream waits for what all streams have to do, and they for
    /// it, but for the independent ones.
    pub fn enqueue(&self, stream: &Arc<Stream>, work: Work) -> Arc<Signal> {
        self.enqueue_after(stream, Vec::new(), false, work)
    }

    /// The same, after other signals; `always`: in a context that has failed, too.
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

    /// Waits until nothing is left to do.
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

/// Forgets a context.
pub fn forget(context: usize) {
    let _ = CONTEXTS.remove(context);
    STACK.with_borrow_mut(|stack| stack.retain(|&handle| handle != context));
}

/// The context of a handle.
///
/// # Errors
/// There is none.
pub fn find(handle: usize) -> Done<Arc<Context>> {
    CONTEXTS.get(handle).map_err(|_| Status::ERROR_INVALID_CONTEXT)
}

/// The context that an object belongs to.
///
/// # Errors
/// It was destroyed.
pub fn owner(handle: usize) -> Done<Arc<Context>> {
    CONTEXTS.get(handle).map_err(|_| Status::ERROR_CONTEXT_IS_DESTROYED)
}

/// The thread's context, whatever its state.
///
/// # Errors
/// There is none, or it was destroyed.
pub fn current_raw() -> Done<Arc<Context>> {
    initialized()?;
    let top = STACK.with_borrow(|stack| stack.last().copied()).filter(|&handle| handle != 0);
    let Some(handle) = top else { return Err(Status::ERROR_INVALID_CONTEXT) };
    owner(handle)
}

/// The thread's context.
///
/// # Errors
/// There is none, or a fault has ended it.
pub fn current() -> Done<Arc<Context>> {
    let context = current_raw()?;
    context.healthy()?;
    Ok(context)
}

/// The handle of the thread's context, or 0.
pub fn current_handle() -> usize {
    STACK.with_borrow(|stack| stack.last().copied().unwrap_or(0))
}

/// Makes a context the thread's; 0 takes it away.
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

/// Puts a context above the thread's.
///
/// # Errors
/// There is no such context.
pub fn push(handle: usize) -> Done {
    initialized()?;
    find(handle)?;
    STACK.with_borrow_mut(|stack| stack.push(handle));
    Ok(())
}

/// Takes the thread's context off.
///
/// # Errors
/// There is none.
pub fn pop() -> Done<usize> {
    initialized()?;
    STACK.with_borrow_mut(Vec::pop).ok_or(Status::ERROR_INVALID_CONTEXT)
}

fn primary<T>(device: u32, use_it: impl FnOnce(&mut Primary) -> T) -> T {
    let mut primaries = lock(&PRIMARIES);
    primaries.resize_with(Config::get().devices as usize, Primary::default);
    use_it(&mut primaries[device as usize])
}

/// One more user of the primary context.
pub fn retain_primary(device: u32) -> Arc<Context> {
    primary(device, |primary| {
        primary.users += 1;
        let flags = primary.flags;
        primary.context.get_or_insert_with(|| Context::create(device, flags)).clone()
    })
}

/// One less; gives the context after the last one, to be ended.
///
/// # Errors
/// Nobody uses it.
pub fn release_primary(device: u32) -> Done<Option<Arc<Context>>> {
    primary(device, |primary| {
        primary.users = primary.users.checked_sub(1).ok_or(Status::ERROR_INVALID_CONTEXT)?;
        Ok(if primary.users == 0 { primary.context.take() } else { None })
    })
}

/// Takes the primary context away from all its users, to be ended.
pub fn take_primary(device: u32) -> Option<Arc<Context>> {
    primary(device, |primary| {
        primary.users = 0;
        primary.context.take()
    })
}

/// Its flags, and whether it is there.
pub fn primary_state(device: u32) -> (u32, bool) {
    primary(device, |primary| (primary.flags, primary.context.is_some()))
}

/// Sets its flags.
pub fn set_primary_flags(device: u32, flags: u32) {
    primary(device, |primary| {
        primary.flags = flags;
        if let Some(context) = &primary.context {
            context.flags.store(flags, Ordering::Relaxed);
        }
    });
}

/// The stream of a handle, and its context. 0 and 1 are the default stream of the current context, as is 2, the one per
/// thread, here.
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

/// Makes a stream in a context.
pub fn create_stream(context: &Context, flags: u32, priority: i32) -> usize {
    let (handle, stream) = STREAMS.add(|handle| Stream::new(context.handle, handle, flags, priority));
    lock(&context.streams).push(stream);
    handle
}

/// Ends a stream; what it has to do is done yet.
///
/// # Errors
/// There is no such stream.
pub fn destroy_stream(handle: usize) -> Done {
    let stream = STREAMS.remove(handle)?;
    stream.close();
    // The context still waits for its work; what is done already it need not know.
    if let Ok(context) = CONTEXTS.get(stream.context)
        && stream.last().is_none()
    {
        lock(&context.streams).retain(|stream| stream.handle != handle);
    }
    Ok(())
}
