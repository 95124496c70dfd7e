//! The arguments of a launch, as the bytes that its function takes.

use std::sync::Arc;

use wattle_core::{ArgumentValue, Error, Kernel, ModuleCall, Result, ViewArgument};
use wattle_ir::{LaunchShape, MAX_RANK, ParamId};
use wattle_ptx::{Argument, LaunchLayout};

use crate::context::Context;
use crate::driver::Address;
use crate::memory::CudaMemory;
use crate::slots::Slot;

/// A view as a kernel's function takes it: its first element's address, and extent and strides in elements.
pub(crate) struct DeviceView {
    pub(crate) address: Address,
    pub(crate) extent: [u64; MAX_RANK],
    pub(crate) strides: [u64; MAX_RANK],
}

/// The values that a launch passes besides the kernel's own arguments.
pub(crate) struct Setting<'s> {
    pub(crate) slot: &'s Slot,
    pub(crate) number: u32,
    pub(crate) shape: &'s LaunchShape,
    pub(crate) shared_len: u32,
}

/// Lays out the arguments of a kernel in `bytes`.
///
/// # Errors
/// A buffer is of a device whose memory kernels of this one may not use, or which is lost.
pub(crate) fn lay_out(
    bytes: &mut Vec<u8>,
    context: &Arc<Context>,
    layout: &LaunchLayout,
    kernel: &dyn Kernel,
    setting: &Setting<'_>,
) -> Result<()> {
    let view = |param| {
        let view = kernel.view(param)?;
        Ok(DeviceView { address: address(&view, context)?, extent: view.extent(), strides: view.strides() })
    };
    lay_out_of(bytes, layout, setting, |param| kernel.scalar(param), view)
}

/// Lays out the arguments of a module's kernel in `bytes`, which has them alone.
///
/// # Errors
/// A buffer is of another device.
pub(crate) fn lay_out_module(
    bytes: &mut Vec<u8>,
    context: &Arc<Context>,
    kernel: &dyn Kernel,
    call: &ModuleCall,
) -> Result<()> {
    bytes.clear();
    bytes.resize(call.entry().param_bytes(), 0);
    for (argument, place) in kernel.arguments().zip(call.places()) {
        match argument.value {
            ArgumentValue::Scalar { bytes: value, .. } => bytes[place].copy_from_slice(value),
            ArgumentValue::View(view) => bytes[place].copy_from_slice(&address(&view, context)?.to_le_bytes()),
        }
    }
    Ok(())
}

/// The address of the first element of a part of a buffer.
///
/// # Errors
/// The buffer is of a device whose memory kernels of this one may not use, or which is lost.
fn address(view: &ViewArgument<'_>, context: &Arc<Context>) -> Result<Address> {
    let start = view.place(|memory: &CudaMemory| {
        if Arc::ptr_eq(&memory.context, context) {
            return Some(Ok(memory.address));
        }
        // The memory of a device that is lost is not there any more.
        let alive = || memory.context.alive().map(|()| memory.address);
        context.is_reached_by_kernels(&memory.context).then(alive)
    })??;
    Ok(start + (view.offset() * view.element_bytes()) as u64)
}

/// Lays out arguments in `bytes`; `scalar` and `view` give those of the kernel's own parameters.
///
/// # Errors
/// Those of `scalar` and `view`.
pub(crate) fn lay_out_of<'k>(
    bytes: &mut Vec<u8>,
    layout: &LaunchLayout,
    setting: &Setting<'_>,
    scalar: impl Fn(ParamId) -> Result<&'k [u8]>,
    view: impl Fn(ParamId) -> Result<DeviceView>,
) -> Result<()> {
    let Setting { slot, number, shape, shared_len } = setting;
    bytes.clear();
    bytes.resize(layout.parameter_bytes() as usize, 0);
    for parameter in &layout.arguments {
        let (offset, size) = (parameter.offset as usize, parameter.size as usize);
        let into = &mut bytes[offset..offset + size];
        let value = match parameter.what {
            Argument::Control => slot.control,
            Argument::Host => slot.words.address,
            Argument::Number => u64::from(*number),
            Argument::Base(param) => view(param)?.address,
            Argument::Scalar(param) => {
                into.copy_from_slice(scalar(param)?);
                continue;
            }
            Argument::Launch(value) => value.get(shape, *shared_len, |param| {
                let view = view(param)?;
                Ok::<_, Error>([view.extent, view.strides])
            })?,
        };
        into.copy_from_slice(&value.to_le_bytes()[..size]);
    }
    Ok(())
}
