//! Additions to a counter, and the loops that read it.

use wattle_ir::{AtomicOp, Type, TypeKind, eval};

use super::super::process::{Action, Change};
use super::Thread;
use super::clock::{Clock, Epoch};

/// An addition to a counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Addition {
    pub op: AtomicOp,
    pub ty: Type,
    pub operand: u64,
}

impl Addition {
    /// A change that adds the same to whatever it finds, without a sign.
    pub fn of(change: Change) -> Option<Addition> {
        Addition::of_any(change).filter(|addition| addition.ty.info().kind == TypeKind::Unsigned)
    }

    /// A change that adds the same to whatever it finds, with a sign or without.
    pub fn of_any(change: Change) -> Option<Addition> {
        let Change::Apply { op, ty, operand: Some(operand) } = change else { return None };
        let adds = matches!(op, AtomicOp::Add | AtomicOp::Inc) && ty.is_int();
        adds.then_some(Addition { op, ty, operand })
    }

    /// What it leaves where it finds this value.
    pub fn applied(self, value: u64) -> u64 {
        eval::atomic(self.op, self.ty, value, self.operand)
    }

    /// The value behind another one; `None` where the counter starts again, so that the place does not follow from the
    /// value.
    pub fn next(self, value: u64) -> Option<u64> {
        Some(self.applied(value)).filter(|&next| next > value)
    }
}

/// The additions to a counter since it was last written otherwise.
#[derive(Clone)]
pub struct Chain<'w> {
    pub addition: Addition,
    /// The value before the first addition, and behind each.
    pub values: Vec<u64>,
    /// What their releases have released.
    pub released: Clock,
    /// The addition that is last in the order of writes, where that is known of all so far.
    pub last: Option<Epoch>,
    /// The threads that waited for a value, and the number of additions that let them go.
    pub let_go: Vec<(LoopRead<'w>, usize)>,
}

impl Chain<'_> {
    /// Whether all threads that waited for a value would have gone on at later ones too.
    pub fn ends_all(&self) -> bool {
        self.let_go.iter().all(|(read, at)| self.values[*at..].iter().all(|&value| read.ends_at(value)))
    }

    pub fn len(&self) -> usize {
        self.values.len() - 1
    }
}

/// A thread that has come to a read of a loop.
#[derive(Clone)]
pub struct LoopRead<'w> {
    pub process: Thread<'w>,
    pub label: u32,
}

impl LoopRead<'_> {
    /// Whether the loop ends if the read returns the value.
    pub fn ends_at(&self, value: u64) -> bool {
        let mut process = self.process.clone();
        process.answer(Some(value));
        !goes_back(&mut process, self.label)
    }
}

/// Whether a thread begins the loop again next.
pub fn goes_back(process: &mut Thread<'_>, loop_label: u32) -> bool {
    matches!(process.advance(), Action::BackEdge { label, .. } if label == loop_label)
}
