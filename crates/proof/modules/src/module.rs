//! A module in the flat form: its kernels and its variables.

use crate::code::Step;

/// A module.
#[derive(Debug)]
pub struct Module {
    /// The compute capability that it is for: of `.target sm_90`, 90.
    pub sm: u32,
    /// `.version`
    pub version: (u32, u32),
    /// `.global` variables.
    pub globals: Vec<Global>,
    /// The first bytes of the constant space.
    pub constants: Vec<u8>,
    /// The kernels.
    pub kernels: Vec<Kernel>,
}

/// A `.global` variable.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its first bytes; what follows is zero.
    pub initial: Vec<u8>,
}

/// A kernel.
#[derive(Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// Its parameters: offset and size in the parameter space.
    pub params: Vec<(u64, u64)>,
    /// Bytes of the parameter space.
    pub param_bytes: u64,
    /// `.maxntid`
    pub most_threads: Option<[u32; 3]>,
    /// `.reqntid`
    pub exact_threads: Option<[u32; 3]>,
    /// The instructions. The last one never goes on to the next.
    pub steps: Vec<Step>,
    /// The line of the text that each instruction stands on.
    pub lines: Vec<u32>,
    /// Constants of the instructions.
    pub constants: Vec<u64>,
    /// Names of the registers.
    pub registers: Vec<String>,
    /// Bytes of shared memory that the text declares.
    pub shared: u64,
    /// Where the launch's shared memory begins.
    pub dynamic_at: u64,
    /// Bytes of local memory of a thread.
    pub local: u64,
    /// Whether no path reads a register that was not written.
    pub all_assigned: bool,
}
