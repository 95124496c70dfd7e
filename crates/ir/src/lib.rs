//! What a kernel is: types, structured statements with mutable slots, the builder that makes them, the verifier
//! that refuses what is ill-typed, and the printer.
//!
//! Here live also the rules of arithmetic ([`Scalar`], [`Int`], [`Float`], and [`eval`] over them): the host's
//! function and every interpreter use these, so they cannot disagree. And what is done to a kernel before a target gets
//! it: [`legalize`](fn@legalize) writes bounds checks, faults and what the target lacks into it, [`expand`](fn@expand)
//! replaces functions of floats, [`specialize`](fn@specialize) answers what it asks of its device. What never will live
//! here: devices, memory, schedules, and the text or words of any target.

#[macro_use]
mod tuples;

mod arithmetic;
mod bits;
#[doc(hidden)]
pub mod builder;
mod comparison;
pub mod control;
pub mod counted;
pub mod eval;
mod expand;
mod extents;
pub mod fault;
mod half;
mod inspect;
mod kernel;
mod kernel_type;
mod launch;
mod layout;
mod legalize;
pub mod message;
mod names;
mod ops;
mod pack;
mod padding;
mod print;
pub mod printing;
mod rank;
pub mod raw;
mod rename;
mod same_memory;
mod scalar;
#[cfg(feature = "serde")]
mod serial;
mod specialize;
mod types;
mod typing;
mod verify;
pub mod visit;
mod waits;
pub mod warp;
pub mod worker;

pub use arithmetic::{Arithmetic, BuiltArithmetic, Negative};
pub use bits::{Bits, BuiltBits};
pub use builder::Element;
#[doc(hidden)]
pub use builder::overflow;
pub use comparison::{BuiltComparable, Comparable};
pub use expand::{Exact, Halves, expand};
pub use extents::{ArrayExtents, SharedLen};
pub use inspect::plain_name;
pub use kernel::{
    Access, Builtin, Const, Expr, ExprId, Field, Index, Kernel, LOCAL_ARRAY, Label, LocalArray, LocalId, MAX_RANK,
    Param, ParamId, ParamKind, Place, SharedArray, SharedId, Site, Slot, SlotId, Stmt,
};
pub use kernel_type::{ByValue, KernelType, KernelValue, number_of};
pub use launch::{LaunchShape, LaunchValue, Position};
pub use layout::{ElementLayout, Leaf, MOST_NUMBERS};
pub use legalize::{Check, Converts, Divides, Legal, NO_WARPS, Native, Warps, illegal, legalize};
pub use ops::{AtomicLaw, AtomicOp, BinaryOp, DivOp, Precision, TernaryOp, UnaryOp};
pub use pack::{Pack, Packed};
pub use padding::{Padding, assert_aligned};
pub use rank::{Axes, BuiltIndex, Dim, GridIndex, Idx, IndexWord, Rank, Wide, WideIdx, format_index};
pub use same_memory::views_of_one_memory;
pub use scalar::{
    AtomicInt, AtomicScalar, Float, FloatOps, Int, IntOps, Number, NumberOps, Scalar, Signed, SignedOps, Word, WordOps,
    greater, lesser, native,
};
pub use specialize::{DeviceProperty, specialize};
pub use types::{FloatFormat, HalfFloat, Type, TypeInfo, TypeKind};
pub use verify::{VerifyError, verify};
pub use waits::Waits;
pub use warp::{WarpMask, WarpOp};
pub use wattle_operations::{
    atomics, compositions, device_properties, faulting, floats, operations, types, vectors, warps,
};
