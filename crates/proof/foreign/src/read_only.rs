//! Memory that a kernel reads past the caches that keep it coherent, `ld.global.nc`: it must be read-only while the
//! kernel runs, whatever orders its accesses (PTX ISA 8.8, 9.7.9.9).

use std::collections::BTreeSet;
use std::sync::Mutex;

use wattle_core::lock;

/// The memories that launches read so, and those that they write. A run that no other can differ from is not looked at
/// event by event; where both meet in one memory, it has to be.
#[derive(Debug, Default)]
pub(crate) struct ReadOnly {
    /// The numbers of the launches and of the memories: those that are read so, and those that are written.
    touched: Mutex<[BTreeSet<(u32, u32)>; 2]>,
}

impl ReadOnly {
    /// Records that a launch touches a memory: that it reads it so, or that it writes it.
    pub fn touch(&self, part: u32, memory: u32, writes: bool) {
        lock(&self.touched)[usize::from(writes)].insert((part, memory));
    }

    /// Whether a launch reads a memory so, and writes it.
    pub fn is_written(&self) -> bool {
        let touched = lock(&self.touched);
        !touched[0].is_disjoint(&touched[1])
    }
}
