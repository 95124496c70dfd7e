//! Judges all programs of a family and shape, on all cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::judge::{Count, judge};
use super::{Family, Programs};

/// The number of parts into which the programs are split.
const PARTS: u64 = 4096;

/// Judges every `every`th program with threads of these lengths. `progress` receives the number of finished parts and
/// of programs in them. Stops early if some programs break the promise, and returns those with a description.
pub fn judge_all(
    family: Family,
    shape: (usize, usize),
    every: u64,
    progress: impl Fn(u64, u64, u64) + Sync,
) -> (Count, Vec<String>) {
    let programs = Programs::new(family, shape);
    let next = AtomicU64::new(0);
    let total = Mutex::new((Count::default(), Vec::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= PARTS {
                return;
            }
            let bound = |part: u64| programs.len() * part / PARTS;
            let (mut count, mut errors) = (Count::default(), Vec::new());
            for number in (bound(part)..bound(part + 1)).filter(|number| number.is_multiple_of(every)) {
                let Some(threads) = programs.get(number) else { continue };
                errors.extend(judge(&threads, &mut count).err());
                if errors.len() > 2 {
                    break;
                }
            }
            let Ok(mut total) = total.lock() else { return };
            total.0.add(&count);
            total.1.extend(errors);
            progress(part + 1, PARTS, total.0.programs);
            if total.1.len() > 8 {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        (0..workers).for_each(|_| {
            scope.spawn(work);
        });
    });
    total.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}
