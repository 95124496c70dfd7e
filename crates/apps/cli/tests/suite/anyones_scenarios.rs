//! The command over scenarios of one's own, among them some that go wrong.

use std::time::Duration;

use serde_json::Value;
use wattle::prelude::*;
use wattle::{Expectation, Sizes, Work};
use wattle_cli::Exit;

#[kernel]
fn count(acc: &Acc, number: Atomic<u32>) {
    number.fetch_add(0, 1);
}

#[kernel]
fn race(acc: &Acc, word: Shared<u32>) {
    word[0] = acc.block_in_grid();
}

#[kernel]
fn wait_for_nobody(acc: &Acc, flag: Atomic<u32>) {
    while flag.load(0) == 0 {}
}

#[kernel]
fn beyond(acc: &Acc, word: Shared<u32>) {
    word[1] = 1;
}

fn counts(device: &Device, blocks: usize) -> Result<Summary> {
    let queue = device.queue()?;
    let number = device.alloc_zeroed::<u32>(1)?;
    queue.launch(ThreadSpec::new(blocks, 1), count(&number))?;
    let mut summary = Summary::new(format!("{blocks} blocks"));
    let number = number.read(&queue)?;
    summary.check(number == [blocks as u32], "each block counts once", || format!("{number:?}"))?;
    summary.observe(&[("number", number[0].into())]);
    Ok(summary)
}

fn races(device: &Device) -> Result<Summary> {
    let queue = device.queue()?;
    let word = device.alloc_zeroed::<u32>(1)?;
    queue.launch(ThreadSpec::new(2, 1), race(&word))?;
    Ok(Summary::new("two blocks"))
}

fn many_threads(device: &Device) -> Result<Summary> {
    let number = device.alloc_zeroed::<u32>(1)?;
    device.queue()?.launch(ThreadSpec::new(1, 1025), count(&number))?;
    Ok(Summary::new("many threads of a block"))
}

fn spins(device: &Device) -> Result<Summary> {
    let flag = device.alloc_zeroed::<u32>(1)?;
    let options = LaunchOptions::new().time_limit(Duration::from_millis(50));
    device.queue()?.launch_with(options, ThreadSpec::new(1, 1), wait_for_nobody(&flag))?;
    Ok(Summary::new("waited"))
}

fn out_of_bounds(device: &Device) -> Result<Summary> {
    let word = device.alloc_zeroed::<u32>(1)?;
    device.queue()?.launch(ThreadSpec::new(1, 1), beyond(&word))?;
    Ok(Summary::new("wrote"))
}

fn panics(_: &Device) -> Result<Summary> {
    panic!("on purpose")
}

fn too_much(device: &Device) -> Result<Summary> {
    device.alloc::<u64>(usize::MAX)?;
    Ok(Summary::new("allocated"))
}

fn nothing(_: &Device) -> Result<Summary> {
    Ok(Summary::new("nothing"))
}

const fn fixed(name: &'static str, expectation: Expectation, work: fn(&Device) -> Result<Summary>) -> Scenario {
    Scenario { name, summary: "for tests", documentation: "A page.", expectation, work: Work::Fixed(work) }
}

const COUNTS: Scenario = Scenario {
    work: Work::Sized(counts, Sizes { full: 100, small: 10, proof: 2 }),
    ..fixed("counts", Expectation::Holds, nothing)
};
const RACES: Scenario = fixed("races", Expectation::Refuted, races);
const MANY_THREADS: Scenario = fixed("many-threads", Expectation::Holds, many_threads);
const SPINS: Scenario = fixed("spins", Expectation::Holds, spins);
const OUT_OF_BOUNDS: Scenario = fixed("out-of-bounds", Expectation::Holds, out_of_bounds);
const PANICS: Scenario = fixed("panics", Expectation::Holds, panics);
const TOO_MUCH: Scenario = fixed("too-much", Expectation::Holds, too_much);
const NOT_REFUTED: Scenario = fixed("not-refuted", Expectation::Refuted, nothing);

fn text(scenarios: &[Scenario], args: &[&str]) -> (Exit, String) {
    let mut out = Vec::new();
    let args = ["wattle"].iter().chain(args);
    let exit = wattle_cli::execute(scenarios, args, &mut out);
    (exit, String::from_utf8_lossy(&out).into_owned())
}

fn json(scenarios: &[Scenario], args: &[&str]) -> (Exit, Value) {
    let args: Vec<_> = args.iter().copied().chain(["--json"]).collect();
    let (exit, out) = text(scenarios, &args);
    let document: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error} in {out}"));
    assert_eq!(document["exit_code"], exit.code());
    (exit, document)
}

#[test]
fn a_tour_with_all_as_it_should_be() {
    let (exit, out) = text(&[COUNTS, RACES, MANY_THREADS], &["tour"]);
    assert_eq!(exit, Exit::Holds, "{out}");
    for words in [
        &format!("3 scenarios on {} devices", Device::all().len()),
        "100 blocks: each block counts once",
        "10 blocks: each block counts once",
        "refuted, as it should be: data race on `word` at index 0",
        "nothing seen, this device hides it",
        "not possible here: device `host` cannot run blocks of 1025 threads",
        "All is as it should be.",
    ] {
        assert!(out.contains(words), "{words}:\n{out}");
    }
    assert_eq!(out.contains("not here"), !Device::survey().1.is_empty(), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 120), "{out}");
}

#[test]
fn a_tour_with_something_wrong() {
    for (scenario, exit, words) in [
        (NOT_REFUTED, Exit::DoesNotHold, "NOT REFUTED"),
        (PANICS, Exit::DoesNotHold, "DOES NOT HOLD: scenario `panics` panicked: on purpose"),
        (OUT_OF_BOUNDS, Exit::DoesNotHold, "DOES NOT HOLD"),
        (TOO_MUCH, Exit::Unanswered, "COULD NOT BE TRIED"),
    ] {
        let (got, out) = text(&[COUNTS, scenario], &["tour", "--device", "simulated"]);
        assert_eq!(got, exit, "{out}");
        assert!(out.contains(words), "{words}:\n{out}");
        assert!(out.contains(&format!("Not as expected: {} on simulated.", scenario.name)), "{out}");
    }
    let (exit, out) = text(&[TOO_MUCH, PANICS], &["tour", "--device", "host"]);
    assert_eq!(exit, Exit::DoesNotHold, "what is wrong tells more than what could not be tried: {out}");
}

#[test]
fn the_tour_as_json() {
    let (exit, document) = json(&[COUNTS, NOT_REFUTED], &["tour"]);
    assert_eq!(exit, Exit::DoesNotHold);
    assert_eq!(document["as_expected"], false);
    let attempts = document["attempts"].as_array().cloned().unwrap_or_default();
    assert_eq!(attempts.len(), 2 * Device::all().len());
    let bad: Vec<_> = attempts.iter().filter(|attempt| attempt["as_expected"] == false).collect();
    assert_eq!(bad.len(), 1);
    assert_eq!((&bad[0]["scenario"], &bad[0]["device"]), (&"not-refuted".into(), &"simulated".into()));
}

#[test]
fn how_a_run_ends() {
    for (scenario, device, exit, status, error) in [
        (COUNTS, "host", Exit::Holds, "held", None),
        (RACES, "host", Exit::Holds, "held", None),
        (RACES, "simulated", Exit::DoesNotHold, "does_not_hold", Some("finding")),
        (MANY_THREADS, "host", Exit::Unanswered, "unsupported", Some("capability")),
        (MANY_THREADS, "simulated", Exit::Holds, "held", None),
        (SPINS, "host", Exit::DoesNotHold, "does_not_hold", Some("time_limit")),
        (SPINS, "simulated", Exit::DoesNotHold, "does_not_hold", Some("finding")),
        (OUT_OF_BOUNDS, "host", Exit::DoesNotHold, "does_not_hold", Some("fault")),
        (PANICS, "host", Exit::DoesNotHold, "does_not_hold", Some("panic")),
        (TOO_MUCH, "host", Exit::Unanswered, "failed", Some("extent")),
    ] {
        let (got, document) = json(&[scenario], &["run", scenario.name, "--device", device]);
        let attempt = &document["attempts"][0];
        assert_eq!(got, exit, "{document}");
        assert_eq!(attempt["status"], status, "{document}");
        assert_eq!(attempt["error"]["kind"].as_str(), error, "{document}");
    }
}

#[test]
fn a_panic_names_its_place() {
    let (_, out) = text(&[PANICS], &["run", "panics"]);
    assert!(out.contains("panicked: on purpose") && out.contains("anyones_scenarios.rs:"), "{out}");
}

#[test]
fn repeats_add_up() {
    let (exit, document) = json(&[COUNTS, RACES], &["run", "counts", "races", "-d", "simulated", "-r", "20"]);
    assert_eq!(exit, Exit::DoesNotHold);
    let [counts, races] = [&document["attempts"][0], &document["attempts"][1]];
    assert_eq!((&counts["runs"], &counts["outcomes"]["number=10"]), (&20.into(), &20.into()));
    assert_eq!((&races["runs"], &races["runs_refused"]), (&20.into(), &20.into()));
    assert_eq!(races["error"]["run"], 1);
    assert!(races["seconds"]["min"].as_f64() <= races["seconds"]["median"].as_f64());
}

#[test]
fn emits_what_a_refuted_scenario_launches() {
    let (exit, out) = text(&[RACES], &["emit", "races", "--target", "ir"]);
    assert_eq!(exit, Exit::Holds);
    assert!(out.contains("kernel race") && out.contains("store word"), "{out}");
    let (exit, document) = json(&[PANICS], &["emit", "panics", "--target", "ir"]);
    assert_eq!(exit, Exit::Unanswered);
    assert_eq!(document["error"]["kind"], "no_kernels");
    assert!(document["error"]["message"].as_str().is_some_and(|message| message.contains("on purpose")));
}

#[test]
fn no_scenarios_at_all() {
    assert_eq!(text(&[], &["tour"]).0, Exit::Holds);
    for command in ["list", "tour"] {
        let (exit, out) = text(&[], &[command]);
        assert_eq!(exit, Exit::Holds);
        assert!(out.contains("#[scenario]") && out.contains("use my_library as _;"), "what to do is said: {out}");
    }
    assert_eq!(text(&[], &["run", "any"]).0, Exit::Unanswered);
}
