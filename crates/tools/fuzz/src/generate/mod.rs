//! Random cases whose result does not depend on scheduling.
//!
//! What makes it so:
//!
//! * Each element of memory that threads share is, at any moment, in one of three states: one thread's **own**,
//!   **open** to all for reading, or a **sum**: of one kind of atomic operation whose order does not show in the end,
//!   and whose results no thread reads. A state holds for a part of memory and one block, and changes at a barrier.
//!   Parts that several blocks share are open, or a sum at device scope, for the whole launch.
//! * Barriers stand where the control flow is the same for the whole block: it depends on constants, parameters, the
//!   block's place, and on slots that got such values, or the same element of open memory. Operations of warps stand
//!   there too, and where it is the same for the whole warp besides: it depends on votes and on the warp's number.
//! * The one exception is the last thread's reduction: which thread does it depends on scheduling, its result does not.
//!
//! And what makes it independent of what Wattle does not promise: a float is cleaned ([`Generator::clean`]) wherever it
//! might have become subnormal, and loses its NaN ([`Generator::number`]) before its bits count.

mod arithmetic;
mod base;
mod finish;
mod flow;
mod index;
mod memory;
mod phase;
mod setup;
mod values;
mod warp;

use std::collections::HashMap;

use wattle_ir::{AtomicOp, Expr, ExprId, Kernel, Label, LocalId, ParamId, Place, Site, SlotId, Stmt, Type};

use crate::case::{ArgumentValue, Case};
use crate::profile::Profile;
use crate::random::{Choices, Random};

/// The random case of that seed: the same for ever, as long as the generator is not changed.
///
/// Its kernel is well typed, and its launch has no race, reads no memory before it is written, ends, and leaves the
/// same bytes under every scheduling. Unless the profile asks for faults, it has none.
pub fn generate(seed: u64, profile: &Profile) -> Case {
    Case { note: format!("seed {seed}"), ..make(profile, Random::seeded(seed)).case }
}

/// A case, and the choices that make it.
pub(crate) struct Made {
    pub(crate) case: Case,
    pub(crate) choices: Choices,
    pub(crate) spans: Vec<(usize, usize, usize)>,
}

/// The case of these choices, and those of them that it took.
pub(crate) fn make(profile: &Profile, random: Random) -> Made {
    let mut generator = Generator::new(random, profile);
    generator.set_up();
    let mut body = Vec::new();
    generator.random.turn_page();
    generator.begin(&mut body);
    generator.random.turn_page();
    generator.phases(&mut body);
    generator.random.turn_page();
    generator.finish(&mut body);
    generator.kernel.body = body;
    let case = Case {
        note: String::new(),
        blocks: generator.shape.blocks,
        threads: generator.shape.threads,
        warp_size: if generator.warps { profile.warp_size } else { 0 },
        shared_len: generator.shared_len,
        arguments: generator.arguments,
        kernel: generator.kernel,
    };
    Made { case, choices: generator.random.made, spans: generator.random.spans }
}

/// The file that sites of random kernels name.
const FILE: &str = "random";
/// The chance that a part of a kernel ends before its next statement, though its budget is not used up: one in this
/// number.
const END: u32 = 500;
/// The greatest size, as a tree, of an expression that is used again.
const MOST_SHARED: u32 = 24;

#[derive(Clone, Debug, Default)]
struct Shape {
    blocks: Vec<u32>,
    threads: Vec<u32>,
    /// The number of threads per block.
    block: u32,
    /// The number of blocks.
    grid: u32,
}

/// The map from the elements of a block's part of memory to the threads of the block that own them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// Each thread owns the elements of its own index.
    Straight,
    /// Each thread owns the elements of its index counted from the end.
    Mirrored,
    /// Each thread owns the elements this many indices further, modulo the threads per block.
    Turned(u32),
}

/// A kind of atomic operation whose order does not show in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SumKind {
    /// The operations are additions and subtractions; of floats, of small whole numbers.
    Add,
    /// The operation is always this one, which is commutative.
    One(AtomicOp),
    /// The operation and its operand are always the same.
    Same(AtomicOp, u64),
    /// The operation is always the same compare-exchange.
    Exchange(u64, u64),
}

/// The accesses that a part of memory permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Permission {
    Own(Owner),
    Open,
    Sum(SumKind),
}

/// A part of memory that the threads of each block share out: `per` elements each.
#[derive(Clone, Debug)]
struct Region {
    place: Place,
    element: Type,
    /// The extent of the whole place.
    extent: Vec<u32>,
    atomic: bool,
    /// Whether each block has its part of it; else it is in the block's own memory.
    global: bool,
    per: u32,
    /// Whether a thread's elements lie one after another, or a stride of the number of threads apart.
    packed: bool,
    /// Whether the state of the region cannot change.
    fixed: bool,
    /// The first parameter of the view, where its elements are several numbers and the region is one of them.
    group: Option<ParamId>,
    state: Permission,
}

impl Region {
    /// The number of elements that a block has in the region.
    fn block_len(&self, shape: &Shape) -> u32 {
        self.per * shape.block
    }
}

/// A view that all blocks use together, for the whole launch: read by all, or a sum.
#[derive(Clone, Debug)]
struct Common {
    place: Place,
    element: Type,
    extent: Vec<u32>,
    /// The operations of the sum, or `None` if the view is read.
    sum: Option<SumKind>,
}

/// A label that a jump may name.
#[derive(Clone, Copy, Debug)]
struct Jump {
    label: Label,
    breaks: bool,
    continues: bool,
}

struct Generator<'p> {
    random: Random,
    profile: &'p Profile,
    kernel: Kernel,
    arguments: Vec<ArgumentValue>,
    shape: Shape,
    shared_len: u32,
    /// Whether the kernel uses its warps.
    warps: bool,

    /// For each expression: its type, its size as a tree, and whether it is the same for the whole block.
    types: Vec<Type>,
    sizes: Vec<u32>,
    uniform: Vec<bool>,
    known: HashMap<Expr, ExprId>,
    /// Values that may be used again.
    pool: Vec<ExprId>,
    /// Whether only values that are the same for the whole block are wanted.
    uniform_only: bool,

    /// Slots that random statements set.
    vars: Vec<SlotId>,
    /// Slots that have the same value in the whole block; set where the control flow is the same too.
    uniform_vars: Vec<SlotId>,
    /// All slots whose value is the same for the whole block.
    uniform_slots: Vec<SlotId>,
    /// Slots that are set for a purpose, and read by random expressions too.
    readable: Vec<SlotId>,
    /// Slots that nothing reads: they hold what depends on scheduling.
    sinks: Vec<SlotId>,
    /// Slots for parts of indices.
    temps: Vec<SlotId>,

    scalars: Vec<(Type, ParamId)>,
    regions: Vec<Region>,
    commons: Vec<Common>,
    locals: Vec<(LocalId, Type, u32)>,
    /// The arrays of constants.
    constants: Vec<(LocalId, Type, u32)>,
    /// The digest's view, and what the last thread's reduction needs: the counter and the total.
    digest: Option<(Place, Vec<u32>)>,
    last: Option<(Place, Place)>,

    /// The thread's index in its block, the block's in the grid, and the thread's in the grid.
    thread: ExprId,
    block: ExprId,
    in_grid: ExprId,

    labels: u32,
    line: u32,
    /// The number of statements that may still be made.
    budget: u32,
    /// The most often that the present statement runs.
    repeats: u32,
    /// Whether no barrier comes any more.
    tail: bool,
}

impl<'p> Generator<'p> {
    fn new(random: Random, profile: &'p Profile) -> Generator<'p> {
        let site = Site { file: FILE, line: 1, column: 1 };
        Generator {
            random,
            profile,
            kernel: Kernel::new("random", site, 1),
            arguments: Vec::new(),
            shape: Shape::default(),
            shared_len: 0,
            warps: false,
            types: Vec::new(),
            sizes: Vec::new(),
            uniform: Vec::new(),
            known: HashMap::new(),
            pool: Vec::new(),
            uniform_only: false,
            vars: Vec::new(),
            uniform_vars: Vec::new(),
            uniform_slots: Vec::new(),
            readable: Vec::new(),
            sinks: Vec::new(),
            temps: Vec::new(),
            scalars: Vec::new(),
            regions: Vec::new(),
            commons: Vec::new(),
            locals: Vec::new(),
            constants: Vec::new(),
            digest: None,
            last: None,
            thread: ExprId(0),
            block: ExprId(0),
            in_grid: ExprId(0),
            labels: 0,
            line: 1,
            budget: profile.size.max(1),
            repeats: 1,
            tail: false,
        }
    }

    /// The phases of the kernel, and a last part without barriers.
    fn phases(&mut self, out: &mut Vec<Stmt>) {
        // A third of the statements is for the last part, where threads may return.
        self.budget = (self.profile.size * 2 / 3).max(1);
        while self.budget > 0 && self.random.more(0, END) {
            self.uniform_item(2, &mut Vec::new(), out);
        }
        self.open_all(out);
        self.tail = true;
        self.budget = (self.profile.size / 3).max(1);
        while self.budget > 0 && self.random.more(0, END) {
            self.statement(3, &mut Vec::new(), out);
        }
    }
}
