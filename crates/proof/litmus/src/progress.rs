//! The promises of a progress model to groups of threads and their members.

use wattle_check::checker::Progress;
use wattle_memory::{Level, Placement, ThreadId};

/// A set of threads.
pub(crate) type Set = u64;

/// The threads of a set, by their number.
pub(crate) fn members(set: Set) -> Vec<ThreadId> {
    (0..Set::BITS as usize).filter(|thread| set >> thread & 1 == 1).collect()
}

/// Whether this rule promises progress to a member of a group that has progress; at least one member that can run
/// always has it. `lowest` says that no member with a lower number can run, `started` that the member has taken a
/// step, `below_started` that one with a higher number has.
fn promises(progress: Progress, lowest: bool, started: bool, below_started: bool) -> bool {
    match progress {
        Progress::Fair => true,
        Progress::Hsa => lowest,
        Progress::Obe => started,
        Progress::Lobe => started || below_started,
        Progress::HsaObe => lowest || started,
    }
}

/// The scheduler's promises at each level of the hierarchy of groups.
pub(crate) struct Promises<'p> {
    pub placements: &'p [Placement],
    pub progress: Progress,
}

impl Promises<'_> {
    /// The levels of the hierarchy; each group has members at the next one.
    const LEVELS: [Level; 6] =
        [Level::System, Level::Device, Level::QueueFamily, Level::Block, Level::Subgroup, Level::Thread];

    /// Whether a run in which exactly these threads take steps for ever keeps the promises.
    pub fn kept(&self, running: Set, can_run: Set, started: Set) -> bool {
        let everyone = (0..self.placements.len()).fold(0, |set, thread| set | 1 << thread);
        self.group(everyone, 0, running, can_run, started)
    }

    /// Whether they are kept in a group that has progress, at the given level.
    fn group(&self, group: Set, level: usize, running: Set, can_run: Set, started: Set) -> bool {
        if group & can_run == 0 {
            return true;
        }
        let Some(&below) = Self::LEVELS.get(level + 1) else {
            return group & running != 0;
        };
        let members = self.split(group, below);
        let kept = |member: Set| self.group(member, level + 1, running, can_run, started);
        let last_started = members.iter().rposition(|member| member & started != 0);
        let first_able = members.iter().position(|member| member & can_run != 0);
        let able = members.iter().enumerate().filter(|(_, member)| *member & can_run != 0);
        let promised: Vec<Set> = able
            .clone()
            .filter(|&(number, member)| {
                let below_started = last_started.is_some_and(|last| number < last);
                promises(self.progress, first_able == Some(number), member & started != 0, below_started)
            })
            .map(|(_, &member)| member)
            .collect();
        if promised.is_empty() { able.map(|(_, &member)| member).any(kept) } else { promised.into_iter().all(kept) }
    }

    /// The members of a group, by their number.
    fn split(&self, group: Set, level: Level) -> Vec<Set> {
        let mut threads = members(group);
        // Placements are ordered by their groups first; a group's number is unique only within the group around it.
        threads.sort_by_key(|&thread| self.placements[thread]);
        let mut split: Vec<(ThreadId, Set)> = Vec::new();
        for thread in threads {
            match split.last_mut() {
                Some((first, set)) if self.placements[*first].shares(&self.placements[thread], level) => {
                    *set |= 1 << thread;
                }
                _ => split.push((thread, 1 << thread)),
            }
        }
        split.into_iter().map(|(_, set)| set).collect()
    }
}
