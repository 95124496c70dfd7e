//! Random small programs, the same for the same seed, and smaller ones that still have a property.

#![allow(dead_code, reason = "each test uses its part")]

use wattle_memory::{Label, Level, Placement};

use crate::script::{Op, Program, Value, constant};

/// A SplitMix64 generator, which is enough for tests.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// A program with the placements of its threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub program: Program,
    pub places: Vec<Placement>,
}

/// A program of up to `accesses` accesses, and some fences.
pub fn case(random: &mut Random, accesses: u64) -> Case {
    // Most cells are either plain or atomic, as kernels have them.
    let drawn = draw(random, 3, accesses, |random| {
        let plain: Vec<bool> = (0..3).map(|_| random.one_in(3)).collect();
        (random.one_in(4), plain)
    });
    // Brute force takes too long for a few of them.
    if candidates(&drawn.program) > 100_000 { case(random, accesses) } else { drawn }
}

/// The same, but that both ways of a branch come to the same only by equal statements.
pub fn with_equal_arms(random: &mut Random, accesses: u64) -> Case {
    loop {
        let case = case(random, accesses);
        if case.program.iter().all(|ops| have_equal_arms(ops)) {
            return case;
        }
    }
}

/// Whether the statements that are done if a register has a value are those that are done if it has not, where both are there.
fn have_equal_arms(ops: &[Op]) -> bool {
    ops.iter().enumerate().all(|(at, op)| {
        let Op::SkipUnless { equal: false, count, .. } = *op else { return true };
        at >= count && ops[at - count..at] == ops[at + 1..at + 1 + count]
    })
}

/// A program of two to four threads and up to ten accesses, half of which are plain: of some cells, or of any. It has no
/// more candidate executions than `most`, about.
pub fn half_plain(random: &mut Random, most: u64) -> Case {
    let drawn = draw(random, 4, 10, |random| {
        let first = random.one_in(2);
        (random.one_in(4), vec![first, !first, random.one_in(2)])
    });
    if candidates(&drawn.program) > most { half_plain(random, most) } else { drawn }
}

/// Load buffering whose one thread stores what it has read plainly, reads it again, and stores the same if the two are
/// equal; sometimes something orders the two, or the other thread touches the cell too.
pub fn forwarding(random: &mut Random) -> Case {
    let plain = |random: &mut Random| {
        let registers = if random.one_in(4) { Vec::new() } else { vec![0] };
        let constant = if random.one_in(4) { 1 } else { 0 };
        Op::Store { cell: 2, value: Value { constant, registers }, label: Label::plain_write() }
    };
    let relaxed = Label { atomic: true, level: Level::Device, ..Label::plain_read() };
    let write = Label { atomic: true, level: Level::Device, ..Label::plain_write() };
    let mut first = vec![Op::Load { to: 0, cell: 0, label: relaxed }, plain(random)];
    if random.one_in(6) {
        let other = Op::Load { to: 3, cell: random.below(2), label: Label { acquire: random.one_in(2), ..relaxed } };
        first.insert(random.below(3) as usize, other);
    }
    if random.one_in(4) {
        first.push(Op::Fence { label: fence(random) });
    }
    let label = if random.one_in(6) { relaxed } else { Label::plain_read() };
    first.push(Op::Load { to: 2, cell: 2, label });
    for equal in [true, false] {
        let unless = |register, count| Op::SkipUnless { register, value: 1, equal, count };
        let value = if random.one_in(4) { Value { constant: 0, registers: vec![2] } } else { constant(1) };
        first.extend([unless(0, 2), unless(2, 1), Op::Store { cell: 1, value, label: write }]);
    }
    let mut second = Vec::new();
    if random.one_in(6) {
        second.push(plain(random));
    }
    second.push(Op::Load { to: 1, cell: 1, label: relaxed });
    let registers = if random.one_in(4) { Vec::new() } else { vec![1] };
    second.push(Op::Store { cell: 0, value: Value { constant: random.below(2), registers }, label: write });
    Case { program: vec![first, second], places: vec![Placement::new(0, 0), Placement::new(1, 1)] }
}

/// Two or three threads, each of which reads a cell or two and writes to others what it has read, or only then.
pub fn dependent(random: &mut Random) -> Case {
    let threads = 2 + random.below(2);
    let label = |random: &mut Random, label: Label, orders: fn(Label) -> Label| {
        let level = if random.one_in(6) { Level::Block } else { Level::Device };
        let label = Label { level, ..label };
        if random.one_in(4) { orders(label) } else { label }
    };
    let relaxed = (Label::atomic_read(Level::Device), Label::atomic_write(Level::Device));
    let mut program = Program::new();
    for thread in 0..threads {
        let mut ops = Vec::new();
        for to in 0..1 + usize::from(random.one_in(3)) {
            let (cell, expected, number) = (random.below(threads), random.below(2), 1 + random.below(2));
            let read = label(random, relaxed.0, Label::acquiring);
            let write = Label { level: read.level, ..label(random, relaxed.1, Label::releasing) };
            ops.push(match random.below(8) {
                0 => Op::Add { to, cell, value: constant(number), read, write },
                1 => Op::Exchange { to, cell, value: constant(number), read, write },
                2 => Op::CompareExchange { to, cell, expected, desired: number, read, write, succeeded: None },
                _ => Op::Load { to, cell, label: read },
            });
        }
        if random.one_in(4) {
            ops.push(Op::Fence { label: fence(random) });
        }
        for _ in 0..1 + random.below(2) {
            let register = random.below(2) as usize;
            let cell = (thread + 1 + random.below(threads - 1)) % threads;
            let label = label(random, relaxed.1, Label::releasing);
            if random.one_in(2) {
                let value = Value { constant: random.below(2), registers: vec![register] };
                ops.push(Op::Store { cell, value, label });
            } else {
                let number = 1 + random.below(2);
                let unless = |random: &mut Random, register, count| {
                    let (value, equal) = (random.below(3), random.one_in(2));
                    Op::SkipUnless { register, value, equal, count }
                };
                if random.one_in(4) {
                    ops.push(unless(random, 1 - register, 2));
                }
                ops.push(unless(random, register, 1));
                ops.push(Op::Store { cell, value: constant(number), label });
            }
        }
        program.push(ops);
    }
    let blocks = 1 + random.below(threads) as u32;
    let places = (0..threads as u32).map(|thread| Placement::new(thread % blocks, thread)).collect();
    let drawn = Case { program, places };
    if candidates(&drawn.program) > 5_000 { dependent(random) } else { drawn }
}

/// A program of up to `most` threads. `plainness` draws whether any access may be plain, and else which cells are.
fn draw(random: &mut Random, most: u64, accesses: u64, plainness: impl Fn(&mut Random) -> (bool, Vec<bool>)) -> Case {
    let threads = 2 + random.below(most - 1) as usize;
    let elsewhere = random.one_in(8);
    let blocks = 1 + random.below(2) as u32;
    let subgroups = random.one_in(2);
    let places = (0..threads).map(|thread| {
        let block = random.below(u64::from(blocks)) as u32;
        let device = if elsewhere && random.one_in(2) { Placement::HOST } else { 0 };
        let subgroup = if subgroups { thread as u32 } else { 0 };
        Placement { device, subgroup, ..Placement::new(block, thread as u32) }
    });
    let places = places.collect();
    let (mixed, plain) = plainness(random);
    let mut program: Program = vec![Vec::new(); threads];
    let total = 2 + random.below(accesses - 1);
    for number in 0..total {
        let thread = random.below(threads as u64) as usize;
        let cell = if random.one_in(6) { 2 } else { random.below(2) };
        let is_plain = if mixed { random.one_in(2) } else { plain[cell as usize] };
        if random.one_in(3) {
            let fence = Op::Fence { label: fence(random) };
            program[thread].push(fence);
        }
        let op = access(random, cell, is_plain, number, program[thread].len());
        let register = read_register(&op);
        program[thread].push(op);
        if let Some(register) = register.filter(|_| random.one_in(8)) {
            program[thread].push(Op::Require { register, value: random.below(3) });
        } else if let Some(register) = register.filter(|_| random.one_in(4)) {
            let value = random.below(2);
            program[thread].push(Op::SkipUnless { register, value, equal: true, count: 1 });
            // Sometimes both ways come to the same.
            if random.one_in(3) {
                let cell = random.below(2);
                let op = access(random, cell, is_plain, number, program[thread].len());
                let other = like(random, &op);
                // Behind fences that may come to the same, too.
                let fences: Vec<Op> = match random.one_in(4) {
                    true => [fence(random), fence(random)].map(|label| Op::Fence { label }).to_vec(),
                    false => Vec::new(),
                };
                if let Some(last) = program[thread].last_mut()
                    && let Op::SkipUnless { count, .. } = last
                {
                    *count = 1 + fences.len() / 2;
                }
                program[thread].extend(fences.first().cloned());
                program[thread].push(op);
                let count = 1 + fences.len() / 2;
                program[thread].push(Op::SkipUnless { register, value, equal: false, count });
                program[thread].extend(fences.last().cloned());
                program[thread].push(other);
            }
        }
    }
    Case { program, places }
}

/// An estimate of the number of candidate executions of a program: the sources of its reads times the orders of its
/// writes.
pub fn candidates(program: &Program) -> u64 {
    let accesses = |cell: u64| {
        let mut both = [0, 0];
        for op in program.iter().flatten() {
            both[0] += u64::from(reads_cell(op) == Some(cell));
            both[1] += u64::from(writes_cell(op) == Some(cell));
        }
        both
    };
    (0..3)
        .map(|cell| {
            let [reads, writes] = accesses(cell);
            (writes + 1).pow(reads as u32) * (1..=writes).product::<u64>()
        })
        .product()
}

fn reads_cell(op: &Op) -> Option<u64> {
    match op {
        Op::Load { cell, .. } | Op::Add { cell, .. } | Op::Exchange { cell, .. } | Op::CompareExchange { cell, .. } => {
            Some(*cell)
        }
        _ => None,
    }
}

fn writes_cell(op: &Op) -> Option<u64> {
    match op {
        Op::Store { cell, .. }
        | Op::Add { cell, .. }
        | Op::Exchange { cell, .. }
        | Op::CompareExchange { cell, .. } => Some(*cell),
        _ => None,
    }
}

pub fn read_register(op: &Op) -> Option<usize> {
    match op {
        Op::Load { to, .. } | Op::Add { to, .. } | Op::Exchange { to, .. } | Op::CompareExchange { to, .. } => {
            Some(*to)
        }
        _ => None,
    }
}

/// The same access, sometimes of another scope.
fn like(random: &mut Random, op: &Op) -> Op {
    let level = random.one_in(3).then(|| level(random));
    let scoped = |label: &Label| Label { level: level.filter(|_| label.atomic).unwrap_or(label.level), ..*label };
    match op.clone() {
        Op::Load { to, cell, label } => Op::Load { to, cell, label: scoped(&label) },
        Op::Store { cell, value, label } => Op::Store { cell, value, label: scoped(&label) },
        Op::Exchange { to, cell, value, read, write } => {
            Op::Exchange { to, cell, value, read: scoped(&read), write: scoped(&write) }
        }
        Op::Add { to, cell, value, read, write } => {
            Op::Add { to, cell, value, read: scoped(&read), write: scoped(&write) }
        }
        other => other,
    }
}

fn level(random: &mut Random) -> Level {
    random.pick(&[Level::Block, Level::Block, Level::Device, Level::Device, Level::System])
}

fn fence(random: &mut Random) -> Label {
    let label = Label::fence(level(random));
    match random.below(5) {
        0 => label.acquiring(),
        1 => label.releasing(),
        2 => label.acquiring().releasing(),
        _ => label.sequentially_consistent(),
    }
}

fn access(random: &mut Random, cell: u64, plain: bool, number: u64, at: usize) -> Op {
    let to = at % 8;
    let value = match random.below(6) {
        0 if at > 0 => Value { constant: random.below(2), registers: vec![random.below(at as u64) as usize % 8] },
        1 => constant(1 + random.below(2)),
        _ => constant(1 + number),
    };
    if plain {
        return match random.below(2) {
            0 => Op::Load { to, cell, label: Label::plain_read() },
            _ => Op::Store { cell, value, label: Label::plain_write() },
        };
    }
    let level = level(random);
    let (mut read, mut write) = (Label::atomic_read(level), Label::atomic_write(level));
    if random.one_in(3) {
        read = read.acquiring();
    }
    if random.one_in(3) {
        write = write.releasing();
    }
    match random.below(9) {
        0..=2 => Op::Load { to, cell, label: read },
        3..=5 => Op::Store { cell, value, label: write },
        6 => {
            let read = Label { reduces: !read.acquire && random.one_in(2), ..read };
            Op::Add { to, cell, value, read, write }
        }
        7 => Op::Exchange { to, cell, value, read, write },
        _ => {
            let succeeded = (!read.acquire && random.one_in(3)).then(|| read.acquiring());
            Op::CompareExchange { to, cell, expected: random.below(3), desired: 1 + number, read, write, succeeded }
        }
    }
}

/// The same case for Vulkan: one device, no system scope, atomics available and visible by themselves.
pub fn for_vulkan(case: &Case) -> Case {
    let mut case = case.clone();
    case.places.iter_mut().for_each(|place| place.device = 0);
    for label in case.program.iter_mut().flatten().flat_map(labels) {
        label.level = label.level.min(Level::Device);
        label.coherent = label.atomic;
        label.reduces = false;
    }
    case
}

pub fn labels(op: &mut Op) -> Vec<&mut Label> {
    match op {
        Op::Load { label, .. } | Op::Store { label, .. } | Op::Fence { label } => vec![label],
        Op::Add { read, write, .. } | Op::Exchange { read, write, .. } => vec![read, write],
        Op::CompareExchange { read, write, succeeded, .. } => [read, write].into_iter().chain(succeeded).collect(),
        _ => Vec::new(),
    }
}

/// Shrinks a case as long as it still has the property.
pub fn shrink(case: &Case, holds: impl Fn(&Case) -> bool) -> Case {
    let mut least = case.clone();
    loop {
        let smaller = simpler(&least).into_iter().find(|candidate| holds(candidate));
        match smaller {
            Some(smaller) => least = smaller,
            None => return least,
        }
    }
}

fn simpler(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    if let Some(empty) = case.program.iter().position(Vec::is_empty) {
        let mut next = case.clone();
        next.program.remove(empty);
        next.places.remove(empty);
        all.push(next);
    }
    for (thread, ops) in case.program.iter().enumerate() {
        for (at, op) in ops.iter().enumerate() {
            let mut next = case.clone();
            next.program[thread].remove(at);
            all.push(next);
            for change in weaker(op) {
                let mut next = case.clone();
                next.program[thread][at] = change;
                all.push(next);
            }
        }
    }
    all
}

fn weaker(op: &Op) -> Vec<Op> {
    let mut all = Vec::new();
    if let Op::Add { to, cell, value, read, write } = op {
        all.push(Op::Load { to: *to, cell: *cell, label: *read });
        all.push(Op::Store { cell: *cell, value: value.clone(), label: *write });
        all.push(Op::Exchange { to: *to, cell: *cell, value: value.clone(), read: *read, write: *write });
    }
    if let Op::Exchange { to, cell, value, read, write } = op {
        all.push(Op::Load { to: *to, cell: *cell, label: *read });
        all.push(Op::Store { cell: *cell, value: value.clone(), label: *write });
    }
    let mut next = op.clone();
    if let Op::CompareExchange { succeeded, .. } = &mut next
        && succeeded.take().is_some()
    {
        all.push(next);
    }
    if let Op::Store { cell, value, label } = op
        && !value.registers.is_empty()
    {
        all.push(Op::Store { cell: *cell, value: constant(value.constant.max(1)), label: *label });
    }
    if let Op::Fence { label } = op
        && label.sc
    {
        all.push(Op::Fence { label: Label { sc: false, ..*label } });
    }
    for (acquire, release) in [(false, true), (true, false)] {
        let mut next = op.clone();
        for label in labels(&mut next) {
            let old = *label;
            *label = Label { acquire: old.acquire && acquire, release: old.release && release, ..old };
            label.sc &= label.acquire && label.release;
            label.makes_visible = label.acquire;
            label.makes_available = label.release;
        }
        if next != *op {
            all.push(next);
        }
    }
    all
}

/// A case in a few lines.
pub fn show(case: &Case) -> String {
    let word = |label: &Label| {
        let order = match (label.atomic, label.sc, label.acquire, label.release) {
            (_, true, ..) => "sc",
            (_, _, true, true) => "acq_rel",
            (_, _, true, _) => "acquire",
            (_, _, _, true) => "release",
            (true, ..) => "relaxed",
            _ => return "plain".to_owned(),
        };
        format!("{order} {:?}", label.level).to_lowercase()
    };
    let value = |value: &Value| {
        let registers: String = value.registers.iter().map(|r| format!("+r{r}")).collect();
        format!("{}{registers}", value.constant)
    };
    let mut text = String::new();
    for (thread, (ops, place)) in case.program.iter().zip(&case.places).enumerate() {
        let (device, block, subgroup) = (place.device as i32, place.block, place.subgroup);
        text += &format!("  thread {thread} (device {device}, block {block}, subgroup {subgroup}):\n");
        for op in ops {
            text += "    ";
            text += &match op {
                Op::Load { to, cell, label } => format!("r{to} = load c{cell} {}", word(label)),
                Op::Store { cell, value: v, label } => format!("store c{cell} {} {}", value(v), word(label)),
                Op::Add { to, cell, value: v, read, write } => {
                    format!("r{to} = add c{cell} {} {}/{}", value(v), word(read), word(write))
                }
                Op::Exchange { to, cell, value: v, read, write } => {
                    format!("r{to} = exchange c{cell} {} {}/{}", value(v), word(read), word(write))
                }
                Op::CompareExchange { to, cell, expected, desired, read, write, succeeded } => {
                    let other = succeeded.as_ref().map(|label| format!(" or {}", word(label))).unwrap_or_default();
                    format!("r{to} = cas c{cell} {expected}->{desired} {}/{}{other}", word(read), word(write))
                }
                Op::Fence { label } => format!("fence {}", word(label)),
                Op::Require { register, value } => format!("require r{register} == {value}"),
                Op::SkipUnless { register, value, equal, count } => {
                    format!("if r{register} {} {value}: next {count}", if *equal { "==" } else { "!=" })
                }
                other => format!("{other:?}"),
            };
            text.push('\n');
        }
    }
    text
}
