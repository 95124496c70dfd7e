//! A launch by hand: the Vulkan calls that a Wattle queue makes, and nothing else.

use ash::{Device, Entry, Instance, vk};
use wattle_ir::{Kernel, LaunchValue};
use wattle_spirv::{ArgumentWord, Features, SpecConstant, Workarounds, control};

/// How many launches are submitted together, as many as a queue keeps in flight.
const SLOTS: usize = 16;
const CONTROL_BYTES: u64 = control::WORDS as u64 * 4;

/// A device and a kernel on it. It lives as long as the program.
pub struct Raw {
    device: Device,
    queue: vk::Queue,
    commands: Vec<vk::CommandBuffer>,
    pipeline: vk::Pipeline,
    layout: vk::PipelineLayout,
    sets: Vec<vk::DescriptorSet>,
    words: Vec<u32>,
    queries: vk::QueryPool,
    timeline: vk::Semaphore,
    submitted: u64,
    /// The loader's functions and the instance, kept alive.
    _instance: (Entry, Instance),
}

type Made<T> = Result<T, vk::Result>;

impl Raw {
    /// Opens the device whose name starts with `label`; `kernel` is a launch of one thread.
    pub fn new(label: &str, kernel: &Kernel) -> Made<Raw> {
        // SAFETY: each call is given what was made before, for the same device, and nothing is ever destroyed.
        unsafe { Self::make(label, kernel) }
    }

    unsafe fn make(label: &str, kernel: &Kernel) -> Made<Raw> {
        // SAFETY: as above, for the whole of this.
        unsafe {
            let entry = Entry::load().map_err(|_| vk::Result::ERROR_INITIALIZATION_FAILED)?;
            let info = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
            let instance = entry.create_instance(&vk::InstanceCreateInfo::default().application_info(&info), None)?;
            let physical = instance.enumerate_physical_devices()?.into_iter().find(|&one| {
                let properties = instance.get_physical_device_properties(one);
                properties.device_name_as_c_str().is_ok_and(|name| name.to_string_lossy().starts_with(label))
            });
            let physical = physical.ok_or(vk::Result::ERROR_INITIALIZATION_FAILED)?;
            let families = instance.get_physical_device_queue_family_properties(physical);
            let family = families.iter().position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE));
            let family = family.ok_or(vk::Result::ERROR_INITIALIZATION_FAILED)? as u32;
            let device = open(&instance, physical, family)?;
            let queue = device.get_device_queue(family, 0);

            let features = Features {
                workarounds: Workarounds { split_fma: true, ..Workarounds::default() },
                ..Features::least()
            };
            let module = wattle_spirv::build(kernel, &features).map_err(|_| vk::Result::ERROR_UNKNOWN)?;
            let words: Vec<u32> = module.layout.arguments.iter().map(word).collect();
            let views = module.layout.views.len() as u32;
            let own: Vec<_> = (0..3)
                .map(|n| binding(n, [vk::DescriptorType::STORAGE_BUFFER_DYNAMIC, STORAGE, STORAGE][n as usize]))
                .collect();
            let of_views: Vec<_> = (0..views).map(|n| binding(n, STORAGE)).collect();
            let set_layout = |bindings: &[_]| {
                device.create_descriptor_set_layout(
                    &vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings),
                    None,
                )
            };
            let set_layouts = [set_layout(&own)?, set_layout(&of_views)?];
            let push = [vk::PushConstantRange::default()
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
                .size(words.len() as u32 * 4)];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts).push_constant_ranges(&push);
            let layout = device.create_pipeline_layout(&info, None)?;
            let pipeline = pipeline(&device, &module.words, layout)?;

            let sizes = [(vk::DescriptorType::STORAGE_BUFFER_DYNAMIC, 1), (STORAGE, 2 + views)]
                .map(|(ty, descriptor_count)| vk::DescriptorPoolSize { ty, descriptor_count });
            let info = vk::DescriptorPoolCreateInfo::default().max_sets(2).pool_sizes(&sizes);
            let pool = device.create_descriptor_pool(&info, None)?;
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&set_layouts);
            let sets = device.allocate_descriptor_sets(&info)?;
            let memory = instance.get_physical_device_memory_properties(physical);
            let control = buffer(&device, &memory, (SLOTS as u64 + 1) * CONTROL_BYTES)?;
            for n in 0..3 + views {
                let (set, n) = if n < 3 { (sets[0], n) } else { (sets[1], n - 3) };
                let is_control = set == sets[0] && n == 0;
                let buffer = if is_control { control } else { buffer(&device, &memory, 256)? };
                let range = if is_control { CONTROL_BYTES } else { vk::WHOLE_SIZE };
                let info = [vk::DescriptorBufferInfo { buffer, offset: 0, range }];
                let ty = if is_control { vk::DescriptorType::STORAGE_BUFFER_DYNAMIC } else { STORAGE };
                let write = vk::WriteDescriptorSet::default().dst_set(set).dst_binding(n).descriptor_type(ty);
                device.update_descriptor_sets(&[write.buffer_info(&info)], &[]);
            }
            let info = vk::CommandPoolCreateInfo::default()
                .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER | vk::CommandPoolCreateFlags::TRANSIENT)
                .queue_family_index(family);
            let pool = device.create_command_pool(&info, None)?;
            let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(SLOTS as u32);
            let commands = device.allocate_command_buffers(&info)?;
            let info =
                vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(SLOTS as u32);
            let queries = device.create_query_pool(&info, None)?;
            let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
            let timeline = device.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut kind), None)?;
            let _instance = (entry, instance);
            Ok(Raw {
                device,
                queue,
                commands,
                pipeline,
                layout,
                sets,
                words,
                queries,
                timeline,
                submitted: 0,
                _instance,
            })
        }
    }

    /// Makes one launch and waits for it as a blocking queue does.
    pub fn launch_and_wait(&mut self) {
        self.submit();
        // SAFETY: the semaphore is a timeline of this device's.
        let _ = unsafe { self.device.get_semaphore_counter_value(self.timeline) };
        self.wait(self.submitted);
    }

    /// Makes `launches` launches and waits for them together, as a non-blocking queue does.
    pub fn launch_all(&mut self, launches: usize) {
        (0..launches).for_each(|_| self.submit());
        self.wait(self.submitted);
    }

    fn wait(&self, number: u64) {
        let (semaphores, values) = ([self.timeline], [number]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        // SAFETY: as above.
        unsafe { self.device.wait_semaphores(&info, u64::MAX) }.expect("the device goes on");
    }

    fn submit(&mut self) {
        use vk::{AccessFlags as Access, PipelineStageFlags as Stage};
        let slot = self.submitted as usize % SLOTS;
        let (device, commands) = (&self.device, self.commands[slot]);
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        let offsets = [slot as u32 * CONTROL_BYTES as u32];
        let bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let seen = Access::SHADER_READ
            | Access::SHADER_WRITE
            | Access::TRANSFER_READ
            | Access::TRANSFER_WRITE
            | Access::HOST_READ
            | Access::HOST_WRITE;
        let barrier = [vk::MemoryBarrier::default().src_access_mask(Access::SHADER_WRITE).dst_access_mask(seen)];
        let behind = Stage::COMPUTE_SHADER | Stage::TRANSFER | Stage::HOST;
        let (layout, point, flags) = (self.layout, vk::PipelineBindPoint::COMPUTE, vk::DependencyFlags::empty());
        // SAFETY: what was submitted with these commands has been waited for, and all is of this device.
        let recorded = unsafe {
            device.begin_command_buffer(commands, &begin).expect("commands");
            device.cmd_bind_pipeline(commands, point, self.pipeline);
            device.cmd_bind_descriptor_sets(commands, point, layout, 0, &self.sets, &offsets);
            device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, &bytes);
            device.cmd_dispatch(commands, 1, 1, 1);
            device.cmd_pipeline_barrier(commands, Stage::COMPUTE_SHADER, behind, flags, &barrier, &[], &[]);
            device.cmd_reset_query_pool(commands, self.queries, slot as u32, 1);
            device.cmd_write_timestamp(commands, Stage::BOTTOM_OF_PIPE, self.queries, slot as u32);
            device.end_command_buffer(commands)
        };
        recorded.expect("commands");
        let number = [self.submitted + 1];
        let mut values = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&number);
        let (commands, semaphores) = ([commands], [self.timeline]);
        let info = vk::SubmitInfo::default().command_buffers(&commands).signal_semaphores(&semaphores);
        // SAFETY: as above; this is the only thread.
        let submitted = unsafe { device.queue_submit(self.queue, &[info.push_next(&mut values)], vk::Fence::null()) };
        submitted.expect("the device goes on");
        self.submitted += 1;
    }
}

const STORAGE: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;

fn binding(number: u32, ty: vk::DescriptorType) -> vk::DescriptorSetLayoutBinding<'static> {
    vk::DescriptorSetLayoutBinding::default()
        .binding(number)
        .descriptor_type(ty)
        .descriptor_count(1)
        .stage_flags(vk::ShaderStageFlags::COMPUTE)
}

/// Encodes an argument word of a launch of one thread on views of 64 elements.
fn word(word: &ArgumentWord) -> u32 {
    match word {
        ArgumentWord::Zero | ArgumentWord::Offset(_) | ArgumentWord::High(_) => 0,
        ArgumentWord::Launch(LaunchValue::ViewExtent(_, 0)) => 64,
        ArgumentWord::Low(_) => 77,
        _ => 1,
    }
}

unsafe fn open(instance: &Instance, physical: vk::PhysicalDevice, family: u32) -> Made<Device> {
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
    let mut features = vk::PhysicalDeviceVulkan12Features::default()
        .vulkan_memory_model(true)
        .vulkan_memory_model_device_scope(true)
        .vulkan_memory_model_availability_visibility_chains(true)
        .timeline_semaphore(true);
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).push_next(&mut features);
    // SAFETY: the caller upholds the contract.
    unsafe { instance.create_device(physical, &info, None) }
}

unsafe fn pipeline(device: &Device, words: &[u32], layout: vk::PipelineLayout) -> Made<vk::Pipeline> {
    let ones = [1u8, 0, 0, 0].repeat(SpecConstant::ALL.len());
    let entries = SpecConstant::ALL.map(|constant| vk::SpecializationMapEntry {
        constant_id: constant as u32,
        offset: constant as u32 * 4,
        size: 4,
    });
    let special = vk::SpecializationInfo::default().map_entries(&entries).data(&ones);
    // SAFETY: the caller upholds the contract.
    unsafe {
        let module = device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(words), None)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main")
            .specialization_info(&special);
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        let made = device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
        Ok(made.map_err(|(_, error)| error)?[0])
    }
}

unsafe fn buffer(device: &Device, memory: &vk::PhysicalDeviceMemoryProperties, bytes: u64) -> Made<vk::Buffer> {
    let wanted = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    // SAFETY: the caller upholds the contract.
    unsafe {
        let info = vk::BufferCreateInfo::default().size(bytes).usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        let buffer = device.create_buffer(&info, None)?;
        let requirements = device.get_buffer_memory_requirements(buffer);
        let index = memory.memory_types_as_slice().iter().enumerate().position(|(index, ty)| {
            requirements.memory_type_bits & (1 << index) != 0 && ty.property_flags.contains(wanted)
        });
        let index = index.ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)? as u32;
        let info = vk::MemoryAllocateInfo::default().allocation_size(requirements.size).memory_type_index(index);
        let allocation = device.allocate_memory(&info, None)?;
        device.bind_buffer_memory(buffer, allocation, 0)?;
        // All ones: the gate is open; the stop words are zero.
        let start = device.map_memory(allocation, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?.cast::<u8>();
        start.write_bytes(if bytes == 256 { 0xff } else { 0 }, bytes as usize);
        Ok(buffer)
    }
}
