//! Judges small programs in the simplest way: all candidate executions, and the axioms written down a second time.
//!
//! Nothing here comes from the search or from the models' code; only programs, labels and placements are shared.

#![allow(dead_code, reason = "each test uses its part")]

pub mod agree;
mod candidate;
mod completion;
mod facts;
mod matrix;
mod order;
mod ptx;
pub mod random;
mod rust;
mod vulkan;

use std::collections::{BTreeMap, BTreeSet};

use wattle_memory::{Model, Placement};

use crate::script::Program;
use candidate::{Candidate, candidates, candidates_without_dependencies};
use facts::Facts;
use matrix::{Matrix, acyclic};
use vulkan::{Sequence, Vulkan};

/// The result of judging a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// For each outcome (the registers of all threads), the executions that have it.
    pub outcomes: BTreeMap<Vec<Vec<u64>>, usize>,
    /// Whether some execution has a data race.
    pub racy: bool,
}

impl Verdict {
    pub fn count(&self) -> usize {
        self.outcomes.values().sum()
    }

    pub fn set(&self) -> BTreeSet<Vec<Vec<u64>>> {
        self.outcomes.keys().cloned().collect()
    }
}

/// The parts of a candidate execution besides its events and sources.
struct Choice {
    /// The order of writes.
    co: Matrix,
    /// The order of sequentially consistent fences.
    fences: Matrix,
}

/// A model given by axioms.
trait Axioms {
    /// Whether coherence must order two writes of one cell.
    fn writes_are_ordered(&self, facts: &Facts, a: usize, b: usize) -> bool;
    /// Whether two fences must be ordered.
    fn fences_are_ordered(&self, facts: &Facts, a: usize, b: usize) -> bool;
    /// `None` if an axiom does not hold; otherwise whether there is a race.
    fn judge(&self, facts: &Facts, choice: &Choice) -> Option<bool>;
}

/// The verdict of Khronos' Vulkan model, whose release sequences are those of the modification order.
pub fn judge_as_khronos(program: &Program, places: &[Placement]) -> Verdict {
    judge_by(candidates(program, Model::Vulkan), places, |facts| {
        by_axioms(&Vulkan { sequence: Sequence::Ordered }, facts)
    })
}

pub fn judge(program: &Program, places: &[Placement], model: Model) -> Verdict {
    judge_all(candidates(program, model), places, model)
}

/// The verdict where no write depends on any read; what bears itself has one of the values `tried`.
pub fn judge_without_dependencies(program: &Program, places: &[Placement], model: Model, tried: &[u64]) -> Verdict {
    judge_all(candidates_without_dependencies(program, tried), places, model)
}

fn judge_all(candidates: Vec<Candidate>, places: &[Placement], model: Model) -> Verdict {
    judge_by(candidates, places, |facts| match model {
        Model::Portable => by_axioms(&ptx::Ptx { extended: false }, facts),
        Model::Ptx => by_axioms(&ptx::Ptx { extended: true }, facts),
        Model::Rust => by_axioms(&rust::Rust, facts),
        Model::Vulkan => by_axioms(&Vulkan { sequence: Sequence::Read }, facts),
        Model::Sc => (order::orders(facts, &order::sequential(facts)).len(), false),
        Model::Unordered => (order::orders(facts, &order::textbook(facts)).len(), false),
    })
}

/// Judges each candidate: the number of its executions, and whether one has a race.
fn judge_by(candidates: Vec<Candidate>, places: &[Placement], judge: impl Fn(&Facts) -> (usize, bool)) -> Verdict {
    let mut verdict = Verdict::default();
    for candidate in candidates {
        let facts = Facts::new(&candidate, places);
        let (count, racy) = judge(&facts);
        if count > 0 {
            *verdict.outcomes.entry(candidate.registers.clone()).or_default() += count;
            verdict.racy |= racy;
        }
    }
    verdict
}

/// The number of executions of a candidate, and whether one has a race.
fn by_axioms(axioms: &impl Axioms, facts: &Facts) -> (usize, bool) {
    let n = facts.n;
    let blank = vec![vec![false; n]; n];
    let below = || (0..n).flat_map(|b| (0..b).map(move |a| (a, b)));
    let writes: Vec<_> = below()
        .filter(|&(a, b)| facts.writes(a) && facts.writes(b) && facts.same_cell[a][b])
        .filter(|&(a, b)| axioms.writes_are_ordered(facts, a, b))
        .collect();
    let fences: Vec<_> = below()
        .filter(|&(a, b)| facts.is_fence(a) && facts.is_fence(b) && axioms.fences_are_ordered(facts, a, b))
        .collect();
    let fences = orientations(&fences, &blank);
    let (mut count, mut racy) = (0, false);
    for co in orientations(&writes, &blank) {
        let mut choice = Choice { co, fences: blank.clone() };
        let verdicts: Vec<bool> = fences
            .iter()
            .filter_map(|fences| {
                choice.fences.clone_from(fences);
                axioms.judge(facts, &choice)
            })
            .collect();
        count += usize::from(!verdicts.is_empty());
        racy |= verdicts.contains(&true);
    }
    (count, racy)
}

/// All ways to orient each pair without a cycle.
fn orientations(pairs: &[(usize, usize)], blank: &Matrix) -> Vec<Matrix> {
    let mut all = vec![blank.clone()];
    for &(a, b) in pairs {
        let both = all.iter().flat_map(|order| {
            [(a, b), (b, a)].map(|(first, second)| {
                let mut order = order.clone();
                order[first][second] = true;
                order
            })
        });
        all = both.filter(acyclic).collect();
    }
    all
}
