//! What a launch of a SPIR-V module has that one of a PTX module has not.

use std::collections::{BTreeSet, HashMap};

use wattle_memory::Set;
use wattle_modules::Deferred;
use wattle_modules::code::{Kernel, Reg, Step};
use wattle_modules::spirv::{
    BuiltInVariable, Leaf, Lowered, Place, Setting, Shape, SourceLanguage, Spirv, Types, Variable,
};
use wattle_modules::types::Space;

use crate::pointers::Pointers;
use crate::range::Range;

/// The module and the setting that a launch was made from, so that it can be made again of a changed module.
#[derive(Debug)]
pub(crate) struct Origin {
    pub module: Spirv,
    pub file: String,
    pub entry: Option<String>,
    pub setting: Setting,
    /// The sizes of subgroups with which it is judged besides.
    pub sizes: Vec<u32>,
}

/// What a launch of a SPIR-V module has besides its kernel.
#[derive(Debug)]
pub(crate) struct SpirvLaunch {
    pub(crate) shape: Shape,
    /// The variables in the memory of a workgroup.
    pub(crate) shared: Vec<Range>,
    local: Vec<Option<u8>>,
    unfixed: Vec<Reg>,
    built_ins: Vec<BuiltInVariable>,
    pub(crate) types: Types,
    variables: Vec<Variable>,
    /// The push constants that nobody has given.
    open: Vec<Leaf>,
    /// The value that stands for contents that nobody has written.
    fill: u64,
    /// For each step that accesses memory, the number of the variable, where the text shows which.
    pub(crate) roots: HashMap<usize, Option<usize>>,
    /// The first step that is sequentially consistent where the environment means more by that than acquire and
    /// release.
    pub(crate) sequential: Option<usize>,
    /// The language whose promise some barrier or fence of buffers rests on.
    pub(crate) promised_by: Option<SourceLanguage>,
    /// What the module declares and is not known, in words.
    pub(crate) unknown: BTreeSet<String>,
    /// The buffers whose stores are left unordered.
    unordered: Vec<u32>,
    pub(crate) origin: Option<Box<Origin>>,
}

impl SpirvLaunch {
    /// A launch of a lowered kernel, whose workgroups have these variables; and the kernel.
    pub(crate) fn of(lowered: Lowered, shared: Vec<Range>) -> (SpirvLaunch, Kernel) {
        let push = lowered.variables.iter().find(|variable| variable.place == Place::Push);
        let open = push.map_or_else(Vec::new, |push| push.open.clone());
        let launch = SpirvLaunch {
            shape: lowered.shape,
            shared,
            local: lowered.local,
            unfixed: lowered.unfixed,
            built_ins: lowered.built_ins,
            types: lowered.types,
            variables: lowered.variables,
            open,
            fill: 0,
            roots: lowered.roots,
            sequential: lowered.sequential,
            promised_by: lowered.promised_by,
            unknown: lowered.unknown,
            unordered: Vec::new(),
            origin: None,
        };
        (launch, lowered.kernel)
    }

    /// The first bytes of a thread's own memory: the built-ins are the thread's.
    pub(crate) fn local_bytes(&self, block: u32, thread: u32) -> Vec<Deferred> {
        let byte =
            |byte: &Option<u8>| byte.map_or(Deferred::Any(self.fill & 0xff), |byte| Deferred::Known(byte.into()));
        let mut bytes: Vec<Deferred> = self.local.iter().map(byte).collect();
        for variable in &self.built_ins {
            let values = self.shape.built_in(variable.which, block, thread).unwrap_or_default();
            for (leaf, value) in variable.leaves.iter().zip(values) {
                let (from, size) = (leaf.offset as usize, leaf.ty.bytes() as usize);
                let value = value.to_le_bytes();
                let known = value[..size].iter().map(|&byte| Deferred::Known(byte.into()));
                bytes.splice(from..from + size, known);
            }
        }
        bytes
    }

    /// The registers of a thread before its first instruction.
    pub(crate) fn registers(&self, count: usize) -> Vec<Deferred> {
        let mut registers = vec![Deferred::Known(0); count];
        for &register in &self.unfixed {
            registers[register as usize] = Deferred::Any(self.fill);
        }
        registers
    }

    /// Whether stores to a buffer may be left unordered: nobody reads it, so their order shows at most in which one is
    /// the last.
    pub(crate) fn is_left_unordered(&self, buffer: u32) -> bool {
        self.unordered.contains(&buffer)
    }

    /// Leaves the stores to buffers that nobody reads unordered, or not: a race is about each of them.
    pub(crate) fn leave_unordered(&mut self, leave: bool) {
        let number = |variable: &Variable| match variable.place {
            Place::Buffer(number) if !variable.is_read => Some(number as u32),
            Place::Buffer(_) | Place::Workgroup(_) | Place::Push => None,
        };
        self.unordered = if leave { self.variables.iter().filter_map(number).collect() } else { Vec::new() };
    }

    /// The variables, and for a step that accesses one, its number, where the text shows which.
    pub(crate) fn variables(&self) -> &[Variable] {
        &self.variables
    }

    pub(crate) fn root(&self, step: usize) -> Option<usize> {
        self.roots.get(&step).copied().flatten()
    }

    /// Whether the module has OpenCL's memory model.
    pub(crate) fn is_opencl(&self) -> bool {
        self.types.is_opencl()
    }

    /// Whether an access beyond a variable is undefined behaviour, and not one to what lies there.
    pub(crate) fn checks_indices(&self) -> bool {
        self.origin.as_ref().is_none_or(|origin| origin.setting.checks_indices)
    }

    /// Whether nobody has given the push constant at an offset.
    pub(crate) fn is_open(&self, offset: u64) -> bool {
        self.open.iter().any(|leaf| (leaf.offset..leaf.offset + leaf.ty.bytes()).contains(&offset))
    }

    /// Has a value stand for contents that nobody has given, push constants among them.
    pub(crate) fn fill_with(&mut self, value: u64, push: &mut [u8]) {
        self.fill = value;
        for leaf in &self.open {
            let (from, size) = (leaf.offset as usize, leaf.ty.bytes() as usize);
            push[from..from + size].copy_from_slice(&value.to_le_bytes()[..size]);
        }
    }

    /// The value that stands for contents that nobody has written.
    pub(crate) fn fill(&self) -> u64 {
        self.fill
    }

    /// The ranges that the kernel may write from each instruction on: those of the variables that the text names.
    pub(crate) fn pointers(&self, kernel: &Kernel, ranges: usize) -> Pointers {
        let written = |(at, step): (usize, &Step)| {
            let mut written = Set::new(ranges);
            let outline = step.op.outline(|_| {}, |_| {});
            if outline.writes_memory
                && outline.access.is_some_and(|access| matches!(access.space, Space::Global | Space::Generic))
            {
                let root = self.roots.get(&at).copied().flatten().and_then(|root| self.variables.get(root));
                let Some(Place::Buffer(range)) = root.map(|variable| variable.place) else { return None };
                written.insert(range);
            }
            Some(written)
        };
        Pointers::ahead(kernel, kernel.steps.iter().enumerate().map(written).collect())
    }
}
