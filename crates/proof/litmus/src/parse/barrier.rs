//! Checks control barriers that cannot be one barrier: the same number in one block, for different sets of threads.
//!
//! SPIR-V 1.6, OpControlBarrier: the invocations of its execution scope wait for each other at the same dynamic
//! instance, and the scope is an operand of that. PTX ISA 8.8, 9.7.13.1 "bar": a barrier opens after one number of
//! threads.

use wattle_memory::Level;

use crate::error::{Place, Problem, Wrong};
use crate::program::{Instruction, Operand, Thread};

/// The threads that a barrier waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Awaited {
    Subgroup,
    Block,
    Arrivals(u64),
    /// As many threads as a register holds, known when the program runs.
    Register,
}

impl Awaited {
    fn text(self) -> String {
        match self {
            Awaited::Subgroup => "its subgroup".to_owned(),
            Awaited::Block => "its block".to_owned(),
            Awaited::Arrivals(1) => "1 thread".to_owned(),
            Awaited::Arrivals(count) => format!("{count} threads"),
            Awaited::Register => "as many threads as a register says".to_owned(),
        }
    }

    fn differs(self, other: Awaited) -> bool {
        let unknown = |it| matches!(it, Awaited::Register | Awaited::Arrivals(_));
        let open = (self == Awaited::Register && unknown(other)) || (other == Awaited::Register && unknown(self));
        self != other && !open
    }
}

/// Refuses the first barrier of a thread that has the number of another one in its block and waits for other threads.
pub(super) fn check(threads: &[Thread], places: &[Vec<Place>]) -> Result<(), Wrong> {
    let mut known: Vec<(&Thread, u64, Awaited, Place)> = Vec::new();
    for (thread, places) in threads.iter().zip(places) {
        for (instruction, &place) in thread.code.iter().zip(places) {
            let &Instruction::Barrier { instance, quorum, label, .. } = instruction else { continue };
            let awaited = match quorum {
                Some(Operand::Constant(count)) => Awaited::Arrivals(count),
                Some(Operand::Register(_)) => Awaited::Register,
                None if label.level == Level::Subgroup => Awaited::Subgroup,
                None => Awaited::Block,
            };
            let clash = known.iter().find(|(other, number, theirs, _)| {
                let one_block = other.placement.shares(&thread.placement, Level::Block);
                one_block && *number == instance && theirs.differs(awaited)
            });
            if let Some(&(_, _, theirs, first)) = clash {
                let problem = Problem::Barriers { instance, here: awaited.text(), there: theirs.text(), first };
                return Err((place, problem));
            }
            known.push((thread, instance, awaited, place));
        }
    }
    Ok(())
}
