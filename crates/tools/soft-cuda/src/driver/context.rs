//! Contexts: current ones, primary ones, and the fault that ends one for good.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::config::Config;
use super::handle::Handles;
use super::status::{Done, Status};
use super::stream::{Signal, Stream};
use super::{event, lock, module};

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
    pub order: Mutex<()>,
    /// Flags that it was made with.
    pub flags: AtomicU32,
}

/// All contexts.
pub static CONTEXTS: Handles<Context> = Handles::new();

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
            null: Arc::new(Stream::new(handle, 0, false)),
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

    /// Another stream.
    pub fn add_stream(&self, stream: Arc<Stream>) {
        lock(&self.streams).push(stream);
    }

    /// A stream less.
    pub fn remove_stream(&self, handle: usize) {
        lock(&self.streams).retain(|stream| stream.handle != handle);
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

/// Ends a context: waits for its work, and frees what it has.
pub fn destroy(context: &Context) {
    context.idle();
    for stream in context.streams() {
        stream.close();
    }
    event::forget(context.handle);
    module::forget(context.handle);
    super::allocate::forget(context.handle);
    let _ = CONTEXTS.remove(context.handle);
    STACK.with_borrow_mut(|stack| stack.retain(|&handle| handle != context.handle));
}

/// The thread's context, whatever its state.
///
/// # Errors
/// There is none, or it was destroyed.
pub fn current_raw() -> Done<Arc<Context>> {
    initialized()?;
    let top = STACK.with_borrow(|stack| stack.last().copied()).filter(|&handle| handle != 0);
    let Some(handle) = top else { return Err(Status::ERROR_INVALID_CONTEXT) };
    CONTEXTS.get(handle).map_err(|_| Status::ERROR_CONTEXT_IS_DESTROYED)
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
        CONTEXTS.get(handle).map_err(|_| Status::ERROR_INVALID_CONTEXT)?;
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
    CONTEXTS.get(handle).map_err(|_| Status::ERROR_INVALID_CONTEXT)?;
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

/// One less; after the last one it ends.
///
/// # Errors
/// Nobody uses it.
pub fn release_primary(device: u32) -> Done {
    let ended = primary(device, |primary| {
        if primary.users == 0 {
            return Err(Status::ERROR_INVALID_CONTEXT);
        }
        primary.users -= 1;
        Ok(if primary.users == 0 { primary.context.take() } else { None })
    })?;
    if let Some(context) = ended {
        destroy(&context);
    }
    Ok(())
}

/// Ends the primary context, whoever uses it; the next user gets a new one.
pub fn reset_primary(device: u32) {
    let ended = primary(device, |primary| {
        primary.users = 0;
        primary.context.take()
    });
    if let Some(context) = ended {
        destroy(&context);
    }
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
