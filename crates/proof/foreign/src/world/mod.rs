//! What all threads of a launch share: the kernel, the layout of memory, and what they found wrong.
//!
//! Every variable and every buffer has a range of addresses of its own, far from the others, so a pointer belongs to
//! the range that it points into or next to. Memory is cut into cells, which are the locations of the models: as wide
//! as the narrowest access to them, which a search finds out, and then begins again. A wider access is an event for
//! each of its cells, which is right where nothing races with it; a strong one must be a cell.

mod active;
mod left_open;
mod names;
mod part;
mod spirv;
mod widths;

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, OnceLock, PoisonError};

use wattle_check::search::{Address, Initial, Lanes, Memory};
use wattle_core::lock;
use wattle_memory::{Model, ThreadId};
use wattle_modules::code::{Kernel, Op, Special};
use wattle_modules::spirv::SourceLanguage;

use crate::beside::Beside;
use crate::copies::Copies;
use crate::elected::Elected;
use crate::launch::Launch;
use crate::pointers::Pointers;
use crate::range::{Range, nearest, nearest_to};
use crate::read_only::ReadOnly;
use crate::shape::shape_fits;
use crate::turns::Turns;
use crate::unfixed::Unfixed;
use crate::unsupported::Unsupported;
use crate::wrong::Wrong;

use active::Active;
pub(crate) use names::{function_name, plain_name};
use part::MOST_STEPS;
pub use part::Source;
pub(crate) use part::{Part, WARP, WaitsForEnded, read, statement};
pub(crate) use spirv::{Origin, SpirvLaunch};
use widths::Widths;

/// What all threads of some launches share.
#[derive(Debug)]
pub struct World {
    pub(crate) parts: Vec<Part>,
    ranges: Vec<Range>,
    pub(crate) widths: Widths,
    /// Whether an access of each item is one access, of whatever size: where a run is one interleaving, memory is
    /// bytes.
    pub(crate) takes_whole: bool,
    /// Host parts that run at the same time.
    pub(crate) beside: Option<Beside>,
    /// Whether a compiler takes dependencies away that the instructions have: all kernels are Wattle's own.
    pub(crate) is_compiled: bool,
    /// Whether a volatile access is a plain one, as CUDA C++ has it; else it is relaxed at system scope, as PTX has it.
    pub volatile_is_plain: bool,
    /// What holds values that nothing fixes.
    pub(crate) unfixed: Unfixed,
    pub(crate) read_only: ReadOnly,
    pub(crate) copies: Copies,
    pub(crate) turns: Turns,
    /// The chosen lanes that are together at each `activemask`.
    pub(crate) active: Active,
    /// The lane that each `elect.sync` elects.
    pub(crate) elected: Elected,
    /// Whether some thread has taken along what it has found in unwritten memory.
    pub(crate) carries_unwritten: AtomicBool,
    /// The cells to which some thread has copied what nobody has written.
    left_unwritten: Mutex<BTreeSet<Address>>,
    /// A statement whose stores of one value nothing orders.
    stores_alike: OnceLock<u32>,
    /// A variable of constant memory that has been read, and that has no value.
    without_value: OnceLock<String>,
    /// A comparison of addresses in two ranges, and the ranges.
    compared: OnceLock<(u32, [usize; 2])>,
    wrongs: Mutex<Vec<Wrong>>,
    /// The numbers of the dynamic instances of barriers: the instruction, and the iterations of the loops around it.
    instances: Mutex<HashMap<(u32, Vec<u32>), u64>>,
    refused: Mutex<Option<Unsupported>>,
}

impl World {
    /// The lanes whose plain stores of one value are no error, as PTX has it; in CUDA C++ they are.
    pub(crate) fn same_stores(&self, model: Model) -> Option<Lanes> {
        let is_ptx = model == Model::Ptx && self.parts.iter().all(|part| part.spirv.is_none());
        (is_ptx && !self.volatile_is_plain).then_some(Lanes(WARP))
    }

    /// Notes that nothing orders the stores of one value by a statement.
    pub(crate) fn has_same_stores(&self, statement: u32) {
        let _ = self.stores_alike.set(statement);
    }

    /// Notes that an instruction asks which of two numbers is the greater, if they are addresses in two ranges.
    pub(crate) fn compares(&self, statement: u32, a: Option<u64>, b: Option<u64>) {
        let range = |address: u64| nearest_to(address).filter(|&number| number < self.ranges.len());
        if let Some((a, b)) = a.and_then(range).zip(b.and_then(range)).filter(|(a, b)| a != b) {
            let _ = self.compared.set((statement, [a, b]));
        }
    }

    /// The note of a verdict on a comparison of addresses in two ranges, if there was one.
    pub(crate) fn compared_note(&self) -> Option<String> {
        let &(statement, both) = self.compared.get()?;
        let [a, b] = both.map(|number| &self.ranges[number].name);
        let first = &self.ranges[both[0].min(both[1])].name;
        Some(format!(
            "an address in `{a}` is compared with one in `{b}` at {}: how two buffers lie to each other is not known, and here \
             `{first}` is the first one",
            self.place_of(statement as usize)
        ))
    }

    /// Notes that a variable of constant memory is read that has no value.
    pub(crate) fn reads_without_value(&self, name: &str) {
        let _ = self.without_value.set(plain_name(name));
    }

    /// The note of a verdict on a variable without a value that was read, if there was one.
    pub(crate) fn without_value_note(&self) -> Option<String> {
        let name = self.without_value.get()?;
        Some(format!(
            "`{name}` is read, which the module gives no value: it is 0 here; say what the host puts there with --arg {name}=…"
        ))
    }

    /// The note of a verdict on stores of one value that nothing orders, if there were some.
    pub(crate) fn same_stores_note(&self) -> Option<String> {
        let at = self.place_of(*self.stores_alike.get()? as usize);
        Some(format!(
            "lanes of a warp store one value to one place at {at}, and nothing orders these stores: PTX lets any of them be the last \
             (PTX ISA 8.7.2); by the rules of CUDA C++ they race (--volatile-is-plain)"
        ))
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
        World {
            widths: Widths::new(&ranges, &parts),
            active: Active::of(&parts),
            elected: Elected::default(),
            parts,
            ranges,
            takes_whole: false,
            beside: None,
            is_compiled: false,
            carries_unwritten: AtomicBool::new(false),
            left_unwritten: Mutex::default(),
            volatile_is_plain: false,
            stores_alike: OnceLock::new(),
            without_value: OnceLock::new(),
            compared: OnceLock::new(),
            unfixed: Unfixed::default(),
            read_only: ReadOnly::default(),
            copies: Copies::default(),
            turns: Turns::default(),
            wrongs: Mutex::default(),
            instances: Mutex::default(),
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

    /// The text of the module, if it is PTX and the launch is the only one, with no host part beside it.
    pub(crate) fn source(&self) -> Option<&Source> {
        match &self.parts[..] {
            [part] if part.spirv.is_none() && self.beside.is_none() => Some(&part.source),
            _ => None,
        }
    }

    /// The module and the setting of the launch, if it is of SPIR-V and the only one.
    pub(crate) fn origin(&self) -> Option<&Origin> {
        match &self.parts[..] {
            [part] => part.spirv.as_ref()?.origin.as_deref(),
            _ => None,
        }
    }

    /// Records the other sizes of subgroups with which a launch of a SPIR-V module is judged, so that advice holds with
    /// each.
    pub fn also_with_subgroups_of(&mut self, sizes: &[u32]) {
        if let [Part { spirv: Some(spirv), .. }] = &mut self.parts[..]
            && let Some(origin) = &mut spirv.origin
        {
            origin.sizes = sizes.to_vec();
        }
    }

    /// The ranges of global memory.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges
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

    /// The range that a global address is in, and the offset in it.
    pub(crate) fn place(&self, address: u64, bytes: u64) -> Result<(u32, u64), Wrong> {
        nearest(&self.ranges, address, bytes)
    }

    /// The number of a dynamic instance of a barrier.
    pub(crate) fn instance(&self, at: u32, iterations: Vec<u32>) -> u64 {
        let mut instances = lock(&self.instances);
        let next = instances.len() as u64;
        *instances.entry((at, iterations)).or_insert(next)
    }

    /// The number of a fault.
    pub(crate) fn number_of(&self, wrong: Wrong) -> u32 {
        let mut wrongs = lock(&self.wrongs);
        let known = wrongs.iter().position(|known| *known == wrong);
        known.unwrap_or_else(|| {
            wrongs.push(wrong);
            wrongs.len() - 1
        }) as u32
    }

    /// The fault of that number.
    pub(crate) fn wrong(&self, number: u32) -> Option<Wrong> {
        lock(&self.wrongs).get(number as usize).cloned()
    }

    /// Records that a thread cannot go on, since the checker lacks something.
    pub(crate) fn refuse(&self, at: usize, why: &str) {
        let mut refused = lock(&self.refused);
        refused.get_or_insert_with(|| self.instruction(at, why));
    }

    /// Why a thread cannot go on, if the checker lacks something.
    pub(crate) fn refused(&self) -> Option<String> {
        lock(&self.refused).as_ref().map(Unsupported::to_string)
    }

    /// Whether a search has met cells that are too wide, or something that it cannot judge: its result means nothing.
    pub(crate) fn is_spoilt(&self) -> bool {
        self.is_outgrown() || lock(&self.refused).is_some()
    }

    /// Whether a run has met cells that are wider than what it accesses, or values that nothing fixes where none were
    /// known, so that it has to begin again.
    pub(crate) fn is_outgrown(&self) -> bool {
        self.widths.are_unfit() || self.unfixed.has_grown()
    }

    /// Makes cells as wide as a search wanted them; returns whether it has to begin again.
    ///
    /// # Errors
    /// The search met something that it cannot judge.
    pub(crate) fn adapted(&mut self) -> Result<bool, Unsupported> {
        if let Some(refused) = self.refused.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(refused);
        }
        let again = self.widths.adapt() | self.unfixed.grow();
        if again {
            self.left_unwritten.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
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

    /// Gives contents that nobody has given a value.
    pub(crate) fn fill_with(&mut self, value: u64) {
        self.unfixed = Unfixed::default();
        let Part { spirv: Some(spirv), params, .. } = &mut self.parts[0] else { return };
        spirv.fill_with(value, params);
    }

    /// What a verdict rests on that the language promises and the module does not show.
    pub(crate) fn promise(&self) -> Option<String> {
        let language = self.parts.iter().find_map(|part| part.spirv.as_ref()?.promised_by)?;
        let promised = match language {
            SourceLanguage::Hlsl => {
                "HLSL's barriers reach the thread group for every buffer that is not `globallycoherent`"
            }
            SourceLanguage::Wgsl => "WGSL's storageBarrier() orders the workgroup's accesses of storage buffers",
            SourceLanguage::Glsl | SourceLanguage::OpenCl | SourceLanguage::Other => return None,
        };
        Some(format!("{promised}, which this rests on; the module has no buffer that is decorated Coherent"))
    }

    /// The note of a verdict on what the modules declare and is not known here, if they do.
    pub(crate) fn unknown_declarations(&self) -> Option<String> {
        let all = self.parts.iter().filter_map(|part| part.spirv.as_ref()).flat_map(|spirv| &spirv.unknown);
        let all: Vec<&str> = all.map(String::as_str).collect();
        (!all.is_empty()).then(|| {
            format!(
                "the module declares what is not known here: {}; its instructions are all known, and whatever else it means was \
                 not looked at",
                all.join(", ")
            )
        })
    }

    /// Whether the checker has a meaning for every instruction.
    fn supported(&self) -> Result<(), Unsupported> {
        let numbered =
            |(number, part): (u32, &'_ Part)| (0..part.kernel().steps.len() as u32).map(move |at| (number, at));
        for (number, at) in (0..).zip(&self.parts).flat_map(numbered) {
            let part = &self.parts[number as usize];
            let step = &part.kernel().steps[at as usize];
            let Op::Special { which, .. } = step.op else { continue };
            let why = match which {
                Special::Clock | Special::Timer if part.flow.is_dead(step, at as usize) => continue,
                Special::Clock | Special::Timer => {
                    "a clock has any value, and no single one is judged: leave out what reads it, unless it decides nothing but how \
                     often a thread polls and how long it sleeps"
                }
                Special::Sm | Special::Sms | Special::Grid | Special::Warps => "this register depends on the device",
                Special::Thread(_)
                | Special::Threads(_)
                | Special::Block(_)
                | Special::Blocks(_)
                | Special::Lane
                | Special::LaneMask(_)
                | Special::Active
                | Special::Workspace(_)
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
        let bytes = (0..u64::from(self.widths.at(address.memory, address.element))).rev();
        let mut value = bytes.map(|byte| self.initial_byte(memory, address.element + byte));
        let value = value.try_fold(0, |value, byte| Some(value << 8 | u64::from(byte?)));
        let fill = self.spirv().map_or(0, SpirvLaunch::fill);
        Initial { value: value.unwrap_or(fill), unwritten: value.is_none() }
    }
}
