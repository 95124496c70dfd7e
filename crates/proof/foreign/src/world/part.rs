//! A launch of a kernel: what its threads alone share.

use std::collections::HashMap;
use std::sync::Arc;

use wattle_memory::{CodeLanguage, Label, Level, ThreadId};
use wattle_modules::code::{Kernel, Module, Op, Ordering, PlacedVariable, Rmw, Special, Step, Strength};
use wattle_modules::{Deferred, ptx};

use super::names::plain_name;
use super::spirv::SpirvLaunch;
use crate::flow::Flow;
use crate::launch::{Argument, Launch};
use crate::open_addresses;
use crate::pointers::Pointers;
use crate::range::{Range, nearest};
use crate::structure::Iterations;
use crate::unsupported::Unsupported;
use crate::wrong::Wrong;

/// The lanes of a warp (PTX ISA 8.8, 2.2.1 "Cooperative Thread Arrays").
pub(crate) const WARP: u32 = 32;

/// The number of a statement among those of all launches: the launch's number, and that of the instruction.
pub(crate) fn statement(part: u32, at: u32) -> u32 {
    part << 20 | at
}

/// The most instructions of a kernel.
pub(super) const MOST_STEPS: usize = 1 << 20;

/// A module with its text.
#[derive(Debug)]
pub struct Source {
    /// The name of the file.
    pub file: String,
    /// The text.
    pub text: String,
}

/// Reads a module whose variables have these addresses: the kernel of that name, if there is one, or all.
///
/// # Errors
/// The text is refused.
pub(crate) fn read(
    source: &Source,
    addresses: &HashMap<String, u64>,
    kernel: Option<&str>,
) -> Result<Module, Unsupported> {
    Ok(ptx::read_kernel(&source.file, &source.text, ptx::Limits::NONE, addresses, kernel)?)
}

/// A launch of a kernel: what its threads alone share.
#[derive(Debug)]
pub(crate) struct Part {
    pub(super) source: Source,
    module: Module,
    kernel: usize,
    /// The launch, with the arguments of the kernel's own parameters.
    pub(crate) launch: Launch,
    /// The arguments that are the first contents of the module's variables.
    pub(crate) of_variables: Vec<Argument>,
    pub(crate) params: Vec<u8>,
    pub(crate) flow: Flow,
    /// Whether the kernel has loads of memory that has to be read-only while it runs.
    pub(crate) reads_read_only: bool,
    /// Whether the threads begin copies and wait for them later.
    pub(crate) copies: bool,
    /// For each instruction whether it accesses memory by an address that may come from what the thread reads.
    open_addresses: Vec<bool>,
    /// Whether the kernel divides integers, whose quotient by zero nothing fixes.
    divides: bool,
    /// Whether the kernel has atomic additions that take subnormal numbers for zero.
    pub(crate) flushes: bool,
    /// The ranges that the launch may write from each instruction on, where they are known.
    pub(crate) pointers: Option<Pointers>,
    /// The numbers of the launch's first thread, and of its first block, among those of all launches.
    pub(crate) first: ThreadId,
    pub(crate) first_block: u32,
    /// The number of the device that the launch runs on.
    pub(crate) device: u32,
    /// What only a launch of a SPIR-V module has.
    pub(crate) spirv: Option<SpirvLaunch>,
    /// The address of the grid's workspace, if the launch is a cooperative one that asks for it.
    pub(crate) workspace: Option<u64>,
    /// The barriers of the launch that wait also for threads that have ended.
    pub(crate) waits: WaitsForEnded,
    /// The memory whose updates only order, as emitted for a sequentially consistent fence: nothing reads what they
    /// write.
    pub(crate) hidden: Option<u32>,
}

/// The barriers that wait also for threads that have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WaitsForEnded {
    /// No barrier does, as PTX has it.
    Never,
    /// Barriers of a block do, as CUDA C++ promises.
    InBlock,
    /// Barriers of a block and of lanes do, as in Wattle's language.
    Always,
}

impl Part {
    /// The language of the kernel's module.
    pub(crate) fn language(&self) -> CodeLanguage {
        match self.spirv {
            Some(_) => CodeLanguage::Spirv,
            None => CodeLanguage::PTX,
        }
    }

    /// A launch of a kernel of PTX that a compiler has made.
    pub(crate) fn new(source: Source, kernel: (Module, usize), launch: Launch, params: Vec<u8>) -> Part {
        Part::made(source, kernel, launch, params, (None, Iterations::Unknown))
    }

    /// A launch of a kernel that Wattle has emitted as PTX.
    pub(crate) fn of_emitted(source: Source, kernel: (Module, usize), launch: Launch, params: Vec<u8>) -> Part {
        Part::made(source, kernel, launch, params, (None, Iterations::OfSource))
    }

    fn made(
        source: Source,
        (module, kernel): (Module, usize),
        launch: Launch,
        params: Vec<u8>,
        (spirv, iterations): (Option<SpirvLaunch>, Iterations),
    ) -> Part {
        let flow = Flow::of(&module.kernels[kernel], iterations);
        let mut accesses =
            module.kernels[kernel].steps.iter().filter_map(|step| step.op.outline(|_| {}, |_| {}).access);
        let reads_read_only = accesses.any(|access| access.read_only);
        let copies = module.kernels[kernel].steps.iter().any(|step| matches!(step.op, Op::Copy(_)));
        let open_addresses = open_addresses::of(&module.kernels[kernel]);
        let is_flushed = |step: &Step| matches!(step.op, Op::Rmw { how: Rmw::AddSingleFlushed, .. });
        let flushes = module.kernels[kernel].steps.iter().any(is_flushed);
        let divides = module.kernels[kernel].steps.iter().any(|step| matches!(step.op, Op::Partial { .. }));
        Part {
            source,
            module,
            kernel,
            launch,
            of_variables: Vec::new(),
            params,
            flow,
            reads_read_only,
            copies,
            divides,
            flushes,
            open_addresses,
            pointers: None,
            first: 0,
            first_block: 0,
            device: 0,
            spirv,
            workspace: None,
            waits: WaitsForEnded::Never,
            hidden: None,
        }
    }

    /// A launch of a kernel that was lowered from SPIR-V, with its push constants.
    pub(crate) fn of_spirv(source: Source, kernel: Kernel, params: Vec<u8>, spirv: SpirvLaunch) -> Part {
        let launch = Launch {
            grid: spirv.shape.workgroups,
            block: spirv.shape.local_size,
            arguments: Vec::new(),
            dynamic_shared: 0,
        };
        let module = Module { kernels: vec![kernel], ..Module::default() };
        Part::made(source, (module, 0), launch, params, (Some(spirv), Iterations::Declared))
    }

    /// Names the kernel, where its text gives it another name.
    pub(crate) fn call(&mut self, name: &str) {
        name.clone_into(&mut self.module.kernels[self.kernel].name);
    }

    /// Whether the address of an access may wait for a read.
    pub(crate) fn may_be_open(&self, at: u32) -> bool {
        self.open_addresses.get(at as usize).copied().unwrap_or(true)
    }

    /// Whether its instructions may give values that nothing fixes.
    pub(crate) fn leaves_open(&self) -> bool {
        self.divides || self.spirv.is_some()
    }

    /// Whether the kernel asks for the workspace of its grid, as `cg::this_grid()` does.
    pub(crate) fn reads_workspace(&self) -> bool {
        let asks = |step: &Step| matches!(step.op, Op::Special { which: Special::Workspace(_), .. });
        self.kernel().steps.iter().any(asks)
    }

    /// Whether the lanes of a warp may come to operations of their mask at different places: on targets from sm_70 on.
    pub(crate) fn lanes_may_part(&self) -> bool {
        self.module.sm >= 70
    }

    /// The kernel that is launched.
    pub(crate) fn kernel(&self) -> &Kernel {
        &self.module.kernels[self.kernel]
    }

    pub(crate) fn constants(&self) -> &[u8] {
        &self.module.constants
    }

    /// The threads of a block.
    pub(crate) fn members(&self, block: u32) -> Arc<[ThreadId]> {
        let per_block = self.launch.block_len() as usize;
        let first = self.first + block as usize * per_block;
        (first..first + per_block).collect()
    }

    /// The size in bytes of a block's shared memory as it is laid out here.
    pub(crate) fn shared_extent(&self) -> u64 {
        self.kernel().shared_extent(self.launch.dynamic_shared)
    }

    /// The lanes of a warp, or the threads of a subgroup.
    pub(crate) fn warp(&self) -> u32 {
        self.spirv.as_ref().map_or(WARP, |spirv| spirv.shape.subgroup.max(1))
    }

    /// How many threads of a block, one behind the other, have the same place to all that they do: those of a warp,
    /// whose barriers converge; of SPIR-V those of a subgroup, if the kernel names its scope, else those of a
    /// workgroup.
    pub(crate) fn together(&self) -> u32 {
        let of_subgroup = |label: &Label| label.level == Level::Subgroup;
        let names_subgroup = |step: &Step| {
            let access = step.op.outline(|_| {}, |_| {}).access;
            let of_access = access.is_some_and(|access| match &access.strength {
                Strength::Labels { read, write } => of_subgroup(read) || of_subgroup(write),
                Strength::Weak | Strength::Volatile | Strength::Strong { .. } => false,
            });
            let of_ordering = |ordering: &Ordering| match ordering {
                Ordering::Fence(label) => of_subgroup(label),
                Ordering::Barrier { among, label } => *among == Level::Subgroup || of_subgroup(label),
            };
            of_access || matches!(&step.op, Op::Ordering(ordering) if of_ordering(ordering))
        };
        if self.spirv.is_none() || self.kernel().steps.iter().any(names_subgroup) {
            return self.warp();
        }
        self.launch.block_len() as u32
    }

    /// The variables in the shared memory of a block, of SPIR-V; PTX has one space of bytes.
    pub(crate) fn shared(&self) -> &[Range] {
        self.spirv.as_ref().map_or(&[], |spirv| &spirv.shared)
    }

    /// The byte of the shared memory of a block that an address is, in one of its variables.
    pub(crate) fn place_shared(&self, address: u64, bytes: u64) -> Result<u64, Wrong> {
        if self.spirv.is_some() {
            return nearest(self.shared(), address, bytes).map(|_| address);
        }
        let dynamic = self.launch.dynamic_shared;
        let place = place_in(&self.kernel().shared_variables, dynamic, "shared memory", address, bytes);
        place.map(|()| address)
    }

    /// The number of the first of that many bytes at an address of a thread's local memory, in one of its variables.
    pub(crate) fn place_local(&self, address: u64, bytes: u64) -> Result<u64, Wrong> {
        let (kernel, name) = (self.kernel(), "local memory");
        kernel.local_byte(address, bytes).ok_or_else(|| {
            let variables: Vec<_> = kernel.local_variables.iter().map(|known| known.variable.clone()).collect();
            let whole = || Wrong::Beyond { name: name.into(), bytes: kernel.local, offset: address as i64 };
            if variables.is_empty() { None } else { place_in(&variables, 0, name, address, bytes).err() }
                .unwrap_or_else(whole)
        })
    }

    /// Whether that many bytes at an address of constant memory are in one of its variables. Returns the name of the
    /// variable if neither the text nor the host gives it a value.
    pub(crate) fn place_constant(&self, address: u64, bytes: u64) -> Result<Option<&str>, Wrong> {
        let variables = &self.module.constant_variables;
        place_in(variables, 0, "constant memory", address, bytes)?;
        let is_read = |variable: &&PlacedVariable| (variable.at..).contains(&address);
        let without_value = variables.iter().rfind(is_read).filter(|variable| !variable.has_value);
        Ok(without_value.map(|variable| variable.name.as_str()))
    }

    /// The launch as it was given: with the contents of the module's variables.
    pub(crate) fn whole_launch(&self) -> Launch {
        let mut launch = self.launch.clone();
        launch.arguments.extend(self.of_variables.iter().cloned());
        launch
    }

    /// Whether that many bytes at an address of the parameter space are in one of the kernel's parameters, which are
    /// separate variables (PTX ISA 8.8, 5.1.6.1 "Kernel Function Parameters"). SPIR-V has push constants there, which
    /// are one.
    pub(crate) fn place_parameter(&self, address: u64, bytes: u64) -> Result<(), Wrong> {
        let params = &self.kernel().params;
        let end = address.saturating_add(bytes);
        if params.is_empty() || params.iter().any(|param| param.at <= address && end <= param.at + param.bytes) {
            return Ok(());
        }
        let names = self.launch.arguments.iter().map(|argument| Some(argument.name.clone()));
        let named = params.iter().zip(names.chain(std::iter::repeat(None)));
        let placed = named.map(|(param, name)| PlacedVariable {
            name: name.unwrap_or_else(|| param.name.clone()),
            at: param.at,
            bytes: Some(param.bytes),
            item: None,
            ty: param.ty,
            has_value: true,
        });
        place_in(&placed.collect::<Vec<_>>(), 0, "the kernel's parameters", address, bytes)
    }

    /// The registers of a thread before its first instruction.
    pub(crate) fn registers(&self) -> Vec<Deferred> {
        let count = self.kernel().registers.len();
        match &self.spirv {
            // What no path reads needs no mark.
            None if self.kernel().all_assigned => vec![Deferred::Known(0); count],
            None => (0..count as u32).map(Deferred::Unwritten).collect(),
            Some(spirv) => spirv.registers(count),
        }
    }

    /// The first bytes of a thread's own memory.
    pub(crate) fn local_bytes(&self, block: u32, thread: u32) -> Vec<Deferred> {
        match &self.spirv {
            None => {
                let (first, bytes) = (self.kernel().registers.len() as u32, self.kernel().local as u32);
                (first..first + bytes).map(|number| Deferred::Unwritten(number | Deferred::AS_READ)).collect()
            }
            Some(spirv) => spirv.local_bytes(block, thread),
        }
    }
}

/// Whether that many bytes at an address of a space are in one of its variables, of which those without a size have
/// `dynamic` bytes; where there is none, the space has `name`.
fn place_in(variables: &[PlacedVariable], dynamic: u64, name: &str, address: u64, bytes: u64) -> Result<(), Wrong> {
    let size = |variable: &PlacedVariable| variable.bytes.unwrap_or(dynamic);
    let holds = |variable: &PlacedVariable| {
        variable.at <= address && address.saturating_add(bytes) <= variable.at + size(variable)
    };
    if variables.iter().any(holds) {
        return Ok(());
    }
    // In a register of 32 bits an address in front of all variables is a large one.
    let address = if address >> 32 == 0 { i64::from(address as u32 as i32) } else { address as i64 };
    let offset = |variable: &PlacedVariable| address.saturating_sub(variable.at as i64);
    let distance = |variable: &&PlacedVariable| match offset(variable) {
        before @ ..0 => before.unsigned_abs(),
        behind => (behind as u64).saturating_sub(size(variable)),
    };
    Err(match variables.iter().min_by_key(distance) {
        Some(variable) if variable.bytes.is_none() && dynamic == 0 => {
            Wrong::NoDynamicShared(plain_name(&variable.name))
        }
        Some(variable) => {
            Wrong::Beyond { name: plain_name(&variable.name), bytes: size(variable), offset: offset(variable) }
        }
        None => Wrong::Beyond { name: name.into(), bytes: 0, offset: address },
    })
}
