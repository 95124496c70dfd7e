//! What all threads of a launch share: the kernel, the layout of memory, and what they found wrong.
//!
//! Every variable and every buffer has a range of addresses of its own, far from the others, so a pointer belongs to the
//! range that it points into or next to. Memory is cut into cells, which are the locations of the models: as wide as the
//! narrowest access to them, which a search finds out, and then begins again. A wider access is an event for each of its
//! cells, which is right where nothing races with it; a strong one must be a cell.

mod names;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use wattle_check::search::{Address, Initial, Memory, Spawn};
use wattle_memory::{Label, Level, Placement, ThreadId};
use wattle_modules::Deferred;
use wattle_modules::code::{Kernel, Module, Op, Ordering, Special, Step, Strength};
use wattle_modules::ptx;
use wattle_modules::types::Space;

use crate::batch::beside::Beside;
use crate::flow::Flow;
use crate::launch::Launch;
use crate::number::Number;
use crate::pointers::Pointers;
use crate::prepare::{chosen, parameters, shape_fits};
use crate::process::ModuleThread;
use crate::read_only::ReadOnly;
use crate::spirv::SpirvLaunch;
use crate::unfixed::Unfixed;
use crate::unsupported::Unsupported;
use crate::wrong::Wrong;

/// The distance of the ranges in global memory.
const RANGE: u64 = 1 << 40;

/// The lanes of a warp (PTX ISA 8.8, 2.2.1 "Cooperative Thread Arrays").
const WARP: u32 = 32;

/// The widest access to one cell in bytes.
const WIDEST: u8 = 8;

/// The number of words of a memory with cells of their own, beyond which all of it gets narrower cells.
const MOST_SINGLE: usize = 8;

/// A range of global memory.
#[derive(Debug)]
pub struct Range {
    /// The name of the variable or of the argument.
    pub name: String,
    /// The type of its items, if it is known.
    pub item: Option<Number>,
    /// The size in bytes.
    pub bytes: u64,
    /// The first contents, byte by byte; `None` where nobody has written one.
    pub(crate) initial: Vec<Option<u8>>,
}

/// A module with its text.
#[derive(Debug)]
pub struct Source {
    /// The name of the file.
    pub file: String,
    /// The text.
    pub text: String,
}

/// A launch of a kernel: what its threads alone share.
#[derive(Debug)]
pub(crate) struct Part {
    source: Source,
    module: Module,
    kernel: usize,
    pub(crate) launch: Launch,
    pub(crate) params: Vec<u8>,
    pub(crate) flow: Flow,
    /// Whether it has loads of memory that has to be read-only while it runs.
    pub(crate) reads_read_only: bool,
    /// Which ranges it may write, where that is known.
    pub(crate) pointers: Option<Pointers>,
    /// The first of its threads and of its blocks, among all.
    pub(crate) first: ThreadId,
    pub(crate) first_block: u32,
    /// The number of its device.
    pub(crate) device: u32,
    /// What only a launch of a SPIR-V module has.
    pub(crate) spirv: Option<SpirvLaunch>,
    /// Whether its barriers wait also for threads that have ended, as those of Wattle's language do.
    pub(crate) waits_for_ended: bool,
}

impl Part {
    pub(crate) fn new(source: Source, (module, kernel): (Module, usize), launch: Launch, params: Vec<u8>) -> Part {
        let flow = Flow::of(&module.kernels[kernel]);
        let mut accesses =
            module.kernels[kernel].steps.iter().filter_map(|step| step.op.outline(|_| {}, |_| {}).access);
        let reads_read_only = accesses.any(|access| access.read_only);
        Part {
            source,
            module,
            kernel,
            launch,
            params,
            flow,
            reads_read_only,
            pointers: None,
            first: 0,
            first_block: 0,
            device: 0,
            spirv: None,
            waits_for_ended: false,
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
        let module = Module { sm: 0, version: (0, 0), globals: vec![], constants: vec![], kernels: vec![kernel] };
        Part { spirv: Some(spirv), ..Part::new(source, (module, 0), launch, params) }
    }

    /// Names the kernel, where its text gives it another name.
    pub(crate) fn call(&mut self, name: &str) {
        name.clone_into(&mut self.module.kernels[self.kernel].name);
    }

    /// The kernel.
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

    /// The size of a block's shared memory in bytes.
    pub(crate) fn shared_bytes(&self) -> u64 {
        let kernel = self.kernel();
        kernel.dynamic_at.max(kernel.shared) + self.launch.dynamic_shared
    }

    /// The lanes of a warp, or the threads of a subgroup.
    pub(crate) fn warp(&self) -> u32 {
        self.spirv.as_ref().map_or(WARP, |spirv| spirv.shape.subgroup.max(1))
    }

    /// How many threads of a block, one behind the other, have the same place to all that they do: those of a warp, whose
    /// barriers converge; of SPIR-V those of a subgroup, if the kernel names its scope, else those of a workgroup.
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
    fn shared(&self) -> &[Range] {
        self.spirv.as_ref().map_or(&[], |spirv| &spirv.shared)
    }

    /// The byte of the shared memory of a block that an address is.
    pub(crate) fn place_shared(&self, address: u64, bytes: u64) -> Result<u64, Wrong> {
        if self.spirv.is_some() {
            return nearest(self.shared(), address, bytes).map(|_| address);
        }
        let size = self.shared_bytes();
        match address.checked_add(bytes) {
            Some(end) if end <= size => Ok(address),
            Some(_) | None => Err(Wrong::Beyond { name: "shared memory".into(), bytes: size, offset: address as i64 }),
        }
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
                (first..first + bytes).map(Deferred::Unwritten).collect()
            }
            Some(spirv) => spirv.local_bytes(block, thread),
        }
    }
}

/// The number of a statement among those of all launches: the launch's number, and that of the instruction.
pub(crate) fn statement(part: u32, at: u32) -> u32 {
    part << 20 | at
}

/// The most instructions of a kernel.
const MOST_STEPS: usize = 1 << 20;

/// What all threads of some launches share.
#[derive(Debug)]
pub struct World {
    pub(crate) parts: Vec<Part>,
    ranges: Vec<Range>,
    /// The width of the cells of each range, and last that of shared memory, in bytes, where no word has its own.
    widths: Vec<u8>,
    /// The width of the cells of single words of 8 bytes, by the number of the memory and of the word.
    word_widths: HashMap<(usize, u64), u8>,
    /// Host parts that run at the same time.
    pub(crate) beside: Option<Beside>,
    /// Whether a compiler takes dependencies away that the instructions have: all kernels are Wattle's own.
    pub(crate) is_compiled: bool,
    /// Whether a volatile access is a plain one, as CUDA C++ has it; else it is relaxed at system scope, as PTX has it.
    pub volatile_is_plain: bool,
    /// What holds values that nothing fixes.
    pub(crate) unfixed: Unfixed,
    pub(crate) read_only: ReadOnly,
    wrongs: Mutex<Vec<Wrong>>,
    /// The numbers of the dynamic instances of barriers: the instruction, and the iterations of the loops around it.
    instances: Mutex<HashMap<(u32, Vec<u32>), u64>>,
    wanted: Mutex<BTreeMap<(usize, u64), u8>>,
    refused: Mutex<Option<Unsupported>>,
}

/// Reads a module whose variables have these addresses.
///
/// # Errors
/// The text is refused.
pub(crate) fn read(source: &Source, addresses: &HashMap<String, u64>) -> Result<Module, Unsupported> {
    Ok(ptx::read(&source.file, &source.text, ptx::Limits::NONE, addresses)?)
}

impl World {
    /// Reads a module, and prepares a launch of one of its kernels: the one of that name, or the only one.
    ///
    /// # Errors
    /// The text is refused, there is no such kernel, the arguments or the shape do not fit, or the kernel has an
    /// instruction that the checker has no meaning for.
    pub fn new(source: Source, entry: Option<&str>, launch: Launch) -> Result<World, Unsupported> {
        let sizes = read(&source, &HashMap::new())?;
        let mut addresses = HashMap::new();
        let mut ranges = Vec::new();
        for (number, global) in sizes.globals.iter().enumerate() {
            addresses.insert(global.name.clone(), address_of(number));
            let mut initial: Vec<_> = global.initial.iter().copied().map(Some).collect();
            initial.resize(global.bytes as usize, Some(0));
            let item = if global.bytes == 4 { Some(Number::U32) } else { None };
            ranges.push(Range { name: global.name.clone(), item, bytes: global.bytes, initial });
        }
        let module = read(&source, &addresses)?;
        let kernel = chosen(&module, entry)?;
        let params = parameters(&module.kernels[kernel], &launch.arguments, &mut ranges)?;
        World::of(vec![Part::new(source, (module, kernel), launch, params)], ranges)
    }

    /// Launches that run at the same time, over these ranges.
    ///
    /// # Errors
    /// A shape does not fit its kernel, or a kernel has an instruction that the checker has no meaning for.
    pub(crate) fn of(parts: Vec<Part>, ranges: Vec<Range>) -> Result<World, Unsupported> {
        for part in &parts {
            shape_fits(part.kernel(), &part.launch)?;
            if part.kernel().steps.len() >= MOST_STEPS {
                let why = format!("`{}` has more than {MOST_STEPS} instructions", part.kernel().name);
                return Err(Unsupported::Shape(why));
            }
        }
        let mut world = World::with(parts, ranges);
        let World { parts, ranges, .. } = &mut world;
        for part in parts {
            let range = |address| nearest(ranges, address, 0).ok().map(|(range, _)| range as usize);
            part.pointers = match &part.spirv {
                Some(spirv) => Some(spirv.pointers(part.kernel(), ranges.len())),
                None => Pointers::of(part.kernel(), &part.params, ranges.len(), range),
            };
        }
        world.supported()?;
        Ok(world)
    }

    fn with(parts: Vec<Part>, ranges: Vec<Range>) -> World {
        let width = |range: &Range| range.item.map_or(WIDEST, |item| item.size());
        let mut widths: Vec<u8> = ranges.iter().map(width).collect();
        widths.push(usual_width(&parts, Space::Shared));
        World {
            parts,
            ranges,
            widths,
            word_widths: HashMap::new(),
            beside: None,
            is_compiled: false,
            volatile_is_plain: false,
            unfixed: Unfixed::default(),
            read_only: ReadOnly::default(),
            wrongs: Mutex::default(),
            instances: Mutex::default(),
            wanted: Mutex::default(),
            refused: Mutex::default(),
        }
    }

    /// A launch of a SPIR-V module over these ranges.
    pub(crate) fn of_spirv(mut part: Part, ranges: Vec<Range>) -> World {
        part.pointers = part.spirv.as_ref().map(|spirv| spirv.pointers(part.kernel(), ranges.len()));
        World::with(vec![part], ranges)
    }

    /// What only a SPIR-V module has, of the first launch where there are several.
    pub(crate) fn spirv(&self) -> Option<&SpirvLaunch> {
        self.parts[0].spirv.as_ref()
    }

    /// The kernel, of the first launch where there are several.
    pub fn kernel(&self) -> &Kernel {
        self.parts[0].kernel()
    }

    /// The launch, the first one where there are several.
    pub fn launch(&self) -> &Launch {
        &self.parts[0].launch
    }

    /// The ranges of global memory.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    /// The threads before their first instruction.
    pub(crate) fn threads(&self) -> Vec<Spawn<ModuleThread>> {
        // PTX has no scope of a warp.
        let placement = |part: &Part, block, thread| match part.spirv {
            None => Placement::new(block, thread),
            Some(_) => Placement { subgroup: thread / part.warp(), ..Placement::new(block, thread % part.warp()) },
        };
        let mut all = Vec::new();
        for (number, part) in (0..).zip(&self.parts) {
            let per_block = part.launch.block_len() as u32;
            for block in 0..part.launch.blocks() as u32 {
                all.extend((0..per_block).map(|thread| Spawn {
                    placement: Placement { device: part.device, ..placement(part, part.first_block + block, thread) },
                    process: ModuleThread::new(self, number, block, thread),
                    after: [].into(),
                }));
            }
        }
        all
    }

    /// The launch of a thread.
    pub(crate) fn part_of(&self, thread: ThreadId) -> &Part {
        self.parts.iter().rev().find(|part| part.first <= thread).unwrap_or(&self.parts[0])
    }

    /// The launch of a block, by its number among all.
    fn part_of_block(&self, block: u32) -> &Part {
        self.parts.iter().rev().find(|part| part.first_block <= block).unwrap_or(&self.parts[0])
    }

    /// The launch of a statement, and the number of the instruction in its kernel.
    pub(crate) fn instruction_of(&self, statement: usize) -> (&Part, usize) {
        (self.parts.get(statement >> 20).unwrap_or(&self.parts[0]), statement & (MOST_STEPS - 1))
    }

    /// The number of the memory that is a block's shared memory, by the block's number among all.
    pub(crate) fn shared_memory(&self, block: u32) -> u32 {
        self.ranges.len() as u32 + block
    }

    /// The width of the cell at a byte of a memory.
    pub(crate) fn width(&self, memory: u32, offset: u64) -> u8 {
        let memory = (memory as usize).min(self.ranges.len());
        let own = if self.word_widths.is_empty() { None } else { self.word_widths.get(&(memory, offset / 8)) };
        own.copied().unwrap_or(self.widths[memory])
    }

    /// The range that a global address is in, and the offset in it.
    pub(crate) fn place(&self, address: u64, bytes: u64) -> Result<(u32, u64), Wrong> {
        nearest(&self.ranges, address, bytes)
    }

    /// The number of a dynamic instance of a barrier.
    pub(crate) fn instance(&self, at: u32, iterations: Vec<u32>) -> u64 {
        let mut instances = self.instances.lock().unwrap_or_else(PoisonError::into_inner);
        let next = instances.len() as u64;
        *instances.entry((at, iterations)).or_insert(next)
    }

    /// The number of a fault.
    pub(crate) fn number_of(&self, wrong: Wrong) -> u32 {
        let mut wrongs = self.wrongs.lock().unwrap_or_else(PoisonError::into_inner);
        let known = wrongs.iter().position(|known| *known == wrong);
        known.unwrap_or_else(|| {
            wrongs.push(wrong);
            wrongs.len() - 1
        }) as u32
    }

    /// The fault of that number.
    pub(crate) fn wrong(&self, number: u32) -> Option<Wrong> {
        self.wrongs.lock().unwrap_or_else(PoisonError::into_inner).get(number as usize).cloned()
    }

    /// Records that a word is accessed in pieces of another width than its cells have.
    pub(crate) fn wants(&self, memory: u32, offset: u64, bytes: u8) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let width = wanted.entry(((memory as usize).min(self.ranges.len()), offset / 8)).or_insert(bytes);
        *width = bytes.min(*width);
    }

    /// Whether the cells of a word are as narrow as some access to it wanted them.
    pub(crate) fn was_narrowed(&self, memory: u32, offset: u64) -> bool {
        self.word_widths.contains_key(&((memory as usize).min(self.ranges.len()), offset / 8))
    }

    /// Records that a thread cannot go on, since the checker lacks something.
    pub(crate) fn refuse(&self, at: usize, why: &str) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.get_or_insert_with(|| self.instruction(at, why));
    }

    /// Whether a search has met cells that are too wide, or something that it cannot judge: its result means nothing.
    pub(crate) fn is_spoilt(&self) -> bool {
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        !wanted.is_empty()
            || self.unfixed.has_grown()
            || self.refused.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Makes cells as wide as a search wanted them; returns whether it has to begin again.
    ///
    /// # Errors
    /// The search met something that it cannot judge.
    pub(crate) fn adapted(&mut self) -> Result<bool, Unsupported> {
        if let Some(refused) = self.refused.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(refused);
        }
        let wanted = std::mem::take(self.wanted.get_mut().unwrap_or_else(PoisonError::into_inner));
        let again = !wanted.is_empty() | self.unfixed.grow();
        for ((memory, word), width) in wanted {
            self.word_widths.insert((memory, word), width);
            // Where many words differ from the rest of their memory, the rest is likely to be like them.
            if self.word_widths.keys().filter(|(of, _)| *of == memory).count() > MOST_SINGLE {
                self.widths[memory] = width.min(self.widths[memory]);
            }
        }
        Ok(again)
    }

    /// The first contents of a byte of a range.
    pub(crate) fn initial_byte(&self, memory: usize, offset: u64) -> Option<u8> {
        let (range, offset) = match self.ranges.get(memory) {
            Some(range) => (range, offset),
            None => {
                let shared = self.part_of_block((memory - self.ranges.len()) as u32).shared();
                let (number, offset) = nearest(shared, offset, 1).ok()?;
                (&shared[number as usize], offset)
            }
        };
        range.initial.get(offset as usize).copied().flatten()
    }

    /// A byte at the end, from the values of the cells that were written; `None` where nobody has written it.
    pub(crate) fn final_byte(&self, memory: u32, offset: u64, value: &dyn Fn(Address) -> Option<u64>) -> Option<u8> {
        let cell = u64::from(self.width(memory, offset));
        let element = offset / cell * cell;
        if self.unfixed.holds(Address { memory, element }) {
            return None;
        }
        let written = value(Address { memory, element }).map(|value| (value >> (8 * (offset - element))) as u8);
        written.or_else(|| self.initial_byte(memory as usize, offset))
    }

    /// Gives contents that nobody has given a value.
    pub(crate) fn fill_with(&mut self, value: u64) {
        self.unfixed = Unfixed::default();
        let Part { spirv: Some(spirv), params, .. } = &mut self.parts[0] else { return };
        spirv.fill_with(value, params);
    }

    /// Why values that nothing fixes may change what a search has found, if they may; as addresses of the steps that are
    /// excused they do not.
    pub(crate) fn why_unfixed(&self, is_excused: &dyn Fn(usize) -> bool) -> Option<String> {
        let (decided, addressed) = self.unfixed.decided();
        let mut addressed = addressed.iter().filter(|at| !is_excused(**at as usize));
        let at = decided.iter().next().or_else(|| addressed.next())?;
        Some(format!(
            "a value that nothing fixes decides what happens at {}: give contents with @Input or --arg",
            self.place_of(*at as usize)
        ))
    }

    /// Whether the checker has a meaning for every instruction.
    fn supported(&self) -> Result<(), Unsupported> {
        let numbered =
            |(number, part): (u32, &'_ Part)| (0..part.kernel().steps.len() as u32).map(move |at| (number, at));
        for (number, at) in (0..).zip(&self.parts).flat_map(numbered) {
            let step = &self.parts[number as usize].kernel().steps[at as usize];
            let Op::Special { which, .. } = step.op else { continue };
            let why = match which {
                Special::Clock | Special::Timer => "a clock has any value for a checker",
                Special::Sm | Special::Sms | Special::Grid | Special::Warps => "this register depends on the device",
                Special::Thread(_)
                | Special::Threads(_)
                | Special::Block(_)
                | Special::Blocks(_)
                | Special::Lane
                | Special::Warp
                | Special::DynamicShared
                | Special::TotalShared => continue,
            };
            return Err(self.instruction(statement(number, at) as usize, why));
        }
        Ok(())
    }
}

impl Memory for World {
    fn initial(&self, address: Address) -> Initial {
        let memory = address.memory as usize;
        let bytes = (0..u64::from(self.width(address.memory, address.element))).rev();
        let mut value = bytes.map(|byte| self.initial_byte(memory, address.element + byte));
        let value = value.try_fold(0, |value, byte| Some(value << 8 | u64::from(byte?)));
        let fill = self.spirv().map_or(0, SpirvLaunch::fill);
        Initial { value: value.unwrap_or(fill), unwritten: value.is_none() }
    }
}

/// The width of most accesses to a space in the kernel's text.
fn usual_width(parts: &[Part], space: Space) -> u8 {
    let mut counts = [0u32; WIDEST as usize + 1];
    for step in parts.iter().flat_map(|part| &part.kernel().steps) {
        if let Some(access) = step.op.outline(|_| {}, |_| {}).access.filter(|access| access.space == space) {
            counts[access.bytes as usize] += 1;
        }
    }
    let usual = (1..=WIDEST).max_by_key(|&bytes| (counts[bytes as usize], bytes));
    usual.unwrap_or(WIDEST)
}

/// The range whose address is nearest, and the offset in it: a little before a range is its own, not the end of the one
/// in front.
fn nearest(ranges: &[Range], address: u64, bytes: u64) -> Result<(u32, u64), Wrong> {
    let number = (address.saturating_add(RANGE / 2) / RANGE).checked_sub(1);
    let range = number.and_then(|number| Some((number, ranges.get(number as usize)?)));
    let (number, range) = range.ok_or(Wrong::Wild(address))?;
    let offset = address.wrapping_sub(address_of(number as usize)) as i64;
    match u64::try_from(offset) {
        Ok(inside) if inside + bytes <= range.bytes => Ok((number as u32, inside)),
        _ => Err(Wrong::Beyond { name: range.name.clone(), bytes: range.bytes, offset }),
    }
}

/// The address of a range.
pub(crate) fn address_of(number: usize) -> u64 {
    (number as u64 + 1) * RANGE
}
