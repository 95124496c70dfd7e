//! Placements of threads, and the threads that a scope includes.

use crate::Scope;

/// The reach of an event: the levels that any of the models names, narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The thread alone, for an event without a scope.
    Thread,
    /// A subgroup of Vulkan.
    Subgroup,
    /// A block: PTX's `.cta`, Vulkan's workgroup.
    Block,
    /// A queue family of Vulkan.
    QueueFamily,
    /// A device: PTX's `.gpu`.
    Device,
    /// All devices and the host together.
    System,
}

impl Level {
    /// The level that a scope names.
    pub const fn of(scope: Scope) -> Level {
        match scope {
            Scope::Block => Level::Block,
            Scope::Device => Level::Device,
            Scope::System => Level::System,
        }
    }
}

impl From<Scope> for Level {
    fn from(scope: Scope) -> Level {
        Level::of(scope)
    }
}

/// The groups that a thread is in. A group's number is its own only within the groups around it: threads share a
/// block where they have the same device, queue family and block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Placement {
    /// The device; the host is one too ([`Placement::HOST`]).
    pub device: u32,
    /// The queue family within the device; 0 where there is only one.
    pub queue_family: u32,
    /// The block within the queue family.
    pub block: u32,
    /// The subgroup within the block; 0 where subgroups are not used.
    pub subgroup: u32,
    /// The thread within the subgroup.
    pub thread: u32,
}

impl Placement {
    /// The device number of the host.
    pub const HOST: u32 = u32::MAX;

    /// A thread of a block of the only device.
    pub fn new(block: u32, thread: u32) -> Placement {
        Placement { device: 0, queue_family: 0, block, subgroup: 0, thread }
    }

    /// Whether the two threads are in one group of that level. `Thread` asks whether they are the same.
    pub fn shares(&self, other: &Placement, level: Level) -> bool {
        let device = self.device == other.device;
        let queue_family = device && self.queue_family == other.queue_family;
        let block = queue_family && self.block == other.block;
        let subgroup = block && self.subgroup == other.subgroup;
        match level {
            Level::System => true,
            Level::Device => device,
            Level::QueueFamily => queue_family,
            Level::Block => block,
            Level::Subgroup => subgroup,
            Level::Thread => subgroup && self.thread == other.thread,
        }
    }
}
