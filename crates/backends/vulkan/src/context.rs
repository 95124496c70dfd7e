//! An opened device: its queues, its memory, and whether it is still usable.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};

use ash::{Device, Instance, vk};
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocationSizes, AllocatorDebugSettings};
use wattle_core::{DeviceKind, MemoryKind, Result, lock, system};
use wattle_gpu::{Health, WhenLost};

use crate::block::Block;
use crate::error::words;
use crate::exit::{self, Inside};
use crate::lane::Lane;
use crate::loader::loader;
use crate::memory_types::Purpose;
use crate::physical::{FeatureChain, Physical};
use crate::pipeline::Pipelines;
use crate::staging::Staging;

/// The sizes of the blocks from which memory is suballocated: the first ones are small.
const LEAST_BLOCK: u64 = 8 << 20;
const MOST_BLOCK: u64 = 128 << 20;

/// An opened device.
pub(crate) struct Context {
    pub(crate) physical: Arc<Physical>,
    device: Device,
    /// The Vulkan queues, those for launches first.
    pub(crate) lanes: Vec<Lane>,
    /// How many Wattle queues use each launch lane.
    queues: Mutex<Vec<u32>>,
    pub(crate) allocator: Mutex<ManuallyDrop<Allocator>>,
    /// The bytes of each heap that Wattle has allocated.
    pub(crate) held: [AtomicU64; vk::MAX_MEMORY_HEAPS],
    pub(crate) pipelines: ManuallyDrop<Pipelines>,
    pub(crate) staging: Mutex<Option<Staging>>,
    /// The hidden word that sequentially consistent fences use.
    pub(crate) hidden: OnceLock<Block>,
    /// Whether the device is usable; an abandoned launch has ended once the timeline of its lane reaches the number
    /// given here.
    health: Health<(usize, u64)>,
}

/// A guard held while a thread is inside the driver.
pub(crate) struct InDriver<'c> {
    device: &'c Device,
    _inside: Inside,
}

impl Deref for InDriver<'_> {
    type Target = Device;

    fn deref(&self) -> &Device {
        self.device
    }
}

impl Context {
    /// Opens a device and creates its queues.
    pub(crate) fn open(physical: Arc<Physical>) -> Result<Arc<Context>> {
        let name = physical.properties.name.clone();
        let loader = loader().map_err(|missing| system("opening a Vulkan device", missing.reason))?;
        let _inside = exit::enter();
        let device = open_device(&loader.instance, &physical)
            .map_err(|error| system(format!("opening device `{name}`"), words(error)))?;
        exit::before_drivers();
        let family = physical.family;
        let count = family.compute_queues as usize + usize::from(family.has_copy_queue);
        let mut lanes = Vec::new();
        for index in 0..count {
            let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
            let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
            // SAFETY: the device has that many queues of this family, and supports timeline semaphores.
            let made = unsafe {
                let queue = device.get_device_queue(family.index, index as u32);
                device.create_semaphore(&info, None).map(|timeline| Lane::new(queue, timeline, count))
            };
            lanes.push(made.map_err(|error| system("making a timeline", words(error)))?);
        }
        let sizes = AllocationSizes::new(LEAST_BLOCK, LEAST_BLOCK)
            .with_max_device_memblock_size(MOST_BLOCK)
            .with_max_host_memblock_size(MOST_BLOCK);
        let mut debug_settings = AllocatorDebugSettings::default();
        debug_settings.log_leaks_on_shutdown = false;
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: loader.instance.clone(),
            device: device.clone(),
            physical_device: physical.handle,
            debug_settings,
            buffer_device_address: false,
            allocation_sizes: sizes,
        })
        .map_err(|error| system("setting up the device's memory", error))?;
        let pipelines = Pipelines::new(&device, &physical)?;
        let context = Context {
            device,
            lanes,
            queues: Mutex::new(vec![0; (family.compute_queues as usize).max(1)]),
            allocator: Mutex::new(ManuallyDrop::new(allocator)),
            held: [const { AtomicU64::new(0) }; vk::MAX_MEMORY_HEAPS],
            pipelines: ManuallyDrop::new(pipelines),
            staging: Mutex::new(None),
            hidden: OnceLock::new(),
            health: Health::new(
                &name,
                WhenLost {
                    why: |why| format!(": it was lost ({why})"),
                    instead: "start the program again, with launches that take less time, or use another device",
                },
            ),
            physical,
        };
        let hidden = context.new_block(Purpose::Buffer(MemoryKind::Device), 16)?;
        context.zero(&hidden)?;
        let _ = context.hidden.set(hidden);
        let context = Arc::new(context);
        exit::add_context(&context);
        Ok(context)
    }

    /// Vulkan's functions for the device. Hold the result for one statement or a few, never for as long as a launch may
    /// take, since the end of the process waits for it.
    pub(crate) fn device(&self) -> InDriver<'_> {
        InDriver { device: &self.device, _inside: exit::enter() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.physical.properties.name
    }

    pub(crate) fn is_software(&self) -> bool {
        self.physical.properties.kind == DeviceKind::Software
    }

    /// Chooses the lane for a new Wattle queue: the one with the fewest queues. Two queues on two lanes run their
    /// launches at the same time, whichever queues came and went between them.
    pub(crate) fn join_lane(&self) -> usize {
        let mut queues = lock(&self.queues);
        let (lane, count) = queues.iter_mut().enumerate().min_by_key(|(_, count)| **count).unzip();
        if let Some(count) = count {
            *count += 1;
        }
        lane.unwrap_or(0)
    }

    /// Removes a queue from a lane.
    pub(crate) fn leave_lane(&self, lane: usize) {
        if let Some(count) = lock(&self.queues).get_mut(lane) {
            *count -= 1;
        }
    }

    /// The lane for copies: one without launches, if there is one.
    pub(crate) fn copy_lane(&self) -> usize {
        self.lanes.len() - 1
    }

    /// Converts a driver's result into a Wattle result, and records a lost device.
    pub(crate) fn check<T>(&self, what: &str, result: Result<T, vk::Result>) -> Result<T> {
        result.map_err(|error| {
            if error == vk::Result::ERROR_DEVICE_LOST {
                self.lose(format!("{what}: {}", words(error)));
                return self.health.lost();
            }
            system(format!("{what} on device `{}`", self.name()), words(error))
        })
    }

    /// Records that the device is lost, with the reason.
    pub(crate) fn lose(&self, why: String) {
        self.health.lose(why);
    }

    /// Fails if the device is lost.
    pub(crate) fn alive(&self) -> Result<()> {
        self.health.alive()
    }

    /// Fails if the device is lost, or if an abandoned launch still runs.
    pub(crate) fn usable(&self) -> Result<()> {
        self.health.usable(|&(lane, until)| Ok(self.completed(lane)? >= until))
    }

    /// Abandons a launch; the device cannot be used until the launch has ended.
    pub(crate) fn give_up(&self, lane: usize, until: u64, kernel: &str) {
        self.health.give_up((lane, until), kernel);
    }
}

fn open_device(instance: &Instance, physical: &Physical) -> Result<Device, vk::Result> {
    let family = physical.family;
    let priorities = vec![1.0; family.compute_queues as usize + usize::from(family.has_copy_queue)];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family.index).queue_priorities(&priorities)];
    let mut extensions = Vec::new();
    let subgroup_size = physical.extensions.subgroup_size && physical.features.subgroups.full;
    if subgroup_size && physical.version < vk::API_VERSION_1_3 {
        extensions.push(ash::ext::subgroup_size_control::NAME.as_ptr());
    }
    if physical.extensions.reconvergence {
        extensions.push(ash::khr::shader_maximal_reconvergence::NAME.as_ptr());
    }
    if physical.extensions.atomic_float {
        extensions.push(ash::ext::shader_atomic_float::NAME.as_ptr());
    }
    if physical.extensions.clock {
        extensions.push(ash::khr::shader_clock::NAME.as_ptr());
    }
    let mut chain = FeatureChain::wanted(&physical.features);
    let mut info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&extensions)
        .enabled_features(&chain.core)
        .push_next(&mut chain.v11)
        .push_next(&mut chain.v12);
    if physical.extensions.atomic_float {
        info = info.push_next(&mut chain.atomic_float);
    }
    if subgroup_size {
        info = info.push_next(&mut chain.subgroup_size);
    }
    if physical.extensions.reconvergence {
        info = info.push_next(&mut chain.reconvergence);
    }
    if physical.extensions.clock {
        info = info.push_next(&mut chain.clock);
    }
    // SAFETY: the device belongs to this instance and has the requested features.
    unsafe { instance.create_device(physical.handle, &info, None) }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.usable().is_err() && !self.health.is_lost() {
            // A launch still uses what would be freed.
            return;
        }
        // SAFETY: nothing else refers to the context . What queues submitted they have waited for, so nothing of
        // this is in use, and each thing is destroyed once, the device last.
        unsafe {
            let _inside = exit::enter();
            let _ = self.device.device_wait_idle();
            self.save_pipelines(true);
            self.pipelines.destroy(&self.device);
            ManuallyDrop::drop(&mut self.pipelines);
            if let Some(staging) = lock(&self.staging).take() {
                self.free_staging(staging);
            }
            if let Some(hidden) = self.hidden.take() {
                self.free_block(hidden);
            }
            for lane in &self.lanes {
                self.device.destroy_semaphore(lane.timeline, None);
            }
            ManuallyDrop::drop(&mut *lock(&self.allocator));
            self.device.destroy_device(None);
        }
    }
}
