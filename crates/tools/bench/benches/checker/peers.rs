//! The same programs for loom, where it can express them. It explores interleavings, bounded by nothing but time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc as Plain;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed as Counting};
use std::time::{Duration, Instant};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;

/// The time limit for loom, after which it stops.
const PATIENCE: Duration = Duration::from_secs(20);

/// The result of an exploration.
pub struct Explored {
    pub runs: u64,
    pub time: Duration,
    /// Whether the exploration came to its end.
    pub ended: bool,
    /// The error that loom reported, if it refused the program.
    pub error: Option<String>,
}

fn explore(model: impl Fn() + Sync + Send + 'static) -> Explored {
    let runs = Plain::new(AtomicU64::new(0));
    let counted = runs.clone();
    let mut builder = loom::model::Builder::new();
    builder.max_duration = Some(PATIENCE);
    builder.max_branches = 1_000_000;
    let began = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| {
        builder.check(move || {
            counted.fetch_add(1, Counting);
            model();
        });
    }));
    let time = began.elapsed();
    let text = |panic: Box<dyn std::any::Any + Send>| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
    };
    Explored { runs: runs.load(Counting), time, ended: time < PATIENCE, error: result.err().map(text) }
}

/// The program of a family at a size, if loom can express it.
pub fn run(family: &str, size: &str) -> Option<Explored> {
    let threads: usize = size.parse().ok()?;
    match (family, threads) {
        ("ticket lock", 2..=3) => Some(explore(move || ticket(threads))),
        // Loom has at most four threads besides the first.
        ("fetch_add", 2..=4) => Some(explore(move || count(threads))),
        ("IRIW", 4) => Some(explore(iriw)),
        _ => None,
    }
}

/// Runs a closure on `threads` threads, of which the calling thread is the first.
fn on_threads(threads: usize, work: impl Fn() + Clone + Send + 'static) {
    let others: Vec<_> = (1..threads).map(|_| thread::spawn(work.clone())).collect();
    work();
    others.into_iter().for_each(|other| other.join().unwrap_or_default());
}

fn ticket(threads: usize) {
    let words: Arc<[AtomicU32; 3]> = Arc::new([AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)]);
    let shared = words.clone();
    on_threads(threads, move || {
        let [next, served, counter] = &*shared;
        let ticket = next.fetch_add(1, Ordering::Relaxed);
        while served.load(Ordering::Acquire) != ticket {
            thread::yield_now();
        }
        counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        served.store(ticket + 1, Ordering::Release);
    });
    assert_eq!(words[2].load(Ordering::Relaxed) as usize, threads);
}

fn count(threads: usize) {
    let counter = Arc::new(AtomicU32::new(0));
    let shared = counter.clone();
    on_threads(threads, move || {
        shared.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(counter.load(Ordering::Relaxed) as usize, threads);
}

fn iriw() {
    let cells: Arc<[AtomicU32; 2]> = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
    let writers: Vec<_> = (0..2)
        .map(|at| {
            let cells = cells.clone();
            thread::spawn(move || cells[at].store(1, Ordering::Relaxed))
        })
        .collect();
    let readers: Vec<_> = (0..2)
        .map(|first| {
            let cells = cells.clone();
            thread::spawn(move || (cells[first].load(Ordering::Relaxed), cells[1 - first].load(Ordering::Relaxed)))
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().unwrap_or_default());
    readers.into_iter().for_each(|reader| drop(reader.join()));
}
