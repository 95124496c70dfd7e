//! A device as its driver describes it, without opening it; and why it cannot be used.

use wattle_core::{DeviceKind, ModuleLanguage, Properties};
use wattle_memory::Scope;
use wattle_ptx::PtxTarget;

use crate::driver::{self, Attribute, Ordinal, Refusal};
use crate::targets;

/// The first part of the devices' names.
pub(crate) const NAME: &str = "cuda";

/// How many connections to a device the driver has, by default and at most if the environment asks for more. Streams
/// share them, and two that share one wait for each other where the one waits for an event (CUDA C++ Programming Guide,
/// "CUDA Environment Variables": `CUDA_DEVICE_MAX_CONNECTIONS`).
///
/// The variable is not set here: that would have to be done before the driver starts, when the program may have other
/// threads that read the environment.
const CONNECTIONS: u32 = 8;
const MOST_CONNECTIONS: u32 = 32;

/// How many streams a device has besides those of queues: the helper's, and the one for copies.
const OWN_STREAMS: u32 = 2;

/// What the driver reports of a device.
pub(crate) struct Physical {
    pub(crate) ordinal: Ordinal,
    /// The properties that users of the device see.
    pub(crate) properties: Properties,
    /// The driver's name for the device.
    pub(crate) label: String,
    /// The compute capability, in tenths.
    pub(crate) capability: u32,
    /// The target that code for the device is built for.
    pub(crate) target: PtxTarget,
    /// The driver's version, as `cuDriverGetVersion` numbers it.
    pub(crate) driver: i32,
    pub(crate) multiprocessors: u32,
    /// The most blocks per launch.
    pub(crate) most_blocks: u32,
    /// The most bytes of shared memory that a launch can give without having asked for more.
    pub(crate) shared_without_asking: u32,
    /// Whether the device can run all blocks of a launch at once on request.
    pub(crate) is_cooperative: bool,
    /// Whether there is managed memory that the host may touch while kernels run.
    pub(crate) has_unified: bool,
    /// Whether kernels reach memory of the host's.
    pub(crate) has_host_mapped: bool,
}

impl Physical {
    /// Reads what the driver reports of the device with this number.
    ///
    /// # Errors
    /// The device cannot be used; the text says why.
    pub(crate) fn read(number: i32, driver: i32) -> Result<Physical, String> {
        let unreadable = |refusal: Refusal| format!("the driver does not tell what device {number} is: {refusal}");
        let ordinal = Ordinal::new(number).map_err(unreadable)?;
        let label = ordinal.name().map_err(unreadable)?;
        // An attribute that an older driver does not know counts as 0.
        let attribute = |attribute| ordinal.attribute(attribute).unwrap_or(0).max(0) as u32;
        use Attribute as A;
        let capability = attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10
            + attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        let target = targets::target(capability, driver).map_err(|why| format!("`{label}`: {why}"))?;
        if attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) == PROHIBITED {
            return Err(format!("`{label}` is closed to all programs (compute mode `prohibited`, see nvidia-smi)"));
        }
        let multiprocessors = attribute(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).max(1);
        let shared_without_asking = attribute(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
        let most_shared =
            attribute(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN).max(shared_without_asking);
        let is_cooperative = attribute(A::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0;
        let is_concurrent = attribute(A::CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS) != 0;
        let blocks_on_each = attribute(A::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR).max(1);
        let memory = ordinal.memory().map_err(unreadable)?;
        let mut properties = Properties::new(
            format!("{NAME}:{number}"),
            format!(
                "{label}, compute capability {}.{}, CUDA {}",
                capability / 10,
                capability % 10,
                driver::version_text(driver)
            ),
            kind(&label),
        );
        properties.target = Some(wattle_memory::Target::Ptx { sm: target.sm });
        properties.workers = multiprocessors;
        properties.memory = memory;
        properties.warp_width = attribute(A::CU_DEVICE_ATTRIBUTE_WARP_SIZE).max(1);
        properties.max_threads_per_block = attribute(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK).max(1);
        properties.max_shared_memory = most_shared.into();
        // For kernels that need much of a multiprocessor the number is smaller.
        properties.max_cooperative_blocks = if is_cooperative { multiprocessors * blocks_on_each } else { 1 };
        properties.concurrent_queues = if is_concurrent { concurrent_queues() } else { 1 };
        properties.sync_domains = attribute(A::CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT).max(1);
        properties.modules = vec![ModuleLanguage::Ptx];
        properties.scopes = vec![Scope::Block, Scope::Device, Scope::System];
        let has_addresses = attribute(A::CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING) != 0;
        Ok(Physical {
            ordinal,
            properties,
            label,
            capability,
            target,
            driver,
            multiprocessors,
            most_blocks: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X).max(1),
            shared_without_asking,
            is_cooperative,
            has_unified: attribute(A::CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) != 0
                && attribute(A::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) != 0,
            has_host_mapped: has_addresses && attribute(A::CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY) != 0,
        })
    }
}

/// The kind of a device by its name: a driver that computes on the host's cores says so there, and is for tests alone.
fn kind(label: &str) -> DeviceKind {
    let is_software = label.to_lowercase().replace(' ', "-").starts_with("soft-cuda");
    if is_software { DeviceKind::Software } else { DeviceKind::Gpu }
}

/// The compute mode `CU_COMPUTEMODE_PROHIBITED`.
const PROHIBITED: u32 = 2;

fn concurrent_queues() -> u32 {
    let asked = std::env::var("CUDA_DEVICE_MAX_CONNECTIONS").ok().and_then(|text| text.trim().parse().ok());
    queues_of(asked)
}

/// How many queues surely run at the same time, if the environment asks for this number of connections.
fn queues_of(connections: Option<u32>) -> u32 {
    connections.unwrap_or(CONNECTIONS).clamp(1, MOST_CONNECTIONS).saturating_sub(OWN_STREAMS).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_connections_are_not_for_queues() {
        assert_eq!(queues_of(None), 6);
        assert_eq!(queues_of(Some(32)), 30);
        assert_eq!(queues_of(Some(100)), 30);
        assert_eq!((queues_of(Some(2)), queues_of(Some(0))), (1, 1));
    }
}
