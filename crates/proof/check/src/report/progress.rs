//! Progress models: which threads are promised to run.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A promise of progress: which members of a group are scheduled again and again as long as they can run. It holds at
/// every level: the device promises it to blocks, a block to its threads.
///
/// Sorensen, Donaldson, Evrard and others, "Specifying and Testing GPU Workgroup Progress Models", OOPSLA 2021.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Progress {
    /// Every member is promised to run.
    Fair,
    /// Every block that has begun, and every block with a lower number than such a one: what Wattle's devices promise
    /// to the blocks of a launch. Every thread of a block that has begun is taken to run: CUDA and the host promise
    /// that, Vulkan does not within a subgroup, and a report says where its verdict rests on it
    /// ([`Report::rests_on_progress`](super::Report::rests_on_progress)).
    #[default]
    Lobe,
    /// Every member that has taken a step.
    Obe,
    /// The lowest-numbered member that can run.
    Hsa,
    /// `Hsa` and `Obe` together.
    HsaObe,
}

impl Progress {
    /// All progress models.
    pub const ALL: [Progress; 5] = [Progress::Fair, Progress::Hsa, Progress::Obe, Progress::Lobe, Progress::HsaObe];

    /// The name that the command line takes.
    pub fn name(self) -> &'static str {
        match self {
            Progress::Fair => "fair",
            Progress::Hsa => "hsa",
            Progress::Obe => "obe",
            Progress::Lobe => "lobe",
            Progress::HsaObe => "hsa-obe",
        }
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Progress {
    type Err = UnknownProgress;

    fn from_str(name: &str) -> Result<Progress, UnknownProgress> {
        Progress::ALL
            .into_iter()
            .find(|progress| progress.name() == name)
            .ok_or_else(|| UnknownProgress(name.to_owned()))
    }
}

/// An error for a name that no progress model has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no progress model `{0}`: write fair, hsa, obe, lobe or hsa-obe")]
pub struct UnknownProgress(pub String);
