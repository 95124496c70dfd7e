//! Scenarios: functions over a device that allocate, launch, wait and check.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use wattle_ir::Site;

use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::Kernel;
use crate::panics::caught;
use crate::sync::lock;

/// A scenario with its name: the unit that tests run on every device, and that the `wattle` command takes by name.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Scenario {
    /// The scenario's name, in lower case with hyphens.
    pub name: &'static str,
    /// What the scenario shows, in a line.
    pub summary: &'static str,
    /// What the scenario shows, in a page.
    pub documentation: &'static str,
    /// The outcome that it should have.
    pub expectation: Expectation,
    /// The function that runs, with its sizes if it has some.
    #[cfg_attr(feature = "serde", serde(rename = "sizes"))]
    pub work: Work,
}

/// The outcome that a scenario should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Expectation {
    /// The scenario holds, on every device.
    Holds,
    /// The scenario is wrong on purpose: a device that looks for errors refuses it. On others it may pass, most days.
    Refuted,
}

/// What a scenario does.
#[derive(Clone, Copy)]
pub enum Work {
    /// Work of one size.
    Fixed(fn(&Device) -> Result<Summary>),
    /// Work with a size, which is the second argument.
    Sized(fn(&Device, usize) -> Result<Summary>, Sizes),
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Work::Fixed(_) => f.write_str("Fixed"),
            Work::Sized(_, sizes) => write!(f, "{sizes:?}"),
        }
    }
}

/// The sizes, where there are some.
#[cfg(feature = "serde")]
impl serde::Serialize for Work {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Work::Fixed(_) => serializer.serialize_none(),
            Work::Sized(_, sizes) => serializer.serialize_some(sizes),
        }
    }
}

/// The sizes of a scenario's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Sizes {
    /// The size for the host and GPUs.
    pub full: usize,
    /// The size for simulated and software devices.
    pub small: usize,
    /// The size for the checker.
    pub proof: usize,
}

impl Scenario {
    /// The size for a device, where the work has one.
    pub fn size_for(&self, device: &Device) -> Option<usize> {
        use crate::properties::DeviceKind;
        match self.work {
            Work::Fixed(_) => None,
            Work::Sized(_, sizes) => Some(match device.properties().kind {
                DeviceKind::Checker => sizes.proof,
                DeviceKind::Simulated | DeviceKind::Software => sizes.small,
                DeviceKind::Host | DeviceKind::Gpu => sizes.full,
            }),
        }
    }

    /// Runs the scenario once, with the size for the device unless `size` says otherwise. A panic is an error.
    ///
    /// # Errors
    /// A check that did not hold, a fault, whatever the device reports.
    pub fn run(&self, device: &Device, size: Option<usize>) -> Result<Summary> {
        caught(&format!("scenario `{}`", self.name), || match self.work {
            Work::Fixed(work) => work(device),
            Work::Sized(work, _) => work(device, size.or(self.size_for(device)).unwrap_or(1)),
        })
    }
}

/// A scenario that `#[scenario]` registers, with its place.
#[derive(Clone, Copy, Debug)]
pub struct Registration {
    /// The scenario.
    pub scenario: Scenario,
    /// The path of the module that it is in.
    pub module: &'static str,
    /// The source line that defines the function.
    pub site: Site,
}

/// The scenarios of all crates that are linked, in no particular order.
#[linkme::distributed_slice]
pub static SCENARIOS: [Registration];

impl Scenario {
    /// All registered scenarios: module by module, each module's as they stand in its file.
    ///
    /// A crate is linked only where something names it. A program whose scenarios are in its library names that with
    /// `use my_library as _;`.
    ///
    /// # Errors
    /// [`ErrorKind::DuplicateScenario`]: two of them have one name.
    pub fn all() -> Result<&'static [Scenario]> {
        static ALL: OnceLock<Result<Vec<Scenario>>> = OnceLock::new();
        ALL.get_or_init(|| in_order(SCENARIOS.to_vec())).as_deref().map_err(Clone::clone)
    }
}

/// The scenarios by module and line.
fn in_order(mut all: Vec<Registration>) -> Result<Vec<Scenario>> {
    all.sort_by_key(|registered| (registered.module, registered.site));
    let mut places = BTreeMap::new();
    for Registration { scenario: Scenario { name, .. }, site, .. } in &all {
        if let Some(&first) = places.get(name) {
            return Err(ErrorKind::DuplicateScenario { name, first, second: *site }.into());
        }
        places.insert(name, *site);
    }
    Ok(all.iter().map(|registered| registered.scenario).collect())
}

/// What a scenario's function can return.
#[diagnostic::on_unimplemented(
    message = "a scenario returns `Result<()>` or `Result<Summary>`",
    label = "`Result<{Self}>` is neither"
)]
pub trait Ending {
    /// The summary of what the scenario observed and checked.
    fn summary(self) -> Summary;
}

impl Ending for () {
    fn summary(self) -> Summary {
        Summary::default()
    }
}

impl Ending for Summary {
    fn summary(self) -> Summary {
        self
    }
}

/// The distinct kernels that a scenario launched, host parts included, in the order of their first launches; and the
/// scenario's outcome.
pub struct Launched {
    /// The kernels, with the arguments of their first launches.
    pub kernels: Vec<Arc<dyn Kernel>>,
    /// The outcome of the scenario.
    pub outcome: Result<Summary>,
}

impl Scenario {
    /// Runs the scenario once, and returns the kernels that it launched and its outcome.
    pub fn launched(&self, device: &Device, size: Option<usize>) -> Launched {
        let seen = Arc::new(Mutex::new((HashSet::new(), Vec::<Arc<dyn Kernel>>::new())));
        let to = seen.clone();
        let observed = device.observed(Arc::new(move |kernel: &dyn Kernel| {
            let (known, kernels) = &mut *lock(&to);
            if known.insert(kernel.identity()) {
                kernels.push(kernel.to_arc());
            }
        }));
        let outcome = self.run(&observed, size);
        let kernels = std::mem::take(&mut lock(&seen).1);
        Launched { kernels, outcome }
    }
}

/// What a scenario did and found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Summary {
    /// A description of the work done, in words: "3 sums of 2^24 floats".
    pub did: String,
    /// The checks that held.
    pub checks: Vec<String>,
    /// How often each combination of observations came: "A=1 B=2" → 3.
    pub outcomes: BTreeMap<String, u64>,
}

impl Summary {
    /// A summary of what was done.
    pub fn new(did: impl Into<String>) -> Summary {
        Summary { did: did.into(), ..Summary::default() }
    }

    /// Checks that something holds, and keeps that it does.
    ///
    /// # Errors
    /// It does not hold; `otherwise` says what was found instead.
    pub fn check(&mut self, holds: bool, what: &str, otherwise: impl FnOnce() -> String) -> Result<()> {
        if !holds {
            let error = Error::check(format!("{what}: it does not hold; {}", otherwise()));
            return Err(error.after(&self.outcomes));
        }
        if self.checks.iter().all(|known| known != what) {
            self.checks.push(what.to_owned());
        }
        Ok(())
    }

    /// Counts an outcome of one round: observations by name.
    pub fn observe(&mut self, observations: &[(&str, i64)]) {
        let text: Vec<_> = observations.iter().map(|(name, value)| format!("{name}={value}")).collect();
        *self.outcomes.entry(text.join(" ")).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registered(name: &'static str, module: &'static str, line: u32) -> Registration {
        let work = Work::Fixed(|_| Ok(Summary::default()));
        let scenario = Scenario { name, summary: "", documentation: "", expectation: Expectation::Holds, work };
        Registration { scenario, module, site: Site { file: "src/lib.rs", line, column: 1 } }
    }

    #[test]
    fn they_come_by_module_and_line_however_they_are_linked() {
        let all = vec![
            registered("d", "b", 1),
            registered("c", "a::x", 9),
            registered("a", "a", 3),
            registered("b", "a", 20),
        ];
        let names: Vec<_> = in_order(all).unwrap().iter().map(|scenario| scenario.name).collect();
        assert_eq!(names, ["a", "b", "c", "d"]);
    }

    #[test]
    fn a_name_that_two_have_is_an_error_that_names_both_places() {
        let error = in_order(vec![registered("dot", "b", 7), registered("sum", "a", 1), registered("dot", "a", 30)]);
        let error = error.unwrap_err().to_string();
        for words in ["called `dot`", "src/lib.rs:30:1", "src/lib.rs:7:1", "another name"] {
            assert!(error.contains(words), "{words}: {error}");
        }
    }
}
