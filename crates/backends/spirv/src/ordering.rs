//! From the lowering table to SPIR-V: scopes, memory semantics, fences and barriers.
//!
//! What each order and scope becomes is said in [`wattle_memory::lowering`] alone, which the checker reads too; here
//! its labels get their encodings. Sources: SPIR-V 1.6, 3.2.25 "Memory Semantics" and 3.2.27 "Scope"; Vulkan 1.3,
//! appendix "Memory Model".
//!
//! # Sequentially consistent fences
//!
//! SPIR-V for Vulkan has no sequentially consistent semantics (VUID-StandaloneSpirv-MemorySemantics-10866 and the ones
//! before it). Such a fence becomes three instructions: an acquire-release barrier, an acquire-release
//! read-modify-write of one word of the device that nothing else touches, and the barrier again.
//!
//! - *Store buffering is gone.* All read-modify-writes of one word stand in one order, its scoped modification order,
//!   whichever queue and scope the fences have, since the word and its scope are the device's. Each reads what the one
//!   before it wrote, a release that is read by an acquire: it synchronizes with it. So of any two such fences one
//!   comes first, and whatever precedes it, made available by its first barrier, is visible behind the second barrier
//!   of the other.
//! - *It is an acquire and a release fence.* The barriers alone are; a read-modify-write alone is none, because it
//!   synchronizes only through its own word. A writer with a sequentially consistent fence and a reader with an acquire
//!   fence meet at the flag between them, and there the second barrier releases.
//! - *Scopes mix.* A fence of block scope keeps its barriers' scope (widened where the kernel uses wider scopes), and
//!   its read-modify-write still takes its place in the device's one order.

use rspirv::dr::Operand;
use rspirv::spirv::{MemorySemantics, Op, Scope as SpirvScope, StorageClass, Word};
use wattle_ir::Site;
use wattle_memory::{Classes, FenceOrder, Kind, Label, Level, Lowered, Scope};

use crate::Lacking;
use crate::emit::Emitter;

/// The encoding of a scope.
pub fn scope(level: Level) -> SpirvScope {
    match level {
        Level::Thread => SpirvScope::Invocation,
        Level::Subgroup => SpirvScope::Subgroup,
        Level::Block => SpirvScope::Workgroup,
        Level::QueueFamily => SpirvScope::QueueFamily,
        // The table gives no wider one for Vulkan.
        Level::Device | Level::System => SpirvScope::Device,
    }
}

/// The semantics of an instruction that does what all of `labels` say: one, or the two halves of a read-modify-write.
pub fn semantics(labels: &[Label]) -> MemorySemantics {
    let any = |is: fn(&Label) -> bool| labels.iter().any(is);
    let mut bits = match (any(|label| label.acquire), any(|label| label.release)) {
        (false, false) => return MemorySemantics::RELAXED,
        (true, false) => MemorySemantics::ACQUIRE,
        (false, true) => MemorySemantics::RELEASE,
        (true, true) => MemorySemantics::ACQUIRE_RELEASE,
    };
    if any(|label| label.semantics.includes(Classes::BUFFER)) {
        bits |= MemorySemantics::UNIFORM_MEMORY;
    }
    if any(|label| label.semantics.includes(Classes::BLOCK)) {
        bits |= MemorySemantics::WORKGROUP_MEMORY;
    }
    if any(|label| label.makes_available) {
        bits |= MemorySemantics::MAKE_AVAILABLE;
    }
    if any(|label| label.makes_visible) {
        bits |= MemorySemantics::MAKE_VISIBLE;
    }
    bits
}

impl Emitter<'_> {
    pub(crate) fn scope_word(&mut self, level: Level) -> Word {
        self.asm.word(scope(level) as u32)
    }

    pub(crate) fn semantics_word(&mut self, labels: &[Label]) -> Word {
        self.asm.word(semantics(labels).bits())
    }

    pub(crate) fn no_system_scope(&self, site: Site) -> Lacking {
        Lacking::Scope { kernel: self.kernel.name.clone(), site, device: self.features.device.clone() }
    }

    pub(crate) fn fence(&mut self, order: FenceOrder, at: Scope, site: Site) -> Result<(), Lacking> {
        let steps = self.lowering.fence(order, at).map_err(|_| self.no_system_scope(site))?;
        for step in steps {
            match step {
                Lowered::Fence(label) => {
                    let operands = [self.scope_word(label.level), self.semantics_word(&[label])];
                    self.asm.act(Op::MemoryBarrier, operands.map(Operand::IdScope).to_vec());
                }
                Lowered::HiddenUpdate { read, write } => self.update_hidden_word(read, write),
            }
        }
        Ok(())
    }

    /// Adds 1 to the hidden word, so that no compiler takes the update for a load.
    fn update_hidden_word(&mut self, read: Label, write: Label) {
        let hidden = self.interface.hidden(&mut self.asm);
        let (zero, one, word) = (self.asm.word(0), self.asm.word(1), self.asm.u32());
        let pointer = self.asm.pointer(StorageClass::StorageBuffer, word);
        let at = self.asm.of(Op::AccessChain, pointer, &[hidden, zero, zero]);
        let (scope, semantics) = (self.scope_word(read.level), self.semantics_word(&[read, write]));
        self.asm.op(
            Op::AtomicIAdd,
            word,
            vec![
                Operand::IdRef(at),
                Operand::IdScope(scope),
                Operand::IdMemorySemantics(semantics),
                Operand::IdRef(one),
            ],
        );
    }

    /// Emits the block's barrier.
    pub(crate) fn barrier(&mut self) {
        let label = self.lowering.barrier();
        debug_assert_eq!(label.kind, Kind::Barrier);
        let threads = self.scope_word(Level::Block);
        let (memory, semantics) = (self.scope_word(label.level), self.semantics_word(&[label]));
        self.asm.act(
            Op::ControlBarrier,
            vec![Operand::IdScope(threads), Operand::IdScope(memory), Operand::IdMemorySemantics(semantics)],
        );
    }
}
