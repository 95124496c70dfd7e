//! Shrinks a case that shows a difference.

use super::run::{Difference, Judged, judge};
use super::{Case, Step};

use std::time::Duration;

/// The smallest case found by removing things one by one while the difference stays of one kind, and its difference.
pub fn shrink(case: &Case, difference: &Difference, limit: Duration) -> (Case, Difference) {
    let mut difference = difference.clone();
    let case = smallest(case, |smaller| match judge(smaller, limit) {
        Judged::Differ(found) if found.kind == difference.kind => {
            difference = found;
            true
        }
        _ => false,
    });
    (case, difference)
}

/// The smallest case found by removing things one by one while it still `shows` something.
pub fn smallest(case: &Case, mut shows: impl FnMut(&Case) -> bool) -> Case {
    let mut case = case.clone();
    while let Some(next) = smaller(&case).into_iter().find(|smaller| shows(smaller)) {
        case = next;
    }
    case
}

/// All cases that are smaller by one thing, the much smaller ones first.
fn smaller(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    let mut add = |change: &mut dyn FnMut(&mut Case)| {
        let mut smaller = case.clone();
        change(&mut smaller);
        if smaller != *case {
            all.push(smaller);
        }
    };
    for (number, launch) in case.launches.iter().enumerate() {
        if case.launches.len() > 1 {
            add(&mut |case| drop(case.launches.remove(number)));
        }
        add(&mut |case| case.launches[number].blocks = (launch.blocks - 1).max(1));
        add(&mut |case| case.launches[number].threads = (launch.threads - 1).max(1));
        add(&mut |case| case.launches[number].queue = 0);
        for body in bodies(&launch.body) {
            add(&mut |case| case.launches[number].body.clone_from(&body));
        }
    }
    add(&mut |case| case.unwritten = false);
    all
}

/// All bodies that are smaller by one statement, or in which a statement replaces one that contains it.
fn bodies(body: &[Step]) -> Vec<Vec<Step>> {
    let mut all = Vec::new();
    for (at, step) in body.iter().enumerate() {
        let mut put = |instead: &[Step]| {
            let mut other = body.to_vec();
            other.splice(at..=at, instead.iter().cloned());
            all.push(other);
        };
        put(&[]);
        step.blocks().into_iter().for_each(|inner| put(inner));
        if let Step::Wait { look, .. } = step {
            put(std::slice::from_ref(look));
        }
        for (number, inner) in step.blocks().into_iter().enumerate() {
            for smaller in bodies(inner) {
                let mut step = step.clone();
                *step.blocks_mut().swap_remove(number) = smaller;
                put(&[step]);
            }
        }
    }
    all
}
