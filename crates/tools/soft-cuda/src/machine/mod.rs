//! The machine that executes kernels: memory, threads, blocks.

mod atomic;
mod barrier;
mod fence;
pub mod grid;
pub mod memory;
pub mod shape;
mod thread;
#[cfg(test)]
#[path = "../../tests/suite/tools/mod.rs"]
mod tools;

use std::fmt;
use std::sync::OnceLock;
use std::time::Instant;

use wattle_modules::code::Source;

/// The time in nanoseconds since the first call in this process.
pub fn nanoseconds() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// A fault, which ends a launch, and with it the context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An access to bytes that no live allocation contains.
    Illegal {
        /// The address of the access.
        address: u64,
        /// The size of the access in bytes.
        bytes: u64,
    },
    /// An access at an address that is no multiple of its size.
    Misaligned {
        /// The address of the access.
        address: u64,
        /// The size of the access in bytes.
        bytes: u64,
    },
    /// The instruction `trap` was executed.
    Trap,
    /// A read of a register that was never written.
    Unwritten {
        /// The register's name.
        register: String,
    },
    /// All threads of a block wait at barriers that no thread will complete; a GPU would hang.
    Stuck,
    /// A barrier number beyond 15, or a number of threads that is no multiple of 32.
    Barrier,
    /// A member mask that lacks the thread itself, or names a lane that has no thread; or lanes of a warp that wait for
    /// each other at different instructions. All are undefined.
    Mask {
        /// The mask.
        mask: u32,
    },
}

/// A fault, and where it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The fault that happened.
    pub fault: Fault,
    /// The name of the kernel.
    pub kernel: String,
    /// The line in the module's text.
    pub line: u32,
    /// The place in the source that the text was compiled from, where it names one.
    pub source: Option<Source>,
    /// The index of the block.
    pub block: [u32; 3],
    /// The index of the thread in its block.
    pub thread: [u32; 3],
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fault {
            Fault::Illegal { address, bytes } => write!(f, "{bytes} bytes at {address:#x} are not allocated")?,
            Fault::Misaligned { address, bytes } => write!(f, "{bytes} bytes at {address:#x} are not aligned")?,
            Fault::Trap => write!(f, "trap")?,
            Fault::Unwritten { register } => write!(f, "{register} is read before it is written")?,
            Fault::Stuck => write!(f, "the block's threads wait at barriers that nobody completes")?,
            Fault::Mask { mask } => write!(f, "the lanes of the member mask {mask:#x} do not meet")?,
            Fault::Barrier => write!(f, "there is no such barrier")?,
        }
        let Failure { kernel, line, source, block, thread, .. } = self;
        write!(f, " (kernel {kernel}, line {line} of its PTX")?;
        source.iter().try_for_each(|source| write!(f, ", which is {source}"))?;
        write!(f, ", block {block:?}, thread {thread:?})")
    }
}
