//! The arguments of a launch, as the bytes that its function takes.

use std::sync::Arc;

use wattle_core::{Grid, Kernel, Result};
use wattle_gpu::{Given, ViewValue};
use wattle_ir::MAX_RANK;
use wattle_ptx::{Argument, Layout};

use crate::context::Context;
use crate::driver::Address;
use crate::memory::CudaMemory;
use crate::slots::Slot;

/// The arguments of a launch. The value is used again for the next launch, so that nothing is allocated.
#[derive(Default)]
pub(crate) struct Arguments {
    /// The kernel's own arguments, with views by their addresses.
    given: Given<Address>,
    pub(crate) bytes: Vec<u8>,
}

/// The values that a launch passes besides the kernel's own arguments.
pub(crate) struct Setting<'s> {
    pub(crate) slot: &'s Slot,
    pub(crate) number: u32,
    pub(crate) grid: &'s Grid,
    pub(crate) shared_len: u32,
}

impl Arguments {
    /// Takes the arguments of a kernel, and lays them out as bytes.
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
        let is_ours = |memory: &CudaMemory| Arc::ptr_eq(&memory.context, context);
        let address =
            |_, view: &ViewValue<'_, CudaMemory>| Ok(view.memory.address + view.offset * view.memory.element as u64);
        self.given.take(kernel, is_ours, address)?;
        self.lay_out(layout, setting);
        Ok(())
    }

    /// Takes the arguments of a built-in kernel, and lays them out as bytes.
    pub(crate) fn take_given(
        &mut self,
        layout: &Layout,
        give: impl FnOnce(&mut Given<Address>),
        setting: &Setting<'_>,
    ) {
        self.given.clear();
        give(&mut self.given);
        self.lay_out(layout, setting);
    }

    fn lay_out(&mut self, layout: &Layout, setting: &Setting<'_>) {
        let Setting { slot, number, grid, shared_len } = setting;
        let given = &self.given;
        self.bytes.clear();
        self.bytes.resize(layout.parameter_bytes() as usize, 0);
        for parameter in &layout.arguments {
            let at = |extent: &[u32; MAX_RANK], d: u8| u64::from(extent[usize::from(d)]);
            let value = match parameter.what {
                Argument::Control => slot.control,
                Argument::Host => slot.words.address,
                Argument::Number => u64::from(*number),
                Argument::Base(param) => given.place(param).copied().unwrap_or(0),
                Argument::Extent(param, d) => given.extent(param, d).into(),
                Argument::Stride(param, d) => given.stride(param, d).into(),
                Argument::Scalar(param) => given.scalar(param),
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
