//! The Vulkan objects of a Wattle queue: commands, control blocks, timestamps; and how a launch is recorded.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use ash::{Device, vk};
use wattle_core::{Result, Timestamp, system};
use wattle_spirv::control;

use crate::block::Block;
use crate::context::Context;
use crate::descriptors::write;
use crate::drivers;
use crate::exit;
use crate::memory_types::Purpose;
use crate::pipeline::Compiled;

/// The maximum number of launches of a queue in flight.
pub(crate) const SLOTS: usize = 16;

const WORD: u64 = size_of::<u32>() as u64;
const CONTROL_BYTES: u64 = control::WORDS as u64 * WORD;
/// The byte offset of the gate, behind the control blocks.
pub(crate) const GATE: u64 = SLOTS as u64 * CONTROL_BYTES;

/// The byte offset of the word that asks a slot's launch to end.
pub(crate) fn stop_of(slot: usize) -> u64 {
    slot as u64 * CONTROL_BYTES + u64::from(control::STOP) * WORD
}

/// The Vulkan objects of a Wattle queue. Slots are numbered, and each is used by one launch at a time.
pub(crate) struct Slots {
    pool: vk::CommandPool,
    commands: Vec<vk::CommandBuffer>,
    control: Block,
    start: NonNull<u8>,
    descriptors: vk::DescriptorPool,
    set: vk::DescriptorSet,
    /// The timestamps of the slots, one for each, where the device has timestamps.
    queries: Option<vk::QueryPool>,
}

// SAFETY: the pointer is into the block, which is `Send`.
unsafe impl Send for Slots {}

/// The parameters of a launch to be recorded.
pub(crate) struct Recorded<'l> {
    pub(crate) compiled: &'l Compiled,
    pub(crate) pipeline: vk::Pipeline,
    /// The descriptor set of the kernel's views, if it has any.
    pub(crate) views: Option<vk::DescriptorSet>,
    pub(crate) words: &'l [u32],
    pub(crate) groups: [u32; 2],
    /// How many of the groups, which then form a row, start at the same time; `None` if the driver decides.
    pub(crate) at_once: Option<u32>,
}

impl Recorded<'_> {
    /// Records the dispatch: in parts, each after the end of the one before, if blocks may have to wait for lower ones
    /// and the driver does not start those first.
    ///
    /// # Safety
    /// The commands are being recorded, and have what the kernel needs bound.
    unsafe fn dispatch(&self, device: &Device, commands: vk::CommandBuffer) {
        let [x, y] = self.groups;
        let Some(step) = self.at_once.filter(|&step| step < x) else {
            // SAFETY: the caller upholds the contract; the numbers of groups are within the device's limits.
            return unsafe { device.cmd_dispatch(commands, x, y, 1) };
        };
        // Only an execution dependency on the part before is needed. But its writes are made visible too, since
        // synchronization validation does not see what the kernel's own fences order.
        let barrier = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE)];
        let (stage, flags) = (vk::PipelineStageFlags::COMPUTE_SHADER, vk::DependencyFlags::empty());
        let mut first = 0;
        while first < x {
            let count = step.min(x - first);
            // SAFETY: as above; the pipeline was made for a base.
            unsafe {
                if first > 0 {
                    device.cmd_pipeline_barrier(commands, stage, stage, flags, &barrier, &[], &[]);
                }
                device.cmd_dispatch_base(commands, first, 0, 0, count, 1, 1);
            }
            first += count;
        }
    }
}

impl Slots {
    pub(crate) fn new(context: &Context) -> Result<Slots> {
        let in_device = drivers::sees_writes_to_its_memory(context.physical.driver);
        let control = context.new_block(Purpose::Control { in_device }, GATE + CONTROL_BYTES)?;
        let Some(start) = control.mapped else {
            // SAFETY: it was just made.
            unsafe { context.free_block(control) };
            return Err(system("making a queue", "the driver does not map memory"));
        };
        let mut slots = Slots {
            pool: vk::CommandPool::null(),
            commands: Vec::new(),
            control,
            start,
            descriptors: vk::DescriptorPool::null(),
            set: vk::DescriptorSet::null(),
            queries: None,
        };
        if let Err(error) = slots.fill(context) {
            // SAFETY: nothing here has been used; missing handles are null, which may be destroyed.
            unsafe { slots.free(context) };
            return Err(error);
        }
        slots.gate().store(control::OPEN, Ordering::Relaxed);
        // SAFETY: the block is there until it is freed below.
        unsafe { exit::add_control(start) };
        Ok(slots)
    }

    /// Creates the descriptor pool, the queue's set and the query pool.
    fn fill(&mut self, context: &Context) -> Result<()> {
        context.zero(&self.control)?;
        (self.pool, self.commands) = context.new_commands(SLOTS as u32)?;
        let kinds = [vk::DescriptorType::STORAGE_BUFFER_DYNAMIC, vk::DescriptorType::STORAGE_BUFFER];
        let sizes = [(kinds[0], 1), (kinds[1], 2)]
            .map(|(ty, descriptor_count)| vk::DescriptorPoolSize { ty, descriptor_count });
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        // SAFETY: the device is alive.
        let descriptors = unsafe { context.device().create_descriptor_pool(&info, None) };
        self.descriptors = context.check("making a queue", descriptors)?;
        let layouts = [context.pipelines.queue_layout];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.descriptors).set_layouts(&layouts);
        // SAFETY: pool and layout are this device's, and the pool has room for this one set.
        let sets = unsafe { context.device().allocate_descriptor_sets(&info) };
        self.set = context.check("making a queue", sets)?.first().copied().unwrap_or_default();
        let hidden = context.hidden.get().map(|hidden| hidden.buffer).unwrap_or_default();
        let range = |buffer, offset, range| [vk::DescriptorBufferInfo { buffer, offset, range }];
        let of_control = range(self.control.buffer, 0, CONTROL_BYTES);
        let (of_hidden, of_gate) = (range(hidden, 0, WORD), range(self.control.buffer, GATE, WORD));
        let writes = [
            write(self.set, 0, &of_control).descriptor_type(kinds[0]),
            write(self.set, 1, &of_hidden),
            write(self.set, 2, &of_gate),
        ];
        // SAFETY: the set is new, and the buffers are this device's.
        unsafe { context.device().update_descriptor_sets(&writes, &[]) };
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(SLOTS as u32);
        // SAFETY: the device is alive.
        self.queries = (context.physical.family.timestamp_bits > 0)
            .then(|| context.check("making timestamps", unsafe { context.device().create_query_pool(&info, None) }))
            .transpose()?;
        Ok(())
    }

    /// Destroys all objects.
    ///
    /// # Safety
    /// The device does not use them any more.
    pub(crate) unsafe fn free(self, context: &Context) {
        exit::remove_control(self.start);
        // SAFETY: the caller upholds the contract.
        unsafe {
            context.device().destroy_command_pool(self.pool, None);
            context.device().destroy_descriptor_pool(self.descriptors, None);
            if let Some(queries) = self.queries {
                context.device().destroy_query_pool(queries, None);
            }
            context.free_block(self.control);
        }
    }

    fn at(&self, byte: u64) -> &AtomicU32 {
        // SAFETY: callers stay within the block, which is mapped as long as this lives, zeroed, and aligned to words.
        // The device uses its words meanwhile; this process accesses them only atomically.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(byte as usize).cast()) }
    }

    /// A word of a slot's control block.
    pub(crate) fn word(&self, slot: usize, word: u32) -> &AtomicU32 {
        debug_assert!(slot < SLOTS && word < control::WORDS, "callers stay within the block");
        self.at(slot as u64 * CONTROL_BYTES + u64::from(word) * WORD)
    }

    /// Returns the queue's gate, which launches behind a failed one find shut.
    pub(crate) fn gate(&self) -> &AtomicU32 {
        self.at(GATE)
    }

    /// Clears the words in which a launch reports its end.
    pub(crate) fn clear(&self, slot: usize) {
        for word in 0..control::ARGUMENTS {
            self.word(slot, word).store(0, Ordering::Relaxed);
        }
    }

    /// Records the commands of a slot: a launch, if there is one, and the timestamp after it.
    pub(crate) fn record(
        &self,
        context: &Context,
        slot: usize,
        launch: Option<&Recorded<'_>>,
    ) -> Result<vk::CommandBuffer> {
        use vk::{AccessFlags as Access, PipelineStageFlags as Stage};
        let (device, commands) = (context.device(), self.commands[slot]);
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: nothing uses the commands: the slot is free. All that is recorded is this device's, and fits the
        // pipeline's layout, since both come from one module.
        let ended = unsafe {
            context.check("recording a launch", device.begin_command_buffer(commands, &begin))?;
            if let Some(launch) = launch {
                let layout = launch.compiled.pipeline_layout;
                device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, launch.pipeline);
                let sets = [self.set, launch.views.unwrap_or_default()];
                let sets = &sets[..1 + usize::from(launch.views.is_some())];
                let offsets = [(slot as u64 * CONTROL_BYTES) as u32];
                device.cmd_bind_descriptor_sets(commands, vk::PipelineBindPoint::COMPUTE, layout, 0, sets, &offsets);
                if launch.compiled.layout.in_push_constants {
                    let bytes = std::slice::from_raw_parts(launch.words.as_ptr().cast(), size_of_val(launch.words));
                    device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, bytes);
                } else {
                    for (word, number) in launch.words.iter().zip(control::ARGUMENTS..) {
                        self.word(slot, number).store(*word, Ordering::Relaxed);
                    }
                }
                launch.dispatch(&device, commands);
                // Its writes are made visible to what comes later: launches, copies, the host.
                let seen = Access::SHADER_READ
                    | Access::SHADER_WRITE
                    | Access::TRANSFER_READ
                    | Access::TRANSFER_WRITE
                    | Access::HOST_READ
                    | Access::HOST_WRITE;
                let barrier =
                    [vk::MemoryBarrier::default().src_access_mask(Access::SHADER_WRITE).dst_access_mask(seen)];
                let (before, behind) = (Stage::COMPUTE_SHADER, Stage::COMPUTE_SHADER | Stage::TRANSFER | Stage::HOST);
                let flags = vk::DependencyFlags::empty();
                device.cmd_pipeline_barrier(commands, before, behind, flags, &barrier, &[], &[]);
            }
            if let Some(queries) = self.queries {
                device.cmd_reset_query_pool(commands, queries, slot as u32, 1);
                device.cmd_write_timestamp(commands, Stage::BOTTOM_OF_PIPE, queries, slot as u32);
            }
            device.end_command_buffer(commands)
        };
        context.check("recording a launch", ended)?;
        Ok(commands)
    }

    /// Returns whether the device records timestamps for slots.
    pub(crate) fn has_time(&self) -> bool {
        self.queries.is_some()
    }

    /// The time at which a slot's commands were done, by the clock of the lane that they were submitted to.
    pub(crate) fn time(&self, context: &Context, slot: usize, lane: usize) -> Option<Timestamp> {
        let mut ticks = [0u64];
        let flags = vk::QueryResultFlags::TYPE_64;
        // SAFETY: the pool has a query for each slot, and the slot's commands are done.
        unsafe { context.device().get_query_pool_results(self.queries?, slot as u32, &mut ticks, flags) }.ok()?;
        let bits = context.physical.family.timestamp_bits;
        let ticks = if bits < u64::BITS { ticks[0] & ((1 << bits) - 1) } else { ticks[0] };
        let period = f64::from(context.physical.limits.timestamp_period);
        // A period that is a whole number of nanoseconds loses no bits.
        let nanoseconds =
            if period.fract() == 0.0 { ticks.wrapping_mul(period as u64) } else { (ticks as f64 * period) as u64 };
        Some(Timestamp { clock: context.lanes[lane].clock, nanoseconds })
    }
}
