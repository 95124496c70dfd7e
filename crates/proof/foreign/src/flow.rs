//! Control and data flow of a kernel, as far as the search needs it: where loops begin, whether their exits depend on
//! memory, which registers are live there, and where stores lie ahead.

use wattle_modules::code::{Kernel, NO_REG, Op, Reg};
use wattle_modules::types::Space;

/// A set of small numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(len: usize) -> Bits {
        Bits(vec![0; len.div_ceil(64)])
    }

    fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    /// Adds a number; returns whether it was not there.
    fn add(&mut self, at: usize) -> bool {
        let is_new = !self.has(at);
        self.0[at / 64] |= 1 << (at % 64);
        is_new
    }

    fn remove(&mut self, at: usize) {
        self.0[at / 64] &= !(1 << (at % 64));
    }

    fn add_all(&mut self, other: &Bits) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }
}

/// The spaces that a thread may still write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    /// Global memory.
    pub global: bool,
    /// The shared memory of its block.
    pub shared: bool,
}

impl Writes {
    fn of(op: &Op) -> Writes {
        let Some(access) = op.access().filter(|_| op.is_write()) else { return Writes::default() };
        let generic = access.space == Space::Generic;
        Writes { global: generic || access.space == Space::Global, shared: generic || access.space == Space::Shared }
    }

    fn or(self, other: Writes) -> Writes {
        Writes { global: self.global || other.global, shared: self.shared || other.shared }
    }
}

/// A loop, by the instruction at which it begins.
#[derive(Debug)]
struct Loop {
    /// The registers whose values nobody reads from there on.
    dead: Vec<Reg>,
    /// Whether an exit depends on what an iteration read from memory.
    exits_on_memory: bool,
}

/// The flow of a kernel.
#[derive(Debug)]
pub struct Flow {
    /// For each instruction the loop that begins there.
    loops: Vec<Option<Loop>>,
    /// For each instruction what may be written from there on.
    writes: Vec<Writes>,
}

impl Flow {
    /// The flow of a kernel.
    pub fn of(kernel: &Kernel) -> Flow {
        let next: Vec<Vec<usize>> = (0..kernel.steps.len()).map(|at| successors(kernel, at)).collect();
        let live = live(kernel, &next);
        let mut loops: Vec<Option<Loop>> = kernel.steps.iter().map(|_| None).collect();
        let mut before = vec![Vec::new(); next.len()];
        for (at, targets) in next.iter().enumerate() {
            targets.iter().for_each(|&target| before[target].push(at));
        }
        for at in 0..next.len() {
            for &head in next[at].iter().filter(|&&target| target <= at) {
                let body = body(&before, head, at);
                let dead = (0..kernel.registers.len()).filter(|&reg| !live[head].has(reg)).map(|reg| reg as Reg);
                let known = loops[head].get_or_insert_with(|| Loop { dead: dead.collect(), exits_on_memory: false });
                known.exits_on_memory |= exits_on_memory(kernel, &next, &body);
            }
        }
        let mut writes: Vec<Writes> = kernel.steps.iter().map(|step| Writes::of(&step.op)).collect();
        loop {
            let before = writes.clone();
            for at in (0..next.len()).rev() {
                writes[at] = next[at].iter().fold(writes[at], |all, &target| all.or(writes[target]));
            }
            if writes == before {
                return Flow { loops, writes };
            }
        }
    }

    /// The registers that are dead at the head of the loop that begins at an instruction, if one does.
    pub fn loop_at(&self, at: usize) -> Option<&[Reg]> {
        self.loops.get(at)?.as_ref().map(|known| known.dead.as_slice())
    }

    /// Whether the loop that begins there ends by what it reads from memory.
    pub fn exits_on_memory(&self, at: usize) -> bool {
        self.loops.get(at).and_then(Option::as_ref).is_some_and(|known| known.exits_on_memory)
    }

    /// What may be written from an instruction on.
    pub fn writes(&self, at: usize) -> Writes {
        self.writes.get(at).copied().unwrap_or_default()
    }
}

/// The instructions that may come after one.
fn successors(kernel: &Kernel, at: usize) -> Vec<usize> {
    let step = &kernel.steps[at];
    let mut next = match step.op {
        Op::Branch { target } => vec![target as usize],
        Op::Exit | Op::Trap => Vec::new(),
        _ => vec![at + 1],
    };
    if step.guard.reg != NO_REG && !next.contains(&(at + 1)) {
        next.push(at + 1);
    }
    next.retain(|&target| target < kernel.steps.len());
    next
}

/// The registers that are live before each instruction.
fn live(kernel: &Kernel, next: &[Vec<usize>]) -> Vec<Bits> {
    let registers = kernel.registers.len();
    let mut live = vec![Bits::new(registers); next.len()];
    loop {
        let mut changed = false;
        for at in (0..next.len()).rev() {
            let mut here = Bits::new(registers);
            next[at].iter().for_each(|&target| here.add_all(&live[target]));
            let step = &kernel.steps[at];
            let (mut reads, mut writes) = (Vec::new(), Vec::new());
            step.op.registers(|reg| reads.push(reg), |reg| writes.push(reg));
            if step.guard.reg == NO_REG {
                writes.iter().for_each(|&reg| here.remove(reg as usize));
            } else {
                here.add(step.guard.reg as usize);
            }
            reads.iter().for_each(|&reg| {
                here.add(reg as usize);
            });
            changed |= here != live[at];
            live[at] = here;
        }
        if !changed {
            return live;
        }
    }
}

/// The natural loop of a jump back from `last` to `head`: what reaches the jump without passing the head.
fn body(before: &[Vec<usize>], head: usize, last: usize) -> Bits {
    let mut body = Bits::new(before.len());
    body.add(head);
    let mut open = vec![last];
    while let Some(at) = open.pop() {
        if body.add(at) {
            open.extend(&before[at]);
        }
    }
    body
}

/// Whether a way out of the loop depends on memory that one of its iterations read.
fn exits_on_memory(kernel: &Kernel, next: &[Vec<usize>], body: &Bits) -> bool {
    let mut depends = Bits::new(kernel.registers.len());
    let inside: Vec<usize> = (0..next.len()).filter(|&at| body.has(at)).collect();
    loop {
        let mut changed = false;
        // The end of the instructions that a jump on such a value passes over.
        let mut skipped_to = 0;
        for &at in &inside {
            let step = &kernel.steps[at];
            let guarded = step.guard.reg != NO_REG && depends.has(step.guard.reg as usize);
            if let (true, Op::Branch { target }) = (guarded, &step.op) {
                skipped_to = skipped_to.max(*target as usize);
            }
            let (mut reads, mut writes) = (false, Vec::new());
            step.op.registers(|reg| reads |= depends.has(reg as usize), |reg| writes.push(reg));
            if is_read(&step.op) || reads || guarded || at < skipped_to {
                writes.iter().for_each(|&reg| changed |= depends.add(reg as usize));
            }
        }
        if !changed {
            break;
        }
    }
    inside.iter().any(|&at| {
        let guard = kernel.steps[at].guard.reg;
        guard != NO_REG && depends.has(guard as usize) && next[at].iter().any(|&target| !body.has(target))
    })
}

/// Whether an operation gives a value that other threads may have written.
fn is_read(op: &Op) -> bool {
    let is_common = |space| matches!(space, Space::Global | Space::Shared | Space::Generic);
    let is_store = matches!(op, Op::Store { .. } | Op::StoreMany { .. });
    matches!(op, Op::Exchange { .. }) || !is_store && op.access().is_some_and(|access| is_common(access.space))
}
