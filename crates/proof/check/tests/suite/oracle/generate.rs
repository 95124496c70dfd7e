//! Random cases: correct or nearly correct idioms, with changes.

use wattle_ir::{AtomicOp, WarpOp};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

use super::motifs::{apart, fragment, side_by_side};
use super::{Case, Cell, Index, LEN, Launch, Memory, REGISTERS, Step, Test, Value, Who, any};

/// The maximum number of such events: the search orders them in all ways that the model distinguishes, which takes long
/// for many.
const MOST_EVENTS: u32 = 6;

/// Generates the case with this number.
pub fn generate(number: u64) -> Case {
    let random = &mut Random(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x6f72_6163_6c65);
    let count = random.weighted(&[(62, 1), (26, 2), (7, 3), (5, 4)]);
    let mut launches: Vec<Launch> = (0..count).map(|_| launch(random, count)).collect();
    if count == 4 {
        // Two on each queue: what a queue does, cut in two.
        for (queue, part) in side_by_side(random).into_iter().enumerate() {
            let at = random.below(part.len() as u32 + 1) as usize;
            for (launch, body) in launches[2 * queue..].iter_mut().zip([&part[..at], &part[at..]]) {
                *launch = Launch { queue, blocks: 1, threads: 1, body: body.to_vec(), ..launch.clone() };
            }
        }
    } else if count > 1 && random.chance(40) {
        for (launch, part) in launches.iter_mut().zip(apart(random)) {
            launch.body = part;
        }
    } else if count > 1 && random.chance(60) {
        // A wait for another launch can end only if that one runs at the same time or before.
        launches.iter_mut().for_each(|launch| launch.queue = 0);
    }
    for launch in &mut launches {
        for _ in 0..random.weighted(&[(60, 0), (30, 1), (10, 2)]) {
            change(random, &mut launch.body);
        }
        if random.chance(85) {
            initialize(&mut launch.body);
        }
    }
    let mut case = Case { unwritten: random.chance(5), launches };
    while events(&case) > MOST_EVENTS
        && let Some(launch) = case.launches.iter_mut().max_by_key(|launch| launch.blocks * launch.threads)
        && launch.blocks * launch.threads > 1
    {
        *(if launch.blocks > launch.threads { &mut launch.blocks } else { &mut launch.threads }) -= 1;
    }
    case
}

/// An estimate of the number of atomic writes and sequentially consistent fences in all threads.
fn events(case: &Case) -> u32 {
    fn of(body: &[Step]) -> u32 {
        let of_one = |step: &Step| match step {
            Step::AtomicStore { .. } | Step::Update { .. } | Step::CompareExchange { .. } => 1,
            Step::Fence { order: FenceOrder::SeqCst, .. } => 1,
            Step::If { test: Test::Who { .. }, then, otherwise } => of(then).max(of(otherwise)).div_ceil(2),
            Step::If { then, otherwise, .. } => of(then).max(of(otherwise)),
            Step::Repeat { body, .. } => 2 * of(body),
            Step::Wait { body, look, failed, .. } => of(std::slice::from_ref(look)) + 3 * (of(body) + of(failed)),
            Step::Load { .. }
            | Step::Store { .. }
            | Step::AtomicLoad { .. }
            | Step::Fence { .. }
            | Step::Barrier
            | Step::Warp { .. }
            | Step::WarpBarrier
            | Step::Assert { .. }
            | Step::Divide { .. }
            | Step::Return => 0,
        };
        body.iter().map(of_one).sum()
    }
    case.launches.iter().map(|launch| launch.blocks * launch.threads * of(&launch.body)).sum()
}

fn launch(random: &mut Random, launches: u32) -> Launch {
    let shapes: &[(u32, (u32, u32))] = if launches == 1 {
        &[(6, (1, 2)), (6, (2, 1)), (4, (1, 3)), (3, (3, 1)), (4, (2, 2)), (1, (2, 3)), (1, (3, 2)), (1, (3, 3))]
    } else {
        &[(4, (1, 1)), (5, (1, 2)), (5, (2, 1)), (1, (2, 2)), (1, (1, 3))]
    };
    let (blocks, threads) = random.weighted(shapes);
    let shape = Shape { blocks, threads };
    let fragments = if blocks * threads > 3 || launches > 1 { 1 } else { random.weighted(&[(5, 1), (4, 2)]) };
    let body = (0..fragments).flat_map(|_| fragment(random, shape)).collect();
    let (queue, lanes) = (random.below(2) as usize, random.weighted(&[(3, 2), (4, 4), (1, 1)]));
    Launch { queue, blocks, threads, lanes, body }
}

/// Makes the first thread of each block write the block's memory, and the others wait for it.
fn initialize(body: &mut Vec<Step>) {
    let cells = |memory| (0..LEN).map(move |index| Cell { memory, index: Index::At(index) });
    let mut first = Vec::new();
    if any(body, &mut |step| step.cell().is_some_and(|cell| cell.memory == Memory::Tile)) {
        first.extend(cells(Memory::Tile).map(|cell| Step::Store { cell, value: Value::Is(0) }));
    }
    if any(body, &mut |step| step.cell().is_some_and(|cell| cell.memory == Memory::Marks)) {
        let (value, order, scope) = (Value::Is(0), WriteOrder::Relaxed, Scope::Block);
        first.extend(cells(Memory::Marks).map(|cell| Step::AtomicStore { cell, value, order, scope }));
    }
    if !first.is_empty() {
        let test = Test::Who { who: Who::Thread, value: 0 };
        body.splice(0..0, [Step::If { test, then: first, otherwise: vec![] }, Step::Barrier]);
    }
}

/// The number of blocks, and of threads per block.
#[derive(Clone, Copy)]
pub struct Shape {
    pub blocks: u32,
    pub threads: u32,
}

/// Inserts or removes a statement anywhere.
fn change(random: &mut Random, body: &mut Vec<Step>) {
    let inner: Vec<usize> = (0..body.len()).filter(|&at| !body[at].blocks().is_empty()).collect();
    if !inner.is_empty() && random.chance(60) {
        let at = inner[random.below(inner.len() as u32) as usize];
        let mut blocks = body[at].blocks_mut();
        let block = random.below(blocks.len() as u32) as usize;
        return change(random, blocks.swap_remove(block));
    }
    let at = random.below(body.len() as u32 + 1) as usize;
    if at < body.len() && random.chance(35) {
        body.remove(at);
    } else {
        let step = random.step();
        body.insert(at, step);
    }
}

/// A repeatable generator (splitmix64), and random parts of statements.
pub struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.next() as u32) * u64::from(bound)) >> 32) as u32
    }

    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    pub fn weighted<T: Copy>(&mut self, choices: &[(u32, T)]) -> T {
        let mut left = self.below(choices.iter().map(|(weight, _)| weight).sum());
        for &(weight, choice) in choices {
            if left < weight {
                return choice;
            }
            left -= weight;
        }
        choices[0].1
    }

    pub fn register(&mut self) -> u8 {
        self.below(REGISTERS.into()) as u8
    }

    pub fn scope(&mut self) -> Scope {
        self.weighted(&[(3, Scope::Block), (7, Scope::Device), (1, Scope::System)])
    }

    pub fn read_order(&mut self) -> ReadOrder {
        self.weighted(&[(1, ReadOrder::Relaxed), (1, ReadOrder::Acquire)])
    }

    pub fn write_order(&mut self) -> WriteOrder {
        self.weighted(&[(1, WriteOrder::Relaxed), (1, WriteOrder::Release)])
    }

    pub fn update_order(&mut self) -> UpdateOrder {
        use UpdateOrder::{AcqRel, Acquire, Relaxed, Release};
        self.weighted(&[(3, Relaxed), (2, Acquire), (2, Release), (3, AcqRel)])
    }

    pub fn fence(&mut self) -> Step {
        use FenceOrder::{AcqRel, Acquire, Release, SeqCst};
        let order = self.weighted(&[(2, Acquire), (2, Release), (2, AcqRel), (2, SeqCst)]);
        Step::Fence { order, scope: self.scope() }
    }

    fn index(&mut self) -> Index {
        match self.below(10) {
            0..6 => Index::At(self.below(LEN - 1)),
            6 => Index::Who(Who::Thread),
            7 => Index::Who(Who::Block),
            _ => Index::Register(self.register()),
        }
    }

    pub fn plain(&mut self) -> Cell {
        Cell { memory: self.weighted(&[(3, Memory::Data), (1, Memory::Tile)]), index: self.index() }
    }

    pub fn atomic(&mut self) -> Cell {
        Cell { memory: self.weighted(&[(6, Memory::Flags), (1, Memory::Marks)]), index: self.index() }
    }

    pub fn value(&mut self) -> Value {
        match self.below(10) {
            0..6 => Value::Is(self.below(3) + u32::from(self.below(3) != 0)),
            6 => Value::Register(self.register()),
            7 => Value::Next(self.register()),
            _ => Value::Who(self.weighted(&[(1, Who::Thread), (1, Who::Block)])),
        }
    }

    pub fn test(&mut self) -> Test {
        match self.below(4) {
            0 => Test::Who { who: Who::Thread, value: self.below(2) },
            1 => Test::Who { who: Who::Block, value: self.below(2) },
            _ => self.asks(),
        }
    }

    pub fn asks(&mut self) -> Test {
        Test::Register { register: self.register(), equals: self.chance(50), value: self.below(3) }
    }

    /// Draws an atomic access.
    pub fn atomic_step(&mut self) -> Step {
        let (to, cell, scope, value) = (self.register(), self.atomic(), self.scope(), self.value());
        match self.below(8) {
            0..3 => Step::AtomicLoad { to, cell, order: self.read_order(), scope },
            3..6 => Step::AtomicStore { cell, value, order: self.write_order(), scope },
            6 => {
                let op = self.weighted(&[(3, AtomicOp::Add), (2, AtomicOp::Exchange), (1, AtomicOp::Max)]);
                Step::Update { to, op, cell, value, order: self.update_order(), scope }
            }
            _ => {
                let (expected, order) = (self.below(2), self.update_order());
                Step::CompareExchange { to, cell, expected, desired: value, order, scope }
            }
        }
    }

    /// Draws an operation of the warp, or its barrier.
    pub fn warp(&mut self) -> Step {
        if self.chance(20) {
            return Step::WarpBarrier;
        }
        let op = WarpOp::ALL[self.below(WarpOp::ALL.len() as u32) as usize];
        Step::Warp { to: self.register(), op, value: self.register(), operand: self.below(3) }
    }

    /// Draws any statement.
    pub fn step(&mut self) -> Step {
        match self.below(21) {
            20 => self.warp(),
            0..3 => Step::Load { to: self.register(), cell: self.plain() },
            3..5 => Step::Store { cell: self.plain(), value: self.value() },
            5..11 => self.atomic_step(),
            11..13 => self.fence(),
            13..15 => Step::Barrier,
            15 => {
                let then = vec![self.step()];
                let otherwise = if self.chance(50) { vec![self.step()] } else { vec![] };
                Step::If { test: self.test(), then, otherwise }
            }
            16 => Step::Repeat { count: 2, body: vec![self.step()] },
            17 => Step::Assert { test: self.asks() },
            18 => Step::Divide { to: self.register(), by: self.register() },
            _ => Step::If { test: self.test(), then: vec![Step::Return], otherwise: vec![] },
        }
    }
}
