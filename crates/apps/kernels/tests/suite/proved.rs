//! The scenarios under the checker: what holds is proved, what is broken is refuted, for the reason that it was broken.

use std::time::Duration;

use wattle::checker::{OrderTable, Progress, Report, Verdict};
use wattle::memory::Target;
use wattle::prelude::*;
use wattle::{Expectation, Scenario, Summary};
use wattle_kernels::{all, chained_scan, find, last_block_sum};

fn scenario(name: &str) -> &'static Scenario {
    find(name).unwrap_or_else(|| panic!("no scenario {name}"))
}

fn portable(name: &str) -> Report {
    Checker::new(Model::Portable).check_scenario(scenario(name), None).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn kinds(report: &Report) -> Vec<&'static str> {
    report.violations.iter().map(|violation| violation.kind()).collect()
}

#[test]
fn every_scenario_is_what_it_is_registered_as() {
    for scenario in all() {
        let report = portable(scenario.name);
        let expected = match scenario.expectation {
            Expectation::Holds => Verdict::Holds,
            Expectation::Refuted => Verdict::Violated,
        };
        assert_eq!(report.verdict, expected, "{}: {:?} {:?}", scenario.name, kinds(&report), report.unknown);
    }
}

/// What is promised is kept by what is emitted.
#[test]
fn what_holds_holds_on_every_target_that_can_run_it() {
    let targets = [Target::Ptx { sm: 90 }, Target::Ptx { sm: 80 }, Target::Vulkan, Target::Host];
    let mut judged = 0;
    let mut not_possible = Vec::new();
    for scenario in all().iter().filter(|scenario| scenario.expectation == Expectation::Holds) {
        for target in targets {
            match Checker::for_target(target).check_scenario(scenario, None) {
                Ok(report) => {
                    assert_eq!(report.verdict, Verdict::Holds, "{} on {target}: {:?}", scenario.name, kinds(&report));
                    judged += 1;
                }
                Err(error) => not_possible.push(format!("{} on {target}: {error}", scenario.name)),
            }
        }
    }
    println!("{judged} verdicts; not possible:\n{}", not_possible.join("\n"));
    assert!(judged > 70, "{judged}");
    let lacking = ["system scope", "another device's memory"];
    let is_known = |text: &String| lacking.iter().any(|what| text.contains(what));
    assert!(not_possible.iter().all(is_known), "{not_possible:#?}");
}

#[test]
fn what_is_broken_is_refuted_for_its_reason() {
    for (name, kind) in [
        ("publication-broken-no-release", "data race"),
        ("publication-broken-no-acquire", "data race"),
        ("publication-broken-block-scope", "data race"),
        ("publication-broken-plain-flag", "data race"),
        ("block-fence-textbook", "data race"),
        ("block-fence-broken-no-release", "assertion"),
        ("block-fence-broken-no-acquire", "assertion"),
        ("two-queues-broken-no-release", "assertion"),
        ("two-queues-broken-block-scope", "assertion"),
        ("swap-broken-fence-only", "data race"),
        ("last-block-sum-textbook", "data race"),
        ("last-block-sum-broken-no-release", "data race"),
        ("last-block-sum-broken-block-scope", "data race"),
        ("lock-ticket-broken-relaxed", "data race"),
        ("lock-test-and-set-broken-no-acquire", "data race"),
        ("grid-barrier-broken-no-acquire", "data race"),
        ("chained-broken-no-release", "data race"),
        ("cumulativity-broken-device-scope", "data race"),
        ("cumulativity-peer-broken-relaxed", "data race"),
        ("interference-broken-device-scope", "data race"),
        ("store-buffering-broken-acq-rel", "assertion"),
    ] {
        assert_eq!(kinds(&portable(name)), [kind], "{name}");
    }
}

#[test]
fn shapes_and_executions_are_told() {
    let report = portable("last-block-sum");
    // As many blocks as frames and as many threads as a frame has places, and what else devices choose.
    assert_eq!(report.shapes[..2], ["4 blocks × 2 threads", "4 blocks × 1 thread"]);
    assert_eq!(report.shapes.len(), 9, "{:?}", report.shapes);
    let counted = |symmetry: bool| {
        let checker = Checker::new(Model::Portable).symmetry(symmetry);
        checker.check_scenario(scenario("lock-ticket"), None).unwrap().statistics.complete
    };
    assert_eq!((counted(true), counted(false)), (1, 6), "three tickets in any order");
    // There is one execution, however often a thread looked in vain.
    assert_eq!(portable("publication").statistics.complete, 1);
    let lock = Checker::new(Model::Portable).symmetry(false).check_scenario(scenario("lock-test-and-set"), None);
    assert_eq!(lock.unwrap().statistics.complete, 6);
}

/// The textbook's own question has the textbook's answer.
#[test]
fn plain_accesses_taken_for_relaxed_ones_exclude_the_second_write_without_the_first() {
    let report =
        Checker::new(Model::Portable).plain_as_relaxed().check_scenario(scenario("block-fence-textbook"), None);
    let report = report.unwrap();
    assert_eq!(report.verdict, Verdict::Holds);
    let outcomes: Vec<&str> = report.outcomes.keys().map(String::as_str).collect();
    assert_eq!(outcomes, ["first=1 second=2", "first=10 second=2", "first=10 second=20"]);
}

#[test]
fn who_waits_for_a_lower_block_needs_linear_progress() {
    let under = |name: &str, progress: Progress| {
        let checker = Checker::new(Model::Portable).progress(progress);
        kinds(&checker.check_scenario(scenario(name), None).unwrap())
    };
    let stuck = ["can be stuck for ever"];
    assert_eq!(under("publication", Progress::Lobe), [""; 0]);
    assert_eq!(under("publication", Progress::Obe), stuck);
    assert_eq!(under("publication", Progress::Hsa), [""; 0]);
    assert_eq!(under("chained", Progress::Lobe), [""; 0]);
    assert_eq!(under("lock-ticket", Progress::Obe), [""; 0]);
    assert_eq!(under("lock-ticket", Progress::Hsa), stuck, "whoever has the lock may be left alone");
    assert_eq!(under("grid-barrier", Progress::Obe), [""; 0], "a cooperative launch has begun as a whole");
}

fn fixes(name: &str) -> Vec<String> {
    let checker = Checker::new(Model::Portable);
    let report = portable(name);
    let advice = checker.advise_scenario(scenario(name), None, &report, Duration::from_secs(60));
    advice.fixes.iter().map(|change| change.text.clone()).collect()
}

#[test]
fn advice_turns_the_broken_ones_into_the_right_ones() {
    let wide = |order: &str| format!("widen mem_fence(Scope::Block, Order::{order}) to Scope::Device");
    assert_eq!(fixes("publication-broken-block-scope"), [wide("Release"), wide("Acquire")]);
    assert!(fixes("block-fence-textbook")[0].starts_with("make `pair` Atomic"), "{:?}", fixes("block-fence-textbook"));
    assert!(fixes("swap-broken-fence-only")[0].starts_with("sync_block() instead of mem_fence"));
    assert!(fixes("last-block-sum-textbook")[0].contains("Acquire"), "{:?}", fixes("last-block-sum-textbook"));
    assert!(fixes("publication-broken-plain-flag")[0].starts_with("make `ready` Atomic"));
    let both = fixes("store-buffering-broken-acq-rel");
    assert_eq!(both.len(), 2);
    assert!(both.iter().all(|text| text.contains("SeqCst")), "{both:?}");
}

#[test]
fn advice_finds_what_is_stronger_than_need_be() {
    let checker = Checker::new(Model::Portable);
    let name = "cumulativity-seq-cst";
    let advice = checker.advise_scenario(scenario(name), None, &portable(name), Duration::from_secs(60));
    let mut texts: Vec<&str> = advice.weaker.iter().map(|change| change.text.as_str()).collect();
    texts.sort_unstable();
    // The store that stays as it is has a fence for the load before it.
    let expected = [
        "the load could be Acquire at system scope, not SeqCst at system scope",
        "the load could be Relaxed at device scope, not SeqCst at device scope",
        "the store could be Release at device scope, not SeqCst at device scope",
    ];
    assert_eq!(texts, expected);
    let needed =
        checker.advise_scenario(scenario("publication"), None, &portable("publication"), Duration::from_secs(60));
    assert!(needed.weaker.is_empty(), "each of its fences is needed: {:#?}", needed.weaker);
}

/// The design's table: 24 orders in four cases, and what each fence leaves of them.
#[test]
fn the_orders_of_the_textbook() {
    let table = OrderTable::of(&Checker::new(Model::Portable), scenario("orderings"), None).unwrap();
    let counts = |variant: usize| {
        let of = |outcome: &str| table.variants[variant].orders.get(outcome).map_or(0, |orders| orders.count);
        ["A=1 B=2", "A=10 B=2", "A=1 B=20", "A=10 B=20"].map(of)
    };
    assert_eq!(table.variants.len(), 4);
    assert_eq!(counts(0), [6, 6, 6, 6], "no fence");
    assert_eq!(counts(3), [1, 4, 0, 1], "both fences");
    assert!(counts(1)[2] > 0 && counts(2)[2] > 0, "with one fence alone the third case is still there");
    let listed = &table.variants[0].orders["A=1 B=2"].listed;
    assert_eq!((listed.len(), listed[0].len()), (6, 4));
}

/// Two tiles of four words, two threads each, as threads in lock step do it.
fn scan_in_lock_step<const RUN: usize>(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let (input, out) = (device.from_slice(&[1u32; 8])?, device.alloc::<u32>(8)?);
    let status = device.alloc_zeroed::<u32>(2)?;
    let (aggregates, prefixes) = (device.alloc::<u32>(2)?, device.alloc::<u32>(2)?);
    let kernel = chained_scan::scan_tiles::<4, RUN, true>(&input, &out, &status, &aggregates, &prefixes);
    queue.launch(ThreadSpec::new(2, 2), kernel)?;
    assert_eq!(out.read(&queue)?, [1, 2, 3, 4, 5, 6, 7, 8]);
    Ok(())
}

/// Three tiles of four words, two threads each in one warp.
fn scan_by_warps(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let (input, out) = (device.from_slice(&[1u32; 12])?, device.alloc::<u32>(12)?);
    let status = device.alloc_zeroed::<u64>(3)?;
    let kernel = chained_scan::scan_by_warps::<4, 2, 1>(&input, &out, &status);
    queue.launch_with(LaunchOptions::new().warp_size(2), ThreadSpec::new(3, 2), kernel)?;
    assert_eq!(out.read(&queue)?, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    Ok(())
}

/// Nine words by two blocks of two threads, as threads in lock step do it.
fn sum_in_lock_step(device: &Device) -> Result<()> {
    let queue = device.queue()?;
    let (values, totals) = (device.from_slice(&[1.0f32; 9])?, device.alloc::<f32>(1)?);
    let (partials, counter) = (device.alloc::<f32>(2)?, device.alloc_zeroed::<u32>(1)?);
    let kernel = last_block_sum::sum::<true, true>(0, 0, &values, &partials, &counter, &totals);
    queue.launch(ThreadSpec::new(2, 2), kernel)?;
    assert_eq!(totals.read(&queue)?, [9.0]);
    Ok(())
}

/// What GPUs run differs from what one thread per block runs, which the registered proofs are about.
#[test]
fn the_forms_for_lock_step_hold() {
    for (name, scenario) in [
        ("scan", scan_in_lock_step::<0> as fn(&Device) -> Result<()>),
        ("scan in runs of one length", scan_in_lock_step::<2>),
        ("scan by warps", scan_by_warps),
        ("sum", sum_in_lock_step as fn(&Device) -> Result<()>),
    ] {
        for target in Target::ALL {
            let report = Checker::for_target(target).check(scenario).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(report.verdict, Verdict::Holds, "{name} on {target}: {:?} {:?}", kinds(&report), report.unknown);
        }
    }
}

/// One thread of a block hands a word to the other, and both count, with fences and atomics of block scope.
#[kernel]
fn hands_over_in_block(acc: &Acc, data: Shared<u32>, flag: Atomic<u32>, count: Atomic<u32>) {
    let pair = acc.block_in_grid();
    if acc.thread_in_block() == 0 {
        data[pair] = 7;
        acc.mem_fence(Scope::Block, Order::Release);
        flag.store_with(pair, 1, Scope::Block, Order::Relaxed);
    } else {
        while flag.load_with(pair, Scope::Block, Order::Relaxed) == 0 {}
        acc.mem_fence(Scope::Block, Order::Acquire);
        assert!(data[pair] == 7, "what was handed over");
    }
    count.fetch_add_with(pair, 1, Scope::Block, Order::Relaxed);
    acc.sync_block();
    assert!(count.load_with(pair, Scope::Block, Order::Relaxed) == 2, "both have counted");
}

/// The threads of a block share a worker of the host, so what is of block scope holds within the block there too.
#[test]
fn block_scope_holds_within_a_block_on_every_target() {
    let scenario = |device: &Device| -> Result<()> {
        let queue = device.queue()?;
        let [data, flag, count] = [(); 3].map(|()| device.alloc_zeroed::<u32>(2));
        let (data, flag, count) = (data?, flag?, count?);
        queue.launch(ThreadSpec::new(2, 2), hands_over_in_block(&data, &flag, &count))?;
        assert_eq!(count.read(&queue)?, [2, 2]);
        Ok(())
    };
    for target in Target::ALL {
        let report = Checker::for_target(target).check(scenario).unwrap();
        assert_eq!(report.verdict, Verdict::Holds, "{target}: {:?} {:?}", kinds(&report), report.unknown);
    }
    scenario(&Device::host()).unwrap();
}

#[kernel]
fn counts_in_block_scope(acc: &Acc, count: Atomic<u32>) {
    count.fetch_add_with(0, 1, Scope::Block, Order::Relaxed);
}

/// An atomic of block scope is one within its block alone, also on the host.
#[test]
fn block_scope_counts_too_few_across_blocks_on_the_host() {
    for (spec, fewest) in [(ThreadSpec::new(1, 2), 2), (ThreadSpec::new(2, 1), 1)] {
        let report = Checker::for_target(Target::Host)
            .check(|device| {
                let count = device.alloc_zeroed::<u32>(1)?;
                let queue = device.queue()?;
                queue.launch(spec, counts_in_block_scope(&count))?;
                let mut summary = Summary::new("counted");
                summary.observe(&[("count", count.read(&queue)?[0].into())]);
                Ok(summary)
            })
            .unwrap();
        let expected: Vec<String> = (fewest..=2).map(|count| format!("count={count}")).collect();
        assert_eq!(report.outcomes.keys().cloned().collect::<Vec<_>>(), expected);
    }
}
