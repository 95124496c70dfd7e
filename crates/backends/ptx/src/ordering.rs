//! From the lowering table to PTX: fences, barriers, and the orders and scopes of atomic operations.
//!
//! What each order and scope becomes is said in [`wattle_memory::Lowering`] alone, which the checker reads too; here
//! its labels get their names. Sources: PTX ISA 8.8, 8 "Memory consistency model", 9.7.13.4 "membar/fence", 9.7.13.1
//! "bar".

use wattle_ir::Site;
use wattle_memory::{FenceOrder, Label, Lowered, Scope, ptx_fence_name, ptx_scope_name};

use crate::Lacking;
use crate::assemble::ins;
use crate::emit::Emitter;

/// The suffix for the order and scope of an instruction that does what all of `labels` say: one label, or the two
/// halves of a read-modify-write.
pub fn ordering(labels: &[Label]) -> String {
    let any = |is: fn(&Label) -> bool| labels.iter().any(is);
    let order = match (any(|label| label.acquire), any(|label| label.release)) {
        (false, false) => "relaxed",
        (true, false) => "acquire",
        (false, true) => "release",
        (true, true) => "acq_rel",
    };
    let scope = labels.first().map_or("sys", |label| ptx_scope_name(label.level));
    format!("{order}.{scope}")
}

impl Emitter<'_> {
    pub(crate) fn no_scope(&self, site: Site) -> Lacking {
        Lacking::Scope { kernel: self.kernel.name.clone(), site }
    }

    pub(crate) fn fence(&mut self, order: FenceOrder, at: Scope, site: Site) -> Result<(), Lacking> {
        let steps = self.lowering.fence(order, at).map_err(|_| self.no_scope(site))?;
        for step in steps {
            // The table gives only fences for PTX.
            let Lowered::Fence(label) = step else { return Err(self.no_scope(site)) };
            let Some(name) = ptx_fence_name(&label) else { return Err(self.no_scope(site)) };
            ins!(self, "{name}");
        }
        Ok(())
    }

    /// Emits the block's barrier, which waits and orders all memory among the block's threads.
    pub(crate) fn barrier(&mut self) {
        ins!(self, "bar.sync 0");
    }
}
