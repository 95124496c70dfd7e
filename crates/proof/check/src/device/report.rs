//! The findings of a run as the errors that all devices have.

use wattle_core::{Error, ErrorKind, FaultKind, LaunchOptions, ThreadLine};
use wattle_ir::format_index;
use wattle_machine::{Fault, last_index};

use crate::simulate::{Actor, Finding, Findings, StopReason, Waiting};

/// The error for a run's findings: one of the kinds that all devices have, where there is one.
pub(super) fn error_of(findings: Vec<Findings>, options: &LaunchOptions) -> Option<Error> {
    let mut all = findings.into_iter().flat_map(|findings| findings.0);
    let first = all.next()?;
    let kind = match &first {
        Finding::Fault { actor, fault, place, .. } => fault_of(actor, fault, place),
        Finding::Stopped { launch, reason: StopReason::Deadline | StopReason::StepLimit(_), threads, .. } => {
            ErrorKind::TimeLimit {
                kernel: launch.clone(),
                limit: options.get_time_limit().unwrap_or_default(),
                lines: lines(threads),
            }
        }
        Finding::Stopped { launch, reason: StopReason::Interrupted, threads, .. } => {
            ErrorKind::Interrupted { kernel: launch.clone(), lines: lines(threads) }
        }
        Finding::Wrong { .. }
        | Finding::Unjudged { .. }
        | Finding::Unwritten { .. }
        | Finding::BarrierMissed { .. }
        | Finding::BarrierMismatch { .. }
        | Finding::Race(_)
        | Finding::Stuck { .. } => {
            let others: String = all.map(|finding| format!("\n{finding}")).collect();
            ErrorKind::Finding(format!("{first}{others}"))
        }
    };
    Some(kind.into())
}

fn lines(threads: &[Waiting]) -> Vec<ThreadLine> {
    let line = |waiting: &Waiting| {
        let Actor { rank, position, .. } = &waiting.actor;
        ThreadLine { block: format_index(&position.block[..*rank]), site: waiting.site }
    };
    let mut lines: Vec<_> = threads.iter().map(line).collect();
    // Threads of a block at the same line form one entry.
    lines.dedup();
    lines
}

fn fault_of(actor: &Actor, fault: &Fault, place: &str) -> ErrorKind {
    let what = match fault {
        Fault::OutOfBounds { index, lanes, extent, .. } => {
            let (index, extent) = (format_index(&last_index(index, *lanes)), format_index(extent));
            FaultKind::OutOfBounds { view: place.to_owned(), index, extent }
        }
        Fault::DivisionByZero { .. } => FaultKind::DivisionByZero,
        Fault::Assertion { message, .. } => FaultKind::Assertion(message.to_string()),
    };
    ErrorKind::Fault(Box::new(wattle_core::Fault {
        kernel: actor.kernel.clone(),
        block: format_index(&actor.position.block[..actor.rank]),
        thread: format_index(&actor.position.thread[..actor.rank]),
        site: fault.site(),
        what,
    }))
}
