//! The choice of a device's memory types by purpose.

use ash::vk;
use wattle_core::MemoryKind;

/// A chosen memory type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryType {
    pub(crate) index: u32,
    pub(crate) heap: u32,
    /// Whether the host can map it, and it is coherent.
    pub(crate) is_mapped: bool,
}

/// The purpose of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Buffers of this memory kind.
    Buffer(MemoryKind),
    /// Staging buffers, which the host reads and writes in passing.
    Staging,
    /// The words through which a launch and the host communicate: in the device's memory where a launch is known to see
    /// the host's writes there.
    Control {
        /// Whether the words are in the device's memory.
        in_device: bool,
    },
}

const MAPPED: vk::MemoryPropertyFlags = vk::MemoryPropertyFlags::from_raw(
    vk::MemoryPropertyFlags::HOST_VISIBLE.as_raw() | vk::MemoryPropertyFlags::HOST_COHERENT.as_raw(),
);

/// The best type for a purpose, among those whose bit is set in `allowed`. `shares_memory` says that the device's
/// memory is the host's, so that mapping it costs nothing.
pub(crate) fn choose(
    memory: &vk::PhysicalDeviceMemoryProperties,
    shares_memory: bool,
    purpose: Purpose,
    allowed: u32,
) -> Option<MemoryType> {
    use vk::MemoryPropertyFlags as Flags;
    // These types need features that the device was not opened with, or serve other uses.
    let unusable = Flags::PROTECTED | Flags::LAZILY_ALLOCATED | Flags::DEVICE_COHERENT_AMD | Flags::DEVICE_UNCACHED_AMD;
    let score = |flags: Flags| -> Option<u32> {
        let has = |wanted| u32::from(flags.contains(wanted));
        let (local, mapped, cached) = (has(Flags::DEVICE_LOCAL), has(MAPPED), has(Flags::HOST_CACHED));
        match purpose {
            // Over a bus the host reads mapped memory of the device slowly; a copy is quicker.
            Purpose::Buffer(MemoryKind::Device) if shares_memory => Some(4 * local + 2 * mapped + cached),
            Purpose::Buffer(MemoryKind::Device) => Some(2 * local + (1 - mapped)),
            _ if mapped == 0 => None,
            Purpose::Buffer(MemoryKind::Unified) => Some(2 * local + cached),
            Purpose::Buffer(MemoryKind::HostMapped) | Purpose::Staging => Some(2 * cached + (1 - local)),
            Purpose::Control { in_device: true } => Some(2 * local + cached),
            Purpose::Control { in_device: false } => Some(2 * (1 - local) + cached),
        }
    };
    let candidates = memory.memory_types_as_slice().iter().enumerate().filter_map(|(index, ty)| {
        let usable = allowed & (1 << index) != 0 && !ty.property_flags.intersects(unusable);
        let score = score(ty.property_flags).filter(|_| usable)?;
        let heap = memory.memory_heaps[ty.heap_index as usize].size;
        let is_mapped = ty.property_flags.contains(MAPPED);
        Some(((score, heap), MemoryType { index: index as u32, heap: ty.heap_index, is_mapped }))
    });
    // Among equals the first is taken, as Vulkan asks.
    candidates.reduce(|best, one| if one.0 > best.0 { one } else { best }).map(|(_, chosen)| chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::MemoryPropertyFlags as Flags;

    fn memory(types: &[(Flags, u32)], heaps: &[u64]) -> vk::PhysicalDeviceMemoryProperties {
        let mut memory = vk::PhysicalDeviceMemoryProperties {
            memory_type_count: types.len() as u32,
            memory_heap_count: heaps.len() as u32,
            ..Default::default()
        };
        for (to, &(property_flags, heap_index)) in memory.memory_types.iter_mut().zip(types) {
            *to = vk::MemoryType { property_flags, heap_index };
        }
        for (to, &size) in memory.memory_heaps.iter_mut().zip(heaps) {
            to.size = size;
        }
        memory
    }

    #[test]
    fn a_discrete_gpu_keeps_buffers_to_itself() {
        let (local, seen) = (Flags::DEVICE_LOCAL, MAPPED);
        let types = [(Flags::empty(), 1), (local, 0), (seen, 1), (seen | Flags::HOST_CACHED, 1), (local | seen, 2)];
        let memory = memory(&types, &[8 << 30, 16 << 30, 246 << 20]);
        let chosen = |purpose| choose(&memory, false, purpose, u32::MAX).map(|chosen| chosen.index);
        assert_eq!(chosen(Purpose::Buffer(MemoryKind::Device)), Some(1));
        assert_eq!(chosen(Purpose::Buffer(MemoryKind::Unified)), Some(4));
        assert_eq!(chosen(Purpose::Buffer(MemoryKind::HostMapped)), Some(3));
        assert_eq!(chosen(Purpose::Staging), Some(3));
        assert_eq!(chosen(Purpose::Control { in_device: true }), Some(4));
        assert_eq!(chosen(Purpose::Control { in_device: false }), Some(3));
    }

    #[test]
    fn an_integrated_gpu_is_mapped() {
        let local = Flags::DEVICE_LOCAL;
        let memory = memory(&[(local, 0), (local | MAPPED, 0), (local | MAPPED | Flags::HOST_CACHED, 0)], &[8 << 30]);
        let chosen = choose(&memory, true, Purpose::Buffer(MemoryKind::Device), u32::MAX);
        assert_eq!(chosen, Some(MemoryType { index: 2, heap: 0, is_mapped: true }));
        let chosen = choose(&memory, true, Purpose::Buffer(MemoryKind::Device), 0b011);
        assert_eq!(chosen.map(|chosen| chosen.index), Some(1));
        assert_eq!(choose(&memory, true, Purpose::Staging, 0b001), None);
    }
}
