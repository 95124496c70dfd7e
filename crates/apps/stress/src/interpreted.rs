//! The kernel that runs any program on the host: an interpreter whose every operation is the language's own, so that
//! what runs is the host's column of the lowering table as rustc compiles it into kernels.
//!
//! The compiler cannot see two operations of a program together, so it reorders nothing: what is tested is the
//! processor and the table, not the compiler. Scenarios as they are written test that too.

use wattle::prelude::*;
use wattle_ir::AtomicOp;
use wattle_litmus::{Comparison, Observed, Operator};
use wattle_memory::{FenceOrder, ReadOrder, UpdateOrder, WriteOrder};

use crate::program::{Op, Operand, Program, Thread};

/// The numbers that an operation is encoded in.
const ROW: usize = 8;
/// The most operations of a thread: a wait that takes longer is given up, and of what follows only the barriers are
/// done.
const STEPS: u32 = 1 << 16;
/// More operations than a thread's code has.
const REST: u32 = 1 << 10;
/// How far the blocks' words for meeting are apart, so that they are in different cache lines.
pub(crate) const APART: u32 = 32;

/// How often a block looks for the others at least, where they did not come the last time.
const LEAST_PATIENCE: u32 = 1 << 7;
/// After how many rounds the blocks have all their patience again.
const RESTS: u32 = 1 << 10;

const LOAD: u32 = 0;
const STORE: u32 = 1;
const BARRIER: u32 = 2;
const MOVE: u32 = 3;
const COMPUTE: u32 = 4;
const BRANCH: u32 = 5;
const GOTO: u32 = 6;
const ATOMIC_LOAD: u32 = 16;
const ATOMIC_STORE: u32 = 32;
const FENCE: u32 = 48;
const UPDATE: u32 = 64;

/// The most registers of a thread.
pub(crate) const MOST_REGISTERS: usize = 16;

/// The atomic operations that the interpreter knows, by their numbers in its table; a compare-exchange has the number
/// behind them. Litmus files count with `add`, not with PTX's `inc` and `dec`.
pub(crate) const UPDATES: [AtomicOp; 8] = [
    AtomicOp::Exchange,
    AtomicOp::Add,
    AtomicOp::Sub,
    AtomicOp::Min,
    AtomicOp::Max,
    AtomicOp::And,
    AtomicOp::Or,
    AtomicOp::Xor,
];

/// A program as the kernel reads it.
pub struct Encoded {
    /// The operations, thread by thread.
    pub ops: Vec<[u32; ROW]>,
    /// The parts of the other lists that each role has, from and without: of the operations, the registers, the
    /// results. Roles are numbered block by block, and each block has as many as the largest one: those without a
    /// thread only wait at the block's barriers.
    pub roles: Vec<[u32; 6]>,
    /// The registers at the start; never empty.
    pub registers: Vec<i32>,
    /// The registers that are observed, each with the column of the outcome that it is in; never empty.
    pub results: Vec<[u32; 2]>,
}

impl Encoded {
    /// Encodes a program as the words that the interpreting kernel reads.
    pub fn new(program: &Program) -> Encoded {
        let most = program.threads_per_block();
        let mut encoded = Encoded { ops: Vec::new(), roles: Vec::new(), registers: vec![0], results: vec![[0; 2]] };
        for block in 0..program.blocks() {
            let members = program.members(block);
            for number in 0..most {
                let begins = encoded.ends();
                match members.get(number) {
                    Some(&thread) => encoded.thread(program, thread),
                    None => {
                        let barriers = program.threads[members[0]].code.iter().filter(|(op, _)| *op == Op::Barrier);
                        encoded.ops.extend(barriers.map(|(op, _)| row(op, begins[0])));
                    }
                }
                let ends = encoded.ends();
                encoded.roles.push([begins[0], ends[0], begins[1], ends[1], begins[2], ends[2]]);
            }
        }
        encoded
    }

    fn ends(&self) -> [u32; 3] {
        [self.ops.len(), self.registers.len(), self.results.len()].map(|len| len as u32)
    }

    /// Appends the words of the thread with this number.
    fn thread(&mut self, program: &Program, number: usize) {
        let (first, Thread { registers, code, .. }) = (self.ops.len() as u32, &program.threads[number]);
        self.ops.extend(code.iter().map(|(op, _)| row(op, first)));
        self.registers.extend(registers.iter().map(|(_, value)| *value));
        let result = |(column, observed): (usize, &Observed)| match *observed {
            Observed::Register { thread, register } => (thread == number).then_some([register as u32, column as u32]),
            Observed::Memory(_) => None,
        };
        self.results.extend(program.observed.iter().enumerate().filter_map(result));
    }
}

fn operand(operand: Operand) -> [u32; 2] {
    match operand {
        Operand::Register(register) => [1, register as u32],
        Operand::Constant(value) => [0, value as u32],
    }
}

/// 0 for block scope, 1 for wider ones, which are one to the host.
fn wider(scope: Scope) -> u32 {
    match scope {
        Scope::Block => 0,
        Scope::Device | Scope::System => 1,
    }
}

/// An operation's numbers: what it is, the register for its result, the word or the kind, two operands, and the target
/// of a jump or the number of an atomic operation.
fn row(op: &Op, first: u32) -> [u32; ROW] {
    const NONE: [u32; 2] = [0, 0];
    let make = |code, to: usize, word: usize, [f, x]: [u32; 2], [g, y]: [u32; 2], target| {
        [code, to as u32, word as u32, f, x, g, y, target]
    };
    let update_code = |order: UpdateOrder, scope| UPDATE + 2 * order as u32 + wider(scope);
    match *op {
        Op::Load { to, word } => make(LOAD, to, word, NONE, NONE, 0),
        Op::Store { word, value } => make(STORE, 0, word, operand(value), NONE, 0),
        Op::AtomicLoad { to, word, order, scope } => {
            let code = ATOMIC_LOAD + 2 * u32::from(order == ReadOrder::Acquire) + wider(scope);
            make(code, to, word, NONE, NONE, 0)
        }
        Op::AtomicStore { word, value, order, scope } => {
            let code = ATOMIC_STORE + 2 * u32::from(order == WriteOrder::Release) + wider(scope);
            make(code, 0, word, operand(value), NONE, 0)
        }
        Op::Update { to, word, op, operand: it, order, scope } => {
            let number = UPDATES.iter().position(|known| *known == op).unwrap_or(0) as u32;
            let to = to.unwrap_or(MOST_REGISTERS);
            make(update_code(order, scope), to, word, operand(it), NONE, number)
        }
        Op::CompareExchange { to, word, expected, desired, order, scope } => {
            let to = to.unwrap_or(MOST_REGISTERS);
            make(update_code(order, scope), to, word, operand(expected), operand(desired), UPDATES.len() as u32)
        }
        Op::Fence { order, scope } => {
            let number = match order {
                FenceOrder::Acquire => 0,
                FenceOrder::Release => 1,
                FenceOrder::AcqRel => 2,
                FenceOrder::SeqCst => 3,
            };
            make(FENCE + 2 * number + wider(scope), 0, 0, NONE, NONE, 0)
        }
        Op::Barrier => make(BARRIER, 0, 0, NONE, NONE, 0),
        Op::Move { to, value } => make(MOVE, to, 0, operand(value), NONE, 0),
        Op::Compute { operator, to, left, right } => {
            let number = match operator {
                Operator::Add => 0,
                Operator::Sub => 1,
                Operator::Mul => 2,
                Operator::And => 3,
                Operator::Or => 4,
                Operator::Xor => 5,
                // Lifting refuses them.
                Operator::Div | Operator::Rem | Operator::Shl | Operator::Shr => 6,
            };
            make(COMPUTE, to, number, operand(left), operand(right), 0)
        }
        Op::Branch { comparison, left, right, target } => {
            let number = match comparison {
                Comparison::Equal => 0,
                Comparison::NotEqual => 1,
                Comparison::Less => 2,
                Comparison::LessOrEqual => 3,
                Comparison::Greater => 4,
                Comparison::GreaterOrEqual => 5,
            };
            make(BRANCH, 0, number, operand(left), operand(right), first + target as u32)
        }
        Op::Goto(target) => make(GOTO, 0, 0, NONE, NONE, first + target as u32),
    }
}

/// A read-modify-write of one order and scope.
macro_rules! updates {
    ($($name:ident $scope:ident $order:ident;)+) => {$(
        #[device_fn]
        fn $name(words: Atomic<i32>, at: u32, op: u32, x: i32, y: i32) -> i32 {
            match op {
                0 => words.exchange_with(at, x, Scope::$scope, Order::$order),
                1 => words.fetch_add_with(at, x, Scope::$scope, Order::$order),
                2 => words.fetch_sub_with(at, x, Scope::$scope, Order::$order),
                3 => words.fetch_min_with(at, x, Scope::$scope, Order::$order),
                4 => words.fetch_max_with(at, x, Scope::$scope, Order::$order),
                5 => words.fetch_and_with(at, x, Scope::$scope, Order::$order),
                6 => words.fetch_or_with(at, x, Scope::$scope, Order::$order),
                7 => words.fetch_xor_with(at, x, Scope::$scope, Order::$order),
                _ => words.compare_exchange_with(at, x, y, Scope::$scope, Order::$order),
            }
        }
    )+};
}
updates! {
    relaxed_in_block Block Relaxed;
    relaxed Device Relaxed;
    acquire_in_block Block Acquire;
    acquire Device Acquire;
    release_in_block Block Release;
    release Device Release;
    acq_rel_in_block Block AcqRel;
    acq_rel Device AcqRel;
}

/// Waits until the other blocks of the set are in this round too, for `patience` looks at the most; gives the patience
/// for the next round, which grows up to `most` when they meet.
#[device_fn]
fn meet(at: Atomic<u32>, first: u32, blocks: u32, me: u32, round: u32, patience: u32, most: u32) -> u32 {
    at.store((first + me) * APART, round + 1);
    let mut looks = 0;
    for other in 0..blocks {
        // A loop without a bound gives its core to others now and then, which the other block may need.
        while looks < patience && at.load((first + other) * APART) <= round {
            looks += 1;
        }
    }
    if looks < patience { (patience * 2).min(most) } else { (patience / 2).max(LEAST_PATIENCE).min(most) }
}

/// Runs a program's instances, set of blocks by set of blocks; the blocks of a set meet before each `batch` of
/// instances. Results stand column by column: `out` has a number of each instance for each of the `columns` observed
/// values, then one for each role that says whether it came to its end.
#[kernel]
pub fn interpret(
    acc: &Acc,
    blocks: u32,
    instances: u32,
    words: u32,
    columns: u32,
    batch: u32,
    most_patience: u32,
    ops: Read<[u32; 8]>,
    roles: Read<[u32; 6]>,
    initial: Read<i32>,
    results: Read<[u32; 2]>,
    group: Read<u32>,
    order: Read<u32>,
    places: Read<u32>,
    delays: Read<u32>,
    at: Atomic<u32>,
    noise: Atomic<u32>,
    plain: Shared<i32>,
    atomic: Atomic<i32>,
    out: Shared<i32>,
) {
    let in_block = acc.threads_in_block();
    let alone = in_block == 1;
    let set = acc.block_in_grid() / blocks;
    let rounds = order.len() / (acc.blocks_in_grid() / blocks);
    let me = group[acc.block_in_grid()];
    let mut patience = most_patience;
    let mut registers = [0i32; MOST_REGISTERS + 1];
    for round in 0..rounds {
        let instance = order[set * rounds + round];
        // The block's first thread, which is ahead of the others, has each part in turn.
        let role = me * in_block + (acc.thread_in_block() + round) % in_block;
        let has = roles[role];
        let (begin, end) = (has[0], has[1]);
        let base = instance * words;
        for register in has[2]..has[3] {
            registers[register - has[2]] = initial[register];
        }
        if most_patience > 0 && round % batch == 0 && acc.thread_in_block() == 0 {
            // Who was away for a while finds the others waiting again.
            if round % RESTS == 0 {
                patience = most_patience;
            }
            patience = meet(at, set * blocks, blocks, me, round, patience, most_patience);
        }
        for access in 0..delays[instance * roles.len() + role] {
            noise.load(access * 16);
        }
        let mut pc = begin;
        let mut gave_up = false;
        for step in 0..STEPS + REST {
            if pc >= end {
                break;
            }
            gave_up = step >= STEPS;
            let row = ops[pc];
            let (code, to, word, target) = (row[0], row[1], row[2], row[7]);
            let x = if row[3] == 1 { registers[row[4]] } else { row[4] as i32 };
            let y = if row[5] == 1 { registers[row[6]] } else { row[6] as i32 };
            let mut next = pc + 1;
            if code == MOVE {
                registers[to] = x;
            } else if code == COMPUTE {
                registers[to] = match word {
                    0 => x + y,
                    1 => x - y,
                    2 => x * y,
                    3 => x & y,
                    4 => x | y,
                    _ => x ^ y,
                };
            } else if code == BRANCH || code == GOTO {
                let jumps = code == GOTO
                    || match word {
                        0 => x == y,
                        1 => x != y,
                        2 => x < y,
                        3 => x <= y,
                        4 => x > y,
                        _ => x >= y,
                    };
                if jumps && !gave_up {
                    next = target;
                }
            } else if code == BARRIER {
                acc.sync_block();
            } else if gave_up {
                // An access that is left out.
            } else if code >= FENCE && code < UPDATE {
                match code - FENCE {
                    0 => acc.mem_fence(Scope::Block, Order::Acquire),
                    1 => acc.mem_fence(Scope::Device, Order::Acquire),
                    2 => acc.mem_fence(Scope::Block, Order::Release),
                    3 => acc.mem_fence(Scope::Device, Order::Release),
                    4 => acc.mem_fence(Scope::Block, Order::AcqRel),
                    5 => acc.mem_fence(Scope::Device, Order::AcqRel),
                    6 => acc.mem_fence(Scope::Block, Order::SeqCst),
                    _ => acc.mem_fence(Scope::Device, Order::SeqCst),
                }
            } else {
                let place = places[base + word];
                match code {
                    LOAD => registers[to] = plain[place],
                    STORE => plain[place] = x,
                    16 => registers[to] = atomic.load_with(place, Scope::Block, Order::Relaxed),
                    17 => registers[to] = atomic.load_with(place, Scope::Device, Order::Relaxed),
                    18 => registers[to] = atomic.load_with(place, Scope::Block, Order::Acquire),
                    19 => registers[to] = atomic.load_with(place, Scope::Device, Order::Acquire),
                    32 => atomic.store_with(place, x, Scope::Block, Order::Relaxed),
                    33 => atomic.store_with(place, x, Scope::Device, Order::Relaxed),
                    34 => atomic.store_with(place, x, Scope::Block, Order::Release),
                    35 => atomic.store_with(place, x, Scope::Device, Order::Release),
                    64 => registers[to] = relaxed_in_block(atomic, place, target, x, y),
                    65 => registers[to] = relaxed(atomic, place, target, x, y),
                    66 => registers[to] = acquire_in_block(atomic, place, target, x, y),
                    67 => registers[to] = acquire(atomic, place, target, x, y),
                    68 => registers[to] = release_in_block(atomic, place, target, x, y),
                    69 => registers[to] = release(atomic, place, target, x, y),
                    70 => registers[to] = acq_rel_in_block(atomic, place, target, x, y),
                    _ => registers[to] = acq_rel(atomic, place, target, x, y),
                }
            }
            // The block's other threads run, after one operation or several; a wait gives others the core. Only a loop
            // that reads what others may write does so: the noise is always 0.
            let mut polls = if !alone {
                (round ^ pc) % 4 + 1
            } else if next <= pc {
                1
            } else {
                0
            };
            while polls > 0 && noise.load(0) == 0 {
                polls -= 1;
            }
            pc = next;
        }
        for number in has[4]..has[5] {
            let result = results[number];
            out[result[1] * instances + instance] = registers[result[0]];
        }
        out[(columns + role) * instances + instance] = !gave_up as i32;
    }
}
