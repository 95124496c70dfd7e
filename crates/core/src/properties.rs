//! What devices are and can do.

use wattle_memory::{Scope, Target};

use crate::module::code::ModuleLanguage;

/// What a device is and can do. Backends begin with [`Properties::new`], and set what they know better.
#[doc(alias = "cudaDeviceProp")]
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Properties {
    /// The name that [`Device::select`](crate::Device::select) takes.
    pub name: String,
    /// A description of the device, for people.
    pub description: String,
    /// The kind of device.
    pub kind: DeviceKind,
    /// The target that kernels are lowered to for it; `None` of a device that runs them as they are written, under a
    /// model.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub target: Option<Target>,
    /// How many blocks run at the same time, as far as is known.
    pub workers: u32,
    /// The memory in bytes; 0 where the size is unknown.
    #[cfg_attr(feature = "serde", serde(rename = "memory_bytes"))]
    pub memory: u64,
    /// How many lanes a warp has where a launch asks for no other number: threads of a block that run in lock step on a
    /// GPU and exchange values ([`Warp`](crate::Warp)).
    pub warp_width: u32,
    /// The most threads that a block can have.
    pub max_threads_per_block: u32,
    /// The most bytes of shared memory that a block can have.
    #[cfg_attr(feature = "serde", serde(rename = "max_shared_bytes"))]
    pub max_shared_memory: u64,
    /// The most blocks of a cooperative launch.
    pub max_cooperative_blocks: u32,
    /// How many queues surely do their launches at the same time; those of more may wait for each other's end.
    pub concurrent_queues: u32,
    /// How many memory synchronization domains it has
    /// ([`LaunchOptions::sync_domain`](crate::LaunchOptions::sync_domain)); 1 where there is nothing to choose.
    pub sync_domains: u32,
    /// Whether floats are surely rounded to the nearest, ties to even, and zeros keep their signs and infinities and
    /// NaN are themselves, in each float type that the device has. Without that, functions may have other bits than on
    /// other devices, and be beyond their bounds.
    pub exact_floats: bool,
    /// How many ticks a second has on the clock that kernels read ([`Acc::clock`](crate::Acc::clock)); `None` where the
    /// rate varies, or is not known, or there is no such clock.
    pub clock_ticks_per_second: Option<u64>,
    /// The languages of modules whose kernels it takes as they are: see [`ModuleCode`](crate::ModuleCode).
    #[cfg_attr(feature = "serde", serde(skip))]
    pub modules: Vec<ModuleLanguage>,
    /// The scopes that fences and atomics can have.
    #[cfg_attr(feature = "serde", serde(serialize_with = "names"))]
    pub scopes: Vec<Scope>,
}

#[cfg(feature = "serde")]
fn names<S: serde::Serializer>(scopes: &[Scope], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_seq(scopes.iter().map(ToString::to_string))
}

impl Properties {
    /// A device with one worker, one thread per block and no shared memory, whose queues all run at the same time.
    pub fn new(name: impl Into<String>, description: impl Into<String>, kind: DeviceKind) -> Properties {
        Properties {
            name: name.into(),
            description: description.into(),
            kind,
            target: None,
            workers: 1,
            memory: 0,
            warp_width: 1,
            max_threads_per_block: 1,
            max_shared_memory: 0,
            max_cooperative_blocks: 1,
            concurrent_queues: u32::MAX,
            sync_domains: 1,
            exact_floats: true,
            clock_ticks_per_second: None,
            modules: Vec::new(),
            scopes: Scope::ALL.to_vec(),
        }
    }
}

/// The kinds of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum DeviceKind {
    /// The cores of this machine.
    Host,
    /// A simulation on one core, of one interleaving of the threads, which reports races.
    Simulated,
    /// The checker, which explores every execution that a memory model permits.
    Checker,
    /// A GPU.
    Gpu,
    /// A driver for GPUs that computes on the cores of this machine: right, and slow.
    Software,
}
