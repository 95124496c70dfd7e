//! Streams: work in order, a thread of the host for each stream that has had work.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};

use super::context::{CONTEXTS, Context};
use super::handle::Handles;
use super::status::{Done, Status};
use super::{context, lock, nanoseconds};

/// Tells when a piece of work is done.
#[derive(Default)]
pub struct Signal {
    time: Mutex<Option<u64>>,
    told: Condvar,
}

impl Signal {
    /// Waits for it.
    pub fn wait(&self) {
        let mut time = lock(&self.time);
        while time.is_none() {
            time = self.told.wait(time).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    /// When it was done, in nanoseconds, if it is.
    pub fn time(&self) -> Option<u64> {
        *lock(&self.time)
    }

    fn tell(&self) {
        *lock(&self.time) = Some(nanoseconds());
        self.told.notify_all();
    }
}

/// What is done on a stream; it is told whether the context is healthy.
pub type Work = Box<dyn FnOnce(&Context) -> Done + Send>;

struct Item {
    before: Vec<Arc<Signal>>,
    work: Work,
    /// Runs in a context that has failed, too.
    always: bool,
    done: Arc<Signal>,
}

#[derive(Default)]
struct Queue {
    items: VecDeque<Item>,
    last: Option<Arc<Signal>>,
    has_thread: bool,
    closed: bool,
}

/// A stream.
pub struct Stream {
    /// Its handle; 0 for a default stream.
    pub handle: usize,
    /// Its context's handle.
    pub context: usize,
    /// It does not wait for the default stream, nor that for it.
    pub independent: bool,
    /// Flags and priority that it was made with.
    pub made_with: (u32, i32),
    queue: Mutex<Queue>,
    news: Condvar,
}

/// All streams but the default ones.
pub static STREAMS: Handles<Stream> = Handles::new();

impl Stream {
    /// A stream without work.
    pub fn new(context: usize, handle: usize, independent: bool) -> Stream {
        let made_with = (u32::from(independent), 0);
        Stream { handle, context, independent, made_with, queue: Mutex::default(), news: Condvar::new() }
    }

    /// Tells when all that it has to do now is done, if there is something.
    pub fn last(&self) -> Option<Arc<Signal>> {
        lock(&self.queue).last.clone().filter(|last| last.time().is_none())
    }

    /// No more work comes.
    pub fn close(&self) {
        lock(&self.queue).closed = true;
        self.news.notify_all();
    }

    fn push(self: &Arc<Stream>, mut before: Vec<Arc<Signal>>, always: bool, work: Work) -> Arc<Signal> {
        let done = Arc::new(Signal::default());
        let mut queue = lock(&self.queue);
        before.retain(|signal| signal.time().is_none());
        queue.items.push_back(Item { before, work, always, done: done.clone() });
        queue.last = Some(done.clone());
        if !queue.has_thread {
            queue.has_thread = true;
            let stream = self.clone();
            std::thread::spawn(move || stream.run());
        }
        drop(queue);
        self.news.notify_all();
        done
    }

    fn run(&self) {
        loop {
            let mut queue = lock(&self.queue);
            let item = loop {
                if let Some(item) = queue.items.pop_front() {
                    break item;
                }
                if queue.closed {
                    return;
                }
                queue = self.news.wait(queue).unwrap_or_else(std::sync::PoisonError::into_inner);
            };
            drop(queue);
            for signal in &item.before {
                signal.wait();
            }
            if let Ok(context) = CONTEXTS.get(self.context)
                && (item.always || context.healthy().is_ok())
            {
                let work = std::panic::AssertUnwindSafe(|| (item.work)(&context));
                if let Err(fault) = std::panic::catch_unwind(work).unwrap_or(Err(Status::ERROR_UNKNOWN)) {
                    context.fail(fault);
                }
            }
            item.done.tell();
        }
    }
}

/// The stream of a handle, and its context. 0 and 1 are the default stream of the current context, as is 2, the one per
/// thread, here.
///
/// # Errors
/// There is no such stream, or its context has failed.
pub fn resolve(handle: usize) -> Done<(Arc<Stream>, Arc<Context>)> {
    if handle <= 2 {
        let context = context::current()?;
        return Ok((context.null.clone(), context));
    }
    context::initialized()?;
    let stream = STREAMS.get(handle)?;
    let context = CONTEXTS.get(stream.context).map_err(|_| Status::ERROR_CONTEXT_IS_DESTROYED)?;
    context.healthy()?;
    Ok((stream, context))
}

/// Adds work to a stream. The default stream waits for what all streams have to do, and they for it, but for the
/// independent ones.
pub fn enqueue(stream: &Arc<Stream>, context: &Context, work: Work) -> Arc<Signal> {
    enqueue_after(stream, context, Vec::new(), false, work)
}

/// The same, after other signals; `always`: in a context that has failed, too.
pub fn enqueue_after(
    stream: &Arc<Stream>,
    context: &Context,
    mut before: Vec<Arc<Signal>>,
    always: bool,
    work: Work,
) -> Arc<Signal> {
    if stream.independent {
        return stream.push(before, always, work);
    }
    let _order = lock(&context.order);
    if stream.handle == 0 {
        let others = context.streams();
        before.extend(others.iter().filter(|other| !other.independent && other.handle != 0).filter_map(|o| o.last()));
    } else {
        before.extend(context.null.last());
    }
    stream.push(before, always, work)
}

/// Makes a stream in a context.
pub fn create(context: &Context, flags: u32, priority: i32) -> usize {
    let make = |handle| Stream { made_with: (flags, priority), ..Stream::new(context.handle, handle, flags & 1 != 0) };
    let (handle, stream) = STREAMS.add(make);
    context.add_stream(stream);
    handle
}

/// Ends a stream; what it has to do is done yet.
///
/// # Errors
/// There is no such stream.
pub fn destroy(handle: usize) -> Done {
    let stream = STREAMS.remove(handle)?;
    stream.close();
    // The context still waits for its work; what is done already it need not know.
    if let Ok(context) = CONTEXTS.get(stream.context)
        && stream.last().is_none()
    {
        context.remove_stream(handle);
    }
    Ok(())
}
