//! Kernels as pipelines: each kernel is built once for a device, and once more for each shape of its blocks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ash::{Device, vk};
use rustc_hash::FxHashMap;
use wattle_core::{Error, ErrorKind, Fault, FaultKind, Kernel, KernelIdentity, Result, lock, system};
use wattle_gpu::cannot;
use wattle_ir::{MAX_RANK, ParamId, Stmt};
use wattle_spirv::{FaultSite, Lacking, LaunchLayout, SpecConstant};

use crate::cache;
use crate::context::Context;
use crate::drivers;
use crate::error::words;
use crate::exit;
use crate::physical::Physical;

/// The minimum time between two writes of the pipeline cache, except at the end of the process.
const BETWEEN_SAVES: Duration = Duration::from_secs(1);

/// The pipelines of a device, and its pipeline cache.
pub(crate) struct Pipelines {
    compiled: Mutex<FxHashMap<Code, Arc<Compiled>>>,
    /// The layouts of descriptor sets, by their number of storage buffers.
    layouts: Mutex<Vec<vk::DescriptorSetLayout>>,
    /// The layout of the set that each queue has.
    pub(crate) queue_layout: vk::DescriptorSetLayout,
    cache: vk::PipelineCache,
    /// Whether the cache has data that are not saved yet.
    is_new: AtomicBool,
    saved: Mutex<Option<Instant>>,
}

/// A kernel, and which of its parameters are views of the buffer of another one: each such has a module of its own.
type Code = (KernelIdentity, Vec<[ParamId; 2]>);

/// A kernel compiled to a shader module.
pub(crate) struct Compiled {
    pub(crate) kernel: wattle_ir::Kernel,
    pub(crate) layout: LaunchLayout,
    pub(crate) sites: Vec<FaultSite>,
    /// Whether blocks of the kernel may wait for each other.
    pub(crate) waits: bool,
    pub(crate) orders_in_loops: bool,
    pub(crate) uses_warps: bool,
    pub(crate) pipeline_layout: vk::PipelineLayout,
    shader: vk::ShaderModule,
    pipelines: Mutex<FxHashMap<Variant, vk::Pipeline>>,
}

/// The constants to which a pipeline is specialized.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Variant {
    /// The threads per block in each dimension.
    pub(crate) threads: [u32; MAX_RANK],
    /// The length of the shared array that is sized at launch, in elements.
    pub(crate) shared_len: u32,
    /// The lanes of a warp.
    pub(crate) warp_size: u32,
}

/// Counts the memory accesses in a kernel's code, the zeroing of its arrays included.
fn accesses(kernel: &wattle_ir::Kernel) -> u64 {
    let mut count: u64 = kernel.locals.iter().map(|array| u64::from(array.len)).sum();
    kernel.walk(&mut |stmt| {
        let accessed = stmt.accessed(kernel).map_or(0, |(_, elements)| u64::from(elements));
        // What is loaded as lanes is stored in an array of the thread's own.
        count += if matches!(stmt, Stmt::LoadLanes { .. }) { 2 * accessed } else { accessed };
    });
    count
}

impl Pipelines {
    pub(crate) fn new(device: &Device, physical: &Physical) -> Result<Pipelines> {
        let saved = cache::load(&physical.identity);
        let info = vk::PipelineCacheCreateInfo::default().initial_data(&saved);
        // SAFETY: the data are empty, or belong to this device and driver according to their header.
        let cache = unsafe { device.create_pipeline_cache(&info, None) };
        let cache = cache.map_err(|error| system("making a pipeline cache", words(error)))?;
        let binding = |number, kind| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(number)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let own = [
            binding(0, vk::DescriptorType::STORAGE_BUFFER_DYNAMIC),
            binding(1, vk::DescriptorType::STORAGE_BUFFER),
            binding(2, vk::DescriptorType::STORAGE_BUFFER),
        ];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&own);
        // SAFETY: the device is open.
        let queue_layout = unsafe { device.create_descriptor_set_layout(&info, None) };
        let queue_layout = queue_layout.map_err(|error| system("describing what a launch is given", words(error)))?;
        Ok(Pipelines {
            compiled: Mutex::default(),
            layouts: Mutex::default(),
            queue_layout,
            cache,
            is_new: AtomicBool::new(false),
            saved: Mutex::new(None),
        })
    }

    /// Destroys all pipelines, layouts and the cache.
    ///
    /// # Safety
    /// The device does not use them any more, and nothing else will.
    pub(crate) unsafe fn destroy(&self, device: &Device) {
        // SAFETY: the caller upholds the contract.
        unsafe {
            for (_, compiled) in lock(&self.compiled).drain() {
                for (_, pipeline) in lock(&compiled.pipelines).drain() {
                    device.destroy_pipeline(pipeline, None);
                }
                device.destroy_pipeline_layout(compiled.pipeline_layout, None);
                device.destroy_shader_module(compiled.shader, None);
            }
            for layout in lock(&self.layouts).drain(..) {
                device.destroy_descriptor_set_layout(layout, None);
            }
            device.destroy_descriptor_set_layout(self.queue_layout, None);
            device.destroy_pipeline_cache(self.cache, None);
        }
    }
}

impl Context {
    /// Returns the kernel compiled for this device, building it if necessary.
    ///
    /// `shared_len` is the length of the shared array that is sized at launch; it is checked here so that too much
    /// shared memory is reported before anything else that is lacking.
    pub(crate) fn compiled(&self, kernel: &dyn Kernel, shared_len: u32) -> Result<Arc<Compiled>> {
        let code = (kernel.identity(), kernel.views_of_one_buffer());
        if let Some(compiled) = lock(&self.pipelines.compiled).get(&code) {
            return Ok(compiled.clone());
        }
        // Two threads may build the same kernel; the second result is dropped.
        let built = self.build(kernel.build()?, &code.1, shared_len)?;
        let mut all = lock(&self.pipelines.compiled);
        if let Some(compiled) = all.get(&code) {
            // SAFETY: the objects built here have not been shared.
            unsafe {
                self.device().destroy_pipeline_layout(built.pipeline_layout, None);
                self.device().destroy_shader_module(built.shader, None);
            }
            return Ok(compiled.clone());
        }
        let built = Arc::new(built);
        all.insert(code, built.clone());
        Ok(built)
    }

    fn build(&self, kernel: wattle_ir::Kernel, same: &[[ParamId; 2]], shared_len: u32) -> Result<Compiled> {
        self.has_shared(&kernel, kernel.shared_bytes(shared_len))?;
        self.can_compile(&kernel)?;
        let module = wattle_spirv::build_for(&kernel, &self.physical.features, same);
        let module = module.map_err(|lacking| self.lacks(&lacking))?;
        let views = module.layout.views.len();
        let mut sets = vec![self.pipelines.queue_layout];
        if views > 0 {
            sets.push(self.view_layout(views)?);
        }
        let push_bytes = if module.layout.in_push_constants { module.layout.arguments.len() as u32 * 4 } else { 0 };
        let push = [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(push_bytes)];
        let push = if push_bytes > 0 { &push[..] } else { &[] };
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(push);
        // SAFETY: the layouts are this device's.
        let pipeline_layout = unsafe { self.device().create_pipeline_layout(&info, None) };
        let pipeline_layout = self.check("describing a kernel's arguments", pipeline_layout)?;
        let info = vk::ShaderModuleCreateInfo::default().code(&module.words);
        // SAFETY: `wattle_spirv` makes modules that are valid for the device's features.
        let shader = unsafe { self.device().create_shader_module(&info, None) };
        // SAFETY: it was made here, and nothing else has its handle.
        let shader = shader.inspect_err(|_| unsafe { self.device().destroy_pipeline_layout(pipeline_layout, None) });
        let shader = self.check(&format!("giving kernel `{}` to the driver", kernel.name), shader)?;
        let wattle_spirv::Module { layout, sites, waits, orders_in_loops, uses_warps, .. } = module;
        let pipelines = Mutex::default();
        Ok(Compiled { kernel, layout, sites, waits, orders_in_loops, uses_warps, pipeline_layout, shader, pipelines })
    }

    fn lacks(&self, lacking: &Lacking) -> Error {
        cannot(self.name(), format!("run this kernel: {lacking}"), lacking.instead())
    }

    /// The layout of a descriptor set of `views` views.
    pub(crate) fn view_layout(&self, views: usize) -> Result<vk::DescriptorSetLayout> {
        let mut layouts = lock(&self.pipelines.layouts);
        while layouts.len() < views {
            let bindings: Vec<_> = (0..=layouts.len() as u32)
                .map(|number| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(number)
                        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                        .descriptor_count(1)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: the device is alive.
            let layout = unsafe { self.device().create_descriptor_set_layout(&info, None) };
            layouts.push(self.check("describing a kernel's views", layout)?);
        }
        Ok(layouts[views - 1])
    }

    /// Refuses a kernel that needs more shared memory than the device has.
    fn has_shared(&self, kernel: &wattle_ir::Kernel, asked: u64) -> Result<()> {
        let available = self.physical.properties.max_shared_memory;
        if asked <= available {
            return Ok(());
        }
        let nowhere = wattle_ir::format_index(&[0; MAX_RANK][..kernel.rank]);
        Err(ErrorKind::Fault(Box::new(Fault {
            kernel: kernel.name.clone(),
            block: nowhere.clone(),
            thread: nowhere,
            site: kernel.shared.first().map_or(kernel.site, |array| array.site),
            what: FaultKind::SharedMemory { asked, available },
        }))
        .into())
    }

    /// Refuses a kernel that the driver's compiler would not finish.
    fn can_compile(&self, kernel: &wattle_ir::Kernel) -> Result<()> {
        let Some(most) = drivers::most_accesses(self.physical.driver) else { return Ok(()) };
        let found = accesses(kernel);
        if found <= most {
            return Ok(());
        }
        let longest = kernel.locals.iter().max_by_key(|array| array.len).map(|array| {
            let bytes = u64::from(array.len) * array.element.size() as u64;
            format!("; its longest array, `[{}; {}]`, has {bytes} bytes", array.element, array.len)
        });
        let what = format!(
            "run kernel `{}`, whose code has {found} memory accesses, with one for each element of an array that is set as a \
             whole: {most} at the most, since the driver's compiler takes minutes for more{}",
            kernel.name,
            longest.unwrap_or_default()
        );
        Err(cannot(self.name(), what, "use a shorter array, a buffer, or a loop"))
    }

    /// Returns the pipeline for blocks of this shape, making it if necessary.
    pub(crate) fn pipeline(&self, compiled: &Compiled, variant: Variant) -> Result<vk::Pipeline> {
        let mut pipelines = lock(&compiled.pipelines);
        if let Some(&pipeline) = pipelines.get(&variant) {
            return Ok(pipeline);
        }
        let at_launch = compiled.layout.launch_sized_element.map_or(0, u64::from) * u64::from(variant.shared_len);
        self.has_shared(&compiled.kernel, u64::from(compiled.layout.shared_bytes) + at_launch)?;
        let [a, b, c, d] = variant.threads;
        // In the order of `SpecConstant::ALL`.
        let threads = a * b * c * d;
        let pads = self.physical.features.workarounds.pads_blocks;
        let subgroup = if pads { self.physical.properties.warp_width.max(1) } else { 1 };
        let workgroup = threads.next_multiple_of(subgroup);
        let values: [u32; SpecConstant::ALL.len()] = [threads, a, b, c, d, variant.shared_len.max(1), workgroup];
        let data: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let entries = SpecConstant::ALL.map(|constant| vk::SpecializationMapEntry {
            constant_id: constant as u32,
            offset: constant as u32 * 4,
            size: 4,
        });
        let special = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let mut lanes =
            vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default().required_subgroup_size(variant.warp_size);
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(compiled.shader)
            .name(c"main")
            .specialization_info(&special);
        if compiled.uses_warps {
            stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
            if self.physical.subgroup_sizes.is_some() {
                stage = stage.push_next(&mut lanes);
            }
        }
        // Some launches of such a kernel are dispatched in parts.
        let in_parts = compiled.waits && self.is_software();
        let flags = if in_parts { vk::PipelineCreateFlags::DISPATCH_BASE } else { vk::PipelineCreateFlags::empty() };
        let info = vk::ComputePipelineCreateInfo::default().flags(flags).stage(stage).layout(compiled.pipeline_layout);
        // SAFETY: shader, layout and cache are this device's, and the module's entry point is `main`.
        let made = unsafe { self.device().create_compute_pipelines(self.pipelines.cache, &[info], None) };
        let made = made.map_err(|(_, error)| error);
        let made = self.check(&format!("building kernel `{}`", compiled.kernel.name), made)?;
        exit::before_drivers();
        let pipeline = made.first().copied().unwrap_or_default();
        pipelines.insert(variant, pipeline);
        self.pipelines.is_new.store(true, Ordering::Relaxed);
        self.save_pipelines(false);
        Ok(pipeline)
    }

    /// Saves the pipeline cache if it has new data: now, or once enough time has passed since the last save.
    pub(crate) fn save_pipelines(&self, now: bool) {
        if self.alive().is_err() || !self.pipelines.is_new.load(Ordering::Relaxed) {
            return;
        }
        let device = self.device();
        // A thread that is saving already saves this thread's data too, except the newest.
        let Ok(mut saved) = self.pipelines.saved.try_lock() else { return };
        if !now && saved.is_some_and(|saved| saved.elapsed() < BETWEEN_SAVES) {
            return;
        }
        *saved = Some(Instant::now());
        self.pipelines.is_new.store(false, Ordering::Relaxed);
        // SAFETY: the cache is this device's.
        if let Ok(data) = unsafe { device.get_pipeline_cache_data(self.pipelines.cache) } {
            cache::save(&self.physical.identity, &data);
        }
    }
}
