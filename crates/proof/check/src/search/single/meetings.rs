//! Operations of warps: each lane waits for the others that come to it, and gets what they make of their values.

use wattle_memory::{Label, Level, ThreadId};

use super::super::exchange::of_remaining;
use super::super::process::{Barrier, Exchange, Members};
use super::barriers::{Meeting, converge};
use super::{Runs, Status};

impl Runs<'_, '_> {
    /// Lets a thread come to an operation of its warp; `None` where it brings a result that is not given here.
    pub(super) fn meet(&mut self, thread: ThreadId, barrier: Barrier, exchange: Exchange, source: u32) -> Option<()> {
        if !barrier.waits || !exchange.is_known() {
            return None;
        }
        self.has_effect(thread);
        self.event(thread, Label::fence(Level::Thread), source, None);
        let runner = &mut self.runners[thread];
        (runner.status, runner.meeting) = (Status::Meets, Some((barrier, exchange)));
        Some(())
    }

    /// Gives the lanes of the operations to which all have come their results; `None` where lanes stand at different
    /// ones.
    pub(super) fn open_meetings(&mut self) -> Option<bool> {
        let mut opened = false;
        for thread in 0..self.runners.len() {
            let Some((barrier, _)) = self.runners[thread].meeting.clone() else { continue };
            let (members, may_have_ended) = match &barrier.members {
                Members::Threads(members) => (members, false),
                Members::Remaining(members) => (members, true),
                Members::Quorum(_) | Members::Groups { .. } => return None,
            };
            // Lanes of the same members and of one instance come to one operation.
            let at_it = |lane: ThreadId| {
                let (other, exchange) = self.runners[lane].meeting.as_ref()?;
                let is_it = other.instance == barrier.instance && other.members == barrier.members;
                is_it.then_some(*exchange)
            };
            let brought: Vec<Option<Exchange>> = members.iter().map(|&lane| at_it(lane)).collect();
            let is_missing = |(&lane, brought): (&ThreadId, &Option<Exchange>)| {
                brought.is_none() && !(may_have_ended && self.runners[lane].status == Status::Done)
            };
            if members.iter().zip(&brought).any(is_missing) {
                continue;
            }
            let arrivals = members.iter().filter_map(|&lane| Some(self.runners[lane].meeting.as_ref()?.0.clone()));
            let come = members.iter().zip(&brought).filter(|(_, brought)| brought.is_some());
            let come: Vec<ThreadId> = come.map(|(&lane, _)| lane).collect();
            self.apart |= converge(&arrivals.collect::<Vec<_>>())? == Meeting::Apart;
            let values: Vec<Option<u64>> = brought.iter().map(|exchange| exchange.as_ref()?.value).collect();
            let members = members.clone();
            for lane in come {
                let place = members.iter().position(|&member| member == lane)?;
                let Exchange { op, ty, operand, .. } = brought[place]?;
                let value = of_remaining(op, ty, &values, operand? as u32, place);
                let runner = &mut self.runners[lane];
                (runner.status, runner.meeting) = (Status::Ready, None);
                runner.process.answer(Some(value));
                let event = runner.last_event;
                if let (Some(graph), Some(event)) = (&mut self.graph, event) {
                    graph.set_value(event, value);
                }
            }
            opened = true;
        }
        Some(opened)
    }
}
