//! Compares the search with brute force: the same executions, outcomes and races for random small programs.

mod brute;
mod script;

use std::collections::BTreeMap;

use brute::random::{Case, Random, case, for_vulkan, show, shrink};
use brute::{Verdict, judge};
use script::run_placed;
use wattle_memory::Model;

/// The number of programs: `WATTLE_TEST_MANY`, if it is set.
fn many(usual: u64) -> u64 {
    std::env::var("WATTLE_TEST_MANY").ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

fn searched(case: &Case, model: Model) -> Verdict {
    let (found, statistics) = run_placed(&case.program, case.places.clone(), model);
    let mut outcomes = BTreeMap::new();
    for outcome in found.outcomes {
        *outcomes.entry(outcome).or_default() += 1;
    }
    let verdict = Verdict { outcomes, racy: found.races > 0 };
    assert_eq!(verdict.count() as u64, statistics.complete);
    verdict
}

fn agree(case: &Case, model: Model) -> bool {
    judge(&case.program, &case.places, model) == searched(case, model)
}

/// Describes a smallest program on which the two differ.
fn difference(case: &Case, model: Model) -> String {
    let least = shrink(case, |case| !agree(case, model));
    let (brute, search) = (judge(&least.program, &least.places, model), searched(&least, model));
    let mut text = format!("{model}: brute force {} executions, search {}; ", brute.count(), search.count());
    text += &format!("races {} and {}\n{}", brute.racy, search.racy, show(&least));
    for outcome in brute.set().union(&search.set()) {
        let counts = [&brute, &search].map(|verdict| verdict.outcomes.get(outcome).copied().unwrap_or(0));
        if counts[0] != counts[1] {
            text += &format!("  {outcome:?}: brute force {}, search {}\n", counts[0], counts[1]);
        }
    }
    text
}

fn compare(seed: u64, programs: u64, accesses: u64) {
    let mut random = Random(seed);
    let (mut executions, mut differences) = (0, Vec::new());
    let mut wrong = BTreeMap::<Model, usize>::new();
    for number in 0..programs {
        let case = case(&mut random, accesses);
        for model in Model::ALL {
            let case = if model == Model::Vulkan { for_vulkan(&case) } else { case.clone() };
            let brute = judge(&case.program, &case.places, model);
            executions += brute.count();
            if brute != searched(&case, model) {
                let seen = wrong.entry(model).or_default();
                *seen += 1;
                if *seen <= 6 {
                    differences.push(format!("program {number}, {}", difference(&case, model)));
                }
            }
        }
    }
    println!("{programs} programs of up to {accesses} accesses, {executions} executions under six models");
    assert!(differences.is_empty(), "{wrong:?}\n{}", differences.join("\n"));
}

#[test]
fn random_programs_have_the_executions_that_brute_force_finds() {
    compare(1, many(10_000), 7);
}
