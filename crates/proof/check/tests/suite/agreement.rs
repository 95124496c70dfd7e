//! Compares the search with brute force: the same executions, outcomes and races for random small programs.

use crate::brute::agree::{compare, difference_on};
use crate::brute::random::{Case, Random, case, dependent, for_vulkan, forwarding, half_plain, show};
use crate::brute::{judge, judge_as_khronos, judge_without_dependencies};
use crate::script::{Found, Op, constant, setup};
use std::collections::BTreeSet;
use wattle_check::search::{Dependencies, End, Setup, search};
use wattle_memory::{Label, Level, Model, Placement};

/// The number of programs: `WATTLE_TEST_MANY`, if it is set.
fn many(usual: u64) -> u64 {
    std::env::var("WATTLE_TEST_MANY").ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

fn agree(programs: u64, draw: impl Fn(&mut Random) -> Case + Sync) {
    let compared = compare(0..many(programs), &draw, &|_| {});
    println!("{compared}");
    assert!(compared.differences.is_empty(), "{compared}\n{}", compared.differences.join("\n"));
}

#[test]
fn random_programs_have_the_executions_that_brute_force_finds() {
    agree(3_000, |random| case(random, 7));
}

#[test]
fn random_programs_of_plain_accesses_have_the_executions_that_brute_force_finds() {
    agree(10_000, |random| half_plain(random, 64));
}

#[test]
fn random_programs_that_read_their_own_stores_have_the_executions_that_brute_force_finds() {
    agree(1_500, forwarding);
}

/// A store that needs the second of two reads of a cell, while the first waits for what the store makes possible.
#[test]
fn a_store_behind_two_reads_of_its_cell() {
    let load = |to, cell| Op::Load { to, cell, label: Label::plain_read() };
    let store = || Op::Store { cell: 0, value: constant(1), label: Label::plain_write() };
    let unless = |register, value, equal, count| Op::SkipUnless { register, value, equal, count };
    let second = vec![load(0, 0), unless(0, 1, true, 1), store()];
    let variants = [
        vec![load(1, 0), load(7, 0), unless(7, 0, true, 1), store()],
        vec![load(1, 0), unless(1, 1, false, 1), load(3, 1), load(7, 0), unless(7, 0, true, 1), store()],
        vec![load(1, 0), unless(1, 1, false, 1), load(3, 1), load(7, 1), unless(7, 0, true, 1), store()],
    ];
    for first in variants {
        let second = second.clone();
        let case = Case { program: vec![first, second], places: vec![Placement::new(0, 0), Placement::new(0, 1)] };
        for model in [Model::Portable, Model::Ptx, Model::Rust] {
            assert_eq!(difference_on(&case, model), None);
        }
    }
}

/// A store that both arms of a branch make behind an update of its cell, while a read before both waits: the alternatives of
/// the update's value know too that the thread has come to it.
#[test]
fn a_store_in_both_arms_behind_an_update_and_a_read() {
    let read = Label::atomic_read(Level::Block);
    let write = Label::atomic_write(Level::Block);
    let plain = |to, cell| Op::Load { to, cell, label: Label::plain_read() };
    let arm = |equal| Op::SkipUnless { register: 2, value: 0, equal, count: 1 };
    let store = |cell, value, label| Op::Store { cell, value: constant(value), label };
    let first = vec![
        Op::Load { to: 1, cell: 0, label: read },
        Op::SkipUnless { register: 1, value: 0, equal: true, count: 1 },
        Op::Fence { label: Label::fence(Level::Block) },
        store(1, 4, Label::plain_write()),
        store(0, 5, write),
    ];
    let update = Op::Add { to: 2, cell: 0, value: constant(6), read, write };
    let second = vec![plain(1, 1), update, arm(true), store(0, 6, write), arm(false), store(0, 6, write)];
    let places = vec![Placement::new(1, 0), Placement::new(0, 0)];
    let case = Case { program: vec![first, second], places };
    for model in [Model::Portable, Model::Ptx] {
        assert_eq!(difference_on(&case, model), None);
    }
}

/// The Vulkan model's release sequences go through updates that read from one another, Khronos' through those that follow
/// immediately in the modification order. They differ where an update reads from a write that it is not mutually ordered
/// with: that is a race in both.
#[test]
fn the_release_sequences_of_khronos_change_no_verdict() {
    const LEVELS: [Level; 3] = [Level::Subgroup, Level::Block, Level::Device];
    let (read, write) = (Label::atomic_read, Label::atomic_write);
    let exchange = |level| Op::Exchange { to: 1, cell: 1, value: constant(1), read: read(level), write: write(level) };
    let load = |to, cell, label| Op::Load { to, cell, label };
    let store = |cell, value, label| Op::Store { cell, value: constant(value), label };
    let release = Op::Fence { label: Label::fence(Level::Device).releasing() };
    let firsts = [Label::plain_write(), write(Level::Subgroup), write(Level::Block), write(Level::Device)];
    let data = [(Label::plain_read(), Label::plain_write()), (read(Level::Device), write(Level::Device))];
    let levels = LEVELS.into_iter().flat_map(|exchanged| LEVELS.map(|stored| (exchanged, stored)));
    let labels = levels.flat_map(|levels| firsts.map(|first| (levels, first)));
    let (mut differ, mut free) = (0, 0);
    for (((exchanged, stored), hidden), (reads, writes)) in labels.flat_map(|labels| data.map(|data| (labels, data))) {
        for blocks in [[0, 0, 0], [0, 0, 1], [0, 1, 1]] {
            let program = vec![
                vec![store(2, 2, writes)],
                vec![exchange(exchanged), load(4, 1, read(Level::Device).acquiring()), load(5, 2, reads)],
                vec![load(1, 2, reads), release.clone(), store(1, 8, hidden), store(1, 1, write(stored))],
            ];
            let place = |(subgroup, block)| Placement { subgroup, ..Placement::new(block, subgroup) };
            let places: Vec<_> = (0..).zip(blocks).map(place).collect();
            let case = for_vulkan(&Case { program, places });
            let (ours, theirs) =
                (judge(&case.program, &case.places, Model::Vulkan), judge_as_khronos(&case.program, &case.places));
            let shown = || format!("{}\n{ours:?}\n{theirs:?}", show(&case));
            assert_eq!(difference_on(&case, Model::Vulkan), None, "{}", shown());
            assert_eq!(ours.racy, theirs.racy, "{}", shown());
            assert!(ours.racy || ours == theirs, "{}", shown());
            differ += u32::from(ours != theirs);
            free += u32::from(!ours.racy);
        }
    }
    assert!(differ > 0 && free > 0, "{differ} differ, {free} have no race");
}

/// A search without dependencies finds the outcomes that brute force without them finds, up to those of values that nothing but
/// themselves brings about.
#[test]
fn without_dependencies_there_are_the_outcomes_that_brute_force_finds() {
    let (few, many_values): (Vec<u64>, Vec<u64>) = ((0..=3).collect(), (0..=40).collect());
    let (mut more, mut different) = (0, Vec::new());
    for number in 0..many(600) {
        let drawn = dependent(&mut Random(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x0064_6570));
        for model in [Model::Portable, Model::Ptx, Model::Rust, Model::Vulkan] {
            let Case { program, places } = if model == Model::Vulkan { for_vulkan(&drawn) } else { drawn.clone() };
            let brute = |tried| judge_without_dependencies(&program, &places, model, tried).set();
            let (least, known) = (brute(&few), judge(&program, &places, model).set());
            let mut found = Found { model: Some(model), ..Found::default() };
            let plain = setup(&program, places.clone(), model);
            let ignored = Setup { dependencies: Dependencies::Ignored, tried_values: few.clone(), ..plain };
            assert_eq!(search(&ignored, &mut found).0, End::Exhausted);
            let found: BTreeSet<_> = found.outcomes.into_iter().collect();
            more += u32::from(!least.is_subset(&known));
            if !least.is_subset(&found) || !(found.is_subset(&least) || found.is_subset(&brute(&many_values))) {
                let shown = show(&Case { program: program.clone(), places: places.clone() });
                let (missing, wrong) = (&least - &found, &found - &brute(&many_values));
                different.push(format!("program {number}, {model}: missing {missing:?}, wrong {wrong:?}\n{shown}"));
            }
        }
    }
    println!("{more} have more outcomes");
    assert!(more > 50 && different.is_empty(), "{more}\n{}", different.join("\n"));
}
