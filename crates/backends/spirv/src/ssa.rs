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
    /// The phis that have this one as an operand.
    users: Vec<Word>,
}

/// The type of a number of the function's, and what it is at first.
#[derive(Clone, Copy)]
struct Number {
    of: Word,
    first: Word,
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
        let (mut at, mut through) = (block, Vec::new());
        let value = loop {
            if let Some(&value) = self.values.get(&(at, number)) {
                break self.itself(value);
            }
            through.push(at);
            if self.unsealed.contains(&at) {
                let phi = self.phi(at, number, next);
                self.incomplete.entry(at).or_default().push(phi);
                break phi;
            }
            match self.before.get(&at).map(Vec::as_slice) {
                // The function's first block, or one that nothing goes to.
                None | Some([]) => break self.numbers[&number].first,
                Some(&[before]) => at = before,
                Some(_) => {
                    let phi = self.phi(at, number, next);
                    // A way around may come back to it.
                    self.values.insert((at, number), phi);
                    break self.complete(phi, next);
                }
            }
        };
        for block in through {
            self.values.insert((block, number), value);
        }
        value
    }

    fn phi(&mut self, block: Word, number: Word, next: &mut Word) -> Word {
        let id = *next;
        *next += 1;
        self.phis.insert(id, Phi { number, block, operands: Vec::new(), users: Vec::new() });
        id
    }

    /// Gives a phi its operands; gives the value that it is.
    fn complete(&mut self, id: Word, next: &mut Word) -> Word {
        let (block, number) = (self.phis[&id].block, self.phis[&id].number);
        for before in self.before.get(&block).cloned().unwrap_or_default() {
            let value = self.value(before, number, next);
            if let Some(phi) = self.phis.get_mut(&value)
                && value != id
            {
                phi.users.push(id);
            }
            if let Some(phi) = self.phis.get_mut(&id) {
                phi.operands.push((value, before));
            }
        }
        self.simplify(id)
    }

    /// Replaces a phi whose operands are one value besides itself; gives the value that it is.
    fn simplify(&mut self, id: Word) -> Word {
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let Some(phi) = self.phis.get(&id) else { continue };
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
