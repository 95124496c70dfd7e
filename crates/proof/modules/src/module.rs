//! A module in the flat form: its kernels and its variables.

use std::fmt;
use std::sync::Arc;

use crate::op::Step;
use crate::types::Type;

/// A module in the flat form.
#[derive(Debug, Default)]
pub struct Module {
    /// The compute capability of its `.target`: 90 for `sm_90`.
    pub sm: u32,
    /// The PTX version of its `.version`.
    pub version: (u32, u32),
    /// The `.global` variables.
    pub globals: Vec<Global>,
    /// The initial bytes of the constant space.
    pub constants: Vec<u8>,
    /// The variables in constant memory.
    pub constant_variables: Vec<PlacedVariable>,
    /// The kernels.
    pub kernels: Vec<Kernel>,
}

/// A `.global` variable.
#[derive(Clone, Debug)]
pub struct Global {
    /// The name of the variable.
    pub name: String,
    /// The type of the variable, or of its items if it is an array.
    pub ty: Type,
    /// The size in bytes.
    pub bytes: u64,
    /// The initial bytes; the rest is zero. The addresses of variables among them are those that the reader was given.
    pub initial: Vec<u8>,
    /// Whether addresses of variables are among the initial bytes.
    pub has_addresses: bool,
}

/// A place in the text that a module was compiled from (PTX ISA 8.8, 11.5.5 "Debugging Directives: .loc").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file, as `.file` names it.
    pub file: Arc<str>,
    /// The line, from 1; 0 where the compiler names none.
    pub line: u32,
    /// The column, from 1; 0 where the compiler names none.
    pub column: u32,
    /// The call in whose place the function of this source stands, if it was inlined.
    pub inlined_at: Option<Arc<Source>>,
}

impl Source {
    /// The innermost place in the kernel's own file: calls into libraries are where the kernel's author looks.
    pub fn in_own_file(&self) -> &Source {
        let calls = || std::iter::successors(Some(self), |source| source.inlined_at.as_deref());
        let own = calls().last().map(|outermost| &outermost.file);
        calls().find(|source| Some(&source.file) == own).unwrap_or(self)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        self.inlined_at.iter().try_for_each(|call| write!(f, ", inlined at {call}"))
    }
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name of the parameter.
    pub name: String,
    /// The type of the parameter, or of its items where it is an array.
    pub ty: Type,
    /// The offset in bytes among the parameters as a launch has them, one behind the other.
    pub offset: u64,
    /// The offset in the parameter space in bytes, in which they lie apart.
    pub at: u64,
    /// The size in bytes.
    pub bytes: u64,
}

impl Parameter {
    /// Whether the parameter is an array of items: a struct in CUDA C++.
    pub fn is_array(&self) -> bool {
        self.bytes != self.ty.bytes()
    }
}

/// Writes the parameter as the text declares it: `.param .u64 out`.
impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".param {} {}", self.ty, self.name)?;
        if self.is_array() { write!(f, "[{}]", self.bytes / self.ty.bytes()) } else { Ok(()) }
    }
}

/// The distance between two variables of shared, local or constant memory. No specification says how they lie, so that
/// what leaves one is in none: adjacent ones would hide it.
const GAP: u64 = 4096;

/// The place of a variable behind one that ends there.
pub(crate) fn apart(end: u64, align: u64) -> u64 {
    let gap = if end > 0 { GAP } else { 0 };
    (end + gap).next_multiple_of(align)
}

/// A kernel in the flat form.
#[derive(Debug)]
pub struct Kernel {
    /// The name of the kernel.
    pub name: String,
    /// The parameters in their order.
    pub params: Vec<Parameter>,
    /// The size of the parameter space in bytes.
    pub param_bytes: u64,
    /// The maximum threads per block in each dimension, from `.maxntid`.
    pub most_threads: Option<[u32; 3]>,
    /// The required threads per block in each dimension, from `.reqntid`.
    pub exact_threads: Option<[u32; 3]>,
    /// The instructions. Control never passes beyond the last one.
    pub steps: Vec<Step>,
    /// The line of the text that each instruction stands on.
    pub lines: Vec<u32>,
    /// The place in the source that each instruction comes from, where `.loc` names one.
    pub sources: Vec<Option<Source>>,
    /// The constants of the instructions.
    pub constants: Vec<u64>,
    /// The names of the registers.
    pub registers: Vec<String>,
    /// The size in bytes of the shared memory that the text declares, as a device has it.
    pub shared: u64,
    /// The variables in shared memory; those that are sized at launch are the last ones.
    pub shared_variables: Vec<PlacedVariable>,
    /// The offset of the shared memory that is sized at launch, as it is laid out here.
    pub dynamic_at: u64,
    /// The size in bytes of a thread's local memory.
    pub local: u64,
    /// The variables in a thread's local memory, by ascending addresses; none where all of its bytes are one range.
    pub local_variables: Vec<LocalVariable>,
    /// The loops that the text declares, as SPIR-V's `OpLoopMerge` does: the instruction at which each begins, and the
    /// one behind it where control can come there.
    pub loops: Vec<(u32, Option<u32>)>,
    /// Whether no path reads a register that was not written.
    pub all_assigned: bool,
}

/// A variable at its place in the shared memory of a block, or in constant memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedVariable {
    /// The name that the text gives it.
    pub name: String,
    /// The offset of its first byte.
    pub at: u64,
    /// The size in bytes; `None` where the launch says it.
    pub bytes: Option<u64>,
    /// The size of an item, where the text shows a type; compilers declare most arrays as bytes.
    pub item: Option<u64>,
    /// The type of the variable, or of its items if it is an array.
    pub ty: Type,
    /// Whether the text gives it a value, rather than none, which is zero.
    pub has_value: bool,
}

/// A variable in a thread's local memory. Its addresses are apart from those of the others, and its bytes are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalVariable {
    /// The variable, at its address.
    pub variable: PlacedVariable,
    /// The number of its first byte among all that a thread has.
    pub first: u64,
}

impl Kernel {
    /// The number of the first of these bytes at an address of local memory, where they are in one variable.
    pub fn local_byte(&self, address: u64, bytes: u64) -> Option<u64> {
        let end = address.checked_add(bytes)?;
        if self.local_variables.is_empty() {
            return (end <= self.local).then_some(address);
        }
        let behind = self.local_variables.partition_point(|known| known.variable.at <= address);
        let LocalVariable { variable, first } = self.local_variables.get(behind.checked_sub(1)?)?;
        (end - variable.at <= variable.bytes.unwrap_or(0)).then(|| first + (address - variable.at))
    }

    /// The size in bytes of the parameters as a launch has them.
    pub fn packed_bytes(&self) -> usize {
        self.params.last().map_or(0, |last| last.offset + last.bytes) as usize
    }

    /// The parameter space, of the parameters as a launch has them.
    pub fn parameter_space(&self, packed: &[u8]) -> Vec<u8> {
        let mut space = vec![0; self.param_bytes as usize];
        for Parameter { offset, at, bytes, .. } in &self.params {
            let [from, to, bytes] = [*offset, *at, *bytes].map(|number| number as usize);
            space[to..to + bytes].copy_from_slice(&packed[from..from + bytes]);
        }
        space
    }

    /// The size in bytes of a block's shared memory as it is laid out here, with what is between its variables, where
    /// the launch asks for that many more bytes.
    pub fn shared_extent(&self, dynamic: u64) -> u64 {
        self.dynamic_at.max(self.shared) + dynamic
    }

    /// The kernel with its parameters, as the text declares them: `add(.param .u64 out, .param .u32 n)`. Compilers
    /// number parameters behind the kernel's name, which is not repeated.
    pub fn signature(&self) -> String {
        let numbered = format!(" {}_param_", self.name);
        let params: Vec<_> = self.params.iter().map(|param| param.to_string().replace(&numbered, " param_")).collect();
        format!("{}({})", self.name, params.join(", "))
    }
}
