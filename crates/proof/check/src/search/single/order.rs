//! What may have ordered threads, besides barriers and the ends of launches.

use wattle_memory::{Kind, Label, ThreadId};

use super::{Cell, Runs};

/// What has been executed that may order threads, besides barriers and the ends of launches.
#[derive(Clone, Copy, Default)]
pub(super) struct Order {
    /// An operation that acquires or releases, but for a barrier.
    pub of_fences: bool,
    /// An atomic access.
    pub atomics: bool,
    /// Atomic accesses of one place by threads of two blocks, or where groups of threads have barriers of their own by
    /// any two.
    pub across: bool,
    /// A barrier.
    pub barriers: bool,
    /// Something else.
    pub other: bool,
}

impl Order {
    /// Whether threads may be ordered that barriers and the ends of launches do not order. An atomic access passes on
    /// what is before a release to what is behind an acquire. Where barriers alone acquire and release, it does so
    /// between blocks: a thread that finds what another one of its block has written behind a barrier has passed that
    /// barrier.
    pub fn is_uncertain(self) -> bool {
        self.other || self.atomics && self.of_fences || self.across && self.barriers
    }
}

impl Runs<'_, '_> {
    /// Notes what an access may order.
    pub(super) fn note_order(&mut self, cell: &mut Cell, thread: ThreadId, label: Label) {
        if label.kind == Kind::Read {
            cell.reads_atomic &= label.atomic;
        }
        if !label.atomic {
            return;
        }
        self.order.atomics = true;
        self.order.of_fences |= label.acquire || label.release;
        let known = *cell.accessor.get_or_insert(thread);
        let (one, other) = (&self.runners[known], &self.runners[thread]);
        self.order.across |= known != thread && (one.block != other.block || !self.groups.is_empty());
    }
}
