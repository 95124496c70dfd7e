//! The values that executions of launches leave in memory, at their end and on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use wattle_check::program::World as Launches;
use wattle_check::search::{Address, End, Execution, Memory, Setup, Visitor, search};
use wattle_memory::{Kind, Model};

use super::{EmitError, EmitOptions};

/// The maximum number of final memories of one execution whose last writes are unordered.
const MOST_ENDS: usize = 1024;

/// The memory of the hidden word of sequentially consistent fences.
const HIDDEN: u32 = u32::MAX;

/// The values seen in all executions.
#[derive(Default)]
pub(super) struct Seen {
    /// Every value that a place ever has.
    values: BTreeMap<Address, BTreeSet<u64>>,
    /// The places that some thread writes.
    written: BTreeSet<Address>,
    /// The final values of the places that executions touch.
    ends: BTreeSet<Vec<(Address, u64)>>,
    /// Whether there is a race, which makes an exhaustive search necessary.
    raced: bool,
    assume_race_free: bool,
    /// Whether an execution can end in more ways than are kept.
    too_many: bool,
}

impl Seen {
    /// The values that a read of a place can return, and whether the place ever changes.
    pub fn values(&self, launches: &Launches, address: Address) -> (Vec<u64>, bool) {
        let mut values = self.values.get(&address).cloned().unwrap_or_default();
        values.insert(self.initial(launches, address));
        (values.into_iter().collect(), self.written.contains(&address))
    }

    /// The initial value of a place.
    pub fn initial(&self, launches: &Launches, address: Address) -> u64 {
        launches.initial(address).value
    }

    fn look(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        if self.assume_race_free && !Model::Portable.races(execution.graph, execution.analysis).is_empty() {
            self.raced = true;
            return ControlFlow::Break(());
        }
        for &(address, location) in &execution.cells {
            let writes = execution.graph.events().iter().filter(|event| {
                event.label.kind == Kind::Write && event.location == Some(location) && event.value.is_some()
            });
            for write in writes {
                self.values.entry(address).or_default().extend(write.value);
                if write.thread.is_some() {
                    self.written.insert(address);
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// The final memories of executions, restricted to those of the places that outlive the launches.
    pub fn outcomes(&self, launches: &Launches, places: &[Address]) -> BTreeSet<Vec<(Address, u64)>> {
        let kept = |address: &&Address| !Launches::is_shared(address.memory) && address.memory != HIDDEN;
        let places: Vec<Address> = places.iter().filter(kept).copied().collect();
        let whole = |end: &Vec<(Address, u64)>| {
            let value = |&address: &Address| {
                let known = end.iter().find(|(place, _)| *place == address).map(|(_, value)| *value);
                (address, known.unwrap_or_else(|| self.initial(launches, address)))
            };
            places.iter().map(value).collect()
        };
        self.ends.iter().map(whole).collect()
    }
}

impl Visitor for Seen {
    fn complete(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        self.look(execution)?;
        let (addresses, locations): (Vec<_>, Vec<_>) = execution.cells.iter().copied().unzip();
        let Some(ends) = execution.ends(&locations, MOST_ENDS) else {
            self.too_many = true;
            return ControlFlow::Break(());
        };
        self.ends.extend(ends.into_iter().map(|end| addresses.iter().copied().zip(end).collect()));
        ControlFlow::Continue(())
    }

    fn stuck(&mut self, execution: &Execution<'_>) -> ControlFlow<()> {
        self.look(execution)
    }

    fn waits_in_vain(&mut self, execution: &Execution<'_>, _has_happened: bool) -> ControlFlow<()> {
        self.look(execution)
    }
}

/// Searches all executions of launches.
pub(super) fn see(launches: &Launches, model: Model, options: &EmitOptions) -> Result<Seen, EmitError> {
    let mut seen = Seen { assume_race_free: true, ..Seen::default() };
    explore(launches, model, options, &mut seen)?;
    if seen.raced {
        seen = Seen::default();
        explore(launches, model, options, &mut seen)?;
    }
    Ok(seen)
}

fn explore(launches: &Launches, model: Model, options: &EmitOptions, seen: &mut Seen) -> Result<(), EmitError> {
    let setup = Setup {
        loop_bound: options.loop_bound,
        assume_race_free: seen.assume_race_free,
        limits: options.limits.clone(),
        ..Setup::new(launches, model).with_threads(launches, launches.threads()?)
    };
    let (end, statistics) = search(&setup, seen);
    match end {
        End::Stopped(stopped) => Err(EmitError::Stopped(stopped)),
        End::Problem(_) => Err(EmitError::MixedSizes),
        End::Exhausted | End::BrokenOff if seen.too_many => Err(EmitError::TooManyEnds(MOST_ENDS)),
        End::Exhausted if !statistics.is_exhaustive() => Err(EmitError::Loop(options.loop_bound)),
        End::Exhausted | End::BrokenOff => Ok(()),
    }
}
