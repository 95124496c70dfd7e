//! The targets of lowering, each as a row of properties.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use thiserror::Error;

use crate::{Model, Scope};

/// The target of lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// No target: the program as it is written, under the portable model.
    Portable,
    /// PTX for a compute capability of that number, in tenths: 90 for sm_90.
    Ptx {
        /// The compute capability.
        sm: u32,
    },
    /// SPIR-V with the Vulkan memory model.
    Vulkan,
    /// The processor that the program is compiled for, as Rust sees it.
    Host,
}

impl Target {
    /// The targets that the command shows side by side.
    pub const ALL: [Target; 4] = [Target::Portable, Target::Ptx { sm: 90 }, Target::Vulkan, Target::Host];

    /// The row of the table for this target.
    pub(crate) const fn rules(self) -> Rules {
        match self {
            Target::Portable => Rules {
                family: "portable",
                model: Model::Portable,
                scopes: Scopes::Kept,
                one_sided_fences: true,
                seq_cst: SeqCst::Fence,
                shared_is_atomic: false,
                coherent_atomics: false,
                failed_exchange_writes: false,
                races_are_errors: true,
                warp_sizes: SUBGROUP_SIZES,
                converging: None,
                threads_progress: false,
                threads_by_frames: MOST_THREADS,
                code: CodeLanguage::Ptx { sm: 90 },
                most_shared: None,
                reaches_peers: true,
                races_are_undefined: true,
            },
            Target::Ptx { sm } => Rules {
                family: "ptx",
                model: Model::Ptx,
                scopes: Scopes::Kept,
                one_sided_fences: sm >= 90,
                seq_cst: SeqCst::Fence,
                shared_is_atomic: false,
                coherent_atomics: false,
                failed_exchange_writes: true,
                races_are_errors: true,
                warp_sizes: &[32],
                converging: Some(32),
                threads_progress: true,
                threads_by_frames: MOST_THREADS,
                code: CodeLanguage::Ptx { sm },
                most_shared: Some(shared_of_ptx(sm)),
                reaches_peers: true,
                races_are_undefined: false,
            },
            Target::Vulkan => Rules {
                family: "vulkan",
                model: Model::Vulkan,
                scopes: Scopes::WidenedWithoutSystem,
                one_sided_fences: true,
                seq_cst: SeqCst::HiddenUpdate,
                shared_is_atomic: false,
                coherent_atomics: true,
                failed_exchange_writes: false,
                races_are_errors: true,
                warp_sizes: SUBGROUP_SIZES,
                converging: None,
                threads_progress: false,
                threads_by_frames: MOST_THREADS,
                code: CodeLanguage::Spirv,
                most_shared: None,
                reaches_peers: false,
                races_are_undefined: true,
            },
            Target::Host => Rules {
                family: "host",
                model: Model::Rust,
                scopes: Scopes::BlockOrSystem,
                one_sided_fences: true,
                seq_cst: SeqCst::Fence,
                shared_is_atomic: true,
                coherent_atomics: false,
                failed_exchange_writes: false,
                races_are_errors: false,
                warp_sizes: &[1],
                converging: None,
                threads_progress: true,
                threads_by_frames: 1,
                code: CodeLanguage::Ptx { sm: 90 },
                most_shared: None,
                reaches_peers: true,
                races_are_undefined: false,
            },
        }
    }

    /// The model that determines the behaviour of the lowered program.
    pub const fn model(self) -> Model {
        self.rules().model
    }

    /// The target's name, without the compute capability.
    pub const fn family(self) -> &'static str {
        self.rules().family
    }

    /// Whether a data race is an error in itself in programs that are lowered for the target, under that model. On the
    /// host none is undefined: what may race are relaxed atomics there.
    pub const fn forbids_races(self, model: Model) -> bool {
        self.rules().races_are_errors && model.forbids_races()
    }

    /// The numbers of lanes that warps have where a launch asks for none. PTX's warps have 32 (PTX ISA 8.8, 2.2.1);
    /// Vulkan permits subgroups of any power of two up to 128 (Vulkan 1.3, "Required Limits": `subgroupSize`).
    pub const fn warp_sizes(self) -> &'static [u32] {
        self.rules().warp_sizes
    }

    /// The number of consecutive threads of a block that have to be at the same instance of the same barrier; `None`
    /// where all threads of the block have to (SPIR-V 1.6, `OpControlBarrier`: "the same dynamic instance"). PTX
    /// demands it of a warp's threads (PTX ISA 8.8, 9.7.13.1: `bar.sync` is `barrier.cta.sync.aligned`).
    pub const fn converging_threads(self) -> Option<u32> {
        self.rules().converging
    }

    /// The most threads per block that the target's devices choose for a launch by frames.
    pub const fn threads_by_frames(self) -> u32 {
        self.rules().threads_by_frames
    }

    /// Whether every thread of a block that has begun is promised to run while others of it wait in loops: by CUDA from
    /// sm_70 on (CUDA C++ Programming Guide, "Independent Thread Scheduling"), and by the host, whose fibers take
    /// turns. Vulkan promises nothing of invocations of one subgroup (Vulkan 1.3, "Shader Execution": their relative
    /// order is undefined), and what is portable is what all targets promise.
    pub const fn promises_threads(self) -> bool {
        self.rules().threads_progress
    }

    /// The language of the code that is made for the target and read back.
    pub const fn code(self) -> CodeLanguage {
        self.rules().code
    }

    /// The most shared memory of a block, in bytes, on devices of the target; `None` where it is a property of each.
    pub const fn most_shared(self) -> Option<u64> {
        self.rules().most_shared
    }

    /// Whether kernels on one device can use the memory of another.
    pub const fn reaches_peers(self) -> bool {
        self.rules().reaches_peers
    }

    /// Whether a program with a race has no meaning on the target. In PTX a race of accesses of one size has the
    /// outcomes that the axioms leave (PTX ISA 8.8, 8.7.1 "Conflict and data-races"); the host's plain accesses are
    /// relaxed atomics.
    pub const fn races_are_undefined(self) -> bool {
        self.rules().races_are_undefined
    }

    /// The scopes that the target has.
    pub const fn scopes(self) -> &'static [Scope] {
        match self.rules().scopes {
            Scopes::Kept | Scopes::BlockOrSystem => &Scope::ALL,
            Scopes::WidenedWithoutSystem => &[Scope::Block, Scope::Device],
        }
    }
}

/// The properties of a target: its row of the table. A new target sets all of them.
pub(crate) struct Rules {
    /// The name of the target, without the compute capability.
    family: &'static str,
    /// The model that determines the behaviour of lowered programs.
    model: Model,
    /// The lowering of scopes.
    pub scopes: Scopes,
    /// Whether it has fences that acquire or release alone; otherwise a fence does both.
    pub one_sided_fences: bool,
    /// The lowering of sequentially consistent fences.
    pub seq_cst: SeqCst,
    /// Whether plain accesses of memory that other threads may touch are relaxed atomics, so that a racy kernel is
    /// wrong and not undefined. Elsewhere they are weak.
    pub shared_is_atomic: bool,
    /// Whether atomics are available and visible within their scope by themselves.
    pub coherent_atomics: bool,
    /// Whether a compare-exchange that fails writes the old value back, and so is a read-modify-write; elsewhere it is
    /// a read. Kernels, modules and litmus files all go by this column.
    pub failed_exchange_writes: bool,
    /// Whether a race that the model forbids is an error in programs for the target.
    races_are_errors: bool,
    /// The numbers of lanes of its warps, those to be tried first coming first.
    warp_sizes: &'static [u32],
    /// The number of consecutive threads of a block that have to meet at the same barrier; `None` for all of them.
    converging: Option<u32>,
    /// Whether each thread of a block that has begun is promised to run.
    threads_progress: bool,
    /// The most threads per block of a launch by frames.
    threads_by_frames: u32,
    /// The language of the code that `check --emitted` judges: that which is made for the target, or, for the host and
    /// `portable`, whose code no reader reads, PTX in its place.
    code: CodeLanguage,
    /// The most shared memory of a block, in bytes.
    most_shared: Option<u64>,
    /// Whether kernels on one device can use the memory of another.
    reaches_peers: bool,
    /// Whether a program with a race has no meaning.
    races_are_undefined: bool,
}

/// A language of code for devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeLanguage {
    /// PTX for this compute capability, in tenths.
    Ptx {
        /// The compute capability.
        sm: u32,
    },
    /// SPIR-V.
    Spirv,
}

impl CodeLanguage {
    /// PTX, where nothing that is asked depends on the compute capability.
    pub const PTX: CodeLanguage = CodeLanguage::Ptx { sm: 90 };

    /// Whether the language's compare-exchange writes the old value back if it fails: the column of the target that the
    /// code is for.
    pub fn failed_exchange_writes(self) -> bool {
        let target = match self {
            CodeLanguage::Ptx { sm } => Target::Ptx { sm },
            CodeLanguage::Spirv => Target::Vulkan,
        };
        target.rules().failed_exchange_writes
    }
}

/// The most shared memory of a block, in bytes (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability").
const fn shared_of_ptx(sm: u32) -> u64 {
    let kib = match sm {
        70 | 72 => 96,
        75 => 64,
        80 | 87 => 163,
        86 | 89 | 120 => 99,
        _ => 227,
    };
    kib << 10
}

/// All powers of two up to 128. The first are those that differ most for small blocks: several warps, a warp for each
/// thread, one warp.
const SUBGROUP_SIZES: &[u32] = &[2, 1, 32, 4, 8, 16, 64, 128];

/// The most threads per block on devices that choose them.
const MOST_THREADS: u32 = 1024;

/// The lowering of scopes on a target.
#[derive(Clone, Copy)]
pub(crate) enum Scopes {
    /// Scopes stay unchanged.
    Kept,
    /// A block is one thread of the processor's; what applies to more applies to the whole system.
    BlockOrSystem,
    /// The target has no system scope. Block scope is widened to the device in kernels that use wider ones, since
    /// fences of different scopes do not compose; fences of device scope do.
    WidenedWithoutSystem,
}

/// The lowering of sequentially consistent fences on a target.
#[derive(Clone, Copy)]
pub(crate) enum SeqCst {
    /// A single fence instruction.
    Fence,
    /// An update of a hidden word; see [`crate::Lowered::HiddenUpdate`].
    HiddenUpdate,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Ptx { sm } => write!(f, "ptx:sm_{sm}"),
            other => f.write_str(other.family()),
        }
    }
}

/// The compute capabilities that code is made for, in tenths: the memory model's orders and scopes begin with the first
/// one (PTX ISA 8.8, 9.7.9.8 "ld": `.relaxed` and `.acquire` need sm_70).
pub const CAPABILITIES: RangeInclusive<u32> = 70..=120;

impl FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(name: &str) -> Result<Target, UnknownTarget> {
        let of_sm = || {
            let sm = name.strip_prefix("ptx:sm_")?.parse().ok().filter(|sm| CAPABILITIES.contains(sm))?;
            Some(Target::Ptx { sm })
        };
        let by_family = Target::ALL.into_iter().find(|target| target.family() == name);
        by_family.or_else(of_sm).ok_or_else(|| UnknownTarget(name.to_owned()))
    }
}

/// An error for a name that no target has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no target `{0}`: write {known}", known = known())]
pub struct UnknownTarget(pub String);

/// The names of the targets, as a list in words.
fn known() -> String {
    let name = |target: Target| match target {
        Target::Ptx { .. } => {
            format!("{target} (or another from sm_{} to sm_{})", CAPABILITIES.start(), CAPABILITIES.end())
        }
        Target::Portable | Target::Vulkan | Target::Host => target.to_string(),
    };
    let names = Target::ALL.map(name);
    let (last, others) = names.split_last().expect("there are targets");
    format!("{} or {last}", others.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{CodeLanguage, Target};

    /// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": the maximum amount of shared
    /// memory per thread block.
    #[test]
    fn blocks_have_as_much_shared_memory_as_their_devices() {
        let kib = |sm| Target::Ptx { sm }.most_shared().map(|bytes| bytes / 1024);
        let known =
            [(70, 96), (72, 96), (75, 64), (80, 163), (86, 99), (87, 163), (89, 99), (90, 227), (100, 227), (120, 99)];
        for (sm, most) in known {
            assert_eq!(kib(sm), Some(most), "sm_{sm}");
        }
        assert_eq!([Target::Portable, Target::Vulkan, Target::Host].map(Target::most_shared), [None; 3]);
    }

    #[test]
    fn targets_differ_in_what_devices_reach_and_what_races_mean() {
        // PTX's axioms leave racing accesses their outcomes, and the host's are relaxed atomics.
        let is = |property: fn(Target) -> bool| Target::ALL.map(property);
        assert_eq!(is(Target::races_are_undefined), [true, false, true, false]);
        assert_eq!(is(Target::reaches_peers), [true, true, false, true]);
        assert_eq!(Target::Ptx { sm: 80 }.code(), CodeLanguage::Ptx { sm: 80 });
        assert_eq!(Target::Vulkan.code(), CodeLanguage::Spirv);
    }

    #[test]
    fn names_of_targets_are_read_back() {
        for target in Target::ALL.into_iter().chain([Target::Ptx { sm: 80 }]) {
            assert_eq!(target.to_string().parse(), Ok(target));
        }
        assert_eq!("ptx".parse(), Ok(Target::Ptx { sm: 90 }));
        let error = "ptx:sm_60".parse::<Target>().expect_err("no such capability").to_string();
        let expected = "there is no target `ptx:sm_60`: write portable, ptx:sm_90 (or another from sm_70 to sm_120), vulkan or host";
        assert_eq!(error, expected);
    }
}
