//! `wattle check` and `wattle orders`, as their user calls them.

use std::path::PathBuf;

use serde_json::Value;
use wattle_cli::{Exit, execute};

fn wattle(args: &[&str]) -> (Exit, String) {
    let mut out = Vec::new();
    let all = std::iter::once("wattle").chain(args.iter().copied());
    let exit = execute(wattle_kernels::all(), all, &mut out);
    (exit, String::from_utf8(out).expect("text"))
}

fn json(args: &[&str]) -> (Exit, Value) {
    let (exit, text) = wattle(&[args, &["--json"]].concat());
    (exit, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("wattle-check-{}-{name}", std::process::id()))
}

#[test]
fn verdicts_stand_beside_each_other() {
    let (exit, text) = wattle(&["check", "publication", "--no-advice"]);
    assert_eq!(exit, Exit::Holds, "{text}");
    assert!(text.contains("publication  holds under portable, for 3 blocks × 1 thread"), "{text}");
    assert!(text.contains("portable holds · ptx holds · vulkan holds · host holds"), "{text}");
}

#[test]
fn a_variant_that_asserts_nothing_is_not_said_to_hold() {
    let (_, text) = wattle(&["check", "chained-broken-no-release", "--no-advice"]);
    assert!(text.contains("portable violated · ptx nothing asserted · "), "{text}");
    assert!(text.contains("ptx: nothing asserted; outcomes wrong=0, wrong=1, wrong=2"), "{text}");
    let (_, document) = json(&["check", "chained-broken-no-release", "--no-advice", "--target", "ptx:sm_90"]);
    assert_eq!(document["scenarios"][0]["verdicts"][0]["nothing_asserted"], true);
    let (_, text) = wattle(&["check", "chained-broken-no-release", "--no-advice", "--target", "ptx:sm_90"]);
    assert!(text.contains("nothing asserted under ptx"), "{text}");
    let (_, text) = wattle(&["check", "publication", "--no-advice", "--target", "ptx:sm_90"]);
    assert!(text.contains("ptx holds") && !text.contains("nothing asserted"), "{text}");
}

#[test]
fn what_is_wrong_is_told_with_lines_and_help() {
    let (exit, text) = wattle(&["check", "publication-broken-block-scope"]);
    assert_eq!(exit, Exit::DoesNotHold);
    for part in [
        "violated under portable, as it should be, for 3 blocks × 1 thread",
        "data race: line",
        "have block scope; their threads are in different blocks",
        "PTX ISA 8.5",
        "with this it holds (checked):",
        "widen mem_fence(Scope::Block, Order::Release) to Scope::Device",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_target_that_cannot_run_it_says_why() {
    let (exit, text) = wattle(&["check", "cumulativity", "--no-advice"]);
    assert_eq!(exit, Exit::Holds);
    assert!(text.contains("vulkan not possible") && text.contains("no system scope"), "{text}");
    let (exit, text) = wattle(&["check", "cumulativity", "--no-advice", "--target", "vulkan"]);
    assert_eq!(exit, Exit::Unanswered, "{text}");
}

#[test]
fn a_bound_or_a_limit_that_was_reached_is_no_answer() {
    let (exit, text) = wattle(&["check", "publication", "--sample", "5", "--seed", "3"]);
    assert_eq!(exit, Exit::Unanswered);
    assert!(text.contains("5 executions were sampled"), "{text}");
    let (exit, text) = wattle(&["check", "publication", "--time", "0", "--no-advice"]);
    assert_eq!(exit, Exit::Unanswered, "{text}");
    assert!(text.contains("the time limit was reached"), "{text}");
}

#[test]
fn what_is_emitted_is_read_back() {
    let (exit, text) = wattle(&["check", "publication", "--emitted"]);
    assert_eq!(exit, Exit::Holds, "{text}");
    assert!(text.contains("ptx, as emitted holds"), "{text}");
    let (exit, text) = wattle(&["check", "publication-broken-block-scope", "--emitted", "--model", "portable"]);
    assert_eq!(exit, Exit::DoesNotHold, "{text}");
    assert!(text.contains("data race on payload") && text.contains("fence.release.cta"), "{text}");
    let (exit, text) = wattle(&["check", "publication", "--emitted", "--target", "vulkan"]);
    assert_eq!(exit, Exit::Holds, "{text}");
    assert!(text.contains("vulkan, as emitted holds"), "{text}");
    let (exit, text) = wattle(&["check", "publication", "--emitted", "--target", "host"]);
    assert_eq!(exit, Exit::Unanswered, "{text}");
    assert!(text.contains("cannot judge modules, or what is emitted, as code for host"), "{text}");
}

#[test]
fn json_has_the_verdicts_the_story_and_the_advice() {
    let (exit, document) = json(&["check", "swap-broken-fence-only"]);
    assert_eq!((exit, document["exit_code"].as_u64()), (Exit::DoesNotHold, Some(1)));
    let scenario = &document["scenarios"][0];
    let verdicts: Vec<&str> =
        scenario["verdicts"].as_array().unwrap().iter().map(|verdict| verdict["target"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["portable", "ptx", "vulkan", "host"]);
    assert_eq!(scenario["verdicts"][0]["violations"][0]["kind"], "data race");
    let change = scenario["advice"]["fixes"][0]["change"].as_str().unwrap();
    assert!(change.starts_with("sync_block() instead of"), "{change}");
}

#[test]
fn names_that_mean_nothing_are_refused_with_those_that_do() {
    for (args, part) in [
        (&["check", "publicaton"][..], "publication"),
        (&["orders", "publication"], "names nothing that it observes"),
        (&["check", "no-such.litmus"], "could not be read"),
    ] {
        let (exit, document) = json(args);
        assert_eq!(exit, Exit::Unanswered, "{args:?}");
        assert!(document["error"].to_string().contains(part), "{args:?}: {document}");
    }
    for args in [&["check", "publication", "--model", "x86"][..], &["check", "publication", "--target", "ptx:sm_60"]] {
        assert_eq!(wattle(args).0, Exit::Unanswered);
    }
}

#[test]
fn an_execution_is_drawn() {
    let path = file("picture.svg");
    let (exit, _) = wattle(&["check", "publication", "--no-advice", "--svg", path.to_str().unwrap()]);
    assert_eq!(exit, Exit::Holds);
    let picture = std::fs::read_to_string(&path).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("ready.exchange"), "{picture}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_litmus_file_that_is_written_is_judged_the_same() {
    for dialect in ["ptx", "vulkan"] {
        let (exit, text) = wattle(&["check", "publication", "--emit-litmus", dialect]);
        assert_eq!(exit, Exit::Holds);
        let path = file(&format!("{dialect}.litmus"));
        std::fs::write(&path, text).unwrap();
        let (exit, text) = wattle(&["check", path.to_str().unwrap()]);
        assert_eq!(exit, Exit::Holds, "{text}");
        std::fs::remove_file(path).unwrap();
    }
}

/// The header stands first in every reader's grammar; what part of a scenario a file is, a text after it says.
#[test]
fn a_litmus_file_that_is_a_part_begins_with_its_header() {
    let (exit, text) = wattle(&["check", "stream", "--emit-litmus", "vulkan", "--part", "2"]);
    assert_eq!(exit, Exit::Holds, "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("VULKAN "), "{text}");
    assert!(lines[1].starts_with("\"written by Wattle for vulkan"), "{text}");
    assert!(lines.iter().any(|line| line.starts_with("\"part 2 of ")), "{text}");
    assert!(lines.iter().all(|line| !line.starts_with(';')), "{text}");
}

#[test]
fn a_litmus_file_is_of_the_target_that_was_asked_for() {
    let written = |target| wattle(&["check", "publication", "--target", target, "--emit-litmus", "ptx"]).1;
    let (old, new) = (written("ptx:sm_80"), written("ptx:sm_90"));
    assert!(old.contains("written by Wattle for ptx:sm_80") && new.contains("written by Wattle for ptx:sm_90"));
    assert!(old.contains("fence.acq_rel.gpu") && !old.contains("fence.acquire") && !old.contains("fence.release"));
    assert!(new.contains("fence.acquire.gpu") && new.contains("fence.release.gpu"));
}

#[test]
fn orders_are_counted_and_listed() {
    let (exit, document) = json(&["orders", "orderings", "--list"]);
    assert_eq!(exit, Exit::Holds);
    let variants = document["variants"].as_array().unwrap();
    let counts = |variant: usize| -> Vec<u64> {
        variants[variant]["orders"].as_array().unwrap().iter().map(|orders| orders["count"].as_u64().unwrap()).collect()
    };
    assert_eq!(counts(0), [6, 6, 6, 6]);
    assert_eq!(counts(3), [1, 4, 1], "A=1 B=20 is gone");
    assert_eq!(variants[0]["orders"][0]["orders"].as_array().unwrap().len(), 6);
    let (_, text) = wattle(&["orders", "orderings"]);
    assert!(text.contains("orders in all  24"), "{text}");
}

#[test]
fn a_source_file_is_answered_with_the_compiler_that_makes_a_module_of_it() {
    for (name, compiler) in
        [("sum.cu", "nvcc -ptx -lineinfo"), ("sum.cl", "llvm-spirv"), ("sum.comp", "glslangValidator")]
    {
        let (exit, document) = json(&["check", name, "--grid", "2"]);
        assert!(exit == Exit::Unanswered && document.to_string().contains(compiler), "{name}: {document}");
    }
}

#[test]
fn an_option_that_applies_to_nothing_given_is_an_error() {
    let module = [&["check", "publication"][..], &["--assert", "x == 1"]].concat();
    for args in
        [&module[..], &["check", "publication", "--grid", "2"], &["check", "publication", "--volatile-is-plain"]]
    {
        assert_eq!(wattle(args).0, Exit::Unanswered, "{args:?}");
    }
    let (exit, document) = json(&["check", "publication", "--block", "4"]);
    assert_eq!(exit, Exit::Unanswered);
    let text = document.to_string();
    assert!(text.contains("`--block` applies to a PTX or SPIR-V module, not to a scenario"), "{text}");
    for args in [&["check", "some.ptx", "--size", "4"][..], &["check", "some.litmus", "--svg", "picture.svg"]] {
        assert_eq!(wattle(args).0, Exit::Unanswered, "{args:?}");
    }
}

#[test]
fn threads_are_said_to_be_alike_only_where_some_were_taken_for_one_another() {
    for (scenario, alike) in [("publication-broken-block-scope", false), ("histogram", true)] {
        let (_, text) = wattle(&["check", scenario, "--no-advice", "--model", "portable"]);
        assert_eq!(text.contains("like threads taken for one another"), alike, "{text}");
    }
}

#[test]
fn what_a_check_asserts_is_not_said_to_hold_always_where_it_fails() {
    let (exit, document) = json(&["check", "store-buffering-broken-acq-rel", "--no-advice", "--model", "portable"]);
    assert_eq!(exit, Exit::DoesNotHold);
    assert_eq!(document["scenarios"][0]["verdicts"][0]["checks"], serde_json::json!([]), "{document}");
}

#[test]
fn a_campaign_in_which_nothing_ran_is_no_answer() {
    let campaign = ["stress", "store-buffering", "--device", "host", "--seconds", "10", "--time", "0"];
    assert_eq!(wattle(&campaign).0, Exit::Unanswered);
}
