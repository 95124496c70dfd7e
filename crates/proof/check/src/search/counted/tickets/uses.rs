//! What the segments of all threads do to the cells, and whether it is the same in whatever order the tickets are
//! taken.

use rustc_hash::FxHashMap;
use wattle_memory::ThreadId;

use super::super::super::process::Address;
use super::super::super::single::Commuting;
use super::super::CountedState;
use super::super::varying::{Left, Values};
use super::segment::{Segment, Stored, Touch, Unit, UnitAccess, UnitAccessKind};

/// A ticket: the number of its counter, and what it has of it: from the value that the addition returns to the one that
/// it leaves, without that. Two tickets of one counter that are given in one execution have nothing in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ticket {
    pub counter: usize,
    pub from: u64,
    pub to: u64,
}

/// What is known of several: nothing yet, that they are all equal, or that they differ.
#[derive(Clone, Copy, PartialEq, Default)]
enum All<T> {
    #[default]
    None,
    Same(T),
    Differ,
}

impl<T: PartialEq> All<T> {
    fn add(&mut self, one: T) {
        *self = match std::mem::take(self) {
            All::None => All::Same(one),
            All::Same(known) if known == one => All::Same(known),
            All::Same(_) | All::Differ => All::Differ,
        };
    }
}

/// What the tickets of all threads that access a cell have in common.
#[derive(Clone, Copy)]
enum Common {
    /// No segment accesses the cell.
    Nobody,
    /// The part of the counter that is in all of the tickets: no two of them are given in one execution.
    Part(Ticket),
    /// The tickets have nothing in common.
    Nothing,
}

impl Common {
    fn add(&mut self, ticket: Ticket) {
        *self = match *self {
            // Of who adds nothing there may be two.
            Common::Nobody if ticket.from < ticket.to => Common::Part(ticket),
            Common::Part(known) => {
                let both = Ticket { from: known.from.max(ticket.from), to: known.to.min(ticket.to), ..known };
                if known.counter == ticket.counter && both.from < both.to {
                    Common::Part(both)
                } else {
                    Common::Nothing
                }
            }
            Common::Nobody | Common::Nothing => Common::Nothing,
        };
    }
}

/// The updates that the segments of a ticket make: their operands, and the number of segments that make some.
#[derive(Default)]
struct Changes {
    operands: All<Vec<Option<u64>>>,
    segments: usize,
}

/// What segments do to a cell.
struct Use {
    units: All<usize>,
    tickets: All<Ticket>,
    common: Common,
    /// Whether some segment reads what was there before.
    finds: bool,
    /// What the segments leave there, which values these are, and how many segments leave something.
    leaves: All<Stored>,
    values: Values,
    leaving: usize,
    /// What the updates of the segments of each ticket make of a value.
    commuting: All<Commuting>,
    changes: FxHashMap<Ticket, Changes>,
    /// Whether it is read, or written otherwise.
    is_accessed: bool,
    readers: Vec<ThreadId>,
    writers: Vec<ThreadId>,
    /// The threads that access it before the first barrier of a segment, or behind the last one before another ticket,
    /// and whether one of them writes.
    early: All<ThreadId>,
    late: All<ThreadId>,
    writes_at_ends: bool,
}

/// What all segments do to the cells.
#[derive(Default)]
pub struct Uses {
    cells: FxHashMap<Address, Use>,
    /// The number of segments that begin with each ticket.
    segments: FxHashMap<Ticket, usize>,
}

impl Uses {
    /// Takes a segment of a unit that begins with this ticket.
    pub fn add(&mut self, unit: usize, ticket: Ticket, segment: Segment<'_>) {
        *self.segments.entry(ticket).or_default() += 1;
        let goes_on = segment.takes_a_ticket().is_some();
        for (address, touch) in segment.cells {
            let used = self.cells.entry(address).or_default();
            used.add(unit, ticket, touch, segment.barriers, goes_on);
        }
    }

    /// Whether no segments that can be in one execution conflict. Two of one ticket cannot.
    pub fn are_apart(&self, units: &[Unit], mut is_counter: impl FnMut(Address) -> bool) -> bool {
        self.cells.iter().all(|(&address, used)| !is_counter(address) && used.is_apart(units))
    }

    /// Leaves in the cells what all segments together do. `given` is whether a ticket is given in every execution.
    pub fn leave(self, state: &mut CountedState<'_>, given: impl Fn(Ticket) -> bool) -> Option<()> {
        let all = |ticket: Ticket| given(ticket).then(|| self.segments.get(&ticket).copied().unwrap_or(0));
        let at: Vec<_> = self.cells.values().map(|used| (state.now(&used.writers), state.now(&used.readers))).collect();
        for ((&address, used), (writers, readers)) in self.cells.iter().zip(at) {
            let cell = state.cells.get_mut(&address)?;
            match used.commuting {
                All::Same(commuting) if !used.is_accessed => {
                    cell.change(commuting, used.changed(commuting, cell.value, all), &writers)?;
                }
                All::None | All::Same(_) | All::Differ => {
                    cell.leave(used.left(all), &writers, &readers)?;
                }
            }
        }
        Some(())
    }
}

impl Default for Use {
    fn default() -> Use {
        Use {
            units: All::None,
            tickets: All::None,
            common: Common::Nobody,
            finds: false,
            leaves: All::None,
            values: Values::none(),
            leaving: 0,
            commuting: All::None,
            changes: FxHashMap::default(),
            is_accessed: false,
            readers: Vec::new(),
            writers: Vec::new(),
            early: All::None,
            late: All::None,
            writes_at_ends: false,
        }
    }
}

impl Use {
    fn add(&mut self, unit: usize, ticket: Ticket, touch: Touch, barriers: u32, goes_on: bool) {
        self.units.add(unit);
        self.tickets.add(ticket);
        self.common.add(ticket);
        self.finds |= touch.finds;
        if let Some(left) = touch.leaves {
            self.leaves.add(left);
            self.leaving += 1;
            match left {
                Stored::Value(value, false) => self.values.extend([value]),
                Stored::Value(_, true) | Stored::Unknown => self.values.forget(),
            }
        }
        if let Some((commuting, operands)) = touch.changes {
            self.commuting.add(commuting);
            let changes = self.changes.entry(ticket).or_default();
            changes.operands.add(operands);
            changes.segments += 1;
        }
        for UnitAccess { thread, behind, kind } in touch.accesses {
            self.is_accessed |= kind != UnitAccessKind::Change;
            let threads = if kind == UnitAccessKind::Read { &mut self.readers } else { &mut self.writers };
            if threads.last() != Some(&thread) {
                threads.push(thread);
            }
            if behind == 0 {
                self.early.add(thread);
            }
            let is_late = behind == barriers && goes_on;
            if is_late {
                self.late.add(thread);
            }
            self.writes_at_ends |= kind != UnitAccessKind::Read && (behind == 0 || is_late);
        }
    }

    /// Whether no two segments conflict here that are in one execution.
    fn is_apart(&self, units: &[Unit]) -> bool {
        if self.writers.is_empty() || matches!(self.common, Common::Part(_)) {
            return true;
        }
        if let (All::Same(_), false) = (self.commuting, self.is_accessed) {
            return true;
        }
        // What a unit finds that has been there before depends on which tickets it had.
        let All::Same(unit) = self.units else { return false };
        if self.finds || self.commuting != All::None {
            return false;
        }
        let is_ordered = match (self.early, self.late) {
            (All::None, _) | (_, All::None) => true,
            (All::Same(early), All::Same(late)) => early == late,
            (All::Differ, _) | (_, All::Differ) => false,
        };
        units[unit].members.len() == 1 || is_ordered || !self.writes_at_ends
    }

    /// What one of the segments leaves, the others in other executions.
    fn left(&self, all: impl Fn(Ticket) -> Option<usize>) -> Left {
        if self.commuting != All::None {
            return Left::Several(Values::default());
        }
        let is_left = match self.tickets {
            All::Same(ticket) => all(ticket) == Some(self.leaving),
            All::None | All::Differ => false,
        };
        match self.leaves {
            All::Same(Stored::Value(value, unwritten)) if is_left => Left::One(value, unwritten),
            All::None | All::Same(_) | All::Differ if is_left => Left::Several(self.values.clone()),
            All::None | All::Same(_) | All::Differ => Left::Perhaps(self.values.clone()),
        }
    }

    /// What the updates make of a value; `None` where that depends on who gets which ticket.
    fn changed(&self, commuting: Commuting, first: u64, all: impl Fn(Ticket) -> Option<usize>) -> Option<u64> {
        let mut value = first;
        for (&ticket, changes) in &self.changes {
            let All::Same(operands) = &changes.operands else { return None };
            if all(ticket) != Some(changes.segments) {
                return None;
            }
            for &operand in operands {
                value = commuting.applied(value, operand?);
            }
        }
        Some(value)
    }
}
