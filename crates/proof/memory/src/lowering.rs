//! The lowering table: what each scope and order becomes on each target, by the target's row in [`Target`].
//!
//! The code generators emit from it and the checker judges by it, so that the emitted code is the code that was proved.
//! Each entry is an instruction as the target's own model sees it ([`Label`]) with the name that its assembly gives it.
//!
//! | | PTX, sm_90 and PTX 8.6 on | PTX before | SPIR-V, Vulkan memory model | host |
//! |---|---|---|---|---|
//! | acquire | `fence.acquire` | `fence.acq_rel` | `OpMemoryBarrier` Acquire, MakeVisible | `fence(Acquire)` |
//! | release | `fence.release` | `fence.acq_rel` | `OpMemoryBarrier` Release, MakeAvailable | `fence(Release)` |
//! | acq_rel | `fence.acq_rel` | the same | AcquireRelease, MakeAvailable, MakeVisible | `fence(AcqRel)` |
//! | seq_cst | `fence.sc` | the same | barrier, read-modify-write of one hidden word, barrier | `fence(SeqCst)` |
//! | `Block` | `.cta` | `.cta` | Workgroup; Device in a kernel that uses wider scopes too | for the compiler alone |
//! | `Device` | `.gpu` | `.gpu` | Device | a fence of the processor |
//! | `System` | `.sys` | `.sys` | none | a fence of the processor |
//!
//! On the host a block's threads take turns on one worker, which does their accesses one after another: where they
//! switch the compiler moves nothing, so that fences of block scope need no instruction, and atomics of block scope are
//! atomic within the block alone. The model takes the block's threads for threads of their own whose fences of block
//! scope order among them, which allows more than turns do.
//!
//! `fence.acquire` and `fence.release` are defined from sm_90 and PTX 8.6 on (PTX ISA 8.6, 9.7.13.4 "membar/fence").
//! SPIR-V for Vulkan has no sequentially consistent semantics (Vulkan environment for SPIR-V, VUID 04641); see
//! [`Lowered::HiddenUpdate`] for what stands in their place.

use thiserror::Error;

use crate::target::{Scopes, SeqCst};
use crate::{Classes, FenceOrder, Kind, Label, Level, ReadOrder, Scope, Target, UpdateOrder, WriteOrder};

/// The error for a scope that a target lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{target} has no {scope} scope{}", help(.target))]
pub struct NoScope {
    /// The target.
    pub target: Target,
    /// The scope that it lacks.
    pub scope: Scope,
}

fn help(target: &Target) -> &'static str {
    match target.rules().scopes {
        Scopes::Kept | Scopes::BlockOrSystem => "",
        Scopes::WidenedWithoutSystem => {
            ": its memory model orders nothing between devices (use Scope::Device, or a CUDA device)"
        }
    }
}

/// A step of a lowered fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lowered {
    /// A single fence instruction with this label.
    Fence(Label),
    /// A read-modify-write that acquires and releases, on one hidden word per device that nothing else touches.
    ///
    /// The updates of one word stand in one order, and each synchronizes with all that follow it there. So of two
    /// sequentially consistent fences one comes first, and what precedes it happens before what follows the other:
    /// store buffering is gone. The barriers on both sides carry that to the accesses around: a read-modify-write
    /// alone is no fence, and a publication through it would be racy.
    HiddenUpdate {
        /// The label of its read.
        read: Label,
        /// The label of its write.
        write: Label,
    },
}

/// The steps of a lowered fence: up to three, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps(pub [Option<Lowered>; 3]);

impl IntoIterator for Steps {
    type Item = Lowered;
    type IntoIter = std::iter::Flatten<std::array::IntoIter<Option<Lowered>, 3>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().flatten()
    }
}

/// The lowering of the memory operations of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lowering {
    target: Target,
    /// The widest scope that the kernel uses.
    widest: Scope,
}

impl Lowering {
    /// The lowering of a kernel whose widest scope is `widest`.
    pub const fn new(target: Target, widest: Scope) -> Lowering {
        Lowering { target, widest }
    }

    /// The target of this lowering.
    pub fn target(&self) -> Target {
        self.target
    }

    /// The level of an operation of that scope.
    ///
    /// # Errors
    /// The target lacks the scope.
    pub const fn level(&self, scope: Scope) -> Result<Level, NoScope> {
        match (self.target.rules().scopes, scope) {
            (Scopes::Kept, _) => Ok(Level::of(scope)),
            (Scopes::BlockOrSystem, Scope::Block) => Ok(Level::Block),
            (Scopes::BlockOrSystem, Scope::Device | Scope::System) => Ok(Level::System),
            (Scopes::WidenedWithoutSystem, Scope::System) => Err(NoScope { target: self.target, scope }),
            (Scopes::WidenedWithoutSystem, Scope::Block) if self.uses_wider() => Ok(Level::Device),
            (Scopes::WidenedWithoutSystem, Scope::Block | Scope::Device) => Ok(Level::of(scope)),
        }
    }

    /// Whether the kernel uses scopes wider than the block.
    const fn uses_wider(&self) -> bool {
        !matches!(self.widest, Scope::Block)
    }

    /// The steps of a lowered fence.
    ///
    /// # Errors
    /// The target lacks the scope.
    pub const fn fence(&self, order: FenceOrder, scope: Scope) -> Result<Steps, NoScope> {
        let rules = self.target.rules();
        let plain = match self.level(scope) {
            Ok(level) => Label::fence(level),
            Err(error) => return Err(error),
        };
        let both = plain.acquiring().releasing();
        let label = match order {
            FenceOrder::Acquire if rules.one_sided_fences => plain.acquiring(),
            FenceOrder::Release if rules.one_sided_fences => plain.releasing(),
            FenceOrder::Acquire | FenceOrder::Release | FenceOrder::AcqRel => both,
            FenceOrder::SeqCst => match rules.seq_cst {
                SeqCst::Fence => plain.sequentially_consistent(),
                SeqCst::HiddenUpdate => {
                    let (read, write) = (Label::atomic_read(Level::Device), Label::atomic_write(Level::Device));
                    let (read, write) = (coherent(read).acquiring(), coherent(write).releasing());
                    let barrier = Some(Lowered::Fence(both));
                    return Ok(Steps([barrier, Some(Lowered::HiddenUpdate { read, write }), barrier]));
                }
            },
        };
        Ok(Steps([Some(Lowered::Fence(label)), None, None]))
    }

    /// The label of a plain read. `shared` says whether other threads may touch the memory meanwhile.
    pub fn read(&self, storage: Classes, shared: bool) -> Label {
        self.plain(Label::plain_read().of(storage), shared)
    }

    /// The label of a plain write. `shared` says whether other threads may touch the memory meanwhile.
    pub fn write(&self, storage: Classes, shared: bool) -> Label {
        self.plain(Label::plain_write().of(storage), shared)
    }

    fn plain(&self, label: Label, shared: bool) -> Label {
        // On Vulkan every access to memory that others may touch is NonPrivatePointer, which labels are by default.
        if self.target.rules().shared_is_atomic && shared {
            Label { atomic: true, level: Level::System, ..label }
        } else {
            label
        }
    }

    /// The label of an atomic read.
    ///
    /// # Errors
    /// The target lacks the scope.
    pub fn atomic_read(&self, order: ReadOrder, scope: Scope, storage: Classes) -> Result<Label, NoScope> {
        let label = self.atomic(Label::atomic_read(self.level(scope)?).of(storage));
        Ok(if order == ReadOrder::Acquire { label.acquiring() } else { label })
    }

    /// The label of an atomic write.
    ///
    /// # Errors
    /// The target lacks the scope.
    pub fn atomic_write(&self, order: WriteOrder, scope: Scope, storage: Classes) -> Result<Label, NoScope> {
        let label = self.atomic(Label::atomic_write(self.level(scope)?).of(storage));
        Ok(if order == WriteOrder::Release { label.releasing() } else { label })
    }

    /// The labels of the halves of a read-modify-write: one that acquires does so with its read, one that releases with
    /// its write.
    ///
    /// # Errors
    /// The target lacks the scope.
    pub fn update(&self, order: UpdateOrder, scope: Scope, storage: Classes) -> Result<(Label, Label), NoScope> {
        let read = if order.acquires() { ReadOrder::Acquire } else { ReadOrder::Relaxed };
        let write = if order.releases() { WriteOrder::Release } else { WriteOrder::Relaxed };
        Ok((self.atomic_read(read, scope, storage)?, self.atomic_write(write, scope, storage)?))
    }

    fn atomic(&self, label: Label) -> Label {
        if self.target.rules().coherent_atomics { coherent(label) } else { label }
    }

    /// The label of the block's barrier, which orders all memory among the threads of the block.
    ///
    /// Vulkan's has an execution scope, which is always the workgroup, and a memory scope. In a kernel that uses wider
    /// scopes that is the device: chains of availability and visibility lead through accesses, not from fence to fence,
    /// so what a device-scope fence made visible to one thread a workgroup-scope barrier would not pass on.
    pub fn barrier(&self) -> Label {
        let level = match self.target.rules().scopes {
            Scopes::WidenedWithoutSystem if self.uses_wider() => Level::Device,
            Scopes::Kept | Scopes::BlockOrSystem | Scopes::WidenedWithoutSystem => Level::Block,
        };
        Label::barrier(level)
    }

    /// Whether a compare-exchange that fails writes the old value back.
    pub fn failed_exchange_writes(&self) -> bool {
        self.target.rules().failed_exchange_writes
    }
}

/// Makes an atomic available and visible within its scope by itself, as on Vulkan.
const fn coherent(label: Label) -> Label {
    Label { coherent: true, ..label }
}

/// The name of a fence in PTX assembly; `None` for a label that is no fence.
pub fn ptx_fence_name(label: &Label) -> Option<String> {
    if label.kind != Kind::Fence {
        return None;
    }
    let order = match (label.sc, label.acquire, label.release) {
        (true, ..) => "sc",
        (_, true, true) => "acq_rel",
        (_, true, false) => "acquire",
        (_, false, true) => "release",
        (_, false, false) => return None,
    };
    Some(format!("fence.{order}.{}", ptx_scope_name(label.level)))
}

/// The name of a scope in PTX assembly.
pub fn ptx_scope_name(level: Level) -> &'static str {
    match level {
        Level::Thread | Level::Subgroup | Level::Block => "cta",
        Level::QueueFamily | Level::Device => "gpu",
        Level::System => "sys",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(sm: u32) -> Vec<String> {
        let lowering = Lowering::new(Target::Ptx { sm }, Scope::System);
        let mut names = Vec::new();
        for order in [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::SeqCst] {
            for scope in Scope::ALL {
                for step in lowering.fence(order, scope).unwrap() {
                    let Lowered::Fence(label) = step else { continue };
                    names.extend(ptx_fence_name(&label));
                }
            }
        }
        names
    }

    #[test]
    fn ptx_fences_are_one_instruction_each() {
        let expected = |orders: [&str; 4]| -> Vec<String> {
            orders
                .iter()
                .flat_map(|order| ["cta", "gpu", "sys"].map(|scope| format!("fence.{order}.{scope}")))
                .collect()
        };
        assert_eq!(names(90), expected(["acquire", "release", "acq_rel", "sc"]));
        assert_eq!(names(80), expected(["acq_rel", "acq_rel", "acq_rel", "sc"]));
    }

    #[test]
    fn vulkan_has_no_system_scope_and_widens_blocks_in_kernels_that_use_wider_ones() {
        let system = Lowering::new(Target::Vulkan, Scope::System);
        assert!(system.fence(FenceOrder::Release, Scope::System).is_err());
        assert_eq!(system.level(Scope::Block), Ok(Level::Device));
        assert_eq!(Lowering::new(Target::Vulkan, Scope::Block).level(Scope::Block), Ok(Level::Block));
        let sc = Lowering::new(Target::Vulkan, Scope::Block).fence(FenceOrder::SeqCst, Scope::Block);
        let levels = sc.unwrap().into_iter().map(|step| match step {
            Lowered::Fence(label) => label.level,
            Lowered::HiddenUpdate { read, .. } => read.level,
        });
        assert_eq!(levels.collect::<Vec<_>>(), [Level::Block, Level::Device, Level::Block]);
    }
}
