//! The public litmus files: each is a program, or is refused with its reason.

use std::collections::BTreeMap;
use std::path::Path;

use wattle_litmus::{Expected, parse, read};
use wattle_stress::{NoKernel, lift};

fn shared() -> Option<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/litmus");
    if folder.is_dir() {
        return Some(folder);
    }
    test_skips::skipped("the public litmus files are not beside the checkout (../shared)");
    None
}

/// How many files of a list are programs, and how many are refused for each reason.
fn counted(list: &str) -> Option<(usize, BTreeMap<String, usize>)> {
    let root = shared()?;
    let expected = Expected::read(&root.join(list)).unwrap();
    let (mut programs, mut refused) = (0, BTreeMap::new());
    for case in &expected.cases {
        let world = read(&root.join(&case.path), &case.path).unwrap();
        match lift(world.program()) {
            Ok(program) => {
                programs += 1;
                assert!(!program.observed.is_empty() && program.blocks() > 0, "{}", case.path.display());
            }
            Err(error) => {
                let kind = format!("{error:?}");
                let kind = kind.split(['(', ' ']).next().unwrap_or_default().to_owned();
                *refused.entry(kind).or_default() += 1;
            }
        }
    }
    Some((programs, refused))
}

#[test]
fn most_files_are_programs() {
    let Some((ptx, refused)) = counted("ptx-outcome.csv") else { return };
    assert_eq!((ptx, refused.values().sum::<usize>()), (40, 13), "{refused:?}");
    let Some((vulkan, refused)) = counted("vulkan-outcome.csv") else { return };
    assert_eq!((vulkan, refused.values().sum::<usize>()), (47, 19), "{refused:?}");
}

fn refused(text: &str) -> NoKernel {
    lift(&parse("case", text).unwrap()).unwrap_err()
}

#[test]
fn what_has_no_meaning_in_the_language_is_refused_by_its_reason() {
    let ptx = |columns: &str| format!("PTX case\n{{ x=0; }}\n{columns}\nexists (x == 1)\n");
    let devices = ptx(" P0@cta 0,gpu 0 | P1@cta 0,gpu 1 ;\n st.weak x, 1 | st.weak x, 2 ;");
    assert_eq!(refused(&devices), NoKernel::Devices);
    let different = ptx(" P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n bar.cta.sync 1 | bar.cta.sync 2 ;");
    assert!(matches!(refused(&different), NoKernel::Barrier(_)));
    let large = ptx(" P0@cta 0,gpu 0 ;\n st.weak x, 5000000000 ;");
    assert_eq!(refused(&large), NoKernel::Number(5_000_000_000));
    let nothing = "PTX case\n{ x=0; }\n P0@cta 0,gpu 0 ;\n st.weak x, 1 ;\nexists (0 == 0)\n";
    assert_eq!(refused(nothing), NoKernel::Nothing);
    let across = ptx(" P0@cta 0,gpu 0 ;\n ld.weak r0, x ;\n beq r0, 0, LC00 ;\n bar.cta.sync 1 ;\n LC00: ;");
    assert!(matches!(refused(&across), NoKernel::Barrier(_)));
}
