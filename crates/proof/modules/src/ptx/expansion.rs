//! Instructions that stand for one of the text: what they have in common with it, and registers of their own.

use super::Parsed;
use super::statement::{Instruction, Operand, Statement};
use crate::Refused;
use crate::types::{Sort, Type};

/// The instructions in the place of one.
pub struct Expansion<'s> {
    /// The instruction of the text that they stand for.
    pub of: &'s Instruction,
    /// The number of that instruction in its body, for the names of registers and labels.
    pub number: usize,
    /// How many registers have been declared.
    pub registers: u32,
    /// The statements of the body so far.
    pub out: &'s mut Vec<Statement>,
}

impl Expansion<'_> {
    /// The refusal of the instruction.
    pub fn refuse<T>(&self, why: &str) -> Parsed<T> {
        Err(Refused { instruction: self.of.text.clone(), ..Refused::new(self.of.line, why) })
    }

    fn emit(&mut self, guard: Option<(String, bool)>, opcode: &str, operands: Vec<Operand>) {
        let (opcode, line, text) = (opcode.to_owned(), self.of.line, self.of.text.clone());
        self.out.push(Statement::Instruction(Instruction { guard, opcode, operands, line, text }));
    }

    /// Adds an instruction without a guard.
    pub fn act(&mut self, opcode: &str, operands: Vec<Operand>) {
        self.emit(None, opcode, operands);
    }

    /// Adds an instruction that is executed where a predicate holds.
    pub fn act_if(&mut self, predicate: String, opcode: &str, operands: Vec<Operand>) {
        self.emit(Some((predicate, false)), opcode, operands);
    }

    /// Adds a branch to a label where a predicate holds.
    pub fn branch_if(&mut self, predicate: String, label: &str) {
        self.emit(Some((predicate, false)), "bra", vec![Operand::Name(label.to_owned())]);
    }

    /// Adds a branch around what follows where the instruction's guard does not hold, and returns the label behind it.
    pub fn guarded(&mut self) -> String {
        let skip = format!("expansion#{}.skip", self.number);
        if let Some((guard, negated)) = self.of.guard.clone() {
            self.emit(Some((guard, !negated)), "bra", vec![Operand::Name(skip.clone())]);
        }
        skip
    }

    /// Adds a label before what is added next.
    pub fn label(&mut self, name: String) {
        self.out.push(Statement::Label(name, self.of.line));
    }

    /// The name of a new register of a type.
    pub fn declared(&mut self, ty: Type) -> String {
        let name = format!("expansion#{}.{}", self.number, self.registers);
        self.registers += 1;
        self.out.push(Statement::Register { ty, name: name.clone(), count: None, line: self.of.line });
        name
    }

    /// A new register of a type.
    pub fn typed(&mut self, ty: Type) -> Operand {
        Operand::Name(self.declared(ty))
    }

    /// A new register of 32 bits.
    pub fn register(&mut self) -> Operand {
        self.typed(Type { sort: Sort::Bits, bits: 32 })
    }

    /// A number as an operand.
    pub fn number(value: i64) -> Operand {
        Operand::Int(value as u64, value < 0)
    }

    /// A register with the number of the lane in its warp.
    pub fn lane(&mut self) -> Operand {
        let lane = self.register();
        self.act("mov.u32", vec![lane.clone(), Operand::Name("%laneid".into())]);
        lane
    }

    /// A register with what the lane `first + behind` holds in one of 32 bits.
    pub fn shuffled(&mut self, held: &Operand, first: &Operand, behind: i64) -> Operand {
        let (asked, found) = (self.register(), self.register());
        self.act("add.s32", vec![asked.clone(), first.clone(), Self::number(behind)]);
        let mask = Operand::Int(u32::MAX.into(), false);
        self.act("shfl.sync.idx.b32", vec![found.clone(), held.clone(), asked, Self::number(31), mask]);
        found
    }
}
