//! Advice where one change is not enough, or where only a fence between two accesses helps.

use std::time::Duration;

use wattle::checker::Advice;
use wattle::prelude::*;

fn advice(name: &str, budget: Duration) -> Advice {
    let scenario = wattle_kernels::find(name).unwrap_or_else(|| panic!("no scenario {name}"));
    let checker = Checker::new(Model::Portable);
    let report = checker.check_scenario(scenario, None).unwrap_or_else(|error| panic!("{name}: {error}"));
    checker.advise_scenario(scenario, None, &report, budget)
}

/// The words of the changes, which must be these.
#[track_caller]
fn mended(name: &str, expected: &[&str]) {
    let advice = advice(name, Duration::from_secs(60));
    let fixes: Vec<&str> = advice.fixes.iter().map(|change| change.text.as_str()).collect();
    assert_eq!(fixes, expected, "{name}: {:?}", advice.how_far);
    assert!(advice.how_far.is_empty());
}

const SC_BEFORE: &str = "mem_fence(Scope::Device, Order::SeqCst) before this line";

#[test]
fn seq_cst_fences_in_pairs() {
    mended("iriw-broken-acquire", &[SC_BEFORE, SC_BEFORE]);
    mended("2-plus-2-w-broken-relaxed", &[SC_BEFORE, SC_BEFORE]);
    mended("hazard-pointer-broken-no-fences", &[SC_BEFORE, SC_BEFORE]);
    let stronger = "make mem_fence(Scope::Device, Order::Release) mem_fence(Scope::Device, Order::SeqCst)";
    mended("2-plus-2-w-broken-release", &[stronger, stronger]);
}

#[test]
fn a_seq_cst_fence_before_a_store() {
    mended("peterson-broken-no-first-fence", &[SC_BEFORE]);
}

/// An acquire load would order nothing before itself.
#[test]
fn an_acquire_fence_between_the_reads_of_a_seqlock() {
    mended("seqlock-broken-no-reader-fence", &["mem_fence(Scope::Device, Order::Acquire) after this line"]);
}

#[test]
fn three_orders_of_a_barrier() {
    mended(
        "sense-barrier-broken-relaxed",
        &[
            "Order::AcqRel at Scope::Device for the read-modify-write",
            "store_with(…, Scope::Device, Order::Release) for `state`",
            "load_with(…, Scope::Device, Order::Acquire) for `state`",
        ],
    );
}

/// What a line says of a place that two calls of a function have is said once.
#[test]
fn a_line_of_a_function_is_changed_once() {
    mended("ring-mpmc-broken-relaxed-look", &["load_with(…, Scope::Device, Order::Acquire) for `numbers`"]);
}

/// A fence that acquires and releases is enough where nothing is stored before a load.
#[test]
fn no_stronger_fence_than_is_needed() {
    mended("isa2-broken-relaxed-middle", &["mem_fence(Scope::Device, Order::AcqRel) before this line"]);
}

/// No fence mends a node that comes back; how far the search for one came is said.
#[test]
fn what_was_tried_is_said() {
    let advice = advice("stack-treiber-broken-aba", Duration::from_secs(2));
    assert!(advice.fixes.is_empty() && advice.cut_short, "{:?}", advice.fixes);
    assert!(advice.how_far.first().is_some_and(|part| part.starts_with("a fence, an order or a scope")), "{advice:?}");
}
