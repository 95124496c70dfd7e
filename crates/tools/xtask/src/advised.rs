//! Advice applied to the source: each broken scenario's module is copied, changed as the advice says by line and text,
//! built, and checked.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use wattle_check::checker::{Change, Checker};
use wattle_core::Expectation;
use wattle_memory::Model;

use crate::source_edit::{Edited, apply};

/// The time for advice on one scenario.
const BUDGET: Duration = Duration::from_secs(10);

/// The crate of the scenarios, and the folder of the changed copy.
const KERNELS: &str = "crates/apps/kernels";
const COPY: &str = "target/advised";

/// Applies the advice on all broken scenarios whose names contain one of these words, or on all.
pub fn run(words: &[String]) -> ExitCode {
    match applied(words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("the copy in {COPY} cannot be made, run this in the workspace's root: {error}");
            ExitCode::FAILURE
        }
    }
}

fn applied(words: &[String]) -> io::Result<bool> {
    let _ = fs::remove_dir_all(COPY);
    copy(&Path::new(KERNELS).join("src"), &Path::new(COPY).join("src"))?;
    let mut names = Vec::new();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    for scenario in wattle_kernels::all().iter().filter(|scenario| wanted(scenario.name)) {
        if scenario.expectation == Expectation::Holds {
            continue;
        }
        let checker = Checker::new(Model::Portable);
        let Ok(report) = checker.check_scenario(scenario, None) else { continue };
        let advice = checker.advise_scenario(scenario, None, &report, BUDGET);
        if advice.fixes.is_empty() {
            println!("{}: no advice; {}", scenario.name, advice.how_far.join("; "));
            continue;
        }
        match add_case(&advice.fixes, names.len(), scenario.name)? {
            Ok(()) => names.push(scenario.name),
            Err(why) => println!("{}: not applied, {why}", scenario.name),
        }
    }
    fs::write(Path::new(COPY).join("Cargo.toml"), MANIFEST)?;
    fs::write(Path::new(COPY).join("src/main.rs"), MAIN)?;
    println!("{} scenarios are changed and checked again", names.len());
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    // The workspace's own folder for artifacts has the library already.
    let target = fs::canonicalize("target")?;
    let run = ["run", "--quiet", "--release", "--offline", "--manifest-path", &format!("{COPY}/Cargo.toml")]
        .map(String::from);
    fs::copy("Cargo.lock", Path::new(COPY).join("Cargo.lock"))?;
    Ok(Command::new(cargo).args(run).env("CARGO_TARGET_DIR", target).status()?.success())
}

/// Copies a folder, for a crate of the same modules.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (path, to) = (entry?.path(), to.to_owned());
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &to)?;
        } else {
            fs::copy(&path, &to)?;
        }
    }
    Ok(())
}

/// Adds a changed copy of the scenario's module beside it, whose scenarios have names of their own.
fn add_case(fixes: &[Change], number: usize, name: &str) -> io::Result<Result<(), String>> {
    let file = Path::new(fixes[0].site.file);
    if fixes.iter().any(|fix| Path::new(fix.site.file) != file) {
        return Ok(Err("the changes are of several files".into()));
    }
    let Ok(inside) = file.strip_prefix(Path::new(KERNELS).join("src")) else {
        return Ok(Err(format!("{} is no file of the scenarios", file.display())));
    };
    let source = fs::read_to_string(file)?;
    let changed = match apply(&source, fixes.iter().map(|fix| (fix.site, fix.text.as_str()))) {
        Edited::Done(changed) => changed,
        Edited::NotPossible(why) => return Ok(Err(why)),
    };
    let changed = changed.replace("(name = \"", &format!("(name = \"advised-{number}-of-"));
    let module = format!("advised_{number}");
    let folder: PathBuf = Path::new(COPY).join("src").join(inside).parent().map(Path::to_owned).unwrap_or_default();
    fs::write(folder.join(format!("{module}.rs")), changed)?;
    let parent = if folder.ends_with("src") { folder.join("lib.rs") } else { folder.join("mod.rs") };
    fs::write(&parent, fs::read_to_string(&parent)? + &format!("\n#[allow(missing_docs)]\nmod {module};\n"))?;
    let list = Path::new(COPY).join("src/cases.txt");
    let known = fs::read_to_string(&list).unwrap_or_default();
    fs::write(list, known + &format!("advised-{number}-of-{name}\n"))?;
    Ok(Ok(()))
}

const MANIFEST: &str = "\
[package]
name = \"advised\"
version = \"0.1.0\"
edition = \"2024\"

[dependencies]
wattle = { path = \"../../crates/wattle\", features = [\"serde\"] }

# As the workspace has it, so that what is built there serves here.
[profile.release]
debug = \"line-tables-only\"

[profile.release.package.advised]
opt-level = 0

[workspace]
";

const MAIN: &str = r#"//! Checks the changed scenarios.

use advised as _;
use wattle::checker::{Checker, Verdict};
use wattle::{Model, Scenario};

fn main() -> std::process::ExitCode {
    let mut wrong = 0;
    for name in include_str!("cases.txt").lines() {
        let scenario = Scenario::all().expect("names differ").iter().find(|known| known.name == name);
        let scenario = scenario.unwrap_or_else(|| panic!("no scenario {name}"));
        match Checker::new(Model::Portable).check_scenario(scenario, None) {
            Ok(report) if report.verdict == Verdict::Holds => println!("{name}: holds"),
            Ok(report) => {
                wrong += 1;
                println!("{name}: {report}");
            }
            Err(error) => {
                wrong += 1;
                println!("{name}: {error}");
            }
        }
    }
    println!("{wrong} do not hold");
    std::process::ExitCode::from(u8::from(wrong > 0))
}
"#;
