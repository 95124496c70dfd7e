//! How a module is run: the numbers of threads, and the first contents of its variables.

use std::collections::HashMap;

use rspirv::spirv::BuiltIn;

use super::contents::Contents;
use super::types::Leaf;

/// The launch that a module is lowered for.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The threads of a workgroup; `None` for what the module says.
    pub local_size: Option<[u32; 3]>,
    /// The number of workgroups in each dimension.
    pub workgroups: [u32; 3],
    /// The threads of a subgroup; `None` for all of a workgroup.
    pub subgroup: Option<u32>,
    /// The first contents of variables and the values of specialization constants, by the names of the results.
    pub inputs: HashMap<String, Contents>,
    /// Whether an index that is not in an array's bounds is a fault, as it is undefined behaviour (SPIR-V 1.6,
    /// "OpAccessChain"); else addresses are sums, as Dartagnan has them.
    pub checks_indices: bool,
    /// What the host binds to the module, if it does; else each buffer is memory of its own.
    pub bound: Option<Bound>,
}

/// What a launch's host binds to a module, by numbers instead of names.
#[derive(Clone, Debug, Default)]
pub struct Bound {
    /// The memory at each binding of a descriptor set.
    pub memories: HashMap<(u32, u32), BoundMemory>,
    /// The values of specialization constants, by their `SpecId`.
    pub constants: HashMap<u32, u64>,
    /// The push constants, or the values of a kernel's parameters.
    pub push: Vec<u8>,
    /// The size of the memory of a workgroup that a kernel's parameter points to.
    pub workgroup_bytes: u64,
}

/// A part of a buffer that is bound to a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundMemory {
    /// The number of the buffer.
    pub buffer: usize,
    /// The address of the first byte.
    pub address: u64,
    /// The size in bytes.
    pub bytes: u64,
}

/// The shape of a launch, with every number known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The threads of a workgroup.
    pub local_size: [u32; 3],
    /// The number of workgroups in each dimension.
    pub workgroups: [u32; 3],
    /// The threads of a subgroup.
    pub subgroup: u32,
}

impl Shape {
    /// The number of threads in a workgroup.
    pub fn threads(&self) -> u32 {
        self.local_size.iter().fold(1, |all: u32, &extent| all.saturating_mul(extent))
    }

    /// The values of a built-in for a thread; `None` for one that this reader does not know.
    pub fn built_in(&self, which: BuiltIn, workgroup: u32, thread: u32) -> Option<[u64; 4]> {
        let part = |linear: u32, of: [u32; 3]| {
            let [x, y, z] = of.map(|extent| extent.max(1));
            [linear % x, linear / x % y, linear / x / y % z].map(u64::from)
        };
        let one = |value: u32| [value.into(), 0, 0, 0];
        let three = |[x, y, z]: [u64; 3]| [x, y, z, 0];
        let subgroup = self.subgroup.max(1);
        let (group, local) = (part(workgroup, self.workgroups), part(thread, self.local_size));
        let lane = thread % subgroup;
        let below = |end: u32| 1u128.checked_shl(end).map_or(u128::MAX, |bit| bit - 1);
        let lanes = |mask: u128| [0, 32, 64, 96].map(|from| (mask >> from) as u64 & 0xFFFF_FFFF);
        let total = |number: usize| u64::from(self.local_size[number]) * u64::from(self.workgroups[number]);
        Some(match which {
            BuiltIn::NumWorkgroups => three(self.workgroups.map(u64::from)),
            BuiltIn::WorkgroupSize | BuiltIn::EnqueuedWorkgroupSize => three(self.local_size.map(u64::from)),
            BuiltIn::WorkgroupId => three(group),
            BuiltIn::LocalInvocationId => three(local),
            BuiltIn::GlobalInvocationId => {
                three([0, 1, 2].map(|number| group[number] * u64::from(self.local_size[number]) + local[number]))
            }
            BuiltIn::GlobalSize => three([0, 1, 2].map(total)),
            BuiltIn::GlobalOffset => [0; 4],
            BuiltIn::GlobalLinearId => {
                let [x, y, z] =
                    [0, 1, 2].map(|number| group[number] * u64::from(self.local_size[number]) + local[number]);
                [(z * total(1) + y) * total(0) + x, 0, 0, 0]
            }
            BuiltIn::LocalInvocationIndex => one(thread),
            BuiltIn::SubgroupSize | BuiltIn::SubgroupMaxSize => one(subgroup),
            BuiltIn::NumSubgroups => one(self.threads().div_ceil(subgroup)),
            BuiltIn::SubgroupId => one(thread / subgroup),
            BuiltIn::SubgroupLocalInvocationId => one(thread % subgroup),
            // "… Bits in the bitmask beyond those are zero" (Vulkan 1.3, "SubgroupEqMask" and those after it).
            BuiltIn::SubgroupEqMask => lanes(!below(lane) & below(lane + 1)),
            BuiltIn::SubgroupGeMask => lanes(!below(lane) & below(subgroup)),
            BuiltIn::SubgroupGtMask => lanes(!below(lane + 1) & below(subgroup)),
            BuiltIn::SubgroupLeMask => lanes(below(lane + 1)),
            BuiltIn::SubgroupLtMask => lanes(below(lane)),
            // As few as the shape needs: that is all that shows of how many the host has named.
            BuiltIn::WorkDim => {
                let is_used = |d: &usize| self.local_size[*d] > 1 || self.workgroups[*d] > 1;
                one([2, 1].into_iter().find(is_used).map_or(1, |last| last as u32 + 1))
            }
            BuiltIn::DeviceIndex => one(0),
            _ => return None,
        })
    }
}

/// A built-in variable of a thread: where it lies in the thread's memory.
#[derive(Clone, Debug)]
pub struct BuiltInVariable {
    /// The built-in that the variable is.
    pub which: BuiltIn,
    /// The scalars of the variable, with their offsets in the thread's memory.
    pub leaves: Vec<Leaf>,
}
