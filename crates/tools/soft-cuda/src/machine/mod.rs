//! The machine that carries out kernels: memory, threads, blocks.

mod atomic;
mod fence;
pub mod grid;
pub mod memory;
mod thread;
#[cfg(test)]
#[path = "../../tests/tools/mod.rs"]
mod tools;

use std::fmt;
use std::sync::OnceLock;
use std::time::Instant;

/// Nanoseconds since the process first asked.
pub fn nanoseconds() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// What ends a launch, and with it the context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No live allocation has these bytes.
    Illegal {
        /// The address.
        address: u64,
        /// So many bytes.
        bytes: u64,
    },
    /// The address is no multiple of the access's size.
    Misaligned {
        /// The address.
        address: u64,
        /// So many bytes.
        bytes: u64,
    },
    /// `trap`
    Trap,
    /// A register that was never written is read.
    Unwritten {
        /// Its name.
        register: String,
    },
    /// All threads of a block wait at barriers that nobody will complete; a GPU would hang.
    Stuck,
    /// A barrier beyond 15, or a number of threads that is no multiple of 32.
    Barrier,
}

/// A fault and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What happened.
    pub fault: Fault,
    /// The kernel.
    pub kernel: String,
    /// The line of the module's text.
    pub line: u32,
    /// The block.
    pub block: [u32; 3],
    /// The thread.
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
            Fault::Barrier => write!(f, "there is no such barrier")?,
        }
        let Failure { kernel, line, block, thread, .. } = self;
        write!(f, " (kernel {kernel}, line {line} of its PTX, block {block:?}, thread {thread:?})")
    }
}
