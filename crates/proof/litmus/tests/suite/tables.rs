//! Files judged against tables of expected answers: this crate's own, and the public ones beside this repository if
//! present.

use std::path::{Path, PathBuf};

use wattle_litmus::{Answer, Expected, Options, Progress, Question, Summary, run_folder};
use wattle_memory::Model;

const TABLES: [(&str, Model, Question); 9] = [
    ("ptx-outcome", Model::Ptx, Question::Outcome),
    ("ptx-liveness", Model::Ptx, Question::Liveness(Progress::Fair)),
    ("vulkan-outcome", Model::Vulkan, Question::Outcome),
    ("vulkan-race", Model::Vulkan, Question::Race),
    ("vulkan-liveness-fair", Model::Vulkan, Question::Liveness(Progress::Fair)),
    ("vulkan-liveness-hsa", Model::Vulkan, Question::Liveness(Progress::Hsa)),
    ("vulkan-liveness-obe", Model::Vulkan, Question::Liveness(Progress::Obe)),
    ("vulkan-liveness-lobe", Model::Vulkan, Question::Liveness(Progress::Lobe)),
    ("vulkan-liveness-hsa-obe", Model::Vulkan, Question::Liveness(Progress::HsaObe)),
];

fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("litmus")
}

fn judge(root: &Path, model: Model, question: Question, expected: &Expected) -> Summary {
    let mut seen = 0;
    let summary = run_folder(root, model, question, expected, &Options::default(), &mut |_| seen += 1);
    assert_eq!(seen, expected.cases.len());
    summary
}

/// Tables of this crate alone. The models of Wattle's own programs are asked what PTX's is.
const OWN_TABLES: [(&str, Model, Question); 2] =
    [("ptx-race", Model::Ptx, Question::Race), ("ptx-race", Model::Portable, Question::Race)];

fn all_right(root: &Path, tables: &[(&str, Model, Question)]) {
    for &(table, model, question) in tables {
        let expected = Expected::read(&root.join(format!("{table}.csv"))).unwrap_or_else(|error| panic!("{error}"));
        let summary = judge(root, model, question, &expected);
        println!("{table}: {summary}");
        let wrong: Vec<String> = summary.wrong().map(ToString::to_string).collect();
        assert!(wrong.is_empty(), "{table}:\n{}", wrong.join("\n"));
        assert_eq!(
            summary.cases.iter().map(|judged| &judged.case).collect::<Vec<_>>(),
            expected.cases.iter().collect::<Vec<_>>()
        );
    }
}

#[test]
fn this_crates_files() {
    all_right(&own(), &TABLES);
    all_right(&own(), &OWN_TABLES);
}

#[test]
fn the_public_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/litmus");
    if root.is_dir() {
        all_right(&root, &TABLES)
    } else {
        test_skips::skipped(format!("{} is not there", root.display()))
    }
}

#[test]
fn what_is_wrong_is_told() {
    let table = "path,expected\nptx/mailbox.litmus,0\nptx/absent.litmus,1\nptx-outcome.csv,1\nptx/mailbox.litmus,1\n";
    let expected = Expected::parse("t.csv", table).unwrap();
    let summary = judge(&own(), Model::Ptx, Question::Outcome, &expected);
    assert_eq!(summary.to_string(), "1 passed, 3 failed");
    let wrong: Vec<String> = summary.wrong().map(ToString::to_string).collect();
    assert_eq!(wrong[0], "ptx/mailbox.litmus: 1, expected 0");
    assert!(wrong[1].starts_with("ptx/absent.litmus: "), "{}", wrong[1]);
    assert!(wrong[2].starts_with("ptx-outcome.csv:1:1: found `path,expected`, expected "), "{}", wrong[2]);
}

#[test]
fn whoever_asks_to_stop_is_heard() {
    let expected = Expected::read(&own().join("ptx-outcome.csv")).unwrap();
    let mut options = Options::default();
    options.limits.cancelled = Some(std::sync::Arc::new(true.into()));
    let summary = run_folder(&own(), Model::Ptx, Question::Outcome, &expected, &options, &mut |_| {});
    assert_eq!((summary.cases.len(), summary.left), (0, expected.cases.len()));
    assert_eq!(summary.to_string(), format!("0 passed, {} failed", expected.cases.len()));
}

#[test]
fn a_verdict_shows_why() {
    let program = |text: &str| wattle_litmus::World::new(wattle_litmus::parse("t.litmus", text).unwrap());
    let ask = |text: &str, model, question, options: &Options| {
        let world = program(text);
        let verdict = wattle_litmus::judge(&world, model, question, options).unwrap();
        let lines = verdict.evidence.as_ref().map(|evidence| evidence.lines(world.program()));
        (verdict.answer, lines.unwrap_or_default(), verdict.statistics.complete)
    };
    let store_buffering = "PTX sb\n{x=0; y=0;}\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\nst.weak x, 1 | st.weak y, 1 ;\n\
                           ld.weak r0, y | ld.weak r0, x ;\nexists (P0:r0 == 0 /\\ P1:r0 == 0)";
    let all = Options { count_all: true, ..Options::default() };
    let (answer, lines, complete) = ask(store_buffering, Model::Ptx, Question::Outcome, &all);
    assert_eq!((answer, lines, complete), (Answer::Yes, vec!["P0:r0 = 0, P1:r0 = 0".to_owned()], 4));
    let (answer, lines, _) = ask(store_buffering, Model::Sc, Question::Outcome, &all);
    assert_eq!((answer, lines), (Answer::No, vec![]));
    let (answer, lines, _) = ask(store_buffering, Model::Portable, Question::Race, &Options::default());
    assert_eq!(
        (answer, lines),
        (Answer::No, vec!["line 4, P0: st.weak x, 1".into(), "line 5, P1: ld.weak r0, x".into()])
    );

    // It counts for ever, and whether it ends with 100 is beyond the bound.
    let counts = "PTX count\n{x=0;}\nP0@cta 0,gpu 0 ;\nLC00: ;\natom.relaxed.gpu.add r0, x, 1 ;\nbne r0, 100, LC00 ;\n\
                  exists (x == 101)";
    let (answer, _, _) = ask(counts, Model::Ptx, Question::Outcome, &Options::default());
    assert!(matches!(answer, Answer::Unknown(_)), "{answer:?}");
    let (answer, _, _) = ask(counts, Model::Ptx, Question::Outcome, &Options { loop_bound: 101, ..all });
    assert_eq!(answer, Answer::Yes);

    // A loop of nothing ends no execution.
    for head in ["LC00: ;\ngoto LC00 ;", "mov r0, 0 ;\nLC00: ;\nbeq r0, 0, LC00 ;"] {
        let nothing = format!("PTX nothing\n{{x=0;}}\nP0@cta 0,gpu 0 ;\n{head}\nexists (x == 0)");
        let (answer, _, complete) = ask(&nothing, Model::Ptx, Question::Outcome, &Options::default());
        assert_eq!((answer, complete), (Answer::No, 0));
    }

    // Two locations: each thread waits for a value that the other writes only after its own wait.
    let waits = "PTX waits\n{x=0; y=0;}\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\nLC00: | LC10: ;\n\
                 ld.relaxed.gpu r0, y | ld.relaxed.gpu r0, x ;\nbne r0, 1, LC00 | bne r0, 1, LC10 ;\n\
                 st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;\nexists (0 == 0)";
    let (answer, lines, _) = ask(waits, Model::Ptx, Question::Liveness(Progress::Fair), &Options::default());
    assert_eq!((answer, lines), (Answer::No, vec!["P0, P1 go round for ever".to_owned()]));
    // Only weak memory keeps both threads from ever being released.
    let dekker = "PTX dekker\n{x=0; y=0; z=0;}\nP0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n\
                  st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;\nld.relaxed.gpu r0, y | ld.relaxed.gpu r0, x ;\n\
                  bne r0, 1, LC01 | bne r0, 1, LC11 ;\nst.relaxed.gpu z, 1 | st.relaxed.gpu z, 1 ;\n\
                  LC01: | LC11: ;\nld.relaxed.gpu r1, z | ld.relaxed.gpu r1, z ;\n\
                  bne r1, 1, LC01 | bne r1, 1, LC11 ;\nexists (0 == 0)";
    let (answer, lines, _) = ask(dekker, Model::Ptx, Question::Liveness(Progress::Fair), &Options::default());
    assert_eq!((answer, lines), (Answer::No, vec!["P0, P1 wait for ever".to_owned()]));
    let (answer, _, _) = ask(dekker, Model::Sc, Question::Liveness(Progress::Fair), &Options::default());
    assert_eq!(answer, Answer::Yes);
}
