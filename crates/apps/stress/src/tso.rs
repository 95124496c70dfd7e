//! What an x86-64 processor can show of a program on the host: the ends of the x86-TSO machine (P. Sewell, S. Sarkar,
//! S. Owens, F. Zappa Nardelli, M. O. Myreen, "x86-TSO: A Rigorous and Usable Programmer's Model for x86
//! Multiprocessors", CACM 53(7), 2010).
//!
//! Each block is a core with a buffer of stores in front of the memory, and its threads take turns on it. A load takes
//! the newest store of the word in its core's buffer, else the memory's value. A read-modify-write is a locked
//! instruction, and a sequentially consistent fence wider than a block is `mfence` or one: both wait until the buffer
//! is empty. All other orders are no instruction (`wattle-memory`'s lowering table; its mapping to x86-64 is rustc's).

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::FxHashSet;

use wattle_ir::Type;
use wattle_ir::eval::atomic;
use wattle_litmus::Observed;
use wattle_memory::{FenceOrder, Scope};

use crate::program::{Op, Operand, Program, RegisterId, WordId};

/// The most states that are looked at.
const MOST_STATES: usize = 1 << 16;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Machine {
    memory: Vec<i32>,
    /// For each block the stores that memory does not have yet, the oldest first.
    buffers: Vec<VecDeque<(WordId, i32)>>,
    threads: Vec<ThreadState>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct ThreadState {
    at: usize,
    registers: Vec<i32>,
    /// Whether the thread waits at a barrier.
    waits: bool,
}

/// The outcomes of a program on the machine; `None` where it has too many states.
pub fn outcomes(program: &Program) -> Option<BTreeSet<Vec<i32>>> {
    let threads = program.threads.iter().map(|thread| ThreadState {
        at: 0,
        registers: thread.registers.iter().map(|(_, value)| *value).collect(),
        waits: false,
    });
    let first = Machine {
        memory: program.words.iter().map(|word| word.initial).collect(),
        buffers: vec![VecDeque::new(); program.blocks()],
        threads: threads.collect(),
    };
    let (mut known, mut open, mut outcomes) = (FxHashSet::default(), vec![first], BTreeSet::new());
    while let Some(machine) = open.pop() {
        if known.contains(&machine) {
            continue;
        }
        if known.len() == MOST_STATES {
            return None;
        }
        let next = machine.next(program);
        if next.is_empty() && machine.is_done(program) {
            outcomes.insert(machine.outcome(program));
        }
        open.extend(next);
        known.insert(machine);
    }
    Some(outcomes)
}

impl Machine {
    /// The states that one step leads to: a buffer's oldest store reaches memory, or a thread does an operation.
    fn next(&self, program: &Program) -> Vec<Machine> {
        let mut next = Vec::new();
        for block in 0..self.buffers.len() {
            let mut after = self.clone();
            if let Some((word, value)) = after.buffers[block].pop_front() {
                after.memory[word] = value;
                next.push(after);
            }
        }
        for (thread, state) in self.threads.iter().enumerate() {
            if let Some((op, _)) = program.threads[thread].code.get(state.at).filter(|_| !state.waits) {
                let mut after = self.clone();
                if after.does(program, thread, op) {
                    next.push(after);
                }
            }
        }
        next
    }

    /// Does a thread's operation; `false` where it has to wait for its core's buffer.
    fn does(&mut self, program: &Program, thread: usize, op: &Op) -> bool {
        let block = program.threads[thread].block;
        let is_drained = self.buffers[block].is_empty();
        let value = |state: &ThreadState, operand| match operand {
            Operand::Register(register) => state.registers[register],
            Operand::Constant(value) => value,
        };
        let wide = |value: i32| i64::from(value) as u64;
        let state = &self.threads[thread];
        let (mut next, mut result): (usize, Option<(RegisterId, i32)>) = (state.at + 1, None);
        match *op {
            Op::Load { to, word } | Op::AtomicLoad { to, word, .. } => {
                let own = self.buffers[block].iter().rev().find(|(of, _)| *of == word);
                result = Some((to, own.map_or(self.memory[word], |(_, value)| *value)));
            }
            Op::Store { word, value: stored } | Op::AtomicStore { word, value: stored, .. } => {
                let stored = value(state, stored);
                self.buffers[block].push_back((word, stored));
            }
            Op::Update { .. } | Op::CompareExchange { .. } if !is_drained => return false,
            Op::Update { to, word, op, operand, .. } => {
                let (old, operand) = (self.memory[word], value(state, operand));
                self.memory[word] = atomic(op, Type::I32, u64::from(old as u32), u64::from(operand as u32)) as i32;
                result = to.map(|to| (to, old));
            }
            Op::CompareExchange { to, word, expected, desired, .. } => {
                let old = self.memory[word];
                if old == value(state, expected) {
                    self.memory[word] = value(state, desired);
                }
                result = to.map(|to| (to, old));
            }
            Op::Fence { order: FenceOrder::SeqCst, scope: Scope::Device | Scope::System } if !is_drained => {
                return false;
            }
            Op::Fence { .. } => {}
            Op::Barrier => {
                self.threads[thread].waits = true;
                self.open_barrier(program, block);
                return true;
            }
            Op::Move { to, value: moved } => result = Some((to, value(state, moved))),
            Op::Compute { operator, to, left, right } => {
                let (left, right) = (wide(value(state, left)), wide(value(state, right)));
                result = Some((to, operator.apply(left, right).unwrap_or(0) as i32));
            }
            Op::Branch { comparison, left, right, target } => {
                if comparison.holds(wide(value(state, left)), wide(value(state, right))) {
                    next = target;
                }
            }
            Op::Goto(target) => next = target,
        }
        let state = &mut self.threads[thread];
        state.at = next;
        if let Some((register, value)) = result {
            state.registers[register] = value;
        }
        true
    }

    /// Lets a block's threads go on where all of them wait.
    fn open_barrier(&mut self, program: &Program, block: usize) {
        let members = program.members(block);
        if members.iter().all(|&thread| self.threads[thread].waits) {
            for thread in members {
                self.threads[thread].waits = false;
                self.threads[thread].at += 1;
            }
        }
    }

    fn is_done(&self, program: &Program) -> bool {
        self.threads.iter().zip(&program.threads).all(|(state, thread)| state.at >= thread.code.len())
    }

    fn outcome(&self, program: &Program) -> Vec<i32> {
        let value = |observed: &Observed| match *observed {
            Observed::Register { thread, register } => self.threads[thread].registers[register],
            Observed::Memory(word) => self.memory[word],
        };
        program.observed.iter().map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use wattle_litmus::parse;

    use super::*;
    use crate::lift::lift;

    fn of(columns: &str, claim: &str) -> BTreeSet<Vec<i32>> {
        let text = format!("PTX case\n{{ x=0; y=0; }}\n{columns}\nexists ({claim})\n");
        outcomes(&lift(&parse("case", &text).unwrap()).unwrap()).unwrap()
    }

    /// Two stores, each with a load of the other's word behind it and `between` them, in blocks 0 and `block`.
    fn store_buffering(between: &str, block: u32) -> BTreeSet<Vec<i32>> {
        let columns = format!(
            " P0@cta 0,gpu 0 | P1@cta {block},gpu 0 ;\n st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;\n {between} | {between} ;\n \
             ld.relaxed.gpu r0, y | ld.relaxed.gpu r0, x ;"
        );
        of(&columns, "P0:r0 == 0 /\\ P1:r0 == 0")
    }

    #[test]
    fn a_store_is_late_unless_a_fence_or_a_locked_instruction_waits_for_it() {
        let both_old = vec![0, 0];
        assert!(store_buffering("fence.acq_rel.gpu", 1).contains(&both_old));
        assert!(store_buffering("fence.sc.cta", 1).contains(&both_old));
        assert!(!store_buffering("fence.sc.gpu", 1).contains(&both_old));
        assert!(!store_buffering("atom.relaxed.gpu.add r1, x, 0", 1).contains(&both_old));
        // The threads of one block see each other's stores in their core's buffer.
        assert!(!store_buffering("fence.acq_rel.gpu", 0).contains(&both_old));
        assert_eq!(store_buffering("fence.sc.gpu", 1).len(), 3);
    }

    #[test]
    fn nothing_else_is_reordered() {
        let message_passing = of(
            " P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.relaxed.gpu x, 1 | ld.relaxed.gpu r0, y ;\n st.relaxed.gpu y, 1 | \
             ld.relaxed.gpu r1, x ;",
            "P1:r0 == 1 /\\ P1:r1 == 0",
        );
        assert_eq!(message_passing, BTreeSet::from([vec![0, 0], vec![0, 1], vec![1, 1]]));
        let load_buffering = of(
            " P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y ;\n st.relaxed.gpu y, 1 | \
             st.relaxed.gpu x, 1 ;",
            "P0:r0 == 1 /\\ P1:r0 == 1",
        );
        assert!(!load_buffering.contains(&vec![1, 1]));
    }

    #[test]
    fn waits_and_barriers_have_an_end() {
        let waits = of(
            " P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.relaxed.gpu x, 7 | LC00: ;\n st.relaxed.gpu y, 1 | ld.relaxed.gpu r0, y ;\n \
             | bne r0, 1, LC00 ;\n | ld.relaxed.gpu r1, x ;",
            "P1:r1 == 7",
        );
        assert_eq!(waits, BTreeSet::from([vec![7]]));
        let barrier = of(
            " P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n st.weak x, 1 | st.weak y, 1 ;\n bar.cta.sync 1 | bar.cta.sync 1 ;\n \
             ld.weak r0, y | ld.weak r0, x ;",
            "P0:r0 == 1 /\\ P1:r0 == 1",
        );
        assert_eq!(barrier, BTreeSet::from([vec![1, 1]]));
    }
}
