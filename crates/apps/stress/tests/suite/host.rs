//! Store buffering on the host, which x86-64 and AArch64 show: seen where it is allowed, and never where it is not.

use std::time::{Duration, Instant};

use wattle_core::Device;
use wattle_litmus::parse;
use wattle_stress::{Bench, Environment, Judgement, Options, Program, TestReport, lift, test};

/// Threads of blocks 0 and `block`, each stores its word and loads the other's, with this fence between.
fn store_buffering_of(fence: &str, block: u32) -> Program {
    let text = format!(
        "PTX sb\n{{ x=0; y=0; }}\n P0@cta 0,gpu 0 | P1@cta {block},gpu 0 ;\n st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;\n \
         {fence} | {fence} ;\n ld.relaxed.gpu r0, y | ld.relaxed.gpu r0, x ;\nexists\n(P0:r0 == 0 /\\ P1:r0 == 0)\n"
    );
    lift(&parse("sb", &text).unwrap()).unwrap()
}

fn store_buffering(fence: &str) -> Program {
    store_buffering_of(fence, 1)
}

fn both_old(report: &TestReport) -> (u64, Judgement) {
    let outcome = report.outcomes.iter().find(|outcome| outcome.values == [0, 0]);
    outcome.map_or((0, Judgement::Forbidden), |outcome| (outcome.count, outcome.target))
}

/// Runs the test with one seed after another until both reads are old, for a minute at the most; `None` where they never
/// were, which a machine that is busy with other work may do.
fn until_both_old(program: &Program, options: &Options) -> Option<TestReport> {
    let bench = Bench::new(&Device::host()).unwrap();
    if std::thread::available_parallelism().map_or(1, usize::from) == 1 {
        test_skips::skipped("one core never has two stores in flight at once");
        return None;
    }
    let began = Instant::now();
    for seed in 0.. {
        let options = Options { seed, most_launches: 8, environment: Some(Environment::FIRST), ..options.clone() };
        let report = test(&bench, "sb", program, Duration::from_secs(1), &options).unwrap().unwrap();
        if both_old(&report).0 > 0 {
            return Some(report);
        }
        if began.elapsed() > Duration::from_secs(60) {
            println!("not seen in a minute: this machine has no two cores to itself");
            return None;
        }
    }
    None
}

#[test]
fn without_a_fence_that_orders_them_both_reads_are_old_and_may_be() {
    let program = store_buffering("fence.acq_rel.gpu");
    let Some(report) = until_both_old(&program, &Options::default()) else { return };
    assert_eq!(both_old(&report).1, Judgement::Allowed);
    assert!(report.outcomes.iter().any(|outcome| outcome.weak && outcome.values == [0, 0]));
    assert_eq!(report.forbidden().count(), 0);
}

#[test]
fn with_sequentially_consistent_fences_nothing_forbidden_is_seen() {
    let bench = Bench::new(&Device::host()).unwrap();
    let program = store_buffering("fence.sc.gpu");
    let options = Options { most_launches: 4, environment: Some(Environment::FIRST), ..Options::default() };
    let report = test(&bench, "sb", &program, Duration::from_secs(2), &options).unwrap().unwrap();
    assert_eq!(both_old(&report), (0, Judgement::Forbidden));
    assert!(report.instances > 0 && report.forbidden().count() == 0);
    // Each fence weakened or left out lets both reads be old, so there are mutants that tell.
    assert_eq!(report.mutants.len(), 6, "{:?}", report.mutants);
    assert!(report.mutants.iter().all(|mutant| mutant.out_of_reach.is_none()), "{:?}", report.mutants);
}

#[test]
fn the_threads_of_a_block_take_turns_and_show_nothing_weak() {
    let bench = Bench::new(&Device::host()).unwrap();
    let program = store_buffering_of("fence.acq_rel.gpu", 0);
    let options = Options { most_launches: 1, environment: Some(Environment::FIRST), ..Options::default() };
    let report = test(&bench, "sb", &program, Duration::from_secs(1), &options).unwrap().unwrap();
    let seen: Vec<_> = report.outcomes.iter().filter(|outcome| outcome.count > 0).map(|it| &it.values[..]).collect();
    assert_eq!(seen, [[0, 1], [1, 0], [1, 1]], "{:?}", report.outcomes);
}

#[test]
fn a_bench_whose_time_is_over_launches_nothing() {
    let bench = Bench::new(&Device::host()).unwrap().until(Some(std::time::Instant::now()));
    let program = store_buffering("fence.acq_rel.gpu");
    let report = test(&bench, "sb", &program, Duration::from_secs(60), &Options::default()).unwrap().unwrap();
    assert_eq!((report.launches, report.instances), (0, 0));
}
