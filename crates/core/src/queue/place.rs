//! The place of a thread that runs a host task, and what such threads wait for.
//!
//! A host task comes after all that its queue did before it, so what it enqueues elsewhere is ordered after that. And a
//! host task that waits for work which waits for the task itself would wait for ever. That work may be behind the task
//! on its own queue, or on another one: ordered after it by an event, or by another host task that waits in turn. So
//! each thread in a host task says what it waits for, before it waits.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex, Weak};

use crate::backend::Mover;
use crate::clock::{Moment, QueueClock};
use crate::error::{Error, Result, system};
use crate::sync::lock;

/// The place of a host task in its queue's order.
pub(super) struct TaskPlace {
    clock: Arc<QueueClock>,
    number: u64,
    /// What comes before the task.
    before: Moment,
}

thread_local! {
    /// How many host tasks this thread is in.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// The host tasks that this thread is in, the innermost last.
    static PLACES: RefCell<Vec<TaskPlace>> = const { RefCell::new(Vec::new()) };
}

/// A thread in a host task.
struct Within(());

impl TaskPlace {
    pub(super) fn new(clock: &Arc<QueueClock>, number: u64) -> TaskPlace {
        TaskPlace { clock: clock.clone(), number, before: clock.known().with(clock, number - 1) }
    }

    /// Runs the task of this place.
    pub(super) fn run<R>(self, task: impl FnOnce() -> R) -> R {
        PLACES.with_borrow_mut(|places| places.push(self));
        DEPTH.set(DEPTH.get() + 1);
        let _within = Within(());
        task()
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        // Dropped when nothing is borrowed any more: the last owner of a clock may go.
        drop(PLACES.with_borrow_mut(Vec::pop));
    }
}

/// The host tasks of devices whose work moves only while a thread waits, for which the host has not waited: of which
/// device by the address of its mover, and where.
static ENQUEUED: Mutex<Vec<(usize, Weak<QueueClock>, u64)>> = Mutex::new(Vec::new());

/// Adds a host task of such a device; returns whether it is ordered with all of the device's that are there.
pub(super) fn is_ordered(place: &TaskPlace, mover: &Arc<dyn Mover>) -> bool {
    let device = Arc::as_ptr(mover).addr();
    let mut enqueued = lock(&ENQUEUED);
    enqueued.retain(|(_, clock, number)| clock.upgrade().is_some_and(|clock| !clock.is_over(*number)));
    let before = |(_, clock, number): &(usize, Weak<QueueClock>, u64)| {
        clock.upgrade().is_none_or(|clock| Arc::ptr_eq(&clock, &place.clock) || place.before.has(&clock, *number))
    };
    let ordered = enqueued.iter().filter(|(of, ..)| *of == device).all(before);
    enqueued.push((device, Arc::downgrade(&place.clock), place.number));
    ordered
}

/// Whether this thread is in a host task.
#[inline]
pub(super) fn is_in_task() -> bool {
    DEPTH.get() > 0
}

/// Whether this thread is in a host task of this queue's.
pub(super) fn is_in_task_of(clock: &Arc<QueueClock>) -> bool {
    is_in_task() && PLACES.with_borrow(|places| places.last().is_some_and(|place| Arc::ptr_eq(&place.clock, clock)))
}

/// What comes before the host task that this thread is in; an empty moment outside of tasks.
pub(crate) fn before_this_task() -> Moment {
    if !is_in_task() {
        return Moment::default();
    }
    PLACES.with_borrow(|places| places.last().map(|place| place.before.clone()).unwrap_or_default())
}

/// What the threads in host tasks wait for.
static WAITS: Mutex<Waits> = Mutex::new(Waits { next: 0, waits: Vec::new() });

struct Waits {
    next: u64,
    waits: Vec<Wait>,
}

/// A wait of a thread that is in a host task.
struct Wait {
    id: u64,
    /// The tasks that do not end before it has ended.
    tasks: Vec<(Arc<QueueClock>, u64)>,
    until: Moment,
}

/// An entry of [`WAITS`], until it is dropped: its thread may be waiting.
pub(super) struct Waiting(u64);

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut all = lock(&WAITS);
        let ended = all.waits.iter().position(|wait| wait.id == self.0).map(|at| all.waits.swap_remove(at));
        drop(all);
        // Without the lock: it may be the last owner of a clock.
        drop(ended);
    }
}

/// Records that this thread is going to wait until all of `until` is done; `None` outside of host tasks.
///
/// # Errors
/// `until` does not end before a task that this thread is in, so that the thread would wait for ever.
pub(super) fn begin_to_wait(until: impl FnOnce() -> Moment) -> Result<Option<Waiting>> {
    if !is_in_task() { Ok(None) } else { begin_to_wait_in_task(until()).map(Some) }
}

#[cold]
fn begin_to_wait_in_task(until: Moment) -> Result<Waiting> {
    let tasks: Vec<_> =
        PLACES.with_borrow(|places| places.iter().map(|place| (place.clock.clone(), place.number)).collect());
    let mut all = lock(&WAITS);
    // All that has to end before: what is waited for, and what the tasks among it wait for.
    let mut reached = vec![&until];
    let mut seen = Vec::new();
    while let Some(moment) = reached.pop() {
        if let Some((own, _)) = tasks.iter().find(|(clock, number)| moment.has(clock, *number)) {
            return Err(waits_for_itself(own, moment, &until, &tasks));
        }
        for wait in &all.waits {
            if !seen.contains(&wait.id) && wait.tasks.iter().any(|(clock, number)| moment.has(clock, *number)) {
                seen.push(wait.id);
                reached.push(&wait.until);
            }
        }
    }
    let id = all.next;
    all.next += 1;
    all.waits.push(Wait { id, tasks, until });
    Ok(Waiting(id))
}

/// The error of a task of `own` that waits for `until`, and so for `moment`, which comes after the task.
#[cold]
fn waits_for_itself(own: &Arc<QueueClock>, moment: &Moment, until: &Moment, tasks: &[(Arc<QueueClock>, u64)]) -> Error {
    let is_task = |clock: &Arc<QueueClock>| tasks.iter().any(|(task, _)| Arc::ptr_eq(task, clock));
    let others =
        until.entries().chain(moment.entries()).map(|(clock, _)| clock).filter(|clock| !Arc::ptr_eq(clock, own));
    let mut others: Vec<_> = others.collect();
    others.sort_by_key(is_task);
    let innermost = tasks.last().map(|(clock, _)| clock).filter(|innermost| !Arc::ptr_eq(innermost, own));
    match innermost.or(others.first()) {
        Some(other) => {
            let message = format!(
                "a host task of {} waits for {}, which waits for that task: both would wait for ever; let the task end, \
                 and enqueue what follows after it",
                own.name, other.name
            );
            system("two queues wait for each other's host tasks", message)
        }
        None => used_by_its_task(own),
    }
}

/// The error of a host task that uses its own queue.
#[cold]
pub(super) fn used_by_its_task(clock: &QueueClock) -> Error {
    let message =
        format!("{} waits for the task, and would wait for ever; enqueue what follows after the task", clock.name);
    system("a host task used its own queue", message)
}
