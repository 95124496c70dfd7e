//! The arguments of a kernel, as the machine takes them.

use std::any::Any;

use wattle_core::{ArgumentValue, Kernel, Result};
use wattle_ir::raw;
use wattle_machine::{Argument, View};

/// The arguments of a launch. `memory` is the memory of this number of a buffer's elements, if the buffer is one of the
/// device's.
pub(crate) fn arguments<M: Any>(
    kernel: &dyn Kernel,
    memory: impl Fn(&M, usize) -> Option<u64>,
) -> Result<Vec<Argument>> {
    let argument = |argument: wattle_core::Argument<'_>| match argument.value {
        ArgumentValue::Scalar { bytes, .. } => Ok(Argument::Scalar(raw::from_bytes(bytes))),
        ArgumentValue::View(view) => {
            let (offset, extent, strides) = (view.offset() as u64, view.extent(), view.strides());
            let memory = view.place(|all| memory(all, view.number()))?;
            Ok(Argument::View(View { memory, offset, extent, strides }))
        }
    };
    kernel.arguments().map(argument).collect()
}
