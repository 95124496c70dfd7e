//! Checks the promise: no target's lowered program does what the portable model forbids.

use std::collections::BTreeSet;

use crate::brute::random::{Case, Random, show};
use crate::script::run_placed;
use crate::small::drive::judge_all;
use crate::small::{Family, SHAPES};
use crate::source::{Statement, lower, lower_arms, placements};
use wattle_memory::{FenceOrder, LoadOrder, Placement, RmwOrder, Scope, StoreOrder, Target};

type Outcomes = BTreeSet<Vec<Vec<u64>>>;

const TARGETS: [Target; 4] = [Target::Ptx { sm: 90 }, Target::Ptx { sm: 80 }, Target::Vulkan, Target::Host];

fn outcomes(threads: &[Vec<Statement>], target: Target, places: &[Placement]) -> Option<(Outcomes, bool)> {
    let program = lower(threads, target)?;
    let (found, _) = run_placed(&program, places.to_vec(), target.model());
    let seen = |outcome: Vec<Vec<u64>>| {
        outcome.into_iter().map(|mut thread| {
            thread.truncate(7);
            thread
        })
    };
    Some((found.outcomes.into_iter().map(|outcome| seen(outcome).collect()).collect(), found.races > 0))
}

/// The first target and placement on which the program breaks the promise.
fn broken(threads: &[Vec<Statement>]) -> Option<(Target, Vec<Placement>, Outcomes)> {
    for places in placements(threads.len()) {
        let (promised, racy) = outcomes(threads, Target::Portable, &places)?;
        if racy {
            continue;
        }
        for target in TARGETS {
            if let Some((found, _)) = outcomes(threads, target, &places)
                && !found.is_subset(&promised)
            {
                return Some((target, places, &found - &promised));
            }
        }
    }
    None
}

fn random_statement(random: &mut Random, number: u64) -> Statement {
    let cell = random.below(2);
    let scope = random.pick(&[Scope::Block, Scope::Block, Scope::Device, Scope::Device, Scope::Device, Scope::System]);
    let value = 1 + number;
    let rmw =
        random.pick(&[RmwOrder::Relaxed, RmwOrder::Acquire, RmwOrder::Release, RmwOrder::AcqRel, RmwOrder::SeqCst]);
    let load = random.pick(&[LoadOrder::Relaxed, LoadOrder::Acquire, LoadOrder::SeqCst]);
    let store = random.pick(&[StoreOrder::Relaxed, StoreOrder::Release, StoreOrder::SeqCst]);
    let fence = random.pick(&[FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::SeqCst]);
    match random.below(14) {
        0 | 1 => Statement::PlainLoad { cell: 2 },
        2 | 3 => Statement::PlainStore { cell: 2, value },
        4 | 5 => Statement::Load { cell, order: load, scope },
        6 | 7 => Statement::Store { cell, value, order: store, scope },
        8 => Statement::FetchAdd { cell, value, order: rmw, scope },
        9 => Statement::Exchange { cell, value, order: rmw, scope },
        10 => Statement::CompareExchange { cell, expected: random.below(3), desired: value, order: rmw, scope },
        _ => Statement::Fence { order: fence, scope },
    }
}

/// Judges as many programs as fit into three minutes on two cores, optimized; the xtask judges the rest (`cargo run
/// --release -p xtask -- promise`). Without optimization only a few are judged.
#[test]
fn small_programs_keep_the_promise() {
    // For each length of threads, the number of programs per judged one.
    let families = [
        (Family::Strong, [1, 1, 1, 1, 6, 400]),
        (Family::Guarded, [1, 1, 1, 1, 1, 40]),
        (Family::Mixed, [1, 1, 1, 1, 200, 20_000]),
    ];
    for (family, every) in families {
        for (shape, every) in SHAPES.into_iter().zip(every) {
            let every = if cfg!(debug_assertions) && every > 1 { every * 50 } else { every };
            let (count, errors) = judge_all(family, shape, every, |_, _, _| {});
            println!("{family:?}, {}+{} statements, one in {every}: {count}", shape.0, shape.1);
            assert!(errors.is_empty(), "{}", errors.join("\n"));
        }
    }
}

#[test]
fn random_programs_keep_the_promise() {
    let programs = std::env::var("WATTLE_TEST_MANY").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let mut random = Random(7);
    let mut found = Vec::new();
    for _ in 0..programs {
        // With three threads scopes can be mixed so that one thread is in reach of one of the others alone.
        let (count, lengths) = match random.below(4) {
            0 => (3, [1, 1, 2, 2, 2, 2, 2, 3]),
            _ => (2, [1, 2, 2, 3, 3, 3, 3, 3]),
        };
        let mut threads: Vec<Vec<Statement>> = (0..count)
            .map(|thread| {
                (0..lengths[random.below(8) as usize])
                    .map(|at| random_statement(&mut random, 3 * thread + at))
                    .collect()
            })
            .collect();
        if broken(&threads).is_none() {
            continue;
        }
        loop {
            let statements = threads.iter().enumerate();
            let statements = statements.flat_map(|(thread, all)| (0..all.len()).map(move |at| (thread, at)));
            let smaller = statements.collect::<Vec<_>>().into_iter().find_map(|(thread, at)| {
                let mut less = threads.clone();
                less[thread].remove(at);
                broken(&less).map(|_| less)
            });
            match smaller {
                Some(less) => threads = less,
                None => break,
            }
        }
        let (target, places, outcomes) = broken(&threads).expect("it was");
        let case = Case { program: lower(&threads, target).expect("it ran"), places };
        found.push(format!("{target}: {outcomes:?}\n{threads:#?}\n{}", show(&case)).replace("\n        ", " "));
        if found.len() == 12 {
            break;
        }
    }
    println!("{programs} programs");
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}

/// What a fence or none, and a store behind it, of any order and scope can be in an arm of a branch.
fn arms() -> Vec<Vec<Statement>> {
    let orders = [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::SeqCst];
    let of_order = |order| [Scope::Block, Scope::Device].map(|scope| Some(Statement::Fence { order, scope }));
    let fences = orders.into_iter().flat_map(of_order).chain([None]);
    let store = |(order, scope)| Statement::Store { cell: 1, value: 1, order, scope };
    let stores =
        [StoreOrder::Relaxed, StoreOrder::Release].into_iter().flat_map(|order| Scope::ALL.map(|scope| (order, scope)));
    let stores: Vec<Statement> = stores.map(store).collect();
    let behind = |fence: Option<Statement>| {
        stores.clone().into_iter().map(move |store| fence.into_iter().chain([store]).collect())
    };
    fences.flat_map(behind).collect()
}

/// A target may have one instruction for two scopes or orders, and its compiler makes one store of those in two arms.
#[test]
fn stores_in_both_arms_keep_the_promise() {
    // In one block no scope is too narrow, so that nothing races.
    let places = [Placement::new(0, 0), Placement::new(0, 1)];
    let outcomes = |arms: [&[Statement]; 2], target: Target| {
        let (found, _) = run_placed(&lower_arms(arms, target)?, places.to_vec(), target.model());
        let read = |outcome: Vec<Vec<u64>>| [outcome[0][0], outcome[1][0]];
        assert_eq!(found.races, 0, "{target}: {arms:?}");
        Some(found.outcomes.into_iter().map(read).collect::<BTreeSet<_>>())
    };
    let all = arms();
    let (mut judged, mut early, mut wrong) = (0, TARGETS.map(|_| 0), Vec::new());
    for (number, one) in all.iter().enumerate() {
        for other in &all[number..] {
            let arms = [&one[..], other];
            let promised = outcomes(arms, Target::Portable).expect("every scope is portable");
            judged += 1;
            for (target, early) in TARGETS.into_iter().zip(&mut early) {
                let Some(found) = outcomes(arms, target) else { continue };
                *early += u32::from(found.contains(&[1, 1]));
                if !found.is_subset(&promised) {
                    wrong.push(format!("{target}: {arms:?}"));
                }
            }
        }
    }
    println!("{judged} pairs of arms; stores that come early: {early:?} for {TARGETS:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(early.iter().all(|&early| early > 0 && early < judged), "{early:?} of {judged}");
}
