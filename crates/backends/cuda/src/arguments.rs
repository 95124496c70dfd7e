//! The arguments of a launch, as the bytes that its function takes.

use std::sync::Arc;

use wattle_core::{Grid, Kernel, Result};
use wattle_gpu::{Value, values};
use wattle_ir::{MAX_RANK, ParamId};
use wattle_ptx::{Argument, Layout};

use crate::context::Context;
use crate::memory::CudaMemory;
use crate::slots::Slot;

/// What a parameter of the kernel was given.
pub(crate) enum Given {
    Scalar(u64),
    View(Part),
}

/// A part of a buffer; extent and strides are in elements.
pub(crate) struct Part {
    pub(crate) base: u64,
    pub(crate) extent: [u32; MAX_RANK],
    pub(crate) strides: [u32; MAX_RANK],
}

/// The arguments of a launch. It is used again for the next one, so that nothing is allocated.
#[derive(Default)]
pub(crate) struct Arguments {
    given: Vec<Given>,
    pub(crate) bytes: Vec<u8>,
}

/// What a launch is given besides the kernel's own arguments.
pub(crate) struct Setting<'s> {
    pub(crate) slot: &'s Slot,
    pub(crate) number: u32,
    pub(crate) grid: &'s Grid,
    pub(crate) shared_len: u32,
}

impl Arguments {
    /// Takes a launch's arguments.
    ///
    /// # Errors
    /// A buffer is of another device.
    pub(crate) fn take(
        &mut self,
        context: &Arc<Context>,
        layout: &Layout,
        kernel: &dyn Kernel,
        setting: &Setting<'_>,
    ) -> Result<()> {
        self.given.clear();
        let is_ours = |memory: &CudaMemory| Arc::ptr_eq(&memory.context, context);
        values(kernel, is_ours, |_, value| {
            self.given.push(match value {
                Value::Scalar(raw) => Given::Scalar(raw),
                Value::View(view) => Given::View(Part {
                    base: view.memory.address + view.offset * view.memory.element as u64,
                    extent: view.extent,
                    strides: view.strides,
                }),
            });
            Ok(())
        })?;
        self.lay_out(layout, setting);
        Ok(())
    }

    /// Takes the arguments of a kernel of this crate's own.
    pub(crate) fn take_given(
        &mut self,
        layout: &Layout,
        given: impl IntoIterator<Item = Given>,
        setting: &Setting<'_>,
    ) {
        self.given.clear();
        self.given.extend(given);
        self.lay_out(layout, setting);
    }

    fn lay_out(&mut self, layout: &Layout, setting: &Setting<'_>) {
        let Setting { slot, number, grid, shared_len } = setting;
        // The kernel and its arguments are of one type, so that the zeros cannot be.
        let view = |param: ParamId, word: fn(&Part, usize) -> u64, d: u8| match self.given.get(param.index()) {
            Some(Given::View(part)) => word(part, d.into()),
            _ => 0,
        };
        self.bytes.clear();
        self.bytes.resize(layout.parameter_bytes() as usize, 0);
        for parameter in &layout.arguments {
            let at = |extent: &[u32; MAX_RANK], d: u8| u64::from(extent[usize::from(d)]);
            let value = match parameter.what {
                Argument::Control => slot.control,
                Argument::Host => slot.words.address,
                Argument::Number => u64::from(*number),
                Argument::Base(param) => view(param, |part, _| part.base, 0),
                Argument::Extent(param, d) => view(param, |part, d| part.extent[d].into(), d),
                Argument::Stride(param, d) => view(param, |part, d| part.strides[d].into(), d),
                Argument::Scalar(param) => match self.given.get(param.index()) {
                    Some(Given::Scalar(raw)) => *raw,
                    _ => 0,
                },
                Argument::SharedLen => u64::from(*shared_len),
                Argument::BlockExtent(d) => at(&grid.threads, d),
                Argument::GridExtent(d) => at(&grid.blocks, d),
                Argument::FrameCount(d) => at(&grid.frames, d),
                Argument::FrameExtent(d) => at(&grid.frame_extent, d),
            };
            let (offset, size) = (parameter.offset as usize, parameter.size as usize);
            self.bytes[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }
}
