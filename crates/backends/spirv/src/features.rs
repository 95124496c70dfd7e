//! The features of a device that code depends on, and the errors for a kernel that needs more.

use rspirv::spirv::Capability;
use thiserror::Error;
use wattle_ir::{DeviceProperty, FloatFormat, Place, Site, Type};

/// What a Vulkan device has, as far as code depends on it.
///
/// All devices have the memory model with device scope and chains of availability and visibility; the ones that do not
/// are no devices of Wattle's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    /// The device's name, for errors.
    pub device: String,
    /// `shaderInt8` and `storageBuffer8BitAccess`.
    pub int8: bool,
    /// `shaderInt16` and `storageBuffer16BitAccess`.
    pub int16: bool,
    /// `shaderInt64`.
    pub int64: bool,
    /// `shaderFloat64`.
    pub float64: bool,
    /// `shaderFloat16`, with [`Features::int16`] and all that leaves one result for a sum, difference, product or
    /// conversion, each of which Vulkan has rounded correctly (Vulkan 1.3, appendix "Precision and Operation of SPIR-V
    /// Instructions"): `shaderRoundingModeRTEFloat16`, `shaderDenormPreserveFloat16` and
    /// `shaderSignedZeroInfNanPreserveFloat16`, whatever modes other widths have.
    pub float16: bool,
    /// `shaderBufferInt64Atomics`.
    pub buffer_int64_atomics: bool,
    /// `shaderSharedInt64Atomics`.
    pub shared_int64_atomics: bool,
    /// `shaderBufferFloat32AtomicAdd` and `shaderBufferFloat32Atomics`.
    pub buffer_float32_add: bool,
    /// `shaderSharedFloat32AtomicAdd` and `shaderSharedFloat32Atomics`.
    pub shared_float32_add: bool,
    /// `shaderBufferFloat64AtomicAdd` and `shaderBufferFloat64Atomics`.
    pub buffer_float64_add: bool,
    /// `shaderSharedFloat64AtomicAdd` and `shaderSharedFloat64Atomics`.
    pub shared_float64_add: bool,
    /// `shaderSignedZeroInfNanPreserveFloat32`.
    pub preserve32: bool,
    /// `shaderSignedZeroInfNanPreserveFloat64`.
    pub preserve64: bool,
    /// `shaderRoundingModeRTEFloat32`.
    pub nearest32: bool,
    /// `shaderRoundingModeRTEFloat64`.
    pub nearest64: bool,
    /// `shaderDeviceClock`: a clock that all threads have together.
    pub device_clock: bool,
    /// `shaderSubgroupClock`: a clock for each subgroup.
    pub subgroup_clock: bool,
    /// `maxPushConstantsSize`, in bytes; at least 128.
    pub push_constant_bytes: u32,
    /// `maxPerStageDescriptorStorageBuffers`, less the three that every launch has.
    pub max_views: u32,
    /// The device's support for warps, which Vulkan calls subgroups.
    pub subgroups: Subgroups,
    /// The workarounds that the device's driver needs.
    pub workarounds: Workarounds,
    /// Whether a host watches the launch: threads look whether it is to begin and to stop, and report where they were.
    pub watched: bool,
}

/// What a device does with warps, which Vulkan calls subgroups, in compute shaders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subgroups {
    /// `VK_SUBGROUP_FEATURE_VOTE_BIT` and `VK_SUBGROUP_FEATURE_BALLOT_BIT`.
    pub votes: bool,
    /// `VK_SUBGROUP_FEATURE_SHUFFLE_BIT`.
    pub shuffles: bool,
    /// `VK_SUBGROUP_FEATURE_ARITHMETIC_BIT`.
    pub arithmetic: bool,
    /// `computeFullSubgroups`.
    pub full: bool,
    /// `shaderMaximalReconvergence`: invocations that part within a construct are together again behind it, as in the
    /// source.
    pub reconverges: bool,
    /// The most lanes that a subgroup has; what a device without shuffles goes through.
    pub most_lanes: u32,
    /// Whether the driver is known to run the invocations of a subgroup as one vector, which are together again behind
    /// each construct, though it does not promise so.
    pub in_lock_step: bool,
}

/// What a type needs of a device.
pub(crate) struct Needs {
    /// Whether the device has it.
    pub has: fn(&Features) -> bool,
    /// The features' names in Vulkan.
    pub features: &'static str,
    /// The capabilities that a module declares.
    pub capabilities: &'static [Capability],
}

/// What a type needs of a device; `None` for the types that all devices have.
pub(crate) fn needs(ty: Type) -> Option<Needs> {
    use Capability::{Float16, Float64, Int8, Int16, Int64, StorageBuffer8BitAccess, StorageBuffer16BitAccess};
    let needs = |has, features, capabilities| Some(Needs { has, features, capabilities });
    match ty {
        Type::Bool | Type::U32 | Type::I32 | Type::F32 => None,
        Type::U8 | Type::I8 => {
            needs(|has| has.int8, "shaderInt8 with storageBuffer8BitAccess", &[Int8, StorageBuffer8BitAccess])
        }
        Type::U16 | Type::I16 | Type::BF16 => {
            needs(|has| has.int16, "shaderInt16 with storageBuffer16BitAccess", &[Int16, StorageBuffer16BitAccess])
        }
        // Where the device does not calculate with it, code holds its bits.
        Type::F16 => needs(
            |has| has.int16,
            "shaderInt16 with storageBuffer16BitAccess",
            &[Float16, Int16, StorageBuffer16BitAccess],
        ),
        Type::U64 | Type::I64 => needs(|has| has.int64, "shaderInt64", &[Int64]),
        Type::F64 => needs(|has| has.float64, "shaderFloat64", &[Float64]),
    }
}

/// Faults of drivers that code must go around. Each was found by running it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Workarounds {
    /// The driver silently ends loops after this many iterations of an invocation, over all its loops: each loop checks
    /// behind itself whether it was left as it should, and reports a fault else (lavapipe: 65,535).
    pub loops_end_after: Option<u32>,
    /// A value computed in a loop is wrong behind it for invocations that leave in the midst: loops are left at their
    /// heads alone (lavapipe always, SwiftShader in one of some thousand random kernels).
    pub leave_loops_at_the_head: bool,
    /// The driver takes a fence for a barrier of its block's subgroups, and gives up those that have not come to as
    /// many as the first one: a block in which fences stand in loops may have one subgroup alone (lavapipe;
    /// [`crate::Module::orders_in_loops`]).
    pub fences_in_loops_end_blocks: bool,
    /// Lanes of a subgroup that have no thread stay in loops that ask memory: blocks are padded to whole subgroups,
    /// with threads that do nothing (lavapipe).
    pub pads_blocks: bool,
    /// `Fma` is a product and a sum, rounded twice: it is computed in parts instead (lavapipe, SwiftShader).
    pub split_fma: bool,
    /// The compiler takes what it recognizes for something else: a product or quotient with a zero is zero, whatever
    /// the other operand is, and so is `x - x`; a sum with a zero is the other operand, which may be -0; a choice of
    /// -1.0 and 0.0 becomes -0.0 for the latter; a widened integer is compared with a constant wrongly. Operands are
    /// hidden behind a zero that only the host knows ([`crate::ArgumentWord::Zero`]; lavapipe).
    pub folds_wrongly: bool,
    /// The square root of a constant is zero now and then, within branches: operands of roots are hidden too
    /// (SwiftShader).
    pub loses_roots: bool,
    /// Integers beyond 2^24 become floats that are rounded twice: they are converted in halves (SwiftShader).
    pub rough_conversion: bool,
    /// `Floor`, `Ceil`, `RoundEven` and `Trunc` of `f64` leave numbers beyond 2^24 as they are, and lose the sign of a
    /// zero (lavapipe on processors without AVX-512).
    pub rough_rounding: bool,
    /// Quotients and square roots of floats are within Vulkan's bounds, 2.5 ulp and more, and no better: they are
    /// corrected. All hardware may be so, as far as Vulkan promises (Vulkan 1.3, appendix "Precision and Operation of
    /// SPIR-V Instructions").
    pub rough_division: bool,
    /// Beside a view that is `NonWritable`, a load of another view misses the thread's own store before it: no view is
    /// (NVIDIA 580.159).
    pub loads_miss_stores: bool,
}

impl Workarounds {
    /// Whether values are hidden behind a zero that only the host knows.
    pub(crate) fn hides(&self) -> bool {
        self.folds_wrongly || self.loses_roots
    }
}

impl Features {
    /// Whether the device has an instruction to add a float of type `ty` to a place.
    pub(crate) fn adds(&self, place: Place, ty: Type) -> bool {
        let (in_buffer, in_shared) = match ty.float_format() {
            Some(FloatFormat::F32) => (self.buffer_float32_add, self.shared_float32_add),
            Some(FloatFormat::F64) => (self.buffer_float64_add, self.shared_float64_add),
            Some(FloatFormat::Half(_)) | None => return false,
        };
        match place {
            Place::Param(_) => in_buffer,
            Place::Shared(_) => in_shared,
            // Atomics are of memory that threads share.
            Place::Local(_) => false,
        }
    }

    /// What a kernel that asks is answered; the size of a warp is known when a launch is made.
    pub(crate) fn answer(&self, property: DeviceProperty) -> Option<u32> {
        let has = match property {
            DeviceProperty::WarpSize => return None,
            DeviceProperty::ComputeCapability | DeviceProperty::Bfloat16 => false,
            DeviceProperty::Float16 => self.float16,
            DeviceProperty::Int8 => self.int8,
            DeviceProperty::Int16 => self.int16,
            DeviceProperty::Int64 => self.int64,
            DeviceProperty::Float64 => self.float64,
            DeviceProperty::Clock => self.device_clock || self.subgroup_clock,
        };
        Some(has.into())
    }

    /// All features that code can use: what `wattle emit` shows where no device is named.
    pub fn all() -> Features {
        Features {
            device: "any device with all features".into(),
            int8: true,
            int16: true,
            int64: true,
            float64: true,
            float16: true,
            buffer_int64_atomics: true,
            shared_int64_atomics: true,
            buffer_float32_add: true,
            shared_float32_add: true,
            buffer_float64_add: true,
            shared_float64_add: true,
            preserve32: true,
            preserve64: true,
            nearest32: true,
            nearest64: true,
            device_clock: true,
            subgroup_clock: true,
            push_constant_bytes: 256,
            max_views: 29,
            subgroups: Subgroups {
                votes: true,
                shuffles: true,
                arithmetic: true,
                full: true,
                reconverges: true,
                most_lanes: 128,
                in_lock_step: false,
            },
            workarounds: Workarounds::default(),
            watched: true,
        }
    }

    /// Returns the features for launches that no host watches: without the looks at words that none of their threads
    /// writes, and without the places that nobody reads. It is for a search of all executions.
    pub fn unwatched(self) -> Features {
        Features { watched: false, ..self }
    }

    /// The least features that a device of Wattle's has.
    pub fn least() -> Features {
        Features {
            device: "the least device".into(),
            int8: false,
            int16: false,
            int64: false,
            float64: false,
            float16: false,
            buffer_int64_atomics: false,
            shared_int64_atomics: false,
            buffer_float32_add: false,
            shared_float32_add: false,
            buffer_float64_add: false,
            shared_float64_add: false,
            preserve32: false,
            preserve64: false,
            nearest32: false,
            nearest64: false,
            device_clock: false,
            subgroup_clock: false,
            push_constant_bytes: 128,
            subgroups: Subgroups::default(),
            ..Features::all()
        }
    }
}

/// Something that a kernel uses and a device lacks.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Lacking {
    /// The device lacks a type.
    #[error("kernel `{kernel}` uses {ty} at {site}, and device `{device}` lacks {feature}")]
    Type {
        /// The kernel's name.
        kernel: String,
        /// The first place that uses it.
        site: Site,
        /// The type that the device lacks.
        ty: Type,
        /// The missing feature, as Vulkan names it.
        feature: &'static str,
        /// The device's name.
        device: String,
    },
    /// The device lacks atomic operations on a type.
    #[error("kernel `{kernel}` uses atomic operations on {ty} at {site}, and device `{device}` lacks {feature}")]
    Atomic {
        /// The kernel's name.
        kernel: String,
        /// The first place that uses them.
        site: Site,
        /// The type of the elements.
        ty: Type,
        /// The missing feature, as Vulkan names it.
        feature: &'static str,
        /// The device's name.
        device: String,
    },
    /// Views of 2³² elements or more: `maxStorageBufferRange` is a number of 32 bits, in bytes (Vulkan 1.3, "Limits").
    #[error(
        "kernel `{kernel}` at {site} is launched with indices of 64 bits (2^32 elements or threads or more, or `long_indices`), and \
         what a shader of device `{device}` reaches of a buffer has at most 2^32 - 1 bytes (`maxStorageBufferRange`)"
    )]
    Long {
        /// The kernel's name.
        kernel: String,
        /// The place where the kernel is defined.
        site: Site,
        /// The device's name.
        device: String,
    },
    /// The device lacks the scope of all devices and the host.
    #[error(
        "kernel `{kernel}` uses Scope::System at {site}, and device `{device}` has none: the Vulkan memory model orders \
         nothing between devices or with the host"
    )]
    Scope {
        /// The kernel's name.
        kernel: String,
        /// The first place that uses it.
        site: Site,
        /// The device's name.
        device: String,
    },
    /// The device lacks something that operations of warps need.
    #[error("kernel `{kernel}` uses its warp at {site}, and device `{device}` lacks {feature}")]
    Warps {
        /// The kernel's name.
        kernel: String,
        /// The first place that uses it.
        site: Site,
        /// The missing feature, as Vulkan names it, and what it is for.
        feature: &'static str,
        /// The device's name.
        device: String,
    },
    /// The device lets no thread read a clock.
    #[error(
        "kernel `{kernel}` reads the clock at {site}, and device `{device}` lacks shaderDeviceClock and \
         shaderSubgroupClock (VK_KHR_shader_clock)"
    )]
    Clock {
        /// The kernel's name.
        kernel: String,
        /// The first place that reads it.
        site: Site,
        /// The device's name.
        device: String,
    },
    /// The kernel has more views than the device can bind.
    #[error("kernel `{kernel}` at {site} has {views} views, and device `{device}` can bind {most} to a launch")]
    Views {
        /// The kernel's name.
        kernel: String,
        /// The place where the kernel is defined.
        site: Site,
        /// How many views it has.
        views: u32,
        /// The most views that the device can bind.
        most: u32,
        /// The device's name.
        device: String,
    },
}

impl Lacking {
    /// Advice on what to do instead.
    pub fn instead(&self) -> &'static str {
        match self {
            // Words around the elements are no way: a store would write to the bytes of neighbours that other threads',
            // launches' and copies own. Even an atomic one would race with these: only atomics of the same set of
            // memory locations are mutually ordered (Vulkan 1.3, appendix "Memory Model", "Mutually-ordered", "Data
            // race").
            Lacking::Type { ty, .. } if ty.size() < 4 => {
                "a store of 8 bits, as of a `bool`, or of 16 would there be one of the 32 bits around, neighbours included, so elements are \
                 not packed for you: use a 32-bit type, or a `u32` that holds several, with shifts, where one thread owns \
                 all of them; or another device (`wattle devices` lists them)"
            }
            Lacking::Type { .. } => "use a 32-bit type, or another device (`wattle devices` lists them)",
            Lacking::Atomic { .. } => "use 32-bit atomics, or another device (`wattle devices` lists them)",
            Lacking::Long { .. } => {
                "launch it over parts of the buffers, each with fewer than 2^32 bytes (`buffer.slice(..)`), or on a host or \
                 CUDA device"
            }
            Lacking::Scope { .. } => {
                "use Scope::Device where one device's threads are meant, or a host or CUDA device for more"
            }
            Lacking::Warps { .. } => {
                "exchange values through block shared memory and `acc.sync_block()`, or use another device"
            }
            Lacking::Clock { .. } => {
                "measure the launch from outside, between two events, or use another device (`wattle devices` lists them)"
            }
            Lacking::Views { .. } => "put several arrays into one buffer",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_answered_what_the_checker_answers() {
        for property in DeviceProperty::ALL {
            let expected = (property != DeviceProperty::WarpSize).then(|| property.on_vulkan());
            assert_eq!(Features::all().answer(property), expected, "{}", property.name());
        }
    }
}
