//! Runs many cases, on as many threads as there are cores, and counts the results.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use wattle_check::checker::Verdict;

use super::Case;
use super::generate::generate;
use super::run::{Difference, Judged, Wrong, judge};

/// The results of many cases.
#[derive(Default)]
pub struct Tally {
    pub cases: u64,
    pub holds: u64,
    /// The number of outcomes that seeds left of cases that hold.
    pub outcomes: u64,
    /// The number of violated cases that some seed shows.
    pub shown: u64,
    /// The number of violated cases that no seed shows: the model allows more than the simulated device does.
    pub hidden: u64,
    /// The number of violated cases in which a race is among what the checker reports, so that nothing else is compared.
    pub racy: u64,
    /// The number of shown cases in which the checker reports every kind of error that seeds report.
    pub same: u64,
    pub unknown: BTreeMap<String, u64>,
    /// The cases, by number, that are unknown at the bound of a loop, and of which a seed shows what the checker has not found.
    pub missed: Vec<u64>,
    pub endless: u64,
    /// The number of cases in which each kind of finding occurred.
    pub seen: BTreeMap<Wrong, u64>,
    pub differ: Vec<(u64, Case, Difference)>,
}

/// Judges the cases with these numbers; `looks` is called with each before it is judged.
pub fn campaign(numbers: Range<u64>, limit: Duration, looks: &(dyn Fn(u64) + Sync)) -> Tally {
    let (next, tally) = (AtomicU64::new(numbers.start), Mutex::new(Tally::default()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= numbers.end {
                        return;
                    }
                    looks(number);
                    let case = generate(number);
                    let judged = judge(&case, limit);
                    tally.lock().unwrap().add(number, case, judged);
                }
            });
        }
    });
    let mut tally = tally.into_inner().unwrap();
    tally.differ.sort_by_key(|(number, ..)| *number);
    tally
}

impl Tally {
    fn add(&mut self, number: u64, case: Case, judged: Judged) {
        self.cases += 1;
        match judged {
            Judged::Agree { verdict, reported, seen, outcomes } => {
                match verdict {
                    Verdict::Violated if seen.is_empty() => self.hidden += 1,
                    Verdict::Violated => self.shown += 1,
                    Verdict::Holds | Verdict::Unknown => {
                        self.holds += 1;
                        self.outcomes += outcomes as u64;
                    }
                }
                self.racy += u64::from(reported.contains(&Wrong::Race));
                self.same += u64::from(!seen.is_empty() && seen.keys().all(|wrong| reported.contains(wrong)));
                seen.into_keys().for_each(|wrong| *self.seen.entry(wrong).or_default() += 1);
            }
            Judged::Unknown { why, missed, .. } => {
                self.missed.extend(missed.filter(|_| why.contains("--loop-bound")).map(|_| number));
                *self.unknown.entry(why).or_default() += 1;
            }
            Judged::Endless => self.endless += 1,
            Judged::Differ(difference) => self.differ.push((number, case, difference)),
        }
    }

    /// The number of cases that the checker did not search completely.
    pub fn unknowns(&self) -> u64 {
        self.unknown.values().sum()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { cases, holds, outcomes, shown, hidden, racy, same, unknown, missed, endless, seen, differ } = self;
        writeln!(
            f,
            "{cases} cases: {holds} hold (seeds left {outcomes} outcomes), {shown} are violated as some seed shows \
             ({same} by all kinds of findings that seeds show), {hidden} are violated where no seed shows it ({racy} of the \
             violated have a race), {} are unknown \
             ({:.1} %), {endless} never end; {} differ",
            self.unknowns(),
            100.0 * self.unknowns() as f64 / (*cases).max(1) as f64,
            differ.len()
        )?;
        let seen: Vec<String> = seen.iter().map(|(wrong, count)| format!("{wrong:?} {count}")).collect();
        writeln!(f, "found by seeds: {}", seen.join(", "))?;
        writeln!(f, "unknown at the bound of a loop, with findings of seeds beyond it: {missed:?}")?;
        unknown.iter().try_for_each(|(why, count)| writeln!(f, "unknown {count}: {why}"))
    }
}
