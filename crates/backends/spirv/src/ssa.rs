//! The function's own numbers as values: what is stored in one and loaded from it becomes the values themselves, and a
//! phi where ways with different ones meet.
//!
//! The construction is that of Braun et al., "Simple and Efficient Construction of Static Single Assignment Form" (CC
//! 2013): a number is looked for where it is loaded, from block to block against the flow. A block is sealed when all
//! blocks before it are known; that of a loop's head are when its last turn goes back.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};
use rustc_hash::{FxHashMap, FxHashSet};

/// A place where ways with different values of a number may meet.
struct Phi {
    number: Word,
    block: Word,
    /// The values, each with the block that it comes from.
    operands: Vec<(Word, Word)>,
    /// Whether all operands are there.
    complete: bool,
    /// The phis that have this one as an operand.
    users: Vec<Word>,
}

/// The type of a number of the function's, and what it is at first.
#[derive(Clone, Copy)]
struct Number {
    of: Word,
    first: Word,
}

/// What is found of a number against the flow.
enum Looked {
    /// Its value.
    Value(Word),
    /// A phi, which has no operands yet.
    Meeting(Word),
}

/// The numbers of the function that is being made.
#[derive(Default)]
pub struct Ssa {
    numbers: FxHashMap<Word, Number>,
    /// The blocks before each block.
    before: FxHashMap<Word, Vec<Word>>,
    unsealed: FxHashSet<Word>,
    /// What a number is at the end of a block.
    values: FxHashMap<(Word, Word), Word>,
    /// The phis of unsealed blocks, which have no operands yet.
    incomplete: FxHashMap<Word, Vec<Word>>,
    phis: FxHashMap<Word, Phi>,
    /// The phis that are nothing but one value, and that value.
    replaced: FxHashMap<Word, Word>,
}

impl Ssa {
    /// Declares a number, by an identifier that stands for it.
    pub fn declare(&mut self, number: Word, of: Word, first: Word) {
        self.numbers.insert(number, Number { of, first });
    }

    pub fn is_number(&self, id: Word) -> bool {
        self.numbers.contains_key(&id)
    }

    /// Notes that code goes from one block to another.
    pub fn goes(&mut self, from: Word, to: Word) {
        let before = self.before.entry(to).or_default();
        if !before.contains(&from) {
            before.push(from);
        }
    }

    /// Notes that further code will go to a block.
    pub fn unseal(&mut self, block: Word) {
        self.unsealed.insert(block);
    }

    /// Notes that all code that goes to a block is there.
    pub fn seal(&mut self, block: Word, next: &mut Word) {
        if !self.unsealed.remove(&block) {
            return;
        }
        for phi in self.incomplete.remove(&block).unwrap_or_default() {
            self.complete(phi, next);
        }
    }

    pub fn set(&mut self, block: Word, number: Word, value: Word) {
        self.values.insert((block, number), value);
    }

    /// The value of a number at the end of a block, as far as the block is made. `next` is the next free identifier.
    pub fn value(&mut self, block: Word, number: Word, next: &mut Word) -> Word {
        match self.look(block, number, next) {
            Looked::Value(value) => value,
            Looked::Meeting(phi) => self.complete(phi, next),
        }
    }

    /// Looks for a number against the flow, up to where ways meet; what is found is noted on the way.
    fn look(&mut self, block: Word, number: Word, next: &mut Word) -> Looked {
        let (mut at, mut through) = (block, Vec::new());
        let found = loop {
            if let Some(&value) = self.values.get(&(at, number)) {
                break Looked::Value(self.itself(value));
            }
            through.push(at);
            if self.unsealed.contains(&at) {
                let phi = self.phi(at, number, next);
                self.incomplete.entry(at).or_default().push(phi);
                break Looked::Value(phi);
            }
            match self.before.get(&at).map(Vec::as_slice) {
                // The function's first block, or one that nothing goes to.
                None | Some([]) => break Looked::Value(self.numbers[&number].first),
                Some(&[before]) => at = before,
                Some(_) => break Looked::Meeting(self.phi(at, number, next)),
            }
        };
        let (Looked::Value(value) | Looked::Meeting(value)) = found;
        for block in through {
            self.values.insert((block, number), value);
        }
        found
    }

    fn phi(&mut self, block: Word, number: Word, next: &mut Word) -> Word {
        let id = *next;
        *next += 1;
        self.phis.insert(id, Phi { number, block, operands: Vec::new(), complete: false, users: Vec::new() });
        id
    }

    /// Gives a phi its operands, and those that it asks for theirs; gives the value that it is.
    fn complete(&mut self, id: Word, next: &mut Word) -> Word {
        // A stack of its own: thousands of branches may stand one behind the other.
        let mut open = vec![(id, 0)];
        let mut value = id;
        while let Some((id, number_of_operand)) = open.last_mut() {
            let (id, at) = (*id, *number_of_operand);
            *number_of_operand += 1;
            let (block, number) = (self.phis[&id].block, self.phis[&id].number);
            let Some(&before) = self.before.get(&block).and_then(|before| before.get(at)) else {
                open.pop();
                if let Some(phi) = self.phis.get_mut(&id) {
                    phi.complete = true;
                }
                value = self.simplify(id);
                continue;
            };
            let operand = match self.look(before, number, next) {
                Looked::Value(value) => value,
                Looked::Meeting(phi) => {
                    open.push((phi, 0));
                    phi
                }
            };
            if let Some(phi) = self.phis.get_mut(&operand)
                && operand != id
            {
                phi.users.push(id);
            }
            if let Some(phi) = self.phis.get_mut(&id) {
                phi.operands.push((operand, before));
            }
        }
        value
    }

    /// Replaces a phi whose operands are one value besides itself; gives the value that it is.
    fn simplify(&mut self, id: Word) -> Word {
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let Some(phi) = self.phis.get(&id).filter(|phi| phi.complete) else { continue };
            let mut only = None;
            let values = phi.operands.iter().map(|&(value, _)| self.itself(value));
            let is_one = values.filter(|&value| value != id).all(|value| *only.get_or_insert(value) == value);
            if !is_one {
                continue;
            }
            // One that only itself comes to is never reached.
            let value = only.unwrap_or(self.numbers[&phi.number].first);
            let Some(phi) = self.phis.remove(&id) else { continue };
            self.replaced.insert(id, value);
            if let Some(other) = self.phis.get_mut(&value) {
                other.users.extend(&phi.users);
            }
            open.extend(phi.users);
        }
        self.itself(id)
    }

    /// The value that an identifier stands for.
    pub fn itself(&self, mut id: Word) -> Word {
        while let Some(&value) = self.replaced.get(&id) {
            id = value;
        }
        id
    }

    /// The phis of each block, as instructions.
    pub fn instructions(&self) -> FxHashMap<Word, Vec<Instruction>> {
        let mut all: Vec<_> = self.phis.iter().collect();
        all.sort_unstable_by_key(|(id, _)| **id);
        let mut blocks: FxHashMap<Word, Vec<Instruction>> = FxHashMap::default();
        for (&id, phi) in all {
            let operands = phi.operands.iter().flat_map(|&(value, before)| [self.itself(value), before]);
            let operands = operands.map(Operand::IdRef).collect();
            let instruction = Instruction::new(Op::Phi, Some(self.numbers[&phi.number].of), Some(id), operands);
            blocks.entry(phi.block).or_default().push(instruction);
        }
        blocks
    }

    /// The numbers that phis are of.
    pub fn phis(&self) -> impl Iterator<Item = (Word, Word)> + '_ {
        self.phis.iter().map(|(&id, phi)| (id, phi.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: Word = 1;
    const ZERO: Word = 2;
    const X: Word = 3;
    const FIRST: Word = 10;

    fn ssa() -> Ssa {
        let mut ssa = Ssa::default();
        ssa.declare(X, TYPE, ZERO);
        ssa
    }

    /// Blocks that part and meet again, `count` times; gives the last one.
    fn diamonds(ssa: &mut Ssa, from: Word, count: u32) -> Word {
        (0..count).fold(from, |at, number| {
            let base = 1000 + 10 * number;
            let [left, right, end] = [base, base + 1, base + 2];
            for (from, to) in [(at, left), (at, right), (left, end), (right, end)] {
                ssa.goes(from, to);
            }
            end
        })
    }

    #[test]
    fn a_number_that_nobody_sets_needs_no_phi() {
        let (mut ssa, mut next) = (ssa(), 1_000_000);
        // Deeper than calls can be.
        let end = diamonds(&mut ssa, FIRST, 50_000);
        assert_eq!(ssa.value(end, X, &mut next), ZERO);
        assert!(ssa.instructions().is_empty());
    }

    #[test]
    fn ways_with_different_values_meet() {
        let (mut ssa, mut next) = (ssa(), 1_000_000);
        let end = diamonds(&mut ssa, FIRST, 1);
        ssa.set(1000, X, 7);
        let phi = ssa.value(end, X, &mut next);
        let made = ssa.instructions();
        assert_eq!(made[&end][0].result_id, Some(phi));
        assert_eq!(made[&end][0].operands, [7, 1000, ZERO, 1001].map(Operand::IdRef));
    }

    /// Within the loop the number is looked for before it is known whether the loop sets it.
    #[test]
    fn a_loop_that_sets_a_number_has_a_phi_at_its_head() {
        for sets in [false, true] {
            let (mut ssa, mut next) = (ssa(), 1_000_000);
            let (head, body) = (20, 21);
            ssa.set(FIRST, X, 7);
            ssa.goes(FIRST, head);
            ssa.unseal(head);
            ssa.goes(head, body);
            let end = diamonds(&mut ssa, body, 3);
            let seen = ssa.value(end, X, &mut next);
            if sets {
                ssa.set(end, X, 9);
            }
            ssa.goes(end, head);
            ssa.seal(head, &mut next);
            let phis = ssa.instructions();
            match sets {
                true => {
                    assert_eq!(phis.keys().collect::<Vec<_>>(), [&head]);
                    assert_eq!(phis[&head][0].operands, [7, FIRST, 9, end].map(Operand::IdRef));
                    assert_eq!(Some(ssa.itself(seen)), phis[&head][0].result_id);
                }
                false => assert_eq!((phis.len(), ssa.itself(seen)), (0, 7)),
            }
        }
    }
}
