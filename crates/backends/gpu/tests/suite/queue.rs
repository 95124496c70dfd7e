//! Queues over an executor that records its operations in place of a driver.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wattle::prelude::*;
use wattle_core::queue::{Executor, FirstError, with_executor};
use wattle_core::{
    BackendQueue, EventState, Kernel, LaunchOptions, LaunchRequest, Operation, Result, Shape, ShapeKind, Transfer,
    system,
};

/// A record of what an executor does, and how a test lets its launches fail or wait.
#[derive(Default)]
struct Diary {
    lines: Mutex<Vec<String>>,
    /// The name of the kernel that the device refuses to launch, and of the one that fails when it ends.
    refused: Mutex<Option<&'static str>>,
    failing: Mutex<Option<&'static str>>,
    /// While this is true, launches do not end.
    held: AtomicBool,
}

impl Diary {
    fn note(&self, line: impl Into<String>) {
        self.lines.lock().unwrap().push(line.into());
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

#[derive(Default)]
struct Written {
    diary: Arc<Diary>,
    submitted: Vec<(&'static str, Vec<Arc<EventState>>)>,
    flushed: bool,
    errors: FirstError,
}

impl Written {
    fn new(diary: &Arc<Diary>) -> Written {
        Written { diary: diary.clone(), ..Written::default() }
    }

    fn land(&mut self) {
        let (name, records) = self.submitted.remove(0);
        self.diary.note(format!("end {name}"));
        if *self.diary.failing.lock().unwrap() == Some(name) {
            self.keep(Err(system("running", name)));
            // Operations queued after a failed launch are discarded.
            for (_, records) in self.submitted.drain(..) {
                records.iter().for_each(|event| event.reach());
            }
        }
        records.iter().for_each(|event| event.reach());
    }
}

// SAFETY: operations are executed one after another.
unsafe impl Executor for Written {
    fn errors(&self) -> &FirstError {
        &self.errors
    }

    unsafe fn launch(&mut self, kernel: &dyn Kernel, _: &Shape, _: &LaunchOptions) -> Result<()> {
        let name = kernel.info().name;
        if *self.diary.refused.lock().unwrap() == Some(name) {
            return Err(system("launching", name));
        }
        self.diary.note(format!("begin {name}"));
        self.submitted.push((name, Vec::new()));
        self.flushed = false;
        Ok(())
    }

    fn prepare(&mut self, _: &dyn Kernel, _: &Shape, _: &LaunchOptions) -> Result<()> {
        Ok(())
    }

    fn admit_host_part(&mut self, _: &dyn Kernel, part: &dyn Kernel, _: &Shape, _: &LaunchOptions) -> Result<()> {
        assert!(self.submitted.is_empty());
        match part.info().name {
            "refused" => Err(system("beside a launch", "refused")),
            _ => Ok(()),
        }
    }

    fn record(&mut self, event: Arc<EventState>) {
        match self.submitted.last_mut() {
            Some((_, records)) => records.push(event),
            None => event.reach(),
        }
    }

    fn copy(&mut self, copy: Transfer) {
        self.alone(|_| copy.run());
    }

    fn in_flight(&self) -> u64 {
        self.submitted.iter().map(|(_, records)| 1 + records.len() as u64).sum()
    }

    fn advance(&mut self, patience: Duration) {
        assert!(self.flushed, "nobody waits for what was held back");
        if self.diary.held.load(Ordering::Acquire) {
            std::thread::sleep(patience);
        } else {
            self.land();
        }
    }

    fn drain(&mut self) {
        while !self.submitted.is_empty() {
            if self.diary.held.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_millis(1));
            } else {
                self.land();
            }
        }
    }

    fn flush(&mut self) {
        self.flushed = true;
    }
}

#[kernel]
fn one(_acc: &Acc) {}

#[kernel]
fn two(_acc: &Acc) {}

#[kernel]
fn three(_acc: &Acc) {}

#[kernel]
fn adds(_acc: &Acc, sum: Atomic<u32>) {
    sum.fetch_add(0, 1);
}

#[kernel]
fn refused(_acc: &Acc, sum: Atomic<u32>) {
    sum.fetch_add(0, 1);
}

#[kernel]
fn fails(_acc: &Acc, sum: Atomic<u32>) {
    sum.fetch_add(7, 1);
}

fn launch_beside(queue: &dyn BackendQueue, kernel: &dyn Kernel, host_part: Option<&dyn Kernel>) -> Result<()> {
    let one = [1; 4];
    let shape = Shape { kind: ShapeKind::Threads, rank: 1, outer: one, inner: one };
    let request = LaunchRequest { kernel, host_part, shape, options: LaunchOptions::new(), stamp: None };
    // SAFETY: nothing else uses the arguments meanwhile.
    unsafe { queue.launch(&request) }
}

fn launch(queue: &dyn BackendQueue, kernel: &dyn Kernel) -> Result<()> {
    launch_beside(queue, kernel, None)
}

fn task(queue: &dyn BackendQueue, work: impl FnOnce() -> Result<()> + Send + 'static) -> Result<()> {
    queue.submit(Operation::Task(Box::new(work)))
}

/// Submits a task that writes a line into the diary.
fn note(queue: &dyn BackendQueue, diary: &Arc<Diary>, line: &'static str) -> Result<()> {
    let diary = diary.clone();
    task(queue, move || {
        diary.note(line);
        Ok(())
    })
}

fn queue(diary: &Arc<Diary>) -> Box<dyn BackendQueue> {
    with_executor(Written::new(diary), false, "test").unwrap()
}

#[test]
fn launches_are_in_flight_together_and_all_else_waits_for_them() {
    let diary = Arc::<Diary>::default();
    diary.held.store(true, Ordering::Release);
    let queue = queue(&diary);
    launch(&*queue, &one()).unwrap();
    launch(&*queue, &two()).unwrap();
    let point = Arc::<EventState>::default();
    queue.submit(Operation::Record(point.clone())).unwrap();
    note(&*queue, &diary, "task").unwrap();
    launch(&*queue, &three()).unwrap();
    while diary.lines().len() < 2 {
        std::thread::yield_now();
    }
    assert_eq!(diary.lines(), ["begin one", "begin two"]);
    assert!(!point.is_reached());
    diary.held.store(false, Ordering::Release);
    queue.wait().unwrap();
    assert!(point.is_reached());
    assert_eq!(diary.lines(), ["begin one", "begin two", "end one", "end two", "task", "begin three", "end three"]);
}

/// Each waiter goes on when its own operations are done, while other threads enqueue more.
#[test]
fn many_wait() {
    let diary = Arc::<Diary>::default();
    let queue = queue(&diary);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for turn in 0..300 {
                    let done = Arc::<AtomicBool>::default();
                    let seen = done.clone();
                    task(&*queue, move || {
                        done.store(true, Ordering::Release);
                        Ok(())
                    })
                    .unwrap();
                    (0..turn % 40).for_each(|_| launch(&*queue, &one()).unwrap());
                    queue.wait().unwrap();
                    assert!(seen.load(Ordering::Acquire));
                }
            });
        }
    });
    let ended = diary.lines().iter().filter(|line| *line == "end one").count();
    assert_eq!(ended, 4 * (0..300).map(|turn| turn % 40).sum::<usize>());
}

#[test]
fn what_was_enqueued_is_done_when_the_queue_is_dropped() {
    let diary = Arc::<Diary>::default();
    let queue = queue(&diary);
    let point = Arc::<EventState>::default();
    launch(&*queue, &one()).unwrap();
    note(&*queue, &diary, "task").unwrap();
    launch(&*queue, &two()).unwrap();
    queue.submit(Operation::Record(point.clone())).unwrap();
    drop(queue);
    point.wait();
    assert_eq!(diary.lines(), ["begin one", "end one", "task", "begin two", "end two"]);
}

#[test]
fn behind_an_error_nothing_is_done_until_it_is_taken() {
    let diary = Arc::<Diary>::default();
    *diary.failing.lock().unwrap() = Some("one");
    diary.held.store(true, Ordering::Release);
    let queue = queue(&diary);
    launch(&*queue, &one()).unwrap();
    launch(&*queue, &two()).unwrap();
    note(&*queue, &diary, "skipped").unwrap();
    launch(&*queue, &three()).unwrap();
    let point = Arc::<EventState>::default();
    queue.submit(Operation::Record(point.clone())).unwrap();
    diary.held.store(false, Ordering::Release);
    point.wait();
    assert!(queue.pending_error().unwrap().to_string().contains("one"));
    assert!(queue.wait().unwrap_err().to_string().contains("one"));
    assert!(!diary.lines().iter().any(|line| line == "skipped" || line == "begin three" || line == "end two"));
    assert!(queue.pending_error().is_none());
    note(&*queue, &diary, "goes on").unwrap();
    queue.wait().unwrap();
    assert_eq!(diary.lines().last().unwrap(), "goes on");
}

#[test]
fn errors_come_in_the_order_of_what_they_are_of() {
    let diary = Arc::<Diary>::default();
    *diary.refused.lock().unwrap() = Some("two");
    let queue = queue(&diary);
    launch(&*queue, &one()).unwrap();
    launch(&*queue, &two()).unwrap();
    assert!(queue.wait().unwrap_err().to_string().contains("two"));
    // The error of the launch in flight comes before that of the refused one, though it is known later.
    *diary.failing.lock().unwrap() = Some("one");
    diary.held.store(true, Ordering::Release);
    launch(&*queue, &one()).unwrap();
    launch(&*queue, &two()).unwrap();
    diary.held.store(false, Ordering::Release);
    assert!(queue.wait().unwrap_err().to_string().contains("one"));
}

#[test]
fn a_queue_survives_panics() {
    struct PanicsWhenDropped;
    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    let diary = Arc::<Diary>::default();
    let queue = queue(&diary);
    task(&*queue, || panic!("in the task")).unwrap();
    let error = queue.wait().unwrap_err().to_string();
    assert!(error.contains("in the task") && error.contains("a host task"), "{error}");
    // After an error, a task is dropped without being run.
    let held = PanicsWhenDropped;
    task(&*queue, || Err(system("a task", "its own"))).unwrap();
    task(&*queue, move || {
        let _held = &held;
        Ok(())
    })
    .unwrap();
    assert!(queue.wait().unwrap_err().to_string().contains("its own"));
    let _ = queue.wait();
    note(&*queue, &diary, "goes on").unwrap();
    queue.wait().unwrap();
    assert_eq!(diary.lines(), ["goes on"]);
    let blocking = with_executor(Written::new(&diary), true, "test").unwrap();
    assert!(task(&*blocking, || panic!("in the task")).unwrap_err().to_string().contains("in the task"));
    note(&*blocking, &diary, "too").unwrap();
    assert_eq!(diary.lines(), ["goes on", "too"]);
}

#[test]
fn blocking_queues_are_done_when_they_return() {
    let diary = Arc::<Diary>::default();
    let queue = with_executor(Written::new(&diary), true, "test").unwrap();
    launch(&*queue, &one()).unwrap();
    assert_eq!(diary.lines(), ["begin one", "end one"]);
    *diary.failing.lock().unwrap() = Some("two");
    assert!(launch(&*queue, &two()).unwrap_err().to_string().contains("two"));
    assert!(queue.pending_error().is_none() && queue.wait().is_ok(), "who launched it was told");
    launch(&*queue, &three()).unwrap();
    assert_eq!(diary.lines().last().unwrap(), "end three");
}

#[test]
fn host_parts_run_beside_their_launch() {
    let device = Device::host();
    let sum = device.alloc_zeroed::<u32>(1).unwrap();
    let read = || sum.read(&device.queue().unwrap()).unwrap()[0];
    for blocking in [true, false] {
        let diary = Arc::<Diary>::default();
        let queue = with_executor(Written::new(&diary), blocking, "test").unwrap();
        let before = read();
        let run = |part: &dyn Kernel| launch_beside(&*queue, &one(), Some(part)).and_then(|()| queue.wait());
        run(&adds(&sum)).unwrap();
        assert_eq!((read(), diary.lines().len()), (before + 1, 2));
        // If the host part is refused, neither it nor its launch runs.
        assert!(run(&refused(&sum)).unwrap_err().to_string().contains("refused"));
        assert_eq!((read(), diary.lines().len()), (before + 1, 2));
        let error = run(&fails(&sum)).unwrap_err().to_string();
        assert!(error.contains("fails") && error.contains("index 7"), "{error}");
        // Of two errors, the launch's is reported.
        *diary.failing.lock().unwrap() = Some("one");
        assert!(run(&fails(&sum)).unwrap_err().to_string().contains("running"));
    }
}
