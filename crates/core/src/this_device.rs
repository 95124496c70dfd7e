//! What a kernel asks of the device that it runs on.

use wattle_ir::{DeviceProperty, device_properties};

/// The device that a kernel runs on, `acc.device()`: for code that is one on some devices and another on others.
///
/// The answers are constants when the kernel is built for a device: of an `if` on them only the side that is taken is
/// emitted, and the other may use what the device lacks. Each device keeps its own variant of the kernel. (A kernel's
/// parameters are the same everywhere: a view of `f64` needs a device that has `f64`.) This is what CUDA's
/// `__CUDA_ARCH__` and `warpSize` are for.
///
/// | asked | host, simulated, checker | CUDA | Vulkan |
/// |---|---|---|---|
/// | [`compute_capability`](ThisDevice::compute_capability) | 0 | 90 for sm_90 | 0 |
/// | [`warp_size`](ThisDevice::warp_size) | the launch's | 32 | the launch's, known when it runs |
/// | [`has_u8`](ThisDevice::has_u8), [`has_u16`](ThisDevice::has_u16), [`has_u64`](ThisDevice::has_u64), [`has_f64`](ThisDevice::has_f64) | yes | yes | as its features say |
/// | [`has_native_f16`](ThisDevice::has_native_f16) | no | yes | as its features say |
/// | [`has_native_bf16`](ThisDevice::has_native_bf16) | no | from sm_90 on | no |
/// | [`has_clock`](ThisDevice::has_clock) | yes | yes | as its features say |
///
/// The checker proves the variants of the target that it judges for, each that differs: of `ptx:sm_90` that of compute
/// capability 90, of `vulkan` those with and without the features that are asked for, and of `portable` all of them.
///
/// ```ignore
/// #[kernel]
/// fn sum(acc: &Acc, x: Read<f32>, out: Shared<f32>) {
///     if acc.device().has_f64() {
///         let mut sum = 0.0f64;
///         for i in 0..x.len() {
///             sum += x[i] as f64;
///         }
///         out[0] = sum as f32;
///     } else {
///         let mut sum = 0.0f32;
///         for i in 0..x.len() {
///             sum += x[i];
///         }
///         out[0] = sum;
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ThisDevice {
    warp_size: u32,
}

impl ThisDevice {
    #[inline(always)]
    pub(crate) fn new(warp_size: u32) -> ThisDevice {
        ThisDevice { warp_size }
    }

    #[inline(always)]
    fn number(&self, property: DeviceProperty) -> u32 {
        property.on_host(self.warp_size)
    }
}

macro_rules! method {
    (number $(#[$doc:meta])* $variant:ident $method:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub fn $method(&self) -> u32 {
            self.number(DeviceProperty::$variant)
        }
    };
    (flag $(#[$doc:meta])* $variant:ident $method:ident) => {
        $(#[$doc])*
        #[inline(always)]
        pub fn $method(&self) -> bool {
            self.number(DeviceProperty::$variant) != 0
        }
    };
}

macro_rules! methods {
    ([$warp_size:ident $sm:ident] $($(#[$doc:meta])* $variant:ident $method:ident $name:ident $answer:ident {$($answers:tt)+})+) => {
        impl ThisDevice {
            $(method!($answer $(#[$doc])* $variant $method);)+
        }
    };
}
device_properties!(methods);
