//! What a progress model promises to the members of one group.

use wattle_check::checker::Progress;

/// Whether a member of a group that has progress is promised it too, by this rule alone; to one that can run it always
/// is. `lowest` says that no member with a lower number can run, `started` that it has taken a step, `below_started`
/// that one with a higher number has.
pub(crate) fn promises(progress: Progress, lowest: bool, started: bool, below_started: bool) -> bool {
    match progress {
        Progress::Fair => true,
        Progress::Hsa => lowest,
        Progress::Obe => started,
        Progress::Lobe => started || below_started,
        Progress::HsaObe => lowest || started,
    }
}
