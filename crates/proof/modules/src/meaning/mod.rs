//! The meaning of instructions, as functions on the bits of registers.

pub mod atomic;
pub mod bits;
pub mod combine;
pub mod compare;
pub mod convert;
pub mod exact;
pub mod float;
pub mod half;
pub mod int;
pub mod warp;
