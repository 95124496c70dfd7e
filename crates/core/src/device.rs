//! Devices as users have them: which there are, and what they are asked for.

use std::fmt;
use std::sync::{Arc, OnceLock};

use wattle_ir::Element;

use crate::backend::Backend;
use crate::buffer::Buffer;
use crate::error::{Error, ErrorKind, Result};
use crate::extent::ToExtent;
use crate::host;
use crate::memory::{MemoryKind, free_memory};
use crate::properties::{DeviceKind, Properties};
use crate::queue::Queue;

/// A device that this process knows of.
#[derive(Clone)]
pub struct Device(Arc<dyn Backend>);

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name())
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.0), Arc::as_ptr(&other.0))
    }
}

/// A device that could be there and is not, with the reason.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Missing {
    /// The device's name.
    pub name: &'static str,
    /// Why it is not there, and what to do.
    pub reason: String,
}

/// A crate's devices. Being linked makes them known:
///
/// ```ignore
/// #[linkme::distributed_slice(wattle_core::PROVIDERS)]
/// static MINE: Provider = Provider { name: "mine", find, select };
/// ```
pub struct Provider {
    /// The first part of its devices' names.
    pub name: &'static str,
    /// The devices that there are, and why others are not.
    pub find: fn() -> Found,
    /// The device `name:rest`, where `rest` means more than a number.
    pub select: fn(rest: &str) -> Option<Device>,
}

/// What a provider has found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The devices that there are.
    pub devices: Vec<Device>,
    /// The devices that are missing although their driver is known, and those that cannot be used, each with the
    /// reason.
    pub missing: Vec<Missing>,
}

/// The providers that are linked.
#[linkme::distributed_slice]
pub static PROVIDERS: [Provider];

/// The kinds of devices that a build may be without; each has a [`Provider`] of its name where it is there.
const OPTIONAL: [&str; 3] = ["simulated", "cuda", "vulkan"];

impl Device {
    /// The device of a backend.
    pub fn new(backend: Arc<dyn Backend>) -> Device {
        Device(backend)
    }

    /// The cores of this machine: a pool with one worker per core. Blocks of a launch start in index order, and one
    /// that has started runs to its end, so a block may wait for lower ones (linear occupancy-bound progress). Launches
    /// on different queues have workers of their own, so one that waits does not starve another.
    pub fn host() -> Device {
        static HOST: OnceLock<Device> = OnceLock::new();
        HOST.get_or_init(|| Device(Arc::new(host::HostBackend::pool()))).clone()
    }

    /// The host on one core: the blocks of a launch run one after another, in index order.
    pub fn host_serial() -> Device {
        static SERIAL: OnceLock<Device> = OnceLock::new();
        SERIAL.get_or_init(|| Device(Arc::new(host::HostBackend::serial()))).clone()
    }

    /// Finds all devices that can be used, and those that cannot, each with the reason.
    pub fn survey() -> (Vec<Device>, Vec<Missing>) {
        let mut devices = vec![Device::host(), Device::host_serial()];
        let mut missing = Vec::new();
        // The linker keeps no order: devices that are always there come first, and the others by name.
        let mut providers: Vec<_> = PROVIDERS.iter().collect();
        providers.sort_by_key(|provider| (provider.name != "simulated", provider.name));
        for provider in providers {
            let found = (provider.find)();
            devices.extend(found.devices);
            missing.extend(found.missing);
        }
        for name in OPTIONAL {
            if PROVIDERS.iter().all(|provider| provider.name != name) {
                missing.push(Missing { name, reason: "this build has no support for it".into() });
            }
        }
        (devices, missing)
    }

    /// All devices of this machine that can be used.
    #[doc(alias = "cudaGetDeviceCount")]
    pub fn all() -> Vec<Device> {
        Self::survey().0
    }

    /// The device of that name: `host`, `host-serial`, `simulated`, `cuda:0`, … A name without a number means the
    /// first of its kind.
    ///
    /// # Errors
    /// No device has that name; the error lists those that there are, and why others are missing.
    #[doc(alias = "cudaSetDevice")]
    pub fn select(name: &str) -> Result<Device> {
        // A request for the host does not wait for drivers to be loaded.
        for host in [Device::host, Device::host_serial] {
            let host = host();
            if host.name() == name {
                return Ok(host);
            }
        }
        if let Some((kind, rest)) = name.split_once(':')
            && let Some(device) =
                PROVIDERS.iter().filter(|provider| provider.name == kind).find_map(|provider| (provider.select)(rest))
        {
            return Ok(device);
        }
        let (devices, missing) = Self::survey();
        let is_it = |device: &&Device| {
            device.name() == name || device.name().strip_suffix(":0").is_some_and(|kind| kind == name)
        };
        if let Some(device) = devices.iter().find(is_it) {
            return Ok(device.clone());
        }
        let there = devices.iter().map(|device| (device.name().to_owned(), device.properties().description.clone()));
        let not_there =
            missing.iter().map(|missing| (missing.name.to_owned(), format!("not here: {}", missing.reason)));
        Err(ErrorKind::UnknownDevice { wanted: name.to_owned(), known: there.chain(not_there).collect() }.into())
    }

    /// The name that [`Device::select`] takes.
    pub fn name(&self) -> &str {
        &self.0.properties().name
    }

    /// What the device is and can do.
    pub fn properties(&self) -> &Properties {
        self.0.properties()
    }

    /// Fails where launches on `queues` queues may not run at the same time: for work in which a launch waits for one
    /// on another queue.
    ///
    /// # Errors
    /// The device has fewer such queues ([`Properties::concurrent_queues`]).
    pub fn needs_concurrent_queues(&self, queues: u32) -> Result<()> {
        let there = self.properties().concurrent_queues;
        if queues <= there {
            return Ok(());
        }
        let what = format!("surely run launches of {queues} queues at the same time: of {there} at the most");
        let instead = "let no launch wait for one that is on another queue";
        Err(Error::capability(self.name(), what, instead).limited(queues, there))
    }

    /// The devices whose memory kernels of this one can use, once [`Device::enable_peer_access`] lets them.
    ///
    /// # Errors
    /// There is none; the error says why.
    #[doc(alias = "cudaDeviceCanAccessPeer")]
    pub fn peers(&self) -> Result<Vec<Device>> {
        self.0.peers()
    }

    /// Lets kernels of this device use buffers of another one, from now on: `queue.launch(spec, kernel(&theirs,
    /// &ours))`. What both devices use at the same time is ordered by [`Scope::System`](wattle_memory::Scope::System)
    /// alone, and shared by narrower operations it is a conflict, which the launch is refused for. The other direction
    /// is enabled by itself.
    ///
    /// CUDA devices reach those that the machine links to them, `host` and `host-serial` each other, and `simulated`
    /// and the checker a second device like themselves ([`Device::peers`]). Vulkan devices reach none.
    ///
    /// # Errors
    /// This device cannot reach the other one's memory.
    #[doc(alias("cudaDeviceEnablePeerAccess", "cuCtxEnablePeerAccess"))]
    pub fn enable_peer_access(&self, other: &Device) -> Result<()> {
        if self == other || self.0.reaches(other) { Ok(()) } else { self.0.enable_peer_access(other) }
    }

    /// A number that no other device of the process has.
    #[inline]
    pub(crate) fn number(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Fails where the device or the host has less memory than the work needs: for work whose size is given, before it
    /// begins.
    ///
    /// # Errors
    /// The work needs more bytes than there are; the error names both numbers. A size that is unknown is no error.
    pub fn needs_memory(&self, on_device: u64, on_host: u64) -> Result<()> {
        let lacks = |device: &str, bytes, there: Option<u64>| match there {
            Some(there) if there < bytes => {
                let needs =
                    if bytes == u64::MAX { "more bytes than 64 bits can count" } else { &format!("{bytes} bytes") };
                let why = format!("this work needs {needs}, and there are {there}");
                Err(ErrorKind::OutOfMemory { device: device.to_owned(), bytes, why }.into())
            }
            _ => Ok(()),
        };
        let properties = self.properties();
        match properties.kind {
            DeviceKind::Host | DeviceKind::Software | DeviceKind::Simulated | DeviceKind::Checker => {
                lacks(self.name(), on_device.saturating_add(on_host), free_memory())
            }
            DeviceKind::Gpu => {
                lacks(self.name(), on_device, (properties.memory > 0).then_some(properties.memory))?;
                lacks("host", on_host, free_memory())
            }
        }
    }

    /// The backend that the device is made of.
    pub fn backend(&self) -> &dyn Backend {
        &*self.0
    }

    /// A queue whose operations are done when its methods return.
    ///
    /// # Errors
    /// The operating system or the driver refuses.
    #[doc(alias = "cudaStreamCreate")]
    #[track_caller]
    pub fn queue(&self) -> Result<Queue> {
        Queue::new(self, true)
    }

    /// A queue whose methods return at once; its operations are done in order.
    ///
    /// # Errors
    /// The operating system or the driver refuses.
    #[track_caller]
    pub fn queue_non_blocking(&self) -> Result<Queue> {
        Queue::new(self, false)
    }

    /// A buffer whose elements have unspecified values. The simulated device reports reads of unwritten elements.
    ///
    /// # Errors
    /// The extent is too large, or the device has too little memory.
    #[doc(alias = "cudaMalloc")]
    pub fn alloc<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        self.alloc_nd(len)
    }

    /// Allocates as [`Device::alloc`] does, in any number of dimensions.
    ///
    /// # Errors
    /// It fails where [`Device::alloc`] does.
    #[doc(alias("cudaMalloc3D", "cudaMallocPitch"))]
    pub fn alloc_nd<T: Element, const D: usize>(&self, extent: impl ToExtent<D>) -> Result<Buffer<T, D>> {
        Buffer::allocate(self, extent, MemoryKind::Device, false)
    }

    /// A buffer of zeros.
    ///
    /// # Errors
    /// It fails where [`Device::alloc`] does.
    #[doc(alias = "cudaMemset")]
    pub fn alloc_zeroed<T: Element>(&self, len: usize) -> Result<Buffer<T>> {
        self.alloc_zeroed_nd(len)
    }

    /// A buffer of zeros, in any number of dimensions.
    ///
    /// # Errors
    /// It fails where [`Device::alloc`] does.
    pub fn alloc_zeroed_nd<T: Element, const D: usize>(&self, extent: impl ToExtent<D>) -> Result<Buffer<T, D>> {
        Buffer::allocate(self, extent, MemoryKind::Device, true)
    }

    /// A buffer of the same type and extent as another, of any device.
    ///
    /// # Errors
    /// It fails where [`Device::alloc`] does.
    pub fn alloc_like<T: Element, const D: usize>(&self, other: &Buffer<T, D>) -> Result<Buffer<T, D>> {
        self.alloc_nd(other.extent())
    }

    /// A buffer with these values.
    ///
    /// # Errors
    /// It fails where [`Device::alloc`] does.
    #[doc(alias = "cudaMemcpy")]
    #[track_caller]
    pub fn from_slice<T: Element>(&self, values: &[T]) -> Result<Buffer<T>> {
        let mut buffer = self.alloc(values.len())?;
        self.queue()?.copy_from_host(&mut buffer, values)?;
        Ok(buffer)
    }

    /// A buffer that device and host share, moved by the driver; [`Buffer::map`] reaches it.
    ///
    /// # Errors
    /// It fails where [`Device::alloc`] does, and where the device has no such memory.
    #[doc(alias("cudaMallocManaged", "__managed__"))]
    pub fn alloc_unified<T: Element, const D: usize>(&self, extent: impl ToExtent<D>) -> Result<Buffer<T, D>> {
        Buffer::allocate(self, extent, MemoryKind::Unified, true)
    }

    /// A buffer in the host's memory that the device reads and writes in place; [`Buffer::map`] reaches it.
    ///
    /// # Errors
    /// It fails where [`Device::alloc`] does, and where the device has no such memory.
    #[doc(alias("cudaHostAlloc", "cudaMallocHost"))]
    pub fn alloc_host_mapped<T: Element, const D: usize>(&self, extent: impl ToExtent<D>) -> Result<Buffer<T, D>> {
        Buffer::allocate(self, extent, MemoryKind::HostMapped, true)
    }
}
