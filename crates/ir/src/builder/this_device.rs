//! What a kernel asks of its device, while it is built.

use super::{Builder, Val};
use crate::{Builtin, DeviceProperty, Expr};

/// The device that a kernel runs on, in the kernel that is being built.
#[derive(Clone, Copy)]
pub struct ThisDevice<'b> {
    builder: &'b Builder,
}

impl<'b> ThisDevice<'b> {
    pub(super) fn new(builder: &'b Builder) -> Self {
        ThisDevice { builder }
    }

    fn number(&self, property: DeviceProperty) -> Val<'b, u32> {
        self.builder.val(Expr::Builtin(Builtin::Device(property), 0))
    }

    fn has(&self, property: DeviceProperty) -> Val<'b, bool> {
        self.builder.ne(self.number(property), self.builder.lit(0))
    }

    /// The lanes of a warp.
    pub fn warp_size(&self) -> Val<'b, u32> {
        self.number(DeviceProperty::WarpSize)
    }

    /// The compute capability, in tenths; 0 where it is no CUDA device.
    pub fn compute_capability(&self) -> Val<'b, u32> {
        self.number(DeviceProperty::ComputeCapability)
    }

    /// Whether it has integers of 8 bits.
    pub fn has_u8(&self) -> Val<'b, bool> {
        self.has(DeviceProperty::Int8)
    }

    /// Whether it has integers of 16 bits.
    pub fn has_u16(&self) -> Val<'b, bool> {
        self.has(DeviceProperty::Int16)
    }

    /// Whether it has integers of 64 bits.
    pub fn has_u64(&self) -> Val<'b, bool> {
        self.has(DeviceProperty::Int64)
    }

    /// Whether it has `f64`.
    pub fn has_f64(&self) -> Val<'b, bool> {
        self.has(DeviceProperty::Float64)
    }

    /// Whether it calculates with `f16` by itself.
    pub fn has_native_f16(&self) -> Val<'b, bool> {
        self.has(DeviceProperty::Float16)
    }

    /// Whether it calculates with `bf16` by itself.
    pub fn has_native_bf16(&self) -> Val<'b, bool> {
        self.has(DeviceProperty::Bfloat16)
    }

    /// Whether its threads can read a clock.
    pub fn has_clock(&self) -> Val<'b, bool> {
        self.has(DeviceProperty::Clock)
    }
}
