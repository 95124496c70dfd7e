//! Instructions in the terms of the search: labels of accesses and fences, operators of atomic operations and of warps.

use wattle_ir::{AtomicOp, Type, WarpOp};
use wattle_memory::{Classes, Label, Level, Scope, UpdateOrder};
use wattle_modules::code::{Access, Combine, CombinedLanes, Combiner, Rmw, Strength};
use wattle_modules::types::Space;

use crate::world::World;

/// The label of an access to a space: weak, or strong with its order and scope (PTX ISA 8.8, 8.4).
pub(crate) fn label(world: &World, access: &Access, space: Space, write: bool) -> Label {
    let storage = if space == Space::Shared { Classes::BLOCK } else { Classes::BUFFER };
    let label = match (access.strength, write) {
        (Strength::Weak, false) => Label::plain_read(),
        (Strength::Weak, true) => Label::plain_write(),
        (Strength::Volatile, false) if world.volatile_is_plain => Label::plain_read(),
        (Strength::Volatile, true) if world.volatile_is_plain => Label::plain_write(),
        (Strength::Volatile, write) => strong(UpdateOrder::Relaxed, Scope::System, write),
        (Strength::Strong { order, scope }, write) => strong(order, scope, write),
        (Strength::Labels { read: known, .. }, false) | (Strength::Labels { write: known, .. }, true) => {
            return in_space(known, access, space);
        }
    };
    label.of(storage)
}

/// A label of an access in the model's own terms, which is to a space.
pub(crate) fn in_space(label: Label, access: &Access, space: Space) -> Label {
    if access.space != Space::Generic {
        return label;
    }
    let storage = if space == Space::Shared { Classes::BLOCK } else { Classes::BUFFER };
    // Atomic operations of OpenCL that name no memory order that of their object.
    let is_silent = (label.acquire || label.release) && label.semantics == Classes::NONE;
    Label { semantics: if is_silent { storage } else { label.semantics }, ..label }.of(storage)
}

fn strong(order: UpdateOrder, scope: Scope, write: bool) -> Label {
    let level = Level::of(scope);
    if write {
        let label = Label::atomic_write(level);
        if order.releases() { label.releasing() } else { label }
    } else {
        let label = Label::atomic_read(level);
        if order.acquires() { label.acquiring() } else { label }
    }
}

/// The bits of a number, put one after another where a mask has ones.
pub(crate) fn spread(bits: u64, mask: u64) -> u64 {
    let places = (0..64).filter(|place| mask >> place & 1 == 1).enumerate();
    places.map(|(number, place)| (bits >> number & 1) << place).sum()
}

/// The operation of a warp that a reduction or a scan is, and the type of its values; `None` where the search has none.
pub(crate) fn reduction(how: Combine) -> Option<(WarpOp, Type)> {
    if how.of != CombinedLanes::All || how.bits != 32 {
        return None;
    }
    Some(match how.by {
        Combiner::Add => (WarpOp::ReduceSum, Type::U32),
        Combiner::MinUnsigned => (WarpOp::ReduceMin, Type::U32),
        Combiner::MaxUnsigned => (WarpOp::ReduceMax, Type::U32),
        Combiner::MinSigned => (WarpOp::ReduceMin, Type::I32),
        Combiner::MaxSigned => (WarpOp::ReduceMax, Type::I32),
        Combiner::And => (WarpOp::ReduceAnd, Type::U32),
        Combiner::Or => (WarpOp::ReduceOr, Type::U32),
        Combiner::Xor => (WarpOp::ReduceXor, Type::U32),
        Combiner::Multiply | Combiner::AddFloat | Combiner::MinFloat | Combiner::MaxFloat => return None,
    })
}

/// The operator of an atomic operation, and the type of its operands.
pub(crate) fn operator(how: Rmw, bytes: u8) -> (AtomicOp, Type) {
    let (unsigned, signed) = if bytes == 4 { (Type::U32, Type::I32) } else { (Type::U64, Type::I64) };
    match how {
        Rmw::Exchange => (AtomicOp::Exchange, unsigned),
        Rmw::Add => (AtomicOp::Add, unsigned),
        Rmw::AddSingle | Rmw::AddSingleFlushed => (AtomicOp::Add, Type::F32),
        Rmw::AddDouble => (AtomicOp::Add, Type::F64),
        Rmw::AddHalf => (AtomicOp::Add, Type::F16),
        Rmw::AddBrain => (AtomicOp::Add, Type::BF16),
        Rmw::MinSingle => (AtomicOp::Min, Type::F32),
        Rmw::MaxSingle => (AtomicOp::Max, Type::F32),
        Rmw::MinDouble => (AtomicOp::Min, Type::F64),
        Rmw::MaxDouble => (AtomicOp::Max, Type::F64),
        Rmw::Inc => (AtomicOp::Inc, unsigned),
        Rmw::Dec => (AtomicOp::Dec, unsigned),
        Rmw::MinUnsigned => (AtomicOp::Min, unsigned),
        Rmw::MaxUnsigned => (AtomicOp::Max, unsigned),
        Rmw::MinSigned => (AtomicOp::Min, signed),
        Rmw::MaxSigned => (AtomicOp::Max, signed),
        Rmw::And => (AtomicOp::And, unsigned),
        Rmw::Or => (AtomicOp::Or, unsigned),
        Rmw::Xor => (AtomicOp::Xor, unsigned),
    }
}
