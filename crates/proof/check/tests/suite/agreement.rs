//! Compares the search with brute force: the same executions, outcomes and races for random small programs.

use crate::brute::agree::{compare, difference_on};
use crate::brute::random::{Case, case, forwarding, half_plain};
use crate::script::{Op, constant};
use wattle_memory::{Label, Model, Placement};

/// The number of programs: `WATTLE_TEST_MANY`, if it is set.
fn many(usual: u64) -> u64 {
    std::env::var("WATTLE_TEST_MANY").ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

fn agree(programs: u64, draw: impl Fn(&mut crate::brute::random::Random) -> crate::brute::random::Case + Sync) {
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
