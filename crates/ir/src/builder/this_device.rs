//! What a kernel asks of its device, while it is built.

use wattle_operations::device_properties;

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
}

macro_rules! method {
    (number $(#[$doc:meta])* $variant:ident $method:ident) => {
        $(#[$doc])*
        pub fn $method(&self) -> Val<'b, u32> {
            self.number(DeviceProperty::$variant)
        }
    };
    (flag $(#[$doc:meta])* $variant:ident $method:ident) => {
        $(#[$doc])*
        pub fn $method(&self) -> Val<'b, bool> {
            self.has(DeviceProperty::$variant)
        }
    };
}

macro_rules! methods {
    ([$warp_size:ident $sm:ident] $($(#[$doc:meta])* $variant:ident $method:ident $name:ident $answer:ident {$($answers:tt)+})+) => {
        impl<'b> ThisDevice<'b> {
            $(method!($answer $(#[$doc])* $variant $method);)+
        }
    };
}
device_properties!(methods);
