//! The parameters and the shared memory that a launch gives a kernel's entry.

use wattle_ir::{Builtin, Expr, Field, Kernel, LaunchValue, ParamId, ParamKind, Place, SharedId, SharedLen};

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
    for number in (0..kernel.shared.len() as u32).map(SharedId) {
        offsets.push(end);
        let bytes = shared_bytes(kernel, number).unwrap_or(0);
        end = end.saturating_add(bytes.saturating_add(15) & !15);
    }
    (offsets, end)
}

/// The bytes of an array in shared memory that the module declares; `None` where it declares none: the launch gives
/// them, or the array stands in an earlier one.
pub fn shared_bytes(kernel: &Kernel, id: SharedId) -> Option<u32> {
    let SharedPlace { first, size, .. } = SharedPlace::of(kernel, id);
    let len = kernel.shared[id.index()].len.known().filter(|_| first == id)?;
    Some(len.max(1).saturating_mul(size))
}

/// Where the elements of an array in shared memory are.
pub struct SharedPlace {
    /// The array in whose bytes they are.
    pub first: SharedId,
    /// The offset of the first one, in bytes.
    pub offset: u32,
    /// The distance of neighbours, in bytes.
    pub size: u32,
}

impl SharedPlace {
    pub fn of(kernel: &Kernel, id: SharedId) -> SharedPlace {
        let array = &kernel.shared[id.index()];
        match (array.field, kernel.shared_pack(id)) {
            (Some(Field { first, offset, size, .. }), Some(_)) => SharedPlace { first, offset, size },
            _ => SharedPlace { first: id, offset: 0, size: array.element.size() as u32 },
        }
    }
}
