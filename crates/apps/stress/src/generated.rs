//! The kernel of one program, built at run time in the intermediate representation, for devices that compile it.
//!
//! Each thread of the launch has one role in one instance, or none. It loads the memory system for a while, meets the
//! instance's others, does its part of the program and stores what it read. Loops are short: a driver that computes on
//! the host may stop a thread after 65,535 iterations in all (lavapipe).

mod code;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wattle_core::{
    Argument, Arguments, Atomic, Bound, Kernel, KernelIdentity, KernelInfo, Launch, Read, Result, Shared, Thread,
};
use wattle_ir::{Kernel as Ir, Site};

use code::Code;

use crate::environment::Space;
use crate::program::Program;

/// The arguments, in the order of the parameters.
pub type Given = (
    Bound<Read<u32>>,
    Bound<Read<u32>>,
    Bound<Read<u32>>,
    Bound<Read<u32>>,
    Bound<Atomic<u32>>,
    Bound<Atomic<u32>>,
    Bound<Shared<i32>>,
    Bound<Atomic<i32>>,
    Bound<Shared<i32>>,
    u32,
    u32,
);

const PARAMETERS: &[&str] =
    &["roles", "instances", "delays", "places", "meeting", "noise", "plain", "atomic", "out", "patience", "count"];
static INFO: KernelInfo = KernelInfo::new("litmus", Site { file: file!(), line: 1, column: 1 }, PARAMETERS);

/// The words that threads load the memory system with: a power of two.
pub const NOISE_WORDS: u32 = 1 << 12;
/// The most looks of a thread for the others.
pub const MOST_LOOKS: u32 = 1 << 10;
/// The instances of a block whose words are in block shared memory, at most.
pub const SHARED_INSTANCES: u32 = 32;

/// A program's kernel, without arguments.
#[derive(Clone)]
pub struct Built {
    kernel: Arc<Ir>,
    number: u64,
}

impl Built {
    /// Builds the kernel of a program whose words are in that space.
    pub fn new(program: &Program, space: Space) -> Built {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let kernel = Arc::new(Code::kernel(program, space));
        Built { kernel, number: NUMBER.fetch_add(1, Ordering::Relaxed) }
    }

    /// Returns the kernel's intermediate representation.
    pub fn kernel(&self) -> &Ir {
        &self.kernel
    }

    /// The kernel with its arguments.
    pub fn given(&self, arguments: Given) -> Generated {
        Generated { built: self.clone(), arguments }
    }
}

/// A program's kernel with its arguments.
#[derive(Clone)]
pub struct Generated {
    built: Built,
    arguments: Given,
}

// SAFETY: `run` touches nothing, all arguments are named, and their parameters are those of `Code::kernel`.
unsafe impl Kernel for Generated {
    fn info(&self) -> &'static KernelInfo {
        &INFO
    }

    fn rank(&self) -> usize {
        1
    }

    fn argument(&self, number: usize) -> Option<Argument<'_>> {
        Arguments::argument(&self.arguments, number, PARAMETERS)
    }

    unsafe fn run(&self, thread: &Thread<'_>) {
        thread.assert(false, "a kernel that is built at run time has no function for the host");
    }

    fn build(&self) -> Result<Ir> {
        wattle_ir::verify(&self.built.kernel)?;
        Ok((*self.built.kernel).clone())
    }

    fn identity(&self) -> KernelIdentity {
        KernelIdentity::of::<Generated>(self.built.number)
    }

    fn to_arc(&self) -> Arc<dyn Kernel> {
        Arc::new(self.clone())
    }
}

// SAFETY: the rank is 1.
unsafe impl Launch<1> for Generated {}
