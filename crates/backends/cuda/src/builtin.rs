//! Fills and copies as built-in kernels. The driver's own fills and copies are executed whatever was before them; a
//! launch does nothing behind one that has failed, since the queue's gate is shut then.

use std::sync::{Arc, OnceLock};

use wattle_core::{RawPart, Result, Shape, ShapeKind, Transfer, TransferSource, system};
use wattle_ir::builder::{Acc, Builder, PerItem, Read, get};
use wattle_ir::{Access, MAX_RANK, ParamId, Site};
use wattle_ptx::LaunchLayout;

use crate::arguments::{DeviceView, Setting, lay_out_of};
use crate::context::Context;
use crate::driver::{Address, Pattern};
use crate::memory::CudaMemory;
use crate::modules::Built;

/// Threads per block.
const THREADS: u32 = 256;

/// The built-in kernels, built when they are first used.
#[derive(Default)]
pub(crate) struct Builtins {
    fill: OnceLock<Arc<Built>>,
    copy: OnceLock<Arc<Built>>,
}

/// Consecutive 32-bit words of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Words {
    start: Address,
    count: u32,
}

/// A fill or a copy of consecutive 32-bit words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    Fill { value: u32, to: Address, count: u32 },
    Copy { from: Address, to: Address, count: u32 },
}

impl Builtin {
    /// The fill or copy for a transfer within this device; `None` if it is not one of whole consecutive words.
    pub(crate) fn of(transfer: &Transfer, context: &Arc<Context>) -> Option<Builtin> {
        let words = |part| words(part, context);
        match transfer {
            Transfer::Write { from: TransferSource::Fill(value), to } => {
                let (value, Words { start, count }) = (Pattern::of(value)?.word(), words(to)?);
                Some(Builtin::Fill { value, to: start, count })
            }
            Transfer::Write { from: TransferSource::Buffer(from), to } => {
                let (from, to) = (words(from)?, words(to)?);
                let is_apart = from.start.abs_diff(to.start) >= u64::from(to.count) * 4;
                (from.count == to.count && is_apart).then_some(Builtin::Copy {
                    from: from.start,
                    to: to.start,
                    count: to.count,
                })
            }
            Transfer::Write { from: TransferSource::Bytes(_) | TransferSource::Host(_), .. }
            | Transfer::Read { .. } => None,
        }
    }

    /// The shape of the launch.
    pub(crate) fn shape(self) -> Shape {
        let (Builtin::Fill { count, .. } | Builtin::Copy { count, .. }) = self;
        let frames = count.div_ceil(THREADS).max(1);
        Shape { kind: ShapeKind::Frames, rank: 1, outer: line(frames), inner: line(THREADS) }
    }

    /// Lays out the arguments of the kernel in `bytes`.
    pub(crate) fn lay_out(self, bytes: &mut Vec<u8>, layout: &LaunchLayout, setting: &Setting<'_>) -> Result<()> {
        let (value, from, to, count) = match self {
            Builtin::Fill { value, to, count } => (value, to, to, count),
            Builtin::Copy { from, to, count } => (0, from, to, count),
        };
        let value = value.to_le_bytes();
        let view = |param| {
            let address = if param == ParamId(0) { from } else { to };
            Ok(DeviceView { address, extent: line(count).map(u64::from), strides: [1; MAX_RANK] })
        };
        lay_out_of(bytes, layout, setting, |_| Ok(&value), view)
    }

    /// The kernel, built if it was not yet.
    pub(crate) fn built(self, builtins: &Builtins) -> Result<Arc<Built>> {
        let (place, build): (_, fn() -> Result<wattle_ir::Kernel>) = match self {
            Builtin::Fill { .. } => (&builtins.fill, fill),
            Builtin::Copy { .. } => (&builtins.copy, copy),
        };
        if let Some(built) = place.get() {
            return Ok(built.clone());
        }
        let built = Arc::new(Built::new(build()?));
        Ok(place.get_or_init(|| built).clone())
    }
}

/// The one-dimensional extent of `count` elements.
fn line(count: u32) -> [u32; MAX_RANK] {
    std::array::from_fn(|d| if d == 0 { count } else { 1 })
}

/// The words of a part of a buffer; `None` if it is another device's, or is not whole consecutive words.
fn words(part: &RawPart, context: &Arc<Context>) -> Option<Words> {
    let memory = part.buffer.memory().as_any().downcast_ref::<CudaMemory>();
    let memory = memory.filter(|memory| Arc::ptr_eq(&memory.context, context))?;
    let mut runs = part.runs();
    let (start, mut len) = runs.next()?;
    for (offset, more) in runs {
        if offset != start + len {
            return None;
        }
        len += more;
    }
    let count = u32::try_from(len / 4).ok()?;
    (start % 4 == 0 && len % 4 == 0).then(|| Words { start: memory.address + start as u64, count })
}

fn built(builder: Builder) -> Result<wattle_ir::Kernel> {
    builder.finish().map_err(|error| system("building a kernel of the CUDA device's own", error))
}

fn fill() -> Result<wattle_ir::Kernel> {
    let builder = Builder::new("wattle_fill", Site::caller(), 1);
    let value = builder.scalar::<u32>("value");
    let to = builder.view::<u32>("to", Access::PerItem, 1);
    let (handle, (_, item)) =
        builder.for_begin(Acc::<1>::new(&builder).items(&mut PerItem::<u32, 1>::new(&builder, to)));
    item.__assign(value);
    builder.loop_end(handle);
    built(builder)
}

fn copy() -> Result<wattle_ir::Kernel> {
    let builder = Builder::new("wattle_copy", Site::caller(), 1);
    let from = builder.view::<u32>("from", Access::Read, 1);
    let to = builder.view::<u32>("to", Access::PerItem, 1);
    let (handle, (index, item)) =
        builder.for_begin(Acc::<1>::new(&builder).items(&mut PerItem::<u32, 1>::new(&builder, to)));
    item.__assign(get(&Read::<u32, 1>::new(&builder, from), index));
    builder.loop_end(handle);
    built(builder)
}
