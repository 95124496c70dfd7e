//! Operations of warps: the lanes meet, and each gets a result that depends on the others' values.
//!
//! A lane stands at the operation until all lanes of its warp have come to it; that orders no memory, so the event that
//! stands for it in the graph does nothing. A lane brings its value, which may wait for a read whose source is not
//! chosen. Then the results that need this value wait for it too, and their lanes run on without them until control
//! needs them, as behind a read. So what a lane does behind the operation depends on the values that its result is made
//! of, and on what all lanes needed to come to it. Where no compiler can remove a dependency
//! ([`Dependencies`](super::Dependencies)), a lane brings what all its completions bring; what it does behind an
//! operation to which it has not come is undecided.

use std::ops::Range;

use wattle_ir::warp::{WarpKind, evaluate};
use wattle_ir::{Type, WarpOp};
use wattle_memory::{EventId, ThreadId};

use super::gate::Gate;
use super::process::{Exchange, Members};
use super::state::{SearchState, Status};

impl Exchange {
    /// The lanes whose values the result of this one depends on.
    fn needs(&self, lane: usize, operand: u32, lanes: usize) -> Range<usize> {
        match self.op.kind() {
            WarpKind::Shuffle => {
                let source = self.op.source(lane as u32, operand, lanes as u32) as usize;
                source..source + 1
            }
            WarpKind::Ballot => {
                let from = (operand as usize).saturating_mul(32).min(lanes);
                from..(from + 32).min(lanes)
            }
            WarpKind::Vote | WarpKind::Reduce => 0..lanes,
            WarpKind::InclusiveScan => 0..lane + 1,
            WarpKind::ExclusiveScan => 0..lane,
        }
    }
}

/// What a lane gets from one that has ended, whose value is none.
pub const FROM_NOBODY: u64 = u64::MAX;

/// The result of one lane, if the values that it needs are known; of lanes that have ended there is nothing.
fn result(all: &[Option<Exchange>], lane: usize) -> Option<u64> {
    let own = (*all.get(lane)?)?;
    let operand = own.operand? as u32;
    let needs = own.needs(lane, operand, all.len());
    let value = |(other, part): (usize, &Option<Exchange>)| match part {
        Some(part) if needs.contains(&other) => part.value.map(Some),
        Some(_) => Some(Some(0)),
        None => Some(None),
    };
    let values: Vec<Option<u64>> = all.iter().enumerate().map(value).collect::<Option<_>>()?;
    Some(of_remaining(own.op, own.ty, &values, operand, lane))
}

/// The result of a lane of an operation from the values of those that have not ended, which take part alone.
pub(crate) fn of_remaining(op: WarpOp, ty: Type, values: &[Option<u64>], operand: u32, lane: usize) -> u64 {
    let all = |values: &[u64], lane: usize| {
        evaluate(op, ty, values, &vec![operand; values.len()]).get(lane).copied().unwrap_or(0)
    };
    match op.kind() {
        WarpKind::Shuffle => {
            let source = op.source(lane as u32, operand, values.len() as u32) as usize;
            values.get(source).copied().flatten().unwrap_or(FROM_NOBODY)
        }
        // Its bits stand for the lanes by their numbers.
        WarpKind::Ballot => all(&values.iter().map(|value| value.unwrap_or(0)).collect::<Vec<_>>(), lane),
        WarpKind::Vote | WarpKind::Reduce | WarpKind::InclusiveScan | WarpKind::ExclusiveScan => {
            let before = values[..lane].iter().flatten().count();
            all(&values.iter().flatten().copied().collect::<Vec<_>>(), before)
        }
    }
}

impl Gate {
    /// Records what a thread brings to the operation.
    pub(super) fn bring(&mut self, thread: ThreadId, exchange: Exchange) {
        match self.brought.iter_mut().find(|(of, _)| *of == thread) {
            // What it will bring may be known before the thread itself knows it.
            Some((_, known)) if known.is_known() => {}
            Some((_, known)) => *known = exchange,
            None => self.brought.push((thread, exchange)),
        }
    }

    /// What the lanes of an open gate have brought, in their order: `None` for those that have ended.
    fn lanes(&self) -> Vec<Option<Exchange>> {
        let of =
            |lane: &ThreadId| self.brought.iter().find(|(thread, _)| thread == lane).map(|&(_, exchange)| exchange);
        self.lane_threads().iter().map(of).collect()
    }

    /// The lanes that may come to it; none where any threads may.
    fn lane_threads(&self) -> &[ThreadId] {
        match &self.members {
            Members::Threads(lanes) | Members::Remaining(lanes) => lanes,
            Members::Quorum(_) | Members::Groups { .. } => &[],
        }
    }
}

/// Gives the lanes at open operations the results that are known now; returns those that can run on with them.
pub(super) fn share_results(state: &mut SearchState<'_>) -> Vec<ThreadId> {
    let mut answered = Vec::new();
    let mut meetings = std::mem::take(&mut state.meetings);
    meetings.retain(|&number| {
        let gate = &state.gates[number];
        if !gate.open {
            return true;
        }
        let (lanes, members) = (gate.lanes(), gate.lane_threads().to_vec());
        let arrivals: Vec<(ThreadId, EventId)> =
            gate.arrivals.iter().map(|arrival| (arrival.thread, arrival.event)).collect();
        let mut waits = false;
        for (thread, event) in arrivals {
            if state.graph.event(event).value.is_some() {
                continue;
            }
            let lane = members.iter().position(|member| *member == thread);
            match lane.and_then(|lane| result(&lanes, lane)) {
                Some(value) => {
                    state.graph.set_value(event, value);
                    state.runners[thread].status = Status::Ready;
                    answered.push(thread);
                }
                None => waits = true,
            }
        }
        waits
    });
    state.meetings = meetings;
    answered
}

impl SearchState<'_> {
    /// Whether the thread is a lane of a warp that waits for values of its lanes.
    pub fn exchanges(&self, thread: ThreadId) -> bool {
        self.meetings.iter().any(|&gate| self.gates[gate].brought.iter().any(|&(lane, _)| lane == thread))
    }

    /// Whether it is known what a thread brings to the operation that is its event.
    pub fn has_brought(&self, gate: usize, event: EventId) -> bool {
        let thread = self.graph.event(event).thread;
        self.gates[gate].brought.iter().any(|(of, exchange)| Some(*of) == thread && exchange.is_known())
    }

    /// Whether a value of the one thread can be part of one of the other.
    pub fn meet(&self, one: ThreadId, other: ThreadId) -> bool {
        let comes = |gate: &usize, thread| self.gates[*gate].brought.iter().any(|&(lane, _)| lane == thread);
        one == other || self.meetings.iter().any(|gate| comes(gate, one) && comes(gate, other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A result is the same whatever the lanes hold that it does not need, and depends on each of the others somewhere.
    #[test]
    fn a_result_needs_the_lanes_that_it_depends_on() {
        for &op in WarpOp::ALL {
            let ty = if op.applies_to(Type::U32) { Type::U32 } else { Type::Bool };
            for lanes in [1usize, 2, 3, 4, 40] {
                for operand in [0, 1, 2, 3, 40] {
                    let all = |value: &dyn Fn(usize) -> u64| -> Vec<Exchange> {
                        let operand = Some(operand);
                        (0..lanes).map(|lane| Exchange { op, ty, value: Some(value(lane)), operand }).collect()
                    };
                    let come = |all: &[Exchange]| all.iter().copied().map(Some).collect::<Vec<_>>();
                    let (zero, one) = (all(&|_| 0), all(&|lane| 1 - lane as u64 % 2));
                    for lane in 0..lanes {
                        let needs = one[lane].needs(lane, operand as u32, lanes);
                        for other in (0..lanes).filter(|other| !needs.contains(other)) {
                            for base in [&zero, &one] {
                                let mut changed = base.clone();
                                changed[other].value = Some(1);
                                let evaluated = |all: &[Exchange]| {
                                    let values: Vec<u64> = all.iter().filter_map(|part| part.value).collect();
                                    evaluate(op, ty, &values, &vec![operand as u32; lanes])[lane]
                                };
                                assert_eq!(evaluated(base), evaluated(&changed), "{op:?}: {lane} of {lanes}, {other}");
                                changed[other].value = None;
                                assert_eq!(result(&come(&changed), lane), Some(evaluated(base)), "{op:?}");
                            }
                        }
                        for other in needs {
                            let mut unknown = one.clone();
                            unknown[other].value = None;
                            assert_eq!(result(&come(&unknown), lane), None, "{op:?}");
                        }
                    }
                }
            }
        }
    }

    /// Lanes that have ended do not count in a vote, a reduction or a scan, have no bit in a ballot, and give nothing.
    #[test]
    fn lanes_that_have_ended_take_no_part() {
        let values = [Some(4), None, Some(6), None];
        let of = |op, ty, operand, lane| of_remaining(op, ty, &values, operand, lane);
        assert_eq!(of(WarpOp::ReduceSum, Type::U32, 0, 2), 10);
        assert_eq!(of(WarpOp::ReduceMin, Type::U32, 0, 0), 4);
        assert_eq!((of(WarpOp::InclusiveSum, Type::U32, 0, 0), of(WarpOp::InclusiveSum, Type::U32, 0, 2)), (4, 10));
        assert_eq!((of(WarpOp::Shuffle, Type::U32, 2, 0), of(WarpOp::Shuffle, Type::U32, 3, 0)), (6, FROM_NOBODY));
        let holds = [Some(1), None, Some(1)];
        assert_eq!(of_remaining(WarpOp::All, Type::Bool, &holds, 0, 2), 1);
        assert_eq!(of_remaining(WarpOp::Ballot, Type::Bool, &holds, 0, 2), 0b101);
    }
}
