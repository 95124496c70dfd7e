//! The promises of a progress model to groups of threads and their members, at each level of the hierarchy.

use std::str::FromStr;

use wattle_check::checker::Progress;
use wattle_memory::{Level, Placement, ThreadId};

/// A set of threads.
pub(crate) type Set = u64;

/// The threads of a set, by their number.
pub(crate) fn members(set: Set) -> Vec<ThreadId> {
    (0..Set::BITS as usize).filter(|thread| set >> thread & 1 == 1).collect()
}

/// The rule for which members of a group are promised progress, where the group has it. Whatever the rule, one member
/// that can run has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The members that a progress model names.
    Promised(Progress),
    /// No member more than another.
    Unfair,
}

impl Rule {
    /// Whether a member is promised progress. `lowest` says that no member with a lower number can run, `started` that
    /// the member has taken a step, `below_started` that one with a higher number has.
    fn promises(self, lowest: bool, started: bool, below_started: bool) -> bool {
        match self {
            Rule::Unfair => false,
            Rule::Promised(Progress::Fair) => true,
            Rule::Promised(Progress::Hsa) => lowest,
            Rule::Promised(Progress::Obe) => started,
            Rule::Promised(Progress::Lobe) => started || below_started,
            Rule::Promised(Progress::HsaObe) => lowest || started,
        }
    }
}

/// The rule at each level: for the devices of the system, the queue families of a device, the workgroups of a queue
/// family, the subgroups of a workgroup, the threads of a subgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule([Rule; 5]);

impl From<Progress> for Schedule {
    fn from(progress: Progress) -> Schedule {
        Schedule([Rule::Promised(progress); 5])
    }
}

/// How names write the levels, in their order.
const LEVEL_NAMES: [&str; 5] = ["sy", "dv", "qf", "wg", "sg"];

/// How names write the rules, the longer ones first.
const RULE_NAMES: [(&str, Rule); 6] = [
    ("hsaobe", Rule::Promised(Progress::HsaObe)),
    ("unfair", Rule::Unfair),
    ("fair", Rule::Promised(Progress::Fair)),
    ("lobe", Rule::Promised(Progress::Lobe)),
    ("hsa", Rule::Promised(Progress::Hsa)),
    ("obe", Rule::Promised(Progress::Obe)),
];

/// An error for a name that no schedule has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no schedule `{0}`: write a rule (fair, obe, lobe, hsa, hsaObe, unfair) with `Uniform` behind it, or levels \
     (sy, dv, qf, wg, sg) with their rules, such as qfObeSgUnfair; other levels are fair"
)]
pub struct UnknownSchedule(pub String);

impl FromStr for Schedule {
    type Err = UnknownSchedule;

    /// Reads `fairUniform`, `qfObe`, `qfHsaSgUnfair`: a rule for all levels, or for those that are named; the others
    /// are fair.
    fn from_str(text: &str) -> Result<Schedule, UnknownSchedule> {
        let name = text.to_ascii_lowercase();
        let rule = |text: &str| {
            RULE_NAMES.iter().find_map(|&(name, rule)| Some((rule, text.len() - text.strip_prefix(name)?.len())))
        };
        if let Some((rule, length)) = rule(&name)
            && matches!(&name[length..], "" | "uniform")
        {
            return Ok(Schedule([rule; 5]));
        }
        let mut schedule = Schedule::from(Progress::Fair);
        let mut rest = name.as_str();
        while !rest.is_empty() {
            let level = LEVEL_NAMES.iter().position(|level| rest.starts_with(level));
            let found = level.and_then(|level| Some((level, rule(&rest[2..])?)));
            let (level, (rule, length)) = found.ok_or_else(|| UnknownSchedule(text.to_owned()))?;
            schedule.0[level] = rule;
            rest = &rest[2 + length..];
        }
        if text.is_empty() { Err(UnknownSchedule(String::new())) } else { Ok(schedule) }
    }
}

/// The scheduler's promises at each level of the hierarchy of groups.
pub(crate) struct Promises<'p> {
    pub placements: &'p [Placement],
    pub schedule: Schedule,
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
        let rule = self.schedule.0[level];
        let kept = |member: Set| self.group(member, level + 1, running, can_run, started);
        let last_started = members.iter().rposition(|member| member & started != 0);
        let first_able = members.iter().position(|member| member & can_run != 0);
        let able = members.iter().enumerate().filter(|(_, member)| *member & can_run != 0);
        let promised: Vec<Set> = able
            .clone()
            .filter(|&(number, member)| {
                let below_started = last_started.is_some_and(|last| number < last);
                rule.promises(first_able == Some(number), member & started != 0, below_started)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_have_names() {
        let fair = Rule::Promised(Progress::Fair);
        let (obe, hsa) = (Rule::Promised(Progress::Obe), Rule::Promised(Progress::Hsa));
        for (name, rules) in [
            ("fairUniform", [fair; 5]),
            ("obeUniform", [obe; 5]),
            ("unfair", [Rule::Unfair; 5]),
            ("qfObe", [fair, fair, obe, fair, fair]),
            ("qfHsaSgObe", [fair, fair, hsa, fair, obe]),
            ("qfObeSgUnfair", [fair, fair, obe, fair, Rule::Unfair]),
            ("wgHsaObe", [fair, fair, fair, Rule::Promised(Progress::HsaObe), fair]),
        ] {
            assert_eq!(name.parse(), Ok(Schedule(rules)), "{name}");
        }
        for name in ["", "qf", "qfWhat", "xxObe", "fairObe"] {
            assert!(name.parse::<Schedule>().is_err(), "{name}");
        }
    }
}
