//! Kernels with their arguments: what a launch is given.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use wattle_ir::builder::IndexLayout;
use wattle_ir::printing::prints;
use wattle_ir::{Param, ParamId, SharedLen, Site, Waits};

use crate::argument::{Argument, ArgumentValue, ViewArgument};
use crate::domain::BelowSystem;
use crate::error::{Error, Result, system};
use crate::host::stack_bytes;
use crate::module::ModuleCall;
use crate::sync::lock;
use crate::thread::Thread;

/// What is known of a kernel without building it: a static of the kernel's.
#[derive(Debug)]
pub struct KernelInfo {
    /// The function's name.
    pub name: &'static str,
    /// The source line that defines the function.
    pub site: Site,
    /// The names of its parameters behind the first.
    pub parameters: &'static [&'static str],
    /// The parameters, by number, of which the kernel goes over the items together: their extents are equal.
    pub together: &'static [&'static [usize]],
    /// Whether its indices are `u64`, so that its launches may have 2³² elements or more.
    pub wide: bool,
    /// What the representation shows, which was built once and is sound: recursion, which has no end when it is built,
    /// would overflow the host's stack. For a generic kernel it is the first instance's that was launched.
    verified: OnceLock<(KernelIdentity, Known)>,
}

impl KernelInfo {
    /// Describes a kernel by its name, its place and the names of its parameters behind the first.
    pub const fn new(name: &'static str, site: Site, parameters: &'static [&'static str]) -> KernelInfo {
        KernelInfo { name, site, parameters, together: &[], wide: false, verified: OnceLock::new() }
    }

    /// Marks the kernel as one whose indices are `u64`.
    #[must_use]
    pub const fn with_wide_indices(mut self) -> KernelInfo {
        self.wide = true;
        self
    }

    /// Names the parameters, by number, that the kernel goes over together.
    #[must_use]
    pub const fn with_together(mut self, together: &'static [&'static [usize]]) -> KernelInfo {
        self.together = together;
        self
    }
}

/// What a queue needs to know of a kernel's representation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// The parameters that are shared by operations narrower than system scope.
    pub(crate) below_system: BelowSystem,
    /// The name and the place of the shared array whose length the launch gives.
    pub(crate) sized_at_launch: Option<(&'static str, Site)>,
    /// The size of a stack for a thread of it on the host, in bytes.
    pub(crate) stack_bytes: usize,
    /// The threads that the kernel's threads may wait for.
    pub(crate) waits: Waits,
    /// Whether the kernel prints.
    pub(crate) prints: bool,
}

impl Known {
    /// What is known of a module's kernel.
    ///
    /// # Errors
    /// Its arguments do not fit its parameters.
    #[cold]
    fn of_module(call: &ModuleCall) -> Result<Known> {
        call.fits()?;
        Ok(Known {
            below_system: BelowSystem::ALL,
            sized_at_launch: None,
            stack_bytes: 0,
            waits: Waits::default(),
            prints: false,
        })
    }
}

/// What is known of a kernel. Builds it when it is launched for the first time, on any device, and refuses it if that
/// fails.
#[inline]
pub(crate) fn known(kernel: &dyn Kernel) -> Result<Known> {
    if let Some(call) = kernel.module() {
        return Known::of_module(call);
    }
    let identity = kernel.identity();
    match kernel.info().verified.get() {
        Some((first, known)) if *first == identity => Ok(*known),
        _ => verify(kernel, identity),
    }
}

#[cold]
fn verify(kernel: &dyn Kernel, identity: KernelIdentity) -> Result<Known> {
    static OTHERS: Mutex<BTreeMap<KernelIdentity, Known>> = Mutex::new(BTreeMap::new());
    let others = || lock(&OTHERS);
    if let Some(known) = others().get(&identity) {
        return Ok(*known);
    }
    let built = kernel.build()?;
    has_arguments(kernel, &built)?;
    let at_launch = built.shared.iter().find(|array| array.len == SharedLen::AtLaunch);
    let sized_at_launch = at_launch.map(|array| (array.name, array.site));
    let known = Known {
        below_system: BelowSystem::of(&built),
        sized_at_launch,
        stack_bytes: stack_bytes(&built),
        waits: Waits::of(&built),
        prints: prints(&built),
    };
    if kernel.info().verified.set((identity, known)).is_err() {
        others().insert(identity, known);
    }
    Ok(known)
}

/// Whether a kernel's arguments are those for the parameters of what was built.
///
/// # Errors
/// They are not.
pub(crate) fn has_arguments(kernel: &dyn Kernel, built: &wattle_ir::Kernel) -> Result<()> {
    let given = kernel.arguments().enumerate().map(|(number, argument)| argument.param(ParamId(number as u32)));
    let given: Vec<Param> = given.collect();
    if given == built.params {
        return Ok(());
    }
    let list = |params: &[Param]| params.iter().map(Param::to_string).collect::<Vec<_>>().join(", ");
    let (name, given, has) = (&built.name, list(&given), list(&built.params));
    Err(system("launching a kernel", format!("`{name}` has the parameters ({has}), and was given ({given})")))
}

/// A key for the kernel's intermediate representation, known without building it: devices keep by it what they made of
/// a representation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelIdentity {
    family: TypeId,
    number: u64,
    /// Whether the kernel has a log as one more parameter.
    has_log: bool,
    /// Whether the representation is for launches with 2³² elements or threads or more.
    is_long: bool,
}

impl KernelIdentity {
    /// The identity of this kernel's representation for launches that may have 2³² elements or threads or more
    /// (`is_long`), or for shorter ones.
    pub(crate) fn in_long_launch(self, is_long: bool) -> KernelIdentity {
        KernelIdentity { is_long, ..self }
    }

    /// The identity of the kernel with number `number` among those that share the type `T`.
    pub fn of<T: 'static>(number: u64) -> KernelIdentity {
        KernelIdentity { family: TypeId::of::<T>(), number, has_log: false, is_long: false }
    }

    /// The identity of the same kernel with a log as one more parameter.
    pub(crate) fn with_log(self) -> KernelIdentity {
        KernelIdentity { has_log: true, ..self }
    }
}

/// A kernel with its arguments, of any type: what devices are given.
///
/// # Safety
/// `argument` names every part of a buffer that `run` touches, with the access that it has there: the clocks rely on
/// it. Kernels of one identity have arguments for the same parameters, which are those of what `build` returns. Calling
/// a function with `#[kernel]` gives kernels that keep this.
pub unsafe trait Kernel: Send + Sync + 'static {
    /// The kernel's name, place and parameters.
    fn info(&self) -> &'static KernelInfo;
    /// The number of dimensions of its launches.
    fn rank(&self) -> usize;
    /// The argument for the parameter of this number in the intermediate representation; `None` beyond the last one.
    fn argument(&self, number: usize) -> Option<Argument<'_>>;
    /// Runs one thread on the host; it may go on to the block's next ones (`Thread::next`). Where it waits, it may
    /// switch to others of its block, and never returns if the launch is stopped meanwhile: nothing in it has a
    /// destructor then.
    ///
    /// # Safety
    /// The kernel has been built once, or another of its identity, and was not refused: so the functions that it was
    /// given are known. The uses of the arguments have been recorded and none conflicts with another that is not
    /// ordered, their memory is the host's, and each thread of the launch runs once.
    unsafe fn run(&self, thread: &Thread<'_>);
    /// Builds the intermediate representation.
    ///
    /// # Errors
    /// The verifier refuses the kernel.
    fn build(&self) -> Result<wattle_ir::Kernel>;
    /// Builds the intermediate representation for a device that deals indices out so where the kernel does not say it.
    ///
    /// # Errors
    /// As [`Kernel::build`].
    fn build_with(&self, layout: IndexLayout) -> Result<wattle_ir::Kernel> {
        let _ = layout;
        self.build()
    }
    /// The kernel's identity, the same for all launches whose intermediate representation is the same.
    fn identity(&self) -> KernelIdentity;
    /// The kernel with its arguments, owned.
    fn to_arc(&self) -> Arc<dyn Kernel>;
    /// The variant of this kernel for a launch with 2³² elements or threads or more, which has an intermediate
    /// representation of its own; `None` for a kernel whose indices are `u32`.
    fn for_long_launch(&self) -> Option<Arc<dyn Kernel>> {
        None
    }
    /// The kernel of a module that it is, if it is one: it has no intermediate representation then.
    fn module(&self) -> Option<&ModuleCall> {
        None
    }
}

impl<'t> dyn Kernel + 't {
    /// The arguments, in the order of the intermediate representation's parameters: one for each number of an element.
    #[inline]
    pub fn arguments(&self) -> impl Iterator<Item = Argument<'_>> {
        (0..).map_while(|number| self.argument(number))
    }

    /// The bytes that are given for a parameter that is a value.
    ///
    /// # Errors
    /// The kernel has no such parameter.
    pub fn scalar(&self, param: ParamId) -> Result<&[u8]> {
        match self.argument(param.index()).map(|argument| argument.value) {
            Some(ArgumentValue::Scalar { bytes, .. }) => Ok(bytes),
            Some(ArgumentValue::View(_)) | None => Err(unfit(self.info(), "a value", param)),
        }
    }

    /// The part of a buffer that is given for a parameter that is a view.
    ///
    /// # Errors
    /// The kernel has no such parameter.
    pub fn view(&self, param: ParamId) -> Result<ViewArgument<'_>> {
        match self.argument(param.index()).map(|argument| argument.value) {
            Some(ArgumentValue::View(view)) => Ok(view),
            Some(ArgumentValue::Scalar { .. }) | None => Err(unfit(self.info(), "a view", param)),
        }
    }

    /// The parameters that are views of the same buffer as one before them, each with the first of those.
    pub fn views_of_one_buffer(&self) -> Vec<[ParamId; 2]> {
        let view = |argument: Argument<'_>| match argument.value {
            // The first number of the elements stands for the view.
            ArgumentValue::View(view) if view.number == 0 => {
                Some(std::ptr::from_ref(view.buffer.memory()).cast::<()>())
            }
            ArgumentValue::View(_) | ArgumentValue::Scalar { .. } => None,
        };
        wattle_ir::views_of_one_memory(self.arguments().count(), |number| self.argument(number).and_then(view))
    }
}

#[cold]
fn unfit(info: &KernelInfo, what: &str, param: ParamId) -> Error {
    let message = format!("kernel `{}` has no argument that is {what} for parameter {param:?}", info.name);
    system("launching a kernel", message)
}

/// A bundle of a kernel of rank `D` with its arguments: what calling a kernel on the host gives, and what
/// [`Queue::launch`](crate::Queue::launch) takes.
///
/// # Safety
/// [`Kernel::rank`] is `D`: in a launch of another rank two blocks could take themselves for the same one.
#[diagnostic::on_unimplemented(
    message = "this is not a kernel for launches in {D} dimensions",
    note = "the number of dimensions of the launch and of the kernel's `Acc` must be the same; a kernel is a function \
            with `#[kernel]`, called with its arguments: `queue.launch(spec, kernel(&x, &y))`"
)]
pub unsafe trait Launch<const D: usize>: Kernel {}

// SAFETY: every method is that of the kernel inside.
unsafe impl Kernel for Arc<dyn Kernel> {
    fn info(&self) -> &'static KernelInfo {
        (**self).info()
    }

    fn rank(&self) -> usize {
        (**self).rank()
    }

    fn argument(&self, number: usize) -> Option<Argument<'_>> {
        (**self).argument(number)
    }

    unsafe fn run(&self, thread: &Thread<'_>) {
        // SAFETY: the caller's promise.
        unsafe { (**self).run(thread) }
    }

    fn build(&self) -> Result<wattle_ir::Kernel> {
        (**self).build()
    }

    fn build_with(&self, layout: IndexLayout) -> Result<wattle_ir::Kernel> {
        (**self).build_with(layout)
    }

    fn identity(&self) -> KernelIdentity {
        (**self).identity()
    }

    fn to_arc(&self) -> Arc<dyn Kernel> {
        self.clone()
    }

    fn for_long_launch(&self) -> Option<Arc<dyn Kernel>> {
        (**self).for_long_launch()
    }

    fn module(&self) -> Option<&ModuleCall> {
        (**self).module()
    }
}
