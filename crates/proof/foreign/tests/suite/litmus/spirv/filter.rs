//! A file's filter, for the question about races: only executions at whose ends it holds count. A kernel says so itself, as
//! `if (flag == 1)` before what is done with the data: a thread does nothing more once a register has another value.

use wattle_litmus::{Comparison, Condition, Instruction, JumpTarget, Observed, Operand, Program, Term, Thread};

use super::Beyond;

/// The program in which threads look at their own part of the filter.
pub fn guarded(program: &Program) -> Result<Program, Beyond> {
    let mut program = program.clone();
    let Some(filter) = program.filter.take() else { return Ok(program) };
    let parts = match filter {
        Condition::All(parts) => parts,
        other @ (Condition::Compare(..) | Condition::Not(_) | Condition::Any(_)) => vec![other],
    };
    for part in parts {
        let Condition::Compare(
            Term::Final(Observed::Register { thread, register }),
            comparison,
            Term::Constant(constant),
        ) = part
        else {
            return Err("a filter that no thread can look at by itself");
        };
        guard(&mut program.threads[thread], (register, super::super::opposite(comparison), constant))?;
    }
    Ok(program)
}

/// Has a thread go to its next barrier, or its end, where a register has a value that is left out.
fn guard(thread: &mut Thread, (register, comparison, constant): (usize, Comparison, u64)) -> Result<(), Beyond> {
    let sets: Vec<usize> = (0..thread.code.len()).filter(|&at| thread.code[at].set() == Some(register)).collect();
    let &[set] = sets.as_slice() else { return Err("a filter on a register that is set more than once") };
    let is_barrier = |at: usize| matches!(thread.code[at], Instruction::Barrier { .. });
    let later = (set + 1..thread.code.len()).filter(|&at| is_barrier(at)).map(|at| at + 1);
    // From the last one on, so that places before it stay.
    let mut places: Vec<usize> = [set + 1].into_iter().chain(later).collect();
    places.reverse();
    for at in places {
        let is_barrier = |of: &Instruction| matches!(of, Instruction::Barrier { .. });
        let end = (at..thread.code.len()).find(|&at| is_barrier(&thread.code[at])).unwrap_or(thread.code.len());
        for label in thread.labels.iter_mut().filter(|label| label.at >= at) {
            label.at += 1;
        }
        let to = thread.labels.len();
        thread.labels.push(JumpTarget { name: format!("out{to}"), at: end + 1 });
        let (left, right) = (Operand::Register(register), Operand::Constant(constant));
        thread.code.insert(at, Instruction::Branch { comparison, left, right, to });
    }
    Ok(())
}
