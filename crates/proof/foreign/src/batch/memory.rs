//! The memory of a batch: that of modules, and the block memory of host parts.

use wattle_check::program::World as KernelWorld;
use wattle_check::search::{Address, Initial, Memory};

use crate::world::World;

/// The memory before all threads of a batch.
pub(super) struct Both<'w>(pub &'w World);

impl Memory for Both<'_> {
    fn initial(&self, address: Address) -> Initial {
        match &self.0.beside {
            Some(beside) if KernelWorld::is_shared(address.memory) => beside.initial(address),
            _ => self.0.initial(address),
        }
    }
}
