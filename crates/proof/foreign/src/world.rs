//! What all threads of a launch share: the kernel, the layout of memory, and what they found wrong.
//!
//! Every variable and every buffer has a range of addresses of its own, far from the others, so a pointer belongs to the
//! range that it points into or next to. Memory is cut into cells, which are the locations of the models: as wide as the
//! narrowest access to them, which a search finds out, and then begins again. A wider access is an event for each of its
//! cells, which is right where nothing races with it; a strong one must be a cell.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use wattle_check::search::{Address, Initial, Memory, Spawn};
use wattle_memory::{Placement, ThreadId};
use wattle_modules::code::{Kernel, Module, Op, Special};
use wattle_modules::ptx;
use wattle_modules::types::Space;

use crate::flow::Flow;
use crate::launch::Launch;
use crate::number::Number;
use crate::prepare::{chosen, parameters, shape_fits};
use crate::process::ModuleThread;
use crate::unsupported::Unsupported;
use crate::wrong::Wrong;

/// The distance of the ranges in global memory.
const RANGE: u64 = 1 << 40;

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
    /// The first contents; `None` where nobody has written it.
    pub(crate) initial: Option<Vec<u8>>,
}

/// A module with its text.
#[derive(Debug)]
pub struct Source {
    /// The name of the file.
    pub file: String,
    /// The text.
    pub text: String,
}

/// What all threads of a launch share.
#[derive(Debug)]
pub struct World {
    source: Source,
    module: Module,
    kernel: usize,
    launch: Launch,
    ranges: Vec<Range>,
    /// The width of the cells of each range, and last that of shared memory, in bytes, where no word has its own.
    widths: Vec<u8>,
    /// The width of the cells of single words of 8 bytes, by the number of the memory and of the word.
    word_widths: HashMap<(usize, u64), u8>,
    params: Vec<u8>,
    flow: Flow,
    /// Whether a volatile access is a plain one, as CUDA C++ has it; else it is relaxed at system scope, as PTX has it.
    pub volatile_is_plain: bool,
    wrongs: Mutex<Vec<Wrong>>,
    wanted: Mutex<BTreeMap<(usize, u64), u8>>,
    refused: Mutex<Option<Unsupported>>,
}

impl World {
    /// Reads a module, and prepares a launch of one of its kernels: the one of that name, or the only one.
    ///
    /// # Errors
    /// The text is refused, there is no such kernel, the arguments or the shape do not fit, or the kernel has an
    /// instruction that the checker has no meaning for.
    pub fn new(source: Source, entry: Option<&str>, launch: Launch) -> Result<World, Unsupported> {
        let sizes = ptx::read(&source.file, &source.text, ptx::Limits::NONE, &HashMap::new())?;
        let mut addresses = HashMap::new();
        let mut ranges = Vec::new();
        for (number, global) in sizes.globals.iter().enumerate() {
            addresses.insert(global.name.clone(), address_of(number));
            let mut initial = global.initial.clone();
            initial.resize(global.bytes as usize, 0);
            let item = if global.bytes == 4 { Some(Number::U32) } else { None };
            ranges.push(Range { name: global.name.clone(), item, bytes: global.bytes, initial: Some(initial) });
        }
        let module = ptx::read(&source.file, &source.text, ptx::Limits::NONE, &addresses)?;
        let kernel = chosen(&module, entry)?;
        let of = &module.kernels[kernel];
        let params = parameters(of, &launch.arguments, &mut ranges)?;
        shape_fits(of, &launch)?;
        let mut widths: Vec<u8> = ranges.iter().map(|range| range.item.map_or(WIDEST, |item| item.size())).collect();
        widths.push(usual_width(of, Space::Shared));
        let flow = Flow::of(of);
        let world = World {
            source,
            kernel,
            launch,
            ranges,
            widths,
            word_widths: HashMap::new(),
            params,
            flow,
            volatile_is_plain: false,
            wrongs: Mutex::default(),
            wanted: Mutex::default(),
            refused: Mutex::default(),
            module,
        };
        world.supported()?;
        Ok(world)
    }

    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.module.kernels[self.kernel]
    }

    /// The launch.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// The ranges of global memory.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    pub(crate) fn flow(&self) -> &Flow {
        &self.flow
    }

    pub(crate) fn params(&self) -> &[u8] {
        &self.params
    }

    pub(crate) fn constants(&self) -> &[u8] {
        &self.module.constants
    }

    /// The threads before their first instruction.
    pub(crate) fn threads(&self) -> Vec<Spawn<ModuleThread>> {
        let per_block = self.launch.block_len() as u32;
        let threads =
            (0..self.launch.blocks() as u32).flat_map(|block| (0..per_block).map(move |thread| (block, thread)));
        let spawn = |(block, thread)| Spawn {
            placement: Placement::new(block, thread),
            process: ModuleThread::new(self.kernel(), block, thread),
            after: [].into(),
        };
        threads.map(spawn).collect()
    }

    /// The threads of a block.
    pub(crate) fn members(&self, block: u32) -> Arc<[ThreadId]> {
        let per_block = self.launch.block_len() as usize;
        (block as usize * per_block..(block as usize + 1) * per_block).collect()
    }

    /// The block and the place in it of a thread.
    pub fn position(&self, thread: ThreadId) -> (u64, u64) {
        (thread as u64 / self.launch.block_len(), thread as u64 % self.launch.block_len())
    }

    /// How a report names a thread: its block and its place in it, in as many dimensions as the launch has.
    pub fn thread_name(&self, thread: ThreadId) -> String {
        let (block, within) = self.position(thread);
        let name = |linear: u64, of: [u32; 3]| {
            let [x, y, z] = of.map(u64::from);
            match (y, z) {
                (1, 1) => linear.to_string(),
                (_, 1) => format!("({}, {})", linear % x, linear / x),
                _ => format!("({}, {}, {})", linear % x, linear / x % y, linear / x / y),
            }
        };
        format!("block {}, thread {}", name(block, self.launch.grid), name(within, self.launch.block))
    }

    /// The number of the memory that is a block's shared memory.
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
        // The range whose address is nearest: a little before a range is its own, not the end of the one in front.
        let number = (address.saturating_add(RANGE / 2) / RANGE).checked_sub(1);
        let range = number.and_then(|number| Some((number, self.ranges.get(number as usize)?)));
        let (number, range) = range.ok_or(Wrong::Wild(address))?;
        let offset = address.wrapping_sub(address_of(number as usize)) as i64;
        match u64::try_from(offset) {
            Ok(inside) if inside + bytes <= range.bytes => Ok((number as u32, inside)),
            _ => Err(Wrong::Beyond { name: range.name.clone(), bytes: range.bytes, offset }),
        }
    }

    /// The size of a block's shared memory in bytes.
    pub(crate) fn shared_bytes(&self) -> u64 {
        self.kernel().dynamic_at.max(self.kernel().shared) + self.launch.dynamic_shared
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
        !wanted.is_empty() || self.refused.lock().unwrap_or_else(PoisonError::into_inner).is_some()
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
        let again = !wanted.is_empty();
        for ((memory, word), width) in wanted {
            self.word_widths.insert((memory, word), width);
            // Where many words differ from the rest of their memory, the rest is likely to be like them.
            if self.word_widths.keys().filter(|(of, _)| *of == memory).count() > MOST_SINGLE {
                self.widths[memory] = width.min(self.widths[memory]);
            }
        }
        Ok(again)
    }

    /// The name of a place in memory: `data[3]`.
    pub fn name_of(&self, address: Address) -> String {
        let Some(range) = self.ranges.get(address.memory as usize) else {
            return format!("shared memory, byte {}", address.element);
        };
        match range.item {
            Some(item) if range.bytes == u64::from(item.size()) => range.name.clone(),
            Some(item) if address.element.is_multiple_of(u64::from(item.size())) => {
                format!("{}[{}]", range.name, address.element / u64::from(item.size()))
            }
            _ => format!("{}, byte {}", range.name, address.element),
        }
    }

    /// The first contents of a byte of a range.
    pub(crate) fn initial_byte(&self, memory: usize, offset: u64) -> Option<u8> {
        self.ranges.get(memory)?.initial.as_ref()?.get(offset as usize).copied()
    }

    /// The place in the source that an instruction comes from: the line that `.loc` names, else that of the module. Of a
    /// function that was inlined it is the innermost place in the kernel's own file: calls into libraries are where the
    /// kernel's author looks.
    pub fn place_of(&self, at: usize) -> String {
        let here = self.kernel().sources.get(at).and_then(Option::as_ref).filter(|source| source.line > 0);
        let Some(here) = here else { return format!("{}:{}", self.source.file, self.line(at)) };
        let calls = || std::iter::successors(Some(here), |source| source.inlined_at.as_deref());
        let own = calls().last().map(|outermost| &outermost.file);
        let shown = calls().find(|source| Some(&source.file) == own).unwrap_or(here);
        let column = if shown.column > 0 { format!(":{}", shown.column) } else { String::new() };
        format!("{}:{}{column}", shown.file, shown.line)
    }

    /// The line of the module that an instruction stands on.
    pub fn line(&self, at: usize) -> u32 {
        self.kernel().lines.get(at).copied().unwrap_or(0)
    }

    /// The text of an instruction.
    pub fn text(&self, at: usize) -> String {
        let line = (self.line(at) as usize).saturating_sub(1);
        self.source.text.lines().nth(line).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn instruction(&self, at: usize, why: &str) -> Unsupported {
        let (file, line, instruction) = (self.source.file.clone(), self.line(at), self.text(at));
        Unsupported::Instruction { file, line, instruction, why: why.to_owned() }
    }

    /// Whether the checker has a meaning for every instruction.
    fn supported(&self) -> Result<(), Unsupported> {
        for (at, step) in self.kernel().steps.iter().enumerate() {
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
            return Err(self.instruction(at, why));
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
        Initial { value: value.unwrap_or(0), unwritten: value.is_none() }
    }
}

/// The width of most accesses to a space in the kernel's text.
fn usual_width(kernel: &Kernel, space: Space) -> u8 {
    let mut counts = [0u32; WIDEST as usize + 1];
    for step in &kernel.steps {
        if let Some(access) = step.op.outline(|_| {}, |_| {}).access.filter(|access| access.space == space) {
            counts[access.bytes as usize] += 1;
        }
    }
    let usual = (1..=WIDEST).max_by_key(|&bytes| (counts[bytes as usize], bytes));
    usual.unwrap_or(WIDEST)
}

/// The address of a range.
pub(crate) fn address_of(number: usize) -> u64 {
    (number as u64 + 1) * RANGE
}
