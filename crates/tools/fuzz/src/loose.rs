//! A kernel that is given as data, with its arguments, for the launches of every device that takes the intermediate
//! representation.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use wattle_core::{
    Arg, Argument, Atomic, Buffer, Device, DeviceKind, Error, IntoArg, Kernel, KernelIdentity, KernelInfo, Launch,
    PerItem, Queue, Read, Result, Shared, Thread, ToExtent, lock,
};
use wattle_ir::{Access, AtomicScalar, Dim, Element, Number, ParamKind, Rank, Type, native, raw, types};

use crate::case::{ArgumentValue, Case, CaseView, ViewValue};
use crate::elements::{self, elements};

/// A kernel that is given as data, with its arguments: the buffers of one case on one device.
///
/// It has no function for the host: the host devices run kernels that rustc has compiled, so they are refused.
pub struct LooseKernel {
    shared: Arc<Parts>,
}

struct Parts {
    info: &'static KernelInfo,
    number: u64,
    kernel: wattle_ir::Kernel,
    arguments: Vec<Box<dyn AnyArg>>,
}

/// A buffer of a case on a device, of any type.
pub(crate) trait AnyBuffer {
    /// All elements as raw words, in row-major order.
    fn read(&self, queue: &Queue) -> Result<Vec<u64>>;
}

/// An argument, of any type.
trait AnyArg: Send + Sync {
    fn argument(&self, name: &'static str) -> Argument<'_>;
}

impl<A: Arg> AnyArg for A {
    fn argument(&self, name: &'static str) -> Argument<'_> {
        Arg::argument(self, name)
    }
}

struct ScalarArgument {
    ty: Type,
    bytes: Vec<u8>,
}

impl AnyArg for ScalarArgument {
    fn argument(&self, name: &'static str) -> Argument<'_> {
        Argument { name, value: wattle_core::ArgumentValue::Scalar { ty: self.ty, bytes: &self.bytes }, number: None }
    }
}

impl<T: Number, const D: usize> AnyBuffer for Buffer<T, D> {
    fn read(&self, queue: &Queue) -> Result<Vec<u64>> {
        Ok(Buffer::read(self, queue)?.into_iter().map(T::to_raw).collect())
    }
}

/// A buffer of elements of several numbers.
struct Elements<T: Element, const D: usize>(Buffer<T, D>);

impl<T: Element, const D: usize> AnyBuffer for Elements<T, D> {
    fn read(&self, queue: &Queue) -> Result<Vec<u64>> {
        let mut words = Vec::new();
        self.0.read(queue)?.iter().for_each(|element| element.raw(&mut words));
        Ok(words)
    }
}

/// Makes an identity for each kernel of this process.
static NUMBER: AtomicU64 = AtomicU64::new(0);

impl LooseKernel {
    /// The case's kernel with buffers on the queue's device that hold what the case says, and those buffers, one for
    /// each view.
    pub(crate) fn new(case: &Case, queue: &Queue) -> Result<(LooseKernel, Vec<Box<dyn AnyBuffer>>)> {
        refuse_host(queue.device())?;
        case.check()?;
        let mut arguments: Vec<Box<dyn AnyArg>> = Vec::new();
        let mut buffers: Vec<Box<dyn AnyBuffer>> = Vec::new();
        let mut views = case.views();
        for (param, argument) in case.kernel.params.iter().zip(&case.arguments) {
            match (param.kind, argument) {
                (ParamKind::View { .. }, ArgumentValue::View(_)) => {
                    let Some(view) = views.next() else { return Err(Error::check("a view too many")) };
                    let (bound, buffer) = match elements::row(&case.kernel, view.param) {
                        Some(row) => bind_elements(queue, &view, row)?,
                        None => bind(queue, &view).map(|(argument, buffer)| (vec![argument], buffer))?,
                    };
                    arguments.extend(bound);
                    buffers.push(buffer);
                }
                // Bound with the first one.
                (ParamKind::View { .. }, ArgumentValue::Number) => {}
                (_, ArgumentValue::Scalar(value)) => {
                    let mut bytes = vec![0; value.ty.size()];
                    raw::to_bytes(value.raw, &mut bytes);
                    arguments.push(Box::new(ScalarArgument { ty: value.ty, bytes }));
                }
                _ => return Err(Error::check(format!("parameter `{}` is no view", param.name))),
            }
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let parts = Parts { info: info_of(&case.kernel), number, kernel: case.kernel.clone(), arguments };
        Ok((LooseKernel { shared: Arc::new(parts) }, buffers))
    }
}

fn refuse_host(device: &Device) -> Result<()> {
    if device.properties().kind != DeviceKind::Host {
        return Ok(());
    }
    let what = "run a kernel that is given as data: it runs what rustc has compiled";
    Err(Error::capability(device.name(), what, "take the simulated device, or a GPU"))
}

/// The known facts about the kernel, kept for good: each once, and random kernels differ little in these facts.
fn info_of(kernel: &wattle_ir::Kernel) -> &'static KernelInfo {
    static KEPT: Mutex<Vec<&'static KernelInfo>> = Mutex::new(Vec::new());
    static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);
    let names: Vec<&'static str> = kernel.params.iter().map(|param| param.name).collect();
    let mut kept = lock(&KEPT);
    let is_it = |info: &&&KernelInfo| info.name == kernel.name && info.site == kernel.site && info.parameters == names;
    if let Some(known) = kept.iter().find(is_it) {
        return known;
    }
    let mut known_names = lock(&NAMES);
    let known_names = known_names.get_or_insert_default();
    let name = known_names.get(kernel.name.as_str()).copied().unwrap_or_else(|| {
        let name: &'static str = kernel.name.clone().leak();
        known_names.insert(name);
        name
    });
    let info: &'static KernelInfo = Box::leak(Box::new(KernelInfo::new(name, kernel.site, names.leak())));
    kept.push(info);
    info
}

// SAFETY: `run` touches nothing, and all arguments are visited.
unsafe impl Kernel for LooseKernel {
    fn info(&self) -> &'static KernelInfo {
        self.shared.info
    }

    fn rank(&self) -> usize {
        self.shared.kernel.rank
    }

    fn argument(&self, number: usize) -> Option<Argument<'_>> {
        let name = self.shared.info.parameters.get(number)?;
        Some(self.shared.arguments.get(number)?.argument(name))
    }

    unsafe fn run(&self, thread: &Thread<'_>) {
        thread.assert(false, "a kernel that is given as data has no function for the host");
    }

    fn build(&self) -> Result<wattle_ir::Kernel> {
        wattle_ir::verify(&self.shared.kernel)?;
        Ok(self.shared.kernel.clone())
    }

    fn identity(&self) -> KernelIdentity {
        KernelIdentity::of::<LooseKernel>(self.shared.number)
    }

    fn to_arc(&self) -> Arc<dyn Kernel> {
        Arc::new(LooseKernel { shared: self.shared.clone() })
    }
}

// `launch` in `run.rs` asks for the rank before it launches, and the host runs nothing of it.
// SAFETY: as said above.
unsafe impl Launch<1> for LooseKernel {}
// SAFETY: as said above.
unsafe impl Launch<2> for LooseKernel {}
// SAFETY: as said above.
unsafe impl Launch<3> for LooseKernel {}
// SAFETY: as said above.
unsafe impl Launch<4> for LooseKernel {}

/// An argument, and the buffer behind it.
type Binding = (Box<dyn AnyArg>, Box<dyn AnyBuffer>);

fn bind(queue: &Queue, view: &CaseView<'_>) -> Result<Binding> {
    macro_rules! atomics {
        ($variant:ident) => {
            Err(unfit(view))
        };
        ($variant:ident $atomic:ident) => {
            atomic::<native::$variant>(queue, view.value)
        };
    }
    macro_rules! of_type {
        (bool $variant:ident) => {
            Err(unfit(view))
        };
        ($row:ident $variant:ident $($atomic:ident)?) => {
            match view.access {
                Access::Atomic => atomics!($variant $($atomic)?),
                Access::Read | Access::PerItem | Access::Shared => plain::<native::$variant>(queue, view),
            }
        };
    }
    macro_rules! of_types {
        ($($(#[$doc:meta])* $variant:ident $t:ident $bits:literal $kind:ident $bits_type:ident $row:ident $($atomic:ident)?;)+) => {
            match view.numbers[0] {
                $(Type::$variant => of_type!($row $variant $($atomic)?),)+
            }
        };
    }
    types!(of_types)
}

fn unfit(view: &CaseView<'_>) -> Error {
    let CaseView { name, access, numbers, value, .. } = view;
    Error::check(format!("parameter `{name}`: no {access:?} view of {numbers:?} in {} dimensions", value.extent.len()))
}

fn plain<T: Number>(queue: &Queue, view: &CaseView<'_>) -> Result<Binding> {
    match view.value.extent.len() {
        1 => plain_of::<T, 1>(queue, view),
        2 => plain_of::<T, 2>(queue, view),
        3 => plain_of::<T, 3>(queue, view),
        4 => plain_of::<T, 4>(queue, view),
        _ => Err(unfit(view)),
    }
}

fn atomic<T: AtomicScalar>(queue: &Queue, view: &ViewValue) -> Result<Binding> {
    match view.extent.len() {
        1 => atomic_of::<T, 1>(queue, view),
        2 => atomic_of::<T, 2>(queue, view),
        3 => atomic_of::<T, 3>(queue, view),
        _ => atomic_of::<T, 4>(queue, view),
    }
}

fn plain_of<T: Number, const D: usize>(queue: &Queue, view: &CaseView<'_>) -> Result<Binding>
where
    Dim<D>: Rank,
    [usize; D]: ToExtent<D>,
{
    let mut buffer = fill::<T, D>(queue, view.value)?;
    let (begin, end) = range::<D>(view.value);
    let argument: Box<dyn AnyArg> = match view.access {
        Access::Read => Box::new(IntoArg::<Read<T, D>>::into_arg(buffer.region(begin, end)?)),
        Access::PerItem => Box::new(IntoArg::<PerItem<T, D>>::into_arg(buffer.region_mut(begin, end)?)),
        _ => Box::new(IntoArg::<Shared<T, D>>::into_arg(buffer.region(begin, end)?)),
    };
    Ok((argument, Box::new(buffer)))
}

fn atomic_of<T: AtomicScalar, const D: usize>(queue: &Queue, view: &ViewValue) -> Result<Binding>
where
    Dim<D>: Rank,
    [usize; D]: ToExtent<D>,
{
    let buffer = fill::<T, D>(queue, view)?;
    let (begin, end) = range::<D>(view);
    let argument = IntoArg::<Atomic<T, D>>::into_arg(buffer.region(begin, end)?);
    Ok((Box::new(argument), Box::new(buffer)))
}

fn fill<T: Number, const D: usize>(queue: &Queue, view: &ViewValue) -> Result<Buffer<T, D>>
where
    [usize; D]: ToExtent<D>,
{
    let extent = view.buffer_extent();
    let extent: [usize; D] = std::array::from_fn(|d| extent.get(d).map_or(1, |&extent| extent as usize));
    let mut buffer = queue.device().alloc_nd::<T, D>(extent)?;
    let values: Vec<T> = view.all_contents(1).into_iter().map(T::from_raw).collect();
    buffer.write(queue, &values)?;
    Ok(buffer)
}

/// A number of the elements of a view.
struct NumberOf<A>(A, usize);

impl<A: Arg> AnyArg for NumberOf<A> {
    fn argument(&self, name: &'static str) -> Argument<'_> {
        self.0.argument_of(name, self.1)
    }
}

/// The arguments for the numbers of elements, and the buffer behind them.
type Bindings = (Vec<Box<dyn AnyArg>>, Box<dyn AnyBuffer>);

fn bind_elements(queue: &Queue, view: &CaseView<'_>, row: usize) -> Result<Bindings> {
    macro_rules! binders {
        ($($element:ty),+) => {
            [$(elements_in::<$element>),+]
        };
    }
    elements!(binders)[row](queue, view)
}

fn elements_in<T: Element>(queue: &Queue, view: &CaseView<'_>) -> Result<Bindings> {
    match view.value.extent.len() {
        1 => elements_of::<T, 1>(queue, view),
        2 => elements_of::<T, 2>(queue, view),
        3 => elements_of::<T, 3>(queue, view),
        4 => elements_of::<T, 4>(queue, view),
        _ => Err(unfit(view)),
    }
}

fn elements_of<T: Element, const D: usize>(queue: &Queue, view: &CaseView<'_>) -> Result<Bindings>
where
    Dim<D>: Rank,
    [usize; D]: ToExtent<D>,
{
    let extent = view.value.buffer_extent();
    let extent: [usize; D] = std::array::from_fn(|d| extent.get(d).map_or(1, |&extent| extent as usize));
    let mut buffer = queue.device().alloc_nd::<T, D>(extent)?;
    let numbers = T::LAYOUT.count();
    let values: Vec<T> = view.value.all_contents(numbers).chunks(numbers).map(elements::of_words).collect();
    buffer.write(queue, &values)?;
    fn each<A: Arg>(argument: A) -> Vec<Box<dyn AnyArg>> {
        (0..A::NUMBERS).map(|number| Box::new(NumberOf(argument.clone(), number)) as Box<dyn AnyArg>).collect()
    }
    let (begin, end) = range::<D>(view.value);
    let arguments = match view.access {
        Access::Read => each(IntoArg::<Read<T, D>>::into_arg(buffer.region(begin, end)?)),
        Access::PerItem => each(IntoArg::<PerItem<T, D>>::into_arg(buffer.region_mut(begin, end)?)),
        Access::Shared => each(IntoArg::<Shared<T, D>>::into_arg(buffer.region(begin, end)?)),
        Access::Atomic => return Err(unfit(view)),
    };
    Ok((arguments, Box::new(Elements(buffer))))
}

/// The range of the view in its buffer.
fn range<const D: usize>(view: &ViewValue) -> ([usize; D], [usize; D]) {
    let begin = |d| view.before.get(d).map_or(0, |&before| before as usize);
    let end = |d| begin(d) + view.extent.get(d).map_or(1, |&extent| extent as usize);
    (std::array::from_fn(begin), std::array::from_fn(end))
}
