//! Descriptor sets, cached by their bindings: a launch with the same bindings as an earlier one writes nothing.

use ash::vk;
use rustc_hash::FxHashMap;
use wattle_core::Result;

use crate::arguments::Binding;
use crate::context::Context;

/// The maximum number of cached sets. A queue whose launches use more combinations of buffers writes them again.
const MOST_SETS: usize = 4096;
/// The number of sets in a pool, and of descriptors for each set.
const SETS_PER_POOL: u32 = 256;
const VIEWS_PER_SET: u32 = 8;

/// The descriptor sets of a queue's kernels, by their bindings.
#[derive(Default)]
pub(crate) struct Descriptors {
    pools: Vec<vk::DescriptorPool>,
    sets: FxHashMap<Box<[Binding]>, vk::DescriptorSet>,
    /// How many sets have been written, and how many lookups found a set.
    pub(crate) written: u64,
    pub(crate) found: u64,
}

impl Descriptors {
    /// Whether the next new set needs [`Descriptors::clear`] first.
    pub(crate) fn is_full(&self) -> bool {
        self.sets.len() >= MOST_SETS
    }

    /// Returns the set with these bindings, of which there must be at least one.
    pub(crate) fn set(&mut self, context: &Context, bindings: &[Binding]) -> Result<vk::DescriptorSet> {
        if let Some(&set) = self.sets.get(bindings) {
            self.found += 1;
            return Ok(set);
        }
        let set = self.allocate(context, bindings.len())?;
        let buffers: Vec<_> = bindings
            .iter()
            .map(|binding| {
                [vk::DescriptorBufferInfo { buffer: binding.buffer, offset: binding.offset, range: binding.range }]
            })
            .collect();
        let writes: Vec<_> = buffers.iter().zip(0..).map(|(buffer, number)| write(set, number, buffer)).collect();
        // SAFETY: the set is new, so nothing uses it; the buffers are this device's.
        unsafe { context.device().update_descriptor_sets(&writes, &[]) };
        self.sets.insert(bindings.into(), set);
        self.written += 1;
        Ok(set)
    }

    fn allocate(&mut self, context: &Context, views: usize) -> Result<vk::DescriptorSet> {
        let layouts = [context.view_layout(views)?];
        if let Some(&pool) = self.pools.last() {
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
            // SAFETY: the pool is this queue's, and the layout this device's.
            match unsafe { context.device().allocate_descriptor_sets(&info) } {
                Ok(sets) => return Ok(sets[0]),
                Err(vk::Result::ERROR_OUT_OF_POOL_MEMORY | vk::Result::ERROR_FRAGMENTED_POOL) => {}
                Err(error) => return context.check("describing a kernel's views", Err(error)),
            }
        }
        let descriptors = (SETS_PER_POOL * VIEWS_PER_SET).max(views as u32);
        let sizes = [vk::DescriptorPoolSize { ty: vk::DescriptorType::STORAGE_BUFFER, descriptor_count: descriptors }];
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(SETS_PER_POOL).pool_sizes(&sizes);
        // SAFETY: the device is alive.
        let pool = unsafe { context.device().create_descriptor_pool(&info, None) };
        let pool = context.check("describing a kernel's views", pool)?;
        self.pools.push(pool);
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        // SAFETY: as above.
        let sets = unsafe { context.device().allocate_descriptor_sets(&info) };
        Ok(context.check("describing a kernel's views", sets)?[0])
    }

    /// Destroys all sets.
    ///
    /// # Safety
    /// The device uses none of the sets.
    pub(crate) unsafe fn clear(&mut self, context: &Context) {
        self.sets.clear();
        for pool in self.pools.drain(..) {
            // SAFETY: the caller upholds the contract.
            unsafe { context.device().destroy_descriptor_pool(pool, None) };
        }
    }
}

/// Describes the write of one binding of a set.
pub(crate) fn write<'b>(
    set: vk::DescriptorSet,
    number: u32,
    buffer: &'b [vk::DescriptorBufferInfo; 1],
) -> vk::WriteDescriptorSet<'b> {
    vk::WriteDescriptorSet::default()
        .dst_set(set)
        .dst_binding(number)
        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
        .buffer_info(buffer)
}
