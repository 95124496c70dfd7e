//! Random kernels ([`wattle_fuzz`]) as devices get them: emitted as PTX or SPIR-V, read back, and searched instruction by
//! instruction. Each must leave the bytes that its intermediate representation leaves on the simulated device, in every
//! execution.

use std::fmt;
use std::time::Duration;

use wattle_check::Simulated as _;
use wattle_check::checker::{Checker, Profile as Features, Verdict};
use wattle_core::Device;
use wattle_fuzz::{Case, Profile, compare, generate, outcome};
use wattle_ir::Type;
use wattle_memory::Target;

/// What a kernel is emitted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    Ptx,
    Spirv,
}

/// How long one kernel is searched at the most.
const PATIENCE: Duration = Duration::from_secs(2);

/// What has come out of some kernels.
#[derive(Debug, Default)]
pub struct Tally {
    /// The kernels that left the same bytes.
    pub same: u64,
    /// The kernels whose search did not end, and why it did not for the first.
    pub unknown: (u64, Option<String>),
    /// The kernels that left other bytes, and what was found.
    pub differ: Vec<(u64, String)>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { same, unknown: (unknown, why), differ } = self;
        write!(f, "{same} kernels the same, {} differ, {unknown} not known", differ.len())?;
        why.as_ref().map_or(Ok(()), |why| write!(f, ", the first: {why}"))
    }
}

/// Small kernels: what is compared is what each instruction means, and not how launches grow. The lanes of a warp are those
/// of the language; a scenario does not see what its kernels print.
fn profile(language: Language) -> Profile {
    let (warp_size, whole_warps) = match language {
        Language::Ptx => (32, false),
        Language::Spirv => (4, true),
    };
    let profile = Profile { most_threads: 2, prints: false, warp_size, whole_warps, ..Profile::full() }.sized(12);
    match language {
        Language::Ptx => profile,
        // Floats of 16 bits are no numbers to the reader of SPIR-V.
        Language::Spirv => {
            let types: Vec<Type> = Type::ELEMENTS.into_iter().filter(|ty| !ty.is_float() || ty.size() > 2).collect();
            profile.only(&types)
        }
    }
}

/// Compares one kernel; `None` if it leaves the same.
fn difference(case: &Case, seed: u64, language: Language) -> Result<Option<String>, String> {
    let expected = outcome(case, &Device::simulated(seed)).map_err(|error| error.to_string())?;
    let checker = match language {
        Language::Ptx => Checker::for_target(Target::Ptx { sm: 90 }).emitted(),
        Language::Spirv => Checker::for_target(Target::Vulkan).emitted_for(Features::Best),
    };
    let report = checker.time(PATIENCE).check(|device| {
        let found = outcome(case, device)?;
        let difference = compare(case, &expected, &found).map(|difference| difference.to_string());
        assert_eq!(difference, None);
        Ok(())
    });
    let report = report.map_err(|error| error.to_string())?;
    match report.verdict {
        Verdict::Holds => Ok(None),
        Verdict::Violated => Ok(Some(report.to_string())),
        Verdict::Unknown => Err(report.to_string()),
    }
}

/// Compares the kernels of these seeds.
pub fn campaign(seeds: impl IntoIterator<Item = u64>, language: Language, mut after: impl FnMut(&Tally)) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let case = generate(seed, &profile(language));
        match difference(&case, seed, language) {
            Ok(None) => tally.same += 1,
            Ok(Some(found)) => tally.differ.push((seed, format!("{found}\n{case}"))),
            Err(why) => {
                tally.unknown.0 += 1;
                tally.unknown.1.get_or_insert(why);
            }
        }
        after(&tally);
    }
    tally
}
