//! The parameters and the shared memory that a launch gives a kernel's entry.

use wattle_ir::{Builtin, Expr, Kernel, LaunchValue, ParamId, ParamKind, Place, SharedLen};

use crate::emit::shared_at_launch;
use crate::layout::{Argument, LaunchLayout, Parameter};

/// The parameters of a kernel's entry, and its shared memory.
pub fn layout(kernel: &Kernel) -> LaunchLayout {
    let mut arguments = vec![(Argument::Control, 8), (Argument::Host, 8), (Argument::Number, 4)];
    for (number, param) in kernel.params.iter().enumerate() {
        let id = ParamId(number as u32);
        match param.kind {
            ParamKind::Scalar(ty) => arguments.push((Argument::Scalar(id), ty.size() as u32)),
            // The first number of the elements stands for the view.
            ParamKind::View { .. } if kernel.first_of(id) != id => {}
            ParamKind::View { rank, .. } => {
                arguments.push((Argument::Base(id), 8));
                let size = kernel.extent_type(Place::Param(id)).size() as u32;
                arguments.extend(LaunchValue::of_view(id, rank).map(|value| (Argument::Launch(value), size)));
            }
        }
    }
    let at_launch = kernel.shared.iter().find(|array| array.len == SharedLen::AtLaunch);
    if at_launch.is_some() {
        arguments.push((Argument::Launch(LaunchValue::SharedLen), 4));
    }
    for expr in &kernel.exprs {
        let Expr::Builtin(builtin, dimension) = *expr else { continue };
        for word in words(builtin, dimension, kernel.rank) {
            let word = (Argument::Launch(word), 4);
            if !arguments.contains(&word) {
                arguments.push(word);
            }
        }
    }
    let shared_bytes = shared_offsets(kernel).1;
    LaunchLayout {
        arguments: placed(&arguments),
        shared_bytes,
        shared_bytes_at_launch: if shared_at_launch(shared_bytes) { shared_bytes } else { 0 },
        launch_sized_element: at_launch.map(|array| array.element.size() as u32),
    }
}

/// The numbers that a builtin is computed from. The machine has those of a launch of one dimension in registers.
fn words(builtin: Builtin, dimension: u8, rank: usize) -> Vec<LaunchValue> {
    let mut words = LaunchValue::of_builtin(builtin, dimension, rank);
    words.retain(|word| rank > 1 || !matches!(word, LaunchValue::BlockExtent(_) | LaunchValue::GridExtent(_)));
    words
}

/// Places each parameter at a multiple of its size, as the driver lays them out.
fn placed(arguments: &[(Argument, u32)]) -> Vec<Parameter> {
    let mut end = 0u32;
    let place = arguments.iter().map(|&(what, size)| {
        let offset = end.next_multiple_of(size);
        end = offset + size;
        Parameter { what, offset, size }
    });
    place.collect()
}

/// The offset of each array if the launch gives all shared memory, and the bytes of all arrays but the one that is
/// sized at launch, which stands behind them.
pub fn shared_offsets(kernel: &Kernel) -> (Vec<u32>, u32) {
    let mut end = 0u32;
    let mut offsets = Vec::with_capacity(kernel.shared.len());
    for array in &kernel.shared {
        offsets.push(end);
        if let Some(len) = array.len.known() {
            let bytes = len.max(1).saturating_mul(array.element.size() as u32);
            end = end.saturating_add(bytes.saturating_add(15) & !15);
        }
    }
    (offsets, end)
}
