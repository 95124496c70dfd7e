//! Weaker programs do all that stronger ones do, and every model allows what interleavings do.

use std::collections::BTreeSet;

use crate::brute::random::{Case, Random, case, for_vulkan, labels, show, with_equal_arms};
use crate::script::{Op, run_placed};
use wattle_memory::{Label, Level, Model};

type Outcomes = BTreeSet<Vec<Vec<u64>>>;

fn outcomes(case: &Case, model: Model) -> (Outcomes, bool) {
    let (found, _) = run_placed(&case.program, case.places.clone(), model);
    (found.outcomes.into_iter().collect(), found.races > 0)
}

/// The number of programs: `WATTLE_TEST_MANY`, if it is set.
fn many(usual: u64) -> u64 {
    std::env::var("WATTLE_TEST_MANY").ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

#[test]
fn interleavings_are_executions_of_every_model() {
    let mut random = Random(11);
    let (mut executions, mut racy) = (0, 0);
    let programs = many(10_000);
    for number in 0..programs {
        let case = case(&mut random, 8);
        let (sc, _) = outcomes(&case, Model::Sc);
        executions += sc.len();
        for model in [Model::Ptx, Model::Unordered, Model::Portable, Model::Rust, Model::Vulkan] {
            // Vulkan has neither a second device nor the system scope; interleavings ignore both.
            let (found, race) = match model {
                Model::Vulkan => outcomes(&for_vulkan(&case), model),
                _ => outcomes(&case, model),
            };
            let excused = race && matches!(model, Model::Portable | Model::Rust | Model::Vulkan);
            racy += usize::from(race && model == Model::Portable);
            // The axioms allow them in racy programs too, where nothing is promised.
            assert!(sc.is_subset(&found), "program {number}, {model}, excused {excused}\n{}", show(&case));
        }
    }
    println!("{programs} programs, {executions} outcomes of interleavings, {racy} programs with a data race");
}

/// Strengthens one label; `None` if it is as strong as possible.
fn stronger(random: &mut Random, label: &Label) -> Option<Label> {
    use wattle_memory::Kind;
    let change = match random.below(5) {
        0 if label.kind != Kind::Write && (label.atomic || label.kind == Kind::Fence) => label.acquiring(),
        1 if label.kind != Kind::Read && (label.atomic || label.kind == Kind::Fence) => label.releasing(),
        2 if label.kind == Kind::Fence => label.sequentially_consistent(),
        3 if label.level != Level::Thread => Label { level: Level::System, ..*label },
        4 if label.level == Level::Block => Label { level: Level::Device, ..*label },
        _ => return None,
    };
    (change != *label).then_some(change)
}

/// The program with one more fence, or with one label strengthened.
fn strengthened(random: &mut Random, case: &Case) -> Case {
    let mut case = case.clone();
    loop {
        let thread = random.below(case.program.len() as u64) as usize;
        let ops = &mut case.program[thread];
        if random.one_in(2) {
            let level = random.pick(&[Level::Block, Level::Device, Level::System]);
            let label = Label::fence(level);
            let label = match random.below(4) {
                0 => label.acquiring(),
                1 => label.releasing(),
                2 => label.acquiring().releasing(),
                _ => label.sequentially_consistent(),
            };
            let mut at = random.below(ops.len() as u64 + 1) as usize;
            while matches!(ops.get(at), Some(Op::Require { .. })) {
                at += 1;
            }
            // A branch that skips statements must still skip these.
            let skips = |&(number, op): &(usize, &Op)| match op {
                Op::SkipUnless { count, .. } => (number + 1..=number + count).contains(&at),
                _ => false,
            };
            let at = ops.iter().enumerate().find(skips).map_or(at, |(number, _)| number);
            ops.insert(at, Op::Fence { label });
            return case;
        }
        if ops.is_empty() {
            continue;
        }
        let at = random.below(ops.len() as u64) as usize;
        let mut halves = labels(&mut ops[at]);
        if halves.is_empty() {
            continue;
        }
        let half = random.below(halves.len() as u64) as usize;
        if let Some(label) = stronger(random, halves[half]) {
            *halves[half] = label;
            // The halves of an update have one scope.
            halves.iter_mut().for_each(|half| half.level = label.level);
            return case;
        }
    }
}

/// Whether the weaker program does everything that the stronger one does, and races if that one does.
fn keeps(weak: &Case, strong: &Case, model: Model) -> bool {
    let (weak, strong) = match model {
        Model::Vulkan => (&for_vulkan(weak), &for_vulkan(strong)),
        _ => (weak, strong),
    };
    let ((more, weak_races), (less, strong_races)) = (outcomes(weak, model), outcomes(strong, model));
    less.is_subset(&more) && (weak_races || !strong_races)
}

/// Of a branch whose ways are not equal, a stronger order or a wider scope may make them equal; then what both do waits for the
/// branch no more, and there are more outcomes.
///
/// The axioms are monotone, so this holds of racy programs too; of those nothing is promised, so a kernel author
/// learns no more from it than that a fence cannot make the checker's list of outcomes longer. What matters of races is
/// that none comes by a stronger order.
#[test]
fn a_fence_a_stronger_order_or_a_wider_scope_adds_no_outcome_and_no_race() {
    let mut random = Random(12);
    let programs = many(10_000);
    let mut wrong = Vec::new();
    for number in 0..programs {
        let weak = with_equal_arms(&mut random, 7);
        let strong = strengthened(&mut random, &weak);
        for model in [Model::Portable, Model::Ptx, Model::Rust, Model::Unordered, Model::Vulkan] {
            if !keeps(&weak, &strong, model) {
                let (weak_outcomes, strong_outcomes) = match model {
                    Model::Vulkan => (outcomes(&for_vulkan(&weak), model), outcomes(&for_vulkan(&strong), model)),
                    _ => (outcomes(&weak, model), outcomes(&strong, model)),
                };
                let new: Vec<_> = strong_outcomes.0.difference(&weak_outcomes.0).take(2).collect();
                wrong.push(format!(
                    "program {number}, {model}: races {} then {}, new {new:?}\n{}stronger:\n{}",
                    weak_outcomes.1,
                    strong_outcomes.1,
                    show(&weak),
                    show(&strong)
                ));
            }
        }
        if wrong.len() > 5 {
            break;
        }
    }
    println!("{programs} pairs of programs under five models");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
