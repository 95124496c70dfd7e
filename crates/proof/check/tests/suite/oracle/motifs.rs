//! Motifs of kernels: publications, locks, tickets, barriers. Each is sometimes correct and otherwise nearly correct.

use wattle_ir::{AtomicOp, WarpOp};
use wattle_memory::{FenceOrder, ReadOrder, Scope, UpdateOrder, WriteOrder};

use super::generate::{Random, Shape};
use super::{Cell, Index, Memory, Step, Test, Value, Who};

/// A fragment of a kernel for all threads of a launch.
pub fn fragment(random: &mut Random, shape: Shape) -> Vec<Step> {
    match random.below(32) {
        28.. if shape.blocks > 1 && shape.threads > 1 => together(random),
        26.. => onlookers(random, shape),
        20..26 => lanes(random, shape),
        0..6 => publication(random, shape),
        6..8 => barrier_exchange(random),
        8..10 => tickets(random, shape),
        10 => lock(random),
        11..14 => branches(random, shape),
        14..17 => {
            let roles = shape.blocks.max(shape.threads).min(2);
            let who = who(random, shape);
            (0..roles).map(|value| role(who, value, accesses(random))).collect()
        }
        17 => vec![Step::Store { cell: own(random, Memory::Data, shape), value: random.value() }],
        18 => vec![Step::Load { to: random.register(), cell: random.plain() }],
        _ => (0..2).map(|_| random.step()).collect(),
    }
}

fn who(random: &mut Random, shape: Shape) -> Who {
    match (shape.blocks > 1, shape.threads > 1) {
        (true, true) => random.weighted(&[(1, Who::Block), (1, Who::Thread)]),
        (true, false) => Who::Block,
        (false, _) => Who::Thread,
    }
}

fn role(who: Who, value: u32, then: Vec<Step>) -> Step {
    Step::If { test: Test::Who { who, value }, then, otherwise: vec![] }
}

fn at(memory: Memory, index: u32) -> Cell {
    Cell { memory, index: Index::At(index) }
}

/// An element of its own for each block, or for each thread of a block.
fn own(random: &mut Random, memory: Memory, shape: Shape) -> Cell {
    Cell { memory, index: Index::Who(who(random, shape)) }
}

/// Some atomic accesses with other statements between them.
fn accesses(random: &mut Random) -> Vec<Step> {
    let count = 1 + random.below(3);
    (0..count).map(|_| if random.chance(80) { random.atomic_step() } else { random.step() }).collect()
}

/// The statements of a wait besides its read.
fn beside(random: &mut Random) -> Vec<Step> {
    let count = random.weighted(&[(5, 0), (4, 1), (2, 2)]);
    let one = |random: &mut Random| match random.below(18) {
        16.. => idle(random),
        0..5 => Step::Load { to: random.register(), cell: random.plain() },
        5..7 => Step::Assert { test: random.asks() },
        7 => Step::Divide { to: random.register(), by: random.register() },
        8..10 => Step::AtomicLoad {
            to: random.register(),
            cell: random.atomic(),
            order: random.read_order(),
            scope: random.scope(),
        },
        10..12 => random.fence(),
        12 => Step::Store { cell: random.plain(), value: Value::Is(random.below(2)) },
        13 => Step::AtomicStore {
            cell: at(Memory::Flags, 2),
            value: Value::Is(1),
            order: random.write_order(),
            scope: random.scope(),
        },
        14 => Step::Barrier,
        _ => Step::If { test: random.asks(), then: vec![random.step()], otherwise: vec![] },
    };
    (0..count).map(|_| one(random)).collect()
}

/// An update of a cell that loops alone touch, if nothing else was put in, which mostly leaves what it finds.
fn idle(random: &mut Random) -> Step {
    let (to, cell, scope) = (random.register(), at(Memory::Flags, 2), random.scope());
    let order = if random.chance(70) { UpdateOrder::Relaxed } else { random.update_order() };
    match random.chance(70) {
        true => Step::Update { to, op: AtomicOp::Add, cell, value: Value::Is(0), order, scope },
        false => Step::CompareExchange { to, cell, expected: 3, desired: Value::Is(1), order, scope },
    }
}

/// One sets a flag, and the others wait for it, each with something of its own in its loop.
fn onlookers(random: &mut Random, shape: Shape) -> Vec<Step> {
    let (who, flag) = (who(random, shape), at(Memory::Flags, random.below(2)));
    let scope = if who == Who::Thread && random.chance(50) { Scope::Block } else { Scope::Device };
    let set = Step::AtomicStore { cell: flag, value: Value::Is(1), order: random.write_order(), scope };
    let mut all = vec![role(who, 0, vec![set])];
    for other in 1..shape.blocks.max(shape.threads).min(3) {
        let mut waiting = wait(random, flag, scope);
        if let Step::Wait { failed, .. } = &mut waiting {
            failed.push(idle(random));
        }
        all.push(role(who, other, vec![waiting]));
    }
    all
}

/// The first block publishes a value. In the second block one thread polls the flag, and the others get what it saw through shared
/// memory or a vote.
fn together(random: &mut Random) -> Vec<Step> {
    let (payload, flag) = (at(Memory::Data, random.below(2)), at(Memory::Flags, random.below(2)));
    let first = |then: Vec<Step>| role(Who::Thread, 0, then);
    let Step::Wait { mut body, look, failed, .. } = wait(random, flag, Scope::Device) else { return vec![] };
    let mut seen = random.register();
    if let Step::AtomicLoad { to, .. } | Step::CompareExchange { to, .. } | Step::Update { to, .. } = *look {
        seen = to;
    }
    body.push(*look);
    let told = random.register();
    let by_vote = random.chance(50);
    let look = if by_vote {
        Step::Warp { to: told, op: WarpOp::Any, value: seen, operand: 0 }
    } else {
        let cell = at(Memory::Tile, random.below(2));
        body.push(Step::Store { cell, value: Value::Register(seen) });
        Step::Load { to: told, cell }
    };
    let mut body = vec![first(body)];
    if !by_vote && random.chance(90) {
        body.push(Step::Barrier);
    }
    let mut failed = if random.chance(40) {
        vec![if random.chance(50) {
            first(failed)
        } else {
            Step::If { test: random.asks(), then: failed, otherwise: vec![] }
        }]
    } else {
        vec![]
    };
    if !by_vote && random.chance(90) {
        failed.push(Step::Barrier);
    }
    let until = Test::Register { register: told, equals: false, value: 0 };
    let mut waits = vec![Step::Wait { body, look: Box::new(look), until, failed }];
    if by_vote && random.chance(80) {
        waits.push(Step::WarpBarrier);
    }
    waits.push(Step::Load { to: random.register(), cell: payload });
    let publishes = writer(random, payload, flag, Scope::Device);
    vec![role(Who::Block, 0, vec![first(publishes)]), role(Who::Block, 1, waits)]
}

/// Waits until a flag is set; mostly correctly.
fn wait(random: &mut Random, cell: Cell, scope: Scope) -> Step {
    let register = random.register();
    let scope = if random.chance(92) { scope } else { random.scope() };
    let acquires = random.chance(88);
    let read = if acquires { ReadOrder::Acquire } else { ReadOrder::Relaxed };
    let update = if acquires { UpdateOrder::Acquire } else { UpdateOrder::Relaxed };
    let look = match random.below(8) {
        0..5 => Step::AtomicLoad { to: register, cell, order: read, scope },
        5 => Step::CompareExchange { to: register, cell, expected: 1, desired: Value::Is(2), order: update, scope },
        6 => Step::CompareExchange { to: register, cell, expected: 0, desired: Value::Is(0), order: update, scope },
        _ => Step::Update { to: register, op: AtomicOp::Add, cell, value: Value::Is(0), order: update, scope },
    };
    let until = match random.below(3) {
        0 => Test::Register { register, equals: true, value: 1 },
        _ => Test::Register { register, equals: false, value: 0 },
    };
    let body = if random.chance(20) { beside(random) } else { vec![] };
    Step::Wait { body, look: Box::new(look), until, failed: beside(random) }
}

/// One thread writes and sets a flag, another waits for the flag and reads.
fn publication(random: &mut Random, shape: Shape) -> Vec<Step> {
    let who = who(random, shape);
    let scope = if who == Who::Thread && random.chance(50) { Scope::Block } else { Scope::Device };
    let payload =
        at(if who == Who::Thread && random.chance(30) { Memory::Tile } else { Memory::Data }, random.below(2));
    let flag = at(Memory::Flags, random.below(2));
    let mut all = Vec::new();
    if random.chance(15) {
        // The kernel initializes this flag itself.
        let (value, order) = (Value::Is(0), WriteOrder::Relaxed);
        all.push(role(who, 0, vec![Step::AtomicStore { cell: flag, value, order, scope }]));
    }
    all.push(role(who, 0, writer(random, payload, flag, scope)));
    all.push(role(who, 1, reader(random, payload, flag, scope)));
    all
}

/// A publication from one launch to another.
pub fn apart(random: &mut Random) -> [Vec<Step>; 2] {
    two_sides(random).map(|body| vec![role(Who::Block, 0, vec![role(Who::Thread, 0, body)])])
}

fn two_sides(random: &mut Random) -> [Vec<Step>; 2] {
    let (payload, flag) = (at(Memory::Data, random.below(2)), at(Memory::Flags, random.below(2)));
    [writer(random, payload, flag, Scope::Device), reader(random, payload, flag, Scope::Device)]
}

/// What two queues do side by side, in launches of one thread: a publication, or a few accesses.
pub fn side_by_side(random: &mut Random) -> [Vec<Step>; 2] {
    if random.chance(40) {
        return two_sides(random);
    }
    [(); 2].map(|()| {
        let (first, second) = (access(random), access(random));
        if random.chance(30) { vec![first, access(random), second] } else { vec![first, second] }
    })
}

fn access(random: &mut Random) -> Step {
    let (flag, scope) = (at(Memory::Flags, random.below(2)), Scope::Device);
    match random.below(8) {
        0..3 => {
            Step::AtomicStore { cell: flag, value: Value::Is(1 + random.below(2)), order: random.write_order(), scope }
        }
        3..6 => Step::AtomicLoad { to: random.register(), cell: flag, order: random.read_order(), scope },
        6 => Step::Store { cell: at(Memory::Data, random.below(2)), value: Value::Is(1) },
        _ => Step::Load { to: random.register(), cell: at(Memory::Data, random.below(2)) },
    }
}

fn writer(random: &mut Random, payload: Cell, flag: Cell, scope: Scope) -> Vec<Step> {
    let mut body = Vec::new();
    if random.chance(12) {
        let (value, order) = (Value::Is(2 + random.below(2)), random.write_order());
        body.push(Step::AtomicStore { cell: flag, value, order, scope });
    }
    if random.chance(90) {
        body.push(Step::Store { cell: payload, value: Value::Is(1 + random.below(3)) });
    }
    let fenced = random.chance(30);
    if fenced {
        body.push(Step::Fence { order: FenceOrder::Release, scope });
    }
    let order = if fenced || random.chance(10) { WriteOrder::Relaxed } else { WriteOrder::Release };
    let scope = if random.chance(92) { scope } else { random.scope() };
    body.push(Step::AtomicStore { cell: flag, value: Value::Is(1), order, scope });
    body
}

fn reader(random: &mut Random, payload: Cell, flag: Cell, scope: Scope) -> Vec<Step> {
    let mut body = vec![wait(random, flag, scope)];
    if random.chance(25) {
        body.push(Step::Fence { order: FenceOrder::Acquire, scope });
    }
    let register = random.register();
    body.push(Step::Load { to: register, cell: payload });
    if random.chance(30) {
        body.push(Step::Assert { test: Test::Register { register, equals: false, value: 0 } });
    }
    if random.chance(15) {
        let cell = Cell { memory: Memory::Data, index: Index::Register(register) };
        body.push(Step::Load { to: random.register(), cell });
    }
    body
}

/// Each thread writes an element, and after a barrier reads another's.
fn barrier_exchange(random: &mut Random) -> Vec<Step> {
    let memory = random.weighted(&[(1, Memory::Data), (2, Memory::Tile)]);
    let mine = Cell { memory, index: Index::Who(Who::Thread) };
    let mut body = vec![Step::Store { cell: mine, value: Value::Is(1 + random.below(2)) }, Step::Barrier];
    body.push(Step::Load { to: random.register(), cell: at(memory, random.below(2)) });
    if random.chance(40) {
        body.push(Step::Barrier);
        body.push(Step::Store { cell: mine, value: Value::Next(random.register()) });
    }
    if random.chance(35) {
        if random.chance(70) {
            body.push(Step::Barrier);
        }
        body = vec![Step::Repeat { count: 2, body }];
    }
    body
}

/// Each thread takes a ticket; the last one reads what the others wrote.
fn tickets(random: &mut Random, shape: Shape) -> Vec<Step> {
    let mine = own(random, Memory::Data, shape);
    let register = random.register();
    let order = random.weighted(&[(4, UpdateOrder::AcqRel), (1, UpdateOrder::Release), (1, UpdateOrder::Relaxed)]);
    let (op, value, cell) = (AtomicOp::Add, Value::Is(1), at(Memory::Flags, random.below(2)));
    let scope = if random.chance(90) { Scope::Device } else { Scope::Block };
    let last = shape.blocks * shape.threads - 1;
    let then = vec![Step::Load { to: random.register(), cell: at(Memory::Data, random.below(2)) }];
    vec![
        Step::Store { cell: mine, value: Value::Is(1) },
        Step::Update { to: register, op, cell, value, order, scope },
        Step::If { test: Test::Register { register, equals: true, value: last }, then, otherwise: vec![] },
    ]
}

/// A spin lock around an update of a plain element.
fn lock(random: &mut Random) -> Vec<Step> {
    let (register, other) = (0, 1);
    let cell = at(Memory::Flags, random.below(2));
    let scope = if random.chance(90) { Scope::Device } else { Scope::Block };
    let order = if random.chance(85) { UpdateOrder::Acquire } else { UpdateOrder::Relaxed };
    let look = Step::CompareExchange { to: register, cell, expected: 0, desired: Value::Is(1), order, scope };
    let until = Test::Register { register, equals: true, value: 0 };
    let payload = at(Memory::Data, random.below(2));
    let release = if random.chance(85) { WriteOrder::Release } else { WriteOrder::Relaxed };
    vec![
        Step::Wait { body: vec![], look: Box::new(look), until, failed: beside(random) },
        Step::Load { to: other, cell: payload },
        Step::Store { cell: payload, value: Value::Next(other) },
        Step::AtomicStore { cell, value: Value::Is(0), order: release, scope },
    ]
}

/// The lanes of each warp exchange what they have read, and use it: as a value, an index or a condition.
fn lanes(random: &mut Random, shape: Shape) -> Vec<Step> {
    let mut body = Vec::new();
    if random.chance(60) {
        body.push(Step::Store { cell: own(random, Memory::Data, shape), value: random.value() });
    }
    let register = random.register();
    let access = match random.below(3) {
        0 => Step::Load { to: register, cell: random.plain() },
        1 => random.atomic_step(),
        _ => {
            let (cell, scope) = (at(Memory::Flags, random.below(2)), Scope::Device);
            Step::Update {
                to: register,
                op: AtomicOp::Add,
                cell,
                value: Value::Is(1),
                order: random.update_order(),
                scope,
            }
        }
    };
    let test = Test::Who { who: Who::Thread, value: 0 };
    body.push(if random.chance(40) { Step::If { test, then: vec![access], otherwise: vec![] } } else { access });
    for _ in 0..1 + random.below(2) {
        body.push(random.warp());
    }
    body.push(match random.below(5) {
        0 => Step::Store {
            cell: Cell { memory: Memory::Data, index: Index::Register(register) },
            value: Value::Register(register),
        },
        1 => {
            let then = vec![random.atomic_step()];
            Step::If { test: random.asks(), then, otherwise: vec![] }
        }
        2 => Step::Assert { test: random.asks() },
        3 => Step::AtomicStore {
            cell: random.atomic(),
            value: Value::Register(random.register()),
            order: random.write_order(),
            scope: Scope::Device,
        },
        _ => Step::Load { to: random.register(), cell: random.plain() },
    });
    if random.chance(30) {
        body.push(random.warp());
    }
    body
}

/// Barriers in branches and loops, which some threads pass and others do not.
fn branches(random: &mut Random, shape: Shape) -> Vec<Step> {
    let mut body = Vec::new();
    if random.chance(50) {
        body.push(Step::Store { cell: own(random, Memory::Data, shape), value: random.value() });
    }
    if random.chance(60) {
        body.push(random.atomic_step());
    }
    let some = |random: &mut Random| {
        let mut some = if random.chance(40) { vec![random.step()] } else { vec![] };
        if random.chance(75) {
            some.insert(random.below(some.len() as u32 + 1) as usize, Step::Barrier);
        }
        some
    };
    let (then, otherwise) = (some(random), some(random));
    let branch = match random.below(4) {
        0 => Step::Repeat { count: 2, body: then },
        _ => Step::If { test: random.test(), then, otherwise },
    };
    body.push(branch);
    if random.chance(40) {
        body.push(Step::Load { to: random.register(), cell: random.plain() });
    }
    body
}
