//! Litmus files as modules: the kernel that a file is, of PTX or of SPIR-V, gets the file's verdict, about outcomes and races, and of
//! Vulkan about liveness too. The files are the project's own, and the public ones beside the checkout, where they are.

mod ptx;
mod spirv;
mod vulkan;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use wattle_foreign::{Condition, Options, Verdict, Violation, World, judge};
use wattle_litmus::{Answer, Comparison, Dialect, Program, Quantifier, Question, parse};
use wattle_memory::Model;

/// How modules' conditions write a comparison.
fn comparison_sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "==",
        Comparison::NotEqual => "!=",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}

/// The comparison that holds where this one does not.
fn opposite(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Equal => Comparison::NotEqual,
        Comparison::NotEqual => Comparison::Equal,
        Comparison::Less => Comparison::GreaterOrEqual,
        Comparison::LessOrEqual => Comparison::Greater,
        Comparison::Greater => Comparison::LessOrEqual,
        Comparison::GreaterOrEqual => Comparison::Less,
    }
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "litmus") {
            found.push(path);
        }
    }
}

/// The verdicts of a module beside those of its litmus program.
#[derive(Default)]
struct Tally {
    outcomes: usize,
    races: usize,
    /// The files that no module is, or whose module does not end, each with the reason.
    beyond: BTreeSet<String>,
    wrong: Vec<String>,
}

impl Tally {
    fn compare(&mut self, name: &str, program: &Program) {
        let emitted = match ptx::emit(program) {
            Ok(emitted) => emitted,
            Err(why) => {
                self.beyond.insert(format!("{name}: {why}"));
                return;
            }
        };
        let text = emitted.source.text.clone();
        let own = wattle_litmus::World::new(program.clone());
        let answer = |question| wattle_litmus::judge(&own, Model::Ptx, question, &Default::default());
        let of = |asserted: Option<&str>, forbids_races: bool| {
            let source = wattle_foreign::Source { file: "litmus.ptx".into(), text: text.clone() };
            let mut world = World::new(source, None, emitted.launch.clone()).map_err(|error| error.to_string())?;
            let condition =
                asserted.map(|text| Condition::parse(text, world.ranges()).map_err(|error| error.to_string()));
            let condition = condition.transpose()?;
            let options = Options { forbids_races, ..Options::default() };
            judge(&mut world, condition.as_slice(), &options).map_err(|error| error.to_string())
        };
        if let (Some(asserted), Some(claim)) = (&emitted.asserted, &program.claim) {
            let found = of(Some(asserted), false).map(|report| report.verdict);
            let expected = answer(Question::Outcome).map(|verdict| verdict.answer);
            let claimed = match &found {
                Ok(Verdict::Holds) => Some(claim.quantifier != Quantifier::Exists),
                Ok(Verdict::Violated(Violation::Assertion { .. }, _)) => Some(claim.quantifier == Quantifier::Exists),
                _ => None,
            };
            match (claimed, expected) {
                (Some(claimed), Ok(Answer::Yes)) if claimed => self.outcomes += 1,
                (Some(claimed), Ok(Answer::No)) if !claimed => self.outcomes += 1,
                // Threads that wait for ever have no end to be claimed of.
                (None, _) if matches!(&found, Ok(Verdict::Violated(Violation::Stuck(_), _))) => {
                    self.beyond.insert(format!("{name}: threads that can wait for ever"));
                }
                (_, expected) => {
                    self.wrong.push(format!("{name}: {found:?} instead of {expected:?}\n{asserted}\n{text}"))
                }
            }
        }
        let found = of(None, true).map(|report| report.verdict);
        match (&found, answer(Question::Race).map(|verdict| verdict.answer)) {
            (Ok(Verdict::Holds), Ok(Answer::Yes)) => self.races += 1,
            (Ok(Verdict::Violated(Violation::Race { .. }, _)), Ok(Answer::No)) => self.races += 1,
            (Ok(Verdict::Violated(Violation::Stuck(_), _)), _) => {
                self.beyond.insert(format!("{name}: threads that can wait for ever"));
            }
            (_, expected) => self.wrong.push(format!("{name}, races: {found:?} instead of {expected:?}\n{text}")),
        }
    }
}

/// Compares the PTX files of a folder.
fn compare(root: &Path) -> Tally {
    let (mut found, mut tally) = (Vec::new(), Tally::default());
    files(root, &mut found);
    for path in found {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        let program = parse(&name, &text).unwrap_or_else(|error| panic!("{error}"));
        if program.dialect == Dialect::Ptx {
            tally.compare(&name, &program);
        }
    }
    println!("{} outcomes, {} races, beyond:\n{:#?}", tally.outcomes, tally.races, tally.beyond);
    assert!(tally.wrong.is_empty(), "{} are wrong, the first: {}", tally.wrong.len(), tally.wrong[0]);
    tally
}

#[test]
fn our_own_ptx_files_as_modules() {
    let tally = compare(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../litmus/litmus"));
    assert!(tally.outcomes > 15 && tally.races > 15, "{} outcomes, {} races", tally.outcomes, tally.races);
}

#[test]
fn public_ptx_files_as_modules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/litmus");
    if !root.is_dir() {
        return test_skips::skipped(format!("{} is not there", root.display()));
    }
    let tally = compare(&root);
    assert!(tally.outcomes >= 67 && tally.races >= 68, "{} outcomes, {} races", tally.outcomes, tally.races);
    let named = BEYOND.iter().flat_map(|(folder, names, why)| {
        names.split(' ').map(move |name| format!("PTX/{folder}/{name}.litmus: {why}"))
    });
    assert_eq!(tally.beyond, named.collect::<BTreeSet<_>>());
}

/// What no module is, of the public files, and what has no end of which something is claimed: threads that come to a barrier too
/// many pass it in the files, and wait for its next opening in PTX.
const BEYOND: [(&str, &str, &str); 4] = [
    ("Barrier", "quorum1-hang quorum1-pass quorum2-hang quorum2-pass quorum4-fail", "threads that can wait for ever"),
    ("Manual", "CoRR-relaxed-acquire-weak CoRR-weak-weak", "threads of several devices"),
    ("Manual", "SB+named-bar-sta-reg-const", "a barrier that not all threads of a block have"),
    (
        "Manual",
        "SB+bar-const-diff SB+named-bar-reg-diff SB+twice-bars-diff barrier-logical-id-exists",
        "threads that can wait for ever",
    ),
];
