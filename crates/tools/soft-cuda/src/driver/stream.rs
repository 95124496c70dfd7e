//! Streams: work in order, a thread of the host for each stream that has had work.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};

use super::lock::lock;
use crate::machine::nanoseconds;

/// The time when a piece of work was done, and a condition to wait for it.
#[derive(Default)]
pub struct Signal {
    time: Mutex<Option<u64>>,
    given: Condvar,
}

impl Signal {
    /// Waits until the work is done.
    pub fn wait(&self) {
        let mut time = lock(&self.time);
        while time.is_none() {
            time = self.given.wait(time).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    /// When the work was done, in nanoseconds; `None` if it is not.
    pub fn time(&self) -> Option<u64> {
        *lock(&self.time)
    }

    fn give(&self) {
        *lock(&self.time) = Some(nanoseconds());
        self.given.notify_all();
    }
}

struct Item {
    before: Vec<Arc<Signal>>,
    work: Box<dyn FnOnce() + Send>,
    done: Arc<Signal>,
}

#[derive(Default)]
struct Queue {
    items: VecDeque<Item>,
    last: Option<Arc<Signal>>,
    has_thread: bool,
    closed: bool,
}

/// A stream, with the work that it has to do.
pub struct Stream {
    /// The stream's handle; 0 for a default stream.
    pub handle: usize,
    /// The handle of the stream's context.
    pub context: usize,
    /// Whether the stream and the default stream do not wait for each other.
    pub independent: bool,
    /// The flags and the priority that the stream was made with.
    pub made_with: (u32, i32),
    queue: Mutex<Queue>,
    news: Condvar,
}

impl Stream {
    /// A stream without work.
    pub fn new(context: usize, handle: usize, flags: u32, priority: i32) -> Stream {
        let (independent, made_with) = (flags & 1 != 0, (flags, priority));
        Stream { handle, context, independent, made_with, queue: Mutex::default(), news: Condvar::new() }
    }

    /// The signal of the last pending work; `None` if the stream has none.
    pub fn last(&self) -> Option<Arc<Signal>> {
        lock(&self.queue).last.clone().filter(|last| last.time().is_none())
    }

    /// Lets the stream's thread end when the work is done; no more work is added.
    pub fn close(&self) {
        lock(&self.queue).closed = true;
        self.news.notify_all();
    }

    /// Adds work that begins after the signals in `before`; returns its signal. The work must not panic.
    pub fn push(self: &Arc<Stream>, mut before: Vec<Arc<Signal>>, work: Box<dyn FnOnce() + Send>) -> Arc<Signal> {
        let done = Arc::new(Signal::default());
        let mut queue = lock(&self.queue);
        before.retain(|signal| signal.time().is_none());
        queue.items.push_back(Item { before, work, done: done.clone() });
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
            (item.work)();
            item.done.give();
        }
    }
}
