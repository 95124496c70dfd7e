//! Random scenarios, whose kernels are emitted and read back: they have the verdict and the outcomes of the intermediate
//! representation.

use std::time::Duration;

use wattle_check::checker::{Checker, Report, Verdict};
use wattle_memory::Target;

use crate::oracle::generate::generate;
use crate::oracle::run::Prepared;
use crate::oracle::shrink::smallest;
use crate::oracle::{Case, Step, any};

/// The time limit for one search of a case.
const LIMIT: Duration = Duration::from_secs(5);

/// The case for warps of 32 lanes, as targets have them, unless its lanes do something together.
fn case(number: u64) -> Option<Case> {
    let mut case = generate(number);
    let meets = |step: &Step| matches!(step, Step::Warp { .. } | Step::WarpBarrier);
    case.launches.iter_mut().for_each(|launch| launch.lanes = 32);
    (!case.launches.iter().any(|launch| any(&launch.body, &mut { meets }))).then_some(case)
}

/// The reports on the intermediate representation and on what is emitted; `None` where one of the two is none.
fn reports(case: &Case, target: Target) -> Option<[Report; 2]> {
    let prepared = Prepared::new(case);
    let checker = Checker::for_target(target).time(LIMIT);
    let own = checker.check(|device| prepared.run(device)).ok()?;
    let emitted = checker.emitted().check(|device| prepared.run(device)).ok()?;
    Some([own, emitted])
}

/// Whether two answers that were found contradict each other.
fn differ([own, emitted]: &[Report; 2]) -> bool {
    match (own.verdict, emitted.verdict) {
        (Verdict::Unknown, _) | (_, Verdict::Unknown) => false,
        (Verdict::Holds, Verdict::Holds) => !own.outcomes.keys().eq(emitted.outcomes.keys()),
        (Verdict::Violated, Verdict::Violated) => false,
        (Verdict::Holds, Verdict::Violated) | (Verdict::Violated, Verdict::Holds) => true,
    }
}

fn compare(target: Target) {
    let many = std::env::var("WATTLE_TEST_MANY").ok().and_then(|many| many.parse().ok()).unwrap_or(200);
    let first = std::env::var("WATTLE_TEST_FIRST").ok().and_then(|first| first.parse().ok()).unwrap_or(0);
    let (mut decided, mut holding, mut unknown, mut found) = (0, 0, 0, Vec::new());
    for number in first..first + many {
        let Some(case) = case(number) else { continue };
        let Some(both) = reports(&case, target) else { continue };
        let is_open = both.iter().any(|report| report.verdict == Verdict::Unknown);
        unknown += u64::from(is_open);
        decided += u64::from(!is_open);
        holding += u64::from(both.iter().all(|report| report.verdict == Verdict::Holds));
        if differ(&both) {
            found.push((number, case));
        }
    }
    println!("{target:?}: {decided} decided, {holding} hold, {unknown} unknown, {} differ", found.len());
    for (number, case) in &found {
        let small = smallest(case, |smaller| reports(smaller, target).is_some_and(|both| differ(&both)));
        let [own, emitted] = reports(&small, target).expect("it was judged before");
        println!("case {number}:\n{small}\n{own}\n{emitted}");
    }
    assert!(found.is_empty());
    assert!(decided > many / 3 && holding > many / 10, "{decided} decided, {holding} hold");
}

#[test]
fn as_ptx() {
    compare(Target::Ptx { sm: 90 });
}

#[test]
fn as_spirv() {
    compare(Target::Vulkan);
}
