//! Which queues of a device are used.

use ash::vk;

/// The queue family in use, and the number of its queues for each purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Family {
    pub(crate) index: u32,
    /// The number of queues that launches are spread over.
    pub(crate) compute_queues: u32,
    /// Whether one more queue is used for copies, which then need not wait for a long launch.
    pub(crate) has_copy_queue: bool,
    /// The number of valid timestamp bits; 0 where the family has no timestamps.
    pub(crate) timestamp_bits: u32,
}

/// The maximum number of queues that launches are spread over.
const MOST_COMPUTE_QUEUES: u32 = 2;

/// Chooses the best family for computation: on hardware one without graphics, which the desktop does not use, unless it
/// has a single queue and the other has more.
pub(crate) fn choose(families: &[vk::QueueFamilyProperties], is_software: bool) -> Option<Family> {
    let computes = |family: &vk::QueueFamilyProperties| {
        family.queue_flags.contains(vk::QueueFlags::COMPUTE) && family.queue_count > 0
    };
    let alone = |family: &vk::QueueFamilyProperties| !family.queue_flags.contains(vk::QueueFlags::GRAPHICS);
    let with = |wanted: &dyn Fn(&vk::QueueFamilyProperties) -> bool| families.iter().position(wanted);
    let first = with(&computes)?;
    let dedicated = with(&|family| computes(family) && alone(family)).filter(|&index| {
        !is_software && (families[index].queue_count >= MOST_COMPUTE_QUEUES || families[first].queue_count == 1)
    });
    let index = dedicated.unwrap_or(first);
    let family = &families[index];
    Some(Family {
        index: index as u32,
        compute_queues: family.queue_count.min(MOST_COMPUTE_QUEUES),
        has_copy_queue: family.queue_count > MOST_COMPUTE_QUEUES,
        timestamp_bits: family.timestamp_valid_bits,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(flags: vk::QueueFlags, queue_count: u32) -> vk::QueueFamilyProperties {
        vk::QueueFamilyProperties { queue_flags: flags, queue_count, ..Default::default() }
    }

    #[test]
    fn the_best_family_is_chosen() {
        use vk::QueueFlags as Flags;
        let both = Flags::GRAPHICS | Flags::COMPUTE;
        let chosen = |families: &[(Flags, u32)], is_software| {
            let families: Vec<_> = families.iter().map(|&(flags, count)| family(flags, count)).collect();
            choose(&families, is_software).map(|family| (family.index, family.compute_queues, family.has_copy_queue))
        };
        assert_eq!(chosen(&[(Flags::TRANSFER, 2)], false), None);
        assert_eq!(chosen(&[(both, 1)], true), Some((0, 1, false)));
        assert_eq!(chosen(&[(both, 16), (Flags::TRANSFER, 2), (Flags::COMPUTE, 8)], false), Some((2, 2, true)));
        assert_eq!(chosen(&[(both, 1), (Flags::COMPUTE, 4)], true), Some((0, 1, false)), "software has one of a kind");
        assert_eq!(chosen(&[(both, 16), (Flags::COMPUTE, 1)], false), Some((0, 2, true)));
        assert_eq!(chosen(&[(both, 1), (Flags::COMPUTE, 1)], false), Some((1, 1, false)));
    }
}
