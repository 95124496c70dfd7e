//! The arguments of a kernel, as the machine takes them.

use std::any::Any;

use wattle_core::{ArgumentValue, Kernel, Result};
use wattle_ir::raw;
use wattle_machine::{Argument, View};

/// The arguments of a launch. `number` is the number of a buffer's memory, if the buffer is one of the device's.
pub(crate) fn arguments<M: Any>(kernel: &dyn Kernel, number: impl Fn(&M) -> Option<u64>) -> Result<Vec<Argument>> {
    let argument = |argument: wattle_core::Argument<'_>| match argument.value {
        ArgumentValue::Scalar { bytes, .. } => Ok(Argument::Scalar(raw::from_bytes(bytes))),
        ArgumentValue::View(view) => {
            let (offset, extent, strides) = (view.offset() as u64, view.extent(), view.strides());
            Ok(Argument::View(View { memory: view.place(&number)?, offset, extent, strides }))
        }
    };
    kernel.arguments().map(argument).collect()
}
