//! Kernels with their arguments: what a launch is given.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, OnceLock};

use wattle_ir::builder::{self, Builder, IrValue};
use wattle_ir::{Access, AtomicScalar, Const, Dim, Element, KernelType, MAX_RANK, Rank, Scalar, SharedLen, Site};

use crate::acc::Acc;
use crate::buffer::{Buffer, Part, RawBuffer, View, ViewMut};
use crate::clock::Region;
use crate::domain::BelowSystem;
use crate::error::Result;
use crate::sync::lock;
use crate::thread::Thread;
use crate::view::{Atomic, PerItem, Read, Shared, Strided};

/// What is known of a kernel without building it: a static of the kernel's.
#[derive(Debug)]
pub struct KernelInfo {
    /// The function's name.
    pub name: &'static str,
    /// Where it is defined.
    pub site: Site,
    /// The names of its parameters behind the first.
    pub parameters: &'static [&'static str],
    /// What the representation shows, which was built once and is sound: recursion, which has no end when it is built,
    /// would overflow the host's stack. For a generic kernel it is the first instance's that was launched.
    verified: OnceLock<(KernelIdentity, Known)>,
}

impl KernelInfo {
    /// Describes a kernel by its name, its place and the names of its parameters behind the first.
    pub const fn new(name: &'static str, site: Site, parameters: &'static [&'static str]) -> KernelInfo {
        KernelInfo { name, site, parameters, verified: OnceLock::new() }
    }
}

/// What a queue needs to know of a kernel's representation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// Which parameters are shared by operations narrower than system scope.
    pub(crate) below_system: BelowSystem,
    /// The name and the place of the shared array whose length the launch gives.
    pub(crate) sized_at_launch: Option<(&'static str, Site)>,
}

/// What is known of a kernel. Builds it when it is launched for the first time, on any device, and refuses it if that
/// fails.
#[inline]
pub(crate) fn known(kernel: &dyn Kernel) -> Result<Known> {
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
    let at_launch = built.shared.iter().find(|array| array.len == SharedLen::AtLaunch);
    let sized_at_launch = at_launch.map(|array| (array.name, array.site));
    let known = Known { below_system: BelowSystem::of(&built), sized_at_launch };
    if kernel.info().verified.set((identity, known)).is_err() {
        others().insert(identity, known);
    }
    Ok(known)
}

/// Which intermediate representation a kernel has, without building it: devices keep what they made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelIdentity {
    family: TypeId,
    number: u64,
}

impl KernelIdentity {
    /// Of the kernels that share the type `T`, the one of that number.
    pub fn of<T: 'static>(number: u64) -> KernelIdentity {
        KernelIdentity { family: TypeId::of::<T>(), number }
    }
}

/// A kernel with its arguments, of any type: what devices are given.
///
/// # Safety
/// `arguments` names every part of a buffer that `run` touches, with the access that it has there: the clocks rely on
/// it. Calling a function with `#[kernel]` gives kernels that do.
pub unsafe trait Kernel: Send + Sync + 'static {
    /// The kernel's name, place and parameters.
    fn info(&self) -> &'static KernelInfo;
    /// The number of dimensions of its launches.
    fn rank(&self) -> usize;
    /// Calls `visit` with each argument, in order.
    ///
    /// # Errors
    /// The first error that `visit` returns.
    fn arguments<'k>(&'k self, visit: &mut dyn FnMut(Argument<'k>) -> Result<()>) -> Result<()>;
    /// Runs one block, of one thread, on the host.
    ///
    /// # Safety
    /// The uses of the arguments have been recorded and none conflicts with another that is not ordered, their memory is
    /// the host's, and each block of the launch runs once.
    unsafe fn run(&self, thread: &Thread<'_>);
    /// Builds the intermediate representation.
    ///
    /// # Errors
    /// The verifier refuses the kernel.
    fn build(&self) -> Result<wattle_ir::Kernel>;
    /// The kernel's identity, the same for all launches whose intermediate representation is the same.
    fn identity(&self) -> KernelIdentity;
    /// The kernel with its arguments, owned.
    fn to_arc(&self) -> Arc<dyn Kernel>;
}

/// An argument of a kernel.
pub enum Argument<'a> {
    /// A value, the same for all threads.
    Scalar(Const),
    /// A part of a buffer.
    View(ViewArgument<'a>),
}

/// A part of a buffer as an argument.
pub struct ViewArgument<'a> {
    /// The buffer that the part is of.
    pub buffer: &'a Arc<RawBuffer>,
    /// How the kernel's threads share it.
    pub access: Access,
    /// The number of its dimensions.
    pub rank: usize,
    pub(crate) region: Region,
}

impl ViewArgument<'_> {
    /// Where the part starts in the buffer, in elements.
    pub fn offset(&self) -> usize {
        self.buffer.offset(self.region.begin)
    }

    /// The extent, in elements; 1 in the dimensions behind the rank.
    pub fn extent(&self) -> [u32; MAX_RANK] {
        self.region.extent()
    }

    /// The distance of neighbours in each dimension, in elements.
    pub fn strides(&self) -> [u32; MAX_RANK] {
        self.buffer.strides()
    }
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

/// What the kernel macro makes: a kernel, its arguments, the host's function and the builder.
#[doc(hidden)]
pub struct Bundle<const D: usize, A, H, I> {
    info: &'static KernelInfo,
    arguments: A,
    host: H,
    build: I,
}

/// A bundle whose safety is not promised yet: the macro makes it of the user's words, and then promises in an `unsafe`
/// block without any of them what it has made sure of.
#[doc(hidden)]
pub struct Draft<const D: usize, A, H, I>(Bundle<D, A, H, I>);

impl<const D: usize, A, H, I> Draft<D, A, H, I>
where
    Dim<D>: Rank,
    A: Arguments,
    H: Fn(&Acc<'_, D>, A::Views),
    I: for<'b> Fn(&'b Builder, builder::Acc<'b, D>, A::Built<'b>),
{
    /// A bundle of these parts, not yet promised to be safe.
    #[inline]
    pub fn new(info: &'static KernelInfo, arguments: A, host: H, build: I) -> Self {
        Draft(Bundle { info, arguments, host, build })
    }

    /// The bundle, whose safety the caller promises.
    ///
    /// # Safety
    /// `host` keeps no view beyond its call and gives none to code that could, and `build` builds the same kernel
    /// whenever it is called, with the arguments' parameters alone.
    #[inline]
    pub unsafe fn vouch(self) -> Bundle<D, A, H, I> {
        self.0
    }
}

// SAFETY: the rank is `D`.
#[diagnostic::do_not_recommend]
unsafe impl<const D: usize, A, H, I> Launch<D> for Bundle<D, A, H, I>
where
    Dim<D>: Rank,
    A: Arguments,
    H: Fn(&Acc<'_, D>, A::Views) + Copy + Send + Sync + 'static,
    I: for<'b> Fn(&'b Builder, builder::Acc<'b, D>, A::Built<'b>) + Copy + Send + Sync + 'static,
{
}

// SAFETY: `run` gives the kernel's function views of the arguments and nothing else.
unsafe impl<const D: usize, A, H, I> Kernel for Bundle<D, A, H, I>
where
    Dim<D>: Rank,
    A: Arguments,
    H: Fn(&Acc<'_, D>, A::Views) + Copy + Send + Sync + 'static,
    I: for<'b> Fn(&'b Builder, builder::Acc<'b, D>, A::Built<'b>) + Copy + Send + Sync + 'static,
{
    fn info(&self) -> &'static KernelInfo {
        self.info
    }

    fn rank(&self) -> usize {
        D
    }

    #[inline]
    fn arguments<'k>(&'k self, visit: &mut dyn FnMut(Argument<'k>) -> Result<()>) -> Result<()> {
        self.arguments.visit(visit)
    }

    #[inline]
    unsafe fn run(&self, thread: &Thread<'_>) {
        // SAFETY: the caller's promise.
        let views = unsafe { self.arguments.views(self.info.parameters, thread) };
        (self.host)(&Acc::new(thread), views);
    }

    fn build(&self) -> Result<wattle_ir::Kernel> {
        let builder = Builder::new(self.info.name, self.info.site, D);
        let arguments = A::built(&builder, self.info.parameters);
        (self.build)(&builder, builder::Acc::new(&builder), arguments);
        Ok(builder.finish()?)
    }

    fn identity(&self) -> KernelIdentity {
        // Each instance of a generic kernel has closures of its own.
        KernelIdentity::of::<I>(0)
    }

    fn to_arc(&self) -> Arc<dyn Kernel> {
        let (arguments, host, build) = (self.arguments.clone(), self.host, self.build);
        Arc::new(Bundle { info: self.info, arguments, host, build })
    }
}

// SAFETY: every method is that of the kernel inside.
unsafe impl Kernel for Arc<dyn Kernel> {
    fn info(&self) -> &'static KernelInfo {
        (**self).info()
    }

    fn rank(&self) -> usize {
        (**self).rank()
    }

    fn arguments<'k>(&'k self, visit: &mut dyn FnMut(Argument<'k>) -> Result<()>) -> Result<()> {
        (**self).arguments(visit)
    }

    unsafe fn run(&self, thread: &Thread<'_>) {
        // SAFETY: the caller's promise.
        unsafe { (**self).run(thread) }
    }

    fn build(&self) -> Result<wattle_ir::Kernel> {
        (**self).build()
    }

    fn identity(&self) -> KernelIdentity {
        (**self).identity()
    }

    fn to_arc(&self) -> Arc<dyn Kernel> {
        self.clone()
    }
}

/// One argument of a bundle.
///
/// # Safety
/// `visit` names the part of a buffer that `view` gives access to, with that access.
#[doc(hidden)]
pub unsafe trait Arg: Clone + Send + Sync + 'static {
    /// What the host's function is given.
    type View;
    /// What the builder is given.
    type Built<'b>;
    fn visit(&self) -> Argument<'_>;
    /// # Safety
    /// As for [`Kernel::run`], and the view is not used once the thread has ended.
    unsafe fn view(&self, name: &'static str, thread: &Thread<'_>) -> Self::View;
    fn built<'b>(builder: &'b Builder, name: &'static str) -> Self::Built<'b>;
}

// SAFETY: a value is no part of a buffer.
unsafe impl<T: Scalar> Arg for T {
    type View = T;
    type Built<'b> = builder::Val<'b, T>;
    #[inline]
    fn visit(&self) -> Argument<'_> {
        Argument::Scalar(Const::of(*self))
    }
    #[inline(always)]
    unsafe fn view(&self, _: &'static str, _: &Thread<'_>) -> T {
        *self
    }
    fn built<'b>(builder: &'b Builder, name: &'static str) -> Self::Built<'b> {
        builder.scalar(name)
    }
}

/// A part of a buffer, bound to a parameter of type `V`.
#[doc(hidden)]
pub struct Bound<V> {
    raw: Arc<RawBuffer>,
    region: Region,
    view: PhantomData<fn() -> V>,
}

impl<V> Clone for Bound<V> {
    fn clone(&self) -> Self {
        Bound { raw: self.raw.clone(), region: self.region, view: PhantomData }
    }
}

/// The type of a kernel's parameter that is a view.
#[doc(hidden)]
pub trait Parameter: Sized {
    type Arg: Arg<View = Self>;
    type Built<'b>;
}

/// What can be given for a parameter of type `P`: for `Read`, `Shared` and `Atomic` a `&Buffer` or `&View`; for
/// `PerItem`, which is exclusive, a `&mut Buffer` or `ViewMut`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given for a parameter `{P}`",
    label = "not an argument for `{P}`",
    note = "`Read`, `Shared` and `Atomic` parameters take `&buffer` or a view of it, `PerItem` parameters take \
            `&mut buffer` or an exclusive view; element type and dimensions must be the parameter's"
)]
pub trait IntoArg<P: Parameter> {
    #[doc(hidden)]
    fn into_arg(self) -> P::Arg;
}

fn bind<T, V, const D: usize>(part: Part<T, D>) -> Bound<V> {
    Bound { raw: part.raw, region: part.region, view: PhantomData }
}

macro_rules! view_arguments {
    ($($view:ident $bound:ident <- $($source:ty: $part:expr),+;)+) => {$(
        // SAFETY: both name the same region of the same buffer.
        unsafe impl<T: $bound, const D: usize> Arg for Bound<$view<T, D>>
        where
            Dim<D>: Rank,
        {
            type View = $view<T, D>;
            type Built<'b> = builder::$view<'b, T, D>;
            #[inline]
            fn visit(&self) -> Argument<'_> {
                let (access, rank) = (Access::$view, D);
                Argument::View(ViewArgument { buffer: &self.raw, access, rank, region: self.region })
            }
            #[inline(always)]
            unsafe fn view(&self, name: &'static str, thread: &Thread<'_>) -> $view<T, D> {
                let raw = &*self.raw;
                let (extent, strides) = (self.region.extent(), raw.strides());
                // SAFETY: the region is within the buffer, which the bundle owns, of elements of type `T`; its memory is
                // the host's and the clocks have allowed the use, by the caller's promise. Without such memory the view
                // has no element.
                $view(unsafe {
                    match raw.host {
                        Some(start) => {
                            let start = start.as_ptr().cast::<T>().add(raw.offset(self.region.begin));
                            Strided::new(start, extent, strides, name, thread)
                        }
                        None => Strided::new(std::ptr::null_mut(), [0; MAX_RANK], strides, name, thread),
                    }
                })
            }
            fn built<'b>(builder: &'b Builder, name: &'static str) -> Self::Built<'b> {
                builder::$view::new(builder, builder.view::<T>(name, Access::$view, D))
            }
        }

        impl<T: $bound, const D: usize> Parameter for $view<T, D>
        where
            Dim<D>: Rank,
        {
            type Arg = Bound<Self>;
            type Built<'b> = builder::$view<'b, T, D>;
        }

        $(#[diagnostic::do_not_recommend]
        impl<T: $bound, const D: usize> IntoArg<$view<T, D>> for $source
        where
            Dim<D>: Rank,
        {
            #[inline]
            fn into_arg(self) -> Bound<$view<T, D>> {
                let part: fn($source) -> Part<T, D> = $part;
                bind(part(self))
            }
        })+
    )+};
}
view_arguments! {
    Read Element <- &Buffer<T, D>: |x| x.whole(), &View<T, D>: |x| x.0.clone(), View<T, D>: |x| x.0;
    Shared Element <- &Buffer<T, D>: |x| x.whole(), &View<T, D>: |x| x.0.clone(), View<T, D>: |x| x.0;
    Atomic AtomicScalar <- &Buffer<T, D>: |x| x.whole(), &View<T, D>: |x| x.0.clone(), View<T, D>: |x| x.0;
    PerItem Element <- &mut Buffer<T, D>: |x| x.whole(), &mut ViewMut<T, D>: |x| x.0.clone(), ViewMut<T, D>: |x| x.0;
}

/// The arguments of a bundle: a tuple of [`Arg`]s.
///
/// # Safety
/// As for [`Arg`].
#[doc(hidden)]
pub unsafe trait Arguments: Clone + Send + Sync + 'static {
    type Views;
    type Built<'b>;
    fn visit<'a>(&'a self, visit: &mut dyn FnMut(Argument<'a>) -> Result<()>) -> Result<()>;
    /// # Safety
    /// As for [`Arg::view`].
    unsafe fn views(&self, names: &'static [&'static str], thread: &Thread<'_>) -> Self::Views;
    fn built<'b>(builder: &'b Builder, names: &'static [&'static str]) -> Self::Built<'b>;
}

macro_rules! arguments {
    ($(($($name:ident $index:tt),*))+) => {$(
        // SAFETY: each argument keeps the promise of `Arg`.
        unsafe impl<$($name: Arg),*> Arguments for ($($name,)*) {
            type Views = ($($name::View,)*);
            type Built<'b> = ($($name::Built<'b>,)*);
            #[inline]
            fn visit<'a>(&'a self, _visit: &mut dyn FnMut(Argument<'a>) -> Result<()>) -> Result<()> {
                $(_visit(self.$index.visit())?;)*
                Ok(())
            }
            #[inline(always)]
            #[allow(clippy::unused_unit, reason = "the empty tuple is one of them")]
            unsafe fn views(&self, _names: &'static [&'static str], _thread: &Thread<'_>) -> Self::Views {
                // SAFETY: the caller's promise.
                ($(unsafe { self.$index.view(_names[$index], _thread) },)*)
            }
            #[allow(clippy::unused_unit, reason = "the empty tuple is one of them")]
            fn built<'b>(_builder: &'b Builder, _names: &'static [&'static str]) -> Self::Built<'b> {
                ($($name::built(_builder, _names[$index]),)*)
            }
        }
    )+};
}
arguments! {
    ()(A 0)(A 0, B 1)(A 0, B 1, C 2)(A 0, B 1, C 2, D 3)(A 0, B 1, C 2, D 3, E 4)(A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8)(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11)
}

const fn built_matches<'b, P, A>()
where
    P: KernelType,
    A: Arg<Built<'b> = P::Built<'b>>,
    P::Built<'b>: IrValue<'b>,
{
}
// A device function's parameter and a kernel's argument have the same type in the builder.
const _: () = built_matches::<f32, f32>();
const _: () = built_matches::<Read<f32, 2>, Bound<Read<f32, 2>>>();
