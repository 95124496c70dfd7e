//! Progress models: which threads are scheduled again and again.

use std::fmt;
use std::str::FromStr;

/// Which of the members that can run a group that has progress promises it to; always to at least one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Progress {
    /// Every member.
    Fair,
    /// The lowest-numbered member that can run.
    Hsa,
    /// Occupancy-bound: every member that has taken a step.
    Obe,
    /// Linear occupancy-bound: every member that has taken a step, and every one with a lower number than such a one.
    Lobe,
    /// What `hsa` promises and what `obe` does.
    HsaObe,
}

impl Progress {
    /// All progress models.
    pub const ALL: [Progress; 5] = [Progress::Fair, Progress::Hsa, Progress::Obe, Progress::Lobe, Progress::HsaObe];

    /// The name, as the command takes it.
    pub fn name(self) -> &'static str {
        match self {
            Progress::Fair => "fair",
            Progress::Hsa => "hsa",
            Progress::Obe => "obe",
            Progress::Lobe => "lobe",
            Progress::HsaObe => "hsa-obe",
        }
    }

    /// Whether a member is promised progress by this rule alone. `lowest` says that no member with a lower number can
    /// run, `started` that it has taken a step, `below_started` that one with a higher number has.
    pub fn promises(self, lowest: bool, started: bool, below_started: bool) -> bool {
        match self {
            Progress::Fair => true,
            Progress::Hsa => lowest,
            Progress::Obe => started,
            Progress::Lobe => started || below_started,
            Progress::HsaObe => lowest || started,
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

/// A name that is no progress model's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no progress model `{0}`: write fair, hsa, obe, lobe or hsa-obe")]
pub struct UnknownProgress(pub String);
