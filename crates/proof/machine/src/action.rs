//! What an instruction does to memory that threads share: the kind of its access, its order and its scope.

use wattle_ir::Place;
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

/// What an instruction does to memory that threads share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the fields are the place, the order and the scope")]
pub enum Action {
    /// A plain load or store.
    Plain { place: Place, store: bool },
    /// An atomic load.
    Load { place: Place, order: ReadOrder, scope: Scope },
    /// An atomic store.
    Store { place: Place, order: WriteOrder, scope: Scope },
    /// A read-modify-write.
    Update { place: Place, order: UpdateOrder, scope: Scope },
    /// A fence.
    Fence { order: FenceOrder, scope: Scope },
    /// The block's barrier.
    Barrier,
    /// The warp's barrier.
    WarpBarrier,
}

impl Action {
    /// The scope of a fence or of an atomic access.
    pub fn scope(self) -> Option<Scope> {
        match self {
            Action::Load { scope, .. }
            | Action::Store { scope, .. }
            | Action::Update { scope, .. }
            | Action::Fence { scope, .. } => Some(scope),
            Action::Plain { .. } | Action::Barrier | Action::WarpBarrier => None,
        }
    }

    /// Whether the instruction may write memory.
    pub(crate) fn writes(self) -> bool {
        match self {
            Action::Plain { store, .. } => store,
            Action::Store { .. } | Action::Update { .. } => true,
            Action::Load { .. } | Action::Fence { .. } | Action::Barrier | Action::WarpBarrier => false,
        }
    }
}
