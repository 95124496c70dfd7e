//! The files of this crate are read, written back, and their liveness cases judged.

use std::fs;
use std::path::{Path, PathBuf};

use wattle_litmus::lasso::{self, Liveness};
use wattle_litmus::{Divided, Expected, Program, Progress, World, parse, print};
use wattle_memory::Model;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("litmus")
}

fn program(path: &Path) -> Program {
    let text = fs::read_to_string(root().join(path)).unwrap();
    parse(&path.display().to_string(), &text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_file_is_in_a_table_and_written_back() {
    let mut named = Vec::new();
    for entry in fs::read_dir(root()).unwrap() {
        let table = entry.unwrap().path();
        if table.extension().is_some_and(|extension| extension == "csv") {
            named.extend(Expected::read(&table).unwrap().cases.into_iter().map(|case| case.path));
        }
    }
    for directory in ["ptx", "vulkan"] {
        for entry in fs::read_dir(root().join(directory)).unwrap() {
            let path = Path::new(directory).join(entry.unwrap().file_name());
            assert!(named.contains(&path), "{} has no expectation", path.display());
        }
    }
    for path in named {
        let program = program(&path);
        let text = print(&program);
        assert_eq!(parse("printed", &text).as_ref(), Ok(&program), "{text}");
    }
}

#[test]
fn liveness_is_judged_right() {
    let tables = [
        ("ptx-liveness.csv", Progress::Fair),
        ("vulkan-liveness-fair.csv", Progress::Fair),
        ("vulkan-liveness-hsa.csv", Progress::Hsa),
        ("vulkan-liveness-obe.csv", Progress::Obe),
        ("vulkan-liveness-lobe.csv", Progress::Lobe),
        ("vulkan-liveness-hsa-obe.csv", Progress::HsaObe),
    ];
    for (table, progress) in tables {
        for case in Expected::read(&root().join(table)).unwrap().cases {
            let program = program(&case.path);
            let world = World::new(program);
            let verdict = lasso::liveness(&world.setup(Model::Sc), &Divided::default(), progress, 1 << 20).unwrap();
            let ends = matches!(verdict, Liveness::Ends { .. });
            assert_eq!(ends, case.expected, "{table}: {}: {verdict:?}", case.path.display());
        }
    }
}
