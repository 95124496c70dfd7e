//! A device of a user's that gives less memory than was asked for would let every bounds check pass.

use std::any::Any;

use wattle::{Properties, Result};
use wattle_core::{Allocation, Backend, BackendQueue, HostMemory, Memory};

struct Liar(Properties);

impl Backend for Liar {
    fn properties(&self) -> &Properties {
        &self.0
    }
    fn allocate(&self, _: &Allocation) -> Result<Box<dyn Memory>> {
        Ok(Box::new(HostMemory::new("liar", 1)?))
    }
    fn queue(&self, blocking: bool) -> Result<Box<dyn BackendQueue>> {
        wattle::Device::host().backend().queue(blocking)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn main() {}
