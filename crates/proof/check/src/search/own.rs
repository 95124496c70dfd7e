//! The private cells of a thread, with what it has done with them ([`super::private`]).

use rustc_hash::{FxHashMap, FxHashSet};

use super::process::Address;

/// The private cells of a thread.
#[derive(Clone, Debug, Default)]
pub struct Own {
    /// The cells that the thread has written, with values as far as they are known.
    pub cells: FxHashMap<Address, Option<u64>>,
    /// Whether the thread has written to a place that is not known.
    pub clouded: bool,
    /// The number of the thread's writes, of which some may be to one cell.
    pub writes: u32,
    /// The cells that the thread has read: a cell that another thread writes is no private one of either.
    pub read: FxHashSet<Address>,
}

impl Own {
    /// Whether threads with these cells do the same from here on.
    pub fn is_same(&self, other: &Own) -> bool {
        self.clouded == other.clouded && self.cells == other.cells
    }
}
