//! Which vector instructions the host's functions use.
//!
//! An ordinary build is for the oldest processors of its architecture. So a kernel's function is compiled several times, for
//! sets of features that processors have together, and each launch runs the best one that this machine has.
//!
//! **The bits of the results are the same.** Rust's float operations are IEEE 754's for every set of features: the compiler
//! contracts no product and sum, reorders no sum, and `mul_add` is rounded once, by an instruction or by the C library's
//! function. Vector instructions do for each lane what the scalar ones do.

use std::sync::OnceLock;

use crate::error::{Error, Result};

/// A set of features that host functions are compiled for; each has those before it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Features {
    /// What every processor of the architecture has.
    Baseline,
    /// AVX2 and FMA, with what processors have beside them (x86-64-v3).
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 for all types of numbers (x86-64-v4).
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// The environment variable that chooses a set.
const VARIABLE: &str = "WATTLE_HOST_FEATURES";

impl Features {
    const ALL: &[Features] = &[
        Features::Baseline,
        #[cfg(target_arch = "x86_64")]
        Features::Avx2,
        #[cfg(target_arch = "x86_64")]
        Features::Avx512,
    ];

    /// The name, as the environment variable has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Features::Baseline => "baseline",
            #[cfg(target_arch = "x86_64")]
            Features::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Features::Avx512 => "avx512",
        }
    }

    /// Whether this machine has all features of the set: those that `kernel.rs` enables, no more and no less.
    fn is_here(self) -> bool {
        match self {
            Features::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            Features::Avx2 => {
                std::arch::is_x86_feature_detected!("avx2")
                    && std::arch::is_x86_feature_detected!("fma")
                    && std::arch::is_x86_feature_detected!("bmi1")
                    && std::arch::is_x86_feature_detected!("bmi2")
                    && std::arch::is_x86_feature_detected!("lzcnt")
                    && std::arch::is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Features::Avx512 => {
                Features::Avx2.is_here()
                    && std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512bw")
                    && std::arch::is_x86_feature_detected!("avx512cd")
                    && std::arch::is_x86_feature_detected!("avx512dq")
                    && std::arch::is_x86_feature_detected!("avx512vl")
            }
        }
    }

    fn here() -> impl Iterator<Item = Features> {
        Features::ALL.iter().copied().filter(|features| features.is_here())
    }

    /// The set that `wish` names, or the best one where there is no wish.
    ///
    /// # Errors
    /// There is no such set, or this machine lacks it.
    fn choose(wish: Option<&str>) -> std::result::Result<Features, String> {
        let Some(wish) = wish else { return Ok(Features::here().last().unwrap_or(Features::Baseline)) };
        let here = || Features::here().map(Features::name).collect::<Vec<_>>().join(", ");
        match Features::ALL.iter().find(|features| features.name() == wish) {
            Some(features) if features.is_here() => Ok(*features),
            Some(_) => Err(format!("{VARIABLE}={wish}: this machine lacks it; it has {}", here())),
            None => Err(format!("{VARIABLE}={wish}: there is no such set of features; this machine has {}", here())),
        }
    }

    /// The set that the host's functions run with in this process.
    ///
    /// # Errors
    /// The environment variable asks for what this machine lacks, or for what there is not.
    pub(crate) fn chosen() -> Result<Features> {
        static CHOSEN: OnceLock<std::result::Result<Features, String>> = OnceLock::new();
        let chosen = CHOSEN.get_or_init(|| {
            let wish = std::env::var_os(VARIABLE).filter(|wish| !wish.is_empty());
            Features::choose(wish.map(|wish| wish.to_string_lossy().into_owned()).as_deref())
        });
        chosen.clone().map_err(|why| Error::capability("host", why, "unset it, or set it to one that is here"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_chosen_by_its_name() {
        assert_eq!(Features::choose(Some("baseline")), Ok(Features::Baseline));
        let best = Features::choose(None).unwrap();
        assert!(best.is_here() && Features::here().all(|features| features <= best));
        let unknown = Features::choose(Some("mmx")).unwrap_err();
        assert!(unknown.contains("WATTLE_HOST_FEATURES=mmx") && unknown.contains("baseline"), "{unknown}");
        for features in Features::ALL {
            assert_eq!(Features::choose(Some(features.name())).is_ok(), features.is_here());
        }
    }
}
