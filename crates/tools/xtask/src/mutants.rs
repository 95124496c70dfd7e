//! `mutants`: what the models, the lowering table, the clocks and the orderings say is changed in one place at a time,
//! and the crate's own tests have to notice.
//!
//! `cargo install cargo-mutants --locked` installs the tool. Changes that mean the same are in [`LIST`], each with the
//! reason; a change that survives and is not listed there is an error.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The survivors that are known to mean the same.
const LIST: &str = "crates/tools/xtask/survivors.txt";

/// The least share of changes that tests have to notice, in percent.
const LEAST: usize = 95;

/// A crate, its files that are changed, and which of its tests are run: arguments of `cargo test`.
struct Group {
    package: &'static str,
    files: &'static [&'static str],
    tests: &'static [&'static str],
}

/// The tests of a code generator's orderings.
const ORDERINGS: &[&str] = &["--test", "suite", "--", "orderings::", "fences::", "atomics::"];

const GROUPS: [Group; 5] = [
    Group {
        package: "wattle-memory",
        files: &[
            "crates/proof/memory/src/models/*.rs",
            "crates/proof/memory/src/lowering.rs",
            "crates/proof/memory/src/target.rs",
        ],
        tests: &["--lib", "--tests"],
    },
    Group {
        package: "wattle-core",
        files: &["crates/core/src/clock/moment.rs", "crates/core/src/clock/uses.rs"],
        tests: &["--lib"],
    },
    Group { package: "wattle-check", files: &["crates/proof/check/src/simulate/clock.rs"], tests: &["--lib"] },
    Group { package: "wattle-ptx", files: &["crates/backends/ptx/src/ordering.rs"], tests: ORDERINGS },
    Group { package: "wattle-spirv", files: &["crates/backends/spirv/src/ordering.rs"], tests: ORDERINGS },
];

/// The arguments of the command.
pub struct Wanted<'a> {
    /// The part of all changes to try, as `0/4`.
    pub shard: Option<&'a str>,
    /// The one crate to change, or `None` for all.
    pub only: Option<&'a str>,
}

/// The number of changes that tests noticed, and the survivors.
#[derive(Default)]
struct Outcome {
    caught: usize,
    survivors: Vec<String>,
}

pub fn run(wanted: &Wanted<'_>) -> ExitCode {
    match judge(wanted) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn judge(wanted: &Wanted<'_>) -> io::Result<bool> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let listed = listed(&fs::read_to_string(root.join(LIST))?);
    let groups: Vec<&Group> =
        GROUPS.iter().filter(|group| wanted.only.is_none_or(|only| only == group.package)).collect();
    if groups.is_empty() {
        let names = GROUPS.map(|group| group.package).join(", ");
        return Err(io::Error::other(format!("--only takes one of {names}")));
    }
    let (mut caught, mut survivors) = (0, Vec::new());
    for group in &groups {
        let outcome = mutate(&root, group, wanted.shard)?;
        println!("{}: {} caught, {} survived", group.package, outcome.caught, outcome.survivors.len());
        if wanted.shard.is_none() && outcome.caught + outcome.survivors.len() == 0 {
            return Err(io::Error::other(format!("no change of {} was tried", group.package)));
        }
        caught += outcome.caught;
        survivors.extend(outcome.survivors);
    }
    let Some(share) = (100 * caught).checked_div(caught + survivors.len()) else {
        return Err(io::Error::other("no change was tried: there are none in these files, or in this part of them"));
    };
    println!("{caught} caught, {} survived: {share} % caught", survivors.len());
    let unknown: Vec<&String> = survivors.iter().filter(|survivor| !listed.contains(survivor)).collect();
    for survivor in &unknown {
        println!("\nsurvived, and is not in {LIST}:\n{survivor}");
    }
    // A part does not say which of the others would survive.
    let folders = || groups.iter().flat_map(|group| group.files).filter_map(|file| file.split_once("/src/"));
    let changed = |listed: &&String| folders().any(|(folder, _)| listed.starts_with(&format!("{folder}/")));
    let stale: Vec<&String> = match wanted.shard {
        Some(_) => Vec::new(),
        None => listed.iter().filter(changed).filter(|listed| !survivors.contains(listed)).collect(),
    };
    for listed in &stale {
        println!("\nis in {LIST}, and did not survive or is not there any more:\n{listed}");
    }
    Ok(unknown.is_empty() && stale.is_empty() && share >= LEAST)
}

/// Runs cargo-mutants over one crate.
fn mutate(root: &Path, group: &Group, shard: Option<&str>) -> io::Result<Outcome> {
    let output: PathBuf = root.join("target/mutants").join(group.package);
    fs::create_dir_all(&output)?;
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // The tests are run on the unchanged crate first: where they fail, or are not there, every change would count as
    // caught.
    command.current_dir(root).args(["mutants", "--package", group.package, "--timeout=60"]);
    command.arg("--output").arg(&output);
    for file in group.files {
        command.args(["--file", file]);
    }
    if let Some(shard) = shard {
        command.args(["--shard", shard]);
    }
    command.arg("--").args(group.tests);
    // Each change is a build of its own, which debug information would make slower.
    command.env("CARGO_INCREMENTAL", "1").env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_PROFILE_TEST_DEBUG", "0");
    let status = command.status()?;
    // 2 and 3 say that changes survived or took too long; both are in files.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        let help = "is it installed? cargo install cargo-mutants --locked";
        return Err(io::Error::other(format!("cargo mutants ended with {status}; {help}")));
    }
    let lines = |file: &str| -> io::Result<Vec<String>> {
        let text = fs::read_to_string(output.join("mutants.out").join(file))?;
        Ok(text.lines().map(str::to_owned).collect())
    };
    // A change with which the tests do not end is noticed.
    let caught = lines("caught.txt")?.len() + lines("timeout.txt")?.len();
    let survivors = lines("missed.txt")?.iter().map(|line| described(root, line)).collect::<io::Result<_>>()?;
    Ok(Outcome { caught, survivors })
}

/// Describes a survivor without line numbers: `path: change`, then the source line with `‸` at the place of the change.
fn described(root: &Path, line: &str) -> io::Result<String> {
    let wrong = || io::Error::other(format!("cargo mutants wrote `{line}`, which is not `path:line:column: change`"));
    let mut parts = line.splitn(4, ':');
    let mut part = || parts.next().ok_or_else(wrong);
    let (path, row, column, change) = (part()?, part()?, part()?, part()?.trim());
    let row: usize = row.parse().map_err(|_| wrong())?;
    let column: usize = column.trim().parse().map_err(|_| wrong())?;
    let text = fs::read_to_string(root.join(path))?;
    let source = text.lines().nth(row.saturating_sub(1)).ok_or_else(wrong)?;
    let (before, after): (Vec<_>, Vec<_>) = source.chars().enumerate().partition(|(at, _)| at + 1 < column);
    let text = |part: Vec<(usize, char)>| part.into_iter().map(|(_, c)| c).collect::<String>();
    Ok(format!("{path}: {change}\n{}", format!("{}‸{}", text(before), text(after)).trim()))
}

/// The survivors of the list: two lines each, and the reason after them, up to an empty line.
fn listed(text: &str) -> Vec<String> {
    let blocks = text.split("\n\n").map(|block| block.trim_start_matches('\n').lines());
    let entry = |mut lines: std::str::Lines<'_>| {
        let (change, place) = (lines.next()?, lines.next()?);
        lines.next().map(|_reason| format!("{change}\n{}", place.trim()))
    };
    blocks.filter_map(entry).filter(|entry| entry.starts_with("crates/")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change counts as caught where the tests do not build.
    #[test]
    fn the_tests_of_each_group_are_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        for group in &GROUPS {
            let folder = |file: &&str| root.join(file.split("/src/").next().unwrap_or_default());
            let folder = group.files.first().map(folder).expect("a group changes some file");
            assert!(
                group.files.iter().all(|file| file.contains('*') || root.join(file).is_file()),
                "{}",
                group.package
            );
            let named = group.tests.iter().skip_while(|argument| **argument != "--test").nth(1);
            let Some(name) = named else { continue };
            assert!(folder.join("tests").join(name).join("main.rs").is_file(), "{}: no tests `{name}`", group.package);
            let modules: Vec<&str> = group.tests.iter().filter_map(|argument| argument.strip_suffix("::")).collect();
            let is_there = |module: &&str| folder.join(format!("tests/{name}/{module}.rs")).is_file();
            assert!(modules.iter().any(is_there), "{}: none of {modules:?}", group.package);
        }
    }

    /// A line that has changed since is found here, and not only when all changes are tried.
    #[test]
    fn every_survivor_of_the_list_is_a_line_of_its_file() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let listed = listed(&fs::read_to_string(root.join(LIST)).expect("the list"));
        assert!(!listed.is_empty());
        for entry in listed {
            let (change, line) = entry.split_once('\n').expect("two lines");
            let (path, _) = change.split_once(": ").expect("a file and a change");
            let text = fs::read_to_string(root.join(path)).expect("a file of this repository");
            let wanted = line.replace('‸', "");
            assert!(wanted.len() < line.len(), "{entry}: no place is marked");
            assert!(text.lines().any(|line| line.trim() == wanted), "{entry}: {path} has no such line");
        }
    }

    #[test]
    fn survivors_are_named_by_their_line() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let first = fs::read_to_string(root.join("src/mutants.rs")).expect("this file");
        let expected =
            format!("src/mutants.rs: replace x with y in f\n//! ‸{}", &first.lines().next().expect("a line")[4..]);
        assert_eq!(described(root, "src/mutants.rs:1:5: replace x with y in f").expect("a line"), expected);
        assert!(described(root, "src/mutants.rs: what").is_err());
    }
}
