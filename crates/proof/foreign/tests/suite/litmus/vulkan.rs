//! Vulkan litmus files as SPIR-V modules: outcomes, races and liveness are as the lists of expected answers have them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use wattle_foreign::Options;
use wattle_foreign::spirv::{self, Answer, Header, Question};
use wattle_litmus::{Dialect, Expected, Program, parse};

use super::spirv::{emit, guarded};

/// The lists, and what each asks.
const LISTS: [(&str, &str); 7] = [
    ("vulkan-outcome.csv", "assertion"),
    ("vulkan-race.csv", "race"),
    ("vulkan-liveness-fair.csv", "fairUniform"),
    ("vulkan-liveness-hsa.csv", "hsaUniform"),
    ("vulkan-liveness-obe.csv", "obeUniform"),
    ("vulkan-liveness-lobe.csv", "lobeUniform"),
    ("vulkan-liveness-hsa-obe.csv", "hsaObeUniform"),
];

/// What came of the lists of a folder.
#[derive(Default)]
struct Tally {
    /// The right answers, by what was asked.
    right: BTreeMap<&'static str, usize>,
    /// The files that no module is, each with the reason.
    beyond: BTreeSet<String>,
    wrong: Vec<String>,
}

fn program(root: &Path, path: &Path) -> Program {
    let text = std::fs::read_to_string(root.join(path)).expect("the file can be read");
    let program = parse(&path.display().to_string(), &text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(program.dialect, Dialect::Vulkan, "{}", path.display());
    program
}

fn answer(text: &str, asked: &str) -> Result<Answer, String> {
    let module = spirv::read("litmus.spvasm", text.as_bytes()).map_err(|error| error.to_string())?;
    let header = Header::read(text).map_err(|error| error.to_string())?;
    let question = match asked {
        "assertion" => Question::Assertion(header.claim.clone().ok_or("no claim")?),
        "race" => Question::Race,
        schedule => Question::Termination(schedule.parse().map_err(|error| format!("{error}"))?),
    };
    let world = spirv::launch("litmus.spvasm", &module, None, &header.setting());
    let mut world = world.map_err(|error| error.to_string())?;
    spirv::answer(&mut world, &question, &Options::default())
        .map(|(answer, _)| answer)
        .map_err(|error| error.to_string())
}

/// The module for a question about a program.
fn text(program: &Program, asked: &str) -> Result<String, &'static str> {
    if asked == "race" { emit(&guarded(program)?) } else { emit(program) }
}

/// Compares the answers about a folder's modules with its lists.
fn compare(root: &Path) -> Tally {
    let mut tally = Tally::default();
    for (list, asked) in LISTS {
        let expected = Expected::read(&root.join(list)).unwrap_or_else(|error| panic!("{error}"));
        for case in &expected.cases {
            let name = case.path.display().to_string();
            let text = match text(&program(root, &case.path), asked) {
                Ok(text) => text,
                Err(why) => {
                    tally.beyond.insert(format!("{name}: {why}"));
                    continue;
                }
            };
            match (answer(&text, asked), case.expected) {
                (Ok(Answer::Yes), true) | (Ok(Answer::No(_)), false) => *tally.right.entry(asked).or_default() += 1,
                (found, expected) => {
                    tally.wrong.push(format!("{name}, {asked}: {found:?}, expected {expected}\n{text}"));
                }
            }
        }
    }
    assert!(
        tally.wrong.is_empty(),
        "{} are wrong:\n{}\nthe first: {}",
        tally.wrong.len(),
        tally.wrong.iter().map(|wrong| wrong.lines().next().unwrap_or_default()).collect::<Vec<_>>().join("\n"),
        tally.wrong[0]
    );
    tally
}

/// What no module is, of the public files: the folder and the names of the files, and why.
const BEYOND: [(&str, &[&str], &str); 7] = [
    (
        "Barrier",
        &["quorum1-fail", "quorum1-hang", "quorum2-hang", "quorum3-fail", "quorum3-pass", "quorum4-fail"],
        "a barrier of some threads, or with a number that is computed",
    ),
    ("Data-Race", &["cbarinst-filter"], "a filter that no thread can look at by itself"),
    (
        "Data-Race",
        &["ssw0-filter", "ssw2-filter", "ssw4-filter", "ssw6-filter", "ssw7-filter", "ssw8-filter"],
        "threads that the system orders",
    ),
    ("Kronos-Group", &["ssw0", "ssw1", "ssw2", "ssw3", "ssw4", "ssw5"], "threads that the system orders"),
    ("Kronos-Group", &["qfmpfail", "qfmpscopedev"], "threads of several queue families"),
    ("Kronos-Group", &["test11", "../Data-Race/mp3acqrel-filter"], "a location in two storage classes"),
    ("Kronos-Group", &["test6", "../Data-Race/test7-filter"], "a barrier that not all threads of its scope come to"),
];

#[test]
fn our_own_vulkan_files_as_modules() {
    let tally = compare(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../litmus/litmus"));
    println!("{:?}", tally.right);
    assert_eq!(tally.beyond, BTreeSet::from(["vulkan/two-names.litmus: threads that the system orders".to_owned()]));
    assert!(tally.right.values().sum::<usize>() >= 29, "{:?}", tally.right);
}

#[test]
fn public_vulkan_files_as_modules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/litmus");
    if !root.is_dir() {
        return test_skips::skipped(format!("{} is not there", root.display()));
    }
    let tally = compare(&root);
    println!("{:?}", tally.right);
    let named = BEYOND.iter().flat_map(|(folder, names, why)| {
        names.iter().map(move |name| match name.strip_prefix("../") {
            Some(elsewhere) => format!("VULKAN/{elsewhere}.litmus: {why}"),
            None => format!("VULKAN/{folder}/{name}.litmus: {why}"),
        })
    });
    assert_eq!(tally.beyond, named.collect::<BTreeSet<_>>());
    assert!(tally.right.values().sum::<usize>() >= 905, "{:?}", tally.right);
}

/// A thread that gives a word, and one that takes it: what stands between the accesses, their flags, the placement of the
/// second thread, and whether there is no race.
const PUBLICATIONS: [(&str, &str, &str, &str, &str, bool); 9] = [
    // Fences around relaxed atomics.
    (".nonpriv.sc0", "membar.rel.dv.semsc0.semav", "membar.acq.dv.semsc0.semvis", ".nonpriv.sc0", "sg 0,wg 1", true),
    (".nonpriv.sc0", "membar.rel.dv.semsc0", "membar.acq.dv.semsc0.semvis", ".nonpriv.sc0", "sg 0,wg 1", false),
    (".nonpriv.sc0", "membar.rel.dv.semsc0.semav", "membar.acq.dv.semsc0", ".nonpriv.sc0", "sg 0,wg 1", false),
    // Operations of the accesses' own, and of too narrow a scope.
    (".av.dv.sc0", "membar.rel.dv.semsc0", "membar.acq.dv.semsc0", ".vis.dv.sc0", "sg 0,wg 1", true),
    (".av.wg.sc0", "membar.rel.dv.semsc0", "membar.acq.dv.semsc0", ".vis.dv.sc0", "sg 0,wg 1", false),
    // Private accesses take no part.
    (".sc0", "membar.rel.dv.semsc0.semav", "membar.acq.dv.semsc0.semvis", ".nonpriv.sc0", "sg 0,wg 1", false),
    // A scope that does not reach the other workgroup, and one that does not have to.
    (".nonpriv.sc0", "membar.rel.wg.semsc0.semav", "membar.acq.wg.semsc0.semvis", ".nonpriv.sc0", "sg 0,wg 1", false),
    (".nonpriv.sc0", "membar.rel.wg.semsc0.semav", "membar.acq.wg.semsc0.semvis", ".nonpriv.sc0", "sg 1,wg 0", true),
    // Semantics about another storage class.
    (".nonpriv.sc0", "membar.rel.dv.semsc1.semav", "membar.acq.dv.semsc1.semvis", ".nonpriv.sc0", "sg 0,wg 1", false),
];

#[test]
fn fences_flags_and_scopes_as_modules() {
    for (store, release, acquire, load, place, race_free) in PUBLICATIONS {
        let file = format!(
            "Vulkan publication\n{{\nx=0; f=0;\n}}\n P0@sg 0,wg 0,qf 0 | P1@{place},qf 0 ;\n st{store} x, 7 | \
             ld.atom.dv.sc0 r0, f ;\n {release} | {acquire} ;\n st.atom.dv.sc0 f, 1 | ld{load} r1, x ;\n\
             filter\n(P1:r0 == 1)\nforall\n(P1:r1 == 7)\n"
        );
        let program = parse("publication.litmus", &file).unwrap_or_else(|error| panic!("{error}\n{file}"));
        let text = text(&program, "race").unwrap_or_else(|why| panic!("{why}\n{file}"));
        let found = answer(&text, "race").unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert!(!matches!(found, Answer::Unknown(_)), "{found:?}\n{text}");
        assert_eq!(found == Answer::Yes, race_free, "{found:?}\n{file}\n{text}");
    }
}

/// What is written is valid SPIR-V, where the validator of the SPIR-V tools is there.
#[test]
fn modules_of_litmus_files_are_valid() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/litmus");
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../litmus/litmus");
    let is_there = |tool: &str| Command::new(tool).arg("--version").stdout(Stdio::null()).status().is_ok();
    if !is_there("spirv-as") || !is_there("spirv-val") {
        return test_skips::skipped("the SPIR-V tools are not there");
    }
    let directory = std::env::temp_dir().join(format!("wattle-litmus-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory can be made");
    let (source, binary) = (directory.join("litmus.spvasm"), directory.join("litmus.spv"));
    let mut seen = BTreeSet::new();
    for root in [own, shared].iter().filter(|root| root.is_dir()) {
        for (list, _) in LISTS {
            let expected = Expected::read(&root.join(list)).unwrap_or_else(|error| panic!("{error}"));
            for case in expected.cases {
                let path = root.join(&case.path);
                let Ok(text) = emit(&program(root, &case.path)) else { continue };
                // A third class that workgroups share has atomic operations in the model alone.
                if text.contains("Variable %Outputint") || !seen.insert(path.clone()) {
                    continue;
                }
                std::fs::write(&source, &text).expect("a file can be written");
                let run = |tool: &str, arguments: &[&std::ffi::OsStr]| {
                    let output = Command::new(tool).args(arguments).output().expect("the tool runs");
                    let said = String::from_utf8_lossy(&output.stderr).into_owned();
                    assert!(output.status.success(), "{}: {said}\n{text}", path.display());
                };
                run(
                    "spirv-as",
                    &["--target-env".as_ref(), "spv1.5".as_ref(), "-o".as_ref(), binary.as_ref(), source.as_ref()],
                );
                run("spirv-val", &["--target-env".as_ref(), "spv1.5".as_ref(), binary.as_ref()]);
            }
        }
    }
    std::fs::remove_dir_all(&directory).expect("the directory can be removed");
    println!("{} modules", seen.len());
    assert!(seen.len() >= 13, "{} modules", seen.len());
}
