//! Launches: what they use, and what they ask of the device.

use std::sync::Arc;
use wattle_ir::format_index;

use wattle_ir::Site;

use super::{Queue, Uses};
use crate::argument::{Argument, ArgumentValue};
use crate::backend::LaunchRequest;
use crate::buffer::RawBuffer;
use crate::clock::{User, Wanted};
use crate::domain::{Sharing, SyncDomainMap};
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::{Kernel, KernelInfo, Launch, known};
use crate::memory::MemoryKind;
use crate::module::{ModuleCall, ModuleLanguage};
use crate::printing::QueueLogs;
use crate::properties::DeviceKind;
use crate::spec::{LaunchOptions, Shape, ShapeKind, Spec, ThreadSpec};
use crate::sync::lock;

impl Queue {
    /// Makes ready what such a launch needs, and launches nothing. A driver compiles and loads a kernel when it first
    /// meets it, and may wait then for all that its device does: before the first of several launches that **wait for
    /// each other**, prepare all of them. It also takes the first launch's time out of a measurement.
    ///
    /// # Errors
    /// As for a launch: a shape that the device cannot keep, something that it lacks.
    #[track_caller]
    pub fn prepare<const D: usize>(&self, spec: impl Spec<D>, kernel: &impl Launch<D>) -> Result<()> {
        self.prepare_with(LaunchOptions::default(), spec, kernel)
    }

    /// Prepares a launch as [`Queue::prepare`] does, with the options that the launch will have.
    ///
    /// # Errors
    /// It fails where [`Queue::prepare`] does.
    #[track_caller]
    pub fn prepare_with<const D: usize>(
        &self,
        options: LaunchOptions,
        spec: impl Spec<D>,
        kernel: &impl Launch<D>,
    ) -> Result<()> {
        let shape = spec.shape()?;
        self.usable()?;
        let options = self.in_its_domain(options)?;
        self.takes_module(kernel, &shape, false)?;
        let is_long = options.long || shape.is_long() || has_long_view(kernel);
        let long = if is_long { for_long_launch(kernel, &shape, Site::caller())? } else { None };
        let kernel: &dyn Kernel = long.as_ref().map_or(kernel, |kernel| kernel);
        has_shared_len(kernel.info(), known(kernel)?.sized_at_launch, &options)?;
        self.not_in_its_task()?;
        if shape.is_empty() {
            return Ok(());
        }
        let logged = lock(&self.logs).with_log(&self.device, kernel, false, &options)?;
        let _waiting = self.begin_to_wait()?;
        let kernel: &dyn Kernel = logged.as_ref().map_or(kernel, |(kernel, _)| &**kernel);
        let prepared = self.backend.prepare(&LaunchRequest { kernel, host_part: None, shape, options, stamp: None });
        logged.iter().for_each(|(_, log)| lock(&self.logs).put_back(log));
        prepared
    }

    #[track_caller]
    pub(super) fn launch_checked(&self, request: LaunchRequest<'_>) -> Result<()> {
        let site = Site::caller();
        self.usable()?;
        let request = LaunchRequest { options: self.in_its_domain(request.options)?, ..request };
        self.takes_module(request.kernel, &request.shape, false)?;
        let mut uses = Uses::new();
        let mut is_long = [self.gather(&request, request.kernel, site, false, &mut uses)?, false];
        if let Some(host_part) = request.host_part {
            self.takes_module(host_part, &request.shape, true)?;
            is_long[1] = self.gather(&request, host_part, site, true, &mut uses)?;
        }
        is_long[0] |= request.options.long || request.shape.is_long();
        let long = if is_long[0] { for_long_launch(request.kernel, &request.shape, site)? } else { None };
        let long_host_part = match request.host_part {
            Some(host_part) if is_long[1] => for_long_launch(host_part, &host_part_shape(), site)?,
            Some(_) | None => None,
        };
        let request = LaunchRequest {
            kernel: long.as_ref().map_or(request.kernel, |kernel| kernel),
            host_part: long_host_part.as_ref().map(|kernel| -> &dyn Kernel { kernel }).or(request.host_part),
            ..request
        };
        if request.shape.is_empty() {
            return empty(&request);
        }
        if self.prints(&request)? {
            return self.launch_with_logs(&request, &uses);
        }
        let turn = self.turn_for(&uses, false)?;
        let request = LaunchRequest { stamp: Some(self.stamp(&turn)), ..request };
        // SAFETY: the uses have just been recorded.
        let launched = unsafe { self.backend.launch(&request) };
        self.done(turn);
        launched
    }

    /// Refuses a module's kernel where the device, or the launch, is not one for it.
    #[inline]
    fn takes_module(&self, kernel: &dyn Kernel, shape: &Shape, is_host_part: bool) -> Result<()> {
        kernel.module().map_or(Ok(()), |call| self.takes(call, shape, is_host_part))
    }

    #[cold]
    fn takes(&self, call: &ModuleCall, shape: &Shape, is_host_part: bool) -> Result<()> {
        let properties = self.device.properties();
        let code = &call.entry().code;
        let (kernel, language, file) = (call.entry().name(), code.language, &code.file);
        let cannot = |what: &str, instead: &str| {
            let what = format!("{what} `{kernel}` of the {language} module {file}");
            Err(Error::capability(self.device.name(), what, instead))
        };
        if is_host_part {
            return cannot("run on the host's thread the kernel", "write the host part with `#[kernel]`");
        }
        if !properties.modules.contains(&language) {
            let instead = match language {
                ModuleLanguage::Ptx => {
                    "CUDA devices run it (`Device::select(\"cuda\")`), simulated ones too, and `Checker::new(Model::Ptx)` proves it"
                }
                ModuleLanguage::Spirv => {
                    "simulated devices run it (`Device::select(\"simulated\")`), and `Checker::new(Model::Vulkan)` proves it"
                }
            };
            return cannot("run the kernel", instead);
        }
        let is_real = match properties.kind {
            DeviceKind::Gpu | DeviceKind::Software | DeviceKind::Host => true,
            DeviceKind::Checker | DeviceKind::Simulated => false,
        };
        if is_real && !code.is_vouched() {
            let instead = "check the scenario first, and then make the module by `unsafe { Module::ptx(text)?.vouched() }`, \
                           which promises that its kernels stay within what they are given";
            return cannot("keep within its bounds the kernel", instead);
        }
        if shape.kind == ShapeKind::Frames {
            return cannot("choose blocks and threads for the kernel", "launch it with a `ThreadSpec`");
        }
        if shape.rank > 3 {
            return cannot("launch in four dimensions the kernel", "launch it in three at the most");
        }
        Ok(())
    }

    /// Whether the kernel of a launch prints, or its host part.
    #[inline]
    fn prints(&self, request: &LaunchRequest<'_>) -> Result<bool> {
        let host_part = request.host_part.map_or(Ok(false), |kernel| known(kernel).map(|known| known.prints));
        let prints = known(request.kernel)?.prints || host_part?;
        let device = self.device.properties();
        if prints && device.kind == DeviceKind::Checker && lock(&self.logs).has_sink() {
            let what =
                "give a scenario what its kernels print (`Queue::print_to`): it goes through all executions at once";
            let instead = "have the kernel write to a buffer what the scenario looks at";
            return Err(Error::capability(&device.name, what, instead));
        }
        Ok(prints)
    }

    /// Launches a kernel that prints, with a log.
    #[cold]
    fn launch_with_logs(&self, request: &LaunchRequest<'_>, uses: &[Wanted<'_>]) -> Result<()> {
        let with_log = |kernel: &dyn Kernel, is_host_part| {
            lock(&self.logs).with_log(&self.device, kernel, is_host_part, &request.options)
        };
        let kernel = with_log(request.kernel, false)?;
        let host_part = request.host_part.map_or(Ok(None), |host_part| with_log(host_part, true))?;
        let turn = self.turn_for(uses, false)?;
        let request = LaunchRequest {
            kernel: kernel.as_ref().map_or(request.kernel, |(kernel, _)| &**kernel),
            host_part: host_part.as_ref().map(|(kernel, _)| &**kernel).or(request.host_part),
            stamp: Some(self.stamp(&turn)),
            ..*request
        };
        // SAFETY: the uses have just been recorded, and nothing else has the logs.
        let launched = unsafe { self.backend.launch(&request) };
        let logs = [&kernel, &host_part].into_iter().flatten().map(|(_, log)| log.clone());
        logs.for_each(|log| lock(&self.logs).launched(log));
        let logs = if self.blocking { lock(&self.logs).take() } else { Vec::new() };
        self.done(turn);
        launched.and(QueueLogs::deliver(&self.logs, logs))
    }

    /// The options of a launch with the queue's domain and map where it names none itself.
    ///
    /// # Errors
    /// The launch's own map names a domain that the device does not have.
    #[inline]
    fn in_its_domain(&self, options: LaunchOptions) -> Result<LaunchOptions> {
        if let Some(map) = options.domain_map {
            self.has_domains(map)?;
        }
        let domain = options.domain.unwrap_or(self.domain);
        Ok(options.sync_domain(domain).sync_domain_map(options.domain_map.unwrap_or(self.domain_map)))
    }

    /// Refuses a map to domains that the device does not have. One that has no domains takes all names for its only
    /// one.
    pub(super) fn has_domains(&self, map: SyncDomainMap) -> Result<()> {
        let there = self.device.properties().sync_domains;
        let domain = map.default.max(map.remote);
        if there <= 1 || u32::from(domain) < there {
            return Ok(());
        }
        let what = format!("launch with a map to memory synchronization domain {domain}: it has {there}, from 0");
        let instead = format!("let the map (`sync_domain_map`) name domains below {there}");
        Err(Error::capability(self.device.name(), what, instead).limited(domain + 1, there))
    }

    /// Gathers the uses of the buffers that the kernel's arguments name; returns whether one has 2³² elements or more.
    #[inline]
    fn gather<'k>(
        &self,
        request: &LaunchRequest<'k>,
        kernel: &'k dyn Kernel,
        site: Site,
        is_host_part: bool,
        uses: &mut Uses<'k>,
    ) -> Result<bool> {
        let info = kernel.info();
        let domain = request.options.get_sync_domain_map().domain(request.options.get_sync_domain());
        let known = known(kernel)?;
        has_shared_len(info, known.sized_at_launch, &request.options)?;
        let mut is_long = false;
        for (number, argument) in kernel.arguments().enumerate() {
            let ArgumentValue::View(view) = argument.value else { continue };
            if !argument.is_first() {
                continue;
            }
            if is_host_part && view.buffer.kind == MemoryKind::Device && view.buffer.host.is_none() {
                return Err(self.out_of_reach(argument.name));
            }
            is_long |= view.is_long();
            let user = User { what: info.name, parameter: Some(argument.name), site };
            let below_system = known.below_system.contains(number);
            let (device, mixes) = (self.device.number(), kernel.module().is_some());
            let sharing = Sharing { access: view.access, device, domain, below_system, mixes };
            self.reaches(view.buffer, user)?;
            uses.push(Wanted { uses: &view.buffer.uses, region: *view.region, sharing, user });
        }
        if !info.together.is_empty() {
            have_one_extent(kernel, site)?;
        }
        Ok(is_long)
    }

    #[cold]
    fn out_of_reach(&self, parameter: &str) -> Error {
        let what = format!("let a host part use `{parameter}`, which is the device's own memory");
        Error::capability(self.device.name(), what, "allocate it with `alloc_host_mapped` or `alloc_unified`")
    }

    /// Refuses a buffer of a device whose memory this one's kernels may not use.
    #[inline]
    fn reaches(&self, buffer: &RawBuffer, user: User) -> Result<()> {
        if buffer.device == self.device || self.device.backend().reaches(&buffer.device) {
            return Ok(());
        }
        Err(self.wrong_device(buffer, user))
    }

    /// Refuses a buffer of another device.
    #[inline]
    pub(super) fn owns(&self, buffer: &RawBuffer, user: User) -> Result<()> {
        if buffer.device == self.device { Ok(()) } else { Err(self.wrong_device(buffer, user)) }
    }

    #[cold]
    pub(super) fn wrong_device(&self, buffer: &RawBuffer, user: User) -> Error {
        let what = match user.parameter {
            Some(parameter) => format!("parameter `{parameter}` of `{}`", user.what),
            None => user.what.to_owned(),
        };
        let (owner, device) = (buffer.device.name().to_owned(), self.device.name().to_owned());
        ErrorKind::WrongDevice { what, site: user.site, owner, device }.into()
    }
}

/// Whether a view of a kernel has 2³² elements or more.
fn has_long_view(kernel: &dyn Kernel) -> bool {
    kernel.arguments().any(|argument| argument.is_long())
}

/// The kernel for a launch with 2³² elements or threads or more, verified; `None` for a module's, which is given
/// addresses and counts as it likes.
///
/// # Errors
/// The kernel's indices are `u32`, or those of a device function that counts.
#[cold]
fn for_long_launch(kernel: &dyn Kernel, shape: &Shape, site: Site) -> Result<Option<Arc<dyn Kernel>>> {
    if kernel.module().is_some() {
        return Ok(None);
    }
    if let Some(long) = kernel.for_long_launch() {
        known(&*long)?;
        return Ok(Some(long));
    }
    let what = match kernel.arguments().find(Argument::is_long) {
        Some(Argument { name, value: ArgumentValue::View(view), .. }) => {
            let extent = format_index(&view.extent()[..view.rank]);
            format!("its parameter `{name}`, of extent {extent} in a buffer, is numbered to 2^32 or more")
        }
        _ if shape.is_long() => "the launch has 2^32 threads or more".to_owned(),
        _ => "the launch asks for indices of 64 bits".to_owned(),
    };
    Err(ErrorKind::LongLaunch { kernel: kernel.info().name.to_owned(), what, site }.into())
}

/// Refuses views of different extents of which a kernel goes over the items together.
#[cold]
fn have_one_extent(kernel: &dyn Kernel, site: Site) -> Result<()> {
    let info = kernel.info();
    let extent = |argument: Argument<'_>| match argument.value {
        ArgumentValue::View(view) => view.extent()[..view.rank].to_vec(),
        ArgumentValue::Scalar { .. } => Vec::new(),
    };
    let extents: Vec<_> = kernel.arguments().filter(Argument::is_first).map(extent).collect();
    for views in info.together {
        let of = |number: usize| {
            let name = info.parameters.get(number).copied().unwrap_or_default();
            (name.to_owned(), extents.get(number).map(|extent| format_index(extent)).unwrap_or_default())
        };
        let first = of(views.first().copied().unwrap_or_default());
        if let Some(second) = views.iter().map(|&number| of(number)).find(|(_, extent)| *extent != first.1) {
            return Err(ErrorKind::ItemsExtent { kernel: info.name.to_owned(), site, first, second }.into());
        }
    }
    Ok(())
}

/// A launch without a block: nothing is to be done, but that a host part would have nobody beside it.
#[cold]
fn empty(request: &LaunchRequest<'_>) -> Result<()> {
    if request.host_part.is_none() {
        return Ok(());
    }
    let extent = format!("{:?}", &request.shape.outer[..request.shape.rank]);
    let why = "no block of it would run beside the host part; launch at least one";
    Err(ErrorKind::Extent { what: "a launch with a host part", extent, why }.into())
}

/// Refuses a launch that does not say how long the kernel's shared array is.
#[inline]
fn has_shared_len(
    info: &KernelInfo,
    sized_at_launch: Option<(&'static str, Site)>,
    options: &LaunchOptions,
) -> Result<()> {
    match sized_at_launch {
        Some((array, site)) if options.get_shared_len() == 0 => {
            Err(ErrorKind::SharedLen { kernel: info.name.to_owned(), array: array.to_owned(), site }.into())
        }
        _ => Ok(()),
    }
}

/// The one-thread shape of a host part.
pub fn host_part_shape() -> Shape {
    ThreadSpec::<1>::new(1, 1).shape().unwrap_or(Shape {
        kind: ShapeKind::Threads,
        rank: 1,
        outer: [1; 4],
        inner: [1; 4],
    })
}
