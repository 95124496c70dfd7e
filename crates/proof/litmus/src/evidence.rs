//! Evidence for an answer.

use wattle_memory::ThreadId;

use crate::condition::Observed;
use crate::lasso;
use crate::program::Program;

/// The evidence for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The end of an execution: the values of everything that the conditions observe.
    End(Vec<(Observed, u64)>),
    /// Two racing accesses, by the numbers of their instructions ([`Program::instruction`]).
    Race(u32, u32),
    /// A run of interleavings that does not end.
    Stuck(lasso::Stuck),
    /// The threads of an execution that wait for ever.
    Waits(Vec<ThreadId>),
}

impl Evidence {
    /// The evidence in words, one line or more.
    pub fn lines(&self, program: &Program) -> Vec<String> {
        let names = |threads: &[ThreadId]| {
            let name = |&thread: &ThreadId| format!("P{}", program.threads[thread].placement.thread);
            threads.iter().map(name).collect::<Vec<_>>().join(", ")
        };
        match self {
            Evidence::End(values) => {
                let value = |&(observed, value): &(Observed, u64)| {
                    format!("{} = {}", program.observed_text(observed), value as i64)
                };
                vec![values.iter().map(value).collect::<Vec<_>>().join(", ")]
            }
            Evidence::Race(first, second) => [first, second]
                .into_iter()
                .map(|&source| {
                    let line = program.place(source).map_or(0, |place| place.line);
                    format!("line {line}, {}", program.instruction_text(source).unwrap_or_default())
                })
                .collect(),
            Evidence::Stuck(lasso::Stuck::AtBarriers(threads)) => {
                let waits = if threads.len() == 1 { "waits" } else { "wait" };
                vec![format!("{} {waits} at barriers that never open", names(threads))]
            }
            Evidence::Stuck(lasso::Stuck::Round { running, waiting }) => {
                let [goes, waits, is] = match [running.len(), waiting.len()].map(|threads| threads == 1) {
                    [one, other] => [
                        if one { "goes" } else { "go" },
                        if other { "waits" } else { "wait" },
                        if other { "is" } else { "are" },
                    ],
                };
                let mut lines = vec![format!("{} {goes} round for ever", names(running))];
                if !waiting.is_empty() {
                    lines.push(format!("{} {waits} or {is} not scheduled", names(waiting)));
                }
                lines
            }
            Evidence::Waits(threads) => vec![format!("{} wait for ever", names(threads))],
        }
    }
}
