//! The textbook's table: the number of orders in which the accesses of some threads can happen, and the outcome of
//! each.

use std::collections::{BTreeMap, HashMap};
use std::time::Instant;

use wattle_core::{Result, Scenario};
use wattle_machine::Action;
use wattle_memory::{Kind, Model, Relation, stop};

use super::Checker;
use crate::program::{Edit, Edits, Strength, World};
use crate::report::{Orders, Report, Unknown, Verdict, Witness};
use crate::search::Execution;

/// The orders in which the accesses of an execution can have happened: those of places that several threads touch, and
/// that some thread writes. A read-modify-write is one access.
pub(super) fn count(execution: &Execution<'_>, world: &World) -> Orders {
    let graph = execution.graph;
    let shared = |location: usize| {
        let touching = |event: &&wattle_memory::Event| event.location == Some(location) && event.thread.is_some();
        let threads: Vec<_> = graph.events().iter().filter(touching).filter_map(|event| event.thread).collect();
        let written = graph.events().iter().filter(touching).any(|event| event.label.kind == Kind::Write);
        written && threads.iter().any(|thread| Some(thread) != threads.first())
    };
    let accesses: Vec<usize> = (0..graph.len())
        .filter(|&event| {
            let label = &graph.event(event).label;
            let second_half = label.kind == Kind::Write && graph.other_half(event).is_some();
            let location = graph.event(event).location;
            label.is_access() && !second_half && graph.event(event).thread.is_some() && location.is_some_and(shared)
        })
        .collect();
    let name = |event: usize| {
        let kind = match (graph.event(event).label.kind, graph.other_half(event)) {
            (_, Some(_)) => "update",
            (Kind::Read, _) => "read",
            _ => "write",
        };
        let thread = graph.event(event).thread.unwrap_or(0);
        let place = execution.cells.iter().find(|(_, location)| Some(*location) == graph.event(event).location);
        let place =
            place.map_or_else(String::new, |(address, _)| world.address_name(world.launch_of(thread), *address));
        format!("{kind} {place}")
    };
    let names: Vec<String> = accesses.iter().map(|&event| name(event)).collect();
    // These pairs are fixed by an execution under the counting model: everything that its causality relates.
    let before = &execution.analysis.causality;
    let mut orders = Orders::default();
    for (at, &first) in accesses.iter().enumerate() {
        for (other, &second) in accesses.iter().enumerate() {
            let writes = [first, second]
                .iter()
                .any(|&event| graph.event(event).label.kind == Kind::Write || graph.other_half(event).is_some());
            let conflict = writes && graph.event(first).location == graph.event(second).location;
            if at != other && conflict && before.has(first, second) && !graph.same_thread(first, second) {
                orders.case.push(format!("{} < {}", names[at], names[other]));
            }
        }
    }
    let all = Accesses::new(&accesses, before);
    orders.count = all.count();
    all.list(&mut Vec::new(), &mut |order| {
        orders.listed.push(order.iter().map(|&at| names[at].clone()).collect());
        orders.listed.len() < Orders::MOST_LISTED
    });
    orders
}

/// Accesses in a partial order.
struct Accesses {
    /// For each access those that come before it.
    before: Vec<Vec<usize>>,
}

impl Accesses {
    fn new(accesses: &[usize], before: &Relation) -> Accesses {
        let earlier = |&access: &usize| {
            (0..accesses.len())
                .filter(|&other| accesses[other] != access && before.has(accesses[other], access))
                .collect()
        };
        Accesses { before: accesses.iter().map(earlier).collect() }
    }

    /// The accesses that can come next after those that are taken.
    fn free<'a>(&'a self, is_taken: impl Fn(usize) -> bool + Copy + 'a) -> impl Iterator<Item = usize> + 'a {
        let free = move |&at: &usize| !is_taken(at) && self.before[at].iter().all(|&earlier| is_taken(earlier));
        (0..self.before.len()).filter(free)
    }

    /// The number of total orders; the largest number there is where there are more. How the rest can go on depends on
    /// the set of those that are taken, not on their order, so that each set is looked at once. Meaningless where the
    /// search is asked to end.
    fn count(&self) -> u64 {
        let len = self.before.len();
        let mut ways = HashMap::from([(vec![false; len], 1u64)]);
        for _ in 0..len {
            let mut next: HashMap<Vec<bool>, u64> = HashMap::new();
            for (taken, count) in ways {
                if stop::requested() {
                    return 0;
                }
                for at in self.free(|at| taken[at]) {
                    let mut more = taken.clone();
                    more[at] = true;
                    let sum = next.entry(more).or_default();
                    *sum = sum.saturating_add(count);
                }
            }
            ways = next;
        }
        ways.into_values().fold(0, u64::saturating_add)
    }

    /// Passes total orders to `found` until it wants no more; returns whether it does.
    fn list(&self, taken: &mut Vec<usize>, found: &mut impl FnMut(&[usize]) -> bool) -> bool {
        if taken.len() == self.before.len() {
            return found(taken);
        }
        let free: Vec<usize> = self.free(|at| taken.contains(&at)).collect();
        free.into_iter().all(|at| {
            taken.push(at);
            let goes_on = self.list(taken, found);
            taken.pop();
            goes_on
        })
    }
}

/// A scenario with a subset of its fences.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Variant {
    /// The names of the fences that are kept.
    pub name: String,
    /// The orders of each combination of observations, under the counting model.
    #[cfg_attr(feature = "serde", serde(serialize_with = "super::serialize::orders"))]
    pub orders: BTreeMap<String, Orders>,
    /// The combinations of observations that some execution has, under each model.
    #[cfg_attr(feature = "serde", serde(rename = "models", serialize_with = "super::serialize::models"))]
    pub outcomes: Vec<(Model, Vec<String>)>,
    /// The models whose search was not complete: there may be more orders and combinations.
    #[cfg_attr(feature = "serde", serde(serialize_with = "super::serialize::names"))]
    pub unknown: Vec<Model>,
}

/// The table of a scenario: its observable outcomes for each subset of its fences.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct OrderTable {
    /// The variants: without fences, with each alone, with all.
    pub variants: Vec<Variant>,
    /// The combinations of observations that some variant has.
    pub outcomes: Vec<String>,
    /// Why searches were not complete.
    #[cfg_attr(feature = "serde", serde(serialize_with = "super::serialize::texts"))]
    pub unknown: Vec<Unknown>,
    /// The models under which the scenario cannot be judged, such as one without a scope that a fence of it has, and
    /// why.
    #[cfg_attr(feature = "serde", serde(serialize_with = "super::serialize::refused"))]
    pub refused: Vec<(Model, String)>,
    /// The order of accesses that each combination implies.
    pub cases: BTreeMap<String, Vec<String>>,
    /// An execution, from which the threads' code is shown.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub example: Option<Box<Witness>>,
}

impl OrderTable {
    /// The table of a scenario that names its observations, within the limits of a checker (its time, its memory, the
    /// flag that cancels it). What was not looked at by then is unknown; the variants that were not come to are left
    /// out.
    ///
    /// # Errors
    /// The scenario cannot be checked at all: not under the model that counts. One without observations gives a table
    /// without rows.
    pub fn of(limits: &Checker, scenario: &Scenario, size: Option<usize>) -> Result<OrderTable> {
        let deadline = limits.time.and_then(|time| Instant::now().checked_add(time));
        let mut checks = Checks { limits, deadline, scenario, size, unknown: Vec::new(), refused: Vec::new() };
        let base = checks.report(Model::Unordered, &Edits::default())?;
        let fences = fences(&base);
        let named = |kept: &[usize]| match kept.len() {
            0 => "no fence".to_owned(),
            all if all == fences.len() && all > 1 => "all fences".to_owned(),
            _ => kept.iter().map(|&number| fences[number].2.clone()).collect::<Vec<_>>().join(", "),
        };
        let mut variants = Vec::new();
        let mut kept_fences = subsets(fences.len());
        if base.unknown.iter().any(Unknown::is_stopped) {
            // What was counted with all fences is shown; nothing else is come to.
            let outcomes = Model::ALL.into_iter().map(|model| (model, Vec::new())).collect();
            let name = named(&(0..fences.len()).collect::<Vec<_>>());
            variants.push(Variant { name, orders: base.orders.clone(), outcomes, unknown: Model::ALL.to_vec() });
            kept_fences.clear();
        }
        for kept in kept_fences {
            let mut edits = Edits::default();
            for (number, (program, at, _)) in fences.iter().enumerate() {
                if !kept.contains(&number) {
                    let edit = Edit { strength: Some(Strength::Fence(None)), ..Edit::default() };
                    edits.instructions.insert((*program, *at), edit);
                }
            }
            let (variant, is_over) = checks.variant(named(&kept), &edits)?;
            variants.extend(variant);
            if is_over {
                break;
            }
        }
        let mut outcomes = Vec::new();
        let mut cases = BTreeMap::new();
        for variant in &variants {
            for (outcome, orders) in &variant.orders {
                if !outcomes.contains(outcome) {
                    outcomes.push(outcome.clone());
                }
                cases.entry(outcome.clone()).or_insert_with(|| orders.case.clone());
            }
        }
        let Checks { unknown, refused, .. } = checks;
        Ok(OrderTable { variants, outcomes, unknown, refused, cases, example: base.example })
    }
}

/// The checks of a scenario's variants, within common limits.
struct Checks<'s> {
    limits: &'s Checker,
    deadline: Option<Instant>,
    scenario: &'s Scenario,
    size: Option<usize>,
    /// Why searches were not complete.
    unknown: Vec<Unknown>,
    /// The models under which some variant cannot be checked, and why.
    refused: Vec<(Model, String)>,
}

impl Checks<'_> {
    /// The report of a variant under a model.
    fn report(&mut self, model: Model, edits: &Edits) -> Result<Report> {
        let time = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let Checker { memory, ref cancelled, .. } = *self.limits;
        let limits = Checker { time, memory, cancelled: cancelled.clone(), ..Checker::new(model) };
        let report = judged(limits, edits, self.scenario, self.size)?;
        for why in &report.unknown {
            if !self.unknown.contains(why) {
                self.unknown.push(why.clone());
            }
        }
        Ok(report)
    }

    /// The orders and outcomes of a variant, and whether a limit ends the table with it; no variant where the limit is
    /// reached before anything was counted.
    fn variant(&mut self, name: String, edits: &Edits) -> Result<(Option<Variant>, bool)> {
        let counted = self.report(Model::Unordered, edits)?;
        let mut is_over = counted.unknown.iter().any(Unknown::is_stopped);
        if is_over && counted.outcomes.is_empty() {
            return Ok((None, true));
        }
        let (mut outcomes, mut unknown) = (Vec::new(), Vec::new());
        for model in Model::ALL {
            // A scenario that is run once more for each model may take more time than is left to end in.
            if is_over {
                outcomes.push((model, Vec::new()));
                unknown.push(model);
                continue;
            }
            let report = match self.report(model, edits) {
                Ok(report) => report,
                Err(error) => {
                    if self.refused.iter().all(|(known, _)| *known != model) {
                        self.refused.push((model, error.to_string()));
                    }
                    outcomes.push((model, Vec::new()));
                    continue;
                }
            };
            is_over = report.unknown.iter().any(Unknown::is_stopped);
            let is_unknown = |report: &Report| !report.unknown.is_empty();
            if is_unknown(&report) || model == Model::Unordered && is_unknown(&counted) {
                unknown.push(model);
            }
            let seen: Vec<String> = if report.violations.iter().any(|violation| violation.kind() == "data race") {
                vec!["data race".into()]
            } else {
                report.outcomes.keys().cloned().collect()
            };
            outcomes.push((model, seen));
        }
        Ok((Some(Variant { name, orders: counted.orders, outcomes, unknown }), is_over))
    }
}

/// The scenario's own check is ignored here: a variant without fences breaks it, and is to be shown.
fn judged(checker: Checker, edits: &Edits, scenario: &Scenario, size: Option<usize>) -> Result<Report> {
    let checker = Checker { count_orders: checker.model == Model::Unordered, ..checker };
    let checker = checker.symmetry(false).edits(edits.clone()).keeping_on();
    let report = checker.check_scenario(scenario, size)?;
    debug_assert!(report.verdict != Verdict::Unknown || !report.unknown.is_empty());
    Ok(report)
}

/// The fences that run: program, instruction, and label.
fn fences(report: &Report) -> Vec<(u32, u32, String)> {
    let mut fences: Vec<(u32, u32, String)> = Vec::new();
    for launch in report.launches.iter().flat_map(|world| &world.launches) {
        for instruction in launch.program.instructions() {
            let (at, name) = match (instruction.action, instruction.seq_cst) {
                (Action::Fence { order, .. }, _) => (instruction.at, format!("{order:?}")),
                (_, Some(first)) => (first, "the access's SeqCst".to_owned()),
                _ => continue,
            };
            let key = (launch.number, at);
            let known = fences.iter().any(|(program, at, _)| (*program, *at) == key);
            if !known && report.executed.contains(&key) {
                fences.push((key.0, key.1, format!("{name} in line {}", instruction.site.line)));
            }
        }
    }
    fences
}

/// The empty set, each single fence, and all fences.
fn subsets(fences: usize) -> Vec<Vec<usize>> {
    let mut subsets = vec![Vec::new()];
    if fences > 1 {
        subsets.extend((0..fences).map(|number| vec![number]));
    }
    if fences > 0 {
        subsets.push((0..fences).collect());
    }
    subsets
}

#[cfg(test)]
mod tests {
    use super::Accesses;

    /// The number of total orders, by trying all of them.
    fn tried(all: &Accesses, taken: &mut Vec<usize>) -> u64 {
        let free: Vec<usize> = all.free(|at| taken.contains(&at)).collect();
        if taken.len() == all.before.len() {
            return 1;
        }
        let mut sum = 0;
        for at in free {
            taken.push(at);
            sum += tried(all, taken);
            taken.pop();
        }
        sum
    }

    #[test]
    fn orders_are_counted_by_sets_as_by_trying_them() {
        for before in [
            vec![],
            vec![vec![]; 6],
            vec![vec![], vec![0], vec![0, 1]],
            vec![vec![], vec![0], vec![], vec![2], vec![1, 3], vec![]],
        ] {
            let all = Accesses { before };
            assert_eq!(all.count(), tried(&all, &mut Vec::new()));
            let mut listed = 0;
            all.list(&mut Vec::new(), &mut |order| {
                listed += 1;
                assert_eq!(order.len(), all.before.len());
                listed < 5
            });
            assert_eq!(listed, all.count().min(5));
        }
        // Layers of six, one after another: too many orders to try.
        let layers = |number: usize| Accesses { before: (0..6 * number).map(|at| (0..at / 6 * 6).collect()).collect() };
        assert_eq!(layers(6).count(), 720u64.pow(6));
        assert_eq!(layers(12).count(), u64::MAX);
    }
}
