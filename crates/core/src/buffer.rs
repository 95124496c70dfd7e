//! Buffers, and the parts of them that launches and copies use.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::sync::Arc;
use wattle_ir::format_index;

use wattle_ir::{Access, Element, ElementLayout, MAX_RANK, Site};

use crate::clock::{Region, User, Uses};
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::extent::{self, Extent, ToExtent};
use crate::memory::{self, Allocation, Memory, MemoryKind};
use crate::queue::{Queue, before_this_task, resolve};

/// The allocation that buffers and views own together. It is freed when the last of them is gone, queued work included.
pub struct RawBuffer {
    pub(crate) memory: Box<dyn Memory>,
    pub(crate) host: Option<NonNull<u8>>,
    pub(crate) uses: Uses,
    pub(crate) device: Device,
    pub(crate) layout: &'static ElementLayout,
    pub(crate) kind: MemoryKind,
    pub(crate) extent: [u64; MAX_RANK],
    /// Whether there are 2³² elements or more.
    pub(crate) is_long: bool,
    rank: usize,
}

// SAFETY: `host` points into `memory`, which is `Send` and `Sync`.
unsafe impl Send for RawBuffer {}
// SAFETY: as above.
unsafe impl Sync for RawBuffer {}

impl RawBuffer {
    /// The device's memory.
    pub fn memory(&self) -> &dyn Memory {
        &*self.memory
    }

    /// The distance of neighbours in each dimension, in elements.
    pub(crate) fn strides(&self) -> [u64; MAX_RANK] {
        let mut strides = [1u64; MAX_RANK];
        for d in (0..MAX_RANK - 1).rev() {
            strides[d] = strides[d + 1].saturating_mul(self.extent[d + 1]);
        }
        strides
    }

    pub(crate) fn offset(&self, index: [u64; MAX_RANK]) -> usize {
        let strides = self.strides();
        (0..MAX_RANK).map(|d| index[d] as usize * strides[d] as usize).sum()
    }
}

/// `T`s in the memory of a device, in `D` dimensions.
///
/// It is freed when the last owner goes; a launch or copy that uses it owns it until it has ended. One with 2³²
/// elements or more is for copies, for parts with fewer (`buffer.slice(…)`), and for kernels with `#[kernel(wide)]`.
pub struct Buffer<T, const D: usize = 1> {
    raw: Arc<RawBuffer>,
    extent: Extent<D>,
    element: PhantomData<T>,
}

/// A part of a buffer, for launches and copies that do not need it exclusively.
pub struct View<T, const D: usize = 1>(pub(crate) Part<T, D>);

/// A part of a buffer, for launches and copies that use it exclusively.
pub struct ViewMut<T, const D: usize = 1>(pub(crate) Part<T, D>);

/// A part of a buffer.
pub(crate) struct Part<T, const D: usize> {
    pub(crate) raw: Arc<RawBuffer>,
    pub(crate) region: Region,
    element: PhantomData<T>,
}

impl<T, const D: usize> Clone for Part<T, D> {
    fn clone(&self) -> Self {
        Part { raw: self.raw.clone(), region: self.region, element: PhantomData }
    }
}

impl<T, const D: usize> Clone for View<T, D> {
    fn clone(&self) -> Self {
        View(self.0.clone())
    }
}

impl<T, const D: usize> Part<T, D> {
    pub(crate) fn extent_text(&self) -> String {
        format_index(&self.region.extent()[..D])
    }
}

/// What a copy reads: `&Buffer` or `&View`.
pub trait Source<T, const D: usize>: sealed::Source<T, D> {}
/// What a copy or a fill writes: `&mut Buffer` or `&mut ViewMut`.
pub trait Destination<T, const D: usize>: sealed::Destination<T, D> {}

pub(crate) mod sealed {
    use super::Part;

    pub trait Source<T, const D: usize> {
        #[doc(hidden)]
        #[allow(private_interfaces, reason = "sealed")]
        fn part(&self) -> Part<T, D>;
    }
    pub trait Destination<T, const D: usize> {
        #[doc(hidden)]
        #[allow(private_interfaces, reason = "sealed")]
        fn part(&self) -> Part<T, D>;
    }
}

macro_rules! parts {
    ($($marker:ident for $ty:ty: $part:expr;)+) => {$(
        impl<T: Element, const D: usize> sealed::$marker<T, D> for $ty {
            #[allow(private_interfaces, reason = "sealed")]
            fn part(&self) -> Part<T, D> {
                let part: fn(&$ty) -> Part<T, D> = $part;
                part(self)
            }
        }
        impl<T: Element, const D: usize> $marker<T, D> for $ty {}
    )+};
}
parts! {
    Source for &Buffer<T, D>: |buffer| buffer.whole();
    Source for &View<T, D>: |view| view.0.clone();
    Source for View<T, D>: |view| view.0.clone();
    Destination for &mut Buffer<T, D>: |buffer| buffer.whole();
    Destination for &mut ViewMut<T, D>: |view| view.0.clone();
    Destination for ViewMut<T, D>: |view| view.0.clone();
}

impl<T: Element, const D: usize> Buffer<T, D> {
    pub(crate) fn allocate(
        device: &Device,
        extent: impl ToExtent<D>,
        kind: MemoryKind,
        zeroed: bool,
    ) -> Result<Buffer<T, D>> {
        let extent = extent::check(extent, "a buffer")?;
        // Drivers have no empty allocations.
        let request = Allocation { layout: T::LAYOUT, len: extent.count().max(1), kind, zeroed };
        if request.len.checked_mul(request.layout.size()).is_none_or(|bytes| bytes > isize::MAX as usize) {
            let why = "it has 2^63 bytes or more, and no memory is as large; allocate less";
            return Err(ErrorKind::Extent { what: "a buffer", extent: extent.to_string(), why }.into());
        }
        let memory = device.backend().allocate(&request)?;
        let raw = RawBuffer {
            host: memory.host_pointer(),
            memory,
            uses: Uses::default(),
            device: device.clone(),
            layout: T::LAYOUT,
            kind,
            extent: extent.spread(),
            is_long: extent.count() > u32::MAX as usize,
            rank: D,
        };
        Ok(Buffer { raw: Arc::new(raw), extent, element: PhantomData })
    }

    /// The extent, in elements.
    pub fn extent(&self) -> Extent<D> {
        self.extent
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.extent.count()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The device that the buffer is on.
    pub fn device(&self) -> &Device {
        &self.raw.device
    }

    pub(crate) fn whole(&self) -> Part<T, D> {
        let region = Region { begin: [0; MAX_RANK], end: self.raw.extent };
        Part { raw: self.raw.clone(), region, element: PhantomData }
    }

    /// A view of all of it.
    pub fn view(&self) -> View<T, D> {
        View(self.whole())
    }

    /// An exclusive view of all of it. The borrow ends here; each enqueue checks that nothing else uses the elements at
    /// the same time.
    pub fn view_mut(&mut self) -> ViewMut<T, D> {
        ViewMut(self.whole())
    }

    /// All elements, in row-major order, once the queue's work so far is done.
    ///
    /// # Errors
    /// Those of the queue's work; another queue's work on the buffer that is not ordered before this; the host has too
    /// little memory.
    #[doc(alias = "cudaMemcpy")]
    #[track_caller]
    pub fn read(&self, queue: &Queue) -> Result<Vec<T>> {
        let mut values = memory::zeros(self.len())?;
        queue.copy_to_host(&mut values, self)?;
        Ok(values)
    }

    /// Sets all elements, in row-major order.
    ///
    /// # Errors
    /// `values` has another length; those of [`Queue::copy_from_host`].
    #[track_caller]
    pub fn write(&mut self, queue: &Queue, values: &[T]) -> Result<()> {
        queue.copy_from_host(self, values)
    }

    #[track_caller]
    fn part(&self, begin: [usize; D], end: [usize; D]) -> Result<Part<T, D>> {
        let site = Site::caller();
        let extent = self.extent.get();
        let fits = (0..D).all(|d| begin[d] <= end[d] && end[d] <= extent[d]);
        if !fits {
            let range = if D == 1 { format!("{}..{}", begin[0], end[0]) } else { format!("{begin:?}..{end:?}") };
            return Err(ErrorKind::ViewRange { site, range, extent: self.extent.to_string() }.into());
        }
        let spread =
            |index: [usize; D], fill| std::array::from_fn(|d| index.get(d).map_or(fill, |&index| index as u64));
        // One without elements may begin far beyond the memory, and begins nowhere.
        let is_empty = (0..D).any(|d| begin[d] == end[d]);
        let (begin, end) = match is_empty {
            true => ([0; D], std::array::from_fn(|d| end[d] - begin[d])),
            false => (begin, end),
        };
        let region = Region { begin: spread(begin, 0), end: spread(end, 1) };
        Ok(Part { raw: self.raw.clone(), region, element: PhantomData })
    }

    /// The box of elements from `begin` up to and without `end`.
    ///
    /// # Errors
    /// The box is beyond the buffer, or ends before it begins.
    #[track_caller]
    pub fn region(&self, begin: impl ToExtent<D>, end: impl ToExtent<D>) -> Result<View<T, D>> {
        self.part(begin.raw(), end.raw()).map(View)
    }

    /// The box of elements from `begin` up to and without `end`, for exclusive use.
    ///
    /// # Errors
    /// The box is beyond the buffer, or ends before it begins.
    #[track_caller]
    pub fn region_mut(&mut self, begin: impl ToExtent<D>, end: impl ToExtent<D>) -> Result<ViewMut<T, D>> {
        self.part(begin.raw(), end.raw()).map(ViewMut)
    }

    /// Reads the elements in place, where the host can reach them (unified and host-mapped memory, and every buffer of
    /// the host devices). Work that may write there is refused while the guard lives.
    ///
    /// # Errors
    /// Work that may write there has not been waited for; the memory is the device's alone.
    #[track_caller]
    pub fn map(&self) -> Result<MapGuard<'_, T, D>> {
        let (elements, guard) = self.hold(Access::Read, "a host guard (`map`)")?;
        Ok(MapGuard { buffer: self, elements, guard })
    }

    /// Reads and writes the elements in place. All other work there is refused while the guard lives.
    ///
    /// # Errors
    /// Work on the buffer has not been waited for; the memory is the device's alone.
    #[track_caller]
    pub fn map_mut(&mut self) -> Result<MapGuardMut<'_, T, D>> {
        let (elements, guard) = self.hold(Access::PerItem, "a host guard (`map_mut`)")?;
        Ok(MapGuardMut { buffer: self, elements, guard })
    }

    #[track_caller]
    fn hold(&self, access: Access, what: &'static str) -> Result<(Elements<T>, u64)> {
        let user = User { what, parameter: None, site: Site::caller() };
        let raw = &*self.raw;
        if raw.host.is_none() && !raw.memory.is_mapped_by_copy() {
            return Err(self.not_mappable());
        }
        let region = self.whole().region;
        let guard = loop {
            match raw.uses.hold(region, access, user, &before_this_task()) {
                Ok(guard) => break guard,
                Err(refused) => resolve(refused)?,
            }
        };
        let elements = raw.memory.usable().and_then(|()| match raw.host {
            Some(start) => {
                // SAFETY: the buffer has `self.len()` elements; while the guard is held, kernels do not write to them.
                unsafe { memory::settle_in_place(T::LAYOUT, start, self.len()) };
                Ok(Elements::There(start.cast()))
            }
            None => {
                let mut copy = memory::zeros(self.len())?;
                // SAFETY: the bytes are the whole allocation, and while the guard is held nothing writes them; they are
                // settled before they are elements.
                unsafe {
                    let bytes = memory::bytes_mut(&mut copy);
                    let run = &mut std::iter::once((0, bytes.len()));
                    memory::read_elements(&*raw.memory, T::LAYOUT, run, bytes)?;
                }
                Ok(Elements::Copied(copy))
            }
        });
        match elements {
            Ok(elements) => Ok((elements, guard)),
            Err(error) => {
                raw.uses.release(guard);
                Err(error)
            }
        }
    }

    #[cold]
    fn not_mappable(&self) -> Error {
        let (what, instead) = match self.raw.kind {
            MemoryKind::Device => (
                "map this buffer: its memory is the device's alone",
                "allocate it with `alloc_unified` or `alloc_host_mapped`, or copy",
            ),
            MemoryKind::Unified | MemoryKind::HostMapped => ("map buffers: its memory is not the host's", "copy"),
        };
        Error::capability(self.device().name(), what, instead)
    }
}

impl<T: Element, const D: usize> View<T, D> {
    /// All elements of the part, in row-major order, once the queue's work so far is done.
    ///
    /// # Errors
    /// Those of [`Buffer::read`].
    #[track_caller]
    pub fn read(&self, queue: &Queue) -> Result<Vec<T>> {
        let count = self.0.region.extent().iter().map(|&extent| extent as usize).product();
        let mut values = memory::zeros(count)?;
        queue.copy_to_host(&mut values, self)?;
        Ok(values)
    }
}

impl<T: Element, const D: usize> ViewMut<T, D> {
    /// Sets all elements of the part, in row-major order.
    ///
    /// # Errors
    /// `values` has another length; those of [`Queue::copy_from_host`].
    #[track_caller]
    pub fn write(&mut self, queue: &Queue, values: &[T]) -> Result<()> {
        queue.copy_from_host(self, values)
    }
}

impl<T: Element> Buffer<T, 1> {
    /// The elements of `range`.
    ///
    /// # Errors
    /// The range is beyond the buffer, or ends before it begins.
    #[track_caller]
    pub fn slice(&self, range: Range<usize>) -> Result<View<T>> {
        self.part([range.start], [range.end]).map(View)
    }

    /// The elements of `range`, exclusively.
    ///
    /// # Errors
    /// The range is beyond the buffer, or ends before it begins.
    #[track_caller]
    pub fn slice_mut(&mut self, range: Range<usize>) -> Result<ViewMut<T>> {
        self.part([range.start], [range.end]).map(ViewMut)
    }
}

/// The elements that a host guard gives access to.
enum Elements<T> {
    /// The elements are in the buffer's memory, from this address on.
    There(NonNull<T>),
    /// The elements are a copy, of memory that the host cannot reach.
    Copied(Vec<T>),
}

/// The elements of a buffer in place; see [`Buffer::map`].
pub struct MapGuard<'g, T: Element, const D: usize> {
    buffer: &'g Buffer<T, D>,
    elements: Elements<T>,
    guard: u64,
}

/// The elements of a buffer in place, to write; see [`Buffer::map_mut`].
pub struct MapGuardMut<'g, T: Element, const D: usize> {
    buffer: &'g mut Buffer<T, D>,
    elements: Elements<T>,
    guard: u64,
}

impl<T: Element, const D: usize> Deref for MapGuard<'_, T, D> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match &self.elements {
            // SAFETY: the memory holds this many initialized elements, and while the guard is held nothing writes
            // there.
            Elements::There(start) => unsafe { std::slice::from_raw_parts(start.as_ptr(), self.buffer.len()) },
            Elements::Copied(copy) => copy,
        }
    }
}

impl<T: Element, const D: usize> Deref for MapGuardMut<'_, T, D> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match &self.elements {
            // SAFETY: the memory holds this many initialized elements, and while the guard is held nothing else uses
            // them.
            Elements::There(start) => unsafe { std::slice::from_raw_parts(start.as_ptr(), self.buffer.len()) },
            Elements::Copied(copy) => copy,
        }
    }
}

impl<T: Element, const D: usize> DerefMut for MapGuardMut<'_, T, D> {
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.elements {
            // SAFETY: as above.
            Elements::There(start) => unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), self.buffer.len()) },
            Elements::Copied(copy) => copy,
        }
    }
}

impl<T: Element, const D: usize> Drop for MapGuard<'_, T, D> {
    fn drop(&mut self) {
        self.buffer.raw.uses.release(self.guard);
    }
}

impl<T: Element, const D: usize> Drop for MapGuardMut<'_, T, D> {
    fn drop(&mut self) {
        if let Elements::Copied(copy) = &self.elements {
            // SAFETY: the bytes are the whole allocation, and while the guard is held nothing else uses them.
            let written = unsafe { self.buffer.raw.memory.write(0, memory::bytes(copy)) };
            debug_assert!(written.is_ok(), "the memory has been read whole");
        }
        self.buffer.raw.uses.release(self.guard);
    }
}

/// A part as runs of consecutive elements: offset in elements and length, in row-major order.
pub(crate) fn runs(raw: &RawBuffer, region: &Region) -> impl Iterator<Item = (usize, usize)> {
    let extent = region.extent();
    // The dimensions from `whole` on are used entirely, so each index of the dimensions before stands for one run.
    let whole = (1..raw.rank).rev().take_while(|&d| extent[d] == raw.extent[d]).last().unwrap_or(raw.rank);
    let inner = whole.saturating_sub(1);
    // Without an element there is no run.
    let length: usize = extent[inner..raw.rank].iter().map(|&extent| extent as usize).product();
    let outer: [u64; MAX_RANK] = std::array::from_fn(|d| if d < inner { extent[d] } else { 1 });
    let (begin, strides) = (region.begin, raw.strides());
    let runs = if length == 0 { 0 } else { outer.iter().product::<u64>() };
    (0..runs).map(move |number| {
        let at = crate::thread::delinearize(number, outer);
        let offset = (0..MAX_RANK).map(|d| (begin[d] + at[d]) as usize * strides[d] as usize).sum();
        (offset, length)
    })
}
