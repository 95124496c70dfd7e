//! A physical device: its properties, its features, and why it cannot be used.

use std::ffi::CStr;

use ash::{Instance, vk};
use wattle_core::{DeviceKind, Properties};
use wattle_memory::Scope;
use wattle_spirv::{Features, Subgroups};

use crate::drivers;
use crate::families::{self, Family};
use crate::loader::{LEAST_VERSION, version_text};

/// The number of storage buffers of a launch besides the kernel's views: control block, hidden word, gate.
pub(crate) const OWN_BUFFERS: u32 = 3;

/// The number of blocks that a GPU is assumed to run at the same time where the driver does not report it: any GPU runs
/// as many.
const WORKERS_OF_SOME_GPU: u32 = 16;

/// The properties of a device that can be read without opening it.
pub(crate) struct Physical {
    pub(crate) handle: vk::PhysicalDevice,
    /// The properties that Wattle reports; the name is set by the survey.
    pub(crate) properties: Properties,
    /// The driver's name for the device.
    pub(crate) label: String,
    /// The features that code generation depends on.
    pub(crate) features: Features,
    pub(crate) extensions: Extensions,
    /// The version of Vulkan that is used of the device.
    pub(crate) version: u32,
    /// The numbers of lanes that a launch can ask its warps to have, from the least to the greatest.
    pub(crate) subgroup_sizes: Option<(u32, u32)>,
    pub(crate) limits: vk::PhysicalDeviceLimits,
    /// The maximum size in bytes of one allocation, and of one buffer.
    pub(crate) most_bytes: u64,
    pub(crate) memory: vk::PhysicalDeviceMemoryProperties,
    pub(crate) family: Family,
    pub(crate) driver: vk::DriverId,
    /// The device and driver to which a pipeline cache belongs.
    pub(crate) identity: Identity,
    /// Whether the device's memory is the host's.
    pub(crate) shares_memory: bool,
}

/// The device and driver to which a pipeline cache belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) vendor: u32,
    pub(crate) device: u32,
    pub(crate) driver_version: u32,
    pub(crate) cache: [u8; vk::UUID_SIZE],
}

/// The Vulkan features that are queried and, where they are supported, enabled.
#[derive(Default)]
pub(crate) struct FeatureChain {
    pub(crate) core: vk::PhysicalDeviceFeatures,
    pub(crate) v11: vk::PhysicalDeviceVulkan11Features<'static>,
    pub(crate) v12: vk::PhysicalDeviceVulkan12Features<'static>,
    pub(crate) atomic_float: vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT<'static>,
    pub(crate) subgroup_size: vk::PhysicalDeviceSubgroupSizeControlFeatures<'static>,
    pub(crate) reconvergence: vk::PhysicalDeviceShaderMaximalReconvergenceFeaturesKHR<'static>,
    pub(crate) clock: vk::PhysicalDeviceShaderClockFeaturesKHR<'static>,
}

/// The extensions that a device has, of those that are used where they are there.
#[derive(Clone, Copy)]
pub(crate) struct Extensions {
    pub(crate) atomic_float: bool,
    /// `VK_EXT_subgroup_size_control`, or the version of Vulkan that has it.
    pub(crate) subgroup_size: bool,
    pub(crate) reconvergence: bool,
    pub(crate) clock: bool,
}

impl FeatureChain {
    fn read(instance: &Instance, handle: vk::PhysicalDevice, has: Extensions) -> FeatureChain {
        let mut chain = FeatureChain::default();
        let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut chain.v11).push_next(&mut chain.v12);
        if has.atomic_float {
            all = all.push_next(&mut chain.atomic_float);
        }
        if has.subgroup_size {
            all = all.push_next(&mut chain.subgroup_size);
        }
        if has.reconvergence {
            all = all.push_next(&mut chain.reconvergence);
        }
        if has.clock {
            all = all.push_next(&mut chain.clock);
        }
        // SAFETY: the device is of this instance, has version 1.2, and the chain lives.
        unsafe { instance.get_physical_device_features2(handle, &mut all) };
        chain.core = all.features;
        // The chain's pointers are to locals that move, so they are cleared.
        chain.v11.p_next = std::ptr::null_mut();
        chain.v12.p_next = std::ptr::null_mut();
        chain.atomic_float.p_next = std::ptr::null_mut();
        chain.subgroup_size.p_next = std::ptr::null_mut();
        chain.reconvergence.p_next = std::ptr::null_mut();
        chain.clock.p_next = std::ptr::null_mut();
        chain
    }

    /// The supported features that Wattle enables.
    pub(crate) fn wanted(features: &Features) -> FeatureChain {
        let mut chain = FeatureChain::default();
        let flag = vk::Bool32::from;
        chain.core.shader_int16 = flag(features.int16);
        chain.core.shader_int64 = flag(features.int64);
        chain.core.shader_float64 = flag(features.float64);
        chain.v12.shader_float16 = flag(features.float16);
        chain.v11.storage_buffer16_bit_access = flag(features.int16);
        chain.v12.storage_buffer8_bit_access = flag(features.int8);
        chain.v12.shader_int8 = flag(features.int8);
        chain.v12.shader_buffer_int64_atomics = flag(features.buffer_int64_atomics);
        chain.v12.shader_shared_int64_atomics = flag(features.shared_int64_atomics);
        chain.v12.vulkan_memory_model = vk::TRUE;
        chain.v12.vulkan_memory_model_device_scope = vk::TRUE;
        chain.v12.vulkan_memory_model_availability_visibility_chains = vk::TRUE;
        chain.v12.timeline_semaphore = vk::TRUE;
        let float = &mut chain.atomic_float;
        float.shader_buffer_float32_atomics = flag(features.buffer_float32_add);
        float.shader_buffer_float32_atomic_add = flag(features.buffer_float32_add);
        float.shader_buffer_float64_atomics = flag(features.buffer_float64_add);
        float.shader_buffer_float64_atomic_add = flag(features.buffer_float64_add);
        float.shader_shared_float32_atomics = flag(features.shared_float32_add);
        float.shader_shared_float32_atomic_add = flag(features.shared_float32_add);
        float.shader_shared_float64_atomics = flag(features.shared_float64_add);
        float.shader_shared_float64_atomic_add = flag(features.shared_float64_add);
        chain.subgroup_size.subgroup_size_control = flag(features.subgroups.full);
        chain.subgroup_size.compute_full_subgroups = flag(features.subgroups.full);
        chain.reconvergence.shader_maximal_reconvergence = flag(features.subgroups.reconverges);
        chain.clock.shader_device_clock = flag(features.device_clock);
        chain.clock.shader_subgroup_clock = flag(features.subgroup_clock);
        chain
    }

    /// The features that every Wattle device needs and this one lacks.
    fn lacks(&self) -> Vec<&'static str> {
        let needed = [
            ("vulkanMemoryModel", self.v12.vulkan_memory_model),
            ("vulkanMemoryModelDeviceScope", self.v12.vulkan_memory_model_device_scope),
            (
                "vulkanMemoryModelAvailabilityVisibilityChains",
                self.v12.vulkan_memory_model_availability_visibility_chains,
            ),
            ("timelineSemaphore", self.v12.timeline_semaphore),
        ];
        needed.iter().filter(|(_, there)| *there == vk::FALSE).map(|(name, _)| *name).collect()
    }
}

impl Physical {
    /// Reads the properties of a physical device.
    ///
    /// # Errors
    /// The device cannot be used; the error says why.
    pub(crate) fn read(instance: &Instance, version: u32, handle: vk::PhysicalDevice) -> Result<Physical, String> {
        // SAFETY: the device is of this instance.
        let plain = unsafe { instance.get_physical_device_properties(handle) };
        let label = text(plain.device_name_as_c_str().ok());
        let has = plain.api_version.min(version);
        if has < LEAST_VERSION {
            let has = version_text(plain.api_version);
            return Err(format!("`{label}` has Vulkan {has}, and 1.2 is needed; a newer driver may have it"));
        }
        // SAFETY: as above.
        let extensions = unsafe { instance.enumerate_device_extension_properties(handle) }.unwrap_or_default();
        let has_extension = |name: &CStr| extensions.iter().any(|one| one.extension_name_as_c_str() == Ok(name));
        let extensions = Extensions {
            atomic_float: has_extension(ash::ext::shader_atomic_float::NAME),
            subgroup_size: has >= vk::API_VERSION_1_3 || has_extension(ash::ext::subgroup_size_control::NAME),
            reconvergence: has_extension(ash::khr::shader_maximal_reconvergence::NAME),
            clock: has_extension(ash::khr::shader_clock::NAME),
        };
        let chain = FeatureChain::read(instance, handle, extensions);
        let lacks = chain.lacks();
        if !lacks.is_empty() {
            return Err(format!("`{label}` lacks {}; a newer driver may have it", lacks.join(", ")));
        }
        // SAFETY: as above.
        let all_families = unsafe { instance.get_physical_device_queue_family_properties(handle) };
        let is_software = plain.device_type == vk::PhysicalDeviceType::CPU;
        let family = families::choose(&all_families, is_software)
            .ok_or_else(|| format!("`{label}` has no queue for computation"))?;

        let more = More::read(instance, handle, has, &extensions, &has_extension);
        // SAFETY: as above.
        let memory = unsafe { instance.get_physical_device_memory_properties(handle) };
        let limits = plain.limits;
        let workers = if is_software {
            std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
        } else {
            more.workers.unwrap_or(WORKERS_OF_SOME_GPU)
        };
        let most_threads = limits.max_compute_work_group_invocations.min(limits.max_compute_work_group_size[0]);
        let mut properties = Properties::new(
            String::new(),
            format!("{label}, {}, Vulkan {}", more.driver_text, version_text(plain.api_version)),
            if is_software { DeviceKind::Software } else { DeviceKind::Gpu },
        );
        properties.target = Some(wattle_memory::Target::Vulkan);
        properties.workers = workers;
        properties.memory = device_memory(&memory);
        properties.warp_width = more.warp_width;
        properties.max_threads_per_block = most_threads;
        properties.max_shared_memory = limits.max_compute_shared_memory_size.into();
        // Vulkan does not promise that any number of blocks runs at the same time; up to this many are tried. A
        // software device may give two blocks to one thread, which runs one to its end before it begins the other.
        properties.max_cooperative_blocks = if is_software { 1 } else { workers };
        properties.concurrent_queues = family.compute_queues;
        properties.scopes = vec![Scope::Block, Scope::Device];
        let features = features(&chain, &more, &limits);
        let exact64 = !features.float64 || (features.preserve64 && features.nearest64);
        // A driver that computes with this processor's own instructions does so too, promised or not.
        let promised = features.preserve32 && features.nearest32 && exact64;
        properties.exact_floats = promised || !features.workarounds.rough_division;
        let identity = Identity {
            vendor: plain.vendor_id,
            device: plain.device_id,
            driver_version: plain.driver_version,
            cache: plain.pipeline_cache_uuid,
        };
        Ok(Physical {
            handle,
            properties,
            features,
            label,
            extensions,
            version: has,
            subgroup_sizes: more.subgroup_sizes,
            limits,
            most_bytes: more.most_bytes,
            memory,
            family,
            driver: more.driver,
            identity,
            shares_memory: is_software || plain.device_type == vk::PhysicalDeviceType::INTEGRATED_GPU,
        })
    }

    /// Sets the name that the survey has chosen.
    pub(crate) fn name(&mut self, name: String) {
        self.features.device.clone_from(&name);
        self.properties.name = name;
    }
}

fn text(text: Option<&CStr>) -> String {
    text.map_or_else(|| "a device without a name".into(), |text| text.to_string_lossy().into_owned())
}

/// The size of the device's own memory: its largest device-local heap.
fn device_memory(memory: &vk::PhysicalDeviceMemoryProperties) -> u64 {
    let own = |heap: &&vk::MemoryHeap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL);
    memory.memory_heaps_as_slice().iter().filter(own).map(|heap| heap.size).max().unwrap_or(0)
}

fn features(chain: &FeatureChain, more: &More, limits: &vk::PhysicalDeviceLimits) -> Features {
    let (core, v11, v12, float) = (&chain.core, &chain.v11, &chain.v12, &chain.atomic_float);
    let all = |flags: &[vk::Bool32]| flags.iter().all(|&flag| flag == vk::TRUE);
    let (int64, float64) = (all(&[core.shader_int64]), all(&[core.shader_float64]));
    let int16 = all(&[core.shader_int16, v11.storage_buffer16_bit_access]);
    Features {
        device: String::new(),
        int8: all(&[v12.shader_int8, v12.storage_buffer8_bit_access]),
        int16,
        int64,
        float64,
        float16: int16 && all(&[v12.shader_float16]) && more.exact16,
        buffer_int64_atomics: int64 && all(&[v12.shader_buffer_int64_atomics]),
        shared_int64_atomics: int64 && all(&[v12.shader_shared_int64_atomics]),
        buffer_float32_add: all(&[float.shader_buffer_float32_atomics, float.shader_buffer_float32_atomic_add]),
        shared_float32_add: all(&[float.shader_shared_float32_atomics, float.shader_shared_float32_atomic_add]),
        buffer_float64_add: float64
            && all(&[float.shader_buffer_float64_atomics, float.shader_buffer_float64_atomic_add]),
        shared_float64_add: float64
            && all(&[float.shader_shared_float64_atomics, float.shader_shared_float64_atomic_add]),
        preserve32: more.preserve32,
        preserve64: more.preserve64,
        nearest32: more.nearest32,
        nearest64: more.nearest64,
        device_clock: int64 && all(&[chain.clock.shader_device_clock]),
        subgroup_clock: int64 && all(&[chain.clock.shader_subgroup_clock]),
        push_constant_bytes: limits.max_push_constants_size,
        max_views: limits
            .max_per_stage_descriptor_storage_buffers
            .min(limits.max_descriptor_set_storage_buffers)
            .min(limits.max_per_stage_resources)
            .saturating_sub(OWN_BUFFERS),
        subgroups: Subgroups {
            full: all(&[chain.subgroup_size.compute_full_subgroups, chain.subgroup_size.subgroup_size_control]),
            reconverges: all(&[chain.reconvergence.shader_maximal_reconvergence]),
            in_lock_step: drivers::runs_subgroups_as_vectors(more.driver),
            ..more.subgroups
        },
        workarounds: drivers::workarounds(more.driver),
        watched: true,
    }
}

/// Properties that later versions and extensions report.
struct More {
    driver: vk::DriverId,
    driver_text: String,
    warp_width: u32,
    subgroup_sizes: Option<(u32, u32)>,
    subgroups: Subgroups,
    most_bytes: u64,
    workers: Option<u32>,
    preserve32: bool,
    preserve64: bool,
    nearest32: bool,
    nearest64: bool,
    /// Rounding to nearest of 16 bits, with subnormal numbers, signed zeros, infinities and NaN.
    exact16: bool,
}

impl More {
    fn read(
        instance: &Instance,
        handle: vk::PhysicalDevice,
        version: u32,
        extensions: &Extensions,
        has_extension: &dyn Fn(&CStr) -> bool,
    ) -> More {
        let mut v11 = vk::PhysicalDeviceVulkan11Properties::default();
        let mut v12 = vk::PhysicalDeviceVulkan12Properties::default();
        let mut v13 = vk::PhysicalDeviceVulkan13Properties::default();
        let mut nvidia = vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV::default();
        let mut amd = vk::PhysicalDeviceShaderCorePropertiesAMD::default();
        let mut sizes = vk::PhysicalDeviceSubgroupSizeControlProperties::default();
        let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut v11).push_next(&mut v12);
        if extensions.subgroup_size {
            all = all.push_next(&mut sizes);
        }
        if version >= vk::API_VERSION_1_3 {
            all = all.push_next(&mut v13);
        }
        if has_extension(ash::nv::shader_sm_builtins::NAME) {
            all = all.push_next(&mut nvidia);
        }
        if has_extension(ash::amd::shader_core_properties::NAME) {
            all = all.push_next(&mut amd);
        }
        // SAFETY: the device is of this instance, and has the version and the extensions of the chain, which lives.
        unsafe { instance.get_physical_device_properties2(handle, &mut all) };
        let driver_text = [text(v12.driver_name_as_c_str().ok()), text(v12.driver_info_as_c_str().ok())];
        let independence = v12.rounding_mode_independence;
        let is_independent = independence == vk::ShaderFloatControlsIndependence::ALL;
        let is_32_alone = independence == vk::ShaderFloatControlsIndependence::TYPE_32_ONLY;
        let amd_units =
            amd.shader_engine_count * amd.shader_arrays_per_engine_count * amd.compute_units_per_shader_array;
        let buffer_bytes = if v13.max_buffer_size == 0 { u64::MAX } else { v13.max_buffer_size };
        More {
            driver: v12.driver_id,
            driver_text: driver_text.join(" ").trim().to_owned(),
            warp_width: v11.subgroup_size.max(1),
            subgroup_sizes: sizes
                .required_subgroup_size_stages
                .contains(vk::ShaderStageFlags::COMPUTE)
                .then_some((sizes.min_subgroup_size, sizes.max_subgroup_size)),
            subgroups: {
                let in_compute = v11.subgroup_supported_stages.contains(vk::ShaderStageFlags::COMPUTE);
                let does = |what| in_compute && v11.subgroup_supported_operations.contains(what);
                Subgroups {
                    votes: does(vk::SubgroupFeatureFlags::VOTE | vk::SubgroupFeatureFlags::BALLOT),
                    shuffles: does(vk::SubgroupFeatureFlags::SHUFFLE),
                    arithmetic: does(vk::SubgroupFeatureFlags::ARITHMETIC),
                    most_lanes: sizes.max_subgroup_size.max(v11.subgroup_size),
                    ..Subgroups::default()
                }
            },
            most_bytes: v11.max_memory_allocation_size.min(buffer_bytes),
            workers: [nvidia.shader_sm_count, amd_units].into_iter().find(|&count| count > 0),
            preserve32: v12.shader_signed_zero_inf_nan_preserve_float32 == vk::TRUE,
            preserve64: v12.shader_signed_zero_inf_nan_preserve_float64 == vk::TRUE,
            // Where the rounding modes of the widths are not independent, one mode would have to name them all.
            nearest32: (is_independent || is_32_alone) && v12.shader_rounding_mode_rte_float32 == vk::TRUE,
            nearest64: is_independent && v12.shader_rounding_mode_rte_float64 == vk::TRUE,
            exact16: is_independent
                && v12.denorm_behavior_independence == vk::ShaderFloatControlsIndependence::ALL
                && [
                    v12.shader_rounding_mode_rte_float16,
                    v12.shader_denorm_preserve_float16,
                    v12.shader_signed_zero_inf_nan_preserve_float16,
                ] == [vk::TRUE; 3],
        }
    }
}

#[cfg(test)]
mod tests;
